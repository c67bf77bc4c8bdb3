// SPDX-License-Identifier: MIT
/// A log's match, brought to any tick: forward by running on, backward from the newest save before it.
///
/// Every hash that the log has is compared with the re-run's. The first that differs is reported and
/// remembered; the run goes on, for a log that diverges is worth looking at.
/// Threads: one. Memory: the match and its saves (playback_saves.h).
#pragma once

#include "playback/playback_saves.h"
#include "log/log_replay.h"

typedef struct net_playback_run net_playback_run;

/// The reader belongs to the run until it is destroyed. It stands at tick 0, before the first.
/// @return as net_log_replay_create.
BASE_MUST_USE net_result net_playback_run_create(net_log_reader* reader, const net_module* module,
                                                 const base_reporter* reporter, ecs_tick save_every,
                                                 size_t save_bytes_max, net_playback_run** run);
void net_playback_run_destroy(net_playback_run* run);
/// The log's close record, to be compared when its tick is reached. Only numbers of it are kept.
void net_playback_run_expect(net_playback_run* run, const net_log_record* close);
/// Go to a tick, at most net_playback_run_last. Then the world's change list is of any ticks on the way.
/// @return NET_OK; as net_log_replay_step, with net_playback_run_last lowered to the tick before, if the log
///         cannot be followed so far; NET_ERR_MEMORY and what net_log_replay_create returns. After any of
///         them net_playback_run_to is the only way on.
BASE_MUST_USE net_result net_playback_run_to(net_playback_run* run, ecs_tick tick);
/// Go to the next tick; the change list is of it alone. @return as net_playback_run_to.
BASE_MUST_USE net_result net_playback_run_step(net_playback_run* run);
/// Its address changes in net_playback_run_to.
net_match* net_playback_run_match(net_playback_run* run);
/// How often the match was made: rows and history of another one are of no use.
uint32_t net_playback_run_match_number(const net_playback_run* run);
ecs_tick net_playback_run_tick(const net_playback_run* run);
ecs_tick net_playback_run_last(const net_playback_run* run); ///< that can be reached
/// The first tick whose hash was not the log's; 0: none so far.
ecs_tick net_playback_run_diverged(const net_playback_run* run);
const net_playback_saves* net_playback_run_saves(const net_playback_run* run);
