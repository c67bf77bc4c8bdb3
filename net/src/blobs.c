// SPDX-License-Identifier: MIT
// Coded rows are found by a hash of their key in a table of half cache lines; the bits lie in an arena, each
// blob from a multiple of 8 bytes, so that appending moves whole words. A tick begins by raising the stamp:
// entries of another stamp are empty, so nothing is cleared.
//
// The key names ticks by their age, never rows by their place, and all that the code depends on is in it;
// that is why sharing cannot change a bit. `is_solo` forgets what it made and proves it (a test compares).
// Left to others: which base to take (view_body.c).
#include "blobs.h"

#include "base/assert.h"

#include <string.h>

enum { TABLE_BITS_MIN = 8, ARENA_ALIGN = 8, POINTER_WORDS = sizeof(void*) / sizeof(uint32_t) };

void net_blobs_init(net_blobs* blobs, const base_allocator* allocator, const net_history* history,
                    bool is_solo, bool is_counted) {
    memset(blobs, 0, sizeof *blobs);
    blobs->allocator = allocator;
    blobs->history = history;
    blobs->is_solo = is_solo;
    blobs->is_counted = is_counted;
}

void net_blobs_deinit(net_blobs* blobs) {
    if (blobs->table)
        base_release(blobs->allocator, blobs->table, sizeof(net_blob) << blobs->table_bits);
    base_release(blobs->allocator, blobs->arena, blobs->arena_capacity);
    base_release(blobs->allocator, blobs->parts, blobs->part_capacity * sizeof *blobs->parts);
    memset(blobs, 0, sizeof *blobs);
}

static bool grow_table(net_blobs* blobs, uint32_t bits);

bool net_blobs_begin(net_blobs* blobs, ecs_tick tick) {
    blobs->tick = tick;
    blobs->count = 0;
    blobs->arena_size = 0;
    blobs->part_count = 0;
    if (!blobs->table && !grow_table(blobs, TABLE_BITS_MIN)) return false;
    if (++blobs->stamp ==
        0) { // after 2^32 ticks: what is left of the first ones must not come back
        memset(blobs->table, 0, sizeof(net_blob) << blobs->table_bits);
        blobs->stamp = 1;
    }
    return true;
}

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

static net_blob* find_place(const net_blobs* blobs, uint64_t low, uint64_t high) {
    uint32_t mask = (1u << blobs->table_bits) - 1;
    uint32_t at = hash_of(low, high, blobs->table_bits);
    while (blobs->table[at].stamp == blobs->stamp &&
           (blobs->table[at].low != low || blobs->table[at].high != high))
        at = (at + 1) & mask;
    return &blobs->table[at];
}

static bool grow_table(net_blobs* blobs, uint32_t bits) {
    net_blob* table = base_allocate_zero(blobs->allocator, sizeof *table << bits);
    if (!table) return false;
    net_blob* old = blobs->table;
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

void net_blobs_prefetch(const net_blobs* blobs, const net_blob_key* key) {
    __builtin_prefetch(&blobs->table[hash_of(key_low(key), key_high(key), blobs->table_bits)]);
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
    base->base2 =
        net_history_at(entity, now - key->age - key->d, key->base2_classes, blobs->rows[2]);
    if (!base->base2) return NET_BLOB_NO_BASE2;
    base->ticks2 = key->d;
    return NET_BLOB_OK;
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
    *blob = (net_blob){.low = key_low(key),
                       .high = key_high(key),
                       .stamp = blobs->stamp,
                       .offset = blobs->arena_size,
                       .bits = (uint16_t)writer.size_bits,
                       .head_bits = (uint16_t)writer.size_bits};
    size_t bytes = proto_bit_writer_bytes(&writer) + ARENA_ALIGN - 1;
    blobs->arena_size += (uint32_t)(bytes & ~(size_t)(ARENA_ALIGN - 1));
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
    net_blob* place = find_place(blobs, key_low(key), key_high(key));
    if (place->stamp == blobs->stamp) {
        blobs->shared++;
        *blob = *place;
        return NET_BLOB_OK;
    }
    if (blobs->count >= 1u << (blobs->table_bits - 1)) {
        if (!grow_table(blobs, blobs->table_bits + 1)) return NET_BLOB_NO_MEMORY;
        place = find_place(blobs, key_low(key), key_high(key));
    }
    net_blob_result result = make(blobs, key, blob);
    if (result != NET_BLOB_OK) return result;
    *place = *blob;
    blobs->count++;
    return NET_BLOB_OK;
}

const uint32_t* net_blobs_component_bits(const net_blobs* blobs, const net_blob* blob,
                                         const net_row_template** entry) {
    const uint32_t* at = &blobs->parts[blob->parts_first];
    memcpy(entry, at, sizeof *entry);
    return at + POINTER_WORDS;
}
