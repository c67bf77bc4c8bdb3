// SPDX-License-Identifier: MIT
/// Coded rows of one tick, made once and appended by whoever needs them.
///
/// Key: the entity, how old the base is, how much older the second one, the classes that were visible in
/// each, whether it stands in a list. Within a tick the bits depend on nothing else.
/// Memory: two cache lines per entity; the rest grows to the most that one tick needed, then stays.
/// Threads: one at a time.
#pragma once

#include "state/history.h"

#define NET_BLOB_CELLS 7u ///< of an entity; further blobs go into the common table
#define NET_BLOB_TRIOS 64u
#define NET_BLOB_INLINE_BITS 64u

typedef struct net_blob_key {
    uint32_t index;
    uint32_t age;    ///< now - the base's tick; 0: the default row
    uint8_t d;       ///< the base's tick - the second one's; 0: there is none
    bool is_settled; ///< the reader does not know how old the base is
    bool is_listed;
    uint16_t classes, base_classes, base2_classes;
} net_blob_key;

typedef struct net_blob {
    uint64_t code;        ///< its bits, when they are at most NET_BLOB_INLINE_BITS
    uint32_t offset;      ///< otherwise: bytes into the arena
    uint32_t parts_first; ///< into `parts`
    uint16_t bits;
    uint16_t head_bits; ///< of those, in no component
} net_blob;

typedef struct net_blob_cell {
    uint32_t key; ///< NET_BLOB_... of blobs.c
    uint16_t bits, head_bits;
    uint64_t code; ///< or the offset
} net_blob_cell;

/// The usual blobs of an entity: found without a hash. Whoever has more of them goes on in a further one.
typedef struct net_blob_home {
    uint32_t stamp; ///< of the tick; another one: it is empty
    uint32_t count;
    uint32_t next; ///< position of the further one; 0: there is none
    uint32_t unused;
    net_blob_cell cells[NET_BLOB_CELLS];
} net_blob_home;

/// The others.
typedef struct net_blob_place {
    uint64_t low, high; ///< the key
    uint32_t stamp;
    net_blob blob;
} net_blob_place;

/// Classes of the row and its two bases.
typedef struct net_blob_trio {
    uint16_t classes, base_classes, base2_classes;
} net_blob_trio;

/// Of entities that are public as a whole: with both bases, with one, without.
enum { NET_BLOB_TRIO_BOTH, NET_BLOB_TRIO_BASE, NET_BLOB_TRIO_NONE };

static inline uint32_t net_blob_cell_key(const net_blob_key* key, uint32_t trio) {
    return key->age | (uint32_t)key->d << 8 | trio << 16 | (uint32_t)key->is_listed << 24;
}

typedef struct net_blobs {
    const base_allocator* allocator;
    const net_history* history;
    bool is_solo, is_counted;
    uint32_t stamp;
    ecs_tick tick;
    net_blob_home* homes; ///< [index], then the further ones
    uint32_t home_count;
    uint32_t further_capacity, further_count;
    uint32_t further_wanted; ///< in this tick; those that did not fit are in the table
    uint32_t* home_parts;    ///< [home][cell], when they are counted
    net_blob_trio trios[NET_BLOB_TRIOS];
    uint32_t trio_count;
    net_blob_place* table; ///< open addressing, a power of two
    uint32_t table_bits, count;
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
/// The coded row. What *blob says stays true within the tick.
net_blob_result net_blobs_get(net_blobs* blobs, const net_blob_key* key, net_blob* blob);
/// Bring what a later net_blobs_get reads first into the cache of the processor.
static inline void net_blobs_prefetch(const net_blobs* blobs, uint32_t index) {
    if (index >= blobs->home_count) return;
    __builtin_prefetch(&blobs->homes[index]);
    __builtin_prefetch(&blobs->homes[index].cells[3]);
}
bool net_blobs_find_any(net_blobs* blobs, const net_blob_key* key, net_blob* blob);
/// The same, if it was made before.
static inline bool net_blobs_find(net_blobs* blobs, const net_blob_key* key, net_blob* blob) {
    const net_blob_home* home = &blobs->homes[key->index];
    bool is_usual = (key->classes & key->base_classes) == 1 && key->age <= 255 &&
                    key->base2_classes == (key->d > 0) && !key->is_settled;
    if (!is_usual || (key->classes | key->base_classes) != 1)
        return net_blobs_find_any(blobs, key, blob);
    if (home->stamp != blobs->stamp) return false;
    uint32_t wanted = net_blob_cell_key(key, key->d ? NET_BLOB_TRIO_BOTH : NET_BLOB_TRIO_BASE);
    for (uint32_t i = 0; i < home->count; i++) {
        const net_blob_cell* cell = &home->cells[i];
        if (cell->key != wanted) continue;
        blob->code = cell->code;
        blob->offset = (uint32_t)cell->code;
        blob->bits = cell->bits;
        blob->head_bits = cell->head_bits;
        blob->parts_first =
            blobs->is_counted ? blobs->home_parts[key->index * NET_BLOB_CELLS + i] : 0;
        blobs->shared++;
        return true;
    }
    return home->count == NET_BLOB_CELLS && net_blobs_find_any(blobs, key, blob);
}
/// What each component of a blob took. Only when they are counted.
const uint32_t* net_blobs_component_bits(const net_blobs* blobs, uint32_t parts_first,
                                         const net_row_template** entry);
