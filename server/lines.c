// SPDX-License-Identifier: MIT
// A message comes in, is formed and written to stderr under one mutex: threads of the network and
// of the log say lines too, and half a line helps no operator. stderr is a pipe or a terminal that
// may be slow or not drained: a line that it does not take soon is lost there, and counted.
//
//     base_report -> report_line -> [level] -> slot of the ring -> text -> write
//
// A crash reads the ring without the mutex, which the dying thread may hold, and formats nothing: a
// slot has the text before its message, and its number only while it is whole.
#include "lines.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "net/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// Of a line in its longest form: each byte of file and message escaped.
#define TEXT_BYTES (6u * (SERVER_LINE_FILE_BYTES + BASE_REPORT_BYTES_MAX) + 256u)
/// A pipe that has room has room for a whole line.
_Static_assert(TEXT_BYTES <= PIPE_BUF, "POLLOUT says that so many bytes do not block");

/// In each second all lines together wait so long for stderr.
#define WAIT_MS_MAX 20u

const char* const server_level_names[SERVER_LEVEL_COUNT] = {"error", "warning", "info", "debug"};
const char* const server_layer_names[SERVER_LAYER_COUNT] = {"server", "game", "net", "log", "http"};
static const int journal_levels[SERVER_LEVEL_COUNT] = {3, 4, 6, 7};

typedef struct slot {
    _Atomic uint64_t number; // of the line that is whole in here; 0: none
    server_line line;
    char head[SERVER_LINE_FILE_BYTES + 96]; // of the tail: "22:47:44.123 812 info net: FILE:LINE: "
} slot;

// The context of one layer's reporter.
typedef struct speaker {
    base_reporter reporter;
    server_lines* lines;
    server_layer layer;
    server_level level; // the last one that is printed
} speaker;

struct server_lines {
    base_owner owner;
    pthread_mutex_t lock; // of all below but `tick`
    server_line_format format;
    bool is_journal;
    _Atomic uint64_t tick;
    _Atomic uint64_t count; // lines so far
    base_bytes text;        // of the one that is written
    uint64_t lost;          // lines that stderr did not take, since the last one that it took
    uint64_t second_us;     // when the second began in which lines
    uint64_t waited_us;     // waited so long
    speaker speakers[SERVER_LAYER_COUNT];
    slot slots[SERVER_LINES_MAX];
};

// ---- forms ----

static void write_object(base_bytes* text, const server_line* line) {
    const time_t seconds = (time_t)(line->unix_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    base_json_put(text, "{");
    base_json_write(text, "time='%04d-%02d-%02dT%02d:%02d:%02d.%03uZ' level=%s layer=%s tick=%ju",
                    utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                    utc.tm_sec, (unsigned)(line->unix_ms % 1000), server_level_names[line->level],
                    server_layer_names[line->layer], line->tick);
    if (line->file[0]) base_json_write(text, "file=%s", line->file);
    if (line->line) base_json_write(text, "line=%u", line->line);
    base_json_write(text, "message=%s}", line->message);
}

static void write_all(int descriptor, const void* data, size_t size) {
    const char* at = data;
    while (size > 0) {
        const ssize_t written = write(descriptor, at, size);
        if (written < 0 && errno != EINTR) return; // stderr is gone: the ring has the line
        if (written <= 0) continue;
        at += written;
        size -= (size_t)written;
    }
}

// ---- reporting ----

static const server_line* store_line(server_lines* lines, const server_line* head, const char* file,
                                     const char* message) {
    const uint64_t number = lines->count + 1;
    slot* into = &lines->slots[number % SERVER_LINES_MAX];
    atomic_store(&into->number, 0);
    into->line = *head;
    into->line.number = number;
    const size_t length = strlen(file);
    const size_t cut = length < SERVER_LINE_FILE_BYTES ? 0 : length - SERVER_LINE_FILE_BYTES + 1;
    (void)base_text_copy(into->line.file, sizeof into->line.file, file + cut);
    (void)base_text_copy(into->line.message, sizeof into->line.message,
                         message + base_report_kind(message));
    const server_line* line = &into->line;
    const uint64_t seconds = line->unix_ms / 1000;
    const char* after = !line->file[0] ? "" : line->line ? ":" : ": ";
    char place[16] = "";
    if (line->line) (void)base_text_format(place, sizeof place, "%" PRIu32 ": ", line->line);
    (void)base_text_format(
        into->head, sizeof into->head, "%02u:%02u:%02u.%03u %" PRIu64 " %s %s: %s%s%s",
        (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
        (unsigned)(line->unix_ms % 1000), line->tick, server_level_names[line->level],
        server_layer_names[line->layer], line->file, after, place);
    atomic_store(&into->number, number);
    lines->count = number;
    return &into->line;
}

static bool has_room(server_lines* lines) {
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) > 0) return true;
    const uint64_t now_us = net_loop_now_us();
    if (now_us - lines->second_us >= 1000000) {
        lines->second_us = now_us;
        lines->waited_us = 0;
    }
    const uint64_t waited_ms = lines->waited_us / 1000;
    if (lines->lost > 0 || waited_ms >= WAIT_MS_MAX) return false;
    const bool has = poll(&out, 1, (int)(WAIT_MS_MAX - waited_ms)) > 0;
    lines->waited_us += net_loop_now_us() - now_us;
    return has;
}

