// SPDX-License-Identifier: MIT
/// What the files of shoal-host share: the loop's watches, the processes of matches, the door.
#pragma once

#include "conf.h"
#include "errand.h"
#include "store.h"

#include "inspect/acceptor.h"
#include "inspect/gate.h"

#include "base/bytes.h"

#define SERVER_HOST_STARTS_MAX 8u ///< processes that start at a time
#define SERVER_HOST_PATH_BYTES 512u

typedef struct server_host server_host;
struct json_t;
struct server_peer_message;

struct server_host {
    base_owner owner;
    base_reporter reporter;
    server_conf conf;
    const char* conf_file;
    server_rooms* rooms;
    int epoll;
    char program[SERVER_HOST_PATH_BYTES]; ///< shoal-server beside this one
    server_watch reports;                 ///< a socket in the folder: matches tell who is in
    bool is_ending;
    uint64_t joins[SERVER_JOIN_END_COUNT], refused; ///< so far
    uint64_t starts, crashes, hangs;
    char asked[SERVER_HOST_BYTES_MAX]; ///< http(s)://HOST:PORT by which the newest request came
    base_bytes text;                   ///< what is written now: server_host_text
    // What matches are answered.
    char store_url[SERVER_HOST_PATH_BYTES];
    server_store *store, *results; ///< store: NULL without libpq
    server_watch store_watch, results_watch;
    bool is_store_away, is_results_away;
    /// By their end; then: there were too many, the player has no seat in the match that asks.
    uint64_t orders[SERVER_STORE_END_COUNT + 2];
    uint64_t malformed, results_kept;
    // The door.
    server_gate gate;
    net_address bound;
    server_watch listener;
    server_acceptor acceptor;
    struct visit* visits;
    uint32_t visit_count, waiting_count;
    uint64_t look_us; ///< when visits are looked at again
    server_rate rate;
    struct server_errands* errands;     ///< NULL: this host is alone
    const struct server_broker* broker; ///< of `errands`; NULL at their begin: that of this build
    bool is_in_fleet;                   ///< and the fleet's broker is there
    uint64_t name;                      ///< of this host in the fleet, drawn
    uint64_t standbys_us;               ///< when they are looked at again
    net_address own;                    ///< where players reach its standbys; no port
    char page[SERVER_HOST_BYTES_MAX];   ///< URL of its HTTP for players of other hosts
};

/// @return the host's text, empty; its bytes stay until the next call.
static inline base_bytes* server_host_text(server_host* host) {
    base_bytes_clear(&host->text);
    return &host->text;
}

// ---- process.c

/// The loop waits on it from now on, or for other events. One without descriptor is left.
void server_host_watch(server_host* host, server_watch* watch, uint32_t events);
/// Close it. One without descriptor is left.
void server_host_unwatch(server_host* host, server_watch* watch);

/// Take reports from now on, and find the matches of the host before in conf->folder.
/// @return false: reported.
BASE_MUST_USE bool server_host_find_matches(server_host* host);
/// Start and stop what the states of the matches demand.
/// @return when it has to be called again.
uint64_t server_host_tend(server_host* host, uint64_t now_us);
typedef char server_path_text[SERVER_HOST_PATH_BYTES + 64];
/// Write the path of a file in the folder of a match, "/match"; "": of the folder. @return it.
const char* server_room_path(const server_room* room, const char* file, server_path_text path);
/// A signal to the process of a match, if there is one.
void server_room_signal(const server_room* room, int signal);
/// The key of its spectators' tokens, which follows from that of its players.
void server_room_watch_key(const server_room* room, net_key* key);
/// Write what the next host has to know of it.
void server_room_save(server_room* room);
/// As that, of its seats alone. A join is answered after it.
/// @return false: they cannot be written.
bool server_room_save_seats(server_room* room);
/// Append its seats, and the values for which joins asked.
void server_room_put_seats(base_bytes* json, const server_room* room);
/// The seats that were saved, foreign bytes. NULL or malformed: all seats of the match are held.
void server_room_read_seats(server_rooms* rooms, server_room* room, const struct json_t* json,
                            uint64_t now_us);

// ---- told.c

/// Open the store of records and that of results.
void server_host_open_store(server_host* host);
/// A match told something (tell.h).
void server_host_told(server_host* host, const char* text, size_t size, uint64_t now_us);

// ---- standbys.c

/// Ask for standbys of this host's matches, and for the match of one that is held.
void server_standbys_pass(server_host* host, uint64_t now_us);
/// Another host asks for a standby. @return false: no answer; else it is server_host_text's.
bool server_standbys_asked(server_host* host, const char* text, size_t size);
/// @return false: it answers no question about a standby.
bool server_standbys_answered(server_host* host, const struct server_peer_message* message);
/// The match crashed, and its standby may have it: it is not resumed before that is known.
void server_standbys_hold(server_room* room, uint64_t now_us);
/// A standby got its match: it is one of this host.
void server_standbys_claimed(server_host* host, server_room* room);

// ---- forms.c: seats, lists and figures as JSON

typedef struct server_join_end_row {
    int status;
    const char *name, *text; ///< of figures; for players, NULL: seated
} server_join_end_row;
extern const server_join_end_row server_join_ends[SERVER_JOIN_END_COUNT];
/// Read at most SERVER_ROOM_VALUES_MAX values. NULL has none. @return false: malformed.
BASE_MUST_USE bool server_values_read(struct json_t* object, server_room_value* values,
                                      uint32_t* count);
/// Read the body of a join; texts are borrowed from it. @return what is wrong; NULL: nothing.
const char* server_join_read(struct json_t* body, server_join* join);
/// Append the match, its address, a token and its page: that ends with page_end, and with the token
/// where that is a text. page_end NULL: of a spectator, the page is "".
/// @return false: no token can be made.
BASE_MUST_USE bool server_room_put_seat(base_bytes* json, const server_room* room, uint64_t player,
                                        const char* page_end);

/// Write the address for players.
void server_room_print_address(const server_room* room, char* text, size_t text_bytes);

/// May everyone see it?
bool server_forms_show(const server_room* room);
/// `page`: URL of this host, for another one's list; NULL: its own.
void server_forms_put_room(base_bytes* json, const server_room* room, bool is_operator,
                           const char* page);
/// `others`: rows of other hosts, with a comma before each.
void server_forms_put_matches(base_bytes* json, const server_host* host, server_right right,
                              const uint8_t* others, size_t others_bytes);
void server_forms_put_metrics(base_bytes* text, const server_host* host);
/// Prometheus' HTTP service discovery: each match, scraped by this host.
void server_forms_put_targets(base_bytes* json, const server_host* host);

// ---- door.c

/// Listen and serve. @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_door_open(server_host* host);
/// A connection came, which does not block.
void server_door_enter(server_host* host, int descriptor, const net_address* from);
/// Answer joins whose match is ready, close what is too slow.
/// @return when it has to be called again.
uint64_t server_door_pass(server_host* host, uint64_t now_us);
void server_door_close(server_host* host);
/// An answer of another host came; NULL: no host listens.
void server_door_answered(server_host* host, uint64_t number, const char* text, size_t size);
/// Another host asks for a seat.
void server_door_asked(server_host* host, const char* reply, const server_join* join);
