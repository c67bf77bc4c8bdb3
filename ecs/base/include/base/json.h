// SPDX-License-Identifier: MIT
/// Text of JSON (RFC 8259), appended to a growing buffer.
#pragma once

#include "base/bytes.h"
#include "base/macros.h"

BASE_C_BEGIN

/// Append as it is; at most 511 bytes.
void base_json_put(base_bytes* json, const char* format, ...) BASE_PRINTF(2, 3);
/// Append a JSON string with its quotes; NULL: an empty one. Bytes that are no UTF-8 become U+FFFD.
void base_json_text(base_bytes* json, const char* text);
/// Append bytes as a string of hexadecimal digits.
void base_json_hex(base_bytes* json, const void* data, size_t size);
/// Append members and elements. "{name=%s parts=[{bits=%u}" is an object with a text and a list
/// with one; list and outer object are still open. Commas come where they belong. A "\n" is written
/// with the blanks after it, other blanks part members. "key=" at the end: the value is appended
/// next; "%s=": the key is an argument. 'Quotes' are a text, with conversions of numbers; a bare
/// word is itself: "next=null". Conversions are printf's, so compilers check them. They mean:
///     %s  a string as base_json_text     %i  true or false     %f  a double, rounded to 1/1000
///     %a  a double that reads back the same; NaN and infinity are null
///     %d %u %x %ju %g %.1f  as printf has them; %ju is a uint64_t
void base_json_write(base_bytes* json, const char* format, ...) BASE_PRINTF(2, 3);

BASE_C_END
