// SPDX-License-Identifier: MIT
// One client's half of large values: what it has, what it should have, what is under way.
//
// For each value in its scope a record says what was sent last; what should be there is either the value's
// stamp or the default (not visible, too long, or the default indeed). Where the two differ the record
// waits in a queue, first come first served, and is looked at again when its turn comes: so what changed
// ten times meanwhile is sent once, and what changed back is not sent at all.
//
// A record stays when its entity leaves the scope. When the entity comes back, the client may still have
// the life before, with what was sent to it then, or a new one with the default: so it is told again.
//
// Invariants: a queued record has is_queued; a record is in flight at most once; flight_bytes is their sum.
// A record that was forgotten while it is queued is given back when its turn comes.
#include "replicate/varsize_internal.h"

#include "base/assert.h"

#include <string.h>

#define PASSED_OVER_MAX 64u ///< of a publish: records whose entity is not there yet
#define CREDIT_MAX (2 * (int64_t)NET_LARGE_BYTES_MAX)

net_result net_large_view_create(net_large_server* server, net_large_view** view) {
    BASE_ASSERT(server && view);
    net_large_view* made = base_allocate_zero(server->allocator, sizeof *made);
    *view = made;
    if (!made) return NET_ERR_MEMORY;
    made->server = server;
    made->record_free = made->queue_first = made->queue_last = NET_LARGE_NONE;
    made->next = server->views;
    if (made->next) made->next->previous = made;
    server->views = made;
    return NET_OK;
}

void net_large_view_destroy(net_large_view* view) {
    if (!view) return;
    const base_allocator* allocator = view->server->allocator;
    if (view->previous)
        view->previous->next = view->next;
    else
        view->server->views = view->next;
    if (view->next) view->next->previous = view->previous;
    base_release(allocator, view->record_of, view->record_of_capacity * sizeof *view->record_of);
    base_release(allocator, view->records, view->record_capacity * sizeof *view->records);
    base_release(allocator, view, sizeof *view);
}

bool net_large_view_is_broken(const net_large_view* view) {
    return view->is_broken;
}

// ---- records ----

static net_large_record* find_record(const net_large_view* view, uint32_t place) {
    uint32_t at = place < view->record_of_capacity ? view->record_of[place] : 0;
    return at ? &view->records[at - 1] : NULL;
}

static net_large_record* add_record(net_large_view* view, uint32_t place) {
    const base_allocator* allocator = view->server->allocator;
    if (!base_array_reserve(allocator, (void**)&view->record_of, &view->record_of_capacity,
                            place + 1, sizeof *view->record_of))
        return NULL;
    uint32_t at = view->record_free;
    if (at != NET_LARGE_NONE) {
        view->record_free = view->records[at].queue_next;
    } else {
        at = view->record_count;
        if (!base_array_reserve(allocator, (void**)&view->records, &view->record_capacity, at + 1,
                                sizeof *view->records))
            return NULL;
        view->record_count++;
    }
    view->record_of[place] = at + 1;
    view->records[at] = (net_large_record){.place = place, .queue_next = NET_LARGE_NONE};
    return &view->records[at];
}

static void free_record(net_large_view* view, uint32_t at) {
    view->records[at].queue_next = view->record_free;
    view->record_free = at;
}

static void forget_record(net_large_view* view, net_large_record* record) {
    uint32_t at = (uint32_t)(record - view->records);
    view->record_of[record->place] = 0;
    record->place = NET_LARGE_NONE;
    if (record->flight) view->flights[record->flight - 1].record = NET_LARGE_NONE;
    record->flight = 0;
    if (!record->is_queued) free_record(view, at);
}

static void push_queue(net_large_view* view, uint32_t at) {
    net_large_record* record = &view->records[at];
    record->is_queued = true;
    record->queue_next = NET_LARGE_NONE;
    if (view->queue_first == NET_LARGE_NONE)
        view->queue_first = at;
    else
        view->records[view->queue_last].queue_next = at;
    view->queue_last = at;
    view->queue_count++;
}

