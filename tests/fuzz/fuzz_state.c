// SPDX-License-Identifier: MIT
// State bodies of a hostile server, read one after the other into a living mirror.
//
// Input: packets: a byte (tick, relative to the newest: -64..191), two bytes of size, the body.
// make_state_corpus.c writes real conversations in this form.
#include "fuzz.h"

#include "mirror.h"
#include "state_world.h"

enum { TICK_FIRST = 1000, TICK_BIAS = 64, PACKETS_MAX = 256 };

typedef struct watch {
    ecs_world* world;
    net_mirror* mirror;
    uint32_t applied;
} watch;

static void on_applied(void* context, ecs_entity entity, ecs_tick tick, uint64_t hash) {
    watch* w = context;
    (void)hash;
    w->applied++;
    FUZZ_CHECK(ecs_is_alive(w->world, entity));
    FUZZ_CHECK(ecs_entity_index(entity) <= STATE_INDEX_MAX);
    ecs_tick at;
    FUZZ_CHECK(net_mirror_entity_tick(w->mirror, entity, &at) && at == tick);
}

static void read_one(watch* w, ecs_tick tick, const uint8_t* body, size_t size) {
    w->applied = 0;
    net_mirror_result done;
    net_result result = net_mirror_read(w->mirror, tick, body, size, &done);
    ecs_changes changes = ecs_changes_get(w->world);
    if (result == NET_OK) {
        FUZZ_CHECK(done.applied == w->applied);
    } else {
        FUZZ_CHECK(result == NET_ERR_STALE || result == NET_ERR_MALFORMED);
        FUZZ_CHECK(w->applied == 0);
        FUZZ_CHECK(changes.created_count + changes.destroyed_count + changes.recreated_count == 0);
    }
    ecs_changes_clear(w->world);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    net_schema* schema = NULL;
    watch w = {.world = state_world_make(true, &schema)};
    net_mirror_config config = {.world = w.world,
                                .rows = net_schema_rows(schema),
                                .index_max = STATE_INDEX_MAX,
                                .trace = on_applied,
                                .trace_context = &w};
    FUZZ_CHECK(net_mirror_create(&config, &w.mirror) == NET_OK);
    ecs_tick newest = TICK_FIRST;
    size_t whole_size = size;
    for (uint32_t i = 0; i < PACKETS_MAX && size >= 3; i++) {
        ecs_tick tick = newest + data[0] - TICK_BIAS;
        size_t body_size = (size_t)(data[1] | data[2] << 8);
        data += 3;
        size -= 3;
        if (body_size > size) body_size = size;
        read_one(&w, tick, data, body_size);
        if (net_mirror_tick(w.mirror) > newest) newest = net_mirror_tick(w.mirror);
        data += body_size;
        size -= body_size;
    }
    // It looks at every index of a world, which takes longer than all the rest.
    if (whole_size % 32 == 0) ecs_world_validate(w.world);
    net_mirror_destroy(w.mirror);
    FUZZ_CHECK(ecs_handle_count(w.world, ECS_STATE_ALLOCATED) == 0);
    FUZZ_CHECK(ecs_handle_count(w.world, ECS_STATE_LOADING) == 0);
    FUZZ_CHECK(ecs_world_counters(w.world)->bad_transitions == 0);
    net_schema_destroy(schema);
    ecs_world_destroy(w.world);
    return 0;
}
