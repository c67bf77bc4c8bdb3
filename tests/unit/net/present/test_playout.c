// SPDX-License-Identifier: MIT
#include "present/playout.h"

#include "test.h"

// A server with 60 Hz and packets with delay; frames at 144 Hz. Times are in microseconds.
typedef struct line {
    net_playout playout;
    base_rng rng;
    double rate_ppm; // the drift of the server's clock against the client's
    double jitter_us;
    double loss;
    double path_us;
    double server_us; // the time of the next tick, in the client's time
    uint64_t now_us;  // the time of the next frame
    ecs_tick tick;
    ecs_tick newest;       // the newest tick that arrived
    double arrivals[1024]; // [tick]
    // The results of the frames.
    double shown;
    double rate_min, rate_max, delay_max;
    uint32_t frames, backwards, ahead; // ahead: frames shown behind the newest arrived sample
} line;

enum { FRAME_US = 6944 };
static const double tick_us = 1e6 / 60;

static void open(line* l, uint64_t seed) {
    memset(l, 0, sizeof *l);
    net_playout_init(&l->playout, 60, 0);
    l->rng = base_rng_make(seed, 1);
    l->path_us = 40000;
    l->tick = 1000;
    l->now_us = 5000000;
    l->server_us = 5000000;
    for (uint32_t i = 0; i < 1024; i++)
        l->arrivals[i] = -1;
}

static double chance(line* l) {
    return (double)base_rng_u32(&l->rng) / 4294967296.0;
}

static void forget_frames(line* l) {
    l->rate_min = 1e9;
    l->rate_max = l->delay_max = 0;
    l->frames = l->backwards = l->ahead = 0;
}

// Make the ticks of the server until `now`, each with its time of arrival.
static void make_ticks(line* l) {
    while (l->server_us <= (double)l->now_us) {
        double late = l->jitter_us * chance(l);
        l->arrivals[l->tick % 1024] = chance(l) < l->loss ? -1 : l->server_us + l->path_us + late;
        l->tick++;
        l->server_us += tick_us * (1.0 + l->rate_ppm * 1e-6);
    }
}

static void receive(line* l) {
    for (;;) {
        ecs_tick next = 0;
        for (ecs_tick t = l->tick > 64 ? l->tick - 64 : 0; t < l->tick; t++) {
            double at = l->arrivals[t % 1024];
            if (at < 0 || at > (double)l->now_us) continue;
            if (next == 0 || at < l->arrivals[next % 1024]) next = t;
        }
        if (next == 0) return;
        net_playout_packet(&l->playout, (uint64_t)l->arrivals[next % 1024], next, 0);
        l->arrivals[next % 1024] = -1;
        if (next > l->newest) l->newest = next;
    }
}

static void frame(line* l) {
    make_ticks(l);
    receive(l);
    bool had = l->playout.has_shown;
    if (net_playout_advance(&l->playout, l->now_us)) {
        double shown = l->playout.shown;
        if (had) {
            double rate = (shown - l->shown) * tick_us / FRAME_US;
            if (rate < l->rate_min) l->rate_min = rate;
            if (rate > l->rate_max) l->rate_max = rate;
            l->backwards += shown < l->shown;
        }
        l->frames++;
        l->ahead += shown > (double)l->newest;
        l->shown = shown;
        double delay = net_playout_delay_ms(&l->playout);
        // When no newer tick arrives, the frame cannot show an earlier moment.
        bool is_starved = shown > (double)l->newest + 5.9;
        if (delay > l->delay_max && !is_starved) l->delay_max = delay;
    }
    l->now_us += FRAME_US;
}

static void run(line* l, double seconds) {
    uint64_t end = l->now_us + (uint64_t)(seconds * 1e6);
    while (l->now_us < end)
        frame(l);
}

// What frames show after some seconds.
static void measure(line* l, double warm, double seconds) {
    run(l, warm);
    forget_frames(l);
    run(l, seconds);
}

#define PLAYOUT_CASE(name, ...)                                                                    \
    CASE_WITH(net_playout, playout, net_playout_init(playout, __VA_ARGS__), (void)0, name)

PLAYOUT_CASE(nothing_is_shown_before_the_first_packet, 60, 0) {
    assert_false(net_playout_advance(playout, 1000));
    assert_true(playout->shown == 0);
    assert_true(net_playout_delay_ms(playout) == 0);
}

