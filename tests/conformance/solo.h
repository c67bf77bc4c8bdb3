// SPDX-License-Identifier: MIT
/// Private: "Solo code". solo.c reads numbers, solo_row.c reads rows, solo_near.c has neighbours,
/// solo_epoch.c has heads and epochs.
#pragma once

#include "row.h"

enum {
    SOLO_FIELDS = 520,
    SOLO_FEATURES = 8,
    SOLO_SAMPLES_MAX = 2048,
    SOLO_NUMBERS_MAX = 65536,
    SOLO_RING = 128,
    SOLO_OFFS = 24,
    SOLO_PLACE = 3,
    SOLO_ALONG = 517,
    SOLO_OTHER = 518,
    SOLO_QUIET = 519
};

/// Fields of the numbers that are not in rows.
enum { SOLO_COUNT = 512, SOLO_GAP, SOLO_ABSENT, SOLO_CREATE, SOLO_RUN };

typedef struct solo_statistics solo_statistics;

typedef struct solo_sample {
    uint32_t field;
    uint8_t features[SOLO_FEATURES]; ///< their lowest 5 bits
    int64_t value;
} solo_sample;

/// A motion of the page: a turn around one place, and the way to another.
typedef struct solo_motion {
    int64_t q[4], from[SOLO_PLACE], to[SOLO_PLACE];
} solo_motion;

/// A row of the body with base2 and a place.
typedef struct solo_near {
    uint32_t name;
    int64_t h, d;
    solo_motion before, now;
    int64_t offs[SOLO_OFFS];
} solo_near;

/// A body that is read, or walked because its numbers are known.
typedef struct solo_body {
    solo_statistics* statistics;
    bool is_recorded, failed;
    const uint8_t* bytes;
    size_t size, at;
    uint32_t range, number, numbers;
    solo_sample samples[SOLO_SAMPLES_MAX];
    uint32_t sample_count;
    solo_near rows[SOLO_RING];
    uint32_t row_count;
} solo_body;

// ---- solo.c ----
/// Empty statistics, made with calloc.
solo_statistics* solo_statistics_create(void);
void solo_statistics_copy(solo_statistics* to, const solo_statistics* from);
/// `bytes` NULL: the numbers are known.
void solo_begin(solo_body* body, const uint8_t* bytes, size_t size);
/// @return false: refused.
bool solo_end(const solo_body* body);
/// @return the number that was read; `value` when it is known.
int64_t solo_number(solo_body* body, uint32_t field, const uint64_t* features, int64_t value);
/// Are neighbours looked for, for the template of this number?
bool solo_is_trusted(const solo_body* body, uint32_t name);
/// That the number of a sample is not 0, in 2^-16.
int32_t solo_chance(const solo_body* body, const solo_sample* sample);
bool solo_is_likely(solo_body* body, uint32_t field, const uint64_t* features);
void solo_fact(solo_body* body, uint32_t field, const uint64_t* features, bool is_true);
/// Train with the samples of a packet.
void solo_train(solo_statistics* of, const solo_sample* samples, uint32_t count);

// ---- solo_near.c ----
/// A row and its neighbour.
typedef struct solo_guide {
    int place, turn; ///< components; place -1: it has no neighbour and is none
    const solo_near* near;
    uint64_t misfit; ///< its bucket
    bool is_along;
    int64_t along[SOLO_PLACE];
    uint64_t about[SOLO_FEATURES]; ///< of fact 517, with has_fact
    bool has_fact;
} solo_guide;

void solo_find_near(solo_body* body, const row_coder* row, uint32_t name, solo_guide* guide);
/// The parts of the rotation of a row that moves as its neighbour does.
void solo_turn_along(const row_coder* row, const solo_guide* guide, int64_t* parts);
/// Keep the row, which is known now, as a neighbour of the next ones.
void solo_keep(solo_body* body, const row_coder* row, uint32_t name, const solo_guide* guide,
               const int64_t* offs);
uint64_t solo_bucket(int64_t value);
uint64_t solo_size(int64_t value);

// ---- solo_row.c ----
/// `third` NULL: none. A row that is known is in `row`; else it gets there.
void solo_row(solo_body* body, uint32_t name, const cf_layout* layout, const cf_bases* bases,
              const uint64_t* third, uint32_t d3, uint64_t* row);

// ---- solo_epoch.c ----
cf_solo* solo_create(void);
void solo_destroy(cf_solo* solo);
/// Read the head of a body. *body: NULL: there are no statistics; else the numbers are read from it
/// or, when it is recorded, noted in it.
body_result solo_read_head(cf_solo* solo, uint16_t seq, bit_stream* bits, solo_body** body);
/// The body of the last head was read as a whole.
void solo_keep_samples(cf_solo* solo, uint16_t seq);
