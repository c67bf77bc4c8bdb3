// SPDX-License-Identifier: MIT

#include "repl_world.h"

typedef struct fixture {
    repl_side server;
    net_history* history;
    base_owner* own; // of the encoded rows
    net_encoded_rows encoded_rows;
    ecs_entity ball;
    uint32_t index;
} fixture;

static void open(fixture* f, bool is_solo) {
    memset(f, 0, sizeof *f);
    repl_open(&f->server, false, 4000);
    f->history = net_history_create(NULL, f->server.rows, 4000);
    f->ball = repl_create(&f->server, f->server.mover);
    f->index = ecs_entity_index(f->ball);
    for (uint32_t tick = 1; tick <= 20; tick++) {
        repl_move(&f->server, f->ball, (float)(tick * tick), 7);
        repl_step(&f->server, f->history, tick);
    }
    f->own = base_owner_create(NULL, sizeof *f->own);
    net_encoded_rows_init(&f->encoded_rows, &f->own->allocator, f->history, is_solo);
    net_encoded_rows_begin(&f->encoded_rows, 20);
}

static void close_all(fixture* f) {
    base_owner_destroy(f->own);
    base_owner_destroy(f->history);
    repl_close(&f->server);
}

static net_encoded_row_key key_of(const fixture* f, uint32_t age, uint8_t d) {
    return (net_encoded_row_key){.index = f->index,
                                 .age = age,
                                 .d = d,
                                 .classes = 1,
                                 .base_classes = age ? 1 : 0,
                                 .base2_classes = d ? 1 : 0};
}

static uint64_t code_of(const fixture* f, uint64_t cell) {
    if (net_encoded_cell_bits(cell) <= NET_ENCODED_ROW_INLINE_BITS)
        return net_encoded_cell_code(cell);
    uint64_t code;
    memcpy(&code, f->encoded_rows.arena + (uint32_t)cell, sizeof code);
    return code;
}

// Check against a direct call of the row's coder.
static void expect_code(const fixture* f, const net_encoded_row_key* key, uint64_t cell) {
    const net_history_entity* entity = net_history_find(f->history, f->index);
    ecs_tick now = f->history->tick;
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    proto_row_base base = {.base = entity->row_template->defaults};
    if (key->age) {
        assert_true(net_history_read(entity, now, now - key->age, 1, rows[1]));
        base.base = rows[1];
        base.ticks = key->is_settled ? 0 : key->age;
    }
    if (key->d) {
        assert_true(net_history_read(entity, now, now - key->age - key->d, 1, rows[2]));
        base.base2 = rows[2];
        base.ticks2 = key->d;
    }
    uint8_t bytes[64] = {0};
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    proto_row_unpack(&entity->row_template->layout, net_history_newest(entity), rows[0]);
    proto_row_write(&entity->row_template->layout, &base, rows[0], &writer, NULL);
    const uint32_t bits = net_encoded_cell_bits(cell);
    assert_int_equal(bits, writer.size_bits);
    uint64_t expected, mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    memcpy(&expected, bytes, sizeof expected);
    assert_true((code_of(f, cell) & mask) == (expected & mask));
}

// Get a row, which there is, and check it.
static uint64_t get(fixture* f, net_encoded_row_key key) {
    uint64_t cell;
    assert_int_equal(net_encoded_rows_get(&f->encoded_rows, &key, &cell), NET_ENCODED_ROW_OK);
    expect_code(f, &key, cell);
    return cell;
}

// Is the row known already? Then check it.
static bool has(fixture* f, net_encoded_row_key key) {
    uint64_t found;
    const uint32_t wanted = net_encoded_rows_wanted(&f->encoded_rows, &key);
    if (!net_encoded_rows_find_wanted(&f->encoded_rows, wanted, &key, &found)) return false;
    expect_code(f, &key, found);
    return true;
}

#define ROWS_CASE(name, ...) CASE_WITH(fixture, f, open(f, __VA_ARGS__), close_all(f), name)

static void ask_key(fixture* f, net_encoded_row_key key, uint32_t count) {
    const uint32_t wanted = net_encoded_rows_wanted(&f->encoded_rows, &key);
    net_encoded_rows_kind(&f->encoded_rows, wanted)->count += count;
}

// Begin the next publish of the same step.
static void encode_ahead(fixture* f) {
    const net_history_event* events = f->history->events;
    const uint32_t count = f->history->event_count;
    assert_int_equal(count, 1);
    net_encoded_rows_begin(&f->encoded_rows, 20);
    net_encoded_rows_ahead(&f->encoded_rows, events, count);
}

ROWS_CASE(the_kinds_that_are_encoded_ahead_are_limited, false) {
    // The second one is asked for least.
    for (uint32_t age = 1; age <= NET_ENCODED_ROW_USUAL + 1; age++) {
        (void)get(f, key_of(f, age, 1)); // the first row of a kind has its classes
        ask_key(f, key_of(f, age, 1), age == 2 ? 3 : 10 + age % 3);
    }
    encode_ahead(f);
    for (uint32_t age = 1; age <= NET_ENCODED_ROW_USUAL + 1; age++)
        assert_true(has(f, key_of(f, age, 1)) == (age != 2));
}

enum { FLOCK = 64 };

// Of how many of the flock is the row known?
static uint32_t count_known(fixture* f, net_encoded_row_key key, uint32_t first) {
    const uint32_t wanted = net_encoded_rows_wanted(&f->encoded_rows, &key);
    uint32_t count = 0;
    uint64_t cell;
    for (uint32_t i = 0; i < FLOCK; i++) {
        key.index = first + i;
        count += net_encoded_rows_find_wanted(&f->encoded_rows, wanted, &key, &cell);
    }
    return count;
}

