// SPDX-License-Identifier: MIT
// Delivery of queued events to handlers.
//
// Structure is deferred while events are delivered, so a record and the place of a column stay. So
// events are taken in blocks: first the records of all targets of a block are asked for, then their
// rows, then handlers are called in the order of posting. Targets lie anywhere in memory, and one
// at a time each would wait for its record and then for its row.
//
// A handler sees the row of its target; the place of its columns in an archetype is found once and
// kept (a spot). Handlers see payloads where they lie in the queue, which stays in place.
#include "base/assert.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

#include <string.h>

// Where the columns of a handler's terms lie in one archetype. Structure stays while events are
// delivered, so the next target there needs no more than its row.
typedef struct handler_spot {
    const ecs_archetype* archetype; // NULL: nothing remembered
    const ecs_system* system;
    bool is_match;
    uint32_t term_count;
    uint32_t mark_count;
    ecs_rows rows;
    ecs_span spans[ECS_QUERY_TERMS_MAX];  // offset 0: no column
    uint16_t tracks[ECS_QUERY_TERMS_MAX]; // columns that a call marks as written
    void* columns[ECS_QUERY_TERMS_MAX];
} handler_spot;

enum { SPOTS = 4 };

static __attribute__((noinline)) void fill_spot(handler_spot* spot, const ecs_system* system,
                                                const ecs_archetype* archetype) {
    BASE_ASSERT(system->query && archetype);
    const ecs_query* query = system->query;
    spot->archetype = archetype;
    spot->system = system;
    spot->is_match = ecs_query_wants(query, archetype);
    spot->term_count = query->term_count;
    spot->mark_count = 0;
    spot->rows.count = 1;
    spot->rows.columns = spot->columns;
    for (uint32_t i = 0; i < query->term_count && spot->is_match; i++) {
        const ecs_access access = query->access[i];
        spot->spans[i] = (ecs_span){0, 0};
        spot->columns[i] = NULL;
        if (access > ECS_OPTIONAL_WRITE || query->components[i] == ECS_COMPONENT_NONE) continue;
        const ecs_slot* slot = &archetype->lookup[query->components[i]];
        if (slot->column == ECS_SLOT_NONE) continue;
        spot->spans[i] = archetype->spans[slot->column];
        if (ecs_access_is_write(access) && slot->track != ECS_SLOT_NONE)
            spot->tracks[spot->mark_count++] = slot->track;
    }
}

// Find the columns of a system in an archetype, if they are not those of the last call.
static inline bool find_spot(handler_spot* spot, const ecs_system* system,
                             const ecs_archetype* archetype) {
    if (spot->archetype != archetype || spot->system != system) fill_spot(spot, system, archetype);
    return spot->is_match;
}

// Call a handler with one row of a chunk. Its spot is that of the chunk's archetype.
static inline void call_row(ecs_system* system, ecs_stage* stage, const ecs_event* event,
                            const ecs_place* place, uint32_t row, handler_spot* spot) {
    spot->rows.entities = place->entities + row;
    for (uint32_t i = 0; i < spot->term_count; i++) {
        const ecs_span span = spot->spans[i];
        if (span.offset != 0)
            spot->columns[i] = (uint8_t*)place->chunk + span.offset + (size_t)span.size * row;
    }
    for (uint32_t i = 0; i < spot->mark_count; i++)
        ecs_chunk_mark_row(place->chunk, spot->tracks[i], row);
    ecs_handler_enter(stage->world, system, spot->rows.entities[0]);
    system->on_event(stage, event, &spot->rows);
}

void ecs_system_call_rows(ecs_world* world, ecs_system* system, ecs_stage* stage,
                          const ecs_event* event) {
    BASE_ASSERT(system->on_event && world->fast.stage_depth > 0);
    stage->context = system->context;
    if (!system->query) {
        const ecs_rows none = {0};
        ecs_handler_enter(world, system, event->target);
        system->on_event(stage, event, &none);
        return;
    }
    ecs_query_iter iter = ecs_query_begin(world, system->query);
    while (ecs_query_next(&iter)) {
        ecs_handler_enter(world, system, iter.rows.entities[0]);
        system->on_event(stage, event, &iter.rows);
    }
}

enum { BLOCK_EVENTS = 128 };
#define NOWHERE UINT32_MAX // no target, or one that does not live