static void pop_queue(net_large_view* view) {
    net_large_record* record = &view->records[view->queue_first];
    view->queue_first = record->queue_next;
    if (view->queue_first == NET_LARGE_NONE) view->queue_last = NET_LARGE_NONE;
    view->queue_count--;
    record->is_queued = false;
    record->queue_next = NET_LARGE_NONE;
}

// What the client should have of it.
static uint64_t wanted(const net_large_value* value, const net_large_record* record) {
    bool is_visible = (record->classes >> value->class_ & 1) != 0;
    return is_visible && !value->is_default ? value->stamp : NET_LARGE_SENT_DEFAULT;
}

static bool is_due(const net_large_view* view, const net_large_record* record) {
    if (record->place == NET_LARGE_NONE || !record->is_in_scope) return false;
    const net_large_value* value = &view->server->values[record->place];
    return value->is_present && wanted(value, record) != record->sent;
}

static void look(net_large_view* view, net_large_record* record) {
    if (record->is_queued || record->flight || !is_due(view, record)) return;
    push_queue(view, (uint32_t)(record - view->records));
}

void net_large_view_changed(net_large_view* view, uint32_t place) {
    net_large_record* record = find_record(view, place);
    if (!record) return;
    const net_large_value* value = &view->server->values[place];
    if (value->is_dead) {
        forget_record(view, record);
        return;
    }
    if (record->is_in_scope && value->since > record->since) {
        record->since = value->since;
        record->sent = NET_LARGE_SENT_UNKNOWN;
    }
    look(view, record);
}

// ---- scope ----

static void enter(net_large_view* view, uint32_t place, uint32_t classes, ecs_tick tick) {
    const net_large_value* value = &view->server->values[place];
    net_large_record* record = find_record(view, place);
    bool is_new = !record || !record->is_in_scope;
    if (record && is_new && (record->was_sent || value->since > record->since))
        record->sent = NET_LARGE_SENT_UNKNOWN;
    if (!record) record = add_record(view, place);
    if (!record) {
        view->is_broken = true;
        return;
    }
    if (is_new) record->since = tick;
    record->classes = (uint16_t)classes;
    record->is_in_scope = true;
    look(view, record);
}

void net_large_view_enter(net_large_view* view, ecs_entity entity, uint32_t classes,
                          ecs_tick tick) {
    const net_large_server* server = view->server;
    for (uint32_t at = net_large_first(server, entity); at != NET_LARGE_NONE;
         at = server->values[at].next)
        enter(view, at, classes, tick);
}

void net_large_view_reclass(net_large_view* view, ecs_entity entity, uint32_t classes) {
    const net_large_server* server = view->server;
    for (uint32_t at = net_large_first(server, entity); at != NET_LARGE_NONE;
         at = server->values[at].next) {
        net_large_record* record = find_record(view, at);
        if (!record || !record->is_in_scope) continue;
        record->classes = (uint16_t)classes;
        look(view, record);
    }
}

void net_large_view_leave(net_large_view* view, ecs_entity entity) {
    const net_large_server* server = view->server;
    for (uint32_t at = net_large_first(server, entity); at != NET_LARGE_NONE;
         at = server->values[at].next) {
        net_large_record* record = find_record(view, at);
        if (record) record->is_in_scope = false;
    }
}

// ---- sending ----

