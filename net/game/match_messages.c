// SPDX-License-Identifier: MIT
// Messages between the wire and the world.
//
// A packed message becomes the module's struct (from_wire clamps it) and is posted as an event. The
// last input of each client is kept as that struct: a repeat, which the log records for an input
// that did not arrive in time, then posts the same bytes in the match and in its replay.
// proto_codec unpacks into its arena and packing uses one scratch message, so nothing here
// allocates.
#include "game/match_internal.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

// ---- messages and events ----

// Each side looks up the events that it sends: a server those to clients, a client those to the
// server.
static net_message_kind sent_kind(const net_match* match) {
    return match->config.role == NET_ROLE_SERVER ? NET_MESSAGE_TO_CLIENTS : NET_MESSAGE_TO_SERVER;
}

static net_result bind_message(net_match* match, uint32_t position, const base_reporter* reporter) {
    const net_message* message = &match->game->messages[position];
    char place[ECS_NAME_BYTES_MAX + 16];
    (void)base_text_format(place, sizeof place, "message %s", message->name);
    ecs_need need = {.world = match->world, .reporter = reporter, .place = place};
    ecs_event_type type = ecs_event_need(&need, message->event);
    if (type == ECS_EVENT_NONE) return NET_ERR_MODULE;
    const ecs_event_desc* desc = ecs_event_get(match->world, type);
    if (message->kind == NET_MESSAGE_TO_CLIENTS && !desc->is_exported) {
        base_report(reporter, NULL, 0, "message %s: the event %s must be exported", message->name,
                    message->event);
        return NET_ERR_MODULE;
    }
    match->events[position] = type;
    match->event_bytes[position] = desc->size;
    if (message->kind == sent_kind(match)) match->message_of[type] = position + 1;
    if (message->kind == NET_MESSAGE_INPUT) match->input_message = position + 1;
    size_t bytes = message->descriptor->sizeof_message;
    if (bytes > match->message_bytes_max) match->message_bytes_max = bytes;
    return NET_OK;
}

net_result net_match_messages_init(net_match* match, const base_reporter* reporter) {
    for (uint32_t i = 0; i < match->game->message_count; i++) {
        net_result result = bind_message(match, i, reporter);
        if (result) return result;
    }
    // The table's check requires an input message.
    BASE_ASSERT(match->input_message > 0 && match->message_bytes_max > 0);
    return net_match_reader_init(match, &match->memory.allocator, &match->reader);
}

void net_match_messages_deinit(net_match* match) {
    net_match_reader_deinit(&match->reader);
}

net_result net_match_reader_init(const net_match* match, const base_allocator* allocator,
                                 net_match_reader* reader) {
    *reader = (net_match_reader){.allocator = allocator, .scratch_bytes = match->message_bytes_max};
    reader->scratch = base_allocate_zero(allocator, reader->scratch_bytes);
    if (!reader->scratch) return NET_ERR_MEMORY;
    reader->has_codec = proto_codec_init(&reader->codec, allocator, PROTO_UNPACK_BYTES_MAX);
    if (reader->has_codec) return NET_OK;
    net_match_reader_deinit(reader);
    return NET_ERR_MEMORY;
}

