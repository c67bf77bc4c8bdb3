// SPDX-License-Identifier: MIT
// What clients may know, step by step.
#include "net/stream.h"

#include "test.h"

#define MS UINT64_C(1000)

typedef struct scene {
    net_stream_sync sync;
    net_stream_status status;
    ecs_tick newest, first;
    bool is_over;
    uint64_t now_us;
} scene;

static scene begin(bool is_on, bool goes_on) {
    return (scene){
        .sync = {.is_on = is_on, .goes_on = goes_on, .limit_us = 200 * MS, .tick_us = 16 * MS},
        .status = {.state = NET_STREAM_OWNED},
        .now_us = 1000 * MS};
}

// Passes of a loop, one each 16 ms. @return how safe it is then.
static net_stream_safety pass(scene* at, uint32_t ms) {
    for (uint32_t i = 0; i < ms; i += 16) {
        at->now_us += 16 * MS;
        net_stream_sync_step(&at->sync, &at->status, at->newest, at->first, at->is_over,
                             at->now_us);
    }
    return at->sync.safety;
}

static net_stream_safety store(scene* at, ecs_tick tick) {
    at->status.acked.records += tick > at->status.acked_tick;
    at->status.acked_tick = tick;
    return pass(at, 16);
}

CASE(when_it_is_off_all_may_leave) {
    scene at = begin(false, false);
    at.newest = 9;
    assert_int_equal(pass(&at, 5000), NET_STREAM_FREE);
    assert_true(at.sync.released == UINT64_MAX);
    at.status.state = NET_STREAM_FAILED;
    assert_int_equal(pass(&at, 16), NET_STREAM_FREE);
    assert_true(at.sync.released == UINT64_MAX);
}

CASE(what_is_stored_may_leave) {
    scene at = begin(true, false);
    assert_int_equal(pass(&at, 16), NET_STREAM_SAFE);
    for (at.newest = 1; at.newest < 1000; at.newest++) {
        assert_int_equal(pass(&at, 16), NET_STREAM_SAFE);
        assert_int_equal(at.sync.released, at.newest - 1);
        assert_int_equal(store(&at, at.newest), NET_STREAM_SAFE);
        assert_int_equal(at.sync.released, at.newest);
    }
}

CASE(a_tick_that_is_not_stored_in_time_stops_the_match_until_all_is) {
    scene at = begin(true, false);
    assert_int_equal(store(&at, 0), NET_STREAM_SAFE);
    at.newest = 1;
    assert_int_equal(pass(&at, 192), NET_STREAM_SAFE);
    assert_int_equal(pass(&at, 48), NET_STREAM_STILL);
    assert_int_equal(at.sync.released, 0);
    at.newest = 2; // it was running
    assert_int_equal(store(&at, 1), NET_STREAM_STILL);
    assert_int_equal(at.sync.released, 1);
    assert_int_equal(store(&at, 2), NET_STREAM_SAFE);
    assert_int_equal(at.sync.released, 2);
}

CASE(it_may_go_on_instead_and_names_the_ticks) {
    scene at = begin(true, true);
    assert_int_equal(store(&at, 0), NET_STREAM_SAFE);
    at.newest = 4;
    assert_int_equal(store(&at, 3), NET_STREAM_SAFE);
    assert_int_equal(pass(&at, 300), NET_STREAM_UNSAFE);
    assert_int_equal(at.sync.unsafe, 4);
    assert_true(at.sync.released == UINT64_MAX);
    at.newest = 90;
    assert_int_equal(store(&at, 50), NET_STREAM_UNSAFE);
    assert_int_equal(store(&at, 90), NET_STREAM_SAFE);
    assert_int_equal(at.sync.released, 90);
    at.status.state = NET_STREAM_FAILED; // for good
    assert_int_equal(pass(&at, 300), NET_STREAM_UNSAFE);
    at.newest = 500;
    assert_int_equal(pass(&at, 300), NET_STREAM_UNSAFE);
}

