// SPDX-License-Identifier: MIT
// A line may come in pieces, and a pipe may bring several lines at once.
#include "program.h"

#include "base/assert.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

void server_console_open(server_console* console, net_loop* loop) {
    BASE_ASSERT(!console->is_open && loop->socket_count <= NET_LOOP_SOCKETS_MAX);
    if (loop->socket_count == NET_LOOP_SOCKETS_MAX) return;
    loop->sockets[loop->socket_count++] = STDIN_FILENO;
    console->is_open = true;
}

static void close_console(server_program* self) {
    net_loop* loop = &self->loop;
    BASE_ASSERT(loop->socket_count > 0 && loop->sockets[loop->socket_count - 1] == STDIN_FILENO);
    loop->socket_count--;
    self->console.is_open = false;
}

static void save(server_program* self, const char* name) {
    net_result result = self->log ? net_log_save(self->log, name) : NET_ERR_CLOSED;
    if (result == NET_ERR_FULL)
        base_report(&self->reporter, NULL, 0, "not saved: the save before is on its way");
    else if (result != NET_OK)
        base_report(&self->reporter, NULL, 0,
                    "not saved: the log keeps no last seconds in memory (--log-ring)");
}

static void obey(server_program* self, char* line) {
    char* argument = strchr(line, ' ');
    if (argument) *argument++ = 0;
    if (strcmp(line, "save") == 0)
        save(self, argument ? argument : "");
    else if (strcmp(line, "status") == 0)
        self->loop.is_status_asked = true;
    else if (strcmp(line, "end") == 0)
        self->console.is_end_asked = true;
    else if (line[0])
        base_report(&self->reporter, NULL, 0, "console: save NAME, status or end, not '%s'", line);
}

static void add(server_program* self, char c) {
    server_console* console = &self->console;
    BASE_ASSERT(console->count < sizeof console->line);
    if (c == '\n') {
        console->line[console->count] = 0;
        if (console->is_too_long)
            base_report(&self->reporter, NULL, 0, "console: the line is too long");
        else
            obey(self, console->line);
        console->count = 0;
        console->is_too_long = false;
    } else if (console->count + 1 == sizeof console->line) {
        console->is_too_long = true;
    } else if (c != '\r') {
        console->line[console->count++] = c;
    }
}

void server_console_read(server_program* self) {
    char piece[256];
    if (!self->console.is_open) return;
    struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&polled, 1, 0) <= 0) return;
    ssize_t size = read(STDIN_FILENO, piece, sizeof piece);
    if (size <= 0) close_console(self);
    for (ssize_t i = 0; i < size; i++)
        add(self, piece[i]);
}

void server_console_report_saved(server_program* self) {
    net_log_saved saved;
    if (!self->log || !net_log_take_saved(self->log, &saved)) return;
    if (saved.failure[0])
        base_report(&self->reporter, saved.file, 0, "not saved: %s", saved.failure);
    else
        base_report(&self->reporter, saved.file, 0,
                    "note: saved ticks=%" PRIu64 "..%" PRIu64 " bytes=%" PRIu64, saved.first_tick,
                    saved.last_tick, saved.bytes);
}
