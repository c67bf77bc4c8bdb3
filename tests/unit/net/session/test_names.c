// SPDX-License-Identifier: MIT
// Names of players: what others see of them, and that no two look alike.
#include <strings.h>

#include "test.h"

#include "session/control.h"

static const char* clean(const char* requested) {
    static char name[NET_PLAYER_NAME_BYTES_MAX];
    net_control_clean_name(name, requested);
    return name;
}

CASE(what_turns_or_hides_text_is_left_out) {
    static const char* const HIDDEN[] = {
        "\u200B", "\u200C", "\u200D", "\u200E", "\u200F",   "\u202A", "\u202B",
        "\u202C", "\u202D", "\u202E", "\u2066", "\u2067",   "\u2068", "\u2069",
        "\u061C", "\uFEFF", "\u00AD", "\u034F", "\u2060",   "\u2064", "\u180E",
        "\u3164", "\uFFA0", "\u115F", "\u2028", "\u2029",   "\uFE0F", "\U000E0041",
        "\uFFFE", "\u2800", "\x07",   "\x7F",   "\xC2\x85",
    };
    for (uint32_t i = 0; i < BASE_COUNT(HIDDEN); i++) {
        char requested[32];
        (void)snprintf(requested, sizeof requested, "A%sd%sa%s", HIDDEN[i], HIDDEN[i], HIDDEN[i]);
        assert_string_equal(clean(requested), "Ada");
        assert_string_equal(clean(HIDDEN[i]), "player");
    }
}

