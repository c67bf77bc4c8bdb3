// SPDX-License-Identifier: MIT
// P12, S5.2: what lives in a world moves into a world with other templates and types. The model at
// the end applies the same texts to a simple list of entities.
#include "template/data_world.h"

#include "ecs_internal.h"

static base_bytes pack_text(const char* text) {
    base_bytes pack = {0};
    ecs_pack_add(&pack, "r.blk", text, strlen(text));
    return pack;
}

static ecs_world* sealed_world(const base_allocator* allocator, const char* text) {
    ecs_world* world = data_world_create(allocator);
    if (!world) return NULL;
    base_bytes pack = pack_text(text);
    ecs_result result = ecs_template_load_pack(world, pack.data, pack.size, NULL);
    base_bytes_deinit(&pack);
    if (result == ECS_OK) result = ecs_world_seal(world, NULL);
    if (result == ECS_OK) return world;
    ecs_world_destroy(world);
    return NULL;
}

// The world goes on with other texts. On failure it stays.
static ecs_result go_on_with(ecs_world** world, const char* text, base_report_first* report) {
    const base_reporter reporter = base_reporter_first(report);
    ecs_world* next = sealed_world(NULL, text);
    ecs_result result = ecs_world_take_over(next, *world, &reporter);
    ecs_world_validate(next);
    if (result != ECS_OK) assert_int_equal(ecs_world_entity_count(next), 0);
    ecs_world_destroy(result == ECS_OK ? *world : next);
    if (result == ECS_OK) *world = next;
    return result;
}

static void go_on(ecs_world** world, const char* text) {
    base_report_first report = {0};
    ecs_result result = go_on_with(world, text, &report);
    assert_string_equal(report.text, "");
    assert_ok(result);
}

static ecs_entity make(ecs_world* world, const char* name) {
    ecs_entity entity = ECS_ENTITY_NONE;
    ecs_result result = ecs_create(world, ecs_template_find(world, name), NULL, 0, &entity);
    return result == ECS_OK ? entity : ECS_ENTITY_NONE;
}

static int32_t int_of(ecs_world* world, ecs_entity entity, const char* name) {
    const int32_t* value = ecs_find(world, entity, ecs_component_find(world, name));
    return value ? *value : INT32_MIN;
}

static void set_int(ecs_world* world, ecs_entity entity, const char* name, int32_t value) {
    assert_ok(ecs_set(world, entity, ecs_component_find(world, name), &value));
}

static const char first_text[] = "a { \"x:i\"{ _track:b=yes; value:i=1 } y:i=2 s:t=\"one\" }\n"
                                 "b { _extends:t=a; z:i=3 }\n"
                                 "c { w:i=4; \"l:list<i>\"{ v:i=1 } }\n";

typedef struct old_body {
    float mass;
    int32_t kind;
    float gone;
} old_body;

typedef struct new_body {
    int32_t hits;
    int16_t kind;
    float mass;
} new_body;

static ecs_world* body_world(const ecs_type_desc* type) {
    ecs_world* world = data_world_create(NULL);
    ecs_type_id id;
    ecs_component_id component;
    assert_ok(ecs_type_register(world, type, &id));
    assert_ok(ecs_component_register(world, "body", id, &component));
    const char text[] = "a { \"body:Body\"{ _track:b=yes } }";
    assert_ok(ecs_template_load(world, "b.blk", text, strlen(text), NULL));
    assert_ok(ecs_world_seal(world, NULL));
    return world;
}

