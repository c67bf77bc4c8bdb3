// SPDX-License-Identifier: MIT
/// What a playback passes to systems of stage "render": the caller's drawing with player names from
/// the log, or a drawing that draws nothing, to run effects.
#pragma once

#include "playback/playback_marks.h"

typedef struct net_playback_drawing {
    const net_draw* draw; ///< NULL: nothing is drawn
    const net_playback_marks_list* marks;
    const net_match* match; ///< names of players that the marks do not have yet
} net_playback_drawing;

/// Make a net_draw that borrows `drawing`. Player and pixels_per_unit are those of drawing->draw;
/// the caller fills in the times.
net_draw net_playback_drawing_make(net_playback_drawing* drawing);
