// SPDX-License-Identifier: MIT
// Disks that are full for a while, break, write in pieces, or lose power: with keyframes and
// segments, at every call. What the log says it has is there, and it says what is missing.
#include "log_files.h"

#include <signal.h>
#include <sys/resource.h>

enum { TICKS = 60, EVERY = 10, RECORDS = 2 * TICKS + 1 };

static net_log_file_config keyed_config(const log_files* files, log_disk* with) {
    net_log_file_config config = disk_config(files_config(files), with);
    config.keyframe_ticks = EVERY;
    return config;
}

static log_written write_on(const net_log_file_config* config) {
    return files_write(config, TICKS, 800);
}

/// A log on a disk with faults, and what is read of it.
typedef struct attempt {
    log_written got;
    log_sum sum;
} attempt;

static attempt try_on(log_disk* with, uint64_t segment_ticks, uint64_t ring_bytes) {
    log_files files;
    files_open(&files);
    net_log_file_config config = keyed_config(&files, with);
    config.segment_ticks = segment_ticks;
    if (ring_bytes > 0) config.ring_bytes = ring_bytes;
    attempt self = {.got = write_on(&config)};
    self.sum = files_read_own(files.log);
    files_close(&files);
    return self;
}

// Of logs in one file, and in segments.
static uint64_t segment_ticks(uint32_t round) {
    return round % 2 == 0 ? 0 : 2 * EVERY;
}

CASE(a_disk_that_is_full_for_a_while_costs_nothing) {
    static const int wants[] = {ENOSPC, EDQUOT, EFBIG, ENOMEM, EAGAIN};
    for (uint32_t round = 0; round < 2 * BASE_COUNT(wants); round++) {
        uint32_t calls = 60;
        for (uint32_t k = 3; k <= calls; k++) { // the first two are the start
            log_disk with = {.fail_write = k, .fail_for = 3, .error = wants[round / 2]};
            const attempt tried = try_on(&with, segment_ticks(round), 0);
            const log_written* got = &tried.got;
            const log_sum* self = &tried.sum;
            // The last calls are those of the end: there is no later to try again. The index comes
            // behind them.
            bool is_end = k + 4 > with.writes;
            if (!is_end) assert_string_equal(got->failure, "");
            assert_true(self->is_prefix);
            if (got->finished == NET_OK) {
                assert_int_equal(self->ends, TICKS);
                assert_true(self->info.is_closed && !sum_is_reported(self));
            }
            if (!is_end) assert_ok(got->finished);
            assert_int_equal(got->counters.ticks_lost, 0);
            calls = with.writes;
        }
        print_message("%u calls\n", calls);
    }
}

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN); // as programs do (host/setup.h)
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

FILES_CASE(a_limit_of_file_size_that_is_raised_again_costs_nothing) {
    net_log_file_config config = files_config(files);
    config.keyframe_ticks = EVERY;
    net_log_file* file = files_start(&config);
    for (ecs_tick tick = 1; tick <= TICKS; tick++) {
        char text[256];
        if (tick == 12) limit_files(net_log_file_bytes(file) + 100); // a part of a block is written
        if (tick == 27) limit_files(RLIM_INFINITY);
        files_ticks(file, tick, tick, 800);
        if (net_log_take_notice(file, text, sizeof text))
            assert_non_null(
                strstr(text, tick < 27 ? "the limit of file size" : "takes the log again"));
    }
    files_close_log(file, TICKS);
    const log_sum self = files_read(files->log);
    assert_int_equal(self.ends, TICKS);
    assert_true(self.info.is_closed && !sum_is_reported(&self));
}

FILES_CASE(a_log_begins_when_a_limit_of_file_size_is_raised) {
    net_log_file_config config = files_config(files);
    config.keyframe_ticks = EVERY;
    config.has_patience = true;
    limit_files(1000);
    net_log_file* file = files_start(&config);
    files_ticks(file, 1, 21, 800);
    limit_files(RLIM_INFINITY);
    files_ticks(file, 22, TICKS, 800);
    files_close_log(file, TICKS);
    const log_sum self = files_read(files->log);
    assert_true(self.info.is_closed && self.ends > 0 && self.last_end == TICKS);
}

CASE(a_broken_disk_ends_the_log_and_says_so_at_every_call) {
    for (uint32_t round = 0; round < 4; round++) {
        bool is_sync = round >= 2;
        uint32_t calls = 60;
        for (uint32_t k = 1; k <= calls; k++) {
            log_disk with = {.fail_write = is_sync ? 0 : k,
                             .fail_sync = is_sync ? k : 0,
                             .fail_for = UINT32_MAX,
                             .error = EIO};
            const attempt tried = try_on(&with, segment_ticks(round), 0);
            assert_false(with.is_used_after);
            calls = is_sync ? with.syncs : with.writes;
            if (tried.got.created != NET_OK) {
                assert_int_equal(tried.got.created, NET_ERR_DISK);
                continue;
            }
            assert_true(tried.sum.is_prefix);
            // Only the index, or a new segment that could not be made, may fail in silence.
            if (tried.got.finished == NET_OK)
                assert_int_equal(tried.sum.ends, TICKS);
            else
                assert_true(tried.got.failure[0] != 0);
        }
    }
}

