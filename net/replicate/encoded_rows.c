// SPDX-License-Identifier: MIT
// Each entity has a home: two cache lines with the codes of its usual blobs, found by comparing a few numbers; no
// hash, and the bits themselves lie there when they are 64 or less. Whoever has more goes on in a further home;
// there are as many of those as the most that a tick wanted so far. What does not fit or is unusual (a base whose
// age has no byte) goes into a table by a hash of the whole key. Longer bits lie in an arena, each blob from a
// multiple of 8 bytes, so that appending moves whole words. A tick begins by raising the stamp: homes and
// places of another stamp are empty, so nothing is cleared.
//
// The key names ticks by their age, never rows by their place, and all that the code depends on is in it;
// that is why sharing cannot change a bit. `is_solo` forgets what it made and proves it (a test compares).
//
// There are more entities than the processor's cache has lines, so whoever codes many rows asks for the memory
// ahead (net_history_warm). Left to others: which base to take (view_write.c).
#include "replicate/encoded_rows.h"

#include "core/fault.h"
#include "base/assert.h"

#include <string.h>

enum {
    TABLE_BITS_MIN = 8,
    FURTHER_MIN = 256,
    ARENA_ALIGN = 8,
    POINTER_WORDS = sizeof(void*) / sizeof(uint32_t)
};

#define CELL_NONE UINT32_C(0xFFFFFFFF) // of a key that has no cell

_Static_assert(sizeof(net_blob_home) == 2 * BASE_CACHE_LINE_BYTES, "two lines");

void net_blobs_init(net_blobs* blobs, const base_allocator* allocator, const net_history* history,
                    bool is_solo, bool is_counted) {
    memset(blobs, 0, sizeof *blobs);
    blobs->allocator = allocator;
    blobs->history = history;
    blobs->is_solo = is_solo;
    blobs->is_counted = is_counted;
    // Of entities that are public as a whole: these come first.
    blobs->trios[NET_BLOB_TRIO_BOTH] = (net_blob_trio){1, 1, 1};
    blobs->trios[NET_BLOB_TRIO_BASE] = (net_blob_trio){1, 1, 0};
    blobs->trios[NET_BLOB_TRIO_NONE] = (net_blob_trio){1, 0, 0};
    blobs->trio_count = 3;
}

static size_t all_homes(const net_blobs* blobs) {
    return (size_t)blobs->home_count + blobs->further_capacity;
}

static size_t parts_bytes(const net_blobs* blobs) {
    return all_homes(blobs) * NET_BLOB_CELLS * sizeof *blobs->home_parts;
}

void net_blobs_deinit(net_blobs* blobs) {
    if (blobs->table)
        base_release(blobs->allocator, blobs->table, sizeof(net_blob_place) << blobs->table_bits);
    base_release(blobs->allocator, blobs->homes, all_homes(blobs) * sizeof *blobs->homes);
    if (blobs->home_parts) base_release(blobs->allocator, blobs->home_parts, parts_bytes(blobs));
    base_release(blobs->allocator, blobs->arena, blobs->arena_capacity);
    base_release(blobs->allocator, blobs->parts, blobs->part_capacity * sizeof *blobs->parts);
    memset(blobs, 0, sizeof *blobs);
}

static bool grow_table(net_blobs* blobs, uint32_t bits);

// The tick is new: homes need not be kept.
static bool reserve_homes(net_blobs* blobs) {
    uint32_t count = net_history_index_end(blobs->history);
    uint32_t further = blobs->further_capacity;
    while (further < blobs->further_wanted)
        further = further ? further * 2 : FURTHER_MIN;
    blobs->further_count = blobs->further_wanted = 0;
    if (count <= blobs->home_count && further == blobs->further_capacity) return true;
    if (count < blobs->home_count) count = blobs->home_count;
    base_release(blobs->allocator, blobs->homes, all_homes(blobs) * sizeof *blobs->homes);
    if (blobs->home_parts) base_release(blobs->allocator, blobs->home_parts, parts_bytes(blobs));
    blobs->home_parts = NULL;
    blobs->home_count = blobs->further_capacity = 0;
    size_t all = (size_t)count + further;
    blobs->homes = base_allocate_zero(blobs->allocator, all * sizeof *blobs->homes);
    if (!blobs->homes) return false;
    blobs->home_count = count;
    blobs->further_capacity = further;
    if (!blobs->is_counted) return true;
    blobs->home_parts = base_allocate_zero(blobs->allocator, parts_bytes(blobs));
    return blobs->home_parts != NULL;
}

