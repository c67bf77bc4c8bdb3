// SPDX-License-Identifier: MIT
/// Recorded worlds: files of quantised rows, 60 frames per second ('CUBQ' and 'ARNQ', plain or
/// zstd).
#pragma once

#include "proto/layout.h"

typedef struct trace_file {
    bool is_arena;
    uint32_t slots, frames, rate_hz;
    size_t frame_bytes, row_bytes;
    const uint8_t* rows;
    uint8_t* bytes; ///< owned
    size_t size;
    proto_layout layout;      ///< layout of every slot
    uint64_t defaults[2][16]; ///< default rows of both templates
    uint32_t raw_bits;        ///< of one row without any coding
} trace_file;

/// Read a file. If it is no trace, the program ends with a message.
void trace_file_open(trace_file* trace, const char* path);
void trace_file_close(trace_file* trace);
/// Get the number of the entity in a slot; 0: none. The same number in two consecutive frames is
/// the same entity.
uint32_t trace_life(const trace_file* trace, uint32_t frame, uint32_t slot);
/// Get its template, 0 or 1.
uint32_t trace_template(const trace_file* trace, uint32_t frame, uint32_t slot);
void trace_row(const trace_file* trace, uint32_t frame, uint32_t slot, uint64_t* row);
bool trace_differs(const trace_file* trace, uint32_t frame, uint32_t other, uint32_t slot);
