// SPDX-License-Identifier: MIT
// The view moment of an input (`seen`) goes from a packet into the match, then into the log, then
// into the match that runs again from the log.
#include "server/session_table.h"
#include "wire/gallery.h"

#include "game/match.h"

typedef struct hall {
    scarce_memory memory;
    net_game_module game;
    net_module* module;
    net_match* match;
} hall;

static net_match* make_match(hall* at) {
    return match_made(at->module, (match_wanted){.allocator = &at->memory.allocator, .seed = 8});
}

static void open_hall(hall* at, bool is_rewinding) {
    memset(at, 0, sizeof *at);
    scarce_init(&at->memory);
    at->game = gallery_module();
    at->game.is_rewinding = is_rewinding;
    assert_ok(
        net_module_wrap(&at->game, GALLERY_TEXT, "gallery.blk", test_reporter(), &at->module));
    at->match = make_match(at);
}

static void close_hall(hall* at) {
    net_match_destroy(at->match);
    net_module_close(at->module);
}

#define HALL_CASE(name, is_rewinding)                                                              \
    CASE_WITH(hall, at, open_hall(at, is_rewinding), close_hall(at), name)

static net_result verify(const char* log, const net_module* module, net_verify_result* result) {
    net_log_reader* reader = files_reader(log);
    const net_result found = net_log_verify(reader, module, 0, 0, NULL, NULL, NULL, result);
    net_log_reader_destroy(reader);
    return found;
}

static size_t pack_shot(net_match* match, int32_t column, uint8_t* packed) {
    const gallery_aim aim = {column, 0};
    size_t size;
    assert_ok(net_match_pack(match, 1, &aim, packed, NET_INPUT_BYTES_MAX, &size));
    return size;
}

static void tick(net_match* match) {
    net_match_step(match);
    ecs_changes_clear(net_match_world(match));
}

static void say(net_match* match, uint32_t client, uint64_t view) {
    uint8_t packed[NET_INPUT_BYTES_MAX];
    size_t size = pack_shot(match, 0, packed);
    net_match_input(match, client, packed, size, view);
}

static double seen(net_match* match, uint32_t client) {
    const net_game_services* services = ((gallery*)net_match_context(match))->services;
    float fraction = -1;
    ecs_tick at = services->seen(services->context, client, &fraction);
    assert_true(fraction >= 0 && fraction < 1);
    return (double)at + (double)fraction;
}

// ---- the services ----

HALL_CASE(what_a_player_saw_is_as_far_behind_as_it_said, true) {
    assert_true(seen(at->match, 1) == 0);
    net_match_join(at->match, &(net_game_player){.client = 1, .name = "ann"});
    for (uint32_t i = 0; i < 100; i++)
        tick(at->match);
    assert_true(seen(at->match, 1) == 100); // the client never sent a moment
    say(at->match, 1, 90 * 256 + 64);
    assert_true(seen(at->match, 1) == 90.25);
    tick(at->match);
    net_match_input(at->match, 1, NULL, 0, 0); // a repeated input keeps the moment
    assert_true(seen(at->match, 1) == 91.25);
    tick(at->match);
    say(at->match, 1, 0); // the input has no moment
    assert_true(seen(at->match, 1) == 92.25);
    say(at->match, 1, 102 * 256);
    assert_true(seen(at->match, 1) == 102);
    assert_true(seen(at->match, 2) == 102); // there is no such client
    net_rewind_stats views = at->match->rewind_stats;
    assert_int_equal(views.inputs, 2);
    assert_int_equal(views.ahead + views.behind, 0);
    net_match_leave(at->match, 1);
    assert_true(seen(at->match, 1) == 102);
}

