// SPDX-License-Identifier: MIT
// Findings, each once.
//
// Every value of a server's world: is it finite, and within the range that it is sent with? And
// what a client's system reads: is it what the server has?
#include "check/check.h"

#include "net/match.h"

#include "ecs/inspect.h"

#include "base/hash.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

bool net_check_is_first(net_checker* self, const char* topic, const char* name) {
    const uint64_t key = base_hash64_mix(base_hash64_text(topic), base_hash64_text(name));
    for (uint32_t i = 0; i < self->topic_count; i++)
        if (self->topics[i] == key) return false;
    if (self->topic_count == NET_CHECK_TOPICS_MAX) return false;
    self->topics[self->topic_count++] = key;
    return true;
}

void net_check_report_at(net_checker* self, const char* file, uint32_t line, const char* topic,
                         const char* name, const char* format, ...) {
    char text[BASE_REPORT_BYTES_MAX];
    if (!net_check_is_first(self, topic, name)) return;
    va_list arguments;
    va_start(arguments, format);
    (void)base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    self->result.warnings++;
    base_report(self->config->reporter, file, line, "warning: %s", text);
}

// ---- values ----

typedef struct place {
    net_checker* self;
    ecs_entity entity;
    const ecs_template* source;
    const ecs_template_component* component;
    const char* name;
} place;

// ECS_INITS takes a pointer to any type: &(float){30} in an int is 1106247680, and &(int32_t){30}
// in a float next to nothing.
static void check_bits(const place* at, const ecs_field* field, double value) {
    const int32_t whole = field->kind == ECS_FIELD_I32 ? (int32_t)value : 0;
    float real;
    memcpy(&real, &whole, sizeof real);
    const bool is_real = (whole & 0x1ffff) == 0 && fabsf(real) >= 0.5f && fabsf(real) <= 4096.0f;
    const bool is_whole = field->kind == ECS_FIELD_F32 && value != 0 && fabs(value) < FLT_MIN;
    if (is_real || is_whole)
        net_check_report(at->self, "bits", at->name,
                         "component %s of template %s: field %s is %.10g in tick %llu, which are "
                         "the bits of a %s: write a value of the component's own C type",
                         at->name, at->source->name, field->name, value,
                         (unsigned long long)net_match_tick(at->self->server),
                         is_real ? "float" : "whole number");
}

static void check_number(const place* at, const ecs_field* field, double value) {
    char topic[2 * ECS_NAME_BYTES_MAX];
    (void)base_text_format(topic, sizeof topic, "%s.%s", at->name, field->name);
    const unsigned index = ecs_entity_index(at->entity),
                   generation = ecs_entity_generation(at->entity);
    const unsigned long long tick = net_match_tick(at->self->server);
    check_bits(at, field, value);
    if (value - value != 0.0) { // infinite, or no number
        net_check_report(at->self, "finite", topic,
                         "component %s of template %s: field %s is %s in tick %llu (entity %u:%u)",
                         at->name, at->source->name, field->name,
                         value != value ? "not a number" : "infinite", tick, index, generation);
        return;
    }
    const ecs_quant* quant = at->component->quant.bits > 0 ? &at->component->quant : &field->quant;
    if (quant->bits == 0 || ecs_quant_is_angle(quant) || at->component->is_rotation ||
        field->kind == ECS_FIELD_BOOL || field->kind == ECS_FIELD_ENTITY ||
        !(at->component->flags & ECS_COMPONENT_REPLICATED))
        return;
    const double max = quant->min + (double)((UINT64_C(1) << quant->bits) - 1) * quant->step;
    const double slack = quant->step * 0.51;
    if (value >= quant->min - slack && value <= max + slack) return;
    net_check_report(
        at->self, "range", topic,
        "component %s of template %s: field %s is %g in tick %llu (entity %u:%u), outside "
        "of its range %g..%g: clients get the limit",
        at->name, at->source->name, field->name, value, tick, index, generation, quant->min, max);
}

static void check_component(const place* at) {
    ecs_world* world = net_match_world(at->self->server);
    const ecs_component* component = ecs_component_get(world, at->component->component);
    const ecs_type* type = ecs_type_get(world, component->type);
    const void* cell = ecs_find(world, at->entity, component->id);
    if (!cell) return;
    const uint8_t* memory = ecs_type_object(type, cell);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        for (uint32_t k = 0; k < field->count; k++) {
            const uint32_t offset = field->offset + k * ecs_field_kind_bytes(field->kind);
            const ecs_number number = ecs_number_get(field->kind, memory + offset);
            check_number(at, field, (double)ecs_number_value(&number));
        }
    }
}

static void check_hidden(const place* at, net_match* mirror) {
    ecs_world *world = net_match_world(at->self->server), *there = net_match_world(mirror);
    const ecs_world* view = net_match_world(at->self->view);
    const ecs_component_id id = at->component->component;
    ecs_user reader = {0}, own = {0};
    if ((at->component->flags & ECS_COMPONENT_REPLICATED) ||
        !ecs_inspect_user(view, id, ECS_USE_READ, &reader) ||
        ecs_inspect_user(view, id, ECS_USE_WRITE, &own))
        return;
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    const void *here = ecs_find(world, at->entity, id), *shown = ecs_find(there, at->entity, id);
    if (type->size == 0 || !here || !shown || ecs_type_equal(type, here, shown)) return;
    char a[64], b[64];
    (void)ecs_type_format(type, here, a, sizeof a);
    (void)ecs_type_format(type, shown, b, sizeof b);
    net_check_report(
        at->self, "reads", at->name,
        "component %s of template %s: system %s of the client reads it, and it "
        "is not replicated: on the server it is %s, on a client %s (entity %u:%u); add "
        "_replicate:b=yes",
        at->name, at->source->name, reader.name, a, b, ecs_entity_index(at->entity),
        ecs_entity_generation(at->entity));
}

void net_check_values(net_checker* self, net_match* mirror) {
    ecs_world *world = net_match_world(self->server),
              *there = mirror ? net_match_world(mirror) : NULL;
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        const ecs_template* source = ecs_template_get(world, ecs_entity_template(world, entity));
        if (!source || (there && (!source->is_replicated || !ecs_is_alive(there, entity))))
            continue;
        for (uint32_t i = 0; i < source->component_count; i++) {
            const ecs_template_component* component = &source->components[i];
            const place at = {self, entity, source, component,
                              ecs_component_get(world, component->component)->name};
            if (mirror)
                check_hidden(&at, mirror);
            else
                check_component(&at);
        }
    }
}
