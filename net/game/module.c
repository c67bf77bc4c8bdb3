// SPDX-License-Identifier: MIT
// Checking a module's table once, when it is opened, so that no other code has to: every function
// is present, every name fits into logs and options, every message converts both ways.
//
// Contract versions: a program accepts its own version and any table that is not longer than its
// own. Fields are added only at the end, so a shorter table reads as zero there. The elements of
// the arrays grow in the same way: they are copied one by one, by the size that the module was
// compiled with, into arrays of this program, so that the rest of the program indexes as usual.
#define _GNU_SOURCE // memfd_create

#include "game/module.h"

#include "proto/codec.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/hash.h"
#include "base/text.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#ifdef __linux__
#include <link.h>
#include <sys/statvfs.h>
#endif
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Version 1 ends with human_input; a shorter table was never valid.
#define TABLE_BYTES_MIN (offsetof(net_game_module, human_input) + sizeof(void*))
_Static_assert(TABLE_BYTES_MIN == 144 || sizeof(void*) != 8, "version 1 is frozen");

typedef struct check {
    const char* file;
    const base_reporter* reporter;
    uint32_t faults;
} check;

static void fault(check* check_, const char* what, const char* name) {
    check_->faults++;
    base_report(check_->reporter, check_->file, 0, what, name ? name : "(null)");
}

static bool is_word(const char* text, size_t bytes_max) {
    if (!text) return false;
    size_t length = strnlen(text, bytes_max + 1);
    if (length == 0 || length > bytes_max) return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

bool net_module_name_is_valid(const char* name) {
    return is_word(name, NET_GAME_NAME_BYTES_MAX - 1);
}

static bool is_name(const char* text) {
    return text && text[0] && strnlen(text, ECS_NAME_BYTES_MAX) < ECS_NAME_BYTES_MAX;
}

static void check_functions(check* check_, const net_game_module* game) {
    if (!game->register_types) fault(check_, "the function %s is missing", "register_types");
    if (!game->register_systems) fault(check_, "the function %s is missing", "register_systems");
    if (!game->start) fault(check_, "the function %s is missing", "start");
    if (!game->player_join) fault(check_, "the function %s is missing", "player_join");
    if (!game->player_leave) fault(check_, "the function %s is missing", "player_leave");
    if (!game->save_state != !game->load_state)
        fault(check_, "the function %s is missing: save_state and load_state come together",
              game->save_state ? "load_state" : "save_state");
}

static void check_message(check* check_, const net_game_module* game, uint32_t index) {
    const net_message* message = &game->messages[index];
    if (!is_name(message->name)) {
        fault(check_, "a message has no name, or one of more than 127 bytes%s", "");
        return;
    }
    if (!is_name(message->event)) fault(check_, "message %s: no event", message->name);
    if (message->kind > NET_MESSAGE_TO_CLIENTS) fault(check_, "message %s: no kind", message->name);
    if (!message->to_wire || !message->from_wire)
        fault(check_, "message %s: to_wire or from_wire is missing", message->name);
    if (!message->descriptor || message->descriptor->magic != PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC)
        fault(check_, "message %s: no protobuf descriptor", message->name);
    else if (!proto_is_flat(message->descriptor))
        fault(check_, "message %s contains itself", message->name);
    for (uint32_t i = 0; i < index; i++) {
        const net_message* other = &game->messages[i];
        if (other->name && strcmp(other->name, message->name) == 0)
            fault(check_, "message %s is listed twice", message->name);
        if (other->event && message->event && strcmp(other->event, message->event) == 0)
            fault(check_, "event %s belongs to two messages", message->event);
    }
}

static void check_messages(check* check_, const net_game_module* game) {
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < game->message_count; i++) {
        check_message(check_, game, i);
        inputs += game->messages[i].kind == NET_MESSAGE_INPUT;
    }
    if (inputs != 1)
        fault(check_, "%s message of kind input, there must be one",
              inputs ? "more than one" : "no");
}

