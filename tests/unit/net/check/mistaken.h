// SPDX-License-Identifier: MIT
/// A game of one paddle per player that makes one mistake at a time, or none: then a check says
/// nothing.
#pragma once

#include "test.h"

#include "boxed_hull.h"
#include "swarm.h" // for the directory of swarm.pb-c.h
#include "swarm.pb-c.h"

#include "base/macros.h"
#include "base/text.h"
#include "net/draw.h"
#include "check/check.h"

#include <string.h>

typedef enum mistake {
    MISTAKE_NONE,
    MISTAKE_ONE_KEY,
    MISTAKE_KEY_NAME,        // no key is called so
    MISTAKE_ONE_BUTTON,      // two actions have it
    MISTAKE_NO_SOUND,        // its file is missing
    MISTAKE_NO_MUSIC,        // the same
    MISTAKE_SOUND_EVENT,     // of an event that there is not
    MISTAKE_STRAY,           // a system draws in stage act
    MISTAKE_UNSENT,          // the server writes by its terms what a client reads
    MISTAKE_UNSENT_HANDLE,   // the same by handle, so only the match shows it
    MISTAKE_UNSENT_BOX,      // the same of a value in a box
    MISTAKE_NO_INPUT,        // no system handles the input event
    MISTAKE_NO_PREDICT,      // none handles it in the prediction
    MISTAKE_NO_KICK,         // none handles an event of clients
    MISTAKE_UNUSED_EVENT,    // an event that nothing handles or carries
    MISTAKE_NO_GOAL,         // no client handles an event of the server
    MISTAKE_UNTRACKED_INPUT, // inputs go into a component that is not tracked
    MISTAKE_LOST_FIELD,      // to_wire forgets a field
    MISTAKE_SWAPPED_FIELD,   // from_wire writes it into another one
    MISTAKE_RANGE,
    MISTAKE_NAN,
    MISTAKE_INFINITE,
    MISTAKE_PREDICTION,       // the prediction moves at another speed
    MISTAKE_ROUGH,            // and it is between the steps that are sent
    MISTAKE_UNPREDICTED,      // or moves by a system that is on the server alone
    MISTAKE_CONST,            // a system writes what it declares as read
    MISTAKE_BOT,              // a bot writes to its mirror
    MISTAKE_PICTURE,          // drawing writes to the view
    MISTAKE_SPRITE,           // a sprite of a file that is not there, in each frame
    MISTAKE_SHEET,            // a sheet whose columns do not divide it
    MISTAKE_CLIENT,           // a system of clients writes what the server sends
    MISTAKE_OUTSIDE,          // a number outside of the world decides
    MISTAKE_CONTEXT,          // a number in the context decides
    MISTAKE_UNKNOWN_TERM,     // a system asks for a component that does not exist
    MISTAKE_UNKNOWN_OPTIONAL, // or may have one
    MISTAKE_UNKNOWN_EXCLUDED, // or must not have one
    MISTAKE_UNKNOWN_EVENT,
    MISTAKE_UNKNOWN_ORDER,
    MISTAKE_UNKNOWN_NEED,
    MISTAKE_UNKNOWN_TAG,
    MISTAKE_UNKNOWN_STAGE,
    MISTAKE_NO_ROWS,    // a system whose rows never come
    MISTAKE_JOIN,       // players get an entity that the input's system does not match
    MISTAKE_NO_PLAYER,  // or none at all
    MISTAKE_JOIN_INITS, // or one that cannot be made of what it is given
    MISTAKE_INITS,      // a creation gives what the template lacks
    MISTAKE_REFUSED,    // more events and commands than a tick takes
    MISTAKE_FLOOD,      // more events than a client can take
    MISTAKE_GONE,       // an event about what dies before it is delivered
    MISTAKE_GONE_AFTER, // and after it
    MISTAKE_RESPAWN,    // and one loses it for good
    MISTAKE_SLIP,       // a system writes through a pointer that reads
    MISTAKE_SLIP_ONCE,  // and does it in one tick
    MISTAKE_SLIP_LATE,  // the last one that is played
    MISTAKE_HALF_TEXT,  // a typed line is cut inside a character
    MISTAKE_NO_EVENT,   // or a handler whose event never comes
    MISTAKE_LATE_ROW,   // or come after the ticks that are played at least
    MISTAKE_CLASS,      // a component is visible to a class that the game does not give
    MISTAKE_CLASS_ODD,  // or to another one than it gives
    MISTAKE_OWNER,      // or to owners, and there are none
    MISTAKE_OWNERLESS,  // or none of this template
    MISTAKE_TEAM,       // or to teams, and there are none
    MISTAKE_ALWAYS,     // "always" is said of what is too far to be asked about
    MISTAKE_BLIND,      // players have no position
    MISTAKE_COUNT
} mistake;

