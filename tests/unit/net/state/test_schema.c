// SPDX-License-Identifier: MIT
#include "scarce.h"
#include "schema_made.h"

#include "samples.pb-c.h"

static const char base_text[] =
    "brick { \"pos:p2\"{ _replicate:b=yes; _min:r=0; _max:r=100; _step:r=0.5; value:p2=3,4 }\n"
    "        \"hits:i\"{ _replicate:b=yes; _bits:i=4; value:i=2 }\n"
    "        secret:i=7 }\n"
    "ball { \"pos:p2\"{ _replicate:b=yes; value:p2=1,2 } }\n"
    "board { _singleton:b=yes\n"
    "        \"score:i\"{ _replicate:b=yes } }\n"
    "lamp { light:r=1 }\n";

static const net_message messages[] = {
    {.name = "Move", .descriptor = &sample__leaf__descriptor, .kind = NET_MESSAGE_INPUT},
    {.name = "BrickHit",
     .descriptor = &sample__note__descriptor,
     .kind = NET_MESSAGE_TO_CLIENTS,
     .is_reliable = true},
};

typedef struct side {
    ecs_world* world;
    net_schema* schema;
} side;

static void open_side(side* at, const char* text, uint32_t message_count) {
    at->schema = schema_made(
        text, (schema_wanted){.messages = messages, .message_count = message_count}, &at->world);
}

#define SIDE_CASE(name, text, message_count)                                                       \
    CASE_WITH(side, at, open_side(at, text, message_count), schema_unmake(at->schema, at->world),  \
              name)

static uint64_t hash_of(const char* text) {
    ecs_world* world;
    net_schema* schema = schema_made(text, (schema_wanted){0}, &world);
    uint64_t hash = net_schema_hash(schema);
    schema_unmake(schema, world);
    return hash;
}

// Hash `base_text` with the first occurrence of `old` replaced.
static uint64_t hash_with(const char* old, const char* new) {
    char text[2048];
    const char* place = strstr(base_text, old);
    assert_non_null(place);
    assert_true(base_text_format(text, sizeof text, "%.*s%s%s", (int)(place - base_text), base_text,
                                 new, place + strlen(old)));
    return hash_of(text);
}

static bool hides(const char* more) {
    char text[2048];
    assert_true(base_text_format(text, sizeof text, "%s%s", base_text, more));
    ecs_world* world;
    net_schema* schema = schema_made(text, (schema_wanted){0}, &world);
    const bool result = net_schema_hides(schema);
    schema_unmake(schema, world);
    return result;
}

// Values of any length have their classes apart from rows.
CASE(a_schema_knows_whether_a_component_is_for_some_clients_only) {
    assert_false(hides(""));
    assert_false(hides("mage { \"mana:i\"{ _replicate:b=yes; _visible:t=public } }\n"));
    assert_true(hides("mage { \"mana:i\"{ _replicate:b=yes; _visible:t=owner } }\n"));
    assert_true(hides("mage { \"mana:i\"{ _replicate:b=yes; _visible:t=mages } }\n"));
    assert_true(hides("mage { \"spell:t\"{ _replicate:b=yes; _visible:t=team } }\n"));
}

CASE(the_order_of_loading_and_what_is_private_or_shown_do_not_matter) {
    uint64_t hash = hash_of(base_text);
    assert_true(hash_of(base_text) == hash);
    static const char* const changes[][2] = {
        {"secret:i=7", "secret:i=8"},
        {"secret:i=7", ""},
        {"lamp { light:r=1 }\n", ""},
        {"value:p2=3,4", "value:p2=3.2,4"}, // below half a step
        {"_step:r=0.5;", "_step:r=0.5; _interpolate:b=yes; _teleport:r=9;"},
    };
    for (size_t i = 0; i < BASE_COUNT(changes); i++)
        assert_true(hash_with(changes[i][0], changes[i][1]) == hash);
    char text[2048] = "ball { \"pos:p2\"{ _replicate:b=yes; value:p2=1,2 } }\n";
    const char* ball = strstr(base_text, "ball {");
    const char* board = strstr(base_text, "board {");
    size_t used = strlen(text);
    assert_true(base_text_format(text + used, sizeof text - used, "%s%.*s", board,
                                 (int)(ball - base_text), base_text));
    assert_true(hash_of(text) == hash);
}

CASE(what_the_wire_means_matters) {
    static const char* const changes[][2] = {
        {"_max:r=100", "_max:r=200"},
        {"_min:r=0", "_min:r=-1"},
        {"_step:r=0.5", "_step:r=0.25"},
        {"_bits:i=4", "_bits:i=5"},
        {"value:p2=3,4", "value:p2=3,5"},
        {"value:i=2", "value:i=3"},
        {"\"hits:i\"", "\"hints:i\""},
        {"\"hits:i\"{ _replicate:b=yes; _bits:i=4; value:i=2 }",
         "\"hits:u32\"{ _replicate:b=yes; _bits:i=4; value:u32=2 }"},
        {"ball {", "bell {"},
        {"_singleton:b=yes", ""},
        {"secret:i=7", "\"secret:i\"{ _replicate:b=yes; value:i=7 }"},
        {"\"score:i\"{ _replicate:b=yes }", "score:i=0"},
    };
    uint64_t hashes[BASE_COUNT(changes) + 1] = {hash_of(base_text)};
    for (size_t i = 0; i < BASE_COUNT(changes); i++) {
        hashes[i + 1] = hash_with(changes[i][0], changes[i][1]);
        for (size_t k = 0; k <= i; k++)
            assert_true(hashes[i + 1] != hashes[k]);
    }
}

