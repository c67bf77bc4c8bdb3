// SPDX-License-Identifier: MIT
// Every packet of channel 1 is read again as it is given to a transport, field by field. What the
// transports sent beside these is ENet's: control messages, acknowledgements, pings.
#include "match_causes.h"

#include "session/input_packet.h"
#include "session/packet_header.h"

#include "base/assert.h"
#include "base/macros.h"
#include "proto/codec.h"
#include "wire.pb-c.h"

#include <inttypes.h>
#include <stdio.h>

#define STATE_SEALED_BYTES 19u
#define INPUT_SEALED_BYTES 21u

static const char* const names[MATCH_CAUSES] = {
    [MATCH_SEAL] = "seal",       [MATCH_FRAME] = "frame",   [MATCH_NUMBERS] = "numbers",
    [MATCH_ACK] = "ack",         [MATCH_DELAY] = "delay",   [MATCH_INPUT_STATE] = "input_state",
    [MATCH_PROBE] = "probe",     [MATCH_FLAGS] = "flags",   [MATCH_BODY] = "body",
    [MATCH_INPUTS] = "inputs",   [MATCH_EVENTS] = "events", [MATCH_PADDING] = "padding",
    [MATCH_PACKETS] = "packets",
};

static struct {
    const net_transport_ops *server, *guest; // what the taps call
    proto_codec codec;
    match_causes down, up;
} self;

static uint64_t golomb_bits(uint32_t value, uint32_t order) {
    const uint64_t shifted = (uint64_t)value + (UINT64_C(1) << order);
    return 2 * (63u - (uint64_t)__builtin_clzll(shifted)) - order + 1;
}

// Bytes of the message beside the field of `bits_size` bytes and its frame.
static void add_common(match_causes* to, size_t size, size_t bits_size, uint32_t sealed) {
    const size_t frame = bits_size < 128 ? 2 : 3;
    to->bits[MATCH_PACKETS]++;
    to->bits[MATCH_SEAL] += 8 * (uint64_t)sealed;
    to->bits[MATCH_FRAME] += 8 * (uint64_t)frame;
    to->bits[MATCH_EVENTS] += 8 * (uint64_t)(size - bits_size - frame);
}

static void add_state(const void* bytes, size_t size) {
    const Shoal__Wire__StatePacket* packet = (const Shoal__Wire__StatePacket*)proto_codec_decode(
        &self.codec, &shoal__wire__state_packet__descriptor, bytes, size, NET_STATE_BYTES_MAX);
    BASE_ASSERT(packet);
    proto_bit_reader reader = proto_bit_reader_make(packet->state.data, packet->state.len);
    const net_packet_header_near near = {.has_tick = true, .tick = 1 << 20, .input = 1 << 20};
    net_packet_header header;
    const net_result result = net_packet_header_read(&reader, &near, &header);
    BASE_ASSERT(result == NET_OK); // other numbers than at a client, the same bits
    uint64_t* bits = self.down.bits;
    add_common(&self.down, size, packet->state.len, STATE_SEALED_BYTES);
    const uint64_t numbers = header.is_whole ? 80 : 2 * NET_PACKET_HEADER_NEAR_BITS;
    const uint64_t low = header.is_whole ? 16 : NET_PACKET_HEADER_ACK_BITS;
    const uint64_t delay =
        header.has_ack ? golomb_bits(header.ack_delay_us / NET_PACKET_HEADER_DELAY_US, 4) : 0;
    const uint64_t ack = header.has_ack ? low : 0;
    const uint64_t input = header.has_input ? low + golomb_bits(header.input_repeats, 0) +
                                                  golomb_bits(header.input_depth, 1)
                                            : 0;
    const uint64_t probe = net_packet_header_probe_bits(&header);
    const uint64_t all = reader.offset_bits;
    bits[MATCH_NUMBERS] += numbers;
    bits[MATCH_ACK] += ack;
    bits[MATCH_DELAY] += delay;
    bits[MATCH_INPUT_STATE] += input;
    bits[MATCH_PROBE] += probe;
    bits[MATCH_FLAGS] += all - numbers - ack - delay - input - probe;
    bits[MATCH_BODY] += 8 * packet->state.len - all;
}

