// SPDX-License-Identifier: MIT
// The list of bans: lines, questions, changes while it is used, and files with faults.

#include "hear.h"

#include "net/token.h"
#include "scarce.h"

#include <arpa/inet.h>
#include <unistd.h>

static net_address host(const char* text) {
    net_address address = {.port = 7};
    struct in_addr four;
    if (inet_pton(AF_INET, text, &four) == 1) return net_address_ipv4(four.s_addr, 7);
    assert_int_equal(inet_pton(AF_INET6, text, address.ip), 1);
    return address;
}

static net_ban parsed(const char* line) {
    net_ban ban;
    char fault[256] = "";
    assert_ok(net_ban_parse(line, &ban, fault, sizeof fault));
    return ban;
}

static net_bans* make(const char* text) {
    net_bans* bans = NULL;
    bans = net_bans_create(NULL);
    assert_ok(net_bans_read(bans, text, strlen(text), "bans.txt", test_reporter()));
    return bans;
}

#define BANS_CASE(name, text) CASE_MADE(net_bans, bans, make(text), base_owner_destroy(bans), name)

static const char* reason_for(const net_bans* bans, const char* address) {
    const net_address asked = host(address);
    const net_ban* found = net_bans_find_address(bans, &asked);
    return found ? found->reason : "-";
}

CASE(a_line_is_a_ban_and_prints_as_it_was) {
    static const char* const LINES[] = {
        "address 203.0.113.0/24",      "address 203.0.113.7/32",
        "address 10.0.0.0/8",          "address 2001:db8::/32",
        "address 2001:db8::1/128",     "player 123",
        "player 18446744073709551615", "key 3",
    };
    for (uint32_t i = 0; i < BASE_COUNT(LINES); i++) {
        net_ban ban = parsed(LINES[i]);
        char text[96];
        net_ban_print(&ban, text, sizeof text);
        assert_string_equal(text, LINES[i]);
        assert_string_equal(ban.reason, "");
    }
    char text[96];
    net_ban ban = parsed("  address\t198.51.100.7   flooded the\tserver # on Monday\r");
    net_ban_print(&ban, text, sizeof text);
    assert_string_equal(text, "address 198.51.100.7/32");
    assert_string_equal(ban.reason, "flooded the server");
}

