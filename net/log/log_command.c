// SPDX-License-Identifier: MIT
// posix_spawn does not copy the address space of a large server, and of its threads only the caller
// (the log's) stands still until the command runs.
#include "log/log_command.h"

#include "base/assert.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char** environ;

void net_log_command_reap(net_log_command* command) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < command->running_count; i++) {
        int status = 0;
        pid_t ended = waitpid(command->running[i], &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR))
            command->running[kept++] = command->running[i];
        else
            command->failures += ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    command->running_count = kept;
}

// The log's thread blocks all signals; the command must not.
static int spawn(pid_t* pid, char* const* arguments) {
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) return error;
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    error = posix_spawnp(pid, arguments[0], NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool net_log_command_start(net_log_command* command, const char* file, bool is_end) {
    BASE_ASSERT(command->program && file);
    net_log_command_reap(command);
    bool is_full = command->running_count == NET_LOG_COMMANDS_MAX;
    if (is_full && !is_end) return false;
    char* const arguments[] = {(char*)(uintptr_t)command->program, (char*)(uintptr_t)file, NULL};
    pid_t pid;
    if (spawn(&pid, arguments) != 0)
        command->failures++;
    else if (!is_full)
        command->running[command->running_count++] = pid;
    return true;
}
