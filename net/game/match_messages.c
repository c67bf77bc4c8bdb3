// SPDX-License-Identifier: MIT
// The players of a server's match, sorted by client number: numbers only rise, so a join appends.
#include "game/match.h"

#include "state/schema.h"
#include "state/varsize.h"

#include "proto/codec.h"

#include "ecs/debug.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/json.h"
#include "base/search.h"
#include "base/text.h"

#include <string.h>

net_player* net_match_find_player(const net_match* match, uint32_t client) {
    base_search search = base_search_begin(match->player_count);
    while (base_search_next(&search))
        base_search_step(&search, match->players[search.middle].client < client);
    if (search.low == match->player_count) return NULL;
    net_player* found = &match->players[search.low];
    return found->client == client ? found : NULL;
}

void net_match_join(net_match* match, const net_game_player* player) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER && player->name);
    BASE_ASSERT(player->client > match->client_last && player->user_bytes <= NET_USER_BYTES_MAX);
    BASE_ASSERT(player->record_bytes <= NET_RECORD_BYTES_MAX &&
                player->transfer_bytes <= NET_TRANSFER_BYTES_MAX);
    match->client_last = player->client;
    BASE_ARRAY_RESERVE(&match->owner.allocator, match->players, match->player_capacity,
                       match->player_count + 1);
    net_game_player joined = *player;
    joined.size_bytes = sizeof joined;
    match->joining = joined.client;
    match->join_end = (net_match_end){0};
    match->joins_as = (net_player_kept){player->player_id, player->record_version};
    ecs_running_call("player_join");
    ecs_entity entity = match->game->player_join(match->world, match->context, &joined);
    ecs_running_call(NULL);
    match->joining = 0;
    net_player* added = &match->players[match->player_count++];
    memset(added, 0, sizeof *added);
    added->client = player->client;
    added->entity = entity;
    added->is_bot = player->is_bot;
    added->kept = match->joins_as;
    added->end = match->join_end;
    added->is_refused = match->join_end.is_decided;
    (void)base_text_copy(added->name, sizeof added->name, player->name);
}

void net_match_leave(net_match* match, uint32_t client) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER);
    net_player* left = net_match_find_player(match, client);
    BASE_ASSERT(left);
    ecs_running_call("player_leave");
    match->game->player_leave(match->world, match->context, client, left->entity);
    ecs_running_call(NULL);
    net_interest_requests_remove(&match->requests, client);
    uint32_t place = (uint32_t)(left - match->players);
    memmove(left, left + 1, (match->player_count - place - 1) * sizeof *left);
    match->player_count--;
}

const char* net_match_player_name(const net_match* match, uint32_t client) {
    const net_player* found = net_match_find_player(match, client);
    return found ? found->name : NULL;
}

ecs_entity net_match_player(const net_match* match, uint32_t client) {
    const net_player* found = net_match_find_player(match, client);
    return found && ecs_is_alive(match->world, found->entity) ? found->entity : ECS_ENTITY_NONE;
}

uint32_t net_match_players(const net_match* match, uint32_t* clients, uint32_t capacity) {
    for (uint32_t i = 0; i < match->player_count && i < capacity; i++)
        clients[i] = match->players[i].client;
    return match->player_count;
}

uint32_t net_match_client_last(const net_match* match) {
    return match->client_last;
}

// Messages between the wire and the world.
//
// A packed message becomes the module's struct (from_wire clamps it) and is posted as an event. The
// last input of each client is kept as that struct: a repeat, which the log records for an input
// that did not arrive in time, then posts the same bytes in the match and in its replay.
// proto_codec unpacks into its arena and packing uses one scratch message, so nothing here
// allocates.

// ---- messages and events ----