CASE(a_wrong_line_is_explained) {
    static const struct {
        const char *line, *says;
    } CASES[] = {
        {"adress 1.2.3.4", "\"adress\": write"},
        {"address", "missing value after 'address'"},
        {"player", "missing value after 'player'"},
        {"address 1.2.3", "is not an IPv4 or IPv6 address"},
        {"address example.org", "is not an IPv4 or IPv6 address"},
        {"address 1.2.3.4:7", "is not an IPv4 or IPv6 address"},
        {"address 1.2.3.4/33", "/8 to /32"},
        {"address 1.2.3.4/", "/8 to /32"},
        {"address 0.0.0.0/0", "/8 to /32"},
        {"address 10.0.0.0/7", "/8 to /32"},
        {"address 2001:db8::/129", "/16 to /128"},
        {"address 2001::/15", "/16 to /128"},
        {"address ::/16", "contains all IPv4"},
        {"address ::ffff:0:0/96", "contains all IPv4"},
        {"address 203.0.113.7/24", "has bits after /24"},
        {"address 2001:db8::1/64", "has bits after /64"},
        {"player 0", "is not the number of a player"},
        {"player -1", "is not the number of a player"},
        {"player 18446744073709551616", "is not the number of a player"},
        {"key x", "is not the number of a key"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(CASES); i++) {
        net_ban ban;
        char fault[256] = "";
        assert_int_equal(net_ban_parse(CASES[i].line, &ban, fault, sizeof fault),
                         NET_ERR_MALFORMED);
        if (!strstr(fault, CASES[i].says)) fail_msg("%s: %s", CASES[i].line, fault);
    }
    net_ban ban;
    char fault[64];
    assert_int_equal(net_ban_parse("", &ban, fault, sizeof fault), NET_ERR_UNKNOWN);
    assert_int_equal(net_ban_parse(" \t\r", &ban, fault, sizeof fault), NET_ERR_UNKNOWN);
    assert_int_equal(net_ban_parse("# player 3", &ban, fault, sizeof fault), NET_ERR_UNKNOWN);
}

CASE(a_line_has_a_longest_length) {
    for (size_t bytes = NET_BAN_LINE_BYTES_MAX - 2; bytes <= NET_BAN_LINE_BYTES_MAX; bytes++) {
        char line[NET_BAN_LINE_BYTES_MAX + 8];
        memset(line, 'x', sizeof line);
        memcpy(line, "player 5 ", 9);
        line[bytes] = '\0';
        net_ban ban;
        char fault[128] = "";
        bool is_good = bytes < NET_BAN_LINE_BYTES_MAX;
        assert_int_equal(net_ban_parse(line, &ban, fault, sizeof fault),
                         is_good ? NET_OK : NET_ERR_MALFORMED);
        if (is_good) assert_int_equal(strlen(ban.reason), NET_BAN_REASON_BYTES_MAX - 1);
        assert_int_equal(strstr(fault, "longer than 255 bytes") != NULL, !is_good);
    }
}

BANS_CASE(the_most_exact_prefix_counts,
          "address 10.0.0.0/8 wide\naddress 10.1.0.0/16 near\n\n# a comment\n"
          "address 10.1.2.3 one\naddress 2001:db8::/32 six\nplayer 9 nine\nkey 2") {
    assert_int_equal(net_bans_count(bans), 6);
    assert_string_equal(reason_for(bans, "10.2.3.4"), "wide");
    assert_string_equal(reason_for(bans, "10.1.3.4"), "near");
    assert_string_equal(reason_for(bans, "10.1.2.3"), "one");
    assert_string_equal(reason_for(bans, "11.1.2.3"), "-");
    assert_string_equal(reason_for(bans, "2001:db8:1::5"), "six");
    assert_string_equal(reason_for(bans, "2001:db9::5"), "-");
    assert_string_equal(reason_for(bans, "::ffff:10.9.9.9"), "wide");
    assert_string_equal(net_bans_find_player(bans, 9)->reason, "nine");
    assert_null(net_bans_find_player(bans, 2));
    assert_null(net_bans_find_player(bans, 0));
    assert_non_null(net_bans_find_key(bans, 2));
    assert_null(net_bans_find_key(bans, 9));
    const net_address free = host("192.0.2.1"), one = host("10.1.2.3");
    assert_null(net_bans_find(bans, &free, 8, 1));
    assert_string_equal(net_bans_find(bans, &free, 9, 2)->reason, "nine");
    assert_int_equal(net_bans_find(bans, &free, 8, 2)->kind, NET_BAN_KEY);
    assert_string_equal(net_bans_find(bans, &one, 9, 2)->reason, "one");
    assert_null(net_bans_find(NULL, &one, 9, 2));
}

BANS_CASE(bans_come_and_go_by_calls, "player 1 file\nplayer 2 file\n") {
    net_ban ban = parsed("player 1 call"), other = parsed("player 3 call");
    assert_ok(net_bans_add(bans, &ban)); // the new reason
    assert_ok(net_bans_add(bans, &other));
    assert_int_equal(net_bans_count(bans), 3);
    assert_string_equal(net_bans_find_player(bans, 1)->reason, "call");
    // A new file replaces what the old one brought.
    const char text[] = "player 1 again\nplayer 4 file\n";
    assert_ok(net_bans_read(bans, text, strlen(text), "b", NULL));
    assert_string_equal(net_bans_find_player(bans, 1)->reason, "call");
    assert_null(net_bans_find_player(bans, 2));
    assert_non_null(net_bans_find_player(bans, 3));
    assert_non_null(net_bans_find_player(bans, 4));
    assert_true(net_bans_remove(bans, &other));
    assert_false(net_bans_remove(bans, &other));
    assert_null(net_bans_find_player(bans, 3));
    const net_address at = host("192.0.2.1");
    ban = net_ban_of_address(&at, NULL);
    assert_ok(net_bans_add(bans, &ban));
    assert_string_equal(reason_for(bans, "192.0.2.1"), "");
    assert_string_equal(reason_for(bans, "192.0.2.2"), "-");
    assert_true(net_bans_remove(bans, &ban));
    assert_string_equal(reason_for(bans, "192.0.2.1"), "-");
    assert_int_equal(net_bans_count(bans), 2);
}

BANS_CASE(a_fault_in_any_line_keeps_the_old_list, "player 1 old\n") {
    const char text[] = "player 2\n\n# fine\nplayer two\nkey 4\n";
    assert_int_equal(net_bans_read(bans, text, strlen(text), "bans.txt", hear()),
                     NET_ERR_MALFORMED);
    assert_int_equal(said.count, 1);
    assert_said("bans.txt:4: error: \"two\" is not the number of a player");
    assert_int_equal(net_bans_count(bans), 1);
    assert_string_equal(net_bans_find_player(bans, 1)->reason, "old");
    // Bytes that are no text, and more faults than are reported.
    assert_int_equal(net_bans_read(bans, "player\0 3\n", 10, "b", hear()), NET_ERR_MALFORMED);
    assert_said("NUL");
    char many[4096];
    memset(many, 'x', sizeof many);
    for (size_t i = 1; i < sizeof many; i += 2)
        many[i] = '\n';
    assert_int_equal(net_bans_read(bans, many, sizeof many, "b", hear()), NET_ERR_MALFORMED);
    assert_int_equal(said.count, NET_BAN_FAULTS_REPORTED_MAX + 1);
    assert_int_equal(net_bans_count(bans), 1);
}

BANS_CASE(a_file_is_read_again_or_kept, "") {
    char name[] = "/tmp/shoal-bans-XXXXXX";
    int descriptor = mkstemp(name);
    assert_true(descriptor >= 0);
    close(descriptor);
    static const struct {
        const char* text;
        net_result result;
        uint32_t count;
    } STEPS[] = {{"player 1\nplayer 2\n", NET_OK, 2},
                 {"player 1\nplayer x\n", NET_ERR_MALFORMED, 2},
                 {"", NET_OK, 0},
                 {"address 10.0.0.0/8", NET_OK, 1}};
    for (uint32_t i = 0; i < BASE_COUNT(STEPS); i++) {
        FILE* file = fopen(name, "w");
        assert_non_null(file);
        assert_true(fputs(STEPS[i].text, file) >= 0);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(net_bans_load(bans, name, hear()), STEPS[i].result);
        assert_int_equal(net_bans_count(bans), STEPS[i].count);
    }
    assert_int_equal(unlink(name), 0);
    assert_int_equal(net_bans_load(bans, name, hear()), NET_ERR_IO);
    assert_int_equal(said.count, 1);
    assert_int_equal(net_bans_count(bans), 1);
    assert_int_equal(net_bans_load(bans, "/tmp", hear()), NET_ERR_IO);
}

BANS_CASE(the_list_has_a_limit, "") {
    const size_t line_bytes = 13;
    size_t size = (NET_BANS_MAX + 1) * line_bytes;
    char* text = malloc(size + 1);
    assert_non_null(text);
    for (uint32_t i = 0; i <= NET_BANS_MAX; i++)
        (void)snprintf(text + i * line_bytes, line_bytes + 1, "player %05u\n", i + 1);
    const base_reporter* reporter = hear();
    assert_ok(net_bans_read(bans, text, size - 2 * line_bytes, "b", reporter));
    net_ban ban = {.kind = NET_BAN_KEY, .id = 1};
    assert_ok(net_bans_add(bans, &ban)); // the last one
    ban.id = 2;
    assert_int_equal(net_bans_add(bans, &ban), NET_ERR_FULL);
    assert_int_equal(net_bans_count(bans), NET_BANS_MAX);
    assert_int_equal(net_bans_read(bans, text, size - line_bytes, "b", reporter), NET_ERR_FULL);
    assert_int_equal(said.count, 1);
    assert_int_equal(net_bans_count(bans), NET_BANS_MAX);
    assert_non_null(net_bans_find_player(bans, NET_BANS_MAX - 1));
    ban.id = 1;
    assert_true(net_bans_remove(bans, &ban));
    assert_ok(net_bans_read(bans, text, size - line_bytes, "b", reporter));
    assert_int_equal(net_bans_read(bans, text, size, "b", reporter), NET_ERR_FULL);
    free(text);
}

static bool model_has(const net_ban* all, uint32_t count, const net_address* address) {
    for (uint32_t i = 0; i < count; i++) {
        bool is_in = true;
        for (uint32_t bit = 0; bit < all[i].bits && is_in; bit++)
            is_in = !((all[i].ip[bit / 8] ^ address->ip[bit / 8]) & 0x80u >> bit % 8);
        if (is_in) return true;
    }
    return false;
}

CASE(random_lists_agree_with_a_walk_over_all_bans) {
    base_rng rng = test_rng(5, 1);
    for (uint32_t round = 0; round < 40; round++) {
        net_ban all[50];
        net_bans* bans = NULL;
        uint32_t hits = 0;
        bans = net_bans_create(NULL);
        for (uint32_t i = 0; i < BASE_COUNT(all); i++) {
            char line[64];
            uint32_t bits = 8 + base_rng_below(&rng, 25);
            uint32_t ip = 0x0A000000u | base_rng_below(&rng, 1 << 24);
            ip &= UINT32_MAX << (32 - bits);
            (void)snprintf(line, sizeof line, "address %u.%u.%u.%u/%u", ip >> 24, ip >> 16 & 255,
                           ip >> 8 & 255, ip & 255, bits);
            all[i] = parsed(line);
            if (bits < 12) all[i] = parsed("address 192.0.2.0/24");
            assert_ok(net_bans_add(bans, &all[i]));
        }
        for (uint32_t i = 0; i < 2000; i++) {
            net_address asked =
                net_address_ipv4(htonl(0x0A000000u | base_rng_below(&rng, 1 << 24)), 1);
            bool is_banned = net_bans_find_address(bans, &asked) != NULL;
            assert_int_equal(is_banned, model_has(all, BASE_COUNT(all), &asked));
            hits += is_banned;
        }
        assert_true(hits < 2000);
        base_owner_destroy(bans);
    }
}
