// SPDX-License-Identifier: MIT
// The picture: systems of stage "render", which run only where the world has that tag.
//
//     lens and sky -> collect the cubes in front of the lens -> sort by depth -> drop hidden cubes
//     -> draw from back to front
//
// Cubes come from the columns of the simulation. Between two ticks they move on by their velocity,
// exactly as the next tick will move them. A counting sort over CUBES_BUCKETS depths keeps the same
// order on every machine. Beginning with the nearest cube, each cube marks the tiles of the picture
// that its inner ball covers for certain. When all tiles around a cube are marked, nearer cubes
// hide it, so leaving it out changes no pixel.

#include "view.h"

#include "base/math.h"

#include <stdio.h>
#include <string.h>

#include "view.es.h"

#define FOCAL 560.0f
#define NEAR 2.0f
#define EDGE_UNITS 7.0f ///< height over which cubes grow at the top and shrink at the bottom
#define GRID_STEP 25.0f
#define GRID_HALF 10 ///< lines on each side
#define SKY_BANDS 45u

// ---- lens ----

static bool find_camera(ecs_world* world, const cubes_game* game, ecs_entity player,
                        cubes_orbit* orbit, ecs_vec3* middle, float lead_s) {
    ecs_query_iter it;
    if (!ecs_query_find(world, game->cameras, player, &it)) return false;
    *orbit = *(const cubes_orbit*)it.columns[0];
    *middle = ((const cubes_transform*)it.columns[1])->position;
    const cubes_body* body = it.columns[2];
    if (body) middle->y += body->velocity.y * lead_s;
    return true;
}

static cubes_lens make_lens(const cubes_orbit* orbit, ecs_vec3 middle) {
    ecs_vec3 out = cubes_orbit_direction(orbit);
    float flat = base_cos(orbit->pitch);
    cubes_lens lens = {.focal = FOCAL, .distance = orbit->distance};
    lens.eye = (ecs_vec3){middle.x + out.x * orbit->distance, middle.y + out.y * orbit->distance,
                          middle.z + out.z * orbit->distance};
    lens.forward = (ecs_vec3){-out.x, -out.y, -out.z};
    lens.right = (ecs_vec3){-out.z / flat, 0.0f, out.x / flat};
    lens.up = (ecs_vec3){lens.right.y * out.z - lens.right.z * out.y,
                         lens.right.z * out.x - lens.right.x * out.z,
                         lens.right.x * out.y - lens.right.y * out.x};
    if (lens.up.y < 0.0f) lens.up = (ecs_vec3){-lens.up.x, -lens.up.y, -lens.up.z};
    return lens;
}

// ---- sky and floor ----

static void draw_floor_line(const net_draw* draw, const cubes_lens* lens, ecs_vec3 from,
                            ecs_vec3 to) {
    ecs_vec3 a = cubes_to_lens(lens, from), b = cubes_to_lens(lens, to);
    if (a.z < NEAR || b.z < NEAR) return;
    float away = base_max(base_max(base_abs(from.x), base_abs(from.z)),
                          base_max(base_abs(to.x), base_abs(to.z)));
    float rim = base_clamp((GRID_STEP * (float)GRID_HALF - away) / 110.0f + 0.1f, 0.0f, 1.0f);
    float clear = cubes_clearness(lens, (a.z + b.z) * 0.5f) * rim;
    if (clear < 0.02f) return;
    ecs_vec2 p = cubes_project(lens, a), q = cubes_project(lens, b);
    bool is_off = (p.x < 0.0f && q.x < 0.0f) || (p.y < 0.0f && q.y < 0.0f) ||
                  (p.x > CUBES_VIEW_WIDTH && q.x > CUBES_VIEW_WIDTH) ||
                  (p.y > CUBES_VIEW_HEIGHT && q.y > CUBES_VIEW_HEIGHT);
    if (is_off) return;
    draw->line(draw->context, p.x, p.y, q.x, q.y, 1.2f,
               (ecs_color){255, 150, 120, (uint8_t)(clear * 150.0f)});
}

