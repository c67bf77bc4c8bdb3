// SPDX-License-Identifier: MIT
// A log has no values of untracked components, nor of tracked ones that are not replicated: only
// sums, which name the component alone, and now and then a hash of the whole world. But a keyframe
// is the whole world. So a run that differs goes on to the next keyframe, and both worlds are
// compared there. A difference may have spread by then; the first one is reported.
#include "log/log_untracked.h"

#include "base/text.h"
#include "ecs/ecs.h"

#include <inttypes.h>
#include <string.h>

static ecs_tick next_keyframe(const net_log_reader* reader, ecs_tick tick) {
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(reader, &count);
    for (uint32_t i = 0; i < count; i++)
        if (keyframes[i].tick >= tick) return keyframes[i].tick;
    return 0;
}

// The first field whose bytes differ; "value" for types without fields.
static const char* find_field(const ecs_type* type, const uint8_t* a, const uint8_t* b) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        const size_t size = (size_t)field->count * ecs_field_kind_bytes(field->kind);
        if (memcmp(a + field->offset, b + field->offset, size) != 0) return field->name;
    }
    return "value";
}

static bool compare_component(const ecs_world* log, const ecs_world* run, ecs_entity entity,
                              ecs_component_id component, net_verify_result* result) {
    const ecs_component* described = ecs_component_get(run, component);
    const ecs_type* type = ecs_type_get(run, described->type);
    const void* cell = ecs_find(log, entity, component);
    const void* here = ecs_find(run, entity, component);
    if (!cell || !here || type->size == 0) return false;
    cell = ecs_type_object(type, cell);
    here = ecs_type_object(type, here);
    if (ecs_type_equal(type, cell, here)) return false;
    result->entity = entity;
    (void)base_text_copy(result->component, sizeof result->component, described->name);
    (void)base_text_copy(result->field, sizeof result->field, find_field(type, cell, here));
    (void)ecs_type_format(type, cell, result->log_value, sizeof result->log_value);
    (void)ecs_type_format(type, here, result->value, sizeof result->value);
    return true;
}

// `name`: compare this component; NULL: those that are not tracked.
static bool is_compared(const ecs_world* run, const ecs_template_component* component,
                        const char* name) {
    if (!name) return !(component->flags & ECS_COMPONENT_TRACKED);
    return strcmp(ecs_component_get(run, component->component)->name, name) == 0;
}

static bool compare_worlds(const ecs_world* log, const ecs_world* run, const char* name,
                           net_verify_result* result) {
    for (ecs_entity at = ecs_entity_next(run, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(run, at)) {
        const ecs_template* template_ = ecs_template_get(run, ecs_entity_template(run, at));
        for (uint32_t i = 0; template_ && i < template_->component_count; i++) {
            if (!is_compared(run, &template_->components[i], name)) continue;
            if (compare_component(log, run, at, template_->components[i].component, result))
                return true;
        }
    }
    return false;
}

void net_log_find_untracked(net_log_reader* reader, const net_module* module,
                            net_log_replay* replay, net_verify_result* result) {
    const ecs_tick tick = next_keyframe(reader, result->diverged_tick);
    net_match* run = net_log_replay_match(replay);
    net_log_tick stepped;
    while (tick > 0 && net_match_tick(run) < tick)
        if (net_log_replay_step(replay, &stepped) != NET_OK) return;
    if (tick == 0) return;
    net_log_reader* again = NULL;
    net_log_replay* saved = NULL;
    const base_allocator* allocator = net_log_reader_allocator(reader);
    (void)!net_log_reader_create(allocator, net_log_reader_file(reader), NULL, &again);
    const bool is_there = again &&
                          net_log_replay_create_at(again, module, tick, NULL, &saved) == NET_OK &&
                          net_match_tick(net_log_replay_match(saved)) == tick;
    char name[sizeof result->component];
    (void)base_text_copy(name, sizeof name, result->component);
    const bool is_named = strcmp(name, "-") != 0;
    if (is_there && compare_worlds(net_match_world(net_log_replay_match(saved)),
                                   net_match_world(run), is_named ? name : NULL, result))
        base_text_format(result->note, sizeof result->note,
                         "%s; values of the keyframe after tick %" PRIu64,
                         is_named ? "its sum" : "untracked state", tick);
    net_log_replay_destroy(saved);
    net_log_reader_destroy(again);
}
