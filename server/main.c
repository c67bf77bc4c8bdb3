// SPDX-License-Identifier: MIT
// shoal-server: one match in one process.
//
// Wiring only. Read in this order: open.c makes everything that a match needs, run.c gives it the
// time, report.c prints what came of it. The commands of commands.h do nothing of
// this.
#include "commands.h"
#include "program.h"

#include "tools/output.h"
#include "tools/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int run(server_program* self) {
    int code = server_program_open(self);
    if (code == NET_EXIT_CLEAN && self->server) {
        server_program_run(self);
        code = server_program_report(self);
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

static int read_options_and_run(server_program* self, int argc, char** argv) {
    const base_options_result read = server_config_read(&self->config, argc, argv, &self->reporter);
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

static int run_match(int argc, char** argv, const base_reporter* reporter) {
    server_program* self = calloc(1, sizeof *self);
    if (!self) {
        base_report(reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
        return NET_EXIT_RUNTIME;
    }
    self->lines = server_lines_create();
    int code = NET_EXIT_RUNTIME;
    if (self->lines) {
        self->reporter = *server_program_layer(self, SERVER_LAYER_SERVER);
        code = read_options_and_run(self, argc, argv);
    } else {
        base_report(reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
    }
    server_lines_destroy(self->lines);
    free(self);
    return code;
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        int (*run)(int argc, char** argv, const base_reporter* reporter);
    } commands[] = {{"check", server_check},
                    {"schema", server_schema},
                    {"new", server_new},
                    {"keygen", server_keygen},
                    {"token", server_token}};
    base_reporter reporter = base_reporter_stderr();
    if (!net_host_prepare(&reporter)) return NET_EXIT_RUNTIME;
    for (uint32_t i = 0; argc > 1 && i < BASE_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1, &reporter);
    return run_match(argc, argv, &reporter);
}