static void check_settings(check* check_, const net_game_module* game) {
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        if (!is_word(setting->key, 31)) {
            fault(check_, "setting %s: a key is [a-z0-9_]{1,31}", setting->key);
            continue;
        }
        // Written so that NaN is refused everywhere. A log cannot carry infinite limits.
        bool is_ordered = setting->min <= setting->value_default &&
                          setting->value_default <= setting->max && setting->min >= -1e300 &&
                          setting->max <= 1e300;
        if (!is_ordered) fault(check_, "setting %s: default out of min..max", setting->key);
        for (uint32_t k = 0; k < i; k++)
            if (game->settings[k].key && strcmp(game->settings[k].key, setting->key) == 0)
                fault(check_, "setting %s is listed twice", setting->key);
    }
}

static void check_actions(check* check_, const net_game_module* game) {
    for (uint32_t i = 0; i < game->action_count; i++)
        if (!is_name(game->actions[i].name)) fault(check_, "an action has no name%s", "");
}

static bool is_sound_file(const char* name) {
    if (!name || !net_asset_name_is_valid(name)) return false;
    const size_t size = strlen(name);
    return size > 4 &&
           (strcmp(name + size - 4, ".wav") == 0 || strcmp(name + size - 4, ".ogg") == 0);
}

static void check_sounds(check* check_, const net_game_module* game) {
    for (uint32_t i = 0; i < game->sound_count; i++) {
        const net_sound* sound = &game->sounds[i];
        if (!is_name(sound->event)) {
            fault(check_, "a sound has no event%s", "");
            continue;
        }
        if (!is_sound_file(sound->file))
            fault(check_, "the sound of event %s: its file is not a .wav or .ogg in assets/",
                  sound->event);
        // Written so that NaN is refused.
        if (!(sound->volume >= 0.0f && sound->volume <= 1.0f))
            fault(check_, "the sound of event %s: its volume is not within 0..1", sound->event);
        if (!(sound->reach >= 0.0f && sound->reach < 1e9f))
            fault(check_, "the sound of event %s: its reach is not a distance", sound->event);
        for (uint32_t k = 0; k < i; k++)
            if (game->sounds[k].event && strcmp(game->sounds[k].event, sound->event) == 0)
                fault(check_, "event %s has two sounds: keep one", sound->event);
    }
}

static void check_music(check* check_, const net_game_module* game) {
    if (!game->music) return;
    if (!is_sound_file(game->music))
        fault(check_, "the music %s is not a .wav or .ogg in assets/", game->music);
    if (!(game->music_volume >= 0.0f && game->music_volume <= 1.0f))
        fault(check_, "the volume of the music %s is not within 0..1", game->music);
}

// One array of the table: the module's, and this program's copy.
typedef struct array {
    const char* what;
    const void* from;
    uint32_t count, count_max;
    uint32_t bytes; // of the module's elements
    void* to;
    uint32_t to_bytes;
} array;

// @return false after a fault; nothing is copied then.
static bool copy_array(check* check_, const array* array_) {
    if (array_->count == 0) return true;
    const char* problem = NULL;
    if (!array_->from)
        problem = "missing";
    else if (array_->count > array_->count_max)
        problem = "too long";
    if (problem) {
        check_->faults++;
        base_report(check_->reporter, check_->file, 0, "the %s table is %s", array_->what, problem);
        return false;
    }
    // All elements contain pointers, so a compiler gives no other size.
    if (array_->bytes == 0 || array_->bytes > array_->to_bytes ||
        array_->bytes % _Alignof(void*) != 0) {
        check_->faults++;
        base_report(check_->reporter, check_->file, 0,
                    "an element of its %s table has %u bytes, this program takes %zu to %u",
                    array_->what, array_->bytes, _Alignof(void*), array_->to_bytes);
        return false;
    }
    for (uint32_t i = 0; i < array_->count; i++) {
        memcpy((uint8_t*)array_->to + (size_t)i * array_->to_bytes,
               (const uint8_t*)array_->from + (size_t)i * array_->bytes, array_->bytes);
    }
    return true;
}

