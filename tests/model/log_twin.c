// SPDX-License-Identifier: MIT
// The disk is that of the tests' folder, with a limit on what it takes. The linker sends changes of
// names here too: what a kill between two of them leaves is checked as well.
#include "log_twin.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

// ---- the disk ----

static twin_disk* disk_in_use; // while the twin's writer works

static void change(twin_disk* disk) {
    if (!disk->before) return;
    disk_in_use = NULL; // what a check writes goes to a disk with room
    disk->before(disk->context);
    disk_in_use = disk;
}

static ssize_t disk_write(void* context, int fd, const void* data, size_t size) {
    twin_disk* disk = context;
    change(disk);
    if (disk->room == UINT64_MAX) return write(fd, data, size);
    if (disk->room == 0) {
        disk->refusals++;
        errno = ENOSPC;
        return -1;
    }
    if (size > disk->room) size = (size_t)disk->room; // a disk that becomes full takes a part first
    disk->room -= size;
    return write(fd, data, size);
}

static int disk_sync(void* context, int fd) {
    (void)fd; // this process reads the files back: nothing has to reach a disk
    change(context);
    return 0;
}

static int disk_create(void* context, const char* file) {
    twin_disk* disk = context;
    change(disk);
    if (!disk->is_locked && disk->room > 0) return base_file_create(file);
    disk->refusals++;
    errno = disk->is_locked ? EACCES : ENOSPC;
    return -1;
}

// @return false: no name of the folder can be changed.
static bool may_name(void) {
    if (!disk_in_use) return true;
    change(disk_in_use);
    errno = EACCES;
    return !disk_in_use->is_locked;
}

int __real_link(const char* from, const char* to);
int __wrap_link(const char* from, const char* to);
int __wrap_link(const char* from, const char* to) {
    return may_name() ? __real_link(from, to) : -1;
}

int __real_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to) {
    return may_name() ? __real_rename(from, to) : -1;
}

int __real_unlink(const char* name);
int __wrap_unlink(const char* name);
int __wrap_unlink(const char* name) {
    if (!may_name()) return -1;
    if (disk_in_use && strstr(name, ".seg")) disk_in_use->has_deleted = true;
    return __real_unlink(name);
}

// A log's identity has it: the same seed gives the same bytes in each process.
pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void) {
    return 1;
}

// ---- the match and its list ----

static bool says(const log_twin* twin, const char* text) {
    return strstr(twin->newest_line, text) != NULL;
}

// The log goes on with a keyframe: ticks behind it, which counted as lost until it was written, are
// kept from now on.
static void go_on(log_twin* twin) {
    uint64_t tick, lost;
    assert_int_equal(sscanf(strstr(twin->newest_line, "the log continues"),
                            "the log continues after tick %" SCNu64 "; %" SCNu64, &tick, &lost),
                     2);
    assert_int_equal(lost, net_log_get_counters(twin->writer).ticks_lost);
    for (uint64_t count = twin->counters.ticks_lost - lost; count > 0; count--) {
        assert_true(++tick <= twin->tick && !twin->ticks[tick].is_kept);
        twin->ticks[tick].is_kept = true;
    }
    twin->counters.ticks_lost = lost;
}

void log_twin_look(log_twin* twin) {
    while (net_log_take_notice(twin->writer, twin->newest_line, sizeof twin->newest_line)) {
        twin->waits += says(twin, "the disk takes nothing:") || says(twin, "no new segment");
        twin->waits_over += says(twin, "the disk takes the log again");
        twin->gaps += says(twin, "are left out");
        twin->gaps_over += says(twin, "the log continues after tick");
        if (says(twin, "the log continues after tick")) go_on(twin);
        assert_in_range(twin->waits - twin->waits_over, 0, 1);
        assert_in_range(twin->gaps - twin->gaps_over, 0, 1);
    }
    char text[256];
    if (net_log_take_failure(twin->writer, text, sizeof text)) twin->has_failed = true;
    twin->counters = net_log_get_counters(twin->writer);
}

void log_twin_begin(log_twin* twin, uint64_t seed, uint32_t tick_rate_hz) {
    base_report_first said = {.count = 0};
    const base_reporter reporter = base_reporter_first(&said);
    table_open_at(&twin->table, NULL, 0, seed, NET_ROLE_SERVER, false, tick_rate_hz);
    twin->ticks[0].state_hash = ecs_world_state_hash(net_match_world(twin->table.match));
    twin->options.is_manual = true;
    twin->options.ops = (net_log_file_ops){
        .write = disk_write, .sync = disk_sync, .create = disk_create, .context = &twin->disk};
    disk_in_use = &twin->disk;
    net_result result = net_log_writer_create(NULL, twin->file, &twin->options, twin->table.match,
                                              "twin", 1, &reporter, &twin->writer);
    disk_in_use = NULL;
    assert_ok(result);
    // A disk that is full at the start is reported.
    twin->waits = strstr(said.text, "No space left") != NULL;
    log_twin_look(twin);
}

