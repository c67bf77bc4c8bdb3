// SPDX-License-Identifier: MIT
// Two ways in: a thread that looks at clocks, and handlers on the thread that dies. Neither takes
// a lock that the simulation may hold. The text of a crash is made of bytes alone: printf may
// allocate, and the heap may be what is broken.
#include "host/sentry.h"

#include "core/worker.h"
#include "host/output.h"

#include "ecs/debug.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"

#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { LOOK_MS = 100, REST_MS = 1000, STACK_BYTES = 64 << 10, FRAMES_MAX = 64 };

// Two of them lie on a handler's stack. What is longer is cut, and says so.
enum { WORDS_BYTES = 4096, REPORT_BYTES = 12 << 10 };

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

typedef struct watched {
    _Atomic(const ecs_running*) running; // what the thread runs; NULL: there is no such thread
    _Atomic uint64_t busy_us;            // since when it works; 0: it rests
    pthread_t thread;
    stack_t stack_before;
    uint8_t stack[STACK_BYTES]; // a stack overflow has no room for a handler
} watched;

// What the sentry's own thread knows of a stall.
typedef struct stall {
    uint64_t busy_us; // when it began
    uint64_t next_us; // how long it takes at the next report
    uint64_t looks;   // of the sentry since then, LOOK_MS apart
} stall;

// Of a command line, each with its NUL.
typedef struct words {
    char text[WORDS_BYTES];
    size_t bytes;
    bool is_cut;
} words;

struct net_sentry {
    net_sentry_config config;
    watched threads[NET_SENTRY_THREADS_MAX]; // the first one runs the loop
    char folder[512];                        // names of files are in it; "": too long
    words command;
    int end; // eventfd
    pthread_t thread;
    bool was_asked;    // of the sentry's thread: a signal came in this stall
    char too_long[96]; // what a tick longer than tick_s is called
    _Atomic bool is_too_long;
    struct sigaction before[BASE_COUNT(fatal)];
};

// The handlers know nothing else.
static _Atomic(net_sentry*) present;

static watched* find_thread(net_sentry* sentry, const ecs_running* running) {
    for (uint32_t i = 0; i < NET_SENTRY_THREADS_MAX; i++)
        if (atomic_load(&sentry->threads[i].running) == running) return &sentry->threads[i];
    return NULL;
}

// Where the calling thread is, from a handler. One that is not watched helps a thread that is; the
// first one in a system is taken for it.
static bool find_where(net_sentry* sentry, ecs_where* where) {
    const ecs_running* here = ecs_running_here();
    if (find_thread(sentry, here)) return ecs_running_where(here, where);
    for (uint32_t i = 0; i < NET_SENTRY_THREADS_MAX; i++) {
        const ecs_running* running = atomic_load(&sentry->threads[i].running);
        if (running && ecs_running_where(running, where)) return true;
    }
    return false;
}

// ---- text from bytes ----

typedef struct line {
    char* text;
    size_t size, capacity;
} line;

static void put_bytes(line* to, const char* text, size_t size) {
    for (size_t i = 0; i < size && to->size + 1 < to->capacity; i++)
        to->text[to->size++] = text[i];
}

static void put_text(line* to, const char* text) {
    put_bytes(to, text, strlen(text));
}

// @return the length of the text, which is a line now.
static size_t end_line(line* to) {
    static const char cut[] = " (cut)\n";
    BASE_ASSERT(to->capacity > sizeof cut);
    if (to->size + 2 > to->capacity) {
        to->size = to->capacity - sizeof cut;
        put_text(to, cut);
    } else {
        put_text(to, "\n");
    }
    to->text[to->size] = 0;
    return to->size;
}

static void put_number(line* to, uint64_t number) {
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put_text(to, digits + at);
}

