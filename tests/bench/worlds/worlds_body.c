// SPDX-License-Identifier: MIT
// Worlds of bodies that turn: cubes that fall and roll, debris in space, heads and hands.
#include "worlds.h"

#include <math.h>

enum { CUBES = 300, ROCKS = 200, AVATARS = 40 };

// Cubes on a floor that a ball pushes: they roll, slide, jump, come to rest. No velocity is sent.
void world_cubes(trace* made, world_random* random) {
    proto_layout* cube = trace_add_template(made);
    trace_add_words(cube, 1, PROTO_BOOL, 0); // touched
    trace_add_rotation(cube, 9);
    trace_add_reals(cube, 3, 18, -256, 1.0 / 512);
    trace_finish(made, CUBES, WORLD_SECONDS * made->rate_hz);
    world_mover all[CUBES] = {{0}};
    world_rotation turned[CUBES];
    double spin[CUBES][3] = {{0}}, touched[CUBES] = {0}, step = 1.0 / 60, angle = 0;
    double ball_x = 0, ball_y = 0;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        angle += world_bell(random) * 0.05;
        ball_x += (cos(angle) * 6 - ball_x * 0.3) * step;
        ball_y += (sin(angle) * 6 - ball_y * 0.3) * step;
        for (uint32_t i = 0; i < CUBES; i++) {
            world_mover* m = &all[i];
            if (frame == 0) {
                m->x = (i % 20) * 1.0 - 10, m->y = i / 20 * 1.0 - 8, m->z = 0.2;
                turned[i] = world_rotation_axis(0, 0, 1, 0);
            }
            double dx = m->x - ball_x, dy = m->y - ball_y, near = sqrt(dx * dx + dy * dy);
            touched[i] -= step;
            if (near < 3 && near > 0) {
                double push = (3 - near) * 30 * step;
                m->vx += dx / near * push + world_bell(random) * 0.1;
                m->vy += dy / near * push + world_bell(random) * 0.1;
                if (world_chance(random, 0.06)) m->vz += world_between(random, 0, 4);
                for (uint32_t k = 0; k < 3; k++)
                    spin[i][k] += world_bell(random) * push;
                touched[i] = 0.6;
            }
            bool is_moving = fabs(m->vx) + fabs(m->vy) + fabs(m->vz) > 0.02 || m->z > 0.201;
            if (is_moving) {
                m->vz -= 9.81 * step;
                m->x += m->vx * step, m->y += m->vy * step, m->z += m->vz * step;
                if (m->z < 0.2) {
                    m->z = 0.2;
                    m->vz = m->vz < -0.6 ? -m->vz * 0.3 : 0;
                    m->vx *= 0.98, m->vy *= 0.98;
                    spin[i][0] += (-m->vy * 5 - spin[i][0]) * 0.12; // it rolls
                    spin[i][1] += (m->vx * 5 - spin[i][1]) * 0.12;
                    spin[i][2] *= 0.94;
                    if (world_chance(random, 0.1)) m->vz += fabs(m->vx) * 0.2; // over an edge
                    for (uint32_t k = 0; k < 3; k++)
                        spin[i][k] *= 1 + world_bell(random) * 0.06;
                }
                world_rotate(&turned[i], spin[i], step);
            } else {
                m->vx = m->vy = m->vz = 0;
            }
            const double* r = turned[i].part;
            trace_put(made, frame, i, i + 1, 0,
                      (double[]){touched[i] > 0, r[0], r[1], r[2], r[3], m->x, m->y, m->z});
        }
    }
}

