// SPDX-License-Identifier: MIT
/// A client: what a player sees, and its session with a server.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/game.h"
#include "net/match.h"
#include "net/result.h"
#include "net/transport.h"

BASE_C_BEGIN

// ---- the presenter ----

/// The presenter: what a player sees. A second world shows the mirror a little in the past and
/// between ticks, with the player's own entities where prediction has them. The presenter never
/// changes the mirror.
///
/// Three worlds of one module on a client that draws:
///   mirror      newest rows as they arrive; hashed, dumped, seen by bots (net_client)
///   view        the mirror some ticks ago: creations, destructions, rows and events each at their
///               tick, components marked `_interpolate` between their rows; drawn by stage "render"
///   prediction  the mirror some ticks ahead, by the module's systems with tag "predict" and own
///               inputs
///
///      packet -> mirror -> samples by tick --(delay that follows jitter)--> view -> drawing
///      input  -> prediction (restored from the mirror when a row differs) -> over the view
///
/// Interpolation: a value lies between the two samples around the shown moment. A row holds until
/// the newest tick whose packet came without it. Beyond the newest sample a component goes on as it
/// moved and slows down to a stop within NET_EXTRAPOLATE_MS_MAX. A new generation, a new template,
/// or a step longer than `_teleport` per tick is shown as a jump at its tick.
/// Sources: Valve, "Source multiplayer networking" (interpolation, lag compensation); Fiedler,
/// "Snapshot interpolation" (playout delay); Ford, "Overwatch gameplay architecture and netcode"
/// (clock steering).
///
/// Memory: per replicated entity a ring of rows; nothing is allocated in a steady match.
/// Threads: one.

typedef struct net_presenter net_presenter;

/// For a person whose attempt got no answer at all. The first datagram has 1,200 bytes, and no
/// server answers a shorter one, so a line that drops it looks like a server that is not there.
#define NET_NO_ANSWER_TEXT                                                                         \
    "no server answers: look at its address and port; if they are right, a firewall is in "        \
    "between, "                                                                                    \
    "or a line that drops datagrams of 1,200 bytes, as some VPNs do"
#define NET_EXTRAPOLATE_MS_MAX 100.0
#define NET_DELAY_MS_MAX 500.0    ///< longest delay of the view behind the newest tick
#define NET_CORRECTION_MS 120.0   ///< a correction of prediction fades in about this time
#define NET_CORRECTION_SNAP 256.0 ///< a larger one (world units) is shown at once

typedef struct net_presenter_config {
    const base_allocator* allocator;
    const net_module* module;      ///< must outlive the presenter
    bool is_predicting;            ///< show own entities ahead, where the module can
    double delay_ms_min;           ///< least delay; 0: only what was measured
    uint32_t replicated_index_max; ///< of the view; 0: the default of ecs_limits
} net_presenter_config;

/// Create the view world and, if the module can predict, the prediction world. Pass the presenter
/// to the client in net_client_config. The caller owns it and destroys it after the client;
/// *presenter is NULL after an error. @return NET_OK; NET_ERR_MODULE, NET_ERR_SCHEMA (reported).
BASE_MUST_USE net_result net_presenter_create(const net_presenter_config* config,
                                              const base_reporter* reporter,
                                              net_presenter** presenter);
/// NULL does nothing.
void net_presenter_destroy(net_presenter* presenter);

/// Bring the view to the moment to show at `now_us` (the client's clock) and put predicted entities
/// over it. Once per frame, at any rate. @return false before there is anything to show, and after
/// the world refused a creation (reported once).
bool net_presenter_frame(net_presenter* presenter, uint64_t now_us);
/// Run stage "render" of the view world with `draw` as its user, after net_presenter_frame.
void net_presenter_draw(net_presenter* presenter, const net_draw* draw);
/// @return The match of the view world. Borrowed; lives as long as the presenter.
net_match* net_presenter_match(net_presenter* presenter);
/// @return The shown moment in ticks: 1200.25 is a quarter of the way from tick 1200 to 1201; 0
///         before the first.
double net_presenter_tick(const net_presenter* presenter);

