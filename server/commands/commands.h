// SPDX-License-Identifier: MIT
/// The commands of shoal-server that run no match. Each gets its own word as argv[0], reports its
/// faults, and returns the exit code.
#pragma once

#include "program.h"

/// The part that has them.
extern const server_part server_part_commands;

/// `new NAME [--kind KIND]`: make the folder NAME with files of games/skeleton, those of the kind
/// and those of all kinds, each with the game's name in it: a game that builds and plays as it is.
/// A folder that is there is left alone. Prints what to do next.
/// @return NET_EXIT_CLEAN; NET_EXIT_RUNTIME (cannot write); NET_EXIT_USAGE (no name of a game, or
///         taken).
int server_new(int argc, char** argv, const base_reporter* reporter);
/// `keygen FILE`: make a key file that only this user can read. With --rotate a new key becomes the
/// current one; older ones are kept, so that their tokens are still accepted.
/// @return NET_EXIT_CLEAN; NET_EXIT_RUNTIME (file); NET_EXIT_USAGE.
int server_keygen(int argc, char** argv, const base_reporter* reporter);
/// `token --key-file FILE [options]`: print connect tokens, one a line. A matchmaker does the same
/// through net/token.h.
/// @return NET_EXIT_CLEAN; NET_EXIT_RUNTIME (stdout); NET_EXIT_USAGE.
int server_token(int argc, char** argv, const base_reporter* reporter);
