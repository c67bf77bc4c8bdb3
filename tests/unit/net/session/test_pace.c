// SPDX-License-Identifier: MIT
// The client's clock against a server's, both virtual. The queue of inputs stays short and is never
// empty, for all clocks, delays and starts.

#include "test.h"

#include "session/pace.h"

#define TICK_US (1e6 / 60.0)
#define FLIGHT_MAX 256u
#define REPEAT_TICKS_MAX 30u

typedef struct flight {
    double arrives;
    uint64_t a;
    uint32_t b, c;
} flight;

typedef struct line {
    net_pace pace;
    net_input_queue inputs;
    base_rng rng;
    double now_us; // the server's clock
    double clock;  // how much faster the client's clock runs
    double way_us, jitter_us, loss;
    double client_us; // the start of the client's clock
    double server_next_us;
    uint64_t server_tick;
    uint32_t number;
    flight up[FLIGHT_MAX], down[FLIGHT_MAX];
    uint32_t up_count, down_count;
    double stalled_until_us; // the client does nothing until then
    uint32_t depth_max;
    uint64_t depth_sum, depth_ticks;
    uint32_t every; // ticks between reports of a server without changes; 0: a report in each tick.
                    // The server also reports when an input was used or missed.
    uint32_t owed_sent;
    uint64_t fates_sent;
} line;

static line* line_open(double ppm, double way_us, double jitter_us, double loss) {
    line* l = calloc(1, sizeof *l);
    assert_non_null(l);
    net_pace_init(&l->pace, 60);
    net_input_queue_init(&l->inputs, NULL);
    l->rng = base_rng_make(7, 7);
    l->clock = 1.0 + ppm * 1e-6;
    l->way_us = way_us;
    l->jitter_us = jitter_us;
    l->loss = loss;
    l->now_us = 1e6;
    l->server_next_us = l->now_us + 5000.0;
    return l;
}

static void line_close(line* l) {
    net_input_queue_deinit(&l->inputs);
    free(l);
}

static double travel(line* l) {
    return l->now_us + l->way_us + l->jitter_us * (double)base_rng_float(&l->rng);
}

static bool is_lost(line* l) {
    return l->loss > 0 && base_rng_chance(&l->rng, l->loss);
}

static uint64_t client_now(const line* l) {
    return (uint64_t)(l->now_us * l->clock);
}

static void client_tick(line* l) {
    net_pace_tick(&l->pace, client_now(l));
    l->number++;
    if (!is_lost(l))
        l->up[l->up_count++ % FLIGHT_MAX] = (flight){.arrives = travel(l), .a = l->number};
}

static void arrive(line* l) {
    for (uint32_t i = 0; i < FLIGHT_MAX; i++) {
        flight* up = &l->up[i];
        if (up->a > 0 && up->arrives <= l->now_us) {
            uint32_t newest = (uint32_t)up->a;
            uint32_t first = newest > NET_INPUT_REDUNDANCY ? newest - NET_INPUT_REDUNDANCY + 1 : 1;
            for (uint32_t n = first; n <= newest; n++) {
                uint8_t mark = (uint8_t)n;
                if (n > l->inputs.newest) (void)net_input_queue_push(&l->inputs, n, &mark, 1, 0);
            }
            up->a = 0;
        }
        flight* down = &l->down[i];
        if (down->a > 0 && down->arrives <= l->now_us && l->now_us >= l->stalled_until_us) {
            net_pace_report(&l->pace, client_now(l), down->a, down->b, down->c,
                            (uint64_t)(2 * l->way_us + l->jitter_us), l->loss * 100.0);
            down->a = 0;
        }
    }
}

static void server_tick(line* l) {
    const net_input* entry;
    (void)net_input_queue_take(&l->inputs, REPEAT_TICKS_MAX, &entry);
    l->server_tick++;
    l->depth_max = l->inputs.count > l->depth_max ? l->inputs.count : l->depth_max;
    l->depth_sum += l->inputs.count;
    l->depth_ticks++;
    uint64_t fates = l->inputs.skipped + l->inputs.settled + l->inputs.late + l->inputs.rests;
    bool is_due = l->every <= 1 || l->server_tick % l->every == 0 ||
                  l->inputs.owed != l->owed_sent || fates != l->fates_sent;
    l->server_next_us += TICK_US;
    if (!is_due) return;
    l->owed_sent = l->inputs.owed;
    l->fates_sent = fates;
    if (l->inputs.used > 0 && !is_lost(l))
        l->down[l->down_count++ % FLIGHT_MAX] = (flight){
            .arrives = travel(l), .a = l->server_tick, .b = l->inputs.count, .c = l->inputs.owed};
}

static void run(line* l, double seconds) {
    double end_us = l->now_us + seconds * 1e6;
    while (l->now_us < end_us) {
        double client_us = (double)net_pace_next_us(&l->pace) / l->clock;
        if (client_us < l->stalled_until_us) client_us = l->stalled_until_us;
        double next = client_us < l->server_next_us ? client_us : l->server_next_us;
        if (next > l->now_us) l->now_us = next;
        arrive(l);
        if (l->now_us + 1.0 >= client_us) client_tick(l);
        if (l->now_us >= l->server_next_us) server_tick(l);
    }
}

static void forget(line* l) {
    l->depth_max = 0;
    l->depth_sum = l->depth_ticks = 0;
    l->inputs.repeated = l->inputs.late = l->inputs.skipped = 0;
}

