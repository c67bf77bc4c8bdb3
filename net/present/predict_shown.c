// SPDX-License-Identifier: MIT
// What a player sees of the prediction.
//
// Between two predicted ticks values move in a straight line. A new template, an entity that was
// not listed before, or a step longer than `_teleport` shows the newer value at once. A correction
// leaves the picture where it was: the difference between what was shown and what would be shown
// now becomes an offset, which then fades. So however often a prediction is repeated, the picture
// jumps only where the game means it to, or when it is off by more than NET_CORRECTION_SNAP.
//
// Invariant: items of a tick are in the order in which the module listed their entities. There are
// few, so a linear search finds them.
#include "present/predict_shown.h"

#include "state/steps.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

void net_predict_shown_init(net_predict_shown* shown, const base_allocator* allocator) {
    memset(shown, 0, sizeof *shown);
    shown->allocator = allocator;
}

static void clear_tick(net_shown_tick* tick) {
    tick->item_count = tick->value_count = 0;
}

void net_predict_shown_clear(net_predict_shown* shown) {
    clear_tick(&shown->ticks[0]);
    clear_tick(&shown->ticks[1]);
    clear_tick(&shown->newest_before);
    clear_tick(&shown->offset);
    shown->entity_count = 0;
}

static void reserve(const net_predict_shown* shown, net_shown_tick* tick, uint32_t items,
                    uint32_t values) {
    BASE_ARRAY_RESERVE(shown->allocator, tick->items, tick->item_capacity, items);
    BASE_ARRAY_RESERVE(shown->allocator, tick->values, tick->value_capacity, values);
}

static void copy_tick(const net_predict_shown* shown, net_shown_tick* target,
                      const net_shown_tick* source) {
    reserve(shown, target, source->item_count, source->value_count);
    target->item_count = source->item_count;
    target->value_count = source->value_count;
    if (source->item_count > 0)
        memcpy(target->items, source->items, source->item_count * sizeof *source->items);
    if (source->value_count > 0)
        memcpy(target->values, source->values, source->value_count * sizeof *source->values);
}

static const net_shown_item* find_item(const net_shown_tick* tick, ecs_entity entity,
                                       ecs_component_id component) {
    for (uint32_t i = 0; i < tick->item_count; i++) {
        const net_shown_item* item = &tick->items[i];
        if (item->entity == entity && item->component == component) return item;
    }
    return NULL;
}

// ---- a component's floats ----

static void read_floats(const ecs_type* type, const void* memory, double* values) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        const uint8_t* at = (const uint8_t*)memory + field->offset;
        if (!ecs_field_kind_is_real(field->kind)) continue;
        for (uint32_t k = 0; k < field->count; k++, at += ecs_field_kind_bytes(field->kind))
            *values++ = ecs_number_get(field->kind, at).real;
    }
}

static void write_floats(const ecs_type* type, const double* values, void* memory) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        uint8_t* at = (uint8_t*)memory + field->offset;
        if (!ecs_field_kind_is_real(field->kind)) continue;
        for (uint32_t k = 0; k < field->count; k++, at += ecs_field_kind_bytes(field->kind)) {
            const ecs_number value = {.kind = ECS_FIELD_F64, .real = *values++};
            (void)ecs_number_put(field->kind, at, &value);
        }
    }
}

static uint64_t find_angles(const ecs_type* type, const ecs_quant* quant) {
    uint64_t angles = 0;
    for (uint32_t i = 0, number = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        if (!ecs_field_kind_is_real(field->kind)) continue;
        bool is_angle = ecs_quant_is_angle(quant->bits ? quant : &field->quant);
        for (uint32_t k = 0; k < field->count; k++, number++)
            if (is_angle && number < 64) angles |= UINT64_C(1) << number;
    }
    return angles;
}

static bool is_angle(const net_shown_item* item, uint32_t number) {
    return number < 64 && (item->angles >> number & 1) != 0;
}

static double distance(const net_shown_item* item, const double* a, const double* b) {
    double sum = 0;
    for (uint32_t i = 0; i < item->floats; i++) {
        double step = net_angle_step(is_angle(item, i), a[i], b[i]);
        sum += step * step;
    }
    return (double)base_sqrt((float)sum);
}

// ---- ticks ----

static const ecs_type* type_of(const ecs_world* world, ecs_component_id component) {
    return ecs_type_get(world, ecs_component_get(world, component)->type);
}

static void add_entity(const net_predict_shown* shown, net_shown_tick* tick, const ecs_world* world,
                       ecs_entity entity) {
    ecs_template_id id = ecs_entity_template(world, entity);
    const ecs_template* template_ = ecs_template_get(world, id);
    if (!template_) return;
    for (uint32_t i = 0; i < template_->component_count; i++) {
        const ecs_template_component* part = &template_->components[i];
        if ((part->flags & ECS_COMPONENT_INTERPOLATED) == 0) continue;
        if (find_item(tick, entity, part->component)) continue; // listed twice
        const ecs_type* type = type_of(world, part->component);
        uint32_t floats = 0;
        for (uint32_t k = 0; k < type->field_count; k++)
            if (ecs_field_kind_is_real(type->fields[k].kind)) floats += type->fields[k].count;
        const void* memory = ecs_find(world, entity, part->component);
        if (floats == 0 || !memory) continue;
        reserve(shown, tick, tick->item_count + 1, tick->value_count + floats);
        tick->items[tick->item_count++] =
            (net_shown_item){.entity = entity,
                             .template_id = id,
                             .component = part->component,
                             .first = tick->value_count,
                             .floats = floats,
                             .teleport = part->teleport,
                             .angles = find_angles(type, &part->quant)};
        read_floats(type, memory, tick->values + tick->value_count);
        tick->value_count += floats;
    }
}

