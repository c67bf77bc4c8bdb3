// SPDX-License-Identifier: MIT
// The world as lines of text, key=value, in a fixed order: archetypes by making, entities by rising
// index, components by name. Two equal worlds give equal lines, so dumps can be compared as text.
#include "ecs/debug.h"
#include "table/storage.h"
#include "type/world.h"

#include <stdio.h>
#include <string.h>

#define VALUE_BYTES (ECS_STRING_BYTES_MAX + 16u)
#define LINE_BYTES (VALUE_BYTES + 8u * ECS_NAME_BYTES_MAX)

static void dump_component(const ecs_world* world, ecs_entity entity, const char* template_name,
                           const ecs_component* component, ecs_line_fn line, void* context) {
    const ecs_type* type = ecs_type_get(world, component->type);
    char value[VALUE_BYTES];
    bool is_whole =
        ecs_type_format(type, ecs_get(world, entity, component->id), value, sizeof(value));
    char text[LINE_BYTES];
    (void)snprintf(text, sizeof(text), "entity=%u:%u template=%s component=%s type=%s value=%s%s",
                   ecs_entity_index(entity), ecs_entity_generation(entity), template_name,
                   component->name, type->name, value, is_whole ? "" : "...");
    line(context, text);
}

void ecs_dump_entity(const ecs_world* world, ecs_entity entity, ecs_line_fn line, void* context) {
    const ecs_template* template_ = ecs_template_get(world, ecs_entity_template(world, entity));
    char text[ECS_NAME_BYTES_MAX * 5];
    if (!template_) {
        (void)snprintf(text, sizeof(text), "entity=%u:%u dead", ecs_entity_index(entity),
                       ecs_entity_generation(entity));
        line(context, text);
        return;
    }
    const char* name = ecs_entity_template_name(world, entity);
    if (template_->component_count == 0) {
        (void)snprintf(text, sizeof(text), "entity=%u:%u template=%s", ecs_entity_index(entity),
                       ecs_entity_generation(entity), name);
        line(context, text);
    }
    for (uint32_t i = 0; i < template_->component_count; i++) {
        const ecs_component_id component = template_->components[i].component;
        dump_component(world, entity, name, ecs_component_get(world, component), line, context);
    }
}

// "archetype=0 rows=3 chunks=1 components=+hp,pos": a '+' in front of tracked ones.
static void dump_archetype(const ecs_world* world, const ecs_archetype* archetype, ecs_line_fn line,
                           void* context) {
    char text[LINE_BYTES];
    int used =
        snprintf(text, sizeof(text), "archetype=%u rows=%llu chunks=%u components=", archetype->id,
                 (unsigned long long)archetype->row_count, archetype->chunk_count);
    size_t at = (size_t)used;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        const char* name = ecs_component_get(world, column->component)->name;
        if (at + strlen(name) + sizeof(",+...") > sizeof(text)) {
            (void)snprintf(text + at, sizeof(text) - at, "...");
            break;
        }
        used = snprintf(text + at, sizeof(text) - at, "%s%s%s", i > 0 ? "," : "",
                        column->track != ECS_SLOT_NONE ? "+" : "", name);
        at += (size_t)used;
    }
    line(context, text);
}

void ecs_dump_world(const ecs_world* world, bool with_storage, ecs_line_fn line, void* context) {
    for (uint32_t i = 0; with_storage && i < world->storage->archetype_count; i++)
        dump_archetype(world, world->storage->archetypes[i], line, context);
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity))
        ecs_dump_entity(world, entity, line, context);
}
