// SPDX-License-Identifier: MIT
// Writes corpus/state_solo: packets of the real server with solo code, in the form that
// fuzz_state_solo.c reads.
//
//     make_solo_corpus FOLDER
//
// Each file is one seed: entities move, are created and destroyed. Some packets are lost, and the
// others are acknowledged a few ticks later.
#include "state_world.h"

#include "base/rng.h"
#include "interest/interest_manager.h"
#include "mirror/mirror.h"
#include "replicate/repl_state.h"
#include "session/packet_header.h"

enum {
    SEEDS = 3,
    ENTITIES = 14,
    STEPS = 64,
    ACK_LAG = 3,
    LOST_AFTER = 6, ///< packets
    FILE_BYTES_MAX = 600,
    CLIENT = 1,
    MEMORY_BYTES_MAX = 32 << 20,
};

typedef struct maker {
    base_rng rng;
    ecs_world* world;
    net_interest* interest;
    net_replicator* replicator;
    net_repl_state* repl;
    ecs_component_id pos, hp, at, haste;
    ecs_template_id mover, flyer;
    ecs_entity entities[ENTITIES];
    bool is_lost[STEPS + 1];
    ecs_world* mirrored; // the client's
    net_mirror* mirror;
    FILE* file;
    uint32_t bytes;
} maker;

static uint32_t below(maker* m, uint32_t end) {
    return base_rng_below(&m->rng, end);
}

static void move(maker* m, uint32_t tick) {
    for (uint32_t i = 0; i < ENTITIES; i++) {
        ecs_entity* entity = &m->entities[i];
        if (below(m, 24) == 0 && *entity) {
            FUZZ_CHECK(ecs_destroy(m->world, *entity) == ECS_OK);
            *entity = ECS_ENTITY_NONE;
        }
        if (*entity == ECS_ENTITY_NONE) {
            *entity = ecs_try_create(m->world, i % 2 ? m->mover : m->flyer, NULL, 0);
            FUZZ_CHECK(*entity);
        }
        const float way = (float)(tick * (i + 1)) * 0.125f;
        const ecs_vec2 pos = {way, 20 - way};
        const ecs_vec3 haste = {(float)(i + 1), 0, (float)below(m, 2)}, at = {way, 3, way / 2};
        const int32_t hp = (int32_t)below(m, 100);
        if (i % 2) {
            FUZZ_CHECK(ecs_set(m->world, *entity, m->pos, &pos) == ECS_OK);
            if (below(m, 8) == 0) FUZZ_CHECK(ecs_set(m->world, *entity, m->hp, &hp) == ECS_OK);
        } else {
            FUZZ_CHECK(ecs_set(m->world, *entity, m->at, &at) == ECS_OK);
            FUZZ_CHECK(ecs_set(m->world, *entity, m->haste, &haste) == ECS_OK);
        }
    }
}

// The packet must be one that a client can read.
static void read_back(maker* m, const uint8_t* bytes, size_t size) {
    proto_bit_reader reader = proto_bit_reader_make(bytes, size);
    const net_packet_header_near near = {.tick = net_mirror_tick(m->mirror),
                                         .has_tick = m->bytes > 0};
    net_packet_header header;
    net_mirror_result done;
    FUZZ_CHECK(net_packet_header_read(&reader, &near, &header) == NET_OK);
    FUZZ_CHECK(net_mirror_read(m->mirror, header.seq, header.tick, header.has_body ? &reader : NULL,
                               &done) == NET_OK);
    ecs_changes_clear(m->mirrored);
}

static void write_packet(maker* m, uint32_t tick) {
    uint8_t body[1000], bytes[2 + sizeof body + 64] = {0};
    proto_bit_writer content = proto_bit_writer_make(body, sizeof body);
    uint32_t records = 0;
    const net_repl_state_room room = {.hard = sizeof body * 8, .soft = sizeof body * 8};
    FUZZ_CHECK(net_repl_state_write(m->repl, (uint16_t)tick, room, &content, &records) == NET_OK);
    (void)proto_bit_writer_bytes(&content);
    proto_bit_writer bits = proto_bit_writer_make(bytes + 2, sizeof bytes - 2);
    const net_packet_header header = {.seq = (uint16_t)tick,
                                      .tick = tick,
                                      .is_whole = tick <= 2 * LOST_AFTER,
                                      .has_body = records > 0};
    net_packet_header_write(&bits, &header);
    proto_bit_reader reader = proto_bit_reader_make(body, sizeof body);
    for (uint64_t i = 0; i < content.size_bits; i++)
        proto_bits_write(&bits, proto_bits_read(&reader, 1), 1);
    const size_t size = proto_bit_writer_bytes(&bits);
    FUZZ_CHECK(!bits.failed);
    bytes[0] = (uint8_t)size;
    bytes[1] = (uint8_t)(size >> 8);
    m->is_lost[tick] = tick > 2 && below(m, 8) == 0;
    if (m->is_lost[tick]) return;
    read_back(m, bytes + 2, size);
    FUZZ_CHECK(fwrite(bytes, 1, size + 2, m->file) == size + 2);
    m->bytes += (uint32_t)size + 2;
}

