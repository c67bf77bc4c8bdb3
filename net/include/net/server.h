// SPDX-License-Identifier: MIT
/// A server: it wires a match to a transport, with sessions, inputs, replication and a log.
///
/// The caller owns the loop and the clock. It calls net_server_service between ticks, as often as
/// datagrams come, and net_server_tick once per tick. All times are microseconds of one monotonic
/// clock (net_loop_now_us).
///
/// Threads: one thread makes all calls. With is_threaded the server has a thread for each lane of
/// the transport. They build and send the datagrams of a tick while the caller's thread runs the
/// systems of the next one. All calls but net_server_tick and those with a const server wait for
/// them. So, while net_server_wait_sent returns false and a tick is due, tick first and service
/// later. In net_server_service the lanes read packets. The datagrams are the same without threads
/// and with any number of lanes.
#pragma once

#include "net/result.h"
#include "net/transport.h"
#include "net/match.h"

BASE_C_BEGIN

typedef struct net_ban net_ban;   ///< net/token.h
typedef struct net_bans net_bans; ///< net/token.h

/// Run the match's next tick from a log, in place of what the clients sent (`begin`, borrowed).
/// @return false: it cannot be run, and the match ends.
typedef bool (*net_server_step_fn)(void* context, const net_tick_inputs* begin);

/// Fill `size` bytes that no client can guess.
typedef void (*net_entropy_fn)(void* bytes, size_t size);

/// Write the secret with which this client of the match may come back, also to another process that
/// goes on with the match.
typedef void (*net_secret_fn)(void* context, uint32_t client, void* bytes, size_t size);

/// How packets are coded for clients that read solo code: a fifth fewer bytes, for each client some
/// times the processor time, half a megabyte here and a megabyte there. It is chosen when a client
/// joins and stays.
typedef enum net_coder {
    NET_CODER_AUTO,   ///< as NET_CODER_SOLO for players whose limit is NET_SOLO_RATE_BYTES_MAX or
                      ///< less: for NET_SOLO_CLIENTS_LEAST of them at a time, and for more while
                      ///< all their rows are at most NET_SOLO_ROWS_PER_S_MAX; else shared
    NET_CODER_SHARED, ///< all clients share what was coded once
    NET_CODER_SOLO,   ///< each such client has its own statistics
} net_coder;
#define NET_SOLO_RATE_BYTES_MAX 24000u ///< a second: where the rate of every client begins
#define NET_SOLO_CLIENTS_LEAST 16u
/// A tenth of a core, at a microsecond a row. Rows are counted, so a match repeats itself.
#define NET_SOLO_ROWS_PER_S_MAX 100000u

