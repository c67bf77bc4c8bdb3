// SPDX-License-Identifier: MIT
// A log as lines of JSON, for people and for tools. It reads the records and replays nothing. With
// the game's module messages are decoded, without it they are hex.
//
// 64-bit hashes are text: JSON numbers have 53 bits.
#include "base/text.h"

#include "base/assert.h"
#include "log/log_changes.h"
#include "log/log_header.h"
#include "log/log_read.h"
#include "proto/codec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_JSON_BYTES = 65536, NAME_SLOTS = 1024 };
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
    const net_module* module; // may be NULL
    ecs_line_fn line;
    void* context;
    proto_codec codec;
    base_bytes text; // the line
    char* json;      // of one message, MESSAGE_JSON_BYTES
    const uint8_t* header;
    size_t header_bytes;
    name_slot* names;           // NAME_SLOTS components, then NAME_SLOTS templates
    uint64_t search_bytes_left; // of the header, walked for names
} dump;

// End the line.
static bool emit(dump* self) {
    base_bytes_write_u8(&self->text, 0);
    if (self->text.failed) return false;
    self->line(self->context, (const char*)self->text.data);
    base_bytes_clear(&self->text);
    return true;
}

static void put(dump* self, const char* format, ...) BASE_PRINTF(2, 3);

static void put(dump* self, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0) base_bytes_write(&self->text, text, strlen(text));
}

// Bytes of the UTF-8 sequence at `text`; 0 when it is none.
static size_t utf8_bytes(const uint8_t* text) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = text[0] < 0x80 ? 1 : text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
    if (size == 1) return 1;
    if (text[0] < 0xC0 || text[0] > 0xF7) return 0;
    uint32_t value = text[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (text[i] & 0x3F);
    }
    bool is_surrogate = value >= 0xD800 && value < 0xE000;
    return value >= smallest[size] && value <= 0x10FFFF && !is_surrogate ? size : 0;
}

// A name may hold anything but NUL.
static void put_escaped(dump* self, const char* text) {
    for (const uint8_t* at = (const uint8_t*)text; *at;) {
        size_t size = utf8_bytes(at);
        if (size == 0)
            put(self, "\\ufffd");
        else if (*at < 32 || *at == 127)
            put(self, "\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            put(self, "\\%c", *at);
        else
            base_bytes_write(&self->text, at, size);
        at += size > 0 ? size : 1;
    }
}

static void put_text(dump* self, const char* text) {
    put(self, "\"");
    put_escaped(self, text);
    put(self, "\"");
}

static void put_entity(dump* self, ecs_entity entity) {
    put(self, "\"%u:%u\"", ecs_entity_index(entity), ecs_entity_generation(entity));
}

static void put_hex(dump* self, const uint8_t* data, size_t size) {
    put(self, "\"");
    for (size_t i = 0; i < size; i++)
        put(self, "%02x", data[i]);
    put(self, "\"");
}

// Position of the message in the module's table; UINT32_MAX for none.
static uint32_t position_of(const dump* self, const net_log_item* item) {
    if (!self->module) return UINT32_MAX;
    const net_game_module* game = self->module->game;
    if (item->kind != NET_LOG_ITEM_INPUT)
        return item->message - 1 < game->message_count ? item->message - 1 : UINT32_MAX;
    for (uint32_t i = 0; i < game->message_count; i++)
        if (game->messages[i].kind == NET_MESSAGE_INPUT) return i;
    return UINT32_MAX;
}

static void put_payload(dump* self, const net_log_item* item) {
    uint32_t position = position_of(self, item);
    const net_message* message =
        position == UINT32_MAX ? NULL : &self->module->game->messages[position];
    const ProtobufCMessage* decoded =
        message ? proto_codec_decode(&self->codec, message->descriptor, item->payload,
                                     item->payload_bytes, NET_EVENT_PAYLOAD_BYTES_MAX)
                : NULL;
    if (message) {
        put(self, ",\"name\":");
        put_text(self, message->name);
    }
    if (decoded && proto_json(decoded, self->json, MESSAGE_JSON_BYTES) < MESSAGE_JSON_BYTES) {
        put(self, ",\"value\":");
        base_bytes_write(&self->text, self->json, strlen(self->json));
    } else {
        put(self, ",\"payload\":");
        put_hex(self, item->payload, item->payload_bytes);
    }
}

static void put_item(dump* self, const net_log_item* item) {
    put(self, "{");
    if (item->kind != NET_LOG_ITEM_SERVER_EVENT) put(self, "\"client\":%u", item->client);
    switch (item->kind) {
    case NET_LOG_ITEM_LEAVE:
        put(self, ",\"reason\":%u", item->reason);
        break;
    case NET_LOG_ITEM_JOIN:
        put(self, ",\"name\":");
        put_text(self, item->name);
        put(self, ",\"is_bot\":%s", item->is_bot ? "true" : "false");
        if (item->player_id != 0) put(self, ",\"player_id\":%" PRIu64, item->player_id);
        if (item->payload_bytes > 0) {
            put(self, ",\"user_data\":");
            put_hex(self, item->payload, item->payload_bytes);
        }
        break;
    case NET_LOG_ITEM_INPUT:
        put(self, ",\"number\":%u", item->number);
        if (item->seen > 0) put(self, ",\"view\":%" PRIu64, item->seen);
        if (item->is_repeat) put(self, ",\"is_repeat\":true");
        if (!item->is_repeat) put_payload(self, item);
        break;
    default:
        if (item->kind == NET_LOG_ITEM_EVENT) put(self, ",");
        put(self, "\"message\":%u,\"target\":", item->message);
        put_entity(self, item->target);
        put_payload(self, item);
    }
    put(self, "}");
}

static void put_items(dump* self, const net_log_record* record, net_log_item_kind kind,
                      const char* name) {
    if (record->item_count[kind] == 0) return;
    put(self, ",\"%s\":[", name);
    size_t offset = 0;
    net_log_item item;
    for (bool is_first = true; net_log_item_next(record, kind, &offset, &item); is_first = false) {
        if (!is_first) put(self, ",");
        put_item(self, &item);
    }
    put(self, "]");
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
    put(self, ",\"template\":\"");
    for (uint32_t i = 0; i < change->part_count; i++) {
        const char* name = find_name(self, 1, change->parts[i]);
        if (i > 0) put(self, "+");
        if (name)
            put_escaped(self, name);
        else
            put(self, "%u", change->parts[i]);
    }
    put(self, "\"");
}

static void put_component(dump* self, uint32_t component) {
    const char* name = find_name(self, 0, component);
    put(self, ",\"component\":");
    if (name)
        put_text(self, name);
    else
        put(self, "\"%u\"", component);
}

static void put_changes(dump* self, const net_log_record* record) {
    static const char* const names[] = {"created", "destroyed", "recreated", "changed", "sum"};
    net_log_changes_walk walk = net_log_changes_begin(record->changes, record->changes_bytes);
    net_log_change change;
    put(self, ",\"changes\":[");
    for (bool is_first = true; net_log_changes_next(&walk, &change); is_first = false) {
        put(self, "%s{\"kind\":\"%s\"", is_first ? "" : ",", names[change.kind]);
        if (change.kind != NET_LOG_CHANGE_SUM) {
            put(self, ",\"entity\":");
            put_entity(self, change.entity);
        }
        if (change.part_count > 0) put_parts(self, &change);
        if (change.component != 0) put_component(self, change.component);
        if (change.kind == NET_LOG_CHANGE_COMPONENT) put(self, ",\"hash\":%" PRIu64, change.value);
        if (change.kind == NET_LOG_CHANGE_SUM)
            put(self, ",\"sum\":\"%016" PRIx64 "\"", change.value);
        put(self, "}");
    }
    put(self, "]");
}

static void put_hashes(dump* self, const net_log_record* record) {
    put(self, ",\"state_hash\":\"%016" PRIx64 "\"", record->state_hash);
    if (record->has_world_hash) put(self, ",\"world_hash\":\"%016" PRIx64 "\"", record->world_hash);
}

// Records of kinds that this version does not know: one line for all that stand together.
static bool put_others(dump* self, uint64_t* count, uint64_t* bytes) {
    put(self, "{\"other\":{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}", *count, *bytes);
    *count = *bytes = 0;
    return emit(self);
}

static void put_record(dump* self, const net_log_record* record) {
    static const char* const names[] = {"other", "begin", "end", "close"};
    put(self, "{\"%s\":{\"tick\":%" PRIu64, names[record->kind], record->tick);
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
            put(self, ",\"events_left_out\":%u", record->events_left_out);
    } else if (record->kind == NET_LOG_KIND_CLOSE) {
        put_hashes(self, record);
    }
    put(self, "}}");
}

