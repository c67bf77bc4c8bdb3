// SPDX-License-Identifier: MIT
/// Servers of one match in one process, and its clients: one server runs it and writes the stream,
/// others stand by. They die or sleep at any moment.
#pragma once

#include "broker_sim.h"
#include "session_table.h"

#include "stream/standby.h"

enum { SEATS = 8, NODES = 3, TAKEOVER_MS = 300, BROKER_MS = 5, PORT = 7777, IDENTITY = 77 };
#define MS UINT64_C(1000)
#ifndef FLEET_GAME
#define FLEET_GAME swarm_module_get()
#endif

// A process.
typedef struct node {
    uint32_t number;
    char log_file[128];
    net_match* match;
    net_log_writer* log;
    net_stream_tap* tap;
    net_stream_writer* writer;
    net_transport* transport;
    net_server* server;
    net_standby* standby; // NULL: it began the match
    net_standby_state state;
    uint64_t asleep_until_us;
    uint64_t blind_until_us; // it woke up, and did not look at the stream yet
    ecs_tick took_tick;      // it goes on behind this one
    uint32_t rank;           // servers that had the match before it; 0 also before it has it
    bool is_open, is_primary, is_fenced;
    bool is_handing_over; // it runs no tick
} node;

// What a client does and sees.
typedef struct fleet_eye {
    struct fleet* fleet;
    uint32_t seat;
} fleet_eye;

typedef struct fleet {
    log_files files;
    broker_sim* broker;
    net_module* module;
    base_rng rng;
    node nodes[NODES];
    table_seat seats[SEATS];
    char homes[SEATS][128]; // the server that a seat talks to, or all of them
    uint64_t now_us;
    uint64_t gap_us, tick_us; // the longest time without a tick, and when the newest one was
    char said[4096];
    bool may_fail; // the streams

    /// Of keyed fleets: players find the next server themselves. Others are moved.
    net_key_ring ring;
    fleet_eye eyes[SEATS];
    net_client_trace_fn trace; ///< context: a fleet_eye
    uint32_t takeovers;
} fleet;

static inline void fleet_hear(void* context, const char* file, uint32_t line, const char* text) {
    fleet* self = context;
    const size_t used = strlen(self->said);
    snprintf(self->said + used, sizeof self->said - used, "%s\n", text);
}

static inline void address_of(char text[32], uint32_t number) {
    snprintf(text, 32, "127.0.0.1:%u", PORT + number);
}

// ---- servers ----

static inline void name_standbys(node* at) {
    net_address others[NODES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        char text[32];
        if (i == at->number) continue;
        address_of(text, i);
        assert_ok(net_address_parse(text, &others[count++]));
    }
    net_server_set_standbys(at->server, others, count);
}

static inline void open_server(fleet* self, node* at, uint64_t identity) {
    char listen[32];
    snprintf(at->log_file, sizeof at->log_file, "%s/%u.slog", self->files.folder, at->number);
    const net_stream_tap_config tap = {
        .log_file = at->log_file, .waiting_bytes = 1u << 18, .is_following = at->standby != NULL};
    at->tap = net_stream_tap_create(&tap);
    net_log_options log = net_log_options_default();
    log.identity = identity;
    log.has_controls = log.is_manual = true;
    log.tap = net_stream_tap_log(at->tap);
    assert_ok(net_log_writer_create(NULL, at->log_file, &log, at->match, "test", 0, test_reporter(),
                                    &at->log));
    address_of(listen, at->number);
    net_enet_config enet = {.listen = listen, .peers_max = SEATS + 8};
    if (self->ring.count > 0)
        enet.security = (net_security){.keys = &self->ring, .identity = IDENTITY};
    assert_ok(net_transport_enet_create(&enet, &at->transport));
    net_transport_enet_standby_set(at->transport, self->ring.count > 0 && at->standby);
    const net_server_config server = {.match = at->match,
                                      .transport = at->transport,
                                      .observer = net_log_observer(at->log),
                                      .clients_max = SEATS,
                                      .secret = table_secret,
                                      .is_following = at->standby != NULL};
    assert_ok(net_server_create(&server, &at->server));
    if (self->ring.count > 0) name_standbys(at);
    at->is_open = true;
}

