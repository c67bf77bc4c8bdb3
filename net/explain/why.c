// SPDX-License-Identifier: MIT
// Why a client has an entity or not: what interest, the client's replication state and its session
// say, in one answer; only scratch is written.
#include "explain/explain.h"

#include "replicate/repl_state.h"
#include "state/varsize.h"

#include "net/match.h"

#include "base/assert.h"

#include <string.h>

const char* net_rule_name(net_rule rule) {
    static const char* const names[] = {"replicated", "player", "owner", "always",   "everywhere",
                                        "groups",     "range",  "stay",  "together", "relevance"};
    _Static_assert(sizeof names / sizeof *names == NET_RULE_COUNT, "a rule has no name");
    BASE_ASSERT((uint32_t)rule < NET_RULE_COUNT);
    return names[rule];
}

const char* net_rule_answer_name(net_rule_answer answer) {
    static const char* const names[] = {"unused", "silent", "shows", "hides"};
    _Static_assert(sizeof names / sizeof *names == NET_RULE_HIDES + 1, "an answer has no name");
    BASE_ASSERT((uint32_t)answer <= NET_RULE_HIDES);
    return names[answer];
}

const char* net_has_name(net_has has) {
    static const char* const names[] = {"not",  "create waits",  "create sent",
                                        "live", "destroy waits", "destroy sent"};
    _Static_assert(sizeof names / sizeof *names == NET_HAS_COUNT, "a state has no name");
    BASE_ASSERT((uint32_t)has < NET_HAS_COUNT);
    return names[has];
}

const char* net_held_text(net_held held) {
    static const char* const texts[] = {
        [NET_HELD_NOT] = "The newest packet has it.",
        [NET_HELD_SCOPE] = "It is not in the client's scope.",
        [NET_HELD_NOTHING] = "Nothing of it waits: the client has all, or it is on its way.",
        [NET_HELD_CREATE] = "Its creation is on its way, and is sent again only when it is lost.",
        [NET_HELD_FLYING] = "As many unanswered packets as may be have it.",
        [NET_HELD_LATER] = "It waits since after the newest packet.",
        [NET_HELD_BUDGET] = "The packets of the tick were full of more urgent entities.",
        [NET_HELD_RATE] = "The client's rate held packets back.",
        [NET_HELD_TURN] = "This client gets packets at other ticks.",
        [NET_HELD_AWAY] = "The client's connection is lost.",
        [NET_HELD_DEAF] = "The client acknowledges nothing, so it gets a packet now and then.",
    };
    _Static_assert(sizeof texts / sizeof *texts == NET_HELD_COUNT, "a reason has no text");
    BASE_ASSERT((uint32_t)held < NET_HELD_COUNT);
    return texts[held];
}

net_session* net_explain_find_session(const net_server* server, uint32_t client) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (session && session->client == client && session->out.repl &&
            net_session_is_in_match(session))
            return session;
    }
    return NULL;
}

// What waits and was not held by its replication state: what the session says of its packets.
static net_held held_by_session(const net_server* server, const net_session* session,
                                const net_explanation* out) {
    const net_session_out* of = &session->out;
    if (session->state == NET_SESSION_AWAY) return NET_HELD_AWAY;
    if (out->newest_packet_tick == out->tick)
        return net_rate_left(&of->rate) > NET_FURTHER_BYTES_MIN ? NET_HELD_BUDGET : NET_HELD_RATE;
    if (of->summary.is_deaf) return NET_HELD_DEAF;
    if (server->send_divisor > 1 &&
        out->tick % server->send_divisor != session->client % server->send_divisor)
        return NET_HELD_TURN;
    return NET_HELD_RATE;
}

static void explain_varsizes(const net_session* session, net_explanation* out) {
    for (uint32_t i = 0; out->has != NET_HAS_NOT && i < out->component_count; i++) {
        net_explained_component* to = &out->components[i];
        if (!to->is_varsize || !to->is_visible) continue;
        net_varsize_sender_explain(session->out.varsize, out->entity, to->component, &to->waits,
                                   &to->is_unconfirmed);
    }
}

bool net_server_explain(net_server* server, uint32_t client, ecs_entity entity,
                        net_explanation* explanation) {
    net_server_collect(server);
    const net_session* session = net_explain_find_session(server, client);
    if (!session || net_repl_state_is_broken(session->out.repl)) return false;
    const ecs_world* world = net_match_world(server->config.match);
    net_explanation* out = explanation;
    memset(out, 0, sizeof *out);
    out->client = client;
    out->entity = entity;
    out->tick = net_replicator_tick(server->replicator);
    out->template_name = ecs_entity_template_name(world, entity);
    net_repl_state_explain(session->out.repl, out);
    net_interest_explain(server->interest, world, out);
    explain_varsizes(session, out);
    if (out->held == NET_HELD_BUDGET) out->held = held_by_session(server, session, out);
    return true;
}
