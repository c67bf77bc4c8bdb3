// SPDX-License-Identifier: MIT
// A byte buffer that grows, and a reader that cannot leave its input. Both remember a failure, so
// code that writes or reads a format checks once, at the end.
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
    bytes->failed = false;
}

static bool grow(base_bytes* bytes, size_t size_needed) {
    size_t capacity = bytes->capacity ? bytes->capacity : CAPACITY_BYTES_MIN;
    while (capacity < size_needed)
        capacity = capacity > SIZE_MAX / 2 ? size_needed : capacity * 2;
    uint8_t* data = base_allocate(bytes->allocator, capacity);
    if (!data) return false;
    if (bytes->size) memcpy(data, bytes->data, bytes->size);
    base_release(bytes->allocator, bytes->data, bytes->capacity);
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

uint8_t* base_bytes_extend(base_bytes* bytes, size_t size) {
    BASE_ASSERT(bytes->size <= bytes->capacity);
    if (bytes->failed) return NULL;
    bool overflows = size > SIZE_MAX - bytes->size;
    bool fits = !overflows && bytes->data && size <= bytes->capacity - bytes->size;
    if (overflows || (!fits && !grow(bytes, bytes->size + size))) {
        bytes->failed = true;
        return NULL;
    }
    uint8_t* target = bytes->data + bytes->size;
    bytes->size += size;
    return target;
}

void base_bytes_write(base_bytes* bytes, const void* data, size_t size) {
    BASE_ASSERT(data || size == 0);
    if (size == 0) return;
    uint8_t* target = base_bytes_extend(bytes, size);
    if (target) memcpy(target, data, size);
}

static void write_little_endian(base_bytes* bytes, uint64_t value, size_t size) {
    uint8_t* target = base_bytes_extend(bytes, size);
    if (!target) return;
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
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0) base_bytes_write(json, text, strlen(text));
}

// Runs of plain text are written at once.
void base_json_text(base_bytes* json, const char* text) {
    const char *at = text, *from = text;
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

void base_json_put_text(base_bytes* json, const char* before, const char* text) {
    base_json_put(json, "%s", before);
    base_json_text(json, text);
}

void base_json_hex(base_bytes* json, const void* data, size_t size) {
    base_json_put(json, "\"");
    for (size_t i = 0; i < size; i++)
        base_json_put(json, "%02x", ((const uint8_t*)data)[i]);
    base_json_put(json, "\"");
}

void base_json_f64(base_bytes* json, double value) {
    char text[64];
    double again;
    if (!(value - value == 0)) {
        base_json_put(json, "null");
        return;
    }
    (void)base_text_format(text, sizeof text, "%.15g", value);
    if (!base_text_parse_f64(text, &again) || again != value)
        (void)base_text_format(text, sizeof text, "%.17g", value);
    base_json_put(json, "%s", text);
}
