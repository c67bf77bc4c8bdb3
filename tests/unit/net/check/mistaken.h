// SPDX-License-Identifier: MIT
/// A game of one paddle per player that makes one mistake at a time, or none: then a check says
/// nothing.
#pragma once

#include "test.h"

#include "boxed_hull.h"
#include "swarm.h" // for the directory of swarm.pb-c.h
#include "swarm.pb-c.h"

#include "net/draw.h"
#include "check/check.h"

// Names of mistakes are those of the rows in test_check.c.
static const char* the_mistake;
static uint32_t calls_outside;
static uint32_t leaves_seen, inputs_seen[8]; // by entity

static bool is(const char* name) {
    return strcmp(the_mistake, name) == 0;
}

static bool is_about(const char* begin) {
    return strncmp(the_mistake, begin, strlen(begin)) == 0;
}

typedef struct paddle_game {
    ecs_component_id pos, steer, glow;
    ecs_template_id paddle;
    ecs_event_type goal;
    uint32_t count; // of ticks, which no keyframe has
} paddle_game;

typedef struct steer_event {
    int32_t dx, dy;
} steer_event;

#define POS "\"pos:p2\"{ _replicate:b=yes; _min:r=-64; _max:r=63; _step:r=0.0625 }"
#define TRACKED "{ _track:b=yes }"
#define PADDLE(steer, glow) "paddle { " POS "\n \"steer:r\"" steer " \"glow:r\"" glow " }\n"
#define OF_CLASS(name)                                                                             \
    PADDLE(TRACKED, "{ _track:b=yes; _replicate:b=yes; _visible:t=owner }\n \"own:u32\"" TRACKED)  \
    "bird { \"at:p2\"" TRACKED "\n \"wing:r\"{ _replicate:b=yes; _visible:t=" name " } }\n"

static const char* mistaken_templates(void) {
    if (is("a float in an int") || is("an int in a float"))
        return PADDLE(TRACKED, TRACKED) "bird { \"lives:i\"" TRACKED "\n wing:r=1 }\n";
    if (is("a refused singleton"))
        return PADDLE(TRACKED, TRACKED) "sky { _singleton:b=yes\n \"wind:r\"{ _track:b=yes; "
                                        "_replicate:b=yes; value:r=0.5 } }\n";
    if (is("pos of birds")) return PADDLE(TRACKED, TRACKED) "bird { " POS "\n wing:r=1 }\n";
    if (is("unsent in a box")) return PADDLE(TRACKED, "{} \"hull:hull\"" TRACKED);
    if (is("untracked input")) return PADDLE("{}", "{}");
    if (is("a bird for a player")) return PADDLE(TRACKED, TRACKED) "bird { " POS " }\n";
    if (is("an odd creation") || is("an odd creation for a player") || is("no rows") ||
        is("late row"))
        return PADDLE(TRACKED, TRACKED) "bird { wing:r=1 }\n";
    if (is("class unknown") || is("class of other classes")) return OF_CLASS("ownr");
    if (is("class of no teams")) return OF_CLASS("team");
    if (is_about("class")) return OF_CLASS("owner");
    return PADDLE(TRACKED, TRACKED);
}

// ---- messages ----

static void steer_to_wire(const void* payload, ProtobufCMessage* message) {
    Swarm__Steer* to = (Swarm__Steer*)message;
    const steer_event* from = payload;
    to->dx = from->dx;
    if (!is("lost field")) to->dy = from->dy;
}

static int32_t clamp_steer(int32_t value) {
    return value < -5 ? -5 : value > 5 ? 5 : value;
}

static bool steer_from_wire(const ProtobufCMessage* message, void* payload) {
    const Swarm__Steer* from = (const Swarm__Steer*)message;
    steer_event* to = payload;
    const bool is_swapped = is("swapped field");
    to->dx = clamp_steer(is_swapped ? from->dy : from->dx);
    to->dy = clamp_steer(is_swapped ? from->dx : from->dy);
    return true;
}

static void number_to_wire(const void* payload, ProtobufCMessage* message) {
    ((Swarm__Ping*)message)->number = *(const uint32_t*)payload;
}

static bool number_from_wire(const ProtobufCMessage* message, void* payload) {
    *(uint32_t*)payload = ((const Swarm__Ping*)message)->number;
    return true;
}

typedef struct line_event {
    char text[16];
} line_event;

