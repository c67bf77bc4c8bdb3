// SPDX-License-Identifier: MIT
// A program that links the socket layer while libenet does not call it (a static libenet, or one
// that is bound in another way). This file plays the layer below.
#include "net/socket.h"
#include "net/transport.h"

#include "test.h"

bool net_socket_is_installed(void) {
    return false;
}

CASE(a_socket_layer_that_does_not_work_is_an_error_and_not_an_exit) {
    net_transport* made = NULL;
    net_enet_config client = {.peers_max = 1};
    assert_int_equal(net_transport_enet_create(&client, &made), NET_ERR_SOCKET);
    net_enet_config server = {.listen = "127.0.0.1:0", .peers_max = 1};
    assert_int_equal(net_transport_enet_create(&server, &made), NET_ERR_SOCKET);
    assert_null(made);
}
