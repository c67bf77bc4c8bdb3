// SPDX-License-Identifier: MIT
/// Private to replicate: the server's half of variable-size components. varsize_sender.c holds the
/// values, varsize_sender.c what each client has of them.
#pragma once

#include "state/varsize.h"

#define NET_VARSIZE_NONE UINT32_MAX

/// One component of one entity. Other structures name it by its place in the array.
typedef struct net_varsize_value {
    ecs_entity handle;
    ecs_component_id component;
    uint16_t number;
    uint8_t class_;
    bool is_present;   ///< the entity's template has it now
    bool is_default;   ///< or too long: clients have the default
    bool is_destroyed; ///< the entity is gone; the place becomes free after the next spread
    bool is_listed;    ///< in `changed`
    uint32_t stamp;    ///< of the bytes; 0: none yet
    ecs_tick since;    ///< tick of the last template change that mattered
    const net_row_template* row_template;
    uint8_t* bytes;
    uint32_t size, capacity;
    uint32_t next; ///< of the same entity
} net_varsize_value;

struct net_varsize_source {
    base_owner owner;
    const base_allocator* allocator; ///< the owner's
    net_rows* rows;
    uint32_t index_max;
    base_reporter reporter;
    net_varsize_value* values;
    uint32_t value_count, value_capacity;
    uint32_t* first; ///< [index]: place + 1 of its first value
    uint32_t first_capacity;
    uint32_t* changed; ///< places, since the last spread
    uint32_t changed_count, changed_capacity;
    uint32_t* free;
    uint32_t free_count, free_capacity;
    uint32_t stamp_last; ///< goes round: a record is compared long before the same one comes again
    ecs_tick tick;       ///< of the newest step
    net_varsize_sender* senders; ///< a list, in order of leaving and joining
    base_bytes scratch;
    bool has_stepped, has_reported_long;
    net_varsize_counters counters;
};

/// What a sender knows of a value that was ever in its scope. Each client has one for each such
/// value of the match.
typedef struct net_varsize_record {
    uint32_t place; ///< of the value; NONE: forgotten, free once it has left the queue
    uint32_t queue_next;
    uint32_t since;   ///< tick at which it came into scope; low 32 bits
    uint32_t sent;    ///< NET_VARSIZE_SENT_... or the stamp of the last sent value
    uint32_t version; ///< of the last send; low 32 bits
    uint16_t classes;
    bool is_in_scope : 1, is_queued : 1;
    bool was_sent : 1; ///< a value was sent at least once
    uint8_t flight;    ///< its place in flight + 1; 0: none
} net_varsize_record;

_Static_assert(sizeof(net_varsize_record) == 24, "few bytes, since there are so many");

#define NET_VARSIZE_SENT_DEFAULT 0u         ///< the client has the default, sent or by creation
#define NET_VARSIZE_SENT_UNKNOWN UINT32_MAX ///< the client may have any value

typedef struct net_varsize_flight {
    uint64_t version;
    uint32_t record; ///< NONE: forgotten
    uint32_t bytes;
} net_varsize_flight;

struct net_varsize_sender {
    base_owner owner;
    net_varsize_source* source;
    net_varsize_sender *next, *previous;
    uint32_t* record_of; ///< [place of a value]: record + 1
    uint32_t record_of_capacity;
    net_varsize_record* records;
    uint32_t record_count, record_capacity;
    uint32_t record_free; ///< first of a list by queue_next
    uint32_t queue_first, queue_last, queue_count;
    net_varsize_flight flights[NET_VARSIZE_FLIGHT_MAX];
    uint32_t flight_count, flight_bytes;
    uint64_t version_last;
    int64_t credit;  ///< bytes that may be sent
    bool is_rebased; ///< the client may have any value of what comes into scope
};

/// Place of an entity's first value, NET_VARSIZE_NONE when it has none.
static inline uint32_t net_varsize_first(const net_varsize_source* source, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    uint32_t first = index < source->first_capacity ? source->first[index] : 0;
    return first && source->values[first - 1].handle == entity ? first - 1 : NET_VARSIZE_NONE;
}
