// SPDX-License-Identifier: MIT
/// Variable-size components: replicated components whose types own memory (text, list, array,
/// object). They travel by version on channel 0, beside the rows. So they are exempt from the
/// promise that an entity changes as a whole.
///
/// Server: one net_varsize_source per match copies the value of such a component at each change.
/// One net_varsize_sender per client stores which values are in its scope, what was sent and what
/// was acknowledged. Per client at most one version of a value is in flight, and the newest wins.
/// Waiting values go in the order in which they began to wait, so none starves. At most
/// NET_VARSIZE_FLIGHT_BYTES_MAX are unacknowledged.
/// Client: one net_varsize_receiver per world applies the values. A value that arrives before its
/// entity waits for it.
/// A client has the template's default for a value that it may not see, and for one longer than
/// NET_VARSIZE_BYTES_MAX. References inside a value are plain handles: they keep no entity
/// ALLOCATED.
///
/// Threads: net_varsize_source_create, step and destroy on the thread that owns the world; all
/// other server functions on one thread, between two steps (as replication states, replicator.h).
/// Memory:  copies of the replicated values, 48 bytes per client and value that it ever saw, and
/// what waits.
#pragma once

#include "state/snapshot_format.h"
#include "state/rows.h"

#include "net/limits.h"

/// One version of a value for one client: what ServerControl.varsize carries.
typedef struct net_varsize_message {
    ecs_entity handle;
    uint32_t number;  ///< of the component, net_rows_varsize
    uint64_t version; ///< 1, 2, 3... per client, over all values
    ecs_tick since;   ///< the value belongs to the entity as records from this tick on describe it
    bool is_default;  ///< the template's default; no bytes
    const uint8_t* bytes;
    uint32_t size;
} net_varsize_message;

/// Bytes of a message on the wire beside its value, at most.
#define NET_VARSIZE_FRAME_BYTES_MAX 56u

typedef struct net_varsize_source net_varsize_source;
typedef struct net_varsize_sender net_varsize_sender;

typedef struct net_varsize_counters {
    uint64_t values;          ///< values of existing entities
    uint64_t values_long;     ///< changes to a value that is longer than NET_VARSIZE_BYTES_MAX
    uint64_t messages, bytes; ///< sent
    uint64_t acked;
    uint64_t lost; ///< the client had no room: sent again
} net_varsize_counters;

/// `rows` and the world of the steps are borrowed. Handles with an index above `index_max` are
/// ignored. `reporter` (may be NULL) gets one report when a value is too long.
net_varsize_source* net_varsize_source_create(const base_allocator* allocator, net_rows* rows,
                                              uint32_t index_max, const base_reporter* reporter);
/// Destroy the source after its senders.
void net_varsize_source_destroy(net_varsize_source* source);
/// Read what ecs_changes lists; the first call reads the whole world. Free in a game without
/// variable-size components.
void net_varsize_source_step(net_varsize_source* source, const ecs_world* world, ecs_tick tick);
const net_varsize_counters* net_varsize_source_get_counters(const net_varsize_source* source);

/// A client joins with an empty scope.
net_varsize_sender* net_varsize_sender_create(net_varsize_source* source);
/// Before its first scope: the client has values of another server, versions up to 2^16 times a
/// tick of the match. All that comes into scope is sent, defaults too, from `tick` on.
void net_varsize_sender_rebase(net_varsize_sender* sender, ecs_tick tick);
/// From now on the client has nothing but what was sent here.
void net_varsize_sender_end_rebase(net_varsize_sender* sender);
void net_varsize_sender_destroy(net_varsize_sender* sender);
/// The entity entered the client's scope at this tick, or it is in scope and changed its template.
/// Records of it have this tick or a later one. `classes`: bits of the classes that the client
/// sees.
void net_varsize_sender_enter(net_varsize_sender* sender, ecs_entity entity, uint32_t classes,
                              ecs_tick tick);
/// The client sees other classes of an entity in its scope.
void net_varsize_sender_reclass(net_varsize_sender* sender, ecs_entity entity, uint32_t classes);
/// The entity left the scope (it may be destroyed).
void net_varsize_sender_leave(net_varsize_sender* sender, ecs_entity entity);

/// Tell all senders what the last step changed: once per step, before they publish, so that
/// publishing only reads what they share.
void net_varsize_source_publish(net_varsize_source* source);
/// Send one message.
/// @return NET_OK; NET_ERR_STALE: not this value now, go on with others (the client does not have
/// the entity yet); any other code: stop for now.
typedef net_result (*net_varsize_send_fn)(void* context, const net_varsize_message* message);
/// Send waiting values; call it once per tick. Different senders may do so at the same time.
/// `allowance` is added to the credit of earlier calls.
/// A value is sent while any credit is left, so a pause follows a long one.
void net_varsize_sender_publish(net_varsize_sender* sender, uint32_t allowance,
                                net_varsize_send_fn send, void* context);
/// The client acknowledged a version. @return false for a version that was never sent (forged).
bool net_varsize_sender_ack(net_varsize_sender* sender, uint64_t version);
/// The client had no room to keep a version that it had acknowledged. It gets the value again, if
/// this was the newest. @return false for a version that was never sent (forged).
bool net_varsize_sender_lost(net_varsize_sender* sender, ecs_entity entity, uint32_t number,
                             uint64_t version);
