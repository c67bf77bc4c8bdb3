// SPDX-License-Identifier: MIT
// Which clients may come in: bans, places of an address, pace of sessions, members without life.
#define TABLE_SEATS 24u
#include "session_table.h"

#include "server/server_state.h"

#include <arpa/inet.h>

static void come_from(raw_client* raw, const char* host, uint64_t player, uint32_t key) {
    net_peer_identity identity = {.player = player, .key = key};
    struct in_addr four;
    if (inet_pton(AF_INET, host, &four) == 1)
        identity.address = net_address_ipv4(four.s_addr, 40000);
    else
        assert_int_equal(inet_pton(AF_INET6, host, identity.address.ip), 1);
    net_sim_identity_set(raw->transport, &identity);
}

// A raw client whose datagrams come from this host, and whose token names this player (0: none).
static raw_client* guest_from(table* at, const char* host, uint64_t player) {
    raw_client* raw = table_raw_client(at);
    come_from(raw, host, player, player ? 3 : 0);
    return raw;
}

static void run_s(table* at, uint32_t seconds) {
    table_run(at, seconds * TICKS_PER_SECOND);
}

// What enters a match from a log or a stream may have any number.
TABLE_CASE(a_match_without_numbers_refuses_players_and_takes_spectators, .seed = 1,
           .spectators_max = 1) {
    at->server->clients_named = NET_SPECTATOR_FIRST - 2;
    assert_true(raw_joins(at, guest_from(at, "203.0.113.5", 0)));
    raw_client* late = guest_from(at, "203.0.113.6", 0);
    assert_false(raw_joins(at, late));
    assert_true(late->is_refused);
    assert_non_null(table_watch(at, NULL));
    table_run(at, 60);
    assert_int_equal(table_counters(at)->spectators, 1);
}

// ---- places of an address

static const struct {
    const char *one, *other;
    bool is_limited;
} PLACES[] = {{"203.0.113.5", "203.0.113.5", true},
              {"203.0.113.5", "203.0.113.6", false},
              {"2001:db8:1:2::5", "2001:db8:1:2:ffff::9", true}, // one /64
              {"2001:db8:1:2::5", "2001:db8:1:3::5", false},
              {"127.0.0.1", "127.0.0.1", false},
              {"::1", "::1", false}};

TABLE_ROWS(an_address_has_so_many_places_and_loopback_any_number, i, BASE_COUNT(PLACES),
           .seed = i + 1, .server.clients_per_address_max = 2) {
    assert_true(raw_joins(at, guest_from(at, PLACES[i].one, 0)));
    assert_true(raw_joins(at, guest_from(at, PLACES[i].one, 0)));
    raw_client* third = guest_from(at, PLACES[i].other, 0);
    assert_int_equal(raw_joins(at, third), !PLACES[i].is_limited);
    assert_int_equal(table_dropped(at, NET_DROP_ADDRESS_FULL), PLACES[i].is_limited);
    if (PLACES[i].is_limited) {
        raw_refused(third, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL, "2 players of your address");
        // A place that is left is free.
        raw_client_goodbye(&at->raw_clients[0]);
        table_run(at, 10);
        table_again(third);
        run_s(at, 5);
        assert_true(raw_joins(at, third));
    }
}

// Connections that send no hello cost places of the transport: those of one address are closed at
// once beyond its limit, and the house stays open for others.
TABLE_CASE(silent_connections_of_one_address_do_not_shut_the_door, .seed = 2, .clients_max = 2,
           .server.clients_per_address_max = 4) {
    for (uint32_t i = 0; i < 9; i++)
        (void)table_connect(at, guest_from(at, "203.0.113.5", 0));
    assert_int_equal(table_dropped(at, NET_DROP_ADDRESS_FULL), 5);
    assert_true(raw_joins(at, guest_from(at, "203.0.113.6", 0)));
}

// ---- from many addresses

