// SPDX-License-Identifier: MIT
// The code against the standard: runs the vectors of WIRE.md's pages and the file beside them.
#include "rows.h"

#include "base/hash.h"
#include "proto/codec.h"
#include "solo_samples.h"
#include "text_file.h"
#include "wire.pb-c.h"

enum { BITS_MAX = 512 };

// Get the value of key= in a line of key=value words; "" when it is not there.
static const char* find_value(const char* line, const char* key, char* target, size_t bytes) {
    char wanted[32];
    assert_true(base_text_format(wanted, sizeof wanted, " %s=", key));
    const char* place = strstr(line, wanted);
    const char* start = place ? place + strlen(wanted) : "";
    assert_true(base_text_format(target, bytes, "%.*s", (int)strcspn(start, " \n"), start));
    return target;
}

static double number(const char* line, const char* key) {
    char text[64];
    double value;
    assert_true(base_text_parse_f64(find_value(line, key, text, sizeof text), &value));
    return value;
}

static uint64_t hexadecimal(const char* line, const char* key) {
    char text[64];
    return strtoull(find_value(line, key, text, sizeof text), NULL, 16);
}

static void check_bits(const char* line, const proto_bit_writer* writer) {
    char expected[BITS_MAX], bits[BITS_MAX];
    (void)find_value(line, "bits", expected, sizeof expected);
    for (uint64_t i = 0; i < writer->size_bits; i++)
        bits[i] = (char)('0' + (writer->data[i / 8] >> i % 8 & 1));
    bits[writer->size_bits] = 0;
    assert_string_equal(bits, expected);
}

static void check_golomb(const char* line) {
    uint8_t data[BITS_MAX / 8];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    uint32_t value = (uint32_t)number(line, "value"), order = (uint32_t)number(line, "order");
    proto_bits_write_golomb(&writer, value, order);
    check_bits(line, &writer);
    proto_bit_reader reader = proto_bit_reader_make(data, sizeof data);
    assert_true(proto_bits_read_golomb(&reader, order) == value);
}

static void check_quant(const char* line) {
    proto_quant quant;
    assert_true(proto_quant_make(&quant, PROTO_F32, (uint32_t)number(line, "bits"),
                                 number(line, "min"), number(line, "step")));
    uint32_t value = (uint32_t)hexadecimal(line, "value"), back;
    uint64_t q = proto_quantise(&quant, &value);
    assert_true((double)q == number(line, "q"));
    proto_dequantise(&quant, q, &back);
    assert_int_equal(back, hexadecimal(line, "back"));
}

// Most letters are those of rows.h.
static void add_letter(proto_layout* layout, char letter) {
    proto_row_component* own = &layout->components[layout->component_count - 1];
    proto_quant* quant = &layout->fields[layout->field_count].quant;
    const char* const own_letters = "Lfd";
    const char* other = strchr(own_letters, letter);
    add_field(layout, other ? "wyY"[other - own_letters] : letter);
    if (letter == 's' || letter == 'z') own->integral = (uint8_t)(layout->component_count - 1);
    if (letter == 'u') assert_true(proto_quant_make(quant, PROTO_U8, 0, 0, 0));
    if (letter == 'w') assert_true(proto_quant_make(quant, PROTO_F32, 2, 0, 1));
    if (letter == 'y') assert_true(proto_quant_make(quant, PROTO_F32, 12, -80, 1.0 / 24));
    if (letter == 'z') assert_true(proto_quant_make(quant, PROTO_F64, 24, 0, 1.0 / 1024));
    if (letter == 'r') quant->q_max = 510;
}

static void read_layout(const char* text, proto_layout* layout) {
    memset(layout, 0, sizeof *layout);
    layout->tick_rate_hz = 60;
    for (const char* at = text; *at; at++) {
        if (*at == '+') continue;
        if (*at == ',' || at == text) {
            layout->components[layout->component_count] = (proto_row_component){
                .key = layout->component_count, .field_first = (uint16_t)layout->field_count};
            layout->component_count++;
            if (*at == ',') continue;
        }
        if (*at == '-') continue;
        if (*at != 'r') {
            add_letter(layout, *at);
            continue;
        }
        layout->components[layout->component_count - 1].is_rotation = true;
        for (const char* letter = "Lrrr"; *letter; letter++)
            add_letter(layout, *letter);
    }
    proto_layout_finish(layout);
}

static void read_words(const char* text, uint32_t count, uint64_t* words) {
    for (uint32_t i = 0; i < count; i++) {
        char* end;
        words[i] = strtoull(text, &end, 10);
        text = end + (*end == ',');
    }
}