static void line_to_wire(const void* payload, ProtobufCMessage* message) {
    ((Swarm__Line*)message)->text = (char*)(uintptr_t)((const line_event*)payload)->text;
}

static bool line_from_wire(const ProtobufCMessage* message, void* payload) {
    line_event* to = payload;
    (void)base_text_copy(to->text, sizeof to->text, ((const Swarm__Line*)message)->text);
    return true;
}

static ecs_result mistaken_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field numbers[] = {{.name = "number", .kind = ECS_FIELD_U32, .count = 1}};
    static const ecs_field texts[] = {{.name = "text", .kind = ECS_FIELD_U8, .count = 16}};
    static const ecs_field steers[] = {
        {.name = "dx", .kind = ECS_FIELD_I32, .count = 1},
        {.name = "dy", .offset = 4, .kind = ECS_FIELD_I32, .count = 1},
    };
    const ecs_event_desc events[] = {
        {.name = "steer", .size = sizeof(steer_event), .fields = steers, .field_count = 2},
        {.name = "kick", .size = 4, .fields = numbers, .field_count = 1},
        {.name = "goal", .size = 4, .fields = numbers, .field_count = 1, .is_exported = true},
        {.name = "line", .size = sizeof(line_event), .fields = texts, .field_count = 1},
        {.name = "boom",
         .size = is("a large event") ? ECS_EVENT_BYTES_MAX + 4 : 4,
         .fields = numbers,
         .field_count = 1},
    };
    ecs_result registered = hull_register(world, reporter);
    if (registered != ECS_OK) return registered;
    const bool has_boom = is("unused event") || is("no event") || is("a large event");
    const uint32_t count = has_boom ? BASE_COUNT(events) : BASE_COUNT(events) - 1;
    for (uint32_t i = 0; i < count; i++) {
        ecs_event_type type;
        ecs_result result = ecs_event_register(world, &events[i], &type);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

// ---- systems ----

static void on_steer(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const steer_event* steer = event->payload;
    if (ecs_world_has_tag(stage->world, "server") && ecs_entity_index(event->target) < 8)
        inputs_seen[ecs_entity_index(event->target)]++; // entities are made in the order of joins
    float* target = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        target[i] = (float)steer->dx;
}

static void on_nothing(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {}

static float fly(float x, float by) {
    x += by;
    return x > 60.0f ? -60.0f : x < -60.0f ? 60.0f : x;
}

static void move(const ecs_stage* stage, const ecs_rows* rows) {
    const bool is_predicted = ecs_world_has_tag(stage->world, "predict");
    const paddle_game* game = stage->context;
    const float speed = is("a prediction of another speed") && is_predicted ? 0.5f
                        : is("pos of birds") && game->count > 0             ? 0.25f
                        : is("rough positions")                             ? 0.13f
                                                                            : 0.125f;
    ecs_vec2* pos = rows->columns[0];
    float* steer = rows->columns[1]; // declared as read
    const float* glow = is("an unsent value decides") ? rows->columns[2] : NULL;
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x = fly(pos[i].x, steer[i] * speed + (glow ? glow[i] : 0.0f));
        if (is("a const is written")) steer[i] *= 0.5f;
    }
}

static ecs_entity last_paddle(const ecs_world* world, const paddle_game* game) {
    ecs_entity last = ECS_ENTITY_NONE;
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at))
        if (ecs_find(world, at, game->pos)) last = at;
    return last;
}

// An event about an entity that the same tick creates and destroys.
static void say(const ecs_stage* stage, const ecs_rows* rows) {
    const paddle_game* game = stage->context;
    if (stage->tick != 50) return;
    const uint32_t number = 50;
    const ecs_entity brief = ecs_command_create(stage->world, game->paddle, NULL, 0);
    (void)ecs_event_send(stage->world, brief, game->goal, &number);
    if (is("an event of the dying")) (void)ecs_command_destroy(stage->world, brief);
}

static void end_newest(ecs_world* world) {
    ecs_entity newest = ECS_ENTITY_NONE, entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity))
        newest = entity;
    (void)ecs_command_destroy(world, newest);
}

static net_game_start line_start;

