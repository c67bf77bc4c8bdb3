// SPDX-License-Identifier: MIT
/// A connection to a server's control socket.
#pragma once

#include "json.h"

#include "base/bytes.h"
#include "base/report.h"
#include "host/output.h"

#define CTL_ANSWER_S_MAX 30u ///< a server answers between two ticks
#define CTL_ANSWER_BYTES_MAX (64u << 20)

typedef struct ctl_connection {
    int descriptor;
    base_bytes answer; ///< of the last question
    const base_reporter* reporter;
} ctl_connection;

/// @return NET_EXIT_CLEAN, or the exit code: reported. Close it in both cases.
BASE_MUST_USE int ctl_connect(ctl_connection* connection, const char* path,
                              const base_reporter* reporter);
void ctl_close(ctl_connection* connection);
/// Send a line without its end and wait for the answer: *object, borrowed until the next question.
/// @return false: reported.
BASE_MUST_USE bool ctl_ask(ctl_connection* connection, const char* line, ctl_value* object);