/// What the caller owns must outlive the server.
typedef struct net_server_config {
    /// NULL: the heap. With is_threaded all threads use it, possibly at the same time.
    const base_allocator* allocator;
    net_match* match;         ///< role SERVER; owned by the caller. One that has stepped goes on:
                              ///< net_server_expect
    net_transport* transport; ///< owned by the caller
    net_observer
        observer; ///< what records the match: it reads the server's rows, so it is closed first
    uint32_t clients_max;    ///< 1..NET_CLIENTS_MAX; further clients are refused
    uint32_t spectators_max; ///< clients that only watch, besides; with clients_max at most
                             ///< NET_CLIENTS_MAX
    uint32_t clients_min;    ///< hold the first tick until this many clients have joined
    bool pauses_when_empty;  ///< no tick begins while no player is in the match or joins;
                             ///< spectators do not count. The log says that it waits for players
    ecs_tick ticks_max;      ///< end the match after this many ticks; 0: never
    /// For the operator: clients that are away, come back or were dropped, and why. NULL: silent.
    const base_reporter* reporter;
    /// Source of the secrets that bring clients back. NULL: derived from the match's seed, so that
    /// a test repeats itself; such secrets can be guessed.
    net_entropy_fn entropy;
    net_secret_fn secret; ///< of the secrets that bring clients back; NULL: `entropy` makes them
    void* secret_context;
    uint32_t rate_bytes_max; ///< datagrams per client, bytes a second; 0: NET_RATE_BYTES_DEFAULT
    /// With N, client c gets packets at ticks with tick mod N = c mod N. 0 or 1: at every tick; at
    /// most NET_SEND_DIVISOR_MAX.
    uint32_t send_divisor;
    bool is_threaded; ///< a thread for each lane; without those that cannot be had
    /// Called for each packet and each change of a session's state; NULL: no trace. With
    /// is_threaded all threads call it, possibly at the same time.
    net_trace_fn session_trace;
    void* session_trace_context;
    /// Players of one IPv4 address or IPv6 /64 at a time; loopback is never limited. 0: no limit by
    /// address. Use NET_ADDRESS_CLIENTS_DEFAULT for a public server.
    uint32_t clients_per_address_max;
    /// Sessions of one player, and of one such address when it is limited, that begin within
    /// NET_SESSIONS_WINDOW_MS; 0: NET_SESSIONS_MAX. A bot that is refused for it tries again.
    uint32_t sessions_max;
    net_bans* bans;              ///< owned by the caller; NULL: there are no bans
    const struct net_solo* solo; ///< the part (net/solo.h); NULL: `coder` is NET_CODER_SHARED
    net_coder coder;
    const struct net_send_tap* tap; ///< looks at what is sent (net/explain.h); NULL: none
    net_server_step_fn step;        ///< runs a log again. NULL: a match as usual
    /// The match is another server's: its ticks come by net_server_follow, and spectators
    /// alone join here. `clients_max` counts for nothing.
    bool is_following;
    void* step_context;
    /// A player whom a back end's token names waits for the join until this returns true, having
    /// filled in what a host knows (net_game_player.has_record and so on), borrowed until the next
    /// tick. Asked in each tick, and while tick 1 waits for clients_min. NULL, and in a match
    /// without a host (net_match_config.is_hosted): no one waits.
    bool (*admit)(void* context, uint64_t now_us, net_game_player* player);
    void* admit_context;
    uint8_t watch_key;          ///< who has a token of this key may watch, not play; 0: none
    uint64_t (*clock_us)(void); ///< for net_server_get_times; NULL: nothing is measured
} net_server_config;

typedef struct net_server net_server;

/// A server goes through these in order; it may leave some out.
typedef enum net_server_phase {
    NET_SERVER_HOLDING,  ///< waits for clients_min
    NET_SERVER_RUNNING,  ///< one tick of the match per net_server_tick
    NET_SERVER_SETTLING, ///< the match stands still until each client has acknowledged everything
    NET_SERVER_LEAVING,  ///< goodbyes are sent
    NET_SERVER_ENDED,    ///< destroy the server
} net_server_phase;

