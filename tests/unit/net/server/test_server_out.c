// SPDX-License-Identifier: MIT
// What the server sends: when, how much, to which clients, and to which account each bit belongs.
#include "session_table.h"

#include "explain/explain.h"
#include "replicate/repl_state.h"
#include "server/server_state.h"
#include "session/packet_header.h"
#include "session/rate.h"

// ---- a transport that measures what the server sends ----

typedef struct scales {
    table_tap tap;
    uint64_t control_bytes, realtime_bytes;
    uint64_t realtime_of[NET_PEER_SLOTS]; ///< by slot of the peer
    uint64_t paid_bytes;                  ///< realtime bytes with overhead, since it was set to 0
} scales;

static scales the_scales;

static net_result weigh_send(net_transport* transport, net_peer peer, net_channel channel,
                             const void* bytes, size_t size) {
    scales* self = &the_scales;
    net_result result = self->tap.below->send(transport, peer, channel, bytes, size);
    if (result != NET_OK) return result;
    if (channel == NET_CHANNEL_CONTROL) {
        self->control_bytes += size;
    } else {
        self->realtime_bytes += size;
        self->realtime_of[peer & (NET_PEER_SLOTS - 1)] += size;
        self->paid_bytes += size + NET_RATE_OVERHEAD_BYTES;
    }
    return NET_OK;
}

static net_transport* weigh(net_transport* transport) {
    memset(&the_scales, 0, sizeof the_scales);
    table_tap_set(&the_scales.tap, transport);
    the_scales.tap.ops.send = weigh_send;
    return transport;
}

// ---- the bandwidth

typedef struct sums {
    uint64_t control, transport, state;     // of all clients together
    uint64_t client_state[TABLE_SEATS + 1]; // by client
    uint64_t last_bits;
    uint32_t last_client, lines;
    double share;
} sums;

static void take_line(void* context, const net_ledger_line* line) {
    sums* all = context;
    bool is_control = strcmp(line->cause, "control") == 0 || strcmp(line->cause, "large") == 0;
    bool is_transport = strcmp(line->cause, "transport") == 0;
    if (line->client == all->last_client && all->lines > 0)
        assert_true(line->bits <= all->last_bits); // the largest first
    assert_true(line->bits > 0);
    all->last_client = line->client;
    all->last_bits = line->bits;
    all->lines++;
    if (line->client > 0) {
        assert_in_range(line->client, 1, TABLE_SEATS);
        if (!is_control) all->client_state[line->client] += line->bits;
        return;
    }
    all->share += line->share;
    if (is_control)
        all->control += line->bits;
    else if (is_transport)
        all->transport += line->bits;
    else
        all->state += line->bits;
}

GUEST_ROWS(every_bit_of_every_datagram_has_an_account, seed, 3, .seed = seed + 1, .quiet = 400,
           .has_accounts = true, .wrap = weigh, .seats = 2) {
    const net_link_config bad = {
        .loss_percent = 10, .delay_ms = 40, .jitter_ms = 20, .seed = seed + 1};
    net_sim_link_set(at->seats[0].transport, &bad);
    table_run_politely(at, 200);
    raw_client_goodbye(raw);
    table_run_politely(at, 400);
    sums all = {0};
    net_server_accounts(at->server, UINT32_MAX, take_line, &all);
    assert_int_equal(all.state, 8 * the_scales.realtime_bytes);
    assert_int_equal(all.control, 8 * the_scales.control_bytes);
    assert_int_equal(all.transport, 0); // the simulated transport adds nothing
    assert_true(all.share > 0.999 && all.share < 1.001);
    // The simulated network gives slots in the order of connecting, and so does the server with
    // numbers.
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(all.client_state[i + 1], 8 * the_scales.realtime_of[i]);
}

// ---- explained

