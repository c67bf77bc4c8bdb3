// SPDX-License-Identifier: MIT
// What grows: the same work per unit in worlds of more and more entities, archetypes, queries and
// templates. A row prints a line per size; `growth` is the value over that of the smallest size, so
// a cliff is a number far above 1. There is no twin.
#include "bench_world.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { SIZES = 4, NAME_BYTES = 64, TEXT_TEMPLATES = 500, TEXT_BYTES = 256 * 1024 };

// One quantity over the sizes.
typedef struct curve {
    const char* name;
    const char* what;
    const char* unit;
    double first;
} curve;

static void print(curve* line, uint32_t count, double value) {
    if (line->first <= 0) line->first = value;
    printf("bench=%s what=%s unit=%s n=%u shoal=%.4g growth=%.2f\n", line->name, line->what,
           line->unit, count, value, value / line->first);
    fflush(stdout);
}

static ecs_world* create_world(void) {
    ecs_world_config config = ecs_world_config_default();
    config.limits.replicated_index_max = 2;
    config.limits.local_entities_max = ECS_INDEX_MAX - 2;
    ecs_world* world;
    bench_ok(ecs_world_create(&config, &world), "world");
    return world;
}

static void load(ecs_world* world, const char* text) {
    const base_reporter reporter = base_reporter_stderr();
    bench_ok(ecs_template_load(world, "growth.blk", text, strlen(text), &reporter), "templates");
}

static void seal(ecs_world* world) {
    const base_reporter reporter = base_reporter_stderr();
    bench_ok(ecs_world_seal(world, &reporter), "seal");
}

static uint32_t find(ecs_world* world, const char* format, uint32_t number) {
    char name[NAME_BYTES];
    base_text_format(name, sizeof name, format, number);
    return ecs_template_find(world, name);
}

// ---- entities ----

static void measure_entities(curve* lines, uint32_t count) {
    static const ecs_term terms[] = {{"pos", "p3", ECS_WRITE}, {"vel", "p3", ECS_READ}};
    ecs_world* world = create_world();
    ecs_query* query;
    load(world, "mover { pos:p3=1,2,3; vel:p3=1,-2,0.5 }\n");
    bench_ok(ecs_query_create(world, terms, 2, &query), "query");
    seal(world);
    const ecs_component_id pos = ecs_component_find(world, "pos");
    const ecs_template_id mover = ecs_template_find(world, "mover");
    ecs_entity* entities = bench_allocate(count * sizeof *entities);
    uint32_t* order = bench_allocate(count * sizeof *order);
    bench_shuffle(order, count);
    double from = bench_now_ns();
    for (uint32_t i = 0; i < count; i++)
        bench_ok(ecs_create(world, mover, NULL, 0, &entities[i]), "create");
    print(&lines[0], count, (bench_now_ns() - from) / count);
    ecs_changes_clear(world);
    double sum = 0;
    from = bench_now_ns();
    for (uint32_t i = 0; i < count; i++)
        sum += (double)((const ecs_vec3*)ecs_get(world, entities[order[i]], pos))->x;
    print(&lines[1], count, (bench_now_ns() - from) / count);
    bench_keep(sum);
    from = bench_now_ns();
    ecs_query_iter it = ecs_query_begin(world, query);
    while (ecs_query_next(&it))
        bench_move(it.rows.columns[0], it.rows.columns[1], BENCH_DT, it.rows.count);
    print(&lines[2], count, (bench_now_ns() - from) / count);
    from = bench_now_ns();
    for (uint32_t i = 0; i < count; i++)
        bench_ok(ecs_destroy(world, entities[order[i]]), "destroy");
    print(&lines[3], count, (bench_now_ns() - from) / count);
    bench_release(entities);
    bench_release(order);
    ecs_world_destroy(world);
}

