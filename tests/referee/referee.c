// SPDX-License-Identifier: MIT
// referee: the facts of 60 matches against golden files. README.md says what to do when they
// differ.
//
//   referee GAMES_FOLDER GOLDEN_FOLDER [--game NAME] [--seed N] [--trace] [--bless]
#include "referee.h"
#include "text_file.h"

#include "base/options.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <unistd.h>

enum { PATH_BYTES = 512, LINE_BYTES = 512 };

const net_game_module* breakout_module(void);
const net_game_module* arena_module(void);
const net_game_module* cubes_module(void);

typedef struct program {
    referee referee;
    const char *games, *golden, *game;
    uint64_t seed, seeds; ///< this one, the first so many; 0: all
    bool is_blessed;
} program;

static const char* const kind_names[REFEREE_KINDS] = {"worlds", "datagrams", "rows"};

void referee_say(referee* self, referee_kind kind, const char* format, ...) {
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    BASE_ASSERT(size >= 0 && size < LINE_BYTES);
    base_bytes_write(&self->facts[kind], text, (size_t)size);
}

static net_result open_game(program* self, const net_game_module* game, net_module** module) {
    char file[PATH_BYTES];
    base_text_format(file, sizeof file, "%s/%s/%s.blk", self->games, game->name, game->name);
    char* text = text_file_read(file);
    if (!text) return NET_ERR_IO;
    net_result result = net_module_wrap(game, text, file, &self->referee.reporter, module);
    free(text);
    return result;
}

static net_result run_game(program* self, const net_game_module* game) {
    net_module* module = NULL;
    net_result result = open_game(self, game, &module);
    self->referee.module = module;
    for (uint64_t seed = 1; seed <= REFEREE_SEEDS && result == NET_OK; seed++) {
        if (self->seed && self->seed != seed) continue;
        if (self->seeds && self->seeds < seed) break;
        self->referee.seed = seed;
        result = referee_play(&self->referee);
        if (result == NET_OK) result = referee_read_log(&self->referee);
        unlink(self->referee.log);
        if (result != NET_OK)
            printf("FAILED: game=%s seed=%" PRIu64 ": %s\n", game->name, seed,
                   net_result_text(result));
    }
    net_module_close(module);
    return result;
}

static net_result run_games(program* self) {
    const net_game_module* const games[REFEREE_GAMES] = {breakout_module(), arena_module(),
                                                         cubes_module()};
    net_result result = NET_OK;
    for (uint32_t i = 0; i < REFEREE_GAMES && result == NET_OK; i++)
        if (!self->game || strcmp(self->game, games[i]->name) == 0)
            result = run_game(self, games[i]);
    return result;
}

static bool write_golden(const char* file, const base_bytes* facts) {
    FILE* golden = fopen(file, "wb");
    if (!golden) return false;
    bool is_written = fwrite(facts->data, 1, facts->size, golden) == facts->size;
    return fclose(golden) == 0 && is_written;
}

// Each line of the facts is a line of the golden file; of a part of the matches, in the same order.
static bool check_lines(char* facts, const char* golden, bool is_part) {
    bool is_equal = true;
    char* rest = facts;
    for (char* line; (line = strsep(&rest, "\n")) && *line;) {
        const size_t size = strlen(line);
        const char* at = is_part ? strstr(golden, line) : golden;
        bool is_found = at && strncmp(at, line, size) == 0 && at[size] == '\n';
        if (!is_found) printf("other than golden: %s\n", line);
        is_equal = is_equal && is_found;
        golden = strchr(golden, '\n');
        golden = golden ? golden + 1 : "";
    }
    return is_equal && (is_part || *golden == '\0');
}

static bool check_golden(program* self, referee_kind kind) {
    base_bytes* facts = &self->referee.facts[kind];
    char file[PATH_BYTES];
    base_text_format(file, sizeof file, "%s/%s.txt", self->golden, kind_names[kind]);
    if (self->is_blessed) return write_golden(file, facts);
    base_bytes_write_u8(facts, 0);
    char* golden = text_file_read(file);
    const bool is_part = self->game || self->seed || self->seeds || self->referee.is_traced;
    bool is_equal = golden && check_lines((char*)facts->data, golden, is_part);
    printf("%s: %s\n", kind_names[kind], is_equal ? "equal" : "DIFFERENT");
    free(golden);
    return is_equal;
}

static int run(program* self) {
    for (uint32_t kind = 0; kind < REFEREE_KINDS; kind++)
        base_bytes_init(&self->referee.facts[kind], NULL);
    const bool is_played = run_games(self) == NET_OK;
    bool is_right = is_played;
    for (uint32_t kind = 0; kind < REFEREE_KINDS; kind++) {
        if (is_played) is_right &= check_golden(self, (referee_kind)kind);
        base_bytes_deinit(&self->referee.facts[kind]);
    }
    return is_right ? 0 : 1;
}

#define FIELD(name) BASE_OPTION_FIELD(program, name)

int main(int argc, char** argv) {
    char log[PATH_BYTES];
    base_text_format(log, sizeof log, "referee-%d.slog", (int)getpid());
    program self = {.referee = {.log = log, .reporter = base_reporter_stderr()}};
    const base_option table[] = {
        {"game", FIELD(game), "NAME", "this one alone", 0, 0},
        {"seed", FIELD(seed), "N", "this one alone", 1, REFEREE_SEEDS},
        {"seeds", FIELD(seeds), "N", "the first N of each game alone", 1, REFEREE_SEEDS},
        {"trace", FIELD(referee.is_traced), NULL, "print the facts of each tick", 0, 0},
        {"bless", FIELD(is_blessed), NULL, "write the golden files", 0, 0},
    };
    const base_options description = {
        .program = "referee",
        .usage = "GAMES_FOLDER GOLDEN_FOLDER [options]",
        .about = "What matches of real games compute, send and record, against golden files.",
        .options = table,
        .count = BASE_COUNT(table),
        .values = &self,
    };
    base_option_list words = {0};
    base_options_result read =
        base_options_read(&description, argc, argv, &words, &self.referee.reporter);
    if (read != BASE_OPTIONS_OK) return read == BASE_OPTIONS_HELP ? 0 : 2;
    if (words.count != 2) return 2;
    self.games = words.values[0];
    self.golden = words.values[1];
    return run(&self);
}