void net_predict_shown_tick(net_predict_shown* shown, const ecs_world* world) {
    BASE_ASSERT(shown->entity_count <= NET_PREDICTED_MAX);
    shown->newest = 1u - shown->newest;
    net_shown_tick* tick = &shown->ticks[shown->newest];
    clear_tick(tick);
    for (uint32_t i = 0; i < shown->entity_count; i++)
        add_entity(shown, tick, world, shown->entities[i].entity);
}

// An item of the newest tick at a part of the way to it, without the offset.
static void blend(const net_predict_shown* shown, const net_shown_item* item, double part,
                  double* values) {
    const net_shown_tick* newest = &shown->ticks[shown->newest];
    const net_shown_tick* before = &shown->ticks[1u - shown->newest];
    const double* to = newest->values + item->first;
    const net_shown_item* old = find_item(before, item->entity, item->component);
    const double* from = old ? before->values + old->first : to;
    bool is_jump = !old || old->template_id != item->template_id;
    if (!is_jump && item->teleport > 0) is_jump = distance(item, from, to) > (double)item->teleport;
    for (uint32_t i = 0; i < item->floats; i++)
        values[i] =
            is_jump ? to[i] : from[i] + net_angle_step(is_angle(item, i), from[i], to[i]) * part;
}

// ---- corrections ----

static void add_offset(const net_predict_shown* shown, const net_shown_item* item, double* values) {
    const net_shown_item* off = find_item(&shown->offset, item->entity, item->component);
    for (uint32_t i = 0; off && i < item->floats; i++)
        values[i] += shown->offset.values[off->first + i];
}

// The weight of the prediction in an entity's picture.
static double weight_of(const net_predict_shown* shown, ecs_entity entity) {
    for (uint32_t i = 0; i < shown->entity_count; i++)
        if (shown->entities[i].entity == entity) return (double)shown->entities[i].weight;
    return 0.0;
}

void net_predict_shown_keep(net_predict_shown* shown, double part) {
    BASE_ASSERT(part >= 0 && part <= 1);
    const net_shown_tick* newest = &shown->ticks[shown->newest];
    copy_tick(shown, &shown->newest_before, newest);
    copy_tick(shown, &shown->shown_before, newest);
    for (uint32_t i = 0; i < newest->item_count; i++) {
        const net_shown_item* item = &newest->items[i];
        double* values = shown->shown_before.values + item->first;
        blend(shown, item, part, values);
        add_offset(shown, item, values);
    }
}

double net_predict_shown_correct(net_predict_shown* shown, double part) {
    const net_shown_tick* newest = &shown->ticks[shown->newest];
    double off_max = 0;
    copy_tick(shown, &shown->offset, newest);
    for (uint32_t i = 0; i < newest->item_count; i++) {
        const net_shown_item* item = &newest->items[i];
        double* offset = shown->offset.values + item->first;
        const net_shown_item* old = find_item(&shown->newest_before, item->entity, item->component);
        if (!old || old->template_id != item->template_id || old->floats != item->floats) {
            memset(offset, 0, item->floats * sizeof *offset);
            continue;
        }
        double off =
            distance(item, shown->newest_before.values + old->first, newest->values + item->first);
        // A step that the game shows as a jump is not a correction.
        bool is_jump = item->teleport > 0 && off > (double)item->teleport;
        off *= weight_of(shown, item->entity);
        if (!is_jump && off > off_max) off_max = off;
        blend(shown, item, part, offset);
        const double* was = shown->shown_before.values + old->first;
        // Written so that NaN leaves no offset, which would never fade.
        bool is_snap = is_jump || !(distance(item, was, offset) <= NET_CORRECTION_SNAP);
        for (uint32_t k = 0; k < item->floats; k++)
            offset[k] = is_snap ? 0.0 : net_angle_step(is_angle(item, k), offset[k], was[k]);
    }
    return off_max;
}

void net_predict_shown_decay(net_predict_shown* shown, double ms) {
    BASE_ASSERT(ms >= 0);
    // About exp(-x), with three time constants in NET_CORRECTION_MS.
    double x = 3.0 * ms / NET_CORRECTION_MS;
    double factor = 1.0 / (1.0 + x + 0.5 * x * x);
    for (uint32_t i = 0; i < shown->offset.value_count; i++)
        shown->offset.values[i] *= factor;
}

bool net_predict_shown_value(const net_predict_shown* shown, const ecs_world* world,
                             ecs_entity entity, ecs_component_id component, double part,
                             float weight, void* value) {
    enum { FLOATS_MAX = 256 };
    double there[FLOATS_MAX], predicted[FLOATS_MAX];
    const net_shown_item* item = find_item(&shown->ticks[shown->newest], entity, component);
    if (!item || item->floats > FLOATS_MAX) return false;
    const ecs_type* type = type_of(world, component);
    blend(shown, item, part, predicted);
    add_offset(shown, item, predicted);
    read_floats(type, value, there);
    for (uint32_t i = 0; i < item->floats; i++) {
        const bool turns = is_angle(item, i);
        const double step = net_angle_step(turns, there[i], net_angle_within(turns, predicted[i]));
        there[i] = net_angle_within(turns, there[i] + step * (double)weight);
    }
    write_floats(type, there, value);
    return true;
}
