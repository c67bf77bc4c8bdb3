// SPDX-License-Identifier: MIT
// The rows trace_*: a recorded world in the real row code (worlds/stream.c).
#include "bench.h"

#include "worlds/stream.h"

#include <stdio.h>

static void print_template(const trace* of, const stream_cost* costs, const char* what, uint32_t t,
                           double packets) {
    for (uint32_t c = 0; c < STREAM_PARTS; c++) {
        const stream_cost* cost = &costs[c];
        if (cost->rows == 0) continue;
        const char* name = c == STREAM_HEAD ? "head" : of->components_named[t][c];
        printf("%s=%s.%s rows=%.2f differ=%.2f shared=%.2f solo=%.2f adaptive=%.2f "
               "shared_each=%.2f\n",
               what, of->templates_named[t], name, cost->rows / packets, cost->differ / packets,
               cost->shared / 8 / packets, cost->solo / 8 / packets, cost->adaptive / 8 / packets,
               cost->shared / 8 / (cost->differ > 0 ? cost->differ : cost->rows));
    }
}

void bench_trace(const char* path, uint32_t base, uint32_t stride, bool by_component) {
    trace* of = bench_allocate(sizeof *of);
    trace_read(of, path);
    stream_costs* costs = by_component ? bench_allocate(sizeof *costs) : NULL;
    stream_result got = stream_run(of, base, stride, costs);
    double packets = (double)got.packets, per_packet = (double)got.bytes / packets;
    printf("bench=trace_%s_base%u", of->name, (unsigned)base);
    if (stride > 1) printf("_stride%u", (unsigned)stride);
    printf(" bytes_per_frame=%.1f kbit_per_s=%.1f ns_per_changed=%.0f ratio_to_raw=%.4f "
           "solo_bytes_per_frame=%.1f adaptive_bytes_per_frame=%.1f\n",
           per_packet, per_packet * 8 * of->rate_hz / stride / 1000, got.ns / (double)got.rows,
           (double)got.bytes / got.raw_bytes, (double)got.solo_bytes / packets,
           got.reference_bytes / packets);
    for (uint32_t t = 0; costs && t < of->template_count; t++) {
        print_template(of, (*costs)[0][t], "update", t, packets);
        print_template(of, (*costs)[1][t], "create", t, packets);
    }
    bench_release(costs);
    trace_close(of);
    bench_release(of);
}
