// SPDX-License-Identifier: MIT
// The client against servers that break the protocol rules.
#include "client/client_state.h"
#include "client/duel.h"

#include <math.h>

static uint64_t malformed(duel* at) {
    return net_client_get_report(at->client).dropped[NET_DROP_MALFORMED];
}

static const swarm_context* game(const duel* at) {
    return net_match_context(at->match);
}

CASE_WITH(duel, at, duel_open_as(at, (duel_config){.name = "J\xF6rg \xC3\xA9\xC3"}), duel_close(at),
          a_name_that_is_no_text_is_cleaned_before_it_is_sent) {
    duel_run(at, 6);
    assert_int_equal(at->server.unreadable, 0);
    assert_string_equal(at->server.name, "Jrg \xC3\xA9");
}

CASE_WITH(duel, at, duel_open_as(at, (duel_config){.is_spectator = true}), duel_close(at),
          a_spectator_that_is_taken_for_a_player_leaves_at_once) {
    duel_run(at, 6);
    assert_true(at->server.is_spectator);
    raw_server_welcome(&at->server, 3, 60);
    duel_end_after(at, 2 * TICKS_PER_SECOND, NET_CLIENT_END_REFUSED);
    char text[128];
    (void)net_client_refusal(at->client, text, sizeof text);
    assert_string_equal(text, "this server knows no spectators: it needs a newer shoal-server");
    assert_int_equal(at->server.gone_reason, NET_END_LEFT);
    assert_int_equal(net_client_get_report(at->client).client, 0);
}

static void welcome_spectator(duel* at) {
    Shoal__Wire__Welcome welcome = SHOAL__WIRE__WELCOME__INIT;
    welcome.client = NET_SPECTATOR_FIRST;
    welcome.tick_rate_hz = 60;
    welcome.is_spectator = true;
    raw_server_welcome_as(&at->server, welcome);
    duel_run(at, 3);
}

CASE_WITH(duel, at, duel_open_as(at, (duel_config){.is_spectator = true}), duel_close(at),
          a_spectator_watches_the_first_player_and_then_the_next) {
    duel_run(at, 6);
    welcome_spectator(at);
    duel_expect_phase(at, NET_CLIENT_PLAYING);
    duel_run(at, 10);
    assert_int_equal(at->server.watches, 0); // no player is there yet
    duel_send_roster(at, 4, 3, "member");
    duel_run(at, 10);
    assert_int_equal(at->server.watched, 4);
    net_client_watch(at->client, 6);
    duel_run(at, 10);
    assert_int_equal(at->server.watched, 6);
    assert_int_equal(net_client_watched(at->client), 6);
    net_client_watch(at->client, 9); // no such player: the first one behind it
    duel_run(at, 10);
    assert_int_equal(at->server.watched, 4);
    assert_int_equal(at->server.watches, 3);
    assert_int_equal(at->server.input_count, 0);
    assert_int_equal(malformed(at), 0);
}

GREETED_CASE(a_player_is_not_welcomed_as_a_spectator) {
    welcome_spectator(at);
    duel_expect_phase(at, NET_CLIENT_GREETING);
    assert_int_equal(malformed(at), 1);
}

DUEL_CASE(nobody_answering_is_unreachable_after_five_seconds) {
    const net_link_config dead = {.loss_percent = 100};
    net_sim_link_set(at->here, &dead);
    duel_phase_after(at, 4 * TICKS_PER_SECOND, NET_CLIENT_CONNECTING);
    duel_end_after(at, 2 * TICKS_PER_SECOND, NET_CLIENT_END_UNREACHABLE);
}

// Sequence numbers have 16 bits. An empty packet with seq 0 has no bytes.
WELCOMED_CASE(a_client_may_wait_for_its_match_longer_than_its_numbers_last) {
    duel_phase_after(at, UINT16_MAX + 100, NET_CLIENT_PLAYING);
    duel_send_nothing_new(at, 1);
    duel_run(at, 2);
    assert_int_equal(net_client_get_report(at->client).tick, 1);
    assert_int_equal(malformed(at), 0);
}

