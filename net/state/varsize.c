// SPDX-License-Identifier: MIT
// One variable-size value between a world and bytes.
//
// The format is the core's own (ecs_type_write, ecs_type_read), so hashes, saves and packets share
// one. A value is read into a temporary first: bytes that turn out to be damaged half way change
// nothing.
#include "state/varsize.h"

#include "base/assert.h"

static const ecs_type* type_of(const ecs_world* world, ecs_component_id component) {
    return ecs_type_get(world, ecs_component_get(world, component)->type);
}

// A created value beside the world. `memory` serves small types, as all of the core's are.
typedef struct temporary {
    const ecs_type* type;
    ecs_type_context context;
    void* value;
    _Alignas(64) uint8_t memory[64];
} temporary;

static void temporary_create(temporary* made, const ecs_world* world, ecs_component_id component) {
    made->type = type_of(world, component);
    made->context.allocator = ecs_world_allocator(world);
    made->value = made->type->size <= sizeof made->memory
                      ? made->memory
                      : base_allocate(made->context.allocator, made->type->size);
    made->type->ops->create(&made->context, made->value);
}

static void temporary_destroy(temporary* made) {
    made->type->ops->destroy(&made->context, made->value);
    if (made->value != made->memory)
        base_release(made->context.allocator, made->value, made->type->size);
}

static const void* default_of(const ecs_world* world, const net_row_template* row_template,
                              ecs_component_id component) {
    const ecs_template* source = ecs_template_get(world, row_template->id);
    return ecs_template_find_component(source, component)->value;
}

void net_varsize_write(const ecs_world* world, ecs_entity entity, ecs_component_id component,
                       base_bytes* bytes) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE && bytes);
    ecs_type_write(type_of(world, component), ecs_get(world, entity, component), bytes);
}

void net_varsize_write_default(const ecs_world* world, const net_row_template* row_template,
                               ecs_component_id component, base_bytes* bytes) {
    BASE_ASSERT(row_template && bytes);
    const void* value = default_of(world, row_template, component);
    if (value) {
        ecs_type_write(type_of(world, component), value, bytes);
        return;
    }
    temporary empty;
    temporary_create(&empty, world, component);
    ecs_type_write(empty.type, empty.value, bytes);
    temporary_destroy(&empty);
}

bool net_varsize_write_sent(const ecs_world* world, const net_row_template* row_template,
                            ecs_entity entity, ecs_component_id component, base_bytes* bytes) {
    size_t before = bytes->size;
    net_varsize_write(world, entity, component, bytes);
    if (bytes->size - before <= NET_VARSIZE_BYTES_MAX) return true;
    bytes->size = before;
    net_varsize_write_default(world, row_template, component, bytes);
    return false;
}

static bool is_equal_default(const ecs_world* world, ecs_component_id component, const void* value,
                             const void* default_) {
    const ecs_type* type = type_of(world, component);
    if (default_) return ecs_type_equal(type, value, default_);
    temporary empty;
    temporary_create(&empty, world, component);
    bool is_equal = ecs_type_equal(type, value, empty.value);
    temporary_destroy(&empty);
    return is_equal;
}

bool net_varsize_is_default(const ecs_world* world, const net_row_template* row_template,
                            ecs_entity entity, ecs_component_id component) {
    return is_equal_default(world, component, ecs_get(world, entity, component),
                            default_of(world, row_template, component));
}

bool net_varsize_same_default(const ecs_world* world, const net_row_template* a,
                              const net_row_template* b, ecs_component_id component) {
    BASE_ASSERT(a && b);
    const void* left = default_of(world, a, component);
    const void* right = default_of(world, b, component);
    if (left == right) return true;
    return is_equal_default(world, component, left ? left : right, left ? right : NULL);
}

static net_result read_value(temporary* made, const uint8_t* bytes, size_t size) {
    base_reader reader = base_reader_make(bytes, size);
    const bool is_read = ecs_type_read(made->type, &made->context, made->value, &reader);
    return is_read && base_reader_left(&reader) == 0 ? NET_OK : NET_ERR_MALFORMED;
}

net_result net_varsize_check(ecs_world* world, ecs_component_id component, const uint8_t* bytes,
                             size_t size) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE);
    if (size > NET_VARSIZE_BYTES_MAX) return NET_ERR_MALFORMED;
    temporary made;
    temporary_create(&made, world, component);
    net_result result = read_value(&made, bytes, size);
    temporary_destroy(&made);
    return result;
}

static net_result set_value(ecs_world* world, ecs_entity entity, ecs_component_id component,
                            const void* value) {
    return ecs_set(world, entity, component, value) == ECS_OK ? NET_OK : NET_ERR_UNKNOWN;
}

net_result net_varsize_apply(ecs_world* world, net_rows* rows, ecs_entity entity,
                             ecs_component_id component, const uint8_t* bytes, size_t size) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE && (bytes || size == 0));
    const ecs_template_id id = ecs_is_alive(world, entity) ? ecs_entity_template(world, entity)
                                                           : ecs_loading_template(world, entity);
    const net_row_template* row_template = id == ECS_TEMPLATE_NONE ? NULL : net_rows_find(rows, id);
    if (!row_template || !net_row_find_varsize(row_template, component)) return NET_ERR_UNKNOWN;
    const void* default_ = bytes ? NULL : default_of(world, row_template, component);
    if (default_) return set_value(world, entity, component, default_);
    temporary made;
    temporary_create(&made, world, component);
    net_result result = bytes ? read_value(&made, bytes, size) : NET_OK;
    if (result == NET_OK) result = set_value(world, entity, component, made.value);
    temporary_destroy(&made);
    return result;
}
