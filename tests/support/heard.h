// SPDX-License-Identifier: MIT
/// All that a reporter got, a line each. It is kept up to its room and counted beyond.
#pragma once

#include "test.h"

typedef struct heard {
    base_reporter reporter;
    uint32_t lines;
    char last[BASE_REPORT_BYTES_MAX];
    size_t size;
    char text[32768];
} heard;

static inline void heard_keep(void* context, const char* file, uint32_t line, const char* message) {
    heard* self = context;
    char whole[BASE_REPORT_BYTES_MAX + 256];
    self->lines++;
    (void)snprintf(self->last, sizeof self->last, "%s", message);
    int size = line ? snprintf(whole, sizeof whole, "%s:%u: %s\n", file, line, message)
                    : snprintf(whole, sizeof whole, "%s\n", message);
    if (self->size + (size_t)size >= sizeof self->text) return;
    memcpy(self->text + self->size, whole, (size_t)size + 1);
    self->size += (size_t)size;
}

/// Begin with no line. @return what keeps them.
static inline const base_reporter* heard_begin(heard* self) {
    memset(self, 0, sizeof *self);
    self->reporter = (base_reporter){heard_keep, self};
    return &self->reporter;
}

/// How many times these words came.
static inline uint32_t heard_count(const heard* self, const char* words) {
    uint32_t count = 0;
    for (const char* at = strstr(self->text, words); at; at = strstr(at + 1, words))
        count++;
    return count;
}
