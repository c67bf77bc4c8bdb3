// SPDX-License-Identifier: MIT
#include "schema_made.h"

static const char text[] =
    "ball { \"pos:p2\"{ _replicate:b=yes; _min:r=-100; _max:r=1000; _step:r=0.5; value:p2=6,7 }\n"
    "       \"aim:r\"{ _replicate:b=yes; value:r=0.1 }\n"
    "       hidden:i=1 }\n"
    "crate { \"hp:i\"{ _replicate:b=yes; value:i=-3 }\n"
    "        \"owner:eid\"{ _replicate:b=yes } }\n"
    "fast { \"boost:b\"{ _replicate:b=yes; value:b=yes } }\n"
    "secret { hidden:i=9 }\n"
    "lamp { light:r=1 }\n"
    "wizard { \"life:i\"{ _replicate:b=yes; value:i=10 }\n"
    "         \"mana:i\"{ _replicate:b=yes; _visible:t=owner; value:i=20 }\n"
    "         \"plan:i\"{ _replicate:b=yes; _visible:t=team; value:i=30 }\n"
    "         \"oath:i\"{ _replicate:b=yes; _visible:t=mages; value:i=40 } }\n";

typedef struct scope_side {
    ecs_world* world;
    net_schema* schema;
    ecs_component_id pos, aim, hidden, owner;
} scope_side;

static scope_side open_side(bool is_mirror) {
    scope_side side;
    const schema_wanted wanted = {.is_mirror = is_mirror, .index_max = 3000};
    side.schema = schema_made(text, wanted, &side.world);
    side.pos = ecs_component_find(side.world, "pos");
    side.aim = ecs_component_find(side.world, "aim");
    side.hidden = ecs_component_find(side.world, "hidden");
    side.owner = ecs_component_find(side.world, "owner");
    return side;
}

static void close_side(scope_side* side) {
    schema_unmake(side->schema, side->world);
}

static ecs_entity add(scope_side* side, const char* name) {
    ecs_entity entity;
    ecs_template_id id = ecs_template_find(side->world, name);
    assert_ok(ecs_create(side->world, id, NULL, 0, &entity));
    return entity;
}

static void add_at(scope_side* side, ecs_entity handle, const char* name) {
    ecs_template_id id = ecs_template_find(side->world, name);
    assert_ok(ecs_create_at(side->world, handle, id, NULL, 0));
}

static void set_pos(scope_side* side, ecs_entity entity, float x, float y) {
    assert_ok(ecs_set(side->world, entity, side->pos, &(ecs_vec2){x, y}));
}

static net_world_digest walk(scope_side* side) {
    return net_world_digest_walk(side->schema, side->world, NULL, NULL);
}

static void check_same(scope_side* server, scope_side* client, bool is_same) {
    net_world_digest a = walk(server), b = walk(client);
    base_bytes left = schema_dump(server->schema, server->world);
    base_bytes right = schema_dump(client->schema, client->world);
    assert_int_equal(a.hash == b.hash, is_same);
    assert_int_equal(strcmp((char*)left.data, (char*)right.data) == 0, is_same);
    base_bytes_deinit(&left);
    base_bytes_deinit(&right);
}

typedef struct scope_sides {
    scope_side server, client;
} scope_sides;

static void open_sides(scope_sides* at) {
    at->server = open_side(false);
    at->client = open_side(true);
}

static void close_sides(scope_sides* at) {
    close_side(&at->server);
    close_side(&at->client);
}

static ecs_entity add_both(scope_sides* at, const char* name) {
    ecs_entity entity = add(&at->server, name);
    add_at(&at->client, entity, name);
    return entity;
}

#define SIDES_CASE(name) CASE_WITH(scope_sides, at, open_sides(at), close_sides(at), name)

SIDES_CASE(both_sides_give_the_same_walk) {
    check_same(&at->server, &at->client, true);
    ecs_entity ball = add(&at->server, "ball"), crate = add(&at->server, "crate");
    (void)add(&at->server, "lamp");
    check_same(&at->server, &at->client, false);
    add_at(&at->client, crate, "crate"); // another order of creation gives another order of rows
    add_at(&at->client, ball, "ball");
    check_same(&at->server, &at->client, true);
    net_world_digest scope = walk(&at->server);
    assert_int_equal(scope.entities, 2);
    assert_int_equal(scope.components, 4);
    assert_int_equal(scope.bytes, 4 + 3 + 4 + 4); // aim; pos of 2 x 12 bits; hp; owner
}

