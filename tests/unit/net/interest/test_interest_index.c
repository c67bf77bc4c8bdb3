// SPDX-License-Identifier: MIT
// The two indexes that interest uses to find entities, against plain arrays.
#include "test.h"

#include "interest/interest_grid.h"
#include "interest/interest_lists.h"

enum { THINGS = 1200 };

CASE(lists_hold_what_was_put_under_many_numbers) {
    base_rng rng = test_rng(21, 1);
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    net_interest_lists lists;
    net_interest_lists_init(&lists, &owner->allocator);
    net_interest_lists_reserve(&lists, THINGS);
    static uint32_t keys[THINGS];
    memset(keys, 0, sizeof keys);
    for (uint32_t i = 0; i < 60000; i++) {
        uint32_t index = 1 + base_rng_below(&rng, THINGS - 1);
        // Use few and many lists, with near and far numbers, so that lists move one another.
        uint32_t range = i / 10000 % 2 ? 40 : 4000;
        uint32_t key = base_rng_below(&rng, range) << (i / 20000 * 8);
        net_interest_lists_put(&lists, index, key);
        keys[index] = key;
        if (i % 500) continue;
        uint32_t heads = 0;
        for (uint32_t k = 1; k < THINGS; k++) {
            uint32_t count = 0, wanted = 0;
            uint32_t at = net_interest_lists_first(&lists, keys[k]);
            for (; at; at = lists.nexts[at], count++)
                assert_true(count < THINGS && keys[at] == keys[k]);
            bool is_first = keys[k] != 0;
            for (uint32_t m = 1; m < THINGS; m++) {
                wanted += keys[k] != 0 && keys[m] == keys[k];
                is_first = is_first && (m >= k || keys[m] != keys[k]);
            }
            heads += is_first;
            assert_int_equal(count, wanted);
        }
        assert_int_equal(lists.firsts.count, heads);
        assert_int_equal(net_interest_lists_first(&lists, UINT32_MAX), 0);
    }
    base_owner_destroy(owner);
}

static float place(base_rng* rng, float size) {
    return (base_rng_float(rng) - 0.5f) * size;
}

// Check that the grid finds every entity of a ring exactly once. @return how many it finds.
static uint32_t expect_around(const net_interest_grid* grid, const bool* is_in, const float at[3],
                              float radius, float hole) {
    static uint8_t met[THINGS];
    memset(met, 0, sizeof met);
    net_interest_cells cells = net_interest_grid_around(grid, at, radius, hole, 0);
    for (uint32_t bucket; net_interest_cells_next(&cells, &bucket);) {
        for (uint32_t b = bucket, next = 1; next; b = next) {
            next = grid->blocks[b].next;
            for (uint32_t i = 0; i < grid->blocks[b].count; i++)
                met[grid->blocks[b].nears[i].thing]++;
        }
    }
    uint32_t count = 0;
    for (uint32_t i = 1; i < grid->spot_capacity && i < THINGS; i++) {
        const net_interest_spot* spot = &grid->spots[i];
        const float distance2 =
            net_interest_distance2(grid->blocks[spot->block].nears[spot->at].at, at);
        if (is_in[i] && distance2 <= radius * radius && distance2 >= hole * hole)
            assert_true(met[i] != 0);
        assert_true(met[i] <= is_in[i]);
        count += met[i];
    }
    return count;
}

static void walk_randomly(uint32_t dimensions, uint64_t seed) {
    base_rng rng = test_rng(seed, 1);
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    net_interest_grid grid;
    net_interest_grid_init(&grid, &owner->allocator, dimensions, 10);
    static bool is_in[THINGS];
    memset(is_in, 0, sizeof is_in);
    uint32_t around = 0, ring = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        const uint32_t room = i < 1000 ? THINGS / 2 : THINGS; // with more room, buckets are others
        net_interest_grid_reserve(&grid, room, i + 1);
        uint32_t thing = 1 + base_rng_below(&rng, room - 1);
        // The radius reaches up to some periods of the grid.
        float size = base_rng_chance(&rng, 0.1) ? 5000.0f : 300.0f;
        float at[3] = {place(&rng, size), place(&rng, size),
                       dimensions == 3 ? place(&rng, size) : 0};
        is_in[thing] = base_rng_chance(&rng, 0.8);
        if (is_in[thing])
            net_interest_grid_put(&grid, thing, at, i + 1);
        else
            net_interest_grid_remove(&grid, thing, i + 1);
        if (i % 20) continue;
        net_interest_grid_validate(&grid);
        const float radius = base_rng_float(&rng) * 100;
        around += expect_around(&grid, is_in, at, radius, 0);
        ring += expect_around(&grid, is_in, at, radius, radius * 0.9f);
        (void)expect_around(&grid, is_in, at, 0, 0);
        if (i % 400 == 0) (void)expect_around(&grid, is_in, at, 1e9f, 9e8f);
    }
    assert_true(ring < around);
    uint32_t count = 0;
    for (uint32_t i = 1; i < THINGS; i++)
        count += is_in[i];
    assert_int_equal(grid.count, count);
    base_owner_destroy(owner);
}

CASE(a_grid_meets_everything_near_and_nothing_twice) {
    walk_randomly(2, 31);
    walk_randomly(3, 32);
}

CASE(buckets_remember_the_last_movement) {
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    net_interest_grid grid;
    net_interest_grid_init(&grid, &owner->allocator, 2, 10);
    const float a[3] = {5, 5, 0}, b[3] = {25, 5, 0};
    net_interest_grid_put(&grid, 1, a, 7);
    uint32_t at_a = grid.spots[1].bucket - 1;
    assert_int_equal(grid.stamps[at_a], 7);
    net_interest_grid_put(&grid, 1, b, 8); // both corners
    uint32_t at_b = grid.spots[1].bucket - 1;
    assert_true(at_a != at_b && grid.stamps[at_a] == 8 && grid.stamps[at_b] == 8);
    net_interest_grid_put(&grid, 1, (float[]){26, 5, 0}, 9); // the new place is within
    assert_int_equal(grid.stamps[at_b], 9);
    net_interest_grid_remove(&grid, 1, 10);
    net_interest_grid_remove(&grid, 1, 11); // the entity is not in the grid
    net_interest_grid_remove(&grid, 99, 11);
    assert_int_equal(grid.stamps[at_b], 10);
    assert_int_equal(grid.count, 0);
    base_owner_destroy(owner);
}
