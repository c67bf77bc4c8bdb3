// SPDX-License-Identifier: MIT
#include "trace.h"

#include "../bench.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_BYTES = 4 };

void trace_begin(trace* made, const char* name, uint32_t rate_hz) {
    memset(made, 0, sizeof *made);
    snprintf(made->name, sizeof made->name, "%s", name);
    made->rate_hz = rate_hz;
}

proto_layout* trace_add_template(trace* made) {
    bench_require(made->template_count < TRACE_TEMPLATES_MAX, "few templates");
    proto_layout* layout = &made->layouts[made->template_count++];
    layout->tick_rate_hz = made->rate_hz;
    return layout;
}

proto_row_component* trace_add_component(proto_layout* layout) {
    proto_row_component* made = &layout->components[layout->component_count++];
    *made = (proto_row_component){.key = layout->component_count,
                                  .field_first = (uint16_t)layout->field_count};
    return made;
}

void trace_add_fields(proto_layout* layout, uint32_t count, proto_kind kind, uint32_t bits,
                      double min, double step) {
    proto_row_component* component = &layout->components[layout->component_count - 1];
    for (uint32_t i = 0; i < count; i++) {
        bench_require(layout->field_count < TRACE_FIELDS_MAX, "few fields");
        proto_row_field* field = &layout->fields[layout->field_count++];
        field->offset_bytes = component->field_count++ * VALUE_BYTES;
        bench_require(proto_quant_make(&field->quant, kind, bits, min, step),
                      "a field of the trace");
        // As net makes rows.
        field->quant.is_elastic = field->quant.is_exact && (kind == PROTO_F32 || kind == PROTO_F64);
    }
}

void trace_add_rotation(proto_layout* layout, uint32_t bits) {
    trace_add_component(layout)->is_rotation = true;
    trace_add_fields(layout, 1, PROTO_U8, 2, 0, 1);
    trace_add_fields(layout, 3, PROTO_U16, bits, 0, 1);
    for (uint32_t i = 1; i < 4; i++)
        layout->fields[layout->field_count - i].quant.q_max = (1u << bits) - 2;
}

void trace_reserve(trace* made, uint32_t places, uint32_t frames) {
    bench_require(places <= TRACE_PLACES_MAX, "few places");
    made->places = places;
    made->frames = frames;
    for (uint32_t t = 0; t < made->template_count; t++) {
        proto_layout* layout = &made->layouts[t];
        proto_layout_finish(layout);
        if (layout->field_count > made->field_count) made->field_count = layout->field_count;
    }
    size_t rows = (size_t)places * frames;
    made->lives = bench_allocate(rows * sizeof *made->lives);
    made->templates = bench_allocate(rows);
    made->words = bench_allocate(rows * made->field_count * sizeof *made->words);
}

void trace_close(trace* made) {
    bench_release(made->lives);
    bench_release(made->templates);
    bench_release(made->words);
    memset(made, 0, sizeof *made);
}

static uint32_t* words_at(const trace* of, uint32_t frame, uint32_t place) {
    return of->words + ((size_t)frame * of->places + place) * of->field_count;
}

void trace_put_row(trace* made, uint32_t frame, uint32_t place, uint32_t life, uint32_t template_,
                   const uint64_t* row) {
    made->lives[(size_t)frame * made->places + place] = life;
    made->templates[(size_t)frame * made->places + place] = (uint8_t)template_;
    uint32_t* words = words_at(made, frame, place);
    for (uint32_t f = 0; f < made->layouts[template_].field_count; f++)
        words[f] = (uint32_t)row[f];
}

uint32_t trace_life(const trace* of, uint32_t frame, uint32_t place) {
    return of->lives[(size_t)frame * of->places + place];
}

uint32_t trace_template(const trace* of, uint32_t frame, uint32_t place) {
    return of->templates[(size_t)frame * of->places + place];
}

const proto_layout* trace_layout(const trace* of, uint32_t frame, uint32_t place) {
    return &of->layouts[trace_template(of, frame, place)];
}

void trace_row(const trace* of, uint32_t frame, uint32_t place, uint64_t* row) {
    const uint32_t* words = words_at(of, frame, place);
    for (uint32_t f = 0; f < of->field_count; f++)
        row[f] = words[f];
}

bool trace_differs(const trace* of, uint32_t frame, uint32_t other, uint32_t place) {
    return memcmp(words_at(of, frame, place), words_at(of, other, place),
                  trace_layout(of, frame, place)->field_count * sizeof *of->words) != 0;
}
