// SPDX-License-Identifier: MIT
/// Random scripts on a log and on the naive list of its ticks (log_twin.h): disks that are full and
/// free again, keyframes, segments, budgets, saves of the last seconds, kills at any call, damage.
/// Usage: test_log_model [scripts [seed [first]]]; the environment variables MODEL_SCRIPTS and
/// MODEL_SEED do the same.
#include "log_twin.h"
#include "model_scripts.h"

#include "base/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG "a.slog"
#define HARMED "harmed.slog"
#define AGAIN "again.slog"

// ---- folders ----

typedef struct folder {
    char name[64];
    char before[512];
} folder;

static void folder_open(folder* self) {
    strcpy(self->name, "/dev/shm/shoal-model-XXXXXX");
    if (!mkdtemp(self->name)) {
        strcpy(self->name, "/tmp/shoal-model-XXXXXX");
        assert_non_null(mkdtemp(self->name));
    }
    assert_non_null(getcwd(self->before, sizeof self->before));
    assert_int_equal(chdir(self->name), 0);
}

static int compare_names(const void* a, const void* b) {
    return strcmp(*(const char* const*)a, *(const char* const*)b);
}

/// The files of the working folder whose names begin with `start`, sorted.
typedef struct names {
    char* list[256];
    uint32_t count;
} names;

static void names_find(names* self, const char* start) {
    DIR* entries = opendir(".");
    assert_non_null(entries);
    self->count = 0;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, start, strlen(start)) == 0) {
            assert_true(self->count < BASE_COUNT(self->list));
            self->list[self->count++] = strdup(entry->d_name);
        }
    closedir(entries);
    qsort(self->list, self->count, sizeof *self->list, compare_names);
}

static void names_free(names* self) {
    for (uint32_t i = 0; i < self->count; i++)
        free(self->list[i]);
}

static void remove_all(const char* start) {
    names all;
    names_find(&all, start);
    for (uint32_t i = 0; i < all.count; i++)
        assert_int_equal(unlink(all.list[i]), 0);
    names_free(&all);
}

static void folder_close(folder* self) {
    remove_all("");
    assert_int_equal(chdir(self->before), 0);
    assert_int_equal(rmdir(self->name), 0);
}

static uint8_t* read_file(const char* name, size_t* size) {
    struct stat status;
    int fd = open(name, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    *size = (size_t)status.st_size;
    uint8_t* data = malloc(2 * *size + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, *size), (ssize_t)*size);
    close(fd);
    return data;
}

static void write_file(const char* name, const uint8_t* data, size_t size) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

/// Names and bytes of all files.
static uint64_t digest(void) {
    uint64_t hash = 0;
    names all;
    names_find(&all, "");
    for (uint32_t i = 0; i < all.count; i++) {
        size_t size;
        uint8_t* data = read_file(all.list[i], &size);
        hash = base_hash64_mix(hash, base_hash64_text(all.list[i]));
        hash = base_hash64_mix(hash, base_hash64(data, size, 0));
        free(data);
    }
    names_free(&all);
    return hash;
}

// ---- scripts ----

typedef struct script {
    folder folder;
    log_twin twin;
    base_rng rng;
    uint32_t rate;
    uint32_t pump_percent; ///< of the ticks
    uint32_t check_every;  ///< calls of the disk
    bool was_refused;      ///< the disk was full, or the folder locked, at any time
    bool is_saving;
    ecs_tick saved_to;
} script;

static uint64_t ticks_run, ticks_lost, checked, harmed, saves, restarts;

static uint32_t below(script* s, uint32_t count) {
    return base_rng_below(&s->rng, count);
}

static bool chance(script* s, uint32_t percent) {
    return below(s, 100) < percent;
}

static void check(script* s) {
    if (s->twin.writer) log_twin_look(&s->twin);
    const twin_log log = log_twin_log(&s->twin);
    log_twin_check(&s->twin, &log, &s->rng);
    checked++;
}

// The process may be killed at each call that changes a file.
static void before_call(void* context) {
    script* s = context;
    if (below(s, s->check_every) == 0) check(s);
}

static uint64_t one_of(script* s, const uint64_t* values, uint32_t count) {
    return values[below(s, count)];
}

