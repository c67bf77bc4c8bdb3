// SPDX-License-Identifier: MIT
// A log as lines of JSON, for people and for tools. It reads the records and replays nothing.
#include "base/assert.h"
#include "log/log_changes.h"
#include "log/log_header.h"
#include "log/log_json.h"
#include "log/log_read.h"

#include <inttypes.h>

enum { NAME_SLOTS = 1024 };
#define SEARCH_BYTES_MAX (UINT64_C(1) << 30) // about a second

// A name as the header has it, kept by id % NAME_SLOTS.
typedef struct name_slot {
    uint32_t id;
    bool is_filled;
    bool is_known;
    char name[ECS_NAME_BYTES_MAX];
} name_slot;

typedef struct dump {
    net_log_reader* reader;
    ecs_line_fn line;
    void* context;
    net_log_json json;
    const uint8_t* header;
    size_t header_bytes;
    name_slot* names;           // NAME_SLOTS components, then NAME_SLOTS templates
    uint64_t search_bytes_left; // of the header, walked for names
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

// Name of a component (0) or template (1), NULL when the header has none. A search walks all of the
// header, so names are kept. A log that names very many still gets numbers in the
// end.
static const char* find_name(dump* self, uint32_t kind, uint32_t id) {
    name_slot* slot = &self->names[kind * NAME_SLOTS + id % NAME_SLOTS];
    if (slot->is_filled && slot->id == id) return slot->is_known ? slot->name : NULL;
    if (self->search_bytes_left < self->header_bytes) return NULL;
    self->search_bytes_left -= self->header_bytes;
    slot->id = id;
    slot->is_filled = true;
    slot->is_known =
        kind == 0 ? net_log_header_component(self->header, self->header_bytes, id, slot->name)
                  : net_log_header_template(self->header, self->header_bytes, id, slot->name);
    return slot->is_known ? slot->name : NULL;
}

static void put_parts(dump* self, const net_log_change* change) {
    net_log_json_put(&self->json, ",\"template\":\"");
    for (uint32_t i = 0; i < change->part_count; i++) {
        const char* name = find_name(self, 1, change->parts[i]);
        if (i > 0) net_log_json_put(&self->json, "+");
        if (name)
            net_log_json_escaped(&self->json, name);
        else
            net_log_json_put(&self->json, "%u", change->parts[i]);
    }
    net_log_json_put(&self->json, "\"");
}

static void put_component(dump* self, uint32_t component) {
    const char* name = find_name(self, 0, component);
    net_log_json_put(&self->json, ",\"component\":");
    if (name)
        net_log_json_text(&self->json, name);
    else
        net_log_json_put(&self->json, "\"%u\"", component);
}

static void put_changes(dump* self, const net_log_record* record) {
    static const char* const names[] = {"created", "destroyed", "recreated", "changed", "sum"};
    net_log_changes_walk walk = net_log_changes_begin(record->changes, record->changes_bytes);
    net_log_change change;
    net_log_json_put(&self->json, ",\"changes\":[");
    for (bool is_first = true; net_log_changes_next(&walk, &change); is_first = false) {
        net_log_json_put(&self->json, "%s{\"kind\":\"%s\"", is_first ? "" : ",",
                         names[change.kind]);
        if (change.kind != NET_LOG_CHANGE_SUM) {
            net_log_json_put(&self->json, ",\"entity\":");
            net_log_json_entity(&self->json, change.entity);
        }
        if (change.part_count > 0) put_parts(self, &change);
        if (change.component != 0) put_component(self, change.component);
        if (change.kind == NET_LOG_CHANGE_COMPONENT)
            net_log_json_put(&self->json, ",\"hash\":%" PRIu64, change.value);
        if (change.kind == NET_LOG_CHANGE_SUM)
            net_log_json_put(&self->json, ",\"sum\":\"%016" PRIx64 "\"", change.value);
        net_log_json_put(&self->json, "}");
    }
    net_log_json_put(&self->json, "]");
}

static void put_hashes(dump* self, const net_log_record* record) {
    net_log_json_put(&self->json, ",\"state_hash\":\"%016" PRIx64 "\"", record->state_hash);
    if (record->has_world_hash)
        net_log_json_put(&self->json, ",\"world_hash\":\"%016" PRIx64 "\"", record->world_hash);
}

// Records of kinds that this version does not know: one line for all that stand together.
static bool put_others(dump* self, uint64_t* count, uint64_t* bytes) {
    net_log_json_put(&self->json, "{\"other\":{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}",
                     *count, *bytes);
    *count = *bytes = 0;
    return net_log_json_end(&self->json, self->line, self->context);
}

static void put_record(dump* self, const net_log_record* record) {
    static const char* const names[] = {"other", "begin", "end", "close"};
    net_log_json_put(&self->json, "{\"%s\":{\"tick\":%" PRIu64, names[record->kind], record->tick);
    if (record->kind == NET_LOG_KIND_BEGIN) {
        put_items(self, record, NET_LOG_ITEM_LEAVE, "leaves");
        put_items(self, record, NET_LOG_ITEM_JOIN, "joins");
        put_items(self, record, NET_LOG_ITEM_EVENT, "events");
        put_items(self, record, NET_LOG_ITEM_INPUT, "inputs");
    } else if (record->kind == NET_LOG_KIND_END) {
        put_hashes(self, record);
        put_changes(self, record);
        put_items(self, record, NET_LOG_ITEM_SERVER_EVENT, "events");
        if (record->events_left_out > 0)
            net_log_json_put(&self->json, ",\"events_left_out\":%u", record->events_left_out);
    } else if (record->kind == NET_LOG_KIND_CLOSE) {
        put_hashes(self, record);
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
    const base_allocator* allocator = net_log_reader_allocator(reader);
    dump self = {
        .reader = reader, .line = line, .context = context, .search_bytes_left = SEARCH_BYTES_MAX};
    self.header = net_log_reader_header(reader, &self.header_bytes);
    const size_t names_bytes = 2 * NAME_SLOTS * sizeof *self.names;
    self.names = base_allocate_zero(allocator, names_bytes);
    net_result result = NET_ERR_MEMORY;
    if (net_log_json_init(&self.json, allocator, module) && self.names)
        result = walk_records(&self);
    net_log_json_deinit(&self.json);
    base_release(allocator, self.names, names_bytes);
    return result;
}
