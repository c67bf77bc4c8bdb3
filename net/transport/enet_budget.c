// SPDX-License-Identifier: MIT
// A flood must not hold up the tick: what comes is read and handed out for a limited time, and no
// longer than until the tick is due. The socket layer asks the clock while it reads, the transport
// at each call of ENet. What is not read stays in the kernel's buffer, what ENet has read stays in
// its queues. In virtual time two counts are the bounds, so that a run is a function of its seed.
#include "transport/enet_budget.h"

#include "net/socket.h"

#pragma weak net_socket_budget_set
#pragma weak net_socket_wall_us

enum {
    PASSES_MAX = 16384,    // calls of ENet per service, events included
    DATAGRAMS_MAX = 16384, // read per service
};

static uint64_t default_wall_us(void* context) {
    (void)context;
    return net_socket_wall_us();
}

void net_enet_budget_init(net_enet_transport* owner, const net_enet_config* config) {
    bool is_virtual = owner->host->socket >= NET_SOCKET_VIRTUAL_FIRST;
    owner->service_us_max =
        config->service_us_max > 0 ? config->service_us_max : NET_SERVICE_US_MAX;
    owner->due_us = UINT64_MAX;
    owner->wall_us = config->wall_us;
    owner->wall_context = config->wall_context;
    if (!owner->wall_us && net_socket_wall_us && !is_virtual) owner->wall_us = default_wall_us;
}

uint64_t net_enet_budget_until(const net_enet_transport* owner) {
    if (!owner->wall_us) return UINT64_MAX;
    uint64_t now_us = owner->wall_us(owner->wall_context);
    uint64_t share_us = owner->due_us > now_us ? owner->due_us - now_us : 0;
    if (share_us < NET_SERVICE_US_MIN) share_us = NET_SERVICE_US_MIN;
    if (share_us > owner->service_us_max) share_us = owner->service_us_max;
    return now_us + share_us;
}

void net_enet_budget_begin(net_enet_transport* owner, uint64_t until_us) {
    const net_socket_budget budget = {.datagrams = DATAGRAMS_MAX,
                                      .until_us = until_us,
                                      .wall_us = owner->wall_us,
                                      .context = owner->wall_context};
    owner->passes_left = PASSES_MAX;
    owner->until_us = until_us;
    if (net_socket_budget_set) net_socket_budget_set(owner->host->socket, &budget);
}

bool net_enet_budget_is_over(net_enet_transport* owner) {
    if (owner->passes_left > 0 &&
        (!owner->wall_us || owner->wall_us(owner->wall_context) < owner->until_us)) {
        owner->passes_left--;
        return false;
    }
    if (owner->passes_left > 0) owner->stats.services_cut++;
    owner->passes_left = 0;
    return true;
}
