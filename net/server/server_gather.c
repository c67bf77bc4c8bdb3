// SPDX-License-Identifier: MIT
// What comes into a tick, in the order of the log: leaves, joins, then for each session its events
// and its input.
#include "game/match.h"
#include "server/server_state.h"

#include "replicate/repl_state.h"

#include "ecs/inspect.h"

#include "base/assert.h"

#include <string.h>

// By client number: slots are reused in any order.
uint32_t net_server_list_sessions(net_server* server,
                                  bool (*is_listed)(const net_session* session)) {
    uint32_t count = 0;
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        if (!is_listed(session)) continue;
        uint32_t place = count++;
        for (; place > 0 && server->joining[place - 1]->client > session->client; place--)
            server->joining[place] = server->joining[place - 1];
        server->joining[place] = session;
    }
    return count;
}

static void gather_leaves(net_server* server, net_tick_inputs* begin) {
    for (net_session* session = NULL; begin->leave_count < NET_LEAVES_PER_TICK &&
                                      (session = net_server_next(server, session));) {
        if (!session->must_leave_match) continue;
        BASE_ASSERT(session->state == NET_SESSION_FREE || session->state == NET_SESSION_CLOSING);
        server->leaves[begin->leave_count++] =
            (net_tick_leave){.client = session->client, .reason = (uint32_t)session->end};
        session->must_leave_match = false;
    }
    const net_match* match = server->config.match;
    for (uint32_t i = match->player_count;
         server->homeless > 0 && i-- > 0 && begin->leave_count < NET_LEAVES_PER_TICK;) {
        if (!match->players[i].is_homeless) continue;
        match->players[i].is_homeless = false;
        server->homeless--;
        server->leaves[begin->leave_count++] =
            (net_tick_leave){.client = match->players[i].client, .reason = NET_END_EVICTED};
    }
    begin->leaves = server->leaves;
}

static bool is_accepted(const net_session* session) {
    return session->state == NET_SESSION_ACCEPTED && !session->is_spectator;
}

static bool has_joined_enough(const net_session* const* joined, uint32_t count, uint64_t origin) {
    uint32_t same = 0;
    for (uint32_t i = 0; origin != 0 && i < count; i++)
        same += joined[i]->origin == origin;
    return same >= NET_JOINS_PER_ADDRESS_PER_TICK;
}

bool net_server_has_unadmitted(const net_server* server) {
    bool has_some = false;
    net_game_player player;
    for (const net_session* session = NULL; (session = net_server_next(server, session));) {
        has_some |= is_accepted(session) && !net_session_is_admitted(server, session, &player);
    }
    return has_some;
}

static void gather_joins(net_server* server, net_tick_inputs* begin) {
    const uint32_t waiting = net_server_list_sessions(server, is_accepted);
    // No client waits for the first tick of a match.
    const uint32_t allowed = begin->tick == 1 ? UINT32_MAX : NET_JOINS_PER_TICK;
    for (uint32_t i = 0; i < waiting && begin->join_count < allowed; i++) {
        net_session* session = server->joining[i];
        const net_session* const* joined = (const net_session* const*)server->joining;
        net_game_player player;
        // Numbers rise, so those behind wait, too.
        if (has_joined_enough(joined, begin->join_count, session->origin) ||
            !net_session_is_admitted(server, session, &player))
            break;
        net_session_set_state(server, session, NET_SESSION_PLAYING, "joined");
        session->received_us = session->joined_us = server->now_us;
        BASE_ASSERT(session->client != 0 && !session->out.repl);
        // The first places are the joined ones: each is at or after its place.
        server->joining[begin->join_count] = session;
        server->joins[begin->join_count++] = player;
        server->counters.joins++;
        net_session_report_joined(server, session);
    }
    server->counters.joins_waited += waiting - begin->join_count;
    begin->joins = server->joins;
}

// Room for the events of one more client.
static void reserve_events(net_server* server, uint32_t count) {
    BASE_ARRAY_RESERVE(server->allocator, server->events, server->event_capacity,
                       count + NET_CLIENT_EVENTS_PER_TICK_MAX + NET_SIGHTS_PER_TICK_MAX);
}

static void gather_events(net_server* server, net_session* session, net_tick_inputs* begin) {
    if (session->inbox.line.count == 0) return;
    reserve_events(server, begin->event_count);
    const ecs_world* world = net_match_world(server->config.match);
    for (uint32_t i = 0; i < NET_CLIENT_EVENTS_PER_TICK_MAX; i++) {
        const net_event* event = net_event_inbox_next(&session->inbox, world);
        if (!event) break;
        BASE_ASSERT(begin->event_count < server->event_capacity);
        server->events[begin->event_count++] = (net_tick_event){.client = session->client,
                                                                .message = event->message,
                                                                .target = event->target,
                                                                .number = event->number,
                                                                .payload = event->payload,
                                                                .size = event->size};
    }
}

