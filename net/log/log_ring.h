// SPDX-License-Identifier: MIT
/// The last seconds of a log in memory: copies of its blocks, from a keyframe on.
///
/// The blocks are those of the file, byte for byte. So what is saved of them is a later segment of
/// the log (proto/LOG.md, "Segments"), and no second form of it is ever coded.
///
/// Shape:   a group of blocks begins with a keyframe, or with the log. Whole groups are dropped,
///          the oldest first: when they are older than `ticks_min`, and when there is no room.
/// Memory:  taken at init; nothing later.
/// Threads: the log's thread.
#pragma once

#include "log/log_block.h"
#include "log/log_record.h"

/// A ring of more groups drops the oldest.
#define NET_LOG_RING_GROUPS_MAX 1024u

typedef struct net_log_ring_group {
    ecs_tick tick;  ///< of its keyframe; 0: the log begins here
    uint64_t start; ///< of its first block, in bytes ever added
} net_log_ring_group;

typedef struct net_log_ring {
    const base_allocator* allocator;
    uint8_t* memory; ///< NULL: there is no ring
    uint64_t capacity;
    ecs_tick ticks_min;
    uint64_t head;      ///< bytes ever added
    uint64_t last_data; ///< start of the newest data block
    uint64_t data_end;  ///< its end; 0: there is none
    ecs_tick last_tick; ///< of that block
    uint32_t count;     ///< 0: blocks are dropped until a group begins
    net_log_ring_group groups[NET_LOG_RING_GROUPS_MAX]; ///< by rising start
} net_log_ring;

/// Take memory for `capacity` bytes, and begin the group of the log's start. @return false: there
/// is no memory.
BASE_MUST_USE bool net_log_ring_init(net_log_ring* ring, const base_allocator* allocator,
                                     uint64_t capacity, ecs_tick ticks_min);
void net_log_ring_deinit(net_log_ring* ring);
/// A keyframe of `tick` follows. Behind a gap nothing before it is of use, and it is dropped.
void net_log_ring_begin(net_log_ring* ring, ecs_tick tick);
/// Copy a block, with its header.
void net_log_ring_add(net_log_ring* ring, const net_log_block* block, const uint8_t* data,
                      size_t size);
/// Forget what was added behind `head`: the file could not take all of it.
void net_log_ring_undo(net_log_ring* ring, uint64_t head);
/// The group with which a save of the newest ticks_min ticks begins. @return count: there is none.
uint32_t net_log_ring_find(const net_log_ring* ring);
/// Copy bytes out.
void net_log_ring_read(const net_log_ring* ring, uint64_t at, void* target, size_t size);
/// Check groups and places (asserts).
void net_log_ring_validate(const net_log_ring* ring);
