// SPDX-License-Identifier: MIT
// A program that embeds the library without the socket layer.
#include "net/transport.h"

#include "test.h"

CASE(without_the_socket_layer_no_transport_is_made) {
    net_enet_config config = {.listen = "127.0.0.1:0", .peers_max = 4};
    net_transport* made = NULL;
    assert_int_equal(net_transport_enet_create(&config, &made), NET_ERR_SOCKET);
    config.listen = NULL;
    config.peers_max = 1;
    assert_int_equal(net_transport_enet_create(&config, &made), NET_ERR_SOCKET);
    assert_null(made);
}
