// SPDX-License-Identifier: MIT
/// The same random events in two worlds: a handler of one takes runs of events, that of the other
/// one at a time. Both must see the same events in the same order, and the worlds must stay equal.
/// Targets live in several chunks and archetypes, are dead, are broadcasts, or come several times;
/// handlers send events, so that the queue grows under them, and record commands.

#include "ecs_parts.h"
#include "model_scripts.h"

enum { HANDLES_MAX = 4096, LOG_MAX = 1 << 16, SCRIPTS = 40, STEPS = 30 };

static const char model_text[] = "plain { hp:i=100 }\n"
                                 "moved { hp:i=100; pos:p2=1,2 }\n"
                                 "seen { \"hp:i\" { _track:b=yes; value:i=100 } }\n"
                                 "other { pos:p2=1,2 }\n";
static const char* const shape_names[] = {"plain", "moved", "seen", "other"};
enum { SHAPES = BASE_COUNT(shape_names) };

typedef struct hit {
    int32_t amount;
} hit;
typedef struct shot {
    ecs_entity from;
    int32_t amount;
    uint64_t power[4];
} shot;

typedef struct note {
    uint32_t type;
    ecs_entity target;
    int32_t amount;
    int32_t hp;
} note;

typedef struct side {
    ecs_world* world;
    ecs_event_type hit, shot;
    ecs_template_id shapes[SHAPES];
    ecs_entity handles[HANDLES_MAX];
    uint32_t handle_count;
    note* log;
    uint32_t log_count;
    uint32_t runs, in_runs;
    uint32_t joined; ///< sent by the inline path; only on the side that may_join
    bool may_join;
} side;

static void send(side* s, bool is_hit, ecs_entity target, int32_t amount) {
    const hit small = {amount};
    const shot large = {target, amount, {1, 2, 3, 4}};
    const uint32_t word = (uint32_t)amount;
    if (is_hit && s->may_join &&
        ecs_detail_event_join(ecs_fast_of(s->world)->events, target, s->hit, &word, 1))
        s->joined++;
    else if (is_hit)
        (void)ecs_event_send(s->world, target, s->hit, &small);
    else
        (void)ecs_event_send(s->world, target, s->shot, &large);
}

// What a handler does with one event; `hp` is NULL where no row is seen.
static void take(side* s, ecs_event_type type, ecs_entity target, const void* payload,
                 int32_t* hp) {
    int32_t amount;
    if (type == s->hit)
        amount = ((const hit*)payload)->amount;
    else
        amount = ((const shot*)payload)->amount;
    if (type == s->shot) assert_true(((const shot*)payload)->power[3] == 4);
    if (hp) *hp -= amount;
    assert_true(s->log_count < LOG_MAX);
    s->log[s->log_count++] = (note){type, target, amount, hp ? *hp : 0};
    if (amount > 0 && amount % 3 == 0)
        for (int32_t i = 0; i < amount % 5; i++)
            send(s, (amount + i) % 2 == 0,
                 s->handles[(uint32_t)(amount * 31 + i) % s->handle_count], amount - 1 - i);
    if (amount % 11 == 0 && target != ECS_ENTITY_NONE)
        assert_true(ecs_command_destroy(s->world, target));
    if (amount % 13 == 0) (void)ecs_command_create(s->world, s->shapes[0], NULL, 0);
    // The payload is still where it was, whatever the queue did meanwhile.
    assert_int_equal(
        type == s->hit ? ((const hit*)payload)->amount : ((const shot*)payload)->amount, amount);
}

static void on_event(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    side* s = stage->context;
    for (uint32_t i = 0; i < rows->count; i++)
        take(s, event->type, event->target, event->payload, (int32_t*)rows->columns[0] + i);
}

static void on_events(const ecs_stage* stage, const ecs_event_run* run) {
    side* s = stage->context;
    s->runs++;
    s->in_runs += run->count;
    for (uint32_t i = 0; i < run->count; i++) {
        const uint32_t row = run->rows[i];
        assert_true(ecs_is_alive(s->world, run->entities[row]));
        take(s, run->type, run->entities[row], ecs_event_run_payload(run, i),
             (int32_t*)run->columns[0] + row);
    }
}

// Memory that is given back reads as something else at once.
static void* allocate(void* context, size_t size, size_t align) {
    (void)context;
    return base_allocator_heap()->allocate(NULL, size, align);
}
static void release(void* context, void* block, size_t size) {
    (void)context;
    if (block) memset(block, 0xdd, size);
    base_allocator_heap()->release(NULL, block, size);
}
static const base_allocator spoiling = {allocate, release, NULL};