#define LINE_CASE(name, seed) CASE_WITH(line, l, open(l, seed), (void)0, name)

LINE_CASE(a_steady_line_is_shown_one_tick_late_at_the_servers_rate, 1) {
    measure(l, 20, 20);
    assert_true(l->rate_min > 0.999 && l->rate_max < 1.001);
    assert_true(l->delay_max > 16 && l->delay_max < 18);
    assert_int_equal(l->ahead, 0);
    assert_true(l->playout.late_us < 100);
}

LINE_CASE(a_smallest_delay_is_kept, 1) {
    net_playout_init(&l->playout, 60, 100);
    run(l, 20);
    assert_true(net_playout_delay_ms(&l->playout) > 99 && net_playout_delay_ms(&l->playout) < 101);
}

LINE_CASE(the_delay_covers_jitter_and_stays_small, 2) {
    l->jitter_us = 30000;
    measure(l, 5, 120);
    assert_true(l->delay_max < 30 + 17 + 5);
    assert_true(l->ahead * 100 < l->frames);
    assert_true(l->rate_min >= 0.949 && l->rate_max <= 1.051);
    assert_int_equal(l->backwards, 0);
    assert_true(l->playout.late_us > 25e3 && l->playout.late_us < 31e3);
}

LINE_CASE(lost_packets_are_waited_for_as_long_as_runs_are_likely, 3) {
    l->loss = 0.1;
    measure(l, 5, 120);
    assert_true(l->delay_max < 5 * 17);
    assert_true(l->ahead * 100 < l->frames);
    assert_int_equal(l->backwards, 0);
}

LINE_CASE(a_delay_that_is_not_needed_any_more_is_given_back, 4) {
    l->jitter_us = 100000;
    run(l, 10);
    assert_true(net_playout_delay_ms(&l->playout) > 90);
    l->jitter_us = 0;
    forget_frames(l);
    run(l, 40);
    assert_true(net_playout_delay_ms(&l->playout) < 20);
    assert_true(l->rate_min >= 0.949 && l->rate_max <= 1.051);
}

LINE_CASE(a_gap_of_ten_seconds_is_made_up_in_one_jump, 5) {
    run(l, 10);
    forget_frames(l);
    double before = l->shown;
    double loss = l->loss;
    l->loss = 1;
    run(l, 10);
    // The playout stops soon after the newest tick.
    assert_true(l->shown - before < 12);
    assert_int_equal(l->backwards, 0);
    l->loss = loss;
    run(l, 1);
    assert_true(l->shown - before > 10.5 * 60);
    assert_true(net_playout_delay_ms(&l->playout) < 50);
    assert_int_equal(l->backwards, 0);
    forget_frames(l);
    run(l, 5);
    assert_true(l->rate_max <= 1.051);
}

LINE_CASE(a_server_that_paused_is_followed_again, 6) {
    run(l, 10);
    l->server_us += 10e6;
    run(l, 20);
    assert_int_equal(l->backwards, 0);
    assert_true(net_playout_delay_ms(&l->playout) < 25);
    assert_true((double)l->newest - l->shown < 3);
}

LINE_CASE(the_delay_is_bounded_on_the_worst_of_lines, 7) {
    l->jitter_us = 900000;
    l->loss = 0.5;
    run(l, 60);
    assert_true(l->delay_max <= NET_DELAY_MS_MAX + 0.001);
    assert_int_equal(l->backwards, 0);
    // A line that becomes fast at once.
    l->jitter_us = 0;
    l->path_us = 1000;
    l->loss = 0;
    run(l, 10);
    assert_true(l->delay_max <= NET_DELAY_MS_MAX + 0.001);
    assert_int_equal(l->backwards, 0);
}

static const double ppm[] = {-200, 200};

CASE_ROWS(line, l, open(l, 8 + i), (void)0, i, 2, clocks_that_run_apart_do_not_drift_in_an_hour) {
    l->rate_ppm = ppm[i];
    l->jitter_us = 5000;
    run(l, 30);
    double first = (double)l->tick - l->shown;
    forget_frames(l);
    run(l, 3600);
    double drift_ms = ((double)l->tick - l->shown - first) * tick_us / 1000;
    assert_true(drift_ms > -10 && drift_ms < 10);
    assert_true(l->delay_max < 17 + 5 + 5);
    assert_true(l->rate_min >= 0.949 && l->rate_max <= 1.051);
    assert_int_equal(l->backwards, 0);
}

