// SPDX-License-Identifier: MIT
// The list of a program's cases, and how they are run.
#include "test.h"

static test_case* first;

// Constructors run in any order: lines decide.
void test_add(test_case* added) {
    test_case** at = &first;
    while (*at && (*at)->line <= added->line)
        at = &(*at)->next;
    added->next = *at;
    *at = added;
}

int test_run(void) {
    base_assert_handler_set(test_assert_handler);
    enum { CASES_MAX = 128 };
    static struct CMUnitTest tests[CASES_MAX];
    size_t count = 0;
    for (test_case* at = first; at; at = at->next) {
        BASE_ASSERT(count < CASES_MAX);
        tests[count++] = (struct CMUnitTest){.name = at->name, .test_func = at->run};
    }
    BASE_ASSERT(count > 0);
    return cmocka_run_group_tests_name("cases", tests, NULL, NULL); // empty entries are no cases
}
