// SPDX-License-Identifier: MIT
// A playback in a window without a display. Keys and pointer come as SDL events. The test asks the
// playback for its place. Its picture has the bricks of the world.
#include "playback/playback_record.h"
#include "window/picture.h"

#include "window/playback_play.h"
#include "window/playback_timeline.h"

enum { TICKS = 900 };

typedef struct stage {
    playback_record* record;
    client_config config;
    base_reporter reporter;
    net_loop loop;
    client_playback playback;
} stage;

static stage* stage_open(void) {
    stage* on = calloc(1, sizeof *on);
    assert_non_null(on);
    on->record = record_make(TICKS);
    on->reporter = base_reporter_stderr();
    assert_true(net_loop_init(&on->loop));
    on->config = (client_config){
        .replay = on->record->files.log, .is_rendering = true, .width = 960, .height = 540};
    on->playback =
        (client_playback){.config = &on->config, .reporter = &on->reporter, .loop = &on->loop};
    on->playback.reader = record_read(on->record);
    on->playback.module = on->record->table.module;
    assert_ok(net_playback_create(on->playback.reader, on->playback.module, &on->reporter,
                                  &on->playback.playback));
    return on;
}

static void stage_close(stage* on) {
    net_playback_destroy(on->playback.playback);
    net_log_reader_destroy(on->playback.reader);
    record_free(on->record);
    net_loop_deinit(&on->loop);
    free(on);
}

#define STAGE_CASE(name) CASE_MADE(stage, on, stage_open(), stage_close(on), name)

// Events wait for the window before it exists. Closing the window ends all of SDL.
static void open_queue(stage* on, double at) {
    assert_int_equal(SDL_InitSubSystem(SDL_INIT_VIDEO), 0);
    on->config.at = at;
}

static void push_key(SDL_Keycode key, bool is_down) {
    SDL_Event event = {.type = is_down ? SDL_KEYDOWN : SDL_KEYUP};
    event.key.keysym.sym = key;
    assert_int_equal(SDL_PushEvent(&event), 1);
}

static void push_pointer(uint32_t type, float x, float y) {
    SDL_Event event = {.type = type};
    if (type == SDL_MOUSEMOTION) {
        event.motion.x = (int)x;
        event.motion.y = (int)y;
    } else {
        event.button.button = SDL_BUTTON_LEFT;
        event.button.x = (int)x;
        event.button.y = (int)y;
    }
    assert_int_equal(SDL_PushEvent(&event), 1);
}

// Push keys by letters: S presses Shift and s releases it, < and > are Left and Right, H is Home, E
// is End, + and - are Up and Down, h is help.
static void push_keys(const char* keys) {
    static const struct {
        char letter;
        SDL_Keycode key;
    } letters[] = {{'S', SDLK_LSHIFT}, {'<', SDLK_LEFT}, {'>', SDLK_RIGHT}, {' ', SDLK_SPACE},
                   {'H', SDLK_HOME},   {'E', SDLK_END},  {'+', SDLK_UP},    {'-', SDLK_DOWN},
                   {'h', SDLK_h},      {'x', SDLK_x},    {'c', SDLK_c},     {'i', SDLK_i},
                   {'n', SDLK_TAB}};
    for (; *keys; keys++) {
        if (*keys == 's') push_key(SDLK_LSHIFT, false);
        for (uint32_t i = 0; i < BASE_COUNT(letters); i++) {
            if (letters[i].letter != *keys) continue;
            push_key(letters[i].key, true);
            if (*keys != 'S') push_key(letters[i].key, false);
        }
    }
}

