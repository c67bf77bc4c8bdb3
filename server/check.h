// SPDX-License-Identifier: MIT
/// `shoal-server check [--no-import] FILE.blk|FILE.so...`: checks templates and modules without a
/// match.
#pragma once

#include "base/report.h"

/// A .blk is read with its imports. With --no-import as the first word each file is read alone, and
/// parents from other files are no fault. A component of an unknown type gives a warning.
/// Prints "ok files=N templates=N components=N" to stdout, or the faults through the reporter.
/// @return the exit code: NET_EXIT_CLEAN, NET_EXIT_RUNTIME (cannot read) or NET_EXIT_USAGE (has
/// faults).
int server_check(int file_count, char** files, const base_reporter* reporter);
