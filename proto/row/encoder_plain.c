// SPDX-License-Identifier: MIT
// Encoding rows of plain layouts: without sources and rotations, and with few fields in each
// component. That is most of what moves in a game. The decisions are those of encoder.c, in another
// order of work: all words are measured at once, four by four, of some rows; then each
// row takes its decisions from masks of words, in local variables, and the numbers of a vector are
// written at once. What is rare goes back to encoder.c: nothing that is known of the base's age,
// and masks of many members.
#include "row/encoder.h"

enum { MASK_MEMBERS_MAX = 4, VECTOR = 3 };

_Static_assert(VECTOR* PROTO_SMALL_CODE_BITS < 64, "they fit a word");
_Static_assert(PROTO_PLAIN_COMPONENTS_MAX <= 32, "a bit per component");

#define PLAIN_INLINE inline __attribute__((always_inline))
#ifdef __clang__
#define ROW_UNROLL
#else
#define ROW_UNROLL _Pragma("GCC unroll 4")
#endif

// The bits so far: whole words of 64 are in `bytes`, the others in `bits`.
typedef struct plain_pen {
    uint64_t bits;
    uint64_t fill; // of all
} plain_pen;

// What the words of a row say, with those of its bases.
typedef struct plain_measure {
    uint32_t moved;                        // a bit per word that differs between the bases
    uint32_t differ;                       // a bit per word that differs from the expected one
    int32_t off[PROTO_PLAIN_WORDS_MAX];    // words less expected words
    uint32_t steps[PROTO_PLAIN_WORDS_MAX]; // between the bases, without sign; 0 of mixed components
} plain_measure;

typedef struct plain_row {
    const proto_layout_plan* plan;
    const proto_tables* tables;
    const uint32_t* row;
    const plain_measure* measure;
    uint8_t* bytes;
    int8_t scales[PROTO_PLAIN_COMPONENTS_MAX];
} plain_row;

// The coded components, a bit each.
typedef struct plain_head {
    uint32_t coded, live, quiet;
    uint32_t warm[2]; // class * 256 + component * 2 + whether it is coded, rising; 0: none
} plain_head;

static inline plain_pen put_bits(const plain_row* r, plain_pen p, uint64_t value, uint32_t count) {
    p.bits |= value << (p.fill & 63);
    uint64_t end = p.fill + count;
    if ((p.fill ^ end) & ~UINT64_C(63)) {
        base_store_le64(r->bytes + p.fill / 64 * 8, p.bits);
        p.bits = value >> (count - (end & 63));
    }
    p.fill = end;
    return p;
}

static inline plain_pen put_code(const plain_row* r, plain_pen p, uint32_t code) {
    return put_bits(r, p, code >> 4, code & 15);
}

// The same as proto_encoder_number. Sizes have 31 bits at most.
static inline plain_pen put_number(const plain_row* r, plain_pen p, const uint16_t* codes,
                                   uint32_t f) {
    int32_t off = r->measure->off[f];
    uint32_t size = (uint32_t)row_magnitude(off), symbol = row_number_symbol(off);
    uint32_t code = codes[symbol];
    if (symbol < ROW_SIGNED_SYMBOLS) return put_code(r, p, code);
    uint32_t low = row_number_low_bits(symbol), whole = codes[PROTO_NUMBER_WHOLE];
    uint32_t bits = 32u - r->plan->words[f].shift;
    bool is_whole = symbol >= ROW_SMALL_SYMBOLS && (whole & 15) + bits < (code & 15) + low + 1;
    if (is_whole || symbol == PROTO_NUMBER_WHOLE)
        return put_bits(r, p, whole >> 4 | (uint64_t)r->row[f] << (whole & 15),
                        (whole & 15) + bits);
    uint32_t rest = (size & ((1u << low) - 1)) << 1 | (uint32_t)(off < 0);
    return put_bits(r, p, code >> 4 | rest << (code & 15), (code & 15) + low + 1);
}

// ---- which components are coded ----

// Only the last ones are warm. One that must make way becomes quiet.
static inline void add_warm(plain_head* head, uint32_t c, uint32_t class_, bool is_coded) {
    uint32_t own = class_ << 8 | c << 1 | is_coded, least = head->warm[0], most = head->warm[1];
    uint32_t lower = own < most ? own : most, out = lower < least ? lower : least;
    head->warm[1] = own < most ? most : own;
    head->warm[0] = lower < least ? least : lower;
    if (out) head->quiet |= 1u << (out >> 1 & 127);
}

static inline const uint32_t* second_of(const proto_row_job* job) {
    return job->base2 ? job->base2 : job->base;
}

