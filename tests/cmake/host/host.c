// SPDX-License-Identifier: MIT
// A program that opens a game module and runs its match, linked to shoal::host and to nothing else:
//
//     host GAME.so TICKS        prints the state hash after so many ticks without players
#include <net/match.h>
#include <net/transport.h>

#include <ecs/ecs.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Sockets need the layer below ENet, which has to be found before libenet's own functions.
static int listen_once(void) {
    const net_enet_config config = {.listen = "127.0.0.1:0", .peers_max = 1};
    net_transport* transport = NULL;
    const net_result result = net_transport_enet_create(&config, &transport);
    if (result != NET_OK) {
        fprintf(stderr, "host: %s\n", net_result_text(result));
        return 1;
    }
    transport->ops->destroy(transport);
    return 0;
}

int main(int argc, char** argv) {
    const base_reporter errors = base_reporter_stderr();
    net_module* module = NULL;
    net_match* match = NULL;
    if (argc != 3) return 2;
    if (listen_once() != 0) return 1;
    if (net_module_open(argv[1], "", &errors, &module) != NET_OK) return 1;
    const net_match_config config = net_match_config_default(module);
    if (net_match_create(&config, &errors, &match) != NET_OK) return 1;
    for (long left = strtol(argv[2], NULL, 10); left > 0; left--)
        net_match_step(match);
    printf("game=%s tick=%" PRIu64 " state_hash=%016" PRIx64 "\n", module->game->name,
           net_match_tick(match), ecs_world_state_hash(net_match_world(match)));
    net_match_destroy(match);
    net_module_close(module);
    return 0;
}
