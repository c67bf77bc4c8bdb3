// SPDX-License-Identifier: MIT
// Large values when something is missing: memory, resources, functions of a type.
#include "repl_world.h"
#include "text_file.h"
#include "varsize_world.h"

CASE(a_steady_match_of_large_values_allocates_nothing) {
    varsize_side side;
    scarce_memory memory;
    varsize_side_open(&side, false);
    scarce_init(&memory);
    net_varsize_source* values;
    net_varsize_sender* repl;
    varsize_channel channel = {.room = UINT32_MAX};
    values = net_varsize_source_create(&memory.allocator, side.rows, LARGE_INDEX_MAX, NULL);
    repl = net_varsize_sender_create(values);
    ecs_entity page = varsize_create(&side, side.page);
    uint64_t calls = 0;
    for (ecs_tick tick = 1; tick <= 100; tick++) {
        varsize_set_text(&side, page, side.title, tick % 2 ? "of one length" : "one of length");
        varsize_step(&side, values, tick);
        if (tick % 10 == 1) net_varsize_sender_enter(repl, page, EVERYTHING, tick);
        if (tick % 10 == 0) net_varsize_sender_leave(repl, page);
        net_varsize_sender_publish(repl, 10000, varsize_send, &channel);
        for (uint32_t i = 0; i < channel.count; i++)
            assert_true(net_varsize_sender_ack(repl, channel.copies[i]->message.version));
        varsize_channel_drop(&channel, channel.count);
        if (tick == 20) calls = memory.calls;
        if (tick > 20) assert_true(memory.calls == calls);
    }
    net_varsize_sender_destroy(repl);
    net_varsize_source_destroy(values);
    assert_int_equal(memory.bytes, 0);
    varsize_side_close(&side);
}

// ---- resources ----

static net_schema* make_world(const char* text, ecs_world** world) {
    ecs_type_desc type = TYPE_OF("mesh", repl_mesh, repl_mesh_fields);
    type.ops = &repl_mesh_ops;
    const schema_wanted wanted = {.is_mirror = true, .types = &type, .type_count = 1};
    return schema_made(text, wanted, world);
}

static bool find_first_tick(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    *handle = ecs_entity_make(index, 1);
    *tick = 1;
    return true;
}

CASE(a_value_for_an_entity_that_loads_is_what_it_begins_with) {
    ecs_world* world;
    net_schema* schema =
        make_world("model { mesh:mesh{ id:u32=1 } \"name:t\"{ _replicate:b=yes } }\n"
                   "other { \"hp:i\"{ _replicate:b=yes } }",
                   &world);
    net_rows* rows = net_schema_rows(schema);
    slow_loader loader;
    load_slowly(world, &loader);
    ecs_entity model = ecs_entity_make(7, 1);
    assert_ok(ecs_create_at(world, model, ecs_template_find(world, "model"), NULL, 0));
    assert_true(ecs_loading_is_pending(world, model));
    net_varsize_receiver_config config = {
        .world = world, .rows = rows, .index_max = 100, .known = find_first_tick};
    net_varsize_receiver* client;
    client = net_varsize_receiver_create(&config);
    const uint8_t text[] = {4, 'c', 'u', 'b', 'e'};
    net_varsize_message message = {
        .handle = model, .version = 1, .since = 1, .bytes = text, .size = sizeof text};
    assert_ok(net_varsize_receiver_receive(client, &message));
    assert_int_equal(net_varsize_receiver_get_counters(client)->applied, 1);
    loader.is_done = loader.is_loaded = true;
    assert_int_equal(ecs_loading_poll(world), 1);
    ecs_component_id name = ecs_component_find(world, "name");
    assert_string_equal(ecs_string_text(ecs_get(world, model, name)), "cube");
    // A failed load and a template without the component are no faults of the connection.
    message.handle = ecs_entity_make(8, 1);
    message.version = 2;
    assert_ok(net_varsize_receiver_receive(client, &message));
    assert_ok(
        ecs_create_at(world, ecs_entity_make(9, 1), ecs_template_find(world, "other"), NULL, 0));
    message.handle = ecs_entity_make(9, 1);
    message.version = 3;
    assert_ok(net_varsize_receiver_receive(client, &message));
    assert_int_equal(net_varsize_receiver_get_counters(client)->dropped, 2);
    base_owner_destroy(client);
    schema_unmake(schema, world);
}

// ---- types ----

