// SPDX-License-Identifier: MIT
#include "system/live_world.h"

typedef struct lines {
    char text[8192];
    uint32_t count;
} lines;

static void keep_line(void* context, const char* line) {
    lines* kept = context;
    size_t used = strlen(kept->text);
    (void)snprintf(kept->text + used, sizeof(kept->text) - used, "%s\n", line);
    kept->count++;
}

static void an_entity_is_dumped_with_a_line_per_component(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    lines kept = {0};
    ecs_entity entity = live_create(&fixture, fixture.thing);
    ecs_dump_entity(fixture.world, entity, keep_line, &kept);
    assert_string_equal(kept.text, "entity=1:1 template=thing component=hp type=i value=100\n"
                                   "entity=1:1 template=thing component=pos type=p2 value=1,2\n"
                                   "entity=1:1 template=thing component=vel type=p2 value=3,4\n");
    live_close(&fixture);
}

static void empty_and_dead_entities_have_a_line_too(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    lines kept = {0};
    ecs_entity entity = live_create(&fixture, fixture.nothing);
    ecs_dump_entity(fixture.world, entity, keep_line, &kept);
    assert_non_null(strstr(kept.text, "template=empty\n"));
    assert_int_equal(kept.count, 1);
    assert_int_equal(ecs_destroy(fixture.world, entity), ECS_OK);
    kept = (lines){0};
    ecs_dump_entity(fixture.world, entity, keep_line, &kept);
    assert_non_null(strstr(kept.text, "dead\n"));
    live_close(&fixture);
}

static void a_world_is_dumped_by_rising_index(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    (void)live_create(&fixture, fixture.thing);
    (void)live_create(&fixture, fixture.solid);
    (void)live_create(&fixture, fixture.thing);
    lines kept = {0};
    ecs_dump_world(fixture.world, false, keep_line, &kept);
    assert_int_equal(kept.count, 9);
    kept = (lines){0};
    ecs_dump_world(fixture.world, true, keep_line, &kept);
    assert_int_equal(kept.count, 11);
    assert_non_null(strstr(kept.text, "archetype=0 rows=2 chunks=1 components="));
    assert_non_null(strstr(kept.text, "+pos"));
    assert_null(strstr(kept.text, "+vel"));
    live_close(&fixture);
}

static void a_long_text_is_dumped_whole(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.named);
    char text[2001];
    memset(text, 'x', sizeof(text));
    text[2000] = '\0';
    live_set_text(&fixture, entity, fixture.title, text);
    lines kept = {0};
    ecs_dump_entity(fixture.world, entity, keep_line, &kept);
    assert_non_null(strstr(kept.text, text));
    live_close(&fixture);
}

static void a_write_that_nobody_marked_is_found(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    live_step(&fixture);
    ecs_world_validate(fixture.world);
    // This write breaks the const rule.
    int32_t* hp = (int32_t*)ecs_get(fixture.world, entity, fixture.hp);
    *hp = 1;
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure(ecs_world_validate(fixture.world));
    base_assert_handler_set(NULL);
    *hp = 100;
    ecs_world_validate(fixture.world);
    live_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_entity_is_dumped_with_a_line_per_component),
        TEST(empty_and_dead_entities_have_a_line_too),
        TEST(a_world_is_dumped_by_rising_index),
        TEST(a_long_text_is_dumped_whole),
        TEST(a_write_that_nobody_marked_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