static net_result send_record(net_large_view* view, net_large_record* record,
                              net_large_send_fn send, void* context) {
    net_large_server* server = view->server;
    const net_large_value* value = &server->values[record->place];
    uint64_t stamp = wanted(value, record);
    net_large_message message = {
        .handle = value->handle,
        .number = value->number,
        .version = view->version_last + 1,
        .since = record->since,
        .is_default = stamp == NET_LARGE_SENT_DEFAULT,
        .bytes = stamp == NET_LARGE_SENT_DEFAULT ? NULL : value->bytes,
        .size = stamp == NET_LARGE_SENT_DEFAULT ? 0 : value->size,
    };
    uint32_t bytes = message.size + NET_LARGE_FRAME_BYTES_MAX;
    if (view->flight_bytes + bytes > NET_LARGE_FLIGHT_BYTES_MAX) return NET_ERR_FULL;
    net_result result = send(context, &message);
    if (result != NET_OK) return result;
    view->version_last++;
    view->flights[view->flight_count++] = (net_large_flight){
        .version = message.version, .record = (uint32_t)(record - view->records), .bytes = bytes};
    view->flight_bytes += bytes;
    view->credit -= bytes;
    record->flight = (uint8_t)view->flight_count;
    record->version = message.version;
    record->sent = stamp;
    record->was_sent = true;
    server->counters.messages++;
    server->counters.bytes += message.size;
    return NET_OK;
}

void net_large_view_publish(net_large_view* view, uint32_t allowance, net_large_send_fn send,
                            void* context) {
    net_large_spread(view->server);
    view->credit += allowance;
    if (view->credit > CREDIT_MAX) view->credit = CREDIT_MAX;
    uint32_t passed_over = 0;
    // Each once: what is passed over goes to the end.
    for (uint32_t left = view->queue_count; left > 0; left--) {
        uint32_t at = view->queue_first;
        net_large_record* record = &view->records[at];
        if (record->place == NET_LARGE_NONE || record->flight || !is_due(view, record)) {
            pop_queue(view);
            if (record->place == NET_LARGE_NONE) free_record(view, at);
            continue;
        }
        if (view->credit <= 0 || view->flight_count == NET_LARGE_FLIGHT_MAX) return;
        net_result result = send_record(view, record, send, context);
        if (result != NET_OK && result != NET_ERR_STALE) return;
        pop_queue(view);
        if (result == NET_OK) continue;
        push_queue(view, at);
        if (++passed_over == PASSED_OVER_MAX) return;
    }
}

static void end_flight(net_large_view* view, uint32_t place) {
    net_large_flight ended = view->flights[place];
    net_large_flight* last = &view->flights[--view->flight_count];
    if (ended.record != NET_LARGE_NONE) view->records[ended.record].flight = 0;
    view->flight_bytes -= ended.bytes;
    view->flights[place] = *last;
    if (last->record != NET_LARGE_NONE && place < view->flight_count)
        view->records[last->record].flight = (uint8_t)(place + 1);
}

bool net_large_view_ack(net_large_view* view, uint64_t version) {
    if (version == 0 || version > view->version_last) return false;
    uint32_t place = 0;
    while (place < view->flight_count && view->flights[place].version != version)
        place++;
    if (place < view->flight_count) {
        uint32_t at = view->flights[place].record;
        end_flight(view, place);
        view->server->counters.acked++;
        if (at != NET_LARGE_NONE) look(view, &view->records[at]);
    }
    return true;
}

bool net_large_view_lost(net_large_view* view, ecs_entity entity, uint32_t number,
                         uint64_t version) {
    const net_large_server* server = view->server;
    if (version == 0 || version > view->version_last) return false;
    for (uint32_t at = net_large_first(server, entity); at != NET_LARGE_NONE;
         at = server->values[at].next) {
        net_large_record* record = find_record(view, at);
        if (!record || server->values[at].number != number || record->version != version) continue;
        record->sent = NET_LARGE_SENT_UNKNOWN;
        view->server->counters.lost++;
        look(view, record);
    }
    return true;
}

void net_large_view_resume(net_large_view* view) {
    while (view->flight_count > 0) {
        uint32_t at = view->flights[0].record;
        end_flight(view, 0);
        if (at == NET_LARGE_NONE) continue;
        view->records[at].sent = NET_LARGE_SENT_UNKNOWN;
        look(view, &view->records[at]);
    }
}

bool net_large_view_is_settled(const net_large_view* view) {
    if (view->flight_count > 0 || view->server->changed_count > 0) return false;
    for (uint32_t at = view->queue_first; at != NET_LARGE_NONE; at = view->records[at].queue_next)
        if (is_due(view, &view->records[at])) return false;
    return true;
}