// The floor lies where the cubes end their fall.
static void draw_floor(const net_draw* draw, const cubes_lens* lens) {
    for (int32_t i = -GRID_HALF; i <= GRID_HALF; i++) {
        for (int32_t k = -GRID_HALF; k < GRID_HALF; k++) {
            float a = (float)i * GRID_STEP, b = (float)k * GRID_STEP, c = b + GRID_STEP;
            draw_floor_line(draw, lens, (ecs_vec3){a, -CUBES_HALF, b},
                            (ecs_vec3){a, -CUBES_HALF, c});
            draw_floor_line(draw, lens, (ecs_vec3){b, -CUBES_HALF, a},
                            (ecs_vec3){c, -CUBES_HALF, a});
        }
    }
}

ES_STAGE(render)
ES_TAG(render)
static void cubes_sky_es(const ecs_stage* stage, ES_CONTEXT cubes_game* game) {
    const net_draw* draw = stage->user;
    cubes_view* view = game->view;
    bool has_tick = draw->size_bytes >= sizeof(net_draw) && draw->tick > 0.0;
    double part = has_tick ? draw->tick - (double)stage->tick : 0.0;
    view->part = base_clamp((float)part, 0.0f, 1.0f);
    view->item_count = 0;
    cubes_orbit orbit;
    ecs_vec3 middle;
    if (!find_camera(stage->world, game, draw->player, &orbit, &middle, view->part * stage->dt)) {
        // The camera of a spectator goes around once in 90 seconds.
        double tick = has_tick ? draw->tick : (double)stage->tick;
        double turn = tick * (double)stage->dt / 90.0;
        orbit =
            (cubes_orbit){(float)(turn - (double)(int64_t)turn) * 2.0f * BASE_PI, 0.24f, 285.0f};
        middle = game->home.position;
    }
    view->lens = make_lens(&orbit, middle);
    float height = CUBES_VIEW_HEIGHT / (float)SKY_BANDS;
    for (uint32_t i = 0; i < SKY_BANDS; i++) {
        float y = (float)i * height;
        draw->rect(draw->context, 0.0f, y, CUBES_VIEW_WIDTH, height, cubes_sky(y + height * 0.5f));
    }
    if (view->lens.eye.y >= -CUBES_HALF) draw_floor(draw, &view->lens);
}

// ---- cubes ----

// At both ends of a fall a cube is small, so that it does not appear or disappear suddenly.
static float grown(const cubes_game* game, float scale, float y) {
    if (!game->settings.respawn) return scale;
    return scale * base_clamp((CUBES_HALF - base_abs(y)) / EDGE_UNITS, 0.0f, 1.0f);
}

ES_STAGE(render)
ES_TAG(render)
ES_REQUIRE_NOT(orbit : CubesOrbit)
static void cubes_gather_es(const ecs_stage* stage, const cubes_transform* transform,
                            ES_OPTIONAL const cubes_body* body, const cubes_spawn* spawn,
                            const cubes_fall* fall, ES_CONTEXT cubes_game* game) {
    cubes_view* view = game->view;
    if (fall->next == 0 || view->item_count == CUBES_COUNT_MAX) return;
    ecs_vec3 position = transform->position;
    float speed = 0.0f;
    if (body) {
        position.y += body->velocity.y * (view->part * stage->dt);
        speed = base_abs(body->velocity.y);
        position.y = fall->next == CUBES_NEVER ? position.y : base_max(position.y, -CUBES_HALF);
    }
    float scale = body ? grown(game, transform->scale.x, position.y) : transform->scale.x;
    cubes_item* item = &view->items[view->item_count];
    item->at = cubes_to_lens(&view->lens, position);
    // The corners of a cube reach 0.87 of the scale. The sides of the picture are planes through
    // the eye.
    float radius = scale * 0.87f;
    bool is_seen = item->at.z > NEAR + radius && scale > 0.05f &&
                   base_abs(item->at.x) * FOCAL <
                       CUBES_VIEW_WIDTH * 0.5f * item->at.z + radius * 1.4f * FOCAL &&
                   base_abs(item->at.y) * FOCAL <
                       CUBES_VIEW_HEIGHT * 0.5f * item->at.z + radius * 1.4f * FOCAL &&
                   cubes_clearness(&view->lens, item->at.z) > 0.04f;
    if (!is_seen) return;
    item->scale = scale;
    item->rotation = transform->rotation;
    item->speed = speed;
    item->seed = spawn->seed;
    view->item_count++;
}

