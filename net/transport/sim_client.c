// SPDX-License-Identifier: MIT
// A client's end of the simulated network.
#include "net/transport_sim.h"

#include "transport/sim_side.h"

#include "base/assert.h"

#include <string.h>

static net_sim_client_end* client_of(net_transport* transport) {
    return (net_sim_client_end*)transport;
}

static void client_service(net_transport* transport, uint64_t now_us) {
    net_sim_client_end* owner = client_of(transport);
    net_sim_take_back(&owner->endpoint);
    if (now_us > owner->endpoint.now_us) owner->endpoint.now_us = now_us;
}

static bool client_take_control(net_sim_client_end* owner, net_sim_control* message,
                                net_transport_event* event) {
    net_sim_endpoint* here = &owner->endpoint;
    net_sim_side* at = &owner->here;
    here->stats.recv_datagrams++;
    here->stats.recv_bytes += message->size;
    bool is_event = false;
    if (message->epoch == at->epoch && at->state != NET_SIM_SIDE_CLOSED) {
        if (message->kind == NET_SIM_CONTROL_ACCEPT && at->state == NET_SIM_SIDE_CONNECTING) {
            at->state = NET_SIM_SIDE_CONNECTED;
            *event = (net_transport_event){.kind = NET_TRANSPORT_CONNECTED, .peer = at->peer};
            is_event = true;
        } else if (message->kind == NET_SIM_CONTROL_MESSAGE) {
            is_event = net_sim_receive_message(here, message, at, event);
        } else if (message->kind == NET_SIM_CONTROL_GOODBYE) {
            is_event = net_sim_side_close(at, message->reason, event);
        }
    }
    if (here->borrowed != message) net_sim_control_free(here->sim->allocator, message);
    return is_event;
}

static bool client_next(net_transport* transport, net_transport_event* event) {
    net_sim_client_end* owner = client_of(transport);
    net_sim_endpoint* here = &owner->endpoint;
    net_sim_take_back(here);
    for (;;) {
        uint64_t link_us = net_link_next_us(owner->down.link);
        net_sim_control* message = net_sim_path_control_peek(&owner->down, here->now_us);
        if (message && net_sim_is_control_first(message, link_us)) {
            net_sim_path_control_pop(&owner->down);
            if (client_take_control(owner, message, event)) return true;
        } else if (link_us <= here->now_us) {
            if (net_sim_receive_datagram(here, &owner->down, &owner->here, event)) return true;
        } else {
            break;
        }
    }
    if (!net_sim_side_is_over(here, owner, &owner->up, &owner->here)) return false;
    return net_sim_side_close(&owner->here, 0, event);
}

static net_result client_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    net_sim_client_end* owner = client_of(transport);
    net_result result = NET_ERR_CLOSED;
    if (peer != 0 && peer == owner->here.peer)
        result = net_sim_side_send(&owner->endpoint, owner, &owner->here, channel, bytes, size);
    return result;
}

static net_result client_connect(net_transport* transport, const char* address, net_peer* peer) {
    net_sim_client_end* owner = client_of(transport);
    (void)address;
    *peer = 0;
    if (owner->here.state != NET_SIM_SIDE_CLOSED) return NET_ERR_FULL;
    net_sim_side begun = {.state = NET_SIM_SIDE_CONNECTING,
                          .epoch = owner->here.epoch + 1,
                          .since_us = owner->endpoint.now_us};
    net_result result = net_sim_push_control(&owner->endpoint, &owner->up, NET_SIM_CONTROL_CONNECT,
                                             begun.epoch, 0, NULL, 0);
    if (result != NET_OK) return result;
    begun.peer = net_sim_peer_make(0, &owner->generation);
    owner->gone_us = owner->endpoint.sim->server ? UINT64_MAX : owner->endpoint.now_us;
    owner->here = begun;
    *peer = begun.peer;
    return NET_OK;
}

