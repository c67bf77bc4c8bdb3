// SPDX-License-Identifier: MIT
/// What makes a segment of a log: its name, its index, the keyframe that it begins with, and the
/// running hash from one segment to the next.
///
/// The one that is written is FILE; those that were closed are FILE.seg0001, FILE.seg0002, ...
#pragma once

#include "base/alloc.h"
#include "base/bytes.h"
#include "log/log_block.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "net/log.h"
#include "net/result.h"

#define NET_LOG_SEGMENTS_MAX 100000u ///< of one log

/// The name of a closed segment. @return false when it gets too long.
BASE_MUST_USE bool net_log_segment_name(char* target, size_t target_bytes, const char* log_file,
                                        uint32_t number);
/// Read bytes of a file. @return false when they are not all there (any more).
bool net_log_read_at(int fd, uint64_t offset, void* target, size_t size);
/// The number of a closed segment by the last part of its name, ".seg0012"; 0: it is none.
uint32_t net_log_segment_number(const char* ending);
/// The name of the mark that a closed segment is stored elsewhere too (net_log_segments.on_close).
/// @return false when it gets too long.
BASE_MUST_USE bool net_log_stored_name(char* target, size_t target_bytes, const char* segment);
/// The numbers of the closed segments beside `log_file`, rising; the caller releases the array of
/// `capacity`.
void net_log_segment_list(const base_allocator* allocator, const char* log_file, uint32_t** numbers,
                          uint32_t* count, uint32_t* capacity);

// ---- the index ----

// The index of a segment: where its keyframes are, its last data block, and its running hash. It
// is in the last block of a segment that was closed (type 4). Format: proto/LOG.md, "Index".

/// A segment with more keyframes has no index: a reader looks at the headers of its blocks.
#define NET_LOG_INDEX_KEYFRAMES_MAX 8192u

#define NET_LOG_SIGNATURE_BYTES_MAX 1024u
#define NET_LOG_SIGNATURE_BYTES 65u ///< of ours

/// The running hash of a file.
typedef struct net_log_chain {
    uint8_t before[NET_LOG_HASH_BYTES]; ///< `total` of the segment before; 0: it is the first
    uint8_t blocks[NET_LOG_HASH_BYTES]; ///< of this file so far
    uint8_t total[NET_LOG_HASH_BYTES];  ///< of both
} net_log_chain;

typedef struct net_log_index {
    uint64_t block_count;    ///< of the file before the index
    uint64_t last_data;      ///< offset of the last data block; 0: there is none
    uint32_t keyframe_count; ///< more than NET_LOG_INDEX_KEYFRAMES_MAX: the rest is not in the list
    net_log_chain chain;
    uint32_t signature_bytes; ///< 0: not signed; of a longer one `signature` has the begin
    uint8_t signature[NET_LOG_SIGNATURE_BYTES];
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

// ---- parts of a keyframe ----

// Keyframes in blocks of type 3: a save of the match (net_match_save) after a tick, in one or more
// parts. Format: proto/LOG.md, "Keyframes".

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

// ---- the running hash ----

// The running hash of a log's blocks: BLAKE2b with 32 bytes, from segment to segment. Checksums
// find what rots; this finds what a person changed, once its value is signed or known elsewhere.
// Format: proto/LOG.md, "Running hash".

/// Go on with a block, of which the bytes may lie in two pieces. Index blocks do not count.
void net_log_chain_add(net_log_chain* chain, const void* data, size_t size, const void* rest,
                       size_t rest_size);
/// Finish `chain->total`.
void net_log_chain_end(net_log_chain* chain);
/// Sign `chain->total`.
void net_log_chain_sign(const net_log_chain* chain, const net_log_secret_key* key,
                        uint8_t signature[NET_LOG_SIGNATURE_BYTES]);
