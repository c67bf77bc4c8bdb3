// SPDX-License-Identifier: MIT
/// Sequence numbers, acknowledgements, loss and round-trip time; the same for both directions.
///
/// A net_ack_sender numbers packets and reads {ack, 64 ack bits, ack_delay} of the other side. A
/// net_ack_receiver remembers which packets were decoded. Plain structs in the caller's storage.
/// Time is an argument, in microseconds. Sources: RFC 6298 for srtt and rttvar; TCP for the rule
/// that three later acknowledgements declare a loss.
#pragma once

#include "net/limits.h"
#include "net/result.h"

#define NET_ACK_BITS 64u
#define NET_ACK_LATER 3u        ///< later acknowledgements that declare a packet lost
#define NET_ACK_JUMP_MAX 16384u ///< a packet further ahead than this is not believed
#define NET_RTT_US_MIN 1000u
#define NET_RTT_US_MAX 2000000u

typedef enum net_ack_state {
    NET_ACK_FREE,
    NET_ACK_FLYING,
    NET_ACK_LOST, ///< declared lost; a late acknowledgement still counts
    NET_ACK_ACKED,
} net_ack_state;

typedef struct net_ack_packet {
    uint32_t sent_us; ///< its low bits: none flies for half an hour
    uint16_t seq;
    uint8_t state; ///< net_ack_state
} net_ack_packet;

typedef struct net_ack_sender {
    // What a message changes that names nothing new: one cache line.
    uint64_t count;   ///< packets ever sent
    uint64_t settled; ///< of the first packets, this many do not fly any more
    uint16_t next;    ///< seq of the next packet
    uint16_t newest_acked;
    uint16_t believed; ///< newest packet that the last believed message named
    bool has_ack;
    bool has_rtt;
    uint64_t believed_bits;  ///< its ack bits
    uint64_t believed_count; ///< value of `count` then; 0: there was no message
    double srtt_us, rttvar_us;
    uint64_t last_ack_us; ///< when a packet was newly acknowledged; before: the start
    net_ack_packet packets[NET_PACKETS_IN_FLIGHT_MAX];
    uint64_t acked, lost, late, forged; ///< late: acknowledged after being declared lost
    uint64_t stale; ///< acknowledgements of packets that are half the circle or more old
} net_ack_sender;

/// The packets whose state one call changed.
typedef struct net_ack_result {
    uint16_t acked[NET_PACKETS_IN_FLIGHT_MAX]; ///< newest first
    uint32_t acked_count;
    uint16_t lost[NET_PACKETS_IN_FLIGHT_MAX]; ///< oldest first
    uint32_t lost_count;
} net_ack_result;

/// `first` is the seq of the first packet: 0, or near the wrap in tests.
void net_ack_sender_init(net_ack_sender* send, uint16_t first, uint64_t now_us);
/// A packet is sent. @return its seq. A packet that still flies after NET_PACKETS_IN_FLIGHT_MAX
/// later ones leaves the ring; the replication state counts it as lost by itself.
uint16_t net_ack_sender_add(net_ack_sender* send, uint64_t now_us);
/// An acknowledgement came. Declares losses by the rule of three.
/// @return NET_OK; NET_ERR_STALE (ignored, stale + 1: it names packets that are half the circle or
///         more old; so late an acknowledgement breaks no rule, and once the circle was full no
///         number is certainly forged); NET_ERR_MALFORMED (ignored, forged + 1: it names a packet
///         that was never sent; a strike).
BASE_MUST_USE net_result net_ack_sender_receive(net_ack_sender* send, uint64_t now_us, uint16_t ack,
                                                uint64_t ack_bits, uint32_t ack_delay_us,
                                                net_ack_result* result);
/// Declare packets lost that fly longer than srtt + 4 rttvar + two ticks. Call it once per tick.
void net_ack_sender_expire(net_ack_sender* send, uint64_t now_us, uint64_t tick_us,
                           net_ack_result* result);
/// How long the oldest packet that is newer than all acknowledged ones has waited; 0: there is
/// none, or none was acknowledged yet.
uint64_t net_ack_sender_waited_us(const net_ack_sender* send, uint64_t now_us);
/// Round trip, within NET_RTT_US_MIN..MAX; 250 ms before the first measurement.
uint64_t net_ack_sender_rtt_us(const net_ack_sender* send);

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
    uint32_t loss; ///< packets of 65,536 that do not come: a mean of about the last 128
    uint16_t newest;
    bool has_any;
} net_ack_receiver;

/// Check a packet before it is decoded. Counts duplicates and old packets, changes nothing else.
net_ack_fate net_ack_receiver_check(net_ack_receiver* recv, uint16_t seq);
/// A packet was decoded whole: acknowledge it from now on. After NET_ACK_NEW.
void net_ack_receiver_mark(net_ack_receiver* recv, uint16_t seq, uint64_t now_us);
/// Microseconds since the newest came, for ack_delay_us; 0 before the first.
uint32_t net_ack_receiver_delay_us(const net_ack_receiver* recv, uint64_t now_us);
/// Packets that did not come, or could not be decoded, among those between the first and the
/// newest.
double net_ack_receiver_loss_percent(const net_ack_receiver* recv);
