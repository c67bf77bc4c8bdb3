// SPDX-License-Identifier: MIT
// Inputs waiting for their tick.
//
// Why a ring by order and not by target tick: it needs no common clock, it never refuses a player whose
// estimate is off, and what it costs (a constant depth) is measured and bounded here.
//
// Invariants: numbers rise strictly from `first`; `newest` is the last number ever accepted.
#include "inputs.h"

#include "base/assert.h"

#include <string.h>

void net_inputs_init(net_inputs* inputs) {
    memset(inputs, 0, sizeof *inputs);
}

net_result net_inputs_push(net_inputs* inputs, uint32_t number, const void* payload,
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
    net_input_entry* entry = &inputs->ring[(inputs->first + inputs->count) % NET_INPUT_RING];
    entry->number = number;
    entry->size = (uint16_t)size;
    entry->view = 0;
    if (size) memcpy(entry->payload, payload, size);
    inputs->count++;
    inputs->newest = number;
    inputs->received++;
    return NET_OK;
}

void net_inputs_saw(net_inputs* inputs, uint64_t view) {
    BASE_ASSERT(inputs->count > 0);
    inputs->ring[(inputs->first + inputs->count - 1) % NET_INPUT_RING].view = view;
}

const net_input_entry* net_inputs_take(net_inputs* inputs) {
    BASE_ASSERT(inputs->count <= NET_INPUT_RING);
    if (inputs->count > NET_INPUT_DEPTH_MAX) {
        uint32_t skip = inputs->count - NET_INPUT_DEPTH_MAX / 2;
        inputs->first = (inputs->first + skip) % NET_INPUT_RING;
        inputs->count -= skip;
        inputs->skipped += skip;
    }
    if (inputs->count == 0) {
        if (inputs->is_started) inputs->repeated++;
        return NULL;
    }
    const net_input_entry* entry = &inputs->ring[inputs->first];
    inputs->first = (inputs->first + 1) % NET_INPUT_RING;
    inputs->count--;
    inputs->is_started = true;
    return entry;
}
