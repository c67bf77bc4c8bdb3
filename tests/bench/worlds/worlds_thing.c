// SPDX-License-Identifier: MIT
// Worlds of things that rarely change: inventories, pickups; and a game that declares no steps.
#include "worlds.h"

#include <math.h>

enum { OWNERS = 200, ITEMS = 150, EATERS = 50, BALLS = 100 };

// Characters of a role-playing game: many whole numbers, few of them change at a time.
void world_inventory(trace* made, world_random* random) {
    proto_layout* owner = trace_add_template(made);
    trace_add_words(owner, 12, PROTO_U8, 0);    // bag: a kind and a count per place
    trace_add_words(owner, 4, PROTO_BOOL, 0);   // buffs
    trace_add_words(owner, 1, PROTO_I32, 0);    // gold
    trace_add_words(owner, 2, PROTO_U16, 0);    // health, mana
    trace_add_reals(owner, 2, 15, 0, 1.0 / 64); // position
    trace_add_words(owner, 1, PROTO_ENTITY, 0); // target
    trace_add_reals(owner, 1, 7, 0, 1.0 / 100); // use
    trace_finish(made, OWNERS, WORLD_SECONDS * made->rate_hz);
    world_mover all[OWNERS] = {{0}};
    double values[OWNERS][23] = {{0}};
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < OWNERS; i++) {
            world_mover* m = &all[i];
            double* v = values[i];
            if (frame == 0) {
                for (uint32_t k = 0; k < 12; k++)
                    v[k] = world_below(random, k % 2 ? 20 : 60);
                v[16] = world_below(random, 5000), v[17] = 300, v[18] = 200;
                m->x = m->goal_x = world_between(random, 10, 490);
                m->y = m->goal_y = world_between(random, 10, 490), m->speed = 4;
            }
            if (world_chance(random, 0.02))
                v[1 + 2 * world_below(random, 6)] += world_chance(random, 0.5) ? 1 : -1;
            if (world_chance(random, 0.005))
                v[2 * world_below(random, 6)] = world_below(random, 60);
            if (world_chance(random, 0.01)) v[12 + world_below(random, 4)] = world_below(random, 2);
            if (world_chance(random, 0.01)) v[16] += floor(world_between(random, -50, 80));
            bool is_fight = i % 3 == 0;
            if (is_fight && world_chance(random, 0.08))
                v[17] -= floor(world_between(random, 5, 40));
            if (is_fight && world_chance(random, 0.05)) v[18] -= 15;
            if (frame % 20 == i % 20) v[17] = fmin(v[17] + 5, 300), v[18] = fmin(v[18] + 3, 200);
            if (v[17] <= 0) v[17] = 300;
            if (v[18] < 0) v[18] = 0;
            if (world_chance(random, 0.01)) m->goal_x = m->x + world_bell(random) * 20;
            if (world_chance(random, 0.01)) m->goal_y = m->y + world_bell(random) * 20;
            if (fabs(m->goal_x - m->x) + fabs(m->goal_y - m->y) > 0.5)
                (void)world_walk(m, 8, 1.0 / 20);
            v[19] = m->x, v[20] = m->y;
            if (world_chance(random, 0.02))
                v[21] = world_chance(random, 0.3) ? 0 : 1 + world_below(random, 200) + (1 << 22);
            v[22] = v[22] > 0 ? v[22] + 0.05 : world_chance(random, 0.02) ? 0.05 : 0;
            if (v[22] > 1.05) v[22] = 0;
            for (uint32_t k = 0; k < 12; k++)
                v[k] = v[k] < 0 ? 0 : v[k];
            trace_put(made, frame, i, i + 1, 0, v);
        }
    }
}

