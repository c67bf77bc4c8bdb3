// SPDX-License-Identifier: MIT
/// The parts of a replay that net/log.h hides: the close record, and going back.
#pragma once

#include "log/log_read.h"
#include "net/log.h"

/// The close record, once net_log_replay_step returned NET_ERR_CLOSED; NULL when the log has none.
const net_log_record* net_log_replay_close(const net_log_replay* replay);
/// What the schema of the game here has other than the log's; empty: nothing is known.
const char* net_log_replay_difference(const net_log_replay* replay);

/// Another walk used the reader between two steps: go back to the place of the next record.
/// @return NET_OK; NET_ERR_DAMAGED (reported: the file changed).
BASE_MUST_USE net_result net_log_replay_return(net_log_replay* replay);
/// Append a save of the replay: its match and its place in the log. For this process and this
/// reader. Between steps. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_replay_save(const net_log_replay* replay, base_bytes* bytes);
/// Restore a save: the next step is the same as it was. The change list is empty. A failure after
/// the save no longer counts.
/// @return NET_OK; NET_ERR_MALFORMED (no such save); NET_ERR_MEMORY; NET_ERR_DAMAGED (reported: the
///         file changed). After any of them no step succeeds until a restore does.
BASE_MUST_USE net_result net_log_replay_restore(net_log_replay* replay, const void* data,
                                                size_t size);
