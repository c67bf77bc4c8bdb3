// SPDX-License-Identifier: MIT
/// Messages of a match: check, pack and post the inputs and game events of the module.
///
/// A message has a number: its position in the module's table + 1. On the wire and in logs it is a
/// packed protobuf message, in the world an ECS event with a plain struct. The check functions take
/// untrusted bytes. The functions that post a client's message assert that it was checked before.
///
/// Threads: the thread that owns the world, between steps. Only net_match_input_take and
/// net_match_event_take may run on several threads at once, each with a reader of its own: the
/// module's from_wire and to_wire depend on their arguments alone.
#pragma once

#include "net/match.h"
#include "proto/codec.h"

BASE_C_BEGIN

/// Check a packed input or client event. The world does not change.
/// @return NET_OK; NET_ERR_MALFORMED (too long, not decodable, refused by the module, not of this
///         kind): drop it and count it against its sender.
BASE_MUST_USE net_result net_match_input_check(net_match* match, const void* payload, size_t size);
BASE_MUST_USE net_result net_match_event_check(net_match* match, uint32_t message,
                                               const void* payload, size_t size);

/// Scratch of a thread that reads messages of clients.
typedef struct net_match_reader {
    const base_allocator* allocator;
    proto_codec codec;
    bool has_codec;
    ProtobufCMessage* scratch; ///< room for the largest message
    size_t scratch_bytes;
    const net_message* refused; ///< the last message that the module refused with a reason, and the
    const char* refusal;        ///< reason; NULL: none
} net_match_reader;
/// @return NET_OK; NET_ERR_MEMORY: it is zeroed.
BASE_MUST_USE net_result net_match_reader_init(const net_match* match,
                                               const base_allocator* allocator,
                                               net_match_reader* reader);
/// A zeroed one is fine.
void net_match_reader_deinit(net_match_reader* reader);

/// The same check; then write the message in its canonical form: the fields that the module reads,
/// as it clamps them, and nothing else. What a client adds (unknown fields, repeated ones, longer
/// encodings) reaches neither the match nor the log. Our own clients send the canonical form.
/// @return NET_OK; NET_ERR_MALFORMED, also when the canonical form is too long, or the module
///         refuses it.
BASE_MUST_USE net_result net_match_input_take(const net_match* match, net_match_reader* reader,
                                              const void* payload, size_t size,
                                              uint8_t target[NET_INPUT_BYTES_MAX],
                                              size_t* target_size);
BASE_MUST_USE net_result net_match_event_take(const net_match* match, net_match_reader* reader,
                                              uint32_t message, const void* payload, size_t size,
                                              uint8_t target[NET_EVENT_PAYLOAD_BYTES_MAX],
                                              size_t* target_size);

/// Post an input on the client's player entity. `payload` NULL repeats the client's last input.
/// Without a player entity the input is kept for later repeats and not posted.
void net_match_input(net_match* match, uint32_t client, const void* payload, size_t size);
/// The same with the moment that the player saw when it made the input, in ticks * 256
/// (InputPacket.view). 0: not known, the last one stays in force. Any value is valid: one out of
/// reach is moved to the nearest moment within reach and counted. Ignored without a payload.
void net_match_input_seen(net_match* match, uint32_t client, const void* payload, size_t size,
                          uint64_t seen);
/// Post a client's game event on its player entity. Without a player entity it is dropped.
void net_match_client_event(net_match* match, uint32_t client, uint32_t message,
                            const void* payload, size_t size);

/// Moments that inputs named, on a server whose module rewinds; zeros elsewhere.
typedef struct net_rewind_stats {
    uint64_t inputs; ///< that named a moment
    uint64_t ahead;  ///< newer than the present: moved to it
    uint64_t behind; ///< older than NET_REWIND_MS_MAX: moved to that
} net_rewind_stats;
net_rewind_stats net_match_get_rewind_stats(const net_match* match);

/// Post an input that this client made, on its prediction world. An input that the module refuses
/// is dropped, as the server drops it.
void net_match_predict_input(net_match* match, ecs_entity player, const void* payload, size_t size);
/// Post a server's game event on a client's world. `target` NONE: for all entities. The bytes are
/// untrusted.
/// @return NET_OK; NET_ERR_MALFORMED (not a message of a server, bad target, refused by the
///         module); NET_ERR_FULL (the world's event queue is full: the event is lost).
BASE_MUST_USE net_result net_match_server_event(net_match* match, uint32_t message,
                                                ecs_entity target, const void* payload,
                                                size_t size);

/// Find the replicated entities that an event's struct names in entity fields: each once, in the
/// order of the fields. `entities` has room for ECS_EVENT_BYTES_MAX / sizeof(ecs_entity). @return
/// their count.
uint32_t net_match_entities_of(const net_match* match, uint32_t message, const void* payload,
                               ecs_entity* entities);
/// The same for a packed message. @return their count; 0 for a malformed message.
uint32_t net_match_entities_of_packed(net_match* match, uint32_t message, const void* data,
                                      size_t size, ecs_entity* entities);
/// Pack an event's struct as a message. A message whose fields all have their default takes 0
/// bytes: pass such an input on with size 0 and a payload that is not NULL.
/// @return NET_OK; NET_ERR_FULL (longer than `capacity`, *size is 0: the module asks for too much,
///         do not send the message).
BASE_MUST_USE net_result net_match_pack(net_match* match, uint32_t message, const void* payload,
                                        uint8_t* target, size_t capacity, size_t* size);
/// @return The message of an exported ECS event type that this side sends (a server to clients, a
///         mirror to the server); 0 when there is none.
uint32_t net_match_message_of(const net_match* match, ecs_event_type type);
/// The module's input message, and the size of its struct in bytes.
uint32_t net_match_input_message(const net_match* match);
uint32_t net_match_input_bytes(const net_match* match);

BASE_C_END
