// SPDX-License-Identifier: MIT
/// From the state of a log to a view: as a client's mirror feeds its presenter. The values of each
/// tick become rows of the templates here, by names: components, fields or templates may be others
/// here.
///
/// Threads: one. Memory: a plan per template.
#pragma once

#include "log/log_read.h"
#include "net/log.h"
#include "net/playback.h"
#include "present/scene.h"
#include "proto/layout.h"

typedef struct net_playback_feed net_playback_feed;

/// The reports of a playback, which has a view after each seek: each comes once.
typedef struct net_playback_notes {
    const base_reporter* reporter;
    const char* file;
    uint64_t clamped;      ///< values so far that had no place here
    uint64_t reported[32]; ///< hashes of what was reported
    uint32_t reported_count;
} net_playback_notes;

/// Feed a view of this match from a state; both and the notes must outlive it. What is only in the
/// log or only here is reported; `is_same_schema`: nothing is. It ends after the view
/// (base_owner_destroy).
BASE_MUST_USE net_playback_feed* net_playback_feed_create(const net_log_state* state,
                                                          net_match* match, bool is_same_schema,
                                                          net_playback_notes* notes);
/// Feed the scene what the last step of the state did; `is_first`: all entities.
void net_playback_feed_give(net_playback_feed* feed, net_scene* scene, bool is_first);

// ---- values as those of another component ----

// Values of a log as values of a component here: fields by name, elements by position, kinds and
// ranges converted. A field that is not here is left out, one that is only here keeps what it had.
//
// What has no place is clamped: a number outside of a kind or of a range becomes its nearest
// number, NaN becomes 0 in a whole number. An entity becomes only an entity.
// Memory:  the caller's. Threads: any.

/// What becomes of a field, as a text for people.
typedef void (*net_log_convert_news)(void* context, const char* component, const char* field,
                                     const char* fate);

/// Name each field that is not the same in both.
void net_log_convert_compare(const net_log_component* from, const ecs_field* fields,
                             uint32_t field_count, net_log_convert_news news, void* context);
/// Convert values of the log's component of fixed size into the object. `row`: the fields of its
/// words, one per element, as the layout has them; NULL: it has no word for each.
/// @return how many were clamped.
uint32_t net_log_convert(const net_log_component* from, const ecs_field* fields,
                         uint32_t field_count, const proto_row_field* row, const ecs_number* values,
                         void* object);

// ---- marks ----

// What a log says before it is replayed: joins, leaves, reliable events, names of players.

/// Names are kept for this many joins; later players have no name.
#define NET_PLAYBACK_NAMES_MAX 16384u

typedef struct net_playback_name {
    uint32_t client;
    char text[NET_PLAYER_NAME_BYTES_MAX];
} net_playback_name;

typedef struct net_playback_marks_list {
    const base_allocator* allocator;
    net_playback_mark* marks; ///< by rising tick, at most NET_PLAYBACK_MARKS_MAX
    uint32_t mark_count, mark_capacity;
    net_playback_name* names; ///< by rising client
    uint32_t name_count, name_capacity;
    net_log_cursor cursor; ///< behind what was read
    bool is_whole;         ///< the log was read to its last whole tick
} net_playback_marks_list;

/// Begin an empty list; `allocator` owns it.
void net_playback_marks_init(net_playback_marks_list* list, const base_allocator* allocator,
                             net_log_reader* reader);
/// Read on, at most `blocks` blocks. `game` says which messages are reliable. Other cursors of the
/// reader have to return (net_log_cursor_return).
/// @return NET_OK; NET_ERR_DAMAGED (the file changed since it was opened).
BASE_MUST_USE net_result net_playback_marks_read(net_playback_marks_list* list,
                                                 net_log_reader* reader,
                                                 const net_game_module* game, uint64_t blocks);
/// @return A player's name; NULL when unknown. Borrowed from the list.
const char* net_playback_marks_name(const net_playback_marks_list* list, uint32_t client);
