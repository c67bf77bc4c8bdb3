// SPDX-License-Identifier: MIT
/// Random scripts on a world with subscribed systems, and on a twin that predicts their events:
/// every core event in order, with the commands that handlers record; which entities enter and
/// leave, and when; groups (S5.18, S5.10, S4.2 to S4.5, S1.5). Structure changes at once, in bulk,
/// by command, by save and restore, and ends by clearing.

#include "ecs_parts.h"
#include "model_scripts.h"

enum {
    KINDS = 6, // components c0 (tracked), c40, c80...: of several words of a mask
    SPREAD = 40,
    SHAPES = 40,
    LISTENERS = 7,
    WATCHERS = 4,
    ENTITIES = 3000,
    QUEUE = 4096,
    LOG = 1 << 16,
    TERMS = 4,
};

typedef struct matcher {
    ecs_term terms[TERMS + 1];
    uint32_t kinds[TERMS + 1];
    uint32_t count;
} matcher;

typedef struct note {
    uint32_t system;
    char letter;
    ecs_entity entity;
    int32_t value; // of c0 at that time; 0: it has none
} note;

typedef struct order {
    char op; // create, destroy, recreate
    ecs_entity entity;
    uint32_t shape;
} order;

typedef struct twin {
    ecs_entity handle;
    bool lives;
    uint32_t shape;
    int32_t value, told; // of c0
    bool is_changed;
} twin;

typedef struct model model;
typedef struct part {
    model* model;
    uint32_t number;
    matcher match;
    uint32_t events; // bit per hear_names
    uint32_t every;
    ecs_query* query;
    ecs_entity in[ENTITIES], out[ENTITIES]; // what the twin expects in the next step
    uint32_t in_count, out_count;
} part;

struct model {
    ecs_world* world;
    base_rng rng;
    bool has[SHAPES][KINDS];
    ecs_template_id ids[SHAPES];
    ecs_component_id c0;
    part listeners[LISTENERS], watchers[WATCHERS];
    part reactor;
    twin twins[ENTITIES];
    uint32_t twin_count;
    order queue[QUEUE];
    uint32_t queue_count;
    note real[LOG], expected[LOG];
    uint32_t real_count, expected_count;
    ecs_entity changed[ENTITIES];
    uint32_t changed_count;
    ecs_entity made[ENTITIES]; // handles that the world gave, for the twin
    uint32_t made_count, made_next;
    uint64_t heard, changes;
};

static const char letters[] = "+*><-";
static const char* const hear_names[] = {"EntityCreated", "EntityRecreated", "on_appear",
                                         "on_disappear", "EntityDestroyed"};

static void log_real(model* m, uint32_t system, char letter, ecs_entity entity, int32_t value) {
    assert_true(m->real_count < LOG);
    m->real[m->real_count++] = (note){system, letter, entity, value};
}

static void log_expected(model* m, uint32_t system, char letter, ecs_entity entity, int32_t value) {
    assert_true(m->expected_count < LOG);
    m->expected[m->expected_count++] = (note){system, letter, entity, value};
}

// The command that the reactor records for a creation. The handle decides it, so both sides agree.
static char reaction(ecs_entity entity, uint32_t* shape) {
    uint32_t hash = entity * 2654435761u;
    *shape = (hash >> 8) % SHAPES;
    static const char reactions[32] = "dcr";
    return reactions[hash >> 27];
}

// The real world

static char letter_of(const ecs_world* world, ecs_event_type type) {
    const char* name = ecs_event_get(world, type)->name;
    return name[0] == 'C'                         ? (name[10] == 'A' ? '>' : '<')
           : strcmp(name, "EntityCreated") == 0   ? '+'
           : strcmp(name, "EntityRecreated") == 0 ? '*'
                                                  : '-';
}

static void on_event(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    part* own = stage->context;
    if (event->size > 0) {
        own->model->changed[own->model->changed_count++] = event->target;
        return;
    }
    assert_true(rows->count == 0 || rows->entities[0] == event->target);
    const int32_t* value = ecs_find(stage->world, event->target, own->model->c0);
    log_real(own->model, own->number, letter_of(stage->world, event->type), event->target,
             value ? *value : 0);
}

static void on_birth(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    part* own = stage->context;
    uint32_t shape;
    char op = reaction(event->target, &shape);
    if (op == 'd') assert_true(ecs_command_destroy(stage->world, event->target));
    ecs_template_id id = own->model->ids[shape];
    if (op == 'c') assert_int_not_equal(ecs_command_create(stage->world, id, NULL, 0), 0);
    if (op == 'r') assert_true(ecs_command_recreate(stage->world, event->target, id, NULL, 0));
}

