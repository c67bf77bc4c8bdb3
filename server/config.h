// SPDX-License-Identifier: MIT
/// The options of shoal-server, read and checked.
#pragma once

#include "base/options.h"
#include "base/workers.h"
#include "net/limits.h"
#include "net/server.h"

#include "lines.h"

#define SERVER_SPECTATORS_UNSET UINT64_MAX
#define SERVER_DRAIN_S_MAX 86400u
#define SERVER_AGAIN_S_DEFAULT 86400u

typedef enum server_agones_use {
    SERVER_AGONES_AUTO, ///< where its SDK server is announced
    SERVER_AGONES_ON,
    SERVER_AGONES_OFF,
} server_agones_use;

typedef enum server_on_term {
    SERVER_ON_TERM_END,
    SERVER_ON_TERM_HANDOVER, ///< where a standby is ready
} server_on_term;

typedef struct server_config {
    const char* game;
    const char* listen;
    uint64_t tick_rate_hz;
    uint64_t seed;
    // Of a relay alone.
    const char* follow; ///< the log of a match that runs elsewhere; NULL: it runs here
    uint64_t follow_delay_s;
    bool follows_whole;       ///< from its first tick on, not from its newest keyframe
    const char* follow_begin; ///< of a stream: a log with a keyframe to begin with; NULL: tick 1
    const char* resume;       ///< a log whose match goes on; NULL: a new match
    uint64_t resume_at;       ///< behind this tick; 0: the last whole one
    const char* stream;       ///< NULL: none
    const char* standby;      ///< the stream of a match that runs elsewhere, until it goes on here
    uint64_t takeover_ms;
    const char* stream_sync;
    base_option_list standby_addresses;
    base_option_list pages;   ///< of the match's other servers
    const char* log;          ///< file, "none", or NULL: a name made of game and time
    uint32_t log_sync;        ///< a net_log_sync
    uint32_t log_content;     ///< a net_log_content
    const char* log_on_close; ///< program; NULL: none
    const char* log_key;      ///< file of the key that signs the log; NULL: it is not signed
    uint64_t log_ring_s;      ///< 0: no ring
    uint64_t log_ring_mb, log_keyframe_s;
    bool has_console;
    const char* control; ///< socket; NULL: none
    bool allow_edits;    ///< the operator may change settings and values while the match runs
    uint64_t log_segment_mb, log_segment_s, log_keep, log_budget_mb; ///< 0: no limit
    uint64_t status_every_s;                                         ///< 0: only on SIGUSR1
    uint64_t ticks;
    uint64_t clients_min;
    uint64_t clients_max;
    uint64_t spectators_max;          ///< SERVER_SPECTATORS_UNSET: by the game
    uint64_t clients_per_address_max; ///< 0: no limit
    uint64_t sessions_max;            ///< of one player or address within 10 s
    bool is_fast;
    bool allow_dev_key;
    const char* key_file;              ///< NULL: SHOAL_KEYS, or no keys
    base_option_list public_addresses; ///< where players reach the server
    const char* bans;                  ///< file; NULL: none
    base_option_list settings;
    const char* dump_world;
    const char* net;
    const char* session_trace; ///< file; NULL: no trace
    const char* bandwidth;     ///< --debug ledger: a file; NULL: nothing is accounted
    uint64_t net_threads;      ///< 0: the simulation's thread does it all
    uint64_t rate_bytes_max;   ///< per client and second
    uint64_t send_divisor;
    net_coder coder;
    uint64_t drain_s; ///< 0: SIGTERM ends the match
    server_on_term on_term;
    uint64_t empty_s; ///< --exit-when-empty; 0: never
    uint64_t tick_s;  ///< a tick that takes longer ends the server; 0: none does
    bool pauses_when_empty;
    server_agones_use agones;
    bool agones_reuse;
    server_line_format log_format;
    base_option_list log_levels; ///< "debug", "net=debug"
    server_level levels[SERVER_LAYER_COUNT];
    uint64_t threads; ///< 0: chosen by cores and game
    const char* http; ///< ADDR:PORT; NULL: no inspector
    const char* http_token_file;
    base_option_list http_hosts;
    bool http_is_optional;
    uint64_t http_delay_s;
    uint64_t again_s; ///< a link lets its player into later matches; 0: it does not
    const char* config;
    base_options options;               ///< the table, to show it; its values are this config
    base_option rows[BASE_OPTIONS_MAX]; ///< of a relay: its table
    uint8_t option_sources[BASE_OPTION_SOURCES_MAX];
    char config_text[16384]; ///< content of the config file: options borrow from it
} server_config;

/// Read options into a config: the command line, the environment and the config file.
typedef base_options_result (*server_config_fn)(server_config* config, int argc, char** argv,
                                                const base_reporter* reporter);
/// Those of shoal-server.
/// @return BASE_OPTIONS_OK; BASE_OPTIONS_HELP (help is printed: exit with 0); BASE_OPTIONS_ERROR
///         (reported: exit with 2).
BASE_MUST_USE base_options_result server_config_read(server_config* config, int argc, char** argv,
                                                     const base_reporter* reporter);
/// What single options cannot tell (base_options.check); the words are not looked at.
bool server_config_check(void* config, const base_option_list* words,
                         const base_reporter* reporter);
#define SERVER_THREADS_UNSET UINT64_MAX
/// Give net_threads that is unset a number for so many clients and this machine.
void server_config_choose_threads(server_config* config, uint64_t clients);
/// The row of an option of shoal-server, for a program that has it too.
const base_option* server_config_row(const char* name);
/// Their keys; a relay has the first of them.
extern const base_option server_listen_keys[], server_log_keys[], server_http_keys[],
    server_lines_keys[], server_tune_keys[];
