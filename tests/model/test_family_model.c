// SPDX-License-Identifier: MIT
/// Loading and families (S5.22, S5.15, S5.10, P13) under random scripts, against a twin that has
/// one array and searches all of it each time.
#include "loading/load_world.h"
#include "model_scripts.h"

enum { TWINS_MAX = 4096, IDS = 6, STEPS = 120 };

typedef enum twin_state { TWIN_GONE, TWIN_WAITS, TWIN_LIVES } twin_state;

typedef struct twin {
    ecs_entity handle;
    twin_state state;
    ecs_template_id template_id;
    uint32_t mesh; ///< 0: none
    ecs_entity parent;
    bool is_visited;
} twin;

typedef enum known { UNKNOWN, WAITS, READY, FAILED } known;

typedef struct model {
    load fixture;
    base_rng rng;
    twin twins[TWINS_MAX]; ///< in the order of requests
    uint32_t count;
    known ids[IDS + 1];
    int finished[IDS + 1]; ///< what the loader answers: 0 busy, 1 ready, -1 failed
    ecs_entity told[TWINS_MAX * 2], expected[TWINS_MAX * 2];
    uint32_t reported_count, expected_count;
    uint64_t cut; ///< parents
} model;

static uint32_t below(model* m, uint32_t bound) {
    return base_rng_below(&m->rng, bound);
}

static twin* find(model* m, ecs_entity handle) {
    for (uint32_t i = m->count; i-- > 0;)
        if (m->twins[i].handle == handle && m->twins[i].state != TWIN_GONE) return &m->twins[i];
    return NULL;
}

static bool lives(model* m, ecs_entity handle) {
    twin* found = find(m, handle);
    return found && found->state == TWIN_LIVES;
}

static bool has_parent(const model* m, const twin* t) {
    return t->template_id == m->fixture.limb || t->template_id == m->fixture.tree;
}

// Any entity that exists or existed; sometimes none.
static ecs_entity pick(model* m) {
    if (m->count == 0 || below(m, 8) == 0) return ECS_ENTITY_NONE;
    for (uint32_t tries = 0; tries < 8; tries++) {
        twin* t = &m->twins[below(m, m->count)];
        if (t->state != TWIN_GONE) return t->handle;
    }
    return m->twins[m->count - 1].handle;
}

static void expect(model* m, ecs_entity entity) {
    m->expected[m->expected_count++] = entity;
}

static void record(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    model* m = stage->context;
    m->told[m->reported_count++] = event->target;
}

// No entity waits for an unknown resource: it is forgotten.
static void settle_ids(model* m) {
    for (uint32_t id = 1; id <= IDS; id++) {
        bool is_needed = false;
        for (uint32_t i = 0; i < m->count; i++)
            is_needed |= m->twins[i].state == TWIN_WAITS && m->twins[i].mesh == id;
        if (!is_needed && m->ids[id] < READY) m->ids[id] = UNKNOWN;
    }
}

static void cut_cycles(model* m) {
    bool is_on_cycle[TWINS_MAX] = {false};
    for (uint32_t i = 0; i < m->count; i++) {
        const twin* start = &m->twins[i];
        if (start->state != TWIN_LIVES || !has_parent(m, start)) continue;
        ecs_entity at = start->parent;
        for (uint32_t steps = 0; steps <= m->count && lives(m, at); steps++) {
            if (at == start->handle) {
                is_on_cycle[i] = true;
                break;
            }
            const twin* above = find(m, at);
            at = has_parent(m, above) ? above->parent : ECS_ENTITY_NONE;
        }
    }
    for (uint32_t i = 0; i < m->count; i++)
        if (is_on_cycle[i]) {
            m->twins[i].parent = ECS_ENTITY_NONE;
            m->cut++;
        }
}

static void do_create(model* m) {
    load* f = &m->fixture;
    const ecs_template_id templates[] = {f->limb, f->limb, f->tree, f->tree, f->prop, f->plain};
    twin made = {.template_id = templates[below(m, BASE_COUNT(templates))]};
    ecs_init inits[2];
    uint32_t count = 0;
    load_mesh mesh = {1 + below(m, IDS), 1};
    if (has_parent(m, &made)) {
        made.parent = pick(m);
        inits[count++] = (ecs_init){f->parent, &made.parent};
    }
    if (made.template_id == f->tree || made.template_id == f->prop) {
        made.mesh = mesh.id;
        inits[count++] = (ecs_init){f->mesh, &mesh};
    }
    ecs_entity entity = ECS_ENTITY_NONE;
    if (below(m, 2)) {
        ecs_result result = ecs_create(f->world, made.template_id, inits, count, &entity);
        assert_int_equal(result, made.mesh && m->ids[made.mesh] == FAILED ? ECS_ERR_LOAD : ECS_OK);
    } else {
        // By command: the handle is known after the flush. An event reports it.
        (void)ecs_command_create(f->world, made.template_id, inits, count);
        uint32_t told = m->reported_count;
        ecs_command_flush(f->world);
        const ecs_loading* loading = f->world->loading;
        entity = m->reported_count > told ? m->told[told]
                 : loading->last != 0     ? loading->slots[loading->last - 1].entity
                                          : ECS_ENTITY_NONE;
        if (made.mesh && m->ids[made.mesh] == FAILED) entity = ECS_ENTITY_NONE;
    }
    if (made.mesh && m->ids[made.mesh] == FAILED) return;
    made.handle = entity;
    made.state = !made.mesh || m->ids[made.mesh] == READY ? TWIN_LIVES : TWIN_WAITS;
    if (made.state == TWIN_WAITS) m->ids[made.mesh] = WAITS;
    if (made.state == TWIN_LIVES) expect(m, entity);
    m->twins[m->count++] = made;
}