static void on_enter(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    part* own = stage->context;
    for (uint32_t i = 0; i < count; i++) {
        log_real(own->model, own->number, 'i', entities[i], 0);
        if (entities[i] % 16 == 5) assert_true(ecs_command_destroy(stage->world, entities[i]));
    }
}

static void on_leave(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    part* own = stage->context;
    for (uint32_t i = 0; i < count; i++)
        log_real(own->model, own->number, 'o', entities[i], 0);
}

static const char* const kind_names[KINDS] = {"c0", "c40", "c80", "c120", "c160", "c200"};

static void fill_matcher(model* m, matcher* match) {
    static const ecs_access accesses[] = {ECS_READ,  ECS_REQUIRE_NOT,   ECS_ANY,
                                          ECS_ANY,   ECS_REQUIRE,       ECS_OPTIONAL_READ,
                                          ECS_WRITE, ECS_OPTIONAL_WRITE};
    match->count = 0;
    uint32_t count = 1 + base_rng_below(&m->rng, TERMS);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = base_rng_below(&m->rng, KINDS);
        match->kinds[match->count] = kind;
        match->terms[match->count++] =
            (ecs_term){kind_names[kind], "i", accesses[base_rng_below(&m->rng, 8)]};
    }
    if (base_rng_below(&m->rng, 5) == 0)
        match->terms[match->count++] = (ecs_term){NULL, NULL, ECS_ONLY};
}

static ecs_world* make_world(model* m) {
    ecs_world_config config = ecs_world_config_default();
    config.limits.local_entities_max = ENTITIES * 2;
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    static char text[16384];
    size_t used = 0;
    for (uint32_t k = 0; k <= SPREAD * (KINDS - 1); k++) // all components, in the order of numbers
        used += (size_t)snprintf(text + used, sizeof text - used, "k%u { c%u:i=0\n }\n", k, k);
    for (uint32_t s = 0; s < SHAPES; s++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "s%u {\n", s);
        for (uint32_t k = 0; k < KINDS; k++)
            if (m->has[s][k])
                used +=
                    (size_t)snprintf(text + used, sizeof text - used, " \"%s:i\" { %svalue:i=0 }\n",
                                     kind_names[k], k == 0 ? "_track:b=yes; " : "");
        used += (size_t)snprintf(text + used, sizeof text - used, "}\n");
    }
    assert_ok(ecs_template_load(world, "core.blk", text, used, test_reporter()));
    for (uint32_t i = 0; i <= LISTENERS; i++) {
        part* own = i < LISTENERS ? &m->listeners[i] : &m->reactor;
        const char* events[5];
        uint32_t count = 0;
        for (uint32_t e = 0; e < 5; e++)
            if (own->events >> e & 1) events[count++] = hear_names[e];
        static const char* const track[] = {"c0"};
        char name[16];
        (void)snprintf(name, sizeof name, "l%u", i);
        system_add(world, .name = name, .events = events, .event_count = count,
                   .on_event = i < LISTENERS ? on_event : on_birth, .track = track,
                   .track_count = i == 0, .terms = own->match.terms, .term_count = own->match.count,
                   .context = own);
    }
    for (uint32_t i = 0; i < WATCHERS; i++) {
        part* own = &m->watchers[i];
        char name[16];
        (void)snprintf(name, sizeof name, "w%u", i);
        system_add(world, .name = name, .stage = "act", .every_ticks = own->every,
                   .on_enter = on_enter, .on_leave = on_leave, .terms = own->match.terms,
                   .term_count = own->match.count, .context = own);
        assert_ok(ecs_query_create(world, own->match.terms, own->match.count, &own->query));
    }
    assert_ok(ecs_world_seal(world, test_reporter()));
    for (uint32_t s = 0; s < SHAPES; s++) {
        char name[8];
        (void)snprintf(name, sizeof name, "s%u", s);
        m->ids[s] = ecs_template_find(world, name);
        assert_int_not_equal(m->ids[s], ECS_TEMPLATE_NONE);
    }
    m->c0 = ecs_component_find(world, "c0");
    return world;
}

// The twin

