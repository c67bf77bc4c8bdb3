// SPDX-License-Identifier: MIT
// What lives in a world moves into a world of another registration.
//
// Templates, components, fields and events are found by their names. Entities keep their handles,
// free indices their generations, rows their order: who takes over the same world gets the same
// bits. What the game does not have any more stays behind; what is new begins with its default.
#include "base/assert.h"
#include "ecs/save.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/loading.h"
#include "structure/transition.h"
#include "template/template_registry.h"
#include "type/type_registry.h"
#include "world/save.h"

#include <string.h>

typedef struct mover {
    ecs_world* world;
    const ecs_world* from;
    const base_reporter* reporter;
    base_bytes bytes;                                    // scratch
    ecs_component_id components[ECS_COMPONENTS_MAX + 1]; // by id here: the one in `from`
    ecs_template_id templates[ECS_TEMPLATES_MAX + 1];    // by id in `from`: the one here
} mover;

static ecs_template_id find_template(const mover* self, const ecs_template* template_) {
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    if (template_->part_count <= 1) return ecs_template_seek(self->world, template_->name);
    for (uint32_t i = 0; i < template_->part_count; i++) {
        parts[i] = self->templates[template_->parts[i]]; // made before
        if (parts[i] == ECS_TEMPLATE_NONE) return ECS_TEMPLATE_NONE;
    }
    return ecs_template_compose(self->world, parts, template_->part_count);
}

// An index says whether its entity is replicated.
static bool may_move(const mover* self, const ecs_template* old) {
    const ecs_template_id id = self->templates[old->id];
    const ecs_template* made = ecs_template_get(self->world, id);
    if (made && made->is_replicated == old->is_replicated) return true;
    base_report(self->reporter, old->file, old->line,
                "entities of template '%s' live, but it is %s", old->name,
                !made                 ? "gone"
                : made->is_replicated ? "replicated now"
                                      : "not replicated any more");
    return false;
}

// The fields of plain data that both have.
static void move_fields(const ecs_type* type, uint8_t* cell, const ecs_type* old,
                        const uint8_t* value) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* to = &type->fields[i];
        for (uint32_t k = 0; k < old->field_count; k++) {
            const ecs_field* from = &old->fields[k];
            if (from->kind != to->kind || from->count != to->count ||
                strcmp(from->name, to->name) != 0)
                continue;
            memcpy(cell + to->offset, value + from->offset,
                   (size_t)ecs_field_kind_bytes(to->kind) * to->count);
        }
    }
}

// The cell holds the default of its template. A value that equals its old default follows.
static bool move_value(mover* self, const ecs_type* type, void* cell, const ecs_type* old,
                       const void* value, const void* old_default) {
    if (ecs_type_equal(old, value, old_default)) return true;
    if (!type->ops && !old->ops) {
        move_fields(type, cell, old, value);
        return true;
    }
    if (type->layout_hash != old->layout_hash || strcmp(type->name, old->name) != 0) return true;
    base_bytes_clear(&self->bytes);
    ecs_type_write(old, value, &self->bytes);
    base_reader reader = base_reader_make(self->bytes.data, self->bytes.size);
    const ecs_type_context context = {self->world->allocator};
    return ecs_type_read(type, &context, cell, &reader);
}

static bool move_cells(mover* self, const ecs_chunk* chunk, uint32_t row, const ecs_chunk* source,
                       uint32_t source_row, const ecs_template* old) {
    const ecs_archetype* archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        const ecs_component_id id = self->components[column->component];
        const ecs_template_component* stated = id ? ecs_template_find_component(old, id) : NULL;
        if (!stated || column->size == 0) continue;
        const uint16_t from = source->archetype->slots[id];
        void* cell = ecs_chunk_cell(chunk, i, row);
        if (!move_value(self, column->type, cell, ecs_component_type(self->from, id),
                        ecs_chunk_cell(source, from, source_row), stated->value))
            return false;
        if (column->track != ECS_SLOT_NONE)
            ecs_shadow_copy(self->world, column->type,
                            ecs_chunk_cell(chunk, archetype->column_count + column->track, row),
                            cell);
    }
    return true;
}

