// SPDX-License-Identifier: MIT
#include "sample_world.h"

static ecs_result add(store* fixture, const char* name, const char* before, const char* after) {
    ecs_system_desc desc = {.name = name, .stage = "act", .run = store_idle};
    desc.before = &before;
    desc.before_count = before != NULL;
    desc.after = &after;
    desc.after_count = after != NULL;
    return ecs_system_register(fixture->world, &desc);
}

static void expect_order(store* fixture, const char* expected) {
    char text[64] = "";
    for (uint32_t i = 0; ecs_stage_system_name(fixture->world, 0, i) != NULL; i++)
        strcat(text, ecs_stage_system_name(fixture->world, 0, i));
    assert_string_equal(text, expected);
}

CASE(before_and_after_move_as_little_as_they_must) { // S5.12
    static const struct {
        const char* systems[4][3]; // name, before, after
        const char *order, *fault;
    } rows[] = {
        {{{"c"}, {"a"}, {"b"}}, "cab", NULL},
        {{{"a", NULL, "d"}, {"b"}, {"c"}, {"d", "b"}}, "cdab", NULL},
        {{{"a", NULL, "b"}, {"b", "a"}}, "ba", NULL}, // told twice
        {{{"a", NULL, "ghost"}}, NULL, "ghost"},
        {{{"self", NULL, "self"}}, NULL, "self after self"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        store at;
        store_open(&at);
        for (uint32_t k = 0; k < 4 && rows[i].systems[k][0]; k++)
            assert_ok(
                add(&at, rows[i].systems[k][0], rows[i].systems[k][1], rows[i].systems[k][2]));
        if (rows[i].fault) {
            seal_refused(at.world, i == 3 ? ECS_ERR_UNKNOWN : ECS_ERR_CYCLE, rows[i].fault);
        } else {
            store_seal(&at);
            expect_order(&at, rows[i].order);
            assert_null(ecs_stage_system_name(at.world, 0, (uint32_t)strlen(rows[i].order)));
            assert_null(ecs_stage_system_name(at.world, 9, 0));
        }
        store_close(&at);
    }
}

static ecs_result seal_reported(store* fixture, base_report_first* report) {
    memset(report, 0, sizeof(*report));
    base_reporter reporter = base_reporter_first(report);
    return ecs_world_seal(fixture->world, &reporter);
}

STORE_OPEN_CASE(a_cycle_is_reported_with_its_names) { // S5.12
    assert_ok(add(at, "outside", NULL, "late"));
    assert_ok(add(at, "early", NULL, "late"));
    assert_ok(add(at, "middle", NULL, "early"));
    assert_ok(add(at, "late", NULL, "middle"));
    base_report_first report;
    assert_int_equal(seal_reported(at, &report), ECS_ERR_CYCLE);
    assert_non_null(strstr(report.text, "early after late"));
    assert_non_null(strstr(report.text, "late after middle"));
    assert_non_null(strstr(report.text, "middle after early"));
    assert_null(strstr(report.text, "outside"));
}

static const char* const server_tag[] = {"server"};

STORE_OPEN_WITH_CASE(names_of_systems_that_tags_left_out_are_ignored, at->config.tags = server_tag,
                     at->config.tag_count = 1) { // S5.12 S5.13
    const char* render[] = {"render"};
    ecs_system_desc drawn = {
        .name = "draw", .stage = "act", .run = store_idle, .tags = render, .tag_count = 1};
    assert_ok(ecs_system_register(at->world, &drawn));
    assert_int_equal(ecs_system_register(at->world, &drawn), ECS_ERR_DUPLICATE);
    assert_ok(add(at, "a", "draw", "draw"));
    system_add(at->world, .name = "kept", .stage = "act", .run = store_idle, TAGS("server"));
    store_seal(at);
    expect_order(at, "akept");
}

// A sorted order keeps all constraints. When the sort refuses them, they have a cycle.
CASE(random_constraints_hold_or_form_a_cycle) { // S5.12
    base_rng rng = test_rng(20240611, 1);
    for (uint32_t round = 0; round < 60; round++) {
        enum { COUNT = 12 };
        bool follows[COUNT][COUNT] = {{false}};
        char names[COUNT][8];
        for (uint32_t i = 0; i < COUNT; i++)
            (void)snprintf(names[i], sizeof(names[i]), "s%u", i);
        store fixture;
        store_open(&fixture);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t other = base_rng_below(&rng, COUNT);
            bool is_used = base_rng_chance(&rng, 0.6) && other != i;
            follows[i][other] |= is_used;
            assert_ok(add(&fixture, names[i], NULL, is_used ? names[other] : NULL));
        }
        base_report_first report;
        ecs_result result = seal_reported(&fixture, &report);
        bool reach[COUNT][COUNT];
        memcpy(reach, follows, sizeof(reach));
        for (uint32_t k = 0; k < COUNT; k++) {
            for (uint32_t i = 0; i < COUNT; i++)
                for (uint32_t j = 0; j < COUNT; j++)
                    reach[i][j] |= reach[i][k] && reach[k][j];
        }
        bool has_cycle = false;
        for (uint32_t i = 0; i < COUNT; i++)
            has_cycle |= reach[i][i];
        assert_int_equal(result, has_cycle ? ECS_ERR_CYCLE : ECS_OK);
        uint32_t place[COUNT];
        for (uint32_t i = 0; i < COUNT && !has_cycle; i++)
            place[strtoul(ecs_stage_system_name(fixture.world, 0, i) + 1, NULL, 10)] = i;
        for (uint32_t i = 0; i < COUNT && !has_cycle; i++)
            for (uint32_t j = 0; j < COUNT; j++)
                assert_true(!follows[i][j] || place[j] < place[i]);
        store_close(&fixture);
    }
}

