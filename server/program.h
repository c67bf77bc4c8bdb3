// SPDX-License-Identifier: MIT
/// The core of a server program, its four steps, and the table of parts. The steps run in this
/// order: open, run, report, close. A part is one row: it takes its turn in phases of these steps,
/// and has a state of its own. The core includes no part and calls none but by its row.
#pragma once

#include "access.h"
#include "config.h"
#include "lines.h"
#include "pacer.h"

#include "host/sentry.h"
#include "net/match.h"
#include "net/server.h"
#include "net/socket.h"
#include "net/token.h"
#include "net/transport.h"

#define SERVER_PARTS_MAX 16u

/// When a part has its turn. The order is the risk: options are checked before anything is created,
/// and the port comes before the log, so that a second server on the same port leaves no file.
/// Until SERVER_OPENED the parts come in the order of the table, from SERVER_READY on backwards.
typedef enum server_phase {
    SERVER_PREPARE, ///< before the module: options are checked, a match that is elsewhere is found
    SERVER_MATCH,   ///< the module is there: who has a match makes it, else the core does
    SERVER_BOUND,   ///< the port is bound, and keys are still in memory
    SERVER_LISTENING, ///< before the server: what it gets of parts is set here at last
    SERVER_OPENED,    ///< the server is there
    SERVER_READY,     ///< the `ready` line is out
    SERVER_REPORT,    ///< the match has ended: files, and the log's end
    SERVER_STOP,      ///< what reads the server closes
    SERVER_CLOSE,     ///< server and match are gone, the port is there
    SERVER_PHASE_COUNT
} server_phase;

/// Lines to which parts add words.
typedef enum server_saying {
    SERVER_SAYS_READY,
    SERVER_SAYS_STATUS,
    SERVER_SAYS_DONE
} server_saying;

/// A word in place of options, which runs no match. @return the exit code: reported.
typedef struct server_command {
    const char* name;
    int (*run)(int argc, char** argv, const base_reporter* reporter);
} server_command;

/// A function that is NULL does nothing. All run on the loop's thread, between ticks.
typedef struct server_part {
    const char* name;
    size_t state_bytes; ///< zeroed before each match, unless there is an `end`
    /// @return NET_EXIT_CLEAN, or the exit code: reported. `is_over` ends the program in silence.
    int (*at[SERVER_PHASE_COUNT])(server_program* program);
    /// Append words, each with a blank before it.
    void (*say)(const server_program* program, server_saying line, char* text, size_t bytes);
    void (*sentry)(const server_program* program, net_sentry_config* config);
    void (*pass)(server_program* program, uint64_t now_us); ///< in each pass of the loop
    /// As pass, where the server's threads have sent the last tick.
    void (*received)(server_program* program, uint64_t now_us);
    void (*tick)(server_program* program, uint64_t took_us, uint64_t late_us);
    void (*reload)(server_program* program);                     ///< the game's files, after a tick
    bool (*terminate)(server_program* program, uint64_t now_us); ///< @return the match goes on
    void (*keep)(server_program* program, uint64_t now_us);      ///< while a phase takes long
    void (*over)(server_program* program, int code);             ///< reported, not yet closed
    void (*end)(server_program* program);                        ///< the program ends
    const server_command* commands;
    uint32_t command_count;
} server_part;

/// The parts of this program, in their order, then NULL. Made by CMake.
extern const server_part* const server_parts[];
extern const uint32_t server_part_count;

/// Who runs the ticks of a match that is elsewhere.
typedef struct server_ticks {
    uint64_t (*wake_us)(const server_program* program);    ///< when the loop must run again
    bool (*run)(server_program* program, uint64_t now_us); ///< @return the match ran a tick
} server_ticks;

/// What the last status line counted.
typedef struct server_status {
    server_timing timing; ///< of the ticks since the last line
    uint64_t shown_us;    ///< when it was printed; 0: never
    uint64_t sent_bytes, recv_bytes;
} server_status;

