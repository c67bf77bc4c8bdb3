// SPDX-License-Identifier: MIT
/// Generated worlds: small simulations of what games replicate. Tables of the row code are chosen
/// and checked with them (README.md).
///
/// Invariant: a kind and a seed always give the same trace on one machine.
#pragma once

#include "trace.h"

#define WORLD_SECONDS 10u

/// A source of chance (splitmix64).
typedef struct world_random {
    uint64_t state;
} world_random;

/// Get a number in [low, high).
double world_between(world_random* random, double low, double high);
/// Get a number near 0, of a bell curve with deviation 1.
double world_bell(world_random* random);
bool world_chance(world_random* random, double probability);
uint32_t world_below(world_random* random, uint32_t count);

/// What moves over the ground.
typedef struct world_mover {
    double x, y, z, vx, vy, vz, yaw, pitch, speed, goal_x, goal_y;
    double wait; ///< s
    uint32_t life;
} world_mover;

/// Turn `angle` towards `goal` by at most `most`.
double world_turn(double angle, double goal, double most);
/// Turn towards the goal and walk. @return the distance to the goal.
double world_walk(world_mover* mover, double turn, double step);
/// Get the angle of 0..2 pi that stands for `angle`.
double world_angle(double angle);

/// A unit quaternion x, y, z, w.
typedef struct world_rotation {
    double part[4];
} world_rotation;

world_rotation world_rotation_axis(double x, double y, double z, double angle);
/// Turn by an angular velocity for `step` seconds.
void world_rotate(world_rotation* rotation, const double velocity[3], double step);

typedef struct world_kind {
    const char* name;
    uint32_t rate_hz;
    void (*make)(trace* made, world_random* random);
} world_kind;

/// Get all kinds. `count` gets how many there are.
const world_kind* world_kinds(uint32_t* count);
/// Generate a trace. Close it with trace_close.
void world_make(trace* made, const world_kind* kind, uint64_t seed);

// ---- worlds_move.c ----
void world_vehicles(trace* made, world_random* random);
void world_crowd(trace* made, world_random* random);
void world_flock(trace* made, world_random* random);
void world_units(trace* made, world_random* random);
void world_platforms(trace* made, world_random* random);
// ---- worlds_fight.c ----
void world_projectiles(trace* made, world_random* random);
void world_turrets(trace* made, world_random* random);
void world_shooters(trace* made, world_random* random);
void world_arena(trace* made, world_random* random);
// ---- worlds_body.c ----
void world_cubes(trace* made, world_random* random);
void world_spinners(trace* made, world_random* random);
void world_avatars(trace* made, world_random* random);
// ---- worlds_thing.c ----
void world_inventory(trace* made, world_random* random);
void world_pickups(trace* made, world_random* random);
void world_exact(trace* made, world_random* random);
