// SPDX-License-Identifier: MIT
/// The header before a snapshot: numbers, acknowledgements, what became of inputs, a checksum
/// probe. The standard is WIRE.md, "State".
///
/// Plain structs. The reader accepts any bytes: it ends, and reports malformed ones.
#pragma once

#include "ecs/ecs.h"
#include "net/result.h"
#include "proto/bits.h"

#define NET_PACKET_HEADER_BITS_MAX 512u ///< no header is longer; most have 60 to 90
#define NET_PACKET_HEADER_DELAY_US 512u ///< one unit of ack_delay_us
/// Low bits of seq, tick and input. They stand for the number nearest to one that the reader knows.
#define NET_PACKET_HEADER_NEAR_BITS 10u
/// So far may a sender be from what it knows the reader to have; else numbers are whole. Packets
/// overtake each other, and they are still read.
#define NET_PACKET_HEADER_NEAR_MAX 256u
/// Low bits of an acknowledgement, and of input_used: the newest that the reader sent, or an
/// earlier one.
#define NET_PACKET_HEADER_ACK_BITS 12u

typedef struct net_packet_header {
    uint16_t seq;
    bool is_whole; ///< numbers in all their bits
    ecs_tick tick;
    bool has_ack;
    uint16_t ack;          ///< newest InputPacket.seq that came
    uint32_t ack_delay_us; ///< from its arrival to this sending, in whole units
    bool has_input;
    uint32_t input_used;    ///< newest input that this tick or one before it used
    uint32_t input_repeats; ///< ticks that have repeated input_used since
    uint32_t input_depth;   ///< inputs waiting in the server's ring after this tick
    bool has_event_ack;
    uint32_t event_ack;  ///< newest reliable event up to which a tick took all
    uint32_t player_age; ///< ticks since the row of the client's own entity changed last
    bool has_probe;
    uint32_t probe_slot;
    uint32_t probe_age; ///< ticks from the row's tick to this one
    uint16_t probe_hash;
    bool has_body;
} net_packet_header;

/// What a reader knows: low bits stand for the numbers nearest to these.
typedef struct net_packet_header_near {
    ecs_tick tick;  ///< newest decoded; ignored when numbers are whole
    bool has_tick;  ///< false: numbers that are not whole are refused
    uint16_t seq;   ///< newest decoded
    uint16_t sent;  ///< newest packet that was sent: no acknowledgement is newer
    uint32_t input; ///< newest made
    uint32_t event; ///< newest reliable event made
} net_packet_header_near;

#define NET_PACKET_HEADER_PARTS 8u
#define NET_PACKET_HEADER_PROBE 6u ///< the part with the checksum
/// Append one part of a header, 0..NET_PACKET_HEADER_PARTS - 1 in this order. @return what it is,
/// in words.
const char* net_packet_header_write_part(proto_bit_writer* writer, const net_packet_header* header,
                                         uint32_t part);
/// Append a header. `writer` has room for NET_PACKET_HEADER_BITS_MAX (asserted). The last bit
/// written is has_body.
void net_packet_header_write(proto_bit_writer* writer, const net_packet_header* header);
/// Clear has_body again: no snapshot follows. `end_bits` is writer->size_bits after the header.
void net_packet_header_deny_snapshot(proto_bit_writer* writer, uint64_t end_bits);
/// Bits of the probe, without the bit that tells whether there is one.
uint64_t net_packet_header_probe_bits(const net_packet_header* header);
/// Read a header.
/// @return NET_OK (the reader is at the snapshot or the padding); NET_ERR_MALFORMED (the bytes
///         end in the header, a number is out of range, a tick is not whole while none is known, or
///         padding without a snapshot is not 0: drop the packet).
BASE_MUST_USE net_result net_packet_header_read(proto_bit_reader* reader,
                                                const net_packet_header_near* near,
                                                net_packet_header* header);
/// The number nearest to `near` with these low bits, 1..16 of them; of two equally near ones the
/// higher; never below 0.
uint64_t net_packet_header_expand(uint32_t low, uint32_t bits, uint64_t near);
/// The same for a seq with NET_PACKET_HEADER_NEAR_BITS, which wraps around.
uint16_t net_packet_header_expand_seq(uint32_t low, uint16_t near);
/// `sent` or the newest number before it with these NET_PACKET_HEADER_ACK_BITS.
uint16_t net_packet_header_expand_ack(uint32_t low, uint16_t sent);
/// Are fewer than 8 bits left, all of them 0?
bool net_packet_header_is_padding(proto_bit_reader* reader);
