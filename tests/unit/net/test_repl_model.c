// SPDX-License-Identifier: MIT
// Replication as a whole against a plain record of what the server's world held at each tick: random
// worlds, several clients, a channel that loses, doubles, delays and reorders in both directions.
#include "acks.h"
#include "repl_world.h"

#include "base/rng.h"

enum {
    SEEDS = 240,
    CLIENTS_MAX = 3,
    ENTITIES_MAX = 24,
    FLYING_MAX = 512,
    PACKET_BYTES_MAX = 1200,
    TICKS_ACTIVE = 120,
    TICKS_IDLE = 330, // more than an age of 8 bits says
    TICKS_QUIET = 1200,
    TICKS_MAX = TICKS_ACTIVE * 3 + TICKS_IDLE + TICKS_QUIET,
    TICK_US = 16667,
    PACKETS_PER_TICK_MAX = 3,
};
#define SEED UINT64_C(20260729)

typedef struct datagram {
    uint64_t at_us, order;
    ecs_tick tick;
    uint64_t ack_bits;
    uint32_t delay_us;
    uint16_t seq, ack;
    bool has_ack;
    uint32_t size;
    uint8_t* bytes;
} datagram;

typedef struct channel {
    datagram flying[FLYING_MAX];
    uint32_t count;
    uint64_t order;
} channel;

typedef struct path_quality {
    double loss, duplicate;
    uint32_t delay_us, jitter_us;
} path_quality;

typedef struct truth_row {
    ecs_entity handle;
    uint64_t hash;
} truth_row;

typedef struct truth_tick {
    truth_row rows[ENTITIES_MAX];
    uint32_t count;
} truth_tick;

struct harness;
typedef struct client {
    struct harness* harness;
    repl_side side;
    net_mirror* mirror;
    net_view* view;
    net_acks_send sent;     // the server's
    net_acks_recv received; // the client's
    channel down, up;
    ecs_tick join_tick;
    ecs_tick* entity_ticks; // [index]: never fall
} client;

typedef struct harness {
    base_rng rng;
    repl_side server;
    net_history* history;
    ecs_entity entities[ENTITIES_MAX];
    uint32_t entity_count;
    truth_tick* truth; // [tick]
    ecs_tick tick;
    path_quality quality;
    client clients[CLIENTS_MAX];
    uint32_t client_count;
    uint32_t body_bytes;
    bool is_worn; // every index has been used
} harness;

/// What all seeds together reached: a test that no longer gets there says nothing.
typedef struct reached {
    uint64_t updates, stale, stale_records, evicted, recreates, destroys;
    uint64_t settled, absolute, lost;
} reached;

static uint64_t now_us(const harness* h) {
    return h->tick * TICK_US;
}

// ---- channel ----

static void channel_push_one(harness* h, channel* c, const datagram* d) {
    if (base_rng_chance(&h->rng, h->quality.loss) || c->count == FLYING_MAX) return;
    datagram* target = &c->flying[c->count++];
    *target = *d;
    target->at_us = now_us(h) + h->quality.delay_us;
    if (h->quality.jitter_us) target->at_us += base_rng_below(&h->rng, h->quality.jitter_us);
    target->order = c->order++;
    target->bytes = malloc(d->size + 1);
    assert_non_null(target->bytes);
    if (d->size) memcpy(target->bytes, d->bytes, d->size);
}

static void channel_push(harness* h, channel* c, const datagram* d) {
    channel_push_one(h, c, d);
    if (base_rng_chance(&h->rng, h->quality.duplicate)) channel_push_one(h, c, d);
}

// The caller frees the bytes.
static bool channel_pop(const harness* h, channel* c, datagram* d) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < c->count; i++) {
        const datagram* f = &c->flying[i];
        if (f->at_us > now_us(h)) continue;
        if (best == UINT32_MAX || f->at_us < c->flying[best].at_us ||
            (f->at_us == c->flying[best].at_us && f->order < c->flying[best].order))
            best = i;
    }
    if (best == UINT32_MAX) return false;
    *d = c->flying[best];
    c->flying[best] = c->flying[--c->count];
    return true;
}

// ---- truth ----

