// SPDX-License-Identifier: MIT
/// A server without rules, for one client at a time. The test decides what it sends.
#pragma once

#include "session/input_packet.h"
#include "session/packet_header.h"
#include "net/transport.h"
#include "proto/codec.h"
#include "wire.pb-c.h"

/// A state packet that the test fills in.
typedef struct raw_state {
    net_packet_header header;
    const void* body; ///< its bits follow the header; with has_body; borrowed
    size_t body_size;
    uint64_t body_bits; ///< 0: all of body_size. A body that ends in the middle of a byte has no
                        ///< more bits, or it would be followed by a whole byte of padding
} raw_state;

typedef struct raw_server {
    net_transport* transport; ///< borrowed
    net_peer peer;            ///< the peer that connected last
    proto_codec codec;
    bool is_connected, is_gone;
    uint32_t gone_reason;

    bool is_greeted, is_answered, has_goodbye;
    uint32_t protocol;
    uint64_t schema_hash;
    char game[40];
    char name[64];
    bool is_bot, is_spectator;
    uint32_t watches;   ///< Watch messages
    uint32_t watched;   ///< of the newest
    uint8_t resume[32]; ///< from the Hello
    size_t resume_size;
    uint32_t hellos;
    size_t answer_items;

    uint64_t packets;    ///< input packets received
    uint64_t unreadable; ///< messages that could not be decoded
    uint16_t input_seq;  ///< of the newest packet
    bool has_ack;
    bool has_acks; ///< one came before
    uint16_t ack;
    uint64_t ack_bits;
    uint32_t input_first, input_count;
    size_t input_bytes; ///< of the newest packet, without events
    net_input_bases heard;
    uint32_t input_loss; ///< in state packets
    uint32_t event_ack, event_newest;
    uint32_t resyncs[8];
    uint32_t resync_count; ///< of the newest packet
    uint64_t resyncs_requested;
    uint32_t rate_bytes_max; ///< from the Hello

    uint16_t seq; ///< seq of its next state packet
} raw_server;

void raw_server_open(raw_server* raw, net_transport* transport);
/// `transport` is borrowed.
void raw_server_close(raw_server* raw);
/// Receive all messages and remember their content.
void raw_server_service(raw_server* raw, uint64_t now_us);
net_result raw_server_send_bytes(raw_server* raw, net_channel channel, const void* bytes,
                                 size_t size);
net_result raw_server_send(raw_server* raw, net_channel channel, const ProtobufCMessage* message);
void raw_server_welcome(raw_server* raw, uint32_t client, uint32_t tick_rate_hz);
/// Send a welcome that the test fills in.
void raw_server_welcome_as(raw_server* raw, Shoal__Wire__Welcome welcome);
void raw_server_refuse(raw_server* raw, Shoal__Wire__RefusedReason reason, const char* text,
                       const char* game);
void raw_server_ask(raw_server* raw);
void raw_server_goodbye(raw_server* raw, uint32_t reason);
/// One with all fields of a transfer.
void raw_server_transfer(raw_server* raw, uint32_t reason, const char* address, const char* token,
                         const char* page);
/// Get a state packet with the next seq, a right acknowledgement, a whole tick and no body.
raw_state raw_server_packet(raw_server* raw, uint64_t tick);
void raw_server_send_state(raw_server* raw, raw_state packet);
/// Send it with one event.
void raw_server_event(raw_server* raw, raw_state packet, uint32_t number, uint32_t message,
                      uint32_t target, const void* payload, size_t size);
void raw_server_send_event(raw_server* raw, raw_state packet, Shoal__Wire__GameEvent* event);
