// SPDX-License-Identifier: MIT
// Ticks come in heaps, late or after a pause, and are given a fixed time after they were made.
#include "test.h"

#include "stream/follow.h"
#include "scarce.h"

enum { RATE = 50, TICK_US = 20000, DELAY_US = 3000000, TICKS_MAX = 4000 };
#define START_US UINT64_C(10000000)

// A source whose ticks have come up to `here`.
typedef struct late {
    net_log_feed feed;
    net_log_draft draft;
    ecs_tick next, here; ///< the next that is read, the last one that has come
    bool is_cut;         ///< the end of `here` has not
    bool is_closed;      ///< behind `here`
    bool is_in_tick;
    uint32_t alive; ///< ALIVE records that wait
    base_reader unread;
    net_log_delay* delay;
    uint64_t now_us;
    ecs_tick given;
    bool has_ended;
} late;

static bool make(late* self, net_log_kind kind, ecs_tick tick, net_log_record* record) {
    uint32_t size;
    net_log_draft_begin(&self->draft);
    proto_pb_write_number(&self->draft.body, 1, tick);
    if (kind == NET_LOG_KIND_ALIVE) proto_pb_write_number(&self->draft.body, 2, NET_IDLE_PAUSED);
    const uint8_t* packed = net_log_draft_end(&self->draft, kind, 0, tick, &size);
    return net_log_record_read(record, packed + NET_LOG_QUEUE_PREFIX_BYTES,
                               size - NET_LOG_QUEUE_PREFIX_BYTES);
}

static net_log_feed_state next(void* context, net_log_record* record) {
    late* self = context;
    net_log_kind kind = self->is_in_tick ? NET_LOG_KIND_END : NET_LOG_KIND_BEGIN;
    if (!self->is_in_tick && self->alive > 0) {
        self->alive--;
        kind = NET_LOG_KIND_ALIVE;
    } else if (self->next > self->here) {
        if (!self->is_closed || self->next > self->here + 1)
            return self->is_closed ? NET_LOG_FEED_END : NET_LOG_FEED_NOTHING;
        kind = NET_LOG_KIND_CLOSE;
    } else if (kind == NET_LOG_KIND_END && self->is_cut && self->next == self->here) {
        return NET_LOG_FEED_NOTHING;
    }
    const ecs_tick tick = kind == NET_LOG_KIND_CLOSE ? self->next++ - 1 : self->next;
    if (kind == NET_LOG_KIND_END) self->next++;
    if (kind == NET_LOG_KIND_BEGIN || kind == NET_LOG_KIND_END)
        self->is_in_tick = kind == NET_LOG_KIND_BEGIN;
    assert_true(make(self, kind, tick, record));
    return NET_LOG_FEED_RECORD;
}

static void open_late(late* self, const base_allocator* allocator, uint64_t slack_us) {
    memset(self, 0, sizeof *self);
    self->feed = (net_log_feed){.context = self, .next = next};
    self->draft.memory = malloc(NET_LOG_DRAFT_BYTES);
    self->next = 1;
    self->now_us = START_US;
    self->delay = net_log_delay_create(allocator, &self->feed, RATE, DELAY_US, slack_us);
}

static void close_late(late* self) {
    base_owner_destroy(self->delay);
    free(self->draft.memory);
}

// Take what is due at this time. @return the last tick that was given.
static ecs_tick take_at(late* self, uint64_t now_us) {
    const net_log_feed* feed = net_log_delay_feed(self->delay);
    net_log_record record;
    net_log_feed_state state;
    self->now_us = now_us;
    for (ecs_tick before = UINT64_MAX; before != self->given;) {
        before = self->given; // what is given makes room to read further
        net_log_delay_poll(self->delay, now_us);
        while ((state = feed->next(feed->context, &record)) == NET_LOG_FEED_RECORD) {
            if (record.kind == NET_LOG_KIND_CLOSE) {
                assert_int_equal(record.tick, self->given);
                continue;
            }
            assert_int_equal(record.tick, self->given + 1);
            if (record.kind == NET_LOG_KIND_END) self->given++;
        }
    }
    self->has_ended = state == NET_LOG_FEED_END;
    return self->given;
}

#define LATE_CASE(name) CASE_WITH(late, self, open_late(self, NULL, 0), close_late(self), name)

