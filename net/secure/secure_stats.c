// SPDX-License-Identifier: MIT
// Names of counts and reasons.
#include "net/security.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

const char* net_secure_end_text(uint32_t end) {
    static const char* const texts[] = {
#define NET_SECURE_END_TEXT(name, text) text,
        NET_SECURE_END_LIST(NET_SECURE_END_TEXT)
#undef NET_SECURE_END_TEXT
    };
    return end < BASE_COUNT(texts) ? texts[end] : "a reason that this version does not know";
}

const char* net_secure_count_name(net_secure_count count) {
    static const char* const names[NET_SECURE_COUNTS] = {
#define NET_SECURE_COUNT_NAME(name, text) text,
        NET_SECURE_COUNT_LIST(NET_SECURE_COUNT_NAME)
#undef NET_SECURE_COUNT_NAME
    };
    BASE_ASSERT(count < NET_SECURE_COUNTS);
    return names[count];
}

void net_secure_stats_text(const net_secure_stats* stats, char* text, size_t text_bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < NET_SECURE_COUNTS; i++) {
        if (stats->counts[i] == 0) continue;
        if (!base_text_format(text + used, text_bytes - used, " %s=%llu",
                              net_secure_count_name((net_secure_count)i),
                              (unsigned long long)stats->counts[i]))
            return;
        used += strlen(text + used);
    }
}
