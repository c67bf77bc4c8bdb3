// SPDX-License-Identifier: MIT
/// Event logs: written while a match runs; read back as records, as values and as tables; run again
/// and compared. The standard is proto/LOG.md.
#pragma once

#include "ecs/ecs.h"
#include "net/limits.h"
#include "net/match.h"

#include <sys/types.h>

BASE_C_BEGIN

// ---- writing ----

/// Writing the event log of a match while it runs. Format: proto/LOG.md.
///
/// Writing never blocks the simulation: a record goes into a queue in file-backed shared memory
/// (FILE.queue), a thread of the writer packs records into blocks and writes them to FILE. kill -9
/// loses no appended record (the state of the newest tick is appended with the next one); a power
/// cut loses at most what the sync option says. When the disk fails, the log ends with its last
/// whole block, the reason is kept for the operator, and the match goes on. While a disk is full or
/// too slow, records wait in the queue; when that is full too, and while a disk that was full at
/// the start has no room yet, ticks are left out, and the log goes on with a keyframe as soon as
/// there is room. Each such tick is counted at once.
/// Threads: the simulation's thread calls all functions here.
/// Memory: taken in create; the copy of a keyframe grows with the match.

typedef struct net_log_writer net_log_writer;

typedef enum net_log_sync {
    NET_LOG_SYNC_SECOND, ///< a power cut loses at most the last two seconds (the default)
    NET_LOG_SYNC_END,    ///< what the system had not written: synced at the end of each segment
} net_log_sync;

/// How a log is cut into segments. The one that is written is FILE; with the keyframe after which
/// it is closed it becomes FILE.seg0001, .seg0002, ... Each can be read alone from its keyframe on.
typedef struct net_log_segments {
    uint64_t bytes_max;    ///< of a segment; 0: no limit
    uint32_t seconds_max;  ///< of match time in a segment; 0: no limit
    uint32_t kept_max;     ///< closed segments; the oldest ones are deleted. 0: no limit
    uint64_t budget_bytes; ///< of all segments; the oldest ones are deleted. 0: no limit
    /// Program to run with the name of a closed segment; NULL: none. It leaves SEGMENT.stored
    /// beside one that it stored; a segment that is deleted without this mark is reported.
    const char* on_close;
} net_log_segments;

/// What a log holds of each tick beside inputs, events and hashes.
typedef enum net_log_content {
    NET_LOG_CONTENT_STATE,  ///< the values of replicated components (net_log_state; default)
    NET_LOG_CONTENT_INPUTS, ///< a sum for each component that changed
} net_log_content;

/// How a log's files are made and written; tests put faults in here. NULL: as the system does it.
/// Errors are those of the system, in errno.
typedef struct net_log_file_ops {
    ssize_t (*write)(void* context, int fd, const void* data, size_t size);
    int (*sync)(void* context, int fd);
    void* context;
    int (*create)(void* context, const char* file); ///< of a segment; as base_file_create
} net_log_file_ops;

/// A signed log shows with the public key that its server wrote it so: Ed25519 over the running
/// hash, at the end of each segment and at the close (proto/LOG.md, "Running hash").
#define NET_LOG_SECRET_KEY_BYTES 64u
#define NET_LOG_PUBLIC_KEY_BYTES 32u
#define NET_LOG_KEY_TEXT_BYTES 96u ///< a line with its key, and the NUL
#define NET_LOG_KEY_ID_BYTES 17u   ///< 16 digits and the NUL
#define NET_LOG_HASH_BYTES 32u     ///< of the running hash of a log's blocks
typedef struct net_log_secret_key {
    uint8_t bytes[NET_LOG_SECRET_KEY_BYTES];
} net_log_secret_key;
typedef struct net_log_public_key {
    uint8_t bytes[NET_LOG_PUBLIC_KEY_BYTES];
} net_log_public_key;

/// Make a pair of keys at random.
void net_log_key_make(net_log_secret_key* key, net_log_public_key* public_key);
net_log_public_key net_log_key_public(const net_log_secret_key* key);
void net_log_key_wipe(net_log_secret_key* key);
/// The first bytes of a public key as text: what people compare.
void net_log_key_id(const net_log_public_key* key, char text[NET_LOG_KEY_ID_BYTES]);
/// A key as the line of its file.
void net_log_key_print(const net_log_secret_key* key, char text[NET_LOG_KEY_TEXT_BYTES]);
void net_log_public_key_print(const net_log_public_key* key, char text[NET_LOG_KEY_TEXT_BYTES]);
/// The key of such a line. Total. @return false: it is no such line.
BASE_MUST_USE bool net_log_key_parse(const char* text, size_t size, net_log_secret_key* key);
BASE_MUST_USE bool net_log_public_key_parse(const char* text, size_t size, net_log_public_key* key);

