// SPDX-License-Identifier: MIT
/// The commands of shoal-server that run no match. Each gets its own word as argv[0], reports its
/// faults, and returns the exit code.
#pragma once

#include "program.h"

/// The part that has them.
extern const server_part server_part_commands;

/// `check [options] FILE.blk|FILE.so...`: check templates, and modules by a short match of bots. A
/// .blk is read with its imports. With --no-import each file is read alone, and parents from other
/// files are no fault. A component of an unknown type gives a warning. Prints
/// "ok files=N templates=N components=N" to stdout, with " warnings=N" when a module got warnings
/// (check/check.h).
/// `check --stages GAME|FILE.so`: print which systems of a game run at the same time.
/// @return NET_EXIT_CLEAN; NET_EXIT_RUNTIME (cannot read); NET_EXIT_USAGE (has faults, or warnings
///         with --strict).
int server_check(int argc, char** argv, const base_reporter* reporter);
/// `schema --game NAME`: print as JSON what a client in another language needs of a game.
/// @return NET_EXIT_CLEAN; NET_EXIT_RUNTIME (no memory); NET_EXIT_USAGE (no such game).
int server_schema(int argc, char** argv, const base_reporter* reporter);
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
