// SPDX-License-Identifier: MIT
// Rations of commands that bring nothing new, as bytes of ENet's protocol, and of connection
// attempts.
#include "test.h"

#include "transport/datagram_filter.h"
#include "transport/enet_secure.h"

#include <arpa/inet.h>

enum { RELIABLE = 0x86, PING = 0x85 };

typedef struct datagram {
    uint8_t bytes[1024];
    size_t size;
} datagram;

static datagram begin(void) {
    return (datagram){.bytes = {0x80, 0, 0, 0}, .size = 4};
}

static void add(datagram* to, uint8_t command, uint8_t channel, uint16_t sequence) {
    const uint8_t head[] = {command, channel, (uint8_t)(sequence >> 8), (uint8_t)sequence};
    const uint8_t reliable[] = {0, 1, 'x'};
    memcpy(to->bytes + to->size, head, sizeof head);
    to->size += sizeof head;
    const size_t size = command == RELIABLE ? sizeof reliable : 0;
    memcpy(to->bytes + to->size, reliable, size);
    to->size += size;
}

static bool pass(net_repeat_ration* ration, datagram* of, uint16_t delivered, uint64_t now_us) {
    net_filter_context context = {.is_server = true, .reliable_sequence = delivered};
    assert_true(net_filter_check(of->bytes, of->size, &context));
    return net_repeat_ration_pass(ration, of->bytes, of->size, &context, now_us);
}

static bool pass_one(net_repeat_ration* ration, uint8_t command, uint16_t sequence,
                     uint16_t delivered, uint64_t now_us) {
    datagram made = begin();
    add(&made, command, command == RELIABLE ? 0 : command == PING ? 0xFF : 1, sequence);
    return pass(ration, &made, delivered, now_us);
}

#define RATION_CASE(name)                                                                          \
    CASE_WITH(net_repeat_ration, ration, *ration = (net_repeat_ration){0}, (void)0, name)

RATION_CASE(new_commands_cost_nothing) {
    uint16_t delivered = 65000; // wraps on the way
    for (uint32_t i = 0; i < 100000; i++) {
        assert_true(pass_one(ration, RELIABLE, (uint16_t)(delivered + 1), delivered, 0));
        delivered++;
    }
    for (uint16_t ahead = 256; ahead > 0; ahead--) // all that may wait, the newest first
        assert_true(pass_one(ration, RELIABLE, (uint16_t)(delivered + ahead), delivered, 0));
    assert_int_equal(ration->repeats.full_us, 0);
}

CASE(repeats_have_a_ration_of_a_second) {
    static const struct {
        uint8_t command;
        uint16_t sequence;
    } CASES[] = {{RELIABLE, 100}, {RELIABLE, 99}, {RELIABLE, 40000}, {RELIABLE, 103}, {PING, 1}};
    for (size_t i = 0; i < BASE_COUNT(CASES); i++) {
        net_repeat_ration ration = {0};
        assert_true(pass_one(&ration, RELIABLE, 103, 100, 500000)); // waits
        uint32_t count = 0;
        for (uint32_t k = 0; k < 1000; k++)
            count += pass_one(&ration, CASES[i].command, CASES[i].sequence, 100, 500000);
        assert_int_equal(count, NET_REPEATS_PER_SECOND);
        assert_true(pass_one(&ration, RELIABLE, 101, 100, 500000)); // new ones go on
        count = 0;
        for (uint32_t k = 0; k < 1000; k++)
            count += pass_one(&ration, CASES[i].command, CASES[i].sequence, 100, 1000000);
        assert_int_equal(count, NET_REPEATS_PER_SECOND / 2);
    }
}

// ---- attempts

#define GATE_CASE(name) CASE_MADE(net_connect_gate, gate, calloc(1, sizeof *gate), free(gate), name)

static uint32_t passed(net_connect_gate* gate, uint32_t host, uint32_t attempts, uint64_t now_ms) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < attempts; i++)
        count += net_connect_gate_pass(gate, htonl(host), now_ms * 1000);
    return count;
}

GATE_CASE(a_session_has_a_few_attempts_and_then_two_a_second) {
    assert_int_equal(passed(gate, 0x0A000001, 100, 1000), NET_SESSION_CONNECTS_BURST);
    assert_int_equal(passed(gate, 0x0A000001, 100, 1499), 0);
    assert_int_equal(passed(gate, 0x0A000001, 100, 1500), 1);
    assert_int_equal(passed(gate, 0x0A000001, 100, 2500), NET_SESSION_CONNECTS_PER_SECOND);
    assert_int_equal(passed(gate, 0x0A000001, 100, 60000), NET_SESSION_CONNECTS_BURST);
    assert_int_equal(passed(gate, 0x0A000002, 1, 60000), 1); // another one is not concerned
}

GATE_CASE(all_sessions_together_have_a_ration) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_CONNECT_PLACES; i++)
        count += passed(gate, 0x0A000000 + i, 1, 0);
    assert_int_equal(count, NET_CONNECTS_PER_SECOND);
    count = 0;
    for (uint32_t i = 0; i < NET_CONNECT_PLACES; i++)
        count += passed(gate, 0x0A000000 + i, 1, 500);
    assert_int_equal(count, NET_CONNECTS_PER_SECOND / 2);
}
