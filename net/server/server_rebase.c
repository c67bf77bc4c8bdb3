// SPDX-License-Identifier: MIT
// Players that come from another server of the match. The world is the same, since it was made of
// the same inputs; what the other server knew of its clients is not. So a client says in its hello
// what it has, and gets everything in its scope again: as rows without a base, and as values, also
// those that are default. Its entities stay meanwhile (mirror/mirror.c).
//
// Reliable events that it does not have are sent again. They were numbered by the other server, so
// tick and count name the last one that came. Here they wait in one queue for all clients, since
// which of them a client may see is known only when its scope is.
#include "server/server_state.h"

#include "replicate/repl_state.h"
#include "state/varsize.h"

#include "base/assert.h"

// The oldest entries are evicted.
void net_server_keep_event(net_server* server, const net_server_event* event) {
    net_event_outbox* recent = &server->recent;
    if (recent->reliable.count == NET_EVENTS_RELIABLE_MAX)
        (void)net_event_outbox_acked(recent, recent->number_next - recent->reliable.count);
    if (net_event_outbox_push(recent, true, false, event->message,
                              net_match_tick(server->config.match), event->target,
                              server->out.event_bytes.data + event->at, event->size) != NET_OK)
        net_server_drop(server, NET_DROP_EVENT_QUEUE, 1);
}

// May the client get this event now? `is_alone`: without the entities in its payload.
static bool may_get(net_server* server, const net_repl_state* repl, const net_event* event,
                    bool* is_alone) {
    net_event_needs needs;
    *is_alone = false;
    if (event->target != ECS_ENTITY_NONE && !net_repl_state_sees(repl, event->target, NULL))
        return false;
    net_event_needs_of(server->config.match, event->message, event->payload, event->size, &needs);
    for (uint32_t i = 0; i < needs.count; i++)
        *is_alone |= !net_repl_state_sees(repl, needs.entities[i], NULL);
    return !*is_alone || needs.is_late;
}

// Those after the one that came last. One that the client cannot get any more is counted.
static bool send_missing(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    uint32_t known = session->memory.events;
    for (net_event* event = NULL; (event = net_event_line_next(&server->recent.reliable, event));) {
        if (event->tick < session->memory.event_tick) continue;
        bool is_alone;
        if (!may_get(server, out->repl, event, &is_alone)) {
            out->events_unseen++;
            continue;
        }
        if (event->tick == session->memory.event_tick && known > 0) {
            known--;
            continue;
        }
        if (net_event_outbox_push(&out->outbox, true, is_alone, event->message, event->tick,
                                  event->target, event->payload, event->size) != NET_OK)
            return false;
    }
    return true;
}

bool net_session_begin_rebase(net_server* server, net_session* session) {
    BASE_ASSERT(session->is_rebasing && session->out.repl && session->out.varsize);
    net_rate_go_on(&session->out.rate, session->memory.rate_bytes / 2);
    net_repl_state_await(session->out.repl);
    return send_missing(server, session);
}

void net_session_send_rebased(net_server* server, net_session* session) {
    Shoal__Wire__Rebased rebased = SHOAL__WIRE__REBASED__INIT;
    rebased.tick = net_match_tick(server->config.match);
    (void)net_session_send_control(server, session, &rebased.base);
}

void net_server_end_rebases(net_server* server) {
    if (!server->is_recalling) return;
    bool is_left = server->config.is_following; // its players may come later
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        if (!net_session_is_in_match(session)) continue;
        is_left |= session->is_expected && session->is_renewed && !session->received.has_any;
        if (!session->is_rebasing) continue;
        is_left = true;
        if (session->state != NET_SESSION_PLAYING || !session->out.repl ||
            net_repl_state_is_awaiting(session->out.repl))
            continue;
        session->is_rebasing = false;
        session->was_rebased = true;
        net_varsize_sender_end_rebase(session->out.varsize);
        net_session_send_rebased(server, session);
    }
    server->is_recalling = is_left;
    if (!is_left) (void)net_event_outbox_acked(&server->recent, server->recent.number_next - 1);
}