DUEL_CASE(a_server_that_does_not_welcome_is_given_up_after_five_seconds) {
    duel_phase_after(at, 4 * TICKS_PER_SECOND, NET_CLIENT_GREETING);
    raw_server_ask(&at->server); // requests of the server do not extend the time
    duel_end_after(at, 2 * TICKS_PER_SECOND, NET_CLIENT_END_UNREACHABLE);
    duel_run(at, 2);
    assert_true(at->server.is_gone);
}

GREETED_CASE(a_refusal_is_kept_with_its_words) {
    char long_text[600];
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    raw_server_refuse(&at->server, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL, long_text, long_text);
    duel_end_after(at, 2 * TICKS_PER_SECOND,
                   NET_CLIENT_END_REFUSED); // the server does not close the connection either
    char text[64];
    assert_int_equal(net_client_refusal(at->client, text, sizeof text),
                     SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL);
    assert_int_equal(text[0], 'x');
    assert_true(strlen(net_client_refusal_game(at->client)) < NET_GAME_NAME_BYTES_MAX);
}

GREETED_CASE(impossible_welcomes_are_ignored_and_counted) {
    raw_server_welcome(&at->server, 0, 60);
    raw_server_welcome(&at->server, 1, NET_TICK_RATE_HZ_MIN - 1);
    raw_server_welcome(&at->server, 1, NET_TICK_RATE_HZ_MAX + 1);
    raw_server_welcome(&at->server, 1, UINT32_MAX);
    duel_phase_after(at, 3, NET_CLIENT_GREETING);
    assert_int_equal(malformed(at), 4);
    raw_server_welcome(&at->server, 7, NET_TICK_RATE_HZ_MAX);
    duel_phase_after(at, 3, NET_CLIENT_PLAYING);
    raw_server_welcome(&at->server, 8, 60); // a second welcome
    duel_run(at, 3);
    assert_int_equal(malformed(at), 5);
    assert_int_equal(net_client_get_report(at->client).client, 7);
}

static const struct {
    uint32_t reason;
    net_client_end end;
} GOODBYES[] = {
    {NET_END_GOODBYE, NET_CLIENT_END_GOODBYE}, {NET_END_LEFT, NET_CLIENT_END_GOODBYE},
    {NET_END_TIMEOUT, NET_CLIENT_END_LOST},    {NET_END_FAULT, NET_CLIENT_END_LOST},
    {UINT32_MAX, NET_CLIENT_END_LOST},
};

CASE_ROWS(duel, at, duel_open_welcomed(at), duel_close(at), i, BASE_COUNT(GOODBYES),
          a_goodbye_says_how_it_ended) {
    raw_server_goodbye(&at->server, GOODBYES[i].reason);
    duel_run(at, 2);
    assert_int_equal(net_client_send_event(at->client, 4, &(uint32_t){1}), NET_ERR_CLOSED);
    duel_end_after(at, 70, GOODBYES[i].end);
}

static const struct {
    const char *address, *token, *page;
    net_client_end end;
} TRANSFERS[] = {
    {"match.example:7801", "", "", NET_CLIENT_END_TRANSFERRED},
    {"[::1]:65535", "", "http://127.0.0.1:7780/play", NET_CLIENT_END_TRANSFERRED},
    {"", "", "", NET_CLIENT_END_LOST},
    {"match.example:0", "", "", NET_CLIENT_END_LOST},
    {"match.example:1\n", "", "", NET_CLIENT_END_LOST},
    {"match.example:7801", "no token", "", NET_CLIENT_END_LOST},
    {"match.example:7801", "", "file:///etc/passwd", NET_CLIENT_END_LOST},
};

