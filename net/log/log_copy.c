// SPDX-License-Identifier: MIT
// A new log out of the whole ticks of another one: what a reader can still read of a damaged or cut
// log, or a part of a long one. Blocks are cut as a writer cuts them, so a copy of a whole log has
// the same records at the same places. The copy ends with a close record, because nothing is
// missing from it.
//
// A tick without an end record is the one in which the server died. It is no whole tick and is left
// out.
#include "log/log_block.h"
#include "log/log_read.h"
#include "net/log_tools.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct copy {
    net_log_reader* reader;
    const net_log_copy_config* config;
    const base_reporter* reporter;
    net_log_copy_result* result;
    const base_allocator* allocator;
    int fd;
    net_log_packer packer;
    bool has_packer;
    uint8_t* payload; // of the block in the making
    uint32_t payload_bytes;
    net_log_block block;
    uint64_t next_ordinal, next_number;
    uint32_t block_ticks;
    base_bytes tick; // records of the tick in the making: u32 size, bytes
    uint64_t state_hash;
} copy;

// ---- the new file

static net_result fail(const copy* self, const char* what) {
    base_report(self->reporter, self->config->output, 0, "%s: %s", what, base_file_why(errno));
    return NET_ERR_IO;
}

static net_result write_all(const copy* self, const uint8_t* data, size_t size) {
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = write(self->fd, data + done, size - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return fail(self, "cannot be written");
        done += (size_t)wrote;
    }
    return NET_OK;
}

static net_result write_block(copy* self) {
    if (self->block.record_count == 0) return NET_OK;
    self->block.identity = net_log_reader_info(self->reader)->identity;
    self->block.ordinal = self->next_ordinal++;
    const size_t size =
        net_log_packer_pack(&self->packer, &self->block, self->payload, self->payload_bytes);
    self->block = (net_log_block){.type = NET_LOG_BLOCK_DATA};
    self->payload_bytes = 0;
    return write_all(self, self->packer.stored, size);
}

static uint64_t span_of(const copy* self, ecs_tick tick) {
    return tick == 0 ? 0 : (tick - 1) / self->block_ticks;
}

static net_result append(copy* self, const void* record, uint32_t size, ecs_tick tick) {
    net_log_block* block = &self->block;
    const uint32_t needed = base_varint_bytes(size) + size;
    const bool is_full =
        block->record_count > 0 && (needed > NET_LOG_BLOCK_BYTES_MAX - self->payload_bytes ||
                                    span_of(self, tick) != span_of(self, block->last_tick));
    net_result result = is_full ? write_block(self) : NET_OK;
    if (block->record_count == 0) {
        block->first_record = self->next_number;
        block->first_tick = tick;
    }
    block->last_tick = tick;
    block->record_count++;
    self->next_number += block->type == NET_LOG_BLOCK_DATA;
    self->payload_bytes += base_varint_put(self->payload + self->payload_bytes, size);
    memcpy(self->payload + self->payload_bytes, record, size);
    self->payload_bytes += size;
    return result;
}

static net_result begin_file(copy* self) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    size_t size;
    const uint8_t* header = net_log_reader_header(self->reader, &size);
    self->fd = base_file_create(self->config->output);
    if (self->fd < 0)
        return fail(self,
                    errno == EEXIST ? "is there already, name a new file" : "cannot be created");
    net_log_prologue_write(prologue);
    net_result result = write_all(self, prologue, sizeof prologue);
    self->block = (net_log_block){.type = NET_LOG_BLOCK_HEADER};
    if (result == NET_OK) result = append(self, header, (uint32_t)size, 0);
    if (result == NET_OK) result = write_block(self);
    self->next_number = 1;
    return result;
}

static net_result append_close(copy* self) {
    net_log_draft draft = {.memory = base_allocate(self->allocator, NET_LOG_DRAFT_BYTES)};
    if (!draft.memory) return NET_ERR_MEMORY;
    const ecs_tick tick = self->result->last_tick;
    uint32_t size;
    net_log_draft_begin(&draft);
    proto_pb_write_number(&draft.body, 1, tick);
    proto_pb_write_fixed64(&draft.body, 2, self->state_hash);
    const uint8_t* record = net_log_draft_end(&draft, NET_LOG_KIND_CLOSE, 0, tick, &size);
    net_result result =
        append(self, record + NET_LOG_QUEUE_PREFIX_BYTES, size - NET_LOG_QUEUE_PREFIX_BYTES, tick);
    base_release(self->allocator, draft.memory, NET_LOG_DRAFT_BYTES);
    return result == NET_OK ? write_block(self) : result;
}

