// SPDX-License-Identifier: MIT
#include "secure_world.h"

#include "hear.h"

static net_result parse(const char* text, net_key_ring* ring) {
    return net_key_ring_parse(ring, "keys", text, strlen(text), hear());
}

// The report names the line, or the file alone.
static void expect_line(uint32_t line) {
    char place[32] = "keys: error: ";
    if (line > 0) snprintf(place, sizeof place, "keys:%u: error: ", line);
    assert_int_equal(said.count, 1);
    assert_memory_equal(said.text, place, strlen(place));
}

#define HEX_A "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
#define HEX_B "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

CASE(a_key_file_gives_the_current_key_first) {
    net_key_ring ring;
    assert_ok(parse("# keys of the house\n\n 12\t" HEX_A "  # new\r\n3 " HEX_B, &ring));
    assert_int_equal(said.count, 0);
    assert_int_equal(ring.count, 2);
    assert_int_equal(ring.keys[0].id, 12);
    assert_int_equal(ring.keys[0].bytes[1], 0x11);
    assert_int_equal(ring.keys[1].bytes[0], 0xFF);
    assert_ptr_equal(net_key_ring_find(&ring, 3), &ring.keys[1]);
    assert_null(net_key_ring_find(&ring, 4));
    net_key_ring_wipe(&ring);
    assert_int_equal(ring.count, 0);
}

CASE(a_faulty_key_file_names_the_line_and_no_key) {
    static const struct {
        const char* text;
        uint32_t line;
    } cases[] = {
        {"", 0},
        {"# nothing\n", 0},
        {"1 " HEX_A "\n1 " HEX_B, 2},
        {"0 " HEX_A, 1},
        {"255 " HEX_A, 1},
        {"256 " HEX_A, 1},
        {"1234 " HEX_A, 1},
        {"\n\n-1 " HEX_A, 3},
        {"1" HEX_A, 1},
        {"1", 1},
        {HEX_A, 1},
        {"1 " HEX_A "0", 1},
        {"1 0" HEX_A "0", 1},
        {"1 00", 1},
        {"1 " HEX_A "\n2 x0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", 2},
        {"1 " HEX_A " " HEX_A, 1},
    };
    for (size_t i = 0; i < BASE_COUNT(cases); i++) {
        net_key_ring ring;
        assert_int_equal(parse(cases[i].text, &ring), NET_ERR_TOKEN);
        expect_line(cases[i].line);
        assert_null(strstr(said.text, "112233"));
        assert_int_equal(ring.count, 0);
    }
}

CASE(a_ring_has_sixteen_keys_at_most) {
    char text[NET_KEY_TEXT_BYTES * (NET_KEYS_MAX + 1) + 1] = "";
    for (uint32_t count = 1; count <= NET_KEYS_MAX + 1; count++) {
        net_key_ring ring;
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%u %s\n", (unsigned)count, HEX_A);
        assert_int_equal(parse(text, &ring), count > NET_KEYS_MAX ? NET_ERR_TOKEN : NET_OK);
        if (count > NET_KEYS_MAX) expect_line(count);
    }
}

CASE(a_made_key_survives_its_text) {
    chance from;
    net_key first, second;
    char text[NET_KEY_TEXT_BYTES];
    net_key_ring ring;
    chance_init(&from, 5);
    net_key_make(254, &from.entropy, &first);
    net_key_make(254, &from.entropy, &second);
    assert_memory_not_equal(first.bytes, second.bytes, sizeof first.bytes);
    assert_false(net_key_print(&first, text, sizeof text - 1));
    assert_true(net_key_print(&first, text, sizeof text));
    assert_ok(parse(text, &ring));
    assert_memory_equal(&ring.keys[0], &first, sizeof first);
    net_key_wipe(&first);
    assert_int_equal(first.id + first.bytes[0] + first.bytes[31], 0);
}

// As Python's hashlib.blake2b makes it.
CASE(a_secret_is_derived_from_a_key_a_purpose_and_two_numbers) {
    static const uint8_t expected[16] = {0xb7, 0x92, 0xab, 0x20, 0x79, 0xa2, 0x6f, 0x24,
                                         0x28, 0xa7, 0xce, 0xc2, 0x59, 0xdb, 0xcc, 0x21};
    uint8_t secret[16], longer[32], other[16];
    net_key key = {.id = 1};
    for (uint8_t i = 0; i < sizeof key.bytes; i++)
        key.bytes[i] = i;
    net_key_derive(&key, "shoal session", 5, 7, secret, sizeof secret);
    assert_memory_equal(secret, expected, sizeof expected);
    net_key_derive(&key, "shoal session", 5, 7, longer, sizeof longer);
    assert_memory_not_equal(secret, longer, sizeof secret);
    net_key_derive(&key, "shoal session", 7, 5, other, sizeof other);
    assert_memory_not_equal(secret, other, sizeof secret);
    net_key_derive(&key, "shoal sessions", 5, 7, other, sizeof other);
    assert_memory_not_equal(secret, other, sizeof secret);
    key.bytes[31] ^= 1;
    net_key_derive(&key, "shoal session", 5, 7, other, sizeof other);
    assert_memory_not_equal(secret, other, sizeof secret);
}

CASE(the_system_makes_keys_and_reserved_ids_are_ours) {
    net_key a, b;
    net_key_make(1, net_entropy_system(), &a);
    net_key_make(1, net_entropy_system(), &b);
    assert_memory_not_equal(a.bytes, b.bytes, sizeof a.bytes);
    expect_assert_failure(net_key_make(0, net_entropy_system(), &a));
    expect_assert_failure(net_key_make(255, net_entropy_system(), &a));
}
