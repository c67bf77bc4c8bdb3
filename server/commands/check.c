// SPDX-License-Identifier: MIT
// Looking at a game without a server: its templates and modules are checked, its systems and its
// schema printed.
#include "commands.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/options.h"
#include "base/text.h"
#include "ecs/system.h"
#include "host/output.h"
#include "host/sentry.h"
#include "host/setup.h"
#include "check/check.h"
#include "net/match.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- check --stages: the graph of a game's systems, a line per node, a line per edge ----
//
// A system that declares nothing has an edge to every other one. Its line says so, and no edges are
// printed for it.

static void print_system(const ecs_world* world, uint32_t stage, uint32_t position,
                         const ecs_system_info* info) {
    printf("wave=%u system=%s", info->wave, info->name);
    if (info->is_sync_point) {
        printf(" runs=nothing\n");
        return;
    }
    const ecs_conflict own = ecs_stage_conflict(world, stage, position, position);
    if (!info->is_confined)
        printf(" runs=alone because=declares_nothing");
    else if (info->may_cut)
        printf(" runs=in_ranges quantum=%u", info->quantum);
    else if (info->may_share)
        printf(" runs=in_loops quantum=%u", info->quantum);
    else if (info->quantum > 0 && own.kind == ECS_CONFLICT_ACCESS)
        printf(" runs=whole because=shares name=%s", own.name);
    else
        printf(" runs=whole");
    if (info->every_ticks > 1) printf(" every=%u", info->every_ticks);
    printf("\n");
}

static void print_pair(const ecs_world* world, uint32_t stage, uint32_t first, uint32_t second) {
    const ecs_conflict found = ecs_stage_conflict(world, stage, first, second);
    if (found.kind != ECS_CONFLICT_ORDER && found.kind != ECS_CONFLICT_ACCESS) return;
    printf("apart=%s,%s because=", ecs_stage_system_name(world, stage, first),
           ecs_stage_system_name(world, stage, second));
    if (found.kind == ECS_CONFLICT_ORDER)
        printf("order\n");
    else
        printf("%s writes=%s\n", found.who, found.name);
}

// @return whether the stage exists.
static bool print_stage(const ecs_world* world, uint32_t stage) {
    ecs_system_info info;
    const char* name = ecs_stage_name(world, stage);
    if (!name) return false;
    uint32_t count = 0, waves = 0;
    for (; ecs_stage_system_info(world, stage, count, &info); count++)
        waves = info.wave + 1;
    printf("stage=%s systems=%u waves=%u\n", name, count, waves);
    for (uint32_t i = 0; ecs_stage_system_info(world, stage, i, &info); i++)
        print_system(world, stage, i, &info);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++)
            print_pair(world, stage, i, k);
    return true;
}

// A line per system, then one per pair of systems that cannot run at the same time.
static net_result print_stages(net_match* match) {
    const ecs_world* world = net_match_world(match);
    for (uint32_t stage = 0; print_stage(world, stage);)
        stage++;
    printf("ok threads=%u\n", ecs_world_threads_max(world));
    return NET_OK;
}

// Print something of a match of the game that has no players.
static int print_of(const char* game, net_result (*print)(net_match* match),
                    const base_reporter* reporter) {
    net_module* module = NULL;
    net_match* match = NULL;
    net_result result = net_host_open_module(game, reporter, &module);
    if (result == NET_OK) {
        const net_match_config config = net_match_config_default(module);
        result = net_match_create(&config, reporter, &match);
    }
    if (match) {
        result = print(match);
        net_match_destroy(match);
    }
    if (module) net_module_close(module);
    return net_exit_report_setup(result, reporter);
}

// ---- check ----
//
// A .blk may use struct types that only its module registers. The module of the same name is
// therefore looked for beside the file and then in the module path; without a module only the
// built-in types are known. A module plays a short match of bots (net/check.h), with its log in a
// folder of its own that is removed.

enum { TICKS_MAX = 1000000 };

typedef struct totals {
    uint32_t files;
    uint32_t templates;
    uint32_t components;
    uint32_t warnings;
} totals;

static bool has_suffix(const char* text, const char* suffix) {
    size_t length = strlen(text), end = strlen(suffix);
    return length > end && strcmp(text + length - end, suffix) == 0;
}

