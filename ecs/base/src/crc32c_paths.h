// SPDX-License-Identifier: MIT
/// Private: the two ways to compute CRC-32C, so that a test can compare them.
#pragma once

#include "base/macros.h"

/// With tables, on every machine.
uint32_t base_crc32c_portable(uint32_t crc, const void* data, size_t size);
/// With the instruction of the processor. Only where base_crc32c_has_hardware() is true.
uint32_t base_crc32c_hardware(uint32_t crc, const void* data, size_t size);
bool base_crc32c_has_hardware(void);
