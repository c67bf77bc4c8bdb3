// SPDX-License-Identifier: MIT
// A save of the ring: a file of its own, which is a later segment of the log.
//
//     prologue, header, blocks of the ring from a keyframe on, a close record, index
//
// The log's thread writes it between two blocks, as it syncs: what the match appends meanwhile
// waits in the queue. A save that fails costs nothing but itself. The file has its name only when
// it is whole.
//
// One slot is enough for the way there and back: the simulation's thread fills it and sets ASKED,
// the log's thread sets DONE.
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "log/log_file.h"
#include "log/log_segment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAVE_FREE = 0, SAVE_ASKED, SAVE_DONE };

#define LOG_ENDING ".slog"

// ---- on the simulation's thread ----

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

static bool make_name(net_log_file* file, const char* name) {
    char plain[NET_SAVE_NAME_BYTES];
    size_t count = 0;
    for (; name[count] && count + 1 < sizeof plain; count++)
        plain[count] = name[count];
    for (size_t i = 0; i < count; i++)
        if (!is_plain(plain[i])) plain[i] = '_';
    plain[count] = 0;
    const char* log = file->config.file;
    size_t bytes = strlen(log), ending = strlen(LOG_ENDING);
    if (bytes > ending && strcmp(log + bytes - ending, LOG_ENDING) == 0) bytes -= ending;
    net_log_saved* saved = &file->saved;
    return base_text_format(saved->file, sizeof saved->file, "%.*s.saved-%" PRIu64 "%s%s.slog",
                            (int)bytes, log, saved->last_tick, count > 0 ? "-" : "", plain);
}

net_result net_log_file_save(net_log_file* file, const char* name) {
    BASE_ASSERT(name);
    if (!file->ring.memory || net_log_file_has_failed(file) || file->is_finished)
        return NET_ERR_CLOSED;
    if (atomic_load_explicit(&file->save_state, memory_order_acquire) != SAVE_FREE) {
        atomic_fetch_add_explicit(&file->counts.saves_failed, 1, memory_order_relaxed);
        return NET_ERR_FULL;
    }
    file->saved = (net_log_saved){.last_tick = file->pushed_tick};
    if (!make_name(file, name)) return NET_ERR_CLOSED;
    atomic_store_explicit(&file->save_state, SAVE_ASKED, memory_order_release);
    return NET_OK;
}

bool net_log_file_take_saved(net_log_file* file, net_log_saved* saved) {
    if (atomic_load_explicit(&file->save_state, memory_order_acquire) != SAVE_DONE) return false;
    *saved = file->saved;
    atomic_store_explicit(&file->save_state, SAVE_FREE, memory_order_relaxed);
    return true;
}

// ---- on the log's thread ----

// What is written of a save.
typedef struct saving {
    net_log_file* log;
    int fd;
    uint64_t bytes;
    uint64_t ordinal;   // of the next block: the indexes of closed segments are left out
    net_log_block last; // data block of the ring
    ecs_tick tick;      // the last whole one
    uint64_t state_hash;
    bool has_close;
    net_log_index index;
    net_log_keyframe keyframes[NET_LOG_RING_GROUPS_MAX];
} saving;

static bool put_bytes(saving* self, const uint8_t* data, size_t size) {
    self->bytes += size;
    return net_log_file_put(self->log, self->fd, data, size);
}

// What the packer holds of a block.
static bool put_packed(saving* self, const net_log_block* block, size_t size) {
    const uint8_t* data = self->log->packer.stored;
    if (block->type != NET_LOG_BLOCK_HEADER) self->index.block_count++;
    if (block->type != NET_LOG_BLOCK_INDEX)
        net_log_chain_add(&self->index.chain, data, size, NULL, 0);
    return put_bytes(self, data, size);
}

// Pack a payload as a block that has its numbers already.
static bool put_payload(saving* self, net_log_block* block, uint32_t payload_bytes) {
    net_log_packer* packer = &self->log->packer;
    block->flags = 0;
    block->identity = self->log->config.identity;
    size_t size = net_log_packer_pack(packer, block, self->log->payload, payload_bytes);
    return put_packed(self, block, size);
}

// Read the header of the block at a place. What lies here, this process packed.
static size_t read_block(const net_log_ring* ring, uint64_t at, net_log_block* block) {
    uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
    net_log_ring_read(ring, at, header, sizeof header);
    bool is_whole = net_log_block_header_read(block, header);
    BASE_ASSERT(is_whole);
    return NET_LOG_BLOCK_HEADER_BYTES + block->stored_bytes;
}

