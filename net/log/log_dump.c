// SPDX-License-Identifier: MIT
// A log as lines of JSON, for people and for tools. It reads the records and replays nothing.
#include "base/assert.h"
#include "log/log_json.h"
#include "log/log_read.h"

#include <inttypes.h>

typedef struct dump {
    net_log_reader* reader;
    ecs_line_fn line;
    void* context;
    net_log_json json;
} dump;

static void put_items(dump* self, const net_log_record* record, net_log_item_kind kind,
                      const char* name) {
    if (record->item_count[kind] == 0) return;
    net_log_json_put(&self->json, ",\"%s\":[", name);
    size_t offset = 0;
    net_log_item item;
    for (bool is_first = true; net_log_item_next(record, kind, &offset, &item); is_first = false) {
        if (!is_first) net_log_json_put(&self->json, ",");
        net_log_json_item(&self->json, &item);
    }
    net_log_json_put(&self->json, "]");
}

static void put_hashes(dump* self, const net_log_record* record) {
    net_log_json_put(&self->json, ",\"state_hash\":\"%016" PRIx64 "\"", record->state_hash);
    if (record->has_world_hash)
        net_log_json_put(&self->json, ",\"world_hash\":\"%016" PRIx64 "\"", record->world_hash);
}

static void put_control(dump* self, const net_log_record* record) {
    net_log_json_put(&self->json, ",\"verb\":\"%s\",\"arguments\":[", record->verb);
    size_t offset = 0;
    net_log_argument argument;
    for (bool is_first = true; net_log_argument_next(record, &offset, &argument);
         is_first = false) {
        if (!is_first) net_log_json_put(&self->json, ",");
        net_log_json_hex(&self->json, argument.data, (uint32_t)argument.size);
    }
    net_log_json_put(&self->json, "]");
}

// Records of kinds that this version does not know: one line for all that stand together.
static bool put_others(dump* self, uint64_t* count, uint64_t* bytes) {
    net_log_json_put(&self->json, "{\"other\":{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}",
                     *count, *bytes);
    *count = *bytes = 0;
    return net_log_json_end(&self->json, self->line, self->context);
}

static void put_record(dump* self, const net_log_record* record) {
    static const char* const names[] = {"other", "begin",   "end",  "close",
                                        "state", "control", "alive"};
    net_log_json_put(&self->json, "{\"%s\":{\"tick\":%" PRIu64, names[record->kind], record->tick);
    if (record->kind == NET_LOG_KIND_BEGIN) {
        put_items(self, record, NET_LOG_ITEM_LEAVE, "leaves");
        put_items(self, record, NET_LOG_ITEM_JOIN, "joins");
        put_items(self, record, NET_LOG_ITEM_EVENT, "events");
        put_items(self, record, NET_LOG_ITEM_INPUT, "inputs");
    } else if (record->kind == NET_LOG_KIND_END) {
        put_hashes(self, record);
        put_items(self, record, NET_LOG_ITEM_SERVER_EVENT, "events");
        if (record->events_left_out > 0)
            net_log_json_put(&self->json, ",\"events_left_out\":%u", record->events_left_out);
    } else if (record->kind == NET_LOG_KIND_CLOSE) {
        put_hashes(self, record);
    } else if (record->kind == NET_LOG_KIND_CONTROL) {
        put_control(self, record);
    } else if (record->kind == NET_LOG_KIND_ALIVE) {
        net_log_json_put(&self->json, ",\"reason\":%u", record->reason);
    } else {
        net_log_json_put(&self->json, ",\"bytes\":%u", record->changes_bytes);
    }
    net_log_json_put(&self->json, "}}");
}

static void put_header(dump* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    net_log_json_put(&self->json, "{\"header\":{\"game\":");
    net_log_json_text(&self->json, info->game);
    net_log_json_put(&self->json, ",\"build\":");
    net_log_json_text(&self->json, info->build);
    net_log_json_put(&self->json,
                     ",\"identity\":\"%016" PRIx64 "\",\"content_hash\":\"%016" PRIx64
                     "\",\"schema_hash\":\"%016" PRIx64 "\"",
                     info->identity, info->content_hash, info->schema_hash);
    net_log_json_put(&self->json,
                     ",\"seed\":%" PRIu64 ",\"tick_rate_hz\":%u,\"replicated_index_max\":%u",
                     info->seed, info->tick_rate_hz, info->replicated_index_max);
    net_log_json_put(&self->json, ",\"started_unix_ms\":%" PRIu64 ",\"settings\":[",
                     info->started_unix_ms);
    for (uint32_t i = 0; i < info->setting_count; i++) {
        if (i > 0) net_log_json_put(&self->json, ",");
        net_log_json_text(&self->json, info->settings[i]);
    }
    net_log_json_put(&self->json, "]}}");
}

static net_result walk_records(dump* self) {
    put_header(self);
    if (!net_log_json_end(&self->json, self->line, self->context)) return NET_ERR_MEMORY;
    net_log_cursor cursor = net_log_cursor_begin(self->reader);
    net_log_record record;
    uint64_t others = 0, other_bytes = 0;
    while (net_log_cursor_next(self->reader, &cursor, &record)) {
        if (record.kind == NET_LOG_KIND_OTHER) {
            others++;
            other_bytes += record.size;
            continue;
        }
        if (others > 0 && !put_others(self, &others, &other_bytes)) return NET_ERR_MEMORY;
        put_record(self, &record);
        if (!net_log_json_end(&self->json, self->line, self->context)) return NET_ERR_MEMORY;
    }
    if (others > 0 && !put_others(self, &others, &other_bytes)) return NET_ERR_MEMORY;
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

net_result net_log_dump(net_log_reader* reader, const net_module* module, ecs_line_fn line,
                        void* context) {
    BASE_ASSERT(reader && line);
    dump self = {.reader = reader, .line = line, .context = context};
    net_result result = NET_ERR_MEMORY;
    if (net_log_json_init(&self.json, net_log_reader_allocator(reader), module))
        result = walk_records(&self);
    net_log_json_deinit(&self.json);
    return result;
}
