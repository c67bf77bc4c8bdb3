// SPDX-License-Identifier: MIT
#include "bench_repl.h"

#include "session/acks.h"
#include "mirror/mirror.h"
#include "net/solo.h"

#include <math.h>

#define FLYING_MAX 16u
#define LAG_TICKS 2u
#define LAG_SPAN 5u
#define UNUSED_INDICES 16u
#define UNUSED_INDICES_OF_BIRTHS 4096u // an index is used again late
#define RADIUS 64.0f
#define SIDE_MAX 4000.0f
#define SPEED_MAX 0.25f  // per tick: 7.5 units a second
#define ACTIVE_TICKS 32u // then other entities move
#define TURN_EVERY 16u   // on average
#define HIT_EVERY 32u
#define LOSS_PERCENT 2u
#define SETTLE_TICKS 2000u
#define SAMPLED_CLIENTS 16u

#define TEMPLATES(visible)                                                                         \
    "mover {\n"                                                                                    \
    "  \"pos:p3\"{ _track:b=yes; _replicate:b=yes; _interpolate:b=yes; _min:r=0;"                  \
    " _max:r=4095.96875; _step:r=0.03125; value:p3=0,0,0 }\n"                                      \
    "  \"heading:r\"{ _track:b=yes; _replicate:b=yes; _min:r=-3.2; _max:r=3.2; _bits:i=9;"         \
    " value:r=0 }\n"                                                                               \
    "  \"health:u8\"{ _track:b=yes; _replicate:b=yes; " visible "_bits:i=7; value:u8=100 }\n"      \
    "  \"state:u8\"{ _track:b=yes; _replicate:b=yes; " visible "_bits:i=4; value:u8=1 }\n"

static const char templates[] = TEMPLATES("") "}\n";
static const char team_templates[] =
    TEMPLATES("_visible:t=\"team\"; ") "  \"team:u8\"{ _track:b=yes; value:u8=1 }\n}\n";

typedef struct bench_repl_mover {
    float x, y, dx, dy, heading;
    base_rng rng;
} bench_repl_mover;

typedef struct flying {
    ecs_tick tick, due; // due 0: no packet
    uint16_t seq;
    bool is_lost;
    uint32_t size;
    uint8_t* body; // of verified clients
} flying;

struct bench_repl_client {
    net_repl_state* view;
    net_ack_sender sent;
    net_ack_receiver received;
    flying flying[FLYING_MAX];
    uint32_t lag;
    base_rng rng;
    ecs_world* world; // of verified clients, as the following members
    net_schema* schema;
    net_mirror* mirror;
};

void bench_repl_world(const bench_repl_config* config, bool is_mirror, ecs_world** world,
                      net_schema** schema) {
    base_reporter reporter = base_reporter_stderr();
    const char* text = config->has_teams ? team_templates : templates;
    ecs_world_config world_config = ecs_world_config_default();
    world_config.is_mirror = is_mirror;
    world_config.limits.replicated_index_max = bench_repl_index_max(config);
    bench_ok(ecs_world_create(&world_config, world), "world");
    bench_ok(ecs_template_load(*world, "repl.blk", text, strlen(text), &reporter), "templates");
    bench_ok(ecs_world_seal(*world, &reporter), "seal");
    bench_ok(net_schema_create(NULL, *world, NULL, 0, &reporter, schema), "schema");
}

uint32_t bench_repl_index_max(const bench_repl_config* config) {
    return config->entities + (config->births_per_s ? UNUSED_INDICES_OF_BIRTHS : UNUSED_INDICES);
}

// ---- the world

static void set(bench_repl* self, uint32_t i, ecs_component_id component, const void* value) {
    bench_ok(ecs_set(self->world, self->entities[i], component, value), "ecs_set");
}

static void place(bench_repl* self, uint32_t i) {
    const bench_repl_mover* mover = &self->movers[i];
    const ecs_vec3 pos = {mover->x, mover->y, 8.0f};
    set(self, i, self->pos, &pos);
}

static float between(base_rng* rng, float low, float high) {
    return low + (high - low) * (float)base_rng_below(rng, 1u << 20) / (1u << 20);
}

