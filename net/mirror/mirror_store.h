// SPDX-License-Identifier: MIT
/// Rows as a mirror keeps them: each word in 1, 2, 4 or 8 bytes, by the bits of its field.
#pragma once

#include "proto/layout.h"

#define NET_PACKED_ROW_BYTES_MAX (PROTO_ROW_FIELDS_MAX * 8u)
#define NET_PACKED_ROW_SLACK 8u ///< bytes after a packed row, of any content

/// Get the bytes of a packed row of this layout; at most NET_PACKED_ROW_BYTES_MAX.
uint32_t net_packed_row_bytes(const proto_layout* layout);
/// Pack a row whose words fit their fields; the slack after it is overwritten. @return its bytes.
uint32_t net_packed_row_write(const proto_layout* layout, const uint64_t* row, uint8_t* packed);
/// Unpack it into field_count words.
void net_packed_row_read(const proto_layout* layout, const uint8_t* packed, uint64_t* row);
