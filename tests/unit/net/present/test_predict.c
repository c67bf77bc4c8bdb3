// SPDX-License-Identifier: MIT
// Prediction against a server that takes inputs by its own rule. A right prediction stays
// unchanged. A wrong one is corrected smoothly, also when packets come late or never.
//
// One player of breakout; server, mirror and prediction are in one process. Inputs and bodies
// travel for a number of ticks and may be lost. Acknowledgements come back at once.

#include "match_made.h"
#include "breakout_table.h"

#include "state/history.h"
#include "session/pace.h"
#include "mirror/mirror.h"
#include "present/predict.h"
#include "replicate/repl_state.h"

#define TICK_US 16667u
#define TICKS_MAX 4000u
#define FLIGHT_MAX 64u
#define REPEAT_TICKS_MAX 30u

typedef struct made {
    uint8_t payload[NET_INPUT_BYTES_MAX];
    uint32_t size;
} made;

typedef struct up_packet {
    uint32_t arrives; // the tick of arrival; 0: empty
    uint32_t first, count;
} up_packet;

typedef struct down_packet {
    uint32_t arrives;
    uint16_t seq;
    ecs_tick tick;
    uint32_t used, owed, age;
    uint8_t body[NET_STATE_BYTES_MAX];
    size_t size;
} down_packet;

typedef struct game {
    table at; // the server's match
    net_rows* rows;
    net_interest* interest;
    net_replicator* replicator;
    net_repl_state* view;
    net_input_queue inputs;
    net_match* mirror_match;
    net_rows* mirror_rows;
    net_mirror* mirror;
    net_predict* predict;
    scarce_memory memory; // counts the memory of the prediction
    base_rng rng;
    uint32_t up, down; // travel times in ticks
    double loss;
    uint32_t step; // counts from 1
    uint64_t now_us;
    uint16_t seq;
    uint32_t number;
    made made[TICKS_MAX];
    up_packet going_up[FLIGHT_MAX];
    down_packet coming_down[FLIGHT_MAX];
    float predicted_x[TICKS_MAX]; // newest prediction, by server tick
    float shown_x;
    float shown_step_max; // per quarter of a tick
    int32_t move;
    uint32_t keep;            // how many ticks `move` continues
    uint32_t structure_steps; // steps in which entities were created, destroyed or changed
    bool is_blind;            // no packet arrives
    bool is_playing;
} game;

static ecs_entity player_of(game* g) {
    return net_match_player(g->at.match, 1);
}

// A module that keeps state outside of its components: prediction says when the world is another
// one, and neither saves that state nor loads it.
static uint32_t restored_count;

static void count_restored(ecs_world* world, void* context) {
    assert_true(ecs_world_has_tag(world, "predict"));
    assert_non_null(context);
    restored_count++;
}

static ecs_result save_none(ecs_world* world, void* context, base_bytes* bytes) {
    fail();
    return ECS_OK;
}

static ecs_result load_none(ecs_world* world, void* context, base_reader* reader) {
    fail();
    return ECS_OK;
}

static game* game_open(uint32_t up, uint32_t down, double loss, uint64_t seed) {
    game* g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->up = up;
    g->down = down;
    g->loss = loss;
    g->rng = base_rng_make(seed, 5);
    g->now_us = 1000000;
    net_game_module own = *breakout_module();
    own.restored = count_restored;
    own.save_state = save_none;
    own.load_state = load_none;
    restored_count = 0;
    table_open_game(&g->at, &own, BREAKOUT_BLK, NULL, 0, seed, NET_ROLE_SERVER, false, 0);
    net_match_join(g->at.match, &(net_game_player){.client = 1, .name = "one"});
    uint32_t index_max = ecs_limits_default().replicated_index_max;
    ecs_world* world = net_match_world(g->at.match);
    assert_ok(net_rows_create(NULL, world, NULL, &g->rows));
    const net_interest_config interest = {
        .world = net_match_world(g->at.match),
        .rows = g->rows,
        .index_max = index_max,
        .tick_rate_hz = 60,
    };
    assert_ok(net_interest_create(&interest, NULL, &g->interest));
    const net_replicator_config replicator = {
        .rows = g->rows, .index_max = index_max, .interest = g->interest};
    g->replicator = net_replicator_create(&replicator);
    net_input_queue_init(&g->inputs, NULL);
    g->mirror_match = match_made(g->at.module, (match_wanted){.is_mirror = true});
    net_match_mirror_start(g->mirror_match, 60, net_match_get_config(g->at.match)->settings,
                           g->at.module->game->setting_count, (net_match_names){0});
    assert_ok(net_rows_create(NULL, net_match_world(g->mirror_match), NULL, &g->mirror_rows));
    net_mirror_config mirror = {
        .world = net_match_world(g->mirror_match), .rows = g->mirror_rows, .index_max = index_max};
    g->mirror = net_mirror_create(&mirror);
    scarce_init(&g->memory);
    assert_ok(net_predict_create(&g->memory.allocator, g->at.module, NULL, &g->predict));
    assert_non_null(g->predict);
    net_predict_begin(g->predict, g->mirror_match);
    net_predict_player(g->predict, player_of(g));
    g->is_playing = true;
    return g;
}

