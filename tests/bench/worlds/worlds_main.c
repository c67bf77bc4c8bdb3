// SPDX-License-Identifier: MIT
// shoal-worlds: the bytes of generated worlds in row code (README.md).
//
// Exit codes: 0, 1 (a trace cannot be read, or a world is not read as it was written), 2 (usage).
#include "../bench.h"

#include "base/options.h"

#include "proto/tables.h"
#include "stream.h"
#include "trace_file.h"
#include "worlds.h"

#include <stdio.h>
#include <string.h>

#define USUAL_SHARE 0.0003 // as shoal-replay train

// Tables for a world, from a trace of it (another seed, or another part).
static void train(const trace* of, proto_tables* tables) {
    double* counts = bench_allocate(PROTO_TABLES_LENGTHS * sizeof *counts);
    uint8_t* usual = bench_allocate(PROTO_TABLES_LENGTHS);
    uint8_t* lengths = bench_allocate(PROTO_TABLES_LENGTHS);
    const stream_wishes wishes = {.counts = counts};
    double all = 0;
    (void)stream_run(of, of->rate_hz / 10, 1, &wishes);
    (void)stream_run(of, 1, 1, &wishes);
    for (uint32_t i = 0; i < PROTO_TABLES_LENGTHS; i++)
        all += counts[i];
    proto_tables_lengths(proto_tables_builtin(), usual);
    proto_tables_choose(counts, usual, all * USUAL_SHARE, lengths);
    bench_require(proto_tables_make(lengths, tables), "chosen lengths give tables");
    bench_release(counts);
    bench_release(usual);
    bench_release(lengths);
}

static double per_packet(double bytes, const stream_result* result) {
    return bytes / (double)result->packets;
}

static void measure(trace* of, uint32_t base, const proto_tables* trained) {
    trace_use_tables(of, NULL);
    const stream_wishes wishes = {.has_reference = true, .has_solo = true};
    stream_result plain = stream_run(of, base, 1, &wishes);
    trace_use_tables(of, trained);
    stream_result own = stream_run(of, base, 1, NULL);
    printf("world=%s base=%u rows=%.1f built_in=%.1f trained=%.1f adaptive=%.1f solo=%.1f\n",
           of->name, (unsigned)base, per_packet((double)plain.rows, &plain),
           per_packet((double)plain.bytes, &plain), per_packet((double)own.bytes, &own),
           per_packet(plain.reference_bytes, &plain), per_packet((double)plain.solo_bytes, &plain));
    fflush(stdout);
}

// Train with one world and measure another one of the same kind.
static void measure_pair(const trace* seen, trace* held_back) {
    proto_tables* tables = bench_allocate(sizeof *tables);
    train(seen, tables);
    measure(held_back, held_back->rate_hz / 10, tables);
    measure(held_back, 1, tables);
    bench_release(tables);
}

static void measure_kind(const world_kind* kind, uint64_t seed) {
    trace* worlds = bench_allocate(2 * sizeof *worlds);
    world_make(&worlds[0], kind, seed);
    world_make(&worlds[1], kind, seed + 1);
    measure_pair(&worlds[0], &worlds[1]);
    trace_close(&worlds[0]);
    trace_close(&worlds[1]);
    bench_release(worlds);
}

// The tables are trained with the first half of a file, and measured with the second one.
static void measure_file(const char* path) {
    trace* whole = bench_allocate(3 * sizeof *whole);
    trace_read(&whole[0], path);
    trace_part(&whole[0], 0, whole[0].frames / 2, &whole[1]);
    trace_part(&whole[0], whole[0].frames / 2, whole[0].frames, &whole[2]);
    measure_pair(&whole[1], &whole[2]);
    trace_close(&whole[0]);
    bench_release(whole);
}

int main(int argc, char** argv) {
    bool is_list = false;
    const char *only = NULL, *file = NULL;
    uint64_t seed = 1;
    const base_option table[] = {
        {"list", BASE_OPTION_FLAG, &is_list, NULL, "print the names of all kinds", 0, 0},
        {"world", BASE_OPTION_TEXT, &only, "NAME", "this kind only", 0, 0},
        {"file", BASE_OPTION_TEXT, &file, "FILE", "a recorded world instead (.q, .q.zst)", 0, 0},
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
    if (file) {
        measure_file(file);
        return 0;
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
