// SPDX-License-Identifier: MIT
/// A log's records in order: out of the files' whole blocks, then out of the queue.
#pragma once

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/report.h"
#include "log/log_block.h"
#include "log/log_queue.h"
#include "log/log_record.h"
#include "net/log.h"
#include "net/result.h"

#include <sys/types.h>

/// A walk over a reader's records; one at a time per reader. It may be copied.
typedef struct net_log_cursor {
    uint64_t block;      ///< offset of the block being walked
    uint64_t offset;     ///< of the next block
    const uint8_t* data; ///< records being walked
    size_t size, at;
    uint64_t blocks;   ///< passed so far
    uint64_t ordinal;  ///< of the next block
    uint64_t number;   ///< of the first record of the next block
    uint64_t bad_from; ///< bytes from here on belong to no block; UINT64_MAX: all do
    net_log_order order;
    /// The records before the next one are lost, or in another file: its tick follows the keyframe
    /// of this tick. The state before is of no use; net_log_keyframe_read has the new one. 0:
    /// nothing is lost. net_log_cursor_next sets it for one record.
    ecs_tick resumed;
    uint64_t resumed_at; ///< with `resumed`: offset of the keyframe
    ecs_tick lost_first; ///< with `resumed`: the first tick that is missing; 0: none is
    bool is_lost;        ///< looks for a keyframe
    bool is_part;        ///< looks for the first keyframe
    bool is_in_queue;
    bool is_all;     ///< it began with the first record
    bool has_failed; ///< the file changed since it was opened
} net_log_cursor;

/// A cursor at the first record. When that is not of tick 1, `resumed` is set with it.
net_log_cursor net_log_cursor_begin(const net_log_reader* reader);
/// A cursor behind the newest keyframe at or before `tick`, without one at the first record.
/// *keyframe is that one (borrowed; only its block's header was checked), or NULL. The next record
/// is the begin of the tick after it, or what follows damage (`resumed`).
net_log_cursor net_log_reader_seek(net_log_reader* reader, ecs_tick tick,
                                   const net_log_keyframe** keyframe);
/// Next record, checked; borrowed until the next call. What is damaged is reported and skipped up
/// to the next keyframe (`resumed`). @return false at the end.
bool net_log_cursor_next(net_log_reader* reader, net_log_cursor* cursor, net_log_record* record);

/// Walk on from where a copy of a cursor of this reader stood: reads its block again.
/// @return false: the file changed (cursor->has_failed).
BASE_MUST_USE bool net_log_cursor_return(net_log_reader* reader, net_log_cursor* cursor);

/// Append a keyframe's save (net_match_save) to `save`. A cursor of the reader is not disturbed.
/// @return NET_OK; NET_ERR_DAMAGED (not reported).
BASE_MUST_USE net_result net_log_keyframe_read(net_log_reader* reader,
                                               const net_log_keyframe* keyframe, base_bytes* save);

/// Take the lock of the log, as its writer does. @return false: a writer has it.
BASE_MUST_USE bool net_log_reader_lock(net_log_reader* reader);
void net_log_reader_unlock(net_log_reader* reader);

// ---- the files of a log ----

// The files of a log as one range of bytes: its closed segments, then the file itself.

typedef struct net_log_set_file {
    uint64_t base, bytes; ///< where it begins in the range
    uint32_t number;      ///< of a segment; 0: the file of the log's name
    dev_t device;
    ino_t inode;
} net_log_set_file;

typedef struct net_log_set {
    const base_allocator* allocator; ///< of the reader, which gives its memory back
    const char* file;                ///< borrowed
    net_log_set_file* files;         ///< by rising base
    uint32_t count, capacity;
    uint64_t bytes; ///< of all
    int fd_last;
    int fd;           ///< of one more; -1
    uint32_t fd_file; ///< which
} net_log_set;

/// Open `file` and find its segments: those beside it that say the same identity, or cannot be
/// asked. With `last` the log ends with this segment.
/// @return NET_OK; NET_ERR_IO (reported).
BASE_MUST_USE net_result net_log_set_open(net_log_set* set, const base_allocator* allocator,
                                          const char* file, uint32_t last,
                                          const base_reporter* reporter);
/// The log begins with this one of its files; no place of it was used yet.
void net_log_set_begin(net_log_set* set, uint32_t index);
void net_log_set_close(net_log_set* set);
/// Take what the last file has grown by.
void net_log_set_follow(net_log_set* set);
/// The file that a place lies in. `offset` is less than set->bytes.
const net_log_set_file* net_log_set_at(const net_log_set* set, uint64_t offset);
/// Read bytes of one file. @return false when they are not there (any more).
BASE_MUST_USE bool net_log_set_read(net_log_set* set, uint64_t offset, void* target, size_t size);

