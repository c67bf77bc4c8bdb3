// SPDX-License-Identifier: MIT
// A run looks at the world of its match, so a value is read where the systems left it. Without the
// game the values come from the log's state (net/log.h): replicated ones, as clients
// get them.
#include "logtools/log_source.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "ecs/save.h"
#include "log/log_read.h"
#include "net/log_tools.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_MAX (INT64_C(1) << 53) ///< beyond it JSON readers lose digits

struct net_log_source {
    base_owner owner;
    const base_reporter* reporter;
    const char* file;
    net_log_state* state; // NULL: a run, which has all that follows
    net_log_replay* replay;
    ecs_world* world;
    net_log_component* components; // position: component id - 1
    uint32_t component_count;
    net_log_field* fields; // of all components
    uint32_t field_count;
    ecs_tick diverged;
};

static const ecs_type* type_at(const net_log_source* source, uint32_t position) {
    const ecs_component* component =
        ecs_component_get(source->world, (ecs_component_id)(position + 1));
    return ecs_type_get(source->world, component->type);
}

static void list_components(net_log_source* source) {
    source->component_count = ecs_component_count(source->world);
    for (uint32_t i = 0; i < source->component_count; i++)
        source->field_count += type_at(source, i)->field_count;
    const base_allocator* allocator = &source->owner.allocator;
    source->components =
        base_allocate_zero(allocator, (source->component_count + 1) * sizeof *source->components);
    source->fields =
        base_allocate_zero(allocator, (source->field_count + 1) * sizeof *source->fields);
    net_log_field* fields = source->fields;
    for (uint32_t i = 0; i < source->component_count; i++) {
        source->components[i] =
            net_log_component_make(source->world, (ecs_component_id)(i + 1), fields);
        fields += source->components[i].field_count;
    }
}

static net_result open_state(net_log_source* source, net_log_reader* reader, ecs_tick from) {
    net_result result = net_log_state_create(reader, NULL, source->reporter, &source->state);
    if (result == NET_OK && from > 1) result = net_log_state_seek(source->state, from - 1);
    return result;
}

static net_result open_run(net_log_source* source, net_log_reader* reader, const net_module* module,
                           ecs_tick from) {
    const net_result result = net_log_replay_create(reader, module, from > 1 ? from - 1 : 0,
                                                    source->reporter, &source->replay);
    if (result != NET_OK) return result;
    source->world = net_match_world(net_log_replay_match(source->replay));
    list_components(source);
    return NET_OK;
}

net_result net_log_source_create(net_log_reader* reader, const net_module* module, ecs_tick from,
                                 const base_reporter* reporter, net_log_source** source_out) {
    BASE_ASSERT(reader && source_out);
    *source_out = NULL;
    net_log_source* source = base_owner_create(reader->allocator, sizeof *source);
    source->reporter = reporter;
    source->file = reader->file;
    net_result result =
        module ? open_run(source, reader, module, from) : open_state(source, reader, from);
    if (result != NET_OK) {
        net_log_source_destroy(source);
        return result;
    }
    *source_out = source;
    return NET_OK;
}

void net_log_source_destroy(net_log_source* source) {
    if (!source) return;
    net_log_state_destroy(source->state);
    net_log_replay_destroy(source->replay);
    base_owner_destroy(source);
}

net_result net_log_source_step(net_log_source* source) {
    if (source->state) return net_log_state_step(source->state);
    net_log_tick tick = {0};
    net_result result = NET_OK;
    while (result == NET_OK && !tick.has_end)
        result = net_log_replay_step(source->replay, &tick);
    if (result != NET_OK || source->diverged > 0) return result;
    if (ecs_world_state_hash(source->world) == tick.state_hash) return NET_OK;
    source->diverged = tick.tick;
    base_report(source->reporter, source->file, 0,
                "warning: this run differs from the log from tick %" PRIu64 " on", tick.tick);
    return NET_OK;
}

bool net_log_source_is_whole(const net_log_source* source) {
    return !source->state || net_log_state_is_whole(source->state);
}

ecs_tick net_log_source_tick(const net_log_source* source) {
    if (source->state) return net_log_state_tick(source->state);
    return net_match_tick(net_log_replay_match(source->replay));
}

net_match* net_log_source_match(const net_log_source* source) {
    return source->replay ? net_log_replay_match(source->replay) : NULL;
}

