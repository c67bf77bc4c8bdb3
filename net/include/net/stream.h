// SPDX-License-Identifier: MIT
/// The records of a match as a stream of messages that a broker orders and keeps: the server
/// appends, standbys and relays follow. Format: proto/STREAM.md.
///
/// Nothing here knows a broker's protocol, a socket or a clock. A broker is six functions
/// (net_broker); the writer and the follower are polled with the time.
#pragma once

#include "base/bytes.h"
#include "ecs/entity.h"
#include "net/log.h"
#include "net/token.h"

BASE_C_BEGIN

// ---- the broker ----

#define NET_BROKER_TEXT_BYTES 160u
/// A broker must take messages of this size: the longest record in one message, with its head, and
/// with what the broker counts of its own headers.
#define NET_BROKER_PAYLOAD_BYTES_MIN ((1u << 19) + 4096u)
#define NET_BROKER_ID_BYTES 64u

typedef enum net_broker_code {
    NET_BROKER_DONE,       ///< of an append, also of one whose id is known; of net_broker.last
    NET_BROKER_MESSAGE,    ///< the next one of net_broker.read
    NET_BROKER_REPORT,     ///< what another user gave to net_broker.report
    NET_BROKER_WRONG_LAST, ///< of an append: another message is the last one; nothing was stored
    NET_BROKER_FULL,       ///< of an append: no room; nothing was stored
    NET_BROKER_UNREADY,    ///< it cannot say now (it starts, or elects): ask again
    NET_BROKER_REFUSED,    ///< for good: `text` says why
} net_broker_code;

typedef struct net_broker_answer {
    net_broker_code code;
    uint64_t request;  ///< the number with which it was asked
    uint64_t sequence; ///< of the stored message; `last`: of the newest, 0: there is none
    uint64_t end;  ///< of `last` with_end: the newest sequence that was given, also to a message
                   ///< that the broker does not have
    bool is_first; ///< of MESSAGE: the broker sent none before it in this read
    const uint8_t* data; ///< of MESSAGE, REPORT and `last`: bytes, borrowed until the next take
    size_t size;
    char text[NET_BROKER_TEXT_BYTES];
} net_broker_answer;

typedef struct net_broker_append {
    const uint8_t* data;
    size_t size;
    uint64_t expected; ///< sequence of the stream's last message; 0: the stream has none
    const char*
        id; ///< a message whose id is known is not stored again. Shorter than NET_BROKER_ID_BYTES
    bool replaces; ///< when it is stored, the broker drops all that is before it
} net_broker_append;

typedef struct net_broker_status {
    bool is_connected;
    uint32_t payload_bytes_max; ///< 0: not known yet
    uint64_t reconnects;
    uint32_t waiting;                    ///< that came and were not taken yet
    char trouble[NET_BROKER_TEXT_BYTES]; ///< why there is no connection; empty: not known
} net_broker_status;

/// One stream of one broker, as one user sees it. Nothing blocks. An answer comes by `take`, late,
/// out of order, or never: who asks has a time-out, and asks again with another number. Calls come
/// from one thread.
typedef struct net_broker {
    void* context;
    net_broker_status (*status)(void* context);
    /// Store a message. The bytes and the id are copied or sent before it returns.
    void (*append)(void* context, uint64_t request, const net_broker_append* append);
    /// Ask for the newest message, with its sequence. `with_end` takes longer.
    void (*last)(void* context, uint64_t request, bool with_end);
    /// Give all messages from `sequence` on, and each that comes later, until the next read. Some
    /// may be missing or come twice.
    void (*read)(void* context, uint64_t request, uint64_t sequence);
    /// Give all other users that have appended something a message that is not kept, and may be
    /// lost.
    void (*report)(void* context, const void* data, size_t size);
    /// @return false: there is no answer now.
    bool (*take)(void* context, net_broker_answer* answer);
} net_broker;

// ---- positions ----

#define NET_STREAM_ADDRESSES_MAX 4u

/// A place in a stream, after a message.
typedef struct net_stream_position {
    uint64_t epoch;    ///< of the newest claim; 0: there is none
    uint64_t sequence; ///< of the message; 0: the stream is empty
    uint64_t records;  ///< before this place; they are numbered from 1
} net_stream_position;

/// What a claim says: from here on one server writes, with this epoch.
typedef struct net_stream_claim {
    uint64_t writer; ///< drawn at random: tells two claims of one epoch apart
    uint64_t key_id; ///< names the key of which secrets of players are made; 0: none
    net_address addresses[NET_STREAM_ADDRESSES_MAX]; ///< where players reach it
    uint32_t address_count;
} net_stream_claim;

