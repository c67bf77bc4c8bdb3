// SPDX-License-Identifier: MIT
// The history compares twice. The world's tracking finds changed components at full precision. Here
// only their quantised rows are compared, so noise below a quantum goes no further and both sides
// hold the same bits.
//
// Rows are stored by change, not by tick: the row at tick B is the newest one whose tick is not
// above B. The rows of the last NET_ROW_HISTORY_MS are kept, and the newest one before them. So an
// entity that stood still for minutes has its base, whatever else changed.
//
// An incarnation of an index is one generation with one template. Rows of the previous incarnation
// are no bases: their layout may differ. Its memory goes back to the pool (tick_ring.c), so an
// unused index costs its place in the table and no more.
//
// Visibility classes: rows are whole. Each has the mask of the classes in which something changed.
// A reader hides what it must not see (net_history_row), and follows the masks to find out whether
// a forgotten row was the same to it as one that is kept.
//
// Invariants (net_history_validate): ticks of a ring rise; the newest row of an incarnation exists.
// Left to others: which client gets what (replicate). A recreation that ends with the template it
// began with is no new incarnation, only a row.
#include "state/history.h"

#include "core/fault.h"

#include "base/assert.h"

#include <string.h>

#define WORDS_MAX (2u * PROTO_ROW_FIELDS_MAX + 1u) // of a packed row
#define TICK_MASK 65535u                           // of a tick, the bits that are stored with a row

_Static_assert(PROTO_ROW_COMPONENTS_MAX <= 64, "a bit for each component");
_Static_assert(NET_ROW_HISTORY_COUNT_TICKS <= TICK_MASK, "they tell ages apart");

// An index that the running step must look at.
typedef struct history_touch {
    ecs_entity handle; // the living entity of the index, if there is one
    uint16_t classes;  // in which its row has changed in this step
    bool is_whole;     // it may have begun, ended or become another: look at all of it
} history_touch;

static inline bool is_public(const net_row_template* row_template) {
    return (row_template->class_mask & ~1u) == 0;
}

// ---- the ring of an entity; positions count from its oldest row ----

static inline uint32_t place_of(const net_history_entity* entity, uint32_t position) {
    return (entity->first + position) & (entity->capacity - 1u);
}
static inline uint32_t* row_at(const net_history_entity* entity, uint32_t position) {
    return entity->rows + (size_t)place_of(entity, position) * entity->words;
}
// With classes: those in which something changed with the row.
static inline uint16_t* classes_at(const net_history_entity* entity, uint32_t position) {
    uint16_t* masks = (uint16_t*)(entity->rows + (size_t)entity->capacity * entity->words);
    return &masks[place_of(entity, position)];
}
// Ticks from a row to the newest one. Not of the oldest row, which may be older than this can say.
static inline uint32_t age_at(const net_history_entity* entity, uint32_t position) {
    const uint16_t low = net_history_ticks(entity)[place_of(entity, position)];
    return ((uint32_t)entity->change_tick - low) & TICK_MASK;
}

enum { ROWS_MIN = 4 };

static size_t class_ticks_bytes(const net_row_template* row_template) {
    return 2u * (uint32_t)__builtin_popcount(row_template->class_mask) * sizeof(ecs_tick);
}

static void release_rows(net_history* history, net_history_entity* entity) {
    const base_allocator* pool = &history->pool.allocator;
    base_release(pool, entity->rows, entity->block_bytes);
    if (entity->class_ticks)
        base_release(pool, entity->class_ticks, class_ticks_bytes(entity->row_template));
    entity->rows = NULL;
    entity->class_ticks = NULL;
    entity->block_bytes = 0;
    entity->capacity = entity->first = entity->count = 0;
}

