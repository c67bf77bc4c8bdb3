// SPDX-License-Identifier: MIT
// A match that survives its servers: one runs it and writes the stream, others stand by. Servers
// die or sleep at any moment; clients come back with their secrets to the one that has the match.
#include "enet_room.h"
#include "log/log_files.h"
#include "broker_sim.h"
#include "swarm.h"

#include "base/rng.h"
#include "ecs/save.h"
#include "log/log_read.h"
#include "tools/standby.h"

enum { SEATS = 8, NODES = 3, TAKEOVER_MS = 300, BROKER_MS = 5, PORT = 7777 };
#define MS UINT64_C(1000)

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
    bool is_open, is_primary, is_fenced;
} node;

typedef struct fleet {
    log_files files;
    broker_sim* broker;
    net_module* module;
    base_rng rng;
    node nodes[NODES];
    room_seat seats[SEATS];
    char homes[SEATS][32]; // the server that a seat talks to
    uint64_t now_us;
    uint64_t gap_us, tick_us; // the longest time without a tick, and when the newest one was
    char said[4096];
} fleet;

static void hear(void* context, const char* file, uint32_t line, const char* text) {
    fleet* self = context;
    (void)file, (void)line;
    const size_t used = strlen(self->said);
    snprintf(self->said + used, sizeof self->said - used, "%s\n", text);
}

static void make_secret(void* context, uint32_t client, void* bytes, size_t size) {
    (void)context;
    memset(bytes, (int)(client * 7 & 0xff), size);
}

static void address_of(char text[32], uint32_t number) {
    snprintf(text, 32, "127.0.0.1:%u", PORT + number);
}

// ---- servers ----

static void open_server(fleet* self, node* at, uint64_t identity) {
    char listen[32];
    snprintf(at->log_file, sizeof at->log_file, "%s/%u.slog", self->files.folder, at->number);
    const net_stream_tap_config tap = {
        .log_file = at->log_file, .waiting_bytes = 1u << 18, .is_following = at->standby != NULL};
    assert_ok(net_stream_tap_create(&tap, &at->tap));
    net_log_options log = net_log_options_default();
    log.identity = identity;
    log.has_controls = log.is_manual = true;
    log.tap = net_stream_tap_log(at->tap);
    assert_ok(net_log_writer_create_as(NULL, at->log_file, &log, at->match, "test", 0,
                                       test_reporter(), &at->log));
    address_of(listen, at->number);
    const net_enet_config enet = {.listen = listen, .peers_max = SEATS + 8};
    assert_ok(net_transport_enet_create(&enet, &at->transport));
    const net_server_config server = {.match = at->match,
                                      .transport = at->transport,
                                      .log = at->log,
                                      .clients_max = SEATS,
                                      .secret = make_secret,
                                      .is_following = at->standby != NULL};
    assert_ok(net_server_create(&server, &at->server));
    at->is_open = true;
}

static void make_writer(fleet* self, node* at) {
    const net_stream_writer_config config = {.broker = broker_sim_connect(self->broker),
                                             .source = net_stream_tap_source(at->tap),
                                             .claim = {.writer = 100 + at->number}};
    assert_ok(net_stream_writer_create(&config, &at->writer));
}

static void open_first(fleet* self) {
    node* at = &self->nodes[0];
    net_match_config match = net_match_config_default(self->module);
    match.seed = 5;
    match.settings[0] = 1e9; // it never rests
    assert_ok(net_match_create(&match, test_reporter(), &at->match));
    open_server(self, at, 0);
    net_log_pump(at->log);
    make_writer(self, at);
    net_log_reader* reader = NULL;
    assert_ok(net_log_reader_create(NULL, at->log_file, test_reporter(), &reader));
    size_t size;
    const uint8_t* header = net_log_reader_header(reader, &size);
    net_stream_writer_claim(at->writer, &(net_stream_position){.epoch = 0}, header, size);
    for (; net_stream_writer_status(at->writer)->state != NET_STREAM_OWNED; self->now_us += MS) {
        (void)net_stream_writer_poll(at->writer, self->now_us);
        broker_sim_run(self->broker, self->now_us);
    }
    net_log_reader_destroy(reader);
    at->is_primary = true;
}

