// SPDX-License-Identifier: MIT
// Arena on a client: how keys become inputs, what the client predicts, what it draws.

#include "arena_table.h"
#include "recorder.h"

// ---- keys and pointer ----

typedef struct human {
    net_player_context view;
    net_controls controls;
    bool actions[ARENA_ACTION_COUNT], pressed[ARENA_ACTION_COUNT];
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES];
    uint32_t sent;
    arena_chat chat;
} human;

static bool take_event(void* sender, uint32_t message, const void* payload) {
    human* h = sender;
    if (message == ARENA_MESSAGE_CHAT + 1) {
        h->chat = *(const arena_chat*)payload;
        return true;
    }
    assert_int_equal(message, ARENA_MESSAGE_RALLY + 1);
    h->sent++;
    return true;
}

static void open_human(human* h) {
    memset(h, 0, sizeof *h);
    h->view = (net_player_context){
        .size_bytes = sizeof h->view, .memory = h->memory, .send = take_event, .sender = h};
    h->controls = (net_controls){.size_bytes = sizeof h->controls,
                                 .actions = h->actions,
                                 .pressed = h->pressed,
                                 .action_count = ARENA_ACTION_COUNT};
}

#define HUMAN_CASE(name) CASE_WITH(human, at, open_human(at), (void)at, name)

static arena_input ask(human* h) {
    arena_input input = {0};
    arena_human_input(&h->view, &h->controls, &input);
    return input;
}

HUMAN_CASE(keys_move_and_shoot_where_one_goes) {
    arena_input input = ask(at);
    assert_int_equal(input.move_x, 0);
    assert_false(input.is_firing || input.is_raying);
    at->actions[ARENA_ACTION_UP] = at->actions[ARENA_ACTION_FIRE] = true;
    at->pressed[ARENA_ACTION_RAY] = true; // a short tap
    input = ask(at);
    assert_int_equal(input.move_y, -127);
    assert_int_equal(input.aim, 3 * ARENA_AIM_STEPS / 4);
    assert_true(input.is_firing && input.is_raying);
    at->actions[ARENA_ACTION_UP] = false;
    assert_int_equal(ask(at).aim, 3 * ARENA_AIM_STEPS / 4); // unchanged
    at->actions[ARENA_ACTION_LEFT] = at->actions[ARENA_ACTION_RIGHT] = true;
    assert_int_equal(ask(at).move_x, 0);
}

HUMAN_CASE(a_game_controller_goes_and_aims_by_its_sticks) {
    at->controls.is_pad = true;
    at->controls.has_pointer = true; // it rests somewhere
    at->controls.move_x = 0.5f;
    at->controls.move_y = -1.0f;
    at->controls.aim_y = 0.3f;
    arena_input input = ask(at);
    assert_int_equal(input.move_x, 64);
    assert_int_equal(input.move_y, -127);
    assert_int_equal(input.aim, ARENA_AIM_STEPS / 4);
    at->controls.aim_y = 0.0f; // then it looks where it goes
    at->controls.move_x = -1.0f;
    at->controls.move_y = 0.0f;
    assert_int_equal(ask(at).aim, ARENA_AIM_STEPS / 2);
    at->controls.move_x = 0.0f;
    assert_int_equal(ask(at).aim, ARENA_AIM_STEPS / 2); // unchanged
    at->actions[ARENA_ACTION_RIGHT] = true;             // the cross beside the stick
    assert_int_equal(ask(at).move_x, 127);
}

HUMAN_CASE(a_line_that_is_too_long_is_cut_between_characters) {
    char line[NET_LINE_BYTES_MAX] = "x";
    for (uint32_t i = 0; i + 1 < (NET_LINE_BYTES_MAX - 1) / 2; i++)
        memcpy(line + 1 + 2 * i, "\xc3\xbc", 3);
    static const uint32_t sizes[][2] = {{1, 1}, {77, 77}, {79, 79}, {81, 79}, {117, 79}};
    for (uint32_t i = 0; i < BASE_COUNT(sizes); i++) {
        char text[NET_LINE_BYTES_MAX];
        (void)base_text_format(text, sizeof text, "%.*s", (int)sizes[i][0], line);
        arena_human_text(&at->view, text);
        assert_int_equal(strlen(at->chat.text), sizes[i][1]);
    }
    arena_human_text(&at->view, line + 1); // 80 bytes would end in half a character
    assert_int_equal(strlen(at->chat.text), 78);
}

