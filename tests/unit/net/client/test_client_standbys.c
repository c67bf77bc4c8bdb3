// SPDX-License-Identifier: MIT
// A client that knows servers which may take over, beside a server that is silent.
#include "address_of.h"
#include "client/duel.h"

#include "client/client_state.h"
#include "session/control.h"

// A transport of the client that notes what is asked.
typedef struct asking {
    duel duel;
    net_transport_ops ops;
    const net_transport_ops* sim;
    uint32_t asks, last_count;
    net_address last[NET_STANDBYS_MAX];
    bool is_found; ///< the next event
    char address[1024];
} asking;

static asking* the_asking; // a transport has no context of its own

static void note_ask(net_transport* transport, const net_address* others, uint32_t count) {
    the_asking->asks++;
    the_asking->last_count = count;
    for (uint32_t i = 0; i < count; i++)
        the_asking->last[i] = others[i];
}

static bool next(net_transport* transport, net_transport_event* event) {
    if (!the_asking->is_found) return the_asking->sim->next(transport, event);
    the_asking->is_found = false;
    *event = (net_transport_event){.kind = NET_TRANSPORT_FOUND};
    return true;
}

static net_result connect(net_transport* transport, const char* address, net_peer* peer) {
    (void)snprintf(the_asking->address, sizeof the_asking->address, "%s", address);
    return the_asking->sim->connect(transport, address, peer);
}

static ProtobufCBinaryData list_of(const char* const* texts, uint32_t count) {
    static uint8_t bytes[NET_STANDBYS_MAX * NET_CONTROL_ADDRESS_BYTES];
    net_address addresses[NET_STANDBYS_MAX];
    for (uint32_t i = 0; i < count; i++)
        addresses[i] = address_of(texts[i]);
    return (ProtobufCBinaryData){net_control_write_addresses(addresses, count, bytes), bytes};
}

static void send_standbys(asking* at, ProtobufCBinaryData bytes) {
    Shoal__Wire__Standbys standbys = SHOAL__WIRE__STANDBYS__INIT;
    standbys.addresses = bytes;
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_STANDBYS;
    control.standbys = &standbys;
    assert_ok(raw_server_send(&at->duel.server, NET_CHANNEL_CONTROL, &control.base));
    duel_run(&at->duel, 3);
}

static uint64_t faults_of(const asking* at) {
    return net_client_get_report(at->duel.client).dropped[NET_DROP_MALFORMED];
}

static void asking_open(asking* at) {
    static const char* const TEXTS[] = {"10.1.2.3:7777", "[fd00::1]:7778"};
    memset(at, 0, sizeof *at);
    the_asking = at;
    duel_open(&at->duel);
    at->sim = at->duel.here->ops;
    at->ops = *at->sim;
    at->ops.ask = note_ask;
    at->ops.next = next;
    at->ops.connect = connect;
    at->duel.here->ops = &at->ops;
    Shoal__Wire__Welcome welcome = duel_secret_welcome();
    welcome.standbys = list_of(TEXTS, 2);
    duel_play(&at->duel, welcome);
    assert_int_equal(faults_of(at), 0);
}

static void asking_close(asking* at) {
    at->duel.here->ops = at->sim;
    duel_close(&at->duel);
}

#define ASKING_CASE(name) CASE_WITH(asking, at, asking_open(at), asking_close(at), name)

ASKING_CASE(after_400_ms_of_silence_others_are_asked_again_and_again) {
    duel_run(&at->duel, 20);
    assert_int_equal(at->asks, 0);
    duel_run(&at->duel, 4);
    assert_int_equal(at->asks, 1);
    assert_int_equal(at->last_count, 2);
    const net_address first = address_of("10.1.2.3:7777"), second = address_of("[fd00::1]:7778");
    assert_true(net_address_equal(&at->last[0], &first));
    assert_true(net_address_equal(&at->last[1], &second));
    duel_run(&at->duel, 60);
    assert_true(at->asks >= 8 && at->asks <= 11);
    duel_expect_phase(&at->duel, NET_CLIENT_PLAYING);
    // The server is back: nothing was lost.
    const uint32_t asks = at->asks;
    duel_send_nothing_new(&at->duel, 2);
    duel_run(&at->duel, 20);
    assert_int_equal(at->asks, asks);
    assert_int_equal(net_client_tick_newest(at->duel.client), 2);
}

ASKING_CASE(a_server_that_falls_silent_again_and_again_lets_it_ask_once_a_second) {
    for (uint32_t i = 0; i < 60; i++) { // a minute
        duel_send_nothing_new(&at->duel, i + 2);
        duel_run(&at->duel, 60);
    }
    assert_true(at->asks <= NET_CLIENT_ASKS_MAX + 61);
}

ASKING_CASE(who_is_found_gets_the_session) {
    at->is_found = true;
    duel_phase_after(&at->duel, 1, NET_CLIENT_RESUMING);
    assert_string_equal(at->address, "10.1.2.3:7777,[fd00::1]:7778,sim");
    at->is_found = true; // a second one finds no open session
    duel_phase_after(&at->duel, 1, NET_CLIENT_RESUMING);
}

ASKING_CASE(addresses_that_are_none_are_faults) {
    static const char* const TEXTS[] = {"0.0.0.0:7777", "224.0.0.1:7777", "[ff02::1]:7777",
                                        "10.1.2.3:7777"};
    ProtobufCBinaryData bytes = list_of(TEXTS, 4);
    send_standbys(at, bytes);
    assert_int_equal(faults_of(at), 3);
    assert_int_equal(at->duel.client->standby_count, 1);
    bytes.data[3 * 18 + 16] = bytes.data[3 * 18 + 17] = 0; // port 0
    send_standbys(at, bytes);
    assert_int_equal(faults_of(at), 7);
    assert_int_equal(at->duel.client->standby_count, 0);
    uint8_t many[5 * NET_CONTROL_ADDRESS_BYTES] = {0};
    send_standbys(at, (ProtobufCBinaryData){sizeof many, many});
    send_standbys(at, (ProtobufCBinaryData){17, many});
    assert_int_equal(faults_of(at), 9);
}

// A server of the internet names no machine in a player's home.
static bool know_public(const net_transport* transport, net_peer peer,
                        net_peer_identity* identity) {
    identity->address = address_of("198.51.100.1:7777");
    return true;
}

ASKING_CASE(a_public_server_names_no_private_address) {
    static const char* const TEXTS[] = {"192.168.1.1:53", "127.0.0.1:7777", "203.0.113.7:7777"};
    at->ops.identity = know_public;
    send_standbys(at, list_of(TEXTS, 3));
    assert_int_equal(faults_of(at), 2);
    assert_int_equal(at->duel.client->standby_count, 1);
    at->is_found = true;
    duel_run(&at->duel, 1);
    assert_string_equal(at->address, "198.51.100.1:7777,203.0.113.7:7777,sim");
}
