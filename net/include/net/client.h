// SPDX-License-Identifier: MIT
/// The client's side: session, mirror, inputs; wiring of a mirror match to a transport.
///
/// The caller owns the loop and the clock: net_client_service when datagrams come, net_client_tick once
/// per client tick. Threads: one.
#pragma once

#include "net/drops.h"
#include "net/game.h"
#include "net/trace.h"
#include "net/transport.h"
#include "net/world_digest.h"

typedef struct net_match net_match;         ///< net/match.h
typedef struct net_presenter net_presenter; ///< net/presenter.h

typedef enum net_client_phase {
    NET_CLIENT_CONNECTING, ///< nobody answered yet
    NET_CLIENT_GREETING,   ///< hello sent
    NET_CLIENT_PLAYING,    ///< welcome
    NET_CLIENT_RESUMING, ///< nothing heard for NET_QUIET_MS_MAX: connecting again, as the same client
    NET_CLIENT_ENDED,
} net_client_phase;

typedef enum net_client_end {
    NET_CLIENT_END_NONE,
    NET_CLIENT_END_GOODBYE,     ///< the server ended the match
    NET_CLIENT_END_LEFT,        ///< we left
    NET_CLIENT_END_LOST,        ///< connection lost after welcome
    NET_CLIENT_END_UNREACHABLE, ///< nobody answered within NET_CONNECT_MS_MAX
    NET_CLIENT_END_REFUSED,     ///< net_client_refusal says why
} net_client_end;

/// Called for each applied update (--trace).
typedef void (*net_client_trace_fn)(void* context, uint32_t client, ecs_entity entity,
                                    ecs_tick tick, uint64_t row_hash);
/// Fill the input payload; NULL in the config uses the module's bot_think.
typedef void (*net_client_input_fn)(void* context, const net_player_context* view, void* input);

typedef struct net_client_config {
    const base_allocator* allocator;
    /// Role MIRROR, owned by the caller. NULL: only ask which game the server runs: the session ends
    /// REFUSED and net_client_refusal_game tells.
    net_match* match;
    net_transport* transport; ///< owned by the caller
    const char* address;      ///< "HOST:PORT"
    const char* name;
    bool is_bot;
    uint64_t seed; ///< of the bot's chance
    net_client_input_fn input;
    void* input_context;
    net_client_trace_fn trace;
    void* trace_context;
    /// What the player sees: fed with all that comes. Owned by the caller, must outlive the client; NULL:
    /// nobody looks (bots, headless clients).
    net_presenter* presenter;
    net_trace_fn
        session_trace; ///< called for each packet and each change of the phase; NULL: no trace
    void* session_trace_context;
    const base_reporter* reporter; ///< lost and regained connections, for people; may be NULL
    uint32_t rate_bytes_max;       ///< of what the server sends us, per second; 0: it decides
} net_client_config;

typedef struct net_client net_client;

BASE_MUST_USE net_result net_client_create(const net_client_config* config, net_client** client);
void net_client_destroy(net_client* client);
void net_client_service(net_client* client, uint64_t now_us);
/// Sample an input, send inputs and acknowledgements, step the mirror's own systems.
void net_client_tick(net_client* client, uint64_t now_us);
/// When net_client_tick is due next: the server's rate, up to 5 % faster or slower, so that inputs reach
/// the server just before their tick. After a stall ticks are not caught up beyond NET_CATCH_UP_TICKS_MAX.
uint64_t net_client_next_tick_us(const net_client* client);
/// Name of a player, as told by the server; NULL when unknown. Borrowed until the next service.
const char* net_client_player_name(const net_client* client, uint32_t number);
/// Leave: goodbye to the server, then ENDED.
void net_client_leave(net_client* client, uint64_t now_us);
net_client_phase net_client_get_phase(const net_client* client);
net_client_end net_client_get_end(const net_client* client);
/// After UNREACHABLE: 0 and a sentence when the address itself is at fault, else no text.
/// After REFUSED: the reason (wire.proto RefusedReason) and its sentence.
uint32_t net_client_refusal(const net_client* client, char* text, size_t text_bytes);
/// The game that the refusing server runs, as it says; "" when it did not. A stranger's word: open it by
/// name only, never as a path.
const char* net_client_refusal_game(const net_client* client);
ecs_entity net_client_player(const net_client* client);
/// The newest tick that was applied; 0 before the first.
ecs_tick net_client_tick_newest(const net_client* client);
/// Post a client-to-server game event: payload struct of message `message` (position + 1).
BASE_MUST_USE net_result net_client_send_event(net_client* client, uint32_t message,
                                               const void* payload);

/// The client line.
typedef struct net_client_report {
    uint32_t client;
    ecs_tick tick; ///< newest applied; after a goodbye of a caught-up client the server's last
    net_world_digest scope;
    uint32_t loading, allocated;
    uint64_t bad_transitions, updates;
    uint64_t sim_dropped, recv_bytes, recv_reliable_bytes, sent_bytes;
    double rtt_ms, loss_percent;
    net_client_end end;
    uint64_t packets_malformed, packets_stale, events_received, events_dropped;
    uint64_t
        inputs_refused; ///< the module's input was longer than NET_INPUT_BYTES_MAX: a resting one was sent
    uint64_t probes; ///< checksums of the server that could be compared
    uint64_t
        probes_differing; ///< of those, with a world that is not the server's: it was asked for the row
    uint64_t resyncs_requested;
    uint64_t dropped[NET_DROP_COUNT];
} net_client_report;
net_client_report net_client_get_report(net_client* client);

/// What goes through the connection, for panels and tests; all counts rise only. Bits of state bodies are
/// counted where they are decoded: body_bits = record_bits + net_client_component_bits of all components.
/// The rest, in_bytes - (header_bits + body_bits) / 8 - event_bytes - control_bytes, is what carries them:
/// ENet's headers and acknowledgements, protobuf, packets that came twice or could not be decoded.
typedef struct net_client_meter {
    uint64_t in_bytes, out_bytes; ///< UDP payload
    uint64_t in_datagrams, out_datagrams;
    uint64_t header_bits;                ///< of in_bytes: headers of state packets
    uint64_t body_bits;                  ///< of in_bytes: state bodies
    uint64_t record_bits;                ///< of those: handles, templates, base ages, change masks
    uint64_t event_bytes, control_bytes; ///< of in_bytes: game events, channel 0
    double rtt_ms, loss_percent,
        jitter_ms;        ///< now; jitter: of arrivals against their ticks (RFC 3550)
    uint64_t quiet_us;    ///< since anything was heard
    uint32_t resumes;     ///< connections regained
    uint32_t input_depth; ///< as last reported by the server
    double pace;          ///< this client's ticks per server tick now, 0.95..1.05
} net_client_meter;
void net_client_get_meter(const net_client* client, net_client_meter* meter);
/// Bits of state bodies that carried a component, by ecs_component_id of the mirror; 0 beyond.
uint64_t net_client_component_bits(const net_client* client, ecs_component_id component);
