// SPDX-License-Identifier: MIT
/// Copies of the sizes that most components have, without a call.
#pragma once

#include <stdint.h>
#include <string.h>

/// memcpy with the sizes that most components have as plain moves instead of a call.
static inline void ecs_bytes_copy(void* target, const void* source, uint32_t size) {
    switch (size) {
    case 0:
        break;
    case 1:
        memcpy(target, source, 1);
        break;
    case 4:
        memcpy(target, source, 4);
        break;
    case 8:
        memcpy(target, source, 8);
        break;
    case 12:
        memcpy(target, source, 12);
        break;
    case 16:
        memcpy(target, source, 16);
        break;
    case 24:
        memcpy(target, source, 24);
        break;
    case 32:
        memcpy(target, source, 32);
        break;
    case 48:
        memcpy(target, source, 48);
        break;
    case 64:
        memcpy(target, source, 64);
        break;
    default:
        memcpy(target, source, size);
    }
}

/// memset to zero in the same manner.
static inline void ecs_bytes_zero(void* target, uint32_t size) {
    switch (size) {
    case 0:
        break;
    case 1:
        memset(target, 0, 1);
        break;
    case 4:
        memset(target, 0, 4);
        break;
    case 8:
        memset(target, 0, 8);
        break;
    case 12:
        memset(target, 0, 12);
        break;
    case 16:
        memset(target, 0, 16);
        break;
    case 24:
        memset(target, 0, 24);
        break;
    case 32:
        memset(target, 0, 32);
        break;
    case 48:
        memset(target, 0, 48);
        break;
    case 64:
        memset(target, 0, 64);
        break;
    default:
        memset(target, 0, size);
    }
}