HUMAN_CASE(the_pointer_aims_from_the_middle) {
    at->controls.has_pointer = true;
    at->controls.pointer_x = ARENA_VIEW_WIDTH * 0.5f + 100.0f;
    at->controls.pointer_y = ARENA_VIEW_HEIGHT * 0.5f;
    assert_int_equal(ask(at).aim, 0);
    at->controls.pointer_x = ARENA_VIEW_WIDTH * 0.5f;
    at->controls.pointer_y = ARENA_VIEW_HEIGHT * 0.5f + 100.0f;
    at->controls.pointer_down = true;
    arena_input input = ask(at);
    assert_int_equal(input.aim, ARENA_AIM_STEPS / 4);
    assert_true(input.is_firing);
}

HUMAN_CASE(a_call_is_sent_once_per_press) {
    at->actions[ARENA_ACTION_RALLY] = at->pressed[ARENA_ACTION_RALLY] = true;
    (void)ask(at);
    at->pressed[ARENA_ACTION_RALLY] = false;
    (void)ask(at);
    assert_int_equal(at->sent, 1);
}

CASE(angles_survive_the_way_through_an_input) {
    for (uint32_t aim = 0; aim < ARENA_AIM_STEPS; aim++) {
        ecs_vec2 direction = ecs_direction(arena_aim_angle(aim));
        assert_int_equal(arena_aim_of(direction.x * 30.0f, direction.y * 30.0f), aim);
    }
}

// ---- the picture ----

static void render(table* t, recorder* r, ecs_entity player) {
    net_draw draw = recorder_draw(r, player, (double)net_match_tick(t->match));
    draw.frame_dt_s = 1.0f / 30.0f;
    recorder_run(t->match, &draw);
}

ARENA_CASE(a_picture_shows_the_own_fighter_its_state_and_the_board, 3, true, NULL) {
    static recorder r;
    table_join_bots(t, 12);
    for (uint32_t i = 0; i < 200; i++) {
        table_step(t);
        render(t, &r, net_match_player(t->match, 1));
    }
    assert_true(r.shapes - r.rects > 300);
    assert_true(recorder_has_text(&r, "Ada"));
    assert_true(recorder_has_text(&r, "best of 12 players"));
    assert_true(recorder_has_text(&r, "ROUND 1"));
    assert_true(recorder_has_text(&r, "4:53"));
    arena_view* view = table_game(t)->view;
    assert_int_equal(view->own_team, 1);
    assert_true(view->has_camera);
}

ARENA_CASE(drawing_touches_nothing_of_the_match, 3, true, NULL) {
    static recorder r;
    table_join_bots(t, 4);
    table_steps(t, 60);
    uint64_t hash = ecs_world_hash(table_world(t));
    for (uint32_t i = 0; i < 10; i++)
        render(t, &r, net_match_player(t->match, 1));
    assert_true(ecs_world_hash(table_world(t)) == hash);
}

ARENA_CASE(a_spectator_sees_the_whole_map, 3, true, NULL) {
    static recorder r;
    table_steps(t, 30);
    render(t, &r, ECS_ENTITY_NONE);
    arena_view* view = table_game(t)->view;
    assert_false(view->has_camera);
    assert_true(view->pen.scale * ARENA_SIZE < ARENA_VIEW_HEIGHT);
    assert_true(r.shapes - r.rects > 2000);
}

ARENA_CASE(news_names_who_did_what, 3, true, ARENA_EMPTY) {
    static recorder r;
    table_join(t, 1, "Ada");
    arena_game* game = table_game(t);
    const arena_killed killed = {.killer_client = 1, .killer_team = 1, .victim_team = 3};
    const arena_flag_moved moved = {.team = 2, .by_team = 4, .what = ARENA_FLAG_IS_CAPTURED};
    const arena_round_over over = {.winner = 4, .points = 77, .round = 1};
    assert_true(ecs_event_broadcast(table_world(t), game->killed, &killed));
    assert_true(ecs_event_broadcast(table_world(t), game->flag_moved, &moved));
    assert_true(ecs_event_broadcast(table_world(t), game->round_over, &over));
    table_steps(t, 2);
    render(t, &r, net_match_player(t->match, 1));
    assert_true(recorder_has_text(&r, "shot"));
    assert_true(recorder_has_text(&r, "green"));
    assert_true(recorder_has_text(&r, "captured"));
    assert_true(recorder_has_text(&r, "the blue flag"));
    assert_true(recorder_has_text(&r, "YELLOW WINS ROUND 1 WITH 77"));
}

