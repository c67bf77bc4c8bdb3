// SPDX-License-Identifier: MIT
// S4.1 to S4.4, S4.7, S1.5: what matches, one group per matcher, updates of groups, count and
// first.
#include "sample_world.h"

STORE_OPEN_CASE(any_wants_one_of_several) { // S4.2
    ecs_query* any = store_query(at, {"hp", "i", ECS_ANY}, {"radius", NULL, ECS_ANY});
    ecs_query* all = store_query(at, {"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_ANY},
                                 {"vel", "p2", ECS_ANY}, {"radius", "r", ECS_REQUIRE_NOT});
    ecs_query* half = store_query(at, {"ghost", NULL, ECS_ANY}, {"hp", "i", ECS_ANY});
    store_seal(at);
    ecs_world* world = at->world;
    store_create(at, at->nothing);
    ecs_entity ball = store_create(at, at->ball);
    ecs_entity rock = store_create(at, at->rock);
    ecs_entity mover = store_create(at, at->mover);
    assert_int_equal(ecs_query_count(world, any), 2);
    assert_int_equal(ecs_query_first(world, any), ball);
    assert_int_equal(ecs_query_count(world, all), 2);
    assert_int_equal(ecs_query_first(world, all), rock);
    assert_int_equal(ecs_query_count(world, half), 1);
    ecs_query_iter iter;
    assert_true(ecs_query_find(world, all, mover, &iter));
    assert_non_null(iter.rows.columns[0]);
    assert_null(iter.rows.columns[1]); // this template has no such column
    assert_null(iter.rows.columns[2]);
}

STORE_OPEN_CASE(only_wants_nothing_else) { // S4.2
    ecs_query* pos = store_query(at, {"pos", "p2", ECS_READ}, {NULL, NULL, ECS_ONLY});
    ecs_query* pos_vel = store_query(at, {"pos", "p2", ECS_READ}, {"vel", "p2", ECS_OPTIONAL_READ},
                                     {NULL, NULL, ECS_ONLY});
    ecs_query* empty = store_query(at, {NULL, NULL, ECS_ONLY});
    ecs_query* hp_pos =
        store_query(at, {"hp", "i", ECS_ANY}, {"pos", "p2", ECS_ANY}, {NULL, NULL, ECS_ONLY});
    ecs_query* none = store_query(at, {"pos", "p2", ECS_REQUIRE_NOT}, {NULL, NULL, ECS_ONLY});
    store_seal(at);
    ecs_world* world = at->world;
    ecs_entity nothing = store_create(at, at->nothing);
    ecs_entity pad = store_create(at, at->pad);
    ecs_entity mover = store_create(at, at->mover);
    ecs_entity rock = store_create(at, at->rock);
    store_create(at, at->ball);
    assert_int_equal(ecs_query_count(world, pos), 1);
    assert_int_equal(ecs_query_first(world, pos), pad);
    assert_int_equal(ecs_query_count(world, pos_vel), 2);
    assert_int_equal(ecs_query_first(world, empty), nothing);
    assert_int_equal(ecs_query_count(world, empty), 1);
    assert_int_equal(ecs_query_count(world, hp_pos), 2);
    assert_int_equal(ecs_query_count(world, none), 1);
    ecs_query_iter iter;
    assert_true(ecs_query_find(world, hp_pos, rock, &iter));
    assert_false(ecs_query_find(world, hp_pos, mover, &iter));
}

STORE_OPEN_CASE(terms_that_ask_for_the_same_share_a_group) { // S4.3 S4.7
    const ecs_term first[] = {{"pos", "p2", ECS_READ}, {"vel", "p2", ECS_READ}};
    ecs_query* a = make_query(at, first, 2);
    ecs_query* same = make_query(at, first, 2);
    ecs_query* b = store_query(at, {"vel", "p2", ECS_WRITE}, {"pos", "p2", ECS_REQUIRE});
    ecs_query* c = store_query(at, {"pos", "p2", ECS_READ}, {"hp", "i", ECS_OPTIONAL_READ},
                               {"vel", "p2", ECS_READ});
    ecs_query* d = store_query(at, {"pos", "p2", ECS_READ}, {"vel", "p2", ECS_REQUIRE_NOT});
    ecs_query* e =
        store_query(at, {"pos", "p2", ECS_READ}, {"vel", "p2", ECS_READ}, {NULL, NULL, ECS_ONLY});
    assert_ptr_equal(a, same);
    assert_ptr_not_equal(a, b); // columns in another order
    assert_ptr_equal(a->group, b->group);
    assert_ptr_equal(a->group, c->group);
    assert_ptr_not_equal(a->group, d->group);
    assert_ptr_not_equal(a->group, e->group);
    assert_int_equal(at->world->storage->group_count, 3);
    store_seal(at);
    store_create(at, at->ball);
    ecs_query_iter iter = ecs_query_begin(at->world, b);
    assert_true(ecs_query_next(&iter));
    assert_float_equal(((const ecs_vec2*)iter.rows.columns[0])->x, 3, 0); // vel comes first
    assert_null(iter.rows.columns[1]);
    ecs_query_end(&iter);
}

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

CASE(groups_that_cannot_be_made_change_nothing) { // S4.3
    bool is_done = false;
    for (uint64_t left = 0; !is_done; left++) {
        store fixture;
        store_open(&fixture);
        scarce_leave(&fixture.memory, left);
        const ecs_term terms[] = {
            {"pos", "p2", ECS_READ}, {"hp", "i", ECS_ANY}, {"vel", "p2", ECS_ANY}};
        ecs_query* query = NULL;
        ecs_result result = ecs_query_create(fixture.world, terms, 3, &query);
        fixture.memory.fail_at = 0;
        if (result != ECS_OK) assert_int_equal(fixture.world->storage->query_count, 0);
        store_seal(&fixture);
        scarce_leave(&fixture.memory, left);
        ecs_entity entity = ECS_ENTITY_NONE;
        ecs_result made = ecs_create(fixture.world, fixture.ball, NULL, 0, &entity);
        is_done = result == ECS_OK && made == ECS_OK;
        fixture.memory.fail_at = 0;
        ecs_world_validate(fixture.world);
        store_create(&fixture, fixture.ball);
        ecs_world_validate(fixture.world);
        store_close(&fixture);
    }
}

// Random matchers over many components

enum { KINDS = 200, SHAPES = 120, QUERIES = 60, TERMS_MAX = 12 };

typedef struct matcher {
    ecs_term terms[TERMS_MAX];
    char names[TERMS_MAX][8];
    uint32_t kinds[TERMS_MAX];
    uint32_t count;
    ecs_query* query;
} matcher;

static bool model_matches(const matcher* m, const bool* has) {
    bool wants_any = false, has_any = false, is_only = false;
    bool named[KINDS] = {false};
    for (uint32_t i = 0; i < m->count; i++) {
        ecs_access access = m->terms[i].access;
        uint32_t kind = m->kinds[i];
        if (access == ECS_ONLY) {
            is_only = true;
            continue;
        }
        if ((access == ECS_READ || access == ECS_WRITE || access == ECS_REQUIRE) && !has[kind])
            return false;
        if (access == ECS_REQUIRE_NOT && has[kind]) return false;
        if (access == ECS_ANY) {
            wants_any = true;
            has_any = has_any || has[kind];
        }
        if (access != ECS_REQUIRE_NOT) named[kind] = true;
    }
    for (uint32_t kind = 0; is_only && kind < KINDS; kind++)
        if (has[kind] && !named[kind]) return false;
    return !wants_any || has_any;
}

static void fill_matcher(matcher* m, base_rng* rng, bool has[SHAPES][KINDS]) {
    // Mostly use components of one shape. Otherwise nothing would ever match.
    const bool* like = has[base_rng_u32(rng) % SHAPES];
    uint32_t count = 1 + base_rng_u32(rng) % (TERMS_MAX - 1);
    m->count = 0;
    uint32_t from = base_rng_u32(rng) % KINDS;
    for (uint32_t i = 0; i < KINDS && m->count < count; i++) {
        uint32_t kind = (from + i) % KINDS;
        bool is_there = like[kind];
        if (!is_there && base_rng_u32(rng) % 40 != 0) continue;
        static const ecs_access there[] = {ECS_READ, ECS_WRITE, ECS_REQUIRE, ECS_ANY,
                                           ECS_OPTIONAL_READ};
        static const ecs_access gone[] = {ECS_REQUIRE_NOT, ECS_ANY, ECS_OPTIONAL_WRITE};
        ecs_access access = is_there ? there[base_rng_u32(rng) % 5] : gone[base_rng_u32(rng) % 3];
        (void)snprintf(m->names[m->count], sizeof m->names[0], "c%u", kind);
        m->terms[m->count] = (ecs_term){m->names[m->count], "i", access};
        m->kinds[m->count++] = kind;
    }
    if (m->count < TERMS_MAX && base_rng_u32(rng) % 3 == 0)
        m->terms[m->count++] = (ecs_term){NULL, NULL, ECS_ONLY};
}

CASE(matchers_combine_freely_over_many_components) { // S4.1 S4.2 S4.4 S1.5 S1.3
    base_rng rng = test_rng(0x5ea1, 0);
    static bool has[SHAPES][KINDS];
    static char text[256 << 10];
    size_t used = 0;
    memset(has, 0, sizeof has);
    for (uint32_t s = 0; s < SHAPES; s++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "s%u {\n", s);
        uint32_t count = s % 17;
        for (uint32_t i = 0; i < count; i++)
            has[s][s == 1 ? i * 60 % KINDS : base_rng_u32(&rng) % KINDS] = true;
        for (uint32_t kind = 0; kind < KINDS; kind++)
            if (has[s][kind] || (s == SHAPES - 1))
                used += (size_t)snprintf(text + used, sizeof text - used, " c%u:i=1\n", kind);
        if (s == SHAPES - 1) memset(has[s], true, KINDS);
        used += (size_t)snprintf(text + used, sizeof text - used, "}\n");
    }
    ecs_world_config config = ecs_world_config_default();
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    assert_ok(ecs_template_load(world, "many.blk", text, used, test_reporter()));
    static matcher matchers[QUERIES];
    for (uint32_t q = 0; q < QUERIES; q++) {
        fill_matcher(&matchers[q], &rng, has);
        assert_ok(
            ecs_query_create(world, matchers[q].terms, matchers[q].count, &matchers[q].query));
    }
    assert_ok(ecs_world_seal(world, test_reporter()));
    ecs_template_id ids[SHAPES];
    uint32_t living[SHAPES] = {0};
    ecs_entity last[SHAPES] = {0};
    for (uint32_t s = 0; s < SHAPES; s++) {
        char name[8];
        (void)snprintf(name, sizeof name, "s%u", s);
        ids[s] = ecs_template_find(world, name);
    }
    uint32_t matched = 0;
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t s = base_rng_u32(&rng) % SHAPES;
        if (last[s] != ECS_ENTITY_NONE && base_rng_u32(&rng) % 2 == 0) {
            uint32_t to = base_rng_u32(&rng) % SHAPES; // destroy the entity, or change its template
            if (last[to] == ECS_ENTITY_NONE) {
                assert_ok(ecs_recreate(world, last[s], ids[to], NULL, 0));
                last[to] = last[s];
                living[to]++;
            } else {
                assert_ok(ecs_destroy(world, last[s]));
            }
            living[s]--;
            last[s] = ECS_ENTITY_NONE;
        } else {
            assert_ok(ecs_create(world, ids[s], NULL, 0, &last[s]));
            living[s]++;
        }
        for (uint32_t q = 0; q < QUERIES; q++) {
            uint32_t expected = 0;
            for (uint32_t k = 0; k < SHAPES; k++)
                if (model_matches(&matchers[q], has[k])) expected += living[k];
            matched += expected;
            assert_int_equal(ecs_query_count(world, matchers[q].query), expected);
            ecs_entity first = ecs_query_first(world, matchers[q].query);
            assert_int_equal(first != ECS_ENTITY_NONE, expected > 0);
            ecs_query_iter iter = ecs_query_begin(world, matchers[q].query);
            bool has_one = ecs_query_next(&iter);
            assert_int_equal(has_one ? iter.rows.entities[0] : ECS_ENTITY_NONE, first);
            ecs_query_end(&iter);
        }
    }
    assert_true(matched > 10000);
    ecs_world_validate(world);
    ecs_world_destroy(world);
}
