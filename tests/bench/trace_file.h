// SPDX-License-Identifier: MIT
/// Recorded worlds: files of quantised rows, 60 frames per second ('CUBQ' and 'ARNQ', plain or zstd).
#pragma once

#include "proto/layout.h"

typedef struct trace_file {
    bool is_arena;
    uint32_t slots, frames, rate_hz;
    size_t frame_bytes, row_bytes;
    const uint8_t* rows;
    uint8_t* bytes; ///< owned
    size_t size;
    proto_layout layout;      ///< of every slot
    uint64_t defaults[2][16]; ///< default rows: of kind 1 and of kind 2
    uint32_t raw_bits;        ///< of one row without any coding
} trace_file;

/// Ends the program with a message when the file is none.
void trace_file_open(trace_file* trace, const char* path);
void trace_file_close(trace_file* trace);
/// Who lives in a slot: 0 nobody; the same number in two frames next to each other is the same entity.
uint32_t trace_life(const trace_file* trace, uint32_t frame, uint32_t slot);
/// 0 or 1: which template it has.
uint32_t trace_template(const trace_file* trace, uint32_t frame, uint32_t slot);
void trace_row(const trace_file* trace, uint32_t frame, uint32_t slot, uint64_t* row);
bool trace_differs(const trace_file* trace, uint32_t frame, uint32_t other, uint32_t slot);
