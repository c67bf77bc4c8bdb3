// SPDX-License-Identifier: MIT
// Checks after each tick, on the server's replication state of each client:
//
// newest      a row is sent only when it is new to the client: it changed since it was last sent,
// or that packet
//             was lost
// budget      no second has more bytes than the rate of that second, the bucket and one packet
// starvation  no entity waits longer than all waiting data takes at this rate, plus the ticks after
// which the
//             oldest goes first
// scope       scope and classes are those that the server explains, at the latest after the
//             client's interest was computed and the times for staying have passed
#include "internal.h"

#include "scope_explained.h"

#include <inttypes.h>
#include <stdlib.h>

#define SCOPE_EVERY 8u
#define SCOPE_LATE_TICKS 16u
#define SCOPE_STAY_TICKS 96u
#define ROW_BYTES 72u ///< more than any row of the game takes

// ---- the tap

// The ops of the simulated network, of which `send` counts first.
static scenario* self_of(const net_transport* transport) {
    return (scenario*)((uintptr_t)transport->ops - offsetof(scenario, tap));
}

static net_result tap_send(net_transport* transport, net_peer peer, net_channel channel,
                           const void* bytes, size_t size) {
    scenario* self = self_of(transport);
    const net_session* session = self->server->by_slot[peer & (NET_PEER_SLOTS - 1)];
    watched* seen = session && place_of(session->client) < NUMBERS_MAX
                        ? self->watched[place_of(session->client)]
                        : NULL;
    if (seen && channel == NET_CHANNEL_REALTIME) seen->bytes += size + NET_RATE_OVERHEAD_BYTES;
    if (seen && channel == NET_CHANNEL_REALTIME) seen->packet_bytes = (uint32_t)size;
    // All clients see how long the end waits for client 1, and for spectators.
    if (session && channel == NET_CHANNEL_REALTIME && !self->server->out.is_settling) {
        const uint64_t hash = base_hash64(bytes, size, session->client);
        if (session->client > 1)
            (void)__atomic_fetch_add(&self->result.others_hash, hash, __ATOMIC_RELAXED);
        if (session->client < NET_SPECTATOR_FIRST)
            (void)__atomic_fetch_add(&self->result.players_hash, hash, __ATOMIC_RELAXED);
    }
    net_result result = self->tapped->send(transport, peer, channel, bytes, size);
    if (result == NET_OK || channel == NET_CHANNEL_REALTIME)
        (void)__atomic_fetch_add(&self->sent_bits, 8 * size, __ATOMIC_RELAXED); // by lanes
    return result;
}

void open_tap(scenario* self) {
    self->tapped = self->transport->ops;
    self->tap = *self->tapped;
    self->tap.send = tap_send;
    self->transport->ops = &self->tap;
}

void free_watched(scenario* self) {
    for (uint32_t i = 0; i < NUMBERS_MAX; i++)
        free(self->watched[i]);
}

static watched* watch(scenario* self, const net_session* session) {
    const uint32_t place = place_of(session->client);
    if (place >= NUMBERS_MAX) return NULL;
    if (!self->watched[place]) self->watched[place] = calloc(1, sizeof(watched));
    watched* seen = self->watched[place];
    BASE_ASSERT(seen);
    seen->client = session->client;
    seen->view = session->out.repl;
    return seen;
}

// ---- newest

static bool has_sets(const net_repl_state* view, uint16_t seq, net_packet_state state) {
    uint32_t back = (uint16_t)(view->seq_next - seq);
    return back <= view->backs && net_repl_packet_state(view, back) == state;
}

// Does the server know that the row came, or may it still come? An acknowledgement may come when
// the packet was given up, and what it carried is forgotten: then the row goes again.
static bool is_under_way(const net_repl_state* view, const sent_note* note) {
    return note->is_settled || has_sets(view, note->seq, NET_PACKET_FLYING) ||
           has_sets(view, note->seq, NET_PACKET_ACKED);
}