/// Make a server. The config is copied; what it points to is not. Call net_server_destroy when
/// done. Asserts the ranges that net_server_config names.
/// @return NET_OK; NET_ERR_SCHEMA (the module's interest rules name no such component, or a
///         replicated component cannot be sent: reported, mend the module). On failure *server is
///         untouched.
BASE_MUST_USE net_result net_server_create(const net_server_config* config, net_server** server);
/// Destroy the server, in any phase. Waits for its thread. Clients get no goodbye: call
/// net_server_stop and tick until ENDED for that. NULL is allowed.
void net_server_destroy(net_server* server);
/// Receive: empty the transport, decode, check and queue. Call it any number of times between
/// ticks.
void net_server_service(net_server* server, uint64_t now_us);
/// Run one tick: log, step, track changes, log, replicate, send. While the server is holding or
/// settling the match does not step, but packets are still sent.
void net_server_tick(net_server* server, uint64_t now_us);
/// The tick after the next one is due already: until this is taken back nothing is sent after a
/// tick, since it would be late at once. What waits is sent after the first tick without it.
void net_server_hurry(net_server* server, bool is_hurried);
/// With is_following: run the next tick of the match with what entered it there (`begin`, checked:
/// net_log_entering_add), in place of what sessions sent; log and send as in any tick. Before it,
/// net_server_control does what an operator did there. While no tick is there yet, net_server_tick
/// keeps the sessions. While HOLDING or RUNNING.
void net_server_follow(net_server* server, uint64_t now_us, const net_tick_inputs* begin);
/// Of a server with is_following: the match goes on here, at its next tick. Its players have
/// places, as by net_server_expect, and come back with their secrets.
/// @return NET_OK; NET_ERR_FULL (more players than clients_max: those with the highest numbers
///         have no place, and leave).
BASE_MUST_USE net_result net_server_take_over(net_server* server, uint64_t now_us);
/// All goodbyes of an end say this sentence, unless the game gave a reason (copied, cut at
/// NET_END_TEXT_BYTES - 1).
void net_server_say_why(net_server* server, const char* text);
/// Go on with another match at the same tick (net_match_create_from), while RUNNING, between ticks.
/// Each client that plays keeps its number, name and player, but loses its connection: it comes
/// back with its secret and starts again, or is refused when its game does not fit any more. The
/// old match can be destroyed after NET_OK.
/// @return NET_OK; NET_ERR_CLOSED (net_account_tap: it counts the old components);
///         NET_ERR_FULL (the log's keyframe before is not written yet: try again behind the next
///         tick); NET_ERR_SCHEMA (as net_server_create). After an error nothing
///         changed.
BASE_MUST_USE net_result net_server_exchange(net_server* server, net_match* match);
/// A match that has stepped goes on here: one of its players has a place, and comes back with its
/// secret (net_server_config.secret: the one that it got where it joined). Its session goes on, and
/// so does what its world shows; it starts again when it is more than NET_REBASE_TICKS_MAX ticks
/// ahead. Who is not here NET_SILENCE_MS_MAX after `now_us` leaves. For each player of the match,
/// before the first tick.
/// @return NET_OK; NET_ERR_FULL (more than clients_max).
BASE_MUST_USE net_result net_server_expect(net_server* server, uint32_t client, uint64_t now_us);
/// Tell all clients, now and at their Welcome, which servers may take over from this one: at most
/// NET_STANDBYS_MAX (asserted), copied, in the order in which clients ask them when they hear
/// nothing. None after create; clients whose server before named some keep those. Waits for the
/// lanes.
void net_server_set_standbys(net_server* server, const net_address* addresses, uint32_t count);
/// Which of the servers of this match it is: of its claim, rising with each takeover. 0, the
/// default: it is the only one. Clients that know a later one leave it.
void net_server_set_epoch(net_server* server, uint64_t epoch);
/// Request an orderly end, as for a signal. The match stands still until each client has
/// acknowledged everything, NET_STOP_MS_MAX at most; then all clients get a goodbye, then the
/// server is ENDED, NET_STOP_WHOLE_MS_MAX after this call at most. Go on with service and tick
/// until then. A second call sends the goodbyes at once and ends NET_STOP_AGAIN_MS_MAX later.
void net_server_stop(net_server* server, uint64_t now_us);
/// Let no new client in from now on: it is refused with this sentence (copied, cut at
/// NET_END_TEXT_BYTES - 1; "": all as usual again). Clients that are here stay, and come back with
/// their secrets.
void net_server_refuse(net_server* server, const char* text);
/// Add a ban to the list of the config and end the sessions that it meets; *ended is their number.
/// Their clients get NET_END_BANNED and the ban's reason. Waits for the second thread.
/// @return NET_OK; NET_ERR_CLOSED (the config has no list); NET_ERR_FULL (the ban was not
///         added).
BASE_MUST_USE net_result net_server_ban(net_server* server, const net_ban* ban, uint32_t* ended);
/// End the sessions that the list of bans meets now, after a change of the list (net_bans_load).
/// @return their number.
uint32_t net_server_enforce_bans(net_server* server);
/// End the session of a client that plays or watches, now: a goodbye with the operator's reason,
/// which may be empty. It may come again: ban it, too, to keep it away. Waits for the lanes.
/// @return false: there is no such session.
bool net_server_kick(net_server* server, uint32_t client, const char* reason);
/// Send a player or spectator to another match: its client goes on there by itself, and its player
/// leaves this one. `token` is the text of one that the other server accepts ("": one of the
/// built-in key), `page` a URL for browsers or "", `why` a sentence or "". Waits for the lanes.
/// @return NET_OK; NET_ERR_CLOSED (no such client, or silent for NET_UNEASY_MS: it stays);
///         NET_ERR_MALFORMED (no HOST:PORT, token, or http URL; or longer than net_transfer has
///         room for).
BASE_MUST_USE net_result net_server_transfer(net_server* server, uint32_t client,
                                             const char* address, const char* token,
                                             const char* page, const char* why);
