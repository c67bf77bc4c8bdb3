// SPDX-License-Identifier: MIT
// Reading the history of one entity: its row at a tick as a client sees it, and the whole-structure
// check. Between two steps all of it is immutable, so any thread may read.
#include "state/history.h"

#include "base/assert.h"
#include "core/fault.h"

#include <string.h>

const uint64_t* net_history_newest(const net_history_entity* entity) {
    if (entity->classes) return entity->newest;
    return net_row_ring_row(&entity->ring, entity->ring.count - 1u);
}

// Copy a class's words at `tick` into a row. @return false when they are forgotten.
static bool scatter(const net_history_entity* entity, const net_history_class* rows, ecs_tick tick,
                    uint64_t* row) {
    uint32_t position = net_row_ring_find(&rows->ring, tick);
    if (position == UINT32_MAX) return false;
    const uint64_t* words = net_row_ring_row(&rows->ring, position);
    const net_row_template* row_template = entity->row_template;
    for (uint32_t c = 0; c < row_template->layout.component_count; c++) {
        const proto_row_component* component = &row_template->layout.components[c];
        if (row_template->classes[c] != rows->number) continue;
        memcpy(row + component->field_first, words, component->field_count * sizeof *row);
        words += component->field_count;
    }
    return true;
}

const uint64_t* net_history_at(const net_history_entity* entity, ecs_tick tick, uint32_t classes,
                               uint64_t* scratch) {
    if (net_fault_is_planted(NET_FAULT_LEAK_HIDDEN) && ecs_entity_index(entity->handle) % 4 == 1)
        classes = UINT16_MAX;
    if (tick < entity->begin_tick) return NULL;
    if (!entity->classes) {
        uint32_t position = net_row_ring_find(&entity->ring, tick);
        return position != UINT32_MAX ? net_row_ring_row(&entity->ring, position) : NULL;
    }
    memcpy(scratch, entity->row_template->defaults,
           entity->row_template->layout.field_count * sizeof *scratch);
    for (uint32_t i = 0; i < entity->class_count; i++) {
        const net_history_class* rows = &entity->classes[i];
        if (classes >> rows->number & 1 && !scatter(entity, rows, tick, scratch)) return NULL;
    }
    return scratch;
}

ecs_tick net_history_changed(const net_history_entity* entity, uint32_t classes) {
    BASE_ASSERT(entity->row_template);
    if (!entity->classes) return entity->change_tick;
    ecs_tick newest = entity->begin_tick;
    for (uint32_t i = 0; i < entity->class_count; i++) {
        const net_row_ring* ring = &entity->classes[i].ring;
        if (!(classes >> entity->classes[i].number & 1) || ring->count == 0) continue;
        ecs_tick tick = net_row_ring_tick(ring, ring->count - 1u);
        if (tick > newest) newest = tick;
    }
    return newest;
}

static void validate_classes(const net_history_entity* entity) {
    uint32_t fields = 0, mask = 0;
    ecs_tick newest = 0;
    for (uint32_t i = 0; i < entity->class_count; i++) {
        const net_history_class* rows = &entity->classes[i];
        BASE_ASSERT(rows->ring.count > 0 && rows->number < NET_CLASSES_MAX);
        BASE_ASSERT(1u << rows->number > mask); // rising
        net_tick_ring_validate(&rows->ring);
        mask |= 1u << rows->number;
        fields += net_row_ring_field_count(&rows->ring);
        ecs_tick tick = net_row_ring_tick(&rows->ring, rows->ring.count - 1u);
        newest = tick > newest ? tick : newest;
    }
    BASE_ASSERT(mask == entity->row_template->class_mask);
    BASE_ASSERT(fields == entity->row_template->layout.field_count);
    BASE_ASSERT(newest == entity->change_tick && entity->newest && entity->ring.count == 0);
}

void net_history_entity_validate(const net_history_entity* entity) {
    BASE_ASSERT(entity->row_template && entity->begin_tick <= entity->change_tick);
    if (entity->classes) {
        validate_classes(entity);
        return;
    }
    const net_row_ring* ring = &entity->ring;
    net_tick_ring_validate(ring);
    BASE_ASSERT(ring->count > 0 && entity->class_count == 0);
    BASE_ASSERT(net_row_ring_tick(ring, ring->count - 1u) == entity->change_tick);
    BASE_ASSERT(net_row_ring_field_count(ring) == entity->row_template->layout.field_count);
}
