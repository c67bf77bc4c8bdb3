// SPDX-License-Identifier: MIT
// Levels: pictures of bricks. A digit is the number of hits that a brick needs, a dot is a gap.
//
// Rows that are not written are gaps. After the last level the first one follows again. Each round
// adds one hit to every brick, up to BREAKOUT_HITS_MAX. To change a level, change only its picture.
//
// A picture is a resource. When the players win a level, the rules create an entity that names the
// next level. The entity is LOADING until the loader has read the picture, then CREATED. After the
// pause the rules place the bricks. A log must give the same match again, so pictures are read
// between two ticks (ecs_loading_config.load). A loader that reads files on a thread, and is busy
// until then, would have to record when each file came.

#include "breakout.h"

#include "base/text.h"

#define CELL_WIDTH 70.0f
#define CELL_HEIGHT 28.0f
#define GRID_LEFT ((BREAKOUT_FIELD_WIDTH - BREAKOUT_COLUMNS * CELL_WIDTH) * 0.5f)
#define GRID_TOP 92.0f

static const char levels[BREAKOUT_LEVELS][BREAKOUT_ROWS][BREAKOUT_COLUMNS + 1] = {
    {
        // a simple wall for the first level
        "................",
        "................",
        "..222222222222..",
        "..111111111111..",
        "..111111111111..",
        "..111111111111..",
    },
    {
        // a pyramid
        ".......33.......",
        "......2332......",
        ".....223322.....",
        "....22111122....",
        "...2211111122...",
        "..221111111122..",
        ".22111111111122.",
    },
    {
        // pillars with gaps for the ball
        "22.22.22.22.22.2",
        "11.11.11.11.11.1",
        "11.11.11.11.11.1",
        "22.22.22.22.22.2",
        "11.11.11.11.11.1",
        "11.11.11.11.11.1",
        "33.33.33.33.33.3",
    },
    {
        // a shoal of fish
        "................",
        "...1111....2....",
        ".1122221..22....",
        "112322221222....",
        ".1122221..22....",
        "...1111....2....",
        "......1111....1.",
        "....112222111...",
        "...1123222111...",
        "......1111....1.",
    },
    {
        // a chessboard
        "3.3.3.3.3.3.3.3.",
        ".2.2.2.2.2.2.2.2",
        "2.2.2.2.2.2.2.2.",
        ".1.1.1.1.1.1.1.1",
        "1.1.1.1.1.1.1.1.",
        ".2.2.2.2.2.2.2.2",
        "2.2.2.2.2.2.2.2.",
        ".3.3.3.3.3.3.3.3",
    },
    {
        // a castle: strong walls, open gate
        "4.44.4.44.4.44.4",
        "4444444444444444",
        "4111111111111114",
        "4122222222222214",
        "4123333333333214",
        "4122222222222214",
        "4111111111111114",
        "44444......44444",
    },
};

int32_t breakout_level_hits(int32_t level, int32_t column, int32_t row) {
    if (level < 1 || column < 0 || column >= BREAKOUT_COLUMNS || row < 0 || row >= BREAKOUT_ROWS) {
        return 0;
    }
    char cell = levels[(level - 1) % BREAKOUT_LEVELS][row][column];
    if (cell < '1' || cell > '9') return 0;
    int32_t hits = cell - '0' + (level - 1) / BREAKOUT_LEVELS;
    return hits < BREAKOUT_HITS_MAX ? hits : BREAKOUT_HITS_MAX;
}

// A level needs its picture: resource "3" of kind "level".
uint32_t breakout_request_picture(const void* value, ecs_resource* resources, uint32_t capacity) {
    const breakout_level* level = value;
    if (level->number < 1) return 0;
    if (capacity > 0) {
        (void)base_text_copy(resources[0].kind, sizeof resources[0].kind, "level");
        (void)base_text_format(resources[0].name, sizeof resources[0].name, "%d", level->number);
    }
    return 1;
}

ecs_load_answer breakout_load_picture(void* context, const ecs_resource* resource) {
    uint64_t level;
    (void)context; // the pictures are in this file; a game whose pictures are files reads one here
    const bool is_there = base_text_parse_u64(resource->name, &level) && level <= 1000000000;
    return is_there ? ECS_LOAD_READY : ECS_LOAD_FAILED;
}

int32_t breakout_level_place(ecs_world* world, const breakout_game* game, int32_t level) {
    int32_t count = 0;
    for (int32_t i = 0; i < BREAKOUT_ROWS * BREAKOUT_COLUMNS; i++) {
        ecs_ivec2 cell = {i % BREAKOUT_COLUMNS, i / BREAKOUT_COLUMNS};
        int32_t hits = breakout_level_hits(level, cell.x, cell.y);
        if (hits == 0) continue;
        hits += game->settings.brick_hits;
        if (hits > BREAKOUT_HITS_MAX) hits = BREAKOUT_HITS_MAX;
        // Two units stay free on each side of the cell: this is the gap between bricks.
        ecs_vec2 pos = {GRID_LEFT + (float)cell.x * CELL_WIDTH + 2.0f,
                        GRID_TOP + (float)cell.y * CELL_HEIGHT + 2.0f};
        ecs_color color = breakout_brick_color(hits);
        count += ecs_command_create(world, game->brick_template,
                                    ECS_INITS({game->pos, &pos}, {game->brick_cell, &cell},
                                              {game->hits, &hits}, {game->color, &color})) != 0;
    }
    return count;
}

ecs_color breakout_brick_color(int32_t hits) {
    static const ecs_color colors[] = {
        {96, 108, 128, 255},  {58, 160, 255, 255},  {40, 205, 160, 255}, {255, 194, 61, 255},
        {255, 132, 66, 255},  {255, 78, 106, 255},  {203, 94, 255, 255}, {127, 92, 255, 255},
        {176, 190, 220, 255}, {240, 244, 255, 255},
    };
    return colors[hits < 0 ? 0 : hits > BREAKOUT_HITS_MAX ? BREAKOUT_HITS_MAX : hits];
}

ecs_color breakout_player_color(int32_t slot) {
    static const ecs_color colors[] = {
        {64, 196, 255, 255},  {255, 138, 101, 255}, {129, 199, 132, 255}, {255, 213, 79, 255},
        {186, 104, 200, 255}, {77, 208, 225, 255},  {240, 98, 146, 255},  {174, 213, 129, 255},
    };
    return colors[(uint32_t)slot % BASE_COUNT(colors)];
}
