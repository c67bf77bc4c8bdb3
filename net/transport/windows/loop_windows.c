// SPDX-License-Identifier: MIT
// The clocks of net/loop.h, and a socket that keeps its port: what libraries of a client use of
// loop.c and socket_rebind.c. Signals and the wait of a program are those of a program.
#include "net/loop.h"
#include "transport/socket_state.h"

#include <time.h>

uint64_t net_loop_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t net_loop_unix_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

void net_socket_rebind(net_socket_entry* entry) {
    (void)entry;
}
