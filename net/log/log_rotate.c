// SPDX-License-Identifier: MIT
// Segments: a log that never ends, on a disk that does.
//
// A new segment begins with a keyframe, so it can be read without those before it. It is made
// beside the old one, as FILE.next, and takes the name FILE only when its header is on the disk.
// The old one gets its numbered name first: at every moment FILE is a log, and no segment is
// without a name. A crash in between leaves the old one with two names; readers take it once.
//
// Deleting is for closed segments of this log only, the oldest first.
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "log/log_file.h"
#include "log/log_record.h"
#include "log/log_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- commands for closed segments ----

// posix_spawn does not copy the address space of a large server, and of its threads only the caller
// (the log's) stands still until the command runs.

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

// ---- segments ----

enum {
    SAVE_ROOM_BYTES = 1 << 20,
};

void net_log_file_init_segments(net_log_file* file, const void* header, size_t header_bytes) {
    const base_allocator* allocator = &file->owner.allocator;
    file->command.program = file->config.options.segments.on_close;
    const net_log_place* place = &file->config.place;
    file->segment_first = file->segment_next = file->segment_reported = 1;
    if (place->segment > 0) {
        file->segment_first = file->segment_reported = place->segment;
        file->segment_next = place->segment + 1;
        memcpy(file->index.chain.before, place->total, sizeof place->total);
    }
    base_bytes_init(&file->save, allocator);
    base_bytes_init(&file->header, allocator);
    base_bytes_init(&file->next_header, allocator);
    base_bytes_write(&file->header, header, header_bytes);
    net_log_header_demand(&file->header, NET_LOG_FEATURE_SEGMENT);
    file->index.keyframes =
        base_allocate(allocator, NET_LOG_INDEX_KEYFRAMES_MAX * sizeof *file->index.keyframes);
    // Most matches never need more, so no tick of theirs allocates.
    if (file->config.keyframe_ticks > 0) (void)base_bytes_extend(&file->save, SAVE_ROOM_BYTES);
    base_bytes_clear(&file->save);
    if (file->config.ring_ticks > 0)
        net_log_ring_init(&file->ring, allocator, file->config.options.ring_bytes,
                          file->config.ring_ticks);
}

void net_log_file_write_index(net_log_file* file) {
    net_log_chain_end(&file->index.chain);
    if (file->config.options.sign_key) {
        net_log_chain_sign(&file->index.chain, file->config.options.sign_key,
                           file->index.signature);
        file->index.signature_bytes = NET_LOG_SIGNATURE_BYTES;
    }
    if (file->config.keyframe_ticks == 0 || file->block.record_count > 0) return;
    uint32_t size = net_log_index_write(&file->index, file->payload);
    if (size == 0) return;
    net_log_block block = net_log_file_block_of(file, NET_LOG_BLOCK_INDEX, file->synced_tick);
    (void)!net_log_file_put_block(file, &block, file->payload, size);
}

// ---- headers ----

static uint32_t put_header(const net_log_file* file, bool is_part) {
    const size_t size = is_part ? file->header.size : file->header.size - NET_LOG_HEADER_PART_BYTES;
    uint32_t length_bytes = base_varint_put(file->payload, size);
    memcpy(file->payload + length_bytes, file->header.data, size);
    return length_bytes + (uint32_t)size;
}

uint32_t net_log_file_put_header(const net_log_file* file) {
    return put_header(file, file->segment_next > 1 || file->config.start_tick > 0);
}

size_t net_log_file_put_start(net_log_file* file, int fd, bool is_part) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_log_prologue_write(prologue);
    net_log_block block = {
        .type = NET_LOG_BLOCK_HEADER, .identity = file->config.identity, .record_count = 1};
    const size_t size =
        net_log_packer_pack(&file->packer, &block, file->payload, put_header(file, is_part));
    const bool is_put = net_log_file_put(file, fd, prologue, sizeof prologue) &&
                        net_log_file_put(file, fd, file->packer.stored, size);
    return is_put ? sizeof prologue + size : 0;
}

