// SPDX-License-Identifier: MIT
/// Inside of a re-run: the close record that ended the log.
#pragma once

#include "log_read.h"

/// The close record, once net_log_replay_step returned NET_ERR_CLOSED; NULL when the log has none.
const net_log_record* net_log_replay_close(const net_log_replay* replay);
