// SPDX-License-Identifier: MIT
// Counts received bytes by kind: snapshots by component (net_client_component_bits), and four other
// kinds. Together they are all bytes of the datagrams, so the sum of the table equals the value of
// the plot.
#include "feed.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/match.h"

#define WARM_SAMPLES 30u ///< until the rate of ticks is known
#define SMOOTH 0.15f     ///< weight of the newest tenth of a second in a rate

typedef enum feed_other {
    OTHER_RECORDS,
    OTHER_EVENTS,
    OTHER_CONTROL,
    OTHER_HEADERS,
    OTHER_COUNT,
} feed_other;

static const char* const other_names[OTHER_COUNT] = {"(handles, masks)", "(events)", "(channel 0)",
                                                     "(packet headers)"};

BASE_STATIC_ASSERT(CLIENT_FEED_COMPONENTS_MAX + OTHER_COUNT == CLIENT_FEED_RATES_MAX,
                   "a rate for each component and each other kind");

static void see_rate(client_feed* feed, uint32_t which, uint64_t bits, float seconds) {
    BASE_ASSERT(which < CLIENT_FEED_RATES_MAX && seconds > 0.0f);
    // A counter that is smaller than before belongs to a new session.
    uint64_t more = bits >= feed->counts[which] ? bits - feed->counts[which] : 0;
    feed->counts[which] = bits;
    feed->rates[which] += ((float)more / 8.0f / seconds - feed->rates[which]) * SMOOTH;
}

static void see_parts(client_feed* feed, const net_client_meter* meter,
                      const client_feed_sources* sources, float seconds) {
    uint64_t rest = meter->in_bytes * 8;
    uint64_t known = meter->body_bits + (meter->event_bytes + meter->control_bytes) * 8;
    const uint64_t others[OTHER_COUNT] = {
        [OTHER_RECORDS] = meter->record_bits,
        [OTHER_EVENTS] = meter->event_bytes * 8,
        [OTHER_CONTROL] = meter->control_bytes * 8,
        [OTHER_HEADERS] = rest > known ? rest - known : 0,
    };
    const uint32_t count = ecs_component_count(net_match_world(sources->mirror));
    for (uint32_t id = 1; id <= count && id < CLIENT_FEED_COMPONENTS_MAX; id++)
        see_rate(feed, id, net_client_component_bits(sources->client, (ecs_component_id)id),
                 seconds);
    for (uint32_t i = 0; i < OTHER_COUNT; i++)
        see_rate(feed, CLIENT_FEED_COMPONENTS_MAX + i, others[i], seconds);
}

static const char* name_of(const client_feed_sources* sources, uint32_t which) {
    if (which >= CLIENT_FEED_COMPONENTS_MAX) return other_names[which - CLIENT_FEED_COMPONENTS_MAX];
    const ecs_component* component =
        ecs_component_get(net_match_world(sources->mirror), (ecs_component_id)which);
    return component ? component->name : "?";
}

// Sort the parts: the largest first, equal ones by number.
static void rank_parts(const client_feed* feed, const client_feed_sources* sources,
                       client_panel_facts* facts) {
    bool is_taken[CLIENT_FEED_RATES_MAX] = {false};
    facts->part_count = 0;
    facts->parts_bytes_s = 0.0f;
    for (uint32_t i = 0; i < CLIENT_FEED_RATES_MAX; i++)
        facts->parts_bytes_s += feed->rates[i];
    for (uint32_t row = 0; row < CLIENT_PANEL_PARTS; row++) {
        uint32_t best = CLIENT_FEED_RATES_MAX;
        for (uint32_t i = 0; i < CLIENT_FEED_RATES_MAX; i++) {
            if (is_taken[i] || feed->rates[i] < 0.05f) continue;
            if (best == CLIENT_FEED_RATES_MAX || feed->rates[i] > feed->rates[best]) best = i;
        }
        if (best == CLIENT_FEED_RATES_MAX) return;
        is_taken[best] = true;
        client_panel_part* part = &facts->parts[facts->part_count++];
        (void)base_text_copy(part->name, sizeof part->name, name_of(sources, best));
        part->bytes_s = feed->rates[best];
    }
}

