// SPDX-License-Identifier: MIT
// Writes corpus/state: conversations of a real server, in the form that fuzz_state.c reads.
//
//     make_state_corpus FOLDER
//
// Each file is one seed: entities come, move, change their template and go; some packets are lost or
// swapped, acknowledgements come a few ticks late.
#include "state_world.h"

#include "base/rng.h"
#include "view.h"

enum {
    SEEDS = 4,
    TICKS = 24,
    ENTITIES_MAX = 10,
    TICK_FIRST = 1000,
    TICK_BIAS = 64,
    ACK_LAG = 3,
    BODY_BYTES = 300,
};

typedef struct maker {
    base_rng rng;
    ecs_world* world;
    net_schema* schema;
    net_history* history;
    net_view* view;
    ecs_entity entities[ENTITIES_MAX];
    uint32_t count;
    bool is_lost[TICKS];
    FILE* file;
    ecs_tick newest; // as the reader sees it
} maker;

static ecs_template_id pick_template(maker* m) {
    static const char* const names[] = {"mover", "holder", "extra", "mover+extra", "holder+extra"};
    return ecs_template_find(m->world, names[base_rng_below(&m->rng, BASE_COUNT(names))]);
}

static void mutate(maker* m) {
    if (m->count < ENTITIES_MAX && base_rng_chance(&m->rng, 0.4)) {
        ecs_entity entity;
        FUZZ_CHECK(ecs_create(m->world, pick_template(m), NULL, 0, &entity) == ECS_OK);
        m->entities[m->count++] = entity;
    }
    if (m->count == 0) return;
    for (uint32_t i = 0; i < 4; i++) {
        ecs_entity entity = m->entities[base_rng_below(&m->rng, m->count)];
        ecs_vec2* pos = ecs_find_mut(m->world, entity, ecs_component_find(m->world, "pos"));
        if (pos) pos->x += base_rng_float(&m->rng) * 9;
        ecs_entity* link = ecs_find_mut(m->world, entity, ecs_component_find(m->world, "link"));
        if (link) *link = m->entities[base_rng_below(&m->rng, m->count)];
        int64_t* shield = ecs_find_mut(m->world, entity, ecs_component_find(m->world, "shield"));
        if (shield) *shield += base_rng_range(&m->rng, -9, 9);
    }
    uint32_t position = base_rng_below(&m->rng, m->count);
    if (base_rng_chance(&m->rng, 0.2))
        FUZZ_CHECK(ecs_recreate(m->world, m->entities[position], pick_template(m), NULL, 0) ==
                   ECS_OK);
    if (!base_rng_chance(&m->rng, 0.2)) return;
    FUZZ_CHECK(ecs_destroy(m->world, m->entities[position]) == ECS_OK);
    m->entities[position] = m->entities[--m->count];
}

static void put(maker* m, ecs_tick tick, const uint8_t* body, size_t size) {
    uint8_t head[3] = {(uint8_t)(tick - m->newest + TICK_BIAS), (uint8_t)size,
                       (uint8_t)(size >> 8)};
    FUZZ_CHECK(fwrite(head, 1, sizeof head, m->file) == sizeof head);
    FUZZ_CHECK(fwrite(body, 1, size, m->file) == size);
    if (tick > m->newest) m->newest = tick;
}

static void run(maker* m) {
    uint8_t held[BODY_BYTES];
    size_t held_size = 0;
    ecs_tick held_tick = 0;
    for (uint32_t i = 0; i < TICKS; i++) {
        ecs_tick tick = TICK_FIRST + 1 + i;
        mutate(m);
        ecs_world_step(m->world, &(ecs_step){.tick = tick, .dt = 1});
        FUZZ_CHECK(net_history_step(m->history, m->world, tick) == NET_OK);
        ecs_changes_clear(m->world);
        FUZZ_CHECK(net_view_follow(m->view) == NET_OK);
        uint8_t body[BODY_BYTES];
        size_t size;
        FUZZ_CHECK(net_view_write(m->view, (uint16_t)i, body, sizeof body, &size) == NET_OK);
        m->is_lost[i] = base_rng_chance(&m->rng, 0.2);
        if (!m->is_lost[i] && !held_tick && base_rng_chance(&m->rng, 0.2)) {
            memcpy(held, body, size); // comes after the next one
            held_size = size;
            held_tick = tick;
        } else {
            if (!m->is_lost[i]) put(m, tick, body, size);
            if (held_tick) put(m, held_tick, held, held_size);
            held_tick = 0;
        }
        if (i < ACK_LAG) continue;
        uint16_t seq = (uint16_t)(i - ACK_LAG);
        FUZZ_CHECK(m->is_lost[seq] ? net_view_lost(m->view, seq) : net_view_acked(m->view, seq));
    }
}

int main(int argc, char** argv) {
    FUZZ_CHECK(argc == 2);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/session-%u", argv[1], seed);
        maker m = {.rng = base_rng_make(seed, 5), .newest = TICK_FIRST};
        m.file = fopen(path, "wb");
        FUZZ_CHECK(m.file != NULL);
        m.world = state_world_make(false, &m.schema);
        net_rows* rows = net_schema_rows(m.schema);
        FUZZ_CHECK(net_history_create(NULL, rows, STATE_INDEX_MAX, &m.history) == NET_OK);
        FUZZ_CHECK(net_view_create(NULL, m.history, &m.view) == NET_OK);
        run(&m);
        net_view_destroy(m.view);
        net_history_destroy(m.history);
        net_schema_destroy(m.schema);
        ecs_world_destroy(m.world);
        FUZZ_CHECK(fclose(m.file) == 0);
    }
    return 0;
}
