// SPDX-License-Identifier: MIT
// A text may hold anything but NUL: names come from players and files.
#include "base/json.h"

#include "base/text.h"

#include <string.h>

void base_json_put(base_bytes* json, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0) base_bytes_write(json, text, strlen(text));
}

// Count the bytes of the UTF-8 sequence at `text`. @return 0: it is no such sequence.
static size_t utf8_bytes(const uint8_t* text) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = text[0] < 0x80 ? 1 : text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
    if (size == 1) return 1;
    if (text[0] < 0xC0 || text[0] > 0xF7) return 0;
    uint32_t value = text[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (text[i] & 0x3F);
    }
    bool is_surrogate = value >= 0xD800 && value < 0xE000;
    return value >= smallest[size] && value <= 0x10FFFF && !is_surrogate ? size : 0;
}

void base_json_escaped(base_bytes* json, const char* text) {
    for (const uint8_t* at = (const uint8_t*)text; *at;) {
        size_t size = utf8_bytes(at);
        if (size == 0)
            base_json_put(json, "\\ufffd");
        else if (*at < 32 || *at == 127)
            base_json_put(json, "\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            base_json_put(json, "\\%c", *at);
        else
            base_bytes_write(json, at, size);
        at += size > 0 ? size : 1;
    }
}

void base_json_text(base_bytes* json, const char* text) {
    base_json_put(json, "\"");
    base_json_escaped(json, text);
    base_json_put(json, "\"");
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
