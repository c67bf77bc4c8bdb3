// SPDX-License-Identifier: MIT
// Any bytes as files that import one another, and as those of a world that takes over a living one.
// The input is files, each after a line "//// PATH"; the files after a line "====" are the second
// world's. Files are loaded as a whole or refused as a whole. A refused world is empty; one that
// took over is valid.
#include "fuzz.h"

#include "base/assert.h"
#include "ecs/debug.h"
#include "ecs/ecs.h"

enum { FILES_MAX = 16, TEMPLATES_MAX = 64 };

typedef struct fuzz_file {
    char path[ECS_TEXT_PATH_BYTES_MAX];
    const char* text;
    size_t bytes;
} fuzz_file;

typedef struct fuzz_files {
    fuzz_file items[FILES_MAX];
    uint32_t count;
} fuzz_files;

/// Find a line at or after `at` that begins with `mark`; `end` when there is none.
static const char* find_line(const char* at, const char* end, const char* mark) {
    size_t size = strlen(mark);
    for (; at < end; at++) {
        if ((size_t)(end - at) >= size && memcmp(at, mark, size) == 0) return at;
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at) return end;
    }
    return end;
}

static void split(fuzz_files* files, const char* at, const char* end) {
    files->count = 0;
    for (at = find_line(at, end, "//// "); at < end && files->count < FILES_MAX;) {
        const char* line = memchr(at, '\n', (size_t)(end - at));
        if (!line) return;
        size_t size = (size_t)(line - at) - 5;
        fuzz_file* file = &files->items[files->count];
        const char* next = find_line(line + 1, end, "//// ");
        if (size < sizeof file->path) {
            memcpy(file->path, at + 5, size);
            file->path[size] = '\0';
            file->text = line + 1;
            file->bytes = (size_t)(next - line) - 1;
            files->count++;
        }
        at = next;
    }
}

static ecs_result read_file(void* context, const char* path, base_bytes* text) {
    const fuzz_files* files = context;
    // Paths that the language accepts: words below the root or below a named folder.
    BASE_ASSERT(*path && *path != '/' && !strstr(path, "//") && !strpbrk(path, "\\:*?"));
    BASE_ASSERT(!strstr(path, "/../") && strncmp(path, "../", 3) != 0 && strcmp(path, "..") != 0);
    BASE_ASSERT(*path != '%' || strncmp(path, "%lib/", 5) == 0);
    for (uint32_t i = 0; i < files->count; i++) {
        if (strcmp(files->items[i].path, path) != 0) continue;
        base_bytes_write(text, files->items[i].text, files->items[i].bytes);
        return ECS_OK;
    }
    return ECS_ERR_UNKNOWN;
}

static ecs_result list_files(void* context, const char* folder,
                             bool (*found)(void* names, const char* name), void* names) {
    const fuzz_files* files = context;
    size_t size = strlen(folder);
    for (uint32_t i = 0; i < files->count; i++) {
        const char* path = files->items[i].path;
        if (size && (strncmp(path, folder, size) != 0 || path[size] != '/')) continue;
        if (!found(names, size ? path + size + 1 : path)) break;
    }
    return ECS_OK;
}

static void count_report(void* context, const char* file, uint32_t line, const char* message) {
    (void)file, (void)line;
    BASE_ASSERT(message && *message);
    ++*(uint32_t*)context;
}

static ecs_result pack_files(const char* at, const char* end, const base_reporter* reporter,
                             base_bytes* pack) {
    static const char* const roots[] = {"lib"};
    fuzz_files files;
    split(&files, at, end);
    const ecs_template_source source = {.context = &files,
                                        .read = read_file,
                                        .list = list_files,
                                        .root_names = roots,
                                        .root_count = 1};
    return ecs_template_pack(NULL, &source, "a.blk", reporter, pack);
}

static void populate(ecs_world* world) {
    uint32_t count = ecs_template_count(world);
    if (count > TEMPLATES_MAX) count = TEMPLATES_MAX;
    ecs_template_id both[] = {1, (ecs_template_id)count};
    if (count > 1) (void)ecs_template_compose(world, both, 2);
    (void)!ecs_scene_create(world, NULL);
    for (uint32_t id = 1; id <= ecs_template_count(world) && id <= TEMPLATES_MAX; id++) {
        ecs_entity entity;
        for (uint32_t i = 0; i < 3; i++)
            (void)!ecs_create(world, (ecs_template_id)id, NULL, 0, &entity);
    }
}

static ecs_world* create(void) {
    ecs_world_config config = ecs_world_config_default();
    config.limits.replicated_index_max = 2048;
    config.limits.local_entities_max = 2048;
    config.limits.events_queued_max = 16;
    config.limits.commands_queued_max = 16;
    ecs_world* world;
    return ecs_world_create(&config, &world) == ECS_OK ? world : NULL;
}

/// A sealed world with the files of a text; NULL: refused.
static ecs_world* load(const char* text, const char* end) {
    uint32_t reports = 0;
    const base_reporter reporter = {count_report, &reports};
    ecs_world* world = create();
    if (!world) return NULL;
    base_bytes pack;
    base_bytes_init(&pack, NULL);
    ecs_result result = pack_files(text, end, &reporter, &pack);
    BASE_ASSERT(result == ECS_OK || reports > 0);
    if (result == ECS_OK) {
        result = ecs_template_load_pack(world, pack.data, pack.size, &reporter);
        BASE_ASSERT(result == ECS_OK || reports > 0);
        if (result != ECS_OK) BASE_ASSERT(ecs_template_count(world) == 0);
    }
    base_bytes_deinit(&pack);
    if (result == ECS_OK && ecs_world_seal(world, &reporter) == ECS_OK) return world;
    ecs_world_destroy(world);
    return NULL;
}

/// Each takes over the one before.
static void run(ecs_world* world, ecs_world* next) {
    populate(world);
    for (uint32_t i = 0; i < 2; i++) {
        const ecs_result result = ecs_world_take_over(next, world, NULL);
        ecs_world_validate(next);
        BASE_ASSERT(ecs_world_entity_count(next) ==
                    (result == ECS_OK ? ecs_world_entity_count(world) : 0));
        const ecs_step step = {.tick = ecs_world_tick(next) + 1, .dt = 0.1f};
        ecs_world_step(next, &step);
        ecs_world_validate(next);
        ecs_world* other = world;
        world = next;
        next = other;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const char *text = (const char*)data, *end = text + size;
    const char* middle = find_line(text, end, "====");
    ecs_world *world = load(text, middle), *next = world ? load(middle, end) : NULL;
    if (next) run(world, next);
    ecs_world_destroy(world);
    ecs_world_destroy(next);
    return 0;
}
