// SPDX-License-Identifier: MIT
/// shoal-replay: its options and its commands. Each command returns the program's exit code.
#pragma once

#include "base/options.h"
#include "net/log_reader.h"
#include "net/loop.h"

typedef struct server_replay {
    const char* command;
    const char* file;
    const char* trace;            ///< second word of check-trace
    const char* output;           ///< of train
    const base_option_list* logs; ///< of train: its words from the second one on
    const char* game;             ///< NULL: the game that the log names
    const char* entity;           ///< "I:G" or "I"
    const char* net;              ///< of datagrams: line of each client
    uint64_t tick;                ///< of --tick; 0: the last tick of the log
    bool is_through_crash;        ///< verify: also run the tick in which the server died
    uint64_t threads;             ///< 0: chosen by cores and game
    base_reporter reporter;
    net_log_reader* reader;
    net_module* module; ///< NULL for info and stats, and for dump when it was not found
    bool is_damaged;
    struct net_sentry* sentry; ///< verify --through-crash
    net_loop loop;             ///< without signals
} server_replay;

int server_replay_info(server_replay* self);
int server_replay_stats(server_replay* self);
int server_replay_dump(server_replay* self);
int server_replay_verify(server_replay* self);
int server_replay_show(server_replay* self);
int server_replay_datagrams(server_replay* self);
int server_replay_check_trace(server_replay* self);
/// Opens its logs itself.
int server_replay_train(server_replay* self);
