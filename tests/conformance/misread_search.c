// SPDX-License-Identifier: MIT
// Random rows near what is expected of them: most rules matter only there.
#include "misread_search.h"

#include "row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES_MAX = 512,
    BITS_BYTES_MAX = 256,
    MISREADINGS_MAX = 512,
    ROTATION_BITS = 9,
    PARTS_MAX = 6
};

typedef struct search_case {
    char layout_text[TEXT_BYTES_MAX];
    cf_layout layout;
    uint64_t base[ELEMENTS_MAX], base2[ELEMENTS_MAX], row[ELEMENTS_MAX];
    bool has_base2;
    uint32_t h, d;
    uint8_t data[BITS_BYTES_MAX], spoilt[BITS_BYTES_MAX];
    bit_stream bits;
} search_case;

// SplitMix64 (Steele, Lea, Flood, 2014).
static uint64_t next(uint64_t* chance) {
    uint64_t z = *chance += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint32_t below(uint64_t* chance, uint32_t limit) {
    return (uint32_t)(next(chance) >> 33) % limit;
}

// A number whose size is spread evenly over the octaves up to `octaves`; 0 in one of four cases.
static int64_t spread_number(uint64_t* chance, uint32_t octaves) {
    if (below(chance, 4) == 0) return 0;
    int64_t size = (int64_t)(next(chance) >> (63 - below(chance, octaves)));
    return below(chance, 2) ? -size : size;
}

static void choose_layout(search_case* made, uint32_t count_max, uint64_t* chance) {
    static const char* const parts[] = {"x",
                                        "b",
                                        "i",
                                        "u",
                                        "e",
                                        "q",
                                        "q+q",
                                        "q+q+q",
                                        "v",
                                        "v+v",
                                        "v,s",
                                        "v+v,s+s",
                                        "v+v+v,s+s+s",
                                        "r",
                                        "q+b",
                                        "u+q",
                                        "q+q+q+q+q",
                                        "b+b+b",
                                        "v+v+v+v,s+s+s+s",
                                        "b+u+b+u+b",
                                        "v+q+v",
                                        "r",
                                        "q",
                                        "q+q",
                                        "y,s",
                                        "y+y,s+s",
                                        "v,s,s",
                                        "w",
                                        "w+w",
                                        "-",
                                        "v,z"};
    static const char many[] =
        "b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+"
        "b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+u";
    uint32_t count = 1 + below(chance, count_max);
    made->layout_text[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) strcat(made->layout_text, ",");
        strcat(made->layout_text, below(chance, 200) == 0 && count == 1
                                      ? many
                                      : parts[below(chance, sizeof parts / sizeof *parts)]);
    }
    vector_layout(made->layout_text, &made->layout);
}

static uint64_t limited(const cf_element* element, int64_t word) {
    int64_t most = element->q_max > INT64_MAX ? INT64_MAX : (int64_t)element->q_max;
    return word < 0 ? 0 : (uint64_t)(word > most ? most : word);
}

static uint64_t any_word(const cf_element* element, uint64_t* chance) {
    if (element->kind == K_ENTITY)
        return below(chance, 3) == 0
                   ? 0
                   : (uint64_t)(1 + below(chance, 3)) << 22 | (1 + below(chance, 5000));
    if (element->bits == 12 && below(chance, 2)) return 2048 + (uint64_t)below(chance, 40) - 20;
    if (element->bits == 12) return 1024 + below(chance, 2048);
    if (element->is_exact && element->bits == 32 && below(chance, 2)) return below(chance, 1000);
    return element_canonical(element, next(chance) & (UINT64_MAX >> (64 - element->bits)));
}

static void turn(float parts[4], const float by[4], float ticks) {
    double square = 0;
    for (int i = 0; i < 4; i++) {
        parts[i] += by[i] * ticks;
        square += (double)parts[i] * (double)parts[i];
    }
    for (int i = 0; i < 4; i++)
        parts[i] = (float)((double)parts[i] / sqrt(square));
}

