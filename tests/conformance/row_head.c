// SPDX-License-Identifier: MIT
// ROWS.md, "Head": which components are coded. Exceptions begin with five zeros and come first.
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

static void code_warm(row_coder* coder) {
    uint32_t count = coder->warm_count, symbol = 0;
    if (count == 0) return;
    int classes[WARM_MAX] = {0};
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = coder->plans[coder->warm[i]].class;
        symbol |= (uint32_t)coder->is_coded[coder->warm[i]] << i;
    }
    uint32_t place = row_of_classes(classes, count, CLASSES);
    code_symbol(coder, &coder->layout->tables->rows[TABLE_HEAD][place], &symbol);
    for (uint32_t i = 0; i < count; i++)
        coder->is_coded[coder->warm[i]] = symbol >> i & 1;
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
    fail_if(coder, zeros != 0);
    uint64_t is_hidden = 0;
    if (coder->is_bare) code_bits(coder, &is_hidden, 1);
    if (is_hidden) return;
    coder->has_exceptions = true;
    fail_if(coder, coder->quiet_count == 0);
    if (!coder->bits->failed) code_quiet(coder, false);
}

bool row_is_hidden(const row_coder* coder, bit_stream before) {
    bit_stream ahead = *coder->bits;
    ahead.at = before.at;
    return coder->is_bare && !coder->has_exceptions && bits_read(&ahead, ESCAPE_BITS) == 0;
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
        return;
    }
    coder->is_bare = coder->warm_count == 0;
    code_exceptions(coder);
    code_warm(coder);
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        if (coder->plans[c].kind != PART_QUIET || !is_led(coder, c)) continue;
        coder->plans[c].kind = PART_DRIVEN;
        coder->is_coded[c] = true;
    }
}