static node* open_standby(fleet* self, uint32_t number) {
    node* at = &self->nodes[number];
    static base_reporter reporter;
    reporter = (base_reporter){hear, self};
    const net_standby_config config = {.broker = broker_sim_connect(self->broker),
                                       .name = "the stream",
                                       .takeover_us = TAKEOVER_MS * MS,
                                       .reporter = &reporter};
    assert_ok(net_standby_create(&config, &at->standby));
    net_result result;
    for (; (result = net_standby_find(at->standby, self->now_us)) == NET_ERR_FULL;
         self->now_us += MS)
        broker_sim_run(self->broker, self->now_us);
    assert_ok(result);
    net_follow* follow = net_standby_follow(at->standby);
    assert_ok(net_follow_make_match(follow, self->module, &at->match));
    open_server(self, at, net_follow_info(follow)->identity);
    make_writer(self, at);
    net_standby_open(at->standby, at->tap, at->writer);
    return at;
}

// Without a word: kill -9.
static void kill_node(node* at) {
    if (!at->is_open) return;
    at->is_open = at->is_primary = false;
    net_stream_writer_destroy(at->writer);
    (void)!net_log_writer_destroy(at->log);
    net_server_destroy(at->server);
    at->transport->ops->destroy(at->transport);
    net_standby_destroy(at->standby);
    net_stream_tap_destroy(at->tap);
    net_match_destroy(at->match);
    at->writer = NULL;
}

// ---- clients ----

static void sit(fleet* self, uint32_t index, const uint8_t* secret) {
    room_seat* seat = &self->seats[index];
    net_match_config match = net_match_config_default(self->module);
    match.role = NET_ROLE_MIRROR;
    assert_ok(net_match_create(&match, test_reporter(), &seat->match));
    const net_client_config client = {.match = seat->match,
                                      .transport = seat->transport,
                                      .address = self->homes[index],
                                      .name = "member",
                                      .is_bot = true,
                                      .seed = index + 1,
                                      .secret = secret};
    assert_ok(net_client_create(&client, &seat->client));
}

// What a program does when its server is gone: to the one that has the match now.
static void move_seat(fleet* self, uint32_t index, const node* to) {
    room_seat* seat = &self->seats[index];
    uint8_t secret[NET_RESUME_BYTES];
    make_secret(NULL, net_client_number(seat->client), secret, sizeof secret);
    net_client_destroy(seat->client);
    net_match_destroy(seat->match);
    seat->transport->ops->destroy(seat->transport);
    assert_ok(net_transport_enet_create(&(net_enet_config){.peers_max = 1}, &seat->transport));
    address_of(self->homes[index], to->number);
    sit(self, index, secret);
}

static bool is_in(const fleet* self, uint32_t index) {
    const net_client* client = self->seats[index].client;
    return net_client_get_phase(client) == NET_CLIENT_PLAYING &&
           net_client_player(client) != ECS_ENTITY_NONE;
}

static uint32_t count_in(const fleet* self) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < SEATS && self->seats[i].client; i++)
        count += is_in(self, i);
    return count;
}

// ---- time ----

static void note_tick(fleet* self) {
    if (self->tick_us > 0 && self->now_us - self->tick_us > self->gap_us)
        self->gap_us = self->now_us - self->tick_us;
    self->tick_us = self->now_us;
}

static void live_standby(fleet* self, node* at) {
    while ((at->state = net_standby_run(at->standby, at->server, self->now_us)) == NET_STANDBY_RAN)
        net_log_pump(at->log);
    if (at->state != NET_STANDBY_HAS) {
        net_server_tick(at->server, self->now_us);
        return;
    }
    at->is_primary = true;
    for (uint32_t i = 0; i < SEATS && self->seats[i].client; i++)
        move_seat(self, i, at);
}

static void live(fleet* self, node* at, bool is_tick) {
    if (!at->is_open || at->is_fenced || self->now_us < at->asleep_until_us) return;
    if (at->is_primary) {
        (void)net_stream_writer_poll(at->writer, self->now_us);
        const net_stream_status* status = net_stream_writer_status(at->writer);
        assert_true(status->state == NET_STREAM_OWNED || status->state == NET_STREAM_FENCED ||
                    status->state == NET_STREAM_ENDED);
        at->is_fenced = status->state == NET_STREAM_FENCED;
        if (at->is_fenced) at->is_primary = false;
    }
    if (at->is_fenced || !is_tick) return;
    net_server_service(at->server, self->now_us);
    if (at->standby && !at->is_primary) {
        live_standby(self, at);
    } else {
        const ecs_tick before = net_match_tick(at->match);
        net_server_tick(at->server, self->now_us);
        if (net_match_tick(at->match) > before) note_tick(self);
    }
    net_log_pump(at->log);
}