// ---- the next segment ----

static bool is_time(const net_log_file* file, ecs_tick tick, bool is_forced) {
    const net_log_segments* limits = &file->config.options.segments;
    uint64_t bytes_max = limits->bytes_max;
    // A budget holds at least a few segments: it is kept by deleting whole ones.
    uint64_t part = limits->budget_bytes / 4;
    if (part > 0 && (bytes_max == 0 || bytes_max > part)) bytes_max = part;
    if (file->segment_next > NET_LOG_SEGMENTS_MAX || file->config.options.is_in_memory)
        return false;
    if (is_forced) return true;
    if (file->index.last_data == 0) return false;
    if (file->index.keyframe_count >= NET_LOG_INDEX_KEYFRAMES_MAX) return true;
    if (bytes_max > 0 && net_log_file_bytes(file) >= bytes_max) return true;
    return file->config.segment_ticks > 0 &&
           tick - file->segment_tick >= file->config.segment_ticks;
}

// @return the descriptor of FILE.next, locked, with its header on the disk; -1.
static int create_next(net_log_file* file, const char* name, uint64_t* size_out,
                       net_log_chain* chain) {
    (void)unlink(name); // what a crash left; the log of this name is ours
    const net_log_file_ops* ops = &file->config.options.ops;
    int fd = ops->create ? ops->create(ops->context, name) : base_file_create(name);
    if (fd < 0) return -1;
    const bool is_locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    *size_out = is_locked ? net_log_file_put_start(file, fd, true) : 0;
    const bool is_made = *size_out > 0 && net_log_file_flush(file, fd);
    *chain = (net_log_chain){.before = {0}};
    if (is_made)
        net_log_chain_add(chain, file->packer.stored, *size_out - NET_LOG_PROLOGUE_BYTES, NULL, 0);
    if (is_made) return fd;
    int error = errno;
    close(fd);
    (void)unlink(name);
    errno = error;
    return -1;
}

// Some file systems have no second names for a file.
static bool give_names(const char* file, const char* next, const char* closed) {
    char mark[4096];
    (void)unlink(closed); // of a log of this name that was deleted without its segments
    if (net_log_stored_name(mark, sizeof mark, closed)) (void)unlink(mark);
    bool is_closed = link(file, closed) == 0 || rename(file, closed) == 0;
    if (!is_closed) return false;
    // A power cut may keep the second change without the first: then the old one had no name.
    (void)!base_file_sync_folder(file);
    if (rename(next, file) == 0) return true;
    int error = errno;
    (void)unlink(closed);
    errno = error;
    return false;
}

static void take_over(net_log_file* file, int fd, uint64_t size, const net_log_chain* chain,
                      ecs_tick tick) {
    close(file->fd);
    file->fd = fd;
    file->segment_next++;
    file->segment_tick = tick;
    file->header_age = 0;
    file->index.keyframe_count = 0;
    file->index.last_data = 0;
    file->index.block_count = 1;
    file->index.chain = *chain;
    atomic_store_explicit(&file->bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->counts.bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->counts.segments_closed, 1, memory_order_relaxed);
}

// Another process may take closed segments away. One that has a mark is stored elsewhere.
bool net_log_file_is_over_limits(net_log_file* file) {
    const net_log_segments* limits = &file->config.options.segments;
    char name[4096], mark[4096];
    struct stat status;
    uint64_t bytes = 0;
    uint32_t kept = 0;
    for (uint32_t i = file->segment_first; i < file->segment_next; i++) {
        if (!net_log_segment_name(name, sizeof name, file->config.file, i)) break;
        const bool is_there = lstat(name, &status) == 0;
        kept += is_there;
        bytes += is_there ? (uint64_t)status.st_size : 0;
        if (!is_there && errno == ENOENT && file->segment_gone == 0 &&
            net_log_stored_name(mark, sizeof mark, name) && access(mark, F_OK) != 0)
            atomic_store_explicit(&file->segment_gone, i, memory_order_relaxed);
    }
    if (limits->kept_max > 0 && kept > limits->kept_max) return true;
    // Room for the segment that begins.
    return limits->budget_bytes > 0 && bytes > limits->budget_bytes - limits->budget_bytes / 4;
}