/// Gets each record (packed; borrowed for the call) after its way into the queue, on the
/// simulation's thread, but those of states. Also those that the log leaves out because a disk is
/// full, and those after its failure.
typedef struct net_log_tap {
    /// `kind`: the record's field in Record (proto/log.proto).
    void (*record)(void* context, uint32_t kind, ecs_tick tick, const void* data, uint32_t size);
    void* context;
} net_log_tap;

typedef struct net_log_options {
    net_log_segments segments;
    net_log_sync sync;
    net_log_content content;
    /// Keep the last seconds in memory as well, for net_log_save; at most NET_LOG_RING_SECONDS_MAX.
    /// 0: none.
    uint32_t ring_seconds;
    uint64_t ring_bytes; ///< of that memory; it keeps fewer seconds where they need more
    /// Match time between two keyframes, at most NET_LOG_KEYFRAME_SECONDS_MAX, rounded up to whole
    /// blocks. 0: NET_LOG_KEYFRAME_SECONDS_DEFAULT.
    uint32_t keyframe_seconds;
    bool has_controls; ///< net_log_append_control may be called: the header says so
    /// The match is a client's, and the log what it saw: it begins with the tick at hand, and is
    /// appended by net_log_append_seen alone.
    bool is_seen;
    bool is_in_memory; ///< no file is written: ring_seconds are all that there is
    /// Of the records that wait for the disk; a power of two from 64 to 8 MiB, which is also what 0
    /// means. A record that is longer than half of it ends the log.
    uint64_t waiting_bytes;
    net_log_file_ops ops;
    bool is_manual; ///< no thread: net_log_pump does its work
    /// The match is that of this log, run again up to one of its ticks (net_log_resume), and goes
    /// on: a copy of the log up to there is the new log's first segment. So both are one match,
    /// with one identity, and the log of `before` stays as it is. Read in create only.
    struct net_log_reader* before;
    /// Of the match: drawn by its maker, or that of another log whose match runs again here, and
    /// then this log begins with the tick behind the match's. 0: the writer makes one.
    uint64_t identity;
    const net_log_secret_key* sign_key; ///< outlives the writer; NULL: the log is not signed
    net_log_tap tap;                    ///< outlives the writer; `record` NULL: nothing is called
} net_log_options;
/// @return Segments of NET_LOG_SEGMENT_BYTES_DEFAULT, at most NET_LOG_BUDGET_BYTES_DEFAULT.
net_log_options net_log_options_default(void);

/// What a writer did so far.
typedef struct net_log_counters {
    uint64_t bytes;            ///< written, those of deleted segments too
    uint64_t segments_closed;  ///< by rotation
    uint64_t segments_deleted; ///< over a limit
    /// Of them, with net_log_segments.on_close: those without a mark that they are stored.
    uint64_t segments_unstored;
    uint64_t keyframes;
    uint64_t keyframes_dropped; ///< too long, or the one before was not packed yet
    /// Ticks that ended and are neither in the log nor wait for the disk. Those after a gap, too,
    /// until the keyframe with which the log goes on is written: then it falls by their number.
    uint64_t ticks_lost;
    uint64_t ticks_waited;    ///< that ended while the disk took nothing, or no new segment
    uint64_t commands_failed; ///< of net_log_segments.on_close
    uint64_t saves;           ///< of the last seconds, that are whole files
    uint64_t saves_failed;    ///< no room on the disk, over the budget, nothing to save, too many
} net_log_counters;

/// Create FILE, FILE.queue and the thread, for a match before its first tick (but for options
/// `before` and `identity`). An older log with this name becomes FILE.N, with its queue; N is above
/// all that are there. A log that another server writes is not touched. `options` (NULL:
/// net_log_options_default) is copied, its texts must outlive the writer. `build` names the
/// program's version. The caller owns the writer; *writer is NULL after an error.
/// @return NET_OK, also when the disk is full (reported): the log begins when there is room;
///         NET_ERR_DISK (reported: the disk is broken; a match can run without its log);
///         NET_ERR_IO (reported: the name is wrong or taken).
BASE_MUST_USE net_result net_log_writer_create(const base_allocator* allocator, const char* file,
                                               const net_log_options* options,
                                               const net_match* match, const char* build,
                                               uint64_t now_unix_ms, const base_reporter* reporter,
                                               net_log_writer** writer);
