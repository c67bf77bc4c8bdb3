// SPDX-License-Identifier: MIT
// Game events on their way out.
//
// Why reliable events travel in every packet and not on ENet's reliable channel: at 20 % loss the
// p99 of that channel is seconds, because one lost datagram holds up all behind it. An event here
// is as late as the first packet that arrives. It costs bytes only until it is acknowledged.
//
// Why parts have no numbers of their own: a server acknowledges an event when a tick has it, so
// the parts behind would never be acknowledged, nor sent.
//
// Invariants: numbers in `reliable` are consecutive; the oldest is number_next - reliable.count.
#include "session/event_queue.h"

#include "core/fault.h"

#include "base/assert.h"

#include <string.h>

// A field tag and a length of a submessage in a packet: 1 + 2 bytes.
#define EVENT_FRAME_BYTES 3u

// ---- a line of events ----

static uint32_t needs_at(uint32_t size) {
    const uint32_t align = _Alignof(ecs_entity);
    return ((uint32_t)offsetof(net_event, payload) + size + align - 1) & ~(align - 1);
}

static uint32_t bytes_of(uint32_t size, uint32_t need_count) {
    const uint32_t align = _Alignof(net_event);
    return (needs_at(size) + need_count * (uint32_t)sizeof(ecs_entity) + align - 1) & ~(align - 1);
}

static net_event* event_at(const net_event_line* line, uint32_t at) {
    return (net_event*)(void*)(line->bytes + at);
}

static ecs_entity* needs_of(const net_event* event) {
    return (ecs_entity*)((uintptr_t)event + needs_at(event->size));
}

void net_event_line_deinit(net_event_line* line, const base_allocator* allocator) {
    BASE_ARRAY_RELEASE(allocator, line->bytes, line->capacity);
    line->bytes = NULL;
}

// The events move to the begin of the block, without those that were removed.
static void close_gaps(net_event_line* line) {
    uint32_t to = 0;
    for (uint32_t at = line->first; at < line->end;) {
        const net_event* event = event_at(line, at);
        const uint32_t bytes = bytes_of(event->size, event->need_count);
        at += bytes;
        if (event->is_over) continue;
        memmove(line->bytes + to, event, bytes);
        to += bytes;
    }
    line->first = 0;
    line->end = to;
}

net_event* net_event_line_add(net_event_line* line, const base_allocator* allocator,
                              const net_event* event, const void* payload,
                              const net_event_needs* needs) {
    const uint32_t count = needs && !event->is_alone ? needs->count : 0;
    const uint32_t bytes = bytes_of(event->size, count);
    if (line->end + bytes > line->capacity) {
        close_gaps(line);
        BASE_ARRAY_RESERVE(allocator, line->bytes, line->capacity, 2 * line->end + bytes);
    }
    net_event* added = event_at(line, line->end);
    *added = *event;
    added->need_count = (uint16_t)count;
    added->is_late = needs && needs->is_late;
    if (event->size) memcpy(added->payload, payload, event->size);
    if (count) memcpy(needs_of(added), needs->entities, count * sizeof(ecs_entity));
    line->end += bytes;
    line->count++;
    return added;
}

net_event* net_event_line_next(const net_event_line* line, const net_event* event) {
    uint32_t at = line->first;
    if (event)
        at = (uint32_t)((const uint8_t*)event - line->bytes) +
             bytes_of(event->size, event->need_count);
    for (; at < line->end; at += bytes_of(event_at(line, at)->size, event_at(line, at)->need_count))
        if (!event_at(line, at)->is_over) return event_at(line, at);
    return NULL;
}

void net_event_line_remove(net_event_line* line, net_event* event) {
    event->is_over = true;
    line->count--;
    const net_event* oldest = net_event_line_next(line, NULL);
    line->first = oldest ? (uint32_t)((const uint8_t*)oldest - line->bytes) : 0;
    if (!oldest) line->end = 0;
}

// ---- events that go out ----

