// SPDX-License-Identifier: MIT
/// Random scripts on sparse components and on a twin: an array of entities that each hold whether
/// they have a component and its value, and per component the list of those that have it, in the
/// order that adding at the end and filling holes from the end gives.
/// Usage: test_sparse_model [scripts [seed]]; the environment variables MODEL_SCRIPTS and
/// MODEL_SEED do the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "base/rng.h"
#include "ecs/ecs.h"
#include "ecs/save.h"
#include "ecs/debug.h"

enum { ENTITIES = 300, ROUNDS = 40, OPERATIONS = 60, KINDS = 4, TEMPLATES = 3, QUERIES = 7 };
enum { STUN, BURN, NAME, FLAG };

static const char text[] = "a { \"pos:p2\"{ _track:b=yes; value:p2=1,2 } hp:i=5\n"
                           "  \"stun:i\"{ _sparse:b=yes; _track:b=yes; value:i=7 }\n"
                           "  \"burn:p3\"{ _sparse:b=yes; value:p3=8,0,0 }\n"
                           "  \"name:t\"{ _sparse:b=yes; _track:b=yes; value:t=\"9\" }\n"
                           "  \"flag:tag\"{ _sparse:b=yes } }\n"
                           "b { \"pos:p2\"{ _track:b=yes; value:p2=1,2 }\n"
                           "  \"stun:i\"{ _sparse:b=yes; _track:b=yes; value:i=17 }\n"
                           "  \"burn:p3\"{ _sparse:b=yes; value:p3=18,0,0 } }\n"
                           "c { hp:i=1 }\n";

static const bool is_stated[TEMPLATES][KINDS] = {{true, true, true, true}, {true, true}, {false}};
static const int defaults[TEMPLATES][KINDS] = {{7, 8, 9, 0}, {17, 18, 0, 0}, {0}};
static const char* const kind_names[KINDS] = {"stun", "burn", "name", "flag"};
static const bool is_tracked[KINDS] = {true, false, true, false};

// By query and kind, then pos and hp: r = must have it, n = must not, o = may, space = not named.
static const char* const wants[QUERIES] = {"r     ", "r   r ", "n   r ", "oo  r ",
                                           "rr    ", "  rr r", "o     "};

typedef struct twin {
    ecs_entity handle; // 0: dead
    uint32_t kind;     // template
    bool has[KINDS];
    int value[KINDS];
    int old[KINDS]; // after the last step
    bool moved[KINDS];
    bool is_fresh;
} twin;

typedef struct model {
    base_rng rng;
    ecs_world *world, *other;
    ecs_component_id ids[KINDS], pos, hp;
    ecs_template_id templates[TEMPLATES];
    ecs_query* queries[QUERIES];
    ecs_event_type poke;
    twin twins[ENTITIES];
    uint32_t order[KINDS][ENTITIES];
    uint32_t counts[KINDS];
    uint32_t seen[ENTITIES];
    uint32_t walk;
    ecs_tick tick;
} model;

static uint32_t below(model* m, uint32_t count) {
    return base_rng_below(&m->rng, count);
}

static void on_poke(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)stage;
    (void)event;
    assert_int_equal(rows->count, 1);
    int32_t* stun = rows->columns[1];
    *stun += 1;
}

