// SPDX-License-Identifier: MIT
// The longest large values over ENet: fragments on the reliable channel, sent by the net half of
// the server, through the filter of datagrams, over a line with loss.
#include "enet_room.h"
#include "game/library.h"

#include "ecs/change.h"

enum { TICKS = 900, CLIENTS = 2, WRITTEN_TICK = 60 };

// Write three texts: 1 + 3 * (1 + 2 + 3996) = 11,998 bytes.
static uint32_t write_long_notes(room* at) {
    static char text[3996];
    memset(text, 'n', sizeof text);
    const library* game = net_match_context(at->match);
    ecs_world* world = net_match_world(at->match);
    const base_allocator* allocator = ecs_world_allocator(world);
    uint32_t count = 0;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        ecs_array* notes = ecs_find_mut(world, entity, game->notes);
        if (!notes) continue;
        ecs_array_clear(allocator, notes);
        for (uint32_t i = 0; i < 3; i++) {
            text[0] = (char)('a' + count++ % 26);
            assert_ok(ecs_array_push_text(allocator, notes, text, sizeof text));
        }
    }
    return count / 3;
}

CASE(the_longest_values_cross_a_line_that_loses) {
    for (uint32_t loss = 0; loss <= 5; loss += 5) {
        room at;
        const net_game_module game = library_module();
        const net_link_config line = {.loss_percent = loss, .delay_ms = 20, .seed = 3};
        room_open(&at, (room_config){.game = &game,
                                     .templates = LIBRARY_TEXT,
                                     .seed = 4,
                                     .quiet = WRITTEN_TICK,
                                     .seats = CLIENTS,
                                     .ticks_max = TICKS});
        assert_ok(net_socket_link_set(&line));
        for (uint32_t i = 0; i < 3 * TICKS; i++) {
            room_step(&at);
            if (net_match_tick(at.match) == WRITTEN_TICK && i < 2 * WRITTEN_TICK)
                assert_int_equal(write_long_notes(&at), LIBRARY_PAGES);
        }
        uint64_t dropped[NET_DROP_COUNT];
        net_server_dropped(at.server, dropped);
        assert_int_equal(dropped[NET_DROP_VARSIZE_LONG], 0);
        seats_agree(at.server, at.seats, CLIENTS);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            const net_client_report report = net_client_get_report(at.seats[i].client);
            const net_peer_report* peer = server_report_of(at.server, report.client);
            assert_true(peer->scope.bytes > 40000); // at least four values
        }
        room_close(&at);
    }
}
