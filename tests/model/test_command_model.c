// SPDX-License-Identifier: MIT
/// The same random changes to two worlds: one records them as commands and flushes, the other makes
/// each at once. After that both must be equal: handles, rows, values, lists, hashes. Types own
/// memory or point into themselves, some components are tracked and some are not, placeholders are
/// targets and values, handles are held, and indices run out.

#include "ecs_parts.h"
#include "model_scripts.h"

static const char model_text[] =
    "dot { pos:p2=1,2 vel:p2=3,4 }\n"
    "seen { \"pos:p2\" { _track:b=yes; value:p2=1,2 } vel:p2=3,4 }\n"
    "sent { \"pos:p2\" { _replicate:b=yes; value:p2=1,2 } \"ref:eid\" { _track:b=yes; } }\n"
    "named { \"title:t\" { _track:b=yes; value:t=\"absent\" } pos:p2=5,6 }\n"
    "quiet { title:t=\"any_name far too long for a short string\" \"body:padded\" { } }\n"
    "looped { \"self:selfish\" { _track:b=yes; } ref:eid=0 }\n"
    "hidden { \"self:selfish\" { } \"body:padded\" { _track:b=yes; } }\n"
    "marked { \"mark:tag\" { _track:b=yes; } vel:p2=7,8 }\n"
    "tall { hp:i=3 vel:p2=7,8 }\n"
    "flat { hp:i=4 pos:p2=9,9 size:p3=1,2,3 }\n"
    "nothing { }\n";

static const char* const shape_names[] = {
    "dot",        "seen",        "sent",          "named",     "quiet",   "looped",
    "hidden",     "marked",      "tall",          "flat",      "nothing", "dot+named",
    "seen+quiet", "sent+looped", "looped+hidden", "dot+marked"};
static const char* const component_names[] = {"pos", "vel", "ref", "title", "self", "body", "mark"};
enum { POS, VEL, REF, TITLE, SELF, BODY, MARK, COMPONENTS, SHAPES = BASE_COUNT(shape_names) };
enum { INDICES = 1500, HANDLES_MAX = 4096, ORDERS_MAX = 2000, TEXT_BYTES = 40 };

typedef struct padded {
    uint8_t kind;
    double mass;
    uint16_t tail;
} padded;

static const ecs_field padded_fields[] = {
    FIELD_OF(padded, kind, U8, 1), FIELD_OF(padded, mass, F64, 1), FIELD_OF(padded, tail, U16, 1)};

// A type that only its own functions can move: it points at itself, and owns a block.
typedef struct selfish {
    struct selfish* self;
    uint32_t* block;
} selfish;

static void selfish_create(const ecs_type_context* context, void* value) {
    (void)context;
    *(selfish*)value = (selfish){.self = value};
}

static void selfish_destroy(const ecs_type_context* context, void* value) {
    selfish* it = value;
    assert_true(it->self == it);
    base_release(context->allocator, it->block, sizeof *it->block);
    *it = (selfish){0};
}

static void selfish_copy(const ecs_type_context* context, void* target, const void* source) {
    const selfish* from = source;
    assert_true(from->self == from);
    selfish made = {.self = target};
    if (from->block) {
        made.block = base_allocate(context->allocator, sizeof *made.block);
        *made.block = *from->block;
    }
    *(selfish*)target = made;
}

static void selfish_move(const ecs_type_context* context, void* target, void* source) {
    (void)context;
    const selfish* from = source;
    assert_true(from->self == from);
    *(selfish*)target = (selfish){target, from->block};
    memset(source, 0xee, sizeof(selfish));
}

static bool selfish_equal(const void* a, const void* b) {
    const selfish *left = a, *right = b;
    assert_true(left->self == left && right->self == right);
    if (!left->block || !right->block) return left->block == right->block;
    return *left->block == *right->block;
}

