// SPDX-License-Identifier: MIT
// The match's log as bytes, for operators; and what a spectator may have of it, for readers.
//
// A reader asks again from where it is. When nothing is there yet, the connection is suspended for
// up to a second and looks again now and then. The log's blocks are shorter meanwhile
// (net_log_hurry). Nothing is done for a log that no page reads.
//
// A place is the offset of a block in the log, also in a spectator's record: each of its blocks is
// made of one of the log's, wherever one begins. What was made is kept for those that follow at the
// same place. All that is made or looked for in a turn of the loop takes CONVERT_US at most; who
// has none of it left looks again in the next turn.
#include "http.h"

#include "base/json.h"
#include "base/text.h"
#include "net/log_bytes.h"
#include "net/socket.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES (UINT64_C(4) << 20)
#define PIECE_BYTES (256u << 10)   // that are made at once, and one block
#define LOOK_US UINT64_C(50000)    // while it waits
#define WAIT_US UINT64_C(1000000)  // for more
#define CONVERT_US UINT64_C(20000) // in a turn: other connections wait
#define LOOK_BLOCKS 4096u          // whose headers are read in a turn

/// What a request names.
typedef struct place {
    uint32_t part; ///< 0: the first that is there
    uint64_t from;
    bool is_live; ///< "live": the newest keyframe
} place;

static bool read_number(http_visit* visit, const char* name, uint64_t max, uint64_t* number) {
    const char* text = MHD_lookup_connection_value(visit->connection, MHD_GET_ARGUMENT_KIND, name);
    return !text || (base_text_parse_u64(text, number) && *number <= max);
}

static const char* read_place(http_visit* visit, place* at) {
    uint64_t part = 0;
    *at = (place){0};
    const char* from =
        MHD_lookup_connection_value(visit->connection, MHD_GET_ARGUMENT_KIND, "from");
    at->is_live = from && strcmp(from, "live") == 0;
    if (!at->is_live && !read_number(visit, "from", INT64_MAX, &at->from))
        return "'from' is neither an offset nor 'live'";
    if (!read_number(visit, "segment", UINT32_MAX - 1, &part)) return "'segment' is not a number";
    if (at->is_live && part > 0) return "'live' is of the newest segment: name none";
    at->part = (uint32_t)part;
    return NULL;
}

static bool add_number(struct MHD_Response* response, const char* name, uint64_t number) {
    char text[24];
    (void)base_text_format(text, sizeof text, "%" PRIu64, number);
    return MHD_add_response_header(response, name, text) == MHD_YES;
}

// Blocks of `at`, behind which `next` is asked for.
static enum MHD_Result send_blocks(http_visit* visit, struct MHD_Response* response,
                                   const place* at, uint64_t next) {
    http_limit(visit, HTTP_IDLE_FILE);
    if (response && !(add_number(response, "Shoal-Segment", at->part) &&
                      add_number(response, "Shoal-From", at->from) &&
                      add_number(response, "Shoal-Next", next))) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return http_respond(visit, 200, "application/octet-stream", response);
}

// `size` bytes of the file, which it closes.
static enum MHD_Result send_file(http_visit* visit, int file, const place* at, uint64_t size) {
    struct MHD_Response* response =
        size > 0 ? MHD_create_response_from_fd_at_offset64(size, file, at->from)
                 : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (size == 0 || !response) close(file);
    return send_blocks(visit, response, at, at->from + size);
}

static enum MHD_Result send_memory(http_visit* visit, const base_bytes* bytes, const place* at,
                                   uint64_t next) {
    return send_blocks(
        visit, MHD_create_response_from_buffer(bytes->size, bytes->data, MHD_RESPMEM_MUST_COPY), at,
        next);
}

static void look_again(http_visit* visit, uint64_t now_us, uint64_t look_us) {
    if (visit->state != HTTP_FOLLOWS) visit->follow_until_us = now_us + WAIT_US;
    visit->state = HTTP_FOLLOWS;
    visit->look_us = look_us;
    http_due(visit->inspect, visit->look_us);
    visit->until_us = 0;
    MHD_suspend_connection(visit->connection);
}

// Nothing is there yet: look again later. @return false: it has waited long enough.
static bool wait_for_more(http_visit* visit) {
    const uint64_t now_us = net_loop_now_us();
    if (visit->state == HTTP_FOLLOWS && now_us >= visit->follow_until_us) return false;
    look_again(visit, now_us, now_us + LOOK_US);
    return true;
}

