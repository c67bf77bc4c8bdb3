// SPDX-License-Identifier: MIT
// Which system makes a run differ from its log.
//
// A log has the state behind a tick, not behind a system. So three things can be said, and nothing
// more: which systems may write a component, by what they declare; which of them changed it in that
// tick, in the run here; and, when two runs of the tick from the same keyframe differ, behind which
// system they do. The last one is proof: both runs were equal in front of it.
#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "ecs/ecs.h"
#include "ecs/inspect.h"
#include "log/log_replay.h"
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

// ---- one tick, system by system ----

// Sums of a component's values by entity: equal worlds have equal sums.
typedef struct moment {
    char system[ECS_NAME_BYTES_MAX]; ///< empty: commands and events behind the one before
    uint64_t sums[ECS_COMPONENTS_MAX + 1];
} moment;

typedef struct trail {
    moment* moments; ///< the first is in front of all systems
    uint32_t count, capacity;
    bool lacks_memory;
    uint64_t state_hash; ///< behind the tick
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

static void take(void* context, const ecs_world* world, const char* system) {
    trail* self = context;
    if (self->lacks_memory ||
        !BASE_ARRAY_RESERVE(NULL, self->moments, self->capacity, self->count + 1)) {
        self->lacks_memory = true;
        return;
    }
    moment* here = &self->moments[self->count];
    *here = (moment){.system = ""};
    if (system) (void)base_text_copy(here->system, sizeof here->system, system);
    sum(world, here->sums);
    // Commands and events that did nothing are no moment.
    const bool is_news =
        system || self->count == 0 || memcmp(here->sums, here[-1].sums, sizeof here->sums) != 0;
    self->count += is_news;
}

// Run a tick of the log from the keyframe before it. *replay stays behind the tick.
static net_result run_tick(net_log_reader* reader, const net_module* module, ecs_tick tick,
                           const base_reporter* reporter, trail* self, net_log_replay** replay) {
    net_result result = net_log_replay_create_at(reader, module, tick - 1, reporter, replay);
    net_log_tick at = {0};
    while (result == NET_OK && net_match_tick(net_log_replay_match(*replay)) < tick) {
        ecs_world* world = net_match_world(net_log_replay_match(*replay));
        const bool is_it = net_match_tick(net_log_replay_match(*replay)) + 1 == tick;
        if (is_it) ecs_inspect_after(world, take, self);
        result = net_log_replay_step(*replay, &at);
        if (is_it) ecs_inspect_after(world, NULL, NULL);
    }
    if (result != NET_OK) return result;
    self->state_hash = ecs_world_state_hash(net_match_world(net_log_replay_match(*replay)));
    self->is_the_logs = at.has_end && at.tick == tick && at.state_hash == self->state_hash;
    return self->lacks_memory ? NET_ERR_MEMORY : NET_OK;
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

// The first place in which two runs of the tick differ. @return false: none.
static bool find_difference(const saying* to, const trail* a, const trail* b) {
    const trail* longer = a->count > b->count ? a : b;
    const uint32_t both = a->count < b->count ? a->count : b->count;
    char name[ECS_NAME_BYTES_MAX + 64], text[2 * sizeof name + 128];
    uint32_t at = 0;
    const char* component = NULL;
    for (; at < both; at++) {
        component = differ(to->world, &a->moments[at], &b->moments[at]);
        if (component) break;
    }
    if (at == longer->count) return false;
    (void)base_text_format(text, sizeof text, "by_system two_runs=differ behind=%s component=%s",
                           at > 0 ? name_of(longer, at, name, sizeof name) : "the_keyframe",
                           component ? component : "-");
    say(to, text);
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

static void say_end(const saying* to, const trail* self, const net_verify_result* found,
                    uint32_t writers) {
    const char* what = writers == 0 ? "no_writer" : writers == 1 ? "one_writer" : "writers";
    if (self->is_the_logs) what = "before_the_keyframe";
    char text[256];
    (void)base_text_format(text, sizeof text,
                           "by_system two_runs=equal tick=%" PRIu64 " component=%s found=%s",
                           found->diverged_tick, found->component, what);
    say(to, text);
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
        result = run_tick(reader, module, found->diverged_tick, reporter, &runs[i], &replay);
    }
    if (result == NET_OK) {
        const saying to = {net_match_world(net_log_replay_match(replay)), line, context};
        const ecs_component_id id = ecs_component_find(to.world, found->component);
        uint32_t writers = 0;
        if (!find_difference(&to, &runs[0], &runs[1])) {
            if (id != ECS_COMPONENT_NONE) writers = say_writers(&to, &runs[0], id);
            say_end(&to, &runs[0], found, writers);
        }
    }
    net_log_replay_destroy(replay);
    for (uint32_t i = 0; i < 2; i++)
        BASE_ARRAY_RELEASE(NULL, runs[i].moments, runs[i].capacity);
    return result;
}
