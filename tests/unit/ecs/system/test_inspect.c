// SPDX-License-Identifier: MIT
#include "live_world.h"

#include "ecs/inspect.h"
#include "ecs/need.h"

// Declares that it reads vel, and writes it.
static void run_sly(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    ecs_vec2* vel = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++)
        vel[i].x += 1.0f;
}

static void on_kick(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)stage, (void)event, (void)rows;
}

static const ecs_term move_terms[] = {{"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}};
static const ecs_term other_terms[] = {{"pos", "p2", ECS_READ}, {"vel", "p2", ECS_REQUIRE_NOT}};

static char said[512];
static uint32_t lines;

static void save_line(void* context, const char* file, uint32_t line, const char* message) {
    (void)context, (void)file, (void)line;
    lines++;
    (void)snprintf(said, sizeof said, "%s", message);
}

typedef struct inspected {
    live live;
    ecs_event_type kick;
} inspected;

static void open(inspected* self, ecs_system_fn run) {
    live_open(&self->live, NULL);
    assert_ok(ecs_event_register(self->live.world, &(ecs_event_desc){.name = "kick"}, &self->kick));
    system_add(self->live.world, .name = "move", .stage = "act", .run = run, .terms = move_terms,
               .term_count = 2);
    system_add(self->live.world, .name = "look", .stage = "act", .run = live_idle,
               .terms = other_terms, .term_count = 2, .is_confined = true, READS("vel"));
    system_add(self->live.world, .name = "absent", .stage = "act", .run = live_idle,
               .terms = move_terms, .term_count = 2, TAGS("elsewhere"));
    system_add(self->live.world, .name = "kicked", EVENTS("kick"), .on_event = on_kick);
    live_seal(&self->live);
}

#define INSPECTED_CASE(name, run)                                                                  \
    CASE_WITH(inspected, self, open(self, run), live_close(&self->live), name)

INSPECTED_CASE(users_and_handlers_are_found_by_what_they_declare, live_idle) {
    const ecs_world* world = self->live.world;
    ecs_user user = {0};
    assert_true(ecs_inspect_handler(world, self->kick, &user));
    assert_string_equal(user.name, "kicked");
    assert_false(ecs_inspect_handler(world, self->kick, &user));
    user = (ecs_user){0};
    assert_true(ecs_inspect_user(world, self->live.pos, ECS_USE_WRITE, &user));
    assert_string_equal(user.name, "move");
    assert_false(ecs_inspect_user(world, self->live.pos, ECS_USE_WRITE, &user));
    const ecs_component_id vel = ecs_component_find(self->live.world, "vel");
    user = (ecs_user){0};
    assert_true(ecs_inspect_user(world, vel, ECS_USE_READ, &user));
    assert_string_equal(user.name, "move");
    assert_true(ecs_inspect_user(world, vel, ECS_USE_READ, &user)); // by name in `reads`
    assert_string_equal(user.name, "look");
    assert_false(ecs_inspect_user(world, vel, ECS_USE_READ, &user));
    user = (ecs_user){0};
    assert_false(ecs_inspect_user(world, vel, ECS_USE_WRITE, &user));
    static const char* const names[] = {"move", "look", "absent", "kicked"};
    bool is_present = false;
    user = (ecs_user){0};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        assert_true(ecs_inspect_system(world, &user, &is_present));
        assert_string_equal(user.name, names[i]);
        assert_int_equal(is_present, i != 2);
    }
    assert_false(ecs_inspect_system(world, &user, &is_present));
    assert_true(ecs_inspect_matches(world, "move", self->live.thing));
    assert_false(ecs_inspect_matches(world, "look", self->live.thing));
    assert_false(ecs_inspect_matches(world, "kicked", self->live.thing));
    assert_false(ecs_inspect_matches(world, "unknown", self->live.thing));
    assert_false(ecs_inspect_matches(world, "move", ECS_TEMPLATE_NONE));
}

INSPECTED_CASE(a_write_through_const_is_told_once, run_sly) {
    (void)live_create(&self->live, self->live.thing);
    const base_reporter reporter = {save_line, NULL};
    lines = 0;
    if (!BASE_VALIDATE_ON) live_step(&self->live); // there it is an assertion
    assert_int_equal(lines, 0);
    ecs_inspect_writes(self->live.world, &reporter);
    live_step(&self->live);
    live_step(&self->live);
    assert_int_equal(lines, 1);
    assert_string_equal(said, "system move declares that it only reads vel, and writes it");
    ecs_inspect_writes(self->live.world, NULL);
    if (!BASE_VALIDATE_ON) live_step(&self->live);
    assert_int_equal(lines, 1);
}

// As a game that casts a const away.
static void* cast(const void* value) {
    return (void*)(uintptr_t)value;
}

INSPECTED_CASE(a_value_that_was_written_past_tracking_is_found, live_idle) {
    ecs_world* world = self->live.world;
    const ecs_entity first = live_create(&self->live, self->live.thing);
    const ecs_entity solid = live_create(&self->live, self->live.solid);
    const ecs_entity named = live_create(&self->live, self->live.named);
    live_step(&self->live);
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    ((ecs_vec2*)ecs_get_mut(world, first, self->live.pos))->x = 8.0f;    // tracked
    ((ecs_vec2*)cast(ecs_get(world, first, self->live.vel)))->x = 8.0f;  // never tracked
    ((uint8_t*)cast(ecs_get(world, solid, self->live.body)))[1] ^= 0xff; // padding
    live_set_text(&self->live, named, self->live.title, "another");      // marked
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    live_step(&self->live);
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    // No step from here on: in a validating build it is an assertion.
    *(int32_t*)cast(ecs_get(world, solid, self->live.hp)) = 6;
    const uint64_t hash = ecs_world_hash(world);
    const ecs_slip found = ecs_inspect_slips(world, UINT32_MAX);
    assert_int_equal(found.entity, solid);
    assert_int_equal(found.component, self->live.hp);
    assert_true(ecs_world_hash(world) == hash);
    // A row a call: all of them come round.
    uint32_t times = 0;
    for (uint32_t i = 0; i < 100; i++)
        times += ecs_inspect_slips(world, 1).entity == solid;
    assert_true(times >= 2 && times < 50);
    *(int32_t*)ecs_get_mut(world, solid, self->live.hp) = 7;
    live_step(&self->live);
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
}

static void run_slip(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_world* world = stage->world;
    for (uint32_t i = 0; i < rows->count && stage->tick % 4 == 0; i++)
        *(int32_t*)cast(ecs_get(world, rows->entities[i], ecs_component_find(world, "hp"))) += 1;
}

INSPECTED_CASE(who_writes_past_tracking_is_found, run_slip) {
    ecs_world* world = self->live.world;
    const char* system = NULL;
    if (BASE_VALIDATE_ON) return; // there it is an assertion
    const ecs_slip slip = {live_create(&self->live, self->live.thing), self->live.hp};
    ecs_inspect_follow(world, slip);
    for (uint32_t i = 0; i < 3; i++)
        live_step(&self->live);
    assert_false(ecs_inspect_followed(world, &system));
    *(int32_t*)ecs_get_mut(world, slip.entity, slip.component) = 50; // as it should be
    live_step(&self->live); // marked, so that the write of tick 4 is found by the compare
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    for (uint32_t i = 0; i < 4; i++)
        live_step(&self->live);
    assert_true(ecs_inspect_followed(world, &system));
    assert_string_equal(system, "move");
    ecs_inspect_follow(world, (ecs_slip){ECS_ENTITY_NONE, ECS_COMPONENT_NONE});
    for (uint32_t i = 0; i < 8; i++)
        live_step(&self->live);
    assert_false(ecs_inspect_followed(world, &system));
    assert_ok(ecs_destroy(world, slip.entity));
    ecs_inspect_follow(world, slip);
    live_step(&self->live);
    assert_false(ecs_inspect_followed(world, &system));
}

INSPECTED_CASE(who_never_had_a_row_is_found, live_idle) {
    const base_reporter reporter = {save_line, NULL};
    ecs_world* world = self->live.world;
    bool has_had = true;
    (void)live_create(&self->live, self->live.thing);
    live_step(&self->live); // before ecs_inspect_writes it does not count
    ecs_user user = {0};
    assert_true(ecs_inspect_rows(world, &user, &has_had));
    assert_string_equal(user.name, "move");
    assert_false(has_had);
    ecs_inspect_writes(world, &reporter);
    live_step(&self->live);
    user = (ecs_user){0};
    assert_true(ecs_inspect_rows(world, &user, &has_had));
    assert_true(has_had);
    assert_true(ecs_inspect_rows(world, &user, &has_had));
    assert_string_equal(user.name, "look"); // each thing has what its terms exclude
    assert_false(has_had);
    assert_false(ecs_inspect_rows(world, &user, &has_had)); // neither "absent" nor "kicked"
    ecs_inspect_writes(world, NULL);
}

INSPECTED_CASE(names_that_are_needed_are_found_or_named, live_idle) {
    const base_reporter reporter = {save_line, NULL};
    ecs_need need = {.world = self->live.world, .reporter = &reporter, .place = "pong"};
    lines = 0;
    assert_int_equal(ecs_component_need(&need, "pos"), self->live.pos);
    assert_int_equal(ecs_event_need(&need, "kick"), self->kick);
    assert_int_equal(ecs_template_need(&need, "thing"), self->live.thing);
    assert_ok(ecs_need_result(&need));
    assert_int_equal(lines, 0);
    assert_int_equal(ecs_component_need(&need, "vle"), ECS_COMPONENT_NONE);
    assert_string_equal(said, "pong: there is no component 'vle', did you mean 'vel'?");
    assert_int_equal(ecs_template_need(&need, "thign"), ECS_TEMPLATE_NONE);
    assert_string_equal(said, "pong: there is no template 'thign', did you mean 'thing'?");
    const ecs_vec2* value = ecs_value_need(&need, "thing", "vel", sizeof *value);
    assert_true(value && value->x == 3.0f && value->y == 4.0f);
    assert_int_equal(need.missing, 2);
    assert_null(ecs_value_need(&need, "thing", "vel", sizeof(float)));
    assert_string_equal(said,
                        "pong: template 'thing': component 'vel' has another type than its reader");
    assert_null(ecs_value_need(&need, "thing", "score", sizeof(int32_t)));
    assert_string_equal(said, "pong: template 'thing' has no component 'score'");
    assert_null(ecs_value_need(&need, "thign", "vel", sizeof *value));
    assert_string_equal(said, "pong: there is no template 'thign', did you mean 'thing'?");
    assert_null(ecs_value_need(&need, "thing", "vle", sizeof *value));
    assert_string_equal(said, "pong: there is no component 'vle', did you mean 'vel'?");
    assert_int_equal(need.missing, 6);
    need.place = NULL;
    assert_int_equal(ecs_event_need(&need, "kcik"), ECS_EVENT_NONE);
    assert_string_equal(said, "there is no event 'kcik', did you mean 'kick'?");
    assert_int_equal(ecs_event_need(&need, "zzzzzzzz"), ECS_EVENT_NONE);
    assert_string_equal(said, "there is no event 'zzzzzzzz'");
    assert_int_equal(need.missing, 8);
    assert_int_equal(ecs_need_result(&need), ECS_ERR_UNKNOWN);
}
