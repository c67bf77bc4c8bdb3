// SPDX-License-Identifier: MIT
// A match of breakout is logged and run again. The run gives the same bits, or it reports the place
// of the first difference.
#include "playback/playback_record.h"

#include "log.pb-c.h"

enum { TICKS = 150 };

READ_CASE(a_log_runs_again_to_the_same_bits, .ticks = TICKS, .cheer_tick = 20) {
    const net_log_info* info = net_log_reader_info(self->reader);
    assert_string_equal(info->game, "breakout");
    assert_string_equal(info->build, "test");
    assert_int_equal(info->seed, 99);
    assert_int_equal(info->started_unix_ms, 1234);
    assert_true(info->is_closed);
    net_verify_result result;
    for (int again = 0; again < 2; again++) {
        result = files_verify(self->reader, self->table.module, NET_OK);
        assert_int_equal(result.ticks, TICKS);
        assert_true(result.state_hash == self->state_hash);
        assert_true(result.world_hash == self->world_hash[TICKS]);
    }
    assert_ok(net_log_verify(self->reader, self->table.module, 0, 40, NULL, NULL, NULL, &result));
    assert_int_equal(result.ticks, 40);
    const net_log_stats stats = files_stats(self->reader);
    assert_int_equal(stats.records[NET_LOG_KIND_BEGIN], TICKS);
    assert_int_equal(stats.records[NET_LOG_KIND_END], TICKS);
    assert_int_equal(stats.joins, 2);
    assert_int_equal(stats.leaves, 1);
    assert_int_equal(stats.client_events, 1);
    assert_true(stats.input_repeats > 25);
}

// ---- what an operator did

typedef struct seen_line {
    const char* text;
    uint32_t count;
} seen_line;

static void see_line(void* context, const char* line) {
    seen_line* seen = context;
    seen->count += strstr(line, seen->text) != NULL;
}

// A match of 40 ticks with a control in front of tick `before`; 41 never comes.
static playback_record* record_control(ecs_tick before) {
    static const net_match_argument arguments[] = {{"ab", 2}, {"", 0}};
    playback_record* self = record_begin((record_wanted){.has_controls = true});
    for (ecs_tick tick = 1; tick <= 41; tick++) {
        if (tick == before)
            assert_ok(net_log_append_control(self->writer, "set_wind", arguments, 2));
        if (tick <= 40) record_tick(self);
    }
    record_end(self);
    return self;
}

CASE(a_control_stands_in_front_of_its_tick_and_is_not_passed_over) {
    static const ecs_tick places[] = {1, 16, 17, 41}; // a block of 60 Hz has 15 ticks
    for (uint32_t i = 0; i < BASE_COUNT(places); i++) {
        playback_record* self = record_control(places[i]);
        net_log_reader* reader = record_read(self);
        assert_true(net_log_reader_info(reader)->is_closed);
        assert_int_equal(net_log_reader_info(reader)->last_tick, 40);
        net_log_stats stats = files_stats(reader);
        assert_int_equal(stats.records[NET_LOG_KIND_CONTROL], 1);
        assert_int_equal(stats.records[NET_LOG_KIND_END], 40);
        char line[96];
        (void)snprintf(
            line, sizeof line,
            "{\"control\":{\"tick\":%u,\"verb\":\"set_wind\",\"arguments\":[\"ab\",\"\"]}}",
            (unsigned)places[i]);
        seen_line seen = {line, 0};
        assert_ok(net_log_dump(reader, NULL, see_line, &seen));
        assert_int_equal(seen.count, 1);
        const net_verify_result result = files_verify(reader, self->table.module, NET_ERR_DAMAGED);
        assert_said("the control 'set_wind' is not known here");
        assert_int_equal(result.ticks, places[i] - 1);
        // A copy has it too, in front of a tick that came.
        char name[128];
        (void)snprintf(name, sizeof name, "%s/copy.slog", self->files.folder);
        net_log_copy_config copy = {.output = name};
        net_log_copy_result copied;
        assert_ok(net_log_copy(reader, &copy, test_reporter(), &copied));
        assert_int_equal(copied.ticks, 40);
        net_log_reader_destroy(reader);
        reader = files_reader(name);
        stats = files_stats(reader);
        assert_int_equal(stats.records[NET_LOG_KIND_CONTROL], places[i] <= 40);
        net_log_reader_destroy(reader);
        record_free(self);
    }
}

