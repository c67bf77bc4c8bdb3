// SPDX-License-Identifier: MIT
// Records of a snapshot, decoded by snapshot_reader.c, change the mirror. Every record is the
// complete state of one slot at the packet's tick. So applying means: a record that is newer than
// the entity is written to the world.
//
// An older record is kept as a row (the server may learn that we have it and use it as a base),
// unless it belongs to another incarnation of the slot. Ticks decide to which incarnation an old
// create belongs: to the present one when it is newer than all we knew before that began, with the
// same handle and template. A late update of the previous incarnation (mirror_store.c) was
// decoded only because the other records of its packet need that.
//
// Slots and indices: a slot is the server's name for an entity towards this client; an index is
// part of its handle. Both are used again, independently. A create that arrives before the destroy
// of what had its index (or, from a lying server, its slot) ends that incarnation. A create applies
// only if it is newer than all rows of its index too, in any slot: it could be of a previous
// incarnation that had another slot. A destroy changes nothing at an index that another entity took
// over: that one may have been created in the same tick.
//
// A row is stored before the world is changed, and the world gets only what differs from the row
// before. So unchanged components are not marked as written. An absolute record (a create, a run
// without a base) is written as a whole: it repairs a world that other code wrote to.
//
// One thread applies, whatever workers a match has. A packet of arena has some 70 records. One of a
// join has 119 creates, which take 583 thousand instructions; making rows has an order, and values
// and hashes, which have none, are less than half. So a second thread could save 30 us of a packet
// at most, 84 times in a join that takes 427 ms on its line (join_10k), and less than nothing
// later.
//
// References: the newest row of an entity retains each replicated handle in its entity fields. A
// named handle without an entity is ALLOCATED.
//
// Invariants: net_mirror_validate. Left to others: acknowledging (session), the order of packets
// (none is needed).
#include "core/fault.h"
#include "base/assert.h"
#include "mirror/snapshot_reader.h"

enum { PREFETCH_RECORDS = 4 };

static bool has_row(const net_mirror_slot* slot) {
    return slot->handle != ECS_ENTITY_NONE && slot->incarnation.ring.count > 0;
}

static void unpack_newest(const net_mirror_slot* slot, uint64_t* row) {
    net_mirror_unpack(&slot->incarnation, slot->incarnation.ring.count - 1u, row);
}

void net_mirror_release_newest(net_mirror* mirror, const net_mirror_slot* slot) {
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    if (!has_row(slot) || slot->incarnation.row_template->entity_field_count == 0) return;
    unpack_newest(slot, row);
    net_row_world_release(&mirror->target, slot->incarnation.row_template, row);
}

// ---- the world ----

static net_result create_entity(net_mirror* mirror, ecs_entity handle,
                                const net_row_template* row_template, const uint64_t* row) {
    net_result result = net_row_world_create(&mirror->target, handle, row_template, row);
    mirror->counters.creates += result == NET_OK;
    return result;
}

static net_result recreate_entity(net_mirror* mirror, ecs_entity handle,
                                  const net_row_template* row_template, const uint64_t* row) {
    net_result result = net_row_world_recreate(&mirror->target, handle, row_template, row);
    net_mirror_drop_values(mirror, handle, row_template);
    mirror->counters.recreates += result == NET_OK;
    return result;
}

// Write components of a slot's entity from a row. When one is missing, other code removed it: the
// entity is recreated in place.
static net_result update_entity(net_mirror* mirror, const net_mirror_slot* slot,
                                const uint64_t* row, uint64_t components) {
    if (!net_mirror_is_alive(mirror, slot))
        return create_entity(mirror, slot->handle, slot->incarnation.row_template, row);
    if (net_fault_is_planted(NET_FAULT_SKIP_APPLY) && mirror->counters.updates % 64 == 63)
        components &= components - 1;
    if (net_row_world_write(&mirror->target, slot->handle, slot->incarnation.row_template, row,
                            components))
        return NET_OK;
    return recreate_entity(mirror, slot->handle, slot->incarnation.row_template, row);
}

// ---- incarnations ----

static void report_row(const net_mirror* mirror, const net_mirror_record* record, ecs_tick tick,
                       const uint64_t* row) {
    if (!mirror->sink.row) return;
    mirror->sink.row(mirror->sink.context, record->handle, record->row_template, tick, row);
}

