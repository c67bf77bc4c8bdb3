// SPDX-License-Identifier: MIT
/// Random rows that find misreadings, as lines for wire_vectors.txt.
#pragma once

#include <stdint.h>

/// Number of the rule that is read wrongly; 0: none.
extern int misreading;

/// Try `rows` random rows; print those that find a misreading which no printed row found. `only` is
/// the one to find; 0: all. @return 0; 2: the page cannot be read.
int search_rows(const char* folder, int misreading_count, uint64_t seed, uint32_t rows, int only);
