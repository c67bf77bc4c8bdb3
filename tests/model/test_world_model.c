// SPDX-License-Identifier: MIT
/// Random scripts on the real world and on a twin of plain arrays. After every operation both must
/// agree on the existing entities and their values, the change lists, the state hash, and the
/// result of a restore.

#include "ecs_parts.h"
#include "model_scripts.h"

#include "base/hash.h"
#include "world_memory.h"

static const char model_text[] =
    "thing {\n"
    "  \"pos:p2\" { _track:b=yes; _replicate:b=yes; value:p2=1,2; }\n"
    "  vel:p2=3,4\n"
    "  \"hp:i\" { _track:b=yes; value:i=30; }\n"
    "}\n"
    "named {\n"
    "  \"title:t\" { _track:b=yes; value:t=\"absent\"; }\n"
    "  \"hp:i\" { _track:b=yes; value:i=9; }\n"
    "}\n"
    "solid {\n"
    "  \"body:twin_body\" { _track:b=yes; }\n"
    "  \"team:u8\" { _track:b=yes; value:u8=1; }\n"
    "}\n"
    "bag {\n"
    "  \"path:list<i>\" { _track:b=yes; item:i=7 }\n"
    "  \"props:object\" { _track:b=yes; b:i=2; inside:array{ i:t=A } }\n"
    "}\n"
    "mark { \"mark:tag\" { } }\n"
    "bare { vel:p2=5,6 }\n"
    "nothing { }\n";

static const char* const component_names[TWIN_COMPONENTS] = {
    "pos", "vel", "hp", "title", "body", "team", "path", "props", "mark"};
enum { SHAPES = 13, INDICES = 5000, MANY_MAX = 400 };

typedef struct model model;
struct model {
    ecs_world* world;
    ecs_component_id components[TWIN_COMPONENTS];
    ecs_event_type hurt, spawn;
    ecs_query* queries[4];
    twin_shape shapes[SHAPES];
    twin_world* twin;
    base_rng rng;
    bool is_mirror;
    bool is_boxed; // bodies are boxed
    uint32_t budget;
    model* root; // the model that handlers see; it outlives copies made for a restore
};

// The shapes of the twin, as in the text above: of two parts the later one gives the value.
static void fill_shapes(model* m) {
    static const char* const names[SHAPES] = {
        "thing",   "named",      "solid",         "mark",        "bare",
        "nothing", "thing+mark", "named+solid",   "thing+named", "named+thing+mark",
        "bag",     "bag+thing",  "bag+mark+named"};
    const struct {
        const char* part;
        uint32_t component;
        twin_value value;
    } values[] = {
        {"thing", TWIN_POS, {true, .as.vec = {1, 2}}},
        {"thing", TWIN_VEL, {true, .as.vec = {3, 4}}},
        {"thing", TWIN_HP, {true, .as.number = 30}},
        {"named", TWIN_TITLE, {true, .as.text = "absent"}},
        {"named", TWIN_HP, {true, .as.number = 9}},
        {"solid", TWIN_BODY, {true, .as.body = {0, 0}}},
        {"solid", TWIN_TEAM, {true, .as.team = 1}},
        {"bag", TWIN_PATH, {true, .as.path = {1, {7}}}},
        {"bag", TWIN_PROPS, {true, .as.props = {{0, 1, 0}, 1, {0, 2, 0}}}},
        {"mark", TWIN_MARK, {.has = true}},
        {"bare", TWIN_VEL, {true, .as.vec = {5, 6}}},
    };
    for (uint32_t i = 0; i < SHAPES; i++) {
        m->shapes[i].name = names[i];
        for (const char* part = names[i]; *part; part += strspn(part, "+")) {
            const size_t size = strcspn(part, "+");
            for (uint32_t k = 0; k < BASE_COUNT(values); k++)
                if (strlen(values[k].part) == size && strncmp(values[k].part, part, size) == 0)
                    m->shapes[i].defaults[values[k].component] = values[k].value;
            part += size;
        }
        m->shapes[i].is_replicated = m->shapes[i].defaults[TWIN_POS].has;
    }
}

// The real world's systems; the twin's are in world_twin.c.

static void run_drift(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    ecs_vec2* pos = rows->columns[0];
    const ecs_vec2* vel = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x += vel[i].x;
        pos[i].y += vel[i].y;
    }
}

