// SPDX-License-Identifier: MIT
#include "solo/solo_stats.h"

#include "base/assert.h"

proto_solo_sample* net_solo_room(net_solo_packets* packets) {
    return &packets->samples[packets->next % packets->room];
}

void net_solo_keep(net_solo_packets* packets, uint16_t seq, uint32_t epoch, uint32_t count) {
    packets->at[seq % NET_SOLO_PACKETS] = (net_solo_packet){
        .first = packets->next, .count = count, .epoch = epoch, .seq = seq, .is_known = true};
    packets->next += count;
    uint64_t left = packets->room - packets->next % packets->room;
    if (left < NET_SOLO_SAMPLES_MAX) packets->next += left;
}

const net_solo_packet* net_solo_find(const net_solo_packets* packets, uint16_t seq) {
    const net_solo_packet* packet = &packets->at[seq % NET_SOLO_PACKETS];
    // The room of the next packet is not kept.
    bool is_kept = packets->next + NET_SOLO_SAMPLES_MAX <= packet->first + packets->room;
    return packet->is_known && packet->seq == seq && is_kept ? packet : NULL;
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
        proto_solo_train(model, &packets->samples[packet->first % packets->room], packet->count);
    }
}
