// SPDX-License-Identifier: MIT
/// Why a session ended, as the server's reports and the wire's goodbye name it.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

typedef enum net_end {
    NET_END_NONE,    ///< the session is still open
    NET_END_GOODBYE, ///< the match ended; the server said goodbye
    NET_END_LEFT,    ///< the client said goodbye
    NET_END_TIMEOUT, ///< no acknowledgement for NET_SILENCE_MS_MAX, or away for as long
    NET_END_FAULT,   ///< the client broke the protocol, or one of its queues overflowed
    NET_END_DEAF,    ///< its datagrams came, but for NET_DEAF_MS_MAX it acknowledged nothing
    NET_END_BANNED,
    NET_END_EVICTED, ///< it showed no life, and its place was needed
    NET_END_GAME,    ///< the game dropped it (net_game_services.drop_player)
    NET_END_REFUSED, ///< the game refused it when it joined
    /// Not of a session: with it a client closes the connection after a goodbye whose hash is not
    /// that of its own world (WIRE.md, "Goodbye").
    NET_END_DIFFERS,
} net_end;

/// Beside the RefusedReason of wire.proto: a goodbye with NET_END_REFUSED.
#define NET_REFUSAL_BY_GAME 256u
#define NET_END_TEXT_BYTES 128u ///< of a game's reason, with the NUL

/// The word that programs and traces print: "goodbye", "timeout"... Static text.
const char* net_end_name(net_end end);
/// What a person reads about the end of a session: "it fell silent"... Static text.
const char* net_end_text(net_end end);

BASE_C_END
