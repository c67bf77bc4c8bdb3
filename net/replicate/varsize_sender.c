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
#define CREDIT_MAX (2 * (int64_t)NET_VARSIZE_BYTES_MAX)

net_result net_varsize_sender_create(net_varsize_source* server, net_varsize_sender** repl) {
    BASE_ASSERT(server && repl);
    net_varsize_sender* made = base_allocate_zero(server->allocator, sizeof *made);
    *repl = made;
    if (!made) return NET_ERR_MEMORY;
    made->server = server;
    made->record_free = made->queue_first = made->queue_last = NET_VARSIZE_NONE;
    made->next = server->repls;
    if (made->next) made->next->previous = made;
    server->repls = made;
    return NET_OK;
}

void net_varsize_sender_destroy(net_varsize_sender* repl) {
    if (!repl) return;
    const base_allocator* allocator = repl->server->allocator;
    if (repl->previous)
        repl->previous->next = repl->next;
    else
        repl->server->repls = repl->next;
    if (repl->next) repl->next->previous = repl->previous;
    base_release(allocator, repl->record_of, repl->record_of_capacity * sizeof *repl->record_of);
    base_release(allocator, repl->records, repl->record_capacity * sizeof *repl->records);
    base_release(allocator, repl, sizeof *repl);
}

bool net_varsize_sender_is_broken(const net_varsize_sender* repl) {
    return repl->is_broken;
}

// ---- records ----

static net_varsize_record* find_record(const net_varsize_sender* repl, uint32_t place) {
    uint32_t at = place < repl->record_of_capacity ? repl->record_of[place] : 0;
    return at ? &repl->records[at - 1] : NULL;
}

static net_varsize_record* add_record(net_varsize_sender* repl, uint32_t place) {
    const base_allocator* allocator = repl->server->allocator;
    if (!base_array_reserve(allocator, (void**)&repl->record_of, &repl->record_of_capacity,
                            place + 1, sizeof *repl->record_of))
        return NULL;
    uint32_t at = repl->record_free;
    if (at != NET_VARSIZE_NONE) {
        repl->record_free = repl->records[at].queue_next;
    } else {
        at = repl->record_count;
        if (!base_array_reserve(allocator, (void**)&repl->records, &repl->record_capacity, at + 1,
                                sizeof *repl->records))
            return NULL;
        repl->record_count++;
    }
    repl->record_of[place] = at + 1;
    repl->records[at] = (net_varsize_record){.place = place, .queue_next = NET_VARSIZE_NONE};
    return &repl->records[at];
}

static void free_record(net_varsize_sender* repl, uint32_t at) {
    repl->records[at].queue_next = repl->record_free;
    repl->record_free = at;
}

static void forget_record(net_varsize_sender* repl, net_varsize_record* record) {
    uint32_t at = (uint32_t)(record - repl->records);
    repl->record_of[record->place] = 0;
    record->place = NET_VARSIZE_NONE;
    if (record->flight) repl->flights[record->flight - 1].record = NET_VARSIZE_NONE;
    record->flight = 0;
    if (!record->is_queued) free_record(repl, at);
}

static void push_queue(net_varsize_sender* repl, uint32_t at) {
    net_varsize_record* record = &repl->records[at];
    record->is_queued = true;
    record->queue_next = NET_VARSIZE_NONE;
    if (repl->queue_first == NET_VARSIZE_NONE)
        repl->queue_first = at;
    else
        repl->records[repl->queue_last].queue_next = at;
    repl->queue_last = at;
    repl->queue_count++;
}

static void pop_queue(net_varsize_sender* repl) {
    net_varsize_record* record = &repl->records[repl->queue_first];
    repl->queue_first = record->queue_next;
    if (repl->queue_first == NET_VARSIZE_NONE) repl->queue_last = NET_VARSIZE_NONE;
    repl->queue_count--;
    record->is_queued = false;
    record->queue_next = NET_VARSIZE_NONE;
}

// What the client should have of it.
static uint64_t wanted(const net_varsize_value* value, const net_varsize_record* record) {
    bool is_visible = (record->classes >> value->class_ & 1) != 0;
    return is_visible && !value->is_default ? value->stamp : NET_VARSIZE_SENT_DEFAULT;
}