CASE(a_control_that_does_not_fit_a_record_is_refused) {
    static uint8_t large[NET_LOG_RECORD_BYTES_MAX];
    enum { FITS = NET_LOG_RECORD_BYTES_MAX - 68 };
    playback_record* self = record_begin((record_wanted){.has_controls = true});
    for (size_t size = FITS - 1; size <= FITS + 1; size++)
        assert_int_equal(
            net_log_append_control(self->writer, "put", &(net_match_argument){large, size}, 1),
            size <= FITS ? NET_OK : NET_ERR_FULL);
    assert_ok(net_log_writer_destroy(self->writer));
    net_log_reader* reader = record_read(self);
    const net_log_stats stats = files_stats(reader);
    assert_int_equal(stats.records[NET_LOG_KIND_CONTROL], 2);
    net_log_reader_destroy(reader);
    record_free(self);
}

READ_CASE(the_header_is_what_log_proto_says, .ticks = 1) {
    const base_bytes* data = &self->reader->header;
    Shoal__Log__Header* header = shoal__log__header__unpack(NULL, data->size, data->data);
    assert_non_null(header);
    ecs_world* world = net_match_world(self->table.match);
    assert_string_equal(header->game, "breakout");
    assert_int_equal(header->identity, net_log_reader_info(self->reader)->identity);
    assert_int_equal(header->replicated_index_max, ecs_limits_default().replicated_index_max);
    assert_int_equal(header->schema->n_components, ecs_component_count(world));
    assert_int_equal(header->schema->n_messages, BREAKOUT_MESSAGE_COUNT);
    assert_true(header->schema->n_templates > 5);
    bool has_lives = false;
    for (size_t i = 0; i < header->n_settings; i++)
        has_lives = has_lives || (strcmp(header->settings[i]->key, "lives") == 0 &&
                                  strcmp(header->settings[i]->value, "3") == 0);
    assert_true(has_lives);
    shoal__log__header__free_unpacked(header, NULL);
}

CASE(a_tick_is_logged_without_taking_memory) {
    playback_record* self = record_begin((record_wanted){.ticks = 0});
    scarce_memory memory;
    scarce_init(&memory);
    assert_ok(net_log_writer_destroy(self->writer));
    assert_ok(net_log_writer_create(&memory.allocator, file_name("%s.2", self->files.log), NULL,
                                    self->table.match, NULL, 0, NULL, &self->writer));
    // Without a server the writer keeps the rows of a second itself.
    record_ticks(self, 62);
    uint64_t before = memory.calls;
    record_ticks(self, 7);
    assert_int_equal(memory.calls, before);
    char text[16];
    assert_false(net_log_take_failure(self->writer, text, sizeof text));
    assert_ok(net_log_writer_destroy(self->writer));
    record_free(self);
}

typedef struct meddler {
    ecs_tick tick;
    const char* component;
    ecs_entity entity;
} meddler;

/// Change one value between two ticks. The tracking of the next tick finds the change.
static bool meddle(void* context, net_match* match) {
    meddler* self = context;
    if (net_match_tick(match) != self->tick) return true;
    ecs_world* world = net_match_world(match);
    ecs_component_id id = ecs_component_find(world, self->component);
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at)) {
        if (!ecs_find(world, at, id)) continue;
        self->entity = at;
        uint8_t* value = ecs_get_mut(world, at, id);
        value[0] ^= 1;
        break;
    }
    return true;
}

