// SPDX-License-Identifier: MIT
// Which statistics a snapshot is read with. Everything here is bounded: an epoch adds at most
// NET_SOLO_TRAINED_MAX packets of at most NET_SOLO_SAMPLES_MAX samples, and each packet once.
#include "solo/solo_receiver.h"

#include "base/assert.h"

enum { EPOCH_MASK = (1 << NET_SOLO_EPOCH_BITS) - 1 };

net_solo_receiver* net_solo_receiver_create(const base_allocator* allocator) {
    net_solo_receiver* made = base_allocate_zero(allocator, sizeof *made);
    made->allocator = allocator;
    made->packets.samples = made->samples;
    made->packets.room = NET_SOLO_RING_CLIENT;
    proto_solo_model_reset(&made->models[0]);
    return made;
}

void net_solo_receiver_destroy(net_solo_receiver* receiver) {
    if (!receiver) return;
    base_release(receiver->allocator, receiver, sizeof *receiver);
}

static net_solo_epoch read_epoch(uint16_t seq, proto_bit_reader* snapshot) {
    net_solo_epoch epoch = {0};
    uint32_t back = (uint32_t)proto_bits_read(snapshot, NET_SOLO_BACK_BITS);
    epoch.newest = (uint16_t)(seq - back);
    epoch.count = (uint32_t)proto_bits_read(snapshot, NET_SOLO_COUNT_BITS) + 1;
    epoch.trained = proto_bits_read(snapshot, epoch.count);
    if (back == 0 || !(epoch.trained & 1)) snapshot->failed = true;
    return epoch;
}

// Are the samples of all of its packets kept?
static bool epoch_has_all(const net_solo_packets* packets, const net_solo_epoch* epoch) {
    for (uint32_t i = 0; i < epoch->count; i++)
        if (epoch->trained >> i & 1 && !net_solo_find(packets, (uint16_t)(epoch->newest - i)))
            return false;
    return true;
}

static net_solo_result begin_epoch(net_solo_receiver* receiver, const net_solo_epoch* next) {
    int16_t after = (int16_t)(uint16_t)(next->newest - receiver->present.newest);
    if (receiver->epoch > 0 && after < (int32_t)next->count) return NET_SOLO_MALFORMED;
    if (!epoch_has_all(&receiver->packets, next)) return NET_SOLO_MISSING;
    proto_solo_model* model = &receiver->models[1 - receiver->present_at];
    *model = receiver->models[receiver->present_at];
    net_solo_train(&receiver->packets, next, model);
    receiver->present_at = 1 - receiver->present_at;
    receiver->present = *next;
    receiver->epoch++;
    return NET_SOLO_OK;
}

net_solo_result net_solo_receiver_begin(net_solo_receiver* receiver, uint16_t seq,
                                        proto_bit_reader* snapshot, proto_solo_coder** coder,
                                        bool** has_failed, bool* is_coded) {
    *coder = NULL;
    *is_coded = false;
    if (!proto_bits_read(snapshot, 1)) return snapshot->failed ? NET_SOLO_MALFORMED : NET_SOLO_OK;
    uint32_t low = (uint32_t)proto_bits_read(snapshot, NET_SOLO_EPOCH_BITS);
    bool is_defined = proto_bits_read(snapshot, 1);
    net_solo_epoch next = {0};
    if (is_defined) next = read_epoch(seq, snapshot);
    *is_coded = proto_bits_read(snapshot, 1);
    if (snapshot->failed) return NET_SOLO_MALFORMED;
    if (is_defined && low == ((receiver->epoch + 1) & EPOCH_MASK)) {
        net_solo_result begun = begin_epoch(receiver, &next);
        if (begun != NET_SOLO_OK) return begun;
    }
    uint32_t at = receiver->present_at;
    receiver->read_epoch = receiver->epoch;
    if (low != (receiver->epoch & EPOCH_MASK)) {
        if (receiver->epoch == 0 || low != ((receiver->epoch - 1) & EPOCH_MASK))
            return NET_SOLO_MISSING;
        receiver->read_epoch--;
        at = 1 - at;
    }
    *coder = &receiver->coder;
    *has_failed = &receiver->coder.failed;
    const proto_solo_model* model = &receiver->models[at];
    proto_solo_sample* samples =
        &receiver->packets.samples[receiver->packets.next % receiver->packets.room];
    if (!*is_coded) {
        proto_solo_begin_sample(*coder, model, samples, NET_SOLO_SAMPLES_MAX);
        return NET_SOLO_OK;
    }
    size_t size = (size_t)(snapshot->size_bits - snapshot->offset_bits) / 8;
    BASE_ASSERT(size <= sizeof receiver->bytes);
    for (size_t i = 0; i < size; i++)
        receiver->bytes[i] = (uint8_t)proto_bits_read(snapshot, 8);
    proto_solo_begin_read(*coder, model, receiver->bytes, size, samples, NET_SOLO_SAMPLES_MAX);
    return NET_SOLO_OK;
}

void net_solo_receiver_row(proto_solo_coder* coder, const net_row_template* row_template,
                           const proto_row_base* base, const uint64_t* third, uint32_t third_ticks,
                           uint64_t* row) {
    const proto_solo_third older = {.row = third, .ticks = third_ticks};
    proto_solo_row(coder, net_solo_template(row_template), &row_template->layout, base,
                   third ? &older : NULL, row);
}

void net_solo_receiver_end(net_solo_receiver* receiver, uint16_t seq) {
    net_solo_keep(&receiver->packets, seq, receiver->read_epoch, receiver->coder.sample_count);
}

// ---- samples ----

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

void net_solo_train(const net_solo_packets* packets, const net_solo_epoch* epoch,
                    proto_solo_model* model) {
    for (uint32_t i = epoch->count; i-- > 0;) {
        if (!(epoch->trained >> i & 1)) continue;
        const net_solo_packet* packet = net_solo_find(packets, (uint16_t)(epoch->newest - i));
        BASE_ASSERT(packet);
        proto_solo_train(model, &packets->samples[packet->first % packets->room], packet->count);
    }
}
