// SPDX-License-Identifier: MIT
// The schema: a hash per item that both sides must agree on, and one over all items (WIRE.md,
// "Schema hash").
//
// The hash answers "may these two talk?"; the items answer "what differs?", so that a refusal names
// a template instead of two numbers. Items are hashed by meaning, never by local ids, file lines or
// struct offsets: two builds, two load orders and two struct layouts give the same schema when the
// bits on the wire mean the same.
//
//     template  name, singleton?, per replicated component in name order: name, what it is the
//               integral of, rotation?, quantisation of each element of its fields; then the
//               default row, then the hash of each variable-size default
//     component name, type name, per field: name, kind, count
//     message   position in the module's table, kind, reliable?, the protobuf descriptor
//     file      its bytes
//
// Left to others: building layouts and default rows (rows.c), asking and refusing (session).
#include "state/schema.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/shown.h"
#include "base/text.h"
#include "state/varsize.h"
#include "proto/codec.h"

#include <stdlib.h>
#include <string.h>

struct net_schema {
    base_owner owner;
    net_rows* rows;
    net_schema_item* items;
    uint32_t item_count;
    uint32_t item_capacity;
    uint64_t hash;
};

_Static_assert((int)PROTO_KIND_COUNT == (int)ECS_FIELD_KIND_COUNT, "add the kind to proto/quant.h");
_Static_assert((int)PROTO_BOOL == (int)ECS_FIELD_BOOL && (int)PROTO_I8 == (int)ECS_FIELD_I8 &&
                   (int)PROTO_I64 == (int)ECS_FIELD_I64 && (int)PROTO_U8 == (int)ECS_FIELD_U8 &&
                   (int)PROTO_U64 == (int)ECS_FIELD_U64 && (int)PROTO_F32 == (int)ECS_FIELD_F32 &&
                   (int)PROTO_F64 == (int)ECS_FIELD_F64 &&
                   (int)PROTO_ENTITY == (int)ECS_FIELD_ENTITY,
               "proto_kind and ecs_field_kind must keep the same numbers");

