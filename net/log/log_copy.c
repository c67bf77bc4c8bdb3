// SPDX-License-Identifier: MIT
// A new log out of a part of another one: what a reader can still read of a damaged or cut log, or
// some minutes of a long one. The records go through the machine below net_log_writer, so blocks,
// keyframes and index are as a server writes them. A log that does not begin with tick 1 begins
// with the keyframe before its first tick.
//
// A copy has no gaps: where the source goes on behind damage with a keyframe, another copy begins.
// It ends with a close record, because nothing is missing from it. A tick without an end record is
// the one in which the server died; it is no whole tick and is left out.
#include "base/assert.h"
#include "base/text.h"
#include "log/log_file.h"
#include "log/log_read.h"
#include "net/log.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct copy {
    net_log_reader* reader;
    const net_log_copy_config* config;
    const base_reporter* reporter;
    net_log_copy_result* result;
    net_log_file* file; // made with the first record, because only then its first tick is known
    net_log_cursor cursor;
    base_bytes tick; // records of the tick in the making: u32 kind, u32 size, body
    uint64_t state_hash, world_hash;
    bool has_world_hash;
} copy;

static net_result fail(const copy* self) {
    char text[256];
    if (net_log_file_take_failure(self->file, text, sizeof text))
        base_report(self->reporter, self->config->output, 0, "%s", text);
    return NET_ERR_IO;
}

static const net_log_keyframe* find_keyframe(const copy* self, ecs_tick tick) {
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(self->reader, &count);
    for (uint32_t i = 0; i < count; i++)
        if (keyframes[i].tick == tick) return &keyframes[i];
    return NULL;
}

// One that is damaged is left out, but for the first, without which there is no log.
static net_result copy_keyframe(copy* self, ecs_tick tick, bool is_first) {
    const net_log_keyframe* keyframe = find_keyframe(self, tick);
    base_bytes* save = keyframe ? net_log_file_begin_keyframe(self->file, tick) : NULL;
    if (!save) return is_first ? NET_ERR_DAMAGED : NET_OK;
    net_result result = net_log_keyframe_read(self->reader, keyframe, save);
    if (result == NET_OK) net_log_file_end_keyframe(self->file, tick);
    return result == NET_ERR_DAMAGED && !is_first ? NET_OK : result;
}

// `start`: the tick of its first keyframe; 0: it begins with tick 1.
static net_result begin_file(copy* self, ecs_tick start) {
    const net_log_info* info = net_log_reader_info(self->reader);
    struct stat status;
    size_t size;
    const uint8_t* header = net_log_reader_header(self->reader, &size);
    if (lstat(self->config->output, &status) == 0) {
        base_report(self->reporter, self->config->output, 0, "is there already, name a new file");
        return NET_ERR_IO;
    }
    net_log_file_config config =
        net_log_file_config_default(self->config->output, info->tick_rate_hz);
    config.allocator = net_log_reader_allocator(self->reader);
    config.identity = info->identity;
    config.sync_ticks = UINT32_MAX;
    config.start_tick = start;
    config.is_manual = true;
    config.has_state = true; // perhaps; then blocks are cut where they are in the source
    net_result result = net_log_file_create(&config, header, size, self->reporter, &self->file);
    if (result == NET_ERR_DISK) result = NET_ERR_IO;
    self->result->first_tick = start + 1;
    self->result->last_tick = start;
    return result == NET_OK && start > 0 ? copy_keyframe(self, start, true) : result;
}

static net_result append(copy* self, net_log_kind kind, ecs_tick tick, const void* body,
                         size_t size) {
    net_log_draft* draft = net_log_file_begin(self->file);
    if (!draft) return fail(self);
    BASE_ASSERT(size <= draft->body.capacity);
    if (size > 0) memcpy(draft->body.data, body, size);
    draft->body.size = size;
    net_log_file_end(self->file, kind, tick);
    return NET_OK;
}

static void keep(copy* self, const net_log_record* record) {
    base_bytes_write_u32(&self->tick, (uint32_t)record->kind);
    base_bytes_write_u32(&self->tick, (uint32_t)record->body_bytes);
    base_bytes_write(&self->tick, record->body, record->body_bytes);
}

