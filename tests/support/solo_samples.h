// SPDX-License-Identifier: MIT
/// The samples of a body as vectors of SOLO.md have them.
#pragma once

#include "proto/solo.h"

#include <inttypes.h>
#include <stdio.h>

enum { SOLO_SAMPLES_BYTES_MAX = 8192 };

static inline void solo_samples_print(char* target, const proto_solo_coder* coder) {
    size_t at = 0;
    for (uint32_t i = 0; i < coder->sample_count; i++) {
        const proto_solo_sample sample = coder->samples[i];
        const uint32_t field = sample >> 12 & 4095, length = sample >> 4 & 255, high = sample & 7;
        const uint64_t situation = sample >> 24;
        uint64_t size = length > 4 ? (uint64_t)(8 | high) << (length - 4)
                        : length   ? (8 | high) >> (4 - length)
                                   : 0;
        char digits[9] = "";
        for (uint32_t k = 0; k < 8; k++)
            digits[k] = "0123456789abcdefghijklmnopqrstuv"[situation >> (5 * k) & 31];
        at += (size_t)snprintf(target + at, SOLO_SAMPLES_BYTES_MAX - at,
                               "%s%" PRIu32 ".%s.%s%" PRIu64 ".%" PRIu32, i ? "," : "", field,
                               digits, sample >> 3 & 1 ? "-" : "", size,
                               proto_solo_chance(coder->model, field, situation));
        if (at >= SOLO_SAMPLES_BYTES_MAX) return; // too long: it equals nothing
    }
}