static void game_close(game* g) {
    net_input_queue_deinit(&g->inputs);
    net_predict_destroy(g->predict);
    net_mirror_destroy(g->mirror);
    base_owner_destroy(g->mirror_rows);
    net_match_destroy(g->mirror_match);
    if (g->view) net_repl_state_destroy(g->view);
    net_replicator_destroy(g->replicator);
    base_owner_destroy(g->interest);
    base_owner_destroy(g->rows);
    table_close(&g->at);
    free(g);
}

static bool is_lost(game* g) {
    return g->is_blind || (g->loss > 0 && base_rng_chance(&g->rng, g->loss));
}

static void make_input(game* g) {
    if (g->keep == 0) {
        static const int32_t moves[] = {-127, 0, 127, 60};
        g->move = g->is_playing ? moves[base_rng_below(&g->rng, BASE_COUNT(moves))] : 0;
        g->keep = 5 + base_rng_below(&g->rng, 20);
    }
    g->keep--;
    breakout_input input = {.move = g->move};
    made* one = &g->made[++g->number];
    size_t size;
    assert_ok(net_match_pack(g->mirror_match, net_match_input_message(g->mirror_match), &input,
                             one->payload, sizeof one->payload, &size));
    one->size = (uint32_t)size;
    net_predict_input(g->predict, g->now_us, g->number, one->payload, size);
    uint32_t count = g->number < NET_INPUT_REDUNDANCY ? g->number : NET_INPUT_REDUNDANCY;
    if (is_lost(g)) return;
    g->going_up[g->number % FLIGHT_MAX] =
        (up_packet){.arrives = g->step + g->up, .first = g->number - count + 1, .count = count};
}

static void serve_inputs(game* g) {
    // Deliver in the order of sending: numbers only rise.
    for (uint32_t n = g->number > FLIGHT_MAX ? g->number - FLIGHT_MAX + 1 : 1; n <= g->number;
         n++) {
        up_packet* packet = &g->going_up[n % FLIGHT_MAX];
        if (packet->arrives == 0 || packet->arrives > g->step) continue;
        for (uint32_t i = 0; i < packet->count; i++) {
            uint32_t number = packet->first + i;
            (void)net_input_queue_push(&g->inputs, number, g->made[number].payload,
                                       g->made[number].size, 0);
        }
        packet->arrives = 0;
    }
    const net_input* entry;
    switch (net_input_queue_take(&g->inputs, REPEAT_TICKS_MAX, &entry)) {
    case NET_INPUT_NEXT:
        net_match_input(g->at.match, 1, entry->payload, entry->size, 0);
        break;
    case NET_INPUT_AGAIN:
        net_match_input(g->at.match, 1, NULL, 0, 0);
        break;
    case NET_INPUT_REST:
        net_match_input(g->at.match, 1, "", 0, 0);
        break;
    case NET_INPUT_NONE:
        break;
    }
}

