// SPDX-License-Identifier: MIT
// Arena over a simulated network in virtual time: what each client's mirror has, and what it never
// gets.

#include "arena_table.h"

#include "base/hash.h"
#include "float_hosts.h"
#include "net/client.h"
#include "net/log.h"
#include "net/playback.h"
#include "net/transport.h"
#include "net/server.h"

#include <unistd.h>

#define SEATS 8u
#define TICK_US 33333u

typedef struct seat {
    net_match* match;
    net_transport* transport;
    net_client* client;
} seat;

typedef struct session {
    table t; ///< the server's match; the bots run in their clients
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    net_log_writer* log;
    net_presenter* presenter; ///< of the first seat, or NULL
    seat seats[SEATS];
    uint64_t now_us;
} session;

static void open_seat(session* s, uint32_t index, const net_link_config* link) {
    seat* one = &s->seats[index];
    net_match_config match = net_match_config_default(s->t.module);
    match.role = NET_ROLE_MIRROR;
    assert_ok(net_match_create(&match, NULL, &one->match));
    one->transport = net_sim_client(s->sim, link);
    const net_client_config client = {.match = one->match,
                                      .transport = one->transport,
                                      .address = "sim",
                                      .name = "bot",
                                      .is_bot = true,
                                      .seed = index + 1,
                                      .presenter = index == 0 ? s->presenter : NULL};
    one->client = net_client_create(&client);
}

// `log`: its file, and then the first seat has a picture too; or NULL.
static void open_session(session* s, const char* const* settings, const net_link_config* link,
                         const char* log) {
    memset(s, 0, sizeof *s);
    table_open(&s->t, settings, 11, NET_ROLE_SERVER, false);
    s->sim = net_sim_create(NULL, 11);
    assert_ok(net_sim_server(s->sim, SEATS, &s->transport));
    if (log) {
        const net_presenter_config shown = {.module = s->t.module, .is_predicting = true};
        assert_ok(net_presenter_create(&shown, NULL, &s->presenter));
        assert_ok(net_log_writer_create(NULL, log, NULL, s->t.match, "test", 0, NULL, &s->log));
    }
    const net_server_config server = {.match = s->t.match,
                                      .transport = s->transport,
                                      .clients_max = SEATS,
                                      .clients_min = SEATS,
                                      .observer = net_log_observer(s->log)};
    assert_ok(net_server_create(&server, &s->server));
    s->now_us = 1000000;
    for (uint32_t i = 0; i < SEATS; i++)
        open_seat(s, i, link);
}

static void step_session(session* s) {
    s->now_us += TICK_US;
    net_server_service(s->server, s->now_us);
    net_server_tick(s->server, s->now_us);
    for (uint32_t i = 0; i < SEATS; i++) {
        net_client_service(s->seats[i].client, s->now_us);
        net_client_tick(s->seats[i].client, s->now_us);
    }
}

static void close_session(session* s) {
    for (uint32_t i = 0; i < SEATS; i++) {
        net_client_destroy(s->seats[i].client);
        s->seats[i].transport->ops->destroy(s->seats[i].transport);
        net_match_destroy(s->seats[i].match);
    }
    net_presenter_destroy(s->presenter);
    if (s->log) {
        net_log_append_close(s->log, s->t.match);
        assert_ok(net_log_writer_destroy(s->log));
    }
    net_server_destroy(s->server);
    s->transport->ops->destroy(s->transport);
    net_sim_destroy(s->sim);
    table_close(&s->t);
}

// Counts over all walks through all mirrors.
typedef struct census {
    uint32_t comrades, secrets, own_guns, own_packs, ghosts, rows;
    uint64_t seen; ///< entities with a place, over all mirrors and walks
    uint32_t walks;
} census;

