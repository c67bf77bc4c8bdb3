// SPDX-License-Identifier: MIT
// Any sequence of public calls on a world, with handles that live, that are stale, and that never
// were, outside of stages and recorded by a system and by event handlers.
//
// An input is {u8 is_mirror} and a list of records {u8 operation, u8 first, u8 second, u8 third}. A
// handle is one of 64 that earlier records got (bit 7 of its byte is 0), else any 32 bits from the
// three bytes.
//
// Left out is only what the contracts assert: components that the type lacks, structural changes
// inside of stages and walks.
//
// Invariants for any input: every result is one that the contract of the call names; the world is
// whole at the end; walking and counting agree; a refused call leaves the state as it is.
#include "fuzz.h"

#include "ecs/change.h"
#include "ecs/command.h"
#include "ecs/component.h"
#include "ecs/debug.h"
#include "ecs/hierarchy.h"
#include "ecs/save.h"
#include "ecs/system.h"
#include "ecs/template.h"

#include "base/macros.h"

enum { HANDLES = 64, RECORDS_MAX = 400, INDEX_MAX = 300, LOCAL_MAX = 300, COMPONENTS = 6 };

static const char TEMPLATES[] =
    "thing { \"hp:i\"{ _track:b=yes; value:i=7 } \"ecs.parent:eid\"{ _track:b=yes; value:eid=0 } "
    "}\n"
    "seen { _extends:t=\"thing\" \"pos:p2\"{ _replicate:b=yes; _track:b=yes; value:p2=1,2 }\n"
    "  \"friend:eid\"{ _replicate:b=yes; value:eid=0 } }\n"
    "named { \"title:t\"{ value:t=\"none\" } \"hp:i\"{ value:i=1 } }\n"
    "only { _singleton:b=yes; \"pos:p2\"{ value:p2=0,0 } }\n"
    "fast { \"speed:r\"{ value:r=2 } }\n";
static const char* const COMPOSED[] = {"thing",      "seen",     "named",      "only",
                                       "fast",       "empty",    "thing+fast", "named+fast",
                                       "seen+named", "only+fast"};
static const char* const NAMED[COMPONENTS] = {"hp",     "ecs.parent", "pos",
                                              "friend", "title",      "speed"};

typedef struct fuzz_world {
    ecs_world* world;
    ecs_query* query;
    ecs_event_type poke;
    ecs_component_id components[COMPONENTS];
    ecs_template_id templates[BASE_COUNT(COMPOSED) + 1];
    ecs_entity handles[HANDLES];
    uint32_t handle_next;
    uint32_t retained[HANDLES]; // references that this input holds, by handle
    ecs_tick tick;
    bool is_mirror;
    // What systems and handlers record in their next turn.
    uint8_t orders[HANDLES * 4];
    uint32_t order_count;
} fuzz_world;

#define CODE(result) (1u << -(result)) // codes are 0 and below

static void expect(ecs_result result, uint32_t codes) {
    FUZZ_CHECK(result <= 0 && (codes >> -result & 1u));
}

static ecs_entity pick(const fuzz_world* at, const uint8_t* bytes) {
    if (bytes[0] < 0x80) return at->handles[bytes[0] % HANDLES];
    return (ecs_entity)bytes[0] << 24 | (ecs_entity)bytes[1] << 8 | bytes[2];
}

static void remember(fuzz_world* at, ecs_entity entity) {
    at->handles[at->handle_next++ % HANDLES] = entity;
}

static ecs_template_id template_of(const fuzz_world* at, uint8_t byte) {
    if (byte % 16 == 15) return (ecs_template_id)(byte * 257u); // mostly none
    return at->templates[byte % BASE_COUNT(at->templates)];
}

// ---- what systems and handlers record ----

