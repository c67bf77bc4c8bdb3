// SPDX-License-Identifier: MIT
/// The index of a segment: where its keyframes are, its last data block, and its running hash. It
/// stands in the last block of a segment that was closed (type 4). Format: proto/LOG.md, "Index".
#pragma once

#include "log/log_block.h"
#include "net/log_reader.h"

/// A segment with more keyframes has no index: a reader looks at the headers of its blocks.
#define NET_LOG_INDEX_KEYFRAMES_MAX 8192u

#define NET_LOG_HASH_BYTES 32u
#define NET_LOG_SIGNATURE_BYTES_MAX 1024u

/// The running hash of a file (log_chain.h).
typedef struct net_log_chain {
    uint8_t before[NET_LOG_HASH_BYTES]; ///< `total` of the segment before; 0: it is the first
    uint8_t blocks[NET_LOG_HASH_BYTES]; ///< of this file so far
    uint8_t total[NET_LOG_HASH_BYTES];  ///< of both
} net_log_chain;

typedef struct net_log_index {
    uint64_t block_count;    ///< of the file in front of the index
    uint64_t last_data;      ///< offset of the last data block; 0: there is none
    uint32_t keyframe_count; ///< more than NET_LOG_INDEX_KEYFRAMES_MAX: the rest is not in the list
    bool has_chain;          ///< read: it has `before` and `total`
    net_log_chain chain;
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