static net_result bind_message(net_match* match, uint32_t position, const base_reporter* reporter) {
    const net_message* message = &match->game->messages[position];
    char place[ECS_NAME_BYTES_MAX + 16];
    (void)base_text_format(place, sizeof place, "message %s", message->name);
    ecs_need need = {.world = match->world, .reporter = reporter, .place = place};
    ecs_event_type type = ecs_event_need(&need, message->event);
    if (type == ECS_EVENT_NONE) return NET_ERR_MODULE;
    const ecs_event_desc* desc = ecs_event_get(match->world, type);
    if (message->kind == NET_MESSAGE_TO_CLIENTS && !desc->is_exported)
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, NULL, 0,
                              "message %s: the event %s must be exported", message->name,
                              message->event);
    const bool is_input = message->kind == NET_MESSAGE_INPUT;
    if (desc->size > NET_EVENT_STRUCT_BYTES_MAX && (is_input || !message->is_reliable))
        return BASE_REPORT_AS(NET_ERR_MODULE, reporter, NULL, 0,
                              "message %s: the event %s has %u bytes, more than %u: %s",
                              message->name, message->event, desc->size, NET_EVENT_STRUCT_BYTES_MAX,
                              is_input ? "an input has at most that many"
                                       : "make the message reliable, then it may have 2048");
    match->events[position] = type;
    match->event_bytes[position] = desc->size;
    match->has_long_events |= desc->size > NET_EVENT_STRUCT_BYTES_MAX;
    // Each side looks up the events that it sends.
    const bool is_server = match->config.role == NET_ROLE_SERVER;
    if (message->kind == (is_server ? NET_MESSAGE_TO_CLIENTS : NET_MESSAGE_TO_SERVER))
        match->message_of[type] = position + 1;
    if (message->kind == NET_MESSAGE_INPUT) match->input_message = position + 1;
    size_t bytes = message->descriptor->sizeof_message;
    if (bytes > match->message_bytes_max) match->message_bytes_max = bytes;
    return NET_OK;
}

static net_result bind_sight(net_match* match, const base_reporter* reporter) {
    const char* name = match->game->sight;
    for (uint32_t i = 0; name && i < match->game->message_count; i++) {
        const net_message* message = &match->game->messages[i];
        if (strcmp(message->name, name) != 0) continue;
        const ecs_event_desc* desc = ecs_event_get(match->world, match->events[i]);
        const bool is_sight = desc->field_count >= 2 && desc->size >= sizeof(net_sight) &&
                              desc->fields[0].offset == offsetof(net_sight, entity) &&
                              desc->fields[0].kind == ECS_FIELD_ENTITY &&
                              desc->fields[1].offset == offsetof(net_sight, is_seen) &&
                              desc->fields[1].kind == ECS_FIELD_BOOL;
        if (message->kind == NET_MESSAGE_TO_SERVER && is_sight) match->sight_message = i + 1;
    }
    if (!name || match->sight_message) return NET_OK;
    base_report(reporter, NULL, 0,
                "sight: '%s' is not a message to the server whose event begins with a net_sight "
                "(an entity and a bool)",
                name);
    return NET_ERR_MODULE;
}

net_result net_match_messages_init(net_match* match, const base_reporter* reporter) {
    for (uint32_t i = 0; i < match->game->message_count; i++) {
        net_result result = bind_message(match, i, reporter);
        if (result) return result;
    }
    if (bind_sight(match, reporter) != NET_OK) return NET_ERR_MODULE;
    // The table's check requires an input message.
    BASE_ASSERT(match->input_message > 0 && match->message_bytes_max > 0);
    net_match_reader_init(match, &match->owner.allocator, &match->reader);
    return NET_OK;
}

void net_match_reader_init(const net_match* match, const base_allocator* allocator,
                           net_match_reader* reader) {
    *reader = (net_match_reader){.scratch_bytes = match->message_bytes_max};
    reader->scratch = base_allocate_zero(allocator, reader->scratch_bytes);
    proto_codec_init(&reader->codec, allocator, PROTO_UNPACK_BYTES_MAX);
}

void net_match_reader_deinit(net_match_reader* reader) {
    base_release(reader->codec.arena.allocator, reader->scratch, reader->scratch_bytes);
    proto_codec_deinit(&reader->codec);
}

uint32_t net_match_input_message(const net_match* match) {
    return match->input_message;
}

uint32_t net_match_input_bytes(const net_match* match) {
    return match->event_bytes[match->input_message - 1];
}

uint32_t net_match_message_of(const net_match* match, ecs_event_type type) {
    return type <= ECS_EVENT_TYPES_MAX ? match->message_of[type] : 0;
}