static void copy_arrays(check* check_, net_module_table* copy) {
    net_game_module* game = &copy->game;
    const array arrays[] = {{"message", game->messages, game->message_count, NET_MESSAGES_MAX,
                             game->message_bytes, copy->messages, sizeof *copy->messages},
                            {"settings", game->settings, game->setting_count, NET_SETTINGS_MAX,
                             game->setting_bytes, copy->settings, sizeof *copy->settings},
                            {"action", game->actions, game->action_count, NET_ACTIONS_MAX,
                             game->action_bytes, copy->actions, sizeof *copy->actions},
                            {"sound", game->sounds, game->sound_count, NET_SOUNDS_MAX,
                             game->sound_bytes, copy->sounds, sizeof *copy->sounds}};
    static void (*const checks[])(check*, const net_game_module*) = {check_messages, check_settings,
                                                                     check_actions, check_sounds};
    bool is_copied[BASE_COUNT(arrays)];
    for (uint32_t i = 0; i < BASE_COUNT(arrays); i++)
        is_copied[i] = copy_array(check_, &arrays[i]);
    game->messages = copy->messages;
    game->settings = copy->settings;
    game->actions = copy->actions;
    game->sounds = copy->sounds;
    game->message_bytes = sizeof *copy->messages;
    game->setting_bytes = sizeof *copy->settings;
    game->action_bytes = sizeof *copy->actions;
    game->sound_bytes = sizeof *copy->sounds;
    for (uint32_t i = 0; i < BASE_COUNT(arrays); i++)
        if (is_copied[i]) checks[i](check_, game);
    check_music(check_, game);
}

// The rules grow at their end like the table. All names may be NULL.
static void copy_interest(check* check_, net_module_table* copy) {
    const net_interest_rules* rules = copy->game.interest;
    if (!rules) return;
    const size_t bytes_min = offsetof(net_interest_rules, classes) + sizeof(void*);
    if (rules->size_bytes < bytes_min || rules->size_bytes > sizeof *rules) {
        check_->faults++;
        base_report(check_->reporter, check_->file, 0,
                    "its interest rules have %u bytes, this program takes %zu to %zu",
                    rules->size_bytes, bytes_min, sizeof *rules);
        copy->game.interest = NULL;
        return;
    }
    memcpy(&copy->interest, rules, rules->size_bytes);
    copy->game.interest = &copy->interest;
}

// Check a table of at least `sizeof(uint32_t) * 2` readable bytes and copy it to where it stays.
// @return NET_OK; NET_ERR_MODULE (each fault reported under `file`).
static net_result net_module_table_check(const net_game_module* table, const char* file,
                                         const base_reporter* reporter, net_module_table* copy) {
    BASE_ASSERT(copy);
    if (!table)
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0, "the module gives no table");
    if (table->contract_version != NET_GAME_CONTRACT_VERSION)
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0,
                              "made for module contract %u, this program has %u",
                              table->contract_version, NET_GAME_CONTRACT_VERSION);
    // A shorter table has no core version. For a longer one the core version is compared first,
    // because rebuilding the module helps then.
    bool has_core = table->size_bytes >= TABLE_BYTES_MIN;
    if (has_core && table->core_version != ECS_CORE_VERSION)
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0,
                              "built against core %u, this program has core %u: rebuild the module",
                              table->core_version, ECS_CORE_VERSION);
    if (!has_core || table->size_bytes > sizeof(net_game_module))
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0,
                              "its table has %u bytes, this program takes %zu to %zu",
                              table->size_bytes, TABLE_BYTES_MIN, sizeof(net_game_module));
    memset(copy, 0, sizeof *copy);
    net_game_module* game = &copy->game;
    memcpy(game, table, table->size_bytes);
    check check_ = {file, reporter, 0};
    if (!game->name) {
        // "games/breakout.so" -> "breakout"; too long a name is empty.
        const char* slash = strrchr(file, '/');
        const char* base = slash ? slash + 1 : file;
        const size_t length = strcspn(base, ".");
        (void)base_text_format(copy->name, sizeof copy->name, "%.*s",
                               length < sizeof copy->name ? (int)length : 0, base);
    }
    // A copy of a copy has its own name too: the older one may be closed.
    if (!game->name || base_text_copy(copy->name, sizeof copy->name, game->name)) {
        if (game->title == game->name) game->title = copy->name;
        game->name = copy->name;
    }
    if (!net_module_name_is_valid(game->name))
        fault(&check_, "the name %s is not [a-z0-9_]{1,32}", game->name);
    if (!game->title) fault(&check_, "the title is %s", "missing");
    if (!(game->view_width > 0.0f && game->view_width < 1e9f && game->view_height > 0.0f &&
          game->view_height < 1e9f))
        fault(&check_, "the view is %s", "empty");
    if ((game->upright_width != 0.0f || game->upright_height != 0.0f) &&
        !(game->upright_width > 0.0f && game->upright_width < 1e9f && game->upright_height > 0.0f &&
          game->upright_height < 1e9f))
        fault(&check_, "the upright view is %s", "empty");
    if ((uint32_t)game->cursor >= NET_CURSOR_COUNT)
        fault(&check_, "the cursor is %s: use a value of net_cursor", "unknown");
    if (game->block_bytes > NET_BLOCK_BYTES_MAX)
        fault(&check_, "the client's block is larger than %s bytes: block_bytes is its size",
              "1024");
    check_functions(&check_, game);
    copy_arrays(&check_, copy);
    copy_interest(&check_, copy);
    return check_.faults ? NET_ERR_MODULE : NET_OK;
}

