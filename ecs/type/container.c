// SPDX-License-Identifier: MIT
// Bodies of containers: whole ones, one item, bytes.
//
// Lists, arrays and objects differ in the stride of their items and in where an item keeps its type
// and value. Everything else is one walk over items. Elements that are no containers go through the
// functions that components use (value.c).
//
// Recursion is as deep as containers are nested, at most ECS_CONTAINER_DEPTH_MAX: every way to make
// one checks that.
//
// Invariants: `bytes` is the sum of the weights of all items. The body of a nested container is
// never NULL, and its parent is the body it lies in. Names rise strictly.
#include "type/container.h"

#include "base/assert.h"
#include "base/search.h"

#include <string.h>

static size_t stride_of(ecs_element_type type) {
    if (type == ECS_ELEMENT_ARRAY) return sizeof(ecs_element);
    if (type == ECS_ELEMENT_OBJECT) return sizeof(ecs_named_element);
    return ecs_element_bytes((ecs_element_type)(type - ECS_ELEMENT_LIST));
}

ecs_element_type ecs_container_item_type(const ecs_container_body* body, uint32_t index) {
    if (body->type == ECS_ELEMENT_ARRAY) return ((const ecs_element*)body->items)[index].type;
    if (body->type == ECS_ELEMENT_OBJECT) return ecs_container_named_item(body, index)->child.type;
    return (ecs_element_type)(body->type - ECS_ELEMENT_LIST);
}

void* ecs_container_item(const ecs_container_body* body, uint32_t index) {
    if (body->type == ECS_ELEMENT_ARRAY) return &((ecs_element*)body->items)[index].as;
    if (body->type == ECS_ELEMENT_OBJECT) return &((ecs_named_element*)body->items)[index].child.as;
    return (uint8_t*)body->items + stride_of(body->type) * index;
}

static bool owns_memory(ecs_element_type type) {
    return type == ECS_ELEMENT_T || ecs_element_is_container(type);
}

// Is it a list of elements without memory of their own? Then memcpy and memcmp work on its items.
static bool is_plain_list(ecs_element_type type) {
    return ecs_element_is_list(type) && !owns_memory((ecs_element_type)(type - ECS_ELEMENT_LIST));
}

static ecs_container_body* container_body_create(const base_allocator* allocator,
                                                 ecs_element_type type) {
    BASE_ASSERT(ecs_element_is_container(type));
    ecs_container_body* body = base_allocate_zero(allocator, sizeof *body);
    body->type = type;
    return body;
}

void ecs_element_unmake(const base_allocator* allocator, ecs_element_type type, void* value) {
    BASE_ASSERT(ecs_element_is_type(type));
    if (ecs_element_is_container(type)) {
        ecs_container_body_destroy(allocator, ecs_container_body_of(value));
    } else if (type == ECS_ELEMENT_T) {
        ecs_type_context context = {allocator};
        ecs_string_ops.destroy(&context, value);
    }
}

static void destroy_item(const base_allocator* allocator, const ecs_container_body* body,
                         uint32_t index) {
    ecs_element_unmake(allocator, ecs_container_item_type(body, index),
                       ecs_container_item(body, index));
    if (body->type != ECS_ELEMENT_OBJECT) return;
    const ecs_named_element* member = ecs_container_named_item(body, index);
    base_release(allocator, member->name, (size_t)member->name_bytes + 1);
}

static void destroy_items(const base_allocator* allocator, const ecs_container_body* body) {
    for (uint32_t i = 0; i < body->count && !is_plain_list(body->type); i++)
        destroy_item(allocator, body, i);
}

void ecs_container_body_destroy(const base_allocator* allocator, ecs_container_body* body) {
    if (!body) return;
    destroy_items(allocator, body);
    base_release(allocator, body->items, body->capacity * stride_of(body->type));
    base_release(allocator, body, sizeof *body);
}

static void reserve_items(const base_allocator* allocator, ecs_container_body* body,
                          uint32_t count) {
    base_array_reserve(allocator, &body->items, &body->capacity, count, stride_of(body->type));
}

