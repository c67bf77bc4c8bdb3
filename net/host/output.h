// SPDX-License-Identifier: MIT
/// What programs write: files of lines, and the line about dropped data. What a match contains is
/// for the operator alone: files have the rights 0600, and links are not followed (base/file.h).
#pragma once

#include "net/result.h"
#include "net/transport.h"

#include "base/options.h"
#include "base/report.h"

/// Writes one line and a newline to the FILE* in `file`. It fits every callback that gives lines.
void net_host_write_line(void* file, const char* line);

/// Writes the content of a file. `context` is the caller's, `file` a FILE*. @return false: it
/// failed.
typedef bool (*net_host_write_fn)(void* context, void* file);

/// Create or replace the file and let `write` fill it.
/// @return false when it cannot be written: reported, and no half file stays.
BASE_MUST_USE bool net_host_write_file(const char* path, net_host_write_fn write, void* context,
                                       const base_reporter* reporter);
/// Remove a file whose content is of no use. Pipes and devices stay.
void net_host_drop_file(const char* path);

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

/// The exit codes of shoal-server, shoal-client and shoal-replay. This is the only place that
/// declares them; server/README.md explains them to operators.

typedef enum net_exit_code {
    NET_EXIT_CLEAN = 0,
    NET_EXIT_RUNTIME = 1,  ///< a failure while running: no memory, a file, a damaged log
    NET_EXIT_USAGE = 2,    ///< wrong options, a game or a template file that cannot be used
    NET_EXIT_BIND = 3,     ///< the server's address cannot be bound
    NET_EXIT_MISMATCH = 4, ///< schema or protocol differ, or a later version wrote the log
    NET_EXIT_DIVERGED = 5, ///< the replay gave other bits than the log
    NET_EXIT_CONNECT = 6,  ///< no server answered, or it refused the client
    NET_EXIT_BEHIND = 7,   ///< a client had not caught up at the end of the match
    NET_EXIT_DIFFERS = 8,  ///< a client's world was another one at the end of the match
    NET_EXIT_FENCED = 9,   ///< another server goes on with the match of this one
} net_exit_code;

/// Report why the program does not go on; `file` NULL: none is to blame. @return `code`.
int net_exit_report(int code, const base_reporter* reporter, const char* file, const char* format,
                    ...) BASE_PRINTF(4, 5);
/// The exit code for a result of reading or replaying a log. The caller has reported the fault.
int net_exit_of_replay(net_result result);
/// The exit code for a result of opening what the user named: a game, templates, a setting. Only
/// missing memory is a failure of the machine; everything else is a wrong configuration.
int net_exit_of_setup(net_result result);
/// The exit code for an address that could not be bound, by errno: in use, or the machine lacks
/// descriptors or memory, and a later start may have them.
int net_exit_of_bind(int error);
/// The same as net_exit_of_setup; missing memory is reported too, because nothing below reports it.
int net_exit_report_setup(net_result result, const base_reporter* reporter);
/// The exit code for the reason of a refusal (wire.proto, RefusedReason), as the server sent it.
int net_exit_of_refusal(uint32_t reason);
/// The exit code after results went to `file` (a FILE*, stdout): `code`. When not all of them could
/// be written that is reported, and nothing is clean.
int net_exit_of_results(int code, void* file, const base_reporter* reporter);
/// After options that were not BASE_OPTIONS_OK: --help is clean.
int net_exit_of_options(base_options_result read);

/// Which build a program is.

/// "shoal-0.3.0-g1234567890ab": version and commit, at most 63 bytes (build_id.cmake has all
/// forms). It is in the header of every log and in `--version`. Never NULL.
const char* net_build_id(void);
