// SPDX-License-Identifier: MIT
// The kernel keeps the pages of a shared mapping when a process dies, whatever kills it, so a
// record that was pushed is not lost with the process. The pages are reserved on the disk
// beforehand: a full disk is an error here and never a signal in the simulation. A process that
// truncates the file ends the program (SIGBUS); the log has what was written by then.
//
// The ring's head and tail are two plain numbers that no checksum covers. The number of the newest
// record, kept twice, tells a reader whether it got all of them.
#include "log/log_queue.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "log/log_record.h"
#include "log/log_segment.h"
#include "net/log_bytes.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the lock of a log, and older logs of its name ----

// A log belongs to the process that holds the lock of its file. Two servers may start at the same
// time with the same name: every step is checked again under the lock.

bool net_log_lock_has_name(int fd, const char* name) {
    struct stat of_fd, of_name;
    return fstat(fd, &of_fd) == 0 && lstat(name, &of_name) == 0 && of_fd.st_dev == of_name.st_dev &&
           of_fd.st_ino == of_name.st_ino;
}

// The number of "NAME.12" or "NAME.12.queue" beside NAME; 0 for other names.
static uint64_t number_of(const char* entry, const char* name, size_t name_bytes) {
    char digits[32];
    if (strncmp(entry, name, name_bytes) != 0 || entry[name_bytes] != '.') return 0;
    if (!base_text_copy(digits, sizeof digits, entry + name_bytes + 1)) return 0;
    char* end = strchr(digits, '.');
    if (end && strcmp(end, ".queue") != 0) return 0;
    if (end) *end = 0;
    uint64_t number;
    return base_text_parse_u64(digits, &number) ? number : 0;
}

// The highest number of an earlier log of this name.
static uint64_t find_newest(const char* path) {
    char folder[4096];
    const char* slash = strrchr(path, '/');
    const char* name = slash ? slash + 1 : path;
    if (!base_text_copy(folder, sizeof folder, slash ? path : ".")) return 0;
    if (slash) folder[slash - path + 1] = 0;
    DIR* entries = opendir(folder);
    if (!entries) return 0;
    uint64_t newest = 0;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        uint64_t number = number_of(entry->d_name, name, strlen(name));
        if (number > newest) newest = number;
    }
    closedir(entries);
    return newest;
}

// Segments go before their log: when a crash cuts this, the next start moves the rest to the same
// number.
static void move_segments(const char* name, const char* old) {
    char from[4096], to[4096];
    uint32_t *numbers, count, capacity;
    net_log_segment_list(NULL, name, &numbers, &count, &capacity);
    for (uint32_t i = 0; i < count; i++)
        if (net_log_segment_name(from, sizeof from, name, numbers[i]) &&
            net_log_segment_name(to, sizeof to, old, numbers[i]))
            (void)rename(from, to);
    BASE_ARRAY_RELEASE(NULL, numbers, capacity);
}

// The queue's name for a log's name. @return false when it gets too long.
static bool queue_name(char* target, size_t target_bytes, const char* log_file) {
    return base_text_format(target, target_bytes, "%s.queue", log_file);
}

bool net_log_crash_name(char* name, size_t name_bytes, const char* log_file) {
    BASE_ASSERT(name && log_file);
    const size_t length = strlen(log_file);
    const bool has_ending = length > 5 && strcmp(log_file + length - 5, ".slog") == 0;
    return base_text_format(name, name_bytes, "%.*s.crash", (int)(has_ending ? length - 5 : length),
                            log_file);
}

