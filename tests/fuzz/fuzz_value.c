// SPDX-License-Identifier: MIT
// Any bytes as a list, array or object. They are refused, or give a value within its limits that is
// the same when its bytes are read again. The first byte chooses the type.
#include "fuzz.h"

#include "base/assert.h"
#include "type/container.h"

static void check(ecs_element_type type, const ecs_container_body* body) {
    BASE_ASSERT(body->type == type && body->bytes <= ECS_CONTAINER_BYTES_MAX && !body->parent);
    BASE_ASSERT(ecs_container_height(body) <= ECS_CONTAINER_DEPTH_MAX);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    ecs_container_write(body, &bytes);
    BASE_ASSERT(ecs_container_hash(body, 7) == base_hash64(bytes.data, bytes.size, 7));
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    ecs_container_body* again = ecs_container_read(NULL, type, &reader);
    BASE_ASSERT(again && base_reader_left(&reader) == 0);
    BASE_ASSERT(ecs_container_body_equal(body, again) && again->bytes == body->bytes);
    ecs_container_body* copy = ecs_container_body_copy(NULL, body);
    BASE_ASSERT(copy && ecs_container_body_equal(copy, body));
    char text[256];
    const ecs_container container = {copy, type};
    (void)ecs_type_format(ecs_builtin_type((ecs_type_id)type), &container, text, sizeof text);
    ecs_container_clear(NULL, copy);
    BASE_ASSERT(copy->bytes == 0);
    ecs_container_body_destroy(NULL, copy);
    ecs_container_body_destroy(NULL, again);
    base_bytes_deinit(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    uint32_t containers = ECS_ELEMENT_TYPE_END - ECS_ELEMENT_LIST - 1;
    ecs_element_type type = (ecs_element_type)(ECS_ELEMENT_LIST + 1 + data[0] % containers);
    base_reader reader = base_reader_make(data + 1, size - 1);
    ecs_container_body* body = ecs_container_read(NULL, type, &reader);
    BASE_ASSERT((body == NULL) == reader.failed);
    if (body) check(type, body);
    ecs_container_body_destroy(NULL, body);
    return 0;
}
