// SPDX-License-Identifier: MIT
// With the game's module messages are decoded, without it they are hex. 64-bit hashes are text:
// JSON numbers have 53 bits.
#include "base/assert.h"
#include "base/bitset.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "logtools/log_values.h"
#include "replay/log_state.h"
#include "net/log_tools.h"
#include "proto/codec.h"

#include <string.h>

// Lines of JSON about a log: texts, entities, messages, and the items of its records.

// A line while it is written.
typedef struct net_log_json {
    const net_module* module; ///< NULL: messages are hex
    bool has_payloads;        ///< beside the objects
    proto_codec codec;
    base_bytes text; ///< of the line so far
    ecs_line_fn line;
    void* context;
} net_log_json;

static void json_init(net_log_json* self, const base_allocator* allocator, const net_module* module,
                      ecs_line_fn line, void* context) {
    *self = (net_log_json){.module = module, .line = line, .context = context};
    base_bytes_init(&self->text, allocator);
    proto_codec_init(&self->codec, allocator, PROTO_UNPACK_BYTES_MAX);
}

static void json_deinit(net_log_json* self) {
    proto_codec_deinit(&self->codec);
    base_bytes_deinit(&self->text);
}

// Give the line away and begin the next one.
static void json_end(net_log_json* self) {
    base_bytes_write_u8(&self->text, 0);
    self->line(self->context, (const char*)self->text.data);
    base_bytes_clear(&self->text);
}

// Position of the message in the module's table; UINT32_MAX for none.
static uint32_t position_of(const net_log_json* self, const net_log_item* item) {
    if (!self->module) return UINT32_MAX;
    const net_game_module* game = self->module->game;
    if (item->kind != NET_LOG_ITEM_INPUT)
        return item->message - 1 < game->message_count ? item->message - 1 : UINT32_MAX;
    for (uint32_t i = 0; i < game->message_count; i++)
        if (game->messages[i].kind == NET_MESSAGE_INPUT) return i;
    return UINT32_MAX;
}

static const net_message* message_of(const net_log_json* self, const net_log_item* item) {
    const uint32_t position = position_of(self, item);
    return position == UINT32_MAX ? NULL : &self->module->game->messages[position];
}

// Append NAME and its OBJECT, or HEX for what cannot be decoded.
static void net_log_json_payload(net_log_json* self, const net_log_item* item) {
    const net_message* message = message_of(self, item);
    const ProtobufCMessage* decoded = NULL;
    if (message) {
        base_json_write(&self->text, "name=%s", message->name);
        decoded = proto_codec_decode(&self->codec, message->descriptor, item->payload,
                                     item->payload_bytes, NET_EVENT_PAYLOAD_BYTES_MAX);
    }
    if (decoded) {
        base_json_write(&self->text, "value=");
        proto_json(decoded, &self->text);
        if (!self->has_payloads) return;
    }
    base_json_write(&self->text, "payload=");
    base_json_hex(&self->text, item->payload, item->payload_bytes);
}

static void json_bytes(net_log_json* self, const char* name, const void* bytes, uint32_t size) {
    if (size == 0) return;
    base_json_write(&self->text, "%s=", name);
    base_json_hex(&self->text, bytes, size);
}

