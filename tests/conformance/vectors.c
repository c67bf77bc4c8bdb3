// SPDX-License-Identifier: MIT
// The vectors of WIRE.md's pages, read from their text: lines `WORD key=value...` in their code
// blocks, and from wire_vectors.txt beside them. Every kind of line must occur, so that a misspelt
// word fails the test.
#include "mirror.h"
#include "outer.h"
#include "solo.h"
#include "short.h"
#include "values.h"
#include "window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES_MAX = 4096, WORDS_MAX = 96 };

typedef struct page_state {
    int failures;
    cf_tables* tables;
    cf_schema *schema, *solo_schema, *elastic_schema, *values_schema;
    cf_values values;
    cf_mirror* mirror;
    double time_s;
    cf_window window;               ///< of a session's datagrams
    bool is_solo;                   ///< the session is in solo code
    bool has_all_solo;              ///< such a session had each part of it
    uint32_t probes;                ///< probes that could be compared and were equal
    bool has_all;                   ///< a session had each part of the format
    bool without_solo, is_skipping; ///< of vectors_are_read; in a session that is left out
    bool is_reading; ///< vectors are read, not written again, and faults are not printed
    uint16_t seq;    // of the newest packet that was decoded
} page_state;

// Get the value of key= in a line; "" when it is not there.
static const char* value_of(const char* line, const char* key, char* target, size_t bytes) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, " %s=", key);
    const char* place = strstr(line, wanted);
    const char* start = place ? place + strlen(wanted) : "";
    size_t length = strcspn(start, " \n");
    if (length >= bytes) length = bytes - 1;
    memcpy(target, start, length);
    target[length] = 0;
    return target;
}

static double number_of(const char* line, const char* key) {
    char text[64];
    return strtod(value_of(line, key, text, sizeof text), NULL);
}

static uint64_t hex_of(const char* line, const char* key) {
    char text[64];
    return strtoull(value_of(line, key, text, sizeof text), NULL, 16);
}

static bool are_bits(const char* line, const bit_stream* bits) {
    char expected[LINE_BYTES_MAX];
    (void)value_of(line, "bits", expected, sizeof expected);
    if (bits->failed || strlen(expected) != bits->at) return false;
    for (size_t i = 0; i < bits->at; i++)
        if (expected[i] != '0' + (bits->data[i / 8] >> (i % 8) & 1)) return false;
    return true;
}

static void bits_of(const char* line, bit_stream* bits) {
    char text[LINE_BYTES_MAX];
    (void)value_of(line, "bits", text, sizeof text);
    for (const char* bit = text; *bit; bit++)
        bits_write(bits, *bit == '1', 1);
}

static bool check_golomb(page_state* page, const char* line) {
    uint8_t data[64];
    uint32_t order = (uint32_t)number_of(line, "order"), value = (uint32_t)number_of(line, "value");
    bit_stream bits = bits_over(data, sizeof data);
    if (page->is_reading) {
        bits_of(line, &bits);
    } else {
        golomb_write(&bits, order, value);
        if (!are_bits(line, &bits)) return false;
    }
    bit_stream reader = bits_over(data, sizeof data);
    return golomb_read(&reader, order) == value && reader.at == bits.at && !reader.failed;
}

static bool check_quant(page_state* page, const char* line) {
    (void)page;
    cf_element element;
    if (!element_make(&element, K_F32, (uint32_t)number_of(line, "bits"), number_of(line, "min"),
                      number_of(line, "step")))
        return false;
    uint64_t q = element_quantise_f32(&element, (uint32_t)hex_of(line, "value"));
    return (double)q == number_of(line, "q") &&
           element_restore_f32(&element, q) == hex_of(line, "back");
}

static void read_words(const char* text, uint64_t* words) {
    for (uint32_t i = 0; i < WORDS_MAX && *text; i++) {
        char* end;
        words[i] = strtoull(text, &end, 10);
        text = end + (*end == ',');
    }
}

