// SPDX-License-Identifier: MIT
#include "heard.h"
#include "sample_world.h"
#include "template/data_world.h"

static void on_kick(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {}

static const ecs_term move_terms[] = {{"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}};
static const ecs_term other_terms[] = {{"pos", "p2", ECS_READ}, {"vel", "p2", ECS_REQUIRE_NOT}};

static heard said;

typedef struct inspected {
    store store;
    ecs_event_type kick;
} inspected;

static void open(inspected* self, ecs_system_fn run) {
    store_open(&self->store);
    assert_ok(
        ecs_event_register(self->store.world, &(ecs_event_desc){.name = "kick"}, &self->kick));
    system_add(self->store.world, .name = "move", .stage = "act", .run = run, .terms = move_terms,
               .term_count = 2);
    system_add(self->store.world, .name = "look", .stage = "act", .run = store_idle,
               .terms = other_terms, .term_count = 2, .is_confined = true, READS("vel"));
    system_add(self->store.world, .name = "absent", .stage = "act", .run = store_idle,
               .terms = move_terms, .term_count = 2, TAGS("elsewhere"));
    system_add(self->store.world, .name = "kicked", EVENTS("kick"), .on_event = on_kick);
    store_seal(&self->store);
}

#define INSPECTED_CASE(name, run)                                                                  \
    CASE_WITH(inspected, self, open(self, run), store_close(&self->store), name)

static void expect_users(const ecs_world* world, ecs_component_id component, ecs_use use,
                         const char* expected) {
    char names[64] = "";
    ecs_user user = {0};
    while (ecs_inspect_user(world, component, use, &user))
        strcat(strcat(names, user.name), " ");
    assert_string_equal(names, expected);
}

static void expect_uses(const ecs_world* world, const char* system, ecs_use use,
                        const char* expected) {
    char names[64] = "";
    ecs_user user = {0};
    while (ecs_inspect_use(world, system, use, &user))
        strcat(strcat(names, user.name), " ");
    assert_string_equal(names, expected);
}

INSPECTED_CASE(users_and_handlers_are_found_by_what_they_declare, store_idle) {
    const ecs_world* world = self->store.world;
    ecs_user user = {0};
    assert_true(ecs_inspect_handler(world, self->kick, &user));
    assert_string_equal(user.name, "kicked");
    assert_false(ecs_inspect_handler(world, self->kick, &user));
    expect_users(world, self->store.pos, ECS_USE_WRITE, "move ");
    expect_users(world, self->store.vel, ECS_USE_READ, "move look "); // the second: in `reads`
    expect_users(world, self->store.vel, ECS_USE_WRITE, "");
    expect_uses(world, "look", ECS_USE_READ, "pos vel ");
    expect_uses(world, "look", ECS_USE_WRITE, "");
    expect_uses(world, "absent", ECS_USE_READ, "");
    user = (ecs_user){0};
    assert_true(ecs_inspect_event(world, "kicked", &user));
    assert_string_equal(user.name, "kick");
    assert_false(ecs_inspect_event(world, "kicked", &user));
    static const char* const names[] = {"move", "look", "absent", "kicked"};
    bool is_present = false;
    user = (ecs_user){0};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        assert_true(ecs_inspect_system(world, &user, &is_present));
        assert_string_equal(user.name, names[i]);
        assert_int_equal(is_present, i != 2);
    }
    assert_false(ecs_inspect_system(world, &user, &is_present));
    assert_true(ecs_inspect_matches(world, "move", self->store.thing));
    assert_false(ecs_inspect_matches(world, "look", self->store.thing));
    assert_false(ecs_inspect_matches(world, "kicked", self->store.thing));
    assert_false(ecs_inspect_matches(world, "unknown", self->store.thing));
    assert_false(ecs_inspect_matches(world, "move", ECS_TEMPLATE_NONE));
}

static uint64_t fake_ns;

static uint64_t fake_clock(void) {
    return fake_ns;
}

static void run_slow(const ecs_stage* stage, const ecs_rows* rows) {
    fake_ns += stage->tick == 2 ? 500 : 100;
}

INSPECTED_CASE(times_and_rows_of_systems_are_known_while_they_are_asked_for, run_slow) {
    ecs_world* world = self->store.world;
    ecs_system_times times;
    for (uint32_t i = 0; i < 3; i++)
        (void)store_create(&self->store, self->store.thing);
    store_step(&self->store);
    assert_true(ecs_inspect_system_times(world, 0, 0, &times));
    assert_int_equal(times.ticks + times.rows + times.ns, 0);
    ecs_inspect_times(world, fake_clock);
    store_step(&self->store);
    store_step(&self->store);
    assert_true(ecs_inspect_system_times(world, 0, 0, &times));
    assert_int_equal(times.ticks, 2);
    assert_int_equal(times.rows, 6);
    assert_int_equal(times.ns, 600);
    assert_int_equal(times.ns_max, 500);
    assert_true(ecs_inspect_system_times(world, 0, 1, &times));
    assert_int_equal(times.ticks, 2);
    assert_int_equal(times.rows + times.ns, 0);
    assert_false(ecs_inspect_system_times(world, 0, 2, &times));
    assert_false(ecs_inspect_system_times(world, 1, 0, &times));
    ecs_inspect_times(world, NULL);
    store_step(&self->store);
    assert_true(ecs_inspect_system_times(world, 0, 0, &times));
    assert_int_equal(times.ticks, 0);
}

static void run_by_handle(const ecs_stage* stage, const ecs_rows* rows) {
    const ecs_component_id pos = ecs_component_find(stage->world, "pos");
    for (uint32_t i = 0; i < rows->count; i++)
        ((ecs_vec2*)ecs_get_mut(stage->world, rows->entities[i], pos))->x += 1.0f;
}

CASE(a_write_by_handle_is_no_write_through_const) {
    static const ecs_term terms[] = {{"pos", "p2", ECS_READ}};
    const base_reporter* reporter = heard_begin(&said);
    store at;
    store_open(&at);
    system_add(at.world, .name = "hit", .stage = "act", .run = run_by_handle, .terms = terms,
               .term_count = 1);
    store_seal(&at);
    const ecs_entity thing = store_create(&at, at.thing);
    ecs_inspect_writes(at.world, reporter);
    store_step(&at);
    store_step(&at);
    ((ecs_vec2*)ecs_get_mut(at.world, thing, at.pos))->x =
        8.0f; // its row is marked before the step
    store_step(&at);
    assert_int_equal(said.lines, 0);
    ecs_inspect_writes(at.world, NULL);
    store_close(&at);
}

// As a game that casts a const away.
static void* cast(const void* value) {
    return (void*)(uintptr_t)value;
}

INSPECTED_CASE(a_value_that_was_written_past_tracking_is_found, store_idle) {
    ecs_world* world = self->store.world;
    const ecs_entity first = store_create(&self->store, self->store.thing);
    const ecs_entity solid = store_create(&self->store, self->store.solid);
    const ecs_entity named = store_create(&self->store, self->store.named);
    store_step(&self->store);
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    ((ecs_vec2*)ecs_get_mut(world, first, self->store.pos))->x = 8.0f;    // tracked
    ((ecs_vec2*)cast(ecs_get(world, first, self->store.vel)))->x = 8.0f;  // never tracked
    ((uint8_t*)cast(ecs_get(world, solid, self->store.body)))[1] ^= 0xff; // padding
    store_set_text(&self->store, named, self->store.title, "another");    // marked
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    store_step(&self->store);
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    // No step from here on: in a validating build it is an assertion.
    *(int32_t*)cast(ecs_get(world, solid, self->store.hp)) = 6;
    const uint64_t hash = ecs_world_hash(world);
    const ecs_slip found = ecs_inspect_slips(world, UINT32_MAX);
    assert_int_equal(found.entity, solid);
    assert_int_equal(found.component, self->store.hp);
    assert_true(ecs_world_hash(world) == hash);
    // A row a call: each has its turn.
    uint32_t times = 0;
    for (uint32_t i = 0; i < 100; i++)
        times += ecs_inspect_slips(world, 1).entity == solid;
    assert_true(times >= 2 && times < 50);
    *(int32_t*)ecs_get_mut(world, solid, self->store.hp) = 7;
    store_step(&self->store);
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
}

static void run_slip(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_world* world = stage->world;
    for (uint32_t i = 0; i < rows->count && stage->tick % 4 == 0; i++)
        *(int32_t*)cast(ecs_get(world, rows->entities[i], ecs_component_find(world, "hp"))) += 1;
}

INSPECTED_CASE(who_writes_past_tracking_is_found, run_slip) {
    ecs_world* world = self->store.world;
    const char* system = NULL;
    if (BASE_VALIDATE_ON) return; // there it is an assertion
    const ecs_slip slip = {store_create(&self->store, self->store.thing), self->store.hp};
    ecs_inspect_follow(world, slip);
    for (uint32_t i = 0; i < 3; i++)
        store_step(&self->store);
    assert_false(ecs_inspect_followed(world, &system));
    *(int32_t*)ecs_get_mut(world, slip.entity, slip.component) = 50; // as it should be
    store_step(&self->store); // marked, so that the write of tick 4 is found by the compare
    assert_int_equal(ecs_inspect_slips(world, UINT32_MAX).entity, ECS_ENTITY_NONE);
    for (uint32_t i = 0; i < 4; i++)
        store_step(&self->store);
    assert_true(ecs_inspect_followed(world, &system));
    assert_string_equal(system, "move");
    ecs_inspect_follow(world, (ecs_slip){ECS_ENTITY_NONE, ECS_COMPONENT_NONE});
    for (uint32_t i = 0; i < 8; i++)
        store_step(&self->store);
    assert_false(ecs_inspect_followed(world, &system));
    assert_ok(ecs_destroy(world, slip.entity));
    ecs_inspect_follow(world, slip);
    store_step(&self->store);
    assert_false(ecs_inspect_followed(world, &system));
}

INSPECTED_CASE(who_never_had_a_row_or_an_event_is_found, store_idle) {
    const base_reporter* reporter = heard_begin(&said);
    ecs_world* world = self->store.world;
    bool has_had = true;
    (void)store_create(&self->store, self->store.thing);
    store_step(&self->store); // before ecs_inspect_writes it does not count
    ecs_user user = {0};
    assert_true(ecs_inspect_rows(world, &user, &has_had));
    assert_string_equal(user.name, "move");
    assert_false(has_had);
    ecs_inspect_writes(world, reporter);
    store_step(&self->store);
    user = (ecs_user){0};
    assert_true(ecs_inspect_rows(world, &user, &has_had));
    assert_true(has_had);
    assert_true(ecs_inspect_rows(world, &user, &has_had));
    assert_string_equal(user.name, "look"); // each thing has what its terms exclude
    assert_false(has_had);
    assert_true(ecs_inspect_rows(world, &user, &has_had)); // not "absent"
    assert_string_equal(user.name, "kicked");
    assert_false(has_had);
    assert_false(ecs_inspect_rows(world, &user, &has_had));
    assert_true(ecs_event_broadcast(world, self->kick, NULL));
    store_step(&self->store);
    user.next--;
    assert_true(ecs_inspect_rows(world, &user, &has_had));
    assert_string_equal(user.name, "kicked");
    assert_true(has_had);
    ecs_inspect_writes(world, NULL);
}

INSPECTED_CASE(names_that_are_needed_are_found_or_named, store_idle) {
    const base_reporter* reporter = heard_begin(&said);
    ecs_need need = {.world = self->store.world, .reporter = reporter, .place = "pong"};
    assert_int_equal(ecs_component_need(&need, "pos"), self->store.pos);
    assert_int_equal(ecs_event_need(&need, "kick"), self->kick);
    assert_int_equal(ecs_template_need(&need, "thing"), self->store.thing);
    assert_ok(ecs_need_result(&need));
    assert_int_equal(said.lines, 0);
    assert_int_equal(ecs_component_need(&need, "vle"), ECS_COMPONENT_NONE);
    assert_string_equal(said.last, "pong: there is no component 'vle', did you mean 'vel'?");
    assert_int_equal(ecs_template_need(&need, "thign"), ECS_TEMPLATE_NONE);
    assert_string_equal(said.last, "pong: there is no template 'thign', did you mean 'thing'?");
    const ecs_vec2* value = ecs_value_need(&need, "thing", "vel", sizeof *value);
    assert_true(value && value->x == 3.0f && value->y == 4.0f);
    assert_int_equal(need.missing, 2);
    assert_null(ecs_value_need(&need, "thing", "vel", sizeof(float)));
    assert_string_equal(said.last,
                        "pong: template 'thing': component 'vel' has another type than its reader");
    assert_null(ecs_value_need(&need, "thing", "score", sizeof(int32_t)));
    assert_string_equal(said.last, "pong: template 'thing' has no component 'score'");
    assert_null(ecs_value_need(&need, "thign", "vel", sizeof *value));
    assert_string_equal(said.last, "pong: there is no template 'thign', did you mean 'thing'?");
    assert_null(ecs_value_need(&need, "thing", "vle", sizeof *value));
    assert_string_equal(said.last, "pong: there is no component 'vle', did you mean 'vel'?");
    assert_int_equal(need.missing, 6);
    need.place = NULL;
    assert_int_equal(ecs_event_need(&need, "kcik"), ECS_EVENT_NONE);
    assert_string_equal(said.last, "there is no event 'kcik', did you mean 'kick'?");
    assert_int_equal(ecs_event_need(&need, "zzzzzzzz"), ECS_EVENT_NONE);
    assert_string_equal(said.last, "there is no event 'zzzzzzzz'");
    assert_int_equal(need.missing, 8);
    assert_int_equal(ecs_need_result(&need), ECS_ERR_UNKNOWN);
}

// ---- values by hand

static ecs_world* put_world(ecs_entity entities[2]) {
    ecs_world* world = data_world_create(NULL);
    data_load_ok(world, "body{ rigid:RigidBody{ \"cells:ip2\"=1, 2; }\n"
                        "\"a.pos:p2\"{ _replicate:b=yes; _min:r=-8; _max:r=7.5; _step:r=0.5; "
                        "value:p2=0, 0 }\n"
                        "name:t=\"ann\"; tint:c=1, 2, 3, 4; turn:r{ _replicate:b=yes; _angle:i=8; "
                        "value:r=0 } \"marks:list<i>\"{} \"is_it:tag\"=yes }\n"
                        "bare{ hp:i=3 }");
    assert_ok(ecs_world_seal(world, NULL));
    entities[0] = ecs_try_create(world, ecs_template_find(world, "body"), NULL, 0);
    entities[1] = ecs_try_create(world, ecs_template_find(world, "bare"), NULL, 0);
    assert_true(entities[0] && entities[1]);
    return world;
}

CASE(a_value_is_put_as_a_datablock_writes_it) {
    ecs_entity at[2];
    ecs_world* world = put_world(at);
    char other[24], text[64];
    (void)snprintf(other, sizeof other, "#%u:%u", ecs_entity_index(at[1]),
                   ecs_entity_generation(at[1]));
    const struct {
        const char *path, *text, *component, *is;
    } cases[] = {
        {"a.pos", "1.5, -8", "a.pos", "1.5,-8"},
        {"a.pos.y", "7.5", "a.pos", "1.5,7.5"},
        {"name", "bob,2nd", "name", "\"bob,2nd\""},
        {"tint", "9, 8, 7", "tint", "9,8,7,255"},
        {"turn", "7", "turn", "7"}, // an angle is wrapped where it is sent
        {"rigid.velocity", "1, 2, 3", NULL, NULL},
        {"rigid.velocity[2]", "-4", NULL, NULL},
        {"rigid.cells[1]", "-32768", NULL, NULL},
        {"rigid.layer", "255", NULL, NULL},
        {"rigid.is_solid", "yes", NULL, NULL},
        {"rigid.owner", other, NULL, NULL},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        for (int is_trial = 1; is_trial >= 0; is_trial--)
            assert_ok(
                ecs_put(world, at[0], cases[i].path, cases[i].text, is_trial, test_reporter()));
        if (!cases[i].component) continue;
        const ecs_component_id id = ecs_component_find(world, cases[i].component);
        assert_true(ecs_type_format(ecs_type_get(world, ecs_component_get(world, id)->type),
                                    ecs_get(world, at[0], id), text, sizeof text));
        assert_string_equal(text, cases[i].is);
    }
    const data_body* body = ecs_get(world, at[0], ecs_component_find(world, "rigid"));
    assert_true(body->velocity.x == 1.0f && body->velocity.z == -4.0f);
    assert_true(body->cells[0] == 1 && body->cells[1] == -32768);
    assert_true(body->layer == 255 && body->is_solid && body->owner == at[1]);
    ecs_world_destroy(world);
}

CASE(what_cannot_be_put_is_refused_and_changes_nothing) {
    ecs_entity at[2];
    ecs_world* world = put_world(at);
    const uint64_t before = ecs_world_hash(world);
    static const struct {
        const char *path, *text;
        ecs_result result;
        const char* message;
    } cases[] = {
        {"nmae", "x", ECS_ERR_UNKNOWN, "there is no component 'nmae', did you mean 'name'?"},
        {"", "x", ECS_ERR_UNKNOWN, "there is no component ''"},
        {"a", "x", ECS_ERR_UNKNOWN, "there is no component 'a'"},
        {"a.pos.z", "1", ECS_ERR_UNKNOWN, "component a.pos has no field 'z'"},
        {"rigid.lyaer", "1", ECS_ERR_UNKNOWN, "has no field 'lyaer', did you mean 'layer'?"},
        {"a.pos.", "1", ECS_ERR_UNKNOWN, "component a.pos has no field ''"},
        {"a.pos[0]", "1", ECS_ERR_UNKNOWN, "a.pos[0]: there is no such element"},
        {"rigid.cells[2]", "1", ECS_ERR_UNKNOWN, "there is no such element"},
        {"rigid.cells[x]", "1", ECS_ERR_UNKNOWN, "there is no component"},
        {"rigid.cells[1", "1", ECS_ERR_UNKNOWN, "there is no component"},
        {"hp", "1", ECS_ERR_MISSING, "(body) has no component hp"},
        {"marks", "1", ECS_ERR_TYPE, "only numbers, entities and texts"},
        {"is_it", "yes", ECS_ERR_TYPE, "only numbers, entities and texts"},
        {"a.pos", "1", ECS_ERR_SYNTAX, "a.pos: 2 values are needed, not 1"},
        {"a.pos", "1, 2, 3", ECS_ERR_SYNTAX, "2 values are needed, not more"},
        {"a.pos", "1, 8.3", ECS_ERR_SYNTAX, "a.pos: 8.3 is outside of -8 to"},
        {"a.pos", "-8.3, 0", ECS_ERR_SYNTAX, "a.pos: -8.3 is outside of -8 to"},
        {"a.pos", "1, nan", ECS_ERR_SYNTAX, "'nan' is not a number"},
        {"rigid.layer", "256", ECS_ERR_SYNTAX, "'256' is out of range"},
        {"rigid.owner", "77:1", ECS_ERR_SYNTAX, "'77:1' is not a living entity"},
        {"rigid.is_solid", "maybe", ECS_ERR_SYNTAX, "'maybe' is neither yes nor no"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        for (int is_trial = 0; is_trial < 2; is_trial++) {
            base_report_first first = {.count = 0};
            const base_reporter reporter = base_reporter_first(&first);
            assert_int_equal(
                ecs_put(world, at[0], cases[i].path, cases[i].text, is_trial, &reporter),
                cases[i].result);
            assert_int_equal(first.count, 1);
            if (!strstr(first.text, cases[i].message)) print_error("%s\n", first.text);
            assert_non_null(strstr(first.text, cases[i].message));
        }
    }
    assert_int_equal(ecs_put(world, ECS_ENTITY_NONE, "hp", "1", false, NULL), ECS_ERR_STALE);
    char* text = calloc(1, ECS_STRING_BYTES_MAX + 2);
    for (uint32_t more = 0; more < 2; more++) {
        memset(text, 'x', ECS_STRING_BYTES_MAX + more);
        assert_int_equal(ecs_put(world, at[0], "name", text, true, NULL),
                         more ? ECS_ERR_SYNTAX : ECS_OK);
    }
    free(text);
    assert_true(ecs_world_hash(world) == before);
    ecs_world_destroy(world);
}

CASE(the_text_of_an_entity_is_read_exactly) {
    static const char* const wrong[] = {
        "",          "5",    ":",    "5:",   ":1",    "5:0",           "5:1024",
        "4194304:1", "5:1 ", " 5:1", "-5:1", "##5:1", "123456789012:1"};
    ecs_entity entity = 7;
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++)
        assert_false(ecs_entity_parse(wrong[i], &entity));
    assert_int_equal(entity, 7);
    assert_true(ecs_entity_parse("4194303:1023", &entity));
    assert_int_equal(entity, ecs_entity_make(ECS_INDEX_MAX, ECS_GENERATION_MAX));
    assert_true(ecs_entity_parse("#5:1", &entity));
    assert_int_equal(entity, ecs_entity_make(5, 1));
}
