// SPDX-License-Identifier: MIT
#include "transport/datagram_filter.h"
#include "raw_datagram.h"

#include "net/limits.h"
#include "net/transport.h"

#include "test.h"

static bool check_with(raw* datagram, bool is_server, uint32_t sequence) {
    net_filter_context context = {is_server, (uint16_t)sequence};
    // Copy it to a block of its exact size: a sanitizer sees a read past the end.
    uint8_t* tight = malloc(datagram->size ? datagram->size : 1);
    assert_non_null(tight);
    memcpy(tight, datagram->bytes, datagram->size);
    bool is_sound = net_filter_check(tight, datagram->size, &context);
    memcpy(datagram->bytes, tight, datagram->size);
    free(tight);
    return is_sound;
}

static bool check(raw datagram) {
    return check_with(&datagram, true, 0);
}

static raw reliable(uint32_t sequence, uint32_t size) {
    raw made = raw_begin(0x8001);
    raw_add(&made, 0x86, 0, sequence, "2", size);
    made.size += size;
    return made;
}

static raw unsequenced(uint32_t size) {
    raw made = raw_begin(0x0001);
    raw_add(&made, 0x49, 1, 0, "22", 5, size);
    made.size += size;
    return made;
}

static raw fragment(uint32_t count, uint32_t number, uint32_t total, uint32_t offset,
                    uint32_t size) {
    raw made = raw_begin(0x8001);
    raw_add(&made, 0x88, 0, 1, "224444", 1, size, count, number, total, offset);
    made.size += size;
    return made;
}

static raw connect(uint32_t head) {
    raw made = raw_begin(head);
    raw_add(&made, 0x82, 0xFF, 1, "4", 0);
    for (uint32_t i = 0; i < 10; i++)
        raw_put(&made, 0x01010101 * (i + 1), 4);
    return made;
}

CASE(commands_of_ours_pass) {
    assert_true(check(connect(0x8FFF)));
    assert_true(check(reliable(1, 1)));
    assert_true(check(fragment(15, 14, NET_CONTROL_BYTES_MAX, 16000, 384)));
    raw several = raw_begin(0x9002);
    raw_add(&several, 0x01, 0, 0, "4", 1);
    raw_add(&several, 0x85, 0xFF, 3, "");
    raw_add(&several, 0x84, 0xFF, 4, "4", 9);
    assert_true(check(several));
}

CASE(payloads_have_limits) {
    assert_false(check(unsequenced(0))); // packets go past ENet
    assert_false(check(unsequenced(1)));
    assert_false(check(reliable(1, 0)));
    assert_true(check(reliable(1, NET_DATAGRAM_BYTES_MAX - 10)));
    assert_false(check(reliable(1, NET_DATAGRAM_BYTES_MAX - 9)));
    raw cut = reliable(1, 100);
    cut.size--;
    assert_false(check(cut));
}

CASE(fragments_have_limits) {
    assert_true(check(fragment(31, 0, 100, 0, 1)));
    assert_true(check(fragment(32, 31, 100, 0, 1)));
    assert_false(check(fragment(33, 0, 100, 0, 1)));
    assert_false(check(fragment(0, 0, 100, 0, 1)));
    assert_false(check(fragment(2, 2, 100, 0, 1)));
    assert_false(check(fragment(2, 0, NET_CONTROL_BYTES_MAX + 1, 0, 1)));
    assert_true(check(fragment(2, 0, 100, 99, 1)));
    assert_false(check(fragment(2, 0, 100, 99, 2)));
    assert_false(check(fragment(2, 0, 100, 100, 1)));
    assert_false(check(fragment(2, 0, 100, UINT32_MAX, 1)));
    assert_false(check(fragment(2, 0, 100, 0, 0)));
}

CASE(reliable_commands_far_ahead_are_refused_across_the_wrap) {
    static const struct {
        uint32_t newest, sequence;
        bool is_sound;
    } cases[] = {
        {0, 255, true},
        {0, 256, true},
        {0, 257, false},
        {0, 20000, false},
        {65500, 220, true},
        {65500, 221, false},
        {1000, 1, true}, // an old one: it is answered
                         // again
        {1, 65535, true},
    };
    for (size_t i = 0; i < BASE_COUNT(cases); i++) {
        raw asked = reliable(cases[i].sequence, 4);
        assert_int_equal(check_with(&asked, true, cases[i].newest), cases[i].is_sound);
    }
}

CASE(datagrams_have_at_most_thirty_two_commands) {
    for (uint32_t count = 31; count <= 33; count++) {
        raw pings = raw_begin(0x8001);
        for (uint32_t i = 0; i < count; i++)
            raw_add(&pings, 0x85, 0xFF, i, "");
        assert_int_equal(check(pings), count <= 32);
    }
}