static void turn(bench_repl_mover* mover) {
    mover->heading = between(&mover->rng, -3.14f, 3.14f);
    mover->dx = between(&mover->rng, -SPEED_MAX, SPEED_MAX);
    mover->dy = between(&mover->rng, -SPEED_MAX, SPEED_MAX);
}

// Give a new entity its place and direction.
static void open_mover(bench_repl* self, uint32_t i) {
    bench_repl_mover* mover = &self->movers[i];
    mover->x = between(&mover->rng, 0, self->side);
    mover->y = between(&mover->rng, 0, self->side);
    turn(mover);
    place(self, i);
    set(self, i, self->heading, &mover->heading);
    if (!self->config.has_teams) return;
    const uint8_t team = (uint8_t)(1 + base_rng_below(&mover->rng, 2));
    set(self, i, self->team, &team);
}

static void create_entities(bench_repl* self) {
    const bench_repl_config* config = &self->config;
    self->mover = ecs_template_find(self->world, "mover");
    self->pos = ecs_component_find(self->world, "pos");
    self->heading = ecs_component_find(self->world, "heading");
    self->health = ecs_component_find(self->world, "health");
    self->team = ecs_component_find(self->world, "team");
    double share = config->visible ? (double)config->entities / config->visible : 16.0;
    self->side = (float)sqrt(share * 3.14159265 * RADIUS * RADIUS);
    bench_require(self->side < SIDE_MAX, "the world is too large for its quantisation");
    self->entities = bench_allocate(config->entities * sizeof *self->entities);
    self->movers = bench_allocate(config->entities * sizeof *self->movers);
    bench_ok(ecs_create_many(self->world, self->mover, config->entities, self->entities), "create");
    for (uint32_t i = 0; i < config->entities; i++) {
        self->movers[i].rng = base_rng_make(i + 1, 7);
        open_mover(self, i);
    }
    self->births = base_rng_make(1, 13);
}

static bool is_active(const bench_repl* self, uint32_t i) {
    uint32_t every = self->config.change_every_ticks;
    if (every) return self->tick % every == i % every;
    uint64_t period = (self->tick + i % ACTIVE_TICKS) / ACTIVE_TICKS;
    uint64_t mixed = (period * 2654435761u + i) * UINT64_C(0x9E3779B97F4A7C15);
    return (mixed >> 33) % 100 < self->dirty_percent;
}

static float bounce(float at, float side, bool* is_turned) {
    if (at >= 0 && at <= side) return at;
    *is_turned = true;
    return at < 0 ? -at : 2 * side - at;
}

static void hit(bench_repl* self, uint32_t i) {
    uint8_t health = (uint8_t)base_rng_below(&self->movers[i].rng, 101);
    set(self, i, self->health, &health);
}

static void move(bench_repl* self, uint32_t i) {
    bench_repl_mover* mover = &self->movers[i];
    mover->x += mover->dx;
    mover->y += mover->dy;
    bool is_turned = base_rng_below(&mover->rng, TURN_EVERY) == 0;
    mover->x = bounce(mover->x, self->side, &is_turned);
    mover->y = bounce(mover->y, self->side, &is_turned);
    place(self, i);
    if (is_turned) {
        turn(mover);
        set(self, i, self->heading, &mover->heading);
    }
    if (base_rng_below(&mover->rng, HIT_EVERY) == 0) hit(self, i);
}

// Some entities that are no players die, and as many are born elsewhere.
static void replace_some(bench_repl* self) {
    const bench_repl_config* config = &self->config;
    uint32_t count = config->clients * config->births_per_s / BENCH_REPL_TICK_RATE_HZ;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t i =
            config->clients + base_rng_below(&self->births, config->entities - config->clients);
        bench_ok(ecs_destroy(self->world, self->entities[i]), "destroy");
        bench_ok(ecs_create(self->world, self->mover, NULL, 0, &self->entities[i]), "create");
        open_mover(self, i);
    }
}

static void step_world(bench_repl* self) {
    for (uint32_t i = 0; i < self->config.entities && self->dirty_percent > 0; i++) {
        if (!is_active(self, i)) continue;
        if (self->config.change_every_ticks)
            hit(self, i);
        else
            move(self, i);
    }
    if (self->dirty_percent > 0) replace_some(self);
    const ecs_step step = {.tick = ++self->tick, .dt = 1.0f / (float)BENCH_REPL_TICK_RATE_HZ};
    ecs_world_step(self->world, &step);
}

