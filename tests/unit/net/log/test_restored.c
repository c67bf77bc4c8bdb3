// SPDX-License-Identifier: MIT
// A game that keeps state outside of its world runs again from the start, and not from a tick in
// the middle: verification restores a match there and names what goes another way. And values that
// lie in a box.
#include "boxed_hull.h"
#include "hear.h"
#include "playback/playback_record.h"

enum { TICKS = 640 }; // with a keyframe, behind tick 600

// Breakout with a galley whose system does what the case says.
typedef enum outside {
    OUTSIDE_NOTHING,
    OUTSIDE_STATIC,   // from tick 30 on: no two runs in one process are equal
    OUTSIDE_CONTEXT,  // what it counts in its context decides, every 100 ticks
    OUTSIDE_HIDDEN,   // the same of a value that is not tracked
    OUTSIDE_BORN,     // the same, and it makes an entity
    OUTSIDE_LOST,     // a save has it, and a restore leaves it out
    OUTSIDE_CACHE,    // what it keeps there it computes again when it lacks it
    OUTSIDE_LUCKY,    // it is restored where the state is at its start
    OUTSIDE_ELEVENTH, // what it counts in its context decides, every 11 ticks
    OUTSIDE_SAVED,    // the same, and its state is in saves
    OUTSIDE_HALF      // the same, and saves have another state of the game
} outside;

static outside the_outside;
static uint32_t calls_outside;

typedef struct galley_game {
    uint32_t count;
    ecs_component_id lamp;
} galley_game;

static void write_hull(const void* value, base_bytes* bytes) {
    base_bytes_write(bytes, value, sizeof(hull));
}

static bool read_crew(const ecs_type_context* context, void* value, base_reader* reader) {
    hull got;
    if (!base_reader_read(reader, &got, sizeof got)) return false;
    ((hull*)value)->crew = got.crew;
    return true;
}

static ecs_result galley_types(ecs_world* world, const base_reporter* reporter) {
    static const ecs_type_ops ops = {
        .create = hull_create, .destroy = hull_destroy, .write = write_hull, .read = read_crew};
    static const ecs_field fields[] = {
        {.name = "crew", .kind = ECS_FIELD_U32, .count = 1},
        {.name = "shots", .offset = 4, .kind = ECS_FIELD_U32, .count = 1}};
    const ecs_type_desc lost = {.name = "hull",
                                .size = sizeof(hull),
                                .align = _Alignof(hull),
                                .fields = fields,
                                .field_count = 2,
                                .ops = &ops};
    const ecs_result result = breakout_module()->register_types(world, reporter);
    if (result == ECS_OK && the_outside == OUTSIDE_LOST)
        return ecs_type_register_as(world, &lost, ECS_TYPE_BOXED, reporter, NULL);
    return result == ECS_OK ? hull_register(world, reporter) : result;
}

// Its place in the world's memory is not the context that breakout's functions get.
static galley_game* the_game;
static bool is_refusing;

static ecs_result galley_save(ecs_world* world, void* context, base_bytes* bytes) {
    base_bytes_write_u32(bytes, the_outside == OUTSIDE_HALF ? 7 : the_game->count);
    return ECS_OK;
}

static ecs_result galley_load(ecs_world* world, void* context, base_reader* reader) {
    the_game->count = base_reader_u32(reader);
    return is_refusing && the_game->count > 0 ? ECS_ERR_MALFORMED : ECS_OK;
}

static bool is_hundredth(galley_game* game) {
    return ++game->count % 100 == 0;
}

static void sail(const ecs_stage* stage, const ecs_rows* rows) {
    galley_game* game = stage->context;
    hull* ship = *(hull**)rows->columns[0];
    ship->crew = (uint32_t)stage->tick;
    if (the_outside == OUTSIDE_STATIC && stage->tick >= 30) ship->shots += ++calls_outside;
    if (the_outside == OUTSIDE_LOST) ship->shots += 1;
    if (the_outside == OUTSIDE_CONTEXT) ship->shots += is_hundredth(game);
    if (the_outside == OUTSIDE_HIDDEN && is_hundredth(game))
        *(uint32_t*)ecs_get_mut(stage->world, rows->entities[0], game->lamp) += 1;
    if (the_outside == OUTSIDE_BORN && is_hundredth(game))
        (void)ecs_command_create(stage->world, ecs_template_find(stage->world, "buoy"), NULL, 0);
    if (the_outside == OUTSIDE_CACHE && game->count + 1 != stage->tick)
        game->count = (uint32_t)stage->tick - 1;
    if (the_outside == OUTSIDE_CACHE) ship->shots += is_hundredth(game);
    if (the_outside == OUTSIDE_LUCKY && stage->tick % 100 == 30) game->count = 1;
    if (the_outside == OUTSIDE_LUCKY && stage->tick % 100 == 60) {
        ship->shots += game->count;
        game->count = 0; // as in a new context, for most of the time
    }
    if (the_outside >= OUTSIDE_ELEVENTH) ship->shots += ++game->count % 11 == 0;
}

static ecs_result galley_systems(ecs_world* world, void** context, const base_reporter* reporter) {
    static const ecs_term terms[] = {{"hull", "hull", ECS_WRITE}};
    galley_game* game = ecs_world_context(world, sizeof *game);
    const ecs_result result = breakout_module()->register_systems(world, context, reporter);
    if (result != ECS_OK || !game) return result;
    game->lamp = ecs_component_find(world, "lamp");
    the_game = game;
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
    playback_record* record;
    net_game_module game;
    net_verify_result result;
} voyage;

