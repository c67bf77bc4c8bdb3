// SPDX-License-Identifier: MIT
/// "Row code" between its files: row_plan.c says what is expected and how likely, row_head.c what is coded,
/// row_part.c and row_turn.c code it. Every function reads or writes, as the page says the same of both.
#pragma once

#include "conform.h"

typedef enum part_kind { PART_QUIET, PART_WARM, PART_LIVE, PART_DRIVEN, PART_LEAD } part_kind;

enum { WARM_MAX = 3, SCALE_NONE = -1, SCALE_MAX = 27, LEAD_SCALE_END = 12, CLASSES = 6 };

typedef struct part_plan {
    part_kind kind;
    int class;
    int scale; ///< or SCALE_NONE
    bool is_moving;
} part_plan;

typedef struct row_coder {
    const cf_layout* layout;
    const uint64_t *base, *base2;
    int64_t h, d; ///< as they count
    uint64_t row[ELEMENTS_MAX];
    uint64_t expected[ELEMENTS_MAX]; ///< of what is driven or turns: set when its turn comes
    bit_stream* bits;
    bool is_writing;
    bool is_first; ///< no symbol of the head came yet, nor one of a number_ or drive_ table
    int32_t surprise;
    part_plan plans[COMPONENTS_MAX];
    bool is_coded[COMPONENTS_MAX];
    bool has_moving;
    int lead; ///< or -1
    uint32_t warm[WARM_MAX], warm_count;
    uint32_t quiet[COMPONENTS_MAX], quiet_count;
} row_coder;

// ---- row_plan.c ----
int log_halves(uint64_t x);
int64_t divide_down(int64_t a, int64_t b);
/// a - b, of words of `bits` bits, as a signed number.
int64_t words_apart(uint64_t a, uint64_t b, uint32_t bits);
uint64_t words_add(uint64_t word, int64_t difference, uint32_t bits);
/// The page's S, from m's sum; 0: log(h).
int scale_of_motion(const row_coder* coder, uint64_t sum);
void plan_row(row_coder* coder);

// ---- row_head.c ----
/// Which components are coded; the lead is coded with it.
void code_head(row_coder* coder);
/// The row of rising classes below `class_count` in tables of all of 1, then 2, then 3 of them.
uint32_t row_of_classes(const int* classes, uint32_t count, int class_count);
/// `mask` bit by bit over `count` members, at most 64.
void code_mask(row_coder* coder, uint32_t count, uint64_t* mask, bool may_be_none);

// ---- row_part.c ----
typedef struct cf_number {
    int64_t difference;
    uint64_t word; ///< written: the word itself; read: with is_word
    bool is_word;
    bool is_other; ///< symbol 38
} cf_number;

void code_bits(row_coder* coder, uint64_t* value, uint32_t count);
void code_symbol(row_coder* coder, const cf_prefix* prefix, uint32_t* symbol);
void code_number(row_coder* coder, const cf_prefix* prefix, uint32_t bits, cf_number* number);
/// The word of `field` by its difference from `expected`, with surprise. `is_other` (NULL: must not be) asks to
/// write symbol 38, and hears whether it came; nothing else was coded then.
void code_scaled(row_coder* coder, uint32_t field, uint64_t expected, int scale, bool* is_other);
/// All coded components but the lead.
void code_parts(row_coder* coder);

// ---- row_drive.c ----
/// What is expected of a driven component, from the row's words of its source.
void foresee_driven(row_coder* coder, uint32_t component);
void code_driven(row_coder* coder, uint32_t component);

// ---- row_turn.c ----
void code_rotation(row_coder* coder, uint32_t component);
