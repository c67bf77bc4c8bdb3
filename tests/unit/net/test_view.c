// SPDX-License-Identifier: MIT
#include "view.h"

#include "repl_world.h"

typedef struct fixture {
    repl_side server, client;
    net_history* history;
    net_view* view;
    net_mirror* mirror;
    ecs_tick tick;
    uint16_t seq;
    uint8_t body[1200];
    size_t size;
} fixture;

static void open(fixture* f) {
    memset(f, 0, sizeof *f);
    f->seq = 65534; // wraps soon
    repl_open(&f->server, false, 4000);
    repl_open(&f->client, true, 4000);
    assert_int_equal(net_history_create(NULL, f->server.rows, 4000, &f->history), NET_OK);
    assert_int_equal(net_view_create(NULL, f->history, &f->view), NET_OK);
    net_mirror_config config = {
        .world = f->client.world, .rows = f->client.rows, .index_max = 4000};
    assert_int_equal(net_mirror_create(&config, &f->mirror), NET_OK);
}

static void close_all(fixture* f) {
    net_mirror_destroy(f->mirror);
    net_view_destroy(f->view);
    net_history_destroy(f->history);
    repl_close(&f->server);
    repl_close(&f->client);
}

static void step(fixture* f) {
    repl_step(&f->server, f->history, ++f->tick);
    assert_int_equal(net_view_follow(f->view), NET_OK);
}

// Write one packet; returns its seq.
static uint16_t write_body(fixture* f, size_t capacity) {
    uint16_t seq = f->seq++;
    assert_int_equal(net_view_write(f->view, seq, f->body, capacity, &f->size), NET_OK);
    return seq;
}

// Step, write, deliver, acknowledge.
static void exchange(fixture* f) {
    step(f);
    uint16_t seq = write_body(f, sizeof f->body);
    assert_int_equal(net_mirror_read(f->mirror, f->tick, f->body, f->size, NULL), NET_OK);
    assert_true(net_view_acked(f->view, seq));
}

static const net_view_counters* counters(const fixture* f) {
    return net_view_get_counters(f->view);
}

static void nothing_waiting_gives_an_empty_body(void** state) {
    (void)state;
    fixture f;
    open(&f);
    step(&f);
    assert_false(net_view_has_pending(f.view));
    (void)write_body(&f, sizeof f.body);
    assert_int_equal(f.size, 0);
    assert_true(net_view_is_settled(f.view));
    close_all(&f);
}

static void a_create_is_repeated_after_loss_until_one_is_acknowledged(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    step(&f);
    uint16_t first = write_body(&f, sizeof f.body);
    assert_false(net_view_has_pending(f.view));
    assert_false(net_view_is_settled(f.view));
    assert_true(net_view_lost(f.view, first));
    assert_true(net_view_has_pending(f.view));
    step(&f);
    uint16_t second = write_body(&f, sizeof f.body);
    assert_int_equal(counters(&f)->records_create, 2);
    repl_move(&f.server, ball, 9, 9);
    step(&f);
    uint16_t third = write_body(&f, sizeof f.body); // still a create: none is acknowledged
    assert_int_equal(counters(&f)->records_create, 3);
    assert_true(net_view_acked(f.view, second));
    assert_false(net_view_is_settled(f.view));
    assert_true(net_view_acked(f.view, third));
    assert_true(net_view_is_settled(f.view));
    close_all(&f);
}

// S5.9
static void only_the_loss_of_the_newest_send_makes_it_wait_again(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_move(&f.server, ball, 3, 3);
    step(&f);
    uint16_t old = write_body(&f, sizeof f.body);
    repl_move(&f.server, ball, 4, 4);
    step(&f);
    uint16_t newest = write_body(&f, sizeof f.body);
    assert_true(net_view_lost(f.view, old));
    assert_false(net_view_has_pending(f.view));
    assert_true(net_view_lost(f.view, newest));
    assert_true(net_view_has_pending(f.view));
    assert_true(net_view_lost(f.view, newest)); // idempotent
    // A late acknowledgement after all: nothing is missing any more.
    assert_true(net_view_acked(f.view, newest));
    assert_true(net_view_is_settled(f.view));
    step(&f);
    (void)write_body(&f, sizeof f.body);
    assert_int_equal(f.size, 0);
    assert_false(net_view_has_pending(f.view));
    close_all(&f);
}

