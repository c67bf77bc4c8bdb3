// SPDX-License-Identifier: MIT
// The head of a row: which components are coded (WIRE.md, "Head").
//
// Certain facts take no bits. Quiet components that differ are an exception; its code 00000 is one
// that every first symbol leaves free. Warm components share a symbol.
#include "row/row_coder.h"

enum { MASK_GROUP = 4, MASK_MEMBERS_MAX = 64 };

// Code a mask of `count` members. `is_first`: it is the first symbol of the row and may be 0;
// otherwise it is not 0.
static uint64_t code_mask(row_coder* coder, uint64_t mask, uint32_t count, bool is_first) {
    if (count <= MASK_GROUP) {
        if (is_first) {
            const uint16_t* codes = coder->tables->mask_first[count > 0 ? count - 1 : 0];
            return row_symbol(coder, codes, 1u << (count > 0 ? count : 1), (uint32_t)mask);
        }
        if (count == 1) return 1;
        return row_symbol(coder, coder->tables->mask_other[count - 2], 1u << count, (uint32_t)mask);
    }
    BASE_ASSERT(count <= MASK_MEMBERS_MAX);
    uint32_t groups = (count + MASK_GROUP - 1) / MASK_GROUP;
    uint64_t set = 0, result = 0;
    for (uint32_t g = 0; g < groups; g++)
        set |= (uint64_t)((mask >> (g * MASK_GROUP) & 15) != 0) << g;
    set = code_mask(coder, set, groups, is_first);
    for (uint32_t g = 0; g < groups; g++) {
        if (!(set >> g & 1)) continue;
        uint32_t first = g * MASK_GROUP;
        uint32_t size = count - first < MASK_GROUP ? count - first : MASK_GROUP;
        result |= code_mask(coder, mask >> first & 15, size, false) << first;
    }
    return result;
}

// Above 64 fields there is a mask for each 64, with a bit in front: the mask is not 0.
void proto_row_field_masks(row_coder* coder, uint64_t* masks, uint32_t count) {
    if (count > 1 && count <= MASK_GROUP) {
        const uint16_t* codes = coder->tables->field[count - 2];
        masks[0] = row_symbol(coder, codes, 1u << count, (uint32_t)masks[0]);
        return;
    }
    if (count <= 64) {
        masks[0] = code_mask(coder, masks[0], count, false);
        return;
    }
    for (uint32_t i = 0; i < count; i += 64) {
        bool is_set = row_bits(coder, masks[i / 64] != 0, 1);
        masks[i / 64] =
            is_set ? code_mask(coder, masks[i / 64], count - i < 64 ? count - i : 64, false) : 0;
    }
}

// A quiet component whose source is coded is coded with it.
static bool is_led(const row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    return component->is_driven && coder->ticks > 0 &&
           coder->plans[component->integral - 1].is_coded;
}

// Run after the head: only then a reader knows which sources are coded.
static void follow_sources(row_coder* coder) {
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        if (coder->plans[c].kind != ROW_QUIET || !is_led(coder, c)) continue;
        coder->plans[c].kind = ROW_DRIVEN;
        coder->plans[c].is_coded = true;
    }
}

// Code the mask of the quiet components that are not empty. `is_first`: it is the whole head.
static void code_quiet(row_coder* coder, bool is_first) {
    uint8_t members[PROTO_ROW_COMPONENTS_MAX];
    uint32_t count = 0;
    uint64_t mask = 0;
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        if (coder->plans[c].kind != ROW_QUIET) continue;
        if (coder->layout->components[c].shape == SHAPE_EMPTY) continue;
        mask |= (uint64_t)coder->plans[c].is_coded << count;
        members[count++] = (uint8_t)c;
    }
    if (count == 0 && !is_first) {
        BASE_ASSERT(coder->reader); // a writer has no exception then
        coder->reader->failed = true;
        return;
    }
    mask = code_mask(coder, mask, count, is_first);
    if (coder->reader && count == 0 && mask != 0) coder->reader->failed = true;
    for (uint32_t i = 0; i < count; i++)
        coder->plans[members[i]].is_coded = mask >> i & 1;
}

static bool is_quiet_coded(const row_coder* coder) {
    for (uint32_t c = 0; c < coder->layout->component_count; c++)
        if (coder->plans[c].kind == ROW_QUIET && coder->plans[c].is_coded && !is_led(coder, c))
            return true;
    return false;
}

void proto_row_head(row_coder* coder) {
    if (coder->warm_count == 0 && !coder->is_any_certain) {
        code_quiet(coder, true);
        coder->is_first = false;
        return;
    }
    bool is_exception;
    if (coder->writer) {
        is_exception = is_quiet_coded(coder);
        if (is_exception) row_put(coder, 0, ROW_RESERVED_BITS + 1);
    } else {
        is_exception = (row_peek(coder->reader) & row_mask(ROW_RESERVED_BITS)) == 0;
        if (is_exception && proto_bits_read(coder->reader, ROW_RESERVED_BITS + 1) != 0)
            coder->reader->failed = true;
    }
    if (is_exception) code_quiet(coder, false);
    uint32_t count = coder->warm_count, symbol = 0, classes[ROW_WARM_MAX];
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = coder->plans[coder->warm[i]].class_;
        symbol |= (uint32_t)coder->plans[coder->warm[i]].is_coded << i;
    }
    if (count > 0) {
        const uint16_t* codes = coder->tables->head[row_head_row(classes, count)];
        symbol = row_symbol(coder, codes, 1u << count, symbol);
        coder->is_first = false;
    }
    for (uint32_t i = 0; i < count; i++)
        coder->plans[coder->warm[i]].is_coded = symbol >> i & 1;
    follow_sources(coder);
}