/// Counters and measures, since create unless marked "now".
typedef struct net_presenter_meter {
    double delay_ms; ///< the view behind the newest tick that could be here, now
    double lead_ms;  ///< the prediction before the newest applied tick, now
    uint64_t frames;
    uint64_t stalls;                ///< times an entity's samples ran out (an episode counts once)
    uint64_t stalled_ms;            ///< of all stalls together
    uint64_t teleports;             ///< jumps shown on purpose
    uint64_t samples, samples_late; ///< rows that arrived; of these after their moment was shown
    uint64_t rollbacks;             ///< restores of the prediction world
    uint64_t corrections;      ///< of these, because an own row differed by more than a quantum
    uint64_t corrections_seen; ///< of these, by more than one world unit
    double correction_max;     ///< the largest so far, world units
} net_presenter_meter;
/// Read the counters and measures.
void net_presenter_get_meter(const net_presenter* presenter, net_presenter_meter* meter);

// ---- the client ----

/// A client: it wires a mirror match to a transport, with a session, inputs and events.
///
/// The caller owns the loop and the clock. It calls net_client_service when datagrams come and at
/// least some times a second, and net_client_tick when net_client_next_tick_us is reached. All
/// times are microseconds of one monotonic clock. Threads: one thread makes all calls.

typedef enum net_client_phase {
    NET_CLIENT_CONNECTING, ///< no answer yet
    NET_CLIENT_GREETING,   ///< connected; the hello is sent
    NET_CLIENT_PLAYING,    ///< welcomed
    NET_CLIENT_RESUMING,   ///< nothing came for NET_QUIET_MS_MAX: connecting again
    NET_CLIENT_ENDED,      ///< read net_client_get_end and the report, then destroy the client
} net_client_phase;

typedef enum net_client_end {
    NET_CLIENT_END_NONE,
    NET_CLIENT_END_GOODBYE, ///< the server ended the match
    NET_CLIENT_END_LEFT,    ///< net_client_leave
    /// The connection was lost after welcome, and stayed lost; or the server broke the protocol too
    /// often, or sent more than there is memory for. The reporter got the reason.
    NET_CLIENT_END_LOST,
    /// No answer within NET_CONNECT_MS_MAX, or the server broke the protocol before welcome.
    NET_CLIENT_END_UNREACHABLE,
    NET_CLIENT_END_REFUSED, ///< net_client_refusal has the reason
    /// Another version of the game goes on. Destroy client and match, open the game's files again,
    /// and come back with net_client_take_secret on the same transport.
    NET_CLIENT_END_EXCHANGED,
    /// The player goes on in another match (net_client_get_transfer): destroy client, match and
    /// presenter, ask that server for its game, and play there with its token on another transport.
    NET_CLIENT_END_TRANSFERRED,
} net_client_end;

/// Called for each row that was applied to the mirror (--trace).
typedef void (*net_client_trace_fn)(void* context, uint32_t client, ecs_entity entity,
                                    ecs_tick tick, uint64_t row_hash);
/// Fill the payload struct of the module's input event, which is all zero before. `player` is
/// borrowed for the call.
typedef void (*net_client_input_fn)(void* context, const net_player_context* player, void* input);

/// Called after each step of the mirror; the world is only for reading. @return true: the change
/// list, with the events that came, is cleared; false: the next step adds to it.
typedef bool (*net_client_stepped_fn)(void* context);

/// What the caller owns must outlive the client; texts too.
typedef struct net_client_config {
    /// NULL: the heap. With a base_quota of NET_CLIENT_BYTES_MAX for client, match and presenter, a
    /// hostile server ends its session instead of the program.
    const base_allocator* allocator;
    /// A match of role MIRROR, owned by the caller. NULL: the client only asks for the server's
    /// game. Then the session ends REFUSED, and net_client_refusal_game returns the game's name.
    net_match* match;
    net_transport* transport; ///< of this client alone; owned by the caller
    const char* address;      ///< "HOST:PORT"
    const char* name;         ///< of the player; NULL or nothing visible: "player"
    bool is_bot;
    uint64_t seed;             ///< of the bot's random numbers
    net_client_input_fn input; ///< makes the inputs; NULL: the module's bot_think does
    void* input_context;
    net_client_trace_fn trace; ///< NULL: no trace
    void* trace_context;
    net_client_stepped_fn stepped; ///< NULL: none
    void* stepped_context;
    /// Gets all that comes, and shows it to a person. Owned by the caller. NULL: no person (bots,
    /// headless clients).
    net_presenter* presenter;
    /// Called for each packet and each change of the phase; NULL: no trace.
    net_trace_fn session_trace;
    void* session_trace_context;
    const base_reporter* reporter; ///< for people: the connection was lost, is back; NULL: silent
    uint32_t rate_bytes_max; ///< that the server may send, bytes a second; 0: the server decides
    /// The client decodes, keeps rows, acknowledges, and can tell the digest of what it has. It
    /// changes no world, drops game events and sends default inputs. Any number of thin clients may
    /// share one match, when all are on one thread and on one server.
    bool is_thin;
    /// The secret of a session that ended EXCHANGED (NET_RESUME_BYTES), copied: its player goes on.
    /// NULL: a new player.
    const uint8_t* secret;
    /// It only watches, and sees what a player sees; no inputs are made. A server that takes no
    /// spectators refuses it.
    bool is_spectator;
    uint32_t watched; ///< of a spectator: net_client_watch from the start; 0: the first player
    const struct net_solo*
        solo; ///< the part (net/solo.h): let the server code its packets for this
              ///< client alone; NULL: shared code
} net_client_config;

