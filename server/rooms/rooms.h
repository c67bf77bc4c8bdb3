// SPDX-License-Identifier: MIT
/// The matches of a host and the seats in them: which match a player gets, how long a seat is held,
/// when a match is started, resumed, ended. Pure: time and chance are arguments; process.c does
/// what the states demand.
///
/// A seat is held for a player from the answer to a join on, and taken when a report of the match
/// has its player. A held seat is free again when a report of a time after it has no such player,
/// so a late report never frees the seat of a player who is in. Never more seats than the match
/// has.
#pragma once

#include "base/alloc.h"
#include "net/token.h"

#include <string.h>

#define SERVER_ROOMS_MAX 4096u          ///< matches that are not over
#define SERVER_ROOMS_OVER_MAX 256u      ///< that are over and still known by their id
#define SERVER_ROOM_ID_BYTES 17u        ///< 16 hexadecimal digits, with the NUL
#define SERVER_ROOM_WORD_BYTES 65u      ///< a request, a party, a value; with the NUL
#define SERVER_ROOM_KEY_BYTES 33u       ///< of a value
#define SERVER_ROOM_VALUES_MAX 16u      ///< of a match, which filters compare
#define SERVER_ROOM_SEATS_MAX 4095u     ///< of a match
#define SERVER_ROOM_GAMES_MAX 64u       ///< of a host
#define SERVER_ROOM_NAME_BYTES 33u      ///< of a game
#define SERVER_ROOM_TEXT_BYTES 1024u    ///< module and options of a game
#define SERVER_ROOM_TRANSFER_BYTES 512u ///< of a player who comes from another match
#define SERVER_ROOM_LEFT_MAX 256u       ///< players without a seat that a match may still ask for
#define SERVER_ROOM_SEAT_S 15u          ///< a seat is held
#define SERVER_ROOM_RESUMES_MAX 3u      ///< in SERVER_ROOM_RESUMES_S
#define SERVER_ROOM_RESUMES_S 60u
#define SERVER_ROOM_STANDBY_S 10u ///< between two starts of a standby
#define SERVER_ROOM_TOKEN_BYTES 33u
#define SERVER_ROOM_PRIVATE "code" ///< who does not name this value gets no match that has it

typedef enum server_room_state {
    SERVER_ROOM_PLANNED,  ///< to be started, or resumed when it ran before
    SERVER_ROOM_STARTING, ///< its process is there, its first report is not
    SERVER_ROOM_RUNNING,
    SERVER_ROOM_LEAVING, ///< it was asked to end
    SERVER_ROOM_OVER,
} server_room_state;

/// A game of host.conf.
typedef struct server_room_game {
    char name[SERVER_ROOM_NAME_BYTES];
    char module[SERVER_ROOM_TEXT_BYTES], options[SERVER_ROOM_TEXT_BYTES];
    uint32_t seats;        ///< of a match
    uint32_t seats_min;    ///< that have players at tick 1; 0: no matter
    uint32_t spare;        ///< matches that are started before they are asked for
    uint32_t most;         ///< matches at a time
    uint64_t idle_us;      ///< a match without players ends after this time; 0: never
    uint64_t memory_bytes; ///< of a match; 0: no limit
    bool resumes;          ///< after a crash
    bool stays;            ///< after a match the next one has its address, values and players
    bool is_gone;          ///< host.conf names it no more: it gets no new match
    uint32_t failures;     ///< starts that failed, one after the other
    uint64_t start_us;     ///< no match is started before
} server_room_game;

/// A descriptor that the host's loop waits on.
typedef struct server_watch {
    int descriptor; ///< -1: none
    void (*ready)(void* owner, uint32_t events);
    void* owner;
} server_watch;

typedef struct server_room_value {
    char key[SERVER_ROOM_KEY_BYTES], value[SERVER_ROOM_WORD_BYTES];
    bool is_published; ///< by the match itself; else a join asked for it
} server_room_value;

typedef struct server_seat {
    uint64_t player;   ///< 0: of a party whose player is not known yet
    uint64_t until_us; ///< it is held until then; 0: its player is in
    bool is_seen;      ///< the newest report has its player
    char request[SERVER_ROOM_WORD_BYTES], party[SERVER_ROOM_WORD_BYTES]; ///< "": none
    uint32_t size; ///< of what the match before sent along
    uint8_t bytes[SERVER_ROOM_TRANSFER_BYTES];
} server_seat;

