// SPDX-License-Identifier: MIT
// Loops that a system shares: which parts there are, that each item has one, what parts may not do.
#include "sample_world.h"

enum { QUANTUM = 100, ITEMS_MAX = QUANTUM * (ECS_RANGES_MAX + 1) };

static const uint32_t thread_counts[] = {0, 1, 2, 3, 8, 64};

// ---- items ----

typedef struct items {
    uint32_t count;
    uint32_t parts;
    uint32_t seen[ITEMS_MAX]; // how often an item was done
    uint64_t sums[ECS_RANGES_MAX];
    uint64_t sum; // of sums, in their order
} items;

static void count_items(const ecs_stage* stage, void* context, const ecs_part* part) {
    items* all = context;
    assert_int_equal(part->first, (uint64_t)all->count * part->number /
                                      (all->count / QUANTUM > 64 ? 64
                                       : all->count >= QUANTUM   ? all->count / QUANTUM
                                                                 : 1));
    for (uint32_t i = 0; i < part->rows.count; i++) {
        base_rng rng = ecs_stage_rng(stage, part->first + i);
        all->seen[part->first + i]++;
        all->sums[part->number] = base_hash64_mix(all->sums[part->number], base_rng_u64(&rng));
    }
}

static void run_items(const ecs_stage* stage, const ecs_rows* rows) {
    items* all = stage->context;
    assert_int_equal(rows->count, 0);
    all->parts = ecs_stage_share(stage, all->count, count_items, all);
    for (uint32_t i = 0; i < all->parts; i++)
        all->sum = base_hash64_mix(all->sum, all->sums[i]);
}

// A step with one system that shares a loop, perhaps beside another one. @return its results.
static uint64_t share_items(uint32_t count, uint32_t parts, uint32_t threads, bool has_neighbour) {
    static items all;
    memset(&all, 0, sizeof all);
    all.count = count;
    store fixture;
    store_open(&fixture);
    ecs_system_desc desc = {.name = "share",
                            .stage = "act",
                            .run = run_items,
                            .context = &all,
                            .quantum = QUANTUM,
                            .is_confined = true};
    assert_ok(ecs_system_register(fixture.world, &desc));
    static items none;
    memset(&none, 0, sizeof none);
    desc.name = "beside";
    desc.context = &none;
    if (has_neighbour) assert_ok(ecs_system_register(fixture.world, &desc));
    store_seal(&fixture);
    ecs_system_info info;
    assert_true(ecs_stage_system_info(fixture.world, 0, 0, &info));
    assert_true(info.may_share && !info.may_cut);
    assert_int_equal(ecs_world_threads_max(fixture.world), BASE_WORKERS_MAX);
    base_workers* workers = threads ? base_workers_create(NULL, threads) : NULL;
    ecs_world_set_workers(fixture.world, workers);
    store_step(&fixture);
    assert_int_equal(all.parts, parts);
    for (uint32_t i = 0; i < ITEMS_MAX; i++)
        assert_int_equal(all.seen[i], i < count);
    ecs_world_set_workers(fixture.world, NULL);
    base_workers_destroy(workers);
    store_close(&fixture);
    return all.sum;
}

CASE(each_item_belongs_to_one_part) { // S5.14
    static const struct {
        uint32_t count, parts;
    } cases[] = {
        {0, 0},
        {1, 1},
        {QUANTUM - 1, 1},
        {2 * QUANTUM - 1, 1},
        {2 * QUANTUM, 2},
        {2 * QUANTUM + 1, 2},
        {ECS_RANGES_MAX * QUANTUM - 1, ECS_RANGES_MAX - 1},
        {ECS_RANGES_MAX * QUANTUM, ECS_RANGES_MAX},
        {(ECS_RANGES_MAX + 1) * QUANTUM, ECS_RANGES_MAX},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        const uint64_t expected = share_items(cases[i].count, cases[i].parts, 0, false);
        for (uint32_t k = 1; k < BASE_COUNT(thread_counts); k++)
            assert_true(share_items(cases[i].count, cases[i].parts, thread_counts[k], false) ==
                        expected);
        assert_true(share_items(cases[i].count, cases[i].parts, 2, true) == expected);
    }
}

// ---- rows ----

typedef struct walkers {
    ecs_query* query;
    uint32_t parts;
    ecs_entity order[4096]; // by number
} walkers;

