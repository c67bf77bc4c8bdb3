// SPDX-License-Identifier: MIT
// A thread that loads resources for a world.
//
// There are two bounded queues, requests one way and results the other, each with one thread that
// pushes and one that pops. A semaphore counts requests, so the thread sleeps while there are none.
// The owner counts requests under way and takes no more than the queues hold: a result always has
// room.
//
//     owner --requests--> thread            owner <--results-- thread
//
// A cancel writes the ticket into a table that the thread reads before it loads. A ticket that is
// cancelled too late comes as a result that no request waits for. A skipped request comes as
// failed, since only results give room back.
//
// Invariants: under_way = requests pushed - results popped, at most ECS_LOADER_THREAD_REQUESTS_MAX;
// only the owner touches it.
#include "base/assert.h"
#include "base/spsc.h"
#include "ecs/loader.h"
#include "core/world_internal.h"

#include <stdatomic.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

typedef struct request_record {
    uint32_t ticket; ///< 0: end
    ecs_resource resource;
} request_record;

enum {
    RECORD_HEAD_BYTES = 8,
    // A record never wraps, so up to one of them is lost at the end of the ring.
    REQUESTS_BYTES = 1 << 17,
    RESULTS_BYTES = 1 << 13,
};
_Static_assert((ECS_LOADER_THREAD_REQUESTS_MAX + 2u) *
                       (sizeof(request_record) + RECORD_HEAD_BYTES + 8u) <=
                   REQUESTS_BYTES,
               "all requests under way and the end fit");
_Static_assert((ECS_LOADER_THREAD_REQUESTS_MAX + 1u) *
                       (sizeof(ecs_loaded) + RECORD_HEAD_BYTES + 8u) <=
                   RESULTS_BYTES,
               "all results under way fit");

struct ecs_loader_thread {
    const base_allocator* allocator;
    ecs_loader_thread_config config;
    base_spsc* requests;
    base_spsc* results;
    sem_t has_requests;
    pthread_t thread;
    uint32_t under_way; ///< of the owner
    _Atomic bool is_ending;
    /// By ticket % count: tickets under way are fewer, but not always next to each other, so one
    /// may hide another; that one is loaded without use.
    _Atomic uint32_t cancelled[ECS_LOADER_THREAD_REQUESTS_MAX];
};

static void push_result(ecs_loader_thread* loader, uint32_t ticket, bool is_loaded) {
    ecs_loaded result;
    memset(&result, 0, sizeof(result));
    result.ticket = ticket;
    result.is_loaded = is_loaded;
    bool has_room = base_spsc_push(loader->results, &result, sizeof(result));
    BASE_ASSERT(has_room);
}

static void* run(void* argument) {
    ecs_loader_thread* loader = argument;
    for (;;) {
        while (sem_wait(&loader->has_requests) != 0) {
        }
        uint32_t size = 0;
        bool is_damaged = false;
        const void* record = base_spsc_peek(loader->requests, &size, &is_damaged);
        BASE_ASSERT(record && size == sizeof(request_record));
        request_record request;
        memcpy(&request, record, sizeof(request));
        base_spsc_pop(loader->requests);
        if (request.ticket == 0) return NULL;
        _Atomic uint32_t* cancelled =
            &loader->cancelled[request.ticket % ECS_LOADER_THREAD_REQUESTS_MAX];
        bool is_wanted =
            atomic_load(cancelled) != request.ticket && !atomic_load(&loader->is_ending);
        push_result(loader, request.ticket,
                    is_wanted && loader->config.load(loader->config.context, &request.resource));
    }
}

static void push_request(ecs_loader_thread* loader, uint32_t ticket, const ecs_resource* resource) {
    request_record request;
    memset(&request, 0, sizeof(request));
    request.ticket = ticket;
    if (resource) request.resource = *resource;
    bool has_room = base_spsc_push(loader->requests, &request, sizeof(request));
    BASE_ASSERT(has_room);
    int posted = sem_post(&loader->has_requests);
    BASE_ASSERT(posted == 0);
}

static base_spsc* make_queue(const base_allocator* allocator, size_t bytes) {
    void* memory = base_allocate_zero(allocator, BASE_SPSC_HEADER_BYTES + bytes);
    return !memory ? NULL : base_spsc_init(memory, bytes, 0);
}

static void release(ecs_loader_thread* loader) {
    base_release(loader->allocator, loader->requests, BASE_SPSC_HEADER_BYTES + REQUESTS_BYTES);
    base_release(loader->allocator, loader->results, BASE_SPSC_HEADER_BYTES + RESULTS_BYTES);
    base_release(loader->allocator, loader, sizeof(*loader));
}

ecs_result ecs_loader_thread_create(const ecs_loader_thread_config* config,
                                    ecs_loader_thread** thread) {
    BASE_ASSERT(config->load);
    *thread = NULL;
    ecs_loader_thread* made = base_allocate_zero(config->allocator, sizeof(*made));
    if (!made) return ECS_ERR_MEMORY;
    made->allocator = config->allocator;
    made->config = *config;
    made->requests = make_queue(config->allocator, REQUESTS_BYTES);
    made->results = make_queue(config->allocator, RESULTS_BYTES);
    if (!made->requests || !made->results) {
        release(made);
        return ECS_ERR_MEMORY;
    }
    if (sem_init(&made->has_requests, 0, 0) != 0) {
        release(made);
        return ECS_ERR_FULL;
    }
    if (pthread_create(&made->thread, NULL, run, made) != 0) {
        sem_destroy(&made->has_requests);
        release(made);
        return ECS_ERR_FULL;
    }
    *thread = made;
    return ECS_OK;
}

static uint32_t take_results(void* context, ecs_loaded* loaded, uint32_t capacity) {
    ecs_loader_thread* loader = context;
    uint32_t count = 0;
    uint32_t size = 0;
    bool is_damaged = false;
    const void* record;
    while (count < capacity && (record = base_spsc_peek(loader->results, &size, &is_damaged))) {
        memcpy(&loaded[count++], record, sizeof(*loaded));
        base_spsc_pop(loader->results);
        loader->under_way--;
    }
    return count;
}

static ecs_load_answer begin(void* context, uint32_t ticket, const ecs_resource* resource) {
    ecs_loader_thread* loader = context;
    if (loader->under_way >= ECS_LOADER_THREAD_REQUESTS_MAX) return ECS_LOAD_BUSY;
    loader->under_way++;
    push_request(loader, ticket, resource);
    return ECS_LOAD_BEGUN;
}

static void cancel(void* context, uint32_t ticket) {
    ecs_loader_thread* loader = context;
    atomic_store(&loader->cancelled[ticket % ECS_LOADER_THREAD_REQUESTS_MAX], ticket);
}

void ecs_loader_thread_destroy(ecs_loader_thread* thread) {
    if (!thread) return;
    // What waits is not loaded: its result would not be used.
    atomic_store(&thread->is_ending, true);
    push_request(thread, 0, NULL);
    int joined = pthread_join(thread->thread, NULL);
    BASE_ASSERT(joined == 0);
    sem_destroy(&thread->has_requests);
    release(thread);
}

ecs_loader ecs_loader_thread_interface(ecs_loader_thread* thread) {
    return (ecs_loader){.context = thread, .begin = begin, .poll = take_results, .cancel = cancel};
}
