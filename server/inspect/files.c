// SPDX-License-Identifier: MIT
// The match's log as bytes, for operators; and what a spectator may have of it, for readers.
//
// A reader asks again from where it is. When nothing is there yet, the connection is suspended for
// up to a second and looks again now and then. The log's blocks are shorter meanwhile
// (net_log_hurry). Nothing is done for a log that no page reads.
//
// What spectators get is made once for all of them, as far as one of them has asked: a tape, in a
// file without a name.
#include "http.h"

#include "base/json.h"
#include "base/text.h"
#include "net/log_bytes.h"
#include "net/socket.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES (UINT64_C(4) << 20)
#define LOOK_US UINT64_C(50000)    // while it waits
#define WAIT_US UINT64_C(1000000)  // for more
#define CONVERT_US UINT64_C(20000) // at a time: other connections wait

/// What a request names.
typedef struct place {
    uint32_t part; ///< 0: the first that is there
    uint64_t from;
} place;

static bool read_number(http_visit* visit, const char* name, uint64_t max, uint64_t* number) {
    const char* text = MHD_lookup_connection_value(visit->connection, MHD_GET_ARGUMENT_KIND, name);
    return !text || (base_text_parse_u64(text, number) && *number <= max);
}

static const char* read_place(http_visit* visit, place* at) {
    uint64_t part = 0;
    *at = (place){0};
    if (!read_number(visit, "from", INT64_MAX, &at->from)) return "'from' is no offset";
    if (!read_number(visit, "segment", UINT32_MAX - 1, &part)) return "'segment' is no number";
    at->part = (uint32_t)part;
    return NULL;
}

static enum MHD_Result send_bytes(http_visit* visit, int file, const place* at, uint64_t size) {
    char part[16];
    struct MHD_Response* response = NULL;
    (void)base_text_format(part, sizeof part, "%" PRIu32, at->part);
    http_limit(visit, HTTP_IDLE_FILE);
    if (size == 0) {
        close(file);
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    } else {
        response = MHD_create_response_from_fd_at_offset64(size, file, at->from);
        if (!response) close(file);
    }
    if (response && MHD_add_response_header(response, "Shoal-Segment", part) != MHD_YES) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return http_respond(visit, 200, "application/octet-stream", response);
}

// Nothing is there yet: look again later. @return false: it has waited long enough.
static bool wait_for_more(http_visit* visit) {
    const uint64_t now_us = net_loop_now_us();
    if (visit->state != HTTP_FOLLOWS) visit->follow_until_us = now_us + WAIT_US;
    if (now_us >= visit->follow_until_us) return false;
    visit->state = HTTP_FOLLOWS;
    visit->look_us = now_us + LOOK_US;
    http_due(visit->inspect, visit->look_us);
    visit->until_us = 0;
    MHD_suspend_connection(visit->connection);
    return true;
}

uint64_t http_files_run(server_inspect* self, uint64_t now_us) {
    uint64_t next_us = UINT64_MAX;
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
    if (size > 0 || !wait_for_more(visit)) return send_bytes(visit, file, &at, size);
    close(file);
    return MHD_YES;
}

// ---- tapes ----

static void close_tape(http_tape* tape) {
    net_log_watch_destroy(tape->watch);
    if (tape->file) (void)fclose(tape->file);
    *tape = (http_tape){0};
}

void http_files_close(server_inspect* self) {
    for (uint32_t i = 0; i < HTTP_TAPES_MAX; i++)
        close_tape(&self->tapes[i]);
    base_bytes_deinit(&self->scratch);
}

// That of a part; a new one takes the place of the one that was read longest ago. @return NULL:
// there is no memory, or no room for its file.
static http_tape* find_tape(server_inspect* self, uint32_t part) {
    http_tape* tape = self->tapes;
    for (uint32_t i = 0; i < HTTP_TAPES_MAX; i++) {
        if (self->tapes[i].part == part) return &self->tapes[i];
        if (self->tapes[i].used_us < tape->used_us) tape = &self->tapes[i];
    }
    close_tape(tape);
    tape->file = tmpfile();
    if (tape->file && net_log_watch_create(NULL, &tape->watch) == NET_OK) {
        tape->part = part;
        return tape;
    }
    close_tape(tape);
    return NULL;
}

static bool write_tape(http_tape* tape, const base_bytes* bytes) {
    size_t done = 0;
    while (done < bytes->size) {
        const ssize_t wrote = pwrite(fileno(tape->file), bytes->data + done, bytes->size - done,
                                     (off_t)(tape->bytes + done));
        if (wrote <= 0) return false;
        done += (size_t)wrote;
    }
    tape->bytes += done;
    return true;
}

