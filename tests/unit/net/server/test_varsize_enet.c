// SPDX-License-Identifier: MIT
// The longest large values over ENet: fragments on the reliable channel, sent by the net half of
// the server, through the filter of datagrams, over a line with loss.
#include "test.h"

#include "game/library.h"

#include "ecs/change.h"
#include "net/client.h"
#include "net/link.h"
#include "net/match.h"
#include "net/server.h"
#include "net/transport_enet.h"
#include "transport/socket_state.h"

enum { TICK_US = 16667, TICKS = 900, CLIENTS = 2, WRITTEN_TICK = 60 };

typedef struct seat {
    net_match* match;
    net_transport* transport;
    net_client* client;
} seat;

typedef struct room {
    net_game_module game;
    net_module* module;
    net_match* match;
    net_transport* transport;
    net_server* server;
    seat seats[CLIENTS];
    uint64_t now_us;
} room;

static void sit(room* at, uint32_t index) {
    base_reporter reporter = base_reporter_stderr();
    seat* made = &at->seats[index];
    net_match_config match = net_match_config_default(at->module);
    match.role = NET_ROLE_MIRROR;
    assert_ok(net_match_create(&match, &reporter, &made->match));
    assert_ok(net_transport_enet_create(&(net_enet_config){.peers_max = 1}, &made->transport));
    net_client_config client = {.match = made->match,
                                .transport = made->transport,
                                .address = "127.0.0.1:7777",
                                .name = "reader",
                                .seed = index + 1};
    assert_ok(net_client_create(&client, &made->client));
}

static void open(room* at, double loss_percent) {
    memset(at, 0, sizeof *at);
    net_socket_virtual_set(true, 5);
    const net_link_config line = {.loss_percent = loss_percent, .delay_ms = 20, .seed = 3};
    assert_ok(net_socket_link_set(&line));
    at->now_us = 1000000;
    net_socket_virtual_advance(at->now_us);
    base_reporter reporter = base_reporter_stderr();
    at->game = library_module();
    assert_ok(net_module_wrap(&at->game, LIBRARY_TEXT, "library.blk", &reporter, &at->module));
    net_match_config match = net_match_config_default(at->module);
    match.settings[LIBRARY_QUIET_SETTING] = WRITTEN_TICK;
    match.seed = 4;
    assert_ok(net_match_create(&match, &reporter, &at->match));
    net_enet_config listen = {.listen = "127.0.0.1:7777", .peers_max = CLIENTS + 8};
    assert_ok(net_transport_enet_create(&listen, &at->transport));
    net_server_config server = {
        .match = at->match, .transport = at->transport, .clients_max = CLIENTS, .ticks_max = TICKS};
    assert_ok(net_server_create(&server, &at->server));
    for (uint32_t i = 0; i < CLIENTS; i++)
        sit(at, i);
}

static void close(room* at) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        net_client_destroy(at->seats[i].client);
        at->seats[i].transport->ops->destroy(at->seats[i].transport);
        net_match_destroy(at->seats[i].match);
    }
    net_server_destroy(at->server);
    at->transport->ops->destroy(at->transport);
    net_match_destroy(at->match);
    net_module_close(at->module);
    assert_ok(net_socket_link_set(NULL));
    net_socket_virtual_set(false, 0);
}

// Write three texts: 1 + 3 * (1 + 2 + 3996) = 11,998 bytes.
static uint32_t write_long_notes(room* at) {
    static char text[3996];
    memset(text, 'n', sizeof text);
    const library* game = net_match_context(at->match);
    ecs_world* world = net_match_world(at->match);
    const base_allocator* allocator = ecs_world_allocator(world);
    uint32_t count = 0;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        ecs_array* notes = ecs_find_mut(world, entity, game->notes);
        if (!notes) continue;
        ecs_array_clear(allocator, notes);
        for (uint32_t i = 0; i < 3; i++) {
            text[0] = (char)('a' + count++ % 26);
            assert_int_equal(ecs_array_push_text(allocator, notes, text, sizeof text), ECS_OK);
        }
    }
    return count / 3;
}

static void step(room* at) {
    at->now_us += TICK_US;
    net_socket_virtual_advance(at->now_us);
    net_server_service(at->server, at->now_us);
    net_server_tick(at->server, at->now_us);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        net_client_service(at->seats[i].client, at->now_us);
        net_client_tick(at->seats[i].client, at->now_us);
    }
}

CASE(the_longest_values_cross_a_line_that_loses) {
    for (uint32_t loss = 0; loss <= 5; loss += 5) {
        room at;
        open(&at, loss);
        for (uint32_t i = 0; i < 3 * TICKS; i++) {
            step(&at);
            if (net_match_tick(at.match) == WRITTEN_TICK && i < 2 * WRITTEN_TICK)
                assert_int_equal(write_long_notes(&at), LIBRARY_PAGES);
        }
        uint64_t dropped[NET_DROP_COUNT];
        net_server_dropped(at.server, dropped);
        assert_int_equal(dropped[NET_DROP_VARSIZE_LONG], 0);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            net_client_report report = net_client_get_report(at.seats[i].client);
            assert_int_equal(report.end, NET_CLIENT_END_GOODBYE);
            assert_int_equal(report.packets_malformed, 0);
            bool is_found = false;
            for (uint32_t k = 0; k < net_server_report_count(at.server); k++) {
                const net_peer_report* peer = net_server_report(at.server, k);
                if (peer->client != report.client) continue;
                is_found = true;
                assert_true(peer->is_caught_up);
                assert_true(peer->scope.hash == report.scope.hash);
                assert_true(peer->scope.bytes > 40000); // at least four values
            }
            assert_true(is_found);
        }
        close(&at);
    }
}
