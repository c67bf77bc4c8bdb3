// SPDX-License-Identifier: MIT
// What is generated does what the functions say: sample.c and the manual's examples in a world.
#include "test.h"

#include "manual.h"
#include "manual.pb-c.h"
#include "sample.h"
#include "sample.pb-c.h"

static const char templates[] =
    "mover { pos:p3=0,0,0; vel:p3=4,2,-4 }\n"
    "struck { _extends:t=mover; hits:i=5; \"last:SampleHit\"{ damage:i=2 } }\n"
    "slow { pos:p3=1,0,0; vel:p3=8,0,0; drag:r=0.25 }\n"
    "brick { \"brick.pos:ip2\"{ value:ip2=3,4 }\n \"path:list<i>\"{ a:i=10; b:i=20 } }\n"
    "alone { alone:r=1 }\n"
    "alone_not { alone:r=2; hits:i=0 }\n"
    "kept { \"state:SampleState\"{ _track:b=yes; health:i=1 } hits:i=0 }\n";

typedef struct sample_world {
    ecs_world* world;
    sample_log log;
    ecs_query *sums, *firsts;
    ecs_tick tick;
    base_report_first faults;
    base_reporter reporter;
} sample_world;

static void world_open(sample_world* self, const char* tag) {
    memset(self, 0, sizeof *self);
    self->reporter = base_reporter_first(&self->faults);
    ecs_world_config config = ecs_world_config_default();
    config.tags = &tag;
    config.tag_count = tag ? 1 : 0;
    assert_ok(ecs_world_create(&config, &self->world));
    assert_ok(sample_register_all_types(self->world, &self->reporter));
    ecs_result result =
        ecs_template_load(self->world, "sample.blk", templates, strlen(templates), &self->reporter);
    if (result) print_error("%s\n", self->faults.text);
    assert_ok(result);
    assert_ok(sample_register_all(self->world, &self->log));
    assert_ok(sample_create_queries(self->world, &self->sums, &self->firsts));
    result = ecs_world_seal(self->world, &self->reporter);
    if (result) print_error("%s\n", self->faults.text);
    assert_ok(result);
}

#define SERVER_CASE(name)                                                                          \
    CASE_WITH(sample_world, at, world_open(at, "server"), ecs_world_destroy(at->world), name)

#define PLAIN_CASE(name)                                                                           \
    CASE_WITH(sample_world, at, world_open(at, NULL), ecs_world_destroy(at->world), name)

static ecs_entity make(sample_world* self, const char* name) {
    ecs_template_id id = ecs_template_find(self->world, name);
    assert_true(id != ECS_TEMPLATE_NONE);
    ecs_entity entity;
    assert_ok(ecs_create(self->world, id, NULL, 0, &entity));
    return entity;
}

static const void* get(sample_world* self, ecs_entity entity, const char* name) {
    return ecs_get(self->world, entity, ecs_component_find(self->world, name));
}

static void step(sample_world* self) {
    const ecs_step step = {.tick = ++self->tick, .dt = 0.5f};
    ecs_world_step(self->world, &step);
}

static uint32_t count_of(const sample_world* self, char letter) {
    uint32_t count = 0;
    for (const char* at = self->log.order; *at; at++)
        count += *at == letter;
    return count;
}

// S3.1, S3.2. The loop in blocks of 8 and its rest: every row once, whatever their number.
CASE(a_system_is_called_once_per_entity) {
    static const uint32_t counts[] = {0, 1, 7, 8, 9, 15, 16, 17, 100};
    for (uint32_t k = 0; k < BASE_COUNT(counts); k++) {
        sample_world w;
        world_open(&w, "server");
        ecs_entity entities[100];
        for (uint32_t i = 0; i < counts[k]; i++) {
            entities[i] = make(&w, "mover");
            const ecs_vec3 pos = {(float)i, 0.0f, 1.0f};
            assert_ok(ecs_set(w.world, entities[i], ecs_component_find(w.world, "pos"), &pos));
        }
        step(&w);
        for (uint32_t i = 0; i < counts[k]; i++) {
            const ecs_vec3* pos = get(&w, entities[i], "pos");
            assert_true(pos->x == (float)i + 2.0f && pos->y == 1.0f && pos->z == -1.0f);
        }
        ecs_world_destroy(w.world);
    }
}

