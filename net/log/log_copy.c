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
#include "base/hash.h"
#include "base/text.h"
#include "log/log_file.h"
#include "log/log_read.h"
#include "net/log_tools.h"

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
    const net_log_secret_key* sign_key;
    uint64_t features;    // that the header demands besides
    net_log_place* place; // the log goes on behind it; NULL: it is closed
} copy;

static net_result fail_copy(const copy* self) {
    char text[256];
    if (net_log_take_failure(self->file, text, sizeof text))
        base_report(self->reporter, self->config->output, 0, "%s", text);
    return NET_ERR_IO;
}

static const net_log_keyframe* newest_keyframe(const net_log_reader* reader, ecs_tick tick) {
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(reader, &count);
    while (count > 0 && keyframes[count - 1].tick > tick)
        count--;
    return count > 0 ? &keyframes[count - 1] : NULL;
}

// One that is damaged is left out, but for the first, without which there is no log.
static net_result copy_keyframe(copy* self, const net_log_keyframe* keyframe, bool is_first) {
    const ecs_tick tick = keyframe->tick;
    base_bytes* save = net_log_file_begin_keyframe(self->file, tick);
    if (!save) return is_first ? NET_ERR_DAMAGED : NET_OK;
    net_result result = net_log_keyframe_read(self->reader, keyframe, save);
    if (result == NET_OK) net_log_file_end_keyframe(self->file, tick);
    return result == NET_ERR_DAMAGED && !is_first ? NET_OK : result;
}

// `start`: the tick of its first keyframe; 0: it begins with tick 1.
static net_result create_file(copy* self, ecs_tick start) {
    const net_log_info* info = net_log_reader_info(self->reader);
    struct stat status;
    const base_bytes* source = &self->reader->header;
    if (lstat(self->config->output, &status) == 0)
        return BASE_REPORT_AS(NET_ERR_IO, self->reporter, self->config->output, 0,
                              "is there already, name a new file");
    net_log_file_config config =
        net_log_file_config_default(self->config->output, info->tick_rate_hz);
    config.allocator = self->reader->allocator;
    config.identity = info->identity;
    config.sync_ticks = UINT32_MAX;
    config.start_tick = start;
    config.options.is_manual = true;
    if (self->config->ops) config.options.ops = *self->config->ops;
    config.options.sign_key = self->sign_key;
    config.has_state = true; // perhaps; then blocks are cut where they are in the source
    base_bytes header;
    base_bytes_init(&header, config.allocator);
    base_bytes_write(&header, source->data, source->size);
    if (self->features != 0) net_log_header_demand(&header, self->features);
    net_result result =
        net_log_file_create(&config, header.data, header.size, self->reporter, &self->file);
    base_bytes_deinit(&header);
    if (result == NET_ERR_DISK) result = NET_ERR_IO;
    self->result->first_tick = start + 1;
    self->result->last_tick = start;
    return result;
}

static net_result append(copy* self, net_log_kind kind, ecs_tick tick, const void* body,
                         size_t size) {
    net_log_draft* draft = net_log_file_begin(self->file);
    if (!draft) return fail_copy(self);
    BASE_ASSERT(size <= draft->body.capacity);
    if (size > 0) memcpy(draft->body.data, body, size);
    draft->body.size = size;
    net_log_file_end(self->file, kind, tick);
    return NET_OK;
}