void net_event_outbox_init(net_event_outbox* outbox, const base_allocator* allocator) {
    memset(outbox, 0, sizeof *outbox);
    outbox->allocator = allocator;
    outbox->number_next = 1;
}

void net_event_outbox_deinit(net_event_outbox* outbox) {
    net_event_line_deinit(&outbox->reliable, outbox->allocator);
    net_event_line_deinit(&outbox->unreliable, outbox->allocator);
}

net_result net_event_outbox_push(net_event_outbox* outbox, bool is_reliable, bool is_alone,
                                 uint32_t message, ecs_tick tick, ecs_entity target,
                                 const void* payload, uint32_t size) {
    if (size > (is_reliable ? NET_EVENT_PAYLOAD_BYTES_MAX : NET_EVENT_PART_BYTES_MAX))
        return NET_ERR_MALFORMED;
    if (is_reliable ? outbox->reliable.count == NET_EVENTS_RELIABLE_MAX
                    : outbox->unreliable_count == NET_EVENTS_UNRELIABLE_MAX) {
        outbox->refused++;
        return NET_ERR_FULL;
    }
    const net_event event = {.tick = tick,
                             .target = target,
                             .number = is_reliable ? outbox->number_next++ : 0,
                             .message = message,
                             .size = size,
                             .is_alone = is_alone};
    (void)net_event_line_add(is_reliable ? &outbox->reliable : &outbox->unreliable,
                             outbox->allocator, &event, payload, NULL);
    outbox->unreliable_count += !is_reliable;
    return NET_OK;
}

bool net_event_outbox_acked(net_event_outbox* outbox, uint32_t number) {
    if (number >= outbox->number_next) return false;
    net_event* event;
    while ((event = net_event_line_next(&outbox->reliable, NULL)) && event->number <= number)
        net_event_line_remove(&outbox->reliable, event);
    return true;
}

static uint32_t parts_of(uint32_t size) {
    return (size + NET_EVENT_PART_BYTES_MAX - 1) / NET_EVENT_PART_BYTES_MAX;
}

static uint32_t part_bytes(uint32_t size, uint32_t part) {
    const uint32_t left = size - part * NET_EVENT_PART_BYTES_MAX;
    return left < NET_EVENT_PART_BYTES_MAX ? left : NET_EVENT_PART_BYTES_MAX;
}

// Each round of parts begins with another one: losses may have the rhythm of the rounds.
static void describe(const net_event* event, uint32_t turn, Shoal__Wire__GameEvent* to) {
    shoal__wire__game_event__init(to);
    to->number = event->number;
    to->message = event->message;
    to->tick = event->tick;
    to->target = event->target;
    to->is_alone = event->is_alone;
    to->payload = (ProtobufCBinaryData){event->size, (uint8_t*)(uintptr_t)event->payload};
    const uint32_t parts = parts_of(event->size);
    if (parts <= 1) return;
    to->whole_bytes = event->size;
    to->part = (turn + turn / parts) % parts;
    to->payload.data += to->part * NET_EVENT_PART_BYTES_MAX;
    to->payload.len = part_bytes(event->size, to->part);
}

uint32_t net_event_outbox_fill(net_event_outbox* outbox, Shoal__Wire__GameEvent* events,
                               Shoal__Wire__GameEvent** pointers, uint32_t capacity,
                               size_t budget_bytes, size_t* used_bytes) {
    net_event_line* lines[] = {&outbox->reliable, &outbox->unreliable};
    uint32_t count = 0;
    size_t used = 0;
    bool is_full = false; // in order: a later, shorter one must not overtake
    for (uint32_t k = 0; k < 2 && !is_full; k++) {
        net_event* event = NULL;
        while (count < capacity && (event = net_event_line_next(lines[k], event))) {
            Shoal__Wire__GameEvent* to = &events[count];
            describe(event, outbox->turn, to);
            const size_t bytes = shoal__wire__game_event__get_packed_size(to) + EVENT_FRAME_BYTES;
            const bool is_part = to->whole_bytes > 0;
            const bool has_room = used + bytes <= budget_bytes;
            is_full = !has_room && !is_part;
            if (!has_room) break;
            used += bytes;
            pointers[count++] = to;
            if (k == 1) net_event_line_remove(lines[k], event);
            outbox->turn += is_part;
            if (is_part) break; // the next ones are of use when it has come
        }
    }
    *used_bytes = used;
    return count;
}

