// SPDX-License-Identifier: MIT
/// Sequence numbers, acknowledgements, loss and round-trip time; the same for both directions.
///
/// A sender (net_ack_sender) numbers its packets and learns from {ack, 64 ack bits, ack_delay}. A receiver
/// (net_ack_receiver) remembers what it decoded and says so. Plain structs in the caller's storage, no
/// memory of their own. Time is an argument, in microseconds.
/// Source of the estimator: RFC 6298 (srtt, rttvar); of the loss rule: three later ones, as in TCP.
#pragma once

#include "net/limits.h"
#include "net/result.h"

#define NET_ACK_BITS 64u
#define NET_ACK_LATER 3u        ///< so many later acknowledgements declare a packet lost
#define NET_ACK_JUMP_MAX 16384u ///< a packet further ahead than this is not believed
#define NET_RTT_US_MIN 1000u
#define NET_RTT_US_MAX 2000000u

typedef enum net_ack_state {
    NET_ACK_FREE,
    NET_ACK_FLYING,
    NET_ACK_LOST, ///< declared; a late acknowledgement still counts
    NET_ACK_ACKED,
} net_ack_state;

typedef struct net_ack_packet {
    uint64_t sent_us;
    uint16_t seq;
    uint8_t state; ///< net_ack_state
} net_ack_packet;

typedef struct net_ack_sender {
    net_ack_packet packets[NET_PACKETS_IN_FLIGHT_MAX];
    uint64_t count; ///< packets ever sent
    uint16_t next;  ///< seq of the next packet
    uint16_t newest_acked;
    uint16_t heard;       ///< newest packet of the last message that was believed
    uint64_t heard_bits;  ///< and what else it named
    uint64_t heard_count; ///< packets ever sent then; 0: there was none
    bool has_ack;
    bool has_rtt;
    double srtt_us, rttvar_us;
    uint64_t last_ack_us; ///< when something was newly acknowledged; the start until then
    uint64_t acked, lost, late, forged; ///< late: acknowledged after being declared lost
    uint64_t stale;   ///< acknowledgements of what may have been sent half the circle or more ago
    uint64_t settled; ///< packets from the first on of which none flies
} net_ack_sender;

/// What one call found.
typedef struct net_ack_result {
    uint16_t acked[NET_PACKETS_IN_FLIGHT_MAX]; ///< newly, newest first
    uint32_t acked_count;
    uint16_t lost[NET_PACKETS_IN_FLIGHT_MAX]; ///< newly declared, oldest first
    uint32_t lost_count;
} net_ack_result;

/// `first` is the first packet's seq (0 for a connection; tests begin near the wrap).
void net_ack_sender_init(net_ack_sender* send, uint16_t first, uint64_t now_us);
/// A packet goes out: its seq. Whoever flies since NET_PACKETS_IN_FLIGHT_MAX packets is forgotten; tell
/// the view (it counts it as lost itself).
uint16_t net_ack_sender_add(net_ack_sender* send, uint64_t now_us);
/// An acknowledgement came. Declares losses by the rule of three.
/// @return NET_OK; NET_ERR_STALE (nothing of it counts, stale + 1: numbers that lie half the circle back or
///         more, but were sent once - whoever is so late has not done wrong, and once the circle was full no
///         number is surely forged); NET_ERR_MALFORMED (acknowledges what was never sent: nothing of it
///         counts, forged + 1).
BASE_MUST_USE net_result net_ack_sender_receive(net_ack_sender* send, uint64_t now_us, uint16_t ack,
                                                uint64_t ack_bits, uint32_t ack_delay_us,
                                                net_ack_result* result);
/// Does anything fly whose fate is not known?
bool net_ack_sender_is_flying(const net_ack_sender* send);
/// Declare lost what flies longer than srtt + 4 rttvar + two ticks; once per tick.
void net_ack_sender_expire(net_ack_sender* send, uint64_t now_us, uint64_t tick_us,
                           net_ack_result* result);
/// Round trip, within NET_RTT_US_MIN..MAX; 250 ms before the first measurement.
uint64_t net_ack_sender_rtt_us(const net_ack_sender* send);
/// Of the packets whose fate is known.
double net_ack_sender_loss_percent(const net_ack_sender* send);

typedef enum net_ack_fate {
    NET_ACK_NEW,
    NET_ACK_DUPLICATE, ///< decoded before
    NET_ACK_OLD,       ///< too old to be acknowledged, or too far ahead to be believed
} net_ack_fate;

typedef struct net_ack_receiver {
    uint64_t bits;      ///< bit i: newest - 1 - i
    uint64_t newest_us; ///< arrival of newest
    uint64_t span;      ///< packets from the first to the newest
    uint64_t received;
    uint64_t duplicates, old;
    uint16_t newest;
    bool has_any;
} net_ack_receiver;

void net_ack_receiver_init(net_ack_receiver* recv);
/// Look before decoding. Counts duplicates and old ones, changes nothing else.
net_ack_fate net_ack_receiver_check(net_ack_receiver* recv, uint16_t seq);
/// It was decoded completely: acknowledge it from now on. After NET_ACK_NEW.
void net_ack_receiver_mark(net_ack_receiver* recv, uint16_t seq, uint64_t now_us);
/// Microseconds since the newest came, for ack_delay_us; 0 before the first.
uint32_t net_ack_receiver_delay_us(const net_ack_receiver* recv, uint64_t now_us);
/// Of the packets between the first and the newest: those that never came (or could not be decoded).
double net_ack_receiver_loss_percent(const net_ack_receiver* recv);
