// SPDX-License-Identifier: MIT
// The rows trace_*: a recorded world in the real row code (worlds/stream.c).
#include "bench.h"

#include "worlds/stream.h"

#include <stdio.h>

void bench_trace(const char* path, uint32_t base, uint32_t stride) {
    trace* of = bench_allocate(sizeof *of);
    trace_read(of, path);
    stream_result got = stream_run(of, base, stride);
    double packets = (double)got.packets, per_packet = (double)got.bytes / packets;
    printf("bench=trace_%s_base%u", of->name, (unsigned)base);
    if (stride > 1) printf("_stride%u", (unsigned)stride);
    printf(" bytes_per_frame=%.1f kbit_per_s=%.1f ns_per_changed=%.0f ratio_to_raw=%.4f "
           "solo_bytes_per_frame=%.1f\n",
           per_packet, per_packet * 8 * of->rate_hz / stride / 1000, got.ns / (double)got.rows,
           (double)got.bytes / got.raw_bytes, (double)got.solo_bytes / packets);
    trace_close(of);
    bench_release(of);
}