static void read_floats(const char* line, const char* key, float parts[4]) {
    char text[64];
    const char* at = value_of(line, key, text, sizeof text);
    for (int i = 0; i < 4; i++) {
        char* end;
        uint32_t bits = (uint32_t)strtoul(at, &end, 16);
        memcpy(&parts[i], &bits, sizeof bits);
        at = end + (*end == ',');
    }
}

static bool check_rotation(page_state* page, const char* line) {
    (void)page;
    char text[LINE_BYTES_MAX];
    float value[4], back[4], restored[4];
    uint64_t words[WORDS_MAX] = {0}, made[4];
    uint32_t bits = (uint32_t)number_of(line, "bits");
    read_floats(line, "value", value);
    read_floats(line, "back", back);
    read_words(value_of(line, "words", text, sizeof text), words);
    rotation_quantise(value, bits, made);
    rotation_restore(made, bits, restored);
    return memcmp(made, words, sizeof made) == 0 && memcmp(restored, back, sizeof back) == 0 &&
           rotation_is_canonical(made, (UINT64_C(1) << bits) - 2);
}

static void add_element(cf_layout* layout, char letter) {
    static const struct {
        char letter;
        int kind;
        uint32_t bits;
        double min, step;
    } elements[] = {{'x', K_F32, 0, 0, 0},
                    {'b', K_BOOL, 0, 0, 0},
                    {'i', K_I32, 0, 0, 0},
                    {'u', K_U8, 0, 0, 0},
                    {'e', K_ENTITY, 0, 0, 0},
                    {'q', K_F32, 16, -3.3, 0.01},
                    {'v', K_F32, 12, -64, 1.0 / 32},
                    {'s', K_F32, 16, 0, 1.0 / 128},
                    {'y', K_F32, 12, -80, 1.0 / 24},
                    {'w', K_F32, 2, 0, 1},
                    {'z', K_F64, 24, 0, 1.0 / 1024},
                    {'f', K_F32, 0, 0, 0},
                    {'d', K_F64, 0, 0, 0}};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (elements[i].letter != letter) continue;
        cf_element* element = &layout->elements[layout->element_count++];
        (void)element_make(element, elements[i].kind, elements[i].bits, elements[i].min,
                           elements[i].step);
        element->is_elastic = letter == 'f' || letter == 'd';
    }
}

static void add_rotation(cf_layout* layout, uint32_t c) {
    layout->is_rotation[c] = true;
    for (uint32_t i = 0; i < 4; i++) {
        cf_element* element = &layout->elements[layout->element_count++];
        (void)element_make(element, i == 0 ? K_U8 : K_U16, i == 0 ? 2 : 9, 0, 1);
        if (i > 0) element->q_max = (1u << 9) - 2;
    }
}

void vector_layout(const char* text, cf_layout* layout) {
    static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    *layout = (cf_layout){0};
    for (; *text; text++) {
        if (*text == '+') continue;
        uint32_t c = layout->component_count++;
        layout->names[c] = names[c];
        layout->first[c] = layout->element_count;
        if (*text == 's' || *text == 'z') layout->integrals[c] = names[c - 1];
        if (*text == 'r') add_rotation(layout, c);
        for (; *text && *text != ','; text++)
            add_element(layout, *text);
        layout->count[c] = layout->element_count - layout->first[c];
        if (!*text) break;
    }
}

// The middle of a line, if it has one: "kinds=... scales=... expected=...".
static bool is_middle(const char* line, const cf_layout* layout, const cf_bases* bases,
                      const uint64_t* row) {
    char middle[MIDDLE_BYTES_MAX];
    const char* place = strstr(line, "kinds=");
    if (!place) return true;
    row_print_middle(layout, bases, row, middle);
    return strncmp(place, middle, strlen(middle)) == 0;
}

// What a line says of a row: its layout, the rows that it is against, and its bits.
typedef struct row_line {
    cf_layout layout;
    uint64_t base[WORDS_MAX], base2[WORDS_MAX];
    cf_bases bases;
    uint8_t data[256];
    bit_stream bits;
} row_line;