static void run_age(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    int32_t* hp = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        hp[i] -= ecs_entity_index(rows->entities[i]) % 5 == 0;
}

static void run_rename(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_string* title = rows->columns[0];
    char text[TWIN_TEXT_BYTES];
    (void)snprintf(text, sizeof(text), "t%u", (unsigned)(stage->tick / 6));
    for (uint32_t i = 0; i < rows->count; i++) {
        if (ecs_entity_index(rows->entities[i]) % 3 == stage->tick % 3) {
            assert_ok(ecs_string_set(ecs_world_allocator(stage->world), &title[i], text,
                                     (uint32_t)strlen(text)));
        }
    }
}

static void run_go_on(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_list* path = rows->columns[0];
    const base_allocator* allocator = ecs_world_allocator(stage->world);
    int32_t number = (int32_t)stage->tick;
    for (uint32_t i = 0; i < rows->count; i++) {
        if (ecs_entity_index(rows->entities[i]) % 4 != stage->tick % 4) continue;
        if (ecs_list_count(&path[i]) == TWIN_PATH_MAX)
            ecs_list_clear(allocator, &path[i]);
        else
            assert_ok(ecs_list_push(allocator, &path[i], &number));
    }
}

static void on_hurt(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const model* m = stage->context;
    const twin_record* note = event->payload;
    int32_t* hp = rows->columns[0];
    if (event->target != ECS_ENTITY_NONE && rows->count > 0) { // the cells of the target
        assert_ptr_equal(hp, ecs_find(stage->world, event->target, m->components[TWIN_HP]));
        assert_ptr_equal(rows->columns[1],
                         ecs_find(stage->world, event->target, m->components[TWIN_TITLE]));
        assert_ptr_equal(rows->columns[2],
                         ecs_find(stage->world, event->target, m->components[TWIN_VEL]));
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        hp[i] -= note->amount;
        if (event->target != ECS_ENTITY_NONE && hp[i] < 0)
            assert_true(ecs_command_destroy(stage->world, rows->entities[i]));
    }
}

static void on_spawn(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    const model* m = stage->context;
    (void)base_rng_u32(ecs_world_rng(stage->world)); // so that hashes and saves have random numbers
    const twin_record* note = event->payload;
    const twin_shape* shape = &m->shapes[note->shape];
    ecs_init init = {m->components[TWIN_HP], &note->amount};
    ecs_entity made =
        ecs_command_create(stage->world, shape->id, &init, shape->defaults[TWIN_HP].has ? 1 : 0);
    assert_true(ecs_entity_is_placeholder(made));
    twin_record hurt = {made, 1, 0};
    assert_true(ecs_event_send(stage->world, made, m->hurt, &hurt));
}

