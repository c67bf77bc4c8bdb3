// SPDX-License-Identifier: MIT
// What a client leaves behind.
//
// Joins and leaves walk the world: a client's scope is gathered, and hashed for the report. Who
// connects and leaves again and again must not slow the tick down, so each of these is rationed in
// entities, not in time: a tick does the same on any machine.
//
// A replication state that is left behind is abandoned at once (nothing is written for it). Few are
// destroyed per tick, since a large one releases much memory. There is a place for each session;
// when more leave than were destroyed, the oldest goes at once.
#include "server/server_state.h"

#include "replicate/repl_state.h"

#include "net/match.h"

#include "base/assert.h"

#include <string.h>

enum { DESTROYED_PER_TICK = 2 };

static void destroy_first(net_server* server) {
    BASE_ASSERT(server->leaver_count > 0);
    net_repl_state_destroy(server->leavers[0]);
    server->leaver_count--;
    memmove(server->leavers, server->leavers + 1, server->leaver_count * sizeof *server->leavers);
}

void net_server_take_leaver(net_server* server, net_session* session) {
    BASE_ASSERT(session->out.repl && !server->out.is_uncollected);
    if (server->leaver_count == server->session_count) destroy_first(server);
    net_repl_state_abandon(session->out.repl);
    server->leavers[server->leaver_count++] = session->out.repl;
    session->out.repl = NULL;
}

void net_server_destroy_leavers(net_server* server) {
    BASE_ASSERT(!server->out.is_uncollected);
    for (uint32_t i = 0; i < DESTROYED_PER_TICK && server->leaver_count > 0; i++)
        destroy_first(server);
}

void net_server_close_leavers(net_server* server) {
    while (server->leaver_count > 0)
        destroy_first(server);
}

bool net_server_may_walk(net_server* server, uint32_t entities) {
    // At the end of a match every client is reported, and no tick waits.
    if (server->phase != NET_SERVER_RUNNING) return true;
    uint64_t tick = net_match_tick(server->config.match);
    uint64_t credit = server->walk_credit + (tick - server->walk_tick) * NET_WALK_PER_TICK;
    server->walk_credit = credit < NET_WALK_BURST ? credit : NET_WALK_BURST;
    server->walk_tick = tick;
    if (server->walk_credit < entities && entities < NET_WALK_BURST) return false;
    server->walk_credit -= entities < server->walk_credit ? entities : server->walk_credit;
    return true;
}
