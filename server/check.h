// SPDX-License-Identifier: MIT
/// `shoal-server check FILE.blk|FILE.so...`: looks at files as a stranger's, runs nothing.
#pragma once

#include "base/report.h"

/// Prints "ok files=N templates=N components=N" to stdout, or the faults through the reporter.
/// @return the program's exit code: 0, 1 (cannot read) or 2 (a fault was reported).
int server_check(int file_count, char** files, const base_reporter* reporter);