// Append the members of an item.
static void json_item(net_log_json* self, const net_log_item* item) {
    if (item->kind != NET_LOG_ITEM_SERVER_EVENT)
        base_json_write(&self->text, "client=%u", item->client);
    switch (item->kind) {
    case NET_LOG_ITEM_LEAVE:
        base_json_write(&self->text, "reason=%u", item->reason);
        break;
    case NET_LOG_ITEM_JOIN:
        base_json_write(&self->text, "name=%s is_bot=%i", item->name, item->is_bot);
        if (item->player_id != 0) base_json_write(&self->text, "player_id=%ju", item->player_id);
        json_bytes(self, "user_data", item->payload, item->payload_bytes);
        if (item->has_record)
            base_json_write(&self->text, "record_version=%ju", item->record_version);
        json_bytes(self, "record", item->record, item->record_bytes);
        json_bytes(self, "transfer", item->transfer, item->transfer_bytes);
        break;
    case NET_LOG_ITEM_INPUT:
        base_json_write(&self->text, "number=%u", item->number);
        if (item->seen > 0) base_json_write(&self->text, "view=%ju", item->seen);
        if (item->is_repeat) base_json_write(&self->text, "is_repeat=true");
        if (!item->is_repeat) net_log_json_payload(self, item);
        break;
    default:
        if (item->number > 0) base_json_write(&self->text, "number=%u", item->number);
        base_json_write(&self->text, "message=%u target='%u:%u'", item->message,
                        ecs_entity_index(item->target), ecs_entity_generation(item->target));
        net_log_json_payload(self, item);
    }
}

// ---- a whole log ----

// A log as lines of JSON, for people and for tools. It reads the records and replays nothing.

static void put_items(net_log_json* self, const net_log_record* record, net_log_item_kind kind,
                      const char* name) {
    if (record->item_count[kind] == 0) return;
    base_json_write(&self->text, "%s=[", name);
    size_t offset = 0;
    net_log_item item;
    while (net_log_item_next(record, kind, &offset, &item)) {
        base_json_write(&self->text, "{");
        json_item(self, &item);
        base_json_write(&self->text, "}");
    }
    base_json_write(&self->text, "]");
}

static void put_hashes(net_log_json* self, const net_log_record* record) {
    base_json_write(&self->text, "state_hash='%016jx'", record->state_hash);
    if (record->has_world_hash)
        base_json_write(&self->text, "world_hash='%016jx'", record->world_hash);
}

static void put_control(net_log_json* json, const net_log_record* record) {
    base_json_write(&json->text, "verb=%s arguments=[", record->verb);
    size_t offset = 0;
    net_match_argument argument;
    while (net_log_argument_next(record, &offset, &argument)) {
        char text[ECS_STRING_BYTES_MAX + 1];
        if (net_log_argument_text(&argument, text))
            base_json_write(&json->text, "%s", text);
        else // bytes that are no text
            base_json_hex(&json->text, argument.data, argument.size);
    }
    base_json_write(&json->text, "]");
}

// Records of kinds that this version does not know: one line for all that stand together.
static void put_others(net_log_json* self, uint64_t* count, uint64_t* bytes) {
    base_json_write(&self->text, "{other={records=%ju bytes=%ju}}", *count, *bytes);
    *count = *bytes = 0;
    json_end(self);
}

// What the tick did to entities, and the components that it changed.
static void put_touches(net_log_json* self, const net_log_state* state) {
    static const char* const fates[] = {[NET_LOG_FATE_CHANGED] = "changed",
                                        [NET_LOG_FATE_CREATED] = "created",
                                        [NET_LOG_FATE_DESTROYED] = "destroyed"};
    uint32_t count;
    const net_log_touch* touches = net_log_state_touches(state, &count);
    base_json_write(&self->text, "is_full=%i entities=[", net_log_state_is_full(state));
    for (uint32_t i = 0; i < count; i++) {
        const ecs_entity at = touches[i].entity;
        const char* template_ = net_log_state_template(state, at);
        base_json_write(&self->text, "{entity='%u:%u' fate=%s", ecs_entity_index(at),
                        ecs_entity_generation(at), fates[touches[i].fate]);
        if (template_) base_json_write(&self->text, "template=%s components=[", template_);
        for (uint64_t left = net_log_state_changed(state, at); left; left &= left - 1)
            base_json_write(
                &self->text, "%s",
                net_log_state_template_component(state, at, base_bit_lowest(left))->name);
        base_json_write(&self->text, template_ ? "]}" : "}");
    }
    base_json_write(&self->text, "]");
}

