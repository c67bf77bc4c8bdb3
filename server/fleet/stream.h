// SPDX-License-Identifier: MIT
/// The match as a stream (--stream): a thread that takes records from the log's tap and gives them
/// to a broker. A tick never waits for it.
#pragma once

#include "operate/operator.h"

#include "base/report.h"
#include "net/stream.h"
#include "stream/standby.h"

typedef struct server_stream server_stream;

/// NULL: no --stream.
server_stream* server_stream_of(const server_program* program);

typedef struct server_stream_config {
    const char* url;              ///< outlives the stream
    const char* log_file;         ///< outlives the stream; named when the log is there
    const net_address* addresses; ///< where players reach this server; the claim has the first 4
    uint32_t address_count;
    uint64_t key_id; ///< of the claim: names the key of which secrets of players are made; 0: none
    bool is_following;    ///< the match runs on another server: server_stream_stand_by
    net_stream_sync sync; ///< server_stream_read_sync
    const base_reporter* reporter;
} server_stream_config;

/// Read "off", "MS" or "MS+go" of --stream sync. @return false: reported.
BASE_MUST_USE bool server_stream_read_sync(const char* text, const base_reporter* reporter,
                                           net_stream_sync* sync);
/// @return NULL when memory ran out.
server_stream* server_stream_create(const server_stream_config* config);
/// NULL does nothing.
void server_stream_destroy(server_stream* stream);
/// For the log's writer.
net_log_tap server_stream_tap(server_stream* stream);
/// The log is there: connect, and claim the stream of this match as the first epoch. Of a match
/// that goes on (`is_resumed`): read the stream that is there, and go on behind it when the log has
/// what it ends with. Waits for a broker that answers, but a few seconds only.
/// @return NET_EXIT_CLEAN; another exit code: reported. A broker that does not answer is no error
///         for a new match (reported).
BASE_MUST_USE int server_stream_begin(server_stream* stream, uint64_t identity, bool is_resumed);
/// With is_following, in place of server_stream_begin: connect, and let the standby have tap and
/// writer. @return NET_EXIT_CLEAN; another exit code: reported.
BASE_MUST_USE int server_stream_stand_by(server_stream* stream, uint64_t identity,
                                         net_standby* standby);
/// The standby has the match: from here on the thread has the writer.
void server_stream_go_on(server_stream* stream);
/// Write the URL with which others follow it.
void server_stream_url(const server_stream* stream, char* text, size_t text_bytes);
/// In each pass of the loop: say what changed. @return the epoch that has the stream now, when this
/// server may not go on; 0: it may.
BASE_MUST_USE uint64_t server_stream_pass(server_stream* stream, uint64_t now_us);
/// Readable when something was stored: the loop waits for it.
int server_stream_descriptor(const server_stream* stream);
/// Behind server_stream_pass, before a tick: let clients have what they may know (`hold` is the
/// server's transport), and let the match stand still while nothing is stored, where that was asked
/// for. NULL does nothing.
void server_stream_keep_safe(server_stream* stream, net_server* server, net_transport* hold,
                             ecs_tick newest, uint64_t now_us);
/// What it did so far, for metrics; NULL: `stream` is NULL.
const server_stream_counts* server_stream_get(const server_stream* stream);
/// The log has its close: wait until the broker has it too, but a few seconds only (reported).
void server_stream_end(server_stream* stream);