static void check_slot(scenario* self, watched* seen, uint32_t back, uint32_t slot,
                       bool is_resync) {
    const net_repl_state* view = seen->view;
    BASE_ASSERT(slot < INDEX_MAX);
    sent_note* note = &seen->notes[slot];
    bool is_row = !net_set_has(view, NET_SET_GOING, slot);
    ecs_entity handle = view->handles[slot];
    uint16_t classes = view->classes[slot];
    ecs_tick now = view->replicator->history->tick;
    ecs_tick tick = now - (uint32_t)((uint32_t)now - net_repl_packet_tick(view, back));
    const net_history_entity* entity =
        net_history_find(view->replicator->history, ecs_entity_index(handle));
    bool is_single = view->members[slot].group == 0;
    if (is_row && note->is_valid && note->handle == handle && note->classes == classes && entity &&
        entity->handle == handle && entity->begin_tick <= note->tick && is_single && !is_resync &&
        net_history_changed(entity, classes) <= note->tick && is_under_way(view, note)) {
        scenario_fail(self,
                      "newest check: client %" PRIu32 " is sent entity %" PRIu32 " of tick %" PRIu64
                      " again at tick %" PRIu64,
                      seen->client, ecs_entity_index(handle), note->tick, tick);
    }
    self->result.counts.records_checked++;
    *note = (sent_note){handle, tick, (uint16_t)(view->seq_next - back), classes, is_row, false};
}

static void check_newest(scenario* self, watched* seen) {
    const net_repl_state* view = seen->view;
    bool is_resync = view->counters.resyncs != seen->resyncs;
    seen->resyncs = view->counters.resyncs;
    self->result.counts.solo += view->counters.packets_solo - seen->solo;
    seen->solo = view->counters.packets_solo;
    // An entity that was out of scope, or seen with other classes, starts again.
    for (uint32_t slot = 0; slot < view->slot_end && slot < INDEX_MAX; slot++) {
        sent_note* note = &seen->notes[slot];
        if (note->is_valid &&
            (view->handles[slot] != note->handle || view->classes[slot] != note->classes ||
             net_set_has(view, NET_SET_GOING, slot) || !net_set_has(view, NET_SET_KNOWN, slot)))
            note->is_valid = false;
        note->is_settled |= has_sets(view, note->seq, NET_PACKET_ACKED);
    }
    uint64_t fresh = view->packet_count - seen->packet_count;
    seen->packet_count = view->packet_count;
    if (fresh > NET_STATE_PACKETS_PER_TICK_MAX) return;
    for (uint32_t back = (uint32_t)fresh; back > 0; back--) {
        const uint64_t* carried = net_repl_carried(view, back);
        for (uint32_t w = 0; w < net_repl_state_words(view); w++)
            for (uint64_t bits = carried[w]; bits; bits &= bits - 1)
                check_slot(self, seen, back, w * 64 + base_bit_lowest(bits), is_resync);
    }
}

// ---- budget

static void check_budget(scenario* self, watched* seen, const net_session* session, uint64_t turn) {
    seen->ring[turn % RATE_TICKS] = seen->bytes;
    seen->rates[turn % RATE_TICKS] = session->out.rate.rate;
    seen->bytes = 0;
    uint64_t sum = 0;
    double rate = 0;
    for (uint32_t i = 0; i < RATE_TICKS; i++) {
        sum += seen->ring[i];
        if (seen->rates[i] > rate) rate = seen->rates[i];
    }
    // The bucket holds two packets, or a tick's share when that is more.
    double bucket = 2.0 * NET_RATE_PACKET_BYTES_MAX;
    if (rate / TICKS_PER_SECOND > bucket) bucket = rate / TICKS_PER_SECOND;
    // A client whose line was cut gets the bytes of one second at once when it returns.
    if (seen->away_ticks < 2 * RATE_TICKS) bucket += rate;
    if ((double)sum <=
        rate * (RATE_TICKS + 2) / TICKS_PER_SECOND + bucket + NET_RATE_PACKET_BYTES_MAX)
        return;
    scenario_fail(
        self, "budget check: client %" PRIu32 " was sent %" PRIu64 " bytes within a second at %.0f",
        seen->client, sum, rate);
}

// ---- starvation

