// SPDX-License-Identifier: MIT
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAY_WORDS = 6 };

static int usage(void) {
    fprintf(
        stderr,
        "usage: conformance vectors PROTO\n"
        "       conformance play PROTO ADDR:PORT SCHEMA_HASH SCHEMA.json [OPTION VALUE]...\n"
        "A client written from WIRE.md and its pages, in the folder PROTO, alone: checks their\n"
        "vectors, or plays the game of a schema.\n"
        "  --loss PERCENT   drop this share of datagrams on purpose, both ways\n"
        "  --seed N         seed of the loss\n"
        "  --corrupt TICKS  change a shown word so often, and request resyncs\n"
        "  --rate BYTES     request at most this many bytes per second\n"
        "  --solo 1         read solo code\n");
    return 2;
}

static bool parse_option(play_options* options, const char* name, const char* text) {
    const struct {
        const char* name;
        uint32_t* value;
    } all[] = {{"--loss", &options->loss_percent},
               {"--seed", &options->seed},
               {"--corrupt", &options->corrupt_ticks},
               {"--rate", &options->rate_bytes_max},
               {"--solo", &options->has_solo}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0) {
            *all[i].value = (uint32_t)strtoul(text, NULL, 10);
            return true;
        }
    return false;
}

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "vectors") == 0) return vectors_check(argv[2]);
    if (argc < PLAY_WORDS || strcmp(argv[1], "play") != 0 || argc % 2 != 0) return usage();
    play_options options = {
        .folder = argv[2], .address = argv[3], .schema_hash = argv[4], .game = argv[5]};
    for (int i = PLAY_WORDS; i < argc; i += 2)
        if (!parse_option(&options, argv[i], argv[i + 1])) return usage();
    return play(&options);
}
