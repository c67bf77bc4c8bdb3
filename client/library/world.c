// SPDX-License-Identifier: MIT
// A world by names: entities, components, and the numbers in them. It reads only.
#include "library.h"

#include "base/assert.h"
#include "ecs/ecs.h"

#include <float.h>
#include <string.h>

void library_world_open(shoal_world* world, net_match* match, const base_allocator* allocator) {
    BASE_ASSERT(match && !world->shapes); // once
    ecs_world* ecs = net_match_world(match);
    const uint32_t count = ecs_component_count(ecs);
    shoal_shape* shapes = base_allocate_zero(allocator, (count + 1) * sizeof *shapes);
    *world = (shoal_world){.match = match, .shapes = shapes, .shape_count = count};
    for (uint32_t i = 1; i <= count; i++) {
        const ecs_component* component = ecs_component_get(ecs, (ecs_component_id)i);
        const ecs_type* type = ecs_type_get(ecs, component->type);
        shapes[i] = (shoal_shape){.fields = type->fields, .count = type->field_count};
    }
}

void library_world_close(shoal_world* world, const base_allocator* allocator) {
    base_release(allocator, world->shapes, (world->shape_count + 1) * sizeof *world->shapes);
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

// ---- fields of components and messages as numbers: every kind as double or int64_t. Numbers from
// outside are clamped to what a field can hold, so that no conversion is undefined ----

// Below 2^63 and exact as a double.
#define WHOLE_MAX 9223372036854774784.0

int32_t shoal_shape_field(const shoal_shape* shape, const char* name) {
    for (uint32_t i = 0; shape && name && i < shape->count; i++)
        if (strcmp(shape->fields[i].name, name) == 0) return (int32_t)i;
    return -1;
}

static const ecs_field* find_field(const shoal_shape* shape, int32_t field) {
    if (!shape || field < 0 || (uint32_t)field >= shape->count) return NULL;
    return &shape->fields[field];
}

uint32_t shoal_shape_field_count(const shoal_shape* shape) {
    return shape ? shape->count : 0;
}

const char* shoal_shape_field_name(const shoal_shape* shape, int32_t field) {
    const ecs_field* found = find_field(shape, field);
    return found ? found->name : NULL;
}

int32_t shoal_shape_field_kind(const shoal_shape* shape, int32_t field) {
    BASE_STATIC_ASSERT(
        (int)SHOAL_BOOL == (int)ECS_FIELD_BOOL && (int)SHOAL_I8 == (int)ECS_FIELD_I8 &&
            (int)SHOAL_U8 == (int)ECS_FIELD_U8 && (int)SHOAL_F32 == (int)ECS_FIELD_F32 &&
            (int)SHOAL_HANDLE == (int)ECS_FIELD_ENTITY,
        "the ABI's kinds are those of the ECS");
    const ecs_field* found = find_field(shape, field);
    return found ? (int32_t)found->kind : -1;
}

uint32_t shoal_shape_field_elements(const shoal_shape* shape, int32_t field) {
    const ecs_field* found = find_field(shape, field);
    return found ? found->count : 0;
}

static double clamp(double value, double min, double max) {
    if (!(value == value)) return 0.0;
    return value < min ? min : value > max ? max : value;
}

static uint32_t elements_of(const ecs_field* field, const void* value, uint32_t capacity) {
    if (!field || !value) return 0;
    return capacity < field->count ? capacity : field->count;
}

static ecs_number number_at(const ecs_field* field, const void* value, uint32_t index) {
    const size_t at = field->offset + (size_t)index * ecs_field_kind_bytes(field->kind);
    return ecs_number_get(field->kind, (const uint8_t*)value + at);
}

uint32_t library_field_read(const shoal_shape* shape, int32_t field, const void* value,
                            double* values, uint32_t capacity) {
    const ecs_field* found = find_field(shape, field);
    const uint32_t count = elements_of(found, value, values ? capacity : 0);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_number one = number_at(found, value, i);
        values[i] = (double)ecs_number_value(&one);
    }
    return count;
}

uint32_t library_field_read_whole(const shoal_shape* shape, int32_t field, const void* value,
                                  int64_t* values, uint32_t capacity) {
    const ecs_field* found = find_field(shape, field);
    const uint32_t count = elements_of(found, value, values ? capacity : 0);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_number one = number_at(found, value, i);
        const bool is_real = ecs_field_kind_is_real(found->kind);
        values[i] = is_real ? (int64_t)clamp(one.real, -WHOLE_MAX, WHOLE_MAX) : one.whole;
    }
    return count;
}

bool library_field_write(const shoal_shape* shape, int32_t field, void* value, const double* values,
                         uint32_t count) {
    const ecs_field* found = find_field(shape, field);
    if (!found || !values || count > found->count) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t* at = (uint8_t*)value + found->offset;
        const ecs_number one = {.kind = ECS_FIELD_F64, .real = clamp(values[i], -DBL_MAX, DBL_MAX)};
        (void)ecs_number_put(found->kind, at + (size_t)i * ecs_field_kind_bytes(found->kind), &one);
    }
    return true;
}