static float signed_part(uint64_t* chance, float most) {
    return ((float)below(chance, 2001) / 1000 - 1) * most;
}

static void choose_rotation(search_case* made, uint32_t c, uint64_t* chance) {
    uint32_t first = made->layout.first[c];
    float parts[4], by[4] = {0}, size = ldexpf(1, -(int)below(chance, 12));
    bool rests = below(chance, 4) == 0;
    for (int i = 0; i < 4; i++) {
        parts[i] = signed_part(chance, 1);
        by[i] = rests ? 0 : signed_part(chance, size);
    }
    if (below(chance, 6) == 0) parts[1] = parts[0];
    if (below(chance, 6) == 0) parts[2] = -parts[0];
    if (below(chance, 6) == 0) {
        parts[2] = parts[1];
        by[2] = by[1];
    }
    turn(parts, by, 0);
    rotation_quantise(parts, ROTATION_BITS, made->base2 + first);
    turn(parts, by, (float)(made->d ? made->d : 1));
    rotation_quantise(parts, ROTATION_BITS, made->base + first);
    for (int i = 0; i < 4 && below(chance, 3) == 0; i++)
        by[i] += signed_part(chance, size / 4);
    turn(parts, by, (float)(made->h ? made->h : 1));
    rotation_quantise(parts, ROTATION_BITS, made->row + first);
}

// The rows of all components that have no source and are no rotations; `row` gets a difference from
// what is expected later.
static void choose_bases(search_case* made, uint64_t* chance) {
    const cf_layout* layout = &made->layout;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        if (layout->shape[c] == SHAPE_ROTATION) {
            choose_rotation(made, c, chance);
            continue;
        }
        bool rests = below(chance, 3) == 0;
        for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
            const cf_element* element = &layout->elements[i];
            made->base[i] = made->base2[i] = any_word(element, chance);
            if (rests || below(chance, 5) == 0) continue;
            if (layout->shape[c] == SHAPE_LINEAR)
                made->base2[i] =
                    limited(element, (int64_t)made->base[i] -
                                         spread_number(chance, below(chance, 10) == 0 ? 15 : 9) *
                                             (int64_t)(made->d ? made->d : 1));
            else if (below(chance, 4) == 0)
                made->base2[i] = any_word(element, chance);
        }
    }
}

// An integral went as far as its source says, or one or two steps beside it.
static void choose_integral(search_case* made, uint32_t c, uint64_t* chance) {
    const cf_layout* layout = &made->layout;
    uint32_t source = layout->first[layout->source[c]], own = layout->first[c];
    int64_t d = made->d ? made->d : 1;
    for (uint32_t i = 0; i < layout->count[c]; i++) {
        int64_t k = layout->drive[own + i], z = layout->drive_zero[own + i];
        int64_t v1 = (int64_t)made->base[source + i] * k + z,
                v2 = (int64_t)made->base2[source + i] * k + z;
        int64_t way = divide_down((d - 1) * v2 + (d + 1) * v1, INT64_C(2) << 20);
        if (below(chance, 3) == 0) way += spread_number(chance, below(chance, 4) == 0 ? 10 : 2);
        made->base2[own + i] =
            limited(&layout->elements[own + i], (int64_t)made->base[own + i] - way);
    }
}

static void choose_row(search_case* made, const cf_bases* bases, uint64_t* chance) {
    const cf_layout* layout = &made->layout;
    row_coder coder;
    row_begin(&coder, layout, bases, &made->bits);
    for (int is_driven = 0; is_driven < 2; is_driven++)
        for (uint32_t c = 0; c < layout->component_count; c++) {
            if ((layout->source[c] >= 0) != is_driven || layout->shape[c] == SHAPE_ROTATION)
                continue;
            memcpy(coder.row, made->row, sizeof coder.row);
            if (is_driven && coder.h > 0) expect_driven(&coder, c);
            bool is_expected = below(chance, 4) == 0, is_wild = below(chance, 20) == 0;
            uint32_t octaves = 1 + below(chance, 1 + below(chance, 12));
            for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
                const cf_element* element = &layout->elements[i];
                made->row[i] = element_canonical(element, coder.expected[i]);
                if (is_expected || below(chance, 4) == 0) continue;
                if (element->kind == K_ENTITY || element->bits == 1 || is_wild ||
                    below(chance, 20) == 0)
                    made->row[i] = any_word(element, chance);
                else
                    made->row[i] = element_canonical(
                        element, words_add(coder.expected[i], spread_number(chance, octaves),
                                           element->bits));
            }
        }
}

