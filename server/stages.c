// SPDX-License-Identifier: MIT
// The graph of a game's systems as text: a line per node, a line per edge.
//
// A system that declares nothing has an edge to every other one. Its line says so, and no edges are
// printed for it.
#include "stages.h"

#include "ecs/system.h"
#include "tools/output.h"
#include "tools/setup.h"

#include <stdio.h>

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

int server_stages(const char* game, const base_reporter* reporter) {
    net_module* module = NULL;
    net_result result = net_host_open_module(game, reporter, &module);
    if (result != NET_OK) return net_exit_report_setup(result, reporter);
    const net_match_config config = net_match_config_default(module);
    net_match* match = NULL;
    result = net_match_create(&config, reporter, &match);
    if (result == NET_OK) {
        const ecs_world* world = net_match_world(match);
        for (uint32_t stage = 0; print_stage(world, stage);)
            stage++;
        printf("ok threads=%u\n", ecs_world_threads_max(world));
        net_match_destroy(match);
    }
    net_module_close(module);
    return net_exit_report_setup(result, reporter);
}
