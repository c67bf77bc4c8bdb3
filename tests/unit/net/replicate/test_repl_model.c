// SPDX-License-Identifier: MIT
// The whole replication against a record of what the server's world held at each tick, and of what
// each client should see. The worlds are random, with several clients, changing interest and
// classes, and groups. The channel loses, doubles, delays and reorders packets in both directions.
#include "session/acks.h"
#include "interest/fake_interest.h"
#include "mirror/snapshot_reader.h"
#include "repl_world.h"
#include "replicate/replicator.h"

#include "base/rng.h"
#include "net/solo.h"

enum {
    SEEDS = 240,
    CLIENTS_MAX = 3,
    ENTITIES_MAX = 24,
    FLYING_MAX = 512,
    PACKET_BYTES_MAX = 1200,
    TICKS_ACTIVE = 120,
    TICKS_IDLE = 330, // more ticks than an age of 8 bits can count
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
    bool has_ack, has_body;
    uint32_t offset_bits;
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

enum { ROW_WORDS_MAX = 16, GROUPS = 3 };

typedef struct truth_row {
    ecs_entity handle;
    const net_row_template* entry;
    uint64_t words[ROW_WORDS_MAX];
    uint8_t seen[CLIENTS_MAX]; // classes; 0: the client does not see the entity
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
    net_repl_state* repl;
    net_ack_sender sent;       // the server's
    net_ack_receiver received; // the client's
    channel down, up;
    ecs_tick join_tick;
    ecs_tick* entity_ticks; // [index]: these ticks never fall
} client;

typedef struct harness {
    base_rng rng;
    repl_side server;
    ecs_template_id agent, spirit;
    ecs_component_id ammo, plan;
    net_interest* interest;
    net_replicator* replicator;
    uint64_t seed;
    bool has_classes, has_interest, has_groups;
    ecs_entity entities[ENTITIES_MAX];
    uint32_t entity_count;
    truth_tick* truth; // [tick]
    ecs_tick tick;
    path_quality quality;
    client clients[CLIENTS_MAX];
    uint32_t client_count;
    uint32_t body_bytes;
    bool is_worn; // each index was used before
    double send_chance;
} harness;

/// What all seeds together reached. A run that reaches less proves nothing.
typedef struct reached {
    uint64_t updates, previous, stale_records, evicted, recreates, destroys;
    uint64_t settled, absolute, lost;
    uint64_t shared, repeated, resyncs, samples, groups, split, moved;
    uint64_t solo; // packets that were decoded in solo code
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

// Take a datagram from the channel. The caller frees its bytes.
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

static uint32_t number_of(const client* c) {
    return (uint32_t)(c - c->harness->clients);
}

static void write_truth(harness* h) {
    truth_tick* at = &h->truth[h->tick];
    at->count = 0;
    for (uint32_t i = 0; i < h->entity_count; i++) {
        truth_row* row = &at->rows[at->count++];
        ecs_entity handle = h->entities[i];
        row->handle = handle;
        row->entry = net_rows_find(h->server.rows, ecs_entity_template(h->server.world, handle));
        assert_non_null(row->entry);
        assert_in_range(row->entry->layout.field_count, 0, ROW_WORDS_MAX);
        uint64_t words[PROTO_ROW_FIELDS_MAX];
        net_rows_read(row->entry, h->server.world, handle, words);
        memcpy(row->words, words, row->entry->layout.field_count * sizeof *words);
        for (uint32_t c = 0; c < h->client_count; c++) {
            const fake_scope* scope = fake_scope_at(h->interest, c, ecs_entity_index(handle));
            row->seen[c] = scope->is_hidden ? 0 : (uint8_t)scope->classes;
        }
    }
}

// Get the hash of the row as this client should see it. @return false when it should not see it.
static bool truth_hash(const truth_row* row, uint32_t client_number, uint64_t* hash) {
    if (!row || row->seen[client_number] == 0) return false;
    uint64_t words[ROW_WORDS_MAX];
    memcpy(words, row->entry->defaults, row->entry->layout.field_count * sizeof *words);
    for (uint32_t k = 0; k < row->entry->layout.component_count; k++) {
        const proto_row_component* component = &row->entry->layout.components[k];
        if (row->seen[client_number] >> row->entry->classes[k] & 1)
            memcpy(words + component->field_first, row->words + component->field_first,
                   component->field_count * sizeof *words);
    }
    *hash = net_row_hash(row->entry, words);
    return true;
}

static void on_applied(void* context, ecs_entity entity, ecs_tick tick, uint64_t hash) {
    client* c = context;
    uint64_t expected;
    // The entity was alive with this generation, and this client should see it.
    assert_true(truth_hash(truth_find(&c->harness->truth[tick], entity), number_of(c), &expected));
    assert_true(hash == expected);
    uint32_t index = ecs_entity_index(entity);
    assert_true(c->entity_ticks[index] == 0 || tick > c->entity_ticks[index]);
    c->entity_ticks[index] = tick;
}

static uint64_t mirror_hash(client* c, ecs_entity entity) {
    const net_row_template* entry =
        net_rows_find(c->side.rows, ecs_entity_template(c->side.world, entity));
    assert_non_null(entry);
    uint64_t words[PROTO_ROW_FIELDS_MAX];
    net_rows_read(entry, c->side.world, entity, words);
    return net_row_hash(entry, words);
}

// Check that every mirrored entity equals the server's entity at its tick.
static void check_mirror(harness* h, client* c) {
    ecs_world* world = c->side.world;
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        ecs_tick tick;
        uint64_t expected;
        assert_true(net_mirror_entity_tick(c->mirror, entity, &tick));
        assert_true(truth_hash(truth_find(&h->truth[tick], entity), number_of(c), &expected));
        assert_true(expected == mirror_hash(c, entity));
    }
}

static uint32_t group_at(const harness* h, uint32_t index) {
    return fake_scope_at(h->interest, 0, index)->group;
}

// Check that the members of a group have the state of the newest tick of any of them, and lived
// then.
static void check_groups(harness* h, client* c) {
    if (!h->has_groups || net_repl_state_get_counters(c->repl)->groups_split > 0) return;
    ecs_tick newest[GROUPS + 1] = {0};
    ecs_world* world = c->side.world;
    for (uint32_t pass = 0; pass < 2; pass++) {
        ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
        for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
            ecs_tick tick;
            uint64_t then, now;
            uint32_t group = group_at(h, ecs_entity_index(entity));
            if (group == 0 || !net_mirror_entity_tick(c->mirror, entity, &tick)) continue;
            if (pass == 0 && tick > newest[group]) newest[group] = tick;
            if (pass == 0) continue;
            // What was destroyed or left until then is gone with it.
            assert_true(
                truth_hash(truth_find(&h->truth[newest[group]], entity), number_of(c), &now));
            assert_true(truth_hash(truth_find(&h->truth[tick], entity), number_of(c), &then));
            assert_true(then == now);
        }
    }
}

