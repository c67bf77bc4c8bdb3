// SPDX-License-Identifier: MIT
// Nothing is known about the answers but that they are JSON: a new verb is shown as well as an old
// one.
#include "ctl.h"

#include "base/shown.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 16, CELL_BYTES = 96, INDENT = 2, LEVELS_MAX = 8 };

const char* ctl_text(const json_t* value, char* target, size_t target_bytes) {
    const char* text = !value                 ? ""
                       : json_is_null(value)  ? "null"
                       : json_is_true(value)  ? "true"
                       : json_is_false(value) ? "false"
                                              : json_string_value(value);
    (void)base_shown_copy(target, target_bytes, text ? text : "...");
    return target;
}

bool ctl_number(const json_t* value, double* number) {
    *number = 0;
    return json_is_string(value) && base_text_parse_f64(json_string_value(value), number);
}

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

static bool is_container(const json_t* value) {
    return json_is_object(value) || json_is_array(value);
}

// NULL: it is empty, or no container.
static const json_t* first_of(json_t* value) {
    return json_is_array(value) ? json_array_get(value, 0)
                                : json_object_iter_value(json_object_iter(value));
}

// A list of numbers or texts on one line.
static void put_list(const json_t* list) {
    const json_t* value;
    size_t i;
    char text[CELL_BYTES];
    json_array_foreach(list, i, value)
        printf("%s%s", i > 0 ? ", " : "", ctl_text(value, text, sizeof text));
    putchar('\n');
}

static void add_part(char text[CELL_BYTES], const char* name, const json_t* value) {
    const size_t used = strlen(text);
    char part[CELL_BYTES], shown[CELL_BYTES];
    (void)base_shown_copy(shown, sizeof shown, name);
    (void)snprintf(text + used, CELL_BYTES - used, "%s%s%s%s", used > 0 ? "," : "", shown,
                   *name ? "=" : "", ctl_text(value, part, sizeof part));
}

// What is in a container, side by side: "1,2", or "x=1,y=2". Deeper ones are "...".
static const char* cell_of(json_t* value, char text[CELL_BYTES]) {
    const char* name;
    json_t* inner;
    size_t i;
    text[0] = 0;
    if (!is_container(value)) return ctl_text(value, text, CELL_BYTES);
    json_array_foreach(value, i, inner) add_part(text, "", inner);
    json_object_foreach(value, name, inner) add_part(text, name, inner);
    return text;
}

typedef struct columns {
    char names[COLUMNS_MAX][CELL_BYTES];
    int widths[COLUMNS_MAX];
    uint32_t count;
    uint32_t values_at; // the column that the values of a row begin with
    bool has_values;
} columns;

static void add_column(columns* self, const char* name, json_t* value) {
    char text[CELL_BYTES];
    double number;
    if (is_container(first_of(value))) return; // too long for a cell
    (void)base_shown_copy(text, sizeof text, name);
    for (uint32_t i = 0; i < self->count; i++)
        if (strcmp(self->names[i], text) == 0) return;
    if (self->count == COLUMNS_MAX) return;
    memcpy(self->names[self->count], text, sizeof text);
    const bool is_left =
        is_container(value) || (json_is_string(value) && !ctl_number(value, &number));
    self->widths[self->count++] = (is_left ? -1 : 1) * (int)text_width(text);
}

// `values` of a row is one cell for each of the answer's `columns`.
static bool is_values(const char* name, const json_t* value, const json_t* titles) {
    return json_is_array(titles) && json_is_array(value) && strcmp(name, "values") == 0;
}

static void add_titles(columns* self, const json_t* titles, const json_t* values) {
    const json_t* title;
    size_t i;
    self->has_values = true;
    self->values_at = self->count;
    json_array_foreach(titles, i, title) {
        if (self->count == COLUMNS_MAX || i == json_array_size(values)) break;
        const json_t* name = json_is_object(title) ? json_object_get(title, "name") : title;
        ctl_text(name, self->names[self->count], CELL_BYTES);
        self->widths[self->count] = -(int)text_width(self->names[self->count]);
        self->count++;
    }
}

// The cells of a row; "" where it has no such key.
static void read_row(const columns* self, const json_t* row, char texts[][CELL_BYTES]) {
    const json_t* values = self->has_values ? json_object_get(row, "values") : NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        json_t* value = i >= self->values_at ? json_array_get(values, i - self->values_at) : NULL;
        if (!value) value = json_object_get(row, self->names[i]);
        (void)cell_of(value, texts[i]);
    }
}

// The columns are the keys of all rows.
static void find_columns(const json_t* table, const json_t* titles, columns* self) {
    json_t *row, *value;
    const char* name;
    size_t r;
    char texts[COLUMNS_MAX][CELL_BYTES];
    *self = (columns){.count = 0};
    json_array_foreach(table, r, row) {
        json_object_foreach(row, name, value) {
            if (!is_values(name, value, titles))
                add_column(self, name, value);
            else if (!self->has_values)
                add_titles(self, titles, value);
        }
    }
    json_array_foreach(table, r, row) {
        read_row(self, row, texts);
        for (uint32_t i = 0; i < self->count; i++) {
            int* width = &self->widths[i];
            const int wanted = (int)text_width(texts[i]);
            if (wanted > *width && wanted > -*width) *width = *width < 0 ? -wanted : wanted;
        }
    }
}

static void put_table(const json_t* table, const json_t* titles, int indent) {
    char texts[COLUMNS_MAX][CELL_BYTES];
    const char* cells[COLUMNS_MAX];
    columns found;
    const json_t* row;
    size_t r;
    find_columns(table, titles, &found);
    for (uint32_t i = 0; i < found.count; i++)
        cells[i] = found.names[i];
    printf("%*s", indent, "");
    put_cells(cells, found.widths, found.count);
    json_array_foreach(table, r, row) {
        read_row(&found, row, texts);
        for (uint32_t i = 0; i < found.count; i++)
            cells[i] = texts[i];
        printf("%*s", indent, "");
        put_cells(cells, found.widths, found.count);
    }
}

// Does it stand on the line of its name?
static bool is_short(json_t* value) {
    const json_t* first = first_of(value);
    return !first || (json_is_array(value) && !is_container(first));
}

// `titles`: "columns" of the object that the value is in.
static void put_member(const char* name, int width, json_t* value, const json_t* titles,
                       int indent) {
    const json_t* first = first_of(value);
    char text[1024];
    printf("%*s", indent, "");
    if (is_short(value)) {
        put_padded(name, -width);
        fputs("  ", stdout);
        if (first)
            put_list(value);
        else
            puts(is_container(value) ? "none" : ctl_text(value, text, sizeof text));
    } else if (indent >= INDENT * LEVELS_MAX) {
        printf("%s  ...\n", name);
    } else {
        puts(name);
        if (json_is_object(value))
            ctl_show(value, indent + INDENT);
        else if (json_is_object(first))
            put_table(value, titles, indent + INDENT);
    }
}

void ctl_show(json_t* object, int indent) {
    json_t* value;
    const char* key;
    const json_t* titles = json_object_get(object, "columns");
    char name[CELL_BYTES];
    int width = 0;
    json_object_foreach(object, key, value) {
        (void)base_shown_copy(name, sizeof name, key);
        const int size = (int)text_width(name);
        if (is_short(value) && size > width) width = size;
    }
    json_object_foreach(object, key, value) {
        (void)base_shown_copy(name, sizeof name, key);
        put_member(name, width, value, titles, indent);
    }
}
