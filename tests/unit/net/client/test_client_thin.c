// SPDX-License-Identifier: MIT
// Thin clients beside a whole one, in the wild test game over lines that lose and reorder: at the
// end each has what the server gave it, texts and changes of templates included.
#include "server/session_table.h"

#define CLIENTS 4u // the first one is whole

static void count_row(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
                      uint64_t row_hash) {
    *(uint64_t*)context += 1;
}

// All thin clients share a match, into which they write nothing.
static void sit_thin(table* at, net_match* shared, const net_link_config* link, uint64_t* rows) {
    table_seat* seat = &at->seats[at->seat_count++];
    scarce_init(&seat->memory);
    seat->transport = net_sim_client(at->sim, link);
    const net_client_config client = {.match = shared,
                                      .is_thin = true,
                                      .transport = seat->transport,
                                      .address = "sim",
                                      .seed = at->seat_count,
                                      .is_bot = true,
                                      .trace = count_row,
                                      .trace_context = rows};
    seat->client = net_client_create(&client);
}

CASE(thin_clients_have_what_the_server_gave_them) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        table at;
        swarm_wild wild;
        uint64_t rows = 0;
        table_open(&at, (table_config){
                            .seed = seed,
                            .clients_max = CLIENTS,
                            .clients_min = CLIENTS,
                            .ticks_max = 600,
                            .quiet = 560,
                            .game = swarm_wild_make(&wild, SWARM_RADIUS | SWARM_OWNER | SWARM_TEAM |
                                                               SWARM_GROUPS | SWARM_GRANTS),
                            .templates = swarm_wild_templates()});
        net_match* shared = match_made(at.module, (match_wanted){.is_mirror = true});
        for (uint32_t i = 0; i < CLIENTS; i++) {
            const net_link_config link = {.loss_percent = 10,
                                          .delay_ms = 40,
                                          .jitter_ms = 30,
                                          .reorder_percent = 3,
                                          .duplicate_percent = 2,
                                          .seed = seed + i};
            if (i == 0)
                (void)table_sit(&at, &link);
            else
                sit_thin(&at, shared, &link, &rows);
        }
        table_run_out(&at, 1200);
        table_agrees(&at);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            net_client_report report = net_client_get_report(at.seats[i].client);
            assert_true(report.updates > 100);
            assert_int_equal(report.probes_differing, 0);
            assert_true(report.probes > 10);
        }
        assert_true(rows > 1000);
        assert_int_equal(ecs_world_entity_count(net_match_world(shared)), 0);
        assert_int_equal(ecs_world_tick(net_match_world(shared)), 0);
        table_close(&at);
        net_match_destroy(shared);
    }
}
