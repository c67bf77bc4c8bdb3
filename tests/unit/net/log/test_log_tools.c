// SPDX-License-Identifier: MIT
// Exports, differences, counts, copies and spectators' records of logs of breakout with bots.
#define _GNU_SOURCE // memmem

#include "breakout_table.h"
#include "log_files.h"
#include "mcap_walk.h"
#include "scarce.h"

#include "base/rng.h"
#include "ecs/save.h"
#include "log/log_source.h"
#include "net/log.h"
#include "net/log_bytes.h"
#include "tools/sim_match.h"

enum { TICKS = 90, BOTS = 2 };

typedef struct play {
    log_files files;
    table table;
    net_log_reader* reader; ///< of the log
} play;

typedef struct lines {
    char text[1 << 20];
    uint32_t count;
} lines;

static void add_line(void* context, const char* line) {
    lines* self = context;
    size_t used = strlen(self->text);
    assert_true(used + strlen(line) + 2 < sizeof self->text);
    strcat(self->text + used, line);
    strcat(self->text + used, "\n");
    self->count++;
}

static void make_log_of(play* self, uint64_t seed, const char* name, uint32_t ticks) {
    net_log_writer* writer;
    net_sim_match* sim;
    memset(self, 0, sizeof *self);
    files_open_fast(&self->files); // a copy is synced
    table_open(&self->table, NULL, 0, seed, NET_ROLE_SERVER, false);
    assert_ok(
        net_log_writer_create(NULL, self->files.log, self->table.match, "test", 0, NULL, &writer));
    const net_sim_match_config config = {.module = self->table.module,
                                         .match = self->table.match,
                                         .log = writer,
                                         .clients_max = BOTS};
    assert_ok(net_sim_match_create(&config, &sim));
    for (uint32_t i = 0; i < BOTS; i++) {
        const net_game_player player = {.client = i + 1, .name = i == 0 ? name : "bob"};
        assert_ok(net_sim_match_join(sim, &player));
    }
    for (uint32_t i = 0; i < ticks; i++)
        net_sim_match_step(sim);
    net_log_append_close(writer, self->table.match);
    assert_ok(net_log_writer_destroy(writer));
    net_sim_match_destroy(sim);
    self->reader = files_reader(self->files.log);
}

static void make_log(play* self, uint64_t seed, const char* name) {
    make_log_of(self, seed, name, TICKS);
}

static void play_close(play* self) {
    net_log_reader_destroy(self->reader);
    table_close(&self->table);
    files_close(&self->files);
}

#define PLAY_CASE(name, seed, who)                                                                 \
    CASE_WITH(play, self, make_log(self, seed, who), play_close(self), name)

// ---- numbers

static void number_is(net_log_value value, const char* expected) {
    char text[NET_LOG_NUMBER_BYTES];
    net_log_source_number(&value, text);
    assert_string_equal(text, expected);
}

CASE(numbers_are_short_exact_and_json) {
    number_is((net_log_value){.kind = ECS_FIELD_F32, .real = (double)0.1f}, "0.1");
    number_is((net_log_value){.kind = ECS_FIELD_F32, .real = (double)16777217.0f}, "16777216");
    number_is((net_log_value){.kind = ECS_FIELD_F32, .real = (double)(1.0f / 3.0f)}, "0.33333334");
    number_is((net_log_value){.kind = ECS_FIELD_F64, .real = 1.0 / 3.0}, "0.3333333333333333");
    number_is((net_log_value){.kind = ECS_FIELD_F64, .real = 0.0 / 0.0}, "null");
    number_is((net_log_value){.kind = ECS_FIELD_F32, .real = 1.0 / 0.0}, "null");
    number_is((net_log_value){.kind = ECS_FIELD_BOOL, .truth = true}, "true");
    number_is((net_log_value){.kind = ECS_FIELD_I8, .whole = -128}, "-128");
    const int64_t most = INT64_C(1) << 53;
    number_is((net_log_value){.kind = ECS_FIELD_I64, .whole = most}, "9007199254740992");
    number_is((net_log_value){.kind = ECS_FIELD_I64, .whole = most + 1}, "\"9007199254740993\"");
    number_is((net_log_value){.kind = ECS_FIELD_I64, .whole = -most}, "-9007199254740992");
    number_is((net_log_value){.kind = ECS_FIELD_I64, .whole = -most - 1}, "\"-9007199254740993\"");
    number_is((net_log_value){.kind = ECS_FIELD_U64, .natural = UINT64_MAX},
              "\"18446744073709551615\"");
    number_is((net_log_value){.kind = ECS_FIELD_ENTITY, .entity = ecs_entity_make(12, 3)},
              "\"12:3\"");
}

// ---- exports

static net_result export_into(play* self, const net_log_export_config* config, lines* out,
                              net_log_exported* exported) {
    net_log_reader* reader = files_reader(self->files.log);
    memset(out, 0, sizeof *out);
    net_result result =
        net_log_export(reader, self->table.module, config, add_line, out, NULL, exported);
    net_log_reader_destroy(reader);
    return result;
}

