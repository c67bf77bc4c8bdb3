// SPDX-License-Identifier: MIT
/// Encoded rows of one tick: each is made once and appended to every packet that needs it.
///
/// Key: the entity, the age of the base, the distance of the second base, and the classes that were
/// visible in each. Within a tick the bits depend on nothing else.
/// Memory:  two cache lines per entity; the rest grows to the peak of one tick, then stays.
/// Threads: one at a time.
#pragma once

#include "base/table.h"
#include "state/history.h"

#define NET_ENCODED_ROW_CELLS 8u ///< of an entity; further encoded rows go on in a further home
#define NET_ENCODED_ROW_TRIOS 64u
#define NET_ENCODED_ROW_INLINE_BITS 64u
#define NET_ENCODED_ROW_ASKED 32u ///< kinds of rows that are counted
#define NET_ENCODED_ROW_USUAL 6u  ///< of those, encoded ahead

typedef struct net_encoded_row_key {
    uint32_t index;
    uint32_t age;    ///< now - tick of the base; 0: the default row
    uint8_t d;       ///< tick of the base - tick of the second base; 0: no second base
    bool is_settled; ///< the reader does not know how old the base is
    uint16_t classes, base_classes, base2_classes;
} net_encoded_row_key;

typedef struct net_encoded_row {
    uint64_t code; ///< its bits; of more than NET_ENCODED_ROW_INLINE_BITS the place in the arena
    uint32_t parts_first; ///< into `parts`; with is_counted, as is the last one
    uint16_t bits;
    uint16_t head_bits; ///< of `bits`: in no component
} net_encoded_row;

/// The usual encoded rows of an entity, found without a hash. More of them go on in a further home.
/// The first line answers the question, the second one has the codes.
typedef struct net_encoded_row_home {
    uint32_t stamp; ///< of the tick; another one: the home is empty
    uint32_t count;
    uint32_t next; ///< position of the further home; 0: none
    uint32_t unused;
    uint32_t keys[NET_ENCODED_ROW_CELLS]; ///< net_encoded_row_cell_key
    uint16_t bits[NET_ENCODED_ROW_CELLS];
    uint64_t codes[NET_ENCODED_ROW_CELLS];
} net_encoded_row_home;

/// What is counted of an encoded row in a home.
typedef struct net_encoded_row_parts {
    uint32_t first, head_bits;
} net_encoded_row_parts;

/// An encoded row in the table: the unusual ones.
typedef struct net_encoded_row_place {
    uint64_t low, high; ///< the key
    net_encoded_row encoded;
} net_encoded_row_place;

/// Rows of one kind, and how often they were asked for in a tick.
typedef struct net_encoded_row_asked {
    uint32_t wanted; ///< net_encoded_rows_wanted
    uint32_t count;
    uint16_t classes;
    uint8_t age, d;
} net_encoded_row_asked;

/// Classes of the row and its two bases in one number.
static inline uint64_t net_encoded_row_trio(const net_encoded_row_key* key) {
    return (uint64_t)key->classes | (uint64_t)key->base_classes << 16 |
           (uint64_t)key->base2_classes << 32;
}

static inline uint32_t net_encoded_row_cell_key(const net_encoded_row_key* key, uint32_t trio) {
    return key->age | (uint32_t)key->d << 8 | trio << 16;
}

typedef struct net_encoded_rows {
    const base_allocator* allocator;
    const net_history* history;
    bool is_solo, is_counted;
    uint32_t stamp;
    ecs_tick tick;
    net_encoded_row_home* homes; ///< [index], then the further homes
    uint32_t home_count;
    uint32_t further_capacity, further_count;
    uint32_t further_wanted;                ///< in this tick; those without room are in the table
    net_encoded_row_parts* home_parts;      ///< [home][cell], when they are counted
    uint64_t trios[NET_ENCODED_ROW_TRIOS];  ///< those seen so far, in no order
    uint8_t trio_at[NET_ENCODED_ROW_TRIOS]; ///< [low bits of a hash]: where it may be in `trios`
    uint32_t trio_count;
    base_table table; ///< positions in `places` by hash
    net_encoded_row_place* places;
    uint32_t place_count, place_capacity;
    uint8_t* arena;
    uint32_t arena_size, arena_capacity;
    uint32_t* parts; ///< per encoded row: row template pointer (two words), bits per component
    uint32_t part_count, part_capacity;
    uint64_t made, shared;
    net_encoded_row_asked asked[NET_ENCODED_ROW_ASKED]; ///< in this tick
    uint32_t asked_count;
    uint32_t rows[3][2 * PROTO_ROW_FIELDS_MAX + 1]; ///< scratch: masked rows
} net_encoded_rows;

typedef enum net_encoded_row_result {
    NET_ENCODED_ROW_OK,
    NET_ENCODED_ROW_NO_BASE,  ///< the base is forgotten
    NET_ENCODED_ROW_NO_BASE2, ///< the second base is forgotten
    NET_ENCODED_ROW_NO_MEMORY
} net_encoded_row_result;

/// `is_solo`: make every row again, share none (the bits are the same). `is_counted`: store the
/// bits of each component. `history` is borrowed.
void net_encoded_rows_init(net_encoded_rows* encoded_rows, const base_allocator* allocator,
                           const net_history* history, bool is_solo, bool is_counted);
void net_encoded_rows_deinit(net_encoded_rows* encoded_rows);
/// Begin a tick: rows of the previous one are dropped. @return false when memory ran out.
BASE_MUST_USE bool net_encoded_rows_begin(net_encoded_rows* encoded_rows, ecs_tick tick);
/// Encode, of each entity that changed, the kinds of rows that were asked for often in the tick
/// before. Call it after net_encoded_rows_begin. @return false when memory ran out.
BASE_MUST_USE bool net_encoded_rows_ahead(net_encoded_rows* encoded_rows,
                                          const net_history_event* events, uint32_t event_count);
