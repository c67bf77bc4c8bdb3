// SPDX-License-Identifier: MIT
// A server: created, stopped, destroyed.
//
// Where to read on: server_tick.c (a tick), server_receive.c (what comes in), server_send.c (what
// goes out), session.c (the life of a session), server_report.c (what an operator can read).
#include "net/server.h"

#include "core/worker.h"
#include "replicate/repl_state.h"
#include "server/server_state.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"

#include <string.h>

#define HEARTBEAT_HZ 10u ///< packets per second to a client without news
#define HEARTBEAT_TICKS_MAX 16u
#define DEAF_HZ 4u ///< packets per second to a client that acknowledges nothing

// What has one size for the life of a server.
static void create_scratch(net_server* server) {
    const size_t count = server->session_count, players = server->roster_capacity;
    const struct {
        void* place; // a pointer
        size_t bytes;
    } blocks[] = {{&server->sessions, count * sizeof *server->sessions},
                  {&server->name_keys, count * sizeof *server->name_keys},
                  {&server->leaves, count * sizeof *server->leaves},
                  {&server->joins, count * sizeof *server->joins},
                  {&server->joining, count * sizeof *server->joining},
                  {&server->inputs, count * sizeof *server->inputs},
                  {&server->roster, players * sizeof *server->roster},
                  {&server->roster_gone, players * sizeof *server->roster_gone},
                  {&server->out.sessions, count * sizeof *server->out.sessions},
                  {&server->out.order, count * sizeof *server->out.order},
                  {&server->admission, sizeof *server->admission},
                  {&server->leavers, count * sizeof *server->leavers},
                  {&server->by_slot, NET_PEER_SLOTS * sizeof *server->by_slot}};
    for (uint32_t i = 0; i < BASE_COUNT(blocks); i++) {
        void* block = base_allocate_zero(server->allocator, blocks[i].bytes);
        memcpy(blocks[i].place, &block, sizeof block);
    }
    for (uint32_t i = 0; i < count; i++)
        server->out.order[i] = i;
}

// Rows, interest, replication: what clients should have, and what they have.
static net_result create_replication(net_server* server) {
    net_match* match = server->config.match;
    ecs_world* world = net_match_world(match);
    net_result result =
        net_rows_create(server->config.allocator, world, server->config.reporter, &server->rows);
    if (result != NET_OK) return result;
    net_rows_set_tick_rate(server->rows, net_match_get_config(match)->tick_rate_hz);
    uint32_t index_max = ecs_world_limits(world)->replicated_index_max;
    const net_interest_config interest = {
        .allocator = server->config.allocator,
        .rules = net_match_get_config(match)->module->game->interest,
        .context = net_match_context(match),
        .world = world,
        .rows = server->rows,
        .index_max = index_max,
        .tick_rate_hz = net_match_get_config(match)->tick_rate_hz,
        .lanes = net_transport_lanes(server->config.transport),
    };
    result = net_interest_create(&interest, server->config.reporter, &server->interest);
    if (result != NET_OK) return result;
    const net_replicator_config replicator = {
        .allocator = server->config.allocator,
        .rows = server->rows,
        .index_max = index_max,
        .interest = server->interest,
        .tap = server->config.tap,
        .tap_context = server,
        .solo = server->config.solo,
        .lanes = net_transport_lanes(server->config.transport),
        .workers = net_match_get_config(server->config.match)->workers,
    };
    server->replicator = net_replicator_create(&replicator);
    server->varsize = net_varsize_source_create(server->config.allocator, server->rows, index_max,
                                                server->config.reporter);
    return NET_OK;
}

static void destroy_replication(net_server* server) {
    net_varsize_source_destroy(server->varsize);
    if (server->replicator) net_replicator_destroy(server->replicator);
    if (server->interest) base_owner_destroy(server->interest);
    if (server->rows) base_owner_destroy(server->rows);
}