static void report_gone(const net_mirror* mirror, ecs_entity handle, ecs_tick tick) {
    if (mirror->sink.gone) mirror->sink.gone(mirror->sink.context, handle, tick);
}

static void report_changed(const net_mirror* mirror, const net_mirror_record* record, bool is_new) {
    if (mirror->sink.changed) mirror->sink.changed(mirror->sink.context, record->handle, is_new);
}

static bool is_newer(bool is_known, ecs_tick known, ecs_tick tick) {
    return !is_known || tick > known;
}

static void know(net_mirror_slot* slot, ecs_tick tick) {
    slot->tick = tick;
    slot->is_known = true;
}

// Make the slot empty, as of this tick; the world stays as it is.
static void forget_incarnation(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick) {
    if (slot->handle == ECS_ENTITY_NONE) return;
    net_mirror_release_newest(mirror, slot);
    net_mirror_index* index = net_mirror_index_of(mirror, ecs_entity_index(slot->handle));
    net_mirror_keep_previous(mirror, index->slot_next - 1u, tick);
    index->slot_next = 0;
    slot->handle = ECS_ENTITY_NONE;
}

static void end_incarnation(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick) {
    if (slot->handle == ECS_ENTITY_NONE) return;
    net_row_world_destroy(&mirror->target, slot->handle);
    net_mirror_drop_values(mirror, slot->handle, NULL);
    forget_incarnation(mirror, slot, tick);
}

static void begin_incarnation(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick) {
    BASE_ASSERT(record->handle != ECS_ENTITY_NONE && record->row_template);
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    slot->has_previous = slot->is_known;
    slot->previous_tick = slot->tick;
    slot->handle = record->handle;
    slot->incarnation.row_template = record->row_template;
    slot->incarnation.tick = tick;
    slot->incarnation.has_forgotten = false;
    net_mirror_index_of(mirror, ecs_entity_index(record->handle))->slot_next =
        (record->slot + 1) & INT32_MAX;
    net_tick_ring_reset(&slot->incarnation.ring,
                        net_packed_row_bytes(&record->row_template->layout));
}

static void forget(net_mirror_slot* slot, ecs_tick tick) {
    if (!slot->incarnation.has_forgotten || tick > slot->incarnation.forgotten_tick)
        slot->incarnation.forgotten_tick = tick;
    slot->incarnation.has_forgotten = true;
}

// Keep the row of a record of the slot's incarnation.
static net_result keep(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick,
                       const net_mirror_record* record) {
    BASE_ASSERT(slot->handle != ECS_ENTITY_NONE);
    net_tick_ring* ring = &slot->incarnation.ring;
    const base_allocator* pool = &mirror->pool.allocator;
    if (ring->count == NET_ROW_HISTORY_MAX) {
        ecs_tick oldest = net_tick_ring_tick(ring, 0);
        forget(slot, tick < oldest ? tick : oldest);
    }
    // Rows of present incarnations go before rows of ended ones.
    if (!net_tick_ring_reserve(ring, pool, NET_ROW_HISTORY_MAX)) net_mirror_drop_previous(mirror);
    bool is_kept = net_tick_ring_put(ring, pool, NET_ROW_HISTORY_MAX, tick,
                                     mirror->packed + record->row_first, ring->stride_bytes);
    return is_kept ? NET_OK : NET_ERR_MEMORY;
}

// ---- records ----

// A record that is older than the entity: a possible base, nothing to apply.
static net_result keep_stale(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick,
                             const uint64_t* row) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    mirror->counters.stale_records++;
    if (slot->handle != record->handle || slot->incarnation.row_template != record->row_template)
        return NET_OK;
    if (slot->has_previous && tick <= slot->previous_tick) return NET_OK;
    if (tick < slot->incarnation.tick) slot->incarnation.tick = tick;
    report_row(mirror, record, tick, row);
    return keep(mirror, slot, tick, record);
}

// The index of a record is in use in another slot: that incarnation ends. @return whether the
// entity itself goes on.
static bool leave_other_slot(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick) {
    uint32_t slot_next = net_mirror_index_of(mirror, ecs_entity_index(record->handle))->slot_next;
    if (slot_next == 0 || slot_next == record->slot + 1) return false;
    net_mirror_slot* other = net_mirror_slot_of(mirror, slot_next - 1);
    bool is_moved = other->handle == record->handle, was_parked = net_mirror_is_parked(other);
    if (is_moved) {
        forget_incarnation(mirror, other, tick);
        mirror->counters.moved += !was_parked;
    } else {
        end_incarnation(mirror, other, tick);
        mirror->counters.evicted++;
    }
    if (!was_parked && is_newer(other->is_known, other->tick, tick)) know(other, tick);
    return is_moved;
}

