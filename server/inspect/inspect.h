// SPDX-License-Identifier: MIT
/// The inspector of a running match, or of a log: a page in the browser and its interface.
///
/// A thread of its own serves HTTP. What it has to know of the match it orders (orders.h), and the
/// loop answers between ticks, in server_inspect_pass. No tick waits for it.
#pragma once

#include "gate.h"
#include "subject.h"
#include "upgrade.h"

/// Texts are borrowed until server_inspect_close.
typedef struct server_inspect_config {
    const char* listen;     ///< ADDR:PORT; port 0 picks one
    const char* token_file; ///< NULL: none, which loopback alone may do
    base_option_list hosts; ///< further names under which it is asked
    base_option_list pages; ///< of the other servers of the match: one plays on there
    bool is_optional;       ///< a port that is taken is a warning
    const char* game;       ///< the name of the game
    const char* game_file;  ///< beside its module; NULL: it is searched for in the module path
    const char* log_file;   ///< NULL: there is none
    bool is_live;           ///< the log is that of a match that runs
    bool is_hiding;         ///< the game hides something from players
    bool is_elsewhere;      ///< another process writes the log: what is hidden may be seen when it
                            ///< is closed
    uint64_t delay_s;       ///< so much later readers watch
    uint64_t tick_rate_hz;  ///< of the match
    server_subject* subject;
    server_run_fn run;             ///< NULL: server_verb_run
    const server_upgrade* upgrade; ///< players in browsers; NULL: there is no place for them
    uint64_t idle_us;              ///< for a whole request, and to take a frame; 0: 30 s
    const base_reporter* reporter;
} server_inspect_config;

typedef struct server_inspect server_inspect;

/// Listen and begin to serve. *inspect is NULL when it is not served: with is_optional that is no
/// failure.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_inspect_open(const server_inspect_config* config,
                                      server_inspect** inspect);
/// Answer what was asked, and note that the loop goes round: once in each pass. `is_ready`: a
/// player may join. NULL does nothing.
void server_inspect_pass(server_inspect* inspect, bool is_ready);
/// A descriptor that is readable when something waits for server_inspect_pass: the loop's wait ends
/// then, so that an answer does not take a tick.
int server_inspect_descriptor(const server_inspect* inspect);
/// What it did so far.
server_inspect_counts server_inspect_get_counts(const server_inspect* inspect);
/// Where it is served, "http://127.0.0.1:7780".
void server_inspect_address(const server_inspect* inspect, char* text, size_t text_bytes);
/// End all connections and the thread. NULL does nothing.
void server_inspect_close(server_inspect* inspect);
