// SPDX-License-Identifier: MIT
// WIRE.md, "Head": which components are coded. Exceptions begin with five zeros and come first.
#include "row.h"

enum { ESCAPE_BITS = 5, GROUP = 4 };

static void fail_if(row_coder* coder, bool is_bad) {
    if (is_bad) coder->bits->failed = true;
}

static uint64_t all_of(uint32_t count) {
    return UINT64_MAX >> (64 - count);
}

static void code_small_mask(row_coder* coder, uint32_t count, uint64_t* mask, bool may_be_none) {
    const cf_tables* tables = coder->layout->tables;
    uint32_t symbol = (uint32_t)*mask;
    if (count == 1 && !may_be_none) {
        *mask = 1;
        return;
    }
    if (may_be_none)
        code_symbol(coder, &tables->rows[TABLE_MASK_FIRST][count > 1 ? count - 1 : 0], &symbol);
    else
        code_symbol(coder, &tables->rows[TABLE_MASK_OTHER][count - 2], &symbol);
    fail_if(coder, count == 0 && symbol != 0);
    fail_if(coder, symbol == 0 && !may_be_none);
    *mask = coder->bits->failed ? 0 : symbol;
}

void code_mask(row_coder* coder, uint32_t count, uint64_t* mask, bool may_be_none) {
    if (count <= GROUP) {
        code_small_mask(coder, count, mask, may_be_none);
        return;
    }
    uint32_t group_count = (count + GROUP - 1) / GROUP;
    uint64_t groups = 0, whole = 0;
    for (uint32_t g = 0; g < group_count; g++)
        if (*mask >> (g * GROUP) & all_of(GROUP)) groups |= UINT64_C(1) << g;
    code_mask(coder, group_count, &groups, may_be_none);
    for (uint32_t g = 0; g < group_count && !coder->bits->failed; g++) {
        if (!(groups >> g & 1)) continue;
        uint32_t rest = count - g * GROUP;
        uint64_t members = *mask >> (g * GROUP) & all_of(GROUP);
        code_mask(coder, rest < GROUP ? rest : GROUP, &members, false);
        whole |= members << (g * GROUP);
    }
    *mask = whole;
}

static void code_quiet(row_coder* coder, bool may_be_none) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < coder->quiet_count; i++)
        if (coder->is_coded[coder->quiet[i]]) mask |= UINT64_C(1) << i;
    code_mask(coder, coder->quiet_count, &mask, may_be_none);
    for (uint32_t i = 0; i < coder->quiet_count; i++)
        coder->is_coded[coder->quiet[i]] = mask >> i & 1;
}

uint32_t row_of_classes(const int* classes, uint32_t count, int class_count) {
    uint32_t row = 0;
    for (uint32_t n = 1; n <= count; n++)
        for (int a = 0; a < class_count; a++)
            for (int b = n >= 2 ? a : 0; b < (n >= 2 ? class_count : 1); b++)
                for (int c = n >= 3 ? b : 0; c < (n >= 3 ? class_count : 1); c++, row++)
                    if (n == count && a == classes[0] && (n < 2 || b == classes[1]) &&
                        (n < 3 || c == classes[2]))
                        return row;
    return 0;
}

