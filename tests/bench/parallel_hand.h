// SPDX-License-Identifier: MIT
/// What two threads reach on this machine: plain arrays cut in two, no world and no workers.
#pragma once

#include "ecs/value.h"

/// The wall's clock.
double parallel_now_us(void);
/// Bodies of 36 bytes fall, with one thread and with two, in turn. @return the time of one divided
/// by that of two, in the shortest rounds.
double parallel_hand_speedup(uint32_t rows, uint32_t rounds);

/// The rule of both: a tick of `count` bodies.
static inline void parallel_fall(ecs_vec3* restrict pos, ecs_vec3* restrict vel,
                                 const ecs_vec3* restrict force, uint32_t count, float dt) {
    for (uint32_t i = 0; i < count; i++) {
        pos[i].x += vel[i].x * dt;
        pos[i].y += vel[i].y * dt;
        pos[i].z += vel[i].z * dt;
        vel[i].x += force[i].x * dt;
        vel[i].y += force[i].y * dt;
        vel[i].z += force[i].z * dt;
    }
}
