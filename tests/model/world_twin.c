// SPDX-License-Identifier: MIT
/// The twin uses plain loops where the real world uses archetypes, marks and queues. The model's
/// systems are written so that the real order of rows does not matter.
#include "world_twin.h"

#include <stdio.h>

static const bool is_tracked[TWIN_COMPONENTS] = {
    [TWIN_POS] = true,  [TWIN_HP] = true,   [TWIN_TITLE] = true, [TWIN_BODY] = true,
    [TWIN_TEAM] = true, [TWIN_PATH] = true, [TWIN_PROPS] = true,
};

twin_entity* twin_find(twin_world* twin, ecs_entity handle) {
    for (uint32_t i = 0; i < twin->entity_count; i++)
        if (twin->entities[i].is_alive && twin->entities[i].handle == handle)
            return &twin->entities[i];
    return NULL;
}

bool twin_equal(uint32_t component, const twin_value* a, const twin_value* b) {
    switch (component) {
    case TWIN_POS:
    case TWIN_VEL:
        return memcmp(&a->as.vec, &b->as.vec, sizeof(a->as.vec)) == 0;
    case TWIN_HP:
        return a->as.number == b->as.number;
    case TWIN_TITLE:
        return strcmp(a->as.text, b->as.text) == 0;
    case TWIN_BODY:
        return a->as.body.kind == b->as.body.kind &&
               memcmp(&a->as.body.mass, &b->as.body.mass, sizeof(float)) == 0;
    case TWIN_TEAM:
        return a->as.team == b->as.team;
    case TWIN_PATH:
        return memcmp(&a->as.path, &b->as.path, sizeof(a->as.path)) == 0;
    case TWIN_PROPS:
        return memcmp(&a->as.props, &b->as.props, sizeof(a->as.props)) == 0;
    default:
        return true;
    }
}

void twin_report_all(twin_entity* entity) {
    memcpy(entity->told, entity->values, sizeof(entity->told));
}

twin_entity* twin_create(twin_world* twin, ecs_entity handle, uint32_t shape) {
    BASE_ASSERT(twin->entity_count < TWIN_ENTITIES_MAX && twin_find(twin, handle) == NULL);
    twin_entity* entity = &twin->entities[twin->entity_count++];
    memset(entity, 0, sizeof(*entity));
    entity->handle = handle;
    entity->is_alive = true;
    entity->is_fresh = true;
    entity->shape = shape;
    memcpy(entity->values, twin->shapes[shape].defaults, sizeof(entity->values));
    twin_report_all(entity);
    twin->created[twin->created_count++] = handle;
    return entity;
}

void twin_destroy(twin_world* twin, ecs_entity handle) {
    twin_entity* entity = twin_find(twin, handle);
    if (entity != NULL) {
        entity->is_alive = false;
        twin->destroyed[twin->destroyed_count++] = handle;
    }
}

void twin_recreate(twin_world* twin, ecs_entity handle, uint32_t shape) {
    twin_entity* entity = twin_find(twin, handle);
    BASE_ASSERT(entity != NULL);
    for (uint32_t i = 0; i < TWIN_COMPONENTS; i++) {
        const twin_value* value = &twin->shapes[shape].defaults[i];
        if (!value->has || !entity->values[i].has) entity->values[i] = *value;
    }
    entity->shape = shape;
    twin_report_all(entity);
    twin->recreated[twin->recreated_count++] = handle;
}

void twin_post(twin_world* twin, const twin_event* event) {
    BASE_ASSERT(twin->queue_count < TWIN_QUEUE_MAX);
    twin->queue[twin->queue_count++] = *event;
}

static void resolve(twin_target* target, const ecs_entity* made) {
    if (target->is_pending) *target = (twin_target){false, made[target->value]};
}

void twin_apply(twin_world* twin) {
    static ecs_entity made[TWIN_QUEUE_MAX];
    uint32_t made_count = 0;
    for (uint32_t i = 0; i < twin->command_count; i++) {
        const twin_command* command = &twin->commands[i];
        if (!command->is_create) {
            twin_destroy(twin, command->entity);
            continue;
        }
        BASE_ASSERT(twin->handle_next < twin->handle_count);
        ecs_entity handle = twin->handles[twin->handle_next++];
        twin_entity* entity = twin_create(twin, handle, command->shape);
        if (entity->values[TWIN_HP].has) entity->values[TWIN_HP].as.number = command->hp;
        twin_report_all(entity);
        made[made_count++] = handle;
    }
    for (uint32_t i = 0; i < twin->queue_count; i++) {
        resolve(&twin->queue[i].target, made);
        resolve(&twin->queue[i].from, made);
    }
    twin->command_count = 0;
    twin->pending_count = 0;
}

