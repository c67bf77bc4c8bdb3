// SPDX-License-Identifier: MIT
// The interest against a model without a grid, lists or copies. Worlds and movements are random.
// After each step the test compares the members of each client with the definition, computed from
// the previous members.
#include "interest_world.h"

// What the model remembers about an index: the tick of the last change that was more than a
// movement.
typedef struct twin {
    interest_table t;
    base_rng rng;
    ecs_entity handles[SCOPES_INDEX_MAX];
    ecs_tick revoked[SCOPES_INDEX_MAX];
    ecs_tick client_revoked[SCOPES_CLIENTS_MAX];
    ecs_entity players[SCOPES_CLIENTS_MAX];
    uint64_t groups[SCOPES_CLIENTS_MAX];
    float at[SCOPES_CLIENTS_MAX][2], radius[SCOPES_CLIENTS_MAX];
    bool has_at[SCOPES_CLIENTS_MAX], is_set[SCOPES_CLIENTS_MAX];
    interest_member* before;
    bool is_in[SCOPES_INDEX_MAX], is_asked[SCOPES_INDEX_MAX];
    bool has_callbacks;
    bool is_calm;  ///< nothing travels together, and mostly entities that are no players move
    uint32_t mood; ///< the answers of the callbacks depend on it
} twin;

// ---- a module with changing answers ----

static uint32_t mood_of(const twin* w, uint32_t client, ecs_entity entity) {
    base_rng rng = base_rng_make(w->mood * 1000 + client, entity * 2 + 1);
    return base_rng_below(&rng, 10);
}

static net_relevance relevance_of(const twin* w, uint32_t client, ecs_entity entity) {
    if (!w->has_callbacks) return NET_RELEVANT_BY_RULES;
    uint32_t mood = mood_of(w, client, entity);
    return mood == 0 ? NET_RELEVANT_NEVER : mood == 1 ? NET_RELEVANT_ALWAYS : NET_RELEVANT_BY_RULES;
}

static uint32_t classes_of(const twin* w, uint32_t client, ecs_entity entity) {
    bool is_spy = w->has_callbacks && mood_of(w, client, entity) % 2 == 0;
    return is_spy ? 1u << net_rows_class(w->t.rows, "agents") : 0;
}

static net_relevance ask_relevance(const net_interest_question* question) {
    return relevance_of(question->context, question->client, question->entity);
}

static uint32_t ask_classes(const net_interest_question* question) {
    return classes_of(question->context, question->client, question->entity);
}

static float random_place(twin* w) {
    return base_rng_float(&w->rng) * 900.0f - 450.0f;
}

static uint64_t number_of(const twin* w, ecs_entity entity, ecs_component_id id, size_t bytes) {
    const void* cell = ecs_find(w->t.world, entity, id);
    uint64_t value = 0;
    if (cell) memcpy(&value, cell, bytes);
    return value;
}

static bool is_own(const twin* w, uint32_t client, ecs_entity entity) {
    return entity == w->players[client] ||
           number_of(w, entity, w->t.mine, sizeof(uint32_t)) == client;
}

static bool is_within(const twin* w, uint32_t client, ecs_entity entity, float radius) {
    const ecs_vec2* at = ecs_find(w->t.world, entity, w->t.at);
    if (!at || !w->has_at[client]) return false;
    float x = w->at[client][0] - at->x, y = w->at[client][1] - at->y;
    return x * x + y * y <= radius * radius;
}

// Whether the client has the entity at any distance.
static bool is_far_in(const twin* w, uint32_t client, ecs_entity entity) {
    const ecs_template* template_ =
        ecs_template_get(w->t.world, ecs_entity_template(w->t.world, entity));
    bool has_door = ecs_find(w->t.world, entity, w->t.door) != NULL;
    bool has_at = ecs_find(w->t.world, entity, w->t.at) != NULL;
    if (strstr(template_->name, "sun")) return true;
    if (!has_at && !has_door) return true;
    if (is_own(w, client, entity)) return true;
    return (number_of(w, entity, w->t.door, sizeof(uint64_t)) & w->groups[client]) != 0;
}

static bool is_in_alone(const twin* w, uint32_t client, ecs_entity entity,
                        const net_interest_entity* member) {
    float radius = w->radius[client];
    net_relevance relevance = relevance_of(w, client, entity);
    if (relevance != NET_RELEVANT_BY_RULES) return relevance == NET_RELEVANT_ALWAYS;
    if (is_far_in(w, client, entity) || is_within(w, client, entity, radius)) return true;
    if (!member || !ecs_find(w->t.world, entity, w->t.at)) return false;
    if (is_within(w, client, entity, radius * NET_INTEREST_LEAVE)) return true;
    return member->entered + SCOPES_HZ > w->t.tick &&
           member->entered > w->revoked[ecs_entity_index(entity)] &&
           member->entered > w->client_revoked[client];
}

