// SPDX-License-Identifier: MIT
// Each entity has a home: two cache lines with its usual encoded rows. What clients ask for in a
// tick are few kinds of rows (the same ages and classes), so each of the most wanted kinds has a
// cell, the same one in all homes, and finding a row is looking there. Which kinds these are
// follows from the tick before; what is new takes the cells that are left. Rows of other kinds, and
// unusual ones (a base whose age has no byte), are in a table by a hash of the whole key. Rows of
// 56 bits or less are in their cell. Longer rows lie in an arena, each from a multiple of 8 bytes
// on, so that appending moves whole words. A tick begins by raising the stamp: homes and places of
// another stamp are empty, so nothing is cleared.
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

enum { KINDS_MAX = NET_ENCODED_ROW_KINDS - NET_ENCODED_ROW_KINDS / 4 };

#define CELL_NONE NET_ENCODED_ROW_UNUSUAL // of a key that has no kind

_Static_assert(sizeof(net_encoded_row_home) == 2 * BASE_CACHE_LINE_BYTES, "two lines");
_Static_assert(NET_ROW_BYTES_MAX * 8 <= UINT16_MAX, "the size of a long row fits its cell");

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

static size_t homes_bytes(const net_encoded_rows* encoded_rows) {
    return (size_t)encoded_rows->home_count * sizeof *encoded_rows->homes;
}

static size_t parts_bytes(const net_encoded_rows* encoded_rows) {
    return (size_t)encoded_rows->home_count * NET_ENCODED_ROW_CELLS *
           sizeof *encoded_rows->home_parts;
}

static void release_homes(net_encoded_rows* encoded_rows) {
    base_release(encoded_rows->allocator, encoded_rows->homes, homes_bytes(encoded_rows));
    base_release(encoded_rows->allocator, encoded_rows->home_parts, parts_bytes(encoded_rows));
    encoded_rows->homes = NULL;
    encoded_rows->home_parts = NULL;
    encoded_rows->home_count = 0;
}

void net_encoded_rows_deinit(net_encoded_rows* encoded_rows) {
    base_table_deinit(&encoded_rows->table, encoded_rows->allocator);
    BASE_ARRAY_RELEASE(encoded_rows->allocator, encoded_rows->places, encoded_rows->place_capacity);
    release_homes(encoded_rows);
    base_release(encoded_rows->allocator, encoded_rows->arena, encoded_rows->arena_capacity);
    BASE_ARRAY_RELEASE(encoded_rows->allocator, encoded_rows->parts, encoded_rows->part_capacity);
    memset(encoded_rows, 0, sizeof *encoded_rows);
}

// A tick begins: the homes need not be kept.
static bool reserve_homes(net_encoded_rows* encoded_rows) {
    uint32_t count = net_history_index_end(encoded_rows->history);
    if (count <= encoded_rows->home_count) return true;
    release_homes(encoded_rows);
    encoded_rows->home_count = count;
    encoded_rows->homes = base_allocate_zero(encoded_rows->allocator, homes_bytes(encoded_rows));
    if (encoded_rows->is_counted)
        encoded_rows->home_parts =
            base_allocate_zero(encoded_rows->allocator, parts_bytes(encoded_rows));
    if (encoded_rows->homes && (encoded_rows->home_parts || !encoded_rows->is_counted)) return true;
    release_homes(encoded_rows); // one of the two alone is none
    return false;
}

// ---- kinds ----

static uint32_t kind_slot(uint32_t wanted) {
    return wanted * UINT32_C(0x9E3779B1) >> (32 - NET_ENCODED_ROW_KINDS_BITS);
}

// Where a kind is, or may be put.
static net_encoded_row_kind* find_kind(net_encoded_rows* encoded_rows, uint32_t wanted) {
    uint32_t slot = kind_slot(wanted);
    while (encoded_rows->kinds[slot].wanted != 0 && encoded_rows->kinds[slot].wanted != wanted)
        slot = (slot + 1) % NET_ENCODED_ROW_KINDS;
    return &encoded_rows->kinds[slot];
}

net_encoded_row_kind* net_encoded_rows_kind(net_encoded_rows* encoded_rows, uint32_t wanted) {
    net_encoded_row_kind* kind = find_kind(encoded_rows, wanted);
    if (kind->wanted == wanted) return kind;
    if (encoded_rows->kind_count == KINDS_MAX) return NULL;
    encoded_rows->kind_count++;
    uint32_t cell = encoded_rows->cell_count;
    *kind = (net_encoded_row_kind){.wanted = wanted, .cell = NET_ENCODED_ROW_CELL_NONE};
    if (cell == NET_ENCODED_ROW_CELLS) return kind;
    kind->cell = (uint8_t)cell;
    encoded_rows->cell_count++;
    return kind;
}

// The kinds that were most wanted in the tick before get the cells, others are forgotten.
static void renew_kinds(net_encoded_rows* encoded_rows) {
    net_encoded_row_kind most[NET_ENCODED_ROW_CELLS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_ENCODED_ROW_KINDS && encoded_rows->kind_count > 0; i++) {
        const net_encoded_row_kind kind = encoded_rows->kinds[i];
        if (kind.count == 0) continue;
        uint32_t at = count < NET_ENCODED_ROW_CELLS ? count++ : count;
        for (; at > 0 && most[at - 1].count < kind.count; at--)
            if (at < NET_ENCODED_ROW_CELLS) most[at] = most[at - 1];
        if (at < NET_ENCODED_ROW_CELLS) most[at] = kind;
    }
    memset(encoded_rows->kinds, 0, sizeof encoded_rows->kinds);
    encoded_rows->kind_count = encoded_rows->cell_count = 0;
    for (uint32_t i = 0; i < count; i++)
        (void)net_encoded_rows_kind(encoded_rows, most[i].wanted);
}

