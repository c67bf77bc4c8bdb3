// SPDX-License-Identifier: MIT
// Strings in fixed buffers: always terminated, and the result says whether a text was cut.
#include "base/assert.h"
#include "base/text.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

bool base_text_copy(char* target, size_t target_bytes, const char* source) {
    BASE_ASSERT((target || target_bytes == 0) && source);
    if (target_bytes == 0) return false;
    size_t size = strlen(source);
    bool fits = size < target_bytes;
    if (!fits) size = target_bytes - 1;
    memcpy(target, source, size);
    target[size] = '\0';
    return fits;
}

int base_text_vformat(char* target, size_t target_bytes, const char* format, va_list arguments) {
#ifdef _WIN32
    return vsnprintf(target, target_bytes, format, arguments);
#else
    // Of a standard locale this allocates nothing.
    const locale_t standard = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = uselocale(standard);
    int size = vsnprintf(target, target_bytes, format, arguments);
    (void)uselocale(before);
    freelocale(standard);
    return size;
#endif
}

bool base_text_format(char* target, size_t target_bytes, const char* format, ...) {
    BASE_ASSERT((target || target_bytes == 0) && format);
    if (target_bytes == 0) return false;
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(target, target_bytes, format, arguments);
    va_end(arguments);
    if (size < 0) target[0] = '\0';
    return size >= 0 && (size_t)size < target_bytes;
}