// ---- unpacking ----

typedef struct payload {
    _Alignas(16) uint8_t bytes[ECS_EVENT_BYTES_MAX];
} payload;

static bool is_number(const net_match* match, uint32_t message) {
    return message >= 1 && message <= match->game->message_count;
}

static bool is_kind(const net_match* match, uint32_t message, net_message_kind kind) {
    return is_number(match, message) && match->game->messages[message - 1].kind == kind;
}

static size_t bytes_max(const net_match* match, uint32_t message) {
    if (message == match->input_message) return NET_INPUT_BYTES_MAX;
    const bool is_large = match->event_bytes[message - 1] > NET_EVENT_STRUCT_BYTES_MAX;
    return is_large ? NET_EVENT_PAYLOAD_BYTES_MAX : NET_EVENT_PART_BYTES_MAX;
}

// "Chat: text is no UTF-8...": why a message is refused; "" without a reason.
static void keep_refusal(net_match_reader* reader, const net_message* known, const char* why) {
    const ProtobufCFieldDescriptor* bad = reader->codec.bad_text;
    if (bad) why = "is not valid UTF-8, it may be cut inside a character";
    reader->refusal[0] = '\0';
    if (why)
        (void)base_text_format(reader->refusal, sizeof reader->refusal, "%s: %s%s%s", known->name,
                               bad ? bad->name : "", bad ? " " : "", why);
}

// From a packed message to the event's struct. false: not a message, or the module refuses it.
static bool unpack(const net_match* match, net_match_reader* reader, uint32_t message,
                   const void* data, size_t size, payload* target) {
    const net_message* known = &match->game->messages[message - 1];
    const ProtobufCMessage* unpacked = proto_codec_decode(&reader->codec, known->descriptor, data,
                                                          size, bytes_max(match, message));
    memset(target, 0, match->event_bytes[message - 1]);
    const char* outer = ecs_running_call("from_wire");
    const bool is_right = unpacked && known->from_wire(unpacked, target->bytes);
    ecs_running_call(outer);
    if (is_right) return true;
    keep_refusal(reader, known, unpacked && known->refusal ? known->refusal(unpacked) : NULL);
    return false;
}

bool net_match_unpack(net_match* match, uint32_t message, const void* data, size_t size,
                      void* target) {
    BASE_ASSERT(is_number(match, message));
    return unpack(match, &match->reader, message, data, size, target);
}

net_result net_match_input_check(net_match* match, const void* data, size_t size) {
    payload target;
    return net_match_unpack(match, match->input_message, data, size, &target) ? NET_OK
                                                                              : NET_ERR_MALFORMED;
}

net_result net_match_event_check(net_match* match, uint32_t message, const void* data,
                                 size_t size) {
    payload target;
    bool is_right = is_kind(match, message, NET_MESSAGE_TO_SERVER) &&
                    net_match_unpack(match, message, data, size, &target);
    return is_right ? NET_OK : NET_ERR_MALFORMED;
}

// ---- the canonical form

static net_result pack(const net_match* match, net_match_reader* reader, uint32_t message,
                       const void* data, uint8_t* target, size_t capacity, size_t* size) {
    const net_message* known = &match->game->messages[message - 1];
    protobuf_c_message_init(known->descriptor, reader->scratch);
    const char* outer = ecs_running_call("to_wire");
    known->to_wire(data, reader->scratch);
    ecs_running_call(outer);
    if (capacity > bytes_max(match, message)) capacity = bytes_max(match, message);
    *size = proto_encode(reader->scratch, target, capacity);
    return *size > 0 || proto_encoded_bytes(reader->scratch) == 0 ? NET_OK : NET_ERR_FULL;
}

static net_result accept_message(const net_match* match, net_match_reader* reader, uint32_t message,
                                 const void* data, size_t size, uint8_t* target,
                                 size_t* target_size) {
    payload unpacked;
    *target_size = 0;
    if (!unpack(match, reader, message, data, size, &unpacked) ||
        pack(match, reader, message, unpacked.bytes, target, bytes_max(match, message),
             target_size) != NET_OK)
        return NET_ERR_MALFORMED;
    if (*target_size == size && (size == 0 || memcmp(target, data, size) == 0)) return NET_OK;
    // The match asserts later that it can unpack it.
    return unpack(match, reader, message, target, *target_size, &unpacked) ? NET_OK
                                                                           : NET_ERR_MALFORMED;
}

