// SPDX-License-Identifier: MIT
/// Keyframes in blocks of type 3: a save of the match (net_match_save) after a tick, in one or more
/// parts. Format: proto/LOG.md, "Keyframes".
#pragma once

#include "base/bytes.h"
#include "log/log_block.h"
#include "log/log_record.h"

/// A keyframe is written every so many milliseconds of ticks, rounded up to whole blocks.
#define NET_LOG_KEYFRAME_MS 10000u
/// A longer save is not written; the log then has no keyframe there.
#define NET_LOG_KEYFRAME_BYTES_MAX (64u << 20)
#define NET_LOG_PART_BYTES_MAX (NET_LOG_RECORD_BYTES_MAX - 32u) ///< of a save, in one block

/// One part of a save. `data` borrows.
typedef struct net_log_part {
    uint32_t number, count; ///< 1..count
    uint64_t save_bytes;    ///< of all parts
    const uint8_t* data;
    size_t size;
} net_log_part;

/// Parts that a save of `save_bytes` takes.
static inline uint32_t net_log_part_count(uint64_t save_bytes) {
    return (uint32_t)((save_bytes + NET_LOG_PART_BYTES_MAX - 1) / NET_LOG_PART_BYTES_MAX);
}
/// Write the payload of a part's block. `target` has room for NET_LOG_BLOCK_BYTES_MAX.
/// @return its bytes.
uint32_t net_log_part_write(const net_log_part* part, uint8_t* target);
/// Read the payload of a block. Total. @return false for bytes that no writer writes.
BASE_MUST_USE bool net_log_part_read(net_log_part* part, const uint8_t* payload, size_t size);
