// SPDX-License-Identifier: MIT
// Recorded worlds. A GENQ file says in text what its rows are. The two formats before it, CUBQ and
// ARNQ, have rows of one size without such a text, so theirs is here; it is read by the same code.
//
// A text has a line for each template and component (README.md).
#include "trace.h"

#include "../bench.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LINE_BYTES_MAX = 8192, RATE_HZ_MAX = 1000, WORD_BITS_MAX = 32, GENQ_ROW_BYTES = 7 };
enum { FIXED_HEADER_BYTES = 20, FIXED_WORDS = 9 };

static const char* const kinds[PROTO_KIND_COUNT] = {"BOOL", "I8",  "I16", "I32", "I64", "U8",
                                                    "U16",  "U32", "U64", "F32", "F64", "ENTITY"};

// A format whose rows have one size: a row for each place in each frame. A word is the number in
// the row, less MIN / STEP.
typedef struct fixed_format {
    const char *magic, *text;
    uint32_t header_bytes, row_bytes;
    bool has_lives; // the first bytes: what it is (0: nothing, else 1 + template), and its life
    uint8_t at[FIXED_WORDS], bytes[FIXED_WORDS]; // where the number of each word is
} fixed_format;

#define ARENA_TEMPLATE(name, ammo, health)                                                         \
    "template " name " 7\n"                                                                        \
    "component ammo 1 U8 0 0 0 0 " ammo "\n"                                                       \
    "component flags 1 U8 2 0 1 0 0\n"                                                             \
    "component heading 1 F32 10 0 0.0061359231515425649 0 0\n"                                     \
    "component health 1 U8 0 0 0 0 " health "\n"                                                   \
    "component position 2 F32 16 0 0.0078125 7 0 0\n"                                              \
    "component team 1 U8 1 0 1 0 0\n"                                                              \
    "component velocity 2 F32 12 -64 0.03125 0 2048 2048\n"

static const fixed_format fixed_formats[] = {
    {"CUBQ",
     "template cube 3\n"
     "component interacting 1 BOOL 0 0 0 0 0\n"
     "component orientation 4 ROTATION 9 0 0 0 3 256 256 256\n"
     "component position 2 F32 18 -256 0.001953125 0 131072 131072\n"
     "more 1 F32 14 0 0.001953125 0 0\n"
     "end\n",
     32,
     26,
     false,
     {19, 18, 12, 14, 16, 0, 4, 8},
     {1, 1, 2, 2, 2, 4, 4, 4}},
    {"ARNQ",
     ARENA_TEMPLATE("agent", "30", "100") ARENA_TEMPLATE("projectile", "0", "0") "end\n",
     40,
     16,
     true,
     {3, 5, 14, 2, 6, 8, 4, 10, 12},
     {1, 1, 2, 1, 2, 2, 1, 2, 2}},
};

typedef struct reader {
    trace* made;
    const uint8_t *at, *end;
    uint32_t places, frames;
    uint32_t templates, components; // that are still to come; components: of this template
    const char* where;              // "line" or "frame"
    uint32_t number;                // of it
    char line[LINE_BYTES_MAX];
    char* rest;       // of the line
    const char* word; // the newest of the line
} reader;

// What is wrong ends the program, with its line or frame.
static void require(const reader* r, bool holds, const char* what) {
    char message[TRACE_MESSAGE_BYTES];
    if (holds) return;
    snprintf(message, sizeof message, "the trace, %s %u: %s", r->where, (unsigned)r->number, what);
    bench_require(false, message);
}

static uint32_t number_at(const uint8_t* at, uint32_t bytes) {
    uint32_t number = 0;
    for (uint32_t i = bytes; i-- > 0;)
        number = number << 8 | at[i];
    return number;
}

// ---- the text ----

static void next_line(reader* r) {
    r->number++;
    const size_t most = (size_t)(r->end - r->at);
    const uint8_t* end = memchr(r->at, '\n', most < LINE_BYTES_MAX ? most : LINE_BYTES_MAX);
    require(r, end != NULL, "the text does not end, or this line is too long");
    memcpy(r->line, r->at, (size_t)(end - r->at));
    r->line[end - r->at] = 0;
    r->at = end + 1;
    r->rest = r->line;
}

