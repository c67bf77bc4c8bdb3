// SPDX-License-Identifier: MIT
// Rows of recorded worlds, as a game would declare them: positions and headings with their steps,
// the velocity as the source of the position, an orientation as a rotation, and whole numbers.
#include "trace_file.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { CUBE_HEADER_BYTES = 32, CUBE_BYTES = 26, ARENA_HEADER_BYTES = 40, ARENA_BYTES = 16 };
enum { CUBE_OFFSET = 131072, SPEED_OFFSET = 2048, RATE_HZ = 60 };

static uint32_t u16_at(const uint8_t* at) {
    return (uint32_t)(at[0] | at[1] << 8);
}
static uint32_t u32_at(const uint8_t* at) {
    return u16_at(at) | u16_at(at + 2) << 16;
}

static void read_whole(trace_file* trace, const char* path) {
    FILE* file = fopen(path, "rb");
    bench_require(file != NULL, "the trace cannot be opened");
    bench_require(fseek(file, 0, SEEK_END) == 0, "the trace cannot be read");
    long size = ftell(file);
    rewind(file);
    bench_require(size > ARENA_HEADER_BYTES, "the trace is too short");
    trace->size = (size_t)size;
    trace->bytes = bench_allocate(trace->size);
    bench_require(fread(trace->bytes, 1, trace->size, file) == trace->size,
                  "the trace cannot be read");
    fclose(file);
    unsigned long long content = ZSTD_getFrameContentSize(trace->bytes, trace->size);
    if (content == ZSTD_CONTENTSIZE_ERROR) return; // plain
    bench_require(content != ZSTD_CONTENTSIZE_UNKNOWN, "the trace does not say how long it is");
    uint8_t* plain = bench_allocate((size_t)content);
    size_t got = ZSTD_decompress(plain, (size_t)content, trace->bytes, trace->size);
    bench_require(!ZSTD_isError(got) && got == content, "the trace is damaged");
    bench_release(trace->bytes);
    trace->bytes = plain;
    trace->size = (size_t)content;
}

static proto_row_component* add_component(proto_layout* layout) {
    proto_row_component* made = &layout->components[layout->component_count++];
    *made = (proto_row_component){.key = layout->component_count,
                                  .field_first = (uint16_t)layout->field_count};
    return made;
}

static void add_field(proto_layout* layout, proto_kind kind, uint32_t bits, double min,
                      double step) {
    proto_row_field* field = &layout->fields[layout->field_count++];
    layout->components[layout->component_count - 1].field_count++;
    bench_require(proto_quant_make(&field->quant, kind, bits, min, step), "a field of the trace");
}