// Things that lie there, are taken and come again; those who take them.
void world_pickups(trace* made, world_random* random) {
    proto_layout* item = trace_add_template(made);
    trace_add_words(item, 1, PROTO_U8, 3);       // kind
    trace_add_reals(item, 3, 14, -64, 1.0 / 64); // position
    trace_add_words(item, 1, PROTO_U8, 5);       // seconds
    trace_add_words(item, 1, PROTO_BOOL, 0);     // taken
    proto_layout* eater = trace_add_template(made);
    trace_add_words(eater, 1, PROTO_U8, 7); // health
    trace_add_reals(eater, 3, 14, -64, 1.0 / 64);
    trace_add_words(eater, 1, PROTO_U16, 0); // score
    trace_finish(made, ITEMS + EATERS, WORLD_SECONDS * made->rate_hz);
    world_mover all[ITEMS + EATERS] = {{0}};
    double left[ITEMS] = {0}, health[EATERS], score[EATERS] = {0};
    uint32_t lives = 0;
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < EATERS; i++) {
            world_mover* m = &all[ITEMS + i];
            if (frame == 0) m->life = ++lives, m->speed = 3 + i % 4, health[i] = 100;
            if (frame == 0 || world_walk(m, 5, 1.0 / 30) < 1) {
                const world_mover* goal = &all[world_below(random, ITEMS)];
                m->goal_x = goal->x + world_bell(random), m->goal_y = goal->y + world_bell(random);
            }
            if (world_chance(random, 0.02))
                health[i] = fmax(1, health[i] - world_between(random, 1, 20));
        }
        for (uint32_t i = 0; i < ITEMS; i++) {
            world_mover* m = &all[i];
            if (frame == 0 || (m->life == 0 && world_chance(random, 0.01))) {
                m->x = world_between(random, -60, 60), m->y = world_between(random, -60, 60),
                m->z = 1;
                m->life = ++lives, left[i] = 0;
            }
            if (m->life == 0) continue;
            left[i] = fmax(0, left[i] - 1.0 / 30);
            for (uint32_t k = 0; k < EATERS && left[i] <= 0; k++) {
                const world_mover* e = &all[ITEMS + k];
                if (pow(e->x - m->x, 2) + pow(e->y - m->y, 2) > 2) continue;
                left[i] = 15, score[k] += 10, health[k] = fmin(100, health[k] + 25);
                if (i % 4 == 0) m->life = 0; // this kind does not come again
            }
            if (m->life == 0) continue;
            trace_put(made, frame, i, m->life, 0,
                      (double[]){i % 6, m->x, m->y, m->z, ceil(left[i]), left[i] > 0});
        }
        for (uint32_t i = 0; i < EATERS; i++) {
            const world_mover* m = &all[ITEMS + i];
            trace_put(made, frame, ITEMS + i, m->life, 1,
                      (double[]){health[i], m->x, m->y, 1 + 0.2 * sin(frame / 5.0 + i), score[i]});
        }
    }
}

// A game that declares no steps: floats and whole numbers as they are.
void world_exact(trace* made, world_random* random) {
    proto_layout* ball = trace_add_template(made);
    trace_add_words(ball, 2, PROTO_F32, 0); // position
    trace_add_words(ball, 1, PROTO_I32, 0); // score
    trace_add_words(ball, 2, PROTO_F32, 0); // velocity
    trace_finish(made, BALLS, WORLD_SECONDS * made->rate_hz);
    world_mover all[BALLS] = {{0}};
    double score[BALLS] = {0};
    for (uint32_t frame = 0; frame < made->frames; frame++) {
        for (uint32_t i = 0; i < BALLS; i++) {
            world_mover* m = &all[i];
            if (frame == 0) {
                m->x = world_between(random, -20, 20), m->y = world_between(random, -20, 20);
                m->vx = i % 3 ? world_bell(random) * 5 : 0,
                m->vy = i % 3 ? world_bell(random) * 5 : 0;
            }
            if (fabs(m->x) > 25) m->vx = -m->vx, score[i] += 10;
            if (fabs(m->y) > 25) m->vy = -m->vy, score[i] += 10;
            m->x += m->vx / 30, m->y += m->vy / 30;
            trace_put(made, frame, i, i + 1, 0, (double[]){m->x, m->y, score[i], m->vx, m->vy});
        }
    }
}