// Finding and opening modules.
//
// A name is looked up in the search path and nowhere else. Only what the user typed with a slash or
// ".so" is a file. So neither a log nor a server can make a program load a file of its choice: both
// give names, and names contain no slashes.
// The templates lie beside the library. They are read whole, with everything that they import from
// below their folder. The hashes of this pack and of the library give the content hash in logs.

#define PATH_BYTES_MAX 1024u

// Owns everything that net_module points to.
typedef struct module_box {
    net_module module;
    net_module_table table;
    char file[PATH_BYTES_MAX];     // the library; empty: linked in
    uint64_t file_hash, code_hash; // of the library; of it and the files that it needs
    char needed[256];
    net_label labels[NET_ACTIONS_MAX];
    int copy; // of the library, which was loaded from there; -1: from its file
    char templates_file[PATH_BYTES_MAX];
    char asset_folder[PATH_BYTES_MAX + NET_GAME_NAME_BYTES_MAX];
    base_bytes pack;
    net_game_file files[ECS_PACK_FILES_MAX];
    char file_names[ECS_PACK_FILES_MAX][ECS_PACK_NAME_BYTES_MAX];
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

// The nearest name of a module in the path, in `kept`; NULL: none is near.
static const char* nearest_name(const char* name, const char* search_path,
                                char kept[NET_GAME_NAME_BYTES_MAX]) {
    char folder[PATH_BYTES_MAX], found[NET_GAME_NAME_BYTES_MAX];
    base_nearest nearest = base_nearest_begin(name);
    const char* rest = search_path ? search_path : "";
    while ((rest = next_folder(rest, folder, sizeof folder))) {
        DIR* dir = folder[0] ? opendir(folder) : NULL;
        for (const struct dirent* entry; dir && (entry = readdir(dir));) {
            const size_t length = strlen(entry->d_name);
            if (length < 4 || strcmp(entry->d_name + length - 3, ".so") != 0 ||
                !base_text_format(found, sizeof found, "%.*s", (int)length - 3, entry->d_name) ||
                !net_module_name_is_valid(found))
                continue;
            base_nearest_offer(&nearest, found);
            if (nearest.found != found) continue;
            memcpy(kept, found, sizeof found);
            nearest.found = kept;
        }
        if (dir) closedir(dir);
    }
    return nearest.found;
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
    char kept[NET_GAME_NAME_BYTES_MAX];
    const char* nearest = nearest_name(name, search_path, kept);
    if (nearest) {
        base_report(reporter, NULL, 0, "no game \"%.64s\" in the module path, did you mean \"%s\"?",
                    name, nearest);
    } else {
        base_report(
            reporter, NULL, 0,
            "no game \"%.64s\" in the module path %s: set SHOAL_MODULE_PATH to the folder of "
            "%.64s.so, or name the file",
            name, search_path && *search_path ? search_path : "\"\"", name);
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
    if (!base_text_format(file, file_bytes, "%s%s", has_slash ? "" : "./", name_or_file))
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, NULL, 0, "the file name is too long");
    if (access(file, R_OK) != 0)
        return BASE_REPORT_AS(NET_ERR_UNKNOWN, reporter, file, 0, "cannot be opened: %s",
                              base_error_text(errno));
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
    base_bytes_init(&box->pack, NULL);
    box->copy = -1;
    box->module.game = &box->table.game;
    box->module.templates_file = box->templates_file;
    box->module.asset_folder = box->asset_folder;
    box->module.needed = box->needed;
    box->module.labels = box->labels;
    return box;
}

static void destroy_box(module_box* box) {
    if (!box) return;
    base_bytes_deinit(&box->pack);
    if (box->module.library) dlclose(box->module.library);
    if (box->copy >= 0) (void)close(box->copy);
    base_release(NULL, box, sizeof *box);
}

// @return `result`; with NET_OK *module is that of the box.
static net_result give_box(module_box* box, net_result result, net_module** module) {
    box->module.pack = box->pack.data;
    box->module.pack_bytes = box->pack.size;
    if (result == NET_OK && box->table.game.label_actions)
        box->table.game.label_actions(box->files, box->module.file_count, box->labels);
    *module = result == NET_OK ? &box->module : NULL;
    if (result != NET_OK) destroy_box(box);
    return result;
}

// Check the texts of the pack and find its files. A zero byte in a text would hide the rest of it.
static net_result read_pack(module_box* box, const base_reporter* reporter) {
    size_t offset = 0;
    ecs_pack_text text;
    uint32_t* count = &box->module.file_count;
    box->module.files = box->files;
    while (ecs_pack_next(box->pack.data, box->pack.size, &offset, &text)) {
        const bool is_text = !text.bytes || !memchr(text.text, '\0', text.bytes);
        if (text.is_file ? *count == ECS_PACK_FILES_MAX : !is_text)
            return BASE_REPORT_AS(NET_ERR_MODULE, reporter, text.path, 0,
                                  text.is_file ? "is a file too many" : "is not a text");
        if (!text.is_file) continue;
        (void)base_text_copy(box->file_names[*count], sizeof *box->file_names, text.path);
        box->files[*count] =
            (net_game_file){box->file_names[*count], (const uint8_t*)text.text, text.bytes};
        ++*count;
    }
    return NET_OK;
}

// "games/breakout.blk" -> "games/breakout"
static void name_assets(module_box* box) {
    const char* slash = strrchr(box->templates_file, '/');
    int size = slash ? (int)(slash - box->templates_file) + 1 : 0;
    (void)base_text_format(box->asset_folder, sizeof box->asset_folder, "%.*s%s", size,
                           box->templates_file, box->table.game.name);
}

net_result net_template_pack_read(const char* file, const base_reporter* reporter,
                                  base_bytes* pack) {
    BASE_ASSERT(file && pack);
    net_template_folder folder;
    if (!net_template_folder_init(&folder, file))
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0, "cannot be opened: %s",
                              base_error_text(errno));
    const char* slash = strrchr(file, '/');
    ecs_result result =
        ecs_template_pack(NULL, &folder.source, slash ? slash + 1 : file, reporter, pack);
    return result == ECS_OK ? NET_OK : NET_ERR_MODULE;
}

