// SPDX-License-Identifier: MIT
// Recorded worlds. A GENQ file says in text what its rows are. The two formats before it, CUBQ and
// ARNQ, have rows of one size without such a text, so theirs is here; it is read by the same code.
//
// A text has a line for each template and component (README.md).
#include "trace.h"

#include "../bench.h"

#include "base/text.h"

#include <stdarg.h>
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
    char* message;
} reader;

// @return false, as does what it ends.
__attribute__((format(printf, 2, 3))) static bool refuse(reader* r, const char* format, ...) {
    int size = snprintf(r->message, TRACE_MESSAGE_BYTES, "%s %u: ", r->where, (unsigned)r->number);
    va_list more;
    va_start(more, format);
    vsnprintf(r->message + size, TRACE_MESSAGE_BYTES - (size_t)size, format, more);
    va_end(more);
    return false;
}

static uint32_t number_at(const uint8_t* at, uint32_t bytes) {
    uint32_t number = 0;
    for (uint32_t i = bytes; i-- > 0;)
        number = number << 8 | at[i];
    return number;
}

// ---- the text ----

static bool next_line(reader* r) {
    r->number++;
    const size_t most = (size_t)(r->end - r->at);
    const uint8_t* end = memchr(r->at, '\n', most < LINE_BYTES_MAX ? most : LINE_BYTES_MAX);
    if (!end)
        return refuse(r, "the text does not end, or a line is longer than %d", LINE_BYTES_MAX);
    memcpy(r->line, r->at, (size_t)(end - r->at));
    r->line[end - r->at] = 0;
    r->at = end + 1;
    r->rest = r->line;
    return true;
}

static const char* next_word(reader* r) {
    r->word = strtok_r(r->rest, " ", &r->rest);
    if (!r->word) r->word = "";
    return r->word;
}

static bool take_name(reader* r, char name[TRACE_NAME_BYTES]) {
    const char* word = next_word(r);
    if (*word == 0 || strlen(word) >= TRACE_NAME_BYTES)
        return refuse(r, "a name has 1 to %u letters", TRACE_NAME_BYTES - 1);
    memcpy(name, word, strlen(word) + 1);
    return true;
}

static bool take_real(reader* r, const char* what, double* value) {
    const char* word = next_word(r);
    return base_text_parse_f64(word, value) || refuse(r, "%s is not a number: '%s'", what, word);
}

static bool take_whole(reader* r, const char* what, uint32_t least, uint32_t most,
                       uint32_t* value) {
    double real;
    if (!take_real(r, what, &real)) return false;
    if (!(real >= least && real <= most) || real != (double)(uint32_t)real)
        return refuse(r, "%s is not one of %u to %u: %s", what, (unsigned)least, (unsigned)most,
                      r->word);
    *value = (uint32_t)real;
    return true;
}

static bool end_line(reader* r) {
    const char* word = next_word(r);
    return *word == 0 || refuse(r, "more than is wanted: '%s'", word);
}

static bool read_number(reader* r, const char* key, uint32_t most, uint32_t* value) {
    if (!next_line(r)) return false;
    const char* word = next_word(r);
    if (strcmp(word, key) != 0) return refuse(r, "'%s' is expected, not '%s'", key, word);
    return take_whole(r, key, 1, most, value) && end_line(r);
}

static bool read_defaults(reader* r, const proto_layout* layout, uint32_t count) {
    uint64_t* row = r->made->defaults[r->made->template_count - 1];
    for (uint32_t f = layout->field_count - count; f < layout->field_count; f++) {
        uint32_t word;
        if (!take_whole(r, "DEFAULT", 0, UINT32_MAX, &word)) return false;
        row[f] = word;
    }
    return end_line(r);
}

// A rotation of a file may use all words.
static void add_rotation(proto_layout* layout, uint32_t bits) {
    trace_add_rotation(layout, bits);
    for (uint32_t i = 1; i < PROTO_ROTATION_WORDS; i++)
        layout->fields[layout->field_count - i].quant.q_max = (1u << bits) - 1;
}

static bool read_fields(reader* r, proto_layout* layout, bool is_more) {
    uint32_t count, bits, integral, kind = 0;
    double min, step;
    if (!take_whole(r, "COUNT", 1, TRACE_FIELDS_MAX - layout->field_count, &count)) return false;
    const char* word = next_word(r);
    while (kind < PROTO_KIND_COUNT && strcmp(word, kinds[kind]) != 0)
        kind++;
    bool is_rotation = strcmp(word, "ROTATION") == 0 && count == PROTO_ROTATION_WORDS && !is_more;
    if (!is_rotation && (kind == PROTO_KIND_COUNT || proto_kind_bytes(kind) * 8 > WORD_BITS_MAX))
        return refuse(r, "no KIND of at most %d bits: '%s'", WORD_BITS_MAX, word);
    uint32_t least = is_rotation ? PROTO_ROTATION_BITS_MIN : 0;
    uint32_t most = is_rotation ? PROTO_ROTATION_BITS_MAX : WORD_BITS_MAX;
    if (!take_whole(r, "BITS", least, most, &bits) || !take_real(r, "MIN", &min) ||
        !take_real(r, "STEP", &step) ||
        !take_whole(r, "INTEGRAL", 0, layout->component_count + r->components + !is_more,
                    &integral))
        return false;
    proto_quant quant;
    if (is_rotation) {
        add_rotation(layout, bits);
    } else if (!proto_quant_make(&quant, kind, bits, min, step)) {
        return refuse(r, "%u bits with this MIN and STEP do not fit a %s", (unsigned)bits, word);
    } else {
        if (!is_more) trace_add_component(layout)->integral = (uint8_t)integral;
        trace_add_fields(layout, count, kind, bits, min, step);
    }
    return read_defaults(r, layout, count);
}