// The last system of a tick on the server.
static void rule(const ecs_stage* stage, const ecs_rows* rows) {
    paddle_game* game = stage->context;
    const ecs_entity last = last_paddle(stage->world, game);
    if (last == ECS_ENTITY_NONE) return;
    ecs_vec2* pos = ecs_get_mut(stage->world, last, game->pos);
    if (is("out of range") && stage->tick == 50) pos->y = 400.0f;
    if (is("not a number") && stage->tick == 50) pos->y -= pos->y / 0.0f * 0.0f;
    if (is("infinite") && stage->tick == 50) pos->y = 1.0f / 0.0f;
    if (is("a context decides")) pos->y = (float)(++game->count / 50u);
    if (is("a number outside decides")) pos->y = (float)(++calls_outside % 50u);
    const float warm = 0.5f;
    if (is("a line that never runs") && line_start.line && stage->tick == 130) {
        line_start.line(line_start.line_context, "rules.lua", 3, true);
        line_start.line = NULL; // before the log runs again
    }
    if (is("a float in an int") && stage->tick == 50)
        (void)!ecs_command_create(
            stage->world, ecs_template_find(stage->world, "bird"),
            ECS_INITS({ecs_component_find(stage->world, "lives"), &(float){30}}));
    if (is("an int in a float") && stage->tick == 50)
        (void)!ecs_command_create(
            stage->world, ecs_template_find(stage->world, "bird"),
            ECS_INITS({ecs_component_find(stage->world, "wing"), &(int32_t){30}}));
    for (uint32_t i = 0; is("an odd creation") && i < 1 + stage->tick % 2; i++)
        (void)!ecs_command_create(stage->world, ecs_template_find(stage->world, "bird"),
                                  ECS_INITS({game->glow, &warm}));
    if (is("a player lost for good") && stage->tick == 41)
        (void)ecs_command_destroy(stage->world, last);
    if (is("late row") && stage->tick == 290)
        (void)!ecs_command_create(stage->world, ecs_template_find(stage->world, "bird"), NULL, 0);
    if (is("slip late") && stage->tick == NET_CHECK_TICKS_DEFAULT)
        *(float*)(uintptr_t)ecs_get(stage->world, last, game->glow) += 0.5f;
    if ((is("slip") && stage->tick >= 30) || (is("slip once") && stage->tick == 30))
        *(float*)(uintptr_t)ecs_get(stage->world, last, game->glow) += 0.5f;
    if (is("unsent by handle")) *(float*)ecs_get_mut(stage->world, last, game->glow) = 0.5f;
    const ecs_component_id box = ecs_component_find(stage->world, "hull");
    if (is("unsent in a box")) (*(hull**)ecs_get_mut(stage->world, last, box))->shots = 7;
    const uint32_t number = (uint32_t)stage->tick;
    if (is("more than a tick takes") && stage->tick == 50) {
        const ecs_event_type kick = ecs_event_find(stage->world, "kick");
        while (ecs_event_broadcast(stage->world, kick, &number))
            ;
        while (ecs_command_destroy(stage->world, ecs_entity_make(77, 1)))
            ;
    }
    for (uint32_t i = 0; is("more than a client takes") && i < 200; i++)
        (void)ecs_event_send(stage->world, last, game->goal, &number);
    if (is("an event before the death") && stage->tick == 50) end_newest(stage->world);
    if (stage->tick % 40 == 0) (void)ecs_event_send(stage->world, last, game->goal, &number);
}

static void heat(const ecs_stage* stage, const ecs_rows* rows) {
    float* glow = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        glow[i] += 0.25f;
}

// The wind is the match's own row.
static void blow(const ecs_stage* stage, const ecs_rows* rows) {
    const paddle_game* game = stage->context;
    const float* wind = rows->columns[0];
    ecs_entity at = ECS_ENTITY_NONE;
    while ((at = ecs_entity_next(stage->world, at)) != ECS_ENTITY_NONE) {
        if (!ecs_find(stage->world, at, game->pos)) continue;
        ecs_vec2* pos = ecs_get_mut(stage->world, at, game->pos);
        pos->x = fly(pos->x, wind[0]);
    }
}

// Without its stage: nothing is drawn, and each function of the picture can be called.
static void draw_astray(const net_draw* to) {
    const ecs_color white = {255, 255, 255, 255};
    const float points[6] = {0};
    to->rect(to->context, 0, 0, 1, 1, white);
    to->circle(to->context, 0, 0, 1, white);
    to->line(to->context, 0, 0, 1, 1, 1, white);
    to->triangles(to->context, points, &white, 1);
    to->text(to->context, 0, 0, to->text_width(to->context, 1, "a"), white, "a");
    net_draw_sprite(to, (net_sprite){.image = "none.png"});
    assert_null(to->player_name(to->context, 1));
    assert_true(to->size_bytes == sizeof *to && to->pixels_per_unit > 0.0f);
}

