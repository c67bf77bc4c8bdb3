// SPDX-License-Identifier: MIT
// A player is sent to another match: its client knows where, and its player leaves this one.
#include "session_table.h"

#define ELSEWHERE "match.example:7801"
#define PAGE "https://match.example/m/3f/play"

static void make_token(const net_key* key, char text[NET_TOKEN_TEXT_BYTES]) {
    const net_token_claims claims = {.player_id = 77, .expiry_unix_s = UINT64_C(1) << 40};
    net_token token;
    assert_ok(key ? net_token_make(key, &claims, net_entropy_system(), &token)
                  : net_token_make_dev(&claims, net_entropy_system(), &token));
    assert_true(net_token_print(&token, text, NET_TOKEN_TEXT_BYTES));
}

static const net_link_config BAD_LINE = {.delay_ms = 60, .jitter_ms = 20, .loss_percent = 25};

// By the simulated network and by ENet, whatever is lost.
TABLE_ROWS(a_player_learns_where_it_goes_on_and_leaves, row, 12, .seed = row + 1, .quiet = 1e9,
           .is_enet = row % 2 == 1, .seats = 3, .link = &BAD_LINE, .steps = 240, .has_log = true) {
    char token[NET_TOKEN_TEXT_BYTES];
    make_token(NULL, token);
    const uint32_t client = net_client_number(at->seats[1].client);
    const ecs_entity entity = net_match_player(at->match, client);
    if (row % 2 == 1) net_socket_link_set(&BAD_LINE);
    assert_ok(net_server_transfer(at->server, client, ELSEWHERE, token, PAGE, "the round is full"));
    assert_int_equal(net_server_transfer(at->server, client, ELSEWHERE, token, PAGE, ""),
                     NET_ERR_CLOSED);
    for (uint32_t i = 0; i < 600 && net_client_get_phase(at->seats[1].client) != NET_CLIENT_ENDED;)
        table_run(at, ++i ? 1 : 0);
    assert_int_equal(net_client_get_end(at->seats[1].client), NET_CLIENT_END_TRANSFERRED);
    const net_transfer* to = net_client_get_transfer(at->seats[1].client);
    assert_string_equal(to->address, ELSEWHERE);
    assert_string_equal(to->token, token);
    assert_string_equal(to->page, PAGE);
    assert_string_equal(to->why, "the round is full");
    assert_true(heard_count(&at->seats_said, "note: going on in another match: the round is full"));
    assert_int_equal(table_report(at, client)->end, NET_END_TRANSFERRED);
    assert_int_equal(net_match_player(at->match, client), ECS_ENTITY_NONE);
    assert_false(ecs_is_alive(net_match_world(at->match), entity));
    uint8_t secret[NET_RESUME_BYTES]; // the session is over
    assert_false(net_client_secret(at->seats[1].client, secret));
    net_socket_link_set(NULL);
    table_run(at, 120);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(i == 1 || seat_plays(&at->seats[i]));
    assert_null(net_client_get_transfer(at->seats[0].client));
    assert_int_equal(table_counters(at)->drops, 0);
    assert_true(table_verify(at).ticks > 300); // where no player is sent
}

TABLE_CASE(a_spectator_goes_on_as_a_player_does, .seed = 3, .quiet = 1e9, .seats = 1, .watchers = 1,
           .spectators_max = 1, .steps = 60) {
    const uint32_t client = net_client_number(at->seats[1].client);
    assert_ok(net_server_transfer(at->server, client, ELSEWHERE, "", "", ""));
    table_run(at, 30);
    assert_int_equal(net_client_get_end(at->seats[1].client), NET_CLIENT_END_TRANSFERRED);
}

// Its line is lost, so a goodbye would not come: it stays, and can be sent when it is back.
TABLE_ROWS(a_player_who_is_away_stays, s, 7, .seed = 4, .quiet = 1e9, .seats = 1, .steps = 60) {
    table_line_for(at, 0, &DEAD_LINK, (s + 1) * TICKS_PER_SECOND);
    const uint32_t client = net_client_number(at->seats[0].client);
    assert_int_equal(net_server_transfer(at->server, client, ELSEWHERE, "", "", ""),
                     NET_ERR_CLOSED);
    table_line_for(at, 0, &QUIET_LINK, 6 * TICKS_PER_SECOND);
    table_plays(at);
    assert_ok(net_server_transfer(at->server, client, ELSEWHERE, "", "", ""));
    table_run(at, 30);
    assert_int_equal(net_client_get_end(at->seats[0].client), NET_CLIENT_END_TRANSFERRED);
}