static inline void call_handler(ecs_world* world, ecs_system* system, ecs_stage* stage,
                                const ecs_event* event, uint32_t place, handler_spot* spot) {
    if (!system->query || place == NOWHERE) {
        ecs_system_call_rows(world, system, stage, event);
        return;
    }
    stage->context = system->context;
    const ecs_place* chunk = &world->fast.places[place >> ECS_ROW_BITS];
    if (find_spot(spot, system, chunk->archetype))
        call_row(system, stage, event, chunk, place & ECS_ROW_MASK, spot);
}

// To the systems that track this component.
static void deliver_changed(ecs_world* world, ecs_stage* stage, const ecs_event* event,
                            uint32_t place) {
    BASE_ASSERT(event->size == sizeof(ecs_component_changed));
    const ecs_component_changed* changed = event->payload;
    const ecs_system_order* handlers = &world->systems->handlers[ECS_EVENT_CHANGED];
    handler_spot spot;
    spot.archetype = NULL;
    for (uint32_t i = 0; i < handlers->count && changed->component <= ECS_COMPONENTS_MAX; i++) {
        ecs_system* system = world->systems->list[handlers->systems[i]];
        if (ecs_component_set_has(&system->tracked, changed->component))
            call_handler(world, system, stage, event, place, &spot);
    }
}

// Events in a row of one type, whose targets are found.
typedef struct event_block {
    const ecs_event_kind* kind;
    const uint8_t* payloads; // of the first
    uint32_t count;
    bool is_run;                   // all targets live in the chunk of the first
    uint32_t places[BLOCK_EVENTS]; // chunk id and row; of a run only the first
    uint32_t rows[BLOCK_EVENTS];
} event_block;

// The record of an index, whether its entity lives or not.
static inline const ecs_record* record_of(const ecs_fast* fast, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity);
    return &fast->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}

static inline bool lives_in(const ecs_record* record, ecs_entity entity) {
    return record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED);
}

// Rows of targets that all live in one chunk, as is usual. @return whether they do.
static bool read_run(const ecs_fast* fast, event_block* block) {
    const uint32_t stride = block->kind->stride, count = block->count;
    const uint8_t* at = block->payloads;
    const ecs_entity first = ecs_event_target(at);
    const ecs_entity last = ecs_event_target(at + (size_t)stride * (count - 1));
    const uint32_t place = record_of(fast, first)->place;
    uint32_t strange = (record_of(fast, last)->place ^ place) >> ECS_ROW_BITS;
    ecs_record_page* const* pages = fast->pages;
    for (uint32_t i = 0; i < count && strange == 0; at += (size_t)stride * 8) {
        // Checked once per eight: a strange record is rare.
        const uint32_t some = count - i < 8 ? count - i : 8;
        for (uint32_t k = 0; k < some; k++) {
            const ecs_entity target = ecs_event_target(at + (size_t)stride * k);
            const uint32_t index = ecs_entity_index(target);
            const ecs_record record =
                pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
            strange |= (record.place ^ place) >> ECS_ROW_BITS;
            strange |= record.life ^ (ecs_entity_generation(target) | ECS_LIFE_CREATED);
            block->rows[i + k] = record.place & ECS_ROW_MASK;
        }
        i += some;
    }
    block->places[0] = place;
    return strange == 0;
}

// The same when they lie anywhere. Records are asked for some events ahead. Targets in order need
// no such request: the processor sees the pattern. The place of a column of the first handler is
// known from the last block, so these cells are asked for too.
static void read_scattered(const ecs_fast* fast, uint32_t left, const handler_spot* spot,
                           event_block* block) {
    enum { AHEAD = 24 };
    const uint32_t stride = block->kind->stride;
    const uint8_t* at = block->payloads;
    const ecs_span span = spot->spans[0];
    const uint8_t* cells = NULL; // of the chunk at hand
    uint32_t chunk_place = NOWHERE, last_row = NOWHERE;
    for (uint32_t i = 0; i < block->count; i++, at += stride) {
        const ecs_entity target = ecs_event_target(at);
        if (i + AHEAD < left) {
            const ecs_entity ahead = ecs_event_target(at + (size_t)AHEAD * stride);
            if (ahead != target + AHEAD) __builtin_prefetch(record_of(fast, ahead));
        }
        const ecs_record* record = record_of(fast, target);
        const bool lives = lives_in(record, target);
        const uint32_t place = lives ? record->place : NOWHERE, row = place & ECS_ROW_MASK;
        block->places[i] = place;
        block->rows[i] = row;
        if ((place ^ chunk_place) > ECS_ROW_MASK || place == NOWHERE) {
            chunk_place = place;
            const ecs_place* found = lives ? &fast->places[place >> ECS_ROW_BITS] : NULL;
            cells = found && found->archetype == spot->archetype
                        ? (const uint8_t*)found->chunk + span.offset
                        : NULL;
        }
        if (cells && row != last_row + 1) __builtin_prefetch(cells + (size_t)span.size * row, 1);
        last_row = row;
    }
}