static ecs_world* make_world(model* m, bool is_first) {
    static const char* const events[] = {"poke"};
    static const ecs_term terms[] = {{"pos", "p2", ECS_READ}, {"stun", "i", ECS_WRITE}};
    const ecs_event_desc poke = {.name = "poke"};
    const ecs_system_desc poked = {.name = "poked",
                                   .events = events,
                                   .event_count = 1,
                                   .on_event = on_poke,
                                   .terms = terms,
                                   .term_count = 2};
    const ecs_world_config config = ecs_world_config_default();
    ecs_world* world;
    ecs_event_type type;
    assert_int_equal(ecs_world_create(&config, &world), ECS_OK);
    assert_int_equal(ecs_event_register(world, &poke, &type), ECS_OK);
    assert_int_equal(ecs_template_load(world, "s.blk", text, sizeof text - 1, NULL), ECS_OK);
    assert_int_equal(ecs_system_register(world, &poked), ECS_OK);
    for (uint32_t q = 0; q < QUERIES; q++) {
        static const char* const names[] = {"stun", "burn", "name", "flag", "pos", "hp"};
        ecs_term made[6];
        uint32_t count = 0;
        for (uint32_t i = 0; i < 6; i++) {
            if (wants[q][i] == ' ') continue;
            const bool is_tag = i == FLAG;
            made[count++] = (ecs_term){names[i], NULL,
                                       wants[q][i] == 'n'   ? ECS_REQUIRE_NOT
                                       : wants[q][i] == 'o' ? ECS_OPTIONAL_READ
                                       : is_tag             ? ECS_REQUIRE
                                                            : ECS_READ};
        }
        ecs_query* query;
        assert_int_equal(ecs_query_create(world, made, count, &query), ECS_OK);
        if (is_first) m->queries[q] = query;
    }
    assert_int_equal(ecs_world_seal(world, NULL), ECS_OK);
    if (!is_first) return world;
    static const char* const template_names[TEMPLATES] = {"a", "b", "c"};
    m->poke = type;
    for (uint32_t i = 0; i < TEMPLATES; i++)
        m->templates[i] = ecs_template_find(world, template_names[i]);
    for (uint32_t k = 0; k < KINDS; k++)
        m->ids[k] = ecs_component_find(world, kind_names[k]);
    m->pos = ecs_component_find(world, "pos");
    m->hp = ecs_component_find(world, "hp");
    return world;
}

// A value of a kind in memory form, from its number.
typedef union any {
    int32_t stun;
    ecs_vec3 burn;
    ecs_string name;
} any;

static const void* make_value(any* value, char* digits, uint32_t kind, int number) {
    memset(value, 0, sizeof *value);
    if (kind == STUN) value->stun = number;
    if (kind == BURN) value->burn.x = (float)number;
    if (kind == NAME) {
        int used = snprintf(digits, 16, "%d", number);
        value->name = (ecs_string){.data = digits, .size = (uint32_t)used};
    }
    return value;
}

static int number_of(uint32_t kind, const void* cell) {
    if (kind == STUN) return *(const int32_t*)cell;
    if (kind == BURN) return (int)((const ecs_vec3*)cell)->x;
    return kind == NAME ? atoi(ecs_string_text(cell)) : 0;
}

static void twin_add(model* m, uint32_t at, uint32_t kind, int number) {
    twin* one = &m->twins[at];
    if (!one->has[kind]) {
        m->order[kind][m->counts[kind]++] = at;
        one->moved[kind] = true;
    }
    one->has[kind] = true;
    one->value[kind] = number;
}

static void twin_remove(model* m, uint32_t at, uint32_t kind) {
    uint32_t* order = m->order[kind];
    uint32_t i = 0;
    while (order[i] != at)
        i++;
    order[i] = order[--m->counts[kind]];
    m->twins[at].has[kind] = false;
    m->twins[at].moved[kind] = true;
}

static void create(model* m, uint32_t at) {
    const uint32_t kind = below(m, TEMPLATES);
    m->twins[at] = (twin){.kind = kind, .is_fresh = true};
    assert_int_equal(ecs_create(m->world, m->templates[kind], NULL, 0, &m->twins[at].handle),
                     ECS_OK);
}

static void destroy(model* m, uint32_t at, bool is_recorded) {
    twin* one = &m->twins[at];
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if (one->has[kind]) twin_remove(m, at, kind);
    if (is_recorded)
        assert_true(ecs_command_destroy(m->world, one->handle));
    else
        assert_int_equal(ecs_destroy(m->world, one->handle), ECS_OK);
    one->handle = ECS_ENTITY_NONE;
}

