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

typedef struct forest {
    bench_repl world;
} forest;

static void run(forest* self, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        bench_repl_tick(&self->world);
}

static void open_forest(forest* self, uint32_t change_every_ticks, bool is_solo) {
    const uint32_t need_bytes = ENTITIES * ROW_BITS / 8 / change_every_ticks;
    const bench_repl_config config = {.entities = ENTITIES,
                                      .clients = 4,
                                      .dirty_percent = 100,
                                      .verified = 1,
                                      .soft_bytes = need_bytes * 11 / 10,
                                      .change_every_ticks = change_every_ticks,
                                      .is_busy = true,
                                      .is_solo = is_solo};
    bench_repl_init(&self->world, &config);
}

// Fewer than one row in a hundred has no base.
static void expect_bases(forest* self) {
    bench_repl_clear(&self->world);
    run(self, MEASURED_TICKS);
    bench_repl_count(&self->world);
    const bench_repl_figures* figures = &self->world.figures;
    assert_true(figures->records > 0);
    assert_true(figures->absolute * 100 < figures->records);
}

static void check_join_and_stall(uint32_t change_every_ticks, bool is_solo) {
    forest self;
    open_forest(&self, change_every_ticks, is_solo);
    run(&self, JOIN_TICKS);
    expect_bases(&self);
    self.world.is_stalled = true;
    run(&self, STALL_TICKS);
    self.world.is_stalled = false;
    run(&self, AGAIN_TICKS);
    expect_bases(&self);
    assert_null(bench_repl_verify(&self.world));
    bench_repl_deinit(&self.world);
}

CASE(a_world_whose_entities_change_each_second_is_joined_and_comes_back) {
    check_join_and_stall(HZ, false);
}

CASE(a_world_that_changes_every_second_and_a_half_is_joined_and_comes_back) {
    check_join_and_stall(HZ * 3 / 2, false);
}

CASE(a_world_that_changes_every_two_seconds_is_joined_and_comes_back) {
    check_join_and_stall(HZ * 2, false);
}

CASE(a_world_in_solo_code_is_joined_and_comes_back) {
    check_join_and_stall(HZ, true);
}

// Bases leave a window of 16 packets. A wider one lists them: without it a record has 21 bits.
CASE(the_window_grows_until_it_has_the_bases_of_what_rests) {
    forest self;
    const bench_repl_config config = {.entities = ENTITIES,
                                      .clients = 2,
                                      .dirty_percent = 100,
                                      .verified = 1,
                                      .change_every_ticks = HZ * 3 / 2,
                                      .is_busy = true};
    bench_repl_init(&self.world, &config);
    run(&self, JOIN_TICKS);
    expect_bases(&self);
    assert_true(self.world.figures.bits < 16 * self.world.figures.records);
    assert_null(bench_repl_verify(&self.world));
    bench_repl_deinit(&self.world);
}