static void read_row_line(const page_state* page, const char* line, row_line* row) {
    char text[LINE_BYTES_MAX];
    *row = (row_line){.bases = {.base = row->base,
                                .ticks = (uint32_t)number_of(line, "h"),
                                .ticks2 = (uint32_t)number_of(line, "d")}};
    vector_layout(value_of(line, "layout", text, sizeof text), &row->layout);
    layout_finish(&row->layout, page->tables, 60);
    read_words(value_of(line, "base", text, sizeof text), row->base);
    read_words(value_of(line, "base2", text, sizeof text), row->base2);
    if (text[0]) row->bases.base2 = row->base2;
    row->bits = bits_over(row->data, sizeof row->data);
}

static bool check_row(page_state* page, const char* line) {
    static row_line of;
    char text[LINE_BYTES_MAX];
    uint64_t row[WORDS_MAX] = {0}, back[WORDS_MAX] = {0};
    read_row_line(page, line, &of);
    read_words(value_of(line, "row", text, sizeof text), row);
    bool is_written_otherwise = strncmp(line, "row_read ", strlen("row_read ")) == 0;
    if (page->is_reading || is_written_otherwise) {
        bits_of(line, &of.bits);
    } else {
        row_write(&of.layout, &of.bases, row, &of.bits);
        if (!are_bits(line, &of.bits)) return false;
    }
    if (!page->is_reading && !is_middle(line, &of.layout, &of.bases, row)) return false;
    bit_stream reader = bits_over(of.data, sizeof of.data);
    row_read(&of.layout, &of.bases, back, &reader);
    return memcmp(back, row, sizeof row) == 0 && reader.at == of.bits.at && !reader.failed;
}

// The bits are no row.
static bool check_no_row(page_state* page, const char* line) {
    static row_line of;
    uint64_t back[WORDS_MAX];
    read_row_line(page, line, &of);
    bits_of(line, &of.bits);
    bit_stream reader = bits_over(of.data, (of.bits.at + 7) / 8);
    reader.size_bits = of.bits.at;
    row_read(&of.layout, &of.bases, back, &reader);
    return reader.failed;
}

static bool check_low_bits(page_state* page, const char* line) {
    (void)page;
    return (double)header_nearest((uint64_t)number_of(line, "low"), 16,
                                  (uint64_t)number_of(line, "known")) == number_of(line, "value");
}

static bool check_descriptor(page_state* page, const char* line) {
    (void)page;
    char name[64];
    (void)value_of(line, "message", name, sizeof name);
    const void* descriptor = strcmp(name, "Refused") == 0 ? &shoal__wire__refused__descriptor
                             : strcmp(name, "PlayerAssigned") == 0
                                 ? &shoal__wire__player_assigned__descriptor
                                 : NULL;
    return descriptor && descriptor_hash(descriptor) == hex_of(line, "hash");
}

static bool check_item(page_state* page, const char* line) {
    char kind[64], rest[64], name[130];
    uint64_t hash;
    (void)value_of(line, "kind", kind, sizeof kind);
    (void)value_of(line, "name", rest, sizeof rest);
    snprintf(name, sizeof name, "%s %s", kind, rest);
    return schema_item(page->schema, name, &hash) && hash == hex_of(line, "hash");
}

static bool check_schema(page_state* page, const char* line) {
    return page->schema->hash == hex_of(line, "hash");
}

static size_t read_hex(const char* text, uint8_t* bytes, size_t bytes_max) {
    size_t count = 0;
    for (; count < bytes_max && text[0] && text[1]; text += 2)
        if (sscanf(text, "%2hhx", &bytes[count++]) != 1) return 0;
    return count;
}

