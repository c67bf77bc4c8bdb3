// SPDX-License-Identifier: MIT
/// A bounded queue of byte records for one producer and one consumer, in memory that the caller
/// provides. When the memory is a shared file mapping, the records survive the process.
///
/// Shape:   Records of 1..capacity/2 bytes, each stored as {u32 size, u32 crc32c, bytes, pad to 8}.
///          A record never wraps: a filler record marks the unused end.
/// Trust:   The memory may come from a damaged or foreign file. Whatever it holds, nothing outside
///          of the ring is read. base_spsc_open checks capacity_bytes; it must not change
///          afterwards.
/// Threads: One thread pushes, one thread pops. head and tail are C11 atomics on separate cache
/// lines.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

#define BASE_SPSC_MAGIC 0x71734853u

/// The header at the start of the memory; the ring follows at offset BASE_SPSC_HEADER_BYTES.
typedef struct base_spsc {
    uint32_t magic;
    uint32_t version;
    uint64_t capacity_bytes; ///< of the ring, a power of two
    uint64_t identity;       ///< chosen by the owner: which log this queue belongs to
    uint8_t reserved[40];
    BASE_ALIGN(64) BASE_ATOMIC(uint64_t) head; ///< bytes ever pushed
    BASE_ALIGN(64) BASE_ATOMIC(uint64_t) tail; ///< bytes ever popped
} base_spsc;
#define BASE_SPSC_HEADER_BYTES 4096u

/// Format `memory` as an empty queue. It is aligned to 64 and holds BASE_SPSC_HEADER_BYTES +
/// capacity_bytes; the capacity is a power of two from 64 (asserted). The caller keeps the memory.
/// @return the queue, which is `memory`.
base_spsc* base_spsc_init(void* memory, uint64_t capacity_bytes, uint64_t identity);
/// Use memory that another process wrote. Magic, version and sizes are checked against
/// `memory_bytes`.
/// @return the queue, which is `memory`; NULL when it is not a queue.
base_spsc* base_spsc_open(void* memory, uint64_t memory_bytes);
/// Get room for a record of up to `size` bytes (at least 1, asserted), to make it where it lies,
/// and append its first bytes by base_spsc_commit. Between both no other record is reserved; a
/// record that is not committed was never there. When all was popped there is room for every record
/// of up to capacity/2. Producer's thread.
/// @return where it goes, aligned to 8; NULL when there is no room, or the record is longer.
uint8_t* base_spsc_reserve(base_spsc* queue, uint32_t size);
/// Append the first `size` bytes (at least 1, asserted) of what was written since
/// base_spsc_reserve. Producer's thread.
/// @return false when they do not fit there: the memory was changed by another process.
BASE_MUST_USE bool base_spsc_commit(base_spsc* queue, uint32_t size);
/// Walk without popping: start with *cursor = base_spsc_tail. Each call borrows the record at the
/// cursor, valid until it is popped, and moves the cursor past it; *size is its length. After
/// the newest record the cursor skips what no record fills. Consumer's thread.
/// @return NULL after the newest record; NULL with *damaged set when the size or the checksum of
///         the record is wrong (after a crash, or in a foreign file): the queue ends there.
const void* base_spsc_next(base_spsc* queue, uint64_t* cursor, uint32_t* size, bool* damaged);
/// Bytes ever popped: where a walk begins.
uint64_t base_spsc_tail(const base_spsc* queue);
/// Drop all records before a cursor that base_spsc_next moved. Consumer's thread.
void base_spsc_pop_to(base_spsc* queue, uint64_t cursor);
/// Bytes in use, with headers, padding and fillers. 0 once everything was popped. Any thread.
uint64_t base_spsc_used(const base_spsc* queue);

BASE_C_END
