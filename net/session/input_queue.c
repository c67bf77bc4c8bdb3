// SPDX-License-Identifier: MIT
// Inputs waiting for their tick.
//
// Why a ring in order of arrival and not by target tick: it needs no common clock, it refuses no
// player whose estimate is wrong, and its cost (a constant depth) is measured and bounded here.
//
// What a tick does, in this order (a client predicts by the same rule, predict.c):
//   settle  a tick without an input has repeated the last one, `used`, and owes one. While ticks
//           are owed and inputs wait, look at the oldest. Numbers between `used` and the oldest
//           never came: each pays one owed tick. If ticks are still owed and the oldest equals the
//           repeated input, it had its effect already: it is dropped, becomes `used` and pays one.
//           If it differs, it must have its tick, or a key press would be lost: all owed ticks are
//           forgiven.
//   skip    when more than NET_INPUT_DEPTH_MAX wait, drop down to half of that, to bound the
//           latency: first inputs that equal the one before them, oldest first, then the oldest.
//   next    the oldest input is this tick's, and becomes `used`; or
//   again   none waits: the last one again, and one more tick is owed (repeat_ticks_max at most);
//   or
//   rest    none came for repeat_ticks_max ticks: one input of default values, nothing is owed any
//           more, and nothing is posted until the next input comes.
//
// The client reads in the StatePacket of tick T: input_used is `used` after T; input_repeats is
// what is owed after T; input_depth is the number of inputs that still wait.
//
// Invariants: numbers rise strictly from `first`; `newest` is the newest number ever accepted; used
// <= newest; owed > 0 only while no input waits.
#include "session/input_queue.h"

#include "base/assert.h"

#include <string.h>

void net_input_queue_init(net_input_queue* inputs) {
    memset(inputs, 0, sizeof *inputs);
}

net_result net_input_queue_push(net_input_queue* inputs, uint32_t number, const void* payload,
                                uint32_t size, uint64_t seen) {
    BASE_ASSERT(inputs->count <= NET_INPUT_RING && inputs->used <= inputs->newest);
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
    entry->seen = seen;
    if (size) memcpy(entry->payload, payload, size);
    inputs->count++;
    inputs->newest = number;
    inputs->received++;
    return NET_OK;
}

static net_input* entry_at(net_input_queue* inputs, uint32_t position) {
    return &inputs->ring[(inputs->first + position) % NET_INPUT_RING];
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
    // Drop inputs that change nothing; the others move towards the oldest place.
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
