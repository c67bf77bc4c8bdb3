// SPDX-License-Identifier: MIT
// A server that stands by for another one, and the client that asks it.
#include "secure_world.h"

typedef struct pair {
    secure_world first, second; ///< second has the other server of the match, and a client of none
} pair;

static void pair_init(pair* at) {
    world_begin(&at->first, (net_security){.identity = 5}, true, 4);
    world_begin(&at->second, (net_security){.identity = 5}, true, 4);
    at->second.server_address = address_of("198.51.100.2:7777");
    net_secure_server_set_standby(at->second.server, true);
    connect_world(&at->first);
}

static void pair_deinit(pair* at) {
    world_deinit(&at->first);
    world_deinit(&at->second);
}

/// `first` is the world of the client's server.
#define PAIR_CASE(name)                                                                            \
    CASE_GIVEN(pair, at, pair_init(at), pair_deinit(at), secure_world*, first, &at->first, name)

// The client of the first server asks the second one. @return whether that one offers.
static bool ask(pair* at) {
    secure_world* second = &at->second;
    guest* me = &at->first.me;
    uint8_t out[NET_OUTER_HELLO_BYTES];
    const size_t size = net_secure_client_ask(&me->client, &second->server_address, out);
    assert_int_equal(size, sizeof out);
    second->clock = at->first.clock;
    if (to_server(second, &me->address, out, size) == 0) return false;
    assert_int_equal(take_reply(second, me) + second->answer.inner_size, 0);
    return net_secure_client_take_offer(&me->client);
}

// The client begins again, at either server.
static void begin_at_both(pair* at) {
    const net_address both[] = {at->first.server_address, at->second.server_address};
    at->first.clock.now_us++;
    at->second.clock = at->first.clock;
    net_secure_client_begin(&at->first.me.client, &at->first.clock, both, 2);
}

// A challenge of before it stood by.
WORLD_CASE(who_stands_by_takes_no_response) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    response_of(at, &at->me, out);
    net_secure_server_set_standby(at->server, true);
    assert_int_equal(give(at, out), 0);
    assert_int_equal(net_secure_server_count(at->server), 0);
}

PAIR_CASE(another_server_takes_the_session_over_when_it_is_asked) {
    net_secure_client* client = &first->me.client;
    assert_false(ask(at));
    assert_int_equal(client->stats.counts[NET_SECURE_DENIED], 1);
    assert_null(net_secure_client_offer(client, &first->clock));
    net_secure_server_set_standby(at->second.server, false);
    assert_true(ask(at));
    assert_false(net_secure_client_take_offer(client)); // once
    assert_true(is_heard(first, &first->me));           // the session goes on meanwhile
    begin_at_both(at);
    assert_int_equal(client->state, NET_SECURE_CLIENT_PROVING);
    assert_int_equal(serve_client(&at->second, &first->me), NET_SECURE_CLIENT_OPEN);
    assert_int_equal(count_of(&at->second, NET_SECURE_RESUMED), 1);
    // What the first one still sends is of no session of the client.
    uint8_t late[DATAGRAM_BYTES_MAX];
    (void)to_client(first, &first->me, late, seal_from_server(first, late));
    assert_int_equal(first->answer.inner_size, 0);
    assert_int_equal(client->state, NET_SECURE_CLIENT_OPEN);
    assert_int_equal(client->stats.counts[NET_SECURE_OTHER_ADDRESS], 1);
}

PAIR_CASE(an_offer_counts_for_its_server_and_for_a_moment) {
    net_secure_server_set_standby(at->second.server, false);
    assert_true(ask(at));
    begin_client(first, &first->me); // without the address of that one
    assert_int_equal(first->me.client.state, NET_SECURE_CLIENT_ASKING);
    assert_int_equal(serve_client(first, &first->me), NET_SECURE_CLIENT_OPEN);
    assert_true(ask(at));
    pass_us(first, NET_SECURE_OFFER_US_MAX + 1);
    assert_null(net_secure_client_offer(&first->me.client, &first->clock));
    begin_at_both(at);
    assert_int_equal(first->me.client.state, NET_SECURE_CLIENT_ASKING);
}

PAIR_CASE(only_a_challenge_of_a_server_that_was_asked_is_an_offer) {
    secure_world* second = &at->second;
    guest* me = &first->me;
    uint8_t out[DATAGRAM_BYTES_MAX];
    net_secure_server_set_standby(second->server, false);
    const size_t size = net_secure_client_ask(&me->client, &second->server_address, out);
    second->clock = first->clock;
    const size_t reply = to_server(second, &me->address, out, size);
    assert_int_equal(reply, NET_OUTER_CHALLENGE_BYTES);
    for (size_t i = 0; i < reply; i++) { // any bit, any length
        second->received.reply[i] ^= 0x10;
        (void)to_client(second, me, second->received.reply, reply);
        second->received.reply[i] ^= 0x10;
        (void)to_client(second, me, second->received.reply, i);
    }
    const net_address real = second->server_address;
    second->server_address = address_of("198.51.100.3:7777"); // not asked
    (void)take_reply(second, me);
    assert_false(net_secure_client_take_offer(&me->client));
    assert_int_equal(me->client.state, NET_SECURE_CLIENT_OPEN);
    second->server_address = real;
    (void)take_reply(second, me);
    assert_true(net_secure_client_take_offer(&me->client));
}

// A further one takes the place of the oldest; the server of the session is none.
PAIR_CASE(few_servers_are_asked_at_a_time) {
    net_secure_client* client = &first->me.client;
    uint8_t out[NET_OUTER_HELLO_BYTES];
    assert_int_equal(net_secure_client_ask(client, &first->server_address, out), 0);
    assert_int_equal(client->asked_count, 0);
    for (uint16_t i = 0; i <= NET_STANDBYS_MAX; i++) {
        net_address other = at->second.server_address;
        other.port = (uint16_t)(other.port + i);
        for (int again = 0; again < 2; again++)
            assert_int_equal(net_secure_client_ask(client, &other, out), sizeof out);
    }
    assert_int_equal(client->asked_count, NET_STANDBYS_MAX);
    assert_int_equal(client->asked[0].port, at->second.server_address.port + 1);
    begin_client(first, &first->me); // no session
    assert_int_equal(net_secure_client_ask(client, &at->second.server_address, out), 0);
}
