// SPDX-License-Identifier: MIT
/// The framing of event logs: prologue, block headers, packing. Format: proto/LOG.md.
#pragma once

#include "base/alloc.h"
#include "net/result.h"

#define NET_LOG_BLOCK_BYTES_MAX (1u << 20) ///< of one block's records, unpacked
/// A packed block unpacks to at most NET_LOG_FREE_BYTES plus NET_LOG_RATIO_MAX times its stored
/// bytes: a small file cannot make a reader work for hours. Writers store others unpacked.
#define NET_LOG_RATIO_MAX 1000u
#define NET_LOG_FREE_BYTES (64u << 10)
#define NET_LOG_PROLOGUE_BYTES 16u
#define NET_LOG_BLOCK_HEADER_BYTES 72u
#define NET_LOG_FLAG_ZSTD 1u
#define NET_LOG_FLAG_COLUMNS 2u ///< log_columns.h; in logs with NET_LOG_FEATURE_COLUMNS only

/// Types that this version knows; 5 is reserved.
typedef enum net_log_block_type {
    NET_LOG_BLOCK_HEADER = 1,
    NET_LOG_BLOCK_DATA = 2,
    NET_LOG_BLOCK_KEYFRAME = 3,
    NET_LOG_BLOCK_INDEX = 4,
    NET_LOG_BLOCK_HEADER_COPY = 6,
} net_log_block_type;

/// A block's header, without sync, version and its own checksum.
typedef struct net_log_block {
    uint8_t flags;
    uint16_t type;
    uint32_t stored_bytes;
    uint32_t unpacked_bytes;
    uint32_t record_count;
    uint64_t ordinal;
    uint64_t first_record;
    uint64_t first_tick, last_tick;
    uint64_t identity;
    uint32_t stored_crc;
} net_log_block;

void net_log_prologue_write(uint8_t target[NET_LOG_PROLOGUE_BYTES]);
/// @return NET_OK; NET_ERR_DAMAGED; NET_ERR_MALFORMED (whole, and of another version: *version).
net_result net_log_prologue_check(const uint8_t source[NET_LOG_PROLOGUE_BYTES], uint32_t* version);

void net_log_block_header_write(const net_log_block* block,
                                uint8_t target[NET_LOG_BLOCK_HEADER_BYTES]);
/// Check sync, version, flags, lengths and checksum. Total: `source` is untrusted.
BASE_MUST_USE bool net_log_block_header_read(net_log_block* block,
                                             const uint8_t source[NET_LOG_BLOCK_HEADER_BYTES]);

struct net_log_columns;

/// Makes stored blocks: by column if `has_columns`, zstd where that is smaller. Memory is taken at
/// init only.
typedef struct net_log_packer {
    const base_allocator* allocator;
    struct net_log_columns* columns; ///< for net_log_block_unpack too, between two packs
    bool has_columns;                ///< the log's header says so
    void* zstd;
    uint8_t* stored; ///< header and stored bytes of the last block
} net_log_packer;

BASE_MUST_USE bool net_log_packer_init(net_log_packer* packer, const base_allocator* allocator);
void net_log_packer_deinit(net_log_packer* packer);
/// Fill in flags, lengths and checksums of `block`; the whole block lies in packer->stored.
/// @return its bytes.
size_t net_log_packer_pack(net_log_packer* packer, net_log_block* block, const uint8_t* payload,
                           uint32_t payload_bytes);

/// Unpack a stored block whose header was read: checks the checksum and fills exactly
/// unpacked_bytes. `target` has room for NET_LOG_BLOCK_BYTES_MAX. `columns` NULL: a block with
/// columns is refused.
BASE_MUST_USE bool net_log_block_unpack(const net_log_block* block, const uint8_t* stored,
                                        struct net_log_columns* columns, uint8_t* target);

// ---- columns of a block ----

// The records of a data block by column: inputs against the same client's last one, and what
// records are framed with. The standard is proto/LOG.md, "Columns". What is written reads back to
// the same bytes, and a block is decoded alone.
//
// Memory:  of fixed size, taken at create.
// Threads: one thread at a time.

typedef struct net_log_columns net_log_columns;

/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_columns_create(const base_allocator* allocator,
                                                net_log_columns** columns);
/// NULL does nothing.
void net_log_columns_destroy(net_log_columns* columns);
/// Code the payload of a block with record_count and first_tick. `scratch` has room for
/// NET_LOG_BLOCK_BYTES_MAX. @return the bytes, borrowed until the next call; NULL: it does not read
/// back to the same, or is not shorter, and stays as it is.
const uint8_t* net_log_columns_write(net_log_columns* columns, const net_log_block* block,
                                     const uint8_t* payload, uint32_t payload_bytes,
                                     uint8_t* scratch, uint32_t* size);
/// Decode into exactly block->unpacked_bytes. Total: `data` is untrusted, and not in `target`.
/// @return false for what no writer writes.
BASE_MUST_USE bool net_log_columns_read(net_log_columns* columns, const net_log_block* block,
                                        const uint8_t* data, size_t size, uint8_t* target);
