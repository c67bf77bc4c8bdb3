// SPDX-License-Identifier: MIT
// The match: settings, players, inputs, events by number, refused data, and ticks that allocate
// nothing.

#include "match_made.h"
#include "breakout_table.h"
#include "hear.h"

#include "game/match.h"

#define TABLE_CASE(name, seed)                                                                     \
    CASE_WITH(table, t, table_open(t, NULL, 0, seed, NET_ROLE_SERVER, false), table_close(t), name)

static net_module* wrap(const net_game_module* game, const char* templates) {
    net_module* module;
    char* text = templates ? NULL : table_read_file(BREAKOUT_BLK);
    assert_ok(net_module_wrap(game, templates ? templates : text, "breakout.blk", NULL, &module));
    free(text);
    return module;
}

// ---- settings ----

#define MODULE_CASE(name)                                                                          \
    CASE_MADE(net_module, module, wrap(breakout_module(), NULL), net_module_close(module), name)

MODULE_CASE(settings_are_applied_within_their_range) {
    net_match_config config = net_match_config_default(module);
    assert_int_equal(config.tick_rate_hz, 60);
    assert_true(config.settings[BREAKOUT_SETTING_LIVES] == 3.0);
    assert_true(config.settings[BREAKOUT_SETTING_BALL_SPEED] == 1.0);
    assert_ok(net_match_setting_apply(&config, "lives=1", NULL));
    assert_ok(net_match_setting_apply(&config, "lives=99", NULL));
    assert_true(config.settings[BREAKOUT_SETTING_LIVES] == 99.0);
    static const char* const wrong[] = {"lives=0.9", "lives=100", "lives=nan",
                                        "lives=",    "lives=3x",  "lives",
                                        "=3",        "",          "lives=inf"};
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++) {
        assert_int_equal(net_match_setting_apply(&config, wrong[i], hear()), NET_ERR_MALFORMED);
        assert_int_equal(said.count, 1);
    }
    assert_true(config.settings[BREAKOUT_SETTING_LIVES] == 99.0);
    assert_int_equal(net_match_setting_apply(&config, "live=3", hear()), NET_ERR_UNKNOWN);
    assert_said("did you mean \"lives\"");
}

// ---- create ----

// `why` NULL: it is created.
static void try_create(const net_game_module* game, const char* templates, const char* why) {
    net_module* module = wrap(game, templates);
    net_match_config config = net_match_config_default(module);
    net_match* match;
    net_result result = net_match_create(&config, hear(), &match);
    if (result != (why ? NET_ERR_MODULE : NET_OK) || (why && !strstr(said.text, why)))
        fail_msg("%d: \"%s\" lacks \"%s\"", (int)result, said.text, why);
    net_match_destroy(match);
    net_module_close(module);
}

static net_game_start fault_start;
static void faulty_start(ecs_world* world, void* context, const net_game_start* start) {
    start->fault(start->fault_context, "rules.lua", 12, "is wrong");
}
static void keep_fault(ecs_world* world, void* context, const net_game_start* start) {
    fault_start = *start;
}

CASE(a_fault_during_start_refuses_the_match) {
    net_game_module game = *breakout_module();
    game.start = faulty_start;
    try_create(&game, NULL, "rules.lua:12: error: is wrong");
    assert_int_equal(said.count, 1);
    game.start = keep_fault;
    net_module* module = wrap(&game, NULL);
    net_match* match = match_made(module, (match_wanted){0});
    base_report_first heard = {0};
    const base_reporter reporter = base_reporter_first(&heard);
    match->strays = &reporter; // who checks the game
    fault_start.fault(fault_start.fault_context, "rules.lua", 3, "is wrong");
    assert_non_null(strstr(heard.text, "rules.lua:3: error: is wrong"));
    fault_start.fault(fault_start.fault_context, NULL, 0, "again");
    assert_int_equal(heard.count, 2);
    net_match_destroy(match);
    net_module_close(module);
}