// What a program stores, it stores from the oldest segment on. So the oldest ones are deleted first
// anyway, and one that is not stored is deleted when no other is left that could be.
static void delete_oldest(net_log_file* file) {
    char name[4096], mark[4096];
    bool is_named =
        net_log_segment_name(name, sizeof name, file->config.file, file->segment_first++);
    if (!is_named || unlink(name) != 0) return;
    const bool is_stored = net_log_stored_name(mark, sizeof mark, name) && unlink(mark) == 0;
    if (file->command.program && !is_stored)
        atomic_fetch_add_explicit(&file->counts.segments_unstored, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->counts.segments_deleted, 1, memory_order_relaxed);
}

// Close the segment and begin the next one, when it is time. Without a success it goes on in the
// same file. @return false: the log stopped.
static bool begin_segment(net_log_file* file, ecs_tick tick, bool is_forced) {
    BASE_ASSERT(file->block.record_count == 0);
    char next[4096], closed[4096];
    uint64_t size;
    net_log_chain chain;
    if (!is_time(file, tick, is_forced)) return true;
    if (!base_text_format(next, sizeof next, "%s.next", file->config.file) ||
        !net_log_segment_name(closed, sizeof closed, file->config.file, file->segment_next))
        return true;
    int fd = create_next(file, next, &size, &chain);
    file->segment_error = fd < 0 ? errno : 0;
    if (fd < 0) return true;
    net_log_file_write_index(file);
    file->wait_error = 0;
    if (!net_log_file_sync(file, file->fd) || !give_names(file->config.file, next, closed)) {
        file->segment_error = errno;
        close(fd);
        (void)unlink(next);
        return !file->is_stopped;
    }
    (void)!base_file_sync_folder(file->config.file);
    memcpy(chain.before, file->index.chain.total, sizeof chain.before);
    take_over(file, fd, size, &chain, tick);
    while (net_log_file_is_over_limits(file))
        delete_oldest(file);
    net_log_file_run_commands(file, false);
    return true;
}

static void swap_headers(net_log_file* file) {
    const base_bytes old = file->header;
    file->header = file->next_header;
    file->next_header = old;
}

// @return false: the log waits or stopped.
static bool rotate(net_log_file* file, ecs_tick tick) {
    if (file->next_header.size == 0) return begin_segment(file, tick, false);
    // No record of the game as it is now may be after a header of what it was.
    const uint32_t segment = file->segment_next;
    swap_headers(file);
    if (!begin_segment(file, tick, true)) return false;
    if (file->segment_next > segment || file->config.options.is_in_memory) {
        base_bytes_clear(&file->next_header);
        file->ring.count = 0; // of what the header now does not say
        file->ring.data_end = 0;
        return true;
    }
    swap_headers(file);
    if (file->segment_error == 0) {
        net_log_file_fail(file, "no further segment can be begun for the game after its reload");
        return false;
    }
    file->wait_error = file->segment_error;
    file->wait_wakes = 0;
    return false;
}

void net_log_file_run_commands(net_log_file* file, bool is_end) {
    char name[4096];
    net_log_command* command = &file->command;
    if (!command->program) return;
    net_log_command_reap(command);
    for (; file->segment_reported < file->segment_next; file->segment_reported++) {
        bool is_there = file->segment_reported >= file->segment_first;
        bool is_named =
            net_log_segment_name(name, sizeof name, file->config.file, file->segment_reported);
        if (is_there && is_named && !net_log_command_start(command, name, is_end)) break;
    }
    if (file->is_last_due && !file->is_last_reported &&
        file->segment_reported == file->segment_next)
        file->is_last_reported = net_log_command_start(command, file->config.file, is_end);
    atomic_store_explicit(&file->counts.commands_failed, command->failures, memory_order_relaxed);
}

