// SPDX-License-Identifier: MIT
/// Planted faults by name. Only a build of the libraries with SHOAL_FAULTS has them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Plant the fault `name`, for example "skip_apply". @return false: this program has no such fault.
bool faults_plant(const char* name);
/// Set the number of the run: 1 is the second run of the same seed.
void faults_set_run(uint32_t run);
