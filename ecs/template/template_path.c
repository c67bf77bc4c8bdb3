// SPDX-License-Identifier: MIT
// A path becomes a list of words without "." and "..", below a root. A path is refused by its bytes
// alone, before any file is opened: when it leads above its root, when it is absolute, and when it
// has bytes that an operating system may interpret.
#include "template/template_path.h"

#include "base/assert.h"

#include <string.h>

typedef struct path_builder {
    char* path;
    size_t size;  ///< without the NUL
    size_t floor; ///< bytes of "%name", which ".." does not remove
} path_builder;

// Append a word of `size` bytes. @return false when the path is too long.
static bool push_word(path_builder* builder, const char* word, size_t size) {
    bool needs_slash = builder->size > 0;
    if (builder->size + needs_slash + size >= ECS_TEXT_PATH_BYTES_MAX) return false;
    if (needs_slash) builder->path[builder->size++] = '/';
    memcpy(builder->path + builder->size, word, size);
    builder->size += size;
    builder->path[builder->size] = '\0';
    return true;
}

// Remove the last word. @return false at the root.
static bool pop_word(path_builder* builder) {
    if (builder->size <= builder->floor) return false;
    while (builder->size > builder->floor && builder->path[builder->size - 1] != '/')
        builder->size--;
    // Remove the slash too; a path of one word has none.
    if (builder->size > builder->floor) builder->size--;
    builder->path[builder->size] = '\0';
    return true;
}

static bool has_strange_bytes(const char* text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7F || strchr("\\:\"<>|", c)) return true;
    }
    return false;
}

static const char* push_path(path_builder* builder, const char* at) {
    for (;;) {
        size_t size = strcspn(at, "/");
        if (size == 2 && memcmp(at, "..", 2) == 0) {
            if (!pop_word(builder)) return "leads outside of its root";
        } else if (size > 0 && !(size == 1 && *at == '.')) {
            if (!push_word(builder, at, size)) return "is too long";
        }
        at += size;
        if (*at == '\0') return NULL;
        at++;
    }
}

// Read "%name/rest": the root becomes the floor. @return what is wrong, NULL when nothing is.
static const char* enter_root(const ecs_template_source* source, path_builder* builder,
                              const char** at) {
    size_t size = strcspn(*at, "/");
    for (uint32_t i = 0; i < source->root_count; i++) {
        const char* name = source->root_names[i];
        if (strlen(name) != size - 1 || memcmp(name, *at + 1, size - 1) != 0) continue;
        if (!push_word(builder, *at, size)) return "is too long";
        builder->floor = size;
        *at += size;
        return NULL;
    }
    return "names an unknown root";
}

const char* ecs_text_path_resolve(const ecs_template_source* source, const char* from,
                                  const char* import, char path[ECS_TEXT_PATH_BYTES_MAX]) {
    BASE_ASSERT(source && from && import && path);
    path_builder builder = {.path = path};
    path[0] = '\0';
    const char* fault = NULL;
    if (*import == '\0') return "is empty";
    if (*import == '/') return "is absolute: name it from this file or from a %root/";
    if (has_strange_bytes(import)) return "has bytes that no path has";
    if (*import == '#') {
        import++;
        if (*import == '/') import++;
    } else if (*import == '%') {
        fault = enter_root(source, &builder, &import);
    } else {
        // The root of the importing file is also the floor of its relative imports.
        const char* slash = strrchr(from, '/');
        size_t size = slash ? (size_t)(slash - from) : 0;
        if (size >= ECS_TEXT_PATH_BYTES_MAX) return "is too long";
        memcpy(path, from, size);
        path[size] = '\0';
        builder.size = size;
        if (*from == '%') builder.floor = strcspn(from, "/");
    }
    if (!fault) fault = push_path(&builder, import);
    if (fault) return fault;
    size_t end = strlen(import);
    if (builder.size == builder.floor || (end > 0 && import[end - 1] == '/'))
        return "names a folder";
    const char* star = strpbrk(path, "*?");
    return star && strchr(star, '/') ? "has a wildcard in the name of a folder" : NULL;
}

bool ecs_text_path_is_name(const char* name) {
    BASE_ASSERT(name);
    return *name && *name != '.' && !strpbrk(name, "/*?%#") && !has_strange_bytes(name);
}

bool ecs_text_path_matches(const char* pattern, const char* name) {
    BASE_ASSERT(pattern && name);
    const char* star = NULL;
    const char* tried = NULL; // where the match of the last '*' ends in name
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            tried = name;
        } else if (*pattern && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++tried;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
