// SPDX-License-Identifier: MIT
// The mirror: the client's copy of the world.
//
// Records of a snapshot, decoded by snapshot_reader.c, change it. Every record is the
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
#include "mirror/mirror.h"

#include "core/fault.h"
#include "mirror/snapshot_reader.h"

#include "base/assert.h"

enum { PREFETCH_RECORDS = 4 };

static bool has_row(const net_mirror_slot* slot) {
    return slot->handle != ECS_ENTITY_NONE && slot->incarnation.ring.count > 0;
}

static void unpack_newest(const net_mirror_slot* slot, uint64_t* row) {
    net_mirror_unpack(&slot->incarnation, slot->incarnation.ring.count - 1u, row);
}

// Release the handles that the newest row of a slot names.
static void release_newest(net_mirror* mirror, const net_mirror_slot* slot) {
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
    release_newest(mirror, slot);
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
static void keep(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick,
                 const net_mirror_record* record) {
    BASE_ASSERT(slot->handle != ECS_ENTITY_NONE);
    net_tick_ring* ring = &slot->incarnation.ring;
    if (ring->count == NET_ROW_HISTORY_MAX) {
        ecs_tick oldest = net_tick_ring_tick(ring, 0);
        forget(slot, tick < oldest ? tick : oldest);
    }
    net_tick_ring_put(ring, &mirror->pool.allocator, NET_ROW_HISTORY_MAX, tick,
                      mirror->packed + record->row_first, ring->stride_bytes);
}

// ---- records ----

// A record that is older than the entity: a possible base, nothing to apply.
static void keep_stale(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick,
                       const uint64_t* row) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    mirror->counters.stale_records++;
    if (slot->handle != record->handle || slot->incarnation.row_template != record->row_template)
        return;
    if (slot->has_previous && tick <= slot->previous_tick) return;
    if (tick < slot->incarnation.tick) slot->incarnation.tick = tick;
    report_row(mirror, record, tick, row);
    keep(mirror, slot, tick, record);
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
    net_row_world_retain(&mirror->target, record->row_template, row);
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    const net_mirror_slot* before = net_mirror_find(mirror, record->handle);
    const net_row_template* previous = before ? before->incarnation.row_template : NULL;
    bool goes_on = leave_other_slot(mirror, record, tick);
    if (slot->handle == record->handle) {
        goes_on = true;
        forget_incarnation(mirror, slot, tick);
    } else {
        const net_result result = evict(mirror, record, tick);
        if (result != NET_OK) {
            net_row_world_release(&mirror->target, record->row_template, row);
            return result;
        }
    }
    begin_incarnation(mirror, record, tick);
    if (!mirror->world) report_changed(mirror, record, true);
    keep(mirror, slot, tick, record);
    return show(mirror, slot, goes_on, previous, row);
}

static net_result apply_same_incarnation(net_mirror* mirror, const net_mirror_record* record,
                                         ecs_tick tick, const uint64_t* row) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    BASE_ASSERT(has_row(slot));
    if (!mirror->world) {
        report_changed(mirror, record, false);
        keep(mirror, slot, tick, record);
        return NET_OK;
    }
    const net_row_template* row_template = slot->incarnation.row_template;
    uint64_t old_row[PROTO_ROW_FIELDS_MAX];
    unpack_newest(slot, old_row);
    uint64_t components =
        record->is_absolute ? UINT64_MAX : net_row_changed(row_template, old_row, row);
    bool has_references = row_template->entity_field_count > 0;
    if (has_references) net_row_world_retain(&mirror->target, row_template, row);
    keep(mirror, slot, tick, record);
    bool is_kept =
        net_tick_ring_tick(&slot->incarnation.ring, slot->incarnation.ring.count - 1u) == tick;
    const net_result result = update_entity(mirror, slot, row, components);
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

