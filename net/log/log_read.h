// SPDX-License-Identifier: MIT
/// A log's records in order: out of the file's whole blocks, then out of the queue.
#pragma once

#include "log/log_block.h"
#include "log/log_record.h"
#include "net/log_reader.h"

/// A walk over a reader's records; one at a time per reader.
typedef struct net_log_cursor {
    uint64_t block;      ///< offset of the block being walked
    uint64_t offset;     ///< of the next block
    const uint8_t* data; ///< records being walked
    size_t size, at;
    uint64_t blocks; ///< entered so far
    bool is_in_queue;
    bool has_failed; ///< the file changed since it was opened
} net_log_cursor;

net_log_cursor net_log_cursor_begin(const net_log_reader* reader);
/// Next record, checked; borrowed until the next call. false at the end.
bool net_log_cursor_next(net_log_reader* reader, net_log_cursor* cursor, net_log_record* record);

/// Walk on from where a copy of a cursor of this reader stood: reads its block again.
/// @return false: the file changed (cursor->has_failed).
BASE_MUST_USE bool net_log_cursor_return(net_log_reader* reader, net_log_cursor* cursor);

/// The packed Header.
const uint8_t* net_log_reader_header(const net_log_reader* reader, size_t* size);
const char* net_log_reader_file(const net_log_reader* reader);
const base_allocator* net_log_reader_allocator(const net_log_reader* reader);
