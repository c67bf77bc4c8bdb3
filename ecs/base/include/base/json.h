// SPDX-License-Identifier: MIT
/// Text of JSON (RFC 8259), appended to a growing buffer. What lacks memory shows in bytes->failed.
#pragma once

#include "base/bytes.h"
#include "base/macros.h"

BASE_C_BEGIN

/// Append as it is; at most 255 bytes.
void base_json_put(base_bytes* json, const char* format, ...) BASE_PRINTF(2, 3);
/// Append a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void base_json_text(base_bytes* json, const char* text);
/// Append text as it is, then a string: `before` is the key of a member, with its colon.
void base_json_put_text(base_bytes* json, const char* before, const char* text);
/// Append bytes as a string of hexadecimal digits.
void base_json_hex(base_bytes* json, const void* data, size_t size);
/// Append a number that reads back as the same double; NaN and infinity become null.
void base_json_f64(base_bytes* json, double value);

BASE_C_END
