// SPDX-License-Identifier: MIT
// One index at one moment.
//
// Two samples of its ring matter: the newest at or before the moment ("applied": incarnation and
// components that are not interpolated are exactly as it says) and the next one. Between them
//
//     applied ....... hold ------------ next        hold: the newest received tick without a sample
//     |  as applied     |   straight line |
//
// and a tick that never arrived says nothing. Without a next sample: if a newer tick arrived, the
// entity rests as applied. If not, it goes on with its last speed v, which falls evenly to 0 within
// the ticks E of NET_EXTRAPOLATE_MS_MAX: after x ticks it is v * (x - x^2 / 2E) further, in the end
// v * E / 2.
//
// Invariants: the applied tick of an index never falls, so incarnations only go forward, whatever
// is lost or late; interpolation never crosses incarnations.
#include "present/scene.h"

#include "base/assert.h"
#include "state/steps.h"

#include <string.h>

// Newest received tick in (after, before); `after` when there is none.
static ecs_tick net_scene_received(const net_scene* scene, ecs_tick after, ecs_tick before) {
    ecs_tick tick = before - 1 < scene->newest ? before - 1 : scene->newest;
    if (!scene->has_packet) return after;
    for (; tick > after; tick--) {
        // A tick that is too old to be remembered counts as received: at worst an entity waits a
        // little.
        if (scene->newest - tick >= NET_SCENE_TICKS) return tick;
        if (scene->received[tick % NET_SCENE_TICKS] == tick) return tick;
    }
    return after;
}

static double ms_to_ticks(const net_scene* scene, double ms) {
    return ms / (1000.0 * (double)net_match_dt(scene->match));
}

// ---- values ----

static double step_of(const proto_quant* quant, uint64_t from, uint64_t to) {
    return net_angle_step(quant->is_angle, net_quant_number(quant, from),
                          net_quant_number(quant, to));
}

// Is the step from `from` to `to` within `ticks` too long to be a movement?
static bool is_jump(const net_scene_part* part, const proto_layout* layout, const uint64_t* from,
                    const uint64_t* to, double ticks) {
    if (!(part->teleport > 0)) return false;
    const proto_row_component* component = &layout->components[part->component];
    if (component->is_rotation) return false;
    double square = 0;
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = component->field_first + i;
        double step = step_of(&layout->fields[f].quant, from[f], to[f]);
        square += step * step;
    }
    double longest = (double)part->teleport * ticks;
    // Written so that a NaN step is a jump.
    return !(square <= longest * longest);
}

static void write_turned(net_scene* scene, const net_scene_slot* slot, const net_scene_part* part,
                         const uint64_t* base, const uint64_t* from, const uint64_t* to,
                         double factor) {
    const proto_layout* layout = &slot->entry->layout;
    const proto_row_component* component = &layout->components[part->component];
    ecs_component_id id = (ecs_component_id)component->key;
    ecs_world* world = net_match_world(scene->match);
    const void* memory = ecs_find(world, slot->handle, id);
    float parts[PROTO_ROTATION_WORDS], ends[2][PROTO_ROTATION_WORDS];
    bool is_moving = memcmp(from + component->field_first, to + component->field_first,
                            component->field_count * sizeof *from) != 0;
    proto_row_write_component(layout, part->component, base, parts);
    if (is_moving) {
        proto_row_write_component(layout, part->component, from, ends[0]);
        proto_row_write_component(layout, part->component, to, ends[1]);
        net_rotation_step(parts, ends[0], ends[1], (float)factor);
    }
    if (!memory || memcmp(memory, parts, sizeof parts) == 0) return;
    memcpy(ecs_find_mut(world, slot->handle, id), parts, sizeof parts);
}

// base + (to - from) * factor into the world, field by field.
static void write_part(net_scene* scene, const net_scene_slot* slot, const net_scene_part* part,
                       const uint64_t* base, const uint64_t* from, const uint64_t* to,
                       double factor) {
    const proto_layout* layout = &slot->entry->layout;
    const proto_row_component* component = &layout->components[part->component];
    if (component->is_rotation) {
        write_turned(scene, slot, part, base, from, to, factor);
        return;
    }
    ecs_component_id id = (ecs_component_id)component->key;
    ecs_world* world = net_match_world(scene->match);
    const uint8_t* memory = ecs_find(world, slot->handle, id);
    if (!memory) return;
    uint8_t* target = NULL;
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = component->field_first + i;
        const proto_row_field* field = &layout->fields[f];
        double value = net_quant_number(&field->quant, base[f]);
        if (factor != 0 && from[f] != to[f])
            value = net_angle_within(field->quant.is_angle,
                                     value + step_of(&field->quant, from[f], to[f]) * factor);
        float single = (float)value;
        bool is_single = field->quant.kind == PROTO_F32;
        const void* bytes = is_single ? (const void*)&single : (const void*)&value;
        size_t size = is_single ? sizeof single : sizeof value;
        if (memcmp(memory + field->offset_bytes, bytes, size) == 0) continue;
        if (!target) target = ecs_find_mut(world, slot->handle, id); // marks the row as written
        memcpy(target + field->offset_bytes, bytes, size);
    }
}