CASE_ROWS(duel, at, duel_open_welcomed(at), duel_close(at), i, BASE_COUNT(TRANSFERS),
          a_transfer_is_checked_before_it_is_followed) {
    raw_server_transfer(&at->server, NET_END_TRANSFERRED, TRANSFERS[i].address, TRANSFERS[i].token,
                        TRANSFERS[i].page);
    duel_end_after(at, 70, TRANSFERS[i].end);
    const net_transfer* to = net_client_get_transfer(at->client);
    assert_int_equal(to != NULL, TRANSFERS[i].end == NET_CLIENT_END_TRANSFERRED);
    if (to) assert_string_equal(to->address, TRANSFERS[i].address);
}

// Before the client plays no one has a player to send.
GREETED_CASE(a_transfer_before_the_welcome_is_a_refusal) {
    raw_server_transfer(&at->server, NET_END_TRANSFERRED, "match.example:7801", "", "");
    duel_end_after(at, 70, NET_CLIENT_END_REFUSED);
    assert_null(net_client_get_transfer(at->client));
}

WELCOMED_CASE(a_connection_that_ends_without_a_word_is_lost) {
    at->there->ops->disconnect(at->there, at->server.peer, 0, true);
    duel_end_after(at, 3, NET_CLIENT_END_LOST);
}

WELCOMED_CASE(a_server_that_falls_silent_is_lost_after_thirty_seconds) {
    duel_send_nothing_new(at, 1);
    duel_phase_after(at, 29 * TICKS_PER_SECOND, NET_CLIENT_PLAYING);
    duel_end_after(at, 2 * TICKS_PER_SECOND, NET_CLIENT_END_LOST);
    duel_run(at, 2);
    assert_true(at->server.is_gone);
}

WELCOMED_CASE(control_messages_of_a_later_release_are_skipped) {
    static const uint8_t later[] = {0x5a, 2, 8, 1}; // field 11, a message
    for (uint32_t i = 0; i < 40; i++)
        (void)raw_server_send_bytes(&at->server, NET_CHANNEL_CONTROL, later, sizeof later);
    duel_run(at, 3);
    assert_int_equal(malformed(at), 0);
    duel_expect_phase(at, NET_CLIENT_PLAYING);
}

WELCOMED_CASE(malformed_packets_are_counted_and_never_acknowledged) {
    duel_send_nothing_new(at, 1); // seq 0
    duel_run(at, 3);
    assert_true(at->server.has_ack);
    assert_int_equal(at->server.ack, 0);

    static uint8_t noise[NET_STATE_BYTES_MAX];
    memset(noise, 0xA5, sizeof noise);
    (void)raw_server_send_bytes(&at->server, NET_CHANNEL_REALTIME, noise, sizeof noise);
    (void)raw_server_send_bytes(&at->server, NET_CHANNEL_CONTROL, noise, sizeof noise);
    raw_state packet = raw_server_packet(&at->server, 2); // seq 1
    packet.body = noise;
    packet.body_size = 200;
    raw_server_send_state(&at->server, packet);
    packet = raw_server_packet(&at->server, 2); // seq 2
    packet.header.has_ack = true;
    packet.header.ack = 30000; // this packet was never sent
    raw_server_send_state(&at->server, packet);
    packet = raw_server_packet(&at->server, 2);
    packet.header.has_probe = true;
    packet.header.probe_age = 3; // the probe would be before tick 0
    raw_server_send_state(&at->server, packet);
    duel_run(at, 3);
    assert_int_equal(malformed(at), 5);
    assert_int_equal(at->server.ack, 0);
    assert_int_equal(at->server.ack_bits, 0);
    packet = raw_server_packet(&at->server, 3); // seq 4
    raw_server_send_state(&at->server, packet);
    duel_run(at, 3);
    assert_int_equal(at->server.ack, 4);
    assert_int_equal(at->server.ack_bits, 1u << 3); // of the packets before it, only packet 0
    duel_expect_phase(at, NET_CLIENT_PLAYING);
}