static void step(fleet* self) {
    for (uint32_t i = 0; i < 3; i++) { // the broker is faster than ticks
        self->now_us += ROOM_TICK_US / 3;
        net_socket_virtual_advance(self->now_us);
        broker_sim_run(self->broker, self->now_us);
        for (uint32_t k = 0; k < NODES; k++)
            live(self, &self->nodes[k], i == 0);
    }
    for (uint32_t i = 0; i < SEATS && self->seats[i].client; i++) {
        net_client_service(self->seats[i].client, self->now_us);
        net_client_tick(self->seats[i].client, self->now_us);
    }
}

static void run(fleet* self, uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++)
        step(self);
}

static node* primary(fleet* self) {
    for (uint32_t i = 0; i < NODES; i++)
        if (self->nodes[i].is_primary && self->nodes[i].asleep_until_us <= self->now_us)
            return &self->nodes[i];
    return NULL;
}

static node* await_primary(fleet* self, uint32_t steps) {
    for (uint32_t i = 0; i < steps && !primary(self); i++)
        step(self);
    assert_non_null(primary(self));
    return primary(self);
}

static void await_seats(fleet* self, uint32_t seats) {
    for (uint32_t i = 0; i < 900 && count_in(self) < seats; i++)
        step(self);
    assert_int_equal(count_in(self), seats);
}

// ---- a fleet ----

static void open_fleet(fleet* self, uint64_t seed) {
    memset(self, 0, sizeof *self);
    self->rng = base_rng_make(seed, 1);
    files_open_fast(&self->files);
    net_socket_virtual_set(true, seed);
    assert_ok(net_socket_link_set(NULL));
    self->now_us = 1000000;
    net_socket_virtual_advance(self->now_us);
    self->broker = broker_sim_create(seed);
    broker_sim_set_faults(
        self->broker, &(broker_sim_faults){.delay_us_min = 300, .delay_us_max = BROKER_MS * MS});
    assert_ok(net_module_wrap(swarm_module_get(), swarm_templates(), "swarm.blk", test_reporter(),
                              &self->module));
    for (uint32_t i = 0; i < NODES; i++)
        self->nodes[i].number = i;
    open_first(self);
}

static void close_fleet(fleet* self) {
    for (uint32_t i = 0; i < SEATS && self->seats[i].client; i++) {
        net_client_destroy(self->seats[i].client);
        self->seats[i].transport->ops->destroy(self->seats[i].transport);
        net_match_destroy(self->seats[i].match);
    }
    for (uint32_t i = 0; i < NODES; i++)
        kill_node(&self->nodes[i]);
    broker_sim_destroy(self->broker);
    net_module_close(self->module);
    assert_ok(net_socket_link_set(NULL));
    net_socket_virtual_set(false, 0);
    files_close(&self->files);
}

static void seat_all(fleet* self, uint32_t seats) {
    for (uint32_t i = 0; i < seats; i++) {
        address_of(self->homes[i], 0);
        assert_ok(net_transport_enet_create(&(net_enet_config){.peers_max = 1},
                                            &self->seats[i].transport));
        sit(self, i, NULL);
    }
    await_seats(self, seats);
}

#define FLEET_CASE(name, seed)                                                                     \
    CASE_WITH(fleet, self, open_fleet(self, seed), close_fleet(self), name)

