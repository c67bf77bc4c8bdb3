// SPDX-License-Identifier: MIT
/// Large values: replicated components whose types own memory (text, list, array, object) travel by
/// version on channel 0, beside the rows and exempt from the promise that an entity changes as a whole.
///
/// Server: one net_varsize_source per match copies what such components hold whenever they change; one
/// net_varsize_sender per client knows which of them are in its scope, what was sent and what was acknowledged.
/// Per client at most one version of a value is under way, newest wins; values that wait go in the order in
/// which they began to, so none starves; at most NET_VARSIZE_FLIGHT_BYTES_MAX are unacknowledged.
/// Client: one net_varsize_receiver per world applies them; what comes before its entity waits for it.
/// What a client may not see, and what is longer than NET_VARSIZE_BYTES_MAX, is the template's default there.
/// References inside of a value are handles that nobody is made to know: they keep no entity ALLOCATED.
///
/// Threads: net_varsize_source_create, step and destroy on the thread that owns the world; all other server
/// functions on one thread, between two steps (as views of a replicator, replicator.h).
/// Memory: copies of what is replicated, 48 bytes per client and value that it ever saw, what waits.
#pragma once

#include "state/varsize_value.h"
#include "state/known_incarnation.h"

/// One version of a value for one client: what ServerControl.varsize carries.
typedef struct net_varsize_message {
    ecs_entity handle;
    uint32_t number;  ///< of the component, net_rows_varsize
    uint64_t version; ///< 1, 2, 3... per client, over all values
    ecs_tick since;   ///< for the entity as a record of this tick or a later one tells of it
    bool is_default;  ///< the template's default; no bytes
    const uint8_t* bytes;
    uint32_t size;
} net_varsize_message;

/// Bytes of a message on the wire beside its value, at most.
#define NET_VARSIZE_FRAME_BYTES_MAX 56u

typedef struct net_varsize_source net_varsize_source;
typedef struct net_varsize_sender net_varsize_sender;

typedef struct net_varsize_counters {
    uint64_t values;          ///< living ones
    uint64_t values_long;     ///< changes to one that is longer than NET_VARSIZE_BYTES_MAX
    uint64_t messages, bytes; ///< sent
    uint64_t acked;
    uint64_t lost; ///< the client had no room: sent again
} net_varsize_counters;

/// `rows` and `world` are borrowed. Handles with an index above `index_max` are not looked at. A value that
/// is too long is told to `reporter` (may be NULL) once.
BASE_MUST_USE net_result net_varsize_source_create(const base_allocator* allocator, net_rows* rows,
                                                   uint32_t index_max,
                                                   const base_reporter* reporter,
                                                   net_varsize_source** source);
/// After the views.
void net_varsize_source_destroy(net_varsize_source* source);
/// Take over what ecs_changes lists; the first call takes the whole world. Costs nothing in a game without
/// large components. @return NET_OK; NET_ERR_MEMORY (end the match).
BASE_MUST_USE net_result net_varsize_source_step(net_varsize_source* source, const ecs_world* world,
                                                 ecs_tick tick);
const net_varsize_counters* net_varsize_source_get_counters(const net_varsize_source* source);

/// A client joins: it has nothing in its scope.
BASE_MUST_USE net_result net_varsize_sender_create(net_varsize_source* source,
                                                   net_varsize_sender** sender);
void net_varsize_sender_destroy(net_varsize_sender* sender);
/// Memory ran out: what it has is not known any more, drop its client.
bool net_varsize_sender_is_broken(const net_varsize_sender* sender);
/// The entity came into the client's scope with this tick: records that tell of it have this tick or later
/// ones. `classes`: bits of what it may see. Also when one that is in scope changed its template.
void net_varsize_sender_enter(net_varsize_sender* sender, ecs_entity entity, uint32_t classes,
                              ecs_tick tick);
