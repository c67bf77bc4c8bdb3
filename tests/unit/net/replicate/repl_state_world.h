// SPDX-License-Identifier: MIT
/// A server's world with its replicator and one repl_state and one mirror for each client. The
/// interest is the fake one. The test writes one packet at a time, and decides whether to deliver
/// and acknowledge it.
#pragma once

#include "interest/fake_interest.h"
#include "repl_world.h"
#include "explain/explain.h"
#include "net/solo.h"

enum { VIEW_INDEX_MAX = 4000, VIEW_CLIENTS_MAX = 2, VIEW_BODY_BYTES = 1200 };

typedef struct view_client {
    repl_side side;
    net_repl_state* repl;
    net_mirror* mirror;
    uint16_t seq;
    uint8_t body[VIEW_BODY_BYTES];
    uint64_t bits; ///< the size of the last body
    uint32_t records;
} view_client;

typedef struct view_world {
    repl_side server;
    ecs_template_id agent, spirit;
    ecs_component_id ammo, plan;
    net_interest* interest;
    net_replicator* replicator;
    uint64_t bits[NET_COST_COUNT]; ///< with is_taken_apart: of all snapshots, by cause
    ecs_tick tick;
    uint32_t client_count;
    bool has_solo_code;
    view_client clients[VIEW_CLIENTS_MAX];
    net_repl_state* repl; ///< of the first client
} view_world;

typedef struct view_options {
    const base_allocator* allocator;
    bool is_solo;
    bool is_taken_apart;   ///< each snapshot is, into its bits
    bool has_solo_code;    ///< clients get solo code
    uint32_t client_count; ///< 0 means 1
    uint16_t first_seq;    ///< 0: a number soon before the wrap
} view_options;

static inline void view_join(view_world* w, uint32_t number) {
    view_client* c = &w->clients[number];
    repl_open_with(&c->side, true, VIEW_INDEX_MAX, repl_class_text);
    net_interest_add_client(w->interest, number);
    c->repl = net_repl_state_create(w->replicator, number);
    if (number == 0) w->repl = c->repl;
    if (w->has_solo_code) net_repl_state_use_solo(c->repl);
    net_mirror_config config = {.world = c->side.world,
                                .rows = c->side.rows,
                                .index_max = VIEW_INDEX_MAX,
                                .solo = w->has_solo_code ? &net_solo_part : NULL};
    c->mirror = net_mirror_create(&config);
}

static inline void view_count(void* context, const net_piece* piece) {
    ((view_world*)context)->bits[piece->cause] += piece->bits;
}

static inline void view_take_apart(void* context, net_repl_state* repl,
                                   const proto_bit_writer* output, uint64_t first_bit) {
    (void)net_pieces_read(repl, output, first_bit, &(net_piece_sink){context, view_count});
}

static inline void view_open_with(view_world* w, view_options options) {
    static const net_send_tap tap = {.snapshot = view_take_apart};
    memset(w, 0, sizeof *w);
    repl_open_with(&w->server, false, VIEW_INDEX_MAX, repl_class_text);
    w->agent = ecs_template_find(w->server.world, "agent");
    w->spirit = ecs_template_find(w->server.world, "spirit");
    w->ammo = ecs_component_find(w->server.world, "ammo");
    w->plan = ecs_component_find(w->server.world, "plan");
    w->interest = fake_scopes_create(VIEW_INDEX_MAX);
    net_replicator_config config = {.allocator = options.allocator,
                                    .rows = w->server.rows,
                                    .index_max = VIEW_INDEX_MAX,
                                    .interest = w->interest,
                                    .tap = options.is_taken_apart ? &tap : NULL,
                                    .tap_context = w,
                                    .solo = &net_solo_part,
                                    .is_solo = options.is_solo};
    w->replicator = net_replicator_create(&config);
    w->has_solo_code = options.has_solo_code;
    w->client_count = options.client_count ? options.client_count : 1;
    for (uint32_t i = 0; i < w->client_count; i++) {
        w->clients[i].seq = options.first_seq ? options.first_seq : 65534;
        view_join(w, i);
    }
}

static inline void view_open(view_world* w) {
    view_open_with(w, (view_options){0});
}

static inline void view_close(view_world* w) {
    for (uint32_t i = 0; i < w->client_count; i++) {
        net_mirror_destroy(w->clients[i].mirror);
        net_repl_state_destroy(w->clients[i].repl);
        repl_close(&w->clients[i].side);
    }
    net_replicator_destroy(w->replicator);
    fake_scopes_destroy(w->interest);
    repl_close(&w->server);
}