static void record(fuzz_world* at, const uint8_t* bytes) {
    ecs_world* world = at->world;
    const ecs_entity entity = pick(at, bytes + 1);
    const int32_t value = bytes[2];
    const ecs_init init = {at->components[0], &value};
    switch (bytes[0] % 6) {
    case 0: {
        ecs_entity made = ecs_command_create(world, template_of(at, bytes[1]), &init, bytes[3] & 1);
        if (made == ECS_ENTITY_NONE) break;
        FUZZ_CHECK(ecs_entity_is_placeholder(made) && !ecs_is_alive(world, made));
        (void)ecs_command_set(world, made, at->components[0], &value);
        if (bytes[3] & 2) (void)ecs_command_destroy(world, made);
        if (bytes[3] & 4) (void)ecs_event_send(world, made, at->poke, NULL);
        break;
    }
    case 1:
        (void)ecs_command_destroy(world, entity);
        break;
    case 2:
        (void)ecs_command_recreate(world, entity, template_of(at, bytes[3]), NULL, 0);
        break;
    case 3:
        (void)ecs_command_set(world, entity, at->components[0], &value);
        break;
    case 4:
        (void)ecs_event_send(world, entity, at->poke, NULL);
        break;
    default:
        expect(ecs_set(world, entity, at->components[0], &value),
               CODE(ECS_OK) | CODE(ECS_ERR_STALE) | CODE(ECS_ERR_MISSING));
        break;
    }
}

static void record_all(fuzz_world* at) {
    // Taken at once: a handler that runs meanwhile does not record the same again.
    uint32_t count = at->order_count;
    at->order_count = 0;
    for (uint32_t i = 0; i < count; i++)
        record(at, at->orders + 4u * i);
}

static void run_system(const ecs_stage* stage, const ecs_rows* rows) {
    int32_t* hp = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        hp[i] = (int32_t)((uint32_t)hp[i] + 1u);
    record_all(stage->context);
}

static void run_event(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)event, (void)rows;
    record_all(stage->context);
}

// ---- the world ----

static void open_world(fuzz_world* at, bool is_mirror) {
    static const char* const events[] = {"poke", "EntityCreated", "EntityDestroyed",
                                         "EntityRecreated"};
    static const ecs_term terms[] = {{"hp", "i", ECS_WRITE}};
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = at->is_mirror = is_mirror;
    config.limits = (ecs_limits){.replicated_index_max = INDEX_MAX,
                                 .local_entities_max = LOCAL_MAX,
                                 .events_per_flush_max = 64,
                                 .events_queued_max = 64,
                                 .commands_queued_max = 64};
    FUZZ_CHECK(ecs_world_create(&config, &at->world) == ECS_OK);
    FUZZ_CHECK(ecs_template_load(at->world, "w.blk", TEMPLATES, strlen(TEMPLATES), NULL) == ECS_OK);
    const ecs_event_desc poke = {.name = "poke"};
    FUZZ_CHECK(ecs_event_register(at->world, &poke, &at->poke) == ECS_OK);
    const ecs_system_desc walker = {.name = "walker",
                                    .stage = "act",
                                    .run = run_system,
                                    .terms = terms,
                                    .term_count = 1,
                                    .context = at};
    FUZZ_CHECK(ecs_system_register(at->world, &walker) == ECS_OK);
    const ecs_system_desc hearer = {.name = "hearer",
                                    .events = events,
                                    .event_count = BASE_COUNT(events),
                                    .on_event = run_event,
                                    .context = at};
    FUZZ_CHECK(ecs_system_register(at->world, &hearer) == ECS_OK);
    FUZZ_CHECK(ecs_query_create(at->world, terms, 1, &at->query) == ECS_OK);
    FUZZ_CHECK(ecs_world_seal(at->world, NULL) == ECS_OK);
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        at->components[i] = ecs_component_find(at->world, NAMED[i]);
        FUZZ_CHECK(at->components[i] != ECS_COMPONENT_NONE);
    }
    for (uint32_t i = 0; i < BASE_COUNT(COMPOSED); i++)
        at->templates[i] = ecs_template_find(at->world, COMPOSED[i]);
}

static void step(fuzz_world* at) {
    at->tick++;
    ecs_world_step(at->world, &(ecs_step){.tick = at->tick, .dt = 1.0f / 60});
    ecs_changes_clear(at->world);
}