static mistake the_mistake;
static uint32_t calls_outside; // MISTAKE_OUTSIDE

static bool is(mistake which) {
    return the_mistake == which;
}

static bool is_one_of(mistake first, mistake last) {
    return the_mistake >= first && the_mistake <= last;
}

typedef struct paddle_game {
    ecs_component_id pos, steer, glow;
    ecs_template_id paddle;
    ecs_event_type goal;
    uint32_t count; // MISTAKE_CONTEXT
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
    if (is(MISTAKE_UNSENT_BOX)) return PADDLE(TRACKED, "{} \"hull:hull\"" TRACKED);
    if (is(MISTAKE_UNTRACKED_INPUT)) return PADDLE("{}", "{}");
    if (is(MISTAKE_JOIN)) return PADDLE(TRACKED, TRACKED) "bird { " POS " }\n";
    if (is(MISTAKE_INITS) || is(MISTAKE_JOIN_INITS) || is(MISTAKE_NO_ROWS) || is(MISTAKE_LATE_ROW))
        return PADDLE(TRACKED, TRACKED) "bird { wing:r=1 }\n";
    if (is_one_of(MISTAKE_CLASS, MISTAKE_CLASS_ODD)) return OF_CLASS("ownr");
    if (is(MISTAKE_TEAM)) return OF_CLASS("team");
    if (is_one_of(MISTAKE_OWNER, MISTAKE_BLIND)) return OF_CLASS("owner");
    return PADDLE(TRACKED, TRACKED);
}

// ---- messages ----

static void steer_to_wire(const void* payload, ProtobufCMessage* message) {
    Swarm__Steer* to = (Swarm__Steer*)message;
    const steer_event* from = payload;
    to->dx = from->dx;
    if (!is(MISTAKE_LOST_FIELD)) to->dy = from->dy;
}

static int32_t clamp_steer(int32_t value) {
    return value < -5 ? -5 : value > 5 ? 5 : value;
}

static bool steer_from_wire(const ProtobufCMessage* message, void* payload) {
    const Swarm__Steer* from = (const Swarm__Steer*)message;
    steer_event* to = payload;
    const bool is_swapped = is(MISTAKE_SWAPPED_FIELD);
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
        {.name = "boom", .size = 4, .fields = numbers, .field_count = 1},
    };
    if (hull_register(world, reporter) != ECS_OK) return ECS_ERR_MEMORY;
    const bool has_boom = is(MISTAKE_UNUSED_EVENT) || is(MISTAKE_NO_EVENT);
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
    (void)stage;
    const steer_event* steer = event->payload;
    float* target = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        target[i] = (float)steer->dx;
}

static void on_nothing(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)stage, (void)event, (void)rows;
}

static float fly(float x, float by) {
    x += by;
    return x > 60.0f ? -60.0f : x < -60.0f ? 60.0f : x;
}

static void move(const ecs_stage* stage, const ecs_rows* rows) {
    const bool is_predicted = ecs_world_has_tag(stage->world, "predict");
    const float speed = is(MISTAKE_PREDICTION) && is_predicted ? 0.5f
                        : is(MISTAKE_ROUGH)                    ? 0.13f
                                                               : 0.125f;
    ecs_vec2* pos = rows->columns[0];
    float* steer = rows->columns[1]; // declared as read
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x = fly(pos[i].x, steer[i] * speed);
        if (is(MISTAKE_CONST)) steer[i] *= 0.5f;
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
    (void)rows;
    if (stage->tick != 50) return;
    const uint32_t number = 50;
    const ecs_entity brief = ecs_command_create(stage->world, game->paddle, NULL, 0);
    (void)ecs_event_send(stage->world, brief, game->goal, &number);
    if (is(MISTAKE_GONE)) (void)ecs_command_destroy(stage->world, brief);
}