LATE_CASE(a_tick_is_given_a_delay_after_it_came) {
    for (uint64_t tick = 1; tick <= 400; tick++) {
        self->here = tick;
        const uint64_t now_us = START_US + tick * TICK_US;
        const uint64_t due = tick * TICK_US > DELAY_US ? tick - DELAY_US / TICK_US : 0;
        assert_int_equal(take_at(self, now_us), due);
        if (due > 0) assert_int_equal(net_log_delay_due_us(self->delay), now_us + TICK_US);
    }
}

static const struct { uint64_t heap, late_from, late_to; } rows[] = {{12, 0, 0}, {1, 200, 260}};

CASE_ROWS(late, self, open_late(self, NULL, 0), close_late(self), i, BASE_COUNT(rows),
          ticks_that_come_in_heaps_or_late_are_given_evenly) {
    for (uint64_t step = 1; step <= 400; step++) {
        const bool is_late = step >= rows[i].late_from && step <= rows[i].late_to;
        if (step % rows[i].heap == 0 && !is_late) self->here = step;
        const ecs_tick before = self->given;
        const ecs_tick given = take_at(self, START_US + step * TICK_US);
        if (step >= DELAY_US / TICK_US + rows[i].heap) assert_int_equal(given, before + 1);
    }
}

LATE_CASE(what_was_made_long_ago_is_due_at_once) {
    self->here = 3000;
    assert_int_equal(take_at(self, START_US), 3000 - DELAY_US / TICK_US);
    assert_int_equal(net_log_delay_due_us(self->delay), START_US + TICK_US);
    // Nothing more is read ahead than the delay needs.
    assert_true(net_log_delay_get_report(self->delay).bytes < 60 * 2 * 160);
}

LATE_CASE(a_tick_without_its_end_is_not_given) {
    self->here = 5;
    self->is_cut = true;
    assert_int_equal(take_at(self, START_US), 0);
    assert_int_equal(take_at(self, START_US + 2 * DELAY_US), 4);
    assert_int_equal(net_log_delay_due_us(self->delay), UINT64_MAX);
    self->is_cut = false;
    assert_int_equal(take_at(self, START_US + 2 * DELAY_US), 4);
    assert_int_equal(take_at(self, START_US + 3 * DELAY_US), 5);
}

LATE_CASE(the_end_comes_as_late_as_the_ticks) {
    self->here = 10;
    assert_int_equal(take_at(self, START_US), 0);
    self->is_closed = true;
    assert_int_equal(take_at(self, START_US + DELAY_US), 10);
    assert_false(self->has_ended);
    assert_int_equal(net_log_delay_due_us(self->delay), START_US + 2 * DELAY_US);
    (void)take_at(self, START_US + 2 * DELAY_US - 1);
    assert_false(self->has_ended);
    (void)take_at(self, START_US + 2 * DELAY_US);
    assert_true(self->has_ended);
}

LATE_CASE(no_tick_is_given_sooner_than_a_delay_after_it_was_made) {
    base_rng rng = test_rng(28, 1);
    uint64_t made_us[TICKS_MAX];
    ecs_tick made = 0;
    uint64_t now_us = START_US;
    while (made + 1 < TICKS_MAX) {
        now_us += 1 + base_rng_below(&rng, 2 * TICK_US);
        // The match makes what its rate allows, or stands still; what it made comes in heaps.
        const bool is_paused = now_us / 7000000 % 2 == 1;
        if (is_paused) {
            // nothing
        } else if (made == 0 || now_us >= made_us[made] + TICK_US) {
            made_us[++made] = now_us;
        }
        if (base_rng_below(&rng, 8) == 0) self->here = made;
        const ecs_tick before = self->given;
        const ecs_tick given = take_at(self, now_us);
        for (ecs_tick tick = before + 1; tick <= given; tick++)
            assert_true(now_us >= made_us[tick] + DELAY_US);
    }
    assert_true(self->given > TICKS_MAX / 2);
}

CASE(a_steady_feed_takes_no_memory) {
    scarce_memory memory;
    scarce_init(&memory);
    late self;
    open_late(&self, &memory.allocator, 0);
    uint64_t count = 0;
    for (uint64_t step = 1; step <= 3000; step++) {
        self.here = step;
        (void)take_at(&self, START_US + step * TICK_US);
        if (step == 1500) count = memory.calls;
    }
    assert_int_equal(memory.calls, count);
    close_late(&self);
}
