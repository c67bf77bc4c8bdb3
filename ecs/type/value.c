// SPDX-License-Identifier: MIT
// Values: strings, and the operations on a single value of any type.
//
// A cell of a boxed type is a pointer into the pool of the type (box.h); operations on the cell
// call those on the object and use the pool. A type with functions needs only create and destroy.
// Functions that it does not have are replaced by a walk over its fields.
#include "type/type_registry.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

bool ecs_string_set(const base_allocator* allocator, ecs_string* string, const char* text,
                    uint32_t size) {
    BASE_ASSERT(string && (text || size == 0));
    if (size > ECS_STRING_BYTES_MAX) return false;
    if (size == string->size && (size == 0 || memcmp(string->data, text, size) == 0)) return true;
    char* data = NULL;
    if (size) {
        data = base_allocate(allocator, (size_t)size + 1);
        if (!data) return false;
        memcpy(data, text, size);
        data[size] = '\0';
    }
    if (string->data) base_release(allocator, string->data, (size_t)string->size + 1);
    *string = (ecs_string){.data = data, .size = size, .version = string->version + 1};
    return true;
}

void ecs_string_clear(const base_allocator* allocator, ecs_string* string) {
    bool done = ecs_string_set(allocator, string, NULL, 0);
    BASE_ASSERT(done);
}

const char* ecs_string_text(const ecs_string* string) {
    return string->data ? string->data : "";
}

static void string_create(const ecs_type_context* context, void* value) {
    (void)context;
    *(ecs_string*)value = (ecs_string){0};
}

static void string_destroy(const ecs_type_context* context, void* value) {
    ecs_string* string = value;
    if (string->data) base_release(context->allocator, string->data, (size_t)string->size + 1);
    *string = (ecs_string){0};
}

static bool string_copy(const ecs_type_context* context, void* target, const void* source) {
    const ecs_string* from = source;
    ecs_string copy = {0};
    if (!ecs_string_set(context->allocator, &copy, from->data, from->size)) return false;
    copy.version = from->version;
    *(ecs_string*)target = copy;
    return true;
}

static bool string_equal(const void* a, const void* b) {
    const ecs_string* left = a;
    const ecs_string* right = b;
    return left->size == right->size &&
           (left->size == 0 || memcmp(left->data, right->data, left->size) == 0);
}

static bool string_assign(const ecs_type_context* context, void* target, const void* source) {
    const ecs_string* from = source;
    return ecs_string_set(context->allocator, target, from->data, from->size);
}

static uint64_t string_version(const void* value) {
    const ecs_string* string = value;
    return (uint64_t)string->version << 32 | string->size;
}

// A shadow begins as a copy and changes only here, so equal versions mean that the value did not
// change. When memory runs out, the versions stay different, and the next compare tries again.
static bool string_replicate_compare(const ecs_type_context* context, void* shadow,
                                     const void* current) {
    ecs_string* old = shadow;
    const ecs_string* now = current;
    if (string_version(old) == string_version(now)) return false;
    bool differs = !string_equal(old, now);
    if (differs && !ecs_string_set(context->allocator, old, now->data, now->size)) return true;
    old->version = now->version;
    return differs;
}

static void string_write(const void* value, base_bytes* bytes) {
    const ecs_string* string = value;
    base_bytes_write_varint(bytes, string->size);
    base_bytes_write(bytes, string->data, string->size);
}

// The version comes from the text: a value and its shadow that are read separately and differ must
// not get the same version.
static bool string_read(const ecs_type_context* context, void* value, base_reader* reader) {
    uint64_t size = base_reader_varint(reader);
    const uint8_t* text = NULL;
    if (!reader->failed && size <= ECS_STRING_BYTES_MAX)
        text = base_reader_skip(reader, (size_t)size);
    if (!text || memchr(text, 0, (size_t)size)) {
        reader->failed = true;
        return false;
    }
    ecs_string* string = value;
    if (!ecs_string_set(context->allocator, string, (const char*)text, (uint32_t)size))
        return false;
    string->version = (uint32_t)base_hash64(text, (size_t)size, 0);
    return true;
}

const ecs_type_ops ecs_string_ops = {
    .create = string_create,
    .destroy = string_destroy,
    .copy = string_copy,
    .equal = string_equal,
    .assign = string_assign,
    .replicate_compare = string_replicate_compare,
    .write = string_write,
    .read = string_read,
    .version = string_version,
};

// Operations on objects: the cell itself, or what a boxed cell points at. The registered functions
// of a boxed type are in its box; without any, the object is plain data.

static const ecs_type_ops* ops_of(const ecs_type* type) {
    return type->box ? type->box->ops : type->ops;
}

static void object_create(const ecs_type* type, const ecs_type_context* context, void* object) {
    if (ops_of(type))
        ops_of(type)->create(context, object);
    else if (type->object_size)
        memset(object, 0, type->object_size);
}

static void copy_fields(const ecs_type* type, void* target, const void* source) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        memcpy((uint8_t*)target + field->offset, (const uint8_t*)source + field->offset,
               (size_t)field->count * ecs_field_kind_bytes(field->kind));
    }
}