/// Write all queued records to the disk, and a close record when net_log_append_close did not.
/// Nothing may be appended afterwards. A disk that takes nothing for 5 s is given up. @return
/// NET_OK; NET_ERR_IO (the log is incomplete: net_log_take_failure has the reason, and FILE.queue
/// has what FILE lacks).
net_result net_log_writer_finish(net_log_writer* writer);
/// After net_log_writer_finish: start net_log_segments.on_close where it was not yet. @return
/// whether one still runs. Without this call net_log_writer_destroy starts all at once.
bool net_log_commands_go_on(net_log_writer* writer);
/// net_log_writer_finish, remove FILE.queue unless that failed, and free. NULL does nothing.
/// @return NET_OK; NET_ERR_IO (the log is incomplete).
net_result net_log_writer_destroy(net_log_writer* writer);

/// Append what enters a tick, before the step: the record survives kill -9. Nothing after a
/// failure.
void net_log_append_begin(net_log_writer* writer, const net_tick_inputs* inputs);
/// Append what an operator does to the match before its next tick: the verb, of [a-z_], and
/// arguments. Between ticks, of a log with has_controls. Do it to the match only when this returns
/// NET_OK: a re-run does the same before the tick's leaves.
/// @return NET_OK (also when logging stopped); NET_ERR_FULL (too long for a record).
BASE_MUST_USE net_result net_log_append_control(net_log_writer* writer, const char* verb,
                                                const net_match_argument* arguments,
                                                uint32_t count);
/// Append hashes, sums and server events of the tick: after the step, before ecs_changes_clear.
void net_log_append_end(net_log_writer* writer, net_match* match);
/// The log as what observes a server (net_server_config.observer); of no log (NULL), nothing.
/// With the rows of a server's history (state/history.h) nothing is quantised twice; either every
/// tick is appended with the same history, or none (net_log_append_end). Within a tick, and after
/// the close, `idle` does nothing. No match may be exchanged while the keyframe before is not
/// written (asserted). The log continues in a new segment, which begins with a keyframe and the
/// new game.
net_observer net_log_observer(net_log_writer* writer);

/// A client that plays.
typedef struct net_log_player {
    uint32_t client;
    ecs_entity entity;                    ///< NONE: a spectator, or its entity is gone
    char name[NET_PLAYER_NAME_BYTES_MAX]; ///< filled up with zeros
} net_log_player;

/// Of a log with is_seen: append what a client has after a step of its match (the newest tick that
/// came, later than the last one) and who plays, by rising client. Ticks that it never got are
/// those before them. The change list has all since the last call.
void net_log_append_seen(net_log_writer* writer, net_match* match, const net_log_player* players,
                         uint32_t count);
/// Append a close record with the world hash, after the last append_end. Optional:
/// net_log_writer_destroy writes one without.
void net_log_append_close(net_log_writer* writer, net_match* match);
/// With net_log_options.is_manual: do what the log's thread does each 20 ms. A disk that was full
/// is asked again each time.
void net_log_pump(net_log_writer* writer);
/// A reader elsewhere follows the file as it grows: the blocks of the next two seconds of ticks are
/// a fifth as long, so what it reads is that much younger. Call it again while it reads. Such a log
/// is a little larger; its records are the same.
void net_log_hurry(net_log_writer* writer);
/// Wait until the queue is at most half full, and a keyframe that is due next has room. For servers
/// that run faster than the disk (--fast); one that takes nothing for 5 s ends the log.
void net_log_wait_room(net_log_writer* writer);
/// @return true once, after logging stopped because of a failure; `text` gets the reason.
bool net_log_take_failure(net_log_writer* writer, char* text, size_t text_bytes);
/// Ask until it returns false. @return true once per change: writes to the disk or to the folder of
/// a new segment started or stopped failing, ticks started or stopped being dropped, a closed
/// segment is gone. `text` describes it.
bool net_log_take_notice(net_log_writer* writer, char* text, size_t text_bytes);
/// A save of the last seconds: a whole log of its own.
typedef struct net_log_saved {
    char file[512];
    ecs_tick first_tick, last_tick;
    uint64_t bytes;
    char failure[160]; ///< why there is no such file; empty: it is whole
} net_log_saved;