// A block for twice as many rows, with the rows in order from its begin.
static void grow(net_history* history, net_history_entity* entity) {
    uint32_t capacity = entity->capacity ? entity->capacity * 2u : ROWS_MIN;
    uint32_t of_row = (uint32_t)(entity->words * sizeof *entity->rows + sizeof(uint16_t) +
                                 (entity->class_ticks ? sizeof(uint16_t) : 0));
    net_history_entity grown = *entity;
    grown.block_bytes = capacity * of_row;
    grown.rows = base_allocate(&history->pool.allocator, grown.block_bytes);
    grown.capacity = (uint8_t)capacity;
    grown.first = 0;
    for (uint32_t i = 0; i < entity->count; i++) {
        memcpy(row_at(&grown, i), row_at(entity, i), entity->words * sizeof *entity->rows);
        net_history_ticks(&grown)[i] = net_history_ticks(entity)[place_of(entity, i)];
        if (entity->class_ticks) *classes_at(&grown, i) = *classes_at(entity, i);
    }
    base_release(&history->pool.allocator, entity->rows, entity->block_bytes);
    *entity = grown;
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
        mark_classes(entity->row_template, *classes_at(entity, 1), entity->oldest_tick,
                     entity->class_ticks + count);
    }
    entity->first = (uint8_t)place_of(entity, 1);
    entity->count--;
}

// Add a row of this tick, whose words the caller then writes. These classes changed with it.
static uint32_t* push_row(net_history* history, net_history_entity* entity, uint32_t classes) {
    const ecs_tick tick = history->tick;
    BASE_ASSERT(entity->row_template && entity->begin_tick <= tick);
    const uint64_t idle = tick - entity->change_tick;
    while (entity->count > 1) {
        uint32_t age = age_at(entity, 1);
        const uint64_t age_now = idle + age + 1;
        if (age_now < entity->keep_ticks) break;
        // A row with classes is stored for a fixed time: how long would tell how often hidden
        // classes changed.
        if (!entity->class_ticks && entity->count < NET_ROW_HISTORY_COUNT &&
            age_now < NET_ROW_HISTORY_COUNT_TICKS)
            break;
        forget_oldest(entity, age);
    }
    if (entity->count == entity->capacity) grow(history, entity);
    if (entity->count == 0) entity->oldest_tick = tick;
    uint32_t place = place_of(entity, entity->count++);
    net_history_ticks(entity)[place] = (uint16_t)tick;
    entity->change_tick = tick;
    if (entity->class_ticks) {
        *classes_at(entity, entity->count - 1u) = (uint16_t)classes;
        mark_classes(entity->row_template, classes, tick, entity->class_ticks);
    }
    return entity->rows + (size_t)place * entity->words;
}

static void add_classes(net_history* history, net_history_entity* entity, uint32_t classes) {
    BASE_ASSERT(entity->change_tick == history->tick);
    if (!entity->class_ticks) return;
    *classes_at(entity, entity->count - 1u) |= (uint16_t)classes;
    mark_classes(entity->row_template, classes, history->tick, entity->class_ticks);
}

// Would a push need no memory? It forgets rows that are too old first.
static inline bool has_room(const net_history* history, const net_history_entity* entity) {
    if (entity->count < entity->capacity) return true;
    if (entity->count <= 1) return false;
    return history->tick - entity->change_tick + age_at(entity, 1) + 1 >= entity->keep_ticks;
}

// ---- reading: between two steps all of it is immutable, so any thread may read ----