ecs_tick net_log_source_diverged(const net_log_source* source) {
    return source->diverged;
}

uint32_t net_log_source_component_count(const net_log_source* source) {
    if (source->state) return net_log_state_component_count(source->state);
    return source->component_count;
}

const net_log_component* net_log_source_component(const net_log_source* source, uint32_t position) {
    BASE_ASSERT(position < net_log_source_component_count(source));
    if (source->state) return net_log_state_component(source->state, position);
    return &source->components[position];
}

bool net_log_source_is_replicated(const net_log_source* source, uint32_t position) {
    if (source->state) return true;
    for (uint32_t i = 1; i <= ecs_template_count(source->world); i++) {
        const ecs_template_component* part = ecs_template_find_component(
            ecs_template_get(source->world, (ecs_template_id)i), (ecs_component_id)(position + 1));
        if (part && (part->flags & ECS_COMPONENT_REPLICATED)) return true;
    }
    return false;
}

ecs_entity net_log_source_next(const net_log_source* source, ecs_entity before) {
    if (source->state) return net_log_state_next(source->state, before);
    return ecs_entity_next(source->world, before);
}

const char* net_log_source_template(const net_log_source* source, ecs_entity entity) {
    if (source->state) return net_log_state_template(source->state, entity);
    return ecs_entity_template_name(source->world, entity);
}

static const void* find_row(const net_log_source* source, ecs_entity entity, uint32_t position) {
    BASE_ASSERT(position < source->component_count);
    return ecs_find(source->world, entity, (ecs_component_id)(position + 1));
}

static bool has_state(const net_log_source* source, ecs_entity entity, uint32_t position) {
    const net_log_component* asked = net_log_state_component(source->state, position);
    const net_log_component* component;
    for (uint32_t i = 0; (component = net_log_state_template_component(source->state, entity, i));
         i++)
        if (component->id == asked->id) return true;
    return false;
}

bool net_log_source_has(const net_log_source* source, ecs_entity entity, uint32_t position) {
    if (source->state) return has_state(source, entity, position);
    return find_row(source, entity, position) != NULL;
}

void net_log_source_read(const net_log_source* source, ecs_entity entity, uint32_t position,
                         ecs_number* values) {
    if (source->state) {
        const net_log_component* component = net_log_state_component(source->state, position);
        bool is_read = net_log_state_read(source->state, entity, component, values);
        BASE_ASSERT(is_read);
        return;
    }
    const ecs_type* type = type_at(source, position);
    const void* cell = find_row(source, entity, position);
    BASE_ASSERT(cell && !source->components[position].is_varsize);
    const uint8_t* object = ecs_type_object(type, cell);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        for (uint32_t k = 0; k < field->count; k++)
            *values++ = ecs_number_get(field->kind, object + field->offset +
                                                        k * ecs_field_kind_bytes(field->kind));
    }
}

// The bytes of a type that is not here, as hex.
static void put_bytes(const net_log_source* source, ecs_entity entity, uint32_t position,
                      char* text, size_t text_bytes) {
    size_t size = 0;
    const net_log_component* component = net_log_state_component(source->state, position);
    const uint8_t* data = net_log_state_bytes(source->state, entity, component, &size);
    text[0] = 0;
    for (size_t i = 0; data && i < size && 2 * i + 3 <= text_bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
}

void net_log_source_text(const net_log_source* source, ecs_entity entity, uint32_t position,
                         char* text, size_t text_bytes) {
    if (source->state) {
        put_bytes(source, entity, position, text, text_bytes);
        return;
    }
    const void* cell = find_row(source, entity, position);
    BASE_ASSERT(cell && text_bytes > 0);
    (void)ecs_type_format(type_at(source, position), cell, text, text_bytes);
}

void net_log_source_number(const ecs_number* value, char text[NET_LOG_NUMBER_BYTES]) {
    char plain[NET_LOG_NUMBER_BYTES - 2];
    const ecs_entity entity = (ecs_entity)value->natural;
    switch (value->kind) {
    case ECS_FIELD_BOOL:
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, value->natural ? "true" : "false");
        return;
    case ECS_FIELD_F32:
    case ECS_FIELD_F64:
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, "null");
        if (isfinite(value->real)) ecs_number_text(value, text, NET_LOG_NUMBER_BYTES);
        return;
    case ECS_FIELD_ENTITY:
        (void)base_text_format(text, NET_LOG_NUMBER_BYTES, "\"%u:%u\"", ecs_entity_index(entity),
                               ecs_entity_generation(entity));
        return;
    default:
        ecs_number_text(value, plain, sizeof plain);
        (void)base_text_format(text, NET_LOG_NUMBER_BYTES,
                               fabsl(ecs_number_value(value)) > WHOLE_MAX ? "\"%s\"" : "%s", plain);
    }
}

