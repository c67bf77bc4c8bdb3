// SPDX-License-Identifier: MIT
// Two logs side by side. First their headers, then their records: what entered each tick, and the
// hash of the state after it. Both are known without a run. With the game both matches run again up
// to the first tick whose states differ, and their values are compared there.
#include "log/log_read.h"
#include "log/log_source.h"
#include "net/log_tools.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 512, TEXT_BYTES = 120 };

typedef struct side {
    net_log_reader* reader;
    const net_log_info* info;
    net_log_cursor cursor;
    net_log_record record;
    bool has_record;
    net_log_source* source;
} side;

typedef struct diff {
    side a, b;
    const net_module* module;
    const base_reporter* reporter;
    net_log_diff_result* result;
    ecs_line_fn line;
    void* context;
} diff;

static void tell(diff* self, const char* format, ...) BASE_PRINTF(2, 3);

static void tell(diff* self, const char* format, ...) {
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->result->differences++;
    self->line(self->context, text);
}

// ---- headers

static void compare_number(diff* self, const char* what, uint64_t a, uint64_t b) {
    if (a != b) tell(self, "differs what=%s a=%" PRIu64 " b=%" PRIu64, what, a, b);
}

static void compare_hash(diff* self, const char* what, uint64_t a, uint64_t b) {
    if (a != b) tell(self, "differs what=%s a=%016" PRIx64 " b=%016" PRIx64, what, a, b);
}

static const char* find_setting(const net_log_info* info, const char* setting) {
    const size_t key = strcspn(setting, "=") + 1;
    for (uint32_t i = 0; i < info->setting_count; i++)
        if (strncmp(info->settings[i], setting, key) == 0) return info->settings[i];
    return "none";
}

static void compare_headers(diff* self) {
    const net_log_info* a = self->a.info;
    const net_log_info* b = self->b.info;
    if (strcmp(a->game, b->game) != 0) tell(self, "differs what=game a=%s b=%s", a->game, b->game);
    if (strcmp(a->build, b->build) != 0)
        tell(self, "differs what=build a=%s b=%s", a->build, b->build);
    compare_hash(self, "content_hash", a->content_hash, b->content_hash);
    compare_hash(self, "schema", a->schema_hash, b->schema_hash);
    compare_number(self, "seed", a->seed, b->seed);
    compare_number(self, "tick_rate", a->tick_rate_hz, b->tick_rate_hz);
    compare_number(self, "replicated_index_max", a->replicated_index_max, b->replicated_index_max);
    for (uint32_t i = 0; i < a->setting_count; i++) {
        const char* other = find_setting(b, a->settings[i]);
        if (strcmp(other, a->settings[i]) != 0)
            tell(self, "differs what=setting a=%s b=%s", a->settings[i], other);
    }
    for (uint32_t i = 0; i < b->setting_count; i++)
        if (strcmp(find_setting(a, b->settings[i]), "none") == 0)
            tell(self, "differs what=setting a=none b=%s", b->settings[i]);
}

// ---- records

static bool is_same_item(const net_log_item* a, const net_log_item* b) {
    return a->client == b->client && strcmp(a->name, b->name) == 0 && a->is_bot == b->is_bot &&
           a->player_id == b->player_id && a->is_repeat == b->is_repeat && a->seen == b->seen &&
           a->message == b->message && a->target == b->target &&
           a->payload_bytes == b->payload_bytes &&
           memcmp(a->payload, b->payload, a->payload_bytes) == 0;
}

static const char* const kind_names[NET_LOG_ITEM_KINDS] = {
    [NET_LOG_ITEM_LEAVE] = "leave",
    [NET_LOG_ITEM_JOIN] = "join",
    [NET_LOG_ITEM_EVENT] = "client_event",
    [NET_LOG_ITEM_INPUT] = "input",
};

