// SPDX-License-Identifier: MIT
/// What systems touch, and which of them conflict (declared.c).
#pragma once

#include "event/systems.h"

/// Fill `declared` of all present systems that are confined. Names in reads and writes that are no
/// components become shared names.
/// @return ECS_OK; ECS_ERR_FULL (ECS_SHARED_NAMES_MAX; reported); ECS_ERR_MEMORY.
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
