// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/alloc.h"
#include "base/spsc.h"

#include <stdatomic.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPACITY = 256, MEMORY = BASE_SPSC_HEADER_BYTES + CAPACITY };

static base_spsc* create(uint64_t capacity) {
    void* memory = base_allocate_zero(NULL, BASE_SPSC_HEADER_BYTES + capacity);
    assert_non_null(memory);
    return base_spsc_init(memory, capacity, 42);
}

static void destroy(base_spsc* queue) {
    base_release(NULL, queue, BASE_SPSC_HEADER_BYTES + queue->capacity_bytes);
}

static bool push(base_spsc* queue, const void* data, uint32_t size) {
    uint8_t* place = base_spsc_reserve(queue, size);
    if (!place) return false;
    memcpy(place, data, size);
    return base_spsc_commit(queue, size);
}

// The oldest record, which stays. What is in front of it, or all when there is none, is dropped.
static const void* peek(base_spsc* queue, uint32_t* size, bool* damaged) {
    uint64_t cursor = base_spsc_tail(queue);
    const void* record = base_spsc_next(queue, &cursor, size, damaged);
    if (!record && !*damaged) base_spsc_pop_to(queue, cursor);
    return record;
}

static void pop(base_spsc* queue) {
    uint64_t cursor = base_spsc_tail(queue);
    uint32_t size;
    bool damaged;
    if (base_spsc_next(queue, &cursor, &size, &damaged)) base_spsc_pop_to(queue, cursor);
}

#define QUEUE_CASE(name) CASE_MADE(base_spsc, queue, create(CAPACITY), destroy(queue), name)

static void expect_pop(base_spsc* queue, const void* data, uint32_t size) {
    uint32_t found;
    bool damaged;
    const void* record = peek(queue, &found, &damaged);
    assert_non_null(record);
    assert_false(damaged);
    assert_int_equal(found, size);
    assert_memory_equal(record, data, size);
    pop(queue);
}

static void expect_empty(base_spsc* queue) {
    uint32_t size;
    bool damaged;
    assert_null(peek(queue, &size, &damaged));
    assert_false(damaged);
    assert_int_equal(base_spsc_used(queue), 0);
}

static void expect_damaged(base_spsc* queue) {
    uint32_t size;
    bool damaged;
    assert_null(peek(queue, &size, &damaged));
    assert_true(damaged);
    assert_int_equal(size, 0);
}

QUEUE_CASE(a_walk_sees_all_records_before_one_of_them_is_popped) {
    uint8_t record[88];
    uint32_t size;
    bool damaged;
    for (uint32_t lap = 0; lap < 100; lap++) {
        memset(record, (int)lap, sizeof record);
        assert_true(push(queue, record, sizeof record));
        assert_true(push(queue, record, 8));
        uint64_t cursor = base_spsc_tail(queue);
        const void* first = base_spsc_next(queue, &cursor, &size, &damaged);
        assert_non_null(first);
        assert_int_equal(size, sizeof record);
        assert_memory_equal(first, record, sizeof record);
        assert_non_null(base_spsc_next(queue, &cursor, &size, &damaged));
        assert_int_equal(size, 8);
        assert_null(base_spsc_next(queue, &cursor, &size, &damaged));
        assert_false(damaged);
        assert_int_not_equal(base_spsc_used(queue), 0);
        base_spsc_pop_to(queue, cursor);
        assert_int_equal(base_spsc_used(queue), 0);
    }
}

QUEUE_CASE(a_full_queue_refuses_and_keeps_what_it_has) {
    char data[CAPACITY] = "full";
    int pushed = 0;
    while (push(queue, data, 24))
        pushed++;
    assert_int_equal(pushed, CAPACITY / 32);
    for (int i = 0; i < pushed; i++)
        expect_pop(queue, data, 24);
    expect_empty(queue);
}

CASE(half_of_the_ring_fits_from_any_place) {
    char data[CAPACITY];
    memset(data, 'x', sizeof data);
    for (uint32_t start = 0; start < CAPACITY; start += 8) {
        base_spsc* queue = create(CAPACITY);
        for (uint32_t i = 0; i < start; i += 16) { // 16 bytes each
            assert_true(push(queue, data, 8));
            expect_pop(queue, data, 8);
        }
        if (!push(queue, data, CAPACITY / 2)) {
            expect_empty(queue);
            assert_true(push(queue, data, CAPACITY / 2));
        }
        expect_pop(queue, data, CAPACITY / 2);
        expect_empty(queue);
        destroy(queue);
    }
}

