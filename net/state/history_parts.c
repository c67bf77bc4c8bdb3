// SPDX-License-Identifier: MIT
// The changes of a step on several threads.
//
//     changes, by archetype and component      3 40 7 | 3 7 90 40 | ...
//     sorted into parts, by index              3 7 3 7 | 40 40 | 90 ...
//
// A part is a range of whole words of the touched set. Its changes keep their order, so each entity
// is compared as on one thread, and no two parts share an entity, a touch or a word. A ring that
// must grow needs the pool: its entity is looked at again as a whole, by the owner, when events are
// added. That compares more components and finds no other change.
#include "base/assert.h"
#include "state/history_internal.h"

#include <string.h>

enum {
    PARTS_MAX = 32,
    PART_SHIFT_MIN = 6,       ///< indices of a part: a word of the set at least
    SHARED_CHANGES_MIN = 1024 ///< fewer are compared by one thread: waking another costs more
};

typedef struct history_parts {
    net_history* history;
    const ecs_world* world;
    uint32_t shift;
    uint32_t ends[PARTS_MAX]; ///< in `sorted`
} history_parts;

// Make room for all indices. @return false when memory ran out.
static bool measure(history_parts* self, const ecs_changes* changes) {
    net_history* history = self->history;
    uint32_t last = 0;
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const uint32_t index = ecs_entity_index(changes->changed[i].entity);
        if (index > last && index <= history->index_max) last = index;
    }
    self->shift = PART_SHIFT_MIN;
    while (last >> self->shift >= PARTS_MAX)
        self->shift++;
    return (last == 0 || net_history_reserve(history, last)) &&
           BASE_ARRAY_RESERVE(history->allocator, history->sorted, history->sorted_capacity,
                              changes->changed_count);
}

// Stable; what is not followed is left out.
static void sort(history_parts* self, const ecs_changes* changes) {
    net_history* history = self->history;
    memset(self->ends, 0, sizeof self->ends);
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const uint32_t index = ecs_entity_index(changes->changed[i].entity);
        if (index <= history->index_max) self->ends[index >> self->shift]++;
    }
    for (uint32_t i = 0, sum = 0; i < PARTS_MAX; i++) {
        const uint32_t count = self->ends[i];
        self->ends[i] = sum; // where it begins; it moves to the end below
        sum += count;
    }
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const uint32_t index = ecs_entity_index(changes->changed[i].entity);
        if (index <= history->index_max)
            history->sorted[self->ends[index >> self->shift]++] = changes->changed[i];
    }
}

static void take_part(void* context, uint32_t item, uint32_t worker) {
    (void)worker;
    const history_parts* self = context;
    const uint32_t first = item > 0 ? self->ends[item - 1] : 0;
    bool ok = net_history_take_changes(self->history, self->world, self->history->sorted + first,
                                       self->ends[item] - first, true);
    BASE_ASSERT(ok && "a part needs no memory");
}

bool net_history_take_all(net_history* history, const ecs_world* world) {
    const ecs_changes changes = ecs_changes_get(world);
    base_workers* workers =
        base_workers_worth(history->workers, changes.changed_count, SHARED_CHANGES_MIN);
    history_parts self = {.history = history, .world = world};
    if (!workers || !measure(&self, &changes))
        return net_history_take_changes(history, world, changes.changed, changes.changed_count,
                                        false);
    sort(&self, &changes);
    base_workers_run(workers, take_part, &self, PARTS_MAX);
    return true;
}
