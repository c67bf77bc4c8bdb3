// SPDX-License-Identifier: MIT
/// A mirror and hand-written bodies: one record per body. Sequence numbers equal ticks unless a
/// test states other numbers.
#pragma once

#include "replicate/repl_world.h"

#include "body_pen.h"
#include "mirror/snapshot_reader.h"

enum { MIRROR_INDEX_MAX = 2000 };

/// Two indices, and one of them used again.
static const ecs_entity ball = (1u << ECS_INDEX_BITS) | 7u;
static const ecs_entity other = (1u << ECS_INDEX_BITS) | 9u;

/// Rows of a mover, one tick after the other: the words of hp and pos.
static const uint64_t words[6][3] = {{100, 8, 9},   {101, 20, 9},  {102, 20, 30},
                                     {103, 40, 50}, {104, 50, 60}, {105, 60, 70}};

/// Templates with predicted movement (an integral and a rotation), and one whose row has no words.
static const char mirror_text[] =
    "flyer {\n"
    "  \"at:p3\" { _replicate:b=yes; _min:r=-512; _max:r=511.9375; _step:r=0.0625; "
    "_integral:t=speed; }\n"
    "  \"speed:p3\" { _replicate:b=yes; _min:r=-64; _max:r=63.75; _step:r=0.25; }\n"
    "  \"turn:p4\" { _replicate:b=yes; _rotation:b=yes; _bits:i=10; value:p4=0,0,0,1 }\n"
    "}\n"
    "mark { \"there:tag\"{ _replicate:b=yes; } }\n";

typedef struct mirror_side {
    repl_side side;
    net_mirror* mirror;
    body_pen pen;
    const net_row_template *mover, *holder, *model, *limb, *extra, *flyer, *mark;
    uint32_t traced;
    ecs_entity traced_entity;
    ecs_tick traced_tick;
    uint64_t traced_hash;
    uint32_t rows, ends; ///< calls of the sink
    ecs_entity sunk_entity;
    ecs_tick sunk_tick;
} mirror_side;

static inline void mirror_on_applied(void* context, ecs_entity entity, ecs_tick tick,
                                     uint64_t hash) {
    mirror_side* m = context;
    m->traced++;
    m->traced_entity = entity;
    m->traced_tick = tick;
    m->traced_hash = hash;
}

static inline void mirror_on_row(void* context, ecs_entity entity, const net_row_template* entry,
                                 ecs_tick tick, const uint64_t* row) {
    mirror_side* m = context;
    m->rows++;
    m->sunk_entity = entity;
    m->sunk_tick = tick;
}

static inline void mirror_on_gone(void* context, ecs_entity entity, ecs_tick tick) {
    mirror_side* m = context;
    m->ends++;
    m->sunk_entity = entity;
    m->sunk_tick = tick;
}

static inline net_mirror_config mirror_config(mirror_side* m) {
    return (net_mirror_config){
        .world = m->side.world,
        .rows = m->side.rows,
        .index_max = MIRROR_INDEX_MAX,
        .trace = mirror_on_applied,
        .trace_context = m,
        .sink = {.context = m, .row = mirror_on_row, .gone = mirror_on_gone}};
}

static inline void mirror_open(mirror_side* m) {
    memset(m, 0, sizeof *m);
    repl_open_with(&m->side, true, MIRROR_INDEX_MAX, mirror_text);
    net_rows_set_tick_rate(m->side.rows, 60);
    net_mirror_config config = mirror_config(m);
    m->mirror = net_mirror_create(&config);
    m->mover = net_rows_find(m->side.rows, m->side.mover);
    m->holder = net_rows_find(m->side.rows, m->side.holder);
    m->model = net_rows_find(m->side.rows, m->side.model);
    m->limb = net_rows_find(m->side.rows, m->side.limb);
    m->extra = net_rows_find(m->side.rows, m->side.extra);
    m->flyer = net_rows_find(m->side.rows, ecs_template_find(m->side.world, "flyer"));
    m->mark = net_rows_find(m->side.rows, ecs_template_find(m->side.world, "mark"));
}

