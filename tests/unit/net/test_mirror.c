// SPDX-License-Identifier: MIT
#include "mirror.h"

#include "repl_world.h"

#include "base/hash.h"
#include "base/rng.h"
#include "mirror_body.h"

typedef struct packet {
    uint16_t seq;
    ecs_tick tick;
    size_t size;
    uint8_t body[1200];
} packet;

typedef struct fixture {
    repl_side server, client;
    net_history* history;
    net_view* view;
    net_mirror* mirror;
    ecs_tick tick;
    uint16_t seq;
    uint32_t traced;
    ecs_entity traced_entity;
    ecs_tick traced_tick;
    uint64_t traced_hash;
} fixture;

enum { INDEX_MAX = 2000 };

static void on_applied(void* context, ecs_entity entity, ecs_tick tick, uint64_t hash) {
    fixture* f = context;
    f->traced++;
    f->traced_entity = entity;
    f->traced_tick = tick;
    f->traced_hash = hash;
}

static void open(fixture* f) {
    memset(f, 0, sizeof *f);
    repl_open(&f->server, false, INDEX_MAX);
    repl_open(&f->client, true, INDEX_MAX);
    assert_int_equal(net_history_create(NULL, f->server.rows, INDEX_MAX, &f->history), NET_OK);
    assert_int_equal(net_view_create(NULL, f->history, &f->view), NET_OK);
    net_mirror_config config = {.world = f->client.world,
                                .rows = f->client.rows,
                                .index_max = INDEX_MAX,
                                .trace = on_applied,
                                .trace_context = f};
    assert_int_equal(net_mirror_create(&config, &f->mirror), NET_OK);
}

static void close_all(fixture* f) {
    net_mirror_destroy(f->mirror);
    assert_int_equal(ecs_handle_count(f->client.world, ECS_STATE_ALLOCATED), 0);
    net_view_destroy(f->view);
    net_history_destroy(f->history);
    repl_close(&f->server);
    repl_close(&f->client);
}

static packet step(fixture* f) {
    packet p = {.seq = f->seq++, .tick = ++f->tick};
    repl_step(&f->server, f->history, p.tick);
    assert_int_equal(net_view_follow(f->view), NET_OK);
    assert_int_equal(net_view_write(f->view, p.seq, p.body, sizeof p.body, &p.size), NET_OK);
    return p;
}

static net_result deliver(fixture* f, const packet* p) {
    net_result result = net_mirror_read(f->mirror, p->tick, p->body, p->size, NULL);
    if (result == NET_OK) assert_true(net_view_acked(f->view, p->seq));
    return result;
}

static void exchange(fixture* f) {
    packet p = step(f);
    assert_int_equal(deliver(f, &p), NET_OK);
}

static const net_mirror_counters* counters(const fixture* f) {
    return net_mirror_get_counters(f->mirror);
}

static void expect_equal_worlds(fixture* f) {
    assert_true(repl_scope(&f->client) == repl_scope(&f->server));
}

static void an_entity_is_made_changed_and_destroyed(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    repl_move(&f.server, ball, -3.5f, 900);
    exchange(&f);
    const ecs_vec2* pos = ecs_get(f.client.world, ball, f.client.pos);
    assert_true(pos->x == -3.5f && pos->y == 900.0f);
    // What is not replicated comes from the client's own template.
    assert_int_equal(*(const int32_t*)ecs_get(f.client.world, ball, f.client.secret), 7);
    repl_move(&f.server, ball, 4, 4);
    exchange(&f);
    expect_equal_worlds(&f);
    repl_destroy(&f.server, ball);
    exchange(&f);
    assert_false(ecs_is_alive(f.client.world, ball));
    assert_int_equal(ecs_world_counters(f.client.world)->bad_transitions, 0);
    close_all(&f);
}

