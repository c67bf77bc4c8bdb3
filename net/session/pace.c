// SPDX-License-Identifier: MIT
// Steers a client's ticks by what the server reports of its inputs.
//
// No clock is compared with another. The server reports after each tick how many inputs still wait,
// or how many ticks it owes because none waited. More than needed is latency, less is a late input.
// A client that ticks a little faster fills the ring, a slower one drains it. Source: Ford,
// "Overwatch gameplay architecture and netcode": the client's clock runs ahead by what the server's
// buffer needs.
//
// Rate: the error of the smoothed depth times RATE_PER_TICK, within +-5 %. An effect is visible
// after one round trip. A gain of 0.02 per tick closes an error in about 0.8 s at 60 Hz, slow
// enough to be stable at a round trip of 500 ms. A clock that is wrong by 200 ppm costs 0.01 ticks
// of standing error. Reports need not come with every tick: a server without news sends fewer. A
// report counts for the ticks since the previous one.
//
// Target: one tick, plus twice the mean deviation of the depth, plus as many ticks as packets in a
// row are likely to be lost (each input travels in the following packets too, so k losses in a row
// make it k ticks late), plus ticks for late inputs. An input that is late although the depth
// reached its target adds one tick; two thirds of that are forgotten in RAISED_DECAY_S.
//
// Jump: when the depth is short by more than JUMP_TICKS (the beginning, a stall, a longer way), the
// missing ticks are made at once, at most NET_CATCH_UP_TICKS_MAX; then one round trip is waited.
//
// Left to others: making ticks (the program's loop).
#include "session/pace.h"

#include "base/assert.h"

#include <string.h>

#define RATE_PER_TICK 0.02
#define DEPTH_PART 0.1 // of a tick's report in the smoothed depth
#define JITTER_PART 0.05
#define PART_TICKS_MAX 32u // a report counts for the ticks without one before it, this many at most
#define RAISED_DECAY_S 15.0
#define RAISE_US_MIN 250e3 // one burst of late inputs raises once
#define RAISE_BELOW 0.5
#define JUMP_TICKS 2.0
#define JUMP_SAMPLES 6u
#define SETTLE_US 50e3 // after the round trip
#define PLACES_MIN 4u  // of inputs that wait

