// SPDX-License-Identifier: MIT
#include "secure/replay.h"

#include <string.h>

static uint64_t* word_of(net_replay* replay, uint64_t number) {
    return &replay->seen[number % NET_REPLAY_BITS / 64];
}

bool net_replay_is_new(const net_replay* replay, uint64_t number) {
    if (number == 0) return false;
    if (number > replay->newest) return true;
    if (replay->newest - number >= NET_REPLAY_BITS) return false;
    return !(replay->seen[number % NET_REPLAY_BITS / 64] >> number % 64 & 1);
}

void net_replay_add(net_replay* replay, uint64_t number) {
    if (number > replay->newest) {
        uint64_t ahead = number - replay->newest;
        if (ahead >= NET_REPLAY_BITS) {
            memset(replay->seen, 0, sizeof replay->seen);
        } else {
            for (uint64_t skipped = replay->newest + 1; skipped < number; skipped++)
                *word_of(replay, skipped) &= ~(UINT64_C(1) << skipped % 64);
        }
        replay->newest = number;
    }
    *word_of(replay, number) |= UINT64_C(1) << number % 64;
}