// The next events of a run of which `left` remain, and the rows of their targets.
static void read_block(const ecs_world* world, const ecs_event_kind* kind, const uint8_t* payloads,
                       uint32_t left, const handler_spot* spot, event_block* block) {
    const ecs_fast fast = world->fast;
    BASE_ASSERT(left > 0);
    block->kind = kind;
    block->payloads = payloads;
    block->count = left < BLOCK_EVENTS ? left : BLOCK_EVENTS;
    block->is_run =
        lives_in(record_of(&fast, ecs_event_target(payloads)), ecs_event_target(payloads)) &&
        read_run(&fast, block);
    if (!block->is_run) read_scattered(&fast, left, spot, block);
}

static inline ecs_event event_of(const event_block* block, uint32_t i) {
    const uint8_t* payload = block->payloads + (size_t)block->kind->stride * i;
    return (ecs_event){.type = (ecs_event_type)block->kind->id,
                       .target = ecs_event_target(payload),
                       .size = block->kind->size,
                       .payload = payload};
}

// Events that more happens with than calls of handlers. @return whether handlers are to be called.
static bool deliver_special(ecs_world* world, ecs_stage* stage, const ecs_event* event,
                            uint32_t place) {
    if (event->target != ECS_ENTITY_NONE && place == NOWHERE) {
        if (world->events->park(world, event)) return false;
        world->counters.stale_handles++;
        if (!world->events->kinds[event->type - 1]->desc.is_exported) return false;
        world->counters.events_gone++;
        world->counters.event_gone = event->type;
        return false;
    }
    world->counters.events_delivered++;
    if (!world->events->kinds[event->type - 1]->is_special) return true;
    if (event->type == ECS_EVENT_CHANGED) {
        deliver_changed(world, stage, event, place);
        return false;
    }
    ecs_events_export(world, event);
    return true;
}

static void deliver_each(ecs_world* world, ecs_stage* stage, const event_block* block,
                         handler_spot* spots) {
    const ecs_system_order* handlers = &world->systems->handlers[block->kind->id];
    const bool is_special = block->kind->is_special;
    for (uint32_t i = 0; i < block->count; i++) {
        const uint32_t place =
            block->is_run ? (block->places[0] & ~ECS_ROW_MASK) | block->rows[i] : block->places[i];
        const ecs_event event = event_of(block, i);
        world->events->count--;
        if (place == NOWHERE || is_special) {
            if (!deliver_special(world, stage, &event, place)) continue;
        } else {
            world->counters.events_delivered++;
        }
        for (uint32_t k = 0; k < handlers->count; k++)
            call_handler(world, world->systems->list[handlers->systems[k]], stage, &event, place,
                         &spots[k % SPOTS]);
    }
}

// The only handler of a type, if it takes runs and nothing else happens with the events; else NULL.
static ecs_system* only_handler(const ecs_world* world, const ecs_event_kind* kind) {
    const ecs_system_order* handlers = &world->systems->handlers[kind->id];
    if (handlers->count != 1 || kind->is_special) return NULL;
    ecs_system* system = world->systems->list[handlers->systems[0]];
    return system->query && system->on_events ? system : NULL;
}

