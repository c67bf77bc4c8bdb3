// SPDX-License-Identifier: MIT
/// The presenter: what a player sees. A second world shows the mirror a little in the past and
/// between ticks, with the player's own entities where prediction has them. The presenter never
/// changes the mirror.
///
/// Three worlds of one module on a client that draws:
///   mirror      newest rows as they arrive; hashed, dumped, seen by bots (net/client.h)
///   view        the mirror some ticks ago: creations, destructions, rows and events each at their
///               tick, components marked `_interpolate` between their rows; drawn by stage "render"
///   prediction  the mirror some ticks ahead, by the module's systems with tag "predict" and own
///               inputs
///
///      packet -> mirror -> samples by tick --(delay that follows jitter)--> view -> drawing
///      input  -> prediction (restored from the mirror when a row differs) -> over the view
///
/// Interpolation: a value lies between the two samples around the shown moment. A row holds until
/// the newest tick whose packet came without it. Beyond the newest sample a component goes on as it
/// moved and slows down to a stop within NET_EXTRAPOLATE_MS_MAX. A new generation, a new template,
/// or a step longer than `_teleport` per tick is shown as a jump at its tick.
/// Sources: Valve, "Source multiplayer networking" (interpolation, lag compensation); Fiedler,
/// "Snapshot interpolation" (playout delay); Ford, "Overwatch gameplay architecture and netcode"
/// (clock steering).
///
/// Memory: per replicated entity a ring of rows; nothing is allocated in a steady match.
/// Threads: one.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/result.h"

BASE_C_BEGIN

typedef struct net_draw net_draw;     ///< net/game.h
typedef struct net_match net_match;   ///< net/match.h
typedef struct net_module net_module; ///< net/module.h
typedef struct net_presenter net_presenter;

#define NET_EXTRAPOLATE_MS_MAX 100.0
#define NET_DELAY_MS_MAX 500.0    ///< longest delay of the view behind the newest tick
#define NET_CORRECTION_MS 120.0   ///< a correction of prediction fades in about this time
#define NET_CORRECTION_SNAP 256.0 ///< a larger one (world units) is shown at once

typedef struct net_presenter_config {
    const base_allocator* allocator;
    const net_module* module; ///< must outlive the presenter
    bool is_predicting;       ///< show own entities ahead, where the module can
    double delay_ms_min;      ///< least delay; 0: only what was measured
} net_presenter_config;

/// Create the view world and, if the module can predict, the prediction world. Pass the presenter
/// to the client in net_client_config. The caller owns it and destroys it after the client;
/// *presenter is NULL after an error. @return NET_OK; NET_ERR_MODULE, NET_ERR_SCHEMA (reported);
/// NET_ERR_MEMORY.
BASE_MUST_USE net_result net_presenter_create(const net_presenter_config* config,
                                              const base_reporter* reporter,
                                              net_presenter** presenter);
/// NULL does nothing.
void net_presenter_destroy(net_presenter* presenter);

/// Bring the view to the moment to show at `now_us` (the client's clock) and put predicted entities
/// over it. Once per frame, at any rate. @return false before there is anything to show, and after
/// memory ran out (reported once).
bool net_presenter_frame(net_presenter* presenter, uint64_t now_us);
/// Run stage "render" of the view world with `draw` as its user, after net_presenter_frame.
void net_presenter_draw(net_presenter* presenter, const net_draw* draw);
/// @return The match of the view world. Borrowed; lives as long as the presenter.
net_match* net_presenter_match(net_presenter* presenter);
/// @return The shown moment in ticks: 1200.25 is a quarter of the way from tick 1200 to 1201; 0
///         before the first.
double net_presenter_tick(const net_presenter* presenter);

/// Counters and measures, since create unless marked "now".
typedef struct net_presenter_meter {
    double delay_ms; ///< the view behind the newest tick that could be here, now
    double lead_ms;  ///< the prediction before the newest applied tick, now
    uint64_t frames;
    uint64_t stalls;                ///< times an entity's samples ran out (an episode counts once)
    uint64_t stalled_ms;            ///< of all stalls together
    uint64_t teleports;             ///< jumps shown on purpose
    uint64_t samples, samples_late; ///< rows that arrived; of these after their moment was shown
    uint64_t rollbacks;             ///< restores of the prediction world
    uint64_t corrections;      ///< of these, because an own row differed by more than a quantum
    uint64_t corrections_seen; ///< of these, by more than one world unit
    double correction_max;     ///< the largest so far, world units
    uint64_t replayed_ticks;
} net_presenter_meter;
/// Read the counters and measures.
void net_presenter_get_meter(const net_presenter* presenter, net_presenter_meter* meter);

BASE_C_END
