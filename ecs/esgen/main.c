// SPDX-License-Identifier: MIT
// shoal-esgen: FILE.c in, FILE.es.h out; of a game's header FILE.h, FILE.h.es.h.
//
//   shoal-esgen [-I DIR]... [-d OUT.d] [-o OUT.es.h] FILE.c
//
// Headers that the file includes by "name", and those that they include, are read for types only.
// They are searched in the file's folder and in each -I. -d lists the files that were read, as a
// make rule. After a fault nothing is written. Exit codes: 0, 1 (the file is wrong, or cannot be
// read or written), 2 (usage).
#include "esgen.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDERS_MAX 64u
#define PATH_BYTES_MAX 4096u

typedef struct program {
    esgen_unit unit;
    const char* folders[FOLDERS_MAX];
    uint32_t folder_count;
    const char* file;
    const char* out;
    const char* depfile;
    char* headers[ESGEN_HEADERS_MAX]; // that were read
    uint32_t header_count;
    bool has_protobuf; // one of the headers is of protoc-c
} program;

// NUL-terminated; NULL when it cannot be read.
static char* read_file(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (!file) return NULL;
    char* text = malloc(ESGEN_FILE_BYTES_MAX + 1);
    int error = text ? 0 : ENOMEM;
    *size = text ? fread(text, 1, ESGEN_FILE_BYTES_MAX + 1, file) : 0;
    if (text && ferror(file)) error = errno ? errno : EIO;
    if (!error && *size > ESGEN_FILE_BYTES_MAX) error = EFBIG;
    fclose(file);
    if (!error) {
        text[*size] = '\0';
        return text;
    }
    free(text);
    errno = error;
    return NULL;
}

static void folder_of(const char* path, char* folder, size_t bytes) {
    const char* slash = strrchr(path, '/');
    if (!slash)
        (void)base_text_copy(folder, bytes, ".");
    else
        (void)base_text_format(folder, bytes, "%.*s", (int)(slash - path), path);
}

static void read_headers(program* self, const esgen_words* words, const char* path, uint32_t depth);

// Remember a header. @return false when it was read before, or when there are too many.
static bool remember(program* self, const char* path) {
    for (uint32_t i = 0; i < self->header_count; i++)
        if (strcmp(self->headers[i], path) == 0) return false;
    if (self->header_count == ESGEN_HEADERS_MAX) return false;
    size_t bytes = strlen(path) + 1;
    char* copy = malloc(bytes);
    if (!copy) return false;
    memcpy(copy, path, bytes);
    self->headers[self->header_count++] = copy;
    return true;
}

// A header that is not found is no fault here: the compiler reports it.
static void read_header(program* self, const char* from, const esgen_word* name, uint32_t depth) {
    char folder[PATH_BYTES_MAX], path[PATH_BYTES_MAX];
    folder_of(from, folder, sizeof folder);
    char* text = NULL;
    size_t size = 0;
    for (uint32_t i = 0; i <= self->folder_count && !text; i++) {
        const char* where = i == 0 ? folder : self->folders[i - 1];
        if (!base_text_format(path, sizeof path, "%s/%.*s", where, (int)name->size, name->text))
            continue;
        text = read_file(path, &size);
    }
    if (!text) return;
    esgen_words words;
    if (!remember(self, path)) {
        free(text);
        return;
    }
    if (esgen_words_read(&words, path, text, size, self->unit.reporter)) {
        self->unit.file = self->headers[self->header_count - 1];
        esgen_types_read(&self->unit, &words, depth == 0 ? ESGEN_NEAR : ESGEN_FAR);
        self->unit.file = self->file;
        read_headers(self, &words, path, depth + 1);
        esgen_words_deinit(&words);
    } else {
        self->unit.fault_count++;
    }
    free(text);
}

static void read_headers(program* self, const esgen_words* words, const char* path,
                         uint32_t depth) {
    if (depth == ESGEN_INCLUDE_DEPTH_MAX) return;
    for (uint32_t i = 0; i < words->count; i++) {
        const esgen_word* word = &words->items[i];
        bool is_generated = word->size > 5 && memcmp(word->text + word->size - 5, ".es.h", 5) == 0;
        if (word->kind == ESGEN_INCLUDE && !is_generated) read_header(self, path, word, depth);
        self->has_protobuf |= word->kind == ESGEN_INCLUDE && word->size > 7 &&
                              memcmp(word->text + word->size - 7, ".pb-c.h", 7) == 0;
    }
}

// "path/ball.c" -> "ball", if that is a name in C.
static bool make_stem(const char* file, char* stem, size_t bytes) {
    const char* slash = strrchr(file, '/');
    const char* name = slash ? slash + 1 : file;
    size_t size = strcspn(name, ".");
    if (size == 0 || size >= bytes) return false;
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9')) return false;
    }
    memcpy(stem, name, size);
    stem[size] = '\0';
    return true;
}

// NULL: to standard output.
static int write_text(const program* self, const char* path, const base_bytes* text) {
    FILE* file = path ? fopen(path, "wb") : stdout;
    bool is_written = file && fwrite(text->data, 1, text->size, file) == text->size;
    if (file && file != stdout) is_written = fclose(file) == 0 && is_written;
    if (is_written) return 0;
    base_report(self->unit.reporter, path ? path : "stdout", 0, "%s", strerror(errno));
    return 1;
}

static bool has_message(const esgen_unit* unit) {
    for (uint32_t i = 0; i < unit->struct_count; i++)
        for (uint32_t k = 0; k < unit->structs[i].event_count; k++)
            if (unit->structs[i].events[k].message.text[0]) return true;
    return false;
}

