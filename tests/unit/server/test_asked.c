// SPDX-License-Identifier: MIT
// The language of queries, without a world.
#include "test.h"

#include "inspect/query.h"

static void expect_fault(const char* text, const char* fault) {
    server_query query;
    char said[SERVER_QUERY_FAULT_BYTES] = "";
    if (server_query_parse(text, &query, said) || strcmp(said, fault) != 0)
        fail_msg("\"%s\": \"%s\", not \"%s\"", text, said, fault);
}

CASE(a_query_is_read_as_it_is_written) {
    server_query query;
    char fault[SERVER_QUERY_FAULT_BYTES];
    assert_true(server_query_parse(
        "pos,?vel , !dead,template=a+b where ecs.parent!=17:1 and pos.x>=-1.5e1 and on = true and "
        "title = \"a \\\"b\\\" and c\"",
        &query, fault));
    assert_int_equal(query.term_count, 4);
    static const server_query_use uses[] = {SERVER_QUERY_HAS, SERVER_QUERY_MAY_HAVE,
                                            SERVER_QUERY_HAS_NOT, SERVER_QUERY_TEMPLATE};
    static const char* const names[] = {"pos", "vel", "dead", "a+b"};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(query.terms[i].use, uses[i]);
        assert_string_equal(query.terms[i].name, names[i]);
    }
    assert_int_equal(query.terms[2].column, 13);
    assert_int_equal(query.condition_count, 4);
    assert_string_equal(query.conditions[0].name, "ecs.parent");
    assert_int_equal(query.conditions[0].entity, ecs_entity_make(17, 1));
    assert_int_equal(query.conditions[0].order, SERVER_QUERY_NOT_EQUAL);
    assert_true(query.conditions[1].number == -15.0L);
    assert_int_equal(query.conditions[2].kind, SERVER_QUERY_BOOL);
    assert_string_equal(query.conditions[3].text, "a \"b\" and c");
    assert_true(server_query_parse("  ", &query, fault));
    assert_int_equal(query.term_count + query.condition_count, 0);
    assert_true(server_query_parse("where a = 18446744073709551615", &query, fault));
    assert_true(query.conditions[0].number == (long double)UINT64_MAX);
    assert_true(server_query_parse("where a = -9223372036854775808", &query, fault));
    assert_true(query.conditions[0].number == (long double)INT64_MIN);
}

CASE(what_is_no_query_is_told_with_its_column) {
    expect_fault("pos,", "column 5: a name is missing");
    expect_fault("pos vel", "column 5: expected \",\" or \"where\"");
    expect_fault("pos where", "column 10: a name is missing");
    expect_fault("pos where hp", "column 13: one of < <= > >= = != is missing");
    expect_fault("pos where hp <", "column 15: a value is missing");
    expect_fault("where hp < 3 or", "column 14: expected \"and\"");
    expect_fault("where hp < cat",
                 "column 12: 'cat' is not a value: a number, true, false, none, 17:1 or \"text\"");
    expect_fault(
        "where hp < 4194304:1",
        "column 12: '4194304:1' is not a value: a number, true, false, none, 17:1 or \"text\"");
    expect_fault("where t = \"a", "column 11: the text has no end: \"...\"");
    expect_fault("where t = \"a\\\"", "column 11: the text has no end: \"...\"");
    expect_fault("where t < \"a\"", "column 14: only numbers are less or greater");
    expect_fault("hp=3", "column 3: a comparison belongs after \"where\"");
    expect_fault("!template=a", "column 10: a comparison belongs after \"where\"");
    expect_fault("(pos", "column 1: a name begins with a letter, not '('");
}

// A query of `count` parts.
static char* repeat(char* text, const char* first, const char* part, uint32_t count) {
    size_t size = (size_t)sprintf(text, "%s", first);
    for (uint32_t i = 0; i < count; i++)
        size += (size_t)sprintf(text + size, "%s", part);
    return text;
}

CASE(each_limit_of_a_query_holds) {
    server_query query;
    char fault[SERVER_QUERY_FAULT_BYTES], text[2 * SERVER_QUERY_BYTES_MAX], part[256];
    for (uint32_t more = 0; more < 3; more++) {
        const bool fits = more < 2;
        const uint32_t terms = SERVER_QUERY_TERMS_MAX - 2 + more;
        assert_int_equal(server_query_parse(repeat(text, "a", ",b", terms), &query, fault), fits);
        const uint32_t tests = SERVER_QUERY_CONDITIONS_MAX - 2 + more;
        assert_int_equal(
            server_query_parse(repeat(text, "where a=1", " and b=2", tests), &query, fault), fits);
        const uint32_t blanks = SERVER_QUERY_BYTES_MAX - 2 + more;
        assert_int_equal(server_query_parse(repeat(text, "a", " ", blanks), &query, fault), fits);
        const uint32_t name = SERVER_QUERY_NAME_BYTES - 3 + more;
        assert_int_equal(server_query_parse(repeat(text, "a", "b", name), &query, fault), fits);
        (void)repeat(part, "where t=\"", "x", SERVER_QUERY_TEXT_BYTES - 2 + more);
        (void)snprintf(text, sizeof text, "%s\"", part);
        assert_int_equal(server_query_parse(text, &query, fault), fits);
    }
}

CASE(numbers_stand_to_one_another_as_they_do) {
    static const bool expected[][3] = {{true, false, false}, {true, true, false},
                                       {false, false, true}, {false, true, true},
                                       {false, true, false}, {true, false, true}};
    for (uint32_t order = 0; order < BASE_COUNT(expected); order++)
        for (uint32_t left = 0; left < 3; left++)
            assert_int_equal(server_query_holds((server_query_order)order, left, 1),
                             expected[order][left]);
}