static void move_rows(const ecs_stage* stage, void* context, const ecs_part* part) {
    walkers* all = context;
    ecs_vec2* pos = part->rows.columns[0];
    const int32_t* hp = part->rows.columns[1];
    const store* fixture = stage->user;
    assert_true((uintptr_t)pos % BASE_CACHE_LINE_BYTES == 0);
    for (uint32_t i = 0; i < part->rows.count; i++) {
        const ecs_entity entity = part->rows.entities[i];
        assert_int_equal(all->order[part->first + i], ECS_ENTITY_NONE);
        assert_ptr_equal(ecs_find(stage->world, entity, fixture->hp), &hp[i]);
        all->order[part->first + i] = entity;
        pos[i].x += (float)hp[i];
    }
}

static void run_walk(const ecs_stage* stage, const ecs_rows* rows) {
    walkers* all = stage->context;
    memset(all->order, 0, sizeof all->order);
    all->parts = ecs_stage_share_rows(stage, all->query, move_rows, all);
    ecs_query_iter it = ecs_query_begin(stage->world, all->query);
    uint32_t number = 0;
    while (ecs_query_next(&it))
        for (uint32_t i = 0; i < it.rows.count; i++)
            assert_int_equal(all->order[number++], it.rows.entities[i]);
    assert_int_equal(number, ecs_query_count(stage->world, all->query));
    assert_int_equal(all->order[number], ECS_ENTITY_NONE);
}