SIDE_CASE(messages_matter_with_their_order, base_text, 2) {
    uint64_t hashes[7];
    net_message table[2] = {messages[0], messages[1]};
    for (int i = 0; i < 7; i++) {
        memcpy(table, messages, sizeof table);
        if (i == 1) table[0] = messages[1], table[1] = messages[0];
        if (i == 2) table[0].descriptor = &sample__leaf_retyped__descriptor;
        if (i == 3) table[1].is_reliable = false;
        if (i == 4) table[1].kind = NET_MESSAGE_TO_SERVER;
        if (i == 5) table[1].name = "PadHit";
        net_schema* schema;
        assert_ok(net_schema_create(NULL, at->world, table, i == 6 ? 1 : 2, NULL, &schema));
        hashes[i] = net_schema_hash(schema);
        for (int k = 0; k < i; k++)
            assert_true(hashes[i] != hashes[k]);
        base_owner_destroy(schema);
    }
}

SIDE_CASE(the_first_difference_is_named, base_text, 2) {
    uint32_t count;
    const net_schema_item* items = net_schema_items(at->schema, &count);
    net_schema_item other[16];
    char text[128];
    memcpy(other, items, count * sizeof *items);
    assert_false(net_schema_difference(at->schema, other, count, text, sizeof text));
    other[5].hash++;
    assert_true(net_schema_difference(at->schema, other, count, text, sizeof text));
    assert_string_equal(text, "\"template ball\" differs");
    memcpy(other, items, count * sizeof *items);
    memmove(other, other + 1, (count - 1) * sizeof *other);
    assert_true(net_schema_difference(at->schema, other, count - 1, text, sizeof text));
    assert_string_equal(text, "\"component hits\" is missing on the client");
    memcpy(other, items, count * sizeof *items);
    strcpy(other[count].name, "template zoo\x1b[31m");
    assert_true(net_schema_difference(at->schema, other, count + 1, text, sizeof text));
    assert_string_equal(text, "\"template zoo[31m\" is missing on the server");
    assert_true(net_schema_difference(at->schema, NULL, 0, text, sizeof text));
    assert_string_equal(text, "\"component hits\" is missing on the client");
}

SIDE_CASE(worlds_with_the_same_templates_share_a_schema, base_text, 0) {
    ecs_world* other = schema_world(base_text, (schema_wanted){0});
    net_schema* shared;
    net_rows* rows = net_schema_rows(at->schema);
    // A composition of the first world is none of the other one.
    assert_non_null(net_rows_compose(rows, (const uint16_t[]){0, 2}, 2));
    shared = net_schema_create_like(NULL, other, at->schema);
    net_rows* like = net_schema_rows(shared);
    assert_true(net_schema_hash(shared) == net_schema_hash(at->schema));
    uint32_t count, shared_count;
    assert_ptr_equal(net_schema_items(shared, &shared_count), net_schema_items(at->schema, &count));
    assert_int_equal(shared_count, count);
    for (uint32_t i = 0; i < rows->number_count; i++) {
        const net_row_template* loaded = rows->numbers[i];
        assert_ptr_equal(like->numbers[i], loaded);
        assert_ptr_equal(net_rows_find(like, loaded->id), loaded);
        assert_ptr_equal(net_rows_compose(like, (const uint16_t[]){(uint16_t)i}, 1), loaded);
    }
    net_rows_set_tick_rate(like, 30);
    assert_int_equal(rows->numbers[0]->layout.tick_rate_hz, 30);
    // Each world composes with its own numbers.
    const uint16_t parts[] = {0, 1};
    const net_row_template* composed = net_rows_compose(like, parts, 2);
    assert_non_null(composed);
    assert_int_equal(composed->layout.tick_rate_hz, 30);
    assert_ptr_equal(net_rows_find(like, composed->id), composed);
    assert_ptr_not_equal(net_rows_compose(rows, parts, 2), composed);
    assert_true(net_rows_compose(rows, parts, 2)->id != composed->id);
    schema_unmake(shared, other);
    assert_non_null(rows->numbers[0]->defaults);
}

static void add_file(net_schema* schema, const char* bytes) {
    net_schema_add_files(schema,
                         &(net_game_file){"rules.lua", (const uint8_t*)bytes, strlen(bytes)}, 1);
}