// NULL: in no system. Without a tick `what` has named it.
static void put_where(line* to, const ecs_where* where) {
    if (!where || !where->stage) {
        put_text(to, where ? " in " : ", outside of systems");
        if (where) put_text(to, where->system);
        return;
    }
    if (where->tick > 0) {
        put_text(to, " in tick ");
        put_number(to, where->tick);
    }
    if (strcmp(where->stage, "act") != 0) {
        put_text(to, ", stage ");
        put_text(to, where->stage);
    }
    put_text(to, !where->system ? ", commands" : where->tick > 0 ? ", system " : " in system ");
    if (!where->system) return;
    put_text(to, where->system);
    if (where->entity == ECS_ENTITY_NONE) return;
    put_text(to, ", rows from entity ");
    put_number(to, ecs_entity_index(where->entity));
    put_text(to, ":");
    put_number(to, ecs_entity_generation(where->entity));
}

// For a shell.
static void put_word(line* to, const char* word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+,./:@%";
    put_text(to, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        put_text(to, word);
        return;
    }
    put_text(to, "'");
    for (size_t part; *word; word += part) {
        part = strcspn(word, "'");
        put_bytes(to, word, part);
        if (!word[part]) continue;
        put_text(to, "'\\''"); // no quotes have a quote
        part++;
    }
    put_text(to, "'");
}

static void put_words(line* to, const char* word, const char* end) {
    for (; word < end; word += strlen(word) + 1)
        put_word(to, word);
}

// From the word at `offset` on.
static void put_command(line* to, const words* all, size_t offset) {
    put_words(to, all->text + offset, all->text + all->bytes);
    if (all->is_cut) put_text(to, " (cut)");
}

// The log knows a game's name, and not its file.
static void put_log(line* to, const net_sentry* sentry) {
    put_word(to, sentry->config.log_file);
    if (!sentry->config.game_file) return;
    put_text(to, " --game");
    put_word(to, sentry->config.game_file);
}

static void put_again(line* to, const net_sentry* sentry) {
    const char* log = sentry->config.log_file;
    if (sentry->config.program) {
        put_text(to, "\nThis runs it again: ");
        put_text(to, sentry->config.program);
        put_command(to, &sentry->command, strlen(sentry->command.text) + 1); // after the program
        if (!log || access(log, F_OK) != 0) return;                          // it has not begun
        put_text(to, "\nIts log stays: ");
        put_text(to, log);
    } else if (log) {
        put_text(
            to,
            "\nThe log has its inputs. This runs it again: shoal-replay verify --through-crash");
        put_log(to, sentry);
    }
}

// Write the report of a crash into `text`, without the C library's formatting: a signal handler
// may call it. `where` NULL: in no system. @return its length.
static size_t write_report(const net_sentry* sentry, const char* what, const ecs_where* where,
                           char* text, size_t text_bytes) {
    line to = {text, 0, text_bytes};
    put_text(&to, what);
    put_where(&to, where);
    if (sentry->config.happened && sentry->config.happened[0]) {
        put_text(&to, "\nBefore: ");
        put_text(&to, sentry->config.happened);
    }
    put_again(&to, sentry);
    return end_line(&to);
}

// ---- the report of a crash ----

static void write_text(int file, const char* text, size_t size) {
    ssize_t written = write(file, text, size);
    (void)written; // nothing can be done about it here
}

static void put_recent(line* to, const net_sentry* sentry, uint64_t tick) {
    const uint64_t recent = sentry->config.recent_ticks;
    if (!sentry->config.log_file || recent == 0) return;
    put_text(to, "again: shoal-replay verify --through-crash");
    if (tick > recent) {
        put_text(to, " --from ");
        put_number(to, tick - recent);
    }
    put_log(to, sentry);
    const char* go_on = sentry->config.go_on;
    if (sentry->config.go_on_bytes > 0) {
        put_text(to, "\ngo on:");
        put_words(to, go_on, go_on + sentry->config.go_on_bytes);
    }
    put_text(to, "\n");
}

