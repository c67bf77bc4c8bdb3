// SPDX-License-Identifier: MIT
// The state machines of sessions, as the trace shows them: legal transitions in order. Illegal
// transitions fail an assertion.
#include "session_table.h"

#include "client/client_state.h"
#include "server/server_state.h"
#include "server/session.h"

#define LINES_MAX 4096u

/// The lines of a trace without their time. States and packets have separate lists.
typedef struct tracer {
    char states[32][NET_TRACE_LINE_BYTES_MAX];
    uint32_t state_count;
    net_trace_event packets[LINES_MAX];
    uint32_t packet_count;
    uint64_t now_us; ///< the time of the newest event; it never falls
} tracer;

static void record(void* context, const net_trace_event* event) {
    tracer* kept = context;
    assert_true(event->now_us >= kept->now_us);
    kept->now_us = event->now_us;
    if (event->kind != NET_TRACE_STATE) {
        assert_non_null(event->name);
        assert_true(event->bytes > 0);
        if (kept->packet_count < LINES_MAX) kept->packets[kept->packet_count++] = *event;
        return;
    }
    assert_true(kept->state_count < 32);
    char line[NET_TRACE_LINE_BYTES_MAX];
    net_trace_text(event, line, sizeof line);
    const char* states = strstr(line, "state from=");
    assert_non_null(states);
    (void)base_text_format(kept->states[kept->state_count++], NET_TRACE_LINE_BYTES_MAX,
                           "client=%u %s", event->client, states + strlen("state "));
}

static void check_states(const tracer* kept, const char* const* lines, uint32_t count) {
    for (uint32_t i = 0; i < count && i < kept->state_count; i++)
        assert_string_equal(kept->states[i], lines[i]);
    assert_int_equal(kept->state_count, count);
}

static uint32_t count_packets(const tracer* kept, net_trace_kind kind, const char* name) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kept->packet_count; i++)
        count += kept->packets[i].kind == kind && strcmp(kept->packets[i].name, name) == 0;
    return count;
}

static tracer server, client;

static tracer* cleared(tracer* kept) {
    *kept = (tracer){.state_count = 0};
    return kept;
}

#define TRACED                                                                                     \
    .quiet = 1e9, .server.session_trace = record,                                                  \
    .server.session_trace_context = cleared(&server), .seat_trace = record,                        \
    .seat_trace_context = cleared(&client)

TABLE_CASE(a_session_is_seen_from_its_first_connection_to_its_end, .seed = 5, TRACED, .seats = 1,
           .steps = 120) {
    table_seat* seat = at->seats;
    net_sim_link_set(seat->transport, &DEAD_LINK);
    table_run(at, 6 * TICKS_PER_SECOND);
    net_sim_link_set(seat->transport, &QUIET_LINK);
    table_run(at, 60);
    assert_int_equal(net_client_get_phase(seat->client), NET_CLIENT_PLAYING);
    net_client_leave(seat->client, at->now_us);
    table_run(at, 60);
    static const char* const SERVER_STATES[] = {
        "client=0 from=free to=greeting reason=connected",
        "client=1 from=greeting to=accepted reason=accepted",
        "client=1 from=accepted to=playing reason=joined",
        "client=1 from=playing to=away reason=connection_lost",
        "client=0 from=free to=greeting reason=connected",
        "client=0 from=greeting to=closing reason=resumed_another",
        "client=1 from=away to=playing reason=resumed",
        "client=0 from=closing to=free reason=resumed_another",
        "client=1 from=playing to=closing reason=left",
        "client=1 from=closing to=free reason=disconnected",
    };
    static const char* const CLIENT_STATES[] = {
        "client=0 from=connecting to=greeting reason=connected",
        "client=1 from=greeting to=playing reason=welcome",
        "client=1 from=playing to=resuming reason=connection_lost",
        "client=1 from=resuming to=playing reason=resumed",
        "client=1 from=playing to=ended reason=left",
    };
    check_states(&server, SERVER_STATES, BASE_COUNT(SERVER_STATES));
    check_states(&client, CLIENT_STATES, BASE_COUNT(CLIENT_STATES));
}