static const truth_row* truth_find(const truth_tick* at, ecs_entity handle) {
    for (uint32_t i = 0; i < at->count; i++)
        if (at->rows[i].handle == handle) return &at->rows[i];
    return NULL;
}

static void write_truth(harness* h) {
    truth_tick* at = &h->truth[h->tick];
    at->count = 0;
    for (uint32_t i = 0; i < h->entity_count; i++)
        at->rows[at->count++] = (truth_row){
            h->entities[i], net_scope_row_hash(h->server.schema, h->server.world, h->entities[i])};
}

static void on_applied(void* context, ecs_entity entity, ecs_tick tick, uint64_t hash) {
    client* c = context;
    const truth_row* row = truth_find(&c->harness->truth[tick], entity);
    assert_non_null(row); // no ghost: it lived then, with this generation
    assert_true(row->hash == hash);
    uint32_t index = ecs_entity_index(entity);
    assert_true(c->entity_ticks[index] == 0 || tick > c->entity_ticks[index]);
    c->entity_ticks[index] = tick;
}

// Every mirrored entity is exactly what the server had at the tick it claims.
static void check_mirror(harness* h, client* c) {
    ecs_world* world = c->side.world;
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        ecs_tick tick;
        assert_true(net_mirror_entity_tick(c->mirror, entity, &tick));
        const truth_row* row = truth_find(&h->truth[tick], entity);
        assert_non_null(row);
        assert_true(row->hash == net_scope_row_hash(c->side.schema, world, entity));
    }
}

// ALLOCATED is exactly the references that name nobody here.
static void check_references(client* c) {
    ecs_entity seen[ENTITIES_MAX];
    uint32_t count = 0;
    ecs_world* world = c->side.world;
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        const ecs_entity* link = ecs_find(world, entity, c->side.link);
        if (!link || *link == ECS_ENTITY_NONE || ecs_is_alive(world, *link)) continue;
        bool is_new = true;
        for (uint32_t i = 0; i < count; i++)
            is_new &= seen[i] != *link;
        if (is_new) seen[count++] = *link;
    }
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), count);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), 0);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 0);
}

// ---- the server's world ----

static ecs_template_id random_template(harness* h) {
    const repl_side* s = &h->server;
    const ecs_template_id all[] = {s->mover,       s->mover,       s->holder,      s->extra,
                                   s->mover_extra, s->mover_local, s->holder_extra};
    return all[base_rng_below(&h->rng, BASE_COUNT(all))];
}

static void mutate_create(harness* h) {
    ecs_entity entity;
    if (h->entity_count == ENTITIES_MAX) return;
    if (ecs_create(h->server.world, random_template(h), NULL, 0, &entity) != ECS_OK) return;
    h->entities[h->entity_count++] = entity;
}

static void mutate_destroy(harness* h, uint32_t position) {
    repl_destroy(&h->server, h->entities[position]);
    h->entities[position] = h->entities[--h->entity_count];
}

// Destroy one and give its index to another generation at once.
static void mutate_reuse(harness* h, uint32_t position) {
    uint32_t index = ecs_entity_index(h->entities[position]);
    mutate_destroy(h, position);
    for (uint32_t i = 0; i <= h->server.index_max; i++) {
        ecs_entity entity = repl_create(&h->server, random_template(h));
        if (ecs_entity_index(entity) == index) {
            h->entities[h->entity_count++] = entity;
            return;
        }
        repl_destroy(&h->server, entity);
    }
    fail_msg("index %u does not come back", index);
}

