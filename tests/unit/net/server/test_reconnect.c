// SPDX-License-Identifier: MIT
// Sessions that outlive their connections, on ENet: the real transport over the virtual wire, in
// virtual time. The test cuts and restores the line in every phase of the attempts to connect
// again.
#define TABLE_SEATS 3u
#include "session_table.h"

#include "secure/secure_server_state.h"
#include "transport/enet_peers.h"

#include <arpa/inet.h>
#include <enet/enet.h>

enum { STEP_MS = 50, BACK_MS_MAX = 6000 };

// The world does not change.
#define ENET .is_enet = true, .quiet = 1e9

static void run_ms(table* at, uint32_t ms) {
    for (uint64_t end_us = at->now_us + ms * UINT64_C(1000); at->now_us < end_us;)
        table_step(at);
}

// Whether all clients play and have the server's current state.
static bool are_all_in(const table* at) {
    for (uint32_t i = 0; i < at->seat_count; i++) {
        const net_client* client = at->seats[i].client;
        if (!seat_plays(&at->seats[i]) || net_client_tick_newest(client) == 0 ||
            net_client_tick_newest(client) + 60 < net_match_tick(at->match))
            return false;
    }
    return true;
}

// Run until all clients play. @return the milliseconds, or more than `limit_ms`.
static uint32_t wait_ms(table* at, uint32_t limit_ms) {
    uint64_t begin_us = at->now_us;
    while (!are_all_in(at) && at->now_us - begin_us <= limit_ms * UINT64_C(1000))
        table_step(at);
    return (uint32_t)((at->now_us - begin_us) / 1000);
}

static void line_set(double loss, double delay_ms, double jitter_ms, uint64_t seed) {
    // A datagram passes two links in each direction.
    net_link_config line = {.loss_percent = loss / 2,
                            .delay_ms = delay_ms / 2,
                            .jitter_ms = jitter_ms / 2,
                            .duplicate_percent = 1,
                            .seed = seed};
    net_socket_link_set(&line);
}

static void line_cut(void) {
    net_socket_link_set(&(net_link_config){.loss_percent = 100});
}

typedef struct line {
    double loss, delay_ms, jitter_ms;
    uint32_t back_ms_max; // with the losses that some thousand runs meet
} line;

// Run one outage. @return the milliseconds until all clients are back.
static uint32_t outage(const line* of, uint32_t outage_ms, uint64_t seed) {
    table at;
    table_open(&at, (table_config){ENET, .seed = seed, .seats = TABLE_SEATS});
    line_set(0, of->delay_ms, of->jitter_ms, seed);
    assert_true(wait_ms(&at, 5000) <= 5000);
    line_set(of->loss, of->delay_ms, of->jitter_ms, seed);
    run_ms(&at, 500);
    line_cut();
    run_ms(&at, outage_ms);
    line_set(of->loss, of->delay_ms, of->jitter_ms, seed + 1000000);
    uint32_t ms = wait_ms(&at, 30000);
    table_close(&at);
    return ms;
}

static const line LINES[] = {
    {5, 75, 10, 6000}, {0, 20, 0, 2000}, {20, 100, 100, 12000}, {2, 250, 20, 6000}};

// Four rounds let every line meet every phase.
CASE(whenever_the_line_is_back_so_is_everybody) {
    uint32_t rounds = test_scaled(1, 1), late = 0;
    const uint32_t step_ms = test_is_short() ? 5 * STEP_MS : STEP_MS;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t ms = 3000; ms <= 12000; ms += step_ms) {
            uint32_t which = (ms / STEP_MS + round) % BASE_COUNT(LINES);
            uint64_t seed = 1 + round * 100000 + ms;
            uint32_t took_ms = outage(&LINES[which], ms, seed);
            if (took_ms <= LINES[which].back_ms_max) continue;
            late++;
            print_error("line %u, seed %llu, outage of %u ms: back after %u ms\n", which,
                        (unsigned long long)seed, ms, took_ms);
        }
    }
    assert_int_equal(late, 0);
}

