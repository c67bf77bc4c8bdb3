// SPDX-License-Identifier: MIT
/// What the files of the library share.
#pragma once

#include "shoal_client.h"

#include "base/quota.h"
#include "net/client.h"
#include "net/match.h"
#include "net/token.h"
#include "net/transport.h"

#define LIBRARY_PATH_BYTES 4096u
#define LIBRARY_TEXT_BYTES 1024u
#define LIBRARY_EVENTS_MAX 256u

struct shoal_shape {
    const ecs_field* fields; ///< borrowed from the world
    uint32_t count;
};

/// A world and the shapes of its components.
struct shoal_world {
    net_match* match; ///< NULL: closed
    shoal_shape* shapes;
    uint32_t shape_count; ///< components
};

/// The game's messages, by position.
typedef struct library_message {
    shoal_shape shape;
    ecs_event_type type;
    _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX]; ///< of the message being sent
} library_message;

typedef struct library_event {
    uint32_t message; ///< 0: none
    shoal_entity target;
    uint64_t tick;
    _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX];
} library_event;

typedef struct library_messages {
    library_message* list; ///< NULL: closed
    uint32_t count;
    const net_message* table;        ///< of the module
    uint64_t event_first, event_end; ///< counts; events lie at their count % LIBRARY_EVENTS_MAX
    uint64_t events_lost;
    library_event current;
    library_event events[LIBRARY_EVENTS_MAX];
} library_messages;

/// Keeps the newest line for a person.
typedef struct library_reports {
    char text[BASE_REPORT_BYTES_MAX];
    void (*next)(void* context, const char* text);
    void* next_context;
} library_reports;
base_reporter library_reporter(library_reports* reports);

struct shoal_client {
    base_owner owner;
    library_reports reports;
    base_reporter reporter;
    char address[LIBRARY_TEXT_BYTES], name[NET_PLAYER_NAME_BYTES_MAX], path[LIBRARY_PATH_BYTES];
    char game[LIBRARY_TEXT_BYTES]; ///< "" while it is not known
    bool has_path, has_token, has_name;
    net_token token;
    net_transfers transfers; ///< that it followed
    uint64_t seed;
    uint32_t flags, rate_bytes_max;
    int32_t end; ///< SHOAL_END_NONE: the session says

    base_quota memory; ///< of all that the server makes the client keep
    net_module* module;
    net_match* match;
    net_presenter* presenter;
    net_transport* transport;
    net_client* session; ///< NULL: ended before it began
    bool is_asking;
    shoal_world newest, shown;
    library_messages messages;
};

/// Open a game by name or file. Modules find ecs_ and base_ in libshoal.so, which this call shows
/// to them. `path` NULL: the default.
/// @return NET_OK; NET_ERR_UNKNOWN, NET_ERR_MODULE (reported).
BASE_MUST_USE net_result library_open_game(const char* game, const char* path,
                                           const base_reporter* reporter, net_module** module);

/// Open a zeroed world. Its memory goes back with the allocator's owner, or when it is closed.
void library_world_open(shoal_world* world, net_match* match, const base_allocator* allocator);
/// It is zeroed then.
void library_world_close(shoal_world* world, const base_allocator* allocator);

/// As library_world_open and library_world_close.
void library_messages_open(library_messages* messages, net_match* match,
                           const base_allocator* allocator);
void library_messages_close(library_messages* messages, const base_allocator* allocator);
/// Keep the events that the last step of the world delivered.
void library_messages_gather(library_messages* messages, net_match* match);

/// Read and write elements of a field. @return how many.
uint32_t library_field_read(const shoal_shape* shape, int32_t field, const void* value,
                            double* values, uint32_t capacity);
uint32_t library_field_read_whole(const shoal_shape* shape, int32_t field, const void* value,
                                  int64_t* values, uint32_t capacity);
/// @return false: no such field, or more than it has.
BASE_MUST_USE bool library_field_write(const shoal_shape* shape, int32_t field, void* value,
                                       const double* values, uint32_t count);