// Create an element as a copy of `source` (NULL: zero). A container always gets a body.
// @return ECS_OK; ECS_ERR_TEXT.
static ecs_result element_make(const base_allocator* allocator, ecs_element_type type, void* value,
                               const void* source) {
    BASE_ASSERT(ecs_element_is_type(type));
    if (ecs_element_is_container(type)) {
        const ecs_container_body* from = source ? ecs_container_body_of(source) : NULL;
        BASE_ASSERT(!from || from->type == type);
        ecs_container made = {.body = from ? ecs_container_body_copy(allocator, from)
                                           : container_body_create(allocator, type),
                              .type = type};
        memcpy(value, &made, sizeof made);
        return ECS_OK;
    }
    const ecs_type* info = ecs_scalar_type((ecs_type_id)type);
    if (!source) {
        memset(value, 0, info->size);
        return ECS_OK;
    }
    const ecs_string* text = type == ECS_ELEMENT_T ? source : NULL;
    if (text && !ecs_string_is_valid(text->data, text->size)) return ECS_ERR_TEXT;
    ecs_type_context context = {allocator};
    ecs_value_copy(info, &context, value, source);
    return ECS_OK;
}

// The name of a member, as it owns it.
static char* copy_name(const base_allocator* allocator, const void* name, uint32_t bytes) {
    char* copy = base_allocate(allocator, (size_t)bytes + 1);
    memcpy(copy, name, bytes);
    copy[bytes] = '\0';
    return copy;
}

// Move a created value to its item; `name` of a new member, else NULL.
static void settle(ecs_container_body* body, uint32_t index, const ecs_element* made, char* name,
                   uint32_t name_bytes) {
    BASE_ASSERT(index < body->capacity);
    if (body->type == ECS_ELEMENT_ARRAY) {
        ((ecs_element*)body->items)[index].type = made->type;
    } else if (body->type == ECS_ELEMENT_OBJECT) {
        ecs_named_element* member = &((ecs_named_element*)body->items)[index];
        member->child.type = made->type;
        if (name) member->name = name;
        if (name) member->name_bytes = name_bytes;
    }
    void* item = ecs_container_item(body, index);
    memcpy(item, &made->as, ecs_element_bytes(made->type));
    if (ecs_element_is_container(made->type)) ecs_container_body_of(item)->parent = body;
}

// Copy item `index`. The copy has room for it, and its count is `index`.
static void copy_item(const base_allocator* allocator, ecs_container_body* copy,
                      const ecs_container_body* body, uint32_t index) {
    BASE_ASSERT(copy->count == index && index < copy->capacity);
    const ecs_named_element* member =
        body->type == ECS_ELEMENT_OBJECT ? ecs_container_named_item(body, index) : NULL;
    ecs_element made = {.type = ecs_container_item_type(body, index)};
    ecs_result result =
        element_make(allocator, made.type, &made.as, ecs_container_item(body, index));
    BASE_ASSERT(result == ECS_OK); // texts of values are valid
    char* name = member ? copy_name(allocator, member->name, member->name_bytes) : NULL;
    settle(copy, index, &made, name, member ? member->name_bytes : 0);
}

ecs_container_body* ecs_container_body_copy(const base_allocator* allocator,
                                            const ecs_container_body* body) {
    ecs_container_body* copy = container_body_create(allocator, body->type);
    reserve_items(allocator, copy, body->count);
    if (is_plain_list(body->type)) {
        if (body->count) memcpy(copy->items, body->items, body->count * stride_of(body->type));
        copy->count = body->count;
    }
    for (; copy->count < body->count; copy->count++)
        copy_item(allocator, copy, body, copy->count);
    copy->bytes = body->bytes;
    copy->version = body->version;
    return copy;
}