static void open_voyage(voyage* self, outside what) {
    *self = (voyage){.game = *breakout_module()};
    self->game.register_types = galley_types;
    self->game.register_systems = galley_systems;
    self->game.start = galley_start;
    if (what >= OUTSIDE_SAVED) {
        self->game.save_state = galley_save;
        self->game.load_state = galley_load;
    }
    the_outside = what;
    is_refusing = false;
    self->record = record_make_read(
        (record_wanted){.ticks = TICKS,
                        .game = &self->game,
                        .templates = "buoy { \"crew:u32\"{ _track:b=yes } }\n"
                                     "galley { \"hull:hull\"{ _track:b=yes } \"lamp:u32\"{ } }\n"});
}

#define VOYAGE_CASE(name, what)                                                                    \
    CASE_WITH(voyage, self, open_voyage(self, what), record_free(self->record), name)

static net_result verify(voyage* self) {
    return net_log_verify(self->record->reader, self->record->table.module, 0, 0, NULL, NULL,
                          test_reporter(), &self->result);
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
    assert_ok(net_log_by_system(self->record->reader, self->record->table.module, &self->result,
                                keep_line, line, NULL));
    assert_string_equal(line, "by_system two_runs=differ behind=sail_es component=hull");
}

// Where it is restored, the first run has counted to 129, and the match that goes on to 0.
static const char is_outside[] =
    "the game keeps state outside of its world (in its context, a static variable or a "
    "library), and no keyframe has it; keep it in a component, or in save_state and load_state "
    "(games/README.md, Libraries)";

static const struct {
    outside what;
    const char *component, *field, *log_value, *value, *template_name, *system; // NULL: any
    ecs_tick restored, differs;
    const char* remedy;
} rows[] = {
    {OUTSIDE_CONTEXT, "hull", "shots", "{crew=200;shots=2}", "{crew=200;shots=1}", "galley",
     "sail_es", 129, 200, is_outside},
    {OUTSIDE_HIDDEN, "lamp", "value", NULL, NULL, "galley", "sail_es", 129, 200, is_outside},
    {OUTSIDE_LOST, "hull", "shots", NULL, NULL, "galley", "the_keyframe", 129, 130,
     "what write of its type saves, read does not give back"},
    {OUTSIDE_BORN, "crew", "entity", "lives", NULL, "buoy", "commands_and_events_behind:sail_es",
     129, 200, is_outside},
    {OUTSIDE_LUCKY, "hull", "shots", NULL, NULL, "galley", "sail_es", 258, 260, is_outside},
};

CASE_ROWS(voyage, self, open_voyage(self, rows[i].what), record_free(self->record), i,
          BASE_COUNT(rows), state_outside_of_the_world_is_named_with_what_it_changed) {
    const net_verify_result* got = &self->result;
    assert_int_equal(verify(self), NET_ERR_DIVERGED);
    print_message("component=%s field=%s log=%s run=%s\n%s\n", got->component, got->field,
                  got->log_value, got->value, got->note);
    assert_int_equal(got->ticks, TICKS);
    assert_int_equal(got->restored_tick, rows[i].restored);
    assert_int_equal(got->diverged_tick, rows[i].differs);
    assert_string_equal(got->component, rows[i].component);
    assert_string_equal(got->field, rows[i].field);
    if (rows[i].log_value) assert_string_equal(got->log_value, rows[i].log_value);
    if (rows[i].value) assert_string_equal(got->value, rows[i].value);
    assert_string_equal(got->template_name, rows[i].template_name);
    assert_string_equal(got->system, rows[i].system);
    assert_non_null(strstr(got->note, rows[i].remedy));
}

VOYAGE_CASE(what_is_computed_again_when_it_is_missing_is_no_fault, OUTSIDE_CACHE) {
    assert_ok(verify(self));
    assert_int_equal(self->result.restored_tick, 0);
    assert_int_equal(self->result.ticks, TICKS);
}

// From the keyframe of tick 600 on: the state is in it, or the eleventh call is another one.
CASE_ROWS(voyage, self, open_voyage(self, OUTSIDE_ELEVENTH + i), record_free(self->record), i, 3,
          a_state_that_is_saved_goes_on_from_a_keyframe) {
    const outside what = OUTSIDE_ELEVENTH + i;
    const net_result whole = verify(self);
    const net_result late = net_log_verify(self->record->reader, self->record->table.module, 610, 0,
                                           NULL, NULL, test_reporter(), &self->result);
    assert_int_equal(whole, what == OUTSIDE_SAVED ? NET_OK : NET_ERR_DIVERGED);
    assert_int_equal(late, what == OUTSIDE_SAVED ? NET_OK : NET_ERR_DIVERGED);
    if (late) assert_non_null(strstr(self->result.note, "keeps state outside of its world"));
    assert_true((strstr(self->result.note, "or save it with what the game saves") != NULL) ==
                (what == OUTSIDE_HALF));
}

// Then the start of the log leads there.
VOYAGE_CASE(a_keyframe_whose_state_is_refused_is_passed_over, OUTSIDE_SAVED) {
    net_log_replay* replay = NULL;
    is_refusing = true;
    assert_ok(net_log_replay_create(self->record->reader, self->record->table.module, 610, hear(),
                                    &replay));
    assert_said("the game's load_state refused its part of a save: ");
    assert_int_equal(said.count, 2); // and which keyframe it is
    assert_true(net_match_tick(net_log_replay_match(replay)) == 0);
    for (uint32_t i = 0; i < 610; i++) {
        net_log_tick tick;
        assert_ok(net_log_replay_step(replay, &tick));
    }
    assert_true(ecs_world_hash(net_match_world(net_log_replay_match(replay))) ==
                self->record->world_hash[610]);
    net_log_replay_destroy(replay);
}