/// Save the last net_log_options.ring_seconds, up to the newest tick that was appended, as a log
/// that opens, verifies and plays like any other. It begins with the keyframe before them, so it
/// has up to 10 s more; with fewer in memory it has those. The log's thread writes it when that
/// tick's block is complete (1 s at the most; while no tick runs it may wait for the next one). The
/// file is the log's name, without ".slog", and ".saved-TICK-NAME.slog"; what `name` has besides
/// a-z, A-Z, 0-9, - and _ becomes _, and it may be empty. All saves together stay within
/// net_log_segments.budget_bytes.
/// @return NET_OK: net_log_take_saved tells what became of it; NET_ERR_FULL: the save before is not
///         taken yet; NET_ERR_CLOSED: there is no ring, or logging stopped.
BASE_MUST_USE net_result net_log_save(net_log_writer* writer, const char* name);
/// @return true once for each net_log_save that returned NET_OK, when it is done.
bool net_log_take_saved(net_log_writer* writer, net_log_saved* saved);

/// What was done so far. Exact after net_log_writer_finish.
net_log_counters net_log_get_counters(const net_log_writer* writer);

// ---- reading ----

/// Reading an event log without its game: header, statistics, records as JSON. Format:
/// proto/LOG.md.
///
/// The files are untrusted. Create looks at the start, the end and the headers of blocks, so a log
/// of hours opens at once. A walk reads block by block and checks each. Damage that a walk finds is
/// reported once and counted in the info; the walk goes on at the next keyframe.
///
/// A log that was written in segments (FILE.seg0001, ..., FILE) is one log when FILE is opened. One
/// segment that is opened by its own name is a log of its ticks.
/// Threads: one thread at a time. A reader serves one walk, replay or playback at a time.

typedef struct net_log_reader net_log_reader;

/// What the header says and what the opening check found.
typedef struct net_log_info {
    char game[NET_GAME_NAME_BYTES_MAX];
    char build[64]; ///< of the program that wrote it
    uint64_t identity, content_hash, schema_hash, seed, started_unix_ms;
    uint32_t tick_rate_hz, replicated_index_max, world_hash_every;
    uint32_t untracked_values; ///< that a tick's sums are about; 0: they are of tracked ones alone
    ecs_tick first_tick, last_tick; ///< of whole ticks: those with begin and end record
    uint32_t segment_count, keyframe_count;
    uint32_t
        segment_before; ///< a reload: with this segment ends the game's version before; 0: none
    uint64_t file_bytes, block_count; ///< of all segments
    uint64_t damaged_blocks;          ///< found so far, as are the next two
    uint64_t lost_ticks;              ///< between first_tick and last_tick
    uint64_t lost_bytes;    ///< at least 1 when something is lost and nothing shows how much
    uint64_t queue_records; ///< recovered from FILE.queue after a crash
    bool is_seen;           ///< a client recorded what it saw: it cannot run again
    bool is_hosted;         ///< net_match_config.is_hosted
    bool is_closed;         ///< a close record ends it
    bool is_cut;            ///< the tail is torn: the process died while writing
    bool is_damaged;        ///< blocks or segments inside of it are damaged, missing or changed
    bool is_hashed; ///< after net_log_reader_check: each file ends with the right running hash
    uint32_t setting_count;
    char settings[NET_SETTINGS_MAX][64]; ///< "key=value"
} net_log_info;

#define NET_LOG_LIVE UINT32_MAX
/// Open a log. A torn tail is not an error (is_cut). The caller owns the reader; what `reporter`
/// borrows must outlive it.
/// @return NET_OK; NET_ERR_IO (reported); NET_ERR_VERSION (reported: a later version wrote it and
///         this one must not skip the difference); NET_ERR_DAMAGED (reported:
///         no header can be read and *reader is NULL; or blocks are damaged, then *reader yields
///         the records that can be used).
BASE_MUST_USE net_result net_log_reader_create(const base_allocator* allocator, const char* file,
                                               const base_reporter* reporter,
                                               net_log_reader** reader);
/// The part of a log that ends with a closed segment; 0: with FILE; NET_LOG_LIVE: with FILE, whose
/// server lives: what its queue has comes with the next blocks. A log is opened from the last
/// reload of its game on; net_log_info.segment_before leads to what is before.
/// @return NET_OK; NET_ERR_IO (reported); NET_ERR_VERSION, NET_ERR_DAMAGED (as for
///         net_log_reader_create).
BASE_MUST_USE net_result net_log_reader_create_to(const base_allocator* allocator, const char* file,
                                                  uint32_t last_segment,
                                                  const base_reporter* reporter,
                                                  net_log_reader** reader);
