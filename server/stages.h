// SPDX-License-Identifier: MIT
/// shoal-server check --stages: which systems of a game run at the same time.
#pragma once

#include "base/report.h"

/// Print the stages of a game, by name or file: a line per system, then one per pair of systems
/// that cannot run at the same time.
/// @return the exit code; faults are reported.
int server_stages(const char* game, const base_reporter* reporter);