net_result net_match_input_take(const net_match* match, net_match_reader* reader, const void* data,
                                size_t size, uint8_t target[NET_INPUT_BYTES_MAX],
                                size_t* target_size) {
    return accept_message(match, reader, match->input_message, data, size, target, target_size);
}

net_result net_match_event_take(const net_match* match, net_match_reader* reader, uint32_t message,
                                const void* data, size_t size,
                                uint8_t target[NET_EVENT_PAYLOAD_BYTES_MAX], size_t* target_size) {
    *target_size = 0;
    if (!is_kind(match, message, NET_MESSAGE_TO_SERVER)) return NET_ERR_MALFORMED;
    if (message == match->sight_message) { // it would claim to see what it likes
        (void)base_text_format(reader->refusal, sizeof reader->refusal,
                               "%s: only the server says what a client sees", match->game->sight);
        return NET_ERR_MALFORMED;
    }
    return accept_message(match, reader, message, data, size, target, target_size);
}

net_result net_match_pack_sight(net_match* match, const net_sight* sight, uint8_t* target,
                                size_t bytes, size_t* size) {
    BASE_ASSERT(match->sight_message != 0);
    payload made = {{0}};
    memcpy(made.bytes, sight, sizeof *sight);
    net_result result =
        pack(match, &match->reader, match->sight_message, made.bytes, target, bytes, size);
    if (result == NET_OK)
        result = net_match_event_check(match, match->sight_message, target, *size);
    return result;
}

// ---- posting ----

// Clamped at once, so that a number chosen by a peer does not overflow later.
static void keep_seen(net_match* match, net_player* player, uint64_t seen) {
    if (!match->rewind || seen == 0) return;
    uint64_t moment = net_rewind_clamp(match->rewind, seen);
    match->rewind_stats.inputs++;
    match->rewind_stats.ahead += seen > moment;
    match->rewind_stats.behind += seen < moment;
    player->has_seen = true;
    player->seen = moment;
    player->seen_tick = match->rewind->tick;
}

void net_match_input(net_match* match, uint32_t client, const void* data, size_t size,
                     uint64_t seen) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER);
    net_player* player = net_match_find_player(match, client);
    if (!player) return;
    if (data) {
        keep_seen(match, player, seen);
        payload target;
        bool is_right = net_match_unpack(match, match->input_message, data, size, &target);
        BASE_ASSERT(is_right); // net_match_input_check accepted it
        memcpy(player->input, target.bytes, net_match_input_bytes(match));
        player->has_input = true;
    }
    if (!player->has_input || !ecs_is_alive(match->world, player->entity)) return;
    // A full event queue refuses it and counts that.
    (void)ecs_event_send(match->world, player->entity, match->events[match->input_message - 1],
                         player->input);
}

void net_match_predict_input(net_match* match, ecs_entity entity, const void* data, size_t size) {
    BASE_ASSERT(match->config.role == NET_ROLE_PREDICT);
    payload target;
    if (!net_match_unpack(match, match->input_message, data, size, &target)) return;
    if (!ecs_is_alive(match->world, entity)) return;
    (void)ecs_event_send(match->world, entity, match->events[match->input_message - 1],
                         target.bytes);
}

void net_match_client_event(net_match* match, uint32_t client, uint32_t message, const void* data,
                            size_t size) {
    BASE_ASSERT(is_kind(match, message, NET_MESSAGE_TO_SERVER));
    payload target;
    bool is_right = net_match_unpack(match, message, data, size, &target);
    BASE_ASSERT(is_right); // net_match_event_check accepted it
    ecs_entity entity = net_match_player(match, client);
    if (entity == ECS_ENTITY_NONE) return;
    (void)ecs_event_send(match->world, entity, match->events[message - 1], target.bytes);
}

static void note_numbers(net_match* match, uint32_t client, uint32_t input, uint32_t event) {
    net_player* player = net_match_find_player(match, client);
    if (!player) return;
    if (input != 0) player->input_number = input;
    if (event != 0) player->event_number = event;
}