static const net_interest_entity* find_before(const interest_member* before, uint32_t index) {
    for (uint32_t i = 0; i < before->count; i++)
        if (before->entries[i].index == index) return &before->entries[i];
    return NULL;
}

static bool is_known(const twin* w, ecs_entity entity) {
    return net_rows_find(w->t.rows, ecs_entity_template(w->t.world, entity)) != NULL;
}

// List the entities that the interest asks the module about: all of them when there is no such
// module.
static void list_asked(twin* w, uint32_t client) {
    ecs_world* world = w->t.world;
    bool is_key_asked[8] = {false};
    for (uint32_t pass = 0; pass < 2; pass++) {
        ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
        for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
            if (!is_known(w, entity)) continue;
            uint64_t key = number_of(w, entity, w->t.whole, sizeof(uint32_t));
            bool is_asked = !w->has_callbacks || is_far_in(w, client, entity) ||
                            is_within(w, client, entity, w->radius[client] * NET_INTEREST_LEAVE) ||
                            is_key_asked[key];
            w->is_asked[ecs_entity_index(entity)] = is_asked;
            if (key && is_asked) is_key_asked[key] = true;
        }
    }
}

// Check a client whose query was just answered against the definition.
static void expect_by_definition(twin* w, uint32_t client) {
    const interest_member* before = &w->before[client];
    ecs_world* world = w->t.world;
    memset(w->is_in, 0, sizeof w->is_in);
    bool is_key_in[8] = {false};
    list_asked(w, client);
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        uint32_t index = ecs_entity_index(entity);
        if (!is_known(w, entity)) continue;
        w->is_in[index] =
            w->is_asked[index] && is_in_alone(w, client, entity, find_before(before, index));
        uint64_t key = number_of(w, entity, w->t.whole, sizeof(uint32_t));
        assert_true(key < 8);
        if (key && w->is_in[index]) is_key_in[key] = true;
    }
    uint32_t count = 0;
    entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        uint32_t index = ecs_entity_index(entity);
        if (!is_known(w, entity)) continue;
        uint64_t key = number_of(w, entity, w->t.whole, sizeof(uint32_t));
        bool is_in = w->is_in[index] ||
                     (is_key_in[key] && relevance_of(w, client, entity) != NET_RELEVANT_NEVER);
        const net_interest_entity* entry = interest_member_of(&w->t, client, index);
        if (is_in != (entry != NULL))
            print_error("tick %u client %u index %u: %d\n", (uint32_t)w->t.tick, client, index,
                        is_in);
        assert_true(is_in == (entry != NULL));
        if (!entry) continue;
        count++;
        uint64_t team = number_of(w, entity, w->t.side, sizeof(uint8_t));
        uint32_t classes = 1;
        bool has_classes = ecs_find(world, entity, w->t.mine) != NULL;
        if (has_classes && is_own(w, client, entity)) classes |= 1u << NET_CLASS_OWNER;
        if (has_classes) classes |= classes_of(w, client, entity);
        if (team && ecs_is_alive(world, w->players[client]) &&
            team == number_of(w, w->players[client], w->t.side, sizeof(uint8_t)))
            classes |= 1u << NET_CLASS_TEAM;
        if (ecs_is_alive(world, w->players[client])) assert_int_equal(entry->classes, classes);
        assert_int_equal(entry->group, key);
        uint32_t band = 8;
        const bool has_at = ecs_find(world, entity, w->t.at) != NULL;
        for (float part = 0.25f; has_at && part < 1.0f; part += 0.25f)
            if (!is_within(w, client, entity, w->radius[client] * part)) band /= 2;
        assert_int_equal(entry->weight,
                         (has_classes ? 4 : 1) * band * (is_own(w, client, entity) ? 4 : 1));
    }
    assert_int_equal(w->t.members[client].count, count);
}

static void look(twin* w, uint32_t client) {
    if (w->is_set[client] || !ecs_is_alive(w->t.world, w->players[client])) return;
    const ecs_vec2* at = ecs_find(w->t.world, w->players[client], w->t.at);
    if (!at) return;
    w->at[client][0] = at->x;
    w->at[client][1] = at->y;
    w->has_at[client] = true;
}

