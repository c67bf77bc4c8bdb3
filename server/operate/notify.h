// SPDX-License-Identifier: MIT
/// What a service manager gets to know of the server: sd_notify(3), by hand.
///
/// systemd gives a socket in NOTIFY_SOCKET and the time of its watchdog in WATCHDOG_USEC. Without
/// the first all functions do nothing.
#pragma once

#include "base/macros.h"

#define SERVER_NOTIFY_STATUS_MS 1000u ///< between two lines of the status
#define SERVER_NOTIFY_STATUS_BYTES 256u
#define SERVER_NOTIFY_EXTEND_MS 15000u

typedef struct server_notify {
    int socket;           ///< connected; -1: there is no service manager
    uint64_t watchdog_us; ///< between two signs of life; 0: none is wanted
    uint64_t alive_us;    ///< of the last one
    uint64_t status_us;   ///< of the last status
    uint64_t extended_us; ///< of the last server_notify_extend that was sent
    bool is_reloading;    ///< server_notify_reloading, and not ready again
    bool is_stopping;
    char status[SERVER_NOTIFY_STATUS_BYTES]; ///< the last one
} server_notify;

/// Read the environment. @return false: the socket cannot be used, errno says why; the server runs
/// without it.
BASE_MUST_USE bool server_notify_open(server_notify* notify);
void server_notify_close(server_notify* notify);
/// Players can come in; also the end of a reload.
void server_notify_ready(server_notify* notify);
/// Files are read again, until server_notify_ready.
void server_notify_reloading(server_notify* notify, uint64_t now_us);
/// The server ends. Once.
void server_notify_stopping(server_notify* notify);
/// A pass of the loop: a sign of life for the watchdog, a third of whose time is the most that
/// passes between two.
void server_notify_alive(server_notify* notify, uint64_t now_us);
/// What it does now may take longer than the manager waits for a start or an end: it may last
/// SERVER_NOTIFY_EXTEND_MS from now on. Call it again and again, as long as it goes on.
void server_notify_extend(server_notify* notify, uint64_t now_us);
/// Is it time for server_notify_status?
bool server_notify_wants_status(const server_notify* notify, uint64_t now_us);
/// One line for `systemctl status`; the same one is not sent twice.
void server_notify_status(server_notify* notify, uint64_t now_us, const char* text);