static void acknowledgements_are_idempotent_and_forged_ones_refused(void** state) {
    (void)state;
    fixture f;
    open(&f);
    assert_false(net_view_acked(f.view, 5));
    (void)repl_create(&f.server, f.server.mover);
    exchange(&f);
    net_view_counters before = *counters(&f);
    assert_true(net_view_acked(f.view, 65534));
    assert_true(net_view_lost(f.view, 65534)); // it is acknowledged: no loss
    assert_memory_equal(&before, counters(&f), sizeof before);
    assert_false(net_view_acked(f.view, f.seq));
    assert_false(net_view_acked(f.view, 65533));
    assert_false(net_view_lost(f.view, 30000));
    assert_int_equal(counters(&f)->acks_forged, 4);
    close_all(&f);
}

static void an_entity_that_slept_long_wakes_with_a_settled_base(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    for (uint32_t i = 1; i < NET_BASE_AGE_MAX; i++)
        exchange(&f);
    repl_move(&f.server, ball, 2, 2);
    exchange(&f); // age 254
    assert_int_equal(counters(&f)->records_update, 1);
    assert_int_equal(counters(&f)->records_settled, 0);
    for (uint32_t i = 1; i < NET_BASE_AGE_MAX + 1; i++)
        exchange(&f);
    repl_move(&f.server, ball, 3, 3);
    exchange(&f); // age 255
    assert_int_equal(counters(&f)->records_settled, 1);
    for (uint32_t i = 0; i < 1000; i++)
        exchange(&f);
    repl_move(&f.server, ball, 4, 4);
    exchange(&f);
    assert_int_equal(counters(&f)->records_settled, 2);
    assert_int_equal(counters(&f)->records_absolute, 0);
    assert_true(repl_scope(&f.client) == repl_scope(&f.server));
    close_all(&f);
}

static void a_settled_base_is_not_used_when_something_was_sent_since(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_move(&f.server, ball, 2, 2);
    step(&f);
    uint16_t unknown = write_body(&f, sizeof f.body); // arrives, but nobody says so
    assert_int_equal(net_mirror_read(f.mirror, f.tick, f.body, f.size, NULL), NET_OK);
    for (uint32_t i = 0; i < 200; i++) {
        step(&f);
        (void)write_body(&f, sizeof f.body);
    }
    for (uint32_t i = 0; i < 100; i++)
        step(&f);
    (void)unknown;
    repl_move(&f.server, ball, 3, 3);
    exchange(&f);
    assert_int_equal(counters(&f)->records_settled, 0);
    assert_int_equal(counters(&f)->records_absolute, 1);
    assert_true(repl_scope(&f.client) == repl_scope(&f.server));
    close_all(&f);
}

static void after_63_unacknowledged_sends_rows_are_absolute(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    for (uint32_t i = 1; i <= NET_ROW_HISTORY_MAX + 4; i++) {
        repl_move(&f.server, ball, (float)i, 5);
        step(&f);
        (void)write_body(&f, sizeof f.body);
        assert_int_equal(net_mirror_read(f.mirror, f.tick, f.body, f.size, NULL), NET_OK);
        // The server's ring forgets the row of tick 1 with the 64th change after it.
        uint64_t expected = i < NET_ROW_HISTORY_MAX ? 0 : i - NET_ROW_HISTORY_MAX + 1;
        assert_int_equal(counters(&f)->records_absolute, expected);
    }
    assert_true(repl_scope(&f.client) == repl_scope(&f.server));
    close_all(&f);
}

static void a_full_packet_ring_takes_its_oldest_as_lost(void** state) {
    (void)state;
    fixture f;
    open(&f);
    (void)repl_create(&f.server, f.server.mover);
    for (uint32_t i = 0; i < NET_PACKETS_IN_FLIGHT_MAX; i++) {
        step(&f);
        (void)write_body(&f, sizeof f.body);
        assert_int_equal(counters(&f)->records_create, 1);
    }
    step(&f);
    (void)write_body(&f, sizeof f.body);
    assert_int_equal(counters(&f)->records_create, 2);
    assert_int_equal(counters(&f)->packets_lost, 1);
    assert_false(net_view_acked(f.view, 65534)); // forgotten, not forged
    assert_int_equal(counters(&f)->acks_forged, 0);
    close_all(&f);
}