// What its client sees now, as events that the server sends for it. They are about its player.
static void gather_sights(net_server* server, net_session* session, net_tick_inputs* begin) {
    net_match* match = server->config.match;
    net_sights* sights = &session->sights;
    if (sights->count == 0 || net_match_player(match, session->client) != session->sight_player)
        return;
    reserve_events(server, begin->event_count);
    uint32_t taken = 0;
    for (; taken < sights->count && taken < NET_SIGHTS_PER_TICK_MAX; taken++) {
        base_bytes* bytes = &server->sight_bytes;
        const size_t at = bytes->size;
        size_t size;
        const net_result result = net_match_pack_sight(
            match, &sights->items[taken], base_bytes_extend(bytes, NET_EVENT_PAYLOAD_BYTES_MAX),
            NET_EVENT_PAYLOAD_BYTES_MAX, &size);
        bytes->size = result == NET_OK ? at + size : at;
        if (result != NET_OK) continue; // the module's message refuses its own event
        server->events[begin->event_count++] = (net_tick_event){
            .client = session->client, .message = match->sight_message, .size = (uint32_t)size};
    }
    sights->count -= taken;
    memmove(sights->items, sights->items + taken, sights->count * sizeof *sights->items);
}

// Repeats and rests are records like any other, so that a re-run does the same.
static void gather_input(net_server* server, net_session* session, net_tick_inputs* begin) {
    BASE_ASSERT(begin->input_count < server->session_count);
    static const uint8_t defaults[1] = {0};
    uint32_t repeat_ticks_max = (uint32_t)(NET_INPUT_REPEAT_MS_MAX * 1000u / server->tick_us);
    if (repeat_ticks_max == 0) repeat_ticks_max = 1;
    const net_input* input;
    net_input_turn turn = net_input_queue_take(&session->inputs, repeat_ticks_max, &input);
    net_tick_input* given = &server->inputs[begin->input_count];
    *given = (net_tick_input){.client = session->client};
    switch (turn) {
    case NET_INPUT_NONE:
        return;
    case NET_INPUT_NEXT:
        given->number = input->number;
        given->payload = input->payload;
        given->size = input->size;
        given->seen = input->seen;
        break;
    case NET_INPUT_AGAIN:
        break;
    case NET_INPUT_REST:
        // A module may refuse even defaults: then there is nothing to rest on.
        if (net_match_input_check(server->config.match, defaults, 0) != NET_OK) return;
        given->payload = defaults;
        break;
    }
    begin->input_count++;
}

void net_server_gather(net_server* server, net_tick_inputs* begin) {
    BASE_ASSERT(server && begin && begin->tick != 0);
    base_bytes_clear(&server->sight_bytes);
    gather_leaves(server, begin);
    gather_joins(server, begin);
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        if (!net_session_has_player(session)) continue;
        gather_events(server, session, begin);
        gather_sights(server, session, begin);
        gather_input(server, session, begin);
    }
    // The bytes of sights do not move any more.
    for (uint32_t i = 0, at = 0; i < begin->event_count; i++) {
        net_tick_event* event = &server->events[i];
        if (event->payload) continue;
        event->payload = server->sight_bytes.data + at;
        at += event->size;
    }
    begin->events = server->events;
    begin->inputs = server->inputs;
}

// Spectators: sessions without a player.
//
// The match does not know them: they are in no roster and no log, and their numbers are none of a
// player's. So a match goes through the same states with and without them, and its log runs again.
// What they may cost is counted apart from players: places, and solo code, which they get on
// request of the operator only. In each tick players come first: in the first scopes of new clients
// (server_tick.c admits by number), and in what is sent.
//
// Each watches one player and sees what that player sees: its scope, its classes, its entity as
// "mine". In a game without rules of interest that is everything.

static bool is_new(const net_session* session) {
    return session->state == NET_SESSION_ACCEPTED && session->is_spectator;
}

void net_spectators_begin(net_server* server) {
    if (server->counters.spectators == 0) return;
    const uint32_t waiting = net_server_list_sessions(server, is_new);
    for (uint32_t i = 0; i < waiting && i < NET_JOINS_PER_TICK; i++) {
        net_session* session = server->joining[i];
        net_session_set_state(server, session, NET_SESSION_PLAYING, "watches");
        session->received_us = session->joined_us = server->now_us;
        net_session_report_joined(server, session);
        net_interest_add_client(server->interest, session->client);
        net_interest_hold(server->interest, session->client, true);
    }
}

static bool is_there(const net_server* server, uint32_t client) {
    return client != 0 && net_match_player_name(server->config.match, client) != NULL;
}

