// SPDX-License-Identifier: MIT
/// `shoal-server check [--no-import] [--strict] FILE.blk|FILE.so...`: checks templates, and modules
/// by a short match of bots.
#pragma once

#include "base/report.h"

/// A .blk is read with its imports. With --no-import as the first word each file is read alone, and
/// parents from other files are no fault. A component of an unknown type gives a warning.
/// Prints "ok files=N templates=N components=N" to stdout, with " warnings=N" when a module got
/// warnings (net/tools/check.h), or the faults through the reporter.
/// @return the exit code: NET_EXIT_CLEAN, NET_EXIT_RUNTIME (cannot read) or NET_EXIT_USAGE (has
/// faults, or warnings with --strict).
int server_check(int file_count, char** files, const base_reporter* reporter);
