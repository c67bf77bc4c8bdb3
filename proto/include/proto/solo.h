// SPDX-License-Identifier: MIT
/// The solo coder: bodies of one client in arithmetic code, with statistics of what this client has
/// acknowledged (SOLO.md).
///
/// Shape:   A model holds statistics. A coder writes or reads one body by them; it does not change
///          them, but takes samples: which number was coded in which situation. Training a model
///          with the samples of a packet, in the order of coding, adapts it. Both sides train with
///          the same packets, so they have the same model.
/// Memory:  Nothing here allocates. The caller owns models, coders, samples and buffers.
/// Threads: A model that is not trained meanwhile may be read by several threads.
#pragma once

#include "proto/layout.h"

BASE_C_BEGIN

enum {
    PROTO_SOLO_FACT_CONTEXTS = 6,     ///< statistics that are mixed for "is it 0"
    PROTO_SOLO_FACT_LANES = 8,        ///< the same, and 0 up to what fills a register
    PROTO_SOLO_FACT_BITS = 12,        ///< counters of each
    PROTO_SOLO_CONTEXTS = 4,          ///< tables that are mixed for the rest of a number
    PROTO_SOLO_TABLE_BITS = 11,       ///< tables of each
    PROTO_SOLO_SYMBOLS = 8,           ///< of a table
    PROTO_SOLO_LONGS = 16,            ///< lengths of long numbers with a symbol
    PROTO_SOLO_TRUST = 4,             ///< weights of tables, by how often the first one was trained
    PROTO_SOLO_FIELDS = 520,          ///< rows have those below 512
    PROTO_SOLO_HIGH_FIELDS = 64,      ///< of them with tables of their own for the highest bits
    PROTO_SOLO_HIGH_LENGTHS = 16,     ///< lengths of a number with such tables
    PROTO_SOLO_TEMPLATES = 32,        ///< that trust neighbours apart from each other
    PROTO_SOLO_NUMBERS_MAX = 1 << 16, ///< of a body; a reader refuses more
    PROTO_SOLO_NEAR = 128,            ///< rows of this body that may be neighbours, and the own one
    PROTO_SOLO_PLACE = 3,             ///< fields of a place
    PROTO_SOLO_PLACE_LANES = 4,       ///< the same, and 0 up to what fills a register
    PROTO_SOLO_OFFS = 24,             ///< fields of a neighbour
    PROTO_SOLO_KNOWN_BITS = 10,       ///< chances that a coder knows by heart
    PROTO_SOLO_TAPE_WORDS = 192,      ///< of a tape
    PROTO_SOLO_TAPE_GUESSES = 16,
};

/// One coded number: the number (12 bits), the field (12) and its situation (40).
typedef uint64_t proto_solo_sample;

/// Statistics. Fill with proto_solo_model_reset.
typedef struct proto_solo_model {
    uint32_t version; ///< how often it was trained
    int16_t stretch[4096];
    /// Chances of 12 bits that a number is not 0, and their ages.
    uint16_t facts[PROTO_SOLO_FACT_CONTEXTS][1 << PROTO_SOLO_FACT_BITS];
    int16_t fact_weights[2 * PROTO_SOLO_FIELDS][PROTO_SOLO_FACT_LANES];
    /// A table: where each symbol but the last one ends, in 2^-15, and how often it was trained.
    uint16_t tables[PROTO_SOLO_CONTEXTS][1 << PROTO_SOLO_TABLE_BITS][PROTO_SOLO_SYMBOLS];
    /// Of all tables but the first one, which has the rest of 2^16.
    uint16_t weights[PROTO_SOLO_FIELDS][PROTO_SOLO_TRUST][PROTO_SOLO_CONTEXTS - 1];
    uint16_t lengths[PROTO_SOLO_FIELDS][PROTO_SOLO_LONGS]; ///< tables of long numbers
    uint16_t highs[PROTO_SOLO_HIGH_FIELDS][PROTO_SOLO_HIGH_LENGTHS][PROTO_SOLO_SYMBOLS];
    int16_t neighbours[PROTO_SOLO_TEMPLATES]; ///< above 0: they are worth a search
} proto_solo_model;

/// How something moved: it turned (a matrix and a quaternion in 2^-14) around a place, and went.
typedef struct proto_solo_motion {
    int32_t turn[9];
    int32_t rotation[4];
    int32_t from[PROTO_SOLO_PLACE], to[PROTO_SOLO_PLACE_LANES];
    int32_t way[PROTO_SOLO_PLACE_LANES]; ///< to - from
} proto_solo_motion;

/// A row of this body that was coded.
typedef struct proto_solo_near {
    uint64_t like; ///< template and times: only rows with the same ones are compared
    proto_solo_motion now, before; ///< from base to the row, from base2 to base
    int16_t off[PROTO_SOLO_OFFS];  ///< of the first fields from their expected words
} proto_solo_near;

/// Further numbers of a body. Their situations are small numbers.
enum { PROTO_SOLO_ALONG = PROTO_NUMBER_RUN + 1, PROTO_SOLO_OTHER, PROTO_SOLO_QUIET };

