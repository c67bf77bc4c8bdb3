// SPDX-License-Identifier: MIT
/// Private to reading: opening (log_open.c, log_tail.c) and walking (log_read.c).
#pragma once

#include "base/bytes.h"
#include "log/log_columns.h"
#include "log/log_queue.h"
#include "log/log_read.h"
#include "log/log_set.h"

enum { NET_LOG_TOLD_MAX = 64 };

struct net_log_reader {
    const base_allocator* allocator;
    char file[4096];
    net_log_set set;
    net_log_info info;
    base_reporter reporter;
    base_bytes header;
    bool is_part;        // it begins with a keyframe: ticks before it are elsewhere
    uint64_t data_start; // behind the header block
    uint64_t good_end;   // behind the last whole block
    net_log_keyframe* keyframes;
    uint32_t keyframe_capacity;
    uint64_t tail_number; // of the record that follows the last whole block
    uint64_t tail_block;  // the last whole data block; 0: there is none
    uint64_t tail_lost_bytes;
    base_bytes queue; // records out of the queue
    uint8_t* stored;
    uint8_t* payload;
    net_log_columns* columns; // NULL: the log has none
    // Damage that was reported, by the place where it begins: a later walk meets it again.
    uint64_t told[NET_LOG_TOLD_MAX];
    uint32_t told_count;
    bool is_checking; // a walk through everything counts all damage, reported or not
    bool is_checked;  // the counts are final
};

/// The end of the log as opening found it.
typedef struct net_log_tail {
    net_log_order order;
    uint64_t number; ///< of the record that follows
    bool has_other_log;
    bool has_index; ///< its last file was closed in good order
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
/// The next place from `offset` on with the sync bytes and a header that holds; the end of the set
/// when there is none before `end`.
uint64_t net_log_find_block(net_log_reader* reader, uint64_t offset, uint64_t end);
/// Does a block of the log stand at its place, when `ordinal` is the next one there? One with a
/// higher ordinal does when the blocks behind it agree.
BASE_MUST_USE bool net_log_is_in_order(net_log_reader* reader, uint64_t offset,
                                       const net_log_block* block, uint64_t ordinal);
/// Is it the start of a file with a whole prologue?
BASE_MUST_USE bool net_log_is_prologue(net_log_reader* reader, uint64_t offset);
/// Get the next (varint length, bytes) of a payload. NULL for what no writer writes.
const uint8_t* net_log_next_span(base_reader* bytes, size_t* size);
/// Check an unpacked data block: its records are decoded, in order, as many and of the ticks that
/// it says.
BASE_MUST_USE bool net_log_check_records(const net_log_block* block, const uint8_t* payload,
                                         net_log_order* order);
/// The order in front of an unpacked data block, as its first record says.
net_log_order net_log_order_of(const net_log_block* block, const uint8_t* payload);

/// Find the keyframes and the last whole block. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_tail_find(net_log_reader* reader, net_log_tail* tail);
