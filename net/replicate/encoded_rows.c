// SPDX-License-Identifier: MIT
// Each entity has a home: two cache lines with its usual encoded rows, found by comparing a few
// numbers, without a hash. Rows of 64 bits or less are stored there themselves. An entity with more
// rows goes on in a further home; there are as many of those as the peak of a tick needed so far.
// Rows without room, and unusual ones (a base whose age has no byte), are in a table by a hash of
// the whole key. Longer rows lie in an arena, each from a multiple of 8 bytes on, so that appending
// moves whole words. A tick begins by raising the stamp: homes and places of another stamp are
// empty, so nothing is cleared.
//
// The key names ticks by their age, never rows by their place, and it contains all that the bits
// depend on. So sharing cannot change a bit. A test compares with `is_solo`, which shares nothing.
//
// There are more entities than cache lines, so a caller that encodes many rows prefetches them
// first (net_history_warm). Left to others: which base to use (repl_state_write.c).
#include "replicate/encoded_rows_internal.h"

#include "core/fault.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"

#include <string.h>

enum { FURTHER_MIN = 256 };

#define CELL_NONE UINT32_C(0xFFFFFFFF) // of a key that has no cell

_Static_assert(sizeof(net_encoded_row_home) == 2 * BASE_CACHE_LINE_BYTES, "two lines");

void net_encoded_rows_init(net_encoded_rows* encoded_rows, const base_allocator* allocator,
                           const net_history* history, bool is_solo, bool is_counted) {
    BASE_ASSERT(history);
    memset(encoded_rows, 0, sizeof *encoded_rows);
    encoded_rows->allocator = allocator;
    encoded_rows->history = history;
    encoded_rows->is_solo = is_solo;
    encoded_rows->is_counted = is_counted;
    encoded_rows->trios[0] = UINT64_MAX; // trio_at names it for those that were not seen yet
    encoded_rows->trio_count = 1;
}

static size_t all_homes(const net_encoded_rows* encoded_rows) {
    return (size_t)encoded_rows->home_count + encoded_rows->further_capacity;
}

static size_t parts_bytes(const net_encoded_rows* encoded_rows) {
    return all_homes(encoded_rows) * NET_ENCODED_ROW_CELLS * sizeof *encoded_rows->home_parts;
}

void net_encoded_rows_deinit(net_encoded_rows* encoded_rows) {
    base_table_deinit(&encoded_rows->table, encoded_rows->allocator);
    BASE_ARRAY_RELEASE(encoded_rows->allocator, encoded_rows->places, encoded_rows->place_capacity);
    base_release(encoded_rows->allocator, encoded_rows->homes,
                 all_homes(encoded_rows) * sizeof *encoded_rows->homes);
    if (encoded_rows->home_parts)
        base_release(encoded_rows->allocator, encoded_rows->home_parts, parts_bytes(encoded_rows));
    base_release(encoded_rows->allocator, encoded_rows->arena, encoded_rows->arena_capacity);
    BASE_ARRAY_RELEASE(encoded_rows->allocator, encoded_rows->parts, encoded_rows->part_capacity);
    memset(encoded_rows, 0, sizeof *encoded_rows);
}

// A tick begins: the homes need not be kept.
static bool reserve_homes(net_encoded_rows* encoded_rows) {
    uint32_t count = net_history_index_end(encoded_rows->history);
    uint32_t further = encoded_rows->further_capacity;
    while (further < encoded_rows->further_wanted)
        further = further ? further * 2 : FURTHER_MIN;
    encoded_rows->further_count = encoded_rows->further_wanted = 0;
    if (count <= encoded_rows->home_count && further == encoded_rows->further_capacity) return true;
    if (count < encoded_rows->home_count) count = encoded_rows->home_count;
    base_release(encoded_rows->allocator, encoded_rows->homes,
                 all_homes(encoded_rows) * sizeof *encoded_rows->homes);
    if (encoded_rows->home_parts)
        base_release(encoded_rows->allocator, encoded_rows->home_parts, parts_bytes(encoded_rows));
    encoded_rows->home_parts = NULL;
    encoded_rows->home_count = encoded_rows->further_capacity = 0;
    size_t all = (size_t)count + further;
    encoded_rows->homes =
        base_allocate_zero(encoded_rows->allocator, all * sizeof *encoded_rows->homes);
    if (!encoded_rows->homes) return false;
    encoded_rows->home_count = count;
    encoded_rows->further_capacity = further;
    if (!encoded_rows->is_counted) return true;
    encoded_rows->home_parts =
        base_allocate_zero(encoded_rows->allocator, parts_bytes(encoded_rows));
    if (encoded_rows->home_parts) return true;
    // Homes without parts would be taken for whole in the next tick.
    base_release(encoded_rows->allocator, encoded_rows->homes, all * sizeof *encoded_rows->homes);
    encoded_rows->homes = NULL;
    encoded_rows->home_count = encoded_rows->further_capacity = 0;
    return false;
}

