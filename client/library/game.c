// SPDX-License-Identifier: MIT
// Opening a game inside of any process.
//
// A module takes ecs_ and base_ from the program that opens it. Here this is no program of ours:
// the functions are in libshoal.so, which a host may have loaded for itself only (Python does). So
// it is opened once more, visible to the whole process, before the first module.
#define _GNU_SOURCE
#include "library.h"

#include "base/text.h"
#include "ecs/ecs.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// The file that has a function of ours.
static const char* file_of(const void* function) {
    Dl_info info;
    return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
}

static void show_runtime(void) {
    ecs_result (*function)(const ecs_world_config*, ecs_world**) = ecs_world_create;
    const void* address;
    memcpy(&address, &function, sizeof address);
    // In a program that has the ECS itself this finds nothing to do.
    void* runtime = dlopen(file_of(address), RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (runtime) dlclose(runtime);
}

// Beside the library (a build folder), and in the folder above (lib/x86_64-linux-gnu).
static void default_path(char* path, size_t path_bytes) {
    char folder[1024];
    uint32_t (*function)(void) = shoal_abi_version;
    const void* address;
    memcpy(&address, &function, sizeof address);
    base_text_copy(folder, sizeof folder, file_of(address));
    char* slash = strrchr(folder, '/');
    base_text_copy(slash ? slash : folder, slash ? 1 : sizeof folder, slash ? "" : ".");
    const char* extra = getenv("SHOAL_MODULE_PATH");
    base_text_format(path, path_bytes, "%s%s%s/shoal/games:%s/../shoal/games:%s/../lib/shoal/games",
                     extra ? extra : "", extra && extra[0] ? ":" : "", folder, folder, folder);
}

net_result library_open_game(const char* game, const char* path, const base_reporter* reporter,
                             net_module** module) {
    char defaults[LIBRARY_PATH_BYTES];
    if (!path) default_path(defaults, sizeof defaults);
    show_runtime();
    return net_module_open(game, path ? path : defaults, reporter, module);
}

static void keep_report(void* context, const char* file, uint32_t line, const char* message) {
    library_reports* reports = context;
    if (file && line)
        base_text_format(reports->text, sizeof reports->text, "%s:%u: %s", file, line, message);
    else if (file)
        base_text_format(reports->text, sizeof reports->text, "%s: %s", file, message);
    else
        base_text_copy(reports->text, sizeof reports->text, message);
    if (reports->next) reports->next(reports->next_context, reports->text);
}

base_reporter library_reporter(library_reports* reports) {
    return (base_reporter){.report = keep_report, .context = reports};
}

uint32_t shoal_abi_version(void) {
    return SHOAL_ABI_VERSION;
}

const char* shoal_version(void) {
    return SHOAL_VERSION;
}

const char* shoal_result_text(int32_t result) {
    return net_result_text((net_result)result);
}

void shoal_memory_handler_set(shoal_memory_fn handler, void* context) {
    base_memory_handler_set(handler, context);
}
