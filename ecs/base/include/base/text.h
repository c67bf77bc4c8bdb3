// SPDX-License-Identifier: MIT
/// Small helpers on strings: safe copies, number parsing, and the nearest name for a typing
/// mistake.
#pragma once

#include "base/macros.h"

/// Copy with truncation; always NUL-terminated. @return true when all of it fit.
bool base_text_copy(char* target, size_t target_bytes, const char* source);
/// printf into a fixed buffer; always NUL-terminated. @return false when it was cut.
bool base_text_format(char* target, size_t target_bytes, const char* format, ...) BASE_PRINTF(3, 4);
/// Whole-string parsers: no spaces around, no rest, no overflow. @return false when it is not one.
BASE_MUST_USE bool base_text_parse_i64(const char* text, int64_t* value);
BASE_MUST_USE bool base_text_parse_u64(const char* text, uint64_t* value);
BASE_MUST_USE bool base_text_parse_f64(const char* text, double* value);
/// Locale-free strtod on [text, end): sets *next past the number, to `text` when there is none.
/// Correctly rounded to the nearest double.
double base_text_read_f64(const char* text, const char* end, const char** next);
/// The candidate with the smallest edit distance to `word`; NULL when none is near (more than half
/// of the word would have to change). Ties go to the first.
const char* base_text_nearest(const char* word, const char* const* candidates, uint32_t count);
