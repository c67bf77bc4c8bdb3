// SPDX-License-Identifier: MIT Acknowledgements. The sender keeps its newest
// NET_PACKETS_IN_FLIGHT_MAX packets in a ring by sequence number. A packet that leaves the ring can
// neither be acknowledged nor lost any more.
//
// A loss is declared by evidence (three later packets are acknowledged) or by time. Both are
// guesses, so an acknowledgement that comes later still counts. Each acknowledgement names 65
// packets, and each packet of the other side has one: a lost acknowledgement only costs time.
//
// Packets that certainly do not fly any more are not looked at again (`settled`), so an idle client
// costs little.
//
// Only the newest acknowledged packet of a message is measured for the round trip: the reported
// delay belongs to that one.
#include "session/acks.h"

#include "base/assert.h"

#include <string.h>

enum {
    RING_MASK = NET_PACKETS_IN_FLIGHT_MAX - 1,
    SEQ_HALF = 0x8000,
};
#define RTT_US_START 250000.0
#define LOSS_BEGIN 655u ///< 1 %: a line has to show that it is better
#define RTTVAR_US_START 125000.0

_Static_assert((NET_PACKETS_IN_FLIGHT_MAX & RING_MASK) == 0, "the ring is indexed by low bits");

void net_ack_sender_init(net_ack_sender* send, uint16_t first, uint64_t now_us) {
    memset(send, 0, sizeof *send);
    send->next = first;
    send->last_ack_us = now_us;
    send->srtt_us = RTT_US_START;
    send->rttvar_us = RTTVAR_US_START;
}

uint16_t net_ack_sender_add(net_ack_sender* send, uint64_t now_us) {
    uint16_t seq = send->next++;
    net_ack_packet* packet = &send->packets[seq & RING_MASK];
    if (packet->state == NET_ACK_FLYING) send->lost++;
    *packet = (net_ack_packet){.sent_us = (uint32_t)now_us, .seq = seq, .state = NET_ACK_FLYING};
    send->count++;
    return seq;
}

static uint32_t age_us(const net_ack_packet* packet, uint64_t now_us) {
    const uint32_t age_us = (uint32_t)now_us - packet->sent_us;
    return age_us <= INT32_MAX ? age_us : 0; // sent at a later time than now
}

typedef enum seq_fate { SEQ_SENT, SEQ_STALE, SEQ_FORGED } seq_fate;

// Packets sent after `seq`; at least `count` when it was never sent.
static seq_fate find_fate(const net_ack_sender* send, uint16_t seq) {
    uint16_t behind = (uint16_t)(send->next - 1 - seq);
    if (behind >= send->count) return SEQ_FORGED;
    return behind < SEQ_HALF ? SEQ_SENT : SEQ_STALE;
}

// The worst result of all packets that the message names.
static seq_fate find_worst_fate(const net_ack_sender* send, uint16_t ack, uint64_t ack_bits) {
    uint16_t behind = (uint16_t)(send->next - 1 - ack);
    // Numbers did not wrap yet, so the oldest one decides.
    if (behind < SEQ_HALF - NET_ACK_BITS - 1u) {
        uint32_t oldest = ack_bits ? 64u - (uint32_t)__builtin_clzll(ack_bits) : 0;
        return behind + oldest >= send->count ? SEQ_FORGED : SEQ_SENT;
    }
    seq_fate worst = find_fate(send, ack);
    for (uint64_t bits = ack_bits; bits; bits &= bits - 1) {
        seq_fate fate = find_fate(send, (uint16_t)(ack - 1 - __builtin_ctzll(bits)));
        if (fate > worst) worst = fate;
    }
    return worst;
}

// The packets that a message names and the previous message did not.
static uint64_t unheard(const net_ack_sender* send, uint16_t ack, uint64_t ack_bits) {
    uint16_t ahead = (uint16_t)(ack - send->believed);
    bool is_recent = send->believed_count > 0 && send->count - send->believed_count < SEQ_HALF;
    if (!is_recent || ahead >= NET_ACK_BITS) return ack_bits;
    if (ahead == 0) return ack_bits & ~send->believed_bits;
    return ack_bits & ~(send->believed_bits << ahead | UINT64_C(1) << (ahead - 1));
}

static net_ack_packet* find_packet(net_ack_sender* send, uint16_t seq) {
    net_ack_packet* packet = &send->packets[seq & RING_MASK];
    return packet->state != NET_ACK_FREE && packet->seq == seq ? packet : NULL;
}

