// SPDX-License-Identifier: MIT
/// A line of `GET /watch/gameserver`: what Agones knows of this server. Foreign bytes.
#pragma once

#include "base/macros.h"
#include "net/limits.h"

#define SERVER_WATCH_LINE_BYTES_MAX (256u << 10)
#define SERVER_WATCH_SETTING_BYTES 192u ///< "KEY=VALUE" and the NUL
#define SERVER_WATCH_TEXT_BYTES 128u
#define SERVER_WATCH_STANDBY_BYTES 256u ///< of the addresses of NET_STANDBYS_MAX servers
#define SERVER_WATCH_FAULT_BYTES 256u

/// Labels and annotations of an allocation. In labels and annotations alike; what is in both
/// counts as the annotation says, whose values have no limits of their own.
#define SERVER_WATCH_SETTING "shoal.dev/set-"  ///< before the name of a setting
#define SERVER_WATCH_KEY_ID "shoal.dev/key-id" ///< number of the key whose tokens are let in
#define SERVER_WATCH_STANDBY_OF "shoal.dev/standby-of" ///< identity of the match to stand by for
#define SERVER_WATCH_STANDBY_AT "shoal.dev/standby-at" ///< ADDR:PORT[,...]; also while it plays

typedef struct server_watch_state {
    char state[32];                             ///< "Ready", "Allocated"...
    char address[SERVER_WATCH_TEXT_BYTES];      ///< "ADDR:PORT" for players; "": not known yet
    char allocated_at[SERVER_WATCH_TEXT_BYTES]; ///< of the newest allocation; "": not said
    char settings[NET_SETTINGS_MAX][SERVER_WATCH_SETTING_BYTES];
    uint32_t setting_count;
    uint8_t key_id;                              ///< 0: not said
    uint64_t standby_of;                         ///< 0: not said
    char standby_at[SERVER_WATCH_STANDBY_BYTES]; ///< "": not said
    char fault[SERVER_WATCH_FAULT_BYTES]; ///< "": none; else why the allocation cannot be played
} server_watch_state;

/// Read one line, without its end. @return false: it is no such line; `state` has no meaning.
BASE_MUST_USE bool server_watch_read(const char* line, size_t size, server_watch_state* state);
