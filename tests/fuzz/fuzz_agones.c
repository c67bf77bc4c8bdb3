// SPDX-License-Identifier: MIT
// What stands beside the server and looks like the SDK server of Agones.
//
// An input is pieces: u8 operation, u8 size, then so many bytes.
//   0  the watch says these bytes     1  it ends      2  all requests are answered with 200
//   3  they are refused               4  no answers   5  a second passes
//   6  ready is asked                 7  shutdown is asked
// Invariants: a request is begun in a free slot only; an allocation has settings with a name and a
// value, all of them ended.
#include "fuzz.h"

#include "agones/agones.h"

typedef struct sidecar {
    bool is_open[SERVER_REST_SLOTS];
    const char* data;
    size_t size;
    bool is_watch_over, is_answering;
    uint32_t status, left;
} sidecar;

static void begin(void* context, server_rest_slot slot, const char* method, const char* path,
                  const char* body) {
    sidecar* self = context;
    FUZZ_CHECK(!self->is_open[slot] && method && path[0] == '/');
    FUZZ_CHECK(!body || strlen(body) < SERVER_REST_BODY_BYTES);
    self->is_open[slot] = true;
}

static void cancel(void* context, server_rest_slot slot) {
    sidecar* self = context;
    FUZZ_CHECK(self->is_open[slot]);
    self->is_open[slot] = false;
}

static void poll(void* context) {
    sidecar* self = context;
    self->left = SERVER_REST_SLOTS;
}

static bool next(void* context, server_rest_event* event) {
    sidecar* self = context;
    if (self->size > 0) {
        *event =
            (server_rest_event){.slot = SERVER_REST_WATCH, .data = self->data, .size = self->size};
        self->size = 0;
        return true;
    }
    while (self->left > 0) {
        const server_rest_slot slot = (server_rest_slot)--self->left;
        const bool is_due = slot == SERVER_REST_WATCH ? self->is_watch_over : self->is_answering;
        if (!self->is_open[slot] || !is_due) continue;
        self->is_open[slot] = false;
        *event = (server_rest_event){.slot = slot, .status = self->status};
        return true;
    }
    return false;
}

static void destroy(void* context) {
    (void)context;
}

static void check_allocation(const server_watch_state* it) {
    if (!it) return;
    FUZZ_CHECK(strcmp(it->state, "Allocated") == 0 && it->setting_count <= NET_SETTINGS_MAX);
    FUZZ_CHECK(memchr(it->address, 0, sizeof it->address));
    FUZZ_CHECK(memchr(it->allocated_at, 0, sizeof it->allocated_at));
    FUZZ_CHECK(memchr(it->fault, 0, sizeof it->fault));
    for (uint32_t i = 0; i < it->setting_count; i++) {
        FUZZ_CHECK(memchr(it->settings[i], 0, sizeof it->settings[i]));
        FUZZ_CHECK(strchr(it->settings[i], '=') > it->settings[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    sidecar self = {.status = 200};
    uint64_t now_us = 0;
    const server_rest rest = {&self, begin, cancel, poll, next, destroy};
    server_agones* agones = server_agones_create(&rest, NULL);
    if (!agones) return 0;
    server_agones_ask_ready(agones);
    server_agones_pass(agones, now_us, 0, 8);
    for (fuzz_record record; fuzz_next(&data, &size, &record);) {
        const uint8_t operation = record.operation % 8;
        self.is_watch_over = operation == 1;
        self.is_answering = operation >= 2 && operation <= 4;
        self.status = operation == 3 ? 500 : operation == 4 ? 0 : 200;
        if (operation == 0) {
            self.data = (const char*)record.bytes;
            self.size = record.size;
        }
        if (operation == 5) now_us += 1000000;
        if (operation == 6) server_agones_ask_ready(agones);
        if (operation == 7) server_agones_ask_shutdown(agones);
        server_agones_pass(agones, now_us += 10000, (uint32_t)record.size, 8);
        check_allocation(server_agones_allocation(agones));
    }
    server_agones_destroy(agones);
    return 0;
}
