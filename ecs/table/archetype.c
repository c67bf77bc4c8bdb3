// SPDX-License-Identifier: MIT
// Archetypes: one per distinct list of (component, tracked), shared by all templates that have it.
//
// A template is bound once, at its first use: its components, sorted by id, are looked up in a
// table of archetypes by hash, and its defaults are laid out in the order of the columns. After
// that a creation never looks at names or lists. Tracking is part of the identity, since a tracked
// component has a shadow column: "pos" and "tracked pos" are two archetypes.
//
// An archetype is one block with its arrays after it and lives until the world is cleared. They
// are numbered in order of making, and that order is the order of every walk: it is part of the
// simulation.
#include "table/storage.h"

#include "base/assert.h"
#include "base/hash.h"
#include "table/query_cache.h"
#include "table/row.h"
#include "type/world.h"

#include <string.h>

typedef struct column_list {
    ecs_column items[ECS_TEMPLATE_COMPONENTS_MAX];
    uint32_t count;
    uint32_t track_count;
    bool has_ops;
    uint64_t hash;
} column_list;

static void list_columns(const ecs_world* world, const ecs_template* made_from, column_list* list) {
    list->count = 0;
    list->track_count = 0;
    list->has_ops = false;
    list->hash = 0;
    BASE_ASSERT(made_from->component_count <= ECS_TEMPLATE_COMPONENTS_MAX);
    for (uint32_t i = 0; i < made_from->component_count; i++) {
        const ecs_template_component* source = &made_from->components[i];
        const ecs_component* component = ecs_component_get(world, source->component);
        const ecs_type* type = ecs_type_get(world, component->type);
        bool is_tracked = source->flags & (ECS_COMPONENT_TRACKED | ECS_COMPONENT_REPLICATED);
        // Children are found by what tracking marks.
        if (source->component == world->storage->links.component) is_tracked = true;
        ecs_column column = {.component = source->component,
                             .track = is_tracked ? 0 : ECS_SLOT_NONE,
                             .size = type->size,
                             .type = type};
        uint32_t place = list->count++;
        for (; place > 0 && list->items[place - 1].component > column.component; place--)
            list->items[place] = list->items[place - 1];
        list->items[place] = column;
        list->has_ops = list->has_ops || type->ops;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        ecs_column* column = &list->items[i];
        list->hash = base_hash64_mix(list->hash, (uint64_t)column->component << 1 |
                                                     (column->track != ECS_SLOT_NONE));
        if (column->track != ECS_SLOT_NONE) column->track = (uint16_t)list->track_count++;
    }
}

static bool is_same(const ecs_archetype* archetype, const column_list* list) {
    if (archetype->hash != list->hash || archetype->column_count != list->count) return false;
    for (uint32_t i = 0; i < list->count; i++)
        if (archetype->columns[i].component != list->items[i].component ||
            archetype->columns[i].track != list->items[i].track)
            return false;
    return true;
}

static ecs_archetype* find_archetype(const ecs_storage* storage, const column_list* list) {
    uint32_t cursor = 0, id;
    while ((id = base_table_next(&storage->archetype_ids, list->hash, &cursor)) != BASE_TABLE_NONE)
        if (is_same(storage->archetypes[id], list)) return storage->archetypes[id];
    return NULL;
}

// Words of a value that ecs_fast_set stores itself.
static uint8_t words_of(const ecs_column* column) {
    const uint32_t words = column->size / 4;
    const bool is_short = column->size % 4 == 0 && words <= ECS_SLOT_WORDS_MAX;
    return is_short && !column->type->ops ? (uint8_t)words : 0;
}

static ecs_archetype* make_archetype(ecs_world* world, const column_list* list) {
    uint32_t slot_count = world->storage->slot_count;
    size_t columns_bytes = list->count * sizeof(ecs_column);
    size_t sizes_bytes = (list->count + list->track_count) * sizeof(uint32_t);
    size_t bytes = sizeof(ecs_archetype) + columns_bytes + sizes_bytes +
                   slot_count * sizeof(ecs_slot) + list->count * sizeof(ecs_span) +
                   (list->track_count + slot_count) * sizeof(uint16_t);
    ecs_archetype* archetype = base_allocate_zero(world->allocator, bytes);
    archetype->bytes = bytes;
    archetype->column_count = list->count;
    archetype->track_count = list->track_count;
    archetype->has_ops = list->has_ops;
    archetype->is_simple = !list->has_ops && list->track_count == 0;
    archetype->hash = list->hash;
    archetype->columns = (ecs_column*)(archetype + 1);
    archetype->lookup = (ecs_slot*)(archetype->columns + list->count);
    archetype->spans = (ecs_span*)(archetype->lookup + slot_count);
    archetype->sizes = (uint32_t*)(archetype->spans + list->count);
    archetype->tracked = (uint16_t*)(archetype->sizes + list->count + list->track_count);
    archetype->slots = archetype->tracked + list->track_count;
    memset(archetype->slots, 0xff, slot_count * sizeof(uint16_t));
    for (uint32_t i = 0; i < slot_count; i++)
        archetype->lookup[i] = (ecs_slot){.column = ECS_SLOT_NONE, .track = ECS_SLOT_NONE};
    for (uint32_t i = 0; i < list->count; i++) {
        const ecs_column* column = &list->items[i];
        archetype->columns[i] = *column;
        archetype->has |= 1ull << (column->component % 64);
        archetype->sizes[i] = archetype->spans[i].size = column->size;
        archetype->slots[column->component] = (uint16_t)i;
        archetype->lookup[column->component] = (ecs_slot){.size = column->size,
                                                          .column = (uint16_t)i,
                                                          .track = column->track,
                                                          .has_ops = column->type->ops,
                                                          .words = words_of(column)};
        if (column->track == ECS_SLOT_NONE) continue;
        archetype->tracked[column->track] = (uint16_t)i;
        archetype->sizes[list->count + column->track] = column->size;
    }
    archetype->rows_max = ECS_CHUNK_ROWS_MIN;
    while (archetype->rows_max < ECS_CHUNK_ROWS_MAX &&
           ecs_chunk_layout(archetype, archetype->rows_max * 2, NULL) <= ECS_CHUNK_BYTES_MAX)
        archetype->rows_max *= 2;
    return archetype;
}