static bool item_equal(const ecs_container_body* a, const ecs_container_body* b, uint32_t index) {
    ecs_element_type type = ecs_container_item_type(a, index);
    if (type != ecs_container_item_type(b, index)) return false;
    if (a->type == ECS_ELEMENT_OBJECT && strcmp(ecs_container_named_item(a, index)->name,
                                                ecs_container_named_item(b, index)->name) != 0)
        return false;
    const void* left = ecs_container_item(a, index);
    const void* right = ecs_container_item(b, index);
    if (ecs_element_is_container(type))
        return ecs_container_body_equal(ecs_container_body_of(left), ecs_container_body_of(right));
    return ecs_type_equal(ecs_scalar_type((ecs_type_id)type), left, right);
}

bool ecs_container_body_equal(const ecs_container_body* a, const ecs_container_body* b) {
    uint32_t count = a ? a->count : 0;
    if (count != (b ? b->count : 0)) return false;
    if (count == 0) return !a || !b || a->type == b->type;
    if (a->type != b->type || a->bytes != b->bytes) return false;
    if (is_plain_list(a->type) && memcmp(a->items, b->items, count * stride_of(a->type)) == 0)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (!item_equal(a, b, i)) return false;
    return true;
}

uint32_t ecs_container_height(const ecs_container_body* body) {
    BASE_ASSERT(body);
    uint32_t inside = 0;
    for (uint32_t i = 0; i < body->count && !ecs_element_is_list(body->type); i++) {
        if (!ecs_element_is_container(ecs_container_item_type(body, i))) continue;
        uint32_t height = ecs_container_height(ecs_container_body_of(ecs_container_item(body, i)));
        if (height > inside) inside = height;
    }
    return inside + 1;
}

uint32_t ecs_element_weight(ecs_element_type type, const void* value) {
    if (ecs_element_is_container(type)) {
        const ecs_container_body* body = ecs_container_body_of(value);
        return body ? body->bytes : 0;
    }
    if (type == ECS_ELEMENT_T) return ((const ecs_string*)value)->size;
    return ecs_element_bytes((ecs_element_type)type);
}

// Note a change in a body: raise the versions of this body and of all bodies around it, and add
// `weight` to their weights.
static void touch(ecs_container_body* body, int64_t weight) {
    for (; body; body = body->parent) {
        body->version++;
        body->bytes = (uint32_t)(body->bytes + weight);
    }
}

void ecs_container_map_entities(ecs_container_body* body,
                                ecs_entity (*map)(const void* context, ecs_entity entity),
                                const void* context) {
    for (uint32_t i = 0; body && i < body->count; i++) {
        ecs_element_type type = ecs_container_item_type(body, i);
        void* item = ecs_container_item(body, i);
        if (ecs_element_is_container(type)) {
            ecs_container_map_entities(ecs_container_body_of(item), map, context);
        } else if (type == ECS_ELEMENT_EID) {
            ecs_entity* entity = item;
            ecs_entity mapped = map(context, *entity);
            if (mapped == *entity) continue;
            *entity = mapped;
            touch(body, 0);
        } else if (ecs_element_is_list(body->type)) {
            return; // a list of another type holds no handles
        }
    }
}

// Changing a container: insert, replace or remove one item.
//
// The value is copied first, which may fail. It is copied before room is made, since it may lie
// inside the container that grows, or be that container.

ecs_container_body* ecs_container_open(const base_allocator* allocator, ecs_container* container,
                                       ecs_element_type type) {
    BASE_ASSERT(ecs_element_is_container(type) && "a list starts with ecs_list_init");
    if (!container->body) {
        container->body = container_body_create(allocator, type);
        container->type = type;
    }
    BASE_ASSERT(container->body->type == type);
    return container->body;
}

// May an item of this height and weight be added to the body?
static bool fits(const ecs_container_body* body, uint32_t height, int64_t weight) {
    uint32_t depth = height;
    const ecs_container_body* root = body;
    for (const ecs_container_body* at = body; at; at = at->parent) {
        root = at;
        depth++;
    }
    return depth <= ECS_CONTAINER_DEPTH_MAX && root->bytes + weight <= ECS_CONTAINER_BYTES_MAX;
}

// The weight of an item without its value.
static uint32_t item_weight(ecs_element_type container, uint32_t name_bytes) {
    return ecs_element_is_list(container) ? 0 : 1 + name_bytes;
}

