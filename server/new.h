// SPDX-License-Identifier: MIT
/// `shoal-server new NAME`: the skeleton of a game, which builds and plays as it is.
#pragma once

#include "base/report.h"

/// Make the folder NAME with the files of games/skeleton, each with the game's name in it. A folder
/// that is there is left alone. Prints what to do next.
/// @return the exit code: NET_EXIT_CLEAN, NET_EXIT_RUNTIME (cannot write) or NET_EXIT_USAGE (no
///         name of a game, or taken).
int server_new(int argc, char** argv, const base_reporter* reporter);