static bool has_moved(const net_scene_part* part, const proto_layout* layout, const uint64_t* from,
                      const uint64_t* to, double ticks) {
    const proto_row_component* component = &layout->components[part->component];
    if (memcmp(from + component->field_first, to + component->field_first,
               component->field_count * sizeof *from) == 0)
        return false;
    return !is_jump(part, layout, from, to, ticks);
}

// The tick at which the line from one sample to the next begins.
static double line_start(const net_scene* scene, ecs_tick from, ecs_tick to) {
    double start = (double)net_scene_received(scene, from, to);
    double longest = ms_to_ticks(scene, NET_DELAY_MS_MAX);
    return (double)to - start > longest && longest >= 1 ? (double)to - longest : start;
}

// ---- incarnations ----

static bool is_same_incarnation(const net_scene_slot* slot, const net_scene_sample* sample) {
    return sample->entry && sample->handle == slot->handle && sample->entry == slot->entry;
}

static void end_incarnation(net_scene* scene, net_scene_slot* slot) {
    if (slot->handle == ECS_ENTITY_NONE) return;
    net_row_world_destroy(&scene->target, slot->handle);
    net_row_world_release(&scene->target, slot->entry, slot->applied);
    slot->handle = ECS_ENTITY_NONE;
    slot->entry = NULL;
    slot->is_stalled = false;
    scene->counters.destroys++;
}

// Invariant: a slot with a handle has retained the values of `applied`, after an error too.
static void copy_applied(net_scene_slot* slot, const uint64_t* row) {
    memcpy(slot->applied, row, slot->entry->layout.field_count * sizeof *row);
}

static net_result update(net_scene* scene, net_scene_slot* slot, ecs_tick tick,
                         const uint64_t* row) {
    BASE_ASSERT(slot->entry && tick > slot->applied_tick);
    const net_scene_shape* shape = scene->shapes[slot->entry->id];
    double ticks = (double)tick - line_start(scene, slot->applied_tick, tick);
    for (uint32_t p = 0; p < shape->part_count; p++)
        scene->counters.teleports +=
            is_jump(&shape->parts[p], &slot->entry->layout, slot->applied, row, ticks);
    uint64_t changed = net_row_changed(slot->entry, slot->applied, row);
    net_result result = NET_OK;
    net_row_world_retain(&scene->target, slot->entry, row);
    if (ecs_is_alive(scene->target.world, slot->handle))
        net_row_world_write(&scene->target, slot->handle, slot->entry, row,
                            changed & ~shape->interpolated);
    else
        result = net_row_world_create(&scene->target, slot->handle, slot->entry, row);
    net_row_world_release(&scene->target, slot->entry, slot->applied);
    copy_applied(slot, row); // the same entry, so there is room
    return result;
}

static net_result begin_incarnation(net_scene* scene, net_scene_slot* slot,
                                    const net_scene_sample* sample, const uint64_t* row) {
    BASE_ARRAY_RESERVE(&scene->pool.allocator, slot->applied, slot->applied_words,
                       sample->entry->layout.field_count + 1u);
    net_row_world_retain(&scene->target, sample->entry, row);
    bool is_recreation =
        slot->handle == sample->handle && ecs_is_alive(scene->target.world, sample->handle);
    if (is_recreation)
        net_row_world_release(&scene->target, slot->entry, slot->applied);
    else
        end_incarnation(scene, slot);
    slot->handle = sample->handle;
    slot->entry = sample->entry;
    slot->is_stalled = false;
    copy_applied(slot, row);
    if (is_recreation) {
        scene->counters.recreates++;
        return net_row_world_recreate(&scene->target, sample->handle, sample->entry, row);
    }
    scene->counters.creates++;
    return net_row_world_create(&scene->target, sample->handle, sample->entry, row);
}

static net_result apply(net_scene* scene, net_scene_slot* slot, uint32_t position) {
    const net_scene_sample* sample = net_scene_samples_get(&slot->samples, position);
    const uint64_t* row = net_scene_sample_row(sample);
    ecs_tick tick = net_tick_ring_tick(&slot->samples, position);
    net_result result = NET_OK;
    if (!sample->entry)
        end_incarnation(scene, slot);
    else if (is_same_incarnation(slot, sample))
        result = update(scene, slot, tick, row);
    else
        result = begin_incarnation(scene, slot, sample, row);
    slot->applied_tick = tick;
    slot->has_applied = true;
    return result;
}

// ---- between samples ----

