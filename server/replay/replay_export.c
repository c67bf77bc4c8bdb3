// SPDX-License-Identifier: MIT
// shoal-replay export, repair, slice, files: what writes other files of a log.
#include "replay/replay.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/template_files.h"
#include "host/output.h"
#include "net/log_tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// ---- export: values, inputs or events as lines that other programs read ----

typedef struct exporting {
    server_replay* self;
    const net_module* module; ///< NULL: values from the log itself
    net_log_export_config config;
    net_log_exported exported;
    net_result result;
} exporting;

// Is --to not before --from? Reported.
static bool has_range(const server_replay* self) {
    if (self->to == 0 || self->to >= self->from) return true;
    return base_report(&self->reporter, NULL, 0, "--to %" PRIu64 " is before --from %" PRIu64,
                       self->to, self->from);
}

static bool has_output(const server_replay* self) {
    if (!self->output)
        base_report(&self->reporter, NULL, 0, "%s: name the new file with --output", self->command);
    return self->output != NULL;
}

static bool write_lines(void* context, void* file) {
    exporting* made = context;
    server_replay* self = made->self;
    made->result = net_log_export(self->reader, made->module, &made->config, net_host_write_line,
                                  file, &self->reporter, &made->exported);
    return true;
}

static bool has_values(const exporting* made) {
    return made->config.what == NET_LOG_EXPORT_VALUES || made->config.what == NET_LOG_EXPORT_ALL;
}

// The game that is here may be another one, and then the match cannot be run.
static bool is_other_game(const exporting* made) {
    return made->module && has_values(made) &&
           (made->result == NET_ERR_SCHEMA || made->result == NET_ERR_MODULE) &&
           made->exported.rows == 0;
}

static bool write_out(exporting* made) {
    server_replay* self = made->self;
    if (!made->module && has_values(made))
        base_report(&self->reporter, self->file, 0,
                    "note: the values are those that clients get, from the log itself: the match "
                    "is not run, because %s",
                    self->module ? "the game here is another one" : "its game is not here");
    if (!self->output) return write_lines(made, stdout);
    const bool is_written = net_host_write_file(self->output, write_lines, made, &self->reporter);
    // Up to where a log is damaged, or another game differs, the file is right.
    if (made->result != NET_OK && made->result != NET_ERR_DAMAGED) net_host_drop_file(self->output);
    return is_written;
}

int server_replay_export(server_replay* self) {
    if (!has_range(self)) return NET_EXIT_USAGE;
    exporting made = {.self = self,
                      .module = self->module,
                      .config = {.what = self->what,
                                 .components = self->components,
                                 .every = self->every,
                                 .first = self->from,
                                 .last = self->to}};
    bool is_written = write_out(&made);
    if (is_written && is_other_game(&made)) {
        made.module = NULL;
        is_written = write_out(&made);
    }
    self->has_result = !self->output; // its rows
    if (!is_written) return NET_EXIT_RUNTIME;
    if (made.result == NET_ERR_UNKNOWN) return NET_EXIT_USAGE;
    if (made.result != NET_OK) return net_exit_of_replay(made.result);
    if (made.exported.ticks_lacking > 0)
        base_report(&self->reporter, self->file, 0, "the log has no values of %" PRIu64 " ticks",
                    made.exported.ticks_lacking);
    if (self->output)
        printf("exported rows=%" PRIu64 " ticks=%" PRIu64 " file=%s\n", made.exported.rows,
               made.exported.ticks, self->output);
    self->has_result = true;
    return made.exported.diverged_tick > 0 ? NET_EXIT_DIVERGED : NET_EXIT_CLEAN;
}

// ---- repair and slice ----
//
// After damage a log goes on at a keyframe; each part becomes a log of its own, FILE, FILE.2,
// FILE.3...

enum { PARTS_MAX = 1000 };

static net_result repair_part(server_replay* self, uint32_t number, net_log_copy_config* config,
                              net_log_copy_result* made) {
    BASE_ASSERT(self->output && number >= 1 && number <= PARTS_MAX);
    char name[4096];
    (void)base_text_copy(name, sizeof name, self->output);
    if (number > 1 && !base_text_format(name, sizeof name, "%s.%u", self->output, number))
        return BASE_REPORT_AS(NET_ERR_IO, &self->reporter, NULL, 0,
                              "--output: the name is too long");
    config->output = name;
    net_result result = net_log_copy(self->reader, config, &self->reporter, made);
    if (result != NET_OK) return result;
    printf("repaired file=%s first_tick=%" PRIu64 " last_tick=%" PRIu64 "\n", name,
           made->first_tick, made->last_tick);
    return NET_OK;
}

int server_replay_repair(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    if (!has_output(self)) return NET_EXIT_USAGE;
    if (strcmp(net_log_reader_verdict(self->reader), "whole") == 0)
        return net_exit_report(NET_EXIT_CLEAN, &self->reporter, self->file,
                               "note: it is whole, nothing is to be repaired");
    net_log_copy_config config = {0};
    net_log_copy_result made = {0};
    net_result result = NET_OK;
    ecs_tick ticks = 0;
    uint32_t parts = 0;
    do {
        config.first = made.next_tick;
        result = repair_part(self, ++parts, &config, &made);
        ticks += made.ticks;
    } while (result == NET_OK && made.next_tick > 0 && parts < PARTS_MAX);
    if (result != NET_OK) return net_exit_of_replay(result);
    if (made.unfinished_tick > 0)
        base_report(&self->reporter, self->file, 0,
                    "note: tick %" PRIu64 ", in which the server died, is left out; `shoal-replay "
                    "verify --through-crash` runs it from this file",
                    made.unfinished_tick);
    printf("repaired parts=%u ticks=%" PRIu64 " queue_records=%" PRIu64 " damaged_blocks=%" PRIu64
           " lost_ticks=%" PRIu64 " lost_bytes=%" PRIu64 "\n",
           parts, ticks, info->queue_records, info->damaged_blocks, info->lost_ticks,
           info->lost_bytes);
    self->is_repaired = true;
    return NET_EXIT_CLEAN;
}