static void register_systems(ecs_world* world, model* m) {
    system_add(world, .name = "rename", .stage = "act", .run = run_rename,
               TERMS({"title", "t", ECS_WRITE}), AFTER("age"));
    system_add(world, .name = "drift", .stage = "act", .run = run_drift,
               TERMS({"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}));
    system_add(world, .name = "age", .stage = "act", .run = run_age,
               TERMS({"hp", "i", ECS_WRITE}, {"mark", "tag", ECS_REQUIRE_NOT}));
    system_add(world, .name = "go_on", .stage = "act", .run = run_go_on,
               TERMS({"path", "list<i>", ECS_WRITE}));
    system_add(world, .name = "hurt", EVENTS("hurt"), .on_event = on_hurt,
               TERMS({"hp", "i", ECS_WRITE}, {"title", NULL, ECS_OPTIONAL_READ},
                     {"vel", NULL, ECS_OPTIONAL_READ}),
               .context = m->root);
    system_add(world, .name = "spawn", EVENTS("spawn"), .on_event = on_spawn, .context = m->root);
    static const ecs_term terms[4][2] = {
        {{"pos", "p2", ECS_READ}, {"mark", "tag", ECS_REQUIRE_NOT}},
        {{"hp", "i", ECS_OPTIONAL_READ}, {"vel", "p2", ECS_READ}},
        {{"title", "t", ECS_READ}, {"body", "twin_body", ECS_READ}},
        {{"team", "u8", ECS_OPTIONAL_READ}, {"mark", "tag", ECS_REQUIRE}},
    };
    for (uint32_t i = 0; i < 4; i++)
        assert_ok(ecs_query_create(world, terms[i], 2, &m->queries[i]));
}

static ecs_world* make_world(model* m) {
    static const ecs_field body_fields[] = {FIELD_OF(twin_body, kind, U8, 1),
                                            FIELD_OF(twin_body, mass, F32, 1)};
    static const ecs_field record_fields[] = {FIELD_OF(twin_record, from, ENTITY, 1),
                                              FIELD_OF(twin_record, amount, I32, 1),
                                              FIELD_OF(twin_record, shape, U32, 1)};
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = m->is_mirror;
    config.limits.replicated_index_max = INDICES;
    config.limits.local_entities_max = INDICES;
    config.limits.events_per_flush_max = m->budget;
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    ecs_type_desc body = TYPE_OF("twin_body", twin_body, body_fields);
    uint32_t flags = m->is_boxed ? ECS_TYPE_BOXED : 0;
    assert_ok(ecs_type_register_as(world, &body, flags, NULL, NULL));
    assert_ok(
        ecs_template_load(world, "model.blk", model_text, strlen(model_text), test_reporter()));
    ecs_event_desc hurt = {"hurt", sizeof(twin_record), record_fields, 3, true};
    ecs_event_desc spawn = {"spawn", sizeof(twin_record), record_fields, 3, false};
    assert_ok(ecs_event_register(world, &hurt, &m->hurt));
    assert_ok(ecs_event_register(world, &spawn, &m->spawn));
    register_systems(world, m);
    assert_ok(ecs_world_seal(world, test_reporter()));
    for (uint32_t i = 0; i < TWIN_COMPONENTS; i++) {
        m->components[i] = ecs_component_find(world, component_names[i]);
        assert_int_not_equal(m->components[i], ECS_COMPONENT_NONE);
    }
    for (uint32_t i = 0; i < SHAPES; i++) {
        m->shapes[i].id = ecs_template_find(world, m->shapes[i].name);
        assert_int_not_equal(m->shapes[i].id, ECS_TEMPLATE_NONE);
    }
    return world;
}

// Comparing

static const ecs_type* type_of(const model* m, uint32_t component) {
    return ecs_type_get(m->world, ecs_component_get(m->world, m->components[component])->type);
}

static uint64_t compare_entity(const model* m, twin_entity* entity) {
    uint64_t hash = 0;
    assert_int_equal(ecs_entity_template(m->world, entity->handle), m->shapes[entity->shape].id);
    for (uint32_t c = 0; c < TWIN_COMPONENTS; c++) {
        const void* real = ecs_find(m->world, entity->handle, m->components[c]);
        assert_int_equal(real != NULL, entity->values[c].has);
        if (real == NULL) continue;
        twin_memory memory;
        const void* expected = twin_memory_init(&memory, c, m->is_boxed, &entity->values[c]);
        assert_true(ecs_type_equal(type_of(m, c), real, expected));
        twin_memory_deinit(&memory);
        bool is_tracked = c != TWIN_VEL && c != TWIN_MARK;
        if (is_tracked) {
            const void* told = twin_memory_init(&memory, c, m->is_boxed, &entity->told[c]);
            uint64_t name_hash = base_hash64_text(component_names[c]);
            hash += ecs_type_hash(type_of(m, c), told, base_hash64_mix(name_hash, entity->handle));
            twin_memory_deinit(&memory);
        }
    }
    return hash;
}

static void compare_world(const model* m) {
    twin_world* twin = m->twin;
    uint32_t alive = 0;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < twin->entity_count; i++) {
        twin_entity* entity = &twin->entities[i];
        assert_int_equal(ecs_is_alive(m->world, entity->handle),
                         twin_find(twin, entity->handle) != NULL);
        if (entity->is_alive) {
            alive++;
            hash += compare_entity(m, entity);
        }
    }
    assert_int_equal(ecs_world_entity_count(m->world), alive);
    assert_true(ecs_world_state_hash(m->world) == hash);
    assert_true(ecs_world_state_hash_walk(m->world) == hash);
    ecs_world_validate(m->world);
}

static void compare_entities(const ecs_entity* real, uint32_t real_count, const ecs_entity* twin,
                             uint32_t twin_count) {
    assert_int_equal(real_count, twin_count);
    for (uint32_t i = 0; i < twin_count; i++)
        assert_int_equal(real[i], twin[i]);
}

static void compare_lists(const model* m) {
    const twin_world* twin = m->twin;
    ecs_changes changes = ecs_changes_get(m->world);
    compare_entities(changes.created, changes.created_count, twin->created, twin->created_count);
    compare_entities(changes.destroyed, changes.destroyed_count, twin->destroyed,
                     twin->destroyed_count);
    compare_entities(changes.recreated, changes.recreated_count, twin->recreated,
                     twin->recreated_count);
    assert_int_equal(changes.event_count, twin->exported_count);
    for (uint32_t i = 0; i < changes.event_count; i++) {
        const twin_record* note = changes.events[i].payload;
        assert_false(ecs_entity_is_placeholder(note->from));
        // Each is sent to the entity that its payload names.
        if (changes.events[i].target != ECS_ENTITY_NONE)
            assert_int_equal(note->from, changes.events[i].target);
    }
    // Compared as sets: the same number, and each entry of the twin is found at most once.
    assert_int_equal(changes.changed_count, twin->changed_count);
    for (uint32_t i = 0; i < twin->changed_count; i++) {
        uint32_t found = 0;
        for (uint32_t k = 0; k < changes.changed_count; k++) {
            found += changes.changed[k].entity == twin->changed[i].entity &&
                     changes.changed[k].component == m->components[twin->changed[i].component];
        }
        assert_int_equal(found, 1);
    }
}

static bool query_matches(uint32_t query, const twin_value* v) {
    switch (query) {
    case 0:
        return v[TWIN_POS].has && !v[TWIN_MARK].has;
    case 1:
        return v[TWIN_VEL].has;
    case 2:
        return v[TWIN_TITLE].has && v[TWIN_BODY].has;
    default:
        return v[TWIN_MARK].has;
    }
}

static void compare_queries(model* m) {
    for (uint32_t q = 0; q < 4; q++) {
        uint32_t expected = 0;
        for (uint32_t i = 0; i < m->twin->entity_count; i++) {
            const twin_entity* entity = &m->twin->entities[i];
            ecs_query_iter iter;
            bool matches = entity->is_alive && query_matches(q, entity->values);
            expected += matches;
            assert_int_equal(ecs_query_find(m->world, m->queries[q], entity->handle, &iter),
                             matches ||
                                 (!entity->is_alive && ecs_is_alive(m->world, entity->handle) &&
                                  query_matches(q, twin_find(m->twin, entity->handle)->values)));
        }
        assert_int_equal(ecs_query_count(m->world, m->queries[q]), expected);
        uint32_t walked = 0;
        ecs_query_iter iter = ecs_query_begin(m->world, m->queries[q]);
        while (ecs_query_next(&iter)) {
            for (uint32_t i = 0; i < iter.rows.count; i++) {
                twin_entity* entity = twin_find(m->twin, iter.rows.entities[i]);
                assert_true(entity != NULL && query_matches(q, entity->values));
            }
            walked += iter.rows.count;
        }
        assert_int_equal(walked, expected);
    }
}

// Operations

static ecs_entity pick(model* m) {
    twin_world* twin = m->twin;
    return twin->entity_count == 0
               ? ecs_entity_make(1, 1)
               : twin->entities[base_rng_below(&m->rng, twin->entity_count)].handle;
}

static void random_value(model* m, uint32_t component, twin_value* value) {
    *value = (twin_value){.has = true};
    switch (component) {
    case TWIN_POS:
    case TWIN_VEL:
        value->as.vec = (ecs_vec2){(float)base_rng_range(&m->rng, -9, 9) / 4,
                                   base_rng_below(&m->rng, 4) == 0 ? -0.0f : 1};
        break;
    case TWIN_HP:
        value->as.number = base_rng_range(&m->rng, -3, 40);
        break;
    case TWIN_TITLE:
        (void)snprintf(value->as.text, TWIN_TEXT_BYTES, "%.*s", (int)base_rng_below(&m->rng, 12),
                       "abcdefghijkl");
        break;
    case TWIN_BODY:
        value->as.body.kind = (uint8_t)base_rng_below(&m->rng, 3);
        value->as.body.mass = (float)base_rng_below(&m->rng, 3);
        break;
    case TWIN_TEAM:
        value->as.team = (uint8_t)base_rng_below(&m->rng, 3);
        break;
    case TWIN_PATH:
        value->as.path.count = base_rng_below(&m->rng, TWIN_PATH_MAX + 1);
        for (uint32_t i = 0; i < value->as.path.count; i++)
            value->as.path.numbers[i] = base_rng_range(&m->rng, 0, 2);
        break;
    case TWIN_PROPS:
        value->as.props.inside = (uint8_t)base_rng_below(&m->rng, 3);
        for (uint32_t i = 0; i < TWIN_PROPS_NAMES; i++) {
            value->as.props.has[i] = (uint8_t)base_rng_below(&m->rng, 2);
            value->as.props.numbers[i] = value->as.props.has[i] ? base_rng_range(&m->rng, 0, 2) : 0;
        }
        break;
    default:
        break;
    }
}

// Up to two overrides of a shape's components.
static uint32_t random_inits(model* m, uint32_t shape, ecs_init* inits, twin_value* values,
                             twin_memory* memories, uint32_t* components) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < TWIN_MARK && count < 2; c++) {
        if (m->shapes[shape].defaults[c].has && base_rng_below(&m->rng, 3) == 0) {
            random_value(m, c, &values[count]);
            inits[count] =
                (ecs_init){m->components[c],
                           twin_memory_init(&memories[count], c, m->is_boxed, &values[count])};
            components[count] = c;
            count++;
        }
    }
    return count;
}

