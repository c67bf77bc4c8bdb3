// SPDX-License-Identifier: MIT
/// Private, of the build and its tests: the codes of rows from the lengths that ROWS.md lists.
#pragma once

#include "proto/tables.h"

#define PROTO_TABLES 7u
/// Bytes of a whole set of lengths: one per symbol, in the order of the members of proto_tables.
#define PROTO_TABLES_LENGTHS                                                                       \
    (2u * PROTO_NUMBER_ROWS * PROTO_NUMBER_SYMBOLS + PROTO_HEAD_ROWS * 4u +                        \
     PROTO_DRIVE_ROWS * 9u + 4u * 16u + 3u * 16u + 3u * 16u)

/// One table of a set.
typedef struct proto_table {
    const char* name;
    uint16_t rows, symbols; ///< symbols of its longest row
    uint8_t first;          ///< its first symbol that may occur
    bool is_reserved;       ///< 00000 is free
} proto_table;

/// Get one of the PROTO_TABLES tables, in their order.
const proto_table* proto_table_get(uint32_t table);

/// Make tables from lengths.
/// @return true; false when the lengths give no prefix codes: a length above 12, more codes than
///         there is room for, 00000 not free where it must be, or a symbol without a code that can
///         occur. `tables` is not usable then.
BASE_MUST_USE bool proto_tables_make(const uint8_t lengths[PROTO_TABLES_LENGTHS],
                                     proto_tables* tables);
/// Read lengths as ROWS.md lists them: lines "tables NAME", then a hexadecimal digit per symbol.
/// Other lines before, between and after them are skipped. `text` ends with a NUL.
/// @return NULL; else what is wrong, and `lengths` is not usable. Lengths that were read may still
///         give no tables.
BASE_MUST_USE const char* proto_tables_read(const char* text,
                                            uint8_t lengths[PROTO_TABLES_LENGTHS]);
