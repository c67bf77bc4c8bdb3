// SPDX-License-Identifier: MIT
// A game that keeps state outside of its world runs again from the start, and not from a tick in
// the middle: verification restores a match there and names what goes another way. And values that
// lie in a box.
#include "match_made.h"
#include "boxed_hull.h"
#include "breakout_table.h"
#include "log/log_files.h"

#include "ecs/change.h"
#include "net/log_tools.h"
#include "net/match.h"

enum { TICKS = 640 }; // with a keyframe, behind tick 600

// Breakout with a galley whose system does what the case says.
typedef enum outside {
    OUTSIDE_NOTHING,
    OUTSIDE_STATIC,  // from tick 30 on: no two runs in one process are equal
    OUTSIDE_CONTEXT, // what it counts in its context decides, every 100 ticks
    OUTSIDE_HIDDEN,  // the same of a value that is not tracked
    OUTSIDE_BORN,    // the same, and it makes an entity
    OUTSIDE_CACHE    // what it keeps there it computes again when it lacks it
} outside;

static outside the_outside;
static uint32_t calls_outside;

typedef struct galley_game {
    uint32_t count;
    ecs_component_id lamp;
} galley_game;

static ecs_result galley_types(ecs_world* world, const base_reporter* reporter) {
    const ecs_result result = breakout_module()->register_types(world, reporter);
    return result == ECS_OK ? hull_register(world, reporter) : result;
}

static bool is_hundredth(galley_game* game) {
    return ++game->count % 100 == 0;
}

static void sail(const ecs_stage* stage, const ecs_rows* rows) {
    galley_game* game = stage->context;
    hull* ship = *(hull**)rows->columns[0];
    ship->crew = (uint32_t)stage->tick;
    if (the_outside == OUTSIDE_STATIC && stage->tick >= 30) ship->shots += ++calls_outside;
    if (the_outside == OUTSIDE_CONTEXT) ship->shots += is_hundredth(game);
    if (the_outside == OUTSIDE_HIDDEN && is_hundredth(game))
        *(uint32_t*)ecs_get_mut(stage->world, rows->entities[0], game->lamp) += 1;
    if (the_outside == OUTSIDE_BORN && is_hundredth(game))
        (void)ecs_command_create(stage->world, ecs_template_find(stage->world, "buoy"), NULL, 0);
    if (the_outside == OUTSIDE_CACHE && game->count + 1 != stage->tick)
        game->count = (uint32_t)stage->tick - 1;
    if (the_outside == OUTSIDE_CACHE) ship->shots += is_hundredth(game);
}

static ecs_result galley_systems(ecs_world* world, void** context, const base_reporter* reporter) {
    static const ecs_term terms[] = {{"hull", "hull", ECS_WRITE}};
    galley_game* game = ecs_world_context(world, sizeof *game);
    const ecs_result result = breakout_module()->register_systems(world, context, reporter);
    if (result != ECS_OK || !game) return result;
    game->lamp = ecs_component_find(world, "lamp");
    return ecs_system_register(world, &(ecs_system_desc){.name = "sail_es",
                                                         .stage = "act",
                                                         .run = sail,
                                                         .terms = terms,
                                                         .term_count = 1,
                                                         .context = game});
}

static void galley_start(ecs_world* world, void* context, const net_game_start* start) {
    breakout_module()->start(world, context, start);
    assert_true(ecs_try_create(world, ecs_template_find(world, "galley"), NULL, 0));
}

typedef struct voyage {
    log_files files;
    net_game_module game;
    net_module* module;
    net_log_reader* reader;
    net_verify_result result;
} voyage;

static void record(voyage* self) {
    net_log_writer* writer;
    net_match* match = match_made(self->module, (match_wanted){0});
    assert_ok(net_log_writer_create(NULL, self->files.log, match, "test", 1, NULL, &writer));
    for (ecs_tick tick = 1; tick <= TICKS; tick++) {
        net_log_append_begin(writer, &(net_tick_inputs){.tick = tick});
        net_match_step(match);
        net_log_append_end(writer, match);
        ecs_changes_clear(net_match_world(match));
    }
    net_log_append_close(writer, match);
    assert_ok(net_log_writer_destroy(writer));
    net_match_destroy(match);
}

