// SPDX-License-Identifier: MIT
// Invalid rules, and lack of memory: the other half of test_interest.c.
#include "interest_world.h"
#include "scarce.h"

// ---- rules ----

static const char rules_text[] =
    "a { \"at:p3\"{ _replicate:b=yes } \"loose:p2\"{} \"on:tag\"{} \"n:i\"{ _track:b=yes }\n"
    " \"big:u64\"{ _track:b=yes } \"small:u16\"{ _track:b=yes } \"real:r\"{ _track:b=yes } }\n"
    "free { \"loose:p2\"{} }\n";

static void expect_refused(net_interest_rules rules, const char* message) {
    ecs_world* world;
    net_schema* schema = schema_made(rules_text, (schema_wanted){0}, &world);
    base_report_first report;
    base_reporter reporter = base_reporter_first(&report);
    rules.size_bytes = sizeof rules;
    const net_interest_config config = {.rules = &rules,
                                        .world = world,
                                        .rows = net_schema_rows(schema),
                                        .index_max = 100,
                                        .tick_rate_hz = 60};
    net_interest* interest;
    net_result result = net_interest_create(&config, &reporter, &interest);
    if (message) {
        assert_int_equal(result, NET_ERR_SCHEMA);
        assert_string_equal(report.text, message);
        assert_null(interest);
    } else {
        if (report.count) print_error("%s\n", report.text);
        assert_ok(result);
    }
    base_owner_destroy(interest);
    schema_unmake(schema, world);
}

CASE(rules_that_cannot_hold_are_refused) {
    expect_refused((net_interest_rules){0}, NULL);
    expect_refused((net_interest_rules){.position = "at",
                                        .radius = 1,
                                        .always = "on",
                                        .owner = "n",
                                        .team = "small",
                                        .groups = "big",
                                        .together = "n"},
                   NULL);
    expect_refused((net_interest_rules){.position = "bt"},
                   "error: interest: position: there is no component 'bt', did you mean 'at'?");
    expect_refused((net_interest_rules){.position = "real", .radius = 1},
                   "error: interest: position: a r is not 2 or 3 floats");
    expect_refused(
        (net_interest_rules){.position = "loose", .radius = 1},
        "test.blk:1: error: interest: position: component 'loose' of 'a' needs _track:b=yes");
    expect_refused((net_interest_rules){.radius = 1}, "error: interest: radius without position");
    expect_refused((net_interest_rules){.position = "at", .radius = -1},
                   "error: interest: radius is not from 0 to 1e9");
    expect_refused((net_interest_rules){.position = "at", .radius = __builtin_nanf("")},
                   "error: interest: radius is not from 0 to 1e9");
    expect_refused((net_interest_rules){.always = "n"},
                   "error: interest: always: a i is not a tag");
    expect_refused((net_interest_rules){.owner = "small"},
                   "error: interest: owner: a u16 is not an i or u32");
    expect_refused((net_interest_rules){.team = "big"},
                   "error: interest: team: a u64 is not an i, u8, u16 or u32");
    expect_refused((net_interest_rules){.groups = "n"},
                   "error: interest: groups: a i is not a u64");
    expect_refused((net_interest_rules){.together = "at"},
                   "error: interest: together: a p3 is not an i or u32");
}

// ---- memory ----

static net_relevance count_questions(const net_interest_question* question) {
    uint32_t* count = question->context;
    (*count)++;
    return NET_RELEVANT_BY_RULES;
}

CASE(a_steady_tick_takes_no_memory) {
    scarce_memory source;
    scarce_init(&source);
    interest_table t;
    uint32_t questions = 0;
    net_interest_rules rules = interest_rules();
    rules.relevance = count_questions;
    interest_open_with(&t, interest_text, &rules, &questions, &source.allocator);
    base_rng rng = base_rng_make(3, 1);
    static ecs_entity units[500];
    for (uint32_t i = 0; i < BASE_COUNT(units); i++) {
        units[i] = interest_make(&t, "unit", 0, 0);
        interest_set(&t, units[i], t.mine, i % 40);
    }
    for (uint32_t c = 1; c < SCOPES_CLIENTS_MAX; c++)
        interest_join(&t, c, units[c]);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 400; i++) {
        if (i == 300) before = source.calls;
        for (uint32_t k = 0; k < BASE_COUNT(units); k++)
            interest_move(&t, units[k], base_rng_float(&rng) * 400, base_rng_float(&rng) * 400);
        uint32_t one = base_rng_below(&rng, BASE_COUNT(units));
        interest_set(&t, units[one], t.mine, base_rng_below(&rng, 40));
        assert_ok(ecs_destroy(t.world, units[one]));
        units[one] = interest_make(&t, "unit", 200, 200);
        interest_step(&t);
    }
    assert_true(source.calls == before);
    assert_true(questions > 0);
    interest_close(&t);
    assert_int_equal(source.bytes, 0);
}
