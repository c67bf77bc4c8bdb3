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

/// Makes stored blocks: zstd where that is smaller, with the records of data blocks by column.
/// Memory is taken at init only.
typedef struct net_log_packer {
    const base_allocator* allocator;
    void* zstd;
    uint8_t* columns; ///< for net_log_block_unpack too, between two packs
    uint8_t* stored;  ///< header and stored bytes of the last block
} net_log_packer;

void net_log_packer_init(net_log_packer* packer, const base_allocator* allocator);
void net_log_packer_deinit(net_log_packer* packer);
/// Free what zstd keeps, until the next block.
void net_log_packer_rest(net_log_packer* packer);
/// Fill in flags, lengths and checksums of `block`; the whole block lies in packer->stored.
/// @return its bytes.
size_t net_log_packer_pack(net_log_packer* packer, net_log_block* block, const uint8_t* payload,
                           uint32_t payload_bytes);

/// Unpack a stored block whose header was read: checks the checksum and fills exactly
/// unpacked_bytes. `target` has room for NET_LOG_BLOCK_BYTES_MAX, `columns`, which is overwritten,
/// for NET_LOG_COLUMNS_BYTES_MAX.
BASE_MUST_USE bool net_log_block_unpack(const net_log_block* block, const uint8_t* stored,
                                        uint8_t* columns, uint8_t* target);

// ---- columns of a block ----

// The records of a data block by column: bytes that are alike lie side by side, which zstd finds.
// The standard is proto/LOG.md, "Columns".

#define NET_LOG_COLUMNS_BYTES_MAX (NET_LOG_BLOCK_BYTES_MAX + 32u) ///< the lengths come first

/// @return the bytes; 0: `payload` is no sequence of records.
uint32_t net_log_columns_split(const uint8_t* payload, uint32_t payload_bytes, uint8_t* columns);
/// Total: `columns` is untrusted. @return false for what no writer writes.
BASE_MUST_USE bool net_log_columns_join(uint8_t* columns, size_t columns_bytes, uint8_t* payload,
                                        uint32_t payload_bytes);