/// It sees other classes of an entity in its scope.
void net_varsize_sender_reclass(net_varsize_sender* sender, ecs_entity entity, uint32_t classes);
/// The entity left its scope (it may be dead).
void net_varsize_sender_leave(net_varsize_sender* sender, ecs_entity entity);

/// @return NET_OK; NET_ERR_STALE: this one later, others now (the client does not have the entity yet);
///         anything else: nothing more now.
typedef net_result (*net_varsize_send_fn)(void* context, const net_varsize_message* message);
/// Once per tick: hand on what waits. `allowance` more bytes may go, beside what earlier calls left; a value
/// goes when any are left, so a long one is followed by a pause.
void net_varsize_sender_publish(net_varsize_sender* sender, uint32_t allowance,
                                net_varsize_send_fn send, void* context);
/// The client has a version, or had one that is not under way any more. @return false for one that was never
/// sent (forged).
bool net_varsize_sender_ack(net_varsize_sender* sender, uint64_t version);
/// The client had no room to keep what it had acknowledged: it gets the value again, if this was the newest.
/// @return false for what was never sent (forged).
bool net_varsize_sender_lost(net_varsize_sender* sender, ecs_entity entity, uint32_t number,
                             uint64_t version);
/// The connection was lost: what is under way is sent again, as new versions.
void net_varsize_sender_resume(net_varsize_sender* sender);
/// The client has acknowledged everything there is.
bool net_varsize_sender_is_settled(const net_varsize_sender* sender);

typedef struct net_varsize_receiver_config {
    const base_allocator* allocator;
    ecs_world* world; ///< is_mirror; borrowed
    net_rows* rows;   ///< of that world; borrowed
    uint32_t index_max;
    uint32_t waiting_max;       ///< 0: NET_VARSIZE_WAITING_MAX
    uint32_t waiting_bytes_max; ///< 0: NET_VARSIZE_WAITING_BYTES_MAX
    net_known_incarnation_fn known;
    void* known_context;
} net_varsize_receiver_config;

typedef struct net_varsize_receiver_counters {
    uint64_t received, applied;
    uint64_t stale;   ///< versions that came again
    uint64_t dropped; ///< for entities that are gone
    uint64_t evicted; ///< gave way to others while they waited
    uint64_t malformed;
} net_varsize_receiver_counters;

/// A version that a client had acknowledged and could not keep.
typedef struct net_varsize_lost {
    ecs_entity handle;
    uint32_t number;
    uint64_t version;
} net_varsize_lost;

typedef struct net_varsize_receiver net_varsize_receiver;

BASE_MUST_USE net_result net_varsize_receiver_create(const net_varsize_receiver_config* config,
                                                     net_varsize_receiver** receiver);
void net_varsize_receiver_destroy(net_varsize_receiver* receiver);
/// Take a message of any bytes: applied at once, or kept until its entity is there. When there is no room for
/// it, those that wait longest give way (net_varsize_receiver_next_evicted).
/// @return NET_OK: acknowledge it (also one that came before); NET_ERR_MALFORMED: no server of ours sends it,
///         do not acknowledge; NET_ERR_MEMORY: end the session.
BASE_MUST_USE net_result net_varsize_receiver_receive(net_varsize_receiver* receiver,
                                                      const net_varsize_message* message);
/// After records were applied: give those that came what waits for them.
/// @return NET_OK; NET_ERR_MEMORY (end the session).
BASE_MUST_USE net_result net_varsize_receiver_tick(net_varsize_receiver* receiver);
/// What gave way, to be told to the server (net_varsize_sender_lost); each once. false: no more.
bool net_varsize_receiver_next_evicted(net_varsize_receiver* receiver, net_varsize_lost* lost);
/// Forget what waits and every version.
void net_varsize_receiver_clear(net_varsize_receiver* receiver);
uint32_t net_varsize_receiver_waiting(const net_varsize_receiver* receiver);
const net_varsize_receiver_counters*
net_varsize_receiver_get_counters(const net_varsize_receiver* receiver);
