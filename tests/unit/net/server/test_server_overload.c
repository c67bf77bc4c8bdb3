// SPDX-License-Identifier: MIT
// Late acknowledgements make less traffic, never more: they make bases old, old bases make long
// rows, and long rows would make acknowledgements later still.
#define TABLE_SEATS 20u
#include "session_table.h"

#include "replicate/repl_state.h"
#include "server/server_state.h"

enum { SEATS = 4, EARLY_S = 3, WARM_S = 12, LATE_S = 5, BACK_S = 2, LONG_S = 20 };

static const net_link_config GOOD = {.delay_ms = 60, .jitter_ms = 15, .loss_percent = 3, .seed = 4};

static void set_late_ms(table* at, double late_ms) {
    for (uint32_t i = 0; i < at->seat_count; i++) {
        net_link_pair line = {.up = *at->config.link, .down = *at->config.link};
        line.up.delay_ms += late_ms;
        net_sim_link_set_pair(at->seats[i].transport, &line);
    }
}

static uint64_t run_seconds(table* at, uint32_t seconds) {
    const uint64_t before = table_counters(at)->state_bytes;
    table_run(at, seconds * TICKS_PER_SECOND);
    return table_counters(at)->state_bytes - before;
}

static table_config late_match(ecs_tick ticks_max) {
    return (table_config){.seed = 3,
                          .quiet = 1e9,
                          .ticks_max = ticks_max,
                          .seats = SEATS,
                          .steps = WARM_S * TICKS_PER_SECOND,
                          .link = &GOOD};
}

typedef struct bytes {
    uint64_t before, late, after;
} bytes;

static bytes play(table* at, double late_ms) {
    bytes sent;
    table_open(at, late_match(0));
    sent.before = run_seconds(at, LATE_S);
    set_late_ms(at, late_ms);
    sent.late = run_seconds(at, LATE_S);
    set_late_ms(at, 0);
    (void)run_seconds(at, BACK_S);
    sent.after = run_seconds(at, LATE_S);
    return sent;
}

CASE(late_acknowledgements_make_no_more_traffic) {
    table at;
    const bytes usual = play(&at, 0); // the match itself changes with time
    table_close(&at);
    const bytes sent = play(&at, 500);
    assert_true(sent.late <= usual.late);
    assert_in_range(sent.after, usual.after - usual.after / 10, usual.after + usual.after / 10);
    table_plays(&at);
    for (uint32_t i = 0; i < SEATS; i++) {
        const ecs_tick newest = net_client_tick_newest(at.seats[i].client);
        assert_true(newest + TICKS_PER_SECOND / 5 >= net_match_tick(at.match));
    }
    table_close(&at);
}

// All walk straight, and turn now and then: the older its base, the longer a row.
static void walk(const ecs_stage* stage, const ecs_rows* rows) {
    const swarm_context* context = stage->context;
    ecs_query_iter iter = ecs_query_begin(stage->world, context->movers);
    for (uint64_t number = 0; ecs_query_next(&iter);) {
        ecs_vec2* pos = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++, number++) {
            const uint64_t way = base_hash64_mix(number, (stage->tick + number * 7) / 64);
            const ecs_vec2 to = ecs_direction((float)(way % 64) * 0.1f);
            const ecs_vec2 low = {-100, -100}, high = {300, 300};
            pos[i] = ecs_vec2_clamp(ecs_vec2_add(pos[i], ecs_vec2_scale(to, 0.3f)), low, high);
        }
    }
}

static void start_crowd(ecs_world* world, void* context, const net_game_start* start) {
    const swarm_context* game = context;
    swarm_module_get()->start(world, context, start);
    for (uint32_t i = 0; i < 60; i++) {
        const ecs_vec2 pos = {(float)(i * 37 % 200), (float)(i * 53 % 200)};
        (void)ecs_command_create(world, game->mote, ECS_INITS({game->pos, &pos}));
    }
}

