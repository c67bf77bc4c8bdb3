// SPDX-License-Identifier: MIT
// Lines that clients cause: a burst passes, then one in a while, and the operator learns how many
// were withheld.

#include "heard.h"

#include "core/ration.h"

#define LINE_US (NET_RATION_LINE_MS * UINT64_C(1000))

typedef struct desk {
    heard on;
    net_ration ration;
} desk;

static void desk_open(desk* self) {
    net_ration_init(&self->ration, heard_begin(&self->on));
}

#define DESK_CASE(name) CASE_WITH(desk, self, desk_open(self), (void)0, name)

static void say(net_ration* ration, net_ration_kind kind, uint64_t now_us) {
    base_report(net_ration_take(ration, kind, now_us), NULL, 0, "line");
}

DESK_CASE(a_burst_passes_and_the_rest_is_withheld) {
    for (uint32_t i = 1; i <= NET_RATION_LINES_BURST + 1; i++) {
        say(&self->ration, NET_RATION_AWAY, 5);
        assert_int_equal(self->on.lines, i < NET_RATION_LINES_BURST ? i : NET_RATION_LINES_BURST);
    }
    assert_int_equal(self->ration.withheld[NET_RATION_AWAY], 1);
    // Each kind has its own bucket.
    say(&self->ration, NET_RATION_BACK, 5);
    assert_int_equal(self->on.lines, NET_RATION_LINES_BURST + 1);
}

DESK_CASE(what_was_withheld_is_told_with_the_next_line) {
    for (uint32_t i = 0; i < NET_RATION_LINES_BURST + 7; i++)
        say(&self->ration, NET_RATION_EVENT, 0);
    net_ration_report(&self->ration, LINE_US - 1);
    assert_int_equal(self->on.lines, NET_RATION_LINES_BURST);
    say(&self->ration, NET_RATION_EVENT, LINE_US);
    assert_int_equal(self->on.lines, NET_RATION_LINES_BURST + 2);
    assert_string_equal(self->on.last, "line");
    say(&self->ration, NET_RATION_EVENT, LINE_US);
    net_ration_report(&self->ration, 2 * LINE_US);
    assert_string_equal(self->on.last, "note: 1 more lines like this: event");
}

DESK_CASE(what_was_withheld_is_told_without_a_next_line_too) {
    for (uint32_t i = 0; i < NET_RATION_LINES_BURST + 7; i++)
        say(&self->ration, NET_RATION_LOST, 0);
    net_ration_report(&self->ration, LINE_US);
    assert_string_equal(self->on.last, "note: 7 more lines like this: lost");
    uint32_t lines = self->on.lines;
    net_ration_report(&self->ration, 100 * LINE_US);
    net_ration_end(&self->ration);
    assert_int_equal(self->on.lines, lines); // nothing is left to tell
    say(&self->ration, NET_RATION_LOST, LINE_US);
    net_ration_end(&self->ration);
    assert_string_equal(self->on.last, "note: 1 more lines like this: lost");
}

DESK_CASE(a_full_bucket_holds_one_burst_after_any_pause) {
    const uint64_t moments[] = {0, 3600 * UINT64_C(1000000), UINT64_MAX / 2};
    for (uint32_t m = 0; m < BASE_COUNT(moments); m++) {
        self->on.lines = 0;
        for (uint32_t i = 0; i < 100; i++)
            say(&self->ration, NET_RATION_AWAY, moments[m]);
        assert_int_equal(self->on.lines, NET_RATION_LINES_BURST + (m > 0));
    }
    // A clock that goes back gives nothing.
    say(&self->ration, NET_RATION_AWAY, 0);
    assert_int_equal(self->on.lines, NET_RATION_LINES_BURST + 1);
}

CASE(without_a_reporter_nothing_is_said) {
    net_ration ration;
    net_ration_init(&ration, NULL);
    for (uint32_t i = 0; i < 100; i++)
        say(&ration, NET_RATION_AWAY, 0);
    assert_int_equal(ration.withheld[NET_RATION_AWAY], 100 - NET_RATION_LINES_BURST);
    net_ration_end(&ration);
}

CASE(every_kind_has_a_name_of_its_own) {
    char names[NET_RATION_COUNT][BASE_REPORT_BYTES_MAX];
    for (uint32_t a = 0; a < NET_RATION_COUNT; a++) {
        desk self;
        desk_open(&self);
        for (uint32_t i = 0; i <= NET_RATION_LINES_BURST; i++)
            say(&self.ration, (net_ration_kind)a, 0);
        net_ration_end(&self.ration);
        memcpy(names[a], self.on.last, sizeof names[a]);
        for (uint32_t b = 0; b < a; b++)
            assert_string_not_equal(names[a], names[b]);
    }
}
