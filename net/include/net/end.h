// SPDX-License-Identifier: MIT
/// Why a session ended, as the server's reports and the wire's goodbye name it.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// NAME, the word that programs and traces print, and what a person reads.
///
/// NONE: the session is still open. TIMEOUT: no acknowledgement for NET_SILENCE_MS_MAX, or away for
/// as long. FAULT: also when one of its queues overflowed. DEAF: its datagrams came, but it
/// acknowledged nothing for NET_DEAF_MS_MAX. GAME: net_game_services.drop_player; REFUSED: when it
/// joined. DIFFERS is not of a session: with it a client closes the connection after a goodbye
/// whose hash is not that of its own world (WIRE.md, "Goodbye").
#define NET_END_LIST(X)                                                                            \
    X(NET_END_NONE, "none", "the session ended")                                                   \
    X(NET_END_GOODBYE, "goodbye", "the match ended")                                               \
    X(NET_END_LEFT, "left", "it left")                                                             \
    X(NET_END_TIMEOUT, "timeout", "it fell silent")                                                \
    X(NET_END_FAULT, "fault", "it broke the protocol")                                             \
    X(NET_END_DEAF, "deaf", "it acknowledged nothing")                                             \
    X(NET_END_BANNED, "banned", "it is banned")                                                    \
    X(NET_END_EVICTED, "evicted", "it showed no life, and its place was needed")                   \
    X(NET_END_GAME, "game", "the game dropped it")                                                 \
    X(NET_END_REFUSED, "refused", "the game refused it")                                           \
    X(NET_END_DIFFERS, "differs", "its world differs")

typedef enum net_end {
#define NET_END_ENUM(name, word, text) name,
    NET_END_LIST(NET_END_ENUM)
#undef NET_END_ENUM
} net_end;

/// Beside the RefusedReason of wire.proto: a goodbye with NET_END_REFUSED.
#define NET_REFUSAL_BY_GAME 256u
#define NET_END_TEXT_BYTES 128u ///< of a game's reason, with the NUL

/// The word that programs and traces print: "goodbye", "timeout"... Static text.
const char* net_end_name(net_end end);
/// What a person reads about the end of a session: "it fell silent"... Static text.
const char* net_end_text(net_end end);

BASE_C_END
