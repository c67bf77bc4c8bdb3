// SPDX-License-Identifier: MIT
/// A connection to a server's control socket, and answers as text: what files of shoal-ctl share.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "host/output.h"

#include <jansson.h>

#define CTL_ANSWER_S_MAX 30u ///< a server answers between two ticks
#define CTL_ANSWER_BYTES_MAX (64u << 20)

typedef struct ctl_connection {
    int descriptor;
    base_bytes answer; ///< of the last question
    json_t* object;    ///< the same, with numbers as strings: they are shown as they were sent
    const base_reporter* reporter;
} ctl_connection;

/// Send a line without its end and wait for the answer: `answer` and `object`.
/// @return false: reported.
BASE_MUST_USE bool ctl_ask(ctl_connection* connection, const char* line);
/// Copy a scalar of an answer as text, without what a terminal would obey; "..." for a container,
/// "" for NULL. NUL-terminated and cut. @return target.
const char* ctl_text(const json_t* value, char* target, size_t target_bytes);
/// @return the number in a value, of a text of digits too. false: it is none, *number is 0.
bool ctl_number(const json_t* value, double* number);
/// Print an object for people: a line for each value, a table for each list of objects, each
/// `indent` blanks in.
void ctl_show(json_t* object, int indent);
/// Show a live table of a match until q, Ctrl-C or the end of the server; without a terminal print
/// it one time. @return the exit code.
BASE_MUST_USE int ctl_top(ctl_connection* connection);