// A client without the power for some ticks has no exact health of an enemy.
static void look_at_fighters(session* s, const seat* one, uint32_t without_power, census* found) {
    ecs_world* world = net_match_world(one->match);
    ecs_world* truth = table_world(&s->t);
    const arena_game* game = net_match_context(one->match);
    ecs_entity player = net_client_player(one->client);
    const uint8_t* own_team = ecs_find(world, player, game->team);
    if (!own_team) return;
    bool has_power = ecs_find(world, player, game->boost_tick) != NULL;
    EACH_ROW(world, game->fighters, it, i) {
        const uint8_t* team = it.rows.columns[2];
        const uint8_t* health = it.rows.columns[4];
        ecs_entity entity = it.rows.entities[i];
        const arena_gun* gun = ecs_get(world, entity, game->gun);
        const uint8_t* true_health = ecs_find(truth, entity, table_game(&s->t)->health);
        const ecs_object* pack = ecs_find(world, entity, game->pack);
        if (entity == player)
            found->own_packs += pack && ecs_object_count(pack) > 0;
        else if (pack)
            assert_int_equal(ecs_object_count(pack), 0);
        if (entity == player) {
            found->own_guns += gun->ammo != 40;
        } else {
            assert_int_equal(gun->ammo, 40); // the value of the template
            assert_int_equal(gun->ready_tick, 0);
        }
        if (team[i] == *own_team) {
            found->comrades += health[i] != ARENA_HEALTH;
            continue;
        }
        if (without_power >= 40) assert_int_equal(health[i], ARENA_HEALTH);
        if (!has_power && true_health)
            found->secrets += *true_health != ARENA_HEALTH && health[i] == ARENA_HEALTH;
    }
}

static void look_at_the_rest(const seat* one, census* found) {
    ecs_world* world = net_match_world(one->match);
    const arena_game* game = net_match_context(one->match);
    ecs_entity player = net_client_player(one->client);
    const uint8_t* own_team = ecs_find(world, player, game->team);
    if (!own_team) return;
    found->rows += ecs_query_count(world, game->entries);
    found->seen += ecs_query_count(world, game->fighters) + ecs_query_count(world, game->shots) +
                   ecs_query_count(world, game->pickups);
    found->walks++;
    assert_int_equal(ecs_query_count(world, game->scores), ARENA_TEAMS);
    assert_int_equal(ecs_query_count(world, game->matches), 1);
    EACH_ROW(world, game->entries, it, i) {
        const ecs_string* names = it.rows.columns[1];
        assert_memory_equal(ecs_string_text(&names[i]), "bot", 3); // "bot", "bot (2)"...
    }
    EACH_ROW(world, game->players, it, i) {
        const uint8_t* team = it.rows.columns[1];
        if (!ecs_find(world, it.rows.entities[i], game->wait_tick)) continue;
        found->ghosts++;
        assert_int_equal(team[i], *own_team);
    }
    bool has_own_flag = false;
    EACH_ROW(world, game->flags, it, i) {
        const ecs_vec2* pos = it.rows.columns[0];
        const uint8_t* team = it.rows.columns[1];
        const arena_flag* flag = it.rows.columns[2];
        has_own_flag |= team[i] == *own_team;
        if (flag[i].state != ARENA_FLAG_CARRIED) continue;
        // The client has both or none, at one tick.
        const ecs_vec2* carrier = ecs_find(world, flag[i].carrier, game->pos);
        assert_non_null(carrier);
        assert_memory_equal(carrier, &pos[i], sizeof *carrier);
    }
    assert_true(has_own_flag);
}

CASE(each_mirror_holds_what_its_player_may_know) {
    static const net_link_config link = {.delay_ms = 30, .jitter_ms = 8, .loss_percent = 2};
    static session s;
    uint32_t without_power[SEATS] = {0};
    census found = {0};
    open_session(&s, SETTINGS("agents=300", "damage=2"), &link, NULL);
    for (uint32_t tick = 0; tick < 1200; tick++) {
        step_session(&s);
        ecs_changes_clear(table_world(&s.t));
        for (uint32_t i = 0; i < SEATS; i++) {
            const seat* one = &s.seats[i];
            const arena_game* game = net_match_context(one->match);
            ecs_world* world = net_match_world(one->match);
            bool has_power = ecs_find(world, net_client_player(one->client), game->boost_tick);
            without_power[i] = has_power ? 0 : without_power[i] + 1;
            if (tick < 60 || tick % 2 != 0) continue;
            look_at_fighters(&s, one, without_power[i], &found);
            look_at_the_rest(one, &found);
        }
    }
    assert_true(found.comrades > 0 && found.secrets > 0 && found.own_guns > 0 && found.ghosts > 0);
    assert_true(found.own_packs > 0);
    assert_int_equal(found.rows, found.walks * SEATS);
    assert_true(found.seen / found.walks > 25 && found.seen / found.walks < 250);
    close_session(&s);
}