static ecs_result move_row(mover* self, const ecs_chunk* source, uint32_t source_row) {
    ecs_world* world = self->world;
    const ecs_entity entity = source->entities[source_row];
    const ecs_template* old = ecs_template_get(self->from, ecs_entity_template(self->from, entity));
    if (!may_move(self, old)) return ECS_ERR_TYPE;
    const ecs_row_head head = {entity, self->templates[old->id]};
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, head.template_id, &binding);
    if (result == ECS_OK) result = ecs_structure_place_rows(world, binding->archetype, &head, 1);
    if (result != ECS_OK) return result;
    const ecs_record* record = ecs_record_find(world->storage, entity);
    ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    const uint32_t row = ecs_record_row(record);
    if (!chunk->archetype->has_ops) ecs_rows_spread(chunk, row, 1, binding);
    if (!move_cells(self, chunk, row, source, source_row, old)) return ECS_ERR_MALFORMED;
    ecs_track_count_rows(world, chunk, row, 1, true);
    return ECS_OK;
}

static ecs_result move_rows(mover* self) {
    const ecs_storage* storage = self->from->storage;
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < storage->archetype_count; i++) {
        const ecs_archetype* archetype = storage->archetypes[i];
        for (uint32_t k = 0; k < archetype->chunk_count; k++) {
            const ecs_chunk* chunk = archetype->chunks[k];
            const uint32_t count = ecs_chunk_count(storage, chunk);
            for (uint32_t row = 0; row < count && result == ECS_OK; row++)
                result = move_row(self, chunk, row);
        }
    }
    ecs_storage_settle_indices(self->world);
    return result;
}

static bool move_events(mover* self) {
    ecs_event_walk walk = {.at = self->from->events->head};
    for (const uint8_t* payload; (payload = ecs_events_next(self->from->events, &walk)) != NULL;) {
        const ecs_event_type id = ecs_event_find(self->world, walk.kind->type.name);
        if (id == ECS_EVENT_NONE) continue;
        const ecs_type* type = &self->world->events->kinds[id - 1]->type;
        if (type->layout_hash == walk.kind->type.layout_hash &&
            !ecs_event_post(self->world, ecs_event_target(payload), id, payload))
            return false;
    }
    return true;
}

static ecs_result move_all(mover* self) {
    for (uint32_t id = 1; id <= ecs_component_count(self->world); id++) {
        const ecs_component* component = ecs_component_get(self->world, (ecs_component_id)id);
        self->components[id] =
            ecs_component_seek(self->from, component->name, component->name_hash);
    }
    for (uint32_t id = 1; id <= ecs_template_count(self->from); id++)
        self->templates[id] =
            find_template(self, ecs_template_get(self->from, (ecs_template_id)id));
    base_bytes_clear(&self->bytes);
    ecs_storage_write_indices(self->from, &self->bytes);
    base_reader reader = base_reader_make(self->bytes.data, self->bytes.size);
    ecs_result result = ecs_storage_read_indices(self->world, &reader);
    if (result == ECS_OK) result = move_rows(self);
    // Last: what enters the lists of members has to leave them.
    if (result == ECS_OK && !move_events(self)) result = ECS_ERR_FULL;
    if (result == ECS_OK) ecs_membership_enter_all(self->world);
    return result;
}

ecs_result ecs_world_take_over(ecs_world* world, const ecs_world* from,
                               const base_reporter* reporter) {
    BASE_ASSERT(world != from && world->is_sealed && from->is_sealed);
    BASE_ASSERT(world->fast.stage_depth == 0 && world->fast.walk_depth == 0 &&
                from->fast.stage_depth == 0);
    if (ecs_schema_hash(world) == ecs_schema_hash(from)) return ecs_world_copy(world, from);
    if (from->commands->view.count > 0 || from->loading->count > 0)
        return BASE_REPORT_AS(ECS_ERR_FULL, reporter, NULL, 0,
                              "commands or resources are waited for: try again later");
    mover* self = base_allocate_zero(world->allocator, sizeof *self);
    self->world = world;
    self->from = from;
    self->reporter = reporter;
    base_bytes_init(&self->bytes, world->allocator);
    ecs_membership_leave_all(world);
    ecs_world_empty(world);
    ecs_result result = move_all(self);
    base_bytes_deinit(&self->bytes);
    base_release(world->allocator, self, sizeof *self);
    if (result != ECS_OK) {
        ecs_world_empty(world);
        return result;
    }
    world->storage->links.is_behind = true;
    world->rng = from->rng;
    world->tick = from->tick;
    return ECS_OK;
}
