// SPDX-License-Identifier: MIT
// A socket that keeps its port: what libraries of a client use of socket_rebind.c.
#include "transport/socket_state.h"

void net_socket_rebind(net_socket_entry* entry) {
    (void)entry;
}
