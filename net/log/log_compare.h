// SPDX-License-Identifier: MIT
/// A world beside the state that a log recorded of it.
#pragma once

#include "net/log_state.h"
#include "net/match.h"
#include "net/replay.h"

/// The first entity, component and field in which the match after its last step differs from the
/// log's state of the same tick; fills entity, component, field, the two values and `note` of
/// `result`. Where all values are the same, the sums of components tell; `note` says so.
/// @return false when nothing differs.
bool net_log_compare(const net_log_state* state, net_match* match, net_verify_result* result);
