// SPDX-License-Identifier: MIT
// The replicated rows of a world at one moment, to find who writes to them.
#include "check/check_internal.h"

#include "net/schema.h"
#include "state/row_world.h"
#include "state/schema_rows.h"

#include <string.h>

typedef struct net_check_row {
    ecs_entity entity;
    const char* name; // of its template
    uint32_t first;   // of its words
} net_check_row;

void net_check_rows_deinit(net_check_rows* rows) {
    BASE_ARRAY_RELEASE(rows->allocator, rows->rows, rows->capacity);
    BASE_ARRAY_RELEASE(rows->allocator, rows->words, rows->word_capacity);
}

static const net_row_template* row_template_of(net_match* match, ecs_entity entity) {
    return net_rows_find(net_schema_rows(net_match_schema(match)),
                         ecs_entity_template(net_match_world(match), entity));
}

void net_check_rows_take(net_check_rows* rows, net_match* match) {
    ecs_world* world = net_match_world(match);
    rows->count = rows->word_count = 0;
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        const net_row_template* row_template = row_template_of(match, entity);
        if (!row_template) continue;
        const uint32_t fields = row_template->layout.field_count;
        if (!BASE_ARRAY_RESERVE(rows->allocator, rows->rows, rows->capacity, rows->count + 1) ||
            !BASE_ARRAY_RESERVE(rows->allocator, rows->words, rows->word_capacity,
                                rows->word_count + fields + 1))
            return;
        net_rows_read(row_template, world, entity, rows->words + rows->word_count);
        rows->rows[rows->count++] = (net_check_row){
            entity, ecs_template_get(world, row_template->id)->name, rows->word_count};
        rows->word_count += fields;
    }
}

bool net_check_rows_differ(const net_check_rows* rows, net_match* match, net_check_change* change) {
    ecs_world* world = net_match_world(match);
    for (uint32_t i = 0; i < rows->count; i++) {
        const net_check_row* row = &rows->rows[i];
        *change = (net_check_change){row->entity, row->name, NULL};
        if (!ecs_is_alive(world, row->entity)) return true;
        const net_row_template* row_template = row_template_of(match, row->entity);
        if (!row_template ||
            strcmp(ecs_template_get(world, row_template->id)->name, row->name) != 0)
            return true;
        uint64_t now[PROTO_ROW_FIELDS_MAX];
        net_rows_read(row_template, world, row->entity, now);
        const uint64_t changed = net_row_changed(row_template, rows->words + row->first, now);
        if (changed == 0) continue;
        const uint32_t key = row_template->layout.components[__builtin_ctzll(changed)].key;
        change->component = ecs_component_get(world, (ecs_component_id)key)->name;
        return true;
    }
    return false;
}
