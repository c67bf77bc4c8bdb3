// SPDX-License-Identifier: MIT
// Sight as an input of a match: a library whose readers note what comes into their sight and leaves
// it. What they noted is their scope, and the log has it.
#include "game/library.h"
#include "session_table.h"

#include "game/match.h"

enum { INDICES = 512 };

typedef struct sighting {
    net_sight sight;
} sighting;

// By the index of the person's entity; of the match that ran last.
static bool seen[INDICES][INDICES];
static uint32_t count_seen, count_left, count_forgotten, most_in_tick;

static ecs_result sight_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field SIGHT[] = {
        {"entity", offsetof(net_sight, entity), ECS_FIELD_ENTITY, 1, {0, 0, 0}},
        {"is_seen", offsetof(net_sight, is_seen), ECS_FIELD_BOOL, 1, {0, 0, 0}},
    };
    const ecs_event_desc sight = {"sight", sizeof(sighting), SIGHT, 2, false};
    ecs_event_type event;
    ecs_result result = library_types(world, reporter);
    return result == ECS_OK ? ecs_event_register(world, &sight, &event) : result;
}

static void note_sight(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    static ecs_tick tick;
    static uint32_t in_tick;
    const net_sight* sight = event->payload;
    uint32_t* sum = rows->columns[0]; // tracked: the state hash depends on it
    const uint32_t person = ecs_entity_index(rows->entities[0]);
    const uint32_t index = ecs_entity_index(sight->entity);
    *sum = *sum * 31 + sight->entity * 2 + sight->is_seen;
    in_tick = tick == stage->tick ? in_tick + 1 : 1;
    tick = stage->tick;
    most_in_tick = in_tick > most_in_tick ? in_tick : most_in_tick;
    if (sight->entity == ECS_ENTITY_NONE) {
        assert_false(sight->is_seen);
        memset(seen[person], 0, sizeof seen[person]);
        count_forgotten++;
        return;
    }
    if (person >= INDICES || index >= INDICES) return;
    seen[person][index] = sight->is_seen;
    count_seen += sight->is_seen;
    count_left += !sight->is_seen;
}

static ecs_result sight_systems(ecs_world* world, void** out, const base_reporter* reporter) {
    static const ecs_term READER[] = {{"reader", "u32", ECS_WRITE}};
    static const char *const SERVER[] = {"server"}, *const SIGHT[] = {"sight"};
    const ecs_system_desc system = {.name = "note_sight",
                                    .events = SIGHT,
                                    .event_count = 1,
                                    .on_event = note_sight,
                                    .terms = READER,
                                    .term_count = 1,
                                    .tags = SERVER,
                                    .tag_count = 1};
    ecs_result result = library_systems(world, out, reporter);
    return result == ECS_OK ? ecs_system_register(world, &system) : result;
}

static void sight_to_wire(const void* payload, ProtobufCMessage* message) {
    const net_sight* sight = payload;
    ((Swarm__Steer*)message)->dx = (int32_t)sight->entity;
    ((Swarm__Steer*)message)->dy = sight->is_seen;
}

static bool sight_from_wire(const ProtobufCMessage* message, void* payload) {
    *(net_sight*)payload = (net_sight){.entity = (uint32_t)((const Swarm__Steer*)message)->dx,
                                       .is_seen = ((const Swarm__Steer*)message)->dy != 0};
    return true;
}

static const net_game_module* seeing_library(const char* sight) {
    static net_game_module game;
    static net_message messages[3];
    memset(seen, 0, sizeof seen);
    count_seen = count_left = count_forgotten = most_in_tick = 0;
    game = *library_module_get();
    memcpy(messages, game.messages, 2 * sizeof *messages);
    messages[2] = (net_message){.name = "Sight",
                                .descriptor = &swarm__steer__descriptor,
                                .event = "sight",
                                .kind = NET_MESSAGE_TO_SERVER,
                                .to_wire = sight_to_wire,
                                .from_wire = sight_from_wire};
    game.messages = messages;
    game.message_count = 3;
    game.register_types = sight_types;
    game.register_systems = sight_systems;
    game.sight = sight;
    return &game;
}

#define SEEING .game = seeing_library("Sight"), .templates = LIBRARY_TEXT

