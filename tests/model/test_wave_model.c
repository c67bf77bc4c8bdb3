// SPDX-License-Identifier: MIT
// Random systems on several threads against the same systems on one.
//
// A seed gives some systems with random terms, declarations, order and quantum. Each changes what
// it may write by what it may read, in its rows and by handle, records commands and sends events.
// Some have no rows of their own: they share a loop over those of a query, and send what its parts
// found, in the order of parts.
// Every tick must have the hash that one thread gives, commands and events included, and the same
// changes in the same order.
#include "model_scripts.h"
#include "sample_world.h"

enum {
    SYSTEMS_MAX = 10,
    TERMS_MAX = 3,
    NAMES_MAX = 2,
    ENTITIES = 700,
    ENTITIES_MAX = 9000, // enough that columns are compared in parts
    TICKS = 16,
    FIELDS = 5,
};

// Components of four or eight bytes that random systems use.
static const struct {
    const char* name;
    const char* type;
    bool is_vector;
    uint32_t bytes;
} fields[FIELDS] = {
    {"pos", "p2", true, 8},   {"hp", "i", false, 4},    {"vel", "p2", true, 8},
    {"score", "i", false, 4}, {"team", "u8", false, 1},
};

typedef struct model model;

typedef struct random_system {
    model* owner;
    char name[16];
    ecs_term terms[TERMS_MAX];
    uint32_t fields[TERMS_MAX];
    uint32_t term_count;
    const char* reads[NAMES_MAX];
    const char* writes[NAMES_MAX];
    uint32_t read_fields[NAMES_MAX], write_fields[NAMES_MAX];
    uint32_t read_count, write_count;
    const char* after[1];
    uint32_t mood;                  ///< which commands and events it records
    ecs_query* loop;                ///< NULL: its terms are those of its rows
    uint32_t found[ECS_RANGES_MAX]; ///< by the parts of its loop
} random_system;

struct model {
    store fixture;
    ecs_component_id components[FIELDS];
    ecs_entity entities[ENTITIES_MAX];
    uint32_t entity_count;
    uint64_t told; ///< of changes, in their order
    random_system systems[SYSTEMS_MAX];
    uint32_t system_count;
};

static ecs_entity any_entity(const model* self, base_rng* rng) {
    return self->entities[base_rng_below(rng, self->entity_count)];
}

// Small whole numbers, so that floats stay exact.
static void change(void* value, uint32_t field, uint32_t by) {
    if (fields[field].is_vector)
        ((ecs_vec2*)value)->x = (float)(((int32_t)((ecs_vec2*)value)->x + (int32_t)by) % 4096);
    else if (fields[field].bytes == 4)
        *(int32_t*)value = (*(int32_t*)value + (int32_t)by) % 100000;
    else
        *(uint8_t*)value = (uint8_t)(*(uint8_t*)value + by);
}

static uint32_t look(const void* value, uint32_t field) {
    uint32_t word = 0;
    if (value) memcpy(&word, value, fields[field].bytes < 4 ? fields[field].bytes : 4);
    return word;
}

static void record(const random_system* self, const ecs_stage* stage, ecs_entity entity,
                   base_rng* rng) {
    const store* fixture = &self->owner->fixture;
    ecs_world* world = stage->world;
    const uint32_t roll = base_rng_below(rng, 12);
    if (roll == 0 && (self->mood & 1)) (void)ecs_command_destroy(world, entity);
    if (roll == 1 && (self->mood & 2)) {
        const ecs_entity made = ecs_command_create(world, fixture->thing, NULL, 0);
        (void)ecs_event_send(world, made, fixture->hit, &(store_hit){made, 1});
    }
    if (roll == 2 && (self->mood & 4))
        (void)ecs_command_recreate(world, entity, fixture->solid, NULL, 0);
    if (roll < 4 && (self->mood & 8))
        (void)ecs_event_send(world, any_entity(self->owner, rng), fixture->hit,
                             &(store_hit){entity, (int32_t)roll});
}

static bool is_write(ecs_access access) {
    return access == ECS_WRITE || access == ECS_OPTIONAL_WRITE;
}

static void run_random(const ecs_stage* stage, const ecs_rows* rows) {
    const random_system* self = stage->context;
    const model* owner = self->owner;
    for (uint32_t i = 0; i < rows->count; i++) {
        base_rng rng = ecs_stage_rng(stage, rows->entities[i]);
        uint32_t sum = base_rng_below(&rng, 7);
        for (uint32_t t = 0; t < self->term_count; t++) {
            const uint8_t* column = rows->columns[t];
            if (column)
                sum +=
                    look(column + (size_t)fields[self->fields[t]].bytes * i, self->fields[t]) % 31;
        }
        for (uint32_t k = 0; k < self->read_count; k++)
            sum += look(ecs_find(stage->world, any_entity(owner, &rng),
                                 owner->components[self->read_fields[k]]),
                        self->read_fields[k]) %
                   17;
        for (uint32_t t = 0; t < self->term_count; t++) {
            uint8_t* column = rows->columns[t];
            if (column && is_write(self->terms[t].access))
                change(column + (size_t)fields[self->fields[t]].bytes * i, self->fields[t], sum);
        }
        for (uint32_t k = 0; k < self->write_count; k++) {
            void* value = ecs_find_mut(stage->world, any_entity(owner, &rng),
                                       owner->components[self->write_fields[k]]);
            if (value) change(value, self->write_fields[k], sum);
        }
        record(self, stage, rows->entities[i], &rng);
    }
}