// ---- where records come from ----

typedef enum net_stream_found {
    NET_STREAM_FOUND_RECORD,
    NET_STREAM_FOUND_NOTHING, ///< not appended yet
    NET_STREAM_FOUND_LOST, ///< appended, and found nowhere. When that lasts (a log whose files are
                           ///< renamed has it soon again) the stream ends before it
} net_stream_found;

typedef struct net_stream_record {
    const uint8_t* data; ///< packed; borrowed until the next call
    uint32_t size;
    ecs_tick end_tick; ///< it is the end of this tick; 0: it is another record
    bool is_close;
} net_stream_record;

/// Gives the records in order, each once.
typedef struct net_stream_source {
    void* context;
    net_stream_found (*next)(void* context, uint64_t number, net_stream_record* record);
    /// The next number may be 1 again, and all follow. @return the packed Header of the log,
    /// borrowed until the next call; NULL: the log has not all of the match.
    const base_bytes* (*restart)(void* context);
} net_stream_source;

/// Between a log's writer and the stream: records wait in memory, and those that found no room
/// there are read from the log's files.
/// Threads: net_log_tap on the simulation's, the source on the stream's.
typedef struct net_stream_tap net_stream_tap;

#define NET_STREAM_WAITING_BYTES_DEFAULT (8u << 20)

typedef struct net_stream_tap_config {
    const base_allocator* allocator;
    const char* log_file; ///< outlives the tap
    uint64_t
        waiting_bytes; ///< a power of two, from 64 to 1 GiB; 0: NET_STREAM_WAITING_BYTES_DEFAULT
    /// The match runs on another server: its log has these records, and the source gives nothing
    /// until net_stream_tap_begin.
    bool is_following;
    /// Called after each record for which the stream should wake. NULL: nothing is called.
    void (*wake)(void* context);
    void* context;
} net_stream_tap_config;
/// The caller owns it.
BASE_MUST_USE net_stream_tap* net_stream_tap_create(const net_stream_tap_config* config);
/// NULL does nothing.
void net_stream_tap_destroy(net_stream_tap* tap);
/// What net_log_options.tap takes.
net_log_tap net_stream_tap_log(net_stream_tap* tap);
net_stream_source net_stream_tap_source(net_stream_tap* tap);
/// Records that were appended so far. Any thread.
uint64_t net_stream_tap_records(const net_stream_tap* tap);
/// The log goes on with one before (net_log_options.before), and a stream has some of its records:
/// go on after the first `records` of the log, of which the last one is `last` (packed, as it
/// is in the stream). Before the match's next record.
/// @return NET_OK; NET_ERR_DIVERGED (reported: the log has not these records); what
///         net_log_reader_create returns (reported).
BASE_MUST_USE net_result net_stream_tap_resume(net_stream_tap* tap, uint64_t records,
                                               const void* last, uint32_t last_bytes,
                                               const base_reporter* reporter);

/// A server that followed goes on as the one that writes: what waits is dropped, and the next
/// record of its log has number `records` + 1. Not while the source is used.
void net_stream_tap_begin(net_stream_tap* tap, uint64_t records);
/// Bytes of records that wait in memory. Any thread.
uint64_t net_stream_tap_waiting(const net_stream_tap* tap);

// ---- writing ----

/// Appends a match's records, one message at a time, each with the sequence of the last one: when
/// anything else was appended in between, the broker refuses it. So one server writes, whatever the
/// clock, the network and the scheduler do. Time-outs, duplicates, restarts and a full broker cost
/// time only. Allocates in create alone.
typedef struct net_stream_writer net_stream_writer;

typedef enum net_stream_state {
    NET_STREAM_IDLE,     ///< no claim yet
    NET_STREAM_CLAIMING, ///< the claim is not answered yet
    NET_STREAM_OWNED,
    NET_STREAM_FENCED, ///< another one writes, or a claim met a full broker (the trouble is FULL):
                       ///< nothing is sent any more, unless a new claim is made
    NET_STREAM_ENDED,  ///< the close was acknowledged
    /// net_stream_status.text says why; the match is not concerned. After OWNED it is read each
    /// NET_STREAM_RESTART_MS: the stream begins again (OWNED), or another one writes (FENCED).
    NET_STREAM_FAILED,
} net_stream_state;

typedef enum net_stream_trouble {
    NET_STREAM_WELL,
    NET_STREAM_AWAY, ///< no connection, or it starts
    NET_STREAM_SLOW, ///< connected, and no answer within NET_STREAM_ANSWER_MS
    NET_STREAM_FULL,
} net_stream_trouble;

