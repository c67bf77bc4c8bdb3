// SPDX-License-Identifier: MIT
// Resources that pending entities need, and the state of each: WAITING, then READY or FAILED.
//
// A table of slots, found by hash. Every LOADING entity that needs a resource refers to its slot,
// so the loader is asked once for all of them. When the last entity is gone before the resource
// came, the slot is free. When the resource came, its result is kept. The loader is asked in the
// order of the entities that wait, never in the order of the table.
#include "base/assert.h"
#include "base/hash.h"
#include "structure/loading.h"
#include "type/world.h"

#include <string.h>

static uint64_t hash_of(const ecs_resource* resource) {
    return base_hash64_mix(base_hash64_text(resource->kind), base_hash64_text(resource->name));
}

static bool is_same(const ecs_request* request, const ecs_resource* resource, uint64_t hash) {
    return request->hash == hash && strcmp(request->resource.name, resource->name) == 0 &&
           strcmp(request->resource.kind, resource->kind) == 0;
}

// Slot + 1; 0 when there is none.
static uint32_t find_resource(const ecs_loading* loading, const ecs_resource* resource,
                              uint64_t hash) {
    if (!loading->chains) return 0;
    uint32_t at = loading->chains[hash % ECS_REQUEST_CHAINS];
    while (at != 0 && !is_same(&loading->requests[at - 1], resource, hash))
        at = loading->requests[at - 1].next;
    return at;
}

// Slot + 1 of a new WAITING request; 0: there are ECS_RESOURCES_MAX.
static uint32_t make(ecs_world* world, const ecs_resource* resource, uint64_t hash) {
    BASE_ASSERT(resource->name[0] != 0);
    ecs_loading* loading = world->loading;
    uint32_t at = loading->request_free;
    if (at == 0 && loading->request_count >= ECS_RESOURCES_MAX) return 0;
    if (!loading->chains) {
        loading->chains =
            base_allocate_zero(world->allocator, ECS_REQUEST_CHAINS * sizeof(*loading->chains));
    }
    if (at == 0) {
        at = ++loading->request_count;
        BASE_ARRAY_RESERVE(world->allocator, loading->requests, loading->request_capacity, at);
    } else {
        loading->request_free = loading->requests[at - 1].next;
    }
    uint32_t* chain = &loading->chains[hash % ECS_REQUEST_CHAINS];
    loading->requests[at - 1] = (ecs_request){
        .resource = *resource, .hash = hash, .next = *chain, .state = ECS_REQUEST_WAITING};
    *chain = at;
    return at;
}

static void drop(ecs_loading* loading, uint32_t at) {
    BASE_ASSERT(at >= 1 && at <= loading->request_count);
    ecs_request* request = &loading->requests[at - 1];
    uint32_t* link = &loading->chains[request->hash % ECS_REQUEST_CHAINS];
    while (*link != at)
        link = &loading->requests[*link - 1].next;
    *link = request->next;
    *request = (ecs_request){.next = loading->request_free};
    loading->request_free = at;
}

static ecs_result add_request(ecs_world* world, const ecs_resource* resource,
                              ecs_pending* pending) {
    ecs_loading* loading = world->loading;
    BASE_ASSERT(memchr(resource->kind, 0, sizeof resource->kind) &&
                memchr(resource->name, 0, sizeof resource->name) &&
                "a type names a resource without an end");
    if (resource->name[0] == 0) return ECS_OK; // a value that names nothing needs nothing
    uint64_t hash = hash_of(resource);
    uint32_t at = find_resource(loading, resource, hash);
    for (uint32_t i = 0; at != 0 && i < pending->request_count; i++)
        if (pending->requests[i] == at - 1) return ECS_OK;
    if (pending->request_count >= ECS_RESOURCE_REQUESTS_MAX) return ECS_ERR_FULL;
    if (at == 0) at = make(world, resource, hash);
    if (at == 0) return ECS_ERR_FULL;
    BASE_ARRAY_RESERVE(world->allocator, pending->requests, pending->request_capacity,
                       pending->request_count + 1);
    loading->requests[at - 1].references++;
    pending->requests[pending->request_count++] = at - 1;
    return ECS_OK;
}

