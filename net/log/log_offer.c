// SPDX-License-Identifier: MIT
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
#include "log/log_file_internal.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADER_COPY_EVERY = 6, // keyframes
    QUEUE_PART_FREE = 4,   // left out records come back when so many parts of it are free but one
};

// ---- on the simulation's thread ----

static bool is_due(const net_log_file* file, ecs_tick tick) {
    uint32_t every = file->config.keyframe_ticks;
    if (every == 0 || net_log_file_has_failed(file)) return false;
    if (file->config.start_tick > 0 && tick == file->config.start_tick) return true;
    if (!file->is_leaving_out) return tick % every == 0;
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

void net_log_file_end_keyframe(net_log_file* file, ecs_tick tick) {
    bool is_usable =
        !file->save.failed && file->save.size > 0 && file->save.size <= NET_LOG_KEYFRAME_BYTES_MAX;
    if (!is_usable) {
        file->keyframes_dropped++;
        return;
    }
    file->save_tick = tick;
    if (file->is_leaving_out) {
        file->is_leaving_out = false;
        file->is_resumed_news = true;
        file->resumed_tick = tick;
        file->resumed_ends = file->pushed_ends;
    }
    atomic_store_explicit(&file->is_offered, true, memory_order_release);
}

// Behind a gap the ticks are of no use until their keyframe is in the file.
static bool is_resuming(const net_log_file* file) {
    return atomic_load_explicit(&file->is_offered, memory_order_acquire) &&
           file->save_tick == file->resumed_tick;
}

uint64_t net_log_file_ticks_lost(const net_log_file* file) {
    uint64_t there =
        file->config.start_tick + (is_resuming(file) ? file->resumed_ends : file->pushed_ends);
    return file->ended_tick > there ? file->ended_tick - there : 0;
}

// The disk, or the folder, began or ceased to take nothing.
static bool take_trouble(net_log_file* file, char* text, size_t text_bytes) {
    char reason[128] = "";
    int trouble = atomic_load_explicit(&file->trouble, memory_order_relaxed);
    if (trouble == 0 && !file->is_trouble_told) trouble = file->seen_trouble;
    file->seen_trouble = 0;
    if ((trouble != 0) == file->is_trouble_told || net_log_file_has_failed(file)) return false;
    file->is_trouble_told = trouble != 0;
    if (strerror_r(abs(trouble), reason, sizeof reason) != 0) reason[0] = 0;
    if (trouble > 0)
        (void)base_text_format(text, text_bytes,
                               "the disk takes nothing: %s; the log waits until it does", reason);
    else if (trouble < 0)
        (void)base_text_format(text, text_bytes,
                               "no new segment can be begun: %s; the log goes on in this one",
                               reason);
    else
        (void)base_text_format(text, text_bytes,
                               "note: the disk takes the log again, which waited for %" PRIu64
                               " ticks; %" PRIu64 " ticks are missing in it by now",
                               file->ticks_waited, net_log_file_ticks_lost(file));
    return true;
}

bool net_log_file_take_note(net_log_file* file, char* text, size_t text_bytes) {
    if (take_trouble(file, text, text_bytes)) return true;
    // Both may be news; the one that happened first comes first.
    if (file->is_resumed_news &&
        !(file->is_left_news && file->left_out_from <= file->resumed_tick)) {
        if (is_resuming(file)) return false;
        file->is_resumed_news = false;
        (void)base_text_format(text, text_bytes,
                               "note: the log goes on behind tick %" PRIu64 "; %" PRIu64
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

// Once a minute the header stands in the log again: its first bytes may be damaged.
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
    if (before.bytes != net_log_file_bytes(file) &&
        (ftruncate(file->fd, (off_t)before.bytes) != 0 ||
         lseek(file->fd, (off_t)before.bytes, SEEK_SET) < 0))
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
    if (!net_log_file_rotate(file, file->save_tick)) return false;
    if (!put_keyframe(file)) return false;
    atomic_store_explicit(&file->is_offered, false, memory_order_release);
    return true;
}