// ---- power ----
//
// A disk as a power cut leaves it. Of a file, what was synced is there; of the rest each sector is
// there, is zero, or is torn, and its length is any in between. Of a folder, what happened to its
// names since it was synced happened or did not, each change for itself. The linker sends the
// functions below here.

enum { FILES_MAX = 16, CALLS_MAX = 4096, SECTOR = 512, NAME_BYTES = 128 };

typedef enum name_change {
    NAME_NONE,
    NAME_CREATE,
    NAME_LINK,
    NAME_RENAME,
    NAME_UNLINK
} name_change;

/// A call: what it did to a name, and how all files were after it.
typedef struct call {
    name_change change;
    bool is_folder_sync;
    uint32_t file; ///< of NAME_CREATE
    char from[NAME_BYTES], to[NAME_BYTES];
    size_t sizes[FILES_MAX], synced[FILES_MAX];
    uint64_t records; ///< that the last sync acknowledged
} call;

typedef struct journal {
    bool is_on;
    base_bytes bytes[FILES_MAX];
    size_t synced[FILES_MAX];
    int fds[FILES_MAX]; ///< the newest file of a descriptor is meant
    uint32_t file_count;
    call calls[CALLS_MAX];
    uint32_t call_count;
    uint64_t written[FILES_MAX]; ///< records up to the last one in it; 0: none
    uint64_t acknowledged;
} journal;

static journal disk_journal;

static call* add_call(name_change change, const char* from, const char* to) {
    journal* self = &disk_journal;
    assert_true(self->call_count < CALLS_MAX);
    call* made = &self->calls[self->call_count++];
    *made = (call){.change = change, .records = self->acknowledged};
    if (from) snprintf(made->from, sizeof made->from, "%s", strrchr(from, '/') + 1);
    if (to) snprintf(made->to, sizeof made->to, "%s", strrchr(to, '/') + 1);
    for (uint32_t i = 0; i < self->file_count; i++) {
        made->sizes[i] = self->bytes[i].size;
        made->synced[i] = self->synced[i];
    }
    return made;
}

static uint32_t file_of(int fd) {
    uint32_t i = disk_journal.file_count;
    while (i > 0 && disk_journal.fds[i - 1] != fd)
        i--;
    assert_true(i > 0);
    return i - 1;
}

static bool is_heard(const char* name) {
    return disk_journal.is_on && !strstr(name, ".queue");
}

int __real_base_file_create(const char* path);
int __wrap_base_file_create(const char* path);
int __wrap_base_file_create(const char* path) {
    journal* self = &disk_journal;
    int fd = __real_base_file_create(path);
    if (fd < 0 || !is_heard(path)) return fd;
    assert_true(self->file_count < FILES_MAX);
    base_bytes_init(&self->bytes[self->file_count], NULL);
    self->synced[self->file_count] = 0;
    self->fds[self->file_count++] = fd;
    add_call(NAME_CREATE, NULL, path)->file = self->file_count - 1;
    return fd;
}

int __real_link(const char* from, const char* to);
int __wrap_link(const char* from, const char* to);
int __wrap_link(const char* from, const char* to) {
    if (is_heard(to)) (void)add_call(NAME_LINK, from, to);
    return __real_link(from, to);
}

int __real_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to) {
    if (is_heard(to)) (void)add_call(NAME_RENAME, from, to);
    return __real_rename(from, to);
}

int __real_unlink(const char* name);
int __wrap_unlink(const char* name);
int __wrap_unlink(const char* name) {
    if (is_heard(name)) (void)add_call(NAME_UNLINK, name, NULL);
    return __real_unlink(name);
}

bool __real_base_file_sync_folder(const char* path);
bool __wrap_base_file_sync_folder(const char* path);
bool __wrap_base_file_sync_folder(const char* path) {
    if (!disk_journal.is_on) return __real_base_file_sync_folder(path);
    add_call(NAME_NONE, NULL, NULL)->is_folder_sync = true;
    return true;
}

static ssize_t journal_write(void* context, int fd, const void* data, size_t size) {
    journal* self = context;
    net_log_block block;
    if (size > NET_LOG_BLOCK_HEADER_BYTES && net_log_block_header_read(&block, data) &&
        block.type == NET_LOG_BLOCK_DATA)
        self->written[file_of(fd)] = block.first_record + block.record_count - 1;
    base_bytes_write(&self->bytes[file_of(fd)], data, size);
    (void)add_call(NAME_NONE, NULL, NULL);
    return write(fd, data, size);
}