static void selfish_write(const void* value, base_bytes* bytes) {
    const selfish* it = value;
    assert_true(it->self == it);
    base_bytes_write_u8(bytes, it->block != NULL);
    if (it->block) base_bytes_write_u32(bytes, *it->block);
}

static bool selfish_read(const ecs_type_context* context, void* value, base_reader* reader) {
    selfish* it = value;
    assert_true(it->self == it);
    uint8_t has = base_reader_u8(reader);
    if (reader->failed || has > 1) {
        reader->failed = true;
        return false;
    }
    if (has && !it->block && !(it->block = base_allocate(context->allocator, sizeof *it->block)))
        return false;
    if (has) *it->block = base_reader_u32(reader);
    if (has) return !reader->failed;
    base_release(context->allocator, it->block, sizeof *it->block);
    it->block = NULL;
    return true;
}

static const ecs_type_ops selfish_ops = {.create = selfish_create,
                                         .destroy = selfish_destroy,
                                         .copy = selfish_copy,
                                         .equal = selfish_equal,
                                         .move = selfish_move,
                                         .write = selfish_write,
                                         .read = selfish_read};

// An allocator that counts.
typedef struct memory {
    base_allocator allocator;
    int64_t bytes_out;
    base_rng rng;
} memory;

static void* memory_allocate(void* context, size_t size, size_t align) {
    memory* from = context;
    void* block = base_allocator_heap()->allocate(NULL, size, align);
    if (block)
        memset(block, (int)base_rng_below(&from->rng, 256), size); // the content must not matter
    from->bytes_out += (int64_t)size;
    return block;
}

static void memory_release(void* context, void* block, size_t size) {
    ((memory*)context)->bytes_out -= (int64_t)size;
    base_allocator_heap()->release(NULL, block, size);
}

static ecs_component_id components[COMPONENTS];
static ecs_template_id shapes[SHAPES];

static void run_drift(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    ecs_vec2* pos = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        if (ecs_entity_index(rows->entities[i]) % 3 == 0) pos[i].x += 1;
}

static ecs_world* make_world(memory* from, bool is_mirror, uint32_t indices) {
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &from->allocator;
    config.is_mirror = is_mirror;
    config.limits.replicated_index_max = INDICES;
    config.limits.local_entities_max = indices;
    config.limits.commands_queued_max = ORDERS_MAX;
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    ecs_type_desc body = {"padded", sizeof(padded), _Alignof(padded), padded_fields, 3, NULL};
    ecs_type_desc self = {"selfish", sizeof(selfish), _Alignof(selfish), NULL, 0, &selfish_ops};
    assert_ok(ecs_type_register(world, &body, NULL));
    assert_ok(ecs_type_register(world, &self, NULL));
    assert_ok(
        ecs_template_load(world, "model.blk", model_text, strlen(model_text), test_reporter()));
    system_add(world, .name = "drift", .stage = "act", .run = run_drift,
               TERMS({"pos", "p2", ECS_WRITE}));
    assert_ok(ecs_world_seal(world, test_reporter()));
    for (uint32_t i = 0; i < COMPONENTS; i++)
        components[i] = ecs_component_find(world, component_names[i]);
    for (uint32_t i = 0; i < SHAPES; i++)
        assert_int_not_equal(shapes[i] = ecs_template_find(world, shape_names[i]), 0);
    return world;
}

// A value of each component, and the memory that it owns.
typedef struct value_set {
    ecs_vec2 pos, vel;
    ecs_entity ref;
    char text[TEXT_BYTES];
    ecs_string title;
    uint32_t number;
    selfish self;
    padded body;
    ecs_init inits[COMPONENTS + 1]; // one component may occur twice
    uint32_t count;
} value_set;

static float any_float(base_rng* rng) {
    static const uint32_t bits[] = {0,           0x80000000u, 0x7fc00000u, 0xffc00001u,
                                    0x7f800000u, 1,           0x3f800000u};
    float value;
    memcpy(&value, &bits[base_rng_below(rng, BASE_COUNT(bits))], sizeof value);
    return value;
}

