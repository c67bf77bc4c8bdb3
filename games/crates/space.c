// SPDX-License-Identifier: MIT
// The physics: in each tick a Chipmunk space is made of components, steps once, and is freed.
//
// Chipmunk keeps much from step to step: a tree of bounding boxes whose shape decides the order of
// contacts, impulses to begin with, lists of what sleeps. None of it can be saved. A space that is
// new has none of it, and the same components give the same bits: after a keyframe, on another
// machine, and in a client's prediction. What this costs is in README.md. Two rules make it cheap:
//
// - A body sleeps when it has neither speed nor spin. Only bodies that move, and those near them,
//   are in the space of a tick. So what rests costs nothing, here and on the line.
// - What ends a tick is rounded to what clients get. They go on from the same numbers.
//
// The order in which bodies enter the space decides bits, so it is the order of entities' indices,
// which all sides share. Places move after Chipmunk's step by the speeds that it found, so nothing
// of the step is left for the next tick: overlaps are pushed apart at once.

#include "crates.h"

#include <chipmunk/chipmunk.h>
#include <chipmunk/chipmunk_structs.h> // for the sizes of bodies and shapes
#include <string.h>

#define CELL 4.0f ///< bodies that touch are in the same cell or in neighbours
#define COLUMNS 40u
#define ROWS 23u
#define PREDICTED 18.0f ///< a prediction moves what is nearer to the own car
#define FRICTION 0.5
#define SLOP 0.01

typedef struct slot {
    bool is_here, is_in_space;
    ecs_vec2 pos, vel;
    float angle, spin, grip;
    ecs_vec2 size;
    double mass;
    cpBody body;
    cpPolyShape shape;
} slot;

// Nothing in it outlives a tick.
struct crates_space {
    bool is_stepped; ///< the slots are those of the tick before
    uint32_t count;  ///< all bodies have lower indices
    bool is_busy[ROWS + 2][COLUMNS + 2];
    cpSegmentShape walls[4];
    slot slots[CRATES_BODIES_MAX]; ///< by index of the entity
};

#include "space.es.h"

bool crates_space_create(ecs_world* world, crates_game* game) {
    game->space = ecs_world_context(world, sizeof *game->space);
    return game->space;
}

static bool* cell_of(crates_space* space, ecs_vec2 pos, uint32_t row, uint32_t column) {
    row += (uint32_t)base_clamp(pos.y / CELL, 0.0f, (float)(ROWS - 1));
    column += (uint32_t)base_clamp(pos.x / CELL, 0.0f, (float)(COLUMNS - 1));
    return &space->is_busy[row][column];
}

static bool is_moving(const slot* one) {
    return one->vel.x != 0.0f || one->vel.y != 0.0f || one->spin != 0.0f;
}

ES_TAG(server | predict)
static void gather_es(ES_CONTEXT crates_game* game, ecs_entity entity, ecs_vec2 pos, ecs_vec2 vel,
                      float angle, float spin, const crates_box* box) {
    crates_space* space = game->space;
    if (space->is_stepped) { // a new tick
        for (uint32_t i = 0; i < space->count; i++)
            space->slots[i].is_here = space->slots[i].is_in_space = false;
        memset(space->is_busy, 0, sizeof space->is_busy);
        space->is_stepped = false;
        space->count = 0;
    }
    const uint32_t index = ecs_entity_index(entity);
    if (index >= CRATES_BODIES_MAX) return;
    space->count = index >= space->count ? index + 1 : space->count;
    slot* one = &space->slots[index];
    one->is_here = true;
    one->pos = pos, one->vel = vel, one->angle = angle, one->spin = spin;
    one->size = box->size, one->mass = (double)box->mass, one->grip = box->grip;
    const bool is_seen = !game->is_prediction || ecs_vec2_distance(pos, game->eye) < PREDICTED;
    if (!is_moving(one) || !is_seen) return;
    for (uint32_t i = 0; i < 9; i++)
        *cell_of(space, pos, i / 3, i % 3) = true;
}

// ---- one step ----

// The floor slows a body down, before the contacts are solved.
static void brake(cpBody* body, cpVect gravity, cpFloat damping, cpFloat dt) {
    (void)gravity, (void)damping;
    const slot* one = cpBodyGetUserData(body);
    const double loss = (double)one->grip * dt, speed = cpvlength(body->v);
    body->v = speed > loss ? cpvmult(body->v, (speed - loss) / speed) : cpvzero;
    body->w -= cpfclamp(body->w, -loss, loss);
}

static void stay(cpBody* body, cpFloat dt) {
    (void)body, (void)dt;
}

static void add_body(cpSpace* space, slot* one) {
    const double width = (double)one->size.x, height = (double)one->size.y;
    cpBody* body = cpBodyInit(&one->body, one->mass, cpMomentForBox(one->mass, width, height));
    cpBodySetUserData(body, one);
    cpBodySetPositionUpdateFunc(body, stay);
    cpBodySetVelocityUpdateFunc(body, brake);
    cpBodySetPosition(body, cpv((double)one->pos.x, (double)one->pos.y));
    cpBodySetAngle(body, (double)one->angle);
    cpBodySetVelocity(body, cpv((double)one->vel.x, (double)one->vel.y));
    cpBodySetAngularVelocity(body, (double)one->spin);
    cpSpaceAddBody(space, body);
    cpShape* shape = (cpShape*)cpBoxShapeInit(&one->shape, body, width, height, 0.0);
    cpShapeSetFriction(shape, FRICTION);
    cpSpaceAddShape(space, shape);
    one->is_in_space = true;
}

