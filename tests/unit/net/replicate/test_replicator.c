// SPDX-License-Identifier: MIT

#include "repl_state_world.h"

#include "base/hash.h"

// ---- two worlds side by side, with the same seed ----

enum { AGENTS = 24, TICKS = 500, LAG = 5 };

typedef struct twin_options {
    bool is_solo, has_secrets;
    uint32_t movers;
} twin_options;

// Run a world and hash everything that clients get. `has_secrets` changes values that no client may
// see.
static uint64_t run_twin(uint64_t seed, twin_options options, uint64_t* shared) {
    view_world w;
    view_open_with(&w,
                   (view_options){.is_solo = options.is_solo, .client_count = 2, .first_seq = 1});
    base_rng rng = base_rng_make(seed, 1), hidden = base_rng_make(seed, 2);
    ecs_entity agents[AGENTS], movers[200];
    for (uint32_t i = 0; i < AGENTS; i++) {
        agents[i] = repl_create(&w.server, i % 5 ? w.agent : w.spirit);
        for (uint32_t c = 0; c < 2; c++)
            view_scope(&w, c, agents[i])->classes = (uint16_t)(1 | (c == i % 2) << 1);
    }
    repl_create_many(&w.server, w.server.mover, movers, options.movers);
    uint64_t hash = seed;
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        for (uint32_t i = 0; i < AGENTS; i++) {
            bool moves = base_rng_chance(&rng, 0.2);
            float x = base_rng_float(&rng) * 900;
            int32_t ammo = (int32_t)base_rng_below(&rng, 1000);
            if (moves && i % 5) repl_move(&w.server, agents[i], x, 3);
            if (moves && i % 5 && i % 3 == 0) view_set(&w, agents[i], w.ammo, ammo);
            // No client sees plans, and their rings overflow again and again.
            if (options.has_secrets && base_rng_chance(&hidden, 0.9))
                view_set(&w, agents[i], w.plan, (int32_t)base_rng_below(&hidden, 50));
        }
        for (uint32_t i = 0; i < options.movers; i++)
            if (base_rng_chance(&rng, tick < TICKS / 2 ? 0.1 : 0.9))
                repl_move(&w.server, movers[i], base_rng_float(&rng) * 900, 1);
        if (tick % 60 == 0) { // a long time without packets: bases become old
            view_step(&w);
            continue;
        }
        view_step(&w);
        for (uint32_t c = 0; c < 2; c++) {
            uint32_t bits = 300 + base_rng_below(&rng, 2000);
            view_write_room(&w, c, (net_repl_state_room){.hard = bits, .soft = bits});
            assert_ok(view_deliver(&w, c));
            hash = base_hash64(w.clients[c].body, (size_t)(w.clients[c].bits + 7) / 8, hash);
            hash = base_hash64_mix(hash, net_repl_state_has_pending(w.clients[c].repl));
            uint32_t slot, age;
            uint64_t row;
            if (net_repl_state_probe(w.clients[c].repl, &slot, &age, &row))
                hash = base_hash64_mix(hash, row ^ slot ^ (uint64_t)age << 32);
            uint16_t back = (uint16_t)(w.clients[c].seq - 1 - LAG);
            bool is_lost = base_rng_chance(&rng, 0.1);
            if (w.clients[c].seq <= LAG + 1) continue;
            assert_true(is_lost ? net_repl_state_lost(w.clients[c].repl, back)
                                : net_repl_state_acked(w.clients[c].repl, back));
        }
    }
    // The client that is written second finds the rows of the first one.
    if (shared) *shared = net_repl_state_get_counters(w.clients[1].repl)->rows_shared;
    view_close(&w);
    return hash;
}

CASE(hidden_values_move_no_bit) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        uint64_t open = run_twin(seed, (twin_options){.movers = 10}, NULL);
        assert_true(run_twin(seed, (twin_options){.has_secrets = true, .movers = 10}, NULL) ==
                    open);
    }
}

CASE(shared_rows_are_the_same_bits_as_rows_made_anew) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        uint64_t shared, none;
        twin_options options = {.has_secrets = true, .movers = 60};
        uint64_t hash = run_twin(seed, options, &shared);
        options.is_solo = true;
        assert_true(run_twin(seed, options, &none) == hash);
        assert_true(shared > 400);
        assert_int_equal(none, 0);
    }
}

// ---- interest ----

VIEW_CASE(an_index_that_dies_and_comes_back_in_one_step_goes_on_in_its_slot) {
    // Use up the indices until one of them returns within one step.
    ecs_entity first = repl_create(&w->server, w->server.mover);
    view_exchange(w);
    repl_destroy(&w->server, first);
    ecs_entity again = ECS_ENTITY_NONE;
    for (uint32_t i = 0; i < 3 * VIEW_INDEX_MAX && again == ECS_ENTITY_NONE; i++) {
        ecs_entity made = repl_create(&w->server, w->server.holder);
        if (ecs_entity_index(made) == ecs_entity_index(first))
            again = made;
        else
            repl_destroy(&w->server, made);
    }
    assert_true(again != ECS_ENTITY_NONE && again != first);
    view_exchange(w);
    assert_int_equal(view_counters(w)->records_destroy, 0);
    assert_true(ecs_is_alive(w->clients[0].side.world, again));
    assert_false(ecs_is_alive(w->clients[0].side.world, first));
    assert_true(net_repl_state_sees(w->repl, again, NULL));
    assert_false(net_repl_state_sees(w->repl, first, NULL));
    assert_true(view_is_equal(w, 0));
}