static inline void make_writer(node* at, const net_broker* broker) {
    const net_stream_writer_config config = {.broker = *broker,
                                             .source = net_stream_tap_source(at->tap),
                                             .claim = {.writer = 100 + at->number},
                                             .tick_us = TABLE_TICK_US};
    at->writer = net_stream_writer_create(&config);
}

static inline void open_first(fleet* self, uint32_t tick_rate_hz) {
    node* at = &self->nodes[0];
    at->match = match_made(
        self->module,
        (match_wanted){.seed = 5, .tick_rate_hz = tick_rate_hz, .setting = &(double){1e9}});
    open_server(self, at, self->ring.count > 0 ? IDENTITY : 0);
    net_log_pump(at->log);
    const net_broker broker = broker_sim_connect(self->broker);
    make_writer(at, &broker);
    net_log_reader* reader = files_reader(at->log_file);
    const base_bytes* header = &reader->header;
    net_stream_writer_claim(at->writer, &(net_stream_position){.epoch = 0}, header->data,
                            header->size);
    for (; net_stream_writer_status(at->writer)->state != NET_STREAM_OWNED; self->now_us += MS) {
        (void)net_stream_writer_poll(at->writer, self->now_us);
        broker_sim_run(self->broker, self->now_us);
    }
    net_log_reader_destroy(reader);
    at->is_primary = true;
}

static inline node* open_standby(fleet* self, uint32_t number) {
    node* at = &self->nodes[number];
    static base_reporter reporter;
    reporter = (base_reporter){fleet_hear, self};
    const net_standby_config config = {.broker = broker_sim_connect(self->broker),
                                       .name = "the stream",
                                       .takeover_us = TAKEOVER_MS * MS,
                                       .reporter = &reporter};
    at->standby = net_standby_create(&config);
    net_result result;
    for (;
         (result = net_follow_find(net_standby_follow(at->standby), self->now_us)) == NET_ERR_FULL;
         self->now_us += MS)
        broker_sim_run(self->broker, self->now_us);
    assert_ok(result);
    net_follow* follow = net_standby_follow(at->standby);
    assert_ok(net_follow_make_match(follow, self->module, &at->match));
    open_server(self, at, net_follow_info(follow)->identity);
    make_writer(at, &config.broker);
    net_standby_open(at->standby, at->tap, at->writer);
    return at;
}

// Without a word: kill -9.
static inline void kill_node(node* at) {
    if (!at->is_open) return;
    at->is_open = at->is_primary = false;
    base_owner_destroy(at->writer);
    (void)!net_log_writer_destroy(at->log);
    net_server_destroy(at->server);
    at->transport->ops->destroy(at->transport);
    net_standby_destroy(at->standby);
    net_stream_tap_destroy(at->tap);
    net_match_destroy(at->match);
    at->writer = NULL;
}

// ---- clients ----

static inline void sit(fleet* self, uint32_t index, const uint8_t* secret) {
    assert_ok(seat_meet(&self->seats[index], self->module,
                        (net_client_config){.address = self->homes[index],
                                            .name = "member",
                                            .is_bot = true,
                                            .seed = index + 1,
                                            .trace = self->trace,
                                            .trace_context = &self->eyes[index],
                                            .secret = secret}));
}

// What a program does when its server is gone: to the one that has the match now.
static inline void move_seat(fleet* self, uint32_t index, const node* to) {
    table_seat* seat = &self->seats[index];
    uint8_t secret[NET_RESUME_BYTES];
    table_secret(NULL, net_client_number(seat->client), secret, sizeof secret);
    seat_close(seat);
    assert_ok(seat_line(NULL, 0, &seat->transport));
    address_of(self->homes[index], to->number);
    sit(self, index, secret);
}