static void each_applied_row_is_traced_with_its_hash(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.holder);
    exchange(&f);
    assert_int_equal(f.traced, 1);
    assert_int_equal(f.traced_entity, ball);
    assert_int_equal(f.traced_tick, 1);
    assert_true(f.traced_hash == net_scope_row_hash(f.server.schema, f.server.world, ball));
    ecs_tick tick;
    assert_true(net_mirror_entity_tick(f.mirror, ball, &tick));
    assert_int_equal(tick, 1);
    assert_false(net_mirror_entity_tick(f.mirror, ball + 1, &tick));
    close_all(&f);
}

static void a_doubled_packet_changes_nothing(void** state) {
    (void)state;
    fixture f;
    open(&f);
    (void)repl_create(&f.server, f.server.mover);
    packet p = step(&f);
    assert_int_equal(deliver(&f, &p), NET_OK);
    assert_int_equal(deliver(&f, &p), NET_OK);
    assert_int_equal(f.traced, 1);
    assert_int_equal(counters(&f)->stale_records, 1);
    close_all(&f);
}

typedef struct seen {
    uint32_t rows, ends;
    ecs_entity entity;
    ecs_tick tick;
    uint64_t hash;
} seen;

static void see_row(void* context, ecs_entity entity, const net_row_template* entry, ecs_tick tick,
                    const uint64_t* row) {
    seen* s = context;
    s->rows++;
    s->entity = entity;
    s->tick = tick;
    s->hash = net_row_hash(entry, row);
}

static void see_end(void* context, ecs_entity entity, ecs_tick tick) {
    seen* s = context;
    s->ends++;
    s->entity = entity;
    s->tick = tick;
}

static void the_sink_sees_late_rows_of_a_known_life_and_every_end(void** state) {
    (void)state;
    fixture f;
    open(&f);
    seen s = {0};
    f.mirror->sink = (net_mirror_sink){.context = &s, .row = see_row, .gone = see_end};
    ecs_entity mover = repl_create(&f.server, f.server.mover);
    packet first = step(&f);
    assert_int_equal(deliver(&f, &first), NET_OK);
    assert_int_equal(s.rows, 1);
    assert_int_equal(s.hash, f.traced_hash);
    repl_move(&f.server, mover, 10, 10);
    packet late = step(&f);
    repl_move(&f.server, mover, 20, 20);
    packet newer = step(&f);
    assert_int_equal(deliver(&f, &newer), NET_OK);
    assert_int_equal(deliver(&f, &late), NET_OK);
    assert_int_equal(f.traced, 2);
    assert_int_equal(s.rows, 3);
    assert_int_equal(s.entity, mover);
    assert_int_equal(s.tick, late.tick);
    repl_destroy(&f.server, mover);
    packet end = step(&f);
    assert_int_equal(deliver(&f, &end), NET_OK);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.tick, end.tick);
    // A row of a life that is over tells nothing.
    assert_int_equal(net_mirror_read(f.mirror, first.tick, first.body, first.size, NULL), NET_OK);
    assert_int_equal(s.rows, 3);
    close_all(&f);
}

static void a_late_row_is_kept_as_a_base_and_not_applied(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_move(&f.server, ball, 2, 2);
    packet late = step(&f);
    repl_move(&f.server, ball, 3, 3);
    packet newer = step(&f);
    assert_int_equal(net_mirror_read(f.mirror, newer.tick, newer.body, newer.size, NULL), NET_OK);
    net_mirror_result result;
    assert_int_equal(net_mirror_read(f.mirror, late.tick, late.body, late.size, &result), NET_OK);
    assert_int_equal(result.stale, 1);
    assert_int_equal(result.applied, 0);
    expect_equal_worlds(&f);
    // The server learns of the late one only, and uses it.
    assert_true(net_view_acked(f.view, late.seq));
    repl_move(&f.server, ball, 4, 4);
    exchange(&f);
    assert_int_equal(net_view_get_counters(f.view)->records_absolute, 0);
    expect_equal_worlds(&f);
    close_all(&f);
}

