// SPDX-License-Identifier: MIT
// shoal-relay: the match of another server for spectators without number.
//
// It is shoal-server with another beginning: what enters a tick comes from the log or the stream of
// the match's server (server/fleet/follow.c), and spectators alone join. All the rest - sockets,
// keys, bans, log, inspector, control, service - is the same code with the same options.
#include "relay/relay.h"

#include "program.h"

#include "host/output.h"
#include "host/setup.h"

int main(int argc, char** argv) {
    base_reporter reporter = base_reporter_stderr();
    if (!net_host_prepare(&reporter)) return NET_EXIT_RUNTIME;
    return server_program_start(relay_config_read, argc, argv, &reporter);
}