static inline bool is_in(const fleet* self, uint32_t index) {
    return seat_plays(&self->seats[index]) &&
           net_client_player(self->seats[index].client) != ECS_ENTITY_NONE;
}

static inline uint32_t count_in(const fleet* self) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < SEATS && self->seats[i].client; i++)
        count += is_in(self, i);
    return count;
}

// ---- time ----

static inline void note_tick(fleet* self) {
    if (self->tick_us > 0 && self->now_us - self->tick_us > self->gap_us)
        self->gap_us = self->now_us - self->tick_us;
    self->tick_us = self->now_us;
}

static inline void live_standby(fleet* self, node* at) {
    while ((at->state = net_standby_run(at->standby, at->server, self->now_us)) == NET_STANDBY_RAN)
        net_log_pump(at->log);
    if (at->state != NET_STANDBY_HAS) {
        net_server_tick(at->server, self->now_us);
        return;
    }
    at->is_primary = true;
    at->took_tick = net_match_tick(at->match);
    net_server_set_epoch(at->server, net_stream_writer_status(at->writer)->epoch);
    at->rank = ++self->takeovers;
    net_transport_enet_standby_set(at->transport, false);
    for (uint32_t i = 0; self->ring.count == 0 && i < SEATS && self->seats[i].client; i++)
        move_seat(self, i, at);
}

static inline void live(fleet* self, node* at, bool is_tick) {
    if (!at->is_open || at->is_fenced || self->now_us < at->asleep_until_us) return;
    if (at->is_primary && self->now_us >= at->blind_until_us) {
        (void)net_stream_writer_poll(at->writer, self->now_us);
        const net_stream_status* status = net_stream_writer_status(at->writer);
        assert_true(status->state >= NET_STREAM_OWNED);
        assert_true(status->state != NET_STREAM_FAILED || self->may_fail);
        at->is_fenced = status->state == NET_STREAM_FENCED;
        net_server_set_epoch(at->server, status->epoch);
        if (at->is_fenced) at->is_primary = false;
    }
    if (at->is_fenced || !is_tick) return;
    net_server_service(at->server, self->now_us);
    if (at->standby && !at->is_primary) {
        live_standby(self, at);
    } else if (!at->is_handing_over) {
        const ecs_tick before = net_match_tick(at->match);
        net_server_tick(at->server, self->now_us);
        if (net_match_tick(at->match) > before) note_tick(self);
    }
    net_log_pump(at->log);
}

static inline void step(fleet* self) {
    for (uint32_t i = 0; i < 3; i++) { // the broker is faster than ticks
        self->now_us += TABLE_TICK_US / 3;
        wire_advance(self->now_us);
        broker_sim_run(self->broker, self->now_us);
        for (uint32_t k = 0; k < NODES; k++)
            live(self, &self->nodes[k], i == 0);
    }
    seats_step(self->seats, SEATS, self->now_us);
}

static inline void run(fleet* self, uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++)
        step(self);
}

static inline node* primary(fleet* self) {
    for (uint32_t i = 0; i < NODES; i++)
        if (self->nodes[i].is_primary && self->nodes[i].asleep_until_us <= self->now_us)
            return &self->nodes[i];
    return NULL;
}

static inline node* await_primary(fleet* self, uint32_t steps) {
    for (uint32_t i = 0; i < steps && !primary(self); i++)
        step(self);
    assert_non_null(primary(self));
    return primary(self);
}

static inline void await_seats(fleet* self, uint32_t seats) {
    for (uint32_t i = 0; i < 900 && count_in(self) < seats; i++)
        step(self);
    assert_int_equal(count_in(self), seats);
}

// ---- a fleet ----