static void do_poll(model* m) {
    for (uint32_t id = 1; id <= IDS; id++)
        if (m->ids[id] == WAITS && m->finished[id])
            m->ids[id] = m->finished[id] > 0 ? READY : FAILED;
    for (uint32_t i = 0; i < m->count; i++) {
        twin* t = &m->twins[i];
        if (t->state != TWIN_WAITS) continue;
        if (t->mesh == 0 || m->ids[t->mesh] == READY) {
            t->state = TWIN_LIVES;
            expect(m, t->handle);
        } else if (m->ids[t->mesh] == FAILED) {
            t->state = TWIN_GONE;
        }
    }
    (void)ecs_loading_poll(m->fixture.world);
}

// A change of a waiting entity requests resources that were not requested yet.
static void ask(model* m, const twin* t) {
    if (t->state == TWIN_WAITS && t->mesh && m->ids[t->mesh] < READY) m->ids[t->mesh] = WAITS;
}

static ecs_entity parent_of(const model* m, const twin* t) {
    return has_parent(m, t) ? t->parent : ECS_ENTITY_NONE;
}

// The next member of the family of `at`: existing ones by index, then waiting ones in the order of
// requests.
static twin* next_child(model* m, ecs_entity at) {
    twin* best = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        twin* t = &m->twins[i];
        if (t->state != TWIN_LIVES || t->is_visited || parent_of(m, t) != at) continue;
        if (!best || ecs_entity_index(t->handle) < ecs_entity_index(best->handle)) best = t;
    }
    for (uint32_t i = 0; i < m->count && !best; i++) {
        twin* t = &m->twins[i];
        if (t->state == TWIN_WAITS && !t->is_visited && parent_of(m, t) == at) best = t;
    }
    return best;
}

static void destroy_twin(model* m, twin* t) {
    t->is_visited = true;
    for (twin* child = next_child(m, t->handle); child; child = next_child(m, t->handle))
        destroy_twin(m, child);
    if (t->state == TWIN_LIVES) expect(m, t->handle);
    t->state = TWIN_GONE;
}

static void do_destroy(model* m) {
    ecs_entity entity = pick(m);
    twin* found = find(m, entity);
    bool exists = found != NULL;
    if (found) destroy_twin(m, found);
    if (below(m, 2)) {
        assert_true(ecs_command_destroy(m->fixture.world, entity));
        ecs_command_flush(m->fixture.world);
    } else {
        assert_int_equal(ecs_destroy(m->fixture.world, entity), exists ? ECS_OK : ECS_ERR_STALE);
    }
}

static bool is_met(model* m, ecs_entity at, ecs_entity ancestor) {
    for (uint32_t steps = 0; steps <= m->count && find(m, at); steps++) {
        if (at == ancestor) return true;
        at = parent_of(m, find(m, at));
    }
    return at == ancestor;
}

static void do_parent(model* m) {
    ecs_entity child = pick(m), parent = pick(m);
    twin* found = find(m, child);
    ecs_result expected = ECS_OK;
    if (!found || (parent && !find(m, parent)))
        expected = ECS_ERR_STALE;
    else if (parent && is_met(m, parent, child))
        expected = ECS_ERR_CYCLE;
    else if (!has_parent(m, found))
        expected = ECS_ERR_MISSING;
    assert_int_equal(ecs_hierarchy_set_parent(m->fixture.world, child, parent), expected);
    if (expected != ECS_OK) return;
    found->parent = parent;
    ask(m, found);
}

static void do_raw_parent(model* m) {
    ecs_entity child = pick(m), parent = pick(m);
    if (below(m, 16) == 0) parent = ecs_entity_make(ECS_INDEX_MAX, 1); // no world has this index
    twin* found = find(m, child);
    ecs_result result = ecs_set(m->fixture.world, child, m->fixture.parent, &parent);
    assert_int_equal(result, !found                 ? ECS_ERR_STALE
                             : has_parent(m, found) ? ECS_OK
                                                    : ECS_ERR_MISSING);
    if (result != ECS_OK) return;
    found->parent = parent;
    ask(m, found);
}

// An existing entity changes without a request; a waiting one requests again.
static void do_mesh(model* m) {
    ecs_entity entity = pick(m);
    twin* found = find(m, entity);
    if (!found || !found->mesh) return;
    load_mesh mesh = {1 + below(m, IDS), 1};
    assert_ok(ecs_set(m->fixture.world, entity, m->fixture.mesh, &mesh));
    found->mesh = mesh.id;
    ask(m, found);
}