bool net_encoded_rows_begin(net_encoded_rows* encoded_rows, ecs_tick tick) {
    encoded_rows->tick = tick;
    encoded_rows->place_count = 0;
    if (encoded_rows->table.count > 0) base_table_clear(&encoded_rows->table);
    encoded_rows->arena_size = 0;
    encoded_rows->part_count = 0;
    if (!reserve_homes(encoded_rows)) return false;
    if (++encoded_rows->stamp == 0) {
        // After 2^32 ticks: homes of the first ticks must not become valid again.
        memset(encoded_rows->homes, 0, all_homes(encoded_rows) * sizeof *encoded_rows->homes);
        encoded_rows->stamp = 1;
    }
    return true;
}

// ---- homes ----

// UINT32_MAX: there are too many.
static uint32_t find_trio(net_encoded_rows* encoded_rows, const net_encoded_row_key* key) {
    uint64_t trio = net_encoded_row_trio(key);
    uint32_t slot = net_encoded_row_trio_slot(trio), at = encoded_rows->trio_at[slot];
    if (encoded_rows->trios[at] == trio) return at;
    if (net_fault_is_planted(NET_FAULT_WRONG_SHARE) && encoded_rows->trio_count > 1) return 1;
    for (at = 1; at < encoded_rows->trio_count && encoded_rows->trios[at] != trio;)
        at++;
    if (at == NET_ENCODED_ROW_TRIOS) return UINT32_MAX;
    if (at == encoded_rows->trio_count) encoded_rows->trios[encoded_rows->trio_count++] = trio;
    encoded_rows->trio_at[slot] = (uint8_t)at;
    return at;
}

// CELL_NONE: the row belongs into the table.
static uint32_t cell_key(net_encoded_rows* encoded_rows, const net_encoded_row_key* key) {
    if (key->is_settled || key->age > UINT8_MAX) return CELL_NONE;
    uint32_t trio = find_trio(encoded_rows, key);
    return trio != UINT32_MAX ? net_encoded_row_cell_key(key, trio) : CELL_NONE;
}

// Find the cell of a key, in the home of an index or a further one. @return false, and *home is the
// last of them.
static bool find_cell(const net_encoded_rows* encoded_rows, uint32_t key, uint32_t* home,
                      uint32_t* cell) {
    for (;;) {
        const net_encoded_row_home* at = &encoded_rows->homes[*home];
        for (uint32_t i = 0; i < at->count; i++) {
            if (at->keys[i] != key) continue;
            *cell = i;
            return true;
        }
        if (at->next == 0) return false;
        *home = at->next;
    }
}

// Put a row behind `home`, the last one of its entity. @return false when there is no room.
static bool put_cell(net_encoded_rows* encoded_rows, uint32_t home, uint32_t key,
                     const net_encoded_row* encoded) {
    if (encoded_rows->homes[home].count == NET_ENCODED_ROW_CELLS) {
        encoded_rows->further_wanted++;
        if (encoded_rows->further_count == encoded_rows->further_capacity) return false;
        uint32_t further = encoded_rows->home_count + encoded_rows->further_count++;
        net_encoded_rows_begin_home(encoded_rows, further);
        encoded_rows->homes[home].next = further;
        home = further;
    }
    net_encoded_rows_put_cell(encoded_rows, home, key, encoded);
    return true;
}

// ---- the table ----

// The whole key in two words.
static uint64_t key_low(const net_encoded_row_key* key) {
    return (uint64_t)key->index | (uint64_t)key->d << 22 | (uint64_t)key->is_settled << 31 |
           (uint64_t)key->age << 32;
}