static void serve_state(game* g) {
    ecs_world* world = net_match_world(g->at.match);
    ecs_tick tick = net_match_tick(g->at.match);
    if (!g->view) {
        net_interest_add_client(g->interest, 1);
        g->view = net_repl_state_create(g->replicator, 1);
    }
    net_replicator_step(g->replicator, world, tick);
    ecs_changes_clear(world);
    net_replicator_publish(g->replicator);
    for (uint32_t i = 0; i < 3 && (i == 0 || net_repl_state_has_pending(g->view)); i++) {
        down_packet* packet = &g->coming_down[g->seq % FLIGHT_MAX];
        packet->seq = g->seq++;
        packet->tick = tick;
        packet->used = g->inputs.used;
        packet->owed = g->inputs.owed;
        ecs_entity player = player_of(g);
        const net_history_entity* entity =
            player ? net_history_find(g->replicator->history, ecs_entity_index(player)) : NULL;
        packet->age = entity ? (uint32_t)(tick - entity->change_tick) : 0;
        proto_bit_writer writer = proto_bit_writer_make(packet->body, 1100);
        const net_repl_state_room room = {.hard = 1100 * 8, .soft = 1100 * 8};
        (void)net_repl_state_write(g->view, packet->seq, room, &writer);
        packet->size = proto_bit_writer_bytes(&writer);
        packet->arrives = g->step + g->down;
        if (is_lost(g)) {
            packet->arrives = 0;
            (void)net_repl_state_lost(g->view, packet->seq);
            break;
        }
    }
}

static void receive_states(game* g) {
    for (uint32_t i = FLIGHT_MAX; i > 0; i--) {
        down_packet* packet = &g->coming_down[(uint16_t)(g->seq - i) % FLIGHT_MAX];
        if (packet->arrives == 0 || packet->arrives > g->step) continue;
        packet->arrives = 0;
        proto_bit_reader reader = proto_bit_reader_make(packet->body, packet->size);
        net_result result =
            net_mirror_read(g->mirror, packet->seq, packet->tick, packet->size ? &reader : NULL);
        if (result == NET_ERR_STALE) continue;
        assert_ok(result);
        (void)net_repl_state_acked(g->view, packet->seq);
        ecs_tick row = 0;
        bool has_row = net_mirror_entity_tick(g->mirror, player_of(g), &row) &&
                       row + packet->age >= packet->tick;
        net_predict_state(g->predict, packet->tick, packet->used, packet->owed, has_row);
    }
    ecs_changes changes = ecs_changes_get(net_match_world(g->mirror_match));
    g->structure_steps +=
        changes.created_count + changes.destroyed_count + changes.recreated_count > 0;
    net_match_step_at(g->mirror_match, net_mirror_tick(g->mirror));
    ecs_changes_clear(net_match_world(g->mirror_match));
}

static float x_of(net_match* match, ecs_entity entity) {
    const breakout_game* context = net_match_context(match);
    const ecs_vec2* pos = ecs_find(net_match_world(match), entity, context->pos);
    return pos ? pos->x : -1.0f;
}

static bool shown_x(game* g, float* x) {
    const breakout_game* context = net_match_context(g->predict->match);
    ecs_vec2 pos = {0};
    if (!net_predict_value(g->predict, player_of(g), context->pos, 1, &pos)) return false;
    *x = pos.x;
    return true;
}

static void look(game* g) {
    ecs_tick tick = net_predict_tick(g->predict);
    if (tick > 0 && tick < TICKS_MAX) g->predicted_x[tick] = x_of(g->predict->match, player_of(g));
    for (uint32_t i = 0; i < 4; i++) {
        net_predict_frame(g->predict, g->now_us + i * TICK_US / 4);
        float x;
        if (!shown_x(g, &x)) continue;
        float step = base_abs(x - g->shown_x);
        if (g->shown_x > 0 && step > g->shown_step_max) g->shown_step_max = step;
        g->shown_x = x;
    }
}

static void game_step(game* g) {
    g->step++;
    g->now_us += TICK_US;
    serve_inputs(g);
    net_match_step(g->at.match);
    serve_state(g);
    receive_states(g);
    make_input(g);
    look(g);
}

static void game_run(game* g, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        game_step(g);
}

// Run until some inputs are ahead, as with a client's clock, and the client knows everything.
static void game_settle(game* g, uint32_t depth) {
    game_run(g, 5);
    for (uint32_t i = 0; i < depth; i++)
        make_input(g);
    game_run(g, 60);
}

