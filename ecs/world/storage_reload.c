// SPDX-License-Identifier: MIT Entities follow their templates. A value that equals the old default
// takes the new one; one that was written stays. An entity whose template has other components now
// gets a row of its new archetype.
//
// In two halves, like every change of structure: the first makes bindings, archetypes, rows behind
// the living ones and copies of values that own memory, and can take all of it back; the second
// only moves words. The order is that of entity indices, so that a re-run of the same reload ends
// in the same bits.
//
// In the second half old rows stay where they are until every record points at its new row; then
// they go from the last to the first, so that what fills a hole is never a hole itself.
#include "base/assert.h"
#include "event/core_event.h"
#include "structure/transition.h"
#include "table/row.h"
#include "table/storage.h"
#include "table/track.h"
#include "template/template_registry.h"
#include "type/world.h"
#include "world/reload.h"

#include <stdlib.h>

static const ecs_template* old_template(const ecs_reload_plan* plan, ecs_template_id id) {
    return &plan->world->templates->rows[id - 1]->public;
}

static const ecs_template* new_template(const ecs_reload_plan* plan, ecs_template_id id) {
    return &plan->rows[id - 1]->public;
}

static const ecs_type* type_of(const ecs_world* world, ecs_component_id component) {
    return ecs_type_get(world, ecs_component_get(world, component)->type);
}

/// The default of a component, and whether the reload changes it.
static bool is_changed(const ecs_reload_plan* plan, ecs_template_id id, ecs_component_id component,
                       const void** was, const void** is) {
    const ecs_template_component* old =
        ecs_template_find_component(old_template(plan, id), component);
    const ecs_template_component* made =
        ecs_template_find_component(new_template(plan, id), component);
    *was = old ? old->value : NULL;
    *is = made ? made->value : NULL;
    return old && made && !ecs_type_equal(type_of(plan->world, component), old->value, made->value);
}

static ecs_result rebind(ecs_reload_plan* plan, ecs_template_id id) {
    BASE_ASSERT(id >= 1 && id <= plan->old_count);
    ecs_world* world = plan->world;
    const ecs_storage* storage = world->storage;
    if (id >= storage->binding_capacity || !storage->bindings[id].archetype) return ECS_OK;
    const ecs_template* made_from = new_template(plan, id);
    ecs_rebind* made = &plan->rebinds[id];
    ecs_archetype* archetype = NULL;
    ecs_result result = ecs_archetype_ensure(world, made_from, &archetype);
    if (result != ECS_OK) return result;
    made->column_count = archetype->column_count;
    made->defaults =
        base_allocate_zero(world->allocator, made->column_count * sizeof *made->defaults);
    if (!made->defaults) return ECS_ERR_MEMORY;
    made->archetype = archetype;
    made->is_moved = archetype != storage->bindings[id].archetype;
    ecs_archetype_fill_defaults(archetype, made_from, made->defaults);
    for (uint32_t i = 0; i < made->column_count; i++) {
        const void *was, *is;
        made->is_edited =
            made->is_edited || is_changed(plan, id, archetype->columns[i].component, &was, &is);
    }
    return ECS_OK;
}

/// What each column of an entity's new row is copied from.
static void choose_sources(const ecs_reload_plan* plan, const ecs_reload_move* move,
                           const void** sources) {
    const ecs_world* world = plan->world;
    const ecs_rebind* binding = &plan->rebinds[move->template_id];
    const ecs_chunk* old = world->storage->chunks[move->from_chunk];
    for (uint32_t i = 0; i < binding->column_count; i++) {
        const ecs_column* column = &binding->archetype->columns[i];
        uint16_t from = old->archetype->slots[column->component];
        sources[i] = binding->defaults[i];
        if (from == ECS_SLOT_NONE) continue;
        const void* cell = ecs_chunk_cell(old, from, move->from_row);
        const void *was, *is;
        bool follows = is_changed(plan, move->template_id, column->component, &was, &is) &&
                       ecs_type_equal(column->type, cell, was);
        if (!follows) sources[i] = cell;
    }
}