// The loader gives a library that it has loaded already for its name, whatever the file holds by
// now. So a library that is loaded beside its older self has a copy in memory with another name.
static bool copy_library(module_box* box, const base_bytes* code, char* path, size_t path_bytes) {
    box->copy = memfd_create("game", MFD_CLOEXEC);
    size_t done = 0;
    while (box->copy >= 0 && done < code->size) {
        ssize_t written = write(box->copy, code->data + done, code->size - done);
        if (written <= 0) return false;
        done += (size_t)written;
    }
    return box->copy >= 0 && base_text_format(path, path_bytes, "/proc/self/fd/%d", box->copy);
}

// `code`: load this copy; NULL: the file.
static net_result load_library(module_box* box, const char* name, const base_bytes* code,
                               const base_reporter* reporter) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    const char* file = box->file;
    char path[PATH_BYTES_MAX];
    if (code && !copy_library(box, code, path, sizeof path))
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0, "cannot be copied: %s",
                              base_error_text(errno));
    box->module.library = dlopen(code ? path : file, RTLD_NOW | RTLD_LOCAL);
    if (!box->module.library) {
        const char* why = dlerror();
        base_report(reporter, NULL, 0, "%s%s", why ? why : "the module cannot be loaded",
                    why && strstr(why, ": undefined symbol: ")
                        ? ": correct the name, or add the source that has it to shoal_game(...) in "
                          "CMakeLists.txt"
                        : "");
        bool lacks_memory = false;
#ifdef __linux__
        // There is no errno. A file system that forbids code has the same words.
        struct statvfs system;
        lacks_memory = why && strstr(why, "failed to map segment") && statvfs(file, &system) == 0 &&
                       !(system.f_flag & ST_NOEXEC);
#endif
        return lacks_memory ? NET_ERR_MEMORY : NET_ERR_MODULE;
    }
    // The way that POSIX gives to convert the result of dlsym to a function pointer.
    net_game_module_get_fn get = NULL;
    *(void**)&get = dlsym(box->module.library, NET_GAME_SYMBOL);
    if (!get)
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0,
                              "is not a game module: it has no symbol %s: no source has ES_GAME",
                              NET_GAME_SYMBOL);
    net_result result = net_module_table_check(get(), file, reporter, &box->table);
    if (result) return result;
    if (strcmp(box->table.game.name, name) != 0)
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, file, 0,
                              "calls itself %s: the file must have the game's name",
                              box->table.game.name);
    return NET_OK;
}

