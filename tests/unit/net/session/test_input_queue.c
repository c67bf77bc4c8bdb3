// SPDX-License-Identifier: MIT
#include "test.h"

#include "session/pace.h"

static uint8_t payload[NET_INPUT_BYTES_MAX + 1];

#define REPEAT_TICKS_MAX 30u

static net_result push_as(net_input_queue* inputs, uint32_t number, uint8_t mark) {
    return net_input_queue_push(inputs, number, &mark, 1, 0);
}

static net_result push(net_input_queue* inputs, uint32_t number) {
    return push_as(inputs, number, (uint8_t)number);
}

static net_input_turn turn(net_input_queue* inputs, const net_input** entry) {
    net_input_turn turn = net_input_queue_take(inputs, REPEAT_TICKS_MAX, entry);
    assert_int_equal(turn == NET_INPUT_NEXT, *entry != NULL);
    return turn;
}

// Take the input of a tick. @return its number; 0 when the tick has no own input.
static uint32_t take(net_input_queue* inputs) {
    const net_input* entry;
    return turn(inputs, &entry) == NET_INPUT_NEXT ? entry->number : 0;
}

// Input 1 was taken, and this many ticks repeated it.
static void repeat(net_input_queue* inputs, uint32_t ticks) {
    assert_ok(push_as(inputs, 1, 7));
    assert_int_equal(take(inputs), 1);
    for (uint32_t i = 0; i < ticks; i++)
        assert_int_equal(take(inputs), 0);
    assert_int_equal(inputs->owed, ticks);
    assert_int_equal(inputs->repeated, ticks);
}

#define QUEUE_CASE(name)                                                                           \
    CASE_WITH(net_input_queue, inputs, net_input_queue_init(inputs, NULL),                         \
              net_input_queue_deinit(inputs), name)

QUEUE_CASE(repeats_of_the_redundancy_are_stale_and_counted) {
    for (uint32_t packet = 1; packet <= 20; packet++) {
        uint32_t first = packet > NET_INPUT_REDUNDANCY ? packet - NET_INPUT_REDUNDANCY + 1 : 1;
        for (uint32_t i = first; i <= packet; i++)
            assert_int_equal(push(inputs, i), i == packet ? NET_OK : NET_ERR_STALE);
        assert_int_equal(take(inputs), packet);
    }
    assert_int_equal(inputs->duplicate, 28 + 12 * 7);
    assert_int_equal(inputs->repeated, 0);
    assert_int_equal(push(inputs, 0), NET_ERR_STALE);
}

CASE_ROWS(net_input_queue, inputs, net_input_queue_init(inputs, NULL),
          net_input_queue_deinit(inputs), i, 3, a_ring_deeper_than_its_limit_skips_to_half_of_it) {
    const uint32_t depth = NET_INPUT_DEPTH_MAX - 1 + i;
    for (uint32_t k = 1; k <= depth; k++)
        assert_ok(push(inputs, k));
    if (depth <= NET_INPUT_DEPTH_MAX) {
        assert_int_equal(take(inputs), 1);
        assert_int_equal(inputs->skipped, 0);
    } else {
        assert_int_equal(take(inputs), depth - NET_INPUT_DEPTH_MAX / 2 + 1);
        assert_int_equal(inputs->skipped, depth - NET_INPUT_DEPTH_MAX / 2);
        assert_int_equal(inputs->count, NET_INPUT_DEPTH_MAX / 2 - 1);
    }
}

// A paused match takes no inputs, and its clients go on: they write short forms of their numbers,
// near the newest one that came.
QUEUE_CASE(a_full_ring_skips_and_keeps_the_newest) {
    for (uint32_t i = 1; i <= NET_INPUT_RING; i++)
        assert_ok(push(inputs, i));
    assert_int_equal(inputs->count, NET_INPUT_RING);
    assert_ok(push(inputs, NET_INPUT_RING + 1));
    assert_int_equal(inputs->count, NET_INPUT_DEPTH_MAX / 2 + 1);
    assert_int_equal(inputs->skipped, NET_INPUT_RING - NET_INPUT_DEPTH_MAX / 2);
    for (uint32_t i = NET_INPUT_RING + 2; i <= 100 * NET_INPUT_RING; i++)
        assert_ok(push(inputs, i));
    assert_int_equal(inputs->newest, 100 * NET_INPUT_RING);
    assert_in_range(inputs->count, 1, NET_INPUT_RING);
    assert_true(take(inputs) > 99 * NET_INPUT_RING);
}

QUEUE_CASE(payloads_are_taken_up_to_their_limit) {
    assert_ok(net_input_queue_push(inputs, 1, NULL, 0, 0));
    assert_ok(net_input_queue_push(inputs, 2, payload, NET_INPUT_BYTES_MAX - 1, 0));
    assert_ok(net_input_queue_push(inputs, 3, payload, NET_INPUT_BYTES_MAX, 0));
    assert_int_equal(net_input_queue_push(inputs, 4, payload, NET_INPUT_BYTES_MAX + 1, 0),
                     NET_ERR_MALFORMED);
    assert_int_equal(inputs->newest, 3);
    const net_input* entry;
    for (uint32_t i = 0; i < 3; i++) {
        static const uint32_t sizes[] = {0, NET_INPUT_BYTES_MAX - 1, NET_INPUT_BYTES_MAX};
        assert_int_equal(turn(inputs, &entry), NET_INPUT_NEXT);
        assert_int_equal(entry->size, sizes[i]);
    }
}

