// SPDX-License-Identifier: MIT
// Membership: which entities began or ended to match the terms of a system since its last turn.
//
// Structure (core_event.c) records each entity that enters or leaves; the system gets both lists
// when its turn comes. The lists hold the difference between two turns: an entity that leaves after
// it entered is taken out of `entered`, and the other way round. So a list is never longer than
// there are entities, also for a system that never gets a turn.
//
// A position per index makes taking back one look-up, and indices are small numbers. Two
// generations of one index are never in the same list: an entity that did not match at the last
// turn cannot leave.
//
// Invariants: a living entity that matches is in `entered` or was delivered. Lists are packed
// before they are delivered.
//
// Delivered members are part of the state, so the lists are saved. In a restore all entities of the
// old world leave and those of the new one enter; the difference remains, unless the save has the
// lists.
#include "event/systems.h"

#include "base/assert.h"
#include "base/hash.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"

static uint32_t list_length(const ecs_membership_list* list) {
    BASE_ASSERT(list->holes <= list->count);
    return list->count - list->holes;
}

static void list_pack(ecs_membership_list* list) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count && list->holes > 0; i++) {
        ecs_entity entity = list->items[i];
        if (entity != ECS_ENTITY_NONE) {
            list->items[count++] = entity;
            list->at[ecs_entity_index(entity)] = count;
        }
    }
    if (list->holes > 0) {
        list->count = count;
        list->holes = 0;
    }
}

// A full list is packed when half of it are holes: at most once in as many steps as it has items.
static void list_push(const ecs_world* world, ecs_membership_list* list, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity);
    if (list->count == list->capacity && list->holes > list->count / 2) list_pack(list);
    BASE_ARRAY_RESERVE(world->allocator, list->items, list->capacity, list->count + 1);
    BASE_ARRAY_RESERVE(world->allocator, list->at, list->at_capacity, index + 1);
    list->items[list->count++] = entity;
    list->at[index] = list->count;
}

// Position + 1 of the item with this index; 0: none.
static uint32_t list_find(const ecs_membership_list* list, uint32_t index) {
    return index < list->at_capacity ? list->at[index] : 0;
}

static bool list_take(ecs_membership_list* list, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity), place = list_find(list, index);
    if (place == 0 || list->items[place - 1] != entity) return false;
    list->items[place - 1] = ECS_ENTITY_NONE;
    list->at[index] = 0;
    list->holes++;
    return true;
}

static void list_clear(ecs_membership_list* list) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] != ECS_ENTITY_NONE) list->at[ecs_entity_index(list->items[i])] = 0;
    list->count = list->holes = 0;
}

void ecs_membership_enter(const ecs_world* world, ecs_membership* members, ecs_entity entity) {
    BASE_ASSERT(entity != ECS_ENTITY_NONE);
    if (!list_take(&members->left, entity)) list_push(world, &members->entered, entity);
}

void ecs_membership_leave(const ecs_world* world, ecs_membership* members, ecs_entity entity) {
    if (!list_take(&members->entered, entity)) list_push(world, &members->left, entity);
}

void ecs_membership_deliver(const ecs_system* system, ecs_membership* members,
                            const ecs_stage* stage) {
    BASE_ASSERT(system->has_members && stage->world);
    list_pack(&members->left);
    list_pack(&members->entered);
    if (members->left.count > 0 && system->on_leave)
        system->on_leave(stage, members->left.items, members->left.count);
    if (members->entered.count > 0 && system->on_enter)
        system->on_enter(stage, members->entered.items, members->entered.count);
    if (!members->has_begun && system->first_update)
        system->first_update(stage, members->entered.items, members->entered.count);
    members->has_begun = true;
    list_clear(&members->left);
    list_clear(&members->entered);
}

// Tell all systems of all their members.
static void notify_all(const ecs_world* world,
                       void (*notify)(const ecs_world*, ecs_membership*, ecs_entity)) {
    const ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->count && systems->member_systems > 0; i++) {
        ecs_system* system = systems->list[i];
        if (!system->has_members) continue;
        for (uint32_t at = 0; at < system->query->group->match_count; at++) {
            const ecs_archetype* archetype = system->query->group->matches[at];
            for (uint64_t row = 0; row < archetype->row_count; row++)
                notify(world, &system->members,
                       archetype->chunks[row / archetype->rows_max]
                           ->entities[row % archetype->rows_max]);
        }
    }
}

void ecs_membership_leave_all(ecs_world* world) {
    notify_all(world, ecs_membership_leave);
}

void ecs_membership_enter_all(ecs_world* world) {
    notify_all(world, ecs_membership_enter);
}

// Saves

static void write_list(base_bytes* bytes, const ecs_membership_list* list) {
    base_bytes_write_varint(bytes, list_length(list));
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] != ECS_ENTITY_NONE) base_bytes_write_u32(bytes, list->items[i]);
}

