// SPDX-License-Identifier: MIT
// What an operator does to a match that runs: it is logged in front of its tick, and a re-run does
// the same from the start and from any keyframe.
#include "playback/playback_record.h"

#include <math.h>

enum { TICKS = 1290, ORDER_BYTES = 64 };

// Breakout hears no operator: this one adds what was said to its number of lives.
static void hear_operator(ecs_world* world, void* context, const char* text) {
    const breakout_game* game = context;
    breakout_match* match = ecs_get_mut(world, ecs_query_first(world, game->matches), game->match);
    match->lives = 1 + (match->lives + (int32_t)strlen(text)) % 9;
}

typedef struct operated {
    playback_record* record;
    net_match* match; ///< its
    net_game_module game;
    base_rng rng;
    uint32_t done, refused; ///< controls
    uint32_t marks;         ///< of done
    ecs_tick lie_tick;      ///< from here on the next control is logged as another; 0: none is
    ecs_tick lied_tick;
} operated;

static void open_match(operated* self) {
    *self = (operated){.game = *breakout_module(), .rng = test_rng(27, 1)};
    self->game.operator_said = hear_operator;
    self->record =
        record_begin((record_wanted){.game = &self->game, .seed = 5, .has_controls = true});
    self->match = self->record->table.match;
}

// Cases that do not end their log end it here.
static void close_all(operated* self) {
    if (!self->record->reader) record_end(self->record);
    record_free(self->record);
}

#define OPERATED_CASE(name) CASE_WITH(operated, self, open_match(self), close_all(self), name)

// As net_server_control does it: what can be done is logged, then done.
static net_result order(operated* self, const char* verb, const char* const* texts,
                        uint32_t count) {
    net_match_argument arguments[3];
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (net_match_argument){texts[i], strlen(texts[i])};
    net_result result = net_match_control(self->match, verb, arguments, count, true, NULL);
    self->done += result == NET_OK;
    self->refused += result != NET_OK;
    if (result != NET_OK) return result;
    if (self->lie_tick > 0 && self->lied_tick == 0 && count == 3 && strcmp(texts[1], "hits") == 0 &&
        net_match_tick(self->match) >= self->lie_tick) {
        self->lied_tick = net_match_tick(self->match) + 1;
        const net_match_argument other[] = {arguments[0], arguments[1], {"4", 1}};
        assert_ok(net_log_append_control(self->record->writer, verb, other, count));
    } else {
        assert_ok(net_log_append_control(self->record->writer, verb, arguments, count));
    }
    assert_ok(net_match_control(self->match, verb, arguments, count, false, test_reporter()));
    return NET_OK;
}

static net_result order_one(operated* self, const char* verb, const char* text) {
    return order(self, verb, &text, 1);
}

// Some entity, living or not, and something of it.
static void order_put(operated* self) {
    static const char* const values[][2] = {
        {"hits", "3"},         {"pause_ticks", "9"}, {"pos", "300, 200"}, {"pos.y", "250.5"},
        {"vel", "-100, -200"}, {"vel", "100"},       {"serves", "2"},     {"hits", "70000"}};
    char entity[24];
    const uint32_t at = base_rng_below(&self->rng, BASE_COUNT(values));
    (void)snprintf(entity, sizeof entity, "%u:1", base_rng_below(&self->rng, 120));
    (void)order(self, "put", (const char*[]){entity, values[at][0], values[at][1]}, 3);
}

static void order_any(operated* self) {
    char text[ORDER_BYTES];
    switch (base_rng_below(&self->rng, 6)) {
    case 0:
        (void)snprintf(text, sizeof text, "ball_speed=%g", 0.1 * base_rng_below(&self->rng, 25));
        (void)order_one(self, "set", text);
        break;
    case 1:
        (void)snprintf(text, sizeof text, "pad_speed=%u", base_rng_below(&self->rng, 4000));
        (void)order_one(self, "set", text);
        break;
    case 2:
        (void)order_one(self, "say", &"hello"[base_rng_below(&self->rng, 6)]); // the last is empty
        break;
    case 3:
        self->marks += order_one(self, "mark", "a turn") == NET_OK;
        break;
    default:
        order_put(self);
    }
}

static void play(operated* self, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        if (base_rng_below(&self->rng, 4) == 0) order_any(self);
        record_tick(self->record);
    }
}

static net_log_reader* end(operated* self) {
    record_end(self->record);
    return self->record->reader = record_read(self->record);
}

