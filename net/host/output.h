// SPDX-License-Identifier: MIT
/// What programs write: files of lines, and the line about dropped data. What a match contains is
/// for the operator alone: files have the rights 0600, and links are not followed (base/file.h).
#pragma once

#include "net/drops.h"
#include "net/trace.h"
#include "net/transport.h"

#include "base/report.h"

/// Writes one line and a newline to the FILE* in `file`. It fits every callback that gives lines.
void net_host_write_line(void* file, const char* line);

/// Writes the content of a file. `context` is the caller's, `file` a FILE*. @return false: it
/// failed.
typedef bool (*net_host_write_fn)(void* context, void* file);

/// Create or replace the file and let `write` fill it.
/// @return false when it cannot be written: reported.
BASE_MUST_USE bool net_host_write_file(const char* path, net_host_write_fn write, void* context,
                                       const base_reporter* reporter);

/// Open a file to write lines to while the program runs; *file is a FILE* for fclose. NULL as path:
/// *file stays NULL. @return false when it cannot be written: reported.
BASE_MUST_USE bool net_host_open_file(const char* path, const base_reporter* reporter, void** file);
/// A net_trace_fn: write the event as a line to the FILE* in `file`. Two threads may call it for
/// one file.
void net_host_write_trace(void* file, const net_trace_event* event);

/// Report one line with every reason for dropped data that has a count, or nothing when all are
/// zero. `stats` adds what the socket refused before a session saw it; NULL: left out.
void net_host_report_dropped(const uint64_t dropped[NET_DROP_COUNT],
                             const net_transport_stats* stats, const base_reporter* reporter);
