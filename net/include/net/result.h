// SPDX-License-Identifier: MIT
/// Results and reasons: what functions return, why sessions end, why data has no effect, and the
/// trace of sessions.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

// ---- results ----

/// Results of the network layer: 0 is success, failures are negative.

#define NET_RESULT_LIST(X)                                                                         \
    X(NET_OK, 0, "success")                                                                        \
    X(NET_ERR_MEMORY, -1, "out of memory")                                                         \
    X(NET_ERR_FULL, -2, "a named limit is reached; try later or raise it")                         \
    X(NET_ERR_MALFORMED, -3, "bytes that break the protocol: drop them, count them")               \
    X(NET_ERR_STALE, -4, "older than what is known already: drop, do not acknowledge")             \
    X(NET_ERR_SCHEMA, -5, "templates, components or messages differ: use the same game files")     \
    X(NET_ERR_ADDRESS, -6, "the address cannot be resolved: write HOST:PORT or [IPv6]:PORT")       \
    X(NET_ERR_BIND, -7, "the address cannot be bound: choose another port")                        \
    X(NET_ERR_REFUSED, -8, "a public address needs keys: give them, or allow the built-in key")    \
    X(NET_ERR_CLOSED, -9, "the connection is closed")                                              \
    X(NET_ERR_MODULE, -10, "the game module cannot be used: the report says why")                  \
    X(NET_ERR_IO, -11, "the file cannot be read or written: the report says why")                  \
    X(NET_ERR_DAMAGED, -12, "the log is damaged: the report names block and ticks")                \
    X(NET_ERR_DIVERGED, -13, "the re-run gave other bits than the log")                            \
    X(NET_ERR_UNKNOWN, -14, "no such name: the report names the nearest")                          \
    X(NET_ERR_SOCKET, -15, "the interposed socket layer is missing or does not work")              \
    X(NET_ERR_VERSION, -16, "a later version wrote this: use a newer program")                     \
    X(NET_ERR_TOKEN, -17, "no sound key or token: make or ask for a new one")                      \
    X(NET_ERR_DISK, -18, "the disk is full or does not work: the report says why")

typedef enum net_result {
#define NET_RESULT_ENUM(name, value, text) name = value,
    NET_RESULT_LIST(NET_RESULT_ENUM)
#undef NET_RESULT_ENUM
} net_result;

/// "NET_ERR_FULL"... Static text.
const char* net_result_name(net_result result);
/// One sentence: what failed, and what to do. Static text.
const char* net_result_text(net_result result);

// ---- ends of sessions ----

/// Why a session ended, as the server's reports and the wire's goodbye name it.

typedef enum net_end {
    NET_END_NONE,    ///< the session is still open
    NET_END_GOODBYE, ///< the match ended; the server said goodbye
    NET_END_LEFT,    ///< the client said goodbye
    NET_END_TIMEOUT, ///< no acknowledgement for NET_SILENCE_MS_MAX, or away for as long
    NET_END_FAULT,   ///< the client broke the protocol, or one of its queues overflowed
    NET_END_DEAF,    ///< its datagrams came, but for NET_DEAF_MS_MAX it acknowledged nothing
    NET_END_BANNED,
    NET_END_EVICTED, ///< it showed no life, and its place was needed
    NET_END_GAME,    ///< the game dropped it (net_game_services.drop_player)
    NET_END_REFUSED, ///< the game refused it when it joined
    /// Not of a session: with it a client closes the connection after a goodbye whose hash is not
    /// that of its own world (WIRE.md, "Goodbye").
    NET_END_DIFFERS,
} net_end;

/// Beside the RefusedReason of wire.proto: a goodbye with NET_END_REFUSED.
#define NET_REFUSAL_BY_GAME 256u
#define NET_END_TEXT_BYTES 128u ///< of a game's reason, with the NUL

/// The word that programs and traces print: "goodbye", "timeout"... Static text.
const char* net_end_name(net_end end);
/// What a person reads about the end of a session: "it fell silent"... Static text.
const char* net_end_text(net_end end);

// ---- drops ----

/// Every reason for which sent data, or data to be sent, has no effect: one counter each, on both
/// sides.
///
/// A packet that the network loses is not counted: no side sees it. A repetition that came in vain
/// is counted, so that sums over both sides are complete.

