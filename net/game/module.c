// SPDX-License-Identifier: MIT
// Finding and opening modules.
//
// A name is looked up in the search path and nowhere else. Only what the user typed with a slash or
// ".so" is a file. So neither a log nor a server can make a program load a file of its choice: both
// give names, and names contain no slashes.
// The templates lie beside the library. They are read whole, with everything that they import from
// below their folder. The hashes of this pack and of the library give the content hash in logs.

#include "game/module_files.h"
#include "game/module_table.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES_MAX 1024u
#define NAMES_MAX 64u

// Owns everything that net_module points to.
typedef struct module_box {
    net_module module;
    net_module_table table;
    char templates_file[PATH_BYTES_MAX];
    base_bytes templates;
    base_bytes pack;
} module_box;

// The next folder of a colon-separated list; NULL at its end.
static const char* next_folder(const char* path, char* folder, size_t folder_bytes) {
    size_t length = strcspn(path, ":");
    if (length == 0 && path[0] == '\0') return NULL;
    bool fits = length > 0 && length < folder_bytes;
    memcpy(folder, path, fits ? length : 0);
    folder[fits ? length : 0] = '\0';
    return path + length + (path[length] == ':' ? 1 : 0);
}

// The nearest name of a module in the path, for "did you mean".
static const char* nearest_name(const char* name, const char* search_path,
                                char (*names)[NET_GAME_NAME_BYTES_MAX]) {
    const char* pointers[NAMES_MAX];
    uint32_t count = 0;
    char folder[PATH_BYTES_MAX];
    const char* rest = search_path ? search_path : "";
    while ((rest = next_folder(rest, folder, sizeof folder))) {
        DIR* dir = folder[0] ? opendir(folder) : NULL;
        if (!dir) continue;
        for (struct dirent* entry = readdir(dir); entry && count < NAMES_MAX;
             entry = readdir(dir)) {
            size_t length = strlen(entry->d_name);
            if (length < 4 || length - 3 >= NET_GAME_NAME_BYTES_MAX) continue;
            if (strcmp(entry->d_name + length - 3, ".so") != 0) continue;
            memcpy(names[count], entry->d_name, length - 3);
            names[count][length - 3] = '\0';
            if (!net_module_name_is_valid(names[count])) continue;
            pointers[count] = names[count];
            count++;
        }
        closedir(dir);
    }
    return base_text_nearest(name, pointers, count);
}

static net_result find_file(const char* name, const char* search_path,
                            const base_reporter* reporter, char* file, size_t file_bytes) {
    if (net_module_name_is_valid(name)) {
        char folder[PATH_BYTES_MAX];
        const char* rest = search_path ? search_path : "";
        while ((rest = next_folder(rest, folder, sizeof folder))) {
            if (!folder[0]) continue;
            if (!base_text_format(file, file_bytes, "%s/%s.so", folder, name)) continue;
            if (access(file, R_OK) == 0) return NET_OK;
        }
    }
    char names[NAMES_MAX][NET_GAME_NAME_BYTES_MAX];
    const char* nearest = nearest_name(name, search_path, names);
    if (nearest) {
        base_report(reporter, NULL, 0, "no game \"%.64s\" in the module path, did you mean \"%s\"?",
                    name, nearest);
    } else {
        base_report(reporter, NULL, 0, "no game \"%.64s\" in the module path", name);
    }
    return NET_ERR_UNKNOWN;
}

// From what a user typed to a file.
static net_result locate(const char* name_or_file, const char* search_path,
                         const base_reporter* reporter, char* file, size_t file_bytes) {
    size_t length = strlen(name_or_file);
    bool has_slash = strchr(name_or_file, '/') != NULL;
    bool has_ending = length > 3 && strcmp(name_or_file + length - 3, ".so") == 0;
    if (!has_slash && !has_ending)
        return find_file(name_or_file, search_path, reporter, file, file_bytes);
    // Without a slash dlopen searches the folders of the system.
    if (!base_text_format(file, file_bytes, "%s%s", has_slash ? "" : "./", name_or_file)) {
        base_report(reporter, NULL, 0, "the file name is too long");
        return NET_ERR_MODULE;
    }
    if (access(file, R_OK) != 0) {
        base_report(reporter, file, 0, "cannot be opened: %s", strerror(errno));
        return NET_ERR_UNKNOWN;
    }
    return NET_OK;
}