// Check that the ALLOCATED handles are exactly the references to entities that the client does not
// have.
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
    if (h->has_classes && base_rng_chance(&h->rng, 0.6))
        return base_rng_chance(&h->rng, 0.7) ? h->agent : h->spirit;
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

// Destroy all of the group of an entity.
static void mutate_end_group(harness* h, uint32_t position) {
    uint32_t group = group_at(h, ecs_entity_index(h->entities[position]));
    for (uint32_t i = h->entity_count; i-- > 0 && group != 0;)
        if (group_at(h, ecs_entity_index(h->entities[i])) == group) mutate_destroy(h, i);
}

// Destroy an entity and give its index to another generation at once.
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
        // 0.1: the change is often below the quantum
        float scale = base_rng_chance(&h->rng, 0.2) ? 900.0f : 0.1f;
        pos->x += (base_rng_float(&h->rng) - 0.5f) * scale;
        if (base_rng_chance(&h->rng, 0.3)) pos->y = (base_rng_float(&h->rng) - 0.5f) * scale;
    }
    int32_t* hp = ecs_find_mut(world, entity, h->server.hp);
    if (hp && base_rng_chance(&h->rng, 0.3)) *hp ^= 1; // often flips back
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

static void mutate_hidden_values(harness* h, ecs_entity entity) {
    ecs_world* world = h->server.world;
    int32_t* ammo = ecs_find_mut(world, entity, h->ammo);
    if (ammo && base_rng_chance(&h->rng, 0.7)) *ammo = (int32_t)base_rng_below(&h->rng, 40);
    int32_t* plan = ecs_find_mut(world, entity, h->plan);
    if (plan && base_rng_chance(&h->rng, 0.3)) *plan = (int32_t)base_rng_below(&h->rng, 9);
}