// What else its rows concern beside handlers and members.
static uint32_t notify_of(const ecs_world* world, const ecs_archetype* archetype) {
    uint32_t notify = 0;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        if (column->type->ops && column->type->ops->request) notify |= ECS_NOTIFY_LOAD;
        if (column->component == world->storage->links.component) notify |= ECS_NOTIFY_PARENT;
    }
    return notify;
}

static ecs_result find_or_make(ecs_world* world, const ecs_template* made_from,
                               ecs_archetype** found) {
    ecs_storage* storage = world->storage;
    column_list list;
    list_columns(world, made_from, &list);
    *found = find_archetype(storage, &list);
    if (*found) return ECS_OK;
    if (storage->archetype_count == ECS_ARCHETYPES_MAX) return ECS_ERR_FULL;
    base_table_reserve(&storage->archetype_ids, world->allocator, storage->archetype_count + 1);
    BASE_ARRAY_RESERVE(world->allocator, storage->archetypes, storage->archetype_capacity,
                       storage->archetype_count + 1);
    BASE_ARRAY_RESERVE(world->allocator, storage->tracked, storage->tracked_capacity,
                       storage->tracked_count + 1);
    ecs_archetype* archetype = make_archetype(world, &list);
    archetype->id = storage->archetype_count;
    archetype->made_by = made_from->id;
    archetype->notify = notify_of(world, archetype);
    if (ecs_chunk_layout(archetype, ECS_CHUNK_ROWS_MIN, NULL) > ECS_CHUNK_BYTES_MAX) {
        base_release(world->allocator, archetype, archetype->bytes);
        return ECS_ERR_FULL;
    }
    ecs_queries_add_archetype(world, archetype);
    storage->archetypes[storage->archetype_count++] = archetype;
    if (archetype->track_count > 0) storage->tracked[storage->tracked_count++] = archetype;
    base_table_add(&storage->archetype_ids, archetype->hash, archetype->id);
    *found = archetype;
    return ECS_OK;
}

ecs_result ecs_binding_make(ecs_world* world, ecs_template_id template_id, ecs_binding** binding) {
    ecs_storage* storage = world->storage;
    if (template_id < storage->binding_capacity && storage->bindings[template_id].archetype) {
        *binding = &storage->bindings[template_id];
        return ECS_OK;
    }
    const ecs_template* made_from = ecs_template_get(world, template_id);
    if (!made_from) return ECS_ERR_UNKNOWN;
    BASE_ARRAY_RESERVE(world->allocator, storage->bindings, storage->binding_capacity,
                       template_id + 1u);
    ecs_archetype* archetype = NULL;
    ecs_result result = find_or_make(world, made_from, &archetype);
    if (result != ECS_OK) return result;
    const uint32_t count = made_from->component_count;
    const void** defaults = base_allocate_zero(world->allocator, count * sizeof *defaults);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_template_component* stated = &made_from->components[i];
        defaults[archetype->slots[stated->component]] = stated->value;
    }
    if (made_from->is_singleton) archetype->notify |= ECS_NOTIFY_SINGLE;
    *binding = &storage->bindings[template_id];
    **binding = (ecs_binding){
        .archetype = archetype,
        .defaults = defaults,
        .is_replicated = made_from->is_replicated,
        .is_singleton = made_from->is_singleton,
    };
    return ECS_OK;
}

void ecs_binding_drop(ecs_world* world, ecs_binding* binding) {
    BASE_ASSERT(binding->archetype);
    BASE_ARRAY_RELEASE(world->allocator, binding->defaults, binding->archetype->column_count);
    *binding = (ecs_binding){0};
}

void ecs_archetype_destroy(ecs_world* world, ecs_archetype* archetype) {
    if (archetype->is_soiled) ecs_storage_tidy(world);
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        ecs_chunk* chunk = archetype->chunks[i];
        uint32_t count = ecs_chunk_count(world->storage, chunk);
        for (uint32_t c = 0; archetype->has_ops && c < archetype->column_count; c++) {
            const ecs_column* column = &archetype->columns[c];
            for (uint32_t row = 0; column->type->ops && row < count; row++) {
                ecs_cell_destroy(world, column->type, ecs_chunk_cell(chunk, c, row));
                if (column->track != ECS_SLOT_NONE)
                    ecs_cell_destroy(
                        world, column->type,
                        ecs_chunk_cell(chunk, archetype->column_count + column->track, row));
            }
        }
        world->storage->places[chunk->id] = (ecs_place){0};
        world->storage->chunk_counts[chunk->id] = 0;
        ecs_block_release(world, chunk);
    }
    BASE_ARRAY_RELEASE(world->allocator, archetype->chunks, archetype->chunk_capacity);
    BASE_ARRAY_RELEASE(world->allocator, archetype->queries, archetype->query_capacity);
    base_release(world->allocator, archetype, archetype->bytes);
}