// "games/breakout.so" -> "games/breakout.blk", and "breakout" as its name.
static bool name_templates(const char* file, char* templates_file, size_t bytes, char* name,
                           size_t name_bytes) {
    const char* slash = strrchr(file, '/');
    const char* base = slash ? slash + 1 : file;
    size_t length = strlen(base);
    if (length > 3 && strcmp(base + length - 3, ".so") == 0) length -= 3;
    if (length >= name_bytes) return false;
    memcpy(name, base, length);
    name[length] = '\0';
    return base_text_format(templates_file, bytes, "%.*s%s.blk", (int)(base - file), file, name);
}

static module_box* create_box(void) {
    module_box* box = base_allocate_zero(NULL, sizeof *box);
    if (!box) return NULL;
    base_bytes_init(&box->templates, NULL);
    base_bytes_init(&box->pack, NULL);
    box->module.game = &box->table.game;
    box->module.templates_file = box->templates_file;
    return box;
}

static void destroy_box(module_box* box) {
    if (!box) return;
    base_bytes_deinit(&box->templates);
    base_bytes_deinit(&box->pack);
    if (box->module.library) dlclose(box->module.library);
    base_release(NULL, box, sizeof *box);
}

// A zero byte in a text would hide the rest of it.
static net_result check_texts(const module_box* box, const base_reporter* reporter) {
    size_t offset = 0;
    ecs_pack_text text;
    while (ecs_pack_next(box->pack.data, box->pack.size, &offset, &text)) {
        if (text.bytes == 0 || !memchr(text.text, '\0', text.bytes)) continue;
        base_report(reporter, text.path, 0, "is not a text");
        return NET_ERR_MODULE;
    }
    return NET_OK;
}

// The root is the last text of its pack. Its copy ends with a NUL.
static net_result copy_templates(module_box* box) {
    size_t offset = 0;
    ecs_pack_text text = {.text = ""};
    while (ecs_pack_next(box->pack.data, box->pack.size, &offset, &text)) {
    }
    size_t size = text.bytes;
    base_bytes_write(&box->templates, text.text, size);
    base_bytes_write_u8(&box->templates, 0);
    if (box->templates.failed) return NET_ERR_MEMORY;
    box->module.templates = (const char*)box->templates.data;
    box->module.template_bytes = size;
    box->module.pack = box->pack.data;
    box->module.pack_bytes = box->pack.size;
    return NET_OK;
}

net_result net_template_pack_read(const char* file, const base_reporter* reporter,
                                  base_bytes* pack) {
    BASE_ASSERT(file && pack);
    net_template_folder folder;
    if (!net_template_folder_init(&folder, file)) {
        base_report(reporter, file, 0, "cannot be opened: %s", strerror(errno));
        return NET_ERR_MODULE;
    }
    const char* slash = strrchr(file, '/');
    ecs_result result =
        ecs_template_pack(NULL, &folder.source, slash ? slash + 1 : file, reporter, pack);
    return result == ECS_OK ? NET_OK : result == ECS_ERR_MEMORY ? NET_ERR_MEMORY : NET_ERR_MODULE;
}