// Debris: it drifts and turns evenly, sometimes something hits it.
void world_spinners(trace* made, world_random* random) {
    proto_layout* rock = trace_add_template(made);
    trace_add_reals(rock, 3, 18, -512, 1.0 / 256);
    trace_add_rotation(rock, 11);
    trace_finish(made, ROCKS, WORLD_SECONDS * made->rate_hz);
    world_mover all[ROCKS] = {{0}};
    world_rotation turned[ROCKS];
    double spin[ROCKS][3], step = 1.0 / 20;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < ROCKS; i++) {
            world_mover* m = &all[i];
            bool is_hit = frame == 0 || world_chance(random, 0.005);
            if (frame == 0) {
                m->x = world_between(random, -300, 300), m->y = world_between(random, -300, 300);
                m->z = world_between(random, -300, 300);
                turned[i] = world_rotation_axis(world_bell(random), world_bell(random), 1, 2);
            }
            for (uint32_t k = 0; is_hit && k < 3; k++)
                spin[i][k] = world_bell(random) * (i % 4 == 0 ? 2 : 0.4);
            if (is_hit)
                m->vx = world_bell(random) * 3, m->vy = world_bell(random) * 3,
                m->vz = world_bell(random);
            if (i % 7 == 0) m->vx = m->vy = m->vz = 0; // a wheel on its axle
            m->x += m->vx * step, m->y += m->vy * step, m->z += m->vz * step;
            world_rotate(&turned[i], spin[i], step);
            const double* r = turned[i].part;
            trace_put(made, frame, i, i + 1, 0,
                      (double[]){m->x, m->y, m->z, r[0], r[1], r[2], r[3]});
        }
    }
}

// Heads and hands of people in a room, tracked with noise; each has a rotation of 12 bits.
void world_avatars(trace* made, world_random* random) {
    proto_layout* avatar = trace_add_template(made);
    trace_add_rotation(avatar, 12);                  // hand
    trace_add_reals(avatar, 3, 13, -4, 1.0 / 1024);  // hand
    trace_add_rotation(avatar, 11);                  // head
    trace_add_reals(avatar, 3, 15, -16, 1.0 / 1024); // head
    trace_add_words(avatar, 1, PROTO_U8, 4);         // voice
    trace_finish(made, AVATARS, WORLD_SECONDS * made->rate_hz);
    world_mover all[AVATARS] = {{0}};
    double hand[AVATARS][3] = {{0}}, goal[AVATARS][4] = {{0}}, pose[AVATARS][4] = {{0}};
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < AVATARS; i++) {
            world_mover* m = &all[i];
            if (frame == 0)
                m->x = world_between(random, -8, 8), m->y = world_between(random, -8, 8);
            for (uint32_t k = 0; k < 4; k++)
                if (world_chance(random, 0.02)) goal[i][k] = world_bell(random) * 0.4;
            if (world_chance(random, 0.01))
                m->vx = world_bell(random) * 0.01, m->vy = world_bell(random) * 0.01;
            if (world_chance(random, 0.05)) m->vx = m->vy = 0;
            m->x += m->vx, m->y += m->vy;
            if (fabs(m->x) > 14) m->vx = -m->vx;
            if (fabs(m->y) > 14) m->vy = -m->vy;
            for (uint32_t k = 0; k < 4; k++)
                pose[i][k] += (goal[i][k] - pose[i][k]) * 0.15 + world_bell(random) * 0.002;
            for (uint32_t k = 0; k < 3; k++)
                hand[i][k] +=
                    (goal[i][(k + 1) % 4] - hand[i][k]) * 0.12 + world_bell(random) * 0.001;
            world_rotation head = world_rotation_axis(0, 0, 1, pose[i][0] * 3);
            double nod[3] = {pose[i][1], pose[i][2] * 0.3, 0};
            world_rotate(&head, nod, 1);
            world_rotation wrist = world_rotation_axis(1, 0.2, 0, pose[i][2] * 4);
            double turn[3] = {0, pose[i][3] * 3, pose[i][0]};
            world_rotate(&wrist, turn, 1);
            bool is_gone = i % 8 == 0; // put down
            double voice =
                is_gone ? 0 : fmax(0, floor(8 * sin(frame / 50.0 + i) + world_bell(random)));
            const double *w = wrist.part, *h = head.part;
            world_rotation rest = world_rotation_axis(0, 0, 1, i);
            if (is_gone) w = h = rest.part;
            trace_put(made, frame, i, i + 1, 0,
                      (double[]){w[0], w[1], w[2], w[3], is_gone ? 0 : hand[i][0] + 0.5,
                                 is_gone ? 0 : hand[i][1], is_gone ? 0 : hand[i][2], h[0], h[1],
                                 h[2], h[3], m->x, m->y, is_gone ? 1 : 1.6 + pose[i][1] * 0.1,
                                 voice});
        }
    }
}
