// SPDX-License-Identifier: MIT
// Encoding rows of plain layouts: without sources and rotations, and with few fields in each
// component. That is most of what moves in a game. The decisions are those of encoder.c; here they
// are taken in local variables, component by component, and what is rare goes back to encoder.c:
// nothing that is known of the base's age, no symbol of the head, more warm components than it
// holds.
#include "row/encoder.h"

enum { MASK_MEMBERS_MAX = 4 };

#define PLAIN_INLINE inline __attribute__((always_inline))
#ifdef __clang__
#define ROW_UNROLL
#else
#define ROW_UNROLL _Pragma("GCC unroll 3")
#endif

// The bits so far.
typedef struct plain_pen {
    uint64_t bits; // not stored yet
    uint32_t fill;
    uint8_t* at;
} plain_pen;

typedef struct plain_row {
    const proto_layout_plan* plan;
    const proto_tables* tables;
    const uint32_t *row, *base, *base2;
    uint32_t ticks, ticks2;
    uint32_t differ, moved; // as in row_encoder
    uint32_t coded, live;   // a bit per component
    uint32_t warm_count;
    uint32_t warm[ROW_WARM_MAX]; // class * 256 + component, rising
    int8_t scales[PROTO_PLAIN_COMPONENTS_MAX];
    int32_t off[PROTO_PLAIN_WORDS_MAX];
} plain_row;

// The same as encoder_put.
static inline void put(plain_pen* p, uint64_t value, uint32_t count) {
    p->bits |= value << p->fill;
    uint32_t end = p->fill + count;
    if (end >= 64) {
        base_store_le64(p->at, p->bits);
        p->at += 8;
        end -= 64;
        p->bits = value >> (count - end);
    }
    p->fill = end;
}

static inline void put_code(plain_pen* p, uint32_t code) {
    put(p, code >> 4, code & 15);
}

// The same as proto_encoder_number.
static inline uint32_t put_number(plain_pen* p, const uint16_t* codes, uint32_t bits, int32_t off,
                                  uint32_t word) {
    uint32_t size = (uint32_t)row_magnitude(off), symbol = row_number_symbol(off);
    uint32_t code = codes[symbol];
    if (symbol < ROW_SIGNED_SYMBOLS) {
        put_code(p, code);
        return size;
    }
    uint32_t low = row_number_low_bits(symbol), whole = codes[PROTO_NUMBER_WHOLE];
    bool is_whole = symbol >= ROW_SMALL_SYMBOLS && (whole & 15) + bits < (code & 15) + low + 1;
    if (is_whole || symbol == PROTO_NUMBER_WHOLE) {
        put_code(p, whole);
        put(p, word, bits);
        return size;
    }
    uint32_t rest = (size & ((1u << low) - 1)) << 1 | (uint32_t)(off < 0);
    put(p, code >> 4 | rest << (code & 15), (code & 15) + low + 1);
    return size;
}

// ---- what is coded ----

static inline void add_warm(plain_row* r, uint32_t c, uint32_t class_) {
    uint32_t own = class_ << 8 | c;
    if (r->warm_count == 0) {
        r->warm[0] = own;
    } else if (r->warm_count == 1) {
        bool is_first = own < r->warm[0];
        r->warm[1] = is_first ? r->warm[0] : own;
        r->warm[0] = is_first ? own : r->warm[0];
    }
    r->warm_count++;
}

// What the line through the bases adds to the base, rounded.
static inline int64_t way_of(int64_t pace, uint32_t ticks, uint32_t ticks2) {
    int64_t way = pace * ticks;
    if (ticks2 == 1) return way;
    int64_t twice = 2 * way + ticks2;
    if (ticks2 == 2) return twice >> 2;
    int32_t divisor = 2 * (int32_t)ticks2;
    if ((int32_t)twice != twice) return row_divide(twice, divisor);
    return (int32_t)twice / divisor - ((int32_t)twice % divisor < 0);
}

// The words of a component less what the line gives. `count` is a constant where it is inlined.
// @return the steps between the bases, summed over the words.
static PLAIN_INLINE uint64_t follow_words(plain_row* r, uint32_t first, uint32_t count,
                                          uint32_t* off) {
    uint64_t motion = 0;
    const uint32_t *row = r->row + first, *base = r->base + first, *base2 = r->base2 + first;
    const proto_layout_word* words = r->plan->words + first;
    int32_t* offs = r->off + first;
    const uint32_t ticks = r->ticks, ticks2 = r->ticks2;
    uint32_t any = 0;
    ROW_UNROLL
    for (uint32_t i = 0; i < count; i++) {
        uint32_t shift = words[i].shift, from = base[i];
        int64_t pace = encoder_difference(from, base2[i], shift);
        motion += (uint64_t)(pace < 0 ? -pace : pace);
        uint32_t expected = from + (uint32_t)way_of(pace, ticks, ticks2);
        offs[i] = encoder_difference(row[i], expected, shift);
        any |= (uint32_t)offs[i];
    }
    *off = any;
    return motion;
}