// ---- keyframes ----

// Keyframes, from the simulation's thread to the file.
//
// The simulation's thread saves the match once in a while, in one piece and into memory that stays:
// that is a copy, and no tick waits for more. The log's thread packs and writes it. There is one
// copy; while it is on its way, no other keyframe is due.
//
// Equal matches give equal files. So the save is offered before its tick's end record is pushed:
// the log's thread finds it when it takes that record, however late or early.
//
// A keyframe is also the way back after a full disk. Records that find no room in the queue are
// left out from then on; when the queue has emptied, the log goes on with a keyframe.

enum {
    HEADER_COPY_EVERY = 6, // keyframes
    QUEUE_PART_FREE = 4,   // left out records come back when this many parts of it are free but one
};

// ---- on the simulation's thread ----

static bool is_due(const net_log_file* file, ecs_tick tick) {
    uint32_t every = file->config.keyframe_ticks;
    if (every == 0 || net_log_file_has_failed(file)) return false;
    const bool is_start = file->config.start_tick > 0 && tick == file->config.start_tick;
    if (!file->is_leaving_out) return is_start || tick % every == 0 || file->is_exchange_due;
    return atomic_load_explicit(&file->is_open, memory_order_acquire) &&
           tick % file->config.block_ticks == 0 &&
           base_spsc_used(file->queue.ring) <= file->config.ring_bytes / QUEUE_PART_FREE;
}

base_bytes* net_log_file_begin_keyframe(net_log_file* file, ecs_tick tick) {
    file->ended_tick = tick;
    file->ticks_waited += !net_log_file_has_failed(file) &&
                          atomic_load_explicit(&file->trouble, memory_order_relaxed) != 0;
    if (!is_due(file, tick)) return NULL;
    if (atomic_load_explicit(&file->is_offered, memory_order_acquire)) {
        file->keyframes_dropped++;
        return NULL;
    }
    base_bytes_clear(&file->save);
    return &file->save;
}

bool net_log_file_may_exchange(const void* context) {
    const net_log_file* file = context;
    return file->config.keyframe_ticks > 0 &&
           (net_log_file_has_failed(file) ||
            !atomic_load_explicit(&file->is_offered, memory_order_acquire));
}

void net_log_file_exchange(net_log_file* file, const void* header, size_t header_bytes) {
    BASE_ASSERT(net_log_file_may_exchange(file));
    if (net_log_file_has_failed(file)) return;
    base_bytes_clear(&file->next_header);
    base_bytes_write(&file->next_header, header, header_bytes);
    net_log_header_demand(&file->next_header, NET_LOG_FEATURE_SEGMENT);
    file->is_exchange_due = true;
}

void net_log_file_end_keyframe(net_log_file* file, ecs_tick tick) {
    if (file->save.size == 0 || file->save.size > NET_LOG_KEYFRAME_BYTES_MAX) {
        file->keyframes_dropped++;
        if (file->save.size > 0 && file->long_bytes == 0) {
            file->long_bytes = file->save.size;
            file->long_tick = tick;
        }
        return;
    }
    file->save_tick = tick;
    file->is_exchange_due = false;
    if (file->is_leaving_out) {
        file->is_leaving_out = false;
        file->is_resumed_news = true;
        file->resumed_tick = tick;
        file->resumed_ends = file->pushed_ends;
    }
    atomic_store_explicit(&file->is_offered, true, memory_order_release);
}