static void recreate(model* m, uint32_t at, bool is_recorded) {
    twin* one = &m->twins[at];
    one->kind = below(m, TEMPLATES);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if (one->has[kind] && !is_stated[one->kind][kind]) twin_remove(m, at, kind);
    const ecs_template_id id = m->templates[one->kind];
    if (is_recorded)
        assert_true(ecs_command_recreate(m->world, one->handle, id, NULL, 0));
    else
        assert_int_equal(ecs_recreate(m->world, one->handle, id, NULL, 0), ECS_OK);
}

static void add(model* m, uint32_t at, uint32_t kind, bool is_recorded) {
    twin* one = &m->twins[at];
    const bool is_allowed = one->handle && is_stated[one->kind][kind];
    const bool is_default = below(m, 2) == 0;
    const int number = is_default ? defaults[one->kind][kind] : kind == FLAG ? 0 : (int)below(m, 4);
    any value;
    char digits[16];
    const void* given = is_default ? NULL : make_value(&value, digits, kind, number);
    if (is_allowed) twin_add(m, at, kind, number);
    if (is_recorded) {
        assert_true(ecs_command_add(m->world, one->handle, m->ids[kind], given));
        return;
    }
    // Half of the numbers as a compiler that optimises passes them.
    const bool is_number = given && kind < 2;
    const ecs_result result = is_number && below(m, 2)
                                  ? ecs_fast_add(m->world, one->handle, m->ids[kind], given, 1)
                                  : ecs_add(m->world, one->handle, m->ids[kind], given);
    assert_int_equal(result, is_allowed ? ECS_OK : one->handle ? ECS_ERR_MISSING : ECS_ERR_STALE);
}

static void take(model* m, uint32_t at, uint32_t kind, bool is_recorded) {
    twin* one = &m->twins[at];
    const bool has = one->handle && one->has[kind];
    if (has) twin_remove(m, at, kind);
    if (is_recorded) {
        assert_true(ecs_command_remove(m->world, one->handle, m->ids[kind]));
        return;
    }
    assert_int_equal(ecs_remove(m->world, one->handle, m->ids[kind]), has ? ECS_OK
                                                                      : one->handle
                                                                          ? ECS_ERR_MISSING
                                                                          : ECS_ERR_STALE);
}

static void set(model* m, uint32_t at, uint32_t kind) {
    twin* one = &m->twins[at];
    any value;
    char digits[16];
    const int number = kind == FLAG ? 0 : (int)below(m, 3);
    const void* given = make_value(&value, digits, kind, number);
    const bool has = one->handle && one->has[kind];
    if (has) one->value[kind] = number;
    assert_int_equal(ecs_set(m->world, one->handle, m->ids[kind], given), has ? ECS_OK
                                                                          : one->handle
                                                                              ? ECS_ERR_MISSING
                                                                              : ECS_ERR_STALE);
}

static void operate(model* m) {
    const uint32_t at = below(m, ENTITIES), kind = below(m, KINDS);
    const bool is_recorded = below(m, 2) == 0;
    const uint32_t choice = below(m, 20);
    twin* one = &m->twins[at];
    if (!one->handle && choice < 12)
        create(m, at);
    else if (one->handle && choice == 0)
        destroy(m, at, is_recorded);
    else if (one->handle && choice == 1)
        recreate(m, at, is_recorded);
    else if (choice < 11)
        add(m, at, kind, is_recorded);
    else if (choice < 16)
        take(m, at, kind, is_recorded);
    else
        set(m, at, kind);
    if (is_recorded) ecs_command_flush(m->world);
}

