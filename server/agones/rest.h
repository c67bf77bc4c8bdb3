// SPDX-License-Identifier: MIT
/// Requests to the SDK server of Agones, on this machine: what the state machine (agones.h) asks
/// for and gets. Programs use libcurl for it (rest.c), tests a list of answers.
///
/// Nothing here waits. Each slot has one request at a time.
#pragma once

#include "base/macros.h"

#define SERVER_REST_TIMEOUT_MS 2000u ///< until a request counts as not answered
#define SERVER_REST_BODY_BYTES 2048u ///< of a request's body, with the NUL

typedef enum server_rest_slot {
    SERVER_REST_LIFE, ///< ready, shutdown
    SERVER_REST_HEALTH,
    SERVER_REST_COUNTER,
    SERVER_REST_ANNOTATION,
    SERVER_REST_WATCH, ///< its answer never ends
    SERVER_REST_SLOTS,
} server_rest_slot;

typedef struct server_rest_event {
    server_rest_slot slot;
    const char* data; ///< of WATCH, borrowed until the next call; NULL: the request is over
    size_t size;
    uint32_t status; ///< of HTTP; 0: no answer
    bool is_unsent;  ///< with 0: it never got there
} server_rest_event;

typedef struct server_rest {
    void* context;
    /// Send a request; the slot is free. `path` is a constant, `body` (NULL: none) is copied.
    void (*begin)(void* context, server_rest_slot slot, const char* method, const char* path,
                  const char* body);
    /// Forget the request of a slot; no event of it comes any more.
    void (*cancel)(void* context, server_rest_slot slot);
    /// Send and receive what can be sent and received at once.
    void (*poll)(void* context);
    /// Take an event of the last poll. @return false: there is none.
    bool (*next)(void* context, server_rest_event* event);
    void (*destroy)(void* context);
} server_rest;

/// Requests to http://localhost:PORT by libcurl.
/// @return false: this program was built without it, or there is no memory.
BASE_MUST_USE bool server_rest_open(uint16_t port, server_rest* rest);
