// SPDX-License-Identifier: MIT
// VARSIZE.md: values come on the reliable channel, maybe before the record that they need.
#include "values.h"

#include "mirror.h"

#include <stdlib.h>
#include <string.h>

static void drop(cf_values* values, uint32_t position) {
    free(values->waiting[position].bytes);
    values->waiting_count--;
    memmove(values->waiting + position, values->waiting + position + 1,
            (values->waiting_count - position) * sizeof *values->waiting);
}

void values_end(cf_values* values) {
    while (values->waiting_count > 0)
        drop(values, 0);
    *values = (cf_values){0};
}

void values_release(cf_values* values, cf_mirror* mirror) {
    for (uint32_t i = 0; i < values->waiting_count;) {
        const waiting_value* value = &values->waiting[i];
        value_fate fate = mirror_value(mirror, value->entity, value->component, value->since,
                                       value->bytes, value->size);
        values->applied += fate == VALUE_APPLIED;
        if (fate == VALUE_WAITS)
            i++;
        else
            drop(values, i);
    }
}

// Are these the bytes of such a value, and the only ones that it has?
static bool is_value(const char* type, const uint8_t* bytes, size_t size) {
    cf_varsize* value = varsize_read(type, bytes, size);
    if (!value) return false;
    uint8_t* again = malloc(size + 1);
    if (!again) abort();
    bool is_same = varsize_write(value, again) == size && memcmp(again, bytes, size) == 0;
    free(again);
    varsize_destroy(value);
    return is_same;
}

const char* values_take(cf_values* values, const cf_schema* schema, cf_mirror* mirror,
                        const Shoal__Wire__VarsizeValue* message) {
    static const uint8_t empty[1] = {0}; // the default of all that our games have
    const varsize_row* row = schema_varsize(schema, message->component);
    const uint8_t* bytes = message->is_default ? empty : message->value.data;
    size_t size = message->is_default ? sizeof empty : message->value.len;
    uint32_t index = message->entity & 0x3fffff;
    bool is_right = mirror && row && index > 0 && index <= mirror->index_max &&
                    message->entity >> 22 > 0 && message->version > 0 &&
                    !(message->is_default && message->value.len) && size > 0 && size <= 12000;
    if (!is_right || !is_value(row->type, bytes, size))
        return "a variable-size value that cannot be";
    if (message->version <= values->version) return NULL;
    values->version = message->version;
    for (uint32_t i = 0; i < values->waiting_count; i++)
        if (values->waiting[i].entity == message->entity &&
            values->waiting[i].component == message->component)
            drop(values, i--);
    if (values->waiting_count == VALUES_MAX) return "more values wait than the page says";
    waiting_value* value = &values->waiting[values->waiting_count++];
    *value = (waiting_value){message->entity, message->component, message->since, size, NULL};
    value->bytes = malloc(size);
    if (!value->bytes) abort();
    memcpy(value->bytes, bytes, size);
    values_release(values, mirror);
    return NULL;
}