// Are the samples of a body those of the line, if it has some?
static bool are_samples(const char* line, const solo_body* body) {
    const char* at = strstr(line, " samples=");
    if (!at || !body) return !at;
    at += strlen(" samples");
    for (uint32_t i = 0; i < body->sample_count; i++) {
        const solo_sample* sample = &body->samples[i];
        uint64_t size = solo_size(sample->value);
        uint32_t low = 0;
        while (size >> low > 15)
            low++;
        char digits[SOLO_FEATURES + 1] = "", text[64];
        for (uint32_t k = 0; k < SOLO_FEATURES; k++)
            digits[k] = "0123456789abcdefghijklmnopqrstuv"[sample->features[k]];
        int bytes = snprintf(text, sizeof text, "%c%" PRIu32 ".%s.%s%" PRIu64 ".%" PRId32,
                             i ? ',' : '=', sample->field, digits, sample->value < 0 ? "-" : "",
                             size >> low << low, solo_chance(body, sample));
        if (strncmp(at, text, (size_t)bytes) != 0) return false;
        at += bytes;
    }
    return *at == 0 || *at == '\n';
}

// Decode a state and encode it again.
static bool check_state(page_state* page, const char* line, ProtobufCBinaryData state) {
    uint8_t again[1172] = {0};
    cf_known known = {0};
    cf_header header;
    bit_stream bits = bits_over(state.data, state.len), writer = bits_over(again, sizeof again);
    known.has_tick = mirror_tick(page->mirror, &known.tick);
    known.seq = page->seq;
    if (!header_read(&bits, &known, &header)) return false;
    header_write(&writer, &header);
    bool is_right = header.tick == (uint64_t)number_of(line, "tick") &&
                    header.seq == (uint32_t)number_of(line, "seq");
    body_result result = mirror_apply(page->mirror, header.seq, header.tick,
                                      header.has_body ? &bits : NULL, &writer);
    bool is_newer = !known.has_tick || (int16_t)(uint16_t)(header.seq - page->seq) > 0;
    if (result == BODY_DECODED && is_newer) page->seq = header.seq;
    probe_result probe = mirror_compare_probe(page->mirror, &header);
    page->probes += probe == PROBE_EQUAL;
    // A packet of a session that came too late has no base any more; then it changes nothing.
    bool is_late = strncmp(line, "late ", strlen("late ")) == 0;
    if (is_late) return is_right && result == BODY_WITHOUT_BASE;
    is_right &= result == BODY_DECODED && probe != PROBE_DIFFERS;
    is_right &= are_samples(line, page->mirror->solo_body);
    bool is_read_only = page->is_reading || page->is_solo;
    return is_right && (is_read_only || (!writer.failed && (writer.at + 7) / 8 == state.len &&
                                         memcmp(again, state.data, state.len) == 0));
}

static bool check_packet(page_state* page, const char* line) {
    char text[LINE_BYTES_MAX];
    uint8_t bytes[1172], again[1172];
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), bytes, sizeof bytes);
    Shoal__Wire__StatePacket* packet = shoal__wire__state_packet__unpack(NULL, size, bytes);
    if (!packet) return false;
    bool is_right = check_state(page, line, packet->state) &&
                    shoal__wire__state_packet__pack(packet, again) == size &&
                    memcmp(again, bytes, size) == 0;
    shoal__wire__state_packet__free_unpacked(packet, NULL);
    return is_right;
}

// A body, `count` times, each a tick later. @return the last result.
static body_result apply_body(page_state* page, const char* line) {
    char text[LINE_BYTES_MAX];
    uint8_t bytes[1172];
    size_t size = read_hex(value_of(line, "body", text, sizeof text), bytes, sizeof bytes);
    body_result result = BODY_DECODED;
    for (uint32_t i = 0; i == 0 || (result == BODY_DECODED && i < number_of(line, "count")); i++) {
        bit_stream bits = bits_over(bytes, size);
        result = mirror_apply(page->mirror, (uint16_t)((uint32_t)number_of(line, "seq") + i),
                              (uint64_t)number_of(line, "tick") + i, &bits, NULL);
        values_release(&page->values, page->mirror);
    }
    return result;
}

static bool check_accepted(page_state* page, const char* line) {
    return apply_body(page, line) == BODY_DECODED;
}

static bool check_refused(page_state* page, const char* line) {
    return apply_body(page, line) != BODY_DECODED;
}