HALL_CASE(a_view_out_of_reach_is_moved_and_counted, true) {
    net_match_join(at->match, &(net_game_player){.client = 1, .name = "ann"});
    for (uint32_t i = 0; i < 100; i++)
        tick(at->match);
    const struct {
        uint64_t view;
        double seen;
        uint64_t ahead, behind;
    } cases[] = {
        {100 * 256, 100, 0, 0},  {100 * 256 + 1, 100, 1, 0},
        {UINT64_MAX, 100, 2, 0}, {UINT64_C(1) << 63, 100, 3, 0},
        {70 * 256, 70, 3, 0},    {70 * 256 - 1, 70, 3, 1},
        {1, 70, 3, 2},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        say(at->match, 1, cases[i].view);
        assert_true(seen(at->match, 1) == cases[i].seen);
        assert_int_equal(at->match->rewind_stats.ahead, cases[i].ahead);
        assert_int_equal(at->match->rewind_stats.behind, cases[i].behind);
    }
    say(at->match, 1, UINT64_MAX);
    for (uint32_t i = 0; i < 50; i++) {
        tick(at->match);
        assert_true(seen(at->match, 1) == 101 + i);
    }
}

// ---- the log ----

enum { TICKS = 300, PLAYERS = 3 };

typedef struct tape {
    log_files files;
    hall hall;
    net_log_writer* writer;
} tape;

// Make inputs that are late or repeated. Their moments are valid, fractional, random or absent.
static uint32_t make_inputs(tape* self, base_rng* rng, net_tick_input* inputs,
                            uint8_t packed[PLAYERS][NET_INPUT_BYTES_MAX]) {
    ecs_tick now = net_match_tick(self->hall.match);
    uint32_t count = 0;
    for (uint32_t i = 0; i < PLAYERS; i++) {
        if (base_rng_chance(rng, 0.1)) continue;
        net_tick_input* input = &inputs[count++];
        *input = (net_tick_input){.client = i + 1, .number = (uint32_t)now + 1};
        if (base_rng_chance(rng, 0.2)) continue;
        input->size = (uint32_t)pack_shot(self->hall.match, base_rng_range(rng, -4, 4), packed[i]);
        input->payload = packed[i];
        uint32_t behind = base_rng_below(rng, 40 * 256);
        input->seen = now * 256 > behind ? now * 256 - behind : 0;
        if (base_rng_chance(rng, 0.05)) input->seen = base_rng_u64(rng);
    }
    return count;
}

// Play a match and log it. With `keeps_views` false the log drops what players saw.
static void record_tape(tape* self, bool keeps_views) {
    static const net_game_player joins[PLAYERS] = {{.client = 1, .name = "a", .is_bot = true},
                                                   {.client = 2, .name = "b", .is_bot = true},
                                                   {.client = 3, .name = "c", .is_bot = true}};
    memset(self, 0, sizeof *self);
    files_open(&self->files);
    open_hall(&self->hall, true);
    net_match* match = self->hall.match;
    assert_ok(
        net_log_writer_create(NULL, self->files.log, NULL, match, "test", 1, NULL, &self->writer));
    base_rng rng = base_rng_make(21, 5);
    for (uint32_t t = 1; t <= TICKS; t++) {
        net_tick_input inputs[PLAYERS], logged[PLAYERS];
        uint8_t packed[PLAYERS][NET_INPUT_BYTES_MAX];
        net_tick_inputs begin = {.tick = t, .joins = joins, .join_count = t == 1 ? PLAYERS : 0};
        if (t > 1) begin.input_count = make_inputs(self, &rng, inputs, packed);
        memcpy(logged, inputs, begin.input_count * sizeof *logged);
        for (uint32_t i = 0; i < begin.input_count && !keeps_views; i++)
            logged[i].seen = 0;
        begin.inputs = logged;
        net_log_append_begin(self->writer, &begin);
        begin.inputs = inputs;
        net_match_apply(match, &begin);
        net_match_step(match);
        net_log_append_end(self->writer, match);
        ecs_changes_clear(net_match_world(match));
    }
    net_log_append_close(self->writer, match);
    assert_ok(net_log_writer_destroy(self->writer));
}

