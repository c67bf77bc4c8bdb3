// SPDX-License-Identifier: MIT
// Why a client has an entity or not: what the client's replication state, interest and its session
// say, in one answer; only scratch is written.
//
// What was sent and acknowledged of a component is found by its rows: the newest one, that of the
// newest packet with the entity, and that of the newest acknowledged one. What the rules say is
// found by definition: straight from the world, without grids and copies.
#include "explain/explain.h"

#include "interest/interest_internal.h"
#include "replicate/repl_state.h"
#include "state/varsize.h"

#include "net/match.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

const char* net_rule_name(net_rule rule) {
    static const char* const names[] = {"replicated", "player", "owner", "always",   "everywhere",
                                        "groups",     "range",  "stay",  "together", "relevance"};
    _Static_assert(sizeof names / sizeof *names == NET_RULE_COUNT, "a rule has no name");
    BASE_ASSERT((uint32_t)rule < NET_RULE_COUNT);
    return names[rule];
}

const char* net_rule_answer_name(net_rule_answer answer) {
    static const char* const names[] = {"unused", "silent", "shows", "hides"};
    _Static_assert(sizeof names / sizeof *names == NET_RULE_HIDES + 1, "an answer has no name");
    BASE_ASSERT((uint32_t)answer <= NET_RULE_HIDES);
    return names[answer];
}

const char* net_has_name(net_has has) {
    static const char* const names[] = {"not",  "create waits",  "create sent",
                                        "live", "destroy waits", "destroy sent"};
    _Static_assert(sizeof names / sizeof *names == NET_HAS_COUNT, "a state has no name");
    BASE_ASSERT((uint32_t)has < NET_HAS_COUNT);
    return names[has];
}

const char* net_held_text(net_held held) {
    static const char* const texts[] = {
        [NET_HELD_NOT] = "The newest packet has it.",
        [NET_HELD_SCOPE] = "It is not in the client's scope.",
        [NET_HELD_NOTHING] = "Nothing of it waits: the client has all, or it is on its way.",
        [NET_HELD_CREATE] = "Its creation is on its way, and is sent again only when it is lost.",
        [NET_HELD_FLYING] = "As many unanswered packets as may be have it.",
        [NET_HELD_LATER] = "It waits since after the newest packet.",
        [NET_HELD_BUDGET] = "The packets of the tick were full of more urgent entities.",
        [NET_HELD_RATE] = "The client's rate held packets back.",
        [NET_HELD_TURN] = "This client gets packets at other ticks.",
        [NET_HELD_AWAY] = "The client's connection is lost.",
        [NET_HELD_DEAF] = "The client acknowledges nothing, so it gets a packet now and then.",
    };
    _Static_assert(sizeof texts / sizeof *texts == NET_HELD_COUNT, "a reason has no text");
    BASE_ASSERT((uint32_t)held < NET_HELD_COUNT);
    return texts[held];
}

net_session* net_explain_find_session(const net_server* server, uint32_t client) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (session && session->client == client && session->out.repl &&
            net_session_is_in_match(session))
            return session;
    }
    return NULL;
}

// ---- what the client has, and what of it waits

// The whole tick of its low bits, which is not in the future.
static ecs_tick whole_tick(const net_repl_state* repl, uint32_t low) {
    const ecs_tick now = net_replicator_now(repl->replicator);
    return now - (uint32_t)((uint32_t)now - low);
}

static bool is_carried(const net_repl_state* repl, uint32_t back, uint32_t slot) {
    return (net_repl_carried(repl, back)[slot >> 6] >> (slot & 63) & 1) != 0;
}

// The packets with the slot, in its present epoch. @return tick of the newest that is not lost; 0:
// none is known.
static ecs_tick explain_packets(const net_repl_state* repl, uint32_t slot, net_explanation* out) {
    ecs_tick sent = 0;
    for (uint32_t back = 1; back <= repl->backs; back++) {
        if (!is_carried(repl, back, slot)) continue;
        const net_packet_state state = net_repl_packet_state(repl, back);
        const ecs_tick tick = whole_tick(repl, net_repl_packet_tick(repl, back));
        if (!out->has_packet) {
            out->has_packet = true;
            out->packet_seq = (uint16_t)(repl->seq_next - back);
            out->packet_tick = tick;
            out->is_packet_acked = state == NET_PACKET_ACKED;
            out->is_packet_lost = state == NET_PACKET_LOST;
        }
        out->packets_flying += state == NET_PACKET_FLYING;
        if (sent == 0 && state != NET_PACKET_LOST) sent = tick;
        if (out->acked_tick == 0 && state == NET_PACKET_ACKED) out->acked_tick = tick;
    }
    if (out->acked_tick == 0 && net_set_has(repl, NET_SET_BASED, slot))
        out->acked_tick = whole_tick(repl, repl->bases[slot]);
    return sent ? sent : out->acked_tick;
}

