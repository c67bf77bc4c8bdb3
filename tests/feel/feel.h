// SPDX-License-Identifier: MIT
/// How a match feels on a bad line, measured in virtual time: breakout, a scripted player who
/// predicts, a watcher who only interpolates, a bot who keeps the ball in play.
///
/// Everything follows from the seed. Pixels are those of a window 960 wide: 1.25 units of the field
/// each.
#pragma once

#include "base/macros.h"
#include <stdint.h>

#define FEEL_UNITS_PER_PIXEL 1.25
#define FEEL_JUMP_PX 8.0

typedef struct feel_config {
    uint64_t seed;
    double rtt_ms; ///< both ways together, without jitter
    double loss_percent;
    double jitter_ms; ///< each way
    double frame_hz;
    double seconds;
    double clock_ppm; ///< how much faster the clients' clocks run than the server's
    const char* blk;  ///< path of the game's templates
} feel_config;

/// Of one kind of thing that is shown, against where the server had it at the shown moment.
typedef struct feel_path {
    uint64_t frames;
    double rms_px, max_px;
    uint32_t
        jumps; ///< from one frame to the next, by more than FEEL_JUMP_PX beyond its own movement
    /// Jumps longer than any movement, without a gap and without a jump of the server.
    uint32_t unexplained;
} feel_path;

typedef struct feel_result {
    bool is_played; ///< all clients joined and stayed
    uint32_t presses;
    double delay_frames_mean; ///< from a press to the first frame in which the pad moves
    uint32_t delay_frames_max;
    double corrections_per_minute; ///< corrections of more than a pixel
    double correction_px_max;
    double rollbacks_per_minute;
    feel_path ball, pad; ///< as the watcher sees them
    uint64_t stalls, stalled_ms, teleports;
    double view_delay_ms, lead_ms;
    uint64_t inputs, inputs_missing, inputs_late, inputs_repeated;
    double depth_mean;
    uint32_t depth_max;
    /// Spread of the difference between the player's ticks and the server's, after the first
    /// seconds.
    double drift_ticks;
} feel_result;

feel_result feel_run(const feel_config* config);
