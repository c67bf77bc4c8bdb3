// SPDX-License-Identifier: MIT
/// shoal-server schema --game NAME: what a client in another language needs of a game.
#pragma once

#include "base/report.h"

/// Print the schema of a game as JSON. `argv` are the arguments behind the command.
/// @return the exit code; faults are reported.
int server_schema(int argc, char** argv, const base_reporter* reporter);
