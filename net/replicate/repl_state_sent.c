// SPDX-License-Identifier: MIT
// After writing: what a replication state stores of a packet that was sent, and the typical sizes
// that it learns from it. Items of a packet are kept while the packet is in flight, and, once it is
// acknowledged, as long as a listed run may name it (NET_REPL_STATE_BACK_MAX packets).
#include "base/assert.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

#include <string.h>

enum {
    AVERAGE_OVER = 8,
    BITS_MIN = 4 * 16, // lower bound of typical sizes; 1/16 bits
};

// ---- packets ----

static void release_items(net_repl_state* repl, net_repl_state_packet* packet) {
    BASE_ARRAY_RELEASE(&repl->replicator->pool.allocator, packet->items, packet->capacity);
    packet->items = NULL;
    packet->count = packet->capacity = packet->row_count = 0;
}

net_repl_state_packet* net_repl_state_begin_packet(net_repl_state* repl, uint16_t seq) {
    net_repl_state_packet* packet = &repl->packets[seq & (NET_REPL_STATE_PACKETS - 1)];
    if (packet->state == NET_PACKET_FLYING) (void)net_repl_state_lost(repl, packet->seq);
    release_items(repl, packet);
    packet->state = NET_PACKET_FREE;
    // From now on no list can name this packet.
    uint16_t old = (uint16_t)(seq - NET_REPL_STATE_BACK_MAX - 1);
    net_repl_state_packet* previous = &repl->packets[old & (NET_REPL_STATE_PACKETS - 1)];
    if (previous->state == NET_PACKET_ACKED && previous->seq == old) release_items(repl, previous);
    return packet;
}

// Few sizes, so that the memory of one packet fits the next.
bool net_repl_state_reserve_items(net_repl_state* repl, net_repl_state_packet* packet,
                                  uint32_t count) {
    BASE_ASSERT(!packet->items && count > 0);
    enum { ITEMS_MIN = 16 };
    uint32_t capacity = ITEMS_MIN;
    while (capacity < count)
        capacity *= 2;
    packet->items =
        base_allocate(&repl->replicator->pool.allocator, capacity * sizeof *packet->items);
    if (packet->items) packet->capacity = capacity;
    return packet->items != NULL;
}

// ---- what was sent ----

// One more send after each acknowledged row: four bytes that stop at 255.
static void count_behind(net_repl_slot* s) {
    uint32_t behind;
    memcpy(&behind, s->behind, sizeof behind);
    uint32_t full = ((behind & 0x7F7F7F7Fu) + 0x01010101u) & behind & 0x80808080u;
    behind += 0x01010101u & ~(full >> 7);
    memcpy(s->behind, &behind, sizeof behind);
}

_Static_assert(NET_REPL_STATE_ACKED == sizeof(uint32_t), "counted together");

static void note_record(net_repl_state* repl, net_repl_slot* s, const net_snapshot_record* record,
                        uint32_t now) {
    net_repl_state_counters* counters = &repl->counters;
    if (s->acked_count > 0 && s->behind[0] == 0) s->first_after_tick = now;
    count_behind(s);
    s->sent_tick = now;
    s->ordinal++;
    s->epoch_sends = (uint16_t)(s->epoch_sends + (s->epoch_sends < UINT16_MAX));
    s->flying++;
    if (record->run >= NET_RUN_FIRST) {
        s->floor_tick = now - record->key.age - record->key.d;
        s->has_floor = true;
        counters->records_update++;
        counters->records_settled += record->key.is_settled;
    } else if (record->run == NET_RUN_DESTROY) {
        counters->records_destroy++;
    } else if (record->run == NET_RUN_CREATE) {
        s->state = NET_REPL_SLOT_CREATE_SENT;
        s->is_known = true;
        counters->records_create++;
    } else {
        counters->records_absolute++;
        counters->resyncs += s->wants_resync;
    }
    s->wants_resync = false;
}

// Sent slots wait no longer.
static void end_waiting(net_repl_state* repl) {
    const uint64_t* chosen = repl->replicator->writer.chosen;
    uint64_t *pending = repl->sets[NET_SET_PENDING], *repeat = repl->sets[NET_SET_REPEAT];
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        uint64_t sent = chosen[w];
        repl->pending_count -= (uint32_t)__builtin_popcountll(pending[w] & sent);
        repl->counters.records_repeated += (uint32_t)__builtin_popcountll(repeat[w] & sent);
        pending[w] &= ~sent;
        repeat[w] &= ~sent;
    }
}

void net_repl_state_note_sent(net_repl_state* repl, net_repl_state_packet* packet) {
    BASE_ASSERT(packet->items && packet->count == 0);
    const net_snapshot_writer* writer = &repl->replicator->writer;
    uint32_t now = (uint32_t)net_replicator_tick(repl->replicator);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < writer->record_count; i++) {
        const net_snapshot_record* record = &writer->records[writer->by_slot[i]];
        net_repl_slot* s = &repl->slots[record->slot];
        note_record(repl, s, record, now);
        uint32_t row = record->run != NET_RUN_DESTROY ? NET_PACKET_ITEM_ROW : 0;
        packet->items[i] = (net_packet_item){
            .slot = record->slot | row, .ordinal = s->ordinal, .classes = record->key.classes};
        rows += row != 0;
    }
    packet->row_count += rows;
    packet->count = writer->record_count;
    end_waiting(repl);
}

// ---- typical sizes ----

// Learn from the measured snapshot: the size of records beside their encoded rows, and typical
// sizes.
void net_repl_state_learn(net_repl_state* repl, uint64_t bits) {
    const net_snapshot_writer* writer = &repl->replicator->writer;
    uint32_t count = writer->record_count;
    if (count < 2) return;
    uint64_t beside = (bits - writer->encoded_bits) * 16 / count;
    repl->overhead_bits += (uint32_t)beside / AVERAGE_OVER;
    repl->overhead_bits -= repl->overhead_bits / AVERAGE_OVER;
    uint64_t sums[2] = {0, 0};
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        if (writer->records[i].run == NET_RUN_DESTROY) continue;
        bool is_create = writer->records[i].run == NET_RUN_CREATE;
        sums[is_create] += writer->records[i].encoded.bits;
        counts[is_create]++;
    }
    uint32_t* typical[2] = {&repl->update_bits, &repl->create_bits};
    for (uint32_t i = 0; i < 2; i++) {
        if (counts[i] == 0) continue;
        uint64_t now = sums[i] * 16 / counts[i] + repl->overhead_bits;
        *typical[i] = (uint32_t)((*typical[i] * (AVERAGE_OVER - 1) + now) / AVERAGE_OVER);
        if (*typical[i] < BITS_MIN) *typical[i] = BITS_MIN;
    }
}
