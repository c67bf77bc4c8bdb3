// SPDX-License-Identifier: MIT
// shoal-worlds: the bytes of generated worlds in row code (README.md).
//
// Exit codes: 0, 1 (a trace cannot be read, or a world is not read as it was written), 2 (usage).
#include "../bench.h"

#include "tool_options.h"

#include "stream.h"
#include "worlds.h"

#include <stdio.h>
#include <string.h>

static double per_packet(double bytes, const stream_result* result) {
    return bytes / (double)result->packets;
}

static void measure(const trace* of, uint32_t base) {
    stream_result result = stream_run(of, base, 1, NULL);
    printf("world=%s base=%u rows=%.1f shared=%.1f adaptive=%.1f solo=%.1f\n", of->name,
           (unsigned)base, per_packet((double)result.rows, &result),
           per_packet((double)result.bytes, &result), per_packet(result.reference_bytes, &result),
           per_packet((double)result.solo_bytes, &result));
    fflush(stdout);
}

static void measure_and_close(trace* of) {
    measure(of, of->rate_hz / 10);
    measure(of, 1);
    trace_close(of);
    bench_release(of);
}

static void measure_kind(const world_kind* kind, uint64_t seed) {
    trace* world = bench_allocate(sizeof *world);
    world_make(world, kind, seed);
    measure_and_close(world);
}

static void measure_file(const char* path) {
    trace* whole = bench_allocate(sizeof *whole);
    trace_read(whole, path);
    measure_and_close(whole);
}

typedef struct asked {
    bool is_list;
    const char *only, *file;
    uint64_t seed;
} asked;
#define FIELD(name) BASE_OPTION_FIELD(asked, name)

int main(int argc, char** argv) {
    asked self = {.seed = 1};
    const base_option table[] = {
        {"list", FIELD(is_list), NULL, "print the names of all kinds", 0, 0},
        {"world", FIELD(only), "NAME", "this kind only", 0, 0},
        {"file", FIELD(file), "FILE", "a recorded world instead (.q, .q.zst)", 0, 0},
        {"seed", FIELD(seed), "N", "of the worlds", 1, UINT32_MAX},
    };
    const tool about = {
        "shoal-worlds", "[options]",
        "Prints the bytes of generated worlds in row code; see tests/bench/worlds."};
    const int code = tool_options_read(about, table, &self, argc, argv, NULL);
    if (code >= 0) return code;
    if (self.file) {
        measure_file(self.file);
        return 0;
    }
    uint32_t count, found = 0;
    const world_kind* kinds = world_kinds(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (self.only && strcmp(self.only, kinds[i].name) != 0) continue;
        found++;
        if (self.is_list) {
            printf("%s\n", kinds[i].name);
        } else {
            measure_kind(&kinds[i], self.seed);
        }
    }
    if (found > 0) return 0;
    const base_reporter reporter = base_reporter_stderr();
    base_report(&reporter, NULL, 0, "no kind '%s': see shoal-worlds --list", self.only);
    return 2;
}
