// SPDX-License-Identifier: MIT
// Validating builds: a system that changes what it never asked to write is named. In other builds
// these systems run unseen.
#include "heard.h"
#include "sample_world.h"

typedef enum way {
    WAY_NOTHING,
    WAY_LOST_CONST,   // ecs_get of another entity, and the const is cast away
    WAY_NEIGHBOUR,    // a column of its own rows that it does not name
    WAY_PAST_THE_END, // an index beyond the rows of its own column
    WAY_HANDLE,       // from here on: what it may do
    WAY_SET,
    WAY_ROWS,
    WAY_QUERY,
    WAY_COMMAND,
    WAY_COUNT
} way;

typedef struct intruder {
    store fixture;
    way way;
    ecs_entity other;
    ecs_query* query;
} intruder;

static void run_intruder(const ecs_stage* stage, const ecs_rows* rows) {
    intruder* self = stage->context;
    const store* fixture = &self->fixture;
    ecs_world* world = stage->world;
    ecs_vec2* pos = rows->columns[0];
    const ecs_component_id score = fixture->score;
    const int32_t nine = 9;
    switch (self->way) {
    case WAY_LOST_CONST:
        *(int32_t*)(uintptr_t)ecs_get(world, self->other, score) = nine;
        break;
    case WAY_NEIGHBOUR:
        *(int32_t*)(uintptr_t)ecs_get(world, rows->entities[0], fixture->hp) = nine;
        break;
    case WAY_PAST_THE_END: { // as far as the next column begins
        int32_t* hp = (int32_t*)(uintptr_t)ecs_get(world, rows->entities[0], fixture->hp);
        const ptrdiff_t distance = (char*)hp - (char*)pos;
        memcpy((char*)pos + distance, &nine, sizeof nine);
        break;
    }
    case WAY_HANDLE:
        *(int32_t*)ecs_get_mut(world, self->other, score) = nine;
        break;
    case WAY_SET:
        assert_ok(ecs_set(world, self->other, score, &nine));
        break;
    case WAY_ROWS:
        pos[0].x += 1.0f;
        break;
    case WAY_QUERY: {
        ecs_query_iter it = ecs_query_begin(world, self->query);
        while (ecs_query_next(&it))
            *(int32_t*)it.rows.columns[0] = nine;
        break;
    }
    case WAY_COMMAND:
        assert_true(ecs_command_set(world, self->other, score, &nine));
        assert_true(ecs_command_destroy(world, rows->entities[0]));
        break;
    default:
        break;
    }
}

static void open(intruder* self, way chosen) {
    static const ecs_term of_query[] = {{"score", "i", ECS_WRITE}};
    *self = (intruder){.way = chosen};
    store_open(&self->fixture);
    ecs_world* world = self->fixture.world;
    assert_ok(ecs_query_create(world, of_query, 1, &self->query));
    system_add(world, .name = "intruder", .stage = "act", .run = run_intruder,
               TERMS({"pos", "p2", ECS_WRITE}), .context = self);
    store_seal(&self->fixture);
    (void)store_create(&self->fixture, self->fixture.thing);
    self->other = store_create(&self->fixture, self->fixture.named);
}

static void step(intruder* self, ecs_tick tick) {
    ecs_world_step(self->fixture.world, &(ecs_step){.tick = tick, .dt = 0.5f});
}

CASE(what_is_written_unasked_is_named) { // B10
    static const char* const faults[WAY_COUNT] = {
        [WAY_LOST_CONST] = "system 'intruder' writes through const or past a column into 'score'",
        [WAY_NEIGHBOUR] = "system 'intruder' writes through const or past a column into 'hp'",
        [WAY_PAST_THE_END] = "system 'intruder' writes through const or past a column into 'hp'",
    };
    for (uint32_t i = 0; i < WAY_COUNT; i++) {
        intruder self;
        open(&self, (way)i);
        if (faults[i] && BASE_VALIDATE_ON) {
            store_expect_fault(self.fixture.world, &((ecs_step){.tick = 1, .dt = 0.5f}));
            assert_string_equal(store_fault, faults[i]);
        } else {
            step(&self, 1);
        }
        store_close(&self.fixture);
    }
}

CASE(a_check_is_told_once) {
    static heard said;
    intruder self;
    open(&self, WAY_LOST_CONST);
    ecs_inspect_writes(self.fixture.world, heard_begin(&said));
    step(&self, 1);
    *(int32_t*)ecs_get_mut(self.fixture.world, self.other, self.fixture.score) = 1;
    step(&self, 9);
    assert_int_equal(said.lines, BASE_VALIDATE_ON ? 1 : 0);
    if (BASE_VALIDATE_ON)
        assert_string_equal(said.last,
                            "system intruder writes through const or past a column into score");
    ecs_inspect_writes(self.fixture.world, NULL);
    store_close(&self.fixture);
}

CASE(one_tick_of_eight_is_guarded) {
    uint32_t due = 0;
    for (ecs_tick tick = 1; tick <= 80; tick++)
        due += ecs_guard_is_due(&(ecs_stage){.tick = tick});
    assert_int_equal(due, BASE_VALIDATE_ON ? 10 : 0);
    intruder self;
    open(&self, WAY_LOST_CONST);
    step(&self, 2);
    assert_int_equal(*(const int32_t*)ecs_get(self.fixture.world, self.other, self.fixture.score),
                     9);
    store_close(&self.fixture);
}