TABLE_CASE(the_oldest_silent_connection_gives_its_slot, .seed = 3, .clients_max = 1) {
    const uint32_t slots = 1 + 8; // clients_max and NET_SERVER_SPARE_SESSIONS
    for (uint32_t i = 0; i < slots; i++)
        assert_true(table_connect(at, table_raw_client(at)));
    raw_client* early = table_raw_client(at);
    (void)table_connect(at, early);
    table_run(at, 3);
    assert_false(early->is_connected); // the others have a second for their hello
    table_run(at, 70);
    raw_client* late = table_raw_client(at);
    assert_true(raw_joins(at, late));
    assert_true(at->raw_clients[0].is_gone);
    assert_false(at->raw_clients[1].is_gone);
    assert_int_equal(table_dropped(at, NET_DROP_GREETING_LATE), 1);
}

// ---- pace

TABLE_ROWS(a_player_opens_five_sessions_in_ten_seconds, kind, 2, .seed = 4,
           .server.clients_per_address_max = 8) {
    // By player from many addresses, by address without a player.
    raw_client* raw[2] = {guest_from(at, "203.0.113.5", kind ? 0 : 77),
                          guest_from(at, kind ? "203.0.113.5" : "198.51.100.1", kind ? 0 : 77)};
    uint32_t joined = 0, refused = 0;
    for (uint32_t i = 0; i < 8; i++) {
        raw_client* one = raw[i % 2];
        if (raw_joins(at, one)) {
            joined++;
            raw_client_goodbye(one);
        } else {
            refused++;
            assert_non_null(strstr(one->refused_text, "try again in"));
        }
        table_run(at, 4);
        table_again(one);
    }
    assert_int_equal(joined, NET_SESSIONS_MAX);
    assert_int_equal(table_dropped(at, NET_DROP_JOIN_FLOOD), refused);
    // Another one is not concerned.
    assert_true(raw_joins(at, guest_from(at, "192.0.2.9", kind ? 0 : 78)));
    run_s(at, NET_SESSIONS_WINDOW_MS / NET_SESSIONS_MAX / 1000);
    assert_true(raw_joins(at, raw[0]));
}

// Eight bots of one address. A person reads it, and may decide.
TABLE_ROWS(bots_that_are_too_many_at_once_come_in_later, is_person, 2, .seed = 4,
           .server.clients_per_address_max = 20) {
    enum { ALL = 8 };
    const net_peer_identity home = {.address = net_address_ipv4(0x057100cb, 40000)};
    for (uint32_t i = 0; i < ALL; i++) {
        net_client_config client = table_client(at, "member");
        client.is_bot = !is_person;
        net_sim_identity_set(table_sit_in(at, at->module, NULL, client)->transport, &home);
    }
    run_s(at, 1);
    assert_int_equal(table_counters(at)->clients, NET_SESSIONS_MAX);
    const uint32_t refused = is_person ? ALL - NET_SESSIONS_MAX : 0;
    for (uint32_t i = 0; i < ALL; i++)
        assert_int_equal(net_client_get_end(at->seats[i].client), is_person && i >= NET_SESSIONS_MAX
                                                                      ? NET_CLIENT_END_REFUSED
                                                                      : NET_CLIENT_END_NONE);
    run_s(at, (ALL - NET_SESSIONS_MAX) * NET_SESSIONS_WINDOW_MS / NET_SESSIONS_MAX / 1000);
    assert_int_equal(table_counters(at)->clients, ALL - refused);
    assert_true(is_person || heard_count(&at->seats_said, "too many sessions") > 0);
}

TABLE_CASE(an_operator_says_how_many_sessions_begin_at_once, .seed = 4,
           .server.clients_per_address_max = 20, .server.sessions_max = 8) {
    raw_client* raw = guest_from(at, "203.0.113.5", 77);
    for (uint32_t i = 0; i <= 8; i++) {
        assert_int_equal(raw_joins(at, raw), i < 8);
        raw_client_goodbye(raw);
        table_run(at, 4);
        table_again(raw);
    }
}