static void client_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    net_sim_client_end* owner = client_of(transport);
    if (peer == 0 || peer != owner->here.peer) return;
    net_sim_side_disconnect(&owner->endpoint, owner, &owner->here, reason, now);
}

static void client_stats(const net_transport* transport, net_transport_stats* stats) {
    const net_sim_client_end* owner = (const net_sim_client_end*)transport;
    *stats = owner->endpoint.stats;
    stats->sim_dropped = net_sim_path_lost(&owner->up) + net_sim_path_lost(&owner->down);
}

// Messages on their way still arrive: the endpoint is destroyed, its paths stay until the server
// has closed the connection.
static void client_destroy(net_transport* transport) {
    net_sim_client_end* owner = client_of(transport);
    net_sim_take_back(&owner->endpoint);
    owner->is_destroyed = true;
    owner->here = (net_sim_side){0};
    if (owner->gone_us == UINT64_MAX) owner->gone_us = owner->endpoint.now_us;
    bool is_idle = owner->there.state == NET_SIM_SIDE_CLOSED && !owner->up.first;
    if (!owner->endpoint.sim->server || is_idle) net_sim_client_free(owner);
}

static const net_transport_ops client_ops = {
    .service = client_service,
    .next = client_next,
    .send = client_send,
    .connect = client_connect,
    .disconnect = client_disconnect,
    .flush = net_sim_flush,
    .stats = client_stats,
    .sockets = net_sim_sockets,
    .destroy = client_destroy,
};

// Each client has a host of its own, in the network for benchmarks (RFC 2544).
static net_address address_of(uint32_t index) {
    const uint8_t host[4] = {198, (uint8_t)(18 + (index >> 16 & 1)), (uint8_t)(index >> 8),
                             (uint8_t)index};
    uint32_t network;
    memcpy(&network, host, sizeof network);
    return net_address_ipv4(network, 40000);
}

net_result net_sim_client(net_sim* sim, const net_link_config* link, net_transport** transport) {
    BASE_ASSERT(sim && link && transport);
    net_sim_client_end* made = base_allocate_zero(sim->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->endpoint = (net_sim_endpoint){.base = {&client_ops}, .sim = sim};
    made->index = sim->client_count;
    made->gone_us = UINT64_MAX;
    made->identity.address = address_of(made->index);
    uint64_t seed = base_hash64_mix(base_hash64_mix(sim->seed, link->seed), made->index);
    net_result result =
        net_sim_path_init(&made->up, sim->allocator, link, base_hash64_mix(seed, 1));
    if (result == NET_OK) {
        result = net_sim_path_init(&made->down, sim->allocator, link, base_hash64_mix(seed, 2));
        if (result != NET_OK) net_link_destroy(made->up.link);
    }
    if (result != NET_OK) {
        base_release(sim->allocator, made, sizeof *made);
        return result;
    }
    sim->client_count++;
    made->hash = seed;
    net_sim_client_end** at = &sim->clients;
    while (*at)
        at = &(*at)->next;
    *at = made;
    *transport = &made->endpoint.base;
    return NET_OK;
}

void net_sim_link_set_pair(net_transport* transport, const net_link_pair* pair) {
    BASE_ASSERT(transport && transport->ops == &client_ops && pair);
    net_sim_client_end* owner = client_of(transport);
    net_sim_path_config_set(&owner->up, &pair->up);
    net_sim_path_config_set(&owner->down, &pair->down);
}

void net_sim_link_set(net_transport* transport, const net_link_config* link) {
    BASE_ASSERT(link);
    net_sim_link_set_pair(transport, &(net_link_pair){.up = *link, .down = *link});
}

void net_sim_identity_set(net_transport* transport, const net_peer_identity* identity) {
    BASE_ASSERT(transport && transport->ops == &client_ops && identity);
    BASE_ASSERT(identity->user_bytes <= NET_USER_BYTES_MAX);
    client_of(transport)->identity = *identity;
}
