// SPDX-License-Identifier: MIT
// One recursive check, then walks that trust it.
#include "json.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

typedef struct reader {
    const char *at, *end;
} reader;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(reader* from) {
    while (from->at < from->end && is_blank(*from->at))
        from->at++;
}

static bool take_token(reader* from, char c) {
    skip_blanks(from);
    if (from->at == from->end || *from->at != c) return false;
    from->at++;
    return true;
}

static bool check_string(reader* from) {
    if (!take_token(from, '"')) return false;
    while (from->at < from->end && *from->at != '"') {
        if ((unsigned char)*from->at < 0x20) return false;
        from->at += *from->at == '\\' ? 2 : 1;
    }
    if (from->at >= from->end) return false;
    from->at++;
    return true;
}

// A number, true, false or null: the letters are not looked at.
static bool check_word(reader* from) {
    const char* begin = from->at;
    while (from->at < from->end && !is_blank(*from->at) && !strchr(",]}:[{\"", *from->at))
        from->at++;
    return from->at > begin;
}

static bool check_value(reader* from, uint32_t depth);

static bool check_container(reader* from, char end, bool has_keys, uint32_t depth) {
    if (depth == CTL_JSON_DEPTH_MAX) return false;
    from->at++;
    if (take_token(from, end)) return true;
    do {
        if (has_keys && (!check_string(from) || !take_token(from, ':'))) return false;
        if (!check_value(from, depth + 1)) return false;
    } while (take_token(from, ','));
    return take_token(from, end);
}

static bool check_value(reader* from, uint32_t depth) {
    skip_blanks(from);
    if (from->at == from->end || *from->at == '\0') return false;
    if (*from->at == '{') return check_container(from, '}', true, depth);
    if (*from->at == '[') return check_container(from, ']', false, depth);
    return *from->at == '"' ? check_string(from) : check_word(from);
}

ctl_value ctl_json_check(const char* text, size_t size) {
    reader from = {text, text + size};
    skip_blanks(&from);
    const char* begin = from.at;
    if (memchr(text, 0, size) || !check_value(&from, 0)) return (ctl_value){.at = NULL};
    const ctl_value value = {begin, (size_t)(from.at - begin)};
    skip_blanks(&from);
    return from.at == from.end ? value : (ctl_value){.at = NULL};
}

static ctl_value take_value(reader* from) {
    skip_blanks(from);
    const char* begin = from->at;
    bool is_whole = check_value(from, 0);
    BASE_ASSERT(is_whole); // ctl_json_check saw it, and here it is less deep
    return (ctl_value){begin, (size_t)(from->at - begin)};
}

bool ctl_json_next(ctl_value container, size_t* offset, ctl_value* key, ctl_value* value) {
    BASE_ASSERT(container.at && (container.at[0] == '{' || container.at[0] == '['));
    reader from = {container.at + (*offset ? *offset : 1), container.at + container.size};
    if (key) *key = (ctl_value){.at = NULL};
    (void)take_token(&from, ',');
    skip_blanks(&from);
    if (*from.at == ']' || *from.at == '}') return false;
    if (container.at[0] == '{') {
        const ctl_value name = take_value(&from);
        if (key) *key = name;
        (void)take_token(&from, ':');
    }
    *value = take_value(&from);
    *offset = (size_t)(from.at - container.at);
    return true;
}

ctl_value ctl_json_find(ctl_value object, const char* key) {
    ctl_value name, value;
    size_t offset = 0;
    if (!ctl_is_object(object)) return (ctl_value){.at = NULL};
    while (ctl_json_next(object, &offset, &name, &value))
        if (name.size == strlen(key) + 2 && memcmp(name.at + 1, key, name.size - 2) == 0)
            return value;
    return (ctl_value){.at = NULL};
}

// What is after a backslash; \u gives characters of one unit, others become '?'.
static size_t unescape(const char* at, size_t left, char* target) {
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    uint32_t code = 0;
    const char* found = strchr(from, at[0]);
    if (at[0] != 'u') {
        *target = found && at[0] ? to[found - from] : at[0];
        return 1;
    }
    for (size_t i = 1; i < 5; i++) {
        const char c = i < left ? at[i] : '0';
        const uint32_t digit =
            c >= '0' && c <= '9' ? (uint32_t)(c - '0') : ((uint32_t)(c | 32) - 'a' + 10) & 15;
        code = code << 4 | digit;
    }
    *target = code >= 0x20 && code < 0x7f ? (char)code : '?';
    return 5;
}

const char* ctl_json_text(ctl_value value, char* target, size_t target_bytes) {
    char text[1024];
    size_t size = 0;
    const bool is_string = value.at && value.at[0] == '"';
    const size_t end = is_string ? value.size - 1 : value.size;
    for (size_t i = is_string; value.at && i < end && size + 1 < sizeof text;) {
        if (is_string && value.at[i] == '\\') {
            i++;
            i += unescape(value.at + i, end - i, &text[size++]);
        } else {
            text[size++] = value.at[i++];
        }
    }
    text[size] = '\0';
    (void)base_shown_copy(target, target_bytes, text);
    return target;
}

double ctl_json_number(ctl_value value) {
    char text[64];
    double number = 0;
    (void)!base_text_parse_f64(ctl_json_text(value, text, sizeof text), &number);
    return number;
}