typedef struct net_client net_client;

/// Make a client; it connects with the first net_client_service. The config is copied; what it
/// points to is not. Call net_client_destroy when done.
BASE_MUST_USE net_client* net_client_create(const net_client_config* config);
/// Destroy the client, in any phase. The server gets no goodbye: call net_client_leave and service
/// until ENDED for that. NULL is allowed.
void net_client_destroy(net_client* client);
/// Receive and look after the connection: empty the transport, apply what came, resume after a
/// silence, give up after a longer one.
void net_client_service(net_client* client, uint64_t now_us);
/// Run one client tick: step the mirror's own systems, make an input, send inputs and
/// acknowledgements. Does nothing but count time unless the client is PLAYING.
void net_client_tick(net_client* client, uint64_t now_us);
/// When net_client_tick is due next. The rate is the server's, up to 5 % faster or slower, so that
/// inputs reach the server just before their tick. After a stall at most NET_CATCH_UP_TICKS_MAX
/// ticks are caught up.
uint64_t net_client_next_tick_us(const net_client* client);
/// Run the ticks that are due, until the session ends.
void net_client_catch_up(net_client* client, uint64_t now_us);
/// Leave: send a goodbye. Go on with service until ENDED, 1 s at most. Does nothing when the
/// session is over.
void net_client_leave(net_client* client, uint64_t now_us);

/// The phase now.
net_client_phase net_client_get_phase(const net_client* client);
/// Why the session ended; NET_CLIENT_END_NONE before.
net_client_end net_client_get_end(const net_client* client);
/// The client number, 1, 2...; 0: not welcomed.
uint32_t net_client_number(const net_client* client);
/// Leave the session to another client on the same transport (net_client_config.secret): this one
/// ends EXCHANGED, if it has not. `secret` has NET_RESUME_BYTES.
/// @return false: there is no session that could go on.
bool net_client_take_secret(net_client* client, uint8_t* secret);
/// The same, and this one goes on until the other one comes.
bool net_client_secret(const net_client* client, uint8_t* secret);
/// Once ENDED by TRANSFERRED: where the player goes on; NULL before. Borrowed until the client is
/// destroyed. Ask net_transfers_follow first.
const net_transfer* net_client_get_transfer(const net_client* client);
/// Newest tick of the mirror; 0 before the first.
ecs_tick net_client_tick_newest(const net_client* client);
/// The entity of this client's player; ECS_ENTITY_NONE when it has none or the server did not send
/// it yet.
ecs_entity net_client_player(const net_client* client);
/// The next higher client number in the roster: begin with 0, which also ends.
uint32_t net_client_next_player(const net_client* client, uint32_t before);
/// Name of the player with client number `number`; NULL when the roster has none. Borrowed until
/// the next service.
const char* net_client_player_name(const net_client* client, uint32_t number);
/// Of a spectator: see what this player of the roster sees. When that one leaves, the next of the
/// roster is watched. The server changes four times a second at most.
void net_client_watch(net_client* client, uint32_t number);
/// Client number of the player that it watches; 0: of none. net_client_player is the entity.
uint32_t net_client_watched(const net_client* client);
/// After REFUSED: the reason (RefusedReason of wire.proto, or NET_REFUSAL_BY_GAME), and its
/// sentence in `text`. After UNREACHABLE: 0, and a sentence when there is a reason to tell, else
/// "". Only what a person may be shown (base/shown.h). NUL-terminated and cut to `text_bytes`.
uint32_t net_client_refusal(const net_client* client, char* text, size_t text_bytes);
/// The game that the refusing server names; "" when it named none. Untrusted text: use it only to
/// look up a game by name. Borrowed until the client is destroyed.
const char* net_client_refusal_game(const net_client* client);
/// What a server says about itself to a client that only asked for its game.
typedef struct net_server_info {
    uint32_t players, players_max; ///< players_max 0: it did not say
    uint32_t spectators, spectators_max;
    double ping_ms; ///< from the question to the answer
} net_server_info;
/// The match stands still, and the session goes on: a sentence of the server for a person. NULL: it
/// does not. Borrowed until the next service.
const char* net_client_still(const net_client* client);
/// After REFUSED, of a client without a match. @return false: it did not ask, or got no answer.
bool net_client_server_info(const net_client* client, net_server_info* info);
/// Queue an event for the server: `message` as on the wire (position in the module's table + 1), of
/// kind TO_SERVER (asserted); `payload` is its struct, copied.
/// @return NET_OK; NET_ERR_CLOSED (not PLAYING: drop it); NET_ERR_FULL (longer than an event may
///         be, or the queue is full: try the next tick); NET_ERR_MALFORMED (net_match_pack).
///         Failures while PLAYING are counted as drops. Of a spectator: NET_ERR_CLOSED.
BASE_MUST_USE net_result net_client_send_event(net_client* client, uint32_t message,
                                               const void* payload);