// The match ends here: clients have what the server has, and its log is one match from tick 1 on.
static void ends_well(fleet* self, node* at, uint32_t seats) {
    net_server_stop(at->server, self->now_us);
    for (uint32_t i = 0; i < 300 && net_server_get_phase(at->server) != NET_SERVER_ENDED; i++)
        step(self);
    for (uint32_t i = 0; i < seats; i++) {
        const net_client_report report = net_client_get_report(self->seats[i].client);
        const net_peer_report* peer = server_report_of(at->server, report.client);
        assert_int_equal(report.end, NET_CLIENT_END_GOODBYE);
        assert_true(peer->is_caught_up && peer->scope.hash == report.scope.hash);
        assert_false(report.differs);
    }
    net_log_append_close(at->log, at->match);
    assert_ok(net_log_writer_destroy(at->log));
    at->log = NULL;
    net_log_reader* reader = NULL;
    net_verify_result result;
    assert_ok(net_log_reader_create(NULL, at->log_file, test_reporter(), &reader));
    assert_ok(net_log_verify(reader, self->module, 0, NULL, NULL, test_reporter(), &result));
    assert_true(result.state_hash == ecs_world_state_hash(net_match_world(at->match)));
    assert_int_equal(result.ticks, net_match_tick(at->match));
    assert_true(net_log_reader_info(reader)->is_closed);
    net_log_reader_destroy(reader);
}

FLEET_CASE(a_standby_goes_on_with_the_match_of_a_server_that_died, 1) {
    node* second = open_standby(self, 1);
    seat_all(self, 2);
    run(self, 120);
    const ecs_tick tick = net_match_tick(self->nodes[0].match);
    assert_in_range(tick - net_match_tick(second->match), 0, 2);
    const ecs_entity player = net_match_player(self->nodes[0].match, 1);
    kill_node(&self->nodes[0]);
    assert_ptr_equal(await_primary(self, 60), second);
    assert_true(net_match_tick(second->match) + 2 >= tick);
    await_seats(self, 2);
    assert_int_equal(net_match_player(second->match, 1), player);
    assert_in_range(self->gap_us, TAKEOVER_MS * MS, (TAKEOVER_MS + 150) * MS);
    assert_int_equal(net_server_get_counters(second->server)->joins, 0);
    ends_well(self, second, 2);
}

static void survives(uint64_t seed) {
    fleet fleet_of;
    fleet* self = &fleet_of;
    open_fleet(self, seed);
    const net_link_config bad = {.delay_ms = 30, .jitter_ms = 10, .loss_percent = 5, .seed = seed};
    (void)open_standby(self, 1);
    (void)open_standby(self, 2);
    seat_all(self, SEATS);
    assert_ok(net_socket_link_set(&bad));
    run(self, 30 + base_rng_below(&self->rng, 60));
    for (uint32_t i = 0; i < 2; i++) {
        kill_node(primary(self));
        (void)await_primary(self, 90);
        await_seats(self, SEATS);
        run(self, base_rng_below(&self->rng, 60));
    }
    node* last = primary(self);
    assert_int_equal(net_server_get_counters(last->server)->joins, 0);
    run(self, 60);
    ends_well(self, last, SEATS);
    close_fleet(self);
}

CASE(eight_players_survive_two_servers_at_random_moments) {
    for (uint64_t seed = 1; seed <= test_scaled(1, 1); seed++) {
        print_message("seed %u\n", (unsigned)seed);
        survives(seed);
    }
}

FLEET_CASE(a_server_that_slept_writes_nothing_any_more, 2) {
    node* second = open_standby(self, 1);
    seat_all(self, 1);
    self->nodes[0].asleep_until_us = self->now_us + 5000 * MS;
    run(self, 240);
    assert_ptr_equal(primary(self), second);
    await_seats(self, 1);
    for (uint32_t i = 0; i < 300 && !self->nodes[0].is_fenced; i++)
        step(self);
    const net_stream_status* status = net_stream_writer_status(self->nodes[0].writer);
    assert_true(self->nodes[0].is_fenced && status->fenced_by == 2);
    run(self, 60);
    assert_int_equal(net_stream_writer_status(second->writer)->state, NET_STREAM_OWNED);
    ends_well(self, second, 1);
}

FLEET_CASE(a_server_that_waits_or_is_paused_keeps_its_match, 3) {
    node* second = open_standby(self, 1);
    net_server_pause_after(self->nodes[0].server, 0);
    run(self, 300);
    assert_int_equal(second->state, NET_STANDBY_WAITS);
    assert_true(self->nodes[0].is_primary && !self->nodes[0].is_fenced);
    kill_node(&self->nodes[0]);
    assert_ptr_equal(await_primary(self, 60), second);
    const ecs_tick tick = net_match_tick(second->match);
    run(self, 60);
    assert_true(net_server_is_paused(second->server)); // as it was
    assert_true(net_match_tick(second->match) == tick);
    net_server_pause_after(second->server, UINT64_MAX);
    run(self, 60);
    assert_true(net_match_tick(second->match) > tick);
}