static void a_late_packet_without_its_base_is_stale_and_nothing_of_it_happens(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    ecs_entity other = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_move(&f.server, ball, 2, 2);
    repl_move(&f.server, other, 2, 2);
    packet late = step(&f);
    repl_destroy(&f.server, ball);
    exchange(&f);
    assert_int_equal(deliver(&f, &late), NET_ERR_STALE);
    assert_int_equal(counters(&f)->stale, 1);
    assert_int_equal(counters(&f)->missing_bases, 1);
    const ecs_vec2* pos = ecs_get(f.client.world, other, f.client.pos);
    assert_true(pos->x == 1.0f);
    assert_true(net_view_lost(f.view, late.seq));
    exchange(&f);
    expect_equal_worlds(&f);
    close_all(&f);
}

static void a_newest_packet_without_its_base_is_malformed(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    packet lost = step(&f);
    assert_true(net_view_acked(f.view, lost.seq)); // a lie
    repl_move(&f.server, ball, 2, 2);
    packet p = step(&f);
    assert_int_equal(deliver(&f, &p), NET_ERR_MALFORMED);
    assert_int_equal(counters(&f)->malformed, 1);
    assert_int_equal(ecs_world_entity_count(f.client.world), 0);
    close_all(&f);
}

static void a_late_create_after_a_newer_destroy_is_ignored(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    packet create = step(&f);
    repl_destroy(&f.server, ball);
    exchange(&f);
    assert_int_equal(deliver(&f, &create), NET_OK);
    assert_int_equal(ecs_world_entity_count(f.client.world), 0);
    assert_int_equal(f.traced, 0);
    close_all(&f);
}

static void a_newer_generation_evicts(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity first = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_destroy(&f.server, first);
    ecs_entity second = first;
    for (uint32_t i = 0; i <= INDEX_MAX && second == first; i++) {
        ecs_entity entity = repl_create(&f.server, f.server.holder);
        if (ecs_entity_index(entity) == ecs_entity_index(first))
            second = entity;
        else
            repl_destroy(&f.server, entity);
    }
    assert_int_not_equal(second, first);
    packet p = step(&f);
    assert_int_equal(deliver(&f, &p), NET_OK);
    assert_int_equal(net_view_get_counters(f.view)->records_destroy, 0);
    assert_int_equal(counters(&f)->evicted, 1);
    assert_false(ecs_is_alive(f.client.world, first));
    assert_true(ecs_is_alive(f.client.world, second));
    expect_equal_worlds(&f);
    close_all(&f);
}

static void a_late_update_of_a_former_life_is_stale(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    repl_move(&f.server, ball, 5, 5);
    packet late = step(&f); // an update of a mover
    repl_become(&f.server, ball, f.server.holder);
    exchange(&f);
    assert_int_equal(deliver(&f, &late), NET_ERR_STALE);
    expect_equal_worlds(&f);
    close_all(&f);
}

static void references_hold_handles_and_let_them_go(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_world* world = f.client.world;
    ecs_entity holder = repl_create(&f.server, f.server.holder);
    ecs_entity far = ecs_entity_make(INDEX_MAX, 5);
    assert_int_equal(ecs_set(f.server.world, holder, f.server.link, &far), ECS_OK);
    exchange(&f);
    assert_int_equal(ecs_state(world, far), ECS_STATE_ALLOCATED);
    // A reference to somebody who comes.
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    assert_int_equal(ecs_set(f.server.world, holder, f.server.link, &ball), ECS_OK);
    exchange(&f);
    assert_int_equal(ecs_state(world, far), ECS_STATE_NONE);
    assert_int_equal(ecs_state(world, ball), ECS_STATE_CREATED);
    repl_destroy(&f.server, ball);
    exchange(&f);
    assert_int_equal(ecs_state(world, ball), ECS_STATE_ALLOCATED);
    // Recreation without the field drops it.
    repl_become(&f.server, holder, f.server.mover);
    exchange(&f);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 0);
    // Values that are no replicated handles are carried and not held.
    repl_become(&f.server, holder, f.server.holder);
    ecs_entity odd = INDEX_MAX + 1;
    assert_int_equal(ecs_set(f.server.world, holder, f.server.link, &odd), ECS_OK);
    exchange(&f);
    expect_equal_worlds(&f);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 0);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 0);
    close_all(&f);
}

