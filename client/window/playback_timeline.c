// SPDX-License-Identifier: MIT
// The strip has three lines: the position; the bar with its marks; and the meaning of the marks, or
// the event under the pointer.
#include "window/playback_timeline.h"

#include "base/text.h"
#include "ecs/ecs.h"
#include "net/draw.h"

#include <inttypes.h>
#include <string.h>

#define STRIP_PART 0.1f   ///< height of the strip as a part of the view's height
#define STRIP_UNITS 80.0f ///< the strip's height in its own units
#define MARGIN 20.0f
#define BAR_Y 33.0f
#define BAR_HEIGHT 12.0f
#define REACH 5.0f ///< distance at which the pointer is on a mark

static const ecs_color back = {8, 10, 20, 255};
static const ecs_color groove = {44, 50, 78, 255};
static const ecs_color played = {92, 122, 214, 255};
static const ecs_color differs = {150, 44, 52, 255};
static const ecs_color head = {255, 255, 255, 255};
static const ecs_color words = {205, 212, 235, 255};
static const ecs_color faint = {130, 140, 170, 255};
static const ecs_color join = {96, 220, 130, 255};
static const ecs_color leave = {170, 150, 140, 255};
// Colours by message number. The first message of a game is usually the most frequent one.
static const ecs_color events[] = {{255, 208, 84, 255},  {255, 96, 104, 255}, {110, 200, 255, 255},
                                   {220, 130, 255, 255}, {255, 150, 60, 255}, {120, 240, 220, 255}};

client_timeline client_timeline_make(const net_game_module* game) {
    return (client_timeline){.x = 0.0f,
                             .y = game->view_height,
                             .width = game->view_width,
                             .height = game->view_height * STRIP_PART};
}

static float unit(const client_timeline* strip) {
    return strip->height / STRIP_UNITS;
}

static float bar_x(const client_timeline* strip) {
    return strip->x + MARGIN * unit(strip);
}

static float bar_width(const client_timeline* strip) {
    return strip->width - 2.0f * MARGIN * unit(strip);
}

double client_timeline_tick(const client_timeline* strip, const net_playback* playback, float x) {
    double part = (double)((x - bar_x(strip)) / bar_width(strip));
    part = part > 0.0 ? part < 1.0 ? part : 1.0 : 0.0;
    return part * (double)net_playback_tick_last(playback);
}

bool client_timeline_has(const client_timeline* strip, float x, float y) {
    return x >= strip->x && x < strip->x + strip->width && y >= strip->y &&
           y < strip->y + strip->height;
}

static float place(const client_timeline* strip, const net_playback* playback, double tick) {
    ecs_tick last = net_playback_tick_last(playback);
    double part = last > 0 ? tick / (double)last : 0.0;
    return bar_x(strip) + bar_width(strip) * (float)part;
}

static ecs_color mark_color(const net_playback_mark* mark) {
    if (mark->kind == NET_PLAYBACK_JOIN) return join;
    if (mark->kind == NET_PLAYBACK_LEAVE) return leave;
    if (mark->kind == NET_PLAYBACK_NAMED) return head;
    return events[(mark->message - 1) % BASE_COUNT(events)];
}

static void write_time(double tick, uint32_t tick_rate_hz, char* text, size_t text_bytes) {
    uint64_t tenths = (uint64_t)(tick * 10.0 / tick_rate_hz);
    uint64_t hours = tenths / 36000;
    unsigned minutes = (unsigned)(tenths / 600 % 60), seconds = (unsigned)(tenths / 10 % 60);
    unsigned tenth = (unsigned)(tenths % 10);
    if (hours > 0) {
        base_text_format(text, text_bytes, "%" PRIu64 ":%02u:%02u.%u", hours, minutes, seconds,
                         tenth);
    } else {
        base_text_format(text, text_bytes, "%u:%02u.%u", minutes, seconds, tenth);
    }
}

static void draw_state(const client_timeline* strip, const client_timeline_look* look,
                       const net_draw* draw) {
    char now[32], end[32], text[128];
    float u = unit(strip), y = strip->y + 8.0f * u;
    double tick = net_playback_tick(look->playback);
    ecs_tick last = net_playback_tick_last(look->playback);
    write_time(tick, look->tick_rate_hz, now, sizeof now);
    write_time((double)last, look->tick_rate_hz, end, sizeof end);
    base_text_format(text, sizeof text, "%s / %s   tick %.2f / %" PRIu64 "   %gx   %s%s%.24s", now,
                     end, tick, last, look->speed, look->is_playing ? "playing" : "paused",
                     look->player ? "   view of " : "", look->player ? look->player : "");
    draw->text(draw->context, bar_x(strip), y, 16.0f * u, words, text);
    ecs_tick diverged = net_playback_diverged(look->playback);
    if (!diverged) return;
    base_text_format(text, sizeof text, "differs from the log from tick %" PRIu64 " on", diverged);
    net_draw_text(draw, bar_x(strip) + bar_width(strip), y, 16.0f * u, events[1], NET_ALIGN_RIGHT,
                  text);
}

