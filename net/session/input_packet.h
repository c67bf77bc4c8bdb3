// SPDX-License-Identifier: MIT
/// What a client says in each packet beside its events: numbers, acknowledgements, its newest
/// inputs, requests. The standard is WIRE.md, "Input".
///
/// Plain structs. The reader accepts any bytes: it ends, and reports malformed ones.
#pragma once

#include "net/limits.h"
#include "net/result.h"
#include "proto/bits.h"

#define NET_INPUT_PACKET_RESYNCS_MAX 4u
/// No packet without its inputs has more bytes.
#define NET_INPUT_PACKET_BYTES_MAX 48u

typedef struct net_input_bytes {
    const uint8_t* data;
    uint32_t size;
} net_input_bytes;

typedef struct net_input_packet {
    bool is_whole; ///< numbers in all their bits
    uint16_t seq;
    bool has_ack;
    uint16_t ack;       ///< newest StatePacket that was decoded
    uint64_t ack_bits;  ///< bit i: packet ack - 1 - i was decoded too
    uint32_t ack_reach; ///< this many of them have news, at most 64; the others are 0 to a reader
    uint32_t ack_delay_us; ///< from its arrival to this sending, in whole units
    bool has_event_ack;
    uint32_t event_ack;
    uint32_t input_first; ///< number of inputs[0]; the inputs are consecutive, oldest first
    uint32_t input_count;
    net_input_bytes inputs[NET_INPUT_REDUNDANCY];
    uint64_t seen; ///< moment the player saw with the newest input, ticks * 256; 0: unknown
    uint32_t resync_count;
    uint32_t resyncs[NET_INPUT_PACKET_RESYNCS_MAX];
} net_input_packet;

/// What a reader knows: low bits stand for the numbers nearest to these.
typedef struct net_input_packet_near {
    bool has_seq;    ///< false: a packet that is not whole is refused
    uint16_t seq;    ///< newest that came
    uint16_t sent;   ///< newest packet that was sent: no acknowledgement is newer
    uint32_t event;  ///< newest reliable event made
    uint32_t input;  ///< newest that came
    uint64_t moment; ///< no moment that was seen is later; ticks * 256
} net_input_packet_near;

/// Where a reader puts the inputs.
typedef struct net_input_packet_store {
    uint8_t bytes[NET_INPUT_REDUNDANCY][NET_INPUT_BYTES_MAX];
} net_input_packet_store;

/// Bits of one more input before `newer` (NULL: it is the newest).
uint64_t net_input_packet_bits(const net_input_bytes* input, const net_input_bytes* newer);
/// Append a packet, padded to whole bytes by the caller. Check writer->failed afterwards.
void net_input_packet_write(proto_bit_writer* writer, const net_input_packet* packet);
/// Read a packet. Inputs point into `store`.
/// @return NET_OK; NET_ERR_MALFORMED (the bytes end in it, a number is out of range, numbers are
///         not whole while none is known, or the padding is not 0).
BASE_MUST_USE net_result net_input_packet_read(proto_bit_reader* reader,
                                               const net_input_packet_near* near,
                                               net_input_packet_store* store,
                                               net_input_packet* packet);
