// SPDX-License-Identifier: MIT
// Where programs look for game modules.
#define _GNU_SOURCE

#include "game/module.h"

#include "base/assert.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

// Reading files of modules and templates.
//
// The template language decides by characters what a path may be. Here links are followed and the
// result is compared with the folder, so that no file outside of it is read.

// The sticky bit of /tmp keeps others from replacing a file, but not from adding NAME.tables.
static bool may_all_write(const char* path, const base_reporter* reporter) {
    struct stat status;
    if (stat(path, &status) != 0 || (status.st_mode & S_IWOTH) == 0) return false;
    if (status.st_mode & S_ISVTX)
        base_report(reporter, path, 0,
                    "all users may write here, so no code from here is run: put the game into a "
                    "folder of its own");
    else
        base_report(reporter, path, 0,
                    "all users may write it, so no code of it is run: chmod o-w %s", path);
    return true;
}

static bool is_folder_open(const char* file, const base_reporter* reporter) {
    const char* slash = strrchr(file, '/');
    char folder[4096];
    (void)base_text_format(folder, sizeof folder, "%.*s",
                           slash ? (int)(slash - file) + (slash == file) : 1, slash ? file : ".");
    return may_all_write(folder, reporter);
}

bool net_module_may_run(const char* file, const base_reporter* reporter) {
    BASE_ASSERT(file);
    char real[4096];
    return !may_all_write(file, reporter) && !is_folder_open(file, reporter) &&
           (!realpath(file, real) || !is_folder_open(real, reporter));
}

// Both without links.
static bool is_below(const char* file, const char* folder) {
    size_t size = strlen(folder);
    return strncmp(file, folder, size) == 0 && (file[size] == '/' || file[size] == '\0');
}

// The file's path for the system; an error when it does not lie below the folder.
static ecs_result find_real(const net_template_folder* self, const char* path, char* real) {
    char file[NET_FOLDER_BYTES_MAX + ECS_TEXT_PATH_BYTES_MAX];
    self->source.spell((void*)(uintptr_t)self, path, file, sizeof file);
    if (!realpath(*file ? file : ".", real))
        return errno == ENOENT || errno == ENOTDIR ? ECS_ERR_UNKNOWN : ECS_ERR_MALFORMED;
    return is_below(real, self->real) ? ECS_OK : ECS_ERR_MALFORMED;
}

static ecs_result read_text(void* context, const char* path, base_bytes* text) {
    char real[4096];
    ecs_result found = find_real(context, path, real);
    if (found != ECS_OK) return found;
    const base_reporter quiet = {0};
    net_result result = net_file_read(real, ECS_TEXT_BYTES_MAX, &quiet, text);
    if (result == NET_OK) return ECS_OK;
    return text->size > ECS_TEXT_BYTES_MAX ? ECS_ERR_FULL : ECS_ERR_MALFORMED;
}

static ecs_result list_names(void* context, const char* folder,
                             bool (*found)(void* names, const char* name), void* names) {
    char real[4096];
    ecs_result result = find_real(context, folder, real);
    if (result != ECS_OK) return result;
    DIR* dir = opendir(real);
    if (!dir) return errno == ENOENT || errno == ENOTDIR ? ECS_ERR_UNKNOWN : ECS_ERR_MALFORMED;
    for (;;) {
        const struct dirent* entry = readdir(dir);
        if (!entry || !found(names, entry->d_name)) break;
    }
    closedir(dir);
    return ECS_OK;
}

static void spell(void* context, const char* path, char* target, size_t bytes) {
    const net_template_folder* self = context;
    if (strncmp(path, "%game", 5) == 0 && (path[5] == '/' || path[5] == '\0'))
        path += path[5] == '/' ? 6 : 5;
    (void)base_text_format(target, bytes, "%s%s", self->folder, path);
}

bool net_template_folder_init(net_template_folder* folder, const char* file) {
    BASE_ASSERT(file);
    *folder = (net_template_folder){.roots = {"game"}};
    const char* slash = strrchr(file, '/');
    size_t size = slash ? (size_t)(slash - file) + 1 : 0;
    if (size >= sizeof folder->folder) return false;
    memcpy(folder->folder, file, size);
    folder->source = (ecs_template_source){.context = folder,
                                           .read = read_text,
                                           .list = list_names,
                                           .spell = spell,
                                           .root_names = folder->roots,
                                           .root_count = 1};
    if (!realpath(size ? folder->folder : ".", folder->real)) return false;
    if (strcmp(folder->real, "/") == 0) folder->real[0] = '\0';
    return true;
}

static void report(void* context, const char* file, uint32_t line, const char* message) {
    const net_template_reporter* self = context;
    const char* slash = strrchr(self->templates_file, '/');
    char shown[NET_FOLDER_BYTES_MAX + ECS_TEXT_PATH_BYTES_MAX];
    if (file && strncmp(file, "%game/", 6) == 0) file += 6;
    if (file)
        (void)base_text_format(shown, sizeof shown, "%.*s%s",
                               slash ? (int)(slash - self->templates_file) + 1 : 0,
                               self->templates_file, file);
    if (self->next && self->next->report)
        self->next->report(self->next->context, file ? shown : NULL, line, message);
}

