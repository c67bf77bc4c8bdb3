// SPDX-License-Identifier: MIT
// A byte buffer that grows, and a reader that cannot leave its input. It remembers a failure, so
// code that reads a format checks once, at the end.
//
// Numbers are built byte by byte: the result is the same on every machine, and compilers make one
// load or store of it on little-endian ones.
#include "base/assert.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

enum { CAPACITY_BYTES_MIN = 64, VARINT_BYTES_MAX = 10 };

void base_bytes_init(base_bytes* bytes, const base_allocator* allocator) {
    *bytes = (base_bytes){.allocator = allocator};
}

void base_bytes_deinit(base_bytes* bytes) {
    base_release(bytes->allocator, bytes->data, bytes->capacity);
    *bytes = (base_bytes){.allocator = bytes->allocator};
}

void base_bytes_clear(base_bytes* bytes) {
    bytes->size = 0;
}

static void grow(base_bytes* bytes, size_t size_needed) {
    size_t capacity = bytes->capacity ? bytes->capacity : CAPACITY_BYTES_MIN;
    while (capacity < size_needed)
        capacity = capacity > SIZE_MAX / 2 ? size_needed : capacity * 2;
    uint8_t* data = base_allocate(bytes->allocator, capacity);
    if (bytes->size) memcpy(data, bytes->data, bytes->size);
    base_release(bytes->allocator, bytes->data, bytes->capacity);
    bytes->data = data;
    bytes->capacity = capacity;
}

uint8_t* base_bytes_extend(base_bytes* bytes, size_t size) {
    BASE_ASSERT(bytes->size <= bytes->capacity);
    if (!bytes->data || size > bytes->capacity - bytes->size)
        grow(bytes, size > SIZE_MAX - bytes->size ? SIZE_MAX : bytes->size + size);
    uint8_t* target = bytes->data + bytes->size;
    bytes->size += size;
    return target;
}

void base_bytes_write(base_bytes* bytes, const void* data, size_t size) {
    BASE_ASSERT(data || size == 0);
    if (size == 0) return;
    memcpy(base_bytes_extend(bytes, size), data, size);
}

static void write_little_endian(base_bytes* bytes, uint64_t value, size_t size) {
    uint8_t* target = base_bytes_extend(bytes, size);
    for (size_t i = 0; i < size; i++)
        target[i] = (uint8_t)(value >> (8 * i));
}

void base_bytes_write_u8(base_bytes* bytes, uint8_t value) {
    write_little_endian(bytes, value, 1);
}
void base_bytes_write_u16(base_bytes* bytes, uint16_t value) {
    write_little_endian(bytes, value, 2);
}
void base_bytes_write_u32(base_bytes* bytes, uint32_t value) {
    write_little_endian(bytes, value, 4);
}
void base_bytes_write_u64(base_bytes* bytes, uint64_t value) {
    write_little_endian(bytes, value, 8);
}

void base_bytes_write_varint(base_bytes* bytes, uint64_t value) {
    uint8_t encoded[VARINT_BYTES_MAX];
    base_bytes_write(bytes, encoded, base_varint_put(encoded, value));
}

base_reader base_reader_make(const void* data, size_t size) {
    BASE_ASSERT(data || size == 0);
    static const uint8_t nothing[1] = {0};
    // Arithmetic on NULL is undefined even for 0 bytes.
    if (!data) return (base_reader){.data = nothing, .failed = size != 0};
    return (base_reader){.data = data, .size = size};
}

bool base_reader_read(base_reader* reader, void* target, size_t size) {
    const uint8_t* data = base_reader_skip(reader, size);
    if (size == 0) return data != NULL;
    if (data)
        memcpy(target, data, size);
    else
        memset(target, 0, size);
    return data != NULL;
}

uint64_t base_reader_varint_long(base_reader* reader) {
    const size_t left = base_reader_left(reader);
    const uint8_t* data = reader->data + reader->offset;
    uint64_t value = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MAX && i < left; i++) {
        // The tenth byte has room for one bit only.
        if (i == VARINT_BYTES_MAX - 1 && data[i] > 1) break;
        value |= (uint64_t)(data[i] & 0x7F) << (7 * i);
        if (data[i] >= 0x80) continue;
        reader->offset += i + 1;
        return value;
    }
    reader->failed = true;
    return 0;
}

// A text may hold anything but NUL: names come from players and files.

void base_json_put(base_bytes* json, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0) base_bytes_write(json, text, strlen(text));
}

