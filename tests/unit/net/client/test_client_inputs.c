// SPDX-License-Identifier: MIT
// How often a client sends an input: what the server has is not sent again, and what it may lack is
// repeated as the line loses packets. Each input differs from the one before it.
#include "client/duel.h"

#include "client/client_state.h"

enum { FLIGHT_MAX = 8 };

static void send_player(duel* at) {
    Shoal__Wire__PlayerAssigned assigned = SHOAL__WIRE__PLAYER_ASSIGNED__INIT;
    assigned.entity = 77;
    uint8_t bytes[16];
    const size_t size = proto_encode(&assigned.base, bytes, sizeof bytes);
    raw_server_event(&at->server, raw_server_packet(&at->server, 5), 1, 0, 0, bytes, size);
}

static void steer(void* context, const net_player_context* player, void* input) {
    *(int32_t*)input = (int32_t)(player->input_number % 10);
}

static void open_playing(duel* at, bool reads_short) {
    Shoal__Wire__Welcome welcome = duel_secret_welcome();
    welcome.reads_short = reads_short;
    duel_open(at);
    at->client->config.input = steer;
    duel_play(at, welcome);
    send_player(at);
    duel_run(at, 3);
}

// Run; each acknowledgement arrives `late` ticks after the packet, more or less. @return the most
// inputs in a packet of the last ticks.
static uint32_t most_inputs(duel* at, uint32_t late, uint32_t ticks) {
    uint16_t came[FLIGHT_MAX];
    uint32_t most = 0;
    assert_true(late < FLIGHT_MAX);
    for (uint32_t i = 0; i < ticks; i++) {
        came[i % FLIGHT_MAX] = at->server.input_seq;
        raw_state packet = raw_server_packet(&at->server, 5);
        packet.header.has_ack = i >= late;
        packet.header.ack = came[(i - late) % FLIGHT_MAX];
        raw_server_send_state(&at->server, packet);
        duel_run(at, 1);
        if (i >= ticks / 2 && at->server.input_count > most) most = at->server.input_count;
    }
    assert_int_equal(at->server.unreadable, 0);
    return most;
}

#define PLAYING_CASE(name) CASE_WITH(duel, at, open_playing(at, true), duel_close(at), name)

PLAYING_CASE(repeats_grow_with_the_losses_and_fall_after_them) {
    assert_true(most_inputs(at, 6, 60) >= 7); // it has not shown yet that it is good
    assert_int_equal(most_inputs(at, 6, 600), 3);
    at->server.input_loss = 1 + 2; // 1 %
    assert_true(most_inputs(at, 6, 60) >= 7);
    at->server.input_loss = 1;
    assert_int_equal(most_inputs(at, 6, 60), 3);
    // The other direction loses one: this one may do so too, before the server reports it.
    at->server.seq++;
    (void)most_inputs(at, 6, 16);
    assert_true(most_inputs(at, 6, 60) >= 7);
    assert_int_equal(most_inputs(at, 6, 900), 3);
}

CASE_WITH(duel, at, open_playing(at, false), duel_close(at),
          a_server_of_an_earlier_release_gets_eight_that_it_may_lack) {
    assert_true(most_inputs(at, 0, 60) <= 2);
    assert_true(most_inputs(at, 6, 60) >= 7);
    assert_int_equal(most_inputs(at, 7, 60), 8);
}
