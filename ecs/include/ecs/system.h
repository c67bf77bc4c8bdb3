// SPDX-License-Identifier: MIT
/// Systems: plain functions over columns, which run in the fixed order of a stage, or on events.
///
/// When the turn of a system comes, it is called with the entities that left and entered its rows
/// since its last turn (on_leave, on_enter), at its first turn with first_update, then with run. A
/// flush point follows. Structural changes are deferred to it.
///
/// Waves: A system that is_confined touches nothing but what it declares. Seal puts the systems of
/// a stage into waves: a system joins the first wave after all those that it is ordered after, or
/// conflicts with and that are before it. The systems of a wave run as if at the same time, and
/// one flush point follows. So a system sees the structure and the events of another only when it
/// is `after` it, or conflicts with it. Systems that are not confined have a wave of their own.
///
/// Bits: Waves, and the ranges into which rows are cut, follow from what is registered and from the
/// world. Commands and events are recorded by (system, range) and taken in that order. So the bits
/// are the same for every number of threads.
#pragma once

#include "base/workers.h"
#include "ecs/event.h"
#include "ecs/query.h"

BASE_C_BEGIN

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

/// A handler of events with a target that wants many at once. A row may be there several times.
typedef void (*ecs_event_run_fn)(const ecs_stage* stage, const ecs_event_run* run);

/// Gets the entities that started or stopped matching the terms of a system. Each appears once, in
/// the order in which it happened. An entity that did both between two turns does not appear.
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
    /// Called instead of on_event, when it is the only handler and has terms, for runs of queued
    /// events with a target. All other events still go to on_event. May be NULL.
    ecs_event_run_fn on_events;
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
    /// Least rows that are worth a thread: the rows of a system that is_confined are cut into
    /// ranges of this number or more, ECS_RANGES_MAX at most. 0: never cut. A range ends where a
    /// chunk ends, or at a multiple of 16 rows. For a system without terms: the least items of a
    /// part of its loops (ecs_stage_share).
    uint32_t quantum;
    /// Its functions touch only: columns of its terms as they declare it; components in `reads` and
    /// `writes`, by handle or by other queries; commands, events and ecs_stage_rng through
    /// stage->world. Of what `context` and `user` lead to, they read what never changes in a stage,
    /// and what `reads` and `writes` name. They ask no ecs_world_rng, no handle functions and no
    /// roots or ancestors.
    bool is_confined;
    /// Further components by name, or names of a game's own for what systems share besides
    /// components: "grid". ecs.parent stands for questions about parents and children.
    const char* const* reads;
    uint32_t read_count;
    const char* const* writes;
    uint32_t write_count;
    ecs_membership_fn on_enter; ///< entities that match now and did not at the last turn
    ecs_membership_fn on_leave; ///< entities that no longer match; they may be destroyed
    /// Called at the first turn ever, with the entities that on_enter gets (may be none).
    ecs_membership_fn first_update;
} ecs_system_desc;

/// Register a system, before ecs_world_seal. Everything in `desc` is copied, but context, which
/// must outlive the world. A system with a tag that the world does not have is accepted and never
/// runs. Systems without constraints run in the order of registration.
/// Asserted: a stage comes with run or one of the three membership functions, which need terms;
/// on_event comes with events or track; reads and writes come with is_confined.
/// @return ECS_OK; ECS_ERR_DUPLICATE (the name is used: choose another); ECS_ERR_FULL
///         (ECS_SYSTEMS_MAX, ECS_STAGES_MAX or ECS_QUERY_TERMS_MAX); ECS_ERR_SEALED (register
///         earlier).
BASE_MUST_USE ecs_result ecs_system_register(ecs_world* world, const ecs_system_desc* desc);

/// Register a sync point: a name in the order of a stage that runs nothing. Systems name it in
/// before and after. Systems and sync points share one space of names.
/// @return ECS_OK; ECS_ERR_DUPLICATE, ECS_ERR_FULL, ECS_ERR_SEALED as
/// ecs_system_register.
BASE_MUST_USE ecs_result ecs_sync_point_register(ecs_world* world, const char* stage,
                                                 const char* name);
/// Set the order of a stage: the named systems run in this order, as if each were after the
/// previous one. The others follow their before, after and registration. A name whose tags the
/// world does not have is skipped. At seal, an unknown name is ECS_ERR_UNKNOWN and an order that
/// contradicts another is ECS_ERR_CYCLE. Event handlers follow the order too. A later call replaces
/// the list.
/// @return ECS_OK; ECS_ERR_DUPLICATE (a name appears twice: reported); ECS_ERR_FULL (too many
///         names); ECS_ERR_SEALED (call it earlier). On failure the old list stays.
BASE_MUST_USE ecs_result ecs_order_set(ecs_world* world, const char* stage,
                                       const char* const* names, uint32_t count,
                                       const base_reporter* reporter);