// What a line says of a row: its layout, and against what it is coded. @return the row.
static const uint64_t* read_row(const char* line, proto_layout* layout, proto_row_base* against) {
    static uint64_t base[WORDS_MAX], base2[WORDS_MAX], row[WORDS_MAX];
    char text[BITS_MAX];
    read_layout(find_value(line, "layout", text, sizeof text), layout);
    read_words(find_value(line, "base", text, sizeof text), layout->field_count, base);
    read_words(find_value(line, "row", text, sizeof text), layout->field_count, row);
    *against = (proto_row_base){.base = base};
    if (strstr(line, " h=")) against->ticks = (uint32_t)number(line, "h");
    if (!strstr(line, " d=")) return row;
    against->ticks2 = (uint32_t)number(line, "d");
    read_words(find_value(line, "base2", text, sizeof text), layout->field_count, base2);
    against->base2 = base2;
    return row;
}

static void check_row(const char* line) {
    static proto_layout layout;
    proto_row_base against;
    uint64_t back[WORDS_MAX];
    uint8_t data[BITS_MAX / 8];
    const uint64_t* row = read_row(line, &layout, &against);
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_row_write(&layout, &against, row, &writer, NULL);
    check_bits(line, &writer);
    proto_bit_reader reader = proto_bit_reader_make(data, sizeof data);
    proto_row_read(&layout, &against, back, &reader, NULL);
    assert_false(reader.failed);
    assert_memory_equal(back, row, layout.field_count * sizeof *row);
}

static void bits_of(const char* line, uint8_t* data, proto_bit_reader* reader) {
    char text[BITS_MAX];
    size_t bits = strlen(find_value(line, "bits", text, sizeof text));
    memset(data, 0, BITS_MAX / 8);
    for (size_t i = 0; i < bits; i++)
        data[i / 8] |= (uint8_t)((text[i] == '1') << i % 8);
    *reader = proto_bit_reader_make(data, BITS_MAX / 8);
    reader->size_bits = bits;
}

// Bits that another writer may make.
static void check_row_read(const char* line) {
    static proto_layout layout;
    proto_row_base against;
    uint64_t back[WORDS_MAX];
    uint8_t data[BITS_MAX / 8];
    proto_bit_reader reader;
    const uint64_t* row = read_row(line, &layout, &against);
    bits_of(line, data, &reader);
    proto_row_read(&layout, &against, back, &reader, NULL);
    assert_false(reader.failed);
    assert_int_equal(reader.offset_bits, reader.size_bits);
    assert_memory_equal(back, row, layout.field_count * sizeof *row);
}

static void check_no_row(const char* line) {
    static proto_layout layout;
    proto_row_base against;
    uint64_t back[WORDS_MAX];
    uint8_t data[BITS_MAX / 8];
    proto_bit_reader reader;
    (void)read_row(line, &layout, &against);
    bits_of(line, data, &reader);
    proto_row_read(&layout, &against, back, &reader, NULL);
    assert_true(reader.failed);
}

static void check_samples(const char* line, const proto_solo_coder* coder) {
    static char expected[SOLO_SAMPLES_BYTES_MAX], samples[SOLO_SAMPLES_BYTES_MAX];
    if (!*find_value(line, "samples", expected, sizeof expected)) return;
    solo_samples_print(samples, coder);
    assert_string_equal(samples, expected);
}

// A body of equal rows in solo code, after training with itself.
static void check_solo(const char* line) {
    enum { SAMPLES = 256 };
    static proto_layout layout;
    static proto_solo_model model;
    static proto_solo_coder coder;
    char text[BITS_MAX], hex[BITS_MAX] = "";
    uint64_t base3[WORDS_MAX], copy[WORDS_MAX], back[WORDS_MAX];
    proto_solo_sample samples[SAMPLES];
    uint8_t data[BITS_MAX / 2];
    proto_row_base against;
    const uint64_t* row = read_row(line, &layout, &against);
    memcpy(copy, row, sizeof copy); // a reader writes where a writer reads
    proto_solo_third third = {.row = base3};
    bool has_third = strstr(line, " base3=") != NULL;
    if (has_third) {
        read_words(find_value(line, "base3", text, sizeof text), layout.field_count, base3);
        third.ticks = (uint32_t)number(line, "d3");
    }
    uint32_t times = (uint32_t)number(line, "times"), rows = (uint32_t)number(line, "rows");
    uint32_t all = times;
    if (strstr(line, " times2=")) all += (uint32_t)number(line, "times2");
    proto_solo_model_reset(&model);
    for (uint32_t i = 0; i <= all; i++) {
        if (i == times && all > times)
            read_words(find_value(line, "row2", text, sizeof text), layout.field_count, copy);
        if (i > 0) proto_solo_train(&model, samples, coder.sample_count);
        proto_solo_begin_write(&coder, &model, data, sizeof data, samples, SAMPLES);
        for (uint32_t k = 0; k < rows; k++)
            proto_solo_row(&coder, 0, &layout, &against, has_third ? &third : NULL, copy);
        assert_in_range(coder.sample_count, 1, SAMPLES - 1);
        if (i < all) (void)proto_solo_end(&coder);
    }
    size_t size = proto_solo_end(&coder);
    for (size_t i = 0; i < size; i++)
        assert_true(base_text_format(hex + 2 * i, 3, "%02x", data[i]));
    check_samples(line, &coder);
    assert_string_equal(hex, find_value(line, "hex", text, sizeof text));
    proto_solo_begin_read(&coder, &model, data, size, samples, SAMPLES);
    for (uint32_t k = 0; k < rows; k++) {
        proto_solo_row(&coder, 0, &layout, &against, has_third ? &third : NULL, back);
        assert_memory_equal(back, copy, layout.field_count * sizeof *row);
    }
    assert_int_equal(proto_solo_end(&coder), size);
}

