// SPDX-License-Identifier: MIT
/// Private to mirror: what a mirror holds, and a decoded snapshot before it is applied.
#pragma once

#include "state/tick_ring.h"
#include "mirror/mirror.h"
#include "state/coder.h"
#include "state/row_template.h"
#include "state/snapshot_format.h"

#include "base/quota.h"

/// Words of all rows of one snapshot: the most that hostile bytes can make us allocate.
#define NET_SNAPSHOT_WORDS_MAX (1u << 20)

/// Previous incarnations are kept while the newest packet is at most this many ticks past their
/// end, and while their rows take at most this part of memory_bytes_max.
#define NET_MIRROR_PREVIOUS_TICKS 64u
#define NET_MIRROR_PREVIOUS_SHARE 8u

/// After so many packets memory that was not used meanwhile is given back.
#define NET_MIRROR_TRIM_PACKETS 16u

/// An incarnation of a slot: one handle with one template.
typedef struct net_mirror_incarnation {
    const net_row_template* row_template;
    ecs_tick tick;           ///< oldest create record of it that arrived
    ecs_tick forgotten_tick; ///< newest row of it that was dropped; with has_forgotten
    net_tick_ring ring;      ///< its rows, packed (below); the newest row of the present
                             ///< incarnation is what the world holds
    bool has_forgotten;
} net_mirror_incarnation;

/// The last incarnation of a slot that ended: late packets may contain records of it.
typedef struct net_mirror_previous {
    net_mirror_incarnation incarnation;
    ecs_entity handle;
    uint32_t slot;
    ecs_tick end_tick;                         ///< of the record that ended it
    struct net_mirror_previous *older, *newer; ///< in the order in which they ended
} net_mirror_previous;

/// One slot.
typedef struct net_mirror_slot {
    ecs_entity handle;                  ///< NONE: the slot is empty
    uint32_t stamp;                     ///< number of the last snapshot that named the slot
    net_mirror_incarnation incarnation; ///< the present one
    net_mirror_previous* previous;      ///< or NULL
    ecs_tick tick;                      ///< newest record applied, also a destroy; with is_known
    ecs_tick whole_tick;                ///< newest absolute record applied
    ecs_tick previous_tick; ///< newest tick before this incarnation began; with has_previous
    bool is_known;
    bool has_previous;
    bool was_shown; ///< it was alive in the world when the newest row was applied
} net_mirror_slot;

/// One entity index.
typedef struct net_mirror_index {
    ecs_tick tick;           ///< newest row applied, in any slot; with is_known
    ecs_tick gone_tick;      ///< newest record that ended an incarnation here; 0: none
    uint32_t slot_next : 31; ///< slot + 1 of the entity; 0: none
    uint32_t is_known : 1;
    uint32_t stamp; ///< number of the last snapshot that created it
} net_mirror_index;
_Static_assert(sizeof(net_mirror_index) == 24, "a client has one for each index of a match");

/// The slots of which a decoded packet had a row.
typedef struct net_mirror_packet {
    ecs_tick tick;
    uint8_t* gaps; ///< slots rising, each as its distance from the one before + 1, 7 bits per byte
    uint32_t gaps_size, gaps_capacity;
    uint16_t seq;
    bool is_decoded;
} net_mirror_packet;

/// A variable-size value that is not the default, in a mirror without a world.
typedef struct net_mirror_value {
    ecs_entity entity;
    ecs_component_id component;
    uint32_t size;
    uint8_t* bytes;
} net_mirror_value;

/// Slots or indices: they lie in pages, so they never move and are never copied.
#define NET_MIRROR_PAGE 64u
typedef struct net_mirror_pages {
    void** pages; ///< of NET_MIRROR_PAGE each
    uint32_t page_capacity;
    uint32_t count; ///< of all pages that exist
} net_mirror_pages;

/// The bits of a component.
typedef struct net_mirror_part {
    uint64_t all;  ///< of all snapshots that were read
    uint32_t here; ///< of the one that is being read; else 0
} net_mirror_part;

typedef enum net_mirror_kind {
    NET_MIRROR_DESTROY,
    NET_MIRROR_CREATE,
    NET_MIRROR_UPDATE,
    NET_MIRROR_ADDED ///< an update that was read where it stays: the slot alone
} net_mirror_kind;

