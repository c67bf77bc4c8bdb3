// SPDX-License-Identifier: MIT
// Spectators' records of logs of breakout with bots, and the bytes of a log for a reader elsewhere.
#define _GNU_SOURCE // memmem

#include "playback/playback_record.h"

#include "logtools/log_values.h"
#include "net/log_bytes.h"

#define IDENTITY_AT 56u // in a block's header
// A match with keyframes, ids of players, and an order of its operator.
#define PRIVATE_CASE(name) READ_CASE(name, .ticks = 650, .seed = 4711, .is_private = true)

static net_result watch_log(const char* file, uint64_t tick_max, base_bytes* record) {
    net_result result = NET_OK;
    bool is_closed;
    const int descriptor = net_log_part_open(file, 1, &is_closed);
    assert_true(descriptor >= 0 && !is_closed);
    base_bytes_init(record, NULL);
    net_log_watch* watch = net_log_watch_create(NULL);
    uint64_t at = 0;
    while (result == NET_OK)
        result = net_log_watch_step(watch, descriptor, tick_max, &at, record);
    const uint64_t end = at;
    assert_int_equal(net_log_watch_step(watch, descriptor, tick_max, &at, record), result);
    assert_int_equal(at, end);
    net_log_watch_destroy(watch);
    close(descriptor);
    return result;
}

static record_act keep_payload(void* context, uint32_t number, const net_log_block* block,
                               uint8_t* payload) {
    base_bytes_write(context, payload, block->unpacked_bytes);
    return RECORD_DROP;
}

// All records of all blocks, unpacked.
static void unpack_log(const char* log, base_bytes* records) {
    base_bytes_init(records, NULL);
    log_forge(log, file_name("%s.none", log), keep_payload, records);
}

static bool has_bytes(const base_bytes* records, const void* bytes, size_t size) {
    return memmem(records->data, records->size, bytes, size) != NULL;
}

// @return does any of it have one of the things that are not for spectators?
static bool is_private(const base_bytes* records) {
    uint8_t id[10];
    const uint32_t id_bytes = base_varint_put(id, RECORD_PLAYER_ID);
    return has_bytes(records, record_user_data, sizeof record_user_data - 1) ||
           has_bytes(records, id, id_bytes) || has_bytes(records, "secret-order", 12);
}

static void same_states(net_log_reader* log, net_log_reader* record) {
    net_log_state *whole, *seen;
    uint32_t ticks = 0, values = 0;
    assert_ok(net_log_state_create(log, NULL, NULL, &whole));
    assert_ok(net_log_state_create(record, NULL, NULL, &seen));
    while (net_log_state_step(whole) == NET_OK) {
        assert_ok(net_log_state_step(seen));
        assert_int_equal(net_log_state_tick(seen), net_log_state_tick(whole));
        assert_int_equal(files_entities(seen), files_entities(whole));
        ecs_entity entity = ECS_ENTITY_NONE;
        while ((entity = net_log_state_next(whole, entity)) != ECS_ENTITY_NONE) {
            for (uint32_t i = 0; i < net_log_state_component_count(whole); i++) {
                const net_log_component* component = net_log_state_component(whole, i);
                ecs_number a[64], b[64];
                assert_true(component->value_count <= 64);
                if (!net_log_state_read(whole, entity, component, a)) continue;
                assert_true(net_log_state_read(seen, entity, net_log_state_component(seen, i), b));
                for (uint32_t k = 0; k < component->value_count; k++, values++)
                    assert_true(ecs_number_equal(&a[k], &b[k]));
            }
        }
        ticks++;
    }
    assert_int_equal(ticks, 650);
    assert_true(values > 650);
    net_log_state_destroy(whole);
    net_log_state_destroy(seen);
}

