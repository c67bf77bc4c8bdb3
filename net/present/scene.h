// SPDX-License-Identifier: MIT
/// The view world: what the mirror received, shown some ticks later and between ticks.
///
/// Rows, ends of incarnations, ticks of packets and events go in as they arrive, in any order.
/// net_scene_advance brings the world to a moment:
///   - creations, destructions, changes of template, and components without `_interpolate` change
///     when their tick is shown; then events of that tick are posted and stage "act" runs, once per
///     passed tick;
///   - components marked `_interpolate` lie between the two samples around the moment.
/// A row holds until the newest received tick that came without it, so an entity that rests and
/// then moves does not creep. Beyond the newest sample an entity goes on as it moved, slows down
/// and stops after NET_EXTRAPOLATE_MS_MAX; a newer tick without it means that it rests. A step
/// longer than `_teleport` per tick, a new template and a new generation are jumps.
///
/// Memory: a ring of samples per replicated index and a queue of events; they grow to their peak
/// and stay. After an error the functions that feed the scene do nothing, and net_scene_advance
/// returns it.
/// Threads: the thread that owns the world; outside of stages.
#pragma once

#include "state/tick_ring.h"
#include "session/event_queue.h"
#include "state/row_template.h"
#include "state/rows.h"
#include "state/varsize.h"

#include "net/match.h"
#include "net/client.h"

#include "base/bitset.h"

/// Samples of one index: more than NET_DELAY_MS_MAX at NET_TICK_RATE_HZ_MAX. A new one then pushes
/// out the oldest.
#define NET_SCENE_SAMPLES_MAX 256u
/// Events that wait. Further events, and events more than NET_SCENE_TICKS ahead of the newest
/// packet, are dropped and counted.
#define NET_SCENE_EVENTS_MAX 512u
/// Received ticks remembered.
#define NET_SCENE_TICKS 1024u
/// Variable-size values that wait for their entities to be shown, and their bytes.
#define NET_SCENE_VARSIZE_MAX 65536u
#define NET_SCENE_VARSIZE_BYTES_MAX (64u << 20)
/// Moments are doubles: rows, packets and moments above this are ignored. It is 300,000 years at
/// the highest rate.
#define NET_SCENE_TICK_MAX (UINT64_C(1) << 51)

typedef struct net_scene net_scene;

typedef struct net_scene_counters {
    uint64_t samples;      ///< rows that arrived
    uint64_t samples_late; ///< of these after their tick was shown
    uint64_t stalls;       ///< times a moving entity's samples ran out
    double stalled_ms;     ///< of all stalls together
    uint64_t teleports;    ///< steps shown as jumps
    uint64_t creates, destroys, recreates;
    uint64_t events, events_dropped; ///< posted; without a target, or no room
    uint64_t jumps;                  ///< advances that left out ticks of stage "act"
} net_scene_counters;

/// Create a scene for a match with role MIRROR that the caller owns and lends. The scene owns the
/// replicated entities of its world. base_owner_destroy ends it before the match, and its entities
/// stay as they are.
BASE_MUST_USE net_scene* net_scene_create(const base_allocator* allocator, net_match* view);

/// Add a row of an entity at a tick, in words of `entry`, which may be of any world of the same
/// module (it is found here by its parts). The row is copied; `entry` must outlive the scene.
void net_scene_row(net_scene* scene, ecs_entity entity, const net_row_template* entry,
                   ecs_tick tick, const uint64_t* row);
/// Add that the entity's index was empty at a tick.
void net_scene_gone(net_scene* scene, ecs_entity entity, ecs_tick tick);
/// Note a packet of `tick`, after everything in it was added.
void net_scene_packet(net_scene* scene, ecs_tick tick);
/// Add a server's game event (copied); number 0: unreliable. Reliable events come in their order.
/// It is posted when event->tick is shown and its target and the entities that it names exist. It
/// is dropped when one of them is gone, or after NET_EVENT_WAIT_TICKS_MAX
/// (net_message.is_delivered_late).
void net_scene_event(net_scene* scene, const net_event* event, const void* payload);
/// Add a variable-size value. It is shown when its entity is, not at a tick of its own.
/// @return NET_OK; NET_ERR_MALFORMED (no server writes it: drop the session).
net_result net_scene_varsize(net_scene* scene, const net_varsize_message* message);
/// Show the moment `tick` (1200.25: a quarter of the way from 1200 to 1201). An earlier moment than
/// the shown one counts as the shown one. When many ticks passed, stage "act" runs for the last
/// NET_CATCH_UP_TICKS_MAX of them.
/// @return NET_OK; NET_ERR_FULL (the world refused a creation). After an error every later call
///         returns it: destroy the scene or reset it.
BASE_MUST_USE net_result net_scene_advance(net_scene* scene, double tick);
/// Check all that the scene holds (asserts). BASE_VALIDATE builds do it in each advance.
void net_scene_validate(const net_scene* scene);
/// Write the entity's interpolated components again at the next advance, because the caller changed
/// them.
void net_scene_touch(net_scene* scene, ecs_entity entity);

/// Inside the scene: scene.c takes things in and moves time on, scene_show.c brings one index to a
/// moment.

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
    base_owner owner;
    net_pool pool; ///< of what the slots hold
    net_match* match;
    net_rows* rows; ///< the match's
    net_row_world target;
    net_varsize_receiver* varsize;
    net_scene_slot* slots; ///< [index]
    uint32_t slot_capacity;
    base_bitset active;    ///< indices that the next advance must look at
    net_scene_link* links; ///< [template id of the feeder]
    uint32_t link_capacity;
    net_scene_shape** shapes; ///< [template id of the view]
    uint32_t shape_capacity;
    ecs_tick received[NET_SCENE_TICKS]; ///< [tick % NET_SCENE_TICKS]
    ecs_tick newest;                    ///< of any packet
    bool has_packet;
    net_event_line events;
    double shown, shown_before; ///< tick; before: at the beginning of this advance
    ecs_tick stepped;           ///< stage "act" ran for
    bool has_shown;
    net_result broken;
    net_scene_counters counters;
};

/// Bring one index to a moment. @return NET_OK; NET_ERR_FULL. *is_active: it must
/// be looked at again although no new sample exists.
BASE_MUST_USE net_result net_scene_place(net_scene* scene, uint32_t index, double moment,
                                         bool is_final, bool* is_active);

/// The history of one replicated index, by rising tick: its rows, and ticks at which it was
/// empty. The rows are of any incarnation, so they differ in length: entries are as long as the
/// longest. A tick_ring.h of at most NET_SCENE_SAMPLES_MAX entries; a zeroed one is empty.

/// An entry; the words of its row follow.
typedef struct net_scene_sample {
    ecs_entity handle;             ///< NONE: the index was empty
    const net_row_template* entry; ///< of the view's table; NULL: empty
} net_scene_sample;

/// The sample at a position, 0 the oldest, and its row. Borrowed until the ring changes.
static inline const net_scene_sample* net_scene_samples_get(const net_tick_ring* samples,
                                                            uint32_t position) {
    return net_tick_ring_entry(samples, position);
}
static inline const uint64_t* net_scene_sample_row(const net_scene_sample* sample) {
    return (const uint64_t*)(const void*)(sample + 1);
}