TABLE_CASE(a_server_says_why_a_client_has_an_entity, .seed = 1, .seats = 1, .steps = 60) {
    net_explanation out;
    sums none = {0};
    net_server_accounts(at->server, UINT32_MAX, take_line, &none);
    assert_int_equal(none.lines, 0); // no ledger is kept
    assert_false(net_server_explain(at->server, 2, ECS_ENTITY_NONE, &out));
    const ecs_world* world = net_match_world(at->match);
    ecs_entity local = ecs_entity_make(ECS_INDEX_MAX, 1);
    const ecs_entity strange[] = {ECS_ENTITY_NONE, local, ecs_entity_make(1, 77)};
    for (uint32_t i = 0; i < BASE_COUNT(strange); i++) {
        assert_true(net_server_explain(at->server, 1, strange[i], &out));
        assert_int_equal(out.rule, NET_RULE_REPLICATED);
        assert_int_equal(out.answers[NET_RULE_REPLICATED], NET_RULE_HIDES);
        assert_int_equal(out.has, NET_HAS_NOT);
        assert_int_equal(out.held, NET_HELD_SCOPE);
        assert_null(out.template_name);
        assert_int_equal(out.component_count, 0);
        assert_false(out.is_in_scope || out.waits || out.turn_ticks);
    }
    // Without rules each client has everything.
    const ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    assert_true(net_server_explain(at->server, 1, entity, &out));
    assert_int_equal(out.rule, NET_RULE_EVERYWHERE);
    assert_int_equal(out.has, NET_HAS_LIVE);
    assert_true(out.is_in_scope && out.acked_tick > 0 && out.acked_tick <= out.tick);
    assert_true(out.has_packet && out.newest_packet_tick == out.tick);
    assert_true(out.component_count > 0 && out.components[0].is_visible);
    assert_string_equal(out.components[0].class_name, "public");
}

// ---- the ledger, and a packet

static void add_bits(void* context, const net_ledger_line* line) {
    *(uint64_t*)context += line->bits;
}

TABLE_CASE(the_ledger_counts_only_while_it_is_asked_for, .seed = 1, .quiet = 4000, .seats = 1,
           .steps = 60) {
    net_ledger_span span;
    uint64_t bits = 0;
    assert_null(net_explain_of(at->server)->ledger);
    net_server_ledger(at->server, NET_LEDGER_BOTH, 100, add_bits, &bits, &span);
    assert_int_equal(span.seconds, 0);
    assert_int_equal(bits, 0);
    table_run(at, 3 * TICKS_PER_SECOND + 1);
    net_server_ledger(at->server, NET_LEDGER_BOTH, UINT32_MAX, add_bits, &bits, &span);
    assert_in_range(span.seconds, 2, 3);
    assert_true(bits > 0 && bits == span.bits);
    assert_true(span.second_bits[NET_LEDGER_SECONDS - 1] > 0);
    assert_int_equal(span.second_bits[0], 0);
    // Ten seconds are the most that are known.
    table_run(at, 13 * TICKS_PER_SECOND);
    net_server_ledger(at->server, NET_LEDGER_CLIENT, 1, NULL, NULL, &span);
    assert_int_equal(span.seconds, NET_LEDGER_SECONDS);
    table_run(at, NET_LEDGER_ASK_MS * TICKS_PER_SECOND / 1000 - 2);
    assert_non_null(net_explain_of(at->server)->ledger);
    table_run(at, 4);
    assert_null(net_explain_of(at->server)->ledger);
}

typedef struct listed {
    uint32_t count;
    net_ledger_line lines[512];
} listed;

static void keep_line(void* context, const net_ledger_line* line) {
    listed* all = context;
    assert_true(all->count < 512);
    all->lines[all->count++] = *line;
}

