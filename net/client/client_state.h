// SPDX-License-Identifier: MIT
/// The state of a client, for the files of this room.
#pragma once

#include "client/client_faults.h"
#include "session/acks.h"
#include "session/event_inbox.h"
#include "session/event_outbox.h"
#include "session/input_queue.h"
#include "session/meter.h"
#include "session/pace.h"
#include "session/roster.h"

#include "base/rng.h"
#include "net/client.h"
#include "net/end.h"
#include "net/ration.h"
#include "proto/codec.h"

#define NET_CLIENT_RESYNCS_MAX 4u     ///< entities that a client requests at a time
#define NET_CLIENT_MESSAGES_MAX 4096u ///< that one service takes in

typedef struct net_mirror net_mirror;                     ///< mirror/mirror.h
typedef struct net_rows net_rows;                         ///< state/rows.h
typedef struct net_varsize_receiver net_varsize_receiver; ///< state/varsize.h

/// An entity that differs from the server's, until an absolute record of it comes.
typedef struct net_client_resync {
    ecs_entity entity; ///< ECS_ENTITY_NONE: a free place
    ecs_tick tick;     ///< of its newest row then
    uint32_t tries;
    uint32_t wait; ///< ticks until it is requested (again)
} net_client_resync;

/// What was not as the server has it.
typedef struct net_client_difference {
    ecs_entity entity;          ///< NONE: not known
    ecs_component_id component; ///< NONE: not known
} net_client_difference;

struct net_client {
    net_client_config config;
    const base_allocator* allocator;
    net_client_phase phase;
    net_client_end end;
    bool is_closing; ///< goodbye is sent or came: the connection is serviced until it ends
    uint64_t closing_us;
    uint64_t started_us; ///< when the present attempt to connect or to greet began; 0: not yet
    uint64_t now_us;
    net_peer peer;
    bool has_peer;
    uint32_t client;                  ///< client number; 0 before welcome
    uint8_t resume[NET_RESUME_BYTES]; ///< the secret of the session
    bool has_resume;
    uint64_t received_us; ///< arrival of the newest datagram; while resuming: before the loss
    bool is_reached;      ///< the connection is open, so the server has to answer the greeting
    uint64_t retry_us;    ///< while resuming: when to connect next, or when the attempt began
    uint64_t back_us;     ///< when the session was resumed last
    net_client_faults faults;
    bool has_enough;   ///< of them: the session ends with this service
    bool has_answered; ///< the SchemaQuestion of this connection
    uint32_t resumes;
    net_roster roster;
    net_meter meter;
    uint32_t input_depth; ///< as the server reported last
    uint32_t refusal;     ///< RefusedReason
    char refusal_text[256];
    char refusal_game[NET_GAME_NAME_BYTES_MAX];
    ecs_entity player;
    bool is_player_known;
    bool has_tick_newest;
    ecs_tick tick_newest;                          ///< of the packets that came
    uint16_t tick_seq;                             ///< newest packet of tick_newest
    net_rows* rows;                                ///< of the match
    net_mirror* mirror;                            ///< NULL before welcome
    net_varsize_receiver* varsize;                 ///< exists together with `mirror`
    uint64_t varsize_acks[NET_VARSIZE_FLIGHT_MAX]; ///< versions that came, not acknowledged yet
    uint32_t varsize_ack_count;
    net_ack_sender sent;
    net_ack_receiver received;
    net_ack_result acks; ///< scratch
    net_event_outbox outbox;
    net_event_inbox inbox;
    net_input inputs[NET_INPUT_REDUNDANCY]; ///< ring by number
    uint32_t input_number;                  ///< newest input; 0: none yet
    uint32_t
        input_floor; ///< inputs up to here are older than the last resumption: not sent any more
    net_pace pace;
    net_client_resync resyncs[NET_CLIENT_RESYNCS_MAX];
    uint64_t probes, probes_differing, worlds_differing, resyncs_requested;
    net_client_difference differing;  ///< the last one that was found
    bool differs;                     ///< at the goodbye
    uint64_t resync_us;               ///< when the next entity may be requested
    uint64_t dropped[NET_DROP_COUNT]; ///< without what queues and mirror count themselves
    base_rng rng;
    proto_codec codec;
    net_ration ration; ///< of lines that a server can cause
    _Alignas(16) uint8_t bot_memory[NET_BOT_MEMORY_BYTES];
    _Alignas(16) uint8_t input_payload[ECS_EVENT_BYTES_MAX];
    uint8_t packet[NET_STATE_BYTES_MAX];
};