static void print_entities(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    // A handle has 22 bits of index, so a world ends at four million.
    static const uint32_t sizes[SIZES] = {10000, 100000, 1000000, ECS_INDEX_MAX - 2048};
    curve lines[] = {{row->name, "create", "ns_per_entity", 0},
                     {row->name, "get_random", "ns_per_entity", 0},
                     {row->name, "update", "ns_per_entity", 0},
                     {row->name, "destroy_random", "ns_per_entity", 0}};
    for (uint32_t i = 0; i < SIZES; i++)
        measure_entities(lines, sizes[i]);
}

// ---- archetypes and queries ----

enum { TAGS = 12 }; // every set of them is an archetype

static void load_tagged(ecs_world* world, uint32_t count) {
    char* text = bench_allocate(TEXT_BYTES);
    for (uint32_t first = 0; first < count; first += TEXT_TEMPLATES) {
        size_t used = 0;
        for (uint32_t i = first; i < count && i < first + TEXT_TEMPLATES; i++) {
            used += (size_t)snprintf(text + used, TEXT_BYTES - used, "t%u { pos:p3=1,2,3\n", i);
            for (uint32_t tag = 0; tag < TAGS; tag++)
                if (i >> tag & 1)
                    used +=
                        (size_t)snprintf(text + used, TEXT_BYTES - used, " \"g%u:tag\"{}\n", tag);
            used += (size_t)snprintf(text + used, TEXT_BYTES - used, "}\n");
        }
        load(world, text);
    }
    bench_release(text);
}

// Query `number` wants pos and some of the tags, as the bits of the number say.
static ecs_query* make_query(ecs_world* world, uint32_t number) {
    ecs_term terms[TAGS + 1] = {{"pos", "p3", ECS_READ}};
    char names[TAGS][NAME_BYTES];
    uint32_t count = 1;
    for (uint32_t tag = 0; tag < TAGS; tag++) {
        if (!(number >> tag & 1)) continue;
        base_text_format(names[tag], NAME_BYTES, "g%u", tag);
        terms[count++] = (ecs_term){names[tag], "tag", ECS_REQUIRE};
    }
    ecs_query* query;
    bench_ok(ecs_query_create(world, terms, count, &query), "query");
    return query;
}

static double walk_all(ecs_world* world, ecs_query* query) {
    double sum = 0;
    ecs_query_iter it = ecs_query_begin(world, query);
    while (ecs_query_next(&it))
        for (uint32_t i = 0; i < it.rows.count; i++)
            sum += (double)((const ecs_vec3*)it.rows.columns[0])[i].x;
    return sum;
}

static double walk_ns(ecs_world* world, ecs_query* query) {
    enum { RUNS = 20 };
    bench_keep(walk_all(world, query));
    const double from = bench_now_ns();
    for (uint32_t i = 0; i < RUNS; i++)
        bench_keep(walk_all(world, query));
    return (bench_now_ns() - from) / RUNS;
}

static void make_each(ecs_world* world, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ecs_entity entity;
        bench_ok(ecs_create(world, (ecs_template_id)(i + 1), NULL, 0, &entity), "create");
    }
}

static void print_archetypes(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    static const uint32_t sizes[SIZES] = {64, 256, 1024, 1u << TAGS};
    curve lines[] = {{row->name, "first_entity", "ns_per_archetype", 0},
                     {row->name, "walk", "ns_per_archetype", 0},
                     {row->name, "step", "ns_per_archetype", 0}};
    for (uint32_t i = 0; i < SIZES; i++) {
        ecs_world* world = create_world();
        load_tagged(world, 1u << TAGS);
        ecs_query* query = make_query(world, 0);
        seal(world);
        const double from = bench_now_ns();
        make_each(world, sizes[i]);
        print(&lines[0], sizes[i], (bench_now_ns() - from) / sizes[i]);
        print(&lines[1], sizes[i], walk_ns(world, query) / sizes[i]);
        const ecs_step step = {.tick = 1, .dt = BENCH_DT};
        const double begin = bench_now_ns();
        ecs_world_step(world, &step);
        print(&lines[2], sizes[i], (bench_now_ns() - begin) / sizes[i]);
        ecs_world_destroy(world);
    }
}