static ecs_result order(store* fixture, const char* const* names, uint32_t count,
                        base_report_first* report) {
    memset(report, 0, sizeof(*report));
    base_reporter reporter = base_reporter_first(report);
    return ecs_order_set(fixture->world, "act", names, count, &reporter);
}

STORE_OPEN_CASE(systems_stand_before_or_after_a_sync_point) { // S5.12
    assert_ok(add(at, "a", NULL, "point"));
    assert_ok(add(at, "b", "point", NULL));
    assert_ok(ecs_sync_point_register(at->world, "act", "point"));
    assert_int_equal(ecs_sync_point_register(at->world, "act", "point"), ECS_ERR_DUPLICATE);
    assert_int_equal(ecs_sync_point_register(at->world, "act", "a"), ECS_ERR_DUPLICATE);
    assert_int_equal(add(at, "point", NULL, NULL), ECS_ERR_DUPLICATE);
    assert_ok(add(at, "c", "point", NULL));
    store_seal(at);
    expect_order(at, "bcpointa");
    ecs_system_info info;
    assert_true(ecs_stage_system_info(at->world, 0, 2, &info));
    assert_true(info.is_sync_point);
    store_step(at); // it runs no system there
    assert_int_equal(ecs_sync_point_register(at->world, "act", "late"), ECS_ERR_SEALED);
}

STORE_OPEN_CASE(an_explicit_order_chains_its_names_and_moves_nobody_else) { // S5.12
    static const char* const first[] = {"a", "b"};
    static const char* const names[] = {"d", "p", "b", "a"};
    base_report_first report;
    assert_ok(order(at, first, 2, &report)); // before any system is registered
    static const char* const all[] = {"a", "b", "c", "d", "e"};
    for (uint32_t i = 0; i < 5; i++)
        assert_ok(add(at, all[i], NULL, NULL));
    assert_ok(ecs_sync_point_register(at->world, "act", "p"));
    assert_ok(order(at, names, 4, &report)); // it replaces the first list
    store_seal(at);
    expect_order(at, "cdepba");
    assert_int_equal(order(at, names, 4, &report), ECS_ERR_SEALED);
}

STORE_OPEN_CASE(an_order_that_is_wrong_is_refused_by_name) { // S5.12
    static const char* const twice[] = {"a", "b", "a"};
    static const char* const names[] = {"a", "b"};
    static const char* const ghost[] = {"a", "ghost"};
    base_report_first report;
    assert_ok(order(at, names, 2, &report));
    assert_int_equal(order(at, twice, 3, &report), ECS_ERR_DUPLICATE);
    assert_non_null(strstr(report.text, "'a' twice"));
    assert_ok(add(at, "a", NULL, "b"));
    assert_ok(add(at, "b", NULL, NULL));
    // The first list is still valid.
    assert_int_equal(seal_reported(at, &report), ECS_ERR_CYCLE);
    assert_non_null(strstr(report.text, "a after b"));
    assert_non_null(strstr(report.text, "b after a"));
    assert_ok(order(at, ghost, 2, &report));
    assert_int_equal(seal_reported(at, &report), ECS_ERR_UNKNOWN);
    assert_non_null(strstr(report.text, "ghost"));
    assert_ok(order(at, NULL, 0, &report));
    assert_ok(seal_reported(at, &report));
}

static void mark_event(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    store_mark(stage->user, stage->context);
}

STORE_OPEN_CASE(handlers_of_events_follow_the_order_too) { // S5.12 S5.11
    static const char* const names[] = {"3", "p", "1"};
    for (uint32_t i = 0; i < 3; i++) {
        static const char* const systems[] = {"1", "2", "3"};
        system_add(at->world, .name = systems[i], EVENTS("ping"), .on_event = mark_event,
                   .context = (void*)systems[i]);
    }
    assert_ok(ecs_sync_point_register(at->world, "act", "p"));
    base_report_first report;
    assert_ok(order(at, names, 3, &report));
    store_seal(at);
    assert_true(ecs_event_broadcast(at->world, at->ping, NULL));
    ecs_step step = {.tick = 1, .dt = 1, .user = at};
    ecs_world_step(at->world, &step);
    assert_string_equal(at->trace, "231");
}

STORE_OPEN_CASE(as_many_systems_as_the_limit_says) { // S5.12
    char name[16];
    for (uint32_t i = 0; i < ECS_SYSTEMS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "p%u", i);
        assert_ok(ecs_sync_point_register(at->world, "act", name));
    }
    assert_int_equal(ecs_sync_point_register(at->world, "act", "more"), ECS_ERR_FULL);
    char long_name[ECS_NAME_BYTES_MAX + 1];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[ECS_NAME_BYTES_MAX] = '\0';
    const char* const names[] = {long_name};
    base_report_first report;
    assert_int_equal(order(at, names, 1, &report), ECS_ERR_FULL);
}