void net_match_apply(net_match* match, const net_tick_inputs* inputs) {
    for (uint32_t i = 0; i < inputs->leave_count; i++)
        net_match_leave(match, inputs->leaves[i].client);
    for (uint32_t i = 0; i < inputs->join_count; i++)
        net_match_join(match, &inputs->joins[i]);
    for (uint32_t i = 0; i < inputs->event_count; i++) {
        const net_tick_event* event = &inputs->events[i];
        note_numbers(match, event->client, 0, event->number);
        net_match_client_event(match, event->client, event->message, event->payload, event->size);
    }
    for (uint32_t i = 0; i < inputs->input_count; i++) {
        const net_tick_input* input = &inputs->inputs[i];
        note_numbers(match, input->client, input->number, 0);
        net_match_input(match, input->client, input->payload, input->size, input->seen);
    }
}

void net_match_get_numbers(const net_match* match, uint32_t client, uint32_t* input,
                           uint32_t* event) {
    const net_player* player = net_match_find_player(match, client);
    *input = player ? player->input_number : 0;
    *event = player ? player->event_number : 0;
}

net_result net_match_server_event(net_match* match, uint32_t message, ecs_entity target,
                                  const void* data, size_t size) {
    BASE_ASSERT(match->config.role != NET_ROLE_SERVER);
    payload unpacked;
    if (!is_kind(match, message, NET_MESSAGE_TO_CLIENTS)) return NET_ERR_MALFORMED;
    if (ecs_entity_is_placeholder(target)) return NET_ERR_MALFORMED;
    if (!net_match_unpack(match, message, data, size, &unpacked)) return NET_ERR_MALFORMED;
    ecs_event_type type = match->events[message - 1];
    bool has_room = target == ECS_ENTITY_NONE
                        ? ecs_event_broadcast(match->world, type, unpacked.bytes)
                        : ecs_event_send(match->world, target, type, unpacked.bytes);
    return has_room ? NET_OK : NET_ERR_FULL;
}

// ---- entities and packing ----

uint32_t net_match_entities_of(const net_match* match, uint32_t message, const void* data,
                               ecs_entity* entities) {
    BASE_ASSERT(is_number(match, message));
    const ecs_event_desc* desc = ecs_event_get(match->world, match->events[message - 1]);
    uint32_t count = 0;
    for (uint32_t i = 0; i < desc->field_count; i++) {
        if (desc->fields[i].kind != ECS_FIELD_ENTITY) continue;
        for (uint32_t k = 0; k < desc->fields[i].count; k++) {
            ecs_entity entity;
            size_t at = desc->fields[i].offset + k * sizeof entity;
            memcpy(&entity, (const uint8_t*)data + at, sizeof entity);
            const uint32_t index = ecs_entity_index(entity);
            bool is_new = index >= 1 &&
                          index <= ecs_world_limits(match->world)->replicated_index_max &&
                          ecs_entity_generation(entity) >= 1;
            for (uint32_t other = 0; other < count; other++)
                is_new = is_new && entities[other] != entity;
            if (is_new) entities[count++] = entity;
        }
    }
    BASE_ASSERT(count <= ECS_EVENT_BYTES_MAX / sizeof *entities);
    return count;
}

uint32_t net_match_entities_of_packed(net_match* match, uint32_t message, const void* data,
                                      size_t size, ecs_entity* entities) {
    payload unpacked;
    if (!is_number(match, message) || !net_match_unpack(match, message, data, size, &unpacked))
        return 0;
    return net_match_entities_of(match, message, unpacked.bytes, entities);
}

net_result net_match_pack(net_match* match, uint32_t message, const void* data, uint8_t* target,
                          size_t capacity, size_t* size) {
    BASE_ASSERT(data && target && size);
    BASE_ASSERT(is_number(match, message));
    const net_message* known = &match->game->messages[message - 1];
    net_match_reader* reader = &match->reader;
    net_result result = pack(match, reader, message, data, target, capacity, size);
    if (!proto_codec_accepts(&reader->codec, known->descriptor, target, *size))
        result = NET_ERR_MALFORMED;
    if (result == NET_OK) return result;
    char why[160] = "has a value that no peer takes";
    const size_t most = bytes_max(match, message);
    if (result == NET_ERR_FULL)
        (void)base_text_format(why, sizeof why, "is too long: %zu bytes, at most %zu%s",
                               proto_encoded_bytes(reader->scratch), most,
                               most != NET_EVENT_PART_BYTES_MAX
                                   ? ""
                                   : " (2560, if it is reliable and its event has more than 256)");
    keep_refusal(reader, known, why);
    *size = 0;
    return result;
}