// After a gap the ticks are of no use until their keyframe is in the file.
static bool is_resuming(const net_log_file* file) {
    return atomic_load_explicit(&file->is_offered, memory_order_acquire) &&
           file->save_tick == file->resumed_tick;
}

uint64_t net_log_file_ticks_lost(const net_log_file* file) {
    uint64_t there =
        file->config.start_tick + (is_resuming(file) ? file->resumed_ends : file->pushed_ends);
    return file->ended_tick > there ? file->ended_tick - there : 0;
}

// Writes to the disk, or to the folder, started or stopped failing.
static bool take_trouble(net_log_file* file, char* text, size_t text_bytes) {
    char reason[NET_LOG_WHY_BYTES];
    int trouble = atomic_load_explicit(&file->trouble, memory_order_relaxed);
    if (trouble == 0 && !file->is_trouble_reported) trouble = file->seen_trouble;
    file->seen_trouble = 0;
    if ((trouble != 0) == file->is_trouble_reported || net_log_file_has_failed(file)) return false;
    file->is_trouble_reported = trouble != 0;
    net_log_file_why(reason, abs(trouble));
    if (trouble > 0)
        (void)base_text_format(text, text_bytes,
                               "the disk takes nothing: %s; the log waits until it does", reason);
    else if (trouble < 0)
        (void)base_text_format(text, text_bytes,
                               "no new segment can be begun: %s; the log continues in this one",
                               reason);
    else
        (void)base_text_format(text, text_bytes,
                               "note: the disk takes the log again, which waited for %" PRIu64
                               " ticks; %" PRIu64 " ticks are missing in it by now",
                               file->ticks_waited, net_log_file_ticks_lost(file));
    return true;
}

static bool has_risen(const _Atomic uint64_t* count, uint64_t* reported) {
    const uint64_t before = *reported;
    *reported = atomic_load_explicit(count, memory_order_relaxed);
    return *reported > before;
}

// A closed segment was taken away, or the program for them failed or was too slow for the limits.
static bool take_segments(net_log_file* file, char* text, size_t text_bytes) {
    const uint32_t gone = atomic_load_explicit(&file->segment_gone, memory_order_relaxed);
    if (gone > 0 && !file->is_gone_reported) {
        file->is_gone_reported = true;
        (void)base_text_format(text, text_bytes,
                               "warning: its closed segment %u was deleted or moved while the log "
                               "was written: the log lacks the ticks of it",
                               gone);
    } else if (has_risen(&file->counts.commands_failed, &file->reported_failures)) {
        (void)base_text_format(text, text_bytes,
                               "warning: %s failed for a closed segment, %" PRIu64 " times by now",
                               file->command.program, file->reported_failures);
    } else if (has_risen(&file->counts.segments_unstored, &file->reported_unstored)) {
        (void)base_text_format(text, text_bytes,
                               "warning: closed segments were deleted over the limits without a "
                               "mark that they are stored, %" PRIu64 " by now",
                               file->reported_unstored);
    } else {
        return false;
    }
    return true;
}

// Once: the match goes on, and what is in the log is whole.
static bool take_long(net_log_file* file, char* text, size_t text_bytes) {
    if (file->long_bytes == 0 || file->is_long_reported) return false;
    file->is_long_reported = true;
    (void)base_text_format(text, text_bytes,
                           "warning: the match after tick %" PRIu64 " has %" PRIu64
                           " bytes, and a keyframe at most %u: without it the log runs from an "
                           "earlier one, and begins no segment",
                           file->long_tick, file->long_bytes, NET_LOG_KEYFRAME_BYTES_MAX);
    return true;
}

