// SPDX-License-Identifier: MIT
/// A log as a playback: run again, looked at from any tick at any speed.
///
///     log -> match run again -> quantised rows -> samples -> view world -> drawing
///
/// It is the way of a client with a perfect network: the same rows, the same interpolation, the same
/// drawing (net/presenter.h). Going back restores a save of the match taken on the way and runs on from there.
///
/// The same moment looks the same, however it was reached by net_playback_seek: byte for byte. After
/// net_playback_advance entities are where a seek would have them; effects (particles, trails) may differ, for
/// they depend on how long the frames were.
/// Every hash in the log is compared with the re-run's. The call in which the first one differs returns
/// NET_ERR_DIVERGED, having done all the same; later ones do not.
///
/// Memory: saves every NET_PLAYBACK_SAVE_TICKS, together at most NET_PLAYBACK_SAVE_BYTES_MAX (then every second one
/// is dropped). Threads: one.
#pragma once

#include "net/log_reader.h"
#include "net/match.h"

#define NET_PLAYBACK_SAVE_TICKS 300u
#define NET_PLAYBACK_SAVE_BYTES_MAX (256u << 20)
#define NET_PLAYBACK_MARKS_MAX 4096u

typedef enum net_playback_mark_kind {
    NET_PLAYBACK_JOIN,
    NET_PLAYBACK_LEAVE,
    NET_PLAYBACK_EVENT, ///< a reliable message to clients: levels, deaths, what the game finds worth telling
} net_playback_mark_kind;

typedef struct net_playback_mark {
    ecs_tick tick;
    net_playback_mark_kind kind;
    uint32_t client;  ///< of join and leave
    uint32_t message; ///< of an event: position + 1
} net_playback_mark;

typedef struct net_playback net_playback;

/// The reader belongs to the playback until it is destroyed; the module must outlive it.
/// @return as net_log_replay_create.
BASE_MUST_USE net_result net_playback_create(net_log_reader* reader, const net_module* module,
                                             const base_reporter* reporter,
                                             net_playback** playback);
void net_playback_destroy(net_playback* playback);
ecs_tick net_playback_tick_last(const net_playback* playback); ///< of the log
double net_playback_tick(const net_playback* playback);        ///< shown
/// Show the moment `tick` (fractions allowed; clamped to the log, which begins with tick 1). Effects are run
/// in over the NET_PLAYBACK_WARM_TICKS before it.
/// @return NET_OK; NET_ERR_DIVERGED (once, reported); NET_ERR_DAMAGED (reported: the log cannot be followed
///         so far; net_playback_tick_last is lowered and that moment shown); NET_ERR_MEMORY, NET_ERR_FULL
///         (nothing is shown until a seek succeeds).
BASE_MUST_USE net_result net_playback_seek(net_playback* playback, double tick);
/// Go on by so many ticks (may be a fraction; not negative). At the end of the log it stops there.
/// @return as net_playback_seek.
BASE_MUST_USE net_result net_playback_advance(net_playback* playback, double ticks);
/// Run stage "render" with `draw` as its user; names and times are the playback's: time_s is that of the match.
/// Nothing when nothing is shown.
void net_playback_draw(net_playback* playback, const net_draw* draw);
/// Run again, at the shown tick or the one after a shown fraction: hashes, world dump. Both matches are
/// borrowed until the next seek or advance.
net_match* net_playback_match(net_playback* playback);
net_match*
net_playback_view_match(net_playback* playback); ///< that is drawn; NULL when nothing is shown
/// The first tick whose hash was not the log's; 0: none so far.
ecs_tick net_playback_diverged(const net_playback* playback);
/// What the timeline shows, by rising tick. The first NET_PLAYBACK_MARKS_MAX; found when the playback was made.
const net_playback_mark* net_playback_marks(const net_playback* playback, uint32_t* count);
/// Name of a player of the match, also after he left; NULL when unknown.
const char* net_playback_player_name(const net_playback* playback, uint32_t client);
#define NET_PLAYBACK_WARM_TICKS 120u
