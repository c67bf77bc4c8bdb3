// SPDX-License-Identifier: MIT
/// Inside the scene: scene.c takes things in and moves time on, scene_show.c brings one index to a
/// moment.
#pragma once

#include "base/bitset.h"
#include "session/event_inbox.h"
#include "state/varsize.h"
#include "core/pool.h"
#include "state/row_world.h"
#include "present/scene_samples.h"

/// A component of a layout that lies between its samples.
typedef struct net_scene_part {
    uint16_t component; ///< of the layout
    float teleport;
} net_scene_part;

/// The interpolated components of a template.
typedef struct net_scene_shape {
    uint64_t interpolated; ///< a bit per component of the layout
    uint32_t part_count;
    net_scene_part parts[PROTO_ROW_COMPONENTS_MAX];
} net_scene_shape;

/// A template of the feeder, and the same template of the view's world; NULL: unknown there.
typedef struct net_scene_link {
    const net_row_template* source;
    const net_row_template* entry;
} net_scene_link;

/// One replicated index.
typedef struct net_scene_slot {
    net_tick_ring samples;         ///< net_scene_sample
    ecs_entity handle;             ///< the shown entity; NONE: nothing is shown
    const net_row_template* entry; ///< of the view's world
    uint64_t* applied;             ///< row of the newest sample that was shown; with a handle
    uint32_t applied_words;        ///< allocated
    ecs_tick applied_tick;         ///< tick of the newest sample that was shown; with has_applied
    bool has_applied;
    bool is_stalled;
} net_scene_slot;

struct net_scene {
    const base_allocator* allocator;
    net_pool pool; ///< of what the slots hold
    net_match* match;
    net_rows* rows;
    net_row_world target;
    net_varsize_receiver* varsize;
    net_scene_slot* slots; ///< [index]
    uint32_t slot_capacity;
    base_bitset active;    ///< indices that the next advance must look at
    net_scene_link* links; ///< [template id of the feeder]
    uint32_t link_capacity;
    net_scene_shape** shapes; ///< [template id of the view]
    uint32_t shape_capacity;
    uint64_t received[NET_SCENE_TICKS / 64];
    ecs_tick newest;
    bool has_packet;
    net_event_inbox_entry* events;
    uint32_t event_count, event_capacity;
    double shown, shown_before; ///< tick; before: at the beginning of this advance
    ecs_tick stepped;           ///< stage "act" ran for
    bool has_shown;
    net_result broken;
    net_scene_counters counters;
};

/// Bring one index to a moment. @return NET_OK; NET_ERR_MEMORY; NET_ERR_FULL. *is_active: it must
/// be looked at again although no new sample exists.
BASE_MUST_USE net_result net_scene_place(net_scene* scene, uint32_t index, double moment,
                                         bool is_final, bool* is_active);
/// Release the memory of a slot that shows nothing.
void net_scene_slot_release(net_scene* scene, net_scene_slot* slot);
/// Newest received tick in (after, before); `after` when there is none.
ecs_tick net_scene_received(const net_scene* scene, ecs_tick after, ecs_tick before);