bool net_encoded_rows_begin(net_encoded_rows* encoded_rows, ecs_tick tick) {
    encoded_rows->tick = tick;
    encoded_rows->place_count = 0;
    if (encoded_rows->table.count > 0) base_table_clear(&encoded_rows->table);
    encoded_rows->arena_size = 0;
    encoded_rows->part_count = 0;
    renew_kinds(encoded_rows);
    if (!reserve_homes(encoded_rows)) return false;
    if (++encoded_rows->stamp == 0) {
        // After 2^32 ticks: homes of the first ticks must not become valid again.
        memset(encoded_rows->homes, 0, homes_bytes(encoded_rows));
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

// *encoded from a cell of a home. @return false when that has no row.
static bool take(const net_encoded_rows* encoded_rows, uint32_t home, uint32_t cell,
                 net_encoded_row* encoded) {
    if (encoded_rows->homes[home].stamp != encoded_rows->stamp) return false;
    uint64_t word = encoded_rows->homes[home].cells[cell];
    if (word == 0) return false;
    encoded->bits = (uint16_t)net_encoded_cell_bits(word);
    encoded->code =
        encoded->bits <= NET_ENCODED_ROW_INLINE_BITS ? net_encoded_cell_code(word) : (uint32_t)word;
    if (!encoded_rows->is_counted) return true;
    const net_encoded_row_parts parts =
        encoded_rows->home_parts[(size_t)home * NET_ENCODED_ROW_CELLS + cell];
    encoded->parts_first = parts.first;
    encoded->head_bits = (uint16_t)parts.head_bits;
    return true;
}

// Find a row. `wanted`: CELL_NONE when no kind of rows has its number.
static bool find(net_encoded_rows* encoded_rows, const net_encoded_row_key* key, uint32_t wanted,
                 net_encoded_row* encoded) {
    BASE_ASSERT(key->index < encoded_rows->home_count);
    const net_encoded_row_kind* kind =
        wanted != CELL_NONE ? net_encoded_rows_kind(encoded_rows, wanted) : NULL;
    if (kind && kind->cell != NET_ENCODED_ROW_CELL_NONE)
        return take(encoded_rows, key->index, kind->cell, encoded);
    const net_encoded_row_place* place =
        encoded_rows->place_count > 0 ? find_place(encoded_rows, key) : NULL;
    if (place) *encoded = place->encoded;
    return place != NULL;
}

// Keep an encoded row for those that ask later.
static net_encoded_row_result put(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                                  uint32_t wanted, const net_encoded_row* encoded) {
    if (encoded_rows->is_solo) return NET_ENCODED_ROW_OK;
    if (wanted == NET_ENCODED_ROW_UNUSUAL) wanted = cell_key(encoded_rows, key);
    if (wanted != CELL_NONE) {
        if (encoded_rows->homes[key->index].stamp != encoded_rows->stamp)
            net_encoded_rows_begin_home(encoded_rows, key->index);
        const net_encoded_row_kind* kind = net_encoded_rows_kind(encoded_rows, wanted);
        if (kind && kind->cell != NET_ENCODED_ROW_CELL_NONE) {
            net_encoded_rows_put_cell(encoded_rows, key->index, kind->cell, encoded);
            return NET_ENCODED_ROW_OK;
        }
    }
    return put_place(encoded_rows, key, encoded) ? NET_ENCODED_ROW_OK : NET_ENCODED_ROW_NO_MEMORY;
}

net_encoded_row_result net_encoded_rows_make(net_encoded_rows* encoded_rows,
                                             const net_encoded_row_key* key, uint32_t wanted,
                                             net_encoded_row* encoded) {
    net_encoded_row_result result = net_encoded_rows_encode(encoded_rows, key, encoded);
    return result == NET_ENCODED_ROW_OK ? put(encoded_rows, key, wanted, encoded) : result;
}

void net_encoded_rows_make_many(net_encoded_rows* encoded_rows, net_encoded_row_wish* wishes,
                                uint32_t count) {
    net_encoded_rows_encode_wishes(encoded_rows, wishes, count);
    for (uint32_t i = 0; i < count; i++) {
        net_encoded_row_wish* wish = &wishes[i];
        if (wish->result == NET_ENCODED_ROW_OK)
            wish->result = put(encoded_rows, &wish->key, wish->wanted, &wish->encoded);
    }
}

bool net_encoded_rows_find_wanted(net_encoded_rows* encoded_rows, uint32_t wanted,
                                  const net_encoded_row_key* key, net_encoded_row* encoded) {
    if (encoded_rows->is_solo) return false;
    if (wanted == NET_ENCODED_ROW_UNUSUAL) wanted = cell_key(encoded_rows, key);
    bool is_found = find(encoded_rows, key, wanted, encoded);
    encoded_rows->shared += is_found;
    return is_found;
}

net_encoded_row_result net_encoded_rows_get(net_encoded_rows* encoded_rows,
                                            const net_encoded_row_key* key,
                                            net_encoded_row* encoded) {
    uint32_t wanted = encoded_rows->is_solo ? CELL_NONE : cell_key(encoded_rows, key);
    if (net_encoded_rows_find_wanted(encoded_rows, wanted, key, encoded)) return NET_ENCODED_ROW_OK;
    if (wanted != CELL_NONE) {
        net_encoded_row_kind* kind = net_encoded_rows_kind(encoded_rows, wanted);
        if (kind) kind->count++;
    }
    return net_encoded_rows_make(encoded_rows, key, wanted, encoded);
}
