// SPDX-License-Identifier: MIT
/// Private: what the files of "Row code" share. row_plan.c finds expected words and kinds,
/// row_head.c codes which components are coded, row_part.c, row_drive.c and row_rotation.c code
/// components. Every function can read and write, because the page has one text for both.
#pragma once

#include "conform.h"

typedef enum part_kind { PART_QUIET, PART_WARM, PART_LIVE, PART_DRIVEN } part_kind;

enum { WARM_MAX = 2, SCALE_NONE = -1, SCALE_MAX = 27, CLASSES = 6 };

typedef struct part_plan {
    part_kind kind;
    int class;
    int scale; ///< SCALE_NONE: no scale
    bool is_moving;
} part_plan;

/// "Elastic fields": of a component, before a bit is read.
typedef struct elastic_plan {
    int grid;
    uint64_t sum; ///< of the steps between the bases
    bool is_wild; ///< a field is
} elastic_plan;

typedef struct row_coder {
    const cf_layout* layout;
    const uint64_t *base, *base2;
    int64_t h, d; ///< after the limits of "Definitions"
    uint64_t row[ELEMENTS_MAX];
    uint64_t expected[ELEMENTS_MAX]; ///< driven components: set before they are coded
    bit_stream* bits;
    bool is_writing;
    bool is_bare, has_exceptions; ///< "Head"
    int32_t surprise;
    part_plan plans[COMPONENTS_MAX];
    elastic_plan elastic[COMPONENTS_MAX];
    bool is_coded[COMPONENTS_MAX];
    uint32_t warm[WARM_MAX], warm_count;
    uint32_t quiet[COMPONENTS_MAX], quiet_count;
} row_coder;

// ---- row_plan.c ----
int log_halves(uint64_t x);
int64_t divide_down(int64_t a, int64_t b);
/// a - b as a signed number of `bits` bits.
int64_t words_apart(uint64_t a, uint64_t b, uint32_t bits);
uint64_t words_add(uint64_t word, int64_t difference, uint32_t bits);
/// S of the page. `sum` is the sum in m; 0 gives log(h).
int scale_of_motion(const row_coder* coder, uint64_t sum);
void plan_row(row_coder* coder);

// ---- row_head.c ----
/// Code the head: which components are coded.
void code_head(row_coder* coder);
/// Does a bare row without exceptions, written behind `before`, begin with 00000?
bool row_is_hidden(const row_coder* coder, bit_stream before);
/// The row of a table for `count` rising classes, each below `class_count`. The rows for 1, 2 and 3
/// classes follow one another.
uint32_t row_of_classes(const int* classes, uint32_t count, int class_count);
/// Code a mask of `count` members, at most 64.
void code_mask(row_coder* coder, uint32_t count, uint64_t* mask, bool may_be_none);

// ---- row_part.c ----
typedef struct cf_number {
    int64_t difference;
    uint64_t word; ///< the word itself; when reading, valid with is_word
    bool is_word;
    bool is_other; ///< symbol 38
} cf_number;

void code_bits(row_coder* coder, uint64_t* value, uint32_t count);
void code_symbol(row_coder* coder, const cf_prefix* prefix, uint32_t* symbol);
void code_number(row_coder* coder, const cf_prefix* prefix, uint32_t bits, cf_number* number);
/// t of a scaled number, and what the number does to surprise.
int row_of_scale(const row_coder* coder, int scale);
void change_surprise(row_coder* coder, int t, int64_t difference);
/// Code a scaled number: the word of `field`, expected to be `expected`. `is_other` is symbol 38
/// (NULL: not allowed): when writing, whether to write it; when reading, set when it was read.
/// Nothing else is coded then.
void code_scaled(row_coder* coder, uint32_t field, uint64_t expected, int scale, bool* is_other);
/// Begin a row: find expected words and kinds.
void row_begin(row_coder* coder, const cf_layout* layout, const cf_bases* bases, bit_stream* bits);
/// Code all coded components.
void code_parts(row_coder* coder);

// ---- row_elastic.c ----
/// Find the grid of a component with elastic fields, and the expected words of an elastic one.
void expect_elastic(row_coder* coder, uint32_t component);
void code_elastic(row_coder* coder, uint32_t component, uint32_t field);
enum { ELASTIC_STEPS_END = 1 << 22 };
/// Has a word steps? If not, *steps is 0.
bool elastic_steps(const cf_element* element, uint64_t word, int grid, int64_t* steps);
/// The steps that are nearest to a word's value; 0 for a NaN.
int64_t elastic_nearest(const cf_element* element, uint64_t word, int grid);
uint64_t elastic_word(const cf_element* element, int64_t steps, int grid);

// ---- row_drive.c ----
/// Set the expected words of a component with a source. The row has the source's words.
void expect_driven(row_coder* coder, uint32_t component);
void code_driven(row_coder* coder, uint32_t component);
/// Step 5 of "Driven components": the expected word and its neighbour, f and D.
typedef struct driven_guess {
    uint32_t field;
    uint64_t word, next;
    int64_t f, doubt;
    int class;
} driven_guess;
driven_guess driven_at(const row_coder* coder, uint32_t component, uint32_t i);

// ---- row_rotation.c ----
void code_rotation(row_coder* coder, uint32_t component);
/// Spread words; the root of 512 Q²; steps 1, 2 and 4 of "Rotations in rows".
void rotation_spread(const uint64_t* words, int64_t q, int64_t* parts);
int64_t rotation_unit(int64_t q);
void rotation_line(const row_coder* coder, uint32_t component, int64_t* parts, uint64_t* sum);
uint64_t rotation_largest(const int64_t* parts, uint64_t largest);
void rotation_words(const int64_t* parts, uint64_t largest, int64_t q, uint64_t* words);
