// SPDX-License-Identifier: MIT
// A match: one world, one module, one order of calls.
//
// Every driver of a world calls the functions here: a server, each world of a client, the replay of
// a log. So a match and its replay differ in their caller only. match_players.c has joins and
// leaves, match_messages.c inputs and events, match_services.c what a module may ask, match_save.c
// saves.
//
// A steady tick allocates nothing here; joins may grow the table of players.
// Left to others: who
// may join, when inputs are due, what is logged (server/, session/, log/).
#include "game/match_internal.h"

#include "base/assert.h"
#include "base/text.h"
#include "state/schema_rows.h"

#include <string.h>

// ---- settings ----

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
    const char* keys[NET_SETTINGS_MAX];
    for (uint32_t i = 0; i < game->setting_count; i++)
        keys[i] = game->settings[i].key;
    const char* nearest = base_text_nearest(key, keys, game->setting_count);
    if (nearest) {
        base_report(reporter, NULL, 0, "%s has no setting \"%s\", did you mean \"%s\"?", game->name,
                    key, nearest);
    } else {
        base_report(reporter, NULL, 0, "%s has no setting \"%s\"", game->name, key);
    }
    return NET_ERR_UNKNOWN;
}

net_result net_match_setting_apply(net_match_config* config, const char* key_value,
                                   const base_reporter* reporter) {
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

// ---- create and destroy ----

static net_result fail(const base_reporter* reporter, const char* what, ecs_result result) {
    if (result == ECS_ERR_MEMORY) return NET_ERR_MEMORY;
    base_report(reporter, NULL, 0, "%s: %s", what, ecs_result_text(result));
    return NET_ERR_MODULE;
}

static void* memory_allocate(void* context, size_t size, size_t align) {
    net_match_memory* memory = context;
    void* block = memory->source->allocate(memory->source->context, size, align);
    // Workers allocate too.
    if (!block) __atomic_store_n(&memory->is_lacking, true, __ATOMIC_RELAXED);
    return block;
}

static void memory_release(void* context, void* block, size_t size) {
    net_match_memory* memory = context;
    memory->source->release(memory->source->context, block, size);
}

static net_result create_world(net_match* match, const base_reporter* reporter) {
    const char* tags[2];
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &match->memory.allocator;
    config.seed = match->config.seed;
    config.tags = tags;
    static const char* const tag_of_role[] = {
        [NET_ROLE_SERVER] = "server",
        [NET_ROLE_MIRROR] = "gameClient",
        [NET_ROLE_PREDICT] = "predict",
    };
    config.is_mirror = match->config.role != NET_ROLE_SERVER;
    tags[config.tag_count++] = tag_of_role[match->config.role];
    if (match->config.has_render) tags[config.tag_count++] = "render";
    if (match->config.replicated_index_max)
        config.limits.replicated_index_max = match->config.replicated_index_max;
    ecs_result result = ecs_world_create(&config, &match->world);
    return result ? fail(reporter, "the world", result) : NET_OK;
}

static net_result register_game(net_match* match, const base_reporter* reporter) {
    const net_module* module = match->config.module;
    ecs_result result = match->game->register_types(match->world, reporter);
    if (result) return fail(reporter, "the module's types", result);
    net_template_reporter texts = {reporter, module->templates_file};
    const base_reporter text_reporter = net_template_reporter_make(&texts);
    result = ecs_template_load_pack(match->world, module->pack, module->pack_bytes, &text_reporter);
    if (result) return fail(reporter, module->templates_file, result);
    result = match->game->register_systems(match->world, &match->context, reporter);
    if (result) return fail(reporter, "the module's systems", result);
    result = ecs_world_seal(match->world, reporter);
    return result ? fail(reporter, "the module's systems", result) : NET_OK;
}

static void start_game(net_match* match) {
    const net_game_start start = {
        .size_bytes = sizeof start,
        .tick_rate_hz = match->config.tick_rate_hz,
        .dt = match->dt,
        .seed = match->config.seed,
        .settings = match->config.settings,
        .setting_count = match->game->setting_count,
        .services = &match->services,
    };
    match->game->start(match->world, match->context, &start);
}

net_result net_match_create(const net_match_config* config, const base_reporter* reporter,
                            net_match** match_out) {
    BASE_ASSERT(config && config->module && match_out);
    BASE_ASSERT(config->tick_rate_hz >= NET_TICK_RATE_HZ_MIN &&
                config->tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    *match_out = NULL;
    net_match* match = base_allocate_zero(config->allocator, sizeof *match);
    if (!match) return NET_ERR_MEMORY;
    match->config = *config;
    match->game = config->module->game;
    match->dt = 1.0f / (float)config->tick_rate_hz;
    match->memory.source = config->allocator ? config->allocator : base_allocator_heap();
    match->memory.allocator = (base_allocator){memory_allocate, memory_release, &match->memory};
    match->requests.allocator = &match->memory.allocator;
    net_result result = create_world(match, reporter);
    if (!result) result = register_game(match, reporter);
    if (!result) result = net_match_messages_init(match, reporter);
    if (!result && config->like) {
        BASE_ASSERT(config->like->config.module == config->module);
        result = net_schema_create_like(&match->memory.allocator, match->world,
                                        config->like->schema, &match->schema);
    } else if (!result) {
        result = net_schema_create(&match->memory.allocator, match->world, match->game->messages,
                                   match->game->message_count, reporter, &match->schema);
    }
    if (!result) result = net_match_services_init(match, reporter);
    if (!result) net_match_set_workers(match, config->workers);
    if (!result && config->role == NET_ROLE_SERVER) start_game(match);
    // A module may have gone on with less than it asked for, or named another fault for it.
    if (match->memory.is_lacking) result = NET_ERR_MEMORY;
    if (result) {
        net_match_destroy(match);
        return result;
    }
    *match_out = match;
    return NET_OK;
}

void net_match_destroy(net_match* match) {
    if (!match) return;
    const base_allocator* allocator = match->config.allocator;
    net_rewind_destroy(match->rewind);
    net_interest_requests_deinit(&match->requests);
    if (match->schema) net_schema_destroy(match->schema);
    net_match_messages_deinit(match);
    BASE_ARRAY_RELEASE(&match->memory.allocator, match->players, match->player_capacity);
    if (match->world) ecs_world_destroy(match->world);
    base_release(allocator, match, sizeof *match);
}

net_result net_match_reload(net_match* match, const void* pack, size_t bytes,
                            const base_reporter* reporter, ecs_reload_report* report) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER);
    net_template_reporter texts = {reporter, match->config.module->templates_file};
    const base_reporter text_reporter = net_template_reporter_make(&texts);
    bool was_lacking = match->memory.is_lacking;
    ecs_result result =
        ecs_template_reload(match->world, pack, bytes, true, &text_reporter, report);
    match->memory.is_lacking = was_lacking; // all of it happened, or nothing
    if (result == ECS_OK) return NET_OK;
    return result == ECS_ERR_MEMORY ? NET_ERR_MEMORY : NET_ERR_MODULE;
}

