// SPDX-License-Identifier: MIT
/// A bounded single-producer single-consumer byte queue over memory that the caller provides:
/// plain, or file-backed and shared, so that what was pushed survives the process.
///
/// Shape: records of 1..capacity/2 bytes, each stored as {u32 size, u32 crc32c, bytes, pad to 8}.
///        A record never wraps: a filler record marks the unused end.
/// Trust:   whatever head, tail and records say, nothing outside of the ring is read.
///          capacity_bytes is checked by base_spsc_open and must not change after it.
/// Threads: one thread pushes, one pops; head and tail are C11 atomics on separate cache lines.
#pragma once

#include "base/macros.h"
#include <stdatomic.h>

#define BASE_SPSC_MAGIC 0x71734853u

/// The header at the start of the memory; the ring follows at offset BASE_SPSC_HEADER_BYTES.
typedef struct base_spsc {
    uint32_t magic;
    uint32_t version;
    uint64_t capacity_bytes; ///< of the ring, a power of two
    uint64_t identity;       ///< chosen by the owner: which log this queue belongs to
    uint8_t reserved[40];
    _Alignas(64) _Atomic uint64_t head; ///< bytes ever pushed
    _Alignas(64) _Atomic uint64_t tail; ///< bytes ever popped
} base_spsc;
#define BASE_SPSC_HEADER_BYTES 4096u

/// Format `memory` (aligned to 64, header + capacity, capacity a power of two from 64, asserted) as
/// an empty queue.
base_spsc* base_spsc_init(void* memory, uint64_t capacity_bytes, uint64_t identity);
/// Take over memory written by another process (a stranger's file): checks magic, version and sizes
/// against `memory_bytes`. @return NULL when it is not a queue.
base_spsc* base_spsc_open(void* memory, uint64_t memory_bytes);
/// `size` is 1..capacity/2, asserted. An empty queue that was peeked has room for any such record.
/// @return false when there is no room: nothing was pushed.
BASE_MUST_USE bool base_spsc_push(base_spsc* queue, const void* data, uint32_t size);
/// Borrow the oldest record, valid until base_spsc_pop; NULL when empty. *size is its length.
/// A record whose size or checksum is wrong (only after a crash or in a stranger's file) ends the
/// queue: NULL, and *damaged is set.
const void* base_spsc_peek(base_spsc* queue, uint32_t* size, bool* damaged);
/// Drop the record that the last peek returned. Does nothing on an empty queue.
void base_spsc_pop(base_spsc* queue);
/// The consumer's walk without popping: start with `cursor` = base_spsc_tail. Borrow the record at the
/// cursor and move the cursor behind it; valid until it is popped. NULL as base_spsc_peek.
const void* base_spsc_next(base_spsc* queue, uint64_t* cursor, uint32_t* size, bool* damaged);
uint64_t base_spsc_tail(const base_spsc* queue);
/// Drop all records in front of a cursor that base_spsc_next moved.
void base_spsc_pop_to(base_spsc* queue, uint64_t cursor);
/// Bytes taken, with headers, padding and fillers; 0 when empty. After a peek that returned NULL
/// without damage, it is 0.
uint64_t base_spsc_used(const base_spsc* queue);