static lines out;

PLAY_CASE(a_range_of_ticks_is_exported, 7, "ann") {
    net_log_exported exported;
    net_log_export_config config = {.components = "player", .first = 20, .last = 30, .every = 5};
    assert_ok(export_into(self, &config, &out, &exported));
    assert_int_equal(exported.ticks, 11);
    assert_int_equal(exported.rows, 3 * BOTS); // ticks 20, 25, 30
    assert_non_null(strstr(out.text, "{\"tick\":20,"));
    assert_non_null(strstr(out.text, "{\"tick\":30,"));
    assert_null(strstr(out.text, "{\"tick\":35,"));
    config = (net_log_export_config){.components = "player", .first = TICKS, .last = TICKS + 9};
    assert_ok(export_into(self, &config, &out, &exported));
    assert_int_equal(exported.ticks, 1);
    config = (net_log_export_config){.components = "player", .first = TICKS + 1};
    assert_ok(export_into(self, &config, &out, &exported));
    assert_int_equal(exported.rows, 0);
    config = (net_log_export_config){.components = "player,"}; // an empty name is none
    assert_int_equal(export_into(self, &config, &out, &exported), NET_ERR_UNKNOWN);
}

// The values of the last tick are those of the world that wrote the log.
PLAY_CASE(exported_values_are_those_of_the_match, 7, "ann") {
    net_log_exported exported;
    const net_log_export_config config = {.components = "pos", .first = TICKS, .last = TICKS};
    assert_ok(export_into(self, &config, &out, &exported));
    ecs_world* world = net_match_world(self->table.match);
    const ecs_component_id pos = ecs_component_find(world, "pos");
    uint32_t found = 0;
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at)) {
        const ecs_vec2* value = ecs_find(world, at, pos);
        if (!value) continue;
        char entity[64], x[NET_LOG_NUMBER_BYTES], row[256];
        snprintf(entity, sizeof entity, "\"entity\":\"%u:%u\"", ecs_entity_index(at),
                 ecs_entity_generation(at));
        const char* line = strstr(out.text, entity);
        assert_non_null(line);
        net_log_source_number(&(net_log_value){.kind = ECS_FIELD_F32, .real = (double)value->x}, x);
        snprintf(row, sizeof row, "\"pos\":{\"x\":%s,", x);
        const char* end = strchr(line, '\n');
        const char* cell = strstr(line, row);
        assert_true(cell && cell < end);
        found++;
    }
    assert_true(found > 10);
    assert_int_equal(exported.rows, found);
}

// Values that are replicated exactly are the same in the log and in a run of it.
PLAY_CASE(without_the_game_values_come_from_the_log, 7, "ann") {
    static lines run;
    net_log_exported exported;
    const net_log_export_config config = {.components = "player,hits,match", .every = 30};
    assert_ok(export_into(self, &config, &run, &exported));
    memset(&out, 0, sizeof out);
    assert_ok(net_log_export(self->reader, NULL, &config, add_line, &out, NULL, &exported));
    assert_int_equal(exported.ticks_lacking, 0);
    assert_true(run.count > 100);
    assert_string_equal(out.text, run.text);
}

PLAY_CASE(cells_with_commas_and_quotes_are_quoted, 7, "a,\"b\"") {
    net_log_exported exported;
    const net_log_export_config config = {
        .what = NET_LOG_EXPORT_EVENTS, .format = NET_LOG_EXPORT_CSV, .last = 1};
    assert_ok(export_into(self, &config, &out, &exported));
    assert_non_null(strstr(out.text, "1,1,join,\"{\"\"client\"\":1,\"\"name\"\":\"\"a,"));
    assert_non_null(strstr(out.text, "\\\"\"b\\\"\""));
}

// ---- differences

CASE(a_log_differs_from_another_in_seed_inputs_and_values) {
    play one, two;
    make_log(&one, 7, "ann");
    make_log(&two, 8, "ann");
    net_log_reader* a = files_reader(one.files.log);
    net_log_reader* b = files_reader(two.files.log);
    net_log_reader* again = files_reader(one.files.log);
    net_log_diff_result result;
    memset(&out, 0, sizeof out);
    assert_ok(net_log_diff(a, again, one.table.module, 5, add_line, &out, NULL, &result));
    assert_int_equal(result.differences, 0);
    assert_int_equal(result.ticks, TICKS);
    assert_int_equal(out.count, 0);
    assert_ok(net_log_diff(a, b, one.table.module, 1, add_line, &out, NULL, &result));
    assert_int_equal(result.state_tick, 1);
    assert_non_null(strstr(out.text, "differs what=seed a=7 b=8\n"));
    assert_non_null(strstr(out.text, "differs what=state tick=1 "));
    assert_non_null(strstr(out.text, "differs what=value entity="));
    net_log_reader_destroy(again);
    net_log_reader_destroy(b);
    net_log_reader_destroy(a);
    play_close(&two);
    play_close(&one);
}

// ---- counts

