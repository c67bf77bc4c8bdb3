// SPDX-License-Identifier: MIT
// Strings in fixed buffers: always terminated, and the result is whether a text was cut. A cut is
// between two characters: half a character is no text, and no peer takes it.
#include "base/assert.h"
#include "base/text.h"

#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t base_text_character(const char* text, size_t left) {
    const uint8_t* at = (const uint8_t*)text;
    const uint8_t first = left > 0 ? *at : 0;
    if (first == 0) return 0;
    if (first < 0x80) return 1;
    const uint32_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size) return 0;
    for (uint32_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if (first == 0xe0 && at[1] < 0xa0) return 0;
    if (first == 0xed && at[1] > 0x9f) return 0;
    if (first == 0xf0 && at[1] < 0x90) return 0;
    if (first == 0xf4 && at[1] > 0x8f) return 0;
    return size;
}

bool base_text_is_utf8(const char* text, size_t size) {
    size_t at = 0;
    for (uint32_t next = 1; at < size && next > 0; at += next)
        next = base_text_character(text + at, size - at);
    return at == size;
}

// How many of the first `size` bytes stay, of a text that is cut there.
static size_t without_half(const char* text, size_t size) {
    size_t lead = size;
    while (lead > 0 && size - lead < 3 && ((uint8_t)text[lead - 1] & 0xC0) == 0x80)
        lead--;
    if (lead == 0) return size;
    const uint8_t first = (uint8_t)text[lead - 1];
    const size_t whole = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    return lead - 1 + whole > size ? lead - 1 : size;
}

bool base_text_copy(char* target, size_t target_bytes, const char* source) {
    BASE_ASSERT((target || target_bytes == 0) && source);
    if (target_bytes == 0) return false;
    size_t size = strlen(source);
    bool fits = size < target_bytes;
    if (!fits) size = without_half(source, target_bytes - 1);
    memcpy(target, source, size);
    target[size] = '\0';
    return fits;
}

int base_text_vformat(char* target, size_t target_bytes, const char* format, va_list arguments) {
#ifdef _WIN32
    return vsnprintf(target, target_bytes, format, arguments);
#else
    // Of a standard locale this allocates nothing.
    const locale_t standard = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = uselocale(standard);
    int size = vsnprintf(target, target_bytes, format, arguments);
    (void)uselocale(before);
    freelocale(standard);
    return size;
#endif
}

bool base_text_format(char* target, size_t target_bytes, const char* format, ...) {
    BASE_ASSERT((target || target_bytes == 0) && format);
    if (target_bytes == 0) return false;
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(target, target_bytes, format, arguments);
    va_end(arguments);
    if (size < 0) target[0] = '\0';
    const bool fits = size >= 0 && (size_t)size < target_bytes;
    if (!fits) target[without_half(target, strlen(target))] = '\0';
    return fits;
}

typedef struct part {
    const char* begin;
    const char* end;
} part;

// Append as much as fits. @return the size of the text, also when it does not fit.
static size_t append(char* target, size_t target_bytes, size_t size, part text) {
    for (; text.begin < text.end; text.begin++, size++)
        if (size + 1 < target_bytes) target[size] = *text.begin;
    return size;
}

// The hosts of a URL are a list: "me:pass@a,me:pass@b". A part without '@' before one that has it
// may be the begin of a password with a comma.
static size_t append_public(char* target, size_t target_bytes, size_t size, part url) {
    while (url.begin < url.end) {
        part host = {url.begin, url.begin};
        bool has_later = false;
        for (; host.end < url.end && *host.end != ','; host.end++)
            if (*host.end == '@') host.begin = host.end + 1;
        for (const char* at = host.end; at < url.end; at++)
            has_later = has_later || *at == '@';
        const bool is_hidden = host.begin == url.begin && has_later;
        url.begin = host.end < url.end ? host.end + 1 : url.end;
        if (!is_hidden) size = append(target, target_bytes, size, (part){host.begin, url.begin});
    }
    return size;
}

