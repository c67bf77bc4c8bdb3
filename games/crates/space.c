// SPDX-License-Identifier: MIT
// The physics: in each tick a Chipmunk space is made of components, steps once, and is freed. It
// has no past, which no save would have (README.md says why, and what it costs). Only bodies that
// move, and those near them, are in it: one with neither speed nor spin sleeps.
//
// The order in which bodies enter the space decides bits. It is the order of entities' indices,
// which all sides share. Places move after Chipmunk's step, by the speeds that it found and by what
// pushes overlaps apart, and end on the steps of the wire: all sides go on from the same numbers.

#include "crates.h"

#include <chipmunk/chipmunk.h>
#include <chipmunk/chipmunk_structs.h> // for the sizes of bodies and shapes
#include <string.h>

#define CELL 4.0f ///< bodies that touch are in the same cell or in neighbours
#define COLUMNS 40u
#define ROWS 23u
#define FRICTION 0.5

typedef struct slot {
    bool is_here, is_in_space;
    ecs_vec2 pos, vel;
    float angle, spin;
    crates_box box;
    cpBody body;
    cpPolyShape shape;
} slot;

// Nothing in it outlives a tick.
typedef struct crates_space {
    bool is_stepped; ///< the slots are those of the tick before
    uint32_t count;  ///< all bodies have lower indices
    bool is_busy[ROWS + 2][COLUMNS + 2];
    cpSegmentShape walls[4];
    slot slots[CRATES_SLOTS];
} crates_space;

#include "space.es.h"

ecs_result crates_prepare(ecs_world* world, crates_game* game, const base_reporter* reporter) {
    (void)reporter;
    game->space = ecs_world_context(world, sizeof *game->space);
    return ECS_OK;
}

static bool* cell_of(crates_space* space, ecs_vec2 pos, uint32_t row, uint32_t column) {
    row += (uint32_t)base_clamp(pos.y / CELL, 0.0f, (float)(ROWS - 1));
    column += (uint32_t)base_clamp(pos.x / CELL, 0.0f, (float)(COLUMNS - 1));
    return &space->is_busy[row][column];
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
    const float sum = pos.x + pos.y + vel.x + vel.y + angle + spin + box->size.x + box->size.y;
    if (index >= CRATES_SLOTS || sum - sum != 0 || !(box->mass > 0 && box->mass < 1e6f) ||
        !(box->size.x > 0 && box->size.y > 0))
        return; // only a foreign save has such numbers, and Chipmunk ends the program on them
    space->count = index >= space->count ? index + 1 : space->count;
    slot* one = &space->slots[index];
    one->is_here = true;
    one->pos = pos, one->vel = vel, one->angle = angle, one->spin = spin, one->box = *box;
    if (vel.x == 0.0f && vel.y == 0.0f && spin == 0.0f) return;
    for (uint32_t i = 0; i < 9; i++)
        *cell_of(space, pos, i / 3, i % 3) = true;
}

// The floor slows a body down, before the contacts are solved.
static void brake(cpBody* body, cpVect gravity, cpFloat damping, cpFloat dt) {
    (void)gravity, (void)damping;
    const double loss = (double)((const slot*)cpBodyGetUserData(body))->box.grip * dt;
    const double speed = cpvlength(body->v);
    body->v = speed > loss ? cpvmult(body->v, (speed - loss) / speed) : cpvzero;
    body->w -= cpfclamp(body->w, -loss, loss);
}

static void stay(cpBody* body, cpFloat dt) {
    (void)body, (void)dt;
}

