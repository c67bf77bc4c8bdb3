// SPDX-License-Identifier: MIT
// The built-in types of every world: the scalars (value.c), then lists, arrays and objects of them.
// Registering them is the first step of a world, so their ids are the same in every world.
#include "type/container.h"

#include "base/assert.h"
#include "type/world.h"

#include <string.h>

// Lists, arrays and objects as component types: the table of functions that the world calls.
//
// A value begins without a body: an entity that never fills its list needs no memory. The functions
// get no type as an argument. Those that need it exist once per type; the others find the type in
// the body.
//
// Tracking: a shadow begins as a copy with the same version, and only replicate_compare changes it.
// So equal versions mean that the value did not change since.

static uint64_t version_of(const ecs_container_body* body) {
    return body ? body->version : 0;
}

static uint64_t version(const void* value) {
    return version_of(ecs_container_body_of(value));
}

static void destroy(const ecs_type_context* context, void* value) {
    ecs_container* container = value;
    ecs_container_body_destroy(context->allocator, container->body);
    container->body = NULL;
}

static void copy_as(const ecs_type_context* context, void* target, const void* source,
                    ecs_element_type type) {
    const ecs_container_body* from = ecs_container_body_of(source);
    BASE_ASSERT(!from || from->type == type);
    ecs_container made = {.type = type};
    if (from) made.body = ecs_container_body_copy(context->allocator, from);
    *(ecs_container*)target = made;
}

static bool equal(const void* a, const void* b) {
    return ecs_container_body_equal(ecs_container_body_of(a), ecs_container_body_of(b));
}

static bool is_same_shape(const ecs_container_body* target, const ecs_container_body* source);

// Can the item be overwritten in place? Numbers always, texts of the same length.
static bool is_same_item(const ecs_container_body* target, const ecs_container_body* source,
                         uint32_t index) {
    ecs_element_type type = ecs_container_item_type(source, index);
    if (type != ecs_container_item_type(target, index)) return false;
    if (source->type == ECS_ELEMENT_OBJECT &&
        strcmp(ecs_container_named_item(source, index)->name,
               ecs_container_named_item(target, index)->name) != 0)
        return false;
    const void* old = ecs_container_item(target, index);
    const void* now = ecs_container_item(source, index);
    if (type == ECS_ELEMENT_T)
        return ((const ecs_string*)old)->size == ((const ecs_string*)now)->size;
    return !ecs_element_is_container(type) ||
           is_same_shape(ecs_container_body_of(old), ecs_container_body_of(now));
}

// Can the body be overwritten in place? That holds for the most frequent changes: other numbers,
// and lists of numbers that fit the capacity.
static bool is_same_shape(const ecs_container_body* target, const ecs_container_body* source) {
    if (target->type != source->type) return false;
    if (ecs_element_is_list(source->type) && source->type != ecs_element_list_of(ECS_ELEMENT_T))
        return target->capacity >= source->count;
    if (target->count != source->count) return false;
    for (uint32_t i = 0; i < source->count; i++)
        if (!is_same_item(target, source, i)) return false;
    return true;
}

// Copy between bodies of the same shape: allocates nothing and cannot fail.
static void overwrite(ecs_container_body* target, const ecs_container_body* source) {
    if (ecs_element_is_list(source->type) && source->type != ecs_element_list_of(ECS_ELEMENT_T)) {
        size_t size = ecs_element_bytes((ecs_element_type)(source->type - ECS_ELEMENT_LIST));
        if (source->count) memcpy(target->items, source->items, size * source->count);
        target->count = source->count;
    }
    for (uint32_t i = 0; i < source->count; i++) {
        ecs_element_type type = ecs_container_item_type(source, i);
        void* old = ecs_container_item(target, i);
        const void* now = ecs_container_item(source, i);
        if (ecs_element_is_container(type)) {
            overwrite(ecs_container_body_of(old), ecs_container_body_of(now));
        } else if (type == ECS_ELEMENT_T) {
            ecs_string* text = old;
            if (text->size) memcpy(text->data, ((const ecs_string*)now)->data, text->size);
        } else if (ecs_element_is_list(source->type)) {
            break; // copied as a whole
        } else {
            memcpy(old, now, ecs_element_bytes((ecs_element_type)type));
        }
    }
    target->bytes = source->bytes;
}

// Give the target the content of the source and this version.
static void become(const base_allocator* allocator, ecs_container* target,
                   const ecs_container* source, uint64_t new_version) {
    BASE_ASSERT(!source->body || !target->type || target->type == (uint32_t)source->body->type);
    if (target->body && source->body && is_same_shape(target->body, source->body)) {
        overwrite(target->body, source->body);
    } else {
        ecs_container_body* made =
            source->body ? ecs_container_body_copy(allocator, source->body) : NULL;
        if (!made && target->body) {
            ecs_container_clear(allocator, target->body);
        } else {
            ecs_container_body_destroy(allocator, target->body);
            target->body = made;
        }
    }
    if (target->body) target->body->version = new_version;
}

static void assign(const ecs_type_context* context, void* target, const void* source) {
    ecs_container* to = target;
    const ecs_container* from = source;
    if (ecs_container_body_equal(to->body, from->body)) return;
    become(context->allocator, to, from, version_of(to->body) + 1);
}

