// SPDX-License-Identifier: MIT
// UTF-8, one character at a time, and a list of characters that must not be shown. They turn the
// direction of the text, have no width, or end a line.
#include "base/shown.h"

#include "base/assert.h"

#include <string.h>

typedef struct hidden_range {
    uint32_t first, last;
} hidden_range;

static const hidden_range HIDDEN[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x2800, 0x2800}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

// The size of the character that begins with this byte; 0: none does.
static uint32_t size_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

// @return UINT32_MAX: no character. The NUL ends a character that is cut off.
static uint32_t code_of(const unsigned char* at, uint32_t size) {
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    if (size == 0) return UINT32_MAX;
    uint32_t code = size == 1 ? at[0] : at[0] & (0x7Fu >> size);
    for (uint32_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80) return UINT32_MAX;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < LEAST[size] || is_surrogate || code > 0x10FFFF ? UINT32_MAX : code;
}

static bool is_hidden(uint32_t code) {
    if ((code & 0xFFFE) == 0xFFFE) return true; // no character
    for (uint32_t i = 0; i < BASE_COUNT(HIDDEN); i++)
        if (code >= HIDDEN[i].first && code <= HIDDEN[i].last) return true;
    return false;
}

uint32_t base_shown_next(const char* at, uint32_t* code, bool* is_shown) {
    BASE_ASSERT(at && *at && code && is_shown);
    const unsigned char* bytes = (const unsigned char*)at;
    uint32_t size = size_of(bytes[0]);
    *code = code_of(bytes, size);
    *is_shown = *code != UINT32_MAX && !is_hidden(*code);
    return *code == UINT32_MAX ? 1 : size;
}

const char* base_shown_quote(char* target, size_t target_bytes, const char* source) {
    BASE_ASSERT(target && target_bytes >= 3 && source);
    size_t length = 0;
    target[length++] = '"';
    while (*source) {
        uint32_t code;
        bool is_shown;
        const uint32_t size = base_shown_next(source, &code, &is_shown);
        const uint32_t escaped = *source == '"' || *source == '\\';
        if (is_shown) {
            if (length + escaped + size + 2 > target_bytes) break;
            if (escaped) target[length++] = '\\';
            memcpy(target + length, source, size);
            length += size;
        }
        source += size;
    }
    target[length++] = '"';
    target[length] = '\0';
    return target;
}

bool base_shown_copy(char* target, size_t target_bytes, const char* source) {
    BASE_ASSERT(target && source);
    if (target_bytes == 0) return false;
    size_t length = 0;
    bool is_visible = false;
    while (*source) {
        uint32_t code;
        bool is_shown;
        uint32_t size = base_shown_next(source, &code, &is_shown);
        if (is_shown) {
            if (length + size >= target_bytes) break;
            memcpy(target + length, source, size);
            length += size;
            is_visible = is_visible || *source != ' ';
        }
        source += size;
    }
    target[length] = '\0';
    return is_visible;
}