/// The fields of the `client` line.
typedef struct net_client_report {
    uint32_t client; ///< client number; 0: never welcomed
    /// Newest applied. After the goodbye to a client that had everything it is the server's last.
    ecs_tick tick;
    net_world_digest scope;      ///< of the mirror
    uint32_t loading, allocated; ///< entities in these states
    uint64_t bad_transitions, updates;
    uint64_t sim_dropped, recv_bytes, recv_reliable_bytes, sent_bytes;
    double rtt_ms, loss_percent;
    net_client_end end;
    bool differs;    ///< its world was not the server's at the goodbye; the reporter got the entity
    uint64_t probes; ///< checksum probes that could be compared
    uint64_t probes_differing; ///< of those, rows that were wrong: requested again
    uint64_t worlds_differing; ///< entities whose world was not as their newest row: the same
    uint64_t resyncs_requested;
    uint64_t dropped[NET_DROP_COUNT];
} net_client_report;
/// The figures so far. Walks the whole world for `scope`: for the end, not for every tick.
net_client_report net_client_get_report(net_client* client);
#define NET_CLIENT_LINE_BYTES 512u ///< enough for net_client_line
/// Write the line "client id=..." that programs print of a client at its end.
/// @return false: it was never welcomed, or the line was cut.
bool net_client_line(net_client* client, char* line, size_t bytes);

/// What goes through the connection, for panels and tests. Counts only rise. body_bits =
/// record_bits + net_client_component_bits of all components. The rest of in_bytes, that is
/// in_bytes - (header_bits + body_bits) / 8 - event_bytes - control_bytes, carries them: ENet's
/// headers and acknowledgements, protobuf, packets that came twice or could not be decoded.
typedef struct net_client_meter {
    uint64_t in_bytes, out_bytes; ///< UDP payload
    uint64_t in_datagrams, out_datagrams;
    uint64_t header_bits; ///< of in_bytes: headers of state packets
    uint64_t body_bits;   ///< of in_bytes: snapshots
    uint64_t record_bits; ///< of body_bits: handles, templates, base ages, change masks
    uint64_t event_bytes, control_bytes; ///< of in_bytes: game events, control messages
    double rtt_ms, loss_percent;         ///< now
    double jitter_ms;                    ///< now; of arrivals against their ticks (RFC 3550)
    uint64_t quiet_us;                   ///< since the newest datagram
    uint32_t resumes;                    ///< connections regained
    uint32_t input_depth;                ///< inputs that waited on the server, as it reported last
    double pace;                         ///< client ticks per server tick now, 0.95..1.05
} net_client_meter;
void net_client_get_meter(const net_client* client, net_client_meter* meter);
/// Get the number of bits with which snapshots carried a component. The id is one of the mirror's;
/// an unknown one has 0.
uint64_t net_client_component_bits(const net_client* client, ecs_component_id component);

BASE_C_END
