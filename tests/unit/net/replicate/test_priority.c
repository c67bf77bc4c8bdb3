// SPDX-License-Identifier: MIT
#include "repl_state_world.h"

#include "base/rng.h"

// So many that they are not looked at one by one.
enum { MANY = 1500 };

typedef struct crowd {
    view_world w;
    ecs_entity entities[MANY];
    uint32_t count;
} crowd;

static void open_crowd(crowd* c, uint32_t count) {
    view_open(&c->w);
    c->count = count;
    repl_create_many(&c->w.server, c->w.server.mover, c->entities, count);
    view_exchanges(&c->w, 40);
    assert_true(net_repl_state_is_settled(c->w.repl));
}

static void move_all(crowd* c, base_rng* rng) {
    for (uint32_t i = 0; i < c->count; i++)
        repl_move(&c->w.server, c->entities[i], base_rng_float(rng) * 900, base_rng_float(rng));
}

static ecs_tick client_tick(crowd* c, uint32_t i) {
    ecs_tick tick;
    assert_true(net_mirror_entity_tick(c->w.clients[0].mirror, c->entities[i], &tick));
    return tick;
}

static void send(crowd* c, uint32_t bits) {
    view_send_room(&c->w, 9376, bits);
}

#define CROWD_CASE(name, count) CASE_WITH(crowd, c, open_crowd(c, count), view_close(&c->w), name)

CROWD_CASE(the_budget_is_kept_unless_nothing_fits_it, 100) {
    base_rng rng = base_rng_make(3, 1);
    for (uint32_t tick = 0; tick < 400; tick++) {
        uint32_t bits = base_rng_below(&rng, 3000);
        move_all(c, &rng);
        view_step(&c->w);
        send(c, bits);
        assert_true(c->w.clients[0].records > 0); // the entity that waits longest is always taken
        if (c->w.clients[0].records > 1) assert_true(c->w.clients[0].bits <= bits);
        if (bits > 300) assert_in_range(c->w.clients[0].bits, bits - 160, bits);
    }
}

CROWD_CASE(without_room_nothing_is_written_and_all_keeps_waiting, 10) {
    base_rng rng = base_rng_make(3, 1);
    move_all(c, &rng);
    view_step(&c->w);
    view_write_room(&c->w, 0, (net_repl_state_room){.hard = 0, .soft = 0});
    assert_int_equal(c->w.clients[0].records, 0);
    view_ack(&c->w, 0);
    assert_true(net_repl_state_has_pending(c->w.repl));
    view_exchange(&c->w);
    assert_true(view_is_equal(&c->w, 0));
}

// One of five weighs eight times as much.
static void check_weights(crowd* c, uint32_t bits, uint32_t ticks) {
    uint32_t heavy_count = c->count / 5;
    for (uint32_t i = 0; i < c->count; i++)
        view_scope(&c->w, 0, c->entities[i])->weight = i < heavy_count ? 64 : 8;
    base_rng rng = base_rng_make(4, 1);
    uint64_t sends[2] = {0, 0};
    for (uint32_t tick = 0; tick < ticks; tick++) {
        move_all(c, &rng);
        view_step(&c->w);
        send(c, bits);
        for (uint32_t i = 0; i < c->count; i++)
            sends[i >= heavy_count] += client_tick(c, i) == c->w.tick;
    }
    double heavy = (double)sends[0] / heavy_count,
           light = (double)sends[1] / (c->count - heavy_count);
    assert_true(light > ticks / 80.0); // no entity starves
    assert_true(heavy > 3 * light);
}

CROWD_CASE(who_weighs_more_is_sent_more_often, 100) {
    check_weights(c, 800, 600);
}

CROWD_CASE(of_very_many_who_weighs_more_is_sent_more_often, MANY) {
    check_weights(c, 9000, 160);
}

static void count_sends(crowd* c, uint32_t bits, uint32_t ticks, uint32_t* low, uint32_t* high) {
    base_rng rng = base_rng_make(5, 1);
    uint32_t sends[MANY] = {0};
    for (uint32_t tick = 0; tick < ticks; tick++) {
        move_all(c, &rng);
        view_step(&c->w);
        send(c, bits);
        for (uint32_t i = 0; i < c->count; i++)
            sends[i] += client_tick(c, i) == c->w.tick;
    }
    *low = UINT32_MAX;
    *high = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        if (sends[i] < *low) *low = sends[i];
        if (sends[i] > *high) *high = sends[i];
    }
}

CROWD_CASE(equal_weights_are_sent_equally_often, 100) {
    uint32_t low, high;
    count_sends(c, 800, 600, &low, &high);
    assert_true(high <= low + low / 4 + 2);
}

CROWD_CASE(of_very_many_nobody_is_sent_half_as_often_as_another, MANY) {
    uint32_t low, high;
    count_sends(c, 9000, 160, &low, &high);
    assert_true(low >= 160 / 8); // all that moves is sent within 5 ticks on average
    assert_true(high < 2 * low);
}

