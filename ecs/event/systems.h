// SPDX-License-Identifier: MIT
/// Systems as structure and events see them: who handles what, and in which order.
///
/// The register that fills these is ecs/system; events are delivered to them here.
#pragma once

#include "base/text.h"
#include "ecs/inspect.h"
#include "ecs/system.h"
#include "event/core_event.h"
#include "event/membership.h"
#include "table/track.h"
#include "type/world.h"

#include <stdatomic.h>

/// A list of names, copied at registration, used once at seal.
typedef struct ecs_names {
    char (*names)[ECS_NAME_BYTES_MAX];
    uint32_t count;
} ecs_names;

/// What a system touches, found by seal (system/declared.c).
typedef struct ecs_declared {
    ecs_component_set row_reads; ///< columns of its terms
    ecs_component_set row_writes;
    ecs_component_set reads; ///< further components: by handle, and by other queries
    ecs_component_set writes;
    ecs_component_set all; ///< every row has these
    ecs_component_set none;
    uint64_t shared_reads; ///< a bit per shared name: what is no component
    uint64_t shared_writes;
    bool may_cut; ///< ranges of its rows may run at the same time
} ecs_declared;

typedef struct ecs_system {
    char name[ECS_NAME_BYTES_MAX];
    uint64_t name_hash;
    ecs_system_fn run;
    ecs_event_fn on_event;
    ecs_event_run_fn on_events;
    void* context;
    ecs_query* query;     ///< NULL without terms
    uint32_t stage;       ///< UINT32_MAX: none
    uint32_t every_ticks; ///< 1 at least
    uint32_t quantum;
    bool is_confined;       ///< it touches only what it declares
    bool is_present;        ///< false: the world lacks one of its tags
    bool is_sync_point;     ///< a name in the order that runs nothing
    bool has_members;       ///< has a member list
    bool has_had_rows;      ///< or events, since ecs_inspect_writes; set by any thread
    ecs_system_times times; ///< while they are wanted; added to by any thread
    uint32_t written;       ///< a bit per term: reported by ecs_inspect_writes
    ecs_membership_fn on_enter;
    ecs_membership_fn on_leave;
    ecs_membership_fn first_update;
    ecs_membership members;
    ecs_names before;
    ecs_names after;
    ecs_names events;
    ecs_names track;
    ecs_names reads;
    ecs_names writes;
    ecs_declared declared;
    ecs_component_set tracked; ///< components whose ComponentChanged it handles; filled by seal
} ecs_system;

/// Indices into ecs_systems.list in the order in which they run.
typedef struct ecs_system_order {
    uint32_t* systems;
    uint32_t count;
    uint32_t capacity;
} ecs_system_order;

typedef struct ecs_stage_info {
    char name[ECS_NAME_BYTES_MAX];
    ecs_system_order order;
    uint32_t* waves; ///< [position in order] -> number of its wave; rises
    uint32_t wave_capacity;
    ecs_names explicit_order; ///< of ecs_order_set
} ecs_stage_info;

/// Registered types, nine core events, and type 0 that has no handler.
#define ECS_HANDLER_LISTS (ECS_EVENT_TYPES_MAX + 1 + 9)

/// Where the running stage is (ecs_running_where): written by the world's thread, read by any.
typedef struct ecs_mark {
    _Atomic(const ecs_stage_info*) stage;
    _Atomic(const ecs_system*) system; ///< or handler; NULL: a flush point
    _Atomic uint64_t tick;
    _Atomic uint32_t entity; ///< first row of the newest call
} ecs_mark;

typedef struct ecs_systems {
    ecs_system** list; ///< in order of registration; each a block of its own
    uint32_t count;
    uint32_t capacity;
    ecs_stage_info stages[ECS_STAGES_MAX]; ///< 0 is "act"
    uint32_t stage_count;
    ecs_system_order handlers[ECS_HANDLER_LISTS]; ///< [event type]; filled by seal
    char (*shared)[ECS_NAME_BYTES_MAX]; ///< names in reads and writes that are no components
    uint32_t shared_count;
    uint32_t shared_capacity;
    struct ecs_range** ranges; ///< scratch of waves, kept from tick to tick (system/range.h)
    uint32_t range_count;      ///< made
    uint32_t range_capacity;
    uint32_t member_systems; ///< how many have members
    ecs_edges edges;         ///< what moves from archetype to archetype mean
    ecs_stage now;           ///< of the stage that runs; world NULL: none does
    ecs_clock_fn clock;      ///< of ecs_inspect_times; NULL: not asked for
    ecs_after_fn after;      ///< of ecs_inspect_after; NULL: not asked for
    void* after_context;
    ecs_mark mark;
} ecs_systems;

/// base_nearest_hint among the event types.
const char* ecs_event_hint(const ecs_world* world, const char* name, char hint[BASE_HINT_BYTES]);
/// Call a handler of a broadcast for all its rows, or of an event without a target.
void ecs_system_call_rows(ecs_world* world, ecs_system* system, ecs_stage* stage,
                          const ecs_event* event);
/// A handler is called next: the mark says so (entity: its first row, or the target), and a check
/// knows that it ran.
static inline void ecs_handler_enter(ecs_world* world, ecs_system* system, ecs_entity entity) {
    ecs_mark* mark = &world->systems->mark;
    atomic_store_explicit(&mark->entity, entity, memory_order_relaxed);
    atomic_store_explicit(&mark->system, system, memory_order_relaxed);
    if (world->write_reporter) system->has_had_rows = true;
}
