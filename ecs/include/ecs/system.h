// SPDX-License-Identifier: MIT
/// Systems: plain functions over columns, which run in the fixed order of a stage, or on events.
///
/// When the turn of a system comes, it is called with the entities that left and entered its rows
/// since its last turn (on_leave, on_enter), at its first turn with first_update, then with run. A
/// flush point follows. Structural changes are deferred to it.
#pragma once

#include "ecs/event.h"
#include "ecs/query.h"

/// The first argument of every system. Borrowed for the call.
typedef struct ecs_stage {
    ecs_world* world;
    ecs_tick tick;
    float dt;
    void* context; ///< ecs_system_desc.context
    void* user;    ///< ecs_step.user (the draw interface in stage "render")
} ecs_stage;

/// A system. Called once per chunk that matches; columns as in ecs_rows, in the order of the terms.
/// A system without terms is called once, with count 0.
typedef void (*ecs_system_fn)(const ecs_stage* stage, const ecs_rows* rows);
/// An event handler. For an event with a target it is called with the row of the target if that
/// matches (count 1). For a broadcast it is called as a system. A handler without terms is called
/// once per event, with count 0.
typedef void (*ecs_event_fn)(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows);

/// Gets the entities that began or ceased to match the terms of a system. Each appears once, in the
/// order in which it happened. An entity that did both between two turns does not appear.
typedef void (*ecs_membership_fn)(const ecs_stage* stage, const ecs_entity* entities,
                                  uint32_t count);

/// What a caller registers. Begin with zero.
typedef struct ecs_system_desc {
    const char* name;
    const char* stage;         ///< "act", "render"...; NULL for a pure event handler
    ecs_system_fn run;         ///< with stage
    const char* const* events; ///< names of events it handles, core events too (ecs/event.h)
    uint32_t event_count;
    ecs_event_fn on_event; ///< with events or track
    const ecs_term* terms;
    uint32_t term_count;
    const char* const* before; ///< names of systems that must run after this one
    uint32_t before_count;
    const char* const* after;
    uint32_t after_count;
    const char* const* tags; ///< exists only in a world that has all; "a|b" is either of the two
    uint32_t tag_count;
    void* context;
    const char* const* track; ///< components: on_event is called for ComponentChanged of these
    uint32_t track_count;
    uint32_t every_ticks; ///< 0, 1: each tick; else only when tick % every_ticks == 0
    uint32_t quantum;     ///< least rows per job, 0: never cut; today one thread runs all jobs
    ecs_membership_fn on_enter; ///< entities that match now and did not at the last turn
    ecs_membership_fn on_leave; ///< entities that no longer match; they may be destroyed
    /// Called at the first turn ever, with the entities that on_enter gets (may be none).
    ecs_membership_fn first_update;
} ecs_system_desc;

/// Register a system, before ecs_world_seal. Everything in `desc` is copied, but context, which
/// must outlive the world. A system with a tag that the world does not have is accepted and never
/// runs. Systems without constraints run in the order of registration.
/// Asserted: a stage comes with run or one of the three membership functions, which need terms;
/// on_event comes with events or track.
/// @return ECS_OK; ECS_ERR_DUPLICATE (the name is used: choose another); ECS_ERR_FULL
///         (ECS_SYSTEMS_MAX, ECS_STAGES_MAX or ECS_QUERY_TERMS_MAX); ECS_ERR_SEALED (register
///         earlier); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_system_register(ecs_world* world, const ecs_system_desc* desc);

/// Register a sync point: a name in the order of a stage that runs nothing. Systems name it in
/// before and after. Systems and sync points share one space of names.
/// @return ECS_OK; ECS_ERR_DUPLICATE, ECS_ERR_FULL, ECS_ERR_SEALED, ECS_ERR_MEMORY as
/// ecs_system_register.
BASE_MUST_USE ecs_result ecs_sync_point_register(ecs_world* world, const char* stage,
                                                 const char* name);
/// Set the order of a stage: the named systems run in this order, as if each were after the
/// previous one. The others follow their before, after and registration. A name whose tags the
/// world does not have is skipped. At seal, an unknown name is ECS_ERR_UNKNOWN and an order that
/// contradicts another is ECS_ERR_CYCLE. Event handlers follow the order too. A later call replaces
/// the list.
/// @return ECS_OK; ECS_ERR_DUPLICATE (a name stands twice: reported); ECS_ERR_FULL (too many
///         names); ECS_ERR_SEALED (call it earlier); ECS_ERR_MEMORY. On failure the old list stays.
BASE_MUST_USE ecs_result ecs_order_set(ecs_world* world, const char* stage,
                                       const char* const* names, uint32_t count,
                                       const base_reporter* reporter);

/// Find a stage by name. "act" is 0 and always exists. @return UINT32_MAX when no system names it.
uint32_t ecs_stage_find(ecs_world* world, const char* name);
/// Get the names of a stage in the order in which they run, with sync points; for dumps and tests.
/// Borrowed from the world. @return NULL past the end.
const char* ecs_stage_system_name(const ecs_world* world, uint32_t stage, uint32_t position);

/// A system as it was registered.
typedef struct ecs_system_info {
    const char* name;     ///< borrowed
    uint32_t every_ticks; ///< 1 at least
    uint32_t quantum;
    bool is_sync_point;
} ecs_system_info;
/// Get the system at a position of a stage. @return false past the end.
bool ecs_stage_system_info(const ecs_world* world, uint32_t stage, uint32_t position,
                           ecs_system_info* info);