TABLE_CASE(a_client_that_names_itself_is_counted_by_its_address, .seed = 4,
           .server.clients_per_address_max = 8) {
    raw_client* raw = guest_from(at, "203.0.113.5", 0);
    for (uint32_t i = 0; i <= NET_SESSIONS_MAX; i++) {
        // Another name each time; the key 0 is the built-in one.
        come_from(raw, "203.0.113.5", 1000 + i, 0);
        assert_int_equal(raw_joins(at, raw), i < NET_SESSIONS_MAX);
        raw_client_goodbye(raw);
        table_run(at, 4);
        table_again(raw);
    }
}

TABLE_CASE(who_broke_rules_waits_before_the_next_session, .seed = 5,
           .server.clients_per_address_max = 8) {
    raw_client* raw = guest_from(at, "203.0.113.5", 0);
    assert_true(raw_joins(at, raw));
    table_run(at, 3);
    for (uint32_t i = 0; i < 3; i++)
        raw_client_garbage(raw, NET_CHANNEL_CONTROL);
    for (uint32_t i = 0; i < 30 && !raw->is_gone; i++)
        table_step(at);
    assert_int_equal(table_report(at, raw->client)->end, NET_END_FAULT);
    table_again(raw);
    assert_false(raw_joins(at, raw));
    run_s(at, 3);
    table_again(raw);
    assert_true(raw_joins(at, raw));
}

// ---- members without life

typedef enum member { MUTE, ACKING, SILENT, PLAYING, MEMBER_KINDS } member;

// One tick of a member: MUTE sends nothing, SILENT stops after a second, ACKING sends no inputs.
static void act(table* at, raw_client* raw, member kind, uint32_t tick) {
    if (kind == MUTE || (kind == SILENT && tick > 60)) return;
    uint32_t number = tick + 1;
    raw_client_inputs(raw, raw_client_packet(raw), number, kind == PLAYING || kind == SILENT, "",
                      0);
}
// Newcomers ask until no member gives its place: the one that shows least life gives it first, and
// after some seconds only. A member that plays keeps its place.
TABLE_CASE(members_that_play_are_never_evicted, .seed = 7, .clients_max = MEMBER_KINDS,
           .quiet = 1e9) {
    raw_client* members[MEMBER_KINDS];
    for (uint32_t k = 0; k < MEMBER_KINDS; k++)
        members[k] = table_guest(at);
    static const member ORDER[] = {MUTE, SILENT, ACKING};
    uint32_t gone = 0;
    for (uint32_t tick = 0; tick < 60 * TICKS_PER_SECOND; tick++) {
        for (uint32_t k = 0; k < MEMBER_KINDS; k++)
            act(at, members[k], (member)k, tick);
        for (uint32_t k = MEMBER_KINDS; k < at->raw_client_count; k++)
            act(at, &at->raw_clients[k], PLAYING, tick);
        table_step(at);
        if (tick == 3 * TICKS_PER_SECOND) {
            raw_client* early = table_raw_client(at);
            assert_false(raw_joins(at, early));
            assert_non_null(strstr(early->refused_text, "the server is full"));
            early->is_connected = false;
        }
        if (tick % (5 * TICKS_PER_SECOND) != 0 || tick == 0) continue;
        bool is_in = raw_joins(at, table_raw_client(at));
        if (!is_in) {
            // Its raw client acts no further.
            at->raw_clients[at->raw_client_count - 1].is_connected = false;
            continue;
        }
        assert_in_range(gone, 0, BASE_COUNT(ORDER) - 1);
        assert_int_equal(table_report(at, members[ORDER[gone]]->client)->end, NET_END_EVICTED);
        gone++;
    }
    assert_int_equal(gone, BASE_COUNT(ORDER));
    assert_int_equal(table_report(at, members[PLAYING]->client)->end, NET_END_NONE);
    assert_int_equal(table_dropped(at, NET_DROP_EVICTED), BASE_COUNT(ORDER));
}

// ---- bans

static net_bans* bans_of(const char* text) {
    net_bans* bans = NULL;
    bans = net_bans_create(NULL);
    assert_ok(net_bans_read(bans, text, strlen(text), "bans", NULL));
    return bans;
}

