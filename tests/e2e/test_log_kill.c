// SPDX-License-Identifier: MIT
// kill -9 at any moment of a writing process: every record whose append returned is read back.
#include "log/log_files.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { KILLS = 100, DELAY_US_MAX = 4000 };

/// What the child tells: in shared memory, since it never gets to say goodbye.
typedef struct told {
    _Atomic uint64_t records; ///< appended for certain
} told;

static void write_until_killed(const log_files* files, told* shared) {
    net_log_file* file;
    net_log_file_config config = files_config(files);
    config.ring_bytes = 65536;
    config.options.is_manual = false;
    config.sync_ticks = 1000000;
    if (files_create(&config, &file) != NET_OK) _exit(1);
    for (ecs_tick tick = 1;; tick++) {
        if (!files_begin(file, tick)) _exit(2);
        atomic_fetch_add(&shared->records, 1);
        if (!files_end(file, tick)) _exit(3);
        atomic_fetch_add(&shared->records, 1);
        net_log_wait_room(file);
    }
}

CASE(nothing_that_was_appended_is_lost_by_kill_9) {
    base_rng rng = base_rng_make(20260101, 1);
    uint64_t from_queue = 0, torn = 0, in_tick = 0;
    told* shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    for (int i = 0; i < KILLS; i++) {
        log_files files;
        files_open(&files);
        atomic_store(&shared->records, 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_until_killed(&files, shared);
        while (atomic_load(&shared->records) == 0)
            if (waitpid(child, NULL, WNOHANG) != 0) fail_msg("the child could not write");
        struct timespec delay = {.tv_nsec = 1000 * (long)base_rng_below(&rng, DELAY_US_MAX)};
        nanosleep(&delay, NULL);
        int status;
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        uint64_t appended = atomic_load(&shared->records);
        struct stat before;
        assert_int_equal(stat(files.log, &before), 0);
        log_sum sum = files_read(files.log);
        assert_ok(sum.result);
        assert_true(sum.info.is_cut);
        assert_int_equal(sum.info.lost_bytes, 0);
        // One more may have been on its way when the counter was read.
        assert_true(sum.records == appended || sum.records == appended + 1);
        assert_int_equal(sum.info.last_tick, sum.records / 2);
        from_queue += sum.info.queue_records;
        in_tick += sum.records % 2;
        torn += sum.info.queue_records == sum.records;
        // Reading changes nothing: the queue is still there for the next reader.
        assert_int_equal(files_read(files.log).hash, sum.hash);
        files_close(&files);
    }
    printf(
        "%d kills: %llu records from queues, %llu inside of a tick, %llu before the first block\n",
        KILLS, (unsigned long long)from_queue, (unsigned long long)in_tick,
        (unsigned long long)torn);
    assert_true(from_queue > 0);
    munmap(shared, sizeof *shared);
}