net_result net_server_create(const net_server_config* config, net_server** out) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(config && config->match && config->transport && out);
    BASE_ASSERT(config->clients_max >= 1 && config->clients_max <= NET_CLIENTS_MAX);
    BASE_ASSERT(config->spectators_max <= NET_CLIENTS_MAX - config->clients_max);
    BASE_ASSERT(config->rate_bytes_max <= NET_RATE_BYTES_LIMIT);
    BASE_ASSERT(config->send_divisor <= NET_SEND_DIVISOR_MAX);
    BASE_ASSERT(config->clients_min <= config->clients_max);
    BASE_ASSERT(net_match_get_config(config->match)->role == NET_ROLE_SERVER);
    BASE_ASSERT(!config->is_following || !config->step);
    net_server* server = base_owner_create(config->allocator, sizeof *server);
    server->config = *config;
    server->allocator = &server->owner.allocator;
    server->ticks_to_pause = UINT64_MAX;
    server->session_count =
        config->clients_max + config->spectators_max + NET_SERVER_SPARE_SESSIONS;
    server->tick_us = 1000000u / net_match_get_config(config->match)->tick_rate_hz;
    server->clients_named =
        net_match_client_last(config->match); // a match that was restored had some
    server->rng = base_rng_make(net_match_get_config(config->match)->seed, 16);
    net_event_outbox_init(&server->recent, server->allocator);
    base_bytes_init(&server->sight_bytes, server->allocator);
    base_bytes_init(&server->out.event_bytes, server->allocator);
    server->is_recalling = config->is_following;
    net_ration_init(&server->ration, config->reporter);
    // Packets to a client are half a second apart at most, whatever divisor the operator requests.
    uint32_t rate_hz = net_match_get_config(server->config.match)->tick_rate_hz;
    uint32_t divisor = server->config.send_divisor ? server->config.send_divisor : 1;
    uint32_t divisor_max = rate_hz > 2 ? rate_hz / 2 : 1;
    server->send_divisor = divisor < divisor_max ? divisor : divisor_max;
    uint32_t ticks = rate_hz / HEARTBEAT_HZ;
    if (ticks > HEARTBEAT_TICKS_MAX) ticks = HEARTBEAT_TICKS_MAX;
    server->heartbeat_ticks = ticks ? ticks : 1;
    server->deaf_ticks = rate_hz / DEAF_HZ ? rate_hz / DEAF_HZ : 1;
    // Of a match that runs elsewhere all players may stand in it.
    server->roster_capacity = config->is_following ? NET_CLIENTS_MAX : server->session_count;
    create_scratch(server);
    net_server_draw(server, &server->admission->salt, sizeof server->admission->salt);
    server->walk_credit = NET_WALK_BURST;
    proto_codec_init(&server->codec, server->allocator, PROTO_UNPACK_CLIENT_BYTES_MAX);
    proto_codec_init(&server->answer_codec, server->allocator, PROTO_UNPACK_ANSWER_BYTES_MAX);
    net_result result = create_replication(server);
    if (result == NET_OK) {
        // When no thread can be had the net half runs at once: slower, with the same datagrams.
        net_server_open_lanes(server, config->is_threaded);
        if (config->tap) config->tap->open(server);
    }
    if (result == NET_OK)
        *out = server;
    else
        net_server_destroy(server);
    return result;
}

void net_server_destroy(net_server* server) {
    if (!server) return;
    for (uint32_t i = 0; i < server->lane_count; i++)
        net_worker_destroy(server->lanes[i].worker); // the first one's may still need the others
    net_ration_end(&server->ration);
    for (uint32_t i = 0; i < server->session_count; i++)
        if (server->sessions[i]) {
            BASE_ASSERT(!server->sessions[i]->out.varsize == !server->sessions[i]->out.repl);
            net_varsize_sender_destroy(server->sessions[i]->out.varsize);
            if (server->sessions[i]->out.repl)
                net_repl_state_destroy(server->sessions[i]->out.repl);
        }
    net_server_close_leavers(server);
    if (server->config.tap) server->config.tap->close(server, true);
    destroy_replication(server);
    base_owner_destroy(server);
}

net_result net_server_exchange(net_server* server, net_match* match) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(server->phase == NET_SERVER_RUNNING && !server->config.step);
    BASE_ASSERT(net_match_tick(match) == net_match_tick(server->config.match));
    const net_send_tap* tap = server->config.tap;
    if (tap && tap->is_of_match) return NET_ERR_CLOSED;
    const net_observer* observer = &server->config.observer;
    if (observer->may_exchange && !observer->may_exchange(observer->context)) return NET_ERR_FULL;
    net_server_collect(server);
    if (tap) tap->close(server, false);
    net_server old = *server;
    server->config.match = match;
    server->rows = NULL;
    server->interest = NULL;
    server->replicator = NULL;
    server->varsize = NULL;
    net_result result = create_replication(server);
    if (result != NET_OK) {
        destroy_replication(server);
        *server = old; // its owner, too: nothing was allocated from it
        return result;
    }
    // Those who play are known to the new interest manager; their scopes are gathered when they are
    // back.
    for (const net_session* session = NULL; (session = net_server_next(server, session));) {
        if (!net_session_is_in_match(session)) continue;
        net_interest_add_client(server->interest, session->client);
        net_interest_hold(server->interest, session->client, true);
        if (session->is_spectator) net_spectator_follow(server, session);
    }
    for (uint32_t i = 0; i < server->lane_count; i++) {
        net_match_reader_deinit(&server->lanes[i].reader);
        net_server_open_reader(server, &server->lanes[i].reader);
    }
    if (observer->exchange) observer->exchange(observer->context, match); // it reads the old rows
    server->out.event_count = 0;
    server->slips = (net_server_slips){.since = 0};
    net_server_close_leavers(server);
    for (net_session* session = NULL; (session = net_server_next(server, session));)
        net_session_ask_again(server, session);
    destroy_replication(&old);
    return NET_OK;
}

void net_server_stop(net_server* server, uint64_t now_us) {
    net_server_collect(server);
    server->now_us = now_us;
    bool is_again = server->end_us != 0;
    uint64_t end_us = now_us + (is_again ? NET_STOP_AGAIN_MS_MAX : NET_STOP_WHOLE_MS_MAX) * 1000u;
    if (!is_again || end_us < server->end_us) server->end_us = end_us;
    if (server->phase == NET_SERVER_RUNNING) {
        net_server_look_for_slips(server, true);
        net_server_set_phase(server, NET_SERVER_SETTLING);
        server->settle_ms_max = NET_STOP_MS_MAX;
        return;
    }
    net_server_say_goodbye(server);
}

void net_server_say_why(net_server* server, const char* text) {
    (void)base_text_copy(server->end_reason, sizeof server->end_reason, text);
}

void net_server_refuse(net_server* server, const char* text) {
    (void)base_text_copy(server->refusal, sizeof server->refusal, text);
}

bool net_server_has_failed(const net_server* server) {
    return server->has_failed;
}

net_server_phase net_server_get_phase(const net_server* server) {
    return server->phase;
}