SIDES_CASE(differences_below_a_quantum_do_not_show) {
    ecs_entity ball = add_both(at, "ball");
    set_pos(&at->server, ball, 6.1f, 7.2f);
    check_same(&at->server, &at->client, true);
    set_pos(&at->server, ball, 6.3f, 7.2f);
    check_same(&at->server, &at->client, false);
    set_pos(&at->client, ball, 6.5f, 7.0f);
    check_same(&at->server, &at->client, true);
}

SIDES_CASE(every_kind_of_difference_shows) {
    ecs_entity ball = add_both(at, "ball");
    check_same(&at->server, &at->client, true);
    // full precision of exact fields, with the sign of zero
    assert_ok(ecs_set(at->server.world, ball, at->server.aim, &(float){0.0f}));
    assert_ok(ecs_set(at->client.world, ball, at->client.aim, &(float){-0.0f}));
    check_same(&at->server, &at->client, false);
    assert_ok(ecs_set(at->client.world, ball, at->client.aim, &(float){0.0f}));
    check_same(&at->server, &at->client, true);
    // another generation
    assert_ok(ecs_destroy(at->client.world, ball));
    check_same(&at->server, &at->client, false);
    ecs_entity newer = ecs_entity_make(ecs_entity_index(ball), ecs_entity_generation(ball) + 1);
    add_at(&at->client, newer, "ball");
    assert_ok(ecs_set(at->client.world, newer, at->client.aim, &(float){0.0f}));
    check_same(&at->server, &at->client, false);
}

SIDES_CASE(another_template_shows) {
    ecs_entity ball = add(&at->server, "ball+fast");
    add_at(&at->client, ball, "ball");
    check_same(&at->server, &at->client, false);
    assert_ok(ecs_recreate(at->client.world, ball, ecs_template_find(at->client.world, "ball+fast"),
                           NULL, 0));
    check_same(&at->server, &at->client, true);
    assert_int_equal(walk(&at->server).components, 3);
}

SIDES_CASE(a_part_of_the_server_alone_does_not_show) {
    ecs_entity ball = add(&at->server, "ball+secret");
    add_at(&at->client, ball, "ball");
    check_same(&at->server, &at->client, true);
}

CASE(the_dump_names_entity_component_and_field) {
    scope_side server = open_side(false);
    ecs_entity ball = add(&server, "ball"), crate = add(&server, "crate");
    set_pos(&server, ball, 600.2f, -99.8f);
    assert_ok(ecs_set(server.world, crate, server.owner, &ball));
    base_bytes lines = schema_dump(server.schema, server.world);
    assert_string_equal((char*)lines.data,
                        "entity=1:1 template=ball component=aim value=0.100000001\n"
                        "entity=1:1 template=ball component=pos x=600 y=-100\n"
                        "entity=2:1 template=crate component=hp value=-3\n"
                        "entity=2:1 template=crate component=owner value=1:1\n");
    base_bytes_deinit(&lines);
    close_side(&server);
}

static uint64_t row_hash(scope_side* side, ecs_entity entity) {
    return net_world_digest_row_hash(side->schema, side->world, entity);
}

SIDES_CASE(a_row_has_a_hash_and_nothing_has_none) {
    ecs_entity ball = add(&at->server, "ball"), lamp = add(&at->server, "lamp");
    add_at(&at->client, ball, "ball");
    uint64_t hash = row_hash(&at->server, ball);
    assert_true(hash != 0);
    assert_true(row_hash(&at->client, ball) == hash);
    set_pos(&at->server, ball, 50, 60);
    assert_true(row_hash(&at->server, ball) != hash);
    assert_true(row_hash(&at->server, lamp) == 0);
    assert_ok(ecs_destroy(at->server.world, ball));
    assert_true(row_hash(&at->server, ball) == 0);
}

// ---- what one client sees ----

typedef struct seen {
    ecs_entity entity;
    uint32_t classes;
} seen;

static uint32_t classes_of(void* context, ecs_entity entity) {
    const seen* one = context;
    return entity == one->entity ? one->classes : 0;
}

