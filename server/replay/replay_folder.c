// SPDX-License-Identifier: MIT
// shoal-replay verify FOLDER: last week's logs against a new build. Every log has a process of its
// own, so that one that crashes the game costs its own line only. As many run at a time as
// --threads says; the lines come in the order of the names.
#include "replay/replay.h"

#include "base/assert.h"
#include "base/text.h"
#include "base/workers.h"
#include "tools/output.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOGS_MAX = 65536, LINE_BYTES_MAX = 512, NAME_BYTES_MAX = 256 };

typedef struct folder_log {
    char name[NAME_BYTES_MAX];
    pid_t process; ///< 0: not begun, or ended
    int output;    ///< its stdout, a pipe
    bool has_ended;
    int status;
    char line[LINE_BYTES_MAX];
} folder_log;

typedef struct folder {
    server_replay* self;
    int (*run)(server_replay* log);
    folder_log* logs;
    uint32_t count, capacity;
    uint32_t begun, running, printed;
    uint32_t diverged, failed;
    int code;
} folder;

// A log, and not its queue or a segment of another one.
static bool is_log(const char* name) {
    const char* ending = strstr(name, ".slog");
    return ending && (ending[5] == 0 || (ending[5] == '.' && ending[6] >= '0' && ending[6] <= '9' &&
                                         !strstr(ending, ".queue")));
}

static int compare_names(const void* a, const void* b) {
    return strcmp(((const folder_log*)a)->name, ((const folder_log*)b)->name);
}

static int fail(const folder* self, const char* what) {
    base_report(&self->self->reporter, self->self->file, 0, "%s: %s", what, strerror(errno));
    return NET_EXIT_RUNTIME;
}

static int list_logs(folder* self) {
    const base_reporter* reporter = &self->self->reporter;
    DIR* entries = opendir(self->self->file);
    if (!entries) return fail(self, "cannot be opened");
    int code = NET_EXIT_CLEAN;
    for (struct dirent* entry; code == NET_EXIT_CLEAN && (entry = readdir(entries)) != NULL;) {
        if (!is_log(entry->d_name)) continue;
        if (self->count == LOGS_MAX) {
            base_report(reporter, self->self->file, 0, "more than %d logs", LOGS_MAX);
            code = NET_EXIT_USAGE;
        } else if (!BASE_ARRAY_RESERVE(NULL, self->logs, self->capacity, self->count + 1)) {
            code = NET_EXIT_RUNTIME;
        } else {
            folder_log* log = &self->logs[self->count++];
            *log = (folder_log){.output = -1};
            (void)base_text_copy(log->name, sizeof log->name, entry->d_name);
        }
    }
    closedir(entries);
    if (code == NET_EXIT_CLEAN && self->count == 0) {
        base_report(reporter, self->self->file, 0, "there are no logs (*.slog) in this folder");
        code = NET_EXIT_USAGE;
    }
    if (self->count > 1) qsort(self->logs, self->count, sizeof *self->logs, compare_names);
    return code;
}

// In the process of one log.
static int verify_one(folder* self, const folder_log* log) {
    char path[4096];
    server_replay* one = self->self;
    if (!base_text_format(path, sizeof path, "%s/%s", one->file, log->name)) return NET_EXIT_USAGE;
    one->file = path;
    one->threads = 1; // the logs share the machine
    one->has_progress = false;
    one->is_once = true;
    const int code = self->run(one);
    (void)fflush(stdout);
    return code;
}

static bool begin(folder* self, folder_log* log) {
    BASE_ASSERT(log == &self->logs[self->begun] && self->begun < self->count);
    int ends[2];
    if (pipe(ends) != 0) return false;
    (void)fflush(stdout); // or the process writes it again
    log->process = fork();
    if (log->process == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(verify_one(self, log));
    }
    close(ends[1]);
    log->output = ends[0];
    self->running += log->process > 0;
    self->begun++;
    return log->process > 0;
}

// What it printed is one line, which a pipe always holds.
static void read_line(folder_log* log) {
    size_t size = 0;
    ssize_t got = 1;
    while (got > 0 && size + 1 < sizeof log->line) {
        got = read(log->output, log->line + size, sizeof log->line - 1 - size);
        if (got > 0) size += (size_t)got;
    }
    log->line[size] = 0;
    log->line[strcspn(log->line, "\n")] = 0;
    close(log->output);
    log->output = -1;
}

static bool wait_one(folder* self) {
    int status;
    const pid_t process = waitpid(-1, &status, 0);
    if (process < 0) return errno == EINTR;
    for (uint32_t i = 0; i < self->begun; i++) {
        folder_log* log = &self->logs[i];
        if (log->process != process) continue;
        BASE_ASSERT(self->running > 0 && !log->has_ended);
        log->process = 0;
        log->status = status;
        log->has_ended = true;
        read_line(log);
        self->running--;
    }
    return true;
}

static void print_one(folder* self, const folder_log* log) {
    const int code = WIFEXITED(log->status) ? WEXITSTATUS(log->status) : NET_EXIT_RUNTIME;
    printf("log=%s ", log->name);
    if (WIFSIGNALED(log->status))
        printf("crashed signal=%d\n", WTERMSIG(log->status));
    else if (log->line[0])
        printf("%s\n", log->line);
    else
        printf("failed exit=%d\n", code);
    self->diverged += code == NET_EXIT_DIVERGED;
    self->failed += code != NET_EXIT_CLEAN && code != NET_EXIT_DIVERGED;
    const bool is_worse = code == NET_EXIT_DIVERGED || self->code == NET_EXIT_CLEAN;
    if (is_worse && code != NET_EXIT_CLEAN) self->code = code;
}

static int verify_all(folder* self) {
    const uint64_t asked = self->self->threads;
    const uint32_t most = asked > 0 ? (uint32_t)asked : base_workers_default(BASE_WORKERS_MAX) + 1;
    while (self->printed < self->count) {
        while (self->running < most && self->begun < self->count)
            if (!begin(self, &self->logs[self->begun])) return fail(self, "no process for a log");
        if (!wait_one(self)) return fail(self, "cannot wait for a log");
        while (self->printed < self->count && self->logs[self->printed].has_ended)
            print_one(self, &self->logs[self->printed++]);
    }
    printf("logs=%u verified=%u diverged=%u failed=%u\n", self->count,
           self->count - self->diverged - self->failed, self->diverged, self->failed);
    return self->code;
}

bool server_replay_is_folder(const char* file) {
    struct stat status;
    return stat(file, &status) == 0 && S_ISDIR(status.st_mode);
}

int server_replay_verify_folder(server_replay* self, int (*run)(server_replay* log)) {
    folder all = {.self = self, .run = run, .code = NET_EXIT_CLEAN};
    int code = list_logs(&all);
    if (code == NET_EXIT_CLEAN) code = verify_all(&all);
    BASE_ARRAY_RELEASE(NULL, all.logs, all.capacity);
    return code;
}
