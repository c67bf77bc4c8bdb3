// SPDX-License-Identifier: MIT
/// A command of the operator that is run for each closed segment (--log-on-close), with the
/// segment's file as its only argument. No shell reads either of them.
#pragma once

#include "base/macros.h"

#include <stdint.h>
#include <sys/types.h>

#define NET_LOG_COMMANDS_MAX 8u ///< that run at the same time

typedef struct net_log_command {
    const char* program; ///< NULL: none
    pid_t running[NET_LOG_COMMANDS_MAX];
    uint32_t running_count;
    uint64_t failures; ///< could not start, or ended with another code than 0
} net_log_command;

/// Start the command and do not wait for it. @return false when NET_LOG_COMMANDS_MAX run already:
/// try again later. With `is_end` (of the process that logs) it starts all the same, and its exit
/// code is not read. A command that cannot be started counts as a failure.
bool net_log_command_start(net_log_command* command, const char* file, bool is_end);
/// Look which commands have ended, without waiting.
void net_log_command_reap(net_log_command* command);
