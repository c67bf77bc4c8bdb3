// SPDX-License-Identifier: MIT
// The kernel keeps the pages of a shared mapping when a process dies, whatever kills it, so a
// record that was pushed is not lost with the process. The pages are reserved on the disk
// beforehand: a full disk is an error here and never a signal in the simulation. Pages that another
// process takes away are guarded (log_guard.h).
//
// The ring's head and tail are two plain numbers that no checksum covers. The number of the newest
// record, kept twice, tells a reader whether it got all of them.
#include "log/log_queue.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "log/log_guard.h"
#include "log/log_lock.h"
#include "log/log_record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

static uint64_t load(const uint8_t* place) {
    uint64_t value;
    memcpy(&value, place, sizeof value);
    return value;
}

static void store(uint8_t* place, uint64_t value) {
    __atomic_store_n((uint64_t*)(void*)place, value, __ATOMIC_RELEASE);
}

bool net_log_queue_name(char* target, size_t target_bytes, const char* log_file) {
    return base_text_format(target, target_bytes, "%s.queue", log_file);
}

static net_result fail(net_log_queue* queue, const char* what, int error,
                       const base_reporter* reporter) {
    base_report(reporter, queue->file, 0, "%s: %s", what, strerror(error));
    net_log_queue_destroy(queue, false);
    errno = error;
    return net_log_result_of(error);
}

// Create FILE.queue with all of its pages on the disk. @return NET_OK; others are reported.
static net_result create_file(net_log_queue* queue, const char* log_file,
                              const base_reporter* reporter) {
    if (!net_log_queue_name(queue->file, sizeof queue->file, log_file)) {
        base_report(reporter, log_file, 0, "the name is too long");
        return NET_ERR_IO;
    }
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
    int error = posix_fallocate(queue->fd, 0, (off_t)queue->memory_bytes);
    return error == 0 ? NET_OK : fail(queue, "no room for the queue", error, reporter);
}

net_result net_log_queue_create(net_log_queue* queue, const char* log_file, uint64_t identity,
                                uint64_t ring_bytes, const base_reporter* reporter) {
    BASE_ASSERT(ring_bytes >= RING_BYTES_MIN);
    *queue = (net_log_queue){.fd = -1, .memory_bytes = HEAD_BYTES + ring_bytes};
    net_result result = log_file ? create_file(queue, log_file, reporter) : NET_OK;
    if (result != NET_OK) return result;
    int of_memory = log_file ? 0 : MAP_ANONYMOUS;
    void* memory = mmap(NULL, queue->memory_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_POPULATE | of_memory, queue->fd, 0);
    if (memory == MAP_FAILED) return fail(queue, "cannot be mapped", errno, reporter);
    queue->memory = memory;
    if (!net_log_guard_add(memory, queue->memory_bytes))
        return fail(queue, "too many logs in one process", ENFILE, reporter);
    queue->ring = base_spsc_init(queue->memory + PAGE_BYTES, ring_bytes, identity);
    write_head(queue->memory, identity, ring_bytes);
    return NET_OK;
}

void net_log_queue_destroy(net_log_queue* queue, bool is_kept) {
    if (queue->memory) {
        net_log_guard_remove(queue->memory);
        munmap(queue->memory, queue->memory_bytes);
    }
    if (queue->fd >= 0) {
        close(queue->fd);
        if (!is_kept) unlink(queue->file);
    }
    queue->memory = NULL;
    queue->ring = NULL;
    queue->fd = -1;
}

const char* net_log_queue_harm(const net_log_queue* queue) {
    // The first access to a page that was taken away sets the mark of the guard.
    bool is_sound = queue->ring->capacity_bytes == queue->memory_bytes - HEAD_BYTES &&
                    base_spsc_used(queue->ring) <= queue->ring->capacity_bytes;
    if (net_log_guard_is_lost(queue->memory)) return "another process cut the log's queue";
    return is_sound ? NULL : "the log's queue was changed by another process";
}

bool net_log_queue_push(net_log_queue* queue, const void* data, uint32_t size, uint64_t number) {
    BASE_ASSERT(queue->ring && size > NET_LOG_QUEUE_PREFIX_BYTES);
    uint8_t* place = base_spsc_reserve(queue->ring, size);
    if (!place) return false;
    memcpy(place, data, size);
    if (!base_spsc_commit(queue->ring, size)) return false;
    store(queue->memory + PUSHED_AT, number);
    store(queue->memory + COMPLEMENT_AT, ~number);
    return true;
}

void net_log_queue_validate(const net_log_queue* queue, uint64_t number) {
    BASE_ASSERT(queue->fd >= 0 && queue->memory && queue->ring);
    BASE_ASSERT(memcmp(queue->memory, magic, sizeof magic) == 0);
    BASE_ASSERT(load(queue->memory + PUSHED_AT) == number);
    BASE_ASSERT(load(queue->memory + COMPLEMENT_AT) == ~number);
    BASE_ASSERT(base_spsc_used(queue->ring) <= queue->memory_bytes - HEAD_BYTES);
}

static bool read_all(int fd, uint8_t* target, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, target + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

net_result net_log_queue_load(net_log_queue_copy* copy, const base_allocator* allocator,
                              const char* log_file) {
    char file[4096];
    struct stat status;
    *copy = (net_log_queue_copy){.allocator = allocator};
    if (!net_log_queue_name(file, sizeof file, log_file)) return NET_OK;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NET_OK;
    copy->exists = true;
    net_result result = NET_OK;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > HEAD_BYTES &&
        (uint64_t)status.st_size <= HEAD_BYTES + NET_LOG_QUEUE_BYTES) {
        copy->memory_bytes = (size_t)status.st_size;
        copy->memory = base_allocate(allocator, copy->memory_bytes);
        if (!copy->memory) {
            result = NET_ERR_MEMORY;
        } else if (!read_all(fd, copy->memory, copy->memory_bytes)) {
            base_release(allocator, copy->memory, copy->memory_bytes);
            copy->memory = NULL;
        }
    }
    close(fd);
    return result;
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
           crc == base_crc32c(0, copy->memory, CRC_AT) && load(copy->memory + 16) == identity;
}

// Append a record of the queue without its prefix. Total: it takes any bytes.
static bool append(const uint8_t* data, uint32_t size, uint64_t number, base_bytes* records) {
    if (size <= NET_LOG_QUEUE_PREFIX_BYTES) return false;
    uint32_t record_bytes = size - NET_LOG_QUEUE_PREFIX_BYTES;
    if (record_bytes > NET_LOG_RECORD_BYTES_MAX || load(data) != number) return false;
    base_bytes_write_varint(records, record_bytes);
    base_bytes_write(records, data + NET_LOG_QUEUE_PREFIX_BYTES, record_bytes);
    return !records->failed;
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
        return lossy(copy->memory_bytes, "it is no queue, or another log's", lost_bytes, reason);
    uint64_t pushed = load(copy->memory + PUSHED_AT);
    uint64_t second = ~load(copy->memory + COMPLEMENT_AT);
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
        if (size > NET_LOG_QUEUE_PREFIX_BYTES && load(data) < next_number) {
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
