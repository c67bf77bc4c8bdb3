// SPDX-License-Identifier: MIT
// Rations of commands that bring nothing new, as bytes of ENet's protocol.
#include "test.h"

#include "transport/datagram_filter.h"

#include "base/rng.h"

#include <stdio.h>
#include <string.h>

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

static bool pass(net_repeat_ration* ration, datagram* of, uint16_t delivered, uint32_t now_ms) {
    net_filter_context context = {.is_server = true, .reliable_sequence = delivered};
    assert_true(net_filter_check(of->bytes, of->size, &context));
    return net_repeat_ration_pass(ration, of->bytes, of->size, &context, now_ms);
}

static bool pass_one(net_repeat_ration* ration, uint8_t command, uint16_t sequence,
                     uint16_t delivered, uint32_t now_ms) {
    datagram made = begin();
    add(&made, command, command == RELIABLE ? 0 : command == PING ? 0xFF : 1, sequence);
    return pass(ration, &made, delivered, now_ms);
}

#define RATION_CASE(name)                                                                          \
    CASE_WITH(net_repeat_ration, ration, net_repeat_ration_init(ration, 0), (void)0, name)

RATION_CASE(new_commands_cost_nothing) {
    uint16_t delivered = 65000; // wraps on the way
    for (uint32_t i = 0; i < 100000; i++) {
        assert_true(pass_one(ration, RELIABLE, (uint16_t)(delivered + 1), delivered, 0));
        delivered++;
    }
    for (uint16_t ahead = 256; ahead > 0; ahead--) // all that may wait, the newest first
        assert_true(pass_one(ration, RELIABLE, (uint16_t)(delivered + ahead), delivered, 0));
    assert_int_equal(ration->credits, NET_REPEATS_PER_SECOND * 1000);
}

CASE(repeats_have_a_ration_of_a_second) {
    static const struct {
        uint8_t command;
        uint16_t sequence;
    } CASES[] = {{RELIABLE, 100}, {RELIABLE, 99}, {RELIABLE, 40000}, {RELIABLE, 103}, {PING, 1}};
    for (size_t i = 0; i < BASE_COUNT(CASES); i++) {
        net_repeat_ration ration;
        net_repeat_ration_init(&ration, 500);
        assert_true(pass_one(&ration, RELIABLE, 103, 100, 500)); // waits
        uint32_t count = 0;
        for (uint32_t k = 0; k < 1000; k++)
            count += pass_one(&ration, CASES[i].command, CASES[i].sequence, 100, 500);
        assert_int_equal(count, NET_REPEATS_PER_SECOND);
        assert_true(pass_one(&ration, RELIABLE, 101, 100, 500)); // new ones go on
        count = 0;
        for (uint32_t k = 0; k < 1000; k++)
            count += pass_one(&ration, CASES[i].command, CASES[i].sequence, 100, 1000);
        assert_int_equal(count, NET_REPEATS_PER_SECOND / 2);
    }
}

RATION_CASE(each_repeat_of_a_datagram_counts) {
    datagram many = begin();
    for (int i = 0; i < 32; i++)
        add(&many, RELIABLE, 0, 50);
    uint32_t count = 0;
    for (int i = 0; i < 100; i++)
        count += pass(ration, &many, 50, 0);
    assert_int_equal(count, NET_REPEATS_PER_SECOND / 32);
}

RATION_CASE(the_window_forgets_what_was_delivered) {
    uint16_t delivered = 0;
    base_rng rng = test_rng(11, 0);
    for (uint32_t i = 0; i < 200; i++) { // each number once, then any number of them delivered
        uint16_t newest = (uint16_t)(1 + base_rng_u32(&rng) % 256);
        for (uint16_t k = 1; k <= newest; k++)
            assert_true(pass_one(ration, RELIABLE, (uint16_t)(delivered + k), delivered, 0));
        delivered = (uint16_t)(delivered + newest);
    }
    assert_int_equal(ration->credits, NET_REPEATS_PER_SECOND * 1000);
}

RATION_CASE(a_new_connection_begins_with_a_whole_ration) {
    for (uint32_t k = 0; k < 1000; k++)
        (void)pass_one(ration, RELIABLE, 7, 7, 0);
    assert_false(pass_one(ration, RELIABLE, 7, 7, 0));
    net_repeat_ration_init(ration, 0);
    assert_true(pass_one(ration, RELIABLE, 7, 7, 0));
    assert_true(pass_one(ration, RELIABLE, 1, 0, 0)); // its numbers begin again
}
