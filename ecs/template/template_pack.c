// SPDX-License-Identifier: MIT
// A pack: texts, one after the other, each with its path. The imports are walked depth first. The
// walk has its own stack and no recursion, since a chain of imports may be as long as the limit.
//
//   pack = "SBLK" { varint path bytes, path, varint text bytes, text }
//
// Files that are no templates follow. Their path is ':', which no path of a text has, and a name.
//
// Every file is parsed twice: here for its imports, and when it is loaded. Packs are made at start
// and at a reload, where that time does not matter. In return, loading needs only bytes, wherever
// they come from.
#include "template/template_set.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"
#include "ecs/template_files.h"
#include "type/world.h"

#include <stdlib.h>
#include <string.h>

// A path becomes a list of words without "." and "..", below a root. A path is refused by its bytes
// alone, before any file is opened: when it leads above its root, when it is absolute, and when it
// has bytes that an operating system may interpret.

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
        import += import[1] == '/' ? 2 : 1;
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
    if (*path == '%' && builder.floor == 0) return "has something before its %root/";
    size_t end = strlen(import);
    if (builder.size == builder.floor || (end > 0 && import[end - 1] == '/'))
        return "names a folder";
    const char* star = strpbrk(path, "*?");
    return star && strchr(star, '/') ? "has a wildcard in the name of a folder" : NULL;
}

