// SPDX-License-Identifier: MIT
/// Planted faults by name, where the libraries were built with SHOAL_FAULTS; elsewhere there is none.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// "skip_apply"... @return false: there is no such fault here.
bool faults_plant(const char* name);
/// 1: the same run again.
void faults_set_run(uint32_t run);
