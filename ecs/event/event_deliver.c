// SPDX-License-Identifier: MIT
// Delivery of queued events to handlers.
//
// Structure is deferred while events are delivered, so a record and the place of a column stay. A
// handler sees the row of its target; the place of its columns in an archetype is found once and
// kept (a spot). A run of events of one type with one handler takes a short path.
#include "base/assert.h"
#include "core/world_internal.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "table/archetype.h"
#include "table/chunk.h"
#include "table/query_cache.h"
#include "table/record.h"
#include "track/track.h"

#include <string.h>

// Payloads move when their memory grows, so the list's pointers are moved along.
static uint8_t* export_reserve(ecs_world* world, size_t bytes) {
    BASE_ASSERT(bytes % 16 == 0);
    ecs_events* events = world->events;
    if (events->payload_bytes + bytes > events->payload_capacity || !events->payloads) {
        size_t capacity = events->payload_capacity == 0 ? 4096 : events->payload_capacity * 2;
        uint8_t* moved =
            base_reallocate(world->allocator, events->payloads, events->payload_capacity, capacity);
        if (!moved) return NULL;
        events->payloads = moved;
        events->payload_capacity = capacity;
        size_t at = 0;
        for (uint32_t i = 0; i < events->exported_count; i++) {
            events->exported[i].payload = moved + at;
            at += ((size_t)events->exported[i].size + 15u) & ~(size_t)15u;
        }
    }
    uint8_t* place = events->payloads + events->payload_bytes;
    events->payload_bytes += bytes;
    return place;
}

static bool keep_exported(ecs_world* world, const ecs_event* event) {
    ecs_events* events = world->events;
    size_t bytes = ((size_t)event->size + 15u) & ~(size_t)15u;
    if (!BASE_ARRAY_RESERVE(world->allocator, events->exported, events->exported_capacity,
                            events->exported_count + 1))
        return false;
    uint8_t* place = export_reserve(world, bytes);
    if (!place) return false;
    if (event->size > 0) memcpy(place, event->payload, event->size);
    ecs_event copy = *event;
    copy.payload = place;
    events->exported[events->exported_count++] = copy;
    return true;
}

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
    spot->is_match = query->sparse_terms == 0 && ecs_query_wants(query, archetype);
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
        bool is_write = access == ECS_WRITE || access == ECS_OPTIONAL_WRITE;
        if (is_write && slot->track != ECS_SLOT_NONE)
            spot->tracks[spot->mark_count++] = slot->track;
    }
}

// A handler with sparse terms: what it matches is not decided by the archetype alone.
static __attribute__((noinline)) void call_sparse(ecs_world* world, const ecs_system* system,
                                                  ecs_stage* stage, const ecs_event* event,
                                                  const ecs_record* target) {
    ecs_query_iter iter;
    if (ecs_query_find_record(world, system->query, target, &iter))
        system->on_event(stage, event, &iter.rows);
}

static inline void call_at(ecs_world* world, const ecs_system* system, ecs_stage* stage,
                           const ecs_event* event, const ecs_record* target, handler_spot* spot) {
    const ecs_place* place = &world->fast.places[target->place >> ECS_ROW_BITS];
    const uint32_t row = ecs_record_row(target);
    if (spot->archetype != place->archetype || spot->system != system)
        fill_spot(spot, system, place->archetype);
    if (!spot->is_match) {
        if (system->query->sparse_terms != 0) call_sparse(world, system, stage, event, target);
        return;
    }
    spot->rows.entities = place->entities + row;
    for (uint32_t i = 0; i < spot->term_count; i++) {
        const ecs_span span = spot->spans[i];
        if (span.offset != 0)
            spot->columns[i] = (uint8_t*)place->chunk + span.offset + (size_t)span.size * row;
    }
    for (uint32_t i = 0; i < spot->mark_count; i++)
        ecs_chunk_mark_row(place->chunk, spot->tracks[i], row);
    system->on_event(stage, event, &spot->rows);
}

void ecs_system_call_rows(ecs_world* world, const ecs_system* system, ecs_stage* stage,
                          const ecs_event* event) {
    BASE_ASSERT(system->on_event && world->stage_depth > 0);
    stage->context = system->context;
    if (!system->query) {
        const ecs_rows none = {0};
        system->on_event(stage, event, &none);
        return;
    }
    ecs_query_iter iter = ecs_query_begin(world, system->query);
    while (ecs_query_next(&iter))
        system->on_event(stage, event, &iter.rows);
}

static inline void call_handler(ecs_world* world, const ecs_system* system, ecs_stage* stage,
                                const ecs_event* event, const ecs_record* target,
                                handler_spot* spot) {
    if (!system->query || !target) {
        ecs_system_call_rows(world, system, stage, event);
        return;
    }
    stage->context = system->context;
    call_at(world, system, stage, event, target, spot);
}

// To the systems that track this component.
static void deliver_changed(ecs_world* world, ecs_stage* stage, const ecs_event* event,
                            const ecs_record* target) {
    BASE_ASSERT(event->size == sizeof(ecs_component_changed));
    const ecs_component_changed* changed = event->payload;
    const ecs_system_order* handlers = &world->systems->handlers[ECS_EVENT_CHANGED];
    handler_spot spot;
    spot.archetype = NULL;
    for (uint32_t i = 0; i < handlers->count && changed->component <= ECS_COMPONENTS_MAX; i++) {
        const ecs_system* system = world->systems->list[handlers->systems[i]];
        if (ecs_component_set_has(&system->tracked, changed->component))
            call_handler(world, system, stage, event, target, &spot);
    }
}