void net_spectator_follow(net_server* server, const net_session* session) {
    BASE_ASSERT(session->is_spectator && session->client >= NET_SPECTATOR_FIRST);
    net_interest_follow(server->interest, session->client,
                        is_there(server, session->watched) ? session->watched : session->client);
}

ecs_entity net_spectator_player(net_server* server, net_session* session) {
    // Each change gathers a scope again, so they are rationed: the newest wish counts.
    if (session->watch_wanted != session->watched &&
        (session->watch_us == 0 ||
         net_server_is_older(server, session->watch_us, NET_WATCH_MS_MIN))) {
        session->watched = session->watch_wanted;
        session->watch_us = server->now_us ? server->now_us : 1;
    }
    net_spectator_follow(server, session);
    if (!is_there(server, session->watched)) return ECS_ENTITY_NONE;
    return net_match_player(server->config.match, session->watched);
}

// Game events of a tick: from the world to the outboxes of the clients that may see them.

// The message of an event to clients; NULL: it is none.
static const net_message* find_message(const net_server* server, ecs_event_type type,
                                       uint32_t* message) {
    net_match* match = server->config.match;
    *message = net_match_message_of(match, type);
    if (*message == 0) return NULL;
    const net_message* found = &net_match_get_config(match)->module->game->messages[*message - 1];
    return found->kind == NET_MESSAGE_TO_CLIENTS ? found : NULL;
}

// Said once for each type.
void net_server_count_gone(net_server* server, ecs_event_type type, uint64_t count) {
    uint32_t message;
    if (count == 0 || !find_message(server, type, &message)) return;
    net_server_drop(server, NET_DROP_EVENT_GONE, count);
    uint64_t* said = &server->gone_said[(type - 1) / 64];
    const uint64_t bit = UINT64_C(1) << (type - 1) % 64;
    if (*said & bit) return;
    *said |= bit;
    const ecs_world* world = net_match_world(server->config.match);
    const char* sender = ecs_inspect_sender(world, type);
    base_report(server->config.reporter, NULL, NET_FOUND_UNSENT,
                "warning: event %s%s%s is about an entity that died in the same tick: no client "
                "gets it; broadcast it, and mark it late if a field of it names the entity",
                ecs_event_get(world, type)->name, sender ? " of system " : "",
                sender ? sender : "");
}

void net_server_add_event(net_server* server, const ecs_event* event) {
    net_match* match = server->config.match;
    net_server_out* out = &server->out;
    uint32_t message;
    const net_message* description = find_message(server, event->type, &message);
    if (!description) return;
    BASE_ARRAY_RESERVE(server->allocator, out->events, out->event_capacity, out->event_count + 1);
    net_server_event* added = &out->events[out->event_count];
    const size_t at = out->event_bytes.size;
    size_t size;
    const net_result result =
        net_match_pack(match, message, event->payload,
                       base_bytes_extend(&out->event_bytes, NET_EVENT_PAYLOAD_BYTES_MAX),
                       NET_EVENT_PAYLOAD_BYTES_MAX, &size);
    out->event_bytes.size = result == NET_OK ? at + size : at;
    if (result != NET_OK) {
        net_server_drop(server, NET_DROP_EVENT_LONG, 1);
        base_report(net_ration_take(&server->ration, NET_RATION_EVENT, server->now_us), NULL,
                    NET_FOUND_UNSENT, "warning: a message is not sent: %s",
                    net_match_refusal(match));
        return;
    }
    added->message = message;
    added->is_reliable = description->is_reliable;
    added->target = event->target;
    added->at = (uint32_t)at;
    added->size = (uint32_t)size;
    added->is_late = description->is_delivered_late;
    BASE_ARRAY_RESERVE(server->allocator, out->event_entities, out->event_entity_capacity,
                       out->event_entity_count + NET_EVENT_ENTITIES_MAX);
    added->entities_at = out->event_entity_count;
    ecs_entity* entities = out->event_entities + added->entities_at;
    added->entity_count = net_match_entities_of(match, message, event->payload, entities);
    out->event_entity_count += added->entity_count;
    // Does all live that an event is about?
    bool lives =
        added->target == ECS_ENTITY_NONE || ecs_is_alive(net_match_world(match), added->target);
    for (uint32_t i = 0; i < added->entity_count && lives && !added->is_late; i++)
        lives = ecs_is_alive(net_match_world(match), entities[i]);
    // A client drops it when it learns that, mostly in the same packet.
    if (!lives) net_server_count_gone(server, event->type, 1);
    out->event_count++;
    if (server->is_recalling && added->is_reliable) net_server_keep_event(server, added);
}