/// A match.
typedef struct server_room {
    char id[SERVER_ROOM_ID_BYTES];
    server_room_state state;
    server_room_game game; ///< as it was when the match was planned
    server_room_value values[SERVER_ROOM_VALUES_MAX];
    uint32_t value_count;
    server_seat* seats; ///< that are held or taken
    uint32_t seat_count, seat_capacity;
    /// Players whose seats are free again: tokens live longer, and their records may be kept late.
    uint64_t left[SERVER_ROOM_LEFT_MAX];
    uint32_t left_count; ///< so far: the newest ones stay
    bool had_players;
    bool is_closed;    ///< the match wants no new players
    bool is_elsewhere; ///< another host has the match; what runs here is its standby
    uint64_t empty_us; ///< since when it has no seat; 0: it has one, or never had
    uint32_t resumes;  ///< in all
    uint32_t crashes;  ///< since crashed_us
    uint64_t crashed_us;
    char why[256]; ///< why it is over, or was resumed
    enum { SERVER_RESULT_NONE, SERVER_RESULT_WAITS, SERVER_RESULT_KEPT } result;
    uint64_t result_tick;
    uint32_t orders; ///< to the store of records, that did not end
    // Of process.c.
    struct server_host* host;
    server_watch end;  ///< a pidfd: readable when the process is gone
    uint64_t pid;      ///< 0: it has no process
    uint64_t heard_us; ///< its newest report, its start, or its SIGTERM
    bool was_told;     ///< to end
    char address[NET_ADDRESS_TEXT_BYTES], http[NET_ADDRESS_TEXT_BYTES]; ///< "": not known yet
    char tokens[2][SERVER_ROOM_TOKEN_BYTES]; ///< of its inspector, by right
    net_key key;                             ///< seals the tokens of its players; it has no other
    // Of standbys.c.
    char stream[SERVER_ROOM_ID_BYTES];    ///< identity of its stream; "": it has none
    char standby[NET_ADDRESS_TEXT_BYTES]; ///< that its players know; "": none
    uint64_t standby_host;                ///< that has it; 0: not known
    uint64_t question;                    ///< that is out; 0: none
    uint64_t ask_us;  ///< when the next one is due; of a standby: when the newest one came
    bool has_news;    ///< its seats are others than the standby's host knows
    uint64_t hold_us; ///< it is not resumed before: its standby may have the match
} server_room;

typedef struct server_rooms {
    base_owner owner;
    const net_entropy* entropy; ///< ids and player numbers
    server_room_game games[SERVER_ROOM_GAMES_MAX];
    uint32_t game_count;
    server_room** rooms; ///< the oldest first
    uint32_t count, capacity;
} server_rooms;

/// How far a join looks. Several hosts are asked in this order.
typedef enum server_reach {
    SERVER_REACH_ANY,  ///< any match, else a new one
    SERVER_REACH_OWN,  ///< what it has: its seat, its party's match, the match that it names
    SERVER_REACH_FILL, ///< that, or a match with players, or one that fits its filter
} server_reach;

/// What a player asks for. Texts are borrowed; NULL: not given.
typedef struct server_join {
    const char *game, *request, *party, *match;
    uint64_t player;      ///< 0: the host draws one
    uint32_t party_seats; ///< of the party, this player's among them; 0: one
    server_room_value values[SERVER_ROOM_VALUES_MAX]; ///< the match has these
    uint32_t value_count;
    const server_room* leaves; ///< the match that the player comes from; NULL: none
    server_reach reach;
} server_join;

typedef enum server_join_end {
    SERVER_JOIN_SEATED,
    SERVER_JOIN_NO_GAME,
    SERVER_JOIN_NO_MATCH, ///< of this id
    SERVER_JOIN_OVER,     ///< the match of this id is over
    SERVER_JOIN_FULL,     ///< no seat, and no further match may be started
    SERVER_JOIN_CROWDED,  ///< the match of this id, or of the party, has too few seats
    SERVER_JOIN_PARTY,    ///< no match has seats for so many
    SERVER_JOIN_FAILS,    ///< its matches cannot be started at present
    SERVER_JOIN_END_COUNT
} server_join_end;

