// SPDX-License-Identifier: MIT
#include "test.h"

CASE(a_copy_is_cut_and_terminated) {
    char target[4] = "zzz";
    assert_true(base_text_copy(target, sizeof target, ""));
    assert_string_equal(target, "");
    assert_true(base_text_copy(target, sizeof target, "abc"));
    assert_string_equal(target, "abc");
    assert_false(base_text_copy(target, sizeof target, "defg"));
    assert_string_equal(target, "def");
    assert_false(base_text_copy(target, 1, "x"));
    assert_string_equal(target, "");
    assert_false(base_text_copy(NULL, 0, "x"));
}

CASE(a_line_is_trimmed_at_both_ends) {
    char line[] = " \t a b\t \r", blank[] = " \r";
    assert_string_equal(base_text_trim(line), "a b");
    assert_string_equal(base_text_trim(blank), "");
}

// A peer that gets half a character ends the session.
CASE(a_text_is_cut_between_characters) {
    static const char* const letters[] = {"x", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    for (size_t size = 1; size <= 4; size++)
        for (size_t bytes = 1; bytes <= 13; bytes++) {
            char source[65] = "", copied[16], printed[16];
            for (size_t i = 0; i < 16; i++)
                strcat(source, letters[size - 1]);
            const size_t expected = (bytes - 1) / size * size;
            assert_false(base_text_copy(copied, bytes, source));
            assert_false(base_text_format(printed, bytes, "%s", source));
            assert_int_equal(strlen(copied), expected);
            assert_string_equal(printed, copied);
        }
}

// What is no UTF-8 stays as it is, up to the room that it has.
CASE(bytes_of_no_character_are_cut_anywhere) {
    char target[6];
    assert_false(base_text_copy(target, sizeof target, "\x80\x80\x80\x80\x80\x80"));
    assert_int_equal(strlen(target), 5);
    assert_false(base_text_copy(target, sizeof target, "a\xc3\xbc\xbc\xbc\xbc"));
    assert_int_equal(strlen(target), 5);
    assert_true(base_text_copy(target, sizeof target, "abcd\xc3"));
    assert_int_equal(strlen(target), 5);
}

CASE(a_public_copy_has_no_user_and_no_password) {
    static const char* const texts[][2] = {
        {"", ""},
        {"client 3 \"a@b\" joined", "client 3 \"a@b\" joined"},
        {"nats://host/X?hours=72", "nats://host/X?hours=72"},
        {"nats://me:right@host:4222/X", "nats://host:4222/X"},
        {"tls://token@host", "tls://host"},
        {"nats://me:right@a:1,me:right@b:2,c/X?replicas=3", "nats://a:1,b:2,c/X?replicas=3"},
        {"nats://me:right@a,nats://me:right@b", "nats://a,b"},
        {"nats://me:r@ig,ht@host", "nats://ig,host"}, // two hosts
        {"nats://me:ri@ght@host", "nats://host"},
        {"nats://me:ri,ght@host", "nats://host"},
        {"nats://me:ri/g?ht@host", "nats://host"},
        {"--streem=nats://me:right@host, http://a:b@c x@y", "--streem=nats://host, http://c x@y"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char target[128], cut[6];
        assert_true(base_text_copy_public(target, sizeof target, texts[i][0]));
        assert_string_equal(target, texts[i][1]);
        const bool fits = base_text_copy_public(cut, sizeof cut, texts[i][0]);
        assert_int_equal(fits, strlen(texts[i][1]) < sizeof cut);
        assert_memory_equal(cut, texts[i][1], strlen(cut));
    }
    char target[6];
    assert_false(base_text_copy_public(target, sizeof target, "a://u@b\xc3\xbc"));
    assert_string_equal(target, "a://b");
}

CASE(utf8_is_whole_characters_without_a_nul) {
    char right[] = "a|\xc2\x80|\xdf\xbf|\xe0\xa0\x80|\xed\x9f\xbf|\xf0\x90\x80\x80|\xf4\x8f\xbf\xbf"
                   "|x\xe2\x82\xac!";
    char wrong[] =
        "\x80|\xc1\xbf|\xc3|\xc3(|\xe0\x9f\xbf|\xed\xa0\x80|\xf0\x8f\xbf\xbf|\xf4\x90\x80\x80"
        "|\xf5\x80\x80\x80|a\xe2\x82";
    for (const char* text = strtok(right, "|"); text; text = strtok(NULL, "|"))
        assert_true(base_text_is_utf8(text, strlen(text)));
    for (const char* text = strtok(wrong, "|"); text; text = strtok(NULL, "|"))
        assert_false(base_text_is_utf8(text, strlen(text)));
    assert_true(base_text_is_utf8("", 0));
    assert_false(base_text_is_utf8("a\0b", 3));
    assert_false(base_text_is_utf8("\xe2\x82\xac", 2)); // what is after the end does not count
    assert_int_equal(base_text_character("\xe2\x82\xac", 2), 0);
}

CASE(a_format_is_cut_and_terminated) {
    char target[6];
    assert_true(base_text_format(target, sizeof target, "%d-%s", 12, "ab"));
    assert_string_equal(target, "12-ab");
    assert_false(base_text_format(target, sizeof target, "%d-%s", 12, "abc"));
    assert_string_equal(target, "12-ab");
    assert_false(base_text_format(NULL, 0, "x"));
}
