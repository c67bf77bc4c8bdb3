// SPDX-License-Identifier: MIT
// One component of one entity: handle -> record -> chunk -> column -> row.
//
// A few dependent loads, no hash; ecs/detail/fast.h has them inline, this is the rest. Writers mark
// the row, so that tracking compares that row and no other; the mark is set when the pointer is
// handed out, since the time of the write is not known.
#include "ecs/component.h"

#include "base/text.h"
#include "type/world.h"

__attribute__((noreturn, cold)) void ecs_detail_missing(const ecs_world* world, ecs_entity entity,
                                                        ecs_component_id component) {
    const ecs_component* known =
        component != ECS_COMPONENT_NONE && component <= ecs_component_count(world)
            ? ecs_component_get(world, component)
            : NULL;
    const char* is_a = ecs_entity_template_name(world, entity);
    char text[4 * ECS_NAME_BYTES_MAX];
    if (is_a)
        (void)base_text_format(text, sizeof text,
                               "entity %u:%u (%.100s) has no component '%.100s': use ecs_find",
                               ecs_entity_index(entity), ecs_entity_generation(entity), is_a,
                               known ? known->name : "that does not exist");
    else
        (void)base_text_format(text, sizeof text,
                               "entity %u:%u does not live, component '%.100s' is asked for: use "
                               "ecs_find",
                               ecs_entity_index(entity), ecs_entity_generation(entity),
                               known ? known->name : "that does not exist");
    base_assert_fail(text, __FILE__, __LINE__);
}

// Two waits per entity, one behind the other: for the record, then for the cell. So records are
// asked for well ahead, and cells as soon as their record has come: only their address is taken
// here.
void ecs_find_many(const ecs_world* world, ecs_component_id component, const ecs_entity* entities,
                   uint32_t count, const void** cells) {
    enum { RECORDS_AHEAD = 32 };
    const ecs_fast* fast = &world->fast;
    for (uint32_t i = 0; i < count + RECORDS_AHEAD; i++) {
        if (i < count) {
            const uint32_t index = ecs_entity_index(entities[i]);
            __builtin_prefetch(
                &fast->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)]);
        }
        if (i < RECORDS_AHEAD) continue;
        const void* cell = ecs_fast_cell(world, entities[i - RECORDS_AHEAD], component, false);
        __builtin_prefetch(cell);
        cells[i - RECORDS_AHEAD] = cell;
    }
}
