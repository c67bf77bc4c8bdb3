// SPDX-License-Identifier: MIT
/// The options of shoal-client, read and checked.
#pragma once

#include "base/options.h"
#include "net/limits.h"

#define CLIENT_BOTS_MAX 1000u

typedef struct client_config {
    const char* address; ///< the one positional word
    const char* game;    ///< NULL: ask the server
    bool is_headless;
    uint64_t bots; ///< 0: one player without a bot's mind
    const char* name;
    uint64_t ticks; ///< leave after so many client ticks; 0: stay
    const char* dump_world;
    const char* trace;
    const char* net;
    uint64_t seed;
    const char* config;
    char config_text[16384]; ///< text options from the file borrow from it
} client_config;

/// @return as base_options_read.
BASE_MUST_USE base_options_result client_config_read(client_config* config, int argc, char** argv,
                                                     const base_reporter* reporter);