static inline void open_fleet_with(fleet* self, uint64_t seed, bool has_keys,
                                   uint32_t tick_rate_hz) {
    memset(self, 0, sizeof *self);
    net_key_make(7, net_entropy_system(), &self->ring.keys[0]);
    self->ring.count = has_keys;
    self->rng = base_rng_make(seed, 1);
    files_open(&self->files);
    wire_set(true, seed);
    net_socket_link_set(NULL);
    self->now_us = 1000000;
    wire_advance(self->now_us);
    self->broker = broker_sim_create(seed);
    broker_sim_set_faults(
        self->broker, &(broker_sim_faults){.delay_us_min = 300, .delay_us_max = BROKER_MS * MS});
    assert_ok(net_module_wrap(FLEET_GAME, swarm_templates(), "swarm.blk", test_reporter(),
                              &self->module));
    for (uint32_t i = 0; i < NODES; i++)
        self->nodes[i].number = i;
    open_first(self, tick_rate_hz);
}

static inline void close_fleet(fleet* self) {
    for (uint32_t i = 0; i < SEATS && self->seats[i].client; i++)
        seat_close(&self->seats[i]);
    for (uint32_t i = 0; i < NODES; i++)
        kill_node(&self->nodes[i]);
    broker_sim_destroy(self->broker);
    net_module_close(self->module);
    net_socket_link_set(NULL);
    wire_set(false, 0);
    files_close(&self->files);
}

static inline void seat_all(fleet* self, uint32_t seats) {
    for (uint32_t i = 0; i < seats; i++) {
        address_of(self->homes[i], 0);
        for (uint32_t k = 1; self->ring.count > 0 && k < NODES; k++) {
            strcat(self->homes[i], ",");
            address_of(self->homes[i] + strlen(self->homes[i]), k);
        }
        self->eyes[i] = (fleet_eye){self, i};
        scarce_init(&self->seats[i].memory);
        assert_ok(seat_line(&self->ring, i + 1, &self->seats[i].transport));
        sit(self, i, NULL);
    }
    await_seats(self, seats);
}

static inline void open_fleet_of(fleet* self, uint64_t seed, uint32_t standbys, uint32_t seats) {
    open_fleet_with(self, seed, false, NET_TICK_RATE_HZ_DEFAULT);
    for (uint32_t i = 1; i <= standbys; i++)
        (void)open_standby(self, i);
    if (seats > 0) seat_all(self, seats);
}

/// A case with a server that runs the match, so many that stand by, and players.
#define FLEET_CASE(name, seed, standbys, seats)                                                    \
    static void name##_of(fleet* self, node* first, node* second, node* third);                    \
    CASE_WITH(fleet, self, open_fleet_of(self, seed, standbys, seats), close_fleet(self), name) {  \
        name##_of(self, &self->nodes[0], &self->nodes[1], &self->nodes[2]);                        \
    }                                                                                              \
    static void name##_of(fleet* self, node* first, node* second, node* third)

static inline void await_takeover(fleet* self, node* by, uint32_t steps, uint32_t seats) {
    assert_ptr_equal(await_primary(self, steps), by);
    await_seats(self, seats);
}

static inline void keeps_match(const node* first, const node* second) {
    assert_int_equal(second->state, NET_STANDBY_WAITS);
    assert_true(first->is_primary && !first->is_fenced);
}

// The match ends here: clients have what the server has, and its log is one match from tick 1 on.
static inline void ends_well(fleet* self, node* at, uint32_t seats) {
    net_server_stop(at->server, self->now_us);
    for (uint32_t i = 0; i < 300 && net_server_get_phase(at->server) != NET_SERVER_ENDED; i++)
        step(self);
    seats_agree(at->server, self->seats, seats);
    net_log_append_close(at->log, at->match);
    assert_ok(net_log_writer_destroy(at->log));
    at->log = NULL;
    assert_int_equal(log_verify(at->log_file, self->module, at->match).ticks,
                     net_match_tick(at->match));
}