static void object_move(const ecs_type* type, const ecs_type_context* context, void* target,
                        void* source) {
    if (ops_of(type) && ops_of(type)->move)
        ops_of(type)->move(context, target, source);
    else if (type->object_size)
        memcpy(target, source, type->object_size);
}

static bool object_assign(const ecs_type* type, const ecs_type_context* context, void* target,
                          const void* source) {
    const ecs_type_ops* ops = ops_of(type);
    if (!ops) {
        if (type->object_size) memmove(target, source, type->object_size);
        return true;
    }
    if (target == source) return true;
    if (ops->assign) return ops->assign(context, target, source);
    if (!ops->copy) {
        copy_fields(type, target, source);
        return true;
    }
    // Copy first, so that the old value stays when memory runs out.
    _Alignas(64) uint8_t buffer[256];
    void* copy = type->object_size <= sizeof buffer
                     ? buffer
                     : base_allocate(context->allocator, type->object_size);
    bool is_copied = copy && ops->copy(context, copy, source);
    if (is_copied) {
        ops->destroy(context, target);
        object_move(type, context, target, copy);
    }
    if (copy != buffer) base_release(context->allocator, copy, type->object_size);
    return is_copied;
}

static bool object_copy(const ecs_type* type, const ecs_type_context* context, void* target,
                        const void* source) {
    const ecs_type_ops* ops = ops_of(type);
    if (!ops) {
        if (type->object_size) memcpy(target, source, type->object_size);
        return true;
    }
    if (ops->copy) return ops->copy(context, target, source);
    ops->create(context, target);
    if (object_assign(type, context, target, source)) return true;
    ops->destroy(context, target);
    return false;
}

// Operations on boxed cells. A returned object is reset and kept as a created object, or destroyed.

static bool boxed_create(const ecs_type* type, const ecs_type_context* context, void** cell) {
    bool is_made;
    *cell = ecs_box_take(type->box, &is_made);
    if (*cell && !is_made) object_create(type, context, *cell);
    return *cell != NULL;
}

static void boxed_destroy(const ecs_type* type, const ecs_type_context* context, void** cell) {
    if (!*cell) return;
    const ecs_type_ops* ops = ops_of(type);
    if (ops && ops->reset)
        ops->reset(context, *cell);
    else if (ops)
        ops->destroy(context, *cell);
    ecs_box_return(type->box, *cell);
    *cell = NULL;
}

static bool boxed_copy(const ecs_type* type, const ecs_type_context* context, void** cell,
                       const void* object) {
    if (ecs_box_keeps_objects(type->box)) {
        void* made;
        if (!boxed_create(type, context, &made)) return false;
        bool is_assigned = object_assign(type, context, made, object);
        if (is_assigned)
            *cell = made;
        else
            boxed_destroy(type, context, &made);
        return is_assigned;
    }
    bool is_made;
    void* memory = ecs_box_take(type->box, &is_made);
    if (!memory) return false;
    if (object_copy(type, context, memory, object)) {
        *cell = memory;
        return true;
    }
    ecs_box_return(type->box, memory);
    return false;
}

bool ecs_value_create(const ecs_type* type, const ecs_type_context* context, void* value) {
    BASE_ASSERT(type && (value || type->size == 0));
    if (type->box) return boxed_create(type, context, value);
    object_create(type, context, value);
    return true;
}

void ecs_value_destroy(const ecs_type* type, const ecs_type_context* context, void* value) {
    BASE_ASSERT(type);
    if (type->box)
        boxed_destroy(type, context, value);
    else if (type->ops)
        type->ops->destroy(context, value);
}

bool ecs_value_copy(const ecs_type* type, const ecs_type_context* context, void* target,
                    const void* source) {
    BASE_ASSERT(type && (target || type->size == 0));
    if (type->box) return boxed_copy(type, context, target, ecs_type_object(type, source));
    return object_copy(type, context, target, source);
}

bool ecs_value_assign(const ecs_type* type, const ecs_type_context* context, void* target,
                      const void* source) {
    return object_assign(type, context, ecs_type_object_mut(type, target),
                         ecs_type_object(type, source));
}

void ecs_value_move(const ecs_type* type, const ecs_type_context* context, void* target,
                    void* source) {
    if (type->box)
        memcpy(target, source, sizeof(void*));
    else
        object_move(type, context, target, source);
}

bool ecs_value_compare(const ecs_type* type, const ecs_type_context* context, void* shadow,
                       const void* current) {
    const ecs_type_ops* ops = ops_of(type);
    if (ops && ops->replicate_compare)
        return ops->replicate_compare(context, ecs_type_object_mut(type, shadow),
                                      ecs_type_object(type, current));
    if (ecs_type_equal(type, shadow, current)) return false;
    // When memory runs out, the shadow keeps the old value and differs again at the next compare.
    bool is_assigned = ecs_value_assign(type, context, shadow, current);
    (void)is_assigned;
    return true;
}
