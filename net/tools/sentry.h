// SPDX-License-Identifier: MIT
/// A sentry watches the thread that simulates. It says where the simulation is when a tick does not
/// come back, and when the process dies of an assertion or a fatal signal: tick, system, entity,
/// and the command that runs this very tick again.
///
/// While a tick does not come back, the sentry takes signals in place of the program's loop, and
/// hands over SIGHUP and SIGUSR1. Of SIGTERM and SIGINT the first one is handed over for later, and
/// the second one ends the process at once: the log's queue keeps what the log lacks.
///
/// One per process (asserted): signals have one handler each.
/// Threads: create, busy, rest and destroy on the thread that simulates.
#pragma once

#include "net/socket.h"

#include "ecs/ecs.h"

#include "base/report.h"

/// A tick that takes so long is reported, and again after each doubling.
#define NET_SENTRY_STALL_MS 1000u

typedef struct net_sentry_config {
    const ecs_world* world; ///< borrowed; lives as long as the sentry, or until net_sentry_watch
    net_loop* loop;         ///< borrowed; its signals
    const char* log_file;   ///< copied; NULL: there is no log to run again
    base_reporter reporter;
} net_sentry_config;

typedef struct net_sentry net_sentry;

/// Start its thread and install handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, which
/// print and then do what the handlers before them did.
/// @return NULL when memory ran out or the system gives no thread: the program can run without it.
net_sentry* net_sentry_create(const net_sentry_config* config);
/// Another world is simulated from now on, while the thread rests. NULL does nothing.
void net_sentry_watch(net_sentry* sentry, const ecs_world* world);
/// End the thread and restore the handlers. NULL does nothing.
void net_sentry_destroy(net_sentry* sentry);
/// The thread works from now on, and is expected back within NET_SENTRY_STALL_MS. NULL does
/// nothing, here and in net_sentry_rest.
void net_sentry_busy(net_sentry* sentry);
/// The thread came back, or waits for the next tick.
void net_sentry_rest(net_sentry* sentry);
