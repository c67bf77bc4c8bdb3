// SPDX-License-Identifier: MIT
// What is told of sessions: peer reports, counters, what was dropped, where the bits went.
//
// Control messages are counted where they leave: the server sends through a tap, a transport that hands on
// to the real one, so that no sender can forget to count.
//
// Invariant of the bandwidth: the bits of all accounts, open and closed, and of bandwidth_rest are 8 times the bytes
// that the server gave to the transport; the transport's own total minus that is what it added.
#include "server/server_internal.h"

#include "core/fault.h"

#include <stdlib.h>
#include <string.h>

// ---- the tap

static net_server_tap* tap_of(const net_transport* transport) {
    return (net_server_tap*)(uintptr_t)transport;
}

static net_transport* beyond(const net_transport* transport) {
    return tap_of(transport)->server->config.transport;
}

static void tap_service(net_transport* transport, uint64_t now_us) {
    beyond(transport)->ops->service(beyond(transport), now_us);
}

static bool tap_next(net_transport* transport, net_transport_event* event) {
    return beyond(transport)->ops->next(beyond(transport), event);
}

// ServerControl.varsize: the tag of field 6 as a message.
static bool is_varsize(const uint8_t* bytes, size_t size) {
    return size > 0 && bytes[0] == (6 << 3 | 2);
}

static net_result tap_send(net_transport* transport, net_peer peer, net_channel channel,
                           const void* bytes, size_t size) {
    net_server* server = tap_of(transport)->server;
    net_transport* to = beyond(transport);
    net_result result = to->ops->send(to, peer, channel, bytes, size);
    if (result != NET_OK) {
        net_server_drop(server, NET_DROP_SEND, 1);
        return result;
    }
    if (!server->has_bandwidth) return NET_OK;
    BASE_ASSERT(channel == NET_CHANNEL_CONTROL);
    const net_session* session = net_server_find_session(server, peer);
    net_bandwidth_account* account = session && session->out.repl
                                         ? net_repl_state_account(session->out.repl)
                                         : &server->bandwidth_rest;
    net_bandwidth_add(account, NET_BANDWIDTH_NONE,
                      is_varsize(bytes, size) ? NET_COST_VARSIZE : NET_COST_CONTROL,
                      8 * (uint64_t)size);
    return NET_OK;
}

static net_result tap_connect(net_transport* transport, const char* address, net_peer* peer) {
    return beyond(transport)->ops->connect(beyond(transport), address, peer);
}

static void tap_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    beyond(transport)->ops->disconnect(beyond(transport), peer, reason, now);
}

static void tap_flush(net_transport* transport) {
    beyond(transport)->ops->flush(beyond(transport));
}

static void tap_stats(const net_transport* transport, net_transport_stats* stats) {
    beyond(transport)->ops->stats(beyond(transport), stats);
}

static uint32_t tap_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    return beyond(transport)->ops->sockets(beyond(transport), descriptors, capacity);
}

static void tap_destroy(net_transport* transport) {
    (void)transport; // it is a part of the server
}

void net_server_tap_init(net_server* server) {
    static const net_transport_ops ops = {
        .service = tap_service,
        .next = tap_next,
        .send = tap_send,
        .connect = tap_connect,
        .disconnect = tap_disconnect,
        .flush = tap_flush,
        .stats = tap_stats,
        .sockets = tap_sockets,
        .destroy = tap_destroy,
    };
    server->tap = (net_server_tap){.base = {.ops = &ops}, .server = server};
}

net_transport* net_server_transport(net_server* server) {
    return &server->tap.base;
}

// ---- counters and reports

void net_server_drop(net_server* server, net_drop reason, uint64_t count) {
    server->counters.dropped[reason] += count;
}

// What a session's own parts have dropped.
static void add_dropped(const net_session* session, uint64_t dropped[NET_DROP_COUNT]) {
    dropped[NET_DROP_DUPLICATE] += session->received.duplicates;
    dropped[NET_DROP_OLD] += session->received.old;
    dropped[NET_DROP_ACK_FORGED] += session->out.sent.forged;
    dropped[NET_DROP_ACK_STALE] += session->out.sent.stale;
    dropped[NET_DROP_INPUT_KNOWN] += session->inputs.duplicate;
    dropped[NET_DROP_INPUT_FULL] += session->inputs.refused;
    dropped[NET_DROP_INPUT_SKIPPED] += session->inputs.skipped;
    dropped[NET_DROP_INPUT_SETTLED] += session->inputs.settled;
    dropped[NET_DROP_EVENT_KNOWN] += session->inbox.known;
    dropped[NET_DROP_EVENT_FULL] += session->inbox.full;
    dropped[NET_DROP_EVENT_WAITED] += session->inbox.dropped;
    dropped[NET_DROP_EVENT_QUEUE] += session->out.events_refused;
    dropped[NET_DROP_EVENT_UNSEEN] += session->out.events_unseen;
}