/// Do something to the match as its operator, before the next tick (net_match_control): what
/// can be done is logged, then done. Clients take new settings by coming back, as after an
/// exchange. While HOLDING or RUNNING, between ticks; the log has_controls. Waits for the lanes.
/// @return NET_OK; NET_ERR_CLOSED (the match is over); NET_ERR_FULL (longer than a record);
///         NET_ERR_UNKNOWN, NET_ERR_MALFORMED as net_match_control.
BASE_MUST_USE net_result net_server_control(net_server* server, const char* verb,
                                            const net_match_argument* arguments, uint32_t count,
                                            const base_reporter* reporter);
/// The match stands still after `ticks` more ticks, UINT64_MAX: never. Datagrams flow, clients
/// stay, and the log says that the server lives. A stop or an end acts all the same.
void net_server_pause_after(net_server* server, uint64_t ticks);
/// Does it stand still, for that or because it is empty?
bool net_server_is_paused(const net_server* server);
/// Does it stand still only until a player comes (pauses_when_empty), before tick 1 too?
bool net_server_is_empty(const net_server* server);
/// No tick begins until this is called with NULL; players read `why` (copied, cut at
/// NET_END_TEXT_BYTES - 1). They stay, however long it takes, and no state packet is sent. What is
/// sent meanwhile goes out past what a transport holds back. Of a match that is over it stops
/// nothing. Waits for the lanes.
void net_server_stand_still(net_server* server, const char* why);
/// Of a transport that holds back, behind each release (net_transport_hold_release): send what may
/// leave. Not while the lanes send: they do it themselves then.
void net_server_send_released(net_server* server);
net_server_phase net_server_get_phase(const net_server* server);
/// Did the match end because a step failed? All clients got a goodbye all the same, and the log
/// ends with the last whole tick.
bool net_server_has_failed(const net_server* server);
/// Wait until the second thread has sent the packets of the last tick, but not beyond `until_us` of
/// CLOCK_MONOTONIC. 0: do not wait; UINT64_MAX: as long as it takes. @return false when it still
/// sends.
bool net_server_wait_sent(net_server* server, uint64_t until_us);

/// What is known of one client, connected or gone: the fields of the `peer` line.
typedef struct net_peer_report {
    uint32_t client;
    /// Newest tick that the client had whole at its end. 0: not known, or too many left at once
    /// (NET_WALK_BURST) to find its scope.
    ecs_tick tick;
    net_world_digest scope; ///< of what it had at that tick; empty with tick 0
    net_end end;       ///< NET_END_NONE while the session is open; other fields count at the end
    bool is_caught_up; ///< it had acknowledged everything
    bool differs;      ///< its world was another one at the end, as it said itself
    uint64_t packets_sent, packets_lost; ///< state packets
    uint64_t state_bytes;                ///< of snapshots
    uint64_t inputs_received;
    uint64_t inputs_late;     ///< missing, skipped, or used too late
    uint64_t inputs_repeated; ///< ticks that repeated the last input
    uint64_t inputs_malformed;
    double rtt_ms;
    uint64_t inputs_missing; ///< of inputs_late: never came, in none of the packets that repeat one
    uint64_t inputs_skipped; ///< of inputs_late: dropped to bound the latency
    uint64_t inputs_settled; ///< came late, but equal to the input that was repeated in its place
} net_peer_report;
/// Reports so far; at most NET_REPORTS_MAX, then the oldest closed one is evicted.
uint32_t net_server_report_count(const net_server* server);
/// @return report `index` (below the count, asserted). Borrowed until the next service or tick.
const net_peer_report* net_server_report(const net_server* server, uint32_t index);