/// A decoded record.
typedef struct net_mirror_record {
    net_mirror_kind kind;
    uint32_t slot;
    ecs_entity handle;                    ///< update: of the slot's incarnation; NONE for a destroy
    uint32_t row_first;                   ///< of its packed row in mirror->packed
    const net_row_template* row_template; ///< NULL for a destroy
    bool is_absolute;                     ///< complete, independent of any base
    bool is_previous;                     ///< an update of the slot's previous incarnation
    ecs_tick base_tick;                   ///< oldest base of the row, unless is_absolute
} net_mirror_record;

struct net_mirror {
    const base_allocator* allocator; ///< of the mirror itself
    base_quota memory;               ///< of all that it holds
    net_pool pool;                   ///< of rows and lists
    base_owner* own;                 ///< of all else
    ecs_world* world;                ///< NULL: rows alone
    net_rows* rows;
    net_mirror_value* values; ///< without a world
    uint32_t value_count, value_capacity;
    uint32_t index_max;  ///< of indices and slots (below)
    uint32_t index_bits; ///< on the wire
    net_mirror_trace_fn trace;
    void* trace_context;
    net_mirror_sink sink;
    net_mirror_pages slots; ///< net_mirror_slot
    net_mirror_previous *previous_oldest, *previous_newest;
    size_t previous_bytes;                           ///< of their rows
    net_mirror_pages indices;                        ///< net_mirror_index, by index
    net_mirror_packet packets[NET_SNAPSHOT_PACKETS]; ///< [seq % NET_SNAPSHOT_PACKETS]
    uint16_t seq;                                    ///< newest; with has_seq
    bool has_seq;
    ecs_tick tick;
    bool has_tick;
    net_result broken; ///< applying failed half way: nothing is read any more
    uint32_t snapshot_number;
    net_mirror_record* records; ///< of the snapshot that is being read
    uint32_t record_count, record_capacity;
    uint8_t* packed; ///< rows of that snapshot
    uint32_t packed_size, packed_capacity;
    uint32_t word_count; ///< of those rows
    uint32_t park_next;  ///< parked entities move to slots below it
    uint32_t sweep_next; ///< slot that net_mirror_sweep compares next
    uint64_t* listed;    ///< a bit per slot: scratch of a list that is being sorted, else 0
    uint8_t* gaps;       ///< scratch
    uint32_t listed_capacity, gaps_capacity;
    const net_solo* solo;        ///< NULL: snapshots are in shared code
    net_solo_receiver* receiver; ///< of `solo`
    net_row_world target;
    net_mirror_counters counters;
    net_mirror_part* parts; ///< by ecs_component_id: what they took of snapshots
    uint32_t part_count;
};

/// Decode a snapshot into mirror->records and words. Nothing else changes except counters. @return
/// as net_mirror_read.
BASE_MUST_USE net_result net_mirror_decode(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                                           proto_bit_reader* snapshot);

// mirror_store.c
/// The entity is gone (NULL), or has another template now: components that it lacks have no value.
void net_mirror_drop_values(net_mirror* mirror, ecs_entity entity,
                            const net_row_template* row_template);

