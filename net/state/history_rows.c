// SPDX-License-Identifier: MIT
// Reading the history of one entity: its row at a tick as a client sees it, and the whole-structure
// check. Between two steps all of it is immutable, so any thread may read.
#include "state/history_internal.h"

#include "base/assert.h"
#include "core/fault.h"

#include <string.h>

// The position of the newest row whose tick is not above `tick`, which is not before the oldest.
// Ticks are distinct, so n positions back a tick is at least n less. Where every tick has a row, as
// for what moves, the first guess is the answer.
static uint32_t find(const net_history_entity* entity, ecs_tick tick) {
    uint32_t last = entity->count - 1u;
    if (tick >= entity->change_tick || last == 0) return last;
    uint64_t back = entity->change_tick - tick;
    if (back >= entity->keep_ticks) return 0; // all rows but the oldest are younger
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
    if (tick + entity->keep_ticks > now) {
        if (tick < entity->oldest_tick) return NULL; // memory had run out
        position = find(entity, tick);
    } else {
        ecs_tick limit = now + 1 - entity->keep_ticks; // all rows since then are there
        if (limit < entity->oldest_tick) return NULL;
        position = find(entity, limit);
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
        BASE_ASSERT(age < entity->keep_ticks && (age > 0) == (i < entity->count - 1u));
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