// Make a copy of `value` that may replace an item of weight `old_weight`.
static ecs_result make_fitting(const base_allocator* allocator, const ecs_container_body* body,
                               ecs_element_type type, const void* value, int64_t old_weight,
                               ecs_element* made) {
    if (!ecs_element_is_type(type)) return ECS_ERR_TYPE;
    BASE_ASSERT(!ecs_element_is_list(body->type) || body->type == ecs_element_list_of(type));
    ecs_result result = element_make(allocator, type, &made->as, value);
    if (result != ECS_OK) return result;
    made->type = type;
    const ecs_container_body* inner =
        ecs_element_is_container(type) ? ecs_container_body_of(&made->as) : NULL;
    uint32_t height = inner ? ecs_container_height(inner) : 0;
    if (fits(body, height, (int64_t)ecs_element_weight(type, &made->as) - old_weight))
        return ECS_OK;
    ecs_element_unmake(allocator, type, &made->as);
    return ECS_ERR_FULL;
}

// Move the items from `index` on by one place, up or down.
static void shift(ecs_container_body* body, uint32_t index, int direction) {
    const size_t stride = stride_of(body->type);
    uint8_t* at = (uint8_t*)body->items + stride * index;
    if (direction > 0)
        memmove(at + stride, at, stride * (body->count - index));
    else
        memmove(at, at + stride, stride * (body->count - index - 1));
}

ecs_result ecs_container_insert(const base_allocator* allocator, ecs_container_body* body,
                                uint32_t index, const char* name, ecs_element_type type,
                                const void* value) {
    BASE_ASSERT(index <= body->count && (name != NULL) == (body->type == ECS_ELEMENT_OBJECT));
    size_t name_bytes = name ? strlen(name) : 0;
    if (name && (name_bytes == 0 || name_bytes >= ECS_CONTAINER_NAME_BYTES_MAX))
        return ECS_ERR_FULL;
    if (body->count == ECS_CONTAINER_COUNT_MAX) return ECS_ERR_FULL;
    uint32_t own = item_weight(body->type, (uint32_t)name_bytes);
    ecs_element made;
    ecs_result result = make_fitting(allocator, body, type, value, -(int64_t)own, &made);
    if (result != ECS_OK) return result;
    // Copied before the items move: the name may lie in one of them.
    char* copy = name ? copy_name(allocator, name, (uint32_t)name_bytes) : NULL;
    reserve_items(allocator, body, body->count + 1);
    shift(body, index, 1);
    body->count++;
    settle(body, index, &made, copy, (uint32_t)name_bytes);
    touch(body, (int64_t)ecs_element_weight(type, &made.as) + own);
    return ECS_OK;
}

ecs_result ecs_container_replace(const base_allocator* allocator, ecs_container_body* body,
                                 uint32_t index, ecs_element_type type, const void* value) {
    BASE_ASSERT(body && index < body->count);
    ecs_element_type old_type = ecs_container_item_type(body, index);
    void* item = ecs_container_item(body, index);
    int64_t old_weight = ecs_element_weight(old_type, item);
    ecs_element made;
    ecs_result result = make_fitting(allocator, body, type, value, old_weight, &made);
    if (result != ECS_OK) return result;
    ecs_element_unmake(allocator, old_type, item);
    settle(body, index, &made, NULL, 0);
    touch(body, (int64_t)ecs_element_weight(type, &made.as) - old_weight);
    return ECS_OK;
}

void ecs_container_remove(const base_allocator* allocator, ecs_container_body* body,
                          uint32_t index) {
    BASE_ASSERT(body && index < body->count);
    ecs_element_type type = ecs_container_item_type(body, index);
    void* item = ecs_container_item(body, index);
    uint32_t name_bytes =
        body->type == ECS_ELEMENT_OBJECT ? ecs_container_named_item(body, index)->name_bytes : 0;
    int64_t weight = (int64_t)ecs_element_weight(type, item) + item_weight(body->type, name_bytes);
    destroy_item(allocator, body, index);
    shift(body, index, -1);
    body->count--;
    touch(body, -weight);
}