static bool read_component(reader* r, bool is_more) {
    trace* made = r->made;
    if (made->template_count == 0) return refuse(r, "a component before the first template");
    proto_layout* layout = &made->layouts[made->template_count - 1];
    if (is_more) {
        bool is_first = layout->component_count == 0;
        if (is_first || layout->components[layout->component_count - 1].is_rotation)
            return refuse(r, "no component that can have more fields is before it");
        return read_fields(r, layout, true);
    }
    if (r->components-- == 0) return refuse(r, "more components than the template names");
    char* name = made->components_named[made->template_count - 1][layout->component_count];
    return take_name(r, name) && read_fields(r, layout, false);
}

static bool read_template(reader* r) {
    if (r->components > 0) return refuse(r, "%u components are missing", (unsigned)r->components);
    if (r->templates-- == 0) return refuse(r, "more templates than the head names");
    (void)trace_add_template(r->made);
    return take_name(r, r->made->templates_named[r->made->template_count - 1]) &&
           take_whole(r, "COMPONENTS", 1, PROTO_ROW_COMPONENTS_MAX, &r->components) && end_line(r);
}

// Words are those of a value when they survive the way through the memory that a game would have.
static bool check_row(reader* r, const char* what, uint32_t t, const uint64_t* row) {
    const proto_layout* layout = &r->made->layouts[t];
    uint64_t cut[TRACE_FIELDS_MAX];
    for (uint32_t f = 0; f < layout->field_count; f++)
        cut[f] = row[f] & UINT32_MAX >> (32 - layout->fields[f].quant.bits);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* component = &layout->components[c];
        uint32_t first = component->field_first, end = first + component->field_count;
        uint32_t memory[TRACE_FIELDS_MAX];
        uint64_t again[TRACE_FIELDS_MAX];
        proto_row_write_component(layout, c, cut, memory);
        proto_row_read_component(layout, c, memory, again);
        for (uint32_t f = first; f < end; f++)
            if (row[f] != again[f])
                return refuse(r, "%s, %s.%s: %#x is no word of field %u", what,
                              r->made->templates_named[t], r->made->components_named[t][c],
                              (unsigned)row[f], (unsigned)(f - first));
    }
    return true;
}

static bool read_templates(reader* r) {
    for (;;) {
        if (!next_line(r)) return false;
        const char* word = next_word(r);
        bool is_good = true;
        if (strcmp(word, "end") == 0) break;
        if (strcmp(word, "template") == 0)
            is_good = read_template(r);
        else if (strcmp(word, "component") == 0 || strcmp(word, "more") == 0)
            is_good = read_component(r, *word == 'm');
        else
            is_good = refuse(r, "no line begins with '%s'", word);
        if (!is_good) return false;
    }
    if (r->templates > 0 || r->components > 0)
        return refuse(r, "%u templates and %u components are missing", (unsigned)r->templates,
                      (unsigned)r->components);
    uint32_t longest = 0;
    for (uint32_t t = 0; t < r->made->template_count; t++)
        if (r->made->layouts[t].field_count > longest) longest = r->made->layouts[t].field_count;
    if ((uint64_t)r->places * r->frames * longest > TRACE_WORDS_MAX)
        return refuse(r, "places x frames x fields are more than %u", TRACE_WORDS_MAX);
    trace_reserve(r->made, r->places, r->frames);
    for (uint32_t t = 0; t < r->made->template_count; t++)
        if (!check_row(r, "its defaults", t, r->made->defaults[t])) return false;
    return true;
}

static bool read_head(reader* r) {
    char name[TRACE_NAME_BYTES]; // the file's own name is shorter
    uint32_t version;
    return read_number(r, "GENQ", 1, &version) && next_line(r) && take_name(r, name) &&
           read_number(r, "hz", RATE_HZ_MAX, &r->made->rate_hz) &&
           read_number(r, "places", TRACE_PLACES_MAX, &r->places) &&
           read_number(r, "frames", TRACE_FRAMES_MAX, &r->frames) &&
           read_number(r, "templates", TRACE_TEMPLATES_MAX, &r->templates);
}

// ---- the rows ----

