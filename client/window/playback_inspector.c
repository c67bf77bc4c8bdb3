// SPDX-License-Identifier: MIT
// Entities and values come from the dump of the world, a line per component:
// "entity=5:1 template=ball component=pos type=p2 value=600,700".
#include "window/playback_inspector.h"

#include "base/text.h"
#include "ecs/component.h"
#include "ecs/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE 17.0f
#define TEXT 13.0f
#define WIDTH 400.0f
#define NAME_WIDTH 120.0f
#define MARGIN 12.0f
#define LINES_MAX 24u
#define VALUE_CHARS_MAX 40 ///< a longer value is cut

typedef struct inspector_walk {
    ecs_entity wanted, first, last, before, after;
    bool is_passed; ///< the wanted one was met
} inspector_walk;

static ecs_entity read_entity(const char* line) {
    uint32_t index = 0, generation = 0;
    if (sscanf(line, "entity=%" SCNu32 ":%" SCNu32, &index, &generation) != 2)
        return ECS_ENTITY_NONE;
    return ecs_entity_make(index, generation);
}

static void see_entity(void* context, const char* line) {
    inspector_walk* walk = context;
    ecs_entity entity = read_entity(line);
    if (entity == ECS_ENTITY_NONE || entity == walk->last) return;
    if (walk->first == ECS_ENTITY_NONE) walk->first = entity;
    if (entity == walk->wanted) {
        walk->is_passed = true;
    } else if (!walk->is_passed) {
        walk->before = entity;
    } else if (walk->after == ECS_ENTITY_NONE) {
        walk->after = entity;
    }
    walk->last = entity;
}

void client_inspector_step(client_inspector* inspector, const ecs_world* world, bool is_forward) {
    inspector_walk walk = {.wanted = inspector->entity};
    ecs_dump_world(world, false, see_entity, &walk);
    ecs_entity next = is_forward ? walk.after : walk.is_passed ? walk.before : ECS_ENTITY_NONE;
    if (next == ECS_ENTITY_NONE) next = is_forward || !walk.is_passed ? walk.first : walk.last;
    inspector->entity = next;
}

typedef struct inspector_page {
    const net_draw* draw;
    float x, y;
    uint32_t lines; ///< drawn so far
    bool is_measured;
} inspector_page;

// The text after " KEY=" up to the next space, or to the end for the last key.
static void copy_part(const char* line, const char* key, char* target, size_t bytes) {
    const char* place = strstr(line, key);
    const char* from = place ? place + strlen(key) : "";
    bool is_last = strcmp(key, " value=") == 0;
    size_t length = is_last ? strlen(from) : strcspn(from, " ");
    (void)base_text_format(target, bytes, "%.*s", (int)length, from);
}

static void put_component(void* context, const char* line) {
    inspector_page* page = context;
    if (page->lines >= LINES_MAX || !strstr(line, " component=")) return;
    page->lines++;
    if (page->is_measured) return;
    char name[ECS_NAME_BYTES_MAX], value[256];
    copy_part(line, " component=", name, sizeof name);
    copy_part(line, " value=", value, sizeof value);
    if (strlen(value) > VALUE_CHARS_MAX) memcpy(value + VALUE_CHARS_MAX - 3, "...", 4);
    const net_draw* draw = page->draw;
    float y = page->y + (float)(page->lines + 1) * LINE;
    draw->text(draw->context, page->x, y, TEXT, (ecs_color){255, 208, 84, 255}, name);
    draw->text(draw->context, page->x + NAME_WIDTH, y, TEXT, (ecs_color){225, 230, 245, 255},
               value);
}

static void put_title(const inspector_page* page, const ecs_world* world, ecs_entity entity) {
    char text[128];
    const net_draw* draw = page->draw;
    const char* made_of =
        ecs_is_alive(world, entity) ? ecs_entity_template_name(world, entity) : "is gone";
    (void)base_text_format(text, sizeof text, "%" PRIu32 ":%" PRIu32 "  %.90s",
                           ecs_entity_index(entity), ecs_entity_generation(entity), made_of);
    draw->text(draw->context, page->x, page->y, TEXT + 2.0f, (ecs_color){255, 255, 255, 255}, text);
}

void client_inspector_draw(const client_inspector* inspector, const ecs_world* world,
                           const net_draw* draw, float x, float y) {
    if (!inspector->is_open) return;
    inspector_page page = {.draw = draw, .x = x + MARGIN, .y = y + MARGIN, .is_measured = true};
    bool is_here = ecs_is_alive(world, inspector->entity);
    if (is_here) ecs_dump_entity(world, inspector->entity, put_component, &page);
    draw->rect(draw->context, x, y, WIDTH, (float)(page.lines + 2) * LINE + MARGIN,
               (ecs_color){8, 10, 20, 225});
    page.lines = 0;
    page.is_measured = false;
    put_title(&page, world, inspector->entity);
    if (is_here) ecs_dump_entity(world, inspector->entity, put_component, &page);
}
