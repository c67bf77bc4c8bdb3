// SPDX-License-Identifier: MIT
// ROWS.md, "Rotations in rows": unit quaternions as whole numbers.
#include "row.h"

#include <math.h>

enum { PARTS = 4 };

static int64_t root(int64_t square) {
    int64_t made = (int64_t)sqrt((double)square);
    while (made * made > square)
        made--;
    while ((made + 1) * (made + 1) <= square)
        made++;
    return made;
}

static int64_t size_of(int64_t value) {
    return value < 0 ? -value : value;
}

void rotation_spread(const uint64_t* words, int64_t q, int64_t* parts) {
    int64_t rest = 2 * q * q;
    for (int i = 0, w = 1; i < PARTS; i++) {
        if (i == (int)words[0]) continue;
        int64_t part = 2 * (int64_t)words[w++] - q;
        rest -= part * part;
        parts[i] = 16 * part;
    }
    parts[words[0]] = root(rest > 0 ? rest * 256 : 0);
}

void rotation_line(const row_coder* coder, uint32_t component, int64_t* parts, uint64_t* sum) {
    uint32_t first = coder->layout->first[component];
    int64_t q = (int64_t)coder->layout->elements[first + 1].q_max, before[PARTS], product = 0;
    *sum = 0;
    rotation_spread(coder->base + first, q, parts);
    if (!coder->plans[component].is_moving) return;
    rotation_spread(coder->base2 + first, q, before);
    for (int i = 0; i < PARTS; i++)
        product += parts[i] * before[i];
    for (int i = 0; i < PARTS; i++) {
        int64_t step = parts[i] - (product < 0 ? -before[i] : before[i]);
        *sum += (uint64_t)size_of(step);
        parts[i] = parts[i] * coder->d + step * coder->h;
    }
    *sum /= 32;
}

uint64_t rotation_largest(const int64_t* parts, uint64_t largest) {
    int64_t most = 0;
    uint64_t first = 0;
    for (uint64_t i = 0; i < PARTS; i++)
        if (size_of(parts[i]) > most) most = size_of(parts[first = i]);
    return size_of(parts[largest]) < most - most / 32 ? first : largest;
}

int64_t rotation_unit(int64_t q) {
    return root(512 * q * q);
}

void rotation_words(const int64_t* parts, uint64_t largest, int64_t q, uint64_t* words) {
    int64_t square = 0, u = rotation_unit(q);
    for (int i = 0; i < PARTS; i++)
        square += parts[i] * parts[i];
    int64_t n = root(square);
    if (n < 1) n = 1;
    if (parts[largest] < 0) u = -u;
    for (int i = 0, w = 0; i < PARTS; i++) {
        if (i == (int)largest) continue;
        int64_t word = divide_down(parts[i] * u / n + 16 * (q + 1), 32);
        words[w++] = (uint64_t)(word < 0 ? 0 : word > q ? q : word);
    }
}

void code_rotation(row_coder* coder, uint32_t component) {
    const cf_layout* layout = coder->layout;
    uint32_t first = layout->first[component];
    int64_t q = (int64_t)layout->elements[first + 1].q_max;
    int64_t parts[PARTS];
    uint64_t sum;
    rotation_line(coder, component, parts, &sum);
    int scale = coder->h > 0 ? scale_of_motion(coder, sum) : SCALE_NONE;
    uint64_t words[PARTS - 1], largest = coder->base[first];
    if (coder->plans[component].is_moving) largest = rotation_largest(parts, largest);
    bool is_other = coder->is_writing && coder->row[first] != largest;
    rotation_words(parts, largest, q, words);
    code_scaled(coder, first + 1, words[0], scale, &is_other);
    if (is_other) {
        largest = coder->row[first];
        code_bits(coder, &largest, 2);
        rotation_words(parts, largest, q, words);
        code_scaled(coder, first + 1, words[0], scale, NULL);
    }
    coder->row[first] = largest;
    for (uint32_t i = 1; i < PARTS - 1; i++)
        code_scaled(coder, first + 1 + i, words[i], scale, NULL);
    if (!rotation_is_canonical(coder->row + first, (uint64_t)q)) coder->bits->failed = true;
}
