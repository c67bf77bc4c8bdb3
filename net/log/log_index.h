// SPDX-License-Identifier: MIT
/// The index of a segment: where its keyframes are, and its last data block. It stands in the last
/// block of a segment that was closed (type 4). Format: proto/LOG.md, "Index".
#pragma once

#include "log/log_block.h"
#include "net/log_reader.h"

/// A segment with more keyframes has no index: a reader looks at the headers of its blocks.
#define NET_LOG_INDEX_KEYFRAMES_MAX 8192u

typedef struct net_log_index {
    uint64_t block_count;    ///< of the file in front of the index
    uint64_t last_data;      ///< offset of the last data block; 0: there is none
    uint32_t keyframe_count; ///< more than NET_LOG_INDEX_KEYFRAMES_MAX: the rest is not in the list
    net_log_keyframe* keyframes; ///< NET_LOG_INDEX_KEYFRAMES_MAX; offsets in the file
} net_log_index;

void net_log_index_add(net_log_index* index, ecs_tick tick, uint64_t offset);
/// Write the payload of the index block. `target` has room for NET_LOG_BLOCK_BYTES_MAX.
/// @return its bytes; 0: the index does not have all keyframes.
uint32_t net_log_index_write(const net_log_index* index, uint8_t* target);
/// Read the payload of an index block; `keyframes` has room. Total. `end`: where the index block
/// begins. @return false for bytes that no writer writes.
BASE_MUST_USE bool net_log_index_read(net_log_index* index, const uint8_t* payload, size_t size,
                                      uint64_t end);