/// Follow a log that another process writes: walks of the reader go on through its new blocks, and
/// the info has them. A block whose end is missing comes with a later call. Borrowed keyframes end.
/// A closed segment, and a log with records out of FILE.queue, do not grow: open them again.
void net_log_reader_follow(net_log_reader* reader);
/// Destroy a reader. NULL does nothing.
void net_log_reader_destroy(net_log_reader* reader);
/// Borrowed; lives as long as the reader.
const net_log_info* net_log_reader_info(const net_log_reader* reader);

/// Read and check every block, once: what the info says about damage is final then. It is a walk of
/// its own, so a replay or playback of the reader does not go on after it.
/// @return NET_OK; NET_ERR_DAMAGED (reported).
BASE_MUST_USE net_result net_log_reader_check(net_log_reader* reader);
/// The verdict on a log, after net_log_reader_check: "whole"; "cut" (is_cut); "damaged" (any block
/// of it is not whole, or missing). Programs say no other.
const char* net_log_reader_verdict(net_log_reader* reader);
/// How far a log is signed.
typedef struct net_log_signed {
    bool is_signed;       ///< all of its files are. Of a log without a close its end may be missing
    bool is_part;         ///< what the match did before its first block is missing here
    bool has_signature;   ///< some file has one, of any key
    bool is_wrong;        ///< the first file that is not has one: of another key, or it was changed
    uint64_t first_block; ///< ordinal of the first block that is not signed
    ecs_tick last_tick;   ///< the last one that is; 0: none
    uint8_t total[NET_LOG_HASH_BYTES]; ///< up to there; the part after a reload builds on it
} net_log_signed;
/// Check the signatures of a log's files, from the first one on, up to one that is wrong. A walk of
/// its own. `before`: found in the part before a reload; NULL: the log begins with its match.
void net_log_reader_check_signed(net_log_reader* reader, const net_log_public_key* key,
                                 const net_log_signed* before, net_log_signed* found);
/// A place from which the match can run again without the ticks before it: its state after a tick.
/// Usable with the build and the content that wrote the log.
typedef struct net_log_keyframe {
    ecs_tick tick;
    uint64_t offset; ///< of its first block
} net_log_keyframe;
/// All keyframes by rising tick. Their bytes are checked when they are used. Borrowed; they live as
/// long as the reader.
const net_log_keyframe* net_log_reader_keyframes(const net_log_reader* reader, uint32_t* count);

/// The kinds of records by their number in LOG.md. What else is known of a kind is its row in
/// log/log_record.c.
typedef enum net_log_kind {
    NET_LOG_KIND_OTHER, ///< of a later version: skipped
    NET_LOG_KIND_BEGIN,
    NET_LOG_KIND_END,
    NET_LOG_KIND_CLOSE,
    NET_LOG_KIND_STATE,   ///< a part of the tick's state, after its end
    NET_LOG_KIND_CONTROL, ///< of the tick that comes next, before its begin
    NET_LOG_KIND_ALIVE,   ///< no tick ran; of the tick that comes next
    NET_LOG_KINDS,
} net_log_kind;

/// What comes next of records that are followed while they are written.
typedef enum net_log_feed_state {
    NET_LOG_FEED_RECORD,
    NET_LOG_FEED_NOTHING, ///< now: ask again later
    NET_LOG_FEED_END,     ///< the close was read, or nothing comes any more
    NET_LOG_FEED_FAILED,
} net_log_feed_state;

typedef struct net_log_stats {
    uint64_t records[NET_LOG_KINDS], bytes[NET_LOG_KINDS]; ///< by kind; packed
    uint64_t leaves, joins, client_events, inputs, input_repeats, server_events;
    uint64_t changes_bytes; ///< part of the bytes of ends and states
} net_log_stats;
/// Count all records. @return NET_OK; NET_ERR_DAMAGED (the file changed since it was opened).
BASE_MUST_USE net_result net_log_read_stats(net_log_reader* reader, net_log_stats* stats);

/// Write the log as JSON: one object per line, first the header, then each record. With the module
/// (may be NULL) messages are decoded, without it they are hex.
/// @return NET_OK; NET_ERR_DAMAGED (the file changed since it was opened).
BASE_MUST_USE net_result net_log_dump(net_log_reader* reader, const net_module* module,
                                      ecs_line_fn line, void* context);

// ---- values by name, without the game ----