CASE(tags_say_where_a_system_is) {
    static const char* const tags[] = {"server", "predict", "render", NULL};
    for (uint32_t i = 0; i < BASE_COUNT(tags); i++) {
        sample_world w;
        world_open(&w, tags[i]);
        ecs_entity entity = make(&w, "mover");
        step(&w);
        assert_true(((const ecs_vec3*)get(&w, entity, "pos"))->x == (i < 2 ? 2.0f : 0.0f));
        assert_int_equal(count_of(&w, 'n'), 0);
        ecs_world_destroy(w.world);
    }
}

SERVER_CASE(before_and_after_order_systems) {
    step(at);
    assert_string_equal(at->log.order, "el");
    uint32_t act = ecs_stage_find(at->world, "act"), late = 0, drag = 0, early = 0;
    for (uint32_t i = 0; ecs_stage_system_name(at->world, act, i); i++) {
        const char* name = ecs_stage_system_name(at->world, act, i);
        if (strcmp(name, "late_es") == 0) late = i;
        if (strcmp(name, "drag_es") == 0) drag = i;
        if (strcmp(name, "early_es") == 0) early = i;
    }
    assert_true(drag < late && early < late);
    // Stages of other names run when they are asked.
    const ecs_step frame = {.tick = 1, .dt = 0.5f};
    ecs_world_run_stage(at->world, ecs_stage_find(at->world, "render"), &frame);
    assert_string_equal(at->log.order, "eld");
}

// S5.17
SERVER_CASE(missing_components_are_defaults_or_null) {
    ecs_entity mover = make(at, "mover"), slow = make(at, "slow"), struck = make(at, "struck");
    step(at);
    assert_true(((const ecs_vec3*)get(at, mover, "vel"))->x == 2.0f);
    assert_true(((const ecs_vec3*)get(at, slow, "vel"))->x == 2.0f);
    assert_int_equal(at->log.with_hits, 1);
    assert_int_equal(at->log.without_hits, 2);
    assert_int_equal(at->log.moved, 3);
    assert_int_equal(*(const int32_t*)get(at, struck, "hits"), 6);
    assert_true(at->log.last == mover || at->log.last == slow || at->log.last == struck);
}

SERVER_CASE(spans_are_runs_of_rows) {
    for (uint32_t i = 0; i < 40; i++)
        make(at, "mover");
    make(at, "struck"); // has hits
    make(at, "slow");   // has drag
    step(at);
    assert_int_equal(at->log.span_rows, 41);
    assert_int_equal(at->log.spans, count_of(at, 's') + 1);
}

// S5.17
SERVER_CASE(require_any_not_and_only_choose_entities) {
    make(at, "mover");
    make(at, "struck");
    make(at, "slow");
    make(at, "alone_not");
    step(at);
    assert_int_equal(count_of(at, 'a'), 2);
    assert_int_equal(count_of(at, 'o') + count_of(at, '?'), 0);
    make(at, "alone");
    step(at);
    assert_int_equal(count_of(at, 'o'), 1);
    assert_int_equal(count_of(at, '?'), 0);
}

// S3.3
SERVER_CASE(interval_systems_run_at_their_ticks) {
    ecs_entity kept = make(at, "kept");
    for (uint32_t tick = 1; tick <= 6; tick++) {
        step(at);
        assert_int_equal(((const sample_state*)get(at, kept, "state"))->health, 1 + tick / 2);
    }
    uint32_t act = ecs_stage_find(at->world, "act");
    bool is_seen = false;
    ecs_system_info info;
    for (uint32_t i = 0; ecs_stage_system_info(at->world, act, i, &info); i++) {
        if (strcmp(info.name, "heal_es") != 0) continue;
        is_seen = info.every_ticks == 2 && info.quantum == 64;
    }
    assert_true(is_seen);
}

