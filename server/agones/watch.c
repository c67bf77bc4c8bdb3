// SPDX-License-Identifier: MIT
// {"result":{"object_meta":{"labels":{},"annotations":{}},
//            "status":{"state":"Ready","address":"192.0.2.1","ports":[{"port":7654}]}}}
//
// What is missing is not an error: an early line has no address yet. What is there and cannot be
// used is a fault of the allocation: playing with other settings than were asked for would be worse
// than saying so.
#include "watch.h"

#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// @return false: it is longer than the target, which is empty then.
static bool take_text(const json_t* value, char* target, size_t target_bytes) {
    const char* text = json_string_value(value);
    target[0] = '\0';
    if (!text || base_text_copy(target, target_bytes, text)) return true;
    target[0] = '\0';
    return false;
}

static void read_address(const json_t* status, server_watch_state* state) {
    const char* address = json_string_value(json_object_get(status, "address"));
    const json_t* port =
        json_object_get(json_array_get(json_object_get(status, "ports"), 0), "port");
    const json_int_t number = json_integer_value(port);
    if (!address || !address[0] || number < 1 || number > UINT16_MAX) return;
    const bool is_ipv6 = strchr(address, ':') != NULL;
    if (!base_text_format(state->address, sizeof state->address, is_ipv6 ? "[%s]:%d" : "%s:%d",
                          address, (int)number))
        state->address[0] = '\0';
}

// A setting that is named again takes the place of the first.
static void add_setting(server_watch_state* state, const char* key, const char* value) {
    char text[SERVER_WATCH_SETTING_BYTES];
    const size_t key_bytes = strlen(key);
    uint32_t at = 0;
    if (key_bytes == 0 || strchr(key, '=') ||
        !base_text_format(text, sizeof text, "%s=%s", key, value)) {
        (void)base_text_format(state->fault, sizeof state->fault, "%s%.64s is not a setting",
                               SERVER_WATCH_SETTING, key);
        return;
    }
    while (at < state->setting_count && strncmp(state->settings[at], text, key_bytes + 1) != 0)
        at++;
    if (at == NET_SETTINGS_MAX) {
        (void)base_text_format(state->fault, sizeof state->fault, "more than %u settings",
                               NET_SETTINGS_MAX);
        return;
    }
    memcpy(state->settings[at], text, sizeof text);
    if (at == state->setting_count) state->setting_count++;
}

static void read_marks(json_t* marks, server_watch_state* state) {
    const size_t prefix_bytes = sizeof SERVER_WATCH_SETTING - 1;
    const char* name;
    json_t* mark;
    json_object_foreach(marks, name, mark) {
        const char* value = json_string_value(mark);
        uint64_t id = 0;
        if (!value || state->fault[0]) continue;
        if (strncmp(name, SERVER_WATCH_SETTING, prefix_bytes) == 0) {
            add_setting(state, name + prefix_bytes, value);
        } else if (strcmp(name, SERVER_WATCH_KEY_ID) == 0) {
            if (!base_text_parse_u64(value, &id) || id == 0 || id > UINT8_MAX)
                (void)base_text_format(state->fault, sizeof state->fault,
                                       "%s: %.64s is not the number of a key", name, value);
            state->key_id = (uint8_t)id;
        } else if (strcmp(name, SERVER_WATCH_STANDBY_OF) == 0) {
            // 16 digits, as the log and the stream say it.
            char* end;
            state->standby_of = strlen(value) == 16 ? strtoull(value, &end, 16) : 0;
            if (state->standby_of == 0 || *end || strspn(value, "0123456789abcdef") != 16)
                (void)base_text_format(
                    state->fault, sizeof state->fault,
                    SERVER_WATCH_STANDBY_OF ": %.64s is not the identity of a match", value);
        } else if (strcmp(name, SERVER_WATCH_STANDBY_AT) == 0) {
            (void)take_text(mark, state->standby_at, sizeof state->standby_at);
        }
    }
}

bool server_watch_read(const char* line, size_t size, server_watch_state* state) {
    memset(state, 0, sizeof *state);
    if (size > SERVER_WATCH_LINE_BYTES_MAX) return false;
    json_t* root = json_loadb(line, size, 0, NULL);
    const json_t* result = json_object_get(root, "result");
    const json_t* meta = json_object_get(result, "object_meta");
    const json_t* status = json_object_get(result, "status");
    json_t* annotations = json_object_get(meta, "annotations");
    const bool is_read =
        take_text(json_object_get(status, "state"), state->state, sizeof state->state) &&
        state->state[0] != '\0';
    if (is_read) {
        (void)take_text(json_object_get(annotations, "agones.dev/last-allocated"),
                        state->allocated_at, sizeof state->allocated_at);
        read_address(status, state);
        read_marks(json_object_get(meta, "labels"), state);
        read_marks(annotations, state);
    }
    json_decref(root);
    return is_read;
}
