// SPDX-License-Identifier: MIT
// Resends of control messages, once per service: how long they wait, what they cost, and whether
// the other side acknowledges any.
//
// The wait is clamped so that loss does not end healthy connections (transport_enet.c). A peer that
// acknowledges nothing would get its whole window again and again, many times the operator's rate.
// So resends that are clamped are paid from a bucket; when it is empty ENet doubles the waits as it
// likes. Who is heard but leaves the oldest message without an acknowledgement for NET_DEAF_MS_MAX
// loses the connection. A peer in a blackout is not heard, so this time stands still.
#include "transport/enet_peers.h"

enum {
    RESEND_SLACK_MS = 20,
    RESEND_MS_MAX = 1000,
};

#define RESEND_BYTES_PER_SECOND 32768.0
#define HEARD_US_MAX UINT64_C(1000000) // a peer is heard for so long after a datagram
#define STEP_US_MAX UINT64_C(250000)   // a stall of this process counts as so much

typedef struct outstanding {
    uint32_t resent_bytes; // resends since the last look
    uint16_t oldest;       // sequence number of the oldest control message
    bool has_oldest;
} outstanding;

static void look_at(outstanding* all, const ENetOutgoingCommand* command, uint32_t looked_ms) {
    bool is_new = (int32_t)(command->sentTime - looked_ms) >= 0;
    if (command->sendAttempts > 1 && is_new)
        all->resent_bytes += command->fragmentLength + NET_ENET_OVERHEAD_BYTES;
    uint16_t number = command->reliableSequenceNumber;
    if (command->command.header.channelID != NET_CHANNEL_CONTROL || command->sendAttempts == 0)
        return;
    if (!all->has_oldest || (int16_t)(uint16_t)(number - all->oldest) < 0) all->oldest = number;
    all->has_oldest = true;
}

// A list of ENet in which resent commands are before new ones.
static void look_through(outstanding* all, ENetList* list, uint32_t looked_ms) {
    for (ENetListIterator at = enet_list_begin(list); at != enet_list_end(list);
         at = enet_list_next(at)) {
        const ENetOutgoingCommand* command = (const ENetOutgoingCommand*)(const void*)at;
        if (command->sendAttempts == 0) break;
        look_at(all, command, looked_ms);
    }
}

// All that is not acknowledged: sent, or sent before and waiting to be sent again. ENet keeps the
// latter in another list in each of its versions.
static outstanding look(ENetPeer* peer, uint32_t looked_ms) {
    outstanding all = {.has_oldest = false};
    for (ENetListIterator at = enet_list_begin(&peer->sentReliableCommands);
         at != enet_list_end(&peer->sentReliableCommands); at = enet_list_next(at))
        look_at(&all, (const ENetOutgoingCommand*)(const void*)at, looked_ms);
#if ENET_VERSION < ENET_VERSION_CREATE(1, 3, 14)
    look_through(&all, &peer->outgoingReliableCommands, looked_ms); // Ubuntu 22.04
#else
    look_through(&all, &peer->outgoingCommands, looked_ms);
#endif
#if ENET_VERSION >= ENET_VERSION_CREATE(1, 3, 18)
    look_through(&all, &peer->outgoingSendReliableCommands, looked_ms);
#endif
    return all;
}

static void clamp_waits(ENetPeer* peer) {
    if (enet_list_empty(&peer->sentReliableCommands)) return;
    enet_uint32 wait_ms = peer->roundTripTime + 2 * peer->roundTripTimeVariance + RESEND_SLACK_MS;
    if (wait_ms > RESEND_MS_MAX) wait_ms = RESEND_MS_MAX;
    bool is_first = true;
    for (ENetListIterator at = enet_list_begin(&peer->sentReliableCommands);
         at != enet_list_end(&peer->sentReliableCommands); at = enet_list_next(at)) {
        ENetOutgoingCommand* command = (ENetOutgoingCommand*)(void*)at;
        if (command->roundTripTimeout > wait_ms) command->roundTripTimeout = wait_ms;
        enet_uint32 due = command->sentTime + command->roundTripTimeout;
        if (is_first || (int32_t)(due - peer->nextTimeout) < 0) peer->nextTimeout = due;
        is_first = false;
    }
}

// @return true: it was heard for NET_DEAF_MS_MAX and did not acknowledge the oldest message.
static bool is_deaf(net_enet_slot* slot, const outstanding* all, uint64_t now_us,
                    uint64_t step_us) {
    if (!all->has_oldest || !slot->is_waiting || all->oldest != slot->waits_for) slot->deaf_us = 0;
    slot->is_waiting = all->has_oldest;
    slot->waits_for = all->oldest;
    if (all->has_oldest && now_us - slot->heard_us <= HEARD_US_MAX) slot->deaf_us += step_us;
    return slot->deaf_us >= NET_DEAF_MS_MAX * UINT64_C(1000);
}

bool net_enet_watch_resends(net_enet_slot* slot, ENetPeer* peer, uint64_t now_us,
                            uint64_t before_us, uint32_t now_ms) {
    uint64_t step_us = now_us > before_us ? now_us - before_us : 0;
    if (step_us > STEP_US_MAX) step_us = STEP_US_MAX;
    const outstanding all = look(peer, slot->resent_ms);
    slot->resent_ms = now_ms;
    slot->resend_tokens += RESEND_BYTES_PER_SECOND * (double)step_us * 1e-6 - all.resent_bytes;
    if (slot->resend_tokens > NET_ENET_RESEND_BYTES_BURST)
        slot->resend_tokens = NET_ENET_RESEND_BYTES_BURST;
    if (slot->resend_tokens > 0) clamp_waits(peer);
    return is_deaf(slot, &all, now_us, step_us);
}