static bool check_scope(page_state* page, const char* line) {
    uint32_t entities;
    uint64_t hash = mirror_scope_hash(page->mirror, &entities);
    if (hash == hex_of(line, "hash") && entities == (uint32_t)number_of(line, "entities"))
        return true;
    if (!page->is_reading)
        fprintf(stderr, "scope entities=%" PRIu32 " hash=%016" PRIx64 "\n", entities, hash);
    return false;
}

static bool check_varsize(page_state* page, const char* line) {
    (void)page;
    char type[64], text[LINE_BYTES_MAX], printed[LINE_BYTES_MAX * 8];
    uint8_t bytes[256], again[256];
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), bytes, sizeof bytes);
    cf_varsize* value = varsize_read(value_of(line, "type", type, sizeof type), bytes, size);
    if (!value) return false;
    varsize_print(value, printed);
    bool is_right = varsize_write(value, again) == size && memcmp(again, bytes, size) == 0 &&
                    strcmp(printed, value_of(line, "value", text, sizeof text)) == 0;
    varsize_destroy(value);
    return is_right;
}

static bool check_no_varsize(page_state* page, const char* line) {
    (void)page;
    char type[64], text[LINE_BYTES_MAX];
    uint8_t bytes[256];
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), bytes, sizeof bytes);
    cf_varsize* value = varsize_read(value_of(line, "type", type, sizeof type), bytes, size);
    if (value) varsize_destroy(value);
    return !value;
}

// A VarsizeValue, after what came before it.
static bool take_value(page_state* page, const char* line) {
    char text[LINE_BYTES_MAX];
    uint8_t bytes[256];
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), bytes, sizeof bytes);
    Shoal__Wire__VarsizeValue* value = shoal__wire__varsize_value__unpack(NULL, size, bytes);
    bool is_right = value && !values_take(&page->values, page->values_schema, page->mirror, value);
    if (value) shoal__wire__varsize_value__free_unpacked(value, NULL);
    return is_right;
}

static bool check_no_value(page_state* page, const char* line) {
    return !take_value(page, line);
}

static bool has_all_parts(const cf_mirror* mirror) {
    mirror_counts counts = mirror->counts;
    return counts.creates && counts.recreates && counts.destroys && counts.late && counts.settled &&
           counts.from_default && (counts.bases || counts.from_packet) && counts.absent;
}

static bool has_all_of_solo(const cf_mirror* mirror) {
    mirror_counts counts = mirror->counts;
    return counts.solo && counts.solo < counts.packets && counts.third_rows && counts.second_rows &&
           counts.recreates && counts.late;
}

static void solo_rows(const char* line, const row_line* of, solo_body* body, uint64_t* row) {
    char text[LINE_BYTES_MAX];
    uint64_t base3[WORDS_MAX] = {0};
    read_words(value_of(line, "base3", text, sizeof text), base3);
    for (double left = number_of(line, "rows"); left > 0; left--)
        solo_row(body, 0, &of->layout, &of->bases, text[0] ? base3 : NULL,
                 (uint32_t)number_of(line, "d3"), row);
}

static bool check_solo(page_state* page, const char* line) {
    static row_line of;
    char text[LINE_BYTES_MAX];
    uint64_t row[WORDS_MAX] = {0}, back[WORDS_MAX] = {0};
    read_row_line(page, line, &of);
    read_words(value_of(line, "row", text, sizeof text), row);
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), of.data, sizeof of.data);
    solo_body* body = calloc(1, sizeof *body);
    if (!body) abort();
    body->statistics = solo_statistics_create();
    double times = number_of(line, "times"), all = times + number_of(line, "times2");
    for (double i = 0; i < all; i++) {
        if (i == times) read_words(value_of(line, "row2", text, sizeof text), row);
        solo_begin(body, NULL, 0);
        solo_rows(line, &of, body, row);
        solo_train(body->statistics, body->samples, body->sample_count);
    }
    solo_begin(body, of.data, size);
    solo_rows(line, &of, body, back);
    bool is_equal = solo_end(body) && memcmp(row, back, sizeof row) == 0 && are_samples(line, body);
    free(body->statistics);
    free(body);
    return is_equal;
}