// What the words of two bases say of a row's word.
static inline void measure_word(const proto_layout_plan* plan, const proto_row_job* job, uint32_t f,
                                plain_measure* measure) {
    uint32_t shift = plan->words[f].shift, base = job->base[f], base2 = second_of(job)[f];
    int32_t pace = encoder_difference(base, base2, shift) & (int32_t)plan->lines[f];
    uint32_t expected = base + (uint32_t)row_line_way(job->times, pace);
    int32_t off = encoder_difference(job->row[f], expected, shift);
    measure->off[f] = off;
    measure->steps[f] = (uint32_t)(pace < 0 ? -pace : pace);
    measure->moved |= (uint32_t)(base != base2) << f;
    measure->differ |= (uint32_t)(off != 0) << f;
}

#ifdef __SSE2__
static inline __m128i load_words(const void* words) {
    return _mm_loadu_si128((const __m128i*)words);
}

static inline __m128i signed_of(__m128i words, __m128i mask, __m128i top) {
    return _mm_sub_epi32(_mm_xor_si128(_mm_and_si128(words, mask), top), top);
}

// A bit for each of four words that is 0.
static inline uint32_t zeros(__m128i words) {
    __m128i zero = _mm_cmpeq_epi32(words, _mm_setzero_si128());
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(zero));
}

// The same for four words of all rows; here, moved and differ tell the words that did and do not.
// Ways have PROTO_PLAIN_LINE_BITS_MAX bits: adding `point` leaves the other bits of a word for the
// fraction below the point.
static inline void measure_four(const proto_layout_plan* plan, const proto_row_job* jobs,
                                uint32_t count, uint32_t f, plain_measure* measures) {
    enum { FRACTION = 32 - PROTO_PLAIN_LINE_BITS_MAX };
    const __m128d point = _mm_set1_pd(1.5 * (double)(UINT64_C(1) << (52 - FRACTION)) + 0.5);
    const __m128i mask = load_words(plan->masks + f),
                  top = _mm_sub_epi32(mask, _mm_srli_epi32(mask, 1));
    const __m128i lines = load_words(plan->lines + f);
    const __m128i line_mask = _mm_and_si128(mask, lines), line_top = _mm_and_si128(top, lines);
    for (uint32_t i = 0; i < count; i++) {
        const __m128d factor = _mm_set1_pd(jobs[i].times->factor);
        __m128i base = load_words(jobs[i].base + f);
        __m128i pace = _mm_sub_epi32(base, load_words(second_of(&jobs[i]) + f));
        measures[i].moved |= zeros(pace) << f;
        pace = signed_of(pace, line_mask, line_top);
        __m128i sign = _mm_srai_epi32(pace, 31);
        _mm_storeu_si128((__m128i*)(void*)(measures[i].steps + f),
                         _mm_sub_epi32(_mm_xor_si128(pace, sign), sign));
        __m128d low = _mm_cvtepi32_pd(pace);
        __m128d high = _mm_cvtepi32_pd(_mm_shuffle_epi32(pace, _MM_SHUFFLE(3, 2, 3, 2)));
        low = _mm_add_pd(_mm_mul_pd(low, factor), point);
        high = _mm_add_pd(_mm_mul_pd(high, factor), point);
        __m128i way = _mm_castps_si128(
            _mm_shuffle_ps(_mm_castpd_ps(low), _mm_castpd_ps(high), _MM_SHUFFLE(2, 0, 2, 0)));
        base = _mm_add_epi32(base, _mm_srai_epi32(way, FRACTION));
        __m128i off = signed_of(_mm_sub_epi32(load_words(jobs[i].row + f), base), mask, top);
        _mm_storeu_si128((__m128i*)(void*)(measures[i].off + f), off);
        measures[i].differ |= zeros(off) << f;
    }
}
#endif

// Measure the words of some rows. Bits after the last word of a mask have no meaning.
static inline void measure_all(const proto_layout* layout, const proto_row_job* jobs,
                               uint32_t count, plain_measure* measures) {
    const proto_layout_plan* plan = &layout->plan;
    const uint32_t words = layout->packed_count;
#ifdef __SSE2__
    if (words >= 4) {
        uint32_t f = 0;
        for (; f + 4 <= words; f += 4)
            measure_four(plan, jobs, count, f, measures);
        if (f < words) measure_four(plan, jobs, count, words - 4, measures); // some once more
        for (uint32_t i = 0; i < count; i++) {
            measures[i].moved = ~measures[i].moved;
            measures[i].differ = ~measures[i].differ;
        }
        return;
    }
#endif
    for (uint32_t f = 0; f < layout->field_count; f++)
        for (uint32_t i = 0; i < count; i++)
            measure_word(plan, &jobs[i], f, &measures[i]);
}

