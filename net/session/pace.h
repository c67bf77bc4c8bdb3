// SPDX-License-Identifier: MIT
/// A client's clock: when its next tick is due, so that inputs reach the server just before their
/// tick.
///
/// A plain struct; time is an argument. The program may tick at other times than advised.
#pragma once

#include "net/limits.h"
#include "net/result.h"

#include "base/alloc.h"

#define NET_PACE_DEPTH_MIN 1.0 ///< smallest target: inputs that wait on the server after its tick
#define NET_PACE_DEPTH_MAX 8.0
#define NET_PACE_RATE_MAX 0.05 ///< this much faster or slower than the server at most

typedef struct net_pace {
    double tick_us; ///< of the server
    double next_us; ///< when the next tick is due
    bool has_next;
    bool has_depth;
    double depth;      ///< smoothed; owed ticks count as negative
    double jitter;     ///< mean deviation of depth
    double raised;     ///< ticks that were added because inputs came late
    double loss_depth; ///< ticks that losses on the way need
    double target;
    double rate; ///< own ticks per server tick, 0.95..1.05
    uint64_t tick_newest;
    uint32_t repeats;      ///< as reported last
    double raise_us;       ///< when it was raised last
    double settle_us;      ///< after a jump: reports until then are ignored
    uint32_t sample_count; ///< since then
} net_pace;

void net_pace_init(net_pace* pace, uint32_t tick_rate_hz);
/// The state packet of server tick `tick` came, with its report. `rtt_us`: time until a change of
/// rate is visible; `loss_percent`: of packets to the server. Older packets than the newest are
/// ignored.
void net_pace_report(net_pace* pace, uint64_t now_us, uint64_t tick, uint32_t depth,
                     uint32_t repeats, uint64_t rtt_us, double loss_percent);
/// The session was resumed: forget the reports.
void net_pace_restart(net_pace* pace);
/// A tick was made.
void net_pace_tick(net_pace* pace, uint64_t now_us);
/// When the next tick is due. 0 before the first: at once.
uint64_t net_pace_next_us(const net_pace* pace);

/// Inputs of one client, waiting on the server for their tick.
///
/// A client numbers its inputs 1, 2, 3..., one per client tick. Each packet repeats newest ones
/// that may be lost, so a lost packet costs nothing. Each server tick uses one input. A client
/// steers its clock by the number that still waits.
///
/// Memory: of the most and the longest inputs that ever waited, up to NET_INPUT_RING.

/// One packed input.
typedef struct net_input {
    uint32_t number; ///< counts the client's ticks from 1
    uint32_t size;   ///< of payload
    /// The moment that the player saw when it made the input, in ticks * 256; 0: unknown.
    uint64_t seen;
    uint8_t payload[NET_INPUT_BYTES_MAX];
} net_input;

/// What a tick does with its client's input.
typedef enum net_input_turn {
    NET_INPUT_NONE,  ///< nothing: no input came yet, or the client rests
    NET_INPUT_NEXT,  ///< the next one
    NET_INPUT_AGAIN, ///< no input waits: the last one again
    NET_INPUT_REST,  ///< none came for too long: one of default values, then nothing
} net_input_turn;

/// One that waits, in a place as long as the longest so far.
typedef struct net_input_waiting {
    uint64_t seen;
    uint32_t number, size;
    uint8_t payload[];
} net_input_waiting;

typedef struct net_input_queue {
    const base_allocator* allocator;
    uint8_t* ring; ///< `places` of `stride_bytes`; a power of two
    uint32_t places, stride_bytes;
    uint32_t first;
    uint32_t count;
    uint32_t newest; // number received last; 0: none yet
    uint32_t used;   // newest number that a tick had, or that was settled or skipped; 0: none yet
    uint32_t owed;   // ticks that repeated `used` and were not paid for since
    uint32_t dry;    // ticks in a row without any input
    bool is_started; // at least one input was consumed
    bool is_resting;
    net_input last; // the one that is repeated
    uint64_t received;
    uint64_t duplicate; // known already: repeated by redundancy
    uint64_t missing;   // numbers that never came in time
    uint64_t skipped;   // dropped to bound the latency
    uint64_t repeated;  // ticks that had to repeat the last input
    uint64_t settled;   // came late and equal to the repeated input: dropped
    uint64_t late;      // came late and different: used in order
    uint64_t rests;     // times that a silent client got default values
} net_input_queue;

void net_input_queue_init(net_input_queue* inputs, const base_allocator* allocator);
void net_input_queue_deinit(net_input_queue* inputs);
/// Queue an input, copied. `seen` as in net_input.
/// A full ring is thinned out first, as when a tick skips. The newest number counts in any case: a
/// client shortens its numbers by it.
/// @return NET_OK; NET_ERR_STALE (known already); NET_ERR_MALFORMED (longer than
///         NET_INPUT_BYTES_MAX: a strike).
net_result net_input_queue_push(net_input_queue* inputs, uint32_t number, const void* payload,
                                uint32_t size, uint64_t seen);
/// Pop the input of this tick. After `repeat_ticks_max` (>= 1) ticks without any input the client
/// rests. *entry is the input for NET_INPUT_NEXT, else NULL; borrowed until the next take.
net_input_turn net_input_queue_take(net_input_queue* inputs, uint32_t repeat_ticks_max,
                                    const net_input** entry);