static void print_queries(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    enum { ARCHETYPES = 256 };
    static const uint32_t sizes[SIZES] = {10, 100, 1000, 1u << TAGS};
    curve lines[] = {{row->name, "create_and_seal", "ns_per_query", 0},
                     {row->name, "first_entity", "ns_per_archetype", 0},
                     {row->name, "walk", "ns_per_archetype", 0}};
    for (uint32_t i = 0; i < SIZES; i++) {
        ecs_world* world = create_world();
        load_tagged(world, 1u << TAGS);
        double from = bench_now_ns();
        ecs_query* query = make_query(world, 0);
        for (uint32_t q = 1; q < sizes[i]; q++)
            (void)make_query(world, q);
        seal(world);
        print(&lines[0], sizes[i], (bench_now_ns() - from) / sizes[i]);
        from = bench_now_ns();
        make_each(world, ARCHETYPES);
        print(&lines[1], sizes[i], (bench_now_ns() - from) / ARCHETYPES);
        print(&lines[2], sizes[i], walk_ns(world, query) / ARCHETYPES);
        ecs_world_destroy(world);
    }
}

// ---- templates ----

static void print_templates(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    static const uint32_t sizes[SIZES] = {100, 1000, 10000, 50000};
    curve lines[] = {{row->name, "load", "ns_per_template", 0},
                     {row->name, "seal", "ns_per_template", 0},
                     {row->name, "find", "ns_per_template", 0},
                     {row->name, "first_entity", "ns_per_template", 0}};
    char* text = bench_allocate(TEXT_BYTES);
    for (uint32_t i = 0; i < SIZES; i++) {
        ecs_world* world = create_world();
        double ns = 0;
        for (uint32_t first = 0; first < sizes[i]; first += TEXT_TEMPLATES) {
            size_t used = 0;
            for (uint32_t k = first; k < sizes[i] && k < first + TEXT_TEMPLATES; k++)
                used += (size_t)snprintf(
                    text + used, TEXT_BYTES - used,
                    "unit%u { %s pos:p3=1,2,3; vel:p3=0,0,0; hp:i=%u; name:t=\"unit %u\" }\n", k,
                    k > first ? "_extends:t=base" : "", k, k);
            if (first == 0) load(world, "base { speed:r=1; heading:r=0; team:u8=0 }\n");
            const double from = bench_now_ns();
            load(world, text);
            ns += bench_now_ns() - from;
        }
        print(&lines[0], sizes[i], ns / sizes[i]);
        double from = bench_now_ns();
        seal(world);
        print(&lines[1], sizes[i], (bench_now_ns() - from) / sizes[i]);
        from = bench_now_ns();
        for (uint32_t k = 0; k < sizes[i]; k++)
            bench_require(find(world, "unit%u", k) != ECS_TEMPLATE_NONE, "find");
        print(&lines[2], sizes[i], (bench_now_ns() - from) / sizes[i]);
        from = bench_now_ns();
        make_each(world, sizes[i]);
        print(&lines[3], sizes[i], (bench_now_ns() - from) / sizes[i]);
        ecs_world_destroy(world);
    }
    bench_release(text);
}

bench_rows bench_rows_growth(void) {
    static const bench_job entities = {.print = print_entities};
    static const bench_job archetypes = {.print = print_archetypes};
    static const bench_job queries = {.print = print_queries};
    static const bench_job templates = {.print = print_templates};
    static const bench_row rows[] = {
        {.name = "growth_entities", .job = &entities},
        {.name = "growth_archetypes", .job = &archetypes},
        {.name = "growth_queries", .job = &queries},
        {.name = "growth_templates", .job = &templates},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
