// SPDX-License-Identifier: MIT
/// Writes MCAP (mcap.dev/spec): messages with schemas, topics and times, in compressed chunks, with
/// an index behind them, so that a reader may seek.
///
/// Memory:  one chunk, its compressed bytes and the index: some hundred bytes for each megabyte.
///          Bytes are given away in order and never again asked for, so the file may be a pipe.
/// Threads: one at a time.
#pragma once

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/macros.h"

#include <stdbool.h>
#include <stdint.h>

#define NET_MCAP_CHUNK_BYTES (1u << 20) ///< a chunk ends with the message that reaches it
#define NET_MCAP_CHANNELS_MAX 4096u     ///< ids below this; 0 is none

/// Takes the next bytes of the file. @return false: it cannot; nothing more is given.
typedef bool (*net_mcap_write_fn)(void* context, const void* bytes, size_t size);

typedef struct net_mcap net_mcap;

/// Begin a file. @return NULL when memory ran out.
net_mcap* net_mcap_create(const base_allocator* allocator, net_mcap_write_fn write, void* context);
/// NULL does nothing. A file without net_mcap_end has no index.
void net_mcap_destroy(net_mcap* mcap);
/// Add a topic with a schema in protobuf: `type` is the full name of a message of `descriptors`, a
/// FileDescriptorSet. @return its id; 0: no room, or it failed.
uint32_t net_mcap_channel(net_mcap* mcap, const char* topic, const char* type,
                          const void* descriptors, size_t size);
/// Add a message. Times need not rise. @return false: it failed.
bool net_mcap_message(net_mcap* mcap, uint32_t channel, uint64_t time_ns, const void* data,
                      size_t size);
/// Write the last chunk and the index. @return false: it failed, now or before: memory ran out, or
/// the bytes were not taken.
BASE_MUST_USE bool net_mcap_end(net_mcap* mcap);
/// Is there no room for one more topic?
bool net_mcap_is_full(const net_mcap* mcap);
uint64_t net_mcap_message_count(const net_mcap* mcap);