// A field of the same name, kind and count keeps its value; another one begins with the default.
CASE(fields_are_found_by_name) {
    static const ecs_field old_fields[] = {
        {"mass", offsetof(old_body, mass), ECS_FIELD_F32, 1, {.bits = 0}},
        {"kind", offsetof(old_body, kind), ECS_FIELD_I32, 1, {.bits = 0}},
        {"gone", offsetof(old_body, gone), ECS_FIELD_F32, 1, {.bits = 0}},
    };
    static const ecs_field new_fields[] = {
        {"hits", offsetof(new_body, hits), ECS_FIELD_I32, 1, {.bits = 0}},
        {"kind", offsetof(new_body, kind), ECS_FIELD_I16, 1, {.bits = 0}},
        {"mass", offsetof(new_body, mass), ECS_FIELD_F32, 1, {.bits = 0}},
    };
    const ecs_type_desc old = {"Body", sizeof(old_body), _Alignof(old_body), old_fields, 3, NULL};
    const ecs_type_desc made = {"Body", sizeof(new_body), _Alignof(new_body), new_fields, 3, NULL};
    ecs_world *world = body_world(&old), *next = body_world(&made);
    ecs_entity entity = make(world, "a");
    const old_body body = {1.5f, 7, 2.5f};
    assert_ok(ecs_set(world, entity, ecs_component_find(world, "body"), &body));
    assert_ok(ecs_world_take_over(next, world, NULL));
    const new_body* moved = ecs_find(next, entity, ecs_component_find(next, "body"));
    assert_true(moved->mass == 1.5f && moved->kind == 0 && moved->hits == 0);
    assert_true(ecs_world_state_hash(next) == ecs_world_state_hash_walk(next));
    ecs_world_destroy(world);
    ecs_world_destroy(next);
}

CASE(what_cannot_move_is_named_and_the_old_world_stays) {
    static const char text[] = "a { x:i=1 }\nb { y:i=2 }\nr { \"x:i\"{ _replicate:b=yes } }";
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"b { y:i=2 }", "r.blk:1: error: entities of template 'a' live, but it is gone"},
        {"b { y:i=2 }\na { \"x:i\"{ _replicate:b=yes } }",
         "r.blk:1: error: entities of template 'a' live, but it is replicated now"},
        {"a { x:i=1 }\nr { x:i=1 }",
         "r.blk:3: error: entities of template 'r' live, but it is not replicated any more"},
    };
    ecs_world* world = sealed_world(NULL, text);
    ecs_entity entity = make(world, "a");
    assert_int_not_equal(make(world, "r"), ECS_ENTITY_NONE);
    for (uint32_t i = 0; i < BASE_COUNT(faults); i++) {
        base_report_first report = {0};
        assert_int_equal(go_on_with(&world, faults[i].text, &report), ECS_ERR_TYPE);
        assert_string_equal(report.text, faults[i].message);
        assert_int_equal(int_of(world, entity, "x"), 1);
    }
    (void)ecs_command_create(world, ecs_template_find(world, "b"), NULL, 0);
    base_report_first report = {0};
    assert_int_equal(go_on_with(&world, first_text, &report), ECS_ERR_FULL);
    assert_string_equal(report.text,
                        "error: commands or resources are waited for: try again later");
    ecs_world_destroy(world);
}

// ---- model ----

enum { MODEL_TEMPLATES = 4, MODEL_COMPONENTS = 5, MODEL_ENTITIES = 60, MODEL_STEPS = 30 };

/// The content of the texts: the components of each template, and the defaults.
typedef struct model_text {
    bool has[MODEL_TEMPLATES][MODEL_COMPONENTS];
    int32_t value[MODEL_TEMPLATES][MODEL_COMPONENTS];
} model_text;

typedef struct model_entity {
    ecs_entity entity;
    uint32_t template_; ///< MODEL_TEMPLATES: the composition of 0 and 1
    bool has[MODEL_COMPONENTS];
    int32_t value[MODEL_COMPONENTS];
} model_entity;

/// Composition: later parts override earlier ones.
static bool model_default(const model_text* text, uint32_t template_, uint32_t c, int32_t* value) {
    if (template_ < MODEL_TEMPLATES) {
        *value = text->value[template_][c];
        return text->has[template_][c];
    }
    *value = text->has[1][c] ? text->value[1][c] : text->value[0][c];
    return text->has[0][c] || text->has[1][c];
}

static void model_draw(base_rng* rng, model_text* text) {
    for (uint32_t t = 0; t < MODEL_TEMPLATES; t++) {
        for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
            text->has[t][c] = base_rng_below(rng, 3) != 0;
            text->value[t][c] = (int32_t)(base_rng_below(rng, 4));
        }
    }
}

