// SPDX-License-Identifier: MIT
// A server dies or sleeps, and another one, which ran the same inputs, goes on with the match at
// another address. On ENet over the virtual wire, in virtual time: the outer layer, ENet and both
// sides of sessions are those of the programs.
#define TABLE_SEATS 3u
#include "address_of.h"
#include "session_table.h"

#include "client/client_state.h"
#include "server/server_state.h"

enum {
    SEATS = TABLE_SEATS,
    GRACE_US = 300000, ///< of silence, until the other server takes over
    SHOUTS = 4,        ///< the message
    HANDLES_MAX = 4096,
};

#define NEXT_ADDRESS "127.0.0.1:7778"

typedef struct takeover_config {
    uint64_t seed;
    double loss, delay_ms; ///< one way
    uint32_t rules;        ///< of a wild swarm; UINT32_MAX: the plain one
    uint32_t lost_ticks;   ///< the last ones, which the other server does not know
    bool is_sleeping;      ///< it wakes up again, a second later
    bool is_short;         ///< the match ends as soon as all are back
    bool is_late;          ///< the other server takes over after the clients dropped the connection
} takeover_config;

typedef struct seat_watch {
    struct takeover* stage;
    uint32_t index, shouts;
    uint8_t was_here[HANDLES_MAX]; ///< by index, generation of an entity when the server died
    uint32_t broken;               ///< entities that go on, and were destroyed or created
    uint64_t back_us;              ///< first state packet of the other server; 0: none yet
} seat_watch;

typedef struct takeover {
    table room; ///< with the server that clients should be at; the first field
    takeover_config config;
    swarm_wild wild;
    net_presenter* view; ///< of the first seat
    net_key_ring ring;
    net_match* next_match;
    net_transport* next_transport;
    net_server* next;
    bool has_taken_over;
    net_tick_inputs begin;        ///< of the tick that the other server has to run; tick 0: none
    net_transport* old_transport; ///< of a server that sleeps
    net_server* old;
    net_match* old_match;
    ecs_tick die_tick;
    uint64_t died_us;
    seat_watch watches[SEATS];
} takeover;

// A net_server_step_fn: the tick runs at both servers.
static bool run_both(void* context, const net_tick_inputs* begin) {
    takeover* at = (takeover*)(table*)context;
    net_match_apply(at->old_match, begin);
    net_match_step(at->old_match);
    if (begin->tick + at->config.lost_ticks > at->die_tick) return true;
    at->begin = *begin; // its lists are the server's, until the next tick
    return true;
}

static bool watch_entities(void* context) {
    seat_watch* watch = context;
    takeover* at = watch->stage;
    const ecs_world* world = net_match_world(at->room.seats[watch->index].match);
    const ecs_world* real = net_match_world(at->next_match);
    const ecs_changes changes = ecs_changes_get(world);
    const bool sees_all = at->config.rules == 0 || at->config.rules == UINT32_MAX;
    if (!at->has_taken_over || !sees_all || at->config.lost_ticks > 0) return true;
    for (uint32_t i = 0; i < changes.destroyed_count; i++)
        watch->broken += ecs_is_alive(real, changes.destroyed[i]);
    for (uint32_t i = 0; i < changes.created_count; i++) {
        const ecs_entity made = changes.created[i];
        watch->broken +=
            ecs_entity_index(made) < HANDLES_MAX &&
            watch->was_here[ecs_entity_index(made)] == (uint8_t)(ecs_entity_generation(made) + 1);
    }
    return true;
}

// The first client is shown to a person, the second has solo code, the third is thin.
static void sit(takeover* at, uint32_t index) {
    seat_watch* watch = &at->watches[index];
    *watch = (seat_watch){.stage = at, .index = index};
    const net_presenter_config view = {.module = at->room.module, .is_predicting = true};
    if (index == 0) assert_ok(net_presenter_create(&view, test_reporter(), &at->view));
    net_client_config client = table_client(&at->room, "member");
    client.presenter = index == 0 ? at->view : NULL;
    client.solo = index == 1 ? &net_solo_part : NULL;
    client.is_thin = index == 2;
    client.stepped = index == 2 ? NULL : watch_entities;
    client.stepped_context = watch;
    (void)table_sit_in(&at->room, at->room.module, NULL, client);
}