static void choose_options(script* s) {
    static const uint64_t waiting[] = {0, 1 << 13, 1 << 14, 1 << 15, 1 << 17};
    static const uint64_t rates[] = {1, 2, 4, 8, 12};
    static const uint64_t bytes[] = {0, 0, 4096, 20000};
    static const uint64_t kept[] = {0, 0, 1, 3};
    static const uint64_t budgets[] = {0, 0, 1 << 15, 1 << 17};
    static const uint64_t rings[] = {0, 1, 15, 40};
    static const uint64_t ring_bytes[] = {1 << 15, 1 << 17, 1 << 20};
    static const uint64_t pumps[] = {100, 100, 50, 10};
    net_log_options* options = &s->twin.options;
    s->rate = (uint32_t)one_of(s, rates, BASE_COUNT(rates));
    *options = (net_log_options){
        .segments = {.bytes_max = one_of(s, bytes, BASE_COUNT(bytes)),
                     .seconds_max = chance(s, 50) ? 10 + below(s, 20) : 0,
                     .kept_max = (uint32_t)one_of(s, kept, BASE_COUNT(kept)),
                     .budget_bytes = one_of(s, budgets, BASE_COUNT(budgets))},
        .sync = (net_log_sync)below(s, 2),
        .content = chance(s, 25) ? NET_LOG_CONTENT_INPUTS : NET_LOG_CONTENT_STATE,
        .ring_seconds = (uint32_t)one_of(s, rings, BASE_COUNT(rings)),
        .ring_bytes = one_of(s, ring_bytes, BASE_COUNT(ring_bytes)),
        .waiting_bytes = one_of(s, waiting, BASE_COUNT(waiting)),
    };
    s->pump_percent = (uint32_t)one_of(s, pumps, BASE_COUNT(pumps));
    s->check_every = 20 + below(s, 200);
}

static void do_ticks(script* s) {
    for (uint32_t i = 1 + below(s, 2 * s->rate + 3); i > 0; i--) {
        const uint64_t lost = s->twin.counters.ticks_lost;
        log_twin_step(&s->twin, &s->rng);
        // With room for all that waits nothing is lost, but what came before the log began.
        bool must_be_kept = !s->was_refused && s->pump_percent == 100 && !s->twin.has_failed;
        if (must_be_kept) assert_int_equal(s->twin.counters.ticks_lost, lost);
        if (chance(s, s->pump_percent)) log_twin_pump(&s->twin);
    }
}

static void do_disk(script* s) {
    const uint32_t dice = below(s, 3);
    s->twin.disk.room = dice == 0 ? 0 : dice == 1 ? below(s, 30000) : UINT64_MAX;
    s->was_refused = s->was_refused || dice < 2;
}

static void do_lock(script* s) {
    s->twin.disk.is_locked = chance(s, 50);
    s->was_refused = s->was_refused || s->twin.disk.is_locked;
}

static void take_saved(script* s) {
    net_log_saved saved;
    if (!s->is_saving || !net_log_take_saved(s->twin.writer, &saved)) return;
    s->is_saving = false;
    if (saved.failure[0]) return;
    const twin_log log = {.file = saved.file,
                          .first_max = saved.first_tick,
                          .last = saved.last_tick,
                          .is_closed = true};
    assert_true(saved.last_tick >= s->saved_to);
    log_twin_check(&s->twin, &log, &s->rng);
    saves++;
}

static void do_save(script* s) {
    if (s->is_saving) return;
    s->is_saving = net_log_save(s->twin.writer, "x") == NET_OK;
    s->saved_to = log_twin_newest(&s->twin, s->twin.tick);
}

// ---- damage ----

// Where a block begins that chance chooses; `otherwise`: there is none.
static size_t choose_block(script* s, const uint8_t* data, size_t size, size_t otherwise) {
    static const uint8_t sync[] = {0xF5, 0x53, 0x48, 0x4C, 0x42, 0x0D, 0x0A, 0xA7};
    size_t chosen = otherwise;
    uint32_t count = 0;
    for (size_t at = 0; at + sizeof sync <= size; at++)
        if (memcmp(data + at, sync, sizeof sync) == 0 && below(s, ++count) == 0) chosen = at;
    return chosen;
}