/// A row without statistics: what it tells a coder, in order. One coder records it, others play
/// it.
typedef struct proto_solo_tape {
    uint64_t words[PROTO_SOLO_TAPE_WORDS];     ///< samples; after that of a long number its size
    uint64_t guesses[PROTO_SOLO_TAPE_GUESSES]; ///< situations that decided between two guesses
    uint32_t word_count, guess_count;
    uint32_t taken; ///< a bit for each guess: the second one was likely
    bool is_whole;  ///< false: it cannot be played
} proto_solo_tape;

/// Where the numbers of a component begin and end in a body that is read (proto_solo_position).
typedef struct proto_solo_mark {
    uint64_t begin, end;
} proto_solo_mark;

typedef enum proto_solo_mode {
    PROTO_SOLO_WRITE,
    PROTO_SOLO_READ,
    PROTO_SOLO_SAMPLE ///< nothing is coded: samples of a body that came in another code
} proto_solo_mode;

/// Zero it once; each body begins it again.
typedef struct proto_solo_coder {
    const proto_solo_model* model;
    /// Chances of facts that were asked, until the model is trained; 0: none. Most numbers of a
    /// packet are in the same few situations, and a model's own statistics are all over its memory.
    uint64_t known[1 << PROTO_SOLO_KNOWN_BITS];
    uint32_t known_version;
    proto_solo_mode mode;
    uint8_t* out;      ///< writing
    const uint8_t* in; ///< reading
    size_t size, at;   ///< room, or bytes that can be read; bytes written or read
    uint64_t low;
    uint32_t range, code, carries, numbers;
    uint8_t held; ///< writing: a byte that a carry may still raise
    bool is_begun, failed;
    proto_solo_sample* samples;
    uint32_t sample_count, sample_capacity;
    proto_solo_near near[PROTO_SOLO_NEAR];
    uint32_t near_count;
    proto_solo_tape* tape;  ///< records each coded row; NULL: none is recorded
    proto_solo_mark* marks; ///< [component] of the row that is read; NULL: not wanted
} proto_solo_coder;

/// Statistics of nothing: where both sides begin.
void proto_solo_model_reset(proto_solo_model* model);
void proto_solo_train(proto_solo_model* model, const proto_solo_sample* samples, uint32_t count);
/// Did rows of this template go along with neighbours often enough to look for them?
bool proto_solo_has_neighbours(const proto_solo_model* model, uint32_t template_);

/// Begin a body. `samples` is borrowed and has room for `capacity` samples; further ones are
/// dropped.
void proto_solo_begin_write(proto_solo_coder* coder, const proto_solo_model* model, uint8_t* bytes,
                            size_t size, proto_solo_sample* samples, uint32_t capacity);
void proto_solo_begin_read(proto_solo_coder* coder, const proto_solo_model* model,
                           const uint8_t* bytes, size_t size, proto_solo_sample* samples,
                           uint32_t capacity);
void proto_solo_begin_sample(proto_solo_coder* coder, const proto_solo_model* model,
                             proto_solo_sample* samples, uint32_t capacity);
/// End a body. The last byte of it is never 0. @return its bytes; 0 when it failed: no room, too
/// many numbers, or bytes are left.
size_t proto_solo_end(proto_solo_coder* coder);

/// How much of a body was read, in 2^-16 bits: a number takes a fraction of a bit when it is
/// likely. Rises from 0 to about the size of the body.
uint64_t proto_solo_position(const proto_solo_coder* coder);
/// Code a number in a situation of 40 bits. @return the number: `value` unless it reads.
int64_t proto_solo_number(proto_solo_coder* coder, uint32_t field, uint64_t situation,
                          int64_t value);
/// The chance that a number is not 0, in 2^-16.
uint32_t proto_solo_chance(const proto_solo_model* model, uint32_t field, uint64_t situation);
/// Is a fact likely, by the samples so far? Nothing is coded.
bool proto_solo_expects(proto_solo_coder* coder, uint32_t field, uint64_t situation);
/// Add a sample: was it one?
void proto_solo_add_fact(proto_solo_coder* coder, uint32_t field, uint64_t situation, bool is_fact);
/// A further row that both sides know: with two bases a third one, `ticks` older than the base;
/// with ticks 0 the row of an entity that the new one may be like.
typedef struct proto_solo_third {
    const uint64_t* row;
    uint32_t ticks;
} proto_solo_third;

/// Code a row against its bases. `template_` is the same for rows of one template. `third` may be
/// NULL. Reading fills `row` with canonical words or sets coder->failed; `row` must be none of the
/// older rows.
void proto_solo_row(proto_solo_coder* coder, uint32_t template_, const proto_layout* layout,
                    const proto_row_base* against, const proto_solo_third* third, uint64_t* row);
/// Has a row with or without a second base no neighbour, and is it none? Then its tape is the same
/// for all coders that take its guesses alike.
bool proto_solo_is_alone(const proto_solo_model* model, uint32_t template_,
                         const proto_layout* layout, bool has_base2);
/// Record the next row. `tape` is borrowed until the call with NULL, which ends it.
void proto_solo_record(proto_solo_coder* coder, proto_solo_tape* tape);
/// Which guesses of a tape are taken by these statistics, a bit for each.
uint32_t proto_solo_take_guesses(proto_solo_coder* coder, const uint64_t* guesses, uint32_t count);
/// Code a row from the words of its tape: as proto_solo_row, when the same guesses are taken.
void proto_solo_play(proto_solo_coder* coder, const uint64_t* words, uint32_t count);

BASE_C_END