static void add_init(value_set* set, uint32_t component, const void* value) {
    set->inits[set->count++] = (ecs_init){components[component], value};
}

// `ref` is separate: a placeholder in one world is a handle in the other.
// `mask`: these components, whatever `one_in` says; 0: any.
static void any_values(base_rng* rng, uint32_t one_in, uint32_t mask, value_set* set) {
    set->count = 0;
    set->pos = (ecs_vec2){any_float(rng), any_float(rng)};
    set->vel = (ecs_vec2){any_float(rng), (float)base_rng_below(rng, 9)};
    int length = (int)base_rng_below(rng, TEXT_BYTES);
    (void)snprintf(set->text, sizeof set->text, "%.*s", length,
                   "abcdefghijklmnopqrstuvwxyz0123456789abc");
    set->title =
        (ecs_string){.data = length ? set->text : NULL, .size = (uint32_t)strlen(set->text)};
    set->number = base_rng_below(rng, 4);
    set->self = (selfish){&set->self, set->number ? &set->number : NULL};
    memset(&set->body, (int)base_rng_below(rng, 256), sizeof set->body); // padding too
    set->body.mass = (double)any_float(rng);
    const void* values[COMPONENTS] = {&set->pos,  &set->vel,  &set->ref, &set->title,
                                      &set->self, &set->body, ""};
    for (uint32_t c = 0; c < COMPONENTS; c++)
        if (mask ? mask >> c & 1 : base_rng_below(rng, one_in) == 0) add_init(set, c, values[c]);
    if (set->count > 0 && base_rng_below(rng, 30) == 0) set->inits[set->count++] = set->inits[0];
}

// Inits of the shape's components; now and then one that it lacks, so that the change fails.
static void fit_values(const ecs_world* world, base_rng* rng, uint32_t shape, value_set* set) {
    uint32_t kept = 0;
    bool is_wrong = base_rng_below(rng, 25) == 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (is_wrong || ecs_template_find_component(ecs_template_get(world, shapes[shape]),
                                                    set->inits[i].component))
            set->inits[kept++] = set->inits[i];
    set->count = kept;
}

typedef struct model {
    memory from[2];
    ecs_world* world[2]; // [0] records, [1] acts at once
    bool is_mirror;
    uint32_t indices; // of local entities
    base_rng rng;
    ecs_entity handles[HANDLES_MAX]; // some of destroyed entities
    uint32_t handle_count;
    // Creations of the next flush: their handle or placeholder in each world.
    ecs_entity placeholders[ORDERS_MAX], made[ORDERS_MAX];
    uint32_t made_count;
    uint32_t order_count;
} model;

static void any_entity(model* m, ecs_entity* recorded, ecs_entity* now) {
    if (m->made_count > 0 && base_rng_below(&m->rng, 3) == 0) {
        uint32_t i = base_rng_below(&m->rng, m->made_count);
        *recorded = m->placeholders[i];
        *now = m->made[i];
        return;
    }
    *recorded = *now =
        m->handle_count ? m->handles[base_rng_below(&m->rng, m->handle_count)] : ECS_ENTITY_NONE;
}

// Words of the value of an init; 0: a compiler that optimises would not pass it in registers.
static uint32_t words_of(const value_set* set, uint32_t i) {
    const ecs_component_id id = set->inits[i].component;
    if (id == components[0] || id == components[1]) return 2; // pos, vel
    return id == components[2] ? 1 : 0;                       // ref
}