// All records of a whole tick. `end` borrows from the cursor, which keyframes do not disturb.
static net_result append_tick(copy* self, const net_log_record* end) {
    base_reader records = base_reader_make(self->tick.data, self->tick.size);
    net_result result = self->tick.failed ? NET_ERR_MEMORY : NET_OK;
    while (result == NET_OK && base_reader_left(&records) > 0) {
        const net_log_kind kind = (net_log_kind)base_reader_u32(&records);
        const uint32_t size = base_reader_u32(&records);
        const uint8_t* body = base_reader_skip(&records, size);
        if (kind == NET_LOG_KIND_END) result = copy_keyframe(self, end->tick, false);
        if (result == NET_OK) result = append(self, kind, end->tick, body, size);
    }
    base_bytes_clear(&self->tick);
    if (result != NET_OK) return result;
    net_log_file_pump(self->file, false);
    self->state_hash = end->state_hash;
    self->world_hash = end->world_hash;
    self->has_world_hash = end->has_world_hash;
    self->result->last_tick = end->tick;
    self->result->ticks++;
    return NET_OK;
}

// Is the record, with which the reader went on behind damage, the beginning of another copy?
static bool is_behind_gap(copy* self) {
    if (self->cursor.resumed == 0 || !self->file) return false;
    self->result->next_tick = self->cursor.resumed + 1;
    return true;
}

static net_result copy_records(copy* self) {
    const net_log_copy_config* config = self->config;
    const net_log_keyframe* keyframe = NULL;
    net_log_record record;
    net_result result = NET_OK;
    bool has_begin = false;
    self->cursor = config->first > 1
                       ? net_log_reader_seek(self->reader, config->first - 1, &keyframe)
                       : net_log_cursor_begin(self->reader);
    ecs_tick start = keyframe ? keyframe->tick : 0;
    while (result == NET_OK && net_log_cursor_next(self->reader, &self->cursor, &record)) {
        if (record.kind == NET_LOG_KIND_CLOSE || is_behind_gap(self)) break;
        if (record.kind == NET_LOG_KIND_OTHER || record.kind == NET_LOG_KIND_ALIVE) {
            self->result->records_left_out += record.kind == NET_LOG_KIND_OTHER;
            continue;
        }
        if (config->last > 0 && record.tick > config->last) break;
        if (self->cursor.resumed > 0) start = self->cursor.resumed;
        if (!self->file) result = begin_file(self, start);
        if (result != NET_OK) break;
        if (record.kind == NET_LOG_KIND_STATE) {
            result = append(self, NET_LOG_KIND_STATE, record.tick, record.body, record.body_bytes);
            continue;
        }
        keep(self, &record);
        has_begin = has_begin || record.kind == NET_LOG_KIND_BEGIN;
        if (record.kind != NET_LOG_KIND_END) continue;
        has_begin = false;
        result = append_tick(self, &record);
    }
    if (has_begin && result == NET_OK) self->result->unfinished_tick = self->result->last_tick + 1;
    return result;
}

static net_result append_close(copy* self) {
    uint8_t memory[64];
    proto_pb_writer body = {.data = memory, .capacity = sizeof memory};
    proto_pb_write_number(&body, 1, self->result->last_tick);
    proto_pb_write_fixed64(&body, 2, self->state_hash);
    if (self->has_world_hash) {
        proto_pb_write_fixed64(&body, 3, self->world_hash);
        proto_pb_write_number(&body, 4, 1);
    }
    BASE_ASSERT(!body.failed);
    return append(self, NET_LOG_KIND_CLOSE, self->result->last_tick, memory, body.size);
}

static net_result end_file(copy* self) {
    net_result result = append_close(self);
    if (result == NET_OK && net_log_file_finish(self->file) != NET_OK) result = fail(self);
    return result;
}

// A file that is not whole would only be in the way.
static void remove_file(const copy* self) {
    char queue[4096];
    (void)!unlink(self->config->output);
    if (base_text_format(queue, sizeof queue, "%s.queue", self->config->output))
        (void)!unlink(queue);
}

net_result net_log_copy(net_log_reader* reader, const net_log_copy_config* config,
                        const base_reporter* reporter, net_log_copy_result* result_out) {
    BASE_ASSERT(reader && config && config->output && result_out);
    copy self = {.reader = reader, .config = config, .reporter = reporter, .result = result_out};
    *result_out = (net_log_copy_result){0};
    base_bytes_init(&self.tick, net_log_reader_allocator(reader));
    net_result result = copy_records(&self);
    if (result == NET_OK && result_out->ticks == 0) {
        base_report(reporter, net_log_reader_file(reader), 0, "there is no whole tick to copy");
        result = NET_ERR_DAMAGED;
    }
    if (result == NET_OK) result = end_file(&self);
    if (self.file) (void)!net_log_file_destroy(self.file);
    if (self.file && result != NET_OK) remove_file(&self);
    base_bytes_deinit(&self.tick);
    return result;
}
