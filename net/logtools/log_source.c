// SPDX-License-Identifier: MIT
// A run looks at the world of its match, so a value is read where the systems left it. Without the
// game the values come from the log's state (net/log.h): replicated ones, as clients
// get them.
#include "logtools/log_source.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/save.h"
#include "log/log_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_MAX (INT64_C(1) << 53) ///< beyond it JSON readers lose digits

struct net_log_source {
    base_owner owner;
    const base_reporter* reporter;
    const char* file;
    net_log_state* state; // NULL: a run, which has all that follows
    net_log_replay* replay;
    ecs_world* world;
    net_log_component* components; // position: component id - 1
    uint32_t component_count;
    net_log_field* fields; // of all components
    uint32_t field_count;
    ecs_tick diverged;
};

static const ecs_type* type_at(const net_log_source* source, uint32_t position) {
    const ecs_component* component =
        ecs_component_get(source->world, (ecs_component_id)(position + 1));
    return ecs_type_get(source->world, component->type);
}

static void list_components(net_log_source* source) {
    source->component_count = ecs_component_count(source->world);
    for (uint32_t i = 0; i < source->component_count; i++)
        source->field_count += type_at(source, i)->field_count;
    const base_allocator* allocator = &source->owner.allocator;
    source->components =
        base_allocate_zero(allocator, (source->component_count + 1) * sizeof *source->components);
    source->fields =
        base_allocate_zero(allocator, (source->field_count + 1) * sizeof *source->fields);
    net_log_field* fields = source->fields;
    for (uint32_t i = 0; i < source->component_count; i++) {
        source->components[i] =
            net_log_component_make(source->world, (ecs_component_id)(i + 1), fields);
        fields += source->components[i].field_count;
    }
}

static net_result open_state(net_log_source* source, net_log_reader* reader, ecs_tick from) {
    net_result result = net_log_state_create(reader, NULL, source->reporter, &source->state);
    if (result == NET_OK && from > 1) result = net_log_state_seek(source->state, from - 1);
    return result;
}

static net_result open_run(net_log_source* source, net_log_reader* reader, const net_module* module,
                           ecs_tick from) {
    const net_result result = net_log_replay_create(reader, module, from > 1 ? from - 1 : 0,
                                                    source->reporter, &source->replay);
    if (result != NET_OK) return result;
    source->world = net_match_world(net_log_replay_match(source->replay));
    list_components(source);
    return NET_OK;
}

net_result net_log_source_create(net_log_reader* reader, const net_module* module, ecs_tick from,
                                 const base_reporter* reporter, net_log_source** source_out) {
    BASE_ASSERT(reader && source_out);
    *source_out = NULL;
    net_log_source* source = base_owner_create(reader->allocator, sizeof *source);
    source->reporter = reporter;
    source->file = reader->file;
    net_result result =
        module ? open_run(source, reader, module, from) : open_state(source, reader, from);
    if (result != NET_OK) {
        net_log_source_destroy(source);
        return result;
    }
    *source_out = source;
    return NET_OK;
}

void net_log_source_destroy(net_log_source* source) {
    if (!source) return;
    net_log_state_destroy(source->state);
    net_log_replay_destroy(source->replay);
    base_owner_destroy(source);
}

net_result net_log_source_step(net_log_source* source) {
    if (source->state) return net_log_state_step(source->state);
    net_log_tick tick = {0};
    net_result result = NET_OK;
    while (result == NET_OK && !tick.has_end)
        result = net_log_replay_step(source->replay, &tick);
    if (result != NET_OK || source->diverged > 0) return result;
    if (ecs_world_state_hash(source->world) == tick.state_hash) return NET_OK;
    source->diverged = tick.tick;
    base_report(source->reporter, source->file, 0,
                "warning: this run differs from the log from tick %" PRIu64 " on", tick.tick);
    return NET_OK;
}

bool net_log_source_is_whole(const net_log_source* source) {
    return !source->state || net_log_state_is_whole(source->state);
}