static void the_mirror_lets_go_of_references_when_it_ends(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity holder = repl_create(&f.server, f.server.holder);
    assert_int_equal(
        ecs_set(f.server.world, holder, f.server.link, &(ecs_entity){ecs_entity_make(9, 9)}),
        ECS_OK);
    exchange(&f);
    assert_int_equal(ecs_handle_count(f.client.world, ECS_STATE_ALLOCATED), 1);
    close_all(&f); // asserts that none is left
}

typedef struct hand_body {
    uint8_t bytes[64];
    proto_bit_writer writer;
} hand_body;

static void hand_begin(hand_body* hand) {
    memset(hand, 0, sizeof *hand);
    hand->writer = proto_bit_writer_make(hand->bytes, sizeof hand->bytes);
}

static void expect_malformed(fixture* f, const hand_body* hand) {
    uint64_t before = repl_scope(&f->client);
    assert_int_equal(
        net_mirror_read(f->mirror, 100, hand->bytes, proto_bit_writer_bytes(&hand->writer), NULL),
        NET_ERR_MALFORMED);
    assert_true(repl_scope(&f->client) == before);
    assert_int_equal(net_mirror_tick(f->mirror), 0);
}

// A list of one record up to and with its index.
static void hand_list(hand_body* hand, uint32_t count, uint32_t index) {
    proto_bits_write_golomb(&hand->writer, count, NET_BODY_LIST_ORDER);
    proto_bits_write(&hand->writer, 3, NET_BODY_ORDER_BITS);
    proto_bits_write_golomb(&hand->writer, index, 3);
}

static void impossible_records_are_malformed(void** state) {
    (void)state;
    fixture f;
    open(&f);
    hand_body hand;
    static const uint32_t bad_indices[] = {0, INDEX_MAX + 1, UINT32_MAX - 8};
    for (uint32_t i = 0; i < BASE_COUNT(bad_indices); i++) {
        hand_begin(&hand);
        hand_list(&hand, 1, bad_indices[i]);
        proto_bits_write(&hand.writer, 1, ECS_GENERATION_BITS);
        proto_bits_write(&hand.writer, 3, 2); // no creates, no runs
        expect_malformed(&f, &hand);
    }
    hand_begin(&hand); // generation 0
    hand_list(&hand, 1, 5);
    proto_bits_write(&hand.writer, 0, ECS_GENERATION_BITS);
    proto_bits_write(&hand.writer, 3, 2);
    expect_malformed(&f, &hand);
    hand_begin(&hand); // destroyed and created in one body
    hand_list(&hand, 1, 5);
    proto_bits_write(&hand.writer, 1, ECS_GENERATION_BITS);
    hand_list(&hand, 1, 5);
    proto_bits_write(&hand.writer, 1, ECS_GENERATION_BITS);
    expect_malformed(&f, &hand);
    hand_begin(&hand); // the same template as nobody's
    proto_bits_write_golomb(&hand.writer, 0, NET_BODY_LIST_ORDER);
    hand_list(&hand, 1, 5);
    proto_bits_write(&hand.writer, 1, ECS_GENERATION_BITS);
    proto_bits_write(&hand.writer, 1, 1);
    expect_malformed(&f, &hand);
    hand_begin(&hand); // template number 3 of 3
    proto_bits_write_golomb(&hand.writer, 0, NET_BODY_LIST_ORDER);
    hand_list(&hand, 1, 5);
    proto_bits_write(&hand.writer, 1, ECS_GENERATION_BITS);
    proto_bits_write(&hand.writer, 0, 1 + NET_BODY_PARTS_BITS);
    proto_bits_write(&hand.writer, 3, net_rows_number_bits(f.client.rows));
    expect_malformed(&f, &hand);
    hand_begin(&hand); // a list of four billion
    proto_bits_write_golomb(&hand.writer, UINT32_MAX, NET_BODY_LIST_ORDER);
    expect_malformed(&f, &hand);
    hand_begin(&hand); // age 0 is no base
    proto_bits_write(&hand.writer, 3, 2);
    proto_bits_write_golomb(&hand.writer, 1, NET_BODY_LIST_ORDER);
    proto_bits_write(&hand.writer, 1, 1 + NET_BODY_AGE_BITS);
    expect_malformed(&f, &hand);
    assert_int_equal(counters(&f)->malformed, 9);
    close_all(&f);
}

