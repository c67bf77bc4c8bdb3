// SPDX-License-Identifier: MIT
// shoal-replay verify: a log, and the same log in a second process.
//
// A run of an hour takes minutes, so it says each second how far it is.
#include "replay/replay.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/entity.h"
#include "ecs/save.h"
#include "host/output.h"
#include "host/sentry.h"
#include "net/log.h"

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

// ---- other processes ----

// A copy of this process whose stdout is *output. @return as fork; below 0 nothing is open.
static pid_t fork_piped(int* output) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    (void)fflush(stdout); // or the copy writes it again
    const pid_t process = fork();
    if (process == 0 && dup2(ends[1], STDOUT_FILENO) < 0) _exit(NET_EXIT_RUNTIME);
    close(ends[1]);
    *output = ends[0];
    if (process <= 0) close(ends[0]);
    return process;
}

// All that it wrote, as far as there is room.
static void read_output(int output, char* text, size_t text_bytes) {
    size_t size = 0;
    ssize_t got = 1;
    while (got != 0 && size + 1 < text_bytes) {
        got = read(output, text + size, text_bytes - 1 - size);
        if (got < 0 && errno != EINTR) break;
        if (got > 0) size += (size_t)got;
    }
    text[size] = '\0';
    close(output);
}

// ---- the second process ----
//
// The same program with other addresses, other bytes in fresh memory, another seed of the C library
// and one thread. A module that depends on one of them can verify in the first process by luck. The
// run goes beside the first one and stops after AGAIN_TICKS_MAX ticks, so that a log of hours does
// not cost twice.

#define AGAIN_TICKS_MAX 3600u
#define PROGRAM "shoal-replay-again"
#define FRESH_BYTE "165"
#define SEED 20261122u

bool server_replay_is_again(const char* program) {
    if (!program || strcmp(program, PROGRAM) != 0) return false;
    srand(SEED);
    srandom(SEED);
    return true;
}

static void run_again(const server_replay* self) {
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0 || dup2(nothing, STDERR_FILENO) < 0) return;
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

// Without a second process verify does without.
static void begin_again(server_replay* self) {
    BASE_ASSERT(self->file && self->again == 0 && !self->is_again); // once, and not by the second
    self->again = fork_piped(&self->again_output);
    if (self->again != 0) return;
    run_again(self);
    _exit(NET_EXIT_RUNTIME);
}

// Wait for it, or end it when its answer is not wanted any more. Prints and reports where it
// diverged. *ticks: those that it verified; 0 when it did not run to its end.
// @return NET_EXIT_CLEAN or NET_EXIT_DIVERGED.
static int end_again(server_replay* self, bool is_wanted, ecs_tick* ticks) {
    if (self->again <= 0) return NET_EXIT_CLEAN;
    if (!is_wanted) (void)kill(self->again, SIGKILL);
    char said[512];
    read_output(self->again_output, said, sizeof said);
    int status = 0;
    while (waitpid(self->again, &status, 0) < 0 && errno == EINTR)
        continue;
    self->again = 0;
    if (!is_wanted) return NET_EXIT_CLEAN;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : NET_EXIT_RUNTIME;
    if (code == NET_EXIT_DIVERGED) {
        (void)fputs(said, stdout);
        return net_exit_report(
            code, &self->reporter, self->file,
            "the log runs again here, but not in a second process: addresses, memory that "
            "was not set, or the chance of the C library decide");
    }
    if (code == NET_EXIT_CLEAN) (void)sscanf(said, "verified ticks=%" SCNu64, ticks);
    if (code != NET_EXIT_CLEAN)
        base_report(&self->reporter, self->file, 0,
                    "note: it was not run in a second process (code %d)", code);
    return NET_EXIT_CLEAN;
}

// ---- one log ----

#define PROGRESS_US UINT64_C(1000000)

void server_replay_progress(server_replay* self, ecs_tick tick) {
    if (!self->has_progress) return;
    const ecs_tick last = net_log_reader_info(self->reader)->last_tick;
    const uint64_t now_us = net_loop_now_us();
    if (self->progress_us == 0) self->progress_us = now_us;
    BASE_ASSERT(now_us >= self->progress_us && tick >= self->progress_tick);
    const uint64_t passed_us = now_us - self->progress_us;
    if (passed_us < PROGRESS_US && tick != last) return;
    const double rate =
        passed_us > 0 ? (double)(tick - self->progress_tick) * 1e6 / (double)passed_us : 0;
    // On a terminal one line that is written again and again.
    fprintf(stderr, "%sprogress tick=%" PRIu64 " of=%" PRIu64 " ticks_per_s=%.0f%s",
            self->is_terminal ? "\r" : "", tick, last, rate,
            self->is_terminal && tick != last ? "  " : "\n");
    self->progress_us = now_us;
    self->progress_tick = tick;
}