// Is what each player noted its scope?
static void check_noted(table* at) {
    for (uint32_t client = 1; client <= at->seat_count; client++) {
        ecs_entity scope[INDICES];
        bool is_in[INDICES] = {false};
        const uint32_t count = net_server_list_scope(at->server, client, scope, INDICES);
        const uint32_t person = ecs_entity_index(net_match_player(at->match, client));
        assert_in_range(count, 2, INDICES);
        for (uint32_t i = 0; i < count; i++)
            is_in[ecs_entity_index(scope[i])] = true;
        for (uint32_t i = 0; i < INDICES; i++)
            assert_int_equal(seen[person][i], is_in[i]);
    }
}

TABLE_ROWS(what_players_noted_is_their_scope_and_in_the_log, i, 4, SEEING, .seed = i + 1,
           .quiet = 400, .ticks_max = 460, .is_threaded = i % 2 == 1, .has_log = true, .seats = 3) {
    table_run(at, 455); // it is quiet, and the match goes on
    check_noted(at);
    assert_true(count_seen > 100 && count_left > 50);
    assert_int_equal(count_forgotten, 3); // each began once
    table_run_out(at, 3000);
    table_agrees(at);
    const net_verify_result result = table_verify(at);
    assert_false(result.is_diverged);
    assert_int_equal(result.ticks, 460);
}

// A reader's first scope is all at once here.
static void start_with_many(ecs_world* world, void* context, const net_game_start* start) {
    library_start(world, context, start);
    for (uint32_t i = 0; i < 3 * NET_SIGHTS_PER_TICK_MAX; i++) {
        ecs_entity entity;
        assert_ok(ecs_create(world, ((library*)context)->sign, NULL, 0, &entity));
    }
}

TABLE_CASE(so_many_come_in_a_tick_and_none_is_lost, SEEING, .seed = 3, .quiet = 1, .ticks_max = 100,
           .start = start_with_many, .seats = 1) {
    table_run(at, 60);
    check_noted(at);
    assert_int_equal(most_in_tick, NET_SIGHTS_PER_TICK_MAX);
}

// The library has no other player's entity to give, so the first one is made again.
TABLE_CASE(who_becomes_a_player_anew_is_told_all, SEEING, .seed = 5, .quiet = 1, .ticks_max = 300,
           .seats = 1) {
    table_run(at, 60);
    check_noted(at);
    const uint32_t told = count_seen;
    ecs_world* world = net_match_world(at->match);
    net_player* player = net_match_find_player(at->match, 1);
    assert_ok(ecs_destroy(world, player->entity));
    table_run(at, 60); // there is no player to tell
    assert_int_equal(count_forgotten, 1);
    assert_in_range(count_seen, told, told);
    assert_ok(ecs_create(world, ((const library*)net_match_context(at->match))->person, NULL, 0,
                         &player->entity));
    table_run(at, 60);
    assert_int_equal(count_forgotten, 2);
    check_noted(at);
}

GUEST_CASE(a_client_that_says_what_it_sees_is_refused, SEEING, .seed = 3, .quiet = 4e9) {
    const uint32_t before = count_seen;
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT, *events[] = {&event};
    Shoal__Wire__InputPacket packet = SHOAL__WIRE__INPUT_PACKET__INIT;
    table_run(at, 30);
    event.message = 3;
    packet.events = events;
    packet.n_events = 1;
    assert_ok(raw_client_send(raw, NET_CHANNEL_REALTIME, &packet.base));
    table_run(at, 5);
    assert_int_equal(table_dropped(at, NET_DROP_MALFORMED), 1);
    assert_true(count_seen >= before);
}

CASE(a_sight_that_is_no_such_message_refuses_the_match) {
    static const char* const names[] = {"Nothing", "Steer", "Note"};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        const net_game_module* game = seeing_library(names[i]);
        net_module* module;
        net_match* match;
        assert_ok(net_module_wrap(game, LIBRARY_TEXT, "library.blk", test_reporter(), &module));
        net_match_config config = net_match_config_default(module);
        assert_int_equal(net_match_create(&config, NULL, &match), NET_ERR_MODULE);
        net_module_close(module);
    }
}