bool net_blobs_begin(net_blobs* blobs, ecs_tick tick) {
    blobs->tick = tick;
    blobs->count = 0;
    blobs->arena_size = 0;
    blobs->part_count = 0;
    if (!blobs->table && !grow_table(blobs, TABLE_BITS_MIN)) return false;
    if (!reserve_homes(blobs)) return false;
    if (++blobs->stamp == 0) {
        // After 2^32 ticks: what is left of the first ones must not come back.
        memset(blobs->table, 0, sizeof(net_blob_place) << blobs->table_bits);
        memset(blobs->homes, 0, all_homes(blobs) * sizeof *blobs->homes);
        blobs->stamp = 1;
    }
    return true;
}

// ---- homes ----

static uint32_t find_trio(const net_blobs* blobs, const net_blob_key* key) {
    if (net_fault_is_planted(NET_FAULT_WRONG_SHARE) && blobs->trio_count > 0) return 0;
    for (uint32_t i = 0; i < blobs->trio_count; i++) {
        const net_blob_trio* trio = &blobs->trios[i];
        if (trio->classes == key->classes && trio->base_classes == key->base_classes &&
            trio->base2_classes == key->base2_classes)
            return i;
    }
    return UINT32_MAX;
}

// CELL_NONE: it belongs into the table.
static uint32_t cell_key(const net_blobs* blobs, const net_blob_key* key) {
    if (key->is_settled || key->age > UINT8_MAX) return CELL_NONE;
    uint32_t trio = find_trio(blobs, key);
    if (trio == UINT32_MAX) return CELL_NONE;
    return net_blob_cell_key(key, trio);
}

// The cell of a key, in the home of an index or a further one. @return false, and *home is the last of them.
static bool find_cell(const net_blobs* blobs, uint32_t key, uint32_t* home, uint32_t* cell) {
    for (;;) {
        const net_blob_home* at = &blobs->homes[*home];
        for (uint32_t i = 0; i < at->count; i++) {
            if (at->cells[i].key != key) continue;
            *cell = i;
            return true;
        }
        if (at->next == 0) return false;
        *home = at->next;
    }
}

static void take_cell(const net_blobs* blobs, uint32_t home, uint32_t cell, net_blob* blob) {
    const net_blob_cell* from = &blobs->homes[home].cells[cell];
    blob->code = from->code;
    blob->offset = (uint32_t)from->code;
    blob->bits = from->bits;
    blob->head_bits = from->head_bits;
    blob->parts_first = blobs->is_counted ? blobs->home_parts[home * NET_BLOB_CELLS + cell] : 0;
}

static void begin_home(const net_blobs* blobs, uint32_t home) {
    blobs->homes[home].stamp = blobs->stamp;
    blobs->homes[home].count = blobs->homes[home].next = 0;
}

// @return false when there is no room.
static bool put_cell(net_blobs* blobs, uint32_t index, uint32_t key, const net_blob* blob) {
    uint32_t home = index, cell;
    if (blobs->homes[home].stamp != blobs->stamp) begin_home(blobs, home);
    (void)find_cell(blobs, CELL_NONE, &home, &cell); // the last one
    if (blobs->homes[home].count == NET_BLOB_CELLS) {
        blobs->further_wanted++;
        if (blobs->further_count == blobs->further_capacity) return false;
        uint32_t further = blobs->home_count + blobs->further_count++;
        begin_home(blobs, further);
        blobs->homes[home].next = further;
        home = further;
    }
    net_blob_home* into = &blobs->homes[home];
    into->cells[into->count] = (net_blob_cell){
        .key = key,
        .bits = blob->bits,
        .head_bits = blob->head_bits,
        .code = blob->bits <= NET_BLOB_INLINE_BITS ? blob->code : blob->offset,
    };
    if (blobs->is_counted)
        blobs->home_parts[home * NET_BLOB_CELLS + into->count] = blob->parts_first;
    into->count++;
    return true;
}

// ---- the table ----

// All of a key in two words.
static uint64_t key_low(const net_blob_key* key) {
    return (uint64_t)key->index | (uint64_t)key->d << 22 | (uint64_t)key->is_listed << 30 |
           (uint64_t)key->is_settled << 31 | (uint64_t)key->age << 32;
}

