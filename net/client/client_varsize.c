// SPDX-License-Identifier: MIT
// Variable-size components of a client: from the control channel into the mirror and the presenter.
//
// Acknowledgements are gathered during a service and sent in one message. A waiting value that was
// evicted, here or in the presenter, is reported as lost; the server sends it again.
#include "client/client_varsize.h"

#include "client/client_session.h"
#include "client/client_state.h"
#include "mirror/mirror.h"
#include "present/presenter_feed.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "net/match.h"

#define LOST_PER_ACK 64u

// What the mirror knows of an index; `context` is the client. A net_known_incarnation_fn.
static bool known_incarnation(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const net_client* client = context;
    return net_mirror_known_incarnation(client->mirror, index, handle, tick);
}

// A net_varsize_keep_fn of a thin client.
static net_result keep_value(void* context, ecs_entity entity, ecs_component_id component,
                             const void* bytes, uint32_t size) {
    const net_client* client = context;
    return net_mirror_keep_value(client->mirror, entity, component, bytes, size);
}

net_result net_client_open_varsize(net_client* client, uint32_t index_max) {
    BASE_ASSERT(client->mirror && !client->varsize);
    const net_varsize_receiver_config config = {
        .allocator = client->allocator,
        .world = net_match_world(client->config.match),
        .rows = client->rows,
        .keep = client->config.is_thin ? keep_value : NULL,
        .keep_context = client,
        .index_max = index_max,
        .known = known_incarnation,
        .known_context = client,
    };
    client->inbox.find_known = known_incarnation;
    client->inbox.find_known_context = client;
    return net_varsize_receiver_create(&config, &client->varsize);
}

static bool next_lost(net_client* client, net_varsize_lost* lost) {
    if (net_varsize_receiver_next_evicted(client->varsize, lost)) return true;
    return client->config.presenter && net_presenter_next_evicted(client->config.presenter, lost);
}

static void send_ack(net_client* client, const net_varsize_lost* lost, uint32_t lost_count) {
    BASE_ASSERT(client->varsize_ack_count <= NET_VARSIZE_FLIGHT_MAX && lost_count <= LOST_PER_ACK);
    Shoal__Wire__VarsizeLost entries[LOST_PER_ACK];
    Shoal__Wire__VarsizeLost* pointers[LOST_PER_ACK];
    for (uint32_t i = 0; i < lost_count; i++) {
        shoal__wire__varsize_lost__init(&entries[i]);
        entries[i].entity = lost[i].handle;
        entries[i].component = lost[i].number;
        entries[i].version = lost[i].version;
        pointers[i] = &entries[i];
    }
    Shoal__Wire__VarsizeAck ack = SHOAL__WIRE__VARSIZE_ACK__INIT;
    ack.n_versions = client->varsize_ack_count;
    ack.versions = client->varsize_acks;
    ack.n_lost = lost_count;
    ack.lost = pointers;
    Shoal__Wire__ClientControl control = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_VARSIZE_ACK;
    control.varsize_ack = &ack;
    (void)net_client_send_control(client, &control);
}

void net_client_ack_varsize(net_client* client) {
    if (!client->varsize || client->phase != NET_CLIENT_PLAYING || !client->has_peer) return;
    for (;;) {
        net_varsize_lost lost[LOST_PER_ACK];
        uint32_t lost_count = 0;
        while (lost_count < LOST_PER_ACK && next_lost(client, &lost[lost_count]))
            lost_count++;
        if (lost_count == 0 && client->varsize_ack_count == 0) return;
        send_ack(client, lost, lost_count);
        client->varsize_ack_count = 0;
    }
}

void net_client_receive_varsize(net_client* client, const Shoal__Wire__VarsizeValue* value) {
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
        net_client_overrun(client, result);
        return;
    }
    BASE_ASSERT(client->varsize_ack_count < NET_VARSIZE_FLIGHT_MAX);
    client->varsize_acks[client->varsize_ack_count++] = message.version;
    if (client->varsize_ack_count == NET_VARSIZE_FLIGHT_MAX) net_client_ack_varsize(client);
}
