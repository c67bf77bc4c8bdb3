// SPDX-License-Identifier: MIT
// shoal-server: one match in one process.
//
// Wiring only. Read in this order: start.c reads options, open.c makes everything that a match
// needs, run.c gives it the time, report.c prints what came of it. The commands of commands.h do
// nothing of this.
#include "commands/commands.h"
#include "program.h"

#include "host/output.h"
#include "host/setup.h"

#include <string.h>

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
    return server_program_start(server_config_read, argc, argv, &reporter);
}
