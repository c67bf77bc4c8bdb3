// SPDX-License-Identifier: MIT
// Exports and copies of logs of breakout with bots.
#include "playback/playback_record.h"

#include "logtools/log_values.h"
#include "check/sim_match.h"
#include "net/log_bytes.h"

enum { TICKS = 60 };

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

// ---- numbers

CASE(numbers_are_short_exact_and_json) {
    const int64_t most = INT64_C(1) << 53;
    const struct {
        ecs_number value;
        const char* text;
    } rows[] = {
        {{.kind = ECS_FIELD_F32, .real = (double)0.1f}, "0.1"},
        {{.kind = ECS_FIELD_F32, .real = (double)16777217.0f}, "16777216"},
        {{.kind = ECS_FIELD_F32, .real = (double)(1.0f / 3.0f)}, "0.33333334"},
        {{.kind = ECS_FIELD_F64, .real = 1.0 / 3.0}, "0.3333333333333333"},
        {{.kind = ECS_FIELD_F64, .real = 0.0 / 0.0}, "null"},
        {{.kind = ECS_FIELD_F32, .real = 1.0 / 0.0}, "null"},
        {{.kind = ECS_FIELD_BOOL, .natural = 1}, "true"},
        {{.kind = ECS_FIELD_I8, .whole = -128}, "-128"},
        {{.kind = ECS_FIELD_I64, .whole = most}, "9007199254740992"},
        {{.kind = ECS_FIELD_I64, .whole = most + 1}, "\"9007199254740993\""},
        {{.kind = ECS_FIELD_I64, .whole = -most}, "-9007199254740992"},
        {{.kind = ECS_FIELD_I64, .whole = -most - 1}, "\"-9007199254740993\""},
        {{.kind = ECS_FIELD_U64, .natural = UINT64_MAX}, "\"18446744073709551615\""},
        {{.kind = ECS_FIELD_ENTITY, .natural = ecs_entity_make(12, 3)}, "\"12:3\""},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        char text[NET_LOG_NUMBER_BYTES];
        net_log_number_text(&rows[i].value, text);
        assert_string_equal(text, rows[i].text);
    }
}

// ---- exports

static lines out;

// `module`: NULL without the game.
static net_result export_by(playback_record* self, const net_module* module,
                            const net_log_export_config* config, net_log_exported* exported) {
    memset(&out, 0, sizeof out);
    return net_log_export(self->reader, module, config, add_line, &out, NULL, exported);
}

static net_result export_all(playback_record* self, const net_log_export_config* config,
                             net_log_exported* exported) {
    return export_by(self, self->table.module, config, exported);
}

READ_CASE(a_range_of_ticks_is_exported, .ticks = TICKS) {
    net_log_exported exported;
    net_log_export_config config = {.components = "player", .first = 20, .last = 30, .every = 5};
    assert_ok(export_all(self, &config, &exported));
    assert_int_equal(exported.ticks, 11);
    assert_int_equal(exported.rows, 3 * 2); // ticks 20, 25, 30
    assert_non_null(strstr(out.text, "{\"tick\":20,"));
    assert_non_null(strstr(out.text, "{\"tick\":30,"));
    assert_null(strstr(out.text, "{\"tick\":35,"));
    config = (net_log_export_config){.components = "player", .first = TICKS, .last = TICKS + 9};
    assert_ok(export_all(self, &config, &exported));
    assert_int_equal(exported.ticks, 1);
    config = (net_log_export_config){.components = "player", .first = TICKS + 1};
    assert_ok(export_all(self, &config, &exported));
    assert_int_equal(exported.rows, 0);
    config = (net_log_export_config){.components = "player+"}; // an empty name is none
    assert_int_equal(export_all(self, &config, &exported), NET_ERR_UNKNOWN);
}

// Programs need nothing else: lines that describe the values, then these and all records.
READ_CASE(all_of_a_log_describes_itself_with_and_without_its_game, .ticks = TICKS) {
    net_log_exported exported;
    net_log_export_config config = {
        .what = NET_LOG_EXPORT_ALL, .components = "pos+hits", .every = 30};
    assert_ok(export_all(self, &config, &exported));
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
    assert_ok(export_by(self, NULL, &config, &exported));
    assert_true(strstr(out.text, "\"place\":{") && !strstr(out.text, "{\"schema\":"));
    input = strstr(out.text, ",\"kind\":\"input\",");
    assert_true(input && strstr(input, ",\"payload\":\"") && !strstr(input, "\"value\":"));
    config.components = "possum";
    assert_int_equal(export_all(self, &config, &exported), NET_ERR_UNKNOWN);
    assert_int_equal(out.count, 0);
}

READ_CASE(all_of_a_log_has_orders_and_the_values_that_damage_left, .ticks = 650,
          .is_private = true) {
    net_log_exported exported, before;
    const net_log_export_config config = {
        .what = NET_LOG_EXPORT_ALL, .components = "pos", .every = 50};
    assert_ok(export_by(self, NULL, &config, &exported));
    assert_non_null(
        strstr(out.text, ",\"kind\":\"control\",\"verb\":\"set\",\"arguments\":[\"secret-"));
    struct stat status;
    assert_int_equal(stat(self->files.log, &status), 0);
    assert_int_equal(truncate(self->files.log, status.st_size / 2), 0); // behind the reader's back
    (void)!export_by(self, NULL, &config, &before);
    assert_non_null(strstr(out.text, ",\"entity\":"));
    assert_non_null(strstr(out.text, ",\"kind\":\"input\","));
    assert_true(before.rows > 0 && before.rows < exported.rows);
}

