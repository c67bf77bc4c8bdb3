// SPDX-License-Identifier: MIT
// Worlds of things that move: vehicles, people, birds, armies, machines.
#include "worlds.h"

#include <math.h>

enum { CARS = 120, PEOPLE = 400, BIRDS = 300, UNITS = 500, LIFTS = 150 };

// Cars on roads: a rotation about the vertical axis with a little roll, a velocity whose integral
// is the position, the engine.
void world_vehicles(trace* made, world_random* random) {
    proto_layout* car = trace_add_template(made);
    trace_add_words(car, 1, PROTO_U8, 3);                        // gear
    trace_add_reals(car, 3, 18, -1024, 1.0 / 128)->integral = 5; // position
    trace_add_rotation(car, 10);
    trace_add_reals(car, 1, 8, 0, 1.0 / 255);   // rpm
    trace_add_reals(car, 3, 13, -64, 1.0 / 64); // velocity
    trace_add_reals(car, 1, 7, -0.64, 0.01);    // wheel
    trace_finish(made, CARS, WORLD_SECONDS * made->rate_hz);
    world_mover cars[CARS] = {{0}};
    double wheel[CARS] = {0}, target[CARS] = {0}, step = 1.0 / 30;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < CARS; i++) {
            world_mover* m = &cars[i];
            if (frame == 0 || sqrt(pow(m->goal_x - m->x, 2) + pow(m->goal_y - m->y, 2)) < 15) {
                m->goal_x = world_between(random, -800, 800);
                m->goal_y = world_between(random, -800, 800);
                if (frame == 0) m->x = world_between(random, -800, 800);
                if (frame == 0) m->y = world_between(random, -800, 800);
            }
            if (world_chance(random, 0.01)) target[i] = world_between(random, -5, 30);
            if (m->wait > 0) target[i] = 0;
            if (i % 5 == 0) target[i] = 0; // parked
            double push = target[i] - m->speed;
            m->speed += (push > 0.2 ? 0.2 : push < -0.4 ? -0.4 : push);
            if (m->speed < 0) m->speed = 0;
            double to = atan2(m->goal_y - m->y, m->goal_x - m->x);
            double left = world_turn(0, to - m->yaw, 0.5);
            wheel[i] += (left - wheel[i]) * 0.2;
            double turn = wheel[i] * m->speed / 3;
            m->yaw += turn * step;
            m->vx = cos(m->yaw) * m->speed, m->vy = sin(m->yaw) * m->speed;
            double ground = 5 * sin(m->x / 40) + 3 * sin(m->y / 30);
            double slope = cos(m->x / 40) / 8 * m->vx + cos(m->y / 30) / 10 * m->vy;
            m->vz = slope;
            m->x += m->vx * step, m->y += m->vy * step, m->z = ground;
            world_rotation r = world_rotation_axis(0, 0, 1, m->yaw);
            double lean[3] = {turn * 0.1 * cos(m->yaw), turn * 0.1 * sin(m->yaw), 0};
            world_rotate(&r, lean, 1);
            double rpm = fmod(m->speed, 8) / 10 + 0.1 + (m->speed > 0) * world_bell(random) * 0.004;
            trace_put(made, frame, i, i + 1, 0,
                      (double[]){floor(m->speed / 8) + 1, m->x, m->y, m->z, r.part[0], r.part[1],
                                 r.part[2], r.part[3], rpm, m->vx, m->vy, m->vz, wheel[i]});
        }
    }
}

