// SPDX-License-Identifier: MIT
/// The register of systems: seal and order (system.c, order.c), what systems touch and which of
/// them conflict (declared.c), and the parts of a wave that run at the same time (range.c).
#pragma once

#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"

/// Sort `members` (indices into the list, rising) so that every before and after among them holds
/// and what is free keeps the order of registration.
/// @return ECS_OK; ECS_ERR_UNKNOWN; ECS_ERR_CYCLE (both reported by name).
BASE_MUST_USE ecs_result ecs_order_sort(ecs_world* world, const base_reporter* reporter,
                                        ecs_system_order* members);
/// Check every name in before and after of present systems. @return ECS_OK; ECS_ERR_UNKNOWN.
BASE_MUST_USE ecs_result ecs_order_check_names(ecs_world* world, const base_reporter* reporter);
/// Index of a system by name, UINT32_MAX when there is none.
uint32_t ecs_system_index(const ecs_world* world, const char* name);
/// Run stage 0 and tracking of one step (step.c); ecs_world_step is this with its checks.
void ecs_systems_step(ecs_world* world, const ecs_step* step);

// Waves: which systems of a stage run at the same time (order.c).

/// Put the systems of a sorted stage into waves, and order them by wave; within a wave they keep
/// their order. Needs what ecs_declared_seal found.
void ecs_waves_seal(ecs_world* world, ecs_stage_info* stage);

// What systems touch (declared.c).

/// Fill `declared` of all present systems that are confined. Names in reads and writes that are no
/// components become shared names.
/// @return ECS_OK; ECS_ERR_FULL (ECS_SHARED_NAMES_MAX; reported).
BASE_MUST_USE ecs_result ecs_declared_seal(ecs_world* world, const base_reporter* reporter);
/// May the two run at the same time, as far as it follows from what they touch? For the same system
/// twice: its ranges.
ecs_conflict ecs_declared_conflict(const ecs_world* world, const ecs_system* first,
                                   const ecs_system* second);
/// ecs_fast.check while a system runs that is not confined: remember what it writes by handle.
void ecs_declared_record(const ecs_world* world, uint32_t component, bool is_write);
/// ecs_fast.check of a confined one: assert that the running system declares this access.
void ecs_declared_check(const ecs_world* world, uint32_t component, bool is_write);
/// ecs_fast.check of a part of a shared loop: by handle nothing is written, and nothing read that
/// the loop writes.
void ecs_declared_check_part(const ecs_world* world, uint32_t component, bool is_write);
/// Columns that are only read, before a call. query NULL: nothing is watched.
typedef struct ecs_watch {
    const ecs_query* query;
    uint64_t before[ECS_QUERY_TERMS_MAX], marks[ECS_QUERY_TERMS_MAX];
} ecs_watch;
/// In validating builds, and with ecs_inspect_writes: a column that is declared as read and written
/// by the call between the two is asserted, or reported, by name.
void ecs_declared_watch(ecs_watch* watch, const ecs_world* world, const ecs_query* query,
                        const ecs_rows* rows);
void ecs_declared_compare(const ecs_watch* watch, const ecs_world* world, const ecs_rows* rows);
/// Call `run` of a system with these rows, watched.
void ecs_declared_run(ecs_system* system, const ecs_stage* stage, const ecs_rows* rows);

// Validating builds: what a system leaves alone stays as it was (declared.c).

/// A sum of the values of each component in a world, by id.
typedef struct ecs_guard {
    uint64_t sums[ECS_COMPONENTS_MAX + 1];
} ecs_guard;

/// Are systems guarded in this tick? Never in other builds.
bool ecs_guard_is_due(const ecs_stage* stage);
void ecs_guard_sum(const ecs_world* world, ecs_guard* guard);
/// After the system ran, alone: only what it may write has changed since, or it is asserted; with
/// ecs_inspect_writes it is reported, once.
void ecs_guard_compare(const ecs_world* world, ecs_system* system, const ecs_guard* before);

// Ranges (range.c).

/// Rows of a query, one after the other in the order of walks.
typedef struct ecs_cut {
    const uintptr_t* entry; ///< of the query's cache: where they begin
    uint32_t row;           ///< in that chunk
    uint32_t row_count;
} ecs_cut;

/// The queues that one range of a system records into: its own, and the event types of the world.
/// Begin with zero. Placeholders count from 1 in each recorder: no other recorder may name them.
typedef struct ecs_recorder {
    ecs_commands commands;
    ecs_events events;
} ecs_recorder;

/// Some rows of one system, and what belongs to them alone. Kept from tick to tick.
typedef struct ecs_range {
    ecs_world view; ///< what the system gets as its world: a copy with the range's own queues
    ecs_recorder recorder;
    ecs_stage stage;
    ecs_system* system;
    uint32_t position; ///< of the system in its stage: the key of its commands
    uint32_t number;   ///< among the ranges of the system
    ecs_cut rows;
    bool is_open; ///< `view` and `stage` are those of this turn
} ecs_range;

/// The ranges of one wave: the first `count` of ecs_systems.ranges.
typedef struct ecs_wave {
    uint32_t count;
    uint32_t work; ///< what threads would have to do, in units of WAVE_UNIT
} ecs_wave;

/// Add the ranges of a system whose turn it is.
void ecs_wave_add(ecs_world* world, ecs_wave* wave, uint32_t position, ecs_system* system);
/// Run all ranges, then take what they recorded, in their order.
void ecs_wave_run(ecs_world* world, const ecs_wave* wave, const ecs_stage* stage);