uint32_t net_event_outbox_drop_unreliable(net_event_outbox* outbox) {
    const uint32_t missed = outbox->unreliable.count;
    outbox->unreliable.first = outbox->unreliable.end = outbox->unreliable.count = 0;
    outbox->unreliable_count = 0;
    return missed;
}

// Game events that came in.
//
// An event may arrive before the record that creates its entity: both travel in packets that are
// lost independently. So it waits here, for a bounded time. A waiting reliable event holds up those
// after it, because their order is kept. So it waits only for entities that can still come: what
// the mirror knows of an index since the event's tick shows whether an entity is gone.

void net_event_inbox_init(net_event_inbox* inbox, const base_allocator* allocator) {
    memset(inbox, 0, sizeof *inbox);
    inbox->allocator = allocator;
}

void net_event_inbox_deinit(net_event_inbox* inbox) {
    net_event_line_deinit(&inbox->line, inbox->allocator);
    if (inbox->parts) base_release(inbox->allocator, inbox->parts, NET_EVENT_PAYLOAD_BYTES_MAX);
    inbox->parts = NULL;
}

static bool inbox_expects(net_event_inbox* inbox, uint32_t number) {
    if (number == 0) return true;
    if (inbox->is_open) inbox->newest = number - 1;
    inbox->is_open = false;
    bool is_again = net_fault_is_planted(NET_FAULT_EVENT_TWICE) && number == inbox->newest;
    if (number == inbox->newest + 1 || is_again) return true;
    inbox->known++;
    return false;
}

net_result net_event_inbox_join(net_event_inbox* inbox, Shoal__Wire__GameEvent* event) {
    const uint32_t size = event->whole_bytes, part = event->part, parts = parts_of(size);
    if (size == 0)
        return part == 0 && event->payload.len <= NET_EVENT_PART_BYTES_MAX ? NET_OK
                                                                           : NET_ERR_MALFORMED;
    if (event->number == 0 || parts < 2 || size > NET_EVENT_PAYLOAD_BYTES_MAX || part >= parts ||
        event->payload.len != part_bytes(size, part))
        return NET_ERR_MALFORMED;
    if (!inbox_expects(inbox, event->number)) return NET_ERR_STALE;
    if (!inbox->parts) inbox->parts = base_allocate(inbox->allocator, NET_EVENT_PAYLOAD_BYTES_MAX);
    if (inbox->part_number != event->number) {
        inbox->part_number = event->number;
        inbox->part_message = event->message;
        inbox->part_size = size;
        inbox->part_bits = 0;
    }
    if (inbox->part_message != event->message || inbox->part_size != size) return NET_ERR_MALFORMED;
    memcpy(inbox->parts + part * NET_EVENT_PART_BYTES_MAX, event->payload.data, event->payload.len);
    inbox->part_bits |= 1u << part;
    if (inbox->part_bits + 1 != 1u << parts) return NET_ERR_STALE;
    event->payload = (ProtobufCBinaryData){size, inbox->parts};
    return NET_OK;
}

