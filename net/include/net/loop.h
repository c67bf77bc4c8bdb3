// SPDX-License-Identifier: MIT
/// What a program's main loop needs of the operating system: a clock, signals as data, and one wait.
/// Linked into executables only (target shoal_socket); libraries get time as an argument.
#pragma once

#include "base/macros.h"

#define NET_LOOP_SOCKETS_MAX 4096u

typedef struct net_loop {
    int signals;          ///< signalfd for SIGINT and SIGTERM, and SIGHUP if asked for
    bool is_reload_asked; ///< a SIGHUP came; whoever looks at it sets it back
    int sockets[NET_LOOP_SOCKETS_MAX];
    uint32_t socket_count;
} net_loop;

/// Monotonic microseconds.
uint64_t net_loop_now_us(void);
/// Milliseconds since 1970, for people.
uint64_t net_loop_unix_ms(void);
/// Block SIGINT and SIGTERM and receive them as data; ignore SIGPIPE and SIGXFSZ; make stdout
/// line-buffered.
/// @return false when the system refuses (reported in errno).
BASE_MUST_USE bool net_loop_init(net_loop* loop);
/// Receive SIGHUP as data too: it asks for files to be read again. Without this it ends the program.
/// @return false when the system refuses (reported in errno).
BASE_MUST_USE bool net_loop_hear_reload(net_loop* loop);
void net_loop_deinit(net_loop* loop);
/// Wait until a socket is readable, a signal came or `until_us` is reached (at once when it is past).
/// @return true when SIGINT or SIGTERM came since the last call.
bool net_loop_wait(net_loop* loop, uint64_t until_us);