PRIVATE_CASE(a_spectator_gets_what_is_seen_and_nothing_else) {
    base_bytes record, records, of_log;
    size_t size;
    const char* name = file_name("%s/seen.slog", self->files.folder);
    assert_int_equal(watch_log(self->files.log, UINT64_MAX, &record), NET_ERR_CLOSED);
    file_write(name, record.data, record.size);
    net_log_reader* reader = files_reader(name);
    const net_log_info *info = net_log_reader_info(reader),
                       *was = net_log_reader_info(self->reader);
    assert_true(info->is_seen && info->is_closed && !was->is_seen);
    assert_int_equal(info->seed, 0);
    assert_int_equal(was->seed, 4711);
    assert_true(info->identity != was->identity);
    assert_ok(net_log_reader_check(reader));
    const net_log_stats stats = files_stats(self->reader), of_record = files_stats(reader);
    assert_int_equal(of_record.records[NET_LOG_KIND_END], stats.records[NET_LOG_KIND_END]);
    assert_true(stats.joins == 3 && stats.inputs > 0 && stats.records[NET_LOG_KIND_CONTROL] == 1);
    assert_true(of_record.joins == 0 && of_record.inputs == 0 &&
                of_record.records[NET_LOG_KIND_CONTROL] == 0);
    assert_int_equal(of_record.server_events, stats.server_events);
    uint32_t keyframes, places;
    (void)net_log_reader_keyframes(self->reader, &keyframes);
    (void)net_log_reader_keyframes(reader, &places);
    assert_true(keyframes == 1 && places == 1);
    // The search finds these things where they are.
    uint8_t* log = file_read(self->files.log, &size);
    unpack_log(self->files.log, &of_log);
    unpack_log(name, &records);
    assert_true(is_private(&of_log));
    assert_false(is_private(&records));
    assert_false(has_bytes(&record, log + NET_LOG_PROLOGUE_BYTES + IDENTITY_AT, 8));
    same_states(self->reader, reader);
    net_log_reader_destroy(reader);
    base_bytes_deinit(&record);
    base_bytes_deinit(&records);
    base_bytes_deinit(&of_log);
    free(log);
}

// The head and all blocks from the newest keyframe on, as a log of their own.
static void begin_late(const char* file, bool is_record, base_bytes* log) {
    net_log_places places = {0};
    bool is_closed;
    struct stat status;
    const int descriptor = net_log_part_open(file, 1, &is_closed);
    assert_true(descriptor >= 0 && fstat(descriptor, &status) == 0);
    uint32_t calls = 1;
    while (!net_log_places_find(&places, descriptor, UINT64_MAX, 2))
        calls++;
    assert_true(calls > 2);
    assert_int_equal(places.end, status.st_size);
    assert_true(places.keyframe > 0 && places.keyframe < places.end && places.tick > 0);
    // One that comes later is not there yet.
    net_log_places early = {0};
    assert_true(net_log_places_find(&early, descriptor, places.tick - 1, UINT32_MAX));
    assert_int_equal(early.keyframe, 0);
    assert_true(early.end < places.keyframe);
    base_bytes_init(log, NULL);
    net_log_watch* watch = net_log_watch_create(NULL);
    assert_ok(net_log_watch_head(watch, descriptor, is_record, log));
    if (is_record) {
        uint64_t at = places.keyframe;
        net_result result = NET_OK;
        while (result == NET_OK)
            result = net_log_watch_step(watch, descriptor, UINT64_MAX, &at, log);
        assert_int_equal(result, NET_ERR_CLOSED);
        assert_int_equal(at, places.end);
    } else {
        const size_t size = places.end - places.keyframe;
        uint8_t* to = base_bytes_extend(log, size);
        assert_true(to && pread(descriptor, to, size, (off_t)places.keyframe) == (ssize_t)size);
    }
    net_log_watch_destroy(watch);
    close(descriptor);
}

PRIVATE_CASE(a_late_reader_begins_at_the_newest_keyframe) {
    uint32_t count;
    const net_log_keyframe* newest = net_log_reader_keyframes(self->reader, &count);
    assert_int_equal(count, 1);
    for (uint32_t is_record = 0; is_record < 2; is_record++) {
        base_bytes log, records;
        const char* name = file_name("%s/late.slog", self->files.folder);
        begin_late(self->files.log, is_record, &log);
        file_write(name, log.data, log.size);
        unpack_log(name, &records);
        if (is_record) assert_false(is_private(&records));
        net_log_reader* reader = files_reader(name);
        const net_log_info* info = net_log_reader_info(reader);
        assert_int_equal(info->is_seen, is_record);
        assert_int_equal(info->first_tick, newest->tick + 1);
        assert_int_equal(info->last_tick, net_log_reader_info(self->reader)->last_tick);
        assert_ok(net_log_reader_check(reader));
        assert_true(info->is_closed && !info->is_damaged);
        net_log_reader_destroy(reader);
        base_bytes_deinit(&records);
        base_bytes_deinit(&log);
    }
}

