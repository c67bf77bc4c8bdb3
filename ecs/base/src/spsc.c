// SPDX-License-Identifier: MIT
// A queue whose memory may be a file. So a crash loses no record that was pushed: the kernel keeps
// the pages of a shared mapping when a process ends, and the next process opens the file and reads
// on.
//
//     ring   | ...free... | record | record | record | ...free... | filler |
//                         ^ tail                     ^ head
//
// head and tail only grow; their low bits are the place in the ring. The producer writes a record
// first and then moves head (release), so a consumer that reads the new head (acquire) sees the
// record. tail does the same for the room that the consumer gives back. A record is never split:
// one that does not fit before the end of the ring begins at its start, and a filler marks the
// rest. The filler is published as soon as it fits alone, so an empty ring always has room for half
// of its capacity.
//
// The checksum covers position, size and bytes. The position matters after a power failure: a page
// with an old record, correct in itself, may lie below a newer head.
//
// Invariants: head - tail <= capacity, both multiples of 8. A foreign file may break them: every
// number from the ring is read once, checked against the ring, and then used.
#include "base/spsc.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdatomic.h>
#include <string.h>

enum { SPSC_VERSION = 1, RECORD_ALIGN = 8, RING_BYTES_MIN = 64 };

#define FILLER_SIZE UINT32_MAX

typedef struct record_header {
    uint32_t size;
    uint32_t crc;
} record_header;

_Static_assert(sizeof(base_spsc) <= BASE_SPSC_HEADER_BYTES, "the header has its own page");
_Static_assert(sizeof(record_header) == RECORD_ALIGN, "a filler fits wherever a record may end");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock would not survive the process");

static uint8_t* ring(const base_spsc* queue) {
    return (uint8_t*)queue + BASE_SPSC_HEADER_BYTES;
}