// `state`: after the record; NULL: its values are not known.
static void put_record(net_log_json* self, const net_log_record* record,
                       const net_log_state* state) {
    base_json_write(&self->text, "{%s={tick=%ju", net_log_kinds[record->kind].word, record->tick);
    if (record->kind == NET_LOG_KIND_BEGIN) {
        put_items(self, record, NET_LOG_ITEM_LEAVE, "leaves");
        put_items(self, record, NET_LOG_ITEM_JOIN, "joins");
        put_items(self, record, NET_LOG_ITEM_EVENT, "events");
        put_items(self, record, NET_LOG_ITEM_INPUT, "inputs");
    } else if (record->kind == NET_LOG_KIND_END) {
        put_hashes(self, record);
        put_items(self, record, NET_LOG_ITEM_SERVER_EVENT, "events");
        if (record->events_left_out > 0)
            base_json_write(&self->text, "events_left_out=%u", record->events_left_out);
    } else if (record->kind == NET_LOG_KIND_CLOSE) {
        put_hashes(self, record);
    } else if (record->kind == NET_LOG_KIND_CONTROL) {
        put_control(self, record);
    } else if (record->kind == NET_LOG_KIND_ALIVE) {
        base_json_write(&self->text, "reason=%u", record->reason);
    } else {
        base_json_write(&self->text, "bytes=%u", record->changes_bytes);
        if (state && net_log_state_is_last(record) && net_log_state_is_whole(state))
            put_touches(self, state);
    }
    base_json_write(&self->text, "}}");
}

static void put_header(net_log_json* json, const net_log_reader* reader) {
    const net_log_info* info = net_log_reader_info(reader);
    base_json_write(&json->text,
                    "{header={game=%s build=%s identity='%016jx' content_hash='%016jx' "
                    "schema_hash='%016jx' seed=%ju tick_rate_hz=%u replicated_index_max=%u "
                    "started_unix_ms=%ju settings=[",
                    info->game, info->build, info->identity, info->content_hash, info->schema_hash,
                    info->seed, info->tick_rate_hz, info->replicated_index_max,
                    info->started_unix_ms);
    for (uint32_t i = 0; i < info->setting_count; i++)
        base_json_write(&json->text, "%s", info->settings[i]);
    base_json_write(&json->text, "]}}");
}