static uint32_t bucket_of(const cubes_view* view, const cubes_item* item) {
    float part = item->at.z / (view->lens.distance + 400.0f);
    return (uint32_t)(base_clamp(part, 0.0f, 0.9999f) * (float)CUBES_BUCKETS);
}

typedef struct tiles {
    uint32_t left, top, right, bottom; ///< right and bottom are one past the end
} tiles;

static uint32_t tile_at(float at, uint32_t count) {
    return (uint32_t)base_clamp(at / CUBES_TILE, 0.0f, (float)count);
}

// All tiles that a cube can touch: the picture of its box in camera space.
static tiles tiles_around(const cubes_lens* lens, const cubes_item* item) {
    const ecs_vec3* axes = item->axes;
    float x = base_abs(axes[0].x) + base_abs(axes[1].x) + base_abs(axes[2].x);
    float y = base_abs(axes[0].y) + base_abs(axes[1].y) + base_abs(axes[2].y);
    float z = base_abs(axes[0].z) + base_abs(axes[1].z) + base_abs(axes[2].z);
    float near = lens->focal / (item->at.z - z), far = lens->focal / (item->at.z + z);
    float left = item->at.x - x, right = item->at.x + x;
    float low = item->at.y - y, high = item->at.y + y;
    const float middle_x = CUBES_VIEW_WIDTH * 0.5f, middle_y = CUBES_VIEW_HEIGHT * 0.5f;
    return (tiles){
        tile_at(middle_x + base_min(left * near, left * far), CUBES_TILES_X),
        tile_at(middle_y - base_max(high * near, high * far), CUBES_TILES_Y),
        tile_at(middle_x + base_max(right * near, right * far) + CUBES_TILE, CUBES_TILES_X),
        tile_at(middle_y - base_min(low * near, low * far) + CUBES_TILE, CUBES_TILES_Y)};
}

static bool is_hidden(const cubes_view* view, tiles area) {
    for (uint32_t y = area.top; y < area.bottom; y++)
        for (uint32_t x = area.left; x < area.right; x++)
            if (!view->is_covered[y][x]) return false;
    return true;
}

// Mark the tiles inside a disc. Away from the middle of the picture a ball covers more than this.
static void cover(cubes_view* view, ecs_vec2 middle, float radius) {
    uint32_t top = tile_at(middle.y - radius + CUBES_TILE, CUBES_TILES_Y);
    uint32_t bottom = tile_at(middle.y + radius, CUBES_TILES_Y);
    for (uint32_t y = top; y < bottom; y++) {
        float above = base_abs((float)y * CUBES_TILE - middle.y);
        float below = base_abs((float)(y + 1) * CUBES_TILE - middle.y);
        float height = base_max(above, below);
        if (height >= radius) continue;
        float half = base_sqrt(radius * radius - height * height);
        uint32_t left = tile_at(middle.x - half + CUBES_TILE, CUBES_TILES_X);
        uint32_t right = tile_at(middle.x + half, CUBES_TILES_X);
        if (left < right) memset(&view->is_covered[y][left], 1, right - left);
    }
}