static void add_input(const void* bytes, size_t size) {
    const Shoal__Wire__InputPacket* message = (const Shoal__Wire__InputPacket*)proto_codec_decode(
        &self.codec, &shoal__wire__input_packet__descriptor, bytes, size, NET_STATE_BYTES_MAX);
    BASE_ASSERT(message);
    static net_input_packet_store store;
    proto_bit_reader reader = proto_bit_reader_make(message->input.data, message->input.len);
    const net_input_packet_near near = {.has_seq = true, .input = 1 << 20, .moment = 1 << 20};
    net_input_packet packet;
    const net_result result = net_input_packet_read(&reader, &near, &store, &packet);
    BASE_ASSERT(result == NET_OK);
    uint64_t* bits = self.up.bits;
    add_common(&self.up, size, message->input.len, INPUT_SEALED_BYTES);
    const uint64_t newest =
        packet.input_count ? (packet.is_whole ? 32 : NET_PACKET_HEADER_NEAR_BITS) : 0;
    const uint64_t numbers = (packet.is_whole ? 16 : NET_PACKET_HEADER_NEAR_BITS) + newest;
    const uint64_t low = packet.is_whole ? 16 : NET_PACKET_HEADER_ACK_BITS;
    const uint64_t ack =
        packet.has_ack ? low + golomb_bits(packet.ack_reach, 3) + packet.ack_reach : 0;
    const uint64_t delay =
        packet.has_ack ? golomb_bits(packet.ack_delay_us / NET_PACKET_HEADER_DELAY_US, 3) : 0;
    uint64_t inputs = packet.seen ? 18 : 0;
    for (uint32_t i = 0; i < packet.input_count; i++)
        inputs += net_input_packet_bits(&packet.inputs[i],
                                        i + 1 < packet.input_count ? &packet.inputs[i + 1] : NULL);
    const uint64_t flags = 8u + (packet.has_event_ack ? 16u : 0u) + (packet.input_count ? 1u : 0u) +
                           (packet.resync_count ? 2 + 32 * (uint64_t)packet.resync_count : 0);
    const uint64_t used = numbers + ack + delay + inputs + flags;
    bits[MATCH_NUMBERS] += numbers;
    bits[MATCH_ACK] += ack;
    bits[MATCH_DELAY] += delay;
    bits[MATCH_INPUTS] += inputs;
    bits[MATCH_FLAGS] += flags;
    bits[MATCH_PADDING] += 8 * message->input.len - used;
}

static net_result send_state(net_transport* transport, net_peer peer, net_channel channel,
                             const void* bytes, size_t size) {
    if (channel == NET_CHANNEL_REALTIME) add_state(bytes, size);
    return self.server->send(transport, peer, channel, bytes, size);
}

static net_result send_input(net_transport* transport, net_peer peer, net_channel channel,
                             const void* bytes, size_t size) {
    if (channel == NET_CHANNEL_REALTIME) add_input(bytes, size);
    return self.guest->send(transport, peer, channel, bytes, size);
}

void match_causes_open(net_transport* server) {
    static net_transport_ops ops;
    if (!self.server && !proto_codec_init(&self.codec, NULL, PROTO_UNPACK_CLIENT_BYTES_MAX)) return;
    self.server = server->ops;
    ops = *server->ops;
    ops.send = send_state;
    server->ops = &ops;
}

void match_causes_watch(net_transport* guest) {
    static net_transport_ops ops;
    self.guest = guest->ops;
    ops = *guest->ops;
    ops.send = send_input;
    guest->ops = &ops;
}

void match_causes_read(match_causes* down, match_causes* up) {
    *down = self.down;
    *up = self.up;
}

static void print_one(const char* way, const match_causes* begin, const match_causes* end,
                      double client_seconds, double bytes_per_s) {
    double sum = 0;
    for (uint32_t i = 0; i < MATCH_CAUSES; i++) {
        const double per_s = (double)(end->bits[i] - begin->bits[i]) / client_seconds;
        if (per_s == 0) continue;
        if (i == MATCH_PACKETS) {
            printf("%s packets_per_s=%.1f\n", way, per_s);
            continue;
        }
        sum += per_s / 8;
        printf("%s cause=%s bytes_per_s=%.0f\n", way, names[i], per_s / 8);
    }
    printf("%s cause=enet bytes_per_s=%.0f\n", way, bytes_per_s - sum);
}

void match_causes_print(const match_causes* down_begin, const match_causes* up_begin,
                        double client_seconds, double down_bytes_per_s, double up_bytes_per_s) {
    print_one("down", down_begin, &self.down, client_seconds, down_bytes_per_s);
    print_one("up", up_begin, &self.up, client_seconds, up_bytes_per_s);
}
