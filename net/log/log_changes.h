// SPDX-License-Identifier: MIT
/// "Changes" of proto/LOG.md: what a tick did to tracked components.
#pragma once

#include "base/bytes.h"
#include "proto/pb_wire.h"
#include "ecs/ecs.h"

#define NET_LOG_CHANGES_BYTES_MAX 131072u

/// Write form 1 of the world's change list, form 2 when that does not fit NET_LOG_CHANGES_BYTES_MAX
/// or the wire. The wire is left as it was when neither fits.
void net_log_changes_write(proto_pb_writer* wire, const ecs_world* world);

/// What a walk over form 1 meets.
typedef enum net_log_change_kind {
    NET_LOG_CHANGE_CREATED,
    NET_LOG_CHANGE_DESTROYED,
    NET_LOG_CHANGE_RECREATED,
    NET_LOG_CHANGE_COMPONENT,
    NET_LOG_CHANGE_SUM, ///< form 2: `value` is the component's part of state_hash
} net_log_change_kind;

typedef struct net_log_change {
    net_log_change_kind kind;
    ecs_entity entity;
    uint32_t component;
    uint64_t value;      ///< half-word of the hash, or the sum
    uint32_t part_count; ///< of a created or recreated entity
    uint32_t parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t value_count;  ///< of a created or recreated entity
    const uint8_t* values; ///< two bytes each
} net_log_change;

/// A walk over stored bytes. Total.
typedef struct net_log_changes_walk {
    base_reader reader;
    uint32_t form;
    uint32_t section; ///< of form 1: 0..2 created, destroyed, recreated; 3 runs
    uint64_t left;    ///< in the section or run
    uint32_t component;
    uint32_t entity_before;
    bool has_count;
} net_log_changes_walk;

net_log_changes_walk net_log_changes_begin(const void* data, size_t size);
/// false at the end, on damage (walk->reader.failed) and for unknown forms.
bool net_log_changes_next(net_log_changes_walk* walk, net_log_change* change);
/// The first change that differs between what is stored and what was run again: the component's
/// position in the created entity's template, or its id, is in *change. false when none differs.
bool net_log_changes_differ(const void* stored, size_t stored_bytes, const void* again,
                            size_t again_bytes, net_log_change* change, uint32_t* value_position);