static void code_lead(row_coder* coder) {
    const cf_layout* layout = coder->layout;
    const cf_tables* tables = layout->tables;
    uint32_t field = layout->first[coder->lead], bits = layout->elements[field].bits;
    int scale = coder->plans[coder->lead].scale;
    uint64_t expected = coder->expected[field];
    int64_t difference = words_apart(coder->row[field], expected, bits);
    uint64_t size = difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
    uint64_t is_negative = difference < 0;
    uint32_t small = size < 4 ? (uint32_t)size : 4, place = (uint32_t)scale;
    if (coder->warm_count > 0)
        place += LEAD_SCALE_END * ((uint32_t)coder->plans[coder->warm[0]].class + 1);
    bool has_coded = coder->warm_count > 0 && coder->is_coded[coder->warm[0]];
    uint32_t symbol = small + (has_coded ? 5 : 0);
    code_symbol(coder, &tables->rows[coder->has_moving ? TABLE_LEAD : TABLE_LEAD_REST][place],
                &symbol);
    if (coder->warm_count > 0) coder->is_coded[coder->warm[0]] = symbol >= 5;
    fail_if(coder, coder->warm_count == 0 && symbol >= 5);
    small = symbol % 5;
    if (small >= 1 && small <= 3) {
        code_bits(coder, &is_negative, 1);
        difference = is_negative ? -(int64_t)small : (int64_t)small;
    } else if (small == 4) {
        cf_number number = {
            .difference = difference < 0 ? difference + 3 : difference - 4,
        };
        number.word = words_add(expected, number.difference, bits);
        code_number(coder, &tables->rows[TABLE_NUMBER_PLAIN][scale], bits, &number);
        fail_if(coder, number.is_other);
        if (!number.is_word) number.word = words_add(expected, number.difference, bits);
        number.difference = words_apart(number.word, expected, bits);
        difference = number.difference + (number.difference < 0 ? -3 : 4);
    } else {
        difference = 0;
    }
    if (!coder->is_writing) coder->row[field] = words_add(expected, difference, bits);
}

static void code_warm(row_coder* coder) {
    uint32_t first = coder->lead >= 0 ? 1 : 0, symbol = 0;
    if (coder->warm_count <= first) return;
    uint32_t count = coder->warm_count - first;
    int classes[WARM_MAX] = {0};
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = coder->plans[coder->warm[first + i]].class;
        symbol |= (uint32_t)coder->is_coded[coder->warm[first + i]] << i;
    }
    uint32_t place = row_of_classes(classes, count, CLASSES);
    code_symbol(
        coder,
        &coder->layout->tables->rows[coder->has_moving ? TABLE_HEAD : TABLE_HEAD_REST][place],
        &symbol);
    for (uint32_t i = 0; i < count; i++)
        coder->is_coded[coder->warm[first + i]] = symbol >> i & 1;
}

// A quiet component whose source is coded is no exception.
static bool is_led(const row_coder* coder, uint32_t c) {
    int source = coder->layout->source[c];
    return coder->h > 0 && source >= 0 && coder->is_coded[source];
}

static void code_exceptions(row_coder* coder) {
    bool is_any = false;
    if (coder->is_writing) {
        for (uint32_t i = 0; i < coder->quiet_count; i++)
            is_any |= coder->is_coded[coder->quiet[i]] && !is_led(coder, coder->quiet[i]);
    } else {
        bit_stream ahead = *coder->bits;
        is_any = bits_read(&ahead, ESCAPE_BITS) == 0 && !ahead.failed;
    }
    if (!is_any) return;
    uint64_t zeros = 0;
    code_bits(coder, &zeros, ESCAPE_BITS + 1);
    fail_if(coder, zeros != 0 || coder->quiet_count == 0);
    if (!coder->bits->failed) code_quiet(coder, false);
}

void code_head(row_coder* coder) {
    bool has_previous = coder->warm_count > 0;
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        part_kind kind = coder->plans[c].kind;
        if (kind == PART_QUIET || kind == PART_WARM) continue;
        coder->is_coded[c] = true;
        has_previous = true;
    }
    if (!has_previous) {
        code_quiet(coder, true);
        coder->is_first = false;
        return;
    }
    code_exceptions(coder);
    if (coder->lead >= 0) code_lead(coder);
    code_warm(coder);
    if (coder->lead >= 0 || coder->warm_count > 0) coder->is_first = false;
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        if (coder->plans[c].kind != PART_QUIET || !is_led(coder, c)) continue;
        coder->plans[c].kind = PART_DRIVEN;
        coder->is_coded[c] = true;
    }
}
