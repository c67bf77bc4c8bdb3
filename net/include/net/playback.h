// SPDX-License-Identifier: MIT
/// Playback: watching the match of a log, from any tick, at any speed. A viewer is a client whose
/// server is a file.
///
///     log -> states (net/log.h) -> samples -> view world -> drawing (net/client.h)
///
/// The view gets what a client with a perfect network would get: the same rows and events, the same
/// interpolation, the same drawing. Ticks whose state the log does not have are run again, where
/// the game can (net_log_state_create). Ticks that are damaged are passed: the first moment
/// after them is shown.
///
/// A moment that net_playback_seek reaches looks the same every time, byte for byte. After
/// net_playback_advance the entities are where a seek would show them; effects (particles, trails)
/// may differ, because they depend on the length of the frames. Nothing is compared with a run of
/// the match: net_log_verify does that. Where ticks are run again and a hash differs, the call
/// returns NET_ERR_DIVERGED and does its work; later calls return NET_OK.
///
/// Settings are those of the shown tick. The view begins again where an operator sets one.
///
/// A log of a build with other components, fields or templates is shown as well: values are matched
/// by names and converted, events are left out.
///
/// Threads: one.
#pragma once

#include "net/log.h"
#include "net/match.h"

BASE_C_BEGIN

#define NET_PLAYBACK_MARKS_MAX 4096u
#define NET_PLAYBACK_WARM_MS 500u ///< a seek runs effects over so much time before its moment

typedef enum net_playback_mark_kind {
    NET_PLAYBACK_JOIN,
    NET_PLAYBACK_LEAVE,
    NET_PLAYBACK_EVENT, ///< a reliable message to clients: a level, a win
    NET_PLAYBACK_NAMED, ///< an operator's mark
    NET_PLAYBACK_MARK_KINDS,
} net_playback_mark_kind;

/// A place on the timeline.
typedef struct net_playback_mark {
    ecs_tick tick;
    net_playback_mark_kind kind;
    uint32_t client;           ///< of JOIN and LEAVE
    uint32_t message;          ///< of EVENT: position in the module's table + 1
    char name[NET_MARK_BYTES]; ///< of NAMED
} net_playback_mark;

typedef struct net_playback net_playback;

/// Create a playback that shows the first tick. It uses the reader until it is destroyed; reader
/// and module must outlive it. The caller owns it; *playback is NULL after an error.
/// @return NET_OK; NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED
///         (reported).
BASE_MUST_USE net_result net_playback_create(net_log_reader* reader, const net_module* module,
                                             const base_reporter* reporter,
                                             net_playback** playback);
/// NULL does nothing.
void net_playback_destroy(net_playback* playback);
/// A log grew (net_log_reader_follow): more ticks can be shown, and those of a log without a close
/// up to the last but one.
void net_playback_follow(net_playback* playback);
/// @return The last tick that can be shown.
ecs_tick net_playback_tick_last(const net_playback* playback);
/// @return The shown moment in ticks.
double net_playback_tick(const net_playback* playback);
/// Show the moment `tick`. Fractions are allowed; it is clamped to the log, which begins with tick
/// 1.
/// @return NET_OK; NET_ERR_DIVERGED (once, reported: warn the user and go on); NET_ERR_DAMAGED
///         (reported: the log cannot be followed so far; net_playback_tick_last is lowered and that
///         moment is shown); NET_ERR_FULL (nothing is shown until a seek succeeds).
BASE_MUST_USE net_result net_playback_seek(net_playback* playback, double tick);
/// Go on by a number of ticks, which may be a fraction and is not negative (asserted). Stops at the
/// end of the log.
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_DAMAGED; NET_ERR_FULL
///         (net_playback_seek has what they mean).
BASE_MUST_USE net_result net_playback_advance(net_playback* playback, double ticks);
/// Show what this client has while it plays, and the events that it gets, by the game's rules of
/// interest on a line that never loses; 0 (the begin): everything. The match is run again for it
/// beside the log, from the keyframe before the shown moment. A seek follows the scope for three
/// seconds: what was kept for longer between the radius and NET_INTEREST_LEAVE times the radius is
/// missing. A client that does not play has nothing.
/// @return NET_OK; NET_ERR_UNKNOWN (a client's or a spectator's record: it has no inputs; nothing
///         changed); NET_ERR_DIVERGED, NET_ERR_DAMAGED, NET_ERR_FULL
///         (net_playback_seek has what they mean).
BASE_MUST_USE net_result net_playback_see_as(net_playback* playback, uint32_t client);
/// Run stage "render" of the view world with `draw` as its user. `draw->player` is whose view it
/// is: net_playback_player, or NONE. Its player_name says net_playback_player_name. The playback
/// replaces times: time_s is the time of the match. Nothing when nothing is shown.
void net_playback_draw(net_playback* playback, const net_draw* draw);
/// @return Values so far that had no place here.
uint64_t net_playback_clamped(const net_playback* playback);
/// @return The match of the view world; NULL when nothing is shown. Borrowed until the next seek or
///         advance.
net_match* net_playback_match(net_playback* playback);
/// Who plays at the tick above the shown moment, by rising client. Borrowed until the next seek or
/// advance.
const net_log_player* net_playback_players(const net_playback* playback, uint32_t* count);
/// @return The entity of a client that plays; NONE for a spectator, and for an unknown client.
ecs_entity net_playback_player(const net_playback* playback, uint32_t client);
/// @return The first tick whose hash differs from the log's; 0: none so far.
ecs_tick net_playback_diverged(const net_playback* playback);
/// @return The marks of the log by rising tick, the first NET_PLAYBACK_MARKS_MAX. Those of a long
///         log come a piece with each seek or advance. Borrowed until the next of them.
const net_playback_mark* net_playback_marks(const net_playback* playback, uint32_t* count);
/// @return The name of a player, also before it joined and after it left, as far as the marks are
///         read; NULL for an unknown client. Borrowed until the next seek or advance.
const char* net_playback_player_name(const net_playback* playback, uint32_t client);

BASE_C_END