static void mutate_values(harness* h, ecs_entity entity) {
    ecs_world* world = h->server.world;
    ecs_vec2* pos = ecs_find_mut(world, entity, h->server.pos);
    if (pos) {
        float scale = base_rng_chance(&h->rng, 0.2) ? 900.0f : 0.1f; // 0.1: often below the quantum
        pos->x += (base_rng_float(&h->rng) - 0.5f) * scale;
        if (base_rng_chance(&h->rng, 0.3)) pos->y = (base_rng_float(&h->rng) - 0.5f) * scale;
    }
    int32_t* hp = ecs_find_mut(world, entity, h->server.hp);
    if (hp && base_rng_chance(&h->rng, 0.3)) *hp ^= 1; // flips back often
    ecs_entity* link = ecs_find_mut(world, entity, h->server.link);
    if (link && base_rng_chance(&h->rng, 0.5)) {
        uint32_t pick = base_rng_below(&h->rng, ENTITIES_MAX);
        *link = pick < h->entity_count ? h->entities[pick] : ECS_ENTITY_NONE;
    }
    repl_body* body = ecs_find_mut(world, entity, h->server.body);
    if (body) {
        body->kind = (uint8_t)base_rng_below(&h->rng, 8);
        if (base_rng_chance(&h->rng, 0.2)) body->mass = base_rng_float(&h->rng);
        body->spin[1] = (int16_t)(body->spin[1] + base_rng_range(&h->rng, -2, 2));
    }
    int64_t* shield = ecs_find_mut(world, entity, h->server.shield);
    if (shield && base_rng_chance(&h->rng, 0.4)) *shield = (int64_t)base_rng_u64(&h->rng) >> 20;
}

static void mutate(harness* h) {
    if (base_rng_chance(&h->rng, 0.25)) mutate_create(h);
    if (h->entity_count == 0) return;
    uint32_t count = base_rng_below(&h->rng, 8);
    for (uint32_t i = 0; i < count; i++)
        mutate_values(h, h->entities[base_rng_below(&h->rng, h->entity_count)]);
    uint32_t position = base_rng_below(&h->rng, h->entity_count);
    if (base_rng_chance(&h->rng, 0.1))
        repl_become(&h->server, h->entities[position], random_template(h));
    if (h->is_worn && base_rng_chance(&h->rng, 0.04))
        mutate_reuse(h, position);
    else if (base_rng_chance(&h->rng, 0.15))
        mutate_destroy(h, position);
}

// ---- traffic ----

static void join(harness* h, client* c) {
    repl_open(&c->side, true, h->server.index_max);
    net_mirror_config config = {.world = c->side.world,
                                .rows = c->side.rows,
                                .index_max = h->server.index_max,
                                .trace = on_applied,
                                .trace_context = c};
    assert_int_equal(net_mirror_create(&config, &c->mirror), NET_OK);
    assert_int_equal(net_view_create(NULL, h->history, &c->view), NET_OK);
    c->harness = h;
    c->entity_ticks = calloc(h->server.index_max + 1, sizeof *c->entity_ticks);
    assert_non_null(c->entity_ticks);
    net_acks_send_init(&c->sent, (uint16_t)(65536 - base_rng_below(&h->rng, 300)), now_us(h));
    net_acks_recv_init(&c->received);
}

static void tell_view(client* c, const net_acks_result* result) {
    for (uint32_t i = 0; i < result->acked_count; i++)
        assert_true(net_view_acked(c->view, result->acked[i]));
    for (uint32_t i = 0; i < result->lost_count; i++)
        assert_true(net_view_lost(c->view, result->lost[i]));
}

static void server_receive(harness* h, client* c) {
    net_acks_result result;
    datagram d;
    while (channel_pop(h, &c->up, &d)) {
        free(d.bytes);
        if (!d.has_ack) continue;
        assert_int_equal(
            net_acks_send_receive(&c->sent, now_us(h), d.ack, d.ack_bits, d.delay_us, &result),
            NET_OK);
        tell_view(c, &result);
    }
    net_acks_send_expire(&c->sent, now_us(h), TICK_US, &result);
    tell_view(c, &result);
}

static void server_send(harness* h, client* c) {
    assert_int_equal(net_view_follow(c->view), NET_OK);
    for (uint32_t i = 0; i < PACKETS_PER_TICK_MAX; i++) {
        if (i > 0 && !net_view_has_pending(c->view)) break;
        uint8_t body[PACKET_BYTES_MAX];
        size_t size;
        uint16_t seq = net_acks_send_add(&c->sent, now_us(h));
        assert_int_equal(net_view_write(c->view, seq, body, h->body_bytes, &size), NET_OK);
        assert_in_range(size, 0, h->body_bytes);
        channel_push(
            h, &c->down,
            &(datagram){.seq = seq, .tick = h->tick, .size = (uint32_t)size, .bytes = body});
    }
}

