// SPDX-License-Identifier: MIT
// What a module keeps beside its components: it learns when its world has another content and when
// the world ends, and its own state is a part of a save, between limits.
#include "breakout_table.h"
#include "hear.h"

#include "game/match.h"

// The module's state, and what was called: R restored, S save, L load, X stop. One match at a time
// is looked at.
typedef struct own_state {
    uint32_t size; // that save_state writes
    uint8_t value; // of each byte
    ecs_result save_result, load_result;
    int32_t read_more; // than there is; below 0: that is left
    bool fails_late;
    uint32_t loaded_size;
    char calls[32];
} own_state;

static own_state own;

static void hear_match(table* t) {
    t->match->reporter = *hear();
}

static void note(char call) {
    const size_t length = strlen(own.calls);
    assert_true(length + 1 < sizeof own.calls);
    own.calls[length] = call;
}

static void own_restored(ecs_world* world, void* context) {
    assert_non_null(context);
    assert_true(ecs_world_tick(world) > 0);
    note('R');
}

// The world is whole: its entities are there, and the context, which it owns.
static void own_stop(ecs_world* world, void* context) {
    const breakout_game* game = context;
    assert_true(own.fails_late || ecs_entity_next(world, ECS_ENTITY_NONE) != ECS_ENTITY_NONE);
    assert_true(game->matches != NULL);
    note('X');
}

static ecs_result own_save(ecs_world* world, void* context, base_bytes* bytes) {
    assert_non_null(context);
    uint8_t* target = base_bytes_extend(bytes, own.size);
    if (target) memset(target, own.value, own.size);
    note('S');
    return own.save_result;
}

static ecs_result own_load(ecs_world* world, void* context, base_reader* reader) {
    assert_non_null(context);
    assert_true(ecs_world_tick(world) > 0); // the world is there already
    own.loaded_size = (uint32_t)base_reader_left(reader);
    for (int32_t i = (int32_t)own.loaded_size + own.read_more; i > 0; i--)
        own.value = base_reader_u8(reader);
    note('L');
    return own.load_result;
}

static ecs_result late_systems(ecs_world* world, void** context, const base_reporter* reporter) {
    const ecs_result result = breakout_module()->register_systems(world, context, reporter);
    return result == ECS_OK && own.fails_late ? ECS_ERR_UNKNOWN : result;
}

static net_game_module own_module(void) {
    net_game_module game = *breakout_module();
    game.register_systems = late_systems;
    game.restored = own_restored;
    game.stop = own_stop;
    game.save_state = own_save;
    game.load_state = own_load;
    return game;
}

typedef struct sea {
    table with, plain; // the same match, with a state and without
    net_game_module game;
    base_bytes save;
} sea;

static void open_sea(sea* self) {
    own = (own_state){.size = 5, .value = 7};
    self->game = own_module();
    table_open_game(&self->with, &self->game, BREAKOUT_BLK, NULL, 0, 5, NET_ROLE_SERVER, false, 0);
    table_open(&self->plain, NULL, 0, 5, NET_ROLE_SERVER, false);
    for (uint32_t i = 0; i < 40; i++) {
        table_step(&self->with);
        table_step(&self->plain);
    }
    base_bytes_init(&self->save, NULL);
}

static void close_sea(sea* self) {
    base_bytes_deinit(&self->save);
    memset(own.calls, 0, sizeof own.calls);
    table_close(&self->plain);
    assert_string_equal(own.calls, "");
    table_close(&self->with);
    assert_string_equal(own.calls, "X");
}

#define SEA_CASE(name) CASE_WITH(sea, s, open_sea(s), close_sea(s), name)

static net_result restore(sea* self, size_t size) {
    memset(own.calls, 0, sizeof own.calls);
    return net_match_restore(self->with.match, self->save.data, size);
}

SEA_CASE(a_state_is_in_the_save_and_in_no_hash) {
    base_bytes bare;
    base_bytes_init(&bare, NULL);
    const uint64_t hash = ecs_world_hash(net_match_world(s->with.match));
    assert_true(hash == ecs_world_hash(net_match_world(s->plain.match)));
    assert_ok(net_match_save(s->with.match, &s->save));
    assert_ok(net_match_save(s->plain.match, &bare));
    own.value = 9;
    assert_ok(restore(s, s->save.size));
    assert_string_equal(own.calls, "RL");
    assert_int_equal(own.value, 7);
    assert_int_equal(own.loaded_size, 5);
    assert_true(hash == ecs_world_hash(net_match_world(s->with.match)));
    // A module without the functions writes what it wrote before there were any.
    assert_int_equal(s->save.size, bare.size + sizeof(uint32_t) + 5);
    const uint8_t state[] = {5, 0, 0, 0, 7, 7, 7, 7, 7};
    size_t at = 0;
    while (memcmp(s->save.data + at, state, sizeof state) != 0)
        assert_true(++at + sizeof state <= s->save.size);
    assert_memory_equal(s->save.data + at + sizeof state, bare.data + at, bare.size - at);
    s->save.data[7] &= 0xbf; // that it has a state
    assert_memory_equal(s->save.data, bare.data, at);
    // It has no use for one, and without one the other is not asked.
    assert_ok(net_match_restore(s->plain.match, bare.data, bare.size));
    s->save.data[7] |= 0x40;
    assert_int_equal(net_match_restore(s->plain.match, s->save.data, s->save.size),
                     NET_ERR_MALFORMED);
    memset(own.calls, 0, sizeof own.calls);
    assert_ok(net_match_restore(s->with.match, bare.data, bare.size));
    assert_string_equal(own.calls, "R");
    base_bytes_deinit(&bare);
}