// ---- clients

static void open_client(bench_repl* self, uint32_t number) {
    bench_repl_client* client = &self->clients[number];
    client->rng = base_rng_make(number + 1, 11);
    const bench_repl_config* config = &self->config;
    client->lag = LAG_TICKS + number % LAG_SPAN;
    net_ack_sender_init(&client->sent, 0, 0);
    client->received = (net_ack_receiver){.has_any = false};
    if (number < config->verified) {
        uint32_t index_max = bench_repl_index_max(config);
        bench_repl_world(config, true, &client->world, &client->schema);
        const net_mirror_config mirror = {.world = client->world,
                                          .rows = net_schema_rows(client->schema),
                                          .index_max = index_max,
                                          .solo = config->is_solo ? &net_solo_part : NULL};
        client->mirror = net_mirror_create(&mirror);
        for (uint32_t i = 0; i < FLYING_MAX; i++)
            client->flying[i].body = bench_allocate(BENCH_REPL_HARD_BYTES);
    }
    net_interest_add_client(self->interest, number + 1);
    net_interest_set_player(self->interest, number + 1, self->entities[number % config->entities]);
    client->view = net_repl_state_create(self->replicator, number + 1);
    if (config->is_solo) net_repl_state_use_solo(client->view);
}

static void close_client(bench_repl_client* client) {
    net_repl_state_destroy(client->view);
    for (uint32_t i = 0; i < FLYING_MAX; i++)
        bench_release(client->flying[i].body);
    if (!client->mirror) return;
    net_mirror_destroy(client->mirror);
    base_owner_destroy(client->schema);
    ecs_world_destroy(client->world);
}

// Receive what is due now, oldest first.
static void receive(bench_repl* self, bench_repl_client* client) {
    for (uint32_t i = 0; i < FLYING_MAX; i++) {
        flying* packet = &client->flying[(self->tick + i) % FLYING_MAX];
        if (packet->due == 0 || packet->due > self->tick) continue;
        packet->due = 0;
        if (packet->is_lost) continue;
        if (client->mirror) {
            proto_bit_reader reader = proto_bit_reader_make(packet->body, packet->size);
            net_result result = net_mirror_read(client->mirror, packet->seq, packet->tick, &reader);
            bench_ok(result, "a client cannot decode what the server wrote");
        }
        net_ack_receiver_mark(&client->received, packet->seq, self->tick);
    }
}

static void take_fates(bench_repl_client* client, const net_ack_result* result) {
    for (uint32_t i = 0; i < result->acked_count; i++)
        (void)net_repl_state_acked(client->view, result->acked[i]);
    for (uint32_t i = 0; i < result->lost_count; i++)
        (void)net_repl_state_lost(client->view, result->lost[i]);
}

static void acknowledge(bench_repl_client* client, uint64_t now_us, uint32_t tick_us) {
    net_ack_result result;
    if (client->received.has_any) {
        bench_ok(net_ack_sender_receive(&client->sent, now_us, client->received.newest,
                                        client->received.bits, 0, &result),
                 "acknowledgement");
        take_fates(client, &result);
    }
    net_ack_sender_expire(&client->sent, now_us, tick_us, &result);
    take_fates(client, &result);
}

static void write_packet(bench_repl* self, bench_repl_client* client, uint64_t now_us) {
    uint8_t body[BENCH_REPL_HARD_BYTES];
    if (!net_repl_state_has_pending(client->view)) return;
    uint16_t seq = net_ack_sender_add(&client->sent, now_us);
    proto_bit_writer writer = proto_bit_writer_make(body, sizeof body);
    uint32_t soft = self->config.soft_bytes ? self->config.soft_bytes : BENCH_REPL_SOFT_BYTES;
    const net_repl_state_room room = {.hard = BENCH_REPL_HARD_BYTES * 8, .soft = soft * 8};
    (void)net_repl_state_write(client->view, seq, room, &writer);
    flying* packet = &client->flying[self->tick % FLYING_MAX];
    packet->tick = self->tick;
    packet->due = self->tick + client->lag + base_rng_below(&client->rng, 2);
    packet->seq = seq;
    packet->is_lost = base_rng_below(&client->rng, 100) < LOSS_PERCENT || self->is_stalled;
    packet->size = (uint32_t)proto_bit_writer_bytes(&writer);
    if (client->mirror) memcpy(packet->body, body, packet->size);
}

