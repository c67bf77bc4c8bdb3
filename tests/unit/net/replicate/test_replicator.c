// SPDX-License-Identifier: MIT

#include "repl_state_world.h"

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