SEA_CASE(a_state_that_is_cut_or_refused_refuses_the_save) {
    assert_ok(net_match_save(s->with.match, &s->save));
    for (size_t size = 0; size < s->save.size; size += size < 64 ? 1 : 97)
        assert_int_equal(restore(s, size), NET_ERR_MALFORMED);
    assert_string_equal(own.calls, ""); // and no module gets a part of it
    hear_match(&s->with);
    own.read_more = -2;
    assert_int_equal(restore(s, s->save.size), NET_ERR_MODULE);
    assert_said("load_state refused its part of a save: it did not read all of it, at byte 3 of 5");
    hear_match(&s->with);
    own.read_more = 1;
    assert_int_equal(restore(s, s->save.size), NET_ERR_MODULE);
    assert_said("it read more than there is");
    hear_match(&s->with);
    own.read_more = 0;
    own.load_result = ECS_ERR_MALFORMED;
    assert_int_equal(restore(s, s->save.size), NET_ERR_MODULE);
    assert_said("at byte 5 of 5");
    own.load_result = ECS_OK;
    assert_ok(restore(s, s->save.size));
}

SEA_CASE(a_state_has_a_limit) {
    for (uint32_t size = NET_MODULE_SAVE_BYTES_MAX - 1; size <= NET_MODULE_SAVE_BYTES_MAX + 1;
         size++) {
        base_bytes_clear(&s->save);
        own.size = size;
        hear_match(&s->with);
        const bool fits = size <= NET_MODULE_SAVE_BYTES_MAX;
        assert_int_equal(net_match_save(s->with.match, &s->save), fits ? NET_OK : NET_ERR_MODULE);
        assert_said(fits ? "" : "save_state wrote 16777217 bytes, at most 16777216 are saved");
        if (fits) assert_ok(restore(s, s->save.size));
        if (fits) assert_int_equal(own.loaded_size, size);
    }
    // A longer one is not read either.
    own.size = NET_MODULE_SAVE_BYTES_MAX;
    base_bytes_clear(&s->save);
    assert_ok(net_match_save(s->with.match, &s->save));
    const uint8_t state[] = {0, 0, 0, 1, 7, 7};
    size_t at = 0;
    while (memcmp(s->save.data + at, state, sizeof state) != 0)
        assert_true(++at + sizeof state <= s->save.size);
    s->save.data[at] = 1;
    assert_int_equal(restore(s, s->save.size), NET_ERR_MALFORMED);
    assert_string_equal(own.calls, "");
    s->save.data[at] = 0;
    assert_ok(restore(s, s->save.size));
    own.size = 5;
    own.save_result = ECS_ERR_FULL;
    hear_match(&s->with);
    assert_int_equal(net_match_save(s->with.match, &s->save), NET_ERR_MODULE);
    assert_said("the game's save_state failed: ");
}

SEA_CASE(a_reload_carries_the_state_over_or_does_not_happen) {
    net_match* made = NULL;
    assert_ok(net_match_create_from(s->with.match, s->with.module, hear(), &made));
    assert_string_equal(own.calls, "RSL");
    assert_int_equal(own.loaded_size, 5);
    net_match_destroy(made);
    memset(own.calls, 0, sizeof own.calls);
    own.load_result = ECS_ERR_MALFORMED;
    assert_int_equal(net_match_create_from(s->with.match, s->with.module, hear(), &made),
                     NET_ERR_MODULE);
    assert_said("the game's load_state refused");
    assert_string_equal(own.calls, "RSLX"); // of the new one
    assert_null(made);
    // From and to a version without a state there is nothing to carry over.
    memset(own.calls, 0, sizeof own.calls);
    assert_ok(net_match_create_from(s->plain.match, s->with.module, hear(), &made));
    net_match_destroy(made);
    assert_string_equal(own.calls, "RX");
    assert_ok(net_match_create_from(s->with.match, s->plain.module, hear(), &made));
    net_match_destroy(made);
    assert_string_equal(own.calls, "RX");
}

CASE(a_match_that_did_not_begin_stops_what_its_context_began) {
    own = (own_state){.fails_late = true};
    base_report_first faults = {0};
    net_game_module game = own_module();
    net_module* module = table_wrap(&game, BREAKOUT_BLK, &faults);
    net_match_config config = net_match_config_default(module);
    net_match* match = NULL;
    assert_int_equal(net_match_create(&config, hear(), &match), NET_ERR_MODULE);
    assert_string_equal(own.calls, "X");
    net_module_close(module);
}