/// A slot below slots.count, an index below indices.count.
static inline net_mirror_slot* net_mirror_slot_of(const net_mirror* mirror, uint32_t slot) {
    return (net_mirror_slot*)mirror->slots.pages[slot / NET_MIRROR_PAGE] + slot % NET_MIRROR_PAGE;
}
static inline net_mirror_index* net_mirror_index_of(const net_mirror* mirror, uint32_t index) {
    return (net_mirror_index*)mirror->indices.pages[index / NET_MIRROR_PAGE] +
           index % NET_MIRROR_PAGE;
}
/// Is the entity of a slot alive in the world? Without a world: always.
static inline bool net_mirror_is_alive(const net_mirror* mirror, const net_mirror_slot* slot) {
    return !mirror->world || ecs_is_alive(mirror->world, slot->handle);
}
/// Is its entity of before a rebase, and not named since?
static inline bool net_mirror_is_parked(const net_mirror_slot* slot) {
    return slot->handle != ECS_ENTITY_NONE && !slot->is_known;
}
/// Rows of a table without a world, which a log has, stay words: each is a base in the next tick.
/// They are read where they stay, so a mirror that refused a snapshot is broken.
static inline bool net_mirror_keeps_words(const net_mirror* mirror) {
    return !mirror->rows->world && !BASE_IS_BIG_ENDIAN;
}
/// The entry of a slot below index_max, or of an index up to it.
net_mirror_slot* net_mirror_slot_at(net_mirror* mirror, uint32_t slot);
net_mirror_index* net_mirror_index_at(net_mirror* mirror, uint32_t index);
/// The slot of an entity, or NULL.
net_mirror_slot* net_mirror_find(const net_mirror* mirror, ecs_entity entity);
/// Unpack the row of a record of the decoded snapshot; not of a destroy.
void net_mirror_unpack_record(const net_mirror* mirror, const net_mirror_record* record,
                              uint64_t* row);
/// The slots of a decoded packet that is remembered, or NULL.
const net_mirror_packet* net_mirror_find_packet(const net_mirror* mirror, uint16_t seq);
/// Remember the slots whose rows the decoded snapshot contains.
void net_mirror_remember(net_mirror* mirror, uint16_t seq, ecs_tick tick);
/// Walk a list: `at` begins as 0, `next` as 0; false at the end.
bool net_mirror_next_slot(const net_mirror_packet* packet, uint32_t* at, uint32_t* next,
                          uint32_t* slot);

/// The present incarnation of this slot ended at `tick`. It becomes the previous one, if there is
/// room and it was not parked. The slot's ring is empty afterwards.
void net_mirror_keep_previous(net_mirror* mirror, uint32_t number, ecs_tick tick);
/// A record names a slot where an entity is parked: that one moves, and the slot is empty.
/// @return NET_OK; NET_ERR_FULL (every slot has an entity).
BASE_MUST_USE net_result net_mirror_move_parked(net_mirror* mirror, uint32_t number);

/// Drop previous incarnations that ended too long before mirror->tick, or all.
void net_mirror_expire_previous(net_mirror* mirror);
void net_mirror_drop_previous(net_mirror* mirror);
/// The previous incarnation of a slot when an update of this tick can only belong to it, else NULL.
const net_mirror_previous* net_mirror_find_previous(const net_mirror_slot* slot, ecs_tick tick);

// Rows as a mirror keeps them: each word in 1, 2, 4 or 8 bytes, by the bits of its field; of a
// table without a world all in 8.

#define NET_PACKED_ROW_BYTES_MAX (PROTO_ROW_FIELDS_MAX * 8u)
#define NET_PACKED_ROW_SLACK 8u ///< bytes after a packed row, of any content

/// Get the bytes of a packed row of this layout; at most NET_PACKED_ROW_BYTES_MAX.
uint32_t net_packed_row_bytes(const proto_layout* layout);
/// Pack a row whose words fit their fields; the slack after it is overwritten. @return its bytes.
uint32_t net_packed_row_write(const proto_layout* layout, const uint64_t* row, uint8_t* packed);
/// Unpack it into field_count words.
void net_packed_row_read(const proto_layout* layout, const uint8_t* packed, uint64_t* row);

/// The row at a position of an incarnation's ring: in place where it is words, or in `row`.
static inline const uint64_t* net_mirror_row_at(const net_mirror_incarnation* incarnation,
                                                uint32_t position, uint64_t* row) {
    const proto_layout* layout = &incarnation->row_template->layout;
    const void* entry = net_tick_ring_entry(&incarnation->ring, position);
    if (incarnation->ring.stride_bytes == layout->field_count * 8u && !BASE_IS_BIG_ENDIAN)
        return entry;
    net_packed_row_read(layout, entry, row);
    return row;
}
/// The same, always in `row`.
static inline void net_mirror_unpack(const net_mirror_incarnation* incarnation, uint32_t position,
                                     uint64_t* row) {
    const uint64_t* at = net_mirror_row_at(incarnation, position, row);
    if (at != row) memcpy(row, at, incarnation->ring.stride_bytes);
}
