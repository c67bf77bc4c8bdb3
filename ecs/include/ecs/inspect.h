// SPDX-License-Identifier: MIT
/// Questions about a sealed world that a tool asks, not a game: which systems handle an event,
/// what they do with a component, and whether they write what they declare as read. And an edit by
/// hand.
///
/// Threads: the thread that owns the world, outside of stages.
#pragma once

#include "ecs/change.h"
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
/// Walk the systems of this world that are called with rows, and the handlers of events. *has_had:
/// was one called with a row or an event since ecs_inspect_writes? @return false: there is none
/// after `user`.
bool ecs_inspect_rows(const ecs_world* world, ecs_user* user, bool* has_had);
/// Walk the terms of systems that may run here that ask for an optional component, or exclude one
/// (*is_excluded), that no template or module has: such a term does nothing. *component is
/// borrowed. @return false: there is none after `user`.
bool ecs_inspect_optional(const ecs_world* world, ecs_user* user, const char** component,
                          bool* is_excluded);
/// @return the system that sent events of this type last; NULL: none did, or another part of the
///         game.
const char* ecs_inspect_sender(const ecs_world* world, ecs_event_type type);

/// The components that a system of this world uses so, and the other names that it declares.
/// @return false: there is none after `user`, or no such system.
bool ecs_inspect_use(const ecs_world* world, const char* system, ecs_use use, ecs_user* user);
/// The event types that a system handles.
/// @return false: there is none after `user`, or no such system.
bool ecs_inspect_event(const ecs_world* world, const char* system, ecs_user* user);

/// Nanoseconds of any clock that does not go back. Called from all threads of a step.
typedef uint64_t (*ecs_clock_fn)(void);
/// What a system did since ecs_inspect_times, without what it does with events. With several
/// threads its times are added up.
typedef struct ecs_system_times {
    uint64_t ticks;      ///< in which it was called
    uint64_t rows;       ///< that it was called with
    uint64_t ns, ns_max; ///< together, and the longest tick
    uint64_t ns_tick;    ///< private: of the tick that runs
} ecs_system_times;
/// From now on measure the systems, all from zero; NULL ends it. A system costs two calls of the
/// clock a tick, with ranges two for each. Between steps.
void ecs_inspect_times(ecs_world* world, ecs_clock_fn clock);
/// The times of the system at a position of a stage. @return false past the end.
bool ecs_inspect_system_times(const ecs_world* world, uint32_t stage, uint32_t position,
                              ecs_system_times* times);

/// From now on compare each column that a system declares as read before and after its call, and
/// report the first difference of each system and term: "system draw_es declares that it only reads
/// pos". Report recorded creations, too, that give a component that the template lacks and are
/// refused. Slow; for checks. `reporter` is borrowed; NULL ends it.
void ecs_inspect_writes(ecs_world* world, const base_reporter* reporter);

/// A value of a tracked component that is not what the last step left, though nothing opened it for
/// writing: neither logs nor clients have it. It was written through a pointer that only reads, or
/// through one that was kept.
typedef ecs_change ecs_slip; ///< entity ECS_ENTITY_NONE: none

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

/// Called after each system that ran, and with `system` NULL after the commands and events that
/// follow it. Reads the world, and nothing else.
typedef void (*ecs_after_fn)(void* context, const ecs_world* world, const char* system);
/// From now on systems run one by one, with the same results, and `after` is called; NULL ends it.
/// For checks: no threads help. Between steps.
void ecs_inspect_after(ecs_world* world, ecs_after_fn after, void* context);
/// Read "INDEX:GENERATION", also with '#' in front. @return false for another text: *entity is
/// unchanged.
BASE_MUST_USE bool ecs_entity_parse(const char* text, ecs_entity* entity);
/// Write a value into a living entity between steps, as a person types it. `path` is a component
/// ("pos"), a field of it ("tank.heat"), or an element of an array in it ("slots[3]"; a lone array
/// needs no name of its field). `text` is what a datablock would say: "1, 2.5", "yes", a text; an
/// entity is INDEX:GENERATION or none. It is checked as a whole first: a number that its kind does
/// not hold, or that lies outside of what the wire can carry, is refused. With is_trial it is only
/// checked.
/// @return ECS_OK; what failed, reported: ECS_ERR_STALE (no such entity lives); ECS_ERR_UNKNOWN (no
///         such component or field); ECS_ERR_MISSING (the entity lacks it); ECS_ERR_TYPE (neither
///         plain data nor a text); ECS_ERR_SYNTAX (the text is no such value).
BASE_MUST_USE ecs_result ecs_put(ecs_world* world, ecs_entity entity, const char* path,
                                 const char* text, bool is_trial, const base_reporter* reporter);

BASE_C_END
