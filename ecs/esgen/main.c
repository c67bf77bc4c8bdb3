// SPDX-License-Identifier: MIT
// shoal-esgen: FILE.c in, FILE.es.h out.
//
//   shoal-esgen [-I DIR]... [-o OUT.es.h] FILE.c
//
// Headers that the file includes by "name" are looked at for ES_TYPE lines alone, in the file's folder and
// in each -I. Nothing is written when anything is wrong. Exit codes: 0, 1 (the file is wrong, or cannot be
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
} program;

// NUL-terminated; NULL when it cannot be read.
static char* read_file(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (!file) return NULL;
    char* text = malloc(ESGEN_FILE_BYTES_MAX + 1);
    *size = text ? fread(text, 1, ESGEN_FILE_BYTES_MAX + 1, file) : 0;
    bool is_read = text && !ferror(file) && *size <= ESGEN_FILE_BYTES_MAX;
    fclose(file);
    if (is_read) {
        text[*size] = '\0';
        return text;
    }
    free(text);
    errno = errno ? errno : EFBIG;
    return NULL;
}

static void folder_of(const char* path, char* folder, size_t bytes) {
    const char* slash = strrchr(path, '/');
    if (!slash) {
        (void)base_text_copy(folder, bytes, ".");
        return;
    }
    (void)base_text_format(folder, bytes, "%.*s", (int)(slash - path), path);
}

static void read_headers(program* self, const esgen_words* words, const char* path, uint32_t depth);

// Headers that are not found are the compiler's business.
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
    if (esgen_words_read(&words, path, text, size, self->unit.reporter)) {
        esgen_types_read(&self->unit, &words);
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

static int write_out(const program* self, const base_bytes* text) {
    FILE* file = self->out ? fopen(self->out, "wb") : stdout;
    bool is_written = file && fwrite(text->data, 1, text->size, file) == text->size;
    if (file && file != stdout) is_written = fclose(file) == 0 && is_written;
    if (is_written) return 0;
    base_report(self->unit.reporter, self->out ? self->out : "stdout", 0, "%s", strerror(errno));
    return 1;
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
    int code = 1;
    esgen_words words;
    if (esgen_words_read(&words, self->file, text, size, self->unit.reporter)) {
        esgen_types_read(&self->unit, &words);
        read_headers(self, &words, self->file, 0);
        esgen_parse(&self->unit, &words);
        base_bytes out;
        base_bytes_init(&out, NULL);
        if (self->unit.fault_count == 0) {
            const char* slash = strrchr(self->file, '/');
            self->unit.file = slash ? slash + 1 : self->file;
            esgen_emit(&self->unit, stem, &out);
            code = out.failed ? 1 : write_out(self, &out);
        }
        base_bytes_deinit(&out);
        esgen_words_deinit(&words);
    }
    free(text);
    return code;
}

static int say_usage(FILE* stream, int code) {
    fprintf(stream, "usage: shoal-esgen [-I DIR]... [-o OUT.es.h] FILE.c\n"
                    "Writes the registration of the systems in FILE.c (ecs/es.h, ecs/ESGEN.md).\n");
    return code;
}

int main(int argc, char** argv) {
    program* self = calloc(1, sizeof *self);
    if (!self) return 1;
    base_reporter reporter = base_reporter_stderr();
    self->unit.reporter = &reporter;
    int code = -1;
    for (int i = 1; i < argc && code < 0; i++) {
        bool has_next = i + 1 < argc;
        if (strcmp(argv[i], "--help") == 0) {
            code = say_usage(stdout, 0);
        } else if (strcmp(argv[i], "-I") == 0 && has_next && self->folder_count < FOLDERS_MAX) {
            self->folders[self->folder_count++] = argv[++i];
        } else if (strcmp(argv[i], "-o") == 0 && has_next && !self->out) {
            self->out = argv[++i];
        } else if (argv[i][0] != '-' && !self->file) {
            self->file = argv[i];
        } else {
            code = say_usage(stderr, 2);
        }
    }
    if (code < 0) {
        self->unit.file = self->file;
        code = self->file ? generate(self) : say_usage(stderr, 2);
    }
    free(self);
    return code;
}