static uint64_t walk_rows(uint32_t things, uint32_t parts, uint32_t threads) {
    static const ecs_term terms[] = {
        {"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_READ}, {"title", "t", ECS_OPTIONAL_READ}};
    static walkers all;
    store fixture;
    store_open(&fixture);
    assert_ok(ecs_query_create(fixture.world, terms, 3, &all.query));
    system_add(fixture.world, .name = "walk", .stage = "act", .run = run_walk, .context = &all,
               .quantum = QUANTUM, .is_confined = true, READS("hp", "title"), WRITES("pos"));
    store_seal(&fixture);
    const ecs_template_id parts_of[] = {fixture.thing, fixture.named};
    const ecs_template_id both = ecs_template_compose(fixture.world, parts_of, 2);
    for (uint32_t i = 0; i < things; i++) { // two archetypes, several chunks
        const ecs_entity made = store_create(&fixture, i % 3 == 0 ? both : fixture.thing);
        const int32_t hp = (int32_t)i;
        assert_ok(ecs_set(fixture.world, made, fixture.hp, &hp));
    }
    base_workers* workers = threads ? base_workers_create(NULL, threads) : NULL;
    if (workers && things % 2 == 0) base_workers_set_eager(workers);
    ecs_world_set_workers(fixture.world, workers);
    for (uint32_t tick = 1; tick <= 2; tick++) {
        ecs_changes_clear(fixture.world);
        ecs_world_step(fixture.world, &(ecs_step){.tick = tick, .dt = 0.5f, .user = &fixture});
        assert_int_equal(all.parts, parts);
    }
    // What parts wrote is tracked: all but the one whose hp is 0.
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, things > 0 ? things - 1 : 0);
    const uint64_t hash = ecs_world_hash(fixture.world);
    ecs_world_validate(fixture.world);
    ecs_world_set_workers(fixture.world, NULL);
    base_workers_destroy(workers);
    store_close(&fixture);
    return hash;
}

CASE(rows_have_the_numbers_of_a_walk) { // B10
    static const struct {
        uint32_t things, parts;
    } cases[] = {{0, 0}, {1, 1}, {2 * QUANTUM - 1, 1}, {2 * QUANTUM, 2}, {1500, 14}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        const uint64_t expected = walk_rows(cases[i].things, cases[i].parts, 0);
        for (uint32_t k = 1; k < BASE_COUNT(thread_counts); k++)
            assert_true(walk_rows(cases[i].things, cases[i].parts, thread_counts[k]) == expected);
    }
}

// ---- what parts may not do ----

typedef enum way {
    WAY_COMMAND,
    WAY_CREATE,
    WAY_EVENT,
    WAY_BROADCAST,
    WAY_STRUCTURE,
    WAY_OPEN_WALK,
    WAY_CHECKED, // from here on: in validating builds
    WAY_READ = WAY_CHECKED,
    WAY_WRITE,
    WAY_SET,
    WAY_OWN_COLUMN,
    WAY_CONST_COLUMN,
    WAY_ALLOWED,
    WAY_COUNT
} way;

typedef struct trespass {
    store fixture;
    ecs_query *query, *inner;
    ecs_entity entity;
    way way;
    bool is_read; // of the allowed one
} trespass;

static void run_part(const ecs_stage* stage, void* context, const ecs_part* part) {
    trespass* self = context;
    const store* fixture = &self->fixture;
    ecs_world* world = stage->world;
    const int32_t nine = 9;
    switch (self->way) {
    case WAY_COMMAND:
        (void)ecs_command_destroy(world, self->entity);
        break;
    case WAY_CREATE:
        (void)ecs_command_create(world, fixture->thing, NULL, 0);
        break;
    case WAY_EVENT:
        (void)ecs_event_send(world, self->entity, fixture->hit, &(store_hit){self->entity, 1});
        break;
    case WAY_BROADCAST:
        (void)ecs_event_broadcast(world, fixture->ping, NULL);
        break;
    case WAY_STRUCTURE:
        (void)!ecs_destroy(world, self->entity);
        break;
    case WAY_OPEN_WALK:
        (void)ecs_query_begin(world, self->inner);
        break;
    case WAY_READ:
        (void)ecs_find(world, self->entity, fixture->hp);
        break;
    case WAY_WRITE:
        (void)ecs_find_mut(world, self->entity, fixture->score);
        break;
    case WAY_SET:
        (void)!ecs_set(world, self->entity, fixture->score, &nine);
        break;
    case WAY_OWN_COLUMN:
        (void)ecs_find(world, part->rows.entities[0], fixture->pos);
        break;
    case WAY_CONST_COLUMN:
        ((ecs_vec2*)(uintptr_t)part->rows.columns[1])->x += 1.0f;
        break;
    default: {
        const int32_t* score = ecs_find(world, self->entity, fixture->score);
        ecs_query_iter it = ecs_query_begin(world, self->inner);
        self->is_read = score && ecs_query_next(&it);
        ecs_query_end(&it);
        break;
    }
    }
}

static void run_trespass(const ecs_stage* stage, const ecs_rows* rows) {
    trespass* self = stage->context;
    assert_int_equal(ecs_stage_share_rows(stage, self->query, run_part, self), 1);
}

CASE(what_parts_may_not_do_is_asserted) { // B10
    static const ecs_term terms[] = {{"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}};
    static const ecs_term inner[] = {{"score", "i", ECS_READ}};
    static const char* const faults[WAY_COUNT] = {
        [WAY_COMMAND] = "a part of a shared loop records no commands",
        [WAY_CREATE] = "a part of a shared loop records no commands",
        [WAY_EVENT] = "a part of a shared loop sends no events",
        [WAY_BROADCAST] = "a part of a shared loop sends no events",
        [WAY_READ] = "system 'trespass' does not declare that it reads 'hp'",
        [WAY_WRITE] = "system 'trespass' writes by handle in a shared loop 'score'",
        [WAY_SET] = "system 'trespass' writes by handle in a shared loop 'score'",
        [WAY_OWN_COLUMN] = "system 'trespass' reads by handle what its shared loop writes: 'pos'",
        [WAY_CONST_COLUMN] = "system 'trespass' declares that it only reads 'vel'",
    };
    static trespass self;
    static way k; // a fault jumps back into the loop
    for (k = 0; k < WAY_COUNT; k++) {
        if (k >= WAY_CHECKED && k < WAY_ALLOWED && !BASE_VALIDATE_ON) continue;
        memset(&self, 0, sizeof self);
        self.way = k;
        store* fixture = &self.fixture;
        store_open(fixture);
        assert_ok(ecs_query_create(fixture->world, terms, 2, &self.query));
        assert_ok(ecs_query_create(fixture->world, inner, 1, &self.inner));
        system_add(fixture->world, .name = "trespass", .stage = "act", .run = run_trespass,
                   .context = &self, .quantum = 1, .is_confined = true, READS("vel", "score"),
                   WRITES("pos", "score"));
        store_seal(fixture);
        (void)store_create(fixture, fixture->thing);
        self.entity = store_create(fixture, fixture->named);
        const ecs_step step = {.tick = 2, .dt = 1.0f}; // no sums of columns are taken in this one
        store_fault[0] = '\0';
        if (k == WAY_ALLOWED) {
            ecs_world_step(fixture->world, &step);
            assert_true(self.is_read);
        } else {
            store_expect_fault(fixture->world, &step);
            if (faults[k]) assert_non_null(strstr(store_fault, faults[k]));
        }
        store_close(fixture);
    }
}

static void run_without_quantum(const ecs_stage* stage, const ecs_rows* rows) {
    (void)ecs_stage_share(stage, 10, count_items, NULL);
}

STORE_OPEN_CASE(a_loop_needs_a_system_with_a_quantum) {
    system_add(at->world, .name = "share", .stage = "act", .run = run_without_quantum);
    store_seal(at);
    const ecs_stage outside = {.world = at->world};
    expect_assert_failure((void)ecs_stage_share(&outside, 10, count_items, NULL));
    store_expect_fault(at->world, &((ecs_step){.tick = 1, .dt = 1.0f}));
    assert_non_null(strstr(store_fault, "a system that shares a loop declares a quantum"));
}