static bool matches(const model* m, const matcher* match, uint32_t shape) {
    const bool* has = m->has[shape];
    bool wants_any = false, has_any = false, is_only = false, named[KINDS] = {false};
    for (uint32_t i = 0; i < match->count; i++) {
        ecs_access access = match->terms[i].access;
        uint32_t kind = match->kinds[i];
        if (access == ECS_ONLY) {
            is_only = true;
            continue;
        }
        bool must = access == ECS_READ || access == ECS_WRITE || access == ECS_REQUIRE;
        if ((must && !has[kind]) || (access == ECS_REQUIRE_NOT && has[kind])) return false;
        wants_any = wants_any || access == ECS_ANY;
        has_any = has_any || (access == ECS_ANY && has[kind]);
        named[kind] = named[kind] || access != ECS_REQUIRE_NOT;
    }
    for (uint32_t k = 0; k < KINDS && is_only; k++)
        if (has[k] && !named[k]) return false;
    return !wants_any || has_any;
}

static bool take_out(ecs_entity* list, uint32_t* count, ecs_entity entity) {
    for (uint32_t i = 0; i < *count; i++) {
        if (list[i] != entity) continue;
        memmove(list + i, list + i + 1, (--*count - i) * sizeof *list);
        return true;
    }
    return false;
}

// SHAPES means no shape.
static bool fits(const model* m, const matcher* match, uint32_t shape) {
    return shape != SHAPES && matches(m, match, shape);
}

static void report(model* m, uint32_t event, const twin* t, uint32_t is, uint32_t is_not) {
    const ecs_entity entity = t->handle;
    for (uint32_t i = 0; i < LISTENERS; i++) {
        part* own = &m->listeners[i];
        if ((own->events >> event & 1) && fits(m, &own->match, is) && !fits(m, &own->match, is_not))
            log_expected(m, own->number, letters[event], entity, t->value);
    }
    uint32_t shape;
    char op = event == 0 ? reaction(entity, &shape) : '\0';
    if (op != '\0') m->queue[m->queue_count++] = (order){op, op == 'c' ? 0 : entity, shape};
}

static void change_shape(model* m, twin* t, uint32_t from, uint32_t to) {
    report(m, 3, t, from, to);
    if (to == SHAPES) report(m, 4, t, from, SHAPES);
    t->lives = to != SHAPES;
    if (t->lives && !m->has[to][0]) t->value = 0;
    t->shape = to;
    for (uint32_t i = 0; i < WATCHERS; i++) {
        part* own = &m->watchers[i];
        bool was = fits(m, &own->match, from), is = fits(m, &own->match, to);
        if (is && !was && !take_out(own->out, &own->out_count, t->handle))
            own->in[own->in_count++] = t->handle;
        if (was && !is && !take_out(own->in, &own->in_count, t->handle))
            own->out[own->out_count++] = t->handle;
    }
    if (to == SHAPES) return;
    report(m, from == SHAPES ? 0 : 1, t, to, SHAPES);
    report(m, 2, t, to, from);
}

static twin* find(model* m, ecs_entity handle) {
    for (uint32_t i = 0; i < m->twin_count; i++)
        if (m->twins[i].lives && m->twins[i].handle == handle) return &m->twins[i];
    return NULL;
}

static void twin_create(model* m, ecs_entity handle, uint32_t shape) {
    assert_true(m->twin_count < ENTITIES && find(m, handle) == NULL);
    twin* t = &m->twins[m->twin_count++];
    *t = (twin){.handle = handle};
    change_shape(m, t, SHAPES, shape);
}

static void twin_recreate(model* m, twin* t, uint32_t shape) {
    if (t->shape == shape) return;
    change_shape(m, t, t->shape, shape);
    t->told = t->value;
}

static void twin_flush(model* m) {
    for (uint32_t i = 0; i < m->queue_count; i++) {
        order o = m->queue[i];
        if (o.op == 'c') {
            assert_true(m->made_next < m->made_count);
            twin_create(m, m->made[m->made_next++], o.shape);
            continue;
        }
        twin* t = find(m, o.entity);
        if (t == NULL) continue;
        if (o.op == 'd')
            change_shape(m, t, t->shape, SHAPES);
        else
            twin_recreate(m, t, o.shape);
    }
    m->queue_count = 0;
}

