// SPDX-License-Identifier: MIT
// States of a hostile server, header and body, read one after the other into a mirror.
//
// They come twice: the second time from another server that goes on with the match.
//
// Input: packets, each two bytes of size, then the content of StatePacket.state.
// The corpus has packets of an honest server.
#include "fuzz.h"

#include "session/packet_header.h"
#include "mirror/mirror.h"
#include "mirror/snapshot_reader.h"
#include "solo/solo_receiver.h"
#include "net/match.h"
#include "net/solo.h"
#include "state/schema.h"

#ifndef STATE_IS_SOLO
#define STATE_IS_SOLO false
#endif

enum { STATE_INDEX_MAX = 1100 };

static const char state_text[] =
    "mover {\n"
    "  \"pos:p2\" { _replicate:b=yes; _min:r=-1024; _max:r=1024; _step:r=0.0625; value:p2=1,2 }\n"
    "  \"hp:i\" { _replicate:b=yes; _bits:i=8; value:i=100 }\n"
    "}\n"
    "holder {\n"
    "  \"link:eid\" { _replicate:b=yes; value:eid=0 }\n"
    "  \"speed:r\" { _replicate:b=yes; value:r=1 }\n"
    "}\n"
    "extra { \"shield:i64\" { _replicate:b=yes; value:i64=-5 } \"flag:tag\"{ _replicate:b=yes; } "
    "}\n"
    "flyer {\n"
    "  \"at:p3\" { _replicate:b=yes; _min:r=-512; _max:r=511.9375; _step:r=0.0625; "
    "_integral:t=haste; }\n"
    "  \"haste:p3\" { _replicate:b=yes; _min:r=-64; _max:r=63.75; _step:r=0.25; }\n"
    "  \"turn:p4\" { _replicate:b=yes; _rotation:b=yes; _bits:i=10; value:p4=0,0,0,1 }\n"
    "}\n";

static ecs_world* make_world(net_schema** schema) {
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = true;
    config.limits.replicated_index_max = STATE_INDEX_MAX;
    ecs_world* world = NULL;
    FUZZ_CHECK(ecs_world_create(&config, &world) == ECS_OK);
    FUZZ_CHECK(ecs_template_load(world, "state.blk", state_text, strlen(state_text), NULL) ==
               ECS_OK);
    FUZZ_CHECK(ecs_world_seal(world, NULL) == ECS_OK);
    FUZZ_CHECK(net_schema_create(NULL, world, NULL, 0, NULL, schema) == NET_OK);
    net_rows_set_tick_rate(net_schema_rows(*schema), 60);
    return world;
}

enum { PACKETS_MAX = 256, MEMORY_BYTES_MAX = 32 << 20 };

