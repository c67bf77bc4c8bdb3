// SPDX-License-Identifier: MIT
/// A peer that keeps no rules: it speaks through a net_transport with messages of its own making and
/// remembers what it was told. It shares nothing with net_client but the wire's descriptors and the header of
/// state packets.
#pragma once

#include "net/transport.h"
#include "proto/codec.h"
#include "wire.pb-c.h"

typedef struct raw_client {
    net_transport* transport; ///< borrowed
    net_peer peer;
    proto_codec codec;
    uint64_t now_us;
    bool is_connected, is_gone;
    uint32_t gone_reason;

    bool is_welcome, is_refused, is_asked, is_told_goodbye;
    uint32_t client, tick_rate_hz, replicated_index_max; ///< of Welcome
    double settings[64];
    size_t setting_count;
    uint8_t resume[16]; ///< its secret
    bool is_resumed;
    uint64_t rosters;
    uint32_t came, went; ///< names told of, together
    uint32_t came_last, went_last;
    char came_name[40]; ///< of the last
    Shoal__Wire__RefusedReason refused_reason;
    char refused_text[256];
    char refused_game[40];
    uint32_t goodbye_reason;
    uint64_t goodbye_tick;

    uint64_t states;     ///< state packets that came
    uint64_t unreadable; ///< messages that could not be decoded
    uint16_t state_seq;  ///< the newest's
    uint64_t state_bits; ///< bit i: state_seq - 1 - i came too
    uint64_t state_tick;
    uint32_t event_newest; ///< reliable events taken in order
    uint64_t state_bodies; ///< of them, those that had a body
    uint64_t state_bytes;
    uint64_t samples;
    uint32_t input_ack, input_depth, event_ack;
    uint64_t event_acks; ///< packets that carried one

    uint16_t seq; ///< of its next input packet
} raw_client;

void raw_client_open(raw_client* raw, net_transport* transport);
/// The transport stays the caller's.
void raw_client_close(raw_client* raw);
/// Receive and remember. Connects by itself at the first call.
void raw_client_service(raw_client* raw, uint64_t now_us);

net_result raw_client_send_bytes(raw_client* raw, net_channel channel, const void* bytes,
                                 size_t size);
net_result raw_client_send(raw_client* raw, net_channel channel, const ProtobufCMessage* message);
void raw_client_hello(raw_client* raw, uint32_t protocol, uint64_t schema_hash, const char* game,
                      const char* name);
/// A hello of somebody who was here before, or says so.
void raw_client_hello_again(raw_client* raw, uint64_t schema_hash, const char* game,
                            const void* secret, size_t secret_size);
void raw_client_answer(raw_client* raw, const char* name, uint64_t hash);
void raw_client_goodbye(raw_client* raw);
/// An input packet with the next seq and true acknowledgements; fields may be changed before sending.
Shoal__Wire__InputPacket raw_client_packet(raw_client* raw);
/// Send it: inputs first..first + count - 1, all with the same payload.
void raw_client_inputs(raw_client* raw, Shoal__Wire__InputPacket packet, uint32_t first,
                       uint32_t count, const void* payload, size_t size);
/// Send it with one event.
void raw_client_event(raw_client* raw, Shoal__Wire__InputPacket packet, uint32_t number,
                      uint32_t message, const void* payload, size_t size);
/// Bytes that are no message of any kind.
void raw_client_garbage(raw_client* raw, net_channel channel);
