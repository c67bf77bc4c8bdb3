// SPDX-License-Identifier: MIT
// The files of games/skeleton are compiled into the program (skeleton.h, written by the build):
// an installation needs nothing beside it, and a test builds and plays what it writes. Words
// between two @ are replaced: @name@ hop, @Name@ Hop, @kind@ turn, @where@ the folder of
// ShoalConfig.cmake, @bin@ that of the programs.
#include "commands.h"
#include "skeleton.h"

#include "base/bytes.h"
#include "base/options.h"
#include "base/text.h"
#include "host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX 33u
#define PATH_BYTES_MAX 1024u

typedef struct words {
    char name[NAME_BYTES_MAX];  ///< "my_game"
    char camel[NAME_BYTES_MAX]; ///< "MyGame", as protoc-c spells a package
    char kind[NAME_BYTES_MAX];  ///< "turn"
    char bin[PATH_BYTES_MAX];
    char where[PATH_BYTES_MAX];
} words;

static bool is_name(const char* text) {
    size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    bool is_identifier = text[0] >= 'a' && text[0] <= 'z';
    return is_identifier && size == strlen(text) && size < NAME_BYTES_MAX &&
           text[size - 1] != '_' && !strstr(text, "__");
}

static void make_camel(const char* name, char* camel) {
    bool is_first = true;
    for (; *name; name++) {
        bool is_lower = *name >= 'a' && *name <= 'z';
        if (*name != '_') *camel++ = is_first && is_lower ? (char)(*name - 'a' + 'A') : *name;
        is_first = *name == '_';
    }
    *camel = '\0';
}

// Where this program lies, and what of Shoal lies beside it: the folder of a build, or that of an
// installation.
static void find_places(words* self) {
    static const char* const folders[] = {"..", "../lib/cmake/Shoal"};
    ssize_t size = readlink("/proc/self/exe", self->bin, sizeof self->bin - 1);
    self->bin[size > 0 ? size : 0] = '\0';
    char* slash = strrchr(self->bin, '/');
    if (slash) *slash = '\0';
    for (uint32_t i = 0; i < BASE_COUNT(folders); i++) {
        char file[PATH_BYTES_MAX + 64];
        if (base_text_format(file, sizeof file, "%s/%s/ShoalConfig.cmake", self->bin, folders[i]) &&
            access(file, R_OK) == 0)
            (void)base_text_format(self->where, sizeof self->where, "%s/%s", self->bin, folders[i]);
    }
}

static void replace(const words* self, const char* text, base_bytes* out) {
    const struct {
        const char* word;
        const char* value;
    } places[] = {{"@name@", self->name},
                  {"@Name@", self->camel},
                  {"@kind@", self->kind},
                  {"@where@", self->where},
                  {"@bin@", self->bin}};
    while (*text) {
        size_t size = strcspn(text, "@");
        base_bytes_write(out, text, size);
        text += size;
        const char* value = NULL;
        for (uint32_t i = 0; i < BASE_COUNT(places) && !value; i++) {
            size_t length = strlen(places[i].word);
            if (strncmp(text, places[i].word, length) != 0) continue;
            value = places[i].value;
            text += length;
        }
        if (value)
            base_bytes_write(out, value, strlen(value));
        else if (*text)
            base_bytes_write(out, text++, 1);
    }
}

static bool write_file(const words* self, const server_skeleton_file* file,
                       const base_reporter* reporter) {
    char path[2 * NAME_BYTES_MAX + 64];
    base_bytes out;
    base_bytes_init(&out, NULL);
    replace(self, file->text, &out);
    const bool is_named = strncmp(file->name, "NAME", 4) == 0; // "NAME.c" -> "hop/hop.c"
    bool is_right = base_text_format(path, sizeof path, "%s/%s%s", self->name,
                                     is_named ? self->name : "", file->name + (is_named ? 4 : 0));
    int target = is_right ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 file->is_program ? 0755 : 0644)
                          : -1;
    if (is_right && target < 0) base_report(reporter, path, 0, "%s", strerror(errno));
    is_right = target >= 0 && write(target, out.data, out.size) == (ssize_t)out.size;
    if (target >= 0) is_right = close(target) == 0 && is_right;
    base_bytes_deinit(&out);
    return is_right;
}

static bool link_module(const words* self, const base_reporter* reporter) {
    char target[PATH_BYTES_MAX + 32], path[2 * NAME_BYTES_MAX + 8];
    (void)base_text_format(target, sizeof target, "%s/../lib/shoal/games/lua.so", self->bin);
    (void)base_text_format(path, sizeof path, "%s/%s.so", self->name, self->name);
    if (symlink(target, path) == 0) return true;
    return base_report(reporter, path, 0, "%s", strerror(errno));
}

typedef struct new_config {
    uint32_t kind;
} new_config;

static const base_option new_options[] = {
    {"kind", BASE_OPTION_FIELD(new_config, kind), SERVER_SKELETON_KINDS,
     "circles on a field; walls and line of sight; hidden cards in turns; boxes, orders and fog; "
     "doors to matches of other games; "
     "rules in Lua, no compiler",
     0, 0},
};

// The words of the options, one by one.
static void copy_kind(uint32_t number, char* kind) {
    const char* text = SERVER_SKELETON_KINDS;
    for (; number > 0; number--)
        text = strchr(text, '|') + 1;
    (void)base_text_format(kind, NAME_BYTES_MAX, "%.*s", (int)strcspn(text, "|"), text);
}

int server_new(int argc, char** argv, const base_reporter* reporter) {
    new_config config = {0};
    const base_options options = {
        .program = "shoal-server new",
        .usage = "NAME [options]",
        .about = "Creates the folder NAME with a game that builds and runs as it is, by NAME/play.",
        .options = new_options,
        .count = BASE_COUNT(new_options),
        .values = &config,
    };
    base_option_list names = {0};
    const base_options_result read = base_options_read(&options, argc, argv, &names, reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    if (names.count != 1 || !is_name(names.values[0]))
        return net_exit_report(NET_EXIT_USAGE, reporter, NULL,
                               "new: the name of a game is 1 to 32 of a-z 0-9 _, from a letter on: "
                               "shoal-server new hop");
    words self = {.where = ""};
    (void)base_text_copy(self.name, sizeof self.name, names.values[0]);
    make_camel(self.name, self.camel);
    copy_kind(config.kind, self.kind);
    find_places(&self);
    if (mkdir(self.name, 0777) != 0) {
        base_report(reporter, self.name, 0, "%s", strerror(errno));
        return errno == EEXIST ? NET_EXIT_USAGE : NET_EXIT_RUNTIME;
    }
    const bool is_script = strcmp(self.kind, "lua") == 0;
    if (is_script && !link_module(&self, reporter)) return NET_EXIT_RUNTIME;
    for (uint32_t i = 0; i < BASE_COUNT(server_skeleton); i++) {
        const server_skeleton_file* file = &server_skeleton[i];
        const bool is_part = (!file->kind[0] && !is_script) || strcmp(file->kind, self.kind) == 0;
        if (is_part && !write_file(&self, file, reporter)) return NET_EXIT_RUNTIME;
    }
    printf("%s: a game that builds and plays. Next:\n    cd %s && ./play\n", self.name, self.name);
    return NET_EXIT_CLEAN;
}
