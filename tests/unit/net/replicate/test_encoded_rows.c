// SPDX-License-Identifier: MIT
#include "replicate/encoded_rows.h"

#include "repl_world.h"

enum { MANY = 12 };

typedef struct fixture {
    repl_side server;
    net_history* history;
    net_blobs blobs;
    ecs_entity ball;
    uint32_t index;
} fixture;

static void open(fixture* f, bool is_solo, bool is_counted) {
    memset(f, 0, sizeof *f);
    repl_open(&f->server, false, 4000);
    assert_int_equal(net_history_create(NULL, f->server.rows, 4000, &f->history), NET_OK);
    f->ball = repl_create(&f->server, f->server.mover);
    f->index = ecs_entity_index(f->ball);
    for (uint32_t tick = 1; tick <= 20; tick++) {
        repl_move(&f->server, f->ball, (float)(tick * tick), 7);
        repl_step(&f->server, f->history, tick);
    }
    net_blobs_init(&f->blobs, NULL, f->history, is_solo, is_counted);
    assert_true(net_blobs_begin(&f->blobs, 20));
}

static void close_all(fixture* f) {
    net_blobs_deinit(&f->blobs);
    net_history_destroy(f->history);
    repl_close(&f->server);
}

static net_blob_key key_of(const fixture* f, uint32_t age, uint8_t d) {
    return (net_blob_key){.index = f->index,
                          .age = age,
                          .d = d,
                          .classes = 1,
                          .base_classes = age ? 1 : 0,
                          .base2_classes = d ? 1 : 0};
}

static uint64_t code_of(const fixture* f, const net_blob* blob) {
    if (blob->bits <= NET_BLOB_INLINE_BITS) return blob->code;
    uint64_t code;
    memcpy(&code, f->blobs.arena + blob->offset, sizeof code);
    return code;
}

// What the row's coder writes when asked directly.
static void expect_code(const fixture* f, const net_blob_key* key, const net_blob* blob) {
    const net_history_entity* entity = net_history_find(f->history, f->index);
    ecs_tick now = net_history_tick(f->history);
    proto_row_base base = {.base = entity->entry->defaults};
    if (key->age) {
        base.base = net_history_at(entity, now - key->age, 1, NULL);
        base.ticks = key->is_settled ? 0 : key->age;
    }
    if (key->d) {
        base.base2 = net_history_at(entity, now - key->age - key->d, 1, NULL);
        base.ticks2 = key->d;
    }
    uint8_t bytes[64] = {0};
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    proto_row_write(&entity->entry->layout, &base, net_history_newest(entity), key->is_listed,
                    &writer, NULL);
    assert_int_equal(blob->bits, writer.size_bits);
    uint64_t expected, mask = blob->bits < 64 ? (UINT64_C(1) << blob->bits) - 1 : UINT64_MAX;
    memcpy(&expected, bytes, sizeof expected);
    assert_true((code_of(f, blob) & mask) == (expected & mask));
}

static void a_code_is_made_once_and_found_again(void** state) {
    (void)state;
    fixture f;
    open(&f, false, false);
    net_blob_key key = key_of(&f, 3, 1);
    net_blob made, found;
    assert_false(net_blobs_find(&f.blobs, &key, &found));
    assert_int_equal(net_blobs_get(&f.blobs, &key, &made), NET_BLOB_OK);
    expect_code(&f, &key, &made);
    assert_true(net_blobs_find(&f.blobs, &key, &found));
    assert_int_equal(found.bits, made.bits);
    assert_true(code_of(&f, &found) == code_of(&f, &made));
    assert_int_equal(net_blobs_get(&f.blobs, &key, &found), NET_BLOB_OK);
    assert_int_equal(f.blobs.made, 1);
    assert_int_equal(f.blobs.shared, 2);
    close_all(&f);
}

static void every_part_of_the_key_matters(void** state) {
    (void)state;
    fixture f;
    open(&f, false, false);
    net_blob_key keys[] = {key_of(&f, 0, 0), key_of(&f, 3, 0), key_of(&f, 4, 0), key_of(&f, 3, 1),
                           key_of(&f, 3, 2), key_of(&f, 3, 0), key_of(&f, 3, 0)};
    keys[5].is_listed = true;
    keys[6].is_settled = true;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < BASE_COUNT(keys); i++) {
            net_blob blob;
            assert_int_equal(net_blobs_get(&f.blobs, &keys[i], &blob), NET_BLOB_OK);
            expect_code(&f, &keys[i], &blob);
        }
        assert_int_equal(f.blobs.made, BASE_COUNT(keys));
    }
    close_all(&f);
}

