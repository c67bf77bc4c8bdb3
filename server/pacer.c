// SPDX-License-Identifier: MIT
// Ticks have fixed times: tick n is due at start + n * period, so that a late tick does not shift
// the ones after it. After a stall the server catches up by a few ticks; the rest of the lost time
// is given up, because a server that is too slow would otherwise fall behind for ever.
#include "pacer.h"

#include "base/assert.h"
#include "net/limits.h"

#define REPORT_US 60000000u

void server_pacer_init(server_pacer* pacer, uint32_t tick_rate_hz, uint64_t now_us) {
    BASE_ASSERT(tick_rate_hz >= NET_TICK_RATE_HZ_MIN && tick_rate_hz <= NET_TICK_RATE_HZ_MAX);
    *pacer = (server_pacer){.period_us = 1000000u / tick_rate_hz, .next_us = now_us};
}

bool server_pacer_is_due(const server_pacer* pacer, bool is_fast, uint64_t now_us) {
    return is_fast || now_us >= pacer->next_us;
}

bool server_pacer_sends(server_pacer* pacer, uint64_t now_us) {
    const bool is_hurried = pacer->unheard > 0 || now_us >= pacer->next_us + pacer->period_us;
    pacer->unsent = is_hurried && pacer->unsent < NET_CATCH_UP_TICKS_MAX ? pacer->unsent + 1 : 0;
    return pacer->unsent == 0;
}

void server_pacer_tick(server_pacer* pacer, bool is_fast, uint64_t now_us) {
    BASE_ASSERT(pacer->period_us > 0 && server_pacer_is_due(pacer, is_fast, now_us));
    if (pacer->unheard < SERVER_UNHEARD_TICKS_MAX) pacer->unheard++;
    if (is_fast) pacer->next_us = now_us;
    pacer->next_us += pacer->period_us;
    if (now_us <= pacer->next_us) return;
    uint64_t late_ticks = (now_us - pacer->next_us) / pacer->period_us;
    if (late_ticks <= NET_CATCH_UP_TICKS_MAX) return;
    pacer->given_up += late_ticks - NET_CATCH_UP_TICKS_MAX;
    pacer->next_us += (late_ticks - NET_CATCH_UP_TICKS_MAX) * pacer->period_us;
}

uint64_t server_pacer_take_lost(server_pacer* pacer, uint64_t now_us) {
    const bool is_soon = pacer->reported_us > 0 && now_us < pacer->reported_us + REPORT_US;
    const uint64_t lost_ticks = pacer->given_up - pacer->reported;
    if (lost_ticks == 0 || is_soon) return 0;
    pacer->reported = pacer->given_up;
    pacer->reported_us = now_us;
    return lost_ticks;
}

void server_pacer_received(server_pacer* pacer) {
    pacer->unheard = 0;
}

bool server_pacer_must_receive(const server_pacer* pacer) {
    return pacer->unheard >= SERVER_UNHEARD_TICKS_MAX;
}

// ---- a log-linear histogram: 32 buckets per power of two, so p99 needs no memory and no sorting

#define SUB_BITS 5u
#define SUB_COUNT (1u << SUB_BITS)

static uint32_t bucket_of(uint64_t us) {
    if (us < SUB_COUNT) return (uint32_t)us;
    uint32_t power = 63u - (uint32_t)__builtin_clzll(us);
    uint32_t sub = (uint32_t)(us >> (power - SUB_BITS)) & (SUB_COUNT - 1);
    uint32_t bucket = (power - SUB_BITS + 1) * SUB_COUNT + sub;
    return bucket < SERVER_TIMING_BUCKETS ? bucket : SERVER_TIMING_BUCKETS - 1;
}

static uint64_t upper_edge(uint32_t bucket) {
    BASE_ASSERT(bucket < SERVER_TIMING_BUCKETS);
    if (bucket < SUB_COUNT) return bucket;
    uint32_t power = bucket / SUB_COUNT + SUB_BITS - 1;
    uint64_t sub = bucket % SUB_COUNT;
    return ((SUB_COUNT + sub + 1) << (power - SUB_BITS)) - 1;
}

void server_timing_add(server_timing* timing, uint64_t us) {
    timing->buckets[bucket_of(us)]++;
    timing->count++;
}

void server_timing_remove(server_timing* timing, uint64_t us) {
    BASE_ASSERT(timing->count > 0 && timing->buckets[bucket_of(us)] > 0);
    timing->buckets[bucket_of(us)]--;
    timing->count--;
}

uint64_t server_timing_cpu_us(const server_timing* timing, uint64_t cpu_us) {
    BASE_ASSERT(cpu_us >= timing->cpu_us); // of one clock
    return timing->count > 0 ? (cpu_us - timing->cpu_us) / timing->count : 0;
}

uint64_t server_timing_percentile(const server_timing* timing, double percent) {
    BASE_ASSERT(percent >= 0.0 && percent <= 100.0);
    uint64_t wanted = (uint64_t)((double)timing->count * percent / 100.0 + 0.5);
    if (wanted == 0) wanted = 1;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < SERVER_TIMING_BUCKETS; i++) {
        seen += timing->buckets[i];
        if (seen >= wanted && timing->count > 0) return upper_edge(i);
    }
    return 0;
}