static net_result walk_records(net_log_json* self, net_log_reader* reader) {
    put_header(self, reader);
    json_end(self);
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    uint64_t others = 0, other_bytes = 0;
    net_log_state* state;
    (void)!net_log_state_create(reader, NULL, NULL, &state); // NULL: it has no values
    while (net_log_cursor_next(reader, &cursor, &record)) {
        const bool is_known =
            state && net_log_state_take(state, &record, cursor.resumed != 0) == NET_OK;
        if (record.kind == NET_LOG_KIND_OTHER) {
            others++;
            other_bytes += record.size;
            continue;
        }
        if (others > 0) put_others(self, &others, &other_bytes);
        put_record(self, &record, is_known ? state : NULL);
        json_end(self);
    }
    if (others > 0) put_others(self, &others, &other_bytes);
    net_log_state_destroy(state);
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

net_result net_log_dump(net_log_reader* reader, const net_module* module, ecs_line_fn line,
                        void* context) {
    BASE_ASSERT(reader && line);
    net_log_json self;
    json_init(&self, reader->allocator, module, line, context);
    self.has_payloads = true;
    const net_result result = walk_records(&self, reader);
    json_deinit(&self);
    return result;
}

// ---- values, inputs and events ----

// Values are a line for each entity and tick. A field that is alone in its component is the value
// of the component.

enum { TEXT_BYTES_MAX = 8192 };

typedef struct export {
    base_owner owner;
    net_log_reader* reader;
    const net_module* module;
    const net_log_export_config* config;
    const base_reporter* reporter;
    net_log_exported* exported;
    net_log_json row;
    net_log_state* state; // NULL: a run, which has these two
    net_log_replay* replay;
    ecs_world* world;
    const net_log_component** components; // by rising id; tags have no values
    uint32_t component_count;
    const net_log_component** chosen;
    uint32_t chosen_count;
    ecs_number* values; // of one component
    uint32_t values_max;
    char* text;
}
export;

static void end_row(export* self) {
    self->exported->rows++;
    json_end(&self->row);
}

// ---- values

// A run looks at the world of its match, so a value is read where the systems left it. Without the
// game the values come from the log's state: replicated ones, as clients get them.

static const ecs_type* type_of(const export* self, const net_log_component* component) {
    return ecs_type_get(self->world,
                        ecs_component_get(self->world, (ecs_component_id)component->id)->type);
}

static const net_log_component* describe(export* self, uint32_t position) {
    const base_allocator* allocator = &self->owner.allocator;
    if (self->state) return net_log_state_component(self->state, position);
    const ecs_component_id id = (ecs_component_id)(position + 1);
    const uint32_t fields =
        ecs_type_get(self->world, ecs_component_get(self->world, id)->type)->field_count;
    net_log_component* made = base_allocate(allocator, sizeof *made);
    *made = net_log_component_make(
        self->world, id, base_allocate_zero(allocator, (fields + 1) * sizeof(net_log_field)));
    return made;
}

static net_result open_values(export* self, const net_module* module) {
    const ecs_tick before = self->config->first > 1 ? self->config->first - 1 : 0;
    net_result result =
        module ? net_log_replay_create(self->reader, module, before, self->reporter, &self->replay)
               : net_log_state_create(self->reader, NULL, self->reporter, &self->state);
    if (result == NET_OK && self->state && before > 0)
        result = net_log_state_seek(self->state, before);
    if (result != NET_OK) return result;
    if (module) self->world = net_match_world(net_log_replay_match(self->replay));
    self->component_count =
        self->state ? net_log_state_component_count(self->state) : ecs_component_count(self->world);
    const size_t bytes = (self->component_count + 1) * sizeof(net_log_component*);
    self->components = base_allocate(&self->owner.allocator, bytes);
    self->chosen = base_allocate(&self->owner.allocator, bytes);
    for (uint32_t i = 0; i < self->component_count; i++)
        self->components[i] = describe(self, i);
    return NET_OK;
}

static ecs_tick tick_of(const export* self) {
    return self->state ? net_log_state_tick(self->state)
                       : net_match_tick(net_log_replay_match(self->replay));
}

// Do clients get it, as part of any template?
static bool is_replicated(const export* self, const net_log_component* component) {
    for (uint32_t i = 1; self->world && i <= ecs_template_count(self->world); i++) {
        const ecs_template_component* part = ecs_template_find_component(
            ecs_template_get(self->world, (ecs_template_id)i), (ecs_component_id)component->id);
        if (part && (part->flags & ECS_COMPONENT_REPLICATED)) return true;
    }
    return self->state != NULL;
}

static bool has_component(const export* self, ecs_entity entity, const net_log_component* asked) {
    if (!self->state) return ecs_find(self->world, entity, (ecs_component_id)asked->id) != NULL;
    const net_log_component* found;
    for (uint32_t i = 0; (found = net_log_state_template_component(self->state, entity, i)); i++)
        if (found == asked) return true;
    return false;
}

// All elements of a component that the entity has, and whose values have a fixed size.
static void read_values(export* self, ecs_entity entity, const net_log_component* component) {
    ecs_number* values = self->values;
    if (self->state) {
        const bool is_read = net_log_state_read(self->state, entity, component, values);
        BASE_ASSERT(is_read);
        return;
    }
    const ecs_type* type = type_of(self, component);
    const uint8_t* object =
        ecs_type_object(type, ecs_find(self->world, entity, (ecs_component_id)component->id));
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        for (uint32_t k = 0; k < field->count; k++)
            *values++ = ecs_number_get(field->kind, object + field->offset +
                                                        k * ecs_field_kind_bytes(field->kind));
    }
}

