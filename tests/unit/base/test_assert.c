// SPDX-License-Identifier: MIT
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_true_condition_does_nothing(void** state) {
    (void)state;
    base_assert_handler_set(test_assert_handler);
    int evaluations = 0;
    BASE_ASSERT(++evaluations == 1);
    assert_int_equal(evaluations, 1);
}

static void a_false_condition_reaches_the_handler(void** state) {
    (void)state;
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure(BASE_ASSERT(1 + 1 == 3));
}

static void without_a_handler_the_process_aborts(void** state) {
    (void)state;
    base_assert_handler_set(NULL);
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        BASE_ASSERT(!state && state);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_true_condition_does_nothing),
        TEST(a_false_condition_reaches_the_handler),
        TEST(without_a_handler_the_process_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