static void add_body(cpSpace* space, slot* one) {
    const double mass = (double)one->box.mass;
    const double width = (double)one->box.size.x, height = (double)one->box.size.y;
    cpBody* body = cpBodyInit(&one->body, mass, cpMomentForBox(mass, width, height));
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

static cpSpace* create_space(cpSegmentShape* walls) {
    static const cpVect corners[4] = {{-1, -1}, {161, -1}, {161, 91}, {-1, 91}}; // 1 thick inside
    cpSpace* space = cpSpaceNew();
    cpSpaceSetCollisionSlop(space, 0.01);
    for (uint32_t i = 0; i < 4; i++) {
        cpShape* wall = (cpShape*)cpSegmentShapeInit(&walls[i], cpSpaceGetStaticBody(space),
                                                     corners[i], corners[(i + 1) % 4], 1.0);
        cpShapeSetFriction(wall, FRICTION);
        cpSpaceAddShape(space, wall);
    }
    return space;
}

// Move one to where the step left it, even when it was pressed into a wall.
static void read_body(const crates_game* game, slot* one, double dt) {
    cpBodyUpdatePosition(&one->body, dt);
    const cpVect pos = cpBodyGetPosition(&one->body), vel = cpBodyGetVelocity(&one->body);
    const float x = base_clamp((float)pos.x, 0.0f, CRATES_WIDTH);
    const float y = base_clamp((float)pos.y, 0.0f, CRATES_HEIGHT);
    one->pos = (ecs_vec2){ecs_quantise(&game->pos_steps, x), ecs_quantise(&game->pos_steps, y)};
    one->vel = (ecs_vec2){ecs_quantise(&game->vel_steps, (float)vel.x),
                          ecs_quantise(&game->vel_steps, (float)vel.y)};
    one->angle = ecs_quantise(&game->angle_steps, (float)cpBodyGetAngle(&one->body));
    one->spin = ecs_quantise(&game->spin_steps, (float)cpBodyGetAngularVelocity(&one->body));
}

static void step(crates_game* game, double dt) {
    crates_space* space = game->space;
    cpSpace* physics = NULL;
    for (uint32_t i = 0; i < space->count; i++) {
        slot* one = &space->slots[i];
        if (!one->is_here || !*cell_of(space, one->pos, 1, 1)) continue;
        if (!physics) physics = create_space(space->walls);
        add_body(physics, one);
    }
    space->is_stepped = true;
    if (!physics) return; // all sleep
    cpSpaceStep(physics, dt);
    for (uint32_t i = 0; i < space->count; i++)
        if (space->slots[i].is_in_space) read_body(game, &space->slots[i], dt);
    cpSpaceFree(physics);
}

ES_TAG(server | predict)
ES_REQUIRE(box : CratesBox)
static void settle_es(const ecs_stage* stage, ES_CONTEXT crates_game* game, ecs_entity entity,
                      ecs_vec2* pos, ecs_vec2* vel, float* angle, float* spin) {
    if (!game->space->is_stepped) step(game, (double)stage->dt); // the first of the tick
    const uint32_t index = ecs_entity_index(entity);
    if (index >= CRATES_SLOTS || !game->space->slots[index].is_in_space) return;
    const slot* one = &game->space->slots[index];
    *pos = one->pos, *vel = one->vel, *angle = one->angle, *spin = one->spin;
}

// ---- what Chipmunk asks of libm and libc: the linker gives it these (CMakeLists.txt) ----

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

double __wrap_sin(double angle) {
    return (double)base_sin((float)angle);
}

double __wrap_cos(double angle) {
    return (double)base_cos((float)angle);
}

void __wrap_sincos(double angle, double* sine, double* cosine) {
    *sine = __wrap_sin(angle), *cosine = __wrap_cos(angle);
}

double __wrap_sqrt(double value) {
    return __builtin_sqrt(value); // one instruction, correctly rounded everywhere
}

// Of a base above 0: e^(exponent * ln base), both by their series.
double __wrap_pow(double base, double exponent) {
    double halvings = 0.0, log = 0.0, power = 1.0;
    for (; base < 0.7; base *= 2.0)
        halvings++;
    const double s = (base - 1.0) / (base + 1.0);
    for (int i = 25; i > 0; i -= 2)
        log = log * s * s + 2.0 / i;
    const double y = exponent * (log * s - halvings * 0.693147180559945309417) / 1024.0;
    for (int i = 8; i > 0; i--)
        power = 1.0 + power * y / i;
    for (int i = 0; i < 10; i++)
        power *= power;
    return power;
}

// Debian's archive has assertions, says so on stdout, and reaches for libc's stderr in a way that a
// module cannot link. An assertion that fails still aborts.
void* const __wrap_stderr = NULL;
int __wrap_puts(void) {
    return 0;
}
int __wrap___printf_chk(void) {
    return 0;
}