static void close_tape(tape* self) {
    close_hall(&self->hall);
    files_close(&self->files);
}

#define TAPE_CASE(name, keeps_views)                                                               \
    CASE_WITH(tape, self, record_tape(self, keeps_views), close_tape(self), name)

static uint32_t hits_of(net_match* match, uint32_t client) {
    const gallery* game = net_match_context(match);
    return *(const uint32_t*)ecs_get(net_match_world(match), net_match_player(match, client),
                                     game->hits);
}

typedef struct dump_count {
    uint32_t views, inputs;
} dump_count;

static void count_views(void* context, const char* line) {
    dump_count* count = context;
    for (const char* at = line; (at = strstr(at, "\"number\":")); at++)
        count->inputs++;
    for (const char* at = line; (at = strstr(at, "\"view\":")); at++)
        count->views++;
}

TAPE_CASE(a_match_decided_by_what_players_saw_runs_again_to_the_same_bits, true) {
    for (uint32_t i = 1; i <= PLAYERS; i++)
        assert_true(hits_of(self->hall.match, i) > 50);
    net_rewind_stats views = self->hall.match->rewind_stats;
    assert_true(views.ahead > 5 && views.behind > 50 && views.inputs > 500);
    net_verify_result result;
    assert_ok(verify(self->files.log, self->hall.module, &result));
    assert_int_equal(result.ticks, TICKS);
    assert_true(result.world_hash == ecs_world_hash(net_match_world(self->hall.match)));
    dump_count count = {0};
    net_log_reader* reader = files_reader(self->files.log);
    assert_ok(net_log_dump(reader, self->hall.module, count_views, &count));
    assert_int_equal(count.views, views.inputs);
    assert_true(count.inputs > count.views);
    net_log_reader_destroy(reader);
}

TAPE_CASE(a_log_without_its_views_runs_another_way, false) {
    net_verify_result result;
    assert_int_equal(verify(self->files.log, self->hall.module, &result), NET_ERR_DIVERGED);
    assert_true(result.diverged_tick < 60);
    assert_true(strcmp(result.component, "hits") == 0 || strcmp(result.component, "sum") == 0);
}

static uint64_t features_of(const char* log) {
    net_log_reader* reader = files_reader(log);
    const base_bytes* data = &reader->header;
    base_reader bytes = base_reader_make(data->data, data->size);
    proto_pb_field field;
    uint64_t features = 0;
    while (proto_pb_next(&bytes, &field))
        if (field.id == 14) features |= field.number;
    net_log_reader_destroy(reader);
    return features;
}

CASE(views_are_logged_only_where_they_decide) {
    for (int is_rewinding = 0; is_rewinding <= 1; is_rewinding++) {
        log_files files;
        hall at;
        files_open(&files);
        open_hall(&at, is_rewinding);
        net_log_writer* writer;
        assert_ok(net_log_writer_create(NULL, files.log, NULL, at.match, "test", 1, NULL, &writer));
        const net_game_player join = {.client = 1, .name = "a", .is_bot = true};
        const net_tick_input inputs[] = {
            {.client = 1, .number = 1, .payload = "", .seen = 77},
            {.client = 1, .number = 2, .seen = 78}, // a repeated input has no moment
        };
        const net_tick_inputs begin = {
            .tick = 1, .joins = &join, .join_count = 1, .inputs = inputs, .input_count = 2};
        net_log_append_begin(writer, &begin);
        assert_ok(net_log_writer_destroy(writer));
        dump_count count = {0};
        net_log_reader* reader = files_reader(files.log);
        assert_ok(net_log_dump(reader, NULL, count_views, &count));
        assert_int_equal(count.views, is_rewinding);
        net_log_reader_destroy(reader);
        assert_int_equal(features_of(files.log), is_rewinding);
        close_hall(&at);
        files_close(&files);
    }
}

// ---- a server ----

static const net_link_config FAR = {.delay_ms = 40};