static ecs_result plan_move(ecs_reload_plan* plan, ecs_entity entity, const ecs_record* record) {
    ecs_world* world = plan->world;
    if (!BASE_ARRAY_RESERVE(world->allocator, plan->moves, plan->move_capacity,
                            plan->move_count + 1))
        return ECS_ERR_MEMORY;
    ecs_reload_move* move = &plan->moves[plan->move_count++];
    *move = (ecs_reload_move){.entity = entity,
                              .from_chunk = record->place >> ECS_ROW_BITS,
                              .from_row = record->place & ECS_ROW_MASK,
                              .template_id = record->template_id};
    const ecs_archetype* from = world->storage->bindings[record->template_id].archetype;
    const ecs_archetype* to = plan->rebinds[record->template_id].archetype;
    if (!((from->notify | to->notify) & ECS_NOTIFY_MOVE)) return ECS_OK;
    move->edge = ecs_core_event_move(world, from, to);
    return move->edge ? ECS_OK : ECS_ERR_MEMORY;
}

static ecs_result plan_edit(ecs_reload_plan* plan, uint32_t chunk, uint32_t row,
                            const ecs_column* column, uint32_t at, const void* source) {
    ecs_world* world = plan->world;
    if (!BASE_ARRAY_RESERVE(world->allocator, plan->edits, plan->edit_capacity,
                            plan->edit_count + 1))
        return ECS_ERR_MEMORY;
    ecs_reload_edit edit = {.chunk = chunk, .row = row, .column = at, .source = source};
    if (column->type->ops) {
        edit.staged = base_allocate_zero(world->allocator, column->size);
        if (!edit.staged) return ECS_ERR_MEMORY;
        // The old value, changed: a copy of the default could have the very version of the shadow.
        const void* cell = ecs_chunk_cell(world->storage->chunks[chunk], at, row);
        bool is_copied = ecs_cell_copy(world, column->type, edit.staged, cell);
        if (!is_copied || !ecs_cell_assign(world, column->type, edit.staged, source)) {
            if (is_copied) ecs_cell_destroy(world, column->type, edit.staged);
            base_release(world->allocator, edit.staged, column->size);
            return ECS_ERR_MEMORY;
        }
    }
    plan->edits[plan->edit_count++] = edit;
    return ECS_OK;
}

static ecs_result plan_edits(ecs_reload_plan* plan, const ecs_record* record) {
    const ecs_chunk* chunk = ecs_record_chunk(plan->world->storage, record);
    const ecs_archetype* archetype = chunk->archetype;
    uint32_t row = ecs_record_row(record);
    uint32_t count = plan->edit_count;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        const void *was, *is;
        if (column->size == 0 ||
            !is_changed(plan, record->template_id, column->component, &was, &is) ||
            !ecs_type_equal(column->type, ecs_chunk_cell(chunk, i, row), was))
            continue;
        ecs_result result = plan_edit(plan, chunk->id, row, column, i, is);
        if (result != ECS_OK) return result;
    }
    plan->entity_count += plan->edit_count > count;
    return ECS_OK;
}

/// Rows of the new archetypes, filled and counted; no record points at them yet.
static ecs_result fill_rows(ecs_reload_plan* plan) {
    ecs_world* world = plan->world;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        ecs_reload_move* move = &plan->moves[i];
        if (move->edge && !ecs_core_event_reserve_many(
                              world, move->edge, ecs_entity_index(move->entity), plan->move_count))
            return ECS_ERR_MEMORY;
        ecs_archetype* archetype = plan->rebinds[move->template_id].archetype;
        ecs_result result = ecs_archetype_reserve(world, archetype, 1);
        if (result != ECS_OK) return result;
        const void* sources[ECS_TEMPLATE_COMPONENTS_MAX];
        choose_sources(plan, move, sources);
        ecs_chunk* chunk = ecs_archetype_tail(world, archetype);
        move->to_chunk = chunk->id;
        move->to_row = ecs_chunk_append(world, chunk, 1);
        chunk->entities[move->to_row] = move->entity;
        if (!ecs_row_fill(world, chunk, move->to_row, sources)) {
            ecs_chunk_retract(world, chunk, 1);
            return ECS_ERR_MEMORY;
        }
        plan->filled_count++;
    }
    return ECS_OK;
}