// Another entity has the slot of a record: that incarnation ends, or moves when it is parked.
static net_result evict(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    ecs_entity previous = slot->handle;
    if (previous == ECS_ENTITY_NONE) return NET_OK;
    if (net_mirror_is_parked(slot) &&
        ecs_entity_index(previous) != ecs_entity_index(record->handle))
        return net_mirror_move_parked(mirror, record->slot);
    mirror->counters.evicted++;
    end_incarnation(mirror, slot, tick);
    if (ecs_entity_index(previous) == ecs_entity_index(record->handle)) return NET_OK;
    report_gone(mirror, previous, tick);
    net_mirror_index_of(mirror, ecs_entity_index(previous))->gone_tick = tick;
    return NET_OK;
}

// Show the entity in the world, or create it there.
static net_result show(net_mirror* mirror, const net_mirror_slot* slot, bool goes_on,
                       const net_row_template* previous, const uint64_t* row) {
    if (!goes_on) return create_entity(mirror, slot->handle, slot->incarnation.row_template, row);
    if (previous == slot->incarnation.row_template)
        return update_entity(mirror, slot, row, UINT64_MAX);
    if (net_mirror_is_alive(mirror, slot))
        return recreate_entity(mirror, slot->handle, slot->incarnation.row_template, row);
    net_row_world_destroy(&mirror->target, slot->handle); // it was LOADING for another entity
    return create_entity(mirror, slot->handle, slot->incarnation.row_template, row);
}

static net_result apply_new_incarnation(net_mirror* mirror, const net_mirror_record* record,
                                        ecs_tick tick, const uint64_t* row) {
    net_result result = net_row_world_retain(&mirror->target, record->row_template, row);
    if (result != NET_OK) return result;
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    const net_mirror_slot* before = net_mirror_find(mirror, record->handle);
    const net_row_template* previous = before ? before->incarnation.row_template : NULL;
    bool goes_on = leave_other_slot(mirror, record, tick);
    if (slot->handle == record->handle) {
        goes_on = true;
        forget_incarnation(mirror, slot, tick);
    } else {
        result = evict(mirror, record, tick);
        if (result != NET_OK) {
            net_row_world_release(&mirror->target, record->row_template, row);
            return result;
        }
    }
    begin_incarnation(mirror, record, tick);
    if (!mirror->world) report_changed(mirror, record, true);
    result = keep(mirror, slot, tick, record);
    if (slot->incarnation.ring.count == 0)
        net_row_world_release(&mirror->target, slot->incarnation.row_template, row);
    return result == NET_OK ? show(mirror, slot, goes_on, previous, row) : result;
}

static net_result apply_same_incarnation(net_mirror* mirror, const net_mirror_record* record,
                                         ecs_tick tick, const uint64_t* row) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    BASE_ASSERT(has_row(slot));
    if (!mirror->world) {
        report_changed(mirror, record, false);
        return keep(mirror, slot, tick, record);
    }
    const net_row_template* row_template = slot->incarnation.row_template;
    uint64_t old_row[PROTO_ROW_FIELDS_MAX];
    unpack_newest(slot, old_row);
    uint64_t components =
        record->is_absolute ? UINT64_MAX : net_row_changed(row_template, old_row, row);
    bool has_references = row_template->entity_field_count > 0;
    if (has_references) {
        net_result result = net_row_world_retain(&mirror->target, row_template, row);
        if (result != NET_OK) return result;
    }
    net_result result = keep(mirror, slot, tick, record);
    bool is_kept =
        net_tick_ring_tick(&slot->incarnation.ring, slot->incarnation.ring.count - 1u) == tick;
    if (result == NET_OK) result = update_entity(mirror, slot, row, components);
    if (has_references)
        net_row_world_release(&mirror->target, row_template, is_kept ? old_row : row);
    return result;
}

