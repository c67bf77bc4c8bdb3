// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/alloc.h"
#include "base/file.h"

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

CASE(without_memory_the_process_ends_with_a_line_and_exit_code_1) {
    int out[2];
    assert_int_equal(pipe(out), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDERR_FILENO);
        base_memory_handler_set(NULL, NULL);
        (void)!base_allocate(NULL, SIZE_MAX);
        _exit(0);
    }
    close(out[1]);
    char text[160] = {0};
    assert_true(read(out[0], text, sizeof text - 1) > 0);
    close(out[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_string_equal(text, BASE_NO_MEMORY " (18446744073709551615 bytes asked)\n");
}