int server_replay_slice(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const net_log_copy_config config = {
        .output = self->output, .first = self->from, .last = self->to};
    net_log_copy_result made;
    if (!has_output(self)) return NET_EXIT_USAGE;
    if (!has_range(self)) return NET_EXIT_USAGE;
    if (self->from > info->last_tick)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, self->file,
                               "--from: the log ends at tick %" PRIu64, info->last_tick);
    net_result result = net_log_copy(self->reader, &config, &self->reporter, &made);
    if (result != NET_OK) return net_exit_of_replay(result);
    if (made.next_tick > 0)
        base_report(&self->reporter, self->file, 0,
                    "the slice ends at tick %" PRIu64
                    ", where the log is damaged; it continues at tick %" PRIu64,
                    made.last_tick, made.next_tick);
    printf("sliced file=%s first_tick=%" PRIu64 " last_tick=%" PRIu64 " ticks=%" PRIu64 "\n",
           self->output, made.first_tick, made.last_tick, made.ticks);
    return NET_EXIT_CLEAN;
}

// ---- files: the texts that the log has of its game ----

// The names come from a foreign log: words with '/' between them, none of them hidden, ".." or
// empty.
static bool is_safe_name(const char* name) {
    char before = '/';
    for (; *name; before = *name++) {
        if (*(const unsigned char*)name < ' ' || strchr("\\:\"<>|*?", *name)) return false;
        if (before == '/' && (*name == '/' || *name == '.')) return false;
    }
    return before != '/';
}

static bool write_text(void* context, void* file) {
    const ecs_pack_text* text = context;
    return fwrite(text->text, 1, text->bytes, file) == text->bytes;
}

static int take_text(const server_replay* self, ecs_pack_text* text, bool writes) {
    char path[4096];
    struct stat status;
    const char* game = net_log_reader_info(self->reader)->game;
    const char* name = text->path + (strncmp(text->path, "%game/", 6) == 0 ? 6 : 0);
    if (!is_safe_name(name) ||
        !base_text_format(path, sizeof path, "%s/%s%s%s", self->second, text->is_file ? game : "",
                          text->is_file ? "/" : "", name))
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, text->path,
                               "leads out of the folder, is too long, or has bytes of no name");
    if (!writes)
        return lstat(path, &status) != 0
                   ? NET_EXIT_CLEAN
                   : net_exit_report(NET_EXIT_RUNTIME, &self->reporter, path,
                                     "is there already, and is not overwritten");
    for (char* slash = path + strlen(self->second); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0700); // what fails shows at the file
        *slash = '/';
    }
    if (!net_host_write_file(path, write_text, text, &self->reporter)) return NET_EXIT_RUNTIME;
    printf("file=%s bytes=%zu\n", path, text->bytes);
    return NET_EXIT_CLEAN;
}

// Nothing is written unless all of it can be.
static int take_texts(const server_replay* self, const net_log_reader* part) {
    size_t bytes = 0;
    const uint8_t* pack = net_log_reader_pack(part, &bytes);
    const net_log_info* info = net_log_reader_info(part);
    int code = NET_EXIT_CLEAN;
    for (uint32_t writes = 0; writes < 2 && code == NET_EXIT_CLEAN; writes++) {
        ecs_pack_text text;
        size_t offset = 0;
        while (code == NET_EXIT_CLEAN && pack && ecs_pack_next(pack, bytes, &offset, &text))
            code = take_text(self, &text, writes);
        if (code == NET_EXIT_CLEAN && (!pack || offset != bytes))
            code = net_exit_report(NET_EXIT_RUNTIME, &self->reporter, self->file,
                                   "has no whole texts of its game here: a log has them after a "
                                   "reload, and of a game with files");
    }
    if (code == NET_EXIT_CLEAN)
        printf("files game=%s content=%016" PRIx64 " ticks=%" PRIu64 "..%" PRIu64 "\n", info->game,
               info->content_hash, info->first_tick, info->last_tick);
    return code;
}

int server_replay_files(server_replay* self) {
    net_log_reader* part = self->reader;
    const net_log_info* info = net_log_reader_info(part);
    if (self->tick > info->last_tick)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, self->file,
                               "tick %" PRIu64 " is not in the log", self->tick);
    while (self->tick > 0 && self->tick < info->first_tick && info->segment_before > 0) {
        const uint32_t before = info->segment_before;
        if (part != self->reader) net_log_reader_destroy(part);
        const net_result result =
            net_log_reader_create_to(NULL, self->file, before, &self->reporter, &part);
        if (!part) return net_exit_of_replay(result);
        info = net_log_reader_info(part);
    }
    const int code = take_texts(self, part);
    if (part != self->reader) net_log_reader_destroy(part);
    return code;
}