OPERATED_CASE(a_log_with_controls_runs_again_from_the_start_and_from_any_keyframe) {
    play(self, TICKS);
    (void)order_one(self, "set", "lives=50"); // in front of a tick that never comes
    (void)order_one(self, "say", "the end");
    net_log_reader* reader = end(self);
    printf("%u controls, %u refused\n", self->done, self->refused);
    assert_true(self->done > 60 && self->refused > 60);
    const net_log_stats stats = files_stats(reader);
    assert_int_equal(stats.records[NET_LOG_KIND_CONTROL], self->done);
    assert_int_equal(files_verify(reader, self->record->table.module, NET_OK).ticks, TICKS);
    // Settings are in no world: keyframes have them.
    net_log_replay* replay;
    assert_ok(
        net_log_replay_create(reader, self->record->table.module, 0, test_reporter(), &replay));
    for (uint32_t i = 0; i < 12; i++) {
        const ecs_tick tick = i < 2 ? 600 * (i + 1) : 1 + base_rng_below(&self->rng, TICKS - 1);
        assert_ok(net_log_replay_seek(replay, tick));
        net_match* match = net_log_replay_match(replay);
        net_log_tick at;
        while (net_match_tick(match) < tick)
            assert_ok(net_log_replay_step(replay, &at));
        assert_true(ecs_world_hash(net_match_world(match)) == self->record->world_hash[tick]);
        for (uint32_t more = 0; more < 20 && net_log_replay_step(replay, &at) == NET_OK; more++)
            assert_true(ecs_world_hash(net_match_world(match)) ==
                        self->record->world_hash[at.tick]);
    }
    net_log_replay_destroy(replay);
    net_playback* playback;
    uint32_t count, named = 0;
    assert_ok(net_playback_create(reader, self->record->table.module, test_reporter(), &playback));
    const net_playback_mark* marks = net_playback_marks(playback, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (marks[i].kind != NET_PLAYBACK_NAMED) continue;
        assert_string_equal(marks[i].name, "a turn");
        named++;
    }
    assert_true(named == self->marks && named > 10);
    net_playback_destroy(playback);
}

OPERATED_CASE(a_control_that_is_not_what_was_done_is_found) {
    self->lie_tick = 200;
    play(self, 400);
    assert_true(self->lied_tick > 200);
    net_log_reader* reader = end(self);
    const net_verify_result verified =
        files_verify(reader, self->record->table.module, NET_ERR_DIVERGED);
    assert_int_equal(verified.diverged_tick, self->lied_tick);
    assert_string_equal(verified.component, "hits");
    assert_string_equal(verified.log_value, "3");
    assert_string_equal(verified.value, "4");
}

typedef struct refusal {
    const char* verb;
    const char* arguments[4];
    net_result result;
    const char* message;
} refusal;

static void expect_refused(net_match* match, const refusal* wanted) {
    net_match_argument arguments[4];
    uint32_t count = 0;
    for (; count < 4 && wanted->arguments[count]; count++)
        arguments[count] =
            (net_match_argument){wanted->arguments[count], strlen(wanted->arguments[count])};
    for (int is_trial = 0; is_trial < 2; is_trial++) {
        assert_int_equal(net_match_control(match, wanted->verb, arguments, count, is_trial, hear()),
                         wanted->result);
        assert_said(wanted->message);
    }
}

OPERATED_CASE(what_cannot_be_done_is_refused_with_a_sentence) {
    static const refusal cases[] = {
        {"kill", {"1"}, NET_ERR_UNKNOWN, ""},
        {"", {"1"}, NET_ERR_UNKNOWN, ""},
        {"set", {NULL}, NET_ERR_MALFORMED, "another number of arguments"},
        {"set", {"lives=3", "x"}, NET_ERR_MALFORMED, "another number of arguments"},
        {"set", {"lifes=3"}, NET_ERR_MALFORMED, "did you mean \"lives\"?"},
        {"set", {"lives=100"}, NET_ERR_MALFORMED, "a number from 1 to 99"},
        {"set", {"lives=nan"}, NET_ERR_MALFORMED, "a number from 1 to 99"},
        {"set", {"lives"}, NET_ERR_MALFORMED, "is not KEY=VALUE"},
        {"put", {"1:1", "hits"}, NET_ERR_MALFORMED, "another number of arguments"},
        {"put", {"one", "hits", "1"}, NET_ERR_MALFORMED, "INDEX:GENERATION"},
        {"put", {"999:1", "hits", "1"}, NET_ERR_MALFORMED, "there is no entity 999:1"},
        {"put", {"1:1", "htis", "1"}, NET_ERR_MALFORMED, "did you mean 'hits'?"},
        {"say", {""}, NET_ERR_MALFORMED, "cannot be shown"},
        {"say", {"a\x1b[2J"}, NET_ERR_MALFORMED, "cannot be shown"},
        {"mark", {""}, NET_ERR_MALFORMED, "cannot be shown"},
        {"mark", {"0123456789012345678901234567890a"}, NET_ERR_MALFORMED, "too long"},
        {"say", {"\xff"}, NET_ERR_MALFORMED, "cannot be shown"},
    };
    const uint64_t before = ecs_world_hash(net_match_world(self->match));
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++)
        expect_refused(self->match, &cases[i]);
    char line[NET_LINE_BYTES_MAX + 1];
    memset(line, 'x', sizeof line);
    for (size_t size = NET_LINE_BYTES_MAX - 2; size <= NET_LINE_BYTES_MAX; size++)
        assert_int_equal(
            net_match_control(self->match, "say", &(net_match_argument){line, size}, 1, true, NULL),
            size < NET_LINE_BYTES_MAX ? NET_OK : NET_ERR_MALFORMED);
    assert_true(ecs_world_hash(net_match_world(self->match)) == before);
}

