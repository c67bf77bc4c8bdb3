// SPDX-License-Identifier: MIT
// Bursts are Gilbert and Elliott's model in steps of a millisecond: from the good state, which
// loses nothing, to the bad one, which loses all, and back. A step of fixed length needs no
// logarithm, whose last bit is not the same in every C library.
#include "transport/link_faults.h"

// After so many steps the state has forgotten where it began; so a long silence costs no more.
#define BURST_STEPS_MAX UINT64_C(60000)

enum { STREAM_BURSTS = 1, STREAM_FLIPS, STREAM_REBINDS };

static bool is_in(double value, double low, double high) {
    return value >= low && value <= high;
}

static bool is_off_or_in(double value, double low, double high) {
    return value == 0 || is_in(value, low, high);
}

bool net_link_config_is_sound(const net_link_config* config) {
    return is_in(config->loss_percent, 0, 100) && is_in(config->duplicate_percent, 0, 100) &&
           is_in(config->reorder_percent, 0, 100) && is_in(config->flip_percent, 0, 100) &&
           is_in(config->delay_ms, 0, NET_LINK_MS_MAX) &&
           is_in(config->jitter_ms, 0, NET_LINK_MS_MAX) &&
           is_off_or_in(config->burst_ms, NET_LINK_BURST_MS_MIN, NET_LINK_MS_MAX) &&
           is_off_or_in(config->queue_ms, NET_LINK_QUEUE_MS_MIN, NET_LINK_MS_MAX) &&
           is_off_or_in(config->mtu_bytes, NET_LINK_MTU_BYTES_MIN, NET_LINK_BYTES_MAX) &&
           is_off_or_in(config->rebind_ms, NET_LINK_REBIND_MS_MIN, NET_LINK_OUTAGE_MS_MAX) &&
           is_in(config->outage_at_ms, 0, NET_LINK_OUTAGE_MS_MAX) &&
           is_in(config->outage_for_ms, 0, NET_LINK_OUTAGE_MS_MAX) &&
           is_off_or_in(config->rate_kbit, NET_LINK_RATE_KBIT_MIN, NET_LINK_RATE_KBIT_MAX);
}

void net_link_faults_init(net_link_faults* made, uint64_t seed) {
    *made = (net_link_faults){.bursts = base_rng_make(seed, STREAM_BURSTS),
                              .flips = base_rng_make(seed, STREAM_FLIPS),
                              .rebinds = base_rng_make(seed, STREAM_REBINDS)};
}

static double draw(base_rng* rng) {
    return base_rng_u32(rng) * 0x1p-32;
}

// The share of bad milliseconds is enter / (enter + leave) = loss_percent / 100.
static void step(net_link_faults* faults, const net_link_config* config) {
    double leave = 1.0 / config->burst_ms;
    double enter = leave * config->loss_percent;
    double good = 100.0 - config->loss_percent;
    double chance = draw(&faults->bursts);
    if (faults->is_bad)
        faults->is_bad = good == 0 || chance >= leave;
    else
        faults->is_bad = chance * good < enter;
}

bool net_link_faults_burst(net_link_faults* faults, const net_link_config* config,
                           uint64_t now_us) {
    if (config->burst_ms == 0) return false;
    uint64_t now_ms = now_us / 1000;
    if (!faults->has_begun) faults->burst_at_ms = now_ms;
    faults->has_begun = true;
    if (now_ms - faults->burst_at_ms > BURST_STEPS_MAX)
        faults->burst_at_ms = now_ms - BURST_STEPS_MAX;
    for (; faults->burst_at_ms < now_ms; faults->burst_at_ms++)
        step(faults, config);
    return faults->is_bad;
}

net_link_flips net_link_faults_flips(net_link_faults* faults, const net_link_config* config,
                                     size_t size) {
    net_link_flips flips = {0};
    bool is_flipped = draw(&faults->flips) * 100.0 < config->flip_percent;
    if (!is_flipped || size == 0) return flips;
    uint32_t count = 1 + base_rng_below(&faults->flips, NET_LINK_FLIPPED_BITS_MAX);
    while (flips.count < count) {
        uint32_t bit = base_rng_below(&faults->flips, (uint32_t)size * 8);
        bool is_new = true;
        for (uint32_t i = 0; i < flips.count; i++)
            is_new &= flips.bits[i] != bit;
        if (is_new) flips.bits[flips.count++] = bit;
    }
    return flips;
}

bool net_link_faults_rebind(net_link_faults* faults, const net_link_config* config,
                            uint64_t now_us) {
    if (config->rebind_ms == 0) return false;
    bool is_due = faults->rebind_us != 0 && now_us >= faults->rebind_us;
    if (faults->rebind_us == 0 || is_due) {
        double wait_ms = config->rebind_ms * (0.5 + draw(&faults->rebinds));
        faults->rebind_us = now_us + (uint64_t)(wait_ms * 1000.0);
    }
    return is_due;
}