ecs_tick net_log_source_tick(const net_log_source* source) {
    if (source->state) return net_log_state_tick(source->state);
    return net_match_tick(net_log_replay_match(source->replay));
}

net_match* net_log_source_match(const net_log_source* source) {
    return source->replay ? net_log_replay_match(source->replay) : NULL;
}

ecs_tick net_log_source_diverged(const net_log_source* source) {
    return source->diverged;
}

uint32_t net_log_source_component_count(const net_log_source* source) {
    if (source->state) return net_log_state_component_count(source->state);
    return source->component_count;
}

const net_log_component* net_log_source_component(const net_log_source* source, uint32_t position) {
    BASE_ASSERT(position < net_log_source_component_count(source));
    if (source->state) return net_log_state_component(source->state, position);
    return &source->components[position];
}

bool net_log_source_is_replicated(const net_log_source* source, uint32_t position) {
    if (source->state) return true;
    for (uint32_t i = 1; i <= ecs_template_count(source->world); i++) {
        const ecs_template_component* part = ecs_template_find_component(
            ecs_template_get(source->world, (ecs_template_id)i), (ecs_component_id)(position + 1));
        if (part && (part->flags & ECS_COMPONENT_REPLICATED)) return true;
    }
    return false;
}

ecs_entity net_log_source_next(const net_log_source* source, ecs_entity before) {
    if (source->state) return net_log_state_next(source->state, before);
    return ecs_entity_next(source->world, before);
}

const char* net_log_source_template(const net_log_source* source, ecs_entity entity) {
    if (source->state) return net_log_state_template(source->state, entity);
    return ecs_entity_template_name(source->world, entity);
}

static const void* find_row(const net_log_source* source, ecs_entity entity, uint32_t position) {
    BASE_ASSERT(position < source->component_count);
    return ecs_find(source->world, entity, (ecs_component_id)(position + 1));
}

static bool has_state(const net_log_source* source, ecs_entity entity, uint32_t position) {
    const net_log_component* asked = net_log_state_component(source->state, position);
    const net_log_component* component;
    for (uint32_t i = 0; (component = net_log_state_template_component(source->state, entity, i));
         i++)
        if (component->id == asked->id) return true;
    return false;
}

bool net_log_source_has(const net_log_source* source, ecs_entity entity, uint32_t position) {
    if (source->state) return has_state(source, entity, position);
    return find_row(source, entity, position) != NULL;
}

void net_log_source_read(const net_log_source* source, ecs_entity entity, uint32_t position,
                         ecs_number* values) {
    if (source->state) {
        const net_log_component* component = net_log_state_component(source->state, position);
        bool is_read = net_log_state_read(source->state, entity, component, values);
        BASE_ASSERT(is_read);
        return;
    }
    const ecs_type* type = type_at(source, position);
    const void* cell = find_row(source, entity, position);
    BASE_ASSERT(cell && !source->components[position].is_varsize);
    const uint8_t* object = ecs_type_object(type, cell);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        for (uint32_t k = 0; k < field->count; k++)
            *values++ = ecs_number_get(field->kind, object + field->offset +
                                                        k * ecs_field_kind_bytes(field->kind));
    }
}

