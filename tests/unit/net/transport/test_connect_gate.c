// SPDX-License-Identifier: MIT
// Rations of connection attempts.
#include "test.h"

#include "transport/enet_secure.h"

#include <arpa/inet.h>

static net_connect_gate* gate_make(uint32_t now_ms) {
    net_connect_gate* made = malloc(sizeof *made);
    assert_non_null(made);
    net_connect_gate_init(made, now_ms);
    return made;
}

#define GATE_CASE(name, now_ms)                                                                    \
    CASE_MADE(net_connect_gate, gate, gate_make(now_ms), free(gate), name)

static uint32_t passed(net_connect_gate* gate, uint32_t host, uint32_t attempts, uint32_t now_ms) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < attempts; i++)
        count += net_connect_gate_pass(gate, htonl(host), now_ms);
    return count;
}

GATE_CASE(a_session_has_a_few_attempts_and_then_two_a_second, 1000) {
    assert_int_equal(passed(gate, 0x0A000001, 100, 1000), NET_SESSION_CONNECTS_BURST);
    assert_int_equal(passed(gate, 0x0A000001, 100, 1499), 0);
    assert_int_equal(passed(gate, 0x0A000001, 100, 1500), 1);
    assert_int_equal(passed(gate, 0x0A000001, 100, 2500), NET_SESSION_CONNECTS_PER_SECOND);
    assert_int_equal(passed(gate, 0x0A000001, 100, 60000), NET_SESSION_CONNECTS_BURST);
    assert_int_equal(passed(gate, 0x0A000002, 1, 60000), 1); // another one is not concerned
}

GATE_CASE(all_sessions_together_have_a_ration, 0) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_CONNECT_PLACES; i++)
        count += passed(gate, 0x0A000000 + i, 1, 0);
    assert_int_equal(count, NET_CONNECTS_PER_SECOND);
    count = 0;
    for (uint32_t i = 0; i < NET_CONNECT_PLACES; i++)
        count += passed(gate, 0x0A000000 + i, 1, 500);
    assert_int_equal(count, NET_CONNECTS_PER_SECOND / 2);
}

GATE_CASE(the_clock_of_milliseconds_may_wrap, UINT32_MAX - 100) {
    assert_int_equal(passed(gate, 1, 100, UINT32_MAX - 100), NET_SESSION_CONNECTS_BURST);
    assert_int_equal(passed(gate, 1, 100, 899), NET_SESSION_CONNECTS_PER_SECOND);
}