// Record a command with the values of the set, half of the short ones as optimised callers do it.
static bool record(model* m, ecs_command_op op, ecs_entity target, ecs_template_id kind,
                   const value_set* set) {
    const bool may_be_short = set->count == 1 || set->count == 2;
    const uint32_t first = may_be_short ? words_of(set, 0) : 0;
    const uint32_t second = set->count == 2 ? words_of(set, 1) : 0;
    if (first == 0 || (set->count == 2 && second == 0) || base_rng_below(&m->rng, 2) == 0)
        return ecs_detail_command_add(m->world[0], op, target, kind, set->inits, set->count);
    return ecs_detail_command_add_words(m->world[0], op, target, kind, set->inits, first, second);
}

static void order_create(model* m, uint32_t shape, value_set* set, ecs_entity now_ref) {
    uint32_t* created = &ecs_fast_of(m->world[0])->commands->created_count;
    const ecs_entity placeholder = ecs_entity_make(*created + 1, 0); // as ecs_command_create does
    assert_true(record(m, ECS_COMMAND_CREATE, placeholder, shapes[shape], set));
    ++*created;
    assert_true(ecs_entity_is_placeholder(placeholder));
    set->ref = now_ref;
    ecs_entity made = ECS_ENTITY_NONE;
    (void)!ecs_create(m->world[1], shapes[shape], set->inits, set->count, &made);
    m->placeholders[m->made_count] = placeholder;
    m->made[m->made_count++] = made;
}

// What the commands of a run have in common; `mask` and `component` of 0: anything.
typedef struct run_kind {
    uint32_t kind, shape, mask, component;
} run_kind;

static void order_one(model* m, const run_kind* run, ecs_entity recorded, ecs_entity now) {
    const uint32_t kind = run->kind, shape = run->shape;
    value_set set;
    ecs_entity now_ref;
    any_entity(m, &set.ref, &now_ref);
    any_values(&m->rng, base_rng_below(&m->rng, 2) ? 6 : 1000, run->mask, &set);
    m->order_count++;
    if (kind == 3) {
        uint32_t c = run->component ? run->component - 1 : base_rng_below(&m->rng, COMPONENTS);
        const void* values[COMPONENTS] = {&set.pos,  &set.vel,  &set.ref, &set.title,
                                          &set.self, &set.body, ""};
        set.count = 0;
        add_init(&set, c, values[c]);
        assert_true(record(m, ECS_COMMAND_SET, recorded, ECS_TEMPLATE_NONE, &set));
        set.ref = now_ref;
        (void)!ecs_set(m->world[1], now, components[c], values[c]);
        return;
    }
    fit_values(m->world[0], &m->rng, shape, &set);
    if (kind == 0) {
        order_create(m, shape, &set, now_ref);
    } else if (kind == 1) {
        assert_true(ecs_command_destroy(m->world[0], recorded));
        (void)!ecs_destroy(m->world[1], now);
    } else {
        assert_true(record(m, ECS_COMMAND_RECREATE, recorded, shapes[shape], &set));
        set.ref = now_ref;
        (void)!ecs_recreate(m->world[1], now, shapes[shape], set.inits, set.count);
    }
}

// One kind of change to consecutive entities, some of them twice, or a mixture.
static void order_some(model* m) {
    base_rng* rng = &m->rng;
    const bool is_run = base_rng_below(rng, 2) == 0;
    const uint32_t count = 1 + base_rng_below(rng, is_run ? 150 : 12);
    run_kind run = {base_rng_below(rng, 4), base_rng_below(rng, SHAPES), 0, 0};
    if (is_run && base_rng_below(rng, 2) == 0) {
        run.mask = 1 + base_rng_below(rng, (1u << COMPONENTS) - 1);
        run.component = 1 + base_rng_below(rng, COMPONENTS);
    }
    uint32_t at = m->handle_count ? base_rng_below(rng, m->handle_count) : 0;
    const uint32_t twice_in = base_rng_below(rng, 2) ? 10 : 1000;
    for (uint32_t i = 0; i < count && m->order_count < ORDERS_MAX; i++) {
        ecs_entity recorded, now;
        any_entity(m, &recorded, &now);
        if (is_run && m->handle_count > 0) {
            recorded = now = m->handles[at % m->handle_count];
            at += base_rng_below(rng, twice_in) != 0;
        }
        if (!is_run) {
            run.kind = base_rng_below(rng, 4);
            run.shape = base_rng_below(rng, SHAPES);
        }
        order_one(m, &run, recorded, now);
    }
}