// A linear component that moved between the bases.
static inline void follow_line(plain_row* r, const proto_plain_step* step) {
    uint32_t off, c = step->component, count = (uint32_t)(step->end - step->first);
    uint64_t motion = count == 3   ? follow_words(r, step->first, 3, &off)
                      : count == 1 ? follow_words(r, step->first, 1, &off)
                                   : follow_words(r, step->first, count, &off);
    uint32_t scale = row_line_scale(r->ticks, r->ticks2, motion);
    uint32_t class_ = row_line_class(count, scale);
    r->scales[c] = (int8_t)scale;
    if (class_ == ROW_CLASS_LIVE) {
        r->live |= 1u << c;
        r->coded |= 1u << c;
        return;
    }
    r->coded |= (uint32_t)(off != 0) << c;
    add_warm(r, c, class_);
}

static inline void keep_off(plain_row* r, uint32_t first, uint32_t end) {
    for (uint32_t f = first; f < end; f++)
        r->off[f] = encoder_difference(r->row[f], r->base[f], r->plan->words[f].shift);
}

static inline void plan_steps(plain_row* r) {
    const proto_plain_step *step = r->plan->plain_steps, *end = step + r->plan->step_count;
    for (; step < end; step++) {
        if (r->moved & step->words) {
            follow_line(r, step);
            continue;
        }
        uint32_t c = step->component;
        add_warm(r, c, row_rest_class(false, r->ticks));
        if (!(r->differ & step->words)) continue;
        r->scales[c] = (int8_t)row_rest_scale(r->ticks, (uint32_t)(step->end - step->first));
        r->coded |= 1u << c;
        keep_off(r, step->first, step->end);
    }
}

// Mixed components. @return those that are quiet, as a bit per component.
static inline uint32_t plan_mixed(plain_row* r) {
    const proto_layout_plan* plan = r->plan;
    uint32_t quiet = plan->mixed;
    if ((r->moved & plan->mixed_words) != 0) {
        for (uint32_t left = plan->mixed; left; left &= left - 1) {
            uint32_t c = (uint32_t)__builtin_ctz(left);
            if (!(r->moved & plan->parts[c].words)) continue;
            add_warm(r, c, ROW_CLASS_MIXED);
            quiet &= ~(1u << c);
        }
    }
    if ((r->differ & plan->mixed_words) != 0) {
        for (uint32_t left = plan->mixed; left; left &= left - 1) {
            uint32_t c = (uint32_t)__builtin_ctz(left);
            const proto_layout_part* part = &plan->parts[c];
            if (!(r->differ & part->words)) continue;
            r->coded |= 1u << c;
            r->scales[c] = -1;
            keep_off(r, part->first, part->first + (uint32_t)part->count);
        }
    }
    return quiet;
}

// ---- the bits ----

// @return false when a mask has too many members.
static inline bool put_exceptions(const plain_row* r, plain_pen* p, uint32_t quiet) {
    uint32_t count = 0, mask = 0;
    for (uint32_t left = quiet; left; left &= left - 1)
        mask |= (r->coded >> __builtin_ctz(left) & 1) << count++;
    if (count > MASK_MEMBERS_MAX) return false;
    put(p, 0, ROW_RESERVED_BITS + 1);
    if (count > 1) put_code(p, r->tables->mask_other[count - 2][mask]);
    return true;
}

static inline void put_head(const plain_row* r, plain_pen* p) {
    if (r->warm_count == 0) return;
    uint32_t symbol = r->coded >> (r->warm[0] & 255) & 1, row = r->warm[0] >> 8;
    if (r->warm_count > 1) {
        const uint32_t classes[ROW_WARM_MAX] = {row, r->warm[1] >> 8};
        symbol |= (r->coded >> (r->warm[1] & 255) & 1) << 1;
        row = row_head_row(classes, ROW_WARM_MAX);
    }
    put_code(p, r->tables->head[row][symbol]);
}

static BASE_NOINLINE plain_pen put_large(const plain_row* r, plain_pen p, bool is_first, uint32_t f,
                                         uint32_t row, int32_t* surprise) {
    const proto_number_codes* codes = is_first ? r->tables->number_first : r->tables->number_plain;
    uint32_t bits = 32u - r->plan->words[f].shift;
    uint32_t size = put_number(&p, codes[row], bits, r->off[f], r->row[f]);
    *surprise += row_number_surprise(size, row);
    return p;
}