// ---- where an entity is ----

enum { RANK_NONE, RANK_PLAIN, RANK_NAMED = NET_LOG_WHERE_NAMED, RANK_RULE };

net_log_component net_log_component_make(const ecs_world* world, ecs_component_id id,
                                         net_log_field* fields) {
    const ecs_component* component = ecs_component_get(world, id);
    const ecs_type* type = ecs_type_get(world, component->type);
    net_log_component made = {.id = component->id,
                              .name = component->name,
                              .type = type->name,
                              .is_varsize = type->ops && type->field_count == 0,
                              .field_count = type->field_count,
                              .fields = fields};
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        fields[i] = (net_log_field){.name = field->name,
                                    .kind = field->kind,
                                    .count = field->count,
                                    .is_angle = ecs_quant_is_angle(&field->quant)};
        made.value_count += field->count;
    }
    return made;
}

static bool is(const char* name, const char* other) {
    return strcmp(name, other) == 0;
}

// "pos", "position": 2 or 3 numbers.
static bool is_place(const char* name, uint32_t count) {
    return count >= 2 && count <= 3 && (is(name, "pos") || is(name, "position"));
}

static bool is_real(const net_log_field* field) {
    return field->kind == ECS_FIELD_F32 || field->kind == ECS_FIELD_F64;
}

// Of a component that is nothing else. @return how many; 0: it has others.
static uint32_t count_reals(const net_log_component* component, bool* has_angle) {
    *has_angle = false;
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (!is_real(&component->fields[i])) return 0;
        *has_angle = *has_angle || component->fields[i].is_angle;
    }
    return component->value_count;
}

// By the name of a field, else by that of a component that has no other numbers. They are real.
static bool find_named_place(const net_log_component* component, net_log_numbers* part) {
    bool has_angle;
    for (uint32_t i = 0, first = 0; i < component->field_count; i++) {
        const net_log_field* field = &component->fields[i];
        if (is_real(field) && is_place(field->name, field->count)) {
            *part = (net_log_numbers){i, first, field->count};
            return true;
        }
        first += field->count;
    }
    const uint32_t count = count_reals(component, &has_angle);
    if (!is_place(component->name, count)) return false;
    *part = (net_log_numbers){0, 0, count};
    return true;
}

bool net_log_where_add(net_log_where* place, const net_log_component* component, const char* rule,
                       bool is_replicated) {
    net_log_numbers part = {0};
    bool has_angle = false;
    uint32_t rank = RANK_NONE;
    if (component->is_varsize) return false;
    if (find_named_place(component, &part)) {
        rank = RANK_NAMED;
    } else {
        part.count = count_reals(component, &has_angle);
        if (part.count < 2 || part.count > 3 || has_angle) return false;
        if (is_replicated) rank = RANK_PLAIN;
    }
    if (is(component->name, rule ? rule : "pos")) rank = RANK_RULE;
    if (rank > place->rank)
        *place = (net_log_where){.component = component->id, .part = part, .rank = rank};
    return true;
}

// ---- two logs side by side ----

// Two logs side by side. First their headers, then their records: what entered each tick, and the
// hash of the state after it. Both are known without a run. With the game both matches run again up
// to the first tick whose states differ, and their values are compared there.

enum { LINE_BYTES = 512, TEXT_BYTES = 120 };