// A type with its own functions is encoded by its fields when the type gives no other encoding.
CASE(a_module_s_own_type_with_functions_travels_whole) {
    ecs_world* world;
    net_schema* schema =
        make_world("thing { \"form:mesh\"{ _replicate:b=yes; id:u32=3 } }", &world);
    net_rows* rows = net_schema_rows(schema);
    assert_int_equal(rows->varsize_count, 1);
    ecs_component_id form = net_rows_varsize(rows, 0);
    ecs_entity thing = ecs_entity_make(1, 1);
    assert_ok(ecs_create_at(world, thing, ecs_template_find(world, "thing"), NULL, 0));
    const net_row_template* entry = net_rows_find(rows, ecs_entity_template(world, thing));
    assert_true(net_varsize_is_default(world, entry, thing, form));
    const uint8_t five[] = {5, 0, 0, 0};
    assert_ok(net_varsize_check(world, form, five, 4));
    assert_int_equal(net_varsize_check(world, form, five, 3), NET_ERR_MALFORMED);
    assert_ok(net_varsize_apply(world, rows, thing, form, five, 4));
    assert_int_equal(((const repl_mesh*)ecs_get(world, thing, form))->id, 5);
    assert_ok(net_varsize_apply(world, rows, thing, form, NULL, 0));
    assert_int_equal(((const repl_mesh*)ecs_get(world, thing, form))->id, 3);
    schema_unmake(schema, world);
}

CASE(what_cannot_be_read_back_is_refused_where_it_stands) {
    const ecs_type_ops ops = {.create = repl_mesh_create, .destroy = repl_mesh_destroy};
    ecs_world* world;
    ecs_world_config config = ecs_world_config_default();
    assert_ok(ecs_world_create(&config, &world));
    ecs_type_desc type = TYPE_OF("boxed", repl_mesh, repl_mesh_fields);
    assert_ok(ecs_type_register_as(world, &type, ECS_TYPE_BOXED, NULL, NULL));
    type = (ecs_type_desc){
        .name = "mesh", .size = sizeof(repl_mesh), .align = _Alignof(repl_mesh), .ops = &ops};
    assert_ok(ecs_type_register(world, &type, NULL));
    static const char* const texts[] = {"a { \"x:mesh\"{ _replicate:b=yes } }",
                                        "a { \"x:boxed\"{ _replicate:b=yes } }"};
    for (uint32_t i = 0; i < BASE_COUNT(texts); i++)
        assert_int_equal(ecs_template_load(world, "x.blk", texts[i], strlen(texts[i]), NULL),
                         ECS_ERR_SYNTAX);
    ecs_world_destroy(world);
}

// ---- the standard's page ----

static void check_vector(const char* type, const char* hex, const char* shown) {
    char text[128];
    assert_true(base_text_format(text, sizeof text, "v { \"x:%s\"{ _replicate:b=yes } }", type));
    ecs_world* world;
    net_schema* schema = make_world(text, &world);
    net_rows* rows = net_schema_rows(schema);
    ecs_component_id x = net_rows_varsize(rows, 0);
    uint8_t bytes[256];
    size_t size = read_hex(hex, bytes, sizeof bytes);
    net_result result = net_varsize_check(world, x, bytes, size);
    if (!shown) {
        assert_int_equal(result, NET_ERR_MALFORMED);
    } else {
        ecs_entity entity = ecs_entity_make(1, 1);
        assert_ok(ecs_create_at(world, entity, ecs_template_find(world, "v"), NULL, 0));
        assert_ok(net_varsize_apply(world, rows, entity, x, bytes, size));
        char found[256];
        const ecs_type* info = ecs_type_get(world, ecs_component_get(world, x)->type);
        assert_true(ecs_type_format(info, ecs_get(world, entity, x), found, sizeof found));
        assert_string_equal(found, shown);
        base_bytes again;
        base_bytes_init(&again, NULL);
        net_varsize_write(world, entity, x, &again);
        assert_int_equal(again.size, size);
        assert_memory_equal(again.data, bytes, size);
        base_bytes_deinit(&again);
    }
    schema_unmake(schema, world);
}

CASE(values_are_written_and_refused_as_the_page_says) {
    FILE* page = fopen(PROTO_FOLDER "/VARSIZE.md", "r");
    assert_non_null(page);
    char line[512], type[32], hex[256];
    uint32_t values = 0, refused = 0;
    while (fgets(line, sizeof line, page)) {
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "varsize type=%31s hex=%255s", type, hex) == 2) {
            const char* shown = strstr(line, " value=");
            assert_non_null(shown);
            check_vector(type, hex, shown + strlen(" value="));
            values++;
        } else if (sscanf(line, "no_varsize type=%31s hex=%255s", type, hex) == 2) {
            check_vector(type, hex, NULL);
            refused++;
        }
    }
    (void)fclose(page);
    assert_true(values >= 8 && refused >= 9);
}