// A recorded session begins with an empty mirror.
static bool check_session(page_state* page, const char* line) {
    page->has_all |= has_all_parts(page->mirror);
    page->has_all_solo |= has_all_of_solo(page->mirror);
    mirror_destroy(page->mirror);
    page->is_solo = number_of(line, "solo") > 0;
    page->is_skipping = page->is_solo && page->without_solo;
    values_end(&page->values);
    cf_schema* schema = number_of(line, "elastic") > 0  ? page->elastic_schema
                        : number_of(line, "values") > 0 ? page->values_schema
                        : page->is_solo                 ? page->solo_schema
                                                        : page->schema;
    if (strstr(line, " schema=") && schema->hash != hex_of(line, "schema")) return false;
    page->mirror = mirror_create(schema, (uint32_t)number_of(line, "index_max"));
    if (page->is_solo) mirror_use_solo(page->mirror);
    return true;
}

static bool check_window_key(page_state* page, const char* line) {
    char text[LINE_BYTES_MAX];
    uint8_t key[32];
    (void)read_hex(value_of(line, "session_key_to_client", text, sizeof text), key, sizeof key);
    window_begin(&page->window, key);
    return true;
}

static bool check_outer(page_state* page, const char* line) {
    (void)page;
    char name[64] = "";
    uint8_t bytes[1232];
    (void)sscanf(line, "outer %63[^=]", name);
    size_t size = read_hex(strchr(line, '=') + 1, bytes, sizeof bytes);
    return outer_check(name, bytes, size);
}

// Datagrams in order: "outer read_taken..." or "outer read_dropped..."; some come 6 s later.
static bool check_window(page_state* page, const char* line) {
    uint8_t bytes[64];
    const char* hex = strchr(line, '=');
    size_t size = hex ? read_hex(hex + 1, bytes, sizeof bytes) : 0;
    bool is_taken = strncmp(line, "outer read_taken", strlen("outer read_taken")) == 0;
    if (strstr(line, "_6_s_later=")) page->time_s += 6;
    return size > 0 && window_open(&page->window, bytes, size, page->time_s) == is_taken;
}

static const uint8_t as_40[] = {0x08, 0x05, 0x10, 0x01}, as_38[] = {0x08, 0x03, 0x10, 0x01},
                     as_42[] = {0x08, 0x06, 0x18, 0x02};

// What the page says in words of its packets.
static const cf_short first_packet = {.seq = 1,
                                      .has_ack = true,
                                      .ack = 2,
                                      .delay = 9,
                                      .ack_bits = 3,
                                      .reach = 2,
                                      .has_event_ack = true,
                                      .event_ack = 1,
                                      .number = 1,
                                      .count = 1,
                                      .inputs = {as_40},
                                      .sizes = {sizeof as_40}};
static const cf_short low_packet = {.seq = 300,
                                    .has_ack = true,
                                    .ack = 65535,
                                    .delay = 9,
                                    .ack_bits = 5,
                                    .reach = 3,
                                    .number = 40,
                                    .count = 3,
                                    .inputs = {as_38, as_40, as_40},
                                    .sizes = {4, 4, 4},
                                    .seen = 1000};
static const cf_short short_packet = {.seq = 302,
                                      .ack = 2,
                                      .delay = 9,
                                      .ack_bits = 3 | 1 << 2 | 5 << 3,
                                      .number = 42,
                                      .count = 2,
                                      .inputs = {as_40, as_42},
                                      .sizes = {4, 4},
                                      .seen = 1515};

static bool are_bytes(const char* line, const bit_stream* bits) {
    char text[LINE_BYTES_MAX];
    uint8_t expected[64];
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), expected, sizeof expected);
    return size == (bits->at + 7) / 8 && memcmp(bits->data, expected, size) == 0;
}

