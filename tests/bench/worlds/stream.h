// SPDX-License-Identifier: MIT
/// A trace in the real row code, as the stream of one client that sees everything.
#pragma once

#include "trace.h"

/// What the packets of a stream had, without the first ones, which describe a world that exists
/// already.
typedef struct stream_result {
    uint64_t packets, rows, bytes;
    uint64_t solo_bytes; ///< in solo code
    double ns;           ///< of writing
    double raw_bytes;    ///< of all rows in all packets, without any coding
} stream_result;

/// Write each packet (every `stride` frames), read it again and compare. The base of a packet is
/// the packet `base` packets before.
stream_result stream_run(const trace* of, uint32_t base, uint32_t stride);
