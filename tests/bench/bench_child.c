// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "bench_child.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

// The directory of this program.
static void find_program(const char* name, char* path, size_t capacity) {
    ssize_t size = readlink("/proc/self/exe", path, capacity - 1);
    bench_require(size > 0, "/proc/self/exe");
    path[size] = 0;
    char* base = strrchr(path, '/') + 1;
    size_t room = capacity - (size_t)(base - path);
    bench_require(snprintf(base, room, "%s", name) < (int)room, "path of the program is too long");
}

void bench_child_start(bench_child* child, const char* const* arguments) {
    char path[1024];
    find_program(arguments[0], path, sizeof path);
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    bench_require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    int result = posix_spawn(&child->process, path, &actions, NULL,
                             (char* const*)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    bench_require(result == 0, path);
    close(ends[1]);
    child->line = ends[0];
}

void bench_child_stop(bench_child* child) {
    close(child->line);
    waitpid(child->process, NULL, 0);
}

void bench_child_send(const bench_child* child, char command) {
    bench_require(write(child->line, &command, 1) == 1, "a process of the benchmark ended early");
}

void bench_child_hear(const bench_child* child, void* answer, size_t size) {
    for (size_t had = 0; had < size;) {
        ssize_t got = read(child->line, (char*)answer + had, size - had);
        bench_require(got > 0, "a process of the benchmark ended early");
        had += (size_t)got;
    }
}

bool bench_child_has_answer(const bench_child* child) {
    struct pollfd line = {.fd = child->line, .events = POLLIN};
    return poll(&line, 1, 0) == 1;
}
