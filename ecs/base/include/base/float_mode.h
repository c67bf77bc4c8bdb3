// SPDX-License-Identifier: MIT
/// How a thread computes with floats. What must give the same bits runs in the standard mode:
/// results are the nearest, denormal numbers are kept, nothing traps. The mode is in a register of
/// the thread, which drivers, preloaded libraries and start-up code of -ffast-math change.
///
/// A function that a host calls, and that steps, predicts, runs a log or quantises, begins with
///     BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
/// and each return of it gives the host its mode back. A thread of our own sets it once. That is
/// two reads of the register where the host has the standard mode. Machines other than x86-64 and
/// AArch64 (wasm) have nothing to set.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

typedef uint64_t base_float_mode; ///< the register as it is

#if defined(__x86_64__)
#define BASE_FLOAT_MODE_BITS UINT64_C(0xffc0) // without the flags of what happened
#define BASE_FLOAT_MODE_STANDARD UINT64_C(0x1f80)
#else
#define BASE_FLOAT_MODE_BITS UINT64_MAX
#define BASE_FLOAT_MODE_STANDARD UINT64_C(0)
#endif

/// Get the mode of this thread.
static inline base_float_mode base_float_mode_get(void) {
    base_float_mode mode = BASE_FLOAT_MODE_STANDARD;
#if defined(__x86_64__)
    uint32_t word;
    __asm__ volatile("stmxcsr %0" : "=m"(word)::"memory");
    mode = word;
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode)::"memory");
#endif
    return mode;
}

/// Go from one mode to another. Without a difference nothing is written.
static inline void base_float_mode_change(base_float_mode from, base_float_mode to) {
    if (!((from ^ to) & BASE_FLOAT_MODE_BITS)) return;
#if defined(__x86_64__)
    const uint32_t word = (uint32_t)to;
    __asm__ volatile("ldmxcsr %0" ::"m"(word) : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" ::"r"(to) : "memory");
#endif
}

/// Have the mode that base_float_mode_get gave.
static inline void base_float_mode_restore(const base_float_mode* mode) {
    base_float_mode_change(base_float_mode_get(), *mode);
}

/// Have the standard mode. @return the mode before.
static inline base_float_mode base_float_mode_set(void) {
    const base_float_mode before = base_float_mode_get();
    base_float_mode_change(before, (before & ~BASE_FLOAT_MODE_BITS) | BASE_FLOAT_MODE_STANDARD);
    return before;
}

/// The variable is a mode, to which the thread returns at the end of the block.
#define BASE_FLOAT_MODE_HELD __attribute__((cleanup(base_float_mode_restore), unused))

BASE_C_END
