// SPDX-License-Identifier: MIT
/// What the parts of shoal-server share: the program's state and its four steps. They run in this
/// order: open, run, report, close.
#pragma once

#include "config.h"
#include "fleet/fleet.h"
#include "fleet/follow.h"
#include "inspect/control.h"
#include "inspect/inspect.h"
#include "operate/operator.h"
#include "operate/service.h"
#include "fleet/standby.h"
#include "fleet/stream.h"

#include "operate/lines.h"
#include "operate/metrics.h"
#include "host/sentry.h"
#include "net/log.h"
#include "net/socket.h"
#include "net/match.h"
#include "net/token.h"
#include "net/server.h"
#include "net/transport.h"

typedef struct server_program {
    server_config config;
    server_lines* lines;
    base_reporter reporter; ///< of SERVER_LAYER_SERVER; server_program_layer has the others
    server_fleet fleet;
    net_module* module; ///< from here on: of one match, zero before it
    net_match* match;
    net_transport* transport;
    net_transport* hold; ///< in front of it, with a stream; NULL: the server has `transport`
    net_key_ring keys;   ///< wiped once the transport has them
    net_key session_key; ///< with has_keys: made of the first one, for server_access_secret
    uint64_t identity;   ///< of the match: its log's
    bool has_keys;
    uint64_t key_name; ///< of the first one, in the stream's claims; 0: none
    uint8_t key_id;    ///< of the one key that the allocation chose; 0: all of them
    net_address public_addresses[NET_TOKEN_ADDRESSES_MAX];
    net_bans* bans;
    net_log_reader* before;     ///< of --resume, until all is open; NULL: a new match
    net_log_secret_key log_key; ///< with --log-key
    uint32_t resumed_players;
    char game[NET_GAME_NAME_BYTES_MAX]; ///< that of the log of --resume
    server_follow follow;               ///< of a relay; of a standby its source
    server_standby standby;
    net_address standbys[NET_TOKEN_ADDRESSES_MAX]; ///< for clients
    net_log_writer* log;                           ///< NULL: no log
    server_stream* stream;                         ///< NULL: no --stream
    net_address stream_address;                    ///< where players reach it, without --public
    bool is_fenced;    ///< another server goes on with the match: nothing is sent any more
    bool has_log_file; ///< false with a log: the last seconds in memory are all of it
    bool lacks_log;    ///< the disk took none: the exit code says so
    net_server* server;
    net_loop loop;
    server_console console;
    server_subject subject;  ///< what verbs look at
    server_inspect* inspect; ///< NULL: no --http
    server_meter* meter;     ///< NULL: there was no memory for it
    server_control* control; ///< NULL: no --control
    server_service service;
    server_metrics* metrics;
    net_sentry* sentry; ///< NULL: none could be had
    server_timing timing;
    server_status status;
    uint64_t start_us;   ///< of the loop
    void* session_trace; ///< FILE*; NULL: no --trace-session
    char log_file[256]; ///< "none" without a log; with has_log_file false the name of what is saved
    bool was_asked_to_end;
    bool is_reload_due; ///< a SIGHUP came: the game's files are read again behind the next tick
} server_program;

/// Read the options, run the match, report. @return the exit code.
int server_program_start(server_config_fn read_config, int argc, char** argv,
                         const base_reporter* reporter);
/// Open module, match, socket, log and server, then print the `ready` line.
/// @return NET_EXIT_CLEAN, or the exit code: reported. `server` is NULL when one of a fleet ended
///         before it was allocated. The caller closes the program in all cases.
BASE_MUST_USE int server_program_open(server_program* program);
/// What verbs look at follows the program: its match changes with a reload.
void server_program_update_subject(server_program* program);
/// Run the match until it has ended.
void server_program_run(server_program* program);
/// Print the `peer` lines and the `done` line, write the files that the options name, close the
/// log.
/// @return the exit code.
BASE_MUST_USE int server_program_report(server_program* program);
/// The reporter of a layer.
static inline const base_reporter* server_program_layer(const server_program* program,
                                                        server_layer layer) {
    return server_lines_reporter(program->lines, layer);
}
/// What the log did so far, with the segment that is written.
net_log_counters server_program_log(const server_program* program);
/// Destroy what was opened.
void server_program_close(server_program* program);