// The bytes of a type that is not here, as hex.
static void put_bytes(const net_log_source* source, ecs_entity entity, uint32_t position,
                      char* text, size_t text_bytes) {
    size_t size = 0;
    const net_log_component* component = net_log_state_component(source->state, position);
    const uint8_t* data = net_log_state_bytes(source->state, entity, component, &size);
    text[0] = 0;
    for (size_t i = 0; data && i < size && 2 * i + 3 <= text_bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
}

void net_log_source_text(const net_log_source* source, ecs_entity entity, uint32_t position,
                         char* text, size_t text_bytes) {
    if (source->state) {
        put_bytes(source, entity, position, text, text_bytes);
        return;
    }
    const void* cell = find_row(source, entity, position);
    BASE_ASSERT(cell && text_bytes > 0);
    (void)ecs_type_format(type_at(source, position), cell, text, text_bytes);
}

void net_log_source_number(const ecs_number* value, char text[NET_LOG_NUMBER_BYTES]) {
    char plain[NET_LOG_NUMBER_BYTES - 2];
    const ecs_entity entity = (ecs_entity)value->natural;
    switch (value->kind) {
    case ECS_FIELD_BOOL:
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, value->natural ? "true" : "false");
        return;
    case ECS_FIELD_F32:
    case ECS_FIELD_F64:
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, "null");
        if (isfinite(value->real)) ecs_number_text(value, text, NET_LOG_NUMBER_BYTES);
        return;
    case ECS_FIELD_ENTITY:
        (void)base_text_format(text, NET_LOG_NUMBER_BYTES, "\"%u:%u\"", ecs_entity_index(entity),
                               ecs_entity_generation(entity));
        return;
    default:
        ecs_number_text(value, plain, sizeof plain);
        (void)base_text_format(text, NET_LOG_NUMBER_BYTES,
                               fabsl(ecs_number_value(value)) > WHOLE_MAX ? "\"%s\"" : "%s", plain);
    }
}

// ---- where an entity is ----

enum { RANK_NONE, RANK_PLAIN, RANK_NAMED = NET_LOG_WHERE_NAMED, RANK_RULE };

net_log_component net_log_component_make(const ecs_world* world, ecs_component_id id,
                                         net_log_field* fields) {
    const ecs_component* component = ecs_component_get(world, id);
    const ecs_type* type = ecs_type_get(world, component->type);
    net_log_component made = {.id = component->id,
                              .name = component->name,
                              .type = type->name,
                              .is_varsize = type->ops && type->field_count == 0,
                              .field_count = type->field_count,
                              .fields = fields};
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        fields[i] = (net_log_field){.name = field->name,
                                    .kind = field->kind,
                                    .count = field->count,
                                    .is_angle = ecs_quant_is_angle(&field->quant)};
        made.value_count += field->count;
    }
    return made;
}

static bool is(const char* name, const char* other) {
    return strcmp(name, other) == 0;
}

// "pos", "position": 2 or 3 numbers.
static bool is_place(const char* name, uint32_t count) {
    return count >= 2 && count <= 3 && (is(name, "pos") || is(name, "position"));
}

static bool is_real(const net_log_field* field) {
    return field->kind == ECS_FIELD_F32 || field->kind == ECS_FIELD_F64;
}

// Of a component that is nothing else. @return how many; 0: it has others.
static uint32_t count_reals(const net_log_component* component, bool* has_angle) {
    *has_angle = false;
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (!is_real(&component->fields[i])) return 0;
        *has_angle = *has_angle || component->fields[i].is_angle;
    }
    return component->value_count;
}

// By the name of a field, else by that of a component that has no other numbers. They are real.
static bool find_named_place(const net_log_component* component, net_log_numbers* part) {
    bool has_angle;
    for (uint32_t i = 0, first = 0; i < component->field_count; i++) {
        const net_log_field* field = &component->fields[i];
        if (is_real(field) && is_place(field->name, field->count)) {
            *part = (net_log_numbers){i, first, field->count};
            return true;
        }
        first += field->count;
    }
    const uint32_t count = count_reals(component, &has_angle);
    if (!is_place(component->name, count)) return false;
    *part = (net_log_numbers){0, 0, count};
    return true;
}

bool net_log_where_add(net_log_where* place, const net_log_component* component, const char* rule,
                       bool is_replicated) {
    net_log_numbers part = {0};
    bool has_angle = false;
    uint32_t rank = RANK_NONE;
    if (component->is_varsize) return false;
    if (find_named_place(component, &part)) {
        rank = RANK_NAMED;
    } else {
        part.count = count_reals(component, &has_angle);
        if (part.count < 2 || part.count > 3 || has_angle) return false;
        if (is_replicated) rank = RANK_PLAIN;
    }
    if (is(component->name, rule ? rule : "pos")) rank = RANK_RULE;
    if (rank > place->rank)
        *place = (net_log_where){.component = component->id, .part = part, .rank = rank};
    return true;
}