typedef struct watch {
    ecs_world* world;
    net_mirror* mirror;
    uint32_t applied;
    bool has_tick;
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

static void on_row(void* context, ecs_entity entity, const net_row_template* entry, ecs_tick tick,
                   const uint64_t* row) {
    const watch* w = context;
    ecs_tick at;
    FUZZ_CHECK(net_mirror_entity_tick(w->mirror, entity, &at) && at >= tick);
    for (uint32_t f = 0; f < entry->layout.field_count; f++)
        FUZZ_CHECK(proto_quant_canonical(&entry->layout.fields[f].quant, row[f]) == row[f]);
}

static void on_gone(void* context, ecs_entity entity, ecs_tick tick) {
    (void)context, (void)tick;
    FUZZ_CHECK(entity != ECS_ENTITY_NONE);
}

// The world must have the row that was just applied.
static void check_sample(watch* w, const net_packet_header* header) {
    if (!header->has_probe) return;
    net_mirror_difference found;
    net_mirror_probe_result sample =
        net_mirror_check_probe(w->mirror, header->probe_slot, header->tick - header->probe_age,
                               header->probe_hash, &found);
    FUZZ_CHECK((found.entity != ECS_ENTITY_NONE) == (sample == NET_MIRROR_DIFFERS));
}

static void read_one(watch* w, const uint8_t* bytes, size_t size) {
    proto_bit_reader reader = proto_bit_reader_make(bytes, size);
    net_packet_header_near near = {.tick = net_mirror_tick(w->mirror), .has_tick = w->has_tick};
    net_packet_header header;
    if (net_packet_header_read(&reader, &near, &header) != NET_OK) return;
    w->applied = 0;
    const uint64_t before = net_mirror_get_counters(w->mirror)->updates;
    net_result result =
        net_mirror_read(w->mirror, header.seq, header.tick, header.has_body ? &reader : NULL);
    ecs_changes changes = ecs_changes_get(w->world);
    if (result == NET_OK) {
        FUZZ_CHECK(net_mirror_get_counters(w->mirror)->updates - before == w->applied);
        FUZZ_CHECK(!reader.failed && reader.offset_bits == reader.size_bits);
        w->has_tick = true;
        check_sample(w, &header);
    } else {
        FUZZ_CHECK(result == NET_ERR_STALE || result == NET_ERR_MALFORMED);
        FUZZ_CHECK(w->applied == 0);
        FUZZ_CHECK(changes.created_count + changes.destroyed_count + changes.recreated_count == 0);
    }
    ecs_changes_clear(w->world);
}

// The world, its rows and the statistics of solo code serve all inputs: they take 30 times as long
// to make as an input to read. Each input finds them as they were when they were new. Templates
// that an input composed stay in a world, so the next input gets another one.
static struct {
    ecs_world* world;
    net_schema* schema;
    base_bytes begin; // the world, saved
    uint64_t begin_hash;
    net_solo_receiver* solo;
    size_t solo_bytes;
    void* solo_begin; // a copy of it
} kept;

static void* measure(void* context, size_t size, size_t align) {
    kept.solo_bytes = size;
    return base_allocator_heap()->allocate(context, size, align);
}

static net_solo_receiver* open_solo(void) {
    if (!STATE_IS_SOLO) return NULL;
    if (kept.solo) {
        memcpy(kept.solo, kept.solo_begin, kept.solo_bytes);
        return kept.solo;
    }
    base_allocator measuring = *base_allocator_heap();
    measuring.allocate = measure;
    kept.solo = net_solo_receiver_create(&measuring);
    FUZZ_CHECK(kept.solo);
    kept.solo_begin = malloc(kept.solo_bytes);
    FUZZ_CHECK(kept.solo_begin);
    memcpy(kept.solo_begin, kept.solo, kept.solo_bytes);
    return kept.solo;
}

static void drop_world(void) {
    base_owner_destroy(kept.schema);
    ecs_world_destroy(kept.world);
    kept.world = NULL;
}

static void open_world(void) {
    if (kept.world && net_schema_rows(kept.schema)->composed_count > 0) drop_world();
    if (kept.world) {
        FUZZ_CHECK(ecs_world_restore(kept.world, kept.begin.data, kept.begin.size) == ECS_OK);
        FUZZ_CHECK(ecs_world_hash(kept.world) == kept.begin_hash);
        return;
    }
    kept.world = make_world(&kept.schema);
    if (kept.begin.size > 0) return;
    base_bytes_init(&kept.begin, NULL);
    ecs_world_save(kept.world, &kept.begin);
    kept.begin_hash = ecs_world_hash(kept.world);
}

static void read_all(watch* w, const uint8_t* data, size_t size) {
    for (uint32_t i = 0; i < PACKETS_MAX && size >= 2; i++) {
        size_t state_size = (size_t)(data[0] | data[1] << 8);
        data += 2;
        size -= 2;
        if (state_size > size) state_size = size;
        read_one(w, data, state_size);
        data += state_size;
        size -= state_size;
    }
}

static void read_rebased(watch* w, const uint8_t* data, size_t size) {
    net_mirror_rebase(w->mirror, NULL);
    w->has_tick = false;
    read_all(w, data, size);
    net_mirror_validate(w->mirror);
    (void)net_mirror_end_rebase(w->mirror, net_mirror_tick(w->mirror));
    net_mirror_validate(w->mirror);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    open_world();
    watch w = {.world = kept.world};
    net_mirror_config config = {.world = w.world,
                                .rows = net_schema_rows(kept.schema),
                                .index_max = STATE_INDEX_MAX,
                                .memory_bytes_max = MEMORY_BYTES_MAX,
                                .trace = on_applied,
                                .trace_context = &w,
                                .sink = {.context = &w, .row = on_row, .gone = on_gone}};
    w.mirror = net_mirror_create(&config);
    w.mirror->solo = STATE_IS_SOLO ? &net_solo_part : NULL;
    w.mirror->receiver = open_solo();
    read_all(&w, data, size);
    if (!STATE_IS_SOLO) read_rebased(&w, data, size);
    // This check visits every index of the world and takes longer than all others.
    if (size % 32 == 0) ecs_world_validate(w.world);
    w.mirror->solo = NULL;
    net_mirror_destroy(w.mirror);
    FUZZ_CHECK(ecs_handle_count(w.world, ECS_STATE_ALLOCATED) == 0);
    FUZZ_CHECK(ecs_handle_count(w.world, ECS_STATE_LOADING) == 0);
    FUZZ_CHECK(ecs_world_counters(w.world)->bad_transitions == 0);
    return 0;
}
