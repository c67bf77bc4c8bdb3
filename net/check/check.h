// SPDX-License-Identifier: MIT
/// Checks of a game module that need no game: what its declarations contradict, and what a short
/// match of two bots shows. Each finding is a line that says what to change.
///
/// A finding is a warning: a game can be right all the same. What cannot work is refused elsewhere,
/// by net_module_check and net_match_create. A log that does not run again is an error.
///
/// Threads: one; no other match of the module may run meanwhile.
#pragma once

#include "base/bytes.h"
#include "base/text.h"
#include "net/client.h"
#include "net/log.h"
#include "net/match.h"
#include "net/server.h"
#include "net/transport.h"
#include "state/rows.h"

#define NET_CHECK_TICKS_DEFAULT 120u
#define NET_CHECK_TICKS_MAX 1200u ///< while a system that can run never had a row
#define NET_CHECK_BOTS_DEFAULT 2u
#define NET_CHECK_BOTS_MAX 64u

#define NET_CHECK_HAPPENED_BYTES 256u

typedef struct net_check_config {
    const base_allocator* allocator; ///< NULL: the heap
    const net_module* module;
    const char* file;              ///< for messages; NULL: none
    const base_reporter* reporter; ///< a line per finding, each once
    /// Of the match. 0: NET_CHECK_TICKS_DEFAULT, and more until each system that can run has had
    /// rows and each player has an entity, NET_CHECK_TICKS_MAX at most.
    uint32_t ticks;
    uint32_t bots;               ///< at most NET_CHECK_BOTS_MAX; 0: NET_CHECK_BOTS_DEFAULT
    const char* const* settings; ///< "KEY=VALUE", as net_match_setting_apply reads them
    uint32_t setting_count;
    const char* log_file; ///< the match writes it; the caller removes it
    /// After each tick, also of the second run; may be NULL.
    void (*stepped)(void* context);
    void* stepped_context;
    /// NET_CHECK_HAPPENED_BYTES, empty: gets who left and came, for the report of a crash. May be
    /// NULL.
    char* happened;
} net_check_config;

typedef struct net_check_result {
    uint32_t warnings;
    uint32_t faults;                ///< of a script, reported with their lines
    uint32_t templates, components; ///< of the module
    ecs_tick ticks;                 ///< that were played
    uint64_t datagrams;             ///< of server and clients
} net_check_result;

/// Compare the declarations of the worlds, without a step: a few milliseconds. Optional components
/// that no template has are named, too. `match` is the server's, before or between steps.
///
/// Found: what net_module_check refuses in the module's file; systems that never run; names that
/// are no keys; actions with one key; messages whose event no system handles; message fields that
/// do not come back from the wire; components that take inputs and are not tracked; components that
/// the server writes, a client reads and that are not replicated.
/// @return NET_OK, also with findings; NET_ERR_MODULE (reported: a world of a client cannot be
///         made).
BASE_MUST_USE net_result net_check_declared(const net_check_config* config, net_match* match,
                                            net_check_result* result);
/// The same, and a match of bots, with views and predictions, through packets and a log. A system
/// that is called with rows and never had one, and a handler that never had an event, is named in a
/// note, which is no warning.
///
/// Found besides: files of sounds that are missing or are none; systems that draw outside of
/// stage render; values beyond their range, numbers that are not finite; components that differ
/// on client and server though a client reads them; predictions that differ, or end between the
/// steps that are sent; systems that write what they declare as read; values that are written
/// past their tracking; bots, pictures and clients' systems that write what the server sends; a
/// log that does not run again to the same bits, or not from its middle; worlds that differ at the
/// end; a player's entity that is missing, that no system of the input matches, or that is gone for
/// 10 s; classes and rules of interest that give no client anything; what the world refused; bots
/// that the server drops, also for a typed line that the game cut inside a character.
/// @return NET_OK, also with findings; NET_ERR_DIVERGED (reported: the log does not run again, or
///         not from a keyframe); NET_ERR_MODULE; NET_ERR_UNKNOWN and NET_ERR_MALFORMED
///         (reported: a setting); NET_ERR_IO (reported: the log cannot be
///         written); NET_ERR_SCHEMA (reported: the module's interest rules or components cannot be
///         sent).
BASE_MUST_USE net_result net_check_play(const net_check_config* config, net_check_result* result);

// ---- what the parts of a check share ----

#define NET_CHECK_TOPICS_MAX 256u
#define NET_CHECK_LINES_MAX 4096u ///< of a script; later ones are not looked at

typedef struct net_checker {
    const net_check_config* config;
    const base_allocator* allocator;
    const net_game_module* game;
    net_match* server;                     ///< borrowed
    net_match* view;                       ///< a client with pictures
    net_match* predict;                    ///< NULL: the module predicts nothing
    uint64_t topics[NET_CHECK_TOPICS_MAX]; ///< of findings that were said
    uint32_t topic_count;
    char script[64];                    ///< whose lines they are; empty: none
    uint8_t lines[NET_CHECK_LINES_MAX]; ///< of it: can they run, did they?
    net_check_result result;
} net_checker;