void net_match_reader_deinit(net_match_reader* reader) {
    if (reader->has_codec) proto_codec_deinit(&reader->codec);
    base_release(reader->allocator, reader->scratch, reader->scratch_bytes);
    *reader = (net_match_reader){.allocator = NULL};
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

// From a packed message to the event's struct. false: not a message, or the module refuses it.
static bool unpack(const net_match* match, net_match_reader* reader, uint32_t message,
                   const void* data, size_t size, size_t size_max, payload* target) {
    const net_message* known = &match->game->messages[message - 1];
    const ProtobufCMessage* unpacked =
        proto_codec_decode(&reader->codec, known->descriptor, data, size, size_max);
    if (!unpacked) return false;
    memset(target, 0, sizeof *target);
    if (known->from_wire(unpacked, target->bytes)) return true;
    reader->refused = known;
    reader->refusal = known->refusal ? known->refusal(unpacked) : NULL;
    return false;
}

static bool unpack_input(net_match* match, const void* data, size_t size, payload* target) {
    return unpack(match, &match->reader, match->input_message, data, size, NET_INPUT_BYTES_MAX,
                  target);
}

static bool unpack_event(net_match* match, uint32_t message, const void* data, size_t size,
                         payload* target) {
    return unpack(match, &match->reader, message, data, size, NET_EVENT_PAYLOAD_BYTES_MAX, target);
}

bool net_match_unpack(net_match* match, uint32_t message, const void* data, size_t size,
                      void* target) {
    BASE_ASSERT(is_number(match, message));
    return unpack(match, &match->reader, message, data, size, NET_EVENT_PAYLOAD_BYTES_MAX, target);
}

net_result net_match_input_check(net_match* match, const void* data, size_t size) {
    payload target;
    return unpack_input(match, data, size, &target) ? NET_OK : NET_ERR_MALFORMED;
}

net_result net_match_event_check(net_match* match, uint32_t message, const void* data,
                                 size_t size) {
    payload target;
    bool is_right = is_kind(match, message, NET_MESSAGE_TO_SERVER) &&
                    unpack_event(match, message, data, size, &target);
    return is_right ? NET_OK : NET_ERR_MALFORMED;
}

// ---- the canonical form

static net_result pack(const net_match* match, net_match_reader* reader, uint32_t message,
                       const void* data, uint8_t* target, size_t capacity, size_t* size) {
    const net_message* known = &match->game->messages[message - 1];
    protobuf_c_message_init(known->descriptor, reader->scratch);
    known->to_wire(data, reader->scratch);
    *size = proto_encode(reader->scratch, target, capacity);
    return *size > 0 || proto_encoded_bytes(reader->scratch) == 0 ? NET_OK : NET_ERR_FULL;
}

static net_result take(const net_match* match, net_match_reader* reader, uint32_t message,
                       const void* data, size_t size, size_t size_max, uint8_t* target,
                       size_t* target_size) {
    payload unpacked;
    *target_size = 0;
    if (!unpack(match, reader, message, data, size, size_max, &unpacked)) return NET_ERR_MALFORMED;
    if (pack(match, reader, message, unpacked.bytes, target, size_max, target_size) != NET_OK)
        return NET_ERR_MALFORMED;
    if (*target_size == size && (size == 0 || memcmp(target, data, size) == 0)) return NET_OK;
    // The match asserts later that it can unpack it.
    return unpack(match, reader, message, target, *target_size, size_max, &unpacked)
               ? NET_OK
               : NET_ERR_MALFORMED;
}

net_result net_match_input_take(const net_match* match, net_match_reader* reader, const void* data,
                                size_t size, uint8_t target[NET_INPUT_BYTES_MAX],
                                size_t* target_size) {
    return take(match, reader, match->input_message, data, size, NET_INPUT_BYTES_MAX, target,
                target_size);
}

net_result net_match_event_take(const net_match* match, net_match_reader* reader, uint32_t message,
                                const void* data, size_t size,
                                uint8_t target[NET_EVENT_PAYLOAD_BYTES_MAX], size_t* target_size) {
    *target_size = 0;
    if (!is_kind(match, message, NET_MESSAGE_TO_SERVER)) return NET_ERR_MALFORMED;
    return take(match, reader, message, data, size, NET_EVENT_PAYLOAD_BYTES_MAX, target,
                target_size);
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
    player->seen_tick = net_rewind_tick(match->rewind);
}

void net_match_input_seen(net_match* match, uint32_t client, const void* data, size_t size,
                          uint64_t seen) {
    BASE_ASSERT(match->config.role == NET_ROLE_SERVER);
    net_player* player = net_match_find_player(match, client);
    if (!player) return;
    if (data) {
        keep_seen(match, player, seen);
        payload target;
        bool is_right = unpack_input(match, data, size, &target);
        BASE_ASSERT(is_right); // net_match_input_check accepted it
        memcpy(player->input, target.bytes, sizeof player->input);
        player->has_input = true;
    }
    if (!player->has_input || !ecs_is_alive(match->world, player->entity)) return;
    // A full event queue refuses it and counts that.
    (void)ecs_event_send(match->world, player->entity, match->events[match->input_message - 1],
                         player->input);
}

void net_match_input(net_match* match, uint32_t client, const void* data, size_t size) {
    net_match_input_seen(match, client, data, size, 0);
}

net_rewind_stats net_match_get_rewind_stats(const net_match* match) {
    return match->rewind_stats;
}

void net_match_predict_input(net_match* match, ecs_entity entity, const void* data, size_t size) {
    BASE_ASSERT(match->config.role == NET_ROLE_PREDICT);
    payload target;
    if (!unpack_input(match, data, size, &target)) return;
    if (!ecs_is_alive(match->world, entity)) return;
    (void)ecs_event_send(match->world, entity, match->events[match->input_message - 1],
                         target.bytes);
}

void net_match_client_event(net_match* match, uint32_t client, uint32_t message, const void* data,
                            size_t size) {
    BASE_ASSERT(is_kind(match, message, NET_MESSAGE_TO_SERVER));
    payload target;
    bool is_right = unpack_event(match, message, data, size, &target);
    BASE_ASSERT(is_right); // net_match_event_check accepted it
    ecs_entity entity = net_match_player(match, client);
    if (entity == ECS_ENTITY_NONE) return;
    (void)ecs_event_send(match->world, entity, match->events[message - 1], target.bytes);
}

net_result net_match_server_event(net_match* match, uint32_t message, ecs_entity target,
                                  const void* data, size_t size) {
    BASE_ASSERT(match->config.role != NET_ROLE_SERVER);
    payload unpacked;
    if (!is_kind(match, message, NET_MESSAGE_TO_CLIENTS)) return NET_ERR_MALFORMED;
    if (ecs_entity_is_placeholder(target)) return NET_ERR_MALFORMED;
    if (!unpack_event(match, message, data, size, &unpacked)) return NET_ERR_MALFORMED;
    ecs_event_type type = match->events[message - 1];
    bool has_room = target == ECS_ENTITY_NONE
                        ? ecs_event_broadcast(match->world, type, unpacked.bytes)
                        : ecs_event_send(match->world, target, type, unpacked.bytes);
    return has_room ? NET_OK : NET_ERR_FULL;
}

// ---- entities and packing ----

// A handle that a server could have given to clients.
static bool is_replicated_handle(const net_match* match, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    return index >= 1 && index <= ecs_world_limits(match->world)->replicated_index_max &&
           ecs_entity_generation(entity) >= 1;
}

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
            bool is_new = is_replicated_handle(match, entity);
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
    if (!is_number(match, message) || !unpack_event(match, message, data, size, &unpacked))
        return 0;
    return net_match_entities_of(match, message, unpacked.bytes, entities);
}

net_result net_match_pack(net_match* match, uint32_t message, const void* data, uint8_t* target,
                          size_t capacity, size_t* size) {
    BASE_ASSERT(data && target && size);
    BASE_ASSERT(is_number(match, message));
    return pack(match, &match->reader, message, data, target, capacity, size);
}