static void mutate_interest(harness* h) {
    for (uint32_t c = 0; c < h->client_count; c++) {
        fake_scope* scope =
            fake_scope_at(h->interest, c, 1 + base_rng_below(&h->rng, ENTITIES_MAX * 2));
        if (h->has_interest && base_rng_chance(&h->rng, 0.4)) scope->is_hidden = !scope->is_hidden;
        if (h->has_classes && base_rng_chance(&h->rng, 0.3))
            scope->classes = (uint16_t)(1 | base_rng_below(&h->rng, 4) << 1);
        if (base_rng_chance(&h->rng, 0.3))
            scope->weight = (uint16_t)(1 + base_rng_below(&h->rng, NET_WEIGHT_MAX));
    }
}

static void mutate(harness* h) {
    mutate_interest(h);
    if (base_rng_chance(&h->rng, 0.25)) mutate_create(h);
    if (h->entity_count == 0) return;
    uint32_t count = base_rng_below(&h->rng, 8);
    for (uint32_t i = 0; i < count; i++) {
        ecs_entity entity = h->entities[base_rng_below(&h->rng, h->entity_count)];
        mutate_values(h, entity);
        if (h->has_classes) mutate_hidden_values(h, entity);
    }
    uint32_t position = base_rng_below(&h->rng, h->entity_count);
    if (base_rng_chance(&h->rng, 0.1))
        repl_become(&h->server, h->entities[position], random_template(h));
    if (h->is_worn && base_rng_chance(&h->rng, 0.04))
        mutate_reuse(h, position);
    else if (base_rng_chance(&h->rng, 0.02))
        mutate_end_group(h, position);
    else if (base_rng_chance(&h->rng, 0.15))
        mutate_destroy(h, position);
}

// ---- traffic ----

static void join(harness* h, client* c) {
    c->harness = h;
    repl_open_with(&c->side, true, h->server.index_max, repl_class_text);
    net_mirror_config config = {.world = c->side.world,
                                .rows = c->side.rows,
                                .index_max = h->server.index_max,
                                .solo = (h->seed + number_of(c)) % 2 == 1 ? &net_solo_part : NULL,
                                .trace = on_applied,
                                .trace_context = c};
    assert_ok(net_mirror_create(&config, &c->mirror));
    assert_true(net_interest_add_client(h->interest, number_of(c)));
    assert_ok(net_repl_state_create(h->replicator, number_of(c), &c->repl));
    if (config.solo) assert_ok(net_repl_state_use_solo(c->repl));
    c->entity_ticks = calloc(h->server.index_max + 1, sizeof *c->entity_ticks);
    assert_non_null(c->entity_ticks);
    net_ack_sender_init(&c->sent, (uint16_t)(65536 - base_rng_below(&h->rng, 300)), now_us(h));
    net_ack_receiver_init(&c->received);
}

static void report_view(client* c, const net_ack_result* result) {
    for (uint32_t i = 0; i < result->acked_count; i++)
        assert_true(net_repl_state_acked(c->repl, result->acked[i]));
    for (uint32_t i = 0; i < result->lost_count; i++)
        assert_true(net_repl_state_lost(c->repl, result->lost[i]));
}

static void server_receive(harness* h, client* c) {
    net_ack_result result;
    datagram d;
    while (channel_pop(h, &c->up, &d)) {
        free(d.bytes);
        if (!d.has_ack) continue;
        assert_ok(
            net_ack_sender_receive(&c->sent, now_us(h), d.ack, d.ack_bits, d.delay_us, &result));
        report_view(c, &result);
    }
    net_ack_sender_expire(&c->sent, now_us(h), TICK_US, &result);
    report_view(c, &result);
}