// `data` has room for twice the size.
static void harm(script* s, uint8_t* data, size_t* size) {
    if (*size < 2) return;
    size_t at = 1 + below(s, (uint32_t)*size - 1);
    size_t count = 1 + below(s, (uint32_t)(*size - at));
    const uint32_t kind = below(s, 5);
    if (chance(s, 30)) { // whole blocks
        const size_t one = choose_block(s, data, *size, at);
        const size_t other = choose_block(s, data, *size, one);
        at = one < other ? one : other;
        count = one < other ? other - one : one - other;
    } else if (chance(s, 30)) { // some bytes
        count = 1 + below(s, count < 8 ? (uint32_t)count : 8);
    }
    if (kind == 0) {
        memset(data + at, 0, count);
    } else if (kind == 1) {
        *size = at;
    } else if (kind == 2) { // bytes are missing
        memmove(data + at, data + at + count, *size - at - count);
        *size -= count;
    } else if (kind == 3) { // bytes come twice
        memmove(data + at + count, data + at, *size - at);
        *size += count;
    } else {
        data[at] ^= (uint8_t)(1 << below(s, 8));
    }
}

// Copy the log's files; `is_harmed`: one of them is not what it was. @return false: all are.
static bool copy_log(script* s, const char* to, bool is_harmed) {
    names all;
    bool is_other = false;
    names_find(&all, LOG);
    const uint32_t chosen = all.count > 0 && is_harmed ? below(s, all.count) : UINT32_MAX;
    for (uint32_t i = 0; i < all.count; i++) {
        char name[128];
        size_t size;
        uint8_t* data = read_file(all.list[i], &size);
        snprintf(name, sizeof name, "%s%s", to, all.list[i] + strlen(LOG));
        const size_t bytes = size;
        const uint64_t hash = base_hash64(data, bytes, 0);
        if (i == chosen) harm(s, data, &size);
        is_other = is_other || size != bytes || base_hash64(data, size, 0) != hash;
        write_file(name, data, size);
        free(data);
    }
    names_free(&all);
    return is_other;
}

static void exchange(const char* one, const char* other) {
    assert_int_equal(rename(one, "aside"), 0);
    assert_int_equal(rename(other, one), 0);
    assert_int_equal(rename("aside", other), 0);
}

// A file of the log is gone, is there twice, or has the name of another one.
static void harm_files(script* s, twin_log* log) {
    names all;
    (void)copy_log(s, HARMED, false);
    names_find(&all, HARMED);
    uint32_t first = 0; // of the segments
    while (first < all.count && !strstr(all.list[first], ".seg"))
        first++;
    const uint32_t one = below(s, all.count), other = below(s, all.count);
    const bool has_queue = strstr(all.list[one], ".queue") || strstr(all.list[other], ".queue");
    const uint32_t kind = below(s, 3);
    log->is_harmed = kind == 0 || (!has_queue && (kind == 1 || one != other));
    if (!log->is_harmed) {
    } else if (kind == 0) {
        assert_int_equal(unlink(all.list[one]), 0);
        if (one == first) { // the log only begins later
            log->first_max = log->last + 1;
            log->is_closed = false;
        }
    } else if (kind == 1) {
        size_t size;
        uint8_t* data = read_file(all.list[one], &size);
        write_file(HARMED ".seg9000", data, size);
        free(data);
    } else {
        exchange(all.list[one], all.list[other]);
    }
    names_free(&all);
}

static void do_damage(script* s) {
    twin_log log = log_twin_log(&s->twin);
    // A file that could not be removed is not one of a closed log.
    log.is_closed = log.is_closed && !s->twin.disk.is_locked;
    log.file = HARMED;
    if (access(LOG, F_OK) == 0 && chance(s, 30))
        harm_files(s, &log);
    else
        log.is_harmed = copy_log(s, HARMED, true);
    log_twin_check(&s->twin, &log, &s->rng);
    remove_all(HARMED);
    harmed++;
}

// ---- kills ----