// Reads; a picture that makes its mistake writes.
static void draw(const ecs_stage* stage, const ecs_rows* rows) {
    const paddle_game* game = stage->context;
    if (is("a picture in act")) draw_astray(stage->user);
    if (is("a sprite without a file"))
        net_draw_sprite(stage->user, (net_sprite){.image = "sihp.png"});
    if (is("a sheet of odd frames"))
        net_draw_sprite(stage->user, (net_sprite){.image = "sheet.png", .columns = 4, .rows = 2});
    const ecs_entity entity = ecs_entity_next(stage->world, ECS_ENTITY_NONE);
    if (!is("a picture writes") || !ecs_is_alive(stage->world, entity)) return;
    ((ecs_vec2*)ecs_get_mut(stage->world, entity, game->pos))->y = 7.0f;
}

static void drift(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        pos[i].x = fly(pos[i].x, 0.5f);
}

static void tidy_up(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        pos[i].y = 9.0f;
}

static ecs_system_desc runs(const char* name, const char* stage, ecs_system_fn run,
                            const ecs_term* terms, uint32_t term_count) {
    return (ecs_system_desc){name, stage, .run = run, .terms = terms, .term_count = term_count};
}

static ecs_system_desc hears(const char* name, const char* const* events, uint32_t event_count) {
    return (ecs_system_desc){name, .events = events, .event_count = event_count,
                             .on_event = on_nothing};
}

static ecs_system_desc drawing(void) {
    static const ecs_term glow[] = {{"glow", "r", ECS_READ}, {"glwo", "r", ECS_OPTIONAL_READ}};
    static const ecs_term excluding[] = {{"glow", "r", ECS_READ}, {"glwo", "r", ECS_REQUIRE_NOT}};
    static const ecs_term box = {"hull", "hull", ECS_READ}, odd = {"poss", "p2", ECS_READ};
    const bool has_two = is("unknown optional") || is("unknown excluded");
    const ecs_term* terms = is("unsent in a box")    ? &box
                            : is("unknown term")     ? &odd
                            : is("unknown excluded") ? excluding
                                                     : glow;
    return runs("draw_es", is("a picture in act") ? "act" : "render", draw, terms, 1 + has_two);
}

static ecs_system_desc steering(void) {
    static const char* const steers[] = {"steer"};
    static const ecs_term steer[] = {{"steer", "r", ECS_WRITE}};
    ecs_system_desc made = hears("steer_es", steers, 1);
    made.on_event = on_steer;
    made.terms = steer;
    made.term_count = 1;
    return made;
}

static ecs_system_desc moving(void) {
    static const char* const after[] = {"move_se"};
    static const ecs_term terms[] = {
        {"pos", "p2", ECS_WRITE}, {"steer", "r", ECS_READ}, {"glow", "r", ECS_READ}};
    const bool has_glow = is("an unsent value decides");
    ecs_system_desc made = runs("move_es", "act", move, terms, has_glow ? 3 : 2);
    made.after = after;
    made.after_count = is("unknown order");
    return made;
}