PLAY_CASE(every_change_and_input_is_counted, 7, "ann smith") {
    net_log_stats stats;
    memset(&out, 0, sizeof out);
    assert_ok(net_log_tally(self->reader, add_line, &out));
    assert_ok(net_log_read_stats(self->reader, &stats));
    assert_non_null(
        strstr(out.text, "client id=1 name=ann_smith join_tick=1 leave_tick=0 inputs="));
    uint64_t inputs = 0;
    for (const char* at = out.text; (at = strstr(at, " inputs=")) != NULL; at++)
        inputs += strtoull(at + 8, NULL, 10);
    uint64_t repeats = 0;
    for (const char* at = out.text; (at = strstr(at, " input_repeats=")) != NULL; at++)
        repeats += strtoull(at + 15, NULL, 10);
    assert_int_equal(inputs + repeats, stats.inputs);
    assert_non_null(strstr(out.text, "template name=breakout_pad created=2 destroyed=0 "));
}

// ---- copies

static void copy_is(const play* self, net_log_reader* reader, ecs_tick last, ecs_tick expected) {
    char name[128];
    snprintf(name, sizeof name, "%s/copy.slog", self->files.folder);
    const net_log_copy_config config = {.output = name, .last = last};
    net_log_copy_result copied;
    if (expected == 0) {
        assert_int_equal(net_log_copy(reader, &config, NULL, &copied), NET_ERR_DAMAGED);
        assert_false(file_exists(name));
        return;
    }
    assert_ok(net_log_copy(reader, &config, NULL, &copied));
    assert_int_equal(copied.ticks, expected);
    assert_int_equal(copied.last_tick, expected);
    assert_int_equal(net_log_copy(reader, &config, NULL, &copied), NET_ERR_IO); // it is there
    net_log_reader* copy = files_reader(name);
    const net_log_info* info = net_log_reader_info(copy);
    assert_true(info->is_closed && !info->is_cut && !info->is_damaged);
    net_verify_result verified;
    assert_ok(net_log_verify(copy, self->table.module, 0, NULL, NULL, NULL, &verified));
    assert_int_equal(verified.ticks, expected);
    net_log_reader_destroy(copy);
    assert_int_equal(unlink(name), 0);
}

// Cut after every 194th byte: each part that has a header becomes a whole log of its ticks.
PLAY_CASE(every_cut_log_becomes_a_whole_one, 7, "ann") {
    size_t size;
    uint8_t* bytes = file_read(self->files.log, &size);
    net_log_reader* reader = files_reader(self->files.log);
    copy_is(self, reader, 0, TICKS);
    copy_is(self, reader, 1, 1);
    copy_is(self, reader, TICKS - 1, TICKS - 1);
    copy_is(self, reader, TICKS + 1, TICKS);
    net_log_reader_destroy(reader);
    uint32_t copies = 0;
    for (size_t at = 194; at < size; at += test_is_short() ? 1940 : 194) {
        file_write(self->files.log, bytes, at);
        net_result result = net_log_reader_create(NULL, self->files.log, NULL, &reader);
        if (!reader) continue;
        assert_ok(result);
        copy_is(self, reader, 0, net_log_reader_info(reader)->last_tick);
        net_log_reader_destroy(reader);
        copies++;
    }
    assert_true(copies > 0);
    free(bytes);
}

// ---- state that the log has no values of

enum { KEYFRAME = 600, MEDDLE_TICK = 480 };

typedef struct meddler {
    const char* component;
    ecs_entity entity;
    char before[64], after[64]; ///< its value
} meddler;

// Change the last byte of a brick's value that no system writes.
static bool meddle(void* context, net_match* match) {
    meddler* self = context;
    ecs_world* world = net_match_world(match);
    const ecs_component_id id = ecs_component_find(world, self->component);
    if (net_match_tick(match) != MEDDLE_TICK) return true;
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at)) {
        if (strcmp(ecs_entity_template_name(world, at), "breakout_brick") != 0) continue;
        uint8_t* value = ecs_get_mut(world, at, id);
        (void)ecs_type_format(type, value, self->before, sizeof self->before);
        value[4] ^= 1; // the low byte of y
        (void)ecs_type_format(type, value, self->after, sizeof self->after);
        self->entity = at;
        break;
    }
    return true;
}