// People who walk from place to place, with pauses: a position without a velocity, a heading.
void world_crowd(trace* made, world_random* random) {
    proto_layout* person = trace_add_template(made);
    trace_add_words(person, 1, PROTO_U8, 4);          // animation
    trace_add_reals(person, 1, 8, 0, 2 * M_PI / 256); // heading
    trace_add_reals(person, 2, 15, 0, 1.0 / 64);
    trace_finish(made, PEOPLE, WORLD_SECONDS * made->rate_hz);
    world_mover people[PEOPLE] = {{0}};
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < PEOPLE; i++) {
            world_mover* m = &people[i];
            if (frame == 0) {
                m->x = m->goal_x = world_between(random, 10, 490);
                m->y = m->goal_y = world_between(random, 10, 490);
                m->wait = world_between(random, 0, 4);
            }
            m->wait -= 1.0 / 20;
            if (m->wait <= 0) {
                m->speed = m->speed > 0 ? m->speed : world_between(random, 0.8, 2.2);
                if (world_chance(random, 0.03))
                    m->yaw += world_bell(random) * 0.6; // someone is in the way
                if (world_walk(m, 4, 1.0 / 20) < 1) {
                    m->wait = world_between(random, 0, 8);
                    m->speed = 0;
                    m->goal_x = world_between(random, 10, 490);
                    m->goal_y = world_between(random, 10, 490);
                }
            } else if (world_chance(random, 0.01)) {
                m->yaw += world_bell(random); // looks around
            }
            double pose = m->wait > 0 ? (m->wait > 4 ? 2 : 0) : m->speed > 1.5 ? 3 : 1;
            trace_put(made, frame, i, i + 1, 0, (double[]){pose, world_angle(m->yaw), m->x, m->y});
        }
    }
}

// Birds: a velocity in space that turns all the time, its integral.
void world_flock(trace* made, world_random* random) {
    proto_layout* bird = trace_add_template(made);
    trace_add_reals(bird, 3, 16, -512, 1.0 / 64)->integral = 2;
    trace_add_reals(bird, 3, 11, -32, 1.0 / 32);
    trace_finish(made, BIRDS, WORLD_SECONDS * made->rate_hz);
    world_mover birds[BIRDS] = {{0}};
    double home[3] = {0}, step = 1.0 / 30;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        double middle[6] = {0};
        for (uint32_t i = 0; i < BIRDS; i++) {
            middle[0] += birds[i].x / BIRDS, middle[1] += birds[i].y / BIRDS;
            middle[2] += birds[i].z / BIRDS, middle[3] += birds[i].vx / BIRDS;
            middle[4] += birds[i].vy / BIRDS, middle[5] += birds[i].vz / BIRDS;
        }
        if (frame % 90 == 0)
            for (uint32_t k = 0; k < 3; k++)
                home[k] = world_between(random, -150, 150);
        for (uint32_t i = 0; i < BIRDS; i++) {
            world_mover* m = &birds[i];
            if (frame == 0) {
                m->x = world_between(random, -100, 100), m->y = world_between(random, -100, 100);
                m->z = world_between(random, -50, 50), m->vx = world_between(random, -8, 8);
            }
            const world_mover* near = &birds[(i + 1) % BIRDS];
            double ax =
                (home[0] - m->x) * 0.1 + (middle[3] - m->vx) * 0.5 + (middle[0] - m->x) * 0.05;
            double ay =
                (home[1] - m->y) * 0.1 + (middle[4] - m->vy) * 0.5 + (middle[1] - m->y) * 0.05;
            double az =
                (home[2] - m->z) * 0.1 + (middle[5] - m->vz) * 0.5 + (middle[2] - m->z) * 0.05;
            double dx = m->x - near->x, dy = m->y - near->y, dz = m->z - near->z;
            double close = 40 / (4 + dx * dx + dy * dy + dz * dz);
            m->vx += (ax + dx * close + world_bell(random)) * step;
            m->vy += (ay + dy * close + world_bell(random)) * step;
            m->vz += (az + dz * close + world_bell(random)) * step;
            double speed = sqrt(m->vx * m->vx + m->vy * m->vy + m->vz * m->vz);
            double slow = speed > 14 ? 14 / speed : 1;
            m->vx *= slow, m->vy *= slow, m->vz *= slow;
            m->x += m->vx * step, m->y += m->vy * step, m->z += m->vz * step;
            trace_put(made, frame, i, i + 1, 0, (double[]){m->x, m->y, m->z, m->vx, m->vy, m->vz});
        }
    }
}