static void check_whole(program* self) {
    esgen_unit* unit = &self->unit;
    if (unit->has_register_types && unit->struct_count == 0) {
        esgen_fault(unit, 0,
                    "ES_REGISTER_TYPES, but no ES_STRUCT or ES_EVENT in this file or in a "
                    "header that it includes by \"name\"");
    }
    if (unit->has_messages && !has_message(unit) && unit->fault_count == 0) {
        esgen_fault(unit, 0,
                    "ES_MESSAGES, but no ES_MESSAGE in this file or in a header that it includes "
                    "by \"name\"");
    }
    if ((unit->has_messages || unit->game.is_table) && has_message(unit) && !self->has_protobuf &&
        unit->fault_count == 0)
        esgen_fault(unit, 0,
                    "the messages of ES_MESSAGE are in no header: include \"NAME.pb-c.h\", which "
                    "the build makes of NAME.proto, before the .es.h");
    if (unit->is_header && !unit->game.name.text[0] && unit->fault_count == 0)
        esgen_fault(unit, 0, "nothing to write: a header has a struct with ES_GAME_CONTEXT");
    if (unit->function_count == 0 && !unit->is_header && !unit->game.is_table &&
        !unit->has_register_types && !unit->has_messages && unit->fault_count == 0) {
        esgen_fault(unit, 0,
                    "nothing to write: no function's name ends in _es, _es_event_handler "
                    "or _ecs_query, and there is neither ES_REGISTER_TYPES nor ES_MESSAGES");
    }
}

static int emit(program* self, const char* stem) {
    base_bytes out;
    base_bytes_init(&out, NULL);
    const char* slash = strrchr(self->file, '/');
    self->unit.file = slash ? slash + 1 : self->file;
    self->unit.source = self->file;
    self->unit.target = self->out;
    esgen_emit(&self->unit, stem, &out);
    int code = 1;
    if (out.failed)
        base_report(self->unit.reporter, self->file, 0, "out of memory");
    else
        code = write_text(self, self->out, &out);
    base_bytes_deinit(&out);
    return code;
}

// Write a path in a make rule.
static void put_path(base_bytes* out, const char* path) {
    for (const char* at = path; *at; at++) {
        if (*at == ' ' || *at == '#' || *at == '\\') esgen_put(out, "\\");
        esgen_put(out, *at == '$' ? "$%c" : "%c", *at);
    }
}

// Write what the output depends on, so that a build runs again when a header changed.
static int write_depfile(program* self) {
    base_bytes text;
    base_bytes_init(&text, NULL);
    put_path(&text, self->out ? self->out : "-");
    esgen_put(&text, ": ");
    put_path(&text, self->file);
    for (uint32_t i = 0; i < self->header_count; i++) {
        esgen_put(&text, " \\\n  ");
        put_path(&text, self->headers[i]);
    }
    esgen_put(&text, "\n");
    int code = text.failed ? 1 : write_text(self, self->depfile, &text);
    base_bytes_deinit(&text);
    return code;
}

static int generate(program* self) {
    char stem[ESGEN_NAME_BYTES_MAX];
    if (!make_stem(self->file, stem, sizeof stem)) {
        base_report(self->unit.reporter, self->file, 0,
                    "the file's name must be a name in C: its systems are registered by "
                    "NAME_register_systems");
        return 1;
    }
    size_t size = 0;
    char* text = read_file(self->file, &size);
    if (!text) {
        base_report(self->unit.reporter, self->file, 0, "%s", strerror(errno));
        return 1;
    }
    const char* dot = strrchr(self->file, '.');
    self->unit.is_header = dot && strcmp(dot, ".h") == 0;
    int code = 1;
    esgen_words words;
    if (esgen_words_read(&words, self->file, text, size, self->unit.reporter)) {
        esgen_types_read(&self->unit, &words, ESGEN_HERE);
        read_headers(self, &words, self->file, 0);
        esgen_parse(&self->unit, &words);
        check_whole(self);
        if (self->unit.fault_count == 0) code = emit(self, stem);
        if (code == 0 && self->depfile) code = write_depfile(self);
        esgen_words_deinit(&words);
    }
    free(text);
    return code;
}

static int print_usage(FILE* stream, int code) {
    fprintf(stream,
            "usage: shoal-esgen [-I DIR]... [-d OUT.d] [-o OUT.es.h] FILE.c\n"
            "Writes the registration of FILE.c's systems and types (ecs/es.h, ecs/ESGEN.md).\n");
    return code;
}

int main(int argc, char** argv) {
    program* self = calloc(1, sizeof *self);
    if (!self) return 1;
    base_reporter reporter = base_reporter_stderr();
    esgen_unit_init(&self->unit, NULL, &reporter);
    int code = -1;
    for (int i = 1; i < argc && code < 0; i++) {
        bool has_next = i + 1 < argc;
        if (strcmp(argv[i], "--help") == 0) {
            code = print_usage(stdout, 0);
        } else if (strcmp(argv[i], "-I") == 0 && has_next && self->folder_count < FOLDERS_MAX) {
            self->folders[self->folder_count++] = argv[++i];
        } else if (strcmp(argv[i], "-o") == 0 && has_next && !self->out) {
            self->out = argv[++i];
        } else if (strcmp(argv[i], "-d") == 0 && has_next && !self->depfile) {
            self->depfile = argv[++i];
        } else if (argv[i][0] != '-' && !self->file) {
            self->file = argv[i];
        } else {
            code = print_usage(stderr, 2);
        }
    }
    if (code < 0) {
        self->unit.file = self->file;
        code = self->file ? generate(self) : print_usage(stderr, 2);
    }
    esgen_unit_deinit(&self->unit);
    for (uint32_t i = 0; i < self->header_count; i++)
        free(self->headers[i]);
    free(self);
    return code;
}