/// The connection was lost: values in flight are sent again, as new versions.
void net_varsize_sender_resume(net_varsize_sender* sender);
/// Does the newest value of a component wait to be sent, and is one in flight?
void net_varsize_sender_explain(const net_varsize_sender* sender, ecs_entity entity,
                                ecs_component_id component, bool* waits, bool* is_flying);
/// Has the client acknowledged all values?
bool net_varsize_sender_is_settled(const net_varsize_sender* sender);

/// Take a value of an entity; `bytes` NULL: the default.
typedef void (*net_varsize_keep_fn)(void* context, ecs_entity entity, ecs_component_id component,
                                    const void* bytes, uint32_t size);

typedef struct net_varsize_receiver_config {
    const base_allocator* allocator;
    ecs_world* world;         ///< is_mirror; borrowed
    net_rows* rows;           ///< of that world; borrowed
    net_varsize_keep_fn keep; ///< takes the values instead of the world; NULL: the world does
    void* keep_context;
    uint32_t index_max;
    uint32_t waiting_max;       ///< 0: NET_VARSIZE_WAITING_MAX
    uint32_t waiting_bytes_max; ///< 0: NET_VARSIZE_WAITING_BYTES_MAX
    net_known_incarnation_fn known;
    void* known_context;
} net_varsize_receiver_config;

typedef struct net_varsize_receiver_counters {
    uint64_t received, applied;
    uint64_t stale;   ///< versions that were received before
    uint64_t dropped; ///< for entities that are gone
    uint64_t evicted; ///< dropped for lack of room while they waited
    uint64_t malformed;
} net_varsize_receiver_counters;

/// A version that a client acknowledged and could not keep.
typedef struct net_varsize_lost {
    ecs_entity handle;
    uint32_t number;
    uint64_t version;
} net_varsize_lost;

typedef struct net_varsize_receiver net_varsize_receiver;

/// End it with base_owner_destroy.
net_varsize_receiver* net_varsize_receiver_create(const net_varsize_receiver_config* config);
/// Receive a message of any bytes. It is applied at once, or kept until its entity exists. When
/// there is no room for it, the values that waited longest are dropped
/// (net_varsize_receiver_next_evicted).
/// @return NET_OK: acknowledge it (also a repeated one); NET_ERR_MALFORMED: our server never sends
/// it, do not acknowledge.
BASE_MUST_USE net_result net_varsize_receiver_receive(net_varsize_receiver* receiver,
                                                      const net_varsize_message* message);
/// Apply waiting values whose entity exists now; call it after records were applied.
void net_varsize_receiver_tick(net_varsize_receiver* receiver);
/// A value that was dropped while it waited, to be reported to the server
/// (net_varsize_sender_lost); each once. @return false: no more.
bool net_varsize_receiver_next_evicted(net_varsize_receiver* receiver, net_varsize_lost* lost);
uint32_t net_varsize_receiver_waiting(const net_varsize_receiver* receiver);
const net_varsize_receiver_counters*
net_varsize_receiver_get_counters(const net_varsize_receiver* receiver);

/// One variable-size value as canonical bytes, and back into a world (VARSIZE.md).
///
/// The bytes are those of ecs_type_write: the same on every machine, references as handles. Reading
/// accepts any bytes: it checks depth, counts and sizes, and no byte may be left over.

/// Append the bytes of a component of a living entity.
void net_varsize_write(const ecs_world* world, ecs_entity entity, ecs_component_id component,
                       base_bytes* bytes);
/// Append the bytes of the template's default.
void net_varsize_write_default(const ecs_world* world, const net_row_template* row_template,
                               ecs_component_id component, base_bytes* bytes);
/// Append what a client that may see the component has: the value, or the default in place of a
/// value longer than NET_VARSIZE_BYTES_MAX. @return false when it is the default.
bool net_varsize_write_sent(const ecs_world* world, const net_row_template* row_template,
                            ecs_entity entity, ecs_component_id component, base_bytes* bytes);
/// Is the value of a living entity its template's default?
bool net_varsize_is_default(const ecs_world* world, const net_row_template* row_template,
                            ecs_entity entity, ecs_component_id component);
/// Do two templates give a component the same default? Both must have the component.
bool net_varsize_same_default(const ecs_world* world, const net_row_template* a,
                              const net_row_template* b, ecs_component_id component);
/// Can these bytes be a value of the component? @return NET_OK; NET_ERR_MALFORMED.
BASE_MUST_USE net_result net_varsize_check(ecs_world* world, ecs_component_id component,
                                           const uint8_t* bytes, size_t size);
/// Set the value of an entity that is alive or LOADING; `bytes` NULL: its template's default.
/// @return NET_OK; NET_ERR_UNKNOWN (no such entity, or it lacks the component); NET_ERR_MALFORMED.
/// On failure the old value stays.
BASE_MUST_USE net_result net_varsize_apply(ecs_world* world, net_rows* rows, ecs_entity entity,
                                           ecs_component_id component, const uint8_t* bytes,
                                           size_t size);