// Armies: groups that go straight to a place, mostly stand there, work and are hurt.
void world_units(trace* made, world_random* random) {
    proto_layout* unit = trace_add_template(made);
    trace_add_reals(unit, 1, 6, 0, 2 * M_PI / 64); // heading
    trace_add_words(unit, 1, PROTO_U16, 0);        // health
    trace_add_words(unit, 1, PROTO_U8, 3);         // order
    trace_add_reals(unit, 2, 14, 0, 1.0 / 16);     // position
    trace_add_reals(unit, 1, 7, 0, 1.0 / 100);     // work
    trace_add_words(unit, 1, PROTO_ENTITY, 0);     // target
    trace_finish(made, UNITS, WORLD_SECONDS * made->rate_hz);
    world_mover units[UNITS] = {{0}};
    double goals[25][2], work[UNITS] = {0}, health[UNITS], target[UNITS] = {0};
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t g = 0; g < 25; g++) {
            if (frame > 0 && !world_chance(random, 0.004)) continue;
            goals[g][0] = world_between(random, 50, 950),
            goals[g][1] = world_between(random, 50, 950);
        }
        for (uint32_t i = 0; i < UNITS; i++) {
            world_mover* m = &units[i];
            uint32_t group = i / 20;
            double spread_x = (i % 5) * 4.0, spread_y = (i % 20) / 5 * 4.0;
            m->goal_x = goals[group][0] + spread_x, m->goal_y = goals[group][1] + spread_y;
            if (frame == 0) {
                m->x = m->goal_x + world_between(random, -50, 50);
                m->y = m->goal_y + world_between(random, -50, 50);
                m->speed = 3 + group % 3 * 2, health[i] = 200;
            }
            bool is_there =
                sqrt(pow(m->goal_x - m->x, 2) + pow(m->goal_y - m->y, 2)) < m->speed / 20;
            if (is_there) {
                m->x = m->goal_x, m->y = m->goal_y;
                if (group % 4 == 0) work[i] = fmod(work[i] + 0.01, 1.2);
            } else {
                (void)world_walk(m, 20, 1.0 / 20);
            }
            bool is_fight = group % 4 == 1 && is_there;
            if (is_fight && world_chance(random, 0.1)) health[i] -= world_between(random, 3, 20);
            if (is_fight && world_chance(random, 0.03))
                target[i] = 1 + world_below(random, UNITS) + (1 << 22);
            if (health[i] <= 0) health[i] = 200;
            double order = is_fight ? 2 : is_there ? (group % 4 == 0 ? 3 : 0) : 1;
            trace_put(made, frame, i, i + 1, 0,
                      (double[]){world_angle(m->yaw), health[i], order, m->x, m->y,
                                 work[i] > 1 ? 1 : work[i], is_fight ? target[i] : 0});
        }
    }
}

// Lifts and platforms: one number that goes there and back, doors, a lamp.
void world_platforms(trace* made, world_random* random) {
    proto_layout* lift = trace_add_template(made);
    trace_add_reals(lift, 1, 8, 0, 1.0 / 255); // door
    trace_add_reals(lift, 1, 12, 0, 1.0 / 64); // height
    trace_add_words(lift, 1, PROTO_BOOL, 0);   // lamp
    proto_layout* plate = trace_add_template(made);
    trace_add_reals(plate, 3, 16, -256, 1.0 / 128);
    trace_finish(made, LIFTS, WORLD_SECONDS * made->rate_hz);
    double height[LIFTS] = {0}, goal[LIFTS] = {0}, door[LIFTS] = {0}, phase[LIFTS], way[LIFTS];
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < LIFTS; i++) {
            if (frame == 0)
                phase[i] = world_between(random, 0, 6), way[i] = world_between(random, 3, 20);
            if (i % 2) {
                double t = frame / 60.0 / (2 + phase[i]) + phase[i];
                double x = way[i] * sin(t), y = i % 4 == 1 ? way[i] * cos(t) : 10;
                trace_put(made, frame, i, i + 1, 1, (double[]){x, y, i % 6 == 1 ? x / 2 : 5});
                continue;
            }
            double left = goal[i] - height[i];
            if (door[i] <= 0 && fabs(left) > 0.01) {
                double pace = fabs(left) < 1 ? 0.01 + fabs(left) * 0.03 : 0.04;
                height[i] += left > 0 ? fmin(pace, left) : fmax(-pace, left);
            } else if (fabs(left) <= 0.01 && world_chance(random, 0.002)) {
                goal[i] = world_below(random, 10) * 4.0;
            } else if (fabs(left) <= 0.01) {
                door[i] = fmin(door[i] + 0.02, 1);
            } else {
                door[i] -= 0.02;
            }
            trace_put(made, frame, i, i + 1, 0, (double[]){door[i], height[i], door[i] > 0});
        }
    }
}