bool base_text_copy_public(char* target, size_t target_bytes, const char* source) {
    BASE_ASSERT(target && target_bytes > 0 && source);
    size_t size = 0;
    const char* at = source;
    for (const char* url; (url = strstr(at, "://")); at += strcspn(at, " \t\r\n")) {
        size = append(target, target_bytes, size, (part){at, url + 3});
        at = url + 3;
        size = append_public(target, target_bytes, size, (part){at, at + strcspn(at, " \t\r\n")});
    }
    size = append(target, target_bytes, size, (part){at, at + strlen(at)});
    const bool fits = size < target_bytes;
    target[fits ? size : without_half(target, target_bytes - 1)] = '\0';
    return fits;
}

char* base_text_cut_pair(char** rest, char** value) {
    BASE_ASSERT(rest && *rest && value);
    char* key = *rest;
    *rest = strchr(key, ',');
    if (*rest) *(*rest)++ = '\0';
    *value = strchr(key, '=');
    if (*value) *(*value)++ = '\0';
    return key;
}

char* base_text_trim(char* text) {
    while (base_text_is_blank(*text))
        text++;
    size_t size = strlen(text);
    while (size > 0 && base_text_is_blank(text[size - 1]))
        text[--size] = '\0';
    return text;
}

// Numbers from text: without locale and errno; a decimal becomes the nearest double on every
// machine.
//
// A decimal is digits times a power of ten. The C library rounds it, correctly: whole digits and an
// exponent, which no locale spells differently. 800 digits are enough for every case: no double and
// no half-way point between two has more than 767 digits, so later digits can only mean "a little
// more".

enum {
    DIGITS_MAX = 800,
    EXPONENT_MAX = 1000000000, // more digits than any text has; the sum of two fits an int
    EXPONENT_BYTES = 16,
};

// The number in the text: digits * 10^exponent.
typedef struct decimal {
    char digits[DIGITS_MAX + 1 + EXPONENT_BYTES]; // no leading zeros
    int digit_count;
    int exponent;
    bool is_negative;
} decimal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int saturate(int64_t value) {
    if (value > EXPONENT_MAX) return EXPONENT_MAX;
    return value < -EXPONENT_MAX ? -EXPONENT_MAX : (int)value;
}

// Read the digits of the mantissa, up to `end`. @return the place after them; NULL when there is
// no digit.
static const char* read_mantissa(decimal* number, const char* text, const char* end) {
    bool has_digit = false, has_point = false, has_more = false;
    int64_t exponent = 0;
    const char* at = text;
    for (; at < end && (is_digit(*at) || (*at == '.' && !has_point)); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        has_digit = true;
        bool is_leading_zero = number->digit_count == 0 && *at == '0';
        if (number->digit_count < DIGITS_MAX) {
            if (!is_leading_zero) number->digits[number->digit_count++] = *at;
            exponent -= has_point;
        } else {
            has_more = has_more || *at != '0';
            exponent += !has_point;
        }
    }
    if (has_more) {
        number->digits[number->digit_count++] = '1';
        exponent--;
    }
    number->exponent = saturate(exponent);
    return has_digit ? at : NULL;
}

// Read an exponent as "e-12", if there is one at `text`. @return the place after it.
static const char* read_exponent(decimal* number, const char* text, const char* end) {
    const char* at = text;
    if (at == end || (*at != 'e' && *at != 'E')) return text;
    at++;
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || !is_digit(*at)) return text;
    int exponent = 0;
    for (; at < end && is_digit(*at); at++)
        exponent = saturate((int64_t)exponent * 10 + (*at - '0'));
    number->exponent += is_negative ? -exponent : exponent;
    return at;
}

