// SPDX-License-Identifier: MIT
/// Traces: the rows of a world, frame by frame, recorded (trace_file.c).
///
/// A world has places. In each frame a place holds an entity or nothing. An entity has a template,
/// and each template has a layout and a default row.
#pragma once

#include "proto/layout.h"

#define TRACE_TEMPLATES_MAX 32u ///< as many as solo code tells apart
#define TRACE_FIELDS_MAX PROTO_ROW_FIELDS_MAX
#define TRACE_PLACES_MAX 2047u
#define TRACE_FRAMES_MAX 65536u
#define TRACE_WORDS_MAX (1u << 28) ///< of all places in all frames
#define TRACE_NAME_BYTES 48u
#define TRACE_MESSAGE_BYTES 160u

typedef struct trace {
    char name[TRACE_NAME_BYTES];
    uint32_t places, frames, rate_hz;
    uint32_t template_count, field_count; ///< field_count: of the longest row
    char templates_named[TRACE_TEMPLATES_MAX][TRACE_NAME_BYTES];
    char components_named[TRACE_TEMPLATES_MAX][PROTO_ROW_COMPONENTS_MAX][TRACE_NAME_BYTES];
    proto_layout layouts[TRACE_TEMPLATES_MAX];
    uint64_t defaults[TRACE_TEMPLATES_MAX][TRACE_FIELDS_MAX];
    uint32_t* lives;    ///< [frame][place]: number of the entity; 0: none
    uint8_t* templates; ///< [frame][place]
    uint32_t* words;    ///< [frame][place][field]
} trace;

/// Begin a trace without templates. The tick rate is that of its layouts too.
void trace_begin(trace* made, const char* name, uint32_t rate_hz);
/// Add a template. Fill its components in the order of their names, then call trace_reserve.
proto_layout* trace_add_template(trace* made);
/// Add a component without fields.
proto_row_component* trace_add_component(proto_layout* layout);
/// Add `count` fields to the last component. `bits` 0: exact.
void trace_add_fields(proto_layout* layout, uint32_t count, proto_kind kind, uint32_t bits,
                      double min, double step);
void trace_add_rotation(proto_layout* layout, uint32_t bits);
/// End the templates, and reserve the rows of all frames.
void trace_reserve(trace* made, uint32_t places, uint32_t frames);
void trace_close(trace* made);

/// Put an entity with the words of its fields into a place.
void trace_put_row(trace* made, uint32_t frame, uint32_t place, uint32_t life, uint32_t template_,
                   const uint64_t* row);

/// Get the number of the entity in a place; 0: none. The same number in two consecutive frames is
/// the same entity.
uint32_t trace_life(const trace* of, uint32_t frame, uint32_t place);
uint32_t trace_template(const trace* of, uint32_t frame, uint32_t place);
const proto_layout* trace_layout(const trace* of, uint32_t frame, uint32_t place);
void trace_row(const trace* of, uint32_t frame, uint32_t place, uint64_t* row);
bool trace_differs(const trace* of, uint32_t frame, uint32_t other, uint32_t place);

/// Read a recorded world: GENQ, CUBQ or ARNQ (tests/bench/worlds/README.md). What is wrong ends the
/// program with its line or frame.
void trace_parse(trace* made, const char* name, const uint8_t* bytes, size_t size);
/// The same of a file, plain or zstd (.q, .q.zst).
void trace_read(trace* made, const char* path);
