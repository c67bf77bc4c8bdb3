// SPDX-License-Identifier: MIT
#include "window/bindings.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "window/screens.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- names ----

// The next of the names between commas, without spaces around it. @return its bytes; 0: there is
// none.
static size_t next_name(const char** names, const char** name) {
    const char* at = *names;
    while (at && (*at == ',' || *at == ' '))
        at++;
    if (!at || !*at) return 0;
    *name = at;
    size_t size = strcspn(at, ",");
    *names = at + size;
    while (at[size - 1] == ' ')
        size--;
    return size;
}

static bool has_name(const char* names, const char* wanted, size_t wanted_size) {
    const char* name;
    for (size_t size; (size = next_name(&names, &name)) > 0;)
        if (size == wanted_size && strncmp(name, wanted, size) == 0) return true;
    return false;
}

static bool share(const char* a, const char* b) {
    const char* name;
    for (size_t size; (size = next_name(&a, &name)) > 0;)
        if (has_name(b, name, size)) return true;
    return false;
}

// Copy whole names, as many as fit.
static void copy_names(char target[CLIENT_BINDING_BYTES], const char* names) {
    size_t used = 0;
    const char* name;
    target[0] = '\0';
    for (size_t size; (size = next_name(&names, &name)) > 0;) {
        if (used + (used > 0) + size >= CLIENT_BINDING_BYTES) return;
        if (used > 0) target[used++] = ',';
        memcpy(target + used, name, size);
        used += size;
        target[used] = '\0';
    }
}

// ---- one action ----

void client_bindings_reset(client_bindings* bindings, uint32_t action) {
    BASE_ASSERT(action < bindings->count);
    copy_names(bindings->keys[action], bindings->defaults[action].keys);
    copy_names(bindings->pads[action], bindings->defaults[action].pads);
}

void client_bindings_init(client_bindings* bindings, const net_game_module* game) {
    memset(bindings, 0, sizeof *bindings);
    bindings->defaults = game->actions;
    bindings->count = game->action_count < NET_ACTIONS_MAX ? game->action_count : NET_ACTIONS_MAX;
    for (uint32_t i = 0; i < bindings->count; i++) {
        client_bindings_reset(bindings, i);
        bindings->actions[i] = game->actions[i];
        bindings->actions[i].keys = bindings->keys[i];
        bindings->actions[i].pads = bindings->pads[i];
    }
}

void client_bindings_set(client_bindings* bindings, uint32_t action, bool is_pad,
                         const char* name) {
    BASE_ASSERT(action < bindings->count && strlen(name) < CLIENT_BINDING_BYTES);
    (void)base_text_copy(is_pad ? bindings->pads[action] : bindings->keys[action],
                         CLIENT_BINDING_BYTES, name);
}

uint32_t client_bindings_conflict(const client_bindings* bindings, uint32_t action, bool is_pad) {
    BASE_ASSERT(action < bindings->count);
    for (uint32_t i = 0; i < bindings->count; i++) {
        const bool is_shared = is_pad ? share(bindings->pads[i], bindings->pads[action])
                                      : share(bindings->keys[i], bindings->keys[action]);
        if (i != action && is_shared) return i;
    }
    return bindings->count;
}

// ---- the file ----

static uint32_t find_action(const client_bindings* bindings, const char* name) {
    for (uint32_t i = 0; i < bindings->count; i++)
        if (strcmp(bindings->defaults[i].name, name) == 0) return i;
    return bindings->count;
}

// @return what is wrong with names that a person may have written; NULL: nothing.
static const char* find_fault(const char* names, bool is_pad) {
    if (strlen(names) >= CLIENT_BINDING_BYTES) return "the names are longer than 95 bytes";
    const char* name;
    for (size_t size; (size = next_name(&names, &name)) > 0;) {
        char word[CLIENT_KEY_NAME_BYTES];
        if (!base_text_format(word, sizeof word, "%.*s", (int)size, name))
            return "a name is longer than 31 bytes";
        if (is_pad && !client_pad_input(word)) return "no such input of a game controller";
        if (!is_pad && !client_window_key(word)) return "no such key";
    }
    return NULL;
}