static const net_game_module* rewinding(void) {
    static net_game_module game;
    game = gallery_module();
    return &game;
}

static raw_client* far_guest(table* at) {
    raw_client* raw = table_raw_client(at);
    net_sim_link_set(raw->transport, &FAR);
    assert_true(table_join(at, raw, "ann"));
    return raw;
}

#define BOOTH_CASE(name)                                                                           \
    CASE_GIVEN(table, at,                                                                          \
               table_open(at, (table_config){.seed = 8,                                            \
                                             .game = rewinding(),                                  \
                                             .templates = GALLERY_TEXT,                            \
                                             .has_log = true}),                                    \
               table_close(at), raw_client*, raw, far_guest(at), name)

typedef struct logged_view {
    uint32_t number;
    uint64_t view;
} logged_view;

static uint32_t read_views(const char* log, logged_view* views, uint32_t capacity) {
    net_log_reader* reader = files_reader(log);
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    uint32_t count = 0;
    while (net_log_cursor_next(reader, &cursor, &record)) {
        size_t offset = 0;
        net_log_item item;
        while (record.kind == NET_LOG_KIND_BEGIN &&
               net_log_item_next(&record, NET_LOG_ITEM_INPUT, &offset, &item))
            if (!item.is_repeat && item.number > 0 && count < capacity)
                views[count++] = (logged_view){item.number, item.seen};
    }
    net_log_reader_destroy(reader);
    return count;
}

BOOTH_CASE(a_view_goes_with_its_input_from_the_packet_into_the_log) {
    uint8_t shot[NET_INPUT_BYTES_MAX];
    uint32_t number = 0, known = 0;
    uint64_t told[1000] = {0};
    for (uint32_t t = 0; t < 200; t++) {
        // A packet has four inputs, and every third packet is lost. The packet that brings an input
        // first gives its moment.
        number++;
        size_t size = pack_shot(at->match, (int32_t)(t % 9) - 4, shot);
        net_input_packet packet = raw_client_packet(raw);
        packet.seen = raw->state_tick * 256 - 3 * 256 + t % 256;
        if (t == 49) packet.seen = 0;
        // Less than one tick: no moment is left for the input before.
        if (t == 51) packet.seen = 200;
        uint32_t count = number > 4 ? 4 : number;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t earlier = (uint64_t)i * 256;
            if (number - i <= known || t % 3 == 2) continue;
            told[number - i] = packet.seen > earlier ? packet.seen - earlier : 0;
        }
        if (t % 3 != 2) {
            raw_client_inputs(raw, packet, number - count + 1, count, shot, size);
            known = number;
        }
        table_step(at);
    }
    assert_true(hits_of(at->match, 1) > 20);
    assert_true(at->match->rewind_stats.behind >= 1);
    assert_true(table_verify(at).ticks > 200);
    static logged_view views[400];
    uint32_t count = read_views(at->files.log, views, BASE_COUNT(views));
    assert_true(count > 150);
    for (uint32_t i = 0; i < count; i++) {
        if (views[i].view != told[views[i].number])
            print_error("input %u: %llu, not %llu\n", views[i].number,
                        (unsigned long long)views[i].view,
                        (unsigned long long)told[views[i].number]);
        assert_true(views[i].view == told[views[i].number]);
    }
}

BOOTH_CASE(a_client_of_ours_says_what_its_mirror_showed) {
    (void)raw;
    const table_seat* seat = table_sit(at, &FAR);
    assert_null(((gallery*)net_match_context(seat->match))->services);
    table_run(at, 200);
    net_rewind_stats views = at->match->rewind_stats;
    assert_true(views.inputs > 150);
    assert_int_equal(views.ahead + views.behind, 0);
    // The packets need 40 ms to the client and 40 ms back.
    double behind = (double)net_match_tick(at->match) - seen(at->match, 2);
    assert_true(behind >= 5 && behind <= 14);
}