// Finding a slot by its index costs as much as looking at this many slots.
enum { SLOTS_PER_SEARCH = 12 };

static uint32_t* chain_of(net_server_out* out, ecs_entity target) {
    return &out->chains[ecs_entity_index(target) % NET_EVENT_CHAINS];
}

void net_server_mark_seen(net_server* server) {
    net_server_out* out = &server->out;
    const net_history* history = server->replicator->history;
    const uint32_t words = (out->event_count + 63) / 64, end = history->capacity;
    out->seen_words = 0;
    if (words == 0 || out->count == 0) return;
    // Room for what is known of targets; of every index of the history.
    BASE_ARRAY_RESERVE(server->allocator, out->seen, out->seen_capacity, words * out->count);
    BASE_ARRAY_RESERVE(server->allocator, out->marks, out->mark_capacity, end);
    out->seen_words = words;
    memset(out->seen, 0, (size_t)words * out->count * sizeof *out->seen);
    memset(out->marks, 0, out->mark_capacity);
    memset(out->chains, 0, sizeof out->chains);
    for (uint32_t e = 0; e < out->event_count; e++) {
        const ecs_entity target = out->events[e].target;
        out->events[e].next = *chain_of(out, target);
        *chain_of(out, target) = e + 1;
        if (target == ECS_ENTITY_NONE) continue;
        if (ecs_entity_index(target) < end) out->marks[ecs_entity_index(target)] = 1;
        const net_history_entity* entity = net_history_find(history, ecs_entity_index(target));
        if (entity && entity->handle == target) continue;
        for (uint32_t i = 0; i < out->count; i++) {
            if (net_repl_state_sees(out->sessions[i]->out.repl, target, NULL))
                out->seen[i * words + e / 64] |= UINT64_C(1) << e % 64;
        }
    }
}

static void add_events_of(net_server_out* out, ecs_entity target, uint64_t* seen) {
    for (uint32_t e = *chain_of(out, target); e != 0; e = out->events[e - 1].next)
        if (out->events[e - 1].target == target) seen[(e - 1) / 64] |= UINT64_C(1) << (e - 1) % 64;
}

// A client sees few of many targets. So the slots of the client are looked through for targets,
// and not the targets for slots.
static bool add_seen(net_server_out* out, uint32_t place, const net_repl_state* repl) {
    if (out->seen_words == 0 || out->event_count * SLOTS_PER_SEARCH < repl->member_count)
        return false;
    uint64_t* seen = &out->seen[(size_t)place * out->seen_words];
    ecs_entity found[64];
    add_events_of(out, ECS_ENTITY_NONE, seen);
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        const uint32_t count = net_repl_state_list_marked(repl, w, out->marks, found);
        for (uint32_t i = 0; i < count; i++)
            add_events_of(out, found[i], seen);
    }
    return true;
}

static bool sees_all(const net_server_out* out, const net_server_event* event,
                     const net_repl_state* repl) {
    for (uint32_t i = 0; i < event->entity_count; i++)
        if (!net_repl_state_sees(repl, out->event_entities[event->entities_at + i], NULL))
            return false;
    return true;
}

// `is_known`: all that the client sees is in `seen`.
static bool may_know(const net_server_out* out, uint32_t place, const net_repl_state* repl,
                     uint32_t e, bool is_known) {
    const net_server_event* event = &out->events[e];
    if (!(out->seen_words && (out->seen[place * out->seen_words + e / 64] >> e % 64 & 1)) &&
        (is_known ||
         (event->target != ECS_ENTITY_NONE && !net_repl_state_sees(repl, event->target, NULL))))
        return false;
    // The client could never deliver it: it would hold up later events.
    return event->is_late || sees_all(out, event, repl);
}

void net_server_queue_events(net_server* server, uint32_t place) {
    BASE_ASSERT(place < server->out.count);
    net_session_out* to = &server->out.sessions[place]->out;
    const bool is_known = add_seen(&server->out, place, to->repl);
    uint32_t unseen = 0;
    for (uint32_t e = 0; e < server->out.event_count; e++) {
        const net_server_event* event = &server->out.events[e];
        if (!may_know(&server->out, place, to->repl, e, is_known)) {
            unseen++;
            continue;
        }
        bool is_alone = event->is_late && !sees_all(&server->out, event, to->repl);
        if (net_event_outbox_push(&to->outbox, event->is_reliable, is_alone, event->message,
                                  server->out.tick, event->target,
                                  server->out.event_bytes.data + event->at, event->size) == NET_OK)
            continue;
        to->events_refused++;
        if (!event->is_reliable) continue;
        to->has_failed = true;
        if (to->outbox.reliable.count == NET_EVENTS_RELIABLE_MAX)
            to->event_refused = event->message;
    }
    to->events_unseen += unseen;
}
