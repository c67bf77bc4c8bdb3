// SPDX-License-Identifier: MIT
/// Coded rows of one tick, made once and appended by whoever needs them.
///
/// Key: the entity, how old the base is, how much older the second one, the classes that were visible in
/// each, whether it stands in a list. Within a tick the bits depend on nothing else.
/// Memory: grows to the most that one tick needed, then stays.
/// Threads: one at a time.
#pragma once

#include "history.h"

typedef struct net_blob_key {
    uint32_t index;
    uint32_t age;    ///< now - the base's tick; 0: the default row
    uint8_t d;       ///< the base's tick - the second one's; 0: there is none
    bool is_settled; ///< the reader does not know how old the base is
    bool is_listed;
    uint16_t classes, base_classes, base2_classes;
} net_blob_key;

typedef struct net_blob {
    uint64_t low, high;   ///< the key
    uint32_t stamp;       ///< of the tick
    uint32_t offset;      ///< bytes into the arena
    uint32_t parts_first; ///< into `parts`
    uint16_t bits;
    uint16_t head_bits; ///< of those, in no component
} net_blob;

typedef struct net_blobs {
    const base_allocator* allocator;
    const net_history* history;
    bool is_solo, is_counted;
    net_blob* table; ///< open addressing, a power of two
    uint32_t table_bits, count;
    uint32_t stamp;
    ecs_tick tick;
    uint8_t* arena;
    uint32_t arena_size, arena_capacity;
    uint32_t* parts; ///< per blob: template's pointer in two words, then bits per component
    uint32_t part_count, part_capacity;
    uint64_t made, shared;
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX]; ///< scratch
} net_blobs;

typedef enum net_blob_result {
    NET_BLOB_OK,
    NET_BLOB_NO_BASE,  ///< its base is forgotten
    NET_BLOB_NO_BASE2, ///< the second one is
    NET_BLOB_NO_MEMORY
} net_blob_result;

/// `is_counted`: keep the bits of each component.
void net_blobs_init(net_blobs* blobs, const base_allocator* allocator, const net_history* history,
                    bool is_solo, bool is_counted);
void net_blobs_deinit(net_blobs* blobs);
/// A tick begins: nothing is kept of the one before.
BASE_MUST_USE bool net_blobs_begin(net_blobs* blobs, ecs_tick tick);
/// The coded row; *blob is valid until the next call, but its numbers stay true.
net_blob_result net_blobs_get(net_blobs* blobs, const net_blob_key* key, net_blob* blob);
/// Bring a later net_blobs_get of this key into the cache of the processor.
void net_blobs_prefetch(const net_blobs* blobs, const net_blob_key* key);
/// What each component of a blob took. Only when they are counted.
const uint32_t* net_blobs_component_bits(const net_blobs* blobs, const net_blob* blob,
                                         const net_row_template** entry);
