// SPDX-License-Identifier: MIT
// The middle of a row's vector: what a reader knows before it reads the first bit.
#include "row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char* add_text(char* at, const char* text) {
    size_t length = strlen(text);
    memcpy(at, text, length + 1);
    return at + length;
}

static char* add_number(char* at, uint64_t number, const char* before) {
    return at + sprintf(at, "%s%" PRIu64, before, number);
}

static char* add_kind(char* at, const part_plan* plan) {
    static const char* const letters[] = {
        [PART_QUIET] = "q", [PART_WARM] = "w", [PART_LIVE] = "l", [PART_DRIVEN] = "d"};
    at = add_text(at, letters[plan->kind]);
    return plan->kind == PART_WARM ? add_number(at, (uint64_t)plan->class, "") : at;
}

static char* add_scale(char* at, const row_coder* coder, uint32_t c) {
    int scale = coder->plans[c].scale;
    // The scale of a rotation comes from its parts; row_rotation.c finds it.
    bool is_hidden = scale == SCALE_NONE || coder->layout->shape[c] == SHAPE_ROTATION;
    return is_hidden ? add_text(at, "-") : add_number(at, (uint64_t)scale, "");
}

void row_print_middle(const cf_layout* layout, const cf_bases* bases, const uint64_t* row,
                      char* text) {
    row_coder coder;
    uint8_t nothing[1];
    bit_stream bits = bits_over(nothing, 0);
    row_begin(&coder, layout, bases, &bits);
    memcpy(coder.row, row, layout->element_count * sizeof *row);
    char* at = add_text(text, "kinds=");
    for (uint32_t c = 0; c < layout->component_count; c++)
        at = add_kind(c > 0 ? add_text(at, ",") : at, &coder.plans[c]);
    at = add_text(at, " scales=");
    for (uint32_t c = 0; c < layout->component_count; c++) {
        at = add_scale(c > 0 ? add_text(at, ",") : at, &coder, c);
        if (layout->source[c] >= 0 && coder.h > 0) expect_driven(&coder, c);
    }
    at = add_text(at, " expected=");
    for (uint32_t i = 0; i < layout->element_count; i++)
        at = add_number(at, coder.expected[i], i > 0 ? "," : "");
}