static void open_side(side* s, bool takes_runs, uint32_t budget) {
    memset(s, 0, sizeof *s);
    s->log = malloc(LOG_MAX * sizeof *s->log);
    assert_non_null(s->log);
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &spoiling;
    config.limits.events_per_flush_max = budget;
    config.limits.events_queued_max = 1 << 20;
    assert_ok(ecs_world_create(&config, &s->world));
    static const ecs_field hit_fields[] = {{.name = "amount", .kind = ECS_FIELD_I32, .count = 1}};
    static const ecs_field shot_fields[] = {{.name = "from", .kind = ECS_FIELD_ENTITY, .count = 1},
                                            FIELD_OF(shot, amount, I32, 1),
                                            FIELD_OF(shot, power, U64, 4)};
    const ecs_event_desc events[] = {{"hit", sizeof(hit), hit_fields, 1, false},
                                     {"shot", sizeof(shot), shot_fields, 3, false}};
    assert_ok(ecs_event_register(s->world, &events[0], &s->hit));
    assert_ok(ecs_event_register(s->world, &events[1], &s->shot));
    assert_ok(
        ecs_template_load(s->world, "model.blk", model_text, strlen(model_text), test_reporter()));
    system_add(s->world, .name = "handler", EVENTS("hit", "shot"), .on_event = on_event,
               .on_events = takes_runs ? on_events : NULL, TERMS({"hp", "i", ECS_WRITE}),
               .context = s);
    assert_ok(ecs_world_seal(s->world, test_reporter()));
    for (uint32_t i = 0; i < SHAPES; i++)
        s->shapes[i] = ecs_template_find(s->world, shape_names[i]);
}

static void close_side(side* s) {
    ecs_world_destroy(s->world);
    free(s->log);
}

static void populate(side* s, uint32_t shape, uint32_t count) {
    if (s->handle_count + count > HANDLES_MAX) return;
    assert_ok(ecs_create_many(s->world, s->shapes[shape], count, s->handles + s->handle_count));
    s->handle_count += count;
}

static void compare(const side* a, const side* b) {
    assert_int_equal(a->log_count, b->log_count);
    for (uint32_t i = 0; i < a->log_count; i++)
        assert_memory_equal(&a->log[i], &b->log[i], sizeof(note));
    assert_true(ecs_world_hash(a->world) == ecs_world_hash(b->world));
    const ecs_counters *x = ecs_world_counters(a->world), *y = ecs_world_counters(b->world);
    assert_true(x->events_delivered == y->events_delivered);
    assert_true(x->stale_handles == y->stale_handles);
    ecs_world_validate(a->world);
    ecs_world_validate(b->world);
}

// Events in a row to neighbours, to one, or to any; now and then to all.
static void post_some(side* sides, base_rng* rng) {
    const uint32_t count = 1 + base_rng_below(rng, 200), kind = base_rng_below(rng, 4);
    const bool is_hit = base_rng_below(rng, 2);
    uint32_t at = base_rng_below(rng, sides[0].handle_count);
    for (uint32_t i = 0; i < count; i++) {
        const int32_t amount = (int32_t)base_rng_below(rng, 60);
        at = kind == 0 ? at + 1 : kind == 1 ? at : base_rng_below(rng, sides[0].handle_count);
        const bool is_this = kind == 3 ? base_rng_below(rng, 2) : is_hit;
        const bool is_broadcast = base_rng_below(rng, 300) == 0;
        const ecs_entity target = sides[0].handles[at % sides[0].handle_count];
        for (uint32_t k = 0; k < 2; k++) {
            const hit all = {1};
            if (is_broadcast)
                (void)ecs_event_broadcast(sides[k].world, sides[k].hit, &all);
            else
                send(&sides[k], is_this, target, amount);
        }
    }
}

static model_scripts scripts = {.count = SCRIPTS, .seed = 907};

CASE(runs_are_events_in_their_order) {
    uint32_t runs = 0, in_runs = 0, joined = 0;
    for (uint32_t script = 0; script < scripts.count; script++) {
        base_rng rng = base_rng_make(scripts.seed, script);
        const uint32_t budget = base_rng_below(&rng, 2) ? 1 << 20 : 1 + base_rng_below(&rng, 400);
        side sides[2];
        open_side(&sides[0], true, budget);
        open_side(&sides[1], false, budget);
        sides[0].may_join = true;
        for (uint32_t shape = 0; shape < SHAPES; shape++) {
            const uint32_t count = 1 + base_rng_below(&rng, script % 8 == 0 ? 900 : 60);
            populate(&sides[0], shape, count);
            populate(&sides[1], shape, count);
        }
        for (uint32_t i = 0; i < STEPS; i++) {
            for (uint32_t posts = base_rng_below(&rng, 5); posts > 0; posts--)
                post_some(sides, &rng);
            const ecs_step step = {.tick = i + 1, .dt = 1};
            for (uint32_t k = 0; k < 2; k++) {
                ecs_world_step(sides[k].world, &step);
                ecs_changes_clear(sides[k].world);
            }
            compare(&sides[0], &sides[1]);
            sides[0].log_count = sides[1].log_count = 0;
        }
        runs += sides[0].runs;
        in_runs += sides[0].in_runs;
        joined += sides[0].joined;
        close_side(&sides[0]);
        close_side(&sides[1]);
    }
    assert_true(joined > scripts.count);
    assert_true(runs > 0 &&
                in_runs > runs + runs / 8); // runs of several are what this test is about
}

MODEL_MAIN(10)