static char longest[NET_TRANSFER_PAGE_BYTES + 1];
static const struct {
    const char *address, *token, *page;
} MISTAKES[] = {
    {"", "", ""},
    {"match.example", "", ""},
    {":7777", "", ""},
    {"match.example:0", "", ""},
    {"match.example:65536", "", ""},
    {"a.example:1,b.example:2", "", ""},
    {"match example:7777", "", ""},
    {longest, "", ""},
    {ELSEWHERE, "abc", ""},
    {ELSEWHERE, "", "javascript:alert(1)"},
    {ELSEWHERE, "", "https://match.example/a b"},
    {ELSEWHERE, "", longest},
};
TABLE_CASE(what_no_client_could_follow_is_not_sent, .seed = 5, .quiet = 1e9, .seats = 1,
           .steps = 60) {
    const uint32_t client = net_client_number(at->seats[0].client);
    memset(longest, 'a', sizeof longest - 1);
    memcpy(longest, "https://", 8);
    for (uint32_t i = 0; i < BASE_COUNT(MISTAKES); i++)
        assert_int_equal(net_server_transfer(at->server, client, MISTAKES[i].address,
                                             MISTAKES[i].token, MISTAKES[i].page, ""),
                         NET_ERR_MALFORMED);
    assert_int_equal(net_server_transfer(at->server, 99, ELSEWHERE, "", "", ""), NET_ERR_CLOSED);
    table_run(at, 30);
    table_plays(at);
}

static net_key_ring keys_of(uint8_t id) {
    net_key_ring ring = {.count = 1};
    net_key_make(id, net_entropy_system(), &ring.keys[0]);
    return ring;
}

// The other server checks the token as any: one of its key lets the player in, another one does
// not.
TABLE_ROWS(the_token_of_a_transfer_counts_where_it_leads, is_foreign, 2, .seed = 6, .quiet = 1e9,
           .is_enet = true, .security.keys = (net_key_ring[]){keys_of(3)}, .seats = 1,
           .steps = 60) {
    const net_key_ring foreign = keys_of(4);
    const net_key_ring* own = at->config.security.keys;
    char token[NET_TOKEN_TEXT_BYTES];
    make_token(is_foreign ? &foreign.keys[0] : &own->keys[0], token);
    table_seat* seat = &at->seats[0];
    assert_ok(net_server_transfer(at->server, net_client_number(seat->client), TABLE_ADDRESS, token,
                                  "", ""));
    table_run(at, 30);
    const net_transfer to = *net_client_get_transfer(seat->client);
    seat_close(seat);
    net_enet_config enet = {.peers_max = 1};
    net_token parsed;
    assert_ok(net_token_parse(to.token, &parsed));
    enet.security.token = &parsed;
    assert_ok(net_transport_enet_create(&enet, &seat->transport));
    net_client_config config = table_client(at, "member");
    config.address = to.address;
    assert_ok(seat_meet(seat, at->module, config));
    table_run(at, 120);
    if (!is_foreign) {
        table_plays(at);
        assert_int_equal(net_client_number(seat->client), 2); // a player of its own
        return;
    }
    char text[256];
    table_run(at, NET_CONNECT_MS_MAX / 1000 * TICKS_PER_SECOND);
    assert_int_equal(net_client_get_end(seat->client), NET_CLIENT_END_UNREACHABLE);
    (void)net_client_refusal(seat->client, text, sizeof text);
    assert_non_null(strstr(text, "does not know this token"));
}

CASE(a_player_follows_six_transfers_in_a_minute) {
    net_transfers transfers = {0};
    uint64_t now_us = 5;
    for (uint32_t i = 0; i < NET_TRANSFERS_MAX; i++, now_us += 1000000)
        assert_true(net_transfers_follow(&transfers, now_us));
    assert_false(net_transfers_follow(&transfers, now_us));
    now_us = 5 + NET_TRANSFERS_MS * UINT64_C(1000);
    assert_false(net_transfers_follow(&transfers, now_us - 1));
    assert_true(net_transfers_follow(&transfers, now_us));
    assert_false(net_transfers_follow(&transfers, now_us)); // the second is not a minute old
    assert_int_equal(transfers.count, NET_TRANSFERS_MAX + 1);
}
