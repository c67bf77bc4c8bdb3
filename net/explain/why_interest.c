// SPDX-License-Identifier: MIT
// Why a client has an entity or not, by definition: the rules straight from the world, without
// grids and copies.
#include "explain/explain.h"
#include "interest/interest_internal.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

// ---- by definition ----

typedef struct decision {
    bool is_asked; // near enough, or visible at any distance
    bool is_in;
} decision;

// One entity by itself, without those that travel with it.
static decision decide_one(const net_interest* interest, const ecs_world* world,
                           const net_interest_client* client, ecs_entity entity, bool is_member,
                           net_interest_facts* facts) {
    float at[3];
    net_interest_facts_read(&interest->rules, world, entity, facts, at);
    float leave = net_interest_leave_radius(client->radius);
    decision decided = {0};
    decided.is_in = net_interest_is_far_in(client, entity, facts) ||
                    net_interest_is_near(client, facts, at, is_member ? leave : client->radius);
    decided.is_asked = decided.is_in || net_interest_is_near(client, facts, at, leave);
    return decided;
}

static void ask(const net_interest* interest, const ecs_world* world,
                const net_interest_client* client, ecs_entity entity, decision* decided) {
    if (!decided->is_asked || !net_interest_is_asking(interest)) return;
    net_interest_verdict verdict =
        net_interest_ask(interest, world, client, ecs_entity_index(entity), entity);
    if (verdict.relevance == NET_RELEVANT_ALWAYS) decided->is_in = true;
    if (verdict.relevance == NET_RELEVANT_NEVER) decided->is_in = decided->is_asked = false;
}

// The client with the team and the place that its player has now.
static net_interest_client see_now(const net_interest* interest, const ecs_world* world,
                                   const net_interest_client* found) {
    net_interest_client client = *found;
    if (!ecs_is_alive(world, client.player)) return client;
    client.team = net_interest_team_read(&interest->rules, world, client.player);
    if (!client.is_at_set &&
        net_interest_position_read(&interest->rules, world, client.player, client.at))
        client.has_at = true;
    return client;
}

// ---- explained ----

static net_rule_answer answer_if(bool is_used, bool shows) {
    return !is_used ? NET_RULE_UNUSED : shows ? NET_RULE_SHOWS : NET_RULE_SILENT;
}

static net_rule_answer answer_range(const net_interest_client* client,
                                    const net_interest_facts* facts, const net_explanation* out) {
    if (!facts->has_position) return NET_RULE_UNUSED;
    const float radius =
        out->is_in_scope ? net_interest_leave_radius(client->radius) : client->radius;
    return net_interest_is_near(client, facts, out->position, radius) ? NET_RULE_SHOWS
                                                                      : NET_RULE_HIDES;
}

// As stays() decides.
static bool is_young(const net_interest* interest, const net_interest_client* client,
                     const net_explanation* out) {
    const net_interest_place* place = &interest->places[ecs_entity_index(out->entity)];
    return out->entered + interest->stay_ticks > interest->tick && out->entered > place->revoked &&
           out->entered > client->revoked;
}

// What the rules and the game say of those that travel with it. When the game is asked about one,
// it is asked about all.
static decision decide_with(const net_interest* interest, const ecs_world* world,
                            const net_interest_client* client, uint32_t key, bool is_asked,
                            const net_explanation* out) {
    decision all = {.is_asked = is_asked};
    const uint32_t first = key ? net_interest_lists_first(&interest->together, key) : 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t index = first; index; index = interest->together.nexts[index]) {
            const ecs_entity other = interest->places[index].handle;
            if (other == out->entity || !ecs_is_alive(world, other)) continue;
            net_interest_facts facts;
            decision decided = decide_one(interest, world, client, other, out->is_in_scope, &facts);
            all.is_asked = all.is_asked || decided.is_asked;
            if (pass == 0) continue;
            decided.is_asked = all.is_asked;
            ask(interest, world, client, other, &decided);
            all.is_in = all.is_in || decided.is_in;
        }
    }
    return all;
}

// The game is asked about what is near, and what travels with it.
static net_rule_answer answer_relevance(const net_interest* interest, const ecs_world* world,
                                        const net_interest_client* client, bool is_asked,
                                        const net_explanation* out) {
    if (!net_interest_is_asking(interest)) return NET_RULE_UNUSED;
    if (!is_asked) return NET_RULE_SILENT;
    const net_interest_verdict verdict =
        net_interest_ask(interest, world, client, ecs_entity_index(out->entity), out->entity);
    return verdict.relevance == NET_RELEVANT_ALWAYS  ? NET_RULE_SHOWS
           : verdict.relevance == NET_RELEVANT_NEVER ? NET_RULE_HIDES
                                                     : NET_RULE_SILENT;
}