static void client_tick(harness* h, client* c) {
    datagram d;
    while (channel_pop(h, &c->down, &d)) {
        if (net_acks_recv_check(&c->received, d.seq) == NET_ACKS_NEW) {
            ecs_tick newest = net_mirror_tick(c->mirror);
            net_result result = net_mirror_read(c->mirror, d.tick, d.bytes, d.size, NULL);
            assert_true(result == NET_OK || result == NET_ERR_STALE);
            if (d.tick > newest) assert_int_equal(result, NET_OK);
            if (result == NET_OK) net_acks_recv_mark(&c->received, d.seq, now_us(h));
        }
        free(d.bytes);
    }
    ecs_changes_clear(c->side.world);
    channel_push(h, &c->up,
                 &(datagram){.has_ack = c->received.has_any,
                             .ack = c->received.newest,
                             .ack_bits = c->received.bits,
                             .delay_us = net_acks_recv_delay_us(&c->received, now_us(h))});
}

static void run_tick(harness* h, bool is_active) {
    h->tick++;
    assert_in_range(h->tick, 1, TICKS_MAX);
    for (uint32_t i = 0; i < h->client_count; i++)
        if (h->clients[i].view) server_receive(h, &h->clients[i]);
    if (is_active) mutate(h);
    repl_step(&h->server, h->history, h->tick);
    write_truth(h);
    for (uint32_t i = 0; i < h->client_count; i++) {
        client* c = &h->clients[i];
        if (!c->view && h->tick >= c->join_tick) join(h, c);
        if (!c->view) continue;
        server_send(h, c);
        client_tick(h, c);
        if (h->tick % 8 == i) check_mirror(h, c);
    }
}

static bool is_settled(const harness* h) {
    for (uint32_t i = 0; i < h->client_count; i++)
        if (!h->clients[i].view || !net_view_is_settled(h->clients[i].view)) return false;
    return true;
}

// Indices that were used before are handed out again: every index has had another generation.
static void wear_indices(harness* h) {
    for (uint32_t i = 0; i < h->server.index_max; i++)
        repl_destroy(&h->server, repl_create(&h->server, h->server.extra));
    ecs_changes_clear(h->server.world);
}

static void open(harness* h, uint64_t seed) {
    memset(h, 0, sizeof *h);
    h->rng = base_rng_make(seed, 1);
    h->is_worn = base_rng_chance(&h->rng, 0.3);
    repl_open(&h->server, false, h->is_worn ? ECS_FREE_INDICES_MIN + ENTITIES_MAX + 4 : 4000);
    if (h->is_worn) wear_indices(h);
    assert_int_equal(net_history_create(NULL, h->server.rows, h->server.index_max, &h->history),
                     NET_OK);
    h->truth = malloc((TICKS_MAX + 1) * sizeof *h->truth);
    assert_non_null(h->truth);
    h->client_count = 1 + base_rng_below(&h->rng, CLIENTS_MAX);
    for (uint32_t i = 0; i < h->client_count; i++)
        h->clients[i].join_tick = i == 0 ? 1 : base_rng_below(&h->rng, TICKS_ACTIVE);
    static const double losses[] = {0, 0.02, 0.1, 0.3, 0.6};
    h->quality = (path_quality){
        .loss = losses[base_rng_below(&h->rng, BASE_COUNT(losses))],
        .duplicate = base_rng_chance(&h->rng, 0.5) ? 0.1 : 0,
        .delay_us = base_rng_below(&h->rng, 200000),
        .jitter_us = base_rng_below(&h->rng, 120000),
    };
    h->body_bytes = base_rng_chance(&h->rng, 0.5) ? 1172 : 40 + base_rng_below(&h->rng, 100);
}