// What may go wrong is at the end: the lines of the program, then the stack.
static void write_crash_file(const net_sentry* sentry, const char* what, const ecs_where* where) {
    if (!sentry->config.crash_file) return;
    // After a report of another log that was moved away without it.
    const int file =
        open(sentry->config.crash_file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
             S_IRUSR | S_IWUSR);
    if (file < 0) return;
    char text[REPORT_BYTES];
    line to = {text, 0, sizeof text};
    put_text(&to, "build: ");
    put_text(&to, net_build_id());
    put_text(&to, "\nunix time: ");
    put_number(&to, net_loop_unix_ms() / 1000);
    put_text(&to, "\nfolder:");
    put_word(&to, sentry->folder);
    put_text(&to, "\ncommand:");
    put_command(&to, &sentry->command, 0);
    put_text(&to, "\n");
    put_text(&to, what);
    put_where(&to, where);
    put_text(&to, "\n");
    put_recent(&to, sentry, where ? where->tick : 0);
    put_text(&to, "\nlast lines (time, ticks done, level, layer):");
    write_text(file, text, end_line(&to));
    if (sentry->config.write_tail) sentry->config.write_tail(sentry->config.tail_context, file);
    static const char stack[] = "\nstack (addr2line -Cfie FILE +0xOFFSET names the line):\n";
    write_text(file, stack, sizeof stack - 1);
    void* frames[FRAMES_MAX];
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), file);
    close(file);
}

// ---- death ----

static const char* name_of(int number) {
    switch (number) {
    case SIGSEGV:
        return "fatal: invalid memory access (SIGSEGV)";
    case SIGBUS:
        return "fatal: access to memory of a file that was cut or a device that failed (SIGBUS)";
    case SIGFPE:
        return "fatal: division by zero (SIGFPE)";
    case SIGILL:
        return "fatal: illegal instruction, or code that must not be reached (SIGILL)";
    default:
        return "fatal: the program aborted (SIGABRT)";
    }
}

// The report goes to its file also where nothing reads stderr. A pipe with room has room for
// PIPE_BUF bytes.
static void write_stderr(const char* text, size_t size) {
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    while (size > 0 && poll(&out, 1, LOOK_MS) > 0) {
        const size_t part = size < PIPE_BUF ? size : PIPE_BUF;
        write_text(STDERR_FILENO, text, part);
        text += part;
        size -= part;
    }
}

// Between quotes, for JSON and pairs: a byte below a space, of a file's name, becomes one.
static void write_escaped(const char* text, size_t size) {
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        const bool is_control = (unsigned char)text[i] < ' ';
        if (text[i] != '"' && text[i] != '\\' && !is_control) continue;
        write_stderr(text + from, i - from);
        write_stderr(is_control ? " " : "\\", 1);
        from = i + is_control;
    }
    write_stderr(text + from, size - from);
}

// Each line for itself: a journal, or a reader of JSON, takes it so.
static void write_lines(const net_sentry_config* config, const char* text, size_t size) {
    for (const char *next, *end = text + size; text < end; text = next + 1) {
        next = memchr(text, '\n', (size_t)(end - text));
        if (!next) next = end;
        const size_t length = (size_t)(next - text);
        if (config->line_begin) write_stderr(config->line_begin, strlen(config->line_begin));
        if (config->line_end) {
            write_escaped(text, length);
            write_stderr(config->line_end, strlen(config->line_end));
        } else {
            write_stderr(text, length);
        }
        write_stderr("\n", 1);
    }
}

static void report_death(net_sentry* sentry, const char* what) {
    char text[REPORT_BYTES];
    ecs_where where;
    const bool is_known = find_where(sentry, &where);
    size_t size = write_report(sentry, what, is_known ? &where : NULL, text, sizeof text);
    write_lines(&sentry->config, text, size);
    write_crash_file(sentry, what, is_known ? &where : NULL);
}

static void end_without_memory(void* context, size_t bytes) {
    char what[128];
    line to = {what, 0, sizeof what};
    put_text(&to, "fatal: " BASE_NO_MEMORY " (");
    put_number(&to, bytes);
    put_text(&to, " bytes asked)");
    what[to.size] = 0;
    report_death(context, what);
    _exit(NET_EXIT_RUNTIME);
}

static void die(int number, siginfo_t* info, void* context) {
    (void)context;
    net_sentry* sentry = atomic_load(&present);
    if (!sentry) return;
    for (uint32_t i = 0; i < BASE_COUNT(fatal); i++)
        if (fatal[i] == number) (void)sigaction(number, &sentry->before[i], NULL);
    report_death(sentry, atomic_load(&sentry->is_too_long) ? sentry->too_long : name_of(number));
    // On return the access is repeated, under the handler that was there before. What a process
    // sent, as a watchdog does, is not.
    if (info->si_code <= 0) (void)raise(number);
}