typedef struct side {
    net_log_reader* reader;
    const net_log_info* info;
    net_log_cursor cursor;
    net_log_record record;
    uint64_t controls; // a hash of those before the tick; 0: none
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

static void report(diff* self, const char* format, ...) BASE_PRINTF(2, 3);

static void report(diff* self, const char* format, ...) {
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
    if (a != b) report(self, "differs what=%s a=%" PRIu64 " b=%" PRIu64, what, a, b);
}

static void compare_hash(diff* self, const char* what, uint64_t a, uint64_t b) {
    if (a != b) report(self, "differs what=%s a=%016" PRIx64 " b=%016" PRIx64, what, a, b);
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
    if (strcmp(a->game, b->game) != 0)
        report(self, "differs what=game a=%s b=%s", a->game, b->game);
    if (strcmp(a->build, b->build) != 0)
        report(self, "differs what=build a=%s b=%s", a->build, b->build);
    compare_hash(self, "content_hash", a->content_hash, b->content_hash);
    compare_hash(self, "schema", a->schema_hash, b->schema_hash);
    compare_number(self, "seed", a->seed, b->seed);
    compare_number(self, "tick_rate", a->tick_rate_hz, b->tick_rate_hz);
    compare_number(self, "replicated_index_max", a->replicated_index_max, b->replicated_index_max);
    for (uint32_t i = 0; i < a->setting_count; i++) {
        const char* other = find_setting(b, a->settings[i]);
        if (strcmp(other, a->settings[i]) != 0)
            report(self, "differs what=setting a=%s b=%s", a->settings[i], other);
    }
    for (uint32_t i = 0; i < b->setting_count; i++)
        if (strcmp(find_setting(a, b->settings[i]), "none") == 0)
            report(self, "differs what=setting a=none b=%s", b->settings[i]);
}

// ---- records

static bool is_same_item(const net_log_item* a, const net_log_item* b) {
    return a->client == b->client && strcmp(a->name, b->name) == 0 && a->is_bot == b->is_bot &&
           a->player_id == b->player_id && a->is_repeat == b->is_repeat && a->seen == b->seen &&
           a->message == b->message && a->target == b->target &&
           a->payload_bytes == b->payload_bytes &&
           memcmp(a->payload, b->payload, a->payload_bytes) == 0;
}

const char* const net_log_item_words[NET_LOG_ITEM_KINDS] = {
    [NET_LOG_ITEM_LEAVE] = "leave",
    [NET_LOG_ITEM_JOIN] = "join",
    [NET_LOG_ITEM_EVENT] = "client_event",
    [NET_LOG_ITEM_INPUT] = "input",
    [NET_LOG_ITEM_SERVER_EVENT] = "server_event",
};

static void compare_begins(diff* self) {
    const net_log_record* a = &self->a.record;
    const net_log_record* b = &self->b.record;
    if (self->a.controls != self->b.controls) {
        report(self, "differs what=control tick=%" PRIu64, a->tick);
        self->result->input_tick = a->tick;
        return;
    }
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind <= NET_LOG_ITEM_INPUT; kind++) {
        size_t at_a = 0, at_b = 0;
        for (;;) {
            net_log_item of_a = {0}, of_b = {0};
            const bool is_a = net_log_item_next(a, kind, &at_a, &of_a);
            const bool is_b = net_log_item_next(b, kind, &at_b, &of_b);
            if (!is_a && !is_b) break;
            if (is_a && is_b && is_same_item(&of_a, &of_b)) continue;
            const uint32_t client = is_a ? of_a.client : of_b.client;
            report(self, "differs what=%s tick=%" PRIu64 " client=%u", net_log_item_words[kind],
                   a->tick, client);
            self->result->input_tick = a->tick;
            return;
        }
    }
}

// The next begin or end.
static bool read_next(side* of) {
    const net_log_record* record = &of->record;
    if (record->kind == NET_LOG_KIND_END) of->controls = 0;
    while (net_log_cursor_next(of->reader, &of->cursor, &of->record)) {
        if (record->kind == NET_LOG_KIND_BEGIN || record->kind == NET_LOG_KIND_END) return true;
        if (record->kind == NET_LOG_KIND_CONTROL)
            of->controls = base_hash64(record->body, record->body_bytes, of->controls) | 1;
    }
    return false;
}