static void put_header(dump* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    put(self, "{\"header\":{\"game\":");
    put_text(self, info->game);
    put(self, ",\"build\":");
    put_text(self, info->build);
    put(self,
        ",\"identity\":\"%016" PRIx64 "\",\"content_hash\":\"%016" PRIx64
        "\",\"schema_hash\":\"%016" PRIx64 "\"",
        info->identity, info->content_hash, info->schema_hash);
    put(self, ",\"seed\":%" PRIu64 ",\"tick_rate_hz\":%u,\"replicated_index_max\":%u", info->seed,
        info->tick_rate_hz, info->replicated_index_max);
    put(self, ",\"started_unix_ms\":%" PRIu64 ",\"settings\":[", info->started_unix_ms);
    for (uint32_t i = 0; i < info->setting_count; i++) {
        if (i > 0) put(self, ",");
        put_text(self, info->settings[i]);
    }
    put(self, "]}}");
}

static net_result walk_records(dump* self) {
    put_header(self);
    if (!emit(self)) return NET_ERR_MEMORY;
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
        if (!emit(self)) return NET_ERR_MEMORY;
    }
    if (others > 0 && !put_others(self, &others, &other_bytes)) return NET_ERR_MEMORY;
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

net_result net_log_dump(net_log_reader* reader, const net_module* module, ecs_line_fn line,
                        void* context) {
    BASE_ASSERT(reader && line);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    dump self = {.reader = reader,
                 .module = module,
                 .line = line,
                 .context = context,
                 .search_bytes_left = SEARCH_BYTES_MAX};
    self.header = net_log_reader_header(reader, &self.header_bytes);
    self.json = base_allocate(allocator, MESSAGE_JSON_BYTES);
    const size_t names_bytes = 2 * NAME_SLOTS * sizeof *self.names;
    self.names = base_allocate_zero(allocator, names_bytes);
    net_result result = NET_ERR_MEMORY;
    base_bytes_init(&self.text, allocator);
    if (self.json && self.names &&
        proto_codec_init(&self.codec, allocator, PROTO_UNPACK_BYTES_MAX)) {
        result = walk_records(&self);
        proto_codec_deinit(&self.codec);
    }
    base_bytes_deinit(&self.text);
    base_release(allocator, self.names, names_bytes);
    base_release(allocator, self.json, MESSAGE_JSON_BYTES);
    return result;
}