static net_result load_library(module_box* box, const char* file, const char* name,
                               const base_reporter* reporter) {
    box->module.library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!box->module.library) {
        const char* why = dlerror();
        base_report(reporter, NULL, 0, "%s", why ? why : "the module cannot be loaded");
        return NET_ERR_MODULE;
    }
    // The way that POSIX gives to convert the result of dlsym to a function pointer.
    net_game_module_get_fn get = NULL;
    *(void**)&get = dlsym(box->module.library, NET_GAME_SYMBOL);
    if (!get) {
        base_report(reporter, file, 0, "is no game module: it has no symbol %s", NET_GAME_SYMBOL);
        return NET_ERR_MODULE;
    }
    net_result result = net_module_table_check(get(), file, reporter, &box->table);
    if (result) return result;
    if (strcmp(box->table.game.name, name) != 0) {
        base_report(reporter, file, 0, "calls itself %s: the file must have the game's name",
                    box->table.game.name);
        return NET_ERR_MODULE;
    }
    return NET_OK;
}

static net_result open_file(module_box* box, const char* file, const base_reporter* reporter) {
    char name[NET_GAME_NAME_BYTES_MAX];
    if (!name_templates(file, box->templates_file, sizeof box->templates_file, name, sizeof name)) {
        base_report(reporter, file, 0, "the file's name is no game's name ([a-z0-9_]{1,32}.so)");
        return NET_ERR_MODULE;
    }
    if (!net_module_may_run(file, reporter)) return NET_ERR_MODULE;
    base_bytes code;
    base_bytes_init(&code, NULL);
    net_result result = net_module_read_file(file, NET_MODULE_FILE_BYTES_MAX, reporter, &code);
    if (!result) result = net_template_pack_read(box->templates_file, reporter, &box->pack);
    if (!result) {
        box->module.content_hash = base_hash64_mix(base_hash64(code.data, code.size, 0),
                                                   base_hash64(box->pack.data, box->pack.size, 0));
    }
    base_bytes_deinit(&code);
    if (result == NET_ERR_IO) return NET_ERR_MODULE;
    if (!result) result = check_texts(box, reporter);
    if (!result) result = copy_templates(box);
    if (!result) result = load_library(box, file, name, reporter);
    return result;
}

net_result net_module_open(const char* name_or_file, const char* search_path,
                           const base_reporter* reporter, net_module** module) {
    BASE_ASSERT(name_or_file && module);
    *module = NULL;
    char file[PATH_BYTES_MAX];
    net_result result = locate(name_or_file, search_path, reporter, file, sizeof file);
    if (result) return result;
    module_box* box = create_box();
    if (!box) return NET_ERR_MEMORY;
    result = open_file(box, file, reporter);
    if (result) {
        destroy_box(box);
        return result;
    }
    *module = &box->module;
    return NET_OK;
}

net_result net_module_wrap(const net_game_module* game, const char* templates,
                           const char* templates_file, const base_reporter* reporter,
                           net_module** module) {
    BASE_ASSERT(game && templates && templates_file && module);
    *module = NULL;
    module_box* box = create_box();
    if (!box) return NET_ERR_MEMORY;
    (void)base_text_copy(box->templates_file, sizeof box->templates_file, templates_file);
    net_result result = net_module_table_check(game, templates_file, reporter, &box->table);
    if (!result) {
        const char* slash = strrchr(templates_file, '/');
        const char* path = slash ? slash + 1 : templates_file;
        size_t size = strlen(templates);
        bool fits = strlen(path) < ECS_TEXT_PATH_BYTES_MAX && size <= ECS_TEXT_BYTES_MAX;
        if (!fits) base_report(reporter, templates_file, 0, "is longer than a file may be");
        if (fits) ecs_pack_add(&box->pack, path, templates, size);
        box->module.content_hash = base_hash64_mix(base_hash64_text(box->table.game.name),
                                                   base_hash64(templates, size, 0));
        result = !fits ? NET_ERR_MODULE : box->pack.failed ? NET_ERR_MEMORY : copy_templates(box);
    }
    if (result) {
        destroy_box(box);
        return result;
    }
    *module = &box->module;
    return NET_OK;
}

// A box begins with its module.
_Static_assert(offsetof(module_box, module) == 0,
               "net_module_close gets the box by its first field");

void net_module_close(net_module* module) {
    destroy_box((module_box*)module);
}
