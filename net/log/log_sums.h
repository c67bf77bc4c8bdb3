// SPDX-License-Identifier: MIT
/// Sums of components (proto/LOG.md, "Sums"): of a world, and those that a log has of each tick.
///
/// Memory:  some kilobytes.
/// Threads: one thread at a time; a world's is that of the world.
#pragma once

#include "log/log_piece.h"
#include "net/log_reader.h"

/// A tick's sums are about so many untracked values (Header.untracked_values).
#define NET_LOG_UNTRACKED_VALUES 256u

/// Header.untracked_values of a log of this world: 0 when all components are tracked.
uint32_t net_log_sums_untracked(const ecs_world* world);
/// The sums of a world's components by id, as a log with this Header.untracked_values has them (0:
/// without untracked components). `sums` has room for ECS_COMPONENTS_MAX + 1.
void net_log_sums_of(const ecs_world* world, uint32_t untracked_values, uint64_t* sums);

/// The sums of a log, read tick by tick without its rows.
typedef struct net_log_sums {
    net_log_rows rows; ///< for sums alone
    net_log_piece part;
    uint32_t untracked_values;
    ecs_tick tick;
    bool is_known;
} net_log_sums;

void net_log_sums_init(net_log_sums* sums, const base_allocator* allocator,
                       uint32_t untracked_values);
void net_log_sums_deinit(net_log_sums* sums);
/// Read the changes of the next tick's end. Behind missing ticks sums are unknown until all come.
void net_log_sums_take(net_log_sums* sums, ecs_tick tick, const uint8_t* changes, size_t size);
/// The first component whose sum in this world is another one than the log's after the tick;
/// ECS_COMPONENT_NONE: none, or they are unknown.
ecs_component_id net_log_sums_differ(const net_log_sums* sums, const ecs_world* world);
