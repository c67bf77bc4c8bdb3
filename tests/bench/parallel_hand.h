// SPDX-License-Identifier: MIT
/// What two threads reach on this machine: plain arrays cut in two, no world and no workers.
#pragma once

#include <stdint.h>

/// The wall's clock.
double parallel_now_us(void);
/// Bodies of 36 bytes fall, with one thread and with two, in turn. @return the time of one divided
/// by that of two, in the shortest rounds.
double parallel_hand_speedup(uint32_t rows, uint32_t rounds);