READ_CASE(a_divergence_is_found_to_tick_entity_field_and_values, .ticks = TICKS) {
    const struct {
        const char *component, *field, *log_value, *value;
        bool has_entity;
        const char* note;
    } cases[] = {
        {"hits", "value", "2", "3", true, ""},
        // Tracked and not replicated: no values in the log.
        {"brick.pos", "", "", "", false, "no values"},
        // A change of the lowest bit of a float, which is far below a quantum.
        {"pos", "", "", "", false, "none so exact"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        meddler context = {.tick = 30, .component = cases[i].component};
        net_verify_result result;
        assert_int_equal(
            net_log_verify(self->reader, self->table.module, 0, 0, meddle, &context, NULL, &result),
            NET_ERR_DIVERGED);
        assert_true(result.is_diverged);
        assert_int_equal(result.diverged_tick, 31);
        assert_int_equal(result.ticks, 30);
        assert_string_equal(result.component, cases[i].component);
        assert_true(context.entity != ECS_ENTITY_NONE);
        assert_int_equal(result.entity, cases[i].has_entity ? context.entity : ECS_ENTITY_NONE);
        assert_string_equal(result.field, cases[i].field);
        assert_string_equal(result.log_value, cases[i].log_value);
        assert_string_equal(result.value, cases[i].value);
        assert_non_null(strstr(result.note, cases[i].note));
    }
}

// Changes one bit, `*context` bits after the head of the state of tick 50.
static record_act flip_state(void* context, uint32_t number, const net_log_block* block,
                             uint8_t* payload) {
    const uint32_t bit = *(const uint32_t*)context;
    base_reader bytes = base_reader_make(payload, block->unpacked_bytes);
    while (block->type == NET_LOG_BLOCK_DATA && base_reader_left(&bytes) > 0) {
        size_t size;
        net_log_record at;
        const uint8_t* data = net_log_next_span(&bytes, &size);
        assert_true(data && net_log_record_again(&at, data, size));
        if (at.kind != NET_LOG_KIND_STATE || at.tick != 50) continue;
        assert_true(at.changes_bytes > 4 + bit / 8);
        payload[at.changes - payload + 4 + bit / 8] ^= (uint8_t)(1u << (bit & 7));
        return RECORD_CHANGE;
    }
    return RECORD_KEEP;
}

// What windows and pages read of a log is not what a run reads: one bit of it is found, too.
READ_CASE(a_state_that_is_not_that_of_the_match_is_found, .ticks = TICKS, .late_tick = 1) {
    uint32_t diverged = 0, unreadable = 0;
    for (uint32_t bit = 0; bit < 48; bit++) {
        const char* forged = file_name("%s.forged", self->files.log);
        net_verify_result result;
        log_forge(self->files.log, forged, flip_state, &bit);
        net_log_reader* reader = files_reader(forged);
        const net_result found =
            net_log_verify(reader, self->table.module, 0, 0, NULL, NULL, hear(), &result);
        diverged += found == NET_ERR_DIVERGED;
        unreadable += found == NET_ERR_DAMAGED;
        assert_true(found == NET_ERR_DIVERGED || found == NET_ERR_DAMAGED);
        if (found == NET_ERR_DIVERGED) assert_int_equal(result.diverged_tick, 50);
        if (found == NET_ERR_DAMAGED) assert_said("tick 50: its state cannot be read");
        net_log_reader_destroy(reader);
    }
    assert_true(diverged > 0 && unreadable > 0);
}

// The states are walked up to one that cannot be read, in an earlier block than that of the run.
CASE(a_run_that_differs_goes_on_after_a_walk_through_states) {
    net_log_options options = net_log_options_default();
    options.keyframe_seconds = 2;
    playback_record* self = record_make_as((record_wanted){.ticks = TICKS, .options = &options});
    for (uint32_t bit = 0; bit < 48; bit++) {
        const char* forged = file_name("%s.forged", self->files.log);
        meddler context = {.tick = 110, .component = "brick.pos"};
        net_verify_result result;
        log_forge(self->files.log, forged, flip_state, &bit);
        net_log_reader* reader = files_reader(forged);
        assert_int_equal(
            net_log_verify(reader, self->table.module, 0, TICKS, meddle, &context, hear(), &result),
            NET_ERR_DIVERGED);
        assert_int_equal(result.diverged_tick, 111);
        assert_string_equal(said.text, "");
        net_log_reader_destroy(reader);
    }
    record_free(self);
}

READ_CASE(another_game_or_other_templates_are_refused_by_name, .ticks = TICKS) {
    net_game_module game = *breakout_module();
    game.name = "brokeout";
    net_module* module = record_module(&game, "");
    (void)files_verify(self->reader, module, NET_ERR_SCHEMA);
    assert_said("breakout");
    net_module_close(module);
    // One more template with a replicated component makes another schema.
    module =
        record_module(breakout_module(), "extra { \"more:i\"{ _replicate:b=yes; value:i=3 } }\n");
    (void)files_verify(self->reader, module, NET_ERR_SCHEMA);
    net_module_close(module);
}

// The pads' templates behind the balls'. Nothing differs but numbers of components and templates,
// with which the hashes of the log were made.
READ_CASE(templates_in_another_order_are_another_schema_and_no_component_is_blamed,
          .ticks = TICKS) {
    char* text = table_read_file(BREAKOUT_BLK);
    const char* pads = strstr(text, "// A player's pad.");
    const char* balls = strstr(text, "// A ball: held");
    const char* rest = strstr(text, "// The level that");
    assert_true(pads && balls > pads && rest > balls);
    char* other = calloc(1, strlen(text) + 1);
    assert_non_null(other);
    snprintf(other, strlen(text) + 1, "%.*s%.*s%.*s%s", (int)(pads - text), text,
             (int)(rest - balls), balls, (int)(balls - pads), pads, rest);
    net_module* module;
    assert_ok(net_module_wrap(breakout_module(), other, "breakout.blk", NULL, &module));
    const net_verify_result result = files_verify(self->reader, module, NET_ERR_DIVERGED);
    assert_true(result.is_other_schema);
    assert_string_equal(result.component, "-");
    assert_non_null(strstr(result.note, "in another order"));
    net_module_close(module);
    free(other);
    free(text);
}

static void count_line(void* context, const char* line) {
    uint32_t* lines = context;
    ++*lines;
    assert_true(line[0] == '{' && line[strlen(line) - 1] == '}');
    if (*lines == 1) assert_non_null(strstr(line, "\"game\":\"breakout\""));
    if (*lines == 2) assert_non_null(strstr(line, "\"name\":\"bob \\\"b\\\"\""));
}

READ_CASE(a_dump_is_a_line_of_json_per_record, .ticks = TICKS, .name = "bob \"b\"") {
    uint32_t lines = 0;
    assert_ok(net_log_dump(self->reader, self->table.module, count_line, &lines));
    assert_int_equal(lines, 1 + 3 * TICKS + 1); // begin, end, state
    lines = 0;
    assert_ok(net_log_dump(self->reader, NULL, count_line, &lines));
    assert_int_equal(lines, 1 + 3 * TICKS + 1); // begin, end, state
}

// The rows of all entities.
static void write_trace(FILE* file, net_match* match) {
    ecs_world* world = net_match_world(match);
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at)) {
        uint64_t hash = net_world_digest_row_hash(net_match_schema(match), world, at);
        if (hash == 0) continue;
        fprintf(file, "client=1 entity=%u:%u tick=%u row=%016llx\n", ecs_entity_index(at),
                ecs_entity_generation(at), (unsigned)net_match_tick(match),
                (unsigned long long)hash);
    }
}

