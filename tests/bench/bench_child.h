// SPDX-License-Identifier: MIT
/// A child process that runs a program of the same directory, and a pipe to it: commands of one
/// byte, answers of fixed size. The process ends when the pipe is closed.
#pragma once

#include "bench.h"

#include <sys/types.h>

typedef struct bench_child {
    pid_t process;
    int line;
} bench_child;

/// `arguments` end with NULL; the first is the program's name. Its standard input is the pipe, in
/// both directions.
void bench_child_start(bench_child* child, const char* const* arguments);
void bench_child_stop(bench_child* child);
void bench_child_send(const bench_child* child, char command);
/// Wait for an answer of `size` bytes.
void bench_child_hear(const bench_child* child, void* answer, size_t size);
/// Check whether an answer is there.
bool bench_child_has_answer(const bench_child* child);