CASE(unknown_addresses_may_only_connect_and_only_to_a_server) {
    raw asked = connect(0x8FFF);
    assert_false(check_with(&asked, false, 0));
    assert_false(check(connect(0x8001))); // the address already has a peer
    assert_false(check(connect(0x0FFF))); // without the time of sending
    raw ping = raw_begin(0x8FFF);
    raw_add(&ping, 0x85, 0xFF, 1, "");
    assert_false(check(ping));
    raw company = connect(0x8FFF);
    raw_add(&company, 0x85, 0xFF, 1, "");
    assert_false(check(company));
}

CASE(what_we_never_use_is_refused) {
    raw compressed = reliable(1, 4);
    compressed.bytes[0] |= 0x40;
    assert_false(check(compressed));
    raw untimed = raw_begin(0x0001);
    raw_add(&untimed, 0x85, 0xFF, 1, "");
    assert_false(check(untimed));
    static const uint32_t never[] = {0, 7, 12, 13, 14, 15};
    for (size_t i = 0; i < BASE_COUNT(never); i++) {
        raw asked = raw_begin(0x8001);
        raw_add(&asked, never[i] | 0x80, 1, 1, "");
        asked.size += 44;
        assert_false(check(asked));
    }
    raw wrong_channel = reliable(1, 4);
    wrong_channel.bytes[5] = 1;
    assert_false(check(wrong_channel));
    wrong_channel = unsequenced(4);
    wrong_channel.bytes[3] = 0;
    assert_false(check(wrong_channel));
    raw acknowledged = raw_begin(0x8001);
    raw_add(&acknowledged, 0x81, 0, 0, "4", 0);
    assert_false(check(acknowledged));
}

CASE(parameters_of_the_other_side_become_ours) {
    raw asked = connect(0x8FFF);
    assert_true(check_with(&asked, true, 0));
    raw expected = connect(0x8FFF);
    static const uint8_t mtu[] = {0, 0, NET_MTU_BYTES >> 8, NET_MTU_BYTES & 0xFF};
    memcpy(expected.bytes + 4 + 8, mtu, sizeof mtu);
    memset(expected.bytes + 4 + 20, 0, 8);
    assert_memory_equal(asked.bytes, expected.bytes, expected.size);
    raw throttle = raw_begin(0x8001);
    raw_add(&throttle, 0x8B, 0xFF, 1, "");
    for (int i = 0; i < 3; i++)
        raw_put(&throttle, UINT32_MAX, 4);
    assert_true(check_with(&throttle, true, 0));
    static const uint8_t ours[] = {0, 0, 5000 >> 8, 5000 & 0xFF, 0, 0, 0, 32, 0, 0, 0, 0};
    assert_memory_equal(throttle.bytes + 8, ours, sizeof ours);
}

CASE(short_datagrams_are_refused) {
    raw whole = reliable(1, 4);
    for (size_t size = 0; size < whole.size; size++) {
        raw cut = whole;
        cut.size = size;
        assert_false(check(cut));
    }
    assert_int_equal(net_filter_peer(whole.bytes, 1), NET_FILTER_NO_PEER);
    assert_int_equal(net_filter_peer(whole.bytes, 2), 1);
}

CASE(any_bytes_get_a_verdict) {
    base_rng rng = test_rng(20, 0);
    const raw seeds[] = {connect(0x8FFF), reliable(1, 30), unsequenced(30),
                         fragment(2, 1, 100, 50, 50)};
    for (int i = 0; i < 100000; i++) {
        raw bent = seeds[base_rng_below(&rng, BASE_COUNT(seeds))];
        uint32_t changes = base_rng_below(&rng, 6);
        for (uint32_t k = 0; k < changes; k++)
            bent.bytes[base_rng_below(&rng, (uint32_t)bent.size)] = (uint8_t)base_rng_u32(&rng);
        bent.size = base_rng_below(&rng, (uint32_t)bent.size + 1);
        const net_filter_context context = {base_rng_chance(&rng, 0.5),
                                            (uint16_t)base_rng_u32(&rng)};
        net_repeat_ration ration = {0};
        uint8_t* exact = malloc(bent.size + 1);
        assert_non_null(exact);
        memcpy(exact + 1, bent.bytes, bent.size);
        if (net_filter_check(exact + 1, bent.size, &context))
            (void)net_repeat_ration_pass(&ration, exact + 1, bent.size, &context, 0);
        free(exact);
    }
}