TABLE_CASE(every_packet_is_seen_on_both_sides, .seed = 6, TRACED, .seats = 1, .steps = 200) {
    assert_int_equal(count_packets(&client, NET_TRACE_SENT, "hello"), 1);
    assert_int_equal(count_packets(&server, NET_TRACE_RECEIVED, "hello"), 1);
    assert_int_equal(count_packets(&server, NET_TRACE_SENT, "welcome"), 1);
    assert_int_equal(count_packets(&client, NET_TRACE_RECEIVED, "welcome"), 1);
    assert_int_equal(count_packets(&client, NET_TRACE_RECEIVED, "roster"), 1);
    assert_true(count_packets(&client, NET_TRACE_SENT, "input") > 100);
    net_server_service(at->server, at->now_us);
    assert_int_equal(count_packets(&server, NET_TRACE_SENT, "state"),
                     table_counters(at)->state_packets);
    uint64_t bytes = 0;
    uint32_t number = 0;
    for (uint32_t i = 0; i < server.packet_count; i++) {
        const net_trace_event* one = &server.packets[i];
        if (one->kind != NET_TRACE_SENT || strcmp(one->name, "state") != 0) continue;
        assert_int_equal(one->number, number++);
        assert_int_equal(one->client, 1);
        bytes += one->bytes;
    }
    assert_int_equal(bytes, table_counters(at)->state_bytes);
    // With a delay of 5 ms and no loss, every packet arrives.
    assert_true(count_packets(&client, NET_TRACE_RECEIVED, "state") + 2 >= number);
}

GUEST_CASE(bytes_that_are_no_message_are_traced_as_malformed, .seed = 7, TRACED) {
    raw_client_garbage(raw, NET_CHANNEL_CONTROL);
    raw_client_garbage(raw, NET_CHANNEL_REALTIME);
    table_run(at, 10);
    assert_int_equal(count_packets(&server, NET_TRACE_RECEIVED, "malformed"), 2);
}

CASE(an_event_is_one_line_of_pairs) {
    char line[NET_TRACE_LINE_BYTES_MAX];
    net_trace_text(&(net_trace_event){.kind = NET_TRACE_SENT,
                                      .now_us = 1250016,
                                      .client = 3,
                                      .peer = 4097,
                                      .name = "state",
                                      .number = 17,
                                      .bytes = 310},
                   line, sizeof line);
    assert_string_equal(line,
                        "t_ms=1250.016 client=3 peer=4097 dir=out kind=state seq=17 bytes=310");
    net_trace_text(&(net_trace_event){.kind = NET_TRACE_STATE,
                                      .now_us = UINT64_MAX,
                                      .client = UINT32_MAX,
                                      .peer = UINT32_MAX,
                                      .from = "connecting",
                                      .to = "greeting",
                                      .reason = "connection_replaced"},
                   line, sizeof line);
    assert_string_equal(line, "t_ms=18446744073709551.615 client=4294967295 peer=4294967295 state "
                              "from=connecting to=greeting reason=connection_replaced");
}

static void check_session_arrow(net_session_state from, net_session_state to, bool is_legal) {
    static net_server owner;
    static net_session session;
    static net_name_key key; // of the session's place
    owner.name_keys = &key;
    session = (net_session){.state = from, .peer = to == NET_SESSION_AWAY ? 0 : 1};
    if (is_legal) {
        net_session_set_state(&owner, &session, to, "test");
        assert_int_equal(session.state, to);
        return;
    }
    expect_assert_failure(net_session_set_state(&owner, &session, to, "test"));
}

CASE(arrows_that_a_session_does_not_have_are_asserted) {
    // [state]: the states that may follow.
    static const char* const FOLLOWERS[NET_SESSION_STATE_COUNT] = {
        [NET_SESSION_FREE] = "gw",      [NET_SESSION_GREETING] = "qaxf", [NET_SESSION_ASKED] = "xf",
        [NET_SESSION_ACCEPTED] = "pxf", [NET_SESSION_PLAYING] = "wxf",   [NET_SESSION_AWAY] = "px",
        [NET_SESSION_CLOSING] = "f",
    };
    static const char LETTERS[] = "fgqapwx";
    for (uint32_t from = 0; from < NET_SESSION_STATE_COUNT; from++)
        for (uint32_t to = 0; to < NET_SESSION_STATE_COUNT; to++)
            check_session_arrow((net_session_state)from, (net_session_state)to,
                                strchr(FOLLOWERS[from], LETTERS[to]) != NULL);
}

static void check_client_arrow(net_client_phase from, net_client_phase to, bool is_legal) {
    static net_client member;
    static int mirror; // only its existence matters
    member = (net_client){
        .phase = from, .client = 1, .has_resume = true, .mirror = (net_mirror*)(void*)&mirror};
    if (is_legal) {
        net_client_set_phase(&member, to, "test");
        assert_int_equal(member.phase, to);
        return;
    }
    expect_assert_failure(net_client_set_phase(&member, to, "test"));
}

CASE(arrows_that_a_client_does_not_have_are_asserted) {
    static const char* const FOLLOWERS[] = {"ge", "cpe", "re", "pe", ""};
    static const char LETTERS[] = "cgpre";
    for (uint32_t from = 0; from <= NET_CLIENT_ENDED; from++)
        for (uint32_t to = 0; to <= NET_CLIENT_ENDED; to++)
            check_client_arrow((net_client_phase)from, (net_client_phase)to,
                               strchr(FOLLOWERS[from], LETTERS[to]) != NULL);
}
