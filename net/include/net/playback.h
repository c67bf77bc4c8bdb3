// SPDX-License-Identifier: MIT
/// Playback: watching the match of a log, from any tick, at any speed.
///
///     log -> replayed match -> quantised rows -> samples -> view world -> drawing
///
/// The view gets what a client with a perfect network would get: the same rows, the same
/// interpolation, the same drawing (net/client.h). To go to another moment, the playback
/// restores a keyframe of the log, or a save of the match that it took, and replays from there.
/// Ticks that are damaged are passed: the first moment after them is shown.
///
/// A moment that net_playback_seek reaches looks the same every time, byte for byte. After
/// net_playback_advance the entities are where a seek would show them; effects (particles, trails)
/// may differ, because they depend on the length of the frames. Every hash in the log is compared
/// with the replay's. The call in which the first one differs returns NET_ERR_DIVERGED and does its
/// work; later calls return NET_OK.
///
/// A log of a build with other components, fields or templates cannot run again. It is watched: its
/// values (net/log.h) are shown, matched by names and converted; there are no hashes, no
/// events, and no players to follow. A log without values is refused. A log whose run differs is
/// watched from there on, if it has values.
///
/// Memory: saves of the match, all together at most NET_PLAYBACK_SAVE_BYTES_MAX. Of a log with
/// keyframes one every NET_PLAYBACK_NEAR_TICKS, and beyond the limit those that are far away are
/// dropped; of another log one every NET_PLAYBACK_SAVE_TICKS, and every second one is dropped.
/// Threads: one.
#pragma once

#include "net/log.h"
#include "net/match.h"

BASE_C_BEGIN

#define NET_PLAYBACK_SAVE_TICKS 300u
#define NET_PLAYBACK_NEAR_TICKS 5u ///< of a log with keyframes
#define NET_PLAYBACK_SAVE_BYTES_MAX (64u << 20)
#define NET_PLAYBACK_MARKS_MAX 4096u
#define NET_PLAYBACK_WARM_MS 500u ///< a seek runs effects over so much time before its moment

typedef enum net_playback_mark_kind {
    NET_PLAYBACK_JOIN,
    NET_PLAYBACK_LEAVE,
    NET_PLAYBACK_EVENT, ///< a reliable message to clients: a level, a win
} net_playback_mark_kind;

/// A place on the timeline.
typedef struct net_playback_mark {
    ecs_tick tick;
    net_playback_mark_kind kind;
    uint32_t client;  ///< of JOIN and LEAVE
    uint32_t message; ///< of EVENT: position in the module's table + 1
} net_playback_mark;

typedef struct net_playback net_playback;

/// Create a playback that shows the first tick. It uses the reader until it is destroyed; reader
/// and module must outlive it. The caller owns it; *playback is NULL after an error.
/// @return NET_OK; NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED
///         (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_create(net_log_reader* reader, const net_module* module,
                                             const base_reporter* reporter,
                                             net_playback** playback);
/// NULL does nothing.
void net_playback_destroy(net_playback* playback);
/// @return The last tick that can be shown.
ecs_tick net_playback_tick_last(const net_playback* playback);
/// @return The shown moment in ticks.
double net_playback_tick(const net_playback* playback);
/// Show the moment `tick`. Fractions are allowed; it is clamped to the log, which begins with tick
/// 1.
/// @return NET_OK; NET_ERR_DIVERGED (once, reported: warn the user and go on); NET_ERR_DAMAGED
///         (reported: the log cannot be followed so far; net_playback_tick_last is lowered and that
///         moment is shown); NET_ERR_MEMORY, NET_ERR_FULL (nothing is shown until a seek succeeds).
BASE_MUST_USE net_result net_playback_seek(net_playback* playback, double tick);
/// As net_playback_seek, but run every tick on the way and compare its hash: no keyframe is used.
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_DAMAGED; NET_ERR_MEMORY, NET_ERR_FULL
///         (net_playback_seek has what they mean).
BASE_MUST_USE net_result net_playback_pass(net_playback* playback, double tick);
/// Go on by a number of ticks, which may be a fraction and is not negative (asserted). Stops at the
/// end of the log.
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_DAMAGED; NET_ERR_MEMORY, NET_ERR_FULL
///         (net_playback_seek has what they mean).
BASE_MUST_USE net_result net_playback_advance(net_playback* playback, double ticks);
/// Run stage "render" of the view world with `draw` as its user. `draw->player` is whose view it
/// is: a player's entity in net_playback_match, or NONE. The playback replaces player names and
/// times: time_s is the time of the match. Nothing when nothing is shown.
void net_playback_draw(net_playback* playback, const net_draw* draw);
/// Is the log shown from its values, because the game here cannot run it again, or ran it
/// otherwise? *clamped then has how many values so far had no place here.
bool net_playback_is_watched(const net_playback* playback, uint64_t* clamped);
/// @return The replayed match, for hashes and dumps. It stands at the shown tick, or at the tick
///         after a shown fraction. Of a log that is watched: net_playback_view_match. Borrowed
///         until the next seek or advance.
net_match* net_playback_match(net_playback* playback);
/// @return The match of the view world; NULL when nothing is shown. Borrowed until the next seek or
///          advance.
net_match* net_playback_view_match(net_playback* playback);
/// @return The first tick whose hash differs from the log's; 0: none so far.
ecs_tick net_playback_diverged(const net_playback* playback);
/// @return The marks of the log by rising tick, the first NET_PLAYBACK_MARKS_MAX. Those of a long
///         log come a piece with each seek or advance. Borrowed until the next of them.
const net_playback_mark* net_playback_marks(const net_playback* playback, uint32_t* count);
/// @return The name of a player, also before it joined and after it left, as far as the marks are
///         read; NULL for an unknown client. Borrowed until the next seek or advance.
const char* net_playback_player_name(const net_playback* playback, uint32_t client);

BASE_C_END
