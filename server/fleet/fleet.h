// SPDX-License-Identifier: MIT
/// The parts of a match that is not on one server alone: Agones (agones/agones.h), --standby,
/// --resume, a relay, --stream. Without its option each does nothing; a function that returns the
/// state of one returns NULL where the program has no such part.
#pragma once

#include "operate/operator.h"

#include "agones/watch.h"
#include "net/stream.h"
#include "stream/follow.h"
#include "stream/standby.h"

typedef struct server_agones server_agones; ///< agones/agones.h
typedef struct server_nats server_nats;     ///< stream_nats.h
typedef struct server_stream server_stream; ///< stream.c

extern const server_part server_part_agones, server_part_standby, server_part_resume,
    server_part_follow, server_part_stream;

// ---- Agones

/// It waits for an allocation before it makes its match, and gives itself back after it. Outlives a
/// match, with --agones-reuse.
typedef struct server_fleet {
    server_agones* agones;                       ///< NULL: not one of a fleet
    uint64_t pass_us;                            ///< of the newest pass
    bool is_allocated;                           ///< for the match of now
    char standby_at[SERVER_WATCH_STANDBY_BYTES]; ///< as the clients of the match know it
} server_fleet;

/// Be ready and wait for an allocation, unless it is there: bound and loaded, or with --standby
/// before all, because the allocation names its match. On a signal `is_over` is set.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_fleet_wait(server_program* program);
/// The match that the allocation asks a standby to go on with; 0: there is no Agones.
uint64_t server_fleet_standby_of(const server_program* program);

// ---- a relay: the match is another server's. It is run again here, some time later

/// Zeroed at the start.
typedef struct server_follow {
    net_follow* source; ///< NULL: the match runs here
    char name[512];     ///< of the source, as people may read it
    server_nats* nats;  ///< of a stream
    net_broker broker;
    net_follow_report report;
    net_follow_state end;               ///< how the match ended here; WAITS: it goes on
    char game[NET_GAME_NAME_BYTES_MAX]; ///< that of the source
    uint64_t tick_us;                   ///< when a tick ran, or sessions were kept, last
    bool is_behind, is_silent;          ///< reported
} server_follow;

server_follow* server_follow_of(const server_program* program);
/// Run the match of this source: take game, tick rate and identity from it.
void server_follow_begin(server_program* program, net_follow* source);
/// Wait until the source's stream has a match: a program may be there before it.
/// @return NET_ERR_CLOSED: a signal came; else as net_follow_find.
BASE_MUST_USE net_result server_follow_find(server_program* program, net_follow* source,
                                            server_nats* nats, const char* name);
extern const server_ticks server_follow_ticks;

// ---- --standby: the match is another server's. It is run here too, out of its stream, and goes on
// here when that server dies. Until then the program follows; from then on it is a server like any
// other

/// Zeroed at the start, then `wake` is -1 while it is closed.
typedef struct server_standby {
    net_standby* standby; ///< NULL: no --standby
    server_nats* nats;    ///< the stream's part closes it, once it has it
    int wake;             ///< an eventfd: something came from the broker
    net_standby_state state;
    net_standby_report report;
    uint64_t tick_us; ///< when a tick ran, or sessions were kept, last
    bool is_woken;    ///< by the broker, since then
    bool has_caught_up;
    bool is_small; ///< --max-clients is less than the match's players: said
    bool is_late;  ///< the broker's answers do not count: said
} server_standby;

server_standby* server_standby_of(const server_program* program);

// ---- --stream: a thread takes records from the log's tap and gives them to a broker. A tick never
// waits for it

/// NULL without --stream, too.
server_stream* server_stream_of(const server_program* program);
/// The standby has the match: from here on the thread has the writer.
void server_stream_go_on(server_stream* stream);
/// Write the URL with which others follow it.
void server_stream_url(const server_stream* stream, char* text, size_t text_bytes);
