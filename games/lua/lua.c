// SPDX-License-Identifier: MIT
// A game whose rules are Lua: this module is built once, and each game has a copy of it under its
// own name, beside NAME.blk and rules.lua. It turns the calls of a match into functions of the
// script; README.md has them all.
#include "script.h"

#include "ecs/ecs.h"
#include "ecs/es.h"
#include "net/controls.h"

#include "lua.pb-c.h"

#include <string.h>

#define WIDTH 960
#define HEIGHT 540

enum {
    PRESSED = 8,
    POINTER_DOWN = 1 << 16,
    POINTER_USED = 1 << 17,
    POINTER_RIGHT = 1 << 18
}; // bits of buttons

ES_ACTIONS
typedef enum lua_action {
    ACTION_UP ES_ACTION("up", "Up,W", "go up", "DPUp,LeftY-"),
    ACTION_DOWN ES_ACTION("down", "Down,S", "go down", "DPDown,LeftY+"),
    ACTION_LEFT ES_ACTION("left", "Left,A", "go to the left", "DPLeft,LeftX-"),
    ACTION_RIGHT ES_ACTION("right", "Right,D", "go to the right", "DPRight,LeftX+"),
    ACTION_A ES_ACTION("a", "Space", "button a of the script", "A"),
    ACTION_B ES_ACTION("b", "E", "button b of the script", "B"),
    ACTION_C ES_ACTION("c", "Q", "button c of the script", "X"),
    ACTION_D ES_ACTION("d", "Left Shift", "button d of the script", "Y"),
} lua_action;

ES_EVENT(lua_input)
ES_MESSAGE(Lua__Input, input)
typedef struct lua_input {
    uint32_t buttons;
    float x, y ES_CLAMP(-1, 1);
    float pointer_x, pointer_y ES_CLAMP(-1e6, 1e6);
} lua_input;

ES_GAME_CONTEXT(lua)
typedef struct lua_game {
    const net_game_services* services;
    ecs_event_type tell;
    bool is_server ES_IF_TAG(server);
    bool is_predicted ES_IF_TAG(predict);
    base_rng effects; // chance of the picture
    script script;
} lua_game;

#include "lua.es.h"
_Static_assert(LUA_MESSAGE_ASK + 1 == SCRIPT_ASK, "ask() sends it");

// Without a title: the module has the name of its file.
ES_GAME("", 960, 540, .register_systems = register_script, .start = start_script,
        .mirror_start = start_script, .player_join = player_join, .player_leave = player_leave,
        .bot_think = bot_think, .human_input = human_input, .predict = predict,
        .restored = restored, .save_state = save_state, .load_state = load_state,
        .label_actions = label_actions);

static ecs_result register_script(ecs_world* world, lua_game* game, const base_reporter* reporter) {
    (void)reporter;
    game->script.role = game->is_server ? "server" : game->is_predicted ? "predict" : "client";
    game->script.tell = game->tell;
    return script_find_names(&game->script, world);
}

static const net_game_file* find_rules(const net_game_file* files, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(files[i].name, "rules.lua") == 0) return &files[i];
    return NULL;
}

// The script is loaded once more, in an empty world. What is wrong with it is said by each match.
static void label_actions(const net_game_file* files, uint32_t file_count, net_label* labels) {
    const net_game_file* rules = find_rules(files, file_count);
    const ecs_world_config config = ecs_world_config_default();
    script self = {.role = "client", .labels = labels};
    if (!rules || ecs_world_create(&config, &self.world) != ECS_OK) return;
    script_open(&self, (const char*)rules->bytes, rules->byte_count);
    ecs_world_destroy(self.world);
}

static void start_script(ecs_world* world, lua_game* game, const net_game_start* begin) {
    script* self = &game->script;
    if (begin->size_bytes < sizeof *begin) return; // an older program, which gives no files
    self->services = game->services;
    self->dt = (double)begin->dt;
    self->fault = begin->fault;
    self->fault_context = begin->fault_context;
    self->line = begin->line;
    self->line_context = begin->line_context;
    self->player_name = begin->player_name;
    self->names = begin->name_context;
    const net_game_file* rules = find_rules(begin->files, begin->file_count);
    if (!rules)
        self->fault(self->fault_context, NULL, 0, "no rules: add file:t=\"rules.lua\" to the .blk");
    else
        script_open(self, (const char*)rules->bytes, rules->byte_count);
    game->effects = base_rng_make(begin->seed, 1);
    if (!game->is_server) return;
    self->rng = ecs_world_rng(world);
    script_run(self, 0, "on_start", "");
    script_forget(self); // as after a restore of this moment
}

static void restored(ecs_world* world, lua_game* game) {
    (void)world;
    script_forget(&game->script);
}

static ecs_result save_state(ecs_world* world, lua_game* game, base_bytes* bytes) {
    (void)world;
    script_save(&game->script, bytes);
    return ECS_OK;
}

static ecs_result load_state(ecs_world* world, lua_game* game, base_reader* reader) {
    (void)world;
    script_load(&game->script, reader);
    return ECS_OK;
}

// ---- what players do ----

