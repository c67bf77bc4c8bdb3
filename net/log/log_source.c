// SPDX-License-Identifier: MIT
// A run looks at the world of its match, so a value is read where the systems left it. Without the
// game the values come from the log's state (net/log_state.h): replicated ones, as clients
// get them.
#include "log/log_source.h"

#include "log/log_replay.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/save.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_MAX (INT64_C(1) << 53) ///< beyond it JSON readers lose digits

struct net_log_source {
    const base_allocator* allocator;
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

static void describe(net_log_source* source, uint32_t position, net_log_field* fields) {
    const ecs_type* type = type_at(source, position);
    const ecs_component* component =
        ecs_component_get(source->world, (ecs_component_id)(position + 1));
    net_log_component* described = &source->components[position];
    *described = (net_log_component){.id = component->id,
                                     .name = component->name,
                                     .type = type->name,
                                     .is_varsize = type->ops && type->field_count == 0,
                                     .field_count = type->field_count,
                                     .fields = fields};
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        fields[i] =
            (net_log_field){.name = field->name, .kind = field->kind, .count = field->count};
        described->value_count += field->count;
    }
}

static bool list_components(net_log_source* source) {
    source->component_count = ecs_component_count(source->world);
    for (uint32_t i = 0; i < source->component_count; i++)
        source->field_count += type_at(source, i)->field_count;
    source->components = base_allocate_zero(source->allocator, (source->component_count + 1) *
                                                                   sizeof *source->components);
    source->fields =
        base_allocate_zero(source->allocator, (source->field_count + 1) * sizeof *source->fields);
    if (!source->components || !source->fields) return false;
    net_log_field* fields = source->fields;
    for (uint32_t i = 0; i < source->component_count; i++) {
        describe(source, i, fields);
        fields += source->components[i].field_count;
    }
    return true;
}

static net_result open_state(net_log_source* source, net_log_reader* reader, ecs_tick from) {
    net_result result = net_log_state_create(reader, source->reporter, &source->state);
    if (result == NET_OK && from > 1) result = net_log_state_seek(source->state, from - 1);
    return result;
}

static net_result open_run(net_log_source* source, net_log_reader* reader, const net_module* module,
                           ecs_tick from) {
    net_result result = net_log_replay_create(reader, module, source->reporter, &source->replay);
    if (result == NET_OK && from > 1) result = net_log_replay_seek(source->replay, from - 1);
    if (result != NET_OK) return result;
    source->world = net_match_world(net_log_replay_match(source->replay));
    return list_components(source) ? NET_OK : NET_ERR_MEMORY;
}

net_result net_log_source_create(net_log_reader* reader, const net_module* module, ecs_tick from,
                                 const base_reporter* reporter, net_log_source** source_out) {
    BASE_ASSERT(reader && source_out);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *source_out = NULL;
    net_log_source* source = base_allocate_zero(allocator, sizeof *source);
    if (!source) return NET_ERR_MEMORY;
    source->allocator = allocator;
    source->reporter = reporter;
    source->file = net_log_reader_file(reader);
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
    if (source->components)
        base_release(source->allocator, source->components,
                     (source->component_count + 1) * sizeof *source->components);
    if (source->fields)
        base_release(source->allocator, source->fields,
                     (source->field_count + 1) * sizeof *source->fields);
    base_release(source->allocator, source, sizeof *source);
}

net_result net_log_source_step(net_log_source* source) {
    if (source->state) return net_log_state_step(source->state);
    net_log_tick tick;
    net_result result = net_log_replay_step(source->replay, &tick);
    if (result != NET_OK || source->diverged > 0 || !tick.has_end) return result;
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

ecs_entity net_log_source_next(const net_log_source* source, ecs_entity before) {
    if (source->state) return net_log_state_next(source->state, before);
    return ecs_entity_next(source->world, before);
}

const char* net_log_source_template(const net_log_source* source, ecs_entity entity) {
    if (source->state) return net_log_state_template(source->state, entity);
    return ecs_entity_template_name(source->world, entity);
}

static const void* find(const net_log_source* source, ecs_entity entity, uint32_t position) {
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
    return find(source, entity, position) != NULL;
}

void net_log_source_read(const net_log_source* source, ecs_entity entity, uint32_t position,
                         net_log_value* values) {
    if (source->state) {
        const net_log_component* component = net_log_state_component(source->state, position);
        bool is_read = net_log_state_read(source->state, entity, component, values);
        BASE_ASSERT(is_read);
        return;
    }
    const ecs_type* type = type_at(source, position);
    const void* cell = find(source, entity, position);
    BASE_ASSERT(cell && !source->components[position].is_varsize);
    const uint8_t* object = ecs_type_object(type, cell);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        for (uint32_t k = 0; k < field->count; k++)
            *values++ = net_log_value_make(field->kind, object + field->offset +
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
    const void* cell = find(source, entity, position);
    BASE_ASSERT(cell && text_bytes > 0);
    (void)ecs_type_format(type_at(source, position), cell, text, text_bytes);
}

// The fewest digits that read back to the same number.
static void put_real(double real, bool is_single, char text[NET_LOG_NUMBER_BYTES]) {
    if (!isfinite(real)) {
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, "null");
        return;
    }
    const int most = is_single ? 9 : 17;
    for (int digits = is_single ? 6 : 15; digits <= most; digits++) {
        double again = 0;
        (void)base_text_format(text, NET_LOG_NUMBER_BYTES, "%.*g", digits, real);
        if (!base_text_parse_f64(text, &again)) continue;
        if (is_single ? (float)again == (float)real : again == real) return;
    }
}

void net_log_source_number(const net_log_value* value, char text[NET_LOG_NUMBER_BYTES]) {
    switch (value->kind) {
    case ECS_FIELD_BOOL:
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, value->truth ? "true" : "false");
        break;
    case ECS_FIELD_I8:
    case ECS_FIELD_I16:
    case ECS_FIELD_I32:
    case ECS_FIELD_I64: {
        const bool is_long = value->whole > WHOLE_MAX || value->whole < -WHOLE_MAX;
        snprintf(text, NET_LOG_NUMBER_BYTES, is_long ? "\"%" PRId64 "\"" : "%" PRId64,
                 value->whole);
        break;
    }
    case ECS_FIELD_U8:
    case ECS_FIELD_U16:
    case ECS_FIELD_U32:
    case ECS_FIELD_U64:
        snprintf(text, NET_LOG_NUMBER_BYTES,
                 value->natural > (uint64_t)WHOLE_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64,
                 value->natural);
        break;
    case ECS_FIELD_F32:
    case ECS_FIELD_F64:
        put_real(value->real, value->kind == ECS_FIELD_F32, text);
        break;
    case ECS_FIELD_ENTITY:
    case ECS_FIELD_KIND_COUNT:
        snprintf(text, NET_LOG_NUMBER_BYTES, "\"%u:%u\"", ecs_entity_index(value->entity),
                 ecs_entity_generation(value->entity));
        break;
    }
}