static bool check_short(page_state* page, const char* line) {
    (void)page;
    static cf_said said[SHORT_KEPT];
    uint8_t bytes[64] = {0};
    bit_stream bits = bits_over(bytes, sizeof bytes);
    short_keep(said, &low_packet);
    const cf_said* base = &said[300 % SHORT_KEPT];
    if (!short_fits(base, &short_packet)) return false;
    short_write(&bits, base, &short_packet);
    return are_bytes(line, &bits);
}

// What a reader knows: of the page, unless the line says otherwise.
static cf_known known_of(const char* line, cf_known known) {
    if (strstr(line, " first=1")) return (cf_known){0};
    if (strstr(line, " input=")) known.input = (uint64_t)number_of(line, "input");
    if (strstr(line, " event=")) known.event = (uint64_t)number_of(line, "event");
    return known;
}

static const cf_known known_input = {
    .has_tick = true, .tick = 7, .input = 39, .seq = 299, .sent = 65535};

// Write the packet, and write again the one that is read.
static bool check_input(page_state* page, const char* line) {
    (void)page;
    char text[LINE_BYTES_MAX];
    uint8_t bytes[2][64] = {0}, hex[64];
    cf_store store;
    cf_short back;
    const bool is_first = number_of(line, "seq") == 1;
    const cf_known known = is_first ? (cf_known){0} : known_input;
    bit_stream bits[2] = {bits_over(bytes[0], 64), bits_over(bytes[1], 64)};
    input_write(&bits[0], is_first ? &first_packet : &low_packet, is_first);
    bit_stream reader = bits_over(bytes[0], (bits[0].at + 7) / 8);
    if (!input_read(&reader, &known, &store, &back)) return false;
    input_write(&bits[1], &back, is_first);
    Shoal__Wire__InputPacket packet = SHOAL__WIRE__INPUT_PACKET__INIT;
    packet.input = (ProtobufCBinaryData){(bits[1].at + 7) / 8, bytes[1]};
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), hex, sizeof hex);
    return shoal__wire__input_packet__get_packed_size(&packet) == size && size <= 64 &&
           shoal__wire__input_packet__pack(&packet, bytes[0]) == size &&
           memcmp(bytes[0], hex, size) == 0;
}

// "no_input" or "no_state".
static bool check_refused_bits(page_state* page, const char* line) {
    (void)page;
    char text[LINE_BYTES_MAX];
    uint8_t bytes[512];
    cf_store store;
    cf_short input;
    cf_header header;
    size_t size = read_hex(value_of(line, "hex", text, sizeof text), bytes, sizeof bytes);
    bit_stream bits = bits_over(bytes, size);
    const bool is_input = strncmp(line, "no_input ", strlen("no_input ")) == 0;
    const cf_known known = known_of(
        line, is_input ? known_input : (cf_known){.has_tick = true, .tick = 373, .seq = 370});
    return size > 0 && !(is_input ? input_read(&bits, &known, &store, &input)
                                  : header_read(&bits, &known, &header));
}

static const struct vector_kind {
    const char* word;
    bool (*check)(page_state* page, const char* line);
    int least;
} kinds[] = {
    {"golomb ", check_golomb, 12},         {"quant ", check_quant, 8},
    {"rotation ", check_rotation, 6},      {"row layout=", check_row, 143},
    {"solo layout=", check_solo, 48},      {"row_read layout=", check_row, 19},
    {"no_row layout=", check_no_row, 15},  {"low_bits low=", check_low_bits, 6},
    {"descriptor ", check_descriptor, 2},  {"varsize ", check_varsize, 8},
    {"no_varsize ", check_no_varsize, 9},  {"item ", check_item, 8},
    {"schema ", check_schema, 1},          {"session index_max=", check_session, 11},
    {"packet seq=", check_packet, 112},    {"late seq=", check_packet, 1},
    {"accepted ", check_accepted, 52},     {"refused ", check_refused, 28},
    {"scope ", check_scope, 112},          {"outer session_key_to_client=", check_window_key, 1},
    {"outer read_", check_window, 11},     {"outer ", check_outer, 17},
    {"short seq=", check_short, 1},        {"input seq=", check_input, 2},
    {"value version=", take_value, 16},    {"no_value ", check_no_value, 5},
    {"no_input ", check_refused_bits, 12}, {"no_state ", check_refused_bits, 8}};