// The commands in a report name the log as it was called then.
static void move_crash(const char* name, const char* old, uint64_t number) {
    char from[4096], to[4096], text[8192];
    if (!net_log_crash_name(from, sizeof from, name) ||
        !base_text_format(to, sizeof to, "%s.%" PRIu64, from, number) || access(to, F_OK) == 0 ||
        rename(from, to) != 0)
        return;
    const int fd = open(to, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return;
    (void)base_text_format(text, sizeof text, "\nits log is called %s now\n", old);
    (void)!write(fd, text, strlen(text));
    close(fd);
}

// An earlier log of this name, locked by us, becomes FILE.N, with its queue and the report of its
// crash. No log is replaced, so a server that crashes again and again keeps each of its logs. An
// empty file is no log.
static bool move_locked(const char* name, int fd, const base_reporter* reporter) {
    char old[4096], queue[4096], old_queue[4096];
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size == 0) return unlink(name) == 0;
    const uint64_t number = find_newest(name) + 1;
    bool is_right = base_text_format(old, sizeof old, "%s.%" PRIu64, name, number) &&
                    queue_name(queue, sizeof queue, name) &&
                    queue_name(old_queue, sizeof old_queue, old);
    // The queue first: once the name is free, another server may create a queue beside it.
    if (is_right) move_segments(name, old);
    if (is_right && rename(queue, old_queue) != 0) unlink(old_queue);
    if (is_right) move_crash(name, old, number);
    if (is_right && rename(name, old) == 0) {
        base_report(reporter, name, 0, "note: the earlier log of this name is now %s", old);
        return true;
    }
    base_report(reporter, name, 0, "cannot be moved away: %s", base_error_text(errno));
    return false;
}

// An earlier log of this name is kept as FILE.N.
static bool move_old(const char* name, const base_reporter* reporter) {
    struct stat status;
    if (lstat(name, &status) != 0) return true;
    if (!S_ISREG(status.st_mode)) {
        base_report(reporter, name, 0, "exists and is not a regular file");
        return false;
    }
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        base_report(reporter, name, 0, "cannot be opened: %s", base_file_why(errno));
        return false;
    }
    bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0 && net_log_lock_has_name(fd, name);
    // Moved under the lock: a server that starts at the same time keeps its own.
    bool is_moved = is_free && move_locked(name, fd, reporter);
    close(fd);
    if (!is_free) base_report(reporter, name, 0, "another server writes this log");
    return is_moved;
}

