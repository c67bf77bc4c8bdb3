// SPDX-License-Identifier: MIT
// What an operator can read of the clients that are here, and of the parts of a tick.
#include "server/server_state.h"

#include "replicate/repl_state.h"
#include "server/session_report.h"

#include "base/assert.h"
#include "net/match.h"

const uint64_t* net_server_get_times(const net_server* server) {
    return server->part_us;
}

const char* net_part_name(net_part part) {
    static const char* const names[NET_PART_COUNT] = {"gather",  "step", "collect",
                                                      "session", "rows", "send"};
    BASE_ASSERT(part < NET_PART_COUNT);
    return names[part];
}

// The rest of a tick's 32 low bits, which was not after `now`.
static ecs_tick whole_tick(ecs_tick now, uint32_t low) {
    return now - (uint32_t)((uint32_t)now - low);
}

static void fill_scope(const net_server* server, const net_session* session,
                       net_live_peer* report) {
    const net_repl_state* repl = session->out.repl;
    const ecs_tick now = server->out.tick;
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    report->entities = net_repl_state_entities(repl);
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
    if (sent->has_ack && back > 0 && back <= NET_REPL_STATE_PACKETS)
        report->acked_tick = whole_tick(now, net_repl_packet_tick(repl, back));
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

static bool has_number(const net_session* session) {
    return session && session->state != NET_SESSION_FREE && session->client != 0;
}

bool net_server_next_client(net_server* server, uint32_t* place, net_live_peer* report) {
    net_server_collect(server);
    while (*place < server->session_count) {
        const net_session* session = server->sessions[(*place)++];
        if (!has_number(session)) continue;
        fill(server, session, report);
        return true;
    }
    return false;
}

bool net_server_find_client(net_server* server, uint32_t client, net_live_peer* report) {
    net_server_collect(server);
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (!has_number(session) || session->client != client) continue;
        fill(server, session, report);
        return true;
    }
    return false;
}

uint32_t net_server_list_scope(net_server* server, uint32_t client, ecs_entity* entities,
                               uint32_t capacity) {
    net_server_collect(server);
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (!has_number(session) || session->client != client || !session->out.repl) continue;
        const net_repl_state* repl = session->out.repl;
        uint32_t count = 0;
        for (uint32_t slot = 0; slot < repl->slot_end && count < capacity; slot++)
            if (repl->members[slot].index != 0) entities[count++] = repl->handles[slot];
        return net_repl_state_entities(repl);
    }
    return 0;
}