static void server_send(harness* h, client* c) {
    for (uint32_t i = 0; i < PACKETS_PER_TICK_MAX; i++) {
        if (i > 0 && !net_repl_state_has_pending(c->repl)) break;
        uint8_t bytes[PACKET_BYTES_MAX + 1] = {0};
        proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
        uint32_t offset = base_rng_below(&h->rng, 8);
        proto_bits_write(&writer, 0, offset);
        uint16_t seq = net_ack_sender_add(&c->sent, now_us(h));
        net_repl_state_room room = {.hard = h->body_bytes * 8, .soft = h->body_bytes * 8};
        if (base_rng_chance(&h->rng, 0.3)) room.soft = base_rng_below(&h->rng, room.hard);
        uint32_t records;
        assert_ok(net_repl_state_write(c->repl, seq, room, &writer, &records));
        assert_in_range(writer.size_bits, offset, offset + room.hard);
        assert_true((records > 0) == (writer.size_bits > offset));
        channel_push(h, &c->down,
                     &(datagram){.seq = seq,
                                 .tick = h->tick,
                                 .offset_bits = offset,
                                 .has_body = records > 0,
                                 .size = (uint32_t)proto_bit_writer_bytes(&writer),
                                 .bytes = bytes});
    }
}

static void check_sample(harness* h, client* c, reached* sum) {
    uint32_t slot, age;
    uint64_t hash;
    if (!net_repl_state_probe(c->repl, &slot, &age, &hash)) return;
    net_mirror_probe_result result =
        net_mirror_check_probe(c->mirror, slot, h->tick - age, (uint16_t)hash, NULL);
    assert_true(result != NET_MIRROR_DIFFERS);
    sum->samples += result == NET_MIRROR_EQUAL;
}

// Late updates of ended incarnations change no entity, but their rows must be true too.
static void check_formers(client* c, ecs_tick tick, reached* sum) {
    for (uint32_t i = 0; i < c->mirror->record_count; i++) {
        const net_mirror_record* record = &c->mirror->records[i];
        if (!record->is_previous) continue;
        const truth_row* row = truth_find(&c->harness->truth[tick], record->handle);
        uint64_t expected, read[PROTO_ROW_FIELDS_MAX];
        assert_true(truth_hash(row, number_of(c), &expected));
        net_mirror_unpack_record(c->mirror, record, read);
        assert_true(expected == net_row_hash(record->row_template, read));
        sum->previous++;
    }
}

static void read_packet(client* c, const datagram* d, reached* sum) {
    ecs_tick newest = net_mirror_tick(c->mirror);
    proto_bit_reader body = proto_bit_reader_make(d->bytes, d->size);
    (void)proto_bits_read(&body, d->offset_bits);
    net_result result =
        net_mirror_read(c->mirror, d->seq, d->tick, d->has_body ? &body : NULL, NULL);
    assert_true(result == NET_OK || result == NET_ERR_STALE);
    if (d->tick > newest) assert_ok(result);
    if (result != NET_OK) return;
    net_ack_receiver_mark(&c->received, d->seq, now_us(c->harness));
    check_formers(c, d->tick, sum);
    check_groups(c->harness, c);
    sum->groups += c->harness->has_groups;
}

static void client_tick(harness* h, client* c, reached* sum) {
    datagram d;
    while (channel_pop(h, &c->down, &d)) {
        if (net_ack_receiver_check(&c->received, d.seq) == NET_ACK_NEW) read_packet(c, &d, sum);
        free(d.bytes);
    }
    if (base_rng_chance(&h->rng, 0.05)) check_sample(h, c, sum);
    ecs_changes_clear(c->side.world);
    channel_push(h, &c->up,
                 &(datagram){.has_ack = c->received.has_any,
                             .ack = c->received.newest,
                             .ack_bits = c->received.bits,
                             .delay_us = net_ack_receiver_delay_us(&c->received, now_us(h))});
}

static void step_server(harness* h) {
    ecs_step step = {.tick = h->tick, .dt = 0.5f};
    ecs_world_step(h->server.world, &step);
    assert_ok(net_replicator_step(h->replicator, h->server.world, h->tick));
    ecs_changes_clear(h->server.world);
    write_truth(h);
    net_replicator_publish(h->replicator);
}