static const char* const numbers[] = {"life", "mana", "plan", "oath"};

static void set_number(scope_side* side, ecs_entity entity, const char* name, int32_t value) {
    assert_ok(ecs_set(side->world, entity, ecs_component_find(side->world, name), &value));
}

static net_world_digest walk_seen(scope_side* side, seen one) {
    return net_world_digest_walk_seen(side->schema, side->world, classes_of, &one, NULL, NULL);
}

SIDES_CASE(what_a_client_may_not_see_is_walked_as_defaults) {
    ecs_entity ball = add(&at->server, "ball"), wizard = add_both(at, "wizard");
    for (int32_t i = 0; i < 4; i++)
        set_number(&at->server, wizard, numbers[i], i + 1);
    set_number(&at->client, wizard, "life", 1);
    seen one = {.entity = wizard, .classes = 1u << NET_CLASS_PUBLIC};
    assert_int_equal(walk_seen(&at->server, one).entities, 1);
    assert_true(walk_seen(&at->server, one).hash == walk(&at->client).hash);
    one.classes |= 1u << NET_CLASS_TEAM;
    set_number(&at->client, wizard, "plan", 3);
    assert_true(walk_seen(&at->server, one).hash == walk(&at->client).hash);
    set_number(&at->client, wizard, "mana", 2);
    assert_true(walk_seen(&at->server, one).hash != walk(&at->client).hash);
    one = (seen){.entity = ball, .classes = UINT32_MAX};
    assert_int_equal(walk_seen(&at->server, one).entities, 1);
    one.entity = ECS_ENTITY_NONE;
    assert_true(walk_seen(&at->server, one).hash == net_world_digest_empty().hash);
}

SIDES_CASE(a_row_is_known_under_any_choice_of_hidden_classes) {
    ecs_entity wizard = add(&at->server, "wizard"), ball = add(&at->server, "ball");
    for (int32_t i = 0; i < 4; i++)
        set_number(&at->server, wizard, numbers[i], i);
    for (uint32_t shown = 0; shown < 16; shown++) {
        add_at(&at->client, wizard, "wizard");
        for (int32_t i = 0; i < 4; i++)
            if (shown >> i & 1) set_number(&at->client, wizard, numbers[i], i);
        uint64_t hash = row_hash(&at->client, wizard);
        bool has_public = shown & 1; // this class is never hidden
        assert_int_equal(
            net_world_digest_row_has_hash(at->server.schema, at->server.world, wizard, hash),
            has_public);
        assert_ok(ecs_destroy(at->client.world, wizard));
    }
    uint64_t hash = row_hash(&at->server, ball);
    assert_true(net_world_digest_row_has_hash(at->server.schema, at->server.world, ball, hash));
    assert_false(
        net_world_digest_row_has_hash(at->server.schema, at->server.world, ball, hash + 1));
    assert_false(net_world_digest_row_has_hash(at->server.schema, at->server.world,
                                               ecs_entity_make(999, 1), hash));
}

CASE(classes_are_numbered_by_name) {
    scope_side side = open_side(false);
    const net_rows* rows = net_schema_rows(side.schema);
    assert_int_equal(net_rows_class(rows, "public"), 0);
    assert_int_equal(net_rows_class(rows, "owner"), 1);
    assert_int_equal(net_rows_class(rows, "team"), 2);
    assert_int_equal(net_rows_class(rows, "mages"), 3);
    assert_int_equal(net_rows_class(rows, "mage"), UINT32_MAX);
    const net_row_template* entry =
        net_rows_find(net_schema_rows(side.schema), ecs_template_find(side.world, "wizard"));
    assert_int_equal(entry->class_mask, 15);
    assert_int_equal(entry->importance, 1);
    // life, mana, oath, plan
    static const uint8_t classes[] = {0, 1, 3, 2};
    assert_memory_equal(entry->classes, classes, sizeof classes);
    uint64_t row[4] = {100, 200, 300, 400};
    net_rows_mask(entry, 1u << 0 | 1u << 3, row);
    assert_true(row[0] == 100 && row[1] == entry->defaults[1] && row[2] == 300 &&
                row[3] == entry->defaults[3]);
    close_side(&side);
}