static void read_parts(const char* line, const char* key, uint32_t parts[4]) {
    char text[64];
    const char* at = find_value(line, key, text, sizeof text);
    for (uint32_t i = 0; i < 4; i++) {
        char* end;
        parts[i] = (uint32_t)strtoul(at, &end, 16);
        at = end + (*end == ',');
    }
}

static void check_rotation(const char* line) {
    static proto_layout layout;
    char text[64];
    uint32_t value[4], back[4], restored[4];
    uint64_t words[4], made[4];
    read_layout("r", &layout);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t bits = i == 0 ? 2 : (uint32_t)number(line, "bits");
        layout.fields[i].offset_bytes = 4 * i;
        layout.fields[i].quant.bits = (uint8_t)bits;
        layout.fields[i].quant.q_max = i == 0 ? 3 : (1u << bits) - 2;
    }
    proto_layout_finish(&layout);
    read_parts(line, "value", value);
    read_parts(line, "back", back);
    read_words(find_value(line, "words", text, sizeof text), 4, words);
    proto_row_read_component(&layout, 0, value, made);
    assert_memory_equal(made, words, sizeof made);
    proto_row_write_component(&layout, 0, made, restored);
    assert_memory_equal(restored, back, sizeof back);
}

static void check_descriptor(const char* line) {
    char name[64];
    (void)find_value(line, "message", name, sizeof name);
    const ProtobufCMessageDescriptor* descriptor =
        strcmp(name, "Refused") == 0          ? &shoal__wire__refused__descriptor
        : strcmp(name, "PlayerAssigned") == 0 ? &shoal__wire__player_assigned__descriptor
                                              : NULL;
    assert_non_null(descriptor);
    assert_true(proto_descriptor_hash(descriptor) == hexadecimal(line, "hash"));
}

static void check_scope_bytes(const char* line) {
    char text[BITS_MAX];
    uint8_t bytes[BITS_MAX / 2];
    size_t size = 0;
    unsigned value;
    (void)find_value(line, "hex", text, sizeof text);
    while (sscanf(text + 2 * size, "%2x", &value) == 1)
        bytes[size++] = (uint8_t)value;
    assert_true(base_hash64(bytes, size, 0) == hexadecimal(line, "hash"));
}

CASE(the_vectors_hold) {
    static const struct {
        const char* word;
        void (*check)(const char* line);
        uint32_t least;
    } kinds[] = {{"\ngolomb ", check_golomb, 12},
                 {"\nquant ", check_quant, 8},
                 {"\nrotation ", check_rotation, 10},
                 {"\nrow layout=", check_row, 143},
                 {"\nrow_read layout=", check_row_read, 19},
                 {"\nno_row layout=", check_no_row, 15},
                 {"\nsolo layout=", check_solo, 48},
                 {"\ndescriptor ", check_descriptor, 2},
                 {"\nscope_bytes ", check_scope_bytes, 1}};
    uint32_t counts[BASE_COUNT(kinds)] = {0};
    static const char* const files[] = {PROTO_FOLDER "/VECTORS.md", PROTO_FOLDER "/SOLO.md",
                                        PROTO_FOLDER "/wire_vectors.txt"};
    for (size_t f = 0; f < BASE_COUNT(files); f++) {
        char* text = text_file_read(files[f]);
        assert_non_null(text);
        for (size_t k = 0; k < BASE_COUNT(kinds); k++)
            for (const char* at = strstr(text, kinds[k].word); at; at = strstr(at, kinds[k].word)) {
                char line[BITS_MAX * 4];
                at++;
                assert_true(
                    base_text_format(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at));
                kinds[k].check(line);
                counts[k]++;
            }
        free(text);
    }
    for (size_t k = 0; k < BASE_COUNT(kinds); k++)
        assert_true(counts[k] >= kinds[k].least);
}