QUEUE_CASE(a_record_is_made_where_it_lies) {
    char data[CAPACITY];
    memset(data, 'y', sizeof data);
    // Less than was reserved, at each place of the ring; what was not committed was never there.
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t size = 1 + i % (CAPACITY / 2);
        uint8_t* place = base_spsc_reserve(queue, CAPACITY / 2);
        if (!place) {
            expect_empty(queue); // takes the filler away
            place = base_spsc_reserve(queue, CAPACITY / 2);
        }
        assert_non_null(place);
        memset(place, 'n', CAPACITY / 2);
        expect_empty(queue);
        uint8_t* again = base_spsc_reserve(queue, CAPACITY / 2);
        assert_ptr_equal(again, place);
        memcpy(place, data, size);
        assert_true(base_spsc_commit(queue, size));
        expect_pop(queue, data, size);
        expect_empty(queue);
    }
    assert_null(base_spsc_reserve(queue, CAPACITY / 2 + 1));
    assert_false(base_spsc_commit(queue, CAPACITY / 2 + 1));
    // Without room there is nothing to write into.
    while (push(queue, data, 24)) {
    }
    assert_null(base_spsc_reserve(queue, 24));
}

QUEUE_CASE(wrong_sizes_are_mistakes) {
    char data[CAPACITY] = "";
    expect_assert_failure((void)!push(queue, data, 0));
    assert_false(push(queue, data, CAPACITY / 2 + 1));
    assert_true(push(queue, data, CAPACITY / 2));
    expect_assert_failure((void)!base_spsc_init(queue, 100, 0));
    expect_assert_failure((void)!base_spsc_init(queue, 32, 0));
    expect_assert_failure((void)!base_spsc_init((char*)queue + 8, 64, 0));
}

QUEUE_CASE(it_agrees_with_an_array_of_records) {
    enum { STEPS = 50000, PLACES = 256 };
    base_rng rng = test_rng(31, 1);
    struct {
        uint32_t size;
        uint8_t first;
    } model[PLACES];
    uint32_t head = 0, tail = 0;
    for (int step = 0; step < STEPS; step++) {
        uint8_t data[CAPACITY];
        if (base_rng_chance(&rng, 0.5)) {
            uint32_t size = 1 + base_rng_below(&rng, CAPACITY / 2);
            memset(data, step & 0xFF, size);
            if (!push(queue, data, size)) continue;
            model[head % PLACES].size = size;
            model[head++ % PLACES].first = (uint8_t)step;
        } else if (head == tail) {
            expect_empty(queue);
        } else {
            memset(data, model[tail % PLACES].first, CAPACITY);
            expect_pop(queue, data, model[tail % PLACES].size);
            tail++;
        }
    }
    assert_true(head > STEPS / 10);
}

QUEUE_CASE(foreign_memory_must_look_like_a_queue) {
    assert_ptr_equal(base_spsc_open(queue, MEMORY), queue);
    assert_ptr_equal(base_spsc_open(queue, MEMORY + 1), queue);
    assert_int_equal(queue->identity, 42);
    assert_null(base_spsc_open(queue, MEMORY - 1));
    assert_null(base_spsc_open(queue, BASE_SPSC_HEADER_BYTES));
    assert_null(base_spsc_open(queue, 0));
    const uint64_t capacities[] = {
        0, 1, 32, 100, CAPACITY - 8, CAPACITY * 2, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < BASE_COUNT(capacities); i++) {
        queue->capacity_bytes = capacities[i];
        assert_null(base_spsc_open(queue, MEMORY));
    }
    queue->capacity_bytes = CAPACITY;
    queue->version++;
    assert_null(base_spsc_open(queue, MEMORY));
    queue->version--;
    queue->magic ^= 1;
    assert_null(base_spsc_open(queue, MEMORY));
    queue->magic ^= 1;
    const uint64_t ends[][2] = {{8, 16}, {CAPACITY + 8, 0}, {4, 0}, {8, 4}, {UINT64_MAX, 0}};
    for (size_t i = 0; i < BASE_COUNT(ends); i++) {
        atomic_store(&queue->head, ends[i][0]);
        atomic_store(&queue->tail, ends[i][1]);
        assert_null(base_spsc_open(queue, MEMORY));
        expect_damaged(queue);
        assert_false(push(queue, "x", 1));
        pop(queue);
    }
}