static void add_walls(cpSpace* space, cpSegmentShape* walls) {
    const double width = (double)CRATES_WIDTH, height = (double)CRATES_HEIGHT, radius = 1.0;
    const cpVect corners[4] = {{-radius, -radius},
                               {width + radius, -radius},
                               {width + radius, height + radius},
                               {-radius, height + radius}};
    for (uint32_t i = 0; i < 4; i++) {
        cpBody* ground = cpSpaceGetStaticBody(space);
        cpShape* wall = (cpShape*)cpSegmentShapeInit(&walls[i], ground, corners[i],
                                                     corners[(i + 1) % 4], radius);
        cpShapeSetFriction(wall, FRICTION);
        cpSpaceAddShape(space, wall);
    }
}

static void step(crates_game* game, double dt) {
    crates_space* space = game->space;
    cpSpace* physics = NULL;
    for (uint32_t i = 0; i < space->count; i++) {
        slot* one = &space->slots[i];
        if (!one->is_here || !*cell_of(space, one->pos, 1, 1)) continue;
        if (!physics) {
            physics = cpSpaceNew();
            cpSpaceSetCollisionSlop(physics, SLOP);
            add_walls(physics, space->walls);
        }
        add_body(physics, one);
    }
    space->is_stepped = true;
    if (!physics) return; // all sleep
    cpSpaceStep(physics, dt);
    for (uint32_t i = 0; i < space->count; i++) {
        slot* one = &space->slots[i];
        if (!one->is_in_space) continue;
        cpBodyUpdatePosition(&one->body, dt);
        const cpVect pos = cpBodyGetPosition(&one->body), vel = cpBodyGetVelocity(&one->body);
        const ecs_vec2 low = {0.0f, 0.0f}, high = {CRATES_WIDTH, CRATES_HEIGHT};
        const ecs_vec2 at = ecs_vec2_clamp((ecs_vec2){(float)pos.x, (float)pos.y}, low, high);
        one->pos = ecs_vec2_snap(at, game->pos_step); // even when it was pressed into a wall
        one->vel = (ecs_vec2){ecs_quantise(&game->vel_steps, (float)vel.x),
                              ecs_quantise(&game->vel_steps, (float)vel.y)};
        const float angle = ecs_angle_wrap((float)cpBodyGetAngle(&one->body));
        one->angle = ecs_quantise(&game->angle_steps, angle);
        const float spin = (float)cpBodyGetAngularVelocity(&one->body);
        one->spin = ecs_quantise(&game->spin_steps, spin);
    }
    cpSpaceFree(physics);
}

ES_TAG(server | predict)
ES_REQUIRE(box : CratesBox)
static void settle_es(const ecs_stage* stage, ES_CONTEXT crates_game* game, ecs_entity entity,
                      ecs_vec2* pos, ecs_vec2* vel, float* angle, float* spin) {
    if (!game->space->is_stepped) step(game, (double)stage->dt); // the first of the tick
    const uint32_t index = ecs_entity_index(entity);
    if (index >= CRATES_BODIES_MAX || !game->space->slots[index].is_in_space) return;
    const slot* one = &game->space->slots[index];
    *pos = one->pos, *vel = one->vel, *angle = one->angle, *spin = one->spin;
}

// ---- what Chipmunk asks of libc ----

// libm's bits differ between machines, so the linker gives Chipmunk these (--wrap, CMakeLists.txt).
double __wrap_sin(double angle);
double __wrap_sin(double angle) {
    return (double)base_sin((float)angle);
}

double __wrap_cos(double angle);
double __wrap_cos(double angle) {
    return (double)base_cos((float)angle);
}

void __wrap_sincos(double angle, double* sine, double* cosine);
void __wrap_sincos(double angle, double* sine, double* cosine) {
    *sine = __wrap_sin(angle);
    *cosine = __wrap_cos(angle);
}

double __wrap_sqrt(double value);
double __wrap_sqrt(double value) {
    return __builtin_sqrt(value); // one instruction, correctly rounded everywhere
}

// Of a base > 0: e^(exponent * ln base), both by their series.
double __wrap_pow(double base, double exponent);
double __wrap_pow(double base, double exponent) {
    uint64_t bits;
    memcpy(&bits, &base, sizeof bits);
    const double whole = (double)((int64_t)(bits >> 52) - 1023);
    bits = (bits & 0xfffffffffffffu) | UINT64_C(1023) << 52;
    double part, log = 0.0, power = 1.0;
    memcpy(&part, &bits, sizeof part);
    const double s = (part - 1.0) / (part + 1.0);
    for (int i = 39; i > 0; i -= 2)
        log = log * s * s + 2.0 / i;
    const double y = exponent * (log * s + whole * 0.693147180559945309417) / 1024.0;
    for (int i = 8; i > 0; i--)
        power = 1.0 + power * y / i;
    for (int i = 0; i < 10; i++)
        power *= power;
    return power;
}

// Debian's archive is not made for a module: it reaches for libc's stderr, which a module cannot
// give. It also has Chipmunk's assertions, which say so on stdout. One that fails still aborts.
extern void* const __wrap_stderr;
void* const __wrap_stderr = NULL;

int __wrap_puts(const char* text);
int __wrap_puts(const char* text) {
    (void)text;
    return 0;
}

int __wrap___printf_chk(int flag, const char* format, ...);
int __wrap___printf_chk(int flag, const char* format, ...) {
    (void)flag, (void)format;
    return 0;
}