static net_result apply_row(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick) {
    if (record->is_previous) {
        mirror->counters.stale_records++;
        return NET_OK;
    }
    net_mirror_slot* slot = net_mirror_slot_of(mirror, record->slot);
    net_mirror_index* index = net_mirror_index_of(mirror, ecs_entity_index(record->handle));
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    if (mirror->world || mirror->sink.row || mirror->trace) // else rows are kept as they are packed
        net_mirror_unpack_record(mirror, record, row);
    bool is_news =
        is_newer(slot->is_known, slot->tick, tick) && is_newer(index->is_known, index->tick, tick);
    if (net_fault_is_planted(NET_FAULT_APPLY_OLD) && slot->handle == record->handle) is_news = true;
    if (!is_news) {
        keep_stale(mirror, record, tick, row);
        return NET_OK;
    }
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

// The entity of a slot is gone as of `tick`: end its incarnation, and say so.
static void end_slot(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick) {
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
    if (slot->handle != ECS_ENTITY_NONE) end_slot(mirror, slot, tick);
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

// Apply the records of the decoded snapshot. @return NET_OK; an error leaves the mirror broken.
static net_result apply_records(net_mirror* mirror, ecs_tick tick) {
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        const net_mirror_record* record = &mirror->records[i];
        if (record->kind == NET_MIRROR_ADDED) continue;
        prefetch(mirror, i + PREFETCH_RECORDS);
        net_result result = record->kind == NET_MIRROR_DESTROY ? apply_destroy(mirror, record, tick)
                                                               : apply_row(mirror, record, tick);
        if (result != NET_OK) return result;
    }
    return NET_OK;
}

// ---- the mirror ----

// Read snapshots in this code from now on.
static void use_solo(net_mirror* mirror, const net_solo* solo) {
    if (mirror->solo) mirror->solo->receiver_destroy(mirror->receiver);
    mirror->solo = solo;
    mirror->receiver = solo ? solo->receiver_create(&mirror->own->allocator) : NULL;
}

net_mirror* net_mirror_create(const net_mirror_config* config) {
    BASE_ASSERT(config && config->rows && config->index_max);
    net_mirror* made = base_allocate_zero(config->allocator, sizeof *made);
    made->allocator = config->allocator;
    base_quota_init(&made->memory, config->allocator,
                    config->memory_bytes_max ? config->memory_bytes_max : NET_MIRROR_BYTES_MAX);
    net_pool_init(&made->pool, &made->memory.allocator);
    made->own = base_owner_create(&made->memory.allocator, sizeof *made->own);
    made->world = config->world;
    made->rows = config->rows;
    uint32_t index_max =
        config->world ? ecs_world_limits(config->world)->replicated_index_max : config->index_max;
    made->index_bits = net_snapshot_index_bits(config->index_max);
    made->index_max = config->index_max < index_max ? config->index_max : index_max;
    made->target = (net_row_world){
        .allocator = &made->own->allocator, .world = config->world, .index_max = made->index_max};
    made->trace = config->trace;
    made->trace_context = config->trace_context;
    made->sink = config->sink;
    made->part_count = config->rows->component_count + 1;
    made->parts = base_allocate_zero(&made->own->allocator, made->part_count * sizeof *made->parts);
    use_solo(made, config->solo);
    return made;
}

void net_mirror_destroy(net_mirror* mirror) {
    if (!mirror) return;
    net_mirror_drop_previous(mirror);
    for (uint32_t i = 0; i < mirror->slots.count; i++) {
        release_newest(mirror, net_mirror_slot_of(mirror, i));
        net_tick_ring_deinit(&net_mirror_slot_of(mirror, i)->incarnation.ring,
                             &mirror->pool.allocator);
    }
    for (uint32_t i = 0; i < NET_SNAPSHOT_PACKETS; i++)
        base_release(&mirror->pool.allocator, mirror->packets[i].gaps,
                     mirror->packets[i].gaps_capacity);
    net_pool_deinit(&mirror->pool);
    base_owner_destroy(mirror->own);
    BASE_ASSERT(mirror->memory.used_bytes == 0);
    base_release(mirror->allocator, mirror, sizeof *mirror);
}

// Rows of ended incarnations go first, then blocks that are unused.
static net_result check_memory(net_mirror* mirror) {
    const base_allocator* memory = &mirror->memory.allocator;
    if (!base_quota_is_over(memory)) return NET_OK;
    net_mirror_drop_previous(mirror);
    net_pool_deinit(&mirror->pool);
    return base_quota_is_over(memory) ? NET_ERR_MEMORY : NET_OK;
}

net_result net_mirror_read(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                           proto_bit_reader* snapshot) {
    if (mirror->broken != NET_OK) return mirror->broken;
    net_result code = net_mirror_decode(mirror, seq, tick, snapshot);
    if (code == NET_OK) {
        net_mirror_remember(mirror, seq, tick);
        code = apply_records(mirror, tick);
        if (code == NET_OK) code = check_memory(mirror);
        mirror->broken = code;
    }
    if (net_mirror_keeps_words(mirror)) mirror->broken = code;
    if (code == NET_ERR_STALE) mirror->counters.stale++;
    if (code == NET_ERR_MALFORMED) mirror->counters.malformed++;
    if (code != NET_OK) return code;
    mirror->counters.packets++;
    if (!mirror->has_tick || tick > mirror->tick) mirror->tick = tick;
    mirror->has_tick = true;
    net_mirror_expire_previous(mirror);
    if (mirror->counters.packets % NET_MIRROR_TRIM_PACKETS == 0) net_pool_trim(&mirror->pool);
    if (NET_VALIDATE_ON) net_mirror_validate(mirror);
    return NET_OK;
}

ecs_tick net_mirror_tick(const net_mirror* mirror) {
    return mirror->tick;
}

bool net_mirror_entity_tick(const net_mirror* mirror, ecs_entity entity, ecs_tick* tick) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    if (slot) *tick = slot->tick;
    return slot != NULL;
}

