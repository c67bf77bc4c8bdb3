// SPDX-License-Identifier: MIT
// A steady tick of a whole server and its sessions allocates nothing. test_replicator_lanes proves
// it of the replication alone, in a world that moves.
#define TABLE_SEATS 8u
#include "server/session_table.h"

CASE_WITH(table, at,
          table_open(
              at, (table_config){.seed = 15, .clients_max = 8, .quiet = 4e9, .has_accounts = true}),
          table_close(at), a_server_with_eight_clients_allocates_nothing) {
    for (uint32_t i = 0; i < 8; i++)
        (void)table_sit(at, &(net_link_config){.delay_ms = 20, .loss_percent = 2, .seed = i + 1});
    table_run(at, 300 * TICKS_PER_SECOND); // the ticks with the most memory are over
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(net_client_get_phase(at->seats[i].client), NET_CLIENT_PLAYING);
    uint64_t allocations = at->memory.calls;
    for (uint32_t i = 0; i < 20 * TICKS_PER_SECOND; i++) {
        table_step(at);
        if (at->memory.calls != allocations) print_error("in tick %u\n", i);
        assert_int_equal(at->memory.calls, allocations);
    }
}