static void a_body_ends_where_its_records_end(void** state) {
    (void)state;
    fixture f;
    open(&f);
    (void)repl_create(&f.server, f.server.mover);
    packet p = step(&f);
    p.body[p.size] = 0;
    assert_int_equal(net_mirror_read(f.mirror, p.tick, p.body, p.size + 1, NULL),
                     NET_ERR_MALFORMED);
    for (size_t cut = 1; cut < p.size; cut++)
        assert_int_equal(net_mirror_read(f.mirror, p.tick, p.body, cut, NULL), NET_ERR_MALFORMED);
    static const uint8_t large[NET_BODY_BYTES_MAX + 1];
    assert_int_equal(net_mirror_read(f.mirror, p.tick, large, sizeof large, NULL),
                     NET_ERR_MALFORMED);
    assert_int_equal(ecs_world_entity_count(f.client.world), 0);
    assert_int_equal(deliver(&f, &p), NET_OK);
    close_all(&f);
}

static void any_bytes_leave_a_whole_world(void** state) {
    (void)state;
    printf("seed 11\n");
    base_rng rng = base_rng_make(11, 0);
    fixture f;
    open(&f);
    for (uint32_t i = 0; i < 30; i++)
        (void)repl_create(&f.server, i % 2 ? f.server.mover : f.server.holder_extra);
    exchange(&f);
    ecs_tick tick = f.tick;
    for (uint32_t round = 0; round < 20000; round++) {
        uint8_t bytes[64];
        uint32_t size = base_rng_below(&rng, sizeof bytes);
        for (uint32_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)base_rng_u32(&rng);
        net_result result =
            net_mirror_read(f.mirror, tick + base_rng_below(&rng, 4), bytes, size, NULL);
        assert_true(result == NET_OK || result == NET_ERR_STALE || result == NET_ERR_MALFORMED);
        tick += round % 16 == 0;
    }
    ecs_world_validate(f.client.world);
    assert_int_equal(ecs_world_counters(f.client.world)->bad_transitions, 0);
    close_all(&f);
}

typedef struct thrift {
    uint32_t left;
} thrift;

static void* thrift_allocate(void* context, size_t size, size_t align) {
    thrift* t = context;
    if (t->left == 0) return NULL;
    t->left--;
    const base_allocator* heap = base_allocator_heap();
    return heap->allocate(heap->context, size, align);
}

static void thrift_release(void* context, void* memory, size_t size) {
    (void)context;
    const base_allocator* heap = base_allocator_heap();
    heap->release(heap->context, memory, size);
}

static void running_out_of_memory_is_told_and_final(void** state) {
    (void)state;
    bool is_enough = false;
    for (uint32_t budget = 1; !is_enough; budget++) {
        thrift t = {budget};
        base_allocator allocator = {thrift_allocate, thrift_release, &t};
        fixture f;
        open(&f);
        net_mirror_destroy(f.mirror);
        net_mirror_config config = {.allocator = &allocator,
                                    .world = f.client.world,
                                    .rows = f.client.rows,
                                    .index_max = INDEX_MAX};
        assert_int_equal(net_mirror_create(&config, &f.mirror), NET_OK);
        (void)repl_create(&f.server, f.server.holder);
        packet p = step(&f);
        net_result result = net_mirror_read(f.mirror, p.tick, p.body, p.size, NULL);
        is_enough = result == NET_OK;
        if (!is_enough) assert_int_equal(result, NET_ERR_MEMORY);
        t.left = 0;
        assert_in_range(budget, 1, 20);
        net_mirror_destroy(f.mirror);
        f.mirror = NULL;
        close_all(&f);
    }
}

