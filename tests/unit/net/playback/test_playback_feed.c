// SPDX-License-Identifier: MIT
// A log of another build is shown by names: the values are those of the match at each tick.
#include "heard.h"
#include "playback_record.h"

#define SEED 20261124

enum { TICKS = 700, FIELD_SCHEMA_HASH = 6 };

// The first of its 8 bytes. `payload` is that of a header block.
static uint8_t* schema_hash_in(uint8_t* payload, size_t size) {
    base_reader reader = base_reader_make(payload, size);
    proto_pb_field field = {0};
    (void)base_reader_varint(&reader); // the length of the header
    while (field.id != FIELD_SCHEMA_HASH)
        assert_true(proto_pb_next(&reader, &field));
    return payload + reader.offset - sizeof(uint64_t);
}

typedef struct edit {
    const char *from, *to; ///< of one length; "" changes the hash of the schema alone
} edit;

// In the header a word that is looked for, as often as it is there.
static void replace(uint8_t* payload, uint32_t size, const edit* with) {
    const size_t length = strlen(with->from);
    uint32_t count = 0;
    assert_int_equal(length, strlen(with->to));
    for (uint32_t i = 0; length > 0 && i + length <= size; i++) {
        if (memcmp(payload + i, with->from, length) != 0) continue;
        memcpy(payload + i, with->to, length);
        count++;
    }
    assert_true(count > 0 || length == 0);
}

typedef struct forgery {
    const edit* edits;
    uint32_t edit_count;
    uint32_t lost_from; ///< 0: no tick is lost
} forgery;

// A copy of the log with another header: that of a build with another schema.
static record_act forge(void* context, uint32_t number, const net_log_block* block,
                        uint8_t* payload) {
    const forgery* by = context;
    if (block->type == NET_LOG_BLOCK_HEADER || block->type == NET_LOG_BLOCK_HEADER_COPY) {
        *schema_hash_in(payload, block->unpacked_bytes) ^= 1;
        for (uint32_t i = 0; i < by->edit_count; i++)
            replace(payload, block->unpacked_bytes, &by->edits[i]);
        return RECORD_CHANGE;
    }
    const bool is_lost = by->lost_from > 0 && block->first_tick >= by->lost_from &&
                         block->first_tick < by->lost_from + 30;
    return is_lost ? RECORD_DROP : RECORD_KEEP;
}

/// A record whose header is another one's, shown.
typedef struct watch {
    playback_record* record;
    net_log_reader* reader;
    net_playback* playback;
    heard told;
} watch;

static void watch_open(watch* self, forgery by) {
    *self = (watch){.record = record_make(TICKS)};
    const char* file = file_name("%s/forged", self->record->files.folder);
    record_forge(self->record, file, forge, &by);
    const base_reporter* reporter = heard_begin(&self->told);
    (void)!net_log_reader_create(NULL, file, NULL, &self->reader);
    assert_non_null(self->reader);
    assert_ok(
        net_playback_create(self->reader, self->record->table.module, reporter, &self->playback));
    assert_int_equal(net_playback_clamped(self->playback), 0);
}

static void watch_close(watch* self) {
    net_playback_destroy(self->playback);
    net_log_reader_destroy(self->reader);
    record_free(self->record);
}

#define WATCH_CASE(name, ...)                                                                      \
    CASE_WITH(watch, self, watch_open(self, (forgery){__VA_ARGS__}), watch_close(self), name)

static void assert_watched(const watch* self, uint32_t tick) {
    assert_true(net_playback_tick(self->playback) == tick);
    assert_true(record_scope(net_playback_match(self->playback)) == self->record->scope_hash[tick]);
}

static const edit renames[] = {{"rectSize", "rectSizf"}, {"breakout_ball", "breakout_bals"}};

WATCH_CASE(what_has_no_name_here_is_left_out_and_said_once, .edits = renames,
           .edit_count = BASE_COUNT(renames)) {
    for (uint32_t i = 0; i < 3; i++)
        assert_ok(net_playback_seek(self->playback, 100.0 + 50.0 * i));
    assert_int_equal(heard_count(&self->told, "component rectSizf of the log is not here"), 1);
    assert_int_equal(heard_count(&self->told, "template breakout_bals of the log is not here"), 1);
    assert_int_equal(heard_count(&self->told, "component rectSize of template breakout_pad "), 1);
    // The pads are there, at their default width; the balls are not.
    ecs_world* world = net_match_world(net_playback_match(self->playback));
    const ecs_template_id pad = ecs_template_find(world, "breakout_pad");
    const ecs_component_id size = ecs_component_find(world, "rectSize");
    const ecs_component_id vel = ecs_component_find(world, "vel");
    uint32_t pads = 0;
    for (ecs_entity at = ECS_ENTITY_NONE; (at = ecs_entity_next(world, at)) != ECS_ENTITY_NONE;) {
        assert_null(ecs_find(world, at, vel));
        if (strcmp(ecs_entity_template_name(world, at), "breakout_pad") != 0) continue;
        pads++;
        assert_memory_equal(ecs_find(world, at, size), ecs_template_default(world, pad, size),
                            2 * sizeof(float));
    }
    assert_true(pads >= 1);
}

// The values behind it are unknown until all come again: what was known stays.
WATCH_CASE(damage_does_not_end_it, .lost_from = 300) {
    assert_ok(net_playback_seek(self->playback, 250.0));
    double before = 250.0;
    while (net_playback_tick(self->playback) < 650.0) {
        assert_ok(net_playback_advance(self->playback, 1.0));
        assert_true(net_playback_tick(self->playback) > before);
        before = net_playback_tick(self->playback);
        assert_non_null(net_playback_match(self->playback));
    }
    for (uint32_t tick = 20; tick < 300; tick += 60) {
        assert_ok(net_playback_seek(self->playback, tick));
        assert_watched(self, tick);
    }
}

typedef struct mutation {
    base_rng rng;
    uint32_t round;
} mutation;

static record_act mutate(void* context, uint32_t number, const net_log_block* block,
                         uint8_t* payload) {
    mutation* by = context;
    if (number > 0) return RECORD_KEEP;
    *schema_hash_in(payload, block->unpacked_bytes) ^= 1;
    for (uint32_t i = 0; i <= by->round % 3; i++) {
        const uint32_t place = 200 + base_rng_below(&by->rng, block->unpacked_bytes - 200);
        payload[place] = (uint8_t)(base_rng_below(&by->rng, 2) ? base_rng_below(&by->rng, 256)
                                                               : payload[place] ^ 1u);
    }
    return RECORD_CHANGE;
}

// Headers of no build: whatever their schemas say, they are watched or refused.
PLAYED_CASE(any_schema_is_watched_or_refused, TICKS) {
    enum { ROUNDS = 150 };
    mutation by = {.rng = test_rng(SEED, 2)};
    uint32_t counts[2] = {0, 0};
    for (; by.round < ROUNDS; by.round++)
        record_show_forged(record, mutate, &by, counts);
    assert_true(counts[0] > 30 && counts[1] > 30);
}