// The rule that decides, by the answers of all.
static net_rule find_rule(const net_rule_answer answers[NET_RULE_COUNT]) {
    if (answers[NET_RULE_RELEVANCE] == NET_RULE_HIDES) return NET_RULE_RELEVANCE;
    for (uint32_t i = 0; i < NET_RULE_COUNT; i++)
        if (answers[i] == NET_RULE_SHOWS) return (net_rule)i;
    return answers[NET_RULE_RANGE] == NET_RULE_HIDES ? NET_RULE_RANGE : NET_RULE_GROUPS;
}

static void describe_view(const net_interest* interest, const net_interest_client* client,
                          const net_interest_facts* facts, net_explanation* out) {
    out->looks_as = client->who;
    out->client_team = client->team;
    out->client_groups = client->groups;
    out->owner = facts->owner;
    out->team = facts->team;
    out->together = facts->together;
    out->groups = facts->groups;
    out->has_position = facts->has_position;
    out->has_viewpoint = interest->has_grids && client->has_at;
    memcpy(out->viewpoint, client->at, sizeof out->viewpoint);
    out->radius = (double)client->radius;
    out->leave_radius = (double)net_interest_leave_radius(client->radius);
    if (out->has_position && out->has_viewpoint)
        out->distance = (double)base_sqrt(net_interest_distance2(client->at, out->position));
}

// Ticks until the client's next turn.
static uint32_t turn_ticks(const net_interest* interest, const net_interest_client* found) {
    const net_interest_turn* turn = &interest->turns[found - interest->clients];
    if (turn->is_forced || turn->is_due) return 1;
    const uint32_t every = NET_INTEREST_EVERY_TICKS;
    return (turn->turn + every - (interest->step + 1) % every) % every + 1;
}

void net_interest_explain(const net_interest* interest, const ecs_world* world,
                          net_explanation* out) {
    const net_interest_client* found = net_interest_find(interest, out->client);
    const net_row_template* row_template =
        net_rows_find(interest->config.rows, ecs_entity_template(world, out->entity));
    BASE_ASSERT(found);
    out->distance = -1.0;
    out->rule = NET_RULE_REPLICATED;
    out->answers[NET_RULE_REPLICATED] = NET_RULE_HIDES;
    // One that was created between ticks is known after the next step.
    const uint32_t index = ecs_entity_index(out->entity);
    if (!row_template || index >= interest->index_end ||
        interest->places[index].handle != out->entity)
        return;
    const net_interest_client client = see_now(interest, world, found);
    const net_bound_rules* rules = &interest->rules;
    net_interest_facts facts;
    net_interest_facts_read(rules, world, out->entity, &facts, out->position);
    describe_view(interest, &client, &facts, out);
    net_rule_answer* answers = out->answers;
    answers[NET_RULE_REPLICATED] = NET_RULE_SILENT;
    answers[NET_RULE_PLAYER] =
        answer_if(client.player != ECS_ENTITY_NONE, out->entity == client.player);
    answers[NET_RULE_OWNER] = answer_if(facts.owner != 0, facts.owner == client.who);
    answers[NET_RULE_ALWAYS] = answer_if(facts.is_always, true);
    answers[NET_RULE_EVERYWHERE] = answer_if(!facts.has_position && !facts.has_groups, true);
    answers[NET_RULE_GROUPS] = !facts.has_groups              ? NET_RULE_UNUSED
                               : facts.groups & client.groups ? NET_RULE_SHOWS
                                                              : NET_RULE_HIDES;
    answers[NET_RULE_RANGE] = answer_range(&client, &facts, out);
    answers[NET_RULE_STAY] =
        answer_if(out->is_in_scope && facts.has_position, is_young(interest, &client, out));
    const decision own =
        decide_one(interest, world, &client, out->entity, out->is_in_scope, &facts);
    const decision others =
        decide_with(interest, world, &client, facts.together, own.is_asked, out);
    answers[NET_RULE_TOGETHER] = answer_if(facts.together != 0, others.is_in);
    answers[NET_RULE_RELEVANCE] = answer_relevance(interest, world, &client, others.is_asked, out);
    out->rule = find_rule(answers);
    if ((answers[out->rule] == NET_RULE_SHOWS) != out->is_in_scope)
        out->turn_ticks = turn_ticks(interest, found);
}
