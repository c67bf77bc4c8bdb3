// SPDX-License-Identifier: MIT
/// A log's records in order: out of the files' whole blocks, then out of the queue.
#pragma once

#include "log/log_block.h"
#include "log/log_record.h"
#include "net/log_reader.h"

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

/// The close record, without a walk: its pointers are not valid. Before a cursor is used.
/// @return false: the log has none.
BASE_MUST_USE bool net_log_reader_close(net_log_reader* reader, net_log_record* close);

/// Append a keyframe's save (net_match_save) to `save`. A cursor of the reader is not disturbed.
/// @return NET_OK; NET_ERR_DAMAGED (not reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_keyframe_read(net_log_reader* reader,
                                               const net_log_keyframe* keyframe, base_bytes* save);

/// The packed Header.
const uint8_t* net_log_reader_header(const net_log_reader* reader, size_t* size);
const char* net_log_reader_file(const net_log_reader* reader);
const base_allocator* net_log_reader_allocator(const net_log_reader* reader);
