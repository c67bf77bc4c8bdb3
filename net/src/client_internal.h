// SPDX-License-Identifier: MIT
/// The client's insides, shared by client.c (life, silence, what goes out) and client_receive.c (what comes).
#pragma once

#include "acks.h"
#include "inbox.h"
#include "meter.h"
#include "mirror.h"
#include "outbox.h"
#include "pace.h"
#include "roster.h"
#include "rows.h"
#include "viewer_feed.h"

#include "net/client.h"
#include "proto/codec.h"

#define NET_CLIENT_RETRY_MS 500u ///< between two attempts to resume, when the first is turned away at once

typedef struct net_sent_input {
    uint32_t number;
    uint32_t size;
    uint8_t payload[NET_INPUT_BYTES_MAX];
} net_sent_input;

struct net_client {
    net_client_config config;
    const base_allocator* allocator;
    net_client_phase phase;
    net_client_end end;
    bool is_closing; // goodbye was said: wait for the connection to end
    uint64_t closing_us;
    uint64_t started_us; // first service
    uint64_t now_us;
    net_peer peer;
    bool has_peer;
    uint32_t client;
    uint8_t resume[NET_RESUME_BYTES]; // the secret of our session
    bool has_resume;
    uint64_t heard_us; // when anything came from the server; while resuming: before that
    uint64_t retry_us; // resuming: when to connect, or since when we do
    uint64_t back_us;  // when it was resumed last
    uint32_t resumes;
    net_roster roster;
    net_meter meter;
    uint32_t input_depth; // as last reported
    uint32_t refusal;
    char refusal_text[256];
    char refusal_game[NET_GAME_NAME_BYTES_MAX];
    ecs_entity player;
    bool is_player_told;
    net_rows* rows;
    net_mirror* mirror;
    net_acks_send sent;
    net_acks_recv received;
    net_acks_result acks; // scratch
    net_outbox outbox;
    net_inbox inbox;
    net_sent_input inputs[NET_INPUT_REDUNDANCY]; // ring by number
    uint32_t input_number;
    uint32_t input_floor; // up to here they are of before the connection was lost: not sent any more
    uint64_t input_view; // what was seen when it was made, in ticks * 256
    net_pace pace;
    uint64_t packets_malformed, packets_stale;
    uint64_t inputs_refused; // longer than NET_INPUT_BYTES_MAX
    base_rng rng;
    proto_codec codec;
    _Alignas(16) uint8_t bot_memory[NET_BOT_MEMORY_BYTES];
    _Alignas(16) uint8_t input_payload[ECS_EVENT_BYTES_MAX];
    uint8_t packet[NET_STATE_BYTES_MAX];
};

/// The end. The other side is told, if it still listens, so that it need not wait for its own timeouts.
void net_client_finish(net_client* client, net_client_end end);
/// A last word was said: wait for the connection to end.
void net_client_begin_closing(net_client* client, net_client_end end);
/// The connection is lost, the session is not. With has_resume.
void net_client_begin_resuming(net_client* client);
double net_client_quiet_s(const net_client* client); ///< since anything was heard

// client_receive.c

void net_client_take_event(net_client* client, const net_transport_event* event);
/// Events whose targets live by now.
void net_client_deliver_events(net_client* client);
