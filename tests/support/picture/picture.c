// SPDX-License-Identifier: MIT
// shoal-picture: one tick of a log, drawn as SVG by the game's own render systems.
//
//   shoal-picture LOG --at TICK --out FILE.svg [--game NAME|FILE.so]
//
// The playback runs the effects (trails, sparks) of the ticks before it, without drawing them.
#include "base/options.h"
#include "net/match.h"
#include "net/playback.h"
#include "svg.h"

#include <inttypes.h>

typedef struct picture {
    base_reporter reporter;
    const char* game;
    const char* out;
    uint64_t at;
} picture;

static int write_frame(const picture* self, net_playback* playback, const net_game_module* game) {
    FILE* file = fopen(self->out, "wb");
    svg target;
    svg_begin(&target, file, game->view_width, game->view_height, game->title);
    target.playback = playback;
    net_draw draw = svg_draw(&target);
    draw.player = ECS_ENTITY_NONE;
    draw.pixels_per_unit = 1.0f;
    if (file) net_playback_draw(playback, &draw);
    bool is_written = file && svg_end(&target);
    if (file) is_written = fclose(file) == 0 && is_written;
    if (!is_written) base_report(&self->reporter, self->out, 0, "cannot be written");
    return is_written ? 0 : 1;
}

static int draw_log(const picture* self, net_log_reader* reader, const net_module* module) {
    net_playback* playback;
    if (net_playback_create(reader, module, &self->reporter, &playback) != NET_OK) return 1;
    int code = 1;
    if (self->at > net_playback_tick_last(playback))
        base_report(&self->reporter, NULL, 0, "the log ends at tick %" PRIu64,
                    net_playback_tick_last(playback));
    else if (net_playback_seek(playback, (double)self->at) == NET_OK)
        code = write_frame(self, playback, module->game);
    net_playback_destroy(playback);
    return code;
}

static int run(const picture* self, const char* log) {
    net_log_reader* reader;
    net_module* module;
    char path[2048];
    int code = 1;
    net_module_default_path(path, sizeof path);
    net_result read = net_log_reader_create(NULL, log, &self->reporter, &reader);
    if (!reader) return 1;
    const char* game = self->game ? self->game : net_log_reader_info(reader)->game;
    if (read == NET_OK && net_module_open(game, path, &self->reporter, &module) == NET_OK) {
        code = draw_log(self, reader, module);
        net_module_close(module);
    }
    net_log_reader_destroy(reader);
    return code;
}

#define FIELD(name) BASE_OPTION_FIELD(picture, name)

int main(int argc, char** argv) {
    picture self = {.reporter = base_reporter_stderr(), .at = 1};
    base_option_list words = {.count = 0};
    const base_option table[] = {
        {"game", FIELD(game), "NAME|FILE.so", "the game (default: the log's)", 0, 0},
        {"at", FIELD(at), "TICK", "which tick", 1, 1e15},
        {"out", FIELD(out), "FILE.svg", "the picture", 0, 0},
    };
    const base_options options = {.program = "shoal-picture",
                                  .usage = "LOG --at TICK --out FILE.svg",
                                  .about = "Draws one tick of an event log as SVG.",
                                  .options = table,
                                  .count = BASE_COUNT(table),
                                  .values = &self};
    base_options_result read = base_options_read(&options, argc, argv, &words, &self.reporter);
    if (read == BASE_OPTIONS_HELP) return 0;
    if (read != BASE_OPTIONS_OK) return 2;
    if (words.count != 1 || !self.out) {
        base_report(&self.reporter, NULL, 0, "name a log and --out");
        return 2;
    }
    return run(&self, words.values[0]);
}