// ---- parts ----

ecs_world* net_match_world(net_match* match) {
    return match->world;
}
const net_schema* net_match_schema(const net_match* match) {
    return match->schema;
}
const net_match_config* net_match_get_config(const net_match* match) {
    return &match->config;
}
void* net_match_context(net_match* match) {
    return match->context;
}
ecs_tick net_match_tick(const net_match* match) {
    return ecs_world_tick(match->world);
}
float net_match_dt(const net_match* match) {
    return match->dt;
}

void net_match_mirror_start(net_match* match, uint32_t tick_rate_hz, const double* settings,
                            uint32_t setting_count) {
    BASE_ASSERT(match->config.role != NET_ROLE_SERVER);
    BASE_ASSERT(tick_rate_hz >= NET_TICK_RATE_HZ_MIN && tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    match->config.tick_rate_hz = tick_rate_hz;
    match->dt = 1.0f / (float)tick_rate_hz;
    for (uint32_t i = 0; i < setting_count && i < match->game->setting_count; i++)
        match->config.settings[i] = settings[i];
    if (!match->game->mirror_start) return;
    const net_game_start start = {
        .size_bytes = sizeof start,
        .tick_rate_hz = tick_rate_hz,
        .dt = match->dt,
        .settings = match->config.settings,
        .setting_count = match->game->setting_count,
    };
    match->game->mirror_start(match->world, match->context, &start);
}

// ---- time ----

void net_match_step_at(net_match* match, ecs_tick tick) {
    BASE_ASSERT(tick > ecs_world_tick(match->world) || match->config.role != NET_ROLE_SERVER);
    const ecs_step step = {.tick = tick, .dt = match->dt};
    // Before each tick, so that a loader of the game that counts on it is the same in a replay.
    (void)ecs_loading_poll(match->world);
    ecs_world_step(match->world, &step);
    if (match->rewind &&
        net_rewind_step(match->rewind, match->world, tick, match->config.workers) != NET_OK)
        match->memory.is_lacking = true;
}

void net_match_set_workers(net_match* match, base_workers* workers) {
    match->config.workers = workers;
    ecs_world_set_workers(match->world, workers);
}

bool net_match_lacks_memory(const net_match* match) {
    return match->memory.is_lacking;
}

void net_match_step(net_match* match) {
    net_match_step_at(match, ecs_world_tick(match->world) + 1);
}