static ecs_result mistaken_systems(ecs_world* world, void** context,
                                   const base_reporter* reporter) {
    static const char* const kicks[] = {"line", "kick"};
    static const char* const goals[] = {"goal"};
    static const char* const strange[] = {"gaol"};
    static const char* const booms[] = {"boom"};
    static const ecs_term glow[] = {{"glow", "r", ECS_WRITE}}, wing[] = {{"wing", "r", ECS_WRITE}};
    static const ecs_term pos[] = {{"pos", "p2", ECS_WRITE}}, wind[] = {{"wind", "r", ECS_READ}},
                          bird[] = {{"pos", "p2", ECS_WRITE}, {"wing", "r", ECS_READ}};
    paddle_game* game = ecs_world_context(world, sizeof *game);
    *context = game;
    ecs_need need = {.world = world, .reporter = reporter, .place = "paddle"};
    game->pos = ecs_component_need(&need, "pos");
    game->steer = ecs_component_need(&need, "steer");
    game->glow = ecs_component_need(&need, is("unknown need") ? "glwo" : "glow");
    game->paddle = ecs_template_need(&need, "paddle");
    game->goal = ecs_event_need(&need, "goal");
    ecs_result result = ecs_need_result(&need);
    const bool is_late = is("no rows") || is("late row");
    const struct {
        bool is_there;
        const char* tag;
        ecs_system_desc system;
    } all[] = {
        {true,
         is("no system takes inputs")       ? "predict"
         : is("no prediction takes inputs") ? "server"
                                            : "server|predict",
         steering()},
        {true, "server|predict", moving()},
        {true, is("kicks on clients") ? "gameClient" : "server",
         hears("kick_es", kicks, is("no system takes kicks") ? 1 : 2)},
        {!is("no client takes goals"), is("goals on the server") ? "server" : "gameClient",
         hears("goal_es", is("unknown event") ? strange : goals, 1)},
        {is("unsent by terms") || is("an unsent value decides"), "server",
         runs("heat_es", "act", heat, glow, 1)},
        {is("a refused singleton"), "server|predict", runs("blow_es", "act", blow, wind, 1)},
        {is("pos of birds"), "server", runs("fly_es", "act", drift, bird, 2)},
        {is("an unpredicted system"), "server", runs("drift_es", "act", drift, pos, 1)},
        {is("a client writes"), "gameClient", runs("tidy_es", "act", tidy_up, pos, 1)},
        {is_about("an event"), "server", runs("say_es", "act", say, NULL, 0)},
        {true, "server", runs("rule_es", "act", rule, NULL, 0)},
        {is("unknown tag"), "sever", runs("lost_es", "act", draw, NULL, 0)},
        {is("unknown stage"), "server", runs("late_es", "act2", draw, NULL, 0)},
        {is("no event"), "server", hears("boom_es", booms, 1)},
        {is_late, "server", runs("fly_es", "act", heat, wing, 1)},
        {true, "render", drawing()},
    };
    for (size_t i = 0; i < BASE_COUNT(all) && result == ECS_OK; i++) {
        ecs_system_desc system = all[i].system;
        system.tags = &all[i].tag;
        system.tag_count = 1;
        system.context = game;
        if (all[i].is_there) result = ecs_system_register(world, &system);
    }
    return result;
}

// ---- the module ----

static void mistaken_start(ecs_world* world, void* context, const net_game_start* start) {
    paddle_game* game = context;
    if (is("a refused singleton"))
        (void)!ecs_try_create(world, ecs_template_find(world, "sky"), NULL, 0);
    if (is("pos of birds")) {
        game->count = 1; // and no mirror_start does so
        (void)!ecs_try_create(world, ecs_template_find(world, "bird"), NULL, 0);
    }
    if (is("a line that never runs") && start->line) {
        for (uint32_t line = 3; line <= 9; line += 2)
            start->line(start->line_context, "rules.lua", line, line == 9);
        line_start = *start;
    }
}

static ecs_entity mistaken_join(ecs_world* world, void* context, const net_game_player* player) {
    paddle_game* game = context;
    ecs_entity made = ECS_ENTITY_NONE;
    const ecs_template_id bird = ecs_template_find(world, "bird");
    (void)!ecs_create(world, is("a bird for a player") ? bird : game->paddle, NULL, 0, &made);
    if (is("class of the wrong owner"))
        *(uint32_t*)ecs_get_mut(world, made, ecs_component_find(world, "own")) = player->client + 1;
    const float warm = 0.5f;
    if (is("an odd creation for a player"))
        return ecs_try_create(world, bird, ECS_INITS({game->glow, &warm}));
    if (is("no player")) return ECS_ENTITY_NONE;
    return made;
}

static void mistaken_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    leaves_seen += ecs_world_tick(world) == 60;
    (void)!ecs_destroy(world, entity);
}

static void mistaken_think(const net_player_context* player, void* input) {
    steer_event* steer = input;
    steer->dx = (int32_t)base_rng_range(player->rng, -5, 5);
    const paddle_game* game = player->context;
    const uint32_t number = 3;
    if (player->input_number == 30) (void)player->send(player->sender, 2, &number);
    if (is("a bot writes") && ecs_is_alive(player->world, player->player))
        ((ecs_vec2*)ecs_get_mut(player->world, player->player, game->pos))->y += 1.0f;
}