// @return how many sessions ended.
static uint32_t ban(table* at, const char* text) {
    net_ban made;
    char fault[256];
    uint32_t ended = 0;
    assert_ok(net_ban_parse(text, &made, fault, sizeof fault));
    assert_ok(net_server_ban(at->server, &made, &ended));
    return ended;
}

TABLE_CASE(who_is_banned_is_refused_and_told_why, .seed = 8,
           .server.bans = bans_of("address 203.0.113.0/24 flooded us\nplayer 666 cheated\nkey 9")) {
    raw_client* one = guest_from(at, "203.0.113.77", 5);
    assert_false(raw_joins(at, one));
    raw_refused(one, SHOAL__WIRE__REFUSED_REASON__REFUSED_BANNED,
                "you are banned from this server: flooded us");
    raw_client* two = guest_from(at, "198.51.100.1", 666);
    assert_false(raw_joins(at, two));
    assert_string_equal(two->refused_text, "you are banned from this server: cheated");
    assert_true(raw_joins(at, guest_from(at, "198.51.100.1", 667)));
    assert_int_equal(table_dropped(at, NET_DROP_BANNED), 2);
}

TABLE_CASE(a_ban_ends_the_sessions_that_it_meets, .seed = 9, .server.bans = bans_of(""),
           .quiet = 1e9) {
    raw_client* one = guest_from(at, "203.0.113.77", 5);
    raw_client* two = guest_from(at, "203.0.113.78", 6);
    raw_client* three = guest_from(at, "198.51.100.1", 7);
    assert_true(raw_joins(at, one) && raw_joins(at, two) && raw_joins(at, three));
    assert_int_equal(ban(at, "address 203.0.113.0/24 bad manners"), 2);
    table_run(at, 10);
    assert_true(one->is_gone && two->is_gone && !three->is_gone);
    assert_true(one->has_goodbye);
    assert_int_equal(one->goodbye_reason, NET_END_BANNED);
    assert_string_equal(one->goodbye_text, "bad manners");
    assert_int_equal(table_report(at, two->client)->end, NET_END_BANNED);
    assert_int_equal(net_match_player(at->match, one->client), ECS_ENTITY_NONE);
    // Not even with the secret of its session.
    table_again(one);
    assert_true(table_connect(at, one));
    raw_client_hello_again(one, table_schema(at), "swarm", one->resume, sizeof one->resume);
    table_run(at, 10);
    assert_int_equal(one->refused_reason, SHOAL__WIRE__REFUSED_REASON__REFUSED_BANNED);
    // The list changed by itself: a file was read again.
    static const char text[] = "player 7 by the file";
    assert_ok(net_bans_read(at->config.server.bans, text, strlen(text), "bans", NULL));
    assert_int_equal(net_server_enforce_bans(at->server), 1);
    assert_int_equal(net_server_enforce_bans(at->server), 0);
}

TABLE_CASE(a_server_without_a_list_says_so, .seed = 10) {
    net_ban ban = {.kind = NET_BAN_PLAYER, .id = 3};
    uint32_t ended = 7;
    assert_int_equal(net_server_ban(at->server, &ban, &ended), NET_ERR_CLOSED);
    assert_int_equal(ended, 0);
    assert_int_equal(net_server_enforce_bans(at->server), 0);
}

// A member prints why its session ended.
TABLE_CASE(a_banned_client_prints_the_reason, .seed = 11, .server.bans = bans_of(""),
           .quiet = 1e9) {
    table_seat* seat = table_sit_for(at, 60);
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_PLAYING);
    assert_int_equal(ban(at, "address 198.18.0.0/15 come back \xE2\x80\xAEnever"), 1);
    table_run(at, 30);
    assert_int_equal(heard_count(&at->seats_said,
                                 "connection lost: the server ended the session: it is "
                                 "banned: come back never\n"),
                     1);
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_ENDED);
    assert_int_equal(net_client_get_report(seat->client).end, NET_CLIENT_END_LOST);
}