// The next records of a tick that both logs have: a slice begins later, and ticks may be lost.
static bool read_both(diff* self) {
    side *a = &self->a, *b = &self->b;
    bool is_read = read_next(a) && read_next(b);
    while (is_read && (a->record.tick != b->record.tick || a->record.kind != b->record.kind)) {
        const bool is_same_tick = a->record.tick == b->record.tick;
        if (is_same_tick && self->result->input_tick == 0) {
            self->result->input_tick = a->record.tick;
            report(self, "differs what=records tick=%" PRIu64, a->record.tick);
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
            if (result->input_tick == 0) compare_begins(self);
            continue;
        }
        if (a->state_hash == b->state_hash) {
            result->ticks++;
            continue;
        }
        result->state_tick = a->tick;
        report(self, "differs what=state tick=%" PRIu64 " a=%016" PRIx64 " b=%016" PRIx64, a->tick,
               a->state_hash, b->state_hash);
    }
    compare_number(self, "first_tick", self->a.info->first_tick, self->b.info->first_tick);
    compare_number(self, "last_tick", self->a.info->last_tick, self->b.info->last_tick);
    return self->a.cursor.has_failed || self->b.cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

// ---- values

static net_result run_until(diff* self, side* of, ecs_tick tick) {
    const net_module* module = of->info->is_seen ? NULL : self->module;
    net_result result =
        net_log_source_create(of->reader, module, tick, self->reporter, &of->source);
    while (result == NET_OK && net_log_source_tick(of->source) < tick)
        result = net_log_source_step(of->source);
    return result;
}

static void compare_text(diff* self, ecs_entity entity, uint32_t position) {
    char a[TEXT_BYTES], b[TEXT_BYTES];
    net_log_source_text(self->a.source, entity, position, a, sizeof a);
    net_log_source_text(self->b.source, entity, position, b, sizeof b);
    if (strcmp(a, b) == 0) return;
    report(self, "differs what=value entity=%u:%u component=%s a=%s b=%s", ecs_entity_index(entity),
           ecs_entity_generation(entity), net_log_source_component(self->a.source, position)->name,
           a, b);
}

static void compare_fields(diff* self, ecs_entity entity, const net_log_component* component,
                           const ecs_number* a, const ecs_number* b) {
    char of_a[NET_LOG_NUMBER_BYTES], of_b[NET_LOG_NUMBER_BYTES];
    for (uint32_t f = 0; f < component->field_count; f++) {
        for (uint32_t k = 0; k < component->fields[f].count; k++, a++, b++) {
            net_log_source_number(a, of_a);
            net_log_source_number(b, of_b);
            if (strcmp(of_a, of_b) == 0) continue;
            report(self, "differs what=value entity=%u:%u component=%s field=%s a=%s b=%s",
                   ecs_entity_index(entity), ecs_entity_generation(entity), component->name,
                   component->fields[f].name, of_a, of_b);
        }
    }
}

static void compare_entity(diff* self, ecs_entity entity) {
    const base_allocator* allocator = self->a.reader->allocator;
    const char* a = net_log_source_template(self->a.source, entity);
    const char* b = net_log_source_template(self->b.source, entity);
    if (!a || !b || strcmp(a, b) != 0) {
        report(self, "differs what=entity entity=%u:%u a=%s b=%s", ecs_entity_index(entity),
               ecs_entity_generation(entity), a ? a : "none", b ? b : "none");
        return;
    }
    for (uint32_t i = 0; i < net_log_source_component_count(self->a.source); i++) {
        const net_log_component* component = net_log_source_component(self->a.source, i);
        if (!net_log_source_has(self->a.source, entity, i) ||
            !net_log_source_has(self->b.source, entity, i))
            continue;
        if (component->is_varsize) compare_text(self, entity, i);
        if (component->value_count == 0) continue;
        const size_t bytes = component->value_count * sizeof(ecs_number);
        ecs_number* values = base_allocate_zero(allocator, 2 * bytes);
        net_log_source_read(self->a.source, entity, i, values);
        net_log_source_read(self->b.source, entity, i, values + component->value_count);
        compare_fields(self, entity, component, values, values + component->value_count);
        base_release(allocator, values, 2 * bytes);
    }
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
    while (a != ECS_ENTITY_NONE || b != ECS_ENTITY_NONE) {
        if (self->result->differences >= most) {
            self->line(self->context, "and more");
            break;
        }
        const bool is_a = b == ECS_ENTITY_NONE ||
                          (a != ECS_ENTITY_NONE && ecs_entity_index(a) <= ecs_entity_index(b));
        const bool is_b = a == b || !is_a;
        compare_entity(self, is_a ? a : b);
        if (is_a) a = net_log_source_next(self->a.source, a);
        if (is_b) b = net_log_source_next(self->b.source, b);
    }
    return NET_OK;
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