struct server_program {
    base_owner owner;
    server_config config;
    server_lines* lines;
    base_reporter reporter; ///< of SERVER_LAYER_SERVER; server_program_layer has the others
    void* states[SERVER_PARTS_MAX];
    net_key_ring kept_keys; ///< with --agones reuse: those of SHOAL_KEYS, which is gone
    bool is_terminated;     ///< SIGTERM or SIGINT came
    net_module* module;     ///< from here on: of one match, zero before it
    net_match* match;
    net_transport* enet;      ///< the port; its functions (net_transport_enet_*) take no other one
    net_transport* transport; ///< what the server gets: `enet`, or the newest one around it
    net_observer observer;
    const struct net_send_tap* tap;       ///< looks at what is sent; NULL: none
    const struct net_solo* solo;          ///< solo code; NULL: shared code alone
    const struct server_upgrade* upgrade; ///< takes connections of browsers; NULL: they are refused
    uint32_t peers_max;                   ///< connections of `enet`
    const server_ticks* ticks;            ///< NULL: the match runs here
    uint64_t identity;                    ///< of the match; 0: the core draws it
    bool is_hosted;                       ///< a part speaks to a host, and admits players
    bool (*admit)(void* program, uint64_t now_us, net_game_player* player); ///< as of the server
    uint8_t watch_key;                                                      ///< as of the server
    server_access access;
    net_server* server;
    net_loop loop;
    net_sentry* sentry; ///< NULL: none could be had
    server_timing timing;
    server_status status;
    uint64_t start_us;       ///< of the loop
    uint64_t ticks_given_up; ///< that were due while the machine was busy
    void* session_trace;     ///< FILE*; NULL: no --debug trace-session
    const char* fixed_game;  ///< why the game is not read again; NULL: it may be
    uint32_t reloads;        ///< asked for by SIGHUP
    bool is_reload_due;      ///< the game's files are read again after the next tick
    bool is_over;            ///< it ends now, with over_code: nothing is sent any more
    bool is_again;           ///< another match follows
    bool was_asked_to_end;
    uint64_t rest_us; ///< an empty match that is paused sleeps so long, unless a datagram comes
    int over_code;
};

/// Read the options, run the match, report. @return the exit code.
int server_program_start(server_config_fn read_config, int argc, char** argv);
/// Open module, match, socket and server, then print the `ready` line.
/// @return NET_EXIT_CLEAN, or the exit code: reported. The caller closes the program in all cases.
BASE_MUST_USE int server_program_open(server_program* program);
/// Run the match until it has ended.
void server_program_run(server_program* program);
/// Print the `peer` lines and the `done` line, write the files that the options name.
/// @return the exit code.
BASE_MUST_USE int server_program_report(server_program* program);
/// Destroy what was opened.
void server_program_close(server_program* program);

// ---- for parts

/// The state of a part; NULL: this program is without it.
void* server_program_state(const server_program* program, const server_part* part);
/// Give each part its turn. @return the first code that is not NET_EXIT_CLEAN: it ends the phases
/// before SERVER_READY.
int server_program_phase(server_program* program, server_phase phase);
/// Make the match of the options, with more settings. @return NET_EXIT_CLEAN, or the exit code.
BASE_MUST_USE int server_program_make_match(server_program* program, const base_option_list* more);
/// Does the game hide something from players?
bool server_program_hides(const server_program* program);
/// In SERVER_LISTENING: the server gets `layer`, which is made around `program->transport`
/// (asserted), so no part's is lost. The program owns it, and destroys it before SERVER_CLOSE.
void server_program_wrap(server_program* program, net_transport* layer);
/// The loop's wait ends when the descriptor is readable, where it has room.
void server_program_hear(server_program* program, int descriptor);
/// Something takes long: the parts say that the program lives.
void server_program_keep(server_program* program);
/// As SIGTERM: the parts are asked from the last one to the first; when the match goes on with none
/// of them, it ends.
void server_program_terminate(server_program* program, uint64_t now_us);
/// End the match; a second call ends it at once (net_server_stop).
void server_program_end(server_program* program, uint64_t now_us);
/// Print the status line when it is asked for or due, where the server's threads have sent the last
/// tick. Rates are since the last line, or since the start.
void server_program_report_status(server_program* program, uint64_t now_us);
/// The words of all parts for this line.
void server_program_say(const server_program* program, server_saying line, char* text,
                        size_t bytes);
/// The reporter of a layer.
static inline const base_reporter* server_program_layer(const server_program* program,
                                                        server_layer layer) {
    return server_lines_reporter(program->lines, layer);
}