static void run_tick(harness* h, bool is_active, reached* sum) {
    h->tick++;
    assert_in_range(h->tick, 1, TICKS_MAX);
    for (uint32_t i = 0; i < h->client_count; i++)
        if (h->clients[i].repl) server_receive(h, &h->clients[i]);
    if (is_active) mutate(h);
    step_server(h);
    for (uint32_t i = 0; i < h->client_count; i++) {
        client* c = &h->clients[i];
        if (!c->repl && h->tick >= c->join_tick) join(h, c);
        if (!c->repl) continue;
        if (is_active && h->entity_count > 0 && base_rng_chance(&h->rng, 0.01))
            (void)net_repl_state_resync(c->repl,
                                        h->entities[base_rng_below(&h->rng, h->entity_count)]);
        if (base_rng_chance(&h->rng, h->send_chance)) server_send(h, c);
        client_tick(h, c, sum);
        if (h->tick % 8 == i) check_mirror(h, c);
    }
}

static bool is_settled(const harness* h) {
    for (uint32_t i = 0; i < h->client_count; i++)
        if (!h->clients[i].repl || !net_repl_state_is_settled(h->clients[i].repl)) return false;
    return true;
}

// Use every index once before, so that every index has had another generation.
static void wear_indices(harness* h) {
    for (uint32_t i = 0; i < h->server.index_max; i++)
        repl_destroy(&h->server, repl_create(&h->server, h->server.extra));
    ecs_changes_clear(h->server.world);
}

static void open(harness* h, uint64_t seed) {
    memset(h, 0, sizeof *h);
    h->seed = seed;
    h->rng = base_rng_make(seed, 1);
    h->is_worn = base_rng_chance(&h->rng, 0.3);
    h->has_classes = base_rng_chance(&h->rng, 0.5);
    h->has_interest = base_rng_chance(&h->rng, 0.5);
    h->has_groups = base_rng_chance(&h->rng, 0.4);
    h->send_chance = base_rng_chance(&h->rng, 0.7) ? 1.0 : 0.3;
    uint32_t index_max = h->is_worn ? ECS_FREE_INDICES_MIN + ENTITIES_MAX + 4 : 4000;
    repl_open_with(&h->server, false, index_max, repl_class_text);
    h->agent = ecs_template_find(h->server.world, "agent");
    h->spirit = ecs_template_find(h->server.world, "spirit");
    h->ammo = ecs_component_find(h->server.world, "ammo");
    h->plan = ecs_component_find(h->server.world, "plan");
    if (h->is_worn) wear_indices(h);
    h->interest = fake_scopes_create(index_max);
    for (uint32_t c = 0; c < FAKE_CLIENTS && h->has_groups; c++)
        for (uint32_t i = 0; i <= index_max; i++)
            fake_scope_at(h->interest, c, i)->group = i % 3 ? 0 : 1 + i / 3 % GROUPS;
    net_replicator_config config = {.rows = h->server.rows,
                                    .index_max = index_max,
                                    .interest = h->interest,
                                    .solo = &net_solo_part};
    assert_ok(net_replicator_create(&config, &h->replicator));
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
    // No group fits into such a body.
    if (h->has_groups && base_rng_chance(&h->rng, 0.3)) h->body_bytes = 30;
}

static void close_all(harness* h) {
    for (uint32_t i = 0; i < h->client_count; i++) {
        client* c = &h->clients[i];
        for (uint32_t k = 0; k < c->down.count; k++)
            free(c->down.flying[k].bytes);
        for (uint32_t k = 0; k < c->up.count; k++)
            free(c->up.flying[k].bytes);
        free(c->entity_ticks);
        if (c->repl) net_repl_state_destroy(c->repl);
        net_mirror_destroy(c->mirror);
        if (c->side.world) repl_close(&c->side);
    }
    net_replicator_destroy(h->replicator);
    fake_scopes_destroy(h->interest);
    repl_close(&h->server);
    free(h->truth);
}

// Check that the client has exactly what it should see.
static void check_world(harness* h, client* c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->entity_count; i++) {
        uint64_t expected;
        ecs_entity entity = h->entities[i];
        if (!truth_hash(truth_find(&h->truth[h->tick], entity), number_of(c), &expected)) continue;
        assert_true(ecs_is_alive(c->side.world, entity));
        assert_true(mirror_hash(c, entity) == expected);
        assert_true(net_repl_state_sees(c->repl, entity, NULL));
        count++;
    }
    assert_int_equal(ecs_world_entity_count(c->side.world), count);
}