ecs_result ecs_reload_stage(ecs_reload_plan* plan) {
    BASE_ASSERT(plan->world->is_sealed && plan->world->fast.stage_depth == 0);
    ecs_world* world = plan->world;
    plan->archetype_count = world->storage->archetype_count;
    ecs_storage_tidy(world);
    ecs_result result = ECS_OK;
    for (uint32_t id = 1; id <= plan->old_count && result == ECS_OK; id++)
        result = rebind(plan, (ecs_template_id)id);
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE && result == ECS_OK; entity = ecs_entity_next(world, entity)) {
        const ecs_record* record = ecs_record_find(world->storage, entity);
        const ecs_rebind* binding = &plan->rebinds[record->template_id];
        if (binding->is_moved)
            result = plan_move(plan, entity, record);
        else if (binding->is_edited)
            result = plan_edits(plan, record);
    }
    plan->entity_count += plan->move_count;
    if (result == ECS_OK && plan->move_count > 0 &&
        !ecs_track_reserve(world, 0, 0, plan->move_count))
        result = ECS_ERR_MEMORY;
    return result == ECS_OK ? fill_rows(plan) : result;
}

static void release_plan(ecs_reload_plan* plan) {
    const base_allocator* allocator = plan->world->allocator;
    BASE_ARRAY_RELEASE(allocator, plan->edits, plan->edit_capacity);
    BASE_ARRAY_RELEASE(allocator, plan->moves, plan->move_capacity);
    plan->edits = NULL;
    plan->moves = NULL;
}

void ecs_reload_undo(ecs_reload_plan* plan) {
    BASE_ASSERT(plan->filled_count <= plan->move_count);
    ecs_world* world = plan->world;
    ecs_storage* storage = world->storage;
    for (uint32_t i = plan->filled_count; i > 0; i--) {
        const ecs_reload_move* move = &plan->moves[i - 1];
        ecs_chunk* chunk = storage->chunks[move->to_chunk];
        ecs_row_destroy_cells(world, chunk, move->to_row,
                              chunk->archetype->column_count + chunk->archetype->track_count);
        ecs_chunk_retract(world, chunk, 1);
    }
    for (uint32_t i = 0; i < plan->edit_count; i++) {
        const ecs_reload_edit* edit = &plan->edits[i];
        if (!edit->staged) continue;
        const ecs_column* column = &storage->chunks[edit->chunk]->archetype->columns[edit->column];
        ecs_cell_destroy(world, column->type, edit->staged);
        base_release(world->allocator, edit->staged, column->size);
    }
    for (uint32_t id = 1; id <= plan->old_count; id++) {
        const ecs_rebind* made = &plan->rebinds[id];
        BASE_ARRAY_RELEASE(world->allocator, made->defaults, made->column_count);
    }
    // Edges of moves name archetypes by number.
    if (storage->archetype_count > plan->archetype_count) ecs_core_event_clear(world);
    while (storage->archetype_count > plan->archetype_count)
        ecs_archetype_drop_newest(world);
    release_plan(plan);
}

static void commit_edits(ecs_reload_plan* plan) {
    ecs_world* world = plan->world;
    for (uint32_t i = 0; i < plan->edit_count; i++) {
        const ecs_reload_edit* edit = &plan->edits[i];
        ecs_chunk* chunk = world->storage->chunks[edit->chunk];
        const ecs_column* column = &chunk->archetype->columns[edit->column];
        void* cell = ecs_chunk_cell(chunk, edit->column, edit->row);
        if (edit->staged) {
            ecs_cell_destroy(world, column->type, cell);
            ecs_cell_move(world, column->type, cell, edit->staged);
            base_release(world->allocator, edit->staged, column->size);
        } else {
            ecs_bytes_copy(cell, edit->source, column->size);
        }
        if (column->track != ECS_SLOT_NONE) ecs_chunk_mark_row(chunk, column->track, edit->row);
    }
}

