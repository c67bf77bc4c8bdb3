// SPDX-License-Identifier: MIT
// Large values on a client: from the control channel into the mirror, and into what is shown.
//
// Acknowledgements are gathered while the client is serviced and go in one message. What had no room while it
// waited, here or in the view, is told as lost; the server sends it again.
#include "client/client_internal.h"

#include "session/control.h"

bool net_client_told(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const net_client* client = context;
    return net_mirror_known_life(client->mirror, index, handle, tick);
}

net_result net_client_open_varsize(net_client* client, uint32_t index_max) {
    const net_varsize_receiver_config config = {
        .allocator = client->allocator,
        .world = net_match_world(client->config.match),
        .rows = client->rows,
        .index_max = index_max,
        .told = net_client_told,
        .told_context = client,
    };
    client->inbox.told = net_client_told;
    client->inbox.told_context = client;
    return net_varsize_receiver_create(&config, &client->varsize);
}

static bool next_lost(net_client* client, net_varsize_lost* lost) {
    if (net_varsize_receiver_next_evicted(client->varsize, lost)) return true;
    return client->config.presenter && net_presenter_next_evicted(client->config.presenter, lost);
}

void net_client_answer_varsize(net_client* client) {
    if (!client->varsize || client->phase != NET_CLIENT_PLAYING || !client->has_peer) return;
    for (;;) {
        net_varsize_lost lost[NET_VARSIZE_LOST_PER_ACK];
        uint32_t lost_count = 0;
        while (lost_count < NET_VARSIZE_LOST_PER_ACK && next_lost(client, &lost[lost_count]))
            lost_count++;
        if (lost_count == 0 && client->varsize_ack_count == 0) return;
        (void)net_control_send_varsize_ack(client->config.transport, client->peer,
                                           client->varsize_acks, client->varsize_ack_count, lost,
                                           lost_count);
        client->varsize_ack_count = 0;
    }
}

void net_client_take_varsize(net_client* client, const Shoal__Wire__VarsizeValue* value) {
    const net_varsize_message message = {
        .handle = value->entity,
        .number = value->component,
        .version = value->version,
        .since = value->since,
        .is_default = value->is_default,
        .bytes = value->value.data,
        .size = (uint32_t)value->value.len,
    };
    net_result result = net_varsize_receiver_receive(client->varsize, &message);
    if (result == NET_ERR_MALFORMED) {
        net_client_malformed(client);
        return;
    }
    if (result == NET_OK && client->config.presenter)
        net_presenter_varsize(client->config.presenter, &message);
    if (result != NET_OK) {
        net_client_finish(client, NET_CLIENT_END_LOST);
        return;
    }
    client->varsize_acks[client->varsize_ack_count++] = message.version;
    if (client->varsize_ack_count == NET_VARSIZE_FLIGHT_MAX) net_client_answer_varsize(client);
}