static void do_recreate(model* m) {
    ecs_entity entity = pick(m);
    twin* found = find(m, entity);
    ecs_template_id to = below(m, 2) ? m->fixture.plain : m->fixture.limb;
    ecs_result result = ecs_recreate(m->fixture.world, entity, to, NULL, 0);
    assert_int_equal(result, found ? ECS_OK : ECS_ERR_STALE);
    if (!found) return;
    bool had = has_parent(m, found);
    found->template_id = to;
    found->mesh = 0;
    if (!had || !has_parent(m, found)) found->parent = ECS_ENTITY_NONE;
}

static void do_restore(model* m) {
    base_bytes bytes = {0};
    ecs_world* world = m->fixture.world;
    uint64_t hash = ecs_world_hash(world);
    ecs_world_save(world, &bytes);
    assert_ok(ecs_world_restore(world, bytes.data, bytes.size));
    assert_int_equal(ecs_world_hash(world), hash);
    base_bytes_deinit(&bytes);
}

static void do_finish(model* m) {
    uint32_t id = 1 + below(m, IDS);
    bool is_loaded = below(m, 4) != 0;
    if (m->ids[id] != WAITS) return;
    load_finish(m->fixture.manual, id, is_loaded);
    m->finished[id] = is_loaded ? 1 : -1;
}

static void compare(model* m) {
    ecs_world* world = m->fixture.world;
    uint32_t waiting = 0, living = 0;
    cut_cycles(m);
    assert_int_equal(m->reported_count, m->expected_count);
    assert_memory_equal(m->told, m->expected, m->reported_count * sizeof(m->told[0]));
    for (uint32_t i = 0; i < m->count; i++) {
        twin* t = &m->twins[i];
        t->is_visited = false;
        waiting += t->state == TWIN_WAITS;
        living += t->state == TWIN_LIVES;
        if (t->state == TWIN_GONE) {
            assert_true(find(m, t->handle) || ecs_state(world, t->handle) == ECS_STATE_NONE);
            continue;
        }
        assert_int_equal(ecs_state(world, t->handle),
                         t->state == TWIN_LIVES ? ECS_STATE_CREATED : ECS_STATE_LOADING);
        ecs_entity parent = lives(m, parent_of(m, t)) ? parent_of(m, t) : ECS_ENTITY_NONE;
        assert_int_equal(ecs_hierarchy_parent(world, t->handle),
                         t->state == TWIN_LIVES ? parent : ECS_ENTITY_NONE);
        bool is_complete = t->state == TWIN_LIVES;
        uint32_t children = 0;
        for (uint32_t k = 0; k < m->count; k++) {
            twin* other = &m->twins[k];
            is_complete &= other->state != TWIN_WAITS || !is_met(m, other->handle, t->handle);
            children += t->state == TWIN_LIVES && other->state == TWIN_LIVES &&
                        parent_of(m, other) == t->handle;
        }
        assert_int_equal(ecs_is_complete(world, t->handle), is_complete);
        for (ecs_entity child = ecs_hierarchy_first(world, t->handle); child != ECS_ENTITY_NONE;
             child = ecs_hierarchy_next(world, child))
            children--;
        assert_int_equal(children, 0);
    }
    assert_int_equal(ecs_world_counters(world)->parents_cut, m->cut);
    assert_int_equal(ecs_loading_count(world), waiting);
    assert_int_equal(ecs_world_entity_count(world), living);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_LOADING), waiting);
}

static void run_script(uint64_t seed) {
    model* m = calloc(1, sizeof(*m));
    m->rng = base_rng_make(seed, 0);
    load_begin(&m->fixture);
    m->fixture.config.limits.replicated_index_max = 64;
    m->fixture.config.limits.local_entities_max = 512;
    load_open_begun(&m->fixture);
    system_add(m->fixture.world, .name = "watch", EVENTS("EntityCreated", "EntityDestroyed"),
               .on_event = record, .context = m);
    load_seal(&m->fixture);
    void (*const moves[])(model*) = {do_create,   do_create,  do_create, do_poll,       do_poll,
                                     do_destroy,  do_parent,  do_parent, do_raw_parent, do_mesh,
                                     do_recreate, do_restore, do_finish, do_finish};
    for (uint32_t step = 0; step < STEPS; step++) {
        moves[below(m, BASE_COUNT(moves))](m);
        settle_ids(m);
        compare(m);
        if (step % 16 == 0) ecs_world_validate(m->fixture.world);
        if (step % 10 == 0) load_step(&m->fixture);
    }
    load_close(&m->fixture);
    free(m);
}

static model_scripts scripts = {.count = 400, .seed = 20260};

CASE(random_scripts_do_what_the_twin_does) {
    for (uint32_t i = 0; i < scripts.count; i++)
        run_script(scripts.seed + i);
}

MODEL_MAIN(20)
