// SPDX-License-Identifier: MIT
// What an operator does to a match that runs. A log has each control before its tick, and a
// re-run makes the same call, so this depends on the match and the arguments alone. And the
// settings of a match: from texts, to its module, and in saves once an operator changed them.
#include "game/match.h"

#include "ecs/debug.h"
#include "ecs/inspect.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

typedef struct control {
    net_match* match;
    const net_match_argument* arguments;
    bool is_trial;
    const base_reporter* reporter;
} control;

static net_result refuse_control(const control* self, const char* text) {
    base_report(self->reporter, NULL, 0, "%s", text);
    return NET_ERR_MALFORMED;
}

// An argument as text. @return false: it is too long, or has a NUL.
static bool take_text(const control* self, uint32_t index, char* target, size_t target_bytes) {
    const net_match_argument* argument = &self->arguments[index];
    if (argument->size >= target_bytes || memchr(argument->data, 0, argument->size)) return false;
    memcpy(target, argument->data, argument->size);
    target[argument->size] = '\0';
    return true;
}

// Its settings changed: the module takes them.
static void tell_settings(net_match* match) {
    const net_game_start start = net_match_start(match);
    ecs_running_call("settings_changed");
    if (match->game->settings_changed)
        match->game->settings_changed(match->world, match->context, &start);
    ecs_running_call(NULL);
}

static net_result change_setting(const control* self) {
    net_match* match = self->match;
    char text[256];
    if (!match->game->settings_changed)
        return refuse_control(self, "this game takes its settings at the start only");
    if (!take_text(self, 0, text, sizeof text))
        return refuse_control(self, "KEY=VALUE is too long");
    net_match_config config = match->config;
    const net_result result = net_match_setting_apply(&config, text, self->reporter);
    if (result != NET_OK) return NET_ERR_MALFORMED;
    if (self->is_trial) return NET_OK;
    memcpy(match->config.settings, config.settings, sizeof config.settings);
    match->has_other_settings = true;
    tell_settings(match);
    return NET_OK;
}

static net_result put_value(const control* self) {
    enum {
        VALUE_BYTES = ECS_STRING_BYTES_MAX + 2
    }; // one that is too long is refused by its length
    char entity_text[32], path[2 * ECS_NAME_BYTES_MAX], value[VALUE_BYTES];
    ecs_entity entity;
    if (!take_text(self, 0, entity_text, sizeof entity_text) ||
        !ecs_entity_parse(entity_text, &entity))
        return refuse_control(self, "an entity is INDEX:GENERATION, as 12:1");
    if (!take_text(self, 1, path, sizeof path))
        return refuse_control(self, "the component is not a name");
    if (!take_text(self, 2, value, sizeof value))
        return refuse_control(self, "the value is too long");
    const ecs_result result =
        ecs_put(self->match->world, entity, path, value, self->is_trial, self->reporter);
    return result == ECS_OK ? NET_OK : NET_ERR_MALFORMED;
}

static bool is_line(const char* text) {
    uint32_t code;
    bool is_shown = text[0] != '\0';
    while (*text && is_shown)
        text += base_shown_next(text, &code, &is_shown);
    return is_shown;
}

static net_result say(const control* self) {
    net_match* match = self->match;
    char text[NET_LINE_BYTES_MAX];
    if (!match->game->operator_said)
        return refuse_control(self, "this game reads no lines of operators");
    if (!take_text(self, 0, text, sizeof text))
        return refuse_control(self, "the line is longer than a player may type");
    if (!is_line(text)) return refuse_control(self, "the line has characters that cannot be shown");
    ecs_running_call("operator_said");
    if (!self->is_trial) match->game->operator_said(match->world, match->context, text);
    ecs_running_call(NULL);
    return NET_OK;
}

// The timeline of a playback shows it; to the match it is nothing.
static net_result mark(const control* self) {
    char name[NET_MARK_BYTES];
    if (!take_text(self, 0, name, sizeof name)) return refuse_control(self, "the name is too long");
    return is_line(name) ? NET_OK
                         : refuse_control(self, "the name has characters that cannot be shown");
}

net_result net_match_control(net_match* match, const char* verb,
                             const net_match_argument* arguments, uint32_t count, bool is_trial,
                             const base_reporter* reporter) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    static const struct {
        const char* name;
        uint32_t count;
        net_result (*run)(const control* self);
    } verbs[] = {
        {"set", 1, change_setting}, {"put", 3, put_value}, {"say", 1, say}, {"mark", 1, mark}};
    const control self = {match, arguments, is_trial, reporter};
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER && match->joining == 0);
    for (uint32_t i = 0; i < BASE_COUNT(verbs); i++) {
        if (strcmp(verbs[i].name, verb) != 0) continue;
        if (count != verbs[i].count)
            return refuse_control(&self, "it has another number of arguments");
        return verbs[i].run(&self);
    }
    return NET_ERR_UNKNOWN;
}

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
    if (key_value[length] != '=' || length == 0 || length >= sizeof key)
        return BASE_REPORT_AS(NET_ERR_MALFORMED, reporter, NULL, 0, "\"%.64s\" is not KEY=VALUE",
                              key_value);
    memcpy(key, key_value, length);
    key[length] = '\0';
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        if (strcmp(setting->key, key) != 0) continue;
        double value;
        // Written so that NaN is refused.
        if (!base_text_parse_f64(key_value + length + 1, &value) ||
            !(value >= setting->min && value <= setting->max))
            return BASE_REPORT_AS(NET_ERR_MALFORMED, reporter, NULL, 0,
                                  "setting %s of %s must be a number from %g to %g", key,
                                  game->name, setting->min, setting->max);
        config->settings[i] = value;
        return NET_OK;
    }
    return refuse_key(game, key, reporter);
}

static void take_fault(void* context, const char* file, uint32_t line, const char* text) {
    net_match* match = context;
    match->is_refused |= match->starting != NULL;
    base_report(match->strays && !match->starting ? match->strays : &match->reporter, file, line,
                "%s", text);
}

const char* net_match_find_name(void* context, uint32_t client) {
    const net_match* match = context;
    const net_match_names* names = &match->config.names;
    return names->find ? names->find(names->context, client) : net_match_player_name(match, client);
}

net_game_start net_match_start(net_match* match) {
    return (net_game_start){
        .size_bytes = sizeof(net_game_start),
        .tick_rate_hz = match->config.tick_rate_hz,
        .dt = match->dt,
        .seed = match->config.seed,
        .settings = match->config.settings,
        .setting_count = match->game->setting_count,
        .services = &match->services,
        .files = match->config.module->files,
        .file_count = match->config.module->file_count,
        .fault = take_fault,
        .fault_context = match,
        .line = match->config.line,
        .line_context = match->config.line_context,
        .player_name = net_match_find_name,
        .name_context = match,
    };
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
    tell_settings(match);
    return true;
}