/// `count` rows of this kind are asked for; `wanted` is that of the key.
void net_encoded_rows_ask(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                          uint32_t wanted, uint32_t count);
/// Get the encoded row of a key. *encoded stays valid within the tick.
net_encoded_row_result net_encoded_rows_get(net_encoded_rows* encoded_rows,
                                            const net_encoded_row_key* key,
                                            net_encoded_row* encoded);
/// The same for a key that net_encoded_rows_find_wanted has just not found.
net_encoded_row_result net_encoded_rows_make(net_encoded_rows* encoded_rows,
                                             const net_encoded_row_key* key, uint32_t wanted,
                                             net_encoded_row* encoded);
/// Find the rows that a key names; they stay valid until the next call. Solo code needs them.
net_encoded_row_result net_encoded_rows_sources(net_encoded_rows* encoded_rows,
                                                const net_encoded_row_key* key,
                                                const uint32_t** row, proto_packed_base* base);
/// Prefetch what net_encoded_rows_get reads first.
static inline void net_encoded_rows_prefetch(const net_encoded_rows* encoded_rows, uint32_t index) {
    if (index >= encoded_rows->home_count) return;
    __builtin_prefetch(&encoded_rows->homes[index]);
    __builtin_prefetch(&encoded_rows->homes[index].codes[0]);
}
static inline void net_encoded_rows_take(const net_encoded_rows* encoded_rows, uint32_t home,
                                         uint32_t cell, net_encoded_row* encoded) {
    const net_encoded_row_home* from = &encoded_rows->homes[home];
    encoded->code = from->codes[cell];
    encoded->bits = from->bits[cell];
    if (!encoded_rows->is_counted) return;
    const net_encoded_row_parts* parts =
        &encoded_rows->home_parts[(size_t)home * NET_ENCODED_ROW_CELLS + cell];
    encoded->parts_first = parts->first;
    encoded->head_bits = (uint16_t)parts->head_bits;
}
bool net_encoded_rows_find_any(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                               net_encoded_row* encoded);
static inline uint32_t net_encoded_row_trio_slot(uint64_t trio) {
    return (uint32_t)(trio * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}
_Static_assert(NET_ENCODED_ROW_TRIOS == 1u << (64 - 58), "slots of a hash");
#define NET_ENCODED_ROW_UNUSUAL UINT32_MAX
/// What a key is in a home: the same for all entities with these ages and classes.
/// NET_ENCODED_ROW_UNUSUAL: such rows are in no home.
static inline uint32_t net_encoded_rows_wanted(const net_encoded_rows* encoded_rows,
                                               const net_encoded_row_key* key) {
    uint64_t classes = net_encoded_row_trio(key);
    uint32_t trio = encoded_rows->trio_at[net_encoded_row_trio_slot(classes)];
    if (encoded_rows->trios[trio] != classes || key->age > UINT8_MAX || key->is_settled)
        return NET_ENCODED_ROW_UNUSUAL;
    return net_encoded_row_cell_key(key, trio);
}
/// Get an encoded row that was made before; `wanted` is that of the key.
/// @return false when there is none.
static inline bool net_encoded_rows_find_wanted(net_encoded_rows* encoded_rows, uint32_t wanted,
                                                const net_encoded_row_key* key,
                                                net_encoded_row* encoded) {
    if (wanted == NET_ENCODED_ROW_UNUSUAL)
        return net_encoded_rows_find_any(encoded_rows, key, encoded);
    const net_encoded_row_home* home = &encoded_rows->homes[key->index];
    if (home->stamp != encoded_rows->stamp) return false;
    uint32_t count = home->count;
    for (uint32_t i = 0; i < count; i++) {
        if (home->keys[i] != wanted) continue;
        net_encoded_rows_take(encoded_rows, key->index, i, encoded);
        encoded_rows->shared++;
        return true;
    }
    return count == NET_ENCODED_ROW_CELLS && net_encoded_rows_find_any(encoded_rows, key, encoded);
}
/// The same, only in the home itself. *cell is where the newest one was, mostly the same place.
static inline bool net_encoded_rows_find_at(net_encoded_rows* encoded_rows, uint32_t wanted,
                                            uint32_t index, uint32_t* cell,
                                            net_encoded_row* encoded) {
    const net_encoded_row_home* home = &encoded_rows->homes[index];
    if (index >= encoded_rows->home_count || home->stamp != encoded_rows->stamp) return false;
    uint32_t count = home->count, at = *cell;
    if (at >= count || home->keys[at] != wanted) {
        for (at = 0; at < count && home->keys[at] != wanted;)
            at++;
        if (at == count) return false;
        *cell = at;
    }
    net_encoded_rows_take(encoded_rows, index, at, encoded);
    encoded_rows->shared++;
    return true;
}
/// The same for any key.
static inline bool net_encoded_rows_find(net_encoded_rows* encoded_rows,
                                         const net_encoded_row_key* key, net_encoded_row* encoded) {
    return net_encoded_rows_find_wanted(encoded_rows, net_encoded_rows_wanted(encoded_rows, key),
                                        key, encoded);
}
/// The bits of each component of an encoded row. Only with `is_counted`.
const uint32_t* net_encoded_rows_component_bits(const net_encoded_rows* encoded_rows,
                                                uint32_t parts_first,
                                                const net_row_template** row_template);
