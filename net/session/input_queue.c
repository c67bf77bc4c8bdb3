// SPDX-License-Identifier: MIT
// Inputs waiting for their tick.
//
// Why a ring by order and not by target tick: it needs no common clock, it never refuses a player
// whose estimate is off, and what it costs (a constant depth) is measured and bounded here.
//
// What a tick does, in this order (a client predicts by the same rule, predict.c):
//   settle  a tick that found no input has repeated the last one, `used`, and owes its place in
//   time. While
//           ticks are owed and inputs wait, look at the oldest: numbers between it and `used` never
//           came, and each pays one owed tick, for that tick stood for it. Then, if one is still
//           owed: if the payload is the one that was repeated, it had its effect already: it is
//           dropped, becomes `used` and pays one. If it differs, it must have its tick, or a press
//           would be lost: everything owed is forgiven.
//   skip    more than NET_INPUT_DEPTH_MAX that still wait are thinned out to half of that, for
//   latency is
//           bounded: first those that say what the one before them said, oldest first, then the
//           oldest.
//   next    the oldest that waits is this tick's, and becomes `used`; or
//   again   none waits: the last one once more, one more tick is owed (at most repeat_ticks_max
//   are); or rest    none came for repeat_ticks_max ticks: one input of nothing but defaults,
//   nothing is owed any
//           more, and nothing is posted until the next one comes.
//
// What the client is told of it (StatePacket of tick T): input_used is `used` after T;
// input_repeats is what is owed after T, all of it for repeating `used`; input_depth is what still
// waits.
//
// Invariants: numbers rise strictly from `first`; `newest` is the last number ever accepted; used
// <= newest; owed > 0 only while no input waits.
#include "session/input_queue.h"

#include "base/assert.h"

#include <string.h>

void net_input_queue_init(net_input_queue* inputs) {
    memset(inputs, 0, sizeof *inputs);
}

net_result net_input_queue_push(net_input_queue* inputs, uint32_t number, const void* payload,
                                uint32_t size) {
    if (size > NET_INPUT_BYTES_MAX) return NET_ERR_MALFORMED;
    if (number <= inputs->newest) {
        inputs->duplicate++;
        return NET_ERR_STALE;
    }
    if (inputs->count == NET_INPUT_RING) {
        inputs->refused++;
        return NET_ERR_FULL;
    }
    if (inputs->newest) inputs->missing += number - inputs->newest - 1;
    net_input* entry = &inputs->ring[(inputs->first + inputs->count) % NET_INPUT_RING];
    entry->number = number;
    entry->size = size;
    entry->seen = 0;
    if (size) memcpy(entry->payload, payload, size);
    inputs->count++;
    inputs->newest = number;
    inputs->received++;
    return NET_OK;
}

static net_input* entry_at(net_input_queue* inputs, uint32_t position) {
    return &inputs->ring[(inputs->first + position) % NET_INPUT_RING];
}

void net_input_queue_saw(net_input_queue* inputs, uint64_t seen) {
    BASE_ASSERT(inputs->count > 0);
    entry_at(inputs, inputs->count - 1)->seen = seen;
}

static bool is_same(const net_input* a, const net_input* b) {
    return a->size == b->size && memcmp(a->payload, b->payload, a->size) == 0;
}

static void drop_first(net_input_queue* inputs) {
    inputs->first = (inputs->first + 1) % NET_INPUT_RING;
    inputs->count--;
}

static void settle(net_input_queue* inputs) {
    while (inputs->owed > 0 && inputs->count > 0) {
        const net_input* entry = entry_at(inputs, 0);
        uint32_t missing = entry->number - inputs->used - 1;
        inputs->owed -= missing < inputs->owed ? missing : inputs->owed;
        if (inputs->owed == 0) return;
        if (!is_same(entry, &inputs->last)) {
            inputs->owed = 0;
            inputs->late++;
            return;
        }
        inputs->owed--;
        inputs->used = entry->number;
        inputs->dry = 0;
        inputs->settled++;
        drop_first(inputs);
    }
}

static void skip(net_input_queue* inputs) {
    if (inputs->count <= NET_INPUT_DEPTH_MAX) return;
    uint32_t surplus = inputs->count - NET_INPUT_DEPTH_MAX / 2;
    inputs->skipped += surplus;
    // What changes nothing may go: the ring closes up towards its oldest.
    net_input before = inputs->last;
    bool has_before = inputs->is_started && !inputs->is_resting;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < inputs->count; i++) {
        const net_input* entry = entry_at(inputs, i);
        if (surplus > 0 && has_before && is_same(entry, &before)) {
            surplus--;
            continue;
        }
        before = *entry;
        has_before = true;
        if (kept != i) *entry_at(inputs, kept) = before;
        kept++;
    }
    inputs->count = kept;
    for (; surplus > 0; surplus--)
        drop_first(inputs);
}

net_input_turn net_input_queue_take(net_input_queue* inputs, uint32_t repeat_ticks_max,
                                    const net_input** entry) {
    BASE_ASSERT(inputs->count <= NET_INPUT_RING && repeat_ticks_max >= 1);
    *entry = NULL;
    settle(inputs);
    skip(inputs);
    if (inputs->count > 0) {
        *entry = entry_at(inputs, 0);
        drop_first(inputs);
        inputs->last = **entry;
        inputs->used = (*entry)->number;
        inputs->dry = 0;
        inputs->is_started = true;
        inputs->is_resting = false;
        return NET_INPUT_NEXT;
    }
    if (!inputs->is_started || inputs->is_resting) return NET_INPUT_NONE;
    if (inputs->dry == repeat_ticks_max) {
        inputs->is_resting = true;
        inputs->owed = 0;
        inputs->rests++;
        return NET_INPUT_REST;
    }
    inputs->dry++;
    if (inputs->owed < repeat_ticks_max) inputs->owed++;
    inputs->repeated++;
    return NET_INPUT_AGAIN;
}