// Numbers of a component on its way; `count` is a constant where it is inlined. `is_first`: the
// first one is the first symbol of the row. @return how they change the expectation of the next
// ones.
static PLAIN_INLINE int32_t put_numbers(const plain_row* r, plain_pen* p, uint32_t first,
                                        uint32_t count, int32_t scale, bool is_first,
                                        int32_t surprise) {
    const int32_t* offs = r->off + first;
    const proto_layout_word* words = r->plan->words + first;
    ROW_UNROLL
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = (uint32_t)row_number_row(scale, surprise);
        uint32_t at = (uint32_t)offs[i] + PROTO_SMALL;
        if (is_first || at >= words[i].small_count) {
            *p = put_large(r, *p, is_first, first + i, row, &surprise);
            is_first = false;
            continue;
        }
        uint32_t small = r->tables->small[row][at];
        put(p, small & ((1u << PROTO_SMALL_CODE_BITS) - 1),
            small >> PROTO_SMALL_CODE_BITS & ((1u << PROTO_SMALL_LENGTH_BITS) - 1));
        surprise += (int32_t)small >> (PROTO_SMALL_CODE_BITS + PROTO_SMALL_LENGTH_BITS);
    }
    return surprise;
}

static inline int32_t put_live(const plain_row* r, plain_pen* p, const proto_layout_part* part,
                               int32_t scale, bool is_first, int32_t surprise) {
    if (part->count == 3) return put_numbers(r, p, part->first, 3, scale, is_first, surprise);
    return put_numbers(r, p, part->first, part->count, scale, is_first, surprise);
}

static inline void put_field(const plain_row* r, plain_pen* p, uint32_t f, int32_t scale) {
    const proto_layout_word* word = &r->plan->words[f];
    uint32_t codes = word->codes;
    if (codes == ENCODER_BIT) return; // it is the other one
    if (codes == ENCODER_SCALED) codes = scale < 0 ? PROTO_NUMBER_WIDE : (uint32_t)scale;
    (void)put_number(p, r->tables->number_other[codes], 32u - word->shift, r->off[f], r->row[f]);
}

// Numbers of a component that was expected to rest or to stay on its line.
static BASE_NOINLINE plain_pen put_fields(const plain_row* r, plain_pen p, uint32_t c) {
    const proto_layout_part* part = &r->plan->parts[c];
    uint32_t count = part->count, mask = 0;
    int32_t scale = r->scales[c];
    if (count == 1) {
        put_field(r, &p, part->first, scale);
        return p;
    }
    for (uint32_t i = 0; i < count; i++)
        mask |= (uint32_t)(r->off[part->first + i] != 0) << i;
    put_code(&p, r->tables->field[count - 2][mask]);
    for (; mask; mask &= mask - 1)
        put_field(r, &p, part->first + (uint32_t)__builtin_ctz(mask), scale);
    return p;
}

static inline void put_components(const plain_row* r, plain_pen* p) {
    int32_t surprise = 0;
    uint32_t last = 0;
    bool is_first = r->warm_count == 0;
    for (uint32_t left = r->coded; left; left &= left - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(left);
        if (!(r->live >> c & 1)) {
            *p = put_fields(r, *p, c);
            continue;
        }
        for (; last < c && surprise != 0; last++) // after each component by half
            surprise /= 2;
        last = c;
        surprise = put_live(r, p, &r->plan->parts[c], r->scales[c], is_first, surprise);
        is_first = false;
    }
}

uint32_t proto_encoder_plain(const proto_layout* layout, const proto_packed_base* against,
                             const uint32_t* row, uint8_t* bytes) {
    if (against->ticks - 1 >= ROW_TICKS_MAX) return 0;
    plain_row r;
    r.plan = &layout->plan;
    r.tables = layout->tables;
    r.row = row;
    r.base = r.base2 = against->base;
    r.ticks = against->ticks;
    r.ticks2 = 1;
    r.differ = (uint32_t)encoder_differing(row, r.base, layout->packed_count);
    r.moved = 0;
    r.coded = r.live = r.warm_count = 0;
    if (against->base2 && against->ticks2 - 1 < ROW_TICKS2_MAX) {
        r.base2 = against->base2;
        r.ticks2 = against->ticks2;
        r.moved = (uint32_t)encoder_differing(r.base, r.base2, layout->packed_count);
    }
    plan_steps(&r);
    uint32_t quiet = plan_mixed(&r);
    if (r.warm_count > ROW_WARM_MAX || (r.warm_count == 0 && r.live == 0)) return 0;
    plain_pen p = {.at = bytes};
    if ((r.coded & quiet) && !put_exceptions(&r, &p, quiet)) return 0;
    put_head(&r, &p);
    put_components(&r, &p);
    base_store_le64(p.at, p.bits);
    return (uint32_t)(p.at - bytes) * 8 + p.fill;
}