static inline void view_step(view_world* w) {
    ecs_step step = {.tick = ++w->tick, .dt = 0.5f};
    ecs_world_step(w->server.world, &step);
    net_replicator_step(w->replicator, w->server.world, w->tick);
    ecs_changes_clear(w->server.world);
    net_replicator_publish(w->replicator);
}

/// Move an entity, and step.
static inline void view_move(view_world* w, ecs_entity entity, float x, float y) {
    repl_move(&w->server, entity, x, y);
    view_step(w);
}

static inline void view_write_room(view_world* w, uint32_t number, net_repl_state_room room) {
    view_client* c = &w->clients[number];
    memset(c->body, 0, sizeof c->body);
    proto_bit_writer writer = proto_bit_writer_make(c->body, sizeof c->body);
    c->records = net_repl_state_write(c->repl, c->seq++, room, &writer);
    c->bits = writer.size_bits;
    assert_true(c->bits <= room.hard);
    assert_true((c->records > 0) == (c->bits > 0));
}

/// Write a packet. @return its sequence number.
static inline uint16_t view_write(view_world* w, uint32_t number) {
    view_write_room(
        w, number, (net_repl_state_room){.hard = VIEW_BODY_BYTES * 8, .soft = VIEW_BODY_BYTES * 8});
    return (uint16_t)(w->clients[number].seq - 1);
}

/// Write a packet. @return how many records it has.
static inline uint32_t view_records(view_world* w, uint32_t number) {
    (void)view_write(w, number);
    return w->clients[number].records;
}

/// Step, and write a packet for the first client. @return its sequence number.
static inline uint16_t view_tell(view_world* w) {
    view_step(w);
    return view_write(w, 0);
}

/// Deliver the last written packet to the client.
static inline net_result view_deliver(view_world* w, uint32_t number) {
    view_client* c = &w->clients[number];
    proto_bit_reader reader = proto_bit_reader_make(c->body, (size_t)(c->bits + 7) / 8);
    net_result result =
        net_mirror_read(c->mirror, (uint16_t)(c->seq - 1), w->tick, c->bits ? &reader : NULL);
    ecs_changes_clear(c->side.world);
    return result;
}

static inline void view_ack(view_world* w, uint32_t number) {
    assert_ok(view_deliver(w, number));
    assert_true(
        net_repl_state_acked(w->clients[number].repl, (uint16_t)(w->clients[number].seq - 1)));
}

/// Write, deliver, acknowledge.
static inline void view_send(view_world* w, uint32_t number) {
    (void)view_write(w, number);
    view_ack(w, number);
}

/// The same for the first client, with room for this many bits.
static inline void view_send_room(view_world* w, uint32_t hard, uint32_t soft) {
    view_write_room(w, 0, (net_repl_state_room){.hard = hard, .soft = soft});
    view_ack(w, 0);
}

/// Step, write, deliver, acknowledge.
static inline void view_exchange(view_world* w) {
    view_step(w);
    for (uint32_t i = 0; i < w->client_count; i++)
        view_send(w, i);
}

static inline void view_exchanges(view_world* w, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        view_exchange(w);
}

/// Move an entity, and exchange.
static inline void view_carry(view_world* w, ecs_entity entity, float x, float y) {
    repl_move(&w->server, entity, x, y);
    view_exchange(w);
}

static inline const net_repl_state_counters* view_counters(const view_world* w) {
    return &w->repl->counters;
}

static inline fake_scope* view_scope(view_world* w, uint32_t number, ecs_entity entity) {
    return fake_scope_at(w->interest, number, ecs_entity_index(entity));
}

static inline bool view_is_equal(view_world* w, uint32_t number) {
    return repl_scope(&w->clients[number].side) == repl_scope(&w->server);
}

static inline int32_t view_client_value(view_world* w, uint32_t number, ecs_entity entity,
                                        const char* component) {
    ecs_world* world = w->clients[number].side.world;
    const int32_t* value = ecs_find(world, entity, ecs_component_find(world, component));
    assert_non_null(value);
    return *value;
}

static inline void view_set(view_world* w, ecs_entity entity, ecs_component_id component,
                            int32_t value) {
    assert_ok(ecs_set(w->server.world, entity, component, &value));
}

/// Cases with one client, and with options: VIEW_WITH_CASE(name, .client_count = 2).
#define VIEW_CASE(name) CASE_WITH(view_world, w, view_open(w), view_close(w), name)
/// A case with a mover in the server's world.
#define BALL_CASE(name)                                                                            \
    CASE_GIVEN(view_world, w, view_open(w), view_close(w), ecs_entity, ball,                       \
               repl_create(&w->server, w->server.mover), name)
#define VIEW_WITH_CASE(name, ...)                                                                  \
    CASE_WITH(view_world, w, view_open_with(w, (view_options){__VA_ARGS__}), view_close(w), name)
