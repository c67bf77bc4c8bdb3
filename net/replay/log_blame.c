// SPDX-License-Identifier: MIT
// Which system makes a run differ from its log.
//
// A log has the state after a tick, not after a system. So three things can be said, and nothing
// more: which systems may write a component, by what they declare; which of them changed it in that
// tick, in the run here; and, when two runs of the tick from the same keyframe differ, after which
// system they do. The last one is proof: both runs were equal before it.
#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "ecs/ecs.h"
#include "ecs/inspect.h"
#include "replay/log_replay.h"
#include "net/log.h"
#include "net/match.h"

#include <inttypes.h>
#include <string.h>

// ---- who may write ----

static bool may_write(const ecs_world* world, const char* system, const char* component) {
    for (ecs_user use = {0}; ecs_inspect_use(world, system, ECS_USE_WRITE, &use);)
        if (strcmp(use.name, component) == 0) return true;
    return false;
}

static void append(char* text, size_t text_bytes, const char* word, const char* between) {
    const size_t size = strlen(text);
    (void)base_text_format(text + size, text_bytes - size, "%s%s", size > 0 ? between : "", word);
}

void net_log_name_writers(const ecs_world* world, const char* component, char* text,
                          size_t text_bytes) {
    ecs_system_info info;
    BASE_ASSERT(text_bytes > 0);
    text[0] = 0;
    for (uint32_t i = 0; ecs_stage_system_info(world, 0, i, &info); i++) {
        if (info.is_sync_point) continue;
        if (may_write(world, info.name, component))
            append(text, text_bytes, info.name, ",");
        else if (!info.is_confined) { // it may do anything
            append(text, text_bytes, info.name, ",");
            append(text, text_bytes, "(declares_nothing)", "");
        }
    }
}

// ---- two worlds ----

// The first field of two cells whose bytes differ; "value" for types without fields.
static const char* find_field(const ecs_type* type, const void* cell, const void* here) {
    const uint8_t *a = ecs_type_object(type, cell), *b = ecs_type_object(type, here);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        const size_t size = (size_t)field->count * ecs_field_kind_bytes(field->kind);
        if (memcmp(a + field->offset, b + field->offset, size) != 0) return field->name;
    }
    return "value";
}

static bool compare_component(const ecs_world* log, const ecs_world* run, ecs_entity entity,
                              ecs_component_id component, net_verify_result* result) {
    const ecs_component* described = ecs_component_get(run, component);
    const ecs_type* type = ecs_type_get(run, described->type);
    const void* cell = ecs_find(log, entity, component);
    const void* here = ecs_find(run, entity, component);
    if (!cell || !here || type->size == 0) return false;
    if (ecs_type_equal(type, cell, here)) return false;
    result->entity = entity;
    (void)base_text_copy(result->component, sizeof result->component, described->name);
    (void)base_text_copy(result->field, sizeof result->field, find_field(type, cell, here));
    (void)ecs_type_format(type, cell, result->log_value, sizeof result->log_value);
    (void)ecs_type_format(type, here, result->value, sizeof result->value);
    return true;
}

// `name`: compare this component; NULL: those that are not tracked.
static bool is_compared(const ecs_world* run, const ecs_template_component* component,
                        const char* name) {
    if (!name) return !(component->flags & ECS_COMPONENT_TRACKED);
    return strcmp(ecs_component_get(run, component->component)->name, name) == 0;
}

