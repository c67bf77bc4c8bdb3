// SPDX-License-Identifier: MIT
// A file that grows. Its reader goes on through new blocks as they come. Where it ends, the lock
// says why: while the server has it, more will come. When it is free, the segment was closed and
// the log goes on in a new file of the same name, or the server is dead: the log is opened again,
// with what the queue saved, and the walk goes on after the last record that was given.
#include "log/log_feed.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>

// Open it as it is now: live when a server has its lock.
static net_result open_reader(net_log_file_feed* self, const base_reporter* reporter,
                              net_log_reader** out, bool* is_live) {
    net_result result = net_log_reader_create(&self->owner.allocator, self->file, reporter, out);
    if (!*out) return result;
    *is_live = !net_log_reader_lock(*out);
    if (!*is_live) {
        net_log_reader_unlock(*out);
        return NET_OK;
    }
    net_log_reader_destroy(*out);
    result =
        net_log_reader_create_to(&self->owner.allocator, self->file, NET_LOG_LIVE, reporter, out);
    return *out ? NET_OK : result;
}

static net_log_feed_state next(void* context, net_log_record* record);

net_result net_log_file_feed_create(const base_allocator* allocator, const char* file,
                                    const base_reporter* reporter, net_log_file_feed** out) {
    BASE_ASSERT(file && out);
    net_log_file_feed* self = base_owner_create(allocator, sizeof *self);
    if (reporter) self->reporter = *reporter;
    base_bytes_init(&self->header, &self->owner.allocator);
    net_result result = NET_ERR_IO;
    if (base_text_copy(self->file, sizeof self->file, file))
        result = open_reader(self, reporter, &self->reader, &self->is_live);
    else
        base_report(reporter, NULL, 0, "the name of the log is too long");
    if (result == NET_OK) {
        const base_bytes* header = &self->reader->header;
        base_bytes_write(&self->header, header->data, header->size);
        net_log_file_feed_begin(self, 0);
        self->feed = (net_log_feed){.context = self,
                                    .header = self->header.data,
                                    .header_bytes = header->size,
                                    .next = next};
    }
    if (result != NET_OK) {
        net_log_file_feed_destroy(self);
        return result;
    }
    *out = self;
    return NET_OK;
}

void net_log_file_feed_destroy(net_log_file_feed* self) {
    if (!self) return;
    net_log_reader_destroy(self->reader);
    base_owner_destroy(self);
}

void net_log_file_feed_begin(net_log_file_feed* self, ecs_tick tick) {
    BASE_ASSERT(self->order.tick == 0);
    const net_log_keyframe* keyframe = NULL;
    self->cursor = tick > 0 ? net_log_reader_seek(self->reader, tick, &keyframe)
                            : net_log_cursor_begin(self->reader);
    BASE_ASSERT(tick == 0 || (keyframe && keyframe->tick == tick));
    self->order.tick = self->order.last_end = tick;
}

// ---- the walk

static net_log_feed_state fail_feed(const net_log_file_feed* self, const char* text) {
    base_report(&self->reporter, self->file, 0, "behind tick %" PRIu64 ": %s", self->order.last_end,
                text);
    return NET_LOG_FEED_FAILED;
}

// The log is opened again, and the walk is after the last whole tick that was given.
// @return false: it is another log now, or is not there.
static bool open_again(net_log_file_feed* self) {
    net_log_reader* reader = NULL;
    bool is_live = false;
    (void)!open_reader(self, NULL, &reader, &is_live);
    if (!reader) return false;
    const net_log_info* info = net_log_reader_info(reader);
    if (info->identity != net_log_reader_info(self->reader)->identity) {
        net_log_reader_destroy(reader);
        return false;
    }
    const net_log_keyframe* keyframe;
    net_log_reader_destroy(self->reader);
    self->reader = reader;
    self->is_live = is_live;
    self->cursor = net_log_reader_seek(reader, self->order.last_end, &keyframe);
    self->skip = self->taken;
    return true;
}

// Was it given before the log was opened again?
static bool is_old(net_log_file_feed* self, const net_log_record* record) {
    if (record->kind == NET_LOG_KIND_CLOSE) return false;
    if (record->tick <= self->order.last_end) return true;
    if (self->skip == 0) return false;
    self->skip--;
    return true;
}

// The next record that a run needs.
static bool next_record(net_log_file_feed* self, net_log_record* record) {
    while (net_log_cursor_next(self->reader, &self->cursor, record)) {
        if (self->cursor.resumed > self->order.last_end) return true;
        if (net_log_kinds[record->kind].is_streamed && !is_old(self, record)) return true;
    }
    return false;
}

static net_log_feed_state next(void* context, net_log_record* record) {
    net_log_file_feed* self = context;
    bool is_there = next_record(self, record);
    if (!is_there && !self->order.is_closed && self->is_live) {
        net_log_reader_follow(self->reader);
        is_there = next_record(self, record);
        // Only now: what was written before the lock was freed is read.
        if (!is_there && !self->cursor.has_failed && net_log_reader_lock(self->reader)) {
            net_log_reader_unlock(self->reader);
            const bool is_open = open_again(self);
            if (!is_open) self->is_live = false;
            is_there = is_open && next_record(self, record);
        }
    }
    if (self->cursor.has_failed) return fail_feed(self, "the log changed while it was read");
    if (!is_there)
        return self->is_live && !self->order.is_closed ? NET_LOG_FEED_NOTHING : NET_LOG_FEED_END;
    if (self->cursor.resumed > self->order.last_end)
        return fail_feed(self,
                         "ticks are missing in the log: start again, at a keyframe after them");
    if (!net_log_order_add(&self->order, record))
        return fail_feed(self, "the log has a record that cannot stand there");
    self->taken = record->kind == NET_LOG_KIND_END ? 0 : self->taken + 1;
    return NET_LOG_FEED_RECORD;
}