static void ping(duel* at, uint32_t number, uint32_t target, uint32_t content) {
    Swarm__Ping message = SWARM__PING__INIT;
    message.number = content;
    uint8_t bytes[16];
    size_t size = proto_encode(&message.base, bytes, sizeof bytes);
    raw_server_event(&at->server, raw_server_packet(&at->server, 5), number, 2, target, bytes,
                     size);
}

WELCOMED_CASE(forged_events_are_counted_and_go_nowhere) {
    raw_server_event(&at->server, raw_server_packet(&at->server, 5), 0, 1, 0, "", 0); // an input
    // An event that only clients may send.
    raw_server_event(&at->server, raw_server_packet(&at->server, 5), 0, 4, 0, "", 0);
    raw_server_event(&at->server, raw_server_packet(&at->server, 5), 0, UINT32_MAX, 0, "", 0);
    raw_server_event(&at->server, raw_server_packet(&at->server, 5), 0, 2, 0, "\xFF", 1);
    raw_server_event(&at->server, raw_server_packet(&at->server, 5), 0, 0, 0, "\xFF", 1);
    duel_run(at, 4);
    assert_int_equal(malformed(at), 5);
    assert_int_equal(game(at)->pings, 0);
    assert_int_equal(net_client_player(at->client), ECS_ENTITY_NONE);
    duel_expect_phase(at, NET_CLIENT_PLAYING);
}

WELCOMED_CASE(an_event_whose_entity_never_comes_is_given_up) {
    ping(at, 1, 4000, 1);
    ping(at, 2, UINT32_MAX, 1);
    ping(at, 3, 0, 1);
    duel_run(at, NET_EVENT_WAIT_TICKS_MAX - 2);
    assert_int_equal(game(at)->pings, 0);
    duel_run(at, 8);
    assert_int_equal(game(at)->pings, 1);
    assert_int_equal(net_client_get_report(at->client).dropped[NET_DROP_EVENT_WAITED], 2);
}

WELCOMED_CASE(a_full_queue_of_own_events_says_so) {
    for (uint32_t i = 1; i <= NET_EVENTS_RELIABLE_MAX; i++)
        assert_ok(net_client_send_event(at->client, 4, &i));
    uint32_t more = NET_EVENTS_RELIABLE_MAX + 1;
    assert_int_equal(net_client_send_event(at->client, 4, &more), NET_ERR_FULL);
    duel_run(at, 3);
    assert_true(at->server.event_newest > 0);
    raw_state packet = raw_server_packet(&at->server, 5);
    raw_server_send_state(&at->server, packet);
    duel_run(at, 3);
    assert_ok(net_client_send_event(at->client, 4, &more));
}

WELCOMED_CASE(acknowledging_events_that_were_never_sent_is_counted) {
    assert_ok(net_client_send_event(at->client, 4, &(uint32_t){1}));
    duel_run(at, 2);
    raw_state packet = raw_server_packet(&at->server, 5);
    packet.header.has_event_ack = true;
    packet.header.event_ack = 500;
    raw_server_send_state(&at->server, packet);
    duel_run(at, 3);
    assert_int_equal(malformed(at), 1);
    assert_int_equal(at->server.event_newest, 1); // the client still sends it
}

WELCOMED_CASE(leaving_says_goodbye) {
    net_client_leave(at->client, at->now_us);
    net_client_leave(at->client, at->now_us);
    duel_run(at, 5);
    assert_true(at->server.has_goodbye);
    assert_true(at->server.is_gone);
    duel_expect_end(at, NET_CLIENT_END_LEFT);
    duel_expect_phase(at, NET_CLIENT_ENDED);
}

WELCOMED_CASE(misuse_is_seen) {
    uint32_t number = 1;
    expect_assert_failure((void)!net_client_send_event(at->client, 0, &number));
    // Only the server may send it.
    expect_assert_failure((void)!net_client_send_event(at->client, 2, &number));
    expect_assert_failure((void)!net_client_send_event(at->client, 5, &number));
}

