// SPDX-License-Identifier: MIT
/// shoal-replay: its options and its commands. Each command returns the program's exit code.
#pragma once

#include "base/options.h"
#include "net/log_tools.h"
#include "net/socket.h"

typedef struct server_replay {
    const char* command;
    const char* file;
    const char* second; ///< second word of check-trace and files
    const char* output; ///< the file that export or repair writes
    const char* game;   ///< NULL: the game that the log names
    const char* entity; ///< "I:G" or "I"
    const char* net;    ///< of datagrams: line of each client
    net_log_export_what what;
    const char* components; ///< of export: names with '+' between them; NULL: all
    uint64_t every;         ///< of export: one tick of so many
    uint64_t from, to;      ///< ticks of export and slice, and verify from; 0: the first, the last
    uint64_t client;        ///< of show: what this one had been sent; 0: the server's world
    uint64_t tick;          ///< of --tick; 0: the last tick of the log
    const char* key;        ///< of verify: file of the public key; NULL: signatures do not count
    net_log_public_key public_key;
    net_log_signed found;    ///< of the newest part
    ecs_tick first_tick;     ///< of the first part
    bool is_part;            ///< verify: it may begin later than its match
    bool is_unsigned;        ///< it said so
    bool is_once;            ///< verify: no second process
    bool is_again;           ///< this is the second process of a verify
    int again, again_output; ///< the process and its output; 0: there is none
    bool is_through_crash;   ///< verify: also run the tick in which the server died
    uint64_t threads;        ///< 0: chosen by cores and game
    base_reporter reporter;
    net_log_reader* reader;
    net_module* module;          ///< NULL for info and stats, and for dump when it was not found
    bool is_damaged;             ///< a log that the command read
    bool is_repaired;            ///< the damage of the log is no failure
    bool has_result;             ///< the command printed its result
    struct net_sentry* sentry;   ///< verify --through-crash
    bool is_watched;             ///< it needs a sentry
    struct net_log_replay* next; ///< verify: the part behind a reload, at its begin
    bool has_seam;               ///< the match before makes this of it
    bool has_progress;           ///< of verify: on a terminal, or with --progress
    bool is_terminal;
    uint64_t progress_us; ///< when the newest line of progress was written
    ecs_tick progress_tick;
    const struct server_replay_command* chosen;
    const char* http; ///< of serve: where
    const char* http_token_file;
    base_option_list http_hosts;
    char text[4096]; ///< that values with keys borrow from
    net_loop loop;   ///< without signals, but for serve
} server_replay;

/// Print "failed exit=CODE tail=..." for a command that ended without a result. @return code.
int server_replay_end(server_replay* self, int code);
/// Say how far a run is, once a second and at the log's last tick.
void server_replay_progress(server_replay* self, ecs_tick tick);

/// Is it the second process of a verify, by argv[0]? Then it has another seed of the C library.
bool server_replay_is_again(const char* program);

int server_replay_info(server_replay* self);
int server_replay_stats(server_replay* self);
int server_replay_dump(server_replay* self);
int server_replay_verify(server_replay* self);
int server_replay_show(server_replay* self);
int server_replay_datagrams(server_replay* self);
int server_replay_repair(server_replay* self);
/// Serve the page of the log until SIGINT or SIGTERM.
int server_replay_serve(server_replay* self);
int server_replay_slice(server_replay* self);
int server_replay_export(server_replay* self);
/// Write what the log has of its game's texts into the folder `second`.
int server_replay_files(server_replay* self);
int server_replay_check_trace(server_replay* self);