static double mean(const line* l) {
    return (double)l->depth_sum / (double)l->depth_ticks;
}

CASE(the_depth_does_not_drift_over_an_hour) {
    static const double ppm[] = {-200, 0, 200};
    for (uint32_t i = 0; i < 3; i++) {
        line* l = line_open(ppm[i], 40e3, 0, 0);
        run(l, 10);
        forget(l);
        run(l, 3600);
        printf("%+.0f ppm\n", ppm[i]);
        assert_int_equal(l->inputs.repeated, 0);
        assert_int_equal(l->inputs.skipped, 0);
        assert_int_equal(l->inputs.missing, 0);
        assert_true(l->depth_max <= 3);
        assert_true(mean(l) > 0.5 && mean(l) < 2.5);
        line_close(l);
    }
}

// Ten reports a second control the clock as well as sixty do: a server without news sends so many.
CASE(jitter_and_loss_deepen_the_ring_until_inputs_are_in_time) {
    static const struct {
        double way_us, jitter_us, loss, ppm;
        uint32_t every;
    } CASES[] = {{10e3, 0, 0, 50, 0},       {50e3, 30e3, 0, 50, 0},    {50e3, 30e3, 0.05, 50, 0},
                 {100e3, 30e3, 0.1, 50, 0}, {150e3, 30e3, 0.1, 50, 0}, {10e3, 0, 0.1, 50, 0},
                 {10e3, 0, 0, 0, 6},        {40e3, 0, 0, 200, 6},      {50e3, 30e3, 0, -200, 6},
                 {50e3, 30e3, 0.05, 50, 6}, {150e3, 30e3, 0.1, 50, 6}};
    for (uint32_t i = 0; i < BASE_COUNT(CASES); i++) {
        line* l = line_open(CASES[i].ppm, CASES[i].way_us, CASES[i].jitter_us, CASES[i].loss);
        l->every = CASES[i].every;
        run(l, 30);
        forget(l);
        run(l, 300);
        printf("row %u\n", i);
        double percent = 100.0 * (double)l->inputs.repeated / (double)l->depth_ticks;
        assert_true(percent < 0.5);
        assert_int_equal(l->inputs.skipped, 0);
        assert_int_equal(l->inputs.missing, 0);
        assert_true(mean(l) < NET_PACE_DEPTH_MAX);
        line_close(l);
    }
}

// Also the start with a server without news: half a second of reports, one round trip.
CASE(the_start_and_a_stall_are_made_good_quickly) {
    line* l = NULL;
    for (int32_t every = 6; every >= 0; every -= 6) {
        if (l) line_close(l);
        l = line_open(0, 75e3, 5e3, 0);
        l->every = (uint32_t)every;
        run(l, every ? 3 : 2);
        forget(l);
        run(l, every ? 10 : 5);
        assert_int_equal(l->inputs.repeated, 0);
    }
    // The client's program stops for two seconds.
    l->stalled_until_us = l->now_us + 2e6;
    run(l, 2.0 + 1.5);
    forget(l);
    run(l, 30);
    assert_int_equal(l->inputs.repeated, 0);
    assert_int_equal(l->inputs.skipped, 0);
    line_close(l);
}

CASE(after_a_stall_few_ticks_are_caught_up) {
    net_pace pace;
    net_pace_init(&pace, 60);
    assert_int_equal(net_pace_next_us(&pace), 0);
    uint64_t now_us = 1000000;
    net_pace_tick(&pace, now_us);
    assert_in_range(net_pace_next_us(&pace), now_us + 16666, now_us + 16667);
    now_us += 3000000;
    uint32_t ticks = 0;
    for (; net_pace_next_us(&pace) <= now_us; ticks++)
        net_pace_tick(&pace, now_us);
    assert_in_range(ticks, NET_CATCH_UP_TICKS_MAX, NET_CATCH_UP_TICKS_MAX + 2);
    assert_true(net_pace_next_us(&pace) <= now_us + 16667);
}

CASE(the_rate_stays_within_its_bounds) {
    net_pace pace;
    net_pace_init(&pace, 60);
    uint64_t now_us = 1000000;
    for (uint32_t i = 1; i < 2000; i++) {
        now_us += 16667;
        net_pace_tick(&pace, now_us);
        bool is_deep = i / 500 % 2 == 1;
        net_pace_report(&pace, now_us, i, is_deep ? NET_INPUT_RING : 0, is_deep ? 0 : 100, 2000000,
                        100.0);
        assert_true(pace.rate >= 1.0 - NET_PACE_RATE_MAX && pace.rate <= 1.0 + NET_PACE_RATE_MAX);
        assert_true(pace.target >= NET_PACE_DEPTH_MIN && pace.target <= NET_PACE_DEPTH_MAX);
        double ahead = pace.next_us - (double)now_us;
        assert_true(ahead <= 2.01 * TICK_US && ahead >= -11.0 * TICK_US);
    }
}

CASE(old_reports_are_ignored) {
    net_pace pace;
    net_pace_init(&pace, 60);
    net_pace_report(&pace, 1000000, 10, 3, 0, 20000, 0);
    net_pace before = pace;
    net_pace_report(&pace, 1000000, 10, 60, 0, 20000, 50);
    net_pace_report(&pace, 1000000, 9, 60, 0, 20000, 50);
    assert_memory_equal(&pace, &before, sizeof pace);
}
