// SPDX-License-Identifier: MIT
// The rule of inheritance and composition: later slots override earlier ones where they state
// something. Flags are inherited one by one; a quantisation, tags and a value as a whole. The
// result is a row of the registry: all slots, for templates that inherit, and the components that
// exist in this world, for all other code.
#include "template/template_set.h"

#include "type/type_registry.h"
#include "type/world.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

static void lay_over(ecs_template_slot* under, const ecs_template_slot* over) {
    under->flags = (uint8_t)((under->flags & ~over->stated) | (over->flags & over->stated));
    under->stated |= over->stated;
    if (over->is_quantised) {
        under->is_quantised = true;
        under->quant = over->quant;
    }
    if (over->has_teleport) {
        under->has_teleport = true;
        under->teleport = over->teleport;
    }
    if (over->value) under->value = over->value;
    if (over->tags) under->tags = over->tags;
    if (over->visible) under->visible = over->visible;
    if (over->integral) under->integral = over->integral;
    under->line = over->line;
}

bool ecs_template_fold_add(ecs_template_fold* fold, const ecs_template_slot* slots,
                           uint32_t count) {
    BASE_ASSERT(fold->count <= ECS_TEMPLATE_COMPONENTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint16_t* where = &fold->where[slots[i].component];
        if (*where) {
            lay_over(&fold->slots[*where - 1], &slots[i]);
            continue;
        }
        if (fold->count == ECS_TEMPLATE_COMPONENTS_MAX) return false;
        fold->slots[fold->count++] = slots[i];
        *where = (uint16_t)fold->count;
    }
    return true;
}

ecs_template_slot* ecs_template_fold_find(ecs_template_fold* fold, ecs_component_id component) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE && component <= ECS_COMPONENTS_MAX);
    uint16_t where = fold->where[component];
    return where ? &fold->slots[where - 1] : NULL;
}

bool ecs_template_tags_match(const ecs_world* world, const char* tags) {
    static const char separators[] = ",; \t";
    while (tags && *tags) {
        size_t size = strcspn(tags, separators);
        char tag[ECS_NAME_BYTES_MAX];
        if (size >= sizeof tag) return false;
        memcpy(tag, tags, size);
        tag[size] = '\0';
        bool is_there = size == 0;
        for (uint32_t i = 0; i < world->tag_count && !is_there; i++)
            is_there = strcmp(world->tags[i], tag) == 0;
        if (!is_there) return false;
        tags += size;
        tags += strspn(tags, separators);
    }
    return true;
}

static const char* component_name(const ecs_world* world, const ecs_template_set* set,
                                  ecs_component_id id) {
    return set ? ecs_template_set_component_name(set, id) : ecs_component_get(world, id)->name;
}

static ecs_type_id component_type(const ecs_world* world, const ecs_template_set* set,
                                  ecs_component_id id) {
    return set ? ecs_template_set_component_type(set, id) : ecs_component_get(world, id)->type;
}

// Sort positions by name. Insertion sort: inherited slots are sorted already, so few of them move.
static void sort_by_name(const ecs_world* world, const ecs_template_set* set,
                         const ecs_template_slot* slots, uint32_t count, uint16_t* order) {
    const char* names[ECS_TEMPLATE_COMPONENTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const char* name = component_name(world, set, slots[i].component);
        uint32_t at = i;
        for (; at > 0 && strcmp(names[at - 1], name) > 0; at--) {
            names[at] = names[at - 1];
            order[at] = order[at - 1];
        }
        names[at] = name;
        order[at] = (uint16_t)i;
    }
}

static const void* zero_value(ecs_world* world, ecs_type_id type_id) {
    ecs_templates* templates = world->templates;
    const ecs_type* type = ecs_type_get(world, type_id);
    void** zero = &templates->zeros[type_id - 1];
    if (!*zero) {
        *zero = base_allocate_zero(world->allocator, type->size);
        ecs_type_context context = {world->allocator};
        if (*zero && !ecs_value_create(type, &context, *zero)) {
            base_release(world->allocator, *zero, type->size);
            *zero = NULL;
        }
    }
    return *zero;
}

