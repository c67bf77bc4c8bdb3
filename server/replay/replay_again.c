// SPDX-License-Identifier: MIT
// The second run of verify: the same program in a process with other addresses, other bytes in
// fresh memory, another seed of the C library and one thread.
//
// A module that depends on one of them can verify in the first process by luck. The run goes beside
// the first one and stops after AGAIN_TICKS_MAX ticks, so that a log of hours does not cost twice.
#include "replay/replay.h"

#include "base/assert.h"
#include "tools/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "shoal-replay-again"
#define FRESH_BYTE "165"
#define SEED 20261122u

bool server_replay_is_again(const char* program) {
    if (!program || strcmp(program, PROGRAM) != 0) return false;
    srand(SEED);
    srandom(SEED);
    return true;
}

static void run(const server_replay* self, int output) {
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0) return;
    const int now = personality(0xffffffff);
    if (now >= 0) (void)personality((unsigned long)now ^ ADDR_NO_RANDOMIZE);
    if (setenv("MALLOC_PERTURB_", FRESH_BYTE, 1) != 0) return;
    const char* words[] = {PROGRAM, "verify", self->file, "--threads", "1", NULL, NULL, NULL};
    if (self->game) {
        words[5] = "--game";
        words[6] = self->game;
    }
    (void)execv("/proc/self/exe", (char* const*)(uintptr_t)words);
}

void server_replay_begin_again(server_replay* self) {
    BASE_ASSERT(self->file && self->again == 0 && !self->is_again); // once, and not by the second
    int ends[2];
    if (pipe(ends) != 0) return;
    (void)fflush(stdout);
    self->again = fork();
    if (self->again == 0) {
        close(ends[0]);
        run(self, ends[1]);
        _exit(NET_EXIT_RUNTIME);
    }
    close(ends[1]);
    if (self->again > 0)
        self->again_output = ends[0];
    else
        close(ends[0]);
}

int server_replay_end_again(server_replay* self, bool is_wanted, ecs_tick* ticks) {
    if (self->again <= 0) return NET_EXIT_CLEAN;
    if (!is_wanted) (void)kill(self->again, SIGKILL);
    char said[512];
    size_t size = 0;
    while (size < sizeof said - 1) {
        const ssize_t got = read(self->again_output, said + size, sizeof said - 1 - size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size += (size_t)got;
    }
    said[size] = '\0';
    close(self->again_output);
    int status = 0;
    while (waitpid(self->again, &status, 0) < 0 && errno == EINTR)
        continue;
    self->again = 0;
    if (!is_wanted) return NET_EXIT_CLEAN;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : NET_EXIT_RUNTIME;
    if (code == NET_EXIT_DIVERGED) {
        (void)fputs(said, stdout);
        base_report(&self->reporter, self->file, 0,
                    "the log runs again here, but not in a second process: addresses, memory that "
                    "was not set, or the chance of the C library decide");
        return code;
    }
    if (code == NET_EXIT_CLEAN) (void)sscanf(said, "verified ticks=%" SCNu64, ticks);
    if (code != NET_EXIT_CLEAN)
        base_report(&self->reporter, self->file, 0,
                    "note: it was not run in a second process (code %d)", code);
    return NET_EXIT_CLEAN;
}
