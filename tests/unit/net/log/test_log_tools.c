// SPDX-License-Identifier: MIT
// Exports, differences, counts and copies of logs of breakout with bots.
#include "log_play.h"
#include "scarce.h"

#include "base/rng.h"
#include "logtools/log_source.h"
#include "net/log_bytes.h"

// ---- numbers

static void number_is(ecs_number value, const char* expected) {
    char text[NET_LOG_NUMBER_BYTES];
    net_log_source_number(&value, text);
    assert_string_equal(text, expected);
}

CASE(numbers_are_short_exact_and_json) {
    number_is((ecs_number){.kind = ECS_FIELD_F32, .real = (double)0.1f}, "0.1");
    number_is((ecs_number){.kind = ECS_FIELD_F32, .real = (double)16777217.0f}, "16777216");
    number_is((ecs_number){.kind = ECS_FIELD_F32, .real = (double)(1.0f / 3.0f)}, "0.33333334");
    number_is((ecs_number){.kind = ECS_FIELD_F64, .real = 1.0 / 3.0}, "0.3333333333333333");
    number_is((ecs_number){.kind = ECS_FIELD_F64, .real = 0.0 / 0.0}, "null");
    number_is((ecs_number){.kind = ECS_FIELD_F32, .real = 1.0 / 0.0}, "null");
    number_is((ecs_number){.kind = ECS_FIELD_BOOL, .natural = 1}, "true");
    number_is((ecs_number){.kind = ECS_FIELD_I8, .whole = -128}, "-128");
    const int64_t most = INT64_C(1) << 53;
    number_is((ecs_number){.kind = ECS_FIELD_I64, .whole = most}, "9007199254740992");
    number_is((ecs_number){.kind = ECS_FIELD_I64, .whole = most + 1}, "\"9007199254740993\"");
    number_is((ecs_number){.kind = ECS_FIELD_I64, .whole = -most}, "-9007199254740992");
    number_is((ecs_number){.kind = ECS_FIELD_I64, .whole = -most - 1}, "\"-9007199254740993\"");
    number_is((ecs_number){.kind = ECS_FIELD_U64, .natural = UINT64_MAX},
              "\"18446744073709551615\"");
    number_is((ecs_number){.kind = ECS_FIELD_ENTITY, .natural = ecs_entity_make(12, 3)},
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
        net_log_source_number(&(ecs_number){.kind = ECS_FIELD_F32, .real = (double)value->x}, x);
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

// Programs need nothing else: lines that describe the values, then these and all records.
PLAY_CASE(all_of_a_log_describes_itself_with_and_without_its_game, 7, "ann") {
    net_log_exported exported;
    net_log_export_config config = {
        .what = NET_LOG_EXPORT_ALL, .components = "pos,hits", .every = 30};
    assert_ok(export_into(self, &config, &out, &exported));
    assert_int_equal(exported.ticks, TICKS);
    assert_int_equal(exported.rows + 3, out.count);
    assert_memory_equal(out.text, "{\"header\":{\"game\":\"breakout\",", 29);
    assert_non_null(strstr(out.text, "\n{\"schema\":{\"game\":\"breakout\","));
    assert_non_null(strstr(out.text,
                           "{\"name\":\"pos\",\"is_varsize\":false,\"fields\":[{\"name\":\"x\","
                           "\"kind\":\"f32\",\"count\":1},"));
    assert_non_null(
        strstr(out.text, "],\"place\":{\"component\":\"pos\",\"first\":0,\"count\":2}}\n"));
    assert_non_null(strstr(out.text, "{\"tick\":30,\"entity\":"));
    assert_non_null(
        strstr(out.text, "{\"tick\":1,\"kind\":\"join\",\"client\":1,\"name\":\"ann\","));
    const char* input = strstr(out.text, ",\"kind\":\"input\",");
    assert_true(input && strstr(input, "\"value\":{") && strstr(input, "},\"payload\":\""));
    memset(&out, 0, sizeof out);
    assert_ok(net_log_export(self->reader, NULL, &config, add_line, &out, NULL, &exported));
    assert_true(strstr(out.text, "\"place\":{") && !strstr(out.text, "{\"schema\":"));
    input = strstr(out.text, ",\"kind\":\"input\",");
    assert_true(input && strstr(input, ",\"payload\":\"") && !strstr(input, "\"value\":"));
    config.components = "possum";
    assert_int_equal(export_into(self, &config, &out, &exported), NET_ERR_UNKNOWN);
    assert_int_equal(out.count, 0);
}

CASE_WITH(play, self, make_private_log(self), play_close(self),
          all_of_a_log_has_orders_and_the_values_that_damage_left) {
    net_log_exported exported, before;
    const net_log_export_config config = {
        .what = NET_LOG_EXPORT_ALL, .components = "pos", .every = 50};
    memset(&out, 0, sizeof out);
    assert_ok(net_log_export(self->reader, NULL, &config, add_line, &out, NULL, &exported));
    assert_non_null(
        strstr(out.text, ",\"kind\":\"control\",\"verb\":\"set\",\"arguments\":[\"secret-"));
    size_t size;
    uint8_t* log = file_read(self->files.log, &size);
    assert_int_equal(truncate(self->files.log, (off_t)(size / 2)), 0); // behind the reader's back
    memset(&out, 0, sizeof out);
    (void)!net_log_export(self->reader, NULL, &config, add_line, &out, NULL, &before);
    assert_non_null(strstr(out.text, ",\"entity\":"));
    assert_non_null(strstr(out.text, ",\"kind\":\"input\","));
    assert_true(before.rows > 0 && before.rows < exported.rows);
    free(log);
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
    for (int what = 0; what < 4; what++) {
        const net_log_export_config config = {.what = (net_log_export_what)what, .every = 30};
        (void)!net_log_export(reader, module, &config, ignore_line, &bytes, NULL, &exported);
    }
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