static void a_destroy_is_repeated_until_acknowledged(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_destroy(&f.server, ball);
    step(&f);
    uint16_t first = write_body(&f, sizeof f.body);
    assert_true(net_view_lost(f.view, first));
    assert_false(net_view_is_settled(f.view));
    exchange(&f);
    assert_int_equal(counters(&f)->records_destroy, 2);
    assert_true(net_view_is_settled(f.view));
    assert_int_equal(ecs_world_entity_count(f.client.world), 0);
    close_all(&f);
}

static void what_was_never_sent_is_never_destroyed(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    step(&f);
    repl_destroy(&f.server, ball);
    exchange(&f);
    assert_int_equal(counters(&f)->records_destroy + counters(&f)->records_create, 0);
    assert_true(net_view_is_settled(f.view));
    close_all(&f);
}

static void a_recreation_is_sent_like_a_create_with_the_same_handle(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_become(&f.server, ball, f.server.mover_extra);
    exchange(&f);
    assert_int_equal(counters(&f)->records_create, 2);
    assert_true(ecs_is_alive(f.client.world, ball));
    assert_string_equal(ecs_entity_template_name(f.client.world, ball), "mover+extra");
    assert_true(repl_scope(&f.client) == repl_scope(&f.server));
    assert_int_equal(net_mirror_get_counters(f.mirror)->recreates, 1);
    close_all(&f);
}

static void everything_gets_through_a_small_packet_in_the_order_it_waits(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity entities[100];
    for (uint32_t i = 0; i < 100; i++)
        entities[i] = repl_create(&f.server, f.server.mover);
    // Somebody changes all the time; who waits longest goes first all the same.
    for (uint32_t round = 0; round < 200 && ecs_world_entity_count(f.client.world) < 100; round++) {
        for (uint32_t i = 0; i < 10; i++)
            repl_move(&f.server, entities[i], (float)round, 1);
        step(&f);
        uint16_t seq = write_body(&f, 40);
        assert_in_range(f.size, 1, 40);
        assert_int_equal(net_mirror_read(f.mirror, f.tick, f.body, f.size, NULL), NET_OK);
        assert_true(net_view_acked(f.view, seq));
    }
    assert_int_equal(ecs_world_entity_count(f.client.world), 100);
    close_all(&f);
}

static void a_body_fills_its_capacity_and_never_more(void** state) {
    (void)state;
    fixture f;
    open(&f);
    for (uint32_t i = 0; i < 2000; i++)
        repl_move(&f.server, repl_create(&f.server, f.server.mover), (float)(i % 500), 7);
    step(&f);
    for (size_t capacity = 0; capacity <= 1172; capacity += capacity < 30 ? 1 : 97) {
        uint16_t seq = write_body(&f, capacity);
        assert_in_range(f.size, 0, capacity);
        if (capacity > 100) assert_in_range(f.size, capacity - 16, capacity);
        assert_int_equal(net_mirror_read(f.mirror, f.tick, f.body, f.size, NULL), NET_OK);
        assert_true(net_view_acked(f.view, seq));
    }
    while (net_view_has_pending(f.view)) {
        uint16_t seq = write_body(&f, 1172);
        assert_int_equal(net_mirror_read(f.mirror, f.tick, f.body, f.size, NULL), NET_OK);
        assert_true(net_view_acked(f.view, seq));
    }
    assert_true(repl_scope(&f.client) == repl_scope(&f.server));
    close_all(&f);
}