static void create_one(twin* w) {
    static const char* const names[] = {"dot",  "flag",  "unit", "sun",
                                        "room", "guest", "part", "bare"};
    // Use few entities that all clients see: the others are the hard cases.
    uint32_t pick = base_rng_below(&w->rng, 8);
    if ((pick == 1 || pick == 3) && !base_rng_chance(&w->rng, 0.1)) pick = 2;
    ecs_entity entity = interest_make(&w->t, names[pick], random_place(w), random_place(w));
    w->handles[ecs_entity_index(entity)] = entity;
    w->revoked[ecs_entity_index(entity)] = w->t.tick;
    if (ecs_find(w->t.world, entity, w->t.door) && base_rng_chance(&w->rng, 0.5))
        interest_set(&w->t, entity, w->t.door, 1u << base_rng_below(&w->rng, 5));
    if (!w->is_calm && ecs_find(w->t.world, entity, w->t.whole) && base_rng_chance(&w->rng, 0.3))
        interest_set(&w->t, entity, w->t.whole, base_rng_below(&w->rng, 8));
}

static bool is_player(const twin* w, ecs_entity entity) {
    for (uint32_t i = 0; i < SCOPES_CLIENTS_MAX; i++)
        if (w->players[i] == entity) return true;
    return false;
}

static void change_one(twin* w, ecs_entity entity) {
    ecs_component_id id = ECS_COMPONENT_NONE;
    uint64_t value = 0;
    if (w->is_calm && is_player(w, entity) && base_rng_chance(&w->rng, 0.9)) return;
    switch (w->is_calm && base_rng_chance(&w->rng, 0.99) ? 4 : base_rng_below(&w->rng, 12)) {
    case 0:
        id = w->t.mine;
        value = base_rng_below(&w->rng, 6);
        break;
    case 1:
        id = w->t.side;
        value = base_rng_below(&w->rng, 3);
        break;
    case 2:
        id = w->t.door;
        value = 1u << base_rng_below(&w->rng, 5);
        break;
    case 3:
        if (w->is_calm) break;
        id = w->t.whole;
        value = base_rng_below(&w->rng, 8);
        break;
    default:
        break;
    }
    if (id != ECS_COMPONENT_NONE && ecs_find(w->t.world, entity, id)) {
        size_t bytes = id == w->t.door ? 8 : id == w->t.side ? 1 : 4;
        if (number_of(w, entity, id, bytes) == value) return;
        interest_set(&w->t, entity, id, value);
        w->revoked[ecs_entity_index(entity)] = w->t.tick;
        return;
    }
    const ecs_vec2* at = ecs_find(w->t.world, entity, w->t.at);
    if (!at) return;
    // In half of the moods of a calm world an entity jumps rarely, in the others nearly always.
    const float reach = w->is_calm && w->mood % 2 ? 3.0f : 20.0f;
    if (base_rng_chance(&w->rng, 0.02))
        interest_move(&w->t, entity, random_place(w), random_place(w));
    else
        interest_move(&w->t, entity, at->x + (base_rng_float(&w->rng) - 0.5f) * reach,
                      at->y + (base_rng_float(&w->rng) - 0.5f) * reach);
}

static void change_client(twin* w) {
    uint32_t client = 1 + base_rng_below(&w->rng, 6);
    if (!w->t.has_client[client]) return;
    switch (base_rng_below(&w->rng, 6)) {
    case 0: {
        uint64_t mask = base_rng_below(&w->rng, 32);
        if (mask == w->groups[client]) break;
        net_interest_set_groups(w->t.interest, client, mask);
        w->groups[client] = mask;
        w->client_revoked[client] = w->t.tick;
        break;
    }
    case 1: {
        float at[3] = {random_place(w), random_place(w), 9};
        float radius = base_rng_chance(&w->rng, 0.5) ? 0 : 50 + base_rng_float(&w->rng) * 150;
        net_interest_set_viewpoint(w->t.interest, client, at, radius);
        memcpy(w->at[client], at, sizeof w->at[client]);
        w->radius[client] = radius > 0 ? radius : SCOPES_RADIUS;
        w->is_set[client] = w->has_at[client] = true;
        break;
    }
    case 2:
        net_interest_clear_viewpoint(w->t.interest, client);
        w->is_set[client] = false;
        w->radius[client] = SCOPES_RADIUS;
        break;
    case 3:
        net_interest_refresh(w->t.interest, client);
        break;
    default:
        break;
    }
}

