// SPDX-License-Identifier: MIT
/// The exit codes of shoal-server, shoal-client and shoal-replay. This is the only place that
/// declares them; server/README.md explains them to operators.
#pragma once

#include "base/report.h"
#include "net/result.h"

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
} net_exit_code;

/// The exit code for a result of reading or replaying a log. The caller has reported the fault.
int net_exit_of_replay(net_result result);
/// The exit code for a result of opening what the user named: a game, templates, a setting. Only
/// missing memory is a failure of the machine; everything else is a wrong configuration.
int net_exit_of_setup(net_result result);
/// The same; missing memory is reported too, because nothing below reports it.
int net_exit_report_setup(net_result result, const base_reporter* reporter);
/// The exit code for the reason of a refusal (wire.proto, RefusedReason), as the server sent it.
int net_exit_of_refusal(uint32_t reason);