static void show_between(net_scene* scene, net_scene_slot* slot, const net_scene_shape* shape,
                         uint32_t next, double moment) {
    BASE_ASSERT(slot->entry && next < slot->samples.count);
    const uint64_t* row = net_scene_sample_row(net_scene_samples_get(&slot->samples, next));
    ecs_tick tick = net_tick_ring_tick(&slot->samples, next);
    double start = line_start(scene, slot->applied_tick, tick);
    double ticks = (double)tick - start;
    double part_of = moment > start ? (moment - start) / ticks : 0;
    for (uint32_t p = 0; p < shape->part_count; p++) {
        const net_scene_part* part = &shape->parts[p];
        bool is_held = is_jump(part, &slot->entry->layout, slot->applied, row, ticks);
        write_part(scene, slot, part, slot->applied, slot->applied, row, is_held ? 0 : part_of);
    }
    slot->is_stalled = false;
}

static void count_stall(net_scene* scene, net_scene_slot* slot, double moment) {
    double since = (double)slot->applied_tick;
    if (since < scene->shown_before) since = scene->shown_before;
    if (moment <= since) return;
    scene->counters.stalls += !slot->is_stalled;
    slot->is_stalled = true;
    scene->counters.stalled_ms += (moment - since) * 1000.0 * (double)net_match_dt(scene->match);
}

// @return whether it goes on without a next sample.
static bool show_beyond(net_scene* scene, net_scene_slot* slot, const net_scene_shape* shape,
                        uint32_t previous, double moment, bool is_counted) {
    const net_scene_sample* sample =
        previous == UINT32_MAX ? NULL : net_scene_samples_get(&slot->samples, previous);
    const uint64_t* from = slot->applied;
    const proto_layout* layout = &slot->entry->layout;
    double ticks = 1, further = 0;
    if (sample && is_same_incarnation(slot, sample)) {
        from = net_scene_sample_row(sample);
        ecs_tick tick = net_tick_ring_tick(&slot->samples, previous);
        ticks = (double)slot->applied_tick - line_start(scene, tick, slot->applied_tick);
        double fade = ms_to_ticks(scene, NET_EXTRAPOLATE_MS_MAX);
        double gone = moment - (double)slot->applied_tick;
        if (gone < 0) gone = 0;
        if (gone > fade) gone = fade;
        further = gone - gone * gone / (2 * fade);
    }
    bool is_moving = false;
    for (uint32_t p = 0; p < shape->part_count; p++) {
        const net_scene_part* part = &shape->parts[p];
        bool is_part_moving = has_moved(part, layout, from, slot->applied, ticks);
        is_moving = is_moving || is_part_moving;
        write_part(scene, slot, part, slot->applied, from, slot->applied,
                   is_part_moving ? further / ticks : 0);
    }
    if (is_moving && is_counted) count_stall(scene, slot, moment);
    return is_moving;
}

net_result net_scene_place(net_scene* scene, uint32_t index, double moment, bool is_final,
                           bool* is_active) {
    BASE_ASSERT(index < scene->slot_capacity && is_active);
    net_scene_slot* slot = &scene->slots[index];
    *is_active = false;
    uint32_t at = net_tick_ring_find(&slot->samples, (ecs_tick)moment);
    if (at != UINT32_MAX) {
        ecs_tick tick = net_tick_ring_tick(&slot->samples, at);
        if (!slot->has_applied || tick > slot->applied_tick) {
            net_result result = apply(scene, slot, at);
            if (result != NET_OK) return result;
        }
        // The sample before it is kept: both give the speed.
        if (at > 1) net_tick_ring_drop(&slot->samples, at - 1);
        if (at > 1) at = 1;
    }
    uint32_t next = at + 1; // 0 when there is none at or before
    bool has_next = next < slot->samples.count;
    *is_active = has_next;
    if (slot->handle == ECS_ENTITY_NONE) {
        // Nothing is shown and no sample is to come.
        if (!has_next) {
            net_tick_ring_deinit(&slot->samples, &scene->pool.allocator);
            BASE_ARRAY_RELEASE(&scene->pool.allocator, slot->applied, slot->applied_words);
            slot->applied = NULL;
            slot->applied_words = 0;
        }
        return NET_OK;
    }
    const net_scene_shape* shape = scene->shapes[slot->entry->id];
    if (shape->part_count == 0) return NET_OK;
    if (has_next && is_same_incarnation(slot, net_scene_samples_get(&slot->samples, next))) {
        show_between(scene, slot, shape, next, moment);
        return NET_OK;
    }
    ecs_tick limit = has_next ? net_tick_ring_tick(&slot->samples, next) : UINT64_MAX;
    bool is_resting = net_scene_received(scene, slot->applied_tick, limit) > slot->applied_tick;
    bool has_previous =
        at != UINT32_MAX && at > 0 && net_tick_ring_tick(&slot->samples, at) == slot->applied_tick;
    uint32_t previous = has_previous && !is_resting ? at - 1 : UINT32_MAX;
    // Until another incarnation replaces it, it goes on as it moved. That is not a stall.
    if (show_beyond(scene, slot, shape, previous, moment, is_final && !has_next))
        *is_active = true;
    else
        slot->is_stalled = false;
    return NET_OK;
}