// @return what is wrong with the line; NULL: nothing.
static const char* parse_line(client_bindings* bindings, char* line, const char* file,
                              uint32_t number, const base_reporter* reporter) {
    char* equals = strstr(line, " = ");
    if (!equals) return "write \"left = Left,A | DPLeft,LeftX-\"";
    *equals = '\0';
    char* keys = equals + strlen(" = ");
    char* bar = strchr(keys, '|');
    char* pads = bar ? bar + 1 : keys + strlen(keys);
    if (bar) *bar = '\0';
    keys = base_text_trim(keys);
    pads = base_text_trim(pads);
    const char* fault = find_fault(keys, false);
    if (!fault) fault = find_fault(pads, true);
    if (fault) return fault;
    const uint32_t action = find_action(bindings, base_text_trim(line));
    if (action == bindings->count)
        return BASE_REPORT_AS(NULL, reporter, file, number,
                              "warning: the game has no action of this name");
    copy_names(bindings->keys[action], keys);
    copy_names(bindings->pads[action], pads);
    return NULL;
}

bool client_bindings_parse(client_bindings* bindings, char* text, const char* file,
                           const base_reporter* reporter) {
    uint32_t number = 0;
    const char* fault = NULL;
    for (char* next = text; next && !fault;) {
        char* line = next;
        char* end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = '\0';
        number++;
        line = base_text_trim(line);
        if (*line && *line != '#') fault = parse_line(bindings, line, file, number, reporter);
    }
    if (!fault) return true;
    base_report(reporter, file, number, "%s; the keys of the game stay as they were", fault);
    for (uint32_t i = 0; i < bindings->count; i++)
        client_bindings_reset(bindings, i);
    return false;
}

bool client_bindings_read(client_bindings* bindings, const char* path,
                          const base_reporter* reporter) {
    char text[CLIENT_BINDINGS_FILE_MAX + 1];
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        if (errno == ENOENT || errno == ENOTDIR) return true;
        return base_report(reporter, path, 0, "cannot be read: %s", strerror(errno));
    }
    const ssize_t size = read(descriptor, text, sizeof text);
    const int error = errno;
    (void)close(descriptor);
    if (size < 0) return base_report(reporter, path, 0, "cannot be read: %s", strerror(error));
    if ((size_t)size > CLIENT_BINDINGS_FILE_MAX || memchr(text, 0, (size_t)size))
        return base_report(reporter, path, 0, "%s; the keys of the game stay as they were",
                           (size_t)size > CLIENT_BINDINGS_FILE_MAX ? "it is longer than 32768 bytes"
                                                                   : "it is not text");
    text[size] = '\0';
    return client_bindings_parse(bindings, text, path, reporter);
}

static bool write_lines(const client_bindings* bindings, int descriptor) {
    bool is_written = true;
    for (uint32_t i = 0; i < bindings->count && is_written; i++) {
        char line[2 * CLIENT_BINDING_BYTES + 512];
        if (!base_text_format(line, sizeof line, "%s = %s | %s\n", bindings->defaults[i].name,
                              bindings->keys[i], bindings->pads[i]))
            continue; // a name of a game's action is a word
        const size_t size = strlen(line);
        is_written = write(descriptor, line, size) == (ssize_t)size;
    }
    return is_written && fsync(descriptor) == 0;
}