// From the first tick on: a crash of this run says where it is, as in the server.
static bool each_tick(void* context, net_match* match) {
    server_replay* self = context;
    if (self->is_watched && !self->sentry)
        self->sentry = net_sentry_create(
            &(net_sentry_config){.loop = &self->loop, .reporter = self->reporter});
    // A match that was restored runs ticks again.
    if (net_match_tick(match) > self->progress_tick)
        server_replay_progress(self, net_match_tick(match));
    return true;
}

// Where a run left the log: the field with both values where the log has them.
static void print_diverged(const net_verify_result* verified) {
    printf("diverged tick=%" PRIu64 " component=%s entity=%u:%u", verified->diverged_tick,
           verified->component, ecs_entity_index(verified->entity),
           ecs_entity_generation(verified->entity));
    if (verified->field[0])
        printf(" field=%s log=%s run=%s", verified->field, verified->log_value, verified->value);
    if (verified->is_other_schema) printf(" schema=differs");
    printf("\n");
    if (verified->restored_tick > 0)
        printf("restored tick=%" PRIu64 " template=%s behind=%s\n", verified->restored_tick,
               verified->template_name[0] ? verified->template_name : "-",
               verified->system[0] ? verified->system : "-");
    if (verified->writers[0])
        printf("may_write component=%s systems=%s\n", verified->component, verified->writers);
    if (verified->note[0]) printf("note: %s\n", verified->note);
}

// Systems run one by one, so that each can be looked behind.
static void print_by_system(server_replay* self, net_log_reader* reader,
                            const net_verify_result* verified) {
    if (self->is_again || verified->restored_tick > 0) return;
    const net_result result = net_log_by_system(reader, self->module, verified, net_host_write_line,
                                                stdout, &self->reporter);
    if (result != NET_OK)
        base_report(&self->reporter, self->file, 0, "no system is named: %s",
                    net_result_text(result));
}

// ---- the parts of a log whose game was reloaded ----

enum { PARTS_MAX = 256 };

// The part behind a reload begins with what the match before makes of it.
static bool is_seam_right(server_replay* self, net_match* match) {
    net_match *behind = net_log_replay_match(self->next), *made = NULL;
    const net_module* module = net_match_get_config(behind)->module;
    if (net_match_create_from(match, module, &self->reporter, &made) != NET_OK) return false;
    const bool is_same =
        ecs_world_hash(net_match_world(made)) == ecs_world_hash(net_match_world(behind));
    net_match_destroy(made);
    return is_same;
}

static bool each_part_tick(void* context, net_match* match) {
    server_replay* self = context;
    if (self->next && net_match_tick(match) == net_match_tick(net_log_replay_match(self->next)))
        self->has_seam = is_seam_right(self, match);
    return true;
}

// A part of a log, behind what self->found says of the part before it. A log without a close may
// lack its end.
static bool is_part_signed(server_replay* self, net_log_reader* reader, bool is_last) {
    const net_log_info* info = net_log_reader_info(reader);
    net_log_signed* found = &self->found;
    const net_log_signed before = *found;
    const bool is_first = before.first_block == 0;
    char id[NET_LOG_KEY_ID_BYTES];
    net_log_key_id(&self->public_key, id);
    net_log_reader_check_signed(reader, &self->public_key, is_first ? NULL : &before, found);
    if (is_first && self->is_part) found->is_part = false;
    const bool is_all = !found->is_part && (info->is_closed || !is_last);
    if (found->is_signed && is_all) return true;
    if (found->is_signed && found->is_part) {
        found->first_block = 1; // what is missing
        found->last_tick = 0;
        return base_report(
            &self->reporter, self->file, 0,
            "signed with key %s from tick %" PRIu64
            " on, but what was before it is missing: --key FILE,part takes a part for all of it",
            id, info->first_tick);
    }
    const char* why = found->is_signed ? "the log was not closed, so its end may be missing"
                      : found->is_wrong
                          ? "its signature is of another key, or it was changed"
                          : "it has no signature: not closed, a copy, or without --log key";
    return base_report(&self->reporter, self->file, 0,
                       "not signed with key %s from block %" PRIu64
                       " on (signed up to tick %" PRIu64 "): %s",
                       id, found->first_block, found->last_tick, why);
}