static void check_end(harness* h, reached* sum) {
    for (uint32_t i = 0; i < h->client_count; i++) {
        client* c = &h->clients[i];
        check_world(h, c);
        check_mirror(h, c);
        check_references(c);
        const net_mirror_counters* counters = net_mirror_get_counters(c->mirror);
        assert_int_equal(counters->malformed, 0);
        const net_repl_state_counters* sent = net_repl_state_get_counters(c->repl);
        sum->updates += counters->updates;
        sum->solo += counters->solo;
        sum->stale_records += counters->stale_records;
        sum->evicted += counters->evicted;
        sum->recreates += counters->recreates;
        sum->destroys += counters->destroys;
        sum->moved += counters->moved;
        sum->settled += sent->records_settled;
        sum->absolute += sent->records_absolute;
        sum->lost += sent->packets_lost;
        sum->shared += sent->rows_shared;
        sum->repeated += sent->records_repeated;
        sum->resyncs += sent->resyncs;
        sum->split += sent->groups_split;
    }
}

static void run_seed(uint64_t seed, reached* sum) {
    harness* h = malloc(sizeof *h);
    assert_non_null(h);
    open(h, seed);
    uint32_t rounds = 1 + base_rng_below(&h->rng, 2);
    for (uint32_t i = 0; i < rounds * TICKS_ACTIVE; i++)
        run_tick(h, true, sum);
    if (base_rng_chance(&h->rng, 0.5)) {
        for (uint32_t i = 0; i < TICKS_IDLE; i++)
            run_tick(h, false, sum);
        for (uint32_t i = 0; i < TICKS_ACTIVE / 4; i++)
            run_tick(h, true, sum);
    }
    for (uint32_t i = 0; i < TICKS_QUIET && !is_settled(h); i++)
        run_tick(h, false, sum);
    if (!is_settled(h)) fprintf(stderr, "seed %llu does not settle\n", (unsigned long long)seed);
    assert_true(is_settled(h));
    check_end(h, sum);
    close_all(h);
    free(h);
}

CASE(clients_converge_on_what_the_server_holds_over_any_channel) {
    const char* only = getenv("SHOAL_TEST_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : SEED;
    const char* wanted = getenv("SHOAL_TEST_SEEDS");
    uint64_t count = only ? 1 : wanted ? strtoull(wanted, NULL, 10) : test_scaled(SEEDS, 24);
    reached sum = {0};
    for (uint64_t i = 0; i < count; i++) {
        printf("seed %llu\n", (unsigned long long)(first + i));
        run_seed(first + i, &sum);
    }
    printf("updates %llu destroys %llu recreates %llu lost %llu formers %llu stale_records %llu "
           "evicted %llu settled %llu absolute %llu shared %llu repeated %llu heals %llu "
           "samples %llu groups %llu split %llu moved %llu solo %llu\n",
           (unsigned long long)sum.updates, (unsigned long long)sum.destroys,
           (unsigned long long)sum.recreates, (unsigned long long)sum.lost,
           (unsigned long long)sum.previous, (unsigned long long)sum.stale_records,
           (unsigned long long)sum.evicted, (unsigned long long)sum.settled,
           (unsigned long long)sum.absolute, (unsigned long long)sum.shared,
           (unsigned long long)sum.repeated, (unsigned long long)sum.resyncs,
           (unsigned long long)sum.samples, (unsigned long long)sum.groups,
           (unsigned long long)sum.split, (unsigned long long)sum.moved,
           (unsigned long long)sum.solo);
    // Check that the run reached the cases that it tests. Fewer seeds would not reach all.
    if (count < SEEDS) return;
    assert_true(sum.updates > 10000 && sum.destroys > 0 && sum.recreates > 0 && sum.lost > 0);
    assert_true(sum.previous > 0 && sum.stale_records > 0 && sum.evicted > 0);
    assert_true(sum.settled > 0 && sum.absolute > 0);
    assert_true(sum.shared > 0 && sum.repeated > 0 && sum.resyncs > 0 && sum.samples > 0);
    assert_true(sum.groups > 0 && sum.split > 0 && sum.solo > 0);
}