static const char* next_word(reader* r) {
    r->word = strtok_r(r->rest, " ", &r->rest);
    if (!r->word) r->word = "";
    return r->word;
}

static void take_name(reader* r, char name[TRACE_NAME_BYTES]) {
    const char* word = next_word(r);
    require(r, *word != 0 && strlen(word) < TRACE_NAME_BYTES, "a name is missing or too long");
    memcpy(name, word, strlen(word) + 1);
}

static double take_real(reader* r, const char* what) {
    double value = 0;
    require(r, base_text_parse_f64(next_word(r), &value), what);
    return value;
}

static uint32_t take_whole(reader* r, const char* what, uint32_t least, uint32_t most) {
    const double real = take_real(r, what);
    require(r, real >= least && real <= most && real == (double)(uint32_t)real, what);
    return (uint32_t)real;
}

static void end_line(reader* r) {
    require(r, *next_word(r) == 0, "more words than are wanted");
}

static uint32_t read_number(reader* r, const char* key, uint32_t most) {
    next_line(r);
    require(r, strcmp(next_word(r), key) == 0, key);
    const uint32_t value = take_whole(r, key, 1, most);
    end_line(r);
    return value;
}

// A rotation of a file may use all words.
static void add_rotation(proto_layout* layout, uint32_t bits) {
    trace_add_rotation(layout, bits);
    for (uint32_t i = 1; i < PROTO_ROTATION_WORDS; i++)
        layout->fields[layout->field_count - i].quant.q_max = (1u << bits) - 1;
}

static void read_fields(reader* r, proto_layout* layout, bool is_more) {
    const uint32_t count = take_whole(r, "COUNT", 1, TRACE_FIELDS_MAX - layout->field_count);
    const char* word = next_word(r);
    uint32_t kind = 0;
    while (kind < PROTO_KIND_COUNT && strcmp(word, kinds[kind]) != 0)
        kind++;
    bool is_rotation = strcmp(word, "ROTATION") == 0 && count == PROTO_ROTATION_WORDS && !is_more;
    require(r,
            is_rotation || (kind < PROTO_KIND_COUNT && proto_kind_bytes(kind) * 8 <= WORD_BITS_MAX),
            "KIND");
    const uint32_t bits = take_whole(r, "BITS", is_rotation ? PROTO_ROTATION_BITS_MIN : 0,
                                     is_rotation ? PROTO_ROTATION_BITS_MAX : WORD_BITS_MAX);
    const double min = take_real(r, "MIN"), step = take_real(r, "STEP");
    const uint32_t integral =
        take_whole(r, "INTEGRAL", 0, layout->component_count + r->components + !is_more);
    if (is_rotation) {
        add_rotation(layout, bits);
    } else {
        if (!is_more) trace_add_component(layout)->integral = (uint8_t)integral;
        trace_add_fields(layout, count, kind, bits, min, step);
    }
    for (uint32_t f = layout->field_count - count; f < layout->field_count; f++)
        r->made->defaults[r->made->template_count - 1][f] = take_whole(r, "DEFAULT", 0, UINT32_MAX);
    end_line(r);
}

static void read_component(reader* r, bool is_more) {
    trace* made = r->made;
    require(r, made->template_count > 0, "a component before the first template");
    proto_layout* layout = &made->layouts[made->template_count - 1];
    const uint32_t before = layout->component_count;
    if (is_more) {
        require(r, before > 0 && !layout->components[before - 1].is_rotation,
                "no component that can have more fields is before it");
    } else {
        require(r, r->components-- > 0, "more components than the template names");
        take_name(r, made->components_named[made->template_count - 1][before]);
    }
    read_fields(r, layout, is_more);
}