static void end_newest(ecs_world* world) {
    ecs_entity newest = ECS_ENTITY_NONE, entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity))
        newest = entity;
    (void)ecs_command_destroy(world, newest);
}

// The last system of a tick on the server.
static void rule(const ecs_stage* stage, const ecs_rows* rows) {
    paddle_game* game = stage->context;
    (void)rows;
    const ecs_entity last = last_paddle(stage->world, game);
    if (last == ECS_ENTITY_NONE) return;
    ecs_vec2* pos = ecs_get_mut(stage->world, last, game->pos);
    if (is(MISTAKE_RANGE) && stage->tick == 50) pos->y = 400.0f;
    if (is(MISTAKE_NAN) && stage->tick == 50) pos->y -= pos->y / 0.0f * 0.0f;
    if (is(MISTAKE_INFINITE) && stage->tick == 50) pos->y = 1.0f / 0.0f;
    if (is(MISTAKE_CONTEXT)) pos->y = (float)(++game->count / 50u);
    if (is(MISTAKE_OUTSIDE)) pos->y = (float)(++calls_outside % 50u);
    const float warm = 0.5f;
    for (uint32_t i = 0; is(MISTAKE_INITS) && i < 1 + stage->tick % 2; i++)
        (void)!ecs_command_create(stage->world, ecs_template_find(stage->world, "bird"),
                                  ECS_INITS({game->glow, &warm}));
    if (is(MISTAKE_RESPAWN) && stage->tick == 41) (void)ecs_command_destroy(stage->world, last);
    if (is(MISTAKE_LATE_ROW) && stage->tick == 290)
        (void)!ecs_command_create(stage->world, ecs_template_find(stage->world, "bird"), NULL, 0);
    if (is(MISTAKE_SLIP_LATE) && stage->tick == NET_CHECK_TICKS_DEFAULT)
        *(float*)(uintptr_t)ecs_get(stage->world, last, game->glow) += 0.5f;
    if ((is(MISTAKE_SLIP) && stage->tick >= 30) || (is(MISTAKE_SLIP_ONCE) && stage->tick == 30))
        *(float*)(uintptr_t)ecs_get(stage->world, last, game->glow) += 0.5f;
    if (is(MISTAKE_UNSENT_HANDLE)) *(float*)ecs_get_mut(stage->world, last, game->glow) = 0.5f;
    const ecs_component_id box = ecs_component_find(stage->world, "hull");
    if (is(MISTAKE_UNSENT_BOX)) (*(hull**)ecs_get_mut(stage->world, last, box))->shots = 7;
    const uint32_t number = (uint32_t)stage->tick;
    if (is(MISTAKE_REFUSED) && stage->tick == 50) {
        const ecs_event_type kick = ecs_event_find(stage->world, "kick");
        while (ecs_event_broadcast(stage->world, kick, &number))
            ;
        while (ecs_command_destroy(stage->world, ecs_entity_make(77, 1)))
            ;
    }
    for (uint32_t i = 0; is(MISTAKE_FLOOD) && i < 200; i++)
        (void)ecs_event_send(stage->world, last, game->goal, &number);
    if (is(MISTAKE_GONE_AFTER) && stage->tick == 50) end_newest(stage->world);
    if (stage->tick % 40 == 0) (void)ecs_event_send(stage->world, last, game->goal, &number);
}