// This turn has no time left for it.
static enum MHD_Result wait_for_turn(http_visit* visit) {
    const uint64_t now_us = net_loop_now_us();
    look_again(visit, now_us, now_us);
    return MHD_YES;
}

uint64_t http_files_run(server_inspect* self, uint64_t now_us) {
    uint64_t next_us = UINT64_MAX;
    self->convert_until_us = now_us + CONVERT_US;
    for (uint32_t i = 0; i < HTTP_VISITS_MAX; i++) {
        http_visit* visit = &self->visits[i];
        if (!visit->connection || visit->state != HTTP_FOLLOWS || visit->look_us == 0) continue;
        if (visit->look_us <= now_us) {
            visit->look_us = 0; // it is not suspended any more
            MHD_resume_connection(visit->connection);
        } else if (visit->look_us < next_us) {
            next_us = visit->look_us;
        }
    }
    return next_us;
}

// Open the part of a place; behind the end of a closed one the next. @return -1: it is gone.
static int open_place(const server_inspect* self, place* at, bool* is_closed) {
    net_log_parts parts;
    if (!net_log_parts_find(self->config.log_file, &parts)) return -1;
    if (at->part == 0) at->part = parts.first;
    return net_log_part_open(self->config.log_file, at->part, is_closed);
}

static enum MHD_Result send_log(server_inspect* self, http_visit* visit, place at) {
    bool is_closed;
    int file = open_place(self, &at, &is_closed);
    uint64_t size = file < 0 ? 0 : net_log_part_whole(file, at.from, CHUNK_BYTES);
    if (file >= 0 && size == 0 && is_closed) {
        const place next = {.part = at.part + 1};
        const int behind = net_log_part_open(self->config.log_file, next.part, &is_closed);
        if (behind >= 0) {
            close(file);
            file = behind;
            at = next;
            size = net_log_part_whole(file, 0, CHUNK_BYTES);
        }
    }
    if (file < 0) return http_send_error(visit, 404, "this segment of the log is not there");
    if (size > 0 || !wait_for_more(visit)) return send_file(visit, file, &at, size);
    close(file);
    return MHD_YES;
}

// ---- a spectator's record ----

// Later blocks are not for the caller yet.
static ecs_tick tick_max_of(const server_inspect* self, bool is_watch) {
    const uint64_t delay = self->config.delay_s * self->config.tick_rate_hz;
    const uint64_t tick = self->tick;
    if (!is_watch || delay == 0) return UINT64_MAX;
    return tick > delay ? tick - delay : 0;
}

static bool has_time(const server_inspect* self) {
    return net_loop_now_us() < self->convert_until_us;
}

// What was made for this place, or the piece that was read longest ago.
static http_piece* find_piece(server_inspect* self, const place* at) {
    http_piece* oldest = self->pieces;
    for (uint32_t i = 0; i < HTTP_PIECES_MAX; i++) {
        http_piece* it = &self->pieces[i];
        if (it->part == at->part && it->from == at->from) return it;
        if (it->used_us < oldest->used_us) oldest = it;
    }
    oldest->part = 0;
    return oldest;
}

static net_log_watch* watch_of(server_inspect* self) {
    if (!self->watch) self->watch = net_log_watch_create(NULL);
    return self->watch;
}

// The record's blocks at a place. @return NULL: no file. *has_end: the part has no
// more, now or later.
static const http_piece* take_piece(server_inspect* self, const place* at, bool* has_end) {
    struct stat status;
    http_piece* piece = find_piece(self, at);
    *has_end = false;
    piece->used_us = net_loop_now_us();
    if (piece->part) return piece;
    const int source = net_log_part_open(self->config.log_file, at->part, has_end);
    if (source < 0) return NULL;
    piece->from = piece->next = at->from;
    // Make blocks from its place on, while there are some and time.
    const ecs_tick tick_max = tick_max_of(self, true);
    base_bytes_clear(&piece->bytes);
    net_result result = net_log_watch_head(watch_of(self), source, true, NULL);
    while (result == NET_OK && piece->bytes.size < PIECE_BYTES)
        result = has_time(self) ? net_log_watch_step(self->watch, source, tick_max, &piece->next,
                                                     &piece->bytes)
                                : NET_ERR_CLOSED;
    *has_end = *has_end && fstat(source, &status) == 0 && piece->next >= (uint64_t)status.st_size;
    if (piece->bytes.size > 0) piece->part = at->part;
    close(source);
    return piece;
}

