// SPDX-License-Identifier: MIT
/// Systems as structure and events see them: who handles what, and in which order.
///
/// The register that fills these is ecs/system; events are delivered to them here.
#pragma once

#include "base/bytes.h"
#include "base/table.h"
#include "base/text.h"
#include "ecs/inspect.h"
#include "ecs/system.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

#include <stdatomic.h>

// Entities that entered and left the rows of a system since its last turn (membership.c).

/// Handles in order; one taken back leaves a hole (ECS_ENTITY_NONE) until the list is packed.
typedef struct ecs_membership_list {
    ecs_entity* items;
    uint32_t count; ///< holes too
    uint32_t capacity;
    uint32_t holes;
    uint32_t*
        at; ///< index -> position + 1 of its item; 0: none. An index is in a list at most once
    uint32_t at_capacity;
} ecs_membership_list;

typedef struct ecs_membership {
    ecs_membership_list entered; ///< match now, did not at the last turn
    ecs_membership_list left;    ///< did at the last turn, do not now
    bool has_begun;              ///< there was a first turn
} ecs_membership;

// The calls when an entity is created, destroyed or moved to another archetype (core_event.c).

/// One handler of one core event.
typedef struct ecs_call {
    uint32_t system;
    uint32_t type; ///< event type; unused where members are meant
} ecs_call;

/// All calls of one kind of change, found once and kept.
typedef struct ecs_edge {
    uint32_t before_count, after_count, leave_count, enter_count;
    ecs_call calls[]; ///< handlers before, handlers after, systems it leaves, systems it enters
} ecs_edge;

/// Moves that happened. `table` finds one by the ids of both archetypes.
typedef struct ecs_edges {
    base_table table;
    ecs_edge** items;
    uint32_t count, capacity;
} ecs_edges;

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
    struct ecs_range** ranges; ///< scratch of waves, kept from tick to tick (system/range.c)
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
/// What runs next, and with which rows first.
static inline void ecs_mark_set(ecs_world* world, const ecs_system* system, ecs_entity entity) {
    ecs_mark* mark = &world->systems->mark;
    atomic_store_explicit(&mark->entity, entity, memory_order_relaxed);
    atomic_store_explicit(&mark->system, system, memory_order_relaxed);
}
/// A handler is called next (entity: its first row, or the target), and a check knows that it ran.
static inline void ecs_handler_enter(ecs_world* world, ecs_system* system, ecs_entity entity) {
    ecs_mark_set(world, system, entity);
    if (world->write_reporter) system->has_had_rows = true;
}

// Members (membership.c).

/// It came to match, or no longer does.
void ecs_membership_enter(const ecs_world* world, ecs_membership* members, ecs_entity entity);
void ecs_membership_leave(const ecs_world* world, ecs_membership* members, ecs_entity entity);
/// The system's turn: deliver the entities that entered and left, and clear the lists.
void ecs_membership_deliver(const ecs_system* system, ecs_membership* members,
                            const ecs_stage* stage);

/// All that live leave every system, before storage is emptied; or enter, after it was filled.
void ecs_membership_leave_all(ecs_world* world);
void ecs_membership_enter_all(ecs_world* world);
/// The lists as bytes: nothing at all in a world whose systems have none.
void ecs_membership_write(const ecs_world* world, base_bytes* bytes);
/// Read them over those of enter_all; a system that is not in the bytes keeps those.
/// @return ECS_OK; ECS_ERR_MALFORMED.
BASE_MUST_USE ecs_result ecs_membership_read(ecs_world* world, base_reader* reader);
/// The lists of another world that holds the same entities.
void ecs_membership_copy(ecs_world* world, const ecs_world* from);
void ecs_membership_validate(const ecs_world* world);

// Core events (core_event.c).

/// Fill `notify` and the edges of a new archetype.
void ecs_core_event_bind(ecs_world* world, ecs_archetype* archetype);
/// Drop the edges of an archetype that goes away; edges that were found are no longer valid.
void ecs_core_event_unbind(ecs_world* world, ecs_archetype* archetype);
/// The edge of a move.
ecs_edge* ecs_core_event_move(ecs_world* world, const ecs_archetype* from, const ecs_archetype* to);
/// Call handlers before the change; call them after it, and list the members that entered and left.
void ecs_core_event_before(ecs_world* world, const ecs_edge* edge, ecs_entity entity);
void ecs_core_event_after(ecs_world* world, const ecs_edge* edge, ecs_entity entity);
/// Deliver a broadcast at once.
void ecs_core_event_broadcast(ecs_world* world, uint32_t type);
/// Forget all moves (archetypes are numbered again); give the memory back.
void ecs_core_event_clear(ecs_world* world);
