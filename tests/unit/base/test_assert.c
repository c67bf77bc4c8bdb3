// SPDX-License-Identifier: MIT
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

CASE(a_true_condition_does_nothing) {
    int evaluations = 0;
    BASE_ASSERT(++evaluations == 1);
    assert_int_equal(evaluations, 1);
}

CASE(a_false_condition_reaches_the_handler) {
    expect_assert_failure(BASE_ASSERT(1 + 1 == 3));
}

CASE(without_a_handler_the_process_aborts) {
    base_assert_handler_set(NULL);
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        signal(SIGABRT, SIG_DFL);
        BASE_ASSERT(child != 0);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
