// SPDX-License-Identifier: MIT
// One world for all rows. Rows differ in limits and in the systems of "act", not in the other
// content of the world: a fast path that is fast only in an empty world does not help.
#include "bench_world.h"

#include "base/text.h"

static const char templates[] =
    "mover { pos:p3=1,2,3; vel:p3=1,-2,0.5 }\n"
    "wide { pos:p3=1,2,3; vel:p3=1,-2,0.5; size:p2=4,5; hits:i=7\n"
    "  \"m0:m\"{}\n \"m1:m\"{}\n \"m2:m\"{}\n \"m3:m\"{}\n \"m4:m\"{}\n"
    "  \"m5:m\"{}\n \"m6:m\"{}\n \"m7:m\"{}\n \"m8:m\"{}\n \"m9:m\"{}\n}\n"
    "target { hits:i=0 }\n"
    "marked { \"place:p3\"{ _track:b=yes; value:p3=1,2,3 } }\n"
    "replicated { \"health:i\"{ _track:b=yes; _replicate:b=yes; value:i=100 } }\n";

static void move(const ecs_stage* stage, const ecs_rows* rows) {
    bench_move(rows->columns[0], rows->columns[1], stage->dt, rows->count);
}

static void touch(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    (void)rows;
}

static void upkeep(const ecs_stage* stage, const ecs_rows* rows) {
    int32_t* health = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        health[i] = (int32_t)((stage->tick + i) & 0xff);
}

static void take_damage(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)stage;
    uint32_t damage;
    memcpy(&damage, event->payload, sizeof damage);
    int32_t* hits = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        hits[i] += (int32_t)damage;
}

static void take_damages(const ecs_stage* stage, const ecs_event_run* run) {
    (void)stage;
    const ecs_event_run own = *run; // a store to a value might change what `run` points at
    int32_t* hits = own.columns[0];
    for (uint32_t i = 0; i < own.count; i++) {
        uint32_t damage;
        memcpy(&damage, ecs_event_run_payload(&own, i), sizeof damage);
        hits[own.rows[i]] += (int32_t)damage;
    }
}

static void load(ecs_world* world, const char* text, const base_reporter* reporter) {
    bench_ok(ecs_template_load(world, "bench.blk", text, strlen(text), reporter), "templates");
}

static void register_systems(bench_world* self, const bench_world_config* config) {
    static const ecs_term move_terms[] = {{"pos", "p3", ECS_WRITE}, {"vel", "p3", ECS_READ}};
    static const ecs_term touch_terms[] = {{"place", "p3", ECS_WRITE}};
    static const ecs_term upkeep_terms[] = {{"health", "i", ECS_WRITE}};
    static const ecs_term damage_terms[] = {{"hits", "i", ECS_WRITE}};
    static const char* const damage_events[] = {"damage"};
    const ecs_system_desc systems[] = {
        {.name = "move", .stage = "act", .run = move, .terms = move_terms, .term_count = 2},
        {.name = "touch", .stage = "act", .run = touch, .terms = touch_terms, .term_count = 1},
        {.name = "take_damage",
         .events = damage_events,
         .event_count = 1,
         .on_event = take_damage,
         .on_events = take_damages,
         .terms = damage_terms,
         .term_count = 1},
        {.name = "upkeep",
         .stage = "upkeep",
         .run = upkeep,
         .terms = upkeep_terms,
         .term_count = 1},
    };
    const bool is_wanted[] = {config->has_move, config->has_touch, config->has_damage, true};
    for (uint32_t i = 0; i < BASE_COUNT(systems); i++) {
        if (!is_wanted[i]) continue;
        bench_ok(ecs_system_register(self->world, &systems[i]), systems[i].name);
    }
    if (config->has_move_es) bench_ok(bench_register_generated(self->world), "move_es");
    bench_ok(ecs_query_create(self->world, move_terms, 2, &self->movers), "query");
    bench_ok(ecs_query_create(self->world, touch_terms, 1, &self->marks), "query");
}

static void find_ids(bench_world* self) {
    ecs_world* world = self->world;
    self->pos = ecs_component_find(world, "pos");
    self->vel = ecs_component_find(world, "vel");
    self->hits = ecs_component_find(world, "hits");
    self->size = ecs_component_find(world, "size");
    self->place = ecs_component_find(world, "place");
    for (uint32_t i = 0; i < BENCH_WIDE_MATRICES; i++) {
        char name[8];
        base_text_format(name, sizeof name, "m%u", i);
        self->matrices[i] = ecs_component_find(world, name);
    }
    self->mover = ecs_template_find(world, "mover");
    self->wide = ecs_template_find(world, "wide");
    self->marked = ecs_template_find(world, "marked");
}

void bench_world_init(bench_world* self, const bench_world_config* config) {
    memset(self, 0, sizeof *self);
    base_reporter reporter = base_reporter_stderr();
    ecs_world_config world = ecs_world_config_default();
    world.allocator = config->allocator;
    if (config->entities_max) world.limits.local_entities_max = config->entities_max;
    if (config->events_max) {
        world.limits.events_queued_max = config->events_max;
        world.limits.events_per_flush_max = config->events_max;
    }
    if (config->commands_max) world.limits.commands_queued_max = config->commands_max;
    bench_ok(ecs_world_create(&world, &self->world), "world");
    static const ecs_field damage_fields[] = {{"damage", 0, ECS_FIELD_U32, 1, {0, 0, 0}}};
    const ecs_event_desc damage = {"damage", sizeof(uint32_t), damage_fields, 1, false};
    bench_ok(ecs_event_register(self->world, &damage, &self->damage), "event");
    load(self->world, templates, &reporter);
    if (config->templates) load(self->world, config->templates, &reporter);
    register_systems(self, config);
    bench_ok(ecs_world_seal(self->world, &reporter), "seal");
    find_ids(self);
    self->stage_upkeep = ecs_stage_find(self->world, "upkeep");
    ecs_template_id replicated = ecs_template_find(self->world, "replicated");
    bench_ok(ecs_create_many(self->world, replicated, BENCH_TRACKED, NULL), "tracked entities");
    bench_world_upkeep(self);
}

void bench_world_deinit(bench_world* self) {
    if (self->world) ecs_world_destroy(self->world);
    self->world = NULL;
}

void bench_world_destroy(void* fixture) {
    bench_world_deinit(fixture);
}

void bench_world_fill(bench_world* self, ecs_template_id template_id, uint32_t count,
                      ecs_entity* entities) {
    bench_ok(ecs_create_many(self->world, template_id, count, entities), "create");
}

void bench_world_clear(bench_world* self, ecs_query* query) {
    uint32_t count = 0;
    ecs_entity* entities = bench_allocate(ecs_query_count(self->world, query) * sizeof *entities);
    ecs_query_iter it = ecs_query_begin(self->world, query);
    while (ecs_query_next(&it)) {
        memcpy(entities + count, it.rows.entities, it.rows.count * sizeof(ecs_entity));
        count += it.rows.count;
    }
    while (count-- > 0)
        (void)!ecs_destroy(self->world, entities[count]);
    bench_release(entities);
    bench_world_upkeep(self);
}

void bench_world_step(bench_world* self) {
    const ecs_step step = {.tick = ++self->tick, .dt = BENCH_DT};
    ecs_world_step(self->world, &step);
    ecs_changes_clear(self->world);
}

void bench_world_upkeep(bench_world* self) {
    const ecs_step step = {.tick = self->tick + 1, .dt = BENCH_DT};
    ecs_world_run_stage(self->world, self->stage_upkeep, &step);
    bench_world_step(self);
}