// A value of variable size; the bytes of a type that is not here, as hex.
static void put_varsize(export* self, ecs_entity entity, const net_log_component* component) {
    size_t size = 0;
    if (self->state) {
        const uint8_t* data = net_log_state_bytes(self->state, entity, component, &size);
        base_json_hex(&self->row.text, data, size);
        return;
    }
    (void)ecs_type_format(type_of(self, component),
                          ecs_find(self->world, entity, (ecs_component_id)component->id),
                          self->text, TEXT_BYTES_MAX);
    base_json_text(&self->row.text, self->text);
}

static net_result refuse_component(const export* self, const char* name) {
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t i = 0; i < self->component_count; i++)
        base_nearest_offer(&nearest, self->components[i]->name);
    base_report(self->reporter, self->reader->file, 0, "there is no component \"%s\"%s", name,
                base_nearest_hint(&nearest, hint));
    return NET_ERR_UNKNOWN;
}

// "pos+health"; NULL: all.
static net_result choose(export* self) {
    const uint32_t count = self->component_count;
    const base_allocator* allocator = &self->owner.allocator;
    const char* names = self->config->components;
    bool is_chosen[ECS_COMPONENTS_MAX + 1] = {false};
    char name[ECS_NAME_BYTES_MAX];
    for (const char *at = names, *end; at; at = end ? end + 1 : NULL) {
        uint32_t i = 0;
        end = strchr(at, '+');
        base_text_format(name, sizeof name, "%.*s", (int)strcspn(at, "+"), at);
        while (i < count && strcmp(self->components[i]->name, name) != 0)
            i++;
        if (i == count) return refuse_component(self, name);
        is_chosen[i] = true;
    }
    self->text = base_allocate(allocator, TEXT_BYTES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t values = self->components[i]->value_count;
        if (names && !is_chosen[i]) continue;
        self->chosen[self->chosen_count++] = self->components[i];
        if (values > self->values_max) self->values_max = values;
    }
    self->values = base_allocate(allocator, (self->values_max + 1) * sizeof *self->values);
    return NET_OK;
}

static void put_shape(export* self, const net_log_component* component) {
    base_json_write(&self->row.text, "{name=%s is_varsize=%i fields=[", component->name,
                    component->is_varsize);
    for (uint32_t f = 0; f < component->field_count; f++)
        base_json_write(&self->row.text, "{name=%s kind=%s count=%u}", component->fields[f].name,
                        ecs_field_kind_name(component->fields[f].kind), component->fields[f].count);
    base_json_write(&self->row.text, "]}");
}

// Where entities are, as on the inspector's map.
static void put_place(export* self) {
    const net_interest_rules* rules = self->module ? self->module->game->interest : NULL;
    net_log_where place = {0};
    const char* name = NULL;
    for (uint32_t i = 0; i < self->component_count; i++) {
        const net_log_component* component = self->components[i];
        (void)net_log_where_add(&place, component, rules ? rules->position : NULL,
                                is_replicated(self, component));
        if (place.component == component->id) name = component->name;
    }
    if (place.rank == 0) return;
    base_json_write(&self->row.text, "place={component=%s first=%u count=%u}", name,
                    place.part.first, place.part.count);
}

// What programs need to know before the lines: the log's header, the schema of its game, and the
// components that were chosen.
static void write_head(export* self) {
    net_log_json* row = &self->row;
    put_header(row, self->reader);
    json_end(row);
    if (self->replay) {
        base_json_write(&row->text, "{schema=");
        net_match_print_schema(net_log_replay_match(self->replay), &row->text);
        for (size_t i = 0; i < row->text.size; i++)
            if (row->text.data[i] == '\n') row->text.data[i] = ' ';
        base_json_write(&row->text, "}");
        json_end(row);
    }
    base_json_write(&row->text, "{components=[");
    for (uint32_t i = 0; i < self->chosen_count; i++)
        put_shape(self, self->chosen[i]);
    base_json_write(&row->text, "]");
    put_place(self);
    base_json_write(&row->text, "}");
    json_end(row);
}

