// SPDX-License-Identifier: MIT
// Which indices a step of the history looks at: those of the world's change list, each once, in
// rising order, with the components that may have changed.
#include "state/history_internal.h"

static bool reserve_index(net_history* history, uint32_t index) {
    if (index < history->capacity && index < history->touch_capacity) return true;
    return BASE_ARRAY_RESERVE(history->allocator, history->entities, history->capacity,
                              index + 1) &&
           BASE_ARRAY_RESERVE(history->allocator, history->touches, history->touch_capacity,
                              index + 1) &&
           base_bitset_reserve(&history->touched, history->touch_capacity);
}

static bool add_touch(net_history* history, const ecs_world* world, ecs_entity handle,
                      uint64_t components) {
    uint32_t index = ecs_entity_index(handle);
    if (index == 0 || index > history->index_max) return true;
    if (!reserve_index(history, index)) return false;
    net_history_touch* touched = &history->touches[index];
    uint64_t *word = &history->touched.words[index >> 6], bit = UINT64_C(1) << (index & 63);
    if (*word & bit) {
        if (touched->handle != handle && ecs_is_alive(world, handle)) touched->handle = handle;
        touched->components |= components;
        return true;
    }
    *word |= bit;
    *touched = (net_history_touch){handle, components};
    history->touched_count++;
    return true;
}

static bool touch_many(net_history* history, const ecs_world* world, const ecs_entity* handles,
                       uint32_t count) {
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = add_touch(history, world, handles[i], NET_HISTORY_ALL);
    return ok;
}

// The bit of a component in this template's rows; 0: it is no part of them.
static uint64_t component_bit(const net_row_template* row_template, ecs_component_id component) {
    for (uint32_t i = 0; i < row_template->layout.component_count; i++) {
        if (row_template->layout.components[i].key == component) return UINT64_C(1) << i;
    }
    return 0;
}

// Changes come by archetype and component, so the last answer is nearly always the next one.
static bool touch_changed(net_history* history, const ecs_world* world, const ecs_change* changes,
                          uint32_t count) {
    enum { AHEAD = 16 };
    const net_row_template* row_template = NULL;
    ecs_component_id component = 0;
    uint64_t bit = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            uint32_t next = ecs_entity_index(changes[i + AHEAD].entity);
            if (next < history->capacity) {
                __builtin_prefetch(&history->entities[next]);
                __builtin_prefetch(&history->touches[next], 1);
            }
        }
        uint32_t index = ecs_entity_index(changes[i].entity);
        const net_history_entity* entity =
            index < history->capacity ? &history->entities[index] : NULL;
        uint64_t components = NET_HISTORY_ALL;
        if (entity && entity->handle == changes[i].entity) {
            if (entity->row_template != row_template || changes[i].component != component) {
                row_template = entity->row_template;
                component = changes[i].component;
                bit = component_bit(row_template, component);
            }
            components = bit;
        }
        if (!add_touch(history, world, changes[i].entity, components)) return false;
    }
    return true;
}

static bool touch_listed(net_history* history, const ecs_world* world) {
    ecs_changes changes = ecs_changes_get(world);
    return touch_many(history, world, changes.created, changes.created_count) &&
           touch_many(history, world, changes.destroyed, changes.destroyed_count) &&
           touch_many(history, world, changes.recreated, changes.recreated_count) &&
           touch_changed(history, world, changes.changed, changes.changed_count);
}

static bool touch_all(net_history* history, const ecs_world* world) {
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        if (!add_touch(history, world, entity, NET_HISTORY_ALL)) return false;
    }
    return true;
}

// The touched indices, and room for as many events.
static bool put_in_order(net_history* history) {
    uint32_t count = history->touched_count;
    if (!BASE_ARRAY_RESERVE(history->allocator, history->order, history->order_capacity, count) ||
        !BASE_ARRAY_RESERVE(history->allocator, history->events, history->event_capacity, count))
        return false;
    uint32_t at = 0;
    for (uint32_t w = 0; w < history->touched.word_count && at < count; w++) {
        for (uint64_t bits = history->touched.words[w]; bits; bits &= bits - 1)
            history->order[at++] = w * 64 + base_bit_lowest(bits);
        history->touched.words[w] = 0;
    }
    return true;
}

bool net_history_collect(net_history* history, const ecs_world* world, bool is_everything) {
    history->touched_count = 0;
    base_bitset_clear_all(&history->touched);
    bool is_listed = is_everything ? touch_all(history, world) : touch_listed(history, world);
    return is_listed && put_in_order(history);
}