static bool is_written(const random_system* self, uint32_t field) {
    for (uint32_t t = 0; t < self->term_count; t++)
        if (self->fields[t] == field && is_write(self->terms[t].access)) return true;
    return false;
}

static void run_part(const ecs_stage* stage, void* context, const ecs_part* part) {
    random_system* self = context;
    const model* owner = self->owner;
    for (uint32_t i = 0; i < part->rows.count; i++) {
        base_rng rng = ecs_stage_rng(stage, part->rows.entities[i]);
        uint32_t sum = base_rng_below(&rng, 7) + part->first;
        for (uint32_t k = 0; k < self->read_count; k++) {
            const uint32_t field = self->read_fields[k];
            if (is_written(self, field)) continue;
            const ecs_entity other = any_entity(owner, &rng);
            sum += look(ecs_find(stage->world, other, owner->components[field]), field) % 17;
        }
        for (uint32_t t = 0; t < self->term_count; t++) {
            uint8_t* column = part->rows.columns[t];
            if (!column) continue;
            column += (size_t)fields[self->fields[t]].bytes * i;
            sum += look(column, self->fields[t]) % 31;
            if (is_write(self->terms[t].access)) change(column, self->fields[t], sum);
        }
        self->found[part->number] = self->found[part->number] * 31 + sum;
    }
}

static void run_loop(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    random_system* self = stage->context;
    memset(self->found, 0, sizeof self->found);
    const uint32_t parts = ecs_stage_share_rows(stage, self->loop, run_part, self);
    base_rng rng = ecs_stage_rng(stage, ECS_ENTITY_NONE);
    for (uint32_t i = 0; i < parts; i++) {
        const ecs_entity target = any_entity(self->owner, &rng);
        const store_hit hit = {target, (int32_t)(self->found[i] % 1000)};
        (void)ecs_event_send(stage->world, target, self->owner->fixture.hit, &hit);
        record(self, stage, target, &rng);
    }
}

static void take_hit(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    store_hit hit;
    (void)stage;
    memcpy(&hit, event->payload, sizeof hit);
    *(int32_t*)rows->columns[0] += hit.amount + (int32_t)(hit.from % 3);
}

static void take_change(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    uint64_t* told = stage->context;
    *told = base_hash64_mix(*told, event->target);
}

static void choose_names(random_system* self, base_rng* rng, const char** names, uint32_t* chosen,
                         uint32_t* count) {
    (void)self;
    *count = base_rng_below(rng, 4) == 0 ? 1 + base_rng_below(rng, NAMES_MAX) : 0;
    for (uint32_t i = 0; i < *count; i++) {
        chosen[i] = base_rng_below(rng, FIELDS);
        names[i] = fields[chosen[i]].name;
    }
}

static void add_system(model* self, base_rng* rng) {
    random_system* made = &self->systems[self->system_count];
    made->owner = self;
    (void)snprintf(made->name, sizeof made->name, "s%u", self->system_count++);
    made->term_count = 1 + base_rng_below(rng, TERMS_MAX);
    const uint32_t first = base_rng_below(rng, FIELDS);
    for (uint32_t i = 0; i < made->term_count; i++) {
        static const ecs_access later[] = {ECS_READ, ECS_OPTIONAL_READ, ECS_OPTIONAL_WRITE,
                                           ECS_REQUIRE_NOT};
        made->fields[i] = (first + i * 2) % FIELDS;
        const ecs_access access = i == 0 ? (ecs_access)base_rng_below(rng, 2)
                                         : later[base_rng_below(rng, BASE_COUNT(later))];
        made->terms[i] =
            (ecs_term){fields[made->fields[i]].name, fields[made->fields[i]].type, access};
    }
    choose_names(made, rng, made->reads, made->read_fields, &made->read_count);
    choose_names(made, rng, made->writes, made->write_fields, &made->write_count);
    made->mood = base_rng_below(rng, 16);
    const bool is_loop = base_rng_below(rng, 4) == 0;
    made->after[0] = self->systems[base_rng_below(rng, self->system_count)].name;
    const bool is_confined = base_rng_below(rng, 8) != 0;
    ecs_system_desc desc = {.name = made->name,
                            .stage = "act",
                            .run = run_random,
                            .terms = made->terms,
                            .term_count = made->term_count,
                            .context = made,
                            .after = made->after,
                            .after_count = base_rng_below(rng, 4) == 0,
                            .every_ticks = 1 + base_rng_below(rng, 2),
                            .quantum = base_rng_below(rng, 3) * 24,
                            .is_confined = is_confined};
    if (made->after[0] == made->name) desc.after_count = 0;
    const char *reads[TERMS_MAX + NAMES_MAX], *writes[TERMS_MAX + NAMES_MAX];
    if (is_confined) {
        memcpy(reads, made->reads, sizeof made->reads);
        memcpy(writes, made->writes, sizeof made->writes);
        desc.reads = reads;
        desc.writes = writes;
        desc.read_count = made->read_count;
        desc.write_count = made->write_count;
    }
    if (is_loop) {
        assert_ok(
            ecs_query_create(self->fixture.world, made->terms, made->term_count, &made->loop));
        desc.run = run_loop;
        desc.terms = NULL;
        desc.term_count = 0;
        desc.quantum = 8 + base_rng_below(rng, 3) * 24;
        for (uint32_t i = 0; i < made->term_count && is_confined; i++)
            if (is_write(made->terms[i].access))
                writes[desc.write_count++] = made->terms[i].component;
            else
                reads[desc.read_count++] = made->terms[i].component;
    }
    assert_ok(ecs_system_register(self->fixture.world, &desc));
}