static void on_spawn(twin_world* twin, const twin_event* event) {
    uint32_t ordinal = twin->pending_count++;
    twin->commands[twin->command_count++] =
        (twin_command){.is_create = true, .shape = event->shape, .hp = event->amount};
    twin_event hurt = {.target = {true, ordinal}, .from = {true, ordinal}, .amount = 1};
    twin_post(twin, &hurt);
}

static void on_hurt(twin_world* twin, const twin_event* event) {
    for (uint32_t i = 0; i < twin->entity_count; i++) {
        twin_entity* entity = &twin->entities[i];
        bool is_hit = event->is_broadcast || entity->handle == event->target.value;
        if (!entity->is_alive || !is_hit || !entity->values[TWIN_HP].has) continue;
        entity->values[TWIN_HP].as.number -= event->amount;
        if (!event->is_broadcast && entity->values[TWIN_HP].as.number < 0)
            twin->commands[twin->command_count++] = (twin_command){.entity = entity->handle};
    }
}

static void deliver(twin_world* twin, const twin_event* event) {
    if (!event->is_broadcast && twin_find(twin, event->target.value) == NULL) return;
    twin->exported_count += !event->is_spawn;
    if (event->is_spawn)
        on_spawn(twin, event);
    else
        on_hurt(twin, event);
}

static void flush(twin_world* twin) {
    uint32_t budget = twin->budget;
    for (;;) {
        twin_apply(twin);
        uint32_t batch = twin->queue_count < budget ? twin->queue_count : budget;
        if (batch == 0) return;
        budget -= batch;
        for (uint32_t i = 0; i < batch; i++) {
            twin_event event = twin->queue[0];
            twin->queue_count--;
            memmove(twin->queue, twin->queue + 1, twin->queue_count * sizeof(twin_event));
            deliver(twin, &event);
        }
    }
}

static void drift(twin_entity* entity) {
    if (entity->values[TWIN_POS].has && entity->values[TWIN_VEL].has) {
        entity->values[TWIN_POS].as.vec.x += entity->values[TWIN_VEL].as.vec.x;
        entity->values[TWIN_POS].as.vec.y += entity->values[TWIN_VEL].as.vec.y;
    }
}

static void age(twin_entity* entity) {
    if (entity->values[TWIN_HP].has && !entity->values[TWIN_MARK].has &&
        ecs_entity_index(entity->handle) % 5 == 0)
        entity->values[TWIN_HP].as.number--;
}

static void rename_some(twin_entity* entity, ecs_tick tick) {
    if (entity->values[TWIN_TITLE].has && ecs_entity_index(entity->handle) % 3 == tick % 3) {
        (void)snprintf(entity->values[TWIN_TITLE].as.text, TWIN_TEXT_BYTES, "t%u",
                       (unsigned)(tick / 6));
    }
}

static void go_on(twin_entity* entity, ecs_tick tick) {
    twin_path* path = &entity->values[TWIN_PATH].as.path;
    if (!entity->values[TWIN_PATH].has || ecs_entity_index(entity->handle) % 4 != tick % 4) return;
    if (path->count == TWIN_PATH_MAX)
        *path = (twin_path){0};
    else
        path->numbers[path->count++] = (int32_t)tick;
}

static void track(twin_world* twin) {
    for (uint32_t i = 0; i < twin->entity_count; i++) {
        twin_entity* entity = &twin->entities[i];
        for (uint32_t c = 0; c < TWIN_COMPONENTS && entity->is_alive; c++) {
            if (!is_tracked[c] || !entity->values[c].has ||
                twin_equal(c, &entity->values[c], &entity->told[c]))
                continue;
            if (!entity->is_fresh) {
                twin->changed[twin->changed_count++] =
                    (ecs_change){entity->handle, (ecs_component_id)c};
            }
        }
        twin_report_all(entity);
    }
}

void twin_step(twin_world* twin, ecs_tick tick) {
    flush(twin);
    for (uint32_t system = 0; system < 4; system++) {
        for (uint32_t i = 0; i < twin->entity_count; i++) {
            twin_entity* entity = &twin->entities[i];
            if (!entity->is_alive) continue;
            if (system == 0)
                drift(entity);
            else if (system == 1)
                age(entity);
            else if (system == 2)
                rename_some(entity, tick);
            else
                go_on(entity, tick);
        }
        flush(twin);
    }
    track(twin);
}

void twin_clear_lists(twin_world* twin) {
    for (uint32_t i = 0; i < twin->entity_count; i++)
        twin->entities[i].is_fresh = false;
    twin->created_count = twin->destroyed_count = twin->recreated_count = 0;
    twin->changed_count = twin->exported_count = 0;
}