base_reporter net_template_reporter_make(net_template_reporter* self) {
    BASE_ASSERT(self->templates_file);
    return (base_reporter){report, self};
}

// ---- pictures and sounds ----

bool net_asset_name_is_valid(const char* name) {
    size_t size = name ? strnlen(name, NET_ASSET_NAME_BYTES) : 0;
    if (size == 0 || size == NET_ASSET_NAME_BYTES) return false;
    char before = '/';
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
        if (!is_word && (before == '/' || (c != '.' && c != '/'))) return false;
        before = c;
    }
    return before != '/';
}

// Another name is likelier than a forgotten file.
static void report_missing(const char* folder, const char* name, const char* file,
                           const base_reporter* reporter) {
    char kept[NET_ASSET_NAME_BYTES], hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(name);
    DIR* dir = opendir(folder);
    for (const struct dirent* entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (!net_asset_name_is_valid(entry->d_name)) continue;
        base_nearest_offer(&nearest, entry->d_name);
        if (nearest.found != entry->d_name) continue;
        (void)base_text_copy(kept, sizeof kept, entry->d_name);
        nearest.found = kept;
    }
    if (dir) closedir(dir);
    if (nearest.found)
        base_report(reporter, file, 0, "is missing%s", base_nearest_hint(&nearest, hint));
    else
        base_report(
            reporter, file, 0,
            "is missing: put %s into the folder assets beside the game's sources, and build "
            "the game again",
            name);
}

net_result net_asset_read(const char* folder, const char* name, const base_reporter* reporter,
                          base_bytes* bytes) {
    BASE_ASSERT(folder && bytes);
    if (!net_asset_name_is_valid(name))
        return BASE_REPORT_AS(
            NET_ERR_MALFORMED, reporter, folder, 0,
            "\"%.64s\" is not the name of a picture or a sound: a name has at most %u of "
            "A-Z a-z 0-9 . _ - and /, as in ship.png",
            name ? name : "", NET_ASSET_NAME_BYTES - 1);
    char file[NET_FOLDER_BYTES_MAX + 2 * NET_ASSET_NAME_BYTES], root[4096], real[4096];
    if (!base_text_format(file, sizeof file, "%s/%s", folder, name) || !realpath(folder, root) ||
        !realpath(file, real)) {
        report_missing(folder, name, file, reporter);
        return NET_ERR_IO;
    }
    if (!is_below(real, root))
        return BASE_REPORT_AS(NET_ERR_IO, reporter, file, 0,
                              "is a link that leads out of the game's folder: copy the file");
    return net_file_read(file, NET_ASSET_BYTES_MAX, reporter, bytes);
}

// A PNG file begins with eight bytes that no other has, then comes a block of 13 bytes: the size of
// the picture first, the high byte first.
net_result net_image_read(const char* folder, const char* name, const base_reporter* reporter,
                          base_bytes* bytes, uint32_t* width, uint32_t* height) {
    static const uint8_t start[16] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                      0,    0,   0,   13,  'I',  'H',  'D',  'R'};
    const size_t first = bytes->size;
    net_result result = net_asset_read(folder, name, reporter, bytes);
    if (result) return result;
    const uint8_t* at = bytes->data + first;
    if (bytes->size - first < sizeof start + 8 || memcmp(at, start, sizeof start) != 0)
        return BASE_REPORT_AS(NET_ERR_MALFORMED, reporter, folder, 0,
                              "%s is not a PNG picture: save it as one", name);
    uint32_t sides[2] = {0, 0};
    for (uint32_t i = 0; i < 8; i++)
        sides[i / 4] = sides[i / 4] << 8 | at[sizeof start + i];
    *width = sides[0];
    *height = sides[1];
    if (*width == 0 || *height == 0)
        return BASE_REPORT_AS(NET_ERR_MALFORMED, reporter, folder, 0,
                              "%s has no pixels: save it again", name);
    if (*width <= NET_IMAGE_SIDE_MAX && *height <= NET_IMAGE_SIDE_MAX &&
        *width * *height <= NET_IMAGE_PIXELS_MAX)
        return NET_OK;
    base_report(reporter, folder, 0,
                "%s has %u x %u pixels: a picture has sides of at most %u, and at most %u pixels",
                name, *width, *height, NET_IMAGE_SIDE_MAX, NET_IMAGE_PIXELS_MAX);
    return NET_ERR_FULL;
}

bool net_asset_is_sound(const void* bytes, size_t size) {
    const char* text = bytes;
    const bool is_wave =
        size > 12 && memcmp(text, "RIFF", 4) == 0 && memcmp(text + 8, "WAVE", 4) == 0;
    return is_wave || (size > 4 && memcmp(text, "OggS", 4) == 0);
}
