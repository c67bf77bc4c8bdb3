// SPDX-License-Identifier: MIT
// The C ABI: names, numbers, events, faults. Sessions over sockets are in tests/e2e/clients.sh.
#include "library.h"

#include "boxed_hull.h"
#include "breakout_table.h"

#include <math.h>

// One field of each kind, the last with three elements.
typedef struct all_kinds {
    uint64_t u64;
    int64_t i64;
    double f64;
    float f32;
    uint32_t u32, handle;
    int32_t i32;
    uint16_t u16;
    int16_t i16;
    uint8_t u8;
    int8_t i8;
    bool truth;
    uint8_t letters[3];
} all_kinds;

static const ecs_field kind_fields[] = {
    {"u64", offsetof(all_kinds, u64), ECS_FIELD_U64, 1, {0, 0, 0}},
    {"i64", offsetof(all_kinds, i64), ECS_FIELD_I64, 1, {0, 0, 0}},
    {"f64", offsetof(all_kinds, f64), ECS_FIELD_F64, 1, {0, 0, 0}},
    {"f32", offsetof(all_kinds, f32), ECS_FIELD_F32, 1, {0, 0, 0}},
    {"u32", offsetof(all_kinds, u32), ECS_FIELD_U32, 1, {0, 0, 0}},
    {"handle", offsetof(all_kinds, handle), ECS_FIELD_ENTITY, 1, {0, 0, 0}},
    {"i32", offsetof(all_kinds, i32), ECS_FIELD_I32, 1, {0, 0, 0}},
    {"u16", offsetof(all_kinds, u16), ECS_FIELD_U16, 1, {0, 0, 0}},
    {"i16", offsetof(all_kinds, i16), ECS_FIELD_I16, 1, {0, 0, 0}},
    {"u8", offsetof(all_kinds, u8), ECS_FIELD_U8, 1, {0, 0, 0}},
    {"i8", offsetof(all_kinds, i8), ECS_FIELD_I8, 1, {0, 0, 0}},
    {"truth", offsetof(all_kinds, truth), ECS_FIELD_BOOL, 1, {0, 0, 0}},
    {"letters", offsetof(all_kinds, letters), ECS_FIELD_U8, 3, {0, 0, 0}},
};
static const shoal_shape kinds = {.fields = kind_fields, .count = BASE_COUNT(kind_fields)};

static double write_and_read(const char* name, double value) {
    all_kinds all = {0};
    const int32_t field = shoal_shape_field(&kinds, name);
    double back = -1.0;
    assert_true(library_field_write(&kinds, field, &all, &value, 1));
    assert_int_equal(library_field_read(&kinds, field, &all, &back, 1), 1);
    return back;
}