static void forget_inits(twin_memory* memories, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        twin_memory_deinit(&memories[i]);
}

static void check_range(const model* m, ecs_entity handle, uint32_t shape) {
    bool is_low = ecs_entity_index(handle) <= INDICES;
    assert_int_equal(is_low, m->shapes[shape].is_replicated && !m->is_mirror);
}

static void do_create(model* m) {
    uint32_t shape = base_rng_below(&m->rng, SHAPES);
    ecs_init inits[2];
    twin_value values[2];
    twin_memory memories[2];
    uint32_t components[2];
    uint32_t count = random_inits(m, shape, inits, values, memories, components);
    ecs_entity handle = ECS_ENTITY_NONE;
    bool is_given = m->is_mirror && base_rng_below(&m->rng, 2) == 0;
    if (is_given) {
        handle = ecs_entity_make(1 + base_rng_below(&m->rng, 200), 1 + base_rng_below(&m->rng, 3));
        ecs_entity other = ECS_ENTITY_NONE;
        for (uint32_t i = 0; i < m->twin->entity_count; i++) {
            const twin_entity* entity = &m->twin->entities[i];
            if (entity->is_alive && ecs_entity_index(entity->handle) == ecs_entity_index(handle))
                other = entity->handle;
        }
        ecs_result result = ecs_create_at(m->world, handle, m->shapes[shape].id, inits, count);
        forget_inits(memories, count);
        if (other != ECS_ENTITY_NONE) {
            assert_int_not_equal(result, ECS_OK);
            return;
        }
        assert_ok(result);
    } else {
        assert_ok(ecs_create(m->world, m->shapes[shape].id, inits, count, &handle));
        forget_inits(memories, count);
        check_range(m, handle, shape);
    }
    twin_entity* entity = twin_create(m->twin, handle, shape);
    for (uint32_t i = 0; i < count; i++)
        entity->values[components[i]] = values[i];
    twin_report_all(entity);
}