CASE(a_damaged_record_ends_the_queue) {
    for (size_t byte = 0; byte < 12; byte++) {
        base_spsc* queue = create(CAPACITY);
        assert_true(push(queue, "good", 4));
        assert_true(push(queue, "evil", 4));
        ((uint8_t*)queue)[BASE_SPSC_HEADER_BYTES + 16 + byte] ^= 0x10;
        expect_pop(queue, "good", 4);
        expect_damaged(queue);
        expect_damaged(queue);
        destroy(queue);
    }
}

// An old lap's record under a newer head, as after a power failure: correct, but not here.
QUEUE_CASE(a_record_of_an_older_lap_is_damage) {
    assert_true(push(queue, "lap", 3));
    expect_pop(queue, "lap", 3);
    atomic_store(&queue->tail, CAPACITY);
    atomic_store(&queue->head, CAPACITY + 16);
    expect_damaged(queue);
}

// Random bytes in the ring, random ends: the sanitizer watches the block, which ends with the ring.
QUEUE_CASE(noise_never_leads_outside) {
    base_rng rng = test_rng(32, 1);
    uint32_t* words = (uint32_t*)(void*)((uint8_t*)queue + BASE_SPSC_HEADER_BYTES);
    for (int round = 0; round < 20000; round++) {
        for (int i = 0; i < CAPACITY / 4; i++) {
            uint32_t kind = base_rng_below(&rng, 4);
            words[i] = kind == 0   ? base_rng_u32(&rng)
                       : kind == 1 ? UINT32_MAX
                                   : base_rng_below(&rng, CAPACITY);
        }
        uint64_t tail = base_rng_u64(&rng);
        uint64_t used = base_rng_below(&rng, CAPACITY + 64);
        if (base_rng_chance(&rng, 0.8)) {
            tail &= ~UINT64_C(7);
            used &= ~UINT64_C(7);
        }
        atomic_store(&queue->tail, tail);
        atomic_store(&queue->head, tail + used);
        for (int i = 0; i < 3; i++) {
            uint32_t size;
            bool damaged;
            const uint8_t* record = peek(queue, &size, &damaged);
            if (record) assert_true(record + size <= (uint8_t*)queue + MEMORY);
            pop(queue);
            (void)!push(queue, "12345678", 1 + base_rng_below(&rng, 8));
        }
    }
}

enum { THREAD_RECORDS = 100000 };

static void* produce(void* context) {
    base_spsc* queue = context;
    base_rng rng = base_rng_make(1, 1);
    for (uint32_t i = 0; i < THREAD_RECORDS; i++) {
        uint32_t record[8];
        for (int word = 0; word < 8; word++)
            record[word] = i;
        uint32_t size = 4 + 4 * base_rng_below(&rng, 8);
        while (!push(queue, record, size))
            sched_yield();
    }
    return NULL;
}

QUEUE_CASE(two_threads_see_whole_records_in_order) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, queue), 0);
    for (uint32_t i = 0; i < THREAD_RECORDS;) {
        uint32_t size;
        bool damaged;
        const void* data = peek(queue, &size, &damaged);
        assert_false(damaged);
        if (!data) {
            sched_yield();
            continue;
        }
        uint32_t record[8];
        memcpy(record, data, size);
        for (uint32_t word = 0; word < size / 4; word++)
            assert_int_equal(record[word], i);
        pop(queue);
        i++;
    }
    pthread_join(thread, NULL);
    expect_empty(queue);
}

CASE(what_was_pushed_survives_the_process) {
    void* memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        base_spsc* queue = base_spsc_init(memory, CAPACITY, 7);
        bool pushed = push(queue, "last", 4) && push(queue, "words", 5);
        kill(getpid(), pushed ? SIGKILL : SIGTERM);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    base_spsc* queue = base_spsc_open(memory, MEMORY);
    assert_non_null(queue);
    assert_int_equal(queue->identity, 7);
    expect_pop(queue, "last", 4);
    expect_pop(queue, "words", 5);
    expect_empty(queue);
    munmap(memory, MEMORY);
}
