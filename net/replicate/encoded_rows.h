// SPDX-License-Identifier: MIT
/// Encoded rows of one tick: each is made once and appended to every packet that needs it.
///
/// Key: the entity, the age of the base, the distance of the second base, and the classes that were
/// visible in each. Within a tick the bits depend on nothing else.
/// A row is handed out as a *cell*, one word: its bits, and in the highest byte how many they are.
/// Longer rows are in the arena.
/// Memory: two cache lines per entity, four in small worlds that need more; the rest grows to the
/// peak of one tick, then stays.
/// Threads: one at a time.
#pragma once

#include "state/history.h"

#include <string.h>

#define NET_ENCODED_ROW_HOME_BITS 4u     ///< words of a home, as a power of two, at first
#define NET_ENCODED_ROW_HOME_BITS_MAX 5u ///< and in small worlds that need more
#define NET_ENCODED_ROW_CELLS_MAX ((1u << NET_ENCODED_ROW_HOME_BITS_MAX) - 1)
#define NET_ENCODED_ROW_CELL_NONE 0u
#define NET_ENCODED_ROW_HOMES_CACHED 2048u ///< of small worlds: they stay in the cache
#define NET_ENCODED_ROW_KINDS_BITS 8       ///< kinds that are known by name, as a power of two
#define NET_ENCODED_ROW_KINDS (1u << NET_ENCODED_ROW_KINDS_BITS)
#define NET_ENCODED_ROW_TRIOS 64u
#define NET_ENCODED_ROW_INLINE_BITS 56u ///< of a row that its cell holds
#define NET_ENCODED_ROW_LONG 0xFFu      ///< highest byte of a cell: the row is in the arena
#define NET_ENCODED_ROW_USUAL 6u        ///< kinds of rows that are encoded ahead

typedef struct net_encoded_row_key {
    uint32_t index;
    uint32_t age;    ///< now - tick of the base; 0: the default row
    uint8_t d;       ///< tick of the base - tick of the second base; 0: no second base
    bool is_settled; ///< the reader does not know how old the base is
    uint16_t classes, base_classes, base2_classes;
} net_encoded_row_key;

/// Rows with the same ages and classes.
typedef struct net_encoded_row_kind {
    uint32_t wanted; ///< net_encoded_rows_wanted; 0: unused
    uint32_t count;  ///< asked for in this tick
    uint32_t made;   ///< of those, when they were asked for
    uint8_t cell;    ///< in all homes; NET_ENCODED_ROW_CELL_NONE: in the table
    bool is_ahead;   ///< encoded ahead in this tick, but for a sample
} net_encoded_row_kind;

/// An encoded row in the table: the unusual ones.
typedef struct net_encoded_row_place {
    uint64_t low, high; ///< the key
    uint64_t cell;
    uint32_t stamp; ///< another one: nothing is here
} net_encoded_row_place;

/// Bits of the row of a cell.
static inline uint32_t net_encoded_cell_bits(uint64_t cell) {
    uint32_t bits = (uint32_t)(cell >> NET_ENCODED_ROW_INLINE_BITS);
    return bits != NET_ENCODED_ROW_LONG ? bits : (uint16_t)(cell >> 32);
}
/// The bits themselves, of a row that is not long.
static inline uint64_t net_encoded_cell_code(uint64_t cell) {
    return cell & ((UINT64_C(1) << NET_ENCODED_ROW_INLINE_BITS) - 1);
}

/// Classes of the row and its two bases in one number.
static inline uint64_t net_encoded_row_trio(const net_encoded_row_key* key) {
    return (uint64_t)key->classes | (uint64_t)key->base_classes << 16 |
           (uint64_t)key->base2_classes << 32;
}

/// All of a key but its classes in one number.
static inline uint64_t net_encoded_row_key_low(const net_encoded_row_key* key) {
    return (uint64_t)key->index | (uint64_t)key->d << 22 | (uint64_t)key->is_settled << 31 |
           (uint64_t)key->age << 32;
}

