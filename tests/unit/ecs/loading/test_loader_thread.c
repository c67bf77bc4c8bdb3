// SPDX-License-Identifier: MIT
/// The thread behind the loader interface (S5.22). Where order matters, the function that loads
/// waits for the test. So no result depends on the speed of a thread.
#include "load_world.h"

#include <stdatomic.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

typedef struct gate {
    sem_t open;             ///< a load waits for this semaphore
    _Atomic uint32_t loads; ///< loads that the thread began
    char names[512][16];    ///< in order; the test reads them when all loads are done
} gate;

static bool load_gated(void* context, const ecs_resource* resource) {
    gate* at = context;
    uint32_t number = atomic_fetch_add(&at->loads, 1);
    if (number < BASE_COUNT(at->names)) {
        (void)snprintf(at->names[number], sizeof(at->names[0]), "%.15s", resource->name);
    }
    while (sem_wait(&at->open) != 0) {
    }
    return strcmp(resource->name, "m13") != 0;
}

static void open_gate(gate* at, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(sem_post(&at->open), 0);
    }
}

typedef struct threaded {
    load fixture;
    gate gate;
    ecs_loader_thread* thread;
    ecs_loader loader;
} threaded;

static threaded* make(void) {
    threaded* made = calloc(1, sizeof(*made));
    load_make(&made->fixture, NULL);
    assert_int_equal(sem_init(&made->gate.open, 0, 0), 0);
    ecs_loader_thread_config config = {.load = load_gated, .context = &made->gate};
    assert_int_equal(ecs_loader_thread_create(&config, &made->thread), ECS_OK);
    made->loader = ecs_loader_thread_interface(made->thread);
    made->fixture.config.loader = &made->loader;
    ecs_loading_set(made->fixture.world, &made->fixture.config);
    return made;
}

static void end(threaded* made) {
    ecs_loading_set(made->fixture.world, NULL);
    open_gate(&made->gate, 1024); // lets all loads finish
    ecs_loader_thread_destroy(made->thread);
    sem_destroy(&made->gate.open);
    load_close(&made->fixture);
    free(made);
}

static void poll_until(threaded* made, uint32_t waiting) {
    while (ecs_loading_count(made->fixture.world) > waiting) {
        (void)ecs_loading_poll(made->fixture.world);
        sched_yield();
    }
}

// S5.22
static void a_thread_loads_what_entities_wait_for(void** state) {
    (void)state;
    threaded* made = make();
    ecs_entity good = load_create(&made->fixture, made->fixture.prop, 1);
    ecs_entity bad = load_create(&made->fixture, made->fixture.prop, 13);
    assert_int_equal(ecs_loading_poll(made->fixture.world), 0);
    assert_int_equal(ecs_state(made->fixture.world, good), ECS_STATE_LOADING);
    open_gate(&made->gate, 2);
    poll_until(made, 0);
    assert_int_equal(ecs_state(made->fixture.world, good), ECS_STATE_CREATED);
    assert_int_equal(ecs_state(made->fixture.world, bad), ECS_STATE_NONE);
    assert_int_equal(ecs_world_counters(made->fixture.world)->loads_failed, 1);
    end(made);
}

static void what_is_cancelled_before_its_turn_is_not_loaded(void** state) {
    (void)state;
    threaded* made = make();
    (void)load_create(&made->fixture, made->fixture.prop, 1);
    ecs_entity gone = load_create(&made->fixture, made->fixture.prop, 2);
    (void)load_create(&made->fixture, made->fixture.prop, 3);
    assert_int_equal(ecs_destroy(made->fixture.world, gone), ECS_OK);
    open_gate(&made->gate, 3);
    poll_until(made, 0);
    assert_int_equal(atomic_load(&made->gate.loads), 2);
    assert_string_equal(made->gate.names[0], "m1");
    assert_string_equal(made->gate.names[1], "m3");
    end(made);
}

static void more_than_fits_waits_its_turn(void** state) {
    (void)state;
    threaded* made = make();
    const uint32_t count = ECS_LOADER_THREAD_REQUESTS_MAX + 40;
    for (uint32_t i = 0; i < count; i++) {
        (void)load_create(&made->fixture, made->fixture.prop, 100 + i);
    }
    ecs_resource first = load_resource(100);
    assert_int_equal(made->loader.begin(made->loader.context, UINT32_MAX, &first), ECS_LOAD_BUSY);
    open_gate(&made->gate, count);
    poll_until(made, 0);
    assert_int_equal(ecs_world_entity_count(made->fixture.world), count);
    assert_int_equal(atomic_load(&made->gate.loads), count);
    for (uint32_t i = 0; i < count; i++) {
        ecs_resource resource = load_resource(100 + i);
        assert_string_equal(made->gate.names[i], resource.name);
    }
    end(made);
}

static void ending_it_does_not_load_what_waits(void** state) {
    (void)state;
    threaded* made = make();
    for (uint32_t i = 0; i < 100; i++) {
        (void)load_create(&made->fixture, made->fixture.prop, 200 + i);
    }
    end(made);
    ecs_loader_thread_destroy(NULL);
}

static void creating_it_answers_a_lack_of_memory(void** state) {
    (void)state;
    for (uint64_t n = 1;; n++) {
        load_memory memory;
        load_memory_init(&memory);
        memory.fail_at = n;
        ecs_loader_thread_config config = {.allocator = &memory.allocator, .load = load_gated};
        ecs_loader_thread* thread = NULL;
        ecs_result result = ecs_loader_thread_create(&config, &thread);
        ecs_loader_thread_destroy(thread);
        assert_int_equal(memory.bytes_out, 0);
        if (result == ECS_OK) {
            break;
        }
        assert_int_equal(result, ECS_ERR_MEMORY);
        assert_null(thread);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_thread_loads_what_entities_wait_for),
        TEST(what_is_cancelled_before_its_turn_is_not_loaded),
        TEST(more_than_fits_waits_its_turn),
        TEST(ending_it_does_not_load_what_waits),
        TEST(creating_it_answers_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
