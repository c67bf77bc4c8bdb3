// SPDX-License-Identifier: MIT
/// What a playback hands to systems of stage "render": the caller's drawing with the log's names, or one that
/// draws nothing, for running effects in.
#pragma once

#include "playback/playback_marks.h"

typedef struct net_playback_pen {
    const net_draw* draw; ///< NULL: nothing is drawn
    const net_playback_marks_list* marks;
} net_playback_pen;

/// Borrows `pen`. Player and pixels_per_unit are those of pen->draw; the times are the caller's to fill in.
net_draw net_playback_pen_draw(net_playback_pen* pen);
