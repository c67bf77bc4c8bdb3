// SPDX-License-Identifier: MIT
// The ring of an entity's rows: it grows to what NET_ROW_HISTORY_MS needs, and forgets what is
// older. Each row has the low bits of its tick, and with classes the mask of those that changed.
#include "base/assert.h"
#include "state/history_internal.h"

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
    uint32_t of_row = (uint32_t)(entity->words * sizeof *entity->rows + sizeof(uint8_t) +
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

uint32_t* net_history_push(net_history* history, net_history_entity* entity, uint32_t classes) {
    const ecs_tick tick = history->tick;
    BASE_ASSERT(entity->row_template && entity->begin_tick <= tick);
    const uint64_t idle = tick - entity->change_tick;
    while (entity->count > 1) {
        uint32_t age = net_history_age_at(entity, 1);
        if (idle + age + 1 < entity->keep_ticks) break;
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
    net_history_ticks(entity)[place] = (uint8_t)tick;
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
