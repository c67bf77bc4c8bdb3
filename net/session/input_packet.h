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
#define NET_INPUT_BASES 64u      ///< packets that are kept: no base is so much older
#define NET_INPUT_BASE_BYTES 36u ///< a longer input is no base

typedef struct net_input_bytes {
    const uint8_t* data;
    uint32_t size;
} net_input_bytes;

/// What a packet said, against which a later one is coded: both ends keep it, and packets name it
/// that are sent after it was acknowledged.
typedef struct net_input_base {
    uint64_t ack_bits; ///< at the client: all of them
    uint32_t number;   ///< of the newest input
    uint32_t seen;     ///< low bits; with has_seen
    uint32_t event_ack;
    uint16_t seq, ack;
    bool is_kept, has_ack, has_seen;
    uint8_t size; ///< of the newest input; of a longer one and of none 0
    uint8_t payload[NET_INPUT_BASE_BYTES];
} net_input_base;

/// A ring by seq.
typedef struct net_input_bases {
    net_input_base kept[NET_INPUT_BASES];
} net_input_bases;

typedef struct net_input_packet {
    const net_input_base* base; ///< of a short packet; NULL: numbers in all their bits
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
    bool has_seq;                 ///< false: a packet that is not whole is refused
    uint16_t seq;                 ///< newest that came
    uint16_t sent;                ///< newest packet that was sent: no acknowledgement is newer
    uint32_t event;               ///< newest reliable event made
    uint32_t input;               ///< newest that came
    uint64_t moment;              ///< no moment that was seen is later; ticks * 256
    const net_input_bases* bases; ///< of short packets
} net_input_packet_near;

/// Where a reader puts the inputs.
typedef struct net_input_packet_store {
    uint8_t bytes[NET_INPUT_REDUNDANCY][NET_INPUT_BYTES_MAX];
} net_input_packet_store;

bool net_input_is_same(const net_input_bytes* a, const net_input_bytes* b);
/// The most bits of an input of `size` bytes.
#define NET_INPUT_BITS_MAX(size) (16u + 8u * (size))
/// What this packet said. @return NULL when it is not kept.
const net_input_base* net_input_base_find(const net_input_bases* bases, uint16_t seq);
/// Can the packet be coded against `base`?
bool net_input_packet_fits(const net_input_packet* packet, const net_input_base* base);
/// Keep what a packet says that was sent, or that came. A newer one in its place stays.
void net_input_bases_keep(net_input_bases* bases, const net_input_packet* packet);
/// Append a packet, padded to whole bytes by the caller. Check writer->failed afterwards.
void net_input_packet_write(proto_bit_writer* writer, const net_input_packet* packet);
/// Read InputPacket.input. Inputs point into `store`.
/// @return NET_OK; NET_ERR_MALFORMED (the bytes end in it, a number is out of range, numbers are
///         not whole while none is known, or the padding is not 0).
BASE_MUST_USE net_result net_input_packet_read(proto_bit_reader* reader,
                                               const net_input_packet_near* near,
                                               net_input_packet_store* store,
                                               net_input_packet* packet);
/// Does a message of the realtime channel begin with a short packet, or is it an InputPacket?
static inline bool net_input_packet_is_short(const uint8_t* bytes, size_t size) {
    return size > 0 && (bytes[0] & 1) != 0;
}
/// Read a short packet, up to the byte after it. Inputs point into `store` and the bases.
/// @return as above; NET_ERR_STALE (its base is not kept any more).
BASE_MUST_USE net_result net_input_packet_read_short(proto_bit_reader* reader,
                                                     const net_input_packet_near* near,
                                                     net_input_packet_store* store,
                                                     net_input_packet* packet);
