// SPDX-License-Identifier: MIT
/// Where the moments of a playback come from: the match run again, or, when the game here cannot
/// run it, the values in the log.
#pragma once

#include "playback/playback_run.h"
#include "playback/playback_values.h"

/// One of both is set.
typedef struct net_playback_source {
    net_playback_run* run;
    net_playback_values* values;
    ecs_tick diverged; ///< where the run differed that was given up
} net_playback_source;

/// Another schema than the log's is no failure when the log has values: that it is not run again is
/// reported then, and why. @return as net_log_replay_create.
BASE_MUST_USE net_result net_playback_source_create(net_log_reader* reader,
                                                    const net_module* module,
                                                    const base_reporter* reporter,
                                                    net_playback_source* source);
/// The run differs from the log: give it up for the values in the log, which is reported. A log
/// without values leaves the run as it is. What borrows from its match must be gone before.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_source_give_up(net_playback_source* source,
                                                     net_log_reader* reader,
                                                     const base_reporter* reporter);
void net_playback_source_destroy(net_playback_source* source);
/// Go to a tick. With `is_through` a run runs every tick on the way. @return as net_playback_run_to
/// and net_playback_values_to.
BASE_MUST_USE net_result net_playback_source_to(net_playback_source* source, ecs_tick tick,
                                                bool is_through);
/// @return as net_playback_run_step and net_playback_values_step.
BASE_MUST_USE net_result net_playback_source_step(net_playback_source* source);
bool net_playback_source_has_jumped(const net_playback_source* source);
/// @return as net_playback_run_return.
BASE_MUST_USE net_result net_playback_source_return(net_playback_source* source);
/// @return The replayed match; NULL when there is none.
net_match* net_playback_source_match(const net_playback_source* source);
ecs_tick net_playback_source_tick(const net_playback_source* source);
ecs_tick net_playback_source_last(const net_playback_source* source);
ecs_tick net_playback_source_diverged(const net_playback_source* source);
/// The config of the match: rate, settings, indices. A setting that is not here is left out.
net_match_config net_playback_source_config(const net_playback_source* source,
                                            const net_module* module, const net_log_info* info);
