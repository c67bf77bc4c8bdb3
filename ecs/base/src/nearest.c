// SPDX-License-Identifier: MIT
// The name that a user probably meant. The distance is optimal string alignment: insertions,
// deletions, replacements and swaps of neighbours count one each. Swaps count one because they are
// the most frequent typing mistake.
#include "base/assert.h"
#include "base/text.h"

#include <string.h>

enum { WORD_BYTES_MAX = 64 };

static uint32_t minimum(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t distance(const char* a, uint32_t a_size, const char* b, uint32_t b_size) {
    uint32_t rows[3][WORD_BYTES_MAX + 1];
    uint32_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (uint32_t j = 0; j <= b_size; j++)
        last[j] = before[j] = j;
    for (uint32_t i = 1; i <= a_size; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= b_size; j++) {
            uint32_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = minimum(replaced, 1 + minimum(last[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = minimum(row[j], before[j - 2] + 1);
        }
        uint32_t* reused = before;
        before = last;
        last = row;
        row = reused;
    }
    return last[b_size];
}

base_nearest base_nearest_begin(const char* word) {
    BASE_ASSERT(word);
    return (base_nearest){.word = word,
                          .distance = (uint32_t)strnlen(word, WORD_BYTES_MAX) / 2 + 1};
}

void base_nearest_offer(base_nearest* nearest, const char* candidate) {
    size_t word_size = strlen(nearest->word), size = strlen(candidate);
    if (word_size > WORD_BYTES_MAX || size > WORD_BYTES_MAX) return;
    uint32_t found = distance(nearest->word, (uint32_t)word_size, candidate, (uint32_t)size);
    if (found >= nearest->distance) return;
    nearest->found = candidate;
    nearest->distance = found;
}

const char* base_nearest_hint(const base_nearest* nearest, char hint[BASE_HINT_BYTES]) {
    hint[0] = '\0';
    if (nearest->found)
        (void)base_text_format(hint, BASE_HINT_BYTES, ", did you mean '%s'?", nearest->found);
    return hint;
}

const char* base_text_nearest(const char* word, const char* const* candidates, uint32_t count) {
    BASE_ASSERT(word && (candidates || count == 0));
    base_nearest nearest = base_nearest_begin(word);
    for (uint32_t i = 0; i < count; i++)
        base_nearest_offer(&nearest, candidates[i]);
    return nearest.found;
}