static void model_open(model* self, uint32_t seed) {
    base_rng rng = base_rng_make(seed, 5);
    memset(self, 0, sizeof *self);
    store_open(&self->fixture);
    ecs_world* world = self->fixture.world;
    for (uint32_t i = 0; i < FIELDS; i++)
        self->components[i] = ecs_component_find(world, fields[i].name);
    const uint32_t count = 2 + base_rng_below(&rng, SYSTEMS_MAX - 1);
    for (uint32_t i = 0; i < count; i++)
        add_system(self, &rng);
    system_add(world, .name = "take", .on_event = take_hit, EVENTS("hit"),
               TERMS({"hp", "i", ECS_WRITE}));
    system_add(world, .name = "note", .on_event = take_change, TRACK("hp", "pos"),
               .context = &self->told);
    store_seal(&self->fixture);
    const ecs_template_id kinds[] = {self->fixture.thing, self->fixture.named, self->fixture.solid};
    self->entity_count = seed % 8 == 0 ? ENTITIES_MAX : ENTITIES;
    for (uint32_t i = 0; i < self->entity_count; i++)
        self->entities[i] =
            store_create(&self->fixture, kinds[base_rng_below(&rng, BASE_COUNT(kinds))]);
}

// @return how many systems ran beside another one, in ranges or in loops.
static uint32_t count_parallel(const ecs_world* world) {
    uint32_t count = 0;
    ecs_system_info info, next;
    for (uint32_t i = 0; ecs_stage_system_info(world, 0, i, &info); i++)
        count += info.may_cut || info.may_share ||
                 (ecs_stage_system_info(world, 0, i + 1, &next) && next.wave == info.wave);
    return count;
}

static uint32_t play(uint32_t seed, base_workers* workers, uint64_t* hashes) {
    static model self;
    model_open(&self, seed);
    ecs_world* world = self.fixture.world;
    ecs_world_set_workers(world, workers);
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        ecs_world_step(world, &(ecs_step){.tick = tick, .dt = 0.5f});
        const ecs_changes changes = ecs_changes_get(world);
        for (uint32_t i = 0; i < changes.changed_count; i++)
            self.told = base_hash64_mix(self.told + changes.changed[i].component,
                                        changes.changed[i].entity);
        ecs_changes_clear(world);
        assert_true(ecs_world_state_hash(world) == ecs_world_state_hash_walk(world));
        hashes[tick - 1] = base_hash64_mix(self.told, ecs_world_hash(world));
    }
    ecs_world_validate(world);
    const uint32_t parallel = count_parallel(world);
    store_close(&self.fixture);
    return parallel;
}

static model_scripts scripts = {.count = 60, .seed = 1};

CASE(random_systems_give_the_bits_of_one_thread) { // B10
    static const uint32_t threads[] = {1, 2, 3, 8, 64};
    base_workers* workers[BASE_COUNT(threads)];
    uint64_t expected[TICKS], hashes[TICKS];
    uint32_t parallel = 0;
    for (uint32_t i = 0; i < BASE_COUNT(threads); i++) {
        workers[i] = base_workers_create(NULL, threads[i]);
        assert_non_null(workers[i]);
        if (i % 2) base_workers_set_eager(workers[i]);
    }
    for (uint32_t n = 0; n < scripts.count; n++) {
        const uint32_t seed = (uint32_t)scripts.seed + n;
        parallel += play(seed, NULL, expected);
        for (uint32_t i = 0; i < BASE_COUNT(threads); i++) {
            (void)play(seed, workers[i], hashes);
            if (memcmp(hashes, expected, sizeof hashes) != 0)
                print_error("seed %u with %u threads\n", seed, threads[i]);
            assert_memory_equal(hashes, expected, sizeof hashes);
        }
    }
    assert_true(parallel > scripts.count);
    for (uint32_t i = 0; i < BASE_COUNT(threads); i++)
        base_workers_destroy(workers[i]);
}

MODEL_MAIN(10)
