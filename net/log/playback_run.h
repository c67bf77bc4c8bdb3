// SPDX-License-Identifier: MIT
/// The replay behind a playback: what its log says before it runs (joins, leaves, reliable events,
/// names of players), saves on the way, and the run.
#pragma once

#include "base/bytes.h"
#include "ecs/world.h"
#include "log/log_read.h"
#include "log/log_replay.h"
#include "net/playback.h"

/// Names are kept for so many joins; later players have no name.
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

/// Begin an empty list.
void net_playback_marks_init(net_playback_marks_list* list, const base_allocator* allocator,
                             net_log_reader* reader);
/// Read on, at most so many blocks. `game` says which messages are reliable. Other cursors of the
/// reader have to return (net_log_cursor_return).
/// @return NET_OK; NET_ERR_MEMORY; NET_ERR_DAMAGED (the file changed since it was opened).
BASE_MUST_USE net_result net_playback_marks_read(net_playback_marks_list* list,
                                                 net_log_reader* reader,
                                                 const net_game_module* game, uint64_t blocks);
void net_playback_marks_deinit(net_playback_marks_list* list);
/// @return A player's name; NULL when unknown. Borrowed from the list.
const char* net_playback_marks_name(const net_playback_marks_list* list, uint32_t client);

// ---- saves on the way ----

// Saves of a replay by rising tick, within a limit of bytes.
//
// One save is taken every so many ticks. When the next one would exceed the limit, every second
// save is dropped and the distance doubles: going back costs about the same part of any log. Of a
// log with keyframes the saves that are farthest from the new one are dropped instead.
// Memory: the copies, at most `bytes_max` together, and the list. Threads: one.

typedef struct net_playback_save {
    ecs_tick tick;
    uint8_t* data;
    size_t size;
} net_playback_save;

typedef struct net_playback_saves {
    const base_allocator* allocator;
    net_playback_save* items; ///< by rising tick
    uint32_t count, capacity;
    ecs_tick every;
    bool is_near; ///< those around the newest place are kept
    size_t bytes, bytes_max;
} net_playback_saves;

void net_playback_saves_init(net_playback_saves* saves, const base_allocator* allocator,
                             ecs_tick every, size_t bytes_max, bool is_near);
void net_playback_saves_deinit(net_playback_saves* saves);
/// Is this a tick to save, and not saved yet? Tick 0 is one.
bool net_playback_saves_wants(const net_playback_saves* saves, ecs_tick tick);
/// Keep a copy of a wanted save (asserted). Without memory, or when it alone exceeds the limit,
/// nothing is kept: going back then costs more.
void net_playback_saves_put(net_playback_saves* saves, ecs_tick tick, const void* data,
                            size_t size);
/// @return The newest save at or before `tick`; NULL when there is none. Borrowed until the next
///          put.
const net_playback_save* net_playback_saves_find(const net_playback_saves* saves, ecs_tick tick);

// ---- the run ----

// A log's match at any tick: forward by replaying, backward from the newest save before it.
//
// Every hash of the log is compared with the replay's. The first that differs is reported and
// remembered; the replay goes on, because a log that diverges is worth watching.
// Threads: one. Memory: the match and its saves.

typedef struct net_playback_run net_playback_run;

/// Create a run at tick 0, before the first tick. It uses the reader until it is destroyed.
/// @return NET_OK; NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_run_create(net_log_reader* reader, const net_module* module,
                                                 const base_reporter* reporter, ecs_tick save_every,
                                                 size_t save_bytes_max, net_playback_run** run);
/// NULL does nothing.
void net_playback_run_destroy(net_playback_run* run);
/// Set the log's close record; its hashes are compared at its tick.
void net_playback_run_expect(net_playback_run* run, const net_log_record* close);
/// Go to a tick, at most net_playback_run_last, over the nearest save or keyframe. Behind ticks
/// that are lost it stands at the first one after them. The world's change list is undefined then.
/// @return NET_OK; NET_ERR_CLOSED, NET_ERR_DAMAGED (with net_playback_run_last lowered to the tick
///         before: the log cannot be followed so far); NET_ERR_MEMORY, NET_ERR_SCHEMA,
///         NET_ERR_MODULE (the match could not be made again). After any of them
///         net_playback_run_to is the only way on.
BASE_MUST_USE net_result net_playback_run_to(net_playback_run* run, ecs_tick tick);
/// The same, but run every tick on the way and compare its hash.
/// @return NET_OK; NET_ERR_CLOSED, NET_ERR_DAMAGED, NET_ERR_MEMORY, NET_ERR_SCHEMA,
///         NET_ERR_MODULE: net_playback_run_to has what they mean.
BASE_MUST_USE net_result net_playback_run_through(net_playback_run* run, ecs_tick tick);
/// Did the last step go over ticks that are lost? Then the world is another one, and its change
/// list says nothing about it.
bool net_playback_run_has_jumped(const net_playback_run* run);
/// Another walk used the reader: go back to the place in it. @return NET_OK; NET_ERR_DAMAGED
/// (reported: the file changed).
BASE_MUST_USE net_result net_playback_run_return(net_playback_run* run);
/// Go to the next tick; the change list describes this tick.
/// @return NET_OK; NET_ERR_CLOSED, NET_ERR_DAMAGED, NET_ERR_MEMORY, NET_ERR_SCHEMA,
///         NET_ERR_MODULE: net_playback_run_to has what they mean.
BASE_MUST_USE net_result net_playback_run_step(net_playback_run* run);
/// @return The replayed match; its address may change in net_playback_run_to.
net_match* net_playback_run_match(net_playback_run* run);
/// @return How often the match was created: rows and history belong to one number.
uint32_t net_playback_run_match_number(const net_playback_run* run);
ecs_tick net_playback_run_tick(const net_playback_run* run);
ecs_tick net_playback_run_last(const net_playback_run* run); ///< that can be reached
/// @return The first tick whose hash differs from the log's; 0: none so far.
ecs_tick net_playback_run_diverged(const net_playback_run* run);
const net_playback_saves* net_playback_run_saves(const net_playback_run* run);
