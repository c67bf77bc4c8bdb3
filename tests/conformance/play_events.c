// SPDX-License-Identifier: MIT
// WIRE.md, "Game events": reliable events in order, and each event when its entities are there.
#include "play.h"

#include <protobuf-c/protobuf-c.h>
#include <string.h>

enum { HOLD_TICKS = 120, BREAKOUT_CHEERED = 5 };

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

// The handle in a field of the message; 0: no entity.
static uint32_t named_by(const ProtobufCMessage* message, const message_row* row, uint32_t field) {
    if (!(row->handle_fields >> field & 1)) return 0;
    uint32_t handle;
    memcpy(&handle, (const uint8_t*)message + message->descriptor->fields[field].offset,
           sizeof handle);
    return handle;
}

static entity_state worse(entity_state a, entity_state b) {
    return a > b ? a : b;
}

// The server's answer to an event of this client.
static bool is_own(const game_client* client, const held_event* event,
                   const ProtobufCMessage* message) {
    uint32_t who = 0;
    if (strcmp(client->game->name, "breakout") == 0 && event->message == BREAKOUT_CHEERED + 1)
        memcpy(&who, (const uint8_t*)message + message->descriptor->fields[0].offset, sizeof who);
    return who != 0 && who == client->id;
}

static entity_state state_of(game_client* client, held_event* event) {
    bool is_late = ++event->waited > HOLD_TICKS;
    entity_state target = ENTITY_HERE, named = ENTITY_HERE;
    if (event->target) target = mirror_find(client->mirror, event->target, event->tick);
    if (target == ENTITY_TO_COME && is_late) target = ENTITY_GONE;
    if (event->message == 0 || target == ENTITY_GONE) return target;
    const message_row* row = &client->game->messages[event->message - 1];
    ProtobufCMessage* message =
        protobuf_c_message_unpack(row->descriptor, NULL, event->size, event->payload);
    if (!message) {
        fault(client, "an event that cannot be read");
        return ENTITY_GONE;
    }
    for (uint32_t f = 0; f < message->descriptor->n_fields && !event->is_alone; f++) {
        uint32_t handle = named_by(message, row, f);
        if (handle) named = worse(named, mirror_find(client->mirror, handle, event->tick));
    }
    if (named == ENTITY_TO_COME && is_late) named = ENTITY_GONE;
    if (named == ENTITY_GONE && row->is_without) named = ENTITY_HERE;
    entity_state state = worse(target, named);
    client->counts.own += state == ENTITY_HERE && is_own(client, event, message);
    protobuf_c_message_free_unpacked(message, NULL);
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