bool net_log_take_notice(net_log_file* file, char* text, size_t text_bytes) {
    if (take_long(file, text, text_bytes)) return true;
    if (take_trouble(file, text, text_bytes) || take_segments(file, text, text_bytes)) return true;
    // Both may be news; the one that happened first comes first.
    if (file->is_resumed_news &&
        !(file->is_left_news && file->left_out_from <= file->resumed_tick)) {
        if (is_resuming(file)) return false;
        file->is_resumed_news = false;
        (void)base_text_format(text, text_bytes,
                               "note: the log continues after tick %" PRIu64 "; %" PRIu64
                               " ticks are missing in it by now",
                               file->resumed_tick, net_log_file_ticks_lost(file));
        return true;
    }
    if (!file->is_left_news) return false;
    file->is_left_news = false;
    (void)base_text_format(text, text_bytes,
                           "the disk takes nothing and no more can wait: ticks from %" PRIu64
                           " on are left out until it does",
                           file->left_out_from);
    return true;
}

// ---- on the log's thread ----

// The file and the numbers of its blocks, to go back to.
typedef struct mark {
    uint64_t bytes, ordinal, blocks, ring;
} mark;

static bool put_parts(net_log_file* file) {
    net_log_part part = {.count = net_log_part_count(file->save.size),
                         .save_bytes = file->save.size};
    for (uint64_t done = 0; done < file->save.size; done += part.size) {
        uint64_t rest = file->save.size - done;
        part.number++;
        part.data = file->save.data + done;
        part.size = rest < NET_LOG_PART_BYTES_MAX ? (size_t)rest : NET_LOG_PART_BYTES_MAX;
        net_log_block block = net_log_file_block_of(file, NET_LOG_BLOCK_KEYFRAME, file->save_tick);
        uint32_t size = net_log_part_write(&part, file->payload);
        if (!net_log_file_put_block(file, &block, file->payload, size)) return false;
    }
    return true;
}

// Once a minute the header is in the log again: its first bytes may be damaged.
static bool put_header_copy(net_log_file* file) {
    if (file->header_age++ % HEADER_COPY_EVERY != 0) return true;
    net_log_block block = net_log_file_block_of(file, NET_LOG_BLOCK_HEADER_COPY, file->save_tick);
    return net_log_file_put_block(file, &block, file->payload, net_log_file_put_header(file));
}

static bool put_keyframe(net_log_file* file) {
    const mark before = {net_log_file_bytes(file), file->next_ordinal, file->index.block_count,
                         file->ring.head};
    const net_log_chain chain = file->index.chain;
    uint32_t header_age = file->header_age;
    bool is_put = put_header_copy(file);
    uint64_t offset = net_log_file_bytes(file);
    if (is_put && file->ring.memory) net_log_ring_begin(&file->ring, file->save_tick);
    is_put = is_put && put_parts(file);
    if (is_put) {
        net_log_index_add(&file->index, file->save_tick, offset);
        atomic_fetch_add_explicit(&file->counts.keyframes, 1, memory_order_relaxed);
        return true;
    }
    // A part alone is of no use: the next try writes all of them.
    if (file->ring.memory) net_log_ring_undo(&file->ring, before.ring);
    if (before.bytes != net_log_file_bytes(file) && !net_log_file_cut(file, before.bytes))
        return false;
    uint64_t undone = net_log_file_bytes(file) - before.bytes;
    atomic_store_explicit(&file->bytes, before.bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&file->counts.bytes, undone, memory_order_relaxed);
    file->next_ordinal = before.ordinal;
    file->index.block_count = before.blocks;
    file->index.chain = chain;
    file->header_age = header_age;
    return false;
}

bool net_log_file_write_keyframe(net_log_file* file, ecs_tick tick) {
    if (!atomic_load_explicit(&file->is_offered, memory_order_acquire)) return true;
    if (file->save_tick > tick) return true;
    if (file->block.record_count > 0 && !net_log_file_write_block(file)) return false;
    (void)net_log_file_is_over_limits(file); // notes a segment that is gone
    if (!rotate(file, file->save_tick)) return false;
    if (!put_keyframe(file)) return false;
    atomic_store_explicit(&file->is_offered, false, memory_order_release);
    return true;
}