// All records of a whole tick. `end` borrows from the cursor, which keyframes do not disturb.
static net_result append_tick(copy* self, const net_log_record* end) {
    base_reader records = base_reader_make(self->tick.data, self->tick.size);
    const net_log_keyframe* keyframe = newest_keyframe(self->reader, end->tick);
    net_result result = NET_OK;
    while (result == NET_OK && base_reader_left(&records) > 0) {
        const net_log_kind kind = (net_log_kind)base_reader_u32(&records);
        const uint32_t size = base_reader_u32(&records);
        const uint8_t* body = base_reader_skip(&records, size);
        if (kind == NET_LOG_KIND_END && keyframe && keyframe->tick == end->tick)
            result = copy_keyframe(self, keyframe, false);
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

// Begin to read at the newest whole keyframe at or before `tick`; *start is that one.
static net_result seek(copy* self, ecs_tick tick, net_log_keyframe* start) {
    net_result result;
    do {
        const net_log_keyframe* keyframe = NULL;
        base_bytes save;
        self->cursor = net_log_reader_seek(self->reader, tick, &keyframe);
        *start = keyframe ? *keyframe : (net_log_keyframe){0};
        if (!keyframe) return NET_OK;
        base_bytes_init(&save, self->reader->allocator);
        result = net_log_keyframe_read(self->reader, keyframe, &save);
        base_bytes_deinit(&save);
        tick = keyframe->tick - 1;
    } while (result == NET_ERR_DAMAGED);
    return result;
}

static net_result copy_records(copy* self) {
    const net_log_copy_config* config = self->config;
    const ecs_tick before = self->file          ? self->result->last_tick
                            : config->first > 0 ? config->first - 1
                                                : 0;
    net_log_keyframe start;
    net_log_record record;
    net_result result = seek(self, before, &start);
    bool has_begin = false, is_behind = false;
    while (result == NET_OK && net_log_cursor_next(self->reader, &self->cursor, &record)) {
        if (self->cursor.resumed > 0) { // behind damage: this copy begins, or another one
            start = (net_log_keyframe){self->cursor.resumed, self->cursor.resumed_at};
            is_behind = self->file != NULL;
            has_begin = false;
        }
        if (record.kind == NET_LOG_KIND_CLOSE || record.kind == NET_LOG_KIND_OTHER) continue;
        const bool is_alive = record.kind == NET_LOG_KIND_ALIVE;
        if (config->last > 0 && record.tick > config->last && !is_alive) break;
        if (is_behind && record.kind == NET_LOG_KIND_END) self->result->next_tick = start.tick + 1;
        if (self->result->next_tick > 0) break;
        if (is_behind) continue;
        if (!self->file) {
            result = create_file(self, start.tick);
            if (result == NET_OK && start.tick > 0) result = copy_keyframe(self, &start, true);
        }
        if (result != NET_OK) break;
        if (record.kind == NET_LOG_KIND_STATE || (is_alive && self->tick.size == 0)) {
            result = append(self, record.kind, record.tick, record.body, record.body_bytes);
            continue;
        }
        base_bytes_write_u32(&self->tick, (uint32_t)record.kind);
        base_bytes_write_u32(&self->tick, (uint32_t)record.body_bytes);
        base_bytes_write(&self->tick, record.body, record.body_bytes);
        has_begin = has_begin || record.kind == NET_LOG_KIND_BEGIN;
        if (record.kind != NET_LOG_KIND_END) continue;
        has_begin = false;
        result = append_tick(self, &record);
    }
    if (has_begin && result == NET_OK) self->result->unfinished_tick = self->result->last_tick + 1;
    return result;
}

static net_result append_close(copy* self) {
    net_log_draft* draft = net_log_file_begin(self->file);
    if (!draft) return fail_copy(self);
    proto_pb_write_number(&draft->body, 1, self->result->last_tick);
    proto_pb_write_fixed64(&draft->body, 2, self->state_hash);
    if (self->has_world_hash) proto_pb_write_fixed64(&draft->body, 3, self->world_hash);
    proto_pb_write_number(&draft->body, 4, self->has_world_hash);
    net_log_file_end(self->file, NET_LOG_KIND_CLOSE, self->result->last_tick);
    return NET_OK;
}

static net_result end_file(copy* self) {
    net_result result = self->place ? NET_OK : append_close(self);
    if (result == NET_OK && net_log_file_finish(self->file) != NET_OK) result = fail_copy(self);
    self->result->bytes = net_log_file_bytes(self->file);
    if (result != NET_OK || !self->place) return result;
    net_log_file* file = self->file;
    file->has_close = true; // as good as that: nothing is missing, and so there is no queue
    *self->place = (net_log_place){.segment = self->result->first_tick == 1 ? 1 : 2,
                                   .ordinal = file->next_ordinal,
                                   .number = file->next_number};
    memcpy(self->place->total, file->index.chain.total, sizeof self->place->total);
    return NET_OK;
}

// ---- whole blocks ----

// What stands in front of a keyframe is copied as it is: to code an hour again takes seconds.

// @return NET_ERR_DAMAGED: it is not whole, or not the next one.
static net_result copy_block(copy* self, uint64_t at, const net_log_block* block,
                             bool is_keyframe) {
    net_log_reader* reader = self->reader;
    net_log_file* file = self->file;
    uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
    const bool is_data = block->type == NET_LOG_BLOCK_DATA;
    if (!net_log_set_read(&reader->set, at, header, sizeof header) ||
        !net_log_set_read(&reader->set, at + sizeof header, reader->stored, block->stored_bytes) ||
        base_crc32c(0, reader->stored, block->stored_bytes) != block->stored_crc ||
        block->identity != reader->info.identity || block->ordinal != file->next_ordinal ||
        (is_data && block->first_record != file->next_record))
        return NET_ERR_DAMAGED;
    const uint64_t offset = net_log_file_bytes(file);
    if (!net_log_file_append(file, header, sizeof header) ||
        !net_log_file_append(file, reader->stored, block->stored_bytes))
        return fail_copy(self);
    if (block->type != NET_LOG_BLOCK_INDEX)
        net_log_chain_add(&file->index.chain, header, sizeof header, reader->stored,
                          block->stored_bytes);
    if (is_data) file->index.last_data = offset;
    if (is_data) file->next_record += block->record_count;
    if (is_keyframe) net_log_index_add(&file->index, block->first_tick, offset);
    file->next_ordinal++;
    file->index.block_count++;
    return NET_OK;
}

// All blocks up to a keyframe and with it. Headers of later segments are left out.
static net_result copy_blocks(copy* self, const net_log_keyframe* last) {
    net_log_reader* reader = self->reader;
    const net_log_keyframe* next = reader->keyframes;
    net_result result = create_file(self, reader->is_part ? next->tick : 0);
    net_log_block block;
    bool is_first = true;
    uint64_t at = 0;
    while (result == NET_OK && (at <= last->offset || at < reader->set.bytes)) {
        if (net_log_is_prologue(reader, at)) at += NET_LOG_PROLOGUE_BYTES;
        if (!net_log_read_block(reader, at, &block)) return NET_ERR_DAMAGED;
        const bool is_its = block.type == NET_LOG_BLOCK_KEYFRAME && block.first_tick == last->tick;
        if (at > last->offset && !is_its) break;
        if (is_first && reader->is_part && block.type != NET_LOG_BLOCK_HEADER) {
            self->file->next_ordinal = block.ordinal; // those of a part go on
            self->file->next_record = block.first_record;
        }
        is_first = is_first && block.type == NET_LOG_BLOCK_HEADER;
        const bool is_keyframe = next <= last && at == next->offset;
        if (block.type != NET_LOG_BLOCK_HEADER) result = copy_block(self, at, &block, is_keyframe);
        next += is_keyframe;
        at = net_log_block_end(at, &block);
    }
    if (result != NET_OK) return result;
    self->file->next_number = self->file->next_record;
    self->result->last_tick = last->tick;
    self->result->ticks = last->tick + 1 - self->result->first_tick;
    return NET_OK;
}

static net_result make_copy(copy* self, const net_log_keyframe* whole_to) {
    *self->result = (net_log_copy_result){0};
    base_bytes_init(&self->tick, self->reader->allocator);
    net_result result = whole_to ? copy_blocks(self, whole_to) : NET_OK;
    if (result == NET_OK) result = copy_records(self);
    const bool is_damaged = result == NET_ERR_DAMAGED && self->result->ticks == 0;
    if (is_damaged || (result == NET_OK && self->result->ticks == 0)) {
        base_report(self->reporter, self->reader->file, 0, "there is no whole tick to copy");
        result = NET_ERR_DAMAGED;
    }
    if (result == NET_OK) result = end_file(self);
    if (self->file) (void)!net_log_file_destroy(self->file);
    if (self->file && result != NET_OK) {
        // A file that is not whole would only be in the way.
        char queue[4096];
        (void)!unlink(self->config->output);
        if (base_text_format(queue, sizeof queue, "%s.queue", self->config->output))
            (void)!unlink(queue);
    }
    base_bytes_deinit(&self->tick);
    self->file = NULL;
    return result;
}

net_result net_log_copy(net_log_reader* reader, const net_log_copy_config* config,
                        const base_reporter* reporter, net_log_copy_result* result) {
    BASE_ASSERT(reader && config && config->output && result);
    copy self = {.reader = reader, .config = config, .reporter = reporter, .result = result};
    return make_copy(&self, NULL);
}

// Behind damage another copy begins, up to the one that has the last tick.
net_result net_log_copy_segment(net_log_reader* reader, const char* output, ecs_tick last,
                                uint64_t features, const net_log_secret_key* sign_key,
                                const base_reporter* reporter, net_log_place* place) {
    BASE_ASSERT(reader && output && last > 0 && place);
    net_log_copy_config config = {.output = output, .last = last};
    net_log_copy_result copied = {0};
    copy self = {.reader = reader,
                 .config = &config,
                 .reporter = reporter,
                 .result = &copied,
                 .sign_key = sign_key,
                 .features = features,
                 .place = place};
    const net_log_keyframe* whole_to = newest_keyframe(reader, last);
    net_result result = NET_ERR_DAMAGED;
    (void)unlink(output); // what a crash left
    if (whole_to) result = make_copy(&self, whole_to);
    bool is_behind = result == NET_ERR_DAMAGED;
    while (is_behind) {
        config.first = copied.next_tick;
        (void)unlink(output); // the part in front of damage
        result = make_copy(&self, NULL);
        is_behind = result == NET_OK && copied.last_tick < last && copied.next_tick > 0;
    }
    if (result == NET_OK && copied.last_tick < last) result = NET_ERR_DAMAGED;
    return result;
}

const uint8_t* net_log_reader_pack(const net_log_reader* reader, size_t* bytes) {
    return net_log_header_templates(reader->header.data, reader->header.size, bytes);
}
