// SPDX-License-Identifier: MIT
// Any bytes as a datablock: it is loaded as a whole or refused as a whole, and composed with
// itself.
#include "fuzz.h"

#include "base/assert.h"
#include "base/hash.h"
#include "ecs/ecs.h"

typedef struct fuzz_body {
    ecs_vec3 velocity;
    float mass;
    uint8_t flags[4];
} fuzz_body;

static const ecs_field fuzz_body_fields[] = {
    {.name = "velocity",
     .offset = offsetof(fuzz_body, velocity),
     .kind = ECS_FIELD_F32,
     .count = 3},
    {.name = "mass", .offset = offsetof(fuzz_body, mass), .kind = ECS_FIELD_F32, .count = 1},
    {.name = "flags", .offset = offsetof(fuzz_body, flags), .kind = ECS_FIELD_U8, .count = 4},
};

static void count_report(void* context, const char* file, uint32_t line, const char* message) {
    (void)file, (void)line;
    BASE_ASSERT(message && *message);
    ++*(uint32_t*)context;
}

/// Write a value and read it back: it must be the same.
static void check_bytes(const ecs_type* type, const void* value) {
    const ecs_type_context heap = {NULL};
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    ecs_type_write(type, value, &bytes);
    BASE_ASSERT(ecs_type_hash(type, value, 0) == base_hash64(bytes.data, bytes.size, 0));
    _Alignas(8) uint8_t copy[sizeof(ecs_container)];
    BASE_ASSERT(type->size <= sizeof copy);
    type->ops->create(&heap, copy);
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    bool is_read = ecs_type_read(type, &heap, copy, &reader);
    BASE_ASSERT(is_read && base_reader_left(&reader) == 0 && ecs_type_equal(type, value, copy));
    type->ops->destroy(&heap, copy);
    base_bytes_deinit(&bytes);
}

/// Check that every default can be written, hashed and printed.
static void check_template(const ecs_world* world, const ecs_template* template_) {
    for (uint32_t i = 0; i < template_->component_count; i++) {
        const ecs_template_component* component = &template_->components[i];
        const ecs_component* info = ecs_component_get(world, component->component);
        BASE_ASSERT(info && component->value);
        const ecs_type* type = ecs_type_get(world, info->type);
        char text[64];
        (void)ecs_type_format(type, component->value, text, sizeof text);
        (void)ecs_type_hash(type, component->value, 0);
        BASE_ASSERT(ecs_type_equal(type, component->value, component->value));
        if (type->ops) check_bytes(type, component->value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const char* const tags[] = {"server"};
    ecs_world_config config = ecs_world_config_default();
    config.tags = tags;
    config.tag_count = 1;
    config.limits.replicated_index_max = 2048;
    config.limits.local_entities_max = 2048;
    config.limits.events_queued_max = 16;
    config.limits.commands_queued_max = 16;
    ecs_world* world;
    if (ecs_world_create(&config, &world) != ECS_OK) return 0;
    ecs_type_desc desc = {.name = "RigidBody",
                          .size = sizeof(fuzz_body),
                          .align = _Alignof(fuzz_body),
                          .fields = fuzz_body_fields,
                          .field_count = BASE_COUNT(fuzz_body_fields)};
    if (ecs_type_register(world, &desc, NULL) == ECS_OK) {
        uint32_t reports = 0;
        base_reporter reporter = {count_report, &reports};
        ecs_result result =
            ecs_template_load(world, "fuzz.blk", (const char*)data, size, &reporter);
        uint32_t count = ecs_template_count(world);
        if (result != ECS_OK) {
            BASE_ASSERT(reports > 0);
            BASE_ASSERT(count == 0);
        }
        for (uint32_t id = 1; id <= count; id++)
            check_template(world, ecs_template_get(world, (ecs_template_id)id));
        if (result == ECS_OK && ecs_world_seal(world, NULL) == ECS_OK) {
            reports = 0;
            result = ecs_scene_create(world, &reporter);
            BASE_ASSERT(reports == (result != ECS_OK));
        }
        ecs_template_id parts[] = {1, (ecs_template_id)count};
        ecs_template_id composed = ecs_template_compose(world, parts, 2);
        if (composed != ECS_TEMPLATE_NONE) check_template(world, ecs_template_get(world, composed));
    }
    ecs_world_destroy(world);
    return 0;
}
