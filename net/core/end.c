// SPDX-License-Identifier: MIT
// What a person and a program read about the end of a session.
#include "net/end.h"

#include <stdint.h>

const char* net_end_name(net_end end) {
    static const char* const names[] = {
        [NET_END_NONE] = "none",       [NET_END_GOODBYE] = "goodbye", [NET_END_LEFT] = "left",
        [NET_END_TIMEOUT] = "timeout", [NET_END_FAULT] = "fault",     [NET_END_DEAF] = "deaf",
        [NET_END_BANNED] = "banned",   [NET_END_EVICTED] = "evicted", [NET_END_GAME] = "game",
        [NET_END_REFUSED] = "refused", [NET_END_DIFFERS] = "differs"};
    return (uint32_t)end < BASE_COUNT(names) ? names[end] : "none";
}

const char* net_end_text(net_end end) {
    switch (end) {
    case NET_END_NONE:
        break;
    case NET_END_GOODBYE:
        return "the match ended";
    case NET_END_LEFT:
        return "it left";
    case NET_END_TIMEOUT:
        return "it fell silent";
    case NET_END_FAULT:
        return "it broke the protocol";
    case NET_END_DEAF:
        return "it acknowledged nothing";
    case NET_END_BANNED:
        return "it is banned";
    case NET_END_EVICTED:
        return "it showed no life, and its place was needed";
    case NET_END_GAME:
        return "the game dropped it";
    case NET_END_REFUSED:
        return "the game refused it";
    case NET_END_DIFFERS:
        return "its world differs";
    }
    return "the session ended";
}