// A refused call changes nothing. The hash walks the whole world: only for some records.
static void check_refusal(fuzz_world* at, const uint8_t* bytes) {
    const uint64_t before = ecs_world_state_hash_walk(at->world);
    const uint32_t alive = ecs_handle_count(at->world, ECS_STATE_CREATED);
    const ecs_entity entity = pick(at, bytes + 1);
    ecs_result result = ECS_OK;
    if (!ecs_is_alive(at->world, entity))
        result = ecs_destroy(at->world, entity);
    else
        result = ecs_recreate(at->world, entity, UINT16_MAX, NULL, 0);
    FUZZ_CHECK(result != ECS_OK);
    FUZZ_CHECK(ecs_world_state_hash_walk(at->world) == before);
    FUZZ_CHECK(ecs_handle_count(at->world, ECS_STATE_CREATED) == alive);
}

static void create(fuzz_world* at, const uint8_t* bytes) {
    enum {
        CODES = CODE(ECS_OK) | CODE(ECS_ERR_UNKNOWN) | CODE(ECS_ERR_MISSING) | CODE(ECS_ERR_FULL) |
                CODE(ECS_ERR_TAKEN)
    };
    const int32_t value = bytes[2];
    const ecs_init init = {at->components[0], &value};
    ecs_entity made = ECS_ENTITY_NONE;
    ecs_result result =
        ecs_create(at->world, template_of(at, bytes[1]), &init, bytes[3] & 1, &made);
    expect(result, CODES);
    if (result != ECS_OK) return;
    FUZZ_CHECK(made != ECS_ENTITY_NONE);
    remember(at, made);
}

static void create_many(fuzz_world* at, const uint8_t* bytes) {
    ecs_entity made[32];
    uint32_t count = bytes[2] % BASE_COUNT(made);
    ecs_result result = ecs_create_many(at->world, template_of(at, bytes[1]), count, made);
    expect(result, CODE(ECS_OK) | CODE(ECS_ERR_UNKNOWN) | CODE(ECS_ERR_FULL) | CODE(ECS_ERR_TAKEN));
    for (uint32_t i = 0; result == ECS_OK && i < count; i++)
        remember(at, made[i]);
}

static void read_one(fuzz_world* at, const uint8_t* bytes) {
    const ecs_entity entity = pick(at, bytes + 1);
    const bool is_alive = ecs_is_alive(at->world, entity);
    FUZZ_CHECK((ecs_state(at->world, entity) == ECS_STATE_CREATED) == is_alive);
    FUZZ_CHECK((ecs_entity_template_name(at->world, entity) != NULL) == is_alive);
    FUZZ_CHECK(is_alive || ecs_entity_template(at->world, entity) == ECS_TEMPLATE_NONE);
    const void* many[COMPONENTS];
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        const void* cell = ecs_find(at->world, entity, at->components[i]);
        FUZZ_CHECK(is_alive || !cell);
        FUZZ_CHECK(ecs_find_mut(at->world, entity, at->components[i]) == cell);
        ecs_find_many(at->world, at->components[i], &entity, 1, &many[i]);
        FUZZ_CHECK(many[i] == cell);
    }
    ecs_query_iter iter;
    FUZZ_CHECK(ecs_query_find(at->world, at->query, entity, &iter) == (many[0] != NULL));
}

static void walk_family(fuzz_world* at, const uint8_t* bytes) {
    const ecs_entity entity = pick(at, bytes + 1);
    const ecs_entity parent = at->handles[bytes[3] % HANDLES];
    ecs_result result = ecs_hierarchy_set_parent(at->world, entity, parent);
    expect(result,
           CODE(ECS_OK) | CODE(ECS_ERR_STALE) | CODE(ECS_ERR_MISSING) | CODE(ECS_ERR_CYCLE));
    for (ecs_entity child = ecs_hierarchy_first(at->world, parent); child != ECS_ENTITY_NONE;
         child = ecs_hierarchy_next(at->world, child))
        FUZZ_CHECK(ecs_hierarchy_parent(at->world, child) == parent);
    (void)ecs_is_complete(at->world, entity);
}

