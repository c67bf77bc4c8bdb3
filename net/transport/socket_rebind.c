// SPDX-License-Identifier: MIT
// A NAT that forgets a mapping gives the next datagram another source port. Here the socket itself
// gets one: a fresh socket takes the place of the old one under the same descriptor, so that ENet,
// ppoll and the guard notice nothing. Datagrams that the old one had received and ENet had not read
// are lost, as they are behind a NAT.
#define _GNU_SOURCE

#include "transport/socket_state.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static void copy_option(int from, int to, int level, int option, int divisor) {
    int value = 0;
    socklen_t size = sizeof value;
    if (getsockopt(from, level, option, &value, &size) != 0) return;
    value /= divisor;
    (void)setsockopt(to, level, option, &value, sizeof value);
}

static bool replace(int descriptor, bool is_ipv6) {
    int fresh = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fresh < 0) return false;
    // The kernel reports twice the buffer that it was asked for.
    copy_option(descriptor, fresh, SOL_SOCKET, SO_RCVBUF, 2);
    copy_option(descriptor, fresh, SOL_SOCKET, SO_SNDBUF, 2);
    if (is_ipv6) copy_option(descriptor, fresh, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    bool is_done = dup3(fresh, descriptor, O_CLOEXEC) >= 0;
    (void)close(fresh);
    return is_done;
}

void net_socket_rebind(net_socket_entry* entry) {
    if (entry->is_server) return;
    const net_socket_calls* calls = net_socket_get_state()->calls;
    for (uint32_t i = 0; i < entry->pipe_count; i++) {
        net_socket_pipe* pipe = entry->pipes[i];
        net_socket_pipe_flush(pipe, &entry->stats);
        const int descriptor = net_socket_pipe_descriptor(pipe);
        if (!(calls ? calls->rebind(descriptor)
                    : replace(descriptor, net_socket_pipe_is_ipv6(pipe))))
            entry->stats.socket_errors++; // the old port stays
    }
}
