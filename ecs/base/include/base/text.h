// SPDX-License-Identifier: MIT
/// Small helpers for strings: safe copies, exact numbers, and the nearest name for a typing
/// mistake. Nothing depends on the locale that a host has set; on Windows printing does.
#pragma once

#include "base/macros.h"

#include <stdarg.h>

BASE_C_BEGIN

/// Is it UTF-8 without a NUL? So is every text in a message.
bool base_text_is_utf8(const char* text, size_t size);
/// @return the size in bytes of the character at the start of `left` bytes; 0: it is none. Overlong
///         forms, surrogates, values above 10FFFF and NUL (which would cut the C string) are none.
uint32_t base_text_character(const char* text, size_t left);
/// Copy a string, UTF-8, and cut it between two characters where it does not fit; always
/// NUL-terminated when target_bytes is not 0.
/// @return true when all of it fit.
bool base_text_copy(char* target, size_t target_bytes, const char* source);
/// printf into a fixed buffer, cut in the same way; always NUL-terminated. @return false when the
/// text was cut.
bool base_text_format(char* target, size_t target_bytes, const char* format, ...) BASE_PRINTF(3, 4);
/// vsnprintf, with a point in numbers. @return the length of the whole text; negative: it failed.
int base_text_vformat(char* target, size_t target_bytes, const char* format, va_list arguments)
    BASE_PRINTF(3, 0);
/// Copy a text without the user and password of the URLs in it: "nats://me:pass@a,me:pass@b/X" is
/// "nats://a,b/X". A URL ends at a blank, and all that could be a password is left out.
/// @return true when all of it fit.
bool base_text_copy_public(char* target, size_t target_bytes, const char* source);
/// Cut the first item off a list "KEY=VALUE,KEY,...", in place. *rest is set to the items after it
/// (NULL: there are none), *value to what is after its first '=' (NULL: it has none).
/// @return the key.
char* base_text_cut_pair(char** rest, char** value);
/// Is it a space, a tab, or the CR that ends a line of some editors?
static inline bool base_text_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
/// Cut the blanks off both ends, in place. @return where it begins.
char* base_text_trim(char* text);
/// Read a whole string as a number or a truth: no blanks, no rest, no overflow.
/// @return false when it is none: *value is unchanged.
BASE_MUST_USE bool base_text_parse_bool(const char* text, bool* value); ///< yes, true, on, 1...
BASE_MUST_USE bool base_text_parse_i64(const char* text, int64_t* value);
BASE_MUST_USE bool base_text_parse_u64(const char* text, uint64_t* value);
BASE_MUST_USE bool base_text_parse_f64(const char* text, double* value);
/// Read a number at the begin of [text, end), as strtod without a locale. *next is set after the
/// number, or to `text` when there is none. The result is rounded correctly to the nearest double.
double base_text_read_f64(const char* text, const char* end, const char** next);
/// Of the candidates that are offered, the one with the smallest edit distance to `word`. Of equal
/// ones it is the first. Texts are borrowed.
typedef struct base_nearest {
    const char* word;
    const char* found; ///< NULL: none is near (more than half of the word differs)
    uint32_t distance;
} base_nearest;
base_nearest base_nearest_begin(const char* word);
void base_nearest_offer(base_nearest* nearest, const char* candidate);
#define BASE_HINT_BYTES 160u
/// Write what a report of an unknown name ends with: ", did you mean 'vel'?"; "" when none is near.
/// @return hint.
const char* base_nearest_hint(const base_nearest* nearest, char hint[BASE_HINT_BYTES]);

BASE_C_END