CASE(what_the_log_has_no_values_of_is_found_in_the_next_keyframe) {
    static const struct {
        const char *component, *note;
        ecs_tick diverged_tick;
    } cases[] = {
        // Nothing tracks the size of a brick: it is in the sums of what is not tracked.
        {"rectSize", "its sum; values of the keyframe after tick 600", MEDDLE_TICK + 1},
        // Tracked and not replicated: the component's sum of the next tick.
        {"brick.pos", "its sum; values of the keyframe after tick 600", MEDDLE_TICK + 1},
        // Replicated, and changed by less than a quantum.
        {"pos", "its sum; values of the keyframe after tick 600", MEDDLE_TICK + 1},
    };
    play self;
    make_log_of(&self, 7, "ann", KEYFRAME + 30);
    net_log_reader* reader = files_reader(self.files.log);
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        net_verify_result result;
        meddler context = {.component = cases[i].component};
        assert_int_equal(
            net_log_verify(reader, self.table.module, 0, meddle, &context, NULL, &result),
            NET_ERR_DIVERGED);
        assert_int_equal(result.diverged_tick, cases[i].diverged_tick);
        assert_true(context.entity != ECS_ENTITY_NONE && result.entity == context.entity);
        assert_string_equal(result.component, cases[i].component);
        assert_string_equal(result.field, "y");
        assert_string_equal(result.log_value, context.before);
        assert_string_equal(result.value, context.after);
        assert_string_equal(result.note, cases[i].note);
    }
    net_log_reader_destroy(reader);
    play_close(&self);
}

// ---- what a spectator may have

static const char user_data[] = "the-team-of-the-player";
#define PLAYER_ID UINT64_C(0x1122334455667788)
#define IDENTITY_AT 56u // in a block's header

// A match with keyframes, ids of players, and an order of its operator.
static void make_private_log(play* self) {
    net_log_writer* writer;
    net_sim_match* sim;
    const net_log_argument argument = {.data = "secret-order", .size = 12};
    net_log_options options = net_log_options_default();
    options.has_controls = true;
    memset(self, 0, sizeof *self);
    files_open_fast(&self->files);
    table_open(&self->table, NULL, 0, 4711, NET_ROLE_SERVER, false);
    assert_ok(net_log_writer_create_as(NULL, self->files.log, &options, self->table.match, "test",
                                       0, NULL, &writer));
    const net_sim_match_config config = {.module = self->table.module,
                                         .match = self->table.match,
                                         .log = writer,
                                         .clients_max = BOTS};
    assert_ok(net_sim_match_create(&config, &sim));
    for (uint32_t i = 0; i < BOTS; i++) {
        const net_game_player player = {.client = i + 1,
                                        .name = i == 0 ? "ann" : "bob",
                                        .player_id = PLAYER_ID,
                                        .user_data = (const uint8_t*)user_data,
                                        .user_bytes = sizeof user_data - 1};
        assert_ok(net_sim_match_join(sim, &player));
    }
    for (uint32_t i = 0; i < 650; i++) {
        if (i == 30) assert_ok(net_log_append_control(writer, "set", &argument, 1));
        net_sim_match_step(sim);
    }
    net_log_append_close(writer, self->table.match);
    assert_ok(net_log_writer_destroy(writer));
    net_sim_match_destroy(sim);
    self->reader = files_reader(self->files.log);
}

// All of a log that a spectator may have up to a tick.
static net_result watch_log(const char* file, uint64_t tick_max, base_bytes* record) {
    net_log_watch* watch;
    net_result result = NET_OK;
    bool is_closed;
    const int descriptor = net_log_part_open(file, 1, &is_closed);
    assert_true(descriptor >= 0 && !is_closed);
    base_bytes_init(record, NULL);
    assert_ok(net_log_watch_create(NULL, &watch));
    uint64_t at = 0;
    while (result == NET_OK)
        result = net_log_watch_step(watch, descriptor, tick_max, &at, record);
    const uint64_t end = at;
    assert_int_equal(net_log_watch_step(watch, descriptor, tick_max, &at, record), result);
    assert_int_equal(at, end);
    net_log_watch_destroy(watch);
    close(descriptor);
    return result;
}

// All records of all blocks, unpacked.
static void unpack_log(const uint8_t* bytes, size_t size, base_bytes* records) {
    net_log_packer packer;
    size_t at = NET_LOG_PROLOGUE_BYTES;
    assert_true(net_log_packer_init(&packer, NULL));
    base_bytes_init(records, NULL);
    while (at < size) {
        net_log_block block;
        assert_true(net_log_block_header_read(&block, bytes + at));
        at += NET_LOG_BLOCK_HEADER_BYTES;
        uint8_t* target = malloc(NET_LOG_BLOCK_BYTES_MAX);
        assert_non_null(target);
        assert_true(net_log_block_unpack(&block, bytes + at, packer.columns, target));
        base_bytes_write(records, target, block.unpacked_bytes);
        free(target);
        at += block.stored_bytes;
    }
    net_log_packer_deinit(&packer);
}

static bool has_bytes(const base_bytes* records, const void* bytes, size_t size) {
    return memmem(records->data, records->size, bytes, size) != NULL;
}

// @return does any of it have one of the things that are not for spectators?
static bool is_private(const base_bytes* records) {
    uint8_t id[10];
    const uint32_t id_bytes = base_varint_put(id, PLAYER_ID);
    return has_bytes(records, user_data, sizeof user_data - 1) ||
           has_bytes(records, id, id_bytes) || has_bytes(records, "secret-order", 12);
}