// A loader that takes everything and finishes what the test says.
typedef struct slow_loader {
    ecs_loader loader;
    uint32_t ticket, begun, cancelled;
    bool is_done, is_loaded;
} slow_loader;

static ecs_load_answer slow_begin(void* context, uint32_t ticket, const ecs_resource* resource) {
    slow_loader* slow = context;
    assert_string_equal(resource->name, "cube");
    slow->ticket = ticket;
    slow->begun++;
    return ECS_LOAD_BEGUN;
}

static uint32_t slow_poll(void* context, ecs_loaded* loaded, uint32_t capacity) {
    slow_loader* slow = context;
    if (!slow->is_done || capacity == 0) return 0;
    slow->is_done = false;
    loaded[0] = (ecs_loaded){.ticket = slow->ticket, .is_loaded = slow->is_loaded};
    return 1;
}

static void slow_cancel(void* context, uint32_t ticket) {
    slow_loader* slow = context;
    slow->cancelled += ticket == slow->ticket;
}

static void load_slowly(fixture* f, slow_loader* slow) {
    *slow = (slow_loader){.loader = {slow, slow_begin, slow_poll, slow_cancel}};
    ecs_loading_set(f->client.world, &(ecs_loading_config){.loader = &slow->loader});
}

// S5.22 on a client: what comes meanwhile changes what it will be.
static void an_entity_that_waits_for_resources_follows_the_server(void** state) {
    (void)state;
    fixture f;
    slow_loader slow;
    open(&f);
    load_slowly(&f, &slow);
    ecs_entity cube = repl_create(&f.server, f.server.model);
    repl_move(&f.server, cube, 3, 4);
    exchange(&f);
    assert_int_equal(ecs_state(f.client.world, cube), ECS_STATE_LOADING);
    repl_move(&f.server, cube, 5, 6);
    exchange(&f);
    slow.is_done = slow.is_loaded = true;
    assert_int_equal(ecs_loading_poll(f.client.world), 1);
    expect_equal_worlds(&f);
    repl_move(&f.server, cube, 9, 9);
    exchange(&f);
    expect_equal_worlds(&f);
    // One that becomes something that needs nothing is there at once.
    ecs_resource resource = {.name = "cube"};
    ecs_resource_forget(f.client.world, &resource);
    ecs_entity other = repl_create(&f.server, f.server.model);
    exchange(&f);
    assert_int_equal(ecs_state(f.client.world, other), ECS_STATE_LOADING);
    repl_become(&f.server, other, f.server.mover);
    exchange(&f);
    assert_int_equal(slow.cancelled, 1);
    expect_equal_worlds(&f);
    assert_int_equal(ecs_world_counters(f.client.world)->bad_transitions, 0);
    close_all(&f);
}

