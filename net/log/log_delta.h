// SPDX-License-Identifier: MIT
/// Coding raw rows (form 4 of "Changes") as state deltas (form 3), record by record, on the log's
/// thread. The result depends on the records alone.
///
/// Memory:  one row and the row before it of each entity; the longest tick. From the heap, because
///          allocators belong to the simulation's thread.
/// Threads: one thread at a time.
#pragma once

#include "log/log_record.h"
#include "net/result.h"

/// All rows are written again in the first tick of each so many milliseconds, if what was written
/// since then is NET_LOG_FULL_SHARE times as long.
#define NET_LOG_FULL_MS 10000u
#define NET_LOG_FULL_SHARE 20u
/// Worlds whose rows take more memory than this are written whole only where a log begins.
#define NET_LOG_FULL_BYTES_MAX (4u << 20)
/// Form 3 of one part is not longer. Otherwise form 4 stays.
#define NET_LOG_DELTA_BYTES_MAX 393216u

typedef struct net_log_coder net_log_coder;

/// For a log with this packed Header. @return NET_OK; NET_ERR_MEMORY; as net_log_layout_create.
BASE_MUST_USE net_result net_log_coder_create(const void* header, size_t header_bytes,
                                              net_log_coder** coder);
/// NULL does nothing.
void net_log_coder_destroy(net_log_coder* coder);
/// Code the changes of a packed record; call it with every record of the log in order, and again
/// with one that could not be stored. In the first ticks of another segment all rows come again.
/// @return the record to store: `record` itself, or one that is borrowed until the next call. After
/// a failure (memory, or a record that no writer writes) records stay as they are, which readers
/// understand.
const uint8_t* net_log_coder_record(net_log_coder* coder, uint64_t number, uint32_t segment,
                                    const uint8_t* record, uint32_t* size);