static void heat(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    float* glow = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        glow[i] += 0.25f;
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
    (void)rows;
    const paddle_game* game = stage->context;
    if (is(MISTAKE_STRAY)) draw_astray(stage->user);
    if (is(MISTAKE_SPRITE)) net_draw_sprite(stage->user, (net_sprite){.image = "sihp.png"});
    if (is(MISTAKE_SHEET))
        net_draw_sprite(stage->user, (net_sprite){.image = "sheet.png", .columns = 4, .rows = 2});
    const ecs_entity entity = ecs_entity_next(stage->world, ECS_ENTITY_NONE);
    if (!is(MISTAKE_PICTURE) || !ecs_is_alive(stage->world, entity)) return;
    ((ecs_vec2*)ecs_get_mut(stage->world, entity, game->pos))->y = 7.0f;
}

static void drift(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    ecs_vec2* pos = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        pos[i].x = fly(pos[i].x, 0.5f);
}

static void tidy_up(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
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
    const bool has_two = is(MISTAKE_UNKNOWN_OPTIONAL) || is(MISTAKE_UNKNOWN_EXCLUDED);
    const ecs_term* terms = is(MISTAKE_UNSENT_BOX)         ? &box
                            : is(MISTAKE_UNKNOWN_TERM)     ? &odd
                            : is(MISTAKE_UNKNOWN_EXCLUDED) ? excluding
                                                           : glow;
    return runs("draw_es", is(MISTAKE_STRAY) ? "act" : "render", draw, terms, 1 + has_two);
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
    static const ecs_term terms[] = {{"pos", "p2", ECS_WRITE}, {"steer", "r", ECS_READ}};
    ecs_system_desc made = runs("move_es", "act", move, terms, 2);
    made.after = after;
    made.after_count = is(MISTAKE_UNKNOWN_ORDER);
    return made;
}

static ecs_result mistaken_systems(ecs_world* world, void** context,
                                   const base_reporter* reporter) {
    static const char* const kicks[] = {"line", "kick"};
    static const char* const goals[] = {"goal"};
    static const char* const strange[] = {"gaol"};
    static const char* const booms[] = {"boom"};
    static const ecs_term glow[] = {{"glow", "r", ECS_WRITE}}, wing[] = {{"wing", "r", ECS_WRITE}};
    static const ecs_term pos[] = {{"pos", "p2", ECS_WRITE}};
    paddle_game* game = ecs_world_context(world, sizeof *game);
    if (!game) return ECS_ERR_MEMORY;
    *context = game;
    ecs_need need = {.world = world, .reporter = reporter, .place = "paddle"};
    game->pos = ecs_component_need(&need, "pos");
    game->steer = ecs_component_need(&need, "steer");
    game->glow = ecs_component_need(&need, is(MISTAKE_UNKNOWN_NEED) ? "glwo" : "glow");
    game->paddle = ecs_template_need(&need, "paddle");
    game->goal = ecs_event_need(&need, "goal");
    ecs_result result = ecs_need_result(&need);
    const bool is_late = is(MISTAKE_NO_ROWS) || is(MISTAKE_LATE_ROW);
    const struct {
        bool is_there;
        const char* tag;
        ecs_system_desc system;
    } all[] = {
        {true,
         is(MISTAKE_NO_INPUT)     ? "predict"
         : is(MISTAKE_NO_PREDICT) ? "server"
                                  : "server|predict",
         steering()},
        {true, "server|predict", moving()},
        {true, "server", hears("kick_es", kicks, is(MISTAKE_NO_KICK) ? 1 : 2)},
        {!is(MISTAKE_NO_GOAL), "gameClient",
         hears("goal_es", is(MISTAKE_UNKNOWN_EVENT) ? strange : goals, 1)},
        {is(MISTAKE_UNSENT), "server", runs("heat_es", "act", heat, glow, 1)},
        {is(MISTAKE_UNPREDICTED), "server", runs("drift_es", "act", drift, pos, 1)},
        {is(MISTAKE_CLIENT), "gameClient", runs("tidy_es", "act", tidy_up, pos, 1)},
        {is_one_of(MISTAKE_GONE, MISTAKE_GONE_AFTER), "server",
         runs("say_es", "act", say, NULL, 0)},
        {true, "server", runs("rule_es", "act", rule, NULL, 0)},
        {is(MISTAKE_UNKNOWN_TAG), "sever", runs("lost_es", "act", draw, NULL, 0)},
        {is(MISTAKE_UNKNOWN_STAGE), "server", runs("late_es", "act2", draw, NULL, 0)},
        {is(MISTAKE_NO_EVENT), "server", hears("boom_es", booms, 1)},
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
    (void)world, (void)context, (void)start;
}

static ecs_entity mistaken_join(ecs_world* world, void* context, const net_game_player* player) {
    paddle_game* game = context;
    (void)player;
    ecs_entity made = ECS_ENTITY_NONE;
    const ecs_template_id bird = ecs_template_find(world, "bird");
    (void)!ecs_create(world, is(MISTAKE_JOIN) ? bird : game->paddle, NULL, 0, &made);
    const float warm = 0.5f;
    if (is(MISTAKE_JOIN_INITS)) return ecs_try_create(world, bird, ECS_INITS({game->glow, &warm}));
    if (is(MISTAKE_NO_PLAYER)) return ECS_ENTITY_NONE;
    return made;
}

static void mistaken_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    (void)context, (void)client;
    (void)!ecs_destroy(world, entity);
}

