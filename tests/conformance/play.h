// SPDX-License-Identifier: MIT
/// Private: what the files of the playing client share. play.c has the loop, play_receive.c packets
/// from the server, play_send.c packets to the server, play_events.c events that wait.
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
};

typedef struct held_event {
    uint32_t number, message, target;
    uint64_t tick;
    bool is_alone;
    uint32_t waited; ///< ticks of this client since it arrived
    size_t size;
    uint8_t payload[EVENT_BYTES_MAX];
} held_event;

typedef struct play_counts {
    uint32_t packets, decoded, without_base, doubled, malformed; ///< state packets
    uint32_t encoded, unequal; ///< packets encoded again: to equal bytes, to others
    uint64_t bytes;
    uint32_t lost_in, lost_out;      ///< dropped on purpose
    uint32_t events, events_dropped; ///< delivered; dropped
    uint32_t own;                    ///< events that answer an event of this client
    uint32_t probes, differing, corrupted, resynced;
    uint32_t controls;
} play_counts;

typedef struct game_client {
    const play_options* options;
    const game_tables* game;
    ENetHost* host;
    ENetPeer* peer;
    cf_schema* schema;
    cf_mirror* mirror;     // NULL before Welcome
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
    uint16_t seq;
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

// ---- play_events.c ----
void receive_event(game_client* client, const Shoal__Wire__GameEvent* event);
/// Run once per tick: deliver the events that have all their entities, in order; drop those that
/// never will.
void release_events(game_client* client);
