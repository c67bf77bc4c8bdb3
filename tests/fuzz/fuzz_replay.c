// SPDX-License-Identifier: MIT
// The replay window against a list of all numbers that were accepted.
//
// An input is the base as u64 and steps of two bytes: a signed distance from the newest number. The
// lowest bit of an odd number of the step says that the datagram was not authentic.
#include "fuzz.h"

#include "secure/crypt.h"
#include "secure/outer.h"

enum { STEPS_MAX = 512 };

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static uint64_t accepted[STEPS_MAX];
    if (size < 8) return 0;
    net_replay window = {0};
    uint64_t newest = net_secure_get_number(data, 8) & ((UINT64_C(1) << 48) - 1), top = 0;
    uint32_t count = 0, steps = 0;
    for (size_t at = 8; at + 2 <= size && steps < STEPS_MAX; at += 2, steps++) {
        int16_t step = (int16_t)net_secure_get_number(data + at, 2);
        uint64_t number = newest + (uint64_t)(int64_t)(step / 2);
        bool is_new = number != 0 && (number > top || top - number < NET_REPLAY_BITS);
        for (uint32_t i = 0; i < count; i++)
            is_new = is_new && accepted[i] != number;
        FUZZ_CHECK(net_replay_is_new(&window, number) == is_new);
        if (!is_new || step & 1) continue;
        net_replay_add(&window, number);
        accepted[count++] = number;
        if (number > top) newest = top = number;
        FUZZ_CHECK(window.newest == top);
    }
    return 0;
}