TABLE_CASE(entities_are_counted_only_while_somebody_asks_for_them, .seed = 1, .quiet = 4000) {
    net_ledger_span span, whole;
    listed all = {0}, most = {0};
    (void)table_sit_for(at, 60);
    net_server_ledger(at->server, NET_LEDGER_BOTH, 1, NULL, NULL, &span);
    table_run(at, 90);
    assert_null(net_explain_of(at->server)->ledger->entity_sums);
    net_server_ledger(at->server, NET_LEDGER_ENTITY, 512, keep_line, &all, &span);
    assert_int_equal(span.seconds + all.count, 0);
    table_run(at, 4 * TICKS_PER_SECOND);
    net_server_ledger(at->server, NET_LEDGER_ENTITY, 512, keep_line, &all, &span);
    net_server_ledger(at->server, NET_LEDGER_COMPONENT, 1, NULL, NULL, &whole);
    assert_int_equal(span.seconds, 3);
    assert_int_equal(whole.seconds, 5);
    assert_false(span.is_cut);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        bits += all.lines[i].bits;
        if (i > 0) assert_true(all.lines[i].bits <= all.lines[i - 1].bits);
    }
    assert_true(bits > 0 && bits == span.bits);
    // Fewer lines are the first of all. Bits of no entity always have one.
    const uint32_t fewer = all.count / 2;
    assert_true(fewer > 3);
    net_server_ledger(at->server, NET_LEDGER_ENTITY, fewer, keep_line, &most, &span);
    assert_true(span.is_cut);
    assert_int_equal(most.count, fewer);
    for (uint32_t i = 0; i < fewer; i++)
        assert_int_equal(most.lines[i].bits, all.lines[i].bits);
    // Later than ten seconds the oldest ones are gone, and then there is no further question.
    table_run(at, 12 * TICKS_PER_SECOND);
    all.count = 0;
    net_server_ledger(at->server, NET_LEDGER_ENTITY, 512, keep_line, &all, &span);
    assert_int_equal(span.seconds, NET_LEDGER_SECONDS);
    for (uint32_t i = 0; i < all.count; i++)
        span.bits -= all.lines[i].bits;
    assert_int_equal(span.bits, 0);
    for (uint32_t i = 0; i < 2; i++) {
        net_server_ledger(at->server, NET_LEDGER_CAUSE, 1, NULL, NULL, &span);
        table_run(at, NET_LEDGER_ASK_MS * TICKS_PER_SECOND / 2000 + 2);
    }
    assert_null(net_explain_of(at->server)->ledger->entity_sums);
    assert_non_null(net_explain_of(at->server)->ledger);
}

TABLE_CASE(a_packet_is_taken_apart_for_those_who_ask, .seed = 1, .quiet = 4000, .seats = 2,
           .steps = 60) {
    assert_null(net_server_packet(at->server, 0));
    assert_null(net_server_packet(at->server, 3));
    assert_null(net_server_packet(at->server, 1)); // none yet
    table_run(at, 2);
    const net_packet* packet = net_server_packet(at->server, 1);
    assert_non_null(packet);
    assert_int_equal(packet->client, 1);
    assert_true(packet->part_count > 8 && packet->bits % 8 == 0);
    assert_string_equal(packet->parts[0].what, "frame");
    assert_string_equal(packet->parts[1].what, "seq");
    assert_null(net_server_packet(at->server, 2)); // another client: from now on
    table_run(at, 2);
    assert_int_equal(net_server_packet(at->server, 2)->client, 2);
    table_run(at, NET_LEDGER_ASK_MS * TICKS_PER_SECOND / 1000 + 2);
    assert_null(net_explain_of(at->server)->capture);
}

CASE(all_that_an_explanation_says_has_words) {
    for (uint32_t i = 0; i < NET_RULE_COUNT; i++)
        assert_true(strlen(net_rule_name((net_rule)i)) > 2);
    for (uint32_t i = 0; i <= NET_RULE_HIDES; i++)
        assert_true(strlen(net_rule_answer_name((net_rule_answer)i)) > 2);
    for (uint32_t i = 0; i < NET_HAS_COUNT; i++)
        assert_true(strlen(net_has_name((net_has)i)) > 2);
    for (uint32_t i = 0; i < NET_HELD_COUNT; i++)
        assert_true(strlen(net_held_text((net_held)i)) > 10);
    for (uint32_t a = 0; a < NET_COST_COUNT; a++) {
        assert_true(strlen(net_cost_name((net_cost)a)) > 2);
        for (uint32_t b = 0; b < a; b++)
            assert_string_not_equal(net_cost_name((net_cost)a), net_cost_name((net_cost)b));
    }
    expect_assert_failure((void)net_cost_name(NET_COST_COUNT));
}

