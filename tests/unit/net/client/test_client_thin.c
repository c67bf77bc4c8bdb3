// SPDX-License-Identifier: MIT
// Thin clients beside a whole one, in the wild test game over lines that lose and reorder: at the
// end each has what the server gave it, texts and changes of templates included.
#include "test.h"

#include "net/client.h"
#include "net/match.h"
#include "net/server.h"
#include "net/transport.h"
#include "swarm.h"

#include <string.h>

#define CLIENTS 4u // the first one is whole
#define TICKS 600u
#define QUIET_TICK 560
#define STEPS_MAX (TICKS + 600u)
#define TICK_US 16667u

typedef struct crowd {
    swarm_wild wild;
    net_module* module;
    net_match *match, *whole, *shared; // of the server, of the first client, of all thin ones
    net_sim* sim;
    net_transport* transport;
    net_transport* lines[CLIENTS];
    net_client* clients[CLIENTS];
    net_server* server;
    uint64_t now_us;
    uint64_t rows; // traced updates
} crowd;

static void count_row(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
                      uint64_t row_hash) {
    (void)client, (void)entity, (void)tick, (void)row_hash;
    ((crowd*)context)->rows++;
}

static net_match* open_match(const crowd* c, net_role role, uint64_t seed) {
    net_match_config config = net_match_config_default(c->module);
    config.role = role;
    config.seed = seed;
    config.settings[0] = QUIET_TICK;
    net_match* match = NULL;
    assert_ok(net_match_create(&config, test_reporter(), &match));
    return match;
}

static void crowd_open(crowd* c, uint64_t seed) {
    memset(c, 0, sizeof *c);
    const net_game_module* game = swarm_wild_make(
        &c->wild, SWARM_RADIUS | SWARM_OWNER | SWARM_TEAM | SWARM_GROUPS | SWARM_GRANTS);
    assert_ok(
        net_module_wrap(game, swarm_wild_templates(), "swarm.blk", test_reporter(), &c->module));
    c->match = open_match(c, NET_ROLE_SERVER, seed);
    c->whole = open_match(c, NET_ROLE_MIRROR, seed);
    c->shared = open_match(c, NET_ROLE_MIRROR, seed);
    assert_ok(net_sim_create(NULL, seed, &c->sim));
    assert_ok(net_sim_server(c->sim, CLIENTS, &c->transport));
    const net_server_config server = {.match = c->match,
                                      .transport = c->transport,
                                      .clients_max = CLIENTS,
                                      .clients_min = CLIENTS,
                                      .ticks_max = TICKS};
    assert_ok(net_server_create(&server, &c->server));
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const net_link_config link = {.loss_percent = 10,
                                      .delay_ms = 40,
                                      .jitter_ms = 30,
                                      .reorder_percent = 3,
                                      .duplicate_percent = 2,
                                      .seed = seed + i};
        assert_ok(net_sim_client(c->sim, &link, &c->lines[i]));
        const net_client_config client = {.match = i == 0 ? c->whole : c->shared,
                                          .is_thin = i > 0,
                                          .transport = c->lines[i],
                                          .address = "sim",
                                          .seed = i,
                                          .is_bot = true,
                                          .trace = i > 0 ? count_row : NULL,
                                          .trace_context = c};
        assert_ok(net_client_create(&client, &c->clients[i]));
    }
}

static bool step(crowd* c) {
    bool is_any_left = false;
    c->now_us += TICK_US;
    net_server_service(c->server, c->now_us);
    net_server_tick(c->server, c->now_us);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        net_client_service(c->clients[i], c->now_us);
        net_client_tick(c->clients[i], c->now_us);
        is_any_left |= net_client_get_phase(c->clients[i]) != NET_CLIENT_ENDED;
    }
    return is_any_left;
}

static void crowd_close(crowd* c) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        net_client_destroy(c->clients[i]);
        c->lines[i]->ops->destroy(c->lines[i]);
    }
    net_server_destroy(c->server);
    c->transport->ops->destroy(c->transport);
    net_sim_destroy(c->sim);
    net_match_destroy(c->match);
    net_match_destroy(c->whole);
    net_match_destroy(c->shared);
    net_module_close(c->module);
}

// The report of the server about the client with this number.
static const net_peer_report* peer(const crowd* c, uint32_t client) {
    for (uint32_t i = 0; i < net_server_report_count(c->server); i++)
        if (net_server_report(c->server, i)->client == client)
            return net_server_report(c->server, i);
    fail_msg("no report of client %u", client);
    return NULL;
}

static void check(crowd* c, uint32_t i) {
    net_client_report report = net_client_get_report(c->clients[i]);
    const net_peer_report* told = peer(c, report.client);
    assert_int_equal(report.end, NET_CLIENT_END_GOODBYE);
    assert_true(told->is_caught_up);
    assert_int_equal(report.tick, told->tick);
    assert_int_equal(report.scope.entities, told->scope.entities);
    assert_int_equal(report.scope.components, told->scope.components);
    assert_true(report.scope.hash == told->scope.hash);
    assert_true(report.updates > 100);
    assert_int_equal(report.probes_differing, 0);
    assert_true(report.probes > 10);
}

CASE(thin_clients_have_what_the_server_gave_them) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        crowd c;
        crowd_open(&c, seed);
        for (uint32_t i = 0; i < STEPS_MAX && step(&c); i++)
            ;
        for (uint32_t i = 0; i < CLIENTS; i++)
            check(&c, i);
        assert_true(c.rows > 1000);
        // Thin clients wrote nothing into the world that they share.
        assert_int_equal(ecs_world_entity_count(net_match_world(c.shared)), 0);
        assert_int_equal(ecs_world_tick(net_match_world(c.shared)), 0);
        crowd_close(&c);
    }
}