static inline void deliver_one(ecs_world* world, ecs_stage* stage, const ecs_event* event,
                               handler_spot* spots) {
    // Structure is deferred until all handlers have run: the record stays.
    const ecs_record* target = ecs_fast_record(&world->fast, event->target);
    if (event->target != ECS_ENTITY_NONE && !target) {
        world->counters.stale_handles += !world->events->park(world, event);
        return;
    }
    world->counters.events_delivered++;
    if (world->events->kinds[event->type - 1]->is_special) {
        if (event->type == ECS_EVENT_CHANGED) {
            deliver_changed(world, stage, event, target);
            return;
        }
        if (!keep_exported(world, event)) world->counters.changes_lost++;
    }
    const ecs_system_order* handlers = &world->systems->handlers[event->type];
    for (uint32_t i = 0; i < handlers->count; i++) {
        call_handler(world, world->systems->list[handlers->systems[i]], stage, event, target,
                     &spots[i % SPOTS]);
    }
}

// The record of an index, whether its entity lives or not.
static inline const ecs_record* record_of(const ecs_fast* fast, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity);
    return &fast->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}

// Ask for what events some way ahead will need, as if all were as long as this one: the record of
// the target, and nearer, when that has come, the row that the first handler looks at. Where the
// guess is wrong the bytes name no target that matters, and any 32 bits have a record.
static inline void fetch_ahead(const ecs_world* world, uint32_t bytes, const handler_spot* spot) {
    enum { RECORD_AHEAD = 28, ROW_AHEAD = 12 };
    const ecs_events* events = world->events;
    const ecs_fast* fast = &world->fast;
    const uint8_t* at = events->queue + events->queue_head;
    ecs_entity target;
    if (events->queue_head + (size_t)bytes * (RECORD_AHEAD + 1) > events->queue_tail) return;
    memcpy(&target, at + (size_t)bytes * RECORD_AHEAD, sizeof(target));
    __builtin_prefetch(record_of(fast, target));
    memcpy(&target, at + (size_t)bytes * ROW_AHEAD, sizeof(target));
    const ecs_record* record = record_of(fast, target);
    const ecs_place* place = &fast->places[record->place >> ECS_ROW_BITS];
    if (place->archetype == spot->archetype && spot->archetype) {
        __builtin_prefetch((const uint8_t*)place->chunk + spot->spans[0].offset +
                           (size_t)spot->spans[0].size * ecs_record_row(record));
    }
}

// Take the event at the front out of the queue. Handlers post, which may move the queue: they see a
// copy.
static inline void take_event(ecs_events* events, uint32_t bytes, uint8_t* payload) {
    enum { WORD = sizeof(ecs_event_head) };
    const size_t head = events->queue_head;
    const uint8_t* record = events->queue + head;
    for (uint32_t k = WORD; k < bytes; k += WORD)
        memcpy(payload + k - WORD, record + k, WORD);
    events->queue_head = head + bytes;
    events->queue_count--;
    if (events->queue_count == 0) events->queue_head = events->queue_tail = 0;
}

// A run of events of one type that a single handler hears, each with a target: the most common
// traffic. Apart, so that its loop has the registers to itself.
// @return how many of the `count` at the front it delivered.
static __attribute__((noinline)) uint32_t deliver_run(ecs_world* world, ecs_stage* stage,
                                                      ecs_event_head like, uint32_t count,
                                                      uint8_t* payload, handler_spot* spot) {
    ecs_events* events = world->events;
    const ecs_system_order* handlers = &world->systems->handlers[like.type];
    if (handlers->count != 1 || events->kinds[like.type - 1]->is_special) return 0;
    const ecs_system* system = world->systems->list[handlers->systems[0]];
    if (!system->query) return 0;
    stage->context = system->context;
    ecs_event event = {(ecs_event_type)like.type, like.target, (uint16_t)like.size, payload};
    const uint32_t bytes = ecs_event_bytes(like.size);
    uint32_t done = 0;
    for (; done < count; done++) {
        ecs_event_head head;
        memcpy(&head, events->queue + events->queue_head, sizeof(head));
        event.target = head.target;
        head.target = like.target;
        if (event.target == ECS_ENTITY_NONE || memcmp(&head, &like, sizeof(head)) != 0) break;
        fetch_ahead(world, bytes, spot);
        take_event(events, bytes, payload);
        const ecs_record* target = ecs_fast_record(&world->fast, event.target);
        if (!target) {
            world->counters.stale_handles += !world->events->park(world, &event);
            continue;
        }
        world->counters.events_delivered++;
        call_at(world, system, stage, &event, target, spot);
    }
    return done;
}

void ecs_events_deliver(ecs_world* world, const ecs_stage* stage, uint32_t count) {
    BASE_ASSERT(count <= world->events->queue_count && world->stage_depth > 0);
    ecs_events* events = world->events;
    ecs_stage own_stage = *stage;
    _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX + sizeof(ecs_event_head)];
    handler_spot spots[SPOTS];
    for (uint32_t i = 0; i < SPOTS; i++) {
        spots[i].archetype = NULL;
        spots[i].spans[0] = (ecs_span){0, 0};
    }
    for (uint32_t i = 0; i < count;) {
        ecs_event_head head;
        memcpy(&head, events->queue + events->queue_head, sizeof(head));
        BASE_ASSERT(head.unresolved == 0);
        uint32_t done = deliver_run(world, &own_stage, head, count - i, payload, &spots[0]);
        i += done;
        if (done > 0) continue;
        take_event(events, ecs_event_bytes(head.size), payload);
        i++;
        ecs_event event = {(ecs_event_type)head.type, head.target, (uint16_t)head.size, payload};
        deliver_one(world, &own_stage, &event, spots);
    }
}