enum { KINDS = sizeof kinds / sizeof *kinds };

// @return false: the line is a vector that fails.
static bool check_line(page_state* page, const char* line, int* seen) {
    for (int k = 0; k < KINDS; k++) {
        if (strncmp(line, kinds[k].word, strlen(kinds[k].word)) != 0) continue;
        bool is_solo = page->is_skipping && kinds[k].check != check_session;
        if (is_solo || (page->without_solo && kinds[k].check == check_solo)) return true;
        seen[k]++;
        if (kinds[k].check(page, line)) continue;
        page->failures++;
        if (!page->is_reading) fprintf(stderr, "differs: %s", line);
        return false;
    }
    return true;
}

// @return false: the file cannot be read.
static bool check_lines(page_state* page, FILE* file, int* seen) {
    if (!file) return false;
    char line[LINE_BYTES_MAX];
    while (fgets(line, sizeof line, file))
        if (!check_line(page, line, seen) && page->is_reading) break;
    fclose(file);
    return true;
}

// Files in the order of reading. @return false: one cannot be read.
static bool check_files(page_state* page, const char* folder, int* seen) {
    static const char* const names[] = {"VECTORS.md", "SOLO.md", "VARSIZE.md", "wire_vectors.txt"};
    bool is_open = true;
    for (size_t i = 0; i < sizeof names / sizeof *names && is_open; i++)
        if (!page->is_reading || page->failures == 0)
            is_open = check_lines(page, page_open(folder, names[i]), seen);
    return is_open;
}

static bool open_page(page_state* page, const char* folder) {
    page->tables = tables_read(folder);
    if (!page->tables) return false;
    page->schema = schema_create(game_find("vectors"), page->tables);
    page->solo_schema = schema_create(game_find("solo"), page->tables);
    page->elastic_schema = schema_create(game_find("elastic"), page->tables);
    page->values_schema = schema_create(game_find("values"), page->tables);
    schema_set_rate(page->solo_schema, 60);
    schema_set_rate(page->elastic_schema, 60);
    page->mirror = mirror_create(page->schema, 1000);
    return true;
}

static void close_page(page_state* page) {
    mirror_destroy(page->mirror);
    schema_destroy(page->schema);
    schema_destroy(page->solo_schema);
    schema_destroy(page->elastic_schema);
    schema_destroy(page->values_schema);
    values_end(&page->values);
    free(page->tables);
}

static void require_kinds(page_state* page, const int* seen) {
    for (int k = 0; k < KINDS; k++) {
        if (seen[k] >= kinds[k].least) continue;
        page->failures++;
        fprintf(stderr, "%d vectors of kind %s, not %d\n", seen[k], kinds[k].word, kinds[k].least);
    }
    if (page->probes && page->has_all_solo && (page->has_all || has_all_parts(page->mirror)))
        return;
    page->failures++;
    fprintf(stderr, "the packets lack a part of the format\n");
}

int vectors_check(const char* folder) {
    page_state page = {0};
    if (!open_page(&page, folder)) return 2;
    int seen[KINDS] = {0}, total = 0;
    bool is_open = check_files(&page, folder, seen);
    if (is_open) require_kinds(&page, seen);
    for (int k = 0; k < KINDS; k++)
        total += seen[k];
    printf("conformance vectors=%d failures=%d\n", total, page.failures);
    close_page(&page);
    return !is_open ? 2 : page.failures ? 1 : 0;
}

bool vectors_are_read(const char* folder, bool without_solo) {
    page_state page = {.is_reading = true, .without_solo = without_solo};
    int seen[KINDS] = {0};
    if (!open_page(&page, folder)) return false;
    bool is_open = check_files(&page, folder, seen);
    close_page(&page);
    return is_open && page.failures == 0;
}