static void same_states(net_log_reader* log, net_log_reader* record) {
    net_log_state *whole, *seen;
    uint32_t ticks = 0, values = 0;
    assert_ok(net_log_state_create(log, NULL, &whole));
    assert_ok(net_log_state_create(record, NULL, &seen));
    while (net_log_state_step(whole) == NET_OK) {
        assert_ok(net_log_state_step(seen));
        assert_int_equal(net_log_state_tick(seen), net_log_state_tick(whole));
        assert_int_equal(net_log_state_entity_count(seen), net_log_state_entity_count(whole));
        ecs_entity entity = ECS_ENTITY_NONE;
        while ((entity = net_log_state_next(whole, entity)) != ECS_ENTITY_NONE) {
            for (uint32_t i = 0; i < net_log_state_component_count(whole); i++) {
                const net_log_component* component = net_log_state_component(whole, i);
                net_log_value a[64], b[64];
                assert_true(component->value_count <= 64);
                if (!net_log_state_read(whole, entity, component, a)) continue;
                assert_true(net_log_state_read(seen, entity, net_log_state_component(seen, i), b));
                for (uint32_t k = 0; k < component->value_count; k++, values++)
                    assert_true(net_log_value_equal(&a[k], &b[k]));
            }
        }
        ticks++;
    }
    assert_int_equal(ticks, 650);
    assert_true(values > 650);
    net_log_state_destroy(whole);
    net_log_state_destroy(seen);
}

CASE_WITH(play, self, make_private_log(self), play_close(self),
          a_spectator_gets_what_is_seen_and_nothing_else) {
    base_bytes record, records, of_log;
    net_log_stats stats, of_record;
    char name[128];
    size_t size;
    assert_int_equal(watch_log(self->files.log, UINT64_MAX, &record), NET_ERR_CLOSED);
    snprintf(name, sizeof name, "%s/seen.slog", self->files.folder);
    file_write(name, record.data, record.size);
    net_log_reader* reader = files_reader(name);
    const net_log_info *info = net_log_reader_info(reader),
                       *was = net_log_reader_info(self->reader);
    assert_true(info->is_seen && info->is_closed && !was->is_seen);
    assert_int_equal(info->seed, 0);
    assert_int_equal(was->seed, 4711);
    assert_true(info->identity != was->identity);
    assert_ok(net_log_reader_check(reader));
    assert_ok(net_log_read_stats(self->reader, &stats));
    assert_ok(net_log_read_stats(reader, &of_record));
    assert_int_equal(of_record.ends, stats.ends);
    assert_true(stats.joins == BOTS && stats.inputs > 0 && stats.controls == 1);
    assert_true(of_record.joins == 0 && of_record.inputs == 0 && of_record.controls == 0);
    assert_int_equal(of_record.server_events, stats.server_events);
    uint32_t keyframes, places;
    (void)net_log_reader_keyframes(self->reader, &keyframes);
    (void)net_log_reader_keyframes(reader, &places);
    assert_true(keyframes == 1 && places == 1);
    // The search finds these things where they are.
    uint8_t* log = file_read(self->files.log, &size);
    unpack_log(log, size, &of_log);
    unpack_log(record.data, record.size, &records);
    assert_true(is_private(&of_log));
    assert_false(is_private(&records));
    assert_false(has_bytes(&record, log + NET_LOG_PROLOGUE_BYTES + IDENTITY_AT, 8));
    same_states(self->reader, reader);
    net_log_reader_destroy(reader);
    base_bytes_deinit(&record);
    base_bytes_deinit(&records);
    base_bytes_deinit(&of_log);
    free(log);
}

// The head and all blocks from the newest keyframe on, as a log of their own.
static void begin_late(const char* file, bool is_record, base_bytes* log) {
    net_log_places places = {0};
    net_log_watch* watch;
    bool is_closed;
    struct stat status;
    const int descriptor = net_log_part_open(file, 1, &is_closed);
    assert_true(descriptor >= 0 && fstat(descriptor, &status) == 0);
    uint32_t calls = 1;
    while (!net_log_places_find(&places, descriptor, UINT64_MAX, 2))
        calls++;
    assert_true(calls > 2);
    assert_int_equal(places.end, status.st_size);
    assert_true(places.keyframe > 0 && places.keyframe < places.end && places.tick > 0);
    // One that comes later is not there yet.
    net_log_places early = {0};
    assert_true(net_log_places_find(&early, descriptor, places.tick - 1, UINT32_MAX));
    assert_int_equal(early.keyframe, 0);
    assert_true(early.end < places.keyframe);
    base_bytes_init(log, NULL);
    assert_ok(net_log_watch_create(NULL, &watch));
    assert_ok(net_log_watch_head(watch, descriptor, is_record, log));
    if (is_record) {
        uint64_t at = places.keyframe;
        net_result result = NET_OK;
        while (result == NET_OK)
            result = net_log_watch_step(watch, descriptor, UINT64_MAX, &at, log);
        assert_int_equal(result, NET_ERR_CLOSED);
        assert_int_equal(at, places.end);
    } else {
        const size_t size = places.end - places.keyframe;
        uint8_t* to = base_bytes_extend(log, size);
        assert_true(to && pread(descriptor, to, size, (off_t)places.keyframe) == (ssize_t)size);
    }
    net_log_watch_destroy(watch);
    close(descriptor);
}