bool net_mirror_known_incarnation(const net_mirror* mirror, uint32_t index, ecs_entity* handle,
                                  ecs_tick* tick) {
    *handle = ECS_ENTITY_NONE;
    *tick = 0;
    if (index >= mirror->indices.count) return false;
    const net_mirror_index* at = net_mirror_index_of(mirror, index);
    if (at->slot_next > 0) {
        *handle = net_mirror_slot_of(mirror, at->slot_next - 1)->handle;
        *tick = net_mirror_slot_of(mirror, at->slot_next - 1)->tick;
        return true;
    }
    *tick = at->gone_tick > at->tick ? at->gone_tick : at->tick;
    return at->is_known || at->gone_tick > 0;
}

uint64_t net_mirror_component_bits(const net_mirror* mirror, ecs_component_id component) {
    return component < mirror->part_count ? mirror->parts[component].all : 0;
}

const net_mirror_counters* net_mirror_get_counters(const net_mirror* mirror) {
    return &mirror->counters;
}

// ---- another server ----

// Another server has the match: its slots, packet numbers and base rows begin again, and what the
// world shows stays until that server has sent everything once.
//
// An entity of before the rebase keeps its slot, with its newest row, as a parked one: to readers
// of snapshots the slot is empty, and no record but a create names the entity. Then it goes on:
// applying finds it by its handle, wherever it is parked, and neither destroys nor creates
// it. The new server gives slots in its own order. When it names a slot where another entity is
// parked, that one moves to a slot without a name. What is still parked at the end does not exist
// any more, or is out of sight.
//
//     slot             0    1    2    3    4               0    1    2    3    4
//     parked           a    b    c              create 1 d:     a    -    c         b
//     entities                                                       d
//
// Invariant: a slot with an entity and without is_known is parked.

static void park(net_mirror* mirror, uint32_t number) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, number);
    slot->is_known = slot->has_previous = false;
    slot->tick = slot->whole_tick = 0;
    if (slot->handle == ECS_ENTITY_NONE) return;
    net_tick_ring_drop(&slot->incarnation.ring, slot->incarnation.ring.count - 1u);
    slot->incarnation.tick = UINT64_MAX; // no update is of it
    slot->incarnation.has_forgotten = false;
}