FLEET_CASE(a_broker_that_stalls_moves_no_match, 4) {
    node* second = open_standby(self, 1);
    seat_all(self, 1);
    broker_sim_stall(self->broker, self->now_us + 5000 * MS);
    run(self, 330);
    assert_int_equal(second->state, NET_STANDBY_WAITS);
    assert_true(self->nodes[0].is_primary && !self->nodes[0].is_fenced);
    run(self, 60);
    assert_true(net_match_tick(self->nodes[0].match) - net_match_tick(second->match) <= 2);
    broker_sim_restart(self->broker, self->now_us + 2000 * MS);
    run(self, 240);
    assert_int_equal(second->state, NET_STANDBY_WAITS);
    assert_true(self->nodes[0].is_primary && !self->nodes[0].is_fenced);
    ends_well(self, &self->nodes[0], 1);
}

// The server's own log has all of it.
FLEET_CASE(without_a_broker_no_match_goes_on_elsewhere, 11) {
    node* second = open_standby(self, 1);
    seat_all(self, 1);
    broker_sim_stall(self->broker, self->now_us + 60000 * MS);
    kill_node(&self->nodes[0]);
    run(self, 300);
    assert_int_equal(second->state, NET_STANDBY_WAITS);
    assert_null(primary(self));
}

FLEET_CASE(of_a_network_in_two_parts_who_reaches_the_broker_has_the_match, 12) {
    node* second = open_standby(self, 1);
    seat_all(self, 1);
    broker_sim_cut(self->broker, 0, self->now_us + 2000 * MS);
    run(self, 90);
    assert_true(second->is_primary && self->nodes[0].is_primary); // it does not know yet
    run(self, 240);
    assert_true(self->nodes[0].is_fenced);
    await_seats(self, 1);
    ends_well(self, second, 1);
}

FLEET_CASE(a_standby_alone_keeps_nothing, 5) {
    (void)open_standby(self, 1);
    seat_all(self, 1);
    kill_node(&self->nodes[1]);
    run(self, 60);
    ends_well(self, &self->nodes[0], 1);
}

// It sees that the match ended, and ends too.
FLEET_CASE(an_end_is_no_silence, 6) {
    node* second = open_standby(self, 1);
    seat_all(self, 1);
    run(self, 30);
    net_server_stop(self->nodes[0].server, self->now_us);
    while (net_server_get_phase(self->nodes[0].server) != NET_SERVER_ENDED)
        step(self);
    net_log_append_close(self->nodes[0].log, self->nodes[0].match);
    run(self, 60);
    assert_int_equal(second->state, NET_STANDBY_ENDED);
    assert_true(net_match_tick(second->match) == net_match_tick(self->nodes[0].match));
}

// A client that does not answer keeps it from its end.
FLEET_CASE(a_server_that_dies_when_the_match_is_over_has_no_heir, 10) {
    node* second = open_standby(self, 1);
    seat_all(self, 1);
    run(self, 30);
    assert_ok(net_socket_link_set(&(net_link_config){.loss_percent = 100}));
    net_server_stop(self->nodes[0].server, self->now_us);
    run(self, 30);
    assert_int_equal(net_server_get_phase(self->nodes[0].server), NET_SERVER_SETTLING);
    kill_node(&self->nodes[0]);
    run(self, 60);
    assert_int_equal(second->state, NET_STANDBY_ENDED);
    assert_non_null(strstr(self->said, "the match was over when its server died"));
}

// ---- a tick that ends servers ----

// The stream has the begin of a tick, and its server died in it.
static void die_in_tick(fleet* self) {
    node* first = &self->nodes[0];
    const net_log_begin begin = {.tick = net_match_tick(first->match) + 1};
    net_log_append_begin(first->log, &begin);
    for (uint32_t i = 0; i < 30; i++) {
        self->now_us += MS;
        broker_sim_run(self->broker, self->now_us);
        (void)net_stream_writer_poll(first->writer, self->now_us);
    }
    kill_node(first);
}