static void mistaken_think(const net_player_context* player, void* input) {
    steer_event* steer = input;
    steer->dx = (int32_t)base_rng_range(player->rng, -5, 5);
    const paddle_game* game = player->context;
    const uint32_t number = 3;
    if (player->input_number == 30) (void)player->send(player->sender, 2, &number);
    if (is(MISTAKE_BOT) && ecs_is_alive(player->world, player->player))
        ((ecs_vec2*)ecs_get_mut(player->world, player->player, game->pos))->y += 1.0f;
}

static void mistaken_text(const net_player_context* player, const char* text) {
    line_event line = {.text = ""};
    if (is(MISTAKE_HALF_TEXT))
        memcpy(line.text, text, sizeof line.text - 1);
    else
        (void)base_text_copy(line.text, sizeof line.text, text);
    (void)player->send(player->sender, 3, &line);
}

static uint32_t mistaken_predict(ecs_world* world, void* context, ecs_entity player,
                                 net_predicted* entities, uint32_t capacity) {
    (void)context;
    if (capacity == 0 || !ecs_is_alive(world, player)) return 0;
    entities[0] = (net_predicted){player, 1};
    return 1;
}

static net_relevance mistaken_relevance(const net_interest_question* question) {
    (void)question;
    return NET_RELEVANT_ALWAYS;
}

static uint32_t mistaken_classes(const net_interest_question* question) {
    (void)question;
    return 0;
}

static const net_interest_rules* mistaken_interest(void) {
    static net_interest_rules rules;
    rules = (net_interest_rules){.size_bytes = sizeof rules};
    if (is(MISTAKE_CLASS_ODD)) rules.classes = mistaken_classes;
    if (is(MISTAKE_OWNERLESS)) rules.owner = "own";
    if (is(MISTAKE_ALWAYS) || is(MISTAKE_BLIND)) {
        rules.position = is(MISTAKE_BLIND) ? "at" : "pos";
        rules.radius = 1.0f;
        rules.classes = mistaken_classes;
    }
    if (is(MISTAKE_ALWAYS)) rules.relevance = mistaken_relevance;
    return the_mistake > MISTAKE_CLASS && the_mistake <= MISTAKE_BLIND ? &rules : NULL;
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
    module.sounds = is(MISTAKE_SOUND_EVENT) ? sounds + 1 : sounds;
    module.sound_count = is(MISTAKE_NO_SOUND) || is(MISTAKE_SOUND_EVENT);
    module.sound_bytes = sizeof(net_sound);
    module.music = is(MISTAKE_NO_MUSIC) ? "song.ogg" : NULL;
    module.interest = mistaken_interest();
    module.action_count = 1;
    if (is(MISTAKE_ONE_KEY) || is(MISTAKE_ONE_BUTTON)) module.action_count = 2;
    module.actions = is(MISTAKE_ONE_BUTTON) ? actions + 1 : is(MISTAKE_KEY_NAME) ? odd : actions;
    return &module;
}
