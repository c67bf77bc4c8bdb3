// SPDX-License-Identifier: MIT
// The folder is the list of segments: nothing else could disagree with it.
#include "log/log_segment.h"

#include "base/assert.h"
#include "base/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define MARK ".seg"

bool net_log_segment_name(char* target, size_t target_bytes, const char* log_file,
                          uint32_t number) {
    return base_text_format(target, target_bytes, "%s" MARK "%04u", log_file, (unsigned)number);
}

// The number of "NAME.seg0012"; 0 for other names.
static uint32_t number_of(const char* entry, const char* name, size_t name_bytes) {
    enum { DIGITS_MIN = 4 };
    uint64_t number;
    if (strncmp(entry, name, name_bytes) != 0) return 0;
    if (strncmp(entry + name_bytes, MARK, strlen(MARK)) != 0) return 0;
    const char* digits = entry + name_bytes + strlen(MARK);
    // One spelling a number: five digits do not begin with 0.
    size_t length = strlen(digits);
    if (length < DIGITS_MIN || (length > DIGITS_MIN && digits[0] == '0')) return 0;
    if (!base_text_parse_u64(digits, &number) || number > NET_LOG_SEGMENTS_MAX) return 0;
    return (uint32_t)number;
}

static int compare(const void* a, const void* b) {
    uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
    return left < right ? -1 : left > right;
}

net_result net_log_segment_list(const base_allocator* allocator, const char* log_file,
                                uint32_t** numbers, uint32_t* count, uint32_t* capacity) {
    char folder[4096];
    const char* slash = strrchr(log_file, '/');
    const char* name = slash ? slash + 1 : log_file;
    *numbers = NULL;
    *count = *capacity = 0;
    if (!base_text_copy(folder, sizeof folder, slash ? log_file : ".")) return NET_OK;
    if (slash) folder[slash - log_file + 1] = 0;
    DIR* entries = opendir(folder);
    if (!entries) return NET_OK;
    net_result result = NET_OK;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL && result == NET_OK;) {
        uint32_t number = number_of(entry->d_name, name, strlen(name));
        if (number == 0) continue;
        if (BASE_ARRAY_RESERVE(allocator, *numbers, *capacity, *count + 1))
            (*numbers)[(*count)++] = number;
        else
            result = NET_ERR_MEMORY;
    }
    closedir(entries);
    if (result != NET_OK) {
        BASE_ARRAY_RELEASE(allocator, *numbers, *capacity);
        *numbers = NULL;
        *count = *capacity = 0;
    } else if (*count > 0) {
        qsort(*numbers, *count, sizeof **numbers, compare);
    }
    return result;
}