static void check_values(model* m, ecs_world* world) {
    for (uint32_t at = 0; at < ENTITIES; at++) {
        const twin* one = &m->twins[at];
        for (uint32_t kind = 0; kind < KINDS && one->handle; kind++) {
            const void* cell = ecs_find(world, one->handle, m->ids[kind]);
            assert_int_equal(cell != NULL, one->has[kind]);
            if (cell && kind != FLAG) assert_int_equal(number_of(kind, cell), one->value[kind]);
        }
    }
}

static bool twin_matches(const model* m, uint32_t at, const char* want) {
    const twin* one = &m->twins[at];
    bool matches = one->handle != ECS_ENTITY_NONE;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        matches = matches && !(want[kind] == 'r' && !one->has[kind]) &&
                  !(want[kind] == 'n' && one->has[kind]);
    return matches && !(want[4] == 'r' && one->kind == 2) && !(want[5] == 'r' && one->kind == 1);
}

static uint32_t twin_of(const model* m, ecs_entity entity) {
    for (uint32_t at = 0; at < ENTITIES; at++)
        if (m->twins[at].handle == entity) return at;
    return UINT32_MAX;
}

// Every column of a row is the cell that a look-up by handle finds.
static void check_row(const model* m, const char* want, uint32_t at, const ecs_rows* rows,
                      uint32_t row) {
    static const uint32_t sizes[6] = {sizeof(int32_t),  sizeof(ecs_vec3), sizeof(ecs_string), 0,
                                      sizeof(ecs_vec2), sizeof(int32_t)};
    uint32_t term = 0;
    for (uint32_t i = 0; i < 6; i++) {
        if (want[i] == ' ') continue;
        const ecs_component_id id = i < KINDS ? m->ids[i] : i == 4 ? m->pos : m->hp;
        const uint8_t* column = rows->columns[term++];
        if (want[i] == 'n' || i == FLAG) {
            assert_null(column);
            continue;
        }
        const void* cell = ecs_find(m->world, m->twins[at].handle, id);
        assert_ptr_equal(column ? column + (size_t)sizes[i] * row : NULL, cell);
    }
}

static void check_query(model* m, uint32_t q) {
    uint32_t expected = 0, found = 0;
    for (uint32_t at = 0; at < ENTITIES; at++)
        expected += twin_matches(m, at, wants[q]);
    m->walk++;
    ecs_query_iter it = ecs_query_begin(m->world, m->queries[q]);
    ecs_entity first = ECS_ENTITY_NONE;
    while (ecs_query_next(&it)) {
        for (uint32_t row = 0; row < it.rows.count; row++, found++) {
            if (!first) first = it.rows.entities[row];
            const uint32_t at = twin_of(m, it.rows.entities[row]);
            assert_int_not_equal(at, UINT32_MAX);
            assert_true(twin_matches(m, at, wants[q]));
            assert_int_not_equal(m->seen[at], m->walk);
            m->seen[at] = m->walk;
            check_row(m, wants[q], at, &it.rows, row);
            if (q == 0) assert_int_equal(m->order[STUN][found], at);
        }
    }
    assert_int_equal(found, expected);
    assert_int_equal(ecs_query_count(m->world, m->queries[q]), expected);
    assert_int_equal(ecs_query_first(m->world, m->queries[q]), first);
    const uint32_t at = below(m, ENTITIES);
    if (!m->twins[at].handle) return;
    const bool matches = ecs_query_find(m->world, m->queries[q], m->twins[at].handle, &it);
    assert_int_equal(matches, twin_matches(m, at, wants[q]));
    if (matches) check_row(m, wants[q], at, &it.rows, 0);
}

