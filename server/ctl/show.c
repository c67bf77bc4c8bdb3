// SPDX-License-Identifier: MIT
// Nothing is known about the answers but that they are JSON: a new verb is shown as well as an old
// one.
#include "ctl.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 16, CELL_BYTES = 96, INDENT = 2, LEVELS_MAX = 8 };

static uint32_t text_width(const char* text) {
    uint32_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void put_padded(const char* text, int width) {
    const int pad = (width < 0 ? -width : width) - (int)text_width(text);
    if (width > 0) printf("%*s", pad > 0 ? pad : 0, "");
    fputs(text, stdout);
    if (width < 0) printf("%*s", pad > 0 ? pad : 0, "");
}

static void put_cells(const char* const* cells, const int* widths, uint32_t count) {
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

// What is in a container, side by side: "1,2", or "x=1,y=2". Deeper ones are "...".
static const char* cell_of(ctl_value value, char text[CELL_BYTES]) {
    char part[CELL_BYTES], name[CELL_BYTES];
    ctl_value key, inner;
    size_t offset = 0, used = 0;
    if (!is_container(value)) return ctl_json_text(value, text, CELL_BYTES);
    text[0] = 0;
    while (used + 1 < CELL_BYTES && ctl_json_next(value, &offset, &key, &inner)) {
        const bool has_key = ctl_is_object(value);
        const int size =
            snprintf(text + used, CELL_BYTES - used, "%s%s%s%s", used > 0 ? "," : "",
                     has_key ? ctl_json_text(key, name, sizeof name) : "", has_key ? "=" : "",
                     is_container(inner) ? "..." : ctl_json_text(inner, part, sizeof part));
        used += (size_t)size;
    }
    return text;
}

typedef struct columns {
    char names[COLUMNS_MAX][CELL_BYTES];
    int widths[COLUMNS_MAX];
    uint32_t count;
    uint32_t values_at; // the column that the values of a row begin with
    bool has_values;
} columns;

// Lists of objects are too long for a cell.
static bool is_deep(ctl_value value) {
    ctl_value first;
    size_t offset = 0;
    return is_container(value) && ctl_json_next(value, &offset, NULL, &first) &&
           is_container(first);
}

static void add_column(columns* self, ctl_value name, ctl_value value) {
    char text[CELL_BYTES];
    if (is_deep(value)) return;
    ctl_json_text(name, text, sizeof text);
    for (uint32_t i = 0; i < self->count; i++)
        if (strcmp(self->names[i], text) == 0) return;
    if (self->count == COLUMNS_MAX) return;
    memcpy(self->names[self->count], text, sizeof text);
    const bool is_left = is_container(value) || (value.at[0] == '"' && ctl_json_number(value) == 0);
    self->widths[self->count++] = (is_left ? -1 : 1) * (int)text_width(text);
}

// `values` of a row is one cell for each of the answer's `columns`.
static bool is_values(ctl_value key, ctl_value value, ctl_value titles) {
    char name[CELL_BYTES];
    return ctl_is_array(titles) && ctl_is_array(value) &&
           strcmp(ctl_json_text(key, name, sizeof name), "values") == 0;
}

static void add_titles(columns* self, ctl_value titles, ctl_value values) {
    ctl_value title, value;
    size_t offset = 0, at = 0;
    self->has_values = true;
    self->values_at = self->count;
    while (self->count < COLUMNS_MAX && ctl_json_next(titles, &offset, NULL, &title)) {
        if (!ctl_json_next(values, &at, NULL, &value)) break;
        const ctl_value name = ctl_is_object(title) ? ctl_json_find(title, "name") : title;
        ctl_json_text(name, self->names[self->count], CELL_BYTES);
        self->widths[self->count] = -(int)text_width(self->names[self->count]);
        self->count++;
    }
}

// The cells of a row; "" where it has no such key.
static void read_row(const columns* self, ctl_value row, char texts[][CELL_BYTES]) {
    ctl_value value;
    size_t offset = 0;
    const ctl_value values = self->has_values ? ctl_json_find(row, "values") : (ctl_value){NULL, 0};
    bool has_more = values.at != NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        const bool is_title = self->has_values && i >= self->values_at && has_more;
        if (is_title) has_more = ctl_json_next(values, &offset, NULL, &value);
        if (!is_title || !has_more) value = ctl_json_find(row, self->names[i]);
        texts[i][0] = 0;
        if (value.at) (void)cell_of(value, texts[i]);
    }
}

// The columns are the keys of all rows.
static void find_columns(ctl_value table, ctl_value titles, columns* self) {
    ctl_value row, key, value;
    char texts[COLUMNS_MAX][CELL_BYTES];
    *self = (columns){.count = 0};
    for (size_t offset = 0; ctl_json_next(table, &offset, NULL, &row);)
        for (size_t at = 0; ctl_json_next(row, &at, &key, &value);) {
            if (!is_values(key, value, titles))
                add_column(self, key, value);
            else if (!self->has_values)
                add_titles(self, titles, value);
        }
    for (size_t offset = 0; ctl_json_next(table, &offset, NULL, &row);) {
        read_row(self, row, texts);
        for (uint32_t i = 0; i < self->count; i++) {
            int* width = &self->widths[i];
            const int wanted = (int)text_width(texts[i]);
            if (wanted > *width && wanted > -*width) *width = *width < 0 ? -wanted : wanted;
        }
    }
}

static void put_table(ctl_value table, ctl_value titles, int indent) {
    char texts[COLUMNS_MAX][CELL_BYTES];
    const char* cells[COLUMNS_MAX];
    columns found;
    ctl_value row;
    find_columns(table, titles, &found);
    for (uint32_t i = 0; i < found.count; i++)
        cells[i] = found.names[i];
    printf("%*s", indent, "");
    put_cells(cells, found.widths, found.count);
    for (size_t offset = 0; ctl_json_next(table, &offset, NULL, &row);) {
        read_row(&found, row, texts);
        for (uint32_t i = 0; i < found.count; i++)
            cells[i] = texts[i];
        printf("%*s", indent, "");
        put_cells(cells, found.widths, found.count);
    }
}

// Does it stand on the line of its name?
static bool is_short(ctl_value value) {
    ctl_value first;
    size_t offset = 0;
    if (!is_container(value) || !ctl_json_next(value, &offset, NULL, &first)) return true;
    return ctl_is_array(value) && !is_container(first);
}

// `titles`: "columns" of the object that the value is in.
static void put_member(const char* name, int width, ctl_value value, ctl_value titles, int indent) {
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
            put_table(value, titles, indent + INDENT);
        else if (ctl_is_object(value))
            ctl_show(value, indent + INDENT);
    }
}

void ctl_show(ctl_value object, int indent) {
    ctl_value key, value;
    const ctl_value titles = ctl_json_find(object, "columns");
    char name[CELL_BYTES];
    int width = 0;
    for (size_t offset = 0; ctl_json_next(object, &offset, &key, &value);) {
        const int size = (int)text_width(ctl_json_text(key, name, sizeof name));
        if (is_short(value) && size > width) width = size;
    }
    for (size_t offset = 0; ctl_json_next(object, &offset, &key, &value);)
        put_member(ctl_json_text(key, name, sizeof name), width, value, titles, indent);
}