static void put_json_fields(export* self, const net_log_component* component) {
    const ecs_number* value = self->values;
    const bool is_alone = component->field_count == 1;
    char number[NET_LOG_NUMBER_BYTES];
    if (!is_alone) base_json_write(&self->row.text, "{");
    for (uint32_t f = 0; f < component->field_count; f++) {
        const net_log_field* field = &component->fields[f];
        if (!is_alone) base_json_write(&self->row.text, "%s=", field->name);
        if (field->count > 1) base_json_write(&self->row.text, "[");
        for (uint32_t k = 0; k < field->count; k++) {
            net_log_number_text(value++, number);
            base_json_put(&self->row.text, "%s%s", k > 0 ? "," : "", number);
        }
        if (field->count > 1) base_json_write(&self->row.text, "]");
    }
    if (!is_alone) base_json_write(&self->row.text, "}");
}

static void put_json_component(export* self, ecs_entity entity,
                               const net_log_component* component) {
    base_json_write(&self->row.text, "%s=", component->name);
    if (component->is_varsize) {
        put_varsize(self, entity, component);
    } else if (component->value_count == 0) {
        base_json_write(&self->row.text, "true"); // a tag
    } else {
        read_values(self, entity, component);
        put_json_fields(self, component);
    }
}

static void write_entity(export* self, ecs_tick tick, ecs_entity entity) {
    bool has_any = false;
    for (uint32_t i = 0; i < self->chosen_count; i++) {
        if (!has_component(self, entity, self->chosen[i])) continue;
        if (!has_any)
            base_json_write(&self->row.text, "{tick=%ju entity='%u:%u' template=%s", tick,
                            ecs_entity_index(entity), ecs_entity_generation(entity),
                            self->state ? net_log_state_template(self->state, entity)
                                        : ecs_entity_template_name(self->world, entity));
        has_any = true;
        put_json_component(self, entity, self->chosen[i]);
    }
    if (!has_any) return;
    base_json_write(&self->row.text, "}");
    end_row(self);
}

static ecs_entity next_entity(const export* self, ecs_entity before) {
    return self->state ? net_log_state_next(self->state, before)
                       : ecs_entity_next(self->world, before);
}

static net_result write_values(export* self) {
    const net_log_export_config* config = self->config;
    const uint64_t every = config->every > 0 ? config->every : 1;
    const net_log_info* info = net_log_reader_info(self->reader);
    const net_module* module = info->is_seen ? NULL : self->module; // it has its states alone
    ecs_tick last = info->last_tick, diverged = 0;
    if (config->last > 0 && config->last < last) last = config->last;
    net_result result = open_values(self, module);
    if (result == NET_OK) result = choose(self);
    if (result == NET_OK && config->what == NET_LOG_EXPORT_ALL) write_head(self);
    while (result == NET_OK) {
        if (tick_of(self) >= last) break;
        result = self->state ? net_log_state_step(self->state)
                             : net_log_replay_next(self->replay, self->reporter, &diverged);
        // After damage, and in a part of a log, the next tick is a later one.
        const ecs_tick tick = tick_of(self);
        if (tick > last) break;
        self->exported->diverged_tick = diverged;
        if (result != NET_OK || tick < config->first) continue;
        self->exported->ticks++;
        if (tick % every != 0) continue;
        if (self->state && !net_log_state_is_whole(self->state)) {
            self->exported->ticks_lacking++;
            continue;
        }
        for (ecs_entity at = ECS_ENTITY_NONE; (at = next_entity(self, at)) != ECS_ENTITY_NONE;)
            write_entity(self, tick, at);
    }
    return result == NET_ERR_CLOSED ? NET_OK : result;
}