WELCOMED_CASE(a_write_past_the_memory_of_a_bot_is_seen) {
    uint8_t* volatile memory = at->client->bot_memory;
    at->client->phase = NET_CLIENT_PLAYING;
    at->client->is_player_known = true;
    memory[NET_BOT_MEMORY_BYTES - 1] = 1;
    net_client_make_input(at->client);
    memory[NET_BOT_MEMORY_BYTES] = 1;
    expect_assert_failure(net_client_make_input(at->client));
    assert_string_equal(ecs_running_call(NULL), "bot_think"); // where a crash report looks
}

// ---- settings, roster, resuming

static Shoal__Wire__Welcome welcome_with(double* settings, size_t count) {
    Shoal__Wire__Welcome welcome = duel_secret_welcome();
    welcome.settings = settings;
    welcome.n_settings = count;
    return welcome;
}

// The welcome of a session that goes on.
static void welcome_back(duel* at, uint32_t client) {
    Shoal__Wire__Welcome welcome = duel_secret_welcome();
    welcome.is_resumed = true;
    welcome.client = client;
    raw_server_welcome_as(&at->server, welcome);
}

static void open_with_secret(duel* at) {
    duel_open(at);
    duel_play(at, duel_secret_welcome());
}

#define SECRET_CASE(name) CASE_WITH(duel, at, open_with_secret(at), duel_close(at), name)

DUEL_CASE(settings_that_no_server_has_are_malformed) {
    const net_game_module* game = swarm_module_get();
    duel_run(at, 6);
    double settings[NET_SETTINGS_MAX + 1];
    for (uint32_t i = 0; i < BASE_COUNT(settings); i++)
        settings[i] = i < game->setting_count ? game->settings[i].min : 0;
    const double wrong[] = {NAN, INFINITY, -INFINITY, game->settings[0].min - 1,
                            game->settings[0].max + 1};
    for (size_t i = 0; i < BASE_COUNT(wrong); i++) {
        settings[0] = wrong[i];
        raw_server_welcome_as(&at->server, welcome_with(settings, game->setting_count));
    }
    settings[0] = game->settings[0].min;
    raw_server_welcome_as(&at->server, welcome_with(settings, game->setting_count + 1));
    raw_server_welcome_as(&at->server, welcome_with(settings, BASE_COUNT(settings)));
    Shoal__Wire__Welcome resumed = welcome_with(settings, 1);
    resumed.is_resumed = true; // the client did not request a resume
    raw_server_welcome_as(&at->server, resumed);
    Shoal__Wire__Welcome cut = welcome_with(settings, 1);
    cut.resume.len--;
    raw_server_welcome_as(&at->server, cut);
    duel_phase_after(at, 3, NET_CLIENT_GREETING);
    assert_int_equal(malformed(at), BASE_COUNT(wrong) + 4);
    settings[0] = game->settings[0].max;
    raw_server_welcome_as(&at->server, welcome_with(settings, game->setting_count));
    duel_phase_after(at, 3, NET_CLIENT_PLAYING);
    assert_true(net_match_get_config(at->match)->settings[0] == game->settings[0].max);
}

static void send_roster(duel* at, uint32_t first, uint32_t count, const char* name) {
    duel_send_roster(at, first, count, name);
    duel_run(at, 2);
}

