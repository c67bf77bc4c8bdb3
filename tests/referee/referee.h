// SPDX-License-Identifier: MIT
/// What the files of the referee share: a match of a real game in virtual time, and its facts.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "net/match.h"

#define REFEREE_GAMES 3u
#define REFEREE_SEEDS 20u
#define REFEREE_TICKS_MAX 1024u

/// Kinds of facts: a golden file for each.
typedef enum referee_kind {
    REFEREE_WORLDS,    ///< the server's world, the worlds of its clients, how sessions end
    REFEREE_DATAGRAMS, ///< what was sent
    REFEREE_ROWS,      ///< what the log of the match says, read back
    REFEREE_KINDS,
} referee_kind;

typedef struct referee {
    const net_module* module;
    uint64_t seed;
    bool is_traced;  ///< print the facts of every tick
    const char* log; ///< a name for the log of a match; the file is removed
    base_reporter reporter;
    base_bytes facts[REFEREE_KINDS]; ///< a line for each match
} referee;

/// Add a text to the facts of a kind.
void referee_say(referee* self, referee_kind kind, const char* format, ...) BASE_PRINTF(3, 4);
/// Play the match of the seed, and write its log. @return NET_OK, or why it could not be played.
BASE_MUST_USE net_result referee_play(referee* self);
/// Read the log and verify it. @return NET_OK, or why it could not be read.
BASE_MUST_USE net_result referee_read_log(referee* self);
