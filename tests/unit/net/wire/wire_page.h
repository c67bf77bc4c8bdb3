// SPDX-License-Identifier: MIT
/// The templates of proto/VECTORS.md's packets, as two worlds: a server's and a client's mirror.
#pragma once

#include "replicate/repl_world.h"
#include "text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_PAGE_INDEX_MAX = 1000 };

typedef struct wire_side {
    ecs_world* world;
    net_schema* schema;
    ecs_template_id dot, lamp, sky, dot_lamp;
    ecs_component_id at, lit, power, tint;
} wire_side;

static inline char* wire_page_read(void) {
    char* text = text_file_read(PROTO_FOLDER "/VECTORS.md");
    assert_non_null(text);
    return text;
}

static inline void wire_side_open(wire_side* side, const char* page, uint32_t index_max,
                                  bool is_mirror) {
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = is_mirror;
    config.limits.replicated_index_max = index_max;
    assert_ok(ecs_world_create(&config, &side->world));
    const char* text = strstr(page, "```blk\n");
    assert_non_null(text);
    text += strlen("```blk\n");
    const char* end = strstr(text, "```");
    assert_non_null(end);
    base_reporter reporter = base_reporter_stderr();
    assert_ok(ecs_template_load(side->world, "VECTORS.md", text, (size_t)(end - text), &reporter));
    assert_ok(ecs_world_seal(side->world, &reporter));
    assert_ok(net_schema_create(NULL, side->world, NULL, 0, &reporter, &side->schema));
    side->dot = ecs_template_find(side->world, "dot");
    side->lamp = ecs_template_find(side->world, "lamp");
    side->sky = ecs_template_find(side->world, "sky");
    side->dot_lamp = is_mirror ? ECS_TEMPLATE_NONE : ecs_template_find(side->world, "dot+lamp");
    side->at = ecs_component_find(side->world, "at");
    side->lit = ecs_component_find(side->world, "lit");
    side->power = ecs_component_find(side->world, "power");
    side->tint = ecs_component_find(side->world, "tint");
}

static inline void wire_side_close(wire_side* side) {
    net_schema_destroy(side->schema);
    ecs_world_destroy(side->world);
}

static inline void wire_print_hex(char* target, const uint8_t* bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        (void)snprintf(target + 2 * i, 3, "%02x", bytes[i]);
    target[2 * size] = 0;
}