void log_twin_pump(log_twin* twin) {
    const uint64_t saves_failed = twin->counters.saves_failed;
    twin->disk.refusals = 0;
    disk_in_use = &twin->disk;
    net_log_pump(twin->writer);
    disk_in_use = NULL;
    log_twin_look(twin);
    // The operator reads of each time that the disk takes nothing; a save says so itself.
    if (twin->disk.refusals > 0 && !twin->has_failed && twin->counters.saves_failed == saves_failed)
        assert_int_equal(twin->waits, twin->waits_over + 1);
}

/// What enters a tick.
typedef struct entering {
    net_tick_inputs begin;
    net_tick_leave leaves[TWIN_CLIENTS];
    net_game_player joins[TWIN_CLIENTS];
    net_tick_input inputs[TWIN_CLIENTS];
    uint8_t packed[TWIN_CLIENTS][NET_INPUT_BYTES_MAX];
} entering;

static void choose_input(log_twin* twin, base_rng* rng, entering* in, uint32_t client) {
    net_match* match = twin->table.match;
    const breakout_input value = {.move = (int32_t)base_rng_below(rng, 255) - 127,
                                  .is_launching = base_rng_below(rng, 4) == 0};
    uint8_t* packed = in->packed[in->begin.input_count];
    size_t size;
    assert_ok(net_match_pack(match, net_match_input_message(match), &value, packed,
                             NET_INPUT_BYTES_MAX, &size));
    in->inputs[in->begin.input_count++] = (net_tick_input){.client = client,
                                                           .number = ++twin->input_number,
                                                           .payload = packed,
                                                           .size = (uint32_t)size};
}

static void choose(log_twin* twin, base_rng* rng, entering* in) {
    in->begin = (net_tick_inputs){
        .tick = twin->tick + 1, .leaves = in->leaves, .joins = in->joins, .inputs = in->inputs};
    for (uint32_t i = 0; i < TWIN_CLIENTS; i++) {
        uint32_t* client = &twin->clients[i];
        const uint32_t dice = base_rng_below(rng, 40);
        if (*client > 0 && dice == 0) {
            in->leaves[in->begin.leave_count++] = (net_tick_leave){*client, NET_END_GOODBYE};
            *client = 0;
        } else if (*client == 0 && dice < 8) {
            *client = ++twin->client_last;
            in->joins[in->begin.join_count++] = (net_game_player){.client = *client, .name = "ann"};
        } else if (*client > 0 && dice < 36) {
            choose_input(twin, rng, in, *client);
        }
    }
}

void log_twin_step(log_twin* twin, base_rng* rng) {
    net_match* match = twin->table.match;
    entering in;
    assert_true(twin->tick < TWIN_TICKS_MAX);
    choose(twin, rng, &in);
    net_log_append_begin(twin->writer, &in.begin);
    net_match_apply(match, &in.begin);
    net_match_step(match);
    net_log_append_end(twin->writer, match);
    ecs_changes_clear(net_match_world(match));
    const uint64_t lost = twin->counters.ticks_lost, waited = twin->counters.ticks_waited;
    log_twin_look(twin);
    // Each tick is counted at once, and its fate does not change.
    assert_in_range(twin->counters.ticks_lost - lost, 0, 1);
    const bool is_kept = twin->counters.ticks_lost == lost;
    assert_false(is_kept && twin->has_failed);
    assert_int_equal(twin->counters.ticks_waited - waited,
                     !twin->has_failed && twin->waits > twin->waits_over);
    twin->ticks[++twin->tick] =
        (twin_tick){.state_hash = ecs_world_state_hash(net_match_world(match)),
                    .inputs = in.begin.input_count,
                    .is_kept = is_kept};
}

net_result log_twin_end(log_twin* twin, bool has_close) {
    disk_in_use = &twin->disk;
    twin->disk.refusals = 0;
    if (has_close) net_log_append_close(twin->writer, twin->table.match);
    net_result result = net_log_writer_finish(twin->writer);
    log_twin_look(twin);
    assert_int_equal(result == NET_OK, !twin->has_failed);
    assert_int_equal(twin->counters.ticks_lost, twin->tick - log_twin_kept(twin, 1, twin->tick));
    // Without its index a log loses nothing but time, and counts as cut.
    twin->is_closed = result == NET_OK && twin->disk.refusals == 0;
    (void)net_log_writer_destroy(twin->writer);
    twin->writer = NULL;
    disk_in_use = NULL;
    return result;
}

void log_twin_destroy(log_twin* twin) {
    if (twin->writer) (void)net_log_writer_destroy(twin->writer);
    table_close(&twin->table);
}

uint64_t log_twin_kept(const log_twin* twin, ecs_tick first, ecs_tick last) {
    uint64_t count = 0;
    for (ecs_tick tick = first; tick <= last; tick++)
        count += tick > 0 && twin->ticks[tick].is_kept;
    return count;
}

ecs_tick log_twin_newest(const log_twin* twin, ecs_tick last) {
    while (last > 0 && !twin->ticks[last].is_kept)
        last--;
    return last;
}

twin_log log_twin_log(const log_twin* twin) {
    // Limits delete the oldest segments, whatever is in them.
    return (twin_log){.file = twin->file,
                      .first_max = twin->disk.has_deleted ? twin->tick + 1 : 1,
                      .last = twin->tick,
                      .is_closed = twin->is_closed};
}
