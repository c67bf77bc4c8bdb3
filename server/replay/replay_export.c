// SPDX-License-Identifier: MIT
// shoal-replay export: values, inputs or events of a log as lines that other programs read.
#include "replay/replay.h"

#include "tools/output.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct exporting {
    server_replay* self;
    const net_module* module; ///< NULL: values from the log itself
    net_log_export_config config;
    net_log_exported exported;
    net_result result;
} exporting;

bool server_replay_has_range(const server_replay* self) {
    if (self->to == 0 || self->to >= self->from) return true;
    base_report(&self->reporter, NULL, 0, "--to %" PRIu64 " is before --from %" PRIu64, self->to,
                self->from);
    return false;
}

static bool write_lines(void* context, void* file) {
    exporting* made = context;
    server_replay* self = made->self;
    made->result = net_log_export(self->reader, made->module, &made->config, net_host_write_line,
                                  file, &self->reporter, &made->exported);
    return true;
}

// The game that is here may be another one, and then the match cannot be run.
static bool is_other_game(const exporting* made) {
    return made->module && made->config.what == NET_LOG_EXPORT_VALUES &&
           (made->result == NET_ERR_SCHEMA || made->result == NET_ERR_MODULE) &&
           made->exported.rows == 0;
}

static bool write_out(exporting* made) {
    server_replay* self = made->self;
    if (!made->module && made->config.what == NET_LOG_EXPORT_VALUES)
        base_report(&self->reporter, self->file, 0,
                    "note: the values are those that clients get, from the log itself: the match "
                    "is not run, because %s",
                    self->module ? "the game here is another one" : "its game is not here");
    if (self->output) return net_host_write_file(self->output, write_lines, made, &self->reporter);
    return write_lines(made, stdout);
}

int server_replay_export(server_replay* self) {
    if (!server_replay_has_range(self)) return NET_EXIT_USAGE;
    exporting made = {.self = self,
                      .module = self->module,
                      .config = {.what = self->what,
                                 .format = self->format,
                                 .components = self->components,
                                 .every = self->every,
                                 .first = self->from,
                                 .last = self->to}};
    bool is_written = write_out(&made);
    if (is_written && is_other_game(&made)) {
        made.module = NULL;
        is_written = write_out(&made);
    }
    self->has_result = !self->output; // its rows
    if (!is_written) return NET_EXIT_RUNTIME;
    if (made.result == NET_ERR_UNKNOWN) return NET_EXIT_USAGE;
    if (made.result != NET_OK) return net_exit_of_replay(made.result);
    if (made.exported.ticks_lacking > 0)
        base_report(&self->reporter, self->file, 0, "the log has no values of %" PRIu64 " ticks",
                    made.exported.ticks_lacking);
    if (self->output)
        printf("exported rows=%" PRIu64 " ticks=%" PRIu64 " file=%s\n", made.exported.rows,
               made.exported.ticks, self->output);
    self->has_result = true;
    return made.exported.diverged_tick > 0 ? NET_EXIT_DIVERGED : NET_EXIT_CLEAN;
}
