// SPDX-License-Identifier: MIT
// The picture of the fighters: soldiers, players, ghosts, tanks with their turrets; then, over all
// of them, names and health.
//
// A client knows where a fighter goes and which shots are its own, not where it looks. So a body
// looks along its last shot for a moment, else along its way, and turns there step by step. Health
// is exact where the client has it, else it has three steps: a client never gets the exact value of
// another team. It is shown for a while after a hit, and as long as a fighter is badly hurt.

#include "arena.h"
#include "view_body.es.h"

#define NAME_SCALE 4.0f ///< names and limbs are shown from this scale on
#define TURN_RATE 9.0f  ///< radians per second
#define AIM_S 0.7f
#define FLASH_S 0.07f
#define FLASH_REACH 4.5f ///< a shot this near to its shooter has just left
#define STRIDE 0.55f     ///< radians of a step in a tick

static const ecs_color white = {255, 255, 255, 255};
static const ecs_color steel = {34, 38, 50, 255};
static const ecs_color shadow = {0, 0, 0, 95};

arena_pose* arena_pose_of(arena_view* view, ecs_entity entity, float heading) {
    arena_pose* pose = &view->poses[ecs_entity_index(entity) % ARENA_POSES];
    if (pose->entity != entity) *pose = (arena_pose){.entity = entity, .heading = heading};
    return pose;
}

// A shot is heard when it appears in the picture.
ES_TAG(render)
ES_ON_EVENT(on_appear)
ES_REQUIRE(shot : ArenaShot)
static void hear_shot_es_event_handler(const ecs_stage* stage, ES_CONTEXT const arena_game* game,
                                       ecs_entity entity) {
    (void)ecs_event_send(stage->world, entity, game->fired, &(arena_fired){0});
}

// The flash of a muzzle, and where its shooter looks, come from the shots near their shooters.
ES_STAGE(render)
ES_TAG(render)
static void see_shots_es(const ecs_stage* stage, ES_CONTEXT arena_game* game, ecs_vec2 pos,
                         ecs_vec2 vel, const arena_shot* shot) {
    const ecs_vec2* from = ecs_find(stage->world, shot->shooter, game->pos);
    if (!from || ecs_vec2_distance(*from, pos) > FLASH_REACH) return;
    const float heading = base_atan2(vel.y, vel.x);
    arena_pose* pose = arena_pose_of(game->view, shot->shooter, heading);
    pose->heading = heading;
    pose->aim_s = AIM_S;
    pose->flash_s = FLASH_S;
}

static arena_figure stand(const arena_game* game, ecs_entity entity, ecs_vec2 pos, ecs_vec2 vel) {
    const float wanted = base_atan2(vel.y, vel.x);
    arena_pose* pose = arena_pose_of(game->view, entity, wanted);
    const bool is_moving = ecs_vec2_dot(vel, vel) > 0.01f;
    if (is_moving && pose->aim_s <= 0.0f)
        pose->heading =
            ecs_angle_turn(pose->heading, wanted, TURN_RATE * game->view->pen.draw->frame_dt_s);
    return (arena_figure){&game->view->pen, pos, ecs_direction(pose->heading)};
}

static void draw_flash(const arena_figure* figure, float muzzle, float size) {
    const ecs_vec2 at = arena_part(figure, muzzle, 0.55f);
    arena_glow(figure->pen, at.x, at.y, 3.2f * size, (ecs_color){255, 190, 90, 170});
    const ecs_vec2 left = arena_part(figure, muzzle, 0.55f - 0.5f * size);
    const ecs_vec2 right = arena_part(figure, muzzle, 0.55f + 0.5f * size);
    const ecs_color hot = {255, 240, 190, 255};
    arena_facet(figure->pen, left, right, arena_part(figure, muzzle + 1.9f * size, 0.55f), hot);
    arena_knob(figure, muzzle + 0.1f, 0.55f, 0.42f * size, white);
}