void net_mirror_rebase(net_mirror* mirror, const net_solo* solo) {
    if (mirror->broken != NET_OK) return;
    net_mirror_drop_previous(mirror);
    for (uint32_t i = 0; i < mirror->slots.count; i++)
        park(mirror, i);
    for (uint32_t i = 0; i < mirror->indices.count; i++) {
        net_mirror_index* index = net_mirror_index_of(mirror, i);
        index->tick = index->gone_tick = 0;
        index->is_known = 0;
    }
    for (uint32_t i = 0; i < NET_SNAPSHOT_PACKETS; i++)
        mirror->packets[i].is_decoded = false;
    mirror->has_seq = mirror->has_tick = false;
    mirror->park_next = mirror->slots.count;
    use_solo(mirror, solo);
}

uint32_t net_mirror_end_rebase(net_mirror* mirror, ecs_tick tick) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mirror->slots.count; i++) {
        net_mirror_slot* slot = net_mirror_slot_of(mirror, i);
        if (!net_mirror_is_parked(slot)) continue;
        end_slot(mirror, slot, tick);
        count++;
    }
    return count;
}

// ---- does it hold what the server has? ----

// Does the mirror hold what the server has, and does the world hold what the mirror says?
//
// A probe names one row by its tick. What moves has newer rows by the time the probe arrives, so
// the probe is compared with the row of that tick, which is kept as a base. The world is compared
// with the newest row, which needs no word from the server. Every packet checks a part of the
// slots, so a value that other code wrote is found within seconds, also where each tick has a row.
//
// An entity that was never alive since its newest row (it is LOADING, or cannot be loaded) is no
// fault of the connection. One that was alive and is not was destroyed by other code.

static bool is_comparable(const net_mirror* mirror, const net_mirror_slot* slot) {
    return slot->handle != ECS_ENTITY_NONE && slot->is_known && slot->incarnation.ring.count > 0 &&
           (slot->was_shown || net_mirror_is_alive(mirror, slot));
}

static ecs_component_id first_component(const net_row_template* row_template, uint64_t bits) {
    const uint32_t first = bits ? (uint32_t)__builtin_ctzll(bits) : PROTO_ROW_COMPONENTS_MAX;
    return first < row_template->layout.component_count
               ? (ecs_component_id)row_template->layout.components[first].key
               : ECS_COMPONENT_NONE;
}

// Compare what the world holds with the newest row.
static bool is_world_different(const net_mirror* mirror, const net_mirror_slot* slot,
                               ecs_component_id* component) {
    *component = ECS_COMPONENT_NONE;
    if (!mirror->world) return false;
    const net_row_template* row_template = slot->incarnation.row_template;
    uint64_t newest[PROTO_ROW_FIELDS_MAX], here[PROTO_ROW_FIELDS_MAX];
    if (!net_mirror_is_alive(mirror, slot) ||
        !net_row_world_read(&mirror->target, slot->handle, row_template, here))
        return true;
    net_mirror_unpack(&slot->incarnation, slot->incarnation.ring.count - 1u, newest);
    const uint64_t changed = net_row_changed(row_template, newest, here);
    *component = first_component(row_template, changed);
    return changed != 0;
}

net_mirror_probe_result net_mirror_check_probe(const net_mirror* mirror, uint32_t slot,
                                               ecs_tick tick, uint16_t hash,
                                               net_mirror_difference* difference) {
    net_mirror_difference unused;
    if (!difference) difference = &unused;
    *difference = (net_mirror_difference){ECS_ENTITY_NONE, ECS_COMPONENT_NONE};
    if (slot >= mirror->slots.count) return NET_MIRROR_UNKNOWN;
    const net_mirror_slot* at = net_mirror_slot_of(mirror, slot);
    if (!is_comparable(mirror, at)) return NET_MIRROR_UNKNOWN;
    const net_tick_ring* ring = &at->incarnation.ring;
    const uint32_t position = net_tick_ring_find_exact(ring, tick);
    if (position == UINT32_MAX) return NET_MIRROR_UNKNOWN;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    net_mirror_unpack(&at->incarnation, position, row);
    const bool is_right = (uint16_t)net_row_hash(at->incarnation.row_template, row) == hash;
    const bool is_shown = !is_world_different(mirror, at, &difference->component);
    if (is_right && is_shown) return NET_MIRROR_EQUAL;
    difference->entity = at->handle;
    return NET_MIRROR_DIFFERS;
}