static void close_all(harness* h) {
    for (uint32_t i = 0; i < h->client_count; i++) {
        client* c = &h->clients[i];
        for (uint32_t k = 0; k < c->down.count; k++)
            free(c->down.flying[k].bytes);
        for (uint32_t k = 0; k < c->up.count; k++)
            free(c->up.flying[k].bytes);
        free(c->entity_ticks);
        net_view_destroy(c->view);
        net_mirror_destroy(c->mirror);
        if (c->side.world) repl_close(&c->side);
    }
    net_history_destroy(h->history);
    repl_close(&h->server);
    free(h->truth);
}

static void check_end(harness* h, reached* sum) {
    uint64_t expected = repl_scope(&h->server);
    for (uint32_t i = 0; i < h->client_count; i++) {
        client* c = &h->clients[i];
        if (repl_scope(&c->side) != expected) {
            (void)net_scope_walk(h->server.schema, h->server.world, repl_print, NULL);
            (void)net_scope_walk(c->side.schema, c->side.world, repl_print, NULL);
        }
        assert_true(repl_scope(&c->side) == expected);
        assert_int_equal(ecs_world_entity_count(c->side.world), h->entity_count);
        check_mirror(h, c);
        check_references(c);
        const net_mirror_counters* counters = net_mirror_get_counters(c->mirror);
        assert_int_equal(counters->malformed, 0);
        assert_int_equal(net_view_get_counters(c->view)->acks_forged, 0);
        const net_view_counters* sent = net_view_get_counters(c->view);
        sum->updates += counters->updates;
        sum->stale += counters->stale;
        sum->stale_records += counters->stale_records;
        sum->evicted += counters->evicted;
        sum->recreates += counters->recreates;
        sum->destroys += counters->destroys;
        sum->settled += sent->records_settled;
        sum->absolute += sent->records_absolute;
        sum->lost += sent->packets_lost;
    }
}

static void run_seed(uint64_t seed, reached* sum) {
    harness* h = malloc(sizeof *h);
    assert_non_null(h);
    open(h, seed);
    uint32_t rounds = 1 + base_rng_below(&h->rng, 2);
    for (uint32_t i = 0; i < rounds * TICKS_ACTIVE; i++)
        run_tick(h, true);
    if (base_rng_chance(&h->rng, 0.5)) {
        for (uint32_t i = 0; i < TICKS_IDLE; i++)
            run_tick(h, false);
        for (uint32_t i = 0; i < TICKS_ACTIVE / 4; i++)
            run_tick(h, true);
    }
    for (uint32_t i = 0; i < TICKS_QUIET && !is_settled(h); i++)
        run_tick(h, false);
    if (!is_settled(h)) fprintf(stderr, "seed %llu does not settle\n", (unsigned long long)seed);
    assert_true(is_settled(h));
    check_end(h, sum);
    close_all(h);
    free(h);
}

static void clients_converge_on_what_the_server_holds_over_any_channel(void** state) {
    (void)state;
    const char* only = getenv("SHOAL_TEST_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : SEED;
    const char* wanted = getenv("SHOAL_TEST_SEEDS");
    // Fewer than these would not reach everything that is asserted below.
    uint64_t count = only ? 1 : wanted ? strtoull(wanted, NULL, 10) : test_scaled(SEEDS, SEEDS);
    reached sum = {0};
    for (uint64_t i = 0; i < count; i++) {
        printf("seed %llu\n", (unsigned long long)(first + i));
        run_seed(first + i, &sum);
    }
    printf("updates %llu destroys %llu recreates %llu lost %llu stale %llu stale_records %llu "
           "evicted %llu settled %llu absolute %llu\n",
           (unsigned long long)sum.updates, (unsigned long long)sum.destroys,
           (unsigned long long)sum.recreates, (unsigned long long)sum.lost,
           (unsigned long long)sum.stale, (unsigned long long)sum.stale_records,
           (unsigned long long)sum.evicted, (unsigned long long)sum.settled,
           (unsigned long long)sum.absolute);
    if (only) return;
    // The run reached what it is here for.
    assert_true(sum.updates > 10000 && sum.destroys > 0 && sum.recreates > 0 && sum.lost > 0);
    assert_true(sum.stale > 0 && sum.stale_records > 0 && sum.evicted > 0);
    assert_true(sum.settled > 0 && sum.absolute > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(clients_converge_on_what_the_server_holds_over_any_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