// Alternative stacks belong to threads.
static void begin_thread(watched* thread) {
    const stack_t stack = {.ss_sp = thread->stack, .ss_size = sizeof thread->stack};
    (void)sigaltstack(&stack, &thread->stack_before);
    thread->thread = pthread_self();
    atomic_store(&thread->running, ecs_running_here());
}

static void end_thread(watched* thread) {
    atomic_store(&thread->busy_us, 0);
    atomic_store(&thread->running, NULL);
    (void)sigaltstack(&thread->stack_before, NULL);
}

// ---- a tick that does not come back ----

static void report_stall(const net_sentry* sentry, uint32_t thread, uint64_t stalled_us) {
    char what[96], text[REPORT_BYTES];
    ecs_where where;
    const ecs_running* running = atomic_load(&sentry->threads[thread].running);
    const bool is_known = running && ecs_running_where(running, &where);
    if (is_known && where.stage)
        (void)base_text_format(what, sizeof what, "tick %" PRIu64 " has been running for %.1f s",
                               where.tick, (double)stalled_us * 1e-6);
    else
        (void)base_text_format(what, sizeof what, "a call has been running for %.1f s",
                               (double)stalled_us * 1e-6);
    where.tick = 0;
    (void)write_report(sentry, what, is_known ? &where : NULL, text, sizeof text);
    char* end = strchr(text, '\n'); // the log is still being written
    if (end) *end = 0;
    const char* how = thread == 0 ? "; a second SIGTERM or SIGINT ends the program"
                                  : "; SIGTERM or SIGINT ends the program";
    base_report(&sentry->config.reporter, NULL, 0, "%s%s", text, sentry->config.loop ? how : "");
}

static void take_signals(net_sentry* sentry) {
    struct signalfd_siginfo info;
    if (!sentry->config.loop || sentry->config.loop->signals < 0) return;
    while (read(sentry->config.loop->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP) atomic_store(&sentry->config.loop->is_reload_asked, true);
        if (info.ssi_signo == SIGUSR1) atomic_store(&sentry->config.loop->is_status_asked, true);
        if (info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT) continue;
        if (sentry->was_asked || atomic_load(&sentry->config.loop->is_end_asked)) {
            base_report(&sentry->config.reporter, NULL, 0,
                        "ended by a second signal, in the middle of a tick");
            _exit(NET_EXIT_RUNTIME);
        }
        sentry->was_asked = true;
        atomic_store(&sentry->config.loop->is_end_asked, true);
        base_report(&sentry->config.reporter, NULL, 0,
                    "the match ends when the tick returns; a second signal ends it now");
    }
}

// @return whether a thread does not come back.
static bool look(net_sentry* sentry, uint32_t thread, stall* known) {
    const uint64_t busy_us = atomic_load(&sentry->threads[thread].busy_us);
    const uint64_t now_us = net_loop_now_us();
    if (busy_us != known->busy_us) *known = (stall){.busy_us = busy_us};
    known->looks++;
    if (busy_us == 0 || now_us < busy_us + NET_SENTRY_STALL_MS * UINT64_C(1000)) return false;
    // The thread dies where it is, so that the report has its stack.
    const uint64_t looks_max = sentry->config.tick_s * (1000 / LOOK_MS);
    if (looks_max > 0 && known->looks > looks_max && !atomic_exchange(&sentry->is_too_long, true))
        (void)pthread_kill(sentry->threads[thread].thread, SIGABRT);
    const uint64_t stalled_us = now_us - busy_us;
    if (stalled_us < known->next_us) return true;
    known->next_us = 2 * stalled_us;
    report_stall(sentry, thread, stalled_us);
    return true;
}