CASE(numbers_beyond_a_field_become_the_nearest) {
    const struct {
        const char* name;
        double value, expected;
    } rows[] = {
        {"i8", 127, 127},
        {"i8", 128, 127},
        {"i8", -129, -128},
        {"u8", 255, 255},
        {"u8", 256, 255},
        {"u8", -1, 0},
        {"i16", 1e9, 32767},
        {"u16", 65536, 65535},
        {"i32", -3e9, -2147483648.0},
        {"u32", 5e9, 4294967295.0},
        {"handle", -5, 0},
        {"truth", 0.5, 1},
        {"truth", 0, 0},
        {"f64", -2.5, -2.5},
        {"i64", -9.3e18, -9223372036854775808.0},
        {"u64", 2e19, 18446744073709551616.0},
        {"f32", 1e300, 3.4028234663852886e38},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        assert_true(write_and_read(rows[i].name, rows[i].value) == rows[i].expected);
    for (uint32_t i = 0; i < kinds.count; i++) // no number
        assert_true(write_and_read(kind_fields[i].name, (double)NAN) == 0.0);
    assert_true(write_and_read("f64", (double)INFINITY) == 1.7976931348623157e308);
}

CASE(whole_numbers_of_64_bits_are_exact) {
    all_kinds all = {.u64 = UINT64_MAX - 1, .i64 = INT64_MIN, .f64 = -1e300};
    int64_t whole = 0;
    assert_int_equal(library_field_read_whole(&kinds, 0, &all, &whole, 1), 1);
    assert_true((uint64_t)whole == UINT64_MAX - 1);
    assert_int_equal(library_field_read_whole(&kinds, 1, &all, &whole, 1), 1);
    assert_true(whole == INT64_MIN);
    assert_int_equal(library_field_read_whole(&kinds, 2, &all, &whole, 1), 1);
    assert_true(whole == -9223372036854774784);
}

CASE(arrays_are_read_and_written_up_to_their_end) {
    all_kinds all = {0};
    const double letters[4] = {65, 66, 67, 68};
    double back[4] = {0};
    const int32_t field = shoal_shape_field(&kinds, "letters");
    assert_int_equal(shoal_shape_field_elements(&kinds, field), 3);
    assert_true(library_field_write(&kinds, field, &all, letters, 3));
    assert_false(library_field_write(&kinds, field, &all, letters, 4));
    assert_memory_equal(all.letters, "ABC", 3);
    assert_int_equal(library_field_read(&kinds, field, &all, back, 2), 2);
    assert_int_equal(library_field_read(&kinds, field, &all, back, 4), 3);
    assert_true(back[2] == 67 && back[3] == 0);
}

#define TABLE_CASE(name, role)                                                                     \
    CASE_WITH(table, t, table_open(t, NULL, 0, 1, role, false), table_close(t), name)

TABLE_CASE(a_world_is_read_by_names, NET_ROLE_SERVER) {
    table_join_bots(t, 1);
    table_step(t);
    shoal_world world = {0};
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    library_world_open(&world, t->match, &owner->allocator);
    const uint32_t pos = shoal_world_component(&world, "pos");
    const uint32_t match = shoal_world_component(&world, "match");
    assert_true(pos != 0 && match != 0);
    assert_string_equal(shoal_world_component_name(&world, pos), "pos");
    assert_string_equal(shoal_world_component_type(&world, pos), "p2");
    const shoal_entity ball = shoal_world_next(&world, shoal_world_component(&world, "owner"), 0);
    assert_string_equal(shoal_world_template(&world, ball), "breakout_ball");
    double x = 0;
    const int32_t field = shoal_shape_field(shoal_world_component_shape(&world, pos), "x");
    assert_int_equal(shoal_world_read(&world, ball, pos, field, &x, 1), 1);
    assert_true(x > 0.0 && x < 1200.0);
    char text[64];
    assert_true(shoal_world_text(&world, ball, pos, text, sizeof text));
    assert_non_null(strchr(text, ','));
    assert_false(shoal_world_text(&world, ball, pos, text, 2));
    // A tag has no value, and is found all the same.
    uint32_t bricks = 0;
    for (shoal_entity e = shoal_world_next(&world, shoal_world_component(&world, "hits"), 0); e;
         e = shoal_world_next(&world, shoal_world_component(&world, "hits"), e))
        bricks++;
    assert_true(bricks > 10 && bricks < shoal_world_entity_count(&world));
    // What is not there.
    assert_int_equal(shoal_world_component(&world, "posi"), 0);
    assert_int_equal(shoal_world_read(&world, ball, match, 0, &x, 1), 0);
    assert_int_equal(shoal_world_read(&world, ball, pos, 2, &x, 1), 0);
    assert_int_equal(shoal_world_read(&world, 12345, pos, 0, &x, 1), 0);
    assert_int_equal(shoal_world_read(&world, ball, 60000, 0, &x, 1), 0);
    assert_null(shoal_world_template(&world, 12345));
    base_owner_destroy(owner);
}

static ecs_result boxed_types(ecs_world* world, const base_reporter* reporter) {
    const ecs_result result = breakout_module()->register_types(world, reporter);
    return result == ECS_OK ? hull_register(world, reporter) : result;
}

CASE(the_text_of_a_boxed_value_is_that_of_its_object) {
    net_game_module game = *breakout_module();
    net_module* module;
    net_match* match;
    shoal_world world = {0};
    char whole[16384], *text = table_read_file(BREAKOUT_BLK);
    (void)snprintf(whole, sizeof whole, "%s\ngalley { \"hull:hull\"{ } }\n", text);
    free(text);
    game.register_types = boxed_types;
    assert_ok(net_module_wrap(&game, whole, "breakout.blk", test_reporter(), &module));
    const net_match_config config = net_match_config_default(module);
    assert_ok(net_match_create(&config, test_reporter(), &match));
    ecs_world* ecs = net_match_world(match);
    const ecs_entity galley = ecs_try_create(ecs, ecs_template_find(ecs, "galley"), NULL, 0);
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    library_world_open(&world, match, &owner->allocator);
    char shown[64];
    assert_true(shoal_world_text(&world, galley, shoal_world_component(&world, "hull"), shown,
                                 sizeof shown));
    assert_string_equal(shown, "{crew=1;shots=0}");
    base_owner_destroy(owner);
    net_match_destroy(match);
    net_module_close(module);
}

static void brick_hit(table* t, uint32_t score) {
    uint8_t packed[64];
    size_t size = 0;
    const breakout_brick_hit hit = {.client = 1, .score = score};
    const uint32_t message = BREAKOUT_MESSAGE_BRICK_HIT + 1;
    assert_ok(net_match_pack(t->match, message, &hit, packed, sizeof packed, &size));
    assert_ok(net_match_server_event(t->match, message, ECS_ENTITY_NONE, packed, size));
}

TABLE_CASE(the_newest_256_events_are_kept, NET_ROLE_MIRROR) {
    static shoal_client client;
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    memset(&client, 0, sizeof client);
    library_messages_open(&client.messages, t->match, &owner->allocator);
    for (uint32_t tick = 1; tick <= LIBRARY_EVENTS_MAX + 1; tick++) {
        brick_hit(t, tick);
        net_match_step_at(t->match, tick);
        library_messages_gather(&client.messages, t->match);
        ecs_changes_clear(net_match_world(t->match));
    }
    assert_int_equal(client.messages.events_lost, 1);
    const uint32_t message = shoal_client_message(&client, "BrickHit");
    const int32_t field = shoal_shape_field(shoal_client_message_shape(&client, message), "score");
    for (uint32_t tick = 2; tick <= LIBRARY_EVENTS_MAX + 1; tick++) {
        double score = 0;
        assert_int_equal(shoal_client_next_event(&client), message);
        assert_int_equal(shoal_client_event_read(&client, field, &score, 1), 1);
        assert_true(score == (double)tick);
        assert_int_equal(shoal_client_event_tick(&client), tick);
    }
    assert_int_equal(shoal_client_next_event(&client), 0);
    base_owner_destroy(owner);
}

TABLE_CASE(messages_of_another_kind_are_refused, NET_ROLE_MIRROR) {
    static shoal_client client;
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    memset(&client, 0, sizeof client);
    library_messages_open(&client.messages, t->match, &owner->allocator);
    const double one = 1;
    const uint32_t input = shoal_client_message(&client, "PadInput");
    const uint32_t cheer = shoal_client_message(&client, "Cheer");
    const uint32_t cheered = shoal_client_message(&client, "Cheered");
    assert_int_equal(shoal_client_message_kind(&client, input), SHOAL_INPUT);
    assert_int_equal(shoal_client_message_kind(&client, cheered), SHOAL_TO_CLIENTS);
    assert_int_equal(shoal_client_set(&client, input, 0, &one, 1), SHOAL_OK);
    assert_int_equal(shoal_client_set(&client, input, 7, &one, 1), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_client_set(&client, input, -1, &one, 1), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_client_set(&client, cheered, 0, &one, 1), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_client_set(&client, 99, 0, &one, 1), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_client_send(&client, input), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_client_send(&client, cheer), SHOAL_ERR_CLOSED);
    base_owner_destroy(owner);
}

CASE(an_older_header_has_fewer_options) {
    shoal_client_options options = {
        .address = "127.0.0.1:9", .flags = 0xFFFFFFFFu, .game = "none!"};
    options.size_bytes = offsetof(shoal_client_options, name) - 1;
    assert_null(shoal_client_create(&options));
    options.size_bytes = offsetof(shoal_client_options, game_path);
    shoal_client* client = shoal_client_create(&options); // `game` is read, `flags` are not
    assert_non_null(client);
    assert_int_equal(client->flags, 0);
    assert_int_equal(shoal_client_service(client, 0), SHOAL_ENDED);
    assert_int_equal(shoal_client_end(client), SHOAL_END_FAILED);
    assert_non_null(strstr(shoal_client_text(client), "none!"));
    shoal_client_destroy(client);
    // A newer one has more: what this library does not know is left out.
    struct {
        shoal_client_options options;
        uint64_t more[4];
    } newer = {.options = {.size_bytes = sizeof newer, .address = "127.0.0.1:9", .game = "none!"}};
    client = shoal_client_create(&newer.options);
    assert_non_null(client);
    shoal_client_destroy(client);
    options = (shoal_client_options){.size_bytes = sizeof options};
    assert_null(shoal_client_create(&options));
    assert_null(shoal_client_create(NULL));
}

CASE(wrong_options_say_what_is_wrong) {
    shoal_client_options options = {.size_bytes = sizeof options, .address = "127.0.0.1:9"};
    options.token = "abc";
    shoal_client* client = shoal_client_create(&options);
    assert_int_equal(shoal_client_end(client), SHOAL_END_FAILED);
    assert_non_null(strstr(shoal_client_text(client), "token"));
    shoal_client_destroy(client);
    options.token = NULL;
    options.network = "lost=5";
    client = shoal_client_create(&options);
    assert_int_equal(shoal_client_end(client), SHOAL_END_FAILED);
    assert_non_null(strstr(shoal_client_text(client), "loss"));
    shoal_client_destroy(client);
}

CASE(null_is_accepted_everywhere) {
    double value = 1;
    uint64_t number = 1;
    shoal_client_destroy(NULL);
    shoal_client_leave(NULL);
    shoal_log_close(NULL);
    assert_int_equal(shoal_client_service(NULL, 0), SHOAL_ENDED);
    assert_int_equal(shoal_client_end(NULL), SHOAL_END_FAILED);
    assert_string_equal(shoal_client_text(NULL), "");
    assert_int_equal(shoal_client_hash(NULL) + shoal_client_tick(NULL) + shoal_client_player(NULL) +
                         shoal_client_number(NULL) + shoal_client_message_count(NULL) +
                         shoal_client_next_event(NULL) + shoal_client_event_tick(NULL) +
                         shoal_client_tick_rate(NULL) + shoal_client_event_target(NULL),
                     0);
    assert_null(shoal_client_player_name(NULL, 1));
    assert_null(shoal_client_world(NULL, SHOAL_NEWEST));
    assert_null(shoal_client_message_shape(NULL, 1));
    assert_int_equal(shoal_client_frame(NULL), 0);
    assert_int_equal(shoal_client_figure(NULL, "rtt_ms", &value), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_client_send(NULL, 1), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_client_event_read(NULL, 0, &value, 1), 0);
    assert_int_equal(shoal_world_component(NULL, "pos") + shoal_world_next(NULL, 0, 0) +
                         shoal_world_entity_count(NULL) + shoal_world_component_count(NULL) +
                         shoal_world_read(NULL, 1, 1, 0, &value, 1),
                     0);
    assert_null(shoal_world_template(NULL, 1));
    assert_int_equal(shoal_shape_field(NULL, "x"), -1);
    assert_int_equal(shoal_shape_field_kind(NULL, 0), -1);
    assert_null(shoal_shape_field_name(NULL, 0));
    assert_null(shoal_log_open(NULL, NULL, NULL));
    assert_int_equal(shoal_log_result(NULL), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_log_step(NULL), SHOAL_ERR_UNKNOWN);
    assert_int_equal(shoal_log_number(NULL, "seed", &number), SHOAL_ERR_UNKNOWN);
    assert_null(shoal_log_world(NULL));
    assert_int_equal(shoal_abi_version(), SHOAL_ABI_VERSION);
}

CASE(a_log_that_is_none_says_so) {
    shoal_log* log = shoal_log_open("/nowhere/none.slog", NULL, NULL);
    assert_int_equal(shoal_log_result(log), SHOAL_ERR_IO);
    assert_non_null(strstr(shoal_log_text(log), "none.slog"));
    assert_int_equal(shoal_log_step(log), SHOAL_ERR_UNKNOWN);
    assert_null(shoal_log_word(log, "game"));
    shoal_log_close(log);
}

typedef struct no_memory {
    jmp_buf end;
    size_t bytes;
} no_memory;

static void leave_case(void* context, size_t bytes) {
    no_memory* at = context;
    at->bytes = bytes;
    longjmp(at->end, 1);
}

CASE(without_memory_the_embedder_is_called) {
    no_memory at = {.bytes = 0};
    shoal_memory_handler_set(leave_case, &at);
    const bool has_ended = setjmp(at.end) != 0;
    if (!has_ended) base_release(NULL, base_allocate(NULL, SIZE_MAX), SIZE_MAX);
    shoal_memory_handler_set(NULL, NULL);
    assert_true(has_ended);
    assert_int_equal(at.bytes, SIZE_MAX);
}