void net_pace_init(net_pace* pace, uint32_t tick_rate_hz) {
    BASE_ASSERT(tick_rate_hz >= NET_TICK_RATE_HZ_MIN && tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    memset(pace, 0, sizeof *pace);
    pace->tick_us = 1e6 / tick_rate_hz;
    pace->rate = 1.0;
    pace->target = NET_PACE_DEPTH_MIN;
}

static double clamp(double value, double min, double max) {
    return value < min ? min : value > max ? max : value;
}

static void raise(net_pace* pace, uint64_t now_us, uint32_t repeats) {
    bool is_late = repeats > pace->repeats;
    pace->repeats = repeats;
    double now = (double)now_us;
    if (!is_late || now < pace->raise_us + RAISE_US_MIN || now < pace->settle_us) return;
    // A late input counts only when the depth has reached the target.
    if (!pace->has_depth || pace->depth < pace->target - RAISE_BELOW) return;
    pace->raise_us = now;
    pace->raised = clamp(pace->raised + 1.0, 0, NET_PACE_DEPTH_MAX);
}

// The rest of 1 after this many ticks have each taken their part.
static double part_of_ticks(double part, double ticks) {
    double left = 1.0;
    for (uint32_t i = 0; i < PART_TICKS_MAX && (double)i + 0.5 < ticks; i++)
        left *= 1.0 - part;
    return 1.0 - left;
}

static void sample(net_pace* pace, double depth, double ticks) {
    if (!pace->has_depth || pace->sample_count == 0) {
        pace->depth = depth;
        pace->has_depth = true;
    }
    double error = depth - pace->depth;
    // First the mean of all samples, then an exponential mean.
    double part = 1.0 / (pace->sample_count + 1.0);
    pace->sample_count++;
    double depth_part = part_of_ticks(DEPTH_PART, ticks);
    pace->depth += error * (part > depth_part ? part : depth_part);
    pace->jitter +=
        ((error < 0 ? -error : error) - pace->jitter) * part_of_ticks(JITTER_PART, ticks);
    pace->raised -= pace->raised * clamp(ticks * pace->tick_us * 1e-6 / RAISED_DECAY_S, 0, 1);
}

void net_pace_report(net_pace* pace, uint64_t now_us, uint64_t tick, uint32_t depth,
                     uint32_t repeats, uint64_t rtt_us, double loss_percent) {
    if (tick <= pace->tick_newest) return;
    double ticks = pace->tick_newest ? (double)(tick - pace->tick_newest) : 1.0;
    pace->tick_newest = tick;
    raise(pace, now_us, repeats);
    if ((double)now_us < pace->settle_us) return;
    sample(pace, (double)depth - (double)repeats, ticks);
    // Fewer than one input in a thousand meets so many losses in a row.
    static const double likely[] = {0.1, 3.2, 10.0, 17.8, 25.1};
    pace->loss_depth = 0;
    for (uint32_t i = 0; i < sizeof likely / sizeof *likely; i++)
        pace->loss_depth += loss_percent > likely[i];
    pace->target = clamp(NET_PACE_DEPTH_MIN + 2.0 * pace->jitter + pace->loss_depth + pace->raised,
                         NET_PACE_DEPTH_MIN, NET_PACE_DEPTH_MAX);
    pace->rate = 1.0 + clamp((pace->target - pace->depth) * RATE_PER_TICK, -NET_PACE_RATE_MAX,
                             NET_PACE_RATE_MAX);
    double missing = pace->target - pace->depth;
    if (missing <= JUMP_TICKS || pace->sample_count < JUMP_SAMPLES) return;
    missing = clamp(missing, 0, NET_CATCH_UP_TICKS_MAX);
    if (pace->has_next) pace->next_us -= (double)(uint32_t)missing * pace->tick_us;
    pace->settle_us = (double)now_us + (double)rtt_us + SETTLE_US;
    pace->sample_count = 0;
}

void net_pace_restart(net_pace* pace) {
    pace->rate = 1.0;
    pace->sample_count = 0;
    pace->repeats = 0;
    pace->settle_us = 0;
}

void net_pace_tick(net_pace* pace, uint64_t now_us) {
    double now = (double)now_us;
    double catch_up = NET_CATCH_UP_TICKS_MAX * pace->tick_us;
    if (!pace->has_next) pace->next_us = now;
    pace->has_next = true;
    pace->next_us += pace->tick_us / pace->rate;
    // Ticks that come earlier than due do not add up to a pause.
    pace->next_us = clamp(pace->next_us, now - catch_up, now + 2.0 * pace->tick_us);
}

uint64_t net_pace_next_us(const net_pace* pace) {
    return pace->next_us > 0 ? (uint64_t)pace->next_us : 0;
}

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
// the ticks owed after T; input_depth is the number of inputs that still wait.
//
// Invariants: numbers rise strictly from `first`; `newest` is the newest number that came; used
// <= newest; owed > 0 only while no input waits.

void net_input_queue_init(net_input_queue* inputs, const base_allocator* allocator) {
    memset(inputs, 0, sizeof *inputs);
    inputs->allocator = allocator;
}

void net_input_queue_deinit(net_input_queue* inputs) {
    base_release(inputs->allocator, inputs->ring, (size_t)inputs->places * inputs->stride_bytes);
    inputs->ring = NULL;
}

static net_input_waiting* entry_at(const net_input_queue* inputs, uint32_t position) {
    const uint32_t place = (inputs->first + position) & (inputs->places - 1);
    return (net_input_waiting*)(void*)(inputs->ring + (size_t)place * inputs->stride_bytes);
}

// Room for one more input whose payload has `size` bytes.
static void reserve(net_input_queue* inputs, uint32_t size) {
    _Static_assert(NET_INPUT_RING % PLACES_MIN == 0, "the ring doubles up to its limit");
    const uint32_t bytes = (uint32_t)(sizeof(net_input_waiting) + size + 15u) & ~15u;
    net_input_queue grown = *inputs;
    if (inputs->count == inputs->places) grown.places = inputs->places * 2;
    if (grown.places < PLACES_MIN) grown.places = PLACES_MIN;
    if (bytes > grown.stride_bytes) grown.stride_bytes = bytes;
    if (grown.places == inputs->places && grown.stride_bytes == inputs->stride_bytes) return;
    grown.first = 0;
    grown.ring = base_allocate(inputs->allocator, (size_t)grown.places * grown.stride_bytes);
    for (uint32_t i = 0; i < inputs->count; i++)
        memcpy(entry_at(&grown, i), entry_at(inputs, i), inputs->stride_bytes);
    net_input_queue_deinit(inputs);
    *inputs = grown;
}

static bool is_same(const net_input_waiting* entry, const void* payload, uint32_t size) {
    return entry->size == size && memcmp(entry->payload, payload, size) == 0;
}

static void drop_first(net_input_queue* inputs) {
    inputs->first = (inputs->first + 1) & (inputs->places - 1);
    inputs->count--;
}

static void settle(net_input_queue* inputs) {
    while (inputs->owed > 0 && inputs->count > 0) {
        const net_input_waiting* entry = entry_at(inputs, 0);
        uint32_t missing = entry->number - inputs->used - 1;
        inputs->owed -= missing < inputs->owed ? missing : inputs->owed;
        if (inputs->owed == 0) return;
        if (!is_same(entry, inputs->last.payload, inputs->last.size)) {
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
    const uint8_t* before = inputs->last.payload;
    uint32_t before_size = inputs->last.size, kept = 0;
    bool has_before = inputs->is_started && !inputs->is_resting;
    for (uint32_t i = 0; i < inputs->count; i++) {
        const net_input_waiting* entry = entry_at(inputs, i);
        if (surplus > 0 && has_before && is_same(entry, before, before_size)) {
            surplus--;
            continue;
        }
        net_input_waiting* to = entry_at(inputs, kept++);
        if (to != entry) memcpy(to, entry, inputs->stride_bytes);
        before = to->payload;
        before_size = to->size;
        has_before = true;
    }
    inputs->count = kept;
    for (; surplus > 0; surplus--)
        drop_first(inputs);
}

net_result net_input_queue_push(net_input_queue* inputs, uint32_t number, const void* payload,
                                uint32_t size, uint64_t seen) {
    BASE_ASSERT(inputs->count <= NET_INPUT_RING && inputs->used <= inputs->newest);
    if (size > NET_INPUT_BYTES_MAX) return NET_ERR_MALFORMED;
    if (number <= inputs->newest) {
        inputs->duplicate++;
        return NET_ERR_STALE;
    }
    if (inputs->newest) inputs->missing += number - inputs->newest - 1;
    inputs->newest = number;
    // No tick consumes inputs: the match is paused, or it is over.
    if (inputs->count == NET_INPUT_RING) skip(inputs);
    reserve(inputs, size);
    net_input_waiting* entry = entry_at(inputs, inputs->count);
    entry->number = number;
    entry->size = size;
    entry->seen = seen;
    if (size) memcpy(entry->payload, payload, size);
    inputs->count++;
    inputs->received++;
    return NET_OK;
}

net_input_turn net_input_queue_take(net_input_queue* inputs, uint32_t repeat_ticks_max,
                                    const net_input** entry) {
    BASE_ASSERT(inputs->count <= NET_INPUT_RING && repeat_ticks_max >= 1);
    *entry = NULL;
    settle(inputs);
    skip(inputs);
    if (inputs->count > 0) {
        const net_input_waiting* next = entry_at(inputs, 0);
        inputs->last = (net_input){.number = next->number, .size = next->size, .seen = next->seen};
        memcpy(inputs->last.payload, next->payload, next->size);
        drop_first(inputs);
        *entry = &inputs->last;
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