// ---- sounds ----

static const net_sound* sound_of(table* t, const net_heard* heard) {
    return &t->module->game->sounds[heard->sound];
}

// How loud an event of a fighter is that is `away` units from the player; 0: it is not heard.
static float loudness(table* t, ecs_entity player, float away) {
    ecs_world* world = table_world(t);
    arena_game* game = table_game(t);
    const ecs_vec2 here = *(const ecs_vec2*)ecs_get(world, player, game->pos);
    const ecs_vec2 there = {here.x + away, here.y};
    ecs_entity other = ECS_ENTITY_NONE;
    const ecs_init at = {game->pos, &there};
    assert_ok(ecs_create(world, game->pickup_template, &at, 1, &other));
    assert_true(ecs_event_send(world, other, game->ray, &(arena_ray){.target = ECS_ENTITY_NONE}));
    table_steps(t, 1);
    const net_heard* heard;
    const uint32_t count = net_match_hear(t->match, player, &heard);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sound_of(t, &heard[i])->event, "ray") == 0) return heard[i].volume;
    return 0.0f;
}

ARENA_CASE(a_sound_fades_with_the_distance, 3, true, ARENA_EMPTY) {
    table_join(t, 1, "Ada");
    table_steps(t, 2);
    const ecs_entity player = net_match_player(t->match, 1);
    assert_float_equal(loudness(t, player, 5.0f), 0.7f * 0.93f * 0.93f, 0.02f);
    assert_float_equal(loudness(t, player, ARENA_SIGHT * 0.5f), 0.7f * 0.25f, 0.02f);
    assert_true(loudness(t, player, ARENA_SIGHT * 1.02f) == 0.0f);
    // Without a player it is heard from where that was.
    assert_ok(ecs_destroy(table_world(t), player));
    assert_true(ecs_event_broadcast(table_world(t), table_game(t)->ray, &(arena_ray){0}));
    table_steps(t, 1);
    const net_heard* heard;
    assert_int_equal(net_match_hear(t->match, player, &heard), 1);
    assert_float_equal(heard[0].volume, 0.7f, 1e-3f); // no target: nothing fades
}

ARENA_CASE(a_burst_of_events_is_heard_in_part, 3, true, ARENA_EMPTY) {
    const net_heard* heard;
    for (uint32_t count = NET_HEARD_MAX - 1; count <= NET_HEARD_MAX + 1; count++) {
        for (uint32_t i = 0; i < count; i++)
            assert_true(ecs_event_broadcast(table_world(t), table_game(t)->round_over,
                                            &(arena_round_over){.winner = 1}));
        table_steps(t, 1);
        assert_int_equal(net_match_hear(t->match, ECS_ENTITY_NONE, &heard),
                         count < NET_HEARD_MAX ? count : NET_HEARD_MAX);
        assert_string_equal(sound_of(t, heard)->file, "round.wav");
        assert_int_equal(net_match_hear(t->match, ECS_ENTITY_NONE, &heard), 0); // each once
    }
}

ARENA_CASE(a_world_that_is_not_drawn_hears_nothing, 3, false, NULL) {
    const net_heard* heard;
    table_steps(t, 60);
    assert_int_equal(net_match_hear(t->match, ECS_ENTITY_NONE, &heard), 0);
}

ARENA_CASE(shots_and_deaths_are_heard, 3, true, NULL) {
    uint32_t shots = 0, blasts = 0;
    for (uint32_t i = 0; i < 300; i++) {
        table_steps(t, 1);
        const net_heard* heard;
        const uint32_t count = net_match_hear(t->match, ECS_ENTITY_NONE, &heard);
        for (uint32_t k = 0; k < count; k++) {
            shots += strcmp(sound_of(t, &heard[k])->event, "fired") == 0;
            blasts += strcmp(sound_of(t, &heard[k])->event, "blasted") == 0;
        }
    }
    assert_true(shots > 100);
    assert_true(blasts > 20);
}