static void more_codes_than_an_entity_has_room_for_are_found_too(void** state) {
    (void)state;
    fixture f;
    open(&f, false, true);
    assert_true(MANY > NET_BLOB_CELLS);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t age = 1; age <= MANY; age++) {
            net_blob_key key = key_of(&f, age, 1);
            net_blob blob;
            assert_true(net_blobs_find(&f.blobs, &key, &blob) == (round == 1));
            assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_OK);
            expect_code(&f, &key, &blob);
        }
    }
    assert_int_equal(f.blobs.made, MANY);
    close_all(&f);
}

static void a_tick_forgets_the_codes_of_the_one_before(void** state) {
    (void)state;
    fixture f;
    open(&f, false, false);
    net_blob_key key = key_of(&f, 3, 1);
    net_blob blob;
    assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_OK);
    repl_move(&f.server, f.ball, 5, 5);
    repl_step(&f.server, f.history, 21);
    assert_true(net_blobs_begin(&f.blobs, 21));
    assert_false(net_blobs_find(&f.blobs, &key, &blob));
    assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_OK);
    expect_code(&f, &key, &blob);
    // Also when the stamps begin anew.
    f.blobs.stamp = UINT32_MAX;
    assert_true(net_blobs_begin(&f.blobs, 21));
    assert_false(net_blobs_find(&f.blobs, &key, &blob));
    close_all(&f);
}

static void a_forgotten_base_is_said_to_be(void** state) {
    (void)state;
    fixture f;
    open(&f, false, false);
    for (uint32_t tick = 21; tick <= 20 + NET_ROW_HISTORY_MAX; tick++) {
        repl_move(&f.server, f.ball, (float)(tick % 900), 7);
        repl_step(&f.server, f.history, tick);
    }
    assert_true(net_blobs_begin(&f.blobs, 20 + NET_ROW_HISTORY_MAX));
    net_blob blob;
    net_blob_key key = key_of(&f, NET_ROW_HISTORY_MAX, 0);
    assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_NO_BASE);
    key = key_of(&f, NET_ROW_HISTORY_MAX - 1, 1);
    assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_NO_BASE2);
    key = key_of(&f, NET_ROW_HISTORY_MAX - 1, 0);
    assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_OK);
    close_all(&f);
}

static void alone_nothing_is_shared(void** state) {
    (void)state;
    fixture f;
    open(&f, true, false);
    net_blob_key key = key_of(&f, 3, 1);
    net_blob blob;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_OK);
        assert_false(net_blobs_find(&f.blobs, &key, &blob));
    }
    assert_int_equal(f.blobs.made, 3);
    assert_int_equal(f.blobs.shared, 0);
    close_all(&f);
}

static void bits_of_components_are_told_with_every_code(void** state) {
    (void)state;
    fixture f;
    open(&f, false, true);
    net_blob_key key = key_of(&f, 3, 1);
    net_blob blob;
    for (uint32_t i = 0; i < 2; i++) { // made, then shared
        assert_int_equal(net_blobs_get(&f.blobs, &key, &blob), NET_BLOB_OK);
        const net_row_template* entry;
        const uint32_t* parts = net_blobs_component_bits(&f.blobs, blob.parts_first, &entry);
        assert_ptr_equal(entry, net_history_find(f.history, f.index)->entry);
        uint32_t sum = blob.head_bits;
        for (uint32_t c = 0; c < entry->layout.component_count; c++)
            sum += parts[c];
        assert_int_equal(sum, blob.bits);
    }
    close_all(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_code_is_made_once_and_found_again),
        TEST(every_part_of_the_key_matters),
        TEST(more_codes_than_an_entity_has_room_for_are_found_too),
        TEST(a_tick_forgets_the_codes_of_the_one_before),
        TEST(a_forgotten_base_is_said_to_be),
        TEST(alone_nothing_is_shared),
        TEST(bits_of_components_are_told_with_every_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
