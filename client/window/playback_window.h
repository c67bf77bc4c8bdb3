// SPDX-License-Identifier: MIT
/// A playback in a window, or one picture of it.
#pragma once

#include "window/playback_state.h"

/// Play in a window, or write the picture of --shot.
/// @return NET_EXIT_CLEAN or NET_EXIT_RUNTIME. `playback` records differences and damage.
BASE_MUST_USE int client_playback_show(client_playback* playback);