// The last record of the newest data block. @return false: the block ends within a tick.
static bool read_end(saving* self) {
    net_log_file* log = self->log;
    const net_log_ring* ring = &log->ring;
    size_t size = read_block(ring, ring->last_data, &self->last);
    net_log_ring_read(ring, ring->last_data, log->packer.stored, size);
    bool is_whole =
        net_log_block_unpack(&self->last, log->packer.stored + NET_LOG_BLOCK_HEADER_BYTES,
                             log->packer.columns, log->payload);
    BASE_ASSERT(is_whole);
    base_reader bytes = base_reader_make(log->payload, self->last.unpacked_bytes);
    net_log_record record = {.kind = NET_LOG_KIND_OTHER}, next;
    self->tick = UINT64_MAX;
    while (base_reader_left(&bytes) > 0) {
        size_t record_bytes = (size_t)base_reader_varint(&bytes);
        const uint8_t* data = base_reader_skip(&bytes, record_bytes);
        is_whole = data && net_log_record_read(&next, data, record_bytes);
        BASE_ASSERT(is_whole);
        if (net_log_kinds[next.kind].stage == NET_LOG_BETWEEN) continue;
        record = next;
        if (record.kind != NET_LOG_KIND_END && record.kind != NET_LOG_KIND_CLOSE) continue;
        self->tick = record.tick;
        self->state_hash = record.state_hash;
    }
    self->has_close = record.kind == NET_LOG_KIND_CLOSE;
    return self->tick == record.tick && record.kind != NET_LOG_KIND_BEGIN;
}

// A file that begins with a keyframe has the header twice, as each segment: in the ring another
// block is before the keyframe, so its ordinal is free.
static bool put_start(saving* self, const net_log_ring_group* group) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    const bool is_part = group->tick > 0;
    net_log_prologue_write(prologue);
    net_log_block block = {.type = NET_LOG_BLOCK_HEADER, .record_count = 1};
    self->index.block_count = 1;
    if (!put_bytes(self, prologue, sizeof prologue) ||
        !put_payload(self, &block, net_log_file_put_header_as(self->log, is_part)))
        return false;
    (void)read_block(&self->log->ring, group->start, &block);
    self->ordinal = block.ordinal;
    if (!is_part) return true;
    block.type = NET_LOG_BLOCK_HEADER_COPY;
    block.ordinal--;
    return put_payload(self, &block, net_log_file_put_header_as(self->log, is_part));
}

static bool put_stored(saving* self, const net_log_block* block, uint64_t at, size_t size) {
    uint8_t* stored = self->log->packer.stored;
    net_log_ring_read(&self->log->ring, at, stored, size);
    net_log_block_header_write(block, stored);
    return put_packed(self, block, size);
}

// A copy of the header says what the header of this file says.
static bool put_blocks(saving* self, uint32_t group) {
    const net_log_ring* ring = &self->log->ring;
    const bool is_part = ring->groups[group].tick > 0;
    bool is_put = true;
    for (uint64_t at = ring->groups[group].start; is_put && at < ring->data_end;) {
        net_log_block block;
        size_t size = read_block(ring, at, &block);
        block.ordinal = self->ordinal++;
        while (group < ring->count && ring->groups[group].start < at)
            group++;
        if (group < ring->count && ring->groups[group].start == at && ring->groups[group].tick > 0)
            net_log_index_add(&self->index, block.first_tick, self->bytes);
        if (block.type == NET_LOG_BLOCK_DATA) self->index.last_data = self->bytes;
        is_put = block.type == NET_LOG_BLOCK_HEADER_COPY
                     ? put_payload(self, &block, net_log_file_put_header_as(self->log, is_part))
                     : put_stored(self, &block, at, size);
        at += size;
    }
    return is_put;
}

static bool put_close(saving* self) {
    if (self->has_close) return true;
    uint8_t memory[64];
    proto_pb_writer body = {.data = memory, .capacity = sizeof memory};
    proto_pb_write_number(&body, 1, self->tick);
    proto_pb_write_fixed64(&body, 2, self->state_hash);
    proto_pb_writer record = {.data = self->log->payload + 1, .capacity = sizeof memory};
    proto_pb_write_bytes(&record, NET_LOG_KIND_CLOSE, memory, body.size);
    BASE_ASSERT(!body.failed && !record.failed && record.size < 128);
    self->log->payload[0] = (uint8_t)record.size; // as varint
    net_log_block block = {.type = NET_LOG_BLOCK_DATA,
                           .record_count = 1,
                           .ordinal = self->ordinal++,
                           .first_record = self->last.first_record + self->last.record_count,
                           .first_tick = self->tick,
                           .last_tick = self->tick};
    self->index.last_data = self->bytes;
    self->last = block;
    return put_payload(self, &self->last, (uint32_t)record.size + 1);
}

