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

enum { VALUE_ALIGN = 16 };

// Rows so much older than the base used last are kept for packets that were overtaken.
#define NET_MIRROR_BASE_SLACK_TICKS 16u

net_result net_mirror_create(const net_mirror_config* config, net_mirror** mirror) {
    BASE_ASSERT(config && config->world && config->rows && mirror);
    *mirror = NULL;
    net_mirror* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = config->allocator;
    made->world = config->world;
    made->rows = config->rows;
    uint32_t index_max = ecs_world_limits(config->world)->replicated_index_max;
    made->index_max = config->index_max < index_max ? config->index_max : index_max;
    made->trace = config->trace;
    made->trace_context = config->trace_context;
    *mirror = made;
    return NET_OK;
}

// ---- references ----

static bool is_reference(const net_mirror* mirror, uint64_t word) {
    uint32_t index = ecs_entity_index((ecs_entity)word);
    return index >= 1 && index <= mirror->index_max && ecs_entity_generation((ecs_entity)word) >= 1;
}

static net_result retain_row(net_mirror* mirror, const net_row_template* entry,
                             const uint64_t* row) {
    net_result result = NET_OK;
    if (entry->entity_field_count == 0) return result;
    for (uint32_t f = 0; f < entry->layout.field_count; f++) {
        if (entry->layout.fields[f].quant.kind != PROTO_ENTITY) continue;
        if (!is_reference(mirror, row[f])) continue;
        if (ecs_handle_retain(mirror->world, (ecs_entity)row[f]) != ECS_OK) result = NET_ERR_MEMORY;
    }
    return result;
}

static void release_row(net_mirror* mirror, const net_row_template* entry, const uint64_t* row) {
    if (entry->entity_field_count == 0) return;
    for (uint32_t f = 0; f < entry->layout.field_count; f++) {
        if (entry->layout.fields[f].quant.kind != PROTO_ENTITY) continue;
        if (is_reference(mirror, row[f])) ecs_handle_release(mirror->world, (ecs_entity)row[f]);
    }
}

static const uint64_t* newest_row(const net_mirror_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE || entity->ring.count == 0) return NULL;
    return net_row_ring_row(&entity->ring, entity->ring.count - 1u);
}

static void release_newest(net_mirror* mirror, const net_mirror_entity* entity) {
    const uint64_t* row = newest_row(entity);
    if (row) release_row(mirror, entity->entry, row);
}

void net_mirror_destroy(net_mirror* mirror) {
    if (!mirror) return;
    const base_allocator* allocator = mirror->allocator;
    for (uint32_t i = 0; i < mirror->entity_capacity; i++) {
        release_newest(mirror, &mirror->entities[i]);
        net_row_ring_deinit(&mirror->entities[i].ring, allocator);
    }
    base_release(allocator, mirror->entities, mirror->entity_capacity * sizeof *mirror->entities);
    base_release(allocator, mirror->records, mirror->record_capacity * sizeof *mirror->records);
    base_release(allocator, mirror->words, mirror->word_capacity * sizeof *mirror->words);
    base_release(allocator, mirror->values, mirror->value_capacity);
    base_release(allocator, mirror, sizeof *mirror);
}

// ---- the world ----

// Values of all replicated components: the template's bytes with the row's fields over them.
static bool make_values(net_mirror* mirror, const net_row_template* entry, const uint64_t* row,
                        ecs_init* inits) {
    if (!base_array_reserve(mirror->allocator, (void**)&mirror->values, &mirror->value_capacity,
                            entry->value_bytes + VALUE_ALIGN, 1))
        return false;
    const ecs_template* source = ecs_template_get(mirror->world, entry->id);
    uint8_t* target = mirror->values;
    for (uint32_t i = 0; i < entry->layout.component_count; i++) {
        ecs_component_id id = (ecs_component_id)entry->layout.components[i].key;
        uint32_t size =
            ecs_type_get(mirror->world, ecs_component_get(mirror->world, id)->type)->size;
        const void* value = ecs_template_find_component(source, id)->value;
        if (value && size > 0)
            memcpy(target, value, size);
        else
            memset(target, 0, size);
        proto_row_write_component(&entry->layout, i, row, target);
        inits[i] = (ecs_init){id, target};
        target += (size + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1);
    }
    return true;
}

static net_result from_ecs(ecs_result result) {
    if (result == ECS_OK) return NET_OK;
    return result == ECS_ERR_MEMORY ? NET_ERR_MEMORY : NET_ERR_FULL;
}

