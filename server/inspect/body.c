// SPDX-License-Identifier: MIT
// Jansson reads the JSON. How deep it is nested is counted before: its own limit is 2,048.
#include "body.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static bool is_too_deep(const char* text, size_t size) {
    uint32_t depth = 0;
    bool is_in_text = false;
    for (size_t i = 0; i < size; i++) {
        if (is_in_text && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            is_in_text = !is_in_text;
        else if (!is_in_text && (text[i] == '{' || text[i] == '[') &&
                 ++depth > SERVER_BODY_DEPTH_MAX)
            return true;
        else if (!is_in_text && (text[i] == '}' || text[i] == ']') && depth > 0)
            depth--;
    }
    return false;
}

static bool add_word(server_order* order, const char* name, const json_t* value) {
    if (json_is_null(value)) return true;
    if (json_is_string(value))
        return server_order_add(order, name, strlen(name), json_string_value(value),
                                json_string_length(value));
    char* text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    const bool is_in = text && server_order_add(order, name, strlen(name), text, strlen(text));
    free(text);
    return is_in;
}

const char* server_body_read(const char* text, size_t size, server_order* order) {
    if (size == 0) return NULL;
    if (is_too_deep(text, size)) return "the body is nested too deeply";
    json_t* root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const char* error = NULL;
    if (!root)
        error = "the body is no JSON";
    else if (!json_is_object(root))
        error = "the body is no JSON object";
    const char* name;
    json_t* value;
    if (!error) json_object_foreach(root, name, value) {
            if (!add_word(order, name, value))
                error = "there are too many arguments, or one is too long";
        }
    json_decref(root);
    return error;
}