FLEET_CASE(a_tick_that_was_begun_is_run_by_the_next_server, 7) {
    node* second = open_standby(self, 1);
    node* third = open_standby(self, 2);
    seat_all(self, 2);
    run(self, 30);
    const ecs_tick tick = net_match_tick(self->nodes[0].match);
    third->asleep_until_us = self->now_us + 2000 * MS; // it follows later
    die_in_tick(self);
    assert_ptr_equal(await_primary(self, 60), second);
    assert_true(net_match_tick(second->match) >= tick + 1);
    await_seats(self, 2);
    run(self, 120);
    assert_int_equal(third->state, NET_STANDBY_WAITS);
    assert_in_range(net_match_tick(second->match) - net_match_tick(third->match), 0, 2);
    ends_well(self, second, 2);
}

FLEET_CASE(a_tick_that_ended_two_servers_ends_no_third, 8) {
    node* second = open_standby(self, 1);
    node* third = open_standby(self, 2);
    seat_all(self, 2);
    run(self, 30);
    third->asleep_until_us = self->now_us + 1000 * MS;
    die_in_tick(self);
    while (second->state != NET_STANDBY_CLAIMS)
        step(self);
    // Its claim is on the way; it dies in the tick that it is about to run.
    (void)net_stream_writer_poll(second->writer, self->now_us);
    for (uint32_t i = 0; i < 30; i++) {
        self->now_us += MS;
        broker_sim_run(self->broker, self->now_us);
    }
    kill_node(second);
    run(self, 240);
    assert_int_equal(third->state, NET_STANDBY_WAITS);
    assert_true(net_standby_get_report(third->standby).is_given_up);
    assert_non_null(strstr(self->said, "ended two servers: the match does not go on here"));
    run(self, 700);
    assert_int_equal(third->state, NET_STANDBY_FAILED);
    assert_null(primary(self));
}

// The crash of a server may be faster than what it sends.
FLEET_CASE(a_begin_that_never_came_ends_no_third_server_either, 13) {
    node* second = open_standby(self, 1);
    node* third = open_standby(self, 2);
    seat_all(self, 2);
    run(self, 30);
    third->asleep_until_us = self->now_us + 1000 * MS;
    kill_node(&self->nodes[0]);
    while (second->state != NET_STANDBY_CLAIMS)
        step(self);
    (void)net_stream_writer_poll(second->writer, self->now_us);
    for (uint32_t i = 0; i < 30; i++) {
        self->now_us += MS;
        broker_sim_run(self->broker, self->now_us);
    }
    kill_node(second);
    run(self, 240);
    char text[64];
    snprintf(text, sizeof text, "tick %u ended two servers",
             (unsigned)net_match_tick(third->match) + 1);
    assert_int_equal(third->state, NET_STANDBY_WAITS);
    assert_non_null(strstr(self->said, text));
    assert_null(primary(self));
}

// ---- a run that differs ----

static void disturb(const ecs_stage* stage, const ecs_rows* rows) {
    (void)rows;
    if (stage->tick == 100)
        (void)ecs_command_create(stage->world, ecs_template_find(stage->world, "mote"), NULL, 0);
}

static ecs_result register_disturbed(ecs_world* world, void** context,
                                     const base_reporter* reporter) {
    static const char* const SERVER[] = {"server"};
    const ecs_result result = swarm_module_get()->register_systems(world, context, reporter);
    const ecs_system_desc desc = {.name = "disturb",
                                  .stage = "act",
                                  .run = disturb,
                                  .tags = SERVER,
                                  .tag_count = 1,
                                  .context = *context};
    return result == ECS_OK ? ecs_system_register(world, &desc) : result;
}

FLEET_CASE(a_standby_that_differs_says_the_tick_and_never_claims, 9) {
    net_game_module game = *swarm_module_get();
    net_module* module = self->module;
    game.register_systems = register_disturbed;
    assert_ok(
        net_module_wrap(&game, swarm_templates(), "swarm.blk", test_reporter(), &self->module));
    node* second = open_standby(self, 1);
    net_module* other = self->module;
    self->module = module;
    seat_all(self, 1);
    run(self, 120);
    assert_int_equal(second->state, NET_STANDBY_DIVERGED);
    assert_non_null(strstr(self->said, "the run here differs from the match in tick 100"));
    kill_node(&self->nodes[0]);
    run(self, 120);
    assert_null(primary(self));
    kill_node(second);
    net_module_close(other);
}