static bool replicate_compare(const ecs_type_context* context, void* shadow, const void* current) {
    ecs_container* old = shadow;
    const ecs_container* now = current;
    if (version_of(old->body) == version_of(now->body)) return false;
    if (ecs_container_body_equal(old->body, now->body)) {
        if (old->body) old->body->version = version_of(now->body);
        return false;
    }
    become(context->allocator, old, now, version_of(now->body));
    return true;
}

static void write_container(const void* value, base_bytes* bytes) {
    ecs_container_write(ecs_container_body_of(value), bytes);
}

static bool read_as(const ecs_type_context* context, void* value, base_reader* reader,
                    ecs_element_type type) {
    ecs_container_body* body = ecs_container_read(context->allocator, type, reader);
    if (!body) return false;
    ecs_container* container = value;
    ecs_container_body_destroy(context->allocator, container->body);
    *container = (ecs_container){body, type};
    return true;
}

#define LIST(X, name, element)                                                                     \
    X(list_##name, ECS_ELEMENT_LIST + ECS_ELEMENT_##element, "list<" #name ">", ecs_list)
#define CONTAINERS(X)                                                                              \
    LIST(X, b, B)                                                                                  \
    LIST(X, i, I)                                                                                  \
    LIST(X, i64, I64)                                                                              \
    LIST(X, u8, U8)                                                                                \
    LIST(X, u16, U16)                                                                              \
    LIST(X, u32, U32)                                                                              \
    LIST(X, u64, U64)                                                                              \
    LIST(X, r, R)                                                                                  \
    LIST(X, p2, P2)                                                                                \
    LIST(X, p3, P3)                                                                                \
    LIST(X, p4, P4)                                                                                \
    LIST(X, ip2, IP2)                                                                              \
    LIST(X, ip3, IP3)                                                                              \
    LIST(X, ip4, IP4)                                                                              \
    LIST(X, c, C)                                                                                  \
    LIST(X, m, M)                                                                                  \
    LIST(X, t, T)                                                                                  \
    LIST(X, eid, EID)                                                                              \
    X(array, ECS_ELEMENT_ARRAY, "array", ecs_array)                                                \
    X(object, ECS_ELEMENT_OBJECT, "object", ecs_object)

#define FUNCTIONS(name, number, type_name, c_type)                                                 \
    static void create_##name(const ecs_type_context* context, void* value) {                      \
        (void)context;                                                                             \
        *(ecs_container*)value = (ecs_container){.type = number};                                  \
    }                                                                                              \
    static void copy_##name(const ecs_type_context* context, void* target, const void* source) {   \
        copy_as(context, target, source, (ecs_element_type)(number));                              \
    }                                                                                              \
    static bool read_##name(const ecs_type_context* context, void* value, base_reader* reader) {   \
        return read_as(context, value, reader, (ecs_element_type)(number));                        \
    }
CONTAINERS(FUNCTIONS)

#define OPS(name, number, type_name, c_type)                                                       \
    [number] = {                                                                                   \
        .create = create_##name,                                                                   \
        .destroy = destroy,                                                                        \
        .copy = copy_##name,                                                                       \
        .equal = equal,                                                                            \
        .assign = assign,                                                                          \
        .replicate_compare = replicate_compare,                                                    \
        .write = write_container,                                                                  \
        .read = read_##name,                                                                       \
        .version = version,                                                                        \
    },

// By type of the elements.
static const ecs_type_ops element_ops[ECS_ELEMENT_TYPE_END] = {CONTAINERS(OPS)};

static uint64_t hash_container(const void* value, uint64_t seed) {
    return ecs_container_hash(ecs_container_body_of(value), seed);
}

#define ROW(word, number, type_name, c_type)                                                       \
    [number - ECS_BUILTIN_TAG] = {.name = type_name,                                               \
                                  .id = number,                                                    \
                                  .size = sizeof(c_type),                                          \
                                  .align = _Alignof(c_type),                                       \
                                  .object_size = sizeof(c_type),                                   \
                                  .ops = &element_ops[number],                                     \
                                  .hash = hash_container},

// Rows lie at their id - ECS_BUILTIN_TAG.
static const ecs_type containers[] = {CONTAINERS(ROW)};

const ecs_type* ecs_builtin_type(ecs_type_id id) {
    BASE_ASSERT(id > ECS_ELEMENT_NONE && id < ECS_ELEMENT_TYPE_END);
    return id <= ECS_BUILTIN_TAG ? ecs_scalar_type(id) : &containers[id - ECS_BUILTIN_TAG];
}

// Register the built-in types.
void ecs_types_init(ecs_world* world) {
    _Static_assert(sizeof(bool) == 1, "b is one byte");
    for (ecs_type_id id = 1; id < ECS_ELEMENT_TYPE_END; id++) {
        const ecs_type* row = ecs_builtin_type(id);
        ecs_type_desc desc = {.name = row->name,
                              .size = row->size,
                              .align = row->align,
                              .fields = row->fields,
                              .field_count = row->field_count,
                              .ops = row->ops};
        ecs_type_id added;
        ecs_result result = ecs_type_add(world, &desc, 0, NULL, &added);
        BASE_ASSERT(result == ECS_OK && added == id);
        ecs_type_at(world->types, id)->hash = row->hash;
    }
}
