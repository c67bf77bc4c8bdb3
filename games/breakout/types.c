// SPDX-License-Identifier: MIT
// Registers the structs of breakout.h. shoal-esgen finds most of them; the struct that names a
// resource is registered by hand.

#include "breakout.h"
#include "types.es.h"

#include "base/text.h"

#include <stddef.h>

ES_REGISTER_TYPES

static void clear_level(const ecs_type_context* context, void* value) {
    (void)context;
    *(breakout_level*)value = (breakout_level){0};
}

// A level needs its picture: resource "3" of kind "level".
static uint32_t request_picture(const void* value, ecs_resource* resources, uint32_t capacity) {
    const breakout_level* level = value;
    if (level->number < 1) return 0;
    if (capacity > 0) {
        (void)base_text_copy(resources[0].kind, sizeof resources[0].kind, "level");
        (void)base_text_format(resources[0].name, sizeof resources[0].name, "%d", level->number);
    }
    return 1;
}

ecs_result breakout_register_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field fields[] = {
        {"number", offsetof(breakout_level, number), ECS_FIELD_I32, 1, {0, 0, 0}}};
    static const ecs_type_ops ops = {
        .create = clear_level, .destroy = clear_level, .request = request_picture};
    const ecs_type_desc level = {"BreakoutLevel", sizeof(breakout_level), _Alignof(breakout_level),
                                 fields,          BASE_COUNT(fields),     &ops};
    ecs_type_id id;
    ecs_result result = types_register_types(world, reporter);
    return result ? result : ecs_type_register_as(world, &level, 0, reporter, &id);
}
