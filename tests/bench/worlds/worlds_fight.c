// SPDX-License-Identifier: MIT
// Worlds of fights: projectiles, turrets, teams of shooters.
#include "worlds.h"

#include <math.h>

enum {
    SHOTS = 300,
    SHIPS = 40,
    TURRETS = 200,
    TARGETS = 40,
    SHOOTERS = 64,
    AGENTS = 300,
    BULLETS = 60
};

// Ships that shoot: bullets on straight lines, mortar shells under gravity, rockets that turn.
void world_projectiles(trace* made, world_random* random) {
    proto_layout* shot = trace_add_template(made);
    trace_add_words(shot, 1, PROTO_ENTITY, 0);                   // owner
    trace_add_reals(shot, 3, 16, -256, 1.0 / 128)->integral = 3; // position
    trace_add_reals(shot, 3, 14, -128, 1.0 / 64);                // velocity
    proto_layout* ship = trace_add_template(made);
    trace_add_reals(ship, 2, 16, -256, 1.0 / 128)->integral = 2;
    trace_add_reals(ship, 2, 12, -32, 1.0 / 64);
    trace_finish(made, SHOTS, WORLD_SECONDS * made->rate_hz);
    world_mover all[SHOTS] = {{0}};
    uint32_t owner[SHOTS] = {0}, lives = SHOTS;
    double left[SHOTS] = {0}, step = 1.0 / 60;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < SHOTS; i++) {
            world_mover* m = &all[i];
            if (i < SHIPS) {
                if (frame == 0) m->life = i + 1, m->x = world_between(random, -100, 100);
                if (world_chance(random, 0.02)) m->pitch = world_bell(random) * 12;
                m->yaw += m->pitch * 0.1 * step;
                m->vx += (cos(m->yaw) * m->pitch - m->vx * 0.8 + (-m->x * 0.05)) * step;
                m->vy += (sin(m->yaw) * m->pitch - m->vy * 0.8 + (-m->y * 0.05)) * step;
                m->x += m->vx * step, m->y += m->vy * step;
                trace_put(made, frame, i, m->life, 1, (double[]){m->x, m->y, m->vx, m->vy});
                continue;
            }
            left[i] -= step;
            if (left[i] <= 0) {
                m->life = 0;
                if (!world_chance(random, 0.02)) continue;
                owner[i] = world_below(random, SHIPS);
                m->life = ++lives;
                double angle = world_between(random, 0, 2 * M_PI), speed = i % 3 == 0   ? 60
                                                                           : i % 3 == 1 ? 25
                                                                                        : 30;
                m->x = all[owner[i]].x, m->y = all[owner[i]].y, m->z = 2, m->yaw = angle,
                m->speed = speed;
                m->vx = cos(angle) * speed, m->vy = sin(angle) * speed;
                m->vz = i % 3 == 1 ? world_between(random, 5, 20) : world_between(random, -1, 1);
                left[i] =
                    i % 3 == 0 ? world_between(random, 0.3, 1.5) : world_between(random, 1, 4);
            }
            if (i % 3 == 1) m->vz -= 9.81 * step;
            if (i % 3 == 2) {
                const world_mover* goal = &all[(owner[i] + 7) % SHIPS];
                m->yaw = world_turn(m->yaw, atan2(goal->y - m->y, goal->x - m->x), 1.5 * step);
                m->speed += 10 * step;
                m->vx = cos(m->yaw) * m->speed, m->vy = sin(m->yaw) * m->speed;
            }
            m->x += m->vx * step, m->y += m->vy * step, m->z += m->vz * step;
            if (m->z < 0) m->z = 0, m->vz = -m->vz * 0.5;
            if (fabs(m->x) > 250 || fabs(m->y) > 250) left[i] = 0;
            trace_put(made, frame, i, m->life, 0,
                      (double[]){owner[i] + 1 + (1 << 22), m->x, m->y, m->z, m->vx, m->vy, m->vz});
        }
    }
}