CASE(a_name_has_31_bytes_of_whole_characters_at_most) {
    static const char LONGEST[] = "1234567890123456789012345678901";
    static const struct {
        const char *requested, *name;
    } ROWS[] = {
        {LONGEST, LONGEST},
        {LONGEST + 1, LONGEST + 1},
        {"12345678901234567890123456789012", LONGEST},
        {"12345678901234567890123456789\xC3\xA9", "12345678901234567890123456789\xC3\xA9"},
        {"12345678901234567890123456789\xC3\xA9z", "12345678901234567890123456789\xC3\xA9"},
        {"123456789012345678901234567890\xC3\xA9", "123456789012345678901234567890"},
        {"1234567890123456789012345678\xF0\x9F\x90\x9F", "1234567890123456789012345678"},
        {"123456789012345678901234567\xF0\x9F\x90\x9F",
         "123456789012345678901234567\xF0\x9F\x90\x9F"},
        {"A\x1b[2Jb\n", "A[2Jb"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(ROWS); i++)
        assert_string_equal(clean(ROWS[i].requested), ROWS[i].name);
}

CASE(spaces_of_every_kind_are_one_plain_space_between_words) {
    assert_string_equal(clean("  Ada   Byron  "), "Ada Byron");
    assert_string_equal(clean("Ada\u00A0\u2003\u3000Byron\u00A0"), "Ada Byron");
    assert_string_equal(clean("\u00A0\u3000"), "player");
    assert_string_equal(clean(""), "player");
    // The cut does not leave a space at the end.
    assert_string_equal(clean("123456789012345678901234567890 x"),
                        "123456789012345678901234567890");
}

CASE(names_of_people_stay) {
    static const char* const NAMES[] = {"Ada",
                                        "Zo\u00EB",
                                        "\u0410\u0434\u0430",
                                        "\u30A2\u30C0",
                                        "\u0639\u0627\u062F\u0629",
                                        "\U0001F680 pilot",
                                        "a-b_c.d"};
    for (uint32_t i = 0; i < BASE_COUNT(NAMES); i++)
        assert_string_equal(clean(NAMES[i]), NAMES[i]);
}

CASE(any_bytes_give_a_clean_name_that_stays_clean) {
    base_rng rng = test_rng(11, 1);
    for (uint32_t round = 0; round < 20000; round++) {
        char requested[64];
        uint32_t size = base_rng_below(&rng, sizeof requested);
        for (uint32_t i = 0; i < size; i++)
            requested[i] = (char)(1 + base_rng_below(&rng, 255));
        requested[size] = '\0';
        char once[NET_PLAYER_NAME_BYTES_MAX];
        net_control_clean_name(once, requested);
        assert_in_range(strlen(once), 1, NET_PLAYER_NAME_BYTES_MAX - 1);
        assert_string_equal(clean(once), once);
    }
}

// ---- names that differ

typedef struct house {
    char names[64][NET_PLAYER_NAME_BYTES_MAX];
    net_name_key keys[64];
    uint32_t count;
} house;

static const char* enter(house* of, const char* requested) {
    char name[NET_PLAYER_NAME_BYTES_MAX];
    net_control_clean_name(name, requested);
    of->keys[of->count] = net_name_distinguish(name, of->keys, of->count);
    memcpy(of->names[of->count], name, sizeof name);
    return of->names[of->count++];
}

static void leave(house* of, uint32_t place) {
    of->names[place][0] = '\0';
    of->keys[place] = (net_name_key){0};
}

#define HOUSE_CASE(name) CASE_WITH(house, of, *of = (house){.count = 0}, (void)0, name)

HOUSE_CASE(the_second_of_a_name_gets_a_number) {
    assert_string_equal(enter(of, "Ada"), "Ada");
    assert_string_equal(enter(of, "Ada"), "Ada (2)");
    assert_string_equal(enter(of, "aDA "), "aDA (3)");
    assert_string_equal(enter(of, "Ad\u200Ba"), "Ada (4)");
    assert_string_equal(enter(of, "Ada (2)"), "Ada (5)");
    assert_string_equal(enter(of, "Adam"), "Adam");
    leave(of, 1); // "Ada (2)"
    assert_string_equal(enter(of, "Ada"), "Ada (2)");
}

HOUSE_CASE(a_number_that_nobody_was_given_belongs_to_the_name) {
    static const char* const NAMES[] = {"(2)",       "x(2)", "x (1)", "x (02)",
                                        "x (99999)", "x ()", "x (2",  "x (2) y"};
    for (uint32_t i = 0; i < BASE_COUNT(NAMES); i++)
        assert_string_equal(enter(of, NAMES[i]), NAMES[i]);
    assert_string_equal(enter(of, "x (99999)"), "x (99999) (2)");
    assert_string_equal(enter(of, "x (9999)"), "x (9999)");
    assert_string_equal(enter(of, "x (9999)"), "x (2)");
}

HOUSE_CASE(a_long_name_is_cut_for_its_number) {
    const char* longest = "1234567890123456789012345678901";
    assert_string_equal(enter(of, longest), longest);
    assert_string_equal(enter(of, longest), "123456789012345678901234 (2)");
    assert_string_equal(enter(of, longest), "123456789012345678901234 (3)");
    // Whole characters: the 24th byte lies inside of one.
    const char* rockets =
        "12\U0001F680\U0001F680\U0001F680\U0001F680\U0001F680\U0001F680\U0001F680";
    (void)enter(of, rockets);
    assert_string_equal(enter(of, rockets),
                        "12\U0001F680\U0001F680\U0001F680\U0001F680\U0001F680 (2)");
}

static net_name_key key_of(const char* name) {
    char copy[NET_PLAYER_NAME_BYTES_MAX];
    (void)snprintf(copy, sizeof copy, "%s", name);
    net_name_key key = net_name_distinguish(copy, NULL, 0);
    assert_string_equal(copy, name);
    return key;
}

// There are few names, so many are equal. A name that was changed has the key of a client that
// asked for that name itself.
CASE(any_names_differ_and_have_their_keys) {
    static const char* const NAMES[] = {
        "a", "A",     "a (2)", "A (3)", "b (2)", "a (2) (2)", "123456789012345678901234567",
        "B", "a (1)", "b"};
    base_rng rng = base_rng_make(1, 1);
    for (uint32_t round = 0; round < 40; round++) {
        house of = {.count = 0};
        while (of.count < BASE_COUNT(of.names)) {
            const uint32_t place = of.count;
            const char* name = enter(&of, NAMES[base_rng_below(&rng, BASE_COUNT(NAMES))]);
            const net_name_key key = key_of(name);
            assert_int_equal(of.keys[place].stem, key.stem);
            assert_int_equal(of.keys[place].number, key.number);
            for (uint32_t i = 0; i < place; i++)
                assert_int_not_equal(strcasecmp(of.names[i], name), 0);
            if (base_rng_below(&rng, 4) == 0) leave(&of, base_rng_below(&rng, place + 1));
        }
    }
}

CASE(a_full_house_of_one_name_has_a_number_for_the_next) {
    static net_name_key bots[NET_NAMES_MAX];
    char expected[NET_PLAYER_NAME_BYTES_MAX], name[NET_PLAYER_NAME_BYTES_MAX] = "bot";
    for (uint32_t i = 0; i < NET_NAMES_MAX; i++) {
        (void)snprintf(expected, sizeof expected, i > 0 ? "bot (%u)" : "bot", i + 1);
        bots[i] = key_of(expected);
    }
    (void)net_name_distinguish(name, bots, NET_NAMES_MAX);
    (void)snprintf(expected, sizeof expected, "bot (%u)", NET_NAMES_MAX + 1);
    assert_string_equal(name, expected);
}

CASE(the_roster_cleans_what_a_server_sends) {
    base_owner* owner = base_owner_create(NULL, sizeof *owner);
    net_roster roster;
    net_roster_init(&roster, &owner->allocator);
    Shoal__Wire__RosterEntry entry = SHOAL__WIRE__ROSTER_ENTRY__INIT;
    Shoal__Wire__RosterEntry* entries[1] = {&entry};
    Shoal__Wire__Roster change = SHOAL__WIRE__ROSTER__INIT;
    entry.client = 7;
    entry.name = (char*)(uintptr_t) "\u202EadA\u200B ";
    change.n_came = 1;
    change.came = entries;
    assert_ok(net_roster_take(&roster, &change));
    assert_string_equal(net_roster_find(&roster, 7)->name, "adA");
    base_owner_destroy(owner);
}