bool net_log_compare_worlds(const ecs_world* log, const ecs_world* run, const char* name,
                            net_verify_result* result) {
    for (ecs_entity at = ecs_entity_next(run, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(run, at)) {
        const ecs_template* template_ = ecs_template_get(run, ecs_entity_template(run, at));
        for (uint32_t i = 0; template_ && i < template_->component_count; i++) {
            if (!is_compared(run, &template_->components[i], name)) continue;
            if (compare_component(log, run, at, template_->components[i].component, result))
                return true;
        }
    }
    return false;
}

// ---- one tick, system by system ----

// Sums of a component's values by entity: equal worlds have equal sums.
typedef struct moment {
    char system[ECS_NAME_BYTES_MAX]; ///< empty: commands and events after the one before
    uint64_t sums[ECS_COMPONENTS_MAX + 1];
} moment;

typedef struct trail {
    moment* moments; ///< the first is before all systems
    uint32_t count, capacity;
    uint64_t state_hash; ///< after the tick
    bool is_the_logs;
} trail;

static void sum(const ecs_world* world, uint64_t sums[ECS_COMPONENTS_MAX + 1]) {
    memset(sums, 0, (ECS_COMPONENTS_MAX + 1) * sizeof *sums);
    for (ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = ecs_entity_next(world, at)) {
        const ecs_template* template_ = ecs_template_get(world, ecs_entity_template(world, at));
        for (uint32_t i = 0; template_ && i < template_->component_count; i++) {
            const ecs_component_id id = template_->components[i].component;
            const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
            const void* cell = ecs_find(world, at, id);
            if (!cell) continue;
            sums[id] += type->size > 0 ? ecs_type_hash(type, cell, at) : base_hash64_mix(at, 1);
        }
    }
}

static void note_writer(void* context, const ecs_world* world, const char* system) {
    trail* self = context;
    BASE_ARRAY_RESERVE(NULL, self->moments, self->capacity, self->count + 1);
    moment* here = &self->moments[self->count];
    *here = (moment){.system = ""};
    if (system) (void)base_text_copy(here->system, sizeof here->system, system);
    sum(world, here->sums);
    // Commands and events that did nothing are no moment.
    const bool is_news =
        system || self->count == 0 || memcmp(here->sums, here[-1].sums, sizeof here->sums) != 0;
    self->count += is_news;
}

// Run on to a tick, and look at it system by system. The replay stays after the tick.
static net_result run_tick(net_log_replay* replay, ecs_tick tick, trail* self) {
    net_match* match = net_log_replay_match(replay);
    ecs_world* world = net_match_world(match);
    net_result result = NET_OK;
    net_log_tick at = {0};
    while (result == NET_OK && net_match_tick(match) < tick) {
        const bool is_it = net_match_tick(match) + 1 == tick;
        if (is_it) ecs_inspect_after(world, note_writer, self);
        result = net_log_replay_step(replay, &at);
        if (is_it) ecs_inspect_after(world, NULL, NULL);
    }
    if (result != NET_OK) return result;
    self->state_hash = ecs_world_state_hash(world);
    self->is_the_logs = at.has_end && at.tick == tick && at.state_hash == self->state_hash;
    return NET_OK;
}

// ---- lines ----

typedef struct saying {
    ecs_world* world;
    ecs_line_fn line;
    void* context;
} saying;

static const char* name_of(const trail* self, uint32_t at, char* text, size_t text_bytes) {
    if (self->moments[at].system[0]) return self->moments[at].system;
    uint32_t before = at;
    while (before > 0 && !self->moments[before].system[0])
        before--;
    (void)base_text_format(text, text_bytes, "commands_and_events_behind:%s",
                           self->moments[before].system[0] ? self->moments[before].system : "-");
    return text;
}

static void say(const saying* to, const char* text) {
    to->line(to->context, text);
}

// The first component in which two moments differ. @return NULL: none.
static const char* differ(const ecs_world* world, const moment* a, const moment* b) {
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        if (a->sums[id] != b->sums[id]) return ecs_component_get(world, (ecs_component_id)id)->name;
    return NULL;
}

// The first place in which two runs of the tick differ: after which system, and in which
// component ("-": none, but other systems ran). @return false: none.
static bool find_difference(const ecs_world* world, const trail runs[2], char* system,
                            size_t system_bytes, const char** component) {
    const trail* longer = runs[0].count > runs[1].count ? &runs[0] : &runs[1];
    uint32_t at = 0;
    *component = NULL;
    for (; at < runs[0].count && at < runs[1].count; at++) {
        *component = differ(world, &runs[0].moments[at], &runs[1].moments[at]);
        if (*component) break;
    }
    if (at == longer->count) return false;
    if (!*component && at > 0) // a system or commands that the other run has not
        *component = differ(world, &longer->moments[at], &longer->moments[at - 1]);
    if (!*component) *component = "-";
    char name[ECS_NAME_BYTES_MAX + 64];
    (void)base_text_copy(system, system_bytes,
                         at > 0 ? name_of(longer, at, name, sizeof name) : "the_keyframe");
    return true;
}

// The systems that changed the component in the tick here. @return their number.
static uint32_t say_writers(const saying* to, const trail* self, ecs_component_id id) {
    char name[ECS_NAME_BYTES_MAX + 64], text[2 * sizeof name + 64];
    uint32_t count = 0;
    for (uint32_t i = 1; i < self->count; i++) {
        if (self->moments[i].sums[id] == self->moments[i - 1].sums[id]) continue;
        (void)base_text_format(text, sizeof text, "by_system changed=%s by=%s",
                               ecs_component_get(to->world, id)->name,
                               name_of(self, i, name, sizeof name));
        say(to, text);
        count++;
    }
    return count;
}

net_result net_log_by_system(net_log_reader* reader, const net_module* module,
                             const net_verify_result* found, ecs_line_fn line, void* context,
                             const base_reporter* reporter) {
    BASE_ASSERT(reader && module && found && found->is_diverged && line);
    trail runs[2] = {{.count = 0}, {.count = 0}};
    net_log_replay* replay = NULL;
    net_result result = NET_OK;
    for (uint32_t i = 0; i < 2 && result == NET_OK; i++) {
        net_log_replay_destroy(replay);
        replay = NULL;
        result = net_log_replay_create(reader, module, found->diverged_tick - 1, reporter, &replay);
        if (result == NET_OK) result = run_tick(replay, found->diverged_tick, &runs[i]);
    }
    if (result == NET_OK) {
        const saying to = {net_match_world(net_log_replay_match(replay)), line, context};
        const ecs_component_id id = ecs_component_find(to.world, found->component);
        uint32_t writers = 0;
        char system[ECS_NAME_BYTES_MAX + 64];
        const char* component;
        if (find_difference(to.world, runs, system, sizeof system, &component)) {
            char text[3 * ECS_NAME_BYTES_MAX + 128];
            (void)base_text_format(text, sizeof text,
                                   "by_system two_runs=differ behind=%s component=%s", system,
                                   component);
            say(&to, text);
        } else {
            if (id != ECS_COMPONENT_NONE) writers = say_writers(&to, &runs[0], id);
            const char* what = writers == 0 ? "no_writer" : writers == 1 ? "one_writer" : "writers";
            if (runs[0].is_the_logs) what = "before_the_keyframe";
            char text[256];
            (void)base_text_format(text, sizeof text,
                                   "by_system two_runs=equal tick=%" PRIu64
                                   " component=%s found=%s",
                                   found->diverged_tick, found->component, what);
            say(&to, text);
        }
    }
    net_log_replay_destroy(replay);
    for (uint32_t i = 0; i < 2; i++)
        BASE_ARRAY_RELEASE(NULL, runs[i].moments, runs[i].capacity);
    return result;
}

// ---- a match that was restored ----

static ecs_entity only_in(const ecs_world* world, const ecs_world* other) {
    ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE);
    while (at != ECS_ENTITY_NONE && ecs_is_alive(other, at))
        at = ecs_entity_next(world, at);
    return at;
}