// The process was killed here, and another one begins a log of the same name.
static void do_restart(script* s) {
    log_twin* next = calloc(1, sizeof *next);
    assert_non_null(next);
    (void)copy_log(s, AGAIN, false);
    *next = (log_twin){.file = AGAIN, .options = s->twin.options, .disk = {.room = UINT64_MAX}};
    log_twin_begin(next, 1, s->rate);
    twin_log before = log_twin_log(&s->twin);
    before.file = AGAIN ".1";
    log_twin_check(&s->twin, &before, &s->rng);
    for (uint32_t i = below(s, 2 * s->rate); i > 0; i--)
        log_twin_step(next, &s->rng);
    assert_ok(log_twin_end(next, true));
    const twin_log after = log_twin_log(next);
    log_twin_check(next, &after, &s->rng);
    log_twin_destroy(next);
    free(next);
    remove_all(AGAIN);
    restarts++;
}

// ---- a script ----

static void do_pump(script* s) {
    log_twin_pump(&s->twin);
}

static void do_something(script* s) {
    static const struct {
        uint32_t below; // of 100
        void (*run)(script* s);
    } kinds[] = {{60, do_ticks}, {72, do_disk}, {75, do_lock},    {80, do_pump},
                 {86, do_save},  {92, check},   {94, do_restart}, {100, do_damage}};
    const uint32_t dice = below(s, 100);
    uint32_t i = 0;
    while (dice >= kinds[i].below)
        i++;
    kinds[i].run(s);
    take_saved(s);
}

// With room again the log goes on within a few spans.
static void come_back(script* s) {
    s->twin.disk.room = UINT64_MAX;
    s->twin.disk.is_locked = false;
    for (uint32_t i = 0; i < 12 * s->rate + 4; i++) {
        log_twin_pump(&s->twin);
        log_twin_step(&s->twin, &s->rng);
    }
    log_twin_pump(&s->twin);
    take_saved(s);
    if (s->twin.has_failed) return;
    assert_true(s->twin.ticks[s->twin.tick].is_kept);
    assert_int_equal(s->twin.gaps, s->twin.gaps_over);
}

static script* script_open(uint64_t seed, uint32_t number) {
    script* s = calloc(1, sizeof *s);
    assert_non_null(s);
    folder_open(&s->folder);
    s->rng = base_rng_make(seed, number);
    s->rate = 4;
    s->pump_percent = 100;
    s->twin.file = LOG;
    s->twin.disk.room = UINT64_MAX;
    return s;
}

static void script_close(script* s) {
    log_twin_destroy(&s->twin);
    folder_close(&s->folder);
    free(s);
}

static uint64_t run_script(uint64_t seed, uint32_t number) {
    script* s = script_open(seed, number);
    choose_options(s);
    s->was_refused = chance(s, 15);
    s->twin.disk = (twin_disk){
        .room = s->was_refused ? below(s, 5000) : UINT64_MAX, .before = before_call, .context = s};
    log_twin_begin(&s->twin, number, s->rate);
    for (uint32_t i = 20 + below(s, 60); i > 0; i--)
        if (s->twin.tick + 30 * s->rate < TWIN_TICKS_MAX) do_something(s);
    const bool is_good_end = chance(s, 75);
    if (is_good_end) come_back(s);
    net_result result = log_twin_end(&s->twin, chance(s, 50));
    if (is_good_end && !s->twin.has_failed) assert_ok(result);
    s->twin.disk.before = NULL;
    check(s);
    do_damage(s);
    ticks_run += s->twin.tick;
    ticks_lost += s->twin.counters.ticks_lost;
    uint64_t hash = digest();
    script_close(s);
    return hash;
}

// ---- what a full disk costs, step by step ----

static void run_ticks(script* s, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        log_twin_step(&s->twin, &s->rng);
        log_twin_pump(&s->twin);
    }
}

static void end_whole(script* s, uint64_t lost) {
    come_back(s);
    assert_ok(log_twin_end(&s->twin, true));
    check(s);
    assert_int_equal(s->twin.counters.ticks_lost, lost);
    assert_int_equal(s->twin.waits, 1);
    assert_int_equal(s->twin.waits_over, 1);
    script_close(s);
}

// Keyframes are those of ticks 40, 80...: one of them is among what waits.
CASE(a_full_disk_across_a_keyframe_costs_nothing) {
    for (uint32_t from = 30; from <= 41; from++) {
        script* s = script_open(1, from);
        log_twin_begin(&s->twin, 1, s->rate);
        run_ticks(s, from);
        s->twin.disk.room = 0;
        run_ticks(s, 20);
        assert_int_equal(s->twin.waits, 1);
        assert_int_equal(s->twin.counters.ticks_lost, 0);
        check(s);
        end_whole(s, 0);
    }
}