READ_CASE(a_spectators_record_stays_behind_the_match, .ticks = 90) {
    base_bytes all, early;
    assert_int_equal(watch_log(self->files.log, UINT64_MAX, &all), NET_ERR_CLOSED);
    const uint32_t rate = net_log_reader_info(self->reader)->tick_rate_hz;
    assert_int_equal(watch_log(self->files.log, rate - 1, &early), NET_ERR_CLOSED);
    const size_t head = early.size; // no tick yet: blocks have a second
    base_bytes_deinit(&early);
    assert_int_equal(watch_log(self->files.log, rate, &early), NET_ERR_CLOSED);
    assert_true(head < early.size && early.size < all.size);
    assert_memory_equal(all.data, early.data, early.size);
    base_bytes_deinit(&early);
    base_bytes_deinit(&all);
}

READ_CASE(a_spectators_record_ends_at_damage_and_waits_at_a_cut, .ticks = 90) {
    base_bytes all, some;
    size_t size;
    uint8_t* log = file_read(self->files.log, &size);
    const char* name = file_name("%s/part.slog", self->files.folder);
    assert_int_equal(watch_log(self->files.log, UINT64_MAX, &all), NET_ERR_CLOSED);
    for (size_t cut = 0; cut < size; cut += 1 + size / 60) {
        file_write(name, log, cut);
        assert_int_equal(watch_log(name, UINT64_MAX, &some), NET_ERR_CLOSED);
        assert_true(some.size <= all.size);
        if (some.size > 0) assert_memory_equal(some.data, all.data, some.size);
        base_bytes_deinit(&some);
    }
    for (size_t at = 0; at < size; at += 1 + size / 60) {
        log[at] ^= 0x40;
        file_write(name, log, size);
        log[at] ^= 0x40;
        const net_result result = watch_log(name, UINT64_MAX, &some);
        assert_true(result == NET_ERR_DAMAGED || result == NET_ERR_CLOSED);
        assert_true(some.size <= all.size);
        base_bytes_deinit(&some);
    }
    base_bytes_deinit(&all);
    free(log);
}

READ_CASE(whole_blocks_of_a_log_are_found, .ticks = 90) {
    bool is_closed;
    struct stat status;
    const int file = net_log_part_open(self->files.log, 1, &is_closed);
    assert_true(file >= 0 && !is_closed);
    assert_int_equal(fstat(file, &status), 0);
    const uint64_t size = (uint64_t)status.st_size;
    assert_int_equal(net_log_part_whole(file, 0, UINT64_MAX / 2), size);
    const uint64_t first = net_log_part_whole(file, 0, 1); // one block, however long
    assert_true(first > NET_LOG_PROLOGUE_BYTES && first < size);
    assert_int_equal(net_log_part_whole(file, 0, first), first);
    assert_true(net_log_part_whole(file, 0, size - 1) < size);
    assert_int_equal(net_log_part_whole(file, first, size), size - first);
    assert_int_equal(net_log_part_whole(file, size, 1), 0);
    assert_int_equal(net_log_part_whole(file, size + 1, 1), 0);
    assert_int_equal(net_log_part_whole(file, first + 1, 10), 10); // no block begins there
    close(file);
    assert_int_equal(truncate(self->files.log, (off_t)size - 1), 0);
    const int cut = net_log_part_open(self->files.log, 1, &is_closed);
    assert_true(net_log_part_whole(cut, 0, size) < size - 1);
    close(cut);
    assert_int_equal(net_log_part_open(self->files.log, 2, &is_closed), -1);
    assert_int_equal(net_log_part_open("/dev/shm/none.slog", 1, &is_closed), -1);
}

FILES_CASE(parts_of_a_log_are_found_by_their_numbers) {
    net_log_parts parts;
    bool is_closed;
    assert_false(net_log_parts_find(files->log, &parts));
    file_write(files->log, (const uint8_t*)"c", 1);
    assert_true(net_log_parts_find(files->log, &parts));
    assert_true(parts.first == 1 && parts.newest == 1);
    for (uint32_t i = 3; i <= 4; i++) // the first two were deleted
        file_write(file_segment(files->log, i), (const uint8_t*)"b", 1);
    assert_true(net_log_parts_find(files->log, &parts));
    assert_true(parts.first == 3 && parts.newest == 5);
    for (uint32_t i = 1; i <= 6; i++) {
        const int file = net_log_part_open(files->log, i, &is_closed);
        assert_int_equal(file >= 0, i >= 3 && i <= 5);
        if (file < 0) continue;
        assert_int_equal(is_closed, i < 5);
        close(file);
    }
}
