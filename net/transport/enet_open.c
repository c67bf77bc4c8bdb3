// SPDX-License-Identifier: MIT
// Opening: from the configuration of a transport to an ENet host, bound, with its limits set.
// transport/ENET.md says why each limit is set.
#include "transport/enet_budget.h"
#include "transport/enet_peers.h"

#include "net/socket.h"

#include "base/assert.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

// Defined only in programs that link the socket layer; without it no transport is made.
#pragma weak net_socket_is_installed
#pragma weak net_socket_plan_next
#pragma weak net_socket_descriptors

enum {
    WAITING_BYTES_MAX = 64 * 1024,
    SERVER_BATCH = 64, // datagrams of one system call
    CLIENT_BATCH = 8,
    LISTEN_BYTES_MAX = 600, // of two addresses as text
};

uint32_t net_enet_list_descriptors(int descriptor, int* descriptors, uint32_t capacity) {
    int found[NET_SOCKET_ADDRESSES_MAX];
    uint32_t count = net_socket_descriptors(descriptor, found);
    if (count > capacity) count = capacity;
    if (count > 0) memcpy(descriptors, found, count * sizeof *found);
    return count;
}

void net_enet_size_buffers(int descriptor) {
    (void)enet_socket_set_option(descriptor, ENET_SOCKOPT_RCVBUF, NET_ENET_SOCKET_BYTES);
    (void)enet_socket_set_option(descriptor, ENET_SOCKOPT_SNDBUF, NET_ENET_SOCKET_BYTES);
}

static void host_init(net_enet_transport* owner) {
    ENetHost* host = owner->host;
    // ENet adds the host's address in memory, so runs of the same seed would differ.
    host->randomSeed = enet_host_random_seed();
    host->mtu = NET_MTU_BYTES; // for peers that are reset; the others have copies already
    for (uint32_t i = 0; i < owner->slot_count; i++)
        host->peers[i].mtu = NET_MTU_BYTES;
    host->peers[0].data = owner;
    host->maximumPacketSize = NET_CONTROL_BYTES_MAX;
    host->maximumWaitingData = WAITING_BYTES_MAX;
    host->duplicatePeers = 1; // a session has one connection
    host->intercept = net_enet_intercept;
    net_enet_size_buffers(host->socket);
}

// "ADDR:PORT" or "ADDR:PORT,ADDR:PORT": one address, or one of each family.
static net_result listen_resolve(const net_enet_config* config, net_socket_plan* plan) {
    char copy[LISTEN_BYTES_MAX];
    if (!base_text_copy(copy, sizeof copy, config->listen)) return NET_ERR_ADDRESS;
    char* comma = strchr(copy, ',');
    if (comma) *comma = '\0';
    plan->listen_count = comma ? 2 : 1;
    if (net_address_resolve_one(config->resolver, copy, &plan->listen[0]) != NET_OK)
        return NET_ERR_ADDRESS;
    if (!comma) return NET_OK;
    if (net_address_resolve_one(config->resolver, comma + 1, &plan->listen[1]) != NET_OK)
        return NET_ERR_ADDRESS;
    return net_address_is_ipv4(&plan->listen[0]) != net_address_is_ipv4(&plan->listen[1])
               ? NET_OK
               : NET_ERR_ADDRESS;
}

// ENet calls abort by itself. With this its functions return NULL, and each caller in ENet and here
// takes that for a loss: a reliable message that was not taken is sent again.
static void ENET_CALLBACK go_on_without_memory(void) {}

net_result net_enet_plan_listen(const net_enet_config* config, net_socket_plan* plan) {
    if (listen_resolve(config, plan) != NET_OK) return NET_ERR_ADDRESS;
    for (uint32_t i = 0; i < plan->listen_count; i++)
        if (!net_enet_secure_may_listen(&config->security, &plan->listen[i]))
            return NET_ERR_REFUSED;
    return NET_OK;
}

bool net_enet_is_ready(void) {
    const ENetCallbacks callbacks = {.no_memory = go_on_without_memory};
    if (enet_initialize_with_callbacks(ENET_VERSION, &callbacks) != 0) return false;
    return net_socket_is_installed && net_socket_is_installed();
}

net_result net_enet_host_open(net_enet_transport* owner, const net_enet_config* config,
                              const net_enet_secure* trunk) {
    net_socket_plan plan = {.batch = config->listen ? SERVER_BATCH : CLIENT_BATCH,
                            .is_lane = trunk != NULL,
                            .trunk = trunk ? trunk->descriptor : -1};
    net_result result = config->listen && !trunk ? net_enet_plan_listen(config, &plan) : NET_OK;
    if (result != NET_OK) return result;
    if (!net_enet_is_ready()) return NET_ERR_SOCKET;
    const net_address* at = &plan.listen[0];
    ENetAddress address = {.host = net_address_ipv4_host(at), .port = at->port};
    net_socket_plan_next(&plan);
    errno = 0;
    owner->host = enet_host_create(config->listen ? &address : NULL, owner->slot_count,
                                   NET_ENET_CHANNELS, 0, 0);
    if (owner->host) {
        host_init(owner);
        net_enet_budget_init(owner, config);
        if (!trunk) return net_enet_secure_init(&owner->secure, owner->host->socket, config);
        net_enet_secure_init_lane(&owner->secure, owner->host->socket, trunk);
        return NET_OK;
    }
    if (errno == ENOMEM) return NET_ERR_MEMORY;
    return config->listen ? NET_ERR_BIND : NET_ERR_SOCKET;
}