STAGE_CASE(keys_move_the_playback) {
    static const struct {
        double at;
        const char* keys;
        double tick;
    } cases[] = {
        {100, "", 100},
        {100, ">", 101},
        {100, ">><", 101},
        {100.5, ">", 101},
        {100.5, "<", 100},
        {100, "S>", 110},
        {100, "S>s>", 111},
        {100, "S<<s", 80},
        {5, "S<", 1},
        {895, "S>", TICKS},
        {100, "E", TICKS},
        {100, "H", 1},
        {100, " > ", 400},
        {100, " < ", 1},
        {700, " S< ", 1},
        {500, " > ", 800},
        {500, " >> ", TICKS},
        {100, "+-hx", 100},
        {100, "++++++++-->", 101},
        {TICKS, "  H", 1},
        {100, "cccinnSnsi", 100},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        open_queue(on, cases[i].at);
        push_keys(cases[i].keys);
        assert_int_equal(client_playback_show(&on->playback), 0);
        double tick = net_playback_tick(on->playback.playback);
        if (tick != cases[i].tick) print_error("\"%s\": %g\n", cases[i].keys, tick);
        assert_true(tick == cases[i].tick);
    }
    assert_false(on->playback.is_diverged || on->playback.is_damaged);
}

// Forward and back the inspector meets each entity once, and begins again beyond the last.
STAGE_CASE(the_inspector_walks_over_all_entities) {
    assert_ok(net_playback_seek(on->playback.playback, 300));
    const ecs_world* world = net_match_world(net_playback_match(on->playback.playback));
    client_inspector inspector = {0};
    client_inspector_step(&inspector, world, true);
    ecs_entity first = inspector.entity, before = first;
    uint32_t count = 0;
    do {
        assert_true(ecs_is_alive(world, inspector.entity));
        before = inspector.entity;
        client_inspector_step(&inspector, world, true);
        assert_true(inspector.entity == first || inspector.entity > before);
        count++;
    } while (inspector.entity != first);
    assert_true(count >= 50); // bricks, a pad for each player, balls
    client_inspector_step(&inspector, world, false);
    assert_int_equal(inspector.entity, before);
    for (uint32_t i = 1; i < count; i++)
        client_inspector_step(&inspector, world, false);
    assert_int_equal(inspector.entity, first);
    inspector.entity = ecs_entity_make(ECS_INDEX_MAX, 1); // is gone
    client_inspector_step(&inspector, world, false);
    assert_int_equal(inspector.entity, first);
}

// A window of 960 x 540 shows 1200 x 880 units. The strip is 736 pixels wide and starts below row
// 491.
STAGE_CASE(the_pointer_moves_the_playback_on_the_strip_alone) {
    open_queue(on, 100);
    push_pointer(SDL_MOUSEBUTTONDOWN, 480, 515);
    push_pointer(SDL_MOUSEBUTTONUP, 480, 515);
    assert_int_equal(client_playback_show(&on->playback), 0);
    double middle = net_playback_tick(on->playback.playback);
    assert_true(middle > TICKS * 0.49 && middle < TICKS * 0.51);
    open_queue(on, 100);
    push_pointer(SDL_MOUSEBUTTONDOWN, 480, 300); // on the field, not on the strip
    push_pointer(SDL_MOUSEMOTION, 480, 515);
    push_pointer(SDL_MOUSEBUTTONUP, 480, 515);
    assert_int_equal(client_playback_show(&on->playback), 0);
    assert_true(net_playback_tick(on->playback.playback) == 100.0);
    open_queue(on, 100);
    push_pointer(SDL_MOUSEBUTTONDOWN, 480, 515); // the drag ends beyond the strip
    push_pointer(SDL_MOUSEMOTION, 959, 300);
    push_pointer(SDL_MOUSEBUTTONUP, 959, 300);
    push_pointer(SDL_MOUSEMOTION, 200, 515);
    assert_int_equal(client_playback_show(&on->playback), 0);
    assert_true(net_playback_tick(on->playback.playback) == TICKS);
}