static void draw_bar(const client_timeline* strip, const client_timeline_look* look,
                     const net_draw* draw) {
    float u = unit(strip), y = strip->y + BAR_Y * u, height = BAR_HEIGHT * u;
    float x = bar_x(strip), width = bar_width(strip);
    float at = place(strip, look->playback, net_playback_tick(look->playback));
    draw->rect(draw->context, x, y, width, height, groove);
    ecs_tick diverged = net_playback_diverged(look->playback);
    if (diverged) {
        float from = place(strip, look->playback, (double)diverged);
        draw->rect(draw->context, from, y, x + width - from, height, differs);
    }
    if (at > x) draw->rect(draw->context, x, y + height * 0.3f, at - x, height * 0.4f, played);
    for (uint32_t i = 0; i < look->keyframe_count; i++) {
        float from = place(strip, look->playback, (double)look->keyframes[i].tick);
        draw->rect(draw->context, from - 0.5f * u, y + height + 1.0f * u, u, 4.0f * u, faint);
    }
    uint32_t count;
    const net_playback_mark* marks = net_playback_marks(look->playback, &count);
    for (uint32_t i = 0; i < count; i++) {
        // Joins and leaves are above the bar's middle; the others cover its whole height.
        bool is_event = marks[i].kind >= NET_PLAYBACK_EVENT;
        draw->rect(draw->context, place(strip, look->playback, (double)marks[i].tick) - u,
                   y - (is_event ? 0.0f : 4.0f * u), 2.0f * u,
                   is_event ? height : height * 0.5f + 4.0f * u, mark_color(&marks[i]));
    }
    draw->rect(draw->context, at - 1.5f * u, y - 5.0f * u, 3.0f * u, height + 10.0f * u, head);
    draw->circle(draw->context, at, y + height * 0.5f, 6.0f * u, head);
}

static const net_playback_mark* find_pointed(const client_timeline* strip,
                                             const client_timeline_look* look) {
    if (!look->is_pointed || !client_timeline_has(strip, look->pointer_x, look->pointer_y))
        return NULL;
    uint32_t count;
    const net_playback_mark* marks = net_playback_marks(look->playback, &count);
    const net_playback_mark* nearest = NULL;
    float reach = REACH * unit(strip);
    for (uint32_t i = 0; i < count; i++) {
        float away = place(strip, look->playback, (double)marks[i].tick) - look->pointer_x;
        if (away < 0.0f) away = -away;
        if (away > reach) continue;
        reach = away;
        nearest = &marks[i];
    }
    return nearest;
}

static void draw_pointed(const client_timeline* strip, const client_timeline_look* look,
                         const net_playback_mark* mark, const net_draw* draw) {
    char time[32], text[128];
    float u = unit(strip);
    write_time((double)mark->tick, look->tick_rate_hz, time, sizeof time);
    const char* name =
        mark->kind == NET_PLAYBACK_EVENT   ? look->game->messages[mark->message - 1].name
        : mark->kind == NET_PLAYBACK_NAMED ? mark->name
                                           : net_playback_player_name(look->playback, mark->client);
    const char* what = mark->kind == NET_PLAYBACK_JOIN    ? "joins: "
                       : mark->kind == NET_PLAYBACK_LEAVE ? "leaves: "
                                                          : "";
    base_text_format(text, sizeof text, "%s  tick %" PRIu64 "  %s%s", time, mark->tick, what,
                     name ? name : "?");
    draw->text(draw->context, bar_x(strip), strip->y + 57.0f * u, 15.0f * u, mark_color(mark),
               text);
}

// A square and a word for each kind of mark that is in the log.
static float draw_kind(const client_timeline* strip, const net_draw* draw, float x, ecs_color color,
                       const char* name, uint32_t count) {
    char text[96];
    float u = unit(strip), y = strip->y + 57.0f * u;
    if (count == 0) return x;
    base_text_format(text, sizeof text, "%s %u", name, count);
    draw->rect(draw->context, x, y + 2.0f * u, 10.0f * u, 10.0f * u, color);
    draw->text(draw->context, x + 15.0f * u, y, 15.0f * u, faint, text);
    return x + 35.0f * u + draw->text_width(draw->context, 15.0f * u, text);
}

