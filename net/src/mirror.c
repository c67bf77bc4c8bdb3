// SPDX-License-Identifier: MIT
// The mirror applies what mirror_body.c decoded. Every record is the whole state of one index at the
// packet's tick, so applying is: if this is newer than what we have, make the world say so.
//
// What is older is worth keeping as a row (the server may learn that we have it and use it as a base),
// unless it belongs to another life of the index. Which life an old create belongs to is a question of
// ticks: younger than all we knew before the present life began, same handle, same template.
//
// A row is kept before the world is touched and the world gets only what differs from the row before,
// so components that nothing changed are not marked as written.
//
// References: the newest row of an entity holds a reference for each entity field that names a
// replicated handle; a handle that is spoken of and not there is ALLOCATED, nothing else is.
//
// Left to others: acknowledging (session), the order of packets (none is needed).
#include "mirror.h"

#include "base/assert.h"
#include "mirror_body.h"

#include <string.h>

// Rows so much older than the base used last are kept for packets that were overtaken.
#define NET_MIRROR_BASE_SLACK_TICKS 16u

net_result net_mirror_create(const net_mirror_config* config, net_mirror** mirror) {
    BASE_ASSERT(config && config->world && config->rows && mirror);
    *mirror = NULL;
    net_mirror* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = config->allocator;
    net_pool_init(&made->pool, config->allocator);
    made->world = config->world;
    made->rows = config->rows;
    uint32_t index_max = ecs_world_limits(config->world)->replicated_index_max;
    made->index_max = config->index_max < index_max ? config->index_max : index_max;
    made->target = (net_row_world){
        .allocator = config->allocator, .world = config->world, .index_max = made->index_max};
    made->trace = config->trace;
    made->trace_context = config->trace_context;
    made->sink = config->sink;
    *mirror = made;
    return NET_OK;
}

static const uint64_t* newest_row(const net_mirror_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE || entity->ring.count == 0) return NULL;
    return net_row_ring_row(&entity->ring, entity->ring.count - 1u);
}

static void release_newest(net_mirror* mirror, const net_mirror_entity* entity) {
    const uint64_t* row = newest_row(entity);
    if (row) net_row_world_release(&mirror->target, entity->entry, row);
}

void net_mirror_destroy(net_mirror* mirror) {
    if (!mirror) return;
    const base_allocator* allocator = mirror->allocator;
    for (uint32_t i = 0; i < mirror->entity_capacity; i++) {
        release_newest(mirror, &mirror->entities[i]);
        net_row_ring_deinit(&mirror->entities[i].ring, &mirror->pool.allocator);
    }
    net_pool_deinit(&mirror->pool);
    base_release(allocator, mirror->entities, mirror->entity_capacity * sizeof *mirror->entities);
    base_release(allocator, mirror->records, mirror->record_capacity * sizeof *mirror->records);
    base_release(allocator, mirror->words, mirror->word_capacity * sizeof *mirror->words);
    net_row_world_deinit(&mirror->target);
    base_release(allocator, mirror, sizeof *mirror);
}

// ---- the world ----

static net_result create_entity(net_mirror* mirror, ecs_entity handle,
                                const net_row_template* entry, const uint64_t* row) {
    net_result result = net_row_world_create(&mirror->target, handle, entry, row);
    mirror->counters.creates += result == NET_OK;
    return result;
}

static net_result recreate_entity(net_mirror* mirror, ecs_entity handle,
                                  const net_row_template* entry, const uint64_t* row) {
    net_result result = net_row_world_recreate(&mirror->target, handle, entry, row);
    mirror->counters.recreates += result == NET_OK;
    return result;
}

static void update_entity(net_mirror* mirror, const net_mirror_entity* entity,
                          const uint64_t* old_row, const uint64_t* row) {
    uint64_t changed = net_row_changed(entity->entry, old_row, row);
#ifdef SHOAL_FAULT_SKIP_APPLY
    // Negative control: one component of every 64th update does not reach the world.
    if (mirror->counters.updates % 64 == 63) changed &= changed - 1;
#endif
    net_row_world_write(&mirror->target, entity->handle, entity->entry, row, changed);
}