static void any_hold(model* m) {
    ecs_entity entity = m->handle_count ? m->handles[base_rng_below(&m->rng, m->handle_count)] : 0;
    uint32_t kind = base_rng_below(&m->rng, 4);
    if (m->order_count > 0) return; // recorded commands would not see it in order
    for (uint32_t w = 0; w < 2; w++)
        if (kind == 0)
            (void)!ecs_handle_retain(m->world[w], entity);
        else if (kind == 1)
            ecs_handle_release(m->world[w], entity);
        else if (kind == 2)
            (void)!ecs_handle_load(m->world[w], entity);
        else
            ecs_handle_unload(m->world[w], entity);
    assert_int_equal(ecs_state(m->world[0], entity), ecs_state(m->world[1], entity));
}

// A mirror gets handles, also of indices that exist in another generation.
static void any_given(model* m) {
    if (!m->is_mirror || m->order_count > 0 || m->handle_count == HANDLES_MAX) return;
    ecs_entity entity =
        ecs_entity_make(1 + base_rng_below(&m->rng, 300), 1 + base_rng_below(&m->rng, 3));
    ecs_template_id shape = shapes[base_rng_below(&m->rng, SHAPES)];
    ecs_result result = ecs_create_at(m->world[1], entity, shape, NULL, 0);
    assert_int_equal(ecs_create_at(m->world[0], entity, shape, NULL, 0), result);
    m->handles[m->handle_count++] = entity;
}

static void same_entities(const ecs_entity* a, uint32_t a_count, const ecs_entity* b,
                          uint32_t b_count) {
    assert_int_equal(a_count, b_count);
    for (uint32_t i = 0; i < a_count; i++)
        assert_int_equal(a[i], b[i]);
}

static void compare(model* m) {
    ecs_changes a = ecs_changes_get(m->world[0]), b = ecs_changes_get(m->world[1]);
    same_entities(a.created, a.created_count, b.created, b.created_count);
    same_entities(a.destroyed, a.destroyed_count, b.destroyed, b.destroyed_count);
    same_entities(a.recreated, a.recreated_count, b.recreated, b.recreated_count);
    assert_int_equal(a.changed_count, b.changed_count);
    for (uint32_t i = 0; i < a.changed_count; i++) {
        assert_int_equal(a.changed[i].entity, b.changed[i].entity);
        assert_int_equal(a.changed[i].component, b.changed[i].component);
        for (uint32_t k = 0; k < a.created_count; k++)
            assert_true(a.created[k] != a.changed[i].entity);
    }
    assert_true(ecs_world_state_hash(m->world[0]) == ecs_world_state_hash(m->world[1]));
    assert_true(ecs_world_hash(m->world[0]) == ecs_world_hash(m->world[1]));
    for (uint32_t w = 0; w < 2; w++)
        ecs_world_validate(m->world[w]);
}

static void flush(model* m) {
    ecs_command_flush(m->world[0]);
    for (uint32_t i = 0; i < m->made_count; i++)
        if (m->handle_count < HANDLES_MAX && m->made[i] != ECS_ENTITY_NONE)
            m->handles[m->handle_count++] = m->made[i];
    m->made_count = m->order_count = 0;
    if (m->handle_count > HANDLES_MAX / 2 && base_rng_below(&m->rng, 4) == 0) {
        uint32_t kept = 0; // forget most handles of destroyed entities
        for (uint32_t i = 0; i < m->handle_count; i++)
            if (ecs_is_alive(m->world[1], m->handles[i]) || i % 8 == 0)
                m->handles[kept++] = m->handles[i];
        m->handle_count = kept;
    }
}