// Resources that an entity needs before it can live would be waited for between load and create.
static net_result create_entity(net_mirror* mirror, ecs_entity handle,
                                const net_row_template* entry, const uint64_t* row) {
    ecs_init inits[PROTO_ROW_COMPONENTS_MAX];
    if (!make_values(mirror, entry, row, inits)) return NET_ERR_MEMORY;
    ecs_result result = ecs_handle_load(mirror->world, handle);
    if (result != ECS_OK) return from_ecs(result);
    result = ecs_create_at(mirror->world, handle, entry->id, inits, entry->layout.component_count);
    if (result != ECS_OK) {
        ecs_handle_unload(mirror->world, handle);
        return from_ecs(result);
    }
    mirror->counters.creates++;
    return NET_OK;
}

static net_result recreate_entity(net_mirror* mirror, ecs_entity handle,
                                  const net_row_template* entry, const uint64_t* row) {
    ecs_init inits[PROTO_ROW_COMPONENTS_MAX];
    if (!make_values(mirror, entry, row, inits)) return NET_ERR_MEMORY;
    ecs_result result =
        ecs_recreate(mirror->world, handle, entry->id, inits, entry->layout.component_count);
    if (result == ECS_OK) mirror->counters.recreates++;
    return from_ecs(result);
}

// Negative control: one component of every 64th update does not reach the world.
static bool is_skipped(const net_mirror* mirror, uint32_t written) {
#ifdef SHOAL_FAULT_SKIP_APPLY
    return written == 0 && mirror->counters.updates % 64 == 63;
#else
    (void)mirror;
    (void)written;
    return false;
#endif
}

static void update_entity(net_mirror* mirror, const net_mirror_entity* entity,
                          const uint64_t* old_row, const uint64_t* row) {
    const proto_layout* layout = &entity->entry->layout;
    uint32_t written = 0;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const proto_row_component* component = &layout->components[i];
        size_t bytes = component->field_count * sizeof *row;
        if (memcmp(old_row + component->field_first, row + component->field_first, bytes) == 0)
            continue;
        if (is_skipped(mirror, written++)) continue;
        void* memory =
            ecs_find_mut(mirror->world, entity->handle, (ecs_component_id)component->key);
        if (memory) proto_row_write_component(layout, i, row, memory);
    }
}

// ---- records ----

static bool is_newer(const net_mirror_entity* entity, ecs_tick tick) {
    return !entity->is_known || tick > entity->tick;
}

static net_result end_life(net_mirror* mirror, net_mirror_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE) return NET_OK;
    // The mirror's own systems must not destroy what they do not own; if one did, it is gone already.
    if (ecs_is_alive(mirror->world, entity->handle))
        (void)(ecs_destroy(mirror->world, entity->handle) == ECS_OK);
    release_newest(mirror, entity);
    entity->handle = ECS_ENTITY_NONE;
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
    bool is_kept = net_row_ring_put(&entity->ring, mirror->allocator, tick, row);
    return is_kept ? NET_OK : NET_ERR_MEMORY;
}

// A record from before what we have: perhaps a base, certainly no news.
static net_result keep_stale(net_mirror* mirror, net_mirror_entity* entity,
                             const net_mirror_record* record, ecs_tick tick, const uint64_t* row) {
    mirror->counters.stale_records++;
    if (entity->handle != record->handle || entity->entry != record->entry) return NET_OK;
    if (entity->has_former && tick <= entity->former_tick) return NET_OK;
    if (tick < entity->life_tick) entity->life_tick = tick;
    return keep(mirror, entity, tick, row);
}

static net_result apply_new_life(net_mirror* mirror, net_mirror_entity* entity,
                                 const net_mirror_record* record, ecs_tick tick,
                                 const uint64_t* row) {
    bool is_recreation =
        entity->handle == record->handle && ecs_is_alive(mirror->world, record->handle);
    net_result result = retain_row(mirror, record->entry, row);
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
    net_result result = retain_row(mirror, entity->entry, row);
    if (result == NET_OK) result = keep(mirror, entity, tick, row);
    if (result != NET_OK) return result;
    if (ecs_is_alive(mirror->world, entity->handle))
        update_entity(mirror, entity, old_row, row);
    else
        result = create_entity(mirror, entity->handle, entity->entry, row);
    release_row(mirror, entity->entry, old_row);
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
    if (mirror->trace)
        mirror->trace(mirror->trace_context, record->handle, tick,
                      net_row_hash(record->entry, row));
    return NET_OK;
}

static net_result apply_destroy(net_mirror* mirror, const net_mirror_record* record,
                                ecs_tick tick) {
    net_mirror_entity* entity = &mirror->entities[ecs_entity_index(record->handle)];
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