// ---- records ----

static void tell_row(const net_mirror* mirror, const net_mirror_record* record, ecs_tick tick,
                     const uint64_t* row) {
    if (!mirror->sink.row) return;
    mirror->sink.row(mirror->sink.context, record->handle, record->entry, tick, row);
}

static bool is_newer(const net_mirror_entity* entity, ecs_tick tick) {
    return !entity->is_known || tick > entity->tick;
}

static net_result end_life(net_mirror* mirror, net_mirror_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE) return NET_OK;
    net_row_world_destroy(&mirror->target, entity->handle);
    release_newest(mirror, entity);
    entity->handle = ECS_ENTITY_NONE;
    net_row_ring_deinit(&entity->ring, &mirror->pool.allocator);
    return NET_OK;
}

static void begin_life(net_mirror_entity* entity, const net_mirror_record* record, ecs_tick tick) {
    entity->has_former = entity->is_known;
    entity->former_tick = entity->tick;
    entity->handle = record->handle;
    entity->entry = record->entry;
    entity->life_tick = tick;
    net_row_ring_reset(&entity->ring, record->entry->layout.field_count);
}

static net_result keep(net_mirror* mirror, net_mirror_entity* entity, ecs_tick tick,
                       const uint64_t* row) {
    bool is_kept = net_row_ring_put(&entity->ring, &mirror->pool.allocator, tick, row);
    return is_kept ? NET_OK : NET_ERR_MEMORY;
}

// A record from before what we have: perhaps a base, certainly no news.
static net_result keep_stale(net_mirror* mirror, net_mirror_entity* entity,
                             const net_mirror_record* record, ecs_tick tick, const uint64_t* row) {
    mirror->counters.stale_records++;
    if (entity->handle != record->handle || entity->entry != record->entry) return NET_OK;
    if (entity->has_former && tick <= entity->former_tick) return NET_OK;
    if (tick < entity->life_tick) entity->life_tick = tick;
    tell_row(mirror, record, tick, row);
    return keep(mirror, entity, tick, row);
}

static net_result apply_new_life(net_mirror* mirror, net_mirror_entity* entity,
                                 const net_mirror_record* record, ecs_tick tick,
                                 const uint64_t* row) {
    bool is_recreation =
        entity->handle == record->handle && ecs_is_alive(mirror->world, record->handle);
    net_result result = net_row_world_retain(&mirror->target, record->entry, row);
    if (result != NET_OK) return result;
    if (is_recreation) {
        release_newest(mirror, entity);
        begin_life(entity, record, tick);
        result = recreate_entity(mirror, record->handle, record->entry, row);
    } else {
        mirror->counters.evicted += entity->handle != ECS_ENTITY_NONE;
        result = end_life(mirror, entity);
        begin_life(entity, record, tick);
        if (result == NET_OK) result = create_entity(mirror, record->handle, record->entry, row);
    }
    return result == NET_OK ? keep(mirror, entity, tick, row) : result;
}

static net_result apply_same_life(net_mirror* mirror, net_mirror_entity* entity, ecs_tick tick,
                                  const uint64_t* row) {
    uint64_t old_row[PROTO_ROW_FIELDS_MAX];
    uint32_t field_count = entity->entry->layout.field_count;
    memcpy(old_row, newest_row(entity), field_count * sizeof *row);
    net_result result = net_row_world_retain(&mirror->target, entity->entry, row);
    if (result == NET_OK) result = keep(mirror, entity, tick, row);
    if (result != NET_OK) return result;
    if (ecs_is_alive(mirror->world, entity->handle))
        update_entity(mirror, entity, old_row, row);
    else
        result = create_entity(mirror, entity->handle, entity->entry, row);
    net_row_world_release(&mirror->target, entity->entry, old_row);
    return result;
}