static table_config crowded_match(void) {
    table_config config = late_match(0);
    config.link = &QUIET_LINK;
    config.quiet = 1;
    config.act = walk;
    config.start = start_crowd;
    return config;
}

// Rows against older bases are longer, so fewer go; none goes again.
CASE(acknowledgements_that_stay_late_make_no_more_traffic) {
    uint64_t prompt = 0;
    for (double late_ms = 0; late_ms <= 300; late_ms += 100) {
        table at;
        table_open(&at, crowded_match());
        set_late_ms(&at, late_ms);
        const uint64_t sent = run_seconds(&at, LONG_S);
        if (late_ms == 0) prompt = sent;
        assert_true(sent * 10 <= prompt * 12);
        for (uint32_t i = 0; i < SEATS; i++) {
            const net_repl_state* repl = at.server->sessions[i]->out.repl;
            assert_int_equal(repl->counters.records_repeated, 0);
        }
        table_close(&at);
    }
}

// The server is stopped for 50 to 250 ms each time, and catches up.
CASE(a_server_that_runs_late_makes_no_more_traffic) {
    uint64_t usual = 0;
    for (uint32_t ticks = 1; ticks <= 15; ticks = ticks * 2 + 1) {
        table at;
        table_open(&at, crowded_match());
        const uint64_t before = table_counters(&at)->state_bytes;
        for (uint32_t i = 0; i < LONG_S * TICKS_PER_SECOND; i++)
            table_step_by(&at, i % ticks == ticks - 1 ? ticks : 0);
        const uint64_t sent = table_counters(&at)->state_bytes - before;
        if (ticks == 1) usual = sent;
        assert_true(sent * 10 <= usual * 12);
        table_plays(&at);
        table_close(&at);
    }
}

static net_transport* the_hold;

static net_transport* hold_wrap(net_transport* transport) {
    the_hold = net_transport_hold_create(NULL, transport);
    return the_hold;
}

// A broker takes each tick 17 to 270 ms later, and clients get it then.
CASE(packets_that_are_held_make_no_more_traffic) {
    uint64_t usual = 0;
    for (uint32_t held = 0; held <= 16; held += held ? held : 1) {
        table at;
        table_config config = crowded_match();
        config.wrap = hold_wrap;
        config.steps = 0;
        table_open(&at, config);
        uint64_t before = 0;
        for (uint32_t i = 0; i < (WARM_S + LONG_S) * TICKS_PER_SECOND; i++) {
            const ecs_tick tick = net_match_tick(at.match) + 1;
            if (i == WARM_S * TICKS_PER_SECOND) before = table_counters(&at)->state_bytes;
            net_transport_hold_release(the_hold, tick > held ? tick - held : 0);
            table_step(&at);
        }
        const uint64_t sent = table_counters(&at)->state_bytes - before;
        if (held == 0) usual = sent;
        assert_true(sent * 10 <= usual * 12);
        table_plays(&at);
        table_close(&at);
        the_hold->ops->destroy(the_hold);
    }
}

CASE_WITH(table, at, table_open(at, late_match(WARM_S* TICKS_PER_SECOND)), table_close(at),
          a_match_that_ends_under_overload_says_goodbye_to_all_that_are_there) {
    set_late_ms(at, 2000);
    table_run(at, 25 * TICKS_PER_SECOND);
    assert_int_equal(net_server_get_phase(at->server), NET_SERVER_ENDED);
    for (uint32_t i = 0; i < SEATS; i++) {
        assert_int_equal(net_client_get_end(at->seats[i].client), NET_CLIENT_END_GOODBYE);
        assert_int_equal(net_server_report(at->server, i)->end, NET_END_GOODBYE);
    }
}

// ---- solo code

static uint32_t count_solo(const table* at) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < at->server->session_count; i++)
        count += at->server->sessions[i] && at->server->sessions[i]->is_solo;
    return count;
}

