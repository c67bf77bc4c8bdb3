// SPDX-License-Identifier: MIT
#include "test.h"

#include "inputs.h"

static uint8_t payload[NET_INPUT_BYTES_MAX + 1];

static net_result push(net_inputs* inputs, uint32_t number) {
    uint8_t mark = (uint8_t)number;
    return net_inputs_push(inputs, number, &mark, 1);
}

static uint32_t take(net_inputs* inputs) {
    const net_input_entry* entry = net_inputs_take(inputs);
    if (!entry) return 0;
    assert_int_equal(entry->payload[0], (uint8_t)entry->number);
    return entry->number;
}

static void inputs_are_played_one_per_tick_in_order(void** state) {
    (void)state;
    net_inputs inputs;
    net_inputs_init(&inputs);
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(push(&inputs, i), NET_OK);
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(take(&inputs), i);
    assert_int_equal(inputs.received, 5);
    assert_int_equal(inputs.missing, 0);
    assert_int_equal(inputs.skipped, 0);
}

static void repeats_of_the_redundancy_are_stale_and_counted(void** state) {
    (void)state;
    net_inputs inputs;
    net_inputs_init(&inputs);
    for (uint32_t packet = 1; packet <= 20; packet++) {
        uint32_t first = packet > NET_INPUT_REDUNDANCY ? packet - NET_INPUT_REDUNDANCY + 1 : 1;
        for (uint32_t i = first; i <= packet; i++)
            assert_int_equal(push(&inputs, i), i == packet ? NET_OK : NET_ERR_STALE);
        assert_int_equal(take(&inputs), packet);
    }
    assert_int_equal(inputs.duplicate, 28 + 12 * 7);
    assert_int_equal(inputs.repeated, 0);
    assert_int_equal(push(&inputs, 0), NET_ERR_STALE);
}

static void numbers_that_never_came_are_counted_as_missing(void** state) {
    (void)state;
    net_inputs inputs;
    net_inputs_init(&inputs);
    // A client's first packets may be lost: what lies before the first number is not missing.
    assert_int_equal(push(&inputs, 5), NET_OK);
    assert_int_equal(inputs.missing, 0);
    assert_int_equal(push(&inputs, 9), NET_OK);
    assert_int_equal(inputs.missing, 3);
    assert_int_equal(push(&inputs, 7), NET_ERR_STALE);
    assert_int_equal(take(&inputs), 5);
    assert_int_equal(take(&inputs), 9);
    assert_int_equal(push(&inputs, UINT32_MAX), NET_OK);
    assert_int_equal(push(&inputs, UINT32_MAX), NET_ERR_STALE);
    assert_int_equal(push(&inputs, 1), NET_ERR_STALE);
}

static void a_tick_without_an_input_is_a_repeat_once_the_client_has_started(void** state) {
    (void)state;
    net_inputs inputs;
    net_inputs_init(&inputs);
    assert_null(net_inputs_take(&inputs));
    assert_int_equal(inputs.repeated, 0);
    assert_int_equal(push(&inputs, 1), NET_OK);
    assert_int_equal(take(&inputs), 1);
    assert_null(net_inputs_take(&inputs));
    assert_null(net_inputs_take(&inputs));
    assert_int_equal(inputs.repeated, 2);
    assert_int_equal(push(&inputs, 2), NET_OK);
    assert_int_equal(take(&inputs), 2);
}

static void a_ring_deeper_than_its_limit_skips_to_half_of_it(void** state) {
    (void)state;
    for (uint32_t depth = NET_INPUT_DEPTH_MAX - 1; depth <= NET_INPUT_DEPTH_MAX + 1; depth++) {
        net_inputs inputs;
        net_inputs_init(&inputs);
        for (uint32_t i = 1; i <= depth; i++)
            assert_int_equal(push(&inputs, i), NET_OK);
        if (depth <= NET_INPUT_DEPTH_MAX) {
            assert_int_equal(take(&inputs), 1);
            assert_int_equal(inputs.skipped, 0);
        } else {
            assert_int_equal(take(&inputs), depth - NET_INPUT_DEPTH_MAX / 2 + 1);
            assert_int_equal(inputs.skipped, depth - NET_INPUT_DEPTH_MAX / 2);
            assert_int_equal(inputs.count, NET_INPUT_DEPTH_MAX / 2 - 1);
        }
    }
}

static void a_full_ring_refuses_and_takes_the_same_number_later(void** state) {
    (void)state;
    net_inputs inputs;
    net_inputs_init(&inputs);
    for (uint32_t i = 1; i <= NET_INPUT_RING; i++)
        assert_int_equal(push(&inputs, i), NET_OK);
    assert_int_equal(push(&inputs, NET_INPUT_RING + 1), NET_ERR_FULL);
    assert_int_equal(inputs.refused, 1);
    assert_int_equal(inputs.newest, NET_INPUT_RING);
    assert_int_equal(take(&inputs), NET_INPUT_RING - NET_INPUT_DEPTH_MAX / 2 + 1);
    assert_int_equal(push(&inputs, NET_INPUT_RING + 1), NET_OK);
}

static void payloads_are_taken_up_to_their_limit(void** state) {
    (void)state;
    net_inputs inputs;
    net_inputs_init(&inputs);
    assert_int_equal(net_inputs_push(&inputs, 1, NULL, 0), NET_OK);
    assert_int_equal(net_inputs_push(&inputs, 2, payload, NET_INPUT_BYTES_MAX - 1), NET_OK);
    assert_int_equal(net_inputs_push(&inputs, 3, payload, NET_INPUT_BYTES_MAX), NET_OK);
    assert_int_equal(net_inputs_push(&inputs, 4, payload, NET_INPUT_BYTES_MAX + 1),
                     NET_ERR_MALFORMED);
    assert_int_equal(inputs.newest, 3);
    assert_int_equal(net_inputs_take(&inputs)->size, 0);
    assert_int_equal(net_inputs_take(&inputs)->size, NET_INPUT_BYTES_MAX - 1);
    assert_int_equal(net_inputs_take(&inputs)->size, NET_INPUT_BYTES_MAX);
}

static void the_ring_goes_round_for_ever(void** state) {
    (void)state;
    net_inputs inputs;
    net_inputs_init(&inputs);
    uint32_t taken = 0;
    for (uint32_t i = 1; i <= 10 * NET_INPUT_RING; i++) {
        assert_int_equal(push(&inputs, i), NET_OK);
        if (i >= 5) assert_int_equal(take(&inputs), ++taken);
    }
    assert_int_equal(inputs.count, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(inputs_are_played_one_per_tick_in_order),
        TEST(repeats_of_the_redundancy_are_stale_and_counted),
        TEST(numbers_that_never_came_are_counted_as_missing),
        TEST(a_tick_without_an_input_is_a_repeat_once_the_client_has_started),
        TEST(a_ring_deeper_than_its_limit_skips_to_half_of_it),
        TEST(a_full_ring_refuses_and_takes_the_same_number_later),
        TEST(payloads_are_taken_up_to_their_limit),
        TEST(the_ring_goes_round_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