void ecs_membership_write(const ecs_world* world, base_bytes* bytes) {
    const ecs_systems* systems = world->systems;
    if (systems->member_systems == 0) return;
    base_bytes_write_varint(bytes, systems->member_systems);
    for (uint32_t i = 0; i < systems->count; i++) {
        const ecs_system* system = systems->list[i];
        if (!system->has_members) continue;
        base_bytes_write_u64(bytes, base_hash64_text(system->name));
        base_bytes_write_u8(bytes, system->members.has_begun);
        write_list(bytes, &system->members.entered);
        write_list(bytes, &system->members.left);
    }
}

static bool does_match(const ecs_world* world, const ecs_system* system, ecs_entity entity) {
    const ecs_record* record = ecs_record_find(world->storage, entity);
    return record &&
           ecs_query_wants(system->query, ecs_record_chunk(world->storage, record)->archetype);
}

// Those of `entered` match, those of `left` do not. Without a system they are passed over.
static ecs_result read_list(ecs_world* world, ecs_system* system, ecs_membership_list* list,
                            bool must_match, base_reader* reader) {
    uint32_t index_max = world->limits.replicated_index_max + world->limits.local_entities_max;
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || count > base_reader_left(reader) / sizeof(ecs_entity))
        return ECS_ERR_MALFORMED;
    for (uint64_t i = 0; i < count; i++) {
        ecs_entity entity = base_reader_u32(reader);
        if (!system) continue;
        uint32_t index = ecs_entity_index(entity);
        if (index == 0 || index > index_max || ecs_entity_generation(entity) == 0 ||
            does_match(world, system, entity) != must_match)
            return ECS_ERR_MALFORMED;
        if (list_find(list, index) != 0) return ECS_ERR_MALFORMED;
        list_push(world, list, entity);
    }
    return ECS_OK;
}

static ecs_system* find_by_hash(const ecs_world* world, uint64_t hash) {
    const ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->count; i++)
        if (systems->list[i]->has_members && base_hash64_text(systems->list[i]->name) == hash)
            return systems->list[i];
    return NULL;
}

ecs_result ecs_membership_read(ecs_world* world, base_reader* reader) {
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || count == 0 || count > ECS_SYSTEMS_MAX) return ECS_ERR_MALFORMED;
    for (uint64_t i = 0; i < count; i++) {
        ecs_system* system = find_by_hash(world, base_reader_u64(reader));
        uint8_t has_begun = base_reader_u8(reader);
        if (reader->failed || has_begun > 1) return ECS_ERR_MALFORMED;
        ecs_membership_list nowhere = {0};
        ecs_membership* members = !system ? NULL : &system->members;
        if (members) {
            list_clear(&members->entered);
            list_clear(&members->left);
            members->has_begun = has_begun;
        }
        ecs_result result =
            read_list(world, system, members ? &members->entered : &nowhere, true, reader);
        if (result == ECS_OK)
            result = read_list(world, system, members ? &members->left : &nowhere, false, reader);
        if (result != ECS_OK && members) { // all that live leave next
            list_clear(&members->entered);
            list_clear(&members->left);
        }
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

static void copy_list(const ecs_world* world, ecs_membership_list* list,
                      const ecs_membership_list* from) {
    list_clear(list);
    for (uint32_t i = 0; i < from->count; i++)
        if (from->items[i] != ECS_ENTITY_NONE) list_push(world, list, from->items[i]);
}

void ecs_membership_copy(ecs_world* world, const ecs_world* from) {
    for (uint32_t i = 0; i < from->systems->count && from->systems->member_systems > 0; i++) {
        const ecs_system* source = from->systems->list[i];
        ecs_system* system =
            source->has_members ? find_by_hash(world, base_hash64_text(source->name)) : NULL;
        if (!system) continue;
        ecs_membership* members = &system->members;
        copy_list(world, &members->entered, &source->members.entered);
        copy_list(world, &members->left, &source->members.left);
        members->has_begun = source->members.has_begun;
    }
}

static void validate_list(const ecs_world* world, const ecs_system* system,
                          const ecs_membership_list* list, bool must_match) {
    uint32_t length = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        ecs_entity entity = list->items[i];
        if (entity == ECS_ENTITY_NONE) continue;
        length++;
        BASE_ASSERT(list->at[ecs_entity_index(entity)] == i + 1);
        BASE_ASSERT(does_match(world, system, entity) == must_match);
    }
    BASE_ASSERT(length == list_length(list));
}

void ecs_membership_validate(const ecs_world* world) {
    for (uint32_t i = 0; i < world->systems->count; i++) {
        const ecs_system* system = world->systems->list[i];
        if (!system->has_members) continue;
        validate_list(world, system, &system->members.entered, true);
        validate_list(world, system, &system->members.left, false);
    }
}
