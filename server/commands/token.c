// SPDX-License-Identifier: MIT
// Keys come from files or the environment only: `ps` shows a command line to every user.
#include "access.h"
#include "commands.h"

#include "host/output.h"
#include "host/log_keys.h"
#include "host/keys.h"

#include "base/assert.h"
#include "base/options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { KEEP_DEFAULT = 1, LIFE_S_DEFAULT = 45, LIFE_S_MAX = 30 * 24 * 3600, COUNT_MAX = 1000 };

// ---- keygen

typedef struct keygen_config {
    bool is_rotating;
    uint64_t keep;
    const char* log;
} keygen_config;

static const base_option keygen_options[] = {
    {"rotate", BASE_OPTION_FIELD(keygen_config, is_rotating), NULL,
     "FILE exists: put a new key before its keys", 0, 0},
    {"keep", BASE_OPTION_FIELD(keygen_config, keep), "N", "with --rotate: older keys that stay", 0,
     NET_KEYS_MAX - 1},
    {"log", BASE_OPTION_FIELD(keygen_config, log), "FILE",
     "make the keys that sign logs: FILE for --log key, FILE.pub for shoal-replay verify --key", 0,
     0},
};

static int make_log_key(const char* file, const base_reporter* reporter) {
    net_log_public_key key;
    char id[NET_LOG_KEY_ID_BYTES];
    if (!net_host_make_log_key(file, &key, reporter)) return NET_EXIT_RUNTIME;
    net_log_key_id(&key, id);
    printf("key file=%s public=%s.pub id=%s\n", file, file, id);
    return NET_EXIT_CLEAN;
}

int server_keygen(int argc, char** argv, const base_reporter* reporter) {
    keygen_config config = {.keep = KEEP_DEFAULT};
    const base_options options = {
        .program = "shoal-server keygen",
        .usage = "FILE [options] | --log FILE",
        .about =
            "Makes the keys that a matchmaker and its servers share. Send SIGHUP after --rotate.",
        .options = keygen_options,
        .count = BASE_COUNT(keygen_options),
        .values = &config,
    };
    base_option_list words = {0};
    base_options_result read = base_options_read(&options, argc, argv, &words, reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    if (config.log && words.count == 0) return make_log_key(config.log, reporter);
    if (words.count != 1 || config.log)
        return net_exit_report(NET_EXIT_USAGE, reporter, NULL, "keygen: name one file");
    net_key_ring keys = {0};
    if (config.is_rotating && !net_host_load_keys(words.values[0], &keys, reporter))
        return NET_EXIT_USAGE;
    // Ids go round, so that a new key never has the id of one that is still accepted.
    uint8_t id = keys.count > 0 ? keys.keys[0].id : 0;
    do
        id = id >= NET_KEY_ID_RESUME - 1 ? 1 : (uint8_t)(id + 1);
    while (net_key_ring_find(&keys, id));
    uint32_t kept = config.keep < NET_KEYS_MAX ? (uint32_t)config.keep : NET_KEYS_MAX - 1;
    if (kept > keys.count) kept = keys.count;
    BASE_ASSERT(keys.count <= NET_KEYS_MAX && kept < NET_KEYS_MAX);
    memmove(keys.keys + 1, keys.keys, kept * sizeof *keys.keys);
    net_key_make(id, net_entropy_system(), &keys.keys[0]);
    keys.count = kept + 1;
    const bool is_saved = net_host_save_keys(words.values[0], &keys, !config.is_rotating, reporter);
    if (is_saved)
        printf("key file=%s id=%u keys=%u\n", words.values[0], keys.keys[0].id, keys.count);
    net_key_ring_wipe(&keys);
    return is_saved ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

// ---- token

typedef struct token_config {
    const char* key_file;
    base_option_list servers;
    uint64_t player_id;
    uint64_t life_s;
    uint64_t count;
    const char* user;
    char text[256]; // that of --player
} token_config;

static const base_option token_options[] = {
    {"key-file", BASE_OPTION_FIELD(token_config, key_file), "FILE",
     "keys that the servers have (else: content of SHOAL_KEYS)", 0, 0},
    {"server", BASE_OPTION_FIELD(token_config, servers), "ADDR:PORT",
     "a server that accepts it; repeatable (none: any with the key)", 0, 0},
    {"player", BASE_OPTION_FIELD(token_config, player_id), "ID,KEY=VALUE", "who the token is for",
     0, 0},
    {"life", BASE_OPTION_FIELD(token_config, life_s), "SECONDS", "time to connect", 1, LIFE_S_MAX},
    {"user", BASE_OPTION_FIELD(token_config, user), "TEXT", "for the game: team, rights...", 0, 0},
};

#define KEY(name) BASE_OPTION_FIELD(token_config, name) // of a key of an option

static const base_option player_keys[] = {
    {"count", KEY(count), "N", "make N tokens, for players ID, ID+1...", 1, COUNT_MAX},
};
static const base_option_keys token_keys[] = {{"player", player_keys, 1}};

static bool read_claims(const token_config* config, net_token_claims* claims,
                        const base_reporter* reporter) {
    claims->player_id = config->player_id;
    claims->expiry_unix_s = (uint64_t)time(NULL) + config->life_s;
    if (config->user) {
        size_t size = strlen(config->user);
        if (size > NET_TOKEN_USER_BYTES)
            return base_report(reporter, NULL, 0, "--user: longer than %u bytes",
                               NET_TOKEN_USER_BYTES);
        memcpy(claims->user_data, config->user, size);
    }
    claims->address_count = config->servers.count;
    return server_addresses_resolve("server", &config->servers, claims->addresses, reporter);
}

static int print_tokens(const net_key* key, net_token_claims* claims, uint64_t count) {
    for (uint64_t i = 0; i < count; i++, claims->player_id++) {
        net_token token;
        char text[NET_TOKEN_TEXT_BYTES];
        if (net_token_make(key, claims, net_entropy_system(), &token) != NET_OK)
            return NET_EXIT_RUNTIME;
        bool is_printed = net_token_print(&token, text, sizeof text) && puts(text) >= 0;
        net_token_wipe(&token);
        explicit_bzero(text, sizeof text);
        if (!is_printed) return NET_EXIT_RUNTIME;
    }
    return fflush(stdout) == 0 ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

int server_token(int argc, char** argv, const base_reporter* reporter) {
    token_config config = {.life_s = LIFE_S_DEFAULT, .count = 1};
    const base_options options = {
        .program = "shoal-server token",
        .usage = "--key-file FILE [options]",
        .about = "Prints connect tokens, one a line: shoal-client --token-file reads them.",
        .options = token_options,
        .count = BASE_COUNT(token_options),
        .values = &config,
        .keys = token_keys,
        .keys_count = BASE_COUNT(token_keys),
        .config_text = config.text,
        .config_text_bytes = sizeof config.text,
    };
    base_options_result read = base_options_read(&options, argc, argv, NULL, reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    net_key_ring keys;
    net_token_claims claims = {0};
    if (!net_host_load_keys(config.key_file, &keys, reporter)) return NET_EXIT_USAGE;
    if (keys.count == 0)
        return net_exit_report(NET_EXIT_USAGE, reporter, NULL,
                               "no key: --key-file FILE (made by shoal-server keygen)");
    int code = NET_EXIT_USAGE;
    if (read_claims(&config, &claims, reporter))
        code = print_tokens(&keys.keys[0], &claims, config.count);
    net_key_ring_wipe(&keys);
    return code;
}