CASE_WITH(play, self, make_private_log(self), play_close(self),
          a_late_reader_begins_at_the_newest_keyframe) {
    uint32_t count;
    const net_log_keyframe* newest = net_log_reader_keyframes(self->reader, &count);
    assert_int_equal(count, 1);
    for (uint32_t is_record = 0; is_record < 2; is_record++) {
        base_bytes log, records;
        char name[128];
        begin_late(self->files.log, is_record, &log);
        unpack_log(log.data, log.size, &records);
        if (is_record) assert_false(is_private(&records));
        snprintf(name, sizeof name, "%s/late.slog", self->files.folder);
        file_write(name, log.data, log.size);
        net_log_reader* reader = files_reader(name);
        const net_log_info* info = net_log_reader_info(reader);
        assert_int_equal(info->is_seen, is_record);
        assert_int_equal(info->first_tick, newest->tick + 1);
        assert_int_equal(info->last_tick, net_log_reader_info(self->reader)->last_tick);
        assert_ok(net_log_reader_check(reader));
        assert_true(info->is_closed && !info->is_damaged);
        net_log_reader_destroy(reader);
        base_bytes_deinit(&records);
        base_bytes_deinit(&log);
    }
}

PLAY_CASE(a_spectators_record_stays_behind_the_match, 7, "ann") {
    base_bytes all, early;
    assert_int_equal(watch_log(self->files.log, UINT64_MAX, &all), NET_ERR_CLOSED);
    const uint32_t rate = net_log_reader_info(self->reader)->tick_rate_hz;
    assert_int_equal(watch_log(self->files.log, rate - 1, &early), NET_ERR_CLOSED);
    const size_t head = early.size; // no tick yet: blocks have a second
    base_bytes_deinit(&early);
    assert_int_equal(watch_log(self->files.log, rate, &early), NET_ERR_CLOSED);
    assert_true(head < early.size && early.size < all.size);
    assert_memory_equal(all.data, early.data, early.size);
    base_bytes_deinit(&early);
    base_bytes_deinit(&all);
}

PLAY_CASE(a_spectators_record_ends_at_damage_and_waits_at_a_cut, 7, "ann") {
    base_bytes all, some;
    size_t size;
    uint8_t* log = file_read(self->files.log, &size);
    char name[128];
    snprintf(name, sizeof name, "%s/part.slog", self->files.folder);
    assert_int_equal(watch_log(self->files.log, UINT64_MAX, &all), NET_ERR_CLOSED);
    for (size_t cut = 0; cut < size; cut += 1 + size / 60) {
        file_write(name, log, cut);
        assert_int_equal(watch_log(name, UINT64_MAX, &some), NET_ERR_CLOSED);
        assert_true(some.size <= all.size);
        if (some.size > 0) assert_memory_equal(some.data, all.data, some.size);
        base_bytes_deinit(&some);
    }
    for (size_t at = 0; at < size; at += 1 + size / 60) {
        log[at] ^= 0x40;
        file_write(name, log, size);
        log[at] ^= 0x40;
        const net_result result = watch_log(name, UINT64_MAX, &some);
        assert_true(result == NET_ERR_DAMAGED || result == NET_ERR_CLOSED);
        assert_true(some.size <= all.size);
        base_bytes_deinit(&some);
    }
    base_bytes_deinit(&all);
    free(log);
}

PLAY_CASE(whole_blocks_of_a_log_are_found, 7, "ann") {
    bool is_closed;
    struct stat status;
    const int file = net_log_part_open(self->files.log, 1, &is_closed);
    assert_true(file >= 0 && !is_closed);
    assert_int_equal(fstat(file, &status), 0);
    const uint64_t size = (uint64_t)status.st_size;
    assert_int_equal(net_log_part_whole(file, 0, UINT64_MAX / 2), size);
    const uint64_t first = net_log_part_whole(file, 0, 1); // one block, however long
    assert_true(first > NET_LOG_PROLOGUE_BYTES && first < size);
    assert_int_equal(net_log_part_whole(file, 0, first), first);
    assert_true(net_log_part_whole(file, 0, size - 1) < size);
    assert_int_equal(net_log_part_whole(file, first, size), size - first);
    assert_int_equal(net_log_part_whole(file, size, 1), 0);
    assert_int_equal(net_log_part_whole(file, size + 1, 1), 0);
    assert_int_equal(net_log_part_whole(file, first + 1, 10), 10); // no block begins there
    close(file);
    assert_int_equal(truncate(self->files.log, (off_t)size - 1), 0);
    const int cut = net_log_part_open(self->files.log, 1, &is_closed);
    assert_true(net_log_part_whole(cut, 0, size) < size - 1);
    close(cut);
    assert_int_equal(net_log_part_open(self->files.log, 2, &is_closed), -1);
    assert_int_equal(net_log_part_open("/dev/shm/none.slog", 1, &is_closed), -1);
}

