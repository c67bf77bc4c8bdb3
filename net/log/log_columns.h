// SPDX-License-Identifier: MIT
/// The records of a data block by column: inputs against the same client's last one, and what
/// records are framed with. The standard is proto/LOG.md, "Columns". What is written reads back to
/// the same bytes, and a block needs nothing but itself.
///
/// Memory:  of fixed size, taken at create.
/// Threads: one thread at a time.
#pragma once

#include "base/alloc.h"
#include "log/log_block.h"

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
/// Memory of NET_LOG_BLOCK_BYTES_MAX that lies idle until the next call of net_log_columns_write.
uint8_t* net_log_columns_idle(net_log_columns* columns);
