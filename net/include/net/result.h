// SPDX-License-Identifier: MIT
/// Results and reasons: what functions return, why sessions end, why data has no effect, and the
/// trace of sessions.
#pragma once

#include "base/bytes.h"
#include "base/file.h"
#include "base/report.h"

BASE_C_BEGIN

// ---- results ----

/// Results of the network layer: 0 is success, failures are negative.

#define NET_RESULT_LIST(X)                                                                         \
    X(NET_OK, 0, "success")                                                                        \
    X(NET_ERR_MEMORY, -1, BASE_NO_MEMORY)                                                          \
    X(NET_ERR_FULL, -2, "a named limit is reached; try later or raise it")                         \
    X(NET_ERR_MALFORMED, -3, "bytes that break the protocol: drop them, count them")               \
    X(NET_ERR_STALE, -4, "older than what is known already: drop, do not acknowledge")             \
    X(NET_ERR_SCHEMA, -5, "templates, components or messages differ: use the same game files")     \
    X(NET_ERR_ADDRESS, -6,                                                                         \
      "the address cannot be resolved: correct the name, or write HOST:PORT or [IPv6]:PORT")       \
    X(NET_ERR_BIND, -7, "the address cannot be bound: choose another port")                        \
    X(NET_ERR_REFUSED, -8,                                                                         \
      "a public address needs keys: --key-file FILE (made by shoal-server keygen FILE), or "       \
      "--allow-dev-key, and every client gets in")                                                 \
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

/// One sentence: what failed, and what to do. Static text.
const char* net_result_text(net_result result);

/// Append a whole regular file, of at most `bytes_max`. @return NET_OK; NET_ERR_IO (reported).
BASE_MUST_USE net_result net_file_read(const char* file, size_t bytes_max,
                                       const base_reporter* reporter, base_bytes* bytes);

// ---- ends of sessions ----

/// Why a session ended, as the server's reports and the wire's goodbye name it.

/// NAME, the word that programs and traces print, and what a person reads.
///
/// NONE: the session is still open. TIMEOUT: no acknowledgement for NET_SILENCE_MS_MAX, or away for
/// as long. FAULT: also when a value could not be sent to it. DEAF: its datagrams came, but it
/// acknowledged nothing for NET_DEAF_MS_MAX. BEHIND: NET_EVENTS_RELIABLE_MAX reliable events wait
/// for it and the game sent one more; a bad line or the game can be the cause, so its address does
/// not pay for it as for FAULT and DEAF. GAME: net_game_services.drop_player; REFUSED: when it
/// joined. DIFFERS is not of a session: with it a client closes the connection after a goodbye
/// whose hash is not that of its own world (WIRE.md, "Goodbye"). EXCHANGED: the client is asked
/// again. ELSEWHERE: a second session of its player has the place; where the player was in the
/// match, no report has this end, since its session goes on. TRANSFERRED: it plays on in
/// another match (net_server_transfer).
#define NET_END_LIST(X)                                                                            \
    X(NET_END_NONE, "none", "the session ended")                                                   \
    X(NET_END_GOODBYE, "goodbye", "the match ended")                                               \
    X(NET_END_LEFT, "left", "it left")                                                             \
    X(NET_END_TIMEOUT, "timeout", "it fell silent")                                                \
    X(NET_END_FAULT, "fault", "it broke the protocol")                                             \
    X(NET_END_DEAF, "deaf", "it acknowledged nothing")                                             \
    X(NET_END_BANNED, "banned", "it is banned")                                                    \
    X(NET_END_EVICTED, "evicted", "it showed no life, and its place was needed")                   \
    X(NET_END_GAME, "game", "the game dropped it")                                                 \
    X(NET_END_REFUSED, "refused", "the game refused it")                                           \
    X(NET_END_DIFFERS, "differs", "its world differs")                                             \
    X(NET_END_EXCHANGED, "exchanged", "another version of the game goes on")                       \
    X(NET_END_BEHIND, "behind", "too many events wait for it")                                     \
    X(NET_END_ELSEWHERE, "elsewhere", "it joined elsewhere")                                       \
    X(NET_END_TRANSFERRED, "transferred", "it goes on in another match")

typedef enum net_end {
#define NET_END_ENUM(name, word, text) name,
    NET_END_LIST(NET_END_ENUM)
#undef NET_END_ENUM
} net_end;
#define NET_END_COUNT (NET_END_TRANSFERRED + 1)

/// Beside the RefusedReason of wire.proto: a goodbye with NET_END_REFUSED.
#define NET_REFUSAL_BY_GAME 256u
#define NET_REFUSAL_COUNT 8u ///< of RefusedReason, with 0, which is none
/// "full", "banned"...: the word for a RefusedReason below NET_REFUSAL_COUNT. Static text.
const char* net_refusal_name(uint32_t reason);
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

