// SPDX-License-Identifier: MIT
// A mirror without a world: rows as with one, the same digest, and variable-size values that go
// where a world would let them go.
#include "mirror_world.h"

#include "state/varsize.h"

static const char templates[] = "sign { \"level:u8\"{ _replicate:b=yes; value:u8=1 }\n"
                                "  \"title:t\"{ _replicate:b=yes; value:t=\"-\" } }\n"
                                "board { \"title:t\"{ _replicate:b=yes; value:t=\"-\" } }\n"
                                "post { \"level:u8\"{ _replicate:b=yes; value:u8=1 } }\n";

static const uint64_t level[1] = {7};

typedef struct rig {
    mirror_side m; // its mirror has no world
    net_mirror* whole;
    const net_row_template *sign, *board, *post;
    ecs_component_id title;
    ecs_entity entity;
} rig;

static void open(rig* r) {
    memset(r, 0, sizeof *r);
    repl_open_with(&r->m.side, true, MIRROR_INDEX_MAX, templates);
    net_mirror_config config = {
        .world = r->m.side.world, .rows = r->m.side.rows, .index_max = MIRROR_INDEX_MAX};
    r->whole = net_mirror_create(&config);
    config.world = NULL;
    r->m.mirror = net_mirror_create(&config);
    ecs_world* world = r->m.side.world;
    r->sign = net_rows_find(r->m.side.rows, ecs_template_find(world, "sign"));
    r->board = net_rows_find(r->m.side.rows, ecs_template_find(world, "board"));
    r->post = net_rows_find(r->m.side.rows, ecs_template_find(world, "post"));
    r->title = ecs_component_find(world, "title");
    r->entity = ecs_entity_make(5, 3);
}

static void close(rig* r) {
    net_mirror_destroy(r->whole);
    net_mirror_destroy(r->m.mirror);
    repl_close(&r->m.side);
}

static void create(rig* r, ecs_tick tick, const net_row_template* what, const uint64_t* row) {
    assert_ok(mirror_create_at(&r->m, tick, 2, r->entity, what, row));
    assert_ok(pen_read(&r->m.pen, r->whole, (uint16_t)tick, tick)); // the other mirror
}

static void write_title(rig* r, const char* text) {
    ecs_world* world = r->m.side.world;
    ecs_string* title = ecs_get_mut(world, r->entity, r->title);
    assert_ok(ecs_string_set(ecs_world_allocator(world), title, text, (uint32_t)strlen(text)));
}

// The value in the world, and in the mirror without one. NULL: the default.
static void keep(rig* r, const char* text) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    ecs_world* world = r->m.side.world;
    if (text) {
        write_title(r, text);
        net_varsize_write(world, r->entity, r->title, &bytes);
    }
    net_mirror_keep_value(r->m.mirror, r->entity, r->title, text ? bytes.data : NULL,
                          (uint32_t)bytes.size);
    base_bytes_deinit(&bytes);
}

static void expect_equal(rig* r, uint32_t values) {
    net_world_digest world = net_world_digest_walk(r->m.side.schema, r->m.side.world, NULL, NULL);
    net_world_digest rows = net_mirror_digest(r->m.mirror, r->m.side.world);
    assert_true(rows.hash == world.hash);
    assert_int_equal(rows.entities, world.entities);
    assert_int_equal(rows.components, world.components);
    assert_int_equal(rows.bytes, world.bytes);
    assert_int_equal(r->m.mirror->value_count, values);
    net_mirror_validate(r->m.mirror);
}

#define RIG_CASE(name) CASE_WITH(rig, r, open(r), close(r), name)

RIG_CASE(what_an_entity_lacks_is_not_kept) {
    create(r, 10, r->post, level);
    net_mirror_keep_value(r->m.mirror, r->entity, r->title, "x", 1);
    expect_equal(r, 0);
    net_mirror_keep_value(r->m.mirror, ecs_entity_make(6, 1), r->title, "x", 1);
    expect_equal(r, 0);
    create(r, 11, r->sign, level);
    keep(r, "for a moment");
    write_title(r, "-");
    keep(r, NULL);
    expect_equal(r, 0);
}