STAGE_CASE(the_strip_marks_where_the_playback_is_and_what_was) {
    picture p;
    const net_game_module* game = on->playback.module->game;
    client_timeline strip = client_timeline_make(game);
    assert_true(strip.y == game->view_height);
    assert_true(client_timeline_has(&strip, 1.0f, strip.y + 1.0f));
    assert_false(client_timeline_has(&strip, 1.0f, strip.y - 1.0f));
    assert_true(client_timeline_tick(&strip, on->playback.playback, -50.0f) == 0.0);
    assert_true(client_timeline_tick(&strip, on->playback.playback, 1e9f) == TICKS);
    uint32_t count;
    const net_playback_mark* marks = net_playback_marks(on->playback.playback, &count);
    for (uint32_t i = 0; i < count; i++) {
        // A mark under the pointer has a text: it replaces the line below the bar.
        float part = (float)marks[i].tick / (float)TICKS;
        client_timeline_look look = {.playback = on->playback.playback,
                                     .game = game,
                                     .tick_rate_hz = 60,
                                     .speed = 1.0,
                                     .pointer_x = 20.0f + (strip.width - 40.0f) * part,
                                     .pointer_y = strip.y + 40.0f};
        picture_open(&p, 1200, 880, game->view_width, game->view_height + strip.height);
        assert_ok(net_playback_seek(on->playback.playback, (double)TICKS / 2.0));
        client_timeline_draw(&strip, &look, &p.view);
        client_draw_end(p.draw);
        uint32_t legend = picture_count(&p, 0, 855, 1200, 25, (ecs_color){130, 140, 170, 255}, 8);
        assert_true(legend > 50);
        // The playback head is in the middle.
        assert_true(picture_is(&p, 600, 839, (ecs_color){255, 255, 255, 255}, 2));
        assert_false(picture_is(&p, 300, 839, (ecs_color){255, 255, 255, 255}, 2));
        picture_begin(&p);
        look.is_pointed = true;
        client_timeline_draw(&strip, &look, &p.view);
        client_draw_end(p.draw);
        assert_true(picture_count(&p, 0, 855, 1200, 25, (ecs_color){130, 140, 170, 255}, 8) <
                    legend / 2);
        picture_close(&p);
    }
}

// The test looks at the middle of each brick in the playback's own picture, also of struck bricks.
STAGE_CASE(pixels_of_bricks_have_the_colours_of_bricks) {
    const double moments[] = {60, TICKS / 2, TICKS};
    for (uint32_t i = 0; i < BASE_COUNT(moments); i++) {
        picture p;
        picture_open(&p, 1200, 800, BREAKOUT_FIELD_WIDTH, BREAKOUT_FIELD_HEIGHT);
        assert_ok(net_playback_seek(on->playback.playback, moments[i]));
        net_playback_draw(on->playback.playback, &p.view);
        client_draw_end(p.draw);
        net_match* match =
            // The match of the playback, run again: the picture was not drawn from it.
            net_playback_match(on->playback.playback);
        ecs_world* world = net_match_world(match);
        const breakout_game* game = net_match_context(match);
        uint32_t bricks = 0, struck = 0;
        for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
             at = ecs_entity_next(world, at)) {
            ecs_template_id kind = ecs_entity_template(world, at);
            if (kind != game->brick_template && kind != game->rubble_template) continue;
            const ecs_vec2* pos = ecs_get(world, at, game->pos);
            const ecs_vec2* size = ecs_get(world, at, game->rect_size);
            ecs_color color = *(const ecs_color*)ecs_get(world, at, game->color);
            // The gradient makes a brick a little lighter or darker. A ball may cover one or two
            // bricks.
            bool is_seen = picture_is(&p, (int)(pos->x + size->x * 0.3f),
                                      (int)(pos->y + size->y * 0.5f), color, 34);
            bricks += kind == game->brick_template && is_seen;
            struck += kind == game->rubble_template && !is_seen;
        }
        const breakout_match* board =
            ecs_get(world, ecs_singleton(world, game->match_template), game->match);
        print_message("tick %g: %u of %d bricks, %u struck\n", moments[i], bricks, board->bricks,
                      struck);
        assert_true(bricks + 2 >= (uint32_t)board->bricks && bricks > 10);
        if (moments[i] == TICKS / 2) assert_true(struck > 0);
        picture_close(&p);
    }
}