static bool is_due(const net_varsize_sender* repl, const net_varsize_record* record) {
    if (record->place == NET_VARSIZE_NONE || !record->is_in_scope) return false;
    const net_varsize_value* value = &repl->server->values[record->place];
    return value->is_present && wanted(value, record) != record->sent;
}

static void look(net_varsize_sender* repl, net_varsize_record* record) {
    if (record->is_queued || record->flight || !is_due(repl, record)) return;
    push_queue(repl, (uint32_t)(record - repl->records));
}

// A value has another stamp, another template, or its entity was destroyed.
static void take_changed(net_varsize_sender* repl, uint32_t place) {
    net_varsize_record* record = find_record(repl, place);
    if (!record) return;
    const net_varsize_value* value = &repl->server->values[place];
    if (value->is_dead) {
        forget_record(repl, record);
        return;
    }
    if (record->is_in_scope && value->since > record->since) {
        record->since = value->since;
        record->sent = NET_VARSIZE_SENT_UNKNOWN;
    }
    look(repl, record);
}

void net_varsize_spread(net_varsize_source* server) {
    for (uint32_t i = 0; i < server->changed_count; i++) {
        uint32_t at = server->changed[i];
        net_varsize_value* value = &server->values[at];
        for (net_varsize_sender* repl = server->repls; repl; repl = repl->next)
            take_changed(repl, at);
        value->is_listed = false;
        if (!value->is_dead) continue;
        value->is_dead = false;
        value->handle = ECS_ENTITY_NONE;
        // Without a place in the list of free ones it is never used again, which is no more than a waste.
        if (base_array_reserve(server->allocator, (void**)&server->free, &server->free_capacity,
                               server->free_count + 1, sizeof *server->free))
            server->free[server->free_count++] = at;
    }
    server->changed_count = 0;
}

// ---- scope ----

static void enter(net_varsize_sender* repl, uint32_t place, uint32_t classes, ecs_tick tick) {
    const net_varsize_value* value = &repl->server->values[place];
    net_varsize_record* record = find_record(repl, place);
    bool is_new = !record || !record->is_in_scope;
    if (record && is_new && (record->was_sent || value->since > record->since))
        record->sent = NET_VARSIZE_SENT_UNKNOWN;
    if (!record) record = add_record(repl, place);
    if (!record) {
        repl->is_broken = true;
        return;
    }
    if (is_new) record->since = tick;
    record->classes = (uint16_t)classes;
    record->is_in_scope = true;
    look(repl, record);
}

void net_varsize_sender_enter(net_varsize_sender* repl, ecs_entity entity, uint32_t classes,
                              ecs_tick tick) {
    const net_varsize_source* server = repl->server;
    for (uint32_t at = net_varsize_first(server, entity); at != NET_VARSIZE_NONE;
         at = server->values[at].next)
        enter(repl, at, classes, tick);
}

void net_varsize_sender_reclass(net_varsize_sender* repl, ecs_entity entity, uint32_t classes) {
    const net_varsize_source* server = repl->server;
    for (uint32_t at = net_varsize_first(server, entity); at != NET_VARSIZE_NONE;
         at = server->values[at].next) {
        net_varsize_record* record = find_record(repl, at);
        if (!record || !record->is_in_scope) continue;
        record->classes = (uint16_t)classes;
        look(repl, record);
    }
}

void net_varsize_sender_leave(net_varsize_sender* repl, ecs_entity entity) {
    const net_varsize_source* server = repl->server;
    for (uint32_t at = net_varsize_first(server, entity); at != NET_VARSIZE_NONE;
         at = server->values[at].next) {
        net_varsize_record* record = find_record(repl, at);
        if (record) record->is_in_scope = false;
    }
}

// ---- sending ----

static net_result send_record(net_varsize_sender* repl, net_varsize_record* record,
                              net_varsize_send_fn send, void* context) {
    net_varsize_source* server = repl->server;
    const net_varsize_value* value = &server->values[record->place];
    uint64_t stamp = wanted(value, record);
    net_varsize_message message = {
        .handle = value->handle,
        .number = value->number,
        .version = repl->version_last + 1,
        .since = record->since,
        .is_default = stamp == NET_VARSIZE_SENT_DEFAULT,
        .bytes = stamp == NET_VARSIZE_SENT_DEFAULT ? NULL : value->bytes,
        .size = stamp == NET_VARSIZE_SENT_DEFAULT ? 0 : value->size,
    };
    uint32_t bytes = message.size + NET_VARSIZE_FRAME_BYTES_MAX;
    if (repl->flight_bytes + bytes > NET_VARSIZE_FLIGHT_BYTES_MAX) return NET_ERR_FULL;
    net_result result = send(context, &message);
    if (result != NET_OK) return result;
    repl->version_last++;
    repl->flights[repl->flight_count++] = (net_varsize_flight){
        .version = message.version, .record = (uint32_t)(record - repl->records), .bytes = bytes};
    repl->flight_bytes += bytes;
    repl->credit -= bytes;
    record->flight = (uint8_t)repl->flight_count;
    record->version = message.version;
    record->sent = stamp;
    record->was_sent = true;
    server->counters.messages++;
    server->counters.bytes += message.size;
    return NET_OK;
}