static bool put(reader* r, uint32_t place, uint32_t life, uint32_t template_, const uint64_t* row) {
    const trace* made = r->made;
    if (place >= made->places || template_ >= made->template_count || life == 0)
        return refuse(r, "place %u, life %u, template %u: one is out of range", (unsigned)place,
                      (unsigned)life, (unsigned)template_);
    if (trace_life(made, r->number, place) != 0)
        return refuse(r, "place %u has two rows", (unsigned)place);
    char what[24];
    snprintf(what, sizeof what, "place %u", (unsigned)place);
    if (!check_row(r, what, template_, row)) return false;
    trace_put_row(r->made, r->number, place, life, template_, row);
    return true;
}

static bool read_row(reader* r) {
    if (r->end - r->at < GENQ_ROW_BYTES) return refuse(r, "the file ends in a row");
    uint32_t template_ = r->at[6];
    uint32_t count =
        template_ < r->made->template_count ? r->made->layouts[template_].field_count : 0;
    if ((size_t)(r->end - r->at) < GENQ_ROW_BYTES + count * sizeof(uint32_t))
        return refuse(r, "the file ends in a row");
    uint64_t row[TRACE_FIELDS_MAX];
    for (uint32_t f = 0; f < count; f++)
        row[f] = number_at(r->at + GENQ_ROW_BYTES + f * sizeof(uint32_t), sizeof(uint32_t));
    uint32_t place = number_at(r->at, 2), life = number_at(r->at + 2, 4);
    r->at += GENQ_ROW_BYTES + count * sizeof(uint32_t);
    return put(r, place, life, template_, row);
}

static bool read_fixed_row(reader* r, const fixed_format* format, uint32_t place) {
    if (r->end - r->at < format->row_bytes) return refuse(r, "the file ends in a row");
    const uint8_t* at = r->at;
    r->at += format->row_bytes;
    if (format->has_lives && at[0] == 0) return true;
    uint64_t row[FIXED_WORDS];
    for (uint32_t f = 0; f < r->made->field_count; f++) {
        const proto_quant* quant = &r->made->layouts[0].fields[f].quant;
        row[f] = number_at(at + format->at[f], format->bytes[f]);
        if (quant->is_exact) continue;
        row[f] -= (uint64_t)(int64_t)(quant->min / quant->step);
        row[f] &= UINT32_MAX >> (32 - 8 * format->bytes[f]);
    }
    return put(r, place, format->has_lives ? number_at(at, 2) : 1,
               format->has_lives ? at[0] - 1u : 0, row);
}

static bool read_rows(reader* r, const fixed_format* format) {
    r->where = "frame";
    for (r->number = 0; r->number < r->frames; r->number++) {
        if (!format && r->end - r->at < 2) return refuse(r, "the file ends here");
        uint32_t rows = format ? r->places : number_at(r->at, 2);
        if (!format) r->at += 2;
        for (uint32_t i = 0; i < rows; i++)
            if (!(format ? read_fixed_row(r, format, i) : read_row(r))) return false;
    }
    return r->at == r->end || refuse(r, "bytes after the last row");
}

// ---- a file ----

static bool read_fixed(reader* r, const fixed_format* format) {
    const uint8_t* at = r->at;
    if (r->end - at < format->header_bytes) return refuse(r, "the file ends in its head");
    const uint8_t* end = r->end;
    r->places = number_at(at + 8, 4);
    r->frames = number_at(at + 12, 4);
    r->made->rate_hz = number_at(at + 16, 4);
    if (r->places - 1 >= TRACE_PLACES_MAX || r->frames - 1 >= TRACE_FRAMES_MAX ||
        r->made->rate_hz - 1 >= RATE_HZ_MAX)
        return refuse(r, "%u places, %u frames, %u Hz: one is out of range", (unsigned)r->places,
                      (unsigned)r->frames, (unsigned)r->made->rate_hz);
    r->templates = format->has_lives ? 2 : 1;
    r->at = (const uint8_t*)format->text;
    r->end = r->at + strlen(format->text);
    if (!read_templates(r)) return false;
    r->at = at + format->header_bytes;
    r->end = end;
    return read_rows(r, format);
}

bool trace_parse(trace* made, const char* name, const uint8_t* bytes, size_t size,
                 char message[TRACE_MESSAGE_BYTES]) {
    trace_begin(made, name, 0);
    reader* r = bench_allocate(sizeof *r);
    *r = (reader){.made = made, .at = bytes, .end = bytes + size, .where = "line"};
    r->message = message;
    const fixed_format* format = NULL;
    for (uint32_t i = 0; i < BASE_COUNT(fixed_formats); i++)
        if (size >= FIXED_HEADER_BYTES && memcmp(bytes, fixed_formats[i].magic, 4) == 0)
            format = &fixed_formats[i];
    bool is_read =
        format ? read_fixed(r, format) : read_head(r) && read_templates(r) && read_rows(r, NULL);
    bench_release(r);
    return is_read;
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
    char message[TRACE_MESSAGE_BYTES];
    bool is_read = trace_parse(made, name ? name + 1 : path, bytes, size, message);
    bench_require(is_read, message);
    made->name[strcspn(made->name, ".")] = 0;
    bench_release(bytes);
}