static void draw_legend(const client_timeline* strip, const client_timeline_look* look,
                        const net_draw* draw) {
    uint32_t joins = 0, leaves = 0, named = 0, counts[NET_MESSAGES_MAX] = {0}, count;
    const net_playback_mark* marks = net_playback_marks(look->playback, &count);
    for (uint32_t i = 0; i < count; i++) {
        joins += marks[i].kind == NET_PLAYBACK_JOIN;
        leaves += marks[i].kind == NET_PLAYBACK_LEAVE;
        named += marks[i].kind == NET_PLAYBACK_NAMED;
        if (marks[i].kind == NET_PLAYBACK_EVENT) counts[marks[i].message - 1]++;
    }
    float x = draw_kind(strip, draw, bar_x(strip), join, "joins", joins);
    x = draw_kind(strip, draw, x, leave, "leaves", leaves);
    x = draw_kind(strip, draw, x, head, "marks", named);
    for (uint32_t i = 0; i < look->game->message_count; i++) {
        const net_playback_mark mark = {.kind = NET_PLAYBACK_EVENT, .message = i + 1};
        x = draw_kind(strip, draw, x, mark_color(&mark), look->game->messages[i].name, counts[i]);
    }
    float u = unit(strip);
    net_draw_text(draw, bar_x(strip) + bar_width(strip), strip->y + 57.0f * u, 15.0f * u, faint,
                  NET_ALIGN_RIGHT, "H: keys");
}

void client_timeline_draw(const client_timeline* strip, const client_timeline_look* look,
                          const net_draw* draw) {
    draw->rect(draw->context, strip->x, strip->y, strip->width, strip->height, back);
    draw_state(strip, look, draw);
    draw_bar(strip, look, draw);
    const net_playback_mark* pointed = find_pointed(strip, look);
    if (pointed) {
        draw_pointed(strip, look, pointed, draw);
    } else {
        draw_legend(strip, look, draw);
    }
}

// ---- the inspector ----

#define INSPECTOR_LINE 17.0f
#define INSPECTOR_TEXT 13.0f
#define INSPECTOR_WIDTH 400.0f
#define NAME_WIDTH 120.0f
#define INSPECTOR_MARGIN 12.0f
#define LINES_MAX 24u
#define VALUE_CHARS_MAX 40 ///< a longer value is cut

void client_inspector_step(client_inspector* inspector, const ecs_world* world, bool is_forward) {
    const ecs_entity first = ecs_entity_next(world, ECS_ENTITY_NONE), from = inspector->entity;
    const bool is_here = ecs_is_alive(world, from);
    ecs_entity found = is_here && is_forward ? ecs_entity_next(world, from) : ECS_ENTITY_NONE;
    if (is_here && !is_forward) // before the first one is the last
        for (ecs_entity at = first; at != ECS_ENTITY_NONE && (at != from || !found);
             at = ecs_entity_next(world, at))
            found = at;
    inspector->entity = found ? found : first;
}

static void put_component(const net_draw* draw, float x, float y, const ecs_world* world,
                          ecs_entity entity, ecs_component_id id) {
    char value[256];
    const ecs_component* component = ecs_component_get(world, id);
    (void)ecs_type_format(ecs_type_get(world, component->type), ecs_get(world, entity, id), value,
                          sizeof value);
    if (strlen(value) > VALUE_CHARS_MAX) memcpy(value + VALUE_CHARS_MAX - 3, "...", 4);
    draw->text(draw->context, x, y, INSPECTOR_TEXT, (ecs_color){255, 208, 84, 255},
               component->name);
    draw->text(draw->context, x + NAME_WIDTH, y, INSPECTOR_TEXT, (ecs_color){225, 230, 245, 255},
               value);
}

void client_inspector_draw(const client_inspector* inspector, const ecs_world* world,
                           const net_draw* draw, float x, float y) {
    if (!inspector->is_open) return;
    char text[128];
    const ecs_entity entity = inspector->entity;
    // One that is gone has none.
    const ecs_template* is_a = ecs_template_get(world, ecs_entity_template(world, entity));
    const uint32_t components = is_a ? is_a->component_count : 0;
    const uint32_t lines = components < LINES_MAX ? components : LINES_MAX;
    draw->rect(draw->context, x, y, INSPECTOR_WIDTH,
               (float)(lines + 2) * INSPECTOR_LINE + INSPECTOR_MARGIN, (ecs_color){8, 10, 20, 225});
    x += INSPECTOR_MARGIN;
    y += INSPECTOR_MARGIN;
    (void)base_text_format(text, sizeof text, "%" PRIu32 ":%" PRIu32 "  %.90s",
                           ecs_entity_index(entity), ecs_entity_generation(entity),
                           is_a ? ecs_entity_template_name(world, entity) : "is gone");
    draw->text(draw->context, x, y, INSPECTOR_TEXT + 2.0f, (ecs_color){255, 255, 255, 255}, text);
    for (uint32_t i = 0; i < lines; i++)
        put_component(draw, x, y + (float)(i + 2) * INSPECTOR_LINE, world, entity,
                      is_a->components[i].component);
}