// A linear component that moved between the bases.
static inline void follow(plain_row* r, const proto_row_times* times, const proto_plain_step* step,
                          plain_head* head) {
    uint32_t motion = 0, c = step->component, bit = 1u << c, count = step->count;
    const uint32_t* steps = &r->measure->steps[step->first];
    if (count == 3) {
        motion = steps[0] + steps[1] + steps[2];
    } else {
        for (uint32_t i = 0; i < count; i++)
            motion += steps[i];
    }
    uint32_t scale = row_line_scale_of(times, motion), class_ = row_line_class(count, scale);
    bool is_off = (r->measure->differ & step->words) != 0;
    r->scales[c] = (int8_t)scale;
    if (class_ == ROW_CLASS_LIVE) {
        head->live |= bit;
        head->coded |= bit;
        return;
    }
    if (is_off) head->coded |= bit;
    add_warm(head, c, class_, is_off);
}

// Mixed components of which at least one moved between the bases or differs.
static BASE_NOINLINE void plan_mixed(plain_row* r, plain_head* head) {
    for (uint32_t left = r->plan->mixed; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        const proto_layout_part* part = &r->plan->parts[c];
        bool is_coded = (r->measure->differ & part->words) != 0;
        r->scales[c] = -1;
        if (is_coded) head->coded |= 1u << c;
        if (!(r->measure->moved & part->words)) continue;
        head->quiet &= ~(1u << c);
        add_warm(head, c, ROW_CLASS_MIXED, is_coded);
    }
}

// ---- the bits ----

// Write which quiet components are coded. `is_first`: it is the whole head. @return false when the
// mask has too many members.
static inline bool put_quiet(const plain_row* r, const plain_head* head, bool is_first,
                             plain_pen* p) {
    uint32_t count = 0, mask = 0;
    for (uint32_t left = head->quiet; left; left &= left - 1)
        mask |= (head->coded >> __builtin_ctz(left) & 1) << count++;
    if (count > MASK_MEMBERS_MAX) return false;
    if (is_first) {
        *p = put_code(r, *p, r->tables->mask_first[count > 0 ? count - 1 : 0][mask]);
        return true;
    }
    *p = put_bits(r, *p, 0, head->warm[1] == 0 ? ROW_BARE_BITS : ROW_RESERVED_BITS + 1);
    if (count > 1) *p = put_code(r, *p, r->tables->mask_other[count - 2][mask]);
    return true;
}

static inline plain_pen put_warm(const plain_row* r, plain_pen p, const uint32_t warm[2]) {
    if (warm[1] == 0) return p;
    uint32_t row = warm[1] >> 8, symbol = warm[1] & 1;
    if (warm[0] != 0) {
        row = row_head_pair(warm[0] >> 8, row);
        symbol = symbol << 1 | (warm[0] & 1);
    }
    return put_code(r, p, r->tables->head[row][symbol]);
}

// Numbers of a component on its way, with large ones.
static BASE_NOINLINE plain_pen put_large(const plain_row* r, plain_pen p,
                                         const proto_layout_part* part, int32_t scale,
                                         int32_t* surprise) {
    for (uint32_t f = part->first; f < part->first + (uint32_t)part->count; f++) {
        uint32_t row = (uint32_t)row_number_row(scale, *surprise);
        p = put_number(r, p, r->tables->number_plain[row], f);
        *surprise += row_number_surprise(row_magnitude(r->measure->off[f]), row);
    }
    return p;
}

// The same with a vector of small ones. @return false when one is large, and nothing is written.
static inline bool put_vector(const plain_row* r, plain_pen* p, const int32_t* off, int32_t scale,
                              int32_t* surprise) {
    const uint32_t at[VECTOR] = {(uint32_t)off[0] + PROTO_SMALL, (uint32_t)off[1] + PROTO_SMALL,
                                 (uint32_t)off[2] + PROTO_SMALL};
    if ((at[0] | at[1] | at[2]) >= 2 * PROTO_SMALL) return false;
    uint64_t codes = 0;
    uint32_t bits = 0;
    int32_t sum = *surprise;
    ROW_UNROLL
    for (uint32_t i = 0; i < VECTOR; i++) {
        uint32_t small = r->tables->small[row_number_row(scale, sum)][at[i]];
        codes |= (uint64_t)(small & ((1u << PROTO_SMALL_CODE_BITS) - 1)) << bits;
        bits += small >> PROTO_SMALL_CODE_BITS & ((1u << PROTO_SMALL_LENGTH_BITS) - 1);
        sum += (int32_t)small >> (PROTO_SMALL_CODE_BITS + PROTO_SMALL_LENGTH_BITS);
    }
    *surprise = sum;
    *p = put_bits(r, *p, codes, bits);
    return true;
}