CASE(a_thief_is_never_out_of_sight_of_whom_it_robbed) {
    static const net_link_config link = {.delay_ms = 20};
    static session s;
    open_session(&s, SETTINGS("agents=0", "pickups=0", "tanks=0", "damage=0"), &link, NULL);
    for (uint32_t i = 0; i < 30; i++)
        step_session(&s);
    // A player of team 1 takes the flag of team 2, which is far from all players. Client 2 is in
    // team 2.
    ecs_entity thief = net_match_player(s.t.match, 1);
    const arena_game* game = table_game(&s.t);
    ecs_vec2 base = arena_map_stand(2);
    for (uint32_t i = 0; i < 40; i++) {
        table_put(&s.t, 1, base.x + (i > 4 ? 0.0f : 1.0f), base.y);
        step_session(&s);
    }
    uint32_t seen = 0, unseen = 0;
    for (uint32_t i = 0; i < 200; i++) {
        table_put(&s.t, 1, 250.0f, 30.0f + (float)i);
        step_session(&s);
        // The owner of the flag stays at home.
        ecs_vec2 home = arena_map_base(2);
        table_put(&s.t, 2, home.x, home.y);
        if (i < 40) continue;
        const bool is_seen = ecs_is_alive(net_match_world(s.seats[1].match), thief);
        *(is_seen ? &seen : &unseen) += 1;
    }
    assert_int_equal(*(const uint32_t*)ecs_get(table_world(&s.t), thief, game->together), 2);
    assert_int_equal(unseen, 0);
    assert_true(seen > 100);
    close_session(&s);
}

// ---- hosts that compute with floats otherwise ----

static uint64_t hash_of(net_match* match) {
    return ecs_world_hash(net_match_world(match));
}

typedef struct outcome {
    uint64_t server, mirrors, shown;
} outcome;

// The host has its own mode back at the end of all that it called.
static void play(base_float_mode host, const char* log, outcome* found) {
    static const net_link_config link = {.delay_ms = 40, .loss_percent = 2};
    static session s;
    memset(found, 0, sizeof *found);
    base_float_mode_restore(&host);
    open_session(&s, SETTINGS("agents=40"), &link, log);
    for (uint32_t tick = 0; tick < 100; tick++) {
        step_session(&s);
        ecs_changes_clear(table_world(&s.t));
        // A frame between two ticks.
        if (net_presenter_frame(s.presenter, s.now_us + TICK_US / 3))
            found->shown = base_hash64_mix(found->shown, hash_of(net_presenter_match(s.presenter)));
        for (uint32_t i = 0; i < SEATS; i++)
            found->mirrors = base_hash64_mix(found->mirrors,
                                             net_client_get_report(s.seats[i].client).scope.hash);
    }
    found->server = hash_of(s.t.match);
    assert_true(found->shown != 0 && found->mirrors != 0);
    close_session(&s);
    assert_true(float_hosts_end(host));
}

// Verify a log, and watch it between its ticks.
static void watch(base_float_mode host, const char* log, outcome* found) {
    base_float_mode_restore(&host);
    net_module* module = table_wrap(arena_module(), ARENA_BLK, &(base_report_first){0});
    net_log_reader* reader;
    net_verify_result verified;
    net_playback* playback;
    memset(found, 0, sizeof *found);
    assert_ok(net_log_reader_create(NULL, log, NULL, &reader));
    assert_ok(net_log_verify(reader, module, 0, 0, NULL, NULL, NULL, &verified));
    found->server = verified.world_hash;
    assert_ok(net_playback_create(reader, module, NULL, &playback));
    assert_ok(net_playback_seek(playback, 40.3));
    for (uint32_t i = 0; i < 20; i++) {
        assert_ok(net_playback_advance(playback, 0.7));
        found->shown = base_hash64_mix(found->shown, hash_of(net_playback_match(playback)));
    }
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    net_module_close(module);
    assert_true(float_hosts_end(host));
}

static void each_host(void (*run)(base_float_mode host, const char* log, outcome* found)) {
    char folder[] = "/tmp/shoal-arena-XXXXXX", log[64], queue[80];
    outcome expected, found;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(log, sizeof log, "%s/a.slog", folder);
    (void)snprintf(queue, sizeof queue, "%s.queue", log);
    play(BASE_FLOAT_MODE_STANDARD, log, &expected);
    if (run != play) run(BASE_FLOAT_MODE_STANDARD, log, &expected);
    for (uint32_t i = 0; i < BASE_COUNT(float_hosts); i++) {
        if (run == play) (void)unlink(log);
        run(float_hosts[i], log, &found);
        assert_memory_equal(&found, &expected, sizeof found);
    }
    (void)unlink(log);
    (void)unlink(queue);
    assert_int_equal(rmdir(folder), 0);
}

CASE(a_match_is_the_same_whatever_its_hosts_do_with_their_floats) {
    each_host(play);
}

CASE(so_is_its_log) {
    each_host(watch);
}