const net_event* net_event_inbox_push(net_event_inbox* inbox, const Shoal__Wire__GameEvent* event,
                                      const net_event_needs* needs) {
    BASE_ASSERT(event->payload.len <= NET_EVENT_PAYLOAD_BYTES_MAX);
    if (!inbox_expects(inbox, event->number)) return NULL;
    if (inbox->line.count >= NET_EVENTS_RELIABLE_MAX) {
        inbox->full++;
        return NULL;
    }
    const net_event head = {.number = event->number,
                            .message = event->message,
                            .is_alone = event->is_alone,
                            .tick = event->tick,
                            .target = event->target,
                            .size = (uint32_t)event->payload.len};
    if (event->number != 0) inbox->newest = event->number;
    return net_event_line_add(&inbox->line, inbox->allocator, &head, event->payload.data, needs);
}

void net_event_needs_of(net_match* match, uint32_t message, const void* data, size_t size,
                        net_event_needs* needs) {
    const net_game_module* game = net_match_get_config(match)->module->game;
    needs->is_late = message >= 1 && message <= game->message_count &&
                     game->messages[message - 1].is_delivered_late;
    needs->count = net_match_entities_of_packed(match, message, data, size, needs->entities);
}

static net_event_fate find_entity_fate(ecs_entity entity, ecs_tick tick, const ecs_world* world,
                                       net_known_incarnation_fn find_known,
                                       void* find_known_context) {
    if (ecs_is_alive(world, entity)) return NET_EVENT_READY;
    ecs_entity handle;
    ecs_tick known_tick;
    if (!find_known ||
        !find_known(find_known_context, ecs_entity_index(entity), &handle, &known_tick))
        return NET_EVENT_WAITS;
    return handle != entity && known_tick >= tick ? NET_EVENT_OVER : NET_EVENT_WAITS;
}

net_event_fate net_event_find_fate(const net_event* event, const ecs_world* world,
                                   net_known_incarnation_fn find_known, void* find_known_context) {
    net_event_fate fate = NET_EVENT_READY;
    if (!world) return fate;
    if (event->target != ECS_ENTITY_NONE)
        fate = find_entity_fate(event->target, event->tick, world, find_known, find_known_context);
    for (uint32_t i = 0; i < event->need_count && !event->is_alone && fate != NET_EVENT_OVER; i++) {
        net_event_fate other = find_entity_fate(needs_of(event)[i], event->tick, world, find_known,
                                                find_known_context);
        if (other == NET_EVENT_READY || (other == NET_EVENT_OVER && event->is_late)) continue;
        fate = other;
    }
    return fate;
}

bool net_event_give_up(net_event* event) {
    if (!event->is_late || event->need_count == 0 || event->is_alone) return false;
    event->is_alone = true;
    return true;
}

const net_event* net_event_inbox_next(net_event_inbox* inbox, const ecs_world* world) {
    bool is_held = false;
    for (net_event* event = NULL; (event = net_event_line_next(&inbox->line, event));) {
        bool is_reliable = event->number != 0;
        net_event_fate fate =
            net_event_find_fate(event, world, inbox->find_known, inbox->find_known_context);
        if (fate == NET_EVENT_WAITS || (fate == NET_EVENT_READY && is_reliable && is_held)) {
            is_held = is_held || is_reliable;
            continue;
        }
        net_event_line_remove(&inbox->line, event);
        if (fate == NET_EVENT_READY) return event;
        inbox->dropped++;
    }
    return NULL;
}

uint32_t net_event_inbox_done(const net_event_inbox* inbox) {
    for (net_event* event = NULL; (event = net_event_line_next(&inbox->line, event));)
        if (event->number != 0) return event->number - 1;
    return inbox->newest;
}

void net_event_inbox_age(net_event_inbox* inbox) {
    bool is_first_reliable = true;
    for (net_event* event = NULL; (event = net_event_line_next(&inbox->line, event));) {
        // Events after a dropped reliable one can be delivered before they are dropped themselves.
        bool may_drop = event->number == 0 || is_first_reliable;
        if (event->number != 0) is_first_reliable = false;
        if (++event->waited_ticks <= NET_EVENT_WAIT_TICKS_MAX || !may_drop ||
            net_event_give_up(event))
            continue;
        inbox->dropped++;
        net_event_line_remove(&inbox->line, event);
    }
}