static uint64_t key_high(const net_blob_key* key) {
    return (uint64_t)key->classes | (uint64_t)key->base_classes << 16 |
           (uint64_t)key->base2_classes << 32;
}

static uint32_t hash_of(uint64_t low, uint64_t high, uint32_t bits) {
    uint64_t h = (low ^ high * UINT64_C(0xD6E8FEB86659FD93)) * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(h >> (64 - bits));
}

static net_blob_place* find_place(const net_blobs* blobs, uint64_t low, uint64_t high) {
    uint32_t mask = (1u << blobs->table_bits) - 1;
    uint32_t at = hash_of(low, high, blobs->table_bits);
    while (blobs->table[at].stamp == blobs->stamp &&
           (blobs->table[at].low != low || blobs->table[at].high != high))
        at = (at + 1) & mask;
    return &blobs->table[at];
}

static bool grow_table(net_blobs* blobs, uint32_t bits) {
    net_blob_place* table = base_allocate_zero(blobs->allocator, sizeof *table << bits);
    if (!table) return false;
    net_blob_place* old = blobs->table;
    uint32_t old_count = old ? 1u << blobs->table_bits : 0;
    uint32_t old_bits = blobs->table_bits;
    blobs->table = table;
    blobs->table_bits = bits;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i].stamp == blobs->stamp) *find_place(blobs, old[i].low, old[i].high) = old[i];
    }
    if (old) base_release(blobs->allocator, old, sizeof *old << old_bits);
    return true;
}

static bool put_place(net_blobs* blobs, const net_blob_key* key, const net_blob* blob) {
    if (blobs->count >= 1u << (blobs->table_bits - 1) && !grow_table(blobs, blobs->table_bits + 1))
        return false;
    net_blob_place* place = find_place(blobs, key_low(key), key_high(key));
    *place = (net_blob_place){key_low(key), key_high(key), blobs->stamp, *blob};
    blobs->count++;
    return true;
}

static bool find(const net_blobs* blobs, const net_blob_key* key, uint32_t wanted, net_blob* blob) {
    if (wanted != CELL_NONE) {
        uint32_t home = key->index, cell;
        if (blobs->homes[home].stamp != blobs->stamp) return false;
        if (find_cell(blobs, wanted, &home, &cell)) {
            take_cell(blobs, home, cell, blob);
            return true;
        }
        if (blobs->homes[home].count < NET_BLOB_CELLS) return false;
    }
    const net_blob_place* place = find_place(blobs, key_low(key), key_high(key));
    if (place->stamp != blobs->stamp) return false;
    *blob = place->blob;
    return true;
}

// ---- making one ----

static bool reserve(net_blobs* blobs, const net_row_template* entry) {
    uint32_t bytes = NET_ROW_BYTES_MAX + 64;
    if (blobs->arena_capacity - blobs->arena_size < bytes) {
        uint32_t capacity = blobs->arena_capacity ? blobs->arena_capacity * 2 : 1u << 16;
        uint8_t* arena =
            base_reallocate(blobs->allocator, blobs->arena, blobs->arena_capacity, capacity);
        if (!arena) return false;
        blobs->arena = arena;
        blobs->arena_capacity = capacity;
    }
    return !blobs->is_counted ||
           base_array_reserve(blobs->allocator, (void**)&blobs->parts, &blobs->part_capacity,
                              blobs->part_count + POINTER_WORDS + entry->layout.component_count,
                              sizeof(uint32_t));
}

// The rows that a key names. Ticks before `tick` by an age that was taken modulo 2^32 are near.
static net_blob_result find_rows(net_blobs* blobs, const net_blob_key* key,
                                 const net_history_entity* entity, const uint64_t** row,
                                 proto_row_base* base) {
    ecs_tick now = blobs->tick;
    *row = net_history_at(entity, now, key->classes, blobs->rows[0]);
    BASE_ASSERT(*row);
    *base = (proto_row_base){.base = entity->entry->defaults};
    if (key->age == 0) return NET_BLOB_OK;
    base->base = net_history_at(entity, now - key->age, key->base_classes, blobs->rows[1]);
    if (!base->base) return NET_BLOB_NO_BASE;
    base->ticks = key->is_settled ? 0 : key->age;
    if (key->d == 0) return NET_BLOB_OK;
    if (net_fault_is_planted(NET_FAULT_SOLO_OTHER) && blobs->is_solo) return NET_BLOB_NO_BASE2;
    base->base2 =
        net_history_at(entity, now - key->age - key->d, key->base2_classes, blobs->rows[2]);
    if (!base->base2) return NET_BLOB_NO_BASE2;
    base->ticks2 = key->d;
    if (net_fault_is_planted(NET_FAULT_WRONG_BASE2)) base->base2 = *row;
    return NET_BLOB_OK;
}