// Fill in the public components. @return false when memory for a default value ran out.
static bool add_component(ecs_world* world, ecs_template_row* row,
                          ecs_template_component* components, const ecs_template_slot* slot,
                          ecs_type_id type) {
    uint32_t flags = slot->flags;
    if (flags & ECS_COMPONENT_REPLICATED) flags |= ECS_COMPONENT_TRACKED;
    // A later part of a composition may have removed replication. Then nothing arrives that could
    // be interpolated.
    if (!(flags & ECS_COMPONENT_REPLICATED)) flags &= ~(uint32_t)ECS_COMPONENT_INTERPOLATED;
    // A replicated component exists at both ends, regardless of its tags.
    bool is_replicated = (flags & ECS_COMPONENT_REPLICATED) != 0;
    if (!is_replicated && !ecs_template_tags_match(world, slot->tags)) return true;
    const void* value = slot->value ? slot->value : zero_value(world, type);
    if (!value) return false;
    // Words about the wire mean nothing for a component that is not replicated.
    const char* visible = is_replicated ? slot->visible : NULL;
    const char* integral = is_replicated ? slot->integral : NULL;
    components[row->public.component_count++] = (ecs_template_component){
        .component = slot->component,
        .flags = flags & ~ECS_SLOT_ROTATION,
        .quant = slot->quant,
        .value = value,
        .teleport = flags & ECS_COMPONENT_INTERPOLATED ? slot->teleport : 0,
        .line = slot->line,
        .visible = visible && strcmp(visible, "public") != 0 ? visible : NULL,
        .integral = integral && *integral ? integral : NULL,
        .is_rotation = is_replicated && (flags & ECS_SLOT_ROTATION),
    };
    row->public.is_replicated = row->public.is_replicated || is_replicated;
    return true;
}

static size_t text_bytes(const char* text) {
    return text ? strlen(text) + 1 : 0;
}

// Copy a text to *memory, and return the copy.
static void own_text(const char** text, char** memory) {
    if (!*text) return;
    size_t size = strlen(*text) + 1;
    memcpy(*memory, *text, size);
    *text = *memory;
    *memory += size;
}

ecs_template_row* ecs_template_row_create(ecs_world* world, const ecs_template_set* set,
                                          const ecs_template_slot* slots, uint32_t count) {
    BASE_ASSERT(count <= ECS_TEMPLATE_COMPONENTS_MAX && (slots || count == 0));
    BASE_ASSERT(count <= ECS_TEMPLATE_COMPONENTS_MAX);
    size_t texts_bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        texts_bytes += text_bytes(slots[i].tags) + text_bytes(slots[i].visible) +
                       text_bytes(slots[i].integral);
    size_t bytes = sizeof(ecs_template_row) +
                   count * (sizeof(ecs_template_slot) + sizeof(ecs_template_component)) +
                   texts_bytes;
    ecs_template_row* row = base_allocate_zero(world->allocator, bytes);
    if (!row) return NULL;
    row->bytes = bytes;
    row->slots = (ecs_template_slot*)(void*)(row + 1);
    row->slot_count = count;
    ecs_template_component* components = (ecs_template_component*)(void*)(row->slots + count);
    char* texts = (char*)(components + count);
    row->public.components = components;
    row->public.importance = 1;

    uint16_t order[ECS_TEMPLATE_COMPONENTS_MAX];
    sort_by_name(world, set, slots, count, order);
    for (uint32_t i = 0; i < count; i++) {
        ecs_template_slot* slot = &row->slots[i];
        *slot = slots[order[i]];
        own_text(&slot->tags, &texts);
        own_text(&slot->visible, &texts);
        own_text(&slot->integral, &texts);
        if (!add_component(world, row, components, slot,
                           component_type(world, set, slot->component))) {
            ecs_template_row_destroy(world, row);
            return NULL;
        }
    }
    return row;
}

void ecs_template_row_destroy(ecs_world* world, ecs_template_row* row) {
    if (row) base_release(world->allocator, row, row->bytes);
}
