// SPDX-License-Identifier: MIT
// WIRE.md, "Game events": reliable events in order, and each event when its entities are there.
#include "play.h"

#include <string.h>

enum { HOLD_TICKS = 120 };

void receive_event(game_client* client, const Shoal__Wire__GameEvent* event) {
    if (event->number != 0 && event->number != client->event_number + 1) return; // it arrives again
    bool is_known = event->message <= client->game->message_count;
    if (!is_known || event->payload.len > EVENT_BYTES_MAX) {
        fault(client, "an impossible event");
        return;
    }
    const message_row* row =
        event->message > 0 ? &client->game->messages[event->message - 1] : NULL;
    if ((row && row->kind != 2) || (event->number != 0) != (!row || row->is_reliable)) {
        fault(client, "an event in the wrong direction or way");
        return;
    }
    if (client->held_count == EVENTS_MAX) return; // a reliable one arrives again
    if (event->number != 0) client->event_number = event->number;
    held_event* held = &client->held[client->held_count++];
    *held = (held_event){.number = event->number,
                         .message = event->message,
                         .target = event->target,
                         .tick = event->tick,
                         .is_alone = event->is_alone,
                         .size = event->payload.len};
    if (event->payload.len > 0) memcpy(held->payload, event->payload.data, event->payload.len);
}

static void deliver_assigned(game_client* client, const held_event* event) {
    Shoal__Wire__PlayerAssigned* assigned =
        shoal__wire__player_assigned__unpack(NULL, event->size, event->payload);
    if (!assigned) {
        fault(client, "a PlayerAssigned that cannot be read");
        return;
    }
    client->entity = assigned->entity;
    shoal__wire__player_assigned__free_unpacked(assigned, NULL);
}

static entity_state worse(entity_state a, entity_state b) {
    return a > b ? a : b;
}

// The server's answer to an event of this client.
static bool is_own(const game_client* client, const message_row* row, const held_event* event) {
    uint64_t who;
    return strcmp(row->name, "Cheered") == 0 &&
           message_read(row, event->payload, event->size, "client", &who) && who == client->id;
}

static entity_state state_of(game_client* client, held_event* event) {
    bool is_late = ++event->waited > HOLD_TICKS;
    entity_state target = ENTITY_HERE, named = ENTITY_HERE;
    if (event->target) target = mirror_find(client->mirror, event->target, event->tick);
    if (target == ENTITY_TO_COME && is_late) target = ENTITY_GONE;
    if (event->message == 0 || target == ENTITY_GONE) return target;
    const message_row* row = &client->game->messages[event->message - 1];
    for (const json* at = row->entities; at && !event->is_alone; at = at->next) {
        uint64_t handle;
        if (strcmp(json_text(at, "kind"), "entity") != 0) continue;
        if (!message_read(row, event->payload, event->size, json_text(at, "name"), &handle)) {
            fault(client, "an event that cannot be read");
            return ENTITY_GONE;
        }
        if (handle)
            named = worse(named, mirror_find(client->mirror, (uint32_t)handle, event->tick));
    }
    if (named == ENTITY_TO_COME && is_late) named = ENTITY_GONE;
    if (named == ENTITY_GONE && row->is_without) named = ENTITY_HERE;
    entity_state state = worse(target, named);
    client->counts.own += state == ENTITY_HERE && is_own(client, row, event);
    return state;
}

void release_events(game_client* client) {
    uint32_t kept = 0;
    bool is_waiting = false; // a reliable event waits
    for (uint32_t i = 0; i < client->held_count; i++) {
        held_event* event = &client->held[i];
        bool is_behind = event->number != 0 && is_waiting;
        entity_state state = is_behind ? ENTITY_TO_COME : state_of(client, event);
        if (state == ENTITY_TO_COME) {
            is_waiting |= event->number != 0;
            if (kept != i) client->held[kept] = *event;
            kept++;
            continue;
        }
        client->counts.events += state == ENTITY_HERE;
        client->counts.events_dropped += state == ENTITY_GONE;
        if (state == ENTITY_HERE && event->message == 0) deliver_assigned(client, event);
    }
    client->held_count = kept;
}