/// @return a host without games and matches. The entropy is borrowed.
server_rooms* server_rooms_create(const net_entropy* entropy);
void server_rooms_destroy(server_rooms* rooms);
/// The games of host.conf from now on; matches of others end by themselves.
void server_rooms_set_games(server_rooms* rooms, const server_room_game* games, uint32_t count);
/// Is it a name that a game may have? It is part of a broker's subjects.
bool server_rooms_is_name(const char* name);
/// @return the game of this name; NULL: there is none.
server_room_game* server_rooms_game(server_rooms* rooms, const char* name);
/// @return the match of this id, `size` bytes; NULL: there is none.
server_room* server_rooms_find(const server_rooms* rooms, const char* id, size_t size);
/// Add a match: a new one (id NULL), or that of the host before.
server_room* server_rooms_add(server_rooms* rooms, const server_room_game* game, const char* id);
/// @return the match that the join names, or one that fits it: not a new one; NULL: there is none.
server_room* server_rooms_look(const server_rooms* rooms, const server_join* join);
/// Has the game a match with players and a free seat (FILL), or could a player get any seat (ANY)?
bool server_rooms_have(const server_rooms* rooms, const server_room_game* game, server_reach reach,
                       uint64_t now_us);
/// The player had a seat; 0: none is known.
void server_room_add_left(server_room* room, uint64_t player);
/// Has the player a seat, or had one?
bool server_room_knows(const server_room* room, uint64_t player);
/// @return seats that are held or taken.
uint32_t server_rooms_seats(const server_rooms* rooms);
/// @return a seat that is added, all zero; other seats of the match may move.
server_seat* server_room_add_seat(server_rooms* rooms, server_room* room);
/// Seat a player, or find the seat that the same request, or the same player, has already.
/// @return SERVER_JOIN_SEATED: *room and *seat are set; the seat may move at the next call.
server_join_end server_rooms_join(server_rooms* rooms, const server_join* join, uint64_t now_us,
                                  server_room** room, server_seat** seat);
/// Plan a standby of a match of another host, unless it is here.
/// @return NULL: the match itself is here, the standby ended a moment ago, or no further process
/// may be started.
server_room* server_rooms_stand_by(server_rooms* rooms, const server_room_game* game,
                                   const char* id, uint64_t now_us);
/// It takes players: seats are held from now on.
void server_room_opened(server_room* room, uint64_t now_us);
/// These players were in the match at `at_us`.
void server_rooms_reported(server_rooms* rooms, server_room* room, const uint64_t* players,
                           uint32_t count, uint64_t at_us, uint64_t now_us);
/// It has this value from now on; "": no more. One too many is dropped.
void server_room_set_value(server_room* room, const char* key, const char* value);
/// The match has published these, and no others any more.
void server_room_publish(server_room* room, const server_room_value* values, uint32_t count);
/// @return the player's seat; NULL: none.
server_seat* server_room_find_seat(const server_room* room, uint64_t player);
/// @return its value; NULL: none.
server_room_value* server_room_find_value(const server_room* room, const char* key);
/// 16 hexadecimal digits?
static inline bool server_room_is_id(const char* text) {
    return strlen(text) == SERVER_ROOM_ID_BYTES - 1 &&
           strspn(text, "0123456789abcdef") == SERVER_ROOM_ID_BYTES - 1;
}
/// Its process ended by itself. `is_orderly`: it reported its end. Where the game stays, the next
/// match is planned.
/// @return the match is planned again.
bool server_rooms_ended(server_rooms* rooms, server_room* room, bool is_orderly, const char* why,
                        uint64_t now_us);
/// Forget the oldest matches that are over, where there are more than SERVER_ROOMS_OVER_MAX.
void server_rooms_forget(server_rooms* rooms);
/// Plan spare matches, let idle ones leave, forget old ones.
void server_rooms_pass(server_rooms* rooms, uint64_t now_us);
/// @return seats whose player is in.
uint32_t server_room_players(const server_room* room);
/// @return "open", "full", "resuming", "standby", "ended".
const char* server_room_state_name(const server_room* room);

// ---- how often an address may ask

#define SERVER_RATE_ROWS 4096u ///< addresses whose hash has the same row share it
#define SERVER_RATE_S 10u

typedef struct server_rate {
    uint64_t seed;
    struct {
        uint64_t since_us, count;
    } rows[SERVER_RATE_ROWS];
} server_rate;

/// May this address (of IPv6 its /64) ask once more, of `most` in SERVER_RATE_S (0: no limit)?
/// Loopback, where back ends are, always may.
bool server_rate_accepts(server_rate* rate, const net_address* from, uint64_t most,
                         uint64_t now_us);
