// SPDX-License-Identifier: MIT
// Values: strings, and the operations on a single value of any type.
//
// A cell of a boxed type is a pointer into the pool of the type (type_registry.h); operations on
// the cell call those on the object and use the pool. A type with functions needs only create and
// destroy. Functions that it does not have are replaced by a walk over its fields.
#include "type/type_registry.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

// Canonical bytes: the fields of a value in order, little-endian, every NaN the same, every true a
// 1. Hashes, saves and logs use these bytes and never the padding of a struct.
//
// A dense plain type costs one memcpy and a check of its floats. Hashing needs only a small buffer
// on the stack. Zero keeps its sign: -0 and 0 divide differently, so they are different states.

enum { BUFFER_BYTES = 256 };

static const uint32_t nan32 = UINT32_C(0x7FC00000);
static const uint64_t nan64 = UINT64_C(0x7FF8000000000000);

// Turn elements from memory order to little-endian and back, where they lie.
static void swap_elements(uint8_t* elements, uint32_t count, uint32_t bytes) {
    for (uint32_t i = 0; BASE_IS_BIG_ENDIAN && i < count; i++, elements += bytes)
        for (uint32_t byte = 0; byte < bytes / 2; byte++) {
            const uint8_t low = elements[byte];
            elements[byte] = elements[bytes - 1 - byte];
            elements[bytes - 1 - byte] = low;
        }
}

// Make elements canonical, in memory order.
static void canonicalise(uint8_t* elements, ecs_field_kind kind, uint32_t count) {
    if (kind == ECS_FIELD_F32) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, elements + 4 * (size_t)i, 4);
            if ((bits & UINT32_C(0x7FFFFFFF)) > UINT32_C(0x7F800000))
                memcpy(elements + 4 * (size_t)i, &nan32, 4);
        }
    } else if (kind == ECS_FIELD_F64) {
        for (uint32_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, elements + 8 * (size_t)i, 8);
            if ((bits & UINT64_C(0x7FFFFFFFFFFFFFFF)) > UINT64_C(0x7FF0000000000000))
                memcpy(elements + 8 * (size_t)i, &nan64, 8);
        }
    } else if (kind == ECS_FIELD_BOOL) {
        for (uint32_t i = 0; i < count; i++)
            elements[i] = elements[i] != 0;
    }
}

// Write elements [first, first + count) of a field.
static void write_elements(uint8_t* target, const ecs_field* field, const uint8_t* value,
                           uint32_t first, uint32_t count) {
    const uint32_t bytes = ecs_field_kind_table[field->kind];
    memcpy(target, value + field->offset + (size_t)first * bytes, (size_t)count * bytes);
    canonicalise(target, field->kind, count);
    swap_elements(target, count, bytes);
}

uint32_t ecs_type_canonical_bytes(const ecs_type* type) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        bytes += type->fields[i].count * ecs_field_kind_table[type->fields[i].kind];
    return bytes;
}

void ecs_type_write(const ecs_type* type, const void* value, base_bytes* bytes) {
    BASE_ASSERT(type && bytes);
    value = ecs_type_object(type, value);
    if (type->ops && type->ops->write) {
        type->ops->write(value, bytes);
        return;
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        uint8_t* target =
            base_bytes_extend(bytes, (size_t)field->count * ecs_field_kind_table[field->kind]);
        write_elements(target, field, value, 0, field->count);
    }
}

bool ecs_type_read(const ecs_type* type, const ecs_type_context* context, void* value,
                   base_reader* reader) {
    BASE_ASSERT(type && reader);
    value = ecs_type_object_mut(type, value);
    if (type->ops && type->ops->read) return type->ops->read(context, value, reader);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        uint32_t bytes = ecs_field_kind_table[field->kind];
        const uint8_t* source = base_reader_skip(reader, (size_t)field->count * bytes);
        if (!source) return false;
        uint8_t* target = (uint8_t*)value + field->offset;
        // Reading another byte as bool would be undefined.
        for (uint32_t b = 0; field->kind == ECS_FIELD_BOOL && b < field->count; b++)
            if (source[b] > 1) {
                reader->failed = true;
                return false;
            }
        memcpy(target, source, (size_t)field->count * bytes);
        swap_elements(target, field->count, bytes);
        canonicalise(target, field->kind, field->count);
    }
    return true;
}

static void* spill_allocate(void* context, size_t size, size_t align) {
    (void)context, (void)align;
    return base_allocate(NULL, size);
}

static void spill_release(void* context, void* memory, size_t size) {
    if (memory != context) base_release(NULL, memory, size);
}

base_allocator ecs_spill_allocator(void* buffer) {
    return (base_allocator){spill_allocate, spill_release, buffer};
}

