// SPDX-License-Identifier: MIT
#include "worlds.h"

#include "base/macros.h"

#include <math.h>

double world_between(world_random* random, double low, double high) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return low + (high - low) * ((double)((z ^ z >> 31) >> 11) / 9007199254740992.0);
}

double world_bell(world_random* random) {
    double sum = 0;
    for (uint32_t i = 0; i < 6; i++)
        sum += world_between(random, -1, 1);
    return sum / 1.4142135623730951;
}

bool world_chance(world_random* random, double probability) {
    return world_between(random, 0, 1) < probability;
}

uint32_t world_below(world_random* random, uint32_t count) {
    return (uint32_t)world_between(random, 0, count);
}

double world_angle(double angle) {
    double whole = 2 * M_PI;
    return angle - whole * floor(angle / whole);
}

double world_turn(double angle, double goal, double most) {
    double left = world_angle(goal - angle + M_PI) - M_PI;
    return angle + (left > most ? most : left < -most ? -most : left);
}

double world_walk(world_mover* mover, double turn, double step) {
    double dx = mover->goal_x - mover->x, dy = mover->goal_y - mover->y;
    mover->yaw = world_turn(mover->yaw, atan2(dy, dx), turn * step);
    mover->vx = cos(mover->yaw) * mover->speed;
    mover->vy = sin(mover->yaw) * mover->speed;
    mover->x += mover->vx * step;
    mover->y += mover->vy * step;
    return sqrt(dx * dx + dy * dy);
}

world_rotation world_rotation_axis(double x, double y, double z, double angle) {
    double s = sin(angle / 2), length = sqrt(x * x + y * y + z * z);
    if (length > 0) s /= length;
    return (world_rotation){{x * s, y * s, z * s, cos(angle / 2)}};
}

void world_rotate(world_rotation* rotation, const double velocity[3], double step) {
    double speed =
        sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
    world_rotation by = world_rotation_axis(velocity[0], velocity[1], velocity[2], speed * step);
    const double *a = by.part, *b = rotation->part;
    world_rotation to = {{a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
                          a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
                          a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
                          a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]}};
    double length = 0;
    for (uint32_t i = 0; i < 4; i++)
        length += to.part[i] * to.part[i];
    for (uint32_t i = 0; i < 4; i++)
        rotation->part[i] = to.part[i] / sqrt(length);
}

const world_kind* world_kinds(uint32_t* count) {
    static const world_kind kinds[] = {
        {"vehicles", 30, world_vehicles},   {"crowd", 20, world_crowd},
        {"flock", 30, world_flock},         {"units", 20, world_units},
        {"platforms", 60, world_platforms}, {"projectiles", 60, world_projectiles},
        {"turrets", 30, world_turrets},     {"shooters", 60, world_shooters},
        {"arena", 60, world_arena},         {"cubes", 60, world_cubes},
        {"spinners", 20, world_spinners},   {"avatars", 30, world_avatars},
        {"inventory", 20, world_inventory}, {"pickups", 30, world_pickups},
        {"exact", 30, world_exact},
    };
    *count = BASE_COUNT(kinds);
    return kinds;
}

void world_make(trace* made, const world_kind* kind, uint64_t seed) {
    world_random random = {seed * UINT64_C(0xd1342543de82ef95) + 1};
    trace_begin(made, kind->name, kind->rate_hz);
    kind->make(made, &random);
}
