// SPDX-License-Identifier: MIT
/// Does a server still talk like a server? Its faults, and the time since it did something right.
///
/// A message that cannot be decoded, or that breaks the protocol, is a fault. Through an
/// authenticated connection no network makes one, so a client leaves a server of many faults, and
/// one that does nothing right any more. A plain struct; time is an argument.
#pragma once

#include "mirror/mirror.h"
#include "session/acks.h"
#include "session/control.h"
#include "session/event_queue.h"
#include "session/input_packet.h"
#include "session/pace.h"
#include "session/rate.h"

#include "net/client.h"
#include "net/result.h"
#include "core/ration.h"

#include "proto/codec.h"

#include "base/macros.h"
#include "base/rng.h"

#include "wire.pb-c.h"

#define NET_CLIENT_FAULTS_MAX 32u        ///< within NET_CLIENT_FAULTS_MS; one more ends the session
#define NET_CLIENT_FAULTS_MS 10000u      ///< the window of NET_CLIENT_FAULTS_MAX
#define NET_CLIENT_FAULTS_ONLY_MS 10000u ///< so long only faults came: the session ends

typedef struct net_client_faults {
    uint64_t count;
    uint64_t at_us[NET_CLIENT_FAULTS_MAX]; ///< ring by count
    uint64_t only_us; ///< first fault since the last right message; with is_only
    bool is_only;     ///< until a right message comes: a state packet that was applied, a control
                      ///< message that was followed
} net_client_faults;

/// The life of a client's session: its phase, the control channel, silence, resumption, the end.

/// Of a server that falls silent again and again, others are asked so often at once, and then once
/// in a second: they may be no servers at all.
#define NET_CLIENT_ASKS_MAX (NET_QUIET_MS_MAX / NET_UNEASY_STEP_MS)

#define NET_CLIENT_RETRY_MS                                                                        \
    500u ///< between two attempts to resume, when the first is refused at once

/// Change the phase. Asserts that the phases have this arrow. `reason`: static text, for the trace.
void net_client_set_phase(net_client* client, net_client_phase phase, const char* reason);
/// End at once. The server gets a disconnect, if it still listens, so that it does not wait for a
/// timeout.
void net_client_finish(net_client* client, net_client_end end);
/// A goodbye was sent or came: service the connection until it ends or for CLOSE_MS_MAX, then
/// finish.
void net_client_begin_closing(net_client* client, net_client_end end);
/// While GREETING: the server has no place for a bot before this time. Connect again then.
void net_client_greet_later(net_client* client, uint32_t after_ms);
/// The session goes on with another client (NET_CLIENT_END_EXCHANGED).
void net_client_end_exchanged(net_client* client);
/// The connection is lost, the session is not: connect again. The client must have a secret.
void net_client_begin_resuming(net_client* client);
/// While RESUMING: this server lost the match, and does not know it. Look for the one that has it.
void net_client_leave_stale(net_client* client);
/// Once per service: ask others and resume after a silence, retry, give up.
void net_client_check_connection(net_client* client);
/// End at once because of what the server does, and report why. `why` completes a sentence.
void net_client_give_up(net_client* client, const char* why);
/// What came needs more than this client can have, or the world refused it. `result`: of the part
/// that failed. As net_client_give_up.
void net_client_overrun(net_client* client, net_result result);
/// End the session when the quota of its allocator, if it is one, is over.
void net_client_check_memory(net_client* client);
/// Count a message that breaks the protocol. After too many of them
/// (client_state.h) the service that runs, or the next one, ends the session.
void net_client_malformed(net_client* client);
/// Seconds since the newest datagram.
double net_client_quiet_s(const net_client* client);

/// Send a control message and trace it. @return what net_transport send returns.
net_result net_client_send_control(net_client* client, const ProtobufCMessage* message);
/// Trace a packet; `name` is static text.
void net_client_trace_packet(const net_client* client, net_trace_kind kind, const char* name,
                             uint32_t number, size_t bytes);
/// Of the whole world, as the server digests its scope.
net_world_digest net_client_digest(net_client* client);

/// The state of a client, for the files of this room.

#define NET_CLIENT_GUARD_BYTES 64u ///< after the memory of bot_think
#define NET_CLIENT_GUARD 0xa5u
#define NET_CLIENT_RESYNCS_MAX 4u     ///< entities that a client requests at a time
#define NET_CLIENT_MESSAGES_MAX 4096u ///< that one service takes in

typedef struct net_rows net_rows;                         ///< state/rows.h
typedef struct net_varsize_receiver net_varsize_receiver; ///< state/varsize.h

/// An entity that differs from the server's, until an absolute record of it comes.
typedef struct net_client_resync {
    ecs_entity entity; ///< ECS_ENTITY_NONE: a free place
    ecs_tick tick;     ///< of its newest row then
    uint32_t tries;
    uint32_t wait; ///< ticks until it is requested (again)
} net_client_resync;

