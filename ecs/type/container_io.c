// SPDX-License-Identifier: MIT
// Containers as canonical bytes (the format is in container.h), and back.
//
// The hash is the hash of the bytes, computed in pieces, so it needs no memory for all of them.
// Reading accepts any bytes: counts are checked against the limits and against the bytes that are
// left before anything is allocated, the depth is limited, and names must rise. So each value has
// exactly one encoding.
#include "type/container.h"

#include "base/assert.h"

#include <string.h>

enum { PIECE_BYTES = 2 * ECS_STRING_BYTES_MAX };

// Where bytes go: to `bytes`, and from there to the hasher if there is one. It is emptied in time,
// so that the largest single write always fits: a name and a text.
typedef struct sink {
    base_bytes* bytes;
    base_hasher* hasher;
} sink;

static void drain(const sink* out) {
    if (!out->hasher || out->bytes->size < PIECE_BYTES / 4) return;
    base_hasher_add(out->hasher, out->bytes->data, out->bytes->size);
    base_bytes_clear(out->bytes);
}

static void write_body(const sink* out, const ecs_container_body* body) {
    uint32_t count = body ? body->count : 0;
    base_bytes_write_varint(out->bytes, count);
    for (uint32_t i = 0; i < count; i++) {
        ecs_element_type type = ecs_container_item_type(body, i);
        const void* value = ecs_container_item(body, i);
        if (body->type == ECS_ELEMENT_OBJECT) {
            const ecs_named_element* member = ecs_container_named_item(body, i);
            base_bytes_write_varint(out->bytes, member->name_bytes);
            base_bytes_write(out->bytes, member->name, member->name_bytes);
        }
        if (!ecs_element_is_list(body->type)) base_bytes_write_u8(out->bytes, (uint8_t)type);
        if (ecs_element_is_container(type))
            write_body(out, ecs_container_body_of(value));
        else
            ecs_type_write(ecs_scalar_type((ecs_type_id)type), value, out->bytes);
        drain(out);
    }
}

void ecs_container_write(const ecs_container_body* body, base_bytes* bytes) {
    write_body(&(sink){bytes, NULL}, body);
}

static void* piece_allocate(void* context, size_t size, size_t align) {
    (void)context, (void)size, (void)align;
    return NULL;
}

static void piece_release(void* context, void* memory, size_t size) {
    (void)context, (void)memory, (void)size;
}

uint64_t ecs_container_hash(const ecs_container_body* body, uint64_t seed) {
    BASE_ASSERT(!body || ecs_element_is_container(body->type));
    uint8_t piece[PIECE_BYTES];
    const base_allocator fixed = {piece_allocate, piece_release, NULL};
    base_bytes bytes = {.allocator = &fixed, .data = piece, .capacity = sizeof piece};
    base_hasher hasher;
    base_hasher_init(&hasher, seed);
    write_body(&(sink){&bytes, &hasher}, body);
    BASE_ASSERT(!bytes.failed);
    base_hasher_add(&hasher, bytes.data, bytes.size);
    return base_hasher_end(&hasher);
}

typedef struct body_reader {
    const base_allocator* allocator;
    base_reader* bytes;
    uint32_t weight; ///< of everything read so far
} body_reader;

static bool fail(body_reader* in) {
    in->bytes->failed = true;
    return false;
}

static ecs_container_body* read_body(body_reader* in, ecs_element_type type, uint32_t depth);

// Read the name of the next item, borrowed. It must be above the previous name.
static const uint8_t* read_name(body_reader* in, const ecs_container_body* body, uint32_t* size) {
    uint64_t length = base_reader_varint(in->bytes);
    const uint8_t* name = NULL;
    if (length > 0 && length < ECS_CONTAINER_NAME_BYTES_MAX)
        name = base_reader_skip(in->bytes, (size_t)length);
    if (!name || memchr(name, 0, (size_t)length)) {
        (void)fail(in);
        return NULL;
    }
    *size = (uint32_t)length;
    if (body->count == 0) return name;
    const ecs_named_element* last = ecs_container_named_item(body, body->count - 1);
    uint32_t shared = last->name_bytes < *size ? last->name_bytes : *size;
    int order = memcmp(last->name, name, shared);
    if (order < 0 || (order == 0 && last->name_bytes < *size)) return name;
    (void)fail(in);
    return NULL;
}