static void do_create_many(model* m) {
    ecs_entity handles[MANY_MAX];
    // Now and then so many that several summary bits are used and chunks grow.
    uint32_t count_max = base_rng_below(&m->rng, 12) == 0 ? MANY_MAX : 30;
    uint32_t count = base_rng_below(&m->rng, count_max);
    uint32_t shape = base_rng_below(&m->rng, SHAPES);
    assert_ok(ecs_create_many(m->world, m->shapes[shape].id, count, handles));
    for (uint32_t i = 0; i < count; i++) {
        check_range(m, handles[i], shape);
        (void)twin_create(m->twin, handles[i], shape);
    }
}

static void do_destroy(model* m) {
    ecs_entity handle = pick(m);
    bool is_alive = twin_find(m->twin, handle) != NULL;
    assert_int_equal(ecs_destroy(m->world, handle), is_alive ? ECS_OK : ECS_ERR_STALE);
    twin_destroy(m->twin, handle);
}

static void do_recreate(model* m) {
    ecs_entity handle = pick(m);
    uint32_t shape = base_rng_below(&m->rng, SHAPES);
    twin_entity* entity = twin_find(m->twin, handle);
    ecs_init inits[2];
    twin_value values[2];
    twin_memory memories[2];
    uint32_t components[2];
    uint32_t count = random_inits(m, shape, inits, values, memories, components);
    ecs_result result = ecs_recreate(m->world, handle, m->shapes[shape].id, inits, count);
    forget_inits(memories, count);
    if (entity == NULL) {
        assert_int_equal(result, ECS_ERR_STALE);
        return;
    }
    if (entity->shape == shape && count == 0) {
        assert_ok(result);
        return;
    }
    if (m->shapes[shape].is_replicated && !m->is_mirror && ecs_entity_index(handle) > INDICES) {
        assert_int_equal(result, ECS_ERR_TYPE); // a local entity never becomes a replicated one
        return;
    }
    assert_ok(result);
    twin_recreate(m->twin, handle, shape);
    for (uint32_t i = 0; i < count; i++)
        entity->values[components[i]] = values[i];
    twin_report_all(entity);
}

