// SPDX-License-Identifier: MIT
/// Sums of components (proto/LOG.md, "Sums"): of a world, and those that a log has of each tick.
///
/// Memory:  some kilobytes.
/// Threads: one thread at a time; a world's is that of the world.
#pragma once

#include "ecs/ecs.h"
#include "net/log_reader.h"
#include "proto/pb_wire.h"

/// A tick's sums are about so many untracked values (Header.untracked_values).
#define NET_LOG_UNTRACKED_VALUES 256u
#define NET_LOG_SUM_MASK 0xffu

/// Header.untracked_values of a log of this world: 0 when all components are tracked.
uint32_t net_log_sums_untracked(const ecs_world* world);
/// The sums of a world's components by id, as a log with this Header.untracked_values has them (0:
/// without untracked components). `sums` has room for ECS_COMPONENTS_MAX + 1.
void net_log_sums_of(const ecs_world* world, uint32_t untracked_values, uint64_t* sums);

/// The sums of the newest tick, as they are written or read.
typedef struct net_log_sums {
    uint64_t values[ECS_COMPONENTS_MAX + 1]; ///< by id; of a log the low bits
    uint32_t untracked_values;
    ecs_tick tick;
    bool is_known; ///< all of them came
} net_log_sums;

/// Begin to write or read; nothing is known.
net_log_sums net_log_sums_begin(uint32_t untracked_values);
/// Append those of a world that changed since the last call, all when they are not known.
void net_log_sums_write(net_log_sums* sums, const ecs_world* world, proto_pb_writer* to);
/// Read the sums of a tick's end. Behind missing ticks they are unknown until all come.
/// @return false: no writer writes this.
bool net_log_sums_read(net_log_sums* sums, ecs_tick tick, const uint8_t* data, size_t size);
/// The first component whose sum in this world is another one than the log's after the tick;
/// ECS_COMPONENT_NONE: none, or they are unknown.
ecs_component_id net_log_sums_differ(const net_log_sums* sums, const ecs_world* world);