static uint64_t load_code(const uint8_t* data, uint32_t bits) {
    uint64_t word = (uint64_t)data[0] | (uint64_t)data[1] << 8 | (uint64_t)data[2] << 16 |
                    (uint64_t)data[3] << 24 | (uint64_t)data[4] << 32 | (uint64_t)data[5] << 40 |
                    (uint64_t)data[6] << 48 | (uint64_t)data[7] << 56;
    return bits < 64 ? word & ((UINT64_C(1) << bits) - 1) : word;
}

static net_blob_result make(net_blobs* blobs, const net_blob_key* key, net_blob* blob) {
    const net_history_entity* entity = net_history_find(blobs->history, key->index);
    BASE_ASSERT(entity);
    const uint64_t* row;
    proto_row_base base;
    net_blob_result result = find_rows(blobs, key, entity, &row, &base);
    if (result != NET_BLOB_OK) return result;
    if (!reserve(blobs, entity->entry)) return NET_BLOB_NO_MEMORY;
    uint32_t component_bits[PROTO_ROW_COMPONENTS_MAX];
    uint32_t component_count = entity->entry->layout.component_count;
    proto_bit_writer writer = proto_bit_writer_make(blobs->arena + blobs->arena_size,
                                                    blobs->arena_capacity - blobs->arena_size);
    proto_row_write(&entity->entry->layout, &base, row, key->is_listed, &writer,
                    blobs->is_counted ? component_bits : NULL);
    BASE_ASSERT(!writer.failed && writer.size_bits <= UINT16_MAX);
    *blob = (net_blob){.offset = blobs->arena_size,
                       .bits = (uint16_t)writer.size_bits,
                       .head_bits = (uint16_t)writer.size_bits};
    if (blob->bits <= NET_BLOB_INLINE_BITS) {
        blob->code = load_code(writer.data, blob->bits);
    } else {
        size_t bytes = proto_bit_writer_bytes(&writer) + ARENA_ALIGN - 1;
        blobs->arena_size += (uint32_t)(bytes & ~(size_t)(ARENA_ALIGN - 1));
    }
    if (blobs->is_counted) {
        blob->parts_first = blobs->part_count;
        memcpy(&blobs->parts[blobs->part_count], &entity->entry, sizeof entity->entry);
        blobs->part_count += POINTER_WORDS;
        for (uint32_t c = 0; c < component_count; c++) {
            blobs->parts[blobs->part_count++] = component_bits[c];
            blob->head_bits = (uint16_t)(blob->head_bits - component_bits[c]);
        }
    }
    blobs->made++;
    return NET_BLOB_OK;
}

net_blob_result net_blobs_get(net_blobs* blobs, const net_blob_key* key, net_blob* blob) {
    if (blobs->is_solo) return make(blobs, key, blob);
    uint32_t cell = cell_key(blobs, key);
    if (find(blobs, key, cell, blob)) {
        blobs->shared++;
        return NET_BLOB_OK;
    }
    net_blob_result result = make(blobs, key, blob);
    if (result != NET_BLOB_OK) return result;
    if (cell == CELL_NONE && blobs->trio_count < NET_BLOB_TRIOS &&
        find_trio(blobs, key) == UINT32_MAX)
        blobs->trios[blobs->trio_count++] =
            (net_blob_trio){key->classes, key->base_classes, key->base2_classes};
    if (cell != CELL_NONE && put_cell(blobs, key->index, cell, blob)) return NET_BLOB_OK;
    return put_place(blobs, key, blob) ? NET_BLOB_OK : NET_BLOB_NO_MEMORY;
}

bool net_blobs_find_any(net_blobs* blobs, const net_blob_key* key, net_blob* blob) {
    bool is_found = !blobs->is_solo && find(blobs, key, cell_key(blobs, key), blob);
    blobs->shared += is_found;
    return is_found;
}

const uint32_t* net_blobs_component_bits(const net_blobs* blobs, uint32_t parts_first,
                                         const net_row_template** entry) {
    const uint32_t* at = &blobs->parts[parts_first];
    memcpy(entry, at, sizeof *entry);
    return at + POINTER_WORDS;
}
