// SPDX-License-Identifier: MIT
/// A client without rules: it sends any messages through a net_transport and remembers what it
/// received. It shares only the descriptors of the messages and the header of state packets with
/// net_client.
#pragma once

#include "session/input_packet.h"

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

    bool is_welcome, is_refused, is_asked, has_goodbye;
    uint32_t client, tick_rate_hz, replicated_index_max; ///< from Welcome
    double settings[64];
    size_t setting_count;
    uint8_t resume[16]; ///< secret of Welcome
    bool is_resumed;
    uint64_t rosters;
    uint32_t came, went; ///< counts of names in all Rosters
    uint32_t came_last;
    char came_name[40]; ///< the last name
    Shoal__Wire__RefusedReason refused_reason;
    char refused_text[256];
    char refused_game[40];
    uint32_t goodbye_reason;
    uint64_t goodbye_tick;
    char goodbye_text[128];

    uint64_t states;     ///< state packets received
    uint64_t unreadable; ///< messages that could not be decoded
    uint16_t state_seq;  ///< of the newest packet
    uint64_t state_bits; ///< bit i: packet state_seq - 1 - i was received too
    uint64_t state_tick;
    uint32_t event_newest; ///< number of the newest reliable event received in order
    uint64_t state_bodies; ///< state packets with a body
    uint64_t state_bytes;
    uint64_t samples;
    uint32_t input_ack, input_depth, event_ack;

    bool is_spectator;       ///< in its Hello
    uint32_t rate_bytes_max; ///< in its Hello
    uint16_t seq;            ///< of its newest input packet
    uint32_t input_newest;   ///< number in it, about
} raw_client;

void raw_client_open(raw_client* raw, net_transport* transport);
/// `transport` is borrowed.
void raw_client_close(raw_client* raw);
/// Receive all messages and remember their content. The first call connects.
void raw_client_service(raw_client* raw, uint64_t now_us);

net_result raw_client_send_bytes(raw_client* raw, net_channel channel, const void* bytes,
                                 size_t size);
net_result raw_client_send(raw_client* raw, net_channel channel, const ProtobufCMessage* message);
void raw_client_hello(raw_client* raw, uint32_t protocol, uint64_t schema_hash, const char* game,
                      const char* name);
/// Send a Hello with a secret for resuming, true or false.
void raw_client_hello_again(raw_client* raw, uint64_t schema_hash, const char* game,
                            const void* secret, size_t secret_size);
void raw_client_answer(raw_client* raw, const char* name, uint64_t hash);
void raw_client_goodbye(raw_client* raw);
void raw_client_watch(raw_client* raw, uint32_t client);
/// Get an input packet with the next seq and right acknowledgements. The test may change fields
/// before sending.
net_input_packet raw_client_packet(raw_client* raw);
/// Send it as it is.
void raw_client_send_packet(raw_client* raw, const net_input_packet* packet);
/// Send it: inputs first..first + count - 1, all with the same payload.
void raw_client_inputs(raw_client* raw, net_input_packet packet, uint32_t first, uint32_t count,
                       const void* payload, size_t size);
/// Write it with events. @return the size; 0: they do not fit.
size_t raw_client_pack(const net_input_packet* packet, Shoal__Wire__GameEvent** events,
                       size_t event_count, uint8_t* bytes, size_t capacity);
/// Send it with one event.
void raw_client_event(raw_client* raw, net_input_packet packet, uint32_t number, uint32_t message,
                      const void* payload, size_t size);
void raw_client_send_event(raw_client* raw, net_input_packet packet, Shoal__Wire__GameEvent* event);
/// Send bytes that are no message.
void raw_client_garbage(raw_client* raw, net_channel channel);