static void open_voyage(voyage* self, outside what) {
    char* text = table_read_file(BREAKOUT_BLK);
    char whole[16384];
    memset(self, 0, sizeof *self);
    files_open_fast(&self->files);
    assert_true((size_t)snprintf(whole, sizeof whole,
                                 "%s\nbuoy { \"crew:u32\"{ _track:b=yes } }\n"
                                 "galley { \"hull:hull\"{ _track:b=yes } \"lamp:u32\"{ } }\n",
                                 text) < sizeof whole);
    free(text);
    self->game = *breakout_module();
    self->game.register_types = galley_types;
    self->game.register_systems = galley_systems;
    self->game.start = galley_start;
    assert_ok(net_module_wrap(&self->game, whole, "breakout.blk", test_reporter(), &self->module));
    the_outside = what;
    record(self);
    self->reader = files_reader(self->files.log);
}

static void close_voyage(voyage* self) {
    net_log_reader_destroy(self->reader);
    net_module_close(self->module);
    files_close(&self->files);
}

#define VOYAGE_CASE(name, what)                                                                    \
    CASE_WITH(voyage, self, open_voyage(self, what), close_voyage(self), name)

static net_result verify(voyage* self) {
    return net_log_verify(self->reader, self->module, 0, NULL, NULL, test_reporter(),
                          &self->result);
}

static void keep_line(void* context, const char* line) {
    (void)snprintf(context, 256, "%s", line);
}

VOYAGE_CASE(a_difference_in_a_box_is_named_by_its_field, OUTSIDE_NOTHING) {
    char line[256] = "";
    the_outside = OUTSIDE_STATIC;
    assert_int_equal(verify(self), NET_ERR_DIVERGED);
    assert_int_equal(self->result.diverged_tick, 30);
    assert_string_equal(self->result.component, "hull");
    assert_string_equal(self->result.field, "shots");
    assert_string_equal(self->result.log_value, "{crew=600;shots=0}");
    assert_true(self->result.entity != ECS_ENTITY_NONE);
    assert_ok(net_log_by_system(self->reader, self->module, &self->result, keep_line, line, NULL));
    assert_string_equal(line, "by_system two_runs=differ behind=sail_es component=hull");
}

// In the middle the first run has counted to 301, and the match that is restored there to 0.
static void expect_outside(voyage* self, ecs_tick tick, const char* component, const char* field) {
    assert_int_equal(verify(self), NET_ERR_DIVERGED);
    print_message(
        "tick=%u component=%s entity=%u field=%s log=%s run=%s template=%s system=%s\n%s\n",
        (unsigned)self->result.diverged_tick, self->result.component, self->result.entity,
        self->result.field, self->result.log_value, self->result.value, self->result.template_name,
        self->result.system, self->result.note);
    assert_int_equal(self->result.ticks, TICKS);
    assert_int_equal(self->result.restored_tick, 301);
    assert_int_equal(self->result.diverged_tick, tick);
    assert_string_equal(self->result.component, component);
    assert_string_equal(self->result.field, field);
    assert_non_null(strstr(self->result.note, "keeps state outside of its world"));
    assert_non_null(strstr(self->result.note, "keep it in a component"));
}

VOYAGE_CASE(a_counter_in_the_context_is_named_with_what_it_changed, OUTSIDE_CONTEXT) {
    expect_outside(self, 400, "hull", "shots");
    assert_string_equal(self->result.log_value, "{crew=400;shots=4}");
    assert_string_equal(self->result.value, "{crew=400;shots=3}");
    assert_string_equal(self->result.template_name, "galley");
    assert_string_equal(self->result.system, "sail_es");
}

VOYAGE_CASE(so_is_one_that_changes_what_nothing_tracks, OUTSIDE_HIDDEN) {
    expect_outside(self, 400, "lamp", "value");
    assert_string_equal(self->result.template_name, "galley");
    assert_string_equal(self->result.system, "sail_es");
}

VOYAGE_CASE(so_is_one_that_makes_entities, OUTSIDE_BORN) {
    expect_outside(self, 400, "crew", "entity");
    assert_string_equal(self->result.log_value, "lives");
    assert_string_equal(self->result.template_name, "buoy");
    assert_string_equal(self->result.system, "commands_and_events_behind:sail_es");
}

VOYAGE_CASE(what_is_computed_again_when_it_is_missing_is_no_fault, OUTSIDE_CACHE) {
    assert_ok(verify(self));
    assert_int_equal(self->result.restored_tick, 0);
    assert_int_equal(self->result.ticks, TICKS);
}
