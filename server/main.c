// SPDX-License-Identifier: MIT
// shoal-server: one match in one process.
//
// Read in this order: start.c reads options, open.c makes what a match needs, run.c gives it the
// time, report.c prints what came of it. A command of a part does nothing of this.
#include "program.h"

#include "host/output.h"
#include "host/setup.h"

#include <string.h>

int main(int argc, char** argv) {
    base_reporter reporter = base_reporter_stderr();
    if (!net_host_prepare(&reporter)) return NET_EXIT_RUNTIME;
    for (const server_part* const* part = server_parts; argc > 1 && *part; part++)
        for (uint32_t i = 0; i < (*part)->command_count; i++)
            if (strcmp(argv[1], (*part)->commands[i].name) == 0)
                return (*part)->commands[i].run(argc - 1, argv + 1, &reporter);
    return server_program_start(server_config_read, argc, argv);
}