// The position of the newest row whose tick is not above `tick`, which is not before the oldest.
// Ticks are distinct, so n positions back a tick is at least n less. Where every tick has a row, as
// for what moves, the first guess is the answer.
static uint32_t find_row(const net_history_entity* entity, ecs_tick tick) {
    uint32_t last = entity->count - 1u;
    if (tick >= entity->change_tick || last == 0) return last;
    uint64_t back = entity->change_tick - tick;
    if (back >= NET_ROW_HISTORY_COUNT_TICKS) return 0; // all rows but the oldest are younger
    uint32_t low = back < last ? last - (uint32_t)back : 0, high = last; // the answer is below high
    if (age_at(entity, low + 1) < back) return low;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (age_at(entity, middle) >= back)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static ecs_tick tick_at(const net_history_entity* entity, uint32_t position) {
    return position == 0 ? entity->oldest_tick : entity->change_tick - age_at(entity, position);
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
        if (*classes_at(entity, position) & classes) return tick_at(entity, position);
    uint32_t count = (uint32_t)__builtin_popcount(entity->row_template->class_mask);
    return newest_of(entity, entity->class_ticks + count, classes);
}

const uint32_t* net_history_row(const net_history_entity* entity, ecs_tick now, ecs_tick tick,
                                uint32_t classes, uint32_t* scratch) {
    if (net_fault_is_planted(NET_FAULT_LEAK_HIDDEN) && ecs_entity_index(entity->handle) % 4 == 1)
        classes = UINT16_MAX;
    BASE_VALIDATE(now >= entity->change_tick);
    if (tick < entity->oldest_tick && tick < entity->begin_tick) return NULL;
    const uint32_t* row = net_history_recent(entity, now, (uint32_t)(now - tick));
    if (!row && (!entity->class_ticks || tick + entity->keep_ticks > now)) {
        if (tick < entity->oldest_tick) return NULL; // forgotten
        row = row_at(entity, find_row(entity, tick));
    } else if (!row) {
        ecs_tick limit = now + 1 - entity->keep_ticks; // all rows since then are there
        if (limit < entity->oldest_tick) return NULL;
        const uint32_t position = find_row(entity, limit);
        if (changed_at(entity, position, classes) > tick) return NULL;
        row = row_at(entity, position);
    }
    const net_row_template* row_template = entity->row_template;
    if (!scratch || (row_template->class_mask & ~classes) == 0) return row;
    memcpy(scratch, row, entity->words * sizeof *row);
    net_rows_mask_packed(row_template, classes, scratch);
    return scratch;
}

bool net_history_read(const net_history_entity* entity, ecs_tick now, ecs_tick tick,
                      uint32_t classes, uint64_t* row) {
    uint32_t scratch[WORDS_MAX];
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
        uint32_t age = age_at(entity, i);
        BASE_ASSERT(age < (entity->class_ticks ? entity->keep_ticks : NET_ROW_HISTORY_COUNT_TICKS));
        BASE_ASSERT((age > 0) == (i < entity->count - 1u));
        BASE_ASSERT(tick_at(entity, i - 1) < tick_at(entity, i));
    }
    BASE_ASSERT((entity->class_ticks == NULL) == is_public(row_template));
    if (!entity->class_ticks) return;
    BASE_ASSERT(newest_of(entity, entity->class_ticks, UINT16_MAX) == entity->change_tick);
    for (uint32_t left = row_template->class_mask; left; left &= left - 1) {
        uint32_t class_ = left & (0u - left);
        BASE_ASSERT(changed_at(entity, entity->count - 1u, class_) ==
                    net_history_changed(entity, class_));
        BASE_ASSERT(changed_at(entity, 0, class_) <= entity->oldest_tick);
    }
}

// ---- which indices a step looks at: a set, so that their events are in rising order ----

static void reserve_index(net_history* history, uint32_t index) {
    BASE_ASSERT(index >= 1 && index <= history->index_max);
    const base_allocator* own = &history->owner.allocator;
    BASE_ARRAY_RESERVE(own, history->entities, history->capacity, index + 1);
    BASE_ARRAY_RESERVE(own, history->touches, history->touch_capacity, index + 1);
    base_bitset_reserve(&history->touched, history->touch_capacity);
}

// Touch an index that the history follows, once. @return its touch.
static inline history_touch* touch_index(net_history* history, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    bool has_room = index < history->capacity && index < history->touch_capacity;
    if (!has_room) reserve_index(history, index);
    history_touch* touched = &history->touches[index];
    uint64_t *word = &history->touched.words[index >> 6], bit = UINT64_C(1) << (index & 63);
    if (*word & bit) return touched;
    *word |= bit;
    *touched = (history_touch){.handle = handle};
    return touched;
}

static void touch_whole(net_history* history, const ecs_world* world, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index == 0 || index > history->index_max) return;
    history_touch* touched = touch_index(history, handle);
    if (touched->handle != handle && ecs_is_alive(world, handle)) touched->handle = handle;
    touched->is_whole = true;
}

static void touch_many(net_history* history, const ecs_world* world, const ecs_entity* handles,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        touch_whole(history, world, handles[i]);
}

// Touch, as a whole, what the world lists as created, destroyed or recreated, or all of the world.
static void collect(net_history* history, const ecs_world* world, bool is_everything) {
    base_bitset_clear_all(&history->touched);
    ecs_entity entity = is_everything ? ecs_entity_next(world, ECS_ENTITY_NONE) : ECS_ENTITY_NONE;
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity))
        touch_whole(history, world, entity);
    const ecs_changes changes = ecs_changes_get(world);
    if (is_everything) return;
    touch_many(history, world, changes.created, changes.created_count);
    touch_many(history, world, changes.destroyed, changes.destroyed_count);
    touch_many(history, world, changes.recreated, changes.recreated_count);
}