static void think(const net_player_context* view, lua_input* input, const char* function) {
    script* self = &((lua_game*)view->context)->script;
    double x = (double)input->x, y = (double)input->y;
    double pointer_x = (double)input->pointer_x, pointer_y = (double)input->pointer_y;
    if (!ecs_is_alive(view->world, view->player)) return;
    self->rng = view->rng;
    self->view = view;
    script_run(self, (double)view->tick * (double)view->dt, function, "einnnn>innnn", view->player,
               input->buttons, x, y, pointer_x, pointer_y, &input->buttons, &x, &y, &pointer_x,
               &pointer_y);
    *input = (lua_input){input->buttons, (float)x, (float)y, (float)pointer_x, (float)pointer_y};
    self->rng = NULL;
    self->view = NULL;
}

static void bot_think(const net_player_context* view, lua_input* input) {
    think(view, input, "bot");
}

static void human_input(const net_player_context* view, const net_controls* controls,
                        lua_input* input) {
    const ecs_vec2 way = net_move(controls, ACTION_LEFT, ACTION_RIGHT, ACTION_UP, ACTION_DOWN);
    for (uint32_t i = 0; i < PRESSED; i++)
        input->buttons |= (uint32_t)net_is_on(controls, i) << i |
                          (uint32_t)net_is_pressed(controls, i) << (PRESSED + i);
    if (net_is_pointer_down(controls)) input->buttons |= POINTER_DOWN;
    if (net_is_pointer_used(controls)) input->buttons |= POINTER_USED;
    if (net_is_button(controls, NET_BUTTON_RIGHT)) input->buttons |= POINTER_RIGHT;
    input->x = way.x;
    input->y = way.y;
    input->pointer_x = controls->has_pointer ? controls->pointer_x : 0;
    input->pointer_y = controls->has_pointer ? controls->pointer_y : 0;
    think(view, input, "human");
}

static ecs_entity player_join(ecs_world* world, lua_game* game, const net_game_player* player) {
    ecs_entity made = ECS_ENTITY_NONE;
    const char* record = player->record_bytes > 0 ? (const char*)player->record : "";
    script_run(&game->script, 0, "on_join", "isbdd>e", player->client, player->name, player->is_bot,
               player->has_record ? record : NULL, player->record_bytes,
               player->transfer_bytes > 0 ? (const char*)player->transfer : NULL,
               player->transfer_bytes, &made);
    const ecs_template_id of = ecs_is_alive(world, made) ? ecs_entity_template(world, made) : 0;
    if (of && !ecs_template_get(world, of)->is_replicated)
        script_report(&game->script,
                      "on_join returns an entity that no client gets: add _replicate:b=yes to its "
                      "components in the .blk",
                      NULL);
    return of ? made : ECS_ENTITY_NONE;
}

static void player_leave(ecs_world* world, lua_game* game, uint32_t client, ecs_entity entity) {
    const bool is_there = ecs_is_alive(world, entity);
    script_run(&game->script, 0, "on_leave", "ei", is_there ? entity : ECS_ENTITY_NONE, client);
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

static uint32_t predict(ecs_world* world, lua_game* game, ecs_entity player,
                        net_predicted* entities, uint32_t capacity) {
    ecs_entity shown[4] = {player};
    uint32_t count = 0;
    script_run(&game->script, 0, "predicted", "e>eeee", player, &shown[0], &shown[1], &shown[2],
               &shown[3]);
    for (uint32_t i = 0; i < BASE_COUNT(shown) && count < capacity; i++)
        if (ecs_is_alive(world, shown[i])) entities[count++] = (net_predicted){shown[i], 1.0f};
    return count;
}

// ---- what happens in a tick ----

static double enter_stage(lua_game* game, const ecs_stage* stage) {
    game->script.is_in_stage = true;
    return (double)stage->tick * (double)stage->dt;
}

ES_TAG(server | predict)
ES_ON_EVENT(lua_input)
static void input_es_event_handler(const ecs_stage* stage, ES_CONTEXT lua_game* game,
                                   const ecs_event* event) {
    const lua_input* input = event->payload;
    script_run(&game->script, enter_stage(game, stage), "on_input", "einnnn", event->target,
               input->buttons, (double)input->x, (double)input->y, (double)input->pointer_x,
               (double)input->pointer_y);
    game->script.is_in_stage = false;
}

ES_TAG(server | gameClient)
ES_ON_EVENT(ask, tell)
static void hear_es_event_handler(const ecs_stage* stage, ES_CONTEXT lua_game* game,
                                  const ecs_event* event) {
    const script_message* message = event->payload;
    const double time = enter_stage(game, stage);
    if (!game->is_server || event->type != game->tell)
        script_run(&game->script, time, game->is_server ? "on_ask" : "on_tell", "esnnnnse",
                   game->is_server ? event->target : message->entity, message->name, message->a,
                   message->b, message->c, message->d, message->text, message->entity);
    game->script.is_in_stage = false;
}

ES_TAG(server)
static void tick_es(const ecs_stage* stage, ES_CONTEXT lua_game* game) {
    script_run(&game->script, enter_stage(game, stage), "on_tick", "");
    game->script.is_in_stage = false;
}

ES_STAGE(render)
ES_TAG(render) static void draw_es(const ecs_stage* stage, ES_CONTEXT lua_game* game) {
    game->script.draw = stage->user;
    game->script.rng = &game->effects;
    script_run(&game->script, game->script.draw->time_s, "draw", "e", game->script.draw->player);
    game->script.draw = NULL;
    game->script.rng = NULL;
}