// Turrets that stand, look for a target, follow it and shoot; the targets move.
void world_turrets(trace* made, world_random* random) {
    proto_layout* turret = trace_add_template(made);
    trace_add_reals(turret, 2, 10, -M_PI, 2 * M_PI / 1023); // aim
    trace_add_words(turret, 1, PROTO_U16, 0);               // ammunition
    trace_add_reals(turret, 1, 7, 0, 1.0 / 100);            // heat
    trace_add_words(turret, 1, PROTO_ENTITY, 0);            // target
    proto_layout* runner = trace_add_template(made);
    trace_add_words(runner, 1, PROTO_U8, 7); // health
    trace_add_reals(runner, 2, 14, 0, 1.0 / 32);
    trace_finish(made, TURRETS + TARGETS, WORLD_SECONDS * made->rate_hz);
    world_mover all[TURRETS + TARGETS] = {{0}};
    double heat[TURRETS] = {0}, ammo[TURRETS], health[TARGETS];
    uint32_t target[TURRETS] = {0};
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < TARGETS; i++) {
            world_mover* m = &all[TURRETS + i];
            if (frame == 0) {
                m->x = world_between(random, 10, 490), m->y = world_between(random, 10, 490);
                m->speed = world_between(random, 2, 9), health[i] = 100;
            }
            if (frame == 0 || world_walk(m, 3, 1.0 / 30) < 4)
                m->goal_x = world_between(random, 10, 490),
                m->goal_y = world_between(random, 10, 490);
            if (health[i] <= 0) health[i] = 100;
        }
        for (uint32_t i = 0; i < TURRETS; i++) {
            world_mover* m = &all[i];
            if (frame == 0) m->x = i % 20 * 25 + 10, m->y = i / 20 * 50 + 10, ammo[i] = 500;
            uint32_t t = target[i];
            double dx = t ? all[TURRETS + t - 1].x - m->x : 1,
                   dy = t ? all[TURRETS + t - 1].y - m->y : 0;
            double distance = sqrt(dx * dx + dy * dy);
            if (t && distance > 60) target[i] = 0;
            if (!t && frame % 6 == i % 6) {
                for (uint32_t k = 0; k < TARGETS && !target[i]; k++)
                    if (pow(all[TURRETS + k].x - m->x, 2) + pow(all[TURRETS + k].y - m->y, 2) <
                        2500)
                        target[i] = k + 1;
            }
            heat[i] = heat[i] > 0.01 ? heat[i] - 0.01 : 0;
            if (t) {
                m->yaw = world_turn(m->yaw, atan2(dy, dx), 0.08);
                m->pitch = world_turn(m->pitch, atan2(2, distance), 0.03);
                double off = fabs(world_turn(0, atan2(dy, dx) - m->yaw, 3));
                if (off < 0.1 && heat[i] < 0.8 && ammo[i] > 0 && frame % 4 == i % 4) {
                    ammo[i]--, heat[i] += 0.06;
                    if (world_chance(random, 0.3)) health[t - 1] -= 2;
                }
            } else if (i % 3 == 0) {
                m->yaw += 0.01; // sweeps
            }
            double aim = world_angle(m->yaw + M_PI) - M_PI;
            trace_put(made, frame, i, i + 1, 0,
                      (double[]){aim, m->pitch, ammo[i], heat[i], t ? TURRETS + t + (1 << 22) : 0});
        }
        for (uint32_t i = 0; i < TARGETS; i++)
            trace_put(made, frame, TURRETS + i, TURRETS + i + 1, 1,
                      (double[]){health[i], all[TURRETS + i].x, all[TURRETS + i].y});
    }
}

