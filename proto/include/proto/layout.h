// SPDX-License-Identifier: MIT
/// Rows: the replicated components of one entity as a list of words, and how one row is coded
/// against another (WIRE.md, "Quantisation"; ROWS.md).
///
/// Shape:   A layout describes the rows of one template: its replicated components in name order,
///          each with its fields. A row is field_count words of 64 bits; word f belongs to
///          fields[f].
/// Memory:  Nothing here allocates. The caller owns layouts, rows and buffers.
/// Threads: A finished layout may be read by several threads.
#pragma once

#include "proto/bits.h"
#include "proto/quant.h"
#include "proto/tables.h"

BASE_C_BEGIN

#define PROTO_ROW_FIELDS_MAX 256u
#define PROTO_ROW_COMPONENTS_MAX 64u
#define PROTO_ROW_PLANNED_MAX 64u      ///< fields of a row that is encoded by a plan
#define PROTO_ROW_JOBS_MAX 8u          ///< of a call of proto_row_encode_many
#define PROTO_PLAIN_COMPONENTS_MAX 16u ///< of a plain layout
#define PROTO_PLAIN_WORDS_MAX 32u
#define PROTO_PLAIN_LINE_BITS_MAX 23u ///< of a field that moves
#define PROTO_SOLO_NO_PLACE UINT8_MAX
/// Words of a rotation: which part is the largest, then the other three.
#define PROTO_ROTATION_WORDS 4u
#define PROTO_ROTATION_BITS_MIN 4u ///< per part
#define PROTO_ROTATION_BITS_MAX 15u

/// One element of one field.
typedef struct proto_row_field {
    proto_quant quant;
    uint32_t offset_bytes; ///< in the component's memory
    /// Set by proto_layout_finish for a component with a source: how far one step of the source's
    /// field, and its word 0, move this field per tick, in 2^-20 of this field's steps. The first
    /// field of a rotation keeps the unit of its parts in `drive`.
    int64_t drive, drive_zero;
} proto_row_field;

typedef struct proto_row_component {
    uint32_t key; ///< the caller's number for it (ecs_component_id)
    uint16_t field_first;
    uint16_t field_count;
    uint8_t integral; ///< 1 + the component whose value it adds up per second; 0: none
    /// A unit quaternion: the floats x, y, z, w at offset_bytes of its four fields. Its four words
    /// are described in WIRE.md, "Rotations".
    bool is_rotation;
    uint8_t shape;    ///< set by proto_layout_finish, as are the next five
    bool has_elastic; ///< a field of it is elastic
    bool is_driven;   ///< it has a source: `integral` fits, and the tick rate is known
    bool is_source;   ///< another component has it as its source
    uint16_t packed_first, packed_count; ///< its words in a packed row
} proto_row_component;

/// What encoding needs of a component; private to proto/row.
typedef struct proto_layout_part {
    uint64_t words; ///< a bit per word of it
    uint8_t first, count, place, shape, source;
    bool is_driven, is_source;
    bool is_vector; ///< it has three words, and proto_tables.small has the codes of all
} proto_layout_part;

/// What encoding needs of a word; private to proto/row.
typedef struct proto_layout_word {
    uint8_t shift; ///< 32 - bits
    uint8_t codes, component;
    uint16_t small_count; ///< of proto_tables.small: all of them, or none
} proto_layout_word;

/// Words of the source that move it by less than 1/16 step per tick; private to proto/row.
typedef struct proto_layout_still {
    uint32_t first, last;
} proto_layout_still;

/// A component of a plain layout that moves; private to proto/row.
typedef struct proto_plain_step {
    uint32_t words; ///< a bit per word of it
    uint8_t first, count, component;
} proto_plain_step;

/// The constants of a layout's coding, made once by proto_layout_finish; private to proto/row.
typedef struct proto_layout_plan {
    bool is_made;         ///< false: at least one field or the row is too large; rows are unpacked
    uint8_t step_count;   ///< components that move: all but mixed and empty ones
    uint64_t mixed_words; ///< of the others
    bool is_plain;        ///< rows are coded by encoder_plain.c
    uint32_t mixed;       ///< of a plain layout: a bit per mixed component
    proto_plain_step plain_steps[PROTO_PLAIN_COMPONENTS_MAX];
    uint32_t masks[PROTO_PLAIN_WORDS_MAX]; ///< the bits of each word
    uint32_t lines[PROTO_PLAIN_WORDS_MAX]; ///< all bits, or none of a mixed component
    uint64_t driven_words;                 ///< a bit per word whose component has a source
    uint8_t rest_heads[2]; ///< of proto_tables.head where all but integrals rests, short and long
    uint8_t steps[PROTO_ROW_COMPONENTS_MAX];
    proto_layout_part parts[PROTO_ROW_COMPONENTS_MAX];
    proto_layout_word words[PROTO_ROW_PLANNED_MAX];
    proto_layout_still still[PROTO_ROW_PLANNED_MAX];
} proto_layout_plan;

typedef struct proto_layout {
    uint32_t field_count;
    uint32_t component_count;
    uint32_t bits_max;     ///< of a coded row in the worst case; set by proto_layout_finish
    uint32_t tick_rate_hz; ///< 0: not known yet, then no component has a source
    uint32_t packed_count; ///< words of a packed row; set by proto_layout_finish
    proto_row_field fields[PROTO_ROW_FIELDS_MAX];
    proto_row_component components[PROTO_ROW_COMPONENTS_MAX];
    uint8_t order[PROTO_ROW_COMPONENTS_MAX]; ///< order of coding: those with a source last
    uint8_t solo_place, solo_turn; ///< components of neighbours in solo code; or _NO_PLACE
    uint8_t word_bytes[PROTO_ROW_FIELDS_MAX]; ///< that hold the bits: 1, 2, 4, 8; set as bits_max
    proto_layout_plan plan;
} proto_layout;