net_result net_log_lock_create(const char* name, const base_reporter* reporter, int* fd) {
    BASE_ASSERT(name && *fd < 0);
    if (!move_old(name, reporter)) return NET_ERR_IO;
    *fd = base_file_create(name);
    if (*fd < 0) {
        int error = errno;
        base_report(reporter, name, 0, "cannot be created: %s",
                    error == EEXIST ? "another server took this log" : base_error_text(error));
        errno = error;
        return net_log_result_of(error);
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
        return BASE_REPORT_AS(NET_ERR_IO, reporter, name, 0, "cannot be locked: %s",
                              base_error_text(errno));
    // Only now it is certain: another server may have created, filled or moved the file in between.
    struct stat status;
    if (!net_log_lock_has_name(*fd, name) || fstat(*fd, &status) != 0 || status.st_size != 0)
        return BASE_REPORT_AS(NET_ERR_IO, reporter, name, 0, "another server took this log");
    // The entry in its folder must survive a power cut too. Some file systems cannot sync a folder.
    (void)!base_file_sync_folder(name);
    return NET_OK;
}

// ---- the queue ----

enum {
    PAGE_BYTES = 4096,
    HEAD_BYTES = PAGE_BYTES + BASE_SPSC_HEADER_BYTES,
    CRC_AT = 32,
    PUSHED_AT = 64,
    COMPLEMENT_AT = 72,
    VERSION = 1,
    RING_BYTES_MIN = 64,
};

static const uint8_t magic[8] = {'S', 'H', 'O', 'A', 'L', 'Q', 'U', 'E'};

static void write_head(uint8_t* memory, uint64_t identity, uint64_t ring_bytes) {
    uint32_t version = VERSION;
    memset(memory, 0, PAGE_BYTES);
    memcpy(memory, magic, sizeof magic);
    memcpy(memory + 8, &version, sizeof version);
    memcpy(memory + 16, &identity, sizeof identity);
    memcpy(memory + 24, &ring_bytes, sizeof ring_bytes);
    uint32_t crc = base_crc32c(0, memory, CRC_AT);
    memcpy(memory + CRC_AT, &crc, sizeof crc);
    memset(memory + COMPLEMENT_AT, 0xFF, sizeof(uint64_t));
}

static void store_number(uint8_t* place, uint64_t value) {
    __atomic_store_n((uint64_t*)(void*)place, value, __ATOMIC_RELEASE);
}

static net_result fail_queue(net_log_queue* queue, const char* what, int error,
                             const base_reporter* reporter) {
    base_report(reporter, queue->file, 0, "%s: %s", what, base_error_text(error));
    net_log_queue_destroy(queue, false);
    errno = error;
    return net_log_result_of(error);
}

// Create FILE.queue with all of its pages on the disk. @return NET_OK; others are reported.
static net_result create_file(net_log_queue* queue, const char* log_file,
                              const base_reporter* reporter) {
    if (!queue_name(queue->file, sizeof queue->file, log_file))
        return BASE_REPORT_AS(NET_ERR_IO, reporter, log_file, 0, "the name is too long");
    // The log of this name is ours, so what lies here belongs to no log. The name goes, and not
    // what a link leads to.
    (void)unlink(queue->file);
    queue->fd = base_file_create(queue->file);
    if (queue->fd < 0) {
        int error = errno;
        base_report(reporter, queue->file, 0, "cannot be created: %s", base_file_why(error));
        errno = error;
        return net_log_result_of(error);
    }
    int error = EINTR;
    while (error == EINTR)
        error = posix_fallocate(queue->fd, 0, (off_t)queue->memory_bytes);
    return error == 0 ? NET_OK : fail_queue(queue, "no room for the queue", error, reporter);
}

net_result net_log_queue_create(net_log_queue* queue, const char* log_file, uint64_t identity,
                                uint64_t ring_bytes, const base_reporter* reporter) {
    BASE_ASSERT(ring_bytes >= RING_BYTES_MIN);
    *queue = (net_log_queue){.fd = -1, .memory_bytes = HEAD_BYTES + ring_bytes};
    net_result result = log_file ? create_file(queue, log_file, reporter) : NET_OK;
    if (result != NET_OK) return result;
    int of_memory = log_file ? 0 : MAP_ANONYMOUS;
    void* memory = mmap(NULL, queue->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | of_memory,
                        queue->fd, 0);
    if (memory == MAP_FAILED) return fail_queue(queue, "cannot be mapped", errno, reporter);
    queue->memory = memory;
    queue->ring = base_spsc_init(queue->memory + PAGE_BYTES, ring_bytes, identity);
    write_head(queue->memory, identity, ring_bytes);
    return NET_OK;
}

void net_log_queue_destroy(net_log_queue* queue, bool is_kept) {
    if (queue->memory) munmap(queue->memory, queue->memory_bytes);
    if (queue->fd >= 0) {
        close(queue->fd);
        if (!is_kept) unlink(queue->file);
    }
    queue->memory = NULL;
    queue->ring = NULL;
    queue->fd = -1;
}

const char* net_log_queue_harm(const net_log_queue* queue) {
    bool is_sound = queue->ring->capacity_bytes == queue->memory_bytes - HEAD_BYTES &&
                    base_spsc_used(queue->ring) <= queue->ring->capacity_bytes;
    return is_sound ? NULL : "the log's queue was changed by another process";
}

bool net_log_queue_push(net_log_queue* queue, const void* data, uint32_t size, uint64_t number) {
    BASE_ASSERT(queue->ring && size > NET_LOG_QUEUE_PREFIX_BYTES);
    uint8_t* place = base_spsc_reserve(queue->ring, size);
    if (!place) return false;
    memcpy(place, data, size);
    if (!base_spsc_commit(queue->ring, size)) return false;
    store_number(queue->memory + PUSHED_AT, number);
    store_number(queue->memory + COMPLEMENT_AT, ~number);
    return true;
}

void net_log_queue_validate(const net_log_queue* queue, uint64_t number) {
    BASE_ASSERT((queue->fd >= 0) == (queue->file[0] != 0)); // a log without a file has none
    BASE_ASSERT(queue->memory && queue->ring);
    const bool is_right = memcmp(queue->memory, magic, sizeof magic) == 0 &&
                          base_load_le64(queue->memory + PUSHED_AT) == number &&
                          base_load_le64(queue->memory + COMPLEMENT_AT) == ~number;
    BASE_ASSERT(is_right || net_log_queue_harm(queue)); // the pages go at any time
}

void net_log_queue_load(net_log_queue_copy* copy, const base_allocator* allocator,
                        const char* log_file) {
    char file[4096];
    struct stat status;
    *copy = (net_log_queue_copy){.allocator = allocator};
    if (!queue_name(file, sizeof file, log_file)) return;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    copy->exists = true;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > HEAD_BYTES &&
        (uint64_t)status.st_size <= HEAD_BYTES + NET_LOG_QUEUE_BYTES) {
        copy->memory_bytes = (size_t)status.st_size;
        copy->memory = base_allocate(allocator, copy->memory_bytes);
        if (!net_log_read_at(fd, 0, copy->memory, copy->memory_bytes)) net_log_queue_unload(copy);
    }
    close(fd);
}