static ecs_result fail_types(ecs_world* world, const base_reporter* reporter) {
    base_report(reporter, NULL, 0, "no types today");
    return ECS_ERR_FULL;
}

static ecs_result quiet_types(ecs_world* world, const base_reporter* reporter) {
    ecs_result result = breakout_module()->register_types(world, reporter);
    const ecs_event_desc desc = {.name = "quiet"};
    ecs_event_type type;
    return result ? result : ecs_event_register(world, &desc, &type);
}

CASE(a_module_that_does_not_fit_is_reported) {
    try_create(breakout_module(), "ball { pos:p2=1 }}", "breakout.blk:1");
    try_create(breakout_module(), "ball { pos:p2=1,1 }", "there is no");
    net_game_module game = *breakout_module();
    game.register_types = fail_types;
    try_create(&game, NULL, "no types today");
    net_message messages[BREAKOUT_MESSAGE_COUNT];
    game = *breakout_module();
    game.messages = messages;
    memcpy(messages, breakout_module()->messages, sizeof messages);
    messages[BREAKOUT_MESSAGE_CHEERED].event = "unknown";
    try_create(&game, NULL, "there is no event 'unknown'");
    game.register_types = quiet_types;
    messages[BREAKOUT_MESSAGE_CHEERED].event = "quiet";
    try_create(&game, NULL, "the event quiet must be exported");
}

CASE(a_sound_of_nothing_is_reported) {
    net_sound sound = {"brick_hot", "hit.wav", 1.0f, 0.0f};
    net_game_module game = *breakout_module();
    game.sounds = &sound;
    game.sound_count = 1;
    try_create(&game, NULL,
               "hit.wav is of event brick_hot, which the game does "
               "not register: correct the name");
    try_create(&game, NULL, "did you mean 'brick_hit'?");
    sound.event = "brick_hit";
    try_create(&game, NULL, NULL);
    sound.reach = 10.0f;
    try_create(&game, NULL,
               "the sound of event brick_hit fades with the distance, "
               "but the game's interest rules name no position");
}

// What a module was handed last.
static net_game_start started_last;
static net_game_player joined_last;
static uint8_t user_last[NET_USER_BYTES_MAX];

static void keep_start(ecs_world* world, void* context, const net_game_start* start) {
    started_last = *start;
    breakout_module()->start(world, context, start);
}

static ecs_entity keep_join(ecs_world* world, void* context, const net_game_player* player) {
    joined_last = *player;
    if (player->user_bytes > 0) memcpy(user_last, player->user_data, player->user_bytes);
    return ECS_ENTITY_NONE;
}

CASE(a_module_gets_sizes_and_what_the_token_of_a_player_says) {
    assert_int_equal(offsetof(net_game_start, size_bytes), 0);
    assert_int_equal(offsetof(net_game_player, size_bytes), 0);
    assert_int_equal(offsetof(net_player_context, size_bytes), 0);
    assert_int_equal(offsetof(net_controls, size_bytes), 0);
    assert_int_equal(offsetof(net_draw, size_bytes), 0);
    net_game_module game = *breakout_module();
    game.start = keep_start;
    game.player_join = keep_join;
    net_module* module = wrap(&game, NULL);
    net_match* match = match_made(module, (match_wanted){0});
    assert_int_equal(started_last.size_bytes, sizeof(net_game_start));
    uint8_t user[NET_USER_BYTES_MAX + 1];
    memset(user, 7, sizeof user);
    net_game_player player = {.client = 1,
                              .name = "ann",
                              .player_id = 42,
                              .user_data = user,
                              .user_bytes = NET_USER_BYTES_MAX};
    net_match_join(match, &player);
    assert_int_equal(joined_last.size_bytes, sizeof(net_game_player));
    assert_int_equal(joined_last.player_id, 42);
    assert_int_equal(joined_last.user_bytes, NET_USER_BYTES_MAX);
    assert_memory_equal(user_last, user, NET_USER_BYTES_MAX);
    player.client = 2;
    player.user_bytes = NET_USER_BYTES_MAX + 1;
    expect_assert_failure(net_match_join(match, &player));
    net_match_join(match, &(net_game_player){.client = 3, .name = "bob"});
    assert_int_equal(joined_last.player_id, 0);
    assert_int_equal(joined_last.user_bytes, 0);
    net_match_destroy(match);
    net_module_close(module);
}

