// SPDX-License-Identifier: MIT
// The config of a seed. Each property has a random stream of its own, so that a new property
// changes no other one.
#include "internal.h"

// Five to twenty-five seconds; less where connecting again takes long, because a session waits
// thirty.
static void draw_cut(scenario_config* config, base_rng* rng) {
    bool is_good = config->link.loss_percent < 10 && config->link.delay_ms < 100;
    config->cut_tick = 90 + base_rng_below(rng, 60);
    config->cut_ticks =
        TICKS_PER_SECOND * 5 + base_rng_below(rng, TICKS_PER_SECOND * (is_good ? 20 : 12));
    config->ticks += config->cut_tick + config->cut_ticks + TICKS_PER_SECOND * 8;
}

static void draw_rules(scenario_config* config) {
    base_rng rng = base_rng_make(config->seed, 3);
    config->is_wild = base_rng_chance(&rng, 0.8);
    config->rules =
        config->is_wild && base_rng_chance(&rng, 0.85) ? base_rng_below(&rng, SWARM_RULES_END) : 0;
    config->grants = base_rng_chance(&rng, 0.7);
    config->load = config->is_wild && base_rng_chance(&rng, 0.3) ? 1 + base_rng_below(&rng, 2) : 0;
}

static void draw_sending(scenario_config* config) {
    base_rng rng = base_rng_make(config->seed, 4);
    static const uint32_t rates[] = {8000, 12000, 24000, 60000};
    if (base_rng_chance(&rng, 0.5)) config->rate_max = rates[base_rng_below(&rng, 4)];
    config->send_divisor = base_rng_chance(&rng, 0.3) ? 2 + base_rng_below(&rng, 3) : 1;
    config->has_accounts = base_rng_chance(&rng, 0.5);
    if (base_rng_chance(&rng, 0.3))
        config->seq_first = (uint16_t)(65500 + base_rng_below(&rng, 36));
    static const uint64_t zeros[] = {65536 - 90, 4294967296 - 90, 4294967296 - 60000};
    if (base_rng_chance(&rng, 0.3))
        config->tick_zero = zeros[base_rng_below(&rng, 3)] - base_rng_below(&rng, 60);
}

// Corrupt a client's world long after all changes. Only checksum probes can find it.
static void draw_corruption(scenario_config* config) {
    base_rng rng = base_rng_make(config->seed, 5);
    if (!base_rng_chance(&rng, 0.06) || config->stop_tick || config->cut_tick) return;
    config->corrupt_tick = config->quiet_ticks + TICKS_PER_SECOND * 3;
    // One probe per packet, at most ten packets a second: time for several rounds over all
    // entities.
    config->ticks = config->corrupt_tick + TICKS_PER_SECOND * (20 + 20 * config->send_divisor);
    if (config->link.loss_percent > 10) config->link.loss_percent = 10;
    config->has_churn = false;
}

// Losses that come in bursts, or in one direction only.
static void draw_line(scenario_config* config) {
    base_rng rng = base_rng_make(config->seed, 6);
    if (base_rng_chance(&rng, 0.2)) config->link.burst_ms = 20.0 + base_rng_float(&rng) * 280.0f;
    if (base_rng_chance(&rng, 0.2))
        config->way = base_rng_chance(&rng, 0.5) ? SCENARIO_UP : SCENARIO_DOWN;
}

scenario_config scenario_config_draw(uint64_t seed) {
    base_rng rng = base_rng_make(seed, 1);
    scenario_config config = {.seed = seed};
    config.clients = 1 + base_rng_below(&rng, SCENARIO_CLIENTS_MAX);
    config.ticks = 120 + base_rng_below(&rng, 240);
    config.link.loss_percent = base_rng_chance(&rng, 0.2) ? 0 : base_rng_float(&rng) * 30.0f;
    config.link.delay_ms = base_rng_float(&rng) * 300.0f;
    config.link.jitter_ms = base_rng_float(&rng) * 100.0f;
    config.link.duplicate_percent = base_rng_float(&rng) * 5.0f;
    config.link.reorder_percent = base_rng_float(&rng) * 5.0f;
    config.link.seed = base_rng_u64(&rng);
    config.has_churn = base_rng_chance(&rng, 0.7);
    if (base_rng_chance(&rng, 0.2)) config.stop_tick = 1 + base_rng_below(&rng, config.ticks);
    if (!config.stop_tick && base_rng_chance(&rng, 0.08)) draw_cut(&config, &rng);
    config.quiet_ticks = config.ticks * 2 / 3;
    draw_line(&config);
    draw_rules(&config);
    draw_sending(&config);
    draw_corruption(&config);
    return config;
}

void scenario_config_hide(scenario_config* config, bool is_from_others) {
    config->is_wild = true;
    config->grants = is_from_others ? 2 : 0;
    if (!is_from_others) return;
    config->rules |= SWARM_GRANTS;
    // The other clients would learn of its silence.
    config->cut_tick = config->cut_ticks = 0;
    if (config->clients < 2) config->clients = 2;
}