static void describe_cubes(proto_layout* layout) {
    (void)add_component(layout); // interacting
    add_field(layout, PROTO_BOOL, 0, 0, 0);
    add_component(layout)->is_rotation = true;
    add_field(layout, PROTO_U8, 2, 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        add_field(layout, PROTO_U16, 9, 0, 1);
    (void)add_component(layout); // position
    add_field(layout, PROTO_F32, 18, -256, 1.0 / 512);
    add_field(layout, PROTO_F32, 18, -256, 1.0 / 512);
    add_field(layout, PROTO_F32, 14, 0, 1.0 / 512);
}

static void describe_arena(proto_layout* layout) {
    (void)add_component(layout); // ammo
    add_field(layout, PROTO_U8, 0, 0, 0);
    (void)add_component(layout); // flags
    add_field(layout, PROTO_U8, 2, 0, 1);
    (void)add_component(layout); // heading
    add_field(layout, PROTO_F32, 10, 0, 0.0061359231515425649);
    (void)add_component(layout); // health
    add_field(layout, PROTO_U8, 0, 0, 0);
    add_component(layout)->integral = 7; // position
    add_field(layout, PROTO_F32, 16, 0, 1.0 / 128);
    add_field(layout, PROTO_F32, 16, 0, 1.0 / 128);
    (void)add_component(layout); // team
    add_field(layout, PROTO_U8, 1, 0, 1);
    (void)add_component(layout); // velocity
    add_field(layout, PROTO_F32, 12, -SPEED_OFFSET / 32.0, 1.0 / 32);
    add_field(layout, PROTO_F32, 12, -SPEED_OFFSET / 32.0, 1.0 / 32);
}

void trace_file_open(trace_file* trace, const char* path) {
    memset(trace, 0, sizeof *trace);
    read_whole(trace, path);
    bool is_cubes = memcmp(trace->bytes, "CUBQ", 4) == 0;
    trace->is_arena = memcmp(trace->bytes, "ARNQ", 4) == 0;
    bench_require(is_cubes || trace->is_arena, "the trace is neither CUBQ nor ARNQ");
    trace->slots = u32_at(trace->bytes + 8);
    trace->frames = u32_at(trace->bytes + 12);
    trace->rate_hz = u32_at(trace->bytes + 16);
    trace->row_bytes = is_cubes ? CUBE_BYTES : ARENA_BYTES;
    trace->frame_bytes = trace->row_bytes * trace->slots;
    size_t header = is_cubes ? CUBE_HEADER_BYTES : ARENA_HEADER_BYTES;
    bench_require(trace->rate_hz == RATE_HZ && trace->slots > 0 && trace->slots < 2048 &&
                      trace->size >= header + trace->frame_bytes * trace->frames,
                  "the trace is cut off");
    trace->rows = trace->bytes + header;
    trace->layout.tick_rate_hz = trace->rate_hz;
    if (is_cubes) {
        describe_cubes(&trace->layout);
        trace->defaults[0][1] = 3;
        for (uint32_t i = 2; i < 5; i++)
            trace->defaults[0][i] = 256;
        trace->defaults[0][5] = trace->defaults[0][6] = CUBE_OFFSET;
    } else {
        describe_arena(&trace->layout);
        for (uint32_t t = 0; t < 2; t++)
            trace->defaults[t][7] = trace->defaults[t][8] = SPEED_OFFSET;
        trace->defaults[0][0] = 30;
        trace->defaults[0][3] = 100;
    }
    proto_layout_finish(&trace->layout);
    for (uint32_t f = 0; f < trace->layout.field_count; f++)
        trace->raw_bits += trace->layout.fields[f].quant.bits;
}

void trace_file_close(trace_file* trace) {
    bench_release(trace->bytes);
    trace->bytes = NULL;
}

static const uint8_t* row_at(const trace_file* trace, uint32_t frame, uint32_t slot) {
    return trace->rows + frame * trace->frame_bytes + slot * trace->row_bytes;
}

uint32_t trace_life(const trace_file* trace, uint32_t frame, uint32_t slot) {
    const uint8_t* at = row_at(trace, frame, slot);
    if (!trace->is_arena) return 1;
    return at[0] == 0 ? 0 : at[0] << 8 | at[1];
}

uint32_t trace_template(const trace_file* trace, uint32_t frame, uint32_t slot) {
    return trace->is_arena && row_at(trace, frame, slot)[0] == 2;
}

// The part of the recorded row that is state. The velocity of a cube is not.
bool trace_differs(const trace_file* trace, uint32_t frame, uint32_t other, uint32_t slot) {
    size_t bytes = trace->is_arena ? ARENA_BYTES : CUBE_BYTES - 6;
    return memcmp(row_at(trace, frame, slot), row_at(trace, other, slot), bytes) != 0;
}

void trace_row(const trace_file* trace, uint32_t frame, uint32_t slot, uint64_t* row) {
    const uint8_t* at = row_at(trace, frame, slot);
    if (trace->is_arena) {
        row[0] = at[3];
        row[1] = at[5];
        row[2] = u16_at(at + 14);
        row[3] = at[2];
        row[4] = u16_at(at + 6);
        row[5] = u16_at(at + 8);
        row[6] = at[4];
        row[7] = (u16_at(at + 10) + SPEED_OFFSET) & 0xffff;
        row[8] = (u16_at(at + 12) + SPEED_OFFSET) & 0xffff;
    } else {
        row[0] = at[19];
        row[1] = at[18];
        for (uint32_t i = 0; i < 3; i++)
            row[2 + i] = u16_at(at + 12 + 2 * i);
        row[5] = (u32_at(at) + CUBE_OFFSET) & UINT32_MAX;
        row[6] = (u32_at(at + 4) + CUBE_OFFSET) & UINT32_MAX;
        row[7] = u32_at(at + 8);
    }
    for (uint32_t f = 0; f < trace->layout.field_count; f++)
        bench_require(row[f] >> trace->layout.fields[f].quant.bits == 0,
                      "a number is out of range");
}
