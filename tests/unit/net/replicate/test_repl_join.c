// SPDX-License-Identifier: MIT
// A world that changes all the time is joined, and comes back after a stall: rows have bases, for
// shared and for solo code. The line carries a tenth more than the rows need that have bases.
#include "bench_repl.h"

#include "test.h"

enum {
    HZ = BENCH_REPL_TICK_RATE_HZ,
    JOIN_TICKS = 8 * HZ,
    STALL_TICKS = 2 * HZ,
    AGAIN_TICKS = 3 * HZ,
    MEASURED_TICKS = 2 * HZ,
    ENTITIES = 2000,
    ROW_BITS = 27,
};

static void run(bench_repl* world, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        bench_repl_tick(world);
}

static void open_forest(bench_repl* world, uint32_t change_every_ticks, bool is_solo,
                        bool is_narrow) {
    const uint32_t need_bytes = ENTITIES * ROW_BITS / 8 / change_every_ticks;
    const bench_repl_config config = {.entities = ENTITIES,
                                      .clients = is_narrow ? 4 : 2,
                                      .dirty_percent = 100,
                                      .verified = 1,
                                      .soft_bytes = is_narrow ? need_bytes * 11 / 10 : 0,
                                      .change_every_ticks = change_every_ticks,
                                      .is_solo = is_solo};
    bench_repl_init(world, &config);
    run(world, JOIN_TICKS);
}

// Fewer than one row in a hundred has no base.
static void expect_bases(bench_repl* world) {
    bench_repl_clear(world);
    run(world, MEASURED_TICKS);
    bench_repl_count(world);
    assert_true(world->figures.records > 0);
    assert_true(world->figures.absolute * 100 < world->figures.records);
}

CASE(a_world_whose_entities_change_each_second_or_two_is_joined_and_comes_back) {
    static const struct {
        uint32_t change_every_ticks;
        bool is_solo;
    } rows[] = {{HZ, false}, {HZ * 3 / 2, false}, {HZ * 2, false}, {HZ, true}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        bench_repl world;
        print_message("row %u\n", i);
        open_forest(&world, rows[i].change_every_ticks, rows[i].is_solo, true);
        expect_bases(&world);
        world.is_stalled = true;
        run(&world, STALL_TICKS);
        world.is_stalled = false;
        run(&world, AGAIN_TICKS);
        expect_bases(&world);
        assert_null(bench_repl_verify(&world));
        bench_repl_deinit(&world);
    }
}

// Bases leave a window of 16 packets. A wider one lists them: without it a record has 21 bits.
CASE(the_window_grows_until_it_has_the_bases_of_what_rests) {
    bench_repl world;
    open_forest(&world, HZ * 3 / 2, false, false);
    expect_bases(&world);
    assert_true(world.figures.bits < 16 * world.figures.records);
    assert_null(bench_repl_verify(&world));
    bench_repl_deinit(&world);
}