// Two teams in first person: they strafe, jump, look around by hand, shoot, die and come again.
void world_shooters(trace* made, world_random* random) {
    proto_layout* player = trace_add_template(made);
    trace_add_words(player, 1, PROTO_U8, 0);                       // ammunition
    trace_add_words(player, 2, PROTO_U8, 7);                       // armour and health
    trace_add_reals(player, 2, 12, 0, 2 * M_PI / 4096);            // look
    trace_add_reals(player, 3, 17, -512, 1.0 / 128)->integral = 6; // position
    trace_add_words(player, 1, PROTO_U8, 4);                       // state
    trace_add_reals(player, 3, 12, -32, 1.0 / 64);                 // velocity
    trace_add_words(player, 1, PROTO_U8, 3);                       // weapon
    trace_finish(made, SHOOTERS, WORLD_SECONDS * made->rate_hz);
    world_mover all[SHOOTERS] = {{0}};
    double keys[SHOOTERS][2] = {{0}}, look[SHOOTERS][2] = {{0}}, health[SHOOTERS], armour[SHOOTERS];
    double ammo[SHOOTERS], weapon[SHOOTERS] = {0}, step = 1.0 / 60;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < SHOOTERS; i++) {
            world_mover* m = &all[i];
            if (frame == 0 || health[i] <= 0) {
                *m = (world_mover){.x = world_between(random, -200, 200),
                                   .y = world_between(random, -200, 200),
                                   .wait = frame ? 3 : 0,
                                   .life = m->life};
                health[i] = 100, armour[i] = 50, ammo[i] = 30;
            }
            m->wait -= step;
            if (world_chance(random, 0.03)) { // keys
                keys[i][0] = (double)world_below(random, 3) - 0.5 > 0 ? 1
                             : world_chance(random, 0.3)              ? -1
                                                                      : 0;
                keys[i][1] = (double)world_below(random, 3) - 1;
            }
            if (world_chance(random, 0.05)) { // the hand starts, or stops
                bool is_quick = world_chance(random, 0.2);
                look[i][0] =
                    world_chance(random, 0.4) ? 0 : world_bell(random) * (is_quick ? 5 : 1);
                look[i][1] = world_chance(random, 0.6) ? 0 : world_bell(random) * 0.4;
            }
            if (m->wait > 0) keys[i][0] = keys[i][1] = look[i][0] = look[i][1] = 0;
            bool is_moved = look[i][0] != 0;
            m->yaw += (look[i][0] * (0.7 + 0.6 * world_between(random, 0, 1))) * step;
            m->pitch += is_moved ? look[i][1] * world_between(random, 0.5, 1.5) * step : 0;
            m->pitch = m->pitch > 1.5 ? 1.5 : m->pitch < -1.5 ? -1.5 : m->pitch;
            double fast = weapon[i] > 3 ? 5 : 7;
            double wish_x = (cos(m->yaw) * keys[i][0] - sin(m->yaw) * keys[i][1]) * fast;
            double wish_y = (sin(m->yaw) * keys[i][0] + cos(m->yaw) * keys[i][1]) * fast;
            double grip = m->z > 0 ? 0.02 : 0.18;
            m->vx += (wish_x - m->vx) * grip, m->vy += (wish_y - m->vy) * grip;
            if (fabs(m->vx) + fabs(m->vy) < 0.05) m->vx = m->vy = 0;
            if (m->z > 0) m->vz -= 15 * step;
            if (m->z <= 0 && world_chance(random, keys[i][0] != 0 ? 0.01 : 0)) m->vz = 6;
            m->x += m->vx * step, m->y += m->vy * step, m->z += m->vz * step;
            if (m->z <= 0) m->z = 0, m->vz = m->vz > 0 ? m->vz : 0;
            if (fabs(m->x) > 200) m->x = m->x > 0 ? 200 : -200, m->vx = 0;
            if (fabs(m->y) > 200) m->y = m->y > 0 ? 200 : -200, m->vy = 0;
            bool is_firing = sin(frame / 60.0 + i) > 0.8 && m->wait <= 0;
            if (is_firing && frame % 6 == i % 6 && ammo[i] > 0) ammo[i]--;
            if (ammo[i] == 0 && world_chance(random, 0.01)) ammo[i] = 30;
            if (world_chance(random, 0.004)) weapon[i] = world_below(random, 6);
            if (world_chance(random, 0.01)) {
                double hurt = world_between(random, 5, 35);
                armour[i] = armour[i] > hurt / 2 ? armour[i] - hurt / 2 : 0;
                health[i] -= hurt / 2;
            }
            double state = (is_firing ? 1 : 0) + (m->z > 0 ? 2 : 0) + (m->wait > 0 ? 8 : 0);
            trace_put(made, frame, i, i + 1, 0,
                      (double[]){ammo[i], armour[i], health[i] > 0 ? health[i] : 0,
                                 world_angle(m->yaw), m->pitch + M_PI, m->x, m->y, m->z, state,
                                 m->vx, m->vy, m->vz, weapon[i]});
        }
    }
}

