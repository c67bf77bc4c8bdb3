// SPDX-License-Identifier: MIT
#include "conform.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "vectors") == 0) return vectors_check(argv[2]);
    if ((argc == 5 || argc == 6) && strcmp(argv[1], "play") == 0)
        return play(argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "breakout");
    fprintf(stderr,
            "usage: conformance vectors WIRE.md | play WIRE.md ADDR:PORT SCHEMA_HASH [TABLES]\n"
            "A client written from WIRE.md alone: checks its vectors, or plays breakout.\n");
    return 2;
}