static void ask_all(fixture* f, net_encoded_row_key key, uint32_t first) {
    uint64_t cell;
    for (uint32_t i = 0; i < FLOCK; i++) {
        key.index = first + i;
        (void)net_encoded_rows_get(&f->encoded_rows, &key, &cell);
    }
    ask_key(f, key, FLOCK);
}

ROWS_CASE(only_what_many_entities_are_asked_for_is_encoded_ahead, false) {
    ecs_entity flock[FLOCK];
    for (uint32_t i = 0; i < FLOCK; i++)
        flock[i] = repl_create(&f->server, f->server.mover);
    for (ecs_tick tick = 21; tick <= 30; tick++) {
        for (uint32_t i = 0; i < FLOCK; i++)
            repl_move(&f->server, flock[i], (float)(tick + i), 7);
        repl_step(&f->server, f->history, tick);
        const uint32_t count = f->history->event_count, first = ecs_entity_index(flock[0]);
        net_encoded_rows_begin(&f->encoded_rows, tick);
        net_encoded_rows_ahead(&f->encoded_rows, f->history->events, count);
        if (tick < 26) continue; // there are no bases yet
        const uint32_t all = count_known(f, key_of(f, 2, 1), first);
        assert_int_equal(count_known(f, key_of(f, 3, 1), first), 0);
        if (tick == 26 || tick == 30) {
            assert_int_equal(all, 0); // it was asked for of no entity, or of one
        } else {
            assert_in_range(all, FLOCK * 3 / 4, FLOCK - 1); // but for a sample
        }
        if (tick < 29) ask_all(f, key_of(f, 2, 1), first);
        if (tick == 29) ask_key(f, key_of(f, 2, 1), FLOCK);
        (void)get(f, key_of(f, 3, 1));
        ask_key(f, key_of(f, 3, 1), FLOCK);
    }
}

ROWS_CASE(every_part_of_the_key_matters, false) {
    net_encoded_row_key keys[] = {key_of(f, 0, 0), key_of(f, 3, 0), key_of(f, 4, 0),
                                  key_of(f, 3, 1), key_of(f, 3, 2), key_of(f, 3, 0)};
    keys[5].is_settled = true;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < BASE_COUNT(keys); i++)
            (void)get(f, keys[i]);
        assert_int_equal(f->encoded_rows.made, BASE_COUNT(keys));
    }
}

static uint32_t cell_of(fixture* f, uint32_t wanted) {
    return net_encoded_rows_kind(&f->encoded_rows, wanted)->cell;
}

enum { CELLS = (1 << NET_ENCODED_ROW_HOME_BITS) - 1 };

ROWS_CASE(the_kinds_most_wanted_have_cells_in_the_next_tick, false) {
    const uint32_t most = NET_ENCODED_ROW_KINDS - NET_ENCODED_ROW_KINDS / 4;
    for (uint32_t wanted = 1; wanted <= most; wanted++) {
        net_encoded_row_kind* kind = net_encoded_rows_kind(&f->encoded_rows, wanted);
        kind->count = wanted % 2 ? wanted : 0;
        assert_int_equal(kind->cell, wanted <= CELLS ? wanted : NET_ENCODED_ROW_CELL_NONE);
    }
    // No further ones are known, but those are.
    assert_null(net_encoded_rows_kind(&f->encoded_rows, most + 1));
    assert_non_null(net_encoded_rows_kind(&f->encoded_rows, most));
    net_encoded_rows_begin(&f->encoded_rows, 20);
    // The most wanted one first. What was not asked for is forgotten.
    uint32_t newest = most - 1 + most % 2;
    for (uint32_t i = 0; i < CELLS; i++)
        assert_int_equal(cell_of(f, newest - 2 * i), i + 1);
    assert_int_equal(f->encoded_rows.kind_count, CELLS);
    assert_int_equal(cell_of(f, 2), NET_ENCODED_ROW_CELL_NONE);
}

ROWS_CASE(a_forgotten_base_is_said_to_be, false) {
    enum { KEEP = NET_ROW_HISTORY_TICKS_MAX };
    for (uint32_t tick = 21; tick <= 20 + KEEP; tick++) {
        repl_move(&f->server, f->ball, (float)(tick % 900), 7);
        repl_step(&f->server, f->history, tick);
    }
    net_encoded_rows_begin(&f->encoded_rows, 20 + KEEP);
    uint64_t cell;
    net_encoded_row_key key = key_of(f, KEEP, 0);
    assert_int_equal(net_encoded_rows_get(&f->encoded_rows, &key, &cell), NET_ENCODED_ROW_NO_BASE);
    key = key_of(f, KEEP - 1, 1);
    assert_int_equal(net_encoded_rows_get(&f->encoded_rows, &key, &cell), NET_ENCODED_ROW_NO_BASE2);
    (void)get(f, key_of(f, KEEP - 1, 0));
}

ROWS_CASE(alone_nothing_is_shared, true) {
    for (uint32_t i = 0; i < 3; i++) {
        (void)get(f, key_of(f, 3, 1));
        assert_false(has(f, key_of(f, 3, 1)));
    }
    assert_int_equal(f->encoded_rows.made, 3);
    assert_int_equal(f->encoded_rows.shared, 0);
}
