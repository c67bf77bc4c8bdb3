// SPDX-License-Identifier: MIT
/// Guarded mappings: shared file memory that another process may cut short.
///
/// The kernel answers an access behind the end of a mapped file with SIGBUS, and the process ends.
/// A guarded range gets an empty private page there instead, and remembers that it lost its file.
/// Signals have one handler per process, so this has the only global state of the log. A SIGBUS
/// anywhere else does what it did before.
/// Source of the idea: systemd, src/basic/sigbus.c.
/// Threads: any; the handler runs on the thread that touched the memory.
#pragma once

#include "base/macros.h"

#include <stddef.h>

/// Ranges of one process at a time; more are refused.
#define NET_LOG_GUARDS_MAX 64u

/// Guard whole pages of a shared mapping. @return false when there are NET_LOG_GUARDS_MAX, or the
/// system refuses the handler.
BASE_MUST_USE bool net_log_guard_add(void* memory, size_t bytes);
/// Before the range is unmapped. Unknown ranges are ignored.
void net_log_guard_remove(void* memory);
/// Was a page of the guarded range lost?
BASE_MUST_USE bool net_log_guard_is_lost(const void* memory);
