// SPDX-License-Identifier: MIT
// Which indices a step of the history looks at, each once: a set of them, so that their events are
// in rising order.
#include "base/assert.h"
#include "state/history_internal.h"

bool net_history_reserve(net_history* history, uint32_t index) {
    BASE_ASSERT(index >= 1 && index <= history->index_max);
    return BASE_ARRAY_RESERVE(history->allocator, history->entities, history->capacity,
                              index + 1) &&
           BASE_ARRAY_RESERVE(history->allocator, history->touches, history->touch_capacity,
                              index + 1) &&
           base_bitset_reserve(&history->touched, history->touch_capacity);
}

bool net_history_touch_whole(net_history* history, const ecs_world* world, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index == 0 || index > history->index_max) return true;
    net_history_touch* touched = net_history_touch_index(history, handle);
    if (!touched) return false;
    if (touched->handle != handle && ecs_is_alive(world, handle)) touched->handle = handle;
    touched->is_whole = true;
    return true;
}

static bool touch_many(net_history* history, const ecs_world* world, const ecs_entity* handles,
                       uint32_t count) {
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = net_history_touch_whole(history, world, handles[i]);
    return ok;
}

static bool touch_listed(net_history* history, const ecs_world* world) {
    ecs_changes changes = ecs_changes_get(world);
    return touch_many(history, world, changes.created, changes.created_count) &&
           touch_many(history, world, changes.destroyed, changes.destroyed_count) &&
           touch_many(history, world, changes.recreated, changes.recreated_count);
}

static bool touch_all(net_history* history, const ecs_world* world) {
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        if (!net_history_touch_whole(history, world, entity)) return false;
    }
    return true;
}

bool net_history_collect(net_history* history, const ecs_world* world, bool is_everything) {
    base_bitset_clear_all(&history->touched);
    return is_everything ? touch_all(history, world) : touch_listed(history, world);
}