// The other server stands by with its own match, at another address.
static void open_next(takeover* at) {
    table* house = &at->room;
    net_server* server = house->server;
    net_transport* transport = house->transport;
    house->match = at->next_match = match_made(
        house->module, (match_wanted){.seed = at->config.seed, .setting = &(double){1e9}});
    house->config.server.step = NULL;
    house->config.clients_min = 0;
    house->config.server.is_following = house->config.has_no_solo = true;
    assert_ok(table_listen(house, NEXT_ADDRESS));
    at->next = house->server;
    at->next_transport = house->transport;
    net_transport_enet_standby_set(at->next_transport, true);
    house->match = at->old_match;
    house->server = server;
    house->transport = transport;
}

static void set_line(takeover* at, uint64_t seed) {
    const net_link_config line = {
        .loss_percent = at->config.loss / 2, .delay_ms = at->config.delay_ms / 2, .seed = seed};
    net_socket_link_set(&line); // a datagram passes two links
}

static void takeover_open(takeover* at, takeover_config config) {
    memset(at, 0, sizeof *at);
    at->config = config;
    at->die_tick = UINT64_MAX / 2;
    net_key_make(7, net_entropy_system(), &at->ring.keys[0]);
    at->ring.count = 1;
    const bool is_plain = config.rules == UINT32_MAX;
    table_open(&at->room,
               (table_config){.seed = config.seed,
                              .quiet = 1e9,
                              .game = is_plain ? NULL : swarm_wild_make(&at->wild, config.rules),
                              .templates = is_plain ? NULL : swarm_wild_templates(),
                              .is_enet = true,
                              .security = {.keys = &at->ring, .identity = 5},
                              .clients_min = SEATS,
                              .server.secret = table_secret,
                              .server.step = run_both});
    set_line(at, config.seed);
    at->old_match = at->room.match;
    open_next(at);
    const net_address other = address_of(NEXT_ADDRESS);
    net_server_set_standbys(at->room.server, &other, 1);
    for (uint32_t i = 0; i < SEATS; i++)
        sit(at, i);
}

static void close_old(takeover* at) {
    if (at->old) net_server_destroy(at->old);
    if (at->old_transport) at->old_transport->ops->destroy(at->old_transport);
    at->old = NULL;
    at->old_transport = NULL;
}

static void takeover_close(takeover* at) {
    close_old(at);
    if (!at->has_taken_over) net_server_destroy(at->next);
    if (!at->has_taken_over) at->next_transport->ops->destroy(at->next_transport);
    if (at->room.match != at->old_match) net_match_destroy(at->old_match);
    if (at->room.match != at->next_match) net_match_destroy(at->next_match);
    table_close(&at->room);
    net_presenter_destroy(at->view);
}

static void shout(takeover* at) {
    for (uint32_t i = 0; i < 2; i++) { // a thin client sends none
        net_client* client = at->room.seats[i].client;
        seat_watch* watch = &at->watches[i];
        if (!seat_plays(&at->room.seats[i]) || net_client_player(client) == ECS_ENTITY_NONE ||
            (at->room.now_us / TABLE_TICK_US + i) % 7 != 0)
            continue;
        const uint32_t number = watch->shouts + 1;
        if (net_client_send_event(client, SHOUTS, &number) == NET_OK) watch->shouts++;
    }
}

static void step(takeover* at) {
    table_step(&at->room);
    (void)net_presenter_frame(at->view, at->room.now_us);
    if (!at->has_taken_over) net_server_service(at->next, at->room.now_us);
    if (!at->has_taken_over && at->begin.tick)
        net_server_follow(at->next, at->room.now_us, &at->begin);
    at->begin.tick = 0;
    shout(at);
    for (uint32_t i = 0; i < SEATS; i++) {
        const net_client* client = at->room.seats[i].client;
        if (at->watches[i].back_us == 0 && client->is_rebased && client->received.has_any)
            at->watches[i].back_us = at->room.now_us;
    }
}

static void run_us(takeover* at, uint64_t us) {
    for (const uint64_t end_us = at->room.now_us + us; at->room.now_us < end_us;)
        step(at);
}

