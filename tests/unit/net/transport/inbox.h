// SPDX-License-Identifier: MIT
/// What one end of a transport received.
#pragma once

#include "net/transport.h"

#include "test.h"

typedef struct inbox {
    net_peer connected, disconnected;
    uint32_t reason, connects, disconnects, notices;
    uint32_t control_count, realtime_count;
    bool is_out_of_order; ///< control messages are numbers from 0
    size_t largest;
} inbox;

static inline void drain(net_transport* transport, uint64_t now_us, inbox* into) {
    net_transport_event event;
    transport->ops->service(transport, now_us);
    while (transport->ops->next(transport, &event)) {
        if (event.kind == NET_TRANSPORT_CONNECTED) {
            into->connected = event.peer;
            into->connects++;
        } else if (event.kind == NET_TRANSPORT_DISCONNECTED) {
            into->disconnected = event.peer;
            into->reason = event.reason;
            into->disconnects++;
        } else if (event.kind == NET_TRANSPORT_NOTICE) {
            into->reason = event.reason;
            into->notices++;
        } else if (event.channel == NET_CHANNEL_CONTROL) {
            uint32_t number = 0;
            memcpy(&number, event.bytes, event.size < 4 ? event.size : 4);
            into->is_out_of_order |= number != into->control_count++;
        } else {
            into->realtime_count++;
        }
        if (event.kind == NET_TRANSPORT_RECEIVED && event.size > into->largest)
            into->largest = event.size;
    }
    transport->ops->flush(transport);
}

static inline net_result send_number(net_transport* from, net_peer peer, net_channel channel,
                                     uint32_t number) {
    return from->ops->send(from, peer, channel, &number, sizeof number);
}

static inline net_transport_stats stats_of(net_transport* transport) {
    net_transport_stats stats;
    transport->ops->stats(transport, &stats);
    return stats;
}