// Its place among those that wait; 0: it is not one of them.
static uint32_t find_rank(net_repl_state* repl, uint32_t slot) {
    net_snapshot_writer* writer = &repl->replicator->lanes[repl->lane].writer;
    net_snapshot_writer_reserve(writer, repl->slot_end, 0);
    uint64_t* held = net_snapshot_writer_set(writer, NET_LANE_HELD);
    memset(held, 0, net_repl_state_words(repl) * sizeof *held);
    net_repl_state_mark_full(repl, held);
    net_repl_state_find_held(repl, held);
    net_repl_state_order(repl, held, UINT32_MAX);
    for (uint32_t i = 0; i < writer->ranked_count; i++)
        if (writer->ranked[i] == slot) return i + 1;
    return 0;
}

static net_has explain_has(const net_repl_state* repl, uint32_t slot, bool is_sent) {
    const bool is_pending = net_set_has(repl, NET_SET_PENDING, slot);
    if (net_set_has(repl, NET_SET_GOING, slot))
        return is_pending ? NET_HAS_DESTROY_WAITS : NET_HAS_DESTROY_SENT;
    if (net_set_has(repl, NET_SET_LIVE, slot)) return NET_HAS_LIVE;
    return is_sent ? NET_HAS_CREATE_SENT : NET_HAS_CREATE_WAITS;
}

// What keeps it out of the newest packet, as far as its own state says; the rest is the session's.
static net_held explain_held(const net_repl_state* repl, uint32_t slot,
                             const net_explanation* out) {
    const uint64_t bit = UINT64_C(1) << (slot & 63);
    const uint32_t w = slot >> 6;
    const ecs_tick now = net_replicator_now(repl->replicator);
    if (repl->backs > 0 && is_carried(repl, 1, slot)) return NET_HELD_NOT;
    if (!out->waits) return NET_HELD_NOTHING;
    if (net_repl_state_created(repl, w, bit) & bit) return NET_HELD_CREATE;
    if (out->packets_flying >= NET_REPL_STATE_FLYING_MAX) return NET_HELD_FLYING;
    const bool is_late = out->waits_since == now && (out->is_repeat || out->is_resync);
    return out->newest_packet_tick == 0 || is_late ? NET_HELD_LATER : NET_HELD_BUDGET;
}

// @return false: there is no row of this tick, or it is forgotten.
static bool has_row(const net_history_entity* entity, ecs_tick now, ecs_tick tick, uint32_t classes,
                    uint64_t* row) {
    return tick != 0 && net_history_read(entity, now, tick, classes, row);
}

static bool is_same(const proto_row_component* component, const uint64_t* a, const uint64_t* b) {
    return memcmp(a + component->field_first, b + component->field_first,
                  component->field_count * sizeof *a) == 0;
}

static void explain_components(const net_repl_state* repl, uint32_t slot, ecs_tick sent,
                               net_explanation* out) {
    const net_replicator* replicator = repl->replicator;
    const net_history_entity* entity =
        net_history_find(replicator->history, ecs_entity_index(out->entity));
    if (!entity || entity->handle != out->entity) return;
    const ecs_tick now = net_replicator_now(replicator);
    const uint32_t classes = repl->classes[slot];
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    if (!net_history_read(entity, now, now, classes, rows[0])) return;
    const bool is_sent = has_row(entity, now, sent, classes, rows[1]) && !out->is_resync;
    const bool is_acked = has_row(entity, now, out->acked_tick, classes, rows[2]);
    out->changed = net_history_changed(entity, classes);
    for (uint32_t i = 0; i < out->component_count; i++) {
        net_explained_component* to = &out->components[i];
        const proto_row_component* component = &entity->row_template->layout.components[i];
        if (to->is_varsize || !to->is_visible) continue;
        to->waits = !is_sent || !is_same(component, rows[0], rows[1]);
        to->is_unconfirmed = is_sent && (!is_acked || !is_same(component, rows[1], rows[2]));
    }
}

// The components of its template, whether the client has it or not.
static void list_components(const net_repl_state* repl, net_explanation* out) {
    const net_history_entity* entity =
        net_history_find(repl->replicator->history, ecs_entity_index(out->entity));
    if (!entity || entity->handle != out->entity) return;
    const net_rows* rows = repl->replicator->rows;
    const net_row_template* of = entity->row_template;
    _Static_assert(PROTO_ROW_COMPONENTS_MAX + NET_ROW_VARSIZE_MAX <= NET_EXPLAINED_COMPONENTS_MAX,
                   "there is room for all");
    const uint32_t in_row = of->layout.component_count;
    for (uint32_t i = 0; i < in_row + of->varsize_count; i++) {
        const bool is_varsize = i >= in_row;
        const uint32_t class_ = is_varsize ? of->varsizes[i - in_row].class_ : of->classes[i];
        const uint32_t key =
            is_varsize ? of->varsizes[i - in_row].component : of->layout.components[i].key;
        out->components[out->component_count++] = (net_explained_component){
            .name = net_rows_component_of(rows, (ecs_component_id)key).name,
            .class_name = rows->class_names[class_],
            .component = (ecs_component_id)key,
            .is_visible = (out->classes >> class_ & 1) != 0,
            .is_varsize = is_varsize,
        };
    }
}

