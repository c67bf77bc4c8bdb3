// SPDX-License-Identifier: MIT
// What the encoder writes rarely: exceptions of the head, and components that differ although they
// were expected to rest or to stay on their line.
#include "row/encoder.h"

enum { INDEX_BITS = 22, GENERATION_BITS = 10, INDEX_ORDER = 7, MASK_GROUP = 4 };

// Write a mask of `count` members. `is_first`: it is the first symbol of the row and may be 0;
// otherwise it is not 0.
static void write_mask(row_encoder* e, uint64_t mask, uint32_t count, bool is_first) {
    if (count <= MASK_GROUP) {
        if (is_first) encoder_code(e, e->tables->mask_first[count > 0 ? count - 1 : 0][mask]);
        if (!is_first && count > 1) encoder_code(e, e->tables->mask_other[count - 2][mask]);
        return;
    }
    uint32_t groups = (count + MASK_GROUP - 1) / MASK_GROUP;
    uint64_t set = 0;
    for (uint32_t g = 0; g < groups; g++)
        set |= (uint64_t)((mask >> (g * MASK_GROUP) & 15) != 0) << g;
    write_mask(e, set, groups, is_first);
    for (uint32_t first = 0; first < count; first += MASK_GROUP) {
        uint64_t members = mask >> first & 15;
        uint32_t size = count - first < MASK_GROUP ? count - first : MASK_GROUP;
        if (members) write_mask(e, members, size, false);
    }
}

static bool is_quiet(const row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    if (e->ticks == 0) return part->words != 0;
    if (part->shape == SHAPE_MIXED) return (e->moved & part->words) == 0 || e->cooled >> c & 1;
    return part->words != 0 && e->plans[c].kind == ROW_QUIET;
}

void proto_encoder_quiet(row_encoder* e, bool is_first) {
    uint32_t count = 0;
    uint64_t mask = 0;
    for (uint32_t c = 0; c < e->layout->component_count; c++) {
        if (!is_quiet(e, c)) continue;
        mask |= (e->coded >> e->layout->plan.parts[c].place & 1) << count;
        count++;
    }
    write_mask(e, mask, count, is_first);
}

static void write_golomb(row_encoder* e, uint32_t value, uint32_t order) {
    uint32_t u = value + (1u << order), low = 31 - (uint32_t)__builtin_clz(u);
    encoder_put(e, UINT64_C(1) << (low - order), low - order + 1);
    encoder_put(e, u & ((1u << low) - 1), low);
}

static void write_entity(row_encoder* e, uint32_t word) {
    encoder_put(e, word == 0, 1);
    if (word == 0) return;
    uint32_t generation = word >> INDEX_BITS;
    write_golomb(e, word & ((1u << INDEX_BITS) - 1), INDEX_ORDER);
    encoder_put(e, generation == 1, 1);
    if (generation != 1) encoder_put(e, generation, GENERATION_BITS);
}

static void write_field(row_encoder* e, int32_t scale, uint32_t f, int32_t off) {
    uint32_t codes = encoder_word(e, f)->codes;
    if (codes == ENCODER_BIT) return; // it is the other one
    if (codes == ENCODER_ENTITY) {
        write_entity(e, e->row[f]);
        return;
    }
    if (codes == ENCODER_SCALED) codes = scale < 0 ? PROTO_NUMBER_WIDE : (uint32_t)scale;
    (void)proto_encoder_number(e, e->tables->number_other[codes], f, off, e->row[f]);
}

void proto_encoder_fields(row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    bool is_mixed = part->shape == SHAPE_MIXED;
    uint32_t first = part->first, count = part->count;
    int32_t scale = is_mixed ? -1 : e->plans[c].scale;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t f = first + i;
        if (is_mixed)
            e->off[f] = encoder_difference(e->row[f], e->base[f], encoder_word(e, f)->shift);
        mask |= (uint64_t)(e->off[f] != 0) << i;
    }
    if (count == 1) {
        write_field(e, scale, first, e->off[first]);
        return;
    }
    if (count <= MASK_GROUP)
        encoder_code(e, e->tables->field[count - 2][mask]);
    else
        write_mask(e, mask, count, false);
    for (; mask; mask &= mask - 1) {
        uint32_t f = first + (uint32_t)__builtin_ctzll(mask);
        write_field(e, scale, f, e->off[f]);
    }
}