/// Check the trace with `tail_line` added at its end (NULL: none), which is then cut off.
/// @return the result of the check.
static net_result check_trace(playback_record* self, const char* trace, const char* tail_line,
                              char* why, size_t why_bytes) {
    FILE* file = fopen(trace, "a");
    assert_non_null(file);
    const long size = ftell(file);
    if (tail_line) fputs(tail_line, file);
    fclose(file);
    net_log_reader* reader = record_read(self);
    base_report_first first = {.count = 0};
    base_reporter reporter = base_reporter_first(&first);
    uint64_t rows;
    net_result result = net_log_check_trace(reader, self->table.module, trace, &reporter, &rows);
    if (result == NET_OK) assert_true(rows > 500);
    assert_int_equal(truncate(trace, size), 0);
    snprintf(why, why_bytes, "%s", first.text);
    net_log_reader_destroy(reader);
    return result;
}

CASE(a_trace_is_proved_row_by_row) {
    char why[BASE_REPORT_BYTES_MAX], trace[128];
    playback_record* self = record_begin((record_wanted){.ticks = TICKS});
    snprintf(trace, sizeof trace, "%s.1", self->files.log);
    FILE* file = fopen(trace, "w");
    assert_non_null(file);
    for (uint32_t tick = 10; tick <= TICKS; tick += 10) {
        record_ticks(self, 10);
        write_trace(file, self->table.match);
    }
    fclose(file);
    record_end(self);
    self->reader = record_read(self);
    assert_ok(check_trace(self, trace, NULL, why, sizeof why));
    const struct {
        const char* line;
        net_result result;
        const char* why;
    } cases[] = {
        {"client=1 entity=1:1 tick=150 row=1\n", NET_ERR_DIVERGED, "differs"},
        {"client=1 entity=1:1 tick=149 row=1\n", NET_ERR_DIVERGED, "already"},
        {"client=2 entity=60000:1 tick=20 row=1\n", NET_ERR_DIVERGED, "no such entity"},
        {"client=2 entity=1:1 tick=151 row=1\n", NET_ERR_DIVERGED, "no such tick"},
        {"client=2 entity=1:1 tick=0 row=1\n", NET_ERR_DIVERGED, "no such tick"},
        {"client=2 entity=1 tick=20 row=1\n", NET_ERR_MALFORMED, "is not"},
        {"client=2 entity=1:1 tick=20 row=1 more\n", NET_ERR_MALFORMED, "is not"},
        {"client=2 entity=1:1 tick=99999999999999999999 row=1\n", NET_ERR_MALFORMED, "is not"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        assert_int_equal(check_trace(self, trace, cases[i].line, why, sizeof why), cases[i].result);
        if (!strstr(why, cases[i].why)) print_error("\"%s\" lacks \"%s\"\n", why, cases[i].why);
        assert_non_null(strstr(why, cases[i].why));
    }
    uint64_t rows;
    assert_int_equal(net_log_check_trace(self->reader, self->table.module, "/nowhere", NULL, &rows),
                     NET_ERR_IO);
    record_free(self);
}

// ---- which system ----

static uint32_t drift_step, drift_calls; // what no module may have: it lives from run to run

static void drift(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* vel = rows->columns[0];
    if (stage->tick < 20) return;
    for (uint32_t i = 0; i < rows->count; i++)
        vel[i].x += 1.0f + (float)drift_calls;
    drift_calls += drift_step;
}

static ecs_result register_drift(ecs_world* world, void** context, const base_reporter* reporter) {
    static const ecs_term terms[] = {{"vel", "p2", ECS_WRITE}};
    const ecs_result result = breakout_module()->register_systems(world, context, reporter);
    if (result != ECS_OK) return result;
    return ecs_system_register(world, &(ecs_system_desc){.name = "drift",
                                                         .stage = "act",
                                                         .run = drift,
                                                         .terms = terms,
                                                         .term_count = 1,
                                                         .is_confined = true});
}

static void gather(void* context, const char* line) {
    strncat(context, line, 1000 - strlen(context));
    strncat(context, "\n", 1000 - strlen(context));
}

// Verify the log with a module, or a changed world, and look for the system.
static void blame(const playback_record* self, const net_module* module, net_verify_tick_fn each,
                  void* context, net_verify_result* result, char lines[1024]) {
    net_log_reader* reader = record_read(self);
    lines[0] = 0;
    assert_int_equal(net_log_verify(reader, module, 0, 0, each, context, NULL, result),
                     NET_ERR_DIVERGED);
    assert_ok(net_log_by_system(reader, module, result, gather, lines, NULL));
    net_log_reader_destroy(reader);
}

READ_CASE(the_system_that_makes_the_difference_is_named, .ticks = TICKS) {
    char lines[1024];
    net_verify_result result;
    net_game_module game = *breakout_module();
    game.register_systems = register_drift;
    net_module* module = record_module(&game, "");
    // Two runs are equal: who changed it, and who may.
    drift_step = drift_calls = 0;
    blame(self, module, NULL, NULL, &result, lines);
    assert_int_equal(result.diverged_tick, 20);
    assert_string_equal(result.component, "vel");
    assert_string_equal(
        result.writers,
        "move_pads_es(declares_nothing),move_balls_es,rules_es(declares_nothing),drift");
    assert_string_equal(lines, "by_system changed=vel by=drift\n"
                               "by_system two_runs=equal tick=20 component=vel found=one_writer\n");
    // Two runs differ: the system is known.
    drift_step = 1;
    blame(self, module, NULL, NULL, &result, lines);
    assert_string_equal(lines, "by_system two_runs=differ behind=drift component=vel\n");
    // It was there before: from the log's keyframe, or its begin, the tick is the log's.
    meddler context = {.tick = 30, .component = "hits"};
    blame(self, self->table.module, meddle, &context, &result, lines);
    assert_non_null(
        strstr(lines, "two_runs=equal tick=31 component=hits found=before_the_keyframe"));
    net_module_close(module);
}
