// SPDX-License-Identifier: MIT
/// Commands: structural changes that systems record. They are applied at the next flush point, at
/// the latest at the end of the stage, in the order (system, range, sequence). So the result does
/// not depend on threads.
#pragma once

#include "ecs/component.h"
#include "ecs/detail/queues.h"
#include "ecs/query.h"

BASE_C_BEGIN

/// Detail: a command that is not like the last one. `kind`: the template; the component of an add
/// or remove. @return false when it is refused (counted).
bool ecs_detail_command_record(ecs_world* world, ecs_command_op op, ecs_entity target,
                               uint16_t kind, const ecs_init* inits, uint32_t init_count);
/// Detail: the words of a value; 0: the compiler does not know, or they are too many.
#define ECS_DETAIL_INIT_WORDS(inits, i) ecs_words_of(__builtin_object_size((inits)[i].value, 0))
/// Detail: a command with one or two values, which is like the last one or not.
static inline __attribute__((always_inline)) bool
ecs_detail_command_add_words(ecs_world* world, ecs_command_op op, ecs_entity target, uint16_t kind,
                             const ecs_init* inits, uint32_t first_words, uint32_t second_words) {
    ecs_command_words values = {{0, 0}, {first_words, second_words}, {{0}, {0}}};
    values.component[0] = inits[0].component;
    ecs_words_load(values.word[0], inits[0].value, first_words);
    if (second_words > 0) {
        values.component[1] = inits[1].component;
        ecs_words_load(values.word[1], inits[1].value, second_words);
    }
    if (ecs_detail_command_join_words(ecs_fast_of(world)->commands, op, target, kind, &values))
        return true;
    const ecs_words first = ecs_words_kept(values.word[0], first_words);
    if (second_words == 0) {
        const ecs_init copy = {values.component[0], &first};
        return ecs_detail_command_record(world, op, target, kind, &copy, 1);
    }
    const ecs_words second = ecs_words_kept(values.word[1], second_words);
    const ecs_init copies[] = {{values.component[0], &first}, {values.component[1], &second}};
    return ecs_detail_command_record(world, op, target, kind, copies, 2);
}
/// Detail: a command.
static inline __attribute__((always_inline)) bool
ecs_detail_command_add(ecs_world* world, ecs_command_op op, ecs_entity target, uint16_t kind,
                       const ecs_init* inits, uint32_t init_count) {
    if (__builtin_constant_p(init_count) && init_count == 1 && ECS_DETAIL_INIT_WORDS(inits, 0) > 0)
        return ecs_detail_command_add_words(world, op, target, kind, inits,
                                            ECS_DETAIL_INIT_WORDS(inits, 0), 0);
    if (__builtin_constant_p(init_count) && init_count == 2 &&
        ECS_DETAIL_INIT_WORDS(inits, 0) > 0 && ECS_DETAIL_INIT_WORDS(inits, 1) > 0)
        return ecs_detail_command_add_words(world, op, target, kind, inits,
                                            ECS_DETAIL_INIT_WORDS(inits, 0),
                                            ECS_DETAIL_INIT_WORDS(inits, 1));
    return ecs_detail_command_join(ecs_fast_of(world)->commands, op, target, kind, inits,
                                   init_count) ||
           ecs_detail_command_record(world, op, target, kind, inits, init_count);
}
/// Record a creation. Values are copied. Flush points come after each system and after each batch
/// of events.
/// @return a placeholder. Until the next flush point, commands and events may name it as a target
///         and in entity fields of values. Do not keep it longer: it is given out again then.
///         ECS_ENTITY_NONE when the queue is full or the template is unknown (counted in
///         commands_refused).
static inline __attribute__((always_inline)) ecs_entity
ecs_command_create(ecs_world* world, ecs_template_id template_id, const ecs_init* inits,
                   uint32_t init_count) {
    ecs_command_view* view = ecs_fast_of(world)->commands;
    const ecs_entity placeholder = ecs_entity_make(view->created_count + 1, 0);
    if (!ecs_detail_command_add(world, ECS_COMMAND_CREATE, placeholder, template_id, inits,
                                init_count))
        return ECS_ENTITY_NONE;
    view->created_count++;
    return placeholder;
}
/// Record a destruction. A handle that is stale when it is applied is ignored (counted in
/// stale_handles).
/// @return false when the queue is full (counted in commands_refused).
static inline bool ecs_command_destroy(ecs_world* world, ecs_entity entity) {
    return ecs_detail_command_add(world, ECS_COMMAND_DESTROY, entity, ECS_TEMPLATE_NONE, NULL, 0);
}
/// Record the destruction of every entity that matches now. @return false when the queue was full.
static inline bool ecs_command_destroy_all(ecs_world* world, ecs_query* query) {
    bool is_recorded = true;
    ecs_query_iter it = ecs_query_begin(world, query);
    while (ecs_query_next(&it))
        for (uint32_t i = 0; i < it.rows.count; i++)
            is_recorded &= ecs_command_destroy(world, it.rows.entities[i]);
    return is_recorded;
}
/// Record a recreation, or a new value of one component. Values are copied. Stale handles as above.
/// @return false when the queue is full or the template is unknown (counted in commands_refused).
static inline __attribute__((always_inline)) bool
ecs_command_recreate(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                     const ecs_init* inits, uint32_t init_count) {
    return ecs_detail_command_add(world, ECS_COMMAND_RECREATE, entity, template_id, inits,
                                  init_count);
}
static inline __attribute__((always_inline)) bool ecs_command_set(ecs_world* world,
                                                                  ecs_entity entity,
                                                                  ecs_component_id component,
                                                                  const void* value) {
    const ecs_init init = {component, value};
    return ecs_detail_command_add(world, ECS_COMMAND_SET, entity, ECS_TEMPLATE_NONE, &init, 1);
}
/// Apply all recorded commands. Outside of stages only (asserted); inside, the flush points do it.
void ecs_command_flush(ecs_world* world);

BASE_C_END
