// SPDX-License-Identifier: MIT
/// Private: "Schema as JSON".
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct json json;

struct json {
    const char* key;  ///< of a member of an object; ""
    const char* text; ///< of a text, number or word; "" of an object or array
    json *first, *next;
};

/// @return NULL: no such file, or no JSON.
json* json_read(const char* path);
void json_free(json* root);
/// A member. It must be there.
const json* json_get(const json* of, const char* key);
const char* json_text(const json* of, const char* key);
double json_number(const json* of, const char* key);
uint64_t json_whole(const json* of, const char* key);
bool json_is_true(const json* of, const char* key);
uint32_t json_count(const json* of, const char* key);