SERVER_CASE(names_with_dots_and_lists_are_bound) {
    make(at, "brick");
    step(at);
    assert_int_equal(count_of(at, 'c'), 1);
}

SERVER_CASE(members_hear_who_comes_and_goes) {
    ecs_entity first = make(at, "kept");
    make(at, "kept");
    step(at);
    assert_int_equal(at->log.entered, 2);
    assert_int_equal(at->log.first, 1);
    assert_ok(ecs_destroy(at->world, first));
    step(at);
    assert_int_equal(at->log.left, 1);
    assert_int_equal(at->log.first, 1);
}

PLAIN_CASE(handlers_get_their_payload_and_the_rows) {
    ecs_entity struck = make(at, "struck");
    const sample_hit hit = {.damage = 10};
    const sample_noise noise = {.loudness = 7};
    assert_true(ecs_event_send(at->world, struck, ecs_event_find(at->world, "hit"), &hit));
    assert_true(ecs_event_broadcast(at->world, ecs_event_find(at->world, "noise"), &noise));
    assert_true(ecs_event_broadcast(at->world, ecs_event_find(at->world, "told"), &hit));
    step(at);
    // 5 and 10, what its own last hit adds, and one that look_es adds.
    assert_int_equal(*(const int32_t*)get(at, struck, "hits"), 5 + 10 + 2 + 1);
    assert_int_equal(at->log.noises, 2);
    assert_int_equal(at->log.loudness, 7);
}

SERVER_CASE(tracking_handlers_are_called_after_a_change) {
    make(at, "kept");
    step(at); // made: a change
    step(at); // healed, and told of the first
    uint32_t tracked = at->log.tracked;
    step(at); // told that it was healed
    assert_int_equal(at->log.tracked, tracked + 1);
    step(at); // healed again, nothing happened in the step before
    assert_int_equal(at->log.tracked, tracked + 1);
}

PLAIN_CASE(queries_run_stop_and_find) {
    ecs_entity slow = make(at, "slow"), brick = make(at, "brick");
    make(at, "slow");
    assert_true(sample_sum(at->world, at->sums) == 2.0f);
    assert_int_equal(sample_count_until(at->world, at->firsts, 1), 1);
    assert_int_equal(sample_count_until(at->world, at->firsts, 9), 2);
    float x = 0.0f;
    assert_true(sample_find(at->world, at->sums, slow, &x));
    assert_true(x == 1.0f);
    assert_false(sample_find(at->world, at->sums, brick, &x));
    make(at, "slow"); // the walk that ended early is over
}

// S3.4: no table was typed.
PLAIN_CASE(types_have_the_fields_of_their_structs) {
    const ecs_type* type = ecs_type_get(at->world, ecs_type_find(at->world, "SampleState"));
    assert_non_null(type);
    assert_int_equal(type->size, sizeof(sample_state));
    assert_int_equal(type->align, _Alignof(sample_state));
    assert_int_equal(type->field_count, 9); // sample.expected has them
    assert_int_equal(ecs_event_count(at->world), 7);
    const ecs_event_desc* told = ecs_event_get(at->world, ecs_event_find(at->world, "told"));
    assert_true(told->is_exported && told->size == sizeof(sample_hit) && told->field_count == 1);
    assert_false(ecs_event_get(at->world, ecs_event_find(at->world, "hit"))->is_exported);
    // Twice is refused, with the name.
    assert_int_equal(sample_register_all_types(at->world, &at->reporter), ECS_ERR_SEALED);
    assert_non_null(strstr(at->faults.text, "type SampleState: "));
}