// The module that belongs to NAME.blk; NULL when there is none.
static net_module* find_module(const char* file) {
    BASE_ASSERT(has_suffix(file, ".blk"));
    char path[1024];
    const base_reporter quiet = {0};
    size_t stem = strlen(file) - strlen(".blk");
    net_module* module = NULL;
    if (stem + 4 > sizeof path) return NULL;
    base_text_format(path, sizeof path, "%.*s.so", (int)stem, file);
    bool is_beside = access(path, R_OK) == 0 && net_module_check(path, &quiet) == NET_OK;
    if (is_beside && net_module_open(path, "", &quiet, &module) == NET_OK) return module;
    path[stem] = '\0';
    const char* slash = strrchr(path, '/');
    net_result result = net_host_open_module(slash ? slash + 1 : path, &quiet, &module);
    return result == NET_OK ? module : NULL;
}

// The file and what it imports, as a match would load them.
static ecs_result load_files(ecs_world* world, const char* file, const base_reporter* reporter) {
    base_bytes pack;
    base_bytes_init(&pack, NULL);
    net_template_reporter texts = {reporter, file};
    const base_reporter text_reporter = net_template_reporter_make(&texts);
    ecs_result result = ECS_ERR_SYNTAX;
    if (net_template_pack_read(file, reporter, &pack) == NET_OK)
        result = ecs_template_load_pack(world, pack.data, pack.size, &text_reporter);
    base_bytes_deinit(&pack);
    return result;
}

static int check_templates(const char* file, const base_reporter* reporter, totals* sum) {
    net_module* module = find_module(file);
    ecs_world_config config = ecs_world_config_default();
    ecs_world* world = NULL;
    int code = NET_EXIT_RUNTIME;
    if (ecs_world_create(&config, &world) == ECS_OK) {
        ecs_result result = module ? module->game->register_types(world, reporter) : ECS_OK;
        if (result == ECS_OK) result = load_files(world, file, reporter);
        code = result == ECS_OK ? NET_EXIT_CLEAN : NET_EXIT_USAGE;
        sum->templates += ecs_template_count(world);
        sum->components += ecs_component_count(world);
        ecs_world_destroy(world);
    }
    if (module) net_module_close(module);
    return code;
}

static void step(void* sentry) {
    net_sentry_busy(sentry);
}

// Play in a folder of its own, where the log can lie.
static net_result play(const net_check_config* asked, net_check_result* result) {
    char folder[128], log[160], happened[NET_CHECK_HAPPENED_BYTES] = "";
    const char* place = getenv("TMPDIR");
    if (!base_text_format(folder, sizeof folder, "%s/shoal-check-XXXXXX",
                          place && *place ? place : "/tmp") ||
        !mkdtemp(folder))
        return BASE_REPORT_AS(NET_ERR_IO, asked->reporter, folder, 0, "%s", strerror(errno));
    net_check_config config = *asked;
    base_text_format(log, sizeof log, "%s/check.slog", folder);
    config.log_file = log;
    net_sentry* sentry = net_sentry_create(&(net_sentry_config){.log_file = log,
                                                                .program = "shoal-server",
                                                                .reporter = *asked->reporter,
                                                                .happened = happened});
    config.happened = happened;
    config.stepped = step;
    config.stepped_context = sentry;
    net_sentry_busy(sentry);
    net_result code = net_check_play(&config, result);
    net_sentry_destroy(sentry);
    (void)unlink(log);
    base_text_format(log, sizeof log, "%s/check.slog.queue", folder);
    (void)unlink(log);
    (void)rmdir(folder);
    return code;
}

typedef struct check_config {
    uint64_t bots, ticks;
    base_option_list settings;
    bool is_strict, has_stages;
    char text[256]; // that of --ticks
} check_config;

static const base_option check_options[] = {
    {"ticks", BASE_OPTION_FIELD(check_config, ticks), "N,KEY=VALUE",
     "ticks to play (0: until each system has had rows and each line of a script ran, 120 to 1200)",
     0, TICKS_MAX},
    {"set", BASE_OPTION_FIELD(check_config, settings), "KEY=VALUE",
     "a setting of the game; repeatable", 0, 0},
    {"strict", BASE_OPTION_FIELD(check_config, is_strict), NULL, "a warning is a fault: exit 2", 0,
     0},
    {"stages", BASE_OPTION_FIELD(check_config, has_stages), NULL,
     "print which systems of one game run at the same time", 0, 0},
};

#define KEY(name) BASE_OPTION_FIELD(check_config, name) // of a key of an option

static const base_option ticks_keys[] = {
    {"bots", KEY(bots), "N", "bots that play a module", 1, NET_CHECK_BOTS_MAX},
};
static const base_option_keys check_keys[] = {{"ticks", ticks_keys, 1}};