// No more can wait from any tick on, also that of a keyframe: the log goes on when there is room.
CASE(a_gap_that_begins_anywhere_ends) {
    uint32_t in_keyframe = 0;
    for (uint32_t from = 30; from <= 90; from++) {
        script* s = script_open(6, from);
        s->twin.options.waiting_bytes = 1 << 13;
        log_twin_begin(&s->twin, 1, s->rate);
        run_ticks(s, from);
        s->twin.disk.room = 0;
        while (s->twin.gaps == 0)
            run_ticks(s, 1);
        in_keyframe += s->twin.tick % 40 == 0;
        run_ticks(s, 3);
        check(s);
        come_back(s);
        assert_int_equal(s->twin.gaps_over, 1);
        assert_ok(log_twin_end(&s->twin, true));
        check(s);
        script_close(s);
    }
    assert_true(in_keyframe > 0);
}

CASE(a_log_begins_when_a_disk_that_was_full_has_room) {
    script* s = script_open(2, 1);
    s->twin.disk.room = 100;
    log_twin_begin(&s->twin, 1, s->rate);
    run_ticks(s, 10);
    assert_int_equal(access(LOG, F_OK), -1);
    assert_int_equal(s->twin.counters.ticks_lost, 10);
    assert_int_equal(s->twin.counters.bytes, 0);
    s->twin.disk.is_locked = true; // what another try made cannot be removed
    run_ticks(s, 10);
    end_whole(s, 24); // it begins with the keyframe at the end of the next block
}

// A match that never had room for a log says so at its end, and leaves nothing.
CASE(a_log_that_never_began_is_counted_and_leaves_nothing) {
    script* s = script_open(3, 1);
    s->twin.disk.room = 0;
    log_twin_begin(&s->twin, 1, s->rate);
    run_ticks(s, 10);
    assert_int_equal(log_twin_end(&s->twin, true), NET_ERR_IO);
    assert_int_equal(s->twin.counters.ticks_lost, 10);
    assert_int_equal(access(LOG, F_OK), -1);
    script_close(s);
}

CASE(a_folder_that_takes_no_segment_is_told_and_costs_nothing) {
    script* s = script_open(4, 1);
    s->twin.options.segments.seconds_max = 10;
    log_twin_begin(&s->twin, 1, s->rate);
    s->twin.disk.is_locked = true;
    run_ticks(s, 100);
    assert_int_equal(s->twin.waits, 1);
    assert_non_null(strstr(s->twin.newest_line, "Permission denied"));
    assert_int_equal(s->twin.counters.segments_closed, 0);
    assert_int_equal(s->twin.counters.ticks_waited,
                     59); // since tick 41, whose begin ends the block
    s->twin.disk.is_locked = false;
    run_ticks(s, 40);
    assert_int_equal(s->twin.counters.segments_closed, 1);
    end_whole(s, 0);
}

// ---- all of it at random ----

static model_scripts scripts = {.count = 60, .seed = 9061};
static uint32_t script_now;

CASE(random_scripts_agree_with_the_list) {
    uint64_t hash = 0;
    for (script_now = scripts.first; script_now < scripts.first + scripts.count; script_now++)
        hash = base_hash64_mix(hash, run_script(scripts.seed, script_now));
    print_message(
        "%llu ticks, %llu lost, %llu logs checked, %llu saves, %llu harmed, %llu restarts, "
        "hash %016llx\n",
        (unsigned long long)ticks_run, (unsigned long long)ticks_lost, (unsigned long long)checked,
        (unsigned long long)saves, (unsigned long long)harmed, (unsigned long long)restarts,
        (unsigned long long)hash);
}

CASE(the_same_seed_gives_the_same_bytes) {
    for (uint32_t i = 0; i < 3; i++)
        assert_true(run_script(scripts.seed, i) == run_script(scripts.seed, i));
}

int main(int argc, char** argv) {
    model_scripts_read(&scripts, 5, argc, argv);
    const int failed = test_run();
    if (script_now < scripts.first + scripts.count)
        print_message("the script that failed: test_log_model 1 %llu %u\n",
                      (unsigned long long)scripts.seed, script_now);
    return failed;
}