GREETED_CASE(a_roster_is_bounded_and_its_names_are_cleaned) {
    send_roster(at, 1, 1, "early");
    assert_int_equal(malformed(at), 1); // the packet came before welcome
    raw_server_welcome(&at->server, 3, 60);
    duel_run(at, 2);
    send_roster(at, 5, 1, "\x02 a name that is much longer than thirty-one bytes can be");
    assert_int_equal(strlen(net_client_player_name(at->client, 5)), NET_PLAYER_NAME_BYTES_MAX - 1);
    send_roster(at, 5, 1, "");
    assert_string_equal(net_client_player_name(at->client, 5), "player");
    send_roster(at, 0, 1, "absent");
    assert_int_equal(malformed(at), 2);
    assert_null(net_client_player_name(at->client, 0));
    // The numbers fall, so each entry goes before the others.
    uint32_t number = 100000;
    for (uint32_t told = 1; told < NET_CLIENTS_MAX;) {
        uint32_t count = NET_CLIENTS_MAX - told < 256 ? NET_CLIENTS_MAX - told : 256;
        number -= count;
        send_roster(at, number, count, "many");
        told += count;
    }
    assert_int_equal(malformed(at), 2);
    char last[NET_PLAYER_NAME_BYTES_MAX]; // another player has the name already
    (void)snprintf(last, sizeof last, "many#%u", number);
    assert_string_equal(net_client_player_name(at->client, number), last);
    send_roster(at, 1, 1, "one too many");
    assert_int_equal(malformed(at), 3);
    assert_null(net_client_player_name(at->client, 1));
    send_roster(at, 5, 1, "known already");
    assert_int_equal(malformed(at), 3);
    assert_string_equal(net_client_player_name(at->client, 5), "known already");
}

SECRET_CASE(three_seconds_of_silence_are_answered_with_the_secret) {
    duel_phase_after(at, 3 * TICKS_PER_SECOND + 10, NET_CLIENT_RESUMING);
    assert_int_equal(at->server.hellos, 2);
    assert_int_equal(at->server.resume_size, sizeof DUEL_SECRET);
    assert_memory_equal(at->server.resume, DUEL_SECRET, sizeof DUEL_SECRET);
    assert_true(at->server.is_gone);
    assert_int_equal(at->server.gone_reason, 0); // the client did not leave on purpose
    // The client sends nothing before the next welcome, and it ignores state packets.
    uint64_t packets = at->server.packets;
    duel_send_nothing_new(at, 2);
    duel_run(at, 30);
    assert_int_equal(at->server.packets, packets);
    assert_int_equal(net_client_get_report(at->client).tick, 1);
    // A welcome with another number is refused.
    welcome_back(at, 4);
    duel_phase_after(at, 3, NET_CLIENT_RESUMING);
    assert_int_equal(malformed(at), 1);
    welcome_back(at, 3);
    duel_phase_after(at, 3, NET_CLIENT_PLAYING);
    duel_send_nothing_new(at, 3);
    duel_run(at, 3);
    assert_int_equal(net_client_get_report(at->client).tick, 3);
    assert_true(at->server.input_seq > 1); // the numbers continued
}

SECRET_CASE(attempts_end_thirty_seconds_after_the_last_word) {
    duel_phase_after(at, 29 * TICKS_PER_SECOND, NET_CLIENT_RESUMING);
    assert_true(at->server.hellos >= 4); // each new connection repeats an unanswered hello
    duel_end_after(at, 2 * TICKS_PER_SECOND, NET_CLIENT_END_LOST);
}

// The silence before the welcome does not count. The client gets time for the next state.
SECRET_CASE(who_is_welcome_again_at_the_last_moment_stays) {
    duel_phase_after(at, 29 * TICKS_PER_SECOND, NET_CLIENT_RESUMING);
    duel_run(at, 40);
    while (net_client_get_phase(at->client) == NET_CLIENT_RESUMING) {
        if (at->server.is_connected) welcome_back(at, 3);
        duel_run(at, 1);
    }
    duel_expect_phase(at, NET_CLIENT_PLAYING);
    duel_phase_after(at, TICKS_PER_SECOND, NET_CLIENT_PLAYING);
    duel_send_nothing_new(at, 3);
    duel_run(at, 3);
    assert_int_equal(net_client_get_report(at->client).tick, 3);
}

SECRET_CASE(who_leaves_while_resuming_has_left) {
    duel_run(at, 3 * TICKS_PER_SECOND + 10);
    const uint32_t number = 1;
    assert_int_equal(net_client_send_event(at->client, 4, &number), NET_ERR_CLOSED);
    net_client_leave(at->client, at->now_us);
    duel_expect_end(at, NET_CLIENT_END_LEFT);
}