static int check_module(const check_config* asked, const char* file, const base_reporter* reporter,
                        totals* sum) {
    net_result result = net_module_check(file, reporter);
    if (result != NET_OK) return result == NET_ERR_IO ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
    net_module* module = NULL;
    if (net_module_open(file, "", reporter, &module) != NET_OK) return NET_EXIT_USAGE;
    const net_check_config config = {.module = module,
                                     .file = file,
                                     .reporter = reporter,
                                     .bots = (uint32_t)asked->bots,
                                     .ticks = (uint32_t)asked->ticks,
                                     .settings = asked->settings.values,
                                     .setting_count = asked->settings.count};
    net_check_result found = {0};
    result = play(&config, &found);
    sum->templates += found.templates;
    sum->components += found.components;
    sum->warnings += found.warnings;
    net_module_close(module);
    if (result == NET_ERR_DIVERGED) return NET_EXIT_DIVERGED;
    if (result == NET_OK && found.faults > 0) return NET_EXIT_USAGE;
    return net_exit_report_setup(result, reporter);
}

static int check_file(const check_config* config, const char* file, const base_reporter* reporter,
                      totals* sum) {
    sum->files++;
    if (has_suffix(file, ".so")) return check_module(config, file, reporter, sum);
    if (has_suffix(file, ".blk")) return check_templates(file, reporter, sum);
    return net_exit_report(NET_EXIT_USAGE, reporter, file, "neither .blk nor .so");
}

static int check_files(const check_config* config, const base_option_list* files,
                       const base_reporter* reporter) {
    totals sum = {0};
    int worst = NET_EXIT_CLEAN;
    for (uint32_t i = 0; i < files->count; i++) {
        const int code = check_file(config, files->values[i], reporter, &sum);
        if (code > worst) worst = code;
    }
    if (worst != NET_EXIT_CLEAN) return worst;
    printf("ok files=%u templates=%u components=%u", sum.files, sum.templates, sum.components);
    if (sum.warnings > 0) printf(" warnings=%u", sum.warnings);
    printf("\n");
    return config->is_strict && sum.warnings > 0 ? NET_EXIT_USAGE : NET_EXIT_CLEAN;
}

static int run_check(int argc, char** argv, const base_reporter* reporter) {
    check_config config = {.bots = NET_CHECK_BOTS_DEFAULT};
    const base_options options = {
        .program = "shoal-server check",
        .usage = "[options] FILE.blk|FILE.so ... | --stages GAME|FILE.so",
        .about = "Checks templates, and modules by a short match of bots.",
        .options = check_options,
        .count = BASE_COUNT(check_options),
        .values = &config,
        .keys = check_keys,
        .keys_count = BASE_COUNT(check_keys),
        .config_text = config.text,
        .config_text_bytes = sizeof config.text,
    };
    base_option_list files = {0};
    const base_options_result read = base_options_read(&options, argc, argv, &files, reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    if (config.has_stages) {
        if (files.count == 1) return print_of(files.values[0], print_stages, reporter);
        return net_exit_report(NET_EXIT_USAGE, reporter, NULL,
                               "check --stages: name one game or FILE.so");
    }
    if (files.count > 0) return check_files(&config, &files, reporter);
    return net_exit_report(NET_EXIT_USAGE, reporter, NULL,
                           "check: name at least one FILE.blk or FILE.so");
}

// ---- schema ----

static net_result print_schema(net_match* match) {
    base_bytes json;
    base_bytes_init(&json, NULL);
    net_match_print_schema(match, &json);
    const bool is_written = fwrite(json.data, 1, json.size, stdout) == json.size;
    base_bytes_deinit(&json);
    return is_written ? NET_OK : NET_ERR_IO;
}

typedef struct schema_config {
    const char* game;
} schema_config;

static const base_option schema_options[] = {
    {"game", BASE_OPTION_FIELD(schema_config, game), "NAME|FILE.so", "the game", 0, 0},
};

static int run_schema(int argc, char** argv, const base_reporter* reporter) {
    schema_config config = {0};
    const base_options options = {
        .program = "shoal-server schema",
        .usage = "--game NAME|FILE.so",
        .about = "Prints the schema of a game as JSON, for clients in other languages.",
        .options = schema_options,
        .count = BASE_COUNT(schema_options),
        .values = &config,
    };
    const base_options_result read = base_options_read(&options, argc, argv, NULL, reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    if (config.game) return print_of(config.game, print_schema, reporter);
    return net_exit_report(NET_EXIT_USAGE, reporter, NULL,
                           "usage: shoal-server schema --game NAME");
}

static const server_command commands[] = {{"check", run_check},
                                          {"schema", run_schema},
                                          {"new", server_new},
                                          {"keygen", server_keygen},
                                          {"token", server_token}};

const server_part server_part_commands = {
    .name = "commands", .commands = commands, .command_count = BASE_COUNT(commands)};