CASE(before_the_claim_is_answered_and_behind_a_failure_it_stands_still_for_a_time) {
    scene at = begin(true, false);
    at.status.state = NET_STREAM_CLAIMING;
    assert_int_equal(pass(&at, 16), NET_STREAM_STILL);
    at.status.state = NET_STREAM_OWNED;
    assert_int_equal(pass(&at, 16), NET_STREAM_SAFE);
    at.status.state = NET_STREAM_FAILED;
    at.newest = 7;
    assert_int_equal(pass(&at, 16), NET_STREAM_STILL);
    assert_int_equal(pass(&at, NET_STREAM_STILL_MS), NET_STREAM_STILL);
    assert_int_equal(pass(&at, 300), NET_STREAM_UNSAFE);
    assert_int_equal(at.sync.unsafe, 1);
    at.newest = 50;
    at.status.state = NET_STREAM_OWNED; // it began again
    at.status.acked.records = 1;
    assert_int_equal(store(&at, 49), NET_STREAM_UNSAFE);
    assert_int_equal(store(&at, 50), NET_STREAM_SAFE);
    assert_int_equal(at.sync.released, 50);
}

CASE(a_match_that_is_over_says_its_goodbyes) {
    scene at = begin(true, false);
    at.newest = 5;
    at.is_over = true;
    assert_int_equal(pass(&at, 160), NET_STREAM_SAFE);
    assert_int_equal(pass(&at, 100), NET_STREAM_UNSAFE);
    assert_true(at.sync.released == UINT64_MAX);
    at.status.state = NET_STREAM_ENDED;
    assert_int_equal(pass(&at, 16), NET_STREAM_SAFE);
}

CASE(a_process_that_slept_shows_nothing_until_the_stream_has_a_tick_of_it) {
    for (uint32_t is_on = 0; is_on < 2; is_on++) {
        scene at = begin(is_on == 1, false);
        at.newest = 20;
        (void)store(&at, 20);
        at.now_us += 16 * MS + NET_STREAM_REST_MS * MS; // as late as a busy machine makes it
        net_stream_sync_step(&at.sync, &at.status, 20, 0, false, at.now_us);
        assert_int_equal(at.sync.doubted, 0);
        at.now_us += 17 * MS + NET_STREAM_REST_MS * MS;
        net_stream_sync_step(&at.sync, &at.status, 20, 0, false, at.now_us);
        assert_int_equal(at.sync.released, 20);
        at.newest = 21;
        (void)pass(&at, 48);
        assert_int_equal(at.sync.released, 20);
        (void)store(&at, 21);
        assert_true(at.sync.released == (is_on ? 21 : UINT64_MAX));
    }
}

// It is not kept safe, or goes on unsafe.
CASE(the_doubt_of_a_match_that_is_not_safe_ends) {
    for (uint32_t goes_on = 0; goes_on < 2; goes_on++) {
        scene at = begin(goes_on == 1, goes_on == 1);
        at.newest = 21;
        (void)store(&at, 20);
        if (goes_on) assert_int_equal(pass(&at, 300), NET_STREAM_UNSAFE);
        at.now_us += 1000 * MS;
        (void)pass(&at, 480);
        assert_int_equal(at.sync.released, 20);
        (void)pass(&at, 64);
        assert_true(at.sync.released == UINT64_MAX);
    }
}

CASE(a_match_that_ends_after_a_rest_says_its_goodbyes) {
    scene at = begin(true, false);
    (void)store(&at, 0);
    at.newest = 4;
    assert_int_equal(pass(&at, 300), NET_STREAM_STILL);
    at.now_us += 1000 * MS;
    at.is_over = true;
    assert_int_equal(pass(&at, 16), NET_STREAM_UNSAFE);
    (void)pass(&at, 600);
    assert_true(at.sync.released == UINT64_MAX);
}
