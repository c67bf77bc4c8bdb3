// SPDX-License-Identifier: MIT
// Falling: the one rule of this world. Every side computes the same numbers without messages.
//
//     position += velocity * dt; velocity += gravity * dt
//
// The rule applies to every entity with Transform, RigidBody and Gravity.
//
// A seed and a tick describe a cube: its spawn. A side may have a cube without a place: the server
// has a new cube, a client has received one, or a playback has jumped back. Then the side draws the
// cube from its seed and runs the rule for the missed ticks. A cube without missed ticks costs one
// comparison. So ten thousand moving cubes cost no bandwidth, and all sides hold the same bits,
// because they ran the same steps.
//
// A fall ends after the number of ticks that a body needs to reach the bottom by the exact law.
// This number follows from gravity and height, so a late client skips finished falls and runs at
// most the current one again. Without respawn there is only one fall. A client that joins after N
// ticks then runs N steps per cube, at most STEPS_MAX. The limit exists because the tick comes from
// the server: no number that the server sends may keep a client busy for long. A client that joins
// later than STEPS_MAX shows a shorter fall.
//
// An entity without RigidBody gets its place and rests. No code here checks whether it is a cube or
// a camera.
//
// Cubes do not touch each other: ranges of them fall at the same time (ES_QUANTUM).

#include "cubes.h"

#include "fall.es.h"

#define STEPS_MAX (1u << 18) ///< most ticks to catch up; over an hour at 60 ticks a second

static float between(base_rng* rng, float low, float high) {
    return low + base_rng_float(rng) * (high - low);
}

// One random number per statement: their order is part of the match.
void cubes_draw(uint32_t seed, cubes_transform* transform, cubes_gravity* gravity) {
    base_rng rng = base_rng_make(seed, 1);
    float force = between(&rng, CUBES_FORCE_MIN, CUBES_FORCE_MAX);
    if (gravity) gravity->force = (ecs_vec3){0.0f, force, 0.0f};
    transform->position.x = between(&rng, -CUBES_HALF, CUBES_HALF);
    transform->position.y = between(&rng, -CUBES_HALF, CUBES_HALF);
    transform->position.z = between(&rng, -CUBES_HALF, CUBES_HALF);
    transform->rotation.x = between(&rng, 0.0f, CUBES_ROTATION_MAX);
    transform->rotation.y = between(&rng, 0.0f, CUBES_ROTATION_MAX);
    transform->rotation.z = between(&rng, 0.0f, CUBES_ROTATION_MAX);
    float scale = between(&rng, CUBES_SCALE_MIN, CUBES_SCALE_MAX);
    transform->scale = (ecs_vec3){scale, scale, scale};
}

uint32_t cubes_ticks_to_fall(float height, const cubes_gravity* gravity, float dt) {
    float pull = -gravity->force.y;
    if (!(pull > 0.0f) || !(dt > 0.0f)) return CUBES_NEVER;
    float ticks = base_sqrt(2.0f * base_max(height, 0.0f) / pull) / dt;
    return ticks < 1e9f ? (uint32_t)ticks + 1 : CUBES_NEVER;
}

static inline void step(cubes_transform* transform, cubes_body* body, const cubes_gravity* gravity,
                        float dt) {
    transform->position.x += body->velocity.x * dt;
    transform->position.y += body->velocity.y * dt;
    transform->position.z += body->velocity.z * dt;
    body->velocity.x += gravity->force.x * dt;
    body->velocity.y += gravity->force.y * dt;
    body->velocity.z += gravity->force.z * dt;
}

static uint32_t add_ticks(uint32_t tick, uint32_t ticks) {
    return ticks < CUBES_NEVER - tick ? tick + ticks : CUBES_NEVER;
}