static enum MHD_Result send_watch(server_inspect* self, http_visit* visit, place at) {
    bool has_end;
    net_log_parts parts;
    if (!net_log_parts_find(self->config.log_file, &parts))
        return http_send_error(visit, 404, "the log is not there");
    if (at.part == 0) at.part = parts.first;
    if (at.part < parts.first || at.part > parts.newest)
        return http_send_error(visit, 404, "this segment of the log is not there");
    if (!has_time(self)) return wait_for_turn(visit);
    const http_piece* piece = take_piece(self, &at, &has_end);
    if (piece && piece->bytes.size == 0 && has_end && at.part < parts.newest) {
        at = (place){.part = at.part + 1};
        piece = take_piece(self, &at, &has_end);
    }
    if (!piece) return http_send_error(visit, 404, "this segment of the log is not there");
    if (piece->bytes.size == 0 && wait_for_more(visit)) return MHD_YES;
    return send_memory(visit, &piece->bytes, &at, piece->next);
}

// ---- from the newest keyframe on ----

static http_places* places_of(server_inspect* self, bool is_watch, uint32_t part, uint32_t newest) {
    return &self->places[is_watch][part == newest ? 0 : 1];
}

// Look for the newest keyframe that the caller may have; none: `at` is where all begins.
// @return false: there is more to look at in another turn.
static bool find_start(server_inspect* self, const net_log_parts* parts, bool is_watch, place* at,
                       ecs_tick* tick) {
    for (uint32_t part = parts->newest;; part--) {
        http_places* it = places_of(self, is_watch, part, parts->newest);
        bool is_closed, is_whole = true;
        if (it->part != part) *it = (http_places){.part = part};
        const int file = net_log_part_open(self->config.log_file, part, &is_closed);
        if (file >= 0) {
            is_whole = net_log_places_find(&it->at, file, tick_max_of(self, is_watch), LOOK_BLOCKS);
            close(file);
        }
        if (!is_whole) return false;
        *at = (place){.part = part, .from = it->at.keyframe};
        *tick = it->at.tick;
        if (it->at.keyframe > 0 || part <= parts->first) return true;
    }
}

// The head, and behind it blocks from the keyframe on.
static bool write_start(server_inspect* self, bool is_watch, const place* at, uint64_t* next) {
    bool is_closed, has_end;
    base_bytes* bytes = &self->scratch;
    const int file = net_log_part_open(self->config.log_file, at->part, &is_closed);
    if (file < 0) return false;
    base_bytes_clear(bytes);
    bool is_whole = net_log_watch_head(watch_of(self), file, is_watch, bytes) == NET_OK;
    if (is_whole && is_watch) {
        const http_piece* piece = take_piece(self, at, &has_end);
        is_whole = piece != NULL;
        if (piece) base_bytes_write(bytes, piece->bytes.data, piece->bytes.size);
        if (piece) *next = piece->next;
    } else if (is_whole) {
        const uint64_t size = net_log_part_whole(file, at->from, PIECE_BYTES);
        uint8_t* target = base_bytes_extend(bytes, (size_t)size);
        is_whole = pread(file, target, (size_t)size, (off_t)at->from) == (ssize_t)size;
        *next = at->from + size;
    }
    close(file);
    return is_whole;
}

static enum MHD_Result send_start(server_inspect* self, http_visit* visit, bool is_watch) {
    net_log_parts parts;
    place at;
    ecs_tick tick;
    uint64_t next;
    if (!net_log_parts_find(self->config.log_file, &parts))
        return http_send_error(visit, 404, "the log is not there");
    if (!has_time(self) || !find_start(self, &parts, is_watch, &at, &tick))
        return wait_for_turn(visit);
    if (at.from == 0) return is_watch ? send_watch(self, visit, at) : send_log(self, visit, at);
    if (!write_start(self, is_watch, &at, &next))
        return http_send_error(visit, 503, "there is no memory, or the segment is gone");
    return send_memory(visit, &self->scratch, &at, next);
}

// ---- the game's code ----