static void model_write(const model_text* text, char* target, size_t bytes) {
    size_t size = 0;
    // The last template has every component, so the world keeps every name.
    for (uint32_t t = 0; t <= MODEL_TEMPLATES; t++) {
        size += (size_t)snprintf(target + size, bytes - size, "t%u {", t);
        for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
            if (t < MODEL_TEMPLATES && !text->has[t][c]) continue;
            int32_t value = t < MODEL_TEMPLATES ? text->value[t][c] : 0;
            // Numbers and texts.
            size += (size_t)snprintf(target + size, bytes - size,
                                     c % 2 ? " \"c%u:t\"{ _track:b=yes; value:t=v%d }"
                                           : " \"c%u:i\"{ _track:b=yes; value:i=%d }",
                                     c, value);
        }
        size += (size_t)snprintf(target + size, bytes - size, " }\n");
    }
    assert_true(size < bytes);
}

static void model_check(ecs_world* world, const model_entity* at) {
    for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
        char name[16], shown[16];
        (void)snprintf(name, sizeof name, "c%u", c);
        const void* value = ecs_find(world, at->entity, ecs_component_find(world, name));
        assert_int_equal(value != NULL, at->has[c]);
        if (!value) continue;
        (void)snprintf(shown, sizeof shown, "v%d", at->value[c]);
        if (c % 2)
            assert_string_equal(ecs_string_text(value), shown);
        else
            assert_int_equal(*(const int32_t*)value, at->value[c]);
    }
}

CASE(random_texts_match_a_naive_twin) {
    uint32_t runs = test_scaled(40, 4);
    for (uint32_t seed = 1; seed <= runs; seed++) {
        base_rng rng = base_rng_make(seed, 0);
        model_text text;
        model_draw(&rng, &text);
        char written[2048];
        model_write(&text, written, sizeof written);
        ecs_world* world = sealed_world(NULL, written);
        model_entity entities[MODEL_ENTITIES];
        for (uint32_t i = 0; i < MODEL_ENTITIES; i++) {
            model_entity* at = &entities[i];
            at->template_ = base_rng_below(&rng, MODEL_TEMPLATES + 1);
            static const char* const names[] = {"t0", "t1", "t2", "t3", "t0+t1"};
            at->entity = make(world, names[at->template_]);
            for (uint32_t c = 0; c < MODEL_COMPONENTS; c++)
                at->has[c] = model_default(&text, at->template_, c, &at->value[c]);
        }
        for (uint32_t step = 0; step < MODEL_STEPS; step++) {
            for (uint32_t w = 0; w < 10; w++) {
                model_entity* at = &entities[base_rng_below(&rng, MODEL_ENTITIES)];
                uint32_t c = 2 * base_rng_below(&rng, (MODEL_COMPONENTS + 1) / 2);
                if (!at->has[c]) continue;
                char name[16];
                (void)snprintf(name, sizeof name, "c%u", c);
                at->value[c] = (int32_t)(base_rng_below(&rng, 4));
                set_int(world, at->entity, name, at->value[c]);
            }
            model_text next;
            model_draw(&rng, &next);
            if (base_rng_below(&rng, 2)) memcpy(next.has, text.has, sizeof next.has);
            model_write(&next, written, sizeof written);
            go_on(&world, written);
            for (uint32_t i = 0; i < MODEL_ENTITIES; i++) {
                model_entity* at = &entities[i];
                for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
                    int32_t was = 0, is = 0;
                    bool had = model_default(&text, at->template_, c, &was);
                    at->has[c] = model_default(&next, at->template_, c, &is);
                    if (!had || at->value[c] == was) at->value[c] = is;
                }
                model_check(world, at);
            }
            text = next;
            ecs_storage_validate(world);
            ecs_step tick = {.tick = step + 1, .dt = 0.1f};
            ecs_world_step(world, &tick);
            ecs_world_validate(world);
            ecs_changes_clear(world);
        }
        // A save of the world is the same after a restore. The hash that was updated step by step
        // is also the same.
        base_bytes save = world_saved(world);
        uint64_t hash = ecs_world_state_hash(world);
        assert_ok(ecs_world_restore(world, save.data, save.size));
        assert_true(ecs_world_state_hash(world) == hash);
        world_expect_saved(world, &save);
        base_bytes_deinit(&save);
        ecs_world_destroy(world);
    }
}