CASE(the_frame_rate_does_not_matter) {
    net_playout fast, slow;
    net_playout_init(&fast, 60, 0);
    net_playout_init(&slow, 60, 0);
    uint64_t start = 1000000;
    for (uint32_t i = 0; i < 6000; i++) {
        uint64_t now = start + i * 1000u;
        if (i % 50 == 0) {
            ecs_tick tick = 100 + i * 60 / 1000;
            net_playout_packet(&fast, now, tick, 0);
            net_playout_packet(&slow, now, tick, 0);
        }
        assert_true(net_playout_advance(&fast, now));
        if (i % 40 == 0) assert_true(net_playout_advance(&slow, now));
    }
    double difference = fast.shown - slow.shown;
    assert_true(difference > 0 && difference < 40 * 60 / 1000.0);
}

PLAYOUT_CASE(ticks_and_times_that_make_no_sense_do_no_harm, 60, 0) {
    net_playout_packet(playout, 5000000, UINT64_MAX, 0);
    assert_false(net_playout_advance(playout, 5000000));
    net_playout_packet(playout, 5000000, 100, 0);
    assert_true(net_playout_advance(playout, 5000000));
    double shown = playout->shown;
    // When the clock goes back, the playout time does not move.
    net_playout_packet(playout, 4000000, 101, 0);
    assert_true(net_playout_advance(playout, 3000000));
    assert_true(playout->shown >= shown);
    // When the server's tick jumps, the playout follows it.
    net_playout_packet(playout, 5100000, NET_SCENE_TICK_MAX, 0);
    assert_true(net_playout_advance(playout, 5200000));
    assert_true(playout->shown <= (double)NET_SCENE_TICK_MAX + 6);
    net_playout_packet(playout, 5216667, 102, 0);
    assert_true(net_playout_advance(playout, 5216667));
}

PLAYOUT_CASE(a_server_of_one_tick_a_second_is_followed, 1, 0) {
    double shown = 0;
    for (uint32_t i = 0; i < 60 * 60; i++) {
        uint64_t now = 1000000 + i * 16667u;
        if (i % 60 == 0) net_playout_packet(playout, now, 10 + i / 60, 0);
        assert_true(net_playout_advance(playout, now));
        assert_true(playout->shown >= shown);
        shown = playout->shown;
    }
    assert_true(shown > 67 && shown <= 69.2);
}

// A server without changes sends ten packets a second. The playout counts no loss, and shows a new
// movement without more delay.
PLAYOUT_CASE(ticks_that_were_left_out_are_no_losses, 60, 0) {
    uint64_t tick = 0;
    for (; tick < 300; tick++) // the server is busy
        net_playout_packet(playout, 1000000 + tick * 16667, tick + 1, 0);
    assert_true(playout->loss < 0.001);
    double busy_us = playout->target_us;
    for (; tick < 1200; tick += 6) { // the server is idle
        net_playout_packet(playout, 1000000 + tick * 16667, tick + 1, 5);
        assert_true(net_playout_advance(playout, 1000000 + tick * 16667));
        assert_true(playout->loss < 0.02);
    }
    assert_true(playout->step == 1.0);
    assert_true(playout->target_us < busy_us + 1000.0);
}

CASE(a_divisor_asks_for_as_many_ticks_more) {
    for (uint32_t divisor = 1; divisor <= NET_SEND_DIVISOR_MAX; divisor++) {
        net_playout playout;
        net_playout_init(&playout, 60, 0);
        for (uint64_t tick = 0; tick < 600; tick += divisor) {
            uint64_t now_us = 1000000 + tick * 16667;
            net_playout_packet(&playout, now_us, tick + 1, divisor - 1);
            assert_true(net_playout_advance(&playout, now_us));
        }
        assert_true(playout.step == (double)divisor);
        assert_true(playout.loss < 0.001);
        assert_true(playout.target_us >= divisor * 16600.0);
        // Every second packet is lost. This counts as loss, but the ticks that were left out do
        // not. By the numbers of ticks, each gap has one lost packet.
        net_playout_init(&playout, 60, 0);
        for (uint64_t tick = 0; tick < 600; tick += 2 * divisor)
            net_playout_packet(&playout, 1000000 + tick * 16667, tick + 1, 2 * divisor - 2);
        assert_true(playout.loss > 0.4 && playout.loss < 0.6);
    }
}