// Runs of plain text are written at once.
void base_json_text(base_bytes* json, const char* text) {
    const char *at = text ? text : "", *from = at;
    base_bytes_write(json, "\"", 1);
    while (*at) {
        uint32_t code;
        bool is_shown;
        const uint32_t size = base_shown_next(at, &code, &is_shown);
        at += size;
        if (code >= 32 && code != 127 && code != '"' && code != '\\' && code != UINT32_MAX)
            continue;
        base_bytes_write(json, from, (size_t)(at - size - from));
        from = at;
        if (code == '"' || code == '\\')
            base_json_put(json, "\\%c", (char)code);
        else
            base_json_put(json, "\\u%04x", code == UINT32_MAX ? 0xFFFDu : code);
    }
    base_bytes_write(json, from, (size_t)(at - from));
    base_bytes_write(json, "\"", 1);
}

// A comma, but for the first thing in brackets, after a key, and after what is no JSON.
static void separate(base_bytes* json) {
    const char last = json->size > 0 ? (char)json->data[json->size - 1] : '{';
    if (!strchr("{[:, \n", last)) base_bytes_write_u8(json, ',');
}

void base_json_hex(base_bytes* json, const void* data, size_t size) {
    separate(json);
    base_json_put(json, "\"");
    for (size_t i = 0; i < size; i++)
        base_json_put(json, "%02x", ((const uint8_t*)data)[i]);
    base_json_put(json, "\"");
}

// ---- formats

// It reads back as the same double.
static void write_exact(base_bytes* json, double value) {
    char text[64] = "null";
    double again;
    const bool is_finite = value - value == 0;
    if (is_finite) (void)base_text_format(text, sizeof text, "%.15g", value);
    if (is_finite && (!base_text_parse_f64(text, &again) || again != value))
        (void)base_text_format(text, sizeof text, "%.17g", value);
    base_json_put(json, "%s", text);
}

static void write_rounded(base_bytes* json, double value) {
    if (!(value > -1e12 && value < 1e12)) {
        write_exact(json, value);
        return;
    }
    const int64_t milli = (int64_t)(value * 1000.0 + (value < 0 ? -0.5 : 0.5));
    base_json_put(json, milli % 1000 ? "%.3f" : "%.0f", (double)milli / 1000.0);
}

// `at`: after the percent. @return the last character of the conversion.
static const char* write_value(base_bytes* json, const char* at, va_list* arguments) {
    char format[16] = "%";
    const size_t size = strspn(at, "0123456789.j");
    const char kind = at[size];
    BASE_ASSERT(size < sizeof format - 2 && strchr("sidxuafg", kind));
    memcpy(format + 1, at, size + 1);
    if (kind == 's') {
        base_json_text(json, va_arg(*arguments, const char*));
    } else if (kind == 'i') {
        base_json_put(json, va_arg(*arguments, int) ? "true" : "false");
    } else if (kind == 'a') {
        write_exact(json, va_arg(*arguments, double));
    } else if (kind == 'f' && size == 0) {
        write_rounded(json, va_arg(*arguments, double));
    } else if (kind == 'f' || kind == 'g') {
        base_json_put(json, format, va_arg(*arguments, double));
    } else if (size > 0 && at[size - 1] == 'j') {
        base_json_put(json, format, va_arg(*arguments, uintmax_t));
    } else {
        base_json_put(json, format, va_arg(*arguments, unsigned));
    }
    return at + size;
}

void base_json_write(base_bytes* json, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    for (const char* at = format; *at; at++) {
        const size_t key = strcspn(at, "= \n%'{}[]");
        const size_t lines = strspn(at, " \n");
        if (*at == ' ') continue;
        if (!strchr("}]", at[lines])) separate(json);
        if (*at == '\n') {
            base_bytes_write(json, at, lines);
            at += lines - 1;
        } else if (*at == '\'') {
            base_bytes_write_u8(json, '"');
            for (at++; *at != '\''; at++)
                if (*at == '%')
                    at = write_value(json, at + 1, &arguments);
                else
                    base_bytes_write_u8(json, (uint8_t)*at);
            base_bytes_write_u8(json, '"');
        } else if (strncmp(at, "%s=", 3) == 0 || at[key] == '=') {
            if (*at == '%')
                base_json_text(json, va_arg(arguments, const char*));
            else
                base_json_put(json, "\"%.*s\"", (int)key, at);
            base_bytes_write_u8(json, ':');
            at = strchr(at, '=');
        } else if (*at == '%') {
            at = write_value(json, at + 1, &arguments);
        } else {
            base_bytes_write(json, at, key > 0 ? key : 1);
            at += key > 0 ? key - 1 : 0;
        }
    }
    va_end(arguments);
}