/// NAME, the word that programs print, whether it happens in every healthy match, and what it is.
/// Inputs and events are repeated on purpose, and most repetitions come in vain.
#define NET_DROP_LIST(X)                                                                           \
    /* Datagrams and messages. */                                                                  \
    X(NET_DROP_UNKNOWN_PEER, "unknown_peer", false, "of a connection without a session")           \
    X(NET_DROP_UNTIMELY, "untimely", true,                                                         \
      "state or input before welcome, or anything after a goodbye")                                \
    X(NET_DROP_FLOOD, "flood", false,                                                              \
      "not read: the client sent several times as much as our clients do")                         \
    X(NET_DROP_MALFORMED, "malformed", false,                                                      \
      "not decodable, or against the protocol; never acknowledged")                                \
    X(NET_DROP_DUPLICATE, "duplicate", true, "a packet with this number came before")              \
    X(NET_DROP_OLD, "old", false, "the number is too far back, or too far ahead to be believed")   \
    X(NET_DROP_STALE, "stale", false, "a packet whose bases are gone")                             \
    X(NET_DROP_SEND, "send", false, "the transport refused to send it: lost")                      \
    /* Parts of them. */                                                                           \
    X(NET_DROP_ACK_FORGED, "ack_forged", false, "acknowledges a packet that was never sent")       \
    X(NET_DROP_ACK_STALE, "ack_stale", false,                                                      \
      "acknowledges a packet that is half the circle of numbers old")                              \
    X(NET_DROP_COMPOSITION, "composition", false,                                                  \
      "a create that names more compositions than a client takes")                                 \
    X(NET_DROP_RECORD_OLD, "record_old", true,                                                     \
      "a row older than the entity's: kept as a base, not applied")                                \
    X(NET_DROP_INPUT_KNOWN, "input_known", true, "a repeated input that came before")              \
    X(NET_DROP_INPUT_SKIPPED, "input_skipped", false, "dropped to bound the latency")              \
    X(NET_DROP_INPUT_SETTLED, "input_settled", true,                                               \
      "came late, and equals the input that was repeated in its place")                            \
    X(NET_DROP_INPUT_LONG, "input_long", false,                                                    \
      "the module's input is too long: an empty one was sent")                                     \
    X(NET_DROP_EVENT_KNOWN, "event_known", true,                                                   \
      "a reliable event that came before, or out of order")                                        \
    X(NET_DROP_EVENT_FULL, "event_full", false, "the receiver's queue is full")                    \
    X(NET_DROP_EVENT_WAITED, "event_waited", false, "its entities did not come in time")           \
    X(NET_DROP_EVENT_QUEUE, "event_queue", false,                                                  \
      "the sender's queue is full; for a reliable event the session ends")                         \
    X(NET_DROP_EVENT_LONG, "event_long", false,                                                    \
      "longer than NET_EVENT_PAYLOAD_BYTES_MAX, or no UTF-8")                                      \
    X(NET_DROP_EVENT_GONE, "event_gone", false, "about an entity that died in the same tick")      \
    X(NET_DROP_EVENT_UNSEEN, "event_unseen", true, "about an entity that the client does not see") \
    X(NET_DROP_RESYNC_LIMIT, "resync_limit", false,                                                \
      "requests for more rows than a client may have")                                             \
    X(NET_DROP_RESYNC_UNKNOWN, "resync_unknown", false,                                            \
      "a request for an entity that the client does not see")                                      \
    X(NET_DROP_SPECTATOR, "spectator", false, "an input or event of a client that only watches")   \
    /* Connections and sessions. */                                                                \
    X(NET_DROP_BANNED, "banned", false, "refused or ended: on the list of bans")                   \
    X(NET_DROP_ADDRESS_FULL, "address_full", false,                                                \
      "refused: its address has all the places that one address may have")                         \
    X(NET_DROP_JOIN_FLOOD, "join_flood", false,                                                    \
      "refused: too many sessions of this player or address")                                      \
    X(NET_DROP_RESUME_FLOOD, "resume_flood", false, "refused: resumed too often")                  \
    X(NET_DROP_GREETING_LATE, "greeting_late", false,                                              \
      "no hello in time, and others wait: the connection is closed")                               \
    X(NET_DROP_EVICTED, "evicted", false, "a member without life gave its place")                  \
    X(NET_DROP_DEAF, "deaf", false, "heard, but acknowledged nothing: the session ended")          \
    X(NET_DROP_REPORT_SCOPE, "report_scope", false,                                                \
      "too many leave at once: the report is without tick and scope")                              \
    X(NET_DROP_RESUME_QUIET, "resume_quiet", false,                                                \
      "a resumption too soon after the last: no line, and the roster later")                       \
    X(NET_DROP_VARSIZE_LONG, "varsize_long", false,                                                \
      "a value above NET_VARSIZE_BYTES_MAX: clients keep the default")                             \
    X(NET_DROP_VARSIZE_KNOWN, "varsize_known", true, "a version that came before")                 \
    X(NET_DROP_VARSIZE_GONE, "varsize_gone", false,                                                \
      "for an entity that is gone, or could not be loaded")                                        \
    X(NET_DROP_VARSIZE_FULL, "varsize_full", false,                                                \
      "evicted while it waited for its entity: the server sends it again")

typedef enum net_drop {
#define NET_DROP_ENUM(name, word, is_usual, text) name,
    NET_DROP_LIST(NET_DROP_ENUM)
#undef NET_DROP_ENUM
        NET_DROP_COUNT
} net_drop;

/// Does it happen in every healthy match? For an operator, who reads of what is not usual.
bool net_drop_is_usual(net_drop reason);
/// "flood", "input_skipped"... Static text.
const char* net_drop_name(net_drop reason);
/// What it is, for a person: "dropped to bound the latency"... Static text.
const char* net_drop_text(net_drop reason);
/// Write the reasons that have a count: " flood=3 input_long=1". "" when none has. NUL-terminated
/// and cut to `text_bytes`, which must not be 0.
void net_drops_text(const uint64_t dropped[NET_DROP_COUNT], char* text, size_t text_bytes);

// ---- the trace of sessions ----

/// What happens to the sessions of a server or a client: one event for each packet and each change
/// of state.
///
/// For people who look for a fault in a connection, as qlog is for QUIC. The programs write the
/// events to a file, one line each (--debug trace-session=FILE).

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