static bool read_value(body_reader* in, ecs_container_body* body, ecs_element_type type,
                       void* value, uint32_t depth) {
    if (ecs_element_is_container(type)) {
        ecs_container_body* inner = read_body(in, type, depth + 1);
        if (!inner) return false;
        inner->parent = body;
        *(ecs_container*)value = (ecs_container){inner, type};
        return true;
    }
    const ecs_type* info = ecs_scalar_type((ecs_type_id)type);
    memset(value, 0, info->size);
    ecs_type_context context = {in->allocator};
    if (!ecs_type_read(info, &context, value, in->bytes)) return false;
    in->weight += ecs_element_weight(type, value);
    return true;
}

// Read the next item of a body that has room for it.
static bool read_item(body_reader* in, ecs_container_body* body, uint32_t depth) {
    uint32_t index = body->count;
    uint32_t weight_before = in->weight;
    uint32_t name_bytes = 0;
    const uint8_t* name = NULL;
    if (body->type == ECS_ELEMENT_OBJECT) {
        name = read_name(in, body, &name_bytes);
        if (!name) return false;
    }
    uint32_t type = body->type - ECS_ELEMENT_LIST;
    if (!ecs_element_is_list(body->type)) {
        type = base_reader_u8(in->bytes);
        if (!ecs_element_is_type(type)) return fail(in);
        in->weight += 1 + name_bytes;
    }
    ecs_element made;
    if (!read_value(in, body, (ecs_element_type)type, &made.as, depth)) return false;
    char* copy = NULL;
    if (in->weight <= ECS_CONTAINER_BYTES_MAX && name) {
        copy = base_allocate(in->allocator, (size_t)name_bytes + 1);
        if (copy) {
            memcpy(copy, name, name_bytes);
            copy[name_bytes] = '\0';
        }
    }
    if (in->weight > ECS_CONTAINER_BYTES_MAX || (name && !copy)) {
        ecs_element_unmake(in->allocator, (ecs_element_type)type, &made.as);
        return in->weight > ECS_CONTAINER_BYTES_MAX ? fail(in) : false;
    }
    if (body->type == ECS_ELEMENT_ARRAY) {
        ((ecs_element*)body->items)[index].type = (ecs_element_type)type;
    } else if (name) {
        ecs_named_element* member = &((ecs_named_element*)body->items)[index];
        *member = (ecs_named_element){.name = copy, .name_bytes = name_bytes};
        member->child.type = (ecs_element_type)type;
    }
    memcpy(ecs_container_item(body, index), &made.as, ecs_element_bytes((ecs_element_type)type));
    body->count++;
    body->bytes += in->weight - weight_before;
    return true;
}

static ecs_container_body* read_body(body_reader* in, ecs_element_type type, uint32_t depth) {
    uint64_t count = base_reader_varint(in->bytes);
    if (in->bytes->failed || depth > ECS_CONTAINER_DEPTH_MAX || count > ECS_CONTAINER_COUNT_MAX ||
        count > base_reader_left(in->bytes)) {
        (void)fail(in);
        return NULL;
    }
    ecs_container_body* body = ecs_container_body_create(in->allocator, type);
    if (!body) return NULL;
    bool is_read = ecs_container_reserve(in->allocator, body, (uint32_t)count) == ECS_OK;
    while (is_read && body->count < count)
        is_read = read_item(in, body, depth);
    if (is_read) return body;
    ecs_container_body_destroy(in->allocator, body);
    return NULL;
}

ecs_container_body* ecs_container_read(const base_allocator* allocator, ecs_element_type type,
                                       base_reader* reader) {
    BASE_ASSERT(ecs_element_is_container(type));
    body_reader in = {.allocator = allocator, .bytes = reader};
    size_t first = reader->offset;
    ecs_container_body* body = read_body(&in, type, 1);
    // The version comes from the bytes: a value and its shadow that are read separately and differ
    // must not get the same version.
    if (body) body->version = base_hash64(reader->data + first, reader->offset - first, 0);
    return body;
}