// The server never uses an older base than one it used before. But packets that it wrote earlier
// may still be in flight, and a packet that cannot be read is lost. Measured at 20 % loss and 50 ms
// jitter: without this slack another 7 % of the packets were refused.
static void forget_older(net_mirror_slot* slot, const net_mirror_record* record) {
    if (record->is_absolute || record->base_tick < NET_SNAPSHOT_BASE_SLACK_TICKS) return;
    uint32_t position = net_tick_ring_find(&slot->incarnation.ring,
                                           record->base_tick - NET_SNAPSHOT_BASE_SLACK_TICKS);
    if (position == UINT32_MAX || position == 0) return;
    forget(slot, net_tick_ring_tick(&slot->incarnation.ring, position - 1));
    net_tick_ring_drop(&slot->incarnation.ring, position);
}

// Rows alone are kept as they are packed.
static bool is_row_used(const net_mirror* mirror) {
    return mirror->world || mirror->sink.row || mirror->trace;
}

static net_result apply_row(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick) {
    if (record->is_previous) {
        mirror->counters.stale_records++;
        return NET_OK;
    }
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    net_mirror_index* index = net_mirror_index_of(mirror, ecs_entity_index(record->handle));
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    if (is_row_used(mirror)) net_mirror_unpack_record(mirror, record, row);
    bool is_news =
        is_newer(slot->is_known, slot->tick, tick) && is_newer(index->is_known, index->tick, tick);
    if (net_fault_is_planted(NET_FAULT_APPLY_OLD) && slot->handle == record->handle) is_news = true;
    if (!is_news) return keep_stale(mirror, record, tick, row);
    bool is_same_incarnation = slot->is_known && slot->handle == record->handle &&
                               slot->incarnation.row_template == record->row_template;
    net_result result = is_same_incarnation ? apply_same_incarnation(mirror, record, tick, row)
                                            : apply_new_incarnation(mirror, record, tick, row);
    if (result != NET_OK) return result;
    know(slot, tick);
    if (record->is_absolute) slot->whole_tick = tick;
    index->tick = tick;
    index->is_known = true;
    slot->was_shown = net_mirror_is_alive(mirror, slot);
    forget_older(slot, record);
    mirror->counters.updates++;
    report_row(mirror, record, tick, row);
    if (mirror->trace)
        mirror->trace(mirror->trace_context, record->handle, tick,
                      net_row_hash(record->row_template, row));
    return NET_OK;
}

void net_mirror_end_slot(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick) {
    report_gone(mirror, slot->handle, tick);
    net_mirror_index_of(mirror, ecs_entity_index(slot->handle))->gone_tick = tick;
    mirror->counters.destroys++;
    end_incarnation(mirror, slot, tick);
}

static net_result apply_destroy(net_mirror* mirror, const net_mirror_record* record,
                                ecs_tick tick) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    if (!is_newer(slot->is_known, slot->tick, tick)) {
        mirror->counters.stale_records++;
        return NET_OK;
    }
    if (net_mirror_is_parked(slot)) { // what it is about never came
        const net_result result = net_mirror_move_parked(mirror, record->slot);
        if (result != NET_OK) return result;
    }
    if (slot->handle != ECS_ENTITY_NONE) net_mirror_end_slot(mirror, slot, tick);
    know(slot, tick);
    return NET_OK;
}

// Rows of many entities are in no cache: prefetch them a few records ahead. Measured with 100
// mirrors of 150 entities on busy cores: 300 ns per record instead of 380.
static void prefetch(const net_mirror* mirror, uint32_t i) {
    if (i >= mirror->record_count) return;
    const net_mirror_slot* slot = net_mirror_slot_of(mirror, mirror->records[i].slot);
    if (!has_row(slot)) return;
    const net_tick_ring* ring = &slot->incarnation.ring;
    const uint8_t* row = net_tick_ring_entry(ring, ring->count - 1u);
    __builtin_prefetch(row, 0);
    __builtin_prefetch(row + ring->stride_bytes, 1); // nearly always the place of the next row
    __builtin_prefetch(net_mirror_index_of(mirror, ecs_entity_index(slot->handle)), 1);
}

net_result net_mirror_apply(net_mirror* mirror, ecs_tick tick) {
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        const net_mirror_record* record = &mirror->records[i];
        prefetch(mirror, i + PREFETCH_RECORDS);
        net_result result = record->kind == NET_MIRROR_DESTROY ? apply_destroy(mirror, record, tick)
                                                               : apply_row(mirror, record, tick);
        if (result != NET_OK) return result;
    }
    return NET_OK;
}