/// The session of a client that is here.
typedef struct net_live_peer {
    net_peer_report peer; ///< as its counts are now; tick and scope are empty
    const char* name;     ///< borrowed until the next service or tick, as `state`
    const char* state;    ///< "accepted", "playing", "away", "closing"
    bool is_bot, is_spectator, is_solo;
    ecs_entity player; ///< NONE: it has none
    uint32_t watched;  ///< of a spectator: client number of a player; 0: none
    uint32_t strikes;
    uint64_t since_us, quiet_us;           ///< in this state; without a datagram
    double jitter_ms;                      ///< mean deviation of round trips
    uint64_t acked, lost;                  ///< state packets, declared so by acknowledgements
    uint64_t sent_bytes;                   ///< of its connection
    double rate_bytes_s, rate_max_bytes_s; ///< what it may get now, and its limit
    double used_bytes_s;                   ///< what it got lately
    uint64_t rate_cuts, rate_raises;
    bool is_held;               ///< the limit held rows back since it was raised last
    uint32_t entities;          ///< in its scope
    uint32_t waiting;           ///< of these: with a change that waits to be sent
    ecs_tick waiting_ticks;     ///< age of the oldest of these changes
    ecs_tick sent_tick;         ///< newest tick of which a packet was sent
    ecs_tick acked_tick;        ///< newest tick of which it acknowledged a packet; 0: none
    uint32_t input_depth;       ///< inputs that wait for their tick
    net_peer_identity identity; ///< of its newest connection: secret, for operators
} net_live_peer;
/// Walk the sessions of clients that have a number: begin with *place 0. In any order; one that
/// comes meanwhile may be left out. Waits for the second thread. @return false at the end.
bool net_server_next_client(net_server* server, uint32_t* place, net_live_peer* report);
/// The same of one client. @return false: it has no session.
bool net_server_find_client(net_server* server, uint32_t client, net_live_peer* report);

/// List what a client sees, in any order: the first `capacity` entities, some of which may just
/// have been destroyed. @return how many there are, 0 for a client that does not play.
uint32_t net_server_list_scope(net_server* server, uint32_t client, ecs_entity* entities,
                               uint32_t capacity);

/// Parts of a tick while the match runs, in their order.
typedef enum net_part {
    NET_PART_GATHER,  ///< what came into the tick: leaves, joins, events, inputs
    NET_PART_STEP,    ///< the systems and the tracking of changes; appended to the log before
    NET_PART_COLLECT, ///< waits until the tick before is sent (0 without threads)
    NET_PART_SESSION, ///< ends and joins of clients, the roster
    NET_PART_ROWS,    ///< the changed rows for clients and log
    NET_PART_SEND,    ///< packets: all of it without threads, else its hand-over
    NET_PART_COUNT,
} net_part;
/// "gather"... Static text.
const char* net_part_name(net_part part);
/// What the parts of the newest tick of the match took in microseconds; zeros without clock_us.
/// Borrowed; they change in place.
const uint64_t* net_server_get_times(const net_server* server);

typedef struct net_server_counters {
    uint32_t clients; ///< now: that have a place, without spectators
    uint32_t clients_peak;
    uint64_t joins, refusals;
    uint32_t spectators;   ///< now
    uint64_t joins_waited; ///< ticks that clients waited for their join, all together
    uint64_t drops;        ///< sessions that ended by silence or by breaking the protocol
    uint64_t resumes;      ///< sessions that continued with another connection
    uint64_t state_packets, state_bytes;
    uint64_t solo_stopped;               ///< clients that fell back from solo to shared code
    uint64_t resyncs;                    ///< rows that clients requested
    uint64_t dropped[NET_DROP_COUNT];    ///< without the parts of open sessions
    uint64_t refused[NET_REFUSAL_COUNT]; ///< `refusals` by reason
    uint64_t ended[NET_END_COUNT];       ///< sessions of clients with a number, by reason
    uint64_t control_bytes;              ///< of control messages, without what is sent again
} net_server_counters;
/// The counters, as of the last call that waited for the second thread. Borrowed; they change in
/// place.
const net_server_counters* net_server_get_counters(const net_server* server);
/// Copy the counts of all that was dropped so far, open sessions included.
void net_server_dropped(net_server* server, uint64_t dropped[NET_DROP_COUNT]);

/// Walk the world as client `client` should see it. 0, or a client that does not play: all that is
/// replicated. `line` gets the walk as text; NULL: only the digest is made.
net_world_digest net_server_scope(net_server* server, uint32_t client, ecs_line_fn line,
                                  void* context);

BASE_C_END