typedef enum net_drop {
    // Datagrams and messages.
    NET_DROP_UNKNOWN_PEER, ///< of a connection without a session
    NET_DROP_UNTIMELY,     ///< state or input before welcome, or anything after a goodbye
    NET_DROP_FLOOD,        ///< not read: the client sent several times as much as our clients do
    NET_DROP_MALFORMED,    ///< not decodable, or against the protocol; never acknowledged
    NET_DROP_DUPLICATE,    ///< a packet with this number came before
    NET_DROP_OLD,          ///< the number is too far back, or too far ahead to be believed
    NET_DROP_STALE,        ///< a state packet whose bases are gone
    NET_DROP_SEND,         ///< the transport refused to send it: lost
    // Parts of them.
    NET_DROP_ACK_FORGED,     ///< acknowledges a packet that was never sent
    NET_DROP_ACK_STALE,      ///< acknowledges a packet that is half the circle of numbers old
    NET_DROP_COMPOSITION,    ///< a create that names more compositions than a client takes
    NET_DROP_RECORD_OLD,     ///< a row older than the entity's: kept as a base, not applied
    NET_DROP_INPUT_KNOWN,    ///< a repeated input that came before
    NET_DROP_INPUT_FULL,     ///< the queue of inputs is full
    NET_DROP_INPUT_SKIPPED,  ///< dropped to bound the latency
    NET_DROP_INPUT_SETTLED,  ///< came late, and equals the input that was repeated in its place
    NET_DROP_INPUT_LONG,     ///< the module's input is too long: an empty one was sent
    NET_DROP_EVENT_KNOWN,    ///< a reliable event that came before, or out of order
    NET_DROP_EVENT_FULL,     ///< the receiver's queue is full
    NET_DROP_EVENT_WAITED,   ///< its entities did not come in time
    NET_DROP_EVENT_QUEUE,    ///< the sender's queue is full; for a reliable event the session ends
    NET_DROP_EVENT_LONG,     ///< longer than NET_EVENT_PAYLOAD_BYTES_MAX
    NET_DROP_EVENT_UNSEEN,   ///< about an entity that the client does not see
    NET_DROP_RESYNC_LIMIT,   ///< requests for more rows than a client may have
    NET_DROP_RESYNC_UNKNOWN, ///< a request for an entity that the client does not see
    // Connections and sessions.
    NET_DROP_BANNED,        ///< refused or ended: on the list of bans
    NET_DROP_ADDRESS_FULL,  ///< refused: its address has all the places that one address may have
    NET_DROP_JOIN_FLOOD,    ///< refused: too many sessions of this player or address
    NET_DROP_RESUME_FLOOD,  ///< refused: resumed too often
    NET_DROP_GREETING_LATE, ///< no hello in time, and others wait: the connection is closed
    NET_DROP_EVICTED,       ///< a member without life gave its place
    NET_DROP_DEAF,          ///< heard, but acknowledged nothing: the session ended
    NET_DROP_REPORT_SCOPE,  ///< too many leave at once: the report is without tick and scope
    NET_DROP_RESUME_QUIET,  ///< a resumption too soon after the last: no line, and the roster later
    NET_DROP_VARSIZE_LONG,  ///< a value above NET_VARSIZE_BYTES_MAX: clients keep the default
    NET_DROP_VARSIZE_KNOWN, ///< a version that came before
    NET_DROP_VARSIZE_GONE,  ///< for an entity that is gone, or could not be loaded
    NET_DROP_VARSIZE_FULL,  ///< evicted while it waited for its entity: the server sends it again
    NET_DROP_COUNT
} net_drop;

/// Does it happen in every healthy match? Inputs and events are repeated on purpose, and most
/// repetitions come in vain. For notes to an operator, which name what is not usual.
bool net_drop_is_usual(net_drop reason);
/// "flood", "input_skipped"... Static text.
const char* net_drop_name(net_drop reason);
/// Write the reasons that have a count: " flood=3 input_full=1". "" when none has. NUL-terminated
/// and cut to `text_bytes`, which must not be 0.
void net_drops_text(const uint64_t dropped[NET_DROP_COUNT], char* text, size_t text_bytes);

// ---- the trace of sessions ----

/// What happens to the sessions of a server or a client: one event for each packet and each change
/// of state.
///
/// For people who look for a fault in a connection, as qlog is for QUIC. The programs write the
/// events to a file, one line each (--trace-session FILE).

typedef enum net_trace_kind {
    NET_TRACE_SENT,
    NET_TRACE_RECEIVED,
    NET_TRACE_STATE, ///< the state of a session changes
} net_trace_kind;

/// All texts are static.
typedef struct net_trace_event {
    net_trace_kind kind;
    uint64_t now_us; ///< as the program gave it to service or tick
    uint32_t client; ///< client number; 0 before welcome
    uint32_t peer;   ///< net_peer of the connection; 0: there is none
    const char*
        name; ///< SENT, RECEIVED: "hello", "state", "input"...; "malformed" when not decodable
    uint32_t number;    ///< SENT, RECEIVED: sequence number of a state or input packet, else 0
    uint32_t bytes;     ///< SENT, RECEIVED: what the transport was given or gave
    const char* from;   ///< STATE
    const char* to;     ///< STATE
    const char* reason; ///< STATE: one word
} net_trace_event;

/// Gets one event; borrowed for the call. It must not call the server or the client.
typedef void (*net_trace_fn)(void* context, const net_trace_event* event);

#define NET_TRACE_LINE_BYTES_MAX 160u

/// Write an event as one line without its end: "t_ms=1250.016 client=3 peer=4097 dir=out kind=state
/// seq=17 bytes=310", or "t_ms=1250.016 client=3 peer=4097 state from=playing to=away
/// reason=connection_lost". NUL-terminated and cut to `text_bytes`; NET_TRACE_LINE_BYTES_MAX is
/// always enough.
void net_trace_text(const net_trace_event* event, char* text, size_t text_bytes);

BASE_C_END
