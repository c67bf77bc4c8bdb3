// SPDX-License-Identifier: MIT
// VARSIZE.md: values that come on the reliable channel and may come before
// the record that they need.
#include "play.h"

#include <stdlib.h>
#include <string.h>

static void drop(game_client* client, uint32_t position) {
    free(client->waiting[position].bytes);
    client->waiting_count--;
    memmove(client->waiting + position, client->waiting + position + 1,
            (client->waiting_count - position) * sizeof *client->waiting);
}

void release_values(game_client* client) {
    for (uint32_t i = 0; i < client->waiting_count;) {
        const waiting_value* value = &client->waiting[i];
        value_fate fate = mirror_value(client->mirror, value->entity, value->component,
                                       value->since, value->bytes, value->size);
        client->counts.values += fate == VALUE_APPLIED;
        client->counts.values_dropped += fate == VALUE_DROPPED;
        if (fate == VALUE_WAITS)
            i++;
        else
            drop(client, i);
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

void take_value(game_client* client, const Shoal__Wire__VarsizeValue* message) {
    static const uint8_t empty[1] = {0}; // the default of all that our games have
    const varsize_row* row = schema_varsize(client->schema, message->component);
    const uint8_t* bytes = message->is_default ? empty : message->value.data;
    size_t size = message->is_default ? sizeof empty : message->value.len;
    bool is_right = client->mirror && row && message->entity && message->version > 0 &&
                    !(message->is_default && message->value.len) && size > 0 && size <= 12000;
    if (!is_right || !is_value(row->type, bytes, size)) {
        fault(client, "a variable-size value that cannot be");
        return;
    }
    acknowledge_value(client, message->version);
    if (message->version <= client->value_version) return;
    client->value_version = message->version;
    for (uint32_t i = 0; i < client->waiting_count; i++)
        if (client->waiting[i].entity == message->entity &&
            client->waiting[i].component == message->component)
            drop(client, i--);
    if (client->waiting_count == VALUES_MAX) {
        fault(client, "more variable-size values that wait than the page says");
        return;
    }
    waiting_value* value = &client->waiting[client->waiting_count++];
    *value = (waiting_value){message->entity, message->component, message->since, size, NULL};
    value->bytes = malloc(size);
    if (!value->bytes) abort();
    memcpy(value->bytes, bytes, size);
    release_values(client);
}
