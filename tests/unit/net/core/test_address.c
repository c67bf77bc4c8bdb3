// SPDX-License-Identifier: MIT
// Addresses of both families as text and as bytes.
#include "names.h"

#include <arpa/inet.h>

static net_address parsed(const char* text) {
    net_address address = {0};
    assert_ok(net_address_parse(text, &address));
    return address;
}

CASE(a_literal_comes_back_as_it_was_written) {
    static const char* const TEXTS[] = {"1.2.3.4:7",    "0.0.0.0:0", "255.255.255.255:65535",
                                        "[::1]:7",      "[::]:0",    "[2001:db8::5]:1",
                                        "[fe80::1%1]:9"};
    for (size_t i = 0; i < BASE_COUNT(TEXTS); i++) {
        net_address address = parsed(TEXTS[i]);
        char text[NET_ADDRESS_TEXT_BYTES];
        assert_true(net_address_print(&address, text, sizeof text));
        assert_string_equal(text, TEXTS[i]);
        assert_false(net_address_print(&address, text, strlen(TEXTS[i])));
        assert_true(net_address_print(&address, text, strlen(TEXTS[i]) + 1));
    }
}

CASE(the_longest_text_fits) {
    net_address address = {.scope = UINT32_MAX, .port = UINT16_MAX};
    memset(address.ip, 0xAB, sizeof address.ip);
    char text[NET_ADDRESS_TEXT_BYTES];
    assert_true(net_address_print(&address, text, sizeof text));
}

CASE(ipv4_is_kept_as_mapped_ipv6) {
    net_address mapped = parsed("[::ffff:1.2.3.4]:7"), plain = parsed("1.2.3.4:7");
    assert_true(net_address_equal(&mapped, &plain));
    assert_true(net_address_is_ipv4(&mapped));
    assert_int_equal(net_address_ipv4_host(&mapped), htonl(0x01020304));
    net_address made = net_address_ipv4(htonl(0x01020304), 7);
    assert_true(net_address_equal(&made, &plain));
    net_address other = parsed("[::1]:7");
    assert_false(net_address_is_ipv4(&other));
    assert_int_equal(net_address_ipv4_host(&other), 0);
}

CASE(host_scope_and_port_make_an_address) {
    net_address a = parsed("[fe80::1%1]:7"), b = a;
    assert_true(net_address_equal(&a, &b));
    b.port = 8;
    assert_false(net_address_equal(&a, &b));
    b = a;
    b.scope = 2;
    assert_false(net_address_equal(&a, &b));
    b = a;
    b.ip[15] = 2;
    assert_false(net_address_equal(&a, &b));
}

CASE(what_is_no_address_is_refused_and_changes_nothing) {
    static const char* const TEXTS[] = {
        "",           ":7",        "1.2.3.4",  "1.2.3.4:", "1.2.3.4:65536",
        "1.2.3.4:-1", "1.2.3.4:x", "::1:7",    "[::1]",    "[::1:7",
        "::1]:7",     "[]:7",      "[::1]x:7", "[g]:7",    "[1.2.3.4]:7",
        "[]",         "[",         "]:7",      "a b:7",    "[::1]:"};
    net_address kept = parsed("9.9.9.9:9"), address = kept;
    for (size_t i = 0; i < BASE_COUNT(TEXTS); i++) {
        uint32_t count = 5;
        assert_int_equal(net_address_parse(TEXTS[i], &address), NET_ERR_ADDRESS);
        assert_true(net_address_equal(&address, &kept));
        assert_int_equal(net_address_resolve(&names, TEXTS[i], &address, 1, &count),
                         NET_ERR_ADDRESS);
        assert_int_equal(count, 0);
    }
    assert_int_equal(net_address_parse(NULL, &address), NET_ERR_ADDRESS);
    char longest[300];
    memset(longest, 'a', sizeof longest);
    memcpy(longest + sizeof longest - 3, ":7", 3);
    assert_int_equal(net_address_parse(longest, &address), NET_ERR_ADDRESS);
}