/// Find a stage by name. "act" is 0 and always exists. @return UINT32_MAX when no system names it.
uint32_t ecs_stage_find(ecs_world* world, const char* name);
/// Get the name of a stage by its id; ids count from 0. Borrowed. @return NULL past the last.
const char* ecs_stage_name(const ecs_world* world, uint32_t stage);
/// Get the names of a stage in the order in which they run, with sync points; for dumps and tests.
/// Borrowed from the world. @return NULL past the end.
const char* ecs_stage_system_name(const ecs_world* world, uint32_t stage, uint32_t position);

/// A system as it was registered.
typedef struct ecs_system_info {
    const char* name;     ///< borrowed
    uint32_t every_ticks; ///< 1 at least
    uint32_t quantum;
    uint32_t wave; ///< number of its wave; those of one wave run at the same time
    bool is_sync_point;
    bool is_confined;
    bool may_cut;   ///< ranges of its rows run at the same time
    bool may_share; ///< it has a quantum and no terms: parts of its own loops run at the same time
} ecs_system_info;
/// Get the system at a position of a stage. @return false past the end.
bool ecs_stage_system_info(const ecs_world* world, uint32_t stage, uint32_t position,
                           ecs_system_info* info);

/// Why two systems of a stage do not run at the same time, the first that holds.
typedef enum ecs_conflict_kind {
    ECS_CONFLICT_NONE,       ///< they may
    ECS_CONFLICT_ORDER,      ///< before, after or the order of the stage says so
    ECS_CONFLICT_UNCONFINED, ///< `who` does not say what it touches
    ECS_CONFLICT_ACCESS,     ///< `who` writes `name`, and the other one touches it
} ecs_conflict_kind;
typedef struct ecs_conflict {
    ecs_conflict_kind kind;
    const char* who;  ///< name of a system; borrowed, as `name`
    const char* name; ///< of a component, or of something else that is shared
} ecs_conflict;
/// Find out about the systems at two positions of a stage of a sealed world. The same position
/// twice: why ranges of its rows do not run at the same time.
/// @return ECS_CONFLICT_NONE when they may, or past the end.
ecs_conflict ecs_stage_conflict(const ecs_world* world, uint32_t stage, uint32_t first,
                                uint32_t second);

/// Random numbers for an entity in this turn of this system; for ECS_ENTITY_NONE those of the
/// system. They follow from the world's random state at the begin of the step, the tick, the name
/// of the system and the handle: neither threads nor other systems change them. In systems only
/// (asserted), not in event handlers.
base_rng ecs_stage_rng(const ecs_stage* stage, ecs_entity entity);

/// A part of a loop that a system shares with other threads.
typedef struct ecs_part {
    uint32_t number; ///< from 0 on; several calls have the same one when its rows lie apart
    uint32_t first;  ///< of its items in the whole loop
    ecs_rows rows;   ///< its rows; of ecs_stage_share only their count, which is that of the items
} ecs_part;
/// Does one part, on any thread. It reads components as the system declares, writes the columns of
/// its rows that the query writes, and memory that no other part touches: by item or by number. By
/// handle it writes nothing. It records no commands and sends no events (asserted); the system does
/// so afterwards. stage->world is a view of the world, ecs_stage_rng works as in the system.
typedef void (*ecs_part_fn)(const ecs_stage* stage, void* context, const ecs_part* part);

/// Share the loop over the items [0, count), in a function of a system that has a quantum
/// (asserted). Parts follow from `count` and the quantum, ECS_RANGES_MAX at most, whatever the
/// number of threads is; a caller that needs results of parts keeps one for each number, and puts
/// them together in that order afterwards. Other threads help when the system has its wave to
/// itself, and two quanta are there.
/// @return how many parts there were: 0 without items.
uint32_t ecs_stage_share(const ecs_stage* stage, uint32_t count, ecs_part_fn run, void* context);
/// The same over the rows of a query. Items have the order of walks, so `first` numbers rows as
/// ecs_query_next would.
/// @return how many parts there were: 0 without rows.
uint32_t ecs_stage_share_rows(const ecs_stage* stage, ecs_query* query, ecs_part_fn run,
                              void* context);

/// Let stages, tracking, saves and restores use these threads; NULL: one thread. They are borrowed,
/// and must outlive the world or the next call. The allocator of the world must accept calls from
/// all of them, as the heap does. Between steps.
void ecs_world_set_workers(ecs_world* world, base_workers* workers);
/// Count the threads that the systems of a sealed world can use at one time, at most
/// BASE_WORKERS_MAX.
uint32_t ecs_world_threads_max(const ecs_world* world);

BASE_C_END