// @return its exit code; *ticks grows by those that are verified.
static int verify_part(server_replay* self, net_log_reader* part, net_log_reader* behind,
                       ecs_tick* ticks) {
    uint32_t keyframe_count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(behind, &keyframe_count);
    const ecs_tick seam = keyframe_count > 0 ? keyframes[0].tick : 0;
    net_verify_result verified = {0};
    self->has_seam = false;
    net_result result =
        net_log_replay_create(behind, self->module, seam, &self->reporter, &self->next);
    if (result == NET_OK)
        result = net_log_verify(part, self->module, 0, 0, each_part_tick, self, &self->reporter,
                                &verified);
    net_log_replay_destroy(self->next);
    self->next = NULL;
    *ticks += verified.ticks;
    if (net_log_reader_check(part) != NET_OK) self->is_damaged = true;
    if (self->key && !is_part_signed(self, part, false)) self->is_unsigned = true;
    if (result == NET_OK && !self->has_seam) {
        result = NET_ERR_DIVERGED;
        verified.diverged_tick = seam;
        (void)base_text_copy(verified.component, sizeof verified.component, "-");
        (void)base_text_copy(verified.note, sizeof verified.note,
                             "after the reload the log has another match");
    }
    if (result == NET_ERR_DIVERGED) {
        print_diverged(&verified);
        print_by_system(self, part, &verified);
    }
    return net_exit_of_replay(result);
}

// All parts but the last one, from the first on.
static int verify_before(server_replay* self, ecs_tick* ticks) {
    net_log_reader* parts[PARTS_MAX] = {self->reader};
    uint32_t count = 1, last;
    int code = NET_EXIT_CLEAN;
    while ((last = net_log_reader_info(parts[count - 1])->segment_before) > 0 &&
           count < PARTS_MAX && code == NET_EXIT_CLEAN) {
        const net_result result =
            net_log_reader_create_to(NULL, self->file, last, &self->reporter, &parts[count]);
        if (parts[count]) count++;
        code = net_exit_of_replay(result);
    }
    self->first_tick = net_log_reader_info(parts[count - 1])->first_tick;
    for (uint32_t i = count; i-- > 1 && code == NET_EXIT_CLEAN;)
        code = verify_part(self, parts[i], parts[i - 1], ticks);
    for (uint32_t i = 1; i < count; i++)
        net_log_reader_destroy(parts[i]);
    self->has_result = code == NET_EXIT_CLEAN || code == NET_EXIT_DIVERGED;
    return code;
}

// At the end of the verdict line.
static void print_signed(server_replay* self) {
    char id[NET_LOG_KEY_ID_BYTES];
    net_log_key_id(&self->public_key, id);
    const bool is_signed = is_part_signed(self, self->reader, true) && !self->is_unsigned;
    self->is_unsigned = !is_signed;
    if (is_signed)
        printf(" signed key=%s", id);
    else
        printf(" not_signed key=%s from_block=%" PRIu64 " signed_ticks=%" PRIu64, id,
               self->found.first_block, self->found.last_tick);
}

int server_replay_verify(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    net_verify_result verified;
    ecs_tick before = 0;
    const bool is_whole = !self->is_again && self->from == 0;
    const int code = is_whole ? verify_before(self, &before) : NET_EXIT_CLEAN;
    if (code != NET_EXIT_CLEAN) return code;
    self->is_watched = self->is_through_crash && !info->is_closed;
    if (self->is_through_crash && info->is_closed)
        base_report(&self->reporter, self->file, 0,
                    "note: it has an end record, so no tick of it crashed");
    ecs_tick until = self->is_watched ? info->last_tick + 1 : 0;
    if (self->is_again) // only the run: nothing is restored, and no recorded state is read
        until = info->last_tick - info->first_tick < AGAIN_TICKS_MAX
                    ? info->last_tick
                    : info->first_tick + AGAIN_TICKS_MAX - 1;
    const bool has_again = !self->is_once && is_whole && !self->is_watched;
    if (has_again) begin_again(self);
    net_result result = net_log_verify(self->reader, self->module, self->from, until, each_tick,
                                       self, &self->reporter, &verified);
    net_sentry_destroy(self->sentry);
    ecs_tick again_ticks = 0;
    int again = end_again(self, result == NET_OK, &again_ticks);
    self->has_result = result == NET_OK || result == NET_ERR_DIVERGED;
    if (again != NET_EXIT_CLEAN) return again;
    if (result == NET_ERR_DIVERGED) {
        print_diverged(&verified);
        print_by_system(self, self->reader, &verified);
    }
    if (result != NET_OK) return net_exit_of_replay(result);
    const char* tail = self->is_again ? "unknown" : net_log_reader_verdict(self->reader);
    printf("verified ticks=%" PRIu64 " state_hash=%016" PRIx64 " world_hash=%016" PRIx64
           " tail=%s lost_bytes=%" PRIu64,
           before + verified.ticks, verified.state_hash, verified.world_hash, tail,
           info->lost_bytes);
    if (has_again && again_ticks < verified.ticks) printf(" again_ticks=%" PRIu64, again_ticks);
    if (self->first_tick > 1) printf(" first_tick=%" PRIu64, self->first_tick);
    if (self->key && !self->is_again) print_signed(self);
    printf("\n");
    return NET_EXIT_CLEAN;
}
