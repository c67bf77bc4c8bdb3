// SPDX-License-Identifier: MIT
/// One state body being written: gathers records, knows what still fits, puts them in order.
#pragma once

#include "body.h"
#include "ecs/world.h"
#include "proto/bits.h"
#include "rows.h"

#define NET_BODY_RECORDS_MAX 4096u
#define NET_BODY_GROUPS_MAX (NET_BODY_AGE_SETTLED + 4u)

/// Order of the groups in a body. NET_GROUP_ABSOLUTE + age (1..255) is a run against a base.
enum { NET_GROUP_DESTROY, NET_GROUP_CREATE, NET_GROUP_ABSOLUTE };

typedef struct net_body_record {
    uint32_t index;
    uint32_t group;
    uint32_t generation;           ///< of creates and destroys
    const net_row_template* entry; ///< of creates and updates
    uint64_t bits_first;           ///< its coded row in the payload
    uint32_t bits_count;
} net_body_record;

typedef struct net_body_writer {
    size_t capacity_bits;
    uint64_t bits_bound;        ///< the body is at most so long
    uint32_t index_end;         ///< larger than any index
    uint32_t number_bits;       ///< of a template's wire number
    uint32_t template_bits_max; ///< of naming any template among the creates
    net_body_record* records;
    uint32_t record_count, record_capacity;
    uint64_t* order; ///< group, index and position of each record, sorted
    uint32_t order_capacity;
    uint64_t* order_scratch;
    uint32_t scratch_capacity;
    uint8_t group_orders[NET_BODY_GROUPS_MAX]; ///< Golomb order + 1; 0: no such group yet
    proto_bit_writer payload;
    uint8_t payload_bytes[NET_BODY_BYTES_MAX + NET_ROW_BYTES_MAX + 64];
} net_body_writer;

void net_body_init(net_body_writer* writer);
void net_body_deinit(net_body_writer* writer, const base_allocator* allocator);
void net_body_begin(net_body_writer* writer, size_t capacity, uint32_t index_end,
                    uint32_t number_bits);
typedef enum net_body_fit { NET_BODY_TAKEN, NET_BODY_NO_ROOM, NET_BODY_NO_MEMORY } net_body_fit;
/// Take a record if it surely fits. `base` and `row` are NULL for a destroy.
net_body_fit net_body_add(net_body_writer* writer, const base_allocator* allocator,
                          net_body_record record, const uint64_t* base, const uint64_t* row);
/// Put the records in order and measure exactly: more may fit afterwards.
void net_body_settle(net_body_writer* writer);
/// Write the body. Call net_body_settle first. @return bytes; 0 without records.
size_t net_body_end(net_body_writer* writer, uint8_t* body);