// @return false when something else entered the tick: told.
static bool compare_begins(diff* self) {
    const net_log_record* a = &self->a.record;
    const net_log_record* b = &self->b.record;
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind <= NET_LOG_ITEM_INPUT; kind++) {
        size_t at_a = 0, at_b = 0;
        for (;;) {
            net_log_item of_a = {0}, of_b = {0};
            const bool is_a = net_log_item_next(a, kind, &at_a, &of_a);
            const bool is_b = net_log_item_next(b, kind, &at_b, &of_b);
            if (!is_a && !is_b) break;
            if (is_a && is_b && is_same_item(&of_a, &of_b)) continue;
            const uint32_t client = is_a ? of_a.client : of_b.client;
            tell(self, "differs what=%s tick=%" PRIu64 " client=%u", kind_names[kind], a->tick,
                 client);
            self->result->input_tick = a->tick;
            return false;
        }
    }
    return true;
}

// The next begin or end.
static bool read_next(side* of) {
    do {
        of->has_record = net_log_cursor_next(of->reader, &of->cursor, &of->record);
    } while (of->has_record && of->record.kind != NET_LOG_KIND_BEGIN &&
             of->record.kind != NET_LOG_KIND_END);
    return of->has_record;
}

// The next records of a tick that both logs have: a slice begins later, and ticks may be lost.
static bool read_both(diff* self) {
    side *a = &self->a, *b = &self->b;
    bool is_read = read_next(a) && read_next(b);
    while (is_read && (a->record.tick != b->record.tick || a->record.kind != b->record.kind)) {
        const bool is_same_tick = a->record.tick == b->record.tick;
        if (is_same_tick && self->result->input_tick == 0) {
            self->result->input_tick = a->record.tick;
            tell(self, "differs what=records tick=%" PRIu64, a->record.tick);
        }
        // Of one tick, the log with one more begin has something to read.
        const bool is_a =
            is_same_tick ? a->record.kind == NET_LOG_KIND_BEGIN : a->record.tick < b->record.tick;
        is_read = read_next(is_a ? a : b);
    }
    return is_read;
}