/// The state that a log recorded, without running its game: entities, components and fields by
/// name, at one tick. It comes from the states in the log ("State" in proto/LOG.md) and from
/// Header.schema alone, so it works for logs of other builds and for games that are not here.
///
/// What it has: the replicated components of replicated entities, as rows: quantised. Fields that a
/// template quantises have the value that clients get. Values of variable size are bytes
/// (ecs_type_write). Components that are tracked only, or not at all, have sums and no values.
///
/// The log is untrusted: every function is total. Memory grows with the entities of the match.
/// Threads: one thread at a time. A state walks the records of its reader, so that reader serves no
/// other walk meanwhile.

typedef struct net_log_state net_log_state;

/// One field of a component. Pointers live as long as the state.
typedef struct net_log_field {
    const char* name;    ///< "x"; never NULL
    ecs_field_kind kind; ///< of its values
    uint32_t count;      ///< elements; 1 for a scalar
    bool is_angle;       ///< its type rounds it as one (ecs_quant_is_angle)
} net_log_field;

/// One component of the log's schema, by the names of the build that wrote it.
typedef struct net_log_component {
    uint32_t id;      ///< in this log
    const char* name; ///< "pos"
    const char* type; ///< "p2"; "" when the header does not say
    bool is_varsize;  ///< values are bytes (net_log_state_bytes)
    uint32_t field_count;
    const net_log_field* fields;
    uint32_t value_count; ///< elements of all fields
} net_log_component;

/// What the last tick did to an entity.
typedef enum net_log_fate {
    NET_LOG_FATE_CHANGED,
    NET_LOG_FATE_CREATED, ///< also: another template, or another entity at its index
    NET_LOG_FATE_DESTROYED,
} net_log_fate;

typedef struct net_log_touch {
    ecs_entity entity;
    net_log_fate fate;
} net_log_touch;

/// Begin at tick 0, before the first record. With the game, which must outlive the state (NULL:
/// without), a tick whose state the log does not have is run again. When the game cannot run the
/// log that is reported, and such ticks stay unknown. A run that differs from the log is reported:
/// net_log_state_diverged.
/// @return NET_OK; NET_ERR_UNKNOWN (reported: without the game, and the log has no values: it was
///         written with --log content=inputs); NET_ERR_VERSION (reported with the build that reads
///         it: its values are in another row code); NET_ERR_DAMAGED (reported: its schema is none);
///         NET_ERR_SCHEMA, NET_ERR_MODULE (reported: the log has no values and this game cannot run
///         it).
BASE_MUST_USE net_result net_log_state_create(net_log_reader* reader, const net_module* module,
                                              const base_reporter* reporter, net_log_state** state);
/// NULL does nothing.
void net_log_state_destroy(net_log_state* state);
/// @return The first tick in which a run was not the log's match; 0: none so far.
ecs_tick net_log_state_diverged(const net_log_state* state);
/// Go on to the next whole tick.
/// @return NET_OK; NET_ERR_CLOSED (the log has no further one); NET_ERR_DAMAGED (reported: bytes
///         that no writer writes, or the file changed; every later call returns it too);
///         NET_ERR_MEMORY (as damaged).
BASE_MUST_USE net_result net_log_state_step(net_log_state* state);
/// Go on to the last whole tick that is not above `tick`; below the current one it begins again.
/// @return NET_OK; NET_ERR_DAMAGED (reported: of a log that is run again, net_log_state_tick is the
///         last tick that can be reached), NET_ERR_MEMORY: every later step returns it too.
BASE_MUST_USE net_result net_log_state_seek(net_log_state* state, ecs_tick tick);
/// The tick of the values; 0 before the first.
ecs_tick net_log_state_tick(const net_log_state* state);
/// Are the values those of this tick? They are not after ticks or states that were lost, until a
/// full state comes, nor in the newest tick of a server that was killed.
bool net_log_state_is_whole(const net_log_state* state);

/// Has the tick a full state, with all values? Then net_log_state_touches has every entity as
/// created.
bool net_log_state_is_full(const net_log_state* state);

/// The components of the schema that have values, by rising id.
uint32_t net_log_state_component_count(const net_log_state* state);
const net_log_component* net_log_state_component(const net_log_state* state, uint32_t position);

/// The living entity with the next higher index; begin with ECS_ENTITY_NONE, which also ends.
ecs_entity net_log_state_next(const net_log_state* state, ecs_entity before);
/// @return The name of the template ("arena_player+boost"), borrowed; NULL: no such entity.
const char* net_log_state_template(const net_log_state* state, ecs_entity entity);
/// The components of the entity's template that have values, in order of name.
/// @return NULL at the end, and for no such entity.
const net_log_component* net_log_state_template_component(const net_log_state* state,
                                                          ecs_entity entity, uint32_t position);