// How far the predictions of these ticks are at most from what the server has then.
static float worst_off(game* g, uint32_t ticks) {
    float worst = 0;
    for (uint32_t i = 0; i < ticks; i++) {
        game_step(g);
        ecs_tick tick = net_match_tick(g->at.match);
        float off = base_abs(g->predicted_x[tick] - x_of(g->at.match, player_of(g)));
        worst = off > worst ? off : worst;
    }
    return worst;
}

// On the server the player is elsewhere.
static void put_player(game* g, float x) {
    const breakout_game* context = net_match_context(g->at.match);
    ((ecs_vec2*)ecs_get_mut(net_match_world(g->at.match), player_of(g), context->pos))->x = x;
    g->shown_step_max = 0;
}

static const net_predict_counters* counters(const game* g) {
    return &g->predict->counters;
}

#define GAME_CASE(name, ...) CASE_MADE(game, g, game_open(__VA_ARGS__), game_close(g), name)

GAME_CASE(right_predictions_are_only_refreshed, 4, 4, 0, 1) {
    game_settle(g, 3);
    net_predict_counters before = *counters(g);
    uint64_t repeated = g->inputs.repeated;
    uint32_t from = g->step, structure = g->structure_steps, allocating = 0;
    float worst = 0;
    for (uint32_t i = 0; i < 600; i++) {
        uint64_t allocations = g->memory.calls;
        const float off = worst_off(g, 1);
        allocating += g->memory.calls > allocations;
        worst = off > worst ? off : worst;
    }
    assert_int_equal(g->inputs.repeated, repeated);
    // Points come from the server. They do not move anything.
    assert_int_equal(counters(g)->corrections_seen, before.corrections_seen);
    uint64_t news = counters(g)->corrections - before.corrections;
    structure = g->structure_steps - structure;
    assert_true(news <= 10 && structure <= 20);
    uint64_t rollbacks = counters(g)->rollbacks - before.rollbacks;
    assert_true(rollbacks <= 600 / NET_PREDICT_REFRESH_TICKS + 1 + news + structure);
    assert_int_equal(restored_count, counters(g)->rollbacks);
    assert_true(worst < 0.0626f);
    assert_true(allocating <= 2 * structure);
    // The prediction is ahead by the ways in both directions and by the inputs that wait on the
    // server.
    assert_int_equal(net_predict_tick(g->predict), net_mirror_tick(g->mirror) + 4 + 4 + 3);
    assert_int_equal(g->step, from + 600);
}

GAME_CASE(what_the_server_did_otherwise_is_corrected_and_moves_over, 3, 3, 0, 3) {
    g->is_playing = false;
    game_settle(g, 2);
    net_predict_counters before = *counters(g);
    float from = x_of(g->at.match, player_of(g));
    float to = from + (from > 400.0f ? -40.0f : 40.0f);
    put_player(g, to);
    game_run(g, 5);
    assert_int_equal(counters(g)->corrections, before.corrections + 1);
    assert_int_equal(counters(g)->corrections_seen, before.corrections_seen + 1);
    assert_true(counters(g)->correction_max > 39.9 && counters(g)->correction_max < 40.1);
    game_run(g, 30);
    assert_int_equal(counters(g)->corrections, before.corrections + 1);
    float x = 0;
    assert_true(shown_x(g, &x));
    assert_true(base_abs(x - to) < 0.1f);
    // The distance is 40; this limit is for a quarter of a tick.
    assert_true(g->shown_step_max < 6.0f);
}

GAME_CASE(a_correction_that_is_too_far_is_shown_at_once, 3, 3, 0, 3) {
    g->is_playing = false;
    game_settle(g, 2);
    float from = x_of(g->at.match, player_of(g));
    float to = from > 600.0f ? from - 300.0f : from + 300.0f;
    put_player(g, to);
    game_run(g, 6);
    float x = 0;
    assert_true(shown_x(g, &x));
    assert_true(base_abs(x - to) < 0.1f);
    assert_true(g->shown_step_max > 290.0f);
}

// The way becomes longer for good. The server repeats inputs. Then it settles: it drops late inputs
// that equal a repeated one. The client predicts by the same rule, so its places are the server's.
GAME_CASE(late_inputs_are_settled_on_both_sides, 3, 3, 0, 4) {
    game_settle(g, 1);
    g->up = 9;
    game_run(g, 60);
    assert_true(g->inputs.repeated > 0);
    assert_true(g->inputs.settled > 0);
    g->up = 3; // inputs that are ahead again pay all repeats back
    game_run(g, 120);
    assert_int_equal(g->inputs.owed, 0);
    net_predict_counters before = *counters(g);
    const float worst = worst_off(g, 200);
    assert_int_equal(counters(g)->corrections_seen, before.corrections_seen);
    assert_true(worst < 0.0626f);
    assert_int_equal(g->inputs.missing, 0);
    assert_int_equal(g->inputs.skipped, 0);
}