CASE(steady_ticks_allocate_nothing) {
    table t = {.clients = 0};
    scarce_memory m;
    scarce_init(&m);
    t.module = wrap(breakout_module(), NULL);
    t.match = match_made(t.module, (match_wanted){.allocator = &m.allocator, .seed = 4});
    table_join_bots(&t, 8);
    // Warm up: more than half of the wall has turned to rubble, so its rows have their final room.
    for (uint32_t i = 0; i < 10000 && (i < 120 || table_match(&t)->bricks > 15); i++)
        table_step(&t);
    const breakout_match* match = table_match(&t);
    assert_true(match->bricks > 0 && match->bricks <= 15);
    uint64_t calls = m.calls;
    uint32_t hits = t.events[BREAKOUT_MESSAGE_BRICK_HIT];
    uint32_t cleared = t.events[BREAKOUT_MESSAGE_LEVEL_CLEARED];
    for (uint32_t i = 0; i < 1200 && t.events[BREAKOUT_MESSAGE_LEVEL_CLEARED] == cleared; i++)
        table_step(&t);
    assert_true(t.events[BREAKOUT_MESSAGE_BRICK_HIT] > hits);
    assert_int_equal(m.calls, calls);
    table_close(&t);
    assert_true(m.bytes == 0);
}

// ---- players ----

TABLE_CASE(client_numbers_only_rise, 1) {
    net_match_join(t->match, &(net_game_player){.client = 2, .name = "b"});
    net_match_join(t->match, &(net_game_player){.client = 5, .name = "e"});
    net_match_join(t->match, &(net_game_player){.client = 9, .name = "i"});
    assert_true(net_match_player(t->match, 5) != ECS_ENTITY_NONE);
    assert_int_equal(net_match_player(t->match, 4), ECS_ENTITY_NONE);
    net_match_leave(t->match, 5);
    assert_int_equal(net_match_player(t->match, 5), ECS_ENTITY_NONE);
    assert_true(net_match_player(t->match, 2) != ECS_ENTITY_NONE);
    assert_true(net_match_player(t->match, 9) != ECS_ENTITY_NONE);
    expect_assert_failure(
        net_match_join(t->match, &(net_game_player){.client = 5, .name = "again"}));
    expect_assert_failure(
        net_match_join(t->match, &(net_game_player){.client = 9, .name = "again"}));
    expect_assert_failure(net_match_leave(t->match, 5));
}

// ---- messages ----

TABLE_CASE(inputs_are_checked_before_they_touch_the_world, 1) {
    uint8_t bytes[NET_INPUT_BYTES_MAX + 2] = {0x08, 0x10};
    assert_ok(net_match_input_check(t->match, bytes, 2));
    // Every field has its default.
    assert_ok(net_match_input_check(t->match, bytes, 0));
    assert_int_equal(net_match_input_check(t->match, bytes, 1), NET_ERR_MALFORMED);
    bytes[0] = 0xff;
    assert_int_equal(net_match_input_check(t->match, bytes, 2), NET_ERR_MALFORMED);
    // An unknown field of any length is legal, up to the limit: tag 15, length-delimited.
    memset(bytes, 0, sizeof bytes);
    for (uint32_t over = 0; over < 3; over++) {
        size_t size = NET_INPUT_BYTES_MAX - 1 + over;
        size_t inner = size - 3;
        bytes[0] = 0x7a;
        bytes[1] = (uint8_t)(0x80 | (inner & 0x7f));
        bytes[2] = (uint8_t)(inner >> 7);
        net_result expected = size <= NET_INPUT_BYTES_MAX ? NET_OK : NET_ERR_MALFORMED;
        assert_int_equal(net_match_input_check(t->match, bytes, size), expected);
    }
}

