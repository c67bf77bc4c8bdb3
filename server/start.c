// SPDX-License-Identifier: MIT
// From options to an exit code: what shoal-server and shoal-relay have in common.
#include "program.h"

#include "host/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One thread for NET_LANE_CLIENTS players, but one core stays for the simulation. More threads than
// players would have nothing to do.
void server_config_choose_threads(server_config* config, uint64_t clients) {
    if (config->net_threads == SERVER_THREADS_UNSET) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        const uint64_t spare = cores > 1 ? (uint64_t)cores - 1 : 0;
        config->net_threads = (clients + NET_LANE_CLIENTS - 1) / NET_LANE_CLIENTS;
        if (config->net_threads > spare) config->net_threads = spare;
        if (config->net_threads > NET_LANES_MAX) config->net_threads = NET_LANES_MAX;
    }
    if (config->net_threads > clients) config->net_threads = clients;
}

static int run(server_program* self) {
    int code = server_program_open(self);
    if (code == NET_EXIT_CLEAN && self->server) {
        server_program_run(self);
        code = self->is_fenced ? NET_EXIT_FENCED : server_program_report(self);
    }
    server_fleet_end(self, code);
    return code;
}

static int open_loop_and_run(server_program* self) {
    if (!net_loop_init(&self->loop) || !net_loop_hear_operator(&self->loop)) {
        base_report(&self->reporter, NULL, 0, "signals: %s", strerror(errno));
        return NET_EXIT_RUNTIME;
    }
    const int code = run(self);
    server_program_close(self);
    return code;
}

static int read_options_and_run(server_program* self, server_config_fn read_config, int argc,
                                char** argv) {
    const base_options_result read = read_config(&self->config, argc, argv, &self->reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    if (!server_lines_configure(self->lines, self->config.log_format, &self->config.log_levels,
                                &self->reporter))
        return NET_EXIT_USAGE;
    int code = open_loop_and_run(self);
    while (self->fleet.is_reused) {
        const size_t kept = offsetof(server_program, module);
        memset((char*)self + kept, 0, sizeof *self - kept);
        code = open_loop_and_run(self);
    }
    server_fleet_close(&self->fleet);
    return code;
}

int server_program_start(server_config_fn read_config, int argc, char** argv,
                         const base_reporter* reporter) {
    server_program* self = calloc(1, sizeof *self);
    if (!self) {
        base_report(reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
        return NET_EXIT_RUNTIME;
    }
    self->lines = server_lines_create();
    int code = NET_EXIT_RUNTIME;
    if (self->lines) {
        self->reporter = *server_program_layer(self, SERVER_LAYER_SERVER);
        code = read_options_and_run(self, read_config, argc, argv);
    } else {
        base_report(reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
    }
    server_lines_destroy(self->lines);
    free(self);
    return code;
}