static void twin_step(model* m, ecs_tick tick) {
    twin_flush(m);
    ecs_entity told[ENTITIES];
    uint32_t reported_count = 0;
    for (uint32_t i = 0; i < m->twin_count; i++) {
        twin* t = &m->twins[i];
        if (t->lives && t->is_changed && fits(m, &m->listeners[0].match, t->shape))
            told[reported_count++] = t->handle;
        t->is_changed = false;
    }
    m->changes += reported_count;
    assert_int_equal(m->changed_count, reported_count); // as sets
    for (uint32_t i = 0; i < reported_count; i++)
        assert_true(take_out(m->changed, &m->changed_count, told[i]));
    for (uint32_t i = 0; i < WATCHERS; i++) {
        part* own = &m->watchers[i];
        if (tick % own->every != 0) continue;
        for (uint32_t k = 0; k < own->out_count; k++)
            log_expected(m, own->number, 'o', own->out[k], 0);
        for (uint32_t k = 0; k < own->in_count; k++) {
            log_expected(m, own->number, 'i', own->in[k], 0);
            if (own->in[k] % 16 == 5) m->queue[m->queue_count++] = (order){'d', own->in[k], 0};
        }
        own->out_count = own->in_count = 0;
        twin_flush(m);
    }
    for (uint32_t i = 0; i < m->twin_count; i++) {
        twin* t = &m->twins[i];
        t->is_changed = t->lives && m->has[t->shape][0] && t->value != t->told;
        t->told = t->value;
    }
}

// Both

static void take_made(model* m) {
    ecs_changes changes = ecs_changes_get(m->world);
    assert_true(changes.created_count <= ENTITIES);
    if (changes.created_count > 0)
        memcpy(m->made, changes.created, changes.created_count * sizeof(ecs_entity));
    m->made_count = changes.created_count;
    m->made_next = 0;
    ecs_changes_clear(m->world);
}

static void compare(model* m) {
    assert_int_equal(m->real_count, m->expected_count);
    for (uint32_t i = 0; i < m->real_count; i++) {
        assert_int_equal(m->real[i].letter, m->expected[i].letter);
        assert_int_equal(m->real[i].system, m->expected[i].system);
        assert_int_equal(m->real[i].entity, m->expected[i].entity);
        assert_int_equal(m->real[i].value, m->expected[i].value);
    }
    m->heard += m->real_count;
    m->real_count = m->expected_count = 0;
    uint32_t living = 0;
    for (uint32_t i = 0; i < m->twin_count; i++)
        living += m->twins[i].lives;
    assert_int_equal(ecs_world_entity_count(m->world), living);
    for (uint32_t i = 0; i < WATCHERS; i++) {
        part* own = &m->watchers[i];
        uint32_t count = 0;
        for (uint32_t k = 0; k < m->twin_count; k++)
            count += m->twins[k].lives && fits(m, &own->match, m->twins[k].shape);
        assert_int_equal(ecs_query_count(m->world, own->query), count);
        twin* first = find(m, ecs_query_first(m->world, own->query));
        assert_int_equal(first != NULL, count > 0);
        assert_true(first == NULL || fits(m, &own->match, first->shape));
    }
}

static ecs_entity pick(model* m) {
    return m->twin_count == 0 ? ecs_entity_make(70000, 1)
                              : m->twins[base_rng_below(&m->rng, m->twin_count)].handle;
}

static void do_commands(model* m) {
    uint32_t count = 1 + base_rng_below(&m->rng, 24);
    uint32_t dice = base_rng_below(&m->rng, 4); // runs of a kind, or a mixture
    for (uint32_t i = 0; i < count; i++) {
        char op = "cdr"[dice == 3 ? base_rng_below(&m->rng, 3) : dice];
        uint32_t shape = dice == 3 ? base_rng_below(&m->rng, SHAPES) : count % SHAPES;
        ecs_entity entity = op == 'c' ? 0 : pick(m);
        if (op == 'd') assert_true(ecs_command_destroy(m->world, entity));
        if (op == 'c')
            assert_int_not_equal(ecs_command_create(m->world, m->ids[shape], NULL, 0), 0);
        if (op == 'r') assert_true(ecs_command_recreate(m->world, entity, m->ids[shape], NULL, 0));
        m->queue[m->queue_count++] = (order){op, entity, shape};
    }
    ecs_command_flush(m->world);
    take_made(m);
    twin_flush(m);
    assert_int_equal(m->made_next, m->made_count);
}

static void do_create(model* m) {
    uint32_t shape = base_rng_below(&m->rng, SHAPES);
    ecs_entity made[12];
    uint32_t count = 1 + base_rng_below(&m->rng, 12);
    if (count > 6) {
        count = 1;
        assert_ok(ecs_create(m->world, m->ids[shape], NULL, 0, made));
    } else {
        assert_ok(ecs_create_many(m->world, m->ids[shape], count, made));
    }
    for (uint32_t i = 0; i < count; i++)
        twin_create(m, made[i], shape);
}

