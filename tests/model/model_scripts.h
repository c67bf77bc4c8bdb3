// SPDX-License-Identifier: MIT
/// How many random scripts a model runs, and from which seed: PROGRAM [scripts [seed [first]]]. The
/// environment variables MODEL_SCRIPTS and MODEL_SEED say the same.
#pragma once

#include "test.h"

typedef struct model_scripts {
    uint64_t seed;
    uint32_t count;
    uint32_t first; ///< number of the first script
} model_scripts;

static inline uint64_t model_number(const char* text, uint64_t otherwise) {
    uint64_t number = otherwise;
    if (text) BASE_ASSERT(base_text_parse_u64(text, &number));
    return number;
}

/// `scripts` holds the defaults. A shorter run has at least `count_min` scripts.
static inline void model_scripts_read(model_scripts* scripts, uint32_t count_min, int argc,
                                      char** argv) {
    scripts->count = (uint32_t)model_number(argc > 1 ? argv[1] : getenv("MODEL_SCRIPTS"),
                                            test_scaled(scripts->count, count_min));
    scripts->seed = model_number(argc > 2 ? argv[2] : getenv("MODEL_SEED"), scripts->seed);
    scripts->first = (uint32_t)model_number(argc > 3 ? argv[3] : NULL, 0);
    print_message("seed %llu, %u scripts\n", (unsigned long long)scripts->seed, scripts->count);
}

/// The main of a model with `scripts`; a shorter run has at least `count_min`.
#define MODEL_MAIN(count_min)                                                                      \
    int main(int argc, char** argv) {                                                              \
        model_scripts_read(&scripts, count_min, argc, argv);                                       \
        return test_run();                                                                         \
    }
