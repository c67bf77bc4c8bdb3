// SPDX-License-Identifier: MIT
/// Systems that write down the events they get. "ball+4" means: the system "ball" got the creation
/// of index 4.
#pragma once

#include "sample_world.h"

typedef struct hearing hearing;

/// The context of one system.
typedef struct ear {
    hearing* hearing;
    const char* name;
} ear;

struct hearing {
    store store;
    ear own; ///< for a system that needs no other
    char text[8192];
};

static inline void hear_mark(hearing* all, const char* name, char letter, uint32_t index) {
    size_t used = strlen(all->text);
    (void)snprintf(all->text + used, sizeof all->text - used, "%s%c%u ", name, letter, index);
}

static inline char hear_letter(const ecs_world* world, ecs_event_type type) {
    static const char* const names[] = {
        "EntityCreated",       "EntityRecreated", "ComponentsAppear",
        "ComponentsDisappear", "EntityDestroyed", "ComponentChanged",
        "EsOrderSet",          "BeforeClear",     "AfterClear",
    };
    static const char letters[] = "+*><-~oba";
    for (uint32_t i = 0; i < BASE_COUNT(names); i++)
        if (strcmp(ecs_event_get(world, type)->name, names[i]) == 0) return letters[i];
    return '?';
}

static inline void hear_event(const ecs_stage* stage, const ecs_event* event,
                              const ecs_rows* rows) {
    const ear* own = stage->context;
    bool is_unicast = event->target != ECS_ENTITY_NONE;
    if (is_unicast && rows->count > 0) assert_int_equal(rows->entities[0], event->target);
    if (is_unicast) assert_true(ecs_is_alive(stage->world, event->target));
    hear_mark(own->hearing, own->name, hear_letter(stage->world, event->type),
              is_unicast ? ecs_entity_index(event->target) : rows->count);
}

/// Register a handler of the named events, for entities that match the terms.
static inline void hear(hearing* all, const ear* own, const char* const* events,
                        uint32_t event_count, const ecs_term* terms, uint32_t term_count) {
    system_add(all->store.world, .name = own->name, .events = events, .event_count = event_count,
               .on_event = hear_event, .terms = terms, .term_count = term_count,
               .context = (void*)own);
}

static inline void hear_expect(hearing* all, const char* expected) {
    assert_string_equal(all->text, expected);
    all->text[0] = '\0';
}

static inline void hear_step(hearing* all) {
    step_world(all->store.world);
    ecs_world_validate(all->store.world);
}

static const char* const hear_all_events[] = {"EntityCreated", "EntityRecreated", "on_appear",
                                              "on_disappear", "EntityDestroyed"};

static inline void hear_begin(hearing* all) {
    all->text[0] = '\0';
    all->own = (ear){all, ""};
    store_begin(&all->store);
}

static inline void hear_open(hearing* all) {
    hear_begin(all);
    assert_ok(store_try_open(&all->store));
}

/// A case that hears; its store is not sealed yet. The same with a changed config.
#define HEAR_CASE(name) CASE_WITH(hearing, all, hear_open(all), store_close(&all->store), name)
#define HEAR_WITH_CASE(name, ...)                                                                  \
    CASE_WITH(hearing, all,                                                                        \
              (hear_begin(all), __VA_ARGS__, assert_ok(store_try_open(&all->store))),              \
              store_close(&all->store), name)