static net_result compare_records(diff* self) {
    net_log_diff_result* result = self->result;
    self->a.cursor = net_log_cursor_begin(self->a.reader);
    self->b.cursor = net_log_cursor_begin(self->b.reader);
    while (result->state_tick == 0 && read_both(self)) {
        const net_log_record* a = &self->a.record;
        const net_log_record* b = &self->b.record;
        if (a->kind == NET_LOG_KIND_BEGIN) {
            if (result->input_tick == 0) (void)!compare_begins(self);
            continue;
        }
        if (a->state_hash == b->state_hash) {
            result->ticks++;
            continue;
        }
        result->state_tick = a->tick;
        tell(self, "differs what=state tick=%" PRIu64 " a=%016" PRIx64 " b=%016" PRIx64, a->tick,
             a->state_hash, b->state_hash);
    }
    compare_number(self, "first_tick", self->a.info->first_tick, self->b.info->first_tick);
    compare_number(self, "last_tick", self->a.info->last_tick, self->b.info->last_tick);
    return self->a.cursor.has_failed || self->b.cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

// ---- values

static net_result run_until(diff* self, side* of, ecs_tick tick) {
    net_result result =
        net_log_source_create(of->reader, self->module, tick, self->reporter, &of->source);
    while (result == NET_OK && net_log_source_tick(of->source) < tick)
        result = net_log_source_step(of->source);
    return result;
}

static void compare_text(diff* self, ecs_entity entity, uint32_t position) {
    char a[TEXT_BYTES], b[TEXT_BYTES];
    net_log_source_text(self->a.source, entity, position, a, sizeof a);
    net_log_source_text(self->b.source, entity, position, b, sizeof b);
    if (strcmp(a, b) == 0) return;
    tell(self, "differs what=value entity=%u:%u component=%s a=%s b=%s", ecs_entity_index(entity),
         ecs_entity_generation(entity), net_log_source_component(self->a.source, position)->name, a,
         b);
}

static void compare_fields(diff* self, ecs_entity entity, const net_log_component* component,
                           const net_log_value* a, const net_log_value* b) {
    char of_a[NET_LOG_NUMBER_BYTES], of_b[NET_LOG_NUMBER_BYTES];
    for (uint32_t f = 0; f < component->field_count; f++) {
        for (uint32_t k = 0; k < component->fields[f].count; k++, a++, b++) {
            net_log_source_number(a, of_a);
            net_log_source_number(b, of_b);
            if (strcmp(of_a, of_b) == 0) continue;
            tell(self, "differs what=value entity=%u:%u component=%s field=%s a=%s b=%s",
                 ecs_entity_index(entity), ecs_entity_generation(entity), component->name,
                 component->fields[f].name, of_a, of_b);
        }
    }
}

static net_result compare_entity(diff* self, ecs_entity entity) {
    const base_allocator* allocator = net_log_reader_allocator(self->a.reader);
    const char* a = net_log_source_template(self->a.source, entity);
    const char* b = net_log_source_template(self->b.source, entity);
    if (!a || !b || strcmp(a, b) != 0) {
        tell(self, "differs what=entity entity=%u:%u a=%s b=%s", ecs_entity_index(entity),
             ecs_entity_generation(entity), a ? a : "none", b ? b : "none");
        return NET_OK;
    }
    for (uint32_t i = 0; i < net_log_source_component_count(self->a.source); i++) {
        const net_log_component* component = net_log_source_component(self->a.source, i);
        if (!net_log_source_has(self->a.source, entity, i) ||
            !net_log_source_has(self->b.source, entity, i))
            continue;
        if (component->is_varsize) compare_text(self, entity, i);
        if (component->value_count == 0) continue;
        const size_t bytes = component->value_count * sizeof(net_log_value);
        net_log_value* values = base_allocate_zero(allocator, 2 * bytes);
        if (!values) return NET_ERR_MEMORY;
        net_log_source_read(self->a.source, entity, i, values);
        net_log_source_read(self->b.source, entity, i, values + component->value_count);
        compare_fields(self, entity, component, values, values + component->value_count);
        base_release(allocator, values, 2 * bytes);
    }
    return NET_OK;
}

// Every entity that one of them has, by rising index. Of two that share an
// index, that of A comes first.
static net_result compare_values(diff* self, uint32_t differences_max) {
    net_result result = run_until(self, &self->a, self->result->state_tick);
    if (result == NET_OK) result = run_until(self, &self->b, self->result->state_tick);
    if (result != NET_OK) return result;
    const uint64_t most = self->result->differences + differences_max;
    ecs_entity a = net_log_source_next(self->a.source, ECS_ENTITY_NONE);
    ecs_entity b = net_log_source_next(self->b.source, ECS_ENTITY_NONE);
    while (result == NET_OK && (a != ECS_ENTITY_NONE || b != ECS_ENTITY_NONE)) {
        if (self->result->differences >= most) {
            self->line(self->context, "and more");
            break;
        }
        const bool is_a = b == ECS_ENTITY_NONE ||
                          (a != ECS_ENTITY_NONE && ecs_entity_index(a) <= ecs_entity_index(b));
        const bool is_b = a == b || !is_a;
        result = compare_entity(self, is_a ? a : b);
        if (is_a) a = net_log_source_next(self->a.source, a);
        if (is_b) b = net_log_source_next(self->b.source, b);
    }
    return result;
}

net_result net_log_diff(net_log_reader* a, net_log_reader* b, const net_module* module,
                        uint32_t differences_max, ecs_line_fn line, void* context,
                        const base_reporter* reporter, net_log_diff_result* result_out) {
    BASE_ASSERT(a && b && a != b && line && result_out);
    *result_out = (net_log_diff_result){0};
    diff self = {.a = {.reader = a, .info = net_log_reader_info(a)},
                 .b = {.reader = b, .info = net_log_reader_info(b)},
                 .module = module,
                 .reporter = reporter,
                 .result = result_out,
                 .line = line,
                 .context = context};
    compare_headers(&self);
    result_out->is_other_game = strcmp(self.a.info->game, self.b.info->game) != 0;
    if (result_out->is_other_game) return NET_OK;
    net_result result = compare_records(&self);
    if (result == NET_OK && result_out->state_tick > 0) {
        result = compare_values(&self, differences_max);
        // Without the game and without values in the logs there is no more to say.
        if (result == NET_ERR_UNKNOWN && !module) result = NET_OK;
    }
    net_log_source_destroy(self.a.source);
    net_log_source_destroy(self.b.source);
    return result;
}