CASE(the_manuals_examples_run) {
    static const char text[] = "thing { pos:p2=-3,0; vel:p2=2,4; heat:r=8;\n"
                               " \"hull:ManualHull\"{ strength:r=0.5 } }\n"
                               "bare { heat:r=64; drag:r=0.25 }\n";
    const char* tag = "predict";
    base_reporter reporter = base_reporter_stderr();
    ecs_world_config config = ecs_world_config_default();
    config.tags = &tag;
    config.tag_count = 1;
    ecs_world* world;
    manual_game game = {0};
    assert_ok(ecs_world_create(&config, &world));
    assert_ok(manual_register_types_of_game(world, &reporter));
    assert_ok(ecs_template_load(world, "manual.blk", text, strlen(text), &reporter));
    assert_ok(manual_register(world, &game));
    assert_ok(manual_create_queries(world, &game));
    assert_ok(ecs_world_seal(world, &reporter));
    ecs_entity thing, bare;
    assert_ok(ecs_create(world, ecs_template_find(world, "thing"), NULL, 0, &thing));
    assert_ok(ecs_create(world, ecs_template_find(world, "bare"), NULL, 0, &bare));
    assert_true(manual_hottest(world, &game) == 64.0f);
    const manual_blow blow = {.force = 16.0f};
    assert_true(ecs_event_send(world, bare, ecs_event_find(world, "struck"), &blow));
    const ecs_step step = {.tick = 1, .dt = 0.5f};
    ecs_world_step(world, &step);
    ecs_component_id heat = ecs_component_find(world, "heat");
    assert_true(*(const float*)ecs_get(world, thing, heat) == 8.0f * 0.75f);
    assert_true(*(const float*)ecs_get(world, bare, heat) == (64.0f + 16.0f) * 0.25f);
    assert_int_equal(game.blows, 1);
    ecs_world_run_stage(world, ecs_stage_find(world, "render"), &step);
    assert_true(game.left == -2.0f);
    ecs_world_destroy(world);
}

static const sample_order good_order = {.is_jumping = true,
                                        .move = -127,
                                        .small = INT16_MIN,
                                        .slot = 3,
                                        .emote = 7,
                                        .target = 0x400005,
                                        .aim = -3.25f,
                                        .power = 1e6,
                                        .offset = -4,
                                        .tick = UINT64_MAX,
                                        .tiny = -8,
                                        .wide = 256};

CASE(a_message_carries_the_payload) {
    sample_order order = good_order, read = {0};
    order.cached = 9;
    Sample__Order message = SAMPLE__ORDER__INIT;
    sample_messages[SAMPLE_ORDER].to_wire(&order, &message.base);
    assert_true(message.jump && message.move == -127 && message.small == INT16_MIN);
    assert_true(sample_messages[SAMPLE_ORDER].from_wire(&message.base, &read));
    assert_int_equal(read.cached, 0); // ES_LOCAL
    order.cached = 0;
    assert_memory_equal(&read, &order, sizeof read);

    const sample_line line = {77};
    sample_line said = {0}, shouted = {0};
    Sample__Said said_message = SAMPLE__SAID__INIT;
    Sample__Shouted shouted_message = SAMPLE__SHOUTED__INIT;
    sample_messages[SAMPLE_SAID].to_wire(&line, &said_message.base);
    sample_messages[SAMPLE_SHOUTED].to_wire(&line, &shouted_message.base);
    assert_true(sample_messages[SAMPLE_SAID].from_wire(&said_message.base, &said));
    assert_true(sample_messages[SAMPLE_SHOUTED].from_wire(&shouted_message.base, &shouted));
    assert_true(said.line == 77 && shouted.line == 77);

    Sample__Wave wave_message = SAMPLE__WAVE__INIT;
    sample_wave wave = {0};
    sample_messages[SAMPLE_WAVE].to_wire(&wave, &wave_message.base);
    assert_true(sample_messages[SAMPLE_WAVE].from_wire(&wave_message.base, &wave));
    const manual_cheer cheer = {.emote = 3, .is_loud = true, .x = 500};
    manual_cheer heard = {0};
    Manual__Cheer cheer_message = MANUAL__CHEER__INIT;
    manual_messages[0].to_wire(&cheer, &cheer_message.base);
    assert_true(manual_messages[0].from_wire(&cheer_message.base, &heard));
    assert_true(heard.emote == 3 && heard.is_loud && heard.x == 100);
}

