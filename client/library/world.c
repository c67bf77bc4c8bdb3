// SPDX-License-Identifier: MIT
// A world by names: entities, components, and the numbers in them. It reads only.
#include "library.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/ecs.h"

bool library_world_open(shoal_world* world, net_match* match, const base_allocator* allocator) {
    BASE_ASSERT(match && !world->shapes); // closed, or never open
    ecs_world* ecs = net_match_world(match);
    const uint32_t count = ecs_component_count(ecs);
    *world = (shoal_world){.match = match, .allocator = allocator};
    world->shapes = base_allocate_zero(allocator, (count + 1) * sizeof *world->shapes);
    if (!world->shapes) {
        *world = (shoal_world){0};
        return false;
    }
    world->shape_count = count;
    for (uint32_t i = 1; i <= count; i++) {
        const ecs_component* component = ecs_component_get(ecs, (ecs_component_id)i);
        const ecs_type* type = ecs_type_get(ecs, component->type);
        world->shapes[i] = (shoal_shape){.fields = type->fields, .count = type->field_count};
    }
    return true;
}

void library_world_close(shoal_world* world) {
    if (world->shapes)
        base_release(world->allocator, world->shapes,
                     (world->shape_count + 1) * sizeof *world->shapes);
    *world = (shoal_world){0};
}

static ecs_world* ecs_of(const shoal_world* world) {
    return world && world->match ? net_match_world(world->match) : NULL;
}

// The component with this number; NULL: there is none.
static const ecs_component* component_of(const shoal_world* world, uint32_t component) {
    const ecs_world* ecs = ecs_of(world);
    if (!ecs || component == 0 || component > world->shape_count) return NULL;
    return ecs_component_get(ecs, (ecs_component_id)component);
}

uint32_t shoal_world_component(const shoal_world* world, const char* name) {
    ecs_world* ecs = ecs_of(world);
    const uint32_t found = ecs && name ? ecs_component_find(ecs, name) : 0;
    return found <= (world ? world->shape_count : 0) ? found : 0;
}

uint32_t shoal_world_component_count(const shoal_world* world) {
    return ecs_of(world) ? world->shape_count : 0;
}

const char* shoal_world_component_name(const shoal_world* world, uint32_t component) {
    const ecs_component* found = component_of(world, component);
    return found ? found->name : NULL;
}

const char* shoal_world_component_type(const shoal_world* world, uint32_t component) {
    const ecs_component* found = component_of(world, component);
    return found ? ecs_type_get(ecs_of(world), found->type)->name : NULL;
}

const shoal_shape* shoal_world_component_shape(const shoal_world* world, uint32_t component) {
    return component_of(world, component) ? &world->shapes[component] : NULL;
}

uint64_t shoal_world_tick(const shoal_world* world) {
    return ecs_of(world) ? net_match_tick(world->match) : 0;
}

uint32_t shoal_world_entity_count(const shoal_world* world) {
    const ecs_world* ecs = ecs_of(world);
    return ecs ? ecs_world_entity_count(ecs) : 0;
}

// NULL: there is none.
static const void* cell_of(const shoal_world* world, shoal_entity entity, uint32_t component) {
    const ecs_component* found = component_of(world, component);
    return found ? ecs_find(ecs_of(world), entity, found->id) : NULL;
}

static const ecs_type* type_of(const shoal_world* world, uint32_t component) {
    return ecs_type_get(ecs_of(world), component_of(world, component)->type);
}

// The value, in the object where the type is boxed. NULL: there is none.
static const void* value_of(const shoal_world* world, shoal_entity entity, uint32_t component) {
    const void* cell = cell_of(world, entity, component);
    return cell ? ecs_type_object(type_of(world, component), cell) : NULL;
}

// A component of size 0 (a tag) has no cell to look for: its template says who has it.
static bool has_component(const shoal_world* world, shoal_entity entity, uint32_t component) {
    if (value_of(world, entity, component)) return true;
    const ecs_world* ecs = ecs_of(world);
    const ecs_component* found = component_of(world, component);
    if (!found || ecs_type_get(ecs, found->type)->size > 0) return false;
    const ecs_template* template_ = ecs_template_get(ecs, ecs_entity_template(ecs, entity));
    return template_ && ecs_template_find_component(template_, found->id) != NULL;
}

shoal_entity shoal_world_next(const shoal_world* world, uint32_t component, shoal_entity after) {
    const ecs_world* ecs = ecs_of(world);
    if (!ecs || (component != 0 && !component_of(world, component))) return 0;
    ecs_entity entity = ecs_entity_next(ecs, after);
    while (entity != ECS_ENTITY_NONE && component != 0 && !has_component(world, entity, component))
        entity = ecs_entity_next(ecs, entity);
    return entity;
}

int32_t shoal_world_has(const shoal_world* world, shoal_entity entity) {
    const ecs_world* ecs = ecs_of(world);
    return ecs && ecs_is_alive(ecs, entity);
}

const char* shoal_world_template(const shoal_world* world, shoal_entity entity) {
    const ecs_world* ecs = ecs_of(world);
    return ecs ? ecs_entity_template_name(ecs, entity) : NULL;
}

uint32_t shoal_world_read(const shoal_world* world, shoal_entity entity, uint32_t component,
                          int32_t field, double* values, uint32_t capacity) {
    return library_field_read(shoal_world_component_shape(world, component), field,
                              value_of(world, entity, component), values, capacity);
}

uint32_t shoal_world_read_whole(const shoal_world* world, shoal_entity entity, uint32_t component,
                                int32_t field, int64_t* values, uint32_t capacity) {
    return library_field_read_whole(shoal_world_component_shape(world, component), field,
                                    value_of(world, entity, component), values, capacity);
}

int32_t shoal_world_text(const shoal_world* world, shoal_entity entity, uint32_t component,
                         char* text, size_t text_bytes) {
    if (!text || text_bytes == 0) return 0;
    text[0] = '\0';
    const void* cell = cell_of(world, entity, component);
    return cell && ecs_type_format(type_of(world, component), cell, text, text_bytes);
}