CASE(solo_code_has_room_for_the_first_clients_and_for_a_budget_of_rows) {
    const uint32_t least = NET_SOLO_CLIENTS_LEAST, most = NET_SOLO_ROWS_PER_S_MAX;
    assert_true(net_solo_has_room(least - 1, 0, UINT32_MAX));
    assert_false(net_solo_has_room(least, 0, 0)); // it is not known what they cost
    assert_true(net_solo_has_room(24, 24, most * 24 / 25 - 1));
    assert_true(net_solo_has_room(24, 24, most * 24 / 25));
    assert_false(net_solo_has_room(24, 24, most * 24 / 25 + 1));
    assert_false(net_solo_has_room(24, 12, most * 24 / 25)); // half of them cost it
}

TABLE_CASE(more_clients_get_solo_code_when_those_that_have_it_cost_little, .seed = 3, .quiet = 1e9,
           .clients_max = TABLE_SEATS, .has_solo = true, .seats = NET_SOLO_CLIENTS_LEAST + 1,
           .server.rate_bytes_max = NET_SOLO_RATE_BYTES_MAX, .steps = 4 * TICKS_PER_SECOND,
           .link = &GOOD) {
    assert_int_equal(count_solo(at), NET_SOLO_CLIENTS_LEAST);
    table_sit(at, &GOOD);
    (void)run_seconds(at, 1);
    assert_int_equal(count_solo(at), NET_SOLO_CLIENTS_LEAST + 1);
    assert_in_range(net_server_solo_rows_per_s(at->server), 1, NET_SOLO_ROWS_PER_S_MAX / 2);
    at->server->solo_rows *= 1000;
    table_sit(at, &GOOD);
    (void)run_seconds(at, 1);
    assert_int_equal(count_solo(at), NET_SOLO_CLIENTS_LEAST + 1);
}

TABLE_ROWS(solo_code_is_for_clients_that_can_be_sent_little, i, 2, .seed = 3, .quiet = 1e9,
           .has_solo = true, .seats = SEATS, .steps = TICKS_PER_SECOND, .link = &GOOD,
           .server.rate_bytes_max = NET_SOLO_RATE_BYTES_MAX + i) {
    assert_int_equal(count_solo(at), i == 0 ? SEATS : 0);
    net_client_config client = table_client(at, "phone");
    client.rate_bytes_max = NET_SOLO_RATE_BYTES_MAX;
    (void)table_sit_in(at, at->module, &GOOD, client);
    (void)run_seconds(at, 1);
    assert_int_equal(count_solo(at), i == 0 ? SEATS + 1 : 1);
}

// 0: the server has no solo code, and its clients have it; 1: the other way around.
TABLE_ROWS(where_a_side_has_no_solo_code_clients_get_shared_code, i, 2, .seed = 3, .quiet = 1e9,
           .server.coder = NET_CODER_SOLO, .has_solo = i == 0, .has_no_solo = i == 0,
           .seats = SEATS, .steps = 2 * TICKS_PER_SECOND, .link = &GOOD) {
    assert_int_equal(count_solo(at), 0);
    table_plays(at);
    for (uint32_t k = 0; k < SEATS; k++)
        assert_in_range(net_match_tick(at->seats[k].match), TICKS_PER_SECOND, UINT32_MAX);
}

TABLE_CASE(clients_whose_acknowledgements_come_too_late_for_solo_code_are_counted, .seed = 3,
           .quiet = 1e9, .has_solo = true, .server.coder = NET_CODER_SOLO, .seats = SEATS,
           .steps = EARLY_S * TICKS_PER_SECOND, .link = &GOOD) {
    assert_int_equal(table_counters(at)->solo_stopped, 0);
    set_late_ms(at, 2500);
    (void)run_seconds(at, WARM_S);
    assert_int_equal(table_counters(at)->solo_stopped, SEATS);
    assert_int_equal(heard_count(&at->said, "too long for solo code"), 1);
    set_late_ms(at, 0);
    (void)run_seconds(at, BACK_S);
    table_plays(at);
}