// ---- what changes name ----

// Word by word: the words were just written, and wider loads would wait for the store buffer.
static bool is_other(const uint32_t* a, const uint32_t* b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return true;
    }
    return false;
}

// A walk over changes. Parts of a step walk at the same time.
typedef struct taking {
    net_history* history;
    bool is_part;
    uint32_t scratch[WORDS_MAX]; // a packed row
} taking;

// A component of a template's rows: what many changes in turn have in common.
typedef struct part {
    const net_row_template* row_template;
    ecs_component_id component;
    uint32_t c; // its position; UINT32_MAX: it is no part of the rows
    uint32_t first, count;
    uint32_t class_;
} part;

static inline void set_part(part* of, const net_row_template* row_template, uint32_t c) {
    const proto_row_component* component = &row_template->layout.components[c];
    of->row_template = row_template;
    of->component = (ecs_component_id)component->key;
    of->c = c;
    of->first = component->packed_first;
    of->count = component->packed_count;
    of->class_ = 1u << row_template->classes[c];
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
// one that differs adds a row. Inlined, since both callers are walks. @return false with `is_part`
// when the row needs memory.
static inline __attribute__((always_inline)) bool take_component(taking* self,
                                                                 net_history_entity* entity,
                                                                 const part* of, const void* value,
                                                                 history_touch* touched) {
    proto_row_read_packed(&of->row_template->layout, of->c, value, self->scratch);
    const uint32_t* words = self->scratch + of->first;
    const uint32_t* newest = net_history_newest(entity);
    if (!is_other(newest + of->first, words, of->count)) return true;
    if (net_fault_is_planted(NET_FAULT_DROP_COMPONENT) && of->c == 0 &&
        ecs_entity_index(entity->handle) % 3 == 0)
        return true;
    uint32_t* row;
    if (touched->classes == 0) {
        if (self->is_part && !has_room(self->history, entity)) return false;
        row = push_row(self->history, entity, of->class_);
        const uint32_t* before = row_at(entity, entity->count - 2u);
        const uint32_t end = entity->words;
        for (uint32_t i = 0; i < end; i += 2) // an even number
            memcpy(row + i, before + i, 2 * sizeof *row);
    } else {
        row = row_at(entity, entity->count - 1u);
        if (!(touched->classes & of->class_)) add_classes(self->history, entity, of->class_);
    }
    touched->classes |= (uint16_t)of->class_;
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
static void take_changes(net_history* history, const ecs_world* world, const ecs_change* changes,
                         uint32_t count, bool is_part) {
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
        history_touch* touched = touch_index(history, change->entity);
        net_history_entity* entity = &history->entities[index];
        if (touched->is_whole || entity->handle != change->entity) {
            touch_whole(history, world, change->entity);
            continue;
        }
        if (entity->row_template != of.row_template || change->component != of.component)
            find_part(&of, entity->row_template, change->component);
        if (of.c == UINT32_MAX) continue;
        const void* value = ecs_get(world, change->entity, of.component);
        if (!take_component(&self, entity, &of, value, touched))
            touched->is_whole = true; // the owner compares all of it, and finds the same
    }
}

static void take_values(net_history* history, const ecs_world* world, history_touch* touched) {
    net_history_entity* entity = &history->entities[ecs_entity_index(touched->handle)];
    const proto_layout* layout = &entity->row_template->layout;
    taking self;
    self.history = history;
    self.is_part = false;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        part of;
        set_part(&of, entity->row_template, c);
        const void* value = ecs_get(world, touched->handle, of.component);
        (void)take_component(&self, entity, &of, value, touched);
    }
}

// ---- the history ----

net_history* net_history_create(const base_allocator* allocator, net_rows* rows,
                                uint32_t index_max) {
    BASE_ASSERT(rows && index_max >= 1 && index_max <= ECS_INDEX_MAX);
    net_history* made = base_owner_create(allocator, sizeof *made);
    made->rows = rows;
    made->index_max = index_max;
    net_pool_init_whole(&made->pool, &made->owner);
    base_bitset_init(&made->touched, &made->owner.allocator);
    return made;
}

