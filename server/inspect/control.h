// SPDX-License-Identifier: MIT
/// The control socket: a Unix socket of mode 0600, so who may connect may do all. A line comes in
/// ("kick 3 bad words"), one JSON object and a newline go out, in the order of the lines.
///
/// All of it runs in the loop's pass and never waits. A connection has at most one answer that was
/// not read; while it has one, its further lines wait in the kernel.
#pragma once

#include "subject.h"
#include "verbs.h"

#define SERVER_CONTROL_CONNECTIONS_MAX 16u ///< one more is closed at once
#define SERVER_CONTROL_LINE_BYTES 8192u    ///< with its newline; a longer one gets an error
#define SERVER_CONTROL_UNREAD_S_MAX 10u    ///< then a connection that does not read is closed

typedef struct server_control server_control;

/// Connect to the control socket of a server; `flags` of socket(2): SOCK_NONBLOCK or 0.
/// @return the descriptor; -1 with errno.
int server_control_connect(const char* path, int flags);
/// Listen. What a server that was killed left behind is replaced; *control is NULL after an error.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_control_open(const char* path, const base_reporter* reporter,
                                      server_control** control);
/// Accept, read, run and answer what is there, within SERVER_ORDERS_PERIOD_US. NULL does nothing.
void server_control_pass(server_control* control, server_subject* subject, uint64_t now_us);
/// A descriptor that is readable when something waits for server_control_pass: the loop's wait ends
/// then, so that an answer does not take a tick.
int server_control_descriptor(const server_control* control);
/// Close all connections and remove the socket. NULL does nothing.
void server_control_close(server_control* control);

/// Run one line of an operator; it is cut into pieces. The answer's buffer is the caller's.
void server_line_run(server_subject* subject, char* line, server_answer* answer);
