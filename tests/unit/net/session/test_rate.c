// SPDX-License-Identifier: MIT
// The token bucket of a client: it never sends more than rate, bucket and one packet. The rate
// adapts to the connection.

#include "test.h"

#include "session/rate.h"

#define TICK_US 33333u

static void expect_near(double value, double wanted) {
    assert_true(value > wanted * 0.999 && value < wanted * 1.001);
}

CASE(the_smaller_wish_counts_and_the_least_rate_stays) {
    const struct {
        uint32_t ours, wish;
        double rate, max;
    } cases[] = {
        {256000, 0, NET_RATE_BYTES_START, 256000},
        {256000, 300000, NET_RATE_BYTES_START, 256000},
        {256000, 100000, NET_RATE_BYTES_START, 100000},
        {256000, 20000, 20000, 20000},
        {256000, NET_RATE_BYTES_MIN + 1, NET_RATE_BYTES_MIN + 1, NET_RATE_BYTES_MIN + 1},
        {256000, NET_RATE_BYTES_MIN, NET_RATE_BYTES_MIN, NET_RATE_BYTES_MIN},
        {256000, NET_RATE_BYTES_MIN - 1, NET_RATE_BYTES_MIN, NET_RATE_BYTES_MIN},
        {256000, 1, NET_RATE_BYTES_MIN, NET_RATE_BYTES_MIN},
        {1, 0, NET_RATE_BYTES_MIN, NET_RATE_BYTES_MIN},
        {UINT32_MAX, UINT32_MAX, NET_RATE_BYTES_START, UINT32_MAX},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        net_rate rate;
        net_rate_init(&rate, 0, cases[i].ours, cases[i].wish);
        expect_near(rate.rate, cases[i].rate);
        expect_near(rate.rate_max, cases[i].max);
        expect_near(rate.tokens, 2.0 * NET_RATE_PACKET_BYTES_MAX);
    }
}

// Send the largest packet whenever the bucket allows it, and check every window.
CASE(what_is_sent_never_exceeds_the_rate_by_more_than_bucket_and_a_packet) {
    enum { TICKS = 3000 };
    base_rng rng = test_rng(77, 1);
    const uint32_t rates[] = {8000, 20000, 64000, 256000};
    static double sent[TICKS];
    for (uint32_t r = 0; r < BASE_COUNT(rates); r++) {
        net_rate rate;
        uint64_t now_us = 5;
        net_rate_init(&rate, now_us, rates[r], 0);
        rate.rate = rates[r];
        double bucket = 2.0 * NET_RATE_PACKET_BYTES_MAX;
        double per_tick = rates[r] * TICK_US * 1e-6;
        if (per_tick > bucket) bucket = per_tick;
        for (uint32_t i = 0; i < TICKS; i++) {
            now_us += TICK_US;
            net_rate_refill(&rate, now_us);
            sent[i] = 0;
            while (net_rate_left(&rate) > 0) {
                uint32_t bytes = base_rng_u32(&rng) % (NET_STATE_BYTES_MAX + 1);
                net_rate_take(&rate, bytes);
                sent[i] += bytes + NET_RATE_OVERHEAD_BYTES;
            }
            assert_true(rate.tokens > -(double)NET_RATE_PACKET_BYTES_MAX);
        }
        for (uint32_t first = 0; first < TICKS; first += 97) {
            double sum = 0;
            for (uint32_t i = first; i < TICKS; i++) {
                sum += sent[i];
                double time_s = (i - first + 1) * TICK_US * 1e-6;
                assert_true(sum <= rates[r] * time_s + bucket + NET_RATE_PACKET_BYTES_MAX);
            }
        }
        double total = 0;
        for (uint32_t i = 0; i < TICKS; i++)
            total += sent[i];
        // The client also uses nearly the whole rate.
        assert_true(total > 0.99 * rates[r] * TICKS * TICK_US * 1e-6);
    }
}

static struct { uint64_t now_us, acked, lost; } way; // so far, of the case

static void open(net_rate* rate) {
    net_rate_init(rate, 0, 256000, 0);
    memset(&way, 0, sizeof way);
}

#define RATE_CASE(name) CASE_WITH(net_rate, rate, open(rate), (void)0, name)

RATE_CASE(a_silence_fills_the_bucket_and_no_more) {
    while (net_rate_left(rate) > 0)
        net_rate_take(rate, NET_STATE_BYTES_MAX);
    net_rate_refill(rate, 20000);
    net_rate_refill(rate, 20000); // no time passed, so no tokens
    net_rate_refill(rate, 10000); // time that runs back gives no tokens either
    expect_near(rate->tokens + NET_RATE_PACKET_BYTES_MAX, 480 + NET_RATE_PACKET_BYTES_MAX);
    net_rate_refill(rate, 3600u * UINT64_C(1000000));
    expect_near(rate->tokens, NET_RATE_BYTES_START); // the tokens of one second
}