// ---- when

GUEST_CASE(who_is_told_nothing_new_hears_ten_times_a_second, .seed = 1, .quiet = 1) {
    table_run_politely(at, 120);
    uint64_t states = raw->states, bodies = raw->state_bodies, bytes = raw->state_bytes;
    table_run_politely(at, 10 * TICKS_PER_SECOND);
    assert_in_range(raw->states - states, 99, 101);
    assert_int_equal(raw->state_bodies, bodies);
    assert_true(raw->state_bytes - bytes < 101 * 20);
    assert_true(raw->samples > 90); // each packet has room for a checksum
    assert_true(net_match_tick(at->match) - raw->state_tick <= 7);
}

// A client must learn at once that its inputs come too late. Otherwise its clock would drift for a
// tenth of a second.
GUEST_CASE(the_fate_of_inputs_is_told_at_once, .seed = 1, .quiet = 1) {
    table_run_politely(at, 60);
    uint64_t states = raw->states;
    raw_client_inputs(raw, raw_client_packet(raw), 1, 1, "", 0); // send one input, then no more
    table_run(at, 31);
    // Owed ticks grow for half a second and then stop. Until then each tick has new information.
    assert_true(raw->states - states >= 28);
    assert_int_equal(raw->input_ack, 1);
}

TABLE_ROWS(a_divisor_gives_each_client_its_own_ticks, i, NET_SEND_DIVISOR_MAX, .seed = 5,
           .quiet = 400, .ticks_max = 500, .server.send_divisor = i + 1, .seats = 1) {
    const uint32_t divisor = i + 1;
    raw_client* a = table_guest(at);
    raw_client* b = table_guest(at);
    uint64_t states = a->states;
    ecs_tick begin = net_match_tick(at->match);
    while (net_match_tick(at->match) < begin + 120) {
        table_run_politely(at, 1);
        assert_int_equal(a->state_tick % divisor, a->client % divisor);
        assert_int_equal(b->state_tick % divisor, b->client % divisor);
    }
    assert_in_range(a->states - states, 120 / divisor - 1, 120 / divisor + 1);
    raw_client_goodbye(a);
    raw_client_goodbye(b);
    table_ends(at, 2000);
    net_client_report report = net_client_get_report(at->seats[0].client);
    assert_int_equal(report.tick, 500);
    assert_true(report.loss_percent < 0.001);
}

TABLE_CASE(divisor_and_rate_have_limits, .seed = 1) {
    net_server_config config = {
        .match = at->match, .transport = at->transport, .clients_max = 1, .send_divisor = 5};
    net_server* server = NULL;
    expect_assert_failure((void)!net_server_create(&config, &server));
    config.send_divisor = NET_SEND_DIVISOR_MAX;
    config.rate_bytes_max = NET_RATE_BYTES_LIMIT + 1;
    expect_assert_failure((void)!net_server_create(&config, &server));
    config.rate_bytes_max = NET_RATE_BYTES_LIMIT;
    assert_ok(net_server_create(&config, &server));
    net_server_destroy(server);
}

// ---- how much

// Everything moves in each tick: this is more data than the least rate allows, and a probe names an
// older tick than the newest row.
static void move_all(const ecs_stage* stage, const ecs_rows* rows) {
    swarm_context* context = stage->context;
    ecs_query_iter iter = ecs_query_begin(stage->world, context->movers);
    while (ecs_query_next(&iter)) {
        ecs_vec2* pos = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++)
            pos[i].x = pos[i].x < 300 ? pos[i].x + 0.5f : -100;
    }
}

