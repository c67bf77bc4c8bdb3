// SPDX-License-Identifier: MIT
// Lines that clients cause: a burst passes, then one in a while, and the operator learns how many
// were withheld.
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "net/ration.h"

#define LINE_US (NET_RATION_LINE_MS * UINT64_C(1000))

typedef struct screen {
    uint32_t lines;
    char last[BASE_REPORT_BYTES_MAX];
} screen;

static void print_line(void* context, const char* file, uint32_t line, const char* message) {
    (void)file, (void)line;
    screen* on = context;
    on->lines++;
    (void)snprintf(on->last, sizeof on->last, "%s", message);
}

static void say(net_ration* ration, net_ration_kind kind, uint64_t now_us) {
    base_report(net_ration_take(ration, kind, now_us), NULL, 0, "line");
}

CASE(a_burst_passes_and_the_rest_is_withheld) {
    screen on = {0};
    const base_reporter reporter = {print_line, &on};
    net_ration ration;
    net_ration_init(&ration, &reporter);
    for (uint32_t i = 1; i <= NET_RATION_LINES_BURST + 1; i++) {
        say(&ration, NET_RATION_AWAY, 5);
        assert_int_equal(on.lines, i < NET_RATION_LINES_BURST ? i : NET_RATION_LINES_BURST);
    }
    assert_int_equal(ration.withheld_all, 1);
    // Each kind has its own bucket.
    say(&ration, NET_RATION_BACK, 5);
    assert_int_equal(on.lines, NET_RATION_LINES_BURST + 1);
}

CASE(twenty_four_thousand_lines_a_second_become_one_a_second) {
    screen on = {0};
    const base_reporter reporter = {print_line, &on};
    net_ration ration;
    net_ration_init(&ration, &reporter);
    for (uint64_t us = 0; us < 60 * UINT64_C(1000000); us += 42) {
        say(&ration, NET_RATION_DROPPED, us);
        if (us % (42 * 400) == 0) net_ration_report(&ration, us);
    }
    assert_in_range(on.lines, NET_RATION_LINES_BURST + 59, NET_RATION_LINES_BURST + 2 * 60);
    assert_true(ration.withheld_all > 1400000);
}

CASE(what_was_withheld_is_told_with_the_next_line) {
    screen on = {0};
    const base_reporter reporter = {print_line, &on};
    net_ration ration;
    net_ration_init(&ration, &reporter);
    for (uint32_t i = 0; i < NET_RATION_LINES_BURST + 7; i++)
        say(&ration, NET_RATION_EVENT, 0);
    net_ration_report(&ration, LINE_US - 1);
    assert_int_equal(on.lines, NET_RATION_LINES_BURST);
    say(&ration, NET_RATION_EVENT, LINE_US);
    assert_int_equal(on.lines, NET_RATION_LINES_BURST + 2);
    assert_string_equal(on.last, "line");
    say(&ration, NET_RATION_EVENT, LINE_US);
    net_ration_report(&ration, 2 * LINE_US);
    assert_string_equal(on.last, "note: 1 more lines like this: event");
}

CASE(what_was_withheld_is_told_without_a_next_line_too) {
    screen on = {0};
    const base_reporter reporter = {print_line, &on};
    net_ration ration;
    net_ration_init(&ration, &reporter);
    for (uint32_t i = 0; i < NET_RATION_LINES_BURST + 7; i++)
        say(&ration, NET_RATION_LOST, 0);
    net_ration_report(&ration, LINE_US);
    assert_string_equal(on.last, "note: 7 more lines like this: lost");
    uint32_t lines = on.lines;
    net_ration_report(&ration, 100 * LINE_US);
    net_ration_end(&ration);
    assert_int_equal(on.lines, lines); // nothing is left to tell
    say(&ration, NET_RATION_LOST, LINE_US);
    net_ration_end(&ration);
    assert_string_equal(on.last, "note: 1 more lines like this: lost");
}

CASE(a_full_bucket_holds_one_burst_after_any_pause) {
    screen on = {0};
    const base_reporter reporter = {print_line, &on};
    net_ration ration;
    net_ration_init(&ration, &reporter);
    const uint64_t moments[] = {0, 3600 * UINT64_C(1000000), UINT64_MAX / 2};
    for (uint32_t m = 0; m < BASE_COUNT(moments); m++) {
        on.lines = 0;
        for (uint32_t i = 0; i < 100; i++)
            say(&ration, NET_RATION_AWAY, moments[m]);
        assert_int_equal(on.lines, NET_RATION_LINES_BURST + (m > 0));
    }
    // A clock that goes back gives nothing.
    say(&ration, NET_RATION_AWAY, 0);
    assert_int_equal(on.lines, NET_RATION_LINES_BURST + 1);
}

CASE(without_a_reporter_nothing_is_said) {
    net_ration ration;
    net_ration_init(&ration, NULL);
    for (uint32_t i = 0; i < 100; i++)
        say(&ration, NET_RATION_AWAY, 0);
    net_ration_end(&ration);
    assert_int_equal(ration.withheld_all, 100 - NET_RATION_LINES_BURST);
}

CASE(every_kind_has_a_name_of_its_own) {
    for (uint32_t a = 0; a < NET_RATION_COUNT; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_string_not_equal(net_ration_name((net_ration_kind)a),
                                    net_ration_name((net_ration_kind)b));
}
