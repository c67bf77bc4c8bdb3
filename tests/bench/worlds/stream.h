// SPDX-License-Identifier: MIT
/// A trace in the real row code, as the stream of one client that sees everything.
#pragma once

#include "trace.h"

/// What the packets of a stream had, without the first ones, which describe a world that exists
/// already.
typedef struct stream_result {
    uint64_t packets, rows, bytes;
    uint64_t solo_bytes;    ///< in solo code
    double ns;              ///< of writing
    double raw_bytes;       ///< of all rows in all packets, without any coding
    double reference_bytes; ///< with an adaptive coder for the rows (adaptive.h)
} stream_result;

/// What a component of the rows of a template took, in all counted packets.
typedef struct stream_cost {
    double rows, differ;           ///< rows; those in which it was not as in the base row
    double shared, solo, adaptive; ///< bits
} stream_cost;

enum { STREAM_HEAD = PROTO_ROW_COMPONENTS_MAX, STREAM_PARTS }; ///< a row's bits of no component

/// [is it a create][template][component or STREAM_HEAD]
typedef stream_cost stream_costs[2][TRACE_TEMPLATES_MAX][STREAM_PARTS];

/// Write each packet (every `stride` frames), read it again and compare. The base of a packet is
/// the packet `base` packets before. `costs` (NULL: not wanted) is cleared memory.
stream_result stream_run(const trace* of, uint32_t base, uint32_t stride, stream_costs* costs);