struct net_client {
    base_owner owner;
    net_client_config config;
    net_client_phase phase;
    net_client_end end;
    bool is_closing; ///< goodbye is sent or came: the connection is serviced until it ends
    uint64_t closing_us;
    uint64_t
        started_us; ///< when the present attempt to connect or to greet began, or will; 0: at once
    uint64_t now_us;
    net_peer peer;
    bool has_peer;
    uint32_t client;                  ///< client number; 0 before welcome
    uint32_t index_max;               ///< of Welcome
    uint8_t resume[NET_RESUME_BYTES]; ///< the secret of the session
    bool has_resume;
    uint64_t received_us; ///< arrival of the newest datagram; while resuming: before the loss
    uint64_t epoch;       ///< the largest of a Welcome
    net_address stale;    ///< of a server with a smaller one
    uint64_t stale_us;    ///< when it was found; 0: none was
    char still[NET_END_TEXT_BYTES]; ///< why the match stands still; "": it does not
    uint64_t still_us;              ///< when the server said so, newest
    bool is_reached;   ///< the connection is open, so the server has to answer the greeting
    uint64_t retry_us; ///< while resuming: when to connect next, or when the attempt began
    uint64_t back_us;  ///< when the session was resumed last
    /// Servers that may take over from this one, checked, and this one (port 0: not known).
    net_address standbys[NET_STANDBYS_MAX], server;
    uint32_t standby_count;
    bool was_closed;   // the connection, by its server: the newest one that was lost
    uint64_t asked_us; ///< when they were asked last
    net_budget asks;   ///< of them, one in a second
    net_client_faults faults;
    bool has_enough;   ///< of them: the session ends with this service
    bool has_answered; ///< the SchemaQuestion of this connection
    uint32_t resumes;
    bool has_played;      ///< a state packet came, of this connection or an earlier one
    bool is_rebased;      ///< another server went on with the match
    ecs_tick event_tick;  ///< of the newest reliable game event; 0: none came
    uint32_t event_count; ///< of that tick
    uint64_t measured_us; ///< of the datagram bytes that came in a second
    uint64_t recv_bytes;  ///< at that time
    uint32_t rate_bytes;  ///< what was measured
    net_roster roster;
    net_meter meter;
    uint32_t input_depth; ///< as the server reported last
    uint32_t refusal;     ///< RefusedReason
    char refusal_text[256];
    char refusal_game[NET_GAME_NAME_BYTES_MAX];
    net_server_info info;
    uint32_t refused_ms;   ///< after this time it may come in; 0: it has not been said
    uint64_t greeted_us;   ///< when the hello was sent
    net_transfer transfer; ///< with NET_CLIENT_END_TRANSFERRED
    uint32_t watched;      ///< of a spectator: what it told the server last; 0: none
    bool has_watched;      ///< it told the server
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
    net_input_bases said;    ///< packets that were sent
    bool server_reads_short; ///< of the newest Welcome
    uint32_t input_loss;     ///< of 256 packets, as the server reported last
    net_ack_result acks;     ///< scratch
    net_event_outbox outbox;
    net_event_inbox inbox;
    net_input inputs[NET_INPUT_REDUNDANCY]; ///< ring by number
    uint32_t input_number;                  ///< newest input; 0: none yet
    uint32_t
        input_floor; ///< inputs up to here are older than the last resumption: not sent any more
    net_pace pace;
    net_client_resync resyncs[NET_CLIENT_RESYNCS_MAX];
    uint64_t probes, probes_differing, worlds_differing, resyncs_requested;
    net_mirror_difference differing;  ///< the last one that was found
    bool differs;                     ///< at the goodbye
    uint64_t resync_us;               ///< when the next entity may be requested
    uint64_t dropped[NET_DROP_COUNT]; ///< without what queues and mirror count themselves
    base_rng rng;
    proto_codec codec;
    net_ration ration; ///< of lines that a server can cause
    _Alignas(16) uint8_t bot_memory[NET_BOT_MEMORY_BYTES];
    uint8_t bot_guard[NET_CLIENT_GUARD_BYTES]; ///< each NET_CLIENT_GUARD
    _Alignas(16) uint8_t input_payload[NET_INPUT_BYTES_MAX];
    uint8_t packet[NET_STATE_BYTES_MAX];
};

/// The client's end of the control channel.

/// The connection is made: send the hello, as a new client or as one that resumes.
void net_client_greet(net_client* client);
/// Of a spectator, once per tick: watch another player when there is none, or it left.
void net_client_choose_watched(net_client* client);
/// A control message came.
void net_client_receive_control(net_client* client, const uint8_t* bytes, size_t size);

/// What comes to a client.

/// An event of the transport.
void net_client_receive(net_client* client, const net_transport_event* event);
/// Deliver the game events whose targets exist by now.
void net_client_deliver_events(net_client* client);

/// What a client sends on the realtime channel.

/// Make the input of this client tick. The player must be known.
void net_client_make_input(net_client* client);
/// Send one packet: the newest inputs, acknowledgements, events, resync requests.
void net_client_send_inputs(net_client* client);

/// Variable-size components of a client.

/// Acknowledge the values that came since the last call.
void net_client_ack_varsize(net_client* client);
