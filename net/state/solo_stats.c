// SPDX-License-Identifier: MIT
#include "state/solo_stats.h"

#include "base/assert.h"

#include <string.h>

bool net_solo_keep(net_solo_packets* packets, const base_allocator* allocator, uint16_t seq,
                   uint32_t epoch, const proto_solo_sample* samples, uint32_t count) {
    net_solo_packet* packet = &packets->at[seq % NET_SOLO_PACKETS];
    packet->is_known = false;
    if (!BASE_ARRAY_RESERVE(allocator, packet->samples, packet->capacity, count)) return false;
    if (count > 0) memcpy(packet->samples, samples, count * sizeof *samples);
    packet->count = count;
    packet->epoch = epoch;
    packet->seq = seq;
    packet->is_known = true;
    return true;
}

const net_solo_packet* net_solo_find(const net_solo_packets* packets, uint16_t seq) {
    const net_solo_packet* packet = &packets->at[seq % NET_SOLO_PACKETS];
    return packet->is_known && packet->seq == seq ? packet : NULL;
}

bool net_solo_has_all(const net_solo_packets* packets, const net_solo_epoch* epoch) {
    for (uint32_t i = 0; i < epoch->count; i++)
        if (epoch->trained >> i & 1 && !net_solo_find(packets, (uint16_t)(epoch->newest - i)))
            return false;
    return true;
}

void net_solo_train(const net_solo_packets* packets, const net_solo_epoch* epoch,
                    proto_solo_model* model) {
    for (uint32_t i = epoch->count; i-- > 0;) {
        if (!(epoch->trained >> i & 1)) continue;
        const net_solo_packet* packet = net_solo_find(packets, (uint16_t)(epoch->newest - i));
        BASE_ASSERT(packet);
        proto_solo_train(model, packet->samples, packet->count);
    }
}

void net_solo_release(net_solo_packets* packets, const base_allocator* allocator) {
    for (uint32_t i = 0; i < NET_SOLO_PACKETS; i++)
        BASE_ARRAY_RELEASE(allocator, packets->at[i].samples, packets->at[i].capacity);
}