GAME_CASE(at_ten_percent_loss_no_input_is_missing, 6, 6, 0.1, 5) {
    game_settle(g, 4);
    game_run(g, 3000); // with balls and bricks
    assert_int_equal(g->inputs.missing, 0);
    assert_int_equal(g->inputs.skipped, 0);
}

GAME_CASE(a_silent_server_stops_prediction_at_its_bound, 4, 4, 0, 6) {
    game_settle(g, 2);
    g->is_blind = true;
    game_run(g, 300);
    ecs_tick newest = net_mirror_tick(g->mirror);
    assert_int_equal(net_predict_tick(g->predict), newest + NET_PREDICT_TICKS_MAX);
    float x = 0, later = 0;
    assert_true(shown_x(g, &x));
    game_run(g, 20);
    assert_true(shown_x(g, &later));
    assert_true(base_abs(x - later) < 0.01f);
    assert_true(g->inputs.rests == 1);
    // The line is back. First the server is too far behind for prediction, then all is as before.
    g->is_blind = false;
    game_run(g, 5);
    assert_int_equal(net_predict_tick(g->predict), 0);
    uint32_t count;
    (void)net_predict_entities(g->predict, &count);
    assert_int_equal(count, 0);
    assert_false(shown_x(g, &x));
    game_run(g, 60);
    assert_true(net_predict_tick(g->predict) > net_mirror_tick(g->mirror));
    net_predict_counters before = *counters(g);
    game_run(g, 100);
    assert_int_equal(counters(g)->corrections_seen, before.corrections_seen);
}

GAME_CASE(without_a_living_player_nothing_is_predicted, 3, 3, 0, 7) {
    game_settle(g, 2);
    uint32_t count;
    (void)net_predict_entities(g->predict, &count);
    assert_true(count >= 1);
    // The server destroys the player's entity.
    ecs_entity dead = player_of(g);
    assert_ok(ecs_destroy(net_match_world(g->at.match), dead));
    game_run(g, 10);
    (void)net_predict_entities(g->predict, &count);
    assert_int_equal(count, 0);
    assert_int_equal(net_predict_tick(g->predict), 0);
    ecs_vec2 pos;
    const breakout_game* context = net_match_context(g->predict->match);
    assert_false(net_predict_value(g->predict, dead, context->pos, 1, &pos));
    // No entity, an entity that never existed, and the destroyed one again.
    net_predict_player(g->predict, ECS_ENTITY_NONE);
    game_run(g, 5);
    net_predict_player(g->predict, ecs_entity_make(77, 3));
    game_run(g, 5);
    net_predict_player(g->predict, dead);
    game_run(g, 5);
    assert_int_equal(net_predict_tick(g->predict), 0);
}

// Only the pad itself: it does not need the balls, nor the match's singleton, if it says so.
static bool is_own_pad(ecs_world* mirror, void* context, ecs_entity player, ecs_entity entity) {
    return false;
}

GAME_CASE(an_area_has_the_own_entity_and_predicts_it_as_well, 4, 4, 0, 1) {
    game_settle(g, 3);
    game_run(g, 60);
    assert_true(ecs_world_entity_count(net_match_world(g->predict->match)) > 10);
    // The table is the module's own copy.
    net_game_module* module = (net_game_module*)(uintptr_t)g->at.module->game;
    module->predict_area = is_own_pad;
    game_run(g, NET_PREDICT_REFRESH_TICKS + 1);
    assert_int_equal(ecs_world_entity_count(net_match_world(g->predict->match)), 2);
    module->has_area_of_singletons = true;
    game_run(g, NET_PREDICT_REFRESH_TICKS + 1);
    assert_int_equal(ecs_world_entity_count(net_match_world(g->predict->match)), 1);
    const net_predict_counters before = *counters(g);
    const float worst = worst_off(g, 300);
    assert_true(worst < 0.0626f);
    assert_int_equal(counters(g)->corrections_seen, before.corrections_seen);
    assert_int_equal(ecs_world_entity_count(net_match_world(g->predict->match)), 1);
}