static void do_set(model* m) {
    ecs_entity handle = pick(m);
    uint32_t c = base_rng_below(&m->rng, TWIN_MARK);
    twin_entity* entity = twin_find(m->twin, handle);
    twin_value value;
    twin_memory memory;
    random_value(m, c, &value);
    const void* source = twin_memory_init(&memory, c, m->is_boxed, &value);
    bool has = entity != NULL && entity->values[c].has;
    if (base_rng_below(&m->rng, 2) == 0 && c != TWIN_TITLE) {
        void* place = ecs_find_mut(m->world, handle, m->components[c]);
        assert_int_equal(place != NULL, has);
        if (has && (c == TWIN_PATH || c == TWIN_PROPS))
            twin_memory_edit(ecs_world_allocator(m->world), c, place, &value);
        else if (has && c == TWIN_BODY && m->is_boxed)
            **(twin_body**)place = value.as.body;
        else if (has)
            memcpy(place, source, type_of(m, c)->size);
    } else {
        ecs_result expected = entity == NULL ? ECS_ERR_STALE : has ? ECS_OK : ECS_ERR_MISSING;
        assert_int_equal(ecs_set(m->world, handle, m->components[c], source), expected);
    }
    twin_memory_deinit(&memory);
    if (has) entity->values[c] = value;
}

static void do_event(model* m) {
    twin_event event = {.is_spawn = base_rng_below(&m->rng, 3) == 0,
                        .is_broadcast = base_rng_below(&m->rng, 6) == 0,
                        .target = {false, pick(m)},
                        .amount = base_rng_range(&m->rng, 0, 12),
                        .shape = base_rng_below(&m->rng, SHAPES)};
    twin_record note = {event.target.value, event.amount, event.shape};
    ecs_event_type type = event.is_spawn ? m->spawn : m->hurt;
    bool is_posted = event.is_broadcast ? ecs_event_broadcast(m->world, type, &note)
                                        : ecs_event_send(m->world, event.target.value, type, &note);
    assert_true(is_posted);
    twin_post(m->twin, &event);
}

// Commands outside of stages wait for the next flush point or for ecs_command_flush.
static void do_command(model* m) {
    twin_world* twin = m->twin;
    if (base_rng_below(&m->rng, 2) == 0) {
        ecs_entity handle = pick(m);
        assert_true(ecs_command_destroy(m->world, handle));
        twin->commands[twin->command_count++] = (twin_command){.entity = handle};
        return;
    }
    uint32_t shape = base_rng_below(&m->rng, SHAPES);
    twin_command command = {.is_create = true, .shape = shape, .hp = 21};
    ecs_init init = {m->components[TWIN_HP], &command.hp};
    ecs_entity made = ecs_command_create(m->world, m->shapes[shape].id, &init,
                                         m->shapes[shape].defaults[TWIN_HP].has ? 1 : 0);
    assert_true(ecs_entity_is_placeholder(made));
    twin_event hurt = {
        .target = {true, twin->pending_count}, .from = {true, twin->pending_count}, .amount = 2};
    twin_record note = {made, 2, 0};
    assert_true(ecs_event_send(m->world, made, m->hurt, &note));
    twin_post(twin, &hurt);
    twin->pending_count++;
    twin->commands[twin->command_count++] = command;
}

// The twin gets the handles of created entities from the real world's list.
static void offer_handles(model* m, uint32_t created_before) {
    ecs_changes changes = ecs_changes_get(m->world);
    m->twin->handles = changes.created ? changes.created + created_before : NULL;
    m->twin->handle_count = changes.created_count - created_before;
    m->twin->handle_next = 0;
}

