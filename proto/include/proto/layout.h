// SPDX-License-Identifier: MIT
/// The row of a template: its replicated components, in name order, as quantised fields, one 64-bit word
/// each in memory; and how one row is coded against another.
#pragma once

#include "proto/bits.h"
#include "proto/quant.h"
#include "proto/tables.h"

#define PROTO_ROW_FIELDS_MAX 256u
#define PROTO_ROW_COMPONENTS_MAX 64u
#define PROTO_ROTATION_WORDS                                                                       \
    4u ///< of a rotation's row: which component is the largest, then the others
#define PROTO_ROTATION_BITS_MIN 4u
#define PROTO_ROTATION_BITS_MAX 15u

typedef struct proto_row_field {
    proto_quant quant;
    uint32_t offset_bytes; ///< of this element inside the component's memory
    /// Of a component that is the integral of another, per tick in 2^-20 of its own steps, by proto_layout_finish:
    /// what a step of the other's field adds, and what its q = 0 adds. (Of a rotation: its length in coding.)
    int64_t drive, drive_zero;
} proto_row_field;

typedef struct proto_row_component {
    uint32_t key; ///< the owner's number for it (ecs_component_id)
    uint16_t field_first;
    uint16_t field_count;
    uint8_t integral; ///< 1 + the component whose value per second it changes by; 0: none
    /// A unit quaternion: floats x, y, z, w at offset_bytes of its four fields, whose words are
    /// proto_rotation_make's.
    bool is_rotation;
    uint8_t shape;  ///< by proto_layout_finish, as the next two
    bool is_driven; ///< follows its source: `integral` fits, and the rate is known
    bool is_source;
} proto_row_component;

typedef struct proto_layout {
    uint32_t field_count;
    uint32_t component_count;
    uint32_t bits_max;          ///< of a coded row in the worst case
    uint32_t tick_rate_hz;      ///< 0: not known yet, nothing is the integral of anything
    const proto_tables* tables; ///< NULL: the built-in ones
    proto_row_field fields[PROTO_ROW_FIELDS_MAX];
    proto_row_component components[PROTO_ROW_COMPONENTS_MAX];
    uint8_t order[PROTO_ROW_COMPONENTS_MAX]; ///< in which components are coded: integrals last
} proto_layout;

/// Complete the layout after filling the tables, and again after setting tick_rate_hz. Readers and writers need the
/// same rate, or integrals are foreseen differently.
void proto_layout_finish(proto_layout* layout);
/// Quantise one component's memory into its words of `row`.
void proto_row_read_component(const proto_layout* layout, uint32_t component, const void* memory,
                              uint64_t* row);
/// Dequantise its words into the component's memory (fields only; other bytes stay).
void proto_row_write_component(const proto_layout* layout, uint32_t component, const uint64_t* row,
                               void* memory);

/// What a row is coded against. All rows are field_count words.
typedef struct proto_row_base {
    const uint64_t* base;  ///< the default row when the reader has none
    const uint64_t* base2; ///< an older row, or NULL
    uint32_t ticks;        ///< from base to the row; 0: unknown, nothing is extrapolated
    uint32_t ticks2;       ///< from base2 to base, at least 1 when there is one
} proto_row_base;

/// Code `row` (WIRE.md, "Row code"). The bits depend on the arguments alone, so they may be cached and shared.
/// `is_listed`: in a list whose readers expect a row or "absent". `component_bits` (component_count numbers,
/// may be NULL) get what each component took; the rest of what was written is the row's head.
void proto_row_write(const proto_layout* layout, const proto_row_base* base, const uint64_t* row,
                     bool is_listed, proto_bit_writer* writer, uint32_t* component_bits);
/// Code that a listed row is not there. The same bits whatever the layout.
void proto_row_write_absent(proto_bit_writer* writer);
/// In a list: is the next row absent? If so, its bits are read; if not, nothing is.
bool proto_row_read_absent(proto_bit_reader* reader);
/// The mirror of proto_row_write. Total: any bits give a row whose words fit their fields, or reader->failed.
/// `row` is none of the bases.
void proto_row_read(const proto_layout* layout, const proto_row_base* base, bool is_listed,
                    uint64_t* row, proto_bit_reader* reader, uint32_t* component_bits);