static void resolves_to(const char* text, uint32_t capacity, const char* expected) {
    net_address found[8];
    char all[8 * NET_ADDRESS_TEXT_BYTES] = "";
    uint32_t count = 0;
    assert_ok(net_address_resolve(&names, text, found, capacity, &count));
    assert_in_range(count, 1, capacity);
    for (uint32_t i = 0; i < count; i++) {
        char one[NET_ADDRESS_TEXT_BYTES];
        assert_true(net_address_print(&found[i], one, sizeof one));
        if (i > 0) strcat(all, " ");
        strcat(all, one);
    }
    assert_string_equal(all, expected);
}

CASE(the_families_of_a_name_come_in_turn_the_best_one_first) {
    resolves_to("six.first:9", 8, "[::1]:9 127.0.0.1:9");
    resolves_to("four.first:9", 8, "127.0.0.1:9 [::1]:9");
    resolves_to("four.first:9", 1, "127.0.0.1:9");
    resolves_to("only.six:9", 8, "[::1]:9");
    resolves_to("many.sixes:9", 3, "[2001:db8::1]:9 127.0.0.1:9 [2001:db8::2]:9");
    resolves_to("many.sixes:9", 8,
                "[2001:db8::1]:9 127.0.0.1:9 [2001:db8::2]:9 192.0.2.1:9 [2001:db8::3]:9 "
                "[2001:db8::4]:9 [2001:db8::5]:9 [2001:db8::6]:9");
    resolves_to("10.0.0.1:9", 8, "10.0.0.1:9");
    resolves_to("[::2]:9", 8, "[::2]:9");
}

CASE(one_address_of_a_name_is_ipv4_where_there_is_one) {
    net_address address;
    char text[NET_ADDRESS_TEXT_BYTES];
    static const char* const CASES[][2] = {{"six.first:9", "127.0.0.1:9"},
                                           {"four.first:9", "127.0.0.1:9"},
                                           {"only.six:9", "[::1]:9"},
                                           {"10.0.0.1:9", "10.0.0.1:9"}};
    for (size_t i = 0; i < BASE_COUNT(CASES); i++) {
        assert_ok(net_address_resolve_one(&names, CASES[i][0], &address));
        assert_true(net_address_print(&address, text, sizeof text));
        assert_string_equal(text, CASES[i][1]);
    }
    const net_address kept = address;
    assert_int_equal(net_address_resolve_one(&names, "unknown:9", &address), NET_ERR_ADDRESS);
    assert_int_equal(net_address_parse("six.first:9", &address), NET_ERR_ADDRESS);
    assert_true(net_address_equal(&address, &kept));
}

// Loopback, private, wildcard, multicast.
CASE(kinds_of_hosts_are_told_apart) {
    static const struct {
        const char *kinds, *texts;
    } rows[] = {
        {"lp", "127.0.0.1:1 127.255.255.255:1 [::1]:1 [::ffff:127.0.0.1]:1"},
        {"", "128.0.0.1:1 [::2]:1 9.255.255.255:1 11.0.0.0:1 172.15.255.255:1 172.32.0.0:1 "
             "192.169.0.0:1 169.253.3.4:1 [fec0::1]:1 [fe00::1]:1 [fbff::1]:1 [2001:db8::1]:1 "
             "223.255.255.255:1 240.0.0.1:1"},
        {"w", "0.0.0.0:1 [::]:1"},
        {"p", "10.0.0.0:1 10.255.255.255:1 172.16.0.0:1 172.31.255.255:1 192.168.0.0:1 "
              "169.254.3.4:1 [fe80::1]:1 [febf::1]:1 [fc00::1]:1 [fdff::1]:1 [::ffff:10.0.0.1]:1"},
        {"m", "224.0.0.1:1 239.255.255.255:1 255.255.255.255:1 [ff02::1]:1"},
    };
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        char text[64];
        int used = 0;
        for (const char* at = rows[i].texts; sscanf(at, "%63s%n", text, &used) == 1; at += used) {
            const net_address address = parsed(text);
            char kinds[5] = "";
            if (net_address_is_loopback(&address)) strcat(kinds, "l");
            if (net_address_is_private(&address)) strcat(kinds, "p");
            if (net_address_is_wildcard(&address)) strcat(kinds, "w");
            if (net_address_is_multicast(&address)) strcat(kinds, "m");
            if (strcmp(kinds, rows[i].kinds) != 0) fail_msg("%s: %s", text, kinds);
        }
    }
}