// ---- copies

static void copy_is(const playback_record* self, net_log_reader* reader, ecs_tick last,
                    ecs_tick expected) {
    const char* name = file_name("%s/copy.slog", self->files.folder);
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
    assert_int_equal(files_verify(copy, self->table.module, NET_OK).ticks, expected);
    net_log_reader_destroy(copy);
    assert_int_equal(unlink(name), 0);
}

// Cut after every 194th byte: each part that has a header becomes a whole log of its ticks.
READ_CASE(every_cut_log_becomes_a_whole_one, .ticks = TICKS) {
    size_t size;
    uint8_t* bytes = file_read(self->files.log, &size);
    copy_is(self, self->reader, 0, TICKS);
    copy_is(self, self->reader, 1, 1);
    copy_is(self, self->reader, TICKS - 1, TICKS - 1);
    copy_is(self, self->reader, TICKS + 1, TICKS);
    uint32_t copies = 0;
    net_log_reader* reader;
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

READ_CASE(what_the_log_has_no_values_of_is_found_in_the_next_keyframe, .ticks = KEYFRAME + 30) {
    // Nothing tracks the size of a brick: it is in the sums of what is not tracked. Its place is
    // tracked and not replicated; `pos` is, and changes by less than a quantum. The component's sum
    // of the next tick differs.
    static const char* const components[] = {"rectSize", "brick.pos", "pos"};
    for (uint32_t i = 0; i < BASE_COUNT(components); i++) {
        net_verify_result result;
        meddler context = {.component = components[i]};
        assert_int_equal(
            net_log_verify(self->reader, self->table.module, 0, 0, meddle, &context, NULL, &result),
            NET_ERR_DIVERGED);
        assert_int_equal(result.diverged_tick, MEDDLE_TICK + 1);
        assert_true(context.entity != ECS_ENTITY_NONE && result.entity == context.entity);
        assert_string_equal(result.component, components[i]);
        assert_string_equal(result.field, "y");
        assert_string_equal(result.log_value, context.before);
        assert_string_equal(result.value, context.after);
        assert_string_equal(result.note, "its sum; values of the keyframe after tick 600");
    }
}

// ---- mutated logs, signed again

typedef struct mutation {
    base_rng rng;
    uint32_t chosen; ///< block
} mutation;

static record_act count_block(void* context, uint32_t number, const net_log_block* block,
                              uint8_t* payload) {
    *(uint32_t*)context = number + 1;
    // What a server writes is packed by column, whatever the order of its fields.
    if (block->type == NET_LOG_BLOCK_DATA && block->record_count > 4)
        assert_true(block->flags & NET_LOG_FLAG_ZSTD);
    return RECORD_KEEP;
}

static record_act mutate(void* context, uint32_t number, const net_log_block* block,
                         uint8_t* payload) {
    mutation* self = context;
    if (number != self->chosen) return RECORD_KEEP;
    const uint32_t flips = 1 + base_rng_below(&self->rng, 4);
    for (uint32_t i = 0; i < flips; i++)
        payload[base_rng_below(&self->rng, block->unpacked_bytes)] ^=
            (uint8_t)(1u << base_rng_below(&self->rng, 8));
    return RECORD_CHANGE;
}

static void ignore_line(void* context, const char* line) {
    *(size_t*)context += strlen(line);
}

// Each tool comes to an end; what it returns is a code of its contract.
static void use_all_tools(const playback_record* self, net_log_reader* reader) {
    size_t bytes = 0;
    net_log_exported exported;
    net_log_copy_result copied;
    net_log_resend_result resent;
    const net_module* module = self->table.module;
    for (int what = 0; what < 4; what++) {
        const net_log_export_config config = {.what = (net_log_export_what)what, .every = 30};
        (void)!net_log_export(reader, module, &config, ignore_line, &bytes, NULL, &exported);
    }
    (void)!net_log_dump(reader, module, ignore_line, &bytes);
    const char* name = file_name("%s/copy.slog", self->files.folder);
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

READ_CASE(changed_and_signed_logs_are_read_to_an_end, .ticks = TICKS) {
    const char* changed = file_name("%s/changed.slog", self->files.folder);
    uint32_t blocks = 0, opened = 0, count = test_scaled(60, 20);
    record_forge(self, changed, count_block, &blocks);
    for (uint32_t i = 0; i < count; i++) {
        mutation by = {.rng = base_rng_make(i + 1, 3)};
        by.chosen = base_rng_below(&by.rng, blocks);
        record_forge(self, changed, mutate, &by);
        net_log_reader* reader;
        (void)!net_log_reader_create(NULL, changed, NULL, &reader);
        if (!reader) continue;
        use_all_tools(self, reader);
        net_log_reader_destroy(reader);
        opened++;
    }
    assert_true(opened > count / 2);
}
