// SPDX-License-Identifier: MIT
// feel: a table of how a match feels, and counters that must hold in every row of it.
//
//   feel BREAKOUT.blk [--seconds S] [--seed N] [--frame-hz F]    the table: round trips by losses
//   feel BREAKOUT.blk --hours H                                  one long match with clocks 200 ppm
//   apart
#include "feel.h"

#include "tool_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct feel_options {
    double seconds, frame_hz, hours, jitter_ms;
    uint64_t seed;
} feel_options;

static void print_head(const feel_config* config) {
    printf("seed=%" PRIu64 " jitter_ms=%g frame_hz=%g seconds=%g; pixels of a window 960 wide\n",
           config->seed, config->jitter_ms, config->frame_hz, config->seconds);
    printf(" rtt loss | own pad: frames corrections  max | ball shown: rms   max jumps | pad: rms  "
           " max"
           " jumps | stalls    ms  delay  lead | inputs  missing late repeats depth drift\n"
           "  ms    %% |    mean max   >1px/min   px |          px    px       |       px    px"
           "       |              ms    ms |                             mean ticks\n");
}

static void print_row(const feel_config* config, const feel_result* r) {
    printf("%4.0f %4.0f |    %4.2f %3" PRIu32 "     %6.2f %5.1f |       %5.2f %5.1f %5" PRIu32
           " |    %5.2f %5.1f %5" PRIu32 " | %6" PRIu64 " %5" PRIu64 " %6.1f %5.1f | %6" PRIu64
           " %8" PRIu64 " %4" PRIu64 " %7" PRIu64 " %5.2f %5.1f\n",
           config->rtt_ms, config->loss_percent, r->delay_frames_mean, r->delay_frames_max,
           r->corrections_per_minute, r->correction_px_max, r->ball.rms_px, r->ball.max_px,
           r->ball.jumps, r->pad.rms_px, r->pad.max_px, r->pad.jumps, r->stalls, r->stalled_ms,
           r->view_delay_ms, r->lead_ms, r->inputs, r->inputs_missing, r->inputs_late,
           r->inputs_repeated, r->depth_mean, r->drift_ticks);
}

static bool expect(bool is_so, const feel_config* config, const char* what) {
    if (!is_so) {
        printf("FAILED: rtt %g loss %g seed %" PRIu64 ": %s\n", config->rtt_ms,
               config->loss_percent, config->seed, what);
    }
    return is_so;
}

// Only counters are checked. They hold on every machine; timings do not.
static bool check(const feel_config* config, const feel_result* r) {
    bool is_right = expect(r->is_played, config, "a client did not play to the end");
    is_right &= expect(r->presses > 0, config, "the script never pressed a key");
    is_right &= expect(r->inputs_missing == 0, config, "inputs were lost for good");
    is_right &= expect(r->ball.frames > 0 && r->pad.frames > 0, config, "nothing was shown");
    is_right &= expect(r->ball.unexplained == 0 && r->pad.unexplained == 0, config,
                       "something teleported without cause");
    is_right &= expect(r->drift_ticks < 60.0, config, "the clocks drift apart");
    return is_right;
}

static bool run_table(const feel_options* options, const char* blk) {
    static const double rtts_ms[] = {20, 100, 200, 300};
    static const double losses[] = {0, 5, 10};
    bool is_right = true;
    feel_config config = {
        .seed = options->seed,
        .jitter_ms = options->jitter_ms,
        .frame_hz = options->frame_hz,
        .seconds = options->seconds,
        .blk = blk,
    };
    print_head(&config);
    for (uint32_t i = 0; i < BASE_COUNT(rtts_ms); i++) {
        for (uint32_t k = 0; k < BASE_COUNT(losses); k++) {
            config.rtt_ms = rtts_ms[i];
            config.loss_percent = losses[k];
            feel_result result = feel_run(&config);
            print_row(&config, &result);
            fflush(stdout);
            is_right &= check(&config, &result);
        }
    }
    return is_right;
}

static bool run_long(const feel_options* options, const char* blk) {
    const feel_config config = {
        .seed = options->seed,
        .rtt_ms = 100,
        .loss_percent = 5,
        .jitter_ms = options->jitter_ms,
        .frame_hz = options->frame_hz,
        .seconds = options->hours * 3600.0,
        .clock_ppm = 200,
        .blk = blk,
    };
    print_head(&config);
    feel_result result = feel_run(&config);
    print_row(&config, &result);
    return check(&config, &result);
}

#define FIELD(name) BASE_OPTION_FIELD(feel_options, name)

int main(int argc, char** argv) {
    feel_options options = {.seconds = 60, .frame_hz = 60, .jitter_ms = 30, .seed = 1};
    const base_option table[] = {
        {"seconds", FIELD(seconds), "S", "of each match", 0, 0},
        {"frame-hz", FIELD(frame_hz), "F", "frames per second", 0, 0},
        {"jitter", FIELD(jitter_ms), "MS", "each way", 0, 0},
        {"hours", FIELD(hours), "H", "one long match instead", 0, 0},
        {"seed", FIELD(seed), "N", "of match, network and player", 0, 0},
    };
    base_option_list words = {0};
    const tool about = {"feel", "BREAKOUT.blk [options]",
                        "How a match feels on bad lines, in virtual time."};
    const int code = tool_options_read(about, table, &options, argc, argv, &words);
    if (code >= 0) return code;
    if (words.count != 1) return 2;
    bool is_right = options.hours > 0 ? run_long(&options, words.values[0])
                                      : run_table(&options, words.values[0]);
    return is_right ? 0 : 1;
}