// The game's code for browsers lies in the folder "web" beside that of its module, or in that of
// its build (a script's). @return -1: it is not there.
static int open_game(const char* folder, int folder_bytes, const char* name, bool is_packed) {
    static const char* const places[] = {"../web", "build/web"};
    char path[4096];
    int file = -1;
    for (uint32_t i = 0; i < BASE_COUNT(places) && file < 0; i++)
        if (base_text_format(path, sizeof path, "%.*s/%s/%s.wasm%s", folder_bytes, folder,
                             places[i], name, is_packed ? ".gz" : ""))
            file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return file;
}

int http_open_game(const server_inspect* self, bool is_packed) {
    const server_inspect_config* config = &self->config;
    char path[4096];
    if (config->game_file) {
        const char* slash = strrchr(config->game_file, '/');
        const char* folder = slash ? config->game_file : ".";
        return open_game(folder, slash ? (int)(slash - folder) : 1, config->game, is_packed);
    }
    net_module_default_path(path, sizeof path);
    int file = -1;
    for (const char* at = path; *at && file < 0; at += strspn(at, ":")) {
        const int size = (int)strcspn(at, ":");
        file = open_game(at, size, config->game, is_packed);
        at += size;
    }
    return file;
}

// ---- what is asked ----

// Does the log still grow?
static bool is_live(server_inspect* self) {
    const server_inspect_config* config = &self->config;
    self->is_log_over =
        self->is_log_over || (config->log_file && !net_log_is_written(config->log_file));
    return config->is_live && !self->is_log_over;
}

static const char* refuse_watch(server_inspect* self) {
    const server_inspect_config* config = &self->config;
    if (!config->is_hiding || config->delay_s > 0 || (config->is_elsewhere && !is_live(self)))
        return NULL;
    return config->is_elsewhere
               ? "readers may not see this match while it runs: they may when its log is closed"
               : "readers may not see this match as it is now: --http delay lets them watch later";
}

static void put_places(server_inspect* self, const net_log_parts* parts, bool is_watch,
                       const place* start, ecs_tick tick) {
    base_bytes* json = &self->scratch;
    const http_places* newest = places_of(self, is_watch, parts->newest, parts->newest);
    base_json_write(json, "first=%u newest=%u bytes='%ju'", parts->first, parts->newest,
                    newest->at.end);
    if (is_watch) base_json_write(json, "delay_s=%ju", self->config.delay_s);
    if (start->from > 0)
        base_json_write(json, "keyframe={segment=%u from='%ju' tick='%ju'}", start->part,
                        start->from, tick);
}

// Says what there is to read, or why there is nothing: a page asks it once, and it is no error.
static enum MHD_Result send_info(server_inspect* self, http_visit* visit, const char* why) {
    net_log_parts parts = {0};
    place start = {0};
    ecs_tick tick = 0;
    base_bytes* json = &self->scratch;
    const bool is_watch = visit->route.kind == SERVER_ROUTE_WATCH_INFO;
    if (!why && !net_log_parts_find(self->config.log_file, &parts)) why = "the log is not there";
    if (!why && !find_start(self, &parts, is_watch, &start, &tick)) return wait_for_turn(visit);
    const int game = http_open_game(self, false);
    if (game >= 0) close(game);
    base_bytes_clear(json);
    base_json_write(json, "{game=%s wasm=%i live=%i", self->config.game, game >= 0, is_live(self));
    if (why)
        base_json_write(json, "why=%s", why);
    else
        put_places(self, &parts, is_watch, &start, tick);
    base_json_write(json, "}");
    return http_send(visit, 200, NULL, json->data, json->size);
}

enum MHD_Result http_send_file(server_inspect* self, http_visit* visit) {
    const server_route_kind kind = visit->route.kind;
    const bool is_watch = kind == SERVER_ROUTE_WATCH_INFO || kind == SERVER_ROUTE_WATCH_BYTES;
    const char* error = is_watch ? refuse_watch(self) : NULL;
    place at;
    if (!self->config.log_file) error = "there is no log: --log FILE";
    if (kind == SERVER_ROUTE_LOG_INFO || kind == SERVER_ROUTE_WATCH_INFO)
        return send_info(self, visit, error);
    if (error) return http_send_error(visit, 404, error);
    error = read_place(visit, &at);
    if (error) return http_send_error(visit, 400, error);
    if (!is_watch || self->config.delay_s == 0) self->is_followed = true;
    if (at.is_live) return send_start(self, visit, is_watch);
    return is_watch ? send_watch(self, visit, at) : send_log(self, visit, at);
}
