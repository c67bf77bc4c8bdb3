// SPDX-License-Identifier: MIT
/// A snapshot while it is decoded. Bytes are untrusted: the first fault ends the decoding, and
/// functions that return false or NULL have set `result`.
#pragma once

#include "mirror/snapshot_reader.h"

/// A place in the list of a packet: `number` is the slot that was found last.
typedef struct net_decode_cursor {
    uint32_t at, next, number;
    bool is_ended;
} net_decode_cursor;

typedef struct net_decoder {
    net_mirror* mirror;
    uint16_t seq;
    ecs_tick tick;
    proto_bit_reader* reader;
    proto_solo_coder* solo; ///< reads numbers, or notes them; NULL: there are no statistics
    bool is_coded;          ///< in solo code
    uint32_t number_bits;
    net_result result;
    bool is_overtaken; ///< a newer fact explains what is missing
    bool misses_base;
    const net_row_template* row_template; ///< of the create before
    uint32_t index, generation;           ///< of the create before
    uint64_t base[PROTO_ROW_FIELDS_MAX];  ///< of the update that is read
    uint64_t base2[PROTO_ROW_FIELDS_MAX];
    uint64_t base3[PROTO_ROW_FIELDS_MAX];
    net_decode_cursor third_listed;      ///< in the packet of the third rows
    uint32_t third_ticks;                ///< base3 is so much older than the base; 0: there is none
    bool has_like;                       ///< the create before has the same template
    uint64_t like[PROTO_ROW_FIELDS_MAX]; ///< its row
} net_decoder;

/// Refuse the snapshot. @return false.
bool net_decode_fail(net_decoder* d, net_result result);
/// Did all reads so far find their bits? @return false: it is refused.
bool net_decode_is_readable(net_decoder* d);
/// Refuse it: a base row is missing. `slot`: whose; NULL: of no slot. @return false.
bool net_decode_miss_base(net_decoder* d, const net_mirror_slot* slot);
/// In solo code: read a number of 0..most. Otherwise it is `value`, and noted.
uint32_t net_decode_take(net_decoder* d, uint32_t field, uint64_t situation, uint32_t value,
                         uint32_t most);
/// In shared code: read a number; in solo code 0.
uint32_t net_decode_read_golomb(net_decoder* d, uint32_t order);
uint32_t net_decode_read_bits(net_decoder* d, uint32_t count);
/// Read the length of a list or run, in either code.
uint32_t net_decode_read_count(net_decoder* d, uint32_t list, uint32_t order);
/// Name a slot: each at most once in a snapshot. @return NULL: refused.
net_mirror_slot* net_decode_name_slot(net_decoder* d, uint32_t number);
/// Read the next slot of a list or run. `next`: one behind the slot before. @return NULL: refused.
net_mirror_slot* net_decode_read_slot(net_decoder* d, uint32_t list, uint32_t order, uint32_t* next,
                                      uint32_t* number);
/// Add a record, until the next one borrowed. @return NULL: there is no memory.
net_mirror_record* net_decode_add_record(net_decoder* d, net_mirror_record record);
/// Decode a row and add its record. @return false: refused.
bool net_decode_read_row(net_decoder* d, net_mirror_record record, const proto_row_base* base);
/// Read both lists: destroys, creates. @return false: refused.
bool net_decode_lists(net_decoder* d);