static void add_event(net_history* history, ecs_entity handle, net_history_kind kind,
                      uint32_t classes) {
    BASE_ASSERT(history->event_count < history->event_capacity);
    history->events[history->event_count++] =
        (net_history_event){handle, (uint16_t)kind, (uint16_t)classes};
}

static void begin_incarnation(net_history* history, const ecs_world* world,
                              net_history_entity* entity, ecs_entity handle,
                              const net_row_template* row_template) {
    BASE_ASSERT(ecs_entity_index(handle) >= 1 && row_template);
    release_rows(history, entity);
    entity->handle = ECS_ENTITY_NONE;
    entity->row_template = row_template;
    entity->begin_tick = entity->change_tick = history->tick;
    entity->words = (uint16_t)row_template->layout.packed_count;
    entity->keep_ticks = (uint8_t)history->keep_ticks;
    if (!is_public(row_template)) {
        size_t bytes = class_ticks_bytes(row_template);
        entity->class_ticks = base_allocate(&history->pool.allocator, bytes);
        for (uint32_t i = 0; i < bytes / sizeof(ecs_tick); i++)
            entity->class_ticks[i] = history->tick;
    }
    uint32_t* row = push_row(history, entity, row_template->class_mask);
    entity->handle = handle;
    memcpy(row, row_template->packed_defaults, entity->words * sizeof *row);
    const proto_layout* layout = &row_template->layout;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const ecs_component_id id = (ecs_component_id)layout->components[i].key;
        proto_row_read_packed(layout, i, ecs_get(world, handle, id), row);
    }
    add_event(history, handle, NET_HISTORY_SPAWNED, row_template->class_mask);
}

static void add_change(net_history* history, const history_touch* touched) {
    if (touched->classes)
        add_event(history, touched->handle, NET_HISTORY_CHANGED, touched->classes);
}

// Look at all of an entity.
static void take_whole(net_history* history, const ecs_world* world, history_touch* touched) {
    ecs_entity handle = touched->handle;
    net_history_entity* entity = &history->entities[ecs_entity_index(handle)];
    // A destroyed handle has no template; a template without replicated components has no row
    // template.
    const net_row_template* row_template =
        net_rows_find(history->rows, ecs_entity_template(world, handle));
    if (!row_template) {
        if (entity->handle != ECS_ENTITY_NONE) {
            add_event(history, entity->handle, NET_HISTORY_DESPAWNED, 0);
            entity->handle = ECS_ENTITY_NONE;
            release_rows(history, entity);
        }
    } else if (entity->handle != handle || entity->row_template != row_template) {
        begin_incarnation(history, world, entity, handle, row_template);
    } else {
        take_values(history, world, touched);
        add_change(history, touched);
    }
}

// Add the events, by rising index.
static void add_changes(net_history* history, const ecs_world* world) {
    BASE_ARRAY_RESERVE(&history->owner.allocator, history->events, history->event_capacity,
                       base_bitset_count(&history->touched));
    for (uint32_t w = 0; w < history->touched.word_count; w++) {
        for (uint64_t bits = history->touched.words[w]; bits; bits &= bits - 1) {
            history_touch* touched = &history->touches[w * 64 + base_bit_lowest(bits)];
            if (touched->is_whole)
                take_whole(history, world, touched);
            else
                add_change(history, touched);
        }
        history->touched.words[w] = 0;
    }
}

// The changes of a step on several threads.
//
//     changes, by archetype and component      3 40 7 | 3 7 90 40 | ...
//     sorted into parts, by index              3 7 3 7 | 40 40 | 90 ...
//
// A part is a range of whole words of the touched set. Its changes keep their order, so each entity
// is compared as on one thread, and no two parts share an entity, a touch or a word. A ring that
// must grow needs the pool: its entity is looked at again as a whole, by the owner, when events are
// added. That compares more components and finds no other change.

enum {
    PARTS_MAX = 32,
    PART_SHIFT_MIN = 6,       // indices of a part: a word of the set at least
    SHARED_CHANGES_MIN = 1024 // fewer are compared by one thread: waking another costs more
};

typedef struct history_parts {
    net_history* history;
    const ecs_world* world;
    uint32_t shift;
    uint32_t ends[PARTS_MAX]; // in `sorted`
} history_parts;