SIDE_CASE(a_file_that_differs_is_named, base_text, 2) {
    ecs_world* world;
    const uint64_t bare = net_schema_hash(at->schema);
    const schema_wanted wanted = {.messages = messages, .message_count = 2};
    for (uint32_t i = 0; i < 3; i++) {
        static const char* const wants[] = {"\"file rules.lua\" is missing on the client",
                                            "\"file rules.lua\" differs", ""};
        char text[128] = "";
        uint32_t count;
        net_schema* client = schema_made(base_text, wanted, &world);
        if (i == 0) {
            net_schema_add_files(at->schema, NULL, 0);
            assert_true(net_schema_hash(at->schema) == bare);
            add_file(at->schema, "a = 1");
        }
        if (i > 0) add_file(client, i == 1 ? "a = 2" : "a = 1");
        const net_schema_item* items = net_schema_items(client, &count);
        assert_int_equal(net_schema_difference(at->schema, items, count, text, sizeof text), i < 2);
        assert_string_equal(text, wants[i]);
        assert_int_equal(net_schema_hash(at->schema) == net_schema_hash(client), i == 2);
        schema_unmake(client, world);
    }
}

// `part` of the message; NULL: it is not refused.
static void check_refused(ecs_world* world, const net_message* table, uint32_t count,
                          const char* part) {
    base_report_first keeper = {0};
    base_reporter reporter = base_reporter_first(&keeper);
    net_schema* schema;
    assert_int_equal(net_schema_create(NULL, world, table, count, &reporter, &schema),
                     part ? NET_ERR_SCHEMA : NET_OK);
    assert_int_equal(schema == NULL, part != NULL);
    if (part && !strstr(keeper.text, part)) fail_msg("expected: %s\nsaid: %s", part, keeper.text);
    base_owner_destroy(schema);
}

CASE(what_cannot_be_sent_is_refused_by_name) {
    static const struct {
        uint32_t components;
        const char *type, *part;
    } rows[] = {
        {60, "m",
         "template big cannot be replicated: too many replicated fields: 720, at most 256; "
         "component c28 does not fit"},
        {64, "i", NULL},
        {65, "i",
         "template big cannot be replicated: too many replicated components: 65, at most 64; "
         "component c9 does not fit"},
        {NET_ROW_VARSIZE_MAX - 1, "t", NULL},
        {NET_ROW_VARSIZE_MAX, "t", NULL},
        {NET_ROW_VARSIZE_MAX + 1, "t",
         "template big cannot be replicated: too many values of any length: 33, at most 32; "
         "component c9 does not fit"},
    };
    for (uint32_t k = 0; k < BASE_COUNT(rows); k++) {
        char text[16384] = "big {\n";
        for (uint32_t i = 0; i < rows[k].components; i++) {
            const size_t used = strlen(text);
            assert_true(base_text_format(text + used, sizeof text - used,
                                         "\"c%u:%s\"{ _replicate:b=yes }\n", i, rows[k].type));
        }
        strcat(text, "}\n");
        ecs_world* world = schema_world(text, (schema_wanted){0});
        check_refused(world, NULL, 0, rows[k].part);
        ecs_world_destroy(world);
    }
}

CASE(varsize_components_and_their_defaults_matter) {
    uint64_t hash = hash_of("page { \"title:t\"{ _replicate:b=yes; value:t=one } }");
    assert_true(hash == hash_of("page { \"title:t\"{ _replicate:b=yes; value:t=\"one\" }\n"
                                "       \"diary:t\"{ _track:b=yes; value:t=own } }"));
    static const char* const others[] = {
        "page { \"title:t\"{ _replicate:b=yes; value:t=two } }",
        "page { \"title:t\"{ _replicate:b=yes } }",
        "page { \"title:t\"{ _track:b=yes; value:t=one } \"hp:i\"{ _replicate:b=yes } }",
        "page { \"named:t\"{ _replicate:b=yes; value:t=one } }",
        "page { \"title:t\"{ _replicate:b=yes; value:t=one } \"more:t\"{ _replicate:b=yes } }",
        "page { \"title:array\"{ _replicate:b=yes; one:t=one } }",
        "page { \"title:list<t>\"{ _replicate:b=yes; one:t=one } }",
    };
    for (uint32_t i = 0; i < BASE_COUNT(others); i++)
        assert_true(hash != hash_of(others[i]));
    // The order in an object is the order of its names.
    assert_true(hash_of("o { \"x:object\"{ _replicate:b=yes; a:i=1; b:i=2 } }") ==
                hash_of("o { \"x:object\"{ _replicate:b=yes; b:i=2; a:i=1 } }"));
    assert_true(hash_of("o { \"x:object\"{ _replicate:b=yes; a:i=1 } }") !=
                hash_of("o { \"x:object\"{ _replicate:b=yes; a:u32=1 } }"));
}

SIDE_CASE(messages_that_cannot_be_are_refused_by_name, base_text, 2) {
    net_message table[2] = {messages[0], messages[1]};
    table[1].descriptor = &sample__nest__descriptor;
    check_refused(at->world, table, 2, "BrickHit");
    table[1] = messages[0];
    check_refused(at->world, table, 2, "Move");
    char name[ECS_NAME_BYTES_MAX + 1];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    table[1].name = name;
    check_refused(at->world, table, 2, "longer");
    name[sizeof name - 2] = 0; // one byte less fits
    check_refused(at->world, table, 2, NULL);
}
