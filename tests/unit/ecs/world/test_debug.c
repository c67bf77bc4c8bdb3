// SPDX-License-Identifier: MIT
#include "sample_world.h"

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

STORE_CASE(an_entity_is_dumped_with_a_line_per_component) {
    lines kept = {0};
    ecs_entity entity = store_create(at, at->thing);
    ecs_dump_entity(at->world, entity, keep_line, &kept);
    assert_string_equal(kept.text, "entity=1:1 template=thing component=hp type=i value=100\n"
                                   "entity=1:1 template=thing component=pos type=p2 value=1,2\n"
                                   "entity=1:1 template=thing component=vel type=p2 value=3,4\n");
}

STORE_CASE(empty_and_dead_entities_have_a_line_too) {
    lines kept = {0};
    ecs_entity entity = store_create(at, at->nothing);
    ecs_dump_entity(at->world, entity, keep_line, &kept);
    assert_non_null(strstr(kept.text, "template=empty\n"));
    assert_int_equal(kept.count, 1);
    assert_ok(ecs_destroy(at->world, entity));
    kept = (lines){0};
    ecs_dump_entity(at->world, entity, keep_line, &kept);
    assert_non_null(strstr(kept.text, "dead\n"));
}

STORE_CASE(a_world_is_dumped_by_rising_index) {
    (void)store_create(at, at->thing);
    (void)store_create(at, at->solid);
    (void)store_create(at, at->thing);
    lines kept = {0};
    ecs_dump_world(at->world, false, keep_line, &kept);
    assert_int_equal(kept.count, 9);
    kept = (lines){0};
    ecs_dump_world(at->world, true, keep_line, &kept);
    assert_int_equal(kept.count, 11);
    assert_non_null(strstr(kept.text, "archetype=0 rows=2 chunks=1 components="));
    assert_non_null(strstr(kept.text, "+pos"));
    assert_null(strstr(kept.text, "+vel"));
}

STORE_CASE(a_long_text_is_dumped_whole) {
    ecs_entity entity = store_create(at, at->named);
    char text[2001];
    memset(text, 'x', sizeof(text));
    text[2000] = '\0';
    store_set_text(at, entity, at->title, text);
    lines kept = {0};
    ecs_dump_entity(at->world, entity, keep_line, &kept);
    assert_non_null(strstr(kept.text, text));
}