static int journal_sync(void* context, int fd) {
    journal* self = context;
    self->synced[file_of(fd)] = self->bytes[file_of(fd)].size;
    if (self->written[file_of(fd)] > 0) self->acknowledged = self->written[file_of(fd)];
    (void)add_call(NAME_NONE, NULL, NULL);
    return 0;
}

static size_t cut_file(uint32_t file, const call* at, base_rng* rng, uint8_t* image) {
    size_t size = at->sizes[file], safe = at->synced[file];
    if (size > 0) memcpy(image, disk_journal.bytes[file].data, size);
    size_t length = safe + base_rng_below(rng, (uint32_t)(size - safe) + 1);
    if (base_rng_below(rng, 2) == 0) length = size;
    for (size_t from = safe; from < length;) {
        size_t end = (from / SECTOR + 1) * SECTOR;
        if (end > length) end = length;
        uint32_t fate = base_rng_below(rng, 4);
        if (fate == 1) memset(image + from, 0, end - from);
        if (fate == 2) {
            size_t torn = from + base_rng_below(rng, (uint32_t)(end - from));
            memset(image + torn, 0, end - torn);
        }
        from = end;
    }
    return length;
}

static void change_name(const log_files* files, const call* made, uint8_t* image, size_t size) {
    const char *from = file_name("%s/%s", files->folder, made->from),
               *to = file_name("%s/%s", files->folder, made->to);
    if (made->change == NAME_CREATE) file_write(to, image, size);
    // No name of the disk's is linked or renamed when its own making was lost.
    if (made->change == NAME_LINK) (void)!link(from, to);
    if (made->change == NAME_RENAME) (void)!rename(from, to);
    if (made->change == NAME_UNLINK) (void)!unlink(from);
}

// Do again what is not lost of the calls up to one.
static void write_cut(const log_files* files, uint32_t at, base_rng* rng, uint8_t* image) {
    uint32_t synced = at;
    while (synced > 0 && !disk_journal.calls[synced].is_folder_sync)
        synced--;
    bool is_in_order = base_rng_below(rng, 2) == 0, is_over = false;
    files_clear(files);
    for (uint32_t i = 0; i <= at; i++) {
        const call* made = &disk_journal.calls[i];
        if (made->change == NAME_NONE) continue;
        bool is_lost = i > synced && base_rng_below(rng, 2) == 0;
        is_over = is_over || (is_lost && is_in_order); // a disk with a journal of names
        if (is_lost || is_over) continue;
        size_t size = 0;
        if (made->change == NAME_CREATE)
            size = cut_file(made->file, &disk_journal.calls[at], rng, image);
        change_name(files, made, image, size);
    }
}

static void cut_power(uint64_t ticks_of_segment, uint32_t points) {
    log_files files;
    uint32_t cut = 0;
    journal* self = &disk_journal;
    files_open(&files);
    memset(self, 0, sizeof *self);
    self->is_on = true;
    net_log_file_config config = files_config(&files);
    config.keyframe_ticks = EVERY;
    config.sync_ticks = 15; // three blocks
    config.segment_ticks = ticks_of_segment;
    config.options.ops =
        (net_log_file_ops){.write = journal_write, .sync = journal_sync, .context = self};
    assert_ok(write_on(&config).finished);
    self->is_on = false;
    static uint8_t image[1 << 20];
    base_rng rng = base_rng_make(20261122, ticks_of_segment + 1);
    for (uint32_t i = 0; i < points; i++) {
        uint32_t at = base_rng_below(&rng, self->call_count);
        write_cut(&files, at, &rng, image);
        log_sum got = files_read_own(files.log);
        assert_true(got.records_first >= self->calls[at].records);
        assert_true(got.records <= RECORDS);
        cut += got.records < RECORDS;
    }
    print_message("%u points in %u calls and %u files, %u logs cut\n", points, self->call_count,
                  self->file_count, cut);
    // A segment is closed by each of the keyframes that its length allows.
    assert_int_equal(self->file_count, ticks_of_segment > 0 ? 1 + TICKS / ticks_of_segment : 1);
    for (uint32_t i = 0; i < self->file_count; i++)
        base_bytes_deinit(&self->bytes[i]);
    files_close(&files);
}

// SHOAL_POWER_POINTS=100000 for a long run.
CASE(a_power_cut_loses_nothing_that_a_sync_acknowledged) {
    const char* text = getenv("SHOAL_POWER_POINTS");
    uint32_t points = text ? (uint32_t)strtoul(text, NULL, 10) : 3000;
    cut_power(0, points / 3);
    cut_power(EVERY, points / 3);
    cut_power(2 * EVERY, points - 2 * (points / 3));
}
