// SPDX-License-Identifier: MIT
// The ring of an entity's rows: it grows to what NET_ROW_HISTORY_MS needs, and forgets what is
// older. Each row has the low bits of its tick, and with classes the mask of those that changed.
#include "base/assert.h"

#include "core/fault.h"
#include "state/history.h"

#include <string.h>

enum { ROWS_MIN = 4 };

size_t net_history_class_ticks_bytes(const net_row_template* row_template) {
    return 2u * (uint32_t)__builtin_popcount(row_template->class_mask) * sizeof(ecs_tick);
}

void net_history_release_rows(net_history* history, net_history_entity* entity) {
    const base_allocator* pool = &history->pool.allocator;
    base_release(pool, entity->rows, entity->block_bytes);
    if (entity->class_ticks)
        base_release(pool, entity->class_ticks,
                     net_history_class_ticks_bytes(entity->row_template));
    entity->rows = NULL;
    entity->class_ticks = NULL;
    entity->block_bytes = 0;
    entity->capacity = entity->first = entity->count = 0;
}

// A block for twice as many rows, with the rows in order from its begin.
static bool grow(net_history* history, net_history_entity* entity) {
    uint32_t capacity = entity->capacity ? entity->capacity * 2u : ROWS_MIN;
    uint32_t of_row = (uint32_t)(entity->words * sizeof *entity->rows + sizeof(uint16_t) +
                                 (entity->class_ticks ? sizeof(uint16_t) : 0));
    net_history_entity grown = *entity;
    grown.block_bytes = capacity * of_row;
    grown.rows = base_allocate(&history->pool.allocator, grown.block_bytes);
    if (!grown.rows) return false;
    grown.capacity = (uint8_t)capacity;
    grown.first = 0;
    for (uint32_t i = 0; i < entity->count; i++) {
        memcpy(net_history_row_at(&grown, i), net_history_row_at(entity, i),
               entity->words * sizeof *entity->rows);
        net_history_ticks(&grown)[i] = net_history_ticks(entity)[net_history_place(entity, i)];
        if (entity->class_ticks)
            *net_history_classes_at(&grown, i) = *net_history_classes_at(entity, i);
    }
    base_release(&history->pool.allocator, entity->rows, entity->block_bytes);
    *entity = grown;
    return true;
}

// Keep the tick of a row for the classes that changed with it.
static void mark_classes(const net_row_template* row_template, uint32_t changed, ecs_tick tick,
                         ecs_tick* ticks) {
    uint32_t left = row_template->class_mask;
    for (uint32_t i = 0; left; i++, left &= left - 1)
        if (changed & left & (0u - left)) ticks[i] = tick;
}

// `age`: of the second oldest row, which becomes the oldest.
static inline void forget_oldest(net_history_entity* entity, uint32_t age) {
    BASE_ASSERT(entity->count > 1);
    entity->oldest_tick = entity->change_tick - age;
    if (entity->class_ticks) {
        uint32_t count = (uint32_t)__builtin_popcount(entity->row_template->class_mask);
        mark_classes(entity->row_template, *net_history_classes_at(entity, 1), entity->oldest_tick,
                     entity->class_ticks + count);
    }
    entity->first = (uint8_t)net_history_place(entity, 1);
    entity->count--;
}

// With the row that follows there are so many. A row with classes is stored for a fixed time: how
// long would tell how often hidden classes changed.
static inline bool is_kept_by_count(const net_history_entity* entity) {
    return !entity->class_ticks && entity->count < NET_ROW_HISTORY_COUNT;
}

uint32_t* net_history_push(net_history* history, net_history_entity* entity, uint32_t classes) {
    const ecs_tick tick = history->tick;
    BASE_ASSERT(entity->row_template && entity->begin_tick <= tick);
    const uint64_t idle = tick - entity->change_tick;
    while (entity->count > 1) {
        uint32_t age = net_history_age_at(entity, 1);
        const uint64_t age_now = idle + age + 1;
        if (age_now < entity->keep_ticks) break;
        if (is_kept_by_count(entity) && age_now < NET_ROW_HISTORY_COUNT_TICKS) break;
        forget_oldest(entity, age);
    }
    if (entity->count == entity->capacity) {
        if (!grow(history, entity)) {
            history->counters.out_of_memory++;
            if (entity->count == 0) return NULL;
            forget_oldest(entity, net_history_age_at(entity, 1));
        }
    }
    if (entity->count == 0) entity->oldest_tick = tick;
    uint32_t place = net_history_place(entity, entity->count++);
    net_history_ticks(entity)[place] = (uint16_t)tick;
    entity->change_tick = tick;
    if (entity->class_ticks) {
        *net_history_classes_at(entity, entity->count - 1u) = (uint16_t)classes;
        mark_classes(entity->row_template, classes, tick, entity->class_ticks);
    }
    return entity->rows + (size_t)place * entity->words;
}

void net_history_add_classes(net_history* history, net_history_entity* entity, uint32_t classes) {
    BASE_ASSERT(entity->change_tick == history->tick);
    if (!entity->class_ticks) return;
    *net_history_classes_at(entity, entity->count - 1u) |= (uint16_t)classes;
    mark_classes(entity->row_template, classes, history->tick, entity->class_ticks);
}

// Reading the history of one entity: its row at a tick as a client sees it, and the whole-structure
// check. Between two steps all of it is immutable, so any thread may read.