// As modules of earlier builds have none.
CASE(a_game_without_these_functions_refuses_them) {
    static const refusal cases[] = {
        {"set", {"lives=3"}, NET_ERR_MALFORMED, "at the start only"},
        {"say", {"hello"}, NET_ERR_MALFORMED, "reads no lines of operators"}};
    net_game_module game = *breakout_module();
    game.settings_changed = NULL;
    playback_record* record = record_make_as((record_wanted){.game = &game});
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++)
        expect_refused(record->table.match, &cases[i]);
    record_free(record);
}

// The bytes of a log may be foreign. What is refused leaves the match as it was.
OPERATED_CASE(hostile_arguments_do_no_harm) {
    static const char* const verbs[] = {"set", "put", "say"};
    static const char* const good[] = {"lives=7", "1:1", "pos", "1, 2", "hello", "vel.x", "5"};
    play(self, 30);
    const uint32_t runs = test_scaled(3000, 300);
    uint32_t done = 0;
    for (uint32_t i = 0; i < runs; i++) {
        uint8_t bytes[4][80];
        net_match_argument arguments[4];
        const uint32_t count = base_rng_below(&self->rng, 5);
        for (uint32_t k = 0; k < count; k++) {
            const char* from = good[base_rng_below(&self->rng, BASE_COUNT(good))];
            size_t size = strlen(from);
            memcpy(bytes[k], from, size);
            if (base_rng_below(&self->rng, 3) == 0) size = base_rng_below(&self->rng, 80);
            for (size_t at = strlen(from); at < size; at++)
                bytes[k][at] = (uint8_t)base_rng_u64(&self->rng);
            if (size > 0 && base_rng_below(&self->rng, 3) == 0)
                bytes[k][base_rng_below(&self->rng, (uint32_t)size)] =
                    (uint8_t)base_rng_u64(&self->rng);
            arguments[k] = (net_match_argument){bytes[k], size};
        }
        const uint64_t before = ecs_world_hash(net_match_world(self->match));
        const net_result result =
            net_match_control(self->match, verbs[i % 3], arguments, count, false, NULL);
        assert_true(result == NET_OK || result == NET_ERR_MALFORMED);
        done += result == NET_OK;
        if (result != NET_OK) assert_true(ecs_world_hash(net_match_world(self->match)) == before);
    }
    assert_true(done > 10);
}

// ---- settings in a save

OPERATED_CASE(settings_go_with_a_save_and_come_back_with_it) {
    base_bytes plain, other;
    base_bytes_init(&plain, NULL);
    base_bytes_init(&other, NULL);
    const breakout_game* game = net_match_context(self->match);
    assert_ok(net_match_save(self->match, &plain));
    assert_ok(order_one(self, "set", "ball_speed=1.5"));
    assert_true(game->settings.ball_speed == 1.5f);
    assert_ok(net_match_save(self->match, &other));
    // Without a change they are in no save: such a log is as it was.
    assert_int_equal(other.size, plain.size + 4 + 8 * BREAKOUT_SETTING_COUNT);
    assert_ok(net_match_restore(self->match, plain.data, plain.size));
    assert_true(game->settings.ball_speed == 1.8f);
    assert_ok(net_match_restore(self->match, other.data, other.size));
    assert_true(game->settings.ball_speed == 1.5f);
    assert_true(net_match_get_config(self->match)->settings[0] == 1.5);
    for (size_t size = 0; size < 64; size++)
        assert_int_equal(net_match_restore(self->match, other.data, size), NET_ERR_MALFORMED);
    static const double wrong[] = {0.0, 2.5, (double)NAN};
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++) {
        memcpy(other.data + 12, &wrong[i], sizeof wrong[i]);
        assert_int_equal(net_match_restore(self->match, other.data, other.size), NET_ERR_MALFORMED);
    }
    other.data[8]++; // another number of settings
    assert_int_equal(net_match_restore(self->match, other.data, other.size), NET_ERR_MALFORMED);
    assert_ok(net_match_restore(self->match, plain.data, plain.size));
    base_bytes_deinit(&plain);
    base_bytes_deinit(&other);
}