static uint64_t hash_written(const ecs_type* type, const void* value, uint64_t seed) {
    uint8_t buffer[ECS_STRING_BYTES_MAX + 16];
    const base_allocator spill = ecs_spill_allocator(buffer);
    base_bytes bytes = {.allocator = &spill, .data = buffer, .capacity = sizeof buffer};
    type->ops->write(value, &bytes);
    uint64_t hash = base_hash64(bytes.data, bytes.size, seed);
    base_bytes_deinit(&bytes);
    return hash;
}

static uint64_t hash_large(const ecs_type* type, const void* value, uint64_t seed) {
    base_hasher hasher;
    base_hasher_init(&hasher, seed);
    uint8_t piece[BUFFER_BYTES];
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        const uint32_t most = BUFFER_BYTES / ecs_field_kind_table[field->kind];
        uint32_t count;
        for (uint32_t first = 0; first < field->count; first += count) {
            count = field->count - first < most ? field->count - first : most;
            write_elements(piece, field, value, first, count);
            base_hasher_add(&hasher, piece, (size_t)count * ecs_field_kind_table[field->kind]);
        }
    }
    return base_hasher_end(&hasher);
}

uint64_t ecs_type_hash(const ecs_type* type, const void* value, uint64_t seed) {
    BASE_ASSERT(type);
    value = ecs_type_object(type, value);
    if (type->hash) return type->hash(value, seed);
    if (type->ops && type->ops->write) return hash_written(type, value, seed);
    if (type->object_size > BUFFER_BYTES) return hash_large(type, value, seed);
    _Alignas(8) uint8_t buffer[BUFFER_BYTES];
    uint32_t size = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        uint32_t bytes = ecs_field_kind_table[field->kind];
        const uint8_t* source = (const uint8_t*)value + field->offset;
        // One number of four bytes is by far the most frequent case.
        if (field->count == 1 && bytes == 4 && !BASE_IS_BIG_ENDIAN) {
            uint32_t bits;
            memcpy(&bits, source, 4);
            if (field->kind == ECS_FIELD_F32 &&
                (bits & UINT32_C(0x7FFFFFFF)) > UINT32_C(0x7F800000))
                memcpy(&bits, &nan32, 4);
            memcpy(buffer + size, &bits, 4);
            size += 4;
            continue;
        }
        write_elements(buffer + size, field, value, 0, field->count);
        size += field->count * bytes;
    }
    return base_hash64(buffer, size, seed);
}

static bool field_equal(const ecs_field* field, const uint8_t* a, const uint8_t* b) {
    uint32_t bytes = ecs_field_kind_table[field->kind];
    size_t size = (size_t)field->count * bytes;
    if (memcmp(a + field->offset, b + field->offset, size) == 0) return true;
    if (!ecs_field_kind_is_real(field->kind) && field->kind != ECS_FIELD_BOOL) return false;
    for (uint32_t i = 0; i < field->count; i++) {
        uint8_t left[8];
        uint8_t right[8];
        write_elements(left, field, a, i, 1);
        write_elements(right, field, b, i, 1);
        if (memcmp(left, right, bytes) != 0) return false;
    }
    return true;
}

bool ecs_type_equal(const ecs_type* type, const void* a, const void* b) {
    BASE_ASSERT(type);
    a = ecs_type_object(type, a);
    b = ecs_type_object(type, b);
    if (type->ops && type->ops->equal) return type->ops->equal(a, b);
    if (type->hash) return type->hash(a, 0) == type->hash(b, 0);
    if (type->is_dense && type->object_size && memcmp(a, b, type->object_size) == 0) return true;
    if (type->field_count == 0 && type->object_size) return memcmp(a, b, type->object_size) == 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!field_equal(&type->fields[i], a, b)) return false;
    return true;
}

bool ecs_string_is_valid(const void* text, size_t size) {
    return size <= ECS_STRING_BYTES_MAX && (size == 0 || !memchr(text, 0, size));
}