static void mistaken_text(const net_player_context* player, const char* text) {
    line_event line = {.text = ""};
    if (is("half text"))
        memcpy(line.text, text, sizeof line.text - 1);
    else
        (void)base_text_copy(line.text, sizeof line.text, text);
    (void)player->send(player->sender, 3, &line);
}

static uint32_t mistaken_predict(ecs_world* world, void* context, ecs_entity player,
                                 net_predicted* entities, uint32_t capacity) {
    if (capacity == 0 || !ecs_is_alive(world, player)) return 0;
    entities[0] = (net_predicted){player, 1};
    return 1;
}

static bool mistaken_area(ecs_world* world, void* context, ecs_entity player, ecs_entity entity) {
    return false;
}

static net_relevance mistaken_relevance(const net_interest_question* question) {
    return NET_RELEVANT_ALWAYS;
}

static uint32_t mistaken_classes(const net_interest_question* question) {
    return 0;
}

static const net_interest_rules* mistaken_interest(void) {
    static net_interest_rules rules;
    rules = (net_interest_rules){.size_bytes = sizeof rules};
    if (is("class of the wrong owner")) rules.owner = "own";
    if (is("class of other classes")) rules.classes = mistaken_classes;
    if (is("class of a template without owner")) rules.owner = "own";
    if (is("class always too far") || is("class without a position")) {
        rules.position = is("class without a position") ? "at" : "pos";
        rules.radius = 1.0f;
        rules.classes = mistaken_classes;
    }
    if (is("class always too far")) rules.relevance = mistaken_relevance;
    return is_about("class") && !is("class unknown") ? &rules : NULL;
}

static const net_game_module* mistaken_module(void) {
    static const net_message messages[] = {
        {"Steer", &swarm__steer__descriptor, "steer", NET_MESSAGE_INPUT, false, steer_to_wire,
         steer_from_wire, false, NULL},
        {"Kick", &swarm__ping__descriptor, "kick", NET_MESSAGE_TO_SERVER, true, number_to_wire,
         number_from_wire, false, NULL},
        {"Line", &swarm__line__descriptor, "line", NET_MESSAGE_TO_SERVER, true, line_to_wire,
         line_from_wire, false, NULL},
        {"Goal", &swarm__ping__descriptor, "goal", NET_MESSAGE_TO_CLIENTS, true, number_to_wire,
         number_from_wire, false, NULL},
    };
    static const net_action actions[] = {{"hop", "Space,a", "hop", NULL},
                                         {"left", "Left,A", "go left", "A"},
                                         {"duck", "", "duck", "B,a"}};
    static const net_action odd[] = {{"hop", "Spcae,F12,Keypad 5,a", "hop", "DPLfet,LeftX+"}};
    static const net_sound sounds[] = {{"goal", "goal.wav", 1.0f, 0.0f},
                                       {"gaol", "goal.wav", 1.0f, 0.0f}};
    static net_game_module module = {
        .contract_version = NET_GAME_CONTRACT_VERSION,
        .size_bytes = sizeof(net_game_module),
        .core_version = ECS_CORE_VERSION,
        .name = "paddle",
        .title = "Paddles",
        .view_width = 128,
        .view_height = 128,
        .messages = messages,
        .message_count = BASE_COUNT(messages),
        .message_bytes = sizeof(net_message),
        .register_types = mistaken_types,
        .register_systems = mistaken_systems,
        .start = mistaken_start,
        .player_join = mistaken_join,
        .player_leave = mistaken_leave,
        .bot_think = mistaken_think,
        .predict = mistaken_predict,
        .human_text = mistaken_text,
        .actions = actions,
        .action_bytes = sizeof(net_action),
    };
    module.sounds = is("sound event") ? sounds + 1 : sounds;
    module.sound_count = is("no sound") || is("sound event");
    module.sound_bytes = sizeof(net_sound);
    module.music = is("no music") ? "song.ogg" : NULL;
    module.interest = mistaken_interest();
    module.predict_area = is("a refused singleton") ? mistaken_area : NULL;
    module.has_area_of_singletons = is("a refused singleton");
    module.action_count = 1;
    if (is("one key") || is("one button")) module.action_count = 2;
    module.actions = is("one button") ? actions + 1 : is("key name") ? odd : actions;
    return &module;
}