#ifdef __linux__
// What every program here has, and what a sanitizer adds. The C library is the machine's: a check
// names what a game may not import from it.
static bool is_of_machine(const char* name) {
    static const char* const starts[] = {"libc.",     "libm.",    "ld-linux",  "libprotobuf-c.",
                                         "libgcc_s.", "libasan.", "libubsan.", "libtsan."};
    for (uint32_t i = 0; i < BASE_COUNT(starts); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0) return true;
    return false;
}

// The files of the system that the library needs are a part of the game's code.
static net_result add_needed(module_box* box, const base_reporter* reporter) {
    net_result result = NET_OK;
    struct link_map *map = NULL, *found = NULL;
    const char* names = NULL;
    if (dlinfo(box->module.library, RTLD_DI_LINKMAP, &map) != 0) return NET_ERR_MODULE;
    for (const ElfW(Dyn)* at = map->l_ld; at->d_tag != DT_NULL; at++)
        if (at->d_tag == DT_STRTAB) names = (const char*)at->d_un.d_ptr;
    for (const ElfW(Dyn)* at = map->l_ld; at->d_tag != DT_NULL && !result; at++) {
        const char* name = names + at->d_un.d_val;
        if (at->d_tag != DT_NEEDED || is_of_machine(name)) continue;
        const size_t size = strlen(box->needed);
        (void)base_text_format(box->needed + size, sizeof box->needed - size, "%s%s",
                               size > 0 ? ", " : "", name);
        void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
        if (library && dlinfo(library, RTLD_DI_LINKMAP, &found) == 0) name = found->l_name;
        base_bytes code;
        base_bytes_init(&code, NULL);
        result = net_file_read(name, NET_MODULE_FILE_BYTES_MAX, reporter, &code);
        box->code_hash = base_hash64(code.data, code.size, box->code_hash);
        base_bytes_deinit(&code);
        if (library) dlclose(library);
    }
    return result;
}
#endif