const char* net_match_refusal(const net_match* match) {
    return match->reader.refusal;
}

// The schema of a game as JSON, for clients in other languages: what WIRE.md takes from "the game's
// own files". One line per type, template, message, setting and item.

static void put_fields(base_bytes* json, const ecs_field* fields, uint32_t count) {
    base_json_write(json, "fields=[");
    for (uint32_t f = 0; f < count; f++)
        base_json_write(json, "{name=%s kind=%s number=%d count=%u}", fields[f].name,
                        ecs_field_kind_name((uint32_t)fields[f].kind), (int)fields[f].kind,
                        fields[f].count);
    base_json_write(json, "]");
}

// ---- templates ----

static void put_words(base_bytes* json, const net_row_template* row, uint32_t component) {
    const proto_row_component* part = &row->layout.components[component];
    base_json_write(json, "words=[");
    for (uint32_t f = part->field_first; f < (uint32_t)part->field_first + part->field_count; f++) {
        const proto_quant* quant = &row->layout.fields[f].quant;
        base_json_write(json, "{kind=%s bits=%u exact=", ecs_field_kind_name((uint32_t)quant->kind),
                        quant->bits);
        base_json_write(json, quant->is_elastic ? "'elastic'" : quant->is_exact ? "true" : "false");
        base_json_write(json, "max='%ju'", quant->q_max);
        if (!quant->is_exact) base_json_write(json, "min=%a step=%a", quant->min, quant->step);
        base_json_write(json, "default='%ju'}", row->defaults[f]);
    }
    base_json_write(json, "]");
}

static void put_component(base_bytes* json, const ecs_world* world, const net_row_template* row,
                          uint32_t component) {
    const ecs_component_id id = (ecs_component_id)row->layout.components[component].key;
    const ecs_component* known = ecs_component_get(world, id);
    const ecs_template_component* declared =
        ecs_template_find_component(ecs_template_get(world, row->id), id);
    base_json_write(json,
                    "\n    {name=%s type=%s rotation=%i integral_of=%s visible=%s "
                    "states_default=%i states_words=%i",
                    known->name, ecs_type_get(world, known->type)->name, declared->is_rotation,
                    declared->integral, declared->visible ? declared->visible : "public",
                    declared->states_value, declared->states_quant);
    put_words(json, row, component);
    base_json_write(json, "}");
}

static void put_varsize(base_bytes* json, const ecs_world* world, const net_row_template* row,
                        uint32_t position) {
    const net_row_varsize* varsize = &row->varsizes[position];
    const ecs_component* known = ecs_component_get(world, varsize->component);
    base_bytes value;
    base_bytes_init(&value, json->allocator);
    net_varsize_write_default(world, row, varsize->component, &value);
    base_json_write(json, "{name=%s type=%s number=%u default=", known->name,
                    ecs_type_get(world, known->type)->name, varsize->number);
    base_json_hex(json, value.data, value.size);
    base_json_write(json, "}");
    base_bytes_deinit(&value);
}

static void put_templates(base_bytes* json, const net_match* match) {
    const net_rows* rows = net_schema_rows(match->schema);
    base_json_write(json, "\ntemplates=[");
    for (uint32_t n = 0; n < rows->number_count; n++) {
        const net_row_template* row = rows->numbers[n];
        const ecs_template* source = ecs_template_get(match->world, row->id);
        base_json_write(json, "\n  {name=%s number=%u singleton=%i components=[", source->name, n,
                        source->is_singleton);
        for (uint32_t c = 0; c < row->layout.component_count; c++)
            put_component(json, match->world, row, c);
        base_json_write(json, "] varsizes=[");
        for (uint32_t i = 0; i < row->varsize_count; i++)
            put_varsize(json, match->world, row, i);
        base_json_write(json, "]}");
    }
    base_json_write(json, "\n]");
}