ecs_result ecs_string_set(const base_allocator* allocator, ecs_string* string, const char* text,
                          uint32_t size) {
    BASE_ASSERT(string && (text || size == 0));
    if (!ecs_string_is_valid(text, size)) return ECS_ERR_TEXT;
    if (size == string->size && (size == 0 || memcmp(string->data, text, size) == 0)) return ECS_OK;
    char* data = NULL;
    if (size) {
        data = base_allocate(allocator, (size_t)size + 1);
        memcpy(data, text, size);
        data[size] = '\0';
    }
    if (string->data) base_release(allocator, string->data, (size_t)string->size + 1);
    *string = (ecs_string){.data = data, .size = size, .version = string->version + 1};
    return ECS_OK;
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

// Texts of values are valid, and those of callers were checked (ecs_inits_check).
static void set_valid(const ecs_type_context* context, ecs_string* target, const ecs_string* from) {
    ecs_result result = ecs_string_set(context->allocator, target, from->data, from->size);
    BASE_ASSERT(result == ECS_OK);
}

static void string_copy(const ecs_type_context* context, void* target, const void* source) {
    ecs_string copy = {0};
    set_valid(context, &copy, source);
    copy.version = ((const ecs_string*)source)->version;
    *(ecs_string*)target = copy;
}

static bool string_equal(const void* a, const void* b) {
    const ecs_string* left = a;
    const ecs_string* right = b;
    return left->size == right->size &&
           (left->size == 0 || memcmp(left->data, right->data, left->size) == 0);
}

static void string_assign(const ecs_type_context* context, void* target, const void* source) {
    set_valid(context, target, source);
}

static uint64_t string_version(const void* value) {
    const ecs_string* string = value;
    return (uint64_t)string->version << 32 | string->size;
}

// A shadow begins as a copy and changes only here, so equal versions mean that the value did not
// change.
static bool string_replicate_compare(const ecs_type_context* context, void* shadow,
                                     const void* current) {
    ecs_string* old = shadow;
    const ecs_string* now = current;
    if (string_version(old) == string_version(now)) return false;
    bool differs = !string_equal(old, now);
    if (differs) set_valid(context, old, now);
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
    if (!text || !ecs_string_is_valid(text, (size_t)size)) {
        reader->failed = true;
        return false;
    }
    ecs_string* string = value;
    const ecs_string from = {(char*)(uintptr_t)text, (uint32_t)size, 0};
    set_valid(context, string, &from);
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

static void object_assign(const ecs_type* type, const ecs_type_context* context, void* target,
                          const void* source) {
    const ecs_type_ops* ops = ops_of(type);
    if (!ops) {
        if (type->object_size) memmove(target, source, type->object_size);
        return;
    }
    if (target == source) return;
    if (ops->assign) {
        ops->assign(context, target, source);
    } else if (ops->copy) {
        ops->destroy(context, target);
        ops->copy(context, target, source);
    } else {
        copy_fields(type, target, source);
    }
}

static void object_copy(const ecs_type* type, const ecs_type_context* context, void* target,
                        const void* source) {
    const ecs_type_ops* ops = ops_of(type);
    if (!ops) {
        if (type->object_size) memcpy(target, source, type->object_size);
    } else if (ops->copy) {
        ops->copy(context, target, source);
    } else {
        ops->create(context, target);
        object_assign(type, context, target, source);
    }
}

// Operations on boxed cells. A returned object is reset and kept as a created object, or destroyed.

static void boxed_create(const ecs_type* type, const ecs_type_context* context, void** cell) {
    bool is_made;
    *cell = ecs_box_take(type->box, &is_made);
    if (!is_made) object_create(type, context, *cell);
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

// The source may be the old object of the cell.
static void boxed_copy(const ecs_type* type, const ecs_type_context* context, void** cell,
                       const void* object) {
    bool is_made = false;
    void* made = NULL;
    if (ecs_box_keeps_objects(type->box)) {
        boxed_create(type, context, &made);
        object_assign(type, context, made, object);
    } else {
        made = ecs_box_take(type->box, &is_made);
        object_copy(type, context, made, object);
    }
    *cell = made;
}

void ecs_value_create(const ecs_type* type, const ecs_type_context* context, void* value) {
    BASE_ASSERT(type && (value || type->size == 0));
    if (type->box)
        boxed_create(type, context, value);
    else
        object_create(type, context, value);
}

void ecs_value_destroy(const ecs_type* type, const ecs_type_context* context, void* value) {
    BASE_ASSERT(type);
    if (type->box)
        boxed_destroy(type, context, value);
    else if (type->ops)
        type->ops->destroy(context, value);
}

void ecs_value_copy(const ecs_type* type, const ecs_type_context* context, void* target,
                    const void* source) {
    BASE_ASSERT(type && (target || type->size == 0));
    if (type->box)
        boxed_copy(type, context, target, ecs_type_object(type, source));
    else
        object_copy(type, context, target, source);
}

void ecs_value_assign(const ecs_type* type, const ecs_type_context* context, void* target,
                      const void* source) {
    object_assign(type, context, ecs_type_object_mut(type, target), ecs_type_object(type, source));
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
    ecs_value_assign(type, context, shadow, current);
    return true;
}

// The built-in types that are no containers, b to tag, as rows of a table. Components of these
// types and elements of containers use the same rows.

#define SCALAR(field_kind)                                                                         \
    { .name = "value", .kind = field_kind, .count = 1 }
#define FIELD(field_name, at, field_kind)                                                          \
    { .name = field_name, .offset = at, .kind = field_kind, .count = 1 }
#define VECTOR(a, b, c, d, bytes, kind)                                                            \
    {                                                                                              \
        FIELD(a, 0, kind), FIELD(b, bytes, kind), FIELD(c, 2 * bytes, kind),                       \
            FIELD(d, 3 * bytes, kind)                                                              \
    }

static const ecs_field field_b[] = {SCALAR(ECS_FIELD_BOOL)};
static const ecs_field field_i[] = {SCALAR(ECS_FIELD_I32)};
static const ecs_field field_i64[] = {SCALAR(ECS_FIELD_I64)};
static const ecs_field field_u8[] = {SCALAR(ECS_FIELD_U8)};
static const ecs_field field_u16[] = {SCALAR(ECS_FIELD_U16)};
static const ecs_field field_u32[] = {SCALAR(ECS_FIELD_U32)};
static const ecs_field field_u64[] = {SCALAR(ECS_FIELD_U64)};
static const ecs_field field_r[] = {SCALAR(ECS_FIELD_F32)};
static const ecs_field field_eid[] = {SCALAR(ECS_FIELD_ENTITY)};
// Of a shorter vector the first ones.
static const ecs_field field_p[] = VECTOR("x", "y", "z", "w", 4, ECS_FIELD_F32);
static const ecs_field field_ip[] = VECTOR("x", "y", "z", "w", 4, ECS_FIELD_I32);
static const ecs_field field_c[] = VECTOR("r", "g", "b", "a", 1, ECS_FIELD_U8);
static const ecs_field field_m[] = {{.name = "m", .kind = ECS_FIELD_F32, .count = 12}};

// Rows lie at their id.
#define TYPE(number, type_name, c_type, table, fields_used)                                        \
    [number] = {.name = type_name,                                                                 \
                .id = number,                                                                      \
                .size = sizeof(c_type),                                                            \
                .align = _Alignof(c_type),                                                         \
                .object_size = sizeof(c_type),                                                     \
                .fields = table,                                                                   \
                .field_count = fields_used,                                                        \
                .is_dense = true}
static const ecs_type scalars[ECS_BUILTIN_TAG + 1] = {
    TYPE(ECS_ELEMENT_B, "b", bool, field_b, 1),
    TYPE(ECS_ELEMENT_I, "i", int32_t, field_i, 1),
    TYPE(ECS_ELEMENT_I64, "i64", int64_t, field_i64, 1),
    TYPE(ECS_ELEMENT_U8, "u8", uint8_t, field_u8, 1),
    TYPE(ECS_ELEMENT_U16, "u16", uint16_t, field_u16, 1),
    TYPE(ECS_ELEMENT_U32, "u32", uint32_t, field_u32, 1),
    TYPE(ECS_ELEMENT_U64, "u64", uint64_t, field_u64, 1),
    TYPE(ECS_ELEMENT_R, "r", float, field_r, 1),
    TYPE(ECS_ELEMENT_P2, "p2", ecs_vec2, field_p, 2),
    TYPE(ECS_ELEMENT_P3, "p3", ecs_vec3, field_p, 3),
    TYPE(ECS_ELEMENT_P4, "p4", ecs_vec4, field_p, 4),
    TYPE(ECS_ELEMENT_IP2, "ip2", ecs_ivec2, field_ip, 2),
    TYPE(ECS_ELEMENT_IP3, "ip3", ecs_ivec3, field_ip, 3),
    TYPE(ECS_ELEMENT_IP4, "ip4", ecs_ivec4, field_ip, 4),
    TYPE(ECS_ELEMENT_C, "c", ecs_color, field_c, 4),
    TYPE(ECS_ELEMENT_M, "m", ecs_matrix, field_m, 1),
    [ECS_ELEMENT_T] = {.name = "t",
                       .id = ECS_ELEMENT_T,
                       .size = sizeof(ecs_string),
                       .align = _Alignof(ecs_string),
                       .object_size = sizeof(ecs_string),
                       .ops = &ecs_string_ops},
    TYPE(ECS_ELEMENT_EID, "eid", ecs_entity, field_eid, 1),
    [ECS_BUILTIN_TAG] = {.name = "tag", .id = ECS_BUILTIN_TAG, .align = 1, .is_dense = true},
};

const ecs_type* ecs_scalar_type(ecs_type_id id) {
    BASE_ASSERT(id > ECS_ELEMENT_NONE && id <= ECS_BUILTIN_TAG);
    return &scalars[id];
}