static void draw_soldier(const arena_figure* figure, ecs_color color, float step, bool is_player) {
    static const ecs_color skin = {232, 190, 158, 255}, metal = {150, 160, 182, 255};
    const ecs_color dark = ecs_color_shade(color, -0.68f), cloth = ecs_color_shade(color, -0.2f);
    const float swing = base_sin(step) * 0.75f;
    arena_disc(figure->pen, figure->pos.x + 0.45f, figure->pos.y + 0.6f, 1.6f, shadow);
    if (step != 0.0f) {
        arena_knob(figure, swing, -0.62f, 0.45f, dark);
        arena_knob(figure, -swing, 0.62f, 0.45f, dark);
    }
    arena_limb(figure, -1.0f, -0.6f, -1.0f, 0.6f, 0.8f, dark); // its pack
    for (float side = -0.75f; side < 1.0f; side += 1.5f)
        arena_knob(figure, 0.0f, side, 1.0f, dark);
    for (float side = -0.8f; side < 1.0f; side += 1.6f)
        arena_knob(figure, 0.0f, side, 0.76f, cloth);
    arena_limb(figure, 0.3f, 0.55f, 3.0f, 0.55f, 0.62f, steel); // its gun
    arena_limb(figure, 0.6f, 0.5f, 2.7f, 0.5f, 0.24f, metal);
    arena_limb(figure, 0.2f, -0.95f, 1.6f, 0.25f, 0.5f, cloth);
    arena_limb(figure, 0.1f, 1.0f, 0.85f, 0.7f, 0.5f, cloth);
    arena_knob(figure, 1.65f, 0.32f, 0.32f, skin);
    arena_knob(figure, 0.9f, 0.66f, 0.32f, skin);
    arena_knob(figure, 0.05f, 0.0f, 0.98f, is_player ? white : dark); // its helmet
    arena_knob(figure, 0.05f, 0.0f, 0.76f, color);
    arena_limb(figure, 0.5f, -0.42f, 0.5f, 0.42f, 0.26f, dark);
    arena_disc(figure->pen, figure->pos.x - 0.22f, figure->pos.y - 0.26f, 0.3f,
               (ecs_color){255, 255, 255, 110});
}

