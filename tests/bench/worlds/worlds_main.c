// SPDX-License-Identifier: MIT
// shoal-worlds: the bytes of generated worlds in row code (README.md).
//
// Exit codes: 0, 1 (a trace cannot be read, or a world is not read as it was written), 2 (usage).
#include "../bench.h"

#include "base/options.h"

#include "stream.h"
#include "worlds.h"

#include <stdio.h>
#include <string.h>

static void measure(const trace* of, uint32_t base, uint32_t stride) {
    stream_result got = stream_run(of, base, stride);
    printf("world=%s base=%u stride=%u bytes=%.1f rows=%.1f bits_per_row=%.2f\n", of->name, base,
           stride, (double)got.bytes / (double)got.packets, (double)got.rows / (double)got.packets,
           8 * (double)got.bytes / (double)got.rows);
    fflush(stdout);
}

static void measure_kind(const world_kind* kind, uint64_t seed) {
    trace* of = bench_allocate(sizeof *of);
    world_make(of, kind, seed);
    measure(of, of->rate_hz / 10, 1);
    measure(of, 1, 1);
    trace_close(of);
    bench_release(of);
}

int main(int argc, char** argv) {
    bool is_list = false;
    const char* only = NULL;
    uint64_t seed = 1;
    const base_option table[] = {
        {"list", BASE_OPTION_FLAG, &is_list, NULL, "print the names of all kinds", 0, 0},
        {"world", BASE_OPTION_TEXT, &only, "NAME", "this kind only", 0, 0},
        {"seed", BASE_OPTION_U64, &seed, "N", "of the worlds", 1, UINT32_MAX},
    };
    const base_options options = {
        .program = "shoal-worlds",
        .usage = "[options]",
        .about = "Prints the bytes of generated worlds in row code; see tests/bench/worlds.",
        .options = table,
        .count = BASE_COUNT(table),
    };
    base_reporter reporter = base_reporter_stderr();
    switch (base_options_read(&options, argc, argv, NULL, &reporter)) {
    case BASE_OPTIONS_HELP:
        return 0;
    case BASE_OPTIONS_ERROR:
        return 2;
    case BASE_OPTIONS_OK:
        break;
    }
    uint32_t count, found = 0;
    const world_kind* kinds = world_kinds(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (only && strcmp(only, kinds[i].name) != 0) continue;
        found++;
        if (is_list) {
            printf("%s\n", kinds[i].name);
        } else {
            measure_kind(&kinds[i], seed);
        }
    }
    if (found > 0) return 0;
    base_report(&reporter, NULL, 0, "no kind '%s': see shoal-worlds --list", only);
    return 2;
}
