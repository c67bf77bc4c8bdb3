// SPDX-License-Identifier: MIT
/// Private: what the files of the playing client share. play.c has the loop, play_receive.c packets
/// from the server, play_send.c packets to the server, play_events.c events that wait,
/// play_values.c variable-size values that wait.
#pragma once

#include "games.h"

#include "wire.pb-c.h"

#include <enet/enet.h>

enum {
    CONTROL = 0,
    REALTIME = 1,
    PACKET_BYTES_MAX = 1172,
    INPUTS_KEPT = 8,
    INPUT_BYTES_MAX = 64,
    EVENTS_MAX = 512,
    EVENT_BYTES_MAX = 512,
    MESSAGES_MAX = 16,
    RESYNCS_MAX = 4,
    VALUES_MAX = 1024, // that wait
};

typedef struct held_event {
    uint32_t number, message, target;
    uint64_t tick;
    bool is_alone;
    uint32_t waited; ///< ticks of this client since it arrived
    size_t size;
    uint8_t payload[EVENT_BYTES_MAX];
} held_event;

/// A variable-size value whose entity is not yet as it needs it.
typedef struct waiting_value {
    uint32_t entity, component;
    uint64_t since;
    size_t size;
    uint8_t* bytes;
} waiting_value;

typedef struct play_counts {
    uint32_t packets, decoded, without_base, doubled, malformed; ///< state packets
    uint32_t encoded, unequal; ///< packets encoded again: to equal bytes, to others
    uint64_t bytes;
    uint32_t lost_in, lost_out;      ///< dropped on purpose
    uint32_t events, events_dropped; ///< delivered; dropped
    uint32_t own;                    ///< events that answer an event of this client
    uint32_t probes, differing, corrupted, resynced;
    uint32_t controls;
    uint32_t values, values_dropped; ///< variable-size: applied, of entities that are gone
} play_counts;

typedef struct game_client {
    const play_options* options;
    const game_tables* game;
    ENetHost* host;
    ENetPeer* peer;
    cf_schema* schema;
    cf_mirror* mirror;     // NULL before Welcome
    bool is_solo;          // bodies begin with the head of solo code
    bool has_equal_schema; // our hash equals that of the server
    uint32_t id;
    uint32_t tick_rate_hz;
    bool is_over; // disconnected
    bool has_goodbye;
    uint64_t goodbye_tick;
    uint32_t goodbye_reason;
    uint64_t chance;
    // what is acknowledged
    bool has_received;
    uint16_t newest_seq;
    uint64_t received_bits; // bit i: newest - 1 - i
    double newest_arrival_s;
    uint32_t event_number; // newest reliable one taken
    // what is sent
    uint16_t seq, acked_seq; // acked_seq: newest that the server acknowledged
    bool has_acked;
    uint32_t entity;
    uint32_t input_number; // of the newest; 0: none
    uint32_t input_ack;
    uint32_t input_depth;
    uint8_t inputs[INPUTS_KEPT][INPUT_BYTES_MAX];
    size_t input_sizes[INPUTS_KEPT]; // by number mod INPUTS_KEPT
    bool is_event_acked;
    uint32_t resyncs[RESYNCS_MAX], resync_count; // handles for the next packet
    uint32_t corrupted_slot; // slot + 1 of the changed row; 0: none, or it was resynced
    bool is_found;           // a probe found it
    uint32_t ticks;
    held_event* held; // EVENTS_MAX, in order
    uint32_t held_count;
    waiting_value* waiting; // VALUES_MAX, in order
    uint32_t waiting_count;
    uint64_t value_version; // newest that arrived
    play_counts counts;
} game_client;

double now_s(void);
void fault(game_client* client, const char* what);
/// @return true: drop the next datagram on purpose.
bool is_lost(game_client* client);

// ---- play_receive.c ----
void receive_control(game_client* client, const ENetPacket* packet);
void receive_state(game_client* client, const ENetPacket* packet);

// ---- play_send.c ----
void send_hello(game_client* client);
void answer_schema_question(game_client* client);
void send_inputs(game_client* client);
void acknowledge_value(game_client* client, uint64_t version);

// ---- play_values.c ----
void take_value(game_client* client, const Shoal__Wire__VarsizeValue* message);
/// After each state packet: apply the values whose entities are there now.
void release_values(game_client* client);

// ---- play_events.c ----
void receive_event(game_client* client, const Shoal__Wire__GameEvent* event);
/// Run once per tick: deliver the events that have all their entities, in order; drop those that
/// never will.
void release_events(game_client* client);
