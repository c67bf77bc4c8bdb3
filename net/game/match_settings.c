// SPDX-License-Identifier: MIT
// The settings of a match: from texts, to its module, and in saves once an operator changed them.
#include "game/match.h"

#include "net/match.h"

#include "ecs/debug.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"

#include <string.h>

net_match_config net_match_config_default(const net_module* module) {
    BASE_ASSERT(module && module->game);
    net_match_config config = {
        .module = module,
        .role = NET_ROLE_SERVER,
        .tick_rate_hz = NET_TICK_RATE_HZ_DEFAULT,
        .workers = module->workers,
    };
    for (uint32_t i = 0; i < module->game->setting_count; i++)
        config.settings[i] = module->game->settings[i].value_default;
    return config;
}

static net_result refuse_key(const net_game_module* game, const char* key,
                             const base_reporter* reporter) {
    base_nearest nearest = base_nearest_begin(key);
    for (uint32_t i = 0; i < game->setting_count; i++)
        base_nearest_offer(&nearest, game->settings[i].key);
    base_report(reporter, NULL, 0, "%s has no setting \"%s\"%s%s%s", game->name, key,
                nearest.found ? ", did you mean \"" : "", nearest.found ? nearest.found : "",
                nearest.found ? "\"?" : "");
    return NET_ERR_UNKNOWN;
}

net_result net_match_setting_apply(net_match_config* config, const char* key_value,
                                   const base_reporter* reporter) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(config && config->module && key_value);
    const net_game_module* game = config->module->game;
    char key[64];
    size_t length = strcspn(key_value, "=");
    if (key_value[length] != '=' || length == 0 || length >= sizeof key) {
        base_report(reporter, NULL, 0, "\"%.64s\" is not KEY=VALUE", key_value);
        return NET_ERR_MALFORMED;
    }
    memcpy(key, key_value, length);
    key[length] = '\0';
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        if (strcmp(setting->key, key) != 0) continue;
        double value;
        // Written so that NaN is refused.
        if (!base_text_parse_f64(key_value + length + 1, &value) ||
            !(value >= setting->min && value <= setting->max)) {
            base_report(reporter, NULL, 0, "setting %s of %s must be a number from %g to %g", key,
                        game->name, setting->min, setting->max);
            return NET_ERR_MALFORMED;
        }
        config->settings[i] = value;
        return NET_OK;
    }
    return refuse_key(game, key, reporter);
}

net_game_start net_match_start(const net_match* match) {
    return (net_game_start){
        .size_bytes = sizeof(net_game_start),
        .tick_rate_hz = match->config.tick_rate_hz,
        .dt = match->dt,
        .seed = match->config.seed,
        .settings = match->config.settings,
        .setting_count = match->game->setting_count,
        .services = &match->services,
    };
}

void net_match_tell_settings(net_match* match) {
    const net_game_start start = net_match_start(match);
    ecs_running_call("settings_changed");
    if (match->game->settings_changed)
        match->game->settings_changed(match->world, match->context, &start);
    ecs_running_call(NULL);
}

void net_match_save_settings(const net_match* match, base_bytes* bytes) {
    if (!match->has_other_settings) return;
    base_bytes_write_u32(bytes, match->game->setting_count);
    base_bytes_write(bytes, match->config.settings,
                     match->game->setting_count * sizeof match->config.settings[0]);
}

uint32_t net_match_saved_settings(const void* save, size_t size,
                                  double settings[NET_SETTINGS_MAX]) {
    base_reader bytes = base_reader_make(save, size);
    (void)base_reader_u32(&bytes); // the newest client
    const bool has_settings = (base_reader_u32(&bytes) & NET_MATCH_SAVE_SETTINGS) != 0;
    const uint32_t count = has_settings ? base_reader_u32(&bytes) : 0;
    if (count > NET_SETTINGS_MAX || !base_reader_read(&bytes, settings, count * sizeof *settings))
        return 0;
    return count;
}

bool net_match_restore_settings(net_match* match, bool has_settings, base_reader* bytes) {
    const net_game_module* game = match->game;
    double settings[NET_SETTINGS_MAX];
    const size_t size = game->setting_count * sizeof settings[0];
    memcpy(settings, match->first_settings, sizeof settings);
    if (has_settings &&
        (base_reader_u32(bytes) != game->setting_count || !base_reader_read(bytes, settings, size)))
        return false;
    for (uint32_t i = 0; i < game->setting_count; i++) // written so that NaN is refused
        if (!(settings[i] >= game->settings[i].min && settings[i] <= game->settings[i].max))
            return false;
    const bool is_same = memcmp(match->config.settings, settings, size) == 0;
    match->has_other_settings = has_settings;
    if (is_same) return true;
    memcpy(match->config.settings, settings, size);
    net_match_tell_settings(match);
    return true;
}
