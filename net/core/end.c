// SPDX-License-Identifier: MIT
// Texts of results, from the one list.
#include "net/result.h"
#include "net/token.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

const char* net_result_text(net_result result) {
    switch (result) { NET_RESULT_LIST(BASE_CASE_TEXT) }
    return "unknown result";
}

// What a person and a program read about the end of a session.

#define END_NAME(name, word, text) [name] = word,
#define END_TEXT(name, word, text) [name] = text,

const char* net_end_name(net_end end) {
    static const char* const names[] = {NET_END_LIST(END_NAME)};
    return names[(uint32_t)end < BASE_COUNT(names) ? end : NET_END_NONE];
}

const char* net_end_text(net_end end) {
    static const char* const texts[] = {NET_END_LIST(END_TEXT)};
    return texts[(uint32_t)end < BASE_COUNT(texts) ? end : NET_END_NONE];
}

// RefusedReason of wire.proto, in its order.
const char* net_refusal_name(uint32_t reason) {
    static const char* const names[NET_REFUSAL_COUNT] = {"none", "protocol", "schema", "game",
                                                         "full", "ended",    "gone",   "banned"};
    return names[reason < NET_REFUSAL_COUNT ? reason : 0];
}

// The names of reasons.

typedef struct drop_row {
    const char *word, *text;
    bool is_usual;
} drop_row;

static const drop_row* find_drop(net_drop reason) {
#define DROP_ROW(name, word, is_usual, text) {word, text, is_usual},
    static const drop_row rows[] = {NET_DROP_LIST(DROP_ROW)};
#undef DROP_ROW
    BASE_ASSERT((uint32_t)reason < NET_DROP_COUNT);
    return &rows[reason];
}

const char* net_drop_name(net_drop reason) {
    return find_drop(reason)->word;
}

const char* net_drop_text(net_drop reason) {
    return find_drop(reason)->text;
}

bool net_drop_is_usual(net_drop reason) {
    return find_drop(reason)->is_usual;
}

void net_drops_text(const uint64_t dropped[NET_DROP_COUNT], char* text, size_t text_bytes) {
    BASE_ASSERT(text_bytes > 0);
    text[0] = '\0';
    size_t size = 0;
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++, size = strlen(text)) {
        if (dropped[i] > 0)
            (void)base_text_format(text + size, text_bytes - size, " %s=%" PRIu64,
                                   net_drop_name((net_drop)i), dropped[i]);
    }
}

const char* net_secure_end_text(uint32_t end) {
    static const char* const texts[] = {
#define NET_SECURE_END_TEXT(name, text) text,
        NET_SECURE_END_LIST(NET_SECURE_END_TEXT)
#undef NET_SECURE_END_TEXT
    };
    return end < BASE_COUNT(texts) ? texts[end] : "a reason that this version does not know";
}