void net_varsize_sender_publish(net_varsize_sender* repl, uint32_t allowance,
                                net_varsize_send_fn send, void* context) {
    net_varsize_spread(repl->server);
    repl->credit += allowance;
    if (repl->credit > CREDIT_MAX) repl->credit = CREDIT_MAX;
    uint32_t passed_over = 0;
    // Each once: what is passed over goes to the end.
    for (uint32_t left = repl->queue_count; left > 0; left--) {
        uint32_t at = repl->queue_first;
        net_varsize_record* record = &repl->records[at];
        if (record->place == NET_VARSIZE_NONE || record->flight || !is_due(repl, record)) {
            pop_queue(repl);
            if (record->place == NET_VARSIZE_NONE) free_record(repl, at);
            continue;
        }
        if (repl->credit <= 0 || repl->flight_count == NET_VARSIZE_FLIGHT_MAX) return;
        net_result result = send_record(repl, record, send, context);
        if (result != NET_OK && result != NET_ERR_STALE) return;
        pop_queue(repl);
        if (result == NET_OK) continue;
        push_queue(repl, at);
        if (++passed_over == PASSED_OVER_MAX) return;
    }
}

static void end_flight(net_varsize_sender* repl, uint32_t place) {
    net_varsize_flight ended = repl->flights[place];
    net_varsize_flight* last = &repl->flights[--repl->flight_count];
    if (ended.record != NET_VARSIZE_NONE) repl->records[ended.record].flight = 0;
    repl->flight_bytes -= ended.bytes;
    repl->flights[place] = *last;
    if (last->record != NET_VARSIZE_NONE && place < repl->flight_count)
        repl->records[last->record].flight = (uint8_t)(place + 1);
}

bool net_varsize_sender_ack(net_varsize_sender* repl, uint64_t version) {
    if (version == 0 || version > repl->version_last) return false;
    uint32_t place = 0;
    while (place < repl->flight_count && repl->flights[place].version != version)
        place++;
    if (place < repl->flight_count) {
        uint32_t at = repl->flights[place].record;
        end_flight(repl, place);
        repl->server->counters.acked++;
        if (at != NET_VARSIZE_NONE) look(repl, &repl->records[at]);
    }
    return true;
}

bool net_varsize_sender_lost(net_varsize_sender* repl, ecs_entity entity, uint32_t number,
                             uint64_t version) {
    const net_varsize_source* server = repl->server;
    if (version == 0 || version > repl->version_last) return false;
    for (uint32_t at = net_varsize_first(server, entity); at != NET_VARSIZE_NONE;
         at = server->values[at].next) {
        net_varsize_record* record = find_record(repl, at);
        if (!record || server->values[at].number != number || record->version != version) continue;
        record->sent = NET_VARSIZE_SENT_UNKNOWN;
        repl->server->counters.lost++;
        look(repl, record);
    }
    return true;
}

void net_varsize_sender_resume(net_varsize_sender* repl) {
    while (repl->flight_count > 0) {
        uint32_t at = repl->flights[0].record;
        end_flight(repl, 0);
        if (at == NET_VARSIZE_NONE) continue;
        repl->records[at].sent = NET_VARSIZE_SENT_UNKNOWN;
        look(repl, &repl->records[at]);
    }
}

bool net_varsize_sender_is_settled(const net_varsize_sender* repl) {
    if (repl->flight_count > 0 || repl->server->changed_count > 0) return false;
    for (uint32_t at = repl->queue_first; at != NET_VARSIZE_NONE; at = repl->records[at].queue_next)
        if (is_due(repl, &repl->records[at])) return false;
    return true;
}