static const net_encoded_row_place* find_place(const net_encoded_rows* encoded_rows,
                                               const net_encoded_row_key* key) {
    const uint64_t low = key_low(key), high = net_encoded_row_trio(key);
    uint32_t cursor = 0, at;
    while ((at = base_table_next(&encoded_rows->table, base_hash64_mix(low, high), &cursor)) !=
           BASE_TABLE_NONE)
        if (encoded_rows->places[at].low == low && encoded_rows->places[at].high == high)
            return &encoded_rows->places[at];
    return NULL;
}

static bool put_place(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                      const net_encoded_row* encoded) {
    const base_allocator* allocator = encoded_rows->allocator;
    const uint32_t at = encoded_rows->place_count;
    if (!base_table_reserve(&encoded_rows->table, allocator, at + 1) ||
        !BASE_ARRAY_RESERVE(allocator, encoded_rows->places, encoded_rows->place_capacity, at + 1))
        return false;
    const net_encoded_row_place place = {key_low(key), net_encoded_row_trio(key), *encoded};
    base_table_add(&encoded_rows->table, base_hash64_mix(place.low, place.high), at);
    encoded_rows->places[encoded_rows->place_count++] = place;
    return true;
}

// Find a row; otherwise *home is the last home of the entity. `wanted`: CELL_NONE when it has none.
static bool find(const net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                 uint32_t wanted, uint32_t* home, net_encoded_row* encoded) {
    uint32_t cell;
    *home = key->index;
    if (wanted != CELL_NONE) {
        BASE_ASSERT(key->index < encoded_rows->home_count);
        if (encoded_rows->homes[*home].stamp != encoded_rows->stamp)
            net_encoded_rows_begin_home(encoded_rows, *home);
        if (find_cell(encoded_rows, wanted, home, &cell)) {
            net_encoded_rows_take(encoded_rows, *home, cell, encoded);
            return true;
        }
        if (encoded_rows->homes[*home].count < NET_ENCODED_ROW_CELLS) return false;
    }
    if (encoded_rows->place_count == 0) return false;
    const net_encoded_row_place* place = find_place(encoded_rows, key);
    if (place) *encoded = place->encoded;
    return place != NULL;
}

// `home`: the last one of the entity. `wanted`: CELL_NONE when the row belongs into the table.
static inline net_encoded_row_result make_in(net_encoded_rows* encoded_rows,
                                             const net_encoded_row_key* key, uint32_t wanted,
                                             uint32_t home, net_encoded_row* encoded) {
    net_encoded_row_result result = net_encoded_rows_encode(encoded_rows, key, encoded);
    if (result != NET_ENCODED_ROW_OK) return result;
    if (wanted != CELL_NONE && put_cell(encoded_rows, home, wanted, encoded))
        return NET_ENCODED_ROW_OK;
    return put_place(encoded_rows, key, encoded) ? NET_ENCODED_ROW_OK : NET_ENCODED_ROW_NO_MEMORY;
}

net_encoded_row_result net_encoded_rows_get(net_encoded_rows* encoded_rows,
                                            const net_encoded_row_key* key,
                                            net_encoded_row* encoded) {
    if (encoded_rows->is_solo) return net_encoded_rows_encode(encoded_rows, key, encoded);
    uint32_t home, wanted = cell_key(encoded_rows, key);
    if (!find(encoded_rows, key, wanted, &home, encoded))
        return make_in(encoded_rows, key, wanted, home, encoded);
    encoded_rows->shared++;
    return NET_ENCODED_ROW_OK;
}

net_encoded_row_result net_encoded_rows_make(net_encoded_rows* encoded_rows,
                                             const net_encoded_row_key* key, uint32_t wanted,
                                             net_encoded_row* encoded) {
    if (encoded_rows->is_solo || wanted == NET_ENCODED_ROW_UNUSUAL)
        return net_encoded_rows_get(encoded_rows, key, encoded);
    uint32_t home = key->index;
    if (encoded_rows->homes[home].stamp != encoded_rows->stamp)
        net_encoded_rows_begin_home(encoded_rows, home);
    while (encoded_rows->homes[home].next)
        home = encoded_rows->homes[home].next;
    return make_in(encoded_rows, key, wanted, home, encoded);
}

bool net_encoded_rows_find_any(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                               net_encoded_row* encoded) {
    uint32_t home;
    bool is_found = !encoded_rows->is_solo &&
                    find(encoded_rows, key, cell_key(encoded_rows, key), &home, encoded);
    encoded_rows->shared += is_found;
    return is_found;
}