// The step lists what came, went or has another value, each once, but not of the newly created.
static void check_changes(model* m) {
    const ecs_changes changes = ecs_changes_get(m->world);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        uint32_t expected = 0, listed = 0;
        m->walk++;
        for (uint32_t i = 0; i < changes.changed_count; i++) {
            if (changes.changed[i].component != m->ids[kind]) continue;
            const uint32_t at = twin_of(m, changes.changed[i].entity);
            assert_int_not_equal(at, UINT32_MAX);
            assert_int_not_equal(m->seen[at], m->walk);
            m->seen[at] = m->walk;
            listed++;
        }
        for (uint32_t at = 0; at < ENTITIES; at++) {
            twin* one = &m->twins[at];
            const bool differs = one->has[kind] && one->value[kind] != one->old[kind];
            const bool is_listed =
                one->handle && !one->is_fresh && is_tracked[kind] && (one->moved[kind] || differs);
            assert_int_equal(is_listed, m->seen[at] == m->walk);
            expected += is_listed;
            one->old[kind] = one->value[kind];
            one->moved[kind] = false;
        }
        assert_int_equal(listed, expected);
    }
    for (uint32_t at = 0; at < ENTITIES; at++)
        m->twins[at].is_fresh = false;
    ecs_changes_clear(m->world);
}

static void poke(model* m) {
    for (uint32_t i = 0; i < 10; i++) {
        twin* one = &m->twins[below(m, ENTITIES)];
        if (!one->handle) continue;
        assert_true(ecs_event_send(m->world, one->handle, m->poke, NULL));
        if (one->has[STUN]) one->value[STUN]++;
    }
}

static void check_others(model* m) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    if (below(m, 2) == 0) {
        assert_int_equal(ecs_world_save(m->world, &bytes), ECS_OK);
        assert_int_equal(ecs_world_restore(m->other, bytes.data, bytes.size), ECS_OK);
    } else {
        assert_int_equal(ecs_world_copy(m->other, m->world), ECS_OK);
        for (uint32_t i = 0; i < 5; i++) // the same entities: values are copied alone
            set(m, below(m, ENTITIES), below(m, KINDS));
        assert_int_equal(ecs_world_copy(m->other, m->world), ECS_OK);
    }
    base_bytes_deinit(&bytes);
    ecs_world_validate(m->other);
    check_values(m, m->other);
    assert_true(ecs_world_hash(m->other) == ecs_world_hash(m->world));
    assert_true(ecs_world_state_hash(m->other) == ecs_world_state_hash(m->world));
}

static void run_script(model* m) {
    m->world = make_world(m, true);
    m->other = make_world(m, false);
    memset(m->twins, 0, sizeof m->twins);
    memset(m->counts, 0, sizeof m->counts);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < OPERATIONS; i++)
            operate(m);
        check_values(m, m->world);
        for (uint32_t q = 0; q < QUERIES; q++)
            check_query(m, q);
        ecs_world_validate(m->world);
        if (below(m, 4) == 0) check_others(m);
        poke(m);
        const ecs_step step = {.tick = ++m->tick, .dt = 1};
        ecs_world_step(m->world, &step);
        check_values(m, m->world);
        check_changes(m);
        ecs_world_validate(m->world);
    }
    if (below(m, 2) == 0) {
        ecs_world_clear(m->world);
        ecs_world_validate(m->world);
        for (uint32_t q = 0; q < QUERIES; q++)
            assert_int_equal(ecs_query_count(m->world, m->queries[q]), 0);
    }
    ecs_world_destroy(m->world);
    ecs_world_destroy(m->other);
}

static uint32_t scripts = 40;
static uint64_t seed = 1;

static void sparse_components_equal_the_twin(void** state) {
    (void)state;
    static model m;
    for (uint32_t i = 0; i < scripts; i++) {
        m.rng = base_rng_make(seed + i, 13);
        run_script(&m);
    }
}

int main(int argc, char** argv) {
    const char* count = argc > 1 ? argv[1] : getenv("MODEL_SCRIPTS");
    const char* first = argc > 2 ? argv[2] : getenv("MODEL_SEED");
    scripts = count ? (uint32_t)strtoul(count, NULL, 10) : test_scaled(scripts, 2);
    if (first) seed = strtoull(first, NULL, 10);
    const struct CMUnitTest tests[] = {TEST(sparse_components_equal_the_twin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