// ---- all together

void bench_repl_init(bench_repl* self, const bench_repl_config* config) {
    memset(self, 0, sizeof *self);
    self->config = *config;
    self->dirty_percent = config->dirty_percent;
    uint32_t index_max = bench_repl_index_max(config);
    bench_repl_world(config, false, &self->world, &self->schema);
    create_entities(self);
    const net_interest_rules rules = {.size_bytes = sizeof rules,
                                      .position = "pos",
                                      .radius = RADIUS,
                                      .team = config->has_teams ? "team" : NULL};
    const net_interest_config interest = {.rules = config->visible ? &rules : NULL,
                                          .world = self->world,
                                          .rows = net_schema_rows(self->schema),
                                          .index_max = index_max,
                                          .tick_rate_hz = BENCH_REPL_TICK_RATE_HZ};
    base_reporter reporter = base_reporter_stderr();
    bench_ok(net_interest_create(&interest, &reporter, &self->interest), "scopes");
    const net_replicator_config replicator = {.rows = net_schema_rows(self->schema),
                                              .index_max = index_max,
                                              .interest = self->interest,
                                              .solo = &net_solo_part};
    self->replicator = net_replicator_create(&replicator);
    self->clients = bench_allocate(config->clients * sizeof *self->clients);
    self->order = bench_allocate(config->clients * sizeof *self->order);
    for (uint32_t i = 0; i < config->clients; i++) {
        self->order[i] = i;
        open_client(self, i);
    }
}

void bench_repl_deinit(bench_repl* self) {
    for (uint32_t i = 0; i < self->config.clients; i++)
        close_client(&self->clients[i]);
    net_replicator_destroy(self->replicator);
    base_owner_destroy(self->interest);
    base_owner_destroy(self->schema);
    ecs_world_destroy(self->world);
    bench_release(self->clients);
    bench_release(self->order);
    bench_release(self->entities);
    bench_release(self->movers);
}

static void sort_by_place(bench_repl* self) {
    for (uint32_t i = 1, at; i < self->config.clients; i++) {
        const uint32_t number = self->order[i], place = self->clients[number].view->place;
        for (at = i; at > 0 && self->clients[self->order[at - 1]].view->place > place; at--)
            self->order[at] = self->order[at - 1];
        self->order[at] = number;
    }
}

static void prefetch_next(const bench_repl* self, uint32_t i) {
    const uint32_t* order = self->order;
    if (i + 2 < self->config.clients)
        net_repl_state_prefetch_self(self->clients[order[i + 2]].view);
    if (i + 1 < self->config.clients) net_repl_state_prefetch(self->clients[order[i + 1]].view);
}

void bench_repl_serve(bench_repl* self) {
    bench_repl_figures* figures = &self->figures;
    uint32_t count = self->config.clients;
    uint64_t now_us = self->tick * 1000000 / BENCH_REPL_TICK_RATE_HZ;
    double acks_ns = bench_now_ns();
    for (uint32_t i = 0; i < count; i++)
        acknowledge(&self->clients[i], now_us, 1000000 / BENCH_REPL_TICK_RATE_HZ);
    double publish_ns = bench_now_ns();
    net_replicator_publish_begin(self->replicator);
    net_replicator_publish_lane_begin(self->replicator, 0);
    double write_ns = bench_now_ns();
    sort_by_place(self);
    for (uint32_t i = 0; i < count; i++) {
        bench_repl_client* client = &self->clients[self->order[i]];
        prefetch_next(self, i);
        net_repl_state_publish(client->view);
        write_packet(self, client, now_us);
    }
    net_replicator_publish_lane_end(self->replicator, 0);
    double end_ns = bench_now_ns();
    figures->acks_ns += publish_ns - acks_ns;
    figures->publish_ns += write_ns - publish_ns;
    figures->write_ns += end_ns - write_ns;
    figures->ticks++;
}

