// SPDX-License-Identifier: MIT
/// Which value differs, when the log has none to compare with.
#pragma once

#include "log/log_replay.h"

/// After a run that reached result->diverged_tick: run on to the next keyframe of the log and
/// compare the worlds. What differs there first, of result->component or, without one, among
/// untracked components, goes into `result`, and its note says so. Nothing happens when there is no
/// such keyframe, or it cannot be used here.
void net_log_find_untracked(net_log_reader* reader, const net_module* module,
                            net_log_replay* replay, net_verify_result* result);