void ecs_container_clear(const base_allocator* allocator, ecs_container_body* body) {
    if (!body || body->count == 0) return;
    int64_t weight = body->bytes;
    destroy_items(allocator, body);
    body->count = 0;
    touch(body, -weight);
}

bool ecs_container_seek(const ecs_container_body* body, const char* name, uint32_t* index) {
    BASE_ASSERT(name && index);
    base_search search = base_search_begin(body ? body->count : 0);
    while (base_search_next(&search)) {
        const char* middle = ecs_container_named_item(body, search.middle)->name;
        base_search_step(&search, strcmp(middle, name) < 0);
    }
    *index = search.low;
    return body && search.low < body->count &&
           strcmp(ecs_container_named_item(body, search.low)->name, name) == 0;
}

// Containers as canonical bytes (the format is in container.h), and back.
//
// The hash is the hash of the bytes, computed in pieces, so it needs no memory for all of them.
// Reading accepts any bytes: counts are checked against the limits and against the bytes that are
// left before anything is allocated, the depth is limited, and names must rise. So each value has
// exactly one encoding.

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

uint64_t ecs_container_hash(const ecs_container_body* body, uint64_t seed) {
    BASE_ASSERT(!body || ecs_element_is_container(body->type));
    uint8_t piece[PIECE_BYTES];
    const base_allocator spill = ecs_spill_allocator(piece);
    base_bytes bytes = {.allocator = &spill, .data = piece, .capacity = sizeof piece};
    base_hasher hasher;
    base_hasher_init(&hasher, seed);
    write_body(&(sink){&bytes, &hasher}, body);
    BASE_ASSERT(bytes.data == piece && "drained in time");
    base_hasher_add(&hasher, bytes.data, bytes.size);
    return base_hasher_end(&hasher);
}

typedef struct body_reader {
    const base_allocator* allocator;
    base_reader* bytes;
    uint32_t weight; ///< of everything read so far
} body_reader;

static bool fail_body(body_reader* in) {
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
        (void)fail_body(in);
        return NULL;
    }
    *size = (uint32_t)length;
    if (body->count == 0) return name;
    const ecs_named_element* last = ecs_container_named_item(body, body->count - 1);
    uint32_t shared = last->name_bytes < *size ? last->name_bytes : *size;
    int order = memcmp(last->name, name, shared);
    if (order < 0 || (order == 0 && last->name_bytes < *size)) return name;
    (void)fail_body(in);
    return NULL;
}

static bool read_value(body_reader* in, ecs_element_type type, void* value, uint32_t depth) {
    if (ecs_element_is_container(type)) {
        ecs_container_body* inner = read_body(in, type, depth + 1);
        if (!inner) return false;
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
        if (!ecs_element_is_type(type)) return fail_body(in);
        in->weight += 1 + name_bytes;
    }
    ecs_element made = {.type = (ecs_element_type)type};
    if (!read_value(in, made.type, &made.as, depth)) return false;
    if (in->weight > ECS_CONTAINER_BYTES_MAX) {
        ecs_element_unmake(in->allocator, made.type, &made.as);
        return fail_body(in);
    }
    char* copy = name ? copy_name(in->allocator, name, name_bytes) : NULL;
    settle(body, index, &made, copy, name_bytes);
    body->count++;
    body->bytes += in->weight - weight_before;
    return true;
}

static ecs_container_body* read_body(body_reader* in, ecs_element_type type, uint32_t depth) {
    uint64_t count = base_reader_varint(in->bytes);
    if (in->bytes->failed || depth > ECS_CONTAINER_DEPTH_MAX || count > ECS_CONTAINER_COUNT_MAX ||
        count > base_reader_left(in->bytes)) {
        (void)fail_body(in);
        return NULL;
    }
    ecs_container_body* body = container_body_create(in->allocator, type);
    bool is_read = true;
    reserve_items(in->allocator, body, (uint32_t)count);
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
