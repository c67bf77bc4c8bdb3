// SPDX-License-Identifier: MIT
/// Who should see what, as a server explains it (net_server_explain): from the world itself,
/// without grids and copies. For checks of what interest found.
#pragma once

#include "explain/explain.h"
#include "interest/interest_internal.h"

/// The classes that an entity should have for a client; 0: it should not be in its scope. A member
/// may stay within the margin of sight. How long it was one does not count.
static inline uint32_t scope_explained(const net_interest* interest, const ecs_world* world,
                                       uint32_t client, ecs_entity entity, bool is_member) {
    net_explanation why = {.client = client, .entity = entity, .is_in_scope = is_member};
    net_interest_explain(interest, world, &why);
    if (why.answers[why.rule] != NET_RULE_SHOWS) return 0;
    const net_row_template* entry =
        net_rows_find(interest->config.rows, ecs_entity_template(world, entity));
    uint32_t classes = 1u << NET_CLASS_PUBLIC;
    if (why.answers[NET_RULE_PLAYER] == NET_RULE_SHOWS || why.owner == why.looks_as)
        classes |= 1u << NET_CLASS_OWNER;
    if (why.team != 0 && why.team == why.client_team) classes |= 1u << NET_CLASS_TEAM;
    const net_interest_question question =
        net_interest_question_of(interest, net_interest_find(interest, client), entity);
    if (net_interest_is_asking(interest)) classes |= net_interest_ask(interest, &question).classes;
    return classes & (entry->class_mask | entry->varsize_mask | 1u << NET_CLASS_PUBLIC);
}
