// SPDX-License-Identifier: MIT
/// --resume: the match of a log goes on.
#pragma once

#include "base/macros.h"

#include <stddef.h>

typedef struct server_program server_program; ///< program.h

/// Open the log of --resume, and take game and other options from it. Nothing without the option.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_resume_open(server_program* program);
/// Run its match again, up to the tick of --at. @return as server_resume_open.
BASE_MUST_USE int server_resume_match(server_program* program);
/// With --log-key: no signature of the log is wrong. @return as server_resume_open.
BASE_MUST_USE int server_resume_check_signed(server_program* program);
/// The players of that tick get their places. @return as server_resume_open.
BASE_MUST_USE int server_resume_players(server_program* program);
/// Print the `resumed` line.
void server_resume_print(const server_program* program);
/// The words, each with its NUL, of a command that goes on with this match when it crashed: with
/// the options that it had, at its address. @return their bytes; 0: it has no log, or they do not
/// fit.
size_t server_resume_command(const server_program* program, char* text, size_t text_bytes);
/// The log is not read any more. Nothing when none is open.
void server_resume_close(server_program* program);