// ---- types, messages, settings, items ----

static void put_types(base_bytes* json, const net_match* match) {
    const ecs_type* type;
    base_json_write(json, "\ntypes=[");
    for (uint32_t id = 1; (type = ecs_type_get(match->world, (ecs_type_id)id)) != NULL; id++) {
        base_json_write(json, "\n  {name=%s", type->name);
        put_fields(json, type->fields, type->field_count);
        base_json_write(json, "}");
    }
    base_json_write(json, "\n]");
}

static const char* wire_type_name(ProtobufCType type) {
    static const char* const names[] = {"int32",    "sint32", "sfixed32", "int64",  "sint64",
                                        "sfixed64", "uint32", "fixed32",  "uint64", "fixed64",
                                        "float",    "double", "bool",     "enum",   "string",
                                        "bytes",    "message"};
    BASE_ASSERT((uint32_t)type < BASE_COUNT(names));
    return names[type];
}

static void put_enum(base_bytes* json, const ProtobufCEnumDescriptor* values) {
    base_json_write(json, "of=%s values=[", values->short_name);
    for (uint32_t i = 0; i < values->n_values; i++)
        base_json_write(json, "{name=%s number=%d}", values->values[i].name,
                        values->values[i].value);
    base_json_write(json, "]");
}

// Its nesting has an end (proto_is_flat).
static void put_protobuf(base_bytes* json, const ProtobufCMessageDescriptor* message) {
    static const char* const labels[] = {"required", "optional", "repeated", "none"};
    base_json_write(json, "protobuf_fields=[");
    for (uint32_t i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor* field = &message->fields[i];
        base_json_write(json, "{name=%s id=%u type=%s label=%s", field->name, field->id,
                        wire_type_name(field->type), labels[field->label]);
        if (field->type == PROTOBUF_C_TYPE_ENUM) put_enum(json, field->descriptor);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            const ProtobufCMessageDescriptor* inner = field->descriptor;
            base_json_write(json, "of=%s", inner->short_name);
            put_protobuf(json, inner);
        }
        base_json_write(json, "}");
    }
    base_json_write(json, "]");
}

static void put_messages(base_bytes* json, const net_match* match) {
    static const char* const kinds[] = {"input", "to_server", "to_clients"};
    base_json_write(json, "\nmessages=[");
    for (uint32_t m = 0; m < match->game->message_count; m++) {
        const net_message* message = &match->game->messages[m];
        const ecs_event_desc* event = ecs_event_get(match->world, match->events[m]);
        base_json_write(json,
                        "\n  {name=%s number=%u kind=%s reliable=%i alone=%i protobuf=%s "
                        "descriptor='%016jx'",
                        message->name, m + 1, kinds[message->kind], message->is_reliable,
                        message->is_delivered_late, message->descriptor->name,
                        proto_descriptor_hash(message->descriptor));
        put_protobuf(json, message->descriptor);
        put_fields(json, event->fields, event->field_count);
        base_json_write(json, "}");
    }
    base_json_write(json, "\n]");
}

void net_match_print_schema(const net_match* match, base_bytes* json) {
    uint32_t count;
    const net_schema_item* items = net_schema_items(match->schema, &count);
    base_json_write(json, "{game=%s protocol=%u schema_hash='%016jx'", match->game->name,
                    NET_PROTOCOL_VERSION, net_schema_hash(match->schema));
    put_types(json, match);
    put_templates(json, match);
    put_messages(json, match);
    base_json_write(json, "\nsettings=[");
    for (uint32_t i = 0; i < match->game->setting_count; i++) {
        const net_setting* setting = &match->game->settings[i];
        base_json_write(json, "\n  {key=%s default=%a min=%a max=%a help=%s}", setting->key,
                        setting->value_default, setting->min, setting->max, setting->help);
    }
    base_json_write(json, "\n] \nitems=[");
    for (uint32_t i = 0; i < count; i++)
        base_json_write(json, "\n  {name=%s hash='%016jx'}", items[i].name, items[i].hash);
    base_json_write(json, "\n]}\n");
}