// Make room for all indices.
static void measure(history_parts* self, const ecs_changes* changes) {
    net_history* history = self->history;
    uint32_t last = 0;
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        const uint32_t index = ecs_entity_index(changes->changed[i].entity);
        if (index > last && index <= history->index_max) last = index;
    }
    self->shift = PART_SHIFT_MIN;
    while (last >> self->shift >= PARTS_MAX)
        self->shift++;
    if (last > 0) reserve_index(history, last);
    BASE_ARRAY_RESERVE(&history->owner.allocator, history->sorted, history->sorted_capacity,
                       changes->changed_count);
}

// Stable; entities that are not followed are left out.
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
    take_changes(self->history, self->world, self->history->sorted + first,
                 self->ends[item] - first, true);
}

// Look at all changes of a step, on workers when there are many.
static void take_all(net_history* history, const ecs_world* world) {
    const ecs_changes changes = ecs_changes_get(world);
    base_workers* workers =
        base_workers_worth(history->workers, changes.changed_count, SHARED_CHANGES_MIN);
    history_parts self = {.history = history, .world = world};
    if (!workers) {
        take_changes(history, world, changes.changed, changes.changed_count, false);
        return;
    }
    measure(&self, &changes);
    sort(&self, &changes);
    base_workers_run(workers, take_part, &self, PARTS_MAX);
}

static uint32_t keep_ticks_at(uint32_t tick_rate_hz) {
    if (tick_rate_hz == 0) return NET_ROW_HISTORY_TICKS_MAX; // not known
    uint32_t ticks = tick_rate_hz * NET_ROW_HISTORY_MS / 1000;
    if (ticks < NET_ROW_HISTORY_TICKS_MIN) return NET_ROW_HISTORY_TICKS_MIN;
    return ticks < NET_ROW_HISTORY_TICKS_MAX ? ticks : NET_ROW_HISTORY_TICKS_MAX;
}

void net_history_step(net_history* history, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(world);
    BASE_ASSERT(history->step_count == 0 || tick > history->tick);
    bool is_first = history->step_count++ == 0;
    if (is_first) history->keep_ticks = keep_ticks_at(history->rows->tick_rate_hz);
    history->tick = tick;
    history->event_count = 0;
    collect(history, world, is_first);
    if (!is_first) take_all(history, world);
    add_changes(history, world);
    if (NET_VALIDATE_ON) net_history_validate(history);
}

void net_history_warm(const net_history* history, uint32_t index, ecs_tick tick, uint32_t age,
                      uint32_t d, bool is_known) {
    if (index >= history->capacity) return;
    const net_history_entity* entity = &history->entities[index];
    if (!is_known) {
        __builtin_prefetch(entity);
        __builtin_prefetch((const uint8_t*)(entity + 1) - 1);
        return;
    }
    if (entity->count == 0) return; // gone
    const uint32_t* newest = net_history_newest(entity);
    __builtin_prefetch(newest);
    __builtin_prefetch(newest + entity->words);
    __builtin_prefetch(net_history_ticks(entity));
    // Where each tick has a row, the bases are these.
    uint64_t idle = tick - entity->change_tick, back = age > idle ? age - idle : 0;
    if (back == 0 || back + d >= entity->count) return;
    const uint32_t* base = row_at(entity, entity->count - 1u - (uint32_t)back);
    __builtin_prefetch(base);
    __builtin_prefetch(base + entity->words);
    if (d > 0) __builtin_prefetch(row_at(entity, entity->count - 1u - (uint32_t)back - d));
}

void net_history_validate(const net_history* history) {
    for (uint32_t index = 0; index < history->capacity; index++) {
        const net_history_entity* entity = &history->entities[index];
        if (entity->handle == ECS_ENTITY_NONE) continue;
        BASE_ASSERT(ecs_entity_index(entity->handle) == index && index <= history->index_max);
        BASE_ASSERT(entity->change_tick <= history->tick);
        net_history_entity_validate(entity);
    }
    for (uint32_t i = 1; i < history->event_count; i++)
        BASE_ASSERT(ecs_entity_index(history->events[i - 1].handle) <
                    ecs_entity_index(history->events[i].handle));
}