/// Read all elements of all fields of a component, in order: `values` has room for
/// component->value_count. @return false: no such entity, it lacks the component, or its values are
/// bytes.
bool net_log_state_read(const net_log_state* state, ecs_entity entity,
                        const net_log_component* component, ecs_number* values);
/// Find the bytes of a variable-size value. They are borrowed until the next step. @return NULL:
/// there is no such entity, it lacks the component, or the component's values are no bytes.
const uint8_t* net_log_state_bytes(const net_log_state* state, ecs_entity entity,
                                   const net_log_component* component, size_t* size);
/// Who plays, by rising client; borrowed until the next step.
const net_log_player* net_log_state_players(const net_log_state* state, uint32_t* count);
/// What the last step did, by rising index of entity; borrowed until the next step. After a seek:
/// of its last tick.
const net_log_touch* net_log_state_touches(const net_log_state* state, uint32_t* count);
/// What the last tick that touched an entity changed: a bit per position in its template, as
/// listed; all when it is new. 0: there is no such entity.
uint64_t net_log_state_changed(const net_log_state* state, ecs_entity entity);

// ---- running it again ----

/// Running the match of an event log again: step by step, to verify it, or to prove a client's
/// trace.
///
/// A replay makes the calls that the server made, in the same order, so it reaches the same worlds
/// bit for bit.
/// Threads: one thread at a time.

typedef struct net_log_replay net_log_replay;

/// What the log holds about the tick that was replayed.
typedef struct net_log_tick {
    ecs_tick tick;
    bool has_end; ///< false: the server died in this tick, the fields below are zero
    bool has_world_hash;
    uint64_t state_hash, world_hash;
    const uint8_t* changes; ///< proto/LOG.md, "Sums"; borrowed until the next step
    size_t changes_bytes;
    /// From this tick to the one before cannot be read: it went on at a keyframe. 0: not so.
    ecs_tick lost_first;
} net_log_tick;

/// Create the match that the log's header describes, and go to `tick` (net_log_replay_seek; 0: it
/// begins before tick 1). The caller owns the replay; it uses the reader, and reader and module
/// must outlive it. A content hash that differs is reported and the replay goes on.
/// @return NET_OK; NET_ERR_UNKNOWN (reported: a client's record, which cannot run again);
///         NET_ERR_SCHEMA (reported: a log of another game, or what differs in the schema);
///         NET_ERR_MODULE (reported); NET_ERR_DAMAGED (reported: bad settings, or nothing at or
///         before `tick` can be used).
BASE_MUST_USE net_result net_log_replay_create(net_log_reader* reader, const net_module* module,
                                               ecs_tick tick, const base_reporter* reporter,
                                               net_log_replay** replay);
/// Go to the newest keyframe at or before `tick`, or to the start of the log, whichever is nearer;
/// not when the replay already is between it and `tick`. net_match_tick says where it is;
/// net_log_replay_step leads on from there. A keyframe that cannot be used is reported, and an
/// earlier one is taken. The change list is empty then.
/// @return NET_OK; NET_ERR_DAMAGED (reported: nothing at or before `tick` can be used; every later
///         call but a seek returns it too).
BASE_MUST_USE net_result net_log_replay_seek(net_log_replay* replay, ecs_tick tick);
/// NULL does nothing.
void net_log_replay_destroy(net_log_replay* replay);
/// Borrowed; lives as long as the replay.
net_match* net_log_replay_match(net_log_replay* replay);
/// Apply the records of the next tick and step. The match is then as the server's was before it
/// cleared its change list; the next call clears that list. After damage it goes on at the next
/// keyframe (tick->lost_first).
/// @return NET_OK; NET_ERR_CLOSED (the log has no further tick); NET_ERR_DAMAGED (reported: a
///         record that the match cannot take, or the file changed; every later call returns it
///         too).
BASE_MUST_USE net_result net_log_replay_step(net_log_replay* replay, net_log_tick* tick);
/// Step to the next tick with an end. The first one whose state is not the log's is reported, and
/// goes into *diverged, which is 0 before; the run goes on.
/// @return NET_OK; NET_ERR_CLOSED (the log has no further tick); NET_ERR_DAMAGED (reported).
BASE_MUST_USE net_result net_log_replay_next(net_log_replay* replay, const base_reporter* reporter,
                                             ecs_tick* diverged);