static void start_storm(ecs_world* world, void* context, const net_game_start* start) {
    const swarm_context* game = context;
    swarm_module_get()->start(world, context, start);
    for (uint32_t i = 0; i < 200; i++) {
        ecs_entity mote;
        (void)!ecs_create(world, game->mote, NULL, 0, &mote);
    }
}

static const struct {
    uint32_t ours, wish, rate;
} RATES[] = {{8000, 0, 8000}, {0, 8000, 8000}, {10000, 20000, 10000}, {0, 1, 8000}};

TABLE_ROWS(nobody_is_sent_more_than_its_rate_and_a_little, i, BASE_COUNT(RATES), .seed = 1,
           .quiet = 1, .act = move_all, .start = start_storm,
           .server.rate_bytes_max = RATES[i].ours, .wrap = weigh) {
    raw_client* raw = table_raw_client(at);
    raw->rate_bytes_max = RATES[i].wish;
    assert_true(table_join(at, raw, "thrifty"));
    table_run_politely(at, 60);
    the_scales.paid_bytes = 0;
    table_run_politely(at, 10 * TICKS_PER_SECOND);
    const double paid = (double)the_scales.paid_bytes, most = RATES[i].rate * 10.0;
    assert_true(paid <= most + 3.0 * NET_RATE_PACKET_BYTES_MAX);
    assert_true(paid > 0.9 * most);
}

TABLE_CASE(a_client_at_the_least_rate_gets_everything_in_the_end, .seed = 2, .quiet = 500,
           .ticks_max = 600, .server.rate_bytes_max = NET_RATE_BYTES_MIN, .seats = 1) {
    table_ends(at, 3000);
    assert_int_equal(net_client_get_report(at->seats[0].client).tick, 600);
    assert_int_equal(((swarm_context*)net_match_context(at->seats[0].match))->ping_faults, 0);
}

// ---- to which clients

// Client 2 sees only its own entity.
static net_relevance hide_from_two(const net_interest_question* question) {
    bool is_hidden = question->client == 2 && question->entity != question->player;
    return is_hidden ? NET_RELEVANT_NEVER : NET_RELEVANT_BY_RULES;
}

static swarm_context* the_game;
static uint32_t the_echoes; // events about each mote

static void echo(ecs_world* world, ecs_entity mote) {
    const struct { uint32_t number; } number = {1};
    for (uint32_t i = 0; i < the_echoes; i++)
        (void)ecs_event_send(world, mote, the_game->ping, &number);
}

// Send an event about a new mote every tenth tick. Four ticks later, send one about a mote that is
// destroyed.
static void gossip_es(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_world* world = stage->world;
    if (stage->tick % 10 == 0)
        echo(world, ecs_command_create(world, the_game->mote, NULL, 0));
    else if (stage->tick % 10 == 4)
        echo(world, ecs_query_first(world, the_game->targets));
}

// Destroy motes after the event was delivered and before the tick ends.
static void reaper_es(const ecs_stage* stage, const ecs_rows* rows) {
    if (stage->tick % 10 == 4)
        (void)ecs_command_destroy(stage->world, ecs_query_first(stage->world, the_game->targets));
}

static ecs_result register_gossip(ecs_world* world, void** context, const base_reporter* reporter) {
    static const char* const SERVER[] = {"server"};
    const ecs_system_desc reaper = {
        .name = "reaper_es", .stage = "act", .run = reaper_es, .tags = SERVER, .tag_count = 1};
    table_act = gossip_es;
    ecs_result result = table_register(world, context, reporter);
    return result == ECS_OK ? ecs_system_register(world, &reaper) : result;
}

static void start_gossip(ecs_world* world, void* context, const net_game_start* start) {
    the_game = context;
    swarm_module_get()->start(world, context, start);
}

static const net_game_module* gossiping(uint32_t echoes) {
    static const net_interest_rules rules = {.size_bytes = sizeof rules,
                                             .relevance = hide_from_two};
    static net_game_module game;
    game = *swarm_module_get();
    game.interest = &rules;
    game.register_systems = register_gossip;
    the_echoes = echoes;
    return &game;
}

