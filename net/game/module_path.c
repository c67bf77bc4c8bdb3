// SPDX-License-Identifier: MIT
// Where programs look for game modules.
#define _GNU_SOURCE
#include "net/module.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void net_module_default_path(char* path, size_t path_bytes) {
    char program[1024];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(program, '/');
    if (slash) *slash = '\0';
    const char* extra = getenv("SHOAL_MODULE_PATH");
    // The same relative place in a build folder and after an installation.
    base_text_format(path, path_bytes, "%s%s%s/../lib/shoal/games", extra ? extra : "",
                     extra && extra[0] ? ":" : "", program);
}
