// SPDX-License-Identifier: MIT
/// A sentry watches the threads that simulate. It says where the simulation is when a tick does not
/// come back, and when the process dies of an assertion, a fatal signal or without memory: tick,
/// system, entity, and the command that runs it again. The world is any that such a thread runs a
/// stage of. Without memory the exit code is NET_EXIT_RUNTIME.
///
/// While a tick of the thread that made it does not come back, the sentry takes signals in place of
/// the program's loop, which that thread runs, and hands over SIGHUP
/// and SIGUSR1. Of SIGTERM and SIGINT the first one is handed over for later, and the second one
/// ends the process at once: the log's queue keeps what the log lacks.
///
/// With tick_s a tick that takes longer ends the process as an assertion does. Time in which the
/// process was stopped does not count.
///
/// A report of the crash, with what the program knows and the stack, goes to a file of its own:
/// what an operator sends to the authors of a game.
///
/// One per process (asserted): signals have one handler each.
/// Threads: create and destroy on the thread of the loop, busy and rest on each that is watched.
#pragma once

#include "net/socket.h"

#include "base/report.h"

/// The thread that made it, and those of net_sentry_add_thread.
#define NET_SENTRY_THREADS_MAX 2u

/// A tick that takes so long is reported, at most a second later, and again after each doubling.
#define NET_SENTRY_STALL_MS 1000u

typedef struct net_sentry_config { ///< what it points at is borrowed
    net_loop* loop;                ///< NULL: signals are left alone
    const char* log_file;          ///< NULL: there is no log
    const char* program;           ///< it runs again with its arguments; NULL: the log does
    base_reporter reporter;
    const char* line_begin; ///< static, before each line of a crash on stderr; NULL: nothing
    const char* line_end;   ///< static, after it, and the line is escaped as JSON; NULL: nothing
    const char* crash_file; ///< where the report of a crash goes; NULL: nowhere
    const char* game_file;  ///< the game is no name but this; NULL: the log has its name
    const char* go_on;      ///< the words, each with its NUL, that go on with the match
    size_t go_on_bytes;     ///< 0: nothing goes on
    const char* happened;   ///< what came before, as it is by then; NULL: nothing is known
    uint64_t recent_ticks;  ///< its command runs this many ticks before the crash again
    uint64_t tick_s;        ///< a tick that takes longer is a crash; 0: none is
    /// Append what the program said last. It is called from a signal handler. NULL: nothing.
    void (*write_tail)(const void* context, int descriptor);
    const void* tail_context;
} net_sentry_config;

typedef struct net_sentry net_sentry;

/// Start its thread and install handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, which
/// print and then do what the handlers before them did.
/// @return NULL when the system gives no thread: the program can run without it.
net_sentry* net_sentry_create(const net_sentry_config* config);
/// End the thread and restore the handlers. NULL does nothing.
void net_sentry_destroy(net_sentry* sentry);
/// Watch the calling thread too (asserted: at most NET_SENTRY_THREADS_MAX), and stop that before it
/// ends. NULL does nothing.
void net_sentry_add_thread(net_sentry* sentry);
void net_sentry_remove_thread(net_sentry* sentry);
/// The thread works from now on, and is expected back within NET_SENTRY_STALL_MS. NULL does
/// nothing, here and in net_sentry_rest.
void net_sentry_busy(net_sentry* sentry);
/// The thread came back, or waits for the next tick.
void net_sentry_rest(net_sentry* sentry);