static cf_bases bases_of(const search_case* made) {
    return (cf_bases){.base = made->base,
                      .base2 = made->has_base2 ? made->base2 : NULL,
                      .ticks = made->h,
                      .ticks2 = made->d};
}

static void choose_case(search_case* made, const cf_tables* tables, uint32_t count_max,
                        uint64_t* chance) {
    static const uint32_t ticks[] = {0, 1, 1, 1, 2, 2, 3, 3, 4, 6, 6, 10, 20, 32, 33};
    static const uint32_t ticks2[] = {1, 1, 1, 2, 2, 3, 5, 6, 30, 255};
    memset(made, 0, sizeof *made);
    choose_layout(made, count_max, chance);
    layout_finish(&made->layout, tables, 60);
    made->h = ticks[below(chance, sizeof ticks / sizeof *ticks)];
    made->has_base2 = made->h > 0 && below(chance, 4) > 0;
    made->d = made->has_base2 ? ticks2[below(chance, sizeof ticks2 / sizeof *ticks2)] : 0;
    choose_bases(made, chance);
    for (uint32_t c = 0; c < made->layout.component_count; c++)
        if (made->layout.source[c] >= 0) choose_integral(made, c, chance);
    cf_bases bases = bases_of(made);
    choose_row(made, &bases, chance);
    made->bits = bits_over(made->data, sizeof made->data);
    row_write(&made->layout, &bases, made->row, &made->bits);
}

static bool is_read(const search_case* made, const cf_tables* tables) {
    static search_case copy;
    uint64_t row[ELEMENTS_MAX] = {0};
    copy = *made;
    vector_layout(copy.layout_text, &copy.layout);
    layout_finish(&copy.layout, tables, 60);
    cf_bases bases = bases_of(made);
    bit_stream reader = bits_over(copy.data, sizeof copy.data);
    row_read(&copy.layout, &bases, row, &reader);
    return !reader.failed && reader.at == made->bits.at && memcmp(row, made->row, sizeof row) == 0;
}

static void print_words(const char* key, const uint64_t* words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        printf("%s%" PRIu64, i > 0 ? "," : key, words[i]);
}

// Bits that no writer makes: one is changed, or zeros stand between two of them. @return false:
// nothing was changed.
static bool spoil(search_case* made, uint64_t* chance) {
    bit_stream whole = bits_over(made->data, sizeof made->data);
    bit_stream spoilt = bits_over(made->spoilt, sizeof made->spoilt);
    if (made->layout.shape[0] == SHAPE_ROTATION && made->layout.component_count == 1 &&
        below(chance, 4) == 0) {
        memcpy(made->row, (uint64_t[]){0, 511, 255, 255}, 4 * sizeof *made->row); // 511 means 510
        cf_bases bases = bases_of(made);
        made->bits = bits_over(made->data, sizeof made->data);
        row_write(&made->layout, &bases, made->row, &made->bits);
        return !made->bits.failed;
    }
    size_t count = made->bits.at;
    if (count == 0 || count + 40 > spoilt.size_bits) return false;
    size_t place = below(chance, (uint32_t)count);
    uint32_t zeros = below(chance, 3) == 0 ? below(chance, 24) : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bit = bits_read(&whole, 1);
        if (i == place && zeros > 0) bits_write(&spoilt, 0, zeros);
        bits_write(&spoilt, i == place && zeros == 0 ? bit ^ 1 : bit, 1);
    }
    bits_write(&spoilt, next(chance), 24);
    made->bits = spoilt;
    memcpy(made->data, made->spoilt, sizeof made->data);
    return true;
}