// ---- inputs and events

static const char* const item_words[NET_LOG_ITEM_KINDS] = {
    [NET_LOG_ITEM_LEAVE] = "leave",
    [NET_LOG_ITEM_JOIN] = "join",
    [NET_LOG_ITEM_EVENT] = "client_event",
    [NET_LOG_ITEM_INPUT] = "input",
    [NET_LOG_ITEM_SERVER_EVENT] = "server_event",
};

static void write_item(export* self, ecs_tick tick, const net_log_item* item) {
    base_json_write(&self->row.text, "{tick=%ju", tick);
    if (self->config->what != NET_LOG_EXPORT_INPUTS)
        base_json_write(&self->row.text, "kind=%s", item_words[item->kind]);
    json_item(&self->row, item);
    base_json_write(&self->row.text, "}");
    end_row(self);
}

static void write_items_of(export* self, const net_log_record* record) {
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind < NET_LOG_ITEM_KINDS; kind++) {
        const bool is_input = kind == NET_LOG_ITEM_INPUT;
        if (self->config->what != NET_LOG_EXPORT_ALL &&
            is_input != (self->config->what == NET_LOG_EXPORT_INPUTS))
            continue;
        size_t offset = 0;
        net_log_item item;
        while (net_log_item_next(record, kind, &offset, &item))
            write_item(self, record->tick, &item);
    }
}

static void write_control(export* self, const net_log_record* record) {
    base_json_write(&self->row.text, "{tick=%ju kind='control'", record->tick);
    put_control(&self->row, record);
    base_json_write(&self->row.text, "}");
    end_row(self);
}

static net_result write_items(export* self) {
    const net_log_export_config* config = self->config;
    const bool is_all = config->what == NET_LOG_EXPORT_ALL;
    net_log_cursor cursor = net_log_cursor_begin(self->reader);
    net_log_record record;
    while (net_log_cursor_next(self->reader, &cursor, &record)) {
        const bool is_control = record.kind == NET_LOG_KIND_CONTROL && is_all;
        if (!is_control && record.kind != NET_LOG_KIND_BEGIN && record.kind != NET_LOG_KIND_END)
            continue;
        if (record.tick < config->first) continue;
        if (config->last > 0 && record.tick > config->last) break;
        self->exported->ticks += record.kind == NET_LOG_KIND_END && !is_all;
        if (is_control)
            write_control(self, &record);
        else
            write_items_of(self, &record);
    }
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

net_result net_log_export(net_log_reader* reader, const net_module* module,
                          const net_log_export_config* config, ecs_line_fn line, void* context,
                          const base_reporter* reporter, net_log_exported* exported) {
    BASE_ASSERT(reader && config && line && exported);
    *exported = (net_log_exported){0};
    export* self = base_owner_create(reader->allocator, sizeof *self);
    self->reader = reader;
    self->module = module;
    self->config = config;
    self->reporter = reporter;
    self->exported = exported;
    json_init(&self->row, &self->owner.allocator, module, line, context);
    self->row.has_payloads = config->what == NET_LOG_EXPORT_ALL;
    const bool has_values = self->row.has_payloads || config->what == NET_LOG_EXPORT_VALUES;
    net_result result = has_values ? write_values(self) : NET_OK;
    net_log_state_destroy(self->state);
    net_log_replay_destroy(self->replay);
    // A reader serves one walk at a time. Damage takes nothing from what is before it.
    if (config->what != NET_LOG_EXPORT_VALUES && (result == NET_OK || result == NET_ERR_DAMAGED)) {
        const net_result items = write_items(self);
        if (result == NET_OK) result = items;
    }
    proto_codec_deinit(&self->row.codec);
    base_owner_destroy(self);
    return result;
}
