// SPDX-License-Identifier: MIT
// Findings, each once.
#include "check/check_internal.h"

#include "base/hash.h"
#include "base/text.h"

#include <stdarg.h>

void net_check_report(net_checker* self, const char* topic, const char* name, const char* format,
                      ...) {
    const uint64_t key = base_hash64_mix(base_hash64_text(topic), base_hash64_text(name));
    for (uint32_t i = 0; i < self->topic_count; i++)
        if (self->topics[i] == key) return;
    if (self->topic_count == NET_CHECK_TOPICS_MAX) return;
    self->topics[self->topic_count++] = key;
    self->result.warnings++;
    char line[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)base_text_vformat(line, sizeof line, format, arguments);
    va_end(arguments);
    base_report(self->config->reporter, self->config->file, 0, "warning: %s", line);
}