/// @return whether nothing was said yet of this topic and name.
bool net_check_is_first(net_checker* self, const char* topic, const char* name);
/// Report a finding, once for each topic and name.
#define net_check_report(self, topic, name, ...)                                                   \
    net_check_report_at(self, ((net_checker*)(self))->config->file, 0, topic, name, __VA_ARGS__)
/// The same, at a place in a template file.
void net_check_report_at(net_checker* self, const char* file, uint32_t line, const char* topic,
                         const char* name, const char* format, ...)
    __attribute__((format(printf, 6, 7)));
/// Report what makes the check fail.
#define net_check_error(self, format, ...)                                                         \
    base_report((self)->config->reporter, (self)->config->file, 0, "error: " format, __VA_ARGS__)

/// Report and count a fault of a script, once for each line; lines of the log pass uncounted.
void net_check_fault(void* checker, const char* file, uint32_t line, const char* message);

/// Is this the name of a key, or of an input of a game controller? Capitals do not matter.
/// *nearest: other names, if it is none.
bool net_check_is_input(bool is_pad, const char* name, base_nearest* nearest);
/// Every value of the server's world (check_values.c). With `mirror`, which is as that world at the
/// same tick: values that a client's system reads and that differ, though no system of the client
/// writes them.
void net_check_values(net_checker* self, net_match* mirror);

/// Does this system declare that it writes the component?
bool net_check_is_written_by(const ecs_world* world, ecs_component_id component,
                             const char* system);
/// The `line` of a match's config: `self` is the checker (check_players.c).
void net_check_line(void* self, const char* file, uint32_t line, bool has_run);

/// Run the log of the match again, also from its middle (check_log.c).
BASE_MUST_USE net_result net_check_log(net_checker* self);
/// Components whose class of `_visible` no client gets. `players`: templates of players' entities
/// (check_interest.c).
void net_check_classes(net_checker* self, const ecs_template_id* players, uint32_t count);
/// What one client should see by distance, or by `relevance`, and does not. is_end: a client that
/// has no viewpoint by now gets none any more.
void net_check_sight(net_checker* self, net_server* server, uint32_t client, bool is_end);

// ---- the match (check_play.c, check_players.c) ----

/// The replicated rows of a world at one moment, to find who writes to them.
typedef struct check_rows {
    const net_match* match; // whose rows they are
    base_bytes rows;        // of each a check_row without the words that it lacks
} check_rows;

/// The first bot leaves in the middle of the match. Then one more joins, which sends nothing for a
/// while: no more play at once than the caller asked for.
#define NET_CHECK_LATE_BOTS 1u

typedef struct check_bot {
    struct check_table* table;
    net_match* mirror;
    net_presenter* presenter;
    net_transport* transport;
    net_client* client;
    char name[16];
    ecs_tick joins, leaves; // after this tick; `leaves` 0: it stays
    bool has_left, is_typing;
    ecs_template_id joined; // template of its player's first entity; 0: it had none
    ecs_tick lost;          // when that entity was gone; 0: it is there
    bool takes_inputs;      // a system took them at some time
} check_bot;

/// A picture that the game drew.
typedef struct check_image {
    uint64_t hash; // of its name
    uint32_t width, height;
    bool is_there;
} check_image;

typedef struct check_table {
    net_checker* self;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    net_log_writer* log;
    check_bot bots[NET_CHECK_BOTS_MAX + NET_CHECK_LATE_BOTS];
    uint32_t bot_count;
    check_rows before;
    base_reporter writes, notes, strays;
    uint64_t now_us, tick_us;
    bool has_players;   // at some time
    bool is_sly;        // a system wrote what it declares as read
    bool is_compared;   // the worlds at the end
    bool is_written;    // by a client, so that predictions and worlds differ too
    bool has_writer;    // and it is known which part of the module wrote
    check_bot* drawing; // whose picture is drawn
    check_image images[NET_IMAGES_MAX];
    uint32_t image_count;
} check_table;

/// After a tick of the server: who has an entity, and what clients should see.
void net_check_look_at_players(check_table* table);
/// Is nothing more to be seen, if the caller did not ask for a number of ticks?
bool net_check_is_enough(const check_table* table);
/// May the terms of a system match rows of this template? One without terms matches any.
bool net_check_is_taken_by(const ecs_world* world, const char* system, ecs_template_id template_id);
/// At the end: players without an entity, or with one that is of no use.
void net_check_players(check_table* table);
/// Name systems, handlers and lines of a script that never ran.
void net_check_note_unseen(const check_table* table);

BASE_MUST_USE net_result net_check_match(net_checker* self);
void net_check_say_stepped(const net_checker* self);
