// SPDX-License-Identifier: MIT
// Checking templates and modules.
//
// A .blk may use struct types that only its module registers. The module of the same name is
// therefore looked for beside the file and then in the module path; without a module only the
// built-in types are known. A module plays a short match of bots (tools/check.h), with its log in a
// folder of its own that is removed.
#include "check.h"
#include "stages.h"

#include "base/assert.h"
#include "base/text.h"
#include "tools/output.h"
#include "tools/setup.h"
#include "tools/check.h"
#include "net/match.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static char* read_file(const char* file, size_t* size, const base_reporter* reporter) {
    FILE* stream = fopen(file, "rb");
    if (!stream) {
        base_report(reporter, file, 0, "%s", strerror(errno));
        return NULL;
    }
    char* text = malloc(ECS_TEXT_BYTES_MAX + 2);
    if (text) {
        // One byte more than allowed, so that the reader sees (and names) a file that is too long.
        *size = fread(text, 1, ECS_TEXT_BYTES_MAX + 1, stream);
        text[*size] = '\0';
        if (ferror(stream)) {
            base_report(reporter, file, 0, "%s", strerror(errno));
            free(text);
            text = NULL;
        }
    }
    fclose(stream);
    return text;
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
    net_result read = net_template_pack_read(file, reporter, &pack);
    ecs_result result = read == NET_ERR_MEMORY ? ECS_ERR_MEMORY : ECS_ERR_SYNTAX;
    if (read == NET_OK)
        result = ecs_template_load_pack(world, pack.data, pack.size, &text_reporter);
    base_bytes_deinit(&pack);
    return result;
}

static int check_templates(const char* file, bool is_alone, const base_reporter* reporter,
                           totals* sum) {
    size_t size = 0;
    char* text = read_file(file, &size, reporter);
    if (!text) return NET_EXIT_RUNTIME;
    net_module* module = find_module(file);
    ecs_world_config config = ecs_world_config_default();
    ecs_world* world = NULL;
    int code = NET_EXIT_RUNTIME;
    if (ecs_world_create(&config, &world) == ECS_OK) {
        ecs_result result = module ? module->game->register_types(world, reporter) : ECS_OK;
        if (result == ECS_OK)
            result = is_alone ? ecs_template_load_alone(world, file, text, size, reporter)
                              : load_files(world, file, reporter);
        code = result == ECS_OK ? NET_EXIT_CLEAN : NET_EXIT_USAGE;
        sum->templates += ecs_template_count(world);
        sum->components += ecs_component_count(world);
        ecs_world_destroy(world);
    }
    if (module) net_module_close(module);
    free(text);
    return code;
}

// Play in a folder of its own, where the log can lie.
static net_result play(const net_check_config* asked, net_check_result* result) {
    char folder[128], log[160];
    const char* place = getenv("TMPDIR");
    if (!base_text_format(folder, sizeof folder, "%s/shoal-check-XXXXXX",
                          place && *place ? place : "/tmp") ||
        !mkdtemp(folder)) {
        base_report(asked->reporter, folder, 0, "%s", strerror(errno));
        return NET_ERR_IO;
    }
    net_check_config config = *asked;
    base_text_format(log, sizeof log, "%s/check.slog", folder);
    config.log_file = log;
    net_result code = net_check_play(&config, result);
    (void)unlink(log);
    base_text_format(log, sizeof log, "%s/check.slog.queue", folder);
    (void)unlink(log);
    (void)rmdir(folder);
    return code;
}

static int check_module(const char* file, const base_reporter* reporter, totals* sum) {
    net_result result = net_module_check(file, reporter);
    if (result != NET_OK) return result == NET_ERR_IO ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
    net_module* module = NULL;
    if (net_module_open(file, "", reporter, &module) != NET_OK) return NET_EXIT_USAGE;
    const net_check_config config = {.module = module, .file = file, .reporter = reporter};
    net_check_result found = {0};
    result = play(&config, &found);
    sum->templates += found.templates;
    sum->components += found.components;
    sum->warnings += found.warnings;
    net_module_close(module);
    return net_exit_report_setup(result, reporter);
}

static int read_options(int file_count, char** files, bool* is_alone, bool* is_strict) {
    int first = 0;
    for (; first < file_count && strncmp(files[first], "--", 2) == 0; first++) {
        if (strcmp(files[first], "--no-import") == 0)
            *is_alone = true;
        else if (strcmp(files[first], "--strict") == 0)
            *is_strict = true;
        else
            break;
    }
    return first;
}

int server_check(int file_count, char** files, const base_reporter* reporter) {
    if (file_count > 0 && strcmp(files[0], "--stages") == 0) {
        if (file_count == 2) return server_stages(files[1], reporter);
        base_report(reporter, NULL, 0, "check --stages: name one game or FILE.so");
        return NET_EXIT_USAGE;
    }
    bool is_alone = false, is_strict = false;
    const int first = read_options(file_count, files, &is_alone, &is_strict);
    if (file_count == first) {
        base_report(reporter, NULL, 0, "check: name at least one FILE.blk or FILE.so");
        return NET_EXIT_USAGE;
    }
    totals sum = {0};
    int worst = NET_EXIT_CLEAN;
    for (int i = first; i < file_count; i++) {
        int code;
        if (has_suffix(files[i], ".so")) {
            code = check_module(files[i], reporter, &sum);
        } else if (has_suffix(files[i], ".blk")) {
            code = check_templates(files[i], is_alone, reporter, &sum);
        } else {
            base_report(reporter, files[i], 0, "neither .blk nor .so");
            code = NET_EXIT_USAGE;
        }
        sum.files++;
        if (code > worst) worst = code;
    }
    if (worst == NET_EXIT_CLEAN) {
        printf("ok files=%u templates=%u components=%u", sum.files, sum.templates, sum.components);
        if (sum.warnings > 0) printf(" warnings=%u", sum.warnings);
        printf("\n");
    }
    if (is_strict && sum.warnings > 0 && worst == NET_EXIT_CLEAN) worst = NET_EXIT_USAGE;
    return worst;
}
