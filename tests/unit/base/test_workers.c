// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/alloc.h"
#include "base/workers.h"

#include <pthread.h>

enum { ITEMS = 1000, RUNS = 300 };

typedef struct tally {
    base_workers* workers;
    uint32_t done[ITEMS];  // by item; every item has one thread, so no atomics
    uint32_t owner[ITEMS]; // worker + 1
    uint32_t input;        // written by the owner before the run
} tally;

static void count_item(void* context, uint32_t item, uint32_t worker) {
    tally* counts = context;
    counts->done[item] += counts->input;
    counts->owner[item] = worker + 1;
}

// Under TSan this also shows that both directions are ordered.
CASE(every_item_is_done_once_for_any_number_of_threads) {
    static const uint32_t threads[] = {1, 2, 3, 8, BASE_WORKERS_MAX};
    for (uint32_t t = 0; t < BASE_COUNT(threads); t++) {
        tally counts = {.workers = base_workers_create(NULL, threads[t])};
        assert_non_null(counts.workers);
        assert_int_equal(base_workers_count(counts.workers), threads[t]);
        uint32_t expected[ITEMS] = {0};
        for (uint32_t run = 0; run < RUNS; run++) {
            counts.input = run + 1;
            uint32_t count = run * 7 % (ITEMS + 1);
            base_workers_run(counts.workers, count_item, &counts, count);
            for (uint32_t i = 0; i < ITEMS; i++) {
                expected[i] += i < count ? run + 1 : 0;
                assert_int_equal(counts.done[i], expected[i]);
                assert_true(counts.owner[i] <= threads[t]);
            }
        }
        base_workers_destroy(counts.workers);
    }
}

CASE(without_workers_the_caller_does_the_items_in_order) {
    tally counts = {.input = 1};
    assert_int_equal(base_workers_count(NULL), 1);
    base_workers_run(NULL, count_item, &counts, ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_true(counts.done[i] == 1 && counts.owner[i] == 1);
    base_workers_run(NULL, count_item, &counts, 0);
    base_workers_destroy(NULL);
}

// Two items that wait for each other end only when two threads do them.
typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t came;
    uint32_t here;
} meeting;

static void meet(void* context, uint32_t item, uint32_t worker) {
    meeting* place = context;
    pthread_mutex_lock(&place->mutex);
    place->here++;
    pthread_cond_broadcast(&place->came);
    while (place->here < 2)
        pthread_cond_wait(&place->came, &place->mutex);
    pthread_mutex_unlock(&place->mutex);
}

CASE(items_run_at_the_same_time) {
    base_workers* workers = base_workers_create(NULL, 2);
    assert_non_null(workers);
    meeting place = {.here = 0};
    pthread_mutex_init(&place.mutex, NULL);
    pthread_cond_init(&place.came, NULL);
    for (uint32_t i = 0; i < 20; i++) {
        place.here = 0;
        // The owner cannot withdraw the worker while it is inside of an item itself.
        base_workers_run(workers, meet, &place, 2);
        assert_int_equal(place.here, 2);
    }
    pthread_cond_destroy(&place.came);
    pthread_mutex_destroy(&place.mutex);
    base_workers_destroy(workers);
}

static void run_inside(void* context, uint32_t item, uint32_t worker) {
    if (worker != 0) return;
    tally* counts = context;
    expect_assert_failure(base_workers_run(counts->workers, count_item, counts, 2));
}

CASE(misuse_is_asserted) {
    expect_assert_failure((void)!base_workers_create(NULL, 0));
    expect_assert_failure((void)!base_workers_create(NULL, BASE_WORKERS_MAX + 1));
    tally counts = {.workers = base_workers_create(NULL, 2)};
    base_workers_run(counts.workers, run_inside, &counts, 2);
    base_workers_destroy(counts.workers);
}

CASE(little_work_is_not_worth_a_thread) {
    base_workers* workers = base_workers_create(NULL, 2);
    assert_non_null(workers);
    assert_null(base_workers_worth(workers, 99, 100));
    assert_ptr_equal(base_workers_worth(workers, 100, 100), workers);
    assert_null(base_workers_worth(NULL, 100, 100));
    base_workers_set_eager(workers);
    assert_ptr_equal(base_workers_worth(workers, 0, 100), workers);
    base_workers_destroy(workers);
}

typedef struct metered {
    uint32_t begun, ended;
} metered;

static void count_meter(void* context, bool is_begin) {
    metered* counts = context;
    counts->begun += is_begin;
    counts->ended += !is_begin;
    assert_int_equal(counts->begun, counts->ended + is_begin);
}

CASE(one_thread_with_a_meter_works_as_several_would) {
    metered counts = {0, 0};
    tally work = {.workers = base_workers_create(NULL, 1), .input = 1};
    assert_null(base_workers_worth(work.workers, 100, 100));
    base_workers_set_meter(work.workers, count_meter, &counts);
    assert_null(base_workers_worth(work.workers, 99, 100));
    assert_ptr_equal(base_workers_worth(work.workers, 100, 100), work.workers);
    for (uint32_t i = 0; i < 3; i++)
        base_workers_run(work.workers, count_item, &work, ITEMS);
    assert_true(counts.begun == 3 && counts.ended == 3 && work.done[ITEMS - 1] == 3);
    base_workers_destroy(work.workers);
}

CASE(a_program_leaves_one_processor_free) {
    assert_int_equal(base_workers_default(0), 1);
    assert_int_equal(base_workers_default(1), 1);
    uint32_t wanted = base_workers_default(BASE_WORKERS_MAX);
    assert_true(wanted >= 1 && wanted <= BASE_WORKERS_MAX);
    assert_true(base_workers_default(1000) == wanted);
}