// The own fighter: a ring, where it aims, and an arrow over it.
static void mark_own(const arena_figure* figure) {
    const arena_pen* pen = figure->pen;
    const ecs_vec2 pos = figure->pos;
    const ecs_color faint = {255, 255, 255, 30};
    arena_glow(pen, pos.x, pos.y, 5.5f, (ecs_color){255, 255, 255, 50});
    arena_ring(pen, pos.x, pos.y, 2.35f, 2.7f, white, (ecs_color){255, 255, 255, 120});
    for (uint32_t i = 0; i < 8; i++) {
        const float at = 4.5f + (float)i * 3.6f;
        arena_limb(figure, at, 0.0f, at + 1.5f, 0.0f, 0.22f,
                   ecs_color_fade(white, 0.34f - (float)i * 0.035f));
    }
    arena_limb(figure, 2.7f, -0.6f, 3.5f, 0.0f, 0.3f, white);
    arena_limb(figure, 2.7f, 0.6f, 3.5f, 0.0f, 0.3f, white);
    arena_ring(pen, pos.x, pos.y, 2.7f, 3.3f, faint, (ecs_color){255, 255, 255, 0});
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(tank : tag)
static void draw_hulls_es(ES_CONTEXT const arena_game* game, ecs_entity entity, ecs_vec2 pos,
                          ecs_vec2 vel, uint8_t team, uint8_t condition) {
    if (condition == 0) return;
    const arena_figure hull = stand(game, entity, pos, vel);
    const ecs_color color = arena_team_color(team), dark = ecs_color_shade(color, -0.62f);
    const float turned = ecs_vec2_dot(vel, vel) > 0.01f ? (float)game->view->pen.draw->tick : 0.0f;
    const float tread = turned * 0.23f - base_floor(turned * 0.23f);
    const arena_figure shade = {hull.pen, {pos.x + 0.6f, pos.y + 0.8f}, hull.way};
    arena_limb(&shade, -3.5f, 0.0f, 3.5f, 0.0f, 5.6f, shadow);
    for (float side = -1.9f; side < 2.0f; side += 3.8f) {
        arena_limb(&hull, -3.4f, side, 3.4f, side, 1.5f, steel);
        for (uint32_t i = 0; i < 8; i++) {
            const float at = -3.3f + ((float)i + 1.0f - tread) * 0.8f;
            arena_limb(&hull, at, side - 0.7f, at, side + 0.7f, 0.2f,
                       (ecs_color){86, 92, 112, 255});
        }
    }
    arena_limb(&hull, -3.1f, 0.0f, 3.0f, 0.0f, 3.2f, dark);
    arena_limb(&hull, -2.8f, 0.0f, 2.6f, 0.0f, 2.7f, ecs_color_shade(color, -0.38f));
    arena_limb(&hull, 2.5f, -1.3f, 2.5f, 1.3f, 0.45f, ecs_color_shade(color, 0.1f));
    for (float at = -2.5f; at < -1.6f; at += 0.4f)
        arena_limb(&hull, at, -1.0f, at, 1.0f, 0.18f, dark);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_turrets_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team,
                            float heading, ES_NAME(ecs.parent) ecs_entity tank) {
    const arena_pen* pen = &game->view->pen;
    const arena_figure turret = {pen, pos, ecs_direction(heading)};
    const ecs_color color = arena_team_color(team), dark = ecs_color_shade(color, -0.62f);
    arena_disc(pen, pos.x + 0.35f, pos.y + 0.5f, 1.9f, shadow);
    arena_limb(&turret, 0.5f, 0.0f, 5.2f, 0.0f, 1.0f, dark);
    arena_limb(&turret, 0.5f, 0.0f, 4.9f, 0.0f, 0.5f, ecs_color_shade(color, 0.15f));
    arena_limb(&turret, 4.6f, 0.0f, 5.4f, 0.0f, 1.3f, steel);
    arena_knob(&turret, 0.0f, 0.0f, 1.9f, dark);
    arena_knob(&turret, 0.0f, 0.0f, 1.6f, color);
    arena_knob(&turret, -0.6f, 0.5f, 0.6f, dark);
    arena_disc(pen, pos.x - 0.45f, pos.y - 0.55f, 0.5f, (ecs_color){255, 255, 255, 90});
    const arena_pose* pose = arena_pose_of(game->view, tank, heading);
    const arena_figure muzzle = {pen, arena_part(&turret, 0.0f, -0.55f), turret.way};
    if (pose->flash_s > 0.0f) draw_flash(&muzzle, 5.4f, 1.7f);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(condition : u8)
ES_REQUIRE_NOT(tank : tag)
static void draw_fighters_es(ES_CONTEXT const arena_game* game, ecs_entity entity, ecs_vec2 pos,
                             ecs_vec2 vel, uint8_t team, uint32_t owner, uint8_t condition,
                             uint32_t together, ES_OPTIONAL const uint32_t* boost_tick,
                             ES_OPTIONAL const float* aim) {
    const arena_pen* pen = &game->view->pen;
    if (condition == 0 || !arena_is_shown(arena_to_view(pen, pos.x, pos.y), 8.0f * pen->scale))
        return;
    const bool is_own = entity == pen->draw->player;
    const ecs_color color = arena_team_color(team);
    arena_figure figure = stand(game, entity, pos, vel);
    if (is_own && aim) figure.way = ecs_direction(*aim);
    if (boost_tick) arena_glow(pen, pos.x, pos.y, 5.0f, (ecs_color){206, 120, 255, 170});
    if (together)
        arena_glow(pen, pos.x, pos.y, 6.5f, ecs_color_fade(arena_team_color(together), 0.6f));
    if (pen->scale < NAME_SCALE) {
        arena_limb(&figure, 0.0f, 0.0f, 2.6f, 0.0f, 0.8f, ecs_color_shade(color, 0.4f));
        arena_disc(pen, pos.x, pos.y, ARENA_RADIUS, owner ? white : color);
        if (owner) arena_disc(pen, pos.x, pos.y, 1.1f, color);
        return;
    }
    if (is_own) mark_own(&figure);
    const bool is_moving = ecs_vec2_dot(vel, vel) > 0.01f;
    const float step = (float)pen->draw->tick * STRIDE + (float)(ecs_entity_index(entity) % 7);
    draw_soldier(&figure, color, is_moving ? step : 0.0f, owner != 0);
    if (arena_pose_of(game->view, entity, 0.0f)->flash_s > 0.0f) draw_flash(&figure, 3.1f, 1.0f);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE(wait_tick : u32)
static void draw_ghosts_es(ES_CONTEXT const arena_game* game, ecs_vec2 pos, uint8_t team) {
    const arena_pen* pen = &game->view->pen;
    const ecs_color color = ecs_color_shade(arena_team_color(team), 0.5f);
    const float sway = base_sin((float)pen->draw->tick * 0.15f) * 0.3f;
    arena_glow(pen, pos.x, pos.y, 4.0f, ecs_color_fade(color, 0.35f));
    arena_disc(pen, pos.x, pos.y - 0.4f + sway, 1.3f, ecs_color_fade(color, 0.35f));
    arena_ring(pen, pos.x, pos.y - 0.4f + sway, 1.1f, 1.35f, ecs_color_fade(color, 0.2f),
               ecs_color_fade(color, 0.8f));
    arena_disc(pen, pos.x - 0.45f, pos.y - 0.6f + sway, 0.28f, (ecs_color){20, 22, 34, 190});
    arena_disc(pen, pos.x + 0.45f, pos.y - 0.6f + sway, 0.28f, (ecs_color){20, 22, 34, 190});
}

// ---- over the bodies ----

static void draw_health(const arena_pen* pen, ecs_vec2 at, float half, float part) {
    const ecs_color color = part > 0.66f   ? (ecs_color){110, 235, 130, 255}
                            : part > 0.33f ? (ecs_color){255, 210, 80, 255}
                                           : (ecs_color){255, 90, 80, 255};
    arena_box(pen->draw, at.x - half - 1.0f, at.y - 1.0f, half * 2.0f + 2.0f, 6.0f,
              (ecs_color){0, 0, 0, 190});
    arena_box(pen->draw, at.x - half, at.y, half * 2.0f * base_min(part, 1.0f), 4.0f, color);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_labels_es(ES_CONTEXT const arena_game* game, ecs_entity entity, ecs_vec2 pos,
                           uint8_t team, uint32_t owner, uint8_t health, uint8_t condition,
                           uint32_t together) {
    const arena_pen* pen = &game->view->pen;
    const ecs_vec2 at = arena_to_view(pen, pos.x, pos.y);
    if (condition == 0 || pen->scale < NAME_SCALE || !arena_is_shown(at, 40.0f)) return;
    const bool is_own = entity == pen->draw->player, is_tank = together > ARENA_TEAMS;
    const bool is_exact = team == game->view->own_team && !is_tank;
    const float part = is_exact ? (float)health / (float)ARENA_HEALTH : (float)condition / 3.0f;
    const bool is_hurt = arena_pose_of(game->view, entity, 0.0f)->hurt_s > 0.0f;
    const float size = is_tank ? 2.0f : 1.0f;
    if (is_own || condition == 1 || (is_hurt && part < 1.0f))
        draw_health(pen, (ecs_vec2){at.x, at.y - 2.9f * pen->scale * size}, 16.0f * size, part);
    if (!owner) return;
    char buffer[32];
    const char* name = net_player_name(pen->draw, owner, buffer, sizeof buffer);
    const float width = pen->draw->text_width(pen->draw->context, 13.0f, name);
    const float top = at.y + 2.3f * pen->scale;
    arena_box(pen->draw, at.x - width * 0.5f - 4.0f, top, width + 8.0f, 17.0f,
              (ecs_color){6, 8, 16, 150});
    net_draw_text(pen->draw, at.x - width * 0.5f, top + 1.0f, 13.0f,
                  is_own ? white : ecs_color_shade(arena_team_color(team), 0.45f), NET_ALIGN_LEFT,
                  name);
}
