// SPDX-License-Identifier: MIT
// A reliable command is a repeat when the channel has delivered its number, or when a command of
// this number came before and waits. Of the waiting ones a bit each is kept. It says "came", not
// "is kept by ENet", so a repeat is rationed and never refused: the first one may have been lost
// inside ENet, and its acknowledgement on the way. A ping, a disconnect and the settings of
// bandwidth and throttle want an acknowledgement too, and bring nothing: they cost the same.
#include "transport/repeat_ration.h"

#include <string.h>

enum {
    WINDOW = 256, // the filter refuses commands further ahead
    CREDIT = 1000,
    CREDITS_MAX = (int)NET_REPEATS_PER_SECOND * CREDIT,
};

void net_repeat_ration_init(net_repeat_ration* ration, uint32_t now_ms) {
    *ration = (net_repeat_ration){.at_ms = now_ms, .credits = CREDITS_MAX};
}

static void window_move(net_repeat_ration* ration, uint16_t sequence) {
    uint16_t moved = (uint16_t)(sequence - ration->sequence);
    if (moved >= WINDOW) memset(ration->seen, 0, sizeof ration->seen);
    for (uint16_t i = 1; moved < WINDOW && i <= moved; i++) {
        uint8_t delivered = (uint8_t)(ration->sequence + i);
        ration->seen[delivered / 64] &= ~(UINT64_C(1) << delivered % 64);
    }
    ration->sequence = sequence;
}

// @return true when the command came for the first time.
static bool window_take(net_repeat_ration* ration, uint16_t sequence) {
    uint16_t ahead = (uint16_t)(sequence - ration->sequence);
    if (ahead == 0 || ahead > WINDOW) return false;
    uint8_t place = (uint8_t)sequence;
    uint64_t bit = UINT64_C(1) << place % 64;
    bool is_new = !(ration->seen[place / 64] & bit);
    ration->seen[place / 64] |= bit;
    return is_new;
}

static void refill(net_repeat_ration* ration, uint32_t now_ms) {
    uint32_t passed_ms = now_ms - ration->at_ms;
    ration->at_ms = now_ms;
    if (passed_ms > CREDIT) passed_ms = CREDIT;
    ration->credits += passed_ms * NET_REPEATS_PER_SECOND;
    if (ration->credits > CREDITS_MAX) ration->credits = CREDITS_MAX;
}

bool net_repeat_ration_pass(net_repeat_ration* ration, const uint8_t* bytes, size_t size,
                            const net_filter_context* context, uint32_t now_ms) {
    net_filter_command command;
    uint32_t repeats = 0;
    window_move(ration, context->reliable_sequence);
    for (size_t at = 0; net_filter_next(bytes, size, context, &at, &command);) {
        if (!command.is_acknowledged) continue;
        bool is_new = command.is_message && window_take(ration, command.sequence);
        if (!is_new) repeats++;
    }
    if (repeats == 0) return true;
    refill(ration, now_ms);
    if (ration->credits < repeats * CREDIT) return false;
    ration->credits -= repeats * CREDIT;
    return true;
}