static inline void mirror_close(mirror_side* m) {
    net_mirror_destroy(m->mirror);
    assert_int_equal(ecs_handle_count(m->side.world, ECS_STATE_ALLOCATED), 0);
    assert_int_equal(ecs_world_counters(m->side.world)->bad_transitions, 0);
    ecs_world_validate(m->side.world);
    repl_close(&m->side);
}

static inline const net_mirror_counters* mirror_counters(const mirror_side* m) {
    return net_mirror_get_counters(m->mirror);
}

static inline net_result mirror_read(mirror_side* m, ecs_tick tick) {
    return pen_read(&m->pen, m->mirror, (uint16_t)tick, tick);
}

static inline void mirror_begin(mirror_side* m) {
    pen_begin(&m->pen, MIRROR_INDEX_MAX, m->side.rows);
}

static inline net_result mirror_create_at(mirror_side* m, ecs_tick tick, uint32_t slot,
                                          ecs_entity handle, const net_row_template* entry,
                                          const uint64_t* row) {
    mirror_begin(m);
    pen_only_create(&m->pen, slot, handle, entry, row);
    return mirror_read(m, tick);
}

/// `ball` is in this slot since this tick.
static inline void mirror_open_with_ball(mirror_side* m, ecs_tick tick, uint32_t slot) {
    mirror_open(m);
    assert_ok(mirror_create_at(m, tick, slot, ball, m->mover, words[0]));
}

static inline net_result mirror_destroy_at(mirror_side* m, ecs_tick tick, uint32_t slot) {
    mirror_begin(m);
    pen_only_destroy(&m->pen, slot);
    return mirror_read(m, tick);
}

static inline void mirror_begin_run(mirror_side* m) {
    mirror_begin(m);
    pen_updates(&m->pen, 1);
}

/// An update of one slot against the row of tick `tick` - `age`, and that of `age2` ticks before.
static inline net_result mirror_run_at(mirror_side* m, ecs_tick tick, uint32_t slot,
                                       const net_row_template* entry, uint32_t age, uint32_t age2,
                                       const uint64_t* base, const uint64_t* base2,
                                       const uint64_t* row) {
    const proto_row_base bases = {.base = base,
                                  .base2 = base2,
                                  .ticks = age == NET_SNAPSHOT_AGE_SETTLED ? 0 : age,
                                  .ticks2 = base2 ? age2 : 0};
    mirror_begin_run(m);
    pen_run_age(&m->pen, age, age2, 1);
    pen_slot(&m->pen, slot);
    pen_row(&m->pen, entry, bases, row);
    return mirror_read(m, tick);
}

static inline net_result mirror_update_at(mirror_side* m, ecs_tick tick, uint32_t slot,
                                          const net_row_template* entry, uint32_t age,
                                          const uint64_t* base, const uint64_t* row) {
    return mirror_run_at(m, tick, slot, entry, age, 0, base, NULL, row);
}

static inline net_result mirror_absolute_at(mirror_side* m, ecs_tick tick, uint32_t slot,
                                            const net_row_template* entry, const uint64_t* row) {
    mirror_begin_run(m);
    pen_absolute(&m->pen, slot, entry, row);
    return mirror_read(m, tick);
}

/// Check that the entity is alive and equals `row`.
static inline void mirror_expect(const mirror_side* m, ecs_entity entity,
                                 const net_row_template* entry, const uint64_t* row) {
    assert_true(ecs_is_alive(m->side.world, entity));
    assert_int_equal(ecs_entity_template(m->side.world, entity), entry->id);
    uint64_t now[PROTO_ROW_FIELDS_MAX];
    net_rows_read(entry, m->side.world, entity, now);
    for (uint32_t i = 0; i < entry->layout.field_count; i++)
        assert_int_equal(now[i], row[i]);
}

#define MIRROR_CASE(name) CASE_WITH(mirror_side, m, mirror_open(m), mirror_close(m), name)
#define BALL_CASE(name, tick, slot)                                                                \
    CASE_WITH(mirror_side, m, mirror_open_with_ball(m, tick, slot), mirror_close(m), name)