static void do_flush(model* m) {
    uint32_t before = ecs_changes_get(m->world).created_count;
    ecs_command_flush(m->world);
    offer_handles(m, before);
    twin_apply(m->twin);
    assert_int_equal(m->twin->handle_next, m->twin->handle_count);
}

static void do_step(model* m) {
    uint32_t before = ecs_changes_get(m->world).created_count;
    ecs_step step = {.tick = ecs_world_tick(m->world) + 1, .dt = 1};
    ecs_world_step(m->world, &step);
    offer_handles(m, before);
    twin_step(m->twin, step.tick);
    assert_int_equal(m->twin->handle_next, m->twin->handle_count);
    compare_lists(m);
    compare_queries(m);
    ecs_changes_clear(m->world);
    twin_clear_lists(m->twin);
}

static void do_save_and_restore(model* m) {
    base_bytes bytes = world_saved(m->world);
    model other = *m;
    other.world = make_world(&other);
    assert_ok(ecs_world_restore(other.world, bytes.data, bytes.size));
    ecs_changes_clear(m->world);
    twin_clear_lists(m->twin);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(ecs_world_hash(m->world) == ecs_world_hash(other.world));
        assert_true(ecs_world_state_hash(m->world) == ecs_world_state_hash(other.world));
        ecs_step step = {.tick = ecs_world_tick(m->world) + 1, .dt = 1};
        ecs_world_step(m->world, &step);
        ecs_world_step(other.world, &step);
    }
    assert_true(ecs_world_hash(m->world) == ecs_world_hash(other.world));
    // Restore into the same world, which goes back in time; or into a new world.
    ecs_world* kept = base_rng_below(&m->rng, 2) == 0 ? m->world : other.world;
    ecs_world_destroy(kept == m->world ? other.world : m->world);
    if (kept == other.world) memcpy(m->queries, other.queries, sizeof(m->queries));
    m->world = kept;
    assert_ok(ecs_world_restore(m->world, bytes.data, bytes.size));
    world_expect_saved(m->world, &bytes);
    base_bytes_deinit(&bytes);
}

static void do_handle(model* m) {
    ecs_entity handle = pick(m);
    if (ecs_handle_retain(m->world, handle) == ECS_OK) {
        assert_true(ecs_state(m->world, handle) != ECS_STATE_NONE);
        if (base_rng_below(&m->rng, 2) == 0) ecs_handle_release(m->world, handle);
    }
}

static void run_operation(model* m) {
    static const struct {
        uint32_t below; // of 100
        void (*run)(model* m);
    } operations[] = {
        {18, do_create}, {22, do_create_many}, {36, do_destroy},           {48, do_recreate},
        {66, do_set},    {80, do_event},       {86, do_command},           {88, do_flush},
        {90, do_handle}, {99, do_step},        {100, do_save_and_restore},
    };
    uint32_t dice = base_rng_below(&m->rng, 100), i = 0;
    while (dice >= operations[i].below)
        i++;
    bool is_full = m->twin->entity_count > TWIN_ENTITIES_MAX - 600;
    if (is_full && i < 2) i = 2; // destroy some
    operations[i].run(m);
}

static void run_script(uint64_t seed, uint32_t script) {
    static twin_world twin;
    memset(&twin, 0, sizeof(twin));
    model m = {.twin = &twin, .rng = base_rng_make(seed, script)};
    m.root = &m;
    m.is_mirror = base_rng_below(&m.rng, 3) == 0;
    m.is_boxed = base_rng_below(&m.rng, 3) == 0;
    m.budget = base_rng_below(&m.rng, 2) == 0 ? 65536 : 1 + base_rng_below(&m.rng, 6);
    twin.budget = m.budget;
    twin.shapes = m.shapes;
    fill_shapes(&m);
    m.world = make_world(&m);
    uint32_t operations = 20 + base_rng_below(&m.rng, 380);
    for (uint32_t i = 0; i < operations; i++) {
        run_operation(&m);
        if (i % 8 == 0) compare_world(&m);
    }
    do_step(&m);
    compare_world(&m);
    ecs_world_destroy(m.world);
}

static model_scripts scripts = {.count = 300, .seed = 5061};

CASE(random_scripts_agree_with_the_twin) {
    for (uint32_t i = 0; i < scripts.count; i++)
        run_script(scripts.seed, i);
}

MODEL_MAIN(20)
