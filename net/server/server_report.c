// SPDX-License-Identifier: MIT
// What an operator can read of a server: peer reports, counters, drops, the clients that are here,
// the parts of a tick.
#include "replicate/repl_state.h"

#include "server/server_state.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

void net_server_dropped(net_server* server, uint64_t dropped[NET_DROP_COUNT]) {
    net_server_collect(server);
    memcpy(dropped, server->counters.dropped, sizeof server->counters.dropped);
    dropped[NET_DROP_VARSIZE_LONG] += net_varsize_source_get_counters(server->varsize)->values_long;
    for (const net_session* session = NULL; (session = net_server_next(server, session));)
        if (session->state != NET_SESSION_FREE && session->end == NET_END_NONE)
            net_session_add_dropped(session, dropped);
}

uint32_t net_server_report_count(const net_server* server) {
    return server->report_count;
}

const net_peer_report* net_server_report(const net_server* server, uint32_t index) {
    BASE_ASSERT(index < server->report_count);
    return &server->reports[index];
}

const net_server_counters* net_server_get_counters(const net_server* server) {
    return &server->counters;
}

const uint64_t* net_server_get_times(const net_server* server) {
    return server->part_us;
}

const char* net_part_name(net_part part) {
    static const char* const names[NET_PART_COUNT] = {"gather",  "step", "collect",
                                                      "session", "rows", "send"};
    BASE_ASSERT(part < NET_PART_COUNT);
    return names[part];
}

static void fill_scope(const net_server* server, const net_session* session,
                       net_live_peer* report) {
    const net_repl_state* repl = session->out.repl;
    const ecs_tick now = server->out.tick;
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    report->entities = repl->member_count;
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        for (uint64_t left = pending[w]; left; left &= left - 1) {
            const uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(left);
            const ecs_tick ticks = (uint32_t)((uint32_t)now - repl->since[slot]);
            report->waiting++;
            if (ticks > report->waiting_ticks) report->waiting_ticks = ticks;
        }
    }
    const net_ack_sender* sent = &session->out.sent;
    report->sent_tick = session->out.tick_sent;
    // The ring keeps NET_REPL_STATE_PACKETS packets; a client that is heard acknowledges one of
    // them.
    const uint16_t back = (uint16_t)(repl->seq_next - sent->newest_acked);
    // The rest of a tick's 32 low bits, which was not after `now`.
    if (sent->has_ack && back > 0 && back <= NET_REPL_STATE_PACKETS)
        report->acked_tick = now - (uint32_t)((uint32_t)now - net_repl_packet_tick(repl, back));
}

static void fill(const net_server* server, const net_session* session, net_live_peer* report) {
    const net_session_out* out = &session->out;
    *report = (net_live_peer){
        .peer = {.client = session->client, .end = session->end},
        .name = session->name,
        .state = net_session_state_name(session->state),
        .is_bot = session->is_bot,
        .is_spectator = session->is_spectator,
        .is_solo = session->is_solo,
        .watched = session->watched,
        .strikes = session->strikes,
        .since_us = server->now_us > session->since_us ? server->now_us - session->since_us : 0,
        .quiet_us =
            server->now_us > session->received_us ? server->now_us - session->received_us : 0,
        .sent_bytes = net_server_sent_bytes(server, session),
        .input_depth = session->inputs.count,
        .identity = session->identity,
    };
    if (session->report != UINT32_MAX) report->peer = server->reports[session->report];
    net_session_fill_report(session, &report->peer);
    if (net_session_has_player(session))
        report->player = net_match_player(server->config.match, session->client);
    if (!out->repl) return;
    report->jitter_ms = out->sent.rttvar_us / 1000.0;
    report->acked = out->sent.acked;
    report->lost = out->sent.lost;
    report->rate_bytes_s = out->rate.rate;
    report->rate_max_bytes_s = out->rate.rate_max;
    report->used_bytes_s = out->rate.used;
    report->rate_cuts = out->rate.cuts;
    report->rate_raises = out->rate.raises;
    report->is_held = out->rate.was_short;
    fill_scope(server, session, report);
}

bool net_server_next_client(net_server* server, uint32_t* place, net_live_peer* report) {
    net_server_collect(server);
    while (*place < server->session_count) {
        const net_session* session = server->sessions[(*place)++];
        if (!session || session->state == NET_SESSION_FREE || session->client == 0) continue;
        fill(server, session, report);
        return true;
    }
    return false;
}

bool net_server_find_client(net_server* server, uint32_t client, net_live_peer* report) {
    net_server_collect(server);
    const net_session* session = net_server_find_number(server, client);
    if (session) fill(server, session, report);
    return session != NULL;
}

uint32_t net_server_list_scope(net_server* server, uint32_t client, ecs_entity* entities,
                               uint32_t capacity) {
    net_server_collect(server);
    const net_session* session = net_server_find_number(server, client);
    const net_repl_state* repl = session ? session->out.repl : NULL;
    uint32_t count = 0;
    for (uint32_t slot = 0; repl && slot < repl->slot_end && count < capacity; slot++)
        if (repl->members[slot].index != 0) entities[count++] = repl->handles[slot];
    return repl ? repl->member_count : 0;
}

net_world_digest net_server_scope(net_server* server, uint32_t client, ecs_line_fn line,
                                  void* context) {
    net_server_collect(server);
    const net_schema* schema = net_match_schema(server->config.match);
    ecs_world* world = net_match_world(server->config.match);
    const net_session* session = net_server_find_number(server, client);
    if (session && session->out.repl)
        return net_world_digest_walk_seen(schema, world, net_session_classes_seen,
                                          session->out.repl, line, context);
    return net_world_digest_walk(schema, world, line, context);
}

// The phase of a server: HOLDING -> RUNNING -> SETTLING -> LEAVING -> ENDED. Phases may be left
// out, never come back.

void net_server_set_phase(net_server* server, net_server_phase phase) {
    BASE_ASSERT(phase > server->phase && phase <= NET_SERVER_ENDED);
    server->phase = phase;
    server->phase_us = server->now_us;
}

void net_server_say_goodbye(net_server* server) {
    if (server->phase == NET_SERVER_LEAVING || server->phase == NET_SERVER_ENDED) return;
    const char* reason = net_match_end_reason(server->config.match);
    if (!reason && server->end_reason[0]) reason = server->end_reason;
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        // Of one that ends already the reason stays.
        if (reason && session->end == NET_END_NONE)
            (void)base_text_copy(session->end_reason, sizeof session->end_reason, reason);
        net_session_end(server, session, NET_END_GOODBYE);
    }
    net_server_set_phase(server, NET_SERVER_LEAVING);
    server->config.transport->ops->flush(server->config.transport);
}
