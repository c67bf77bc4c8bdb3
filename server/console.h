// SPDX-License-Identifier: MIT
/// --console: an operator's commands as lines on stdin. "save NAME" saves the last seconds of the
/// log (--log-ring), "status" prints the state as SIGUSR1 does, "end" ends the match as SIGTERM
/// does. The end of stdin ends nothing.
#pragma once

#include "net/socket.h"

typedef struct server_program server_program;

typedef struct server_console {
    bool is_open;
    bool is_end_asked; ///< the loop sets it back
    bool is_too_long;  ///< the line: it is passed
    char line[128];
    uint32_t count;
} server_console;

/// Hear stdin in the loop's wait, as the last of its sockets.
void server_console_open(server_console* console, net_loop* loop);
/// Do what stands on stdin, without waiting.
void server_console_read(server_program* program);
/// Say what became of the last save.
void server_console_report_saved(server_program* program);