// Are the codes of a row those of its digits, by the page's rule ("Codes")?
static bool is_row(const char* digits, uint32_t count, uint32_t free_room, const uint16_t* codes) {
    uint32_t place = 4096;
    for (uint32_t length = 0; length <= 15; length++)
        for (uint32_t i = 0; i < count; i++) {
            const char digit[] = {digits[i], 0};
            uint32_t reversed = 0;
            if (strtoul(digit, NULL, 16) != length) continue;
            if (length > 0) place -= 4096u >> length;
            for (uint32_t bit = 0; bit < length; bit++)
                reversed |= (place >> (11 - bit) & 1) << bit;
            if (codes[i] != (reversed << 4 | length)) return false;
        }
    return place >= free_room && place < 4096;
}

// Find the first table of the page that is not the one of the code; NULL: none.
static const char* find_other_table(const char* page) {
    static const struct {
        const char* name;
        uint32_t rows, symbols, free_room;
    } list[] = {{"number_plain", 31, 39, 0}, {"number_other", 31, 39, 0}, {"head", 27, 4, 128},
                {"drive", 34, 9, 128},       {"mask_first", 4, 16, 128},  {"mask_other", 3, 16, 0},
                {"field", 3, 16, 0}};
    const uint16_t* codes = proto_tables_builtin()->number_plain[0];
    for (size_t t = 0; t < BASE_COUNT(list); t++) {
        char line[32];
        assert_true(base_text_format(line, sizeof line, "\ntables %s\n", list[t].name));
        const char* at = strstr(page, line);
        if (!at) return list[t].name;
        at += strlen(line);
        for (uint32_t row = 0; row < list[t].rows; row++, codes += list[t].symbols) {
            uint32_t end = list[t].symbols;
            while (end > 0 && codes[end - 1] == 0)
                end--;
            at += strspn(at, " \n");
            if (strspn(at, "0123456789abcdef") != end || !is_row(at, end, list[t].free_room, codes))
                return list[t].name;
            at += end;
        }
        if (strspn(at, " \n0123456789abcdef") != 1) return list[t].name; // too many rows
    }
    return NULL;
}

CASE(the_tables_are_those_of_the_code) {
    char* page = text_file_read(PROTO_FOLDER "/ROWS.md");
    assert_non_null(page);
    assert_null(find_other_table(page));
    for (char* at = strstr(page, "tables number_plain"); *at != '`'; at++) {
        const char kept = *at;
        *at = kept == '1' ? '2' : '1';
        assert_non_null(find_other_table(page));
        *at = kept;
    }
    free(page);
}

// What row.c codes bit by bit is there as one number.
CASE(small_codes_are_those_of_numbers) {
    const proto_tables* tables = proto_tables_builtin();
    uint32_t shorter = 0;
    for (uint32_t scale = 0; scale < PROTO_NUMBER_SCALES; scale++) {
        for (int32_t i = -PROTO_SMALL; i < PROTO_SMALL; i++) {
            const uint32_t small = tables->small[scale][i + PROTO_SMALL];
            const uint16_t* codes = tables->number_plain[scale];
            row_code code = {.counts = {0}}, whole = code;
            const uint64_t size = row_code_number(&code, codes, i, 0, tables->small_bits_min);
            assert_int_equal(small & ((1u << PROTO_SMALL_CODE_BITS) - 1), code.bits[0]);
            assert_int_equal(small >> PROTO_SMALL_CODE_BITS & ((1u << PROTO_SMALL_LENGTH_BITS) - 1),
                             code.counts[0]);
            assert_int_equal((int32_t)small >> (PROTO_SMALL_CODE_BITS + PROTO_SMALL_LENGTH_BITS),
                             row_number_surprise(size, scale));
            (void)row_code_number(&whole, codes, i, 0, tables->small_bits_min - 1);
            shorter += whole.counts[0] < code.counts[0];
        }
    }
    assert_true(shorter > 0);
}

// What a reader finds at once is what it finds by trying all codes.
CASE(quick_codes_are_the_codes) {
    const proto_tables* tables = proto_tables_builtin();
    const uint16_t* codes = tables->number_plain[0];
    uint32_t found = 0;
    for (uint32_t row = 0; row < PROTO_QUICK_ROWS; row++, codes += PROTO_NUMBER_SYMBOLS) {
        for (uint32_t bits = 0; bits < 1u << PROTO_QUICK_BITS; bits++) {
            uint32_t expected = 0;
            for (uint32_t i = 0; i < PROTO_NUMBER_SYMBOLS; i++) {
                uint32_t length = codes[i] & 15;
                if (length == 0 || length > PROTO_QUICK_BITS) continue;
                if ((bits & ((1u << length) - 1)) == codes[i] >> 4) expected = i + 1;
            }
            assert_int_equal(tables->quick[row][bits], expected);
            found += expected != 0;
        }
    }
    assert_true(found > PROTO_QUICK_ROWS);
}