// For all weights, an entity is sent within the time that all waiting entities need, and 64 ticks.
static void check_waits(uint32_t count, uint32_t ticks) {
    enum { BUDGET = 500 };
    crowd c;
    open_crowd(&c, count);
    base_rng rng = base_rng_make(6, 1);
    for (uint32_t i = 0; i < count; i++) // one of ten may wait for ever
        view_scope(&c.w, 0, c.entities[i])->weight = i % 10 ? NET_WEIGHT_MAX : 1;
    ecs_tick waits_since[MANY] = {0}, longest = 0;
    uint64_t bits = 0, records = 0;
    for (uint32_t tick = 0; tick < ticks; tick++) {
        move_all(&c, &rng);
        view_step(&c.w);
        for (uint32_t i = 0; i < count; i++)
            if (waits_since[i] == 0) waits_since[i] = c.w.tick;
        send(&c, BUDGET);
        bits += c.w.clients[0].bits;
        records += c.w.clients[0].records;
        for (uint32_t i = 0; i < count; i++) {
            ecs_tick wait = c.w.tick - waits_since[i];
            if (wait > longest) longest = wait;
            if (client_tick(&c, i) == c.w.tick) waits_since[i] = 0;
        }
    }
    uint64_t all = bits / records * count; // of all waiting entities
    assert_in_range(longest, 1, all / (BUDGET - 160) + 1 + 64);
    view_close(&c.w);
}

CASE(nobody_waits_longer_than_all_that_waits_takes) {
    check_waits(300, 900);
}

CASE(of_very_many_nobody_waits_longer_than_all_that_waits_takes) {
    check_waits(MANY, 500);
}

CROWD_CASE(creates_and_destroys_have_their_share_beside_urgent_changes, 200) {
    base_rng rng = base_rng_make(7, 1);
    for (uint32_t i = 0; i < 200; i++)
        view_scope(&c->w, 0, c->entities[i])->weight = NET_WEIGHT_MAX;
    for (uint32_t tick = 0; tick < 40; tick++) { // so that changes wait with their full weight
        move_all(c, &rng);
        view_step(&c->w);
        send(c, 1000);
    }
    ecs_entity made[100];
    repl_create_many(&c->w.server, c->w.server.mover, made, 100);
    for (uint32_t i = 0; i < 100; i++)
        view_scope(&c->w, 0, made[i])->weight = 1;
    uint64_t creates = view_counters(&c->w)->records_create;
    for (uint32_t tick = 0; tick < 8; tick++) {
        move_all(c, &rng);
        view_step(&c->w);
        send(c, 2000);
        uint64_t more = view_counters(&c->w)->records_create - creates;
        creates += more;
        assert_true(more >= 3);                           // about 60 bits each, of 500
        assert_true(c->w.clients[0].records >= more + 3); // and the changes take the rest
    }
    for (uint32_t i = 0; i < 100; i++)
        repl_destroy(&c->w.server, c->entities[i]);
    for (uint32_t i = 0; i < 100; i++)
        c->entities[i] = c->entities[i + 100];
    c->count = 100;
    uint64_t destroys = view_counters(&c->w)->records_destroy;
    view_step(&c->w);
    send(c, 2000);
    assert_true(view_counters(&c->w)->records_destroy - destroys >= 20);
}

CROWD_CASE(a_change_while_waiting_makes_more_urgent, 60) {
    base_rng rng = base_rng_make(8, 1);
    // All entities wait. Half of them change again and again.
    move_all(c, &rng);
    view_step(&c->w);
    view_send_room(&c->w, 0, 0);
    for (uint32_t tick = 0; tick < 10; tick++) {
        for (uint32_t i = 0; i < 60; i += 2)
            repl_move(&c->w.server, c->entities[i], base_rng_float(&rng) * 900, 3);
        view_step(&c->w);
        view_send_room(&c->w, 0, 0);
    }
    view_step(&c->w);
    send(c, 700);
    uint32_t restless = 0, quiet = 0;
    for (uint32_t i = 0; i < 60; i++) {
        bool is_sent = client_tick(c, i) == c->w.tick;
        restless += is_sent && i % 2 == 0;
        quiet += is_sent && i % 2;
    }
    assert_true(restless > 3);
    assert_int_equal(quiet, 0);
}

CROWD_CASE(priority_saturates_and_waits_on, 20) {
    base_rng rng = base_rng_make(9, 1);
    for (uint32_t i = 0; i < 20; i++)
        view_scope(&c->w, 0, c->entities[i])->weight = NET_WEIGHT_MAX;
    for (uint32_t tick = 0; tick < 500; tick++) {
        move_all(c, &rng);
        view_step(&c->w);
        view_send_room(&c->w, 0, 0);
    }
    view_exchange(&c->w);
    assert_true(view_is_equal(&c->w, 0));
}