static net_result end_file(copy* self) {
    net_result result = append_close(self);
    if (result == NET_OK && fsync(self->fd) != 0) result = fail(self, "cannot be synced");
    if (result == NET_OK) (void)!base_file_sync_folder(self->config->output);
    return result;
}

// ---- the records

static void keep(copy* self, const net_log_cursor* cursor, const net_log_record* record) {
    BASE_ASSERT(record->size <= cursor->at);
    base_bytes_write_u32(&self->tick, record->size);
    base_bytes_write(&self->tick, cursor->data + cursor->at - record->size, record->size);
}

// All records of a whole tick.
static net_result append_tick(copy* self, const net_log_record* end) {
    base_reader records = base_reader_make(self->tick.data, self->tick.size);
    if (self->tick.failed) return NET_ERR_MEMORY;
    net_result result = NET_OK;
    while (result == NET_OK && base_reader_left(&records) > 0) {
        const uint32_t size = base_reader_u32(&records);
        result = append(self, base_reader_skip(&records, size), size, end->tick);
    }
    base_bytes_clear(&self->tick);
    self->state_hash = end->state_hash;
    self->result->last_tick = end->tick;
    self->result->ticks++;
    const bool is_last = end->tick % self->block_ticks == 0;
    return result == NET_OK && is_last ? write_block(self) : result;
}

static net_result copy_records(copy* self) {
    const net_log_copy_config* config = self->config;
    net_log_cursor cursor = net_log_cursor_begin(self->reader);
    net_log_record record;
    net_result result = NET_OK;
    bool has_begin = false;
    while (result == NET_OK && net_log_cursor_next(self->reader, &cursor, &record)) {
        if (record.kind == NET_LOG_KIND_CLOSE) break;
        if (config->last > 0 && record.kind == NET_LOG_KIND_BEGIN && record.tick > config->last)
            break;
        keep(self, &cursor, &record);
        if (record.kind == NET_LOG_KIND_BEGIN) has_begin = true;
        if (record.kind != NET_LOG_KIND_END) continue;
        has_begin = false;
        result = append_tick(self, &record);
    }
    if (has_begin) self->result->unfinished_tick = self->result->last_tick + 1;
    if (result != NET_OK || self->result->ticks > 0) return result;
    base_report(self->reporter, net_log_reader_file(self->reader), 0, "it has no whole tick");
    return NET_ERR_DAMAGED;
}

net_result net_log_copy(net_log_reader* reader, const net_log_copy_config* config,
                        const base_reporter* reporter, net_log_copy_result* result_out) {
    BASE_ASSERT(reader && config && config->output && result_out);
    const uint32_t rate = net_log_reader_info(reader)->tick_rate_hz;
    copy self = {.reader = reader,
                 .config = config,
                 .reporter = reporter,
                 .result = result_out,
                 .allocator = net_log_reader_allocator(reader),
                 .fd = -1,
                 .block_ticks = rate >= 4 ? rate / 4 : 1};
    *result_out = (net_log_copy_result){0};
    base_bytes_init(&self.tick, self.allocator);
    self.payload = base_allocate(self.allocator, NET_LOG_BLOCK_BYTES_MAX);
    self.has_packer = self.payload && net_log_packer_init(&self.packer, self.allocator);
    net_result result = self.has_packer ? begin_file(&self) : NET_ERR_MEMORY;
    const bool is_created = self.fd >= 0;
    if (result == NET_OK) result = copy_records(&self);
    if (result == NET_OK) result = end_file(&self);
    if (is_created) close(self.fd);
    if (is_created && result != NET_OK) (void)!unlink(config->output);
    if (self.has_packer) net_log_packer_deinit(&self.packer);
    if (self.payload) base_release(self.allocator, self.payload, NET_LOG_BLOCK_BYTES_MAX);
    base_bytes_deinit(&self.tick);
    return result;
}