static void measure(net_ack_sender* send, double sample_us) {
    if (sample_us < NET_RTT_US_MIN) sample_us = NET_RTT_US_MIN;
    if (sample_us > NET_RTT_US_MAX) sample_us = NET_RTT_US_MAX;
    if (!send->has_rtt) {
        send->has_rtt = true;
        send->srtt_us = sample_us;
        send->rttvar_us = sample_us / 2;
        return;
    }
    double error = sample_us - send->srtt_us;
    send->rttvar_us += ((error < 0 ? -error : error) - send->rttvar_us) / 4;
    send->srtt_us += error / 8;
}

static bool acknowledge_packet(net_ack_sender* send, uint16_t seq, uint64_t now_us,
                               net_ack_result* result) {
    net_ack_packet* packet = find_packet(send, seq);
    if (!packet || packet->state == NET_ACK_ACKED) return false;
    if (packet->state == NET_ACK_LOST) {
        send->late++;
        send->lost--;
    }
    packet->state = NET_ACK_ACKED;
    send->acked++;
    send->last_ack_us = now_us;
    result->acked[result->acked_count++] = seq;
    return true;
}

// Number of packets from the newest back to the oldest that may fly.
static uint32_t unsettled(net_ack_sender* send) {
    if (send->settled == send->count) return 0;
    const uint64_t count =
        send->count < NET_PACKETS_IN_FLIGHT_MAX ? send->count : NET_PACKETS_IN_FLIGHT_MAX;
    if (send->settled + count < send->count) send->settled = send->count - count;
    while (send->settled < send->count) {
        const net_ack_packet* packet =
            find_packet(send, (uint16_t)(send->next - (send->count - send->settled)));
        if (packet && packet->state == NET_ACK_FLYING) break;
        send->settled++;
    }
    return (uint32_t)(send->count - send->settled);
}

static void declare_lost(net_ack_sender* send, net_ack_packet* packet, net_ack_result* result) {
    packet->state = NET_ACK_LOST;
    send->lost++;
    result->lost[result->lost_count++] = packet->seq;
}

static void lose_overtaken(net_ack_sender* send, net_ack_result* result) {
    uint32_t later = 0;
    uint32_t count = unsettled(send);
    for (uint32_t i = 1; i <= count; i++) {
        net_ack_packet* packet = find_packet(send, (uint16_t)(send->next - i));
        if (!packet) break;
        if (packet->state == NET_ACK_ACKED)
            later++;
        else if (packet->state == NET_ACK_FLYING && later >= NET_ACK_LATER)
            declare_lost(send, packet, result);
    }
    for (uint32_t i = 0; i + i + 1 < result->lost_count; i++) {
        uint16_t item = result->lost[i];
        result->lost[i] = result->lost[result->lost_count - 1 - i];
        result->lost[result->lost_count - 1 - i] = item;
    }
}

net_result net_ack_sender_receive(net_ack_sender* send, uint64_t now_us, uint16_t ack,
                                  uint64_t ack_bits, uint32_t ack_delay_us,
                                  net_ack_result* result) {
    result->acked_count = 0;
    result->lost_count = 0;
    const bool is_known = send->believed_count == send->count && send->count > 0 &&
                          send->believed == ack && send->believed_bits == ack_bits;
    if (is_known) return NET_OK; // nothing was sent since it said the same
    switch (find_worst_fate(send, ack, ack_bits)) {
    case SEQ_SENT:
        break;
    case SEQ_STALE:
        send->stale++;
        return NET_ERR_STALE;
    case SEQ_FORGED:
        send->forged++;
        return NET_ERR_MALFORMED;
    }
    if (acknowledge_packet(send, ack, now_us, result)) {
        const net_ack_packet* packet = find_packet(send, ack);
        measure(send, (double)age_us(packet, now_us) - (double)ack_delay_us);
        if (!send->has_ack || (uint16_t)(ack - send->newest_acked) < SEQ_HALF)
            send->newest_acked = ack;
        send->has_ack = true;
    }
    for (uint64_t bits = unheard(send, ack, ack_bits); bits; bits &= bits - 1)
        (void)acknowledge_packet(send, (uint16_t)(ack - 1 - __builtin_ctzll(bits)), now_us, result);
    send->believed_count = send->count;
    send->believed = ack;
    send->believed_bits = ack_bits;
    if (result->acked_count > 0) lose_overtaken(send, result);
    (void)unsettled(send);
    return NET_OK;
}

