// SPDX-License-Identifier: MIT
/// A connection to a server's control socket, and answers as text: what files of shoal-ctl share.
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

/// Send a line without its end and wait for the answer: *object, borrowed until the next question.
/// @return false: reported.
BASE_MUST_USE bool ctl_ask(ctl_connection* connection, const char* line, ctl_value* object);
/// Print an object for people: a line for each value, a table for each list of objects, each
/// `indent` blanks in.
void ctl_show(ctl_value object, int indent);
/// Show a live table of a match until q, Ctrl-C or the end of the server; with `is_once` print it
/// one time. @return the exit code.
BASE_MUST_USE int ctl_top(ctl_connection* connection, bool is_once);