static void hash_u64(base_hasher* hasher, uint64_t value) {
    uint8_t bytes[8];
    for (uint32_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    base_hasher_add(hasher, bytes, sizeof bytes);
}

static void hash_f64(base_hasher* hasher, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash_u64(hasher, bits);
}

static void hash_text(base_hasher* hasher, const char* text) {
    base_hasher_add(hasher, text, strlen(text) + 1);
}

static void add_item(net_schema* schema, const char* kind, const char* name,
                     const base_hasher* hasher) {
    BASE_ARRAY_RESERVE(&schema->owner.allocator, schema->items, schema->item_capacity,
                       schema->item_count + 1);
    net_schema_item* item = &schema->items[schema->item_count++];
    item->hash = base_hasher_end(hasher);
    // The world checked the lengths of its names, add_message those of messages.
    BASE_ASSERT(base_text_format(item->name, sizeof item->name, "%s %s", kind, name));
}

static bool has_item(const net_schema* schema, const char* kind, const char* name) {
    char wanted[sizeof schema->items->name];
    (void)base_text_format(wanted, sizeof wanted, "%s %s", kind, name);
    for (uint32_t i = 0; i < schema->item_count; i++)
        if (strcmp(schema->items[i].name, wanted) == 0) return true;
    return false;
}

static void add_component(net_schema* schema, const ecs_world* world, ecs_component_id id) {
    const ecs_component* component = ecs_component_get(world, id);
    if (has_item(schema, "component", component->name)) return;
    const ecs_type* type = ecs_type_get(world, component->type);
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    hash_text(&hasher, component->name);
    hash_text(&hasher, type->name);
    hash_u64(&hasher, type->field_count);
    for (uint32_t f = 0; f < type->field_count; f++) {
        hash_text(&hasher, type->fields[f].name);
        hash_u64(&hasher, (uint64_t)type->fields[f].kind);
        hash_u64(&hasher, type->fields[f].count);
    }
    add_item(schema, "component", component->name, &hasher);
}

// Both sides know the value of a client that received none: the default.
static void hash_varsize_defaults(net_schema* schema, const ecs_world* world,
                                  const net_row_template* row_template, base_hasher* hasher) {
    base_bytes bytes;
    base_bytes_init(&bytes, &schema->owner.allocator);
    for (uint32_t i = 0; i < row_template->varsize_count; i++) {
        base_bytes_clear(&bytes);
        net_varsize_write_default(world, row_template, row_template->varsizes[i].component, &bytes);
        hash_u64(hasher, base_hash64(bytes.data, bytes.size, 0));
    }
    base_bytes_deinit(&bytes);
}

static void add_template(net_schema* schema, const ecs_world* world,
                         const net_row_template* row_template) {
    const ecs_template* source = ecs_template_get(world, row_template->id);
    const proto_layout* layout = &row_template->layout;
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    hash_text(&hasher, source->name);
    hash_u64(&hasher, source->is_singleton);
    uint32_t coded = 0;
    for (uint32_t i = 0; i < source->component_count; i++) {
        const ecs_template_component* component = &source->components[i];
        if (!(component->flags & ECS_COMPONENT_REPLICATED)) continue;
        add_component(schema, world, component->component);
        hash_text(&hasher, ecs_component_get(world, component->component)->name);
        hash_text(&hasher, component->integral ? component->integral : "");
        hash_u64(&hasher, component->is_rotation);
        if (coded == layout->component_count ||
            layout->components[coded].key != component->component)
            continue;
        const proto_row_component* row = &layout->components[coded++];
        for (uint32_t f = 0; f < row->field_count; f++) {
            const proto_quant* quant = &layout->fields[row->field_first + f].quant;
            hash_u64(&hasher, (uint64_t)quant->kind);
            hash_u64(&hasher, quant->bits);
            hash_u64(&hasher, quant->is_elastic ? 2 : quant->is_exact);
            hash_f64(&hasher, quant->min);
            hash_f64(&hasher, quant->step);
        }
    }
    for (uint32_t f = 0; f < layout->field_count; f++)
        hash_u64(&hasher, row_template->defaults[f]);
    hash_varsize_defaults(schema, world, row_template, &hasher);
    add_item(schema, "template", source->name, &hasher);
}

static net_result add_message(net_schema* schema, const net_message* message, uint32_t position,
                              const base_reporter* reporter) {
    BASE_ASSERT(message->name && message->descriptor);
    if (strlen(message->name) >= ECS_NAME_BYTES_MAX)
        return BASE_REPORT_AS(NET_ERR_SCHEMA, reporter, NULL, 0,
                              "the name of message %s is longer than %u bytes", message->name,
                              ECS_NAME_BYTES_MAX - 1);
    if (has_item(schema, "message", message->name))
        return BASE_REPORT_AS(NET_ERR_SCHEMA, reporter, NULL, 0, "two messages are called %s",
                              message->name);
    if (!proto_is_flat(message->descriptor))
        return BASE_REPORT_AS(NET_ERR_SCHEMA, reporter, NULL, 0,
                              "message %s contains itself or is nested deeper than %u: flatten it",
                              message->name, PROTO_DEPTH_MAX);
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    hash_text(&hasher, message->name);
    hash_u64(&hasher, position);
    hash_u64(&hasher, (uint64_t)message->kind);
    hash_u64(&hasher, message->kind != NET_MESSAGE_INPUT && message->is_reliable);
    hash_u64(&hasher, proto_descriptor_hash(message->descriptor));
    add_item(schema, "message", message->name, &hasher);
    return NET_OK;
}

static int compare_items(const void* a, const void* b) {
    return strcmp(((const net_schema_item*)a)->name, ((const net_schema_item*)b)->name);
}

static void finish(net_schema* schema) {
    if (schema->item_count > 0)
        qsort(schema->items, schema->item_count, sizeof *schema->items, compare_items);
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    for (uint32_t i = 0; i < schema->item_count; i++) {
        hash_text(&hasher, schema->items[i].name);
        hash_u64(&hasher, schema->items[i].hash);
    }
    schema->hash = base_hasher_end(&hasher);
}

static net_result fill(net_schema* schema, ecs_world* world, const net_message* messages,
                       uint32_t message_count, const base_reporter* reporter) {
    net_result result = net_rows_create(&schema->owner.allocator, world, reporter, &schema->rows);
    if (result != NET_OK) return result;
    for (uint32_t n = 0; n < schema->rows->number_count; n++)
        add_template(schema, world, schema->rows->numbers[n]);
    for (uint32_t m = 0; m < message_count; m++) {
        result = add_message(schema, &messages[m], m, reporter);
        if (result != NET_OK) return result;
    }
    finish(schema);
    return NET_OK;
}

net_result net_schema_create(const base_allocator* allocator, ecs_world* world,
                             const net_message* messages, uint32_t message_count,
                             const base_reporter* reporter, net_schema** schema) {
    BASE_ASSERT(world && schema && (messages || message_count == 0));
    *schema = NULL;
    net_schema* made = base_owner_create(allocator, sizeof *made);
    net_result result = fill(made, world, messages, message_count, reporter);
    if (result != NET_OK) {
        base_owner_destroy(made);
        return result;
    }
    *schema = made;
    return NET_OK;
}

void net_schema_add_files(net_schema* schema, const net_game_file* files, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        base_hasher hasher;
        base_hasher_init(&hasher, 0);
        base_hasher_add(&hasher, files[i].bytes, files[i].byte_count);
        add_item(schema, "file", files[i].name, &hasher);
    }
    if (count > 0) finish(schema);
}

