// SPDX-License-Identifier: MIT
/// The view world: what a mirror was told, shown some ticks later and between ticks.
///
/// Rows, ends of lives, ticks of packets and events go in as they come, in any order. net_scene_advance
/// brings the world to a moment:
///   - what begins, ends, becomes another template, and components without `_interpolate` change when their
///     tick is shown; then events of that tick are posted and stage "act" runs, once per passed tick;
///   - components marked `_interpolate` lie between the two samples around the moment.
/// A row holds until the newest received tick that came without it: what rests and then moves does not
/// creep. Beyond the newest sample what moved goes on, slower and slower, and stops after
/// NET_EXTRAPOLATE_MS_MAX; a newer tick without it says that it rests. A step longer than `_teleport` per
/// tick, a new template and a new generation are jumps.
///
/// Memory: a ring of samples per replicated index and a queue of events; they grow to their peak and stay.
/// Running out is remembered: feeding does nothing any more and net_scene_advance returns it.
/// Threads: the thread that owns the world; outside of stages.
#pragma once

#include "net/match.h"
#include "state/varsize.h"
#include "net/presenter.h"
#include "session/event_outbox.h"
#include "state/rows.h"

/// Kept per index: more than NET_DELAY_MS_MAX at NET_TICK_RATE_HZ_MAX. Then the oldest give way.
#define NET_SCENE_SAMPLES_MAX 256u
/// Events that wait; further ones, and those more than NET_SCENE_TICKS ahead of the newest packet, are
/// dropped and counted.
#define NET_SCENE_EVENTS_MAX 512u
/// Received ticks remembered.
#define NET_SCENE_TICKS 1024u
/// Large values that wait for their entities to be shown, and their bytes.
#define NET_SCENE_VARSIZE_MAX 65536u
#define NET_SCENE_VARSIZE_BYTES_MAX (64u << 20)
/// Moments are doubles: rows, packets and moments above are ignored. 300,000 years at the highest rate.
#define NET_SCENE_TICK_MAX (UINT64_C(1) << 51)

typedef struct net_scene net_scene;

typedef struct net_scene_counters {
    uint64_t samples;      ///< rows that came
    uint64_t samples_late; ///< of those after their tick was shown
    uint64_t stalls;       ///< times a moving entity's samples ran out
    double stalled_ms;     ///< together
    uint64_t teleports;    ///< steps shown as jumps
    uint64_t creates, destroys, recreates;
    uint64_t events, events_dropped; ///< posted; without a target, or no room
    uint64_t jumps;                  ///< advances that left out ticks of stage "act"
} net_scene_counters;

/// `view`: role MIRROR, borrowed, the creator's own; the scene owns what is replicated in its world.
/// @return NET_OK; NET_ERR_MEMORY; NET_ERR_SCHEMA (reported).
BASE_MUST_USE net_result net_scene_create(const base_allocator* allocator, net_match* view,
                                          const base_reporter* reporter, net_scene** scene);
/// The view's entities stay as they are.
void net_scene_destroy(net_scene* scene);
/// Back to the beginning: its entities are destroyed, samples, ticks and events forgotten; counters stay.
/// The next advance may show any tick.
void net_scene_reset(net_scene* scene);

/// A row of an entity at a tick, in words of `entry`: of any world of the same module (found here by its
/// parts). Both are borrowed for the call; `entry` must outlive the scene.
void net_scene_row(net_scene* scene, ecs_entity entity, const net_row_template* entry,
                   ecs_tick tick, const uint64_t* row);
/// The entity's index was empty at that tick.
void net_scene_gone(net_scene* scene, ecs_entity entity, ecs_tick tick);
/// Everything that came with a packet of `tick` was given.
void net_scene_packet(net_scene* scene, ecs_tick tick);
/// A server's game event; number 0: unreliable. Reliable ones in their order. It is posted when event->tick
/// is shown and its target and whom it names live, or dropped when one of them is gone or
/// NET_EVENT_WAIT_TICKS_MAX went by (net_message.is_delivered_late).
void net_scene_event(net_scene* scene, const net_event_outbox_entry* event);
/// A large value: shown when its entity is, not at a tick of its own. Codes as of net_varsize_receiver_receive.
net_result net_scene_varsize(net_scene* scene, const net_varsize_message* message);
/// What did not fit while it waited (net_varsize_receiver_next_evicted).
bool net_scene_next_evicted(net_scene* scene, net_varsize_lost* lost);
/// Show the moment `tick` (1200.25: a quarter of the way from 1200 to 1201). An earlier moment than the one
/// shown is taken as that one. Of many passed ticks stage "act" runs for the last
/// NET_CATCH_UP_TICKS_MAX.
/// @return NET_OK; NET_ERR_MEMORY; NET_ERR_FULL (the world refused a creation); the same ever after.
BASE_MUST_USE net_result net_scene_advance(net_scene* scene, double tick);
/// Check all that the scene holds (asserts). BASE_VALIDATE builds do it in each advance.
void net_scene_validate(const net_scene* scene);
/// Write the entity's interpolated components anew at the next advance: somebody wrote over them.
void net_scene_touch(net_scene* scene, ecs_entity entity);
double net_scene_tick(const net_scene* scene); ///< shown; 0 before the first
/// Newest tick of any packet; 0 before the first.
ecs_tick net_scene_tick_newest(const net_scene* scene);
const net_scene_counters* net_scene_get_counters(const net_scene* scene);