static void a_view_that_joins_late_gets_everything(void** state) {
    (void)state;
    fixture f;
    open(&f);
    for (uint32_t i = 0; i < 5; i++)
        (void)repl_create(&f.server, f.server.holder);
    exchange(&f);
    net_view* late;
    assert_int_equal(net_view_create(NULL, f.history, &late), NET_OK);
    assert_int_equal(net_view_follow(late), NET_OK); // of the same step: knows it all
    assert_int_equal(net_view_write(late, 0, f.body, sizeof f.body, &f.size), NET_OK);
    assert_int_equal(net_view_get_counters(late)->records_create, 5);
    net_view_destroy(late);
    close_all(&f);
}

static void sequence_numbers_rise_by_one(void** state) {
    (void)state;
    fixture f;
    open(&f);
    step(&f);
    (void)write_body(&f, 100);
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure((void)!net_view_write(f.view, 7, f.body, 100, &f.size));
    base_assert_handler_set(NULL);
    close_all(&f);
}

typedef struct tally {
    uint64_t allocations;
} tally;

static void* tally_allocate(void* context, size_t size, size_t align) {
    ((tally*)context)->allocations++;
    const base_allocator* heap = base_allocator_heap();
    return heap->allocate(heap->context, size, align);
}

static void tally_release(void* context, void* memory, size_t size) {
    (void)context;
    const base_allocator* heap = base_allocator_heap();
    heap->release(heap->context, memory, size);
}

static void a_steady_tick_allocates_nothing(void** state) {
    (void)state;
    enum { ENTITIES = 60, WARM_TICKS = 400, TICKS = 700, LAG = 7 };
    tally t = {0};
    base_allocator allocator = {tally_allocate, tally_release, &t};
    repl_side server, client;
    repl_open(&server, false, 4000);
    repl_open(&client, true, 4000);
    net_history* history;
    net_view* view;
    net_mirror* mirror;
    assert_int_equal(net_history_create(&allocator, server.rows, 4000, &history), NET_OK);
    assert_int_equal(net_view_create(&allocator, history, &view), NET_OK);
    net_mirror_config config = {
        .allocator = &allocator, .world = client.world, .rows = client.rows, .index_max = 4000};
    assert_int_equal(net_mirror_create(&config, &mirror), NET_OK);
    ecs_entity entities[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; i++)
        entities[i] = repl_create(&server, server.mover);
    uint64_t warm = 0;
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        for (uint32_t i = 0; i < ENTITIES; i++)
            repl_move(&server, entities[i], (float)(tick % 900), (float)i);
        repl_step(&server, history, tick);
        assert_int_equal(net_view_follow(view), NET_OK);
        uint8_t body[1172];
        size_t size;
        assert_int_equal(net_view_write(view, (uint16_t)tick, body, sizeof body, &size), NET_OK);
        assert_int_equal(net_mirror_read(mirror, tick, body, size, NULL), NET_OK);
        ecs_changes_clear(client.world);
        if (tick > LAG) assert_true(net_view_acked(view, (uint16_t)(tick - LAG)));
        if (tick == WARM_TICKS) warm = t.allocations;
    }
    assert_true(warm > 0);
    assert_int_equal(t.allocations, warm);
    net_mirror_destroy(mirror);
    net_view_destroy(view);
    net_history_destroy(history);
    repl_close(&server);
    repl_close(&client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_waiting_gives_an_empty_body),
        TEST(a_create_is_repeated_after_loss_until_one_is_acknowledged),
        TEST(only_the_loss_of_the_newest_send_makes_it_wait_again),
        TEST(acknowledgements_are_idempotent_and_forged_ones_refused),
        TEST(an_entity_that_slept_long_wakes_with_a_settled_base),
        TEST(a_settled_base_is_not_used_when_something_was_sent_since),
        TEST(after_63_unacknowledged_sends_rows_are_absolute),
        TEST(a_full_packet_ring_takes_its_oldest_as_lost),
        TEST(a_destroy_is_repeated_until_acknowledged),
        TEST(what_was_never_sent_is_never_destroyed),
        TEST(a_recreation_is_sent_like_a_create_with_the_same_handle),
        TEST(everything_gets_through_a_small_packet_in_the_order_it_waits),
        TEST(a_body_fills_its_capacity_and_never_more),
        TEST(a_view_that_joins_late_gets_everything),
        TEST(sequence_numbers_rise_by_one),
        TEST(a_steady_tick_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