// ---- a value with functions, and two builds of them ----

typedef struct old_engine {
    uint32_t power, version;
} old_engine;

typedef struct new_engine {
    uint64_t heat;
    uint32_t version, power;
} new_engine;

#define ENGINE(name, number)                                                                       \
    static void name##_create(const ecs_type_context* context, void* value) {                      \
        (void)context;                                                                             \
        *(name*)value = (name){.version = number};                                                 \
    }                                                                                              \
    static void name##_destroy(const ecs_type_context* context, void* value) {                     \
        (void)context;                                                                             \
        assert_int_equal(((name*)value)->version, number);                                         \
    }                                                                                              \
    static void name##_assign(const ecs_type_context* context, void* target, const void* source) { \
        (void)context;                                                                             \
        assert_int_equal(((const name*)source)->version, number);                                  \
        *(name*)target = *(const name*)source;                                                     \
    }                                                                                              \
    static void name##_write(const void* value, base_bytes* bytes) {                               \
        assert_int_equal(((const name*)value)->version, number);                                   \
        base_bytes_write_u32(bytes, ((const name*)value)->power);                                  \
    }                                                                                              \
    static bool name##_read(const ecs_type_context* context, void* value, base_reader* reader) {   \
        (void)context;                                                                             \
        ((name*)value)->power = base_reader_u32(reader);                                           \
        return !reader->failed;                                                                    \
    }                                                                                              \
    static const ecs_type_ops name##_ops = {.create = name##_create,                               \
                                            .destroy = name##_destroy,                             \
                                            .assign = name##_assign,                               \
                                            .write = name##_write,                                 \
                                            .read = name##_read}

ENGINE(old_engine, 1);
ENGINE(new_engine, 2);

static bool refuse_read(const ecs_type_context* context, void* value, base_reader* reader) {
    reader->failed = true;
    return false;
}

static ecs_world* engine_world(uint32_t size, const ecs_type_ops* ops, const char* text) {
    ecs_world* world = data_world_create(NULL);
    const ecs_type_desc type = {.name = "Engine", .size = size, .align = 8, .ops = ops};
    assert_ok(ecs_type_register_as(world, &type, ECS_TYPE_BOXED, NULL, NULL));
    assert_ok(ecs_template_load(world, "e.blk", text, strlen(text), NULL));
    assert_ok(ecs_world_seal(world, NULL));
    assert_true(make(world, "a") != ECS_ENTITY_NONE); // both worlds have the same rows
    return world;
}

CASE(values_with_functions_go_as_bytes_from_one_build_to_another) {
    static const char* const texts[] = {"a { \"engine:Engine\"{ } x:i=1 }\n",
                                        "a { \"engine:Engine\"{ } x:i=2 }\n"};
    for (uint32_t i = 0; i < BASE_COUNT(texts); i++) {
        ecs_world* old = engine_world(sizeof(old_engine), &old_engine_ops, texts[0]);
        ecs_world* next = engine_world(sizeof(new_engine), &new_engine_ops, texts[i]);
        const ecs_entity entity = ecs_entity_next(old, ECS_ENTITY_NONE);
        const ecs_component_id engine = ecs_component_find(old, "engine");
        (*(old_engine**)ecs_get_mut(old, entity, engine))->power = 77;
        assert_ok(ecs_world_take_over(next, old, test_reporter()));
        ecs_type_ops refusing = new_engine_ops;
        refusing.read = refuse_read;
        ecs_world* other = engine_world(sizeof(new_engine), &refusing, texts[i]);
        assert_int_equal(ecs_world_take_over(other, old, test_reporter()), ECS_ERR_MALFORMED);
        ecs_world_destroy(other);
        const new_engine* got = *(new_engine* const*)ecs_get(next, entity, engine);
        assert_int_equal(got->power, 77);
        assert_int_equal(got->version, 2);
        ecs_world_destroy(old);
        ecs_world_destroy(next);
    }
}