ecs_result ecs_requests_add(ecs_world* world, const ecs_type* type, const void* cell,
                            ecs_pending* pending) {
    BASE_ASSERT(type->ops && type->ops->request);
    ecs_resource resources[ECS_RESOURCE_REQUESTS_MAX] = {0};
    uint32_t count =
        type->ops->request(ecs_type_object(type, cell), resources, ECS_RESOURCE_REQUESTS_MAX);
    if (count > ECS_RESOURCE_REQUESTS_MAX) return ECS_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        ecs_result result = add_request(world, &resources[i], pending);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

void ecs_requests_ask(ecs_world* world, const ecs_pending* pending) {
    const ecs_loading* loading = world->loading;
    for (uint32_t i = 0; i < pending->request_count; i++) {
        ecs_request* request = &loading->requests[pending->requests[i]];
        if (request->state != ECS_REQUEST_WAITING || request->asked == loading->polls) continue;
        request->asked = loading->polls;
        const ecs_load_answer answer =
            loading->config.load
                ? loading->config.load(loading->config.load_context, &request->resource)
                : ECS_LOAD_READY;
        if (answer == ECS_LOAD_READY) request->state = ECS_REQUEST_READY;
        if (answer == ECS_LOAD_FAILED) request->state = ECS_REQUEST_FAILED;
    }
}

static bool is_known(const ecs_request* request) {
    return request->state == ECS_REQUEST_READY || request->state == ECS_REQUEST_FAILED;
}

void ecs_requests_release(ecs_world* world, const uint32_t* requests, uint32_t count) {
    ecs_loading* loading = world->loading;
    for (uint32_t i = 0; i < count; i++) {
        ecs_request* request = &loading->requests[requests[i]];
        BASE_ASSERT(request->references > 0);
        request->references--;
        if (request->references > 0 || (is_known(request) && loading->config.load)) continue;
        drop(loading, requests[i] + 1);
    }
}

ecs_request_state ecs_requests_state(const ecs_world* world, const ecs_pending* pending,
                                     const ecs_request** failed) {
    ecs_request_state state = ECS_REQUEST_READY;
    for (uint32_t i = 0; i < pending->request_count; i++) {
        const ecs_request* request = &world->loading->requests[pending->requests[i]];
        if (request->state == ECS_REQUEST_FAILED) {
            *failed = request;
            return ECS_REQUEST_FAILED;
        }
        if (request->state != ECS_REQUEST_READY) state = ECS_REQUEST_WAITING;
    }
    return state;
}

void ecs_requests_reset(ecs_world* world) {
    ecs_loading* loading = world->loading;
    for (uint32_t i = 0; i < loading->request_count; i++) {
        ecs_request* request = &loading->requests[i];
        if (request->state == ECS_REQUEST_FREE) continue;
        request->state = ECS_REQUEST_WAITING;
        if (request->references == 0) drop(loading, i + 1);
    }
}

// ---- saves: what is known decides in which tick a creation happens, so a run that begins with a
// save has to know the same.

static void write_text(base_bytes* bytes, const char* text) {
    const uint32_t size = (uint32_t)strlen(text);
    base_bytes_write_varint(bytes, size);
    base_bytes_write(bytes, text, size);
}

static bool read_text(base_reader* reader, char* text, size_t text_bytes) {
    const uint64_t size = base_reader_varint(reader);
    if (size >= text_bytes || !base_reader_read(reader, text, (size_t)size)) return false;
    text[size] = 0;
    return strlen(text) == size;
}

void ecs_resources_save(const ecs_world* world, base_bytes* bytes) {
    const ecs_loading* loading = world->loading;
    uint32_t count = 0;
    for (uint32_t i = 0; i < loading->request_count; i++)
        count += is_known(&loading->requests[i]);
    base_bytes_write_varint(bytes, count);
    for (uint32_t i = 0; i < loading->request_count; i++) {
        const ecs_request* request = &loading->requests[i];
        if (!is_known(request)) continue;
        write_text(bytes, request->resource.kind);
        write_text(bytes, request->resource.name);
        base_bytes_write_u8(bytes, request->state == ECS_REQUEST_READY);
    }
}

// A loader that works in the background gets the request too; its answer changes nothing.
static ecs_result know(ecs_world* world, const ecs_resource* resource, bool is_ready) {
    ecs_loading* loading = world->loading;
    const uint64_t hash = hash_of(resource);
    uint32_t at = find_resource(loading, resource, hash);
    if (at == 0) at = make(world, resource, hash);
    if (at == 0) return ECS_ERR_FULL;
    ecs_request* request = &loading->requests[at - 1];
    if (is_ready && request->state != ECS_REQUEST_READY && loading->config.load)
        (void)loading->config.load(loading->config.load_context, resource);
    request->state = is_ready ? ECS_REQUEST_READY : ECS_REQUEST_FAILED;
    return ECS_OK;
}

ecs_result ecs_resources_restore(ecs_world* world, base_reader* reader) {
    const uint64_t count = base_reader_varint(reader);
    if (reader->failed || count > ECS_RESOURCES_MAX) return ECS_ERR_MALFORMED;
    ecs_requests_reset(world);
    for (uint64_t i = 0; i < count; i++) {
        ecs_resource resource = {.kind = ""};
        if (!read_text(reader, resource.kind, sizeof resource.kind) ||
            !read_text(reader, resource.name, sizeof resource.name) || resource.name[0] == 0)
            return ECS_ERR_MALFORMED;
        const bool is_ready = base_reader_u8(reader) != 0;
        if (reader->failed) return ECS_ERR_MALFORMED;
        ecs_result result = know(world, &resource, is_ready);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

void ecs_requests_validate(const ecs_world* world) {
    const ecs_loading* loading = world->loading;
    uint64_t references = 0;
    uint64_t needed = 0;
    for (uint32_t i = 0; i < loading->request_count; i++) {
        const ecs_request* request = &loading->requests[i];
        if (request->state == ECS_REQUEST_FREE) continue;
        references += request->references;
        BASE_ASSERT(find_resource(loading, &request->resource, request->hash) == i + 1);
        BASE_ASSERT(request->references > 0 || is_known(request));
    }
    for (uint32_t i = 0; i < loading->slot_count; i++)
        needed += loading->slots[i].request_count;
    BASE_ASSERT(references == needed);
}