// `old`: the same game, which stays open.
static net_result open_file(module_box* box, const module_box* old, const base_reporter* reporter) {
    const char* file = box->file;
    char name[NET_GAME_NAME_BYTES_MAX];
    if (!name_templates(file, box->templates_file, sizeof box->templates_file, name, sizeof name)) {
        base_report(reporter, file, 0, "the file's name is not a game's name ([a-z0-9_]{1,32}.so)");
        return NET_ERR_MODULE;
    }
    if (!net_module_may_run(file, reporter)) return NET_ERR_MODULE;
    base_bytes code;
    base_bytes_init(&code, NULL);
    net_result result = net_file_read(file, NET_MODULE_FILE_BYTES_MAX, reporter, &code);
    if (!result) result = net_template_pack_read(box->templates_file, reporter, &box->pack);
    if (!result) {
        box->file_hash = box->code_hash = base_hash64(code.data, code.size, 0);
        result = read_pack(box, reporter);
    }
    const bool is_beside = old && (old->copy >= 0 || old->file_hash != box->file_hash);
    if (!result) result = load_library(box, name, is_beside ? &code : NULL, reporter);
    base_bytes_deinit(&code);
#ifdef __linux__
    if (!result) result = add_needed(box, reporter);
#endif
    box->module.content_hash =
        base_hash64_mix(box->code_hash, base_hash64(box->pack.data, box->pack.size, 0));
    if (!result) name_assets(box);
    return result == NET_ERR_IO ? NET_ERR_MODULE : result;
}

net_result net_module_open(const char* name_or_file, const char* search_path,
                           const base_reporter* reporter, net_module** module) {
    BASE_ASSERT(name_or_file && module);
    *module = NULL;
    module_box* box = create_box();
    net_result result = locate(name_or_file, search_path, reporter, box->file, sizeof box->file);
    if (!result) result = open_file(box, NULL, reporter);
    return give_box(box, result, module);
}

// A box begins with its module.
_Static_assert(offsetof(module_box, module) == 0, "a box is found by its first field");

net_result net_module_reopen(const net_module* module, const base_reporter* reporter,
                             net_module** next) {
    const module_box* old = (const module_box*)module;
    BASE_ASSERT(module && module->library && next);
    *next = NULL;
    module_box* box = create_box();
    memcpy(box->file, old->file, sizeof box->file);
    net_result result = open_file(box, old, reporter);
    if (result || box->module.content_hash == module->content_hash) {
        destroy_box(box);
        return result;
    }
    box->module.workers = module->workers;
    return give_box(box, NET_OK, next);
}

net_result net_module_reopen_pack(const net_module* module, const void* pack, size_t bytes,
                                  const base_reporter* reporter, net_module** next) {
    const module_box* old = (const module_box*)module;
    BASE_ASSERT(module && next);
    *next = NULL;
    module_box* box = create_box();
    memcpy(box->templates_file, old->templates_file, sizeof box->templates_file);
    base_bytes_write(&box->pack, pack, bytes);
    net_result result = read_pack(box, reporter);
    if (!result)
        result = net_module_table_check(old->module.game, old->file, reporter, &box->table);
    box->module.content_hash = base_hash64_mix(old->code_hash, base_hash64(pack, bytes, 0));
    box->module.workers = module->workers;
    if (!result) name_assets(box);
    return give_box(box, result, next);
}

net_result net_module_wrap(const net_game_module* game, const char* templates,
                           const char* templates_file, const base_reporter* reporter,
                           net_module** module) {
    BASE_ASSERT(game && templates && templates_file && module);
    *module = NULL;
    module_box* box = create_box();
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
        result = fits ? NET_OK : NET_ERR_MODULE;
    }
    if (!result) name_assets(box);
    return give_box(box, result, module);
}

void net_module_close(net_module* module) {
    destroy_box((module_box*)module);
}
