// SPDX-License-Identifier: MIT
/// Why a session ended, as the server's reports and the wire's goodbye name it.
#pragma once

typedef enum net_end {
    NET_END_NONE,    ///< the session is still open
    NET_END_GOODBYE, ///< the match ended; the server said goodbye
    NET_END_LEFT,    ///< the client said goodbye
    NET_END_TIMEOUT, ///< no acknowledgement for NET_SILENCE_MS_MAX, or away for as long
    NET_END_FAULT,   ///< the client broke the protocol, or one of its queues overflowed
} net_end;
