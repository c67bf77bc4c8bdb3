// SPDX-License-Identifier: MIT
// Files of trained tables, and choosing their lengths.
#include "test.h"

#include "base/rng.h"
#include "proto/tables.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300, SMALL_ROWS_AT = 3 * 31 * 39 + 27 * 4 + 34 * 9 + 4 * 16 };

static void builtin_lengths(uint8_t lengths[PROTO_TABLES_LENGTHS]) {
    proto_tables_lengths(proto_tables_builtin(), lengths);
}

static void a_text_gives_the_same_lengths(void** state) {
    (void)state;
    static uint8_t lengths[PROTO_TABLES_LENGTHS], back[PROTO_TABLES_LENGTHS];
    static char text[PROTO_TABLES_TEXT_BYTES_MAX], other[2 * PROTO_TABLES_TEXT_BYTES_MAX];
    builtin_lengths(lengths);
    proto_tables_text(lengths, text);
    assert_null(proto_tables_read(text, back));
    assert_memory_equal(lengths, back, sizeof back);
    // Each row on a line of its own, with words before the first table.
    strcpy(other, "made for a test\n");
    char* at = other + strlen(other);
    for (const char* from = text; *from; from++)
        *at++ = *from == ' ' && strncmp(from - 6, "tables", 6) != 0 ? '\n' : *from;
    *at = '\0';
    assert_null(proto_tables_read(other, back));
    assert_memory_equal(lengths, back, sizeof back);
    uint64_t hash = proto_tables_hash(lengths);
    assert_true(proto_tables_hash(back) == hash);
    for (uint32_t i = 0; i < PROTO_TABLES_LENGTHS; i += 7) {
        if (back[i] == 0) continue;
        back[i]++;
        assert_true(proto_tables_hash(back) != hash);
        back[i]--;
    }
}

static void every_cut_text_is_refused(void** state) {
    (void)state;
    static uint8_t lengths[PROTO_TABLES_LENGTHS];
    static char text[PROTO_TABLES_TEXT_BYTES_MAX];
    builtin_lengths(lengths);
    proto_tables_text(lengths, text);
    size_t size = strlen(text);
    assert_true(text[size - 1] == '\n');
    for (size_t cut = size - 2; cut > 0; cut--) { // the last line may lack its end
        text[cut] = '\0';
        assert_non_null(proto_tables_read(text, lengths));
    }
    assert_non_null(proto_tables_read("", lengths));
}

// Put `what` in place of `count` bytes at the first row of a table.
static const char* read_changed(const char* table, size_t count, const char* what) {
    static uint8_t lengths[PROTO_TABLES_LENGTHS];
    static char text[PROTO_TABLES_TEXT_BYTES_MAX], changed[PROTO_TABLES_TEXT_BYTES_MAX + 64];
    builtin_lengths(lengths);
    proto_tables_text(lengths, text);
    char* at = strstr(text, table);
    assert_non_null(at);
    at += strlen(table);
    size_t before = (size_t)(at - text);
    memcpy(changed, text, before);
    strcpy(changed + before, what);
    strcat(changed, at + count);
    return proto_tables_read(changed, lengths);
}

static void a_changed_text_is_refused(void** state) {
    (void)state;
    assert_null(read_changed("tables head\n", 0, ""));
    assert_string_equal(read_changed("tables head\n", 0, "111"), "a row is too long");
    assert_string_equal(read_changed("tables head\n", 0, "1"), "a row is too short");
    assert_string_equal(read_changed("tables head\n", 1, ""), "a row is too short");
    assert_string_equal(read_changed("tables head\n", 0, "g"), "a row is too short");
    assert_string_equal(read_changed("tables head\n", 0, "12 "), "a row is too short");
    assert_string_equal(read_changed("tables field\n", 0, "0221 "), "a row is too short");
    assert_string_equal(read_changed("tables head", 1, "s\n"), "a table is missing");
    assert_string_equal(read_changed("tables field", 1, " \n"), "a table is missing");
}

static void lengths_without_codes_are_refused(void** state) {
    (void)state;
    static uint8_t lengths[PROTO_TABLES_LENGTHS];
    static proto_tables tables;
    builtin_lengths(lengths);
    assert_true(proto_tables_make(lengths, &tables));
    for (uint32_t i = 0; i < PROTO_TABLES_LENGTHS; i += 3) {
        uint8_t kept = lengths[i];
        lengths[i] = kept == 0 ? 1 : 0; // a symbol that must not occur, or that must
        assert_false(proto_tables_make(lengths, &tables));
        lengths[i] = 13;
        assert_false(proto_tables_make(lengths, &tables));
        lengths[i] = kept;
    }
    lengths[0] = lengths[1] = lengths[2] = 1;
    assert_false(proto_tables_make(lengths, &tables));
}

static double cost(const double* counts, const uint8_t* lengths, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += counts[i] * lengths[i];
    return sum;
}

// The cheapest lengths of 3 symbols, by trying all.
static double cheapest_of_three(const double* counts) {
    double best = 1e300;
    for (uint8_t a = 1; a <= 4; a++)
        for (uint8_t b = 1; b <= 4; b++)
            for (uint8_t c = 1; c <= 4; c++) {
                uint8_t lengths[3] = {a, b, c};
                if ((16 >> a) + (16 >> b) + (16 >> c) > 16) continue;
                double own = cost(counts, lengths, 3);
                if (own < best) best = own;
            }
    return best;
}

static void chosen_lengths_are_the_cheapest(void** state) {
    (void)state;
    static double counts[PROTO_TABLES_LENGTHS];
    static uint8_t usual[PROTO_TABLES_LENGTHS], lengths[PROTO_TABLES_LENGTHS];
    static proto_tables tables;
    print_message("seed 51\n");
    base_rng rng = base_rng_make(51, 1);
    builtin_lengths(usual);
    for (uint32_t round = 0; round < ROUNDS / 10; round++) {
        for (uint32_t i = 0; i < PROTO_TABLES_LENGTHS; i++)
            counts[i] = base_rng_below(&rng, 1u << base_rng_below(&rng, 16));
        if (round == 0) memset(counts, 0, sizeof counts); // nothing was seen: as usual
        proto_tables_choose(counts, usual, 1e-3, lengths);
        assert_true(proto_tables_make(lengths, &tables));
        const double* three = counts + SMALL_ROWS_AT + 1; // the first row of mask_other
        double best = cheapest_of_three(three);
        assert_true(cost(three, lengths + SMALL_ROWS_AT + 1, 3) <= best + 0.01);
        double before = cost(counts, usual, PROTO_TABLES_LENGTHS);
        assert_true(cost(counts, lengths, PROTO_TABLES_LENGTHS) <= before + 1);
    }
}

int main(void) {
    base_assert_handler_set(test_assert_handler);
    const struct CMUnitTest cases[] = {
        TEST(a_text_gives_the_same_lengths),   TEST(every_cut_text_is_refused),
        TEST(a_changed_text_is_refused),       TEST(lengths_without_codes_are_refused),
        TEST(chosen_lengths_are_the_cheapest),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
