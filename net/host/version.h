// SPDX-License-Identifier: MIT
/// Which build a program is.
#pragma once

/// "shoal-0.1.0-g1234567890ab": version and commit, at most 63 bytes (build_id.cmake has all
/// forms). It stands in the header of every log and in `--version`. Never NULL.
const char* net_build_id(void);
