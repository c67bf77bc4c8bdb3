// SPDX-License-Identifier: MIT
/// What the tables of all games share: a module from its file of templates, and bots.
#pragma once

#include "ecs_parts.h"
#include "text_file.h"

#include "net/match.h"

typedef struct table_bot {
    uint32_t client;
    uint64_t input_number;
    base_rng rng;
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES];
} table_bot;

static inline char* table_read_file(const char* file) {
    char* text = text_file_read(file);
    assert_non_null(text);
    return text;
}

/// Nothing may fail here: if it did, print what was reported.
static inline void table_expect_ok(net_result result, const base_report_first* faults) {
    if (result) print_error("%s\n", faults->text);
    assert_ok(result);
}

static inline net_module* table_wrap(const net_game_module* game, const char* file,
                                     base_report_first* faults) {
    base_reporter reporter = base_reporter_first(faults);
    char* text = table_read_file(file);
    net_module* module = NULL;
    table_expect_ok(net_module_wrap(game, text, strrchr(file, '/') + 1, &reporter, &module),
                    faults);
    free(text);
    return module;
}

/// The bot joins. The bots look at the server's own world.
static inline void table_bot_join(net_match* match, table_bot* bot, uint32_t client) {
    bot->client = client;
    bot->rng = base_rng_make(client, 7);
    net_match_join(match, &(net_game_player){.client = client, .name = "bot", .is_bot = true});
}

/// What a bot thinks about next.
static inline net_player_context table_bot_view(net_match* match, table_bot* bot) {
    return (net_player_context){
        .size_bytes = sizeof(net_player_context),
        .world = net_match_world(match),
        .context = net_match_context(match),
        .player = net_match_player(match, bot->client),
        .client = bot->client,
        .tick = net_match_tick(match),
        .dt = net_match_dt(match),
        .input_number = ++bot->input_number,
        .rng = &bot->rng,
        .memory = bot->memory,
    };
}

static inline void table_bot_input(net_match* match, uint32_t client, const void* input) {
    uint8_t packed[NET_INPUT_BYTES_MAX];
    size_t size;
    uint32_t message = net_match_input_message(match);
    assert_ok(net_match_pack(match, message, input, packed, sizeof packed, &size));
    assert_ok(net_match_input_check(match, packed, size));
    net_match_input(match, client, packed, size);
}
