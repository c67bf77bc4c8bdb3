// SPDX-License-Identifier: MIT
/// Entries by tick: order, growth, the limit, longer entries, and faults that validation finds.
#include "test.h"

#include "net/limits.h"
#include "state/tick_ring.h"

static void put(net_tick_ring* ring, uint64_t tick, const uint64_t* entry) {
    net_tick_ring_put(ring, NULL, NET_ROW_HISTORY_MAX, tick, entry, sizeof *entry);
}

static void ring_open(net_tick_ring* ring, uint32_t bytes) {
    *ring = (net_tick_ring){0};
    net_tick_ring_reset(ring, bytes);
}

#define RING_CASE(name, bytes)                                                                     \
    CASE_WITH(net_tick_ring, ring, ring_open(ring, bytes), net_tick_ring_deinit(ring, NULL), name)

RING_CASE(entries_keep_their_bytes_when_they_become_longer, 4) {
    for (uint32_t tick = 1; tick <= 6; tick++)
        net_tick_ring_put(ring, NULL, 4, tick, &tick, sizeof tick);
    assert_int_equal(ring->count, 4); // this is the limit
    net_tick_ring_widen(ring, NULL, 16);
    net_tick_ring_validate(ring);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t value;
        memcpy(&value, net_tick_ring_entry(ring, i), sizeof value);
        assert_int_equal(value, i + 3);
        assert_int_equal(net_tick_ring_tick(ring, i), i + 3);
    }
    assert_int_equal(ring->stride_bytes, 16);
}

RING_CASE(an_entry_that_was_not_closed_was_never_there, 8) {
    assert_non_null(net_tick_ring_open(ring, NULL, 4));
    assert_int_equal(ring->count, 0);
    assert_non_null(net_tick_ring_open(ring, NULL, 4));
    net_tick_ring_close(ring, 7);
    assert_int_equal(ring->count, 1);
    assert_int_equal(net_tick_ring_find(ring, 7), 0);
}

RING_CASE(validating_finds_ticks_that_do_not_rise, sizeof(uint64_t)) {
    for (uint64_t tick = 1; tick <= 3; tick++)
        put(ring, tick, &tick);
    net_tick_ring_validate(ring);
    ring->lows[1] = 3;
    expect_assert_failure(net_tick_ring_validate(ring));
}

// What a ring of at most TWIN_MAX entries should hold.
#define TWIN_MAX 28u
typedef struct twin {
    uint64_t ticks[TWIN_MAX + 1];
    uint32_t count;
} twin;

static void twin_drop(twin* of, uint32_t count) {
    of->count -= count;
    memmove(of->ticks, of->ticks + count, of->count * sizeof *of->ticks);
}

static void twin_put(twin* of, uint64_t tick) {
    uint32_t at = 0;
    while (at < of->count && of->ticks[at] < tick)
        at++;
    if (at < of->count && of->ticks[at] == tick) return;
    if (at == 0 && of->count == TWIN_MAX) return;
    if (at < of->count && of->ticks[of->count - 1] - of->ticks[at] > UINT32_MAX) return;
    if (at < of->count && at > 0 && of->ticks[of->count - 1] - tick > UINT32_MAX) return;
    memmove(of->ticks + at + 1, of->ticks + at, (of->count - at) * sizeof *of->ticks);
    of->ticks[at] = tick;
    of->count++;
    if (of->count > TWIN_MAX) twin_drop(of, 1);
    while (of->count > 1 && of->ticks[of->count - 1] - of->ticks[1] > UINT32_MAX)
        twin_drop(of, 1);
}

static void assert_twin(const net_tick_ring* ring, const twin* of) {
    net_tick_ring_validate(ring);
    assert_int_equal(ring->count, of->count);
    for (uint32_t i = 0; i < of->count; i++) {
        uint64_t entry;
        memcpy(&entry, net_tick_ring_entry(ring, i), sizeof entry);
        assert_int_equal(net_tick_ring_tick(ring, i), of->ticks[i]);
        assert_int_equal(entry, of->ticks[i]);
        assert_int_equal(net_tick_ring_find(ring, of->ticks[i]), i);
        assert_int_equal(net_tick_ring_find(ring, of->ticks[i] - 1), i - 1);
    }
    assert_int_equal(net_tick_ring_find(ring, UINT64_MAX), of->count - 1);
}

CASE(a_ring_holds_what_a_list_holds) {
    static const uint64_t steps[] = {1, 1, 1, 1, 1, 2, 5, 300, UINT32_MAX, UINT64_C(1) << 50};
    base_rng rng = base_rng_make(1, 1);
    for (uint32_t round = 0; round < 200; round++) {
        net_tick_ring ring = {0};
        twin of = {.count = 0};
        net_tick_ring_reset(&ring, 12);
        uint64_t tick = 0;
        for (uint32_t i = 0; i < 100; i++) {
            tick += steps[base_rng_below(&rng, BASE_COUNT(steps))];
            const uint64_t late = base_rng_below(&rng, 4) ? 0 : base_rng_below(&rng, 40);
            const uint64_t put_tick = tick - (late < tick ? late : 0);
            net_tick_ring_put(&ring, NULL, TWIN_MAX, put_tick, &put_tick, 8);
            twin_put(&of, put_tick);
            if (base_rng_below(&rng, 10) == 0) {
                const uint32_t dropped = base_rng_below(&rng, of.count);
                net_tick_ring_drop(&ring, dropped);
                twin_drop(&of, dropped);
            }
            assert_twin(&ring, &of);
        }
        net_tick_ring_deinit(&ring, NULL);
    }
}

CASE(only_the_oldest_is_far_from_the_newest) {
    for (uint64_t more = 0; more < 2; more++) {
        net_tick_ring ring = {0};
        net_tick_ring_reset(&ring, sizeof(uint64_t));
        const uint64_t ticks[] = {3, 7, more + 7 + UINT32_MAX};
        for (uint32_t i = 0; i < BASE_COUNT(ticks); i++)
            put(&ring, ticks[i], &ticks[i]);
        assert_int_equal(ring.count, 3 - more);
        assert_int_equal(net_tick_ring_tick(&ring, 0), ticks[more]);
        assert_int_equal(net_tick_ring_find(&ring, 8), 1 - more);
        assert_int_equal(net_tick_ring_find(&ring, 6), more ? UINT32_MAX : 0);
        const uint64_t late = 2; // before an oldest one that is far
        put(&ring, late, &late);
        assert_int_equal(net_tick_ring_tick(&ring, 0), ticks[more]);
        net_tick_ring_validate(&ring);
        net_tick_ring_deinit(&ring, NULL);
    }
}
