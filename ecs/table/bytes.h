// SPDX-License-Identifier: MIT
/// Bytes of plain values: the sizes that most components have become plain moves instead of a call.
#pragma once

#include <stdint.h>
#include <string.h>

// clang-format off
/// Do `action(size)`, with a constant where the size is a usual one.
#define ECS_BY_SIZE(size, action)     \
    switch (size) {                   \
    case 0: break;                    \
    case 1: action(1); break;         \
    case 4: action(4); break;         \
    case 8: action(8); break;         \
    case 12: action(12); break;       \
    case 16: action(16); break;       \
    case 24: action(24); break;       \
    case 32: action(32); break;       \
    case 48: action(48); break;       \
    case 64: action(64); break;       \
    default: action(size);            \
    }
// clang-format on

static inline __attribute__((always_inline)) void ecs_bytes_copy(void* target, const void* source,
                                                                 uint32_t size) {
#define ECS_COPY(bytes) memcpy(target, source, bytes)
    ECS_BY_SIZE(size, ECS_COPY)
#undef ECS_COPY
}

/// The same where sizes are mostly those of a few floats: compares that the processor foresees cost
/// less than a jump through a table (destroy_seq_1m).
static inline __attribute__((always_inline)) void
ecs_bytes_copy_short(void* target, const void* source, uint32_t size) {
    if (size == 12)
        memcpy(target, source, 12);
    else if (size == 8)
        memcpy(target, source, 8);
    else if (size == 4)
        memcpy(target, source, 4);
    else
        ecs_bytes_copy(target, source, size);
}

static inline void ecs_bytes_zero(void* target, uint32_t size) {
#define ECS_ZERO(bytes) memset(target, 0, bytes)
    ECS_BY_SIZE(size, ECS_ZERO)
#undef ECS_ZERO
}