// The place of an address belongs to the old connection until the new connection asks for it.
TABLE_CASE(who_comes_back_has_room_where_an_address_has_one_connection, ENET, .seed = 5, .seats = 1,
           .peers_per_address_max = 1) {
    assert_true(wait_ms(at, 1000) <= 1000);
    line_cut();
    run_ms(at, 5000);
    assert_int_equal(net_client_get_phase(at->seats[0].client), NET_CLIENT_RESUMING);
    net_socket_link_set(NULL);
    assert_true(wait_ms(at, 1000) <= 1000);
    net_client_report report = net_client_get_report(at->seats[0].client);
    assert_int_equal(report.client, 1);
    assert_int_equal(table_counters(at)->resumes, 1);
    assert_int_equal(table_counters(at)->joins, 1);
}

// A new line under the old address: whatever part of the greeting was lost, client and server
// repeat it.
TABLE_ROWS(a_line_that_dies_again_and_again_is_survived, i, 12, ENET, .seed = 1 + i * STEP_MS,
           .seats = 1) {
    const uint32_t ms = i * STEP_MS;
    line_set(0, 75, 10, 1 + ms);
    assert_true(wait_ms(at, 2000) <= 2000);
    for (uint32_t k = 0; k < 3; k++) {
        line_cut();
        run_ms(at, 4000);
        line_set(5, 75, 10, 1 + ms + k);
        run_ms(at, ms); // some time between the first attempt and the roster
    }
    assert_true(wait_ms(at, BACK_MS_MAX) <= BACK_MS_MAX);
    run_ms(at, 1000);
    assert_true(are_all_in(at));
    assert_int_equal(table_counters(at)->joins, 1);
    assert_int_equal(table_counters(at)->dropped[NET_DROP_MALFORMED], 0);
    assert_int_equal(table_dropped(at, NET_DROP_ACK_FORGED), 0);
}

// ---- forged datagrams

enum { SEALED_BYTES = 60 };

static net_enet_secure* secure_of(net_transport* transport) {
    return &((net_enet_transport*)transport)->secure;
}

// What an attacker can make who saw the head of a datagram of the session.
static void forge(uint32_t session, uint16_t from_port, uint16_t to_port) {
    uint8_t forged[SEALED_BYTES] = {NET_OUTER_DATA};
    for (int i = 0; i < 4; i++)
        forged[1 + i] = (uint8_t)(session >> 8 * i);
    forged[9] = 1; // a number that lies ahead
    assert_true(wire_inject(htonl(INADDR_LOOPBACK), from_port, to_port, forged, sizeof forged));
}

// So many forged datagrams came that the key of one direction opens nothing more.
TABLE_ROWS(a_session_whose_key_is_worn_ends_as_after_silence, is_client, 2, ENET, .seed = 9,
           .seats = 1) {
    assert_true(wait_ms(at, 1000) <= 1000);
    net_enet_secure* secure = secure_of(at->seats[0].transport);
    const uint32_t session = secure->client.session;
    net_crypt_receiver* receiver = &secure->client.receiver;
    if (!is_client)
        receiver = &net_secure_session_find(secure_of(at->transport)->server, session)->receiver;
    const uint16_t own = wire_port(secure->descriptor);
    receiver->key.forged = NET_CRYPT_FORGED_MAX;
    forge(session, is_client ? 7777 : own, is_client ? own : 7777);
    run_ms(at, BACK_MS_MAX);
    assert_true(are_all_in(at));
    assert_int_not_equal(secure->client.session, session);
    assert_int_equal(table_counters(at)->resumes, 1);
    assert_int_equal(table_counters(at)->joins, 1);
}

// A server that ends says so below ENet: its clients try to come back at once, and not after a
// silence of three seconds.
TABLE_CASE(a_server_that_is_gone_is_noticed_at_once, ENET, .seed = 7, .seats = TABLE_SEATS) {
    assert_true(wait_ms(at, 1000) <= 1000);
    table_stop(at);
    table_run(at, 3);
    for (uint32_t k = 0; k < TABLE_SEATS; k++)
        assert_int_equal(net_client_get_phase(at->seats[k].client), NET_CLIENT_RESUMING);
}