ES_STAGE(render)
ES_TAG(render)
static void cubes_paint_es(const ecs_stage* stage, ES_CONTEXT cubes_game* game) {
    const net_draw* draw = stage->user;
    cubes_view* view = game->view;
    // Sort the nearest cube first; equal ones keep the order of the rows.
    memset(view->buckets, 0, sizeof view->buckets);
    for (uint32_t i = 0; i < view->item_count; i++)
        view->buckets[bucket_of(view, &view->items[i]) + 1]++;
    for (uint32_t i = 1; i <= CUBES_BUCKETS; i++)
        view->buckets[i] += view->buckets[i - 1];
    for (uint32_t i = 0; i < view->item_count; i++)
        view->order[view->buckets[bucket_of(view, &view->items[i])]++] = i;
    memset(view->is_covered, 0, sizeof view->is_covered);
    view->drawn_count = 0;
    for (uint32_t i = 0; i < view->item_count; i++) {
        cubes_item* item = &view->items[view->order[i]];
        cubes_find_axes(&view->lens, item);
        if (is_hidden(view, tiles_around(&view->lens, item))) continue;
        view->visible[view->drawn_count++] = view->order[i];
        ecs_vec2 middle = cubes_project(&view->lens, item->at);
        cover(view, middle, item->scale * 0.5f * view->lens.focal / item->at.z);
    }
    for (uint32_t i = view->drawn_count; i-- > 0;)
        cubes_solid(draw, &view->batch, &view->lens, &view->items[view->visible[i]]);
    cubes_batch_flush(draw, &view->batch);
    if (view->lens.eye.y < -CUBES_HALF) draw_floor(draw, &view->lens);
}

// ---- players ----

static void draw_player(const net_draw* draw, const cubes_lens* lens, const cubes_orbit* orbit,
                        const cubes_transform* transform, uint32_t client) {
    ecs_vec3 out = cubes_orbit_direction(orbit);
    ecs_vec3 eye = {transform->position.x + out.x * orbit->distance,
                    transform->position.y + out.y * orbit->distance,
                    transform->position.z + out.z * orbit->distance};
    ecs_vec3 at = cubes_to_lens(lens, eye);
    if (at.z < NEAR) return;
    ecs_vec2 p = cubes_project(lens, at);
    if (!(p.x > 0.0f && p.x < CUBES_VIEW_WIDTH && p.y > 20.0f && p.y < CUBES_VIEW_HEIGHT)) return;
    draw->circle(draw->context, p.x, p.y, 7.0f, (ecs_color){255, 255, 255, 60});
    draw->circle(draw->context, p.x, p.y, 3.5f, (ecs_color){255, 240, 200, 255});
    char text[24];
    const char* name = net_player_name(draw, client, text, sizeof text);
    float width = draw->text_width(draw->context, 13.0f, name);
    draw->text(draw->context, p.x - width * 0.5f, p.y - 24.0f, 13.0f,
               (ecs_color){255, 244, 220, 220}, name);
}

ES_STAGE(render)
ES_TAG(render)
static void cubes_players_es(const ecs_stage* stage, ecs_entity entity, const cubes_orbit* orbit,
                             const cubes_transform* transform, const cubes_player* player,
                             ES_CONTEXT const cubes_game* game) {
    const net_draw* draw = stage->user;
    if (entity == draw->player) return;
    draw_player(draw, &game->view->lens, orbit, transform, player->client);
}

ES_STAGE(render)
ES_TAG(render)
static void cubes_board_es(const ecs_stage* stage, ES_CONTEXT const cubes_game* game) {
    const net_draw* draw = stage->user;
    const uint32_t count = ecs_query_count(stage->world, game->cubes);
    char text[96];
    if (count < 1000)
        snprintf(text, sizeof text, "%u cubes", count);
    else
        snprintf(text, sizeof text, "%u,%03u cubes", count / 1000, count % 1000);
    // A dark shade behind the text keeps it readable in front of a bright cube.
    const ecs_color dark = {6, 6, 20, 150}, none = {6, 6, 20, 0};
    const float points[] = {0, 0, 420, 0, 0, 110};
    const ecs_color shade[] = {dark, none, none};
    draw->triangles(draw->context, points, shade, 3);
    draw->text(draw->context, 22.0f, 18.0f, 26.0f, (ecs_color){244, 238, 255, 255}, text);
    snprintf(text, sizeof text, "tick %llu, %s", (unsigned long long)stage->tick,
             game->settings.fall ? "the camera falls" : "seed and tick are all that was sent");
    draw->text(draw->context, 23.0f, 50.0f, 13.0f, (ecs_color){190, 184, 226, 220}, text);
}