/// Without an answer so long a message is sent again, with the same id.
#define NET_STREAM_ANSWER_MS 2000u
/// A stream that failed is begun again after this long, and after each try in vain.
#define NET_STREAM_RESTART_MS 1000u
/// A program asks a broker again that was away, at the latest after this long.
#define NET_STREAM_AGAIN_MS_MAX 30000u
/// While a message waits, its server says so often that it lives.
#define NET_STREAM_WAITS_MS 50u

typedef struct net_stream_status {
    net_stream_state state;
    net_stream_trouble trouble;
    uint64_t epoch;       ///< of the claim
    uint64_t writer;      ///< of its claims
    uint64_t fenced_by;   ///< FENCED: the newest epoch in the stream
    uint64_t heard_epoch; ///< above `epoch`: a server reports that it has the stream, which the
                          ///< answer to the next message proves; 0: none did
    net_stream_position acked;
    ecs_tick acked_tick;           ///< newest one whose end is acknowledged; 0: none
    uint64_t messages, bytes;      ///< acknowledged
    uint64_t repeats;              ///< messages that were sent once more
    uint64_t restarts;             ///< the stream began again
    uint64_t ack_us, ack_us_total; ///< how long the newest acknowledgement took, and all
    /// OWNED: who would take the match over now, and who shows it, as they report (0 standbys while
    /// there is trouble: none could claim).
    uint32_t standbys, relays;
    bool has_older; ///< one of them needs a record more often than NET_IDLE_ALIVE_MS
    uint64_t reports_refused;
    char text[NET_BROKER_TEXT_BYTES + 64]; ///< of FAILED, AWAY and FULL: why
} net_stream_status;

typedef struct net_stream_writer_config {
    const base_allocator* allocator;
    net_broker broker;
    net_stream_source source;
    net_stream_claim claim;
    uint64_t tick_us; ///< between two ticks of the match
} net_stream_writer_config;

/// The caller owns it (base_owner_destroy).
BASE_MUST_USE net_stream_writer* net_stream_writer_create(const net_stream_writer_config* config);
/// Claim the stream as epoch `behind->epoch` + 1, right behind `behind`, which is where its
/// follower is. Its next record is behind->records + 1. `header` (borrowed until OWNED or
/// FENCED; at most NET_STREAM_HEADER_BYTES_MAX): the packed Header of the log, for a stream that is
/// empty; NULL otherwise. In state IDLE or FENCED (asserted). Outcomes: OWNED; FENCED (the stream
/// went on, or another one was faster); FAILED.
void net_stream_writer_claim(net_stream_writer* writer, const net_stream_position* behind,
                             const void* header, size_t header_bytes);
#define NET_STREAM_HEADER_BYTES_MAX (1u << 19)
/// An operator wants it: begin the stream again, when OWNED or FAILED. All that it has is replaced
/// by the match from its first record on, as the next epoch; who follows passes over what it has.
/// When its source has not all of the match, or the broker refuses it, an OWNED one stays as it is.
void net_stream_writer_restart(net_stream_writer* writer);
/// Take answers, send what is due. @return when it must be called again at the latest, although
/// nothing comes: a time in microseconds.
uint64_t net_stream_writer_poll(net_stream_writer* writer, uint64_t now_us);
/// Borrowed; changes with each poll.
const net_stream_status* net_stream_writer_status(const net_stream_writer* writer);

/// How long a follower's report counts. The next one comes after a third of that. Its tick may not
/// be older either.
#define NET_STREAM_REPORT_COUNTS_S 3u
#define NET_STREAM_REPORT_EMPTY_S 15u ///< of one that stands by for an empty match

// ---- what clients may know ----

/// Is what clients know of the match stored? Else a standby that takes over does not know it, and
/// their worlds go back.
typedef enum net_stream_safety {
    NET_STREAM_FREE,  ///< off: clients may know more
    NET_STREAM_SAFE,  ///< they know what is stored
    NET_STREAM_STILL, ///< the stream takes nothing: the match must stand still
    NET_STREAM_UNSAFE ///< the stream takes nothing, and the match goes on
} net_stream_safety;

/// A pass of the loop that comes so much later than the next tick was due: the process slept, and
/// another server may have the match.
#define NET_STREAM_REST_MS 30u
/// Of a match that is not kept safe: clients learn nothing for so long after such a rest, until the
/// stream has shown that the match is still here.
#define NET_STREAM_DOUBT_MS 500u
/// How long a match stands still beyond its limit while the stream stores nothing. Then it
/// continues UNSAFE.
#define NET_STREAM_STILL_MS 5000u

