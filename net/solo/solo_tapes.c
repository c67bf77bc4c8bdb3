// SPDX-License-Identifier: MIT
#include "solo/solo_tapes.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

_Static_assert(PROTO_SOLO_TAPE_WORDS <= UINT8_MAX, "its words are counted in a byte");

net_solo_tapes* net_solo_tapes_create(const base_allocator* allocator) {
    net_solo_tapes* made = base_allocate_zero(allocator, sizeof *made);
    if (made) made->allocator = allocator;
    return made;
}

void net_solo_tapes_destroy(net_solo_tapes* tapes) {
    if (!tapes) return;
    base_table_deinit(&tapes->table, tapes->allocator);
    BASE_ARRAY_RELEASE(tapes->allocator, tapes->tapes, tapes->capacity);
    BASE_ARRAY_RELEASE(tapes->allocator, tapes->words, tapes->word_capacity);
    base_release(tapes->allocator, tapes, sizeof *tapes);
}

void net_solo_tapes_begin(net_solo_tapes* tapes, uint64_t step) {
    if (tapes->step == step) return;
    tapes->step = step;
    tapes->count = tapes->word_count = 0;
    if (tapes->table.count > 0) base_table_clear(&tapes->table);
}

net_solo_tape_key net_solo_tapes_key(const net_encoded_row_key* row, uint32_t third_age) {
    BASE_ASSERT(third_age <= UINT16_MAX);
    return (net_solo_tape_key){net_encoded_row_key_low(row),
                               net_encoded_row_trio(row) | (uint64_t)third_age << 48};
}

static bool is_of(const net_solo_tape* tape, net_solo_tape_key key) {
    return tape->key.low == key.low && tape->key.high == key.high;
}

static uint64_t hash_of(net_solo_tape_key key) {
    return base_hash64_mix(key.low, key.high);
}

const net_solo_tape* net_solo_tapes_find(const net_solo_tapes* tapes, net_solo_tape_key key,
                                         const proto_solo_model* model) {
    uint32_t cursor = 0, at, taken = 0;
    bool is_asked = false;
    while ((at = base_table_next(&tapes->table, hash_of(key), &cursor)) != BASE_TABLE_NONE) {
        const net_solo_tape* tape = &tapes->tapes[at];
        if (!is_of(tape, key)) continue;
        // The guesses themselves are those of the key.
        if (!is_asked)
            taken = proto_solo_take_guesses(model, &tapes->words[tape->first], tape->guess_count);
        is_asked = true;
        if (tape->taken == taken) return tape;
    }
    return NULL;
}

void net_solo_tapes_keep(net_solo_tapes* tapes, net_solo_tape_key key, bool has_third) {
    const proto_solo_tape* made = &tapes->recorded;
    const uint32_t words = made->guess_count + made->word_count;
    uint32_t cursor = 0, at, forms = 0;
    while ((at = base_table_next(&tapes->table, hash_of(key), &cursor)) != BASE_TABLE_NONE)
        forms += is_of(&tapes->tapes[at], key);
    if (!made->is_whole || forms == NET_SOLO_TAPE_FORMS_MAX || tapes->count == NET_SOLO_TAPES_MAX ||
        tapes->word_count + words > NET_SOLO_TAPE_WORDS_MAX)
        return;
    if (!base_table_reserve(&tapes->table, tapes->allocator, tapes->count + 1) ||
        !BASE_ARRAY_RESERVE(tapes->allocator, tapes->tapes, tapes->capacity, tapes->count + 1) ||
        !BASE_ARRAY_RESERVE(tapes->allocator, tapes->words, tapes->word_capacity,
                            tapes->word_count + words))
        return;
    base_table_add(&tapes->table, hash_of(key), tapes->count);
    tapes->tapes[tapes->count++] = (net_solo_tape){.key = key,
                                                   .first = tapes->word_count,
                                                   .taken = made->taken,
                                                   .guess_count = (uint8_t)made->guess_count,
                                                   .word_count = (uint8_t)made->word_count,
                                                   .has_third = has_third};
    uint64_t* to = &tapes->words[tapes->word_count];
    memcpy(to, made->guesses, made->guess_count * sizeof *to);
    memcpy(to + made->guess_count, made->words, made->word_count * sizeof *to);
    tapes->word_count += words;
}

void net_solo_tapes_play(const net_solo_tapes* tapes, const net_solo_tape* tape,
                         proto_solo_coder* coder) {
    proto_solo_play(coder, &tapes->words[tape->first + tape->guess_count], tape->word_count);
}