// Above some number the server looks for the targets among the slots of a client.
TABLE_ROWS(events_go_to_those_who_see_what_they_are_about, is_many, 2, .seed = 1, .quiet = 1,
           .game = gossiping(is_many ? 48 : 1), .start = start_gossip) {
    const uint32_t echoes = is_many ? 48 : 1;
    raw_client* sees = table_guest(at);
    raw_client* blind = table_guest(at);
    assert_int_equal(blind->client, 2);
    table_run_politely(at, 40);
    uint32_t seen_before = sees->event_newest, blind_before = blind->event_newest;
    ecs_tick begin = net_match_tick(at->match);
    table_run_politely(at, 200);
    uint32_t told = sees->event_newest - seen_before;
    assert_int_equal(net_match_tick(at->match) - begin, 200);
    assert_in_range(told, 39 * echoes, 41 * echoes); // with the events about destroyed motes
    assert_int_equal(blind->event_newest, blind_before);
    assert_true(table_dropped(at, NET_DROP_EVENT_UNSEEN) >= 40 * echoes);
    assert_int_equal(table_dropped(at, NET_DROP_EVENT_QUEUE), 0);
}

// ---- what travels together

static uint32_t the_parts;

static void start_convoy(ecs_world* world, void* context, const net_game_start* start) {
    const swarm_context* game = context;
    swarm_module_get()->start(world, context, start);
    const uint32_t convoy = 7;
    for (uint32_t i = 0; i < the_parts; i++) {
        ecs_entity mote;
        assert_ok(ecs_create(world, game->mote, ECS_INITS({game->together, &convoy}), &mote));
    }
}

static const net_game_module* convoy(uint32_t parts) {
    static swarm_wild wild;
    the_parts = parts;
    return swarm_wild_make(&wild, SWARM_TOGETHER);
}

// Each of two clients gets all of it.
TABLE_ROWS(a_convoy_larger_than_a_packet_is_said_once, is_small, 2, .seed = 1, .quiet = 1,
           .ticks_max = 200, .game = convoy(is_small ? 8 : 600), .start = start_convoy,
           .templates = swarm_wild_templates(), .seats = 1, .steps = 60) {
    table_sit(at, NULL);
    table_ends(at, 1000);
    assert_true(net_client_get_report(at->seats[0].client).scope.entities >= the_parts);
    assert_int_equal(heard_count(&at->said,
                                 "warning: entities with together 7 travel together, but "
                                 "they need more than 1032 bytes: clients get them in "
                                 "parts"),
                     !is_small);
    assert_true(!is_small || heard_count(&at->said, "travel together") == 0);
}

// ---- checksums

TABLE_CASE(what_changes_in_every_tick_is_healed_too, .seed = 1, .quiet = 100, .ticks_max = 2400,
           .act = move_all, .seats = 1, .steps = 200) {
    table_seat* seat = at->seats;
    ecs_world* world = net_match_world(seat->match);
    const swarm_context* context = net_match_context(seat->match);
    ecs_entity player = net_match_player(at->match, 1);
    const uint32_t right = *(const uint32_t*)ecs_get(world, player, context->player_id);
    const uint32_t wrong = right + 1;
    assert_ok(ecs_set(world, player, context->player_id, &wrong));
    ecs_changes_clear(world);
    uint32_t ticks = 0;
    for (; ticks < 20 * TICKS_PER_SECOND; ticks++) {
        table_run(at, 1);
        if (*(const uint32_t*)ecs_get(world, player, context->player_id) == right) break;
    }
    printf("healed after %u ticks\n", ticks);
    assert_true(ticks < 9 * TICKS_PER_SECOND);
    net_client_report report = net_client_get_report(seat->client);
    assert_true(report.worlds_differing + report.probes_differing >= 1);
    table_ends(at, 3000);
}