// What a reader finds in the bits. @return false: no row.
static bool read_spoilt(const search_case* made, const cf_tables* tables, uint64_t* row,
                        size_t* size) {
    static search_case copy;
    copy = *made;
    vector_layout(copy.layout_text, &copy.layout);
    layout_finish(&copy.layout, tables, 60);
    cf_bases bases = bases_of(made);
    bit_stream reader = bits_over(copy.data, sizeof copy.data);
    reader.size_bits = made->bits.at;
    memset(row, 0, ELEMENTS_MAX * sizeof *row);
    row_read(&copy.layout, &bases, row, &reader);
    *size = reader.at;
    return !reader.failed;
}

static void print_case(const char* kind, const search_case* made) {
    uint32_t count = made->layout.element_count;
    char middle[MIDDLE_BYTES_MAX];
    cf_bases bases = bases_of(made);
    bool is_row = strcmp(kind, "no_row") != 0;
    printf("%s layout=%s", kind, made->layout_text);
    if (made->h > 0) printf(" h=%u", made->h);
    if (made->has_base2) printf(" d=%u", made->d);
    print_words(" base=", made->base, count);
    if (made->has_base2) print_words(" base2=", made->base2, count);
    row_print_middle(&made->layout, &bases, made->row, middle);
    if (is_row) print_words(" row=", made->row, count);
    if (is_row) printf(" %s", middle);
    printf(" bits=");
    for (size_t i = 0; i < made->bits.at; i++)
        putchar('0' + (made->data[i / 8] >> (i % 8) & 1));
    putchar('\n');
}

typedef struct search {
    const cf_tables* tables;
    int count;
    bool is_found[MISREADINGS_MAX];
} search;

static void search_written(search* all, const search_case* made) {
    uint32_t found = 0;
    if (!is_read(made, all->tables)) return;
    for (misreading = 1; misreading <= all->count; misreading++)
        if (!all->is_found[misreading] && !is_read(made, all->tables)) {
            all->is_found[misreading] = true;
            found++;
        }
    misreading = 0;
    if (found > 0) print_case("row", made);
}

static void search_spoilt(search* all, search_case* made, uint64_t* chance) {
    uint64_t row[ELEMENTS_MAX];
    size_t size, size_read;
    uint32_t found = 0;
    if (!spoil(made, chance)) return;
    bool is_row = read_spoilt(made, all->tables, made->row, &size);
    if (is_row) made->bits.at = size;
    for (misreading = 1; misreading <= all->count; misreading++) {
        if (all->is_found[misreading]) continue;
        bool is_same = read_spoilt(made, all->tables, row, &size_read) == is_row;
        if (is_row)
            is_same = is_same && size_read == size && memcmp(row, made->row, sizeof row) == 0;
        all->is_found[misreading] = !is_same;
        found += !is_same;
    }
    misreading = 0;
    if (found > 0) print_case(is_row ? "row_read" : "no_row", made);
}

int search_rows(const char* folder, int misreading_count, uint64_t seed, uint32_t rows, int only) {
    static search_case made;
    static search all;
    cf_tables* tables = tables_read(folder);
    if (!tables || misreading_count >= MISREADINGS_MAX) return 2;
    all.tables = tables;
    all.count = misreading_count;
    for (int i = 1; i <= misreading_count; i++)
        all.is_found[i] = only > 0 && i != only;
    for (uint32_t i = 0; i < rows; i++) {
        misreading = 0;
        // Small rows first: they are easier to follow by hand.
        choose_case(&made, tables, 1 + (uint32_t)((uint64_t)i * PARTS_MAX / rows), &seed);
        if (made.bits.failed || made.bits.at > 400) continue;
        search_written(&all, &made);
        if (i % 8 == 0) search_spoilt(&all, &made, &seed);
    }
    for (int i = 1; i <= misreading_count; i++)
        if (!all.is_found[i]) fprintf(stderr, "%d ", i);
    free(tables);
    return 0;
}