/// Run the match of a log again up to a tick, from the newest keyframe on, compare each hash on the
/// way, call `each` (may be NULL) after each tick, and give it to the caller: it goes on with the
/// next tick. `tick` 0: the last whole one. From now on no server can write this log until the
/// reader is destroyed or a log goes on with it (net_log_options.before).
/// @return NET_OK: *match is the caller's; else reported, but for the last one: NET_ERR_CLOSED (a
///         server writes this log now); NET_ERR_UNKNOWN (the log has no such tick, or is a client's
///         record); NET_ERR_SCHEMA (another game, or content); NET_ERR_VERSION (another row code);
///         NET_ERR_DIVERGED (not the log's match here); NET_ERR_MODULE, _DAMAGED.
BASE_MUST_USE net_result net_log_resume(net_log_reader* reader, const net_module* module,
                                        ecs_tick tick, void (*each)(void* context), void* context,
                                        const base_reporter* reporter, net_match** match);
/// What verification found.
typedef struct net_verify_result {
    bool is_diverged;
    ecs_tick ticks;                     ///< that were verified
    ecs_tick diverged_tick;             ///< the first that differs
    char component[ECS_NAME_BYTES_MAX]; ///< that differs first; "-" when only the tick is known
    ecs_entity entity;                  ///< NONE: not known
    char field[ECS_NAME_BYTES_MAX + 8]; ///< "x", "slots[3]"; empty: not known
    char log_value[64], value[64];      ///< of the field in the log and here; empty: not known
    char writers[512];                  ///< systems that may write the component, in their order,
                                        ///< with ','; empty: no component is known, or none may
    char note[320];                     ///< what differs, or how it was found; may be empty
    bool is_other_schema;               ///< the game here has another one: `note` says what differs
    /// The log runs again, but a match that was restored after this tick does not: the game keeps
    /// state outside of its world. `log_value` is that of the run from the start. 0: not so.
    ecs_tick restored_tick;
    char system[ECS_NAME_BYTES_MAX + 64];   ///< with restored_tick: after which they differ first
    char template_name[ECS_NAME_BYTES_MAX]; ///< of the entity; empty: not known
    uint64_t state_hash, world_hash;        ///< of this run after the last tick
} net_verify_result;
/// Called after each replayed tick, before the change list is cleared. @return false to stop.
typedef bool (*net_verify_tick_fn)(void* context, net_match* match);
/// Replay the log from the newest keyframe at or before `from` on (0: from its first tick) and
/// compare every hash in it. `until` 0: up to its last whole tick; last_tick + 1 also replays the
/// tick in which the server died, if its inputs are there. With `until` 0 the state that the log
/// has of each tick is read and compared as well (net_log_state); with both 0 a part is run
/// again, by matches that are restored in two to four places. `each` may be NULL; it gets their
/// ticks, too.
/// @return NET_OK; NET_ERR_DIVERGED (*result has where); NET_ERR_SCHEMA, NET_ERR_MODULE (reported:
///         another game, or another version of it); NET_ERR_DAMAGED (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_verify(net_log_reader* reader, const net_module* module,
                                        ecs_tick from, ecs_tick until, net_verify_tick_fn each,
                                        void* context, const base_reporter* reporter,
                                        net_verify_result* result);
/// After a verification that diverged: run that tick twice from the keyframe before it, look at all
/// components after each system, and write lines (server/README.md): after which system two runs
/// differ, or else which systems changed the component. A log has no state after a system, so
/// nothing is compared with it there.
/// @return NET_OK; NET_ERR_DAMAGED, NET_ERR_SCHEMA, NET_ERR_MODULE (reported: it cannot be run).
BASE_MUST_USE net_result net_log_by_system(net_log_reader* reader, const net_module* module,
                                           const net_verify_result* found, ecs_line_fn line,
                                           void* context, const base_reporter* reporter);
/// Prove a client's trace, a text of lines "client=U entity=I:G tick=T row=<hex>": each row equals
/// the server's row at that tick, and per client and entity the ticks do not fall. *rows_checked
/// counts rows up to the first fault.
/// @return NET_OK; NET_ERR_DIVERGED (the first wrong line is reported); NET_ERR_MALFORMED
///         (reported: a line has another form); NET_ERR_IO (reported);
///         NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_check_trace(net_log_reader* reader, const net_module* module,
                                             const char* trace_file, const base_reporter* reporter,
                                             uint64_t* rows_checked);

BASE_C_END