// The position of the newest row whose tick is not above `tick`, which is not before the oldest.
// Ticks are distinct, so n positions back a tick is at least n less. Where every tick has a row, as
// for what moves, the first guess is the answer.
static uint32_t find_row(const net_history_entity* entity, ecs_tick tick) {
    uint32_t last = entity->count - 1u;
    if (tick >= entity->change_tick || last == 0) return last;
    uint64_t back = entity->change_tick - tick;
    if (back >= NET_ROW_HISTORY_COUNT_TICKS) return 0; // all rows but the oldest are younger
    uint32_t low = back < last ? last - (uint32_t)back : 0, high = last; // the answer is below high
    if (net_history_age_at(entity, low + 1) < back) return low;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (net_history_age_at(entity, middle) >= back)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static ecs_tick tick_at(const net_history_entity* entity, uint32_t position) {
    return position == 0 ? entity->oldest_tick
                         : entity->change_tick - net_history_age_at(entity, position);
}

// Newest of the ticks (those of the newest row or those of the oldest one) of some classes.
static ecs_tick newest_of(const net_history_entity* entity, const ecs_tick* ticks,
                          uint32_t classes) {
    ecs_tick newest = entity->begin_tick;
    uint32_t left = entity->row_template->class_mask;
    for (uint32_t i = 0; left; i++, left &= left - 1)
        if (classes & left & (0u - left) && ticks[i] > newest) newest = ticks[i];
    return newest;
}

// The newest tick up to that of a row at which something of these classes changed.
static ecs_tick changed_at(const net_history_entity* entity, uint32_t position, uint32_t classes) {
    if (!entity->class_ticks) return tick_at(entity, position);
    for (; position > 0; position--)
        if (*net_history_classes_at(entity, position) & classes) return tick_at(entity, position);
    uint32_t count = (uint32_t)__builtin_popcount(entity->row_template->class_mask);
    return newest_of(entity, entity->class_ticks + count, classes);
}

const uint32_t* net_history_row(const net_history_entity* entity, ecs_tick now, ecs_tick tick,
                                uint32_t classes, uint32_t* scratch) {
    if (net_fault_is_planted(NET_FAULT_LEAK_HIDDEN) && ecs_entity_index(entity->handle) % 4 == 1)
        classes = UINT16_MAX;
    BASE_VALIDATE(now >= entity->change_tick);
    if (tick < entity->oldest_tick && tick < entity->begin_tick) return NULL;
    uint32_t position;
    if (!entity->class_ticks || tick + entity->keep_ticks > now) {
        if (tick < entity->oldest_tick) return NULL; // forgotten, or memory had run out
        position = find_row(entity, tick);
    } else {
        ecs_tick limit = now + 1 - entity->keep_ticks; // all rows since then are there
        if (limit < entity->oldest_tick) return NULL;
        position = find_row(entity, limit);
        if (changed_at(entity, position, classes) > tick) return NULL;
    }
    const uint32_t* row = net_history_row_at(entity, position);
    const net_row_template* row_template = entity->row_template;
    if ((row_template->class_mask & ~classes) == 0) return row;
    for (uint32_t i = 0; i < entity->words; i++)
        scratch[i] = row[i];
    net_rows_mask_packed(row_template, classes, scratch);
    return scratch;
}

bool net_history_read(const net_history_entity* entity, ecs_tick now, ecs_tick tick,
                      uint32_t classes, uint64_t* row) {
    uint32_t scratch[NET_HISTORY_WORDS_MAX];
    const uint32_t* packed = net_history_row(entity, now, tick, classes, scratch);
    if (packed) proto_row_unpack(&entity->row_template->layout, packed, row);
    return packed != NULL;
}

ecs_tick net_history_changed(const net_history_entity* entity, uint32_t classes) {
    BASE_ASSERT(entity->row_template);
    if (!entity->class_ticks) return entity->change_tick;
    return newest_of(entity, entity->class_ticks, classes);
}

void net_history_entity_validate(const net_history_entity* entity) {
    const net_row_template* row_template = entity->row_template;
    BASE_ASSERT(row_template && entity->begin_tick <= entity->oldest_tick);
    BASE_ASSERT(entity->words == row_template->layout.packed_count);
    BASE_ASSERT(entity->count > 0 && entity->count <= entity->capacity);
    BASE_ASSERT((entity->capacity & (entity->capacity - 1u)) == 0);
    BASE_ASSERT(entity->first < entity->capacity && entity->block_bytes > 0);
    BASE_ASSERT(entity->oldest_tick <= entity->change_tick);
    BASE_ASSERT(entity->count > 1 || entity->oldest_tick == entity->change_tick);
    for (uint32_t i = 1; i < entity->count; i++) {
        uint32_t age = net_history_age_at(entity, i);
        BASE_ASSERT(age < (entity->class_ticks ? entity->keep_ticks : NET_ROW_HISTORY_COUNT_TICKS));
        BASE_ASSERT((age > 0) == (i < entity->count - 1u));
        BASE_ASSERT(tick_at(entity, i - 1) < tick_at(entity, i));
    }
    BASE_ASSERT((entity->class_ticks == NULL) == net_history_is_public(row_template));
    if (!entity->class_ticks) return;
    BASE_ASSERT(newest_of(entity, entity->class_ticks, UINT16_MAX) == entity->change_tick);
    for (uint32_t left = row_template->class_mask; left; left &= left - 1) {
        uint32_t class_ = left & (0u - left);
        BASE_ASSERT(changed_at(entity, entity->count - 1u, class_) ==
                    net_history_changed(entity, class_));
        BASE_ASSERT(changed_at(entity, 0, class_) <= entity->oldest_tick);
    }
}

// Which indices a step of the history looks at, each once: a set of them, so that their events are
// in rising order.

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