// May a file name from a folder be part of a path? Hidden names and names with a special meaning
// may not.
static bool text_path_is_name(const char* name) {
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

static const char magic[4] = {'S', 'B', 'L', 'K'};

typedef struct pack_file {
    char path[ECS_TEXT_PATH_BYTES_MAX];
    base_bytes text;
    ecs_text tree;
} pack_file;

// What is left to do, the last one first.
typedef struct pack_task {
    pack_file* file;
    const ecs_text_node* import; // of the file
    const char* match;           // of a wildcard in it; neither: its imports are done
} pack_task;

typedef struct pack_names {
    const base_allocator* allocator;
    char (*items)[ECS_TEXT_PATH_BYTES_MAX];
    uint32_t count, capacity;
    const char* pattern;
    size_t bytes_max; ///< of a name, with the NUL
    uint32_t seen;    ///< names of the folder
    uint32_t* work;   ///< of the walk
    bool is_full;
} pack_names;

typedef struct pack_walk {
    const base_allocator* allocator;
    const ecs_template_source* source;
    const base_reporter* reporter;
    pack_file** files; ///< every file that was opened, done or not
    uint32_t file_count, file_capacity;
    pack_task* tasks;
    uint32_t task_count, task_capacity;
    uint32_t work; ///< names and imports checked so far
    size_t bytes;
    char names[ECS_PACK_FILES_MAX][ECS_PACK_NAME_BYTES_MAX]; ///< of files that are no templates
    uint32_t name_count;
    base_bytes* pack;
    ecs_result result;
} pack_walk;

static void fail_pack(pack_walk* walk, ecs_result result) {
    BASE_ASSERT(result != ECS_OK);
    if (walk->result == ECS_OK) walk->result = result;
}

static void spell(const pack_walk* walk, const char* path, char* shown, size_t bytes) {
    if (walk->source->spell)
        walk->source->spell(walk->source->context, path, shown, bytes);
    else
        (void)base_text_copy(shown, bytes, path);
}

static bool is_opened(const pack_walk* walk, const char* path) {
    for (uint32_t i = 0; i < walk->file_count; i++)
        if (strcmp(walk->files[i]->path, path) == 0) return true;
    return false;
}

static void push_task(pack_walk* walk, pack_task task) {
    BASE_ARRAY_RESERVE(walk->allocator, walk->tasks, walk->task_capacity, walk->task_count + 1);
    walk->tasks[walk->task_count++] = task;
}

// The file itself, and before it its imports in their order.
static void push_file(pack_walk* walk, pack_file* file) {
    const ecs_text_node* nodes = file->tree.nodes;
    push_task(walk, (pack_task){.file = file});
    const uint32_t first = walk->task_count;
    for (uint32_t at = nodes[0].child_first; at; at = nodes[at].next)
        if (ecs_text_is_import(&file->tree, &nodes[at]))
            push_task(walk, (pack_task){.file = file, .import = &nodes[at]});
    for (uint32_t i = first, k = walk->task_count; i + 1 < k; i++) {
        const pack_task task = walk->tasks[i];
        walk->tasks[i] = walk->tasks[--k];
        walk->tasks[k] = task;
    }
}

// Read and parse a file, which comes next. `from` and `line` say where it is imported; NULL for the
// root.
static void open_file(pack_walk* walk, const char* path, const char* from, uint32_t line,
                      bool is_optional) {
    char shown[2 * ECS_TEXT_PATH_BYTES_MAX];
    if (is_opened(walk, path)) return;
    if (walk->file_count == ECS_TEXT_FILES_MAX) {
        base_report(walk->reporter, from, line, "more than %u files of templates",
                    ECS_TEXT_FILES_MAX);
        fail_pack(walk, ECS_ERR_FULL);
        return;
    }
    BASE_ARRAY_RESERVE(walk->allocator, walk->files, walk->file_capacity, walk->file_count + 1);
    pack_file* file = base_allocate_zero(walk->allocator, sizeof *file);
    (void)base_text_copy(file->path, sizeof file->path, path);
    base_bytes_init(&file->text, walk->allocator);
    walk->files[walk->file_count++] = file;
    ecs_result result = walk->source->read(walk->source->context, path, &file->text);
    spell(walk, path, shown, sizeof shown);
    if (result == ECS_OK && file->text.size <= ECS_TEXT_BYTES_MAX) {
        // Faults that do not hide imports are reported when the text is loaded.
        const base_reporter quiet = {0};
        result = ecs_text_parse(&file->tree, walk->allocator, shown, (const char*)file->text.data,
                                file->text.size, &quiet);
        if (result == ECS_ERR_SYNTAX) result = ECS_OK;
        if (result == ECS_ERR_FULL) {
            base_report(walk->reporter, shown, 1,
                        "more than %u parameters and blocks, or %u blocks inside one another",
                        ECS_TEXT_ITEMS_MAX, ECS_TEXT_DEPTH_MAX);
            fail_pack(walk, result);
            return;
        }
    } else if (result == ECS_OK) {
        result = ECS_ERR_FULL;
    }
    walk->bytes += file->text.size;
    if (result == ECS_OK && walk->bytes > ECS_TEXT_PACK_BYTES_MAX) {
        base_report(walk->reporter, from ? from : shown, line, "more than %u bytes of templates",
                    ECS_TEXT_PACK_BYTES_MAX);
        fail_pack(walk, ECS_ERR_FULL);
    } else if (result == ECS_OK) {
        push_file(walk, file);
    } else if (result == ECS_ERR_UNKNOWN && is_optional) {
        // The file does not exist. The caller reports that, unless the import is optional.
        walk->file_count--;
    } else {
        const char* why = result == ECS_ERR_UNKNOWN ? "is not there"
                          : result == ECS_ERR_FULL  ? "is longer than a file of templates may be"
                                                    : "cannot be read";
        base_report(walk->reporter, from ? from : shown, from ? line : 0, "%s%s%s %s",
                    from ? "import: '" : "it", from ? shown : "", from ? "'" : "", why);
        fail_pack(walk,
                  result == ECS_ERR_UNKNOWN || result == ECS_ERR_FULL ? result : ECS_ERR_SYNTAX);
    }
}

static bool add_name(void* context, const char* name) {
    pack_names* names = context;
    if (++names->seen > ECS_TEXT_LISTED_MAX || ++*names->work > ECS_TEXT_IMPORTS_MAX) {
        names->is_full = true;
        return false;
    }
    if (strlen(name) >= names->bytes_max || !text_path_is_name(name) ||
        !ecs_text_path_matches(names->pattern, name))
        return true;
    BASE_ARRAY_RESERVE(names->allocator, names->items, names->capacity, names->count + 1);
    (void)base_text_copy(names->items[names->count++], ECS_TEXT_PATH_BYTES_MAX, name);
    return true;
}

static int compare_names(const void* a, const void* b) {
    return strcmp(a, b);
}

// The files that a wildcard matches come next.
static void push_matches(pack_walk* walk, pack_file* file, const char* path, const char* shown,
                         uint32_t line, bool is_optional) {
    char folder[ECS_TEXT_PATH_BYTES_MAX];
    (void)base_text_copy(folder, sizeof folder, path);
    char* slash = strrchr(folder, '/');
    const char* pattern = slash ? path + (slash - folder) + 1 : path;
    *(slash ? slash : folder) = '\0';
    size_t prefix = slash ? strlen(folder) + 1 : 0;
    pack_names names = {.allocator = walk->allocator,
                        .pattern = pattern,
                        .bytes_max = ECS_TEXT_PATH_BYTES_MAX - prefix,
                        .work = &walk->work};
    ecs_result result = ECS_OK;
    if (walk->source->list)
        result = walk->source->list(walk->source->context, folder, add_name, &names);
    if (names.is_full) {
        base_report(walk->reporter, shown, line,
                    "import: '%s' looks at more than %u names, or all imports at more than %u",
                    path, ECS_TEXT_LISTED_MAX, ECS_TEXT_IMPORTS_MAX);
        fail_pack(walk, ECS_ERR_FULL);
    } else if (result != ECS_OK && result != ECS_ERR_UNKNOWN) {
        base_report(walk->reporter, shown, line, "import: the folder of '%s' cannot be read", path);
        fail_pack(walk, ECS_ERR_SYNTAX);
    } else if (names.count == 0 && !is_optional) {
        base_report(walk->reporter, shown, line, "import: no file matches '%s'", path);
        fail_pack(walk, ECS_ERR_UNKNOWN);
    }
    if (walk->result != ECS_OK || names.count == 0) return;
    qsort(names.items, names.count, sizeof *names.items, compare_names);
    for (uint32_t i = names.count; i-- > 0;) {
        char* item = names.items[i];
        memmove(item + prefix, item, strlen(item) + 1);
        memcpy(item, path, prefix);
        push_task(walk, (pack_task){.file = file, .match = item});
    }
}

// Handle one import: open the file, or those that it matches.
static void follow_import(pack_walk* walk, pack_file* file, const ecs_text_node* node) {
    const ecs_text* tree = &file->tree;
    const char* shown = tree->file;
    const char* wanted = ecs_text_string(tree, node->value);
    bool is_optional = strcmp(ecs_text_string(tree, node->name), "import") != 0;
    char path[ECS_TEXT_PATH_BYTES_MAX];
    if (++walk->work > ECS_TEXT_IMPORTS_MAX) {
        base_report(walk->reporter, shown, node->line, "more than %u imports",
                    ECS_TEXT_IMPORTS_MAX);
        fail_pack(walk, ECS_ERR_FULL);
        return;
    }
    const char* fault = strcmp(ecs_text_string(tree, node->type), "t") != 0
                            ? "is written import:t=\"...\""
                            : ecs_text_path_resolve(walk->source, file->path, wanted, path);
    if (fault) {
        base_report(walk->reporter, shown, node->line, "import: '%.200s' %s", wanted, fault);
        fail_pack(walk, ECS_ERR_SYNTAX);
    } else if (strpbrk(path, "*?")) {
        push_matches(walk, file, path, shown, node->line, is_optional);
    } else {
        open_file(walk, path, shown, node->line, is_optional);
    }
}

// ---- files that are no templates ----

static bool is_file_name(const char* name) {
    const size_t size = strnlen(name, ECS_PACK_NAME_BYTES_MAX);
    return size > 0 && size < ECS_PACK_NAME_BYTES_MAX && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == size;
}

static void take_name(pack_walk* walk, const ecs_text* tree, const ecs_text_node* node) {
    const char* name = ecs_text_string(tree, node->value);
    for (uint32_t i = 0; i < walk->name_count; i++)
        if (strcmp(walk->names[i], name) == 0) return;
    if (strcmp(ecs_text_string(tree, node->type), "t") != 0 || !is_file_name(name)) {
        base_report(walk->reporter, tree->file, node->line,
                    "file: '%.200s' is not a name: write file:t=\"NAME\", with at most %u of a-z "
                    "0-9 _ - and .",
                    name, ECS_PACK_NAME_BYTES_MAX - 1);
        fail_pack(walk, ECS_ERR_SYNTAX);
    } else if (walk->name_count == ECS_PACK_FILES_MAX) {
        base_report(walk->reporter, tree->file, node->line, "file: more than %u files",
                    ECS_PACK_FILES_MAX);
        fail_pack(walk, ECS_ERR_FULL);
    } else {
        (void)base_text_copy(walk->names[walk->name_count++], ECS_PACK_NAME_BYTES_MAX, name);
    }
}

static void add_named(pack_walk* walk, const char* root, const char* name) {
    char path[2 * ECS_TEXT_PATH_BYTES_MAX], shown[3 * ECS_TEXT_PATH_BYTES_MAX];
    const char* slash = strrchr(root, '/');
    const char* dot = strrchr(slash ? slash : root, '.');
    const int stem = (int)(dot ? (size_t)(dot - root) : strlen(root));
    base_bytes bytes;
    base_bytes_init(&bytes, walk->allocator);
    (void)base_text_format(path, sizeof path, "%.*s/%s", stem, root, name);
    spell(walk, path, shown, sizeof shown);
    ecs_result result = walk->source->read(walk->source->context, path, &bytes);
    if (result == ECS_ERR_UNKNOWN) {
        base_bytes_clear(&bytes);
        (void)base_text_format(path, sizeof path, "%.*s%s", slash ? (int)(slash - root) + 1 : 0,
                               root, name);
        result = walk->source->read(walk->source->context, path, &bytes);
    }
    const bool is_long = result == ECS_ERR_FULL || bytes.size > ECS_PACK_FILE_BYTES_MAX;
    if (result == ECS_OK && !is_long) {
        (void)base_text_format(path, sizeof path, ":%s", name);
        ecs_pack_add(walk->pack, path, (const char*)bytes.data, bytes.size);
    } else {
        if (is_long) result = ECS_ERR_FULL;
        base_report(walk->reporter, shown, 0,
                    is_long ? "file: it has more than %u bytes"
                    : result == ECS_ERR_UNKNOWN
                        ? "file: it is not there, nor beside the templates: "
                          "PACK of shoal_game copies it there"
                        : "file: it cannot be read",
                    ECS_PACK_FILE_BYTES_MAX);
        fail_pack(walk, is_long || result == ECS_ERR_UNKNOWN ? result : ECS_ERR_SYNTAX);
    }
    base_bytes_deinit(&bytes);
}

static void add_files(pack_walk* walk, const char* root, size_t begin) {
    for (uint32_t i = 0; i < walk->name_count && walk->result == ECS_OK; i++)
        add_named(walk, root, walk->names[i]);
    if (walk->name_count == 0 || walk->result != ECS_OK ||
        walk->pack->size - begin <= ECS_PACK_WHOLE_BYTES_MAX)
        return;
    base_report(walk->reporter, root, 0,
                "file: texts and files have %zu bytes together, more than %u",
                walk->pack->size - begin, ECS_PACK_WHOLE_BYTES_MAX);
    fail_pack(walk, ECS_ERR_FULL);
}

// ---- packs ----

static void step(pack_walk* walk) {
    const pack_task task = walk->tasks[--walk->task_count];
    pack_file* file = task.file;
    if (task.match) {
        open_file(walk, task.match, file->tree.file, 0, false);
    } else if (task.import) {
        follow_import(walk, file, task.import);
    } else {
        ecs_pack_add(walk->pack, file->path, (const char*)file->text.data, file->text.size);
        const ecs_text* tree = &file->tree;
        for (uint32_t at = tree->nodes[0].child_first; at; at = tree->nodes[at].next)
            if (!tree->nodes[at].is_block &&
                strcmp(ecs_text_string(tree, tree->nodes[at].name), "file") == 0)
                take_name(walk, tree, &tree->nodes[at]);
        ecs_text_deinit(&file->tree);
        base_bytes_deinit(&file->text);
    }
}

ecs_result ecs_template_pack(const base_allocator* allocator, const ecs_template_source* source,
                             const char* root, const base_reporter* reporter, base_bytes* pack) {
    BASE_ASSERT(source && source->read && root && pack);
    pack_walk walk = {.source = source, .reporter = reporter, .pack = pack};
    size_t size = pack->size;
    char path[ECS_TEXT_PATH_BYTES_MAX];
    const char* fault = ecs_text_path_resolve(source, "", root, path);
    if (fault || strpbrk(path, "*?"))
        return BASE_REPORT_AS(ECS_ERR_SYNTAX, reporter, NULL, 0, "templates: '%.200s' %s", root,
                              fault ? fault : "is a wildcard");
    base_owner* own = base_owner_create(allocator, sizeof *own);
    walk.allocator = &own->allocator;
    base_bytes_write(pack, magic, sizeof magic);
    open_file(&walk, path, NULL, 0, false);
    while (walk.task_count > 0 && walk.result == ECS_OK)
        step(&walk);
    add_files(&walk, path, size);
    if (walk.result != ECS_OK) pack->size = size;
    base_owner_destroy(own);
    return walk.result;
}

void ecs_pack_add(base_bytes* pack, const char* path, const char* text, size_t bytes) {
    size_t path_bytes = strlen(path);
    BASE_ASSERT(path_bytes < ECS_TEXT_PATH_BYTES_MAX && bytes <= ECS_TEXT_BYTES_MAX);
    if (pack->size == 0) base_bytes_write(pack, magic, sizeof magic);
    base_bytes_write_varint(pack, path_bytes);
    base_bytes_write(pack, path, path_bytes);
    base_bytes_write_varint(pack, bytes);
    base_bytes_write(pack, text, bytes);
}

bool ecs_pack_next(const void* pack, size_t bytes, size_t* offset, ecs_pack_text* text) {
    BASE_ASSERT(offset && text);
    const uint8_t* data = pack;
    if (bytes < sizeof magic || memcmp(data, magic, sizeof magic) != 0) return false;
    size_t begin = *offset ? *offset : sizeof magic;
    if (begin >= bytes) {
        *offset = bytes;
        return false;
    }
    base_reader reader = base_reader_make(data + begin, bytes - begin);
    uint64_t size = base_reader_varint(&reader);
    if (reader.failed || size == 0 || size >= ECS_TEXT_PATH_BYTES_MAX ||
        !base_reader_read(&reader, text->path, (size_t)size))
        return false;
    text->path[size] = '\0';
    text->is_file = text->path[0] == ':';
    if (text->is_file && !is_file_name(text->path + 1)) return false;
    uint64_t text_bytes = base_reader_varint(&reader);
    if (reader.failed || strlen(text->path) != size || text_bytes > ECS_TEXT_BYTES_MAX ||
        text_bytes > base_reader_left(&reader))
        return false;
    if (text->is_file) memmove(text->path, text->path + 1, size);
    text->text = (const char*)data + begin + reader.offset;
    text->bytes = (size_t)text_bytes;
    *offset = begin + reader.offset + text->bytes;
    return true;
}

// Read all texts of a pack.
static ecs_result read_pack(ecs_template_set* set, const void* pack, size_t bytes) {
    size_t offset = 0;
    uint32_t count = 0;
    ecs_pack_text text;
    set->is_packed = true;
    while (ecs_pack_next(pack, bytes, &offset, &text)) {
        if (text.is_file) continue;
        if (count++ == ECS_TEXT_FILES_MAX) return ECS_ERR_FULL;
        ecs_template_set_read(set, text.path, text.text, text.bytes);
        if (set->result == ECS_ERR_FULL) return set->result;
    }
    return offset == bytes && count > 0 ? set->result : ECS_ERR_MALFORMED;
}

ecs_result ecs_template_load_pack(ecs_world* world, const void* pack, size_t bytes,
                                  const base_reporter* reporter) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(world && (pack || bytes == 0));
    if (world->is_sealed) return ECS_ERR_SEALED;
    ecs_template_set* set = ecs_template_set_create(world, reporter);
    ecs_result result = read_pack(set, pack, bytes);
    if (result == ECS_OK || result == ECS_ERR_SYNTAX) result = ecs_template_set_resolve(set);
    if (result == ECS_OK) result = ecs_template_set_commit(set);
    base_owner_destroy(set);
    return result;
}
