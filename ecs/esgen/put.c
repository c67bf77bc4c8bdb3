// SPDX-License-Identifier: MIT
// Appending text, and lists that wrap at the width of a line.
#include "esgen.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_arguments(base_bytes* out, const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    uint8_t* target = size > 0 ? base_bytes_extend(out, (size_t)size + 1) : NULL;
    if (target) {
        vsnprintf((char*)target, (size_t)size + 1, format, again);
        out->size--; // the NUL
    }
    va_end(again);
}

void esgen_put(base_bytes* out, const char* format, ...) {
    BASE_ASSERT(out && format);
    va_list arguments;
    va_start(arguments, format);
    put_arguments(out, format, arguments);
    va_end(arguments);
}

static void put_mark(base_bytes* out, const char* file, uint32_t line) {
    esgen_put(out, "#line %u \"", line);
    for (const char* at = file; *at; at++)
        esgen_put(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    esgen_put(out, "\"\n");
}

void esgen_put_line(base_bytes* out, const esgen_unit* unit, const char* file, uint32_t line) {
    if (unit->target && file && line > 0) put_mark(out, file, line);
}

void esgen_put_line_end(base_bytes* out, const esgen_unit* unit) {
    if (!unit->target) return;
    uint32_t lines = 0;
    for (size_t i = 0; i < out->size; i++)
        lines += out->data[i] == '\n';
    put_mark(out, unit->target, lines + 2); // the line after the mark
}

void esgen_items_init(esgen_items* items) {
    base_bytes_init(&items->text, NULL);
    items->count = 0;
}

void esgen_items_deinit(esgen_items* items) {
    base_bytes_deinit(&items->text);
}

void esgen_items_add(esgen_items* items, const char* format, ...) {
    BASE_ASSERT(items && format);
    va_list arguments;
    va_start(arguments, format);
    put_arguments(&items->text, format, arguments);
    va_end(arguments);
    base_bytes_write_u8(&items->text, 0);
    items->count++;
}

// The length of the last line.
static size_t column_of(const base_bytes* out) {
    size_t begin = out->size;
    while (begin > 0 && out->data[begin - 1] != '\n')
        begin--;
    return out->size - begin;
}

static void indent(base_bytes* out, size_t columns) {
    for (size_t i = 0; i < columns; i++)
        base_bytes_write_u8(out, ' ');
}

static const char* first_of(const base_bytes* out, const esgen_items* items) {
    // A failure is found at the end, in out->failed.
    return out->failed || items->text.failed ? NULL : (const char*)items->text.data;
}

void esgen_put_items(base_bytes* out, const char* head, const esgen_items* items,
                     const char* tail) {
    BASE_ASSERT(head && items && tail);
    esgen_put(out, "%s", head);
    size_t begin = column_of(out);
    const char* text = first_of(out, items);
    out->failed |= items->text.failed;
    for (uint32_t i = 0; text && i < items->count; i++) {
        bool is_last = i + 1 == items->count;
        size_t size = strlen(text) + (is_last ? strcspn(tail, "\n") : 1);
        if (i > 0) {
            bool has_room = column_of(out) + 1 + size <= ESGEN_COLUMNS_MAX;
            esgen_put(out, has_room ? " " : "\n");
            if (!has_room) indent(out, begin);
        }
        esgen_put(out, is_last ? "%s" : "%s,", text);
        text += strlen(text) + 1;
    }
    esgen_put(out, "%s", tail);
}

void esgen_put_fields(base_bytes* out, const char* head, const esgen_items* items,
                      const char* tail) {
    BASE_ASSERT(head && items && tail);
    esgen_put(out, "%s", head);
    size_t begin = column_of(out);
    // Each NUL stands for a comma; a blank follows all but the last.
    size_t width = begin + items->text.size + items->count - 2 + strcspn(tail, "\n");
    const char* text = first_of(out, items);
    out->failed |= items->text.failed;
    for (uint32_t i = 0; text && i < items->count; i++) {
        bool is_last = i + 1 == items->count;
        esgen_put(out, is_last ? "%s" : "%s,", text);
        text += strlen(text) + 1;
        if (is_last) break;
        bool is_short = width <= ESGEN_COLUMNS_MAX;
        esgen_put(out, is_short ? " " : "\n");
        if (!is_short) indent(out, begin);
    }
    esgen_put(out, "%s", tail);
}
