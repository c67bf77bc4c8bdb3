// SPDX-License-Identifier: MIT
/// A server as one of a fleet of Agones: what it says to the SDK server beside it, and what it
/// hears. A state machine; time and the requests (rest.h) are arguments.
///
///     open -> ready (asked each second until the answer is 200) -> allocated -> a match
///          -> ready again (--agones-reuse), or shutdown (asked until 200), then Agones sends TERM
///
/// Beside that, all the time: a sign of life every two seconds, the number of players once it
/// changed, annotations, and the watch, whose lines say when the server is allocated and for what.
/// Each of these is asked again until it is answered; a match never waits for any of it.
///
/// Threads: one. Memory: a line of the watch, SERVER_WATCH_LINE_BYTES_MAX at most.
#pragma once

#include "rest.h"
#include "watch.h"

#include "base/report.h"

#define SERVER_AGONES_PORT_VARIABLE "AGONES_SDK_HTTP_PORT"
#define SERVER_AGONES_PORT_DEFAULT 9358u

#define SERVER_AGONES_AGAIN_MS 1000u    ///< between two tries
#define SERVER_AGONES_HEALTH_MS 2000u   ///< between two signs of life; Agones waits 5 s by default
#define SERVER_AGONES_COUNTER_MS 1000u  ///< between two numbers of players, at least
#define SERVER_AGONES_REFUSED_MS 10000u ///< until a counter that was refused is tried again

#define SERVER_AGONES_COUNTER "players"
/// Annotations; Agones puts "agones.dev/sdk-" in front.
#define SERVER_AGONES_PUBLIC "shoal-public"     ///< where players reach the server
#define SERVER_AGONES_IDENTITY "shoal-identity" ///< of the match and its log, 16 digits
#define SERVER_AGONES_LOG "shoal-log"           ///< where the log is stored
#define SERVER_AGONES_STREAM "shoal-stream"     ///< with which standbys and relays follow the match

typedef struct server_agones server_agones;

/// `rest` is destroyed with it; the reporter must outlive it.
server_agones* server_agones_create(const server_rest* rest, const base_reporter* reporter);
/// NULL does nothing.
void server_agones_destroy(server_agones* agones);

/// Bound and loaded: ask to be ready, for the next allocation.
void server_agones_ask_ready(server_agones* agones);
/// The match is over: ask to be shut down.
void server_agones_ask_shutdown(server_agones* agones);
/// Was the last of these two answered with 200?
bool server_agones_is_answered(const server_agones* agones);
/// Say an annotation, one of the names above; a later value replaces it. NULL for
/// SERVER_AGONES_PUBLIC: the address that Agones gave the server, which is the default.
void server_agones_annotate(server_agones* agones, const char* name, const char* value);

/// Once in each pass of the loop, between ticks: that is what a sign of life stands for.
void server_agones_pass(server_agones* agones, uint64_t now_us, uint32_t players,
                        uint32_t players_max);
/// The allocation that came since server_agones_ask_ready; NULL: none yet. Borrowed until that is
/// called again.
const server_watch_state* server_agones_allocation(const server_agones* agones);
/// Where standbys of its match are, as the newest line says (SERVER_WATCH_STANDBY_AT); "": it does
/// not say. Borrowed until the next pass.
const char* server_agones_standby_at(const server_agones* agones);