// What the server just used as a base it will not go behind again; but packets that it wrote before may
// still be on their way, and one that cannot be read is as good as lost. Measured at 20 % loss and 50 ms
// jitter: without this slack another 7 % of the packets were refused.
static void forget_older(net_mirror_entity* entity, const net_mirror_record* record) {
    if (!record->has_base || record->base_tick < NET_MIRROR_BASE_SLACK_TICKS) return;
    uint32_t position =
        net_row_ring_find(&entity->ring, record->base_tick - NET_MIRROR_BASE_SLACK_TICKS);
    if (position != UINT32_MAX) net_row_ring_drop(&entity->ring, position);
}

static net_result apply_row(net_mirror* mirror, const net_mirror_record* record, ecs_tick tick) {
    net_mirror_entity* entity = &mirror->entities[ecs_entity_index(record->handle)];
    const uint64_t* row = mirror->words + record->words_first;
    if (!is_newer(entity, tick)) return keep_stale(mirror, entity, record, tick, row);
    bool is_same_life = entity->handle == record->handle && entity->entry == record->entry;
    net_result result = is_same_life ? apply_same_life(mirror, entity, tick, row)
                                     : apply_new_life(mirror, entity, record, tick, row);
    if (result != NET_OK) return result;
    entity->tick = tick;
    entity->is_known = true;
    forget_older(entity, record);
    mirror->counters.updates++;
    tell_row(mirror, record, tick, row);
    if (mirror->trace)
        mirror->trace(mirror->trace_context, record->handle, tick,
                      net_row_hash(record->entry, row));
    return NET_OK;
}

static net_result apply_destroy(net_mirror* mirror, const net_mirror_record* record,
                                ecs_tick tick) {
    net_mirror_entity* entity = &mirror->entities[ecs_entity_index(record->handle)];
    if (mirror->sink.gone) mirror->sink.gone(mirror->sink.context, record->handle, tick);
    if (!is_newer(entity, tick)) {
        mirror->counters.stale_records++;
        return NET_OK;
    }
    mirror->counters.destroys += entity->handle != ECS_ENTITY_NONE;
    net_result result = end_life(mirror, entity);
    entity->tick = tick;
    entity->is_known = true;
    return result;
}

static net_result apply(net_mirror* mirror, ecs_tick tick) {
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        const net_mirror_record* record = &mirror->records[i];
        net_result result = record->kind == NET_MIRROR_DESTROY ? apply_destroy(mirror, record, tick)
                                                               : apply_row(mirror, record, tick);
        if (result != NET_OK) return result;
    }
    return NET_OK;
}

net_result net_mirror_read(net_mirror* mirror, ecs_tick tick, const uint8_t* body, size_t size,
                           net_mirror_result* result) {
    if (result) *result = (net_mirror_result){0};
    if (mirror->broken != NET_OK) return mirror->broken;
    net_mirror_counters before = mirror->counters;
    net_result code = net_mirror_decode(mirror, tick, body, size);
    if (code == NET_OK) {
        code = apply(mirror, tick);
        mirror->broken = code;
    }
    if (code == NET_ERR_STALE) mirror->counters.stale++;
    if (code == NET_ERR_MALFORMED) mirror->counters.malformed++;
    if (code != NET_OK) return code;
    mirror->counters.packets++;
    if (!mirror->has_tick || tick > mirror->tick) mirror->tick = tick;
    mirror->has_tick = true;
    if (result) {
        const net_mirror_counters* now = &mirror->counters;
        *result = (net_mirror_result){
            .applied = (uint32_t)(now->updates - before.updates),
            .destroyed = (uint32_t)(now->destroys - before.destroys),
            .stale = (uint32_t)(now->stale_records - before.stale_records),
        };
    }
    return NET_OK;
}

ecs_tick net_mirror_tick(const net_mirror* mirror) {
    return mirror->tick;
}

bool net_mirror_entity_tick(const net_mirror* mirror, ecs_entity entity, ecs_tick* tick) {
    uint32_t index = ecs_entity_index(entity);
    if (index >= mirror->entity_capacity || entity == ECS_ENTITY_NONE) return false;
    if (mirror->entities[index].handle != entity) return false;
    *tick = mirror->entities[index].tick;
    return true;
}

const net_mirror_counters* net_mirror_get_counters(const net_mirror* mirror) {
    return &mirror->counters;
}
