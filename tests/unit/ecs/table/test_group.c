// SPDX-License-Identifier: MIT
// S4.1 to S4.4, S4.7, S1.5: what matches, one group per matcher, updates of groups, count and
// first.
#include "sample_world.h"

STORE_OPEN_CASE(names_that_exist_nowhere_are_reported) { // S4.2
    store_query(at, {"ghost", NULL, ECS_ANY}, {"spirit", NULL, ECS_ANY});
    seal_refused(at->world, ECS_ERR_UNKNOWN, "ghost");
}

STORE_OPEN_CASE(only_stands_without_a_name) { // S4.2
    const ecs_term named[] = {{"pos", NULL, ECS_ONLY}};
    ecs_query* query = NULL;
    expect_assert_failure((void)!ecs_query_create(at->world, named, 1, &query));
    store_seal(at);
}
