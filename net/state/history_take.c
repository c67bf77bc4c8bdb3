// SPDX-License-Identifier: MIT
// What may have changed is compared with the newest row of its entity. A difference adds a row of
// the running tick, or goes into the one that is there.
#include "core/fault.h"
#include "state/history.h"

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

// A component of a template's rows: what many changes in turn have in common.
typedef struct part {
    const net_row_template* row_template;
    ecs_component_id component;
    uint32_t c; // its position; UINT32_MAX: it is no part of the rows
    uint32_t first, count;
    uint32_t class_, bit;
} part;

static inline void set_part(part* of, const net_row_template* row_template, uint32_t c) {
    const proto_row_component* component = &row_template->layout.components[c];
    of->row_template = row_template;
    of->component = (ecs_component_id)component->key;
    of->c = c;
    of->first = component->packed_first;
    of->count = component->packed_count;
    of->class_ = 1u << row_template->classes[c];
    of->bit = net_history_component_bit(c);
}

static BASE_NOINLINE void find_part(part* of, const net_row_template* row_template,
                                    ecs_component_id component) {
    of->row_template = row_template;
    of->component = component;
    of->c = UINT32_MAX;
    for (uint32_t c = 0; c < row_template->layout.component_count; c++)
        if (row_template->layout.components[c].key == component) set_part(of, row_template, c);
}

// A component may have changed: compare its quantised words with those of the newest row. The first
// one that differs adds a row. Inlined, since both callers are walks. @return false when memory ran
// out, with `is_part` when the row needs memory.
static inline __attribute__((always_inline)) bool take_component(taking* self,
                                                                 net_history_entity* entity,
                                                                 const part* of, const void* value,
                                                                 net_history_touch* touched) {
    proto_row_read_packed(&of->row_template->layout, of->c, value, self->scratch);
    const uint32_t* words = self->scratch + of->first;
    const uint32_t* newest = net_history_newest(entity);
    if (!is_other(newest + of->first, words, of->count) || is_dropped(entity, of->c)) return true;
    uint32_t* row;
    if (touched->classes == 0) {
        if (self->is_part && !net_history_has_room(self->history, entity)) return false;
        row = net_history_push(self->history, entity, of->class_);
        if (!row) return false;
        const uint32_t* before = net_history_row_at(entity, entity->count - 2u);
        const uint32_t end = entity->words;
        for (uint32_t i = 0; i < end; i += 2) // an even number
            memcpy(row + i, before + i, 2 * sizeof *row);
    } else {
        row = net_history_row_at(entity, entity->count - 1u);
        if (!(touched->classes & of->class_))
            net_history_add_classes(self->history, entity, of->class_);
    }
    touched->classes |= (uint16_t)of->class_;
    touched->components |= of->bit;
    for (uint32_t i = 0; i < of->count; i++)
        row[of->first + i] = words[i];
    return true;
}

// Entities and rows are scattered in memory: prefetch them some steps ahead. Those that another
// component of this step touched are near.
static inline void fetch_ahead(const net_history* history, const ecs_change* changes, uint32_t i,
                               uint32_t count) {
    enum { ROWS_AHEAD = 8, ENTITIES_AHEAD = 16 };
    if (i + ENTITIES_AHEAD >= count) return;
    uint32_t index = ecs_entity_index(changes[i + ENTITIES_AHEAD].entity);
    if (index >= history->capacity || index >= history->touch_capacity ||
        history->touched.words[index >> 6] >> (index & 63) & 1)
        return;
    __builtin_prefetch(&history->entities[index], 1);
    index = ecs_entity_index(changes[i + ROWS_AHEAD].entity);
    if (index >= history->capacity || history->entities[index].count == 0) return;
    const net_history_entity* entity = &history->entities[index];
    __builtin_prefetch(net_history_newest(entity), 1);
    __builtin_prefetch(net_history_ticks(entity), 1);
}

// The world's changes come by archetype and component, so the last part is nearly always the next
// one.
bool net_history_take_changes(net_history* history, const ecs_world* world,
                              const ecs_change* changes, uint32_t count, bool is_part) {
    taking self;
    self.history = history;
    self.is_part = is_part;
    part of = {.c = UINT32_MAX};
    const uint32_t index_max = history->index_max;
    for (uint32_t i = 0; i < count; i++) {
        fetch_ahead(history, changes, i, count);
        const ecs_change* change = &changes[i];
        uint32_t index = ecs_entity_index(change->entity);
        if (index == 0 || index > index_max) continue;
        net_history_touch* touched = net_history_touch_index(history, change->entity);
        if (!touched) return false;
        net_history_entity* entity = &history->entities[index];
        if (touched->is_whole || entity->handle != change->entity) {
            if (!net_history_touch_whole(history, world, change->entity)) return false;
            continue;
        }
        if (entity->row_template != of.row_template || change->component != of.component)
            find_part(&of, entity->row_template, change->component);
        if (of.c == UINT32_MAX) continue;
        const void* value = ecs_get(world, change->entity, of.component);
        if (take_component(&self, entity, &of, value, touched)) continue;
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
        part of;
        set_part(&of, entity->row_template, c);
        const void* value = ecs_get(world, touched->handle, of.component);
        if (!take_component(&self, entity, &of, value, touched)) return false;
    }
    return true;
}