// Go on until there is enough behind `from`, and not longer than one turn. *has_end: all of a
// closed part is on the tape. @return false: the tape is not whole.
static bool fill_tape(server_inspect* self, http_tape* tape, const place* at, bool* has_end) {
    bool is_closed;
    struct stat status;
    const uint64_t delay = self->config.delay_s * self->config.tick_rate_hz;
    const uint64_t tick = self->tick, end_us = net_loop_now_us() + CONVERT_US;
    const uint64_t tick_max = delay == 0 ? UINT64_MAX : tick > delay ? tick - delay : 0;
    const int source = net_log_part_open(self->config.log_file, at->part, &is_closed);
    net_result result = source < 0 ? NET_ERR_CLOSED : NET_OK;
    while (result == NET_OK && tape->bytes < at->from + CHUNK_BYTES && net_loop_now_us() < end_us) {
        base_bytes_clear(&self->scratch);
        result = net_log_watch_step(tape->watch, source, tick_max, &self->scratch);
        if (result == NET_OK && !write_tape(tape, &self->scratch)) result = NET_ERR_IO;
    }
    *has_end = source >= 0 && is_closed && fstat(source, &status) == 0 &&
               net_log_watch_read(tape->watch) >= (uint64_t)status.st_size;
    if (source >= 0) close(source);
    return result == NET_OK || result == NET_ERR_CLOSED || result == NET_ERR_DAMAGED;
}

static enum MHD_Result send_watch(server_inspect* self, http_visit* visit, place at) {
    bool has_end;
    net_log_parts parts;
    if (!net_log_parts_find(self->config.log_file, &parts))
        return http_send_error(visit, 404, "the log is not there");
    if (at.part == 0) at.part = parts.first;
    if (at.part < parts.first || at.part > parts.newest)
        return http_send_error(visit, 404, "this segment of the log is not there");
    http_tape* tape = find_tape(self, at.part);
    if (tape && fill_tape(self, tape, &at, &has_end) && has_end && tape->bytes <= at.from &&
        at.part < parts.newest) {
        at = (place){.part = at.part + 1};
        tape = find_tape(self, at.part);
        if (tape && !fill_tape(self, tape, &at, &has_end)) close_tape(tape);
    }
    if (!tape || !tape->watch) return http_send_error(visit, 503, "there is no room for a record");
    tape->used_us = net_loop_now_us();
    uint64_t size = tape->bytes > at.from ? tape->bytes - at.from : 0;
    if (size > CHUNK_BYTES) size = CHUNK_BYTES;
    if (size == 0 && wait_for_more(visit)) return MHD_YES;
    const int file = fcntl(fileno(tape->file), F_DUPFD_CLOEXEC, 0);
    if (file < 0) return http_send_error(visit, 503, "too many files are open");
    return send_bytes(visit, file, &at, size);
}

// ---- the game's code ----

// The game's code for browsers lies in the folder "web" beside that of its module. @return -1: it
// is not there.
static int open_game(const char* folder, int folder_bytes, const char* name) {
    char path[4096];
    if (!base_text_format(path, sizeof path, "%.*s/../web/%s.wasm", folder_bytes, folder, name))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int http_open_game(const server_inspect* self) {
    const server_inspect_config* config = &self->config;
    char path[4096];
    if (config->game_file) {
        const char* slash = strrchr(config->game_file, '/');
        const char* folder = slash ? config->game_file : ".";
        return open_game(folder, slash ? (int)(slash - folder) : 1, config->game);
    }
    net_module_default_path(path, sizeof path);
    int file = -1;
    for (const char* at = path; *at && file < 0; at += strspn(at, ":")) {
        const int size = (int)strcspn(at, ":");
        file = open_game(at, size, config->game);
        at += size;
    }
    return file;
}

// ---- what is asked ----

static const char* refuse_watch(const server_inspect* self) {
    if (self->config.is_hiding && self->config.delay_s == 0)
        return "readers may not see this match as it is now: --http-delay lets them watch later";
    return NULL;
}

// Says what there is to read, or why there is nothing: a page asks it once, and it is no error.
static enum MHD_Result send_info(server_inspect* self, http_visit* visit, const char* why) {
    net_log_parts parts = {0};
    struct stat status = {0};
    base_bytes* json = &self->scratch;
    const bool is_watch = visit->route.kind == SERVER_ROUTE_WATCH_INFO;
    const char* file = self->config.log_file;
    const int game = http_open_game(self);
    if (!why && (!net_log_parts_find(file, &parts) || stat(file, &status) != 0))
        why = "the log is not there";
    if (game >= 0) close(game);
    self->is_log_over = self->is_log_over || (file && !net_log_is_written(file));
    base_bytes_clear(json);
    base_json_put(json, "{\"game\":");
    base_json_text(json, self->config.game);
    base_json_put(json, ",\"wasm\":%s,\"live\":%s", game >= 0 ? "true" : "false",
                  self->config.is_live && !self->is_log_over ? "true" : "false");
    if (why) {
        base_json_put(json, ",\"why\":");
        base_json_text(json, why);
    } else {
        base_json_put(json, ",\"first\":%" PRIu32 ",\"newest\":%" PRIu32, parts.first,
                      parts.newest);
        if (is_watch) base_json_put(json, ",\"delay_s\":%" PRIu64, self->config.delay_s);
        if (!is_watch) base_json_put(json, ",\"bytes\":\"%" PRIu64 "\"", (uint64_t)status.st_size);
    }
    base_json_put(json, "}");
    if (json->failed) return http_send_error(visit, 503, "there is no memory");
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
    if (!is_watch || self->config.delay_s == 0)
        atomic_store_explicit(&self->is_followed, true, memory_order_relaxed);
    return is_watch ? send_watch(self, visit, at) : send_log(self, visit, at);
}
