// SPDX-License-Identifier: MIT
/// What a player sees: a second world, a little in the past and between ticks, with the own entities put
/// where prediction has them. The mirror is never touched.
///
/// Three worlds of one module on a client that is looked at:
///   mirror      newest rows as they come; hashed, dumped, seen by bots          (net/client.h)
///   view        the mirror some ticks ago: creations, destructions, rows and events each at their tick,
///               components marked `_interpolate` between their rows; drawn by systems of stage "render"
///   prediction  the mirror some ticks ahead, by the module's systems of tag "predict" and own inputs
///
///      packet -> mirror -> samples by tick --(delay that follows measured jitter)--> view -> drawing
///      input  -> prediction (restored from the mirror when the server's row differs) -> over the view
///
/// Interpolation: between the two samples around the shown moment; a row holds until the tick after the
/// newest packet that came without it. Beyond the newest sample a component goes on as it moved, fading to
/// a stop within NET_EXTRAPOLATE_MS_MAX. A new generation, a new template, or a step longer than
/// `_teleport` per tick is shown as a jump at its tick.
/// Sources: Valve, "Source multiplayer networking" (interpolation, lag compensation); Fiedler, "Snapshot
/// interpolation" (playout delay); Ford, "Overwatch gameplay architecture and netcode" (clock steering).
///
/// Memory: per replicated entity a ring of rows; nothing is allocated in a steady match. Threads: one.
#pragma once

#include "net/client.h"
#include "base/alloc.h"
#include "base/report.h"
#include "net/result.h"

typedef struct net_draw net_draw;     ///< net/game.h
typedef struct net_match net_match;   ///< net/match.h
typedef struct net_module net_module; ///< net/module.h
typedef struct net_presenter net_presenter;

#define NET_EXTRAPOLATE_MS_MAX 100.0
#define NET_DELAY_MS_MAX 500.0    ///< of the view behind the newest tick
#define NET_CORRECTION_MS 120.0   ///< a correction of prediction is spread over about so long
#define NET_CORRECTION_SNAP 256.0 ///< a larger one (world units) is shown at once

typedef struct net_presenter_config {
    const base_allocator* allocator;
    const net_module* module; ///< must outlive the presenter
    bool is_predicting;       ///< own entities ahead, where the module can
    double delay_ms_min;      ///< 0: as measured; else at least so much
} net_presenter_config;

/// Makes the view world and, if the module can predict, the prediction world.
/// @return NET_OK; NET_ERR_MODULE (reported); NET_ERR_MEMORY; NET_ERR_SCHEMA.
BASE_MUST_USE net_result net_presenter_create(const net_presenter_config* config,
                                              const base_reporter* reporter,
                                              net_presenter** presenter);
void net_presenter_destroy(net_presenter* presenter);

/// Bring the view to what is to be shown at `now_us` and put predicted entities over it. Once per frame;
/// any rate. @return false before there is anything to show, and when memory ran out (reported, once).
bool net_presenter_frame(net_presenter* presenter, uint64_t now_us);
/// Run stage "render" of the view world with `draw` as its user. After net_presenter_frame.
void net_presenter_draw(net_presenter* presenter, const net_draw* draw);
net_match* net_presenter_match(net_presenter* presenter); ///< of the view world
/// The shown moment in ticks: 1200.25 is a quarter of the way from tick 1200 to 1201. 0 before the first.
double net_presenter_tick(const net_presenter* presenter);

typedef struct net_presenter_meter {
    double delay_ms; ///< the view behind the newest tick that could be here, now
    double lead_ms;  ///< the prediction before the newest applied tick, now
    uint64_t frames;
    uint64_t stalls;                ///< times an entity's samples ran out (an episode counts once)
    uint64_t stalled_ms;            ///< together
    uint64_t teleports;             ///< jumps shown on purpose
    uint64_t samples, samples_late; ///< rows that came; of those after their moment was shown
    uint64_t rollbacks;             ///< restores of the prediction world
    uint64_t corrections;           ///< of those, own rows that differed beyond a quantum
    uint64_t corrections_seen;      ///< of those, by more than one world unit
    double correction_max;          ///< the largest so far, world units
    uint64_t replayed_ticks;
} net_presenter_meter;
void net_presenter_get_meter(const net_presenter* presenter, net_presenter_meter* meter);