double base_text_read_f64(const char* text, const char* end, const char** next) {
    BASE_ASSERT(text <= end && next);
    decimal number;
    number.digit_count = 0;
    number.exponent = 0;
    number.is_negative = text < end && *text == '-';
    const char* at = text;
    if (at < end && (*at == '-' || *at == '+')) at++;
    at = read_mantissa(&number, at, end);
    if (!at) {
        *next = text;
        return 0;
    }
    *next = read_exponent(&number, at, end);
    if (number.digit_count == 0) number.digits[number.digit_count++] = '0';
    (void)snprintf(number.digits + number.digit_count, EXPONENT_BYTES, "e%d", number.exponent);
    const double value = strtod(number.digits, NULL);
    return number.is_negative ? -value : value;
}

bool base_text_parse_f64(const char* text, double* value) {
    BASE_ASSERT(text && value);
    const char* end = text + strlen(text);
    const char* next;
    double read = base_text_read_f64(text, end, &next);
    if (next == text || next != end || read > DBL_MAX || read < -DBL_MAX) return false;
    *value = read;
    return true;
}

bool base_text_parse_bool(const char* text, bool* value) {
    static const char* const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (uint32_t i = 0; i < BASE_COUNT(words); i++) {
        if (strcmp(text, words[i]) != 0) continue;
        *value = i % 2;
        return true;
    }
    return false;
}

bool base_text_parse_u64(const char* text, uint64_t* value) {
    BASE_ASSERT(text && value);
    uint64_t read = 0;
    if (!*text) return false;
    for (; *text; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (!is_digit(*text) || read > (UINT64_MAX - digit) / 10) return false;
        read = read * 10 + digit;
    }
    *value = read;
    return true;
}

bool base_text_parse_i64(const char* text, int64_t* value) {
    bool is_negative = *text == '-';
    uint64_t magnitude;
    if (*text == '-' || *text == '+') text++;
    if (!base_text_parse_u64(text, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + is_negative) return false;
    // Two's complement: negation of the unsigned magnitude also reaches INT64_MIN.
    *value = (int64_t)(is_negative ? UINT64_C(0) - magnitude : magnitude);
    return true;
}

// The name that a user probably meant. The distance is optimal string alignment: insertions,
// deletions, replacements and swaps of neighbours count one each. Swaps count one because they are
// the most frequent typing mistake.

enum { WORD_BYTES_MAX = 64 };

static uint32_t minimum(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t distance(const char* a, uint32_t a_size, const char* b, uint32_t b_size) {
    uint32_t rows[3][WORD_BYTES_MAX + 1];
    uint32_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (uint32_t j = 0; j <= b_size; j++)
        last[j] = before[j] = j;
    for (uint32_t i = 1; i <= a_size; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= b_size; j++) {
            uint32_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = minimum(replaced, 1 + minimum(last[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = minimum(row[j], before[j - 2] + 1);
        }
        uint32_t* reused = before;
        before = last;
        last = row;
        row = reused;
    }
    return last[b_size];
}

base_nearest base_nearest_begin(const char* word) {
    BASE_ASSERT(word);
    return (base_nearest){.word = word,
                          .distance = (uint32_t)strnlen(word, WORD_BYTES_MAX) / 2 + 1};
}

void base_nearest_offer(base_nearest* nearest, const char* candidate) {
    size_t word_size = strlen(nearest->word), size = strlen(candidate);
    if (word_size > WORD_BYTES_MAX || size > WORD_BYTES_MAX) return;
    uint32_t found = distance(nearest->word, (uint32_t)word_size, candidate, (uint32_t)size);
    if (found >= nearest->distance) return;
    nearest->found = candidate;
    nearest->distance = found;
}

const char* base_nearest_hint(const base_nearest* nearest, char hint[BASE_HINT_BYTES]) {
    hint[0] = '\0';
    if (nearest->found)
        (void)base_text_format(hint, BASE_HINT_BYTES, ", did you mean '%s'?", nearest->found);
    return hint;
}
