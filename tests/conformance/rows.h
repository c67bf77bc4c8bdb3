// SPDX-License-Identifier: MIT
/// Between the two halves of WIRE.md's "Row code": what is expected of a row, and how it is coded.
#pragma once

#include "conform.h"

enum {
    H_MAX = 32,
    D_MAX = 255,
    SYMBOL_WHOLE = 37,
    SYMBOL_OTHER = 38,
    RESERVED = 5,
    NO_SOURCE = -1
};
#define UNIT (INT64_C(1) << 20)

typedef enum shape { LINEAR, ROTATION, EMPTY, MIXED } shape;
typedef enum kind { QUIET, WARM, LIVE, DRIVEN, LEAD } kind;

typedef struct plan {
    shape shape;
    kind kind;
    bool is_coded, moves, is_source;
    int class_;
    int scale;  // -1: none
    int source; // of a driven component
} plan;

typedef struct row_pass {
    const cf_layout* layout;
    const uint64_t *base, *base2; // what has no second row rests: base2 is base then
    bool has_base2;
    int64_t h, d;
    uint64_t* row;
    bit_stream* bits;
    bool is_writing;
    bool is_first; // the row's first symbol is to come
    int64_t surprise;
    plan plans[COMPONENTS_MAX];
    int lead; // or -1
    uint32_t warm[COMPONENTS_MAX + 1];
    uint32_t warm_count;
    int64_t k[ELEMENTS_MAX], z[ELEMENTS_MAX]; // of driven components
} row_pass;

typedef struct driven_guess {
    uint64_t word, next;
    int class_;
} driven_guess;

// ---- rows_expect.c ----

uint64_t mask_of(uint32_t bits);
/// Of two words, as a signed number of `bits` bits.
int64_t difference(uint64_t a, uint64_t b, uint32_t bits);
int64_t absolute(int64_t value);
/// Rounds down.
int64_t divide(int64_t a, int64_t b);
/// The page's log(x).
int half_octaves(uint64_t x);
driven_guess guess_driven(const row_pass* p, uint32_t c, uint32_t i);
/// Of the i-th field of a component.
uint64_t expected_of(const row_pass* p, uint32_t c, uint32_t i);
int scale_of_motion(const row_pass* p, uint64_t sum);
/// Kinds, lead and warm ones; when writing, which are coded.
void make_plans(row_pass* p);