static void hold(fuzz_world* at, const uint8_t* bytes) {
    const uint32_t place = bytes[1] % HANDLES;
    if (at->retained[place] > 0 || bytes[2] & 1) {
        if (at->retained[place] == 0) return;
        ecs_handle_release(at->world, at->retained[place]);
        at->retained[place] = 0;
        return;
    }
    const ecs_entity entity = pick(at, bytes + 1);
    ecs_result result = ecs_handle_retain(at->world, entity);
    expect(result, CODE(ECS_OK) | CODE(ECS_ERR_STALE));
    if (result == ECS_OK) at->retained[place] = entity;
}

static void run(fuzz_world* at, const uint8_t* bytes) {
    const ecs_entity entity = pick(at, bytes + 1);
    const int32_t value = bytes[2];
    const ecs_init init = {at->components[0], &value};
    switch (bytes[0] % 14) {
    case 0:
        create(at, bytes);
        break;
    case 1:
        create_many(at, bytes);
        break;
    case 2:
        expect(ecs_destroy(at->world, entity), CODE(ECS_OK) | CODE(ECS_ERR_STALE));
        FUZZ_CHECK(!ecs_is_alive(at->world, entity));
        break;
    case 3:
        expect(ecs_recreate(at->world, entity, template_of(at, bytes[3]), &init, bytes[2] & 1),
               CODE(ECS_OK) | CODE(ECS_ERR_UNKNOWN) | CODE(ECS_ERR_MISSING) | CODE(ECS_ERR_FULL) |
                   CODE(ECS_ERR_TAKEN) | CODE(ECS_ERR_STALE) | CODE(ECS_ERR_TYPE));
        break;
    case 4: {
        if (!at->is_mirror) break; // asserted
        ecs_result result =
            ecs_create_at(at->world, entity, template_of(at, bytes[3]), &init, bytes[2] & 1);
        expect(result, CODE(ECS_OK) | CODE(ECS_ERR_UNKNOWN) | CODE(ECS_ERR_MISSING) |
                           CODE(ECS_ERR_FULL) | CODE(ECS_ERR_TAKEN) | CODE(ECS_ERR_STALE) |
                           CODE(ECS_ERR_TYPE));
        if (result == ECS_OK) remember(at, entity);
        break;
    }
    case 5:
        expect(ecs_set(at->world, entity, at->components[0], &value),
               CODE(ECS_OK) | CODE(ECS_ERR_STALE) | CODE(ECS_ERR_MISSING));
        break;
    case 6:
        read_one(at, bytes);
        break;
    case 7:
        walk_family(at, bytes);
        break;
    case 8:
        hold(at, bytes);
        break;
    case 9:
        if (at->order_count < HANDLES) memcpy(at->orders + 4u * at->order_count++, bytes, 4);
        break;
    case 10:
        record(at, bytes);
        if (bytes[3] & 8) ecs_command_flush(at->world);
        break;
    case 11:
        step(at);
        break;
    case 12:
        check_refusal(at, bytes);
        break;
    default:
        if (bytes[1] == 0xFF) ecs_world_clear(at->world);
        (void)ecs_event_broadcast(at->world, at->poke, NULL);
        break;
    }
}

static void close_world(fuzz_world* at, bool is_checked) {
    at->order_count = 0;
    step(at);
    uint32_t alive = 0;
    for (ecs_entity entity = ecs_entity_next(at->world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(at->world, entity))
        alive++;
    FUZZ_CHECK(alive == ecs_handle_count(at->world, ECS_STATE_CREATED));
    FUZZ_CHECK(alive <= INDEX_MAX + LOCAL_MAX);
    // This check visits every index of the world and takes longer than all others.
    if (is_checked) ecs_world_validate(at->world);
    for (uint32_t i = 0; i < HANDLES; i++)
        if (at->retained[i]) ecs_handle_release(at->world, at->retained[i]);
    FUZZ_CHECK(ecs_handle_count(at->world, ECS_STATE_ALLOCATED) == 0);
    FUZZ_CHECK(ecs_handle_count(at->world, ECS_STATE_LOADING) == 0);
    ecs_world_destroy(at->world);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_world at = {0};
    open_world(&at, size > 0 && data[0] & 1);
    for (size_t i = 0; i < RECORDS_MAX && 4 * i + 5 <= size; i++)
        run(&at, data + 4 * i + 1);
    close_world(&at, size % 8 == 5);
    return 0;
}
