// SPDX-License-Identifier: MIT
/// A live table of a match: its state, and who plays.
#pragma once

#include "ctl.h"

/// Show it until q, Ctrl-C or the end of the server; with `is_once` print it one time.
/// @return the exit code.
BASE_MUST_USE int ctl_top(ctl_connection* connection, bool is_once);