CASE(parts_of_a_log_are_found_by_their_numbers) {
    log_files files;
    net_log_parts parts;
    char name[128];
    bool is_closed;
    files_open_fast(&files);
    assert_false(net_log_parts_find(files.log, &parts));
    file_write(files.log, (const uint8_t*)"c", 1);
    assert_true(net_log_parts_find(files.log, &parts));
    assert_true(parts.first == 1 && parts.newest == 1);
    for (uint32_t i = 3; i <= 4; i++) { // the first two were deleted
        snprintf(name, sizeof name, "%s.seg%04u", files.log, i);
        file_write(name, (const uint8_t*)"b", 1);
    }
    assert_true(net_log_parts_find(files.log, &parts));
    assert_true(parts.first == 3 && parts.newest == 5);
    for (uint32_t i = 1; i <= 6; i++) {
        const int file = net_log_part_open(files.log, i, &is_closed);
        assert_int_equal(file >= 0, i >= 3 && i <= 5);
        if (file < 0) continue;
        assert_int_equal(is_closed, i < 5);
        close(file);
    }
    files_close(&files);
}

// ---- mutated logs, signed again

typedef struct mutant {
    net_log_packer packer;
    uint8_t* payload;
    uint8_t* bytes; // the new file
    size_t size;
} mutant;

// Copy the log with one of its blocks changed in some bytes; all checksums are right.
static void mutate(mutant* self, const uint8_t* log, size_t log_bytes, base_rng* rng) {
    size_t at = NET_LOG_PROLOGUE_BYTES;
    uint32_t count = 0;
    net_log_block block;
    for (; at < log_bytes; at += NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes, count++) {
        assert_true(net_log_block_header_read(&block, log + at));
        // What a server writes is coded by column, whatever the order of its fields.
        if (block.type == NET_LOG_BLOCK_DATA && block.record_count > 4)
            assert_true(block.flags & NET_LOG_FLAG_COLUMNS);
    }
    const uint32_t chosen = base_rng_below(rng, count);
    memcpy(self->bytes, log, NET_LOG_PROLOGUE_BYTES);
    self->size = at = NET_LOG_PROLOGUE_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(net_log_block_header_read(&block, log + at));
        const uint8_t* stored = log + at + NET_LOG_BLOCK_HEADER_BYTES;
        const size_t size = NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
        if (i != chosen) {
            memcpy(self->bytes + self->size, log + at, size);
            self->size += size;
        } else {
            assert_true(net_log_block_unpack(&block, stored, self->packer.columns, self->payload));
            const uint32_t flips = 1 + base_rng_below(rng, 4);
            for (uint32_t k = 0; k < flips; k++)
                self->payload[base_rng_below(rng, block.unpacked_bytes)] ^=
                    (uint8_t)(1u << base_rng_below(rng, 8));
            const size_t packed =
                net_log_packer_pack(&self->packer, &block, self->payload, block.unpacked_bytes);
            memcpy(self->bytes + self->size, self->packer.stored, packed);
            self->size += packed;
        }
        at += size;
    }
}

// ---- MCAP

static mcap_bytes mcap;

static bool has_text(const mcap_bytes* file, const char* text) {
    const size_t size = strlen(text);
    for (size_t i = 0; i + size <= file->size; i++)
        if (memcmp(file->data + i, text, size) == 0) return true;
    return false;
}

PLAY_CASE(a_log_becomes_mcap_with_and_without_its_game, 7, "ann") {
    net_log_exported exported;
    const net_log_export_config config = {.every = 10};
    memset(&mcap, 0, sizeof mcap);
    assert_ok(net_log_export_mcap(self->reader, self->table.module, &config, take_bytes, &mcap,
                                  NULL, &exported));
    mcap_found found = walk_mcap(&mcap);
    assert_true(found.counts[6] >= 1 && exported.ticks == TICKS);
    assert_true(has_text(&mcap, "/components/pos") && has_text(&mcap, "/scene"));
    assert_true(has_text(&mcap, "/inputs") && has_text(&mcap, "/players"));
    assert_true(has_text(&mcap, "game.proto"));
    const uint64_t messages = base_load_le64(found.statistics);
    memset(&mcap, 0, sizeof mcap);
    assert_ok(net_log_export_mcap(self->reader, NULL, &config, take_bytes, &mcap, NULL, &exported));
    found = walk_mcap(&mcap);
    assert_true(has_text(&mcap, "/components/pos") && !has_text(&mcap, "game.proto"));
    assert_true(base_load_le64(found.statistics) > 0);
    assert_true(base_load_le64(found.statistics) <= messages); // without local components
    const net_log_export_config unknown = {.components = "possum"};
    assert_int_equal(net_log_export_mcap(self->reader, self->table.module, &unknown, take_bytes,
                                         &mcap, NULL, &exported),
                     NET_ERR_UNKNOWN);
    memset(&mcap, 0, sizeof mcap);
    mcap.room = 100;
    assert_int_equal(net_log_export_mcap(self->reader, self->table.module, &config, take_bytes,
                                         &mcap, NULL, &exported),
                     NET_ERR_IO);
}