static void note_entities(takeover* at) {
    for (uint32_t i = 0; i < SEATS; i++) {
        const ecs_world* world = net_match_world(at->room.seats[i].match);
        for (ecs_entity one = ecs_entity_next(world, ECS_ENTITY_NONE); one != ECS_ENTITY_NONE;
             one = ecs_entity_next(world, one))
            if (ecs_entity_index(one) < HANDLES_MAX)
                at->watches[i].was_here[ecs_entity_index(one)] =
                    (uint8_t)(ecs_entity_generation(one) + 1);
    }
}

// The last tick of the server was the one before this.
static void die(takeover* at) {
    table* house = &at->room;
    note_entities(at);
    at->died_us = house->now_us;
    at->old = house->server;
    at->old_transport = house->transport;
    house->server = NULL;
    house->transport = NULL;
    if (at->config.is_sleeping) return;
    net_socket_link_set(&(net_link_config){.loss_percent = 100}); // no farewell
    close_old(at);
    set_line(at, at->config.seed + 1);
}

static void take_over(takeover* at) {
    table* house = &at->room;
    net_transport_enet_standby_set(at->next_transport, false);
    at->has_taken_over = true;
    assert_ok(net_server_take_over(at->next, house->now_us));
    house->server = at->next;
    house->transport = at->next_transport;
    house->match = at->next_match;
}

static bool are_playing(const takeover* at) {
    for (uint32_t i = 0; i < SEATS; i++) {
        const net_client* client = at->room.seats[i].client;
        if (!seat_plays(&at->room.seats[i]) || net_client_player(client) == ECS_ENTITY_NONE ||
            !client->has_played)
            return false;
    }
    return true;
}

static void await_all(takeover* at, bool is_back) {
    for (uint32_t i = 0; i < 1200; i++) {
        bool is_done = are_playing(at);
        for (uint32_t k = 0; is_back && k < SEATS; k++)
            is_done &= at->watches[k].back_us != 0;
        if (is_done) return;
        step(at);
    }
    fail_msg("seed %llu: not all play", (unsigned long long)at->config.seed);
}

// The old one wakes up and sends what it has, as long as it does not know better.
static void wake_old(takeover* at) {
    for (uint32_t i = 0; i < 20; i++) {
        net_server_service(at->old, at->room.now_us);
        net_server_tick(at->old, at->room.now_us);
        step(at);
    }
    close_old(at);
}

static void expect_equal_worlds(takeover* at) {
    table* house = &at->room;
    net_server_stop(house->server, house->now_us);
    for (uint32_t i = 0; i < 240 && net_server_get_phase(house->server) != NET_SERVER_ENDED; i++)
        step(at);
    seats_agree(house->server, house->seats, SEATS);
}

// What a person sees at the end is what the client has.
static void expect_view(takeover* at) {
    for (uint32_t i = 0; i < 60; i++)
        step(at);
    const ecs_world* shown = net_match_world(net_presenter_match(at->view));
    const ecs_world* here = net_match_world(at->room.seats[0].match);
    for (ecs_entity one = ecs_entity_next(here, ECS_ENTITY_NONE); one != ECS_ENTITY_NONE;
         one = ecs_entity_next(here, one))
        assert_true(ecs_is_alive(shown, one));
    assert_int_equal(ecs_world_entity_count(shown), ecs_world_entity_count(here));
}

static void expect_events(takeover* at) {
    const swarm_context* real = net_match_context(at->next_match);
    assert_int_equal(real->shout_faults, 0);
    for (uint32_t i = 0; i < 2; i++) {
        const swarm_context* shown = net_match_context(at->room.seats[i].match);
        assert_true(shown->pings > 0);
        if (shown->ping_faults)
            print_error("seed %llu seat %u: pings\n", (unsigned long long)at->config.seed, i);
        assert_int_equal(shown->ping_faults, 0);
    }
}