// From above: agents walk with inertia, aim at each other, shoot bullets that fly straight.
void world_arena(trace* made, world_random* random) {
    for (uint32_t t = 0; t < 2; t++) {
        proto_layout* layout = trace_add_template(made);
        trace_add_words(layout, 1, PROTO_U8, 0);            // ammunition
        trace_add_reals(layout, 1, 10, 0, 2 * M_PI / 1024); // heading
        trace_add_words(layout, 1, PROTO_U8, 0);            // health
        trace_add_reals(layout, 2, 15, 0, 1.0 / 64)->integral = 5;
        trace_add_reals(layout, 2, 11, -32, 1.0 / 32);
    }
    trace_finish(made, AGENTS + BULLETS, WORLD_SECONDS * made->rate_hz);
    trace_set_default(made, 0, (double[]){20, 0, 100, 0, 0, 0, 0});
    trace_set_default(made, 1, (double[]){0, 0, 1, 0, 0, 0, 0});
    world_mover all[AGENTS + BULLETS] = {{0}};
    double health[AGENTS], ammo[AGENTS], step = 1.0 / 60;
    uint32_t lives = 0;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < AGENTS; i++) {
            world_mover* m = &all[i];
            if (frame == 0 || health[i] <= 0) {
                *m = (world_mover){.x = world_between(random, 20, 490),
                                   .y = world_between(random, 20, 490)};
                m->goal_x = m->x, m->goal_y = m->y, m->life = ++lives,
                m->yaw = world_between(random, 0, 6);
                health[i] = 100, ammo[i] = 20;
            }
            double dx = m->goal_x - m->x, dy = m->goal_y - m->y, distance = sqrt(dx * dx + dy * dy);
            m->wait -= step;
            if (distance < 3 && m->wait < -1)
                m->wait = world_chance(random, 0.3) ? world_between(random, 0, 4) : 0;
            if (distance < 3 || world_chance(random, 0.003)) {
                m->goal_x = world_between(random, 20, 490),
                m->goal_y = world_between(random, 20, 490);
                m->speed = world_between(random, 3, 8);
            }
            double push = m->wait > 0 ? 0 : m->speed / (distance + 0.01);
            m->vx += (dx * push - m->vx) * 0.07, m->vy += (dy * push - m->vy) * 0.07;
            if (fabs(m->vx) + fabs(m->vy) < 0.02) m->vx = m->vy = 0;
            m->x += m->vx * step, m->y += m->vy * step;
            const world_mover* near = &all[(i + 1) % AGENTS];
            double aim = i % 3 ? atan2(m->vy, m->vx) : atan2(near->y - m->y, near->x - m->x);
            if (m->wait <= 0 || i % 3 == 0) m->yaw = world_turn(m->yaw, aim, 3.5 * step);
            if (world_chance(random, 0.003)) health[i] -= world_between(random, 10, 30);
            uint32_t b = AGENTS + i % BULLETS;
            if (i % 3 == 0 && ammo[i] > 0 && all[b].life == 0 && world_chance(random, 0.03)) {
                all[b] = (world_mover){.x = m->x,
                                       .y = m->y,
                                       .vx = cos(m->yaw) * 25,
                                       .vy = sin(m->yaw) * 25,
                                       .yaw = m->yaw,
                                       .life = ++lives,
                                       .wait = world_between(random, 0.2, 1)};
                ammo[i]--;
            }
            if (ammo[i] == 0 && world_chance(random, 0.01)) ammo[i] = 20;
            trace_put(
                made, frame, i, m->life, 0,
                (double[]){ammo[i], world_angle(m->yaw), health[i], m->x, m->y, m->vx, m->vy});
        }
        for (uint32_t i = AGENTS; i < AGENTS + BULLETS; i++) {
            world_mover* m = &all[i];
            m->wait -= step;
            if (m->wait < 0) m->life = 0;
            m->x += m->vx * step, m->y += m->vy * step;
            if (m->life)
                trace_put(made, frame, i, m->life, 1,
                          (double[]){0, world_angle(m->yaw), 1, m->x, m->y, m->vx, m->vy});
        }
    }
}