void bench_repl_tick(bench_repl* self) {
    step_world(self);
    double begin_ns = bench_now_ns();
    net_replicator_step(self->replicator, self->world, self->tick);
    self->figures.step_ns += bench_now_ns() - begin_ns;
    ecs_changes_clear(self->world);
    for (uint32_t i = 0; i < self->config.clients; i++)
        receive(self, &self->clients[i]);
    bench_repl_serve(self);
}

static net_repl_state_counters sum(const bench_repl* self) {
    net_repl_state_counters all = {0};
    for (uint32_t i = 0; i < self->config.clients; i++) {
        const net_repl_state_counters* of = &self->clients[i].view->counters;
        all.packets += of->packets;
        all.bits += of->bits;
        all.records_create += of->records_create;
        all.records_update += of->records_update;
        all.records_absolute += of->records_absolute;
        all.records_destroy += of->records_destroy;
        all.records_repeated += of->records_repeated;
        all.rows_made += of->rows_made;
        all.rows_shared += of->rows_shared;
    }
    return all;
}

void bench_repl_clear(bench_repl* self) {
    memset(&self->figures, 0, sizeof self->figures);
    self->counted = sum(self);
}

static uint64_t records_of(const net_repl_state_counters* of) {
    return of->records_create + of->records_update + of->records_absolute + of->records_destroy;
}

void bench_repl_count(bench_repl* self) {
    net_repl_state_counters now = sum(self);
    const net_repl_state_counters* then = &self->counted;
    bench_repl_figures* figures = &self->figures;
    figures->records = records_of(&now) - records_of(then);
    figures->bits = now.bits - then->bits;
    figures->repeated = now.records_repeated - then->records_repeated;
    figures->absolute = now.records_absolute - then->records_absolute;
    figures->made = now.rows_made - then->rows_made;
    figures->shared = now.rows_shared - then->rows_shared;
}

// The hash of the server's row as a client with these classes sees it.
static uint64_t seen_hash(const bench_repl* self, ecs_entity entity, uint32_t classes) {
    const net_row_template* row_template =
        net_rows_find(net_schema_rows(self->schema), ecs_entity_template(self->world, entity));
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    net_rows_read(row_template, self->world, entity, row);
    net_rows_mask(row_template, classes, row);
    return net_row_hash(row_template, row);
}

static const char* compare(const bench_repl* self, const bench_repl_client* client) {
    uint32_t seen = 0, masked = 0;
    for (uint32_t i = 0; i < self->config.entities; i++) {
        ecs_entity entity = self->entities[i];
        uint32_t classes;
        if (!net_repl_state_sees(client->view, entity, &classes)) continue;
        seen++;
        masked += self->config.has_teams && !(classes >> NET_CLASS_TEAM & 1);
        if (net_world_digest_row_hash(client->schema, client->world, entity) !=
            seen_hash(self, entity, classes))
            return "a client has another row than the server";
    }
    if (self->config.has_teams && (masked == 0 || masked == seen))
        return "a client sees all of every row, or all of none";
    return seen == ecs_world_entity_count(client->world) ? NULL
                                                         : "a client has more than it should";
}

const char* bench_repl_verify(bench_repl* self) {
    uint32_t dirty_percent = self->dirty_percent;
    const char* fault = NULL;
    bool is_settled = false;
    self->dirty_percent = 0;
    for (uint32_t i = 0; i < SETTLE_TICKS && !is_settled; i++) {
        bench_repl_tick(self);
        is_settled = true;
        for (uint32_t c = 0; c < self->config.clients && is_settled; c++)
            is_settled = net_repl_state_is_settled(self->clients[c].view);
    }
    if (!is_settled) fault = "clients do not settle";
    for (uint32_t c = 0; c < self->config.verified && !fault; c++)
        fault = compare(self, &self->clients[c]);
    self->dirty_percent = dirty_percent;
    return fault;
}

double bench_repl_visible(const bench_repl* self) {
    uint32_t clients =
        self->config.clients < SAMPLED_CLIENTS ? self->config.clients : SAMPLED_CLIENTS;
    uint64_t seen = 0;
    for (uint32_t c = 0; c < clients; c++) {
        for (uint32_t i = 0; i < self->config.entities; i++)
            seen += net_repl_state_sees(self->clients[c].view, self->entities[i], NULL);
    }
    return (double)seen / clients;
}