void net_ack_sender_expire(net_ack_sender* send, uint64_t now_us, uint64_t tick_us,
                           net_ack_result* result) {
    result->acked_count = 0;
    result->lost_count = 0;
    double limit_us = send->srtt_us + 4 * send->rttvar_us + 2 * (double)tick_us;
    for (uint32_t i = unsettled(send); i >= 1; i--) {
        net_ack_packet* packet = find_packet(send, (uint16_t)(send->next - i));
        if (!packet || packet->state != NET_ACK_FLYING) continue;
        if ((double)age_us(packet, now_us) <= limit_us) break; // the following ones are younger
        declare_lost(send, packet, result);
    }
    (void)unsettled(send);
}

uint64_t net_ack_sender_waited_us(const net_ack_sender* send, uint64_t now_us) {
    const uint16_t first = (uint16_t)(send->newest_acked + 1);
    const net_ack_packet* packet = &send->packets[first & RING_MASK];
    const uint16_t flying = (uint16_t)(send->next - first);
    if (!send->has_ack || flying == 0 || flying >= SEQ_HALF) return 0;
    // Out of the ring: it waits for so long that the oldest one there will do.
    if (packet->seq != first) packet = &send->packets[send->next & RING_MASK];
    return age_us(packet, now_us);
}

uint64_t net_ack_sender_rtt_us(const net_ack_sender* send) {
    return (uint64_t)send->srtt_us;
}

net_ack_fate net_ack_receiver_check(net_ack_receiver* recv, uint16_t seq) {
    if (!recv->has_any) return NET_ACK_NEW;
    uint16_t ahead = (uint16_t)(seq - recv->newest);
    if (ahead == 0) {
        recv->duplicates++;
        return NET_ACK_DUPLICATE;
    }
    if (ahead <= NET_ACK_JUMP_MAX) return NET_ACK_NEW;
    uint16_t behind = (uint16_t)(recv->newest - seq);
    if (behind > NET_ACK_BITS) {
        recv->old++;
        return NET_ACK_OLD;
    }
    if (recv->bits >> (behind - 1) & 1) {
        recv->duplicates++;
        return NET_ACK_DUPLICATE;
    }
    return NET_ACK_NEW;
}

void net_ack_receiver_mark(net_ack_receiver* recv, uint16_t seq, uint64_t now_us) {
    recv->received++;
    if (!recv->has_any) {
        recv->has_any = true;
        recv->newest = seq;
        recv->newest_us = now_us;
        recv->span = 1;
        recv->loss = LOSS_BEGIN;
        return;
    }
    uint16_t ahead = (uint16_t)(seq - recv->newest);
    if (ahead >= 1 && ahead <= NET_ACK_JUMP_MAX) {
        recv->bits = ahead < NET_ACK_BITS ? recv->bits << ahead : 0;
        if (ahead <= NET_ACK_BITS) recv->bits |= UINT64_C(1) << (ahead - 1);
        recv->newest = seq;
        recv->newest_us = now_us;
        recv->span += ahead;
        // A packet counts as lost when enough later ones came first: jitter rarely does.
        for (uint32_t i = 8 + (ahead < 56 ? ahead : 56); i-- > 8;) {
            if (i + 2 > recv->span) continue;
            const uint32_t sample = recv->bits >> i & 1 ? 0 : 65536;
            recv->loss = (127 * recv->loss + sample) / 128;
        }
        return;
    }
    uint16_t behind = (uint16_t)(recv->newest - seq);
    BASE_ASSERT(behind >= 1 && behind <= NET_ACK_BITS);
    BASE_ASSERT(!(recv->bits >> (behind - 1) & 1));
    recv->bits |= UINT64_C(1) << (behind - 1);
    if (behind >= recv->span) recv->span = behind + 1u; // older than the first packet that came
}

uint32_t net_ack_receiver_delay_us(const net_ack_receiver* recv, uint64_t now_us) {
    if (!recv->has_any || now_us <= recv->newest_us) return 0;
    uint64_t delay_us = now_us - recv->newest_us;
    return delay_us < UINT32_MAX ? (uint32_t)delay_us : UINT32_MAX;
}

double net_ack_receiver_loss_percent(const net_ack_receiver* recv) {
    if (recv->span == 0) return 0;
    return 100.0 * (double)(recv->span - recv->received) / (double)recv->span;
}