net_schema* net_schema_create_like(const base_allocator* allocator, ecs_world* world,
                                   const net_schema* like) {
    BASE_ASSERT(world && like);
    net_schema* made = base_owner_create(allocator, sizeof *made);
    made->items = like->items;
    made->item_count = like->item_count;
    made->hash = like->hash;
    made->rows = net_rows_create_like(&made->owner.allocator, world, like->rows);
    return made;
}

uint64_t net_schema_hash(const net_schema* schema) {
    return schema->hash;
}

bool net_schema_hides(const net_schema* schema) {
    for (uint32_t i = 0; i < schema->rows->number_count; i++) {
        const net_row_template* one = schema->rows->numbers[i];
        if ((one->class_mask | one->varsize_mask) & ~(1u << NET_CLASS_PUBLIC)) return true;
    }
    return false;
}

const net_schema_item* net_schema_items(const net_schema* schema, uint32_t* count) {
    *count = schema->item_count;
    return schema->items;
}

net_rows* net_schema_rows(const net_schema* schema) {
    return schema->rows;
}

bool net_schema_difference(const net_schema* server, const net_schema_item* client_items,
                           uint32_t client_item_count, char* text, size_t text_bytes) {
    BASE_ASSERT(text && text_bytes > 0);
    BASE_ASSERT(client_items || client_item_count == 0);
    uint32_t s = 0, c = 0;
    while (s < server->item_count || c < client_item_count) {
        int order = s == server->item_count  ? 1
                    : c == client_item_count ? -1
                                             : strcmp(server->items[s].name, client_items[c].name);
        if (order == 0 && server->items[s].hash == client_items[c].hash) {
            s++, c++;
            continue;
        }
        const char* name = order <= 0 ? server->items[s].name : client_items[c].name;
        char quoted[BASE_SHOWN_QUOTED_BYTES(sizeof client_items->name)];
        (void)base_text_format(text, text_bytes, "%s %s",
                               base_shown_quote(quoted, sizeof quoted, name),
                               order == 0  ? "differs"
                               : order < 0 ? "is missing on the client"
                                           : "is missing on the server");
        return true;
    }
    return false;
}