static bool put_index(saving* self) {
    net_log_chain_end(&self->index.chain);
    uint32_t size = net_log_index_write(&self->index, self->log->payload);
    net_log_block block = {.type = NET_LOG_BLOCK_INDEX,
                           .record_count = 1,
                           .ordinal = self->ordinal++,
                           .first_record = self->last.first_record + self->last.record_count,
                           .first_tick = self->tick,
                           .last_tick = self->tick};
    return put_payload(self, &block, size);
}

static bool put_all(saving* self, uint32_t group) {
    net_log_file* log = self->log;
    return put_start(self, &log->ring.groups[group]) && put_blocks(self, group) &&
           put_close(self) && put_index(self) && net_log_file_flush(log, self->fd);
}

// No file of the name is replaced. Some file systems have no second names for a file.
static bool give_name(const char* part, const char* name) {
    if (link(part, name) == 0) return true;
    if (errno != EPERM && errno != EOPNOTSUPP) return false;
    if (access(name, F_OK) != 0) return rename(part, name) == 0;
    errno = EEXIST;
    return false;
}

// @return 0; else an errno.
static int write_file(saving* self, uint32_t group, const char* name) {
    char part[sizeof self->log->saved.file + 8];
    if (!base_text_format(part, sizeof part, "%s.part", name)) return ENAMETOOLONG;
    (void)unlink(part); // what a crash left
    self->fd = base_file_create(part);
    if (self->fd < 0) return errno;
    errno = 0;
    int error = put_all(self, group) && give_name(part, name) ? 0 : errno;
    close(self->fd);
    (void)unlink(part);
    if (error == 0) (void)!base_file_sync_folder(name);
    return error;
}

static bool is_over_budget(const net_log_file* log, uint32_t group) {
    uint64_t budget = log->config.segments.budget_bytes;
    uint64_t bytes = log->ring.data_end - log->ring.groups[group].start;
    return budget > 0 && bytes > budget - (log->saved_bytes < budget ? log->saved_bytes : budget);
}

static void say_failure(net_log_saved* saved, int error) {
    char reason[NET_LOG_WHY_BYTES];
    net_log_file_why(reason, error);
    (void)base_text_format(saved->failure, sizeof saved->failure, "%s (errno %d)", reason, error);
}

// @return false: it has to wait for a block that ends with a tick.
static bool save_ring(net_log_file* log, saving* self) {
    net_log_saved* saved = &log->saved;
    const net_log_ring* ring = &log->ring;
    const uint32_t group = net_log_ring_find(ring);
    BASE_VALIDATE((net_log_ring_validate(ring), true));
    if (group == ring->count) {
        (void)base_text_copy(saved->failure, sizeof saved->failure,
                             "the memory of the ring holds no keyframe with ticks behind it");
        return true;
    }
    if (!read_end(self)) return false;
    if (is_over_budget(log, group)) {
        (void)base_text_copy(saved->failure, sizeof saved->failure,
                             "the budget of bytes is used up");
        return true;
    }
    int error = write_file(self, group, saved->file);
    if (error != 0) {
        say_failure(saved, error);
        return true;
    }
    saved->first_tick = ring->groups[group].tick + 1;
    saved->last_tick = self->tick;
    saved->bytes = self->bytes;
    log->saved_bytes += self->bytes;
    return true;
}

void net_log_file_write_save(net_log_file* log, bool is_end) {
    if (atomic_load_explicit(&log->save_state, memory_order_acquire) != SAVE_ASKED) return;
    BASE_ASSERT(log->block.record_count == 0 || log->is_stopped);
    bool is_there = log->ring.data_end > 0 && log->ring.last_tick >= log->saved.last_tick;
    if (!is_there && !is_end && !log->is_stopped && log->ring.count > 0) return;
    saving self = {.log = log, .fd = -1};
    self.index.keyframes = self.keyframes;
    if (!log->is_stopped && !save_ring(log, &self) && !is_end) return;
    bool is_whole = log->saved.bytes > 0;
    if (!is_whole && log->saved.failure[0] == 0)
        (void)base_text_copy(log->saved.failure, sizeof log->saved.failure,
                             log->is_stopped ? "logging stopped" : "the log ends within a tick");
    atomic_fetch_add_explicit(is_whole ? &log->counts.saves : &log->counts.saves_failed, 1,
                              memory_order_relaxed);
    atomic_store_explicit(&log->save_state, SAVE_DONE, memory_order_release);
}
