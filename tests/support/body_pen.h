// SPDX-License-Identifier: MIT
/// State bodies written by tests, also bodies that no server writes. The pen knows the order of the
/// bits and does not check what is allowed.
#pragma once

#include <string.h>

#include "base/assert.h"
#include "state/snapshot_format.h"
#include "mirror/mirror.h"
#include "proto/layout.h"
#include "state/rows.h"

typedef struct body_pen {
    uint8_t bytes[NET_SNAPSHOT_BYTES_MAX + 64];
    proto_bit_writer bits;
    uint32_t index_bits, number_bits;
    uint32_t order;                ///< k of the next lists
    uint32_t next;                 ///< next slot of the current list
    uint32_t index;                ///< of the previous create
    const net_row_template* entry; ///< of the previous create
} body_pen;

static inline void pen_begin(body_pen* pen, uint32_t index_max, const net_rows* rows) {
    memset(pen, 0, sizeof *pen);
    pen->bits = proto_bit_writer_make(pen->bytes, sizeof pen->bytes);
    pen->index_bits = net_snapshot_index_bits(index_max);
    pen->number_bits = net_rows_number_bits(rows);
    pen->order = 3;
}

static inline void pen_put(body_pen* pen, uint64_t value, uint32_t bits) {
    proto_bits_write(&pen->bits, value, bits);
}

static inline void pen_list(body_pen* pen, uint32_t count) {
    proto_bits_write_golomb(&pen->bits, count, NET_SNAPSHOT_LIST_ORDER);
    if (count > 0) pen_put(pen, pen->order, NET_SNAPSHOT_ORDER_BITS);
    pen->next = 0;
}

static inline void pen_slot(body_pen* pen, uint32_t slot) {
    proto_bits_write_golomb(&pen->bits, slot - pen->next, pen->order);
    pen->next = slot + 1;
}

static inline void pen_destroys(body_pen* pen, uint32_t count, const uint32_t* slots) {
    pen_list(pen, count);
    for (uint32_t i = 0; i < count; i++)
        pen_slot(pen, slots[i]);
}

/// Write the head of a create, up to its row. Use short forms where they are possible.
static inline void pen_create_head(body_pen* pen, uint32_t slot, ecs_entity handle,
                                   const net_row_template* entry) {
    pen_slot(pen, slot);
    uint32_t index = ecs_entity_index(handle), generation = ecs_entity_generation(handle);
    pen_put(pen, index == pen->index + 1, 1);
    if (index != pen->index + 1) pen_put(pen, index, pen->index_bits);
    pen_put(pen, generation == 1, 1);
    if (generation != 1) pen_put(pen, generation, ECS_GENERATION_BITS);
    pen_put(pen, entry == pen->entry, 1);
    if (entry != pen->entry) {
        pen_put(pen, entry->part_count - 1u, NET_SNAPSHOT_PARTS_BITS);
        for (uint32_t i = 0; i < entry->part_count; i++)
            pen_put(pen, entry->parts[i], pen->number_bits);
    }
    pen->index = index;
    pen->entry = entry;
}

static inline void pen_create(body_pen* pen, uint32_t slot, ecs_entity handle,
                              const net_row_template* entry, const uint64_t* row) {
    pen_create_head(pen, slot, handle, entry);
    proto_row_base base = {.base = entry->defaults};
    proto_row_write(&entry->layout, &base, row, &pen->bits, NULL);
}

static inline void pen_runs(body_pen* pen, uint32_t count) {
    proto_bits_write_golomb(&pen->bits, count, NET_SNAPSHOT_LIST_ORDER);
}

static inline void pen_named(body_pen* pen, uint32_t count) {
    proto_bits_write_golomb(&pen->bits, count - 1, NET_SNAPSHOT_RUN_ORDER);
    pen_put(pen, pen->order, NET_SNAPSHOT_ORDER_BITS);
    pen->next = 0;
}

static inline void pen_run_absolute(body_pen* pen, uint32_t count) {
    pen_put(pen, NET_SNAPSHOT_ABSOLUTE, NET_SNAPSHOT_KIND_BITS);
    pen_named(pen, count);
}

static inline void pen_run_age(body_pen* pen, uint32_t age, uint32_t base2_ticks, uint32_t count) {
    pen_put(pen, NET_SNAPSHOT_BY_AGE, NET_SNAPSHOT_KIND_BITS);
    pen_put(pen, age, NET_SNAPSHOT_AGE_BITS);
    proto_bits_write_golomb(&pen->bits, base2_ticks, NET_SNAPSHOT_BASE2_ORDER);
    pen_named(pen, count);
}

static inline void pen_run_packet(body_pen* pen, uint32_t back, uint32_t base2_ticks) {
    pen_put(pen, NET_SNAPSHOT_BY_PACKET, NET_SNAPSHOT_KIND_BITS);
    pen_put(pen, back, NET_SNAPSHOT_BACK_BITS);
    proto_bits_write_golomb(&pen->bits, base2_ticks, NET_SNAPSHOT_BASE2_ORDER);
}

/// Write the row of an update; the slot of a record is written before it. A base of NULL means the
/// default row.
static inline void pen_row(body_pen* pen, const net_row_template* entry, proto_row_base base,
                           const uint64_t* row) {
    if (!base.base) base.base = entry->defaults;
    proto_row_write(&entry->layout, &base, row, &pen->bits, NULL);
}

/// A run of one slot against the default row.
static inline void pen_absolute(body_pen* pen, uint32_t slot, const net_row_template* entry,
                                const uint64_t* row) {
    pen_run_absolute(pen, 1);
    pen_slot(pen, slot);
    pen_row(pen, entry, (proto_row_base){0}, row);
}

/// Begin a body that creates `count` entities, and destroys none.
static inline void pen_creates(body_pen* pen, uint32_t count) {
    pen_list(pen, 0);
    pen_list(pen, count);
}

/// Begin a body that only updates.
static inline void pen_updates(body_pen* pen, uint32_t runs) {
    pen_creates(pen, 0);
    pen_runs(pen, runs);
}

/// A body that creates one entity.
static inline void pen_only_create(body_pen* pen, uint32_t slot, ecs_entity handle,
                                   const net_row_template* entry, const uint64_t* row) {
    pen_creates(pen, 1);
    pen_create(pen, slot, handle, entry, row);
    pen_runs(pen, 0);
}

/// A body that destroys one entity.
static inline void pen_only_destroy(body_pen* pen, uint32_t slot) {
    pen_destroys(pen, 1, &slot);
    pen_list(pen, 0);
    pen_runs(pen, 0);
}

/// Give the body to a mirror.
static inline net_result pen_read(const body_pen* pen, net_mirror* mirror, uint16_t seq,
                                  ecs_tick tick) {
    BASE_ASSERT(!pen->bits.failed);
    proto_bit_reader reader = proto_bit_reader_make(pen->bytes, proto_bit_writer_bytes(&pen->bits));
    net_result code = net_mirror_read(mirror, seq, tick, &reader);
    BASE_ASSERT(code != NET_OK || reader.offset_bits == reader.size_bits);
    return code;
}