static void run(maker* m) {
    for (uint32_t tick = 1; tick <= STEPS && m->bytes < FILE_BYTES_MAX; tick++) {
        move(m, tick);
        const ecs_step step = {.tick = tick, .dt = 1 / 60.0f};
        ecs_world_step(m->world, &step);
        FUZZ_CHECK(net_replicator_step(m->replicator, m->world, tick) == NET_OK);
        ecs_changes_clear(m->world);
        net_replicator_publish(m->replicator);
        write_packet(m, tick);
        if (tick > ACK_LAG && !m->is_lost[tick - ACK_LAG])
            FUZZ_CHECK(net_repl_state_acked(m->repl, (uint16_t)(tick - ACK_LAG)));
        if (tick > LOST_AFTER && m->is_lost[tick - LOST_AFTER])
            (void)net_repl_state_lost(m->repl, (uint16_t)(tick - LOST_AFTER));
    }
}

static void open_server(maker* m, net_schema* schema) {
    const base_reporter reporter = base_reporter_stderr();
    net_rows* rows = net_schema_rows(schema);
    const net_interest_config interest = {
        .world = m->world, .rows = rows, .index_max = STATE_INDEX_MAX, .tick_rate_hz = 60};
    FUZZ_CHECK(net_interest_create(&interest, &reporter, &m->interest) == NET_OK);
    FUZZ_CHECK(net_interest_add_client(m->interest, CLIENT));
    const net_replicator_config config = {
        .rows = rows, .index_max = STATE_INDEX_MAX, .interest = m->interest};
    FUZZ_CHECK(net_replicator_create(&config, &m->replicator) == NET_OK);
    FUZZ_CHECK(net_repl_state_create(m->replicator, CLIENT, &m->repl) == NET_OK);
    FUZZ_CHECK(net_repl_state_use_solo(m->repl) == NET_OK);
    m->pos = ecs_component_find(m->world, "pos");
    m->hp = ecs_component_find(m->world, "hp");
    m->at = ecs_component_find(m->world, "at");
    m->haste = ecs_component_find(m->world, "haste");
    m->mover = ecs_template_find(m->world, "mover");
    m->flyer = ecs_template_find(m->world, "flyer");
}

int main(int argc, char** argv) {
    FUZZ_CHECK(argc == 2);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/server-%u", argv[1], seed);
        maker m = {.rng = base_rng_make(seed, 0), .file = fopen(path, "wb")};
        FUZZ_CHECK(m.file != NULL);
        net_schema* schema;
        m.world = state_world_make(false, &schema);
        open_server(&m, schema);
        net_schema* mirrored_schema;
        m.mirrored = state_world_make(true, &mirrored_schema);
        const net_mirror_config config = {.world = m.mirrored,
                                          .rows = net_schema_rows(mirrored_schema),
                                          .index_max = STATE_INDEX_MAX,
                                          .memory_bytes_max = MEMORY_BYTES_MAX,
                                          .is_solo = true};
        FUZZ_CHECK(net_mirror_create(&config, &m.mirror) == NET_OK);
        run(&m);
        const net_repl_state_counters* counters = net_repl_state_get_counters(m.repl);
        FUZZ_CHECK(counters->packets_solo > 3); // otherwise the corpus would lack solo code
        printf("seed=%u packets=%llu solo=%llu bytes=%u\n", seed,
               (unsigned long long)counters->packets, (unsigned long long)counters->packets_solo,
               m.bytes);
        net_mirror_destroy(m.mirror);
        net_schema_destroy(mirrored_schema);
        ecs_world_destroy(m.mirrored);
        net_repl_state_destroy(m.repl);
        net_replicator_destroy(m.replicator);
        net_interest_destroy(m.interest);
        net_schema_destroy(schema);
        ecs_world_destroy(m.world);
        FUZZ_CHECK(fclose(m.file) == 0);
    }
    return 0;
}