/// What a server lets its clients know. A plain struct: zero all but the first four fields.
typedef struct net_stream_sync {
    bool is_on;
    bool goes_on;      ///< UNSAFE in place of STILL
    uint64_t limit_us; ///< a tick waits, and nothing was stored within this time
    uint64_t tick_us;  ///< between two ticks
    net_stream_safety safety;
    ecs_tick released; ///< what may leave: ticks up to this one (net_transport_hold_release)
    ecs_tick unsafe;   ///< of UNSAFE, and after it: the first tick that was not kept safe

    bool waits;       ///< a tick is not stored
    uint64_t records; ///< that were stored
    uint64_t waited_us;
    ecs_tick doubted; ///< nothing leaves until it is stored; 0: no doubt
    uint64_t doubted_us;
    uint64_t step_us; ///< the newest step
} net_stream_sync;

/// In each pass of the server's loop, before it runs a tick. `newest`: of the match; `first`: of
/// those that this server ran for the stream, after a takeover or a resumption. `is_over`: no tick
/// follows, so nothing stands still.
void net_stream_sync_step(net_stream_sync* sync, const net_stream_status* status, ecs_tick newest,
                          ecs_tick first, bool is_over, uint64_t now_us);

// ---- following ----

/// Reads a stream from its first message on. What it gives is what was appended, each record once,
/// in order; bytes that no writer writes, gaps and epochs that go back end it with a text.
/// Allocates in create, and for the header.
typedef struct net_stream_follower net_stream_follower;

/// Asked so often while nothing comes: does the broker answer, and is there anything new?
#define NET_STREAM_PING_MS 50u
/// And so often while messages come, of one that rests.
#define NET_STREAM_PING_REST_MS 1000u
/// An answer that takes longer does not count as one.
#define NET_STREAM_PING_ANSWER_MS 150u

typedef struct net_stream_follower_info {
    /// After the newest message of which every record was taken by net_stream_follower_next.
    net_stream_position position;
    net_stream_claim claim; ///< the newest one
    bool is_claim_new;      ///< it took a match over, and no end and no alive came since
    ecs_tick tick;          ///< of the newest record that was taken
    bool is_in_tick;        ///< after a begin without its end
    uint32_t open_records;  ///< that enter the tick after the newest end
    bool is_closed;
    bool is_waiting; ///< nothing came since its server said that it waits for the broker
    bool is_passing; ///< the stream began again, and what came before is not all there yet
    /// How long nothing came, counted only while the broker answered: from 0 again when it did not,
    /// and not before NET_STREAM_ANSWER_MS after that. Where the connection was lost, twice the
    /// time without one is added (NET_STREAM_AGAIN_MS_MAX at most): its server may connect again as
    /// late.
    uint64_t silence_us;
    /// How long each answer of the broker was too late to count: one that is that far away never
    /// lets silence count.
    uint64_t late_us;
    uint64_t heard_us;     ///< when the newest answer about the stream's end was asked; 0: never
    ecs_tick end_tick;     ///< the newest whole tick that the stream had then; 0: none
    uint64_t lag_messages; ///< that the stream had then and that were not taken yet
    char text[NET_BROKER_TEXT_BYTES + 64];
} net_stream_follower_info;

/// The caller owns it (base_owner_destroy).
BASE_MUST_USE net_stream_follower* net_stream_follower_create(const base_allocator* allocator,
                                                              const net_broker* broker);
/// Take answers and ask what is due. @return when it must be called again at the latest.
uint64_t net_stream_follower_poll(net_stream_follower* follower, uint64_t now_us);
/// Get the next record, packed and checked; borrowed until the next call of this or of poll. Why it
/// FAILED is in net_stream_follower_info.text.
net_log_feed_state net_stream_follower_next(net_stream_follower* follower, const uint8_t** data,
                                            uint32_t* size);
/// The packed Header of the log, out of message 1; lives as long as the follower. @return NULL: it
/// did not come yet.
const uint8_t* net_stream_follower_header(const net_stream_follower* follower, size_t* size);
/// Of a standby, which needs silence alone: from now on it asks seldom while messages come, and
/// where the stream ends is known to it once in a second and its patience. The next message may
/// come `patience_us` later than the ones before: the match is empty, and its server reports that
/// more seldom. No silence counts before.
void net_stream_follower_expect(net_stream_follower* follower, uint64_t patience_us);
/// Count silence_us from 0 again: a claim was refused, so another server, or a full broker, is the
/// reason of the silence. What a writer took of this user's answers meanwhile is asked for again.
void net_stream_follower_restart_silence(net_stream_follower* follower);
/// Borrowed; changes with each poll and next.
const net_stream_follower_info* net_stream_follower_get(const net_stream_follower* follower);

BASE_C_END
