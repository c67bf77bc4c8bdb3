// SPDX-License-Identifier: MIT
/// `shoal-server keygen` and `shoal-server token`: what an operator needs to let players in by
/// connect tokens. A matchmaker does the same through net/token.h.
#pragma once

#include "base/report.h"

/// `keygen FILE`: make a key file that only this user can read. With --rotate a new key becomes the
/// current one; older ones are kept, so that their tokens are still accepted.
/// @return the exit code: NET_EXIT_CLEAN, NET_EXIT_RUNTIME (file) or NET_EXIT_USAGE.
int server_keygen(int argc, char** argv, const base_reporter* reporter);
/// `token --key-file FILE [options]`: print connect tokens, one a line.
/// @return the exit code, as above.
int server_token(int argc, char** argv, const base_reporter* reporter);