// ---- what a reader is made of ----

// For opening (log_open.c) and walking (log_read.c); file and allocator for others too.

enum { NET_LOG_REPORTED_MAX = 64 };

struct net_log_reader {
    base_owner owner;
    const base_allocator* allocator; // of the caller: matches may outlive the reader
    char file[4096];
    net_log_set set;
    net_log_info info;
    base_reporter reporter;
    base_bytes header;
    bool is_part;        // it begins with a keyframe: ticks before it are elsewhere
    bool is_reload;      // its header was written by a reload
    uint64_t data_start; // after the header block
    uint64_t good_end;   // after the last whole block
    net_log_keyframe* keyframes;
    uint32_t keyframe_capacity;
    uint64_t tail_number; // of the record that follows the last whole block
    uint64_t tail_lost_bytes;
    uint64_t next_ordinal; // of the block that follows the last whole one
    base_bytes queue;      // records out of the queue
    uint8_t* stored;
    uint8_t* payload;
    uint8_t* beside;                     // another payload, while a cursor is in the first one
    net_log_keyframe* keyframes_of_file; // NET_LOG_INDEX_KEYFRAMES_MAX, of an index
    uint8_t* columns;
    // Damage that was reported, by the place where it begins: a later walk meets it again.
    uint64_t reported[NET_LOG_REPORTED_MAX];
    uint32_t reported_count;
    bool is_checking; // a walk through everything counts all damage, reported or not
    bool is_walked;   // a walk through everything came to the end
    bool is_checked;  // the counts are final
};

/// The end of the log as opening found it.
typedef struct net_log_tail {
    net_log_order order;
    uint64_t number; ///< of the record that follows
    bool has_other_log;
    bool has_index; ///< its last file was closed in good order
    ecs_tick begin; ///< of its first file, by its index: the tick of the first keyframe; 0: unknown
} net_log_tail;

static inline uint64_t net_log_block_end(uint64_t offset, const net_log_block* block) {
    return offset + NET_LOG_BLOCK_HEADER_BYTES + block->stored_bytes;
}

/// Read a header whose checksum matches and whose stored bytes are all in its file.
BASE_MUST_USE bool net_log_read_block(net_log_reader* reader, uint64_t offset,
                                      net_log_block* block);
/// Read the stored bytes of a block, check and unpack them into `target`.
BASE_MUST_USE bool net_log_read_payload(net_log_reader* reader, uint64_t offset,
                                        const net_log_block* block, uint8_t* target);
/// The next block from *offset on that begins before `end`. What is none is passed over.
/// @return false: there is none.
bool net_log_next_block(net_log_reader* reader, uint64_t* offset, uint64_t end,
                        net_log_block* block);
/// Where the search for the block after this one begins: where it ends. Where nothing begins there
/// and its bytes are not whole, some of them may be missing, and the next one begins inside of it.
uint64_t net_log_pass_block(net_log_reader* reader, uint64_t offset, const net_log_block* block);
/// Does a block of the log stand at its place, when `ordinal` is the next one there? One with a
/// higher ordinal does when the blocks after it agree.
BASE_MUST_USE bool net_log_is_in_order(net_log_reader* reader, uint64_t offset,
                                       const net_log_block* block, uint64_t ordinal);
/// Is it the start of a file with a whole prologue?
BASE_MUST_USE bool net_log_is_prologue(net_log_reader* reader, uint64_t offset);
struct net_log_index;
struct net_log_chain;
/// The running hash of a file's blocks, and what its index says. @return false: they are not all
/// whole, or no index with a running hash ends it.
BASE_MUST_USE bool net_log_file_chain(net_log_reader* reader, const net_log_set_file* file,
                                      struct net_log_index* index, struct net_log_chain* chain);
/// Get the next (varint length, bytes) of a payload. NULL for what no writer writes.
const uint8_t* net_log_next_span(base_reader* bytes, size_t* size);
/// The one record of a payload. NULL for what no writer writes.
const uint8_t* net_log_only_span(const uint8_t* payload, size_t payload_bytes, size_t* size);
/// Check an unpacked data block: its records are decoded, in order, as many and of the ticks that
/// it says.
BASE_MUST_USE bool net_log_check_records(const net_log_block* block, const uint8_t* payload,
                                         net_log_order* order);
/// The order before an unpacked data block, as its first record says.
net_log_order net_log_order_of(const net_log_block* block, const uint8_t* payload);