static void read_template(reader* r) {
    require(r, r->components == 0, "components are missing");
    require(r, r->templates-- > 0, "more templates than the head names");
    (void)trace_add_template(r->made);
    take_name(r, r->made->templates_named[r->made->template_count - 1]);
    r->components = take_whole(r, "COMPONENTS", 1, PROTO_ROW_COMPONENTS_MAX);
    end_line(r);
}

// Words are those of a value when they survive the way through the memory that a game would have.
static void check_row(reader* r, uint32_t t, const uint64_t* row) {
    const proto_layout* layout = &r->made->layouts[t];
    uint64_t cut[TRACE_FIELDS_MAX], again[TRACE_FIELDS_MAX];
    for (uint32_t f = 0; f < layout->field_count; f++)
        cut[f] = row[f] & UINT32_MAX >> (32 - layout->fields[f].quant.bits);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint32_t memory[TRACE_FIELDS_MAX];
        proto_row_write_component(layout, c, cut, memory);
        proto_row_read_component(layout, c, memory, again);
    }
    require(r, memcmp(row, again, layout->field_count * sizeof *row) == 0,
            "a row or a default has words that no value gives");
}

static void read_templates(reader* r) {
    uint32_t longest = 0;
    for (;;) {
        next_line(r);
        const char* word = next_word(r);
        if (strcmp(word, "end") == 0) break;
        if (strcmp(word, "template") == 0)
            read_template(r);
        else if (strcmp(word, "component") == 0 || strcmp(word, "more") == 0)
            read_component(r, *word == 'm');
        else
            require(r, false, "template, component, more or end");
    }
    require(r, r->templates == 0 && r->components == 0, "templates or components are missing");
    for (uint32_t t = 0; t < r->made->template_count; t++)
        if (r->made->layouts[t].field_count > longest) longest = r->made->layouts[t].field_count;
    require(r, (uint64_t)r->places * r->frames * longest <= TRACE_WORDS_MAX,
            "places x frames x fields are too many");
    trace_reserve(r->made, r->places, r->frames);
    for (uint32_t t = 0; t < r->made->template_count; t++)
        check_row(r, t, r->made->defaults[t]);
}

static void read_head(reader* r) {
    char name[TRACE_NAME_BYTES]; // the file's own name is shorter
    (void)read_number(r, "GENQ", 1);
    next_line(r);
    take_name(r, name);
    r->made->rate_hz = read_number(r, "hz", RATE_HZ_MAX);
    r->places = read_number(r, "places", TRACE_PLACES_MAX);
    r->frames = read_number(r, "frames", TRACE_FRAMES_MAX);
    r->templates = read_number(r, "templates", TRACE_TEMPLATES_MAX);
}

// ---- the rows ----

static void put(reader* r, uint32_t place, uint32_t life, uint32_t template_, const uint64_t* row) {
    const trace* made = r->made;
    require(r, place < made->places && template_ < made->template_count && life != 0,
            "a place, life or template is out of range");
    require(r, trace_life(made, r->number, place) == 0, "a place has two rows");
    check_row(r, template_, row);
    trace_put_row(r->made, r->number, place, life, template_, row);
}

// @return the next `bytes` of the file.
static const uint8_t* take_bytes(reader* r, size_t bytes) {
    require(r, (size_t)(r->end - r->at) >= bytes, "the file ends here");
    r->at += bytes;
    return r->at - bytes;
}

static void read_row(reader* r) {
    uint64_t row[TRACE_FIELDS_MAX];
    const uint8_t* head = take_bytes(r, GENQ_ROW_BYTES);
    const uint32_t template_ = head[6];
    const uint32_t count =
        template_ < r->made->template_count ? r->made->layouts[template_].field_count : 0;
    for (uint32_t f = 0; f < count; f++)
        row[f] = number_at(take_bytes(r, sizeof(uint32_t)), sizeof(uint32_t));
    put(r, number_at(head, 2), number_at(head + 2, 4), template_, row);
}