static void one_that_cannot_be_loaded_is_not_shown_and_harms_nobody(void** state) {
    (void)state;
    fixture f;
    slow_loader slow;
    open(&f);
    load_slowly(&f, &slow);
    ecs_entity cube = repl_create(&f.server, f.server.model);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    exchange(&f);
    slow.is_done = true;
    assert_int_equal(ecs_loading_poll(f.client.world), 0);
    assert_int_equal(ecs_state(f.client.world, cube), ECS_STATE_NONE);
    for (int i = 0; i < 4; i++) {
        repl_move(&f.server, cube, (float)i, 1);
        repl_move(&f.server, ball, (float)i, 2);
        exchange(&f);
    }
    assert_int_equal(slow.begun, 1);
    assert_true(ecs_is_alive(f.client.world, ball));
    repl_destroy(&f.server, cube);
    exchange(&f);
    expect_equal_worlds(&f);
    // Destroyed by the server while it loads.
    ecs_resource resource = {.name = "cube"};
    ecs_resource_forget(f.client.world, &resource);
    cube = repl_create(&f.server, f.server.model);
    exchange(&f);
    assert_int_equal(ecs_state(f.client.world, cube), ECS_STATE_LOADING);
    repl_destroy(&f.server, cube);
    exchange(&f);
    assert_int_equal(ecs_state(f.client.world, cube), ECS_STATE_NONE);
    assert_int_equal(slow.cancelled, 1);
    assert_int_equal(ecs_world_counters(f.client.world)->bad_transitions, 0);
    close_all(&f);
}

static void set_parent(fixture* f, ecs_entity child, ecs_entity parent) {
    assert_int_equal(ecs_hierarchy_set_parent(f->server.world, child, parent), ECS_OK);
}

// P13: children have lower indices than their parents here, so their records come first.
static void families_are_the_same_on_both_sides(void** state) {
    (void)state;
    fixture f;
    open(&f);
    ecs_entity limbs[6];
    for (uint32_t i = 0; i < 6; i++) {
        limbs[i] = repl_create(&f.server, f.server.limb);
    }
    for (uint32_t i = 0; i < 5; i++) {
        set_parent(&f, limbs[i], limbs[i < 3 ? 4 : 5]);
    }
    set_parent(&f, limbs[4], limbs[5]);
    exchange(&f);
    expect_equal_worlds(&f);
    ecs_entity at = limbs[5], there = limbs[5];
    for (uint32_t i = 0; i < 6; i++) {
        at = ecs_hierarchy_below(f.server.world, limbs[5], at);
        there = ecs_hierarchy_below(f.client.world, limbs[5], there);
        assert_int_equal(at, there);
    }
    // Parent and child change places: the mirror sees both halves in some order.
    set_parent(&f, limbs[4], ECS_ENTITY_NONE);
    set_parent(&f, limbs[5], limbs[4]);
    exchange(&f);
    assert_int_equal(ecs_hierarchy_root(f.client.world, limbs[3]), limbs[4]);
    repl_destroy(&f.server, limbs[4]);
    assert_int_equal(ecs_world_entity_count(f.server.world), 0);
    exchange(&f);
    expect_equal_worlds(&f);
    assert_int_equal(ecs_world_entity_count(f.client.world), 0);
    assert_int_equal(ecs_world_counters(f.client.world)->parents_cut, 0);
    close_all(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_entity_is_made_changed_and_destroyed),
        TEST(each_applied_row_is_traced_with_its_hash),
        TEST(a_doubled_packet_changes_nothing),
        TEST(a_late_row_is_kept_as_a_base_and_not_applied),
        TEST(the_sink_sees_late_rows_of_a_known_life_and_every_end),
        TEST(a_late_packet_without_its_base_is_stale_and_nothing_of_it_happens),
        TEST(a_newest_packet_without_its_base_is_malformed),
        TEST(a_late_create_after_a_newer_destroy_is_ignored),
        TEST(a_newer_generation_evicts),
        TEST(a_late_update_of_a_former_life_is_stale),
        TEST(references_hold_handles_and_let_them_go),
        TEST(the_mirror_lets_go_of_references_when_it_ends),
        TEST(an_entity_that_waits_for_resources_follows_the_server),
        TEST(one_that_cannot_be_loaded_is_not_shown_and_harms_nobody),
        TEST(families_are_the_same_on_both_sides),
        TEST(impossible_records_are_malformed),
        TEST(a_body_ends_where_its_records_end),
        TEST(any_bytes_leave_a_whole_world),
        TEST(running_out_of_memory_is_told_and_final),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
