// SPDX-License-Identifier: MIT
/// Inputs of one client, waiting on the server for their tick.
///
/// Inputs are numbered 1, 2, 3... by the client, one per client tick; each packet repeats the last
/// NET_INPUT_REDUNDANCY, so a lost packet costs nothing. The ring is played out one per server tick: its
/// depth, reported back, is what a client steers its clock by. Memory: fixed.
#pragma once

#include "net/limits.h"
#include "net/result.h"

typedef struct net_input_entry {
    uint32_t number;
    uint16_t size;
    uint64_t view; // what the player saw, in ticks * 256; 0: unsaid
    uint8_t payload[NET_INPUT_BYTES_MAX];
} net_input_entry;

typedef struct net_inputs {
    net_input_entry ring[NET_INPUT_RING];
    uint32_t first;
    uint32_t count;
    uint32_t newest;     // number received last; 0: none yet
    bool is_started;     // at least one input was taken
    uint64_t received;
    uint64_t duplicate;  // redundancy at work
    uint64_t missing;    // numbers that never came in time
    uint64_t skipped;    // dropped to bound the latency
    uint64_t repeated;   // ticks that had to repeat the last input
    uint64_t refused;    // ring full
} net_inputs;

void net_inputs_init(net_inputs* inputs);
/// Take one in. @return NET_OK; NET_ERR_STALE (known already); NET_ERR_FULL (ring full: dropped, counted);
///         NET_ERR_MALFORMED (too long).
net_result net_inputs_push(net_inputs* inputs, uint32_t number, const void* payload, uint32_t size);
/// What the player saw when it made the input that was pushed last (with NET_OK).
void net_inputs_saw(net_inputs* inputs, uint64_t view);
/// The input for this tick, borrowed until the next push. NULL: none came, repeat the last one (counted
/// once the client has started). A ring deeper than NET_INPUT_DEPTH_MAX skips to half of that.
const net_input_entry* net_inputs_take(net_inputs* inputs);