static void run_takeover(takeover_config config, uint64_t* slowest_us) {
    takeover at;
    takeover_open(&at, config);
    await_all(&at, false);
    base_rng rng = base_rng_make(config.seed, 3);
    run_us(&at, 500000 + base_rng_below(&rng, 500000));
    at.die_tick = net_match_tick(at.room.match) + config.lost_ticks;
    run_us(&at, config.lost_ticks * (uint64_t)TABLE_TICK_US);
    die(&at);
    run_us(&at, config.is_late ? 4000000 : GRACE_US);
    take_over(&at);
    await_all(&at, true);
    if (config.is_sleeping) wake_old(&at);
    if (!config.is_short) run_us(&at, 1000000);
    const net_server_counters* counters = net_server_get_counters(at.next);
    assert_true(counters->joins == 0 && counters->drops == 0 && counters->clients == SEATS);
    assert_true(config.is_short || !at.next->is_recalling);
    for (uint32_t i = 0; i < SEATS; i++) {
        const net_client* client = at.room.seats[i].client;
        const uint64_t took_us = at.watches[i].back_us - at.died_us;
        assert_int_equal(at.watches[i].broken, 0);
        assert_int_equal(client->standby_count, 1); // the next server named none
        assert_int_equal(net_client_player(client),
                         net_match_player(at.next_match, net_client_number(client)));
        if (slowest_us) slowest_us[i] = took_us;
    }
    if (config.lost_ticks == 0 && !config.is_short) expect_events(&at);
    expect_equal_worlds(&at);
    if (config.lost_ticks == 0 && !config.is_short) expect_view(&at);
    takeover_close(&at);
}

CASE(players_go_on_at_another_server) {
    uint64_t took_us[SEATS];
    run_takeover((takeover_config){.seed = 1, .delay_ms = 30, .rules = UINT32_MAX}, took_us);
    for (uint32_t i = 0; i < SEATS; i++) {
        print_message("    first packet after %u ms\n", (uint32_t)(took_us[i] / 1000));
        assert_true(took_us[i] <= 900000);
    }
}

#define TAKEOVER_ROWS(name, i, count, ...)                                                         \
    CASE(name) {                                                                                   \
        for (uint32_t i = 0; i < (count); i++)                                                     \
            run_takeover((takeover_config){.delay_ms = 30, .loss = 5, __VA_ARGS__}, NULL);         \
    }

TAKEOVER_ROWS(values_of_variable_size_and_what_only_some_see_go_on, i, SWARM_RULES_END / 21 + 1,
              .seed = 2 + 21 * i, .rules = 21 * i)

TAKEOVER_ROWS(a_server_that_wakes_up_gets_no_client_back, i, 1, .seed = 3 + i, .rules = UINT32_MAX,
              .is_sleeping = true)

TAKEOVER_ROWS(ticks_that_only_the_dead_server_had_do_no_harm, i, 4, .seed = 5 + i,
              .rules = i % 2 ? 0 : UINT32_MAX, .lost_ticks = i + 1)

// What ended while a client was away leaves its world before the goodbye.
TAKEOVER_ROWS(a_match_that_ends_when_its_players_come_back_ends_with_equal_worlds, i, 6,
              .seed = 20 + i, .rules = UINT32_MAX, .is_short = true)

// What it shows is too far ahead of the match.
CASE(a_client_of_many_lost_ticks_starts_again) {
    takeover at;
    takeover_open(
        &at,
        (takeover_config){.seed = 8, .rules = UINT32_MAX, .lost_ticks = NET_REBASE_TICKS_MAX + 60});
    await_all(&at, false);
    at.die_tick = net_match_tick(at.room.match) + at.config.lost_ticks;
    run_us(&at, at.config.lost_ticks * (uint64_t)TABLE_TICK_US);
    die(&at);
    run_us(&at, GRACE_US);
    take_over(&at);
    const net_client* client = at.room.seats[0].client;
    for (uint32_t i = 0; i < 120 && net_client_get_phase(client) != NET_CLIENT_ENDED; i++)
        step(&at);
    assert_int_equal(net_client_get_end(client), NET_CLIENT_END_EXCHANGED);
    takeover_close(&at);
}

TAKEOVER_ROWS(a_late_takeover_finds_clients_that_connect, i, 1, .seed = 9 + i, .rules = UINT32_MAX,
              .is_late = true)

TAKEOVER_ROWS(at_five_percent_loss_all_come_back_each_time, i, test_scaled(3, 1), .seed = 1000 + i,
              .rules = i % 2 ? UINT32_MAX : i % SWARM_RULES_END, .is_sleeping = i % 3 == 0)
