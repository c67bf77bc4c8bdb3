// SPDX-License-Identifier: MIT
/// The ways to compute CRC-32C, apart, so that a test can compare them.
#pragma once

#include "base/macros.h"

/// Table driven, on every machine.
uint32_t base_crc32c_portable(uint32_t crc, const void* data, size_t size);
/// With the processor's instruction. Only where base_crc32c_has_hardware().
uint32_t base_crc32c_hardware(uint32_t crc, const void* data, size_t size);
bool base_crc32c_has_hardware(void);
