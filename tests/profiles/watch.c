// SPDX-License-Identifier: MIT
#include "watch.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void watch_fail(watch* at, const char* format, ...) {
    if (at->failure[0]) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(at->failure, sizeof at->failure, format, arguments);
    va_end(arguments);
}

// ---- ages

static void add_age(watch_ages* to, uint64_t ticks) {
    uint32_t age = ticks < WATCH_AGE_MAX ? (uint32_t)ticks : WATCH_AGE_MAX;
    to->of[age]++;
    to->count++;
    if (age > to->max) to->max = age;
}

static double ms_of(uint64_t ticks) {
    return (double)(ticks * HOUSE_TICK_US) * 1e-3;
}

double watch_quantile(const watch_ages* ages, double share) {
    if (share >= 1) return ms_of(ages->max);
    uint64_t below = 0;
    for (uint32_t age = 0; age <= WATCH_AGE_MAX; age++) {
        below += ages->of[age];
        if ((double)below >= share * (double)ages->count) return ms_of(age);
    }
    return ms_of(ages->max);
}

// ---- rows

static void record_rows(watch* at, house* of) {
    ecs_world* world = net_match_world(of->match);
    const net_schema* schema = net_match_schema(of->match);
    watch_tick* now = &at->ticks[net_match_tick(of->match) % WATCH_TICKS];
    now->tick = net_match_tick(of->match);
    now->count = 0;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        uint64_t hash = net_world_digest_row_hash(schema, world, entity);
        if (hash == 0) continue;
        BASE_ASSERT(now->count < WATCH_ROWS_MAX);
        now->notes[now->count++] = (watch_note){entity, hash};
    }
}

static const watch_note* find_note(const watch_tick* in, ecs_entity entity) {
    uint32_t low = 0, high = in->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ecs_entity_index(in->notes[middle].entity) < ecs_entity_index(entity))
            low = middle + 1;
        else
            high = middle;
    }
    return low < in->count && in->notes[low].entity == entity ? &in->notes[low] : NULL;
}

void watch_row(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
               uint64_t row_hash) {
    guest* one = context;
    watch* at = one->house->watch;
    one->number = client;
    at->rows++;
    const uint64_t all[] = {at->hash, client, entity, tick, row_hash};
    at->hash = base_hash64(all, sizeof all, 0);
    const watch_tick* then = &at->ticks[tick % WATCH_TICKS];
    const watch_note* note = then->tick == tick ? find_note(then, entity) : NULL;
    if (note && note->hash == row_hash) return;
    at->mismatches++;
    watch_fail(at, "client %" PRIu32 ": entity %" PRIu32 " of tick %" PRIu64 " is not the server's",
               client, ecs_entity_index(entity), tick);
}

// ---- events

static void fail_event(watch* at, const char* what, const guest* one) {
    at->event_faults++;
    watch_fail(at, "client %" PRIu32 ": %s", one->number, what);
}

void watch_server(watch* at, house* of) {
    record_rows(at, of);
    const swarm_context* context = net_match_context(of->match);
    while (at->pings < context->pings_raised)
        at->ping_us[++at->pings % WATCH_PINGS] = of->now_us;
    if (context->shout_faults) {
        at->event_faults++;
        watch_fail(at, "the server missed or doubled a shout");
    }
    const ecs_world* world = net_match_world(of->match);
    for (uint32_t i = 0; i < HOUSE_GUESTS_MAX; i++) {
        guest* one = &of->guests[i];
        ecs_entity player = one->client ? net_client_player(one->client) : ECS_ENTITY_NONE;
        const uint32_t* shouts = player ? ecs_find(world, player, context->shouts) : NULL;
        while (shouts && one->shouts_seen < *shouts && one->shouts_seen < one->shouts) {
            uint64_t sent_us = one->shout_us[++one->shouts_seen % HOUSE_SHOUTS_KEPT];
            if (at->is_sampling && !one->is_cut)
                add_age(&at->events, (of->now_us - sent_us) / HOUSE_TICK_US);
        }
    }
}

static void watch_pings(watch* at, guest* one) {
    const swarm_context* context = net_match_context(one->match);
    if (context->ping_faults) fail_event(at, "missed or doubled a ping", one);
    // The first ping of a guest is whichever was raised after it came.
    if (one->ping_seen == 0 && context->ping_last) one->ping_seen = context->ping_last - 1;
    while (one->ping_seen < context->ping_last) {
        uint64_t raised_us = at->ping_us[++one->ping_seen % WATCH_PINGS];
        if (at->is_sampling && !one->is_cut)
            add_age(&at->events, (one->house->now_us - raised_us) / HOUSE_TICK_US);
    }
}

void watch_guest(watch* at, guest* one) {
    watch_pings(at, one);
    const net_client* client = one->client;
    if (!at->is_sampling || one->is_cut || net_client_tick_newest(client) == 0) return;
    ecs_tick now = net_match_tick(one->house->match), newest = net_client_tick_newest(client);
    add_age(&at->states, now > newest ? now - newest : 0);
}

bool watch_has_all_events(const watch* at, const house* of) {
    for (uint32_t i = 0; i < HOUSE_GUESTS_MAX; i++) {
        const guest* one = &of->guests[i];
        if (!one->client) continue;
        if (one->ping_seen != 0 && one->ping_seen != at->pings) return false;
        if (one->shouts_seen != one->shouts) return false;
    }
    return true;
}

bool watch_is_equal(house* of) {
    net_world_digest real = net_server_scope(of->server, 0, NULL, NULL);
    for (uint32_t i = 0; i < HOUSE_GUESTS_MAX; i++) {
        guest* one = &of->guests[i];
        if (!one->client) continue;
        net_client_report report = net_client_get_report(one->client);
        if (report.scope.hash != real.hash || report.scope.entities != real.entities) return false;
    }
    return true;
}