// Run `seconds` with this loss and these round trips. The client always wants to get more.
static void drive(net_rate* rate, double seconds, uint32_t loss_of_100, uint64_t rtt_us) {
    uint64_t end_us = way.now_us + (uint64_t)(seconds * 1e6);
    uint32_t turn = 0;
    while (way.now_us < end_us) {
        way.now_us += TICK_US;
        for (uint32_t i = 0; i < 3; i++, turn++) {
            bool is_lost = turn % 100 * loss_of_100 / 100 != (turn % 100 + 1) * loss_of_100 / 100;
            *(is_lost ? &way.lost : &way.acked) += 1;
        }
        rate->was_short = true;
        net_rate_learn(rate, way.now_us, way.acked, way.lost, rtt_us);
    }
}

RATE_CASE(a_new_way_is_given_twice_as_much_each_half_second) {
    drive(rate, 1.2, 0, 50000);
    expect_near(rate->rate, NET_RATE_BYTES_START * 4.0);
    drive(rate, 1.2, 0, 50000);
    expect_near(rate->rate, 256000);
    assert_int_equal(rate->cuts, 0);
}

RATE_CASE(after_a_cut_a_clean_way_is_given_four_percent_per_second_up_to_the_limit) {
    drive(rate, 0.6, 10, 50000);
    assert_int_equal(rate->cuts, 1);
    double cut = rate->rate;
    drive(rate, 10.5, 0, 50000);
    assert_true(rate->rate > cut * 1.36 && rate->rate < cut * 1.49);
    assert_int_equal(rate->cuts, 1);
    drive(rate, 60, 0, 50000);
    expect_near(rate->rate, 256000);
}

RATE_CASE(who_wants_no_more_is_given_no_more) {
    for (uint64_t now_us = 0; now_us < 20000000; now_us += TICK_US)
        net_rate_learn(rate, now_us, now_us / 20000, 0, 50000);
    assert_int_equal(rate->raises, 0);
    expect_near(rate->rate, NET_RATE_BYTES_START);
}

RATE_CASE(loss_above_five_percent_takes_fifteen_down_to_the_least) {
    drive(rate, 0.6, 10, 50000);
    assert_int_equal(rate->cuts, 1);
    expect_near(rate->rate, NET_RATE_BYTES_START * 0.85);
    drive(rate, 30, 10, 50000);
    expect_near(rate->rate, NET_RATE_BYTES_MIN);
}

RATE_CASE(loss_of_three_percent_is_no_reason) {
    drive(rate, 60, 3, 50000);
    expect_near(rate->rate, 256000);
}

RATE_CASE(few_packets_say_nothing_of_loss) {
    // First 39 packets, a third of them lost; then the fortieth.
    net_rate_learn(rate, 600000, 26, 13, 50000);
    assert_int_equal(rate->cuts, 0);
    net_rate_learn(rate, 700000, 27, 13, 50000);
    assert_int_equal(rate->cuts, 1);
}

RATE_CASE(a_loss_that_is_taken_back_is_none) {
    net_rate_learn(rate, 600000, 98, 2, 50000);
    net_rate_learn(rate, 1200000, 200, 0, 50000);
    net_rate_learn(rate, 1800000, 300, 1, 50000);
    assert_int_equal(rate->cuts, 0);
}

CASE(a_round_trip_that_grows_takes_fifteen) {
    const struct {
        uint64_t rtt_us;
        bool is_cut;
    } cases[] = {{95000 - 1, false}, {95000, false}, {95000 + 1, true}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        net_rate rate;
        net_rate_init(&rate, 0, 256000, 0);
        net_rate_learn(&rate, 10000, 10, 0, 50000);
        net_rate_learn(&rate, 600000, 20, 0, cases[i].rtt_us); // 1.5 * 50 + 20 ms
        assert_int_equal(rate.cuts, cases[i].is_cut);
    }
}

RATE_CASE(a_way_that_became_longer_for_good_is_believed_after_a_minute) {
    drive(rate, 5, 0, 20000);
    drive(rate, 20, 0, 200000);
    assert_true(rate->held > 0);
    drive(rate, 45, 0, 200000);
    assert_true(rate->held == 0);
    const double before = rate->rate;
    drive(rate, 10, 0, 200000);
    assert_int_equal(rate->cuts, 1);
    assert_true(rate->rate >= before);
}

CASE(what_the_transport_sends_beyond_is_charged) {
    net_rate rate;
    net_rate_init(&rate, 0, 100000, 0);
    rate.rate = 100000;
    rate.paid = 5000; // the greeting
    double before = rate.tokens;
    net_rate_charge(&rate, 5000);
    expect_near(rate.tokens, before);
    net_rate_take(&rate, 1000);
    rate.paid += 300;
    double after = rate.tokens;
    net_rate_charge(&rate, 5000 + 1000 + NET_RATE_SEAL_BYTES + 300);
    expect_near(rate.tokens, after);
    net_rate_charge(&rate, 5000 + 1000 + NET_RATE_SEAL_BYTES + 300 + 400); // resends
    expect_near(rate.tokens, after - 400);
    net_rate_charge(&rate, 0); // a count that falls takes nothing
    expect_near(rate.tokens, after - 400);
    // A debt has a bound.
    net_rate_charge(&rate, 50000000);
    expect_near(-rate.tokens, NET_RATE_DEBT_S * rate.rate);
    net_rate_refill(&rate, 1000000);
    net_rate_refill(&rate, 2000000);
    net_rate_refill(&rate, 2100000);
    assert_true(net_rate_left(&rate) > 0);
}