static void begin_again(cubes_fall* fall, cubes_transform* transform, cubes_body* body,
                        const cubes_gravity* gravity, float dt) {
    transform->position.y = CUBES_HALF;
    *body = (cubes_body){0};
    fall->next = add_ticks(fall->next, cubes_ticks_to_fall(2.0f * CUBES_HALF, gravity, dt));
}

// Put the entity at its spawn. Without a seed the values come from the template of the camera.
static void lay_out(const cubes_game* game, const cubes_spawn* spawn, cubes_fall* fall,
                    cubes_transform* transform, cubes_body* body, cubes_gravity* gravity,
                    float dt) {
    if (spawn->seed) {
        cubes_draw(spawn->seed, transform, gravity);
    } else {
        *transform = game->home;
        if (gravity) *gravity = game->pull;
    }
    *fall = (cubes_fall){.tick = spawn->tick, .next = CUBES_NEVER};
    if (!body || !gravity) return;
    *body = (cubes_body){0};
    if (!game->settings.respawn) return;
    float height = transform->position.y + CUBES_HALF;
    fall->next = add_ticks(spawn->tick, cubes_ticks_to_fall(height, gravity, dt));
}

// Bring the entity to its state after `tick`. In the last tick of a fall it is at the bottom; the
// next step starts at the top.
static void catch_up(const cubes_game* game, const cubes_spawn* spawn, cubes_fall* fall,
                     cubes_transform* transform, cubes_body* body, cubes_gravity* gravity, float dt,
                     uint32_t tick) {
    if (fall->next == 0 || fall->tick > tick)
        lay_out(game, spawn, fall, transform, body, gravity, dt);
    if (!body || !gravity || fall->tick >= tick) {
        fall->tick = tick;
        return;
    }
    if (fall->next < tick) {
        uint32_t period = cubes_ticks_to_fall(2.0f * CUBES_HALF, gravity, dt);
        fall->next += (tick - 1 - fall->next) / period * period; // skip finished falls
        fall->tick = fall->next;
    }
    if (tick - fall->tick > STEPS_MAX) fall->tick = tick - STEPS_MAX;
    for (; fall->tick < tick; fall->tick++) {
        if (fall->tick == fall->next) begin_again(fall, transform, body, gravity, dt);
        step(transform, body, gravity, dt);
    }
}

// On the server, before the rule: new entities get their place, cubes at the bottom go to the top.
ES_TAG(server)
ES_QUANTUM(1024)
static void cubes_begin_es(const ecs_stage* stage, cubes_fall* fall, cubes_transform* transform,
                           ES_OPTIONAL cubes_body* body, ES_OPTIONAL cubes_gravity* gravity,
                           const cubes_spawn* spawn, ES_CONTEXT const cubes_game* game) {
    uint32_t before = (uint32_t)stage->tick - 1;
    if (fall->tick != before || fall->next == 0)
        catch_up(game, spawn, fall, transform, body, gravity, stage->dt, before);
    if (fall->next == before && body && gravity)
        begin_again(fall, transform, body, gravity, stage->dt);
    fall->tick = before + 1;
}

ES_TAG(server)
ES_QUANTUM(2048)
static void cubes_fall_es(const ecs_stage* stage, cubes_transform* transform, cubes_body* body,
                          const cubes_gravity* gravity) {
    step(transform, body, gravity, stage->dt);
}

// On a client, where packets may repeat a tick or bring several at once: run the same steps up to
// this tick.
ES_TAG(gameClient)
ES_QUANTUM(1024)
static void cubes_follow_es(const ecs_stage* stage, cubes_fall* fall, cubes_transform* transform,
                            ES_OPTIONAL cubes_body* body, ES_OPTIONAL cubes_gravity* gravity,
                            const cubes_spawn* spawn, ES_CONTEXT const cubes_game* game) {
    uint32_t tick = (uint32_t)stage->tick;
    if (fall->tick != tick || fall->next == 0)
        catch_up(game, spawn, fall, transform, body, gravity, stage->dt, tick);
}
