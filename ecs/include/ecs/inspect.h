// SPDX-License-Identifier: MIT
/// Questions about a sealed world that a tool asks, not a game: which systems handle an event,
/// what they do with a component, and whether they write what they declare as read.
///
/// Threads: the thread that owns the world, outside of stages.
#pragma once

#include "ecs/event.h"
#include "ecs/system.h"

BASE_C_BEGIN

/// What systems of a world do with a component, by their terms and by reads and writes.
typedef enum ecs_use {
    ECS_USE_READ,
    ECS_USE_WRITE,
} ecs_use;

/// A system that handles an event, or uses a component. Zeroed: before the first.
typedef struct ecs_user {
    uint32_t next;    ///< private: where the walk goes on
    const char* name; ///< borrowed; NULL before the first
} ecs_user;

/// Walk the systems of this world that handle an event type, in their order.
/// @return false: there is none after `user`.
bool ecs_inspect_handler(const ecs_world* world, ecs_event_type type, ecs_user* user);
/// Walk the systems of this world that use a component so. A system that only requires it does not
/// use it; one that is not confined may use more than it declares.
/// @return false: there is none after `user`.
bool ecs_inspect_user(const ecs_world* world, ecs_component_id component, ecs_use use,
                      ecs_user* user);
/// Walk all systems that were registered, also those that this world lacks a tag for, but no sync
/// points. *is_present: may it run here? @return false: there is none after `user`.
bool ecs_inspect_system(const ecs_world* world, ecs_user* user, bool* is_present);
/// May rows of this template match the terms of the system, as far as its own components tell?
/// @return false also when the world has no such system, or it has no terms.
bool ecs_inspect_matches(const ecs_world* world, const char* system, ecs_template_id template_id);
/// Walk the systems of this world that are called with rows. *has_had: was one called with a row
/// since ecs_inspect_writes? @return false: there is none after `user`.
bool ecs_inspect_rows(const ecs_world* world, ecs_user* user, bool* has_had);
/// Walk the terms of systems that may run here that ask for an optional component, or exclude one
/// (*is_excluded), that no template or module has: such a term does nothing. *component is
/// borrowed. @return false: there is none after `user`.
bool ecs_inspect_optional(const ecs_world* world, ecs_user* user, const char** component,
                          bool* is_excluded);
/// @return the system that sent events of this type last; NULL: none did, or another part of the
///         game.
const char* ecs_inspect_sender(const ecs_world* world, ecs_event_type type);

/// From now on compare each column that a system declares as read before and after its call, and
/// report the first difference of each system and term: "system draw_es declares that it only reads
/// pos". Report recorded creations, too, that give a component that the template lacks and are
/// refused. Slow; for checks. `reporter` is borrowed; NULL ends it.
void ecs_inspect_writes(ecs_world* world, const base_reporter* reporter);

/// A value of a tracked component that is not what the last step left, though nothing opened it for
/// writing: neither logs nor clients have it. It was written through a pointer that only reads, or
/// through one that was kept.
typedef struct ecs_slip {
    ecs_entity entity; ///< ECS_ENTITY_NONE: none
    ecs_component_id component;
} ecs_slip;

/// Look for such a value among about `rows_max` values, further on in each call and from the
/// beginning after the last. Call it after a step, before anything else writes. UINT32_MAX: all.
/// The world stays as it is.
/// @return the first that was found.
ecs_slip ecs_inspect_slips(ecs_world* world, uint32_t rows_max);
/// Watch this value in the following steps, until it is written past tracking again;
/// ECS_ENTITY_NONE ends it. The steps do the same with and without. Allocates nothing.
void ecs_inspect_follow(ecs_world* world, ecs_slip slip);
/// Was the watched value written so since ecs_inspect_follow? *system is the one that ran then;
/// NULL: another part of the game, as a handler of events.
bool ecs_inspect_followed(const ecs_world* world, const char** system);

BASE_C_END
