// SPDX-License-Identifier: MIT
/// --local: a server of its own in this process, on a free port of loopback. The players connect to
/// it as to any server, over real sockets, so what is seen is what a network game does.
/// Threads: one loop runs the server and the players.
#pragma once

#include "program.h"

/// Open the server of --game, and let the program's players connect to it. The caller closes it
/// after the players and before the module.
/// @return NET_EXIT_CLEAN; any other exit code: the error has been reported, and the program ends.
BASE_MUST_USE int client_local_open(client_program* program, client_local** local);
/// NULL does nothing.
void client_local_close(client_local* local);
/// The server's; borrowed.
net_transport* client_local_transport(const client_local* local);
/// Receive, and run the ticks that are due.
void client_local_service(client_local* local, uint64_t now_us);
/// Did the game's library or its templates change since they were opened, and are they quiet again?
/// Looks at most twice a second.
bool client_local_is_stale(client_local* local, uint64_t now_us);
/// Open the changed game and continue with the state of the match, if every type and template still
/// has its layout; otherwise the match starts again. A report says which. All players must be
/// closed. A game that cannot be opened ends the program.
/// @return NET_EXIT_CLEAN; any other exit code: the error has been reported, and the program ends.
BASE_MUST_USE int client_local_reload(client_program* program);
/// @return when the next tick is due.
uint64_t client_local_due_us(const client_local* local);