// Set what the client has of out->entity and what waits; also is_in_scope and entered. Not while
// its lane works.
static void explain_client(net_repl_state* repl, net_explanation* out) {
    const ecs_tick now = net_replicator_now(repl->replicator);
    uint32_t slot = net_repl_state_find_slot(repl, ecs_entity_index(out->entity));
    if (slot != UINT32_MAX && repl->handles[slot] != out->entity) slot = UINT32_MAX;
    out->slot = slot;
    out->waiting = repl->pending_count;
    if (repl->backs > 0) out->newest_packet_tick = whole_tick(repl, net_repl_packet_tick(repl, 1));
    out->held = NET_HELD_SCOPE;
    if (slot != UINT32_MAX && repl->members[slot].index != 0) {
        out->is_in_scope = true;
        out->classes = repl->members[slot].classes;
        out->weight = repl->members[slot].weight;
        out->entered = net_interest_entered(&repl->members[slot], now);
    }
    list_components(repl, out);
    if (slot == UINT32_MAX) return;
    const ecs_tick sent = explain_packets(repl, slot, out);
    out->has = explain_has(repl, slot, sent != 0);
    out->is_resync = net_set_has(repl, NET_SET_RESYNC, slot);
    out->is_repeat = net_set_has(repl, NET_SET_REPEAT, slot);
    out->waits = net_set_has(repl, NET_SET_PENDING, slot);
    if (out->waits) {
        out->waits_since = now - (uint16_t)((uint32_t)now - repl->since[slot]);
        out->is_overdue = now - out->waits_since >= NET_REPL_STATE_OVERDUE_TICKS;
        out->rank = find_rank(repl, slot);
    }
    const uint32_t age =
        out->is_resync || out->has != NET_HAS_LIVE ? 0 : net_repl_state_base_age(repl, slot);
    out->base_tick = age ? now - age : 0;
    out->held = explain_held(repl, slot, out);
    explain_components(repl, slot, sent, out);
}

// ---- the rules, by definition

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

static void ask(const net_interest* interest, const net_interest_client* client, ecs_entity entity,
                decision* decided) {
    if (!decided->is_asked || !net_interest_is_asking(interest)) return;
    const net_interest_question question = net_interest_question_of(interest, client, entity);
    net_interest_verdict verdict = net_interest_ask(interest, &question);
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
            ask(interest, client, other, &decided);
            all.is_in = all.is_in || decided.is_in;
        }
    }
    return all;
}

// The game is asked about entities that are near, and about all that travel with one of them.
static net_rule_answer answer_relevance(const net_interest* interest,
                                        const net_interest_client* client, bool is_asked,
                                        const net_explanation* out) {
    if (!net_interest_is_asking(interest)) return NET_RULE_UNUSED;
    if (!is_asked) return NET_RULE_SILENT;
    const net_interest_question question = net_interest_question_of(interest, client, out->entity);
    const net_interest_verdict verdict = net_interest_ask(interest, &question);
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
    answers[NET_RULE_RELEVANCE] = answer_relevance(interest, &client, others.is_asked, out);
    out->rule = find_rule(answers);
    if ((answers[out->rule] == NET_RULE_SHOWS) != out->is_in_scope)
        out->turn_ticks = turn_ticks(interest, found);
}

// ---- the answer

// What waits and was not held by its replication state: what the session says of its packets.
static net_held held_by_session(const net_server* server, const net_session* session,
                                const net_explanation* out) {
    const net_session_out* of = &session->out;
    if (session->state == NET_SESSION_AWAY) return NET_HELD_AWAY;
    if (out->newest_packet_tick == out->tick)
        return net_rate_left(&of->rate) > NET_FURTHER_BYTES_MIN ? NET_HELD_BUDGET : NET_HELD_RATE;
    if (of->summary.is_deaf) return NET_HELD_DEAF;
    if (!net_server_is_turn(server, session->client)) return NET_HELD_TURN;
    return NET_HELD_RATE;
}

bool net_server_explain(net_server* server, uint32_t client, ecs_entity entity,
                        net_explanation* explanation) {
    net_server_collect(server);
    const net_session* session = net_explain_find_session(server, client);
    if (!session) return false;
    const ecs_world* world = net_match_world(server->config.match);
    net_explanation* out = explanation;
    memset(out, 0, sizeof *out);
    out->client = client;
    out->entity = entity;
    out->tick = server->replicator->history->tick;
    out->template_name = ecs_entity_template_name(world, entity);
    explain_client(session->out.repl, out);
    net_interest_explain(server->interest, world, out);
    for (uint32_t i = 0; out->has != NET_HAS_NOT && i < out->component_count; i++) {
        net_explained_component* to = &out->components[i];
        if (!to->is_varsize || !to->is_visible) continue;
        net_varsize_sender_explain(session->out.varsize, out->entity, to->component, &to->waits,
                                   &to->is_unconfirmed);
    }
    if (out->held == NET_HELD_BUDGET) out->held = held_by_session(server, session, out);
    return true;
}