static void join_or_leave(twin* w) {
    uint32_t client = 1 + base_rng_below(&w->rng, 6);
    if (w->t.has_client[client]) {
        interest_leave(&w->t, client);
        return;
    }
    ecs_entity player = base_rng_chance(&w->rng, 0.2)
                            ? ECS_ENTITY_NONE
                            : interest_make(&w->t, "unit", random_place(w), random_place(w));
    interest_join(&w->t, client, player);
    w->players[client] = player;
    if (player) w->handles[ecs_entity_index(player)] = player;
    if (player) w->revoked[ecs_entity_index(player)] = w->t.tick;
    w->groups[client] = 0;
    w->client_revoked[client] = 0;
    w->radius[client] = SCOPES_RADIUS;
    w->is_set[client] = w->has_at[client] = false;
}

static void churn(twin* w, uint32_t amount) {
    for (uint32_t i = 0; i < amount; i++) {
        uint32_t index = 1 + base_rng_below(&w->rng, 300);
        ecs_entity entity = w->handles[index];
        if (!entity || !ecs_is_alive(w->t.world, entity)) {
            if (base_rng_chance(&w->rng, 0.3)) create_one(w);
            continue;
        }
        if (base_rng_chance(&w->rng, 0.03)) {
            assert_ok(ecs_destroy(w->t.world, entity));
        } else if (base_rng_chance(&w->rng, 0.01)) {
            ecs_template_id sun = ecs_template_find(w->t.world, "unit");
            assert_ok(ecs_recreate(w->t.world, entity, sun, NULL, 0));
            w->revoked[index] = w->t.tick;
        } else {
            change_one(w, entity);
        }
    }
}

// As interest_step, but the model checks every answer.
static void step(twin* w) {
    interest_table* t = &w->t;
    t->tick++;
    ecs_step tick = {.tick = t->tick, .dt = 0.05f};
    ecs_world_step(t->world, &tick);
    net_history_step(t->history, t->world, t->tick);
    net_interest_step(t->interest, t->history, t->tick);
    ecs_changes_clear(t->world);
    interest_take_came(t);
    for (uint32_t c = 1; c < SCOPES_CLIENTS_MAX; c++) {
        if (!t->has_client[c] || !net_interest_is_due(t->interest, c)) continue;
        look(w, c);
        w->before[c] = t->members[c];
        interest_take_query(t, c);
        expect_by_definition(w, c);
    }
}

static void run(uint64_t seed, uint32_t steps, bool has_callbacks, bool is_calm) {
    twin* w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->before = calloc(SCOPES_CLIENTS_MAX, sizeof *w->before);
    assert_non_null(w->before);
    w->rng = base_rng_make(seed, 1);
    net_interest_rules rules = interest_rules();
    w->has_callbacks = has_callbacks;
    w->is_calm = is_calm;
    rules.relevance = has_callbacks ? ask_relevance : NULL;
    rules.classes = has_callbacks ? ask_classes : NULL;
    interest_open(&w->t, &rules, w);
    for (uint32_t i = 0; i < 150; i++)
        create_one(w);
    for (uint32_t i = 0; i < steps; i++) {
        if (base_rng_chance(&w->rng, is_calm ? 0.02 : 0.05)) join_or_leave(w);
        if (base_rng_chance(&w->rng, is_calm ? 0.01 : 0.1)) change_client(w);
        if (base_rng_chance(&w->rng, 0.05)) w->mood++;
        churn(w, base_rng_below(&w->rng, base_rng_chance(&w->rng, 0.2) ? 1 : 40));
        step(w);
        if (i % 200 != 199) continue;
        // At rest every client has what the check computes from the world alone.
        for (uint32_t k = 0; k < 2 * SCOPES_HZ; k++)
            step(w);
        interest_expect_checked(&w->t);
    }
    interest_close(&w->t);
    free(w->before);
    free(w);
}

CASE(random_worlds_are_seen_as_defined) {
    uint32_t runs = test_scaled(8, 1);
    for (uint32_t i = 0; i < runs; i++) {
        print_message("seed %u\n", 900 + i);
        run(900 + i, 600, false, false);
    }
}

CASE(a_moody_module_has_the_last_word) {
    uint32_t runs = test_scaled(4, 1);
    for (uint32_t i = 0; i < runs; i++) {
        print_message("seed %u\n", 700 + i);
        run(700 + i, 600, true, false);
    }
}

// A client that stands still looks only at what moved.
CASE(clients_that_stand_still_see_what_moves) {
    uint32_t runs = test_scaled(4, 1);
    for (uint32_t i = 0; i < runs; i++) {
        print_message("seed %u\n", 800 + i);
        run(800 + i, 600, false, true);
    }
}