// The good order with one field changed.
static bool read_order(Sample__Order message, sample_order* order) {
    *order = (sample_order){0};
    return sample_messages[SAMPLE_ORDER].from_wire(&message.base, order);
}

CASE(values_outside_become_the_limit_or_refuse_the_message) {
    Sample__Order good = SAMPLE__ORDER__INIT;
    sample_messages[SAMPLE_ORDER].to_wire(&good_order, &good.base);
    sample_order order;
    assert_true(read_order(good, &order));
#define CHANGED(field, value)                                                                      \
    Sample__Order message = good;                                                                  \
    message.field = value
#define CLAMPS(field, value, expected)                                                             \
    do {                                                                                           \
        CHANGED(field, value);                                                                     \
        assert_true(read_order(message, &order) && order.field == (expected));                     \
    } while (0)
#define REFUSES(field, value)                                                                      \
    do {                                                                                           \
        CHANGED(field, value);                                                                     \
        assert_false(read_order(message, &order));                                                 \
    } while (0)
    CLAMPS(move, -128, -127);
    CLAMPS(move, INT32_MIN, -127);
    CLAMPS(move, 128, 127);
    CLAMPS(move, 127, 127);
    CLAMPS(slot, 4, 3);
    CLAMPS(slot, UINT32_MAX, 3);
    CLAMPS(slot, 0, 0);
    CLAMPS(aim, 4.0f, 3.25f);
    CLAMPS(aim, -1e30f, -3.25f);
    CLAMPS(emote, 0, 0);
    CLAMPS(small, INT16_MAX, INT16_MAX);
    CLAMPS(tiny, 8, 8);
    CLAMPS(wide, 1, 1);
    REFUSES(small, INT16_MAX + 1);
    REFUSES(small, INT16_MIN - 1);
    REFUSES(emote, 8);
    REFUSES(emote, UINT32_MAX);
    REFUSES(tiny, 9);
    REFUSES(tiny, -9);
    REFUSES(tiny, 256); // 0 in 8 bits
    REFUSES(wide, 0);
    REFUSES(wide, 257);
    REFUSES(wide, 65536 + 1); // 1 in 16 bits
    REFUSES(offset, -5);
    REFUSES(offset, 5);
    REFUSES(power, -0.5);
    REFUSES(power, 1e6 + 1);
    const float infinite = 3e38f * 10.0f;
    REFUSES(aim, infinite);
    REFUSES(aim, -infinite);
    REFUSES(aim, infinite - infinite);
    REFUSES(power, (double)(infinite - infinite));
    // Any number but 0 is true.
    Sample__Order message = good;
    message.jump = -1;
    assert_true(read_order(message, &order) && order.is_jumping);
}

CASE(constants_count_bits) {
    for (uint32_t bits = 1; bits <= 32; bits++) {
        uint64_t top = (UINT64_C(1) << bits) - 1;
        assert_int_equal(ES_BITS(top), bits);
        if (bits < 32) assert_int_equal(ES_BITS(top + 1), bits + 1);
    }
    assert_int_equal(ES_BITS(0), 1);
    assert_int_equal(ES_BITS(254), 8);
    assert_int_equal(ES_QUANT_MAX(-127, 1, 8), 128);
    assert_true(ES_QUANT_MAX(0.5, 0.25, 2) == 1.25);
}