static int compare_holes(const void* a, const void* b) {
    const ecs_reload_move* x = a;
    const ecs_reload_move* y = b;
    if (x->to_chunk != y->to_chunk) return x->to_chunk < y->to_chunk ? 1 : -1;
    if (x->from_chunk != y->from_chunk) return x->from_chunk < y->from_chunk ? 1 : -1;
    return x->from_row < y->from_row ? 1 : x->from_row > y->from_row ? -1 : 0;
}

/// Old rows go, from the last of each archetype to its first.
static void remove_holes(ecs_reload_plan* plan) {
    ecs_storage* storage = plan->world->storage;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        // Sorted by archetype and position in it; the new place is known to the records by now.
        ecs_reload_move* move = &plan->moves[i];
        const ecs_chunk* chunk = storage->chunks[move->from_chunk];
        move->to_chunk = chunk->archetype->id;
        move->to_row = move->from_chunk;
        move->from_chunk = chunk->index;
    }
    qsort(plan->moves, plan->move_count, sizeof *plan->moves, compare_holes);
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const ecs_reload_move* move = &plan->moves[i];
        ecs_chunk_remove(plan->world, storage->chunks[move->to_row], move->from_row);
    }
}

static int compare_entities(const void* a, const void* b) {
    uint32_t x = ecs_entity_index(((const ecs_reload_move*)a)->entity);
    uint32_t y = ecs_entity_index(((const ecs_reload_move*)b)->entity);
    return x < y ? -1 : x > y;
}

static void commit_moves(ecs_reload_plan* plan) {
    ecs_world* world = plan->world;
    ecs_storage* storage = world->storage;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const ecs_reload_move* move = &plan->moves[i];
        ecs_chunk* old = storage->chunks[move->from_chunk];
        ecs_structure_leaving(world, old, move->from_row, move->entity);
        ecs_row_destroy_cells(world, old, move->from_row,
                              old->archetype->column_count + old->archetype->track_count);
        ecs_row_settle(world->storage, storage->chunks[move->to_chunk], move->to_row, move->entity,
                       move->template_id);
    }
    if (plan->move_count == 0) return;
    remove_holes(plan);
    qsort(plan->moves, plan->move_count, sizeof *plan->moves, compare_entities);
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const ecs_reload_move* move = &plan->moves[i];
        const ecs_record* record = ecs_record_find(storage, move->entity);
        ecs_structure_arrived(world, ecs_record_chunk(storage, record), ecs_record_row(record),
                              move->entity);
    }
}

static void commit_bindings(ecs_reload_plan* plan) {
    ecs_world* world = plan->world;
    ecs_storage* storage = world->storage;
    for (uint32_t i = 0; i < storage->archetype_count; i++)
        storage->archetypes[i]->made_by = ECS_TEMPLATE_NONE;
    for (uint32_t id = 1; id <= plan->old_count; id++) {
        const ecs_rebind* made = &plan->rebinds[id];
        if (!made->archetype) continue;
        const ecs_template* made_from = new_template(plan, (ecs_template_id)id);
        ecs_binding* binding = &storage->bindings[id];
        BASE_ARRAY_RELEASE(world->allocator, binding->defaults, binding->archetype->column_count);
        binding->archetype = made->archetype;
        binding->defaults = made->defaults;
        binding->is_replicated = made_from->is_replicated;
        binding->is_singleton = made_from->is_singleton;
        made->archetype->is_replicated |= made_from->is_replicated;
        if (made->archetype->made_by == ECS_TEMPLATE_NONE)
            made->archetype->made_by = (ecs_template_id)id;
    }
    ecs_archetypes_index(world);
}

void ecs_reload_commit(ecs_reload_plan* plan) {
    BASE_ASSERT(plan->filled_count == plan->move_count);
    ecs_world* world = plan->world;
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const ecs_reload_move* move = &plan->moves[i];
        if (move->edge) ecs_core_event_before(world, move->edge, move->entity);
    }
    commit_edits(plan);
    commit_moves(plan);
    commit_bindings(plan);
    for (uint32_t i = 0; i < plan->move_count; i++) {
        const ecs_reload_move* move = &plan->moves[i];
        if (move->edge) ecs_core_event_after(world, move->edge, move->entity);
    }
    release_plan(plan);
}
