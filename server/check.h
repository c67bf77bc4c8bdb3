// SPDX-License-Identifier: MIT
/// `shoal-server check [--no-import] FILE.blk|FILE.so...`: looks at files as a stranger's, runs nothing.
#pragma once

#include "base/report.h"

/// A .blk is read with all that it imports, unless --no-import comes first: then each file is looked at by
/// itself, and parents that it does not have are no fault. Components of unknown types are warned of.
/// Prints "ok files=N templates=N components=N" to stdout, or the faults through the reporter.
/// @return the program's exit code: 0, 1 (cannot read) or 2 (a fault was reported).
int server_check(int file_count, char** files, const base_reporter* reporter);