QUEUE_CASE(a_late_input_that_differs_is_played_and_the_debt_forgiven) {
    repeat(inputs, 3);
    assert_ok(push_as(inputs, 2, 7));
    assert_ok(push_as(inputs, 3, 8)); // press
    assert_ok(push_as(inputs, 4, 7)); // release
    assert_int_equal(take(inputs), 3);
    assert_int_equal(inputs->settled, 1);
    assert_int_equal(inputs->late, 1);
    assert_int_equal(inputs->owed, 0);
    assert_int_equal(take(inputs), 4);
    assert_int_equal(inputs->received, 4);
}

QUEUE_CASE(a_tick_that_settles_all_it_has_repeats_again) {
    repeat(inputs, 1);
    for (uint32_t i = 2; i <= 500; i++) {
        assert_ok(push_as(inputs, i, 7));
        assert_int_equal(take(inputs), 0);
        assert_int_equal(inputs->used, i);
        assert_int_equal(inputs->owed, 1);
    }
    assert_int_equal(inputs->settled, 499);
    assert_int_equal(inputs->rests, 0);
}

QUEUE_CASE(an_input_that_never_came_pays_for_the_tick_that_repeated) {
    repeat(inputs, 2);
    assert_ok(push_as(inputs, 4, 7)); // 2 and 3 are lost for good
    assert_int_equal(take(inputs), 4);
    assert_int_equal(inputs->missing, 2);
    assert_int_equal(inputs->settled, 0);
    assert_int_equal(inputs->late, 0);
    assert_int_equal(inputs->owed, 0);
}

QUEUE_CASE(a_silent_client_comes_to_rest_once) {
    const net_input* entry;
    assert_int_equal(turn(inputs, &entry), NET_INPUT_NONE);
    for (uint32_t round = 1; round <= 3; round++) {
        assert_ok(push_as(inputs, round * 100, 7));
        assert_int_equal(turn(inputs, &entry), NET_INPUT_NEXT);
        for (uint32_t i = 0; i < REPEAT_TICKS_MAX; i++)
            assert_int_equal(turn(inputs, &entry), NET_INPUT_AGAIN);
        assert_int_equal(inputs->owed, REPEAT_TICKS_MAX);
        assert_int_equal(turn(inputs, &entry), NET_INPUT_REST);
        assert_int_equal(inputs->owed, 0);
        for (uint32_t i = 0; i < 100; i++)
            assert_int_equal(turn(inputs, &entry), NET_INPUT_NONE);
        assert_int_equal(inputs->rests, round);
        assert_int_equal(inputs->repeated, round * REPEAT_TICKS_MAX);
    }
}

QUEUE_CASE(what_is_owed_is_bounded) {
    repeat(inputs, 0);
    // Half as many inputs as ticks, for a long time.
    for (uint32_t i = 2; i <= 1000; i++) {
        assert_int_equal(take(inputs), 0);
        assert_ok(push_as(inputs, i, 7));
        assert_int_equal(take(inputs), 0);
        assert_true(inputs->owed <= REPEAT_TICKS_MAX);
    }
    assert_ok(push_as(inputs, 1001, 8));
    assert_int_equal(take(inputs), 1001);
    assert_int_equal(inputs->owed, 0);
}

QUEUE_CASE(thinning_out_keeps_what_changes_something) {
    assert_ok(push_as(inputs, 1, 0));
    assert_int_equal(take(inputs), 1);
    // A press and a release, among many inputs without a change.
    for (uint32_t i = 2; i <= 21; i++)
        assert_ok(push_as(inputs, i, i == 5 || i == 15));
    uint32_t marks = 0, taken = 0, last = 1;
    const net_input* entry;
    while (inputs->count > 0) {
        assert_int_equal(turn(inputs, &entry), NET_INPUT_NEXT);
        assert_true(entry->number > last);
        last = entry->number;
        marks += entry->payload[0];
        taken++;
    }
    assert_int_equal(marks, 2);
    assert_int_equal(taken, NET_INPUT_DEPTH_MAX / 2);
    assert_int_equal(inputs->skipped, 20 - NET_INPUT_DEPTH_MAX / 2);
    assert_int_equal(last, 21);
    assert_int_equal(inputs->used, 21);
}

// For any order of arrivals and ticks, every change of the payload takes effect as long as the
// queue skips no input.
CASE(no_press_is_lost_whatever_comes_when) {
    base_rng rng = base_rng_make(20261, 3);
    for (uint32_t run = 0; run < 50; run++) {
        net_input_queue inputs;
        net_input_queue_init(&inputs, NULL);
        uint8_t sent = 0, seen = 0;
        uint32_t sent_changes = 0, seen_changes = 0, number = 0, behind = 0;
        const net_input* entry;
        for (uint32_t tick = 0; tick < 2000; tick++) {
            behind++; // the client made it; it is still on its way
            uint32_t arriving = base_rng_below(&rng, behind < 6 ? behind + 1 : 6);
            if (inputs.count + arriving > NET_INPUT_DEPTH_MAX) arriving = 0;
            for (; arriving > 0; arriving--, behind--) {
                uint8_t mark = base_rng_chance(&rng, 0.1) ? (uint8_t)(1 - sent) : sent;
                sent_changes += mark != sent;
                sent = mark;
                assert_ok(push_as(&inputs, ++number, mark));
            }
            if (turn(&inputs, &entry) == NET_INPUT_NEXT) {
                seen_changes += entry->payload[0] != seen;
                seen = entry->payload[0];
            }
        }
        while (inputs.count > 0) {
            if (turn(&inputs, &entry) != NET_INPUT_NEXT) continue;
            seen_changes += entry->payload[0] != seen;
            seen = entry->payload[0];
        }
        assert_int_equal(inputs.skipped, 0);
        assert_int_equal(seen_changes, sent_changes);
        assert_int_equal(inputs.used, number);
        net_input_queue_deinit(&inputs);
    }
}
