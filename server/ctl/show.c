// SPDX-License-Identifier: MIT
// Nothing is known about the answers but that they are JSON: a new verb is shown as well as an old
// one.
#include "show.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 16, CELL_BYTES = 96, INDENT = 2, LEVELS_MAX = 8 };

uint32_t ctl_text_width(const char* text) {
    uint32_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void put_padded(const char* text, int width) {
    const int pad = (width < 0 ? -width : width) - (int)ctl_text_width(text);
    if (width > 0) printf("%*s", pad > 0 ? pad : 0, "");
    fputs(text, stdout);
    if (width < 0) printf("%*s", pad > 0 ? pad : 0, "");
}

void ctl_show_row(const char* const* cells, const int* widths, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) fputs("  ", stdout);
        // No blanks at the end of a line.
        put_padded(cells[i], i + 1 == count && widths[i] < 0 ? 0 : widths[i]);
    }
    putchar('\n');
}

static bool is_container(ctl_value value) {
    return ctl_is_object(value) || ctl_is_array(value);
}

// A list of numbers or texts on one line.
static void put_list(ctl_value list) {
    ctl_value value;
    size_t offset = 0;
    char text[CELL_BYTES];
    for (uint32_t i = 0; ctl_json_next(list, &offset, NULL, &value); i++)
        printf("%s%s", i > 0 ? ", " : "", ctl_json_text(value, text, sizeof text));
    putchar('\n');
}

static const char* cell_of(ctl_value row, const char* key, char text[CELL_BYTES]) {
    const ctl_value value = ctl_json_find(row, key);
    if (is_container(value)) return "...";
    return ctl_json_text(value, text, CELL_BYTES);
}

// The columns are the keys of the first row that are no containers.
static uint32_t find_columns(ctl_value table, char names[][CELL_BYTES], int widths[]) {
    ctl_value row, key, value;
    size_t offset = 0, at = 0;
    uint32_t count = 0;
    char text[CELL_BYTES];
    if (!ctl_json_next(table, &offset, NULL, &row)) return 0;
    while (count < COLUMNS_MAX && ctl_json_next(row, &at, &key, &value)) {
        if (is_container(value)) continue;
        ctl_json_text(key, names[count], CELL_BYTES);
        const int sign = value.at[0] == '"' && ctl_json_number(value) == 0 ? -1 : 1;
        widths[count] = sign * (int)ctl_text_width(names[count]);
        count++;
    }
    for (offset = 0; ctl_json_next(table, &offset, NULL, &row);)
        for (uint32_t i = 0; i < count; i++) {
            const int width = (int)ctl_text_width(cell_of(row, names[i], text));
            if (width > widths[i] && width > -widths[i]) widths[i] = widths[i] < 0 ? -width : width;
        }
    return count;
}

static void put_table(ctl_value table, int indent) {
    char names[COLUMNS_MAX][CELL_BYTES], texts[COLUMNS_MAX][CELL_BYTES];
    const char* cells[COLUMNS_MAX];
    int widths[COLUMNS_MAX];
    ctl_value row;
    size_t offset = 0;
    const uint32_t count = find_columns(table, names, widths);
    for (uint32_t i = 0; i < count; i++)
        cells[i] = names[i];
    printf("%*s", indent, "");
    ctl_show_row(cells, widths, count);
    while (ctl_json_next(table, &offset, NULL, &row)) {
        for (uint32_t i = 0; i < count; i++)
            cells[i] = cell_of(row, names[i], texts[i]);
        printf("%*s", indent, "");
        ctl_show_row(cells, widths, count);
    }
}

// Does it stand on the line of its name?
static bool is_short(ctl_value value) {
    ctl_value first;
    size_t offset = 0;
    if (!is_container(value) || !ctl_json_next(value, &offset, NULL, &first)) return true;
    return ctl_is_array(value) && !is_container(first);
}

static void put_object(ctl_value object, int indent);

static void put_member(const char* name, int width, ctl_value value, int indent) {
    ctl_value first;
    size_t offset = 0;
    char text[1024];
    printf("%*s", indent, "");
    const bool is_empty = is_container(value) && !ctl_json_next(value, &offset, NULL, &first);
    if (!is_container(value) || is_empty) {
        put_padded(name, -width);
        printf("  %s\n", is_empty ? "none" : ctl_json_text(value, text, sizeof text));
    } else if (ctl_is_array(value) && !is_container(first)) {
        put_padded(name, -width);
        fputs("  ", stdout);
        put_list(value);
    } else if (indent >= INDENT * LEVELS_MAX) {
        printf("%s  ...\n", name);
    } else {
        printf("%s\n", name);
        if (ctl_is_array(value) && ctl_is_object(first))
            put_table(value, indent + INDENT);
        else if (ctl_is_object(value))
            put_object(value, indent + INDENT);
    }
}

static void put_object(ctl_value object, int indent) {
    ctl_value key, value;
    char name[CELL_BYTES];
    int width = 0;
    for (size_t offset = 0; ctl_json_next(object, &offset, &key, &value);) {
        const int size = (int)ctl_text_width(ctl_json_text(key, name, sizeof name));
        if (is_short(value) && size > width) width = size;
    }
    for (size_t offset = 0; ctl_json_next(object, &offset, &key, &value);)
        put_member(ctl_json_text(key, name, sizeof name), width, value, indent);
}

void ctl_show(ctl_value object) {
    put_object(object, 0);
}
