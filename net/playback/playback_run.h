// SPDX-License-Identifier: MIT
/// A log's match at any tick: forward by replaying, backward from the newest save before it.
///
/// Every hash of the log is compared with the replay's. The first that differs is reported and
/// remembered; the replay goes on, because a log that diverges is worth watching.
/// Threads: one. Memory: the match and its saves (playback_saves.h).
#pragma once

#include "playback/playback_saves.h"
#include "log/log_replay.h"

typedef struct net_playback_run net_playback_run;

/// Create a run at tick 0, before the first tick. It uses the reader until it is destroyed.
/// @return NET_OK; NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_run_create(net_log_reader* reader, const net_module* module,
                                                 const base_reporter* reporter, ecs_tick save_every,
                                                 size_t save_bytes_max, net_playback_run** run);
/// NULL does nothing.
void net_playback_run_destroy(net_playback_run* run);
/// Set the log's close record; its hashes are compared at its tick.
void net_playback_run_expect(net_playback_run* run, const net_log_record* close);
/// Go to a tick, at most net_playback_run_last, over the nearest save or keyframe. Behind ticks
/// that are lost it stands at the first one after them. The world's change list is undefined then.
/// @return NET_OK; NET_ERR_CLOSED, NET_ERR_DAMAGED (with net_playback_run_last lowered to the tick
///         before: the log cannot be followed so far); NET_ERR_MEMORY, NET_ERR_SCHEMA,
///         NET_ERR_MODULE (the match could not be made again). After any of them
///         net_playback_run_to is the only way on.
BASE_MUST_USE net_result net_playback_run_to(net_playback_run* run, ecs_tick tick);
/// The same, but run every tick on the way and compare its hash.
/// @return NET_OK; NET_ERR_CLOSED, NET_ERR_DAMAGED, NET_ERR_MEMORY, NET_ERR_SCHEMA,
///         NET_ERR_MODULE: net_playback_run_to has what they mean.
BASE_MUST_USE net_result net_playback_run_through(net_playback_run* run, ecs_tick tick);
/// Did the last step go over ticks that are lost? Then the world is another one, and its change
/// list says nothing about it.
bool net_playback_run_has_jumped(const net_playback_run* run);
/// Another walk used the reader: go back to the place in it. @return NET_OK; NET_ERR_DAMAGED
/// (reported: the file changed).
BASE_MUST_USE net_result net_playback_run_return(net_playback_run* run);
/// Go to the next tick; the change list describes this tick.
/// @return NET_OK; NET_ERR_CLOSED, NET_ERR_DAMAGED, NET_ERR_MEMORY, NET_ERR_SCHEMA,
///         NET_ERR_MODULE: net_playback_run_to has what they mean.
BASE_MUST_USE net_result net_playback_run_step(net_playback_run* run);
/// @return The replayed match; its address may change in net_playback_run_to.
net_match* net_playback_run_match(net_playback_run* run);
/// @return How often the match was created: rows and history belong to one number.
uint32_t net_playback_run_match_number(const net_playback_run* run);
ecs_tick net_playback_run_tick(const net_playback_run* run);
ecs_tick net_playback_run_last(const net_playback_run* run); ///< that can be reached
/// @return The first tick whose hash differs from the log's; 0: none so far.
ecs_tick net_playback_run_diverged(const net_playback_run* run);
const net_playback_saves* net_playback_run_saves(const net_playback_run* run);