// Rates are smoothed over about a second: one late packet is no fault of a server.
static void write_advice(client_feed* feed, const net_client_meter* meter,
                         const net_presenter_meter* view, const client_feed_sources* sources,
                         client_panel* panel, float seconds) {
    const ecs_tick tick = net_client_tick_newest(sources->client);
    const bool is_same = tick >= feed->tick && view->corrections_seen >= feed->corrections;
    if (seconds > 0.0f && is_same && feed->tick > 0) {
        feed->ticks_s += ((float)(tick - feed->tick) / seconds - feed->ticks_s) * SMOOTH;
        feed->corrections_s +=
            ((float)(view->corrections_seen - feed->corrections) / seconds - feed->corrections_s) *
            SMOOTH;
        if (feed->warm < WARM_SAMPLES) feed->warm++;
    }
    feed->tick = tick;
    feed->corrections = view->corrections_seen;
    const client_advice_facts facts = {
        .loss_percent = meter->loss_percent,
        .frame_ms = (double)panel->facts.frames.us_p50 / 1000.0,
        .view_ms = view->delay_ms,
        .rtt_ms = meter->rtt_ms,
        .ticks_s = feed->warm < WARM_SAMPLES ? 0.0 : (double)feed->ticks_s,
        .rate_hz = 1.0 / (double)net_match_dt(sources->mirror),
        .corrections_s = (double)feed->corrections_s,
        .is_local = sources->is_local,
    };
    panel->facts.is_bad =
        client_advice_write(&facts, panel->facts.advice, sizeof panel->facts.advice);
}

static float rate_kb(uint64_t now, uint64_t last, float seconds) {
    return now >= last ? (float)(now - last) / 1000.0f / seconds : 0.0f;
}

void client_feed_service(client_feed* feed, uint64_t now_us, const client_feed_sources* sources,
                         client_panel* panel) {
    BASE_ASSERT(now_us >= feed->last_us && sources->client && sources->presenter);
    if (now_us < feed->next_us) return;
    net_client_meter meter;
    net_presenter_meter view;
    net_client_get_meter(sources->client, &meter);
    net_presenter_get_meter(sources->presenter, &view);
    bool is_first = feed->last_us == 0;
    float seconds = (float)(now_us - feed->last_us) * 1e-6f;
    feed->next_us = now_us + 1000000u / CLIENT_PANEL_HZ;
    feed->last_us = now_us;
    if (!is_first && seconds > 0.0f) {
        client_panel_sample sample = {
            .values = {
                [CLIENT_PLOT_RTT] = (float)meter.rtt_ms,
                [CLIENT_PLOT_LOSS] = (float)meter.loss_percent,
                [CLIENT_PLOT_JITTER] = (float)meter.jitter_ms,
                [CLIENT_PLOT_DELAY] = (float)view.delay_ms,
                [CLIENT_PLOT_IN] = rate_kb(meter.in_bytes, panel->facts.meter.in_bytes, seconds),
                [CLIENT_PLOT_OUT] = rate_kb(meter.out_bytes, panel->facts.meter.out_bytes, seconds),
                [CLIENT_PLOT_LEAD] = (float)view.lead_ms,
            }};
        sample.values[CLIENT_PLOT_FRAME] =
            (float)client_window_get_frames(sources->window).us_last / 1000.0f;
        client_panel_add(panel, &sample);
        see_parts(feed, &meter, sources, seconds);
        rank_parts(feed, sources, &panel->facts);
    }
    const ecs_world* world = net_match_world(sources->mirror);
    panel->facts.tick = net_presenter_tick(sources->presenter);
    panel->facts.created = ecs_handle_count(world, ECS_STATE_CREATED);
    panel->facts.loading = ecs_handle_count(world, ECS_STATE_LOADING);
    panel->facts.allocated = ecs_handle_count(world, ECS_STATE_ALLOCATED);
    panel->facts.view = view;
    panel->facts.meter = meter;
    panel->facts.frames = client_window_get_frames(sources->window);
    write_advice(feed, &meter, &view, sources, panel, is_first ? 0.0f : seconds);
}