static void print_line(server_lines* lines, const server_line* head, const char* file,
                       const char* message) {
    const server_line* kept = store_line(lines, head, file, message);
    base_bytes* text = &lines->text;
    if (!has_room(lines)) {
        lines->lost++;
        return;
    }
    base_bytes_clear(text);
    if (lines->is_journal) base_json_put(text, "<%d>", journal_levels[kept->level]);
    if (lines->format == SERVER_LINE_WORDS) {
        char words[BASE_REPORT_TEXT_BYTES];
        base_report_text(words, sizeof words, file[0] ? file : NULL, kept->line, message);
        base_bytes_write(text, words, strlen(words));
    } else
        write_object(text, kept);
    base_json_put(text, "\n");
    write_all(STDERR_FILENO, text->data, text->size);
}

static void report_line(void* context, const char* file, uint32_t line, const char* message) {
    const speaker* from = context;
    server_lines* lines = from->lines;
    const char first = base_report_kind(message) > 0 ? message[0] : 'e';
    const server_level level = first == 'w'   ? SERVER_LEVEL_WARNING
                               : first == 'n' ? SERVER_LEVEL_INFO
                               : first == 'd' ? SERVER_LEVEL_DEBUG
                                              : SERVER_LEVEL_ERROR;
    if (!server_lines_shows(lines, from->layer, level)) return;
    const server_line head = {.unix_ms = net_loop_unix_ms(),
                              .tick = lines->tick,
                              .level = level,
                              .layer = from->layer,
                              .line = file ? line : 0};
    pthread_mutex_lock(&lines->lock);
    if (lines->lost > 0 && has_room(lines)) {
        char text[BASE_REPORT_BYTES_MAX];
        server_line loss = head;
        loss.level = SERVER_LEVEL_WARNING;
        loss.layer = SERVER_LAYER_SERVER;
        loss.line = 0;
        (void)base_text_format(
            text, sizeof text,
            "warning: %" PRIu64 " lines are missing here: stderr was not drained", lines->lost);
        lines->lost = 0;
        print_line(lines, &loss, "", text);
    }
    print_line(lines, &head, file ? file : "", message);
    pthread_mutex_unlock(&lines->lock);
}

const base_reporter* server_lines_reporter(server_lines* lines, server_layer layer) {
    BASE_ASSERT(lines && layer < SERVER_LAYER_COUNT);
    return &lines->speakers[layer].reporter;
}

const char* server_lines_fatal_begin(const server_lines* lines) {
    static const char* const begins[][2] = {
        [SERVER_LINE_WORDS] = {NULL, "<2>"},
        [SERVER_LINE_JSON] = {"{\"level\":\"fatal\",\"layer\":\"server\",\"message\":\"",
                              "<2>{\"level\":\"fatal\",\"layer\":\"server\",\"message\":\""},
    };
    return begins[lines->format][lines->is_journal];
}

const char* server_lines_fatal_end(const server_lines* lines) {
    return lines->format == SERVER_LINE_JSON ? "\"}" : NULL;
}

bool server_lines_shows(const server_lines* lines, server_layer layer, server_level level) {
    BASE_ASSERT(layer < SERVER_LAYER_COUNT && level < SERVER_LEVEL_COUNT);
    return level <= lines->speakers[layer].level;
}

void server_lines_set_tick(server_lines* lines, uint64_t tick) {
    atomic_store_explicit(&lines->tick, tick, memory_order_relaxed);
}

// ---- making ----

// systemd says in JOURNAL_STREAM which file is the journal. stderr may since lead elsewhere.
static bool is_stderr_journal(void) {
    const char* named = getenv("JOURNAL_STREAM");
    struct stat is;
    char own[64];
    if (!named || fstat(STDERR_FILENO, &is) != 0) return false;
    (void)base_text_format(own, sizeof own, "%ju:%ju", (uintmax_t)is.st_dev, (uintmax_t)is.st_ino);
    return strcmp(own, named) == 0;
}

