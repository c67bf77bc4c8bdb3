// SPDX-License-Identifier: MIT
/// Recorded worlds: files of quantised rows, 60 frames per second ('CUBQ' and 'ARNQ', plain or
/// zstd).
#pragma once

#include "trace.h"

/// Read a file. If it is no trace, the program ends with a message. Close it with trace_close.
void trace_read(trace* made, const char* path);