static void check_starvation(scenario* self, watched* seen, const net_session* session) {
    const net_repl_state* view = seen->view;
    seen->away_ticks = session->state != NET_SESSION_PLAYING || session->out.summary.is_quiet
                           ? 0
                           : seen->away_ticks + 1;
    double rate = session->out.rate.rate;
    for (uint32_t i = 0; i < RATE_TICKS; i++)
        if (seen->rates[i] > 0 && seen->rates[i] < rate) rate = seen->rates[i];
    seen->pending_peak -= seen->pending_peak / 64;
    if (seen->pending_peak < view->pending_count) seen->pending_peak = view->pending_count;
    uint32_t bound = NET_REPL_STATE_OVERDUE_TICKS + 16;
    // All waiting data once, and once more data that came later but is as old. Variable-size values
    // take half of the rate.
    double per_tick = rate / TICKS_PER_SECOND / 2;
    bound += 3 * (uint32_t)(seen->pending_peak * ROW_BYTES / per_tick);
    bound += 4 * self->config.send_divisor + (uint32_t)(session->out.varsize_debt / per_tick);
    if (seen->away_ticks <= bound) return;
    uint32_t now = (uint32_t)view->replicator->history->tick;
    uint64_t full[INDEX_MAX / 64 + 1] = {0};
    net_repl_state_mark_full(view, full);
    for (uint32_t w = 0; w < net_repl_state_words(view); w++) {
        uint64_t pending = net_set(view, NET_SET_PENDING)[w];
        for (uint64_t set = pending & ~full[w]; set; set &= set - 1) {
            uint32_t slot = w * 64 + base_bit_lowest(set);
            const uint32_t wait = (uint16_t)(now - view->since[slot]);
            if (wait > self->result.starved_ticks_max) self->result.starved_ticks_max = wait;
            if (wait <= bound) continue;
            scenario_fail(self,
                          "starvation check: client %" PRIu32 " waits for entity %" PRIu32
                          " for %" PRIu32 " ticks, at most %" PRIu32,
                          seen->client, ecs_entity_index(view->handles[slot]), wait, bound);
        }
    }
}

// ---- scope

static void check_scope(scenario* self, watched* seen) {
    const net_repl_state* view = seen->view;
    const ecs_world* world = net_match_world(self->match);
    net_rows* table = self->server->rows;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        const net_row_template* entry = net_rows_find(table, ecs_entity_template(world, entity));
        uint32_t index = ecs_entity_index(entity);
        if (!entry || index >= INDEX_MAX) continue;
        uint32_t has = 0;
        bool is_member = net_repl_state_sees(view, entity, &has);
        uint32_t should =
            scope_explained(self->server->interest, world, seen->client, entity, is_member);
        self->result.counts.scopes_checked++;
        uint32_t uses = (uint32_t)entry->class_mask | entry->varsize_mask;
        if ((has & uses) == (should & uses) && is_member == (should != 0)) {
            seen->mismatches[index] = 0;
            continue;
        }
        uint64_t difference = (uint64_t)entity << 32 | (has & uses) << 16 | (should & uses);
        if (seen->differences[index] != difference) seen->mismatches[index] = 0;
        seen->differences[index] = difference;
        seen->mismatches[index] = (uint16_t)(seen->mismatches[index] + SCOPE_EVERY);
        // At the edge of sight an entity may be inside at each check, and outside at each
        // computation of interest.
        bool has_edge = (self->config.rules & SWARM_RADIUS) != 0;
        uint32_t most =
            has_edge && is_member != (should != 0) ? SCOPE_STAY_TICKS : SCOPE_LATE_TICKS;
        if (seen->mismatches[index] <= most) continue;
        scenario_fail(self,
                      "scope check: client %" PRIu32 " sees classes %" PRIx32 " of entity %" PRIu32
                      ", as explained %" PRIx32,
                      seen->client, has, index, should);
    }
}

void check_views(scenario* self) {
    net_server* server = self->server;
    if (server->phase != NET_SERVER_RUNNING) return;
    uint64_t turn = net_match_tick(self->match) - self->config.tick_zero;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (!session || !session->out.repl || !net_session_is_in_match(session)) continue;
        watched* seen = watch(self, session);
        if (!seen) continue;
        check_newest(self, seen);
        check_budget(self, seen, session, turn);
        check_starvation(self, seen, session);
        if (turn % SCOPE_EVERY == 0) check_scope(self, seen);
    }
}
