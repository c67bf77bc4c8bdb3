// SPDX-License-Identifier: MIT
#include "repl_state_world.h"

// So many that they are not looked at one by one.
enum { MANY = 1500 };

typedef struct crowd {
    view_world w;
    view_client* client;
    base_rng rng;
    ecs_entity entities[MANY];
    uint32_t count;
    uint32_t sends[MANY]; ///< of each entity
} crowd;

static void weigh(crowd* c, const ecs_entity* entities, uint32_t count, uint16_t weight) {
    for (uint32_t i = 0; i < count; i++)
        view_scope(&c->w, 0, entities[i])->weight = weight;
}

static void open_crowd(crowd* c, uint32_t count) {
    view_open(&c->w);
    c->client = &c->w.clients[0];
    c->rng = base_rng_make(3, 1);
    c->count = count;
    memset(c->sends, 0, sizeof c->sends);
    repl_create_many(&c->w.server, c->w.server.mover, c->entities, count);
    view_exchanges(&c->w, 40);
    assert_true(net_repl_state_is_settled(c->w.repl));
}

static ecs_tick client_tick(crowd* c, uint32_t i) {
    ecs_tick tick;
    assert_true(net_mirror_entity_tick(c->client->mirror, c->entities[i], &tick));
    return tick;
}

static void send(crowd* c, uint32_t bits) {
    view_send_room(&c->w, 9376, bits);
}

static void move_all(crowd* c) {
    for (uint32_t i = 0; i < c->count; i++)
        repl_move(&c->w.server, c->entities[i], base_rng_float(&c->rng) * 900,
                  base_rng_float(&c->rng));
    view_step(&c->w);
}

// All move in each tick, which may take this many bits.
static void run(crowd* c, uint32_t bits, uint32_t ticks) {
    for (uint32_t tick = 0; tick < ticks; tick++) {
        move_all(c);
        send(c, bits);
        for (uint32_t i = 0; i < c->count; i++)
            c->sends[i] += client_tick(c, i) == c->w.tick;
    }
}

#define CROWD_CASE(name, count) CASE_WITH(crowd, c, open_crowd(c, count), view_close(&c->w), name)

static const struct { uint32_t count, bits, ticks; } sizes[] = {{100, 800, 600}, {MANY, 9000, 160}};

// One of five weighs eight times as much.
CASE_ROWS(crowd, c, open_crowd(c, sizes[k].count), view_close(&c->w), k, BASE_COUNT(sizes),
          who_weighs_more_is_sent_more_often) {
    const uint32_t heavy_count = c->count / 5;
    weigh(c, c->entities, heavy_count, 64);
    run(c, sizes[k].bits, sizes[k].ticks);
    uint64_t sends[2] = {0, 0};
    for (uint32_t i = 0; i < c->count; i++)
        sends[i >= heavy_count] += c->sends[i];
    double heavy = (double)sends[0] / heavy_count,
           light = (double)sends[1] / (c->count - heavy_count);
    assert_true(light > sizes[k].ticks / 80.0); // no entity starves
    assert_true(heavy > 3 * light);
}

CASE_ROWS(crowd, c, open_crowd(c, sizes[k].count), view_close(&c->w), k, BASE_COUNT(sizes),
          equal_weights_are_sent_equally_often) {
    uint32_t low = UINT32_MAX, high = 0;
    run(c, sizes[k].bits, sizes[k].ticks);
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->sends[i] < low) low = c->sends[i];
        if (c->sends[i] > high) high = c->sends[i];
    }
    assert_true(low >= sizes[k].ticks / 8); // all that moves is sent within 5 ticks on average
    // In the larger crowd none is sent half as often as another one.
    assert_true(c->count < MANY ? high <= low + low / 4 + 2 : high < 2 * low);
}

enum { BUDGET = 500 };
static const uint32_t rows[][2] = {{300, 900}, {MANY, 500}}; // entities, ticks

// For all weights, an entity is sent within the time that all waiting entities need, and 64 ticks.
CASE_ROWS(crowd, c, open_crowd(c, rows[k][0]), view_close(&c->w), k, BASE_COUNT(rows),
          nobody_waits_longer_than_all_that_waits_takes) {
    weigh(c, c->entities, c->count, NET_WEIGHT_MAX);
    for (uint32_t i = 0; i < c->count; i += 10) // one of ten may wait for ever
        weigh(c, &c->entities[i], 1, 1);
    ecs_tick sent[MANY], longest = 0;
    for (uint32_t i = 0; i < c->count; i++)
        sent[i] = c->w.tick;
    uint64_t bits = 0, records = 0;
    for (uint32_t tick = 0; tick < rows[k][1]; tick++) {
        move_all(c);
        send(c, BUDGET);
        bits += c->client->bits;
        records += c->client->records;
        for (uint32_t i = 0; i < c->count; i++) {
            ecs_tick wait = c->w.tick - sent[i] - 1;
            if (wait > longest) longest = wait;
            if (client_tick(c, i) == c->w.tick) sent[i] = c->w.tick;
        }
    }
    uint64_t all = bits / records * c->count; // of all waiting entities
    assert_in_range(longest, 1, all / (BUDGET - 160) + 1 + 64);
}

CROWD_CASE(priority_saturates_and_waits_on, 20) {
    weigh(c, c->entities, 20, NET_WEIGHT_MAX);
    for (uint32_t tick = 0; tick < 500; tick++) {
        move_all(c);
        view_send_room(&c->w, 0, 0);
    }
    view_exchange(&c->w);
    assert_true(view_is_equal(&c->w, 0));
}