bool net_mirror_sweep(net_mirror* mirror, net_mirror_difference* difference) {
    BASE_ASSERT(difference);
    *difference = (net_mirror_difference){ECS_ENTITY_NONE, ECS_COMPONENT_NONE};
    if (!mirror->world) return false;
    const uint32_t part =
        (mirror->slots.count + NET_MIRROR_SWEEP_CALLS - 1) / NET_MIRROR_SWEEP_CALLS;
    for (uint32_t i = 0; i < part; i++) {
        if (mirror->sweep_next >= mirror->slots.count) mirror->sweep_next = 0;
        const net_mirror_slot* slot = net_mirror_slot_of(mirror, mirror->sweep_next++);
        if (difference->entity != ECS_ENTITY_NONE || !is_comparable(mirror, slot)) continue;
        if (is_world_different(mirror, slot, &difference->component))
            difference->entity = slot->handle;
    }
    return difference->entity != ECS_ENTITY_NONE;
}

ecs_tick net_mirror_whole_tick(const net_mirror* mirror, ecs_entity entity) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    return slot ? slot->whole_tick : 0;
}

// The whole-structure check of a mirror: slots, indices, rows and previous incarnations agree.
// Called after each packet in BASE_VALIDATE builds, and by tests. An assertion here is our own
// fault: no bytes of a server may lead to one.

static void validate_slot(const net_mirror* mirror, uint32_t number) {
    const net_mirror_slot* slot = net_mirror_slot_of(mirror, number);
    net_tick_ring_validate(&slot->incarnation.ring);
    BASE_ASSERT(!slot->previous || slot->previous->slot == number);
    if (slot->handle == ECS_ENTITY_NONE) return;
    uint32_t index = ecs_entity_index(slot->handle), count = slot->incarnation.ring.count;
    BASE_ASSERT(index < mirror->indices.count);
    BASE_ASSERT(net_mirror_index_of(mirror, index)->slot_next == number + 1);
    BASE_ASSERT(slot->incarnation.row_template && count > 0);
    if (net_mirror_is_parked(slot)) {
        BASE_ASSERT(count == 1 && !slot->previous && slot->incarnation.tick == UINT64_MAX);
        return;
    }
    BASE_ASSERT(net_tick_ring_tick(&slot->incarnation.ring, count - 1u) == slot->tick);
    BASE_ASSERT(slot->tick <= mirror->tick && slot->incarnation.tick <= slot->tick);
    BASE_ASSERT(slot->incarnation.ring.stride_bytes ==
                net_packed_row_bytes(&slot->incarnation.row_template->layout));
}

static void validate_previous(const net_mirror* mirror) {
    size_t bytes = 0;
    const net_mirror_previous* older = NULL;
    for (const net_mirror_previous* at = mirror->previous_oldest; at; at = at->newer) {
        BASE_ASSERT(at->older == older && at->slot < mirror->slots.count);
        BASE_ASSERT(net_mirror_slot_of(mirror, at->slot)->previous == at);
        net_tick_ring_validate(&at->incarnation.ring);
        bytes += at->incarnation.ring.bytes_allocated;
        older = at;
    }
    BASE_ASSERT(mirror->previous_newest == older && mirror->previous_bytes == bytes);
}

void net_mirror_validate(const net_mirror* mirror) {
    if (mirror->broken != NET_OK) return; // applying failed half way: it is only destroyed
    for (uint32_t slot = 0; slot < mirror->slots.count; slot++)
        validate_slot(mirror, slot);
    for (uint32_t index = 0; index < mirror->indices.count; index++) {
        uint32_t slot_next = net_mirror_index_of(mirror, index)->slot_next;
        if (slot_next == 0) continue;
        BASE_ASSERT(slot_next <= mirror->slots.count);
        BASE_ASSERT(ecs_entity_index(net_mirror_slot_of(mirror, slot_next - 1)->handle) == index);
    }
    validate_previous(mirror);
}
