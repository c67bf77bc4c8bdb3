// SPDX-License-Identifier: MIT
// The game's messages: what is sent is filled field by field; what came waits in a ring until it is
// asked for, and the oldest is evicted.
#include "library.h"

#include "base/assert.h"
#include "ecs/ecs.h"
#include "net/match.h"

#include <string.h>

void library_messages_open(library_messages* messages, net_match* match,
                           const base_allocator* allocator) {
    const net_game_module* game = net_match_get_config(match)->module->game;
    ecs_world* world = net_match_world(match);
    library_message* list =
        base_allocate_zero(allocator, (game->message_count + 1) * sizeof(library_message));
    messages->list = list;
    messages->count = game->message_count;
    messages->table = game->messages;
    for (uint32_t i = 0; i < game->message_count; i++) {
        list[i].type = ecs_event_find(world, game->messages[i].event);
        const ecs_event_desc* desc = ecs_event_get(world, list[i].type);
        if (desc) list[i].shape = (shoal_shape){.fields = desc->fields, .count = desc->field_count};
    }
}

void library_messages_close(library_messages* messages, const base_allocator* allocator) {
    base_release(allocator, messages->list, (messages->count + 1) * sizeof *messages->list);
    memset(messages, 0, sizeof *messages);
}

static void keep(library_messages* messages, uint32_t message, const ecs_event* event,
                 uint64_t tick) {
    if (messages->event_end - messages->event_first == LIBRARY_EVENTS_MAX) {
        messages->event_first++;
        messages->events_lost++;
    }
    library_event* kept = &messages->events[messages->event_end % LIBRARY_EVENTS_MAX];
    kept->message = message;
    kept->target = event->target;
    kept->tick = tick;
    BASE_ASSERT(message <= messages->count && event->size <= sizeof kept->payload);
    memcpy(kept->payload, event->payload, event->size);
    messages->event_end++;
}

void library_messages_gather(library_messages* messages, net_match* match) {
    const ecs_changes changes = ecs_changes_get(net_match_world(match));
    for (uint32_t i = 0; i < changes.event_count; i++) {
        const ecs_event* event = &changes.events[i];
        for (uint32_t m = 0; m < messages->count; m++) {
            if (messages->list[m].type != event->type ||
                messages->table[m].kind != NET_MESSAGE_TO_CLIENTS)
                continue;
            keep(messages, m + 1, event, net_match_tick(match));
            break;
        }
    }
}

// The message of this number; NULL: there is none.
static library_message* find_message(const shoal_client* client, uint32_t message) {
    if (!client || !client->messages.list || message == 0 || message > client->messages.count)
        return NULL;
    return &client->messages.list[message - 1];
}

uint32_t shoal_client_message_count(const shoal_client* client) {
    return client ? client->messages.count : 0;
}

const char* shoal_client_message_name(const shoal_client* client, uint32_t message) {
    return find_message(client, message) ? client->messages.table[message - 1].name : NULL;
}

uint32_t shoal_client_message(const shoal_client* client, const char* name) {
    for (uint32_t i = 1; name && i <= shoal_client_message_count(client); i++)
        if (strcmp(shoal_client_message_name(client, i), name) == 0) return i;
    return 0;
}

int32_t shoal_client_message_kind(const shoal_client* client, uint32_t message) {
    return find_message(client, message) ? (int32_t)client->messages.table[message - 1].kind : -1;
}

const shoal_shape* shoal_client_message_shape(const shoal_client* client, uint32_t message) {
    const library_message* found = find_message(client, message);
    return found ? &found->shape : NULL;
}

int32_t shoal_client_set(shoal_client* client, uint32_t message, int32_t field,
                         const double* values, uint32_t count) {
    library_message* found = find_message(client, message);
    if (!found || shoal_client_message_kind(client, message) == SHOAL_TO_CLIENTS)
        return SHOAL_ERR_UNKNOWN;
    return library_field_write(&found->shape, field, found->payload, values, count)
               ? SHOAL_OK
               : SHOAL_ERR_UNKNOWN;
}

int32_t shoal_client_send(shoal_client* client, uint32_t message) {
    library_message* found = find_message(client, message);
    if (!found || shoal_client_message_kind(client, message) != SHOAL_TO_SERVER)
        return SHOAL_ERR_UNKNOWN;
    if (!client->session || client->end != SHOAL_END_NONE) return SHOAL_ERR_CLOSED;
    const net_result result = net_client_send_event(client->session, message, found->payload);
    if (result == NET_OK) memset(found->payload, 0, sizeof found->payload);
    return (int32_t)result;
}

uint32_t shoal_client_next_event(shoal_client* client) {
    if (!client || client->messages.event_first == client->messages.event_end) return 0;
    library_messages* messages = &client->messages;
    messages->current = messages->events[messages->event_first++ % LIBRARY_EVENTS_MAX];
    return messages->current.message;
}

uint64_t shoal_client_event_tick(const shoal_client* client) {
    return client ? client->messages.current.tick : 0;
}

shoal_entity shoal_client_event_target(const shoal_client* client) {
    return client ? client->messages.current.target : 0;
}

uint32_t shoal_client_event_read(const shoal_client* client, int32_t field, double* values,
                                 uint32_t capacity) {
    if (!client) return 0;
    const library_event* event = &client->messages.current;
    return library_field_read(shoal_client_message_shape(client, event->message), field,
                              event->payload, values, capacity);
}