bool client_bindings_write(const client_bindings* bindings, const char* path,
                           const base_reporter* reporter) {
    char fresh[1024];
    if (!base_text_format(fresh, sizeof fresh, "%s.new", path))
        return base_report(reporter, path, 0, "the name is longer than %zu bytes",
                           sizeof fresh - 5);
    // Make the folders of the file. What is wrong with them shows when the file is created.
    char folder[1024];
    for (const char* at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/'))
        if (base_text_format(folder, sizeof folder, "%.*s", (int)(at - path), path))
            (void)mkdir(folder, 0700);
    (void)unlink(fresh); // of a program that was killed
    const int descriptor = base_file_create(fresh);
    if (descriptor < 0)
        return base_report(reporter, fresh, 0, "cannot be created: %s", base_file_why(errno));
    bool is_saved = write_lines(bindings, descriptor);
    is_saved = close(descriptor) == 0 && is_saved && rename(fresh, path) == 0;
    if (is_saved) return true;
    base_report(reporter, path, 0, "cannot be written: %s", strerror(errno));
    (void)unlink(fresh);
    return false;
}

// ---- the screen ----

#define PRESSED 0.7f ///< an axis that is moved so far is meant

void client_binder_open(client_binder* binder) {
    *binder = (client_binder){.is_open = true};
}

static void bind(client_binder* binder, client_bindings* bindings, bool is_pad, const char* name) {
    client_bindings_set(bindings, binder->action, is_pad, name);
    binder->is_waiting = false;
    binder->is_changed = true;
}

static void press(client_binder* binder, client_bindings* bindings, const client_event* event) {
    const uint32_t last = bindings->count - 1;
    if (client_event_has_key(event, "Up")) {
        binder->action = binder->action > 0 ? binder->action - 1 : last;
    } else if (client_event_has_key(event, "Down")) {
        binder->action = binder->action < last ? binder->action + 1 : 0;
    } else if (client_event_has_key(event, "Return,Keypad Enter")) {
        binder->is_waiting = true;
    } else if (client_event_has_key(event, "Backspace,Delete")) {
        client_bindings_reset(bindings, binder->action);
        binder->is_changed = true;
    } else if (client_event_has_key(event, "Escape,F3")) {
        binder->is_open = false;
    }
}

static void take_input(client_binder* binder, client_bindings* bindings, int32_t code) {
    char name[CLIENT_PAD_NAME_BYTES];
    if (client_pad_input_name(code, name, sizeof name) && client_pad_input(name) == code)
        bind(binder, bindings, true, name);
    else
        binder->note = "This button has no name: take another one.";
}

bool client_binder_see(client_binder* binder, client_bindings* bindings,
                       const client_event* event) {
    BASE_ASSERT(binder->is_open && binder->action < bindings->count);
    switch (event->kind) {
    case CLIENT_EVENT_KEY_DOWN:
        if (event->is_repeat && binder->is_waiting) return true;
        binder->note = NULL;
        if (binder->is_waiting) {
            char name[CLIENT_KEY_NAME_BYTES];
            if (event->key == client_window_key("Escape"))
                binder->is_waiting = false;
            else if (client_window_key_name(event->key, name, sizeof name))
                bind(binder, bindings, false, name);
            else
                binder->note = "This key has no name: take another one.";
        } else
            press(binder, bindings, event);
        return true;
    case CLIENT_EVENT_PAD_DOWN:
        if (binder->is_waiting) take_input(binder, bindings, event->key);
        return true;
    case CLIENT_EVENT_PAD_AXIS:
        if (!binder->is_waiting || (event->value < PRESSED && event->value > -PRESSED))
            return binder->is_waiting;
        take_input(binder, bindings, client_pad_half(event->axis, event->value > 0.0f));
        return true;
    default:
        return false;
    }
}

void client_binder_draw(const client_binder* binder, const client_bindings* bindings,
                        const net_draw* draw, float width, float height) {
    client_binding_row rows[CLIENT_BINDER_ROWS];
    char conflicts[CLIENT_BINDER_ROWS][64];
    uint32_t first = 0, count = bindings->count;
    if (count > CLIENT_BINDER_ROWS) {
        const uint32_t half = CLIENT_BINDER_ROWS / 2, end = count - CLIENT_BINDER_ROWS;
        first = binder->action > half ? binder->action - half : 0;
        if (first > end) first = end;
        count = CLIENT_BINDER_ROWS;
    }
    for (uint32_t i = 0; i < count; i++) {
        const net_action* action = &bindings->actions[first + i];
        const uint32_t by_key = client_bindings_conflict(bindings, first + i, false);
        const uint32_t by_pad = client_bindings_conflict(bindings, first + i, true);
        const uint32_t other = by_key < bindings->count ? by_key : by_pad;
        rows[i] = (client_binding_row){.name = action->name,
                                       .keys = action->keys,
                                       .pads = action->pads,
                                       .is_key_shared = by_key < bindings->count,
                                       .is_pad_shared = by_pad < bindings->count};
        if (other == bindings->count) continue;
        (void)base_text_format(conflicts[i], sizeof conflicts[i], "also %s",
                               bindings->actions[other].name);
        rows[i].conflict = conflicts[i];
    }
    const char* hint =
        "Up, Down: choose     Enter: change     Backspace: as the game has it     Esc: done";
    if (binder->is_waiting) hint = "Press a key, or use a game controller.     Esc: leave it";
    client_screen_bindings(draw, width, height, rows, count, binder->action - first,
                           binder->is_waiting, binder->note ? binder->note : hint);
}