// Events [first, end) of the block, whose targets lie in one chunk.
static void call_run(ecs_world* world, ecs_system* system, ecs_stage* stage,
                     const event_block* block, uint32_t first, uint32_t end, handler_spot* spot) {
    const ecs_place* place = &world->fast.places[block->places[first] >> ECS_ROW_BITS];
    world->events->count -= end - first;
    world->counters.events_delivered += end - first;
    if (!find_spot(spot, system, place->archetype)) return;
    for (uint32_t i = 0; i < spot->term_count; i++)
        if (spot->spans[i].offset != 0)
            spot->columns[i] = (uint8_t*)place->chunk + spot->spans[i].offset;
    for (uint32_t m = 0; m < spot->mark_count; m++)
        for (uint32_t i = first; i < end; i++)
            ecs_chunk_mark_row(place->chunk, spot->tracks[m], block->rows[i]);
    const ecs_event_kind* kind = block->kind;
    const ecs_event_run run = {.type = (ecs_event_type)kind->id,
                               .size = kind->size,
                               .count = end - first,
                               .rows = block->rows + first,
                               .entities = place->entities,
                               .columns = spot->columns,
                               .payloads = block->payloads + (size_t)kind->stride * first,
                               .stride = kind->stride};
    ecs_handler_enter(world, system, ecs_event_target(run.payloads));
    system->on_events(stage, &run);
}

// The event after the first of a run that does not go to its chunk.
static uint32_t end_of_run(const event_block* block, uint32_t first) {
    if (block->is_run) return block->count;
    const uint32_t place = block->places[first];
    uint32_t end = first + 1;
    while (end < block->count && block->places[end] != NOWHERE &&
           (block->places[end] ^ place) <= ECS_ROW_MASK)
        end++;
    return end;
}

static void deliver_to(ecs_world* world, ecs_system* system, ecs_stage* stage,
                       const event_block* block, handler_spot* spot) {
    stage->context = system->context;
    for (uint32_t i = 0, end; i < block->count; i = end) {
        end = i + 1;
        if (!block->is_run && block->places[i] == NOWHERE) {
            const ecs_event event = event_of(block, i); // a broadcast, or its target is gone
            world->events->count--;
            if (deliver_special(world, stage, &event, NOWHERE))
                call_handler(world, system, stage, &event, NOWHERE, spot);
            continue;
        }
        end = end_of_run(block, i);
        call_run(world, system, stage, block, i, end, spot);
    }
}

// The first `count` events of a run, block by block.
static void deliver_run(ecs_world* world, ecs_stage* stage, const ecs_event_kind* kind,
                        size_t first, uint32_t count, handler_spot* spots) {
    ecs_system* only = only_handler(world, kind);
    event_block block;
    for (uint32_t done = 0; done < count; done += block.count) {
        // The queue may have grown into other memory; what a block points at stays.
        const uint8_t* payloads = world->events->queue + first + (size_t)kind->stride * done;
        read_block(world, kind, payloads + kind->lead, count - done, &spots[0], &block);
        if (only)
            deliver_to(world, only, stage, &block, &spots[0]);
        else
            deliver_each(world, stage, &block, spots);
    }
}

// Until the next run begins, the queue's head stays where the run at hand begins: events that are
// posted meanwhile are after it. The rest of the last run gets a head before it.
void ecs_events_deliver(ecs_world* world, const ecs_stage* stage, uint32_t count) {
    ecs_events* events = world->events;
    BASE_ASSERT(count <= ecs_events_count(events) && world->fast.stage_depth > 0 &&
                !events->is_delivering);
    ecs_stage own_stage = *stage;
    handler_spot spots[SPOTS];
    for (uint32_t i = 0; i < SPOTS; i++) {
        spots[i].archetype = NULL;
        spots[i].spans[0] = (ecs_span){0, 0};
    }
    ecs_events_close(events);
    if (events->head >= events->capacity / 2) ecs_events_slide(events);
    events->is_delivering = true;
    while (count > 0) {
        ecs_event_head head;
        memcpy(&head, events->queue + events->head, sizeof head);
        const ecs_event_kind* kind = events->kinds[head.type - 1];
        const uint32_t some = head.count < count ? head.count : count;
        const size_t first = events->head + sizeof head;
        deliver_run(world, &own_stage, kind, first, some, spots);
        events->head = first + (size_t)kind->stride * some;
        count -= some;
        head.count -= some;
        if (head.count == 0) continue;
        events->head -= sizeof head;
        memcpy(events->queue + events->head, &head, sizeof head);
    }
    events->is_delivering = false;
    ecs_events_release_retired(world);
    if (ecs_events_count(events) == 0) ecs_events_clear_queue(world);
}