server_lines* server_lines_create(void) {
    server_lines* lines = base_owner_create(NULL, sizeof *lines);
    base_bytes_init(&lines->text, &lines->owner.allocator);
    (void)base_bytes_extend(&lines->text, TEXT_BYTES);
    pthread_mutex_init(&lines->lock, NULL);
    lines->is_journal = is_stderr_journal();
    for (uint32_t i = 0; i < SERVER_LAYER_COUNT; i++)
        lines->speakers[i] = (speaker){
            {report_line, &lines->speakers[i]}, lines, (server_layer)i, SERVER_LEVEL_INFO};
    return lines;
}

void server_lines_destroy(server_lines* lines) {
    if (!lines) return;
    pthread_mutex_destroy(&lines->lock);
    base_owner_destroy(lines);
}

bool server_lines_find_name(const char* const* names, uint32_t count, const char* word,
                            uint32_t* found) {
    uint32_t i = 0;
    while (i < count && strcmp(names[i], word) != 0)
        i++;
    if (i < count) *found = i;
    return i < count;
}

// "net=debug" or "debug".
static bool read_level(const char* text, server_level levels[SERVER_LAYER_COUNT],
                       const base_reporter* reporter) {
    const char* is = strchr(text, '=');
    const char* level_text = is ? is + 1 : text;
    char layer_text[32] = "";
    uint32_t layer = 0, level;
    if (is && (size_t)(is - text) < sizeof layer_text)
        memcpy(layer_text, text, (size_t)(is - text));
    if (is && !server_lines_find_name(server_layer_names, SERVER_LAYER_COUNT, layer_text, &layer))
        return base_report(reporter, NULL, 0,
                           "--lines level=%s: there is no such layer: " SERVER_LINE_LAYERS, text);
    if (!server_lines_find_name(server_level_names, SERVER_LEVEL_COUNT, level_text, &level))
        return base_report(reporter, NULL, 0,
                           "--lines level=%s: there is no such level: " SERVER_LINE_LEVELS, text);
    const uint32_t end = is ? layer + 1 : SERVER_LAYER_COUNT;
    for (uint32_t i = layer; i < end; i++)
        levels[i] = (server_level)level;
    return true;
}

bool server_lines_read_levels(const base_option_list* given,
                              server_level levels[SERVER_LAYER_COUNT],
                              const base_reporter* reporter) {
    for (uint32_t i = 0; i < SERVER_LAYER_COUNT; i++)
        levels[i] = SERVER_LEVEL_INFO;
    for (uint32_t i = 0; i < given->count; i++)
        if (!read_level(given->values[i], levels, reporter)) return false;
    return true;
}

void server_lines_configure(server_lines* lines, server_line_format format,
                            const server_level levels[SERVER_LAYER_COUNT]) {
    lines->format = format;
    for (uint32_t i = 0; i < SERVER_LAYER_COUNT; i++)
        lines->speakers[i].level = levels[i];
}

// ---- reading ----

void server_lines_range(server_lines* lines, uint64_t* first, uint64_t* end) {
    const uint64_t count = lines->count;
    *first = count < SERVER_LINES_MAX ? 1 : count - SERVER_LINES_MAX + 1;
    *end = count + 1;
}

bool server_lines_get(server_lines* lines, uint64_t number, server_line* line) {
    if (number == 0) return false;
    const slot* from = &lines->slots[number % SERVER_LINES_MAX];
    pthread_mutex_lock(&lines->lock);
    const bool is_there = from->number == number;
    if (is_there) *line = from->line;
    pthread_mutex_unlock(&lines->lock);
    return is_there;
}

// ---- from a signal handler ----

void server_lines_write_tail(const void* context, int descriptor) {
    const server_lines* lines = context;
    const uint64_t count = lines->count;
    uint64_t number = count < SERVER_LINES_TAIL_MAX ? 1 : count - SERVER_LINES_TAIL_MAX + 1;
    for (; number <= count; number++) {
        const slot* from = &lines->slots[number % SERVER_LINES_MAX];
        char text[sizeof from->head + sizeof from->line.message];
        (void)base_text_copy(text, sizeof from->head, from->head);
        (void)base_text_copy(text + strlen(text), sizeof from->line.message, from->line.message);
        if (from->number != number) continue;
        write_all(descriptor, text, strlen(text));
        write_all(descriptor, "\n", 1);
    }
}