/// Complete a layout. Call it after filling fields and components, and again after setting
/// tick_rate_hz. Reader and writer must use the same rate, or they expect different words.
void proto_layout_finish(proto_layout* layout);
/// Quantise the memory of one component into its words of `row` (field_count words).
void proto_row_read_component(const proto_layout* layout, uint32_t component, const void* memory,
                              uint64_t* row);
/// Dequantise the words of one component into its memory. Only fields are written; other bytes
/// stay.
void proto_row_write_component(const proto_layout* layout, uint32_t component, const uint64_t* row,
                               void* memory);

/// The older rows that a row is coded against, borrowed. Both have field_count words.
typedef struct proto_row_base {
    const uint64_t* base;  ///< the template's default row when the reader has no row
    const uint64_t* base2; ///< an older row; NULL: none
    uint32_t ticks;        ///< from base to the row; 0: unknown, then base is expected
    uint32_t ticks2;       ///< from base2 to base, at least 1 when there is a base2
} proto_row_base;

/// Write `row` in row code. The bits depend on the arguments alone, so a caller may cache them and
/// send them to several clients. `component_bits` (component_count numbers; NULL: not wanted) gets
/// the bits of each component; the other bits are the head of the row. Check writer->failed
/// afterwards.
void proto_row_write(const proto_layout* layout, const proto_row_base* base, const uint64_t* row,
                     proto_bit_writer* writer, uint32_t* component_bits);
/// A packed row: words of 32 bits, half of the memory. A field of more than 32 bits has two, the
/// low one first; fields stay in order. packed_count is even: after the last field may be a word
/// of 0. Convert between both forms.
void proto_row_pack(const proto_layout* layout, const uint64_t* row, uint32_t* packed);
void proto_row_unpack(const proto_layout* layout, const uint32_t* packed, uint64_t* row);
/// Quantise the memory of one component into its words of a packed row.
void proto_row_read_packed(const proto_layout* layout, uint32_t component, const void* memory,
                           uint32_t* packed);

/// As proto_row_base, with packed rows.
typedef struct proto_packed_base {
    const uint32_t* base;
    const uint32_t* base2; ///< NULL: none
    uint32_t ticks, ticks2;
} proto_packed_base;

/// Unpack the rows of a base. `rows` has room for two rows, which the result borrows.
proto_row_base proto_row_unpack_base(const proto_layout* layout, const proto_packed_base* packed,
                                     uint64_t (*rows)[PROTO_ROW_FIELDS_MAX]);
/// How far the bases of a row are away, with what coding makes of it: made once for many rows.
typedef struct proto_row_times {
    uint32_t ticks, ticks2; ///< as in proto_packed_base; ticks2 is 1 without a second base
    /// Private to proto/row.
    double inverse, factor; ///< 1 / ticks2, ticks / ticks2
    uint32_t speed_share;   ///< of 2^16: what a half octave of speed adds to a scale
    uint8_t log, rest_class;
    bool is_usual; ///< there is a line through two bases
} proto_row_times;

/// Make the times of rows. Without a second base `ticks2` is 1.
proto_row_times proto_row_times_make(uint32_t ticks, uint32_t ticks2);

/// A row to encode, and its bases, all packed.
typedef struct proto_row_job {
    const uint32_t *row, *base;
    const uint32_t* base2; ///< NULL: none
    const proto_row_times* times;
    uint64_t hidden; ///< a bit per word (proto_row_words) that counts as the same in all three
} proto_row_job;

/// The words of a component for proto_row_job.hidden. @return 0: a copy must hide it, since others
/// depend on its words, or there are too many.
uint64_t proto_row_words(const proto_layout* layout, uint32_t component);

/// Encode `count` packed rows, PROTO_ROW_JOBS_MAX at most: the bits are those of proto_row_write,
/// and it is several times faster. Each begins at the multiple of 8 bytes after the one before; the
/// bits after its last one are 0 there. `bytes` has room for bits_max bits and 16 bytes more of
/// each. bits[i] gets the bits of each.
void proto_row_encode_many(const proto_layout* layout, const proto_row_job* jobs, uint32_t count,
                           uint8_t* bytes, uint32_t* bits);
/// Read a row in row code from untrusted input. Any bits give a row whose words fit their fields,
/// or set reader->failed. `row` must be neither base nor base2.
void proto_row_read(const proto_layout* layout, const proto_row_base* base, uint64_t* row,
                    proto_bit_reader* reader, uint32_t* component_bits);
/// In the list of a packet: write that the row of this slot is absent. The bits are the same for
/// every layout, and no row begins with them.
void proto_row_write_absent(proto_bit_writer* writer);
/// In the list of a packet: read whether the next row is absent. @return true: it is, and its bits
/// are read; false: nothing is read.
bool proto_row_read_absent(proto_bit_reader* reader);

/// Numbers of a snapshot that are in no row, as a code with statistics names them (SOLO.md).
/// Fields of rows are below 512.
enum {
    PROTO_NUMBER_COUNT = 512,
    PROTO_NUMBER_GAP,
    PROTO_NUMBER_ABSENT,
    PROTO_NUMBER_CREATE,
    PROTO_NUMBER_RUN,
};

/// The situation that two features of 5 bits make.
static inline uint64_t proto_number_situation(uint32_t first, uint32_t second) {
    return (uint64_t)(first & 31) | (uint64_t)(second & 31) << 5;
}

BASE_C_END