void net_log_queue_unload(net_log_queue_copy* copy) {
    base_release(copy->allocator, copy->memory, copy->memory_bytes);
    copy->memory = NULL;
}

static bool is_head_right(const net_log_queue_copy* copy, uint64_t identity) {
    uint32_t crc, version;
    memcpy(&crc, copy->memory + CRC_AT, sizeof crc);
    memcpy(&version, copy->memory + 8, sizeof version);
    return memcmp(copy->memory, magic, sizeof magic) == 0 && version == VERSION &&
           crc == base_crc32c(0, copy->memory, CRC_AT) &&
           base_load_le64(copy->memory + 16) == identity;
}

// Append a record of the queue without its prefix. Total: it takes any bytes.
static bool append(const uint8_t* data, uint32_t size, uint64_t number, base_bytes* records) {
    if (size <= NET_LOG_QUEUE_PREFIX_BYTES) return false;
    uint32_t record_bytes = size - NET_LOG_QUEUE_PREFIX_BYTES;
    if (record_bytes > NET_LOG_RECORD_BYTES_MAX || base_load_le64(data) != number) return false;
    base_bytes_write_varint(records, record_bytes);
    base_bytes_write(records, data + NET_LOG_QUEUE_PREFIX_BYTES, record_bytes);
    return true;
}

static net_log_queue_state lossy(uint64_t bytes, const char* text, uint64_t* lost_bytes,
                                 const char** reason) {
    *lost_bytes += bytes > 0 ? bytes : 1;
    *reason = text;
    return NET_LOG_QUEUE_LOSSY;
}

net_log_queue_state net_log_queue_take(net_log_queue_copy* copy, uint64_t identity,
                                       uint64_t next_number, base_bytes* records,
                                       uint64_t* lost_bytes, const char** reason) {
    if (!copy->exists) return NET_LOG_QUEUE_NONE;
    if (!copy->memory || !is_head_right(copy, identity))
        return lossy(copy->memory_bytes, "it is not a queue, or another log's", lost_bytes, reason);
    uint64_t pushed = base_load_le64(copy->memory + PUSHED_AT);
    uint64_t second = ~base_load_le64(copy->memory + COMPLEMENT_AT);
    if (pushed != second && pushed != second + 1)
        return lossy(copy->memory_bytes, "its count of records is damaged", lost_bytes, reason);
    if (pushed < next_number) return NET_LOG_QUEUE_WHOLE;
    uint64_t ring_bytes = copy->memory_bytes - HEAD_BYTES;
    base_spsc* ring =
        base_spsc_open(copy->memory + PAGE_BYTES, ring_bytes + BASE_SPSC_HEADER_BYTES);
    if (!ring || ring->capacity_bytes != ring_bytes)
        return lossy(copy->memory_bytes, "its ring is damaged", lost_bytes, reason);
    uint64_t cursor = base_spsc_tail(ring);
    uint64_t left = base_spsc_used(ring);
    uint64_t start = cursor;
    uint32_t size;
    bool damaged;
    const uint8_t* data;
    while ((data = base_spsc_next(ring, &cursor, &size, &damaged)) != NULL) {
        if (size > NET_LOG_QUEUE_PREFIX_BYTES && base_load_le64(data) < next_number) {
            start = cursor;
            continue;
        }
        if (!append(data, size, next_number, records)) break;
        next_number++;
        start = cursor;
    }
    if (pushed < next_number) return NET_LOG_QUEUE_WHOLE;
    left -= start - base_spsc_tail(ring);
    return lossy(left, damaged ? "a record in it is damaged" : "records are missing in it",
                 lost_bytes, reason);
}