static void step(model* m) {
    ecs_step now = {.tick = ecs_world_tick(m->world[1]) + 1, .dt = 1};
    for (uint32_t w = 0; w < 2; w++)
        ecs_world_step(m->world[w], &now);
    compare(m);
    for (uint32_t w = 0; w < 2; w++)
        ecs_changes_clear(m->world[w]);
}

// Save and restore the recording world, with its queued commands.
static void reopen(model* m) {
    base_bytes bytes = {0};
    uint64_t hash = ecs_world_hash(m->world[0]);
    ecs_world_save(m->world[0], &bytes);
    if (base_rng_below(&m->rng, 2) == 0) {
        ecs_world_destroy(m->world[0]);
        m->world[0] = make_world(&m->from[0], m->is_mirror, m->indices);
    }
    assert_ok(ecs_world_restore(m->world[0], bytes.data, bytes.size));
    assert_true(ecs_world_hash(m->world[0]) == hash);
    base_bytes_deinit(&bytes);
}

// Two kinds of rows, each a little more than a chunk: changes of the newest ones empty the
// second chunk; these are in the order of their rows.
static void fill(model* m) {
    static ecs_entity made[ECS_CHUNK_ROWS_MAX + 60];
    for (uint32_t kind = 0; kind < 2; kind++) {
        for (uint32_t w = 0; w < 2; w++)
            assert_ok(ecs_create_many(m->world[w], shapes[kind], BASE_COUNT(made), made));
        for (uint32_t i = BASE_COUNT(made) - 500; i < BASE_COUNT(made); i++)
            m->handles[m->handle_count++] = made[i];
    }
}

static void open_model(model* m, uint64_t seed, uint32_t script) {
    memset(m, 0, sizeof *m);
    m->rng = base_rng_make(seed, script);
    m->is_mirror = base_rng_below(&m->rng, 3) == 0;
    m->indices = script % 6 == 5 ? 3 * ECS_CHUNK_ROWS_MAX : INDICES;
    for (uint32_t w = 0; w < 2; w++) {
        m->from[w] = (memory){.allocator = {memory_allocate, memory_release, &m->from[w]},
                              .rng = base_rng_make(seed + w, script)};
        m->world[w] = make_world(&m->from[w], m->is_mirror, m->indices);
    }
    if (m->indices > INDICES) fill(m);
}

static void close_model(model* m) {
    for (uint32_t w = 0; w < 2; w++) {
        ecs_world_destroy(m->world[w]);
        assert_int_equal(m->from[w].bytes_out, 0);
    }
}

static model_scripts scripts = {.count = 60, .seed = 7411};
static model shared;

CASE(recorded_orders_do_what_orders_at_once_do) {
    for (uint32_t script = 0; script < scripts.count; script++) {
        model* m = &shared;
        open_model(m, scripts.seed, script);
        uint32_t rounds = 20 + base_rng_below(&m->rng, 60);
        for (uint32_t round = 0; round < rounds; round++) {
            for (uint32_t i = base_rng_below(&m->rng, 6); i > 0; i--)
                any_hold(m);
            for (uint32_t i = base_rng_below(&m->rng, 20); i > 0; i--)
                any_given(m);
            for (uint32_t i = base_rng_below(&m->rng, round % 8 == 7 ? 40 : 8); i > 0; i--)
                order_some(m);
            bool is_reopened = base_rng_below(&m->rng, 12) == 0;
            if (is_reopened) reopen(m);
            flush(m);
            for (uint32_t w = 0; w < 2 && is_reopened; w++)
                ecs_changes_clear(m->world[w]); // the restore cleared one of the lists
            if (base_rng_below(&m->rng, 3) == 0)
                step(m);
            else
                compare(m);
        }
        close_model(m);
    }
}

MODEL_MAIN(20)