typedef struct net_encoded_rows {
    const base_allocator* allocator;
    const net_history* history;
    bool is_solo;
    uint32_t stamp;
    ecs_tick tick;
    uint64_t* homes; ///< [index] net_encoded_rows_home
    uint32_t home_count, home_bits;
    net_encoded_row_kind kinds[NET_ENCODED_ROW_KINDS]; ///< open addressing
    uint32_t kind_count, cell_count;
    net_encoded_row_kind most[NET_ENCODED_ROW_CELLS_MAX]; ///< of the tick before; [cell - 1] now
    uint32_t most_count;
    uint64_t trios[NET_ENCODED_ROW_TRIOS];  ///< those seen so far, in no order
    uint8_t trio_at[NET_ENCODED_ROW_TRIOS]; ///< [low bits of a hash]: where it may be in `trios`
    uint32_t trio_count;
    net_encoded_row_place* places; ///< by hash; at most half of them are used
    uint32_t place_count, place_capacity;
    uint8_t* arena;
    uint32_t arena_size, arena_capacity;
    proto_row_times times; ///< of the row that was asked for last
    uint64_t made, shared;
    uint32_t rows[3][2 * PROTO_ROW_FIELDS_MAX + 1]; ///< scratch: masked rows
} net_encoded_rows;

typedef enum net_encoded_row_result {
    NET_ENCODED_ROW_OK,
    NET_ENCODED_ROW_NO_BASE,  ///< the base is forgotten
    NET_ENCODED_ROW_NO_BASE2, ///< the second base is forgotten
} net_encoded_row_result;

/// `is_solo`: make every row again, share none (the bits are the same). `history` is borrowed.
void net_encoded_rows_init(net_encoded_rows* encoded_rows, const base_allocator* allocator,
                           const net_history* history, bool is_solo);
/// Begin a tick: rows of the previous one are dropped.
void net_encoded_rows_begin(net_encoded_rows* encoded_rows, ecs_tick tick);
/// Encode, of each entity that changed, the kinds of rows that were asked for often in the tick
/// before. Call it after net_encoded_rows_begin.
void net_encoded_rows_ahead(net_encoded_rows* encoded_rows, const net_history_event* events,
                            uint32_t event_count);
/// The kind of rows with this number, valid within the tick; NULL: they have none.
net_encoded_row_kind* net_encoded_rows_kind(net_encoded_rows* encoded_rows, uint32_t wanted);
/// Get the cell of the encoded row of a key. It stays valid within the tick.
net_encoded_row_result net_encoded_rows_get(net_encoded_rows* encoded_rows,
                                            const net_encoded_row_key* key, uint64_t* cell);
/// A row that is asked for, and what became of it.
typedef struct net_encoded_row_wish {
    net_encoded_row_key key;
    uint32_t wanted; ///< net_encoded_rows_wanted
    uint32_t slot;   ///< the caller's
    uint64_t cell;
    net_encoded_row_result result;
} net_encoded_row_wish;
/// Make the encoded rows of keys that all differ and that are not there yet: rows of one template
/// are encoded together.
void net_encoded_rows_make_many(net_encoded_rows* encoded_rows, net_encoded_row_wish* wishes,
                                uint32_t count);
/// Find the rows that a key names; they stay valid until the next call. Solo code needs them.
net_encoded_row_result net_encoded_rows_sources(net_encoded_rows* encoded_rows,
                                                const net_encoded_row_key* key,
                                                const uint32_t** row, proto_packed_base* base);
/// The usual encoded rows of an entity, found without a search: a word with the stamp of their tick
/// (another one: the home is empty) and above it a bit for each cell with a row, then the cells.
/// A kind of rows has the same cell in all homes.
static inline uint64_t* net_encoded_rows_home(const net_encoded_rows* encoded_rows,
                                              uint32_t index) {
    return encoded_rows->homes + ((size_t)index << encoded_rows->home_bits);
}
/// What the first word of a home has when there is a row in this cell.
static inline uint64_t net_encoded_rows_mark(const net_encoded_rows* encoded_rows, uint32_t cell) {
    return encoded_rows->stamp | UINT64_C(1) << (32 + cell);
}
static inline bool net_encoded_rows_has(const uint64_t* home, uint64_t mark) {
    return (home[0] & (mark | UINT32_MAX)) == mark;
}
/// Prefetch what net_encoded_rows_get reads first: the most wanted rows are at the beginning.
static inline void net_encoded_rows_prefetch(const net_encoded_rows* encoded_rows, uint32_t index) {
    if (index >= encoded_rows->home_count) return;
    __builtin_prefetch(net_encoded_rows_home(encoded_rows, index));
}
#define NET_ENCODED_ROW_UNUSUAL UINT32_MAX
/// What a key is in a home: the same for all entities with these ages and classes.
/// NET_ENCODED_ROW_UNUSUAL: such rows are in the table.
uint32_t net_encoded_rows_wanted(net_encoded_rows* encoded_rows, const net_encoded_row_key* key);
/// Get an encoded row that was made before; `wanted` is that of the key.
/// @return false when there is none.
bool net_encoded_rows_find_wanted(net_encoded_rows* encoded_rows, uint32_t wanted,
                                  const net_encoded_row_key* key, uint64_t* cell);
