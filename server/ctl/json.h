// SPDX-License-Identifier: MIT
/// JSON as it came: values are pieces of the text. A text is checked as a whole first, so walking
/// needs no checks. Allocates nothing.
#pragma once

#include "base/macros.h"

#define CTL_JSON_DEPTH_MAX 16u

typedef struct ctl_value {
    const char* at; ///< first character of the value; NULL: there is none
    size_t size;
} ctl_value;

/// Is it one JSON value and blanks, with containers at most CTL_JSON_DEPTH_MAX deep?
/// @return the value; its `at` is NULL when it is none.
ctl_value ctl_json_check(const char* text, size_t size);
static inline bool ctl_is_object(ctl_value value) {
    return value.at && value.at[0] == '{';
}
static inline bool ctl_is_array(ctl_value value) {
    return value.at && value.at[0] == '[';
}
/// Walk a container: start with *offset 0. `key` is empty in an array; NULL: not asked for.
/// @return false at its end.
bool ctl_json_next(ctl_value container, size_t* offset, ctl_value* key, ctl_value* value);
/// @return the value of a key; its `at` is NULL when there is none.
ctl_value ctl_json_find(ctl_value object, const char* key);
/// Copy a scalar as text: strings without quotes and escapes, and without what a terminal would
/// obey. NUL-terminated and cut. @return target.
const char* ctl_json_text(ctl_value value, char* target, size_t target_bytes);
/// @return The number of a value, a text of digits too; 0 for others.
double ctl_json_number(ctl_value value);