// What is near comes in and goes out again; what is shown of the pad never jumps.
static bool is_high(ecs_world* mirror, void* context, ecs_entity player, ecs_entity entity) {
    const breakout_game* found = context;
    const ecs_vec2* pos = ecs_find(mirror, entity, found->pos);
    return player != entity && pos && pos->y > 300.0f;
}

GAME_CASE(an_area_changes_while_it_is_predicted, 4, 4, 0.05, 11) {
    game_settle(g, 3);
    ((net_game_module*)(uintptr_t)g->at.module->game)->predict_area = is_high;
    uint32_t least = UINT32_MAX, most = 0;
    g->shown_step_max = 0;
    for (uint32_t i = 0; i < 600; i++) {
        game_run(g, 1);
        const uint32_t count = ecs_world_entity_count(net_match_world(g->predict->match));
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    assert_true(least < most);
    assert_true(g->shown_step_max < 6.0f);
}

static uint32_t any_number(game* g, uint32_t near) {
    static const uint32_t odd[] = {0, 1, 63, 64, 65, 127, 128, UINT32_MAX - 1, UINT32_MAX};
    if (base_rng_chance(&g->rng, 0.5)) return near + base_rng_below(&g->rng, 140) - 70;
    return odd[base_rng_below(&g->rng, BASE_COUNT(odd))];
}

// A server may send any ticks, inputs and players: prediction stays within its bounds. Once the
// server is honest about a tick that it has not passed, the prediction is right again.
CASE(a_lying_server_harms_nothing) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        game* g = game_open(3, 3, 0.05, seed);
        game_settle(g, 3);
        ecs_entity player = player_of(g);
        for (uint32_t i = 0; i < 600; i++) {
            game_step(g);
            // Stay below the true tick: the prediction ignores ticks older than the newest one for
            // good.
            ecs_tick newest = net_mirror_tick(g->mirror);
            ecs_tick tick = newest - base_rng_below(&g->rng, 3) % (newest + 1);
            net_predict_state(g->predict, tick, any_number(g, g->inputs.used),
                              any_number(g, g->inputs.owed), base_rng_chance(&g->rng, 0.7));
            if (base_rng_chance(&g->rng, 0.1)) {
                net_predict_player(g->predict, base_rng_u32(&g->rng));
                net_predict_state(g->predict, tick, g->inputs.used, 0, true);
                net_predict_player(g->predict, player);
            }
            float x;
            (void)shown_x(g, &x);
            ecs_tick ahead = net_predict_tick(g->predict);
            assert_true(ahead <= newest + NET_PREDICT_TICKS_MAX);
        }
        g->loss = 0;
        game_run(g, 120);
        const float worst = worst_off(g, 60);
        assert_true(worst < 0.0626f);
        // A tick that no match reaches: no later packet is newer than it.
        net_predict_state(g->predict, UINT64_C(1) << 51, g->inputs.used, 0, true);
        game_run(g, 200);
        assert_true(net_predict_tick(g->predict) <= (UINT64_C(1) << 51) + NET_PREDICT_TICKS_MAX);
        game_close(g);
    }
}

CASE(a_module_that_predicts_nothing_has_no_prediction) {
    net_game_module plain = *breakout_module();
    plain.predict = NULL;
    char* text = table_read_file(BREAKOUT_BLK);
    net_module* module;
    assert_ok(net_module_wrap(&plain, text, "breakout.blk", NULL, &module));
    free(text);
    net_predict* predict;
    assert_ok(net_predict_create(NULL, module, NULL, &predict));
    assert_null(predict);
    net_module_close(module);
}

GAME_CASE(validation_finds_a_row_outside_of_its_slot, 5, 5, 0.2, 9) {
    game_settle(g, 4);
    game_run(g, 50);
    net_predict_validate(g->predict);
    net_predict_slot* slot = &g->predict->slots[g->predict->tick % NET_PREDICT_SLOTS];
    assert_true(slot->row_count > 0);
    slot->rows[0].first += slot->word_count;
    expect_assert_failure(net_predict_validate(g->predict));
}