void net_server_dropped(net_server* server, uint64_t dropped[NET_DROP_COUNT]) {
    net_server_collect(server);
    memcpy(dropped, server->counters.dropped, sizeof server->counters.dropped);
    dropped[NET_DROP_VARSIZE_LONG] += net_varsize_source_get_counters(server->varsize)->values_long;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (session && session->state != NET_SESSION_FREE && session->end == NET_END_NONE)
            add_dropped(session, dropped);
    }
}

// It acknowledged its newest packet, and with it everything there is: both sides can name that tick.
static bool is_known(const net_server* server, const net_session* session) {
    if (net_fault_is_planted(NET_FAULT_SAY_EARLY)) return true;
    const net_session_out* out = &session->out;
    return server->out.tick == net_match_tick(server->config.match) && out->repl &&
           out->sent.has_ack && (int16_t)(uint16_t)(out->sent.newest_acked - out->tick_seq) >= 0 &&
           net_repl_state_is_settled(out->repl) && net_varsize_sender_is_settled(out->varsize);
}

bool net_session_has_everything(const net_server* server, const net_session* session) {
    return is_known(server, session) && session->out.tick_sent == server->out.tick;
}

void net_session_report(net_server* server, net_session* session, net_end end) {
    // Books are closed once.
    if (session->end == NET_END_NONE) add_dropped(session, server->counters.dropped);
    if (session->report == UINT32_MAX) return;
    net_peer_report* report = &server->reports[session->report];
    BASE_ASSERT(report->client == session->client);
    if (report->end != NET_END_NONE) return;
    report->end = end;
    // Tick and scope are said only where they are known to be the client's too: whoever compares both
    // lines must never meet a pair that only looks like one. Whoever never joined has nothing, at tick 0.
    bool has_tick = is_known(server, session);
    report->is_caught_up = has_tick || !session->out.repl;
    if (has_tick) {
        // Nothing of its scope changed since: the world's present scope is that of its tick.
        report->tick = session->out.tick_sent;
        report->scope = net_server_scope(server, session->client, NULL, NULL);
    } else {
        report->scope = net_world_digest_empty();
    }
    if (session->out.repl) {
        const net_repl_state_counters* counters = net_repl_state_get_counters(session->out.repl);
        report->packets_sent = counters->packets;
        report->packets_lost = counters->packets_lost;
        report->state_bytes = (counters->bits + 7) / 8;
    }
    report->inputs_received = session->inputs.received;
    report->inputs_late = session->inputs.missing + session->inputs.skipped + session->inputs.late;
    report->inputs_repeated = session->inputs.repeated;
    report->inputs_missing = session->inputs.missing;
    report->inputs_skipped = session->inputs.skipped;
    report->inputs_settled = session->inputs.settled;
    report->rtt_ms = (double)net_ack_sender_rtt_us(&session->out.sent) / 1000.0;
    server->counters.clients--;
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

static uint32_t classes_seen(void* context, ecs_entity entity) {
    uint32_t classes = 0;
    return net_repl_state_sees(context, entity, &classes) ? classes : 0;
}

net_world_digest net_server_scope(net_server* server, uint32_t client, ecs_line_fn line,
                                  void* context) {
    net_server_collect(server);
    const net_schema* schema = net_match_schema(server->config.match);
    ecs_world* world = net_match_world(server->config.match);
    for (uint32_t i = 0; client != 0 && i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (session && session->client == client && session->out.repl)
            return net_world_digest_walk_seen(schema, world, classes_seen, session->out.repl, line,
                                              context);
    }
    return net_world_digest_walk(schema, world, line, context);
}

// ---- the bandwidth

// A client's account outlives its session; of the first LEDGER_CLIENTS_MAX.
#define LEDGER_CLIENTS_MAX 4096u

static size_t account_bytes(const net_bandwidth_account* account) {
    return (size_t)account->component_count * NET_COST_COUNT * sizeof(uint64_t);
}

void net_server_keep_account(net_server* server, const net_session* session) {
    if (!server->has_bandwidth || server->bandwidth_client_count == LEDGER_CLIENTS_MAX) return;
    void* clients = server->bandwidth_clients;
    if (!base_array_reserve(server->allocator, &clients, &server->bandwidth_client_capacity,
                            server->bandwidth_client_count + 1, sizeof(net_server_account)))
        return;
    server->bandwidth_clients = clients;
    net_server_account* kept = &server->bandwidth_clients[server->bandwidth_client_count];
    kept->client = session->client;
    if (!net_bandwidth_open(&server->bandwidth, &kept->account)) return;
    net_bandwidth_sum_into(&kept->account, net_repl_state_account(session->out.repl));
    server->bandwidth_client_count++;
}

void net_server_close_bandwidth(net_server* server) {
    for (uint32_t i = 0; i < server->bandwidth_client_count; i++)
        net_bandwidth_close(&server->bandwidth, &server->bandwidth_clients[i].account);
    base_release(server->allocator, server->bandwidth_clients,
                 server->bandwidth_client_capacity * sizeof(net_server_account));
    if (!server->has_bandwidth) return;
    net_bandwidth_close(&server->bandwidth, &server->bandwidth_rest);
    net_bandwidth_deinit(&server->bandwidth);
}

typedef struct bandwidth_place {
    uint64_t bits;
    uint32_t component;
    net_cost cost;
} bandwidth_place;

// Most bits first; of equal ones by component, then by cause.
static int compare_places(const void* a, const void* b) {
    const bandwidth_place* x = a;
    const bandwidth_place* y = b;
    if (x->bits != y->bits) return x->bits > y->bits ? -1 : 1;
    if (x->component != y->component) return x->component < y->component ? -1 : 1;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static void tell_account(net_server* server, const net_bandwidth_account* account, uint32_t client,
                         uint32_t lines_max, bandwidth_place* places, net_bandwidth_line_fn line,
                         void* context) {
    ecs_world* world = net_match_world(server->config.match);
    uint32_t count = 0;
    for (uint32_t component = 0; component < account->component_count; component++) {
        for (uint32_t cost = 0; cost < NET_COST_COUNT; cost++) {
            uint64_t bits = account->bits[component][cost];
            if (bits) places[count++] = (bandwidth_place){bits, component, (net_cost)cost};
        }
    }
    qsort(places, count, sizeof *places, compare_places);
    uint64_t sum = net_bandwidth_sum(account);
    for (uint32_t i = 0; i < count && i < lines_max; i++) {
        const net_bandwidth_line told = {
            .client = client,
            .component =
                places[i].component == NET_BANDWIDTH_NONE
                    ? "-"
                    : ecs_component_get(world, (ecs_component_id)places[i].component)->name,
            .cause = net_cost_name(places[i].cost),
            .bits = places[i].bits,
            .share = (double)places[i].bits / (double)sum,
        };
        line(context, &told);
    }
}

// Everything that was sent: closed accounts, open ones, and what the transport added.
static void sum_up(net_server* server, net_bandwidth_account* all) {
    net_bandwidth_sum_into(all, &server->bandwidth.total);
    net_bandwidth_sum_into(all, &server->bandwidth_rest);
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (session && session->out.repl)
            net_bandwidth_sum_into(all, net_repl_state_account(session->out.repl));
    }
    net_transport_stats stats;
    server->config.transport->ops->stats(server->config.transport, &stats);
    uint64_t ours = net_bandwidth_sum(all);
    if (8 * stats.sent_bytes > ours)
        net_bandwidth_add(all, NET_BANDWIDTH_NONE, NET_COST_TRANSPORT, 8 * stats.sent_bytes - ours);
}

bool net_server_bandwidth(net_server* server, uint32_t client_lines_max, net_bandwidth_line_fn line,
                          void* context) {
    net_server_collect(server);
    if (!server->has_bandwidth) return true;
    net_bandwidth_account all;
    if (!net_bandwidth_open(&server->bandwidth, &all)) return false;
    size_t place_bytes = (size_t)all.component_count * NET_COST_COUNT * sizeof(bandwidth_place);
    bandwidth_place* places = base_allocate(server->allocator, place_bytes);
    if (places) {
        sum_up(server, &all);
        tell_account(server, &all, 0, UINT32_MAX, places, line, context);
        for (uint32_t i = 0; i < server->session_count; i++) {
            const net_session* session = server->sessions[i];
            if (!session || !session->out.repl) continue;
            tell_account(server, net_repl_state_account(session->out.repl), session->client,
                         client_lines_max, places, line, context);
        }
        for (uint32_t i = 0; i < server->bandwidth_client_count; i++)
            tell_account(server, &server->bandwidth_clients[i].account,
                         server->bandwidth_clients[i].client, client_lines_max, places, line,
                         context);
        base_release(server->allocator, places, place_bytes);
    }
    base_release(server->allocator, all.bits, account_bytes(&all));
    return places != NULL;
}
