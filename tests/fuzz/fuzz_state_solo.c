// SPDX-License-Identifier: MIT
// As fuzz_state.c, for a session with solo code.
#define STATE_IS_SOLO true
#include "fuzz_state.c"
