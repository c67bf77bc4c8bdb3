// SPDX-License-Identifier: MIT
// Every annotation once. The systems are as small as they can be and still show their effect.

#include "sample.h"
#include "sample.pb-c.h"

#include "sample.es.h"

ES_REGISTER_TYPES
ES_MESSAGES

const sample_message sample_messages[SAMPLE_MESSAGES] = {
    [SAMPLE_ORDER] = {order_to_wire, order_from_wire},
    [SAMPLE_SAID] = {said_to_wire, said_from_wire},
    [SAMPLE_SHOUTED] = {shouted_to_wire, shouted_from_wire},
    [SAMPLE_WAVE] = {wave_to_wire, wave_from_wire},
};

// S3.1: nothing hidden, an ordinary function over what it is given.
ES_TAG(server | predict)
static void move_es(const ecs_stage* stage, ecs_vec3* pos, const ecs_vec3* vel) {
    pos->x += vel->x * stage->dt;
    pos->y += vel->y * stage->dt;
    pos->z += vel->z * stage->dt;
}

// Both must be there.
ES_TAG(server, render | film)
static void never_here_es(ES_CONTEXT sample_log* log, ecs_vec3* pos) {
    pos->x = 1000.0f;
    sample_say(log, 'n');
}

// S5.17: a default where the component is missing.
ES_AFTER(move_es)
ES_BEFORE(late_es)
static void drag_es(ecs_vec3* vel, ES_DEFAULT(0.5f) float drag) {
    vel->x *= drag;
}

// Registered before the one that it waits for.
ES_AFTER(early_es, drag_es)
static void late_es(ES_CONTEXT sample_log* log) {
    sample_say(log, 'l');
}

static void early_es(ES_CONTEXT sample_log* log) {
    sample_say(log, 'e');
}

// S5.17: NULL where the component is missing; the entity itself.
static void look_es(ES_CONTEXT sample_log* log, ecs_entity entity, const ecs_vec3* pos,
                    ES_OPTIONAL int32_t* hits) {
    log->moved += pos->x > 0.0f;
    log->with_hits += hits != NULL;
    log->without_hits += hits == NULL;
    log->last = entity;
    if (hits) *hits += 1;
}

ES_SPAN
ES_REQUIRE_NOT(hits : i)
static void spans_es(ES_CONTEXT sample_log* log, uint32_t count, const ecs_entity* entities,
                     const ecs_vec3* pos, ES_OPTIONAL const float* drag) {
    log->spans++;
    log->span_rows += count;
    if (count && entities[0] && pos && !drag) sample_say(log, 's');
}

// S3.3: each second tick only.
ES_EVERY(2)
ES_QUANTUM(64u)
static void heal_es(sample_state* state, ES_NAME(hits) const int32_t* damage) {
    state->health += 1 + (*damage > 100);
}

// Names that C cannot spell, and containers.
ES_READS(hits, weather)
ES_WRITES(log)
static void cells_es(const ecs_ivec2* brick__pos, ES_LIST(i) const ecs_list* path,
                     ES_CONTEXT sample_log* log) {
    const int32_t* steps = ecs_list_get(path, 0);
    if (brick__pos->x == 3 && ecs_list_count(path) == 2 && steps[1] == 20) sample_say(log, 'c');
}

ES_REQUIRE_ANY(hits : i, drag : r)
ES_REQUIRE(pos : p3)
static void any_es(ES_CONTEXT sample_log* log) {
    sample_say(log, 'a');
}

ES_ONLY
static void only_es(ES_CONTEXT sample_log* log, const float* alone) {
    sample_say(log, *alone == 1.0f ? 'o' : '?');
}

ES_ON_ENTER(enter)
ES_ON_LEAVE(leave)
ES_FIRST(begin)
static void members_es(const sample_state* state) {
    (void)state;
}

static void enter(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    (void)entities;
    ((sample_log*)stage->context)->entered += count;
}

static void leave(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    (void)entities;
    ((sample_log*)stage->context)->left += count;
}

static void begin(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    (void)entities;
    (void)count;
    ((sample_log*)stage->context)->first++;
}

ES_STAGE(render)
static void draw_es(const ecs_stage* stage) {
    sample_say(stage->context, 'd');
}

// Its own payload, by value in a component of its own.
ES_ON_EVENT(hit)
static void take_hit_es_event_handler(const sample_hit* event, int32_t* hits, sample_hit last) {
    *hits += event->damage + last.damage;
}

ES_ON_EVENT(noise, told)
static void hear_es_event_handler(ES_CONTEXT sample_log* log, const ecs_event* event) {
    log->noises++;
    if (event->size == sizeof(sample_noise)) {
        log->loudness += ((const sample_noise*)event->payload)->loudness;
    }
}

ES_TRACK(state)
static void changed_es_event_handler(ES_CONTEXT sample_log* log, const sample_state* state) {
    log->tracked += state->health > 0;
}

static void sum_ecs_query(ES_CONTEXT float* sum, const ecs_vec3* pos) {
    *sum += pos->x;
}

// False ends the walk.
static bool until_ecs_query(ES_CONTEXT uint32_t* count, ES_CONTEXT uint32_t limit,
                            const ecs_vec3* pos) {
    (void)pos;
    *count += 1;
    return *count < limit;
}

void sample_say(sample_log* log, char letter) {
    size_t size = strlen(log->order);
    if (size + 1 < sizeof log->order) log->order[size] = letter;
}

ecs_result sample_register_all_types(ecs_world* world, const base_reporter* reporter) {
    return sample_register_types(world, reporter);
}

ecs_result sample_register_all(ecs_world* world, sample_log* log) {
    return sample_register_systems(world, log);
}

ecs_result sample_create_queries(ecs_world* world, ecs_query** sums, ecs_query** firsts) {
    ecs_result result = sum_create(world, sums);
    return result ? result : until_create(world, firsts);
}

float sample_sum(ecs_world* world, ecs_query* query) {
    float sum = 0.0f;
    sum_run(world, query, &sum);
    return sum;
}

uint32_t sample_count_until(ecs_world* world, ecs_query* query, uint32_t limit) {
    uint32_t count = 0;
    until_run(world, query, &count, limit);
    // A walk that ended early leaves the world free for changes: another may begin.
    uint32_t again = 0;
    return until_find(world, query, ECS_ENTITY_NONE, &again, limit) ? 0 : count;
}

bool sample_find(ecs_world* world, ecs_query* query, ecs_entity entity, float* x) {
    return sum_find(world, query, entity, x);
}
