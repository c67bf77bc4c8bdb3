// SPDX-License-Identifier: MIT
// Game events of a tick: from the world to the outboxes of the clients that may see them.
#include "server/server_events.h"

#include "replicate/repl_state.h"
#include "server/server_state.h"

#include "base/assert.h"
#include "net/match.h"
#include "net/match_messages.h"

#include <string.h>

void net_server_add_event(net_server* server, const ecs_event* event) {
    net_match* match = server->config.match;
    net_server_out* out = &server->out;
    uint32_t message = net_match_message_of(match, event->type);
    if (message == 0) return;
    const net_message* description =
        &net_match_get_config(match)->module->game->messages[message - 1];
    if (description->kind != NET_MESSAGE_TO_CLIENTS) return;
    void* events = out->events;
    if (!base_array_reserve(server->allocator, &events, &out->event_capacity, out->event_count + 1,
                            sizeof *out->events)) {
        net_server_drop(server, NET_DROP_EVENT_QUEUE, 1);
        return;
    }
    out->events = events;
    net_server_event* added = &out->events[out->event_count];
    size_t size;
    if (net_match_pack(match, message, event->payload, added->payload, sizeof added->payload,
                       &size) != NET_OK) {
        net_server_drop(server, NET_DROP_EVENT_LONG, 1);
        base_report(net_ration_take(&server->ration, NET_RATION_EVENT, server->now_us), NULL, 0,
                    "an event %s is longer than %u bytes: not sent", description->name,
                    NET_EVENT_PAYLOAD_BYTES_MAX);
        return;
    }
    added->message = message;
    added->is_reliable = description->is_reliable;
    added->target = event->target;
    added->size = (uint32_t)size;
    added->is_late = description->is_delivered_late;
    added->entity_count = net_match_entities_of(match, message, event->payload, added->entities);
    out->event_count++;
}

void net_server_mark_seen(net_server* server) {
    net_server_out* out = &server->out;
    uint32_t words = (out->event_count + 63) / 64;
    void* seen = out->seen;
    out->seen_words = 0;
    if (words == 0 || out->count == 0) return;
    if (!base_array_reserve(server->allocator, &seen, &out->seen_capacity, words * out->count,
                            sizeof *out->seen))
        return; // the events are not sent
    out->seen = seen;
    out->seen_words = words;
    memset(out->seen, 0, (size_t)words * out->count * sizeof *out->seen);
    const net_history* history = net_replicator_history(server->replicator);
    for (uint32_t e = 0; e < out->event_count; e++) {
        ecs_entity target = out->events[e].target;
        if (target == ECS_ENTITY_NONE) continue;
        const net_history_entity* entity = net_history_find(history, ecs_entity_index(target));
        if (entity && entity->handle == target) continue;
        for (uint32_t i = 0; i < out->count; i++) {
            if (net_repl_state_sees(out->sessions[i]->out.repl, target, NULL))
                out->seen[i * words + e / 64] |= UINT64_C(1) << e % 64;
        }
    }
}

static bool sees_all(const net_server_event* event, const net_repl_state* repl) {
    for (uint32_t i = 0; i < event->entity_count; i++)
        if (!net_repl_state_sees(repl, event->entities[i], NULL)) return false;
    return true;
}

static bool may_know(const net_server_out* out, uint32_t place, const net_repl_state* repl,
                     uint32_t e) {
    const net_server_event* event = &out->events[e];
    // The client could never deliver it: it would hold up later events.
    if (!event->is_late && !sees_all(event, repl)) return false;
    ecs_entity target = event->target;
    if (target == ECS_ENTITY_NONE || net_repl_state_sees(repl, target, NULL)) return true;
    return out->seen_words && (out->seen[place * out->seen_words + e / 64] >> e % 64 & 1);
}

void net_server_queue_events(net_server* server, uint32_t place) {
    BASE_ASSERT(place < server->out.count);
    net_session_out* to = &server->out.sessions[place]->out;
    for (uint32_t e = 0; e < server->out.event_count; e++) {
        const net_server_event* event = &server->out.events[e];
        if (!may_know(&server->out, place, to->repl, e)) {
            to->events_unseen++;
            continue;
        }
        bool is_alone = event->is_late && !sees_all(event, to->repl);
        if ((is_alone ? net_event_outbox_push_alone : net_event_outbox_push)(
                &to->outbox, event->is_reliable, event->message, server->out.tick, event->target,
                event->payload, event->size) == NET_OK)
            continue;
        to->events_refused++;
        if (event->is_reliable) to->has_failed = true;
    }
}
