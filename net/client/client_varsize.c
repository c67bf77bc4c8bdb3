// SPDX-License-Identifier: MIT
// Large values on a client: from the control channel into the mirror, and into what is shown.
//
// Acknowledgements are gathered while the client is serviced and go in one message. What had no room while it
// waited, here or in the view, is told as lost; the server sends it again.
#include "client/client_internal.h"

#include "session/control.h"

bool net_client_told(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const net_client* client = context;
    return net_mirror_told(client->mirror, index, handle, tick);
}

net_result net_client_open_large(net_client* client, uint32_t index_max) {
    const net_large_client_config config = {
        .allocator = client->allocator,
        .world = net_match_world(client->config.match),
        .rows = client->rows,
        .index_max = index_max,
        .told = net_client_told,
        .told_context = client,
    };
    client->inbox.told = net_client_told;
    client->inbox.told_context = client;
    return net_large_client_create(&config, &client->large);
}

static bool next_lost(net_client* client, net_large_lost* lost) {
    if (net_large_client_next_evicted(client->large, lost)) return true;
    return client->config.viewer && net_viewer_next_evicted(client->config.viewer, lost);
}

void net_client_answer_large(net_client* client) {
    if (!client->large || client->phase != NET_CLIENT_PLAYING || !client->has_peer) return;
    for (;;) {
        net_large_lost lost[NET_LARGE_LOST_PER_ACK];
        uint32_t lost_count = 0;
        while (lost_count < NET_LARGE_LOST_PER_ACK && next_lost(client, &lost[lost_count]))
            lost_count++;
        if (lost_count == 0 && client->large_ack_count == 0) return;
        (void)net_control_send_large_ack(client->config.transport, client->peer, client->large_acks,
                                         client->large_ack_count, lost, lost_count);
        client->large_ack_count = 0;
    }
}

void net_client_take_large(net_client* client, const Shoal__Wire__LargeValue* value) {
    const net_large_message message = {
        .handle = value->entity,
        .number = value->component,
        .version = value->version,
        .since = value->since,
        .is_default = value->is_default,
        .bytes = value->value.data,
        .size = (uint32_t)value->value.len,
    };
    net_result result = net_large_client_receive(client->large, &message);
    if (result == NET_ERR_MALFORMED) {
        net_client_malformed(client);
        return;
    }
    if (result == NET_OK && client->config.viewer)
        net_viewer_large(client->config.viewer, &message);
    if (result != NET_OK) {
        net_client_finish(client, NET_CLIENT_END_LOST);
        return;
    }
    client->large_acks[client->large_ack_count++] = message.version;
    if (client->large_ack_count == NET_LARGE_FLIGHT_MAX) net_client_answer_large(client);
}