static void do_one(model* m) {
    ecs_entity entity = pick(m);
    twin* t = find(m, entity);
    uint32_t shape = base_rng_below(&m->rng, SHAPES);
    ecs_result expected = t == NULL ? ECS_ERR_STALE : ECS_OK;
    switch (base_rng_below(&m->rng, 3)) {
    case 0:
        assert_int_equal(ecs_destroy(m->world, entity), expected); // S4.8
        if (t != NULL) change_shape(m, t, t->shape, SHAPES);
        break;
    case 1:
        assert_int_equal(ecs_recreate(m->world, entity, m->ids[shape], NULL, 0), expected);
        if (t != NULL) twin_recreate(m, t, shape);
        break;
    default:
        if (t != NULL && m->has[t->shape][0]) {
            t->value = base_rng_range(&m->rng, 0, 3);
            assert_ok(ecs_set(m->world, entity, m->c0, &t->value));
        }
    }
}

static void do_step(model* m) {
    ecs_step step = {.tick = ecs_world_tick(m->world) + 1, .dt = 1};
    ecs_world_step(m->world, &step);
    take_made(m);
    twin_step(m, step.tick);
    assert_int_equal(m->made_next, m->made_count);
}

static void do_restore(model* m) {
    uint64_t hash = ecs_world_hash(m->world);
    ecs_world* other = make_world(m);
    if (base_rng_below(&m->rng, 2) == 0) {
        assert_ok(ecs_world_copy(other, m->world));
    } else {
        base_bytes bytes = world_saved(m->world);
        assert_ok(ecs_world_restore(other, bytes.data, bytes.size));
        base_bytes_deinit(&bytes);
    }
    assert_true(ecs_world_hash(other) == hash);
    ecs_world_destroy(m->world);
    m->world = other;
}

static int by_index(const void* a, const void* b) {
    uint32_t x = ecs_entity_index(((const twin*)a)->handle);
    uint32_t y = ecs_entity_index(((const twin*)b)->handle);
    return (x > y) - (x < y);
}

static void do_clear(model* m) {
    ecs_world_clear(m->world);
    qsort(m->twins, m->twin_count, sizeof(twin), by_index);
    for (uint32_t i = 0; i < m->twin_count; i++) {
        if (m->twins[i].lives) change_shape(m, &m->twins[i], m->twins[i].shape, SHAPES);
        m->twins[i].is_changed = false;
    }
    m->queue_count = 0;
}

static void run_script(model* m, uint64_t seed, uint32_t operations) {
    memset(m, 0, sizeof *m);
    m->rng = base_rng_make(seed, 7);
    for (uint32_t s = 0; s < SHAPES; s++)
        for (uint32_t k = 0; k < KINDS; k++)
            m->has[s][k] = base_rng_below(&m->rng, 5) < 2;
    for (uint32_t i = 0; i < LISTENERS + WATCHERS; i++) {
        part* own = i < LISTENERS ? &m->listeners[i] : &m->watchers[i - LISTENERS];
        fill_matcher(m, &own->match);
        own->events = 1 + base_rng_below(&m->rng, 31);
        own->every = 1 + base_rng_below(&m->rng, 4);
        own->number = i;
        own->model = m;
    }
    m->reactor = (part){.model = m, .events = 1, .number = LISTENERS + WATCHERS};
    m->world = make_world(m);
    for (uint32_t i = 0; i < operations && m->twin_count < ENTITIES - 200; i++) {
        static const struct {
            uint32_t below; // of 100
            void (*run)(model* m);
        } kinds[] = {{20, do_create},  {60, do_one},   {75, do_commands}, {95, do_step},
                     {98, do_restore}, {99, do_clear}, {100, take_made}};
        const uint32_t dice = base_rng_below(&m->rng, 100);
        uint32_t k = 0;
        while (dice >= kinds[k].below)
            k++;
        kinds[k].run(m);
        ecs_changes_clear(m->world);
        compare(m);
        if (i % 16 == 0) ecs_world_validate(m->world);
    }
    ecs_world_validate(m->world);
    ecs_world_destroy(m->world);
}

static model_scripts scripts = {.count = 60, .seed = 1};

CASE(what_systems_hear_is_what_the_twin_predicts) { // S5.18 S5.10 S4.2 S4.5 S1.5
    model* m = malloc(sizeof *m);
    assert_non_null(m);
    uint64_t heard = 0, changes = 0;
    for (uint64_t i = 0; i < scripts.count; i++) {
        run_script(m, scripts.seed + i, 250);
        heard += m->heard;
        changes += m->changes;
    }
    free(m);
    print_message("heard %llu, changes %llu\n", (unsigned long long)heard,
                  (unsigned long long)changes);
    assert_true(heard > 200 * scripts.count); // scripts without events would prove nothing
}

MODEL_MAIN(5)
