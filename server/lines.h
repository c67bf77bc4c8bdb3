// SPDX-License-Identifier: MIT
/// The lines that a server says to its operator: their levels and layers, the forms in which they
/// go to stderr, and the newest of them in memory.
///
/// Shape:   Each layer has a reporter of its own (server_lines_reporter). A message below the level
///          of its layer is dropped. Each other one goes to stderr as one write, and into the ring.
///          if stderr is not drained, lines are dropped instead of blocking; a warning counts them.
/// Memory:  Everything is allocated in create. A line of the ring takes memory when it is first
///          used.
/// Threads: Reporters and server_lines_get may be used on any thread; a mutex keeps lines whole.
///          server_lines_set_tick is the loop's.
#pragma once

#include "base/options.h"
#include "base/report.h"

#define SERVER_LINES_MAX 2000u      ///< in the ring
#define SERVER_LINES_TAIL_MAX 100u  ///< of a crash report
#define SERVER_LINE_FILE_BYTES 128u ///< a longer name loses its begin
#define SERVER_LINE_LAYERS "server|game|net|log|http"
#define SERVER_LINE_LEVELS "error|warning|info|debug"

/// What a message is, by its first word: "warning: ", "note: " (information), "debug: ", else an
/// error. systemd knows them as 3, 4, 6 and 7.
typedef enum server_level {
    SERVER_LEVEL_ERROR,
    SERVER_LEVEL_WARNING,
    SERVER_LEVEL_INFO,
    SERVER_LEVEL_DEBUG,
    SERVER_LEVEL_COUNT
} server_level;

/// Who says it.
typedef enum server_layer {
    SERVER_LAYER_SERVER, ///< the program: options, access, status, end
    SERVER_LAYER_GAME,   ///< module, templates, settings, reloads
    SERVER_LAYER_NET,    ///< clients: who came, left, was refused
    SERVER_LAYER_LOG,    ///< the event log
    SERVER_LAYER_HTTP,   ///< the inspector
    SERVER_LAYER_COUNT
} server_layer;

typedef enum server_line_format {
    SERVER_LINE_WORDS, ///< "FILE:LINE: error: MESSAGE"
    SERVER_LINE_JSON,  ///< {"time":...,"level":...,"layer":...,"tick":...,"message":...}
} server_line_format;

typedef struct server_line {
    uint64_t number;  ///< 1, 2, 3, ... since the start
    uint64_t unix_ms; ///< since 1970
    uint64_t tick;    ///< ticks that were done
    server_level level;
    server_layer layer;
    uint32_t line;                       ///< of the file; 0: none
    char file[SERVER_LINE_FILE_BYTES];   ///< "": none
    char message[BASE_REPORT_BYTES_MAX]; ///< without the word of its level
} server_line;

typedef struct server_lines server_lines;

/// Make the ring. Lines are words from level info on until server_lines_configure. Where stderr is
/// systemd's journal (JOURNAL_STREAM), each begins with the number of its level, "<6>".
server_lines* server_lines_create(void);
/// NULL is allowed. No reporter of it may be in use.
void server_lines_destroy(server_lines* lines);
/// Read the levels of --lines level: "debug", or "net=debug" for one layer; later ones win.
/// @return false: one names no level or layer (reported).
BASE_MUST_USE bool server_lines_read_levels(const base_option_list* given,
                                            server_level levels[SERVER_LAYER_COUNT],
                                            const base_reporter* reporter);
void server_lines_configure(server_lines* lines, server_line_format format,
                            const server_level levels[SERVER_LAYER_COUNT]);
/// A reporter whose messages belong to the layer. It lives as long as `lines`.
const base_reporter* server_lines_reporter(server_lines* lines, server_layer layer);
/// What is before each line of a server that dies: "<2>" for a journal, and the members of an
/// object without its time. NULL: nothing.
const char* server_lines_fatal_begin(const server_lines* lines);
/// What is after each of them, which is escaped then. NULL: nothing, for words.
const char* server_lines_fatal_end(const server_lines* lines);
/// Would a message of this level be printed?
bool server_lines_shows(const server_lines* lines, server_layer layer, server_level level);
/// The ticks that are done, for the lines to come.
void server_lines_set_tick(server_lines* lines, uint64_t tick);
extern const char* const server_level_names[SERVER_LEVEL_COUNT]; ///< "error", "warning"...
extern const char* const server_layer_names[SERVER_LAYER_COUNT]; ///< "server", "game"...
/// Which of these names it is. @return false: none of them.
BASE_MUST_USE bool server_lines_find_name(const char* const* names, uint32_t count,
                                          const char* word, uint32_t* found);

/// Numbers of the oldest line in the ring and of the next one to come: walk [first, end).
void server_lines_range(server_lines* lines, uint64_t* first, uint64_t* end);
/// Copy a line. @return false: it is not in the ring, or no longer.
BASE_MUST_USE bool server_lines_get(server_lines* lines, uint64_t number, server_line* line);
/// Write the newest lines as text to a descriptor. A signal handler may call it (`lines` is a
/// server_lines*): it takes no lock, and leaves out a line that is being written.
void server_lines_write_tail(const void* lines, int descriptor);
