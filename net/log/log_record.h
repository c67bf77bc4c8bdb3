// SPDX-License-Identifier: MIT
/// Records of event logs: written into fixed memory, read from untrusted bytes without a tree.
#pragma once

#include "proto/pb_wire.h"
#include "ecs/entity.h"
#include "ecs/world.h"
#include "net/limits.h"
#include "net/log_writer.h"

#define NET_LOG_RECORD_BYTES_MAX (1u << 19)

typedef enum net_log_kind {
    NET_LOG_KIND_OTHER, ///< of a later version: skipped
    NET_LOG_KIND_BEGIN,
    NET_LOG_KIND_END,
    NET_LOG_KIND_CLOSE,
    NET_LOG_KIND_STATE,   ///< a part of the tick's state, behind its end
    NET_LOG_KIND_CONTROL, ///< of the tick that comes next, in front of its begin
    NET_LOG_KIND_ALIVE,   ///< no tick ran; of the tick that comes next
    NET_LOG_KINDS,
} net_log_kind;

/// Does it stand between two ticks, and name the one that comes next?
static inline bool net_log_is_between(net_log_kind kind) {
    return kind == NET_LOG_KIND_CONTROL || kind == NET_LOG_KIND_ALIVE;
}

typedef enum net_log_item_kind {
    NET_LOG_ITEM_LEAVE = 2, ///< the field's number in TickBegin
    NET_LOG_ITEM_JOIN = 3,
    NET_LOG_ITEM_EVENT = 4,
    NET_LOG_ITEM_INPUT = 5,
    NET_LOG_ITEM_SERVER_EVENT = 6, ///< the field's number in TickEnd
    NET_LOG_ITEM_KINDS,
} net_log_item_kind;

/// One leave, join, event or input. Pointers borrow from the record's bytes.
typedef struct net_log_item {
    net_log_item_kind kind;
    uint32_t client;
    char name[NET_PLAYER_NAME_BYTES_MAX];
    bool is_bot;
    uint64_t player_id; ///< JOIN; the user data is the payload
    bool is_repeat;
    uint32_t reason;
    uint32_t number; ///< INPUT; EVENT: 0 for an unreliable one
    uint64_t seen;
    uint32_t message;
    ecs_entity target;
    const uint8_t* payload; ///< never NULL
    uint32_t payload_bytes;
} net_log_item;

/// A checked record. Pointers borrow from its bytes.
typedef struct net_log_record {
    net_log_kind kind;
    uint32_t size; ///< of the packed record
    ecs_tick tick;
    uint64_t state_hash, world_hash;
    bool has_world_hash;
    const uint8_t* changes; ///< END: sums; STATE: log_recorder.h
    uint32_t changes_bytes;
    uint32_t events_left_out;
    uint32_t item_count[NET_LOG_ITEM_KINDS];
    uint32_t reason;                   ///< ALIVE: a net_log_alive, or one of a later version
    char verb[NET_LOG_VERB_BYTES_MAX]; ///< CONTROL
    uint32_t argument_count;
    const uint8_t* body;
    size_t body_bytes;
} net_log_record;

/// Is it the name of a control: [a-z_], 1 to NET_LOG_VERB_BYTES_MAX - 1 of them?
bool net_log_is_verb(const char* verb, size_t size);
/// Check all of a packed record, items included. Total. @return false for bytes that no writer
/// writes.
BASE_MUST_USE bool net_log_record_read(net_log_record* record, const void* data, size_t size);
/// Get the next item of one kind; start with *offset 0. @return false at the end.
bool net_log_item_next(const net_log_record* record, net_log_item_kind kind, size_t* offset,
                       net_log_item* item);

/// Get the next argument of a CONTROL; start with *offset 0. Borrowed from the record's bytes.
/// @return false at the end.
bool net_log_argument_next(const net_log_record* record, size_t* offset,
                           net_log_argument* argument);

/// Records of unknown kinds that may stand between two of known kinds: a later version may write
/// some, and a file of nothing else is no log.
#define NET_LOG_OTHERS_MAX 1024u

/// The order that records keep. Zeroed at the start.
typedef struct net_log_order {
    ecs_tick tick;   ///< of the newest record
    bool is_in_tick; ///< between begin and end
    bool is_closed;
    uint32_t others;   ///< records of unknown kinds since the newest of a known kind
    ecs_tick last_end; ///< newest whole tick
} net_log_order;
/// @return false when the record cannot follow.
BASE_MUST_USE bool net_log_order_add(net_log_order* order, const net_log_record* record);

/// A record while it is written. The memory holds the queue's prefix, the record's own tag and
/// length, and the body; tag and length are written last, right in front of the body.
#define NET_LOG_QUEUE_PREFIX_BYTES 24u
typedef struct net_log_draft {
    uint8_t* memory; ///< NET_LOG_DRAFT_BYTES
    proto_pb_writer body;
} net_log_draft;
#define NET_LOG_DRAFT_HEAD_BYTES (NET_LOG_QUEUE_PREFIX_BYTES + 8u)
#define NET_LOG_DRAFT_BYTES (NET_LOG_DRAFT_HEAD_BYTES + NET_LOG_RECORD_BYTES_MAX)

/// Begin an empty body.
void net_log_draft_begin(net_log_draft* draft);
/// Append an item to the body of a record. @return false when it does not fit: nothing was written.
BASE_MUST_USE bool net_log_item_write(proto_pb_writer* body, const net_log_item* item);
/// The same for a draft, of which an item has a client unless the server sends it.
BASE_MUST_USE bool net_log_draft_item(net_log_draft* draft, const net_log_item* item);
/// Close as a record of a kind. *size is its length with the queue's prefix. @return its start.
uint8_t* net_log_draft_end(net_log_draft* draft, net_log_kind kind, uint64_t number, ecs_tick tick,
                           uint32_t* size);
