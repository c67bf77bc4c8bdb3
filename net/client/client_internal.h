// SPDX-License-Identifier: MIT
/// The client's insides, shared by client.c (life, silence, what goes out) and client_receive.c (what comes).
#pragma once

#include "session/acks.h"
#include "session/event_inbox.h"
#include "state/varsize.h"
#include "session/meter.h"
#include "mirror/mirror.h"
#include "session/event_outbox.h"
#include "session/pace.h"
#include "session/roster.h"
#include "state/rows.h"
#include "present/presenter_feed.h"

#include "net/client.h"
#include "net/end.h"
#include "net/match.h"
#include "proto/codec.h"

#define NET_CLIENT_RETRY_MS                                                                        \
    500u ///< between two attempts to resume, when the first is turned away at once
#define NET_CLIENT_HEALS_MAX 4u ///< entities that are asked for at a time
#define NET_CLIENT_HEAL_TRIES 4u
#define NET_CLIENT_HEAL_TICKS 16u ///< between two of them

typedef struct net_sent_input {
    uint32_t number;
    uint32_t size;
    uint8_t payload[NET_INPUT_BYTES_MAX];
} net_sent_input;

/// An entity that differs from the server's checksum, until a newer row of it comes.
typedef struct net_client_resync {
    ecs_entity entity; ///< NONE: a free place
    ecs_tick tick;     ///< that it had then
    uint32_t tries;
    uint32_t wait; ///< ticks until it is asked for (again)
} net_client_resync;

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
    ecs_tick tick_newest; // of packets that came, with the number of the first of them
    uint16_t tick_seq;
    bool has_tick_newest;
    net_rows* rows;
    net_mirror* mirror;
    net_varsize_receiver* varsize;                 // with `mirror`
    uint64_t varsize_acks[NET_VARSIZE_FLIGHT_MAX]; // versions that came, not answered yet
    uint32_t varsize_ack_count;
    net_ack_sender sent;
    net_ack_receiver received;
    net_ack_result acks; // scratch
    net_event_outbox outbox;
    net_event_inbox inbox;
    net_sent_input inputs[NET_INPUT_REDUNDANCY]; // ring by number
    uint32_t input_number;
    uint32_t
        input_floor;     // up to here they are of before the connection was lost: not sent any more
    uint64_t input_view; // what was seen when it was made, in ticks * 256
    net_pace pace;
    net_client_resync resyncs[NET_CLIENT_HEALS_MAX];
    uint64_t samples, samples_differing, resyncs_asked;
    uint64_t dropped[NET_DROP_COUNT]; // beside what queues and mirror count
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
/// Something came that no server of ours sends, or sends now.
void net_client_malformed(net_client* client);
double net_client_quiet_s(const net_client* client); ///< since anything was heard

// client_varsize.c

/// What the mirror was told of an index; `context` is the client.
bool net_client_told(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick);
net_result net_client_open_varsize(net_client* client, uint32_t index_max);
void net_client_take_varsize(net_client* client, const Shoal__Wire__VarsizeValue* value);
/// Acknowledge what came since the last time.
void net_client_answer_varsize(net_client* client);

// client_receive.c

void net_client_take_event(net_client* client, const net_transport_event* event);
/// Events whose targets live by now.
void net_client_deliver_events(net_client* client);