static void read_fixed_row(reader* r, const fixed_format* format, uint32_t place) {
    const uint8_t* at = take_bytes(r, format->row_bytes);
    if (format->has_lives && at[0] == 0) return;
    uint64_t row[FIXED_WORDS];
    for (uint32_t f = 0; f < r->made->field_count; f++) {
        const proto_quant* quant = &r->made->layouts[0].fields[f].quant;
        row[f] = number_at(at + format->at[f], format->bytes[f]);
        if (quant->is_exact) continue;
        row[f] -= (uint64_t)(int64_t)(quant->min / quant->step);
        row[f] &= UINT32_MAX >> (32 - 8 * format->bytes[f]);
    }
    put(r, place, format->has_lives ? number_at(at, 2) : 1, format->has_lives ? at[0] - 1u : 0,
        row);
}

static void read_rows(reader* r, const fixed_format* format) {
    r->where = "frame";
    for (r->number = 0; r->number < r->frames; r->number++) {
        const uint32_t rows = format ? r->places : number_at(take_bytes(r, 2), 2);
        for (uint32_t i = 0; i < rows; i++) {
            if (format)
                read_fixed_row(r, format, i);
            else
                read_row(r);
        }
    }
    require(r, r->at == r->end, "bytes after the last row");
}

// ---- a file ----

static void read_fixed(reader* r, const fixed_format* format) {
    const uint8_t *end = r->end, *at = take_bytes(r, format->header_bytes);
    r->places = number_at(at + 8, 4);
    r->frames = number_at(at + 12, 4);
    r->made->rate_hz = number_at(at + 16, 4);
    require(r,
            r->places - 1 < TRACE_PLACES_MAX && r->frames - 1 < TRACE_FRAMES_MAX &&
                r->made->rate_hz - 1 < RATE_HZ_MAX,
            "places, frames or Hz");
    r->templates = format->has_lives ? 2 : 1;
    r->at = (const uint8_t*)format->text;
    r->end = r->at + strlen(format->text);
    read_templates(r);
    r->at = at + format->header_bytes;
    r->end = end;
    read_rows(r, format);
}

void trace_parse(trace* made, const char* name, const uint8_t* bytes, size_t size) {
    trace_begin(made, name, 0);
    reader* r = bench_allocate(sizeof *r);
    *r = (reader){.made = made, .at = bytes, .end = bytes + size, .where = "line"};
    const fixed_format* format = NULL;
    for (uint32_t i = 0; i < BASE_COUNT(fixed_formats); i++)
        if (size >= FIXED_HEADER_BYTES && memcmp(bytes, fixed_formats[i].magic, 4) == 0)
            format = &fixed_formats[i];
    if (format) {
        read_fixed(r, format);
    } else {
        read_head(r);
        read_templates(r);
        read_rows(r, NULL);
    }
    bench_release(r);
}

static uint8_t* read_whole(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    bench_require(file != NULL, "the trace cannot be opened");
    bench_require(fseek(file, 0, SEEK_END) == 0, "the trace cannot be read");
    long length = ftell(file);
    rewind(file);
    bench_require(length > 0, "the trace is empty");
    *size = (size_t)length;
    uint8_t* bytes = bench_allocate(*size);
    bench_require(fread(bytes, 1, *size, file) == *size, "the trace cannot be read");
    fclose(file);
    unsigned long long content = ZSTD_getFrameContentSize(bytes, *size);
    if (content == ZSTD_CONTENTSIZE_ERROR) return bytes; // plain
    bench_require(content != ZSTD_CONTENTSIZE_UNKNOWN, "the trace does not say how long it is");
    uint8_t* plain = bench_allocate((size_t)content);
    size_t got = ZSTD_decompress(plain, (size_t)content, bytes, *size);
    bench_require(!ZSTD_isError(got) && got == content, "the trace is damaged");
    bench_release(bytes);
    *size = (size_t)content;
    return plain;
}

void trace_read(trace* made, const char* path) {
    size_t size;
    uint8_t* bytes = read_whole(path, &size);
    const char* name = strrchr(path, '/');
    trace_parse(made, name ? name + 1 : path, bytes, size);
    made->name[strcspn(made->name, ".")] = 0;
    bench_release(bytes);
}
