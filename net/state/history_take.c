// SPDX-License-Identifier: MIT
// What may have changed is compared with the newest row of its entity. A difference adds a row of
// the running tick, or goes into the one that is there.
#include "core/fault.h"
#include "state/history_internal.h"

#include <string.h>

// Word by word: the words were just written, and wider loads would wait for the store buffer.
static bool is_other(const uint32_t* a, const uint32_t* b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return true;
    }
    return false;
}

static bool is_dropped(const net_history_entity* entity, uint32_t component) {
    return net_fault_is_planted(NET_FAULT_DROP_COMPONENT) && component == 0 &&
           ecs_entity_index(entity->handle) % 3 == 0;
}

// A walk over changes. Parts of a step walk at the same time.
typedef struct taking {
    net_history* history;
    bool is_part;
    uint32_t scratch[NET_HISTORY_WORDS_MAX]; // a packed row
} taking;

// A component may have changed: compare its quantised words with those of the newest row. The first
// one that differs adds a row. @return false when memory ran out, with `is_part` when the row needs
// memory.
static bool take_component(taking* self, net_history_entity* entity, uint32_t c, const void* value,
                           net_history_touch* touched) {
    const net_row_template* row_template = entity->row_template;
    const proto_row_component* component = &row_template->layout.components[c];
    uint32_t first = component->packed_first, count = component->packed_count;
    proto_row_read_packed(&row_template->layout, c, value, self->scratch);
    const uint32_t *words = self->scratch + first, *newest = net_history_newest(entity);
    if (!is_other(newest + first, words, count) || is_dropped(entity, c)) return true;
    uint32_t class_ = 1u << row_template->classes[c];
    uint32_t* row;
    if (touched->classes == 0) {
        if (self->is_part && !net_history_has_room(self->history, entity)) return false;
        row = net_history_push(self->history, entity, class_);
        if (!row) return false;
        const uint32_t* before = net_history_row_at(entity, entity->count - 2u);
        for (uint32_t i = 0; i < entity->words; i += 2) // an even number
            memcpy(row + i, before + i, 2 * sizeof *row);
    } else {
        row = net_history_row_at(entity, entity->count - 1u);
        if (!(touched->classes & class_)) net_history_add_classes(self->history, entity, class_);
    }
    touched->classes |= (uint16_t)class_;
    touched->components |= net_history_component_bit(c);
    for (uint32_t i = 0; i < count; i++)
        row[first + i] = words[i];
    return true;
}

// Entities and rows are scattered in memory: prefetch them some steps ahead.
static void fetch_ahead(const net_history* history, const ecs_change* changes, uint32_t i,
                        uint32_t count) {
    enum { ROWS_AHEAD = 8, ENTITIES_AHEAD = 16 };
    if (i + ENTITIES_AHEAD < count) {
        uint32_t index = ecs_entity_index(changes[i + ENTITIES_AHEAD].entity);
        if (index < history->capacity) __builtin_prefetch(&history->entities[index], 1);
    }
    if (i + ROWS_AHEAD >= count) return;
    uint32_t index = ecs_entity_index(changes[i + ROWS_AHEAD].entity);
    if (index >= history->capacity || history->entities[index].count == 0) return;
    const net_history_entity* entity = &history->entities[index];
    __builtin_prefetch(net_history_newest(entity), 1);
    __builtin_prefetch(net_history_ticks(entity), 1);
}

// The position of a component in a layout; UINT32_MAX: it is no part of the rows.
static uint32_t position_of(const net_row_template* row_template, ecs_component_id component) {
    for (uint32_t i = 0; i < row_template->layout.component_count; i++)
        if (row_template->layout.components[i].key == component) return i;
    return UINT32_MAX;
}

// The world's changes come by archetype and component, so the last position is nearly always the
// next one.
bool net_history_take_changes(net_history* history, const ecs_world* world,
                              const ecs_change* changes, uint32_t count, bool is_part) {
    taking self;
    self.history = history;
    self.is_part = is_part;
    const net_row_template* row_template = NULL;
    ecs_component_id component = 0;
    uint32_t c = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        fetch_ahead(history, changes, i, count);
        const ecs_change* change = &changes[i];
        uint32_t index = ecs_entity_index(change->entity);
        if (index == 0 || index > history->index_max) continue;
        net_history_touch* touched = net_history_touch_index(history, change->entity);
        if (!touched) return false;
        net_history_entity* entity = &history->entities[index];
        if (touched->is_whole || entity->handle != change->entity) {
            if (!net_history_touch_whole(history, world, change->entity)) return false;
            continue;
        }
        if (entity->row_template != row_template || change->component != component) {
            row_template = entity->row_template;
            component = change->component;
            c = position_of(row_template, component);
        }
        if (c == UINT32_MAX) continue;
        const void* value = ecs_get(world, change->entity, component);
        if (take_component(&self, entity, c, value, touched)) continue;
        if (!is_part) return false;
        touched->is_whole = true; // the owner compares all of it, and finds the same
    }
    return true;
}

bool net_history_take_values(net_history* history, const ecs_world* world,
                             net_history_touch* touched) {
    net_history_entity* entity = &history->entities[ecs_entity_index(touched->handle)];
    const proto_layout* layout = &entity->row_template->layout;
    taking self;
    self.history = history;
    self.is_part = false;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        ecs_component_id id = (ecs_component_id)layout->components[c].key;
        const void* value = ecs_get(world, touched->handle, id);
        if (!take_component(&self, entity, c, value, touched)) return false;
    }
    return true;
}
