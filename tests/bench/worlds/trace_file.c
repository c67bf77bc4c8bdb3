// SPDX-License-Identifier: MIT
// Rows of recorded worlds, as a game would declare them: positions and headings with their steps,
// the velocity as the source of the position, an orientation as a rotation, and whole numbers.
#include "trace.h"

#include "../bench.h"

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

static uint8_t* read_whole(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    bench_require(file != NULL, "the trace cannot be opened");
    bench_require(fseek(file, 0, SEEK_END) == 0, "the trace cannot be read");
    long length = ftell(file);
    rewind(file);
    bench_require(length > ARENA_HEADER_BYTES, "the trace is too short");
    *size = (size_t)length;
    uint8_t* bytes = bench_allocate(*size);
    bench_require(fread(bytes, 1, *size, file) == *size, "the trace cannot be read");
    fclose(file);
    unsigned long long content = ZSTD_getFrameContentSize(bytes, *size);
    if (content == ZSTD_CONTENTSIZE_ERROR) return bytes; // plain
    bench_require(content != ZSTD_CONTENTSIZE_UNKNOWN, "the trace does not say how long it is");
    uint8_t* plain = bench_allocate((size_t)content);
    size_t got = ZSTD_decompress(plain, (size_t)content, bytes, *size);
    bench_require(!ZSTD_isError(got) && got == content && got > ARENA_HEADER_BYTES,
                  "the trace is damaged");
    bench_release(bytes);
    *size = (size_t)content;
    return plain;
}

static void describe_cubes(trace* made) {
    proto_layout* layout = trace_add_template(made);
    trace_add_words(layout, 1, PROTO_BOOL, 0); // interacting
    trace_add_rotation(layout, 9);
    for (uint32_t i = 1; i < 4; i++)
        layout->fields[layout->field_count - i].quant.q_max = 511; // the file uses all 512 words
    trace_add_reals(layout, 2, 18, -256, 1.0 / 512);               // position
    trace_add_fields(layout, 1, PROTO_F32, 14, 0, 1.0 / 512);
}

static void describe_arena(trace* made) {
    for (uint32_t t = 0; t < 2; t++) {
        proto_layout* layout = trace_add_template(made);
        trace_add_words(layout, 1, PROTO_U8, 0);                    // ammo
        trace_add_words(layout, 1, PROTO_U8, 2);                    // flags
        trace_add_reals(layout, 1, 10, 0, 0.0061359231515425649);   // heading
        trace_add_words(layout, 1, PROTO_U8, 0);                    // health
        trace_add_reals(layout, 2, 16, 0, 1.0 / 128)->integral = 7; // position
        trace_add_words(layout, 1, PROTO_U8, 1);                    // team
        trace_add_reals(layout, 2, 12, -SPEED_OFFSET / 32.0, 1.0 / 32);
    }
}

static void read_cube(const uint8_t* at, uint64_t* row) {
    row[0] = at[19];
    row[1] = at[18];
    for (uint32_t i = 0; i < 3; i++)
        row[2 + i] = u16_at(at + 12 + 2 * i);
    row[5] = (u32_at(at) + CUBE_OFFSET) & UINT32_MAX;
    row[6] = (u32_at(at + 4) + CUBE_OFFSET) & UINT32_MAX;
    row[7] = u32_at(at + 8);
}

static void read_agent(const uint8_t* at, uint64_t* row) {
    row[0] = at[3];
    row[1] = at[5];
    row[2] = u16_at(at + 14);
    row[3] = at[2];
    row[4] = u16_at(at + 6);
    row[5] = u16_at(at + 8);
    row[6] = at[4];
    row[7] = (u16_at(at + 10) + SPEED_OFFSET) & 0xffff;
    row[8] = (u16_at(at + 12) + SPEED_OFFSET) & 0xffff;
}

static void set_defaults(trace* made, bool is_arena) {
    for (uint32_t t = 0; t < made->template_count; t++) {
        uint64_t* row = made->defaults[t];
        if (is_arena) {
            row[0] = t == 0 ? 30 : 0;
            row[3] = t == 0 ? 100 : 0;
            row[7] = row[8] = SPEED_OFFSET;
        } else {
            row[1] = 3;
            row[2] = row[3] = row[4] = 256;
            row[5] = row[6] = CUBE_OFFSET;
        }
    }
}

static void read_rows(trace* made, const uint8_t* at, bool is_arena) {
    const proto_layout* layout = &made->layouts[0];
    size_t rows = (size_t)made->places * made->frames;
    for (size_t i = 0; i < rows; i++, at += is_arena ? ARENA_BYTES : CUBE_BYTES) {
        uint64_t row[TRACE_FIELDS_MAX];
        made->lives[i] = !is_arena ? 1 : at[0] == 0 ? 0 : at[0] << 8 | at[1];
        made->templates[i] = is_arena && at[0] == 2;
        if (is_arena) {
            read_agent(at, row);
        } else {
            read_cube(at, row);
        }
        for (uint32_t f = 0; f < made->field_count; f++) {
            bench_require(row[f] >> layout->fields[f].quant.bits == 0, "a number is out of range");
            made->words[i * made->field_count + f] = (uint32_t)row[f];
        }
    }
}

void trace_read(trace* made, const char* path) {
    size_t size;
    uint8_t* bytes = read_whole(path, &size);
    bool is_arena = memcmp(bytes, "ARNQ", 4) == 0;
    bench_require(is_arena || memcmp(bytes, "CUBQ", 4) == 0, "the trace is neither CUBQ nor ARNQ");
    const char* name = strrchr(path, '/');
    trace_begin(made, name ? name + 1 : path, u32_at(bytes + 16));
    made->name[strcspn(made->name, ".")] = 0;
    uint32_t places = u32_at(bytes + 8), frames = u32_at(bytes + 12);
    size_t header = is_arena ? ARENA_HEADER_BYTES : CUBE_HEADER_BYTES;
    size_t frame_bytes = (size_t)places * (is_arena ? ARENA_BYTES : CUBE_BYTES);
    bench_require(made->rate_hz == RATE_HZ && places > 0 && places <= TRACE_PLACES_MAX &&
                      size >= header + frame_bytes * frames,
                  "the trace is cut off");
    if (is_arena) {
        describe_arena(made);
    } else {
        describe_cubes(made);
    }
    trace_finish(made, places, frames);
    set_defaults(made, is_arena);
    read_rows(made, bytes + header, is_arena);
    bench_release(bytes);
}