CASE_WITH(play, self, make_private_log(self), play_close(self),
          mcap_has_orders_and_the_values_that_damage_left) {
    net_log_exported exported, before;
    const net_log_export_config config = {.components = "pos", .every = 50};
    memset(&mcap, 0, sizeof mcap);
    assert_ok(net_log_export_mcap(self->reader, NULL, &config, take_bytes, &mcap, NULL, &exported));
    assert_true(has_text(&mcap, "/control") && has_text(&mcap, "shoal.Control"));
    size_t size;
    uint8_t* log = file_read(self->files.log, &size);
    assert_int_equal(truncate(self->files.log, (off_t)(size / 2)), 0); // behind the reader's back
    memset(&mcap, 0, sizeof mcap);
    assert_ok(net_log_export_mcap(self->reader, NULL, &config, take_bytes, &mcap, NULL, &before));
    assert_true(has_text(&mcap, "/components/pos"));
    assert_true(before.rows > 0 && before.rows < exported.rows);
    (void)walk_mcap(&mcap);
    free(log);
}

PLAY_CASE(a_log_is_not_signed_while_memory_lacks_to_check_it, 7, "ann") {
    const net_log_public_key key = {{0}};
    net_log_signed found;
    uint32_t lacking = 0;
    for (uint64_t call = 1;; call++) {
        scarce_memory memory;
        net_log_reader* reader;
        scarce_init(&memory, call, true);
        (void)!net_log_reader_create(&memory.allocator, self->files.log, NULL, &reader);
        if (!reader) continue;
        found.is_signed = true;
        const net_result result = net_log_reader_check_signed(reader, &key, NULL, &found);
        net_log_reader_destroy(reader);
        assert_false(found.is_signed);
        if (result == NET_OK) break;
        assert_int_equal(result, NET_ERR_MEMORY);
        lacking++;
    }
    assert_true(lacking > 0);
}

static void ignore_line(void* context, const char* line) {
    *(size_t*)context += strlen(line);
}

// Each tool comes to an end; what it returns is a code of its contract.
static void use_all_tools(const play* self, net_log_reader* reader, net_log_reader* whole) {
    size_t bytes = 0;
    net_log_exported exported;
    net_log_diff_result differences;
    net_log_copy_result copied;
    net_log_resend_result resent;
    char name[128];
    const net_module* module = self->table.module;
    (void)!net_log_tally(reader, ignore_line, &bytes);
    for (int what = 0; what < 6; what++) {
        const net_log_export_config config = {.what = (net_log_export_what)(what % 3),
                                              .format = (net_log_export_format)(what / 3),
                                              .every = 30};
        (void)!net_log_export(reader, module, &config, ignore_line, &bytes, NULL, &exported);
    }
    const net_log_export_config all = {.every = 30};
    memset(&mcap, 0, sizeof mcap);
    (void)!net_log_export_mcap(reader, module, &all, take_bytes, &mcap, NULL, &exported);
    (void)!net_log_diff(reader, whole, module, 5, ignore_line, &bytes, NULL, &differences);
    snprintf(name, sizeof name, "%s/copy.slog", self->files.folder);
    const net_log_copy_config config = {.output = name};
    if (net_log_copy(reader, &config, NULL, &copied) == NET_OK) {
        net_log_reader* copy = files_reader(name);
        assert_true(net_log_reader_info(copy)->is_closed);
        net_log_reader_destroy(copy);
        unlink(name);
    }
    const net_log_resend_config resend = {.client = 0};
    (void)!net_log_resend(reader, module, &resend, NULL, NULL, NULL, &resent);
}

PLAY_CASE(changed_and_signed_logs_are_read_to_an_end, 7, "ann") {
    size_t size;
    uint8_t* log = file_read(self->files.log, &size);
    char name[128];
    snprintf(name, sizeof name, "%s/whole.slog", self->files.folder);
    file_write(name, log, size);
    net_log_reader* whole = files_reader(name);
    mutant changed = {.payload = malloc(NET_LOG_BLOCK_BYTES_MAX), .bytes = malloc(size * 2 + 4096)};
    assert_true(changed.payload && changed.bytes && net_log_packer_init(&changed.packer, NULL));
    uint32_t opened = 0, count = test_scaled(60, 20);
    for (uint32_t i = 0; i < count; i++) {
        base_rng rng = base_rng_make(i + 1, 3);
        mutate(&changed, log, size, &rng);
        file_write(self->files.log, changed.bytes, changed.size);
        net_log_reader* reader;
        (void)!net_log_reader_create(NULL, self->files.log, NULL, &reader);
        if (!reader) continue;
        use_all_tools(self, reader, whole);
        net_log_reader_destroy(reader);
        opened++;
    }
    assert_true(opened > count / 2);
    net_log_packer_deinit(&changed.packer);
    free(changed.bytes);
    free(changed.payload);
    net_log_reader_destroy(whole);
    free(log);
}