// Both worlds are those after the tick.
static void name_difference(const ecs_world* log, const ecs_world* run, const trail runs[2],
                            net_verify_result* result) {
    const char* component;
    if (!find_difference(run, runs, result->system, sizeof result->system, &component)) return;
    result->entity = ECS_ENTITY_NONE;
    result->field[0] = 0;
    (void)base_text_copy(result->component, sizeof result->component, component);
    if (!net_log_compare_worlds(log, run, component, result)) {
        const bool is_here = only_in(run, log) != ECS_ENTITY_NONE;
        result->entity = is_here ? only_in(run, log) : only_in(log, run);
        (void)base_text_copy(result->field, sizeof result->field, "entity");
        (void)base_text_copy(result->log_value, sizeof result->log_value, is_here ? "-" : "lives");
        (void)base_text_copy(result->value, sizeof result->value, is_here ? "lives" : "-");
    }
    const ecs_world* there = ecs_is_alive(run, result->entity) ? run : log;
    const ecs_template* is_a = ecs_template_get(there, ecs_entity_template(there, result->entity));
    if (is_a) (void)base_text_copy(result->template_name, sizeof result->template_name, is_a->name);
}

net_result net_log_blame_restored(net_log_reader* reader, const net_module* module,
                                  const base_bytes* save, net_verify_result* result) {
    trail runs[2] = {{.count = 0}, {.count = 0}};
    net_log_replay* replays[2] = {NULL, NULL};
    net_result code = NET_OK;
    for (uint32_t i = 0; i < 2 && code == NET_OK; i++) {
        code = net_log_replay_create(reader, module, 0, NULL, &replays[i]);
        if (code == NET_OK && i == 1)
            code = net_log_replay_enter(replays[i], result->restored_tick, save);
        if (code == NET_OK) code = run_tick(replays[i], result->diverged_tick, &runs[i]);
    }
    if (code == NET_OK)
        name_difference(net_match_world(net_log_replay_match(replays[0])),
                        net_match_world(net_log_replay_match(replays[1])), runs, result);
    for (uint32_t i = 0; i < 2; i++) {
        net_log_replay_destroy(replays[i]);
        BASE_ARRAY_RELEASE(NULL, runs[i].moments, runs[i].capacity);
    }
    return code;
}
