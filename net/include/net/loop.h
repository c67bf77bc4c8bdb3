// SPDX-License-Identifier: MIT
/// What a program's main loop needs of the operating system: a clock, signals as data, and one
/// wait. Linked into executables only (target shoal_socket); libraries get time as an argument.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

#define NET_LOOP_SOCKETS_MAX 4096u

typedef struct net_loop {
    int signals; ///< signalfd for SIGINT and SIGTERM; for two more after net_loop_hear_operator
    BASE_ATOMIC(bool) is_reload_asked; ///< a SIGHUP came; the program sets it back
    BASE_ATOMIC(bool) is_status_asked; ///< a SIGUSR1 came; the program sets it back
    /// Another thread took a SIGTERM or SIGINT (tools/sentry.h): the next wait returns true.
    BASE_ATOMIC(bool) is_end_asked;
    int sockets[NET_LOOP_SOCKETS_MAX];
    uint32_t socket_count;
} net_loop;

/// Microseconds of CLOCK_MONOTONIC.
uint64_t net_loop_now_us(void);
/// Milliseconds since 1970, for people.
uint64_t net_loop_unix_ms(void);
/// Block SIGINT and SIGTERM and receive them as data; ignore SIGPIPE and SIGXFSZ; make stdout
/// line-buffered; raise the limit of open files to what the system allows. Signals are blocked for
/// the calling thread, so call it before other threads are made.
/// @return false when the system refuses (errno says why).
BASE_MUST_USE bool net_loop_init(net_loop* loop);
/// Receive SIGHUP (read files again) and SIGUSR1 (print the state) as data too. Without this call
/// both end the program. @return false when the system refuses (errno says why).
BASE_MUST_USE bool net_loop_hear_operator(net_loop* loop);
/// Close the signalfd; signals stay blocked.
void net_loop_deinit(net_loop* loop);
/// Wait until a socket is readable, a signal came, or `until_us` is reached (not at all when that
/// is past).
/// @return true when SIGINT or SIGTERM came since the last call.
bool net_loop_wait(net_loop* loop, uint64_t until_us);

BASE_C_END