// The operator reads which field it was.
TABLE_CASE(a_refused_message_names_its_field, 1) {
    net_match_reader reader;
    net_match_reader_init(t->match, NULL, &reader);
    uint8_t target[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    const uint8_t last[] = {8, BREAKOUT_EMOTES - 1}, beyond[] = {8, BREAKOUT_EMOTES};
    const uint32_t cheer = BREAKOUT_MESSAGE_CHEER + 1;
    assert_ok(net_match_event_take(t->match, &reader, cheer, last, 2, target, &size));
    assert_string_equal(reader.refusal, "");
    assert_int_equal(net_match_event_take(t->match, &reader, cheer, beyond, 2, target, &size),
                     NET_ERR_MALFORMED);
    assert_string_equal(reader.refusal, "Cheer: emote is outside of 0..BREAKOUT_EMOTES - 1");
    net_match_reader_deinit(&reader);
}

// S5.20
TABLE_CASE(events_go_in_their_direction_only, 1) {
    static const uint32_t refused[] = {0, BREAKOUT_MESSAGE_BRICK_HIT + 1,
                                       BREAKOUT_MESSAGE_PAD_INPUT + 1, BREAKOUT_MESSAGE_COUNT + 1};
    uint8_t none[1] = {0};
    assert_ok(net_match_event_check(t->match, BREAKOUT_MESSAGE_CHEER + 1, none, 0));
    for (size_t i = 0; i < BASE_COUNT(refused); i++)
        assert_int_equal(net_match_event_check(t->match, refused[i], none, 0), NET_ERR_MALFORMED);
    table_close(t);
    table_open(t, NULL, 0, 1, NET_ROLE_MIRROR, false);
    assert_int_equal(net_match_server_event(t->match, BREAKOUT_MESSAGE_CHEER + 1, 0, none, 0),
                     NET_ERR_MALFORMED);
    assert_ok(net_match_server_event(t->match, BREAKOUT_MESSAGE_CHEERED + 1, 0, none, 0));
    // A handle of a placeholder is refused: it belongs to no entity.
    assert_int_equal(net_match_server_event(t->match, BREAKOUT_MESSAGE_CHEERED + 1, 7, none, 0),
                     NET_ERR_MALFORMED);
    uint8_t emote[] = {0x10, 0x63}; // an emote that does not exist: the module refuses it
    assert_int_equal(net_match_server_event(t->match, BREAKOUT_MESSAGE_CHEERED + 1, 0, emote, 2),
                     NET_ERR_MALFORMED);
}

// S5.20
TABLE_CASE(a_server_event_is_heard_in_the_mirror, 1) {
    table mirror;
    table_open(&mirror, NULL, 0, 1, NET_ROLE_MIRROR, true);
    breakout_cheered cheered = {.client = 8, .emote = 3};
    uint8_t packed[32];
    uint32_t message = BREAKOUT_MESSAGE_CHEERED + 1;
    size_t size, none;
    assert_ok(net_match_pack(t->match, message, &cheered, packed, sizeof packed, &size));
    assert_int_equal(net_match_pack(t->match, message, &cheered, packed, size - 1, &none),
                     NET_ERR_FULL);
    assert_int_equal(none, 0);
    assert_ok(net_match_pack(t->match, message, &cheered, packed, size, &size));
    assert_int_equal(size, 4);
    assert_ok(net_match_server_event(mirror.match, message, ECS_ENTITY_NONE, packed, size));
    net_match_step_at(mirror.match, 1);
    assert_int_equal(table_game(&mirror)->view.bubbles[0].client, 8);
    assert_int_equal(table_game(&mirror)->view.bubbles[0].emote, 3);
    table_close(&mirror);
}

TABLE_CASE(each_side_knows_the_messages_that_it_sends, 1) {
    ecs_world* world = net_match_world(t->match);
    assert_int_equal(net_match_message_of(t->match, ecs_event_find(world, "brick_hit")),
                     BREAKOUT_MESSAGE_BRICK_HIT + 1);
    assert_int_equal(net_match_message_of(t->match, ecs_event_find(world, "cheer")), 0);
    assert_int_equal(net_match_message_of(t->match, ecs_event_find(world, "pad_input")), 0);
    assert_int_equal(net_match_message_of(t->match, ECS_EVENT_NONE), 0);
    assert_int_equal(net_match_message_of(t->match, UINT16_MAX), 0);
    assert_int_equal(net_match_input_message(t->match), BREAKOUT_MESSAGE_PAD_INPUT + 1);
    assert_int_equal(net_match_input_bytes(t->match), sizeof(breakout_input));
    table_close(t);
    table_open(t, NULL, 0, 1, NET_ROLE_MIRROR, false);
    world = net_match_world(t->match);
    assert_int_equal(net_match_message_of(t->match, ecs_event_find(world, "brick_hit")), 0);
    assert_int_equal(net_match_message_of(t->match, ecs_event_find(world, "cheer")),
                     BREAKOUT_MESSAGE_CHEER + 1);
}

TABLE_CASE(the_last_input_is_repeated_and_nothing_before_the_first, 1) {
    net_match_join(t->match, &(net_game_player){.client = 1, .name = "a"});
    net_match_input(t->match, 1, NULL, 0, 0); // the player has no input yet
    net_match_input(t->match, 7, NULL, 0, 0); // there is no such client
    ecs_world* world = net_match_world(t->match);
    breakout_input* held = ecs_get_mut(world, net_match_player(t->match, 1), table_game(t)->input);
    net_match_step(t->match);
    assert_int_equal(held->move, 0);
    breakout_input input = {.move = -80, .is_launching = true};
    uint8_t packed[16];
    size_t size;
    assert_ok(net_match_pack(t->match, 1, &input, packed, sizeof packed, &size));
    net_match_input(t->match, 1, packed, size, 0);
    net_match_step(t->match);
    held = ecs_get_mut(world, net_match_player(t->match, 1), table_game(t)->input);
    assert_int_equal(held->move, -80);
    *held = (breakout_input){0};
    net_match_input(t->match, 1, NULL, 0, 0);
    net_match_step(t->match);
    held = ecs_get_mut(world, net_match_player(t->match, 1), table_game(t)->input);
    assert_int_equal(held->move, -80);
    assert_true(held->is_launching);
    // Without an entity the input has no effect.
    assert_ok(ecs_destroy(world, net_match_player(t->match, 1)));
    net_match_input(t->match, 1, packed, size, 0);
    net_match_step(t->match);
    assert_int_equal(net_match_player(t->match, 1), ECS_ENTITY_NONE);
    net_match_leave(t->match, 1);
}

// ---- saves ----

// What `start` finds in the world.
static uint32_t scene_count_at_start;

static void scene_start(ecs_world* world, void* context, const net_game_start* start) {
    scene_count_at_start = ecs_world_entity_count(world);
}

/// A match begins with the entities of its scene; one that goes on has them already.
CASE(a_match_begins_with_its_scene) {
    char* text = table_read_file(BREAKOUT_BLK);
    char whole[16384], *more = whole + strlen(text);
    assert_true(strlen(text) < sizeof whole - 256);
    (void)snprintf(whole, sizeof whole, "%s", text);
    (void)snprintf(more, 256,
                   "lamp { hue:c=1,2,3 }\n_scene { a { _template:t=lamp } "
                   "b { _template:t=lamp; hue:c=4,5,6 } }\n");
    net_game_module game = *breakout_module();
    game.start = scene_start;
    net_module* module = wrap(&game, whole);
    net_match_config config = net_match_config_default(module);
    net_match *match = NULL, *again = NULL, *mirror = NULL;
    assert_ok(net_match_create(&config, NULL, &match));
    assert_int_equal(scene_count_at_start, 2);
    ecs_world* world = net_match_world(match);
    assert_int_equal(ecs_world_entity_count(world), 2);
    base_bytes save;
    base_bytes_init(&save, NULL);
    assert_ok(net_match_save(match, &save));
    assert_ok(net_match_create(&config, NULL, &again));
    assert_true(ecs_world_hash(net_match_world(again)) == ecs_world_hash(world));
    assert_ok(net_match_restore(again, save.data, save.size));
    assert_true(ecs_world_hash(net_match_world(again)) == ecs_world_hash(world));
    net_match_destroy(again);
    assert_ok(net_match_create_from(match, module, NULL, &again)); // a reload
    assert_true(ecs_world_state_hash(net_match_world(again)) == ecs_world_state_hash(world));
    assert_int_equal(ecs_world_entity_count(net_match_world(again)), 2);
    config.role = NET_ROLE_MIRROR;
    assert_ok(net_match_create(&config, NULL, &mirror));
    assert_int_equal(ecs_world_entity_count(net_match_world(mirror)), 0);
    base_bytes_deinit(&save);
    net_match_destroy(mirror);
    net_match_destroy(again);
    net_match_destroy(match);
    net_module_close(module);
    (void)snprintf(more, 256,
                   "lamp { hue:c=1,2,3; _singleton:b=yes }\n_scene { a { _template:t=lamp "
                   "}\nb { _template:t=lamp } }\n");
    try_create(&game, whole, "this entity cannot be created, a 'lamp'");
    assert_said("breakout.blk:");
    free(text);
}

/// P12: another version of the game goes on where a match stands.
MODULE_CASE(a_match_goes_on_with_another_module) {
    net_module* next = NULL;
    net_match_config config = net_match_config_default(module);
    config.settings[BREAKOUT_SETTING_LIVES] = 7.0;
    net_match *match = NULL, *made = NULL;
    assert_ok(net_match_create(&config, NULL, &match));
    net_match_join(match, &(net_game_player){.client = 1, .name = "ann"});
    for (uint32_t i = 0; i < 10; i++)
        net_match_step(match);
    const uint64_t hash = ecs_world_hash(net_match_world(match));
    char* text = table_read_file(BREAKOUT_BLK);
    char whole[16384];
    assert_true(strlen(text) < sizeof whole - 64);
    (void)snprintf(whole, sizeof whole, "%s\nlamp { \"hue:c\"{ value:c=1,2,3 } }\n", text);
    next = wrap(breakout_module(), whole);
    assert_ok(net_match_create_from(match, next, NULL, &made));
    assert_true(net_match_get_config(made)->settings[BREAKOUT_SETTING_LIVES] == 7.0);
    assert_true(net_match_tick(made) == 10);
    assert_true(ecs_world_state_hash(net_match_world(made)) ==
                ecs_world_state_hash(net_match_world(match)));
    assert_string_equal(net_match_player_name(made, 1), "ann");
    assert_int_equal(net_match_player(made, 1), net_match_player(match, 1));
    assert_true(ecs_template_find(net_match_world(made), "lamp") != ECS_TEMPLATE_NONE);
    // Both go on; the new one as from a save of it.
    net_match* again = NULL;
    base_bytes save;
    base_bytes_init(&save, NULL);
    assert_ok(net_match_save(made, &save));
    config = *net_match_get_config(made);
    assert_ok(net_match_create(&config, NULL, &again));
    assert_ok(net_match_restore(again, save.data, save.size));
    assert_true(ecs_world_hash(net_match_world(match)) == hash);
    for (uint32_t i = 0; i < 100; i++) {
        net_match_step(made);
        net_match_step(again);
        assert_true(ecs_world_hash(net_match_world(made)) ==
                    ecs_world_hash(net_match_world(again)));
    }
    net_match_step(match);
    base_bytes_deinit(&save);
    net_match_destroy(again);
    net_match_destroy(made);
    net_module_close(next);
    // A game that cannot go on says why.
    next = wrap(breakout_module(), "nothing { }");
    assert_int_equal(net_match_create_from(match, next, hear(), &made), NET_ERR_MODULE);
    assert_null(made);
    assert_true(said.count > 0);
    net_match_step(match);
    free(text);
    net_match_destroy(match);
    net_module_close(next);
}