static bool is_power_of_two(uint64_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static uint64_t record_bytes(uint32_t size) {
    return sizeof(record_header) + (((uint64_t)size + RECORD_ALIGN - 1) & ~(uint64_t)7);
}

static uint32_t checksum(uint64_t position, uint32_t size, const void* data, uint32_t data_size) {
    uint8_t key[sizeof position + sizeof size];
    memcpy(key, &position, sizeof position);
    memcpy(key + sizeof position, &size, sizeof size);
    return base_crc32c(base_crc32c(0, key, sizeof key), data, data_size);
}

static bool is_aligned(const void* memory) {
    return (uintptr_t)memory % BASE_CACHE_LINE_BYTES == 0;
}

base_spsc* base_spsc_init(void* memory, uint64_t capacity_bytes, uint64_t identity) {
    BASE_ASSERT(memory && is_aligned(memory));
    BASE_ASSERT(is_power_of_two(capacity_bytes) && capacity_bytes >= RING_BYTES_MIN);
    base_spsc* queue = memory;
    memset(queue, 0, sizeof *queue);
    queue->version = SPSC_VERSION;
    queue->capacity_bytes = capacity_bytes;
    queue->identity = identity;
    atomic_store_explicit(&queue->head, 0, memory_order_relaxed);
    atomic_store_explicit(&queue->tail, 0, memory_order_relaxed);
    // The magic comes last: when the process ends before this line, the file is not a queue.
    atomic_thread_fence(memory_order_release);
    queue->magic = BASE_SPSC_MAGIC;
    return queue;
}

static bool are_ends_valid(uint64_t head, uint64_t tail, uint64_t capacity) {
    return head - tail <= capacity && head % RECORD_ALIGN == 0 && tail % RECORD_ALIGN == 0;
}

base_spsc* base_spsc_open(void* memory, uint64_t memory_bytes) {
    BASE_ASSERT(memory && is_aligned(memory));
    base_spsc* queue = memory;
    if (memory_bytes < BASE_SPSC_HEADER_BYTES) return NULL;
    if (queue->magic != BASE_SPSC_MAGIC || queue->version != SPSC_VERSION) return NULL;
    uint64_t capacity = queue->capacity_bytes;
    if (!is_power_of_two(capacity) || capacity < RING_BYTES_MIN) return NULL;
    if (capacity > memory_bytes - BASE_SPSC_HEADER_BYTES) return NULL;
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    return are_ends_valid(head, tail, capacity) ? queue : NULL;
}

static void write_header(uint8_t* place, uint32_t size, uint32_t crc) {
    record_header header = {size, crc};
    memcpy(place, &header, sizeof header);
}

uint8_t* base_spsc_reserve(base_spsc* queue, uint32_t size) {
    uint64_t capacity = queue->capacity_bytes;
    BASE_ASSERT(size >= 1 && size != FILLER_SIZE);
    // The memory may be a file that another process wrote.
    if (size > capacity / 2) return NULL;
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    if (!are_ends_valid(head, tail, capacity)) return NULL;
    uint64_t room = capacity - (head - tail);
    uint64_t place = head & (capacity - 1);
    uint64_t needed = record_bytes(size);
    if (needed > capacity - place) {
        uint64_t filler = capacity - place;
        if (filler > room) return NULL;
        write_header(ring(queue) + place, FILLER_SIZE, checksum(head, FILLER_SIZE, NULL, 0));
        head += filler;
        room -= filler;
        place = 0;
        atomic_store_explicit(&queue->head, head, memory_order_release);
    }
    return needed <= room ? ring(queue) + place + sizeof(record_header) : NULL;
}

bool base_spsc_commit(base_spsc* queue, uint32_t size) {
    uint64_t capacity = queue->capacity_bytes;
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint64_t place = head & (capacity - 1);
    uint64_t needed = record_bytes(size);
    BASE_ASSERT(size >= 1 && size != FILLER_SIZE);
    if (size > capacity / 2 || needed > capacity - place) return false;
    uint8_t* data = ring(queue) + place + sizeof(record_header);
    memset(data + size, 0, needed - sizeof(record_header) - size);
    write_header(ring(queue) + place, size, checksum(head, size, data, size));
    atomic_store_explicit(&queue->head, head + needed, memory_order_release);
    return true;
}

// One atomic read: in shared memory a second one may return another value.
static uint32_t load_size(const uint8_t* record) {
    return __atomic_load_n((const uint32_t*)(const void*)record, __ATOMIC_RELAXED);
}

static uint32_t load_crc(const uint8_t* record) {
    return load_size(record + sizeof(uint32_t));
}

// *cursor skips the fillers before a record.
const void* base_spsc_next(base_spsc* queue, uint64_t* cursor, uint32_t* size, bool* damaged) {
    uint64_t capacity = queue->capacity_bytes;
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    *size = 0;
    *damaged = !are_ends_valid(head, *cursor, capacity);
    // Each turn makes head - cursor smaller, and a ring has one filler at most.
    while (!*damaged && head != *cursor) {
        uint64_t place = *cursor & (capacity - 1);
        uint64_t left = head - *cursor;
        uint64_t readable = capacity - place < left ? capacity - place : left;
        const uint8_t* record = ring(queue) + place;
        uint32_t record_size = load_size(record);
        if (record_size == FILLER_SIZE) {
            *damaged = readable != capacity - place ||
                       load_crc(record) != checksum(*cursor, FILLER_SIZE, NULL, 0);
            if (*damaged) return NULL;
            *cursor += capacity - place;
            continue;
        }
        const uint8_t* data = record + sizeof(record_header);
        *damaged = record_size == 0 || record_size > capacity / 2 ||
                   record_bytes(record_size) > readable ||
                   load_crc(record) != checksum(*cursor, record_size, data, record_size);
        if (*damaged) return NULL;
        *size = record_size;
        *cursor += record_bytes(record_size);
        return data;
    }
    return NULL;
}

uint64_t base_spsc_tail(const base_spsc* queue) {
    return atomic_load_explicit(&queue->tail, memory_order_acquire);
}

void base_spsc_pop_to(base_spsc* queue, uint64_t cursor) {
    atomic_store_explicit(&queue->tail, cursor, memory_order_release);
}

uint64_t base_spsc_used(const base_spsc* queue) {
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    return head - tail;
}