static void* watch(void* context) {
    net_sentry* sentry = context;
    struct pollfd end = {.fd = sentry->end, .events = POLLIN};
    stall known[NET_SENTRY_THREADS_MAX] = {0};
    int wait_ms = LOOK_MS;
    while (poll(&end, 1, wait_ms) <= 0) {
        bool is_loop_stalled = look(sentry, 0, &known[0]);
        wait_ms = known[0].busy_us == 0 ? REST_MS : LOOK_MS;
        for (uint32_t i = 1; i < NET_SENTRY_THREADS_MAX; i++) {
            (void)look(sentry, i, &known[i]);
            if (known[i].busy_us != 0) wait_ms = LOOK_MS;
        }
        if (is_loop_stalled)
            take_signals(sentry);
        else
            sentry->was_asked = false;
    }
    return NULL;
}

static bool start_sentry(net_sentry* sentry) {
    sentry->end = eventfd(0, EFD_CLOEXEC);
    if (sentry->end < 0) return false;
    int error = net_thread_start(&sentry->thread, watch, sentry);
    if (error != 0) close(sentry->end);
    return error == 0;
}

// Without passwords of URLs: one that is cut has no end by which to find it.
static void read_words(words* all) {
    char text[WORDS_BYTES];
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t got = read(file, text, sizeof text);
    close(file);
    if (got <= 0) return;
    all->is_cut = text[got - 1] != 0;
    text[got - 1] = 0;
    for (const char *word = text, *next; word < text + got; word = next) {
        next = word + strlen(word) + 1;
        if (all->is_cut && next == text + got && strstr(word, "://")) return;
        (void)base_text_copy_public(all->text + all->bytes, sizeof all->text - all->bytes, word);
        all->bytes += strlen(all->text + all->bytes) + 1;
    }
}

net_sentry* net_sentry_create(const net_sentry_config* config) {
    BASE_ASSERT(!atomic_load(&present));
    net_sentry* sentry = base_allocate_zero(NULL, sizeof *sentry);
    sentry->config = *config;
    read_words(&sentry->command);
    (void)base_text_format(sentry->too_long, sizeof sentry->too_long,
                           "fatal: a tick took longer than %" PRIu64 " s (--tune tick-s)",
                           config->tick_s);
    if (!getcwd(sentry->folder, sizeof sentry->folder)) sentry->folder[0] = 0;
    if (config->crash_file) {
        void* frame;
        (void)backtrace(&frame, 1); // it loads a library now, not in a handler
    }
    if (!start_sentry(sentry)) {
        base_release(NULL, sentry, sizeof *sentry);
        return NULL;
    }
    begin_thread(&sentry->threads[0]);
    atomic_store(&present, sentry);
    struct sigaction action = {.sa_sigaction = die, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (uint32_t i = 0; i < BASE_COUNT(fatal); i++)
        (void)sigaction(fatal[i], &action, &sentry->before[i]);
    base_memory_handler_set(end_without_memory, sentry);
    return sentry;
}

void net_sentry_destroy(net_sentry* sentry) {
    if (!sentry) return;
    for (uint32_t i = 0; i < BASE_COUNT(fatal); i++)
        (void)sigaction(fatal[i], &sentry->before[i], NULL);
    base_memory_handler_set(NULL, NULL);
    atomic_store(&present, NULL);
    const uint64_t one = 1;
    ssize_t written = write(sentry->end, &one, sizeof one);
    BASE_ASSERT(written == (ssize_t)sizeof one);
    pthread_join(sentry->thread, NULL);
    close(sentry->end);
    end_thread(&sentry->threads[0]);
    base_release(NULL, sentry, sizeof *sentry);
}

void net_sentry_add_thread(net_sentry* sentry) {
    if (!sentry) return;
    watched* thread = find_thread(sentry, NULL);
    BASE_ASSERT(thread && !find_thread(sentry, ecs_running_here()));
    begin_thread(thread);
}

void net_sentry_remove_thread(net_sentry* sentry) {
    if (sentry) end_thread(find_thread(sentry, ecs_running_here()));
}

static void set_busy(net_sentry* sentry, uint64_t busy_us) {
    if (!sentry) return;
    watched* thread = find_thread(sentry, ecs_running_here());
    BASE_ASSERT(thread);
    atomic_store(&thread->busy_us, busy_us);
}

void net_sentry_busy(net_sentry* sentry) {
    set_busy(sentry, net_loop_now_us());
}

void net_sentry_rest(net_sentry* sentry) {
    set_busy(sentry, 0);
}