// Numbers of a component that was expected to rest or to stay on its line.
static BASE_NOINLINE plain_pen put_fields(const plain_row* r, plain_pen p,
                                          const proto_layout_part* part, int32_t scale) {
    uint32_t first = part->first, count = part->count, mask = 1;
    if (count > 1) {
        mask = 0;
        for (uint32_t i = 0; i < count; i++)
            mask |= (uint32_t)(r->measure->off[first + i] != 0) << i;
        p = put_code(r, p, r->tables->field[count - 2][mask]);
    }
    for (; mask; mask &= mask - 1) {
        uint32_t f = first + (uint32_t)__builtin_ctz(mask), codes = r->plan->words[f].codes;
        if (codes == ENCODER_BIT) continue; // it is the other one
        if (codes == ENCODER_SCALED) codes = scale < 0 ? PROTO_NUMBER_WIDE : (uint32_t)scale;
        p = put_number(r, p, r->tables->number_other[codes], f);
    }
    return p;
}

static PLAIN_INLINE plain_pen put_components(const plain_row* r, plain_pen p,
                                             const plain_head* head) {
    int32_t surprise = 0;
    uint32_t last = 0;
    for (uint32_t left = head->coded; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        const proto_layout_part* part = &r->plan->parts[c];
        if (!(head->live >> c & 1)) {
            p = put_fields(r, p, part, r->scales[c]);
            continue;
        }
        for (; last < c && surprise != 0; last++) // after each component by half
            surprise /= 2;
        last = c;
        if (!part->is_vector ||
            !put_vector(r, &p, &r->measure->off[part->first], r->scales[c], &surprise)) {
            int32_t changed = surprise;
            p = put_large(r, p, part, r->scales[c], &changed);
            surprise = changed;
        }
    }
    return p;
}

// The components of a bare row that would begin with 00000, after the mark. It is rare.
static BASE_NOINLINE plain_pen put_marked(const plain_row* r, const plain_head* head) {
    plain_pen p = put_components(r, (plain_pen){ROW_BARE, ROW_BARE_BITS}, head);
    base_store_le64(r->bytes + p.fill / 64 * 8, p.bits);
    return p;
}

// @return the bits of the row; 0: it is none of the usual ones.
static inline uint32_t encode_measured(plain_row* r, const proto_row_times* times) {
    const proto_layout_plan* plan = r->plan;
    const plain_measure* measure = r->measure;
    plain_head head = {.quiet = plan->mixed};
    const proto_plain_step *step = plan->plain_steps, *end = step + plan->step_count;
    for (; step < end; step++) {
        if (measure->moved & step->words) {
            follow(r, times, step, &head);
            continue;
        }
        bool is_coded = (measure->differ & step->words) != 0;
        add_warm(&head, step->component, times->rest_class, is_coded);
        if (!is_coded) continue;
        r->scales[step->component] = (int8_t)(times->log + (step->count > 1 ? ROW_VECTOR_MORE : 0));
        head.coded |= 1u << step->component;
    }
    if ((measure->differ | measure->moved) & plan->mixed_words) {
        plain_head mixed = head;
        plan_mixed(r, &mixed);
        head = mixed;
    }
    plain_pen p = {0, 0};
    const bool is_quiet = head.warm[1] == 0 && head.live == 0;
    if ((is_quiet || head.coded & head.quiet) && !put_quiet(r, &head, is_quiet, &p)) return 0;
    p = put_warm(r, p, head.warm);
    p = put_components(r, p, &head);
    base_store_le64(r->bytes + p.fill / 64 * 8, p.bits);
    if (head.warm[1] == 0 && !is_quiet && !(head.coded & head.quiet) &&
        (r->bytes[0] & ((1u << ROW_RESERVED_BITS) - 1)) == 0) {
        const plain_head marked = head; // head itself stays in registers
        p = put_marked(r, &marked);
    }
    return (uint32_t)p.fill;
}

uint32_t proto_encoder_plain(const proto_layout* layout, const proto_row_job* jobs, uint32_t count,
                             uint8_t* bytes, uint32_t* bits) {
    BASE_ASSERT(count <= PROTO_ROW_JOBS_MAX);
    plain_measure measures[PROTO_ROW_JOBS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        if (!jobs[i].times->is_usual) count = i;
        measures[i].moved = measures[i].differ = 0;
    }
    measure_all(layout, jobs, count, measures);
    plain_row r = {.plan = &layout->plan, .tables = proto_tables_builtin(), .bytes = bytes};
    for (uint32_t i = 0; i < count; i++) {
        r.row = jobs[i].row;
        r.measure = &measures[i];
        measures[i].moved &= ~(uint32_t)jobs[i].hidden;
        measures[i].differ &= ~(uint32_t)jobs[i].hidden;
        bits[i] = encode_measured(&r, jobs[i].times);
        if (bits[i] == 0) return i;
        r.bytes += (bits[i] + 63) / 64 * 8;
    }
    return count;
}
